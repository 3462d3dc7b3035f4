"""From files of other programs to conversations with ids of their own, and those as JSON Lines.

What can't be read is refused with line and place.
"""

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

from sense7.errors import UserError
from sense7.exchange.content import ASSISTANT, USER, Chat, Message, whole_text
from sense7.exchange.messages import LISTS, read_list, read_tree
from sense7.files import one_line, reading, write_whole
from sense7.terminal import count_of
from sense7.workbook.ids import as_name
from sense7.workbook.tables import decoded

BY_MODEL = "{model}"
"""As condition: the name of the model of each conversation."""

_FIX = "Unpack a compressed file first (a .zip, for example), and save a text in UTF-8."

_SPEAKERS = {"User:": USER, "Assistant:": ASSISTANT}
_BEGINS = re.compile(
    r"^([ \t]*+[#>*_]*+[ \t]*+(?:user|assistant|human|ai|system)[*_]*+[ \t]?[:\uff1a][*_]*)",
    re.I | re.M,
)
"""The beginning of a message in plain text, and what another program would write for one."""


def summary(chats: Iterable[Chat], left_out: Counter) -> list[str]:
    """Say what was brought in, and what was left out of it by name.

    Examples
    --------
    >>> summary([Chat("a", (Message("user", "Hi"), Message("assistant", "Hello")))], Counter(image=1))
    ['1 conversation, 2 messages', 'left out: image (1)']
    """
    counts = [f"{name} ({number:,})" for name, number in sorted(left_out.items())] or ["nothing"]
    conversations = count_of(len(chats), "conversation")
    messages = count_of(sum(len(chat.messages) for chat in chats), "message")
    return [f"{conversations}, {messages}", f"left out: {', '.join(counts)}"]


def read_transcript(text: str, where: str) -> Chat:
    """Read plain text; each message begins with User: or Assistant: at the start of a line.

    One space after the colon, and line breaks between messages, belong to the layout.
    """
    start, *pieces = _BEGINS.split(text)
    line = 1 + text[: len(text) - len(text.lstrip())].count("\n")
    if start.strip() or not pieces:
        pieces = [start.strip(), ""]
    messages = []
    for beginning, text_between in zip(pieces[::2], pieces[1::2], strict=True):
        if beginning not in _SPEAKERS:
            raise UserError(
                f"{where}: line {line}: {beginning!r:.40}: begin each message with User: or Assistant: at the start of "
                "a line, written like this, and nothing before the first."
            )
        message = whole_text(text_between.removeprefix(" ").rstrip("\r\n"), where)
        messages.append(Message(_SPEAKERS[beginning], message))
        line += text_between.count("\n")
    if len({message.role for message in messages}) < 2:
        raise UserError(f"{where}: expected messages of both sides, begun by User: and Assistant:.")
    return Chat("", tuple(messages))


def read_record(record: object, where: str, left_out: list[str]) -> Chat:
    """Read a conversation from plain text or a JSON value; a UserError says which key can't be read."""
    if isinstance(record, str):
        return read_transcript(record, where)
    if isinstance(record, list):
        record = {"messages": record}
    if isinstance(record, dict) and "mapping" in record:
        return read_tree(record, where, left_out)
    if isinstance(record, dict) and not record.keys().isdisjoint(LISTS):
        return read_list(record, where, left_out)
    raise UserError(
        f"{where}: {record!r:.80}: no conversation. Expected messages or contents (a list of messages), or mapping "
        "(ChatGPT's data export). Turn another format into a list of messages first."
    )


def records(path: Path) -> Iterator[tuple[str, object]]:
    """Give each conversation of a file with its place: a JSON value, or a plain text."""
    with reading(path) as stream:
        if path.suffix.casefold() in (".jsonl", ".ndjson"):
            for number, line in enumerate(stream, 1):
                if line.strip():
                    where = f"{path}: line {number}"
                    yield where, parsed(line, where)
            return
        content = stream.read()
    text = decoded(content, path, _FIX)
    if text.lstrip()[:1] not in ("{", "["):
        yield str(path), text
        return
    value = parsed(content, str(path))
    if isinstance(value, dict) or (value and isinstance(value[0], dict) and "role" in value[0]):
        value = [value]
    for number, record in enumerate(value, 1):
        yield f"{path}: conversation {number}", record


def parsed(content: bytes, where: str) -> object:
    """A JSON value; a key that stands twice in an object is refused, since one of its values would be lost."""
    text = decoded(content, where, _FIX)
    try:
        return json.loads(text, object_pairs_hook=_unique)
    except (RecursionError, ValueError) as error:
        raise UserError(
            f"{where}: no JSON ({one_line(error)}). Export it again; JSON Lines end in .jsonl."
        ) from None


def _unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """An object of its keys and values, each key once."""
    value = dict(pairs)
    if len(value) < len(pairs):
        raise ValueError("a key stands twice in one object")
    return value


def _refuse_log(talks: list[tuple[list, str]]) -> None:
    """Refuse a conversation that goes on from another: a log with a line for each call of an API.

    An only question with its answer says nothing: people often begin with the same greeting.
    """
    for (talk, where), (next_talk, next_where) in pairwise(sorted(talks)):
        is_greeting = [role for role, _ in talk].count(USER) < 2 and talk[-1][0] != USER
        if next_talk[: len(talk)] == talk and not is_greeting:
            raise UserError(
                f"{where}: one conversation with {next_where}, which has all its messages. In a log with a line for "
                "each call of an API, keep the last line of each conversation. If they are two conversations that "
                "begin alike or are the same word for word, import them from two files."
            )


def read_chats(
    paths: Iterable[str | Path],
    *,
    participant: str | None = None,
    condition: str | None = None,
) -> tuple[list[Chat], Counter]:
    """Read the conversations of files, each with an id that no other has, and count by name what is left out.

    What is given as participant or condition holds for all of them. Ids are read as in a workbook; without one,
    a conversation is named after its file and its number there. A UserError names record and key of what can't be read.
    """
    chats, left_out = [], []
    place_of = {}
    for path in map(Path, paths):
        talks = []
        for number, (where, record) in enumerate(records(path), 1):
            chat = read_record(record, where, left_out)
            if not chat.messages:
                left_out.append("conversation without any message")
                continue
            talks.append(([(message.role, message.text) for message in chat.messages], where))
            name = as_name(chat.id) or f"{path.stem}-{number}"
            if name in place_of:
                raise UserError(
                    f"{where}: the id {name[:60]!r} is also that of {place_of[name]}. In a log with a line for each "
                    "call of an API, keep the last line of each conversation; else give each conversation an id of its "
                    "own."
                )
            place_of[name] = where
            condition_of = {None: chat.condition, BY_MODEL: chat.model}
            chat = replace(
                chat,
                id=whole_text(name, f"{where}: id"),
                participant=participant or chat.participant,
                condition=condition_of.get(condition, condition),
            )
            chats.append(chat)
        _refuse_log(talks)
    if not chats:
        raise UserError(f"{path}: no conversation with a message was found. Nothing was written.")
    return chats, Counter(left_out)


def write_chats(chats: Iterable[Chat], path: Path, *, replace: bool = False) -> None:
    """Write conversations as JSON Lines in UTF-8, one per line; the file is whole or not there."""
    lines = [json.dumps(chat.to_dict(), ensure_ascii=False) + "\n" for chat in chats]
    write_whole(path, "".join(lines), replace=replace)
