"""Matrices: numbers on shades, a judge's levels against those of people, and verdicts."""

from collections.abc import Iterable, Mapping

import numpy as np
import pandas as pd
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.patches import Rectangle

from sense7.figures.figure import (
    LINE,
    Figure,
    drawn,
    figure_of,
    lines_of,
    name_rows,
    new_axes,
    wrapped,
)
from sense7.figures.source import INK, Shown, Sources, main_color
from sense7.tables import Sentence
from sense7.taxonomy import LEVELS


def _ink_on(colours: np.ndarray) -> np.ndarray:
    """Black or white, whichever has the larger contrast (WCAG 2) with each sRGB color, from 0 to 1."""
    channels = colours[..., :3]
    linear = np.where(channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)
    luminances = linear @ [0.2126, 0.7152, 0.0722]
    halfway = np.sqrt(1.05 * 0.05) - 0.05  # the luminance that black and white stand out from alike
    return np.where(luminances > halfway, "#000000", "#ffffff")


def _draw_cells(numbers: pd.DataFrame, texts: np.ndarray, color: str, width: float, row: float):
    """Draw shaded cells of a height with their texts, empty where there is no number, and name rows and columns."""
    row_names = [wrapped(drawn(name, 40), 0.25 * width) for name in numbers.index]
    height = 0.9 + max(row, 1.15 * LINE * lines_of(row_names)) * len(numbers)
    column_names, height_of_names = _column_names(numbers.columns, width)
    drawing, axes = new_axes(width, height + height_of_names)

    values = numbers.to_numpy(dtype=float)
    low = min(0, np.nanmin(values))
    lightest_to_darkest = LinearSegmentedColormap.from_list("shades", ["#f4f4f4", color])
    shades = lightest_to_darkest((values - low) / max(np.nanmax(values) - low, 1e-9))
    inks = _ink_on(shades)
    for y, x in np.argwhere(np.isfinite(values)):
        corner = (x - 0.48, y - 0.46)
        axes.add_patch(Rectangle(corner, 0.96, 0.92, facecolor=shades[y, x]))
        look = {"ha": "center", "va": "center", "fontsize": 9}
        axes.text(x, y, texts[y, x], color=inks[y, x], **look)
    axes.set_xticks(range(numbers.shape[1]), column_names, rotation=90 * (height_of_names > 0))
    axes.set_xlim(-0.5, numbers.shape[1] - 0.5)
    name_rows(axes, row_names)
    axes.set(xlabel=drawn(numbers.columns.name or ""), ylabel=drawn(numbers.index.name or ""))
    axes.tick_params(length=0)
    axes.grid(visible=False)
    axes.spines[:].set_visible(False)
    return drawing, axes


def _column_names(names: Iterable, width: float) -> tuple[list[str], float]:
    """Names of columns as they are drawn, and the height that they need where there is room for them only upright."""
    texts = [drawn(name, 30) for name in names]
    room = 0.6 * width / len(texts)
    if max(len(word) for word in " ".join(texts).split()) < 12 * room:
        return [wrapped(text, room) for text in texts], 0.0
    return texts, 0.08 * max(len(text) for text in texts)


def heat_map(
    matrix: pd.DataFrame, *, name: str, title: str, label: str, caption: str, source: Shown = None
) -> Figure | Sentence:
    """A matrix of correlations, counts or means as shaded cells with the numbers in them.

    Parameters
    ----------
    matrix : DataFrame
        NaN where there is no number: such a cell stays empty. Of a matrix with the same rows and columns, such as
        correlations, the diagonal is left out. Whole numbers are counts.
    name, title, caption, source
        As for :func:`sense7.figures.forest`.
    label : str
        What the numbers are.

    Returns
    -------
    Figure or Sentence
        A sentence if there is not one number.
    """
    is_square = matrix.index.equals(matrix.columns)
    cells = matrix
    if is_square:
        cells = matrix.mask(np.eye(len(matrix), dtype=bool))
    numbers = cells.astype(float)
    if not np.isfinite(numbers.to_numpy()).any():
        return Sentence(f"No figure of {label}: no number is there to show.")
    number_format = "{:z.2f}"
    if all(column_type.kind in "iu" for column_type in cells.dtypes):
        number_format = "{:,.0f}"
    texts = numbers.map(number_format.format)

    def draw(width: float):
        drawing, axes = _draw_cells(numbers, texts.to_numpy(), main_color(source), width, 0.38)
        axes.set_title(wrapped(label, 0.6 * width), fontsize=10, loc="left")
        return drawing

    parts = []
    for index, row in enumerate(numbers.index):
        columns = numbers.columns
        if is_square:  # each pair once
            columns = columns[index + 1 :]
        cells_in_words = [
            f"{column} {texts.loc[row, column]}"
            for column in columns
            if np.isfinite(numbers.loc[row, column])
        ]
        if cells_in_words:
            parts.append(f"{row}: {', '.join(cells_in_words)}")
    alt = f"{label}. {'; '.join(parts)}."
    return figure_of(draw, name, title, alt, caption, matrix, source)


def confusion_matrix(
    counts: pd.DataFrame, *, name: str, title: str, caption: str, source: Shown = None
) -> Figure | Sentence:
    """A judge's levels against those of people: how often each pair occurs, and its share of the people's level.

    Parameters
    ----------
    counts : DataFrame
        One row per level of the people's ratings, one column per level of the judge, both 1 to 5; whole numbers.
    name, title, caption, source
        As for :func:`sense7.figures.forest`.

    Returns
    -------
    Figure or Sentence
        A sentence if nothing was predicted. A level that no conversation has is an empty row.

    Examples
    --------
    >>> counts = pd.DataFrame([[3, 1], [0, 4]], index=[4, 5], columns=[4, 5])
    >>> figure = confusion_matrix(counts, name="x", title="It is often right", caption="n = 8")
    >>> figure.alt.partition(" Source")[0]
    'It is often right. Rated 4 good: judged 4 3 (75%), 5 1 (25%). Rated 5 very good: judged 4 0 (0%), 5 4 (100%).'
    """
    if counts.to_numpy().sum() == 0:
        return Sentence("No confusion matrix: nothing was predicted.")
    totals = counts.sum(axis=1)
    shares = counts.div(totals.where(totals > 0), axis=0)
    texts = counts.map("{:,}".format) + "\n" + shares.map("{:.0%}".format)
    parts = []
    for level in counts.index[totals > 0]:
        in_words = []
        for judged, text in texts.loc[level].items():
            in_words.append(f"{judged} {text.replace(chr(10), ' (')})")
        parts.append(f"Rated {level} {LEVELS[level - 1]}: judged {', '.join(in_words)}.")

    def draw(width: float):
        names = {level: f"{level} {LEVELS[level - 1]}" for level in range(1, 6)}
        cells = shares.rename(index=names, columns=names)
        cells.index.name = "level of the person's rating"
        cells.columns.name = "level of the judge's score"
        drawing, axes = _draw_cells(cells, texts.to_numpy(), main_color(source), width, 0.46)
        for diagonal in set(counts.index) & set(counts.columns):  # where both agree
            x = list(counts.columns).index(diagonal) - 0.5
            y = list(counts.index).index(diagonal) - 0.5
            axes.add_patch(Rectangle((x, y), 1, 1, fill=False, edgecolor=INK, linewidth=1.5))
        axes.set_title("predictions, and % of the person's level", fontsize=10, loc="left")
        return drawing

    data = counts.rename_axis(index="rated", columns=None)
    return figure_of(draw, name, title, " ".join(parts), caption, data, source)


def verdict_map(
    cells: pd.DataFrame,
    *,
    name: str,
    title: str,
    caption: str,
    marks: Mapping[str, str],
    source: Shown = None,
) -> Figure | Sentence:
    """One row for each question, one column for each data set, and in it the mark of the verdict.

    Parameters
    ----------
    cells : DataFrame
        One row per verdict: row and column (texts, in the order in which they are to stand), verdict (one of
        ``marks``), and text (stands in the cell after its mark; "" for nothing).
    name, title, caption
        As for :func:`sense7.figures.forest`.
    marks : mapping of str -> str
        Verdict -> its mark; the drawing says in words what each means.
    source : Study, Source, or mapping of column -> one of these, optional
        As for :func:`sense7.figures.forest`; a mark has the color of its column.

    Returns
    -------
    Figure or Sentence
        A sentence if there is no cell.
    """
    if cells.empty:
        return Sentence(f"No figure {name}: there is nothing to show.")
    sources = Sources.of(source)
    rows = list(dict.fromkeys(cells["row"]))
    columns = list(dict.fromkeys(cells["column"]))
    verdicts = [verdict for verdict in marks if (cells["verdict"] == verdict).any()]
    legend = "   ".join(f"{marks[verdict]} {verdict}".strip() for verdict in verdicts)

    def draw(width: float):
        row_names = [wrapped(drawn(row, 80), 0.36 * width) for row in rows]
        column_names, height_of_names = _column_names(columns, width)
        meaning = wrapped(legend, 0.6 * width)
        height = 0.6 + height_of_names + LINE * (lines_of(column_names) + lines_of([meaning]))
        drawing, axes = new_axes(width, height + len(rows) * (0.06 + LINE * lines_of(row_names)))
        for cell in cells.to_dict("records"):
            text = f"{marks[cell['verdict']]} {drawn(cell['text'], 24)}".strip()
            color = sources.source(cell["column"]).colors[0]
            center = (columns.index(cell["column"]), rows.index(cell["row"]))
            look = {"weight": "bold", "ha": "center", "va": "center", "fontsize": 9}
            axes.text(*center, text, color=color, **look)
        axes.xaxis.tick_top()
        axes.set_xticks(range(len(columns)), column_names, rotation=90 * (height_of_names > 0))
        axes.set_xlim(-0.5, len(columns) - 0.5)
        name_rows(axes, row_names)
        axes.set_xlabel(meaning)
        axes.grid(visible=True, axis="y")
        axes.grid(visible=False, axis="x")
        axes.tick_params(length=0)
        axes.spines[:].set_visible(False)
        return drawing

    parts = []
    for row, of_row in cells.groupby("row", sort=False):
        of_row = of_row["column"] + " " + of_row["text"] + " " + of_row["verdict"]  # noqa: PLW2901
        parts.append(f"{row}: {', '.join(of_row.str.replace('  ', ' '))}")
    row_sources = [sources.source(column) for column in cells["column"]]
    data = cells[["row", "column", "verdict", "text"]].set_index("row")
    alt = f"{'; '.join(parts)}."
    return figure_of(draw, name, title, alt, caption, data, source, row_sources=row_sources)
