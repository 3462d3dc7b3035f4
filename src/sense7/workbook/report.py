"""What is in a workbook, for ``sense7 check`` and for the dataset page."""

from collections import Counter
from collections.abc import Iterable

import pandas as pd

from sense7.arguments import check_arguments
from sense7.study import Study
from sense7.taxonomy import RATING_NAMES
from sense7.terminal import count_of, plain
from sense7.workbook.findings import NOTICE, Finding
from sense7.workbook.options import Interval

__all__ = ["describe", "findings_table", "print_description", "warnings_by_kind"]

_UNMATCHED = {"unmatched-column", "unknown-column", "nameless-column", "duplicate-column"}
_LINES = 40
"""Entries of one block that are printed."""


def describe(study: Study) -> dict:
    """Counts, conditions, what was never asked, what could not be matched, all findings.

    Returns
    -------
    dict
        Plain values, ready for JSON.
    """
    conversations, messages, turns = study.conversations, study.messages, study.turns
    prompted = study.prompted_condition
    return {
        "name": study.name,
        "provenance": getattr(study.provenance, "label", "not known"),
        "sha256": getattr(study.provenance, "sha256", None),
        "counts": {
            "participants": int(conversations["participant"].nunique()),
            "conversations": len(conversations),
            "messages": len(messages),
            "assistant turns": len(turns),
            "turns put to rating": len(study.turns_put_to_rating),
            "turns with a rating": int(turns[list(RATING_NAMES)].notna().any(axis=1).sum()),
            "error rows": int((messages["role"] == "error").sum()),
        },
        "roles": {str(role): int(count) for role, count in messages["role"].value_counts().items()},
        "conditions": {
            name: int(count) for name, count in conversations["condition"].value_counts().sort_index().items()
        },
        "prompted_condition": {"name": prompted, "how": study.prompted_reason},
        "topics": {name: int(count) for name, count in conversations["topic"].value_counts().sort_index().items()},
        "ratings": {
            name: {
                state: int(count)
                for state, count in turns[f"{name}_state"].value_counts().sort_index().items()
                if count
            }
            for name in RATING_NAMES
        },
        "scales": {
            f"{row.sheet}.{row.column}": f"{Interval(row.lowest, row.highest)}, rescaled"
            for row in study.rescaled.itertuples()
        },
        "unreadable": {
            f"{row.sheet}.{row.column}": int(row.unreadable) for row in study.columns.itertuples() if row.unreadable
        },
        "participants_sheet": study.participants_sheet,
        "characteristics": []
        if study.participants is None
        else [name for name in study.participants.columns if name not in {"participant", "row"}],
        "sheets": list(study.sheets),
        "never_asked": [f"{row.sheet}.{row.column}" for row in study.never_asked.itertuples()],
        "not_recorded": [f"{row.sheet}.{row.column}" for row in study.not_recorded.itertuples()],
        "not_matched": [
            f"{finding.sheet}.{finding.column}" for finding in study.findings if finding.kind in _UNMATCHED
        ],
        "findings": [finding.to_dict() | {"text": str(finding)} for finding in study.findings],
    }


def findings_table(study: Study) -> pd.DataFrame:
    """Findings as a table: where, how many, value, what was done, mend."""
    return pd.DataFrame(
        [
            (finding.place or "the file", finding.count, finding.value, finding.problem, finding.mend)
            for finding in study.findings
        ],
        columns=["where", "count", "value", "finding", "mend"],
    ).loc[:, lambda table: [name for name in table if name != "value" or table[name].any()]]


def warnings_by_kind(warnings: Iterable[Finding]) -> dict[str, dict[str, int]]:
    """Kind of warning -> number of ``warnings`` and of ``places`` in the workbook that they name, most places first.

    Examples
    --------
    >>> warnings_by_kind([Finding("warning", "unknown-word", "Messages", "Affective", 7, (12, 40), "x", "p", "m")])
    {'unknown-word': {'warnings': 1, 'places': 2}}
    """
    counts, places = Counter(), Counter()
    for finding in warnings:
        counts[finding.kind] += 1
        places[finding.kind] += finding.count
    return {kind: {"warnings": counts[kind], "places": number} for kind, number in places.most_common()}


def print_description(description: dict) -> None:
    """Print what :func:`describe` returned, for people."""
    from rich.console import Console

    console = Console(highlight=False, soft_wrap=True)

    def show(line: str = "") -> None:
        console.print(plain(line), markup=False)

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
    notices = [finding for finding in description["findings"] if finding["severity"] == NOTICE]
    problems = [finding for finding in description["findings"] if finding["severity"] != NOTICE]
    total = sum(finding["count"] for finding in problems)
    show()
    show(f"{count_of(len(problems), 'warning')}, {count_of(total, 'place')}" if problems else "No warnings.")
    for finding in [*problems, *notices]:
        show(f"  {finding['severity']}: {finding['text']}")


check_arguments(globals())
