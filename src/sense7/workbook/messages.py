"""The pass over sheet Messages: one row per message, one row per assistant turn, and their order."""

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import compress, pairwise

import numpy as np

from sense7.taxonomy import RATING_NAMES
from sense7.workbook.conversations import Columns
from sense7.workbook.ids import MISSING_TEXTS, as_name, as_number, as_texts, is_blank
from sense7.workbook.reading import ROLES
from sense7.workbook.table import Table
from sense7.workbook.xlsx import LONGEST_TEXT, may_be_cut

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

    position, turn, problems = order_of(names, message_id, is_turn)
    if "MessageId" in table.positions:
        table.add("message-order", "MessageId", problems)
    rows_back = _rows_back_in_time(position, seconds, names)
    table.add("time-goes-back", "TimeOffsetSeconds", rows_back)

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
        if header in ratings:
            turns[name] = ratings[header][0][turn_rows]
        else:
            turns[name] = list(compress(table.cells(header), is_turn.tolist()))
    if not any(np.isfinite(turns[name]).any() for name in RATING_NAMES):
        table.add("no-rating")
    with_message = set(names)
    is_silent = [name not in with_message for name in conversations["conversation"]]
    tasks.add("no-message", "TaskId", conversations["row"][is_silent])
    return messages, turns


def _keys(table: Table, names: Sequence, roles: Sequence, content: Sequence) -> list[tuple | None]:
    """What says that two rows are one message: MessageId, or else role and text right after each other."""
    keys = []
    runs = {}  # conversation -> role and text of its last row, and the row in which they began
    for row, (name, cell) in enumerate(zip(names, table.cells("MessageId"), strict=True), 2):
        message = (roles[row - 2], content[row - 2])
        if runs.get(name, (None,))[0] != message:
            runs[name] = message, row
        identifier = as_name(cell)
        if name is None or (identifier is None and is_blank(message[1])):
            keys.append(None)
        elif identifier is None:
            keys.append((name, f"in row {runs[name][1]}"))
        else:
            keys.append((name, identifier))
    return keys


def order_of(
    conversations: Sequence[str | None], message_id: np.ndarray, is_turn: np.ndarray
) -> tuple[np.ndarray, np.ndarray, list[int]]:
    """Order the messages of each conversation: by MessageId where every message has one of its own, else by rows.

    Parameters
    ----------
    conversations : sequence
        Conversation of each message; None for a message of none.
    message_id : array
        Its MessageId; NaN if it has none that can be read.
    is_turn : array
        Whether it is a turn of the assistant.

    Returns
    -------
    position, turn, problems
        Places from 1 of each message within its conversation, and among its turns (0 for what has none); rows of the
        sheet whose MessageId is missing or below the one before it.

    Examples
    --------
    >>> numbers, is_turn = np.array([2.0, 1.0, np.nan]), np.array([True, False, True])
    >>> position, turn, problems = order_of(["a", "a", "b"], numbers, is_turn)
    >>> position.tolist(), turn.tolist(), problems
    ([2, 1, 1], [1, 0, 1], [3, 4])
    """
    position = np.zeros(len(conversations), dtype=np.int64)
    turn = np.zeros(len(conversations), dtype=np.int64)
    numbers = message_id.tolist()
    rows_of = defaultdict(list)
    for row, name in enumerate(conversations):
        if name is not None:
            rows_of[name].append(row)
    is_missing = np.isnan(message_id)
    problems = []
    for rows in rows_of.values():
        missing = [row for row in rows if is_missing[row]]
        problems += missing
        if not missing and len({numbers[row] for row in rows}) == len(rows):
            problems += [row for last, row in pairwise(rows) if numbers[row] < numbers[last]]
            rows.sort(key=numbers.__getitem__)
        position[rows] = np.arange(1, len(rows) + 1)
        turn_rows = [row for row in rows if is_turn[row]]
        turn[turn_rows] = np.arange(1, len(turn_rows) + 1)
    return position, turn, [row + 2 for row in sorted(problems)]


def _rows_back_in_time(
    position: np.ndarray, seconds: np.ndarray, names: Sequence[str | None]
) -> list[int]:
    """Rows of messages that were written before the message before them, of those whose time is known."""
    number_of = {}
    numbers = np.array([number_of.setdefault(name, len(number_of)) for name in names], dtype=int)
    indices = np.flatnonzero((position > 0) & np.isfinite(seconds))
    in_order = indices[np.lexsort((position[indices], numbers[indices]))]
    is_same_conversation = np.diff(numbers[in_order]) == 0
    goes_back = is_same_conversation & (np.diff(seconds[in_order]) < 0)
    return sorted((in_order[1:][goes_back] + 2).tolist())


def _report_texts(table: Table) -> None:
    """Report texts that a program may have cut, or escaped for HTML."""
    for official in ("Content", "Comment"):
        cut, escaped = [], []
        for row, cell in enumerate(table.cells(official), 2):
            if isinstance(cell, str):
                if may_be_cut(cell):
                    cut.append(row)
                if "&" in cell and _ESCAPED.search(cell):
                    escaped.append(row)
        table.add("cut-text", official, cut, longest=f"{LONGEST_TEXT:,}")
        table.add("escaped-text", official, escaped)


def _numbers(table: Table, official: str, lowest: float = -np.inf) -> np.ndarray:
    """A column of plain numbers; other cells are NaN, with a warning."""
    cells = table.cells(official)
    # Nearly all are numbers already; one by one only what is not.
    values = np.array([cell if type(cell) is float else np.nan for cell in cells], dtype=float)
    values[~(np.isfinite(values) & (values >= lowest))] = np.nan
    for index in np.flatnonzero(np.isnan(values)).tolist():
        number = as_number(cells[index], table.reading.decimal)
        if number is not None and number >= lowest:
            values[index] = number
        elif not is_blank(cells[index]):
            table.add("not-a-number", official, [index + 2], cells[index])
    return values
