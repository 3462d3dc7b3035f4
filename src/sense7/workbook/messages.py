"""The pass over sheet Messages: one row per message, one row per assistant turn, and their order."""

import math
import re
from array import array
from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import pairwise

from sense7.taxonomy import RATING_NAMES
from sense7.workbook.conversations import Columns
from sense7.workbook.ids import as_names, as_texts, is_blank, select
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
    message_id = table.numbers("MessageId", table.cells("MessageId"))
    seconds = table.numbers("TimeOffsetSeconds", table.cells("TimeOffsetSeconds"), lowest=0)
    declared_roles = table.reading.roles
    roles = [declared_roles.get(role, role) for role in as_texts(table.cells("Role"))]
    content = as_texts(table.cells("Content"))
    comments = table.without_missing("Comment", as_texts(table.cells("Comment")))
    table.report_twice("message", "MessageId", _keys(table, names, roles, content))
    message_rows, turn_rows, other_rows = [], [], []  # counted from 0
    for row, is_filled in enumerate(table.is_filled):
        if is_filled and names[row] is None:
            table.add("orphan", "TaskId", [row + 2], identifiers[row] or "(blank)")
        if is_filled and roles[row] not in ROLES:
            table.add("unknown-role", "Role", [row + 2], roles[row] or "(blank)")
        if names[row] is not None:
            message_rows.append(row)
            if roles[row] == "assistant":
                turn_rows.append(row)
            else:
                other_rows.append(row)
    _report_texts(table)
    rated_rows = set()
    for name in RATING_NAMES:
        levels = ratings[name][0]
        rated_rows.update(row + 2 for row in other_rows if math.isfinite(levels[row]))
    table.add("rating-elsewhere", "", sorted(rated_rows))

    position = array("q", [0]) * len(names)
    turn = array("q", [0]) * len(names)
    rows_in_order, unordered = order_of(names, message_id)
    back_in_time = []
    for rows in rows_in_order:
        turns_before = 0
        latest = -math.inf
        for number, row in enumerate(rows, 1):
            position[row] = number
            if roles[row] == "assistant":
                turns_before += 1
                turn[row] = turns_before
            if math.isfinite(seconds[row]):
                if seconds[row] < latest:
                    back_in_time.append(row)
                latest = seconds[row]
    if "MessageId" in table.positions:
        table.add("message-order", "MessageId", [row + 2 for row in sorted(unordered)])
    table.add("time-goes-back", "TimeOffsetSeconds", [row + 2 for row in sorted(back_in_time)])

    messages: Columns = {
        "conversation": names,
        "position": position,
        "message_id": message_id,
        "seconds": seconds,
        "role": roles,
        "content": content,
        "retry": table.cells("Retry"),
        "comment": comments,
        "row": array("q", range(2, len(names) + 2)),
    }
    number_of_turn = [number_of[names[row]] for row in turn_rows]
    turns: Columns = {}
    for name in ("conversation", "participant", "condition"):
        turns[name] = select(conversations[name], number_of_turn)
    turns["turn"] = select(turn, turn_rows)
    for name in ("position", "seconds", "row"):
        turns[name] = select(messages[name], turn_rows)
    messages = {name: select(column, message_rows) for name, column in messages.items()}
    for name in RATING_NAMES:
        turns[name] = select(ratings[name][0], turn_rows)
    for name in RATING_NAMES:
        turns[f"{name}_state"] = select(ratings[name][1], turn_rows)
    for header in table.further:  # kept, and not analysed
        name = header
        while name in turns:
            name += "'"
        turns[name] = select(table.cells(header), turn_rows)
    if not any(any(map(math.isfinite, turns[name])) for name in RATING_NAMES):
        table.add("no-rating")
    with_message = set(names)
    by_row = zip(conversations["row"], conversations["conversation"], strict=True)
    tasks.add("no-message", "TaskId", [row for row, name in by_row if name not in with_message])
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
    conversations: Sequence[str | None], message_id: Sequence[float]
) -> tuple[list[list[int]], list[int]]:
    """Order the messages of each conversation: by MessageId where every message has one of its own, else by rows.

    Parameters
    ----------
    conversations : sequence
        Conversation of each message; None for a message of none.
    message_id : sequence of float
        Its MessageId; NaN if it has none that can be read.

    Returns
    -------
    rows, unordered
        Rows of each conversation in the order of its messages; rows whose MessageId is missing or below the one before.

    Examples
    --------
    >>> order_of(["a", "a", "b"], [2.0, 1.0, math.nan])
    ([[1, 0], [2]], [1, 2])
    """
    rows_of = defaultdict(list)
    for row, name in enumerate(conversations):
        if name is not None:
            rows_of[name].append(row)
    unordered = []
    for rows in rows_of.values():
        missing = [row for row in rows if math.isnan(message_id[row])]
        unordered += missing
        if not missing and len({message_id[row] for row in rows}) == len(rows):
            unordered += [row for last, row in pairwise(rows) if message_id[row] < message_id[last]]
            rows.sort(key=message_id.__getitem__)
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
