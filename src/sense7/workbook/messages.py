"""The pass over sheet Messages: one row per message, one row per assistant turn, and their order."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import compress, pairwise

import numpy as np

from sense7.taxonomy import RATING_NAMES
from sense7.terminal import count_of
from sense7.workbook.conversations import Columns
from sense7.workbook.ids import as_number, as_texts, is_blank
from sense7.workbook.repeats import report_repeated_messages, rows_by_name
from sense7.workbook.table import KNOWN_ROLES, Table
from sense7.workbook.xlsx import LONGEST_TEXT, may_be_cut


def read_messages(
    table: Table, ratings: Mapping, tasks: Table, conversations: Columns
) -> tuple[Columns, Columns]:
    """Messages of known conversations, and the assistant's turns among them, in the order of the rows."""
    # The conversation of each message, as Tasks spells it.
    number_of = {name: number for number, name in enumerate(conversations["conversation"])}
    identifiers = table.names("TaskId", set(number_of), "conversation")
    names = [name if name in number_of else None for name in identifiers]
    in_file = "the rows' order in the file stands in for it."
    message_id = _numbers(table, "MessageId", -np.inf, in_file)
    seconds = _numbers(table, "TimeOffsetSeconds", 0, "counted as not known.")
    roles = as_texts(table.cells("Role"))
    repeats = report_repeated_messages(table, names, message_id, ratings)
    joined = {names[row] for row in repeats}
    for row in repeats:
        names[row] = None
    is_message = np.array([name is not None for name in names], dtype=bool)
    is_turn = is_message & np.array([role == "assistant" for role in roles], dtype=bool)
    _report_rows(table, identifiers, names, roles, repeats)
    _report_ratings_elsewhere(table, ratings, is_message & ~is_turn)

    numbers = [None if math.isnan(number) else number for number in message_id.tolist()]
    position, turn, problems = order_of(names, table.cells("MessageId"), numbers, is_turn, joined)
    if "MessageId" in table.positions:
        for entry, rows in problems.items():
            table.add(entry, "MessageId", [row + 2 for row in sorted(rows)])

    rows_back = _rows_back_in_time(position, seconds, is_message, names, number_of)
    table.add("time-goes-back", "TimeOffsetSeconds", rows_back)

    message_rows, is_kept = np.flatnonzero(is_message), is_message.tolist()
    messages: Columns = {
        "conversation": list(compress(names, is_kept)),
        "position": position[message_rows],
        "message_id": message_id[message_rows],
        "seconds": seconds[message_rows],
        "role": list(compress(roles, is_kept)),
        "content": list(compress(as_texts(table.cells("Content")), is_kept)),
        "retry": list(compress(table.cells("Retry"), is_kept)),
        "comment": list(compress(as_texts(table.cells("Comment")), is_kept)),
        "row": message_rows + 2,
    }
    turn_rows = np.flatnonzero(is_turn)
    conversation_numbers = [number_of[names[row]] for row in turn_rows.tolist()]
    turns = {}
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
    if not any(np.isfinite(turns[name]).any() for name in RATING_NAMES):
        table.add("no-rating")
    with_message = set(names)
    is_silent = [name not in with_message for name in conversations["conversation"]]
    tasks.add("no-message", "TaskId", conversations["row"][is_silent])
    return messages, turns


def order_of(
    conversations: Sequence[str | None],
    cells: Sequence[object],
    numbers: Sequence[float | None],
    is_turn: np.ndarray,
    joined: set[str],
) -> tuple[np.ndarray, np.ndarray, dict[str, list[int]]]:
    """Order the messages of each conversation: by MessageId where every message has one of its own, else by rows.

    Parameters
    ----------
    conversations : sequence
        Conversation of each message; None for a message of none.
    cells, numbers : sequence
        The cell of its MessageId, and the number in it; None if it has none that can be read.
    is_turn : array
        Whether it is a turn of the assistant.
    joined : set
        Conversations whose rows come from two files, and so are in no order.

    Returns
    -------
    position, turn, problems
        Places from 1 of each message within its conversation, and among its turns (0 for what has none); diagnostic ->
        rows of the sheet, counted from 0.

    Examples
    --------
    >>> numbers, is_turn = [2.0, 1.0, None], np.array([True, False, True])
    >>> position, turn, problems = order_of(["a", "a", "b"], numbers, numbers, is_turn, set())
    >>> position.tolist(), turn.tolist()
    ([2, 1, 1], [1, 0, 1])
    >>> problems
    {'repeated-message-id': [], 'unordered-message-id': [1], 'missing-message-id': [2]}
    """
    position = [0] * len(conversations)
    turn = [0] * len(conversations)
    is_turn = is_turn.tolist()
    problems = {
        "repeated-message-id": [],
        "unordered-message-id": [],
        "missing-message-id": [],
    }
    for name, rows in rows_by_name(conversations).items():
        counts = Counter(numbers[row] for row in rows)
        repeated = [row for row in rows if numbers[row] is not None and counts[numbers[row]] > 1]
        problems["repeated-message-id"] += repeated
        if None in counts:
            problems["missing-message-id"] += [row for row in rows if is_blank(cells[row])]
        elif not repeated:
            if name not in joined:
                problems["unordered-message-id"] += [
                    row for last, row in pairwise(rows) if numbers[row] < numbers[last]
                ]
            rows.sort(key=numbers.__getitem__)
        turns = 0
        for place, row in enumerate(rows, 1):
            position[row] = place
            if is_turn[row]:
                turns += 1
                turn[row] = turns
    position, turn = (np.array(places, dtype=np.int64) for places in (position, turn))
    return position, turn, problems


def _rows_back_in_time(
    position: np.ndarray,
    seconds: np.ndarray,
    is_message: np.ndarray,
    conversations: Sequence[str | None],
    number_of: Mapping[str, int],
) -> list[int]:
    """Rows of messages that were written before the message before them, of those whose time is known."""
    indices = np.flatnonzero(is_message & np.isfinite(seconds))
    numbers = np.array([number_of[conversations[index]] for index in indices.tolist()], dtype=int)
    order = np.lexsort((position[indices], numbers))
    is_same_conversation = np.diff(numbers[order]) == 0
    in_order = indices[order]
    goes_back = is_same_conversation & (np.diff(seconds[in_order]) < 0)
    return sorted((in_order[1:][goes_back] + 2).tolist())


def _report_rows(
    table: Table,
    identifiers: Sequence[str | None],
    conversations: Sequence[str | None],
    roles: Sequence[str | None],
    repeats: set[int],
) -> None:
    """Report messages of no conversation, unknown roles, and texts that a program may have cut."""
    for row in np.flatnonzero(table.is_filled).tolist():
        if conversations[row] is None and row not in repeats:
            table.add("orphan", "TaskId", [row + 2], identifiers[row] or "(blank)")
        if roles[row] not in KNOWN_ROLES:
            role = roles[row]
            if role is None:
                role = "(blank)"
            table.add("unknown-role", "Role", [row + 2], role)
    for official in ("Content", "Comment"):
        cells = enumerate(table.cells(official), 2)
        cut_rows = [row for row, cell in cells if isinstance(cell, str) and may_be_cut(cell)]
        table.add("cut-text", official, cut_rows, longest=f"{LONGEST_TEXT:,}")


def _report_ratings_elsewhere(table: Table, ratings: Mapping, is_elsewhere: np.ndarray) -> None:
    """Report ratings of messages that are no turn of the assistant: of several columns in one warning, by their rows.

    One wrong Role concerns every rating of its row.
    """
    rows_of = {}
    for column in table.columns:
        if column.scale:
            is_rated = np.isfinite(ratings[column.name][0])
            rows_of[column.official] = np.flatnonzero(is_elsewhere & is_rated) + 2
    columns = [official for official, rows in rows_of.items() if len(rows)]
    if len(columns) == 1:
        table.add("rating-elsewhere", columns[0], rows_of[columns[0]])
        return
    rows = np.concatenate(list(rows_of.values()))
    number = count_of(len(rows), "rating")
    words = {"ratings": number, "columns": ", ".join(columns)}
    table.add("rating-elsewhere/several", "", sorted(set(rows.tolist())), **words)


def _numbers(table: Table, official: str, lowest: float, consequence: str) -> np.ndarray:
    """A column of plain numbers; other cells are NaN, with a warning."""
    cells = table.cells(official)
    # Nearly all are numbers already; one by one only what is not.
    values = np.array([cell if type(cell) is float else np.nan for cell in cells], dtype=float)
    values[~(np.isfinite(values) & (values >= lowest))] = np.nan
    words = {"consequence": consequence, "from_lowest": ""}
    if np.isfinite(lowest):
        words["from_lowest"] = f" from {lowest:g} up"
    for index in np.flatnonzero(np.isnan(values)).tolist():
        number = as_number(cells[index], decimal_comma=True)
        if number is not None and number >= lowest:
            values[index] = number
        elif not is_blank(cells[index]):
            table.add("not-a-number", official, [index + 2], cells[index], **words)
    return values
