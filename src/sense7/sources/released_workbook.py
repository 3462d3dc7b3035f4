"""Released ratings laid out as the official workbook, without texts.

The same layout as the converters of the fetched data sets give (:mod:`sense7.sources.ieval`,
:mod:`sense7.sources.lend_an_ear`), so that every statistic that takes a study takes these ratings. The messages are
not among the released numbers kept here: each says so in place of its text.
"""

import functools

from sense7.sources import released
from sense7.sources.conversion import Conversation, official_sheets
from sense7.sources.registry import SOURCE_SHEET
from sense7.study import Study
from sense7.workbook import parse_sheets
from sense7.workbook.xlsx import Sheet

__all__ = ["NO_TEXT", "ieval_sheets", "ieval_study", "lend_an_ear_sheets"]

NO_TEXT = "(text not included)"
"""What stands in place of every message."""

_IEVAL = {
    "Affective": "understood",
    "Response": "appropriate",
    "Prosocial": "polite",
    "Interest": "attentive",
    "Contextual": "sensible",
}
_LEND_AN_EAR = {
    "Affective": "validating_emotions",
    "Cognitive": "demonstrating_understanding",
    "Interest": "encouraging_elaboration",
}


def ieval_sheets() -> list[Sheet]:
    """Lay out iEval's conversations as the sheets of a workbook.

    Returns
    -------
    list of Sheet
        Tasks and Messages (three exchanges without text; the ratings on the last turn of the chatbot and after the
        conversation, see :mod:`sense7.sources.ieval` for which statement stands for which dimension), Participants (PID
        and TEQ, the total of the Toronto Empathy Questionnaire), and a sheet that says whose data they are.

    Raises
    ------
    UserError
        If a file is missing or is not the one that is pinned.

    Examples
    --------
    >>> [(sheet.name, len(sheet.rows)) for sheet in ieval_sheets()][:3]
    [('Tasks', 1920), ('Messages', 11520), ('Participants', 240)]
    """
    conversations = []
    for row in released.ieval_conversations().to_dict("records"):
        ratings = {dimension: int(row[column]) for dimension, column in _IEVAL.items()}
        task = {
            "PID": row["worker"],
            "Model": f"bot-{row['bot']}",
            "TaskId": f"{row['worker']}-{row['valence'][:3]}-{row['bot']}",
            "PreTaskChoice": row["emotion"],
            "PostTaskExperience_PositiveInteraction": float(row["likable"]),
            **{f"PostTaskEmpathy_{dimension}": float(level) for dimension, level in ratings.items()},
        }
        messages = [("user", NO_TEXT), ("assistant", NO_TEXT)] * int(row["exchanges"])
        conversations.append(Conversation(task, messages, ratings, {"src_valence": row["valence"]}))
    people = [[row["worker"], float(row["teq"])] for row in released.ieval_workers().to_dict("records")]
    return [
        *official_sheets(conversations),
        Sheet("Participants", ["PID", "TEQ"], people),
        _source_sheet("ieval", "ieval_workers"),
    ]


@functools.cache
def ieval_study() -> Study:
    """Read iEval's conversations as a study, for every statistic that takes one; see :func:`ieval_sheets`.

    Returns
    -------
    Study
        Always the same object: its frames are not to be changed.

    Raises
    ------
    UserError
        If a file is missing or is not the one that is pinned.
    """
    return parse_sheets({sheet.name: sheet for sheet in ieval_sheets()}, path="iEval", name="iEval")


def lend_an_ear_sheets() -> list[Sheet]:
    """Lay out the experts' ratings of Lend an Ear as the sheets of a workbook: one task per conversation and expert.

    Returns
    -------
    list of Sheet
        Tasks and Messages (one exchange without text), and a sheet that says whose data they are. See
        :mod:`sense7.sources.lend_an_ear` for which question stands for which dimension.

    Raises
    ------
    UserError
        If a file is missing or is not the one that is pinned.

    Examples
    --------
    >>> [(sheet.name, len(sheet.rows)) for sheet in lend_an_ear_sheets()][:2]
    [('Tasks', 150), ('Messages', 300)]
    """
    table = released.judged_conversations()
    table = table[table["corpus"] == "lend_an_ear"].set_index(["conversation", "question"])
    conversations = [
        Conversation(
            {"PID": expert, "Model": "human-supporter", "TaskId": f"{name}-{expert}"},
            [("user", NO_TEXT), ("assistant", NO_TEXT)],
            {dimension: int(table.loc[(name, question), expert]) for dimension, question in _LEND_AN_EAR.items()},
            {"src_conv_id": name},
        )
        for name in table.index.unique("conversation")
        for expert in released.EXPERTS
    ]
    return [*official_sheets(conversations), _source_sheet("judged_conversations")]


def _source_sheet(*names: str) -> Sheet:
    tables = [released.RELEASED[name] for name in names]
    rows = [
        ["note", f"{tables[0].title}, laid out as a SENSE-7 workbook without texts. It is not SENSE-7."],
        ["credit", tables[0].acknowledgement],
        *([f"sha256 of {table.file}", table.sha256] for table in tables),
    ]
    return Sheet(SOURCE_SHEET, ["key", "value"], rows)
