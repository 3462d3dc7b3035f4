"""Trees of messages, in which an edit or a new attempt is a branch: exports of ChatGPT, lists with parents."""

from collections.abc import Mapping

from sense7.exchange import content
from sense7.exchange.content import Chat, Message, Omitted, expect

BRANCH = Omitted("message of another branch")


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
                (message[one] for one in content.KEYS["own"] if message.get(one) is not None),
                f"(message {len(found)})",
            )
            message = {"id": own, **message, key: None}
            waiting += [{"parent": own, **child} for child in reversed(inside)]
        found.append(message)
    return found


def branch_of_list(
    about: Mapping, messages: list, where: str, *, rooted: bool = False
) -> list[int]:
    """Positions of the messages of a conversation; all of them, unless they name their parents or children.

    Of a tree these are the messages from the root to the current one; where none such is there, to the leaf of the
    newest message: a later one in the file is newer than one of the same time, or where no time is known. Unless it is
    ``rooted``, the first messages may name a parent that stands for the beginning, and is not there.
    """
    listed = [one if isinstance(one, dict) else {} for one in messages]
    by_children = next(
        (key for key in content.KEYS["children"] if any(one.get(key) for one in listed)), None
    )
    parent_keys = [
        next((key for key in content.KEYS["parent"] if key in one), None) for one in listed
    ]
    if not by_children and not any(
        key and one[key] is not None for key, one in zip(parent_keys, listed, strict=True)
    ):
        return list(range(len(messages)))
    parents: dict[str, str | None] = {}
    for number, (message, key) in enumerate(zip(messages, parent_keys, strict=True), 1):
        expect(message, dict, f"{where}[{number}]")
        name = content.first_of(message, "own")
        if (name := f"message {number}" if name is None else str(name)) in parents:
            raise ValueError(f"{where}: two messages have the id {name[:40]!r}")
        last = next(reversed(parents), None)
        parents[name] = None if by_children else last
        if key:
            parents[name] = None if message[key] is None else str(message[key])
    names = list(parents)
    for name, message in zip(
        names, messages, strict=True
    ):  # those without a parent, from who names them as a child
        for child in (
            map(str, message.get(by_children) or ())
            if isinstance(message.get(by_children), list)
            else ()
        ):
            if child in parents and parents[child] is None:
                parents[child] = name
    absent = {one for one in parents.values() if one is not None and one not in parents}
    if len(absent) == 1 and not rooted:
        parents = {name: None if parent in absent else parent for name, parent in parents.items()}
    current = content.first_of(about, "current")
    if current is None or (current := str(current)) not in parents:
        times = [content.seconds_of(content.first_of(message, "time")) for message in messages]
        newest = max(
            range(len(names)),
            key=lambda place: (-1 if times[place] is None else times[place], place),
        )
        current, children = names[newest], {parent: name for name, parent in parents.items()}
        below = {current}
        while (child := children.get(current)) is not None and child not in below:
            below.add(current := child)
    path: dict[str, None] = {}
    while current is not None:
        if current not in parents:
            raise ValueError(
                f"{where}: expected a node {current[:40]!r}, which is named and not there"
            )
        if current in path:
            raise ValueError(
                f"{where}: the node {current[:40]!r} is its own ancestor; expected a tree"
            )
        path[current] = None
        current = parents[current]
    positions = {name: number for number, name in enumerate(names)}
    return [positions[name] for name in reversed(path)]


def read_chatgpt(record: Mapping) -> Chat:
    """Read a conversation of the data export of ChatGPT."""
    nodes = expect(record["mapping"], dict, "mapping")
    listed = []
    for name, node in nodes.items():
        of = node if isinstance(node, dict) else {}
        time = of["message"].get("create_time") if isinstance(of.get("message"), dict) else None
        listed.append(
            {"id": name, "parent": of.get("parent"), "children": of.get("children"), "time": time}
        )
    names = list(nodes)
    path = [names[number] for number in branch_of_list(record, listed, "mapping", rooted=True)]
    parts = []
    for name in path:
        where = f"mapping[{name[:40]!r}]"
        if message := expect(nodes[name], dict, where).get("message"):
            parts += _read(expect(message, dict, f"{where}.message"), f"{where}.message")
    on_path = set(path)
    parts += [
        BRANCH
        for name in names
        if name not in on_path and isinstance(nodes[name], dict) and nodes[name].get("message")
    ]
    return content.assemble(
        parts, content.name_of(record, ("conversation_id", "id")), record, clock=True
    )


def _read(message: Mapping, where: str) -> list[Message | Omitted]:
    """Read a message with the time of day, or name what it is instead."""
    if "fragments" in message:
        return _read_fragments(message, where)
    if not isinstance(message.get("author"), dict):
        return [Omitted("message without author")]
    author = message["author"]
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
        instead = Omitted("hidden message") if text or not is_text else None
    elif side not in (
        content.USER,
        content.ASSISTANT,
    ):  # an export begins with an empty system message
        instead = Omitted(side) if text or side != content.SYSTEM else None
    elif message.get("recipient", "all") != "all":
        instead = Omitted("tool call")
    elif kind in ("thoughts", "reasoning_recap"):
        instead = Omitted("reasoning")
    elif not is_text:
        instead = Omitted(f"content of type {str(kind)[:40]}")
    elif text or side == content.USER or any(one.is_empty for one in left_out):
        seconds, model = (
            content.seconds_of(message.get("create_time")),
            content.name_of(message, content.KEYS["model"]),
        )
        instead = Message(side, text, seconds, model)
    return [*left_out, instead] if instead else left_out


def _read_fragments(message: Mapping, where: str) -> list[Message | Omitted]:
    """Read a message of an export of DeepSeek, whose fragments say by their types which side wrote them."""
    sides = {"REQUEST": content.USER, "RESPONSE": content.ASSISTANT}
    side = ""
    parts: list[str | Omitted] = []
    for number, fragment in enumerate(expect(message["fragments"], list, f"{where}.fragments"), 1):
        place = f"{where}.fragments[{number}]"
        kind = str(expect(fragment, dict, place).get("type"))
        if kind in sides:
            side = sides[kind]
            parts += content.pieces(fragment.get("content"), f"{place}.content")
        elif kind == "THINK":
            parts.append(Omitted("reasoning"))
        else:
            parts.append(Omitted(f"fragment of type {kind[:40]}"))
    text, left_out = content.joined(parts)
    if not side:
        return left_out or [Omitted("empty message")]
    seconds = content.seconds_of(message.get("inserted_at"))
    return [
        *left_out,
        Message(side, text, seconds, content.name_of(message, content.KEYS["model"])),
    ]
