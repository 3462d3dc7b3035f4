"""Lend an Ear as a workbook: supportive conversations between people, rated by three experts.

50 conversations; in each a person tells of trouble at work and another person supports them. Three experts
rated each conversation on a scale of 1 to 5, so it makes three tasks, and the expert is the PID. What they rated is
nearest to these dimensions; none is the same question:

===========================  ===========
Lend an Ear                  here
===========================  ===========
validating emotions          Affective
demonstrating understanding  Cognitive
encouraging elaboration      Interest
===========================  ===========

Everything else of the official format was not asked. Three language models rated the same conversations; what
they gave isn't part of the workbook, see :func:`sense7.sources.released.judged_conversations`.

Kumar, A., Poungpeth, N., Yang, D., Farrell, E., Lambert, B., Groh, M. (2025). When Large Language Models are
Reliable for Judging Empathic Communication. arXiv 2506.10150.
"""

import csv
import re
from collections.abc import Mapping
from pathlib import Path

from sense7.sources.conversion import Conversation, official_sheets
from sense7.workbook.xlsx import Sheet

__all__ = ["EXPERTS", "QUESTIONS", "convert"]

EXPERTS = ("expert1", "expert2", "expert3")

QUESTIONS = {
    "Affective": "validating emotions",
    "Cognitive": "demonstrating understanding",
    "Interest": "encouraging elaboration",
}
"""What was rated, by the dimension that it stands for."""

_CONVERSATIONS = "sample_lend_an_ear_conversations.csv"
_DIMENSIONS = {dimension: question.replace(" ", "_") for dimension, question in QUESTIONS.items()}
_FURTHER = ("advice_giving", "self_oriented", "dismissing_emotions")
_ROLES = {"Seeker": "user", "Supporter": "assistant"}
_SPEAKER = re.compile(r"^(Seeker|Supporter):", re.MULTILINE)


def convert(parts: Mapping[str, Path]) -> list[Sheet]:
    """Make the sheets from the published files.

    Parameters
    ----------
    parts : mapping
        Has the conversations and ``expert1_ratings.csv`` .. ``expert3_ratings.csv``, as published.

    Returns
    -------
    list of Sheet
        Tasks and Messages; conversations by their id, and each by its three experts.
    """
    chats = {row["conversation_id"]: row["full_conversation"] for row in _rows(parts[_CONVERSATIONS])}
    tables = {expert: _table(parts, expert) for expert in EXPERTS}
    return official_sheets(
        [_conversation(name, chats[name], expert, tables[expert][name]) for name in sorted(chats) for expert in EXPERTS]
    )


def _rows(path: Path) -> list[dict]:
    with path.open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))


def _table(parts: Mapping[str, Path], rater: str) -> dict[str, dict]:
    return {row["conversation_id"]: row for row in _rows(parts[f"{rater}_ratings.csv"])}


def _conversation(name: str, chat: str, expert: str, row: Mapping) -> Conversation:
    return Conversation(
        {"PID": expert, "Model": "human-supporter", "TaskId": f"{name}-{expert}"},
        _messages(chat),
        {dimension: int(row[column]) for dimension, column in _DIMENSIONS.items()},
        {
            "src_conv_id": name,
            "src_rater_type": "expert",
            **{f"src_{column}": float(row[column]) for column in _FURTHER},
        },
    )


def _messages(chat: str) -> list[tuple[str, str]]:
    r"""Messages of a conversation; empty ones are left out, and a message may have several lines.

    >>> _messages("Seeker: I lost it.\nSupporter: \n\nSeeker: My job: gone. \nSupporter: Oh\nno!")
    [('user', 'I lost it.'), ('user', 'My job: gone.'), ('assistant', 'Oh\nno!')]
    """
    _, *pieces = _SPEAKER.split(chat)
    return [
        (_ROLES[speaker], text.strip()) for speaker, text in zip(pieces[::2], pieces[1::2], strict=True) if text.strip()
    ]
