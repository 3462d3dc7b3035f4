"""How a workbook is to be read, where it does not say so itself: scales, words, and what may stay unreadable."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path

from sense7.files import digest_of, one_line, parse_yaml, reading, write_whole
from sense7.taxonomy import CORE_COLUMNS, as_plain_number, normalise_name, normalise_word
from sense7.workbook.diagnostics import refusal
from sense7.workbook.ids import as_number, as_text, is_blank, is_number
from sense7.workbook.xlsx import Sheet

ALL_COLUMNS = "all"
"""Name under which a scale or a list of words holds for every column whose official scale has five levels."""

SCALES_SHEET = "Scales"
"""Sheet by which a workbook declares its scales itself: columns ``column``, ``scale`` and ``missing``."""

_END = r"(-?(?:\d+(?:[.,]\d+)?|[.,]\d+)) ?%?"
_INTERVAL = re.compile(rf"{_END} ?(?:\.\.|to|[-:]) ?{_END}")
"""The ends of a scale, in plain signs, where every white space is one space."""


@dataclass(frozen=True)
class Interval:
    """The answers that mean the least and the most on a scale; the first is the larger on a reversed one (5-1)."""

    lowest: float
    highest: float

    def __str__(self) -> str:
        return f"{self.lowest:.15g} to {self.highest:.15g}"

    @property
    def option(self) -> str:
        """As it is written after ``--scale``: 1-7, -3..3."""
        separator = ".." if min(self.lowest, self.highest) < 0 else "-"
        return f"{self.lowest:.15g}{separator}{self.highest:.15g}"

    def holds(self, number: float) -> bool:
        """Whether an answer lies on the scale, its ends included."""
        return min(self.lowest, self.highest) <= number <= max(self.lowest, self.highest)

    def rescaled(self, number: float, size: int) -> float:
        """Map an answer linearly to 1..size: ``1 + (size - 1) * (x - lowest) / (highest - lowest)``."""
        return 1 + (size - 1) * (number - self.lowest) / (self.highest - self.lowest)

    def original(self, level: float, size: int) -> float:
        """Map a value on 1..size back to this scale: the inverse of :meth:`rescaled`."""
        return self.lowest + (level - 1) * (self.highest - self.lowest) / (size - 1)


def parse_interval(text: object, where: str) -> Interval:
    """Read the ends of a scale: ``1-7``, ``0..100``, ``-3..3``, ``5-1`` (reversed); ``where`` is for the message."""
    if isinstance(text, Interval):
        return text
    match = _INTERVAL.fullmatch(normalise_word(str(text)))
    if match:
        lowest, highest = map(as_plain_number, match.groups())
        if None not in (lowest, highest) and lowest != highest:
            return Interval(lowest, highest)
    raise refusal(where, "no-scale", text=str(text)[:40])


def scale_columns() -> dict[str, int]:
    """Official columns that hold answers on a scale -> number of levels of the official scale."""
    columns = chain.from_iterable(CORE_COLUMNS.values())
    return {column.official: column.scale.size for column in columns if column.scale}


@dataclass(frozen=True)
class ReadingOptions:
    """What a user says about a workbook's answers that differ from the official format.

    Attributes
    ----------
    scales : mapping
        Official column, or ``all``, -> :class:`Interval`.
    words : mapping
        Official column, or ``all``, -> word (see :func:`sense7.taxonomy.normalise_word`) -> number on the column's
        scale, or None for words that decline to rate.
    allow_unreadable : bool
        Whether a column is used although more of its answers than the limit can't be read.
    missing : mapping
        Column of the format or of the participants' sheet, or ``all``, -> numbers and words that stand for a missing
        answer; none where every number is an answer.
    """

    scales: Mapping[str, Interval] = field(default_factory=dict)
    words: Mapping[str, Mapping[str, float | None]] = field(default_factory=dict)
    allow_unreadable: bool = False
    missing: Mapping[str, tuple[float | str, ...]] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        scale: str | Path | Mapping | Iterable[str] | None = None,
        words: str | Path | Mapping | None = None,
        allow_unreadable: bool | None = False,
        missing: str | float | Mapping | Iterable | None = None,
    ) -> "ReadingOptions":
        """Read the options as users give them.

        Parameters
        ----------
        scale : str, path, mapping or several texts, optional
            ``1-7`` for every column of five levels, ``COLUMN=1-7`` for one, a mapping of both kinds, or a YAML file
            with such a mapping.
        words : path or mapping, optional
            Word -> number for every column of five levels, or column -> such a mapping; or a YAML file with that.
        allow_unreadable : bool
            See the attribute.
        missing : number, str, mapping or several of them, optional
            ``-99`` or ``8,9`` for every column, ``Age=999`` for one, ``Age=none`` for one in which every number is an
            answer; or a mapping of both kinds.

        Raises
        ------
        UserError
            If a file can't be read, or something in it is neither a column nor a scale; says which.

        Examples
        --------
        >>> ReadingOptions.of(["1-7", "PreTaskImportance=1-5"]).scales["PreTaskImportance"]
        Interval(lowest=1.0, highest=5.0)
        """
        scales = {}
        for name, ends, where in entries_of(scale, "--scale"):
            _declare_scale(scales, _column(name, where), parse_interval(ends, where), where)
        if words is not None and not isinstance(words, Mapping):
            words = Path(str(words))
        words_of = {}
        for name, entry, where in entries_of(words, "words"):
            if isinstance(entry, Mapping):
                column, levels = _column(name, where), entry
            else:
                column, levels = ALL_COLUMNS, {name: entry}
            for word, level in levels.items():
                declines = level is None
                if isinstance(level, str):
                    declines = normalise_word(level) == "unknown"
                # YAML reads a bare yes, no, on, off as a truth value.
                if not isinstance(word, str) or not (declines or is_number(level)):
                    raise refusal(where, "no-word", word=word, number=level)
                column_words = words_of.setdefault(column, {})
                number = None if declines else float(level)
                first = column_words.setdefault(normalise_word(word), number)
                if first != number:
                    readings = [
                        "no answer" if reading is None else f"{reading:g}"
                        for reading in (first, number)
                    ]
                    raise refusal(
                        where, "word-twice", word=word, readings=" and for ".join(readings)
                    )
        official_names = {normalise_name(official): official for official in scale_columns()}
        missing_of = {}
        for name, values, _ in entries_of(missing, "--missing"):
            column = official_names.get(normalise_name(str(name)), str(name))
            missing_of[column] = missing_of.get(column, ()) + _missing_values(values)
        return cls(scales, words_of, bool(allow_unreadable), missing_of)

    @classmethod
    def beside(cls, path: Path) -> "ReadingOptions":
        """Read the options that lie beside a workbook, in ``FILE.reading.yml``; the default ones if there are none."""
        options_path = cls.place(path)
        if not options_path.is_file():
            return cls()
        names = ("scales", "words", "allow_unreadable", "missing")
        content = _yaml(options_path)
        unknown = sorted(set(map(str, content)) - set(names))
        if unknown:
            raise refusal(options_path, "unknown-option", name=unknown[0], names=", ".join(names))
        return cls.of(*(content.get(name) for name in names))

    @staticmethod
    def place(path: Path) -> Path:
        """File beside a workbook that holds the options for it."""
        return path.with_name(f"{path.name}.reading.yml")

    def write_beside(self, path: Path) -> None:
        """Write the options beside a workbook, where :meth:`beside` finds them; nothing if they are the default."""
        if self:  # JSON is YAML
            write_whole(
                self.place(path), json.dumps(self.to_dict(), indent=1, ensure_ascii=False) + "\n"
            )

    def __bool__(self) -> bool:
        return self != ReadingOptions()

    def to_dict(self) -> dict:
        """As plain values, in the form of ``FILE.reading.yml``."""
        return {
            "scales": {name: interval.option for name, interval in self.scales.items()},
            "words": self.words,
            "allow_unreadable": self.allow_unreadable,
            "missing": self.missing,
        }

    def digest(self, sha256: str) -> str:
        """SHA-256 of a workbook read with these options: that of the workbook alone if they are the default."""
        if not self:
            return sha256
        return digest_of(f"{sha256} {json.dumps(self.to_dict(), sort_keys=True)}".encode())

    def __str__(self) -> str:
        parts = [f"scale of {name}: {interval}" for name, interval in self.scales.items()]
        parts += [f"words of {name} given" for name in self.words]
        if self.allow_unreadable:
            parts.append("unreadable answers allowed")
        for name, values in self.missing.items():
            parts.append(f"missing in {name}: {', '.join(map(as_text, values)) or 'none'}")
        return "; ".join(parts)

    def missing_of(self, name: str) -> tuple[float | str, ...] | None:
        """Numbers and words that stand for a missing answer in a column, None if nobody said; its own before all."""
        values_of = {normalise_name(column): values for column, values in self.missing.items()}
        return values_of.get(normalise_name(name), self.missing.get(ALL_COLUMNS))

    def scale_of(self, official: str, size: int) -> Interval | None:
        """Declared scale of a column, None if none was declared."""
        if official in self.scales or size != 5:
            return self.scales.get(official)
        return self.scales.get(ALL_COLUMNS)

    def words_of(self, official: str, size: int) -> dict[str, float | None]:
        """Declared words of a column; its own come before those of all columns."""
        words = {}
        if size == 5:
            words.update(self.words.get(ALL_COLUMNS, {}))
        words.update(self.words.get(official, {}))
        return words


def is_scales_sheet(sheet: Sheet) -> bool:
    """Whether a sheet declares scales: it is called Scales, and has the columns column and scale or missing."""
    names = set(sheet.names)
    return (
        normalise_name(sheet.name) == "scales"
        and "column" in names
        and not names.isdisjoint({"scale", "missing"})
    )


def with_scales_sheet(
    sheets: Mapping[str, Sheet], options: ReadingOptions, path: str | Path
) -> ReadingOptions:
    """Add the scales and missing answers that a workbook declares in its sheet Scales; what was given comes first."""
    scales = {}
    missing = {}
    for sheet in filter(is_scales_sheet, sheets.values()):
        for number, row in enumerate(sheet.rows, 2):
            where = f"{path}: sheet {sheet.name}, row {number}"
            # Of columns of one name the first counts.
            cells = dict(zip(reversed(sheet.names), reversed(row), strict=True))
            declares_missing = not is_blank(cells.get("missing"))
            declares_scale = not is_blank(cells.get("scale"))
            if declares_missing:
                declared = ReadingOptions.of(missing={cells["column"]: cells["missing"]})
                for column, values in declared.missing.items():
                    missing[column] = missing.get(column, ()) + values
            if declares_scale or (not declares_missing and not is_blank(cells["column"])):
                interval = parse_interval(cells.get("scale"), where)
                _declare_scale(scales, _column(cells["column"], where), interval, where)
    scales.update(options.scales)
    missing.update(options.missing)
    return replace(options, scales=scales, missing=missing)


def _declare_scale(
    scales: dict[str, Interval], column: str, interval: Interval, where: str
) -> None:
    """Add the scale of a column; refused where it is declared as another already."""
    first = scales.setdefault(column, interval)
    if first != interval:
        raise refusal(where, "scale-twice", column=column, first=first, second=interval)


def entries_of(values: object, option: str) -> Iterator[tuple[object, object, str]]:
    """Column, value, and where it stands, of what users give: NAME=VALUE, VALUE, a mapping, a YAML file; or several."""
    if values is None:
        return
    if isinstance(values, str | int | float | Path | Mapping):
        values = [values]
    for item in values:
        if isinstance(item, Mapping):
            for name, value in item.items():
                yield name, value, f"{option.removeprefix('--')}: {name}"
        elif isinstance(item, Path) or str(item).casefold().endswith((".yml", ".yaml")):
            path = Path(item).expanduser()
            for name, value in _yaml(path).items():
                yield name, value, f"{path}: {name}"
        else:
            name, equals, value = str(item).partition("=")
            if equals:
                yield name.strip(), value, f"{option} {item}"
            else:
                yield ALL_COLUMNS, name, f"{option} {item}"


def _missing_values(values: object) -> tuple[float | str, ...]:
    """Numbers and words that stand for a missing answer: ``"8,9"``, a list, or one of them; none for "none"."""
    if isinstance(values, str):
        values = values.split(",")
    elif not isinstance(values, list):
        values = [values]
    missing = []
    for value in values:
        number = as_number(value)
        word = normalise_word(as_text(value) or "")
        if number is not None:
            missing.append(number)
        elif word not in {"", "none"}:
            missing.append(word)
    return tuple(missing)


def _column(name: object, where: str) -> str:
    """Official name of a column that a user names, in any case."""
    for official in (ALL_COLUMNS, *scale_columns()):
        if normalise_name(official) == normalise_name(str(name)):
            return official
    columns = ", ".join(scale_columns())
    raise refusal(where, "no-scale-column", name=str(name)[:60], columns=columns)


def _yaml(path: Path) -> Mapping:
    with reading(path) as stream:
        content = stream.read()
    try:
        entries = parse_yaml(content.decode("utf-8"))
        if not isinstance(entries, Mapping):
            raise ValueError("it holds no mapping")
    except ValueError as error:
        raise refusal(path, "no-yaml", error=one_line(error)) from None
    return entries
