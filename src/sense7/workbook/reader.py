"""The official workbook, read to validated frames.

The real workbook could not be seen when this was written, so the reader lives with what
it did not foresee: an error is only what makes the analysis impossible (a missing sheet or
key column, duplicate TaskIds, no rating at all); all else is a counted warning that names
its cells and says what was done. Conventions: the facts of the official release, in
``book/format.md``.
"""

import datetime
import re
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from sense7 import taxonomy
from sense7.errors import UserError
from sense7.study import ABSENT, NOT_RATED, RATED, STATES, Study
from sense7.taxonomy import DIMENSIONS, RATING_NAMES, Column, Scale, normalise_name, normalise_word
from sense7.workbook.findings import ERROR, WARNING, Findings, WorkbookError
from sense7.workbook.sheets import Sheet, cell_name, read_sheets

__all__ = ["parse_sheets", "read_workbook"]

KEY_COLUMNS = {"Tasks": ("PID", "TaskId"), "Messages": ("TaskId", "Role")}
KNOWN_ROLES = ("user", "assistant", "error")
NO_ANSWER = frozenset(
    {"na", "n/a", "n.a.", "nan", "null", "none", "unknown", "missing", "-", "?"}
    | {"no answer", "not applicable", "prefer not to say", "prefer not to answer"}
)
"""Words that stand for a missing number in a participants' sheet."""

_STATE_CODES = {state: code for code, state in enumerate(STATES)}


def read_workbook(
    path: str | Path, *, strict: bool = False, prompted_condition: str | None = None, name: str | None = None
) -> Study:
    """Read a workbook of the official format.

    Parameters
    ----------
    path : path
        The .xlsx file.
    strict : bool
        Whether any warning is an error.
    prompted_condition : str, optional
        The condition with the empathy prompt; guessed from the names if not given.
    name : str, optional
        Name of the study; the file's stem if not given.

    Returns
    -------
    Study
        Validated frames, with all findings.

    Raises
    ------
    UserError
        If the file can't be opened or is no workbook, or ``prompted_condition`` is not in it.
    WorkbookError
        If the analysis is impossible, or ``strict`` and anything was found; lists every finding.
    """
    sheets = read_sheets(path)
    return parse_sheets(
        sheets, path=path, strict=strict, prompted_condition=prompted_condition, name=name or Path(path).stem
    )


def parse_sheets(
    sheets: dict[str, Sheet],
    *,
    path: str | Path = "workbook",
    strict: bool = False,
    prompted_condition: str | None = None,
    name: str = "workbook",
) -> Study:
    """Give meaning to sheets that are read already; see :func:`read_workbook`."""
    findings = Findings()
    located = {official: _locate_sheet(sheets, official, findings) for official in KEY_COLUMNS}
    tables = {official: _Table(official, sheet, findings) if sheet else None for official, sheet in located.items()}
    tasks, messages = tables["Tasks"], tables["Messages"]
    conversations = _conversations(tasks, findings) if tasks and tasks.has_keys else None
    message_frame = turns = None
    if messages and messages.has_keys:
        levels = _read_scales(messages, findings)
        if conversations is not None:
            message_frame, turns = _messages(messages, levels, tasks, conversations, findings)
    participants, participants_sheet = _participants(sheets, tables, conversations, findings)
    if conversations is None or message_frame is None or findings.errors or (strict and len(findings)):
        raise WorkbookError(path, findings, strict)
    prompted, reason = _prompted_condition(conversations, prompted_condition, path)
    return Study(
        name=name,
        conversations=conversations,
        messages=message_frame,
        turns=turns,
        participants=participants,
        participants_sheet=participants_sheet,
        columns=_column_report(tasks, messages, turns),
        sheets=sheets,
        findings=list(findings),
        prompted_condition=prompted,
        prompted_reason=reason,
    )


# --- sheets and columns ----------------------------------------------------------------


def _locate_sheet(sheets: dict[str, Sheet], official: str, findings: Findings) -> Sheet | None:
    if official in sheets:
        sheet = sheets[official]
    else:
        alike = [sheet for name, sheet in sheets.items() if normalise_name(name) == normalise_name(official)]
        if not alike:
            present = ", ".join(sheets) or "none"
            findings.add(
                ERROR,
                "missing-sheet",
                f"the sheet {official} is missing (sheets present: {present}).",
                f"name the sheet {official}.",
                sheet=official,
            )
            return None
        sheet = alike[0]
        findings.add(
            WARNING,
            "renamed-sheet",
            f"read as the sheet {official}.",
            f"name it {official}; the authors' scripts need the exact name.",
            sheet=sheet.name,
        )
    _report_state(sheet, findings)
    return sheet


def _report_state(sheet: Sheet, findings: Findings) -> None:
    if sheet.merged:
        findings.add(
            WARNING,
            "merged-cells",
            f"{sheet.merged} merged ranges: only the first cell of each holds its value, the others are blank.",
            "unmerge them and fill every cell.",
            sheet=sheet.name,
        )
    if not sheet.visible:
        findings.add(
            WARNING,
            "hidden-sheet",
            "the sheet is hidden; it was read all the same.",
            "show it.",
            sheet=sheet.name,
        )
    for position, row in sheet.errors:
        findings.add(
            WARNING,
            "error-cell",
            "a formula's error (such as #N/A or #DIV/0!); the cell was read as blank.",
            "mend the formula, or write the value.",
            sheet=sheet.name,
            column=_column_name(sheet, position),
            position=position,
            rows=[row],
        )


def _column_name(sheet: Sheet, position: int) -> str:
    header = sheet.header[position] if position < len(sheet.header) else ""
    return header if header.strip() else f"{cell_name(position, 1).rstrip('1')} (no name)"


class _Table:
    """A sheet of the official format with its columns found."""

    def __init__(self, official: str, sheet: Sheet, findings: Findings):
        self.official = official
        self.sheet = sheet
        self.columns = taxonomy.CORE_COLUMNS[official]
        self.positions = _match_columns(official, sheet, findings)
        self.filled: dict[str, int] = {}
        self.read: dict[str, int] = {}
        missing_keys = [key for key in KEY_COLUMNS[official] if key not in self.positions]
        for key in missing_keys:
            present = ", ".join(filter(None, sheet.header)) or "none"
            findings.add(
                ERROR,
                "missing-key-column",
                f"the key column {key} is missing in row 1 (columns present: {present}).",
                f"name the column {key}; names stand in row 1, with nothing above them.",
                sheet=sheet.name,
                column=key,
            )
        self.has_keys = not missing_keys

    @property
    def length(self) -> int:
        return len(self.sheet.rows)

    def cells(self, official: str) -> list:
        """Cells of a column; all None where the column is missing."""
        position = self.positions.get(official)
        return [None] * self.length if position is None else self.sheet.column(position)

    def place(self, official: str) -> dict:
        """Where a column stands, as arguments of ``Findings.add``."""
        position = self.positions.get(official)
        header = official if position is None else self.sheet.header[position]
        return {"sheet": self.sheet.name, "column": header, "position": position}

    def count(self, official: str, filled: int, read: int) -> None:
        self.filled[official], self.read[official] = int(filled), int(read)

    def column_report(self) -> pd.DataFrame:
        records = []
        for column in self.columns:
            position = self.positions.get(column.official)
            filled = self.filled.get(column.official)
            if filled is None:
                filled = sum(not _is_blank(cell) for cell in self.cells(column.official))
            records.append(
                {
                    "sheet": self.official,
                    "column": column.official,
                    "name": column.name,
                    "header": None if position is None else self.sheet.header[position],
                    "question": column.is_question,
                    "filled": filled,
                    "read": self.read.get(column.official, filled),
                }
            )
        return pd.DataFrame(records)


def _column_report(tasks: _Table, messages: _Table, turns: pd.DataFrame) -> pd.DataFrame:
    """What became of each column; a turn's rating counts where it belongs, in assistant turns."""
    report = pd.concat([tasks.column_report(), messages.column_report()], ignore_index=True)
    for name in RATING_NAMES:
        counted = [(turns[f"{name}_state"] != ABSENT).sum(), turns[name].notna().sum()]
        report.loc[report["name"] == name, ["filled", "read"]] = counted
    return report


def _is_blank(cell) -> bool:
    return cell is None or (isinstance(cell, str) and not cell.strip())


def _match_columns(official: str, sheet: Sheet, findings: Findings) -> dict[str, int]:
    """Official name -> position; exact names first, then alike ones, then post-task suffixes."""
    columns = taxonomy.CORE_COLUMNS[official]
    positions: dict[str, int] = {}
    claimed: dict[int, str] = {}

    def claim(official: str, position: int) -> None:
        positions[official] = position
        claimed[position] = official

    for column in columns:
        if column.official in sheet.header:
            claim(column.official, sheet.header.index(column.official))
    for match in (_alike, _by_dimension):
        for column in columns:
            if column.official in positions:
                continue
            candidates = [
                position
                for position, header in enumerate(sheet.header)
                if position not in claimed and header.strip() and match(column, header)
            ]
            if len(candidates) == 1 or (candidates and match is _alike):
                claim(column.official, candidates[0])
                findings.add(
                    WARNING,
                    "renamed-column",
                    f"read as {column.official}.",
                    f"check that it is {column.official}, and name it so if it is.",
                    sheet=sheet.name,
                    column=sheet.header[candidates[0]],
                )
    _report_missing(official, sheet, columns, positions, findings)
    _report_unmatched(sheet, columns, positions, claimed, findings)
    return positions


def _alike(column: Column, header: str) -> bool:
    return normalise_name(header) == normalise_name(column.official)


def _by_dimension(column: Column, header: str) -> bool:
    """Whether the header names the dimension of a rating column, as its suffix or in full."""
    name = normalise_name(header)
    if column.name.startswith("post_"):
        prefix = normalise_name("PostTaskEmpathy")
        if not name.startswith(prefix):
            return False
        named = [dimension.name for dimension in DIMENSIONS if normalise_name(dimension.name) in name[len(prefix) :]]
        return named == [column.name.removeprefix("post_")]
    return any(
        dimension.name == column.official and name == normalise_name(dimension.title) for dimension in DIMENSIONS
    )


def _report_missing(official, sheet, columns, positions, findings) -> None:
    for column in columns:
        if column.official not in positions and column.official not in KEY_COLUMNS[official]:
            findings.add(
                WARNING,
                "missing-column",
                "the column is missing; what needs it can't be computed.",
                "add it if the data exist; otherwise nothing is to be done.",
                sheet=sheet.name,
                column=column.official,
            )


def _report_unmatched(sheet, columns, positions, claimed, findings) -> None:
    prefix = normalise_name("PostTaskEmpathy")
    taken = {normalise_name(sheet.header[position]): official for position, official in claimed.items()}
    for position, header in enumerate(sheet.header):
        if position in claimed:
            continue
        if not header.strip():
            if all(row[position] is None for row in sheet.rows):
                continue
            kind = "nameless-column"
            problem = "the column holds values but has no name in row 1; it is kept and not used."
            mend = "name it."
        elif normalise_name(header) in taken:
            kind = "duplicate-column"
            problem = (
                f"a further column of the name {taken[normalise_name(header)]}; the one that bears the exact name is "
                "used, or else the first. This one is kept and not used."
            )
            mend = "rename or remove one of the two."
        elif header in sheet.header[:position]:
            kind = "duplicate-column"
            problem = "the name stands twice in row 1; neither column is used."
            mend = "rename or remove one of the two."
        elif normalise_name(header).startswith(prefix):
            kind = "unmatched-column"
            problem = (
                "it could not be matched to one of the seven dimensions, or not to one alone; it is kept and not used."
            )
            mend = f"name it PostTaskEmpathy_ and one of {', '.join(taxonomy.DIMENSION_NAMES)}."
        else:
            kind = "unknown-column"
            problem = "the official format does not describe this column; it is kept and not used."
            mend = "nothing, if that is as meant."
        findings.add(
            WARNING, kind, problem, mend, sheet=sheet.name, column=_column_name(sheet, position), position=position
        )


# --- cells -----------------------------------------------------------------------------


def _identifier(cell) -> str | None:
    """An id as text: 12.0 and "12 " are 12; None if blank."""
    if cell is None:
        return None
    if isinstance(cell, float) and cell.is_integer():
        return str(int(cell))
    return str(cell).strip() or None


def _loose_identifier(identifier: str) -> str:
    """What is left of an id without case, braces, and the forms of a number."""
    bare = identifier.strip("{}").casefold()
    if re.fullmatch(r"\d+(\.0*)?", bare):
        return bare.split(".")[0].lstrip("0") or "0"  # not by int(), which refuses very long numbers
    return bare


def _spellings(known: Iterable[str]) -> dict[str, set[str]]:
    """Loose form of an id -> the spellings that have it."""
    by_loose: dict[str, set[str]] = defaultdict(set)
    for identifier in known:
        by_loose[_loose_identifier(identifier)].add(identifier)
    return by_loose


def _match_ids(identifiers: list[str | None], known: set[str]) -> list[str | None]:
    """Each id as ``known`` spells it: the same, or the only one alike; None if there is none."""
    by_loose = _spellings(known)
    resolved: dict[str | None, str | None] = {None: None}
    for identifier in set(identifiers) - {None}:
        alike = {identifier} if identifier in known else by_loose.get(_loose_identifier(identifier), set())
        resolved[identifier] = next(iter(alike)) if len(alike) == 1 else None
    return [resolved[identifier] for identifier in identifiers]


def _text(cell) -> str | None:
    """A cell as text, unchanged if it is text; only a blank cell is None."""
    if cell is None or isinstance(cell, str):
        return cell
    if isinstance(cell, float) and cell.is_integer():
        return str(int(cell))
    return str(cell)


def _label(cell) -> str | None:
    text = _text(cell)
    return (text.strip() or None) if text is not None else None


def _number(cell) -> float | None:
    """A cell as a number; None if it holds none."""
    if isinstance(cell, bool):
        return None
    if isinstance(cell, int | float):
        return float(cell)
    if isinstance(cell, str):
        try:
            value = float(cell)
        except ValueError:
            return None
        return value if np.isfinite(value) and "_" not in cell else None  # to Python 1_000 is a number
    return None


def _numbers(table: _Table, official: str, lowest: float, findings: Findings, consequence: str) -> np.ndarray:
    """A column of plain numbers; what is none is NaN, with a warning."""
    cells = table.cells(official)
    values = np.full(len(cells), np.nan)
    filled = 0
    for index, cell in enumerate(cells):
        if _is_blank(cell):
            continue
        filled += 1
        number = _number(cell)
        if number is None:
            problem = f"not a number; {consequence}"
            kind = "not-a-number"
        elif number < lowest:
            problem = f"below {lowest:g}; {consequence}"
            kind = "out-of-range"
        else:
            values[index] = number
            continue
        findings.add(
            WARNING,
            kind,
            problem,
            f"write a number from {lowest:g} up, or leave the cell blank.",
            **table.place(official),
            rows=[index + 2],
            value=cell,
        )
    table.count(official, filled, np.isfinite(values).sum())
    return values


@dataclass(frozen=True)
class _Levels:
    """A column of a scale as numbers: levels (NaN if none) and states."""

    numbers: np.ndarray
    states: np.ndarray


def _read_scales(table: _Table, findings: Findings) -> dict[str, _Levels]:
    """Every column of the table that holds a scale: frame name -> levels."""
    by_scale: dict[int, list[Column]] = defaultdict(list)
    for column in table.columns:
        if column.scale is not None:
            by_scale[id(column.scale)].append(column)
    levels = {}
    for columns in by_scale.values():
        scale = columns[0].scale
        distinct = {column.official: _distinct(table.cells(column.official)) for column in columns}
        answers = {official: _answers(scale, cells) for official, cells in distinct.items()}
        # One form, one language: a column follows the others unless they know less than half of its words.
        shared = scale.choose_vocabulary(sum(answers.values(), Counter()))
        for column in columns:
            own = answers[column.official]
            follows = 2 * sum(own[word] for word in own.keys() & shared.keys()) >= own.total()
            vocabulary = shared if follows else scale.choose_vocabulary(own)
            _report_vocabulary(table, column, vocabulary, own.keys() & vocabulary.keys(), findings)
            levels[column.name] = _read_column(table, column, distinct[column.official], vocabulary, findings)
    return levels


def _distinct(cells: list) -> dict[tuple, list[int]]:
    """Distinct cells with their places; the type belongs to the key, since True equals 1."""
    places: dict[tuple, list[int]] = defaultdict(list)
    for index, cell in enumerate(cells):
        if cell is not None:
            places[type(cell), cell].append(index)
    return places


def _answers(scale: Scale, distinct: dict[tuple, list[int]]) -> Counter:
    """Word -> number of cells; numbers and words for not rated are left out."""
    answers: Counter = Counter()
    for (_, cell), places in distinct.items():
        if isinstance(cell, str) and (word := scale.split_number(cell)[1]) and word not in scale.not_rated:
            answers[word] += len(places)
    return answers


def _report_vocabulary(table, column, vocabulary, words, findings) -> None:
    official = column.scale.tables[0]
    reading = ", ".join(f"{word} = {vocabulary[word]}" for word in sorted(words, key=lambda w: (vocabulary[w], w)))
    if any(official.get(word) != vocabulary[word] for word in words):
        findings.add(
            WARNING,
            "other-words",
            f"the words are not those of the official format; they were read as {reading}.",
            "check that reading; write numbers if it is wrong.",
            **table.place(column.official),
        )
    elif len({vocabulary[word] for word in words}) < len(words):
        findings.add(
            WARNING,
            "several-words",
            f"several words stand for one level; they were read as {reading}.",
            f"check that reading; a scale of more than {column.scale.size} levels can't be told apart here.",
            **table.place(column.official),
        )


def _read_column(table, column, distinct, vocabulary, findings) -> _Levels:
    values = np.full(table.length, np.nan)
    states = np.full(table.length, _STATE_CODES[ABSENT], dtype=np.int8)
    for (_, cell), places in distinct.items():
        level, kind, problem = _level(cell, column.scale, vocabulary)
        if level is not None:
            values[places], states[places] = level, _STATE_CODES[RATED]
        elif kind != "blank":
            states[places] = _STATE_CODES[NOT_RATED]
        if problem:
            findings.add(
                WARNING,
                kind,
                problem,
                f"write a number from 1 to {column.scale.size} or one of: "
                f"{', '.join(_anchors(column.scale))}; leave the cell blank if there is no answer.",
                **table.place(column.official),
                rows=[place + 2 for place in places],
                value=cell,
            )
    table.count(column.official, (states != _STATE_CODES[ABSENT]).sum(), np.isfinite(values).sum())
    return _Levels(values, states)


_TYPES = {
    bool: "truth value",
    datetime.date: "date",
    datetime.datetime: "date",
    datetime.time: "time",
    datetime.timedelta: "duration",
}


def _anchors(scale: Scale) -> list[str]:
    return [level[0] for level in scale.vocabularies[0]] + sorted(scale.not_rated)


def _level(cell, scale: Scale, vocabulary: dict[str, int]) -> tuple[int | None, str, str]:
    """Level of a cell, the kind of what is strange about it, and that in words."""
    if isinstance(cell, str):
        number, word = scale.split_number(cell)
        if number is None and not word:
            return None, "blank", ""
        if word in scale.not_rated:
            return None, "not-rated", ""
    elif isinstance(cell, bool) or not isinstance(cell, int | float):
        return (
            None,
            "unknown-word",
            f"a {_TYPES.get(type(cell), 'value')}, not an answer on this scale; counted as not rated.",
        )
    else:
        number, word = float(cell), ""
    known = vocabulary.get(word) or vocabulary.get(word.rstrip(".!"))
    if number is None:
        return (
            (known, "", "")
            if known
            else (None, "unknown-word", "not a known word of this scale; counted as not rated.")
        )
    if not number.is_integer() or not 1 <= number <= scale.size:
        return (
            None,
            "out-of-range",
            f"not one of the levels 1 to {scale.size}; counted as not rated.",
        )
    if word and known is None and re.search(r"\d", word):
        return None, "unknown-word", "not a known answer of this scale; counted as not rated."
    if known is not None and known != number:
        return (
            None,
            "contradiction",
            f"the number says {number:g}, the word {known}; counted as not rated.",
        )
    if word and known is None:
        return int(number), "unknown-word", "the word is not known; its number is used."
    return int(number), "", ""


# --- conversations ---------------------------------------------------------------------


def _conversations(tasks: _Table, findings: Findings) -> pd.DataFrame:
    identifiers = [_identifier(cell) for cell in tasks.cells("TaskId")]
    participants = [_identifier(cell) for cell in tasks.cells("PID")]
    rows = np.arange(2, tasks.length + 2)
    filled_rows = np.array([any(cell is not None for cell in row) for row in tasks.sheet.rows], dtype=bool)
    frame = pd.DataFrame({"conversation": identifiers, "participant": participants}, dtype=object)
    for name, official, convert in (("condition", "Model", _label), ("topic", "PreTaskChoice", _label)):
        frame[name] = pd.Series([convert(cell) for cell in tasks.cells(official)], dtype=object)
    for name, levels in _read_scales(tasks, findings).items():
        frame[name] = levels.numbers
    frame["row"] = rows
    nameless = np.array([identifier is None for identifier in identifiers], dtype=bool)
    if (nameless & filled_rows).any():
        findings.add(
            WARNING,
            "missing-id",
            "a conversation without a TaskId; it is left out.",
            "give each conversation its TaskId.",
            **tasks.place("TaskId"),
            rows=rows[nameless & filled_rows].tolist(),
        )
    frame = frame[~nameless].reset_index(drop=True)
    if frame.empty:
        findings.add(ERROR, "no-conversation", "the sheet holds no conversation.", "fill it.", sheet=tasks.sheet.name)
    for identifier, group in frame[frame.duplicated("conversation", keep=False)].groupby("conversation", sort=False):
        findings.add(
            ERROR,
            "duplicate-id",
            "the TaskId stands in several rows; its messages can't be told apart.",
            "give each conversation a TaskId of its own.",
            **tasks.place("TaskId"),
            rows=group["row"].tolist(),
            value=identifier,
        )
    without = frame["participant"].isna()
    if without.any():
        findings.add(
            WARNING,
            "missing-participant",
            "a conversation without a PID; it is counted as a participant of its own.",
            "give each conversation the PID of its participant.",
            **tasks.place("PID"),
            rows=frame.loc[without, "row"].tolist(),
        )
        # A made-up name that no PID can equal, since ids are trimmed.
        frame.loc[without, "participant"] = " (no PID) " + frame.loc[without, "conversation"]
    _report_similar(tasks, frame, findings)
    _report_blank(tasks, frame, "condition", "Model", "it is left out where conditions are compared", findings)
    return frame


def _report_similar(tasks, frame, findings) -> None:
    for spellings in _spellings(frame["participant"].unique()).values():
        if len(spellings) > 1:
            findings.add(
                WARNING,
                "similar-participants",
                "PIDs that differ only in case, braces or leading zeros; each counts as a participant of its own.",
                "spell them alike if they are one person.",
                **tasks.place("PID"),
                rows=frame.loc[frame["participant"].isin(spellings), "row"].tolist(),
                value=", ".join(sorted(spellings)),
            )


def _report_blank(tasks, frame, name, official, consequence, findings) -> None:
    blank = frame[name].isna()
    if official in tasks.positions and blank.any() and not blank.all():
        findings.add(
            WARNING,
            f"missing-{name}",
            f"a conversation without a {name}; {consequence}.",
            f"fill in {official}.",
            **tasks.place(official),
            rows=frame.loc[blank, "row"].tolist(),
        )


# --- messages and turns ----------------------------------------------------------------


def _messages(
    table: _Table, levels: dict[str, _Levels], tasks: _Table, conversations: pd.DataFrame, findings: Findings
) -> tuple[pd.DataFrame, pd.DataFrame]:
    frame = pd.DataFrame(
        {
            "conversation": pd.Series(_known_conversations(table, conversations, findings), dtype=object),
            "message_id": _numbers(
                table, "MessageId", -np.inf, findings, "the rows' order in the file stands in for it."
            ),
            "seconds": _numbers(table, "TimeOffsetSeconds", 0, findings, "counted as not known."),
            "role": pd.Series(_roles(table, findings), dtype=object),
            "content": pd.Series([_text(cell) for cell in table.cells("Content")], dtype=object),
            "retry": pd.Series(table.cells("Retry"), dtype=object),
            "comment": pd.Series([_text(cell) for cell in table.cells("Comment")], dtype=object),
            "row": np.arange(2, table.length + 2),
        }
    )
    known = frame["conversation"].notna().to_numpy()
    is_turn = known & (frame["role"] == "assistant").to_numpy()
    _report_ratings_elsewhere(table, levels, known & ~is_turn, findings)
    messages = frame[known].copy()
    messages["position"] = _positions(table, messages, findings)
    order = [
        "conversation",
        "position",
        "message_id",
        "seconds",
        "role",
        "content",
        "retry",
        "comment",
        "row",
    ]
    turns = _turns(messages, levels, conversations, is_turn)
    messages = messages[order].reset_index(drop=True)
    if not turns[list(RATING_NAMES)].notna().any(axis=None):
        findings.add(
            ERROR,
            "no-rating",
            "not one assistant turn has a rating that can be read.",
            "write ratings as 1 to 5 or very poor to very good in rows whose Role is assistant.",
            sheet=table.sheet.name,
        )
    silent = ~conversations["conversation"].isin(messages["conversation"])
    if silent.any():
        findings.add(
            WARNING,
            "no-message",
            "conversations of the sheet Tasks that have no message; they are kept, without ground truth.",
            "add their messages, or remove them from Tasks.",
            **tasks.place("TaskId"),
            rows=conversations.loc[silent, "row"].tolist(),
        )
    return messages, turns


def _known_conversations(table: _Table, conversations: pd.DataFrame, findings: Findings) -> list[str | None]:
    """The conversation of each message as sheet Tasks spells it; None for orphans."""
    identifiers = [_identifier(cell) for cell in table.cells("TaskId")]
    matched = _match_ids(identifiers, set(conversations["conversation"]))
    for index, (identifier, conversation) in enumerate(zip(identifiers, matched, strict=True)):
        if conversation == identifier and identifier is not None:
            continue
        if conversation is not None:
            findings.add(
                WARNING,
                "respelt-id",
                "TaskIds spelt otherwise than in the sheet Tasks; they were matched without case, braces and "
                "leading zeros.",
                "spell them alike; the authors' scripts would not match them.",
                **table.place("TaskId"),
                rows=[index + 2],
                value=identifier,
            )
        elif any(value is not None for value in table.sheet.rows[index]):
            findings.add(
                WARNING,
                "orphan",
                "messages whose TaskId is not in the sheet Tasks; they are left out."
                if identifier is not None
                else "messages without a TaskId; they are left out.",
                "add the conversation to Tasks, or mend the TaskId.",
                **table.place("TaskId"),
                rows=[index + 2],
                value=identifier or "",
            )
    return matched


def _roles(table: _Table, findings: Findings) -> list[str | None]:
    roles = [_text(cell) for cell in table.cells("Role")]
    unknown: dict[str | None, list[int]] = defaultdict(list)
    for index, role in enumerate(roles):
        if role not in KNOWN_ROLES and any(cell is not None for cell in table.sheet.rows[index]):
            unknown[role].append(index + 2)
    for role, rows in unknown.items():
        alike = role is not None and normalise_word(role) in KNOWN_ROLES
        findings.add(
            WARNING,
            "unknown-role",
            "a role that differs from a known one in case or space; as in the authors' scripts it is no "
            "assistant turn and no error row."
            if alike
            else "not one of user, assistant and error; the message is kept and is no turn.",
            "write it exactly as user, assistant or error.",
            **table.place("Role"),
            rows=rows,
            value="(blank)" if role is None else role,
        )
    return roles


def _report_ratings_elsewhere(table, levels, elsewhere: np.ndarray, findings) -> None:
    for column in table.columns:
        if column.name in levels:
            stray = elsewhere & np.isfinite(levels[column.name].numbers)
            if stray.any():
                findings.add(
                    WARNING,
                    "rating-elsewhere",
                    "ratings in rows whose Role is not exactly assistant; they are not counted, as in the "
                    "authors' scripts.",
                    "mend the Role, or remove the rating.",
                    **table.place(column.official),
                    rows=(np.flatnonzero(stray) + 2).tolist(),
                )


def _positions(table: _Table, messages: pd.DataFrame, findings: Findings) -> pd.Series:
    """Position of each message in its conversation, from 1.

    By MessageId where every message of the conversation has one of its own; otherwise by
    the order of the rows.
    """
    groups = messages.groupby("conversation", sort=False)["message_id"]
    incomplete = messages["message_id"].isna().groupby(messages["conversation"]).transform("any")
    repeated = messages.duplicated(["conversation", "message_id"], keep=False) & messages["message_id"].notna()
    repeated_anywhere = repeated.groupby(messages["conversation"]).transform("any")
    falls = groups.diff() < 0
    cells = table.cells("MessageId")
    blank = np.array([_is_blank(cells[index]) for index in messages.index], dtype=bool)
    checks = (
        ("missing-message-id", blank & ("MessageId" in table.positions), "missing", "the rows' order is used there."),
        ("repeated-message-id", repeated, "repeated within a conversation", "the rows' order is used there."),
        ("unordered-message-id", falls, "not in ascending order", "turns are counted by MessageId."),
    )
    for kind, mask, what, consequence in checks:
        if mask.any():
            findings.add(
                WARNING,
                kind,
                f"MessageIds that are {what}; {consequence}",
                "number the messages of each conversation 1, 2, 3 .. in their order.",
                **table.place("MessageId"),
                rows=messages.loc[mask, "row"].tolist(),
            )
    backwards = (messages.groupby("conversation", sort=False)["seconds"].diff() < 0) & ~falls
    if backwards.any():
        findings.add(
            WARNING,
            "unordered-time",
            "times that run backwards within a conversation; they are kept as they are.",
            "mend TimeOffsetSeconds.",
            **table.place("TimeOffsetSeconds"),
            rows=messages.loc[backwards, "row"].tolist(),
        )
    by_row = messages.groupby("conversation", sort=False).cumcount() + 1
    by_id = groups.rank(method="first")
    return by_row.where(incomplete | repeated_anywhere, by_id).astype(int)


def _turns(
    messages: pd.DataFrame, levels: dict[str, _Levels], conversations: pd.DataFrame, is_turn: np.ndarray
) -> pd.DataFrame:
    source = np.flatnonzero(is_turn)
    turns = messages.loc[source, ["conversation", "position", "seconds", "row"]].copy()
    turns["turn"] = turns.groupby("conversation", sort=False)["position"].rank(method="first").astype(int)
    who = conversations.drop_duplicates("conversation").set_index("conversation")
    for name in ("participant", "condition"):
        # pandas would infer its own text type here and turn None into NaN.
        turns[name] = pd.Series(who[name].reindex(turns["conversation"]).to_numpy(), index=turns.index, dtype=object)
    for name in RATING_NAMES:
        turns[name] = levels[name].numbers[source]
    for name in RATING_NAMES:
        turns[f"{name}_state"] = pd.Categorical.from_codes(levels[name].states[source], STATES)
    first = ["conversation", "participant", "condition", "turn", "position", "seconds", "row"]
    return turns[first + [name for name in turns if name not in first]].reset_index(drop=True)


# --- participants ----------------------------------------------------------------------


def _participants(
    sheets: dict[str, Sheet],
    tables: dict[str, _Table | None],
    conversations: pd.DataFrame | None,
    findings: Findings,
) -> tuple[pd.DataFrame | None, str | None]:
    """The sheet with one row a participant, found by its PID column."""
    candidates = []
    for sheet in sheets.values():
        if any(table and table.sheet is sheet for table in tables.values()):
            continue
        if sheet.name == taxonomy.SYNTHETIC_SHEET:
            continue
        positions = [index for index, header in enumerate(sheet.header) if normalise_name(header) == "pid"]
        identifiers = [_identifier(cell) for cell in sheet.column(positions[0])] if positions else []
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
    _report_state(chosen, findings)
    frame = _participants_frame(chosen, position, findings)
    if conversations is not None:
        _respell_participants(frame, chosen, position, conversations, findings)
        unique = not frame["participant"].duplicated().any()
    if not unique:
        twice = frame[frame.duplicated("participant", keep="first")]
        findings.add(
            WARNING,
            "duplicate-participant",
            "PIDs that stand in several rows; the first row of each is used.",
            "keep one row a participant.",
            sheet=chosen.name,
            column=chosen.header[position],
            position=position,
            rows=twice["row"].tolist(),
        )
        frame = frame.drop_duplicates("participant", keep="first").reset_index(drop=True)
    if conversations is not None:
        _report_participants(frame, chosen, position, tables["Tasks"], conversations, findings)
    return frame, chosen.name


def _participants_frame(sheet: Sheet, position: int, findings: Findings) -> pd.DataFrame:
    data: dict[str, pd.Series] = {
        "participant": pd.Series([_identifier(cell) for cell in sheet.column(position)], dtype=object)
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
    lost = [row for row in frame.loc[nameless, "row"] if not all(map(_is_blank, sheet.rows[row - 2]))]
    if lost:
        findings.add(
            WARNING,
            "missing-id",
            "a row without a PID; it is left out.",
            "give each participant a PID.",
            sheet=sheet.name,
            column=sheet.header[position],
            position=position,
            rows=lost,
        )
    return frame[~nameless].reset_index(drop=True)


def _characteristic(sheet: Sheet, position: int, findings: Findings) -> pd.Series:
    """Numbers if every answer is one, otherwise text."""
    cells = sheet.column(position)
    odd = [index for index, cell in enumerate(cells) if not _is_blank(cell) and _number(cell) is None]
    filled = sum(not _is_blank(cell) for cell in cells)
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
                sheet=sheet.name,
                column=_column_name(sheet, position),
                position=position,
                rows=[index + 2],
                value=cells[index],
            )
    if numeric:
        return pd.Series([np.nan if (number := _number(cell)) is None else number for cell in cells], dtype=float)
    return pd.Series([_label(cell) for cell in cells], dtype=object)


def _respell_participants(frame, sheet, position, conversations, findings) -> None:
    """Give each participant the spelling of the sheet Tasks, where one alike is found."""
    matched = pd.Series(_match_ids(frame["participant"].tolist(), set(conversations["participant"])), dtype=object)
    respelt = matched.notna() & (matched != frame["participant"])
    for row, own in frame.loc[respelt, ["row", "participant"]].itertuples(index=False):
        findings.add(
            WARNING,
            "respelt-id",
            "PIDs spelt otherwise than in the sheet Tasks; they were matched without case, braces and leading zeros.",
            "spell them alike.",
            sheet=sheet.name,
            column=sheet.header[position],
            position=position,
            rows=[row],
            value=own,
        )
    frame["participant"] = matched.where(respelt, frame["participant"])


def _report_participants(frame, sheet, position, tasks, conversations, findings) -> None:
    place = {"sheet": sheet.name, "column": sheet.header[position], "position": position}
    idle = ~frame["participant"].isin(conversations["participant"])
    if idle.any():
        findings.add(
            WARNING,
            "participant-without-conversation",
            "participants without a conversation in Tasks; their characteristics are not used.",
            "nothing, if that is as meant.",
            **place,
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


# --- the empathy-prompted condition ----------------------------------------------------


def _prompted_condition(conversations: pd.DataFrame, given: str | None, path: str | Path) -> tuple[str | None, str]:
    conditions = sorted(conversations["condition"].dropna().unique())
    if given:
        if given not in conditions:
            raise UserError(
                f"{path}: there is no condition {given!r}. Conditions in the file: "
                f"{', '.join(map(repr, conditions)) or 'none'}. Give one of them as the prompted condition."
            )
        return given, "given"
    scores = {name: _prompt_score(name) for name in conditions}
    best = max(scores.values(), default=0)
    named = [name for name, score in scores.items() if score == best]
    if best == 0:
        return None, "no condition's name speaks of empathy or of a prompt"
    if len(named) > 1:
        return None, f"several conditions' names speak of it: {', '.join(named)}"
    return named[0], "guessed from its name"


def _prompt_score(condition: str) -> int:
    """2 if the name speaks of empathy, 1 if of a prompt, 0 otherwise; none negated ("no empathy")."""
    apart = re.sub(r"([a-z])([A-Z])", r"\1 \2", condition)  # GptEmp is two words
    words = re.findall(r"[a-z]+", apart.casefold())
    if {"no", "non", "not", "without", "un"} & set(words):
        return 0
    if any(re.match(r"(non?|un)(empath|prompt)", word) for word in words):
        return 0
    if any(word in {"emp", "emph"} or "empath" in word for word in words):
        return 2
    return int(any("prompt" in word for word in words))
