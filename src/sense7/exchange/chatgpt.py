"""Trees of messages, in which an edit or a new attempt is a branch: exports of ChatGPT, lists with parents."""

import math
from collections.abc import Mapping

from sense7.exchange.content import (
    ASSISTANT,
    KEYS,
    SYSTEM,
    USER,
    Chat,
    Message,
    Omitted,
    assemble,
    expect,
    first_of,
    joined,
    name_of,
    pieces,
    seconds_of,
    side_of,
)

BRANCH = Omitted("message of another branch")


def unfolded(messages: list) -> list:
    """The messages of a list, each followed by those that it holds as its children, which then name it as parent."""
    waiting = messages[::-1]
    unfolded_messages = []
    while waiting:
        message = waiting.pop()
        for key in KEYS["children"]:
            if not isinstance(message, dict) or not isinstance(message.get(key), list):
                continue
            children = [child for child in message[key] if isinstance(child, dict)]
            if children:
                identifier = first_of(message, "own")
                if identifier is None:
                    identifier = f"(message {len(unfolded_messages)})"
                message = {"id": identifier, **message, key: None}
                waiting += [{"parent": identifier, **child} for child in reversed(children)]
            break
        unfolded_messages.append(message)
    return unfolded_messages


def branch_of_list(
    about: Mapping, messages: list, where: str, *, rooted: bool = False
) -> list[int]:
    """Positions of the messages of a conversation; all of them, unless they name their parents or children.

    Of a tree these are the messages from the root to the current one; where none such is there, to the leaf of the
    newest message: a later one in the file is newer than one of the same time, or where no time is known. Unless it is
    ``rooted``, the first messages may name a parent that stands for the beginning, and is not there.
    """
    objects = [message for message in messages if isinstance(message, dict)]
    children_key = None
    for key in KEYS["children"]:
        if children_key is None and any(message.get(key) for message in objects):
            children_key = key
    has_parents = any(_parent_of(message) is not None for message in objects)
    if children_key is None and not has_parents:
        return list(range(len(messages)))
    parents = _parents_by_name(messages, children_key, where)
    absent = {parent for parent in parents.values() if parent is not None} - parents.keys()
    if len(absent) == 1 and not rooted:
        for name, parent in parents.items():
            if parent in absent:
                parents[name] = None
    current = first_of(about, "current")
    if current is None or str(current) not in parents:
        current = _newest_leaf(messages, parents)
    positions = {name: position for position, name in enumerate(parents)}
    branch = {}  # from the current message up to the root
    name = str(current)
    while name is not None:
        if name not in parents:
            raise ValueError(
                f"{where}: expected a node {name[:40]!r}, which is named and not there"
            )
        if name in branch:
            raise ValueError(
                f"{where}: the node {name[:40]!r} is its own ancestor; expected a tree"
            )
        branch[name] = positions[name]
        name = parents[name]
    return list(branch.values())[::-1]


def _parent_of(message: Mapping) -> object:
    """The parent that a message names; None if it names none."""
    for key in KEYS["parent"]:
        if key in message:
            return message[key]
    return None


def _parents_by_name(messages: list, children_key: str | None, where: str) -> dict[str, str | None]:
    """Name of each message -> that of its parent; without one, of who names it as a child, or of the message before."""
    parents = {}
    previous = None
    for number, message in enumerate(messages, 1):
        expect(message, dict, f"{where}[{number}]")
        name = first_of(message, "own")
        if name is None:
            name = f"message {number}"
        name = str(name)
        if name in parents:
            raise ValueError(f"{where}: two messages have the id {name[:40]!r}")
        parent = _parent_of(message)
        if parent is not None:
            parents[name] = str(parent)
        elif children_key or not message.keys().isdisjoint(KEYS["parent"]):
            parents[name] = None
        else:
            parents[name] = previous
        previous = name
    for name, message in zip(list(parents), messages, strict=True):
        children = message.get(children_key)
        if not isinstance(children, list):
            continue
        for child in map(str, children):
            if child in parents and parents[child] is None:
                parents[child] = name
    return parents


def _newest_leaf(messages: list, parents: Mapping[str, str | None]) -> str:
    """Name of the last message below the newest one."""
    newest, newest_time = "", -math.inf
    for name, message in zip(parents, messages, strict=True):
        time = seconds_of(first_of(message, "time"))
        if time is None:
            time = -1.0
        if time >= newest_time:
            newest, newest_time = name, time
    last_child = {parent: name for name, parent in parents.items()}
    below = {newest}
    leaf = newest
    while last_child.get(leaf) is not None and last_child[leaf] not in below:
        leaf = last_child[leaf]
        below.add(leaf)
    return leaf


def read_chatgpt(record: Mapping) -> Chat:
    """Read a conversation of the data export of ChatGPT."""
    nodes = expect(record["mapping"], dict, "mapping")
    links = []
    for name, node in nodes.items():
        link = {"id": name, "parent": None}
        if isinstance(node, dict):
            link["children"] = node.get("children")
            link["parent"] = node.get("parent")
            if isinstance(node.get("message"), dict):
                link["time"] = node["message"].get("create_time")
        links.append(link)
    names = list(nodes)
    branch = branch_of_list(record, links, "mapping", rooted=True)
    parts = []
    for number in branch:
        where = f"mapping[{names[number][:40]!r}]"
        message = expect(nodes[names[number]], dict, where).get("message")
        if message:
            where += ".message"
            parts += _read(expect(message, dict, where), where)
    for number in set(range(len(names))) - set(branch):
        node = nodes[names[number]]
        if isinstance(node, dict) and node.get("message"):
            parts.append(BRANCH)
    return assemble(parts, name_of(record, ("conversation_id", "id")), record, clock=True)


def _read(message: Mapping, where: str) -> list[Message | Omitted]:
    """Read a message with the time of day, or name what it is instead."""
    if "fragments" in message:
        return _read_fragments(message, where)
    if not isinstance(message.get("author"), dict):
        return [Omitted("message without author")]
    side = side_of(message["author"].get("role"), f"{where}.author.role")
    body = expect(message.get("content") or {"content_type": "text"}, dict, f"{where}.content")
    content_type = body.get("content_type")
    is_text = content_type in ("text", "multimodal_text")
    text, left_out = "", []
    if is_text:
        parts = expect(body.get("parts") or [], list, f"{where}.content.parts")
        text, left_out = joined(pieces(parts, f"{where}.content.parts"))
    metadata = message.get("metadata")
    is_hidden = message.get("weight") == 0
    if isinstance(metadata, dict) and metadata.get("is_visually_hidden_from_conversation"):
        is_hidden = True
    if is_hidden:
        if is_text and not text:
            return left_out
        omitted = "hidden message"
    elif side not in (USER, ASSISTANT):
        if side == SYSTEM and not text:  # with which an export begins
            return left_out
        omitted = side
    elif message.get("recipient", "all") != "all":
        omitted = "tool call"
    elif content_type in ("thoughts", "reasoning_recap"):
        omitted = "reasoning"
    elif not is_text:
        omitted = f"content of type {str(content_type)[:40]}"
    elif text or side == USER or any(part.is_empty for part in left_out):
        seconds = seconds_of(message.get("create_time"))
        model = name_of(message, KEYS["model"])
        return [*left_out, Message(side, text, seconds, model)]
    else:
        omitted = "empty message"
    return [*left_out, Omitted(omitted)]


def _read_fragments(message: Mapping, where: str) -> list[Message | Omitted]:
    """Read a message of an export of DeepSeek, whose fragments say by their types which side wrote them."""
    sides = {"REQUEST": USER, "RESPONSE": ASSISTANT}
    side = ""
    parts = []
    for number, fragment in enumerate(expect(message["fragments"], list, f"{where}.fragments"), 1):
        path = f"{where}.fragments[{number}]"
        fragment_type = str(expect(fragment, dict, path).get("type"))
        if fragment_type in sides:
            side = sides[fragment_type]
            parts += pieces(fragment.get("content"), f"{path}.content")
        elif fragment_type == "THINK":
            parts.append(Omitted("reasoning"))
        else:
            parts.append(Omitted(f"fragment of type {fragment_type[:40]}"))
    text, left_out = joined(parts)
    if not side:
        return left_out or [Omitted("empty message")]
    seconds = seconds_of(message.get("inserted_at"))
    return [*left_out, Message(side, text, seconds, name_of(message, KEYS["model"]))]
