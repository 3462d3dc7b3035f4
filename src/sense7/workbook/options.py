"""How a workbook is to be read, where it does not say so itself: scales, words, and what may stay unreadable."""

import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from sense7.files import one_line, parse_yaml, reading, write_whole
from sense7.taxonomy import CORE_COLUMNS, as_plain_number, normalise_name, normalise_word
from sense7.workbook.diagnostics import refusal
from sense7.workbook.ids import as_number, as_text, is_blank
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
        return f"{self.lowest:.15g}{'..' if min(self.lowest, self.highest) < 0 else '-'}{self.highest:.15g}"

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
    ends = [as_plain_number(end) for end in match.groups()] if match else []
    if not ends or None in ends or ends[0] == ends[1]:
        raise refusal(where, "no-scale", text=str(text)[:40])
    return Interval(*ends)


def scale_columns() -> dict[str, int]:
    """Official columns that hold answers on a scale -> number of levels of the official scale."""
    return {
        column.official: column.scale.size
        for columns in CORE_COLUMNS.values()
        for column in columns
        if column.scale
    }


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
            scales[_column(name, where)] = parse_interval(ends, where)
        words_of: dict[str, dict] = {}
        entries = entries_of(
            words if words is None or isinstance(words, Mapping) else Path(str(words)), "words"
        )
        for name, entry, where in entries:
            column = _column(name, where) if isinstance(entry, Mapping) else ALL_COLUMNS
            for word, number in entry.items() if isinstance(entry, Mapping) else [(name, entry)]:
                declines = number is None or (
                    isinstance(number, str) and normalise_word(number) == "unknown"
                )
                is_number = isinstance(number, int | float) and not isinstance(number, bool)
                # YAML reads a bare yes, no, on, off as a truth value.
                if not isinstance(word, str) or not (declines or is_number):
                    raise refusal(where, "no-word", word=word, number=number)
                words_of.setdefault(column, {})[normalise_word(word)] = (
                    None if declines else float(number)
                )
        known, missing_of = {normalise_name(official): official for official in scale_columns()}, {}
        for name, values, _ in entries_of(missing, "--missing"):
            listed = (
                values.split(",")
                if isinstance(values, str)
                else values
                if isinstance(values, list)
                else [values]
            )
            texts = [(as_number(value), normalise_word(as_text(value) or "")) for value in listed]
            read = tuple(
                text if number is None else number
                for number, text in texts
                if text not in {"", "none"}
            )
            column = known.get(normalise_name(str(name)), str(name))
            missing_of[column] = missing_of.get(column, ()) + read
        return cls(scales, words_of, bool(allow_unreadable), missing_of)

    @classmethod
    def beside(cls, path: Path) -> "ReadingOptions":
        """Read the options that lie beside a workbook, in ``FILE.reading.yml``; the default ones if there are none."""
        beside, names = cls.place(path), ("scales", "words", "allow_unreadable", "missing")
        content = _yaml(beside) if beside.is_file() else {}
        if unknown := sorted(set(map(str, content)) - set(names)):
            raise refusal(beside, "unknown-option", name=unknown[0], names=", ".join(names))
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
        scales = {name: interval.option for name, interval in self.scales.items()}
        given = {
            "words": self.words,
            "allow_unreadable": self.allow_unreadable,
            "missing": self.missing,
        }
        return {"scales": scales} | given

    def digest(self, sha256: str) -> str:
        """SHA-256 of a workbook read with these options: that of the workbook alone if they are the default."""
        if not self:
            return sha256
        return hashlib.sha256(
            f"{sha256} {json.dumps(self.to_dict(), sort_keys=True)}".encode()
        ).hexdigest()

    def __str__(self) -> str:
        parts = [f"scale of {name}: {interval}" for name, interval in self.scales.items()]
        parts += [f"words of {name} given" for name in self.words]
        parts += ["unreadable answers allowed"] if self.allow_unreadable else []
        parts += [
            f"missing in {name}: {', '.join(map(as_text, of)) or 'none'}"
            for name, of in self.missing.items()
        ]
        return "; ".join(parts)

    def missing_of(self, name: str) -> tuple[float | str, ...] | None:
        """Numbers and words that stand for a missing answer in a column, None if nobody said; its own before all."""
        of = {normalise_name(column): values for column, values in self.missing.items()}
        return of.get(normalise_name(name), self.missing.get(ALL_COLUMNS))

    def scale_of(self, official: str, size: int) -> Interval | None:
        """Declared scale of a column, None if none was declared."""
        return self.scales.get(official) or (self.scales.get(ALL_COLUMNS) if size == 5 else None)

    def words_of(self, official: str, size: int) -> dict[str, float | None]:
        """Declared words of a column; its own come before those of all columns."""
        return {
            **(self.words.get(ALL_COLUMNS, {}) if size == 5 else {}),
            **self.words.get(official, {}),
        }


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
    scales, missing = {}, {}
    for sheet in filter(is_scales_sheet, sheets.values()):
        names = sheet.names
        for number, row in enumerate(sheet.rows, 2):
            where = f"{path}: sheet {sheet.name}, row {number}"
            cells = dict(zip(reversed(names), reversed(row), strict=True))
            if not is_blank(cells.get("missing")):
                missing |= ReadingOptions.of(missing={cells["column"]: cells["missing"]}).missing
            if not is_blank(cells.get("scale")) or (
                is_blank(cells.get("missing")) and not is_blank(cells["column"])
            ):
                scales[_column(cells["column"], where)] = parse_interval(cells.get("scale"), where)
    return replace(
        options, scales={**scales, **options.scales}, missing={**missing, **options.missing}
    )


def entries_of(given: object, option: str) -> Iterator[tuple[object, object, str]]:
    """Column, value, and where it stands, of what users give: NAME=VALUE, VALUE, a mapping, a YAML file; or several."""
    for one in [given] if isinstance(given, str | int | float | Path | Mapping) else given or ():
        if isinstance(one, Mapping):
            yield from (
                (name, value, f"{option.removeprefix('--')}: {name}") for name, value in one.items()
            )
        elif isinstance(one, Path) or str(one).casefold().endswith((".yml", ".yaml")):
            path = Path(one).expanduser()
            yield from ((name, value, f"{path}: {name}") for name, value in _yaml(path).items())
        else:
            name, equals, value = str(one).partition("=")
            yield (
                name.strip() if equals else ALL_COLUMNS,
                value if equals else name,
                f"{option} {one}",
            )


def _column(name: object, where: str) -> str:
    """Official name of a column that a user names, in any case."""
    known = {normalise_name(official): official for official in scale_columns()} | {
        ALL_COLUMNS: ALL_COLUMNS
    }
    official = known.get(normalise_name(str(name)))
    if official is None:
        raise refusal(
            where, "no-scale-column", name=str(name)[:60], columns=", ".join(scale_columns())
        )
    return official


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
