"""What a reader found wrong or strange: located, counted, with how to fix it; and what a workbook holds, in words."""

import functools
import importlib.resources
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from itertools import chain

from sense7.errors import UserError
from sense7.study import NOT_RATED, RATED, STATES
from sense7.taxonomy import RATING_NAMES
from sense7.terminal import count_of, plain
from sense7.workbook.ids import as_text, cell_name

ERROR, WARNING, NOTICE = SEVERITIES = ("error", "warning", "notice")
ROWS_SHOWN, VALUE_SHOWN, LINES_SHOWN = 5, 60, 40
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
            names = [str(row) if self.position is None else cell_name(self.position, row) for row in shown]
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


def _shorten(text: str, length: int = VALUE_SHOWN) -> str:
    return text if len(text) <= length else f"{text[:length]}…"


@functools.cache
def _entries() -> dict[str, dict[str, str]]:
    """Entry -> severity, problem and fix, from diagnostics.toml."""
    import tomllib

    return tomllib.loads((importlib.resources.files(__package__) / "diagnostics.toml").read_text("utf-8"))


def refusal(where: object, entry: str, **words: object) -> UserError:
    """The error of a file, option or place that can't be used, in the words of diagnostics.toml."""
    said = _entries().get(entry.partition("/")[0], {}) | _entries()[entry]
    return UserError(f"{where}: {said['problem'].format_map(words)} {said['fix'].format_map(words)}".strip())


@dataclass
class Diagnostics:
    """Diagnostics of one file, collected while it is read; equal ones are one, with all their rows."""

    _places: dict[Diagnostic, dict[str, list[int]]] = field(default_factory=dict)

    def add(
        self, entry: str, place: Mapping, rows: Sequence[int] | None = None, value: object = "", **words: object
    ) -> None:
        """Add what stands under ``entry`` in diagnostics.toml, or further rows of one that is there already.

        Nothing if ``rows`` is empty: there is no such row.
        """
        if rows is not None and not len(rows):
            return
        kind = entry.partition("/")[0]
        said = _entries().get(kind, {}) | _entries()[entry]
        severity, kind = said.get("severity", WARNING), said.get("kind", kind).format_map(words)
        problem, fix = said["problem"].format_map(words), words.get("fix") or said["fix"].format_map(words)
        values = self._places.setdefault(Diagnostic(severity, kind, problem, fix, **place), {})
        values.setdefault(as_text(value), []).extend(() if rows is None else map(int, rows))

    def __iter__(self) -> Iterator[Diagnostic]:
        """Errors, then warnings, then notices; otherwise in the order in which they were found."""
        found = []
        for common, values in self._places.items():
            told = values
            if len(values) > MOST_VALUES:
                shown = ", ".join(_shorten(value, 20) for value in list(values)[:3])
                told = {f"{shown} and {len(values) - 3:,} others": sorted(chain.from_iterable(values.values()))}
            found += [replace(common, value=value, rows=tuple(rows)) for value, rows in told.items()]
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
        lines = [f"{path}: {count_of(len(fatal), 'thing')} {reason if diagnostics.of(ERROR) else 'found by --strict'}"]
        lines += [f"  {one.severity}: {one}" for one in fatal]
        lines += [f"  and {count_of(len(warnings), 'warning')}:"] * bool(warnings)
        super().__init__("\n".join([*lines, *(f"  {one.severity}: {one}" for one in warnings)]))


def describe(study) -> dict:  # a study, or what was parsed and not validated yet
    """Counts, conditions, what was never asked or not matched, all diagnostics: plain values, ready for JSON."""
    import numpy as np  # what a build looks at first needs none

    tasks, turns, columns = study.conversations, study.turns, study.columns

    def counts(texts: Iterable) -> Counter:
        return Counter(text for text in texts if isinstance(text, str))

    states = {name: turns[f"{name}_state"] for name in RATING_NAMES}
    states = {name: one.cat.codes.to_numpy() if hasattr(one, "cat") else one for name, one in states.items()}
    answered = np.isin(list(states.values()), [STATES.index(RATED), STATES.index(NOT_RATED)])
    rated, roles = np.isfinite([turns[name] for name in RATING_NAMES]), counts(study.messages["role"])
    names = [f"{sheet}.{column}" for sheet, column in zip(columns["sheet"], columns["column"], strict=True)]
    empty = [one for one in zip(names, columns["filled"], columns["question"], strict=True) if not one[1]]
    ends = zip(names, columns["lowest"], columns["highest"], strict=True)
    people = study.participants if study.participants is not None else ()
    return {
        "name": study.name,
        "provenance": getattr(study.provenance, "label", "not known"),
        "sha256": getattr(study.provenance, "sha256", None),
        "counts": {
            "participants": len(counts(tasks["participant"])),
            "conversations": len(tasks["row"]),
            "messages": len(study.messages["row"]),
            "assistant turns": len(turns["row"]),
            "turns put to rating": int(answered.any(axis=0).sum()),
            "turns with a rating": int(rated.any(axis=0).sum()),
            "error rows": roles["error"],
        },
        "roles": dict(roles.most_common()),
        "conditions": dict(sorted(counts(tasks["condition"]).items())),
        "prompted_condition": {
            "name": study.prompted_condition or "not known; give it with --prompted",
            "how": study.prompted_reason,
        },
        "topics": dict(sorted(counts(tasks["topic"]).items())),
        "ratings": {
            name: {state: n for code, state in enumerate(STATES) if (n := int(np.count_nonzero(codes == code)))}
            for name, codes in states.items()
        },
        "scales": {name: f"{low:.15g} to {high:.15g}, rescaled" for name, low, high in ends if not np.isnan(low)},
        "participants_sheet": study.participants_sheet,
        "characteristics": [name for name in people if name not in {"participant", "row"}],
        "sheets": list(study.sheets),
        "never_asked": [name for name, _, question in empty if question],
        "not_recorded": [name for name, _, question in empty if not question],
        "diagnostics": [diagnostic.to_dict() | {"text": str(diagnostic)} for diagnostic in study.diagnostics],
    }


def warnings_by_kind(warnings: Iterable[Diagnostic]) -> dict[str, dict[str, int]]:
    """Kind of warning -> number of ``warnings`` and of ``places`` in the workbook that they name, most places first."""
    places, counts = Counter(), Counter()
    for one in warnings:
        places[one.kind], counts[one.kind] = places[one.kind] + one.count, counts[one.kind] + 1
    return {kind: {"warnings": counts[kind], "places": number} for kind, number in places.most_common()}


def print_description(description: dict) -> None:
    """Print what :func:`describe` returned, for people: a block for each mapping, a line for each list."""
    lines = [f"{description['name']}: {description['provenance']}"]
    for key, told in description.items():
        title = key.replace("_", " ").capitalize()
        if isinstance(told, Mapping) and told:
            width, shown = min(max(map(len, told)), 60), list(told.items())[:LINES_SHOWN]
            lines += ["", title]
            for name, value in shown:
                counts = ", ".join(f"{n:,} {state}" for state, n in value.items()) if isinstance(value, dict) else value
                lines.append(f"  {name:<{width}}  {f'{value:,}' if isinstance(value, int) else counts}")
            if len(told) > LINES_SHOWN:
                lines.append(f"  and {len(told) - LINES_SHOWN:,} more; --json lists all")
        elif isinstance(told, list) and key != "diagnostics":
            lines.append(f"{title}: {', '.join(told) or 'nothing'}")
        elif key == "participants_sheet":
            lines += ["", f"{title}: {told or 'none; no further sheet has a PID column'}"]
    found = sorted(description["diagnostics"], key=lambda one: one["severity"] == NOTICE)
    problems = [one for one in found if one["severity"] != NOTICE]
    places = count_of(sum(one["count"] for one in problems), "place")
    lines += ["", f"{count_of(len(problems), 'warning')}, {places}" if problems else "No warnings."]
    for line in [*lines, *(f"  {one['severity']}: {one['text']}" for one in found)]:
        print(plain(line))
