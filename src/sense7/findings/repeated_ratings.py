"""Whether the ratings after a conversation are a judgment of the whole, or those of its turns entered twice.

Some data sets have one rating of a conversation, which stands at its last turn and after it. What compares turns with
the whole would then compare numbers with themselves.
"""

from collections.abc import Mapping
from functools import lru_cache

import pandas as pd

from sense7.study import Study
from sense7.taxonomy import DIMENSION_NAMES

SUMMARIES_OF_TURNS = ("first", "last", "mean", "min", "max")
"""What of a conversation's turns the ratings after it are compared with."""

MOST_THAT_DIFFER = 0.05
"""Largest share of conversations whose ratings after them may differ from those of their turns."""

COUNTED = ("conversations", "levels", "sum", "squares", *SUMMARIES_OF_TURNS)
"""Columns of :func:`repeated_ratings` whose sums decide."""


def repeated_ratings(study: Study) -> pd.DataFrame:
    """Return whether the ratings after each conversation repeat those of its turns, by dimension.

    One row per conversation that has both for at least one dimension: participant; ``conversations``, which is 1;
    ``levels`` (their number), ``sum`` and ``squares`` of its ratings after the conversation; and for each of
    ``SUMMARIES_OF_TURNS`` whether every such rating equals that summary of the turns' ratings of the same dimension.
    """
    dimensions = list(DIMENSION_NAMES)
    conversations = study.conversations.set_index("conversation")
    post_task = conversations[[f"post_{name}" for name in dimensions]].astype(float)
    post_task.columns = dimensions
    turns = study.turns.sort_values("turn", kind="stable").groupby("conversation")[dimensions]
    number_of_ratings = turns.count().reindex(post_task.index, fill_value=0)
    has_both = post_task.notna() & number_of_ratings.gt(0)
    compared = post_task.where(has_both)
    table = pd.DataFrame(
        {
            "participant": conversations["participant"],
            "conversations": 1,
            "levels": compared.count(axis=1),
            "sum": compared.sum(axis=1),
            "squares": (compared**2).sum(axis=1),
        }
    )
    for summary in SUMMARIES_OF_TURNS:
        of_turns = turns.agg(summary).astype(float).reindex(post_task.index)
        is_equal = (post_task - of_turns).abs().lt(1e-9)
        table[summary] = (is_equal | ~has_both).all(axis=1)
    return table[table["levels"] > 0]


@lru_cache(maxsize=4)  # a multiverse asks for every variant of one study
def why_no_judgment_of_the_whole(study: Study) -> str:
    """Why ratings after the conversation can't be compared with those of its turns; "" if they can.

    Examples
    --------
    >>> import sense7 as s7
    >>> why_no_judgment_of_the_whole(s7.load("synthetic"))
    ''
    """
    return why_repeated(repeated_ratings(study)[list(COUNTED)].sum())


def why_repeated(sums: Mapping[str, float]) -> str:
    """The same from the sums of the columns ``COUNTED``."""
    conversations = sums["conversations"]
    if conversations == 0:
        return ""
    mean = sums["sum"] / sums["levels"]
    variance = sums["squares"] / sums["levels"] - mean**2
    most_repeated = max(sums[summary] for summary in SUMMARIES_OF_TURNS)
    is_repeated = most_repeated >= (1 - MOST_THAT_DIFFER) * conversations
    if variance > 1e-9 and is_repeated:
        return (
            "the ratings after the conversation are the same as those of its turns, "
            "so that they would be compared with themselves"
        )
    return ""
