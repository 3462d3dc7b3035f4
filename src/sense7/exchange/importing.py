"""From files of other programs to conversations with ids of their own, and those as JSON Lines."""

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from sense7.errors import UserError
from sense7.exchange.content import ASSISTANT, Chat
from sense7.exchange.readers import Transcript, read_record
from sense7.exchange.records import records
from sense7.files import not_written, replacing
from sense7.terminal import count_of
from sense7.workbook.ids import as_name


@dataclass
class ImportSummary:
    """What was brought in, and what was left out of it by kind: counted while conversations are read."""

    formats: dict[str, dict[str, None]] = field(default_factory=dict)
    conversations: int = 0
    messages: int = 0
    turns: int = 0
    omitted: Counter = field(default_factory=Counter)
    without_model: int = 0
    remarks: list[str] = field(default_factory=list)

    def lines(self) -> list[str]:
        """Give the summary, line by line.

        Examples
        --------
        >>> ImportSummary({"a.json": {"ShareGPT": None}}, 1, 2, 1, Counter({"image": 1})).lines()
        ['a.json: ShareGPT', '1 conversation, 2 messages, 1 of them by the assistant', 'left out: 1 image']
        """
        counts = []
        for description, number in sorted(self.omitted.items()):
            noun = re.match(r"message|conversation|.+?(?= of |$)", description)[0]
            plural = noun if noun in ("audio", "reasoning", "content") else f"{noun}s"
            counts.append(count_of(number, description, plural + description.removeprefix(noun)))
        conversations = count_of(self.conversations, "conversation")
        messages = count_of(self.messages, "message")
        lines = [f"{file}: {', '.join(names)}" for file, names in self.formats.items()]
        lines.append(f"{conversations}, {messages}, {self.turns:,} of them by the assistant")
        lines.append(f"left out: {', '.join(counts) or 'nothing'}")
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
        self.omitted.update(chat.omitted)


def read_chats(
    paths: Iterable[str | Path],
    *,
    participant: str | None = None,
    condition: str | None = None,
    topic: str | None = None,
    new_ids: bool = False,
    speakers: Mapping[str, str] | None = None,
    summary: ImportSummary | None = None,
) -> Iterator[Chat]:
    """Read the conversations of files, one after another, each with an id that no other has.

    What is given as participant, condition or topic holds for all of them. Ids are read as in a workbook; without one,
    a conversation is named after its file and its number there, and ``new_ids`` numbers all. A conversation that can't
    be read, or without any message, is left out, and counted in the summary. A UserError says so if a file can't be
    read, none of its conversations can, or two have one id.
    """
    if summary is None:
        summary = ImportSummary()
    values = {}
    for name, value in (("participant", participant), ("condition", condition), ("topic", topic)):
        if value is not None:
            values[name] = value
    place_of = {}
    where = "no file"
    for path in map(Path, paths):
        formats = summary.formats.setdefault(path.name, {})
        where = str(path)
        number = 0
        problems = []
        for number, (place_in_file, record) in enumerate(records(path), 1):
            where = str(path)
            if place_in_file:
                where += f": {place_in_file}"
            if isinstance(record, Transcript):
                record.speakers = speakers or {}
            try:
                format_name, chat = _read(record, where)
                if isinstance(record, Transcript):
                    summary.remarks += [f"{where}: {remark}." for remark in record.remarks]
                name = as_name(chat.id) or f"{path.stem}-{number}"
                if new_ids:
                    name = f"c{summary.conversations + 1}"
                chat = replace(chat, id=name, **values)
                _require_whole_characters(chat, where)
            except UserError as error:
                problems.append(str(error))
                continue
            formats[format_name] = None
            if not chat.messages:
                summary.omitted["conversation without any message"] += 1
                continue
            if name in place_of:
                raise UserError(
                    f"{where}: the id {name[:60]!r} is also that of {place_of[name]}. Remove one of the two "
                    "conversations, or give --new-ids to number all of them."
                )
            place_of[name] = where
            summary.add(chat)
            yield chat
        if problems and len(problems) == number:
            several = f" None of {number:,} conversations can be read." if number > 1 else ""
            raise UserError(problems[0] + several)
        if problems:  # all are counted, some are named
            summary.omitted["conversation that can't be read"] += len(problems)
        summary.remarks += [f"{problem} This conversation is left out." for problem in problems[:5]]
    if not summary.conversations:
        raise UserError(f"{where}: no conversation with a message was found. Nothing was written.")


def _read(record: object, where: str) -> tuple[str, Chat]:
    """Name of a record's format and its conversation; a UserError says why it can't be read."""
    if isinstance(record, UserError):
        raise record
    try:
        return read_record(record)
    except RecursionError:
        raise UserError(f"{where}: nested too deeply to be a conversation.") from None
    except UserError:
        raise
    except ValueError as error:
        raise UserError(f"{where}: {error}.") from None


def _require_whole_characters(chat: Chat, where: str) -> None:
    """Refuse a text with half of a surrogate pair, which no file in UTF-8 holds."""
    text_at = {"its id": chat.id}
    for name in ("participant", "condition", "topic"):
        text_at[name] = getattr(chat, name) or ""
    for number, message in enumerate(chat.messages, 1):
        text_at[f"message {number}"] = message.text
    for place, text in text_at.items():
        half = re.search("[\ud800-\udfff]", text)
        if half:
            raise UserError(
                f"{where}: {place} has half of a surrogate pair (\\u{ord(half[0]):04x}), which is no "
                "character. Correct it, or export the file again."
            )


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
