"""The formats of conversations that can be brought in: each is recognized by what a record holds, never by a name."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from sense7.exchange.chats import ASSISTANT, USER, Chat, Draft, Omitted, expect, kind_of, seconds_of

__all__ = ["FORMATS", "Format", "Transcript", "recognize"]

# A message: a role, and text or parts ---------------------------------------------------------------------------------

SYSTEM = "system message"
EMPTY = "empty part"
UNKNOWN = "part of unknown type "

ROLES = {
    **dict.fromkeys(("user", "human"), USER),
    **dict.fromkeys(("assistant", "ai", "model", "bot", "gpt", "chatgpt"), ASSISTANT),
    **dict.fromkeys(("system", "developer"), SYSTEM),
    **dict.fromkeys(("tool", "function", "ipython", "observation", "function_response"), "tool result"),
    "function_call": "tool call",
}
"""Role of a message -> the side that says it, or what it is named by when it is left out."""

_TEXTS = {
    **dict.fromkeys(("text", "input_text", "output_text", "audio_transcription"), "text"),
    "refusal": "refusal",
}
"""Type of a part -> where its text stands."""

_MARKED = {
    **dict.fromkeys(("image", "image_url", "image_file", "input_image", "image_asset_pointer"), "image"),
    **dict.fromkeys(("audio", "input_audio", "output_audio", "audio_asset_pointer"), "audio"),
    "real_time_user_audio_video_asset_pointer": "audio",
    **dict.fromkeys(("video", "video_container_asset_pointer"), "video"),
    **dict.fromkeys(("document", "file", "input_file", "container_upload", "data"), "file"),
}
"""Type of a part that a reader of the conversation saw -> its marker."""

_UNSEEN = {
    **dict.fromkeys(("tool_use", "server_tool_use", "mcp_tool_use", "function_call"), "tool call"),
    **dict.fromkeys(("thinking", "redacted_thinking", "reasoning"), "reasoning"),
}
"""Type of a part that is left out -> what it is named by."""


def _side_of(role: object, where: str) -> str:
    """Say who says a message, or what it is named by when it is left out."""
    side = ROLES.get(expect(role, str, where).strip().casefold())
    if side is None:
        raise ValueError(f"{where}: {role[:40]!r} is no known role; expected one of {', '.join(ROLES)}")
    return side


def _pieces(draft: Draft, content: object, where: str, texts: Mapping[str, str] | None = None) -> list[str]:
    """Texts and markers of a content, one of each part that a reader saw; what is no text is named in the draft.

    A part that is null or of an unknown type is empty: the message that holds it stays, and keeps its number.
    """
    if isinstance(content, str):
        return [(texts or {}).get(content, content)]
    if isinstance(content, list):
        return [
            text for number, part in enumerate(content, 1) for text in _pieces(draft, part, f"{where}[{number}]", texts)
        ]
    if content is None:
        draft.omit(EMPTY)
        return [""]
    kind = expect(content, dict, where).get("type", content.get("content_type"))
    kind = kind if isinstance(kind, str) else kind_of(kind)
    if kind in _TEXTS:
        return _pieces(draft, content.get(_TEXTS[kind]), f"{where}.{_TEXTS[kind]}", texts)
    if kind in _MARKED:
        draft.omit(_MARKED[kind])
        return [f"[{_MARKED[kind]}]"]
    if kind in _UNSEEN or kind.endswith("tool_result"):
        draft.omit(_UNSEEN.get(kind, "tool result"), _name_of_tool(content))
        return []
    draft.omit(UNKNOWN + kind[:40])
    return [""]


def _add(draft: Draft, message: object, where: str, texts: Mapping[str, str] | None = None) -> bool:
    """Add a message with a role and content to a conversation; whether it was added, or is none of either side."""
    role = next((key for key in ("role", "from", "sender") if key in expect(message, dict, where)), "role")
    side = _side_of(message.get(role), f"{where}.{role}")
    key = "value" if role == "from" else "content"
    if key == "content" and message.get(key) in (None, []) and message.get("text") is not None:
        key = "text"
    content = message.get(key)
    if side not in (USER, ASSISTANT):
        told = content if isinstance(content, str | list | dict) and side == SYSTEM else []
        told = "".join(_pieces(Draft(), told, f"{where}.{key}", texts))
        draft.omit(side, told if side == SYSTEM else _name_of_tool(message))
        return False
    before, pieces = len(draft.omitted), []
    for name in ("attachments", "files") if role == "sender" else ():  # an export of Claude has them beside the text
        for _ in expect(message.get(name) or [], list, f"{where}.{name}"):
            draft.omit("file")
            pieces.append("[file]")
    pieces += [] if content is None else _pieces(draft, content, f"{where}.{key}", texts)
    if message.get("refusal"):
        pieces += _pieces(draft, message["refusal"], f"{where}.refusal")
    for call in [*expect(message.get("tool_calls") or [], list, f"{where}.tool_calls"), message.get("function_call")]:
        if call:
            draft.omit("tool call", _name_of_tool(call))
    for name, what in (("reasoning_content", "reasoning"), ("reasoning", "reasoning"), ("audio", "audio")):
        if message.get(name):
            draft.omit(what)
    text, left_out = "".join(pieces), draft.omitted[before:]
    if content is None and not text and not left_out:
        draft.omit("message without content")
    elif not text and left_out and not any(map(_is_empty, left_out)):
        return False
    moment = message.get("created_at") if role == "sender" else message.get("seconds")
    draft.say(side, text, None if role != "sender" and isinstance(moment, str) else seconds_of(moment))
    return True


def _is_empty(one: Omitted) -> bool:
    return one.what == EMPTY or one.what.startswith(UNKNOWN)


def _name_of_tool(value: object) -> str:
    """Name of a tool, in the forms of OpenAI, Anthropic and inspect_ai."""
    if isinstance(value, dict):
        name = value.get("name") or value.get("function")
        return name if isinstance(name, str) else _name_of_tool(name)
    return ""


# A tree of messages: which branch is the conversation -----------------------------------------------------------------

BRANCH = "message of another branch"
_OWN = ("uuid", "id", "message_id", "messageId")
_PARENT = (
    "parent_message_uuid",
    "parent_uuid",
    "parent_message_id",
    "parentMessageId",
    "parent_id",
    "parentId",
    "parent",
)
_CURRENT = ("current_leaf_message_uuid", "current_node", "current_message_id", "current_id", "currentId")
_TIMES = ("create_time", "created_at", "createdAt", "timestamp", "time")


def _time(message: Mapping, keys: Sequence[str] = _TIMES) -> float | None:
    return next((moment for key in keys if (moment := seconds_of(message.get(key))) is not None), None)


def _branch(parents: Mapping[str, str | None], times: Mapping[str, float | None], current: object, where: str) -> list:
    """Names of the nodes from the root to the current one; where none is named, to the leaf of the newest message.

    A later message in the file is newer than one of the same time, or where no time is known.
    """
    if current is None and parents:
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


def _branch_of_list(about: Mapping, messages: list, where: str) -> list[int]:
    """Positions of the messages of a conversation; all of them, unless they name their parents.

    The first messages may name a parent that stands for the beginning, and is not there.
    """
    parent_of = {
        number: next(key for key in _PARENT if key in message)
        for number, message in enumerate(messages)
        if isinstance(message, dict) and any(key in message for key in _PARENT)
    }
    if not any(messages[number][key] is not None for number, key in parent_of.items()):
        return list(range(len(messages)))
    parents, times, last = {}, {}, None
    for number, message in enumerate(messages):
        expect(message, dict, f"{where}[{number + 1}]")
        name = next((str(message[key]) for key in _OWN if message.get(key) is not None), f"message {number + 1}")
        if name in parents:
            raise ValueError(f"{where}: two messages have the id {name[:40]!r}")
        parent = message[parent_of[number]] if number in parent_of else last
        parents[name], times[name] = None if parent is None else str(parent), _time(message)
        last = name
    if len(absent := dict.fromkeys(one for one in parents.values() if one is not None and one not in parents)) == 1:
        parents = {name: None if parent in absent else parent for name, parent in parents.items()}
    current = next((about[key] for key in _CURRENT if about.get(key) is not None), None)
    positions = {name: number for number, name in enumerate(parents)}
    return [positions[name] for name in _branch(parents, times, current, where)]


# Models and names -----------------------------------------------------------------------------------------------------


def _model(about: Mapping) -> str | None:
    """The model that a conversation or a message names."""
    inner = about.get("metadata")
    for one in (about, inner if isinstance(inner, dict) else {}):
        for key in ("model", "model_slug", "model_name", "default_model_slug", "default_model"):
            if isinstance(one.get(key), str) and one[key].strip():
                return one[key]
    return None


def _name(about: Mapping, keys: Sequence[str]) -> str | None:
    """The first of some texts or numbers that is there."""
    for key in keys:
        value = about.get(key)
        if isinstance(value, str | int) and not isinstance(value, bool):
            if str(value):
                return str(value)
        elif value is not None:
            raise ValueError(f"{key}: expected a text, found {kind_of(value)}")
    return None


def _count_from_first(draft: Draft) -> None:
    """Make times of the day times since the first message."""
    began = next((one.seconds for one in draft.messages if one.seconds is not None), None)
    draft.messages = [
        one if one.seconds is None else replace(one, seconds=max(one.seconds - began, 0.0)) for one in draft.messages
    ]


# Formats --------------------------------------------------------------------------------------------------------------


def read_list(record: object, key: str = "messages") -> Chat:
    """Read a conversation from a list of messages, or from an object with such a list and what is known about it."""
    about = record if isinstance(record, dict) else {}
    messages = expect(about.get(key, record), list, key)
    draft, models = Draft(), {}
    if about.get("system"):
        _add(draft, {"role": "system", "content": about["system"]}, "system")
    branch = _branch_of_list(about, messages, key)
    for number in branch:
        message = messages[number]
        if _add(draft, message, f"{key}[{number + 1}]") and _model(message):
            models[_model(message)] = None
    for _ in range(len(messages) - len(branch)):
        draft.omit(BRANCH)
    if key == "chat_messages":
        _count_from_first(draft)
    for number, one in enumerate(expect(about.get("omitted") or [], list, "omitted"), 1):
        where = f"omitted[{number}]"
        draft.omitted.append(
            Omitted(
                expect(expect(one, dict, where).get("before"), int, f"{where}.before"),
                expect(one.get("what"), str, f"{where}.what"),
                expect(one.get("text", ""), str, f"{where}.text"),
            )
        )
    return draft.chat(
        _name(about, ("conversation_hash", "id", "custom_id", "conversation_id", "uuid")) or "",
        participant=_name(about, ("participant", "hashed_ip")),
        condition=_name(about, ("condition",)) or _model(about) or " + ".join(models) or None,
        topic=_name(about, ("topic",)),
        title=_name(about, ("title", "name") if key == "chat_messages" else ("title",)),
    )


def read_chatgpt(record: Mapping) -> Chat:
    """Read a conversation of the data export of ChatGPT: a tree, in which an edit or a new attempt is a branch."""
    mapping = expect(record["mapping"], dict, "mapping")
    nodes = {name: node if isinstance(node, dict) else {} for name, node in mapping.items()}
    parents = {name: node.get("parent") for name, node in nodes.items()}
    for name, node in nodes.items():
        for child in node["children"] if isinstance(node.get("children"), list) else ():
            if isinstance(child, str) and child in parents and parents[child] is None:
                parents[child] = name
    said = {name: node["message"] for name, node in nodes.items() if node.get("message")}
    times = {name: _time(one) if isinstance(one, dict) else None for name, one in said.items()}
    path = _branch(parents, times, record.get("current_node"), "mapping")
    draft, models = Draft(), {}
    for name in path:
        expect(mapping[name], dict, f"mapping[{name[:40]!r}]")
        where = f"mapping[{name[:40]!r}].message"
        if name in said and _add_of_chatgpt(draft, expect(said[name], dict, where), where) and _model(said[name]):
            models[_model(said[name])] = None
    for _ in said.keys() - set(path):
        draft.omit(BRANCH)
    _count_from_first(draft)
    return draft.chat(
        _name(record, ("conversation_id", "id")) or "",
        condition=" + ".join(models) or _model(record),
        title=_name(record, ("title",)),
    )


def _add_of_chatgpt(draft: Draft, message: Mapping, where: str) -> bool:
    """Add a message with the time of day, or name what it is instead; whether an assistant or user said it."""
    author = expect(message.get("author"), dict, f"{where}.author")
    side = _side_of(author.get("role"), f"{where}.author.role")
    content = expect(message.get("content") or {"content_type": "text"}, dict, f"{where}.content")
    kind = content.get("content_type")
    metadata = message["metadata"] if isinstance(message.get("metadata"), dict) else {}
    before, text = len(draft.omitted), ""
    if is_text := kind in ("text", "multimodal_text"):
        parts = expect(content.get("parts") or [], list, f"{where}.content.parts")
        text = "".join(_pieces(draft, parts, f"{where}.content.parts"))
    if metadata.get("is_visually_hidden_from_conversation") or message.get("weight") == 0:
        if text or not is_text:
            draft.omit("hidden message", text)
    elif side not in (USER, ASSISTANT):
        if text or side != SYSTEM:  # an export begins with an empty system message
            draft.omit(side, text if side == SYSTEM else str(author.get("name") or ""))
    elif message.get("recipient", "all") != "all":
        draft.omit("tool call", str(message["recipient"]))
    elif kind in ("thoughts", "reasoning_recap"):
        draft.omit("reasoning")
    elif not is_text:
        draft.omit(f"content of type {str(kind)[:40]}")
    elif text or side == USER or any(map(_is_empty, draft.omitted[before:])):
        draft.say(side, text, _time(message, ("create_time",)))
        return True
    else:
        draft.omit("empty message")
    return False


def read_inspect(record: Mapping) -> Chat:
    """Read a sample of a log of inspect_ai; its id has the epoch, so that a sample asked twice is two conversations."""
    about = expect(record["eval"], dict, "eval")
    [sample] = expect(record["samples"], list, "samples") or [{"messages": []}]
    texts = expect(expect(sample, dict, "sample").get("attachments") or {}, dict, "attachments")
    attached = {f"attachment://{name}": text for name, text in texts.items() if isinstance(text, str)}
    draft = Draft()
    for number, message in enumerate(expect(sample.get("messages"), list, "messages"), 1):
        _add(draft, message, f"messages[{number}]", attached)
    epoch = f"epoch{sample['epoch']}" if isinstance(sample.get("epoch"), int) else ""
    name = "-".join(str(part) for part in (about.get("task"), sample.get("id"), epoch) if part)
    return draft.chat(name, condition=_model(about))


SPEAKERS = {
    **dict.fromkeys(("user", "human", "you", "me", "person", "participant"), USER),
    **dict.fromkeys(("assistant", "ai", "bot", "chatbot", "model", "chatgpt", "gpt", "claude", "gemini"), ASSISTANT),
    "system": SYSTEM,
}
"""Names that begin a message of plain text, in any case -> who says it."""

_CHAT_APP = re.compile(r"\s*\u200e?\[?\d{1,4}[./-]\d{1,2}[./-]\d{2,4},?\s+\d{1,2}[:.]\d{2}[^\n]{0,12}?(\]| -) ")


@dataclass
class Transcript:
    """The text of a file that is no JSON: with names besides ``SPEAKERS``, and remarks that its reader makes."""

    text: str
    speakers: Mapping[str, str] = field(default_factory=dict)
    remarks: list[str] = field(default_factory=list)


def read_transcript(record: Transcript) -> Chat:
    """Read a conversation of plain text, in which a line such as ``User: Hello`` begins a message.

    The file opens with its two speakers, after a system message if there is one: such a line of any other name inside a
    message belongs to its text. One space after the colon and the line breaks between messages belong to the layout.
    """
    text, given = record.text, record.speakers
    names = "|".join(sorted(map(re.escape, SPEAKERS | given), key=len, reverse=True))
    begins = re.compile(rf"^(?:#+ |(?P<bold>\*\*))?(?P<name>{names})(?(bold)(?:\*\*:|:\*\*)|:)[ \t]?", re.I | re.M)
    lines = [(match, match["name"].casefold()) for match in begins.finditer(text)]
    before = text[: lines[0][0].start()] if lines else text
    if _CHAT_APP.match(text):
        raise ValueError(
            "line 1: begins with date and time, as in a chat exported from WhatsApp or another messenger. Remove date "
            "and time from every line, so that each message begins with its speaker, and name both speakers by "
            "--speaker NAME=user and NAME=assistant"
        )
    if before.strip():
        line = before[: len(before) - len(before.lstrip())].count("\n") + 1
        raise ValueError(
            f"line {line}: expected a message that begins with its speaker, as in User: or Assistant:, found "
            f"{before.strip().splitlines()[0][:40]!r}. Give another speaker's name by --speaker NAME=user"
        )
    sides = SPEAKERS | given
    talk = [name for _, name in lines if sides[name] != SYSTEM]
    speaking, inside = {*talk[:1], *(name for name in talk if name in given)}, []
    for name in talk:
        if sides[name] not in {sides[one] for one in speaking}:
            speaking.add(name)
    draft, starts = Draft(), []
    for match, name in lines:
        if name in speaking or (name == "system" and not any(one in speaking for _, one in starts)):
            starts.append((match, name))
        else:
            inside.append(match)
    for (match, name), following in zip(starts, [*(match.start() for match, _ in starts[1:]), len(text)], strict=True):
        said = text[match.end() : following].rstrip("\r\n")
        if sides[name] == SYSTEM:
            draft.omit(SYSTEM, said)
        else:
            draft.say(sides[name], said)
    if {one.role for one in draft.messages} != {USER, ASSISTANT}:
        raise ValueError(
            "expected messages of both sides, each begun by its speaker at the start of a line, as in User: and "
            "Assistant:. Give another speaker's name by --speaker NAME=user or NAME=assistant"
        )
    for match in inside[:5]:
        line = text.count("\n", 0, match.start()) + 1
        record.remarks.append(
            f"line {line}: {match[0].strip()!r} is read as text of a message, since the file opens with other "
            f"speakers. If it begins a message, give --speaker {match['name']}=user or =assistant"
        )
    return draft.chat("")


@dataclass(frozen=True)
class Format:
    """A format: its name, by what it is recognized in words and in a record, and how a conversation is read."""

    name: str
    sign: str
    recognizes: Callable[[object], bool]
    read: Callable[[object], Chat]


def _has(*keys: str) -> Callable[[object], bool]:
    return lambda record: isinstance(record, dict) and all(key in record for key in keys)


def _is_list(record: object) -> bool:
    if isinstance(record, list):
        return bool(record) and isinstance(record[0], dict) and "role" in record[0]
    return isinstance(record, dict) and "messages" in record


FORMATS = (
    Format("ChatGPT export", "mapping", _has("mapping"), read_chatgpt),
    Format("Claude export", "chat_messages", _has("chat_messages"), lambda one: read_list(one, "chat_messages")),
    Format("inspect_ai log", "eval and samples", _has("eval", "samples"), read_inspect),
    Format(
        "list of messages (OpenAI, Anthropic)",
        "messages, or a list of objects with role and content",
        _is_list,
        read_list,
    ),
    Format("ShareGPT", "conversations", _has("conversations"), lambda one: read_list(one, "conversations")),
    Format("WildChat or LMSYS-Chat", "conversation", _has("conversation"), lambda one: read_list(one, "conversation")),
    Format(
        "transcript",
        "lines that begin with User: or Assistant:",
        lambda record: isinstance(record, Transcript),
        read_transcript,
    ),
)


def recognize(record: object) -> Format:
    """Find the format of a record; a ValueError says what was expected, and what stands there."""
    for one in FORMATS:
        if one.recognizes(record):
            return one
    keys = ", ".join(str(key)[:30] for key in list(record)[:6]) if isinstance(record, dict) else ""
    found = f"it has {keys}" if keys else f"it is {kind_of(record)}"
    signs = ", ".join(f"{one.sign} ({one.name})" for one in FORMATS[:-1])
    raise ValueError(f"no known form of a conversation; {found}. Expected one of these: {signs}")
