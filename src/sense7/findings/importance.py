"""Which dimension participants call the most important, and of how many people published shares can be shares."""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pandas as pd

from sense7.findings.core import Number, finding, mean_number, tabulate, value_row
from sense7.statistics.bootstrap import ParticipantBootstrap
from sense7.statistics.estimates import estimate_row
from sense7.statistics.order import rounded
from sense7.study import Study
from sense7.taxonomy import DIMENSION_NAMES, DIMENSIONS, normalise_name

__all__ = [
    "CLAIMS",
    "LARGEST_TOTAL",
    "fits_total",
    "importance_shares",
    "possible_totals",
    "published_shares",
    "rounding_table",
    "smallest_total",
]

LARGEST_TOTAL = 700
"""Totals up to this are tried: more than all conversations that the paper analyzed."""

CLAIMS = {
    "importance_cognitive": "Cognitive",
    "importance_affective": "Affective",
    "importance_response": "Response",
}
"""Claims about the share of a dimension: id in ``data/claims.yml`` -> dimension."""

DECIMALS = 3  # a share that was published to a tenth of a percent

NO_CHOICES = "the participants' sheet has no column in which they name a dimension"
NO_SHEET = "the workbook has no participants' sheet"


def named_dimension(text: object) -> str | None:
    """Return the one dimension that a text names, by its column's name or its title; None otherwise.

    Examples
    --------
    >>> named_dimension("Response Appropriateness"), named_dimension("all of them")
    ('Response', None)
    """
    if not isinstance(text, str):
        return None
    name = normalise_name(text)
    for dimension in DIMENSIONS:
        if name in (normalise_name(dimension.name), normalise_name(dimension.title)):
            return dimension.name
    return None


def choice_column(participants: pd.DataFrame | None) -> str | None:
    """Return the name of the column in which participants name a dimension; None if there is none.

    It is the column whose every answer names one dimension; the name of the column does not matter. If there are
    several, the one with the most answers.
    """
    if participants is None:
        return None
    numbers_of_answers = {}
    for name in participants.columns.drop(["participant", "row"]):
        answers = participants[name].dropna()
        if len(answers) and all(map(named_dimension, answers.unique())):
            numbers_of_answers[name] = len(answers)
    return max(numbers_of_answers, key=numbers_of_answers.get, default=None)


@finding
def importance_shares(study: Study, bootstrap: ParticipantBootstrap) -> pd.DataFrame:
    """Return the share of participants that name each dimension as the most important.

    Returns
    -------
    DataFrame
        One row per dimension: estimate, low, high (0..1), n (participants who chose), unit,
        method, reason. Participants without an answer are left out.
    """
    column = choice_column(study.participants)
    choices = pd.DataFrame({"participant": [], "dimension": []})
    method = "participants' choice"
    resampled_people = bootstrap
    reason = NO_SHEET if study.participants is None else NO_CHOICES
    if column is not None:
        answered = study.participants.dropna(subset=[column])
        choices = answered[["participant"]].assign(dimension=answered[column].map(named_dimension))
        reason = ""
        method = f"participants who name it in the column {column}"
        # Participants who named no dimension are no part of the sample that is resampled.
        resampled_people = replace(bootstrap, participants=choices["participant"])

    def number(name: str) -> Number:
        return mean_number(
            resampled_people,
            choices["dimension"] == name,
            choices,
            label=name,
            unit="share of participants",
            method=method,
            counted="participant",
            key=f"importance_{name.lower()}",
            reason=reason,
        )

    numbers = [number(name) for name in DIMENSION_NAMES]
    return tabulate("dimension", numbers, resampled_people)


def published_shares(published: Mapping[str, Mapping]) -> dict[str, float]:
    """Return the published share of each dimension that a claim is about.

    Parameters
    ----------
    published : mapping
        Id of a claim -> its ``value``, as :func:`sense7.findings.elsewhere.published` returns them.

    Examples
    --------
    >>> published_shares(dict.fromkeys(CLAIMS, {"value": 0.2}))
    {'Cognitive': 0.2, 'Affective': 0.2, 'Response': 0.2}
    """
    return {dimension: published[claim]["value"] for claim, dimension in CLAIMS.items()}


def rounded_counts(shares: Mapping[str, float], total: int) -> pd.DataFrame:
    r"""Return the count out of a total that is nearest to each published share, and whether it rounds to the share.

    A published share s with d decimals is possible with a total n if a whole number k has

    .. math:: \left| k / n - s \right| \le \tfrac{1}{2} 10^{-d}

    so that halves may be rounded up or down.

    Examples
    --------
    >>> rounded_counts({"Cognitive": 0.281}, 109)[["count", "possible"]].values.tolist()
    [[31, False]]
    >>> rounded_counts({"Cognitive": 0.281}, 192)[["count", "possible"]].values.tolist()
    [[54, True]]
    """
    table = pd.DataFrame({"published": pd.Series(shares, dtype=float)})
    published = table["published"].to_numpy()
    table["count"] = np.round(published * total).astype(int)
    table["share"] = table["count"] / total
    table["possible"] = _are_possible(published, total)
    return table.rename_axis("dimension")


def _are_possible(published: np.ndarray, total: int | np.ndarray) -> np.ndarray:
    """Whether the nearest counts out of a total have shares that round to the published ones."""
    nearest_counts = np.round(published * total)
    distances = rounded(np.abs(nearest_counts / total - published))
    return distances <= 0.5 * 10.0**-DECIMALS


def possible_totals(shares: Mapping[str, float]) -> list[int]:
    """Return the numbers of people of which all published shares can be shares, see :func:`rounded_counts`.

    Parameters
    ----------
    shares : mapping
        Name -> published share, from 0 to 1.

    Returns
    -------
    list of int
        In ascending order.

    Examples
    --------
    >>> possible_totals({"a": 0.333, "b": 0.5})[:2], possible_totals({"a": 0.333})[:2]
    ([6, 12], [3, 6])
    """
    published = np.array(list(shares.values()), dtype=float)
    totals = np.arange(1, LARGEST_TOTAL + 1)
    possible = _are_possible(published, totals[:, None])
    return totals[possible.all(axis=1)].tolist()


@finding
def smallest_total(shares: Mapping[str, float]) -> dict:
    """Return the first of :func:`possible_totals`, as a row of estimates.

    Returns
    -------
    dict
        Estimate without interval, since nothing was sampled; n is the number of shares. Without an estimate where no
        number of people is possible.

    Examples
    --------
    >>> smallest_total({"a": 0.333, "b": 0.5})["estimate"]
    6.0
    """
    totals = possible_totals(shares)
    smallest = np.nan
    reason = f"no number of people up to {LARGEST_TOTAL:,} gives all {len(shares)} shares"
    if totals:
        smallest = totals[0]
        reason = "no interval: published figures were checked, and nothing was sampled"
    return estimate_row(
        smallest,
        n=len(shares),
        unit="number of people",
        method=f"smallest number up to {LARGEST_TOTAL:,} of which every published share is a rounded share",
        reason=reason,
        key="importance_smallest_total",
    )


@finding
def fits_total(shares: Mapping[str, float], total: int) -> dict:
    """Return whether all published shares can be shares of so many people, for the ledger.

    Parameters
    ----------
    shares, total
        As for :func:`rounded_counts`.

    Returns
    -------
    dict
        key, estimate ("yes" or "no"), n (number of shares), unit, method, and reason: which shares can't be.

    Examples
    --------
    >>> fits_total({"Cognitive": 0.281, "Response": 0.193}, 109)["reason"]
    'not possible: Cognitive'
    """
    table = rounded_counts(shares, total)
    impossible = table.index[~table["possible"]].tolist()
    answer = "yes"
    reason = ""
    if impossible:
        answer = "no"
        reason = f"not possible: {', '.join(impossible)}"
    return value_row(
        "importance_shares_fit_participants",
        answer,
        n=len(shares),
        unit="answer",
        method=f"every published share is a whole number of {total:,} people, rounded",
        reason=reason,
    )


def rounding_table(shares: Mapping[str, float], totals: Mapping[str, int]) -> pd.DataFrame:
    """Return published shares beside the nearest counts out of several totals, as text.

    Parameters
    ----------
    shares : mapping
        Name -> published share, from 0 to 1.
    totals : mapping
        Words for a total -> number of people.

    Returns
    -------
    DataFrame
        One row per share: published, and for each total the nearest count, its share, and whether it rounds to the
        published one.

    Examples
    --------
    >>> rounding_table({"Cognitive": 0.281}, {"participants": 109}).loc["Cognitive"].tolist()
    ['28.1%', '31 (28.44%): no']
    """
    digits = DECIMALS - 2
    published = {name: f"{share:.{digits}%}" for name, share in shares.items()}
    columns = {"published": published}
    for words, total in totals.items():
        nearest = []
        for row in rounded_counts(shares, total).itertuples(index=False, name="Nearest"):
            verdict = "fits" if row.possible else "no"
            nearest.append(f"{row.count} ({row.share:.{digits + 1}%}): {verdict}")
        columns[f"{words}, {total:,}: nearest count"] = dict(zip(shares, nearest, strict=True))
    return pd.DataFrame(columns).rename_axis("dimension")
