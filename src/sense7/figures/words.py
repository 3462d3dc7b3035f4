"""Figures of the words that users write."""

import matplotlib as mpl
import pandas as pd

from sense7.arguments import check_arguments
from sense7.figures.charts import intervals
from sense7.figures.direct_labels import name_lines
from sense7.figures.style import COLOURS, Figure, new_axes, styled
from sense7.tables import Sentence

__all__ = ["distinctive_terms", "topic_stability"]


def distinctive_terms(terms: pd.DataFrame, *, name: str, caption: str) -> Figure | Sentence:
    """Log-odds ratios of terms, those of poor turns first; a sentence if there are none.

    Parameters
    ----------
    terms : DataFrame
        As :func:`sense7.findings.words.terms.distinctive_terms` returns it.
    name, caption : str
        As for :func:`sense7.figures.charts.intervals`.
    """
    if terms.empty:
        return Sentence("No figure of terms: none is used about poor or good turns by enough participants.")
    return intervals(
        terms, name=name, label="log-odds ratio (positive: more in comments on poor turns)", caption=caption
    )


def topic_stability(stability: pd.DataFrame, *, name: str, caption: str) -> Figure | Sentence:
    """How well topics are found again, by their number: in the comments, and in shuffled ones as a band.

    Parameters
    ----------
    stability : DataFrame
        As in :class:`sense7.findings.words.topics.TopicModel`.
    name, caption : str
        As for :func:`sense7.figures.charts.intervals`.

    Returns
    -------
    Figure or Sentence
        A sentence if there were too few comments for a model.
    """
    if stability.empty:
        return Sentence("No figure of topics: there are too few comments for a topic model.")
    numbers = stability.index.to_numpy(dtype=float)
    with styled():
        drawing, axes = new_axes(7, 3.2)
        band = (stability["shuffled, lowest"], stability["shuffled, highest"])
        axes.fill_between(numbers, *band, color=COLOURS[1], alpha=0.25, linewidth=0)
        axes.plot(numbers, stability["shuffled"], "s--", color=COLOURS[1], label="words shuffled")
        axes.plot(numbers, stability["comments"], "o-", color=COLOURS[0], label="comments as written")
        axes.set_xlabel("number of topics")
        axes.set_ylabel("found again (Jaccard index)")
        axes.set_ylim(0, 1)
        axes.xaxis.set_major_locator(mpl.ticker.MaxNLocator(integer=True))
        name_lines(axes)
    parts = [
        f"{number} topics: {row['comments']:z.2f}; shuffled {row['shuffled']:z.2f} "
        f"({row['shuffled, lowest']:z.2f} to {row['shuffled, highest']:z.2f})"
        for number, row in stability.iterrows()
    ]
    return Figure(drawing, name, f"How well topics are found again. {'. '.join(parts)}.", caption, stability)


check_arguments(globals())
