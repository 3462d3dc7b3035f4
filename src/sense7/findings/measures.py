"""What several findings use of a study: ratings of turns and conversations, and which turns are poor."""

import numpy as np
import pandas as pd

from sense7.findings.core import need
from sense7.findings.ground_truth import ground_truth, labels
from sense7.study import Study
from sense7.taxonomy import DIMENSION_NAMES, RATING_NAMES

__all__ = [
    "OUTCOMES",
    "POOR",
    "conversation_ratings",
    "is_poor",
    "nested_turn_ratings",
    "post_task_ratings",
    "turn_ratings",
]


def turn_ratings(study: Study) -> pd.DataFrame:
    """Return the seven ratings of the turns shown for rating, indexed by participant; NaN if not rated.

    Notes
    -----
    R: the numbers of rows and of complete rows, tests/reference/reference.R.
    """
    return study.turns_put_to_rating.set_index("participant")[list(DIMENSION_NAMES)]


def post_task_ratings(study: Study) -> pd.DataFrame:
    """Return the seven post-task ratings of the conversations that have any, indexed by participant.

    They may repeat ratings of turns, see :func:`~sense7.findings.repeated_ratings.why_no_judgment_of_the_whole`.

    Notes
    -----
    R: the number of rows, tests/reference/reference.R.
    """
    columns = {f"post_{name}": name for name in DIMENSION_NAMES}
    ratings = study.conversations.set_index("participant")[list(columns)].rename(columns=columns)
    return ratings[ratings.notna().any(axis=1)]


def nested_turn_ratings(study: Study) -> pd.DataFrame:
    """Return the seven ratings of the turns shown for rating, by participant and conversation; NaN if not rated."""
    return study.turns_put_to_rating.set_index(["participant", "conversation"])[
        list(DIMENSION_NAMES)
    ]


def conversation_ratings(study: Study) -> pd.DataFrame:
    """Return one row per conversation: participant, condition, topic, and the means of its ratings."""
    frame = study.conversations.set_index("conversation")[["participant", "condition", "topic"]]
    means = study.turns.groupby("conversation")[list(RATING_NAMES)].mean()
    truth = ground_truth(study.turns, study.conversations["conversation"])
    return frame.assign(ground_truth=truth.to_numpy()).join(means)


POOR = 2
"""A rating is poor if its level is at most this: the one setting that code, captions and prose read.

Code asks :func:`is_poor`; prose says ``{setting}`poor_turn```, see :mod:`sense7.book.extensions.values`.
"""

OUTCOMES = {
    "empathy": [f"post_{name}" for name in DIMENSION_NAMES],
    "experience": ["successful", "engaged", "positive_interaction", "use_again"],
}
"""Post-task ratings whose mean is the outcome: the seven of empathy, or the four of the experience."""


def is_poor(values) -> np.ndarray:
    """Return whether the level of each rating is at most ``POOR``.

    Examples
    --------
    >>> is_poor([1.0, 2.0, 2.5, 2.51, 3.0, np.nan]).tolist()
    [True, True, True, False, False, False]
    """
    poor = labels(values) <= POOR
    return pd.Series(poor, index=values.index) if isinstance(values, pd.Series) else poor


def need_prompt(study: Study, prompted: np.ndarray) -> None:
    """Refuse to compare rows with the empathy prompt and rows without it unless there are both."""
    is_identified = study.prompted_condition is not None
    need(is_identified, "it is not known which condition has the empathy prompt")
    is_compared = prompted.any() and not prompted.all()
    need(is_compared, "there is no condition to compare the empathy prompt with")


def turn_rating(turns: pd.DataFrame, rating: str = "overall") -> pd.Series:
    """Return one number per turn: its overall rating, or the mean of its rated dimensions; 1..5, NaN if not rated."""
    if rating == "overall":
        return turns["overall"]
    return turns[list(DIMENSION_NAMES)].mean(axis=1)


def turn_levels(study: Study) -> tuple[pd.DataFrame, str]:
    """Return the level of each turn: its overall rating or, if that was never given, the mean of its dimensions."""
    turns = study.turns
    level = turns["overall"]
    name = "overall rating"
    if level.isna().all():
        level = turns[study.rated_dimensions].mean(axis=1)
        name = "mean of the rated dimensions"
    frame = turns[["conversation", "participant", "turn"]].assign(level=level.astype(float))
    return frame[frame["level"].notna()].reset_index(drop=True), name
