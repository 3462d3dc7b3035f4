r"""Which dimensions go with the overall rating of the turn: weighted kappa, and shares of the explained variance (LMG).

Both ratings of a turn are one person's, given at one moment: kappa says how consistent that person is, and nothing
about two persons who rate the same turn. LMG shares are shares of variance in a regression, and not the shares of
participants who name a dimension as the most important (:mod:`sense7.findings.importance`).
"""

from dataclasses import dataclass
from functools import cache

import numpy as np
import pandas as pd
from scipy.special import ndtri

from sense7.findings.core import Needs, Number, finding, resampled, tabulate
from sense7.findings.ground_truth import labels
from sense7.findings.measures import answers_to
from sense7.statistics.alpha import lacking_items, usable
from sense7.statistics.bootstrap import OWN_SCALE, ParticipantBootstrap
from sense7.statistics.estimates import Estimate, under_keys
from sense7.statistics.least_squares import cross_products, lmg_from_covariances, within
from sense7.statistics.order import rounded
from sense7.statistics.rater_agreement import pair_tables, weighted_kappa
from sense7.study import Study
from sense7.taxonomy import DIMENSION_NAMES
from sense7.terminal import count_of

__all__ = [
    "agreement_with_overall",
    "explained_shares",
    "kappa_differences",
    "overall_and_ratings",
    "published_kappas",
]

PAIRED = "Relational"
"""The dimension of which the paper says that its kappa is the lowest."""

NEAREST = "nearest of the others"
"""Row of :func:`kappa_differences`: the dimension whose kappa exceeds that of Relational least."""

TOTAL = "all together"
"""Row of R squared in :func:`explained_shares`."""

ROWS_A_DIMENSION = 10


@finding
def agreement_with_overall(
    study: Study, bootstrap: ParticipantBootstrap, weights: str = "linear"
) -> pd.DataFrame:
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
    numbers = []
    for name in DIMENSION_NAMES:
        key = f"kappa_{weights}_{name}"
        numbers.append(kappa_of(study, study.turns, name, bootstrap, weights, "five levels", key))
    return tabulate("dimension", numbers, bootstrap)


@finding
def published_kappas(study: Study, bootstrap: ParticipantBootstrap) -> pd.DataFrame:
    """Return the kappas of :func:`agreement_with_overall` that the paper publishes; weights are linear."""
    kappas = agreement_with_overall(study, bootstrap, weights="linear")
    published = {
        f"kappa_linear_{name}": f"kappa_{name.lower()}" for name in ("Affective", "Relational")
    }
    return under_keys(kappas, published)


def kappa_of(
    study: Study,
    turns: pd.DataFrame,
    name: str,
    bootstrap: ParticipantBootstrap,
    weights: str,
    among: str,
    key: str = "",
) -> Number:
    """Return weighted kappa of a dimension with the overall rating over some of all turns."""
    rated = turns[turns[name].notna() & turns["overall"].notna()]

    def kappa():
        tables = _tables_of_levels(rated, name)
        return resampled(
            bootstrap, lambda sums: weighted_kappa(sums, weights), tables, rated["participant"]
        )

    return Number(
        label=name,
        statistic=kappa,
        unit="weighted kappa",
        method=f"Cohen's kappa, {weights} weights, {among}",
        rows=rated,
        counted="turn",
        needs=Needs(answers=answers_to(study, "the overall rating", name)),
        key=key,
        undefined="both ratings are constant at the same level",
    )


def _tables_of_levels(turns: pd.DataFrame, name: str) -> np.ndarray:
    """Table of counts of each turn, a 1 at its levels of the dimension and of the overall rating."""
    return pair_tables(labels(turns[name]) - 1, labels(turns["overall"]) - 1)


@dataclass(frozen=True)
class _Difference:
    """A difference of two kappas, with what its simultaneous interval is made of."""

    estimate: float
    reach: float
    """Half of its own interval, by leaving out each participant; NaN where there is none."""
    resamples: np.ndarray
    reason: str

    def departures(self) -> np.ndarray:
        """Distance of each resample from the estimate, in standard deviations of the resamples."""
        distances = self.resamples - self.estimate
        return np.abs(distances) / np.nanstd(distances)


@finding
def kappa_differences(
    study: Study, bootstrap: ParticipantBootstrap, weights: str = "linear"
) -> pd.DataFrame:
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
    names = [name for name in DIMENSION_NAMES if name != PAIRED]
    turns_of = {name: study.turns.dropna(subset=["overall", PAIRED, name]) for name in names}
    differences = {}
    for name, turns in turns_of.items():
        if len(turns):
            differences[name] = _difference(turns, name, bootstrap, weights)
    departures = [d.departures() for d in differences.values() if np.isfinite(d.reach)]
    quantile = np.nan
    if departures:
        largest_departures = np.max(departures, axis=0)
        defined = largest_departures[np.isfinite(largest_departures)]
        quantile = np.quantile(defined, bootstrap.confidence)
    interval = (
        f"simultaneous {bootstrap.confidence:.0%} max-t interval, "
        f"{bootstrap.draws:,} resamplings of participants"
    )

    def number(label: str, name: str, key: str) -> Number:
        def difference():
            of_name = differences[name]
            width = quantile / ndtri((1 + bootstrap.confidence) / 2) * of_name.reach
            low = of_name.estimate - width
            return Estimate(of_name.estimate, low, of_name.estimate + width, of_name.reason)

        return Number(
            label=label,
            statistic=difference,
            unit="weighted kappa",
            method=f"difference of Cohen's kappas, {weights} weights, turns that rate both",
            rows=turns_of[name],
            counted="turn",
            needs=Needs(answers=answers_to(study, "the overall rating", PAIRED, name)),
            key=key,
            undefined="a rating is constant at the level of the other",
            interval=interval,
        )

    linear = weights == "linear"
    numbers = [number(name, name, f"kappa_difference_{name}" if linear else "") for name in names]
    key = "kappa_difference_nearest" if linear else "kappa_difference_quadratic_nearest"
    largest = {name: rounded(difference.estimate) for name, difference in differences.items()}
    nearest = pd.Series(largest, dtype=float).reindex(names).fillna(-np.inf).idxmax()
    numbers.append(number(NEAREST, nearest, key))
    return tabulate(f"{PAIRED} minus", numbers, bootstrap)


def _difference(
    turns: pd.DataFrame, name: str, bootstrap: ParticipantBootstrap, weights: str
) -> _Difference:
    """Kappa of Relational minus that of another dimension, over turns that rate both."""

    def difference(sums: np.ndarray) -> np.ndarray:
        kappas = weighted_kappa(sums, weights)
        return kappas[..., 0] - kappas[..., 1]

    participants = turns["participant"]
    tables = np.stack([_tables_of_levels(turns, PAIRED), _tables_of_levels(turns, name)], axis=1)
    by_leaving_out = bootstrap.estimate(difference, tables, participants, OWN_SCALE)
    resamples = bootstrap.distribution(difference, tables, participants)
    # Each kind of interval may have a reason why there is none.
    by_resampling = bootstrap.percentile(
        np.append(by_leaving_out.estimate, resamples), participants
    )
    reason = by_leaving_out.reason or by_resampling.reason
    reach = np.nan
    if not reason:
        reach = (by_leaving_out.high - by_leaving_out.low) / 2
    return _Difference(by_leaving_out.estimate, reach, resamples, reason)


def overall_and_ratings(study: Study) -> tuple[pd.Series, pd.DataFrame]:
    """Return the overall rating of each turn shown for rating, and its seven ratings, indexed by participant."""
    turns = study.turns_put_to_rating.set_index("participant")
    return turns["overall"], turns[list(DIMENSION_NAMES)]


@finding
def explained_shares(
    outcome: pd.Series,
    ratings: pd.DataFrame,
    bootstrap: ParticipantBootstrap,
    *,
    conversations: pd.Series | None = None,
    recorded_as: str = "",
) -> pd.DataFrame:
    """Return R squared of the outcome on all ratings, and the share of each rating in it: LMG divided by R squared.

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
    DataFrame
        One row per item, whose shares sum to one, and one of R squared (``TOTAL``).

    Examples
    --------
    >>> generator = np.random.default_rng(1)
    >>> x = pd.DataFrame(generator.integers(1, 6, size=(60, 2)), columns=["a", "b"])
    >>> shares = explained_shares(x["a"] * 1.0 + x["b"], x, ParticipantBootstrap(x.index, 200, 1))["estimate"]
    >>> float(shares["all together"].round(6)), float(shares[["a", "b"]].sum().round(6))
    (1.0, 1.0)
    """
    has_outcome = outcome.notna().to_numpy()
    used, note = usable(ratings[has_outcome])
    ever_rated = ratings.loc[:, ratings[has_outcome].notna().any()]
    is_complete = has_outcome & ever_rated.notna().all(axis=1).to_numpy()
    outcome_of_units = outcome[is_complete]
    values = np.column_stack([used, outcome_of_units]).astype(float) - 3
    reason = ""
    if conversations is not None:
        values = within(values, pd.Series(np.asarray(conversations)[is_complete]))
        if not (rounded(values) != 0).any(axis=0).all():
            reason = "the outcome or a dimension does not vary within conversations"
    items = list(used)
    if not items:
        reason = "no dimension varies"
    level = "" if conversations is None else "within conversations, "
    described = f"{level}listwise, {count_of(len(items), 'dimension')}{note}"

    @cache
    def r2_then_shares():
        products = cross_products(np.column_stack([np.ones(len(values)), values]))
        return resampled(bootstrap, r2_and_shares, products, used.index)

    def number(name: str, column: int, key: str, unit: str, method: str, **declared: str) -> Number:
        return Number(
            label=name,
            statistic=lambda: r2_then_shares()[:, column],
            unit=unit,
            method=f"{method}, {described}",
            rows=used.index,
            counted="unit",
            needs=Needs(
                answers={"the outcome": outcome, name: ratings.get(name, ratings)},
                rows=max(ROWS_A_DIMENSION * len(items), 1),
                varying={"the outcome is": outcome_of_units},
            ),
            key=key if recorded_as else "",
            **declared,
        )

    numbers = []
    for name in ratings:
        column = 0
        of_item = "it does not vary in the units used"
        if name in items:
            column = 1 + items.index(name)
            of_item = reason
        numbers.append(
            number(
                name,
                column,
                f"{recorded_as}_share_{name}",
                "share of explained variance",
                "LMG divided by R squared",
                reason=of_item,
                undefined="nothing is explained",
            )
        )
    total = number(
        TOTAL,
        0,
        f"{recorded_as}_r2",
        "share of variance",
        "LMG",
        reason=reason,
        note=lacking_items(used, note),
    )
    return tabulate("dimension", [*numbers, total], bootstrap)


def r2_and_shares(sums: np.ndarray) -> np.ndarray:
    """R squared, and LMG divided by it, from the sums of products of (1, x - 3, y - 3)."""
    count = sums[..., :1, :1]
    means = sums[..., 1:, :1] / count
    covariances = sums[..., 1:, 1:] / count - means * np.swapaxes(means, -1, -2)
    lmg = lmg_from_covariances(covariances)
    total = lmg.sum(axis=-1, keepdims=True)
    return np.concatenate([total, np.where(rounded(total) > 0, lmg / total, np.nan)], axis=-1)
