"""Cells of answer scales to levels and states: the one path from a cell to a level."""

import functools
import math
from array import array
from collections import Counter, defaultdict

from sense7.study import ABSENT, RATED, STATES, UNREADABLE
from sense7.taxonomy import Column, normalise_word
from sense7.workbook.ids import as_number, as_text
from sense7.workbook.reading import LABELS, Answers

FREQUENT = 3
"""A value that is not declared is no slip if it occurs this often in a column."""


def level_of(cell: object, answers: Answers, decimal: str = ".") -> tuple[float, str]:
    """Level of a cell on 1..size (NaN if it has none) and its state.

    A level is what is declared for exactly this text: a word, or a number on a declared scale.
    """
    word = normalise_word(as_text(cell) or "")
    if not word:
        return math.nan, ABSENT
    if word in answers.missing:
        return math.nan, LABELS[answers.missing[word]]
    if word in answers.words:
        return answers.words[word], RATED
    number = as_number(cell, decimal)
    if number is not None and answers.scale is not None:
        number = round(number, 9)  # without what floating-point arithmetic left
        if answers.scale.holds(number):
            return answers.scale.rescaled(number, answers.size), RATED
    return math.nan, UNREADABLE


def read_answers(table) -> dict[str, tuple[array, array]]:
    """Frame name -> levels (NaN if there is none) and states, for every column of a table with a scale."""
    read = {}
    answered_columns = 0
    for column in table.columns:
        if column.scale is None:
            continue
        levels, states = _read_column(table, column)
        read[column.name] = levels, states
        answered_columns += count_answered(states) > 0
    left_out = len(table.undeclared)
    is_official = table.official == "Messages" and table.reading.leaves_out
    if is_official and 0 < answered_columns <= 2 * left_out:
        table.add("turn-ratings", left_out=left_out, asked=answered_columns)
    return read


def _read_column(table, column: Column) -> tuple[array, array]:
    """Levels and states of a column; its values that can't be read are reported."""
    reading = table.reading
    answers = reading.answers_of(column)
    cells = table.cells(column.official)

    @functools.lru_cache(maxsize=None, typed=True)
    def read_cell(cell: object) -> tuple[float, int]:
        level, state = level_of(cell, answers, reading.decimal)
        return level, STATES.index(state)

    read = list(map(read_cell, cells))
    levels = array("d", [level for level, _ in read])
    states = array("b", [state for _, state in read])
    unreadable, blank = STATES.index(UNREADABLE), STATES.index(ABSENT)
    if unreadable not in states:
        return levels, states
    answered = count_answered(states)
    rows_of = defaultdict(list)
    for row, (cell, state) in enumerate(zip(cells, states, strict=True), 2):
        if state == unreadable:
            rows_of[as_text(cell).strip()].append(row)
    counts = Counter({text: len(rows) for text, rows in rows_of.items()})
    is_frequent = not reading.leaves_out and max(counts.values(), default=0) >= FREQUENT
    if counts.total() <= reading.largest_unreadable * answered and not is_frequent:
        for text, rows in rows_of.items():
            table.add("unreadable", column.official, rows, text)
        return levels, states
    table.undeclared.add(column.official)
    values = [f"{value[:30]!r} ({count:,})" for value, count in counts.most_common(12)]
    if len(counts) > len(values):
        values.append(f"{len(counts) - len(values):,} more")
    words = {"values": ", ".join(values), "answered": answered, "severity": reading.severity}
    table.add("undeclared", column.official, **words)
    levels = array("d", [math.nan] * len(levels))
    code_of = dict.fromkeys(states, unreadable)
    code_of[blank] = blank
    return levels, array("b", map(code_of.get, states))


def count_answered(states: array) -> int:
    """Number of cells that are not blank."""
    return len(states) - states.count(STATES.index(ABSENT))
