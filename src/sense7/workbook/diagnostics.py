"""What a reader found wrong or strange in a workbook, located, counted, and with how to fix it."""

from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, field, replace

from sense7.errors import UserError
from sense7.terminal import count_of, plain
from sense7.workbook.sheets import cell_name
from sense7.workbook.values import as_text

__all__ = ["ERROR", "NOTICE", "WARNING", "Diagnostic", "Diagnostics", "WorkbookError"]

ERROR = "error"
WARNING = "warning"
NOTICE = "notice"
SEVERITIES = (ERROR, WARNING, NOTICE)
_ROWS_SHOWN = 5
_VALUE_SHOWN = 60
_VALUES_APART = 10
"""Diagnostics that differ in their value only are one diagnostic if there are more than this many."""


@dataclass(frozen=True)
class Diagnostic:
    """One thing found, with every place where it stands.

    Attributes
    ----------
    severity : str
        ``error`` (the analysis is impossible), ``warning`` (it goes on, as ``problem`` says), or ``notice`` (a fact
        about the file that needs no repair, such as a question that was not asked).
    kind : str
        Short name of the kind of diagnostic, e.g. ``unknown-word``.
    sheet : str
        Sheet, or "" for the file as a whole.
    column : str
        Header of the column, or "".
    position : int or None
        Position of the column in the sheet, counted from 0.
    rows : tuple of int
        Rows of the sheet, counted from 1 as spreadsheet programs do; may be empty.
    value : str
        The value found, or ""; the first few where many places hold many values.
    problem : str
        What is wrong and what was done about it.
    fix : str
        What to do.
    """

    severity: str
    kind: str
    sheet: str
    column: str
    position: int | None
    rows: tuple[int, ...]
    value: str
    problem: str
    fix: str

    @property
    def count(self) -> int:
        """Number of places; 1 for what has no row."""
        return max(1, len(self.rows))

    @property
    def place(self) -> str:
        """Sheet, column, and rows or cells, for people.

        Examples
        --------
        >>> Diagnostic("warning", "k", "Messages", "Affective", 7, (12, 40), "x", "p", "m").place
        'sheet Messages, column Affective, cells H12, H40'
        """
        parts = [f"sheet {self.sheet}"] if self.sheet else []
        if self.column:
            parts.append(f"column {self.column}")
        if self.rows:
            shown = self.rows[:_ROWS_SHOWN]
            in_column = self.position is not None
            names = [cell_name(self.position, row) if in_column else str(row) for row in shown]
            noun = "cell" if in_column else "row"
            more = f" and {len(self.rows) - len(shown):,} more" if len(self.rows) > len(shown) else ""
            parts.append(f"{noun}{'s' if len(self.rows) > 1 else ''} {', '.join(names)}{more}")
        return ", ".join(parts)

    def __str__(self) -> str:
        where = f"{self.place}: " if self.place else ""
        value = f"{_shorten(self.value)!r}: " if self.value else ""
        return plain(f"{where}{value}{self.problem} Fix: {self.fix}")

    def to_dict(self) -> dict:
        """As plain values for JSON, the count included."""
        return asdict(self) | {"rows": list(self.rows), "count": self.count}


def _shorten(text: str, length: int = _VALUE_SHOWN) -> str:
    return text if len(text) <= length else f"{text[:length]}…"


@dataclass
class Diagnostics:
    """Diagnostics of one file, collected while it is read; equal ones are one, with all their rows."""

    _places: dict[Diagnostic, list[int]] = field(default_factory=dict)

    def add(
        self,
        severity: str,
        kind: str,
        problem: str,
        fix: str,
        *,
        sheet: str = "",
        column: str = "",
        position: int | None = None,
        rows: Iterable[int] = (),
        value: object = "",
    ) -> None:
        """Add a diagnostic, or further rows of one that is there already; a value is shown as a cell would show it."""
        diagnostic = Diagnostic(severity, kind, sheet, column, position, (), as_text(value), problem, fix)
        self._places.setdefault(diagnostic, []).extend(rows)

    def __iter__(self) -> Iterator[Diagnostic]:
        """Errors, then warnings, then notices; otherwise in the order in which they were found."""
        alike: dict[Diagnostic, list[Diagnostic]] = {}
        for diagnostic in self._places:
            alike.setdefault(replace(diagnostic, value=""), []).append(diagnostic)
        merged = []
        for common, group in alike.items():
            if len(group) <= _VALUES_APART:
                merged += [replace(diagnostic, rows=tuple(self._places[diagnostic])) for diagnostic in group]
            else:
                shown = ", ".join(_shorten(diagnostic.value, 20) for diagnostic in group[:3])
                rows = sorted(row for diagnostic in group for row in self._places[diagnostic])
                merged.append(replace(common, value=f"{shown} and {len(group) - 3:,} others", rows=tuple(rows)))
        yield from sorted(merged, key=lambda diagnostic: SEVERITIES.index(diagnostic.severity))

    def __len__(self) -> int:
        return len(self._places)

    @property
    def errors(self) -> list[Diagnostic]:
        """The diagnostics that make the analysis impossible."""
        return [diagnostic for diagnostic in self if diagnostic.severity == ERROR]

    @property
    def warnings(self) -> list[Diagnostic]:
        """The diagnostics that the analysis lives with."""
        return [diagnostic for diagnostic in self if diagnostic.severity == WARNING]

    @property
    def problems(self) -> list[Diagnostic]:
        """Errors and warnings: what ``--strict`` refuses."""
        return [diagnostic for diagnostic in self if diagnostic.severity != NOTICE]


class WorkbookError(UserError):
    """A workbook that can't be analysed: every diagnostic of the file at once.

    Attributes
    ----------
    diagnostics : Diagnostics
        All that was found, warnings included.
    """

    def __init__(self, path: object, diagnostics: Diagnostics, strict: bool = False):
        self.diagnostics = diagnostics
        fatal = diagnostics.problems if strict else diagnostics.errors
        reason = "found by --strict" if strict and not diagnostics.errors else "that make the analysis impossible"
        noun = "thing" if len(fatal) == 1 else "things"
        lines = [f"{path}: {len(fatal)} {noun} {reason.replace('make', 'makes') if len(fatal) == 1 else reason}"]
        lines += [f"  {diagnostic.severity}: {diagnostic}" for diagnostic in fatal]
        if not strict and diagnostics.warnings:
            lines.append(f"  and {count_of(len(diagnostics.warnings), 'warning')}:")
            lines += [f"  {diagnostic.severity}: {diagnostic}" for diagnostic in diagnostics.warnings]
        super().__init__("\n".join(lines))
