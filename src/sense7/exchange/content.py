"""A conversation as it comes from any source: what was said, and what is left out of it by name."""

import contextlib
import datetime
import importlib.resources
import math
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

USER = "user"
ASSISTANT = "assistant"
SYSTEM = "system message"


def vocabulary() -> dict[str, dict[str, list[str]]]:
    """Words of the formats of conversations, as tables by their names in ``vocabulary.toml``."""
    return tomllib.loads((importlib.resources.files(__package__) / "vocabulary.toml").read_text("utf-8"))


_TABLES = vocabulary()
KEYS: dict[str, list[str]] = _TABLES.pop("keys")
ROLES, _TEXTS, _MARKERS, _UNSEEN, SPEAKERS = (
    {name: meaning for meaning, names in table.items() for name in names} for table in _TABLES.values()
)


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

    what: str

    @property
    def is_empty(self) -> bool:
        """Whether it stands for nothing: the message that holds it stays, and keeps its number."""
        return self.what == "empty part" or self.what.startswith("part of unknown type ")


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
        said = [{"role": one.role, "content": one.text, "seconds": one.seconds} for one in self.messages]
        said = [{name: value for name, value in one.items() if value is not None} for one in said]
        about = {name: getattr(self, name) for name in ("participant", "condition", "topic")}
        return {"id": self.id, **{name: value for name, value in about.items() if value is not None}, "messages": said}


def assemble(
    parts: Iterable[Message | Omitted], name: str | None, about: Mapping, *, clock: bool = False, **known: str | None
) -> Chat:
    """Make a conversation of its parts in order; by the clock, times become those since the first message.

    Its condition is the one that is known, else the models of its messages, else that of the conversation.
    """
    parts = list(parts)
    messages = [part for part in parts if isinstance(part, Message)]
    models = dict.fromkeys(one.model for one in messages if one.model)
    known["condition"] = known.get("condition") or " + ".join(models) or name_of(about, KEYS["model"])
    if clock:
        began = next((one.seconds for one in messages if one.seconds is not None), None)
        messages = [
            one if one.seconds is None else replace(one, seconds=max(one.seconds - began, 0.0)) for one in messages
        ]
    omitted = tuple(one.what for one in parts if isinstance(one, Omitted))
    return Chat(name or "", tuple(messages), omitted=omitted, **known)


def kind_of(value: object) -> str:
    """Name the kind of a JSON value."""
    kinds = {bool: "true or false", Mapping: "an object", list: "a list", str: "a text", int | float: "a number"}
    return next((name for kind, name in kinds.items() if isinstance(value, kind)), "null")


def expect(value: object, kind: type, where: str):
    """Give a JSON value if it is of a kind; else a ValueError says what was expected, and what stands there."""
    if not isinstance(value, kind) or isinstance(value, bool):
        raise ValueError(f"{where}: expected {kind_of(kind())}, found {kind_of(value)}")
    return value


def seconds_of(value: object) -> float | None:
    """Seconds: a number, or since 1970 of a time in ISO 8601 (in UTC where it names no zone); None if it is neither."""
    with contextlib.suppress(OverflowError, ValueError):
        if isinstance(value, str):
            moment = datetime.datetime.fromisoformat(value)
            return (moment if moment.tzinfo else moment.replace(tzinfo=datetime.UTC)).timestamp()
        if isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value):
            return float(value)
    return None


def first_of(about: Mapping, kind: str) -> object:
    """The first value of a kind of key (in vocabulary.toml) that is there; None if none is."""
    return next((about[key] for key in KEYS[kind] if about.get(key) is not None), None)


def name_of(about: Mapping, keys: Sequence[str]) -> str | None:
    """The first of some texts or numbers that is there, or in its metadata."""
    inner = about.get("metadata")
    for one in (about, inner if isinstance(inner, dict) else {}):
        for key in keys:
            value = one.get(key)
            if isinstance(value, str | int) and not isinstance(value, bool) and str(value).strip():
                return str(value)
    return None


def side_of(role: object, where: str) -> str:
    """Say who says a message, or what it is named by when it is left out."""
    side = ROLES.get(expect(role, str, where).strip().casefold())
    if side is None:
        raise ValueError(f"{where}: {role[:40]!r} is no known role; expected one of {', '.join(ROLES)}")
    return side


def pieces(content: object, where: str, texts: Mapping[str, str] | None = None) -> Iterator[str | Omitted]:
    """Texts and markers of a content, one of each part that a reader saw, and what is no text."""
    if isinstance(content, str):
        yield (texts or {}).get(content, content)
    elif isinstance(content, list):
        for number, part in enumerate(content, 1):
            yield from pieces(part, f"{where}[{number}]", texts)
    elif content is None:
        yield from (Omitted("empty part"), "")
    else:
        kind = expect(content, dict, where).get(
            "type", content.get("content_type", "text" if "text" in content else None)
        )
        kind = kind if isinstance(kind, str) else kind_of(kind)
        if kind in _TEXTS:
            text = content.get(_TEXTS[kind])
            text = text["value"] if isinstance(text, dict) and "value" in text else text  # as assistants of OpenAI
            yield from pieces(text, f"{where}.{_TEXTS[kind]}", texts)
        elif kind in _MARKERS:
            yield from (Omitted(_MARKERS[kind]), f"[{_MARKERS[kind]}]")
        elif kind in _UNSEEN or kind.endswith("tool_result"):
            yield Omitted(_UNSEEN.get(kind, "tool result"))
        else:
            yield from (Omitted(f"part of unknown type {kind[:40]}"), "")


def joined(parts: Iterable[str | Omitted]) -> tuple[str, list[Omitted]]:
    """Text of pieces, and what is left out of them."""
    parts = list(parts)
    return "".join(part for part in parts if isinstance(part, str)), [one for one in parts if isinstance(one, Omitted)]


def read_message(message: object, where: str, texts: Mapping[str, str] | None = None) -> list[Message | Omitted]:
    """Read a message with a role and content: what is left out of it, and itself if a side said it."""
    role = next((key for key in ("role", "from", "sender") if key in expect(message, dict, where)), "role")
    side = side_of(message.get(role), f"{where}.{role}")
    key = "value" if role == "from" else "content"
    if key == "content" and message.get(key) in (None, []) and message.get("text") is not None:
        key = "text"
    content = message.get(key)
    if side not in (USER, ASSISTANT):
        return [Omitted(side)]
    parts: list[str | Omitted] = []
    for name in ("attachments", "files") if role == "sender" else ():  # an export of Claude has them beside the text
        for _ in expect(message.get(name) or [], list, f"{where}.{name}"):
            parts += [Omitted("file"), "[file]"]
    parts += [] if content is None else pieces(content, f"{where}.{key}", texts)
    if message.get("refusal"):
        parts += pieces(message["refusal"], f"{where}.refusal")
    for call in [*expect(message.get("tool_calls") or [], list, f"{where}.tool_calls"), message.get("function_call")]:
        parts += [Omitted("tool call")] if call else []
    for name in ("reasoning_content", "reasoning", "audio"):
        parts += [Omitted(name.removesuffix("_content"))] if message.get(name) else []
    text, left_out = joined(parts)
    if content is None and not text and not left_out:
        left_out = [Omitted("message without content")]
    elif not text and left_out and not any(one.is_empty for one in left_out):
        return left_out
    moment = message.get("created_at") if role == "sender" else message.get("seconds")
    moment = None if role != "sender" and isinstance(moment, str) else seconds_of(moment)
    return [*left_out, Message(side, text, moment, name_of(message, KEYS["model"]))]
