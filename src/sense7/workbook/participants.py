"""The participants' sheet, which may have any name: one row per participant, known by its PID column."""

import math
from dataclasses import dataclass
from itertools import compress

import numpy as np

from sense7 import taxonomy
from sense7.taxonomy import normalise_name, normalise_word
from sense7.workbook.columns import (
    KEY_COLUMNS,
    Table,
    further_names,
    place_of,
    report_further_names,
    report_state,
    without_rows,
)
from sense7.workbook.diagnostics import NOTICE, WARNING, Diagnostics
from sense7.workbook.languages import declining_words
from sense7.workbook.options import ReadingOptions, is_scales_sheet, stands_for
from sense7.workbook.parsed import Columns
from sense7.workbook.sheets import Sheet
from sense7.workbook.spellings import report_normalised
from sense7.workbook.values import (
    DECLINING_WORDS,
    MISSING_WORDS,
    as_name,
    as_names,
    as_number,
    as_shown,
    codes_among,
    is_blank,
    looks_like_number,
    match_ids,
)

__all__ = ["read_participants"]

_KNOWN_SHEETS = frozenset({taxonomy.SYNTHETIC_SHEET, taxonomy.ORIGIN_SHEET})
"""Sheets of our own that hold no data of the study."""


@dataclass(frozen=True)
class _Candidate:
    """A sheet with a PID column, which may be the participants' sheet."""

    sheet: Sheet
    position: int
    identifiers: list[str]

    @property
    def unique(self) -> bool:
        """Whether no participant has several rows."""
        return len(self.identifiers) == len(set(self.identifiers))

    @property
    def rank(self) -> tuple[bool, bool, int]:
        """The larger, the more likely this is the participants' sheet."""
        headers = set(map(normalise_name, self.sheet.header))
        return "taskid" not in headers, self.unique, len(set(self.identifiers))


def read_participants(
    sheets: dict[str, Sheet],
    tables: dict[str, Table | None],
    conversations: Columns | None,
    diagnostics: Diagnostics,
    options: ReadingOptions,
    *,
    explained: bool,
) -> tuple[Columns | None, str | None]:
    """The sheet with one row per participant, found by its PID column: its columns and its name; None without one.

    ``explained`` says that the other sheets have further rows of names.
    """
    candidates = _candidates(sheets, tables, diagnostics)
    if not candidates:
        return None, None
    names = [normalise_name(candidate.sheet.name) for candidate in candidates]
    originals = [
        one for one, own in zip(candidates, names, strict=True) if not any(n in own and n != own for n in names)
    ]
    chosen = max(originals or candidates, key=lambda candidate: candidate.rank)
    position, further = chosen.position, _further_names(chosen, conversations, explained)
    sheet = without_rows(chosen.sheet, further) if further else chosen.sheet
    report_further_names(sheet, further, diagnostics)
    for candidate in candidates:
        if candidate is not chosen:
            diagnostics.add(
                WARNING,
                "further-participants-sheet",
                f"a further sheet with a PID column; participants are read from {sheet.name}.",
                "put the participants' columns into one sheet, if they are to be used.",
                sheet=candidate.sheet.name,
            )
    report_state(sheet, diagnostics)
    columns = _characteristics(sheet, position, diagnostics, options)
    if conversations is not None:
        cells, located = sheet.column(position), place_of(sheet, position)
        report_normalised(cells, as_names(cells), located, diagnostics, tables["Tasks"].cells("PID"))
        _respell_participants(columns, sheet, position, conversations, diagnostics)
    columns = _first_rows(columns, sheet, position, diagnostics)
    if conversations is not None:
        _report_participants(columns, sheet, position, tables["Tasks"], conversations, diagnostics)
    return columns, sheet.name


def _candidates(
    sheets: dict[str, Sheet], tables: dict[str, Table | None], diagnostics: Diagnostics
) -> list[_Candidate]:
    """Sheets with a PID column, apart from those that have another role; reports sheets of no known kind."""
    candidates = []
    used = {table.sheet.name: official for official, table in tables.items() if table}
    for sheet in sheets.values():
        if sheet.name in used or sheet.name in _KNOWN_SHEETS or is_scales_sheet(sheet):
            continue
        if tuple(sheet.header) == taxonomy.IMPORT_SHEETS.get(sheet.name):
            continue
        candidate = _candidate(sheet)
        copied = next((name for name, official in used.items() if _is_copy(sheet, sheets[name], official)), None)
        if copied:
            diagnostics.add(
                WARNING,
                "copied-sheet",
                f"a copy of the sheet {copied}; it is kept and not used.",
                "nothing, if that is as meant; otherwise remove one of the two.",
                sheet=sheet.name,
            )
        elif candidate is not None:
            candidates.append(candidate)
        else:
            diagnostics.add(
                WARNING,
                "unknown-sheet",
                "the official format does not describe this sheet; it is kept and not used.",
                "nothing, if that is as meant.",
                sheet=sheet.name,
            )
    return candidates


def _candidate(sheet: Sheet) -> _Candidate | None:
    headers = [normalise_name(header) for header in sheet.header]
    if "pid" not in headers:
        return None
    position = headers.index("pid")
    identifiers = [identifier for identifier in as_names(sheet.column(position)) if identifier is not None]
    candidate = _Candidate(sheet, position, identifiers)
    # Several rows per participant beside a TaskId: a sheet about conversations, e.g. an old copy of Tasks.
    return None if "taskid" in headers and not candidate.unique else candidate


def _is_copy(sheet: Sheet, original: Sheet, official: str) -> bool:
    """Whether a sheet has all columns of another, or its name and the columns without which it can't be read."""
    names, own = (set(map(normalise_name, one.header)) - {""} for one in (original, sheet))
    keys = set(map(normalise_name, KEY_COLUMNS[official]))
    called = normalise_name(official) in normalise_name(sheet.name)
    return bool(names) and keys <= own and (called or (names <= own and len(own) == len(names)))


def _further_names(candidate: _Candidate, conversations: Columns | None, explained: bool) -> list[int]:
    """Rows of the participants' sheet that name or explain its columns again."""
    sheet, known = candidate.sheet, set(conversations["participant"]) if conversations else set()

    def explains(row: list) -> bool:
        return as_name(row[candidate.position]) not in known and (
            explained
            or any(
                isinstance(row[place], str)
                and as_number(row[place]) is None
                and not _says_nothing(row[place])
                and _is_number_below(sheet, place)
                for place in range(len(sheet.header))
                if place != candidate.position
            )
        )

    return further_names(sheet, explains)


def _says_nothing(text: str) -> bool:
    word = normalise_word(text)
    return word in MISSING_WORDS or word in DECLINING_WORDS or word in declining_words()


def _is_number_below(sheet: Sheet, place: int) -> bool:
    """Whether a column holds numbers alone, but for texts in its first rows."""
    cells = [(row, as_number(cell)) for row, cell in enumerate(sheet.column(place)) if not is_blank(cell)]
    numbers = sum(number is not None for _, number in cells)
    return (
        numbers > 1
        and all(number is not None or row < numbers for row, number in cells[:4])
        and all(number is not None for _, number in cells[4:])
    )


def _first_rows(columns: Columns, sheet: Sheet, position: int, diagnostics: Diagnostics) -> Columns:
    """The first row of each participant."""
    first = dict(zip(reversed(columns["participant"]), reversed(columns["row"].tolist()), strict=True))
    further = ~np.isin(columns["row"], list(first.values()))
    if not further.any():
        return columns
    diagnostics.add(
        WARNING,
        "duplicate-participant",
        "PIDs that stand in several rows; the first row of each is used.",
        "keep one row per participant.",
        **place_of(sheet, position),
        rows=columns["row"][further].tolist(),
    )
    return _only(columns, ~further)


def _only(columns: Columns, kept: np.ndarray) -> Columns:
    """The rows of columns for which a mask holds."""
    return {
        name: list(compress(column, kept)) if isinstance(column, list) else column[kept]
        for name, column in columns.items()
    }


def _characteristics(sheet: Sheet, position: int, diagnostics: Diagnostics, options: ReadingOptions) -> Columns:
    data: Columns = {"participant": as_names(sheet.column(position))}
    for index, header in enumerate(sheet.header):
        cells = sheet.column(index)
        if index != position and (header.strip() or any(cell is not None for cell in cells)):
            name = header if header.strip() else f"column {index + 1}"
            while name in data or name == "row":
                name += "'"
            data[name] = _characteristic(sheet, index, diagnostics, options)
    data["row"] = np.arange(2, len(sheet.rows) + 2)
    named = np.array([name is not None for name in data["participant"]], dtype=bool)
    lost = [row for row in data["row"][~named].tolist() if not all(map(is_blank, sheet.rows[row - 2]))]
    if lost:
        diagnostics.add(
            WARNING,
            "missing-id",
            "a row without a PID; it is left out.",
            "give each participant a PID.",
            **place_of(sheet, position),
            rows=lost,
        )
    return _only(data, named)


def _characteristic(
    sheet: Sheet, position: int, diagnostics: Diagnostics, options: ReadingOptions
) -> list | np.ndarray:
    """Numbers if every answer is one, otherwise text; declared and known codes for a missing answer are blank."""
    declared = options.missing_of(sheet.header[position])
    cells = [None if declared is not None and stands_for(cell, declared) else cell for cell in sheet.column(position)]
    rows = {"numbers": [], "words": [], "like numbers": []}
    for index, cell in enumerate(cells):
        if not is_blank(cell):
            kind = "numbers" if as_number(cell) is not None else "like numbers" if looks_like_number(cell) else "words"
            rows[kind].append(index)
    odd = sorted(rows["words"] + rows["like numbers"])
    numeric = bool(rows["numbers"]) and all(
        isinstance(cells[index], str) and _says_nothing(cells[index]) for index in odd
    )
    if odd and (numeric or len(odd) < len(rows["numbers"])):
        for index in odd:
            diagnostics.add(
                WARNING,
                "mixed-column",
                "no number among numbers; counted as missing."
                if numeric
                else "no number among numbers; the whole column is read as text.",
                "write a number, or leave the cell blank.",
                **place_of(sheet, position),
                rows=[index + 2],
                value=cells[index],
            )
    elif rows["like numbers"]:
        diagnostics.add(
            NOTICE,
            "number-as-text",
            "looks like a number, but the column is read as text.",
            "nothing, if it is text; write numbers without units, currency and separators of thousands, and with a "
            "decimal point.",
            **place_of(sheet, position),
            rows=[index + 2 for index in rows["like numbers"]],
            value=cells[rows["like numbers"][0]],
        )
    if not numeric:
        return as_names(cells)
    numbers = [math.nan if (number := as_number(cell)) is None else as_shown(number) for cell in cells]
    codes = () if declared is not None else codes_among(set(numbers) - {math.nan}, name=sheet.header[position])
    for code in codes:
        diagnostics.add(
            WARNING,
            "missing-number",
            "probably stands for a missing answer; counted as missing.",
            f"if it does, declare it: --missing {sheet.header[position]}={code:g}; if it is a number like the others: "
            f"--missing {sheet.header[position]}=none.",
            **place_of(sheet, position),
            rows=[index + 2 for index, number in enumerate(numbers) if number == code],
            value=code,
        )
    return np.array([np.nan if number in codes else number for number in numbers], dtype=float)


def _respell_participants(
    columns: Columns, sheet: Sheet, position: int, conversations: Columns, diagnostics: Diagnostics
) -> None:
    """Give each participant the spelling of the sheet Tasks, where one alike is found."""
    participants = columns["participant"]
    matched = match_ids(participants, set(conversations["participant"]))
    for index, (own, name, row) in enumerate(zip(participants, matched, columns["row"].tolist(), strict=True)):
        if name is None or name == own:
            continue
        diagnostics.add(
            WARNING,
            "respelt-id",
            "PIDs spelt otherwise than in the sheet Tasks; they were matched without case, braces, leading zeros and "
            "look-alike characters.",
            "spell them alike.",
            **place_of(sheet, position),
            rows=[row],
            value=own,
        )
        participants[index] = name


def _report_participants(
    columns: Columns, sheet: Sheet, position: int, tasks: Table, conversations: Columns, diagnostics: Diagnostics
) -> None:
    active, described = set(conversations["participant"]), set(columns["participant"])
    idle = [name not in active for name in columns["participant"]]
    if any(idle):
        diagnostics.add(
            WARNING,
            "participant-without-conversation",
            "participants without a conversation in Tasks; their characteristics are not used.",
            "nothing, if that is as meant.",
            **place_of(sheet, position),
            rows=columns["row"][idle].tolist(),
        )
    unknown = [name not in described for name in conversations["participant"]]
    if any(unknown):
        diagnostics.add(
            WARNING,
            "participant-without-characteristics",
            f"participants of Tasks that are not in the sheet {sheet.name}; their characteristics are missing.",
            f"add them to {sheet.name}, spelt as in Tasks.",
            **tasks.place("PID"),
            rows=conversations["row"][unknown].tolist(),
        )
