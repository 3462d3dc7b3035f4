"""Which dimension participants call the most important."""

from dataclasses import replace

import pandas as pd

from sense7.arguments import check_arguments
from sense7.statistics.bootstrap import ParticipantBootstrap, ratio
from sense7.statistics.estimates import estimate_row, estimate_table
from sense7.study import Study
from sense7.taxonomy import DIMENSION_NAMES, DIMENSIONS, normalise_name

__all__ = ["choice_column", "importance_shares"]

NO_CHOICES = "the participants' sheet has no column in which they name a dimension"
NO_SHEET = "the workbook has no participants' sheet"


def named_dimension(text: object) -> str | None:
    """The one dimension that a text names, by its column's name or its title; None otherwise.

    Examples
    --------
    >>> named_dimension("Response Appropriateness"), named_dimension("all of them")
    ('Response', None)
    """
    name = normalise_name(text) if isinstance(text, str) else ""
    named = [
        dimension.name
        for dimension in DIMENSIONS
        if name in {normalise_name(dimension.name), normalise_name(dimension.title)}
    ]
    return named[0] if named else None


def choice_column(participants: pd.DataFrame | None) -> str | None:
    """Name of the column in which participants name a dimension; None if there is none.

    It is the column whose every answer names one dimension, whatever its name; if there are
    several, the one with the most answers.
    """
    if participants is None:
        return None
    answered = {}
    for name in participants.columns.drop(["participant", "row"]):
        answers = participants[name].dropna()
        if len(answers) and answers.map(named_dimension).notna().all():
            answered[name] = len(answers)
    return max(answered, key=answered.get) if answered else None


def importance_shares(study: Study, bootstrap: ParticipantBootstrap) -> pd.DataFrame:
    """Share of participants that name each dimension as the most important.

    Parameters
    ----------
    study : Study
        The data.
    bootstrap : ParticipantBootstrap
        Draws and confidence; participants who chose are resampled.

    Returns
    -------
    DataFrame
        A row a dimension: estimate, low, high (0..1), n (participants who chose), unit,
        method, reason. Participants without an answer are left out.
    """
    unit = "share of participants"
    column = choice_column(study.participants)
    if column is None:
        reason = NO_SHEET if study.participants is None else NO_CHOICES
        empty = estimate_row(n=0, unit=unit, method="participants' choice", reason=reason)
        return estimate_table(dict.fromkeys(DIMENSION_NAMES, empty), "dimension")
    chosen = study.participants.loc[study.participants[column].notna(), ["participant", column]]
    own = replace(bootstrap, participants=chosen["participant"])
    choices = chosen[column].map(named_dimension)
    rows = {}
    for name in DIMENSION_NAMES:
        values = pd.DataFrame({"chosen": choices == name, "all": True}).to_numpy(dtype=float)
        estimate, low, high, reason = own.estimate(ratio, values, chosen["participant"])
        method = f"participants who name it in the column {column}" + ("" if reason else f"; {own.description}")
        rows[name] = estimate_row(estimate, low, high, n=len(chosen), unit=unit, method=method, reason=reason)
    return estimate_table(rows, "dimension")


check_arguments(globals())
