"""Rows that hold again what an earlier row holds, as where exports that overlap are put one below the other."""

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence

import numpy as np

from sense7.study import ABSENT, STATES
from sense7.workbook.ids import is_blank

_ABSENT_CODE = STATES.index(ABSENT)


def rows_by_name(names: Iterable[str | None]) -> dict[str, list[int]]:
    """Name -> its rows, from 0."""
    rows = defaultdict(list)
    for number, name in enumerate(names):
        if name is not None:
            rows[name].append(number)
    return rows


def _repeats_part_of(part: Sequence, row: Sequence) -> bool:
    """Whether each cell of ``part`` is blank, or is the cell of ``row`` in the same column."""
    return all(is_blank(cell) or cell == other for cell, other in zip(part, row, strict=True))


def report_repeated_conversations(tasks, names: list[str | None]) -> set[int]:
    """Rows of Tasks, from 0, that repeat another row of their TaskId, or a part of it; they are reported.

    Where two rows of a TaskId differ, neither is left out: they are an error.
    """
    rows = tasks.sheet.rows
    repeats = set()
    for numbers in rows_by_name(names).values():
        if len(numbers) == 1:
            continue
        filled_cells = {
            number: sum(not is_blank(cell) for cell in rows[number]) for number in numbers
        }
        fullest = max(filled_cells, key=filled_cells.get)
        further = [number for number in numbers if number != fullest]
        if all(_repeats_part_of(rows[number], rows[fullest]) for number in further):
            repeats.update(further)
    tasks.add("doubled-row/conversation", "TaskId", [number + 2 for number in sorted(repeats)])
    return repeats


class _Messages:
    """Rows of Messages as what was said, and how it was rated."""

    def __init__(self, table, message_id: np.ndarray, ratings: Mapping):
        self.rows, self.message_id = table.sheet.rows, message_id.tolist()
        self.roles, self.content = table.cells("Role"), table.cells("Content")
        self._positions = list(range(len(table.sheet.header)))
        if "MessageId" in table.positions:
            self._positions.remove(table.positions["MessageId"])
        self._ratings = list(ratings.values())

    def cells(self, number: int) -> tuple:
        """All of a row but its MessageId."""
        row = self.rows[number]
        return tuple(row[position] for position in self._positions)

    def said(self, number: int) -> tuple:
        """Role and text; all of the row where there is no text by which a message could be known again."""
        content = self.content[number]
        if is_blank(content):
            return self.roles[number], self.cells(number)
        return self.roles[number], content

    def answers(self, number: int) -> list[tuple[int, float] | None]:
        """State and level of each rating of a row, None where there is none."""
        answers = []
        for levels, states in self._ratings:
            state, level = int(states[number]), float(levels[number])
            if state == _ABSENT_CODE:
                answers.append(None)
            elif math.isnan(level):
                answers.append((state, 0.0))
            else:
                answers.append((state, level))
        return answers

    def is_rated_turn(self, number: int) -> bool:
        """Whether a row is an answer of the assistant with a rating."""
        return self.roles[number] == "assistant" and any(self.answers(number))

    def contradict(self, number: int, other: int) -> bool:
        """Whether two rows give one question different answers."""
        pairs = zip(self.answers(number), self.answers(other), strict=True)
        return any(ours and theirs and ours != theirs for ours, theirs in pairs)

    def fullness(self, number: int) -> tuple[int, int]:
        """Number of ratings and of cells of a row."""
        ratings = sum(map(bool, self.answers(number)))
        return ratings, sum(not is_blank(cell) for cell in self.cells(number))


def report_repeated_messages(
    table, names: list[str | None], message_id: np.ndarray, ratings: Mapping
) -> set[int]:
    """Rows of Messages, from 0, whose message stands in another row as well; they are reported, and left out.

    Rows of a conversation are one message if they have one MessageId, role and text, where MessageIds name messages. A
    run of rows that stands apart from an earlier run of its conversation and has the same rows is a repeat, too, where
    they do not. The fullest row of a message is kept. Where its rows rate it differently, it is an error: which holds,
    nobody knows. Rated turns that are alike, and may yet have been said and rated twice, are counted, with a warning.
    """
    messages = _Messages(table, message_id, ratings)
    repeats = set()
    contradicting = set()
    similar_turns = []
    for numbers in rows_by_name(names).values():
        texts = {(messages.roles[number], messages.content[number]) for number in numbers}
        if len(texts) == len(numbers):
            continue  # nothing was said twice
        groups = _same_messages(messages, numbers) or _repeated_runs(messages, numbers)
        for group in groups:
            fullest = max(group, key=messages.fullness)  # of equal ones the first
            if any(messages.contradict(fullest, number) for number in group):
                contradicting.update(group)
            repeats.update(number for number in group if number != fullest)
        distinct = [number for number in numbers if number not in repeats]
        similar_turns += _turns_alike(messages, distinct)
    table.add("rated-again", "", [number + 2 for number in sorted(contradicting)])
    table.add("doubled-row", "", [number + 2 for number in sorted(repeats - contradicting)])
    table.add("doubled-turn", "", [number + 2 for number in sorted(similar_turns)])
    return repeats


def _same_messages(messages: _Messages, numbers: list[int]) -> list[list[int]]:
    """Rows of a conversation by MessageId, those that several have; none where rows of one MessageId say two things."""
    groups = defaultdict(list)
    for number in numbers:
        groups[messages.message_id[number]].append(number)
    if any(map(math.isnan, groups)):
        return []
    several = [group for group in groups.values() if len(group) > 1]
    for group in several:
        if len(set(map(messages.said, group))) > 1:
            return []
    return several


def _repeated_runs(messages: _Messages, numbers: list[int]) -> list[list[int]]:
    """Rows of a conversation with the row that repeats each, where a run of rows stands again further down."""
    if _have_own_ids(messages, numbers):
        return []
    runs = []
    for number in numbers:
        if runs and number == runs[-1][-1] + 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    groups = {number: [number] for number in runs[0]}
    for run in runs[1:]:
        pairs = _in_order(run, list(groups), messages.cells)
        if not pairs and len(run) > 1:  # all that was said, rated otherwise
            roles = {messages.roles[number] for number in run}
            earlier = [number for number in groups if messages.roles[number] in roles]
            if len(run) == len(earlier):
                pairs = _in_order(run, earlier, messages.said)
        # Short runs, as of conversations that take turns in a file, repeat what was really said again.
        if pairs and any(map(messages.is_rated_turn, run)):
            for number, earlier in pairs.items():
                groups[earlier].append(number)
        else:
            groups.update({number: [number] for number in run})
    return [group for group in groups.values() if len(group) > 1]


def _have_own_ids(messages: _Messages, numbers: list[int]) -> bool:
    """Whether each of these rows has a MessageId that no other of them has."""
    identifiers = [messages.message_id[number] for number in numbers]
    if any(map(math.isnan, identifiers)):
        return False
    return len(set(identifiers)) == len(identifiers)


def _in_order(
    run: list[int], earlier: list[int], content_of: Callable[[int], tuple]
) -> dict[int, int]:
    """Each row of a run with the earlier row of equal content, in their order; empty if one has none."""
    pairs = {}
    candidates = iter(earlier)
    for number in run:
        for candidate in candidates:  # goes on below the row that was found last
            if content_of(candidate) == content_of(number):
                pairs[number] = candidate
                break
        else:
            return {}
    return pairs


def _turns_alike(messages: _Messages, numbers: list[int]) -> list[int]:
    """Rated turns that are alike an earlier one of their conversation in all but MessageId.

    Where each has a MessageId of its own, only where the whole conversation stands there again.
    """
    turns = [number for number in numbers if messages.is_rated_turn(number)]
    if _have_own_ids(messages, numbers):
        cells = list(map(messages.cells, numbers))
        copies = 1
        for count in (3, 2):
            if cells == cells[: len(cells) // count] * count:
                copies = count
        first_copy = turns[: len(turns) // copies]
        if len(set(map(messages.cells, first_copy))) > 1:
            return turns[len(first_copy) :]
        return []
    earlier_cells = set()
    alike = []
    for number in turns:
        if messages.cells(number) in earlier_cells:
            alike.append(number)
        earlier_cells.add(messages.cells(number))
    return alike
