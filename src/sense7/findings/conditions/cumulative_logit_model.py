"""Conditions compared by cumulative logit models: odds ratios of a higher rating."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
from scipy import stats

from sense7.arguments import check_arguments
from sense7.estimators.bootstrap import ParticipantBootstrap
from sense7.estimators.cumulative_logit import CumulativeLogit, fit_cumulative_logit, separated
from sense7.estimators.estimates import Estimate, estimate_row, estimate_table
from sense7.findings.conditions.pairs import condition_pairs, no_pairs, ordered_conditions, pairs_in_keys
from sense7.study import Study
from sense7.taxonomy import DIMENSION_NAMES
from sense7.terminal import count_of

__all__ = ["main_turn_rating", "odds_ratios"]

UNIT = "odds ratio"


def main_turn_rating(study: Study) -> str:
    """Return the rating of turns by which conditions are compared.

    Returns
    -------
    str
        ``overall`` if any turn has an overall rating, otherwise the dimension rated most often.
    """
    if study.turns["overall"].notna().any():
        return "overall"
    return str(study.turns[list(DIMENSION_NAMES)].notna().sum().idxmax())


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
    recorded = rating == main_turn_rating(study)
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


check_arguments(globals())
