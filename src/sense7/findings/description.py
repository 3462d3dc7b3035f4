"""What a workbook holds, in counts and words, without data frames: importing pandas takes longer than that."""

from collections import Counter
from collections.abc import Iterable, Mapping

import numpy as np

from sense7.study import NOT_RATED, RATED, STATES, Study
from sense7.taxonomy import RATING_NAMES
from sense7.terminal import count_of, plain
from sense7.workbook.diagnostics import NOTICE

LINES_SHOWN = 40
"""Lines of a block that are printed."""


def describe(study: Study) -> dict:
    """Counts, conditions, what was never asked or not matched, all diagnostics: plain values, ready for JSON.

    Of a study, or of a workbook that was parsed (:class:`sense7.workbook.ParsedWorkbook`). A turn counts as put to
    rating if it has a level or a word that declines for any dimension. What is blank is counted nowhere.

    Examples
    --------
    >>> from sense7.loading import parse
    >>> describe(parse("synthetic"))["counts"]["conversations"]
    672
    """
    tasks, turns, columns = study.conversations, study.turns, study.columns

    def counts(texts: Iterable) -> Counter:
        return Counter(text for text in texts if isinstance(text, str))

    states = {name: turns[f"{name}_state"] for name in RATING_NAMES}
    states = {
        name: one.cat.codes.to_numpy() if hasattr(one, "cat") else one
        for name, one in states.items()
    }
    answered = np.isin(list(states.values()), [STATES.index(RATED), STATES.index(NOT_RATED)])
    rated, roles = (
        np.isfinite([turns[name] for name in RATING_NAMES]),
        counts(study.messages["role"]),
    )
    names = [
        f"{sheet}.{column}"
        for sheet, column in zip(columns["sheet"], columns["column"], strict=True)
    ]
    empty = [
        one for one in zip(names, columns["filled"], columns["question"], strict=True) if not one[1]
    ]
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
            name: {
                state: n
                for code, state in enumerate(STATES)
                if (n := int(np.count_nonzero(codes == code)))
            }
            for name, codes in states.items()
        },
        "scales": {
            name: f"{low:.15g} to {high:.15g}, rescaled"
            for name, low, high in ends
            if not np.isnan(low)
        },
        "participants_sheet": study.participants_sheet,
        "characteristics": [name for name in people if name not in {"participant", "row"}],
        "sheets": list(study.sheets),
        "never_asked": [name for name, _, question in empty if question],
        "not_recorded": [name for name, _, question in empty if not question],
        "diagnostics": [
            diagnostic.to_dict() | {"text": str(diagnostic)} for diagnostic in study.diagnostics
        ],
    }


def print_description(description: dict) -> None:
    """Print what :func:`describe` returned, for people: a block for each mapping, a line for each list."""
    lines = [f"{description['name']}: {description['provenance']}"]
    for key, told in description.items():
        title = key.replace("_", " ").capitalize()
        if isinstance(told, Mapping) and told:
            width, shown = min(max(map(len, told)), 60), list(told.items())[:LINES_SHOWN]
            lines += ["", title]
            for name, value in shown:
                counts = (
                    ", ".join(f"{n:,} {state}" for state, n in value.items())
                    if isinstance(value, dict)
                    else value
                )
                lines.append(
                    f"  {name:<{width}}  {f'{value:,}' if isinstance(value, int) else counts}"
                )
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
