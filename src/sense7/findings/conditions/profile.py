"""Test of dimension by condition: whether a condition gains more on one dimension than on another.

What a condition adds to every dimension alike is its level, which :mod:`sense7.findings.conditions.means` compares.
Here the level is subtracted: what remains of a dimension in a condition is their interaction.
"""

from typing import NamedTuple

import numpy as np
import pandas as pd

from sense7.arguments import check_arguments
from sense7.estimators.bootstrap import ParticipantBootstrap
from sense7.estimators.estimates import Estimate, estimate_row, estimate_table
from sense7.findings.conditions.pairs import no_pairs, ordered_conditions
from sense7.findings.measures import conversation_ratings
from sense7.study import Study

__all__ = ["DimensionByCondition", "dimension_by_condition"]

FEWEST = 5
"""Smallest number of conversations with which a condition is compared."""

_POINTS = "points (levels from 1 to 5)"


class DimensionByCondition(NamedTuple):
    """The test of dimension by condition.

    Attributes
    ----------
    test : DataFrame
        Table of estimates: ``interaction`` (p value that no dimension deviates in any condition) and
        ``largest deviation`` (points, of the dimension and condition that ``where`` names).
    where : dict
        Dimension and condition of the largest deviation: a value for a record, whose estimate is their names.
    deviations : DataFrame
        Table of estimates with a row for each dimension and condition: the interaction, in points.
    """

    test: pd.DataFrame
    where: dict
    deviations: pd.DataFrame


def dimension_by_condition(study: Study, bootstrap: ParticipantBootstrap) -> DimensionByCondition:
    r"""Return the test of dimension by condition.

    With :math:`m_{dc}` the mean over the conversations of condition c of their mean rating on dimension d, and dots for
    means over dimensions or conditions, each counting the same:

    .. math:: \text{deviation}_{dc} = m_{dc} - m_{d\cdot} - m_{\cdot c} + m_{\cdot\cdot}

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
    DimensionByCondition
        Only conversations with a level on every dimension that anybody rated count, so that all dimensions rest on the
        same ones; conditions with fewer than five of these are left out.

    References
    ----------
    Westfall, P. H., & Young, S. S. (1993). Resampling-based multiple testing (the largest of several statistics).
    """
    frame, names, reason = _complete_conversations(study)
    conditions = [name for name in ordered_conditions(study) if (frame["condition"] == name).any()]
    method = "deviation of a dimension in a condition from both their means"
    if reason:
        none = estimate_row(n=len(frame), unit=_POINTS, method=method, reason=reason)
        return _found(none | {"unit": "p value"}, none, estimate_table({}, "dimension, condition"))
    groups = np.column_stack([frame["condition"] == name for name in conditions]).astype(float)
    values = groups[:, :, None] * np.column_stack([np.ones(len(frame)), frame[names]])[:, None, :]
    estimates = _deviations(values.sum(axis=0))
    resampled = bootstrap.distribution(_deviations, values, frame["participant"])
    rows = {}
    for i, dimension in enumerate(names):
        for j, condition in enumerate(conditions):
            interval = bootstrap.interval(resampled[:, j, i], frame["participant"])
            common = {"n": groups[:, j].sum(), "unit": _POINTS, "method": method}
            rows[f"{dimension}, {condition}"] = bootstrap.row(Estimate(estimates[j, i], *interval), **common)
    table = estimate_table(rows, "dimension, condition")
    return _test(estimates, resampled, table, len(frame), frame["participant"], bootstrap)


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


def _deviations(sums: np.ndarray) -> np.ndarray:
    """(..., conditions, 1 + dimensions) -> (..., conditions, dimensions)."""
    means = sums[..., 1:] / sums[..., :1]
    profiles = means - means.mean(axis=-2, keepdims=True)
    return profiles - profiles.mean(axis=-1, keepdims=True)


def _test(
    deviations: np.ndarray,
    resampled: np.ndarray,
    table: pd.DataFrame,
    n: int,
    participants: pd.Series,
    bootstrap: ParticipantBootstrap,
) -> DimensionByCondition:
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
        return _found(estimate_row(**common, reason=reason), largest, table)
    observed = np.abs(deviations / errors).max()
    by_chance = np.abs((known - deviations) / errors).max(axis=(1, 2))
    p = (np.count_nonzero(by_chance >= observed - 1e-12) + 1) / (len(known) + 1)
    return _found(estimate_row(p, **common), largest, table)


def _found(interaction: dict, largest: dict, deviations: pd.DataFrame) -> DimensionByCondition:
    """The test with its keys, and the names of the largest deviation."""
    keys = {"interaction": "condition_by_dimension_p", "largest deviation": "condition_by_dimension_largest"}
    where = {"n": int(largest["n"]), "unit": "dimension, condition", "method": "largest deviation in size"}
    names = None if deviations.empty else str(deviations["estimate"].abs().idxmax())
    where |= {
        "key": "condition_by_dimension_where",
        "estimate": names,
        "reason": largest["reason"] if not names else "",
    }
    test = estimate_table({"interaction": interaction, "largest deviation": largest}, "test", keys)
    return DimensionByCondition(test, where, deviations)


check_arguments(globals())
