"""What a reader found wrong or strange: located, counted, with how to fix it."""

import functools
import importlib.resources
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from itertools import chain

from sense7.errors import UserError
from sense7.terminal import count_of, plain
from sense7.workbook.ids import as_text, cell_name

ERROR, WARNING, NOTICE = SEVERITIES = ("error", "warning", "notice")
ROWS_SHOWN, VALUE_SHOWN = 5, 60
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
        parts = [f"sheet {self.sheet}"] if self.sheet else []
        parts += [f"column {self.column}"] if self.column else []
        if self.rows:
            shown, noun = self.rows[:ROWS_SHOWN], "row" if self.position is None else "cell"
            names = [
                str(row) if self.position is None else cell_name(self.position, row)
                for row in shown
            ]
            more = (
                f" and {len(self.rows) - len(shown):,} more" if len(self.rows) > len(shown) else ""
            )
            parts.append(f"{noun}{'s' if len(self.rows) > 1 else ''} {', '.join(names)}{more}")
        return ", ".join(parts)

    def __str__(self) -> str:
        where = f"{self.place}: " if self.place else ""
        value = f"{_shorten(self.value)!r}: " if self.value else ""
        return plain(f"{where}{value}{self.problem} Fix: {self.fix}")

    def to_dict(self) -> dict:
        """As plain values for JSON, the count included."""
        return asdict(self) | {"rows": list(self.rows), "count": self.count}


def _shorten(text: str, length: int = VALUE_SHOWN) -> str:
    return text if len(text) <= length else f"{text[:length]}…"


@functools.cache
def _entries() -> dict[str, dict[str, str]]:
    """Entry -> severity, problem and fix, from diagnostics.toml."""
    import tomllib

    return tomllib.loads(
        (importlib.resources.files(__package__) / "diagnostics.toml").read_text("utf-8")
    )


def refusal(where: object, entry: str, **words: object) -> UserError:
    """The error of a file, option or place that can't be used, in the words of diagnostics.toml."""
    said = _entries().get(entry.partition("/")[0], {}) | _entries()[entry]
    return UserError(
        f"{where}: {said['problem'].format_map(words)} {said['fix'].format_map(words)}".strip()
    )


@dataclass
class Diagnostics:
    """Diagnostics of one file, collected while it is read; equal ones are one, with all their rows."""

    _places: dict[Diagnostic, dict[str, list[int]]] = field(default_factory=dict)

    def add(
        self,
        entry: str,
        place: Mapping,
        rows: Sequence[int] | None = None,
        value: object = "",
        **words: object,
    ) -> None:
        """Add what stands under ``entry`` in diagnostics.toml, or further rows of one that is there already.

        Nothing if ``rows`` is empty: there is no such row.
        """
        if rows is not None and not len(rows):
            return
        kind = entry.partition("/")[0]
        said = _entries().get(kind, {}) | _entries()[entry]
        severity, kind = said.get("severity", WARNING), said.get("kind", kind).format_map(words)
        problem, fix = (
            said["problem"].format_map(words),
            words.get("fix") or said["fix"].format_map(words),
        )
        values = self._places.setdefault(Diagnostic(severity, kind, problem, fix, **place), {})
        values.setdefault(as_text(value), []).extend(() if rows is None else map(int, rows))

    def __iter__(self) -> Iterator[Diagnostic]:
        """Errors, then warnings, then notices; otherwise in the order in which they were found."""
        found = []
        for common, values in self._places.items():
            told = values
            if len(values) > MOST_VALUES:
                shown = ", ".join(_shorten(value, 20) for value in list(values)[:3])
                told = {
                    f"{shown} and {len(values) - 3:,} others": sorted(
                        chain.from_iterable(values.values())
                    )
                }
            found += [
                replace(common, value=value, rows=tuple(rows)) for value, rows in told.items()
            ]
        yield from sorted(found, key=lambda diagnostic: SEVERITIES.index(diagnostic.severity))

    def of(self, *severities: str) -> list[Diagnostic]:
        """Diagnostics of some severities."""
        return [diagnostic for diagnostic in self if diagnostic.severity in severities]


class WorkbookError(UserError):
    """A workbook that can't be analysed: the message has every diagnostic of the file, ``diagnostics`` too."""

    def __init__(self, path: object, diagnostics: Diagnostics, strict: bool = False):
        self.diagnostics = diagnostics
        fatal = diagnostics.of(*((ERROR, WARNING) if strict else (ERROR,)))
        warnings = [one for one in diagnostics.of(WARNING) if one not in fatal]
        reason = f"that {'makes' if len(fatal) == 1 else 'make'} the analysis impossible"
        lines = [
            f"{path}: {count_of(len(fatal), 'thing')} {reason if diagnostics.of(ERROR) else 'found by --strict'}"
        ]
        lines += [f"  {one.severity}: {one}" for one in fatal]
        lines += [f"  and {count_of(len(warnings), 'warning')}:"] * bool(warnings)
        super().__init__("\n".join([*lines, *(f"  {one.severity}: {one}" for one in warnings)]))


def warnings_by_kind(warnings: Iterable[Diagnostic]) -> dict[str, dict[str, int]]:
    """Kind of warning -> number of ``warnings`` and of ``places`` in the workbook that they name, most places first."""
    places, counts = Counter(), Counter()
    for one in warnings:
        places[one.kind], counts[one.kind] = places[one.kind] + one.count, counts[one.kind] + 1
    return {
        kind: {"warnings": counts[kind], "places": number} for kind, number in places.most_common()
    }
