"""Whether the ratings after a conversation are a judgment of the whole, or those of its turns entered twice.

Some data sets have one rating of a conversation, which stands at its last turn and after it. What compares turns with
the whole would then compare numbers with themselves.
"""

from functools import lru_cache

import numpy as np

from sense7.study import Study
from sense7.taxonomy import DIMENSION_NAMES

SUMMARIES_OF_TURNS = ("first", "last", "mean", "min", "max")
"""What of a conversation's turns the ratings after it are compared with."""

MOST_THAT_DIFFER = 0.05
"""Largest share of conversations whose ratings after them may differ from those of their turns."""


@lru_cache(maxsize=4)  # a multiverse asks for every variant of one study
def why_no_judgment_of_the_whole(study: Study) -> str:
    """Why ratings after the conversation can't be compared with those of its turns; "" if they can.

    They can't if, in nearly all conversations, each rating afterwards equals the same summary of the turns' ratings of
    its dimension: of dimensions that have both, and unless all these ratings are one level.

    Examples
    --------
    >>> import sense7 as s7
    >>> why_no_judgment_of_the_whole(s7.load("synthetic"))
    ''
    """
    dimensions = list(DIMENSION_NAMES)
    conversations = study.conversations.set_index("conversation")
    post_task = conversations[[f"post_{name}" for name in dimensions]].astype(float)
    post_task.columns = dimensions
    turns = study.turns.sort_values("turn", kind="stable").groupby("conversation")[dimensions]
    number_of_ratings = turns.count().reindex(post_task.index, fill_value=0)
    has_both = post_task.notna() & number_of_ratings.gt(0)
    is_compared = has_both.any(axis=1)
    levels = post_task.to_numpy()[has_both]
    if not len(levels) or np.var(levels) <= 1e-9:
        return ""
    shares_repeated = []
    for summary in SUMMARIES_OF_TURNS:
        of_turns = turns.agg(summary).astype(float).reindex(post_task.index)
        is_equal = (post_task - of_turns).abs().lt(1e-9)
        is_repeated = (is_equal | ~has_both).all(axis=1)
        shares_repeated.append(is_repeated[is_compared].mean())
    if max(shares_repeated) >= 1 - MOST_THAT_DIFFER:
        return (
            "the ratings after the conversation are the same as those of its turns, "
            "so that they would be compared with themselves"
        )
    return ""
