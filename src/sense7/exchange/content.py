"""A conversation as it comes from any source: what was said, and what is left out of it by name."""

import contextlib
import datetime
import importlib.resources
import math
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

USER = "user"
ASSISTANT = "assistant"
SYSTEM = "system message"


def vocabulary() -> dict[str, dict[str, list[str]]]:
    """Words of the formats of conversations, as tables by their names in ``vocabulary.toml``."""
    return tomllib.loads(
        (importlib.resources.files(__package__) / "vocabulary.toml").read_text("utf-8")
    )


_TABLES = vocabulary()
KEYS: dict[str, list[str]] = _TABLES.pop("keys")
ROLES, _TEXTS, _MARKERS, _UNSEEN, SPEAKERS = (
    {name: meaning for meaning, names in table.items() for name in names}
    for table in _TABLES.values()
)


_INSTEAD = (
    "tool_calls",
    "function_call",
    "refusal",
    "reasoning_content",
    "reasoning",
    "audio",
    "attachments",
    "files",
)
"""What a message may have in place of a text."""

_NO_TEXT = {
    *(
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
    ),
    *_INSTEAD,
    *(key for names in KEYS.values() for key in names),
}
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
        said = [
            {"role": one.role, "content": one.text, "seconds": one.seconds} for one in self.messages
        ]
        said = [{name: value for name, value in one.items() if value is not None} for one in said]
        about = {name: getattr(self, name) for name in ("participant", "condition", "topic")}
        return {
            "id": self.id,
            **{name: value for name, value in about.items() if value is not None},
            "messages": said,
        }


def assemble(
    parts: Iterable[Message | Omitted],
    name: str | None,
    about: Mapping,
    *,
    clock: bool = False,
    **known: str | None,
) -> Chat:
    """Make a conversation of its parts in order; by the clock, times become those since the first message.

    Its condition is the one that is known, else the models of its messages, else that of the conversation.
    """
    parts = list(parts)
    messages = [part for part in parts if isinstance(part, Message)]
    models = dict.fromkeys(one.model for one in messages if one.model)
    known["condition"] = (
        known.get("condition") or " + ".join(models) or name_of(about, KEYS["model"])
    )
    if clock:
        began = next((one.seconds for one in messages if one.seconds is not None), None)
        messages = [
            one if one.seconds is None else replace(one, seconds=max(one.seconds - began, 0.0))
            for one in messages
        ]
    omitted = tuple(one.what for one in parts if isinstance(one, Omitted))
    return Chat(name or "", tuple(messages), omitted=omitted, **known)


def kind_of(value: object) -> str:
    """Name the kind of a JSON value."""
    kinds = {
        bool: "true or false",
        Mapping: "an object",
        list: "a list",
        str: "a text",
        int | float: "a number",
    }
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
    name = expect(role, str, where).strip().casefold()
    side = ROLES.get(name)
    if (
        side is None and ROLES.get(re.split(r"[-_ .:/\d]", name)[0]) == ASSISTANT
    ):  # as in gpt-4 and claude-3-opus
        side = ASSISTANT
    if side is None:
        raise ValueError(
            f"{where}: {role[:40]!r} is no known role; expected one of {', '.join(ROLES)}"
        )
    return side


def pieces(
    content: object, where: str, texts: Mapping[str, str] | None = None
) -> Iterator[str | Omitted]:
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
        inner = next(
            (name for name in ("parts", "content") if kind in (None, "text") and name in content),
            None,
        )
        if inner and "text" not in content:  # a content or a message in another
            yield from pieces(content[inner], f"{where}.{inner}", texts)
            return
        kind = kind if isinstance(kind, str) else kind_of(kind)
        if kind in _TEXTS:
            text = content.get(_TEXTS[kind])
            text = (
                text["value"] if isinstance(text, dict) and "value" in text else text
            )  # as assistants of OpenAI
            yield from pieces(text, f"{where}.{_TEXTS[kind]}", texts)
        elif kind in _MARKERS:
            spoken = content.get("transcript")
            is_spoken = isinstance(spoken, str) and bool(spoken.strip())
            yield from (Omitted(_MARKERS[kind]), spoken if is_spoken else f"[{_MARKERS[kind]}]")
        elif kind in _UNSEEN or kind.endswith("tool_result"):
            yield Omitted(_UNSEEN.get(kind, "tool result"))
        elif kind.startswith("tool-"):
            yield Omitted("tool call")
        else:
            yield from (Omitted(f"part of unknown type {kind[:40]}"), "")


def joined(parts: Iterable[str | Omitted]) -> tuple[str, list[Omitted]]:
    """Text of pieces, and what is left out of them."""
    text = ""
    left_out: list[Omitted] = []
    is_interrupted = False
    for part in parts:
        if isinstance(part, Omitted):
            left_out.append(part)
            is_interrupted = is_interrupted or part.what in _UNSEEN.values()
        elif part:
            needs_break = (
                is_interrupted and text and not text[-1].isspace() and not part[0].isspace()
            )
            text += f"\n{part}" if needs_break else part
            is_interrupted = False
    return text, left_out


def _text_key(message: Mapping, where: str) -> str:
    """Key under which the text of a message stands; refused if it stands under none that is known."""
    filled = [key for key in KEYS["text"] if message.get(key) not in (None, "", [])]
    if filled:
        return filled[0]
    present = [key for key in KEYS["text"] if key in message]
    unread = [
        key
        for key, value in message.items()
        if key not in _NO_TEXT
        and isinstance(value, str | list | dict)
        and value
        and not str(key).startswith("_")
    ]
    if unread and not present and not any(message.get(name) for name in _INSTEAD):
        raise ValueError(
            f"{where}: expected a text under {' or '.join(KEYS['text'][:4])}, found only {', '.join(unread[:6])}"
        )
    return present[0] if present else "content"


def _may_hold_text(content: object) -> bool:
    """Whether a part has more in it than its type and name."""
    parts = content if isinstance(content, list) else [content]
    for part in parts:
        if isinstance(part, dict) and any(
            value for name, value in part.items() if name not in ("type", "id")
        ):
            return True
    return False


def read_message(
    message: object, where: str, texts: Mapping[str, str] | None = None
) -> list[Message | Omitted]:
    """Read a message with a role and content: what is left out of it, and itself if a side said it."""
    role = next(
        (key for key in ("role", "from", "sender") if key in expect(message, dict, where)), "role"
    )
    by_user = message.get("isCreatedByUser")
    if isinstance(by_user, bool):  # LibreChat, whose sender is a label
        side = USER if by_user else ASSISTANT
    else:
        side = side_of(message.get(role), f"{where}.{role}")
    if side not in (USER, ASSISTANT):
        return [Omitted(side)]
    key = _text_key(message, where)
    content = message.get(key)
    parts: list[str | Omitted] = []
    for name in (
        ("attachments", "files") if role == "sender" else ()
    ):  # an export of Claude has them beside the text
        for _ in expect(message.get(name) or [], list, f"{where}.{name}"):
            parts += [Omitted("file"), "[file]"]
    parts += [] if content is None else pieces(content, f"{where}.{key}", texts)
    if message.get("refusal"):
        parts += pieces(message["refusal"], f"{where}.refusal")
    for call in [
        *expect(message.get("tool_calls") or [], list, f"{where}.tool_calls"),
        message.get("function_call"),
    ]:
        parts += [Omitted("tool call")] if call else []
    for name in ("reasoning_content", "reasoning"):
        parts += [Omitted("reasoning")] if message.get(name) else []
    if isinstance(message.get("audio"), dict):  # a spoken answer
        spoken = pieces({"type": "audio", **message["audio"]}, f"{where}.audio")
        parts += [piece for piece in spoken if isinstance(piece, Omitted) or not content]
    text, left_out = joined(parts)
    others = [
        message[name] for name in KEYS["text"] if name != key and isinstance(message.get(name), str)
    ]
    if not text and any(others):
        text = next(filter(None, others))
    unknown = [part.what for part in left_out if part.what.startswith("part of unknown type ")]
    if not text and unknown and _may_hold_text(content):
        raise ValueError(f"{where}.{key}: nothing but a {unknown[0]}, in which a text may stand")
    if content is None and not text and not left_out:
        left_out = [Omitted("message without content")]
    elif not text and left_out and not any(one.is_empty for one in left_out):
        return left_out
    moment = message.get("created_at") if role == "sender" else message.get("seconds")
    moment = None if role != "sender" and isinstance(moment, str) else seconds_of(moment)
    return [*left_out, Message(side, text, moment, name_of(message, KEYS["model"]))]
