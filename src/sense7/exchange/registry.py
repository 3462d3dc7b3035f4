"""The formats that can be brought in: each is recognized by what a record holds, never by a file's name."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from sense7.exchange import chatgpt, claude_export, inspect_logs, message_lists, sharegpt, transcripts, wildchat
from sense7.exchange.chats import Chat, kind_of

__all__ = ["FORMATS", "Format", "recognize"]


@dataclass(frozen=True)
class Format:
    """A format of conversations.

    Attributes
    ----------
    name : str
        What a user calls it.
    sign : str
        By what it is recognized, in words.
    recognizes : callable
        Whether a record is of this format.
    read : callable
        Conversations of a record; what is wrong with it is a ValueError that names the place in the record.
    """

    name: str
    sign: str
    recognizes: Callable[[object], bool]
    read: Callable[[object], Iterator[Chat]]


FORMATS = (
    Format("ChatGPT export", "mapping", chatgpt.is_chatgpt, chatgpt.read_chatgpt),
    Format("Claude export", "chat_messages", claude_export.is_claude_export, claude_export.read_claude_export),
    Format("inspect_ai log", "eval and samples", inspect_logs.is_inspect_log, inspect_logs.read_inspect_log),
    Format(
        "list of messages (OpenAI, Anthropic)",
        "messages, or a list of objects with role and content",
        message_lists.is_message_list,
        message_lists.read_message_list,
    ),
    Format("ShareGPT", "conversations", sharegpt.is_sharegpt, sharegpt.read_sharegpt),
    Format("WildChat or LMSYS-Chat", "conversation", wildchat.is_wildchat, wildchat.read_wildchat),
    Format(
        "transcript",
        "lines that begin with User: or Assistant:",
        transcripts.is_transcript,
        transcripts.read_transcript,
    ),
)


def recognize(record: object) -> Format:
    """Find the format of a record.

    Raises
    ------
    ValueError
        If it is of none; says what was expected, and what stands there.

    Examples
    --------
    >>> recognize({"conversation": []}).name
    'WildChat or LMSYS-Chat'
    >>> recognize({"prompt": "Hi"})  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    ValueError: no known form of a conversation; it has prompt. Expected one of these: mapping (ChatGPT export), ...
    """
    for one in FORMATS:
        if one.recognizes(record):
            return one
    keys = ", ".join(str(key)[:30] for key in list(record)[:6]) if isinstance(record, dict) else ""
    found = f"it has {keys}" if keys else f"it is {kind_of(record)}"
    signs = ", ".join(f"{one.sign} ({one.name})" for one in FORMATS[:-1])
    raise ValueError(f"no known form of a conversation; {found}. Expected one of these: {signs}")
