"""Conversations of others laid out as sheets of the official format.

A converter says what a conversation was and how it was rated; the layout is made here, once. What
was never asked is left blank, so that the reader knows it for never asked.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from sense7.taxonomy import LEVELS, MESSAGE_COLUMNS, TASK_COLUMNS
from sense7.workbook.xlsx import Sheet

__all__ = ["Conversation", "official_sheets"]


@dataclass(frozen=True)
class Conversation:
    """One conversation with one rating of it.

    Attributes
    ----------
    task : mapping
        Official column of sheet Tasks -> cell, at least PID, Model and TaskId.
    messages : sequence of tuple
        Role ("user" or "assistant") and text of each message, in order.
    ratings : mapping
        Dimension -> level 1 .. 5. It is a rating of the whole conversation, so it stands on the last turn
        of the assistant.
    further : mapping
        Column beyond the format -> cell. The names begin with ``src_``; every conversation has the same.
    """

    task: Mapping[str, str | float]
    messages: Sequence[tuple[str, str]]
    ratings: Mapping[str, int]
    further: Mapping[str, str | float] = field(default_factory=dict)


def official_sheets(conversations: Sequence[Conversation]) -> list[Sheet]:
    """Lay out conversations as the sheets Tasks and Messages of the official format.

    Parameters
    ----------
    conversations : sequence of Conversation
        In the order in which they are to stand; at least one.

    Returns
    -------
    list of Sheet
        Tasks and Messages, with every column of the official format.

    Examples
    --------
    >>> tasks, messages = official_sheets(
    ...     [
    ...         Conversation(
    ...             {"PID": "P1", "Model": "bot", "TaskId": "T1"},
    ...             [("user", "hi"), ("assistant", "hello"), ("user", "bye")],
    ...             {"Interest": 5},
    ...             {"src_valence": "positive"},
    ...         )
    ...     ]
    ... )
    >>> tasks.header[-1], tasks.rows[0][-1], tasks.rows[0][:4]
    ('src_valence', 'positive', ['P1', 'bot', 'T1', None])
    >>> [dict(zip(messages.header, row))["Interest"] for row in messages.rows]
    [None, 'Very good', None]
    """
    tasks = [column.official for column in TASK_COLUMNS] + list(conversations[0].further)
    messages = [column.official for column in MESSAGE_COLUMNS]
    return [
        Sheet("Tasks", tasks, [_row(tasks, {**one.task, **one.further}) for one in conversations]),
        Sheet("Messages", messages, [_row(messages, cells) for one in conversations for cells in _messages(one)]),
    ]


def _messages(conversation: Conversation) -> list[dict]:
    """Cells of each message by column; ratings as the words of their levels."""
    rows = [
        {"TaskId": conversation.task["TaskId"], "MessageId": float(number), "Role": role, "Content": text}
        for number, (role, text) in enumerate(conversation.messages, 1)
    ]
    rated = [row for row in rows if row["Role"] == "assistant"][-1]
    rated |= {dimension: LEVELS[level - 1].capitalize() for dimension, level in conversation.ratings.items()}
    return rows


def _row(columns: Sequence[str], cells: Mapping) -> list:
    if unknown := cells.keys() - set(columns):
        raise ValueError(f"no column for {', '.join(sorted(unknown))}")
    return [cells.get(column) for column in columns]
