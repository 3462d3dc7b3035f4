"""Cells of answer scales to levels and states: numbers, words, both at once, or neither.

The scale of each column is recognized from all of its answers before any of them becomes a level. A column is on the
official scale, on a scale that the user declares (rescaled linearly), or refused.
"""

import datetime
import functools
import re
import tomllib
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path

import numpy as np

from sense7.files import parse_yaml
from sense7.study import ABSENT, NOT_RATED, RATED, STATES, UNREADABLE
from sense7.taxonomy import Column, Scale, normalise_word
from sense7.workbook.diagnostics import Diagnostics
from sense7.workbook.ids import CODES, as_number, as_text, codes_among, distinct_keys, is_blank
from sense7.workbook.options import Interval, ReadingOptions
from sense7.workbook.xlsx import Percent

LARGEST_UNREADABLE_SHARE = 0.05
"""Share of a column's answers above which unreadable ones stop the analysis, unless the user allows them."""

LARGEST_STRAY_SHARE, LARGEST_POOLED_STRAY_SHARE, FEWEST_STRAYS = 0.05, 0.01, 3
"""Share of a column's numbers that are no level, and of all columns' on the scale, above which they can't be slips, if
there are that many."""

ENOUGH_NUMBERS, FEWEST_LEVELS, MOST_STEPS = 20, 3, 10
"""Numbers, and different ones, from which on an end that never occurs says something; on finer scales it never does."""

REVERSED_BELOW = -0.3
"""Correlation with the other columns below which a column may be reversed."""

ABSENT_CODE, RATED_CODE, NOT_RATED_CODE, UNREADABLE_CODE = map(STATES.index, (ABSENT, RATED, NOT_RATED, UNREADABLE))

USUAL = sorted(
    [Interval(low, high) for low, high in product((0, 1), (1, 3, 4, 5, 6, 7, 9, 10)) if low < high]
    + [Interval(0, 100)]
    + [Interval(-end, end) for end in (1, 2, 3, 4, 5, 10, 100)],
    key=lambda interval: (interval.highest - interval.lowest, interval.lowest != 1),
)
"""Scales that are in use, the smallest first."""

TYPES = {bool: "truth value", datetime.date: "date", datetime.datetime: "date"}
TYPES |= {datetime.time: "time", datetime.timedelta: "duration"}

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


def is_answer(column: Column, cell: str) -> bool:
    """Whether a text is an answer on the scale of a column, in any language, or says that there is none."""
    if column.scale is None:
        return normalise_word(cell) in MISSING_WORDS
    number, word = column.scale.split_number(cell)
    tables = (*column.scale.tables, *language_vocabularies(column.scale.name))
    return (number is not None and word in {"", "%"}) or says_nothing(word) or any(word in table for table in tables)


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


# --- numbers ---


@dataclass(frozen=True)
class Numbers:
    """Numbers of one or several columns with their counts, and how many are percentages (100 % is 100)."""

    counts: Counter = field(default_factory=Counter)
    percent: int = 0

    def __add__(self, other: "Numbers") -> "Numbers":
        return Numbers(self.counts + other.counts, self.percent + other.percent)

    def without(self, codes: Collection[float]) -> "Numbers":
        """The same without some numbers."""
        return Numbers(Counter({n: count for n, count in self.counts.items() if n not in codes}), self.percent)

    def off(self, size: int) -> int:
        """How many are not one of the levels 1..size; percentages never are."""
        levels = sum(n for number, n in self.counts.items() if float(number).is_integer() and 1 <= number <= size)
        return max(self.counts.total() - levels, self.percent)


def foreign_scale(own: Numbers, pooled: Numbers, size: int) -> tuple[str, Interval] | None:
    """What was seen of another scale than 1..size, and which it probably is; None if a column is on 1..size.

    A column is on another scale if more than 5 % of its numbers, and at least three, are no level or are percentages;
    if it holds such numbers and they are more than 1 %, and at least three, of all columns that share the scale; or if
    it holds zeros and, among at least 20 numbers, never the highest level. Fewer strays are taken for slips.
    """
    counts, total, strays, among_all = own.counts, own.counts.total(), own.off(size), pooled.off(size)
    shifted = counts[0] and not counts[size] and total >= ENOUGH_NUMBERS
    recurring = among_all >= FEWEST_STRAYS and among_all > LARGEST_POOLED_STRAY_SHARE * pooled.counts.total()
    many = strays >= FEWEST_STRAYS and strays > LARGEST_STRAY_SHARE * total
    if not strays or not (shifted or recurring or many):
        return None
    kinds = Counter({"percentages": own.percent})
    for number, count in counts.items():
        off = f"above {size}" if number > size else "below 1" if number < 1 else "between two levels"
        kinds[off] += 0 if 1 <= number <= size and float(number).is_integer() else count
    order = (f"above {size}", "below 1", "between two levels", "percentages")
    parts = ", ".join(f"{kinds[kind]:,} of {total:,} {kind}" for kind in order if kinds[kind])
    seen = f"numbers from {min(counts):g} to {max(counts):g}, {parts}"
    if own.percent:
        return seen, Interval(0, 100)
    # The smallest usual scale that holds the numbers of this column and of those like it, single strays left out.
    common = [x for of in (own, pooled) for x, n in of.counts.items() if n > 0.005 * of.counts.total()]
    lowest, highest = min(common), max(common)
    if lowest == 0 and highest == size - 1:
        return seen, Interval(0, size - 1)
    holding = [interval for interval in USUAL if interval.lowest <= lowest and highest <= interval.highest]
    if lowest >= 1:  # most scales begin with 1, and a scale of fewer levels than the official one is no reason
        holding = [interval for interval in holding if interval.lowest == 1 and interval.highest >= size] or holding
    return seen, holding[0] if holding else Interval(lowest, highest)


def unused_end(numbers: Numbers, interval: Interval) -> float | None:
    """The largest number where the upper end of a scale never occurs; None where it does, or numbers are few."""
    lowest, highest = sorted((interval.lowest, interval.highest))
    on_scale = {number: count for number, count in numbers.counts.items() if interval.holds(number)}
    if highest - lowest > MOST_STEPS or sum(on_scale.values()) < ENOUGH_NUMBERS or len(on_scale) < FEWEST_LEVELS:
        return None
    return max(on_scale) if max(on_scale) < highest else None


# --- columns ---


@dataclass(frozen=True)
class Answer:
    """One distinct cell of a column, in how many rows it stands, and what was read in it; ``odd`` is its type."""

    cell: object
    count: int
    number: float | None = None
    word: str = ""
    odd: str = ""


class Question:
    """A column with all that decides how its answers are read; ``rows`` has each row's place in ``answers``, or -1."""

    def __init__(self, column: Column, cells: Sequence, options: ReadingOptions):
        self.column, self.official, self.scale, self.size = column, column.official, column.scale, column.scale.size
        self.declared = options.scale_of(self.official, self.size)
        self.declared_for_all = self.official not in options.scales
        self.interval = self.declared or Interval(1, self.size)
        self.words, self.missing = options.words_of(self.official, self.size), options.missing_of(self.official)
        self.answers: list[Answer] = []
        keys, code_of = distinct_keys(cells), {}
        for key, count in Counter(keys).items():
            answer = self._answer(key if keys is cells else key[1], count)
            code_of[key] = -1 if answer is None else len(self.answers)
            self.answers += [] if answer is None else [answer]
        self.rows = np.fromiter(map(code_of.__getitem__, keys), dtype=np.intp, count=len(keys))
        self.unknown = Counter()  # words that are neither declared nor say that there is no answer
        for answer in self.answers:
            if self.is_word(answer) and answer.word not in self.words:
                self.unknown[answer.word] += answer.count

    def _answer(self, cell: object, count: int) -> Answer | None:
        """What a cell says, without what floating-point arithmetic left beside a number; None if it is blank."""
        if is_blank(cell):
            return None
        if isinstance(cell, str):
            number, word = self.scale.split_number(cell)
            if number is not None and (whole := normalise_word(cell)) in MISSING_WORDS:  # such as 1.#QNAN
                number, word = None, whole
            return Answer(cell, count, number and round(number, 9), word) if number is not None or word else None
        if isinstance(cell, bool) or not isinstance(cell, int | float):
            return Answer(cell, count, odd=TYPES.get(type(cell), "value"))
        if isinstance(cell, Percent):
            return Answer(cell, count, round(100 * float(cell), 9), "%")
        return Answer(cell, count, round(float(cell), 9))

    def is_word(self, answer: Answer) -> bool:
        """Whether an answer has a word that is no sign, and does not say that there is none."""
        return bool(answer.word) and answer.word != "%" and not says_nothing(answer.word, self.scale)

    def choose_vocabulary(self, shared: dict[str, int], together: Counter) -> None:
        """One form, one language: a column follows the others unless they know less than half of its words."""
        scale, official = self.scale, self.scale.tables[0]
        bare = Counter({a.number: a.count for a in self.answers if a.number is not None and not a.word})
        numbers = any(answer.number is not None for answer in self.answers)
        self.vocabulary = shared if _known(shared, self.unknown) >= 0.5 else choose_vocabulary(scale, self.unknown)
        known = [word for word in together if word in self.vocabulary]
        if numbers and self.vocabulary is not official and len(known) == 1:  # one word among numbers
            tables = (*scale.tables, *language_vocabularies(scale.name))
            if len({table[known[0]] for table in tables if known[0] in table}) > 1:
                self.vocabulary = official
        if bare.total() > self.unknown.total() and self.vocabulary is not official:
            # Words at the ends of a scale of numbers: of a level that stands as a number already, they are another one.
            self.vocabulary = {word: level for word, level in self.vocabulary.items() if level not in bare}
        of = self.unknown if self.unknown or numbers else together
        self.fits = any(word in self.vocabulary for word in of)  # whether other words speak for the vocabulary
        # Levels that the other words and numbers stand for can't mean a missing answer.
        of_words = {a.word for a in self.answers if a.number is None} - MISSING_WORDS
        self.levels_of_others = {self.vocabulary[word] for word in of_words if word in self.vocabulary}
        counts, percent = Counter(), 0
        for answer in self.answers:
            if answer.number is not None and not says_nothing(answer.word, scale) and not self.is_missing(answer):
                counts[answer.number] += answer.count
                percent += (answer.word == "%") * answer.count
        self.numbers = Numbers(counts, percent)
        self.levels_of_others |= set(counts)

    def is_missing(self, answer: Answer) -> bool:
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

    def template(self) -> str:
        """Lines of a file of words to be filled in."""
        words = list(dict.fromkeys(answer.word for answer in self.answers if self.is_word(answer)))
        more = f" and {len(words) - 12} more" if len(words) > 12 else ""
        return ", ".join(f"{word!r}: ?" for word in words[:12]) + more

    def declare(self, numbers: Iterable[float]) -> str:
        """How numbers that stand for a missing answer are declared."""
        listed = ",".join(f"{number:g}" for number in sorted(numbers))
        return (
            f"if no answer is meant by {' and '.join(listed.split(','))}, declare it: --missing {listed} (everywhere) "
            f"or --missing {self.official}={listed}"
        )

    def refusal(self, pooled: Numbers, codes: list[float], among_all: Collection[float]) -> tuple[str, dict] | None:
        """Entry and words of why a column is not on the scale that it would be read on; None if it is."""
        size, official = self.size, Interval(1, self.size)
        if self.declared is None:
            own = self.numbers.without(codes)
            if foreign := foreign_scale(own, pooled.without(among_all), size):
                seen, likely = foreign[0], foreign[1].option
                strays = [number for number in own.counts if not 1 <= number <= size and number.is_integer()]
                both = f"--scale {likely} (all columns of {size} levels) or " if size == 5 else ""
                further = f"; {self.declare(codes or strays)}" if codes or 0 < len(strays) < 3 else ""
                return "other-scale/numbers", {"seen": seen, "likely": likely, "both": both, "further": further}
        elif self.declared_for_all and self.declared != official:
            end = unused_end(pooled, self.declared)
            if end is not None and end <= size:
                return "other-scale/unused", {"end": f"{end:g}"}
        if self.declared in (None, official):
            # Two words of one level of which one is the other with an adverb, such as somewhat disagree.
            words = [a.word for a in self.answers if a.word and a.word not in self.words and a.word in self.vocabulary]
            for word, longer in product(words, words):
                if self.vocabulary[word] == self.vocabulary[longer] and longer.endswith(f" {word}"):
                    return "other-scale/words", {"word": word, "longer": longer, "template": self.template()}
        return None

    def level(self, answer: Answer) -> tuple[float | None, str, dict]:
        """Level of an answer, the entry of what is strange about it ("declines": nothing), and words for that."""
        number, word, interval = answer.number, answer.word, self.interval
        if answer.odd:
            return None, "unknown-word/type", {"odd": answer.odd}
        if self.words[word] is None if word in self.words else declines(word, self.scale):
            return None, "declines", {}
        of_word = None  # as the user declared it, else by the vocabulary where the scale is the official one
        for spelling in (word, word.rstrip(".!")):
            if (declared := self.words.get(spelling)) is not None:
                of_word = float(interval.rescaled(declared, self.size)) if interval.holds(declared) else None
                break
            if {interval.lowest, interval.highest} == {1, self.size} and spelling in self.vocabulary:
                of_word = float(self.vocabulary[spelling])
                break
        if number is None:
            if of_word is not None:
                return of_word, "", {}
            return None, "unknown-word/formula" if word.startswith("=") else "unknown-word/alone", {}
        percent = word == "%"
        if percent and max(interval.lowest, interval.highest) <= 1:
            number /= 100
        if not interval.holds(number) or (self.declared is None and (percent or not number.is_integer())):
            return None, "out-of-range/answer", {}
        level = float(interval.rescaled(number, self.size))
        if word and not percent and of_word is None:
            return (None, "unknown-word/numbers", {}) if re.search(r"\d", word) else (level, "unknown-word/beside", {})
        if of_word is not None and abs(of_word - level) > 1e-9:
            return None, "contradiction", {"number": number, "of_word": of_word}
        return level, "", {}

    def read(self, table, pooled: Numbers, options: ReadingOptions, diagnostics: Diagnostics) -> dict[str, list[int]]:
        """Set ``levels`` and ``states`` of each row, report what is strange; rows of each text that means no answer."""
        place, size, official = table.place(self.official), self.size, self.official
        named = any(answer.word in self.vocabulary for answer in self.answers)
        among_all = codes_among({*self.numbers.counts, *(range(1, size + 1) if named else ()), *pooled.counts}, size)
        # Numbers that probably stand for a missing answer, though nobody declared them.
        if self.declared is None:
            codes = [number for number in among_all if number in self.numbers.counts]
        else:
            codes = [n for n in self.numbers.counts if n in CODES and not self.declared.holds(n)]
        codes = codes if self.missing is None else []
        common = {"official": official, "size": size, "interval": self.interval}
        if refusal := self.refusal(pooled, codes, among_all):
            entry, words = refusal
            diagnostics.add(entry, place, declared=self.declared and self.declared.option, **common, **words)
        used = {a.word for a in self.answers if a.word not in self.words and not self.is_missing(a)}
        used = {word: self.vocabulary[word] for word in used & self.vocabulary.keys()}
        reading = ", ".join(
            f"{word} = {level}" for level, word in sorted((level, word) for word, level in used.items())
        )
        if any(self.scale.tables[0].get(word) != level for word, level in used.items()):
            diagnostics.add("other-words", place, reading=reading)
        elif len(set(used.values())) < len(used):
            diagnostics.add("several-words", place, reading=reading)
        anchors = [level[0] for level in self.scale.vocabularies[0]] + sorted(self.scale.not_rated)[-1:]
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
            level, entry, words = self.level(answer)
            level_of[code] = np.nan if level is None else level
            state_of[code] = UNREADABLE_CODE if level is None else RATED_CODE
            if entry == "declines":
                state_of[code], entry = NOT_RATED_CODE, ""
            elif level is None:
                unreadable[as_text(answer.cell)] += answer.count
            if entry and not refusal:
                fix = f"{self.declare([answer.number])}." if answer.number in codes else ""
                diagnostics.add(entry, place, rows, answer.cell, fix=fix, anchors=", ".join(anchors), **common, **words)
        self.levels, self.states = level_of[self.rows], state_of[self.rows]
        rescaled = self.declared if self.declared != Interval(1, size) else None
        table.notes[official] = {
            "filled": int((self.states != ABSENT_CODE).sum()),
            "read": int(np.isfinite(self.levels).sum()),
            "unreadable": unreadable.total(),
            "lowest": np.nan if rescaled is None else rescaled.lowest,
            "highest": np.nan if rescaled is None else rescaled.highest,
        }
        if refusal:
            return missing
        # A question whose numbers never reach the end of the scale, which may have been a shorter one: words say their
        # level themselves, and so does somebody who declares the official scale for a column.
        words = any(answer.word and answer.number is None for answer in self.answers)
        sure = self.declared == Interval(1, size) and not self.declared_for_all
        end = None if words or sure or not self.numbers.counts else unused_end(pooled, self.interval)
        if end is not None:
            option = Interval(self.interval.lowest, end).option
            diagnostics.add("unused-end", place, end=f"{end:g}", option=option, **common)
        if unreadable.total() > LARGEST_UNREADABLE_SHARE * answered and not options.allow_unreadable:
            known = self.vocabulary | self.words
            strange = [a.word for a in self.answers if self.is_word(a) and a.number is None and a.word not in known]
            remedy = f"correct the cells, or declare the scale with --scale {official}=LOWEST-HIGHEST"
            if any(not word.startswith("=") for word in strange):
                remedy = "give the words their numbers with --words words.yml, a file with one line for each word: "
                remedy += self.template()
            seen = ", ".join(f"{value[:30]!r} ({count:,})" for value, count in unreadable.most_common(5))
            diagnostics.add(
                "unreadable-column",
                place,
                unreadable=f"{unreadable.total():,}",
                answered=f"{answered:,}",
                limit=f"{LARGEST_UNREADABLE_SHARE:.0%}",
                seen=seen,
                remedy=self.declare(codes) if codes else remedy,
                **common,
            )
        return missing


def read_scales(table, diagnostics: Diagnostics, options: ReadingOptions) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Frame name -> levels on 1..size (NaN if there is none) and states, for every column of a table with a scale."""
    by_scale: dict[str, list[Question]] = defaultdict(list)
    for column in table.columns:
        if column.scale is not None:
            by_scale[column.scale.name].append(Question(column, table.cells(column.official), options))
    missing: dict[str, set[int]] = defaultdict(set)
    for questions in by_scale.values():
        together = sum((question.unknown for question in questions), Counter())
        shared = choose_vocabulary(questions[0].scale, together)
        pooled: dict[Interval | None, Numbers] = defaultdict(Numbers)
        for question in questions:
            question.choose_vocabulary(shared, together)
            pooled[question.declared] += question.numbers
        for question in questions:
            for text, rows in question.read(table, pooled[question.declared], options, diagnostics).items():
                missing[text].update(rows)
        # A question whose answers run against those of all others on the same scale.
        stacked = np.column_stack([question.levels for question in questions])
        stacked = stacked[np.isfinite(stacked).sum(axis=1) > 1]  # no other answer, nothing to compare with
        known = np.isfinite(stacked)
        total, count = np.where(known, stacked, 0).sum(axis=1), known.sum(axis=1)
        for position, question in enumerate(questions if len(questions) > 2 else ()):
            both, least, most = known[:, position], question.interval.lowest, question.interval.highest
            own = stacked[both, position]
            others = (total[both] - own) / (count[both] - 1)
            if len(own) < ENOUGH_NUMBERS or not own.std() or not others.std():
                continue
            if (correlation := float(np.corrcoef(own, others)[0, 1])) < REVERSED_BELOW:
                words = {"others": len(questions) - 1, "correlation": correlation, "rows_compared": f"{both.sum():,}"}
                words |= {"highest": f"{most:g}", "option": Interval(most, least).option, "official": question.official}
                diagnostics.add("reversed-column", table.place(question.official), **words)
    rows, codes = sorted(set().union(*missing.values())), ", ".join(sorted(missing))
    diagnostics.add("missing-code", {"sheet": table.sheet.name}, rows, codes=codes)
    return {one.column.name: (one.levels, one.states) for questions in by_scale.values() for one in questions}
