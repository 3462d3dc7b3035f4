"""Records of WildChat and LMSYS-Chat-1M: ``conversation``, a list of messages, with the model beside it."""

from collections.abc import Iterator, Mapping

from sense7.exchange.chats import Chat, Draft, expect
from sense7.exchange.content import add_message

__all__ = ["is_wildchat", "read_wildchat"]


def is_wildchat(record: object) -> bool:
    """Whether a record has ``conversation``."""
    return isinstance(record, dict) and "conversation" in record


def read_wildchat(record: Mapping) -> Iterator[Chat]:
    """Read one conversation.

    WildChat publishes a hash of the internet address, which is the closest that it has to a participant.

    Examples
    --------
    >>> said = [{"role": "user", "content": "Hi", "hashed_ip": "f00"}]
    >>> [chat] = read_wildchat({"conversation_hash": "a", "model": "m", "conversation": said, "hashed_ip": "f00"})
    >>> chat.id, chat.participant, chat.condition
    ('a', 'f00', 'm')
    """
    draft = Draft()
    for number, message in enumerate(expect(record["conversation"], list, "conversation"), 1):
        add_message(draft, message, f"conversation[{number}]")
    known = {key: record.get(key) for key in ("conversation_hash", "conversation_id", "hashed_ip", "model")}
    for key, value in known.items():
        if value is not None:
            expect(value, str, key)
    yield draft.chat(
        known["conversation_hash"] or known["conversation_id"] or "",
        participant=known["hashed_ip"],
        condition=known["model"],
    )
