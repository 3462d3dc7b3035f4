"""Cells of answer scales to levels and states: numbers, words, both at once, or neither.

The scale of each column is recognized from all of its answers before any of them becomes a level. A column is on the
official scale, on a scale that the user declares (rescaled linearly), or refused.
"""

import datetime
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from sense7.study import ABSENT, NOT_RATED, RATED, STATES, UNREADABLE
from sense7.taxonomy import Column, Scale
from sense7.workbook.columns import Table
from sense7.workbook.diagnostics import ERROR, NOTICE, WARNING, Diagnostics
from sense7.workbook.languages import declining_words, language_vocabularies
from sense7.workbook.options import Interval, ReadingOptions
from sense7.workbook.recognition import Numbers, foreign_scale, unused_end
from sense7.workbook.sheets import Percent
from sense7.workbook.values import CODES, DECLINING_WORDS, MISSING_WORDS, as_text, codes_among, distinct_keys, is_blank

__all__ = ["LARGEST_UNREADABLE_SHARE", "Levels", "read_scales"]

LARGEST_UNREADABLE_SHARE = 0.05
"""Share of a column's answers above which unreadable ones stop the analysis, unless the user allows them."""

_STATE_CODES = {state: code for code, state in enumerate(STATES)}
_TYPES = {
    bool: "truth value",
    datetime.date: "date",
    datetime.datetime: "date",
    datetime.time: "time",
    datetime.timedelta: "duration",
}
_ENOUGH_TO_CORRELATE = 20
_REVERSED_BELOW = -0.3
_WORDS_SHOWN = 12


@dataclass(frozen=True)
class Levels:
    """A column of a scale as numbers on 1..size (NaN if there is none; whole unless rescaled) and states."""

    numbers: np.ndarray
    states: np.ndarray


@dataclass(frozen=True)
class _Answer:
    """One distinct cell of a column, in how many rows it stands, and what was read in it.

    ``number`` and ``word`` are None and "" where there is none; ``odd`` names a type that is no answer.
    """

    cell: object
    count: int
    number: float | None = None
    word: str = ""
    odd: str = ""

    @property
    def percent(self) -> bool:
        return self.word == "%"


@dataclass(frozen=True)
class _Question:
    """A column with all that decides how its answers are read.

    ``rows`` holds the place of each row's answer in ``answers``; -1 where there is none. ``fits`` says whether other
    words speak for the vocabulary.
    """

    column: Column
    answers: list[_Answer]
    rows: np.ndarray
    vocabulary: dict[str, int]
    fits: bool
    declared: Interval | None
    declared_for_all: bool
    words: dict[str, float | None]
    missing: tuple[float | str, ...] | None

    @property
    def size(self) -> int:
        return self.column.scale.size

    @property
    def interval(self) -> Interval:
        return self.declared or Interval(1, self.size)

    @cached_property
    def numbers(self) -> Numbers:
        """Numbers of the column with their counts, but for those that stand beside words for no answer."""
        counts: Counter = Counter()
        percent = 0
        for answer in self.answers:
            says_nothing = _says_nothing(answer.word, self.column.scale)
            if answer.number is not None and not says_nothing and not self.is_missing(answer):
                counts[answer.number] += answer.count
                percent += answer.percent * answer.count
        return Numbers(counts, percent)

    @cached_property
    def known_numbers(self) -> set[float]:
        """Numbers of the column, and all levels where words name some."""
        named = any(answer.word in self.vocabulary for answer in self.answers)
        return {*self.numbers.counts, *(range(1, self.size + 1) if named else ())}

    @cached_property
    def levels_of_others(self) -> set[float]:
        """Levels that the column's other words and numbers stand for: those that can't mean a missing answer."""
        words = {a.word for a in self.answers if a.number is None} - MISSING_WORDS
        return {self.vocabulary[word] for word in words if word in self.vocabulary} | set(self.numbers.counts)

    def is_missing(self, answer: _Answer) -> bool:
        """Whether an answer stands for none: as it was declared, or by a word that is no level of the column.

        A word such as "none" is a level only if other words of the column fit its vocabulary, and none of them and no
        number is that level.
        """
        number, word = answer.number, answer.word
        if self.missing is not None and (word if number is None else number) in self.missing:
            return True
        if word not in MISSING_WORDS or word in self.words:
            return False
        if number is not None:
            return not self.interval.holds(number)
        return not self.fits or word not in self.vocabulary or self.vocabulary[word] in self.levels_of_others

    def codes(self, pooled: Numbers) -> list[float]:
        """Numbers of the column that probably stand for a missing answer, though nobody declared them."""
        if self.missing is not None:
            return []
        if self.declared is None:
            among = codes_among({*self.known_numbers, *pooled.counts}, self.size)
        else:
            among = [number for number in self.numbers.counts if number in CODES and not self.declared.holds(number)]
        return [number for number in among if number in self.numbers.counts]


def read_scales(table: Table, diagnostics: Diagnostics, options: ReadingOptions) -> dict[str, Levels]:
    """Every column of the table that holds a scale.

    Parameters
    ----------
    table : Table
        The sheet.
    diagnostics : Diagnostics
        Where to report. A column on a scale that was not declared, and one with too many unreadable answers, is an
        error.
    options : ReadingOptions
        Scales and words that the user declared.

    Returns
    -------
    dict
        Frame name -> :class:`Levels`.
    """
    by_scale: dict[int, list[Column]] = defaultdict(list)
    for column in table.columns:
        if column.scale is not None:
            by_scale[id(column.scale)].append(column)
    levels: dict[str, Levels] = {}
    missing: dict[str, set[int]] = defaultdict(set)
    for columns in by_scale.values():
        questions = _questions(table, columns, options)
        pooled: dict[Interval | None, Numbers] = defaultdict(Numbers)
        for question in questions:
            pooled[question.declared] += question.numbers
        for question in questions:
            together = pooled[question.declared]
            levels[question.column.name] = _read_column(table, question, together, options, diagnostics, missing)
        _report_reversed(table, questions, levels, diagnostics)
    if missing:
        diagnostics.add(
            NOTICE,
            "missing-code",
            f"rating cells that hold {', '.join(sorted(missing))} are read as blank: other programs write "
            "missing values so, or they were declared.",
            "nothing, if that is meant; write unknown where a person declined to rate.",
            sheet=table.sheet.name,
            rows=sorted(set().union(*missing.values())),
        )
    return levels


def _questions(table: Table, columns: list[Column], options: ReadingOptions) -> list[_Question]:
    scale = columns[0].scale
    answers = {column.official: _answers(scale, table.cells(column.official)) for column in columns}
    declared = {column.official: options.words_of(column.official, scale.size) for column in columns}
    words = {official: _count_words(own, scale, declared[official]) for official, (own, _) in answers.items()}
    together = sum(words.values(), Counter())
    # One form, one language: a column follows the others unless they know less than half of its words.
    shared = _vocabulary(scale, together)
    questions = []
    for column in columns:
        (own, rows), counts = answers[column.official], words[column.official]
        numbers = any(answer.number is not None for answer in own)
        vocabulary = shared if _known(shared, counts) >= 0.5 else _vocabulary(scale, counts)
        known = [word for word in together if word in vocabulary]
        if numbers and vocabulary is not scale.tables[0] and len(known) == 1:  # one word among numbers
            tables = (*scale.tables, *language_vocabularies(scale.name))
            if len({table[known[0]] for table in tables if known[0] in table}) > 1:
                vocabulary = scale.tables[0]
        questions.append(
            _Question(
                column,
                own,
                rows,
                vocabulary,
                any(word in vocabulary for word in (counts if counts or numbers else together)),
                options.scale_of(column.official, scale.size),
                column.official not in options.scales,
                declared[column.official],
                options.missing_of(column.official),
            )
        )
    return questions


def _count_words(answers: list[_Answer], scale: Scale, declared: dict) -> Counter:
    """Word -> number of answers; declared words, those for no answer, and those beside a number are left out."""
    words: Counter = Counter()
    for answer in answers:
        if _is_word(answer, scale) and answer.word not in declared:
            words[answer.word] += answer.count
    return words


def _says_nothing(word: str, scale: Scale) -> bool:
    """Whether a word stands for a missing answer, or declines to answer."""
    return word in MISSING_WORDS or _declines(word, scale)


def _declines(word: str, scale: Scale) -> bool:
    # Other languages are looked up where it is needed only, since reading their words takes time.
    unknown = bool(word) and not any(word in table for table in scale.tables)
    return word in DECLINING_WORDS or (unknown and word in declining_words())


def _known(vocabulary: dict[str, int], words: Counter) -> float:
    """Share of answers in words that a vocabulary knows; 1 if there is none."""
    total = words.total()
    return sum(count for word, count in words.items() if word in vocabulary) / total if total else 1.0


def _vocabulary(scale: Scale, words: Counter) -> dict[str, int]:
    """The vocabulary of any language that knows the most answers, or the official one if none knows half."""
    chosen = scale.choose_vocabulary(words)
    if _known(chosen, words) < 0.5:
        chosen = max([chosen, *language_vocabularies(scale.name)], key=lambda vocabulary: _known(vocabulary, words))
    return chosen if _known(chosen, words) >= 0.5 else scale.tables[0]


def _answers(scale: Scale, cells: Sequence) -> tuple[list[_Answer], np.ndarray]:
    """Distinct cells, parsed, blank ones left out; and for each row the place of its answer, -1 where there is none."""
    keys = distinct_keys(cells)
    answers: list[_Answer] = []
    code_of: dict = {}
    for key, count in Counter(keys).items():
        cell = key if keys is cells else key[1]
        answer = None if is_blank(cell) else _answer(scale, cell, count)
        code_of[key] = -1 if answer is None else len(answers)
        answers += [] if answer is None else [answer]
    return answers, np.fromiter(map(code_of.__getitem__, keys), dtype=np.intp, count=len(keys))


def _answer(scale: Scale, cell: object, count: int) -> _Answer | None:
    """What a cell says, without what floating-point arithmetic left beside a number; None if it is blank."""
    if isinstance(cell, str):
        number, word = scale.split_number(cell)
        return _Answer(cell, count, number and round(number, 9), word) if number is not None or word else None
    if isinstance(cell, Percent):
        return _Answer(cell, count, round(100 * float(cell), 9), "%")
    if isinstance(cell, bool) or not isinstance(cell, int | float):
        return _Answer(cell, count, odd=_TYPES.get(type(cell), "value"))
    return _Answer(cell, count, round(float(cell), 9))


def _read_column(
    table: Table,
    question: _Question,
    pooled: Numbers,
    options: ReadingOptions,
    diagnostics: Diagnostics,
    missing: dict[str, set[int]],
) -> Levels:
    # One entry for each answer, and a last one for rows without any, whose code is -1.
    level_of = np.full(len(question.answers) + 1, np.nan)
    state_of = np.full(len(question.answers) + 1, _STATE_CODES[ABSENT], dtype=np.int8)
    column, location = question.column, table.place(question.column.official)
    codes = question.codes(pooled)
    refusal = _refusal(question, pooled, codes)
    if refusal:
        diagnostics.add(ERROR, "other-scale", *refusal, **location)
    _report_vocabulary(question, location, diagnostics)
    unreadable: Counter = Counter()
    for code, answer in enumerate(question.answers):
        if question.is_missing(answer):
            missing[str(as_text(answer.cell)).strip()].update((np.flatnonzero(question.rows == code) + 2).tolist())
            continue
        level, kind, problem = _level(answer, question)
        if level is not None:
            level_of[code], state_of[code] = level, _STATE_CODES[RATED]
        elif kind == "not-rated":
            state_of[code] = _STATE_CODES[NOT_RATED]
        else:
            state_of[code] = _STATE_CODES[UNREADABLE]
            unreadable[as_text(answer.cell)] += answer.count
        if problem and not refusal:
            advice = (
                f"write a number from {question.interval} or one of: {', '.join(_anchors(column.scale))}; leave the "
            )
            advice += "cell blank if there is no answer."
            diagnostics.add(
                WARNING,
                kind,
                problem,
                f"{_declare([answer.number], column)}." if answer.number in codes else advice,
                **location,
                rows=(np.flatnonzero(question.rows == code) + 2).tolist(),
                value=answer.cell,
            )
    values, states = level_of[question.rows], state_of[question.rows]
    table.count(column.official, int((states != _STATE_CODES[ABSENT]).sum()), int(np.isfinite(values).sum()))
    rescaled = question.declared if question.declared != Interval(1, question.size) else None
    table.note_scale(column.official, rescaled, unreadable.total())
    if not refusal:
        _report_unused_end(table, question, pooled, diagnostics)
        if not options.allow_unreadable:
            _report_unreadable(table, question, unreadable, codes, diagnostics)
    return Levels(values, states)


def _declare(numbers: Iterable[float], column: Column) -> str:
    """How numbers that stand for a missing answer are declared."""
    listed = ",".join(f"{number:g}" for number in sorted(numbers))
    return (
        f"if no answer is meant by {' and '.join(listed.split(','))}, declare it: --missing {listed} (everywhere) "
        f"or --missing {column.official}={listed}"
    )


def _refusal(question: _Question, pooled: Numbers, codes: list[float]) -> tuple[str, str] | None:
    """Why a column is not on the scale that it would be read on, and how to fix it; None if it is."""
    official, size = question.column.official, question.size
    if question.declared is None:
        own = question.numbers.without(codes)
        foreign = foreign_scale(own, pooled.without(codes_among({*question.known_numbers, *pooled.counts}, size)), size)
        if foreign is not None:
            option = f"--scale {official}={foreign.likely.option}"
            strays = [number for number in own.counts if not 1 <= number <= size and number.is_integer()]
            further = f"; {_declare(codes or strays, question.column)}" if codes or 0 < len(strays) < 3 else ""
            both = f"--scale {foreign.likely.option} (all columns of {size} levels) or " if size == 5 else ""
            return (
                f"{foreign.seen}; the official scale is 1 to {size}.",
                f"declare the scale: {both}{option}, or a sheet Scales with the columns column and scale; "
                f"{official}=1-{size} if it is the official one{further}.",
            )
    elif question.declared_for_all and question.declared != Interval(1, size):
        end = unused_end(pooled, question.declared)
        if end is not None and end <= size:
            return (
                f"no number lies above {end:g}, although {question.declared} was declared for all columns.",
                f"declare its own scale: --scale {official}=1-{size} or --scale {official}={question.declared.option}.",
            )
    graded = _graded_words(question)
    if graded and (question.declared is None or question.declared == Interval(1, size)):
        return (
            f"the words {graded[0]!r} and {graded[1]!r} both occur, so the scale has more than {size} levels. It was "
            "not read, since two levels would become one.",
            f"declare the scale and its words, for example --scale {official}=1-7 --words words.yml, where words.yml "
            f"gives each word its number on that scale, one per line: {_template(question)}",
        )
    return None


def _graded_words(question: _Question) -> tuple[str, str] | None:
    """Two words of one level of which one is the other with an adverb, such as disagree and somewhat disagree."""
    by_level: dict[int, list[str]] = defaultdict(list)
    for answer in question.answers:
        if answer.word and answer.word not in question.words and (level := question.vocabulary.get(answer.word)):
            by_level[level].append(answer.word)
    for words in by_level.values():
        for word in words:
            longer = [other for other in words if other.endswith(f" {word}")]
            if longer:
                return word, longer[0]
    return None


def _is_word(answer: _Answer, scale: Scale) -> bool:
    return bool(answer.word) and not answer.percent and not _says_nothing(answer.word, scale)


def _template(question: _Question) -> str:
    words = list(dict.fromkeys(a.word for a in question.answers if _is_word(a, question.column.scale)))
    more = f" and {len(words) - _WORDS_SHOWN} more" if len(words) > _WORDS_SHOWN else ""
    return ", ".join(f"{word!r}: ?" for word in words[:_WORDS_SHOWN]) + more


def _report_unreadable(
    table: Table, question: _Question, unreadable: Counter, codes: list[float], diagnostics: Diagnostics
) -> None:
    answered = sum(answer.count for answer in question.answers if not question.is_missing(answer))
    if unreadable.total() <= LARGEST_UNREADABLE_SHARE * answered:
        return
    seen = ", ".join(f"{value[:30]!r} ({count:,})" for value, count in unreadable.most_common(5))
    words = [a.word for a in question.answers if _is_word(a, question.column.scale) and a.number is None]
    unknown = [w for w in words if not w.startswith("=") and w not in question.vocabulary and w not in question.words]
    if codes:
        remedy = _declare(codes, question.column)
    elif unknown:
        remedy = (
            "give the words their numbers with --words words.yml, a file with one line for each word: "
            f"{_template(question)}"
        )
    else:
        remedy = f"correct the cells, or declare the scale with --scale {question.column.official}=LOWEST-HIGHEST"
    diagnostics.add(
        ERROR,
        "unreadable-column",
        f"{unreadable.total():,} of {answered:,} answers can't be read as {question.interval}, more than "
        f"{LARGEST_UNREADABLE_SHARE:.0%}: {seen}.",
        f"{remedy}; or go on without these answers with --allow-unreadable.",
        **table.place(question.column.official),
    )


def _report_vocabulary(question: _Question, location: dict, diagnostics: Diagnostics) -> None:
    official, vocabulary = question.column.scale.tables[0], question.vocabulary
    used = {
        a.word
        for a in question.answers
        if a.word in vocabulary and a.word not in question.words and not question.is_missing(a)
    }
    reading = ", ".join(f"{word} = {vocabulary[word]}" for word in sorted(used, key=lambda w: (vocabulary[w], w)))
    if any(official.get(word) != vocabulary[word] for word in used):
        diagnostics.add(
            WARNING,
            "other-words",
            f"the words are not those of the official format; they were read as {reading}.",
            "check that reading; give the words their numbers with --words if it is wrong.",
            **location,
        )
    elif len({vocabulary[word] for word in used}) < len(used):
        diagnostics.add(
            WARNING,
            "several-words",
            f"several words stand for one level; they were read as {reading}.",
            "check that reading; a scale of more levels is declared with --scale and --words.",
            **location,
        )


def _report_unused_end(table: Table, question: _Question, pooled: Numbers, diagnostics: Diagnostics) -> None:
    """Report a question whose numbers never reach the end of the scale, which may have been a shorter one."""
    if any(answer.word and answer.number is None for answer in question.answers) or not question.numbers.counts:
        return  # words say their level themselves
    if question.declared == Interval(1, question.size) and not question.declared_for_all:
        return  # a column of which somebody says that its scale is the official one
    end = unused_end(pooled, question.interval)
    if end is not None:
        diagnostics.add(
            WARNING,
            "unused-end",
            f"no answer lies above {end:g}; the numbers were read on a scale from {question.interval}.",
            "if the scale ended there, declare it: "
            f"--scale {question.column.official}={Interval(question.interval.lowest, end).option}.",
            **table.place(question.column.official),
        )


def _report_reversed(
    table: Table, questions: list[_Question], levels: dict[str, Levels], diagnostics: Diagnostics
) -> None:
    """Report a question whose answers run against those of all others on the same scale."""
    numbers = {question.column: levels[question.column.name].numbers for question in questions}
    if len(numbers) < 3:
        return
    stacked = np.column_stack(list(numbers.values()))
    stacked = stacked[np.isfinite(stacked).sum(axis=1) > 1]  # no other answer, nothing to compare with
    known = np.isfinite(stacked)
    total, count = np.where(known, stacked, 0).sum(axis=1), known.sum(axis=1)
    for position, column in enumerate(numbers):
        both = known[:, position]
        if both.sum() < _ENOUGH_TO_CORRELATE:
            continue
        own = stacked[both, position]
        others = (total[both] - own) / (count[both] - 1)
        if not own.std() or not others.std():
            continue
        correlation = float(np.corrcoef(own, others)[0, 1])
        if correlation < _REVERSED_BELOW:
            ends = questions[position].interval
            diagnostics.add(
                WARNING,
                "reversed-column",
                f"its answers run against the mean of the other {len(numbers) - 1} columns on this scale (correlation "
                f"{correlation:.2f} over {both.sum():,} rows); it was read with {ends.highest:g} as the most.",
                "if the largest number meant the least, declare the scale reversed: "
                f"--scale {column.official}={Interval(ends.highest, ends.lowest).option}.",
                **table.place(column.official),
            )


def _anchors(scale: Scale) -> list[str]:
    return [level[0] for level in scale.vocabularies[0]] + sorted(scale.not_rated)[-1:]


def _level(answer: _Answer, question: _Question) -> tuple[float | None, str, str]:
    """Level of an answer, the kind of what is strange about it, and that in words."""
    number, word, scale = answer.number, answer.word, question.column.scale
    if answer.odd:
        return None, "unknown-word", f"a {answer.odd}, not an answer on this scale; counted as unreadable."
    if question.words[word] is None if word in question.words else _declines(word, scale):
        return None, "not-rated", ""
    of_word = _level_of_word(word, question)
    if number is None:
        if of_word is not None:
            return of_word, "", ""
        what = "a formula that stands there as text" if word.startswith("=") else "not a known word of this scale"
        return None, "unknown-word", f"{what}; counted as unreadable."
    interval = question.interval
    if answer.percent and max(interval.lowest, interval.highest) <= 1:
        number /= 100
    if not interval.holds(number) or (question.declared is None and (answer.percent or not number.is_integer())):
        return None, "out-of-range", f"not on the scale from {interval}; counted as unreadable."
    level = float(interval.rescaled(number, scale.size))
    if word and not answer.percent and of_word is None:
        if re.search(r"\d", word):
            return None, "unknown-word", "not a known answer of this scale; counted as unreadable."
        return level, "unknown-word", "the word is not known; its number is used."
    if of_word is not None and abs(of_word - level) > 1e-9:
        return None, "contradiction", f"the number says {number:g}, the word {of_word:g}; counted as unreadable."
    return level, "", ""


def _level_of_word(word: str, question: _Question) -> float | None:
    """Level of a word: as the user declared it, else by the vocabulary where the scale is the official one."""
    for spelling in (word, word.rstrip(".!")):
        if (number := question.words.get(spelling)) is not None:
            on_scale = question.interval.holds(number)
            return float(question.interval.rescaled(number, question.size)) if on_scale else None
        official = {question.interval.lowest, question.interval.highest} == {1, question.size}
        if official and (level := question.vocabulary.get(spelling)) is not None:
            return float(level)
    return None
