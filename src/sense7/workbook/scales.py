"""Cells of answer scales to levels and states: numbers, words, both at once, or neither.

The scale of each column is recognized from all of its answers before any of them becomes a level. A column is on the
official scale, on a scale that the user declares (rescaled linearly), or refused.
"""

import functools
import re
import tomllib
from collections import Counter, defaultdict, namedtuple
from collections.abc import Iterable, Mapping, Sequence
from itertools import product
from pathlib import Path

import numpy as np

from sense7.files import parse_yaml
from sense7.study import ABSENT, NOT_RATED, RATED, STATES, UNREADABLE
from sense7.taxonomy import Column, Scale, normalise_word
from sense7.workbook.ids import CODES, as_number, as_text, codes_among, distinct_keys, is_blank
from sense7.workbook.options import Interval, ReadingOptions

LARGEST_UNREADABLE_SHARE, LARGEST_STRAY_SHARE, FEWEST_STRAYS = 0.05, 0.05, 3
"""Share of a column's answers above which unreadable ones stop the analysis, unless the user allows them; share of its
numbers that are no level, if there are that many, above which they can't be slips."""

ENOUGH_NUMBERS = 20
"""Numbers from which on it says something that the highest level never occurs."""

ABSENT_CODE, RATED_CODE, NOT_RATED_CODE, UNREADABLE_CODE = map(STATES.index, (ABSENT, RATED, NOT_RATED, UNREADABLE))

USUAL = [Interval(low, high) for high in (*range(1, 8), 9, 10) for low in (1, 0, -high) if low < high]
USUAL += [Interval(0, 100), Interval(-100, 100)]
"""Scales that are in use, the smallest first."""

_WORDS = {
    name: frozenset(words)
    for name, words in tomllib.loads(Path(__file__).with_name("words.toml").read_text("utf-8")).items()
}
TOTALS, NO_ID, DECLINING_WORDS = _WORDS["totals"], _WORDS["no_id"], _WORDS["declining"]
MISSING_WORDS = _WORDS["missing"] | {f".{letter}" for letter in "abcdefghijklmnopqrstuvwxyz_"}
"""What spreadsheets, statistics and survey programs write for a missing value, by normalize_word."""

KINDS = {
    "turn rating": ("quality", "agreement"),
    "post-task empathy": ("quality", "agreement"),
    "post-task experience": ("agreement", "quality"),
    "importance": ("importance", "quality", "agreement"),
    "desired empathy": ("desired",),
}
"""Scale -> lists of words in languages.yml that may stand on it, the most usual first."""


# --- words ---


@functools.cache
def languages() -> dict[str, dict]:
    """Answer words by language, English left out; read only where a workbook's words are not English."""
    return parse_yaml(Path(__file__).with_name("languages.yml").read_text("utf-8"))


@functools.cache
def language_vocabularies(scale: str) -> tuple[dict[str, int], ...]:
    """Vocabularies of all languages for the scale of a name, each: normalized word -> level, from 1."""
    return tuple(
        {normalise_word(word): level for level, words in enumerate(levels, 1) for word in words.split("|")}
        for language in languages().values()
        for kind in KINDS[scale]
        for levels in language.get(kind, ())
    )


def usual_words(language: str, scale: str) -> tuple[str, ...]:
    """The usual word of each level in a language, lowest first."""
    return tuple(words.split("|")[0] for words in languages()[language][KINDS[scale][0]][0])


@functools.cache
def declining_words() -> frozenset[str]:
    """Words of all other languages by which a person declines to rate."""
    return frozenset(normalise_word(word) for language in languages().values() for word in language["not_rated"])


def declines(word: str, scale: Scale | None = None) -> bool:
    """Whether a normalized word declines to answer; other languages are looked up where it is no word of the scale."""
    unknown = bool(word) and not any(word in table for table in (scale.tables if scale else ()))
    return word in DECLINING_WORDS or (unknown and word in declining_words())


def says_nothing(word: str, scale: Scale | None = None) -> bool:
    """Whether a normalized word stands for a missing answer, or declines to answer."""
    return word in MISSING_WORDS or declines(word, scale)


def is_answer(scale: Scale, cell: str) -> bool:
    """Whether a text is an answer on a scale, in any language."""
    number, word = scale.split_number(cell)
    is_word = any(word in table for table in (*scale.tables, *language_vocabularies(scale.name)))
    return (number is not None and not word) or is_word


def stands_for(cell: object, missing: Iterable[float | str]) -> bool:
    """Whether a cell is one of the numbers or words that stand for a missing answer."""
    number = as_number(cell)
    return (number if number is not None else normalise_word(as_text(cell) or "")) in missing


def _known(vocabulary: Mapping[str, int], words: Counter) -> float:
    """Share of answers in words that a vocabulary knows; 1 if there is none."""
    return sum(words[word] for word in words if word in vocabulary) / words.total() if words.total() else 1.0


def choose_vocabulary(scale: Scale, words: Counter) -> dict[str, int]:
    """The official vocabulary where it knows enough answers or none knows half; else that which knows the most."""
    official, *others = scale.tables
    if _known(official, words) >= scale.enough:
        return official
    chosen = max([official, *others], key=lambda vocabulary: _known(vocabulary, words))
    if _known(chosen, words) < 0.5:
        chosen = max([chosen, *language_vocabularies(scale.name)], key=lambda vocabulary: _known(vocabulary, words))
    return chosen if _known(chosen, words) >= 0.5 else official


# --- columns ---


Answer = namedtuple("Answer", ("cell", "count", "number", "word"))
"""One distinct cell of a column, in how many rows it stands, and the number (or None) and the word in it."""


class Question:
    """A column with all that decides how its answers are read; ``rows`` has each row's place in ``answers``, or -1."""

    def __init__(self, column: Column, cells: Sequence, options: ReadingOptions):
        self.column, self.official, self.scale, self.size = column, column.official, column.scale, column.scale.size
        self.declared = options.scale_of(self.official, self.size)
        self.interval = self.declared or Interval(1, self.size)
        self.words, self.missing = options.words_of(self.official, self.size), options.missing_of(self.official)
        self.answers: list[Answer] = []
        keys, code_of = distinct_keys(cells), {}
        for key, count in Counter(keys).items():
            cell, number, word = key if keys is cells else key[1], None, ""
            if isinstance(cell, float | int) and not isinstance(cell, bool):
                number = float(cell)
            elif not is_blank(cell):
                number, word = self.scale.split_number(cell) if isinstance(cell, str) else (None, "")
                whole = normalise_word(as_text(cell))
                if number is None or whole in MISSING_WORDS or (word == "%" and not self.declared):  # as 1.#QNAN, 4%
                    number, word = None, whole
            code_of[key] = -1
            if number is not None or word:  # without what floating-point arithmetic left beside a number
                code_of[key] = len(self.answers)
                number = None if number is None else round(number, 9)
                self.answers.append(Answer(cell, count, number, "" if word == "%" else word))
        self.rows = np.fromiter(map(code_of.__getitem__, keys), dtype=np.intp, count=len(keys))
        self.unknown = Counter()  # words that are neither declared nor say that there is no answer
        for answer in self.answers:
            word = answer.word
            if word and not (word in self.words or says_nothing(word, self.scale) or word.endswith("%")):
                self.unknown[word] += answer.count

    def choose_vocabulary(self, shared: dict[str, int]) -> None:
        """One form, one language: a column follows the others unless they know less than half of its words.

        Words that stand among more numbers are those of the official vocabulary: others could name another scale.
        """
        self.vocabulary = shared if _known(shared, self.unknown) >= 0.5 else choose_vocabulary(self.scale, self.unknown)
        bare = sum(answer.count for answer in self.answers if answer.number is not None and not answer.word)
        self.has_numbers = bare > 0
        if bare > self.unknown.total():
            self.vocabulary = self.scale.tables[0]
        # Levels that other words stand for can't mean a missing answer.
        of_words = {answer.word for answer in self.answers} - MISSING_WORDS
        self.levels_of_words = {self.vocabulary[word] for word in of_words if word in self.vocabulary}
        self.numbers = Counter()
        for answer in self.answers:
            if answer.number is not None and not says_nothing(answer.word, self.scale) and not self.is_missing(answer):
                self.numbers[answer.number] += answer.count

    def is_missing(self, answer: Answer) -> bool:
        """Whether an answer stands for none: as it was declared, or by a word that is no level of the column.

        A word such as "none" is a level only if other words of the column fit its vocabulary, none of them is that
        level, and there is no number.
        """
        number, word = answer.number, answer.word
        if self.missing is not None and (word if number is None else number) in self.missing:
            return True
        if word not in MISSING_WORDS or word in self.words:
            return False
        if number is not None:
            return not self.interval.holds(number)
        is_level = word in self.vocabulary and self.vocabulary[word] not in self.levels_of_words
        return self.has_numbers or not self.levels_of_words or not is_level

    def template(self) -> str:
        """Lines of a file of words to be filled in."""
        return ", ".join(f"{word!r}: ?" for word in list(self.unknown)[:12])

    def declare(self, numbers: Iterable[float]) -> str:
        """How numbers that stand for a missing answer are declared."""
        listed = ",".join(f"{number:g}" for number in sorted(numbers))
        wide, own = f"--missing {listed}", f"--missing {self.official}={listed}"
        return f"if no answer is meant by {listed.replace(',', ' and ')}, declare it: {wide} (everywhere) or {own}"

    def refusal(self, codes: list[float]) -> tuple[str, dict] | None:
        """Entry and words of why a column is not on the scale that it would be read on; None if it is.

        It is on another than 1..size if more than 5 % of its numbers, and at least three, are no level; or if it holds
        zeros and, among at least 20 numbers, never the highest level. Fewer are taken for slips.
        """
        counts, size = Counter({n: count for n, count in self.numbers.items() if n not in codes}), self.size
        strays, total = sum(counts[n] for n in counts if n not in range(1, size + 1)), counts.total()
        shifted = counts[0] and not counts[size] and total >= ENOUGH_NUMBERS
        many = strays >= FEWEST_STRAYS and strays > LARGEST_STRAY_SHARE * total
        if self.declared is None and (shifted or many):
            lowest, highest = min(counts), max(counts)
            seen = f"{strays:,} of {total:,} numbers, which go from {lowest:g} to {highest:g}, are no level"
            holding = [interval for interval in USUAL if interval.lowest <= lowest and highest <= interval.highest]
            if lowest >= 1:  # most scales begin with 1, and a scale of fewer levels than the official one is no reason
                holding = [one for one in holding if one.lowest == 1 and one.highest >= size] or holding
            likely = (holding[0] if holding else Interval(lowest, highest)).option
            off = [number for number in self.numbers if not 1 <= number <= size and number.is_integer()]
            both = f"--scale {likely} (all columns of {size} levels) or " if size == 5 else ""
            further = f"; {self.declare(codes or off)}" if codes or 0 < len(off) < 3 else ""
            return "other-scale/numbers", {"seen": seen, "likely": likely, "both": both, "further": further}
        if self.declared in (None, Interval(1, size)):
            # Two words of one level of which one is the other with an adverb, such as somewhat disagree.
            words = [a.word for a in self.answers if a.word and a.word not in self.words and a.word in self.vocabulary]
            for word, longer in product(words, words):
                if self.vocabulary[word] == self.vocabulary[longer] and longer.endswith(f" {word}"):
                    return "other-scale/words", {"word": word, "longer": longer, "template": self.template()}
        return None

    def level(self, answer: Answer) -> tuple[float | None, str]:
        """Level of an answer, and the entry of what is strange about it ("declines": nothing)."""
        number, word, interval = answer.number, answer.word, self.interval
        if self.words[word] is None if word in self.words else declines(word, self.scale):
            return None, "declines"
        of_word = None  # as the user declared it, else by the vocabulary where the scale is the official one
        if word in self.words:
            of_word = interval.rescaled(self.words[word], self.size) if interval.holds(self.words[word]) else None
        elif {interval.lowest, interval.highest} == {1, self.size}:
            of_word = self.vocabulary.get(word)
        if number is None:
            return of_word, "" if of_word is not None else "unknown-word"
        if not interval.holds(number) or (self.declared is None and not number.is_integer()):
            return None, "out-of-range/answer"
        level = interval.rescaled(number, self.size)
        if word and of_word is None:
            return (None, "unknown-word") if re.search(r"\d", word) else (level, "unknown-word/beside")
        return (level, "") if of_word is None or abs(of_word - level) < 1e-9 else (None, "contradiction")

    def read(self, table, options: ReadingOptions) -> dict[str, list[int]]:
        """Set ``levels`` and ``states`` of each row, report what is strange; rows of each text that means no answer."""
        size, official = self.size, self.official
        # Numbers that probably stand for a missing answer, though nobody declared them.
        named = range(1, size + 1) if self.levels_of_words else ()
        codes = codes_among([*self.numbers, *named], size)
        if self.declared is not None:
            codes = [n for n in self.numbers if n in CODES and not self.declared.holds(n)]
        codes = codes if self.missing is None else []
        common = {"official": official, "size": size, "interval": self.interval}
        if refusal := self.refusal(codes):
            table.add(refusal[0], official, **common, **refusal[1])
        used = {a.word for a in self.answers if a.word not in self.words and not self.is_missing(a)}
        used = {word: self.vocabulary[word] for word in used & self.vocabulary.keys()}
        if any(self.scale.tables[0].get(word) != level for word, level in used.items()):
            reading = sorted((level, word) for word, level in used.items())
            table.add("other-words", official, reading=", ".join(f"{word} = {level}" for level, word in reading))
        common["anchors"] = ", ".join([level[0] for level in self.scale.vocabularies[0]] + ["unknown"])
        # One entry for each answer, and a last one for rows without any, whose code is -1.
        level_of = np.full(len(self.answers) + 1, np.nan)
        state_of = np.full(len(self.answers) + 1, ABSENT_CODE, dtype=np.int8)
        unreadable, missing, answered = Counter(), {}, 0
        for code, answer in enumerate(self.answers):
            rows = np.flatnonzero(self.rows == code) + 2
            if self.is_missing(answer):
                missing.setdefault(str(as_text(answer.cell)).strip(), []).extend(rows.tolist())
                continue
            answered += answer.count
            level, entry = self.level(answer)
            level_of[code] = np.nan if level is None else level
            state_of[code] = UNREADABLE_CODE if level is None else RATED_CODE
            if entry == "declines":
                state_of[code], entry = NOT_RATED_CODE, ""
            elif level is None:
                unreadable[as_text(answer.cell)] += answer.count
            if entry and not refusal:
                fix = f"{self.declare([answer.number])}." if answer.number in codes else ""
                table.add(entry, official, rows, answer.cell, fix=fix, **common)
        self.levels, self.states = level_of[self.rows], state_of[self.rows]
        much = unreadable.total() > LARGEST_UNREADABLE_SHARE * answered and not options.allow_unreadable
        if much and not refusal:
            remedy = f"correct the cells, or declare the scale with --scale {official}=LOWEST-HIGHEST"
            if self.unknown.keys() - self.vocabulary:
                remedy = "give the words their numbers with --words words.yml, a file with one line for each word: "
                remedy += self.template()
            seen = ", ".join(f"{value[:30]!r} ({count:,})" for value, count in unreadable.most_common(5))
            common |= {"unreadable": unreadable.total(), "answered": answered, "limit": LARGEST_UNREADABLE_SHARE}
            remedy = self.declare(codes) if codes else remedy
            table.add("unreadable-column", official, seen=seen, remedy=remedy, **common)
        return missing


def read_scales(table, options: ReadingOptions) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Frame name -> levels on 1..size (NaN if there is none) and states, for every column of a table with a scale."""
    by_scale: dict[str, list[Question]] = defaultdict(list)
    for column in table.columns:
        if column.scale is not None:
            by_scale[column.scale.name].append(Question(column, table.cells(column.official), options))
    missing: dict[str, set[int]] = defaultdict(set)
    for questions in by_scale.values():
        together = sum((question.unknown for question in questions), Counter())
        shared = choose_vocabulary(questions[0].scale, together)
        for question in questions:
            question.choose_vocabulary(shared)
            for text, rows in question.read(table, options).items():
                missing[text].update(rows)
    rows, codes = sorted(set().union(*missing.values())), ", ".join(sorted(missing))
    table.add("missing-code", "", rows, codes=codes)
    return {one.column.name: (one.levels, one.states) for questions in by_scale.values() for one in questions}
