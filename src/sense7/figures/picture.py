"""A drawing as a small PNG, for notebooks and previews that show no SVG."""

import base64
import io

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure as MatplotlibFigure
from matplotlib.transforms import Bbox
from PIL import Image

DOTS_PER_INCH = 96
"""As browsers count, so that a picture is as wide as the page's drawing, and is shown dot by dot."""

COLOURS = 32
"""Colours of a picture; more of them only smooth edges, and double the size of the file."""


def png_of(drawing: MatplotlibFigure, box: Bbox) -> str:
    """What lies in the box of a drawing that is laid out, as PNG in base64.

    The bytes are the same for equal drawings and libraries: the file names no time and no program.
    """
    canvas = drawing.canvas
    stream = io.BytesIO()
    try:
        FigureCanvasAgg(drawing)
        drawing.savefig(
            stream,
            format="png",
            dpi=DOTS_PER_INCH,
            facecolor="white",
            bbox_inches=box,
            metadata={"Software": None},
        )
    finally:
        drawing.set_canvas(canvas)
    picture = Image.open(stream).convert("RGB")
    small = io.BytesIO()
    picture.quantize(COLOURS, dither=Image.Dither.NONE).save(small, format="png", optimize=True)
    return base64.b64encode(small.getvalue()).decode()
