"""Figures of the words that users write."""

import pandas as pd

from sense7.arguments import check_arguments
from sense7.figures.charts import intervals
from sense7.figures.style import Figure
from sense7.tables import Sentence

__all__ = ["distinctive_terms"]


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


check_arguments(globals())
