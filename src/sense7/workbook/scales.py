"""Cells of answer scales to levels and states: numbers, words, both at once, or neither.

The scale of each column is recognized from all of its answers before any of them becomes a level. A column is on the
official scale, on a scale that the user declares (rescaled linearly), or refused.
"""

import functools
import re
import tomllib
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from string import ascii_lowercase
from typing import NamedTuple

import numpy as np

from sense7.files import parse_yaml
from sense7.study import ABSENT, NOT_RATED, RATED, STATES, UNREADABLE
from sense7.taxonomy import Column, Scale, normalise_word
from sense7.workbook.ids import (
    CODES,
    as_number,
    as_text,
    codes_among,
    distinct_keys,
    is_blank,
    is_number,
)
from sense7.workbook.options import Interval, ReadingOptions

LARGEST_UNREADABLE_SHARE = 0.05
"""Share of a column's answers above which unreadable ones stop the analysis, unless the user allows them."""

LARGEST_STRAY_SHARE = 0.05
FEWEST_STRAYS = 3
"""Share of a column's numbers that are no level, if there are that many, above which they can't be slips."""

ENOUGH_NUMBERS = 20
"""Numbers from which on it says something that the highest level never occurs."""

ABSENT_CODE = STATES.index(ABSENT)
RATED_CODE = STATES.index(RATED)
NOT_RATED_CODE = STATES.index(NOT_RATED)
UNREADABLE_CODE = STATES.index(UNREADABLE)

USUAL = [Interval(0, 1), Interval(-1, 1)]
for _highest in (2, 3, 4, 5, 6, 7, 9, 10):
    USUAL += [Interval(1, _highest), Interval(0, _highest), Interval(-_highest, _highest)]
USUAL += [Interval(0, 100), Interval(-100, 100)]
"""Scales that are in use, the smallest first."""

_WORDS = tomllib.loads(Path(__file__).with_name("words.toml").read_text("utf-8"))
SAME_WORDS = [words.split("|") for words in _WORDS["same"]]
"""English answer words that mean the same."""
TOTALS = frozenset(_WORDS["totals"])
DECLINING_WORDS = frozenset(_WORDS["declining"])
MISSING_WORDS = frozenset(_WORDS["missing"]).union(f".{letter}" for letter in f"{ascii_lowercase}_")
"""What spreadsheets, statistics and survey programs write for a missing value, by normalize_word."""
NO_NAME = frozenset(_WORDS["no_name"]).union(word for word in MISSING_WORDS if word[0] in "#(<[")
"""Those that are no name or id either."""
PERHAPS_NO_NAME = MISSING_WORDS.union(DECLINING_WORDS, _WORDS["perhaps_no_name"]) - NO_NAME
"""Those that may be a name or an id, and what people write."""

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


@dataclass(frozen=True)
class WordList:
    """Words that stand together on a scale.

    ``levels``: word -> level, rescaled to the scale that is read; ``size``: how many levels the words have;
    ``main_words``: word -> the first of the words that mean the same.
    """

    levels: dict[str, float]
    size: int
    main_words: dict[str, str]

    def __str__(self) -> str:
        usual_words = {level: word for word, level in reversed(self.levels.items())}
        return f"({', '.join(word for _, word in sorted(usual_words.items()))})"

    def fits(self, words: Iterable[str]) -> bool:
        """Whether the list has all words, those that do not mean the same at different levels."""
        if not all(word in self.levels for word in words):
            return False
        levels = {self.levels[word] for word in words}
        meanings = {self.main_words[word] for word in words}
        return len(levels) == len(meanings)

    def number_of(self, word: str) -> int:
        """Number of a word's level in the list, from 1."""
        return sorted(set(self.levels.values())).index(self.levels[word]) + 1


def _word_list(
    levels: Sequence[Iterable[str]], synonyms: Iterable[Sequence[str]], size: int
) -> WordList:
    """A list of words for a scale of some size, every word in each of its spellings."""
    spellings_of = {spellings[0]: spellings for spellings in synonyms}
    level_of, main_words = {}, {}
    for number, words in enumerate(levels):
        level = 1 + (size - 1) * number / (len(levels) - 1)
        for word in words:
            for spelling in map(normalise_word, spellings_of.get(word, (word,))):
                level_of[spelling] = level
                main_words[spelling] = word
    return WordList(level_of, len(levels), main_words)


@functools.cache
def english_lists(scale: Scale) -> tuple[WordList, ...]:
    """English lists of words that may stand on a scale, the official one first."""
    vocabularies = scale.vocabularies + scale.others
    return tuple(_word_list(levels, SAME_WORDS, scale.size) for levels in vocabularies)


@functools.cache
def other_lists(scale: Scale) -> tuple[WordList, ...]:
    """Lists of words of all other languages that may stand on a scale."""
    lists = []
    for language in languages().values():
        synonyms = [words.split("|") for words in language["same"]]
        for list_name in KINDS[scale.name]:
            for levels in language.get(list_name, ()):
                lists.append(
                    _word_list([words.split("|") for words in levels], synonyms, scale.size)
                )
    return tuple(lists)


def lists_for(scale: Scale, words: Iterable[str]) -> tuple[WordList, ...]:
    """Lists that may have some words: English ones, and those of all other languages where a word is none of these."""
    english = english_lists(scale)
    for word in words:
        if not any(word in listed.levels for listed in english):
            return english + other_lists(scale)
    return english


def usual_words(language: str, scale: str) -> tuple[str, ...]:
    """The usual word of each level in a language, lowest first."""
    return tuple(words.split("|")[0] for words in languages()[language][KINDS[scale][0]][0])


@functools.cache
def declining_words() -> frozenset[str]:
    """Words of all other languages by which a person declines to rate."""
    words = chain.from_iterable(language["not_rated"] for language in languages().values())
    return frozenset(map(normalise_word, words))


def declines(word: str, scale: Scale | None = None) -> bool:
    """Whether a normalized word declines to answer; other languages are looked up where it is no word of the scale."""
    if word in DECLINING_WORDS:
        return True
    if not word or (scale and any(word in table for table in scale.tables)):
        return False
    return word in declining_words()


def says_nothing(word: str, scale: Scale | None = None) -> bool:
    """Whether a normalized word stands for a missing answer, or declines to answer."""
    return word in MISSING_WORDS or declines(word, scale)


def is_answer(scale: Scale, cell: str) -> bool:
    """Whether a text is an answer on a scale, in any language."""
    number, word = scale.split_number(cell)
    is_word = any(word in listed.levels for listed in lists_for(scale, [word]))
    return (number is not None and not word) or is_word


def stands_for(cell: object, missing: Iterable[float | str]) -> bool:
    """Whether a cell is one of the numbers or words that stand for a missing answer."""
    number = as_number(cell)
    if number is not None:
        return number in missing
    return normalise_word(as_text(cell) or "") in missing


@dataclass(frozen=True)
class Vocabulary:
    """How the words of columns are read: word -> level, or why no list of words is certain (entry and its fields)."""

    levels: dict[str, float]
    doubt: tuple[str, dict] | None = None


def choose_vocabulary(scale: Scale, words: Counter) -> Vocabulary:
    """The levels of the words that stand in the same columns.

    The official words alone are on the official scale. Others are read by a list that has all words that any list has,
    each at a level of its own; all such lists must agree about every word. Of ratings of turns, whose official words
    the release fixes, few others are slips; so are more if there is no such list.
    """
    official = scale.tables[0]
    official_words = {levels[0] for levels in scale.vocabularies[0]}
    lists = lists_for(scale, words)
    listed_words = [word for word in words if any(word in listed.levels for listed in lists)]
    if official_words.issuperset(listed_words):
        return Vocabulary(official)
    official_share = sum(words[word] for word in official_words) / words.total()
    if scale.enough < 1 and official_share >= 1 - LARGEST_STRAY_SHARE:
        return Vocabulary(official)
    fitting = [listed for listed in lists if listed.fits(listed_words)]
    doubt = disagreement(fitting, listed_words)
    if doubt is None and fitting:
        unlisted = len(words) - len(listed_words)
        levels_in_use = len({fitting[0].levels[word] for word in listed_words})
        if fitting[0].size == scale.size and levels_in_use + unlisted <= scale.size:
            return Vocabulary(fitting[0].levels)
    if not fitting and official_share >= scale.enough:
        return Vocabulary(official)
    return Vocabulary(official, doubt or why_no_list(lists, words))


def disagreement(fitting: Sequence[WordList], words: Iterable[str]) -> tuple[str, dict] | None:
    """Entry and fields of a word that two lists have at different levels."""
    for word in words:
        for other in fitting[1:]:
            if other.levels[word] != fitting[0].levels[word]:
                readings = [
                    f"{listed.number_of(word)} of {listed.size} in {listed}"
                    for listed in (fitting[0], other)
                ]
                return "other-scale/lists", {"word": word, "readings": " and ".join(readings)}
    return None


def why_no_list(lists: Sequence[WordList], words: Iterable[str]) -> tuple[str, dict]:
    """Entry and fields of why no list fits: two words that would be one level, if there are such."""
    # The list with the most of the words, since it explains the most.
    listed = max(lists, key=lambda listed: sum(word in listed.levels for word in words))
    first_word = {}
    reason = ""
    for word in words:
        if word in listed.levels:
            first = first_word.setdefault(listed.levels[word], word)
            if listed.main_words[first] != listed.main_words[word]:
                reason = f" {first!r} and {word!r} would be one level."
    return "other-scale/words", {"words": ", ".join(map(repr, list(words)[:12])), "reason": reason}


# --- columns ---


class Answer(NamedTuple):
    """One distinct cell of a column, in how many rows it stands, and the number (or None) and the word in it."""

    cell: object
    count: int
    number: float | None
    word: str


class Labels:
    """Words beside the numbers of a column, as in "1 (very poor)": their levels by the list that they fit best.

    Where the numbers are those of the official scale and more than its ends bear a word, word and number have to name
    one level; elsewhere they have to lie on one side of the middle.
    """

    def __init__(self, question: "Question"):
        self.interval, self.size = question.interval, question.size
        self.middle = (1 + self.size) / 2
        # Answers of a number on the scale and a word, neither declared nor one that says that there is no answer.
        self.answers = []
        for answer in question.answers:
            is_on_scale = answer.number is not None and self.interval.holds(answer.number)
            if is_on_scale and answer.word in question.unknown_words:
                self.answers.append(answer)
        ends = {self.interval.lowest, self.interval.highest}
        only_ends = ends.issuperset(answer.number for answer in self.answers)
        self.is_exact = question.is_official_interval and not only_ends
        self.levels = {}
        best = (0, 0)
        words = {answer.word for answer in self.answers}
        for word_list in lists_for(question.scale, words):
            levels = {word: word_list.levels[word] for word in words & word_list.levels.keys()}
            # Few lists have many of the words; those that have one alone say little.
            fit = (len(levels), self.score(levels))
            if fit > best or (levels and not self.levels):
                self.levels, best = levels, fit

    def levels_agree(self, of_word: float, of_number: float) -> bool:
        """Whether the level of a word and that of the number beside it may stand together."""
        if self.is_exact:
            return abs(of_word - of_number) < 1e-9
        return (of_word - self.middle) * (of_number - self.middle) >= 0

    def official_cell(self) -> str:
        """A cell whose word has its number on the official scale, as all have, and not on the declared one."""
        cell = ""
        for answer in self.answers:
            if answer.word in self.levels:
                if self.levels[answer.word] != answer.number:
                    return ""
                if abs(self.interval.rescaled(answer.number, self.size) - answer.number) > 1e-9:
                    cell = as_text(answer.cell)
        return cell

    def score(self, levels: dict[str, float]) -> int:
        """Answers whose number and word agree by the levels of a list, less those in which they do not."""
        score = 0
        for answer in self.answers:
            if answer.word in levels:
                level_of_number = self.interval.rescaled(answer.number, self.size)
                if self.levels_agree(levels[answer.word], level_of_number):
                    score += answer.count
                else:
                    score -= answer.count
        return score

    def contradiction(self, *, is_among_numbers: bool) -> dict | None:
        """Fields of a refusal if at least as many words stand on the other side of the middle as on their own."""
        usual: dict[str, Answer] = {}  # word -> the answer in which it stands most often
        for answer in self.answers:
            if answer.word in self.levels:
                most_frequent = usual.setdefault(answer.word, answer)
                if answer.count > most_frequent.count:
                    usual[answer.word] = answer
        same_side, other_side = [], []
        for word, answer in usual.items():
            of_number = self.interval.rescaled(answer.number, self.size) - self.middle
            of_word = self.levels[word] - self.middle
            if of_number * of_word > 0:
                same_side.append(answer)
            elif of_number * of_word < 0:
                other_side.append(answer)
        if not other_side or len(other_side) < len(same_side):
            return None
        # Few cells among words are slips; among numbers they may be the labels of the ends.
        if sum(answer.count for answer in other_side) < FEWEST_STRAYS and not is_among_numbers:
            return None
        answer = other_side[0]
        return {
            "cell": as_text(answer.cell),
            "word": answer.word,
            "number": answer.number,
            "reversed": Interval(self.interval.highest, self.interval.lowest).option,
        }


class Question:
    """A column with all that decides how its answers are read; ``rows`` has each row's place in ``answers``, or -1."""

    def __init__(self, column: Column, cells: Sequence, options: ReadingOptions):
        self.column = column
        self.official = column.official
        self.scale = column.scale
        self.size = column.scale.size
        self.declared = options.scale_of(self.official, self.size)
        self.interval = self.declared or Interval(1, self.size)
        self.is_official_interval = {self.interval.lowest, self.interval.highest} == {1, self.size}
        self.words = options.words_of(self.official, self.size)
        self.missing = options.missing_of(self.official)
        keys = distinct_keys(cells)
        code_of = {}
        self.answers = []
        for key, count in Counter(keys).items():
            cell = key
            if keys is not cells:
                _, cell = key  # see distinct_keys
            number, word = self._number_and_word(cell)
            if number is None and not word:
                code_of[key] = -1
            else:
                code_of[key] = len(self.answers)
                self.answers.append(Answer(cell, count, number, word))
        self.rows = np.fromiter(map(code_of.__getitem__, keys), dtype=np.intp, count=len(keys))
        # Words that are neither declared nor say that there is no answer: all of them, and those without a number.
        self.unknown_words, self.bare_words = Counter(), Counter()
        for answer in self.answers:
            word = answer.word
            is_explained = not word or word in self.words or says_nothing(word, self.scale)
            has_two_numbers = answer.number is not None and re.search(r"\d", word)  # as 4/5
            if is_explained or has_two_numbers or word.endswith("%"):
                continue
            self.unknown_words[word] += answer.count
            if answer.number is None:
                self.bare_words[word] += answer.count

    def _number_and_word(self, cell: object) -> tuple[float | None, str]:
        """The number (None if there is none) and the word of a cell; no word and no number if it is blank."""
        if is_blank(cell):
            return None, ""
        if is_number(cell):
            number, word = float(cell), ""
        else:
            text = normalise_word(as_text(cell))
            number, word = None, ""
            if isinstance(cell, str):
                number, word = self.scale.split_number(cell)
            is_undeclared_percentage = word == "%" and not self.declared
            if number is None or text in MISSING_WORDS or is_undeclared_percentage:  # as 1.#QNAN
                return None, text
        if word == "%":
            word = ""
        return round(number, 9), word  # without what floating-point arithmetic left

    def use(self, vocabulary: Vocabulary) -> None:
        """Read the words by a vocabulary, and compare the words beside numbers with these.

        Words that stand among more numbers are those of the official vocabulary: others could name another scale.
        """
        bare_numbers = 0
        for answer in self.answers:
            if answer.number is not None and not answer.word:
                bare_numbers += answer.count
        self.has_numbers = bare_numbers > 0
        if bare_numbers > self.bare_words.total():
            vocabulary = Vocabulary(english_lists(self.scale)[0].levels)
        self.vocabulary, self.doubt = vocabulary.levels, vocabulary.doubt
        self.labels = Labels(self)
        # Levels that other words stand for can't mean a missing answer.
        level_words = {answer.word for answer in self.answers} - MISSING_WORDS
        self.levels_of_words = {
            self.vocabulary[word] for word in level_words & self.vocabulary.keys()
        }
        self.numbers = Counter()
        for answer in self.answers:
            if answer.number is None or self.is_missing(answer):
                continue
            if not says_nothing(answer.word, self.scale):
                self.numbers[answer.number] += answer.count

    def is_missing(self, answer: Answer) -> bool:
        """Whether an answer stands for none: as it was declared, or by a word that is no level of the column.

        A word such as "none" is a level only if other words of the column fit its vocabulary, none of them is that
        level, and there is no number.
        """
        number, word = answer.number, answer.word
        value = word if number is None else number
        if self.missing is not None and value in self.missing:
            return True
        if word not in MISSING_WORDS or word in self.words:
            return False
        if number is not None:
            may_be_level = any(word in listed.levels for listed in lists_for(self.scale, [word]))
            is_text = any(map(str.isalpha, word))
            return not self.interval.holds(number) or (is_text and not may_be_level)
        is_level = word in self.vocabulary and self.vocabulary[word] not in self.levels_of_words
        return self.has_numbers or not self.levels_of_words or not is_level

    def template(self) -> str:
        """Lines of a file of words to be filled in."""
        return ", ".join(f"{word!r}: ?" for word in list(self.unknown_words)[:12])

    def declare(self, numbers: Iterable[float]) -> str:
        """How numbers that stand for a missing answer are declared."""
        codes = [f"{number:g}" for number in sorted(numbers)]
        option = f"--missing {','.join(codes)} (everywhere) or --missing {self.official}={','.join(codes)}"
        return f"if no answer is meant by {' and '.join(codes)}, declare it: {option}"

    def refusal(self, codes: list[float]) -> tuple[str, dict] | None:
        """Entry and words of why a column is not on the scale that it would be read on; None if it is."""
        numbers = Counter({n: count for n, count in self.numbers.items() if n not in codes})
        if self.declared is None and self.is_other_scale(numbers):
            return "other-scale/numbers", self.likely_scale(numbers, codes)
        against = self.labels.contradiction(is_among_numbers=self.has_numbers)
        if against:
            return "against-words", against
        if not self.is_official_interval:
            cell = self.labels.official_cell()
            if cell:
                return "other-scale/labels", {"cell": cell}
        elif self.doubt:
            entry, fields = self.doubt
            return entry, {**fields, "template": self.template()}
        return None

    def count_strays(self, numbers: Counter) -> int:
        """How many numbers are no level of the official scale."""
        return numbers.total() - sum(numbers[level] for level in range(1, self.size + 1))

    def is_other_scale(self, numbers: Counter) -> bool:
        """Whether numbers are on another scale than 1..size.

        That is if more than 5 % of them, and at least three, are no level; or if there are zeros and, among at least
        20 numbers, never the highest level. Fewer are taken for slips.
        """
        total, strays = numbers.total(), self.count_strays(numbers)
        if strays >= FEWEST_STRAYS and strays > LARGEST_STRAY_SHARE * total:
            return True
        return bool(numbers[0]) and not numbers[self.size] and total >= ENOUGH_NUMBERS

    def likely_scale(self, numbers: Counter, codes: list[float]) -> dict:
        """Fields of a refusal: what the numbers are, the scale that they may be on, and how it is declared."""
        size = self.size
        lowest, highest = min(numbers), max(numbers)
        intervals = [
            interval
            for interval in USUAL
            if interval.lowest <= lowest and highest <= interval.highest
        ]
        if lowest >= 1:
            # Most scales begin with 1, and a scale of fewer levels than the official one is no reason.
            from_1 = [
                interval
                for interval in intervals
                if interval.lowest == 1 and interval.highest >= size
            ]
            intervals = from_1 or intervals
        intervals.append(Interval(lowest, highest))
        likely = intervals[0].option
        fields = {
            "seen": f"{self.count_strays(numbers):,} of {numbers.total():,} numbers, which go from {lowest:g} to "
            f"{highest:g}, are no level",
            "likely": likely,
            "both": "",
            "further": "",
        }
        if size == 5:
            fields["both"] = f"--scale {likely} (all columns of {size} levels) or "
        strays = [number for number in self.numbers if not 1 <= number <= size]
        strays = [number for number in strays if number.is_integer()]
        if not codes and len(strays) < 3:
            codes = strays
        if codes:
            fields["further"] = f"; {self.declare(codes)}"
        return fields

    def level(self, answer: Answer) -> tuple[float | None, str]:
        """Level of an answer, and the entry of what is strange about it ("declines": nothing)."""
        number, word = answer.number, answer.word
        is_declared = word in self.words
        if is_declared and self.words[word] is None:
            return None, "declines"
        if not is_declared and declines(word, self.scale):
            return None, "declines"
        # As the user declared it, else by the vocabulary where the scale is the official one.
        level_of_word = None
        if is_declared:
            if self.interval.holds(self.words[word]):
                level_of_word = self.interval.rescaled(self.words[word], self.size)
        elif number is None and self.is_official_interval:
            level_of_word = self.vocabulary.get(word)
        if number is None:
            if level_of_word is None:
                return None, "unknown-word"
            return level_of_word, ""
        if not self.interval.holds(number) or not (self.declared or number.is_integer()):
            return None, "out-of-range/answer"
        level = self.interval.rescaled(number, self.size)
        if word in self.labels.levels:
            agrees = self.labels.levels_agree(self.labels.levels[word], level)
        elif level_of_word is not None:
            agrees = abs(level_of_word - level) < 1e-9
        elif not word:
            agrees = True
        elif re.search(r"\d", word):
            return None, "unknown-word"
        else:
            return level, "unknown-word/beside"
        if agrees:
            return level, ""
        return None, "contradiction"

    def probable_codes(self) -> list[float]:
        """Numbers that probably stand for a missing answer, though nobody declared them."""
        if self.missing is not None:
            return []
        if self.declared is not None:
            return [n for n in self.numbers if n in CODES and not self.declared.holds(n)]
        numbers = set(self.numbers)
        if self.levels_of_words:
            numbers.update(range(1, self.size + 1))
        return codes_among(numbers, self.size)

    def read(self, table, options: ReadingOptions) -> dict[str, list[int]]:
        """Set ``levels`` and ``states`` of each row, report what is strange; rows of each text that means no answer."""
        official = self.official
        codes = self.probable_codes()
        anchors = [words[0] for words in self.scale.vocabularies[0]] + ["unknown"]
        fields = {
            "official": official,
            "size": self.size,
            "interval": self.interval,
            "anchors": ", ".join(anchors),
        }
        refusal = self.refusal(codes)
        if refusal is None:
            self.report_other_words(table)
        else:
            entry, refusal_fields = refusal
            table.add(entry, official, **{**fields, **refusal_fields})
        # One entry for each answer, and a last one for rows without any, whose code is -1.
        level_of = np.full(len(self.answers) + 1, np.nan)
        state_of = np.full(len(self.answers) + 1, ABSENT_CODE, dtype=np.int8)
        unreadable = Counter()
        missing = defaultdict(list)
        answered = 0
        for code, answer in enumerate(self.answers):
            rows = np.flatnonzero(self.rows == code) + 2
            if self.is_missing(answer):
                missing[str(as_text(answer.cell)).strip()].extend(rows.tolist())
                continue
            answered += answer.count
            level, entry = self.level(answer)
            if level is not None:
                level_of[code], state_of[code] = level, RATED_CODE
            elif entry == "declines":
                state_of[code] = NOT_RATED_CODE
                continue
            else:
                state_of[code] = UNREADABLE_CODE
                unreadable[as_text(answer.cell)] += answer.count
            if entry and refusal is None:
                fix = ""
                if answer.number in codes:
                    fix = f"{self.declare([answer.number])}."
                table.add(entry, official, rows, answer.cell, fix=fix, **fields)
        self.levels, self.states = level_of[self.rows], state_of[self.rows]
        is_unusable = unreadable.total() > LARGEST_UNREADABLE_SHARE * answered
        if is_unusable and refusal is None and not options.allow_unreadable:
            self.report_unreadable(table, unreadable, answered, codes)
        return missing

    def report_other_words(self, table) -> None:
        """Report how the words without a number are read, where that is not by the official vocabulary."""
        bare_answers = [answer for answer in self.answers if answer.number is None]
        words = {answer.word for answer in bare_answers if not self.is_missing(answer)}
        words -= self.words.keys()
        levels = {word: self.vocabulary[word] for word in words & self.vocabulary.keys()}
        official_levels = english_lists(self.scale)[0].levels
        if any(official_levels.get(word) != level for word, level in levels.items()):
            pairs = sorted((level, word) for word, level in levels.items())
            reading = ", ".join(f"{word} = {level:g}" for level, word in pairs)
            table.add("other-words", self.official, reading=reading)

    def report_unreadable(
        self, table, unreadable: Counter, answered: int, codes: list[float]
    ) -> None:
        """Report that too many of a column's answers can't be read, with the most frequent of them."""
        if codes:
            remedy = self.declare(codes)
        elif self.unknown_words.keys() - self.vocabulary:
            remedy = (
                "give the words their numbers with --words words.yml, a file with one line for each word: "
                f"{self.template()}"
            )
        else:
            remedy = f"correct the cells, or declare the scale with --scale {self.official}=LOWEST-HIGHEST"
        answers = [f"{value[:30]!r} ({count:,})" for value, count in unreadable.most_common(5)]
        table.add(
            "unreadable-column",
            self.official,
            interval=self.interval,
            unreadable=unreadable.total(),
            answered=answered,
            limit=LARGEST_UNREADABLE_SHARE,
            seen=", ".join(answers),
            remedy=remedy,
        )


def choose_vocabularies(questions: Sequence[Question]) -> None:
    """One form, one language: all columns of a scale are read by one list, or else those that have words in common."""
    scale = questions[0].scale
    together = sum((question.bare_words for question in questions), Counter())
    vocabulary = choose_vocabulary(scale, together)
    lists = lists_for(scale, together)
    unread = [word for word in together if word not in vocabulary.levels]
    is_one_list = not any(word in listed.levels for listed in lists for word in unread)
    groups = [list(questions)]
    if vocabulary.doubt or not is_one_list:
        groups = with_common_words(questions)
    for group in groups:
        words = sum((question.bare_words for question in group), Counter())
        vocabulary = choose_vocabulary(scale, words)
        for question in group:
            question.use(vocabulary)


def with_common_words(questions: Sequence[Question]) -> list[list[Question]]:
    """Columns in groups: those of one group have words in common, those of two have none."""
    groups = []
    for question in questions:
        joined, separate = [question], []
        for group in groups:
            if any(question.bare_words.keys() & member.bare_words.keys() for member in group):
                joined = group + joined
            else:
                separate.append(group)
        groups = [*separate, joined]
    return groups


def read_scales(table, options: ReadingOptions) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Frame name -> levels on 1..size (NaN if there is none) and states, for every column of a table with a scale."""
    by_scale = defaultdict(list)
    for column in table.columns:
        if column.scale is not None:
            question = Question(column, table.cells(column.official), options)
            by_scale[column.scale.name].append(question)
    missing = defaultdict(set)
    readings = {}
    for questions in by_scale.values():
        choose_vocabularies(questions)
        for question in questions:
            for text, rows in question.read(table, options).items():
                missing[text].update(rows)
            readings[question.column.name] = (question.levels, question.states)
    rows = sorted(set().union(*missing.values()))
    table.add("missing-code", "", rows, codes=", ".join(sorted(missing)))
    return readings
