"""The data export of Claude: ``conversations.json``, each conversation with ``chat_messages``."""

import contextlib
import datetime
from collections.abc import Iterator, Mapping

from sense7.exchange.chats import Chat, Draft, expect
from sense7.exchange.content import add_message

__all__ = ["is_claude_export", "read_claude_export"]

_FILES = ("attachments", "files")


def is_claude_export(record: object) -> bool:
    """Whether a record has ``chat_messages``."""
    return isinstance(record, dict) and "chat_messages" in record


def read_claude_export(record: Mapping) -> Iterator[Chat]:
    """Read one conversation. The export does not say which model answered.

    A file that was sent along is a marker before the text of its message.

    Examples
    --------
    >>> said = {"sender": "human", "text": "Hi", "created_at": "2025-09-19T10:00:00Z", "files": [{}]}
    >>> [chat] = read_claude_export({"uuid": "x", "name": "Greeting", "chat_messages": [said]})
    >>> chat.title, chat.messages[0]
    ('Greeting', Message(role='user', text='[file]Hi', seconds=0.0))
    """
    draft, began = Draft(), None
    for number, message in enumerate(expect(record["chat_messages"], list, "chat_messages"), 1):
        where = f"chat_messages[{number}]"
        moment = _moment(expect(message, dict, where).get("created_at"))
        began = moment if began is None else began
        seconds = None if None in (moment, began) else max((moment - began).total_seconds(), 0.0)
        parts = [{"type": "file"} for key in _FILES for _ in expect(message.get(key) or [], list, f"{where}.{key}")]
        content = expect(message.get("content") or [], list, f"{where}.content") or [message.get("text", "")]
        add_message(draft, {"role": message.get("sender"), "content": parts + content, "seconds": seconds}, where)
    names = {key: record.get(key) for key in ("uuid", "name")}
    for key, value in names.items():
        if value is not None:
            expect(value, str, key)
    yield draft.chat(names["uuid"] or "", title=names["name"] or None)


def _moment(text: object) -> datetime.datetime | None:
    """A time in ISO 8601, in UTC where it names no zone; None if it is none."""
    with contextlib.suppress(ValueError, TypeError, OverflowError):
        moment = datetime.datetime.fromisoformat(text)
        return moment if moment.tzinfo else moment.replace(tzinfo=datetime.UTC)
    return None
