"""How far each dimension agrees with the overall rating of the same turn: weighted kappa."""

import numpy as np
import pandas as pd

from sense7.arguments import check_arguments
from sense7.statistics.bootstrap import ParticipantBootstrap
from sense7.statistics.estimates import estimate_row, estimate_table
from sense7.statistics.ground_truth import labels
from sense7.study import Study
from sense7.taxonomy import DIMENSION_NAMES, LEVELS

__all__ = ["agreement_with_overall", "weighted_kappa"]

_LEVELS = len(LEVELS)
_DISTANCE = np.abs(np.subtract.outer(np.arange(_LEVELS), np.arange(_LEVELS))).astype(float)
WEIGHTS = {"linear": _DISTANCE, "quadratic": _DISTANCE**2}
"""Disagreement weights of two levels: their distance, or its square."""


def weighted_kappa(tables: np.ndarray, weights: str = "linear") -> np.ndarray:
    r"""Cohen's weighted kappa from tables of counts.

    .. math:: \kappa_w = 1 - \frac{\sum_{ij} w_{ij} O_{ij}}{\sum_{ij} w_{ij} E_{ij}}

    with O the counts, :math:`E_{ij} = O_{i\cdot} O_{\cdot j} / n` and w the distance of the
    levels (linear) or its square (quadratic). The table always has all five levels: one
    that does not occur changes nothing, and one that is left out would.

    Parameters
    ----------
    tables : array, shape (..., 5, 5)
        Counts by level of the first and of the second rating.
    weights : {"linear", "quadratic"}
        Which weights.

    Returns
    -------
    array, shape (...)
        At most 1; NaN where one of the ratings is constant at the other's only level, or
        the table is empty.

    References
    ----------
    Cohen, J. (1968). Psychological Bulletin 70, 213-220.

    Notes
    -----
    R: psych::cohen.kappa, vcd::Kappa, tests/reference/reference.R; equal to 1e-7.

    Examples
    --------
    >>> table = np.zeros((5, 5))
    >>> table[0, 0], table[4, 4], table[0, 4], table[3, 4] = 4, 4, 1, 1
    >>> round(float(weighted_kappa(table)), 4)
    0.7525
    """
    w = WEIGHTS[weights]
    tables = np.asarray(tables, dtype=float)
    rows, columns = tables.sum(axis=-1), tables.sum(axis=-2)
    expected = np.einsum("...i,...j,ij->...", rows, columns, w)
    with np.errstate(divide="ignore", invalid="ignore"):
        kappa = 1 - tables.sum(axis=(-2, -1)) * (tables * w).sum(axis=(-2, -1)) / expected
    return np.where(expected > 0, kappa, np.nan)


def agreement_with_overall(study: Study, bootstrap: ParticipantBootstrap, weights: str = "linear") -> pd.DataFrame:
    """Weighted kappa of each dimension with the overall rating, over the turns that have both.

    Parameters
    ----------
    study : Study
        The data.
    bootstrap : ParticipantBootstrap
        Draws of participants for the intervals.
    weights : {"linear", "quadratic"}
        See :func:`weighted_kappa`.

    Returns
    -------
    DataFrame
        A row a dimension: estimate, low, high (at most 1), n (turns with both ratings),
        unit, method, reason.

    Notes
    -----
    R: psych::cohen.kappa, tests/reference/reference.R; see :func:`weighted_kappa`.
    """
    rows = {name: _row(study.turns, name, bootstrap, weights) for name in DIMENSION_NAMES}
    return estimate_table(rows, "dimension")


def _row(turns: pd.DataFrame, name: str, bootstrap: ParticipantBootstrap, weights: str) -> dict:
    unit, method = "weighted kappa", f"Cohen's kappa, {weights} weights, five levels"
    both = turns[turns[name].notna() & turns["overall"].notna()]
    if both.empty:
        missing = [which for which in ("overall", name) if not turns[which].notna().any()]
        which = " and ".join("the overall rating" if one == "overall" else one for one in missing)
        reason = f"{which} was never rated in this data set" if missing else "no turn has both ratings"
        return estimate_row(n=0, unit=unit, method=method, reason=reason)
    cells = np.zeros((len(both), _LEVELS, _LEVELS))
    own, overall = (labels(both[one]).astype(int) - 1 for one in (name, "overall"))
    cells[np.arange(len(both)), own, overall] = 1
    estimate, low, high, reason = bootstrap.estimate(
        lambda sums: weighted_kappa(sums, weights), cells, both["participant"]
    )
    if not np.isfinite(estimate):
        reason = "both ratings are constant at the same level"
        return estimate_row(n=len(both), unit=unit, method=method, reason=reason)
    if not reason:
        method += f"; {bootstrap.description}"
    return estimate_row(estimate, low, high, n=len(both), unit=unit, method=method, reason=reason)


check_arguments(globals())
