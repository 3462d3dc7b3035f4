"""Lists of messages with role and content: as the OpenAI API takes them, and Anthropic's and Gemini's like them."""

from collections.abc import Mapping

from sense7.errors import UserError
from sense7.exchange.content import (
    ASSISTANT,
    ROLES,
    SCHEMA,
    UNSEEN,
    USER,
    Chat,
    Utterance,
    assemble,
    expect,
    fact_of,
    moment_of,
    read_content,
    require_known,
)
from sense7.workbook.ids import is_number

LISTS = ("messages", "contents")
"""Keys of a list of messages: those of OpenAI and Anthropic, and that of Gemini."""

CONVERSATION_ID = ("conversation_id", "session_id", "thread_id", "id")


def read_list(record: Mapping, where: str) -> Chat:
    """Read a conversation from an object with a list of messages."""
    schema = SCHEMA["record"]
    key = next(key for key in LISTS if key in record)
    require_known(record, {key, *schema["facts"], *schema["left_out"]}, where)
    left_out = _parts_left_out(record, schema["left_out"])
    utterances = []
    for number, message in enumerate(expect(record[key], list, f"{where}: {key}"), 1):
        path = f"{where}: {key}[{number}]"
        utterances += _read_message(expect(message, dict, path), path, left_out)
    about = {"id": fact_of(record, CONVERSATION_ID, where)}
    for fact in ("participant", "condition", "topic", "model"):
        about[fact] = fact_of(record, (fact,), where)
    return assemble(utterances, left_out, about, where)


def side_of(role: object, where: str) -> str:
    """Return the side that says a message, or what it is counted as where it is left out."""
    if isinstance(role, str) and role in ROLES:
        return ROLES[role]
    raise UserError(f"{where}: {role!r:.40} is no role. Write one of {', '.join(ROLES)}.")


def _parts_left_out(holder: Mapping, left_out: Mapping[str, str]) -> list[str]:
    """Names of what an object holds and a conversation does not; each entry of a list counts."""
    parts = []
    for key, name in left_out.items():
        value = holder.get(key)
        if value:
            parts += [name] * (len(value) if isinstance(value, list) else 1)
    return parts


def _read_message(message: Mapping, where: str, left_out: list[str]) -> list[Utterance]:
    """Read a message; nothing of one that no reader of the conversation saw, whose parts are counted as left out."""
    side = side_of(message.get("role"), f"{where}.role")
    if side not in (USER, ASSISTANT):
        left_out.append(side)
        return []
    schema = SCHEMA["message"]
    keys = {*schema["facts"], *schema["times"], *schema["text"], *schema["left_out"]}
    require_known(message, keys, where)
    texts = [key for key in schema["text"] if message.get(key) not in (None, "", [])]
    if len(texts) > 1:
        raise UserError(
            f"{where}: {' and '.join(texts)} both hold something. Keep the one that was said."
        )
    parts = _parts_left_out(message, schema["left_out"])
    text = ""
    for key in texts:
        text = read_content(message[key], f"{where}.{key}", parts)
    left_out += parts
    if not text and parts and UNSEEN.issuperset(parts):
        return []
    time = message.get("seconds")
    if time is not None and not (is_number(time) and abs(time) < 1e9):
        raise UserError(
            f"{where}.seconds: {time!r:.40} is no number of seconds since the conversation began."
        )
    for key in schema["times"]:
        if time is None:
            time = moment_of(message.get(key), f"{where}.{key}")
    return [Utterance(side, text, time, fact_of(message, ("model",), where))]
