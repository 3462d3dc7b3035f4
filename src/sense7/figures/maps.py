"""Maps of tiles: the verdicts on many questions at one glance, and a judge's levels against those of people."""

import textwrap
from collections.abc import Mapping

import numpy as np
import pandas as pd
from matplotlib.patches import Rectangle

from sense7.figures.distributions import draw_cells
from sense7.figures.source import INK, Shown, Source, Sources
from sense7.figures.style import (
    WIDE,
    Figure,
    drawn,
    figure_for_widths,
    figure_of,
    ink_on,
    legend_above,
    new_axes,
)
from sense7.tables import VERDICT_MARKS, Sentence
from sense7.taxonomy import LEVELS

TILE = 0.26
"""Height of a row of tiles, in inches."""


_DARKNESS = {"seen here too": 0.9, "the opposite": 0.5, "not seen": 0.2}
VERDICTS = {
    verdict: (mark, _DARKNESS.get(verdict, 0)) for verdict, (_, mark) in VERDICT_MARKS.items()
}
"""How the verdicts of other data sets look in a map: verdict -> mark, and how dark its tile is."""


def verdict_map(
    cells: pd.DataFrame,
    *,
    name: str,
    label: str,
    caption: str,
    looks: Mapping[str, tuple[str, float]],
    source: Shown = None,
) -> Figure | Sentence:
    """One tile for each question and data set, whose mark and shade are its verdict.

    Parameters
    ----------
    cells : DataFrame
        One row per tile: row and column (texts, in the order in which they are to stand), verdict (one of
        ``looks``), and text (what stands in the tile after its mark; "" for nothing).
    name : str
        Name of the figure's data file.
    label : str
        What is shown, for those who do not see it.
    caption : str
        What to see, and n.
    looks : mapping of str -> (str, float)
        Verdict -> its mark, so that it does not rest on color alone, and how dark its tile is, from 0 to 1.
    source : Study, Source, or mapping of column -> one of these, optional
        As for :func:`sense7.figures.intervals`.

    Returns
    -------
    Figure or Sentence
        A sentence if there is no cell.
    """
    if cells.empty:
        return Sentence(f"No figure of {label}: there is nothing to show.")
    sources = Sources.of(source)
    rows = list(dict.fromkeys(cells["row"]))
    columns = list(dict.fromkeys(cells["column"]))
    verdicts_in_map = [verdict for verdict in looks if (cells["verdict"] == verdict).any()]

    def draw():
        drawing, axes = new_axes(7, 1.7 + TILE * len(rows))
        for cell in cells.to_dict("records"):
            x = columns.index(cell["column"])
            y = rows.index(cell["row"])
            mark, darkness = looks[cell["verdict"]]
            fill, ink = _shade(sources.source(cell["column"]), darkness)
            axes.add_patch(
                Rectangle((x + 0.04, y + 0.08), 0.92, 0.84, facecolor=fill, edgecolor="none")
            )
            axes.text(
                x + 0.5,
                y + 0.5,
                f"{mark} {drawn(cell['text'], 24)}".strip(),
                color=ink,
                ha="center",
                va="center",
                fontsize=9,
            )
        for verdict in verdicts_in_map:
            mark, darkness = looks[verdict]
            column = cells.loc[cells["verdict"] == verdict, "column"].iloc[0]
            fill, _ = _shade(sources.source(column), darkness)
            axes.scatter(
                [],
                [],
                marker="s",
                s=110,
                facecolor=fill,
                edgecolor=INK,
                linewidth=0.5,
                label=f"{mark} {verdict}".strip(),
            )
        axes.set(xlim=(0, len(columns)), ylim=(len(rows), 0))
        longest = 44 // len(columns)
        names = [textwrap.fill(drawn(column), max(longest, 8)) for column in columns]
        longest_word = max(len(word) for word in " ".join(columns).split())
        axes.xaxis.tick_top()
        axes.set_xticks(np.arange(len(columns)) + 0.5, names, fontsize=9)
        if longest_word > longest:  # upright
            names = [textwrap.fill(drawn(column), 20) for column in columns]
            axes.set_xticks(np.arange(len(columns)) + 0.5, names, fontsize=9, rotation=90)
        axes.set_yticks(np.arange(len(rows)) + 0.5, [drawn(row, 80) for row in rows])
        axes.tick_params(length=0)
        axes.spines[:].set_visible(False)
        axes.grid(visible=False)
        legend_above(drawing)
        return drawing

    parts = []
    for row, tiles in cells.groupby("row", sort=False):
        verdicts = []
        for tile in tiles.to_dict("records"):
            verdicts.append(f"{tile['column']} {tile['text']} {tile['verdict']}".replace("  ", " "))
        parts.append(f"{row}: {', '.join(verdicts)}")
    alt = f"{label}. {'; '.join(parts)}."
    row_sources = [sources.source(column) for column in cells["column"]]
    data = cells[["row", "column", "verdict", "text"]].set_index("row")
    return figure_of(draw, name, alt, caption, data, source, row_sources=row_sources)


def _shade(source: Source, darkness: float) -> tuple[str | tuple, str]:
    """The color of a tile, from none to that of the source, and the ink that stands out on it."""
    if darkness == 0:
        return "none", INK
    import seaborn

    shades = seaborn.light_palette(source.colors[0], n_colors=11)
    fill = shades[round(10 * darkness)]
    (ink,) = ink_on([fill])
    return fill, ink


def confusion_matrix(
    counts: pd.DataFrame, *, name: str, caption: str, source: Shown = None
) -> Figure | Sentence:
    """A judge's levels against those of people: how often each pair occurs, and its share of the people's level.

    Parameters
    ----------
    counts : DataFrame
        One row per level of the people's ratings, one column per level of the judge, both 1 to 5; whole numbers.
    name : str
        Name of the figure's data file.
    caption : str
        What to see, n, and over what.
    source : Study or Source, optional
        As for :func:`sense7.figures.intervals`.

    Returns
    -------
    Figure or Sentence
        A sentence if nothing was predicted. A level that no conversation has is an empty row.

    Examples
    --------
    >>> counts = pd.DataFrame([[3, 1], [0, 4]], index=[4, 5], columns=[4, 5])
    >>> confusion_matrix(counts, name="x", caption="n = 8").alt.partition(" Source")[0]
    'Confusion matrix. Rated 4 good: judged 4 3 (75%), 5 1 (25%); rated 5 very good: judged 4 0 (0%), 5 4 (100%).'
    """
    if counts.to_numpy().sum() == 0:
        return Sentence("No confusion matrix: nothing was predicted.")
    totals = counts.sum(axis=1)
    shares = counts.div(totals.where(totals > 0), axis=0)
    texts = []
    parts = []
    for level, row in counts.iterrows():
        in_words = []
        for judged, count in row.items():
            share = shares.loc[level, judged]
            if np.isfinite(share):
                texts.append(f"{count:,}\n{share:.0%}")
                in_words.append(f"{judged} {count:,} ({share:.0%})")
            else:
                texts.append("")
        if in_words:
            parts.append(f"rated {level} {LEVELS[level - 1]}: judged {', '.join(in_words)}")

    def draw(width: float):
        drawing, axes = new_axes(width, 1.5 + 0.48 * len(counts))
        draw_cells(axes, 100 * shares, texts, (0, 100), Sources.of(source))
        names = {level: f"{level}\n{LEVELS[level - 1]}" for level in range(1, 6)}
        if width < WIDE:
            names = {level: name.replace(" ", "\n") for level, name in names.items()}
            axes.collections[0].colorbar.remove()
        axes.set_xticks(axes.get_xticks(), [names[level] for level in counts.columns])
        rows = []
        for level in counts.index:
            rows.append(f"{level} {LEVELS[level - 1]}\nn = {totals[level]:,}")
        axes.set_yticks(axes.get_yticks(), rows)
        axes.set(xlabel="level of the judge's score", ylabel="level of the person's rating")
        axes.set_title("predictions, and % of the person's level", fontsize=10, loc="left")
        for diagonal in set(counts.index) & set(counts.columns):  # where both agree
            x = list(counts.columns).index(diagonal)
            y = list(counts.index).index(diagonal)
            axes.add_patch(Rectangle((x, y), 1, 1, fill=False, edgecolor=INK, linewidth=1.5))
        return drawing

    alt = f"Confusion matrix. {'; '.join(parts)}."
    alt = alt.replace("matrix. rated", "matrix. Rated", 1)
    data = counts.rename_axis(index="rated", columns=None)
    return figure_for_widths(draw, name, alt, caption, data, source)
