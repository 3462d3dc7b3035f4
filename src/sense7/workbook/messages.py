"""The pass over sheet Messages: one row per message, one row per assistant turn, and their order."""

import math
import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import compress, pairwise

import numpy as np

from sense7.taxonomy import RATING_NAMES
from sense7.workbook.conversations import Columns
from sense7.workbook.ids import MISSING_TEXTS, as_names, as_number, as_texts, is_blank
from sense7.workbook.reading import ROLES
from sense7.workbook.table import Table
from sense7.workbook.xlsx import LONGEST_TEXT, utf16_units

_ESCAPED = re.compile(
    r"&(?:#\d{1,7}|#x[0-9a-f]{1,6}|amp|lt|gt|quot|apos|nbsp|[lr][sd]quo|hellip|[mn]dash);", re.I
)
"""An entity of HTML."""


def read_messages(
    table: Table, ratings: Mapping, tasks: Table, conversations: Columns
) -> tuple[Columns, Columns]:
    """Messages of known conversations, and the assistant's turns among them, in the order of the rows."""
    number_of = {name: number for number, name in enumerate(conversations["conversation"])}
    identifiers = table.names("TaskId")
    names = [name if name in number_of else None for name in identifiers]
    message_id = _numbers(table, "MessageId")
    seconds = _numbers(table, "TimeOffsetSeconds", lowest=0)
    declared_roles = table.reading.roles
    roles = [declared_roles.get(role, role) for role in as_texts(table.cells("Role"))]
    content = as_texts(table.cells("Content"))
    comments = as_texts(table.cells("Comment"))
    comments = table.without_missing("Comment", comments, MISSING_TEXTS)
    is_message = np.array([name is not None for name in names], dtype=bool)
    is_turn = is_message & np.array([role == "assistant" for role in roles], dtype=bool)
    table.report_twice("message", "MessageId", _keys(table, names, roles, content))
    for row in np.flatnonzero(table.is_filled).tolist():
        if names[row] is None:
            table.add("orphan", "TaskId", [row + 2], identifiers[row] or "(blank)")
        if roles[row] not in ROLES:
            table.add("unknown-role", "Role", [row + 2], roles[row] or "(blank)")
    _report_texts(table)
    is_rated = np.any([np.isfinite(ratings[name][0]) for name in RATING_NAMES], axis=0)
    table.add("rating-elsewhere", "", np.flatnonzero(is_rated & is_message & ~is_turn) + 2)

    position = np.zeros(len(names), dtype=np.int64)
    turn = np.zeros(len(names), dtype=np.int64)
    rows_in_order, unordered = order_of(names, message_id)
    back_in_time = []
    for rows in rows_in_order:
        position[rows] = np.arange(1, len(rows) + 1)
        turn_rows = [row for row in rows if is_turn[row]]
        turn[turn_rows] = np.arange(1, len(turn_rows) + 1)
        timed_rows = [row for row in rows if np.isfinite(seconds[row])]
        back_in_time += [row for last, row in pairwise(timed_rows) if seconds[row] < seconds[last]]
    if "MessageId" in table.positions:
        table.add("message-order", "MessageId", np.sort(unordered) + 2)
    table.add("time-goes-back", "TimeOffsetSeconds", np.sort(back_in_time) + 2)

    message_rows, is_kept = np.flatnonzero(is_message), is_message.tolist()
    messages: Columns = {
        "conversation": list(compress(names, is_kept)),
        "position": position[message_rows],
        "message_id": message_id[message_rows],
        "seconds": seconds[message_rows],
        "role": list(compress(roles, is_kept)),
        "content": list(compress(content, is_kept)),
        "retry": list(compress(table.cells("Retry"), is_kept)),
        "comment": list(compress(comments, is_kept)),
        "row": message_rows + 2,
    }
    turn_rows = np.flatnonzero(is_turn)
    conversation_numbers = [number_of[names[row]] for row in turn_rows.tolist()]
    turns: Columns = {}
    for name in ("conversation", "participant", "condition"):
        turns[name] = [conversations[name][number] for number in conversation_numbers]
    turns["turn"] = turn[turn_rows]
    turns["position"] = position[turn_rows]
    turns["seconds"] = seconds[turn_rows]
    turns["row"] = turn_rows + 2
    for name in RATING_NAMES:
        turns[name] = ratings[name][0][turn_rows]
    for name in RATING_NAMES:
        turns[f"{name}_state"] = ratings[name][1][turn_rows]
    for header in table.further:  # kept, and not analysed
        name = header
        while name in turns:
            name += "'"
        turns[name] = list(compress(table.cells(header), is_turn.tolist()))
    if not any(np.isfinite(turns[name]).any() for name in RATING_NAMES):
        table.add("no-rating")
    with_message = set(names)
    is_silent = [name not in with_message for name in conversations["conversation"]]
    tasks.add("no-message", "TaskId", conversations["row"][is_silent])
    return messages, turns


def _keys(table: Table, names: Sequence, roles: Sequence, content: Sequence) -> list[tuple | None]:
    """Keys that two rows of one message share: MessageId, or else role and text right after each other."""
    keys = []
    runs = {}  # conversation -> role and text of its last row, and the row in which they began
    identifiers = as_names(table.cells("MessageId"))
    columns = zip(names, identifiers, roles, content, strict=True)
    for row, (name, identifier, role, text) in enumerate(columns, 2):
        if runs.get(name, (None,))[0] != (role, text):
            runs[name] = (role, text), row
        key = (name, identifier or f"in row {runs[name][1]}")
        if name is None or (identifier is None and is_blank(text)):
            key = None
        keys.append(key)
    return keys


def order_of(
    conversations: Sequence[str | None], message_id: np.ndarray
) -> tuple[list[list[int]], list[int]]:
    """Order the messages of each conversation: by MessageId where every message has one of its own, else by rows.

    Parameters
    ----------
    conversations : sequence
        Conversation of each message; None for a message of none.
    message_id : array
        Its MessageId; NaN if it has none that can be read.

    Returns
    -------
    rows, unordered
        Rows of each conversation in the order of its messages; rows whose MessageId is missing or below the one before.

    Examples
    --------
    >>> order_of(["a", "a", "b"], np.array([2.0, 1.0, np.nan]))
    ([[1, 0], [2]], [1, 2])
    """
    numbers = message_id.tolist()
    rows_of = defaultdict(list)
    for row, name in enumerate(conversations):
        if name is not None:
            rows_of[name].append(row)
    unordered = []
    for rows in rows_of.values():
        missing = [row for row in rows if math.isnan(numbers[row])]
        unordered += missing
        if not missing and len({numbers[row] for row in rows}) == len(rows):
            unordered += [row for last, row in pairwise(rows) if numbers[row] < numbers[last]]
            rows.sort(key=numbers.__getitem__)
    return list(rows_of.values()), unordered


def _report_texts(table: Table) -> None:
    """Report texts that a program may have cut, or escaped for HTML."""
    for official in ("Content", "Comment"):
        cut, escaped = [], []
        for row, cell in enumerate(table.cells(official), 2):
            if isinstance(cell, str):
                if len(cell) >= LONGEST_TEXT // 2 and LONGEST_TEXT in (
                    len(cell),
                    utf16_units(cell),
                ):
                    cut.append(row)
                if "&" in cell and _ESCAPED.search(cell):
                    escaped.append(row)
        table.add("cut-text", official, cut, longest=LONGEST_TEXT)
        table.add("escaped-text", official, escaped)


def _numbers(table: Table, official: str, lowest: float = -np.inf) -> np.ndarray:
    """A column of plain numbers; other cells are NaN, with a warning."""
    values = np.full(len(table.sheet.rows), np.nan)
    for index, cell in enumerate(table.cells(official)):
        number = as_number(cell, table.reading.decimal)
        if number is not None and number >= lowest:
            values[index] = number
        elif not is_blank(cell):
            table.add("not-a-number", official, [index + 2], cell)
    return values
