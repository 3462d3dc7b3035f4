"""Cells of answer scales to levels and states: the one path from a cell to a level."""

import functools
import math
import re
from array import array
from collections import Counter, defaultdict

from sense7.study import ABSENT, RATED, STATES, UNREADABLE
from sense7.taxonomy import Column, normalise_word
from sense7.workbook.ids import as_number, as_text
from sense7.workbook.reading import LABELS, Answers

AGAINST = "against"
"""Stands for a state where a number and the word beside it run against each other."""

FREQUENT = 3
"""A value that is not declared is no slip if it occurs this often in a column."""

LONGEST_ANSWER = 100
"""Characters of a longer text are not searched for a number: it is no answer on a scale."""

_NUMBER = r"(?P<number>[+-]?(?:\d+(?:[.,]\d+)?|[.,]\d+))"
_FORMS = (
    re.compile(rf"[(\[]?{_NUMBER}[\s:=.,;/|)\]\u2013-]*[(\[]?(?P<word>\D+?)[)\]]?", re.ASCII),
    re.compile(rf"(?P<word>\D+?)[\s:=,;/|(\[\u2013-]*{_NUMBER}[)\]]?", re.ASCII),
)
"""A number before its word, and a word before its number."""


def split_number(text: str, decimal: str = ".") -> tuple[float | None, str]:
    """Split "4 - Good" or "Good (4)" into its number and its word; no number if it has none, or two.

    Examples
    --------
    >>> split_number("4 - Good"), split_number("Very good")
    ((4.0, 'good'), (None, 'very good'))
    """
    answer = normalise_word(text)
    if len(answer) > LONGEST_ANSWER:
        return None, answer
    for form in _FORMS:
        match = form.fullmatch(answer)
        number = match and as_number(match["number"], decimal)
        if number is not None:
            return number, match["word"].strip()
    return None, answer


def level_of(cell: object, answers: Answers, decimal: str = ".") -> tuple[float, str]:
    """Level of a cell on 1..size (NaN if it has none) and its state.

    A level is what is declared for exactly this text: a word, or a number on a declared scale. A word beside a number
    decides, if both lie on one side of the middle of that scale.
    """
    text = as_text(cell) or ""
    word = normalise_word(text)
    if not word:
        return math.nan, ABSENT
    number = None
    if word not in answers.missing and word not in answers.words:
        number = as_number(cell, decimal)
        if number is not None:
            number = round(number, 9)  # without what floating-point arithmetic left
        if number is not None and answers.scale is not None and answers.scale.holds(number):
            return answers.scale.rescaled(number, answers.size), RATED
        if number is not None or not isinstance(cell, str):
            return math.nan, UNREADABLE
        number, word = split_number(text, decimal)
    if word in answers.missing:
        return math.nan, LABELS[answers.missing[word]]
    level = answers.words.get(word)
    if level is None:
        return math.nan, UNREADABLE
    if number is not None and answers.scale is not None:
        if not answers.scale.holds(number):
            return math.nan, UNREADABLE
        middle = (1 + answers.size) / 2
        if (answers.scale.rescaled(number, answers.size) - middle) * (level - middle) < 0:
            return math.nan, AGAINST
    return level, RATED


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
        if state == AGAINST:
            table.add("number-against-word", column.official, [cells.index(cell) + 2], cell)
            state = UNREADABLE
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
