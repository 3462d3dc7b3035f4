"""The sheet Messages: one row per message, in its conversation's order; the assistant's are the turns."""

from dataclasses import dataclass
from itertools import compress

import numpy as np

from sense7.taxonomy import RATING_NAMES, normalise_word
from sense7.workbook.answers import Levels
from sense7.workbook.columns import Table
from sense7.workbook.diagnostics import ERROR, NOTICE, WARNING, Diagnostics
from sense7.workbook.parsed import Columns
from sense7.workbook.spellings import report_normalised
from sense7.workbook.values import (
    as_names,
    as_number,
    as_texts,
    has_decimal_comma,
    is_blank,
    match_ids,
    rows_of,
)

__all__ = ["read_messages"]

KNOWN_ROLES = ("user", "assistant", "error")


def read_messages(
    table: Table, levels: dict[str, Levels], tasks: Table, conversations: Columns, diagnostics: Diagnostics
) -> tuple[Columns, Columns]:
    """Messages of known conversations, and the assistant's turns among them.

    Parameters
    ----------
    table : Table
        The sheet Messages.
    levels : dict of Levels
        Its answers on scales; see :func:`sense7.workbook.answers.read_scales`.
    tasks : Table
        The sheet Tasks, for the place of what is found there.
    conversations : Columns
        As :func:`sense7.workbook.conversations.read_conversations` gave them.
    diagnostics : Diagnostics
        Where to report.

    Returns
    -------
    messages, turns
        In the order of the rows, each with its position in its conversation.
    """
    matched = _known_conversations(table, tasks, conversations, diagnostics)
    number_of = {name: number for number, name in reversed(list(enumerate(conversations["conversation"])))}
    conversation = np.array([number_of.get(name, -1) for name in matched], dtype=np.intp)
    message_id = _numbers(table, "MessageId", -np.inf, diagnostics, "the rows' order in the file stands in for it.")
    seconds = _numbers(table, "TimeOffsetSeconds", 0, diagnostics, "counted as not known.")
    roles = _roles(table, diagnostics)
    known = conversation >= 0
    kept = known.tolist()
    is_turn = known & np.array([role == "assistant" for role in roles], dtype=bool)
    _report_ratings_elsewhere(table, levels, known & ~is_turn, diagnostics)
    said = _Said(np.flatnonzero(known), conversation[known], message_id[known], seconds[known])
    position = _positions(table, said, diagnostics)
    messages: Columns = {
        "conversation": list(compress(matched, kept)),
        "position": position,
        "message_id": said.message_id,
        "seconds": said.seconds,
        "role": list(compress(roles, kept)),
        "content": list(compress(as_texts(table.cells("Content")), kept)),
        "retry": list(compress(table.cells("Retry"), kept)),
        "comment": list(compress(as_texts(table.cells("Comment")), kept)),
        "row": said.rows,
    }
    turns = _turns(said, position, levels, conversations, is_turn[known])
    if not any(np.isfinite(turns[name]).any() for name in RATING_NAMES):
        diagnostics.add(
            ERROR,
            "no-rating",
            "not one assistant turn has a rating that can be read.",
            "write ratings as 1 to 5 or very poor to very good in rows whose Role is assistant. Without ratings "
            "only a judge can be asked, and without rated examples: sense7 judge run.",
            sheet=table.sheet.name,
        )
    speaking = set(messages["conversation"])
    silent = [name not in speaking for name in conversations["conversation"]]
    if any(silent):
        diagnostics.add(
            WARNING,
            "no-message",
            "conversations of the sheet Tasks that have no message; they are kept, without ground truth.",
            "add their messages, or remove them from Tasks.",
            **tasks.place("TaskId"),
            rows=conversations["row"][silent].tolist(),
        )
    return messages, turns


@dataclass(frozen=True)
class _Said:
    """The messages of known conversations, in the order of the rows; ``conversation`` is its number in Tasks."""

    index: np.ndarray
    conversation: np.ndarray
    message_id: np.ndarray
    seconds: np.ndarray

    @property
    def rows(self) -> np.ndarray:
        """Rows of the sheet."""
        return self.index + 2

    def anywhere(self, mask: np.ndarray) -> np.ndarray:
        """Whether a mask holds for any message of the same conversation."""
        return np.isin(self.conversation, self.conversation[mask])


def _known_conversations(
    table: Table, tasks: Table, conversations: Columns, diagnostics: Diagnostics
) -> list[str | None]:
    """The conversation of each message as sheet Tasks spells it; None for orphans."""
    cells = table.cells("TaskId")
    identifiers = as_names(cells)
    report_normalised(cells, identifiers, table.place("TaskId"), diagnostics, tasks.cells("TaskId"))
    matched = match_ids(identifiers, set(conversations["conversation"]))
    for index, (identifier, conversation) in enumerate(zip(identifiers, matched, strict=True)):
        if conversation == identifier and identifier is not None:
            continue
        if conversation is not None:
            diagnostics.add(
                WARNING,
                "respelt-id",
                "TaskIds spelt otherwise than in the sheet Tasks; they were matched without case, braces, "
                "leading zeros and look-alike characters.",
                "spell them alike; the authors' scripts would not match them.",
                **table.place("TaskId"),
                rows=[index + 2],
                value=identifier,
            )
        elif any(value is not None for value in table.sheet.rows[index]):
            diagnostics.add(
                WARNING,
                "orphan",
                "messages whose TaskId is not in the sheet Tasks; they are left out."
                if identifier is not None
                else "messages without a TaskId; they are left out.",
                "add the conversation to Tasks, or correct the TaskId.",
                **table.place("TaskId"),
                rows=[index + 2],
                value=identifier or "",
            )
    return matched


def _roles(table: Table, diagnostics: Diagnostics) -> list[str | None]:
    roles = as_texts(table.cells("Role"))
    unknown = [
        index
        for index, role in enumerate(roles)
        if role not in KNOWN_ROLES and any(cell is not None for cell in table.sheet.rows[index])
    ]
    for role, rows in rows_of((roles[index] for index in unknown), (index + 2 for index in unknown)).items():
        alike = role is not None and normalise_word(role) in KNOWN_ROLES
        diagnostics.add(
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


def _numbers(table: Table, official: str, lowest: float, diagnostics: Diagnostics, consequence: str) -> np.ndarray:
    """A column of plain numbers; other cells are NaN, with a warning."""
    cells = table.cells(official)
    # Nearly all are numbers already; one by one only what is not.
    values = np.array([cell if type(cell) is float else np.nan for cell in cells], dtype=float)
    values[~(np.isfinite(values) & (values >= lowest))] = np.nan
    others = np.flatnonzero(np.isnan(values))
    from_lowest = f" from {lowest:g} up" if np.isfinite(lowest) else ""
    filled, commas = len(cells) - len(others), []
    for index in others.tolist():
        cell = cells[index]
        if is_blank(cell):
            continue
        filled += 1
        number = as_number(cell, decimal_comma=True)
        if number is None:
            problem = f"not a number; {consequence}"
            kind = "not-a-number"
        elif number < lowest:
            problem = f"below {lowest:g}; {consequence}"
            kind = "out-of-range"
        else:
            values[index] = number
            commas += [index + 2] if has_decimal_comma(cell) else []
            continue
        diagnostics.add(
            WARNING,
            kind,
            problem,
            f"write a number{from_lowest}, or leave the cell blank.",
            **table.place(official),
            rows=[index + 2],
            value=cell,
        )
    if commas:
        diagnostics.add(
            NOTICE,
            "decimal-comma",
            "numbers with a decimal comma; they were read with a decimal point.",
            "nothing, if that is as meant; otherwise write them with a decimal point.",
            **table.place(official),
            rows=commas,
        )
    table.count(official, filled, np.isfinite(values).sum())
    return values


def _report_ratings_elsewhere(table, levels, elsewhere: np.ndarray, diagnostics) -> None:
    for column in table.columns:
        if column.name in levels:
            stray = elsewhere & np.isfinite(levels[column.name].numbers)
            if stray.any():
                diagnostics.add(
                    WARNING,
                    "rating-elsewhere",
                    "ratings in rows whose Role is not exactly assistant; they are not counted, as in the "
                    "authors' scripts.",
                    "correct the Role, or remove the rating.",
                    **table.place(column.official),
                    rows=(np.flatnonzero(stray) + 2).tolist(),
                )


def _positions(table: Table, said: _Said, diagnostics: Diagnostics) -> np.ndarray:
    """Position of each message in its conversation, from 1.

    By MessageId where every message of the conversation has one of its own; otherwise by
    the order of the rows.
    """
    missing = np.isnan(said.message_id)
    single = ~_report_duplicates(table, said, diagnostics)
    repeated = np.zeros(len(missing), dtype=bool)
    repeated[single] = _repeated(said.conversation[single], said.message_id[single]) & ~missing[single]
    falls = _falls(said, said.message_id, single)
    cells = table.cells("MessageId")
    blank = missing.copy()
    blank[missing] = [is_blank(cells[index]) for index in said.index[missing]]
    checks = (
        ("missing-message-id", blank & ("MessageId" in table.positions), "missing", "the rows' order is used there."),
        ("repeated-message-id", repeated, "repeated within a conversation", "the rows' order is used there."),
        ("unordered-message-id", falls, "not in ascending order", "turns are counted by MessageId."),
    )
    for kind, mask, what, consequence in checks:
        if mask.any():
            diagnostics.add(
                WARNING,
                kind,
                f"MessageIds that are {what}; {consequence}",
                "number the messages of each conversation 1, 2, 3 .. in their order.",
                **table.place("MessageId"),
                rows=said.rows[mask].tolist(),
            )
    backwards = _falls(said, said.seconds, single) & ~falls
    if backwards.any():
        diagnostics.add(
            WARNING,
            "unordered-time",
            "times that run backwards within a conversation; they are kept as they are.",
            "correct TimeOffsetSeconds.",
            **table.place("TimeOffsetSeconds"),
            rows=said.rows[backwards].tolist(),
        )
    by_row = said.anywhere(missing) | said.anywhere(repeated)
    return _rank(said.conversation, np.where(by_row, 0, said.message_id))


def _rank(conversation: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Rank of each value in its conversation, from 1; equal ones by their order."""
    order = np.lexsort((values, conversation))
    first = np.ones(len(order), dtype=bool)
    first[1:] = np.diff(conversation[order]) != 0
    places = np.arange(len(order))
    rank = np.empty(len(order), dtype=np.int64)
    rank[order] = places - np.maximum.accumulate(np.where(first, places, 0)) + 1
    return rank


def _repeated(conversation: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Whether a number, or its lack, stands in another message of the conversation, too."""
    order = np.lexsort((values, conversation))
    sorted_values = values[order]
    alike = (sorted_values[1:] == sorted_values[:-1]) | (np.isnan(sorted_values[1:]) & np.isnan(sorted_values[:-1]))
    alike &= np.diff(conversation[order]) == 0
    repeated = np.zeros(len(order), dtype=bool)
    repeated[order[1:]] = alike
    repeated[order[:-1]] |= alike
    return repeated


def _falls(said: _Said, values: np.ndarray, single: np.ndarray) -> np.ndarray:
    """Whether a number is smaller than that of the message before it in the same conversation, duplicates left out."""
    order = np.flatnonzero(single)[np.argsort(said.conversation[single], kind="stable")]
    falls = np.zeros(len(values), dtype=bool)
    falls[order[1:]] = (np.diff(values[order]) < 0) & (np.diff(said.conversation[order]) == 0)
    return falls


def _report_duplicates(table: Table, said: _Said, diagnostics: Diagnostics) -> np.ndarray:
    """Report rows that repeat an earlier row of their conversation cell by cell; True for each of them.

    Rows without MessageId and time may be alike because the same was said twice. They are duplicates if they are
    rated turns, or stand in a conversation with a duplicate.
    """
    # Only these can be equal to another row: few, so that they can be compared cell by cell.
    candidates = np.flatnonzero(_repeated(said.conversation, said.message_id))
    cells = [table.cells(column.official) for column in table.columns if column.official != "TaskId"]
    ratings = [table.cells(column.official) for column in table.columns if column.name in RATING_NAMES]
    located = np.isfinite(said.message_id) | np.isfinite(said.seconds)
    seen: set[tuple] = set()
    repeats: list[int] = []
    certain: list[int] = []
    for number in candidates.tolist():
        index = said.index[number]
        row = (said.conversation[number], *(column[index] for column in cells))
        if row in seen:
            repeats.append(number)
            if located[number] or any(not is_blank(column[index]) for column in ratings):
                certain.append(number)
        seen.add(row)
    duplicates = np.zeros(len(said.index), dtype=bool)
    duplicates[repeats] = np.isin(said.conversation[repeats], said.conversation[certain])
    if duplicates.any():
        diagnostics.add(
            WARNING,
            "duplicate-message",
            "rows that repeat an earlier row of the same conversation in every column (MessageId, time, role, text, "
            "ratings); they are counted like all others, so turns and ratings are counted more than once.",
            "remove these rows, unless the same was really said and rated again.",
            **table.place("TaskId"),
            rows=said.rows[duplicates].tolist(),
        )
    return duplicates


def _turns(
    said: _Said, position: np.ndarray, levels: dict[str, Levels], conversations: Columns, is_turn: np.ndarray
) -> Columns:
    source, conversation = said.index[is_turn], said.conversation[is_turn]
    names = ("conversation", "participant", "condition")
    turns: Columns = {name: list(map(conversations[name].__getitem__, conversation.tolist())) for name in names}
    turns |= {
        "turn": _rank(conversation, position[is_turn]),
        "position": position[is_turn],
        "seconds": said.seconds[is_turn],
        "row": source + 2,
    }
    turns |= {name: levels[name].numbers[source] for name in RATING_NAMES}
    return turns | {f"{name}_state": levels[name].states[source] for name in RATING_NAMES}
