"""A drawing as a small PNG, for notebooks and previews that show no SVG."""

import base64
import io
import zlib
from collections.abc import Callable

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure as MatplotlibFigure
from matplotlib.transforms import Bbox
from PIL import Image

DOTS_PER_INCH = 96
"""As browsers count, so that a picture is as wide as the page's drawing, and is shown dot by dot."""

COLOURS = 24
"""Colours of a picture; more of them only smooth edges, and double the size of the file."""


def png_of(drawing: MatplotlibFigure, lay_out: Callable[[MatplotlibFigure], Bbox]) -> str:
    """A drawing as PNG in base64; ``lay_out`` gives the box of all that is drawn.

    The bytes are the same for equal drawings and libraries: the file names no time and no program.
    """
    canvas = drawing.canvas
    dots_per_inch = drawing.dpi
    stream = io.BytesIO()
    try:
        FigureCanvasAgg(drawing)
        drawing.set_dpi(
            DOTS_PER_INCH
        )  # the width of letters, in whole dots, is that of the picture
        drawing.savefig(
            stream,
            format="png",
            dpi=DOTS_PER_INCH,
            facecolor="white",
            bbox_inches=lay_out(drawing),
            metadata={"Software": None},
        )
    finally:
        drawing.set_canvas(canvas)
        drawing.set_dpi(dots_per_inch)
    picture = Image.open(stream).convert("RGB")
    small = io.BytesIO()
    drawn = picture.quantize(COLOURS, dither=Image.Dither.NONE)
    # Rows of a drawing are much like those above them, for which this is the smaller by a thirtieth.
    drawn.save(small, format="png", optimize=True, compress_type=zlib.Z_FILTERED)
    return base64.b64encode(small.getvalue()).decode()
