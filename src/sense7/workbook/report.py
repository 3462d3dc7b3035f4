"""What is in a workbook, for ``sense7 check`` and for the dataset page."""

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

import numpy as np

from sense7.arguments import check_arguments
from sense7.study import NOT_RATED, RATED, STATES, Study
from sense7.taxonomy import RATING_NAMES
from sense7.terminal import count_of, plain
from sense7.workbook.diagnostics import NOTICE, Diagnostic
from sense7.workbook.options import Interval
from sense7.workbook.parsed import Columns, ParsedWorkbook

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["describe", "describe_parsed", "diagnostics_table", "print_description", "warnings_by_kind"]

_UNMATCHED = {"unmatched-column", "unknown-column", "nameless-column", "duplicate-column"}
_LINES = 40
"""Entries of one block that are printed."""


def describe(study: Study) -> dict:
    """Counts, conditions, what was never asked, what could not be matched, all diagnostics.

    Returns
    -------
    dict
        Plain values, ready for JSON.
    """
    return _description(study)


def describe_parsed(workbook: ParsedWorkbook) -> dict:
    """The same as :func:`describe` of its study, without data frames."""
    return _description(workbook)


def _description(study: Study | ParsedWorkbook) -> dict:
    conversations = study.conversations
    states = {name: _codes(study.turns[f"{name}_state"]) for name in RATING_NAMES}
    columns = _description_of_columns(study.columns)
    return {
        "name": study.name,
        "provenance": getattr(study.provenance, "label", "not known"),
        "sha256": getattr(study.provenance, "sha256", None),
        "counts": _numbers(study, states),
        "roles": dict(_counts(study.messages["role"]).most_common()),
        "conditions": dict(sorted(_counts(conversations["condition"]).items())),
        "prompted_condition": {"name": study.prompted_condition, "how": study.prompted_reason},
        "topics": dict(sorted(_counts(conversations["topic"]).items())),
        "ratings": {
            name: {
                state: int(count)
                for state, count in zip(STATES, np.bincount(codes, minlength=len(STATES)), strict=True)
                if count
            }
            for name, codes in states.items()
        },
        "scales": columns["scales"],
        "unreadable": columns["unreadable"],
        "participants_sheet": study.participants_sheet,
        "characteristics": []
        if study.participants is None
        else [name for name in study.participants if name not in {"participant", "row"}],
        "sheets": list(study.sheets),
        "never_asked": columns["never_asked"],
        "not_recorded": columns["not_recorded"],
        "not_matched": [
            f"{diagnostic.sheet}.{diagnostic.column}"
            for diagnostic in study.diagnostics
            if diagnostic.kind in _UNMATCHED
        ],
        "diagnostics": [diagnostic.to_dict() | {"text": str(diagnostic)} for diagnostic in study.diagnostics],
    }


def _numbers(study: Study | ParsedWorkbook, states: Mapping[str, np.ndarray]) -> dict[str, int]:
    """How many there are of what a study consists of."""
    turns = study.turns
    answered = np.isin(list(states.values()), [STATES.index(RATED), STATES.index(NOT_RATED)])
    rated = np.isfinite([turns[name] for name in RATING_NAMES])
    return {
        "participants": len(_counts(study.conversations["participant"])),
        "conversations": len(study.conversations["row"]),
        "messages": len(study.messages["row"]),
        "assistant turns": len(turns["row"]),
        "turns put to rating": int(answered.any(axis=0).sum()),
        "turns with a rating": int(rated.any(axis=0).sum()),
        "error rows": _counts(study.messages["role"])["error"],
    }


def _description_of_columns(columns: "Columns | pd.DataFrame") -> dict:
    """Columns that were rescaled, hold what can't be read, were never asked or never recorded."""
    names = [f"{sheet}.{column}" for sheet, column in zip(columns["sheet"], columns["column"], strict=True)]
    empty = [
        (name, question)
        for name, filled, question in zip(names, columns["filled"], columns["question"], strict=True)
        if not filled
    ]
    scales = zip(names, columns["lowest"], columns["highest"], strict=True)
    return {
        "scales": {
            name: f"{Interval(lowest, highest)}, rescaled" for name, lowest, highest in scales if not np.isnan(lowest)
        },
        "unreadable": {name: int(count) for name, count in zip(names, columns["unreadable"], strict=True) if count},
        "never_asked": [name for name, question in empty if question],
        "not_recorded": [name for name, question in empty if not question],
    }


def _counts(column: Iterable) -> Counter:
    """How often each text stands in a column; blanks are left out."""
    return Counter(text for text in column if isinstance(text, str))


def _codes(states: "np.ndarray | pd.Series") -> np.ndarray:
    """Places in ``STATES``, from a column of a frame or of what was parsed."""
    return states.cat.codes.to_numpy() if hasattr(states, "cat") else states


def diagnostics_table(study: Study) -> "pd.DataFrame":
    """Diagnostics as a table: where, how many, value, what was done, how to fix it."""
    import pandas as pd

    return pd.DataFrame(
        [
            (diagnostic.place or "the file", diagnostic.count, diagnostic.value, diagnostic.problem, diagnostic.fix)
            for diagnostic in study.diagnostics
        ],
        columns=["where", "count", "value", "diagnostic", "fix"],
    ).loc[:, lambda table: [name for name in table if name != "value" or table[name].any()]]


def warnings_by_kind(warnings: Iterable[Diagnostic]) -> dict[str, dict[str, int]]:
    """Kind of warning -> number of ``warnings`` and of ``places`` in the workbook that they name, most places first.

    Examples
    --------
    >>> warnings_by_kind([Diagnostic("warning", "unknown-word", "Messages", "Affective", 7, (12, 40), "x", "p", "m")])
    {'unknown-word': {'warnings': 1, 'places': 2}}
    """
    counts, places = Counter(), Counter()
    for diagnostic in warnings:
        counts[diagnostic.kind] += 1
        places[diagnostic.kind] += diagnostic.count
    return {kind: {"warnings": counts[kind], "places": number} for kind, number in places.most_common()}


def print_description(description: dict) -> None:
    """Print what :func:`describe` returned, for people."""

    def show(line: str = "") -> None:
        print(plain(line))

    def block(title: str, entries: dict) -> None:
        show()
        show(title)
        width = min(max(map(len, entries), default=0), 60)
        for name, value in list(entries.items())[:_LINES]:
            show(f"  {name:<{width}}  {value:,}" if isinstance(value, int) else f"  {name:<{width}}  {value}")
        if len(entries) > _LINES:
            show(f"  and {len(entries) - _LINES:,} more; --json lists all")

    show(f"{description['name']}: {description['provenance']}")
    block("Counts", description["counts"])
    block("Conditions (conversations)", description["conditions"] or {"none": "no condition is given"})
    prompted = description["prompted_condition"]
    show(f"  with the empathy prompt: {prompted['name'] or 'not known'} ({prompted['how']}; give it with --prompted)")
    block("Topics (conversations)", description["topics"] or {"none": "no topic is given"})
    block(
        "Ratings of turns",
        {
            name: ", ".join(f"{count:,} {state}" for state, count in states.items())
            for name, states in description["ratings"].items()
        },
    )
    if description.get("scales"):
        block("Scales other than the official ones", description["scales"])
    if description.get("unreadable"):
        block("Unreadable answers (in no denominator)", description["unreadable"])
    sheet = description["participants_sheet"]
    show()
    show(f"Participants: {f'sheet {sheet}' if sheet else 'no further sheet has a PID column'}")
    if description["characteristics"]:
        show(f"  {', '.join(description['characteristics'])}")
    show()
    show(f"Never asked: {', '.join(description['never_asked']) or 'nothing; every question has answers'}")
    show(f"Not recorded: {', '.join(description['not_recorded']) or 'nothing; every further column holds values'}")
    show(f"Not matched: {', '.join(description['not_matched']) or 'nothing; every column is known'}")
    notices = [diagnostic for diagnostic in description["diagnostics"] if diagnostic["severity"] == NOTICE]
    problems = [diagnostic for diagnostic in description["diagnostics"] if diagnostic["severity"] != NOTICE]
    total = sum(diagnostic["count"] for diagnostic in problems)
    show()
    show(f"{count_of(len(problems), 'warning')}, {count_of(total, 'place')}" if problems else "No warnings.")
    for diagnostic in [*problems, *notices]:
        show(f"  {diagnostic['severity']}: {diagnostic['text']}")


check_arguments(globals())
