"""From files of other programs to conversations with ids of their own, and those as JSON Lines."""

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

from sense7.errors import UserError
from sense7.exchange.chatgpt import read_tree
from sense7.exchange.content import ASSISTANT, USER, Chat, whole_text
from sense7.exchange.messages import LISTS, read_list
from sense7.exchange.records import PlainText, records
from sense7.exchange.transcript import read_transcript
from sense7.files import not_written, replacing
from sense7.terminal import count_of
from sense7.workbook.ids import as_name

LIST = "list of messages"


@dataclass
class ImportSummary:
    """What was brought in, and what was left out of it by name: counted while conversations are read."""

    formats: dict[str, dict[str, None]] = field(default_factory=dict)
    conversations: int = 0
    messages: int = 0
    turns: int = 0
    left_out: Counter = field(default_factory=Counter)
    without_model: int = 0

    def lines(self) -> list[str]:
        """Give the summary, line by line.

        Examples
        --------
        >>> ImportSummary({"a.txt": {"plain text": None}}, 1, 2, 1, Counter({"image": 1})).lines()
        ['a.txt: plain text', '1 conversation, 2 messages, 1 of them by the assistant', 'left out: image (1)']
        """
        counts = [f"{name} ({number:,})" for name, number in sorted(self.left_out.items())]
        left_out = ", ".join(counts) or "nothing"
        conversations = count_of(self.conversations, "conversation")
        messages = count_of(self.messages, "message")
        lines = [f"{file}: {', '.join(names)}" for file, names in self.formats.items()]
        lines.append(f"{conversations}, {messages}, {self.turns:,} of them by the assistant")
        lines.append(f"left out: {left_out}")
        if self.without_model:
            conversations = count_of(self.without_model, "conversation")
            lines.append(
                f"no model is named, so no condition is known: {conversations} (give --condition)"
            )
        return lines

    def add(self, chat: Chat) -> None:
        """Count a conversation that is brought in."""
        self.conversations += 1
        self.messages += len(chat.messages)
        self.turns += sum(message.role == ASSISTANT for message in chat.messages)
        self.without_model += chat.condition is None


class _Histories:
    """What the lists of messages of a file begin with, to notice a log with a line for each call of an API.

    An only question with its answer says nothing: people often begin with the same greeting.
    """

    def __init__(self):
        self.wholes = {}
        self.beginnings = {}

    def add(self, chat: Chat, where: str) -> None:
        """Refuse a conversation that goes on from another of the file, or is the beginning of another."""
        history, questions = 0, 0
        other = None
        for number, message in enumerate(chat.messages, 1):
            history = hash((history, message.role, message.text))
            questions += message.role == USER
            if message.role != USER and questions < 2:
                continue
            if number < len(chat.messages):
                other = other or self.wholes.get(history)
                self.beginnings[history] = where
            else:
                other = other or self.beginnings.get(history)
                self.wholes[history] = where
        if other:
            raise UserError(
                f"{where}: one conversation with {other}: one of the two has all messages of the other, and more. In a "
                "log with a line for each call of an API, keep the last line of each conversation. If they are two "
                "conversations that begin alike, import them from two files."
            )


def read_record(record: object, where: str) -> tuple[str, Chat]:
    """Name of a record's format, and its conversation; a UserError says which key can't be read."""
    if isinstance(record, PlainText):
        return "plain text", read_transcript(record, where)
    if isinstance(record, list):
        record = {"messages": record}
    if isinstance(record, dict) and "mapping" in record:
        return "ChatGPT's data export", read_tree(record, where)
    if isinstance(record, dict) and not record.keys().isdisjoint(LISTS):
        return LIST, read_list(record, where)
    keys = list(record)[:6] if isinstance(record, dict) else ["none"]
    raise UserError(
        f"{where}: no conversation (keys: {', '.join(keys)}). Expected messages or contents (a list of "
        "messages), or mapping (ChatGPT's data export). Turn another format into a list of messages first."
    )


def read_chats(
    paths: Iterable[str | Path],
    *,
    participant: str | None = None,
    condition: str | None = None,
    new_ids: bool = False,
    summary: ImportSummary | None = None,
) -> Iterator[Chat]:
    """Read the conversations of files, one after another, each with an id that no other has.

    What is given as participant or condition holds for all of them. Ids are read as in a workbook; without one,
    a conversation is named after its file and its number there, and ``new_ids`` numbers all. A UserError names record
    and key of what can't be read: then the whole file is refused.
    """
    if summary is None:
        summary = ImportSummary()
    facts = {}
    for name, value in (("participant", participant), ("condition", condition)):
        if value is not None:
            facts[name] = whole_text(value, f"--{name}")
    place_of = {}
    where = "no file"
    for path in map(Path, paths):
        formats = summary.formats.setdefault(path.name, {})
        histories = _Histories()
        where = str(path)
        for number, (position, record) in enumerate(records(path), 1):
            where = str(path)
            if position:
                where += f": {position}"
            format_name, chat = read_record(record, where)
            formats[format_name] = None
            summary.left_out.update(chat.left_out)
            if not chat.messages:
                summary.left_out["conversation without any message"] += 1
                continue
            if format_name == LIST:
                histories.add(chat, where)
            name = as_name(chat.id) or f"{path.stem}-{number}"
            key = (path, name) if new_ids else name
            if key in place_of:
                raise UserError(
                    f"{where}: the id {name[:60]!r} is also that of {place_of[key]}. In a log with a line for each "
                    "call of an API, keep the last line of each conversation; else give each conversation an id of its "
                    "own, or those of several files --new-ids."
                )
            place_of[key] = where
            if new_ids:
                name = f"c{summary.conversations + 1}"
            chat = replace(chat, id=whole_text(name, f"{where}: id"), **facts)
            summary.add(chat)
            yield chat
    if not summary.conversations:
        raise UserError(f"{where}: no conversation with a message was found. Nothing was written.")


def write_chats(chats: Iterable[Chat], path: Path, *, replace: bool = False) -> None:
    """Write conversations as JSON Lines in UTF-8, one per line; the file is whole or not there."""
    try:
        with (
            replacing(path, replace=replace) as part,
            part.open("w", encoding="utf-8", newline="\n") as stream,
        ):
            stream.writelines(
                json.dumps(chat.to_dict(), ensure_ascii=False) + "\n" for chat in chats
            )
    except OSError as error:
        raise UserError(not_written(path, error)) from None
