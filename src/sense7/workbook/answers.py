"""Cells of answer scales to levels and states: the one path from a cell to a level."""

import re
from collections import Counter
from collections.abc import Mapping

import numpy as np

from sense7.study import ABSENT, RATED, STATES, UNREADABLE
from sense7.taxonomy import Column, normalise_word
from sense7.workbook.ids import as_number, as_text, distinct_keys
from sense7.workbook.reading import LABELS, Answers

AGAINST = "against"
"""Stands for a state where a number and the word beside it run against each other."""

FREQUENT = 3
"""A value that is not declared is no slip if it occurs this often in a column."""

LONGEST_ANSWER = 100
"""Characters of a longer text are not searched for a number: it is no answer on a scale."""

_NUMBER = r"([+-]?(?:\d+(?:[.,]\d+)?|[.,]\d+))"
_NUMBER_FIRST = re.compile(rf"[(\[]?{_NUMBER}[\s:=.,;/|)\]\u2013-]*[(\[]?(\D+?)[)\]]?", re.ASCII)
_WORD_FIRST = re.compile(rf"(\D+?)[\s:=,;/|(\[\u2013-]*{_NUMBER}[)\]]?", re.ASCII)


def split_number(text: str, decimal: str = ".") -> tuple[float | None, str]:
    """Split "4 - Good" or "Good (4)" into its number and its word; no number if it has none, or two.

    Examples
    --------
    >>> split_number("4 - Good"), split_number("Very good")
    ((4.0, 'good'), (None, 'very good'))
    """
    answer = normalise_word(text)
    number, word = None, answer
    if len(answer) <= LONGEST_ANSWER:
        number_first, word_first = _NUMBER_FIRST.fullmatch(answer), _WORD_FIRST.fullmatch(answer)
        if number_first:
            number, word = as_number(number_first[1], decimal), number_first[2].strip()
        elif word_first:
            number, word = as_number(word_first[2], decimal), word_first[1].strip()
    if number is None:
        return None, answer
    return number, word


def level_of(cell: object, answers: Answers, decimal: str = ".") -> tuple[float, str]:
    """Level of a cell on 1..size (NaN if it has none) and its state.

    A level is what is declared for exactly this text: a word, or a number on a declared scale. A word beside a number
    decides, if both lie on one side of the middle of that scale.
    """
    text = as_text(cell) or ""
    word = normalise_word(text)
    if not word:
        return np.nan, ABSENT
    number = None
    if word not in answers.missing and word not in answers.words:
        number = as_number(cell, decimal)
        if number is not None:
            number = round(number, 9)  # without what floating-point arithmetic left
        if number is not None and answers.scale is not None and answers.scale.holds(number):
            return answers.scale.rescaled(number, answers.size), RATED
        if number is not None or not isinstance(cell, str):
            return np.nan, UNREADABLE
        number, word = split_number(text, decimal)
    if word in answers.missing:
        return np.nan, LABELS[answers.missing[word]]
    level = answers.words.get(word)
    if level is None:
        return np.nan, UNREADABLE
    if number is not None and answers.scale is not None:
        if not answers.scale.holds(number):
            return np.nan, UNREADABLE
        if not answers.agrees(number, level):
            return np.nan, AGAINST
    return level, RATED


def read_answers(table) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Frame name -> levels (NaN if there is none) and states, for every column of a table with a scale."""
    read = {}
    asked = 0
    for column in table.rated_columns:
        levels, states = _read_column(table, column)
        read[column.name] = levels, states
        asked += bool((states != STATES.index(ABSENT)).any())
    left_out = len(table.undeclared)
    if table.official == "Messages" and table.reading.leaves_out and 0 < asked <= 2 * left_out:
        table.add("turn-ratings", left_out=left_out, asked=asked)
    return read


def _read_column(table, column: Column) -> tuple[np.ndarray, np.ndarray]:
    """Levels and states of a column; its values that can't be read are reported."""
    answers = table.reading.answers_of(column)
    cells = table.cells(column.official)
    keys = distinct_keys(cells)
    code_of = {}
    texts = []
    levels = []
    states = []
    for key, cell in dict(zip(keys, cells, strict=True)).items():
        level, state = level_of(cell, answers, table.reading.decimal)
        code_of[key] = len(texts)
        texts.append(as_text(cell))
        levels.append(level)
        states.append(state)
    codes = np.fromiter(map(code_of.__getitem__, keys), dtype=np.intp, count=len(keys))

    rows_of = {}
    against = []
    unreadable = Counter()
    for code, state in enumerate(states):
        if state in (UNREADABLE, AGAINST):
            rows_of[texts[code]] = np.flatnonzero(codes == code) + 2
            unreadable[texts[code].strip()] += len(rows_of[texts[code]])
        if state == AGAINST:
            against.append(texts[code])
            states[code] = UNREADABLE
    state_codes = np.array([STATES.index(state) for state in states], dtype=np.int8)[codes]
    read = np.array(levels, dtype=float)[codes]
    answered = int((state_codes != STATES.index(ABSENT)).sum())
    if against:
        table.add("number-against-word", column.official, rows_of[against[0]], against[0])
    if _is_refused(table, unreadable, answered):
        frequent = [f"{value[:30]!r} ({count:,})" for value, count in unreadable.most_common(12)]
        values = ", ".join(frequent)
        if len(unreadable) > len(frequent):
            values += f" and {len(unreadable) - len(frequent):,} more"
        table.undeclared.add(column.official)
        if not table.reading.leaves_out:
            table.add("undeclared", column.official, values=values, answered=answered)
        else:
            table.add("column-left-out", column.official, values=values, answered=answered)
            read[:] = np.nan
            state_codes[state_codes != STATES.index(ABSENT)] = STATES.index(UNREADABLE)
    else:
        for text, rows in rows_of.items():
            table.add("unreadable", column.official, rows, text)
    return read, state_codes


def _is_refused(table, unreadable: Mapping[str, int], answered: int) -> bool:
    """Whether more is unreadable than slips: too large a share, or a value of one's own workbook that is frequent."""
    if unreadable.total() > table.reading.largest_unreadable * answered:
        return True
    return not table.reading.leaves_out and max(unreadable.values(), default=0) >= FREQUENT
