"""Conversations in JSON: lists of messages with role and content, and ChatGPT's data export.

Lists are as the OpenAI API takes them, and Anthropic's and Gemini's like them. The export is a tree of messages, in
which an edit or a new attempt is a branch.
"""

import datetime
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from sense7.errors import UserError
from sense7.exchange.content import (
    ASSISTANT,
    SCHEMA,
    USER,
    Chat,
    Message,
    expect,
    fact_of,
    moment_of,
    read_object,
    whole_text,
)
from sense7.workbook.ids import is_number

SIDES = (USER, ASSISTANT)

LISTS = ("messages", "contents")
"""Keys of a list of messages: those of OpenAI and Anthropic, and that of Gemini."""

_BLOCKS = {}
for _name, _block in SCHEMA["block"].items():
    _BLOCKS.update(dict.fromkeys(_block["types"], (_name, _block)))

_UNSEEN = {"tool call", "tool result", "reasoning"}
"""Parts that a reader of the conversation did not see as a message: one of nothing else is left out whole."""


class Utterance(NamedTuple):
    """A message as a reader finds it: its time by the clock, or in seconds since the beginning; the model, if named."""

    role: str
    text: str
    time: datetime.datetime | float | None
    model: str | None


def read_list(record: Mapping, where: str, left_out: list[str]) -> Chat:
    """Read a conversation from an object with a list of messages; what is left out of it is added by name."""
    schema = SCHEMA["record"]
    key = next(key for key in LISTS if key in record)
    read_object(record, {key, *schema["facts"], *schema["left_out"]}, where)
    _leave_out(record, schema["left_out"], left_out)
    utterances = []
    for number, message in enumerate(expect(record[key], list, f"{where}: {key}"), 1):
        utterances += _read_message(message, f"{where}: {key}[{number}]", left_out)
    return _chat_of(utterances, record, where)


def _chat_of(utterances: Sequence[Utterance], record: Mapping, where: str) -> Chat:
    """Make a conversation; times by the clock become those since the first, and may go back."""
    beginning = None
    messages = []
    for utterance in utterances:
        seconds = utterance.time
        if isinstance(seconds, datetime.datetime):
            beginning = beginning or seconds
            try:
                seconds = (seconds - beginning).total_seconds()
            except TypeError:
                fix = "some times name a zone, and some do not. Write all of them alike."
                raise UserError(f"{where}: {fix}") from None
        messages.append(Message(utterance.role, utterance.text, seconds))
    models = dict.fromkeys(message.model for message in utterances if message.model)
    facts = {name: fact_of(record, where, *keys) for name, keys in SCHEMA["facts"].items()}
    facts["id"] = facts["id"] or ""
    facts["model"] = " + ".join(models) or facts["model"]
    return Chat(messages=tuple(messages), **facts)


def _leave_out(holder: Mapping, names: Mapping[str, str], left_out: list[str]) -> None:
    """Count what an object holds and a conversation does not; each entry of a list counts."""
    for key, name in names.items():
        value = holder.get(key)
        if isinstance(value, list):
            left_out += [name] * len(value)
        elif value:
            left_out.append(name)


def _read_message(message: Mapping, where: str, left_out: list[str]) -> list[Utterance]:
    """Read a message; nothing of one that no reader of the conversation saw, whose parts are counted as left out."""
    role = expect(message, dict, where).get("role")
    if not isinstance(role, str) or role not in SCHEMA["roles"]:
        roles = ", ".join(SCHEMA["roles"])
        raise UserError(f"{where}.role: {role!r:.40} is no role. Write one of {roles}.")
    side = SCHEMA["roles"][role]
    if side not in SIDES:
        left_out.append(side)
        return []
    schema = SCHEMA["message"]
    keys = {*schema["facts"], *schema["times"], *schema["text"], *schema["left_out"]}
    read_object(message, keys, where)
    texts = [key for key in schema["text"] if message.get(key) not in (None, "", [])]
    if len(texts) > 1:
        raise UserError(
            f"{where}: {' and '.join(texts)} both hold something. Keep the one that was said."
        )
    parts = []
    _leave_out(message, schema["left_out"], parts)
    text = ""
    for key in texts:
        text = read_content(message[key], f"{where}.{key}", parts)
    left_out += parts
    if not text and parts and _UNSEEN.issuperset(parts):
        return []
    time = message.get("seconds")
    if time is not None and not (is_number(time) and abs(time) <= 1e9):
        raise UserError(
            f"{where}.seconds: {time!r:.40} is no number of seconds since the conversation began."
        )
    for key in schema["times"]:
        if time is None:
            time = moment_of(message.get(key), f"{where}.{key}")
    return [Utterance(side, text, time, fact_of(message, where, "model"))]


def read_content(content: object, where: str, left_out: list[str]) -> str:
    """Return the text of a message's content: its blocks of text, one after the other; others are left out by name."""
    if isinstance(content, str):
        return whole_text(content, where)
    text = ""
    is_interrupted = False
    for number, block in enumerate(expect(content, list, where), 1):
        path = f"{where}[{number}]"
        piece = block
        if not isinstance(block, str):
            piece = _read_block(block, path, left_out)
        if piece is None:
            is_interrupted = True
            continue
        joint = text[-1:] + whole_text(piece, path)[:1]
        if is_interrupted and len(joint.strip()) == 2:
            raise UserError(
                f"{path}: a text that follows another behind something else (such as {left_out[-1]}), without white "
                "space between them. Make two messages of it, or put a line break between the texts."
            )
        if piece:
            text += piece
            is_interrupted = False
    return text


def _read_block(block: Mapping, where: str, left_out: list[str]) -> str | None:
    """Return the text of a content block; None for what is no text, which is left out by name."""
    expect(block, dict, where)
    block_type = block.get("type", block.get("content_type"))
    if block_type is None:  # Gemini's blocks have the key of what they hold
        block_type = next((key for key in block if key in _BLOCKS), None)
    if not isinstance(block_type, str) or block_type not in _BLOCKS:
        raise UserError(
            f"{where}: {block_type!r:.40} is no known type of a content block. Write its text as a block of type text, "
            "or remove it."
        )
    name, schema = _BLOCKS[block_type]
    text_key = schema.get("text")
    read_object(block, {text_key, *schema["keys"], *SCHEMA["block_facts"]}, where)
    if text_key is None:
        left_out.append(name)
    elif block.get("thought") is True:
        left_out.append("reasoning")
    else:
        return expect(block.get(text_key), str, f"{where}.{text_key}")
    return None


# --- ChatGPT's data export ---


def read_tree(record: Mapping, where: str, left_out: list[str]) -> Chat:
    """Read the branch of a conversation that was shown: the current message, and those before it up to the root."""
    schema = SCHEMA["chatgpt"]
    if record["mapping"] and not record.get("current_node"):
        raise UserError(
            f"{where}: current_node, which names the branch that was shown, is missing. Export the file again; of "
            "another program's tree (DeepSeek's), make a list of messages."
        )
    read_object(record, schema["record"], where)
    nodes = expect(record["mapping"], dict, f"{where}: mapping")
    branch = {}
    name = record.get("current_node")
    while name is not None:
        path = f"{where}: mapping[{name!r:.50}]"
        if not isinstance(name, str) or name not in nodes or name in branch:
            raise UserError(
                f"{path}: current_node or parent of the branch that was shown, and not there, or its own ancestor. "
                "Export the file again."
            )
        branch[name] = read_object(nodes[name], schema["node"], path)
        name = branch[name].get("parent")
    utterances = []
    for name, node in reversed(branch.items()):
        if node.get("message") is not None:
            path = f"{where}: mapping[{name!r:.50}].message"
            utterances += _read_shown(node["message"], path, left_out)
    for name in nodes.keys() - branch.keys():
        if expect(nodes[name], dict, f"{where}: mapping[{name!r:.50}]").get("message"):
            left_out.append("message of another branch")
    return _chat_of(utterances, record, where)


def _read_shown(message: Mapping, where: str, left_out: list[str]) -> list[Utterance]:
    """Read a message of the branch; nothing of one that the page did not show, which is counted as left out."""
    schema = SCHEMA["chatgpt"]
    read_object(message, schema["message"], where)
    role = expect(message.get("author"), dict, f"{where}.author").get("role")
    content = expect(message.get("content"), dict, f"{where}.content")
    metadata = expect(message.get("metadata") or {}, dict, f"{where}.metadata")
    content_type = str(content.get("content_type"))
    if metadata.get("is_visually_hidden_from_conversation") is True or message.get("weight") == 0:
        left_out.append("hidden message")
        return []
    if role in SIDES and message.get("recipient", "all") != "all":
        left_out.append("tool call")
        return []
    if role in SIDES and content_type in schema["left_out"]:
        left_out.append(schema["left_out"][content_type])
        return []
    parts = []
    if role in SIDES:
        if content_type not in schema["shown"]:
            raise UserError(
                f"{where}.content: {content_type!r:.40} is no known content. Remove the message from the file if the "
                "page did not show it; else write it with content_type text and parts."
            )
        read_object(content, schema["content"], f"{where}.content")
        references = metadata.get("content_references") or []
        place = f"{where}.metadata.content_references"
        for part in expect(content.get("parts") or [], list, f"{where}.content.parts"):
            visible = part  # with the text that the page showed in place of each mark
            for reference in expect(references, list, place):
                marked = expect(reference, dict, place).get("matched_text")
                text = reference.get("alt")
                if reference.get("type") == "hidden":
                    text = ""
                are_texts = all(isinstance(value, str) for value in (visible, marked, text))
                if are_texts and marked.startswith("\ue200"):
                    visible = visible.replace(marked, text)
            parts.append(visible)
        if role == ASSISTANT and not any(parts):
            left_out.append("empty message")
            return []
    as_listed = {
        "role": role,
        "parts": parts,
        "create_time": message.get("create_time"),
        "model": metadata.get("model_slug"),
        "attachments": metadata.get("attachments"),
    }
    return _read_message(as_listed, where, left_out)
