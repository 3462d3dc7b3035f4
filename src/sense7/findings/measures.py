"""What several findings use of a study: ratings, poor turns, first turns, replies, and answers by their words."""

import numpy as np
import pandas as pd

from sense7.findings.ground_truth import ground_truth, labels
from sense7.statistics.order import in_order_of_appearance
from sense7.study import Study
from sense7.taxonomy import DIMENSION_NAMES, RATING_NAMES

__all__ = [
    "OUTCOMES",
    "POOR",
    "answers_to",
    "conversation_ratings",
    "first_poor_turns",
    "is_first_turn",
    "is_poor",
    "nested_turn_ratings",
    "post_task_ratings",
    "replies",
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


def is_first_turn(turns: pd.DataFrame) -> pd.Series:
    """Return whether each turn is the first of its conversation.

    Examples
    --------
    >>> is_first_turn(pd.DataFrame({"turn": [1, 2]})).tolist()
    [True, False]
    """
    return turns["turn"] == 1


def first_poor_turns(levels: pd.DataFrame) -> pd.Series:
    """Return the number of the first poor turn of each conversation that has one, from `turn_levels`.

    Examples
    --------
    >>> first_poor_turns(pd.DataFrame({"conversation": ["a"] * 3, "turn": [1, 2, 3], "level": [4.0, 2.0, 1.0]}))["a"]
    np.int64(2)
    """
    poor = levels[is_poor(levels["level"])]
    return poor.groupby("conversation")["turn"].min()


def replies(study: Study) -> pd.DataFrame:
    """Return the turns whose text and whose user's message before them are not empty: columns user and assistant."""
    messages = study.messages[["conversation", "position", "role", "content"]]
    messages = in_order_of_appearance(messages, "conversation", "position")
    user = messages["content"].where(messages["role"] == "user")
    # An empty text must not let through the message before it.
    last_of_user = user.where(user.notna(), "").where(messages["role"] == "user")
    messages = messages.assign(user=last_of_user.groupby(messages["conversation"]).ffill())
    texts = messages.rename(columns={"content": "assistant"})
    texts = texts[["conversation", "position", "user", "assistant"]]
    turns = study.turns.merge(texts, on=["conversation", "position"], how="left")
    is_written = turns[["user", "assistant"]].astype(object).fillna("").map(str.strip) != ""
    return turns[is_written.all(axis=1)].reset_index(drop=True)


def prompt_unknown(study: Study) -> str:
    """Return why it is not known which condition has the empathy prompt; "" if it is known."""
    if study.prompted_condition is not None:
        return ""
    return f"which condition is prompted is not known: {study.prompted_reason}"


ANSWERS = {
    "the overall rating": ("turns", ["overall"]),
    "a rating of a dimension": ("turns", list(DIMENSION_NAMES)),
    "post-task empathy": ("conversations", OUTCOMES["empathy"]),
    "post-task experience": ("conversations", OUTCOMES["experience"]),
    "desired empathy": ("conversations", ["desired_empathy"]),
    "importance": ("conversations", ["importance"]),
    "topic": ("conversations", ["topic"]),
    "condition": ("conversations", ["condition"]),
    "a comment": ("messages", ["comment"]),
    **{name: ("turns", [name]) for name in DIMENSION_NAMES},
}
"""Words for answers -> frame of a study and its columns."""


def answers_to(study: Study, *words: str) -> dict[str, pd.DataFrame]:
    """Return answers by their words (``ANSWERS``), as `sense7.findings.core.Needs` takes them.

    Examples
    --------
    >>> import sense7 as s7
    >>> list(answers_to(s7.load("synthetic"), "Relational", "post-task empathy"))
    ['Relational', 'post-task empathy']
    """
    answers = {}
    for name in words:
        frame, columns = ANSWERS[name]
        answers[name] = getattr(study, frame)[columns]
    return answers


ANSWERS_OF = {"overall": "the overall rating", "dimensions": "a rating of a dimension"}
"""Rating of a turn -> words of the answers that it needs."""


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
