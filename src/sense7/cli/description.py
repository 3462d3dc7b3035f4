"""What a workbook holds, in counts and words, without data frames: importing pandas takes longer than that."""

from collections import Counter
from collections.abc import Iterable, Mapping
from math import isfinite

from sense7.study import NOT_RATED, RATED, STATES
from sense7.taxonomy import RATING_NAMES
from sense7.terminal import count_of, plain
from sense7.workbook.diagnostics import NOTICE
from sense7.workbook.sheets import ParsedWorkbook

LINES_SHOWN = 40
"""Lines of a block that are printed."""

GROUPS_SHOWN = 12
"""Groups of a characteristic that are named, unless each is of one person alone."""


def describe(study: ParsedWorkbook) -> dict:
    """Counts, conditions, what was never asked or not matched, all diagnostics: plain values, ready for JSON.

    A turn counts as put to rating if it has a level or a word that
    declines for any dimension. What is blank is counted nowhere.

    Examples
    --------
    >>> from sense7.loading import parse
    >>> describe(parse("synthetic"))["counts"]["conversations"]
    672
    """
    conversations = study.conversations
    turns = study.turns
    roles = _count_texts(study.messages["role"])

    turns_by_state = {}
    for name in RATING_NAMES:
        counts = Counter(turns[f"{name}_state"])
        turns_by_state[name] = {STATES[code]: counts[code] for code in sorted(counts)}
    rated, not_rated = STATES.index(RATED), STATES.index(NOT_RATED)
    codes_of_turns = zip(*(turns[f"{name}_state"] for name in RATING_NAMES), strict=True)
    put_to_rating = 0
    for codes in codes_of_turns:
        put_to_rating += rated in codes or not_rated in codes

    never_asked = []
    not_recorded = []
    scales = {}
    for column in study.columns:
        name = f"{column['sheet']}.{column['column']}"
        if not column["filled"] and column["question"]:
            never_asked.append(name)
        elif not column["filled"]:
            not_recorded.append(name)
        if isfinite(column["lowest"]):
            scales[name] = f"{column['lowest']:.15g} to {column['highest']:.15g}, rescaled"

    diagnostics = [{**notice.to_dict(), "text": str(notice)} for notice in study.diagnostics]
    return {
        "name": study.name,
        "provenance": study.provenance.label,
        "sha256": study.provenance.sha256,
        "counts": {
            "participants": len(_count_texts(conversations["participant"])),
            "conversations": len(conversations["row"]),
            "messages": len(study.messages["row"]),
            "assistant turns": len(turns["row"]),
            "turns shown for rating": put_to_rating,
        },
        "roles": dict(roles.most_common()),
        "conditions": dict(sorted(_count_texts(conversations["condition"]).items())),
        "prompted_condition": {
            "name": study.prompted_condition or "not known; declare it as prompted: NAME",
            "how": study.prompted_reason,
        },
        "topics": dict(sorted(_count_texts(conversations["topic"]).items())),
        "ratings": turns_by_state,
        "scales": scales,
        "reading_file": "read by FILE.reading.yml" if study.reading else "none",
        "participants_sheet": study.participants_sheet or "none; no further sheet has a PID column",
        "characteristics": _characteristics(study.participants),
        "sheets": list(study.sheets),
        "never_asked": never_asked,
        "not_recorded": not_recorded,
        "diagnostics": diagnostics,
    }


def _characteristics(participants: Mapping | None) -> dict[str, str]:
    """What each column of the participants' sheet holds: the range of numbers, or groups, the largest first."""
    described = {}
    for name, column in (participants or {}).items():
        if name in {"participant", "row"}:
            continue
        counts = _count_texts(column)
        if not counts:
            numbers = [value for value in column if value is not None and isfinite(value)]
            if numbers:
                described[name] = f"number, {min(numbers):.15g} to {max(numbers):.15g}"
                continue
        groups = [f"{group} {count:,}" for group, count in counts.most_common(GROUPS_SHOWN)]
        described[name] = count_of(len(counts), "group")
        if counts and counts.most_common(1)[0][1] > 1:
            described[name] += f": {', '.join(groups)}"
        if len(counts) > GROUPS_SHOWN:
            described[name] += " ..."
    return described


def _count_texts(values: Iterable) -> Counter:
    """How often each text occurs, without what is missing."""
    return Counter(value for value in values if isinstance(value, str))


def print_description(description: dict) -> None:
    """Print what :func:`describe` returned, for people: a block for each mapping, a line for each list."""
    lines = [f"{description['name']}: {description['provenance']}"]
    for key, content in description.items():
        title = key.replace("_", " ").capitalize()
        if isinstance(content, Mapping) and content:
            lines += ["", title, *_block(content)]
        elif isinstance(content, list) and key != "diagnostics":
            names = ", ".join(content) or "nothing"
            lines.append(f"{title}: {names}")
        elif isinstance(content, str) and key not in {"name", "provenance", "sha256"}:
            lines.append(f"{title}: {content}")

    diagnostics = description["diagnostics"]
    counts = [item["count"] for item in diagnostics if item["severity"] != NOTICE]
    summary = "No warnings."
    if counts:
        summary = f"{count_of(len(counts), 'warning')}, {count_of(sum(counts), 'place')}"
    lines += ["", summary]
    for diagnostic in diagnostics:
        lines.append(f"  {diagnostic['severity']}: {diagnostic['text']}")
    for line in lines:
        print(plain(line))


def _block(content: Mapping) -> list[str]:
    """A line for each name with its number, text, or counts by state; no more than are shown."""
    width = max(map(len, content))
    lines = []
    for name, value in list(content.items())[:LINES_SHOWN]:
        text = value
        if isinstance(value, Mapping):
            text = ", ".join(f"{count:,} {state}" for state, count in value.items())
        elif isinstance(value, int):
            text = f"{value:,}"
        lines.append(f"  {name:<{width}}  {text}")
    if len(content) > LINES_SHOWN:
        lines.append(f"  and {len(content) - LINES_SHOWN:,} more; --json lists all")
    return lines
