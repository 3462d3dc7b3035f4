"""Cronbach's alpha from covariances, with intervals that resample participants or follow Feldt."""

import numpy as np
import pandas as pd

from sense7.statistics.bootstrap import ParticipantBootstrap, Scale, sums_by_participant
from sense7.statistics.estimates import Estimate, estimate_row
from sense7.statistics.least_squares import cross_products
from sense7.terminal import count_of

SCALE = Scale(
    "log(1 - alpha)",
    forward=lambda alpha: np.log1p(-alpha),
    backward=lambda logs: -np.expm1(logs),
)
"""Bonett's scale of alpha: its interval has no limit above one, and is less skewed (:func:`alpha_row`)."""


def alpha_from_covariances(covariances: np.ndarray) -> np.ndarray:
    r"""Return Cronbach's alpha of k items from their covariance matrix.

    .. math:: \alpha = \frac{k}{k - 1}\left(1 - \frac{\sum_i C_{ii}}{\sum_{ij} C_{ij}}\right)

    Examples
    --------
    >>> round(float(alpha_from_covariances(np.array([[1.0, 0.5], [0.5, 1.0]]))), 6)
    0.666667
    """
    k = covariances.shape[-1]
    all_covariances = covariances.sum(axis=(-2, -1))
    variances = np.trace(covariances, axis1=-2, axis2=-1)
    if k < 2:
        return np.full(np.shape(all_covariances), np.nan)
    with np.errstate(divide="ignore", invalid="ignore"):
        alpha = k / (k - 1) * (1 - variances / all_covariances)
        return np.where(all_covariances > 0, alpha, np.nan)


def moments_by_participant(
    values: np.ndarray, participants: pd.Index
) -> tuple[np.ndarray, np.ndarray]:
    """Return n, sum of x, of y and of xy of each pair of items over each participant's rows that rate both.

    Shape (participants, 4, items, items); and the participants.

    Examples
    --------
    >>> moments, people = moments_by_participant(np.array([[4.0, 5.0], [2.0, np.nan]]), pd.Index(["b", "b"]))
    >>> list(people), moments[0, :, 0].tolist()
    (['b'], [[2.0, 1.0], [0.0, 1.0], [0.0, 2.0], [2.0, 2.0]])
    """
    codes, people = pd.factorize(participants)
    n = np.isfinite(values).astype(float)
    # Covariances do not change by centring, and sums of small numbers lose nothing.
    x = np.where(n, values - 3, 0.0)
    sums = []
    for first, second in [(n, n), (x, n), (n, x), (x, x)]:
        products = cross_products(first, second)
        sums.append(sums_by_participant(products, codes, len(people)))
    return np.stack(sums, axis=1), people


def covariances_from_sums(sums: np.ndarray) -> np.ndarray:
    """Return covariances over the rows that rate both items, from sums of shape (..., 4, k, k)."""
    n, x, y, xy = np.moveaxis(sums, -3, 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(n > 1, (xy - x * y / n) / (n - 1), np.nan)


def alpha_from_sums(sums: np.ndarray) -> np.ndarray:
    """Return Cronbach's alpha from sums of :func:`moments_by_participant`, (..., 4, k, k).

    Examples
    --------
    >>> moments, _ = moments_by_participant(np.array([[1.0, 1.0], [2.0, 3.0], [3.0, 2.0]]), pd.Index(list("abc")))
    >>> float(alpha_from_sums(moments.sum(axis=0)).round(6))
    0.666667
    """
    return alpha_from_covariances(covariances_from_sums(sums))


def cronbach_alpha(ratings: pd.DataFrame | np.ndarray) -> float:
    """Return Cronbach's alpha of ratings with one column for each item and one row for each rated unit.

    Parameters
    ----------
    ratings : DataFrame or array, shape (units, items)
        Numbers; NaN where an item is not rated.

    Returns
    -------
    float
        Each covariance is over the units that rate both items, each variance over those that rate the item.
        NaN for fewer than two items or two units, or if nothing varies.

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
    # Pairwise: pandas leaves out units without one of the two items.
    covariances = pd.DataFrame(ratings).astype(float).cov()
    return float(alpha_from_covariances(covariances.to_numpy()))


def feldt_interval(
    alpha: float, units: int, items: int, confidence: float = 0.95
) -> tuple[float, float]:
    r"""Return Feldt's interval of alpha, which takes units as independent.

    .. math:: 1 - (1 - \hat\alpha) F_{1 - \gamma/2}, \quad 1 - (1 - \hat\alpha) F_{\gamma/2}

    with F the quantile of the F distribution on n - 1 and (n - 1)(k - 1) degrees of
    freedom and :math:`\gamma` one minus the confidence. Turns of one person are not
    independent, so over turns it is far too narrow; it is shown beside the right one.

    Examples
    --------
    >>> [round(limit, 4) for limit in feldt_interval(0.9, units=100, items=7)]
    [0.8669, 0.9273]
    """
    tail = (1 - confidence) / 2
    from scipy.stats import f as f_distribution  # half of the start where no interval is computed

    quantiles = f_distribution.ppf([1 - tail, tail], units - 1, (units - 1) * (items - 1))
    low, high = 1 - (1 - alpha) * quantiles
    return float(low), float(high)


def alpha_row(
    ratings: pd.DataFrame,
    bootstrap: ParticipantBootstrap,
    *,
    missing: str = "pairwise",
    interval: str = "participants",
    refused: str = "",
    key: str = "",
) -> dict:
    r"""Return alpha with its interval, as a row of estimates.

    The interval is Bonett's with an error that is clustered by participant,

    .. math:: 1 - (1 - \hat\alpha) \exp(\pm t_{m - 1, 1 - \gamma/2} \, SE)

    with SE the standard error of :math:`\log(1 - \hat\alpha)` by leaving out each of m participants in turn
    (:meth:`sense7.statistics.bootstrap.ParticipantBootstrap.estimate`), and :math:`\gamma` one minus the confidence.
    The percentile interval holds the truth of simulated studies too rarely, and misses it to the same side nearly
    always: alpha lies near its upper end, and depends on those participants who use all of the scale.

    Parameters
    ----------
    ratings : DataFrame, shape (units, items)
        Indexed by participant. Items without a single number are left out, and named in the method.
    bootstrap : ParticipantBootstrap
        Of the participants; draws for the percentile interval only.
    missing : {"pairwise", "listwise"}
        ``pairwise``: each covariance over the units that rate both items, each variance over
        those that rate the item (as psych::alpha does). ``listwise``: only units that rate
        every item.
    interval : {"participants", "percentile", "feldt"}
        Which interval: the above; that of the resampled participants; :func:`feldt_interval`.
    refused : str
        Why these ratings have no alpha of their own; "" if they have one.
    key : str
        Under which the row is recorded; "" for none.

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
    used = ratings.loc[:, ratings.notna().any()]
    never_rated = ratings.columns.difference(used.columns, sort=False)
    if missing == "listwise":
        used = used.dropna()
    units, items = used.shape
    reason = refused
    if not reason and items < 2:
        number = "none" if items == 0 else "only one"
        reason = f"{number} of these dimensions was rated in this data set; alpha needs two"
    method = f"Cronbach's alpha, {missing}, {count_of(items, 'item')}"
    if reason:
        return estimate_row(n=units, unit="alpha", method=method, reason=reason, key=key)
    moments, people = moments_by_participant(used.to_numpy(dtype=float), used.index)
    if interval == "feldt":
        alpha = float(alpha_from_sums(moments.sum(axis=0)))
        estimate = Estimate(alpha, *feldt_interval(alpha, units, items, bootstrap.confidence))
        how = f"{bootstrap.confidence:.0%} Feldt interval, which takes units as independent"
    else:
        scale = None
        if interval == "participants":
            scale = SCALE
        estimate = bootstrap.estimate(alpha_from_sums, moments, people, scale)
        how = bootstrap.describe(scale)
    undefined = "the ratings do not vary, or no two items share two units"
    if units < 2:
        undefined = f"fewer than two units rate all of {count_of(items, 'dimension')}"
    row = bootstrap.row(
        estimate, n=units, unit="alpha", method=method, undefined=undefined, how=how, key=key
    )
    if len(never_rated) and np.isfinite(row["estimate"]):
        lacking = f"{count_of(items, 'dimension')}; never rated: {', '.join(never_rated)}"
        row["reason"] = joined(row["reason"], lacking)
    return row


FEWEST_UNITS = 3
ROUNDING = 1e-9


def usable(ratings: pd.DataFrame, missing: str = "listwise") -> tuple[pd.DataFrame, str]:
    """Return the ratings without items that were never rated or do not vary and, listwise, without incomplete units.

    Examples
    --------
    >>> used, note = usable(pd.DataFrame({"a": [1, 2.0], "b": [3, 3.0], "c": [np.nan] * 2}))
    >>> list(used), note
    (['a'], ' (never rated: c; does not vary: b)')
    """
    never_rated = list(ratings.columns[ratings.isna().all()])
    rated = ratings.drop(columns=never_rated)
    if missing == "listwise":
        rated = rated.dropna()
    constant = list(rated.columns[rated.min() == rated.max()])
    notes = []
    if never_rated:
        notes.append(f"never rated: {', '.join(never_rated)}")
    if constant:
        notes.append(f"does not vary: {', '.join(constant)}")
    note = f" ({'; '.join(notes)})" if notes else ""
    return rated.drop(columns=constant), note


def lacking_items(used: pd.DataFrame, note: str) -> str:
    """Return which items a value over all items lacks, for its reason; "" if none.

    Examples
    --------
    >>> lacking_items(pd.DataFrame({"a": [1, 2], "b": [2, 1]}), " (never rated: c)")
    '2 dimensions; never rated: c'
    """
    if not note:
        return ""
    return f"{count_of(used.shape[1], 'dimension')}; {note[2:-1]}"


def joined(*reasons: str) -> str:
    """Return reasons in one line; empty ones are left out."""
    return "; ".join(filter(None, reasons))


def too_few(used: pd.DataFrame, items: int, units: int = FEWEST_UNITS) -> str:
    """Return why the ratings that :func:`usable` left are too few for a statistic; "" if they are enough.

    Examples
    --------
    >>> too_few(pd.DataFrame({"a": [1.0, 2.0, 3.0]}), items=3)
    'only 1 of these ratings was given and varies; this needs 3'
    """
    count = used.shape[1]
    if len(used) < units and count:
        return f"units that rate all of {count_of(count, 'item')}: {len(used)}; this needs {units}"
    if count >= items:
        return ""
    if count > 1:
        return f"only {count} of these ratings were given and vary; this needs {items}"
    number = "none" if count == 0 else "only 1"
    return f"{number} of these ratings was given and varies; this needs {items}"


def item_rest_from_covariances(covariances: np.ndarray) -> np.ndarray:
    r"""Return the correlation of each item with the sum of the others, from their covariances.

    .. math:: r_i = \frac{\sum_{j \ne i} C_{ij}}{\sqrt{C_{ii} \sum_{j \ne i} \sum_{l \ne i} C_{jl}}}

    Examples
    --------
    >>> item_rest_from_covariances(np.array([[1.0, 0.5], [0.5, 1.0]])).tolist()
    [0.5, 0.5]
    """
    variances = np.diagonal(covariances, axis1=-2, axis2=-1)
    row_sums = covariances.sum(axis=-1)
    with_others = row_sums - variances
    variance_of_others = row_sums.sum(axis=-1)[..., None] - 2 * row_sums + variances
    with np.errstate(divide="ignore", invalid="ignore"):
        defined = (variances > ROUNDING) & (variance_of_others > ROUNDING)
        product = np.where(defined, variances * variance_of_others, 1)
        r = np.where(defined, with_others / np.sqrt(product), np.nan)
        return np.where(np.abs(r) <= 1 + ROUNDING, np.clip(r, -1, 1), np.nan)


def correlations_from_covariances(covariances: np.ndarray) -> np.ndarray:
    """Return correlation matrices from covariance matrices of shape (..., k, k); NaN where a variance is zero."""
    variances = np.diagonal(covariances, axis1=-2, axis2=-1)
    with np.errstate(divide="ignore", invalid="ignore"):
        deviations = np.sqrt(np.where(variances > ROUNDING, variances, np.nan))
        return covariances / (deviations[..., :, None] * deviations[..., None, :])


def average_correlation(covariances: np.ndarray) -> np.ndarray:
    """Return the mean of the k (k - 1) / 2 correlations of items, from covariances of shape (..., k, k).

    Examples
    --------
    >>> float(average_correlation(np.array([[4.0, 1.0], [1.0, 1.0]])))
    0.5
    """
    correlations = correlations_from_covariances(covariances)
    first, second = np.triu_indices(correlations.shape[-1], 1)
    return correlations[..., first, second].mean(axis=-1)


def unexplained_variances(correlations: np.ndarray) -> np.ndarray:
    """Return the share of each item that the others do not explain, (..., k); NaN where not positive definite."""
    correlations = np.asarray(correlations, dtype=float)
    finite = np.isfinite(correlations).all(axis=(-2, -1))
    identity = np.eye(correlations.shape[-1])
    safe = np.where(finite[..., None, None], correlations, identity)
    positive = finite & (np.linalg.eigvalsh(safe)[..., 0] > ROUNDING)
    inverse = np.linalg.inv(np.where(positive[..., None, None], safe, identity))
    return np.where(positive[..., None], 1 / np.diagonal(inverse, axis1=-2, axis2=-1), np.nan)


def nested_moments(ratings: pd.DataFrame) -> tuple[np.ndarray, pd.Index]:
    r"""Return the sums of each participant from which the covariances of both levels follow, for every two items.

    Examples
    --------
    One participant, two conversations of two turns: the deviations of a are 1 and 1, those of b are 1 and 1.

    >>> index = pd.MultiIndex.from_tuples([("P", "C1"), ("P", "C1"), ("P", "C2"), ("P", "C2")])
    >>> moments, _ = nested_moments(pd.DataFrame({"a": [1.0, 3, 3, 5], "b": [2.0, 4, 5, 3]}, index=index))
    >>> moments[0, 0].tolist(), moments[0, 1, 0, 1]
    ([[4.0, 0.0], [0.0, 4.0]], np.float64(2.0))
    """
    participants = ratings.index.get_level_values(0)
    conversations = ratings.index.get_level_values(1)
    # The moments of the conversations, in the order of their first rows.
    sums, _ = moments_by_participant(ratings.to_numpy(dtype=float), conversations)
    n, x, y, xy = np.moveaxis(sums, 1, 0)
    rated = n > 0
    product = x * y / np.where(rated, n, 1)
    freedom = np.maximum(n - 1, 0)
    parts = np.stack([xy - product, freedom, product, x, y, n, n**2, rated], axis=1)
    participant_of_conversation, people = pd.factorize(participants[~conversations.duplicated()])
    return sums_by_participant(parts, participant_of_conversation, len(people)), people


def within_covariances(sums: np.ndarray) -> np.ndarray:
    r"""Return pooled covariances within conversations.

    :math:`S_W` at the head of :mod:`sense7.findings.reliability`.

    Examples
    --------
    >>> index = pd.MultiIndex.from_tuples([("P", "C1"), ("P", "C1"), ("P", "C2"), ("P", "C2")])
    >>> moments, _ = nested_moments(pd.DataFrame({"a": [1.0, 3, 3, 5], "b": [2.0, 4, 3, 5]}, index=index))
    >>> within_covariances(moments.sum(axis=0)).tolist()
    [[2.0, 2.0], [2.0, 2.0]]
    """
    products_within = sums[..., 0, :, :]
    freedom = sums[..., 1, :, :]
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(freedom > 0, products_within / freedom, np.nan)


def between_covariances(sums: np.ndarray) -> np.ndarray:
    r"""Return covariances between conversations without turn-to-turn variation.

    :math:`S_B` at the head of :mod:`sense7.findings.reliability`.

    Examples
    --------
    The means of the two conversations are 2 and 4, each of two turns with a variance of 2.

    >>> index = pd.MultiIndex.from_tuples([("P", "C1"), ("P", "C1"), ("P", "C2"), ("P", "C2")])
    >>> moments, _ = nested_moments(pd.DataFrame({"a": [1.0, 3, 3, 5]}, index=index))
    >>> between_covariances(moments.sum(axis=0)).tolist()
    [[1.0]]
    """
    _, _, product, x, y, n, squared, groups = np.moveaxis(sums, -3, 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        mean_square = (product - x * y / n) / (groups - 1)
        turns = (n - squared / n) / (groups - 1)
        return np.where(groups > 1, (mean_square - within_covariances(sums)) / turns, np.nan)
