"""Cells of answer scales to levels and states: numbers, words, both at once, or neither.

The scale of each column is recognized from all of its answers before any of them becomes a level. A column is on the
official scale, on a scale that the user declares (rescaled linearly), or refused.
"""

import functools
import re
import tomllib
from collections import Counter, defaultdict, namedtuple
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
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

ABSENT_CODE, RATED_CODE, NOT_RATED_CODE, UNREADABLE_CODE = map(
    STATES.index, (ABSENT, RATED, NOT_RATED, UNREADABLE)
)

USUAL = [
    Interval(low, high) for high in (*range(1, 8), 9, 10) for low in (1, 0, -high) if low < high
]
USUAL += [Interval(0, 100), Interval(-100, 100)]
"""Scales that are in use, the smallest first."""

_WORDS = {
    name: frozenset(words)
    for name, words in tomllib.loads(
        Path(__file__).with_name("words.toml").read_text("utf-8")
    ).items()
}
SAME_WORDS = tuple(tuple(words.split("|")) for words in sorted(_WORDS["same"]))
"""English answer words that mean the same."""
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
        usual = {level: word for word, level in reversed(self.levels.items())}
        return f"({', '.join(usual[level] for level in sorted(usual))})"

    def fits(self, words: Iterable[str]) -> bool:
        """Whether the list has all words, those that do not mean the same at different levels."""
        if not all(word in self.levels for word in words):
            return False
        return len({self.levels[word] for word in words}) == len(
            {self.main_words[word] for word in words}
        )

    def number_of(self, word: str) -> int:
        """Number of a word's level in the list, from 1."""
        return sorted(set(self.levels.values())).index(self.levels[word]) + 1


def _word_list(
    levels: Sequence[Iterable[str]], same: Iterable[Sequence[str]], size: int
) -> WordList:
    """A list of words for a scale of some size, every word in each of its spellings."""
    spellings_of = {spellings[0]: spellings for spellings in same}
    level_of, main_words = {}, {}
    for number, words in enumerate(levels):
        for word in words:
            for spelling in map(normalise_word, spellings_of.get(word, (word,))):
                level_of[spelling] = 1 + (size - 1) * number / (len(levels) - 1)
                main_words[spelling] = word
    return WordList(level_of, len(levels), main_words)


@functools.cache
def english_lists(scale: Scale) -> tuple[WordList, ...]:
    """English lists of words that may stand on a scale, the official one first."""
    return tuple(
        _word_list(levels, SAME_WORDS, scale.size)
        for levels in (*scale.vocabularies, *scale.others)
    )


@functools.cache
def other_lists(scale: Scale) -> tuple[WordList, ...]:
    """Lists of words of all other languages that may stand on a scale."""
    lists = []
    for language in languages().values():
        same = [words.split("|") for words in language["same"]]
        for kind in KINDS[scale.name]:
            for levels in language.get(kind, ()):
                lists.append(_word_list([words.split("|") for words in levels], same, scale.size))
    return tuple(lists)


def lists_for(scale: Scale, words: Iterable[str]) -> tuple[WordList, ...]:
    """Lists that may have some words: English ones, and those of all other languages where a word is none of these."""
    english = english_lists(scale)
    if all(any(word in listed.levels for listed in english) for word in words):
        return english
    return english + other_lists(scale)


def usual_words(language: str, scale: str) -> tuple[str, ...]:
    """The usual word of each level in a language, lowest first."""
    return tuple(words.split("|")[0] for words in languages()[language][KINDS[scale][0]][0])


@functools.cache
def declining_words() -> frozenset[str]:
    """Words of all other languages by which a person declines to rate."""
    return frozenset(
        normalise_word(word) for language in languages().values() for word in language["not_rated"]
    )


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
    is_word = any(word in listed.levels for listed in lists_for(scale, [word]))
    return (number is not None and not word) or is_word


def stands_for(cell: object, missing: Iterable[float | str]) -> bool:
    """Whether a cell is one of the numbers or words that stand for a missing answer."""
    number = as_number(cell)
    return (number if number is not None else normalise_word(as_text(cell) or "")) in missing


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
    first_word: dict[float, str] = {}
    reason = ""
    for word in words:
        if word in listed.levels:
            first = first_word.setdefault(listed.levels[word], word)
            if listed.main_words[first] != listed.main_words[word]:
                reason = f" {first!r} and {word!r} would be one level."
    return "other-scale/words", {"words": ", ".join(map(repr, list(words)[:12])), "reason": reason}


# --- columns ---


Answer = namedtuple("Answer", ("cell", "count", "number", "word"))
"""One distinct cell of a column, in how many rows it stands, and the number (or None) and the word in it."""


class Labels:
    """Words beside the numbers of a column, as in "1 (very poor)": their levels by the list that they fit best.

    Where the numbers are those of the official scale and more than its ends bear a word, word and number have to name
    one level; elsewhere they have to lie on one side of the middle. ``against`` has the fields of a refusal if the
    numbers run against the words.
    """

    def __init__(self, question: "Question"):
        self.interval, self.size = question.interval, question.size
        self.middle = (1 + self.size) / 2
        labelled = question.labelled()
        ends = {self.interval.lowest, self.interval.highest}
        only_ends = ends.issuperset(answer.number for answer in labelled)
        self.is_exact = question.is_official_interval and not only_ends
        self.levels: dict[str, float] = {}
        best = (0, 0)
        for listed in lists_for(question.scale, {answer.word for answer in labelled}):
            levels = {
                answer.word: listed.levels[answer.word]
                for answer in labelled
                if answer.word in listed.levels
            }
            # Few lists have many of the words; those that have one alone say little.
            fit = (len(levels), self.score(labelled, levels))
            if fit > best or (levels and not self.levels):
                self.levels, best = levels, fit
        self.against = self.contradiction(labelled, is_among_numbers=question.has_numbers)
        self.of_official_scale = (
            "" if question.is_official_interval else self.official_cell(labelled)
        )

    def agree(self, word: str, level: float) -> bool:
        """Whether a word may stand beside a number of a level."""
        return self.levels_agree(self.levels[word], level)

    def levels_agree(self, of_word: float, of_number: float) -> bool:
        """Whether the level of a word and that of the number beside it may stand together."""
        if self.is_exact:
            return abs(of_word - of_number) < 1e-9
        return (of_word - self.middle) * (of_number - self.middle) >= 0

    def official_cell(self, labelled: Sequence[Answer]) -> str:
        """A cell whose word has its number on the official scale, as all have, and not on the declared one."""
        cell = ""
        for answer in labelled:
            if answer.word in self.levels:
                if self.levels[answer.word] != answer.number:
                    return ""
                if abs(self.interval.rescaled(answer.number, self.size) - answer.number) > 1e-9:
                    cell = as_text(answer.cell)
        return cell

    def score(self, labelled: Sequence[Answer], levels: dict[str, float]) -> int:
        """Answers whose number and word agree by the levels of a list, less those in which they do not."""
        score = 0
        for answer in labelled:
            if answer.word in levels:
                agree = self.levels_agree(
                    levels[answer.word], self.interval.rescaled(answer.number, self.size)
                )
                score += answer.count if agree else -answer.count
        return score

    def contradiction(self, labelled: Sequence[Answer], *, is_among_numbers: bool) -> dict | None:
        """Fields of a refusal if at least as many words stand on the other side of the middle as on their own."""
        usual: dict[str, Answer] = {}  # word -> the answer in which it stands most often
        for answer in labelled:
            if answer.word in self.levels:
                usual[answer.word] = max(
                    usual.get(answer.word, answer), answer, key=lambda answer: answer.count
                )
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
        reversed_scale = Interval(self.interval.highest, self.interval.lowest).option
        return {
            "cell": as_text(answer.cell),
            "word": answer.word,
            "number": answer.number,
            "reversed": reversed_scale,
        }


class Question:
    """A column with all that decides how its answers are read; ``rows`` has each row's place in ``answers``, or -1."""

    def __init__(self, column: Column, cells: Sequence, options: ReadingOptions):
        self.column, self.official, self.scale, self.size = (
            column,
            column.official,
            column.scale,
            column.scale.size,
        )
        self.declared = options.scale_of(self.official, self.size)
        self.interval = self.declared or Interval(1, self.size)
        self.words, self.missing = (
            options.words_of(self.official, self.size),
            options.missing_of(self.official),
        )
        self.answers: list[Answer] = []
        keys, code_of = distinct_keys(cells), {}
        for key, count in Counter(keys).items():
            cell, number, word = key if keys is cells else key[1], None, ""
            if isinstance(cell, float | int) and not isinstance(cell, bool):
                number = float(cell)
            elif not is_blank(cell):
                number, word = (
                    self.scale.split_number(cell) if isinstance(cell, str) else (None, "")
                )
                whole = normalise_word(as_text(cell))
                if (
                    number is None or whole in MISSING_WORDS or (word == "%" and not self.declared)
                ):  # as 1.#QNAN, 4%
                    number, word = None, whole
            code_of[key] = -1
            if (
                number is not None or word
            ):  # without what floating-point arithmetic left beside a number
                code_of[key] = len(self.answers)
                number = None if number is None else round(number, 9)
                self.answers.append(Answer(cell, count, number, "" if word == "%" else word))
        self.rows = np.fromiter(map(code_of.__getitem__, keys), dtype=np.intp, count=len(keys))
        # Words that are neither declared nor say that there is no answer: all of them, and those without a number.
        self.unknown, self.bare_words = Counter(), Counter()
        for answer in self.answers:
            word = answer.word
            if answer.number is not None and re.search(r"\d", word):  # as 4/5: two numbers
                continue
            if word and not (
                word in self.words or says_nothing(word, self.scale) or word.endswith("%")
            ):
                self.unknown[word] += answer.count
                if answer.number is None:
                    self.bare_words[word] += answer.count
        self.is_official_interval = {self.interval.lowest, self.interval.highest} == {1, self.size}

    def use(self, vocabulary: Vocabulary) -> None:
        """Read the words by a vocabulary, and compare the words beside numbers with these.

        Words that stand among more numbers are those of the official vocabulary: others could name another scale.
        """
        bare_numbers = sum(
            answer.count for answer in self.answers if answer.number is not None and not answer.word
        )
        self.has_numbers = bare_numbers > 0
        if bare_numbers > self.bare_words.total():
            vocabulary = Vocabulary(english_lists(self.scale)[0].levels)
        self.vocabulary, self.doubt = vocabulary.levels, vocabulary.doubt
        self.labels = Labels(self)
        # Levels that other words stand for can't mean a missing answer.
        of_words = {answer.word for answer in self.answers} - MISSING_WORDS
        self.levels_of_words = {
            self.vocabulary[word] for word in of_words if word in self.vocabulary
        }
        self.numbers = Counter()
        for answer in self.answers:
            if (
                answer.number is not None
                and not says_nothing(answer.word, self.scale)
                and not self.is_missing(answer)
            ):
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
            may_be_level = any(word in listed.levels for listed in lists_for(self.scale, [word]))
            is_text = any(map(str.isalpha, word))
            return not self.interval.holds(number) or (is_text and not may_be_level)
        is_level = word in self.vocabulary and self.vocabulary[word] not in self.levels_of_words
        return self.has_numbers or not self.levels_of_words or not is_level

    def labelled(self) -> list[Answer]:
        """Answers of a number on the scale and a word, neither declared nor one that says that there is no answer."""
        return [
            answer
            for answer in self.answers
            if answer.number is not None
            and answer.word in self.unknown
            and self.interval.holds(answer.number)
        ]

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
        counts, size = (
            Counter({n: count for n, count in self.numbers.items() if n not in codes}),
            self.size,
        )
        strays, total = (
            sum(counts[n] for n in counts if n not in range(1, size + 1)),
            counts.total(),
        )
        shifted = counts[0] and not counts[size] and total >= ENOUGH_NUMBERS
        many = strays >= FEWEST_STRAYS and strays > LARGEST_STRAY_SHARE * total
        if self.declared is None and (shifted or many):
            lowest, highest = min(counts), max(counts)
            seen = f"{strays:,} of {total:,} numbers, which go from {lowest:g} to {highest:g}, are no level"
            holding = [
                interval
                for interval in USUAL
                if interval.lowest <= lowest and highest <= interval.highest
            ]
            if (
                lowest >= 1
            ):  # most scales begin with 1, and a scale of fewer levels than the official one is no reason
                holding = [
                    one for one in holding if one.lowest == 1 and one.highest >= size
                ] or holding
            likely = (holding[0] if holding else Interval(lowest, highest)).option
            off = [
                number for number in self.numbers if not 1 <= number <= size and number.is_integer()
            ]
            both = f"--scale {likely} (all columns of {size} levels) or " if size == 5 else ""
            further = f"; {self.declare(codes or off)}" if codes or 0 < len(off) < 3 else ""
            return "other-scale/numbers", {
                "seen": seen,
                "likely": likely,
                "both": both,
                "further": further,
            }
        if self.labels.against:
            return "against-words", self.labels.against
        if self.labels.of_official_scale:
            return "other-scale/labels", {"cell": self.labels.of_official_scale}
        if self.doubt and self.is_official_interval:
            entry, fields = self.doubt
            return entry, {**fields, "template": self.template()}
        return None

    def level(self, answer: Answer) -> tuple[float | None, str]:
        """Level of an answer, and the entry of what is strange about it ("declines": nothing)."""
        number, word, interval = answer.number, answer.word, self.interval
        if self.words[word] is None if word in self.words else declines(word, self.scale):
            return None, "declines"
        of_word = None  # as the user declared it, else by the vocabulary where the scale is the official one
        if word in self.words:
            of_word = (
                interval.rescaled(self.words[word], self.size)
                if interval.holds(self.words[word])
                else None
            )
        elif number is None and self.is_official_interval:
            of_word = self.vocabulary.get(word)
        if number is None:
            return of_word, "" if of_word is not None else "unknown-word"
        if not interval.holds(number) or (self.declared is None and not number.is_integer()):
            return None, "out-of-range/answer"
        level = interval.rescaled(number, self.size)
        if word in self.labels.levels:
            return (level, "") if self.labels.agree(word, level) else (None, "contradiction")
        if word and of_word is None:
            return (
                (None, "unknown-word") if re.search(r"\d", word) else (level, "unknown-word/beside")
            )
        return (
            (level, "")
            if of_word is None or abs(of_word - level) < 1e-9
            else (None, "contradiction")
        )

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
        used = {
            a.word
            for a in self.answers
            if a.number is None and a.word not in self.words and not self.is_missing(a)
        }
        used = {word: self.vocabulary[word] for word in used & self.vocabulary.keys()}
        official_levels = english_lists(self.scale)[0].levels
        if not refusal and any(official_levels.get(word) != level for word, level in used.items()):
            reading = sorted((level, word) for word, level in used.items())
            table.add(
                "other-words",
                official,
                reading=", ".join(f"{word} = {level:g}" for level, word in reading),
            )
        common["anchors"] = ", ".join(
            [level[0] for level in self.scale.vocabularies[0]] + ["unknown"]
        )
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
        much = (
            unreadable.total() > LARGEST_UNREADABLE_SHARE * answered
            and not options.allow_unreadable
        )
        if much and not refusal:
            remedy = (
                f"correct the cells, or declare the scale with --scale {official}=LOWEST-HIGHEST"
            )
            if self.unknown.keys() - self.vocabulary:
                remedy = "give the words their numbers with --words words.yml, a file with one line for each word: "
                remedy += self.template()
            seen = ", ".join(
                f"{value[:30]!r} ({count:,})" for value, count in unreadable.most_common(5)
            )
            common |= {
                "unreadable": unreadable.total(),
                "answered": answered,
                "limit": LARGEST_UNREADABLE_SHARE,
            }
            remedy = self.declare(codes) if codes else remedy
            table.add("unreadable-column", official, seen=seen, remedy=remedy, **common)
        return missing


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
    groups: list[list[Question]] = []
    for question in questions:
        joined, others = [question], []
        for group in groups:
            if any(question.bare_words.keys() & member.bare_words.keys() for member in group):
                joined = group + joined
            else:
                others.append(group)
        groups = [*others, joined]
    return groups


def read_scales(table, options: ReadingOptions) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Frame name -> levels on 1..size (NaN if there is none) and states, for every column of a table with a scale."""
    by_scale: dict[str, list[Question]] = defaultdict(list)
    for column in table.columns:
        if column.scale is not None:
            by_scale[column.scale.name].append(
                Question(column, table.cells(column.official), options)
            )
    missing: dict[str, set[int]] = defaultdict(set)
    for questions in by_scale.values():
        choose_vocabularies(questions)
        for question in questions:
            for text, rows in question.read(table, options).items():
                missing[text].update(rows)
    rows, codes = sorted(set().union(*missing.values())), ", ".join(sorted(missing))
    table.add("missing-code", "", rows, codes=codes)
    return {
        one.column.name: (one.levels, one.states)
        for questions in by_scale.values()
        for one in questions
    }
