"""Whether conditions differ in some dimensions more than in others: the profile of each condition, and its test.

What a condition adds to every dimension alike is its level, which :mod:`sense7.findings.conditions.means` compares.
Here it is taken off: what is left of a dimension in a condition is their interaction.
"""

import numpy as np
import pandas as pd

from sense7.arguments import check_arguments
from sense7.estimators.bootstrap import ParticipantBootstrap
from sense7.estimators.estimates import estimate_row, estimate_table
from sense7.findings.conditions.pairs import no_pairs, ordered_conditions
from sense7.findings.measures import conversation_ratings
from sense7.findings.naming import safe_names
from sense7.study import Study
from sense7.taxonomy import DIMENSION_NAMES

__all__ = ["ConditionProfile", "condition_profile", "profile_keys", "where"]

FEWEST = 5
"""Conversations of a condition, at least, for it to have a profile."""


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


def profile_keys(study: Study, condition: str) -> dict[str, str]:
    """Key under which each dimension's row of a condition's profile is recorded; none for what is no condition.

    Examples
    --------
    >>> frame = pd.DataFrame({"conversation": ["C1"], "participant": ["P1"], "condition": ["a b"]})
    >>> study = Study("mine", frame, frame, frame, participants=None, columns=pd.DataFrame())
    >>> profile_keys(study, "a b")["Interest"]
    'condition_profile_a-b_Interest'
    """
    safe = safe_names(study.conditions)
    if condition not in safe:
        return {}
    return {name: f"condition_profile_{safe[condition]}_{name}" for name in DIMENSION_NAMES}


def where(profile: ConditionProfile) -> dict:
    """Dimension and condition of the largest deviation: a value for a record, whose estimate is their names.

    Parameters
    ----------
    profile : ConditionProfile
        As :func:`condition_profile` returns it.
    """
    largest = profile.test.loc["largest deviation"]
    common = {"n": int(largest["n"]), "unit": "dimension, condition", "method": "largest deviation in size"}
    if profile.deviations.empty:
        return common | {"estimate": None, "reason": largest["reason"]}
    return common | {"estimate": str(profile.deviations["estimate"].abs().idxmax()), "reason": ""}


def condition_profile(study: Study, bootstrap: ParticipantBootstrap) -> ConditionProfile:
    r"""Profile of each condition over the dimensions, and the test of dimension by condition.

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
    names = study.rated_dimensions
    frame = conversation_ratings(study)
    frame = frame[frame["condition"].notna() & frame["participant"].notna()]
    frame = frame[frame[names].notna().all(axis=1)] if names else frame.iloc[:0]
    counts = frame["condition"].value_counts()
    conditions = [name for name in ordered_conditions(study) if counts.get(name, 0) >= FEWEST]
    frame = frame[frame["condition"].isin(conditions)]
    unit = "points (levels from 1 to 5)"
    method = "mean of the conversations minus the dimension's mean over conditions"
    reason = ""
    if no_pairs(study):
        reason = no_pairs(study)
    elif len(names) < 2:
        reason = "fewer than two dimensions were rated in this data set"
    elif len(conditions) < 2:
        reason = "fewer than two conditions have conversations in which every dimension was rated"
    if reason:
        none = estimate_row(n=len(frame), unit=unit, method=method, reason=reason)
        profiles = {"no profile": estimate_table(dict.fromkeys(DIMENSION_NAMES, none), "dimension")}
        rows = {"interaction": none | {"unit": "p value"}, "largest deviation": none}
        return ConditionProfile(profiles, estimate_table(rows, "test"), estimate_table({}, "dimension, condition"))
    groups = np.column_stack([frame["condition"] == name for name in conditions]).astype(float)
    values = groups[:, :, None] * np.column_stack([np.ones(len(frame)), frame[names]])[:, None, :]
    means = _means(values.sum(axis=0))
    resampled = bootstrap.distribution(_means, values, frame["participant"])
    parts = [(_profiles(means), _profiles(resampled)), (_deviations(means), _deviations(resampled))]
    n = dict(zip(conditions, groups.sum(axis=0).astype(int), strict=True))

    def row(part: int, condition: int, dimension: int, how: str) -> dict:
        estimate, draws = parts[part][0][condition, dimension], parts[part][1][:, condition, dimension]
        found = (estimate, *bootstrap.interval(draws, frame["participant"]))
        return bootstrap.row(found, n=n[conditions[condition]], unit=unit, method=how)

    profiles = {
        name: estimate_table(
            {dimension: row(0, place, column, method) for column, dimension in enumerate(names)}, "dimension"
        )
        for place, name in enumerate(conditions)
    }
    how = "deviation of a dimension in a condition from both their means"
    deviations = {
        f"{dimension}, {name}": row(1, place, column, how)
        for column, dimension in enumerate(names)
        for place, name in enumerate(conditions)
    }
    table = estimate_table(deviations, "dimension, condition")
    return ConditionProfile(profiles, _test(*parts[1], table, len(frame), frame["participant"], bootstrap), table)


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
    rows = {"largest deviation": largest.to_dict() | {"method": f"{largest['method']}; the largest of all"}}
    reason = bootstrap.too_few(participants).replace("no interval", "no test")
    if not reason and not (errors > 1e-9).all():
        reason = "no test: a deviation is the same in every resample"
    if not reason and len(known) < len(resampled) * 0.95:
        reason = "no test: too many resamples lack a condition"
    if reason:
        return estimate_table({"interaction": estimate_row(**common, reason=reason)} | rows, "test")
    found = np.abs(deviations / errors).max()
    by_chance = np.abs((known - deviations) / errors).max(axis=(1, 2))
    p = (np.count_nonzero(by_chance >= found - 1e-12) + 1) / (len(known) + 1)
    return estimate_table({"interaction": estimate_row(p, **common)} | rows, "test")


check_arguments(globals())
