"""Every finding on studies that lack something: a number, or the reason why there is none; no failure, no warning."""

import math
import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace

import pytest

from helpers.findings import FINDINGS, MANY, NESTED, arguments, rows_of
from helpers.studies import parse_sheets
from sense7.judge.scores.ceiling import content_share_bound
from sense7.taxonomy import MESSAGE_COLUMNS, TASK_COLUMNS
from sense7.workbook.xlsx import Sheet

DRAWS = 12
CONTEXT = ("PreTaskChoice", "PreTaskImportance", "PreTaskDesiredEmpathy")
AFTER = [column.official for column in TASK_COLUMNS if column.official.startswith("PostTask")]
RATINGS = [column.official for column in MESSAGE_COLUMNS if column.scale]
DIMENSIONS = RATINGS[1:]


@dataclass
class Rows:
    """Rows of a study by column: of tasks, messages and participants."""

    tasks: list[dict]
    messages: list[dict]
    people: list[dict]

    def sheets(self) -> dict[str, Sheet]:
        """The sheets."""
        sheets = {}
        for name, rows in (
            ("Tasks", self.tasks),
            ("Messages", self.messages),
            ("Participants", self.people),
        ):
            if rows:
                sheets[name] = Sheet(name, list(rows[0]), [list(row.values()) for row in rows])
        return sheets


def study_rows(people: int = 6, conditions: tuple = ("plain", "plain-empathy"), turns: int = 2):
    """A study in which everything was asked, with levels in no order."""
    rows = Rows([], [], [])
    for person in range(people):
        rows.people.append({"PID": f"P{person}", "Age": 20.0 + person, "Gender": "fm"[person % 2]})
        for condition in conditions:
            number = len(rows.tasks)
            task = {"PID": f"P{person}", "Model": condition, "TaskId": f"T{number}"}
            task["PreTaskChoice"] = ("work", "family", "health")[number % 3]
            for place, column in enumerate([*CONTEXT[1:], *AFTER]):
                size = 3 if column == "PreTaskDesiredEmpathy" else 5
                task[column] = 1.0 + (3 * number + number // 2 + place) % size
            rows.tasks.append(task)
            for turn in range(turns):
                said = ("I had a bad day.", "My boss shouted at me, again.")[(number + turn) % 2]
                rows.messages.append(message(number, 2 * turn + 1, "user", said))
                answer = message(number, 2 * turn + 2, "assistant", "I am sorry. What happened?")
                for place, column in enumerate(RATINGS):
                    answer[column] = 1.0 + (2 * number + turn + place * number) % 5
                rows.messages.append(answer)
    return rows


def message(conversation: int, number: int, role: str, text: str) -> dict:
    """A message without ratings."""
    said = {"TaskId": f"T{conversation}", "MessageId": float(number), "Role": role, "Content": text}
    return {**said, "TimeOffsetSeconds": 9.0 * number, **dict.fromkeys(RATINGS)}


def with_cells(rows: list[dict], columns, cell) -> list[dict]:
    """Rows with other cells in some columns: a value, or a function of the row's number and the value."""
    changed = []
    for number, row in enumerate(rows):
        cells = {}
        for column in columns:
            cells[column] = cell(number, row[column]) if isinstance(cell, Callable) else cell
        changed.append({**row, **cells})
    return changed


def without(rows: list[dict], *columns: str) -> list[dict]:
    """Rows without some columns."""
    return [{name: cell for name, cell in row.items() if name not in columns} for row in rows]


def of_tasks(columns, cell=None) -> Rows:
    rows = study_rows()
    return replace(rows, tasks=with_cells(rows.tasks, columns, cell))


def of_messages(columns, cell=None) -> Rows:
    rows = study_rows()
    return replace(rows, messages=with_cells(rows.messages, columns, cell))


def one_context_each() -> Rows:
    """Each conversation lacks one of the three variables of its context, so that none has them all."""
    rows = study_rows()
    for number, task in enumerate(rows.tasks):
        task[CONTEXT[number % 3]] = None
    return rows


def bare() -> Rows:
    """The columns alone without which a workbook can't be read."""
    rows = study_rows()
    tasks = [{"PID": task["PID"], "TaskId": task["TaskId"]} for task in rows.tasks]
    messages = without(rows.messages, "MessageId", "TimeOffsetSeconds", "Content", *DIMENSIONS)
    return Rows(tasks, messages, [])


STUDIES = {
    "one conversation of one turn": lambda: study_rows(1, ("plain",), 1),
    "one participant": lambda: study_rows(1),
    "one conversation per participant": lambda: study_rows(3, ("plain",)),
    "one turn per conversation": lambda: study_rows(turns=1),
    "no participants' sheet": lambda: replace(study_rows(), people=[]),
    "no condition": lambda: of_tasks(["Model"]),
    "no context": lambda: of_tasks(CONTEXT),
    "no conversation with its whole context": one_context_each,
    "the same context everywhere": lambda: of_tasks(CONTEXT, lambda number, cell: "1"),
    "nothing rated afterwards": lambda: of_tasks(AFTER),
    "nothing but overall ratings": lambda: of_messages(DIMENSIONS),
    "no overall rating": lambda: of_messages(RATINGS[:1]),
    "one dimension": lambda: of_messages([RATINGS[0], *DIMENSIONS[1:]]),
    "dimensions that were never applicable": lambda: of_messages(
        DIMENSIONS, lambda number, cell: cell and "unknown"
    ),
    "equal ratings": lambda: of_messages(RATINGS, lambda number, cell: cell and 3.0),
    "one rated turn": lambda: of_messages(
        RATINGS, lambda number, cell: cell if number == 1 else None
    ),
    "no text": lambda: of_messages(["Content"]),
    "no time": lambda: of_messages(["TimeOffsetSeconds"]),
    "no more than a workbook needs": bare,
}


QUICK = ["one conversation of one turn", "no conversation with its whole context", "one rated turn"]


@pytest.mark.parametrize(
    "lacking",
    [
        *QUICK,
        *(pytest.param(name, marks=pytest.mark.long) for name in STUDIES if name not in QUICK),
    ],
)
def test_what_can_not_be_computed_says_why(lacking):
    study = parse_sheets(STUDIES[lacking]().sheets())
    given = arguments(study, DRAWS)
    silent = []
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for name, (function, parameters) in FINDINGS.items():
            if name in MANY and lacking in QUICK:
                continue
            values = {}
            for parameter in parameters:
                nested = parameter == "ratings" and name in NESTED
                values[parameter] = given["nested" if nested else parameter]
            for place, row in rows_of(function(**values), name).items():
                estimate = row["estimate"]
                is_missing = isinstance(estimate, float) and not math.isfinite(estimate)
                if is_missing and not row.get("reason"):
                    silent.append(place)
    assert not silent


def test_the_share_of_content_says_why_it_has_no_bound():
    study = parse_sheets(STUDIES["equal ratings"]().sheets())
    bound = content_share_bound(study, arguments(study, DRAWS)["bootstrap"]).iloc[0]
    assert math.isnan(bound["estimate"])
    assert bound["reason"]
