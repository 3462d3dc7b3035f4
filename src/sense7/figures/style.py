"""The one style of all figures, and what belongs to a figure besides its drawing.

A figure is shown as SVG with real text, whose ink takes the color of the page's text, so that it reads
on light and dark pages alike; in a narrow place, in a second layout of the same drawing. The data behind it can be
downloaded beside it. For another format, save ``figure.drawing``.
"""

import base64
import contextlib
import csv
import html
import re
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import matplotlib as mpl
import numpy as np
import pandas as pd
from matplotlib.figure import Figure as MatplotlibFigure
from matplotlib.transforms import Bbox

from sense7.arguments import check_arguments
from sense7.errors import UserError
from sense7.figures.direct_labels import spread_names
from sense7.figures.narrow import narrowed
from sense7.figures.svg import INK, svg_of
from sense7.figures.text_layouts import laid_out_once
from sense7.files import not_written, replacing, write_whole
from sense7.tables import NO_MATH
from sense7.terminal import plain, plain_lines

__all__ = ["COLOURS", "LEVEL_COLOURS", "STYLE", "Figure", "csv_text", "drawn", "ink_on", "new_axes", "styled"]

_GRID = "#8c8c8c"
_WIDENINGS = 4
_DOTS_PER_INCH = 300
_MARGIN = 0.1  # inches around what is drawn
_DIGITS = 6  # of a number in a figure's data: what lies beyond differs between processors where a model is fitted
_FORMULA = re.compile("[=+\\-@\uff1d\uff0b\uff0d\uff20\t\r\n']")
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
"""Okabe and Ito's colours: distinguished by colour-blind readers, visible on white and black."""

LEVEL_COLOURS = ("#CA0020", "#F4A582", "#B0B0B0", "#92C5DE", "#0571B0")

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
    "grid.color": _GRID,
    "grid.alpha": 0.3,
    "legend.frameon": False,
    "axes.prop_cycle": mpl.cycler(color=COLOURS),
    "svg.fonttype": "none",
    "svg.hashsalt": "sense7",
    "text.parse_math": False,  # names from a workbook are text, also with dollar signs
}


@contextlib.contextmanager
def styled() -> Iterator[None]:
    """Draw in the one style.

    What the bundled font lacks, such as most emoji, is laid out without a warning, which would stand on the page: the
    reader's browser has a font for it.
    """
    with mpl.rc_context(STYLE), warnings.catch_warnings():
        warnings.filterwarnings("ignore", r"Glyph \d+ .* missing from font", UserWarning)
        yield


def drawn(name: object, longest: int = 60) -> str:
    r"""A name from a workbook as it stands in a drawing; whole in the alternative text and the data.

    One line, nothing in it that is not printable, and the middle left out where it would leave no room to draw.

    Examples
    --------
    >>> print(drawn("two\nlines\x1b[31m"), drawn("a" * 50 + "z" * 50, 9), drawn("_mine"), sep="|")
    two lines\x1b[31m|aaaa…zzzz| _mine
    """
    text = plain(" ".join(str(name).split()))
    if len(text) > longest:
        half = (longest - 1) // 2
        text = f"{text[:half]}…{text[-half:]}"
    # Matplotlib leaves out of legends what begins so.
    return f" {text}" if text.startswith("_") else text


@dataclass(frozen=True, eq=False)
class Figure:
    """A drawn figure with all that belongs to it.

    Attributes
    ----------
    drawing : matplotlib.figure.Figure
        The drawing.
    name : str
        Name for the file of its data.
    alt : str
        What is seen, for those who do not see it.
    caption : str
        n, and what the intervals are.
    data : DataFrame
        What is drawn.
    fluid : bool
        Whether it is drawn narrow enough to be read on a phone as it is; others are laid out for that a second time.
    """

    drawing: MatplotlibFigure
    name: str
    alt: str
    caption: str
    data: pd.DataFrame = field(repr=False)
    fluid: bool = False

    def _lay_out(self) -> Bbox:
        """Lay out for good; wider where long names leave no room to draw. The box of all that is drawn, in inches.

        At the drawing's own resolution, which measures texts more finely than the 72 dots per inch of SVG.
        """
        for _ in range(_WIDENINGS):
            self.drawing.set_layout_engine("constrained")
            with warnings.catch_warnings():
                warnings.filterwarnings("error", "constrained_layout not applied", UserWarning)
                with contextlib.suppress(UserWarning):
                    self.drawing.get_layout_engine().execute(self.drawing)
                    break
            self.drawing.set_figwidth(1.5 * self.drawing.get_figwidth())
        self.drawing.set_layout_engine("none")
        spread_names(self.drawing)
        return self.drawing.get_tightbbox().padded(_MARGIN)

    @cached_property
    def _csv(self) -> str:
        """Its data as CSV, without digits that differ between processors."""
        return csv_text(self.data.map(_rounded))

    @cached_property
    def _pictures(self) -> tuple[str, ...]:
        """The drawing as SVG: for wide places, and for narrow ones unless the first serves both."""
        # Of what is drawn: drawings on one page share no ids, and none refers into another one that is switched away.
        content = "\n".join([self.name, self.caption, self.alt, self._csv])
        narrow = []
        with styled(), laid_out_once():
            if not self.fluid:
                with narrowed(self.drawing):
                    narrow.append(svg_of(self.drawing, self._lay_out(), content=f"narrow\n{content}", label=self.alt))
            # The wide layout is the last: it is what ``drawing`` keeps.
            return svg_of(self.drawing, self._lay_out(), content=content, label=self.alt), *narrow

    def svg(self) -> str:
        """The drawing as an SVG element that takes the page's colour."""
        return self._pictures[0]

    def html(self) -> str:
        """Figure, caption and link to the data as one HTML element."""
        table = base64.b64encode(self._csv.encode()).decode()
        kind = "sense7-figure sense7-fluid" if self.fluid else "sense7-figure"
        # Outside the book, where no style sheet chooses, the first drawing alone is shown.
        narrow = "".join(
            picture.replace('<svg class="', '<svg style="display: none" class="sense7-narrow ', 1)
            for picture in self._pictures[1:]
        )
        return (
            f'<figure class="{kind}" style="margin: 1em 0; max-width: 100%; overflow-x: auto">'
            f'{self.svg()}{narrow}<figcaption class="{NO_MATH}">{html.escape(self.caption)} '
            f'<a download="{html.escape(self.name)}.csv" href="data:text/csv;base64,{table}">'
            "Data (CSV)</a></figcaption></figure>"
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
            The file. It has no caption: what the data are has to be said where it is shown.

        Raises
        ------
        UserError
            If the ending is another one, or the file can't be written.

        Examples
        --------
        >>> import tempfile
        >>> drawing, axes = new_axes(3, 2)
        >>> figure = Figure(drawing, "empty", "Nothing.", "n = 0", pd.DataFrame())
        >>> figure.save(Path(tempfile.mkdtemp()) / "empty.svg").read_text(encoding="utf-8")[:4]
        '<svg'
        """
        path = Path(path).expanduser()
        kind = path.suffix.lower()
        try:
            if kind == ".csv":
                write_whole(path, csv_text(self.data))
            elif kind == ".svg":
                write_whole(path, self.svg())
            elif kind in {".png", ".pdf"}:
                self.svg()  # leaves the wide layout
                with styled(), replacing(path) as temporary:
                    options = {"dpi": _DOTS_PER_INCH, "facecolor": "white", "bbox_inches": self._lay_out()}
                    self.drawing.savefig(temporary, format=kind[1:], **options)
            else:
                raise UserError(f"{path}: a figure is saved as .png, .pdf, .svg or, its data, .csv. Give such a name.")
        except OSError as error:
            raise UserError(not_written(path, error)) from None
        return path

    def _repr_html_(self) -> str:
        return self.html()

    def __repr__(self) -> str:
        return plain_lines(f"Figure: {self.alt}")

    def _repr_mimebundle_(self, include=None, exclude=None) -> dict:
        return {"text/html": self.html(), "text/plain": repr(self)}


def _rounded(cell: object) -> object:
    return float(f"{cell:.{_DIGITS}g}") if isinstance(cell, float) and not cell.is_integer() else cell


def csv_text(table: pd.DataFrame) -> str:
    """A table as CSV in which no text is a formula to a spreadsheet program.

    A text that begins as a formula could, with one of = + - @ (also in full width), a tab or a line break, or with an
    apostrophe, gets one apostrophe before it: without that it is the original. Numbers are as they are, and
    every text stands in quotes, so that no separator in it begins a cell elsewhere.

    Parameters
    ----------
    table : DataFrame
        Texts may stand in its cells, index and columns.

    Examples
    --------
    >>> print(csv_text(pd.DataFrame({"n": [-1, 2]}, index=["=1+1", "'tis"])), end="")
    "","n"
    "'=1+1",-1
    "''tis",2
    """

    def text(cell):
        return f"'{cell}" if isinstance(cell, str) and _FORMULA.match(cell) else cell

    safe = table.rename(index=text, columns=text).map(text)
    safe.index.names = [text(name) for name in table.index.names]
    return safe.to_csv(quoting=csv.QUOTE_NONNUMERIC, lineterminator="\n")


def new_axes(width: float, height: float):
    """One drawing with one pair of axes, width by height in inches, without pyplot's state."""
    drawing = MatplotlibFigure(figsize=(width, height), layout="constrained")
    return drawing, drawing.subplots()


def ink_on(colours: np.ndarray) -> list[str]:
    """Black or white, whichever has the larger contrast (WCAG 2) with each colour.

    Parameters
    ----------
    colours : array, shape (n, 3 or 4)
        sRGB, from 0 to 1.

    Examples
    --------
    >>> ink_on([(1, 1, 1), (0, 0, 0.5)])
    ['#000000', '#ffffff']
    """
    channels = np.asarray(colours, dtype=float)[:, :3]
    linear = np.where(channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)
    halfway = np.sqrt(1.05 * 0.05) - 0.05  # the luminance that black and white stand out from alike
    return ["#000000" if light > halfway else "#ffffff" for light in linear @ [0.2126, 0.7152, 0.0722]]


check_arguments(globals())
