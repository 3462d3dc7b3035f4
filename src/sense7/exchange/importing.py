"""From files of other programs to conversations with ids of their own, and those as JSON Lines."""

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from sense7.errors import UserError
from sense7.exchange.chats import ASSISTANT, Chat
from sense7.exchange.records import records
from sense7.exchange.registry import recognize
from sense7.exchange.transcripts import Transcript
from sense7.files import not_written, replacing
from sense7.terminal import count_of
from sense7.workbook.values import as_name

__all__ = ["ImportSummary", "read_chats", "write_chats"]

_LONE_SURROGATE = re.compile("[\ud800-\udfff]")
_LINES_BETWEEN = 10_000
"""Conversations after which progress is reported."""


@dataclass
class ImportSummary:
    """What was brought in, and what was left out of it: counted while conversations are read.

    Attributes
    ----------
    formats : dict
        File -> names of the formats that were recognized in it.
    conversations, messages, turns : int
        Numbers; a turn is a message of the assistant.
    omitted : Counter
        Kind -> number of parts that are no text of either side.
    empty : list of str
        Places of conversations without a message, which are left out.
    unanswered : list of str
        Ids of conversations without a message of the assistant, in which nothing can be rated.
    """

    formats: dict[str, dict[str, None]] = field(default_factory=dict)
    conversations: int = 0
    messages: int = 0
    turns: int = 0
    omitted: Counter = field(default_factory=Counter)
    empty: list[str] = field(default_factory=list)
    unanswered: list[str] = field(default_factory=list)

    def add(self, chat: Chat) -> None:
        """Count a conversation."""
        self.conversations += 1
        self.messages += len(chat.messages)
        turns = sum(one.role == ASSISTANT for one in chat.messages)
        self.turns += turns
        self.unanswered += [] if turns else [chat.id]
        self.omitted.update(one.what for one in chat.omitted)

    def lines(self) -> list[str]:
        """Give the summary, line by line.

        Examples
        --------
        >>> ImportSummary({"a.json": {"ShareGPT": None}}, 1, 2, 1, Counter({"image": 1})).lines()
        ['a.json: ShareGPT', '1 conversation, 2 messages, 1 of them by the assistant', 'not among the texts: 1 image']
        """
        lines = [f"{file}: {', '.join(names)}" for file, names in self.formats.items()]
        lines.append(
            f"{count_of(self.conversations, 'conversation')}, {count_of(self.messages, 'message')}, "
            f"{self.turns:,} of them by the assistant"
        )
        if self.omitted:
            named = ", ".join(count_of(number, what, _plural(what)) for what, number in sorted(self.omitted.items()))
            lines.append(f"not among the texts: {named}")
        if self.unanswered:
            lines.append(f"without a message of the assistant, so nothing to rate: {_some(self.unanswered)}")
        if self.empty:
            lines.append(f"without any message, left out: {_some(self.empty)}")
        return lines


def _some(names: list[str]) -> str:
    return ", ".join(names[:5]) + (f" and {len(names) - 5:,} more" if len(names) > 5 else "")


def _plural(what: str) -> str:
    """Plural of a kind of part.

    >>> _plural("message of another branch"), _plural("reasoning"), _plural("tool call")
    ('messages of another branch', 'reasoning', 'tool calls')
    """
    head, space, rest = what.partition(" of ")
    if what.startswith("message "):
        head, space, rest = "message", " ", what.removeprefix("message ")
    return what if head in ("audio", "reasoning", "content") else f"{head}s{space}{rest}"


def read_chats(
    paths: Iterable[str | Path],
    *,
    participant: str | None = None,
    condition: str | None = None,
    topic: str | None = None,
    new_ids: bool = False,
    speakers: Mapping[str, str] | None = None,
    summary: ImportSummary | None = None,
    say: Callable[[str], None] = lambda line: None,
) -> Iterator[Chat]:
    """Read the conversations of files, one after another.

    Parameters
    ----------
    paths : iterable of path
        Files of any format in :data:`sense7.exchange.registry.FORMATS`.
    participant, condition, topic : str, optional
        Of all conversations, in place of what the files say.
    new_ids : bool
        Whether conversations are numbered c1, c2 ... in place of the ids of the files.
    speakers : mapping, optional
        Further names in plain text -> "user" or "assistant".
    summary : ImportSummary, optional
        Counts what is read.
    say : callable
        Called with a line on the progress now and then.

    Yields
    ------
    Chat
        With an id that no other has. Ids are read as in a workbook (:func:`sense7.workbook.values.as_name`);
        a conversation without one is named after its file and its number there. One without any message is left out.

    Raises
    ------
    UserError
        If a file can't be read, its format is not known, something in it is not as the format has it, or two
        conversations have one id; names file and place.
    """
    summary = ImportSummary() if summary is None else summary
    given = {"participant": participant, "condition": condition, "topic": topic}
    given = {key: value for key, value in given.items() if value is not None}
    seen: dict[str, str] = {}
    for path in map(Path, paths):
        formats = summary.formats.setdefault(path.name, {})
        number = 0
        for place, chat in _of_file(path, speakers or {}, formats):
            number += 1
            if not chat.messages:
                summary.empty.append(place)
                continue
            name = f"c{summary.conversations + 1}" if new_ids else as_name(chat.id) or f"{path.stem}-{number}"
            if name in seen:
                raise UserError(
                    f"{place}: the id {name[:60]!r} is also that of {seen[name]}. Remove one of the two conversations, "
                    "or give --new-ids to number all of them."
                )
            seen[name] = place
            named = replace(chat, id=name, **given)
            _require_characters(named, place)
            summary.add(named)
            if summary.conversations % _LINES_BETWEEN == 0:
                say(f"{summary.conversations:,} conversations read")
            yield named


def _of_file(path: Path, speakers: Mapping[str, str], formats: dict[str, None]) -> Iterator[tuple[str, Chat]]:
    """Conversations of a file with their places in it."""
    for place, record in records(path):
        where = f"{path}: {place}" if place else str(path)
        if isinstance(record, Transcript):
            record.speakers = speakers
        try:
            kind = recognize(record)
            formats[kind.name] = None
            for chat in kind.read(record):
                yield where, chat
        except ValueError as error:
            raise UserError(f"{where}: {error}.") from None


def _require_characters(chat: Chat, place: str) -> None:
    """Refuse half characters, which JSON can write and no file in UTF-8 can hold."""
    texts = [("id", chat.id), ("participant", chat.participant), ("condition", chat.condition)]
    texts += [("topic", chat.topic), ("title", chat.title)]
    texts += [(f"message {number}", one.text) for number, one in enumerate(chat.messages, 1)]
    texts += [(one.what, one.text) for one in chat.omitted]
    for what, text in texts:
        if text and (match := _LONE_SURROGATE.search(text)):
            raise UserError(
                f"{place}: {what}: character {match.start() + 1} is half of a surrogate pair "
                f"(\\u{ord(match[0]):04x}), which is no character. Correct it, or export the file again."
            )


def write_chats(chats: Iterable[Chat], path: Path) -> None:
    """Write conversations as JSON Lines in UTF-8, one per line; the file is whole or not there.

    Raises
    ------
    UserError
        If it can't be written, or there is no conversation.
    """
    try:
        with replacing(path) as part, part.open("w", encoding="utf-8", newline="\n") as stream:
            some = False
            for chat in chats:
                some = True
                stream.write(json.dumps(chat.to_dict(), ensure_ascii=False) + "\n")
            if not some:
                raise UserError("no conversation with a message was found. Nothing was written.")
    except OSError as error:
        raise UserError(not_written(path, error)) from None
