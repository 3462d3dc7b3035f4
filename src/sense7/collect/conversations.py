"""Conversations to rate: JSON Lines, one conversation per line, as ``sense7 import`` writes them."""

import json
import re
import unicodedata
from collections.abc import Mapping
from pathlib import Path

from sense7.errors import UserError
from sense7.files import reading
from sense7.workbook.xlsx import LONGEST_TEXT

__all__ = ["LARGEST", "check_conversation", "read_conversations", "strict_json"]

LARGEST = 50 * 2**20
"""Bytes of a file of conversations: a page that carries more is too heavy for a phone."""

ROLES = ("user", "assistant")
_NAMES = ("participant", "condition", "topic")
_LONGEST_NAME = 200
_MOST_MESSAGES = 10_000
_MOST_SECONDS = 1e9
_UNSTORABLE = re.compile("[\ud800-\udfff\ufffe\uffff]")
_AGAIN = "`sense7 import` writes this layout."


def read_conversations(path: str | Path) -> list[dict]:
    """Read conversations: ``id``, ``messages`` (``role``, ``content``), optional participant, condition and topic.

    Parameters
    ----------
    path : path
        A JSON Lines file in UTF-8. A message may say its ``seconds`` since the first one. Other keys of a conversation
        or a message are passed over. A message without content is an empty text.

    Returns
    -------
    list of dict
        With the keys ``id``, ``messages`` and those of the three that are there.

    Raises
    ------
    UserError
        If a line is no conversation that can be rated; names the line and how to fix it.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "chats.jsonl"
    >>> chat = {"id": "a", "messages": [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello"}]}
    >>> _ = path.write_text(json.dumps(chat))
    >>> read_conversations(path) == [chat]
    True
    """
    path = Path(path)
    with reading(path) as stream:
        content = stream.read(LARGEST + 1)
    if len(content) > LARGEST:
        raise UserError(f"{path}: larger than {LARGEST // 2**20} MB, too heavy for a page. Split it.")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise UserError(f"{path}: line {line}: not UTF-8. Save the file again in UTF-8.") from None
    conversations, lines = [], {}
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            where = f"{path}: line {number}"
            conversation = _conversation(line, where)
            if (first := lines.setdefault(conversation["id"], number)) != number:
                raise UserError(f"{where}: id {conversation['id']!r} stands in line {first}, too. Give it another.")
            conversations.append(conversation)
    if not conversations:
        raise UserError(f"{path}: holds no conversation. {_AGAIN}")
    return conversations


def _conversation(line: str, where: str) -> dict:
    try:
        content = strict_json(line)
    except ValueError as error:
        raise UserError(f"{where}: no JSON ({error}). Write one conversation per line. {_AGAIN}") from None
    if not isinstance(content, Mapping) or not {"id", "messages"} <= content.keys():
        raise UserError(f"{where}: no conversation: id and messages are needed. {_AGAIN}")
    return check_conversation(content, where)


def check_conversation(content: Mapping, where: str) -> dict:
    """Check a conversation; see :func:`read_conversations`.

    Raises
    ------
    UserError
        If it can't be rated, or a workbook can't hold it.
    """
    conversation: dict = {"id": _name(content["id"], f"{where}: id")}
    for key in _NAMES:
        if content.get(key) not in (None, ""):
            conversation[key] = _name(content[key], f"{where}: {key}")
    messages = content["messages"]
    if not isinstance(messages, list) or not 0 < len(messages) <= _MOST_MESSAGES:
        raise UserError(f"{where}: messages: no list of 1 to {_MOST_MESSAGES:,} messages. {_AGAIN}")
    conversation["messages"] = [
        _message(message, f"{where}: message {number}") for number, message in enumerate(messages, 1)
    ]
    if not any(message["role"] == "assistant" for message in conversation["messages"]):
        raise UserError(f"{where}: no message of the assistant, so there is nothing to rate. Remove the conversation.")
    return conversation


def _name(value: object, where: str) -> str:
    """A short text on one line that no spreadsheet program takes for a formula; a whole number is its digits."""
    text = str(value) if isinstance(value, int) and not isinstance(value, bool) else value
    if not isinstance(text, str) or not text.strip() or len(text) > _LONGEST_NAME:
        raise UserError(f"{where}: {value!r:.40} is no text of 1 to {_LONGEST_NAME} characters. Write one.")
    text = unicodedata.normalize("NFC", text.strip())
    if text[0] in "=+-@" or any(unicodedata.category(letter)[0] == "C" for letter in text):
        raise UserError(
            f"{where}: {text!r:.40} begins with = + - @ or holds an invisible character. Change it; for an id, "
            "`sense7 import --new-ids` numbers the conversations."
        )
    return text


def _message(message: object, where: str) -> dict:
    if not isinstance(message, Mapping) or message.get("role") not in ROLES:
        role = message.get("role") if isinstance(message, Mapping) else message
        raise UserError(f"{where}: role {role!r:.40} is neither user nor assistant. {_AGAIN}")
    content = message.get("content")
    content = "" if content is None else content
    if not isinstance(content, str):
        raise UserError(f"{where}: content is no text. Write the text that the person saw. {_AGAIN}")
    if len(content.encode("utf-16-le", "surrogatepass")) // 2 > LONGEST_TEXT:
        raise UserError(f"{where}: more than {LONGEST_TEXT:,} characters, too many for a workbook's cell. Shorten it.")
    if _UNSTORABLE.search(content):
        raise UserError(f"{where}: half a character (a lone surrogate), which no file can hold. Remove it.")
    return {"role": message["role"], "content": content} | _seconds(message.get("seconds"), where)


def _seconds(value: object, where: str) -> dict:
    """When the message was said, after the first one."""
    if value is None:
        return {}
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < _MOST_SECONDS:
        raise UserError(f"{where}: seconds: {value!r:.40} is no number of seconds since the first message. Remove it.")
    return {"seconds": value}


def strict_json(text: str):
    """Read JSON, and refuse what readers understand differently: a key twice, NaN, and depth without end.

    Raises
    ------
    ValueError
        If it is no such JSON.

    Examples
    --------
    >>> strict_json('{"a": 1, "a": 2}')
    Traceback (most recent call last):
        ...
    ValueError: the key 'a' stands twice in one place
    """

    def once(pairs: list[tuple]) -> dict:
        content = dict(pairs)
        if len(content) < len(pairs):
            keys = [key for key, _ in pairs]
            twice = next(key for key in keys if keys.count(key) > 1)
            raise ValueError(f"the key {twice!r:.40} stands twice in one place")
        return content

    def never(name: str):
        raise ValueError(f"{name} is no number of JSON")

    try:
        return json.loads(text, object_pairs_hook=once, parse_constant=never)
    except json.JSONDecodeError as error:
        raise ValueError(f"{error.msg}, line {error.lineno}, column {error.colno}") from None
    except RecursionError:
        raise ValueError("nested too deeply") from None
