"""The reading file: what the cells of a workbook mean, declared in ``FILE.reading.yml`` beside it, and only there.

Its keys are those of Data Package's Table Schema where that has them. See ``book/format.md``.
"""

import contextlib
import functools
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from sense7.errors import UserError
from sense7.files import digest_of, one_line, parse_yaml, reading, write_whole
from sense7.study import ABSENT, DECLINED, NOT_RATED
from sense7.taxonomy import CORE_COLUMNS, SCALE_OF, SCALES, Column, normalise_word
from sense7.workbook.diagnostics import ERROR, WARNING, refusal
from sense7.workbook.ids import as_name, as_number
from sense7.workbook.tables import decoded

LABELS = {"not applicable": NOT_RATED, "declined": DECLINED, "missing": ABSENT}
"""Label of a value that is no answer -> state of its cells."""

ROLES = ("user", "assistant", "error")
SHEETS = (*CORE_COLUMNS, "Participants")
TYPES = ("number", "group", "leave out")
"""What a column of the participants' sheet can be declared to be."""

STANDARD = """\
# How sense7 reads the workbook beside this file: the page on the format describes it.
# Numbers mean what is declared here; the words of the official format are known.
reading: 1
defaults:
  turn ratings: {scale: [1, 5]} # the first end means least
  importance: {scale: [1, 5]}
  desired empathy: {scale: [1, 3]}
  post-task experience: {scale: [1, 5]}
  post-task empathy: {scale: [1, 5]}
"""
"""Reading file of a workbook whose numbers are levels of the official scales."""

PROMPTED_BY_NAME = "prompted: {contains: [prompt, empath]}\n"
"""Line by which the prompted condition is the one whose name speaks of it."""


@dataclass(frozen=True)
class Interval:
    """The answers that mean the least and the most on a scale; the first is the larger on a reversed one."""

    lowest: float
    highest: float

    def __str__(self) -> str:
        return f"{self.lowest:.15g} to {self.highest:.15g}"

    def holds(self, number: float) -> bool:
        """Whether an answer lies on the scale, its ends included."""
        return min(self.lowest, self.highest) <= number <= max(self.lowest, self.highest)

    def rescaled(self, number: float, size: int) -> float:
        """Map an answer linearly to 1..size: ``1 + (size - 1) * (x - lowest) / (highest - lowest)``."""
        return 1 + (size - 1) * (number - self.lowest) / (self.highest - self.lowest)

    def original(self, level: float, size: int) -> float:
        """Map a value on 1..size back to this scale: the inverse of :meth:`rescaled`."""
        return self.lowest + (level - 1) * (self.highest - self.lowest) / (size - 1)


@dataclass(frozen=True)
class Answers:
    """How the answers of a column are read.

    ``words``: word -> level on 1..size; ``missing``: value that is no answer -> label; without a ``scale`` no number is
    an answer.
    """

    size: int
    scale: Interval | None = None
    words: Mapping[str, float] = field(default_factory=dict)
    missing: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Characteristic:
    """How a column of the participants' sheet is read; ``type`` is one of ``TYPES``, or None if nobody said."""

    type: str | None = None
    labels: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Reading:
    """What a reading file declares.

    ``text`` is the file; ``leaves_out`` says whether what is not foreseen is left out, with its reason, instead of
    stopping the analysis; ``answers`` has the scales by name, and exceptions by column; the mappings of ``sheets``,
    ``columns`` and ``roles`` lead from a name in the workbook to that of the format; ``prompted`` is the name of a
    condition, or parts of names.
    """

    where: object
    text: str = ""
    leaves_out: bool = False
    largest_unreadable: float = 0.05
    decimal: str = "."
    sheets: Mapping[str, str] = field(default_factory=dict)
    columns: Mapping[str, str] = field(default_factory=dict)
    roles: Mapping[str, str] = field(default_factory=dict)
    missing: Mapping[str, str] = field(default_factory=dict)
    prompted: str | tuple[str, ...] = ""
    answers: Mapping[str, Answers] = field(default_factory=dict)
    characteristics: Mapping[str, Characteristic] = field(default_factory=dict)

    @property
    def severity(self) -> str:
        """Severity of what stops the analysis of a workbook of one's own."""
        if self.leaves_out:
            return WARNING
        return ERROR

    def answers_of(self, column: Column) -> Answers:
        """How the answers of a column are read: as an exception declares, else as the default of its scale."""
        return self.answers.get(column.official) or self.answers[column.scale.name]

    def prompted_among(self, conditions: Iterable[str]) -> tuple[str | None, str]:
        """Give the empathy-prompted condition, None if it is not known, and how it is known or why not."""
        if not self.prompted:
            return None, "no reading file says which condition is prompted"
        if isinstance(self.prompted, str):
            return self.prompted, "as the reading file says"
        parts = " or ".join(self.prompted)
        names = []
        for condition in set(conditions):
            if any(part in condition.casefold() for part in self.prompted):
                names.append(condition)
        if len(names) == 1:
            return names[0], f"the only name with {parts} in it"
        return None, f"{len(names)} names have {parts} in them"

    def require_names(self, key: str, present: Iterable[str]) -> None:
        """Refuse a name under a key that the workbook does not have."""
        names = getattr(self, key)
        present = list(present)
        for name in [names] if isinstance(names, str) else names:
            if name not in present:
                problem = f"{key}: there is no {name!r}; the workbook has {', '.join(present[:40])}"
                raise refusal(self.where, "reading-file", problem=problem)


def reading_path(path: str | Path) -> Path:
    """Place of the reading file of a workbook: beside it.

    Examples
    --------
    >>> reading_path("data/mine.xlsx").name
    'mine.xlsx.reading.yml'
    """
    path = Path(path)
    return path.with_name(f"{path.name}.reading.yml")


def reading_beside(path: str | Path) -> Reading:
    """Read what lies beside a workbook; without a reading file only the words of the official format are known."""
    file = reading_path(path)
    if not file.exists():
        return parse_reading("reading: 1", f"{path}: no {file.name} beside it")
    return parse_reading(text_of(file), file)


def read_yaml(path: Path, **options) -> object:
    """Values of another file of declarations in YAML; options as for :func:`sense7.files.parse_yaml`."""
    try:
        return parse_yaml(text_of(path), **options)
    except ValueError as error:
        raise UserError(f"{path}: {one_line(error)}.") from None


def text_of(file: Path) -> str:
    """The text of a file of declarations in UTF-8."""
    with reading(file) as stream:
        return decoded(stream.read(), file, "Save it in UTF-8.")


def reading_digest(path: str | Path, sha256: str) -> str:
    """SHA-256 of a workbook and its reading file; that of the workbook alone if there is none."""
    text = reading_beside(path).text
    if not text:
        return sha256
    return digest_of(f"{sha256} {text}".encode())


def write_reading(path: str | Path, text: str) -> Path:
    """Write the reading file of a workbook."""
    file = reading_path(path)
    write_whole(file, text, replace=True)
    return file


@functools.cache
def official_text() -> str:
    """The reading file of the official workbook."""
    return Path(__file__).with_name("official.reading.yml").read_text("utf-8")


@functools.cache
def official_defaults() -> dict[str, dict]:
    """What the reading file of the official workbook declares of each scale."""
    return parse_yaml(official_text(), scalars_are_texts=True)["defaults"]


def usual_words(scale_name: str) -> list[str]:
    """The usual word of each level of an official scale, lowest first."""
    words = {}
    for category in official_defaults()[scale_name]["categories"]:
        words.setdefault(category["level"], category["value"])
    return list(words.values())


# --- from text ---


def parse_reading(text: str, where: object = "the reading file") -> Reading:
    """Read a reading file; whatever in it is not foreseen is refused by its place.

    Examples
    --------
    >>> declared = parse_reading("{reading: 1, exceptions: {Prosocial: {scale: [5, 1]}}}")
    >>> str(declared.answers["Prosocial"].scale)
    '5 to 1'
    """
    try:
        content = _mapping(parse_yaml(text, scalars_are_texts=True), _KEYS)
        if content.get("reading") != "1":
            raise ValueError("write reading: 1")
        share = as_number(content.get("unreadable", "0.05"))
        if share is None or not 0 <= share <= 1:
            raise ValueError("unreadable is a share, such as 0.05")
        unforeseen = content.get("unforeseen", "refuse")
        decimal = content.get("decimal", ".")
        if unforeseen not in ("refuse", "leave out") or decimal not in (".", ","):
            raise ValueError("write unforeseen: refuse or leave out, and decimal: . or ,")
        missing = _missing(content.get("missingValues", []))
        characteristics = {}
        for name, entry in _mapping(content.get("characteristics", {})).items():
            with _place(name):
                characteristics[as_name(name)] = _characteristic(entry)
        names = {}
        for key, officials in (("sheets", SHEETS), ("columns", SCALE_OF), ("roles", ROLES)):
            names[key] = {}
            for name, official in _mapping(content.get(key, {})).items():
                if official not in officials:
                    choices = ", ".join(officials)
                    raise ValueError(f"{key}: {name}: {official} is none of {choices}")
                names[key][as_name(name)] = official
        return Reading(
            where,
            text=text if len(content) > 1 else "",
            leaves_out=unforeseen == "leave out",
            largest_unreadable=share,
            decimal=decimal,
            missing=missing,
            prompted=_prompted(content.get("prompted", "")),
            answers=_answers(content),
            characteristics=characteristics,
            **names,
        )
    except ValueError as error:
        raise refusal(where, "reading-file", problem=error) from None


_KEYS = [
    "reading",
    "unforeseen",
    "unreadable",
    "decimal",
    "sheets",
    "columns",
    "roles",
    "missingValues",
    "prompted",
    "defaults",
    "exceptions",
    "characteristics",
]


def _answers(content: Mapping) -> dict[str, Answers]:
    """Scales by name, and exceptions by column."""
    answers = {}
    everywhere = {"missingValues": content.get("missingValues", [])}
    defaults = _mapping(content.get("defaults", {}), [scale.name for scale in SCALES])
    for scale in SCALES:
        with _place(scale.name):
            usual = {**official_defaults()[scale.name]}
            del usual["scale"]
            answers[scale.name] = Answers(scale.size)
            for entry in (usual, everywhere, defaults.get(scale.name, {})):
                answers[scale.name] = _overlaid(answers[scale.name], entry)
    for name, entry in _mapping(content.get("exceptions", {})).items():
        with _place(name):
            if not SCALE_OF.get(name):
                raise ValueError("no column of the format that holds answers on a scale")
            answers[name] = _overlaid(answers[SCALE_OF[name].name], entry)
    return answers


def _overlaid(answers: Answers, entry: object) -> Answers:
    """How answers are read that differ by an entry: its scale and its words replace, its missing values are added."""
    entry = _mapping(entry, ("scale", "categories", "missingValues"))
    scale, words, missing = answers.scale, answers.words, answers.missing
    declared = _missing(entry.get("missingValues", []))
    if "scale" in entry:
        numbers = []
        if isinstance(entry["scale"], list):
            numbers = list(map(as_number, entry["scale"]))
        if len(numbers) != 2 or None in numbers or numbers[0] == numbers[1]:
            raise ValueError(f"scale: {entry['scale']}: write what means least and most: [1, 7]")
        scale = Interval(*numbers)
    if "categories" in entry:
        words = {}
        scale_of_words = scale or Interval(1, answers.size)
        for word, level in _pairs(entry["categories"], "level").items():
            number = as_number(level)
            if number is None or not scale_of_words.holds(number):
                raise ValueError(f"{word}: its level is no number from {scale_of_words}")
            words[word] = scale_of_words.rescaled(number, answers.size)
        missing = {value: label for value, label in missing.items() if value not in words}
    for value in (*missing, *declared):
        number = as_number(value)
        is_number = scale is not None and number is not None and scale.holds(number)
        if is_number or (value in words and "categories" in entry):
            raise ValueError(f"the missing value {value} is on the scale")
    missing = {**missing, **declared}
    words = {word: level for word, level in words.items() if word not in missing}
    return Answers(answers.size, scale, words, missing)


def _missing(values: object) -> dict[str, str]:
    """Value that is no answer -> label."""
    labels = _pairs(values, "label", "missing")
    for value, label in labels.items():
        if label not in LABELS:
            raise ValueError(f"{value}: its label is none of {', '.join(LABELS)}")
    return labels


def _characteristic(entry: object) -> Characteristic:
    """How a column of the participants' sheet is read."""
    if isinstance(entry, Mapping):
        categories = _mapping(entry, ["categories"]).get("categories")
        return Characteristic("group", _pairs(categories, "label"))
    if entry not in TYPES:
        raise ValueError(f"write {', '.join(TYPES)}, or categories of value and label")
    return Characteristic(entry)


def _pairs(items: object, key: str, default: str | None = None) -> dict[str, str]:
    """Value -> what an entry says of it under a key, of a list of entries, or of values where there is a default."""
    pairs = {}
    if not isinstance(items, list):
        raise ValueError(f"write a list of entries of value and {key}")
    for item in items:
        entry = item
        if isinstance(item, str):
            entry = {"value": item}
        entry = _mapping(entry, ("value", key))
        value, said = entry.get("value"), entry.get(key, default)
        is_text = isinstance(value, str) and isinstance(said, str)
        if not is_text or not value.strip() or normalise_word(value) in pairs:
            raise ValueError(f"{value}: write an entry of value and {key}, each value once")
        pairs[normalise_word(value)] = said
    return pairs


def _prompted(value: object) -> str | tuple[str, ...]:
    """Name of the prompted condition, or parts of names."""
    if isinstance(value, str):
        return as_name(value) or ""
    parts = value.get("contains") if isinstance(value, Mapping) and len(value) == 1 else None
    if not isinstance(parts, list) or not parts or not all(isinstance(part, str) for part in parts):
        raise ValueError("prompted: write the name of a condition, or contains: with parts of it")
    return tuple(map(str.casefold, parts))


def _mapping(value: object, keys: Iterable[str] | None = None) -> Mapping:
    """A mapping with no other keys than these."""
    if not isinstance(value, Mapping):
        raise ValueError(f"expected KEY: VALUE, not {value!r:.60}")
    for key in value:
        if not isinstance(key, str) or (keys is not None and key not in keys):
            raise ValueError(f"unknown key {key}; use {', '.join(sorted(keys or ['texts']))}")
    return value


@contextlib.contextmanager
def _place(name: str) -> Iterator[None]:
    """Name the place of an error."""
    try:
        yield
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from None
