"""The draft of a reading file: names, words and numbers of a workbook that nobody declared yet, to be filled in."""

import json
from collections import Counter
from pathlib import Path

from sense7.taxonomy import SCALES
from sense7.workbook.ids import as_name, as_names, as_number
from sense7.workbook.reading import LABELS, ROLES, reading_beside, reading_path, write_reading
from sense7.workbook.sheets import Passes, read_passes, sheets_of
from sense7.workbook.table import KEY_COLUMNS

MOST_VALUES = 40
"""Values of a scale that the draft lists, the most frequent first."""


def write_draft(path: Path) -> str:
    """Write the draft of a workbook's reading file beside it, and give its path; where one is there, what it lacks."""
    is_there = reading_path(path).exists()
    reading = reading_beside(path)
    passes = read_passes(sheets_of(path, reading), reading)
    if is_there:
        return draft_of(passes)
    return str(write_reading(path, draft_of(passes)))


def draft_of(passes: Passes) -> str:
    """A reading file with all that nobody declared; it is refused until its words in capitals are replaced."""
    lines = [
        "# How sense7 reads the workbook beside this file. Fill in what stands in capitals; remove what is not needed.",
        "# The page on the format describes every key.",
        "reading: 1",
    ]
    lines += _names(passes)
    if passes.conversations is not None and not passes.reading.prompted:
        conditions = sorted({name for name in passes.conversations["condition"] if name})
        lines.append(
            f"prompted: '' # the condition with the empathy prompt, of {_listed(conditions)}"
        )
    lines += _scales(passes)
    people = passes.tables.get("Participants")
    if people is not None and not passes.reading.characteristics:
        names = _listed(people.further)
        lines.append(f"# characteristics: number, group or leave out of each of {names}")
    return "\n".join(lines) + "\n"


def _names(passes: Passes) -> list[str]:
    """Lines for sheets, columns and roles that are not of the format."""
    lines = []
    if not passes.tables.keys() >= KEY_COLUMNS.keys():
        lines.append("sheets: # Tasks, Messages or Participants")
        for name, sheet in passes.sheets.items():
            lines.append(f"  {_quoted(name)}: SHEET # columns {_listed(sheet.header)}")
    missing, further = [], []
    for table in passes.tables.values():
        if not table.has_keys:
            missing += [c.official for c in table.columns if c.official not in table.positions]
            further += table.further
    if further:
        lines.append(f"columns: # missing are {', '.join(dict.fromkeys(missing))}")
        lines += [f"  {_quoted(name)}: COLUMN" for name in dict.fromkeys(further)]
    messages = passes.tables.get("Messages")
    if messages is not None:
        declared = messages.reading.roles
        roles = {as_name(cell) for cell in messages.cells("Role")} - {None, *ROLES, *declared}
        if roles:
            lines.append(f"roles: # {', '.join(ROLES)}")
            lines += [f"  {_quoted(role)}: ROLE" for role in sorted(roles)]
    return lines


def _scales(passes: Passes) -> list[str]:
    """Lines for each scale with answers that are not declared, with all values in its columns."""
    lines = []
    for scale in SCALES:
        columns = []
        for table in passes.tables.values():
            columns += [
                (table, column.official) for column in table.columns if column.scale is scale
            ]
        undeclared = [official for table, official in columns if official in table.undeclared]
        if not undeclared:
            continue
        values = Counter()
        for table, official in columns:
            values.update(as_names(table.cells(official)))
        del values[None]
        numbers = [as_number(text) for text in values if as_number(text) is not None]
        lines.append(f"  {scale.name}: # {', '.join(undeclared)}")
        if numbers:
            ends = f"numbers from {min(numbers):g} to {max(numbers):g}"
            lines.append(f"    scale: [LEAST, MOST] # {ends}; a missing-value code is no end")
        words = [(text, count) for text, count in values.most_common() if as_number(text) is None]
        if words:
            levels = f"a number on the scale; where there is none, from 1 to {scale.size}"
            lines.append(f"    categories: # the level of each: {levels}")
        for word, count in words[:MOST_VALUES]:
            lines.append(f"      - {{value: {_quoted(word)}, level: LEVEL}} # {count:,} times")
        labels = f"LABEL is one of {', '.join(LABELS)}"
        lines.append(f"    # missingValues: [{{value: VALUE, label: LABEL}}] # {labels}")
    if lines:
        lines.insert(0, "defaults:")
    return lines


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def _listed(names) -> str:
    return ", ".join(map(_quoted, list(names)[:MOST_VALUES])) or "none"
