"""The one style of all figures: SVG with real text for wide and narrow places, names of lines, data as CSV."""

import base64
import contextlib
import html
import io
import re
import textwrap
import unicodedata
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from itertools import pairwise
from pathlib import Path

import matplotlib as mpl
import numpy as np
import pandas as pd
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.collections import PolyCollection
from matplotlib.container import ErrorbarContainer
from matplotlib.figure import Figure as MatplotlibFigure
from matplotlib.font_manager import FontProperties
from matplotlib.gridspec import GridSpec
from matplotlib.text import Annotation, Text
from matplotlib.textpath import text_to_path
from matplotlib.ticker import FixedLocator
from matplotlib.transforms import Bbox, IdentityTransform, ScaledTranslation
from scipy.optimize import isotonic_regression

from sense7.csv_text import frame_as_csv
from sense7.errors import UserError
from sense7.figures.picture import png_of
from sense7.figures.source import COLOURS, GRAY, INK, Shown, Source, Sources
from sense7.files import digest_of, not_written, replacing, write_whole
from sense7.outputs import output, show
from sense7.tables import NO_MATH, caption_output
from sense7.terminal import count_of, plain, plain_lines

MARKS = "os^DvP"
STYLE = {
    "figure.dpi": 100,
    "figure.facecolor": "none",
    "axes.facecolor": "none",
    "font.size": 10,
    "text.color": INK,
    "axes.labelcolor": INK,
    "axes.edgecolor": INK,
    "xtick.color": INK,
    "ytick.color": INK,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": GRAY,
    "grid.alpha": 0.3,
    "legend.frameon": False,
    "axes.prop_cycle": mpl.cycler(color=COLOURS),
    "svg.fonttype": "none",
    "svg.hashsalt": "sense7",
    "text.parse_math": False,  # names from a workbook are text, also with dollar signs
}


WIDE = 7
NARROW = 4.1
"""Widths of a drawing for a page and for a phone, in inches; 360 pixels there make ten points about eleven pixels."""


def range_of(numbers: Iterable[float]) -> str:
    """Smallest and largest of some numbers for a caption; one number if they are the same.

    Examples
    --------
    >>> range_of([1200, 34]), range_of([600, 600])
    ('34 to 1,200', '600')
    """
    numbers = list(numbers)
    lowest = f"{min(numbers):,.0f}"
    highest = f"{max(numbers):,.0f}"
    if lowest == highest:
        return lowest
    return f"{lowest} to {highest}"


@contextlib.contextmanager
def styled() -> Iterator[None]:
    """Draw in the one style, without warnings of letters that the bundled font lacks: a reader's browser has them."""
    with mpl.rc_context(STYLE), warnings.catch_warnings():
        warnings.filterwarnings("ignore", r"Glyph \d+ .* missing from font", UserWarning)
        yield


def drawn(name: object, longest: int = 60) -> str:
    r"""A name from a workbook as it stands in a drawing: one printable line, its middle left out where it is long.

    >>> print(drawn("two\nlines\x1b[31m"), drawn("a" * 50 + "z" * 50, 9), drawn("_mine"), sep="|")
    two lines\x1b[31m|aaaa…zzzz| _mine
    """
    text = plain(" ".join(str(name).split()))
    if len(text) > longest:
        half = (longest - 1) // 2
        text = f"{text[:half]}…{text[-half:]}"
    if text.startswith("_"):
        return f" {text}"  # Matplotlib leaves out of legends what begins so
    return text


def new_drawing(width: float, height: float) -> MatplotlibFigure:
    """An empty drawing, width by height in inches, without pyplot's state."""
    return MatplotlibFigure(figsize=(width, height), layout="constrained")


def new_axes(width: float, height: float):
    """One drawing with one pair of axes."""
    drawing = new_drawing(width, height)
    return drawing, drawing.subplots()


def has_estimate(table: pd.DataFrame) -> pd.Series:
    """Which rows of a table of estimates have one."""
    return np.isfinite(table["estimate"].astype(float))


def reasons_of(table: pd.DataFrame) -> str:
    """Why rows of a table have no estimate, each reason once."""
    return "; ".join(dict.fromkeys(filter(None, table["reason"])))


def numbers_and_reach(table: pd.DataFrame, scale: float = 1) -> tuple[np.ndarray, np.ndarray]:
    """Estimates as they are drawn, and how far their intervals reach down and up from them; 0 where there is none."""
    numbers = scale * table[["estimate", "low", "high"]].to_numpy(dtype=float)
    return numbers[:, 0], np.nan_to_num(np.abs(numbers[:, 1:] - numbers[:, :1])).T


def with_gaps(starts: Sequence, ends: Sequence) -> np.ndarray:
    """Coordinates of many strokes as one path, a gap after each: elements of their own weigh more.

    >>> with_gaps([1, 2], [3, 4]).tolist()
    [1.0, 3.0, nan, 2.0, 4.0, nan]
    """
    return np.column_stack([starts, ends, np.full(len(starts), np.nan)]).ravel()


def name_rows(axes, names: Sequence[str]) -> None:
    """Write names beside the rows of a panel, from the top to the bottom."""
    axes.set_yticks(range(len(names)), names)
    axes.set_ylim(len(names) - 0.5, -0.5)
    axes.grid(visible=False, axis="y")


def ink_on(colours: np.ndarray) -> list[str]:
    """Black or white, whichever has the larger contrast (WCAG 2) with each sRGB color, from 0 to 1.

    >>> ink_on([(1, 1, 1), (0, 0, 0.5)])
    ['#000000', '#ffffff']
    """
    channels = np.asarray(colours, dtype=float)[:, :3]
    linear = np.where(channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)
    luminances = linear @ [0.2126, 0.7152, 0.0722]
    halfway = np.sqrt(1.05 * 0.05) - 0.05  # the luminance that black and white stand out from alike
    inks = np.where(luminances > halfway, "#000000", "#ffffff")
    return inks.tolist()


# A figure and its data -------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Figure:
    """A drawn figure with all that belongs to it.

    Attributes
    ----------
    drawing : matplotlib.figure.Figure
        The drawing.
    again : matplotlib.figure.Figure
        The same, drawn a second time to be laid out for a phone: Python copies no drawing any more (from 3.14 on).
    name : str
        Name for the file of its data.
    alt : str
        What is seen, for those who do not see it.
    caption : str
        n, and what the intervals are.
    data : DataFrame
        What is drawn; its last column says whose data each row is of.
    source : Sources
        Whose data all of it shows, as the drawing itself says.
    for_phones : bool
        Whether ``again`` was drawn for a phone, and is only to be laid out.
    """

    drawing: MatplotlibFigure
    again: MatplotlibFigure = field(repr=False)
    name: str
    alt: str
    caption: str
    data: pd.DataFrame = field(repr=False)
    source: Sources = field(repr=False)
    for_phones: bool = False

    @property
    def file_name(self) -> str:
        """Name of the figure's files, without ending, which says whose data they show."""
        return f"{self.name}-{self.source.word}"

    @cached_property
    def _csv(self) -> str:
        return frame_as_csv(self.data.map(rounded))

    @cached_property
    def _pictures(self) -> tuple[str, str]:
        """The drawing as SVG for wide places, and laid out again for a phone."""
        # Of what is drawn: drawings on one page share no ids, and none refers into another one that is switched away.
        content = "\n".join([self.name, self.caption, self.alt, self._csv])
        with styled():
            wide = self._picture(self.drawing, content)
            if not self.for_phones:
                _narrow(self.again)
            narrow = self._picture(self.again, f"narrow\n{content}")
        return wide, narrow

    def _picture(self, drawing: MatplotlibFigure, content: str) -> str:
        """A drawing laid out as SVG, whose ids follow from the content."""
        return self._finished(_svg(drawing, _lay_out(drawing), content, self.alt), drawing)

    def _finished(self, svg: str, drawing: MatplotlibFigure) -> str:
        """The SVG with what a figure of a special kind adds to it."""
        return svg

    def svg(self) -> str:
        """The drawing as an SVG element that takes the page's color."""
        return self._pictures[0]

    def html(self, before: str = "", after: str = "", kind: str = "") -> str:
        """Figure, caption and link to the data as one HTML element, with what belongs before and after the drawing."""
        # Outside the book, where no style sheet chooses, the first drawing alone is shown.
        hidden = '<svg style="display: none" class="sense7-narrow '
        narrow = self._pictures[1].replace('<svg class="', hidden, 1)
        return (
            f'<figure class="sense7-figure{kind}" data-name="{html.escape(self.name)}" '
            'style="margin: 1em 0; max-width: 100%; overflow-x: auto">'
            f'{before}{self.svg()}{narrow}{after}<figcaption class="{NO_MATH}">'
            f"{html.escape(self.caption)} {_link(self._csv, self.file_name, 'Data (CSV)')}</figcaption></figure>"
        )

    def save(self, path: str | Path) -> Path:
        """Write the drawing, or its data, to a file; the ending says which.

        Parameters
        ----------
        path : path
            Ends in .png (300 dots per inch), .pdf, .svg, or .csv for what is drawn. A file that is there is replaced.

        Returns
        -------
        Path
            The file. The drawing says whose data it shows; the caption is not part of it.

        Raises
        ------
        UserError
            If the ending is another one, or the file can't be written.

        Examples
        --------
        >>> import tempfile
        >>> def draw():
        ...     return new_axes(3, 2)[0]
        >>> figure = figure_of(draw, "empty", "Nothing.", "n = 0", pd.DataFrame(), None)
        >>> figure.save(Path(tempfile.mkdtemp()) / "empty.svg").read_text(encoding="utf-8")[:4]
        '<svg'
        """
        path = Path(path).expanduser()
        ending = path.suffix.lower()
        try:
            if ending == ".csv":
                write_whole(path, frame_as_csv(self.data), replace=True)
            elif ending == ".svg":
                write_whole(path, self.svg(), replace=True)
            elif ending in {".png", ".pdf"}:
                with styled(), replacing(path, replace=True) as temporary:
                    box = _lay_out(self.drawing)
                    picture_format = ending.removeprefix(".")
                    self.drawing.savefig(
                        temporary,
                        format=picture_format,
                        dpi=300,
                        facecolor="white",
                        bbox_inches=box,
                    )
            else:
                raise UserError(
                    f"{path}: a figure is saved as .png, .pdf, .svg or, its data, .csv. Give such a name."
                )
        except OSError as error:
            raise UserError(not_written(path, error)) from None
        return path

    def notebook_outputs(self) -> list[dict]:
        """What a notebook shows outside the book: a picture with its text, and the caption."""
        with styled():
            picture = png_of(self.drawing, _lay_out)
        shown = output(
            {"image/png": picture, "text/plain": repr(self)}, {"image/png": {"alt": self.alt}}
        )
        return [shown, caption_output(self.caption)]

    def _ipython_display_(self) -> None:
        show(self)

    def _repr_html_(self) -> str:
        return self.html()

    def __repr__(self) -> str:
        return plain_lines(f"Figure: {self.alt}")


def figure_of(
    draw: Callable[[], MatplotlibFigure],
    name: str,
    alt: str,
    caption: str,
    data: pd.DataFrame,
    source: Shown,
    *,
    row_sources: Sequence[Source] | None = None,
    draw_for_phones: Callable[[], MatplotlibFigure] | None = None,
    make: Callable[..., Figure] = Figure,
    **more,
) -> Figure:
    """Draw a figure twice, and have its drawing, alt text, data and file names say whose data it shows.

    Parameters
    ----------
    draw : function
        Makes the drawing.
    name, alt, caption, data
        As the attributes of :class:`Figure`.
    source : Study, Source, mapping of these by name, or None
        Whose data it shows.
    row_sources : sequence of Source, optional
        That of each row of the data, where they are not all the figure's.
    draw_for_phones : function, optional
        Makes the drawing for a phone, where the wide one can't be laid out again.
    make : class
        The kind of figure, with its further attributes.
    """
    sources = Sources.of(source)
    for_phones = draw_for_phones is not None
    with styled():
        drawing = draw()
        again = draw_for_phones() if for_phones else draw()
        # On a phone letters are larger. What is laid out again for one gets them there.
        for picture, size in ((drawing, 8), (again, 10 if for_phones else 8)):
            letters = int(120 / size * picture.get_figwidth())
            label = textwrap.fill(sources.label, letters)
            picture.supxlabel(label, x=0.995, ha="right", fontsize=size)
    labels = [sources.label] * len(data)
    if row_sources is not None:
        labels = [row_source.label for row_source in row_sources]
    data = data.copy()
    data.insert(data.shape[1], "data", labels, allow_duplicates=True)
    alt = f"{alt} {sources.label}."
    return make(drawing, again, name, alt, caption, data, sources, for_phones, **more)


def figure_for_widths(
    draw: Callable[[float], MatplotlibFigure],
    name: str,
    alt: str,
    caption: str,
    data: pd.DataFrame,
    source: Shown,
) -> Figure:
    """Draw a figure for a page and for a phone by a function of the width, where one can't be laid out as the other."""
    draw_narrow = partial(draw, NARROW)
    draw_wide = partial(draw, WIDE)
    return figure_of(draw_wide, name, alt, caption, data, source, draw_for_phones=draw_narrow)


@dataclass(frozen=True, eq=False)
class Download:
    """A table that a reader downloads as CSV instead of reading it on the page.

    The file stands in the page itself, and begins with a mark by which spreadsheet programs know its encoding.

    Attributes
    ----------
    data : DataFrame
        The table; its index is left out.
    name : str
        Name of the file, without its ending.
    text : str
        What the link says.
    source : Study, Source or None
        Whose data they are: the file's name says so.

    Examples
    --------
    >>> Download(pd.DataFrame({"a": [1, 2]}), "numbers", "Two numbers")
    Two numbers (CSV, 2 rows)
    """

    data: pd.DataFrame = field(repr=False)
    name: str
    text: str
    source: Shown = field(default=None, repr=False)

    def _repr_html_(self) -> str:
        # The index would be a first column without a name, which a coder could sort apart from the rest.
        columns = list(self.data.columns)
        table = ""
        if columns:
            table = frame_as_csv(self.data.set_index(columns[0]))
        link = _link(f"\ufeff{table}", f"{self.name}-{Sources.of(self.source).word}", repr(self))
        return f'<p class="{NO_MATH}">{link}</p>'

    def __repr__(self) -> str:
        return plain_lines(f"{self.text} (CSV, {count_of(len(self.data), 'row')})")


def _link(table: str, name: str, text: str) -> str:
    """A link by which a reader downloads a table as CSV, which stands in the link itself."""
    encoded = base64.b64encode(table.encode()).decode()
    address = f"data:text/csv;base64,{encoded}"
    return f'<a download="{html.escape(name)}.csv" href="{address}">{html.escape(text)}</a>'


def rounded(cell: object) -> object:
    """To the digits that do not differ between processors where a model is fitted."""
    if isinstance(cell, float) and not cell.is_integer():
        return float(f"{cell:.6g}")
    return cell


# SVG with real text -----------------------------------------------------------------------------

_LONG_COORDINATE = re.compile(
    r"(?<![\w.#(])-?\d+\.\d{3,}|(?<=translate\()-?\d+\.\d{3,}|(?<=[\s(\"])-0(?=[\s)\"])"
)
_ROOT = re.compile(r'<svg((?: xmlns[:\w]*="[^"]*")*) width="[^"]*" height="[^"]*" viewBox="[^"]*"')
_LEFT_OUT = re.compile(
    r"<!--.*?-->|<metadata>.*?</metadata>"
    r"|<defs>\s*<style.*?</style>\s*</defs>"  # for all elements of the page; the root element says the same
    r"|(?<=<g) id=\"[^\"]*\""  # nothing refers to a group
    r"|(?<=\n)[ ]+| transform=\"rotate\(-0 [^)]*\)\"| ?font-family: [^;\"]*;?",
    re.DOTALL,
)
_TEXT_START = re.compile(r'<text style="[^"]*?font-size: (?P<size>[\d.]+)px[^>]*>')
_TEXT = re.compile(r"(?<=>)[^<>]*(?=</text>)")


def _lay_out(drawing: MatplotlibFigure) -> Bbox:
    """Lay out for good; wider where long names leave no room to draw. The box of all that is drawn, in inches."""
    for _ in range(4):
        drawing.set_layout_engine("constrained")
        with warnings.catch_warnings():
            warnings.filterwarnings("error", "constrained_layout not applied", UserWarning)
            with contextlib.suppress(UserWarning):
                drawing.get_layout_engine().execute(drawing)
                break
        drawing.set_figwidth(1.5 * drawing.get_figwidth())
    drawing.set_layout_engine("none")
    _spread_names(drawing)
    return drawing.get_tightbbox().padded(0.1)


def _without_math(drawing: MatplotlibFigure) -> None:
    """Have every text drawn as it stands, names of ticks that were made outside of the style, too."""
    for text in drawing.findobj(Text):
        text.set_parse_math(False)


def _svg(drawing: MatplotlibFigure, box: Bbox, content: str, label: str) -> str:
    """An SVG element of what lies in the box; ids follow from the content, digits that no one sees are rounded."""
    _without_math(drawing)
    source = _printed(drawing)
    # A name may look like any piece of SVG: none of what follows touches it.
    texts = iter(_TEXT.findall(source))
    source = _LEFT_OUT.sub("", _TEXT.sub("", source)).replace(INK, "currentColor")
    # A hundredth of a point is not seen. What a fit leaves beyond it differs between processors.
    source = _LONG_COORDINATE.sub(_to_hundredths, source)
    # Matplotlib names clips and markers by a hash of all digits of where they lie: by their order instead.
    ids = re.findall(r'\bid="(([^"]*?)[0-9a-f]{10})"', source)
    for number, (hashed_id, prefix) in enumerate(ids):
        source = source.replace(hashed_id, f"{prefix}{number}")
    of_content = digest_of(content.encode())[:8]
    source = re.sub(r'(\bid="|url\(#|href="#)', rf"\g<1>f{of_content}-", source)

    def with_text(start: re.Match) -> str:
        text = next(texts)
        if not any(unicodedata.east_asian_width(letter) in "WF" for letter in text):
            return f"{start[0]}{text}"
        # Letters that the bundled font lacks, such as Chinese ones, get the width that the layout has for them.
        font = FontProperties(size=float(start["size"]))
        if "bold" in start[0]:
            font.set_weight("bold")
        width, _, _ = text_to_path.get_text_width_height_descent(
            html.unescape(text), font, ismath=False
        )
        return f'{start[0][:-1]} textLength="{width:.1f}" lengthAdjust="spacingAndGlyphs">{text}'

    source = _TEXT_START.sub(with_text, source)
    if next(texts, None) is not None:
        raise ValueError(
            "a text of the drawing was lost: its picture would show others in the wrong places"
        )
    in_inches = [box.x0, drawing.get_figheight() - box.y1, box.width, box.height]
    x, y, width, height = 72 * np.array(in_inches)
    root = (
        f'<svg class="{NO_MATH}" role="img" aria-label="{html.escape(label, quote=True)}" '
        # Laid out with the first family; the second is as wide.
        'font-family="DejaVu Sans, Verdana, sans-serif" stroke-linejoin="round" stroke-linecap="butt" '
        f'width="{width:.1f}pt" height="{height:.1f}pt" viewBox="{x:z.1f} {y:z.1f} {width:.1f} {height:.1f}"'
    )

    def with_namespaces(matplotlib_root: re.Match) -> str:
        return root + matplotlib_root[1]

    return _ROOT.sub(with_namespaces, source, count=1).strip()


def _printed(drawing: MatplotlibFigure) -> str:
    """The SVG element that Matplotlib writes; a document type or XML head has no place inside a page."""
    # Directly, since saving a figure draws it twice.
    stream = io.StringIO()
    canvas = drawing.canvas
    dots_per_inch = drawing.dpi
    try:
        FigureCanvasSVG(drawing).print_svg(stream, metadata={"Date": None, "Creator": None})
    finally:
        drawing.set_canvas(canvas)
        drawing.set_dpi(dots_per_inch)
    source = stream.getvalue()
    return source[source.index("<svg") :]


def _to_hundredths(coordinate: re.Match) -> str:
    return f"{float(coordinate[0]):z.2f}".rstrip("0").rstrip(".")


# A legend, and the same drawing for a phone -------------------------------------------------------

_LINE = 0.168  # inches, at ten points
_LETTER = 0.08


def legend_above(drawing: MatplotlibFigure) -> int:
    """A legend of all panels above them, each name once, in as many columns as there is room for; its lines."""
    handle_of = {}
    for axes in drawing.axes:
        handles, labels = axes.get_legend_handles_labels()
        handle_of.update(zip(labels, handles, strict=True))
    if not handle_of:
        return 0
    longest = max(len(label) for label in handle_of)
    fitting = max(1, int(drawing.get_figwidth() / (0.55 + _LETTER * longest)))
    lines = -(-len(handle_of) // fitting)
    columns = -(-len(handle_of) // lines)
    drawing.legend(
        list(handle_of.values()), list(handle_of), loc="outside upper center", ncols=columns
    )
    return lines


def _narrow(drawing: MatplotlibFigure) -> None:
    """Lay a drawing out again, as wide as a phone: panels below each other, names on several lines."""
    _lay_out(drawing)
    _without_math(drawing)
    height = drawing.get_figheight()
    panels = [axes for axes in drawing.axes if axes.get_subplotspec() is not None]
    with_row_names = []  # of panels that share their rows, the first
    for axes in panels:
        names = [label.get_text() for label in axes.get_yticklabels()]
        shares_rows = any(axes.get_shared_y_axes().joined(axes, other) for other in with_row_names)
        if not _has_names(axes.yaxis) or shares_rows:
            continue
        with_row_names.append(axes)
        axes.set_yticks(axes.get_yticks(), [textwrap.fill(name.strip(), 20) for name in names])
        lines = np.array([label.get_text().count("\n") + 1 for label in axes.get_yticklabels()])
        # Two names that follow each other share the distance between their rows.
        lines_of_a_row = max((lines[1:] + lines[:-1]).max(initial=0) / 2, lines.max(initial=0) / 2)
        # On one line, why a row is empty would leave its panel no room.
        for reason in axes.texts:
            if isinstance(reason, _Name):
                continue
            _fill_lines(reason, 26)
            lines_of_reason = reason.get_text().count("\n") + 1
            if lines_of_reason > 1:
                lines_of_a_row = max(lines_of_a_row, lines_of_reason)
        rows = max(abs(np.subtract(*axes.get_ylim())), 1)
        height_for_names = (_LINE * lines_of_a_row + 0.1) * rows
        box = axes.get_position()
        height_in_column = 0
        for other in panels:
            if other.get_position().x0 == box.x0:
                height_in_column += other.get_position().height
        share = box.height / height_in_column
        height += max(0.0, height_for_names - box.height * drawing.get_figheight()) / share
    columns = max((axes.get_subplotspec().get_gridspec().ncols for axes in panels), default=1)
    if columns > 1:
        height *= 0.9 * columns
        grid = GridSpec(len(panels), 1, figure=drawing)
        for row, axes in enumerate(panels):
            axes.set_subplotspec(grid[row])
            axes.tick_params(axis="y", labelleft=True)
    drawing.set_size_inches(NARROW, height)
    for axes in drawing.axes:
        _fill_lines(axes.xaxis.label, 36)
        _fill_lines(axes.yaxis.label, max(12, int(axes.get_position().height * height / _LETTER)))
        for title in (axes.title, axes._left_title, axes._right_title):
            _fill_lines(title, 30)
        ticks = axes.xaxis.get_major_locator()
        # "auto" does not foresee as many digits as there may be.
        if getattr(ticks, "_nbins", None) == "auto":
            ticks.set_params(nbins=5)
    for text in drawing.texts:  # whose data it shows
        _fill_lines(text, 48)
        further_lines = text.get_text().count("\n")
        drawing.set_figheight(drawing.get_figheight() + _LINE * further_lines)
    for text in drawing.findobj(Text):
        if text.get_fontsize() < 10 and text.get_text():
            text.set_fontsize(10)
    for axes in drawing.axes:
        if _has_names(axes.xaxis):
            _turn_crowded_names(axes)
    for legend in list(drawing.legends):
        legend.remove()
        lines = legend_above(drawing)
        drawing.set_figheight(drawing.get_figheight() + _LINE * max(0, lines - 1))


def _turn_crowded_names(axes) -> None:
    """Have the names below or above columns stand upright where they would cover each other."""
    axes.figure.draw_without_rendering()
    labels = [label for label in axes.get_xticklabels() if label.get_text()]
    boxes = [label.get_window_extent() for label in labels]
    is_crowded = any(box.x1 > following.x0 for box, following in pairwise(boxes))
    if not is_crowded or any(label.get_rotation() for label in labels):
        return
    names = [label.get_text().replace("\n", " ") for label in axes.get_xticklabels()]
    axes.set_xticks(axes.get_xticks(), names, rotation=90)
    longest = max(len(name) for name in names)
    drawing = axes.figure
    drawing.set_figheight(drawing.get_figheight() + _LETTER * longest)


def _has_names(axis) -> bool:
    """Whether the rows or columns of a panel have names, rather than numbers."""
    if not isinstance(axis.get_major_locator(), FixedLocator):
        return False
    names = "".join(label.get_text() for label in axis.get_ticklabels())
    return any(letter.isalpha() for letter in names)


def _fill_lines(text: Text, longest: int) -> None:
    """Break a text into lines again, so that none has more letters."""
    text.set_text(textwrap.fill(text.get_text(), longest))


# Names beside what they name, in place of a legend -------------------------------------------------


class _Name(Annotation):
    """A name that may be moved along one axis, off the names beside it; a stroke leads to what it names."""

    along = 1


def name_lines(axes) -> None:
    """Write the names of lines and areas to the right of a panel; above it if there are many, none for one alone."""
    handles, names = axes.get_legend_handles_labels()
    if len(names) > 8:
        legend_above(axes.figure)
    elif len(names) > 1:
        away = axes.get_yaxis_transform() + ScaledTranslation(0.16, 0, axes.figure.dpi_scale_trans)
        for handle, name in zip(handles, names, strict=True):
            if isinstance(handle, PolyCollection):
                outlines = [path.vertices for path in handle.get_paths()]
                points = np.vstack([np.empty((0, 2)), *outlines])
                color = handle.get_facecolor()[0]
            else:
                line = handle
                if isinstance(handle, ErrorbarContainer):
                    line = handle[0]
                points = line.get_xydata()
                color = line.get_color()
            points = points[np.isfinite(points).all(axis=1)]
            if len(points):  # what has no point ends nowhere
                is_last = points[:, 0] == points[:, 0].max()
                x, y = points[is_last].mean(axis=0)
                text = textwrap.fill(name.strip(), 16)
                _add_name(axes, text, (x, y), (1, y), away, color, 1)


def name_parts(axes, parts: Sequence[tuple[str, float, str]], height: float) -> None:
    """Write names above stacked bars: for each part of the uppermost, which ends at the height, name, middle, color."""
    away = axes.get_xaxis_transform() + ScaledTranslation(0, 0.16, axes.figure.dpi_scale_trans)
    for name, x, color in parts:
        text = textwrap.fill(name.strip(), 11, break_long_words=False)
        _add_name(axes, text, (x, height), (x, 1), away, color, 0)


def _add_name(
    axes, text: str, end: tuple, position: tuple, transform, color: str, along: int
) -> None:
    if along:
        alignment = {"ha": "left", "va": "center"}
        start_of_stroke = (0, 0.5)
    else:
        alignment = {"ha": "center", "va": "bottom"}
        start_of_stroke = (0.5, 0)
    label = _Name(
        text,
        end,
        xytext=position,
        textcoords=transform,
        linespacing=1.1,
        annotation_clip=False,
        arrowprops={
            "arrowstyle": "-",
            "color": color,
            "linewidth": 1.2,
            "shrinkA": 2,
            "shrinkB": 3,
            "relpos": start_of_stroke,
        },
        **alignment,
    )
    label.along = along
    label.set_transform(IdentityTransform())
    axes.add_artist(label)
    label.set_clip_on(False)  # it stands beside the panel, and the layout has to make room for it


def _spread_names(drawing: MatplotlibFigure) -> None:
    """Move the names of a drawing that is laid out, as little as possible, so that none covers another."""
    for axes in drawing.axes:
        _spread_names_along(axes, 0, (0, drawing.bbox.width))
        _spread_names_along(axes, 1, (axes.bbox.y0, axes.bbox.y1))


def _spread_names_along(axes, along: int, limits: tuple[float, float]) -> None:
    """Move the names of a panel along one axis, 0 across or 1 upwards."""
    names = []
    for artist in axes.texts:
        if isinstance(artist, _Name) and artist.along == along:
            names.append(artist)
    if not names:
        return

    def end_of(name: _Name) -> float:
        return axes.transData.transform(name.xy)[along]

    names.sort(key=end_of)
    ends = axes.transData.transform([name.xy for name in names])[:, along]
    sizes = []
    for name in names:
        box = Text.get_window_extent(name)
        sizes.append(box.size[along])
    gap = 0.06 * axes.figure.dpi
    centres = separated(ends, np.array(sizes) + gap, limits)
    for name, centre in zip(names, centres, strict=True):
        position = axes.transData.inverted().transform([centre, centre])[along]
        name.xyann = (1, position)
        if not along:
            name.xyann = (position, 1)


def separated(centres: np.ndarray, sizes: np.ndarray, limits: tuple[float, float]) -> np.ndarray:
    """Centres of intervals of given sizes that do not overlap, nearest to those wished for, within the limits.

    >>> separated(np.array([1.0, 1.0, 9.0]), np.array([2.0, 2.0, 2.0]), (0, 10)).tolist()
    [1.0, 3.0, 9.0]
    """
    # Less the centres of intervals that touch, the centres only have to ascend.
    touching = np.cumsum(sizes) - sizes / 2
    free_room = max(0.0, limits[1] - limits[0] - sizes.sum())
    shifts = isotonic_regression(centres - touching - limits[0]).x
    return limits[0] + np.clip(shifts, 0, free_room) + touching
