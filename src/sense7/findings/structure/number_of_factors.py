r"""How many dimensions the ratings have: eigenvalues compared with those of noise (Horn's parallel analysis).

An eigenvalue of the correlation matrix counts if it is larger than nearly all eigenvalues of the
same rank in unrelated normal data of the same size. Turns are not independent, so that their
number overstates the size: the same is done with noise of as many rows as there are participants,
which is the conservative reference.
"""

import numpy as np
import pandas as pd

from sense7.arguments import check_arguments
from sense7.estimators.alpha import (
    correlations_from_covariances,
    covariances_from_sums,
    joined,
    lacking_items,
    moments_by_participant,
    rows_of,
    too_few,
    usable,
)
from sense7.estimators.bootstrap import ParticipantBootstrap
from sense7.estimators.estimates import estimate_row, estimate_table
from sense7.estimators.factor import (
    QUANTILE,
    SIMULATIONS,
    descending_eigenvalues,
    noise_eigenvalues,
    reduced_correlations,
)
from sense7.findings.structure.one_factor import FEWEST_UNITS
from sense7.terminal import count_of

__all__ = ["eigenvalues", "parallel_analysis", "retained"]

_RETAINED = {
    "components, noise of as many units": "parallel_components_turn",
    "factors, noise of as many units": "parallel_factors_turn",
    "components, noise of as many participants": "parallel_components_participants_turn",
}
"""Rows of :func:`retained` -> key of the ratings per turn."""

FEWEST_ITEMS = 3


def eigenvalues(ratings: pd.DataFrame, bootstrap: ParticipantBootstrap, *, recorded_as: str = "") -> pd.DataFrame:
    """Return the eigenvalues of the correlation matrix, listwise, from the largest; they sum to the number of items.

    Parameters
    ----------
    ratings : DataFrame, shape (units, items)
        Indexed by participant. Items never rated or without variation are left out.
    bootstrap : ParticipantBootstrap
        Bootstrap resamples of participants.
    recorded_as : {"turn", ""}
        Whose keys the rows get: those of the ratings per turn; "" for no keys.

    Returns
    -------
    DataFrame
        One row per eigenvalue: estimate, low, high, n, unit, method, reason; one row if there is none.

    Notes
    -----
    R: eigen(cor(x)), tests/reference/reference.R; equal to 1e-7.

    Examples
    --------
    >>> ratings = pd.DataFrame({"a": [1, 2.0] * 10, "b": [1, 2.0] * 10, "c": [1, 1, 2, 2.0] * 5})
    >>> eigenvalues(ratings, ParticipantBootstrap(ratings.index, 100, 1))["estimate"].round(6).tolist()
    [2.0, 1.0, 0.0]
    """
    used, note = usable(ratings)
    unit, method = "eigenvalue", f"eigenvalues of the correlations, listwise, {count_of(used.shape[1], 'item')}{note}"
    if reason := too_few(used, FEWEST_ITEMS, FEWEST_UNITS):
        rows = {1: estimate_row(n=len(used), unit=unit, method=method, reason=reason)}
    else:
        estimates = bootstrap.estimates(
            lambda sums: descending_eigenvalues(correlations_from_covariances(covariances_from_sums(sums))),
            *moments_by_participant(used.to_numpy(dtype=float), used.index),
        )
        ranks = range(1, used.shape[1] + 1)
        counts = [len(used)] * used.shape[1]
        rows = rows_of(ranks, estimates, bootstrap, counts=counts, unit=unit, method=method, undefined="does not vary")
    keys = {rank: f"eigenvalue_turn_{rank}" for rank in rows} if recorded_as == "turn" else None
    return estimate_table(rows, "rank", keys)


def parallel_analysis(ratings: pd.DataFrame, *, seed: int, simulations: int = SIMULATIONS) -> pd.DataFrame:
    """Return the eigenvalues of the ratings beside those of noise, listwise.

    Parameters
    ----------
    ratings : DataFrame, shape (units, items)
        Indexed by participant.
    seed : int
        Seed of the noise.
    simulations : int
        Data sets of noise.

    Returns
    -------
    DataFrame
        One row per rank: ``components`` (eigenvalues of the correlations) and ``factors`` (of the
        correlations with squared multiple correlations in the diagonal); each with the 95th
        percentile of noise of as many rows as units, and as participants (NaN if these are not
        more than the items). Empty if there are too few ratings.

    References
    ----------
    Horn, J. L. (1965). Psychometrika 30, 179-185. Humphreys, L. G., & Montanelli, R. G. (1975).
    Multivariate Behavioral Research 10, 193-205 (factors).

    Notes
    -----
    The numbers of factors and components are those of psych::fa.parallel (R), which takes the
    communalities of a one-factor solution instead of squared multiple correlations.
    """
    used, _ = usable(ratings)
    kinds = ("components", "factors")
    names = [f"{kind}{source}" for kind in kinds for source in ("", ", noise", ", noise of participants")]
    if too_few(used, FEWEST_ITEMS, FEWEST_UNITS):
        return pd.DataFrame(columns=names, dtype=float).rename_axis("rank")
    n, k = used.shape
    correlations = correlations_from_covariances(np.cov(used.to_numpy(dtype=float).T))
    people = used.index.nunique()
    noise = noise_eigenvalues(n, k, seed=seed, simulations=simulations)
    cautious = (np.full(k, np.nan),) * 2
    if people > k + 1:
        cautious = noise_eigenvalues(people, k, seed=seed, simulations=simulations)
    own = (descending_eigenvalues(correlations), descending_eigenvalues(reduced_correlations(correlations)))
    columns = [column for of_kind in zip(own, noise, cautious, strict=True) for column in of_kind]
    return pd.DataFrame(np.column_stack(columns), columns=names, index=pd.RangeIndex(1, k + 1, name="rank"))


def retained(
    ratings: pd.DataFrame, *, seed: int, simulations: int = SIMULATIONS, recorded_as: str = ""
) -> pd.DataFrame:
    """Return how many components and factors exceed noise, counted from the first until one does not.

    Parameters
    ----------
    ratings, seed, simulations
        As for :func:`parallel_analysis`.
    recorded_as : {"turn", ""}
        Whose keys the rows get: those of the ratings per turn; "" for no keys.

    Returns
    -------
    DataFrame
        One row for components and factors with noise of as many units, and for components with noise of as many
        participants: estimate, n (units, or participants), unit, method, reason.

    Notes
    -----
    R: psych::fa.parallel(fa='both', quant=.95), tests/reference/reference.R; the same numbers.
    """
    used, note = usable(ratings)
    table = parallel_analysis(ratings, seed=seed, simulations=simulations)
    reason = too_few(used, FEWEST_ITEMS, FEWEST_UNITS)
    about = joined("no interval: a count against a fixed reference", lacking_items(used, note))
    rows = {}
    for name in _RETAINED:
        kind, _, noise = name.partition(", ")
        column = f"{kind}, noise" + (" of participants" if noise.endswith("participants") else "")
        n = used.index.nunique() if noise.endswith("participants") else len(used)
        method = f"parallel analysis, {count_of(simulations, 'data set')} of noise, {QUANTILE:.0%} quantile{note}"
        known = not table.empty and np.isfinite(table[[kind, column]]).all(axis=None)
        why = reason or (about if known else _why_not(used))
        estimate = int((table[kind] > table[column]).cummin().sum()) if known else np.nan
        rows[name] = estimate_row(estimate, n=n, unit=kind, method=method, reason=why)
    return estimate_table(rows, "what is counted", _RETAINED if recorded_as == "turn" else None)


def _why_not(used: pd.DataFrame) -> str:
    people, items = used.index.nunique(), used.shape[1]
    if people <= items + 1:
        return f"only {count_of(people, 'participant')} for {count_of(items, 'item')}"
    return "some of the ratings are the same, or sums of others"


check_arguments(globals())
