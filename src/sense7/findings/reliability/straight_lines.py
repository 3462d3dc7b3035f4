"""Turns of which all dimensions were given one level, and alpha without the participants who do so most."""

import numpy as np
import pandas as pd

from sense7.arguments import check_arguments
from sense7.estimators.alpha import alpha_row
from sense7.estimators.bootstrap import ParticipantBootstrap, ratio
from sense7.estimators.estimates import estimate_row, estimate_table
from sense7.taxonomy import LEVELS

__all__ = ["straight_lining"]

FEWEST_RATINGS = 5
"""Ratings of a turn that must be of one level to count as a straight line."""

_KEYS = {
    "one level for all dimensions": "straight_lined",
    "of these, below very good": "straight_lined_below_top",
    "alpha without the quarter that does so most": "alpha_turn_without_straight_liners",
}
"""Rows of :func:`straight_lining` -> key."""


def straight_lining(turns: pd.DataFrame, bootstrap: ParticipantBootstrap) -> pd.DataFrame:
    r"""Return how often all dimensions of a turn have one level, and alpha without the participants who do so most.

    A turn counts if it has at least five ratings. With :math:`s_p` the share of participant p's turns that have one
    level, alpha is that of the participants with :math:`s_p \le Q_{3/4}(s)`: at most a quarter is left out. To leave
    out the turns themselves would lower alpha whatever the cause, because these are the turns in which ratings agree.

    Parameters
    ----------
    turns : DataFrame, shape (turns, dimensions)
        As :func:`~sense7.findings.measures.turn_ratings` returns it.
    bootstrap : ParticipantBootstrap
        Bootstrap resamples of participants. The quarter that is left out of alpha is the same in all of them.

    Returns
    -------
    DataFrame
        Share of the turns with five or more ratings that have one level; share of these below the top level; alpha
        per turn, pairwise, of the other participants (n counts their turns).

    Examples
    --------
    >>> ratings = pd.DataFrame([[5.0] * 5, [4.0] * 5, [5, 4, 5, 4, 5], [5, 5, 5, 5, np.nan]], index=list("ppqq"))
    >>> straight_lining(ratings, ParticipantBootstrap(["p", "q"], 100, 1))["estimate"].iloc[:2].round(3).tolist()
    [0.667, 0.5]
    """
    enough = turns[turns.notna().sum(axis=1) >= FEWEST_RATINGS]
    level = enough.max(axis=1)
    straight = (level == enough.min(axis=1)).to_numpy()
    below = straight & (level < len(LEVELS)).to_numpy()
    shares = {"one level for all dimensions": (straight, np.ones(len(enough), dtype=bool))}
    shares["of these, below very good"] = (below, straight)
    unit = {"one level for all dimensions": "share of turns", "of these, below very good": "share of such turns"}
    rows = {}
    for name, (counted, of) in shares.items():
        method = f"turns with at least {FEWEST_RATINGS} ratings of dimensions, all of one level"
        if not of.any():
            reason = f"no turn has {FEWEST_RATINGS} ratings" if enough.empty else "no turn has one level throughout"
            rows[name] = estimate_row(n=0, unit=unit[name], method=method, reason=reason)
            continue
        values = np.column_stack([counted, of]).astype(float)[of]
        share = bootstrap.estimate(ratio, values, enough.index[of])
        rows[name] = bootstrap.row(share, n=int(of.sum()), unit=unit[name], method=method)
    own = pd.Series(straight, index=enough.index, dtype=float).groupby(level=0).mean()
    most = own.index[own > own.quantile(0.75)]
    alpha = alpha_row(turns[~turns.index.isin(most)], bootstrap)
    alpha["method"] += f"; without {len(most)} of {turns.index.nunique()} participants"
    rows["alpha without the quarter that does so most"] = alpha
    return estimate_table(rows, "straight-lining", _KEYS)


check_arguments(globals())
