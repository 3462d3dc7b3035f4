r"""Conditions compared without taking levels as numbers: the cumulative logit model, as a sensitivity analysis.

The mixed model takes the step from poor to neutral to be as long as that from good to very good. The cumulative
logit takes only the order of the levels: each condition shifts the odds of a higher level by one factor, the same
at every cut of the scale (*proportional odds*). It has no person's own level in it; that turns of
one person go together is left to the standard errors.
"""

from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy import stats
from scipy.special import expit

from sense7.arguments import check_arguments
from sense7.statistics.bootstrap import ParticipantBootstrap
from sense7.statistics.comparison import condition_pairs, mixed_contrasts, no_pairs, ordered_conditions, pair_keys
from sense7.statistics.estimates import estimate_row, estimate_table
from sense7.study import Study
from sense7.taxonomy import DIMENSION_NAMES, RATING_NAMES
from sense7.terminal import count_of

__all__ = [
    "CumulativeLogit",
    "beside_the_mixed_model",
    "fit_cumulative_logit",
    "odds_keys",
    "odds_ratios",
    "order_of_conditions",
    "rating_at_hand",
    "same_order",
    "separated",
]

UNIT = "odds ratio"
_ALIKE = 1e-5
"""A difference below which two conditions are alike: both models are fitted to about so much."""

_SLOPE = 1e-4
"""Largest slope of the mean log-likelihood at what counts as its maximum."""

_STEPS = 50
_SMALL_STEP = 1e-9
_ROUNDING = 1e-12

_FARTHEST = 25
"""Log odds beyond which there is no maximum: the likelihood is flat on the way to infinity."""


@dataclass(frozen=True, eq=False)
class CumulativeLogit:
    r"""A fitted model: :math:`\log\frac{P(y \le k)}{P(y > k)} = \theta_k - x^\top\beta`.

    Attributes
    ----------
    coefficients : array, shape (p,)
        :math:`\beta`: log odds of a higher level, against a row of zeros.
    covariance : array, shape (p, p)
        Theirs, clustered by participant.
    thresholds : array, shape (levels - 1,)
        :math:`\theta`, of the levels that occur.
    log_likelihood : float
        At the maximum.
    participants : int
        Number of clusters.
    """

    coefficients: np.ndarray
    covariance: np.ndarray
    thresholds: np.ndarray
    log_likelihood: float
    participants: int


def fit_cumulative_logit(levels: np.ndarray, design: np.ndarray, participants: pd.Series) -> CumulativeLogit | None:
    r"""Fit the cumulative logit by maximum likelihood, with errors clustered by participant.

    .. math:: \frac{m}{m-1} \frac{n-1}{n-q} \, H^{-1} \Big(\sum_g s_g s_g^\top\Big) H^{-1}

    is the covariance of all q parameters for m participants, with H the curvature of the log-likelihood and s
    the score of each participant's rows.

    Parameters
    ----------
    levels : array, shape (rows,)
        The outcome; its order counts, not its distances.
    design : array, shape (rows, p)
        Effects without a column of ones.
    participants : Series
        Participant of each row.

    Returns
    -------
    CumulativeLogit or None
        None where there is one level only, or no maximum was found (see :func:`separated`).

    References
    ----------
    McCullagh, P. (1980). Journal of the Royal Statistical Society B 42, 109-142. Liang, K.-Y., & Zeger, S. L. (1986).
    Biometrika 73, 13-22. Pratt, J. W. (1981). Journal of the American Statistical Association 76, 103-106.

    Notes
    -----
    R: ordinal::clm, tests/reference/reference.R; equal to 1e-6. The errors are checked against the formula, and against
    statsmodels' OrderedModel on all rows.

    Examples
    --------
    >>> levels, group = np.repeat([1, 2, 1, 2], [30, 10, 10, 30]), np.repeat([0.0, 1.0], 40)
    >>> fit = fit_cumulative_logit(levels, group[:, None], pd.Series(np.arange(80) % 20))
    >>> round(float(np.exp(fit.coefficients[0])), 3)  # (30 / 10) / (10 / 30)
    9.0
    """
    codes, people = pd.factorize(pd.Series(participants).to_numpy())
    kept, places = np.unique(levels, return_inverse=True)
    if len(kept) < 2 or len(people) < 2:
        return None
    # Rows that are alike are one row with a weight: of a few conditions and levels, there are very few.
    cells, cell = np.unique(np.column_stack([places, design]).astype(float), axis=0, return_inverse=True)
    counts = np.bincount(codes * len(cells) + cell, minlength=len(people) * len(cells)).reshape(len(people), -1)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        maximum = _maximum(cells[:, 0].astype(int), cells[:, 1:], counts.sum(axis=0))
    if maximum is None:
        return None
    point, likelihood, rows, curvature = maximum
    scores, inverse = counts @ rows, np.linalg.inv(curvature)
    slope = scores.sum(axis=0)
    m, n, q, width = len(people), len(places), len(point), cells.shape[1] - 1
    if n <= q or not (np.isfinite(inverse).all() and np.abs(slope).max() < _SLOPE * n):
        return None
    if np.ptp(cells[:, 1:] @ point[:width]) > _FARTHEST:
        return None
    covariance = m / (m - 1) * (n - 1) / (n - q) * inverse @ (scores.T @ scores) @ inverse
    return CumulativeLogit(point[:width], covariance[:width, :width], point[width:], likelihood, m)


def _maximum(levels: np.ndarray, design: np.ndarray, weights: np.ndarray) -> tuple | None:
    """Coefficients and thresholds, log-likelihood, score of each row, curvature; None where there is no maximum.

    The log-likelihood is concave (Pratt, 1981): Newton steps, halved where they do not ascend, find its maximum.
    """
    last, effects = levels.max(), -design
    below = np.bincount(levels, weights=weights).cumsum()[:-1] / weights.sum()
    point = np.concatenate([np.zeros(design.shape[1]), np.log(below / (1 - below))])
    thresholds = np.eye(last + 2)[:, 1:-1]  # none below the first level, none above the last
    upper, lower = (np.column_stack([effects, thresholds[levels + step]]) for step in (1, 0))
    ends = np.where(levels == last, np.inf, 0), np.where(levels == 0, -np.inf, 0)

    def at(point: np.ndarray) -> tuple:
        a, b = (expit(side @ point + end) for side, end in zip((upper, lower), ends, strict=True))
        share, of_a, of_b = a - b, a * (1 - a), b * (1 - b)
        score = (of_a[:, None] * upper - of_b[:, None] * lower) / share[:, None]
        bend = upper.T @ ((weights * of_a * (1 - 2 * a) / share)[:, None] * upper)
        bend = bend - lower.T @ ((weights * of_b * (1 - 2 * b) / share)[:, None] * lower)
        return float(weights @ np.log(share)), score, bend - score.T @ (weights[:, None] * score)

    likelihood, score, curvature = at(point)
    for _ in range(_STEPS):
        try:
            step = -np.linalg.solve(curvature, weights @ score)
        except np.linalg.LinAlgError:
            return None
        found = at(point + step)
        while not found[0] >= likelihood - _ROUNDING * abs(likelihood) and np.abs(step).max() > _SMALL_STEP:
            step = step / 2
            found = at(point + step)
        point, (likelihood, score, curvature) = point + step, found
        if np.abs(step).max() <= _SMALL_STEP:
            return point, likelihood, score, curvature
    return None


def separated(levels: np.ndarray, groups: np.ndarray) -> bool:
    """Whether some groups never lie above a level and all others never below it: odds ratios are then not finite.

    Examples
    --------
    >>> separated(np.array([1, 2, 2, 3]), np.array(["a", "a", "b", "b"]))
    True
    >>> separated(np.array([1, 3, 2, 3]), np.array(["a", "a", "b", "b"]))
    False
    """
    by_group = pd.Series(np.asarray(levels, dtype=float)).groupby(np.asarray(groups))
    low, high = by_group.min().to_numpy(), by_group.max().to_numpy()
    for cut in np.unique(np.concatenate([low, high])):
        below, above = high <= cut, low >= cut
        # A group that has this level only may go to either side.
        if (below | above).all() and below.any() and above.any() and len(low) > 1:
            return True
    return False


def rating_at_hand(study: Study) -> str:
    """``overall`` if any turn has an overall rating, otherwise the dimension rated most often."""
    if study.turns["overall"].notna().any():
        return "overall"
    return str(study.turns[list(DIMENSION_NAMES)].notna().sum().idxmax())


def odds_ratios(study: Study, rating: str = "overall", confidence: float = 0.95) -> pd.DataFrame:
    r"""Proportional odds ratios of all pairs of conditions, over turns.

    .. math:: \mathrm{OR}_{ab} = \exp(\beta_a - \beta_b)

    the factor by which the odds of a level above any cut are higher in a than in b.

    Parameters
    ----------
    study : Study
        The data. Turns without the rating or a condition are left out.
    rating : str
        ``overall`` or a dimension.
    confidence : float
        Of the intervals: t with one degree of freedom less than participants, on the log scale.

    Returns
    -------
    DataFrame
        One row per pair: estimate, low, high (above 0; 1 if alike), n (turns of all conditions), unit, method, reason.
    """
    turns = study.turns[study.turns[rating].notna() & study.turns["condition"].notna()]
    present = [name for name in ordered_conditions(study) if (turns["condition"] == name).any()]
    method = (
        f"cumulative logit of the {'overall rating' if rating == 'overall' else f'rating of {rating}'} on condition"
    )
    common = {"n": len(turns), "unit": UNIT}
    fit, reason = None, no_pairs(study)
    if not reason:
        fit, reason = _fitted(turns, rating, present)
    rows = {}
    for first, second in condition_pairs(study).values():
        name = _against(first, second)
        absent = [one for one in (first, second) if one not in present]
        why = reason or (f"no rated turn in {' and '.join(absent)}" if absent else "")
        if why:
            rows[name] = estimate_row(**common, method=method, reason=why)
            continue
        contrast = np.array([(one == first) - float(one == second) for one in present[1:]])
        log, error = contrast @ fit.coefficients, np.sqrt(contrast @ fit.covariance @ contrast)
        few = ParticipantBootstrap.too_few(turns["participant"])
        if not few and fit.participants < 2 * len(present):
            few = f"no interval: {count_of(fit.participants, 'participant')}: too few for clustered errors"
        half = np.nan if few else error * stats.t.ppf((1 + confidence) / 2, fit.participants - 1)
        words = method if few else f"{method}; {confidence:.0%} t interval, errors clustered by participant"
        limits = np.exp([log, log - half, log + half])
        rows[name] = estimate_row(*limits, **common, method=words, reason=few)
    if not rows:
        rows["no pair"] = estimate_row(**common, method=method, reason=reason)
    return estimate_table(rows, "pair")


def odds_keys(study: Study) -> dict[str, str]:
    """Keys of all pairs of conditions by the row's name in :func:`odds_ratios`."""
    keys = pair_keys(study, "condition_odds_ratio")
    return {_against(*pair): keys[name] for name, pair in condition_pairs(study).items()}


def _against(first: str, second: str) -> str:
    return f"{first} against {second}"


def _fitted(turns: pd.DataFrame, rating: str, present: list[str]) -> tuple[CumulativeLogit | None, str]:
    """The model with the first condition as the reference, or why there is none."""
    if len(present) < 2:
        return None, "only one condition has rated turns" if present else "never rated in this data set"
    if turns["participant"].nunique() < 2:
        return None, "there is one participant only"
    levels = turns[rating].to_numpy(dtype=float)
    if np.ptp(levels) == 0:
        return None, "the ratings do not vary"
    if separated(levels, turns["condition"].to_numpy()):
        return None, "some conditions were always rated at least as high as the others: the odds ratio is not finite"
    design = np.column_stack([turns["condition"] == name for name in present[1:]]).astype(float)
    fit = fit_cumulative_logit(levels, design, turns["participant"])
    return fit, "" if fit else "too few turns for the model"


def beside_the_mixed_model(study: Study, rating: str = "overall", confidence: float = 0.95) -> pd.DataFrame:
    """Each pair of conditions by both models, in words, with whether they agree on which is higher.

    Parameters
    ----------
    study : Study
        The data.
    rating : str
        ``overall`` or a dimension, of turns.
    confidence : float
        Of the intervals.

    Returns
    -------
    DataFrame
        One row per pair that both models have: ``points (mixed model)``, ``odds ratio (cumulative logit)``, ``same
        sign``; empty if there is none.
    """
    points = mixed_contrasts(study, rating, turns=True, confidence=confidence).differences
    odds = odds_ratios(study, rating, confidence)
    rows = {}
    for difference, pair in condition_pairs(study).items():
        if difference not in points.index:
            continue
        name = _against(*pair)
        one, other = points.loc[difference], odds.loc[name]
        if np.isfinite(one["estimate"]) and np.isfinite(other["estimate"]):
            same = _sign(one["estimate"]) == _sign(np.log(other["estimate"]))
            rows[name] = [_words(one), _words(other), "yes" if same else "no"]
    columns = ["points (mixed model)", "odds ratio (cumulative logit)", "same sign"]
    return pd.DataFrame.from_dict(rows, orient="index", columns=columns).rename_axis("pair")


def _sign(difference: float) -> int:
    return 0 if abs(difference) < _ALIKE else int(np.sign(difference))


def _words(row: pd.Series) -> str:
    limits = f" ({row['low']:z.3f} to {row['high']:z.3f})" if np.isfinite(row["low"]) else ""
    return f"{row['estimate']:z.3f}{limits}"


def order_of_conditions(study: Study) -> pd.DataFrame:
    """Conditions from the highest to the lowest by both models, for the overall rating and each dimension of turns.

    Returns
    -------
    DataFrame
        One row per rating: ``mixed model``, ``cumulative logit`` (names of the conditions, or why there is no order),
        ``same order`` (yes, no, or "").
    """
    rows = {}
    for rating in RATING_NAMES:
        points = mixed_contrasts(study, rating, turns=True)
        odds = odds_ratios(study, rating)
        orders = _order(study, points.differences["estimate"]), _order(study, np.log(odds["estimate"]))
        same = "" if None in orders else "yes" if orders[0] == orders[1] else "no"
        reasons = points.reason, next(filter(None, odds["reason"]), "")
        words = [
            order or f"none: {reason or 'not all pairs are known'}"
            for order, reason in zip(orders, reasons, strict=True)
        ]
        rows[rating] = [*words, same]
    return pd.DataFrame.from_dict(
        rows, orient="index", columns=["mixed model", "cumulative logit", "same order"]
    ).rename_axis("rating")


def _order(study: Study, differences: pd.Series) -> str | None:
    """Conditions by the sum of their differences from the others, alike ones joined; None if one is missing."""
    pairs = condition_pairs(study)
    if not pairs or len(differences) < len(pairs) or not np.isfinite(differences).all():
        return None
    scores = dict.fromkeys(ordered_conditions(study), 0.0)
    for difference, (first, second) in zip(differences, pairs.values(), strict=True):
        scores[first] += difference
        scores[second] -= difference
    groups: list[list[str]] = []
    for name in sorted(scores, key=lambda name: -scores[name]):
        if groups and scores[groups[-1][-1]] - scores[name] < _ALIKE * len(scores):
            groups[-1].append(name)
        else:
            groups.append([name])
    return " > ".join(" = ".join(sorted(group)) for group in groups)


def same_order(orders: pd.DataFrame) -> dict:
    """For how many ratings both models put the conditions in the same order: a value for a record.

    Parameters
    ----------
    orders : DataFrame
        From :func:`order_of_conditions`.

    Returns
    -------
    dict
        estimate (number of ratings, None if no rating has both orders), n (ratings that have both), unit, method,
        reason.
    """
    known = orders[orders["same order"] != ""]
    value = {
        "n": len(known),
        "unit": "ratings",
        "method": "ratings with the same order by mixed model and cumulative logit",
    }
    if known.empty:
        return value | {"estimate": None, "reason": "no rating has an order of conditions by both models"}
    return value | {"estimate": int((known["same order"] == "yes").sum())}


check_arguments(globals())
