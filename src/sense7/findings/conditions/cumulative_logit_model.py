"""Conditions compared by cumulative logit models: odds ratios of a higher rating."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
from scipy import stats

from sense7.arguments import check_arguments
from sense7.estimators.bootstrap import ParticipantBootstrap
from sense7.estimators.cumulative_logit import CumulativeLogit, fit_cumulative_logit, separated
from sense7.estimators.estimates import Estimate, estimate_row, estimate_table
from sense7.findings.conditions.mixed_model import mixed_contrasts
from sense7.findings.conditions.pairs import condition_pairs, no_pairs, ordered_conditions, pairs_in_keys
from sense7.study import Study
from sense7.taxonomy import DIMENSION_NAMES, RATING_NAMES
from sense7.terminal import count_of

__all__ = ["compare_models", "main_turn_rating", "odds_ratios", "order_of_conditions", "same_order"]

UNIT = "odds ratio"
_ALIKE = 1e-5
"""A difference below which two conditions are alike: about the precision to which both models are fitted."""


def main_turn_rating(study: Study) -> dict:
    """Return the rating of turns by which conditions are compared, as a value for a record.

    Returns
    -------
    dict
        ``estimate`` is its name: ``overall`` if any turn has an overall rating, otherwise the dimension rated most
        often; n counts the turns that have it and a condition.
    """
    turns = study.turns
    name = "overall"
    if not turns["overall"].notna().any():
        name = str(turns[list(DIMENSION_NAMES)].notna().sum().idxmax())
    return {
        "key": "ordinal_rating",
        "estimate": name,
        "n": int((turns[name].notna() & turns["condition"].notna()).sum()),
        "unit": "rating",
        "method": "the overall rating, or else the dimension rated most often",
    }


def odds_ratios(study: Study, rating: str = "overall", confidence: float = 0.95) -> pd.DataFrame:
    r"""Return proportional odds ratios of all pairs of conditions, over turns.

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
    outcome = "overall rating" if rating == "overall" else f"rating of {rating}"
    method = f"cumulative logit of the {outcome} on condition"
    common = {"n": len(turns), "unit": UNIT}
    fit, reason = (None, no_pairs(study)) if no_pairs(study) else _fitted(turns, rating, present)
    rows = {}
    for pair in condition_pairs(study).values():
        absent = [one for one in pair if one not in present]
        if why := reason or (f"no rated turn in {' and '.join(absent)}" if absent else ""):
            rows[_against(*pair)] = estimate_row(**common, method=method, reason=why)
            continue
        odds = _odds_ratio(fit, present, *pair, confidence)
        words = method if odds.reason else f"{method}; {confidence:.0%} t interval, errors clustered by participant"
        rows[_against(*pair)] = estimate_row(*odds[:3], **common, method=words, reason=odds.reason)
    if not rows:
        return estimate_table({"no pair": estimate_row(**common, method=method, reason=reason)}, "pair", {})
    recorded = rating == main_turn_rating(study)["estimate"]
    return estimate_table(rows, "pair", _keys(study) if recorded else None)


def _keys(study: Study) -> dict[str, str]:
    """Key of each pair's odds ratio, by the row's name."""
    pairs = condition_pairs(study)
    return {_against(*pairs[name]): f"condition_odds_ratio_{pair}" for name, pair in pairs_in_keys(study).items()}


def _odds_ratio(fit: CumulativeLogit, present: Sequence[str], first: str, second: str, confidence: float) -> Estimate:
    """Odds ratio of two conditions; the model's reference is the first condition that is present."""
    contrast = np.array([(one == first) - float(one == second) for one in present[1:]])
    log, error = contrast @ fit.coefficients, np.sqrt(contrast @ fit.covariance @ contrast)
    reason = ParticipantBootstrap.too_few(range(fit.participants))
    if not reason and fit.participants < 2 * len(present):
        reason = f"no interval: {count_of(fit.participants, 'participant')}: too few for clustered errors"
    half = np.nan if reason else error * stats.t.ppf((1 + confidence) / 2, fit.participants - 1)
    return Estimate(*np.exp([log, log - half, log + half]), reason)


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


def compare_models(study: Study, rating: str = "overall", confidence: float = 0.95) -> pd.DataFrame:
    """Return each pair of conditions by both models, in words, with whether they agree on which is higher.

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
    """Return the order of the conditions by both models, for the overall rating and each dimension of turns.

    Returns
    -------
    DataFrame
        One row per rating: ``mixed model``, ``cumulative logit`` (names of the conditions from the highest to the
        lowest, or why there is no order), ``same order`` (yes, no, or "").
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
    """Return for how many ratings both models put the conditions in the same order: a value for a record.

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
        "key": "ordinal_same_order",
        "n": len(known),
        "unit": "ratings",
        "method": "ratings with the same order by mixed model and cumulative logit",
    }
    if known.empty:
        return value | {"estimate": None, "reason": "no rating has an order of conditions by both models"}
    return value | {"estimate": int((known["same order"] == "yes").sum())}


check_arguments(globals())
