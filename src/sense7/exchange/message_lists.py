"""Lists of messages as OpenAI and Anthropic take them, and the lines that ``sense7 import`` writes itself."""

from collections.abc import Iterator

from sense7.exchange.chats import Chat, Draft, Omitted, expect
from sense7.exchange.content import add_message

__all__ = ["is_message_list", "read_message_list"]

_IDS = ("id", "custom_id", "conversation_id", "uuid")
_NAMES = ("participant", "condition", "topic", "title")


def is_message_list(record: object) -> bool:
    """Whether a record is a list of messages, or has one under ``messages``.

    Examples
    --------
    >>> is_message_list([{"role": "user", "content": "Hi"}]), is_message_list({"messages": []}), is_message_list([])
    (True, True, False)
    """
    if isinstance(record, list):
        return bool(record) and isinstance(record[0], dict) and "role" in record[0]
    return isinstance(record, dict) and "messages" in record


def read_message_list(record: object) -> Iterator[Chat]:
    """Read one conversation.

    Parameters
    ----------
    record : list or dict
        Messages with ``role`` and ``content``; or an object with ``messages`` and, if known, ``id``, ``participant``,
        ``condition`` (else ``model``), ``topic``, ``title``, and Anthropic's ``system``.

    Examples
    --------
    >>> said = [{"role": "user", "content": "Hi"}]
    >>> [chat] = read_message_list({"model": "m", "system": "Be kind.", "messages": said})
    >>> chat.condition, chat.messages[0].text, chat.omitted[0].text
    ('m', 'Hi', 'Be kind.')
    """
    about = record if isinstance(record, dict) else {}
    draft = Draft()
    if about.get("system"):
        add_message(draft, {"role": "system", "content": about["system"]}, "system")
    listed = expect(about.get("messages", record), list, "messages")
    for number, message in enumerate(listed, 1):
        add_message(draft, message, f"messages[{number}]" if about else f"message {number}")
    for number, one in enumerate(expect(about.get("omitted") or [], list, "omitted"), 1):
        draft.omitted.append(_omitted(one, f"omitted[{number}]"))
    known = {name: _name(about, name) for name in _NAMES}
    known["condition"] = known["condition"] or _name(about, "model")
    yield draft.chat(next(filter(None, (_name(about, key) for key in _IDS)), ""), **known)


def _name(about: dict, key: str) -> str | None:
    value = about.get(key)
    if value is None or (isinstance(value, str | int) and not isinstance(value, bool)):
        return None if value is None else str(value)
    raise ValueError(f"{key}: expected a text, found {'a list' if isinstance(value, list) else type(value).__name__}")


def _omitted(one: object, where: str) -> Omitted:
    expect(one, dict, where)
    return Omitted(
        expect(one.get("before"), int, f"{where}.before"),
        expect(one.get("what"), str, f"{where}.what"),
        expect(one.get("text", ""), str, f"{where}.text"),
    )
