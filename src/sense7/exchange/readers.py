"""The formats of conversations that can be brought in: each is recognized by what a record holds, never by a name."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from sense7.exchange.chatgpt import BRANCH, branch_of_list, read_chatgpt, unfolded
from sense7.exchange.content import (
    ASSISTANT,
    KEYS,
    SPEAKERS,
    SYSTEM,
    USER,
    Chat,
    Message,
    Omitted,
    assemble,
    expect,
    kind_of,
    name_of,
    read_message,
)


def read_list(record: Mapping) -> Chat:
    """Read a conversation from an object with a list of messages and what is known about it."""
    keys = ("chat_messages", "messages", "conversations", "conversation")
    key = next(key for key in keys if key in record)
    messages = unfolded(expect(record[key], list, key))
    branch = branch_of_list(record, messages, key)
    parts = []
    if record.get("system"):
        parts.append(Omitted(SYSTEM))
    for number in branch:
        parts += read_message(messages[number], f"{key}[{number + 1}]")
    parts += [BRANCH] * (len(messages) - len(branch))
    return assemble(
        parts,
        name_of(record, KEYS["conversation"]),
        record,
        clock=key == "chat_messages",
        participant=name_of(record, ("participant", "hashed_ip")),
        condition=name_of(record, ("condition",)),
        topic=name_of(record, ("topic",)),
    )


def read_inspect(record: Mapping) -> Chat:
    """Read a sample of a log of inspect_ai; its id has the epoch, so that a sample asked twice is two conversations."""
    about = expect(record["eval"], dict, "eval")
    [sample] = expect(record["samples"], list, "samples") or [{"messages": []}]
    texts = expect(expect(sample, dict, "sample").get("attachments") or {}, dict, "attachments")
    attachments = {
        f"attachment://{name}": text for name, text in texts.items() if isinstance(text, str)
    }
    parts = []
    for number, message in enumerate(expect(sample.get("messages"), list, "messages"), 1):
        parts += read_message(message, f"messages[{number}]", attachments)
    names = [about.get("task"), sample.get("id")]
    if isinstance(sample.get("epoch"), int):
        names.append(f"epoch{sample['epoch']}")
    name = "-".join(str(part) for part in names if part)
    condition = name_of(about, KEYS["model"])
    return assemble(parts, name, about, condition=condition)


_CHAT_APP = re.compile(
    r"\s*+[^\w\n]{0,3}(?:[^\W\d]{3,10}\.? )?\d{1,4}[^\n:]{2,30}?\d{1,2}(?:[:.\u066b]| ?h ?)\d{2}"
    r"[^\n]{0,20}?(?:\]| [-\u2013]|:) "
)
"""Date and time that begin a message of WhatsApp and its like, in the order and signs of any language."""


@dataclass
class Transcript:
    """The text of a file that is no JSON: with names besides ``SPEAKERS``, and remarks that its reader makes."""

    text: str
    speakers: Mapping[str, str] = field(default_factory=dict)
    remarks: list[str] = field(default_factory=list)


def read_transcript(record: Transcript) -> Chat:
    """Read a conversation of plain text, in which a line such as ``User: Hello`` begins a message.

    The file opens with its two speakers, after a system message if there is one: such a line of any other name inside a
    message belongs to its text. One space after the colon and the line breaks between messages belong to the layout.
    """
    text = record.text
    if _CHAT_APP.match(text):
        raise ValueError(
            "line 1: begins with date and time, as in a chat exported from WhatsApp or another messenger. Remove date "
            "and time from every line, so that each message begins with its speaker, and name both speakers by "
            "--speaker NAME=user and NAME=assistant"
        )
    sides = {**SPEAKERS, **record.speakers}
    alternatives = "|".join(sorted(map(re.escape, sides), key=len, reverse=True))
    begins = re.compile(
        rf"^(?:#+ |(?P<bold>\*\*))?(?P<name>{alternatives})(?(bold)(?:\*\*[:\uff1a]|[:\uff1a]\*\*)|[:\uff1a])[ \t]?",
        re.I | re.M,
    )
    beginnings = list(begins.finditer(text))
    preamble = text[: beginnings[0].start()] if beginnings else text
    if preamble.strip():
        line = preamble[: len(preamble) - len(preamble.lstrip())].count("\n") + 1
        raise ValueError(
            f"line {line}: expected a message that begins with its speaker, as in User: or Assistant:, found "
            f"{preamble.strip().splitlines()[0][:40]!r}. Give another speaker's name by --speaker NAME=user"
        )
    names = [match["name"].casefold() for match in beginnings]
    # Those that the user named begin messages, and the first of each side that no such name has.
    talking = [name for name in names if sides[name] != SYSTEM]
    speaking = {*talking[:1], *(name for name in talking if name in record.speakers)}
    for name in talking:
        if sides[name] not in {sides[speaker] for speaker in speaking}:
            speaking.add(name)
    messages, inside = [], []
    has_begun = False
    for match, name in zip(beginnings, names, strict=True):
        if name in speaking:
            has_begun = True
            messages.append(match)
        elif name == "system" and not has_begun:
            messages.append(match)
        else:
            inside.append(match)
    ends = [match.start() for match in messages[1:]] + [len(text)]
    parts = []
    for match, end in zip(messages, ends, strict=False):
        side = sides[match["name"].casefold()]
        if side == SYSTEM:
            parts.append(Omitted(SYSTEM))
        else:
            parts.append(Message(side, text[match.end() : end].rstrip("\r\n")))
    roles = {part.role for part in parts if isinstance(part, Message)}
    if roles != {USER, ASSISTANT}:
        raise ValueError(
            "expected messages of both sides, each begun by its speaker at the start of a line, as in User: and "
            "Assistant:. Give another speaker's name by --speaker NAME=user or NAME=assistant"
        )
    for match in inside[:5]:
        line = text.count("\n", 0, match.start()) + 1
        record.remarks.append(
            f"line {line}: {match[0].strip()!r} is read as text of a message, since the file opens with other "
            f"speakers. If it begins a message, give --speaker {match['name']}=user or =assistant"
        )
    return assemble(parts, "", {})


FORMATS: dict[str, tuple[tuple[str, ...], Callable[[Mapping], Chat]]] = {
    "ChatGPT export": (("mapping",), read_chatgpt),
    "Claude export": (("chat_messages",), read_list),
    "inspect_ai log": (("eval", "samples"), read_inspect),
    "list of messages (OpenAI, Anthropic)": (("messages",), read_list),
    "ShareGPT": (("conversations",), read_list),
    "WildChat or LMSYS-Chat": (("conversation",), read_list),
}
"""Name of a format -> the keys by which a record is recognized, and how its conversation is read."""


def is_messages(record: object) -> bool:
    """Whether a JSON value is a list of messages."""
    return (
        isinstance(record, list)
        and bool(record)
        and isinstance(record[0], dict)
        and "role" in record[0]
    )


def read_record(record: object) -> tuple[str, Chat]:
    """Name of a record's format, and its conversation; a ValueError says what was expected, and what stands there."""
    if isinstance(record, Transcript):
        return "transcript", read_transcript(record)
    about = {}
    if is_messages(record):
        about = {"messages": record}
    elif isinstance(record, dict):
        about = record
    for name, (keys, read) in FORMATS.items():
        if about.keys() >= set(keys):
            return name, read(about)
    content_of_record = f"it is {kind_of(record)}"
    if about:
        first_keys = [str(key)[:30] for key in list(about)[:6]]
        content_of_record = f"it has {', '.join(first_keys)}"
    signs = [f"{' and '.join(keys)} ({name})" for name, (keys, _) in FORMATS.items()]
    raise ValueError(
        f"no known form of a conversation; {content_of_record}. Expected one of these: {', '.join(signs)}"
    )
