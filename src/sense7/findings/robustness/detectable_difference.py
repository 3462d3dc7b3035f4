"""Smallest differences that a design can detect."""

import numpy as np
import pandas as pd
from scipy import stats

from sense7.arguments import check_arguments
from sense7.estimators.bootstrap import ParticipantBootstrap
from sense7.estimators.estimates import estimate_row, estimate_table
from sense7.findings.conditions.means import condition_differences
from sense7.findings.robustness.headlines import HEADLINES, best_and_worst, multiverse
from sense7.study import Study

__all__ = ["headline_estimates", "smallest_detectable"]

_DETECTABLE = {
    "best minus worst condition": "smallest_detectable_condition_difference",
    "poor turn, Cohen's d": "smallest_detectable_poor_turn_d",
}
"""Rows of :func:`headline_estimates` -> keys of their smallest detectable differences."""


def headline_estimates(study: Study, bootstrap: ParticipantBootstrap) -> pd.DataFrame:
    """Return the headline estimates whose intervals show what the design can detect.

    Parameters
    ----------
    study : Study
        The data.
    bootstrap : ParticipantBootstrap
        Bootstrap resamples of participants for the intervals.

    Returns
    -------
    DataFrame
        One row for each headline, as the pages of these statistics compute them; without keys, since those pages record
        them.
    """
    poor = multiverse(study, bootstrap, "poor_turn_d", first_only=True).loc[1]
    poor = poor.drop(list(HEADLINES["poor_turn_d"].choices)).to_dict()
    rows = [_extremes(study, bootstrap), poor]
    rows = {name: row | {"key": ""} for name, row in zip(_DETECTABLE, rows, strict=True)}
    return estimate_table(rows, "statistic")


def _extremes(study: Study, bootstrap: ParticipantBootstrap) -> dict:
    """Difference of the best and the worst condition."""
    pair, table = best_and_worst(study), condition_differences(study, bootstrap)
    for first, second, sign in ((*pair, 1), (*pair[::-1], -1)) if pair else ():
        name = f"{first} minus {second}"
        if name in table.index:
            row = table.loc[name].to_dict()
            low, high = sorted((sign * row["low"], sign * row["high"]))
            return row | {"estimate": sign * row["estimate"], "low": low, "high": high}
    reason = "there are no two conditions to compare"
    return estimate_row(n=0, unit="points", method="difference of means over conversations", reason=reason)


def smallest_detectable(
    estimates: pd.DataFrame, *, confidence: float = 0.95, power: float = 0.8, level: float = 0.05
) -> pd.DataFrame:
    r"""Return the smallest true difference that a test of this design would detect with a given power.

    .. math:: (z_{1 - a/2} + z_{b}) \cdot SE, \quad
              SE = \frac{\text{high} - \text{low}}{2 z_{1 - (1 - \gamma)/2}}

    with a the level of a two-sided test, b the power, and :math:`\gamma` the confidence of the intervals.
    At the defaults it is 2.80 standard errors. The standard error is that of the resampled
    participants, from the interval's width: so the design is judged with all the
    dependence that its data have, and not by the estimate.

    Parameters
    ----------
    estimates : DataFrame
        Table of estimates with participant-bootstrap intervals.
    confidence : float
        Of these intervals, between 0 and 1.
    power, level : float
        Of the test, between 0 and 1.

    Returns
    -------
    DataFrame
        One row for each of ``estimates``, in its unit; no intervals. Missing where an interval is.

    References
    ----------
    Bloom, H. S. (1995). Minimum detectable effects. Evaluation Review 19, 547-556.

    Examples
    --------
    >>> row = estimate_row(0.5, 0.304, 0.696, n=10, unit="levels", method="mean")
    >>> table = smallest_detectable(estimate_table({"difference": row}, "name"))
    >>> round(float(table.loc["difference", "estimate"]), 3)
    0.28
    """
    factor = stats.norm.ppf(1 - level / 2) + stats.norm.ppf(power)
    per_error = 2 * stats.norm.ppf((1 + confidence) / 2)
    method = (
        f"{factor:.2f} standard errors (power {power:.0%}, two-sided level {level:.0%}); "
        "standard error from the width of the participant-bootstrap interval"
    )
    rows = {}
    for name, row in estimates.iterrows():
        width = row["high"] - row["low"]
        reason = "" if np.isfinite(width) and width > 0 else row["reason"] or "the interval has no width"
        rows[name] = estimate_row(
            np.nan if reason else factor * width / per_error,
            n=row["n"],
            unit=row["unit"],
            method=method,
            reason=reason,
        )
    return estimate_table(rows, str(estimates.index.name or "statistic"), _DETECTABLE)


check_arguments(globals())
