"""A conversation as it comes from any source; and the values of JSON in it, each read as what it has to be or refused.

``schema.toml`` names every key that is read.
"""

import datetime
import importlib.resources
import re
import tomllib
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from sense7.errors import UserError
from sense7.workbook.ids import as_text, is_number

USER = "user"
ASSISTANT = "assistant"

SCHEMA = tomllib.loads((importlib.resources.files(__package__) / "schema.toml").read_text("utf-8"))


@dataclass(frozen=True)
class Message:
    """What one side ("user" or "assistant") said, and when, in seconds since the conversation began."""

    role: str
    text: str
    seconds: float | None = None


@dataclass(frozen=True)
class Chat:
    """One conversation: its id in its source (or empty), its messages, and facts about it; the model is its name."""

    id: str
    messages: tuple[Message, ...]
    participant: str | None = None
    condition: str | None = None
    topic: str | None = None
    model: str | None = None

    def to_dict(self) -> dict:
        """As one line of JSON Lines; a fact that is not known has no key, and nobody who rates sees the model.

        Examples
        --------
        >>> Chat("c1", (Message("user", "Hi"),), participant="P1").to_dict()
        {'id': 'c1', 'participant': 'P1', 'messages': [{'role': 'user', 'content': 'Hi'}]}
        """
        messages = []
        for message in self.messages:
            entry = {"role": message.role, "content": message.text}
            if message.seconds is not None:
                entry["seconds"] = message.seconds
            messages.append(entry)
        names = ("id", "participant", "condition", "topic")
        facts = {name: getattr(self, name) for name in names if getattr(self, name) is not None}
        return {**facts, "messages": messages}


def expect(value: object, expected: type, where: str):
    """Return a JSON value if it is of a type; else a UserError names the one that it has to have."""
    if isinstance(value, expected):
        return value
    name = {dict: "an object", list: "a list", str: "a text"}[expected]
    raise UserError(f"{where}: {value!r:.40} is not {name}. Correct it, or export the file again.")


def read_object(value: object, keys: Collection[str], where: str) -> dict:
    """Return an object; it is refused if a key that is not among ``keys`` holds a text, a list or an object."""
    for key, item in expect(value, dict, where).items():
        if key not in keys and item and isinstance(item, str | list | dict):
            raise UserError(
                f"{where}: the key {key!r:.60} is not known, so that what stands there could be lost. Remove the key "
                "from the file if nobody said it; else make it a message with role and content."
            )
    return value


def fact_of(holder: Mapping, where: str, *names: str) -> str | None:
    """Return the first fact that an object has under some names: a text or a number."""
    for name in names:
        value = holder.get(name)
        if isinstance(value, str) or is_number(value):
            text = whole_text(as_text(value), f"{where}: {name}")
            if text:
                return text
        elif value is not None:
            raise UserError(f"{where}: {name}: {value!r:.40} is no name. Write a text or a number.")
    return None


def whole_text(text: object, where: str) -> str:
    """Return a text as it stands; half a surrogate pair, and a mark of ChatGPT's page, is no text that was shown."""
    mark = re.search("[\ud800-\udfff\ue200-\ue202]", expect(text, str, where))
    if mark:
        raise UserError(
            f"{where}: U+{ord(mark[0]):04X} is no text that was shown: half of a surrogate pair (U+D800 to U+DFFF), or "
            "a citation mark of ChatGPT's page (U+E200 to U+E202). Write what was seen there, or import ChatGPT's data "
            "export, whose content_references say it."
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
