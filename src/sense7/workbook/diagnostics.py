"""What a reader found wrong or strange: located, counted, with how to fix it."""

import functools
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from itertools import chain
from pathlib import Path

from sense7.errors import UserError
from sense7.terminal import count_of, plain
from sense7.workbook.ids import as_text, cell_name

ERROR = "error"
WARNING = "warning"
NOTICE = "notice"
SEVERITIES = (ERROR, WARNING, NOTICE)
ROWS_SHOWN = 5
VALUE_SHOWN = 60
MOST_VALUES = 10
"""Diagnostics that differ in their value only are one diagnostic if there are more than this many."""


@dataclass(frozen=True)
class Diagnostic:
    """One thing found, with every place where it stands; ``rows`` are counted from 1, ``position`` from 0."""

    severity: str
    kind: str
    problem: str
    fix: str
    sheet: str
    column: str = ""
    position: int | None = None
    rows: tuple[int, ...] = ()
    value: str = ""

    @property
    def count(self) -> int:
        """Number of places; 1 for what has no row."""
        return max(1, len(self.rows))

    @property
    def place(self) -> str:
        """Sheet, column, and rows or cells, for people."""
        parts = []
        if self.sheet:
            parts.append(f"sheet {self.sheet}")
        if self.column:
            parts.append(f"column {self.column}")
        if self.rows:
            first_rows = self.rows[:ROWS_SHOWN]
            noun, names = "row", map(str, first_rows)
            if self.position is not None:
                noun, names = "cell", [cell_name(self.position, row) for row in first_rows]
            if len(self.rows) > 1:
                noun += "s"
            parts.append(f"{noun} {', '.join(names)}")
        text = ", ".join(parts)
        if len(self.rows) > ROWS_SHOWN:
            text += f" and {len(self.rows) - ROWS_SHOWN:,} more"
        return text

    def __str__(self) -> str:
        text = f"{self.problem} Fix: {self.fix}"
        if self.value:
            text = f"{_shorten(self.value)!r}: {text}"
        if self.place:
            text = f"{self.place}: {text}"
        return plain(text)

    def to_dict(self) -> dict:
        """As plain values for JSON, the count included."""
        return {**asdict(self), "rows": list(self.rows), "count": self.count}


def _shorten(text: str, length: int = VALUE_SHOWN) -> str:
    if len(text) > length:
        return f"{text[:length]}…"
    return text


@functools.cache
def _entries() -> dict[str, dict[str, str]]:
    """Entry -> severity, problem and fix, from diagnostics.toml."""
    import tomllib

    return tomllib.loads(Path(__file__).with_name("diagnostics.toml").read_text("utf-8"))


def refusal(where: object, entry: str, **words: object) -> UserError:
    """The error of a file or folder that can't be used, in the words of diagnostics.toml."""
    texts = _entries()[entry]
    return UserError(f"{where}: {texts['problem'].format_map(words)} {texts['fix']}")


@dataclass
class Diagnostics:
    """Diagnostics of one file, collected while it is read; equal ones are one, with all their rows."""

    _places: dict[Diagnostic, dict[str, list[int]]] = field(default_factory=dict)

    def add(
        self,
        entry: str,
        location: Mapping,
        rows: Sequence[int] | None = None,
        value: object = "",
        **words: object,
    ) -> None:
        """Add what stands under ``entry`` in diagnostics.toml, or further rows of one that is there already.

        Nothing if ``rows`` is empty: there is no such row.
        """
        if rows is not None and not len(rows):
            return
        texts = _entries()[entry]
        severity = words.pop("severity", None) or texts.get("severity", WARNING)
        diagnostic = Diagnostic(
            severity=severity,
            kind=entry,
            problem=texts["problem"].format_map(words),
            fix=texts["fix"].format_map(words),
            **location,
        )
        rows_of_value = self._places.setdefault(diagnostic, {}).setdefault(as_text(value), [])
        if rows is not None:
            rows_of_value.extend(map(int, rows))

    def __iter__(self) -> Iterator[Diagnostic]:
        """Errors, then warnings, then notices; otherwise in the order in which they were found."""
        diagnostics = []
        for diagnostic, values in self._places.items():
            rows_of_values = values
            if len(values) > MOST_VALUES:
                first_values = [_shorten(value, 20) for value in list(values)[:3]]
                value = f"{', '.join(first_values)} and {len(values) - 3:,} others"
                rows_of_values = {value: sorted(chain.from_iterable(values.values()))}
            for value, rows in rows_of_values.items():
                diagnostics.append(replace(diagnostic, value=value, rows=tuple(rows)))
        for severity in SEVERITIES:
            yield from (item for item in diagnostics if item.severity == severity)

    def of(self, *severities: str) -> list[Diagnostic]:
        """Diagnostics of some severities."""
        return [diagnostic for diagnostic in self if diagnostic.severity in severities]


class WorkbookError(UserError):
    """A workbook that can't be analysed: the message has every diagnostic of the file, ``diagnostics`` too."""

    def __init__(self, path: object, diagnostics: Diagnostics, strict: bool = False):
        self.diagnostics = diagnostics
        errors, warnings = diagnostics.of(ERROR), diagnostics.of(WARNING)
        if strict:
            errors, warnings = errors + warnings, []
        reason = "found by --strict"
        if diagnostics.of(ERROR):
            verb = "makes" if len(errors) == 1 else "make"
            reason = f"that {verb} the analysis impossible"
        lines = [f"{path}: {count_of(len(errors), 'thing')} {reason}"]
        lines += [f"  {diagnostic.severity}: {diagnostic}" for diagnostic in errors]
        if warnings:
            lines.append(f"  and {count_of(len(warnings), 'warning')}:")
        lines += [f"  {diagnostic.severity}: {diagnostic}" for diagnostic in warnings]
        super().__init__("\n".join(lines))


def warnings_by_kind(warnings: Iterable[Diagnostic]) -> dict[str, dict[str, int]]:
    """Kind of warning -> number of ``warnings`` and of ``places`` in the workbook that they name, most places first."""
    places, counts = Counter(), Counter()
    for warning in warnings:
        places[warning.kind] += warning.count
        counts[warning.kind] += 1
    by_kind = {}
    for name, number in places.most_common():
        by_kind[name] = {"warnings": counts[name], "places": number}
    return by_kind
