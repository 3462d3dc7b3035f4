"""Conversations and their ratings joined, row by row: what does not join is listed, and nothing is guessed.

People may rate conversations of others, and several the same one. Then each conversation stands once for each of them,
under an id that ends with their name, since a workbook has one participant for a conversation.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from sense7.errors import UserError
from sense7.exchange.chats import ASSISTANT, Chat
from sense7.exchange.rating_tables import KEYS, OF_TASKS, TURN, RatingTable
from sense7.terminal import count_of
from sense7.workbook.values import as_name, as_number, as_text, is_blank

__all__ = ["Joined", "Rated", "join_ratings", "row_ranges"]


@dataclass
class Rated:
    """A conversation with the ratings of one person.

    Attributes
    ----------
    chat : Chat
        What was said.
    task : dict
        Column of sheet Tasks -> cell.
    ratings : dict
        Number of a message, from 1, -> column of sheet Messages -> cell.
    rows : dict
        Number of a message, or a column of ``task``, -> row of the table it comes from.
    """

    chat: Chat
    task: dict
    ratings: dict[int, dict] = field(default_factory=dict)
    rows: dict[int | str, int] = field(default_factory=dict)


@dataclass
class Joined:
    """All conversations with their ratings, in the order of the conversations.

    Attributes
    ----------
    rated : list of Rated
        One for each conversation and person who rated it; one without ratings if nobody did.
    remarks : list of str
        What did not join, by row.
    has_ratings : bool
        Whether there was a table of ratings.
    """

    rated: list[Rated]
    remarks: list[str] = field(default_factory=list)
    has_ratings: bool = False

    def lines(self) -> list[str]:
        """Give what was joined, in a line; nothing where there was no table."""
        if not self.has_ratings:
            return []
        turns = sum(len(one.ratings) for one in self.rated)
        without = sum(not one.ratings for one in self.rated)
        lines = [f"ratings of {count_of(turns, 'turn')} joined"]
        others = sum(one.chat.participant not in (None, as_name(one.task["PID"])) for one in self.rated)
        if others:
            lines.append(f"{count_of(others, 'conversation')} rated by others than their participant: PID is who rated")
        return lines + ([f"{count_of(without, 'conversation')} without a rating"] if without else [])


def row_ranges(rows: Sequence[int]) -> str:
    """Rows in words, consecutive ones as a range.

    Examples
    --------
    >>> row_ranges([7]), row_ranges([2, 3, 4, 9])
    ('row 7', 'rows 2-4, 9')
    """
    ranges: list[list[int]] = []
    for row in sorted(rows):
        if ranges and row == ranges[-1][1] + 1:
            ranges[-1][1] = row
        else:
            ranges.append([row, row])
    named = ", ".join(f"{first}-{last}" if last > first else f"{first}" for first, last in ranges)
    return f"row{'s' if len(rows) > 1 else ''} {named}"


def join_ratings(chats: Sequence[Chat], table: RatingTable | None = None) -> Joined:
    """Join ratings to the turns that they rate.

    Parameters
    ----------
    chats : sequence of Chat
        With distinct ids.
    table : RatingTable, optional
        The ratings.

    Returns
    -------
    Joined
        A row joins if its conversation is among ``chats``, and every column that names the turn (number of the turn,
        number of the message, text) names the same message of the assistant.

    Raises
    ------
    UserError
        If no row joins, two rows rate the same turn for the same person, or rows of one conversation differ in what
        is the same for all of it.
    """
    by_id = {chat.id: chat for chat in chats}
    people: dict[str, dict[str | None, Rated]] = defaultdict(dict)
    failures: dict[str, list[tuple[int, str]]] = defaultdict(list)
    for number, row in enumerate(table.rows if table else [], 2):
        filled = table.filled(row)
        if not filled:
            failures["no answer in them, passed over"].append((number, ""))
            continue
        name = as_name(row["TaskId"])
        chat = by_id.get(name)
        if chat is None:
            failures["not joined: no conversation has this id"].append((number, name or "(blank)"))
            continue
        message, problem = _message_of(chat, row)
        if problem:
            failures[f"not joined: {problem}"].append((number, name))
            continue
        rater = as_name(row.get("PID"))
        one = people[name].setdefault(rater, Rated(chat, _task(chat)))
        _add(one, message, filled, row, number, table)
    if table and not people:
        raise UserError(
            "\n".join([f"{table.path}: not one row joins. Nothing was written.", *_remarks(table, failures)])
        )
    rated = [one for chat in chats for one in _named(chat, people.get(chat.id, {}))]
    _require_distinct(rated)
    return Joined(rated, _remarks(table, failures) if table else [], table is not None)


def _task(chat: Chat) -> dict:
    return {"PID": chat.participant, "Model": chat.condition, "TaskId": chat.id, "PreTaskChoice": chat.topic}


def _message_of(chat: Chat, row: Mapping) -> tuple[int, str]:
    """Number of the message that a row rates, from 1; or why it rates none."""
    turns = [number for number, one in enumerate(chat.messages, 1) if one.role == ASSISTANT]
    named: dict[str, int] = {}
    for key in KEYS:
        cell = row.get(key)
        if is_blank(cell):
            continue
        if key == "Content":
            said = " ".join(as_text(cell).split())
            alike = [turn for turn in turns if " ".join(chat.messages[turn - 1].text.split()) == said]
            if len(alike) != 1:
                return 0, "no turn of the conversation has this text" if not alike else "several turns have this text"
            named[key] = alike[0]
            continue
        place = as_number(cell)
        if key == TURN and place in range(1, len(turns) + 1):
            named[key] = turns[int(place) - 1]
        elif key == "MessageId" and place in turns:
            named[key] = int(place)
        else:
            return 0, "no such turn" if key == TURN else "this message is none of the assistant's"
    if not named:
        return 0, "nothing says which turn"
    return (
        (0, f"{' and '.join(named)} name different turns")
        if len(set(named.values())) > 1
        else (
            next(iter(named.values())),
            "",
        )
    )


def _add(one: Rated, message: int, filled: Mapping, row: Mapping, number: int, table: RatingTable) -> None:
    """Add a row to the ratings of its conversation and person."""
    if message in one.ratings:
        raise UserError(
            f"{table.path}: rows {one.rows[message]} and {number} rate the same turn of {one.chat.id!r}. Remove one; "
            "if two people rated it, name the column that says who: --column PID=COLUMN."
        )
    one.ratings[message], one.rows[message] = dict(filled), number
    for name in OF_TASKS:
        cell = row.get(name)
        if is_blank(cell):
            continue
        if name in one.rows and one.task[name] != cell:
            raise UserError(
                f"{table.path}: rows {one.rows[name]} and {number}: {name} is {one.task[name]!r:.40} and {cell!r:.40} "
                f"in the same conversation, {one.chat.id!r}. Correct one of them, or leave this column out."
            )
        one.task[name] = cell
        one.rows.setdefault(name, number)


def _named(chat: Chat, people: Mapping[str | None, Rated]) -> list[Rated]:
    """The conversation for each person; with several, under an id of its own for each."""
    if not people:
        return [Rated(chat, _task(chat))]
    for rater, one in people.items() if len(people) > 1 else ():
        one.task["TaskId"] = f"{chat.id}-{rater or chat.participant or 'unnamed'}"
    return list(people.values())


def _require_distinct(rated: Sequence[Rated]) -> None:
    seen: dict[str, str] = {}
    for one in rated:
        name = one.task["TaskId"]
        if name in seen:
            raise UserError(
                f"the conversations {seen[name]!r} and {one.chat.id!r} would both have the TaskId {name!r}, since "
                "several people rated one of them. Give --new-ids, or other ids."
            )
        seen[name] = one.chat.id


def _remarks(table: RatingTable, failures: Mapping[str, list[tuple[int, str]]]) -> list[str]:
    remarks = []
    for reason, places in failures.items():
        values = list(dict.fromkeys(value for _, value in places if value))
        shown = f" ({', '.join(map(repr, values[:5]))}{' ...' if len(values) > 5 else ''})" if values else ""
        remarks.append(f"{table.path}: {row_ranges([row for row, _ in places])}: {reason}{shown}")
    if table.unused:
        remarks.append(f"{table.path}: columns that are not used: {', '.join(table.unused)}")
    return remarks
