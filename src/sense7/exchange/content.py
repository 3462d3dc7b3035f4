"""A conversation as it comes from any source: what was said, and what is left out of it by name."""

import contextlib
import datetime
import importlib.resources
import math
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from sense7.workbook.ids import as_text, is_number

USER = "user"
ASSISTANT = "assistant"
SYSTEM = "system message"


def vocabulary() -> dict[str, dict[str, list[str]]]:
    """Words of the formats of conversations, as tables by their names in ``vocabulary.toml``."""
    return tomllib.loads(
        (importlib.resources.files(__package__) / "vocabulary.toml").read_text("utf-8")
    )


_VOCABULARY = vocabulary()
KEYS = _VOCABULARY["keys"]


def _meanings(table: str) -> dict[str, str]:
    """Name -> what it means, of a table with all names of each meaning."""
    meanings = {}
    for meaning, names in _VOCABULARY[table].items():
        meanings.update(dict.fromkeys(names, meaning))
    return meanings


ROLES = _meanings("roles")
SPEAKERS = _meanings("speakers")
_TEXTS = _meanings("texts")
_MARKERS = _meanings("markers")
_UNSEEN = _meanings("unseen")

_IN_PLACE_OF_TEXT = {
    "tool_calls",
    "function_call",
    "refusal",
    "reasoning_content",
    "reasoning",
    "audio",
    "attachments",
    "files",
}
"""Keys of what a message may have in place of a text."""

_ABOUT_MESSAGE = {
    "role",
    "from",
    "sender",
    "name",
    "metadata",
    "seconds",
    "status",
    "index",
    "version",
    "user",
    "type",
}
_NO_TEXT = _IN_PLACE_OF_TEXT.union(_ABOUT_MESSAGE, *KEYS.values())
"""Keys of a message under which no text stands that either side said."""


@dataclass(frozen=True)
class Message:
    """What one side ("user" or "assistant") said: its text, with markers such as ``[image]``, when, by which model."""

    role: str
    text: str
    seconds: float | None = None
    model: str | None = field(default=None, compare=False)


@dataclass(frozen=True)
class Omitted:
    """A part that is no text of either side, by its kind."""

    description: str

    @property
    def is_of_unknown_type(self) -> bool:
        """Whether the format does not say what it is."""
        return self.description.startswith("part of unknown type ")

    @property
    def is_empty(self) -> bool:
        """Whether it stands for nothing: the message that holds it stays, and keeps its number."""
        return self.description == "empty part" or self.is_of_unknown_type


@dataclass(frozen=True)
class Chat:
    """One conversation: its id in its source (or empty), its messages, kinds left out; the condition is the model."""

    id: str
    messages: tuple[Message, ...]
    participant: str | None = None
    condition: str | None = None
    topic: str | None = None
    omitted: tuple[str, ...] = field(default=(), compare=False)

    def to_dict(self) -> dict:
        """As one line of JSON Lines; what is not known or left out is not there.

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


def assemble(
    parts: Iterable[Message | Omitted],
    name: str | None,
    about: Mapping,
    *,
    clock: bool = False,
    participant: str | None = None,
    condition: str | None = None,
    topic: str | None = None,
) -> Chat:
    """Make a conversation of its parts in order; by the clock, times become those since the first message.

    Its condition is the one given, else the models of its messages, else that of the conversation.
    """
    parts = list(parts)
    messages = [part for part in parts if isinstance(part, Message)]
    models = dict.fromkeys(message.model for message in messages if message.model)
    condition = condition or " + ".join(models) or name_of(about, KEYS["model"])
    if clock:
        began = None
        for number, message in enumerate(messages):
            if message.seconds is not None:
                if began is None:
                    began = message.seconds
                messages[number] = replace(message, seconds=max(message.seconds - began, 0.0))
    omitted = tuple(part.description for part in parts if isinstance(part, Omitted))
    return Chat(name or "", tuple(messages), participant, condition, topic, omitted)


def kind_of(value: object) -> str:
    """Name the kind of a JSON value."""
    names = {
        bool: "true or false",
        Mapping: "an object",
        list: "a list",
        str: "a text",
        int | float: "a number",
    }
    for type_of_value, name in names.items():
        if isinstance(value, type_of_value):
            return name
    return "null"


def expect(value: object, expected: type, where: str):
    """Give a JSON value if it is of a type; else a ValueError says what was expected, and what stands there."""
    if not isinstance(value, expected) or isinstance(value, bool):
        raise ValueError(f"{where}: expected {kind_of(expected())}, found {kind_of(value)}")
    return value


def seconds_of(value: object) -> float | None:
    """Seconds: a number, or since 1970 of a time in ISO 8601 (in UTC where it names no zone); None if it is neither.

    A number beyond the year 5000 is one of milli-, micro- or nanoseconds since 1970.
    """
    with contextlib.suppress(OverflowError, ValueError):
        if isinstance(value, str):
            moment = datetime.datetime.fromisoformat(value)
            if moment.tzinfo is None:
                moment = moment.replace(tzinfo=datetime.UTC)
            return moment.timestamp()
        if is_number(value) and math.isfinite(value):
            seconds = float(value)
            while abs(seconds) > 1e11:
                seconds /= 1000
            return seconds
    return None


def first_of(about: Mapping, fact: str) -> object:
    """The first value that is there under a key of a fact (in vocabulary.toml); None if none is."""
    for key in KEYS[fact]:
        if about.get(key) is not None:
            return about[key]
    return None


def name_of(about: Mapping, keys: Sequence[str]) -> str | None:
    """The first of some texts or numbers that is there, or in its metadata."""
    for properties in (about, about.get("metadata")):
        if not isinstance(properties, Mapping):
            continue
        for key in keys:
            value = properties.get(key)
            if (isinstance(value, str) and value.strip()) or is_number(value):
                return as_text(value)
    return None


def side_of(role: object, where: str) -> str:
    """Say who says a message, or what it is named by when it is left out."""
    name = expect(role, str, where).strip().casefold()
    if name in ROLES:
        return ROLES[name]
    first_word = re.split(r"[-_ .:/\d]", name)[0]
    if ROLES.get(first_word) == ASSISTANT:  # as in gpt-4 and claude-3-opus
        return ASSISTANT
    raise ValueError(f"{where}: {role[:40]!r} is no known role; expected one of {', '.join(ROLES)}")


def pieces(
    content: object, where: str, texts: Mapping[str, str] | None = None
) -> Iterator[str | Omitted]:
    """Texts and markers of a content, one of each part that a reader saw, and what is no text."""
    if isinstance(content, str):
        yield (texts or {}).get(content, content)
        return
    if isinstance(content, list):
        for number, part in enumerate(content, 1):
            yield from pieces(part, f"{where}[{number}]", texts)
        return
    if content is None:
        yield Omitted("empty part")
        yield ""
        return
    part = expect(content, dict, where)
    untyped = "text" if "text" in part else None
    part_type = part.get("type", part.get("content_type", untyped))
    if "text" not in part and part_type in (None, "text"):
        for key in ("parts", "content"):  # a content or a message in another
            if key in part:
                yield from pieces(part[key], f"{where}.{key}", texts)
                return

    if not isinstance(part_type, str):
        part_type = kind_of(part_type)
    if part_type in _TEXTS:
        key = _TEXTS[part_type]
        text = part.get(key)
        if isinstance(text, dict) and "value" in text:  # as assistants of OpenAI
            text = text["value"]
        yield from pieces(text, f"{where}.{key}", texts)
    elif part_type in _MARKERS:
        yield Omitted(_MARKERS[part_type])
        transcript = part.get("transcript")
        if isinstance(transcript, str) and transcript.strip():
            yield transcript
        else:
            yield f"[{_MARKERS[part_type]}]"
    elif part_type in _UNSEEN or part_type.endswith("tool_result"):
        yield Omitted(_UNSEEN.get(part_type, "tool result"))
    elif part_type.startswith("tool-"):
        yield Omitted("tool call")
    else:
        yield Omitted(f"part of unknown type {part_type[:40]}")
        yield ""


def joined(parts: Iterable[str | Omitted]) -> tuple[str, list[Omitted]]:
    """Text of pieces, and what is left out of them."""
    text = ""
    left_out = []
    is_interrupted = False
    for part in parts:
        if isinstance(part, Omitted):
            left_out.append(part)
            is_interrupted = is_interrupted or part.description in _UNSEEN.values()
        elif part:
            is_joint = bool(text) and not text[-1].isspace() and not part[0].isspace()
            if is_interrupted and is_joint:
                text += "\n"
            text += part
            is_interrupted = False
    return text, left_out


def _text_key(message: Mapping, where: str) -> str:
    """Key under which the text of a message stands; refused if it stands under none that is known."""
    filled = [key for key in KEYS["text"] if message.get(key) not in (None, "", [])]
    if filled:
        return filled[0]
    present = [key for key in KEYS["text"] if key in message]
    if present:
        return present[0]
    unread = []
    for key, value in message.items():
        may_be_text = isinstance(value, str | list | dict) and bool(value)
        if may_be_text and key not in _NO_TEXT and not str(key).startswith("_"):
            unread.append(key)
    if unread and not any(message.get(name) for name in _IN_PLACE_OF_TEXT):
        expected = " or ".join(KEYS["text"][:4])
        raise ValueError(
            f"{where}: expected a text under {expected}, found only {', '.join(unread[:6])}"
        )
    return "content"


def read_message(
    message: object, where: str, texts: Mapping[str, str] | None = None
) -> list[Message | Omitted]:
    """Read a message with a role and content: what is left out of it, and itself if a side said it."""
    expect(message, dict, where)
    role_key = "role"
    for key in ("sender", "from", "role"):
        if key in message:
            role_key = key
    by_user = message.get("isCreatedByUser")
    if by_user is True:  # LibreChat, whose sender is a label
        side = USER
    elif by_user is False:
        side = ASSISTANT
    else:
        side = side_of(message.get(role_key), f"{where}.{role_key}")
    if side not in (USER, ASSISTANT):
        return [Omitted(side)]
    text_key = _text_key(message, where)
    content = message.get(text_key)
    text, left_out = joined(_parts_of(message, where, role_key, text_key, texts))
    if not text:
        for key in KEYS["text"]:
            if key != text_key and isinstance(message.get(key), str) and not text:
                text = message[key]
    unknown = [part.description for part in left_out if part.is_of_unknown_type]
    if not text and unknown:
        for part in content if isinstance(content, list) else [content]:
            # More than its type and name.
            if isinstance(part, dict) and any(part[key] for key in part.keys() - {"type", "id"}):
                raise ValueError(
                    f"{where}.{text_key}: nothing but a {unknown[0]}, in which a text may stand"
                )
    if content is None and not text and not left_out:
        left_out = [Omitted("message without content")]
    elif not text and left_out and not any(part.is_empty for part in left_out):
        return left_out
    seconds = None
    if role_key == "sender":
        seconds = seconds_of(message.get("created_at"))
    elif not isinstance(message.get("seconds"), str):
        seconds = seconds_of(message.get("seconds"))
    return [*left_out, Message(side, text, seconds, name_of(message, KEYS["model"]))]


def _parts_of(
    message: Mapping,
    where: str,
    role_key: str,
    text_key: str,
    texts: Mapping[str, str] | None,
) -> list[str | Omitted]:
    """Pieces of all that a message holds: its text, files, a refusal, calls of tools, reasoning, sound."""
    parts = []
    if role_key == "sender":  # an export of Claude has files beside the text
        for key in ("attachments", "files"):
            files = expect(message.get(key) or [], list, f"{where}.{key}")
            parts += [Omitted("file"), "[file]"] * len(files)
    content = message.get(text_key)
    if content is not None:
        parts += pieces(content, f"{where}.{text_key}", texts)
    if message.get("refusal"):
        parts += pieces(message["refusal"], f"{where}.refusal")
    tool_calls = expect(message.get("tool_calls") or [], list, f"{where}.tool_calls")
    for call in (*tool_calls, message.get("function_call")):
        if call:
            parts.append(Omitted("tool call"))
    for key in ("reasoning_content", "reasoning"):
        if message.get(key):
            parts.append(Omitted("reasoning"))
    if isinstance(message.get("audio"), dict):  # a spoken answer
        for piece in pieces({"type": "audio", **message["audio"]}, f"{where}.audio"):
            if isinstance(piece, Omitted) or not content:
                parts.append(piece)
    return parts
