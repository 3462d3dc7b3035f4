"""The data export of ChatGPT: a tree of messages, in which an edit or a new attempt is a branch."""

import re
from collections.abc import Mapping

from sense7.errors import UserError
from sense7.exchange.content import (
    ASSISTANT,
    SCHEMA,
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
from sense7.exchange.messages import side_of

_MARKED = re.compile("\ue200[^\ue200\ue201]*\ue201")
"""What ChatGPT's page replaces when it shows a text."""


def read_tree(record: Mapping, where: str) -> Chat:
    """Read the branch of a conversation that was shown: the current message, and those before it up to the root."""
    require_known(record, SCHEMA["chatgpt"]["record"], where)
    nodes = expect(record["mapping"], dict, f"{where}: mapping")
    branch: dict[str, Mapping] = {}
    name = record.get("current_node")
    while name is not None:
        path = f"{where}: mapping[{name!r:.50}]"
        if not isinstance(name, str) or name not in nodes or name in branch:
            raise UserError(
                f"{path}: named as a message of the branch that was shown, and not there, or its own ancestor. Export "
                "the file again."
            )
        branch[name] = expect(nodes[name], dict, path)
        require_known(branch[name], SCHEMA["chatgpt"]["node"], path)
        name = branch[name].get("parent")
    if nodes and not branch:
        raise UserError(
            f"{where}: current_node: is missing, and names the branch that was shown. Export the file again."
        )
    utterances, left_out = [], []
    for name, node in reversed(branch.items()):
        path = f"{where}: mapping[{name!r:.50}].message"
        if node.get("message") is not None:
            utterances += _read_message(expect(node["message"], dict, path), path, left_out)
    for name in nodes.keys() - branch.keys():
        if expect(nodes[name], dict, f"{where}: mapping[{name!r:.50}]").get("message"):
            left_out.append("message of another branch")
    about = {
        "id": fact_of(record, ("conversation_id", "id"), where),
        "model": fact_of(record, ("default_model_slug",), where),
    }
    return assemble(utterances, left_out, about, where)


def _read_message(message: Mapping, where: str, left_out: list[str]) -> list[Utterance]:
    """Read a message of the branch; nothing of one that the page did not show, which is counted as left out."""
    schema = SCHEMA["chatgpt"]
    require_known(message, schema["message"], where)
    author = expect(message.get("author"), dict, f"{where}.author")
    side = side_of(author.get("role"), f"{where}.author.role")
    content = expect(message.get("content"), dict, f"{where}.content")
    content_type = content.get("content_type")
    metadata = expect(message.get("metadata") or {}, dict, f"{where}.metadata")
    is_hidden = metadata.get("is_visually_hidden_from_conversation") is True
    omitted = None
    if is_hidden or message.get("weight") == 0:
        omitted = "hidden message"
    elif side not in (USER, ASSISTANT):
        omitted = side
    elif message.get("recipient", "all") != "all":
        omitted = "tool call"
    elif isinstance(content_type, str):
        omitted = schema["left_out"].get(content_type)
    if omitted is not None:
        left_out.append(omitted)
        return []
    if content_type not in schema["shown"]:
        raise UserError(
            f"{where}.content: {content_type!r:.40} is no known content. Remove the message from the file if the page "
            "did not show it; else write it with content_type text and parts."
        )
    require_known(content, schema["content"], f"{where}.content")
    parts = expect(content.get("parts") or [], list, f"{where}.content.parts")
    texts = _shown_texts(metadata, f"{where}.metadata")
    for number, part in enumerate(parts):
        if isinstance(part, str):
            parts[number] = _MARKED.sub(lambda mark: texts.get(mark[0], mark[0]), part)
    pieces = ["attachment"] * len(expect(metadata.get("attachments") or [], list, where))
    text = read_content(parts, f"{where}.content.parts", pieces)
    left_out += pieces
    if not text and not pieces and side == ASSISTANT:
        left_out.append("empty message")
        return []
    time = moment_of(message.get("create_time"), f"{where}.create_time")
    return [Utterance(side, text, time, fact_of(metadata, ("model_slug",), f"{where}.metadata"))]


def _shown_texts(metadata: Mapping, where: str) -> dict[str, str]:
    """Marked text -> what the page showed in its place, by the references of a message."""
    texts = {}
    references = expect(metadata.get("content_references") or [], list, where)
    for reference in references:
        if not isinstance(reference, dict) or not isinstance(reference.get("matched_text"), str):
            continue
        if isinstance(reference.get("alt"), str):
            texts[reference["matched_text"]] = reference["alt"]
        elif reference.get("type") == "hidden":
            texts[reference["matched_text"]] = ""
    return texts
