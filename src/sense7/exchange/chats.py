"""A conversation as it comes from any source: what was said, and what is left out of it by name."""

import contextlib
import datetime
import math
from collections.abc import Mapping
from dataclasses import dataclass, field

__all__ = ["Chat", "Draft", "Message", "Omitted", "expect", "kind_of", "seconds_of"]

USER = "user"
ASSISTANT = "assistant"


@dataclass(frozen=True)
class Message:
    """What one side ("user" or "assistant") said: its text, with markers such as ``[image]``, and when."""

    role: str
    text: str
    seconds: float | None = None


@dataclass(frozen=True)
class Omitted:
    """A part that is no text of either side: its kind, and the number of the message in or before which it stood."""

    before: int
    what: str
    text: str = ""


@dataclass(frozen=True)
class Chat:
    """One conversation: its id in its source (or empty), its messages, what is left out; the condition is the model."""

    id: str
    messages: tuple[Message, ...]
    participant: str | None = None
    condition: str | None = None
    topic: str | None = None
    title: str | None = None
    omitted: tuple[Omitted, ...] = ()

    def to_dict(self) -> dict:
        """As one line of JSON Lines; what is not known is left out.

        Examples
        --------
        >>> Chat("c1", (Message("user", "Hi"),), participant="P1").to_dict()
        {'id': 'c1', 'participant': 'P1', 'messages': [{'role': 'user', 'content': 'Hi'}]}
        """
        names = ("participant", "condition", "topic", "title")
        known = {"id": self.id} | {name: value for name in names if (value := getattr(self, name)) is not None}
        known["messages"] = [
            {"role": one.role, "content": one.text} | ({} if one.seconds is None else {"seconds": one.seconds})
            for one in self.messages
        ]
        if self.omitted:
            known["omitted"] = [
                {"before": one.before, "what": one.what} | ({"text": one.text} if one.text else {})
                for one in self.omitted
            ]
        return known


@dataclass
class Draft:
    """A conversation while it is read, message by message."""

    messages: list[Message] = field(default_factory=list)
    omitted: list[Omitted] = field(default_factory=list)

    def say(self, role: str, text: str, seconds: float | None = None) -> None:
        """Add a message."""
        self.messages.append(Message(role, text, seconds))

    def omit(self, what: str, text: str = "") -> None:
        """Name what stands here and is no text of either side."""
        self.omitted.append(Omitted(len(self.messages) + 1, what, text))

    def chat(self, name: str, **known: str | None) -> Chat:
        """Give the conversation; ``known`` are attributes of :class:`Chat`."""
        return Chat(name, tuple(self.messages), omitted=tuple(self.omitted), **known)


def kind_of(value: object) -> str:
    """Name the kind of a JSON value."""
    kinds = (
        (bool, "true or false"),
        (Mapping, "an object"),
        (list, "a list"),
        (str, "a text"),
        (int | float, "a number"),
    )
    return next((name for kind, name in kinds if isinstance(value, kind)), "null")


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
