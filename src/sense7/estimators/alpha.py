"""Cronbach's alpha from covariances, with intervals that resample participants or follow Feldt."""

import numpy as np
import pandas as pd
from scipy import stats

from sense7.arguments import check_arguments
from sense7.estimators.bootstrap import ParticipantBootstrap, Scale, pieces, sums_by_participant
from sense7.estimators.estimates import estimate_row
from sense7.terminal import count_of

__all__ = [
    "SCALE",
    "alpha_from_covariances",
    "alpha_row",
    "alpha_row_of_moments",
    "covariances_from_sums",
    "cronbach_alpha",
    "feldt_interval",
    "moments_by_participant",
    "pair_moments",
]

SCALE = Scale("log(1 - alpha)", lambda alpha: np.log1p(-alpha), lambda logs: -np.expm1(logs))
"""Bonett's scale of alpha: its interval has no limit above one, and leans less to one side (:func:`alpha_row`)."""


INTERVALS = ("participants", "percentile", "feldt")


def alpha_from_covariances(covariances: np.ndarray) -> np.ndarray:
    r"""Cronbach's alpha of k items from their covariance matrix.

    .. math:: \alpha = \frac{k}{k - 1}\left(1 - \frac{\sum_i C_{ii}}{\sum_{ij} C_{ij}}\right)

    Parameters
    ----------
    covariances : array, shape (..., k, k)
        One matrix or many.

    Returns
    -------
    array, shape (...)
        At most 1 of complete ratings; NaN if k < 2 or the total variance is not positive.

    References
    ----------
    Cronbach, L. J. (1951). Psychometrika 16, 297-334.

    Examples
    --------
    >>> round(float(alpha_from_covariances(np.array([[1.0, 0.5], [0.5, 1.0]]))), 6)
    0.666667
    """
    items = covariances.shape[-1]
    total = covariances.sum(axis=(-2, -1))
    own = np.trace(covariances, axis1=-2, axis2=-1)
    if items < 2:
        return np.full(np.shape(total), np.nan)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(total > 0, items / (items - 1) * (1 - own / total), np.nan)


def pair_moments(ratings: np.ndarray) -> np.ndarray:
    """Per row and pair of items: both rated, x, y, xy: shape (rows, 4, k, k)."""
    rated = np.isfinite(ratings)
    # Covariances do not change by centring, and sums of small numbers lose nothing.
    x = np.where(rated, ratings - 3, 0.0)
    both = rated[:, :, None] & rated[:, None, :]
    first = np.where(both, x[:, :, None], 0.0)
    return np.stack([both, first, first.transpose(0, 2, 1), x[:, :, None] * x[:, None, :]], axis=1)


def covariances_from_sums(sums: np.ndarray) -> np.ndarray:
    """Covariances over the rows that rate both items, from sums of shape (..., 4, k, k)."""
    n, x, y, xy = np.moveaxis(sums, -3, 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(n > 1, (xy - x * y / n) / (n - 1), np.nan)


def _alpha_from_sums(sums: np.ndarray) -> np.ndarray:
    return alpha_from_covariances(covariances_from_sums(sums))


def _prepared(ratings: pd.DataFrame | np.ndarray, missing: str) -> np.ndarray:
    if missing not in {"pairwise", "listwise"}:
        raise ValueError(f"missing must be 'pairwise' or 'listwise', not {missing!r}")
    values = np.asarray(ratings, dtype=float)
    return values[np.isfinite(values).all(axis=1)] if missing == "listwise" else values


def cronbach_alpha(ratings: pd.DataFrame | np.ndarray, missing: str = "pairwise") -> float:
    """Cronbach's alpha of items in columns, over units in rows.

    Parameters
    ----------
    ratings : DataFrame or array, shape (units, items)
        Numbers; NaN where an item is not rated.
    missing : {"pairwise", "listwise"}
        ``pairwise``: each covariance over the units that rate both items, each variance over
        those that rate the item (as psych::alpha does). ``listwise``: only units that rate
        every item.

    Returns
    -------
    float
        NaN if fewer than two items or two units remain, or nothing varies.

    See Also
    --------
    alpha_from_covariances : the formula.

    Notes
    -----
    R: psych::alpha(use='pairwise')$total$raw_alpha, tests/reference/reference.R; equal to 1e-7.

    Examples
    --------
    >>> ratings = pd.DataFrame({"a": [1, 2, 3, 4], "b": [1, 3, 3, 5], "c": [2, 2, 4, 4]})
    >>> round(cronbach_alpha(ratings), 4)
    0.9333
    """
    values = _prepared(ratings, missing)
    return float(_alpha_from_sums(pair_moments(values).sum(axis=0)))


def feldt_interval(alpha: float, units: int, items: int, confidence: float = 0.95) -> tuple[float, float]:
    r"""Feldt's interval of alpha, which takes units as independent.

    .. math:: 1 - (1 - \hat\alpha) F_{1 - \gamma/2}, \quad 1 - (1 - \hat\alpha) F_{\gamma/2}

    with F the quantile of the F distribution on n - 1 and (n - 1)(k - 1) degrees of
    freedom and :math:`\gamma` one minus the confidence. Turns of one person are not
    independent, so over turns it is far too narrow; it is shown beside the right one.

    Parameters
    ----------
    alpha : float
        Estimate.
    units, items : int
        n and k.
    confidence : float
        Of the interval.

    Returns
    -------
    tuple of float
        Lower and upper limit; NaN if they are undefined.

    References
    ----------
    Feldt, L. S. (1965). Psychometrika 30, 357-370.

    Notes
    -----
    R: psych::alpha(use='pairwise')$feldt, psychometric::alpha.CI, tests/reference/reference.R; equal to 1e-7.

    Examples
    --------
    >>> [round(limit, 4) for limit in feldt_interval(0.9, units=100, items=7)]
    [0.8669, 0.9273]
    """
    if not np.isfinite(alpha) or units < 2 or items < 2:
        return np.nan, np.nan
    tail = (1 - confidence) / 2
    quantiles = stats.f.ppf([1 - tail, tail], units - 1, (units - 1) * (items - 1))
    low, high = 1 - (1 - alpha) * quantiles
    return float(low), float(high)


def alpha_row(
    ratings: pd.DataFrame,
    bootstrap: ParticipantBootstrap,
    *,
    missing: str = "pairwise",
    interval: str = "participants",
) -> dict:
    r"""Alpha with its interval, as a row of estimates.

    The interval is Bonett's with an error that is clustered by participant,

    .. math:: 1 - (1 - \hat\alpha) \exp(\pm t_{m - 1, 1 - \gamma/2} \, SE)

    with SE the standard error of :math:`\log(1 - \hat\alpha)` by leaving out each of m participants in turn
    (:func:`sense7.estimators.bootstrap.jackknife_error`), and :math:`\gamma` one minus the confidence. The percentile
    interval holds the truth of simulated studies too rarely, and misses it to the same side nearly always: alpha
    lies near its upper end, and depends on those participants who use all of the scale.

    Parameters
    ----------
    ratings : DataFrame, shape (units, items)
        Indexed by participant. Items without a single number are left out, and named in the method.
    bootstrap : ParticipantBootstrap
        Of the participants; draws for the percentile interval only.
    missing : {"pairwise", "listwise"}
        See :func:`cronbach_alpha`.
    interval : {"participants", "percentile", "feldt"}
        Which interval: the above; that of the resampled participants; :func:`feldt_interval`.

    Returns
    -------
    dict
        Row of estimates; n is the number of units given (pairwise, as psych::alpha counts) or
        of those that rate every item (listwise); ``reason`` says why there is no value, and
        which dimensions the value lacks.

    References
    ----------
    Bonett, D. G. (2002). Journal of Educational and Behavioral Statistics 27, 335-340.

    Notes
    -----
    R: psych::alpha(use='pairwise')$total$raw_alpha, tests/reference/reference.R; equal to 1e-7.
    """
    if interval not in INTERVALS:
        raise ValueError(f"interval must be one of {', '.join(INTERVALS)}, not {interval!r}")
    used = ratings.loc[:, ratings.notna().any()]
    left_out = [name for name in ratings.columns if name not in used.columns]
    if missing == "listwise":
        used = used.dropna()
    units, items = used.shape
    method = f"Cronbach's alpha, {missing}, {count_of(items, 'item')}"
    lacking = f"{count_of(items, 'dimension')}; never rated: {', '.join(left_out)}" if left_out else ""
    if items < 2:
        which = "none" if items == 0 else "only one"
        reason = f"{which} of these dimensions was rated in this data set; alpha needs two"
        return estimate_row(n=units, unit="alpha", method=method, reason=reason)
    moments, people = moments_by_participant(_prepared(used, missing), used.index)
    row = alpha_row_of_moments(moments, people, units, bootstrap, missing=missing, interval=interval)
    if np.isfinite(row["estimate"]):
        row["reason"] = "; ".join(filter(None, (row["reason"], lacking)))
    return row


def moments_by_participant(values: np.ndarray, participants: pd.Index) -> tuple[np.ndarray, np.ndarray]:
    """Pair moments summed by participant, and the participants; those of all units at once would fill the memory.

    Examples
    --------
    >>> moments, people = moments_by_participant(np.array([[4.0, 5.0], [3.0, np.nan]]), pd.Index(["b", "a"]))
    >>> list(people), moments[0, 0].tolist()
    (['b', 'a'], [[1.0, 1.0], [1.0, 1.0]])
    """
    codes, people = pd.factorize(participants)
    items = values.shape[1]
    moments = np.zeros((len(people), 4, items, items))
    for piece in pieces(len(values), 4 * items**2):
        moments += sums_by_participant(pair_moments(values[piece]), codes[piece], len(people))
    return moments, people


def alpha_row_of_moments(
    moments: np.ndarray, participants: pd.Series, units: int, bootstrap: ParticipantBootstrap, *, missing, interval
) -> dict:
    """:func:`alpha_row` from :func:`pair_moments`, of single units or summed over those of a participant.

    Parameters
    ----------
    moments : array, shape (rows, 4, items, items)
        Two items at least.
    participants : Series
        Participant of each row.
    units : int
        Number of units.
    bootstrap, missing, interval
        As for :func:`alpha_row`.
    """
    items = moments.shape[-1]
    method = f"Cronbach's alpha, {missing}, {count_of(items, 'item')}"
    if interval == "feldt":
        alpha = float(_alpha_from_sums(moments.sum(axis=0)))
        found = alpha, *feldt_interval(alpha, units, items, bootstrap.confidence), ""
        how = f"{bootstrap.confidence:.0%} Feldt interval, which takes units as independent"
    else:
        scale = SCALE if interval == "participants" else None
        found = bootstrap.estimate(_alpha_from_sums, moments, participants, scale)
        how = bootstrap.describe(scale)
    undefined = (
        f"fewer than two units rate all of {count_of(items, 'dimension')}"
        if units < 2
        else "the ratings do not vary, or no two items share two units"
    )
    return bootstrap.row(found, n=units, unit="alpha", method=method, undefined=undefined, how=how)


check_arguments(globals())
