"""A figure: drawn once for a page and once for a phone, as SVG with real text, with alt text, caption and data."""

import base64
import contextlib
import html
import io
import re
import textwrap
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from xml.etree import ElementTree

import matplotlib as mpl
import numpy as np
import pandas as pd
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure as MatplotlibFigure
from matplotlib.text import Text
from PIL import Image

from sense7.csv_text import frame_as_csv
from sense7.errors import UserError
from sense7.figures.source import GRAY, INK, OWN, Shown, Sources
from sense7.files import digest_of, not_written, replacing, write_whole
from sense7.outputs import DRAWING, output, outputs_of, show
from sense7.tables import NO_MATH, Sentence
from sense7.terminal import count_of, plain, plain_lines

MARKS = "os^DvP"
STYLE = {
    "figure.facecolor": "none",
    "axes.facecolor": "none",
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
    "pdf.fonttype": 42,  # journals want fonts that can be edited
    "svg.fonttype": "none",
    "svg.hashsalt": "sense7",
    "text.hinting": "none",  # hinted letters differ between libraries of fonts
    "text.parse_math": False,  # names from a workbook are text, also with dollar signs
}

WIDE = 7
NARROW = 4.1
"""Widths of a drawing for a page and for a phone, in inches; 360 pixels there make ten points about eleven pixels."""

LINE = 0.17
"""Height of a line of text at ten points, in inches."""

_LETTERS = 13
"""Letters to an inch, on average, at ten points."""

_DOTS_PER_INCH = 96
"""As browsers count, so that a picture is as wide as the page's drawing, and is shown dot by dot."""

_COLOURS_OF_PICTURE = 24
"""Colours of a picture; more of them only smooth edges, and double the size of the file."""


@contextlib.contextmanager
def styled() -> Iterator[None]:
    """Draw in the one style on Matplotlib's defaults, so that a user's matplotlibrc changes no figure."""
    with mpl.rc_context(), warnings.catch_warnings():
        # A reader's browser has the letters that the bundled font lacks.
        warnings.filterwarnings("ignore", r"Glyph \d+ .* missing from font", UserWarning)
        mpl.rcdefaults()
        mpl.rcParams.update(STYLE)
        yield


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


def wrapped(text: str, inches: float) -> str:
    """A text in lines that fit into a width at ten points.

    >>> wrapped("two words", 0.5).splitlines()
    ['two', 'words']
    """
    return textwrap.fill(text, max(6, int(inches * _LETTERS)))


def lines_of(texts: Iterable[str]) -> int:
    """Lines of the text that has most of them; 1 if there is no text."""
    return max((text.count("\n") + 1 for text in texts), default=1)


def new_drawing(width: float, height: float) -> MatplotlibFigure:
    """An empty drawing, width by height in inches, without pyplot's state."""
    return MatplotlibFigure((width, height), dpi=_DOTS_PER_INCH, layout="constrained")


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


def name_rows(axes, names: Sequence[str]) -> None:
    """Write names beside the rows of a panel, from the top to the bottom."""
    axes.set_yticks(range(len(names)), names)
    axes.set_ylim(len(names) - 0.5, -0.5)
    axes.grid(visible=False, axis="y")


def rounded(cell: object) -> object:
    """To the digits that do not differ between processors where a model is fitted."""
    if isinstance(cell, float) and not cell.is_integer():
        return float(f"{cell:.6g}")
    return cell


_NUMBER = re.compile(r"-?\d+\.\d+(?:e-\d+)?")
_REFERENCE = re.compile(r"(?<=url\(#)[^)]+|(?<=^#).+")
_GEOMETRY = {"d", "points", "transform", "x", "y", "x1", "x2", "y1", "y2", "width", "height"}


@dataclass(frozen=True, eq=False)
class Figure:
    """A figure with all that belongs to it.

    Attributes
    ----------
    draw : function
        Makes the drawing for a width in inches.
    name : str
        Name for the file of its data.
    title : str
        Says what is seen; stands above the drawing. Of simulated data it begins so, unless it asks.
    alt : str
        The drawing in words, for those who do not see it.
    caption : str
        n, and what the intervals are.
    data : DataFrame
        What is drawn; its last column says whose data each row is of.
    source : Sources
        Whose data all of it shows, as the drawing itself says.
    """

    draw: Callable[[float], MatplotlibFigure] = field(repr=False)
    name: str
    title: str
    alt: str
    caption: str
    data: pd.DataFrame = field(repr=False)
    source: Sources = field(repr=False)

    @property
    def file_name(self) -> str:
        """Name of the figure's files, without ending, which says whose data they show."""
        return f"{self.name}-{self.source.word}"

    @cached_property
    def _csv(self) -> str:
        return frame_as_csv(self.data.map(rounded))

    @cached_property
    def _wide(self) -> MatplotlibFigure:
        """The drawing for a page, laid out: its SVG and its picture share it."""
        return self._laid_out(WIDE, self.title, self.source.label)

    @styled()
    def _laid_out(self, width: float, title: str, label: str) -> MatplotlibFigure:
        """The drawing with title, legend and source of the data around it, laid out for good."""
        drawing = self.draw(width)
        FigureCanvasAgg(drawing)  # measures texts without printing them
        height = drawing.get_figheight()
        title = wrapped(drawn(title, 200), 0.8 * width)  # bold letters are wider
        label = wrapped(label, width)
        above = 0.12 + 1.1 * LINE * lines_of([title]) if title else 0.0
        below = 0.08 + LINE * lines_of([label]) if label else 0.0
        handle_of = {}  # of all panels, each name once
        for axes in drawing.axes:
            handles, names = axes.get_legend_handles_labels()
            handle_of.update(zip(names, handles, strict=True))
        height_of_legend = 0.0
        if handle_of:
            longest = max(len(name) for name in handle_of)
            columns = max(1, int(width / (0.6 + longest / _LETTERS)))
            legend = drawing.legend(
                list(handle_of.values()), list(handle_of), loc="upper left", ncols=columns
            )
            legend.set_in_layout(False)  # it has a place of its own above the axes
            height_of_legend = legend.get_window_extent().height / drawing.dpi
        height += above + height_of_legend + below
        drawing.set_figheight(height)
        drawing.text(0.06 / width, 1 - 0.06 / height, title, va="top", weight="bold")
        right = 1 - 0.06 / width
        drawing.text(right, 0.04 / height, label, ha="right", va="bottom", fontsize=9)
        if handle_of:
            legend.set_bbox_to_anchor((0, 1 - above / height), drawing.transFigure)
        for text in drawing.findobj(Text):  # ticks may have been made outside of the style
            text.set_parse_math(False)
        engine = drawing.get_layout_engine()
        share = (above + height_of_legend + below) / height
        engine.set(rect=(0, below / height, 1, 1 - share))
        engine.execute(drawing)
        drawing.set_layout_engine("none")
        return drawing

    @styled()
    def _svg_of(self, drawing: MatplotlibFigure, css: str = "") -> str:
        """A drawing that is laid out as SVG: ids follow from all that the figure says, its ink is the page's color."""
        # Drawings on one page share no ids, and none refers into another one that is switched away.
        content = "\n".join([css, self.name, self.caption, self.alt, self._csv])
        digest = digest_of(content.encode())[:8]
        stream = io.StringIO()
        dots_per_inch = drawing.dpi
        # Directly, since saving a figure draws it twice.
        FigureCanvasSVG(drawing).print_svg(stream, metadata={"Date": None, "Creator": None})
        FigureCanvasAgg(drawing)
        drawing.set_dpi(dots_per_inch)
        root = ElementTree.fromstring(stream.getvalue())  # noqa: S314 -- Matplotlib's
        new_ids = {}
        for parent in list(root.iter()):
            parent.tag = parent.tag.rpartition("}")[2]
            parent.tail = None
            if parent.tag != "text":
                parent.text = None
            for child in list(parent):
                # A style in a page would be one of all its elements: the root says the same.
                if child.tag.endswith(("}metadata", "}style")):
                    parent.remove(child)
            identifier = parent.attrib.pop("id", None)
            if identifier and parent.tag != "g":  # nothing refers to a group
                new_ids[identifier] = f"f{digest}-{len(new_ids)}"
                parent.set("id", new_ids[identifier])

        def new_reference(old: re.Match) -> str:
            return new_ids[old[0]]

        def to_hundredths(coordinate: re.Match) -> str:
            # A little more than the number, so that what lies halfway goes one way on every processor.
            return f"{float(coordinate[0]) + 1e-7:z.2f}".rstrip("0").rstrip(".")

        for element in root.iter():
            attributes = {}
            for key, value in element.attrib.items():
                name = key.rpartition("}")[2]
                if name in _GEOMETRY:
                    # What a fit or a processor leaves beyond a hundredth of a point is not seen.
                    attributes[name] = _NUMBER.sub(to_hundredths, value)
                else:
                    style = re.sub(r"font-family: [^;]*;? ?", "", value)
                    style = style.replace(INK, "currentColor")
                    attributes[name] = _REFERENCE.sub(new_reference, style)
            element.attrib = attributes
        root.set("xmlns", "http://www.w3.org/2000/svg")
        root.set("role", "img")
        # Laid out with the first family; the second is as wide.
        root.set("font-family", "DejaVu Sans, Verdana, sans-serif")
        root.set("stroke-linejoin", "round")
        root.set("class", f"{css} {NO_MATH}".strip())
        root.set("aria-label", self.alt)
        self._add_marks(root, drawing)
        return ElementTree.tostring(root, encoding="unicode")

    def _add_marks(self, root: ElementTree.Element, drawing: MatplotlibFigure) -> None:
        """Add to an SVG what a script moves; a plain figure has nothing."""

    def both_svgs(self) -> str:
        """The drawings for a page and for a phone; a style sheet shows one of them."""
        narrow = self._laid_out(NARROW, self.title, self.source.label)
        # Outside the book, where no style sheet chooses, the first drawing alone is shown.
        hidden = self._svg_of(narrow, "sense7-narrow").replace(
            "<svg ", '<svg style="display: none" ', 1
        )
        return f"{self.svg}{hidden}"

    @cached_property
    def svg(self) -> str:
        """The drawing as an SVG element that takes the page's color."""
        return self._svg_of(self._wide)

    def html(self, above: str = "", below: str = "", css: str = "") -> str:
        """Figure, caption and link to the data as one HTML element, with what belongs before and after the drawing."""
        return (
            f'<figure class="sense7-figure{css}" data-name="{html.escape(self.name)}" '
            'style="margin: 1em 0; max-width: 100%; overflow-x: auto">'
            f'{above}{self.both_svgs()}{below}<figcaption class="{NO_MATH}">'
            f"{html.escape(self.caption)} {_link(self._csv, self.file_name, 'Data (CSV)')}</figcaption></figure>"
        )

    def save(self, path: str | Path, *, width_cm: float | None = None) -> Path:
        """Write the drawing, or its data, to a file; the ending says which.

        Parameters
        ----------
        path : path
            Ends in .png (300 dots per inch), .pdf, .svg, or .csv for what is drawn. A file that is there is replaced.
        width_cm : float, optional
            Width of a column of a journal, in centimetres, at least 6: letters have ten points there, the title is
            left to the journal's caption, and a figure of your own data names no source. Other data keep theirs.

        Returns
        -------
        Path
            The file. The caption is not part of it.

        Raises
        ------
        UserError
            If the ending is another one, the width too small, or the file can't be written.

        Examples
        --------
        >>> import tempfile
        >>> def draw(width):
        ...     return new_axes(width, 2)[0]
        >>> figure = figure_of(draw, "empty", "Empty", "Nothing.", "n = 0", pd.DataFrame(), None)
        >>> path = figure.save(Path(tempfile.mkdtemp()) / "empty.svg", width_cm=8.5)
        >>> path.read_text(encoding="utf-8")[:4]
        '<svg'
        """
        path = Path(path).expanduser()
        ending = path.suffix.lower()
        if ending not in {".png", ".pdf", ".svg", ".csv"}:
            raise UserError(
                f"{path}: a figure is saved as .png, .pdf, .svg or, its data, .csv. Give such a name."
            )
        drawing = self._wide
        if width_cm is not None:
            if width_cm < 6:
                raise UserError(f"A figure is at least 6 cm wide; got width_cm={width_cm:g}.")
            label = self.source.label
            if self.source.word == OWN:
                label = ""
            drawing = self._laid_out(width_cm / 2.54, "", label)
        try:
            if ending == ".csv":
                write_whole(path, frame_as_csv(self.data), replace=True)
            elif ending == ".svg":
                write_whole(path, self._svg_of(drawing), replace=True)
            else:
                with styled(), replacing(path, replace=True) as temporary:
                    drawing.savefig(temporary, format=ending[1:], dpi=300, facecolor="white")
        except OSError as error:
            raise UserError(not_written(path, error)) from None
        return path

    def notebook_outputs(self) -> list[dict]:
        """What a notebook shows outside the book: a picture with its text, and the caption."""
        drawing = self._wide
        with styled():
            canvas = FigureCanvasAgg(drawing)
            drawing.set_facecolor("white")
            canvas.draw()  # saving would draw it twice
            drawing.set_facecolor("none")
        picture = Image.fromarray(np.asarray(canvas.buffer_rgba())).convert("RGB")
        picture = picture.quantize(_COLOURS_OF_PICTURE, dither=Image.Dither.NONE)
        small = io.BytesIO()
        picture.save(small, format="png", optimize=True)
        content = base64.b64encode(small.getvalue()).decode()
        picture_output = output(
            {"image/png": content, "text/plain": repr(self)},
            {"image/png": {"alt": self.alt, DRAWING: digest_of(self.svg.encode())[:12]}},
        )
        return [picture_output, *outputs_of(Sentence(self.caption))]

    def _ipython_display_(self) -> None:
        show(self)

    def _repr_html_(self) -> str:
        return self.html()

    def __repr__(self) -> str:
        return plain_lines(f"Figure: {self.alt}")


def figure_of(
    draw: Callable[[float], MatplotlibFigure],
    name: str,
    title: str,
    alt: str,
    caption: str,
    data: pd.DataFrame,
    source: Shown,
    *,
    make: Callable[..., Figure] = Figure,
    **more,
) -> Figure:
    """A figure whose drawing, alt text, data and file names say whose data it shows.

    Parameters
    ----------
    draw, name, title, alt, caption, data
        As the attributes of :class:`Figure`.
    source : Study, Source, mapping of these by name, or None
        Whose data it shows, or each series or panel: a name in the index of the data.
    make : class
        The kind of figure, with its further attributes.
    """
    sources = Sources.of(source)
    labels = [sources.source(*np.atleast_1d(row)).label for row in data.index]
    data = data.copy()
    data.insert(data.shape[1], "data", labels, allow_duplicates=True)
    heading = title
    if not title.endswith("?"):
        if sources.is_simulated:
            title = f"Simulated: {title}"
        heading = f"{title}."
    return make(
        draw, name, title, f"{heading} {alt} {sources.label}.", caption, data, sources, **more
    )


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
