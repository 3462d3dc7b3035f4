"""Findings of the reader about a file: located, counted, with how to fix them."""

import functools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from sense7.errors import UserError
from sense7.terminal import count_of, plain
from sense7.workbook.ids import as_text, cell_name

ERROR = "error"
WARNING = "warning"
NOTICE = "notice"
SEVERITIES = (ERROR, WARNING, NOTICE)
ROWS_SHOWN = 5
VALUES_SHOWN = 3
VALUE_SHOWN = 60


@dataclass
class Diagnostic:
    """One problem, with every place where it stands; ``rows`` are counted from 1, ``position`` from 0."""

    severity: str
    kind: str
    problem: str
    fix: str
    sheet: str
    column: str = ""
    position: int | None = None
    holds_ids: bool = False
    rows: list[int] = field(default_factory=list)
    values: list[str] = field(default_factory=list)

    @property
    def count(self) -> int:
        """Number of places; 1 for what has no row."""
        return max(1, len(self.rows))

    @property
    def value(self) -> str:
        """The cells' different values, the first ones if there are many."""
        texts = []
        for value in self.values[:VALUES_SHOWN]:
            texts.append(value if len(value) <= VALUE_SHOWN else f"{value[:VALUE_SHOWN]}…")
        text = ", ".join(texts)
        if len(self.values) > VALUES_SHOWN:
            text += f" and {len(self.values) - VALUES_SHOWN:,} others"
        return text

    @property
    def place(self) -> str:
        """Sheet, column, and rows or cells, for people."""
        parts = []
        if self.sheet:
            parts.append(f"sheet {self.sheet}")
        if self.column:
            parts.append(f"column {self.column}")
        if self.rows:
            noun = "row"
            names = list(map(str, self.rows[:ROWS_SHOWN]))
            if self.position is not None:
                noun = "cell"
                names = [cell_name(self.position, row) for row in self.rows[:ROWS_SHOWN]]
            if len(self.rows) > 1:
                noun += "s"
            if len(self.rows) > ROWS_SHOWN:
                names[-1] += f" and {len(self.rows) - ROWS_SHOWN:,} more"
            parts.append(f"{noun} {', '.join(names)}")
        return ", ".join(parts)

    def __str__(self) -> str:
        text = f"{self.problem} Fix: {self.fix}"
        if self.value:
            text = f"{self.value!r}: {text}"
        if self.place:
            text = f"{self.place}: {text}"
        return plain(text)

    def to_dict(self) -> dict:
        """As plain values for JSON, the count included."""
        return {**vars(self), "value": self.value, "count": self.count}


@functools.cache
def _entries() -> dict[str, dict[str, str]]:
    """Entry -> severity, problem and fix, from diagnostics.toml."""
    import tomllib

    return tomllib.loads(Path(__file__).with_name("diagnostics.toml").read_text("utf-8"))


def refusal(where: object, entry: str, **words: object) -> UserError:
    """The error of a file or folder that can't be used, in the words of diagnostics.toml."""
    texts = _entries()[entry]
    return UserError(f"{where}: {texts['problem'].format_map(words)} {texts['fix']}")


class Diagnostics:
    """Diagnostics of one file, collected while it is read; equal ones are one, with all their rows and values."""

    def __init__(self):
        self._found: dict[tuple, Diagnostic] = {}

    def add(
        self,
        entry: str,
        location: Mapping,
        rows: Sequence[int] | None = None,
        value: object = "",
        severity: str = "",
        **words: object,
    ) -> None:
        """Add an entry of diagnostics.toml, or further rows of one that is there already.

        Nothing if ``rows`` is empty: there is no such row.
        """
        if rows is not None and not len(rows):
            return
        texts = _entries()[entry]
        severity = severity or texts.get("severity", WARNING)
        problem, fix = (texts[name].format_map(words) for name in ("problem", "fix"))
        key = (entry, problem, *location.values())
        diagnostic = self._found.setdefault(
            key, Diagnostic(severity, entry, problem, fix, **location)
        )
        if rows is not None:
            diagnostic.rows.extend(map(int, rows))
        text = as_text(value)
        if text and text not in diagnostic.values:
            diagnostic.values.append(text)

    def __iter__(self) -> Iterator[Diagnostic]:
        """Errors, then warnings, then notices; otherwise in the order in which they were found."""
        for severity in SEVERITIES:
            yield from self.of(severity)

    def of(self, *severities: str) -> list[Diagnostic]:
        """Diagnostics of some severities."""
        return [item for item in self._found.values() if item.severity in severities]


class WorkbookError(UserError):
    """A workbook that can't be analysed: the message has every diagnostic of the file, ``diagnostics`` too."""

    def __init__(self, path: object, diagnostics: Diagnostics):
        self.diagnostics = diagnostics
        errors, warnings = diagnostics.of(ERROR), diagnostics.of(WARNING)
        lines = [f"{path}: {count_of(len(errors), 'thing')} to mend"]
        lines += [f"  {diagnostic.severity}: {diagnostic}" for diagnostic in errors]
        if warnings:
            lines.append(f"  and {count_of(len(warnings), 'warning')}:")
        lines += [f"  {diagnostic.severity}: {diagnostic}" for diagnostic in warnings]
        super().__init__("\n".join(lines))
