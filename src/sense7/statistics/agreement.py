"""Weighted kappa: of each dimension with the overall rating of the same turn, and of two raters on any scale.

A dimension and the overall rating of a turn are both one person's, given at one moment. Kappa of the two says how
consistent that person's ratings are; it says nothing about two persons who rate the same turn.
"""

import numpy as np
import pandas as pd
from scipy.special import ndtri, stdtrit

from sense7.arguments import check_arguments
from sense7.errors import UserError
from sense7.statistics.bootstrap import OWN_SCALE, ParticipantBootstrap, jackknife_error, pieces
from sense7.statistics.estimates import estimate_row, estimate_table
from sense7.statistics.ground_truth import labels
from sense7.study import Study
from sense7.taxonomy import DIMENSION_NAMES, LEVELS

__all__ = [
    "NEAREST",
    "PAIRED",
    "STEPS",
    "agreement_with_overall",
    "kappa_differences",
    "quadratic_kappa",
    "weighted_kappa",
]

PAIRED = "Relational"
"""The dimension of which the paper says that its kappa is the lowest."""

NEAREST = "nearest of the others"
"""Row of :func:`kappa_differences`: the dimension whose kappa exceeds that of Relational least."""

_LEVELS = len(LEVELS)
_DISTANCE = np.abs(np.subtract.outer(np.arange(_LEVELS), np.arange(_LEVELS))).astype(float)
WEIGHTS = {"linear": _DISTANCE, "quadratic": _DISTANCE**2}
"""Disagreement weights of two levels: their distance, or its square."""

STEPS = {"scale": "steps of the scale", "occurring": "steps between the values that occur"}
"""What the distance of two values is counted in, see :func:`quadratic_kappa`."""

_PIECE = 2000


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


def quadratic_kappa(
    first: np.ndarray,
    second: np.ndarray,
    weights: np.ndarray | None = None,
    *,
    steps: str = "scale",
) -> np.ndarray:
    r"""Cohen's kappa with quadratic weights of two raters who use any numbers, such as levels, halves or means.

    .. math::
        \kappa = 1 - \frac{\frac{1}{n} \sum_c (x_c - y_c)^2}{\frac{1}{n^2} \sum_{c,d} (x_c - y_d)^2}
        = \frac{2 s_{xy}}{s_x^2 + s_y^2 + (\bar x - \bar y)^2}

    with the (co)variances divided by n: observed by expected disagreement over the units c, which for quadratic weights
    is Lin's coefficient of concordance. What x and y are depends on ``steps``:

    - ``"scale"``: the values themselves. The distance of two values is that on the scale.
    - ``"occurring"``: the position of each value, rounded to two decimals, in the sorted list of the distinct values
      that either rater gave. The distance of two values is then how many of these positions lie between them. This is
      what software computes that takes the categories from the data, as ``sklearn.metrics.cohen_kappa_score`` does
      without ``labels``. It depends on which values occur: a level that nobody gave is passed over, and two means of a
      crowd that differ by a hundredth are as far apart as two levels.

    Both are the same where every step of the scale occurs and nothing between the steps.

    Parameters
    ----------
    first, second : array, shape (units,)
        Ratings of the same units; no NaN.
    weights : array, shape (..., units), optional
        How often each unit is taken in a bootstrap resample; each unit once if left out. The values that occur are
        those of the resample.
    steps : {"scale", "occurring"}
        What the distance of two values is counted in.

    Returns
    -------
    array, shape (...)
        -1 .. 1; a single number without weights. NaN where both raters give all units one and the same value, or no
        unit is taken.

    Raises
    ------
    UserError
        If the raters have not rated equally many units, a rating is missing, or steps is another word.

    References
    ----------
    Cohen, J. (1968). Weighted kappa. Psychological Bulletin 70, 213-220.

    Lin, L. I. (1989). A concordance correlation coefficient to evaluate reproducibility. Biometrics 45, 255-268.

    Notes
    -----
    Checked against sklearn.metrics.cohen_kappa_score(weights="quadratic") to 1e-12, and by ``"occurring"`` against
    values that Kumar and others (2025) published, see :mod:`sense7.findings.three_judges`.

    Examples
    --------
    Nobody gave a 4, so that by the values that occur 3 and 5 are as near as 2 and 3.

    >>> first, second = [1, 2, 3, 5], [2, 2, 3, 5]
    >>> round(float(quadratic_kappa(first, second)), 4)
    0.9333
    >>> float(quadratic_kappa(first, second, steps="occurring"))
    0.875
    """
    x, y = (np.asarray(one, dtype=float) for one in (first, second))
    if x.ndim != 1 or x.shape != y.shape or np.isnan(x).any() or np.isnan(y).any():
        raise UserError(
            f"quadratic_kappa wants two ratings of every unit, none missing; got {x.size:,} and {y.size:,}, of which "
            f"{np.isnan(x).sum() + np.isnan(y).sum():,} are missing. Leave out the units that lack a rating."
        )
    if steps not in STEPS:
        raise UserError(f"quadratic_kappa wants {' or '.join(map(repr, STEPS))} as steps; got {steps!r}.")
    taken = np.ones(len(x)) if weights is None else np.asarray(weights, dtype=float)
    flat = taken.reshape(-1, len(x)) if len(x) else np.zeros((int(np.prod(taken.shape[:-1])), 0))
    found = [_concordance(x, y, flat[piece], steps) for piece in pieces(len(flat), max(1, len(x)), _PIECE)]
    return np.concatenate(found).reshape(taken.shape[:-1])


def _concordance(x: np.ndarray, y: np.ndarray, taken: np.ndarray, steps: str) -> np.ndarray:
    """Twice the covariance by the expected squared distance, in every row of ``taken``."""
    if steps == "occurring":
        values, code = np.unique(np.rint(100 * np.concatenate([x, y])), return_inverse=True)
        code = code.reshape(2, -1)
        given = (code[..., None] == np.arange(len(values))).any(axis=0)
        position = np.cumsum(taken @ given > 0, axis=1, dtype=float)
        x, y = position[:, code[0]], position[:, code[1]]
    with np.errstate(divide="ignore", invalid="ignore"):
        share = taken / taken.sum(axis=1, keepdims=True)
        a = x - (share * x).sum(axis=1, keepdims=True)
        b = y - (share * y).sum(axis=1, keepdims=True)
        apart = ((share * x).sum(axis=1) - (share * y).sum(axis=1)) ** 2
        expected = (share * a**2).sum(axis=1) + (share * b**2).sum(axis=1) + apart
        return np.where(expected > 1e-12, 2 * (share * a * b).sum(axis=1) / expected, np.nan)


def agreement_with_overall(
    study: Study, bootstrap: ParticipantBootstrap, weights: str = "linear", *, turns: str = "each"
) -> pd.DataFrame:
    """Weighted kappa of each dimension with the overall rating, over the turns that have both or that have all eight.

    Parameters
    ----------
    study : Study
        The data.
    bootstrap : ParticipantBootstrap
        Bootstrap resamples of participants for the intervals.
    weights : {"linear", "quadratic"}
        See :func:`weighted_kappa`.
    turns : {"each", "complete"}
        Each dimension over the turns that rate it and have an overall rating, so that the dimensions have turns of
        their own; or all of them over the same turns, those with an overall rating and a rating of every dimension
        that was rated at all.

    Returns
    -------
    DataFrame
        One row per dimension: estimate, low, high (at most 1), n (turns with both ratings, or with all),
        unit, method, reason.

    Raises
    ------
    UserError
        If ``turns`` is another word.

    Notes
    -----
    R: psych::cohen.kappa, tests/reference/reference.R; see :func:`weighted_kappa`. That is of ``"each"``.
    """
    if turns not in {"each", "complete"}:
        raise UserError(f"agreement_with_overall wants 'each' or 'complete' as turns; got {turns!r}.")
    given, among = study.turns, "five levels"
    if turns == "complete":
        given, among = _complete(study), "five levels, turns that rate all"
    rows = {name: _row(study.turns, given, name, bootstrap, weights, among) for name in DIMENSION_NAMES}
    return estimate_table(rows, "dimension")


def _complete(study: Study) -> pd.DataFrame:
    """Turns with an overall rating and a rating of every dimension that was rated at all."""
    return study.turns.dropna(subset=["overall", *study.rated_dimensions])


def _tables(turns: pd.DataFrame, name: str) -> np.ndarray:
    """Table of counts of each turn, a 1 at its levels of the dimension and of the overall rating."""
    cells = np.zeros((len(turns), _LEVELS, _LEVELS))
    own, overall = (labels(turns[one]).astype(int) - 1 for one in (name, "overall"))
    cells[np.arange(len(turns)), own, overall] = 1
    return cells


def _never(turns: pd.DataFrame, names: tuple[str, ...]) -> str:
    """Which of these ratings was never given, as a reason; "" if each was."""
    missing = ["the overall rating" if one == "overall" else one for one in names if not turns[one].notna().any()]
    return f"{' and '.join(missing)} was never rated in this data set" if missing else ""


def _row(every: pd.DataFrame, turns: pd.DataFrame, name: str, bootstrap, weights: str, among: str) -> dict:
    unit, method = "weighted kappa", f"Cohen's kappa, {weights} weights, {among}"
    both = turns[turns[name].notna() & turns["overall"].notna()]
    if both.empty:
        reason = _never(every, ("overall", name))
        reason = reason or ("no turn has both ratings" if every is turns else "no turn has all ratings")
        return estimate_row(n=0, unit=unit, method=method, reason=reason)
    found = bootstrap.estimate(lambda sums: weighted_kappa(sums, weights), _tables(both, name), both["participant"])
    undefined = "both ratings are constant at the same level"
    return bootstrap.row(found, n=len(both), unit=unit, method=method, undefined=undefined)


def kappa_differences(study: Study, bootstrap: ParticipantBootstrap, weights: str = "linear") -> pd.DataFrame:
    r"""Kappa of Relational Continuity minus that of each other dimension, over the turns that rate both.

    .. math:: d_j = \kappa_w(\text{Relational}, \text{overall}) - \kappa_w(j, \text{overall})

    Both kappas are over the turns that have a rating of Relational, of j and overall, so that a difference is none of
    the turns. The intervals hold together for all j (max-t):

    .. math:: d_j \pm c \, \frac{t_{m - 1, 1 - \gamma/2}}{z_{1 - \gamma/2}} \, SE_j

    with :math:`SE_j` by leaving out each of m participants in turn, c the quantile of
    :math:`\max_j |d_j^* - d_j| / s_j` over resamples of participants, :math:`s_j` the standard deviation of
    :math:`d_j^*`, and :math:`\gamma` one minus the confidence. The ratio of quantiles allows for m.

    Parameters
    ----------
    study : Study
        The data.
    bootstrap : ParticipantBootstrap
        Resamples of participants.
    weights : {"linear", "quadratic"}
        See :func:`weighted_kappa`.

    Returns
    -------
    DataFrame
        One row for each other dimension, and once more that with the largest difference (``NEAREST``): estimate, low,
        high, n (turns), unit, method, reason. Relational is the lowest of all if the interval of ``NEAREST`` lies
        below zero.

    References
    ----------
    Hothorn, T., Bretz, F., & Westfall, P. (2008). Biometrical Journal 50, 346-363 (max-t).
    """
    others = [name for name in DIMENSION_NAMES if name != PAIRED]
    unit, method = "weighted kappa", f"difference of Cohen's kappas, {weights} weights, turns that rate both"
    rows, drawn, found = {}, {}, {}
    for name in others:
        turns = study.turns.dropna(subset=["overall", PAIRED, name])
        if turns.empty:
            reason = _never(study.turns, ("overall", PAIRED, name)) or "no turn has all three ratings"
            rows[name] = estimate_row(n=0, unit=unit, method=method, reason=reason)
            continue
        tables = np.stack([_tables(turns, PAIRED), _tables(turns, name)], axis=1)

        def difference(sums: np.ndarray) -> np.ndarray:
            kappas = weighted_kappa(sums, weights)
            return kappas[..., 0] - kappas[..., 1]

        given = difference, tables, turns["participant"]
        # By both kinds of interval, of which each may say why there is none.
        estimate, _, _, reason = bootstrap.estimate(*given, OWN_SCALE)
        drawn[name] = bootstrap.distribution(*given)
        reason = reason or bootstrap.interval(drawn[name], turns["participant"])[2]
        error = np.nan if reason else jackknife_error(bootstrap.without_each(*given))
        found[name] = estimate, error, reason, turns
    known = [name for name, (_, error, _, _) in found.items() if np.isfinite(error)]
    reach = _reach([drawn[name] - found[name][0] for name in known], bootstrap.confidence)
    how = f"simultaneous {bootstrap.confidence:.0%} max-t interval, {bootstrap.draws:,} resamplings of participants"
    for name, (estimate, error, reason, turns) in found.items():
        tail, people = (1 + bootstrap.confidence) / 2, turns["participant"].nunique()
        width = reach * stdtrit(people - 1, tail) / ndtri(tail) * error if people > 1 else np.nan
        n = len(turns)
        rows[name] = bootstrap.row(
            (estimate, estimate - width, estimate + width, reason),
            n=n,
            unit=unit,
            method=method,
            undefined="a rating is constant at the level of the other",
            how=how,
        )
    rows = {name: rows[name] for name in others}
    rows[NEAREST] = rows[max(found or rows, key=lambda name: np.nan_to_num(rows[name]["estimate"], nan=-np.inf))]
    return estimate_table(rows, f"{PAIRED} minus")


def _reach(departures: list[np.ndarray], confidence: float) -> float:
    """Quantile over the resamples of the largest departure, each counted in its standard deviation."""
    if not departures:
        return np.nan
    largest = np.max([np.abs(one) / np.nanstd(one) for one in departures], axis=0)
    return float(np.quantile(largest[np.isfinite(largest)], confidence))


check_arguments(globals())
