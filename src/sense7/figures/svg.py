"""A drawing as an SVG element of a page: real text, in the page's color, the same text on every machine."""

import hashlib
import html
import io
import re
import unicodedata

from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure as MatplotlibFigure
from matplotlib.font_manager import FontProperties
from matplotlib.text import Text
from matplotlib.textpath import text_to_path
from matplotlib.transforms import Bbox

from sense7.tables import NO_MATH

__all__ = ["INK", "svg_of"]

INK = "#010203"
"""Drawn in this color is what takes the color of the page's text."""

_FAMILY = "DejaVu Sans, Verdana, sans-serif"  # laid out with the first; the second is as wide
_LONG_COORDINATE = re.compile(r"(?<![\w.#(])-?\d+\.\d{3,}|(?<=translate\()-?\d+\.\d{3,}|(?<=[\s(\"])-0(?=[\s)\"])")
_ROOT = re.compile(r'<svg((?: xmlns[:\w]*="[^"]*")*) width="[^"]*" height="[^"]*" viewBox="[^"]*"')
_HASHED = re.compile(r'\bid="(([^"]*?)[0-9a-f]{10})"')
_LEFT_OUT = re.compile(
    r"<!--.*?-->|<metadata>.*?</metadata>"
    r"|<defs>\s*<style.*?</style>\s*</defs>"  # for all elements of the page; the root element says the same
    r"|(?<=<g) id=\"[^\"]*\""  # nothing refers to a group
    r"|(?<=\n)[ ]+| transform=\"rotate\(-0 [^)]*\)\"| ?font-family: [^;\"]*;?",
    re.DOTALL,
)
_TEXT_START = re.compile(r'<text style="[^"]*?font-size: (?P<size>[\d.]+)px[^>]*>')
_TEXT = re.compile(r"(?<=>)[^<>]*(?=</text>)")


def svg_of(drawing: MatplotlibFigure, box: Bbox, *, content: str, label: str) -> str:
    """An SVG element for a page, of a drawing that is laid out.

    Equal drawings give the same text on every processor: ids follow from the content and their order, and digits
    that no one sees are rounded.

    Parameters
    ----------
    drawing : matplotlib.figure.Figure
        What is drawn, in the style of :func:`sense7.figures.style.styled`.
    box : Bbox
        What of it is shown, in inches.
    content : str
        What no other drawing on a page has: its ids are made of it, so that none refers into another drawing.
    label : str
        What is seen, for those who do not see it.
    """
    for text in drawing.findobj(Text):
        text.set_parse_math(False)  # names of ticks that were made outside of the style, too
    source = _drawn(drawing)
    texts = iter(_TEXT.findall(source))  # a name may look like any piece of SVG: none of what follows touches it
    source = _LEFT_OUT.sub("", _TEXT.sub("", source)).replace(INK, "currentColor")
    # A hundredth of a point is not seen. What a fit leaves beyond it differs between processors.
    source = _LONG_COORDINATE.sub(lambda found: f"{float(found[0]):z.2f}".rstrip("0").rstrip("."), source)
    # Matplotlib names clips and markers by a hash of all digits of where they lie: by their order instead.
    for number, (hashed, kind) in enumerate(_HASHED.findall(source)):
        source = source.replace(hashed, f"{kind}{number}")
    own = hashlib.sha256(content.encode()).hexdigest()[:8]
    source = re.sub(r'(\bid="|url\(#|href="#)', rf"\g<1>f{own}-", source)
    source = _TEXT_START.sub(lambda start: _with_text(start, next(texts)), source)
    if next(texts, None) is not None:
        raise ValueError("a text of the drawing was lost: its picture would show others in the wrong places")
    root = (
        f'<svg class="{NO_MATH}" role="img" aria-label="{html.escape(label, quote=True)}" font-family="{_FAMILY}" '
        f'stroke-linejoin="round" stroke-linecap="butt" {_extent(drawing, box)}'
    )
    return _ROOT.sub(lambda found: root + found[1], source, count=1).strip()


def _drawn(drawing: MatplotlibFigure) -> str:
    """SVG of the whole drawing; directly, since saving a figure draws it twice."""
    stream, canvas, dots = io.StringIO(), drawing.canvas, drawing.dpi
    try:
        FigureCanvasSVG(drawing).print_svg(stream, metadata={"Date": None, "Creator": None})
    finally:
        drawing.set_canvas(canvas)
        drawing.set_dpi(dots)
    source = stream.getvalue()
    # A document type or XML head has no place inside a page.
    return source[source.index("<svg") :]


def _extent(drawing: MatplotlibFigure, box: Bbox) -> str:
    """Size and view box, in points, of a part of the drawing."""
    left, top = 72 * box.x0, 72 * (drawing.get_figheight() - box.y1)
    width, height = 72 * box.width, 72 * box.height
    view = f"{left:z.1f} {top:z.1f} {width:.1f} {height:.1f}"
    return f'width="{width:.1f}pt" height="{height:.1f}pt" viewBox="{view}"'


def _with_text(start: re.Match, text: str) -> str:
    """Put a text into its element.

    Letters that the bundled font lacks, such as Chinese ones, get the width that the layout has for them.
    """
    if not any(unicodedata.east_asian_width(letter) in "WF" for letter in text):
        return f"{start[0]}{text}"
    font = FontProperties(size=float(start["size"]), weight="bold" if "bold" in start[0] else "normal")
    width, _, _ = text_to_path.get_text_width_height_descent(html.unescape(text), font, ismath=False)
    return f'{start[0][:-1]} textLength="{width:.1f}" lengthAdjust="spacingAndGlyphs">{text}'
