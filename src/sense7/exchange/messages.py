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
    Said,
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
    [key] = [key for key in LISTS if key in record][:1]
    require_known(record, {key, *schema["facts"], *_names(schema["left_out"])}, where)
    left_out = _parts_left_out(record, schema["left_out"])
    said = []
    for number, message in enumerate(expect(record[key], list, f"{where}: {key}"), 1):
        place = f"{where}: {key}[{number}]"
        found = _read_message(expect(message, dict, place), place, left_out)
        if found is not None:
            said.append(found)
    about = {"id": fact_of(record, CONVERSATION_ID, where)}
    for fact in ("participant", "condition", "topic", "model"):
        about[fact] = fact_of(record, (fact,), where)
    return assemble(said, left_out, about, where)


def side_of(role: object, where: str) -> str:
    """Return the side that says a message, or what it is counted as where it is left out."""
    if isinstance(role, str) and role in ROLES:
        return ROLES[role]
    raise UserError(f"{where}: {role!r:.40} is no role. Write one of {', '.join(ROLES)}.")


def _names(left_out: Mapping[str, list[str]]) -> set[str]:
    """Keys of all that is left out."""
    return set().union(*left_out.values())


def _parts_left_out(holder: Mapping, left_out: Mapping[str, list[str]]) -> list[str]:
    """Names of what an object holds and a conversation does not: each of a list counts."""
    parts = []
    for name, keys in left_out.items():
        for key in keys:
            value = holder.get(key)
            if value:
                number = len(value) if isinstance(value, list) else 1
                parts += [name] * number
    return parts


def _read_message(message: Mapping, where: str, left_out: list[str]) -> Said | None:
    """Read a message; None for one that no reader of the conversation saw, whose parts are counted as left out."""
    side = side_of(message.get("role"), f"{where}.role")
    if side not in (USER, ASSISTANT):
        left_out.append(side)
        return None
    schema = SCHEMA["message"]
    known = {*schema["facts"], *schema["times"], *schema["text"], *_names(schema["left_out"])}
    require_known(message, known, where)
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
        return None
    time = message.get("seconds")
    if time is None:
        for key in schema["times"]:
            if message.get(key) is not None:
                time = moment_of(message[key], f"{where}.{key}")
                break
    elif not is_number(time) or abs(time) > 1e9:
        raise UserError(
            f"{where}.seconds: {time!r:.40} is no number of seconds since the conversation began."
        )
    return Said(side, text, time, fact_of(message, ("model",), where))
