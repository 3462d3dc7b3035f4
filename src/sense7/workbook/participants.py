"""The participants' sheet, which may have any name: one row a participant, known by its PID column."""

import numpy as np
import pandas as pd

from sense7 import taxonomy
from sense7.taxonomy import normalise_name, normalise_word
from sense7.workbook.columns import Table, place_of, report_state
from sense7.workbook.findings import WARNING, Findings
from sense7.workbook.options import is_scales_sheet
from sense7.workbook.sheets import Sheet
from sense7.workbook.spellings import report_normalised
from sense7.workbook.values import as_name, as_number, is_blank, match_ids

__all__ = ["read_participants"]

NO_ANSWER = frozenset(
    {"na", "n/a", "n.a.", "nan", "null", "none", "unknown", "missing", "-", "?"}
    | {"no answer", "not applicable", "prefer not to say", "prefer not to answer"}
)
"""Words that stand for a missing number in a participants' sheet."""


def read_participants(
    sheets: dict[str, Sheet],
    tables: dict[str, Table | None],
    conversations: pd.DataFrame | None,
    findings: Findings,
) -> tuple[pd.DataFrame | None, str | None]:
    """The sheet with one row a participant, found by its PID column."""
    candidates = []
    for sheet in sheets.values():
        if any(table and table.sheet is sheet for table in tables.values()):
            continue
        if sheet.name == taxonomy.SYNTHETIC_SHEET or is_scales_sheet(sheet):
            continue
        positions = [index for index, header in enumerate(sheet.header) if normalise_name(header) == "pid"]
        identifiers = [as_name(cell) for cell in sheet.column(positions[0])] if positions else []
        known = [identifier for identifier in identifiers if identifier is not None]
        unique = len(known) == len(set(known))
        # Several rows a participant beside a TaskId: a sheet about conversations, e.g. an old copy of Tasks.
        about_tasks = not unique and any(normalise_name(header) == "taskid" for header in sheet.header)
        if positions and not about_tasks:
            candidates.append((unique, len(set(known)), sheet, positions[0]))
        else:
            findings.add(
                WARNING,
                "unknown-sheet",
                "the official format does not describe this sheet; it is kept and not used.",
                "nothing, if that is as meant.",
                sheet=sheet.name,
            )
    if not candidates:
        return None, None
    unique, _, chosen, position = max(candidates, key=lambda candidate: candidate[:2])
    for _, _, sheet, _ in candidates:
        if sheet is not chosen:
            findings.add(
                WARNING,
                "further-participants-sheet",
                f"a further sheet with a PID column; participants are read from {chosen.name}.",
                "put the participants' columns into one sheet, if they are to be used.",
                sheet=sheet.name,
            )
    report_state(chosen, findings)
    frame = _participants_frame(chosen, position, findings)
    if conversations is not None:
        cells = chosen.column(position)
        names, place = [as_name(cell) for cell in cells], place_of(chosen, position)
        report_normalised(cells, names, place, findings, tables["Tasks"].cells("PID"))
        _respell_participants(frame, chosen, position, conversations, findings)
        unique = not frame["participant"].duplicated().any()
    if not unique:
        twice = frame[frame.duplicated("participant", keep="first")]
        findings.add(
            WARNING,
            "duplicate-participant",
            "PIDs that stand in several rows; the first row of each is used.",
            "keep one row a participant.",
            **place_of(chosen, position),
            rows=twice["row"].tolist(),
        )
        frame = frame.drop_duplicates("participant", keep="first").reset_index(drop=True)
    if conversations is not None:
        _report_participants(frame, chosen, position, tables["Tasks"], conversations, findings)
    return frame, chosen.name


def _participants_frame(sheet: Sheet, position: int, findings: Findings) -> pd.DataFrame:
    data: dict[str, pd.Series] = {
        "participant": pd.Series([as_name(cell) for cell in sheet.column(position)], dtype=object)
    }
    for index, header in enumerate(sheet.header):
        cells = sheet.column(index)
        if index != position and (header.strip() or any(cell is not None for cell in cells)):
            name = header if header.strip() else f"column {index + 1}"
            while name in data or name == "row":
                name += "'"
            data[name] = _characteristic(sheet, index, findings)
    frame = pd.DataFrame(data)
    frame["row"] = np.arange(2, len(frame) + 2)
    nameless = frame["participant"].isna()
    lost = [row for row in frame.loc[nameless, "row"] if not all(map(is_blank, sheet.rows[row - 2]))]
    if lost:
        findings.add(
            WARNING,
            "missing-id",
            "a row without a PID; it is left out.",
            "give each participant a PID.",
            **place_of(sheet, position),
            rows=lost,
        )
    return frame[~nameless].reset_index(drop=True)


def _characteristic(sheet: Sheet, position: int, findings: Findings) -> pd.Series:
    """Numbers if every answer is one, otherwise text."""
    cells = sheet.column(position)
    odd = [index for index, cell in enumerate(cells) if not is_blank(cell) and as_number(cell) is None]
    filled = sum(not is_blank(cell) for cell in cells)
    numeric = all(isinstance(cells[index], str) and normalise_word(cells[index]) in NO_ANSWER for index in odd)
    numeric = numeric and len(odd) < filled
    if odd and (numeric or 2 * len(odd) < filled):
        for index in odd:
            findings.add(
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
    if numeric:
        return pd.Series([np.nan if (number := as_number(cell)) is None else number for cell in cells], dtype=float)
    return pd.Series([as_name(cell) for cell in cells], dtype=object)


def _respell_participants(frame, sheet, position, conversations, findings) -> None:
    """Give each participant the spelling of the sheet Tasks, where one alike is found."""
    matched = pd.Series(match_ids(frame["participant"].tolist(), set(conversations["participant"])), dtype=object)
    respelt = matched.notna() & (matched != frame["participant"])
    for row, own in frame.loc[respelt, ["row", "participant"]].itertuples(index=False):
        findings.add(
            WARNING,
            "respelt-id",
            "PIDs spelt otherwise than in the sheet Tasks; they were matched without case, braces, leading zeros and "
            "look-alike characters.",
            "spell them alike.",
            **place_of(sheet, position),
            rows=[row],
            value=own,
        )
    frame["participant"] = matched.where(respelt, frame["participant"])


def _report_participants(frame, sheet, position, tasks, conversations, findings) -> None:
    idle = ~frame["participant"].isin(conversations["participant"])
    if idle.any():
        findings.add(
            WARNING,
            "participant-without-conversation",
            "participants without a conversation in Tasks; their characteristics are not used.",
            "nothing, if that is as meant.",
            **place_of(sheet, position),
            rows=frame.loc[idle, "row"].tolist(),
        )
    described = set(frame["participant"])
    unknown = conversations[~conversations["participant"].isin(described)]
    if len(unknown):
        findings.add(
            WARNING,
            "participant-without-characteristics",
            f"participants of Tasks that are not in the sheet {sheet.name}; their characteristics are missing.",
            f"add them to {sheet.name}, spelt as in Tasks.",
            **tasks.place("PID"),
            rows=unknown["row"].tolist(),
        )
