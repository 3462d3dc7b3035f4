"""A conversation as it comes from any source: what was said, and what is left out of it by name."""

import datetime
import importlib.resources
import re
import tomllib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from sense7.errors import UserError
from sense7.workbook.ids import as_text, is_number

USER = "user"
ASSISTANT = "assistant"

SCHEMA = tomllib.loads((importlib.resources.files(__package__) / "schema.toml").read_text("utf-8"))
ROLES = {}
for _side, _roles in SCHEMA["roles"].items():
    ROLES.update(dict.fromkeys(_roles, _side))

_BLOCKS = {}
for _name, _block in SCHEMA["block"].items():
    if _name != "facts":
        _BLOCKS.update(dict.fromkeys(_block["types"], (_name, _block)))

UNSEEN = {"tool call", "tool result", "reasoning"}
"""Parts that a reader of the conversation did not see as a message: one of nothing else is left out whole."""


@dataclass(frozen=True)
class Message:
    """What one side ("user" or "assistant") said, and when, in seconds since the conversation began."""

    role: str
    text: str
    seconds: float | None = None


@dataclass(frozen=True)
class Chat:
    """One conversation: its id in its source (or empty), its messages, parts left out; the condition is the model."""

    id: str
    messages: tuple[Message, ...]
    participant: str | None = None
    condition: str | None = None
    topic: str | None = None
    left_out: tuple[str, ...] = field(default=(), compare=False)

    def to_dict(self) -> dict:
        """As one line of JSON Lines; a fact that is not known has no key.

        Examples
        --------
        >>> Chat("c1", (Message("user", "Hi"),), participant="P1").to_dict()
        {'id': 'c1', 'participant': 'P1', 'messages': [{'role': 'user', 'content': 'Hi'}]}
        """
        record: dict[str, object] = {"id": self.id}
        for name in ("participant", "condition", "topic"):
            if getattr(self, name) is not None:
                record[name] = getattr(self, name)
        record["messages"] = []
        for message in self.messages:
            entry: dict[str, object] = {"role": message.role, "content": message.text}
            if message.seconds is not None:
                entry["seconds"] = message.seconds
            record["messages"].append(entry)
        return record


class Utterance(NamedTuple):
    """A message as a reader finds it: its time by the clock, or in seconds since the beginning; the model, if named."""

    role: str
    text: str
    time: datetime.datetime | float | None
    model: str | None


def assemble(
    utterances: Sequence[Utterance],
    left_out: Collection[str],
    about: Mapping[str, str | None],
    where: str,
) -> Chat:
    """Make a conversation; times by the clock become those since the first, and may go back.

    Its condition is the one in ``about``, else the models of its messages, else that of the conversation.
    """
    clock = [message.time for message in utterances if isinstance(message.time, datetime.datetime)]
    messages = []
    for message in utterances:
        seconds = message.time
        if isinstance(seconds, datetime.datetime):
            if (seconds.tzinfo is None) != (clock[0].tzinfo is None):
                raise UserError(
                    f"{where}: some times name a zone, and some do not. Write all of them alike."
                )
            seconds = (seconds - clock[0]).total_seconds()
        messages.append(Message(message.role, message.text, seconds))
    models = dict.fromkeys(message.model for message in utterances if message.model)
    return Chat(
        id=about.get("id") or "",
        messages=tuple(messages),
        participant=about.get("participant"),
        condition=about.get("condition") or " + ".join(models) or about.get("model"),
        topic=about.get("topic"),
        left_out=tuple(left_out),
    )


def expect(value: object, expected: type, where: str):
    """Return a JSON value if it is of a type; else a UserError names the one that it has to have."""
    if isinstance(value, expected):
        return value
    name = {dict: "an object", list: "a list", str: "a text"}[expected]
    raise UserError(f"{where}: {value!r:.40} is not {name}. Correct it, or export the file again.")


def require_known(holder: Mapping, keys: Collection[str], where: str) -> None:
    """Refuse an object in which a key that the schema lacks holds a text, a list or an object."""
    for key, value in holder.items():
        if key not in keys and value and isinstance(value, str | list | dict):
            raise UserError(
                f"{where}: the key {key!r:.60} is not known, so that what stands there could be lost. Remove the key "
                "from the file if nobody said it; else make it a message with role and content."
            )


def fact_of(holder: Mapping, names: Sequence[str], where: str) -> str | None:
    """Return the first fact that an object has under some names: a text or a number."""
    for name in names:
        value = holder.get(name)
        if value is None or value == "":
            continue
        if isinstance(value, str) or is_number(value):
            return whole_text(as_text(value), f"{where}: {name}")
        raise UserError(f"{where}: {name}: {value!r:.40} is no name. Write a text or a number.")
    return None


def whole_text(text: object, where: str) -> str:
    """Return a text as it stands; half a surrogate pair, and a mark of ChatGPT's page, is no text that was shown."""
    expect(text, str, where)
    half = re.search("[\ud800-\udfff]", text)
    if half:
        raise UserError(
            f"{where}: half of a surrogate pair (\\u{ord(half[0]):04x}), which is no character. Correct it, or export "
            "the file again."
        )
    mark = re.search("[\ue200-\ue202]", text)
    if mark:
        raise UserError(
            f"{where}: a citation mark of ChatGPT's page (U+{ord(mark[0]):04X}), in whose place a reader saw another "
            "text. Write that text there, or import ChatGPT's data export, whose content_references say it."
        )
    return text


def moment_of(value: object, where: str) -> datetime.datetime | None:
    """Read a time by the clock: in ISO 8601, or in seconds or milliseconds since 1970.

    Examples
    --------
    >>> moment_of(1_767_225_600_000, "") == moment_of("2026-01-01T00:00:00Z", "")
    True
    """
    if value is None:
        return None
    try:
        if isinstance(value, str) and ":" in value:
            return datetime.datetime.fromisoformat(value)
        if is_number(value) and abs(value) < 1e14:
            seconds = value
            if abs(value) >= 1e11:
                seconds /= 1000
            return datetime.datetime.fromtimestamp(seconds, datetime.UTC)
    except (OverflowError, ValueError):
        pass
    raise UserError(
        f"{where}: {value!r:.40} is no time that can be read. Write it in ISO 8601, as in 2026-01-31T10:00:00Z, or "
        "as a number of seconds or milliseconds since 1970."
    )


def read_content(content: object, where: str, left_out: list[str]) -> str:
    """Return the text of a message's content: its blocks of text, one after the other; others are left out by name."""
    if content is None:
        return ""
    if isinstance(content, str):
        return whole_text(content, where)
    text = ""
    is_interrupted = False
    for number, block in enumerate(expect(content, list, where), 1):
        path = f"{where}[{number}]"
        if isinstance(block, str):
            piece = whole_text(block, path)
        else:
            name, piece = _read_block(expect(block, dict, path), path)
            if piece is None:
                left_out.append(name)
                is_interrupted = True
                continue
        is_joint = text and piece and not text[-1].isspace() and not piece[0].isspace()
        if is_interrupted and is_joint:
            raise UserError(
                f"{path}: a text that follows another behind something else (such as {left_out[-1]}), without white "
                "space between them. Make two messages of it, or put a line break between the texts."
            )
        if piece:
            text += piece
            is_interrupted = False
    return text


def _read_block(block: Mapping, where: str) -> tuple[str, object]:
    """Return what a content block is, and its text; None for the text of what is no text."""
    block_type = block.get("type", block.get("content_type"))
    if block_type is None:  # Gemini's blocks have the key of what they hold
        block_type = next((key for key in block if key in _BLOCKS), None)
    if not isinstance(block_type, str) or block_type not in _BLOCKS:
        raise UserError(
            f"{where}: {block_type!r:.40} is no known type of a content block. Write its text as a block of type text, "
            "or remove it."
        )
    name, schema = _BLOCKS[block_type]
    text_key = schema.get("text")
    require_known(block, {text_key, *schema["keys"], *SCHEMA["block"]["facts"]}, where)
    if block.get("thought") is True:
        return "reasoning", None
    if text_key is None:
        return name, None
    return name, whole_text(block.get(text_key), f"{where}.{text_key}")
