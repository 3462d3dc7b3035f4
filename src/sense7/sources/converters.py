"""Conversations of others laid out as the sheets Tasks and Messages of the official format.

Ratings of a whole conversation stand on the last turn of the assistant. What was never asked is left blank, so that the
reader knows it for never asked. What others asked is nearest to these columns; none is the same question.

iEval: 240 people wrote with four chatbots about a positive and a negative scenario, and answered statements on a scale
of 1 to 5 (Svikhnushina, E., Filippova, A., Pu, P. (2022). iEval: Interactive Evaluation Framework for Open-Domain
Empathetic Chatbots. SIGDIAL). Lend an Ear: in 50 conversations a person tells of trouble at work and another supports
them; three experts rated each on a scale of 1 to 5, so that each makes three tasks (Kumar, A., Poungpeth, N., Yang, D.,
Farrell, E., Lambert, B., Groh, M. (2025). When Large Language Models are Reliable for Judging Empathic Communication.
arXiv 2506.10150).
"""

import csv
import re
from collections.abc import Iterable, Mapping
from pathlib import Path

from sense7.files import read_json
from sense7.taxonomy import LEVELS
from sense7.workbook.writing import official_sheets
from sense7.workbook.xlsx import Sheet

IEVAL = {  # dimension: key of the published file, column of the released table
    "Affective": ("EU", "understood"),
    "Response": ("ER", "appropriate"),
    "Prosocial": ("P", "polite"),  # a weak stand-in
    "Interest": ("A", "attentive"),
    "Contextual": ("S", "sensible"),
}
EXPERTS = ("expert1", "expert2", "expert3")

QUESTIONS = {
    "Affective": "validating emotions",
    "Cognitive": "demonstrating understanding",
    "Interest": "encouraging elaboration",
}
"""What the experts of Lend an Ear rated, by the dimension that it stands for."""


def rated_at_end(
    messages: Iterable[tuple[str, str]], ratings: Mapping[str, int]
) -> list[dict[str, str]]:
    """Cells of the messages (role, text) of a conversation, with its ratings on the last turn of the assistant.

    Examples
    --------
    >>> rated_at_end([("assistant", "hello"), ("user", "bye")], {"Interest": 5})[0]
    {'Role': 'assistant', 'Content': 'hello', 'Interest': 'Very good'}
    """
    cells = [{"Role": role, "Content": text} for role, text in messages]
    last = [message for message in cells if message["Role"] == "assistant"][-1]
    for dimension, level in ratings.items():
        last[dimension] = LEVELS[level - 1].capitalize()
    return cells


def ieval_task(
    worker: str, bot: str, valence: str, emotion: str, likable: float, ratings: Mapping[str, int]
) -> dict:
    """Cells of an iEval conversation's task."""
    return {
        "PID": worker,
        "Model": f"bot-{bot}",
        "TaskId": f"{worker}-{valence[:3]}-{bot}",
        "PreTaskChoice": emotion,
        "PostTaskExperience_PositiveInteraction": float(likable),
        **{f"PostTaskEmpathy_{dimension}": float(level) for dimension, level in ratings.items()},
    }


def ieval(parts: Mapping[str, Path]) -> list[Sheet]:
    """Make the sheets from ``ieval_data.json``; TEQ is the total of the Toronto Empathy Questionnaire."""
    conversations, people = [], []
    for person in read_json(parts["ieval_data.json"]):
        worker = f"ieval-{person['part']:03d}"
        people.append([worker, float(person["TEQ_agg"])])
        for valence in ("positive", "negative"):
            for bot in ("Pink", "Purple", "Yellow", "Green"):
                answers = person[valence][bot]
                ratings = {dimension: answers[key] for dimension, (key, _) in IEVAL.items()}
                task = ieval_task(
                    worker, bot, valence, person[valence]["emotion"], answers["L"], ratings
                )
                # A spreadsheet program left its code for a carriage return in some of the texts.
                texts = re.split(r"(?:^|\n)- ", answers["chat_log"])[1:]
                messages = [
                    (("user", "assistant")[number % 2], text.replace("_x000D_", "").strip())
                    for number, text in enumerate(texts)
                ]
                conversations.append((task, rated_at_end(messages, ratings)))
    return [*official_sheets(conversations), Sheet("Participants", ["PID", "TEQ"], people)]


def lend_an_ear(parts: Mapping[str, Path]) -> list[Sheet]:
    """Make the sheets from conversations and ratings: conversations by id, each by its three experts."""
    tables = {}
    for name in ("sample_lend_an_ear_conversations", *(f"{expert}_ratings" for expert in EXPERTS)):
        with parts[f"{name}.csv"].open(encoding="utf-8", newline="") as stream:
            tables[name] = {row["conversation_id"]: row for row in csv.DictReader(stream)}
    conversations = []
    for name, chat in sorted(tables["sample_lend_an_ear_conversations"].items()):
        # A message may have several lines; empty ones are left out.
        _, *pieces = re.split(
            r"^(Seeker|Supporter):", chat["full_conversation"], flags=re.MULTILINE
        )
        messages = [
            ("user" if speaker == "Seeker" else "assistant", text.strip())
            for speaker, text in zip(pieces[::2], pieces[1::2], strict=True)
            if text.strip()
        ]
        for expert in EXPERTS:
            row = tables[f"{expert}_ratings"][name]
            task = {"PID": expert, "Model": "human-supporter", "TaskId": f"{name}-{expert}"}
            ratings = {
                dimension: int(row[question.replace(" ", "_")])
                for dimension, question in QUESTIONS.items()
            }
            conversations.append((task, rated_at_end(messages, ratings)))
    return official_sheets(conversations)


CONVERTERS = {"ieval": ieval, "lend-an-ear": lend_an_ear}
