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
        for what, number in sorted(self.omitted.items()):
            head = re.match(r"message|conversation|.+?(?= of |$)", what)[0]
            ending = "" if head in ("audio", "reasoning", "content") else "s"
            counts.append(count_of(number, what, f"{head}{ending}{what.removeprefix(head)}"))
        brought = (
            f"{count_of(self.conversations, 'conversation')}, {count_of(self.messages, 'message')}"
        )
        lines = [f"{file}: {', '.join(names)}" for file, names in self.formats.items()]
        lines += [
            f"{brought}, {self.turns:,} of them by the assistant",
            f"left out: {', '.join(counts) or 'nothing'}",
        ]
        if self.without_model:
            unknown = f"no condition is known: {count_of(self.without_model, 'conversation')} (give --condition)"
            lines.append(f"no model is named, so {unknown}")
        return lines


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
    summary = ImportSummary() if summary is None else summary
    given = {"participant": participant, "condition": condition, "topic": topic}
    given = {key: value for key, value in given.items() if value is not None}
    seen, where = {}, "no file"
    for path in map(Path, paths):
        formats = summary.formats.setdefault(path.name, {})
        where, number, problems = str(path), 0, []
        for place, record in records(path):
            where = f"{path}: {place}" if place else str(path)
            number += 1
            try:
                if isinstance(record, UserError):
                    raise record
                if isinstance(record, Transcript):
                    record.speakers = speakers or {}
                kind, chat = read_record(record)
                if isinstance(record, Transcript):
                    summary.remarks += [f"{where}: {remark}." for remark in record.remarks]
                name = (
                    f"c{summary.conversations + 1}"
                    if new_ids
                    else as_name(chat.id) or f"{path.stem}-{number}"
                )
                named = replace(chat, id=name, **given)
                if match := re.search(
                    "[\ud800-\udfff]", json.dumps(named.to_dict(), ensure_ascii=False)
                ):
                    raise ValueError(
                        f"a text has half of a surrogate pair (\\u{ord(match[0]):04x}), which is no character. Correct "
                        "it, or export the file again"
                    )
            except (ValueError, RecursionError, UserError) as error:
                text = (
                    "nested too deeply to be a conversation"
                    if isinstance(error, RecursionError)
                    else str(error)
                )
                problems.append(text if isinstance(error, UserError) else f"{where}: {text}.")
                continue
            formats[kind] = None
            if not chat.messages:
                summary.omitted["conversation without any message"] += 1
                continue
            if name in seen:
                raise UserError(
                    f"{where}: the id {name[:60]!r} is also that of {seen[name]}. Remove one of the two conversations, "
                    "or give --new-ids to number all of them."
                )
            seen[name] = where
            summary.conversations += 1
            summary.messages += len(named.messages)
            summary.turns += sum(one.role == ASSISTANT for one in named.messages)
            summary.without_model += named.condition is None
            summary.omitted.update(named.omitted)
            yield named
        if problems and len(problems) == number:
            raise UserError(
                problems[0]
                + (f" None of {number:,} conversations can be read." if number > 1 else "")
            )
        if problems:  # all are counted, some are named
            summary.omitted["conversation that can't be read"] += len(problems)
        summary.remarks += [f"{problem} This conversation is left out." for problem in problems[:5]]
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
