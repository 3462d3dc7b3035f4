r"""Which dimensions go with the overall rating of the turn: weighted kappa, and shares of the explained variance (LMG).

Both ratings of a turn are one person's, given at one moment: kappa says how consistent that person is, and nothing
about two persons who rate the same turn. LMG shares are shares of variance in a regression, and not the shares of
participants who name a dimension as the most important (:mod:`sense7.findings.importance`).
"""

import numpy as np
import pandas as pd
from scipy.special import ndtri, stdtrit

from sense7.estimators.alpha import joined, lacking_items, usable
from sense7.estimators.bootstrap import OWN_SCALE, ParticipantBootstrap, jackknife_error
from sense7.estimators.estimates import Estimate, estimate_row, estimate_table, under_keys
from sense7.estimators.least_squares import lmg_from_covariances, within
from sense7.estimators.order import rounded
from sense7.estimators.rater_agreement import LEVELS, weighted_kappa
from sense7.findings.core import finding, require_own
from sense7.findings.ground_truth import labels
from sense7.study import Study
from sense7.taxonomy import DIMENSION_NAMES
from sense7.terminal import count_of

__all__ = ["agreement_with_overall", "kappa_differences", "overall_and_ratings", "parts_and_shares", "published_kappas"]

PAIRED = "Relational"
"""The dimension of which the paper says that its kappa is the lowest."""

NEAREST = "nearest of the others"
"""Row of :func:`kappa_differences`: the dimension whose kappa exceeds that of Relational least."""

TOTAL = "all together"
"""Row of R squared in :func:`parts_and_shares`."""

ROWS_A_DIMENSION = 10


@finding
def agreement_with_overall(study: Study, bootstrap: ParticipantBootstrap, weights: str = "linear") -> pd.DataFrame:
    """Return weighted kappa of each dimension with the overall rating, over the turns that have both.

    Parameters
    ----------
    weights : {"linear", "quadratic"}
        See :func:`weighted_kappa`.

    Returns
    -------
    DataFrame
        One row per dimension; estimates at most 1, n counts turns.

    Notes
    -----
    R: psych::cohen.kappa, tests/reference/reference.R.
    """
    require_own(study, bootstrap)
    turns = study.turns
    rows = {name: kappa_row(turns, turns, name, bootstrap, weights, "five levels") for name in DIMENSION_NAMES}
    return estimate_table(rows, "dimension", {name: f"kappa_{weights}_{name}" for name in rows})


@finding
def published_kappas(study: Study, bootstrap: ParticipantBootstrap) -> pd.DataFrame:
    """Return the kappas of :func:`agreement_with_overall` that the paper publishes; weights are linear."""
    kappas = agreement_with_overall(study, bootstrap, weights="linear")
    published = {f"kappa_linear_{name}": f"kappa_{name.lower()}" for name in ("Affective", "Relational")}
    return under_keys(kappas, published)


def _tables(turns: pd.DataFrame, name: str) -> np.ndarray:
    """Table of counts of each turn, a 1 at its levels of the dimension and of the overall rating."""
    cells = np.zeros((len(turns), LEVELS, LEVELS))
    own, overall = (labels(turns[rating]).astype(int) - 1 for rating in (name, "overall"))
    cells[np.arange(len(turns)), own, overall] = 1
    return cells


def _never(turns: pd.DataFrame, names: tuple[str, ...]) -> str:
    """Which of these ratings was never given, as a reason; "" if each was."""
    missing = ["the overall rating" if name == "overall" else name for name in names if turns[name].isna().all()]
    return f"{' and '.join(missing)} was never rated in this data set" if missing else ""


def kappa_row(every: pd.DataFrame, turns: pd.DataFrame, name: str, bootstrap, weights: str, among: str) -> dict:
    """Return weighted kappa of a dimension with the overall rating over some of all turns, as a row of estimates."""
    unit, method = "weighted kappa", f"Cohen's kappa, {weights} weights, {among}"
    both = turns[turns[name].notna() & turns["overall"].notna()]
    if both.empty:
        reason = _never(every, ("overall", name))
        reason = reason or ("no turn has both ratings" if every is turns else "no turn has all ratings")
        return estimate_row(n=0, unit=unit, method=method, reason=reason)
    kappa = bootstrap.estimate(lambda sums: weighted_kappa(sums, weights), _tables(both, name), both["participant"])
    undefined = "both ratings are constant at the same level"
    return bootstrap.row(kappa, n=len(both), unit=unit, method=method, undefined=undefined)


@finding
def kappa_differences(study: Study, bootstrap: ParticipantBootstrap, weights: str = "linear") -> pd.DataFrame:
    r"""Return kappa of Relational Continuity minus that of each other dimension, over the turns that rate both.

    .. math:: d_j = \kappa_w(\text{Relational}, \text{overall}) - \kappa_w(j, \text{overall}), \qquad
              d_j \pm c \, \frac{t_{m - 1, 1 - \gamma/2}}{z_{1 - \gamma/2}} \, SE_j

    The intervals hold together for all j (max-t): :math:`SE_j` by leaving out each of m participants in turn, c the
    quantile of :math:`\max_j |d_j^* - d_j| / s_j` over resamples of participants, :math:`s_j` the standard deviation
    of :math:`d_j^*`, and :math:`\gamma` one minus the confidence. The ratio of quantiles allows for m.

    Returns
    -------
    DataFrame
        One row for each other dimension, and once more that with the largest difference (``NEAREST``); n counts turns.
        Relational is the lowest of all if the interval of ``NEAREST`` lies below zero.

    References
    ----------
    Hothorn, T., Bretz, F., & Westfall, P. (2008). Biometrical Journal 50, 346-363 (max-t).
    """
    require_own(study, bootstrap)
    unit, method = "weighted kappa", f"difference of Cohen's kappas, {weights} weights, turns that rate both"

    def difference(sums: np.ndarray) -> np.ndarray:
        kappas = weighted_kappa(sums, weights)
        return kappas[..., 0] - kappas[..., 1]

    others = [name for name in DIMENSION_NAMES if name != PAIRED]
    rows, found, departures = {}, {}, []
    for name in others:
        turns = study.turns.dropna(subset=["overall", PAIRED, name])
        if turns.empty:
            reason = _never(study.turns, ("overall", PAIRED, name)) or "no turn has all three ratings"
            rows[name] = estimate_row(n=0, unit=unit, method=method, reason=reason)
            continue
        people = turns["participant"]
        data = difference, np.stack([_tables(turns, PAIRED), _tables(turns, name)], axis=1), people
        # Each kind of interval may have a reason why there is none.
        estimate, _, _, reason = bootstrap.estimate(*data, OWN_SCALE)
        resamples = bootstrap.distribution(*data)
        reason = reason or bootstrap.interval(resamples, people)[2]
        error = np.nan if reason else jackknife_error(bootstrap.without_each(*data))
        if np.isfinite(error):
            departures.append(np.abs(resamples - estimate) / np.nanstd(resamples - estimate))
        found[name] = estimate, error, reason, len(turns), people.nunique()
    largest = np.max(departures, axis=0) if departures else np.array([np.nan])
    widest = float(np.quantile(largest[np.isfinite(largest)], bootstrap.confidence)) if departures else np.nan
    tail = (1 + bootstrap.confidence) / 2
    how = f"simultaneous {bootstrap.confidence:.0%} max-t interval, {bootstrap.draws:,} resamplings of participants"
    undefined = "a rating is constant at the level of the other"
    for name, (estimate, error, reason, n, people) in found.items():
        width = widest * stdtrit(people - 1, tail) / ndtri(tail) * error if people > 1 else np.nan
        limits = Estimate(estimate, estimate - width, estimate + width, reason)
        rows[name] = bootstrap.row(limits, n=n, unit=unit, method=method, undefined=undefined, how=how)
    rows = {name: rows[name] for name in others}
    size = {name: rounded(rows[name]["estimate"]) for name in found or others}
    rows[NEAREST] = rows[max(size, key=lambda name: np.nan_to_num(size[name], nan=-np.inf))]
    keys = {name: f"kappa_difference_{name}" for name in others} if weights == "linear" else {}
    keys[NEAREST] = "kappa_difference_nearest" if weights == "linear" else "kappa_difference_quadratic_nearest"
    return estimate_table(rows, f"{PAIRED} minus", keys)


def overall_and_ratings(study: Study) -> tuple[pd.Series, pd.DataFrame]:
    """Return the overall rating of each turn put to rating, and its seven ratings, indexed by participant."""
    turns = study.turns_put_to_rating.set_index("participant")
    return turns["overall"], turns[list(DIMENSION_NAMES)]


@finding
def parts_and_shares(
    outcome: pd.Series,
    ratings: pd.DataFrame,
    bootstrap: ParticipantBootstrap,
    *,
    conversations: pd.Series | None = None,
    recorded_as: str = "",
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return LMG of each rating for the outcome and R squared, and LMG divided by R squared, from the same resamples.

    LMG splits R squared by the mean, over all orders in which the ratings could enter a regression, of what each adds.
    It is computed from covariances, over all subsets, so that participants are resampled exactly.

    Parameters
    ----------
    outcome, ratings : Series, DataFrame
        What is explained, and by what; of the same units, indexed by participant. Only complete units count, and at
        least ten for each item. Items never rated or without variation have a row that says so.
    conversations : Series, optional
        Conversation of each unit: outcome and ratings are then departures from their means over the complete units of
        the conversation.
    recorded_as : {"relative_importance", "relative_importance_within", ""}
        Beginning of the keys, which the shares and R squared get; "" for no keys.

    Returns
    -------
    parts, shares : DataFrame
        One row per item, and one of R squared (``TOTAL``) among the parts; shares sum to one.

    Examples
    --------
    >>> generator = np.random.default_rng(1)
    >>> x = pd.DataFrame(generator.integers(1, 6, size=(60, 2)), columns=["a", "b"])
    >>> parts, shares = parts_and_shares(x["a"] * 1.0 + x["b"], x, ParticipantBootstrap(x.index, 200, 1))
    >>> round(float(parts.loc["all together", "estimate"]), 6), round(float(shares["estimate"].sum()), 6)
    (1.0, 1.0)
    """
    known = outcome.notna().to_numpy()
    used, note = usable(ratings[known])
    whole = ratings[known].loc[:, ratings[known].notna().any()].notna().all(axis=1).to_numpy()
    complete = outcome[known][whole]
    values = np.column_stack([used.to_numpy(dtype=float), complete.to_numpy(dtype=float)]) - 3
    n, items, fewest = len(used), used.shape[1], ROWS_A_DIMENSION * used.shape[1]
    if not outcome.notna().any():
        reason = "the outcome was never rated in this data set"
    elif not ratings.notna().any(axis=None):
        reason = "no dimension was rated in this data set"
    elif n and not items:
        reason = "no dimension varies"
    elif n < max(fewest, 1):
        reason = f"units with the outcome and all dimensions: {n}; this needs {fewest}"
    else:
        reason = "the outcome does not vary" if complete.nunique() < 2 else ""
    if conversations is not None:
        values = within(values, pd.Series(np.asarray(conversations)[known][whole]))
        if not reason and not (rounded(values) != 0).any(axis=0).all():
            reason = "the outcome or a dimension does not vary within conversations"
    level = "" if conversations is None else "within conversations, "
    described = f"{level}listwise, {count_of(items, 'dimension')}{note}"

    def lmg_and_shares(sums: np.ndarray) -> np.ndarray:
        """LMG, their sum, and LMG divided by it, from the sums of products of (1, x - 3, y - 3)."""
        count = sums[..., :1, :1]
        with np.errstate(divide="ignore", invalid="ignore"):
            covariances = (sums[..., 1:, 1:] - sums[..., 1:, :1] * sums[..., :1, 1:] / count) / count
            lmg = lmg_from_covariances(covariances)
            total = lmg.sum(axis=-1, keepdims=True)
            return np.concatenate([lmg, total, np.where(rounded(total) > 0, lmg / total, np.nan)], axis=-1)

    estimates = []
    if not reason:
        columns = np.column_stack([np.ones(n), values])
        estimates = bootstrap.estimates(lmg_and_shares, columns[:, :, None] * columns[:, None, :], used.index)
    of_each = [*used, TOTAL], estimates[: items + 1], ("share of variance", "LMG", "the outcome does not vary")
    of_all = (
        list(used),
        estimates[items + 1 :],
        ("share of explained variance", "LMG divided by R squared", "nothing is explained"),
    )
    tables = []
    for (names, own, (unit, method, undefined)), order in ((of_each, [*ratings, TOTAL]), (of_all, list(ratings))):
        common = {"n": n, "unit": unit, "method": f"{method}, {described}"}
        rows = {
            name: bootstrap.row(one, **common, undefined=undefined) for name, one in zip(names, own, strict=bool(own))
        }
        if TOTAL in rows and note:
            rows[TOTAL]["reason"] = joined(rows[TOTAL]["reason"], lacking_items(used, note))
        for name in order:
            never = name != TOTAL and not ratings[name].notna().any()
            why = "never rated in this data set" if never else reason or "does not vary in the units used"
            rows.setdefault(name, estimate_row(**common, reason=why))
        tables.append({name: rows[name] for name in order})
    keys = {name: f"{recorded_as}_share_{name}" for name in ratings} if recorded_as else None
    return (
        estimate_table(tables[0], "dimension", {TOTAL: f"{recorded_as}_r2"} if recorded_as else None),
        estimate_table(tables[1], "dimension", keys),
    )
