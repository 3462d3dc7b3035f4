"""A simulated study in the official format: its sheets, and the numbers and words behind them."""

import json
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sense7.errors import UserError
from sense7.simulate.judge import JudgeScores, assistant_words, draw_judge
from sense7.simulate.model import NOT_PUT, UNKNOWN, Numbers, draw
from sense7.simulate.parameters import JudgeParameters, Parameters
from sense7.simulate.text import PHRASES, Words, write_words
from sense7.study import Study
from sense7.taxonomy import (
    DIMENSION_NAMES,
    LEVELS,
    MESSAGE_COLUMNS,
    SYNTHETIC_SHEET,
    TASK_COLUMNS,
)
from sense7.workbook.reading import PROMPTED_BY_NAME, STANDARD, parse_reading
from sense7.workbook.sheets import parse_sheets
from sense7.workbook.xlsx import Sheet

DEFAULT_SEED = 20250919
"""Seed of the workbook in data/."""


READING = STANDARD + PROMPTED_BY_NAME
"""The reading file of simulated workbooks."""

DEFAULT_JUDGE = JudgeParameters()
"""The simulated judge whose predictions lie in data/."""

_ROLES = (
    "Engineering",
    "Project management",
    "Sales",
    "Administration",
    "Design",
    "Research",
    "Support",
)
_GENDERS = {"Woman": 0.47, "Man": 0.47, "Non-binary": 0.04, "Prefer not to say": 0.02}
_EXPERIENCE = {
    "Never": 0.05,
    "Less than monthly": 0.15,
    "Monthly": 0.20,
    "Weekly": 0.35,
    "Daily": 0.25,
}


def build_sheets(study: Numbers, words: Words, generator: np.random.Generator) -> dict[str, Sheet]:
    """Put numbers and words into sheets of the official format.

    Turn ratings are words in the cases that people and programs write; the other scales
    are numbers. Error rows, retries and blank contents are added here.

    The generator is of times, errors, retries, blanks and the characteristics without effect. Cells are what reading
    the written file gives: text, float or None.
    """
    p = study.parameters
    people = len(study.participant_effect)
    pids = _ids("P", people, 3)
    task_ids = _ids("T", len(study.turns), 4)
    ratings = np.column_stack([study.importance, study.desired, study.experience, study.post])
    tasks = []
    for row, answers in enumerate(ratings.astype(float).tolist()):
        participant = pids[study.participant[row]]
        condition = p.conditions[study.condition[row]]
        tasks.append([participant, condition, task_ids[row], p.topics[study.topic[row]], *answers])
    messages = _messages(study, words, task_ids, generator)
    columns = {  # age, gender, role and experience with AI have no effect
        "PID": pids,
        "Age": np.clip(np.round(generator.normal(40, 11, people)), 19, 68).tolist(),
        "Gender": generator.choice(list(_GENDERS), people, p=list(_GENDERS.values())).tolist(),
        "Role": [_ROLES[k] for k in generator.integers(len(_ROLES), size=people)],
        "AIExperience": generator.choice(
            list(_EXPERIENCE), people, p=list(_EXPERIENCE.values())
        ).tolist(),
        **dict(zip(p.characteristics, study.scores.T.tolist(), strict=True)),
        "MostImportantDimension": [DIMENSION_NAMES[k] for k in study.most_important],
    }
    participants = [list(row) for row in zip(*columns.values(), strict=True)]
    task_header = [column.official for column in TASK_COLUMNS]
    message_header = [column.official for column in MESSAGE_COLUMNS]
    return {
        "Tasks": Sheet("Tasks", task_header, tasks),
        "Messages": Sheet("Messages", message_header, messages),
        "Participants": Sheet("Participants", list(columns), participants),
    }


def _ids(letter: str, count: int, digits: int) -> list[str]:
    """Ids from 1, all of one length."""
    digits = max(digits, len(str(count)))
    return [f"{letter}{number:0{digits}d}" for number in range(1, count + 1)]


def _messages(
    study: Numbers, words: Words, task_ids: list[str], generator: np.random.Generator
) -> list[list]:
    """Make the rows of messages."""
    p = study.parameters
    total = len(study.turn)
    error = (generator.random(total) < p.error_rate).tolist()
    retry = (generator.random(total) < p.retry_rate).tolist()
    blank = (generator.random((total, 2)) < p.blank_rate).tolist()
    reason = generator.integers(len(PHRASES["errors"]), size=total).tolist()
    # Seconds until the user's message, an error and the assistant's message.
    log_means = np.array([3.6, 2.5, 2.0])
    log_sds = np.array([0.6, 0.3, 0.5])
    log_waits = log_means + log_sds * generator.standard_normal((total, 3))
    waits = np.maximum(1.0, np.exp(log_waits))
    # Longer messages take longer to type.
    waits[:, 0] += 0.15 * np.array([len(text) for text in words.user])
    waits[study.turn == 0, 0] = 0.0
    waits = np.round(waits, 1).tolist()
    # Words of the ratings, overall first as in the sheet, in the cases in which they are met.
    spellings: dict[int, tuple[str | None, ...]] = {NOT_PUT: (None, None, None)}
    for level, word in enumerate(("unknown", *LEVELS), UNKNOWN):
        spellings[level] = (word.capitalize(), word, word.title())
    styles = generator.choice(3, size=study.ratings.shape, p=(0.85, 0.11, 0.04)).tolist()
    ratings = study.ratings[:, [7, 0, 1, 2, 3, 4, 5, 6]].tolist()
    rows: list[list] = []
    number = 0
    seconds = 0.0

    def add(
        turn: int, wait: float, role: str, content: str | None, of_turn: Sequence = (None,) * 10
    ) -> None:
        nonlocal number, seconds
        number += 1
        seconds = round(seconds + wait, 1)
        task = task_ids[study.conversation[turn]]
        rows.append([task, float(number), seconds, role, content, *of_turn])

    for turn in range(total):
        if study.turn[turn] == 0:
            number = 0
            seconds = 0.0
        user_blank, assistant_blank = blank[turn]
        add(turn, waits[turn][0], "user", None if user_blank else words.user[turn])
        if error[turn]:
            add(turn, waits[turn][1], "error", PHRASES["errors"][reason[turn]])
        retried = 1.0 if error[turn] or retry[turn] else None
        levels = zip(ratings[turn], styles[turn], strict=True)
        cells = [spellings[level][style] for level, style in levels]
        content = None if assistant_blank else words.assistant[turn]
        add(turn, waits[turn][2], "assistant", content, [retried, *cells, words.comment[turn]])
    return rows


@dataclass(frozen=True, repr=False)
class Simulation:
    """A simulated workbook and what is behind it.

    ``sheets`` are those of the official format, and Synthetic, which says what the workbook is and by which parameters
    it was made; ``judged`` are the scores of the simulated judge, if one was asked for
    (:func:`sense7.judge.scores.judges.write_simulated` writes them).
    """

    sheets: dict[str, Sheet]
    study: Numbers
    seed: int
    judged: JudgeScores | None = None

    def parsed(self, name: str = "simulation") -> Study:
        """Read the sheets as a study."""
        return parse_sheets(self.sheets, parse_reading(READING), name=name)


def simulate(
    parameters: Parameters,
    seed: int = DEFAULT_SEED,
    judge: JudgeParameters | None = DEFAULT_JUDGE,
    *,
    texts: bool = True,
) -> Simulation:
    """Simulate a study: numbers, words and sheets, and the scores of a judge.

    Numbers, words, sheets and judge draw from streams of their own, so that a change of one leaves
    the others as they are. The sheets are the same with and without a judge. Without texts, every message is one word
    and nobody comments: enough for the statistics of ratings, in half the time; a judge needs them. The same parameters
    and seed give the same simulation.
    """
    if isinstance(seed, bool) or not isinstance(seed, int) or seed < 0:
        raise UserError(f"The seed is {seed!r}; accepted: a whole number of at least 0.")
    streams = [np.random.default_rng(child) for child in np.random.SeedSequence(seed).spawn(4)]
    study = draw(parameters, streams[0])
    if texts or judge is not None:
        words = write_words(study, streams[1])
    else:
        turns = len(study.turn)
        words = Words(
            user=["."] * turns,
            assistant=["."] * turns,
            comment=[None] * turns,
            shown=np.full((turns, 7), -1, np.int8),
        )
    sheets = build_sheets(study, words, streams[2])
    marks = [  # by which the workbook says what it is
        [
            "note",
            "This workbook is synthetic. Nobody said or rated anything in it; its numbers are no findings.",
        ],
        ["seed", str(seed)],
        ["parameters", json.dumps(parameters.as_dict(), ensure_ascii=False)],
    ]
    sheets[SYNTHETIC_SHEET] = Sheet(SYNTHETIC_SHEET, ["key", "value"], marks)
    judged = None
    if judge is not None:
        judged = draw_judge(study, assistant_words(study, words.assistant), judge, streams[3])
    return Simulation(sheets, study, seed, judged)


def describe_parameters() -> list[str]:
    """One line for each parameter, those of the simulated judge last: name, default, and what is accepted."""
    parameters = [*Parameters.accepted(), *JudgeParameters.accepted()]
    return [f"{name} = {default}  ({accepted})" for name, default, accepted in parameters]
