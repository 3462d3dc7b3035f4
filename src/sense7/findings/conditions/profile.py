"""Profile of each condition over the dimensions, and the test of dimension by condition.

What a condition adds to every dimension alike is its level, which :mod:`sense7.findings.conditions.means` compares.
Here the level is subtracted: what remains of a dimension in a condition is their interaction.
"""

import itertools
from collections.abc import Callable

import numpy as np
import pandas as pd

from sense7.arguments import check_arguments
from sense7.estimators.bootstrap import ParticipantBootstrap
from sense7.estimators.estimates import Estimate, estimate_row, estimate_table, safe_names
from sense7.findings.conditions.pairs import no_pairs, ordered_conditions
from sense7.findings.measures import conversation_ratings
from sense7.study import Study
from sense7.taxonomy import DIMENSION_NAMES

__all__ = ["ConditionProfile", "condition_profile", "largest_deviation"]

FEWEST = 5
"""Smallest number of conversations with which a condition has a profile."""

_POINTS = "points (levels from 1 to 5)"


class ConditionProfile(dict):
    """Profiles of the conditions: condition -> table of estimates with a row for each dimension.

    Attributes
    ----------
    test : DataFrame
        Table of estimates: ``interaction`` (p value that no dimension deviates in any condition) and
        ``largest deviation`` (points, of the dimension and condition that its method names).
    deviations : DataFrame
        Table of estimates with a row for each dimension and condition: the interaction, in points.
    """

    def __init__(self, profiles: dict, test: pd.DataFrame, deviations: pd.DataFrame):
        super().__init__(profiles)
        self.test, self.deviations = test, deviations


def largest_deviation(profile: ConditionProfile) -> dict:
    """Return dimension and condition of the largest deviation: a value for a record, whose estimate is their names.

    Parameters
    ----------
    profile : ConditionProfile
        As :func:`condition_profile` returns it.
    """
    largest = profile.test.loc["largest deviation"]
    common = {"n": int(largest["n"]), "unit": "dimension, condition", "method": "largest deviation in size"}
    common["key"] = "condition_by_dimension_where"
    if profile.deviations.empty:
        return common | {"estimate": None, "reason": largest["reason"]}
    return common | {"estimate": str(profile.deviations["estimate"].abs().idxmax()), "reason": ""}


def condition_profile(study: Study, bootstrap: ParticipantBootstrap) -> ConditionProfile:
    r"""Return the profile of each condition over the dimensions, and the test of dimension by condition.

    With :math:`m_{dc}` the mean over the conversations of condition c of their mean rating on dimension d, and dots for
    means over dimensions or conditions, each counting the same:

    .. math:: \text{profile}_{dc} = m_{dc} - m_{d\cdot}, \quad
              \text{deviation}_{dc} = m_{dc} - m_{d\cdot} - m_{\cdot c} + m_{\cdot\cdot}

    The test asks whether any deviation differs from zero. Its statistic is the largest
    :math:`|\text{deviation}_{dc}|` in units of its bootstrap standard error; p is the share of bootstrap resamples in
    which the largest distance of a deviation from its estimate, in the same units, is at least as large. So it allows
    for the number of dimensions and conditions, and for what a participant's ratings have in common.

    Parameters
    ----------
    study : Study
        The data.
    bootstrap : ParticipantBootstrap
        Resamples of participants for intervals and test.

    Returns
    -------
    ConditionProfile
        Condition -> table of estimates (points; n conversations), with ``test`` and ``deviations``. Only conversations
        with a level on every dimension that anybody rated count, so that all dimensions rest on the same ones;
        conditions with fewer than five of these are left out.

    References
    ----------
    Westfall, P. H., & Young, S. S. (1993). Resampling-based multiple testing (the largest of several statistics).
    """
    frame, names, reason = _complete_conversations(study)
    conditions = [name for name in ordered_conditions(study) if (frame["condition"] == name).any()]
    method = "mean of the conversations minus the dimension's mean over conditions"
    if reason:
        none = estimate_row(n=len(frame), unit=_POINTS, method=method, reason=reason)
        profiles = {"no profile": estimate_table(dict.fromkeys(DIMENSION_NAMES, none), "dimension", {})}
        test = _test_table(none | {"unit": "p value"}, none)
        return ConditionProfile(profiles, test, estimate_table({}, "dimension, condition"))
    groups = np.column_stack([frame["condition"] == name for name in conditions]).astype(float)
    values = groups[:, :, None] * np.column_stack([np.ones(len(frame)), frame[names]])[:, None, :]
    means = _means(values.sum(axis=0))
    resampled = bootstrap.distribution(_means, values, frame["participant"])

    def rows(statistic: Callable, condition: int, method: str) -> list[dict]:
        """One row of estimates for each dimension in a condition."""
        estimates, draws = statistic(means)[condition], statistic(resampled)[:, condition]
        common = {"n": groups[:, condition].sum(), "unit": _POINTS, "method": method}
        return [
            bootstrap.row(Estimate(estimate, *bootstrap.interval(draws[:, i], frame["participant"])), **common)
            for i, estimate in enumerate(estimates)
        ]

    safe, profiles, deviations = safe_names(study.conditions), {}, []
    for i, name in enumerate(conditions):
        keys = {dimension: f"condition_profile_{safe[name]}_{dimension}" for dimension in names}
        profiles[name] = estimate_table(dict(zip(names, rows(_profiles, i, method), strict=True)), "dimension", keys)
        deviations.append(rows(_deviations, i, "deviation of a dimension in a condition from both their means"))
    index = [f"{dimension}, {name}" for dimension in names for name in conditions]
    by_dimension = itertools.chain.from_iterable(zip(*deviations, strict=True))
    table = estimate_table(dict(zip(index, by_dimension, strict=True)), "dimension, condition")
    test = _test(_deviations(means), _deviations(resampled), table, len(frame), frame["participant"], bootstrap)
    return ConditionProfile(profiles, test, table)


def _complete_conversations(study: Study) -> tuple[pd.DataFrame, list[str], str]:
    """Conversations with every dimension rated, of conditions that have enough; the dimensions; why no comparison."""
    names = study.rated_dimensions
    frame = conversation_ratings(study)
    frame = frame[frame["condition"].notna() & frame["participant"].notna()]
    frame = frame[frame[names].notna().all(axis=1)] if names else frame.iloc[:0]
    frame = frame[frame.groupby("condition")["condition"].transform("size") >= FEWEST]
    reason = no_pairs(study)
    if not reason and len(names) < 2:
        reason = "fewer than two dimensions were rated in this data set"
    elif not reason and frame["condition"].nunique() < 2:
        reason = "fewer than two conditions have conversations in which every dimension was rated"
    return frame, names, reason


def _means(sums: np.ndarray) -> np.ndarray:
    """(..., conditions, 1 + dimensions) -> (..., conditions, dimensions)."""
    return sums[..., 1:] / sums[..., :1]


def _profiles(means: np.ndarray) -> np.ndarray:
    return means - means.mean(axis=-2, keepdims=True)


def _deviations(means: np.ndarray) -> np.ndarray:
    profiles = _profiles(means)
    return profiles - profiles.mean(axis=-1, keepdims=True)


def _test(
    deviations: np.ndarray,
    resampled: np.ndarray,
    table: pd.DataFrame,
    n: int,
    participants: pd.Series,
    bootstrap: ParticipantBootstrap,
) -> pd.DataFrame:
    """P value of the largest deviation in standard errors, and that deviation."""
    method = "largest deviation of a dimension in a condition, in bootstrap standard errors"
    common = {"n": n, "unit": "p value", "method": method}
    known = resampled[np.isfinite(resampled).all(axis=(1, 2))]
    errors = known.std(axis=0) if len(known) > 1 else np.zeros_like(deviations)
    largest = table.loc[table["estimate"].abs().idxmax()]
    largest = largest.to_dict() | {"method": f"{largest['method']}; the largest of all"}
    reason = bootstrap.too_few(participants).replace("no interval", "no test")
    if not reason and not (errors > 1e-9).all():
        reason = "no test: a deviation is the same in every resample"
    if not reason and len(known) < len(resampled) * 0.95:
        reason = "no test: too many resamples lack a condition"
    if reason:
        return _test_table(estimate_row(**common, reason=reason), largest)
    observed = np.abs(deviations / errors).max()
    by_chance = np.abs((known - deviations) / errors).max(axis=(1, 2))
    p = (np.count_nonzero(by_chance >= observed - 1e-12) + 1) / (len(known) + 1)
    return _test_table(estimate_row(p, **common), largest)


def _test_table(interaction: dict, largest: dict) -> pd.DataFrame:
    keys = {"interaction": "condition_by_dimension_p", "largest deviation": "condition_by_dimension_largest"}
    return estimate_table({"interaction": interaction, "largest deviation": largest}, "test", keys)


check_arguments(globals())
