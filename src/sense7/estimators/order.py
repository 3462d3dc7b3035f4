"""The order of rows where a result depends on it: that of the data, never that of the ids."""

import numpy as np
import pandas as pd

__all__ = ["in_order_of_appearance"]


def in_order_of_appearance(frame: pd.DataFrame, group: str, within: str | None = None) -> pd.DataFrame:
    """Rows of each group together, groups in the order of their first rows.

    Folds, permutations and resamples that follow this order stay the same when participants or conversations are
    given other ids.

    Parameters
    ----------
    frame : DataFrame
        The rows.
    group : str
        Column with the group of each row, such as the conversation.
    within : str, optional
        Column by which the rows of a group are sorted; without it they keep their order.

    Examples
    --------
    >>> frame = pd.DataFrame({"who": ["b", "a", "b"], "turn": [2, 1, 1]})
    >>> in_order_of_appearance(frame, "who", "turn").to_numpy().tolist()
    [['b', 1], ['b', 2], ['a', 1]]
    """
    codes = pd.factorize(frame[group])[0]
    keys = (codes,) if within is None else (frame[within].to_numpy(), codes)
    return frame.iloc[np.lexsort(keys)]
