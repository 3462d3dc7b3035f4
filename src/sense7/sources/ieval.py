"""iEval as a workbook: people who chatted with four chatbots, and rated each chat themselves.

240 people; each wrote with four chatbots about a positive and a negative scenario, three exchanges each, and
then answered statements on a scale of 1 to 5. What the statements ask is nearest to these parts of the
official format; none is the same question:

========  ==================================================  ======================================
iEval     statement                                           here
========  ==================================================  ======================================
EU        understood my emotions                              Affective
ER        responded to my emotions appropriately              Response
P         was polite                                          Prosocial (a weak stand-in)
A         was paying attention to what I was saying           Interest
S         responses made sense given my inputs                Contextual
L         is likable                                          PostTaskExperience_PositiveInteraction
========  ==================================================  ======================================

Cognitive, Relational, the overall rating, importance and desired empathy were not asked.

Svikhnushina, E., Filippova, A., Pu, P. (2022). iEval: Interactive Evaluation Framework for Open-Domain Empathetic
Chatbots. SIGDIAL.
"""

import json
import re
from collections.abc import Mapping
from pathlib import Path

from sense7.sources.conversion import Conversation, official_sheets
from sense7.workbook.xlsx import Sheet

__all__ = ["convert"]

_DIMENSIONS = {"Affective": "EU", "Response": "ER", "Prosocial": "P", "Interest": "A", "Contextual": "S"}
_FURTHER = {"src_inverse_rank": "Rating", "src_repetitive": "R", "src_insulting": "^P", "src_inattentive": "^A"}
_CHATBOTS = ("Pink", "Purple", "Yellow", "Green")
_MESSAGE = re.compile(r"(?:^|\n)- ")


def convert(parts: Mapping[str, Path]) -> list[Sheet]:
    """Make the sheets from the published file.

    Parameters
    ----------
    parts : mapping
        Has ``ieval_data.json``, as published.

    Returns
    -------
    list of Sheet
        Tasks, Messages, and src_Participants with the Toronto Empathy Questionnaire.
    """
    people = json.loads(parts["ieval_data.json"].read_text(encoding="utf-8"))
    conversations = [
        _conversation(person, valence, chatbot)
        for person in people
        for valence in ("positive", "negative")
        for chatbot in _CHATBOTS
    ]
    return [*official_sheets(conversations), _participants(people)]


def _name(person: Mapping) -> str:
    return f"ieval-{person['part']:03d}"


def _conversation(person: Mapping, valence: str, chatbot: str) -> Conversation:
    answers = person[valence][chatbot]
    ratings = {dimension: answers[key] for dimension, key in _DIMENSIONS.items()}
    task = {
        "PID": _name(person),
        "Model": f"bot-{chatbot}",
        "TaskId": f"{_name(person)}-{valence[:3]}-{chatbot}",
        "PreTaskChoice": person[valence]["emotion"],
        "PostTaskExperience_PositiveInteraction": float(answers["L"]),
    }
    task |= {f"PostTaskEmpathy_{dimension}": float(level) for dimension, level in ratings.items()}
    further = {column: float(answers[key]) for column, key in _FURTHER.items()}
    return Conversation(task, _messages(answers["chat_log"]), ratings, {"src_valence": valence} | further)


def _messages(chat: str) -> list[tuple[str, str]]:
    r"""Messages of a chat, in turn of the person and the chatbot.

    A spreadsheet program left its code for a carriage return in some of them.

    >>> _messages("- hi_x000D_\n- hello - you")
    [('user', 'hi'), ('assistant', 'hello - you')]
    """
    texts = [text.replace("_x000D_", "").strip() for text in _MESSAGE.split(chat)[1:]]
    return [(("user", "assistant")[number % 2], text) for number, text in enumerate(texts)]


def _participants(people: list[Mapping]) -> Sheet:
    rows = [
        [_name(person), float(person["elapsed_sec"]), float(person["TEQ_agg"]), " ".join(map(str, person["TEQ_raw"]))]
        for person in people
    ]
    return Sheet("src_Participants", ["PID", "elapsed_sec", "TEQ_agg", "TEQ_raw"], rows)
