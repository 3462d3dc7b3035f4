"""From files of other programs to conversations with ids of their own, and those as JSON Lines."""

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from sense7.errors import UserError
from sense7.exchange.chats import ASSISTANT, Chat
from sense7.exchange.readers import Transcript, recognize
from sense7.exchange.records import records
from sense7.files import not_written, replacing
from sense7.terminal import count_of
from sense7.workbook.ids import as_name

__all__ = ["ImportSummary", "read_chats", "write_chats"]

_LONE_SURROGATE = re.compile("[\ud800-\udfff]")
_NAMED = 5
"""Conversations of a file that are named when they can't be read; further ones are counted."""

_LINES_BETWEEN = 10_000
"""Conversations after which progress is reported."""


@dataclass
class ImportSummary:
    """What was brought in, and what was left out of it by kind: counted while conversations are read."""

    formats: dict[str, dict[str, None]] = field(default_factory=dict)
    conversations: int = 0
    messages: int = 0
    turns: int = 0
    omitted: Counter = field(default_factory=Counter)
    empty: list[str] = field(default_factory=list)
    unanswered: list[str] = field(default_factory=list)
    unread: int = 0
    without_model: int = 0
    remarks: list[str] = field(default_factory=list)

    def add(self, chat: Chat) -> None:
        """Count a conversation."""
        self.conversations += 1
        self.messages += len(chat.messages)
        turns = sum(one.role == ASSISTANT for one in chat.messages)
        self.turns += turns
        self.unanswered += [] if turns else [chat.id]
        self.without_model += chat.condition is None
        self.omitted.update(one.what for one in chat.omitted)

    def lines(self) -> list[str]:
        """Give the summary, line by line.

        Examples
        --------
        >>> ImportSummary({"a.json": {"ShareGPT": None}}, 1, 2, 1, Counter({"image": 1})).lines()
        ['a.json: ShareGPT', '1 conversation, 2 messages, 1 of them by the assistant', 'left out: 1 image']
        """
        lines = [f"{file}: {', '.join(names)}" for file, names in self.formats.items()]
        lines.append(
            f"{count_of(self.conversations, 'conversation')}, {count_of(self.messages, 'message')}, "
            f"{self.turns:,} of them by the assistant"
        )
        counts = [count_of(number, what, _plural(what)) for what, number in sorted(self.omitted.items())]
        counts += [count_of(self.unread, "conversation") + " that can't be read"] if self.unread else []
        counts += [count_of(len(self.empty), "conversation") + " without any message"] if self.empty else []
        lines.append(f"left out: {', '.join(counts) or 'nothing'}")
        if self.without_model:
            lines.append(
                f"no model is named, so no condition is known: {count_of(self.without_model, 'conversation')} (give "
                "--condition)"
            )
        if self.unanswered:
            lines.append(f"without a message of the assistant, so nothing to rate: {_some(self.unanswered)}")
        if self.empty:
            lines.append(f"without any message: {_some(self.empty)}")
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
    """Read the conversations of files, one after another, each with an id that no other has.

    What is given as participant, condition or topic holds for all of them. Ids are read as in a workbook; without one,
    a conversation is named after its file and its number there, and ``new_ids`` numbers all. A conversation that can't
    be read, or without any message, is left out, and named in the summary. A UserError says so if a file can't be read,
    none of its conversations can, or two have one id.
    """
    summary = ImportSummary() if summary is None else summary
    given = {"participant": participant, "condition": condition, "topic": topic}
    given = {key: value for key, value in given.items() if value is not None}
    seen: dict[str, str] = {}
    for path in map(Path, paths):
        formats = summary.formats.setdefault(path.name, {})
        number, unread, problems = 0, 0, []
        for place, record in records(path):
            where = f"{path}: {place}" if place else str(path)
            number += 1
            try:
                if isinstance(record, UserError):
                    raise record
                if isinstance(record, Transcript):
                    record.speakers = speakers or {}
                kind = recognize(record)
                chat = kind.read(record)
                if isinstance(record, Transcript):
                    summary.remarks += [f"{where}: {remark}." for remark in record.remarks]
                name = f"c{summary.conversations + 1}" if new_ids else as_name(chat.id) or f"{path.stem}-{number}"
                named = replace(chat, id=name, **given)
                _require_characters(named)
            except (ValueError, RecursionError, UserError) as error:
                text = "nested too deeply to be a conversation" if isinstance(error, RecursionError) else str(error)
                unread += 1
                if unread <= _NAMED:
                    problems.append(text if isinstance(error, UserError) else f"{where}: {text}.")
                continue
            formats[kind.name] = None
            if not chat.messages:
                summary.empty.append(where)
                continue
            if name in seen:
                raise UserError(
                    f"{where}: the id {name[:60]!r} is also that of {seen[name]}. Remove one of the two conversations, "
                    "or give --new-ids to number all of them."
                )
            seen[name] = where
            summary.add(named)
            if summary.conversations % _LINES_BETWEEN == 0:
                say(f"{summary.conversations:,} conversations read")
            yield named
        if unread and unread == number:
            raise UserError(problems[0] + (f" None of {number:,} conversations can be read." if number > 1 else ""))
        summary.unread += unread
        summary.remarks += [f"{problem} This conversation is left out." for problem in problems]
        if unread > _NAMED:
            summary.remarks.append(f"{path}: {unread - _NAMED:,} further conversations can't be read and are left out.")


def _require_characters(chat: Chat) -> None:
    """Refuse half characters, which JSON can write and no file in UTF-8 can hold."""
    texts = [("id", chat.id), ("participant", chat.participant), ("condition", chat.condition)]
    texts += [("topic", chat.topic), ("title", chat.title)]
    texts += [(f"message {number}", one.text) for number, one in enumerate(chat.messages, 1)]
    texts += [(one.what, one.text) for one in chat.omitted]
    for what, text in texts:
        if text and (match := _LONE_SURROGATE.search(text)):
            raise ValueError(
                f"{what}: character {match.start() + 1} is half of a surrogate pair "
                f"(\\u{ord(match[0]):04x}), which is no character. Correct it, or export the file again"
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
