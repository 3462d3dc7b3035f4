"""Cells of answer scales to levels and states: numbers, words, both at once, or neither."""

import datetime
import re
from collections import Counter, defaultdict
from dataclasses import dataclass

import numpy as np

from sense7.study import ABSENT, NOT_RATED, RATED, STATES
from sense7.taxonomy import Column, Scale
from sense7.workbook.columns import Table
from sense7.workbook.findings import WARNING, Findings
from sense7.workbook.values import as_number

__all__ = ["Levels", "read_scales"]

_STATE_CODES = {state: code for code, state in enumerate(STATES)}
_TYPES = {
    bool: "truth value",
    datetime.date: "date",
    datetime.datetime: "date",
    datetime.time: "time",
    datetime.timedelta: "duration",
}


@dataclass(frozen=True)
class Levels:
    """A column of a scale as numbers: levels (NaN if none) and states."""

    numbers: np.ndarray
    states: np.ndarray


def read_scales(table: Table, findings: Findings) -> dict[str, Levels]:
    """Every column of the table that holds a scale: frame name -> levels."""
    by_scale: dict[int, list[Column]] = defaultdict(list)
    for column in table.columns:
        if column.scale is not None:
            by_scale[id(column.scale)].append(column)
    levels = {}
    for columns in by_scale.values():
        scale = columns[0].scale
        distinct = {column.official: _distinct(table.cells(column.official)) for column in columns}
        answers = {official: _answers(scale, cells) for official, cells in distinct.items()}
        # One form, one language: a column follows the others unless they know less than half of its words.
        shared = scale.choose_vocabulary(sum(answers.values(), Counter()))
        for column in columns:
            own = answers[column.official]
            follows = 2 * sum(own[word] for word in own.keys() & shared.keys()) >= own.total()
            vocabulary = shared if follows else scale.choose_vocabulary(own)
            _report_vocabulary(table, column, vocabulary, own.keys() & vocabulary.keys(), findings)
            levels[column.name] = _read_column(table, column, distinct[column.official], vocabulary, findings)
    return levels


def _distinct(cells: list) -> dict[tuple, list[int]]:
    """Distinct cells with their places; the type belongs to the key, since True equals 1."""
    places: dict[tuple, list[int]] = defaultdict(list)
    for index, cell in enumerate(cells):
        if cell is not None:
            places[type(cell), cell].append(index)
    return places


def _answers(scale: Scale, distinct: dict[tuple, list[int]]) -> Counter:
    """Word -> number of cells; numbers and words for not rated are left out."""
    answers: Counter = Counter()
    for (_, cell), places in distinct.items():
        if isinstance(cell, str) and (word := scale.split_number(cell)[1]) and word not in scale.not_rated:
            answers[word] += len(places)
    return answers


def _report_vocabulary(table, column, vocabulary, words, findings) -> None:
    official = column.scale.tables[0]
    reading = ", ".join(f"{word} = {vocabulary[word]}" for word in sorted(words, key=lambda w: (vocabulary[w], w)))
    if any(official.get(word) != vocabulary[word] for word in words):
        findings.add(
            WARNING,
            "other-words",
            f"the words are not those of the official format; they were read as {reading}.",
            "check that reading; write numbers if it is wrong.",
            **table.place(column.official),
        )
    elif len({vocabulary[word] for word in words}) < len(words):
        findings.add(
            WARNING,
            "several-words",
            f"several words stand for one level; they were read as {reading}.",
            f"check that reading; a scale of more than {column.scale.size} levels can't be told apart here.",
            **table.place(column.official),
        )


def _read_column(table, column, distinct, vocabulary, findings) -> Levels:
    values = np.full(table.length, np.nan)
    states = np.full(table.length, _STATE_CODES[ABSENT], dtype=np.int8)
    for (_, cell), places in distinct.items():
        level, kind, problem = _level(cell, column.scale, vocabulary)
        if level is not None:
            values[places], states[places] = level, _STATE_CODES[RATED]
        elif kind != "blank":
            states[places] = _STATE_CODES[NOT_RATED]
        if problem:
            findings.add(
                WARNING,
                kind,
                problem,
                f"write a number from 1 to {column.scale.size} or one of: "
                f"{', '.join(_anchors(column.scale))}; leave the cell blank if there is no answer.",
                **table.place(column.official),
                rows=[place + 2 for place in places],
                value=cell,
            )
    _report_shifted(table, column, values, distinct, findings)
    table.count(column.official, (states != _STATE_CODES[ABSENT]).sum(), np.isfinite(values).sum())
    return Levels(values, states)


def _report_shifted(table, column, values, distinct, findings) -> None:
    """Report a column of numbers that begin with 0 and do not go up to the highest level: each may be one too low."""
    if any(isinstance(cell, str) and column.scale.split_number(cell)[0] is None for _, cell in distinct):
        return  # words say their level themselves
    zeros = [place for (_, cell), places in distinct.items() if as_number(cell) == 0 for place in places]
    if zeros and not (values == column.scale.size).any():
        findings.add(
            WARNING,
            "shifted-scale",
            f"the numbers begin with 0 and none is {column.scale.size}; they were read as they stand, on a scale that "
            "begins with 1.",
            f"if the scale went from 0 to {column.scale.size - 1}, add 1 to every number.",
            **table.place(column.official),
            rows=sorted(place + 2 for place in zeros),
        )


def _anchors(scale: Scale) -> list[str]:
    return [level[0] for level in scale.vocabularies[0]] + sorted(scale.not_rated)


def _level(cell, scale: Scale, vocabulary: dict[str, int]) -> tuple[int | None, str, str]:
    """Level of a cell, the kind of what is strange about it, and that in words."""
    if isinstance(cell, str):
        number, word = scale.split_number(cell)
        if number is None and not word:
            return None, "blank", ""
        if word in scale.not_rated:
            return None, "not-rated", ""
    elif isinstance(cell, bool) or not isinstance(cell, int | float):
        return (
            None,
            "unknown-word",
            f"a {_TYPES.get(type(cell), 'value')}, not an answer on this scale; counted as not rated.",
        )
    else:
        number, word = float(cell), ""
    known = vocabulary.get(word) or vocabulary.get(word.rstrip(".!"))
    if number is None:
        return (
            (known, "", "")
            if known
            else (None, "unknown-word", "not a known word of this scale; counted as not rated.")
        )
    if not number.is_integer() or not 1 <= number <= scale.size:
        return (
            None,
            "out-of-range",
            f"not one of the levels 1 to {scale.size}; counted as not rated.",
        )
    if word and known is None and re.search(r"\d", word):
        return None, "unknown-word", "not a known answer of this scale; counted as not rated."
    if known is not None and known != number:
        return (
            None,
            "contradiction",
            f"the number says {number:g}, the word {known}; counted as not rated.",
        )
    if word and known is None:
        return int(number), "unknown-word", "the word is not known; its number is used."
    return int(number), "", ""
