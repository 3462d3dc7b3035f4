"""The sheets: a simulated study in the official format."""

from dataclasses import dataclass, field

import numpy as np

from sense7.simulate import phrases
from sense7.simulate.model import NOT_PUT, UNKNOWN, Numbers
from sense7.simulate.text import Words
from sense7.taxonomy import DIMENSION_NAMES, LEVELS, MESSAGE_COLUMNS, TASK_COLUMNS
from sense7.workbook.xlsx import Sheet

__all__ = ["Built", "build_sheets"]

_GENDERS = ("Woman", "Man", "Non-binary", "Prefer not to say")
_GENDER_SHARES = (0.47, 0.47, 0.04, 0.02)
_ROLES = ("Engineering", "Project management", "Sales", "Administration", "Design", "Research", "Support")
_EXPERIENCE = ("Never", "Less than monthly", "Monthly", "Weekly", "Daily")
_EXPERIENCE_SHARES = (0.05, 0.15, 0.20, 0.35, 0.25)


@dataclass(frozen=True)
class Built:
    """A study as sheets, with the ids that tie the truth to them.

    Attributes
    ----------
    sheets : dict of Sheet
        Tasks, Messages and Participants.
    pids, task_ids : list of str
        Ids of participants and conversations.
    message_ids : list of int
        MessageId of each assistant turn.
    """

    sheets: dict[str, Sheet] = field(repr=False)
    pids: list[str] = field(repr=False)
    task_ids: list[str] = field(repr=False)
    message_ids: list[int] = field(repr=False)


def build_sheets(study: Numbers, words: Words, generator: np.random.Generator) -> Built:
    """Put numbers and words into the sheets of the official format.

    Turn ratings are words in the cases that people and programs write; the other scales
    are numbers. Error rows, retries and blank contents are added here.

    Parameters
    ----------
    study : Numbers
        Latents and ratings.
    words : Words
        Messages and comments.
    generator : numpy.random.Generator
        Source of chance for times, errors, retries, blanks and the characteristics without effect.

    Returns
    -------
    Built
        Sheets whose cells are what reading the written file gives: text, float or None.
    """
    width = max(3, len(str(len(study.participant_effect))))
    pids = [f"P{row + 1:0{width}d}" for row in range(len(study.participant_effect))]
    width = max(4, len(str(len(study.turns))))
    task_ids = [f"T{row + 1:0{width}d}" for row in range(len(study.turns))]
    messages, message_ids = _messages(study, words, task_ids, generator)
    sheets = (
        _tasks(study, pids, task_ids),
        messages,
        _participants(study, pids, generator),
    )
    return Built({sheet.name: sheet for sheet in sheets}, pids, task_ids, message_ids)


def _tasks(study: Numbers, pids: list[str], task_ids: list[str]) -> Sheet:
    p = study.parameters
    rows = [
        [pids[person], p.conditions[condition], task, p.topics[topic], *map(float, numbers)]
        for person, condition, task, topic, numbers in zip(
            study.participant.tolist(),
            study.condition.tolist(),
            task_ids,
            study.topic.tolist(),
            np.column_stack([study.importance, study.desired, study.experience, study.post]).tolist(),
            strict=True,
        )
    ]
    return Sheet("Tasks", [column.official for column in TASK_COLUMNS], rows)


def _messages(
    study: Numbers, words: Words, task_ids: list[str], generator: np.random.Generator
) -> tuple[Sheet, list[int]]:
    p = study.parameters
    total = len(study.turn)
    error = (generator.random(total) < p.error_rate).tolist()
    retry = (generator.random(total) < p.retry_rate).tolist()
    blank = (generator.random((total, 2)) < p.blank_rate).tolist()
    reason = generator.integers(len(phrases.ERRORS), size=total).tolist()
    # Seconds until the user's message, an error and the assistant's message.
    waits = np.maximum(
        1.0,
        np.exp(np.array([3.6, 2.5, 2.0]) + np.array([0.6, 0.3, 0.5]) * generator.standard_normal((total, 3))),
    )
    # Longer messages take longer to type.
    waits[:, 0] += 0.15 * np.array([len(text) for text in words.user])
    waits[study.turn == 0, 0] = 0.0
    waits = np.round(waits, 1).tolist()
    cells = _rating_cells(study.ratings, generator)
    no_ratings = [None] * 8
    rows: list[list] = []
    message_ids = []
    number, seconds = 0, 0.0
    for turn in range(total):
        if study.turn[turn] == 0:
            number, seconds = 0, 0.0
        task = task_ids[study.conversation[turn]]
        wait = waits[turn]
        number, seconds = number + 1, round(seconds + wait[0], 1)
        content = None if blank[turn][0] else words.user[turn]
        rows.append([task, float(number), seconds, "user", content, None, *no_ratings, None])
        if error[turn]:
            number, seconds = number + 1, round(seconds + wait[1], 1)
            text = phrases.ERRORS[reason[turn]]
            rows.append([task, float(number), seconds, "error", text, None, *no_ratings, None])
        number, seconds = number + 1, round(seconds + wait[2], 1)
        content = None if blank[turn][1] else words.assistant[turn]
        again = 1.0 if error[turn] or retry[turn] else None
        rows.append([task, float(number), seconds, "assistant", content, again, *cells[turn], words.comment[turn]])
        message_ids.append(number)
    return Sheet("Messages", [column.official for column in MESSAGE_COLUMNS], rows), message_ids


def _rating_cells(ratings: np.ndarray, generator: np.random.Generator) -> list[list]:
    """Words of the ratings, overall first as in the sheet, in the cases in which they are met."""
    state = {NOT_PUT: None, UNKNOWN: "unknown"} | dict(enumerate(LEVELS, 1))
    spellings = {key: word and (word.capitalize(), word, word.title()) for key, word in state.items()}
    style = generator.choice(3, size=ratings.shape, p=(0.85, 0.11, 0.04)).tolist()
    ordered = ratings[:, [7, 0, 1, 2, 3, 4, 5, 6]].tolist()
    return [
        [spellings[level] and spellings[level][kind] for level, kind in zip(row, styles, strict=True)]
        for row, styles in zip(ordered, style, strict=True)
    ]


def _participants(study: Numbers, pids: list[str], generator: np.random.Generator) -> Sheet:
    """One row per participant; age, gender, role and experience with AI have no effect."""
    people = len(pids)
    columns = {
        "PID": pids,
        "Age": np.clip(np.round(generator.normal(40, 11, people)), 19, 68).tolist(),
        "Gender": [_GENDERS[k] for k in generator.choice(len(_GENDERS), people, p=_GENDER_SHARES)],
        "Role": [_ROLES[k] for k in generator.integers(len(_ROLES), size=people)],
        "AIExperience": [_EXPERIENCE[k] for k in generator.choice(len(_EXPERIENCE), people, p=_EXPERIENCE_SHARES)],
        **dict(zip(study.parameters.characteristics, study.scores.T.tolist(), strict=True)),
        "MostImportantDimension": [DIMENSION_NAMES[k] for k in study.most_important],
    }
    return Sheet("Participants", list(columns), [list(row) for row in zip(*columns.values(), strict=True)])
