"""Whether neighboring turns of a conversation resemble each other more than its turns in any order."""

import numpy as np
import pandas as pd

from sense7.arguments import check_arguments
from sense7.estimators.bootstrap import ParticipantBootstrap
from sense7.estimators.estimates import estimate_row, estimate_table
from sense7.findings.measures import turn_levels
from sense7.study import Study

__all__ = ["lag_1_correlation"]

_KEYS = {"as rated minus permuted order": "lag_1_minus_permuted_order"}
"""Row of :func:`lag_1_correlation` -> key."""


def lag_1_correlation(study: Study, bootstrap: ParticipantBootstrap) -> pd.DataFrame:
    r"""Return the lag-1 correlation of the turns within conversations, and that in permuted order.

    .. math:: r = \frac{\sum_c \sum_t z_{ct} z_{c,t+1}}{\sum_c K_c S_c / n_c}, \quad
              r_0 = -\frac{\sum_c K_c S_c / (n_c (n_c - 1))}{\sum_c K_c S_c / n_c}

    with z the level of a turn minus the mean of its conversation, n the rated turns of a conversation, K its pairs of
    neighboring rated turns and :math:`S = \sum_t z_t^2`. The second is the mean of the first over all orders of the
    levels among a conversation's rated turns: deviations from their own mean add up to zero, so that two of them have a
    negative correlation of :math:`-1/(n - 1)` in any order.

    Returns
    -------
    DataFrame
        Rows *as rated*, *permuted order* and *as rated minus permuted order* (above zero: neighbors resemble each
        other): estimate, low, high, n (pairs of neighboring turns), unit, method, reason.

    Notes
    -----
    Checked against brute force over all orders.
    """
    turns, words = turn_levels(study)
    turns = turns.sort_values(["turn"], kind="stable")
    groups = turns.groupby("conversation", sort=False)
    z = turns["level"] - groups["level"].transform("mean")
    neighbor = z.groupby(turns["conversation"], sort=False).shift(-1)
    follows = groups["turn"].shift(-1) == turns["turn"] + 1
    frame = pd.DataFrame(
        {
            "conversation": turns["conversation"],
            "participant": turns["participant"],
            "n": 1.0,
            "pairs": follows.astype(float),
            "squares": z**2,
            "products": (z * neighbor).where(follows, 0.0),
        }
    )
    talks = frame.groupby(["conversation", "participant"], sort=False).sum().reset_index("participant")
    talks = talks[talks["pairs"] > 0]
    n, square = talks["n"], talks["pairs"] * talks["squares"] / talks["n"]
    values = np.column_stack([talks["products"], -square / (n - 1), square])
    statistics = {
        "as rated": lambda sums: sums[..., 0] / sums[..., 2],
        "permuted order": lambda sums: sums[..., 1] / sums[..., 2],
        "as rated minus permuted order": lambda sums: (sums[..., 0] - sums[..., 1]) / sums[..., 2],
    }
    common = {"n": int(talks["pairs"].sum()), "unit": "correlation"}
    reason = "" if len(talks) else "no conversation has two rated turns after each other"
    reason = reason or ("" if square.sum() > 1e-9 else "the turns of each conversation are rated alike")
    rows = {}
    for name, statistic in statistics.items():
        method = f"lag-1 correlation of the {words} within conversations, {name}"
        if reason:
            rows[name] = estimate_row(**common, method=method, reason=reason)
        else:
            estimate = bootstrap.estimate(statistic, values, talks["participant"])
            rows[name] = bootstrap.row(estimate, **common, method=method)
    return estimate_table(rows, "order of the turns", _KEYS)


check_arguments(globals())
