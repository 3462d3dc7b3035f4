"""The pass over sheet Messages: one row per message, one row per assistant turn, and their order."""

import math
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import compress, pairwise

import numpy as np

from sense7.taxonomy import RATING_NAMES
from sense7.workbook.conversations import Columns
from sense7.workbook.ids import as_number, as_texts, is_blank
from sense7.workbook.repeats import report_repeated_messages
from sense7.workbook.table import KNOWN_ROLES, Table
from sense7.workbook.xlsx import LONGEST_TEXT, may_be_cut


@dataclass(frozen=True)
class Order:
    """The order of messages: places are those of rows in the sheet, counted from 0.

    ``position`` and ``turn`` are counted from 1 within the conversation, 0 for what has none.
    """

    position: np.ndarray
    turn: np.ndarray
    conversations: set[str]  # those that have a message
    problems: Mapping[str, Sequence[int]] = field(default_factory=dict)  # diagnostic -> places


def read_messages(
    table: Table, ratings: Mapping, tasks: Table, conversations: Columns
) -> tuple[Columns, Columns]:
    """Messages of known conversations, and the assistant's turns among them, in the order of the rows."""
    # The conversation of each message, as Tasks spells it.
    number_of = {name: number for number, name in enumerate(conversations["conversation"])}
    identifiers = table.names("TaskId", set(number_of), "conversation")
    matched = [name if name in number_of else None for name in identifiers]
    in_file = "the rows' order in the file stands in for it."
    message_id = _numbers(table, "MessageId", -np.inf, in_file)
    seconds = _numbers(table, "TimeOffsetSeconds", 0, "counted as not known.")
    roles = as_texts(table.cells("Role"))
    again = report_repeated_messages(table, matched, message_id, ratings)
    joined = {matched[place] for place in again}
    matched = [None if place in again else name for place, name in enumerate(matched)]
    is_known = np.array([name is not None for name in matched], dtype=bool)
    is_turn = is_known & np.array([role == "assistant" for role in roles], dtype=bool)
    _report_rows(table, identifiers, matched, roles, again)
    _report_ratings_elsewhere(table, ratings, is_known & ~is_turn)

    numbers = [None if math.isnan(number) else number for number in message_id.tolist()]
    order = order_of(matched, table.cells("MessageId"), numbers, is_turn, joined)
    if "MessageId" in table.positions:
        for entry, places in order.problems.items():
            table.add(entry, "MessageId", [place + 2 for place in sorted(places)])

    index, kept = np.flatnonzero(is_known), is_known.tolist()
    messages: Columns = {
        "conversation": list(compress(matched, kept)),
        "position": order.position[index],
        "message_id": message_id[index],
        "seconds": seconds[index],
        "role": list(compress(roles, kept)),
        "content": list(compress(as_texts(table.cells("Content")), kept)),
        "retry": list(compress(table.cells("Retry"), kept)),
        "comment": list(compress(as_texts(table.cells("Comment")), kept)),
        "row": index + 2,
    }
    places = np.flatnonzero(is_turn)
    of_turn = [number_of[matched[place]] for place in places.tolist()]
    turns: Columns = {}
    for name in ("conversation", "participant", "condition"):
        turns[name] = [conversations[name][number] for number in of_turn]
    turns["turn"] = order.turn[places]
    turns["position"] = order.position[places]
    turns["seconds"] = seconds[places]
    turns["row"] = places + 2
    for name in RATING_NAMES:
        turns[name] = ratings[name][0][places]
    for name in RATING_NAMES:
        turns[f"{name}_state"] = ratings[name][1][places]
    if not any(np.isfinite(turns[name]).any() for name in RATING_NAMES):
        table.add("no-rating")
    is_silent = [name not in order.conversations for name in conversations["conversation"]]
    tasks.add("no-message", "TaskId", conversations["row"][is_silent])
    return messages, turns


def order_of(
    conversations: Sequence[str | None],
    cells: Sequence[object],
    numbers: Sequence[float | None],
    is_turn: np.ndarray,
    joined: set[str],
) -> Order:
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

    Examples
    --------
    >>> numbers, is_turn = [2.0, 1.0, None], np.array([True, False, True])
    >>> order = order_of(["a", "a", "b"], numbers, numbers, is_turn, set())
    >>> order.position.tolist(), order.turn.tolist()
    ([2, 1, 1], [1, 0, 1])
    >>> order.problems
    {'repeated-message-id': [], 'unordered-message-id': [1], 'missing-message-id': [2]}
    """
    places_of: dict[str, list[int]] = defaultdict(list)
    for place, name in enumerate(conversations):
        if name is not None:
            places_of[name].append(place)
    position = np.zeros(len(conversations), dtype=np.int64)
    turn = np.zeros(len(conversations), dtype=np.int64)
    problems: dict[str, list[int]] = {
        "repeated-message-id": [],
        "unordered-message-id": [],
        "missing-message-id": [],
    }
    for name, places in places_of.items():
        own_numbers = [numbers[place] for place in places]
        is_repeated = len(set(own_numbers)) < len(own_numbers)
        counts = Counter(own_numbers) if is_repeated else {}
        repeated = [
            place
            for place in places
            if numbers[place] is not None and counts.get(numbers[place], 1) > 1
        ]
        problems["repeated-message-id"] += repeated
        if None in own_numbers:
            problems["missing-message-id"] += [place for place in places if is_blank(cells[place])]
        elif not repeated:
            if name not in joined:
                problems["unordered-message-id"] += [
                    place for last, place in pairwise(places) if numbers[place] < numbers[last]
                ]
            places.sort(key=numbers.__getitem__)
        position[places] = np.arange(1, len(places) + 1)
        replies = [place for place in places if is_turn[place]]
        turn[replies] = np.arange(1, len(replies) + 1)
    return Order(position, turn, set(places_of), problems)


def _report_rows(
    table: Table,
    identifiers: Sequence[str | None],
    matched: Sequence[str | None],
    roles: Sequence[str | None],
    again: set[int],
) -> None:
    """Report messages of no conversation, unknown roles, and texts that a program may have cut."""
    for place, is_filled in enumerate(table.filled):
        if not is_filled:
            continue
        if matched[place] is None and place not in again:
            table.add("orphan", "TaskId", [place + 2], identifiers[place] or "(blank)")
        role = roles[place]
        if role not in KNOWN_ROLES:
            table.add("unknown-role", "Role", [place + 2], "(blank)" if role is None else role)
    for official in ("Content", "Comment"):
        cut = [
            row
            for row, cell in enumerate(table.cells(official), 2)
            if isinstance(cell, str) and may_be_cut(cell)
        ]
        table.add("cut-text", official, cut, longest=f"{LONGEST_TEXT:,}")


def _report_ratings_elsewhere(table: Table, ratings: Mapping, is_elsewhere: np.ndarray) -> None:
    """Report ratings of messages that are no turn of the assistant."""
    for column in table.columns:
        if column.scale:
            levels, _ = ratings[column.name]
            rows = np.flatnonzero(is_elsewhere & np.isfinite(levels)) + 2
            table.add("rating-elsewhere", column.official, rows)


def _numbers(table: Table, official: str, lowest: float, consequence: str) -> np.ndarray:
    """A column of plain numbers; other cells are NaN, with a warning."""
    cells = table.cells(official)
    # Nearly all are numbers already; one by one only what is not.
    values = np.array([cell if type(cell) is float else np.nan for cell in cells], dtype=float)
    values[~(np.isfinite(values) & (values >= lowest))] = np.nan
    from_lowest = f" from {lowest:g} up" if np.isfinite(lowest) else ""
    words = {"consequence": consequence, "from_lowest": from_lowest}
    for index in np.flatnonzero(np.isnan(values)).tolist():
        number = as_number(cells[index], decimal_comma=True)
        if number is not None and number >= lowest:
            values[index] = number
        elif not is_blank(cells[index]):
            table.add("not-a-number", official, [index + 2], cells[index], **words)
    return values
