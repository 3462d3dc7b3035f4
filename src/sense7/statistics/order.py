"""Order where a result depends on it: rows in the order of the data, not of the ids; numbers without rounding noise."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:  # the ledger compares with limits, and reads no table
    import pandas as pd


def rounded(values):
    """Return computed values as ranks, ties, median splits, largest ones and thresholds compare them: to nine decimals.

    Two means that are equal differ in their last bits when their rows stand in another order. Nothing that is published
    may depend on that. The labels and metrics of the authors are excepted: they are as the authors compute them.

    Examples
    --------
    >>> 0.1 + 0.2 > 0.3, bool(rounded(0.1 + 0.2) > rounded(0.3))
    (True, False)
    """
    import numpy as np  # here, since a build that changes nothing compares no number

    return np.round(values, 9)


def in_order_of_appearance(
    frame: "pd.DataFrame", group: str, within: str | None = None
) -> "pd.DataFrame":
    """Return the rows of each group together, groups in the order of their first rows, sorted by a column if given.

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"who": ["b", "a", "b"], "turn": [2, 1, 1]})
    >>> in_order_of_appearance(frame, "who", "turn").to_numpy().tolist()
    [['b', 1], ['b', 2], ['a', 1]]
    """
    import numpy as np

    group_by_appearance = frame[group].factorize()[0]
    sort_keys = [group_by_appearance]
    if within is not None:
        sort_keys.insert(0, frame[within].to_numpy())  # np.lexsort sorts by the last key first
    return frame.iloc[np.lexsort(sort_keys)]
