"""Trees of messages, in which an edit or a new attempt is a branch: exports of ChatGPT, lists with parents."""

from collections.abc import Mapping, Sequence

from sense7.exchange import content
from sense7.exchange.content import Chat, Message, Omitted, expect, model_of

BRANCH = Omitted("message of another branch")


def _time(message: Mapping, keys: Sequence[str]) -> float | None:
    return next((moment for key in keys if (moment := content.seconds_of(message.get(key))) is not None), None)


def _branch(parents: Mapping[str, str | None], times: Mapping[str, float | None], current: object, where: str) -> list:
    """Names of the nodes from the root to the current one; where none such is there, to the leaf of the newest message.

    A later message in the file is newer than one of the same time, or where no time is known.
    """
    if parents and (not isinstance(current, str) or current not in parents):
        order = {name: number for number, name in enumerate(parents)}
        current = max(order, key=lambda name: (-1 if times.get(name) is None else times[name], order[name]))
        children = {parent: name for name, parent in parents.items()}
        below = {current}
        while (child := children.get(current)) is not None and child not in below:
            below.add(current := child)
    path, seen = [], set()
    while current is not None:
        if not isinstance(current, str) or current not in parents:
            raise ValueError(f"{where}: expected a node {str(current)[:40]!r}, which is named and not there")
        if current in seen:
            raise ValueError(f"{where}: the node {current[:40]!r} is its own ancestor; expected a tree")
        seen.add(current)
        path.append(current)
        current = parents[current]
    return path[::-1]


def _adopt(parents: dict[str, str | None], children: Mapping[str, object]) -> None:
    """Give nodes without a parent that which names them among its children."""
    for name, named in children.items():
        for child in map(str, named if isinstance(named, list) else ()):
            if child in parents and parents[child] is None:
                parents[child] = name


def unfolded(messages: list) -> list:
    """The messages of a list, each followed by those that it holds as its children, which then name it as parent."""
    waiting, found = messages[::-1], []
    while waiting:
        message = waiting.pop()
        of = message if isinstance(message, dict) else {}
        key = next((key for key in content.KEYS["children"] if isinstance(of.get(key), list)), "")
        inside = [child for child in of.get(key, ()) if isinstance(child, dict)]
        if inside:
            own = next(
                (message[one] for one in content.KEYS["own"] if message.get(one) is not None), f"(message {len(found)})"
            )
            message = {"id": own, **message, key: None}
            waiting += [{"parent": own, **child} for child in reversed(inside)]
        found.append(message)
    return found


def branch_of_list(about: Mapping, messages: list, where: str) -> list[int]:
    """Positions of the messages of a conversation; all of them, unless they name their parents or children.

    The first messages may name a parent that stands for the beginning, and is not there.
    """
    parent_of = {
        number: next(key for key in content.KEYS["parent"] if key in message)
        for number, message in enumerate(messages)
        if isinstance(message, dict) and any(key in message for key in content.KEYS["parent"])
    }
    listed = [one if isinstance(one, dict) else {} for one in messages]
    by_children = next((key for key in content.KEYS["children"] if any(one.get(key) for one in listed)), None)
    if not by_children and not any(messages[number][key] is not None for number, key in parent_of.items()):
        return list(range(len(messages)))
    parents, times, children, last = {}, {}, {}, None
    for number, message in enumerate(messages):
        expect(message, dict, f"{where}[{number + 1}]")
        name = next(
            (str(message[key]) for key in content.KEYS["own"] if message.get(key) is not None), f"message {number + 1}"
        )
        if name in parents:
            raise ValueError(f"{where}: two messages have the id {name[:40]!r}")
        parent = message[parent_of[number]] if number in parent_of else None if by_children else last
        parents[name], times[name] = None if parent is None else str(parent), _time(message, content.KEYS["time"])
        children[name], last = message.get(by_children), name
    _adopt(parents, children)
    if len(absent := dict.fromkeys(one for one in parents.values() if one is not None and one not in parents)) == 1:
        parents = {name: None if parent in absent else parent for name, parent in parents.items()}
    current = next((str(about[key]) for key in content.KEYS["current"] if about.get(key) is not None), None)
    positions = {name: number for number, name in enumerate(parents)}
    return [positions[name] for name in _branch(parents, times, current, where)]


def read_chatgpt(record: Mapping) -> Chat:
    """Read a conversation of the data export of ChatGPT."""
    mapping = expect(record["mapping"], dict, "mapping")
    nodes = {name: node if isinstance(node, dict) else {} for name, node in mapping.items()}
    parents = {name: node.get("parent") for name, node in nodes.items()}
    _adopt(parents, {name: node.get("children") for name, node in nodes.items()})
    said = {name: node["message"] for name, node in nodes.items() if node.get("message")}
    times = {name: _time(one, content.KEYS["time"]) if isinstance(one, dict) else None for name, one in said.items()}
    path = _branch(parents, times, record.get("current_node"), "mapping")
    parts, models = [], {}
    for name in path:
        expect(mapping[name], dict, f"mapping[{name[:40]!r}]")
        if name in said:
            where = f"mapping[{name[:40]!r}].message"
            read = _read(expect(said[name], dict, where), where)
            parts += read
            if read and isinstance(read[-1], Message) and model_of(said[name]):
                models[model_of(said[name])] = None
    parts += [BRANCH for _ in said.keys() - set(path)]
    return content.assemble(
        parts,
        content.name_of(record, ("conversation_id", "id")) or "",
        clock=True,
        condition=" + ".join(models) or model_of(record),
        title=content.name_of(record, ("title",)),
    )


def _read(message: Mapping, where: str) -> list[Message | Omitted]:
    """Read a message with the time of day, or name what it is instead."""
    author = expect(message.get("author"), dict, f"{where}.author")
    side = content.side_of(author.get("role"), f"{where}.author.role")
    held = expect(message.get("content") or {"content_type": "text"}, dict, f"{where}.content")
    kind = held.get("content_type")
    metadata = message["metadata"] if isinstance(message.get("metadata"), dict) else {}
    text, left_out = "", []
    if is_text := kind in ("text", "multimodal_text"):
        parts = expect(held.get("parts") or [], list, f"{where}.content.parts")
        text, left_out = content.joined(content.pieces(parts, f"{where}.content.parts"))
    instead = Omitted("empty message")
    if metadata.get("is_visually_hidden_from_conversation") or message.get("weight") == 0:
        instead = Omitted("hidden message", text) if text or not is_text else None
    elif side not in (content.USER, content.ASSISTANT):
        # An export begins with an empty system message.
        told = text if side == content.SYSTEM else str(author.get("name") or "")
        instead = Omitted(side, told) if text or side != content.SYSTEM else None
    elif message.get("recipient", "all") != "all":
        instead = Omitted("tool call", str(message["recipient"]))
    elif kind in ("thoughts", "reasoning_recap"):
        instead = Omitted("reasoning")
    elif not is_text:
        instead = Omitted(f"content of type {str(kind)[:40]}")
    elif text or side == content.USER or any(one.is_empty for one in left_out):
        instead = Message(side, text, _time(message, ("create_time",)))
    return [*left_out, instead] if instead else left_out
