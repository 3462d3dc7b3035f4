"""Records of ShareGPT: ``conversations``, each message with ``from`` and ``value``."""

from collections.abc import Iterator, Mapping

from sense7.exchange.chats import Chat, Draft, expect
from sense7.exchange.content import add_message

__all__ = ["is_sharegpt", "read_sharegpt"]


def is_sharegpt(record: object) -> bool:
    """Whether a record has ``conversations``."""
    return isinstance(record, dict) and "conversations" in record


def read_sharegpt(record: Mapping) -> Iterator[Chat]:
    """Read one conversation; messages with ``role`` and ``content`` occur in such files, too.

    Examples
    --------
    >>> [chat] = read_sharegpt({"id": "a", "conversations": [{"from": "human", "value": "Hi"}]})
    >>> chat.messages
    (Message(role='user', text='Hi', seconds=None),)
    """
    draft = Draft()
    if record.get("system"):
        add_message(draft, {"role": "system", "content": record["system"]}, "system")
    for number, message in enumerate(expect(record["conversations"], list, "conversations"), 1):
        where = f"conversations[{number}]"
        if "from" in expect(message, dict, where):
            text = expect(message.get("value"), str, f"{where}.value")
            add_message(draft, {"role": message["from"], "content": text}, where)
        else:
            add_message(draft, message, where)
    model = record.get("model")
    yield draft.chat(str(record.get("id") or ""), condition=model if isinstance(model, str) else None)
