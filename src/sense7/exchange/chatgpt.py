"""The data export of ChatGPT: ``conversations.json``, each conversation a tree of messages.

An edited question or a regenerated answer begins a new branch. What the person saw last is the branch that ends in
``current_node``; the messages of other branches are counted and left out.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace

from sense7.exchange.chats import ASSISTANT, USER, Chat, Draft, expect, seconds_of
from sense7.exchange.content import side_of

__all__ = ["is_chatgpt", "read_chatgpt"]

_TEXT_KINDS = ("text", "multimodal_text")
_REASONING = ("thoughts", "reasoning_recap")
_MARKERS = {
    "image_asset_pointer": "image",
    "audio_asset_pointer": "audio",
    "real_time_user_audio_video_asset_pointer": "audio",
    "video_container_asset_pointer": "video",
}


def is_chatgpt(record: object) -> bool:
    """Whether a record is a conversation of the export: it has a ``mapping``."""
    return isinstance(record, dict) and "mapping" in record


def read_chatgpt(record: Mapping) -> Iterator[Chat]:
    """Read one conversation along the branch that ends in its current node.

    Examples
    --------
    >>> said = {"author": {"role": "user"}, "content": {"content_type": "text", "parts": ["Hi"]}}
    >>> tree = {"a": {"message": None, "parent": None}, "b": {"message": said, "parent": "a"}}
    >>> [chat] = read_chatgpt({"title": "Greeting", "mapping": tree, "current_node": "b"})
    >>> chat.title, chat.messages[0].text
    ('Greeting', 'Hi')
    """
    mapping = expect(record["mapping"], dict, "mapping")
    path = _branch(mapping, record.get("current_node"))
    draft, models = Draft(), []
    for name in path:
        message = mapping[name].get("message")
        if message is None:
            continue
        where = f"mapping[{name[:40]!r}].message"
        if _add(draft, expect(message, dict, where), where):
            model = _metadata(message).get("model_slug")
            models += [model] if isinstance(model, str) and model not in models else []
    for name in mapping.keys() - set(path):
        if isinstance(mapping[name], dict) and mapping[name].get("message"):
            draft.omit("message of another branch")
    _count_from_first(draft)
    name = record.get("conversation_id") or record.get("id") or ""
    title = record.get("title")
    yield draft.chat(
        expect(name, str, "id"),
        condition=" + ".join(models) or None,
        title=None if title is None else expect(title, str, "title"),
    )


def _branch(mapping: Mapping, current: object) -> list[str]:
    """Names of the nodes from the root to the current one."""
    if current is None and mapping:
        current = list(mapping)[-1]
    path, seen = [], set()
    while current is not None:
        if not isinstance(current, str) or current not in mapping:
            raise ValueError(f"mapping: expected a node {str(current)[:40]!r}, which is named and not there")
        if current in seen:
            raise ValueError(f"mapping: the node {current[:40]!r} is its own ancestor; expected a tree")
        seen.add(current)
        path.append(current)
        current = expect(mapping[current], dict, f"mapping[{current[:40]!r}]").get("parent")
    return path[::-1]


def _count_from_first(draft: Draft) -> None:
    """Make times of the day times since the first message."""
    began = next((one.seconds for one in draft.messages if one.seconds is not None), None)
    draft.messages = [
        one if one.seconds is None else replace(one, seconds=max(one.seconds - began, 0.0)) for one in draft.messages
    ]


def _add(draft: Draft, message: Mapping, where: str) -> bool:
    """Add a message to the conversation with the time of day, or name what it is instead; whether it was added."""
    author = expect(message.get("author"), dict, f"{where}.author")
    content = expect(message.get("content"), dict, f"{where}.content")
    kind = content.get("content_type")
    side = side_of(author.get("role"), f"{where}.author.role")
    text = _text(draft, content, where) if kind in _TEXT_KINDS else ""
    if _metadata(message).get("is_visually_hidden_from_conversation") or message.get("weight") == 0:
        if text or kind not in _TEXT_KINDS:
            draft.omit("hidden message", text)
    elif side not in (USER, ASSISTANT):
        if text or side != "system message":  # an export begins with an empty system message
            draft.omit(side, text if side == "system message" else str(author.get("name") or ""))
    elif message.get("recipient", "all") != "all":
        draft.omit("tool call", str(message["recipient"]))
    elif kind in _REASONING:
        draft.omit("reasoning")
    elif kind not in _TEXT_KINDS:
        draft.omit(f"content of type {str(kind)[:40]}")
    elif text or side == USER:
        draft.say(side, text, seconds_of(message.get("create_time")))
        return True
    else:
        draft.omit("empty message")
    return False


def _metadata(message: Mapping) -> Mapping:
    return message["metadata"] if isinstance(message.get("metadata"), dict) else {}


def _text(draft: Draft, content: Mapping, where: str) -> str:
    """Texts of the parts, one after another; a part that is no text is a marker."""
    pieces = []
    for number, part in enumerate(expect(content.get("parts") or [], list, f"{where}.content.parts"), 1):
        if isinstance(part, str):
            pieces.append(part)
            continue
        place = f"{where}.content.parts[{number}]"
        kind = expect(expect(part, dict, place).get("content_type"), str, f"{place}.content_type")
        if kind == "audio_transcription":
            pieces.append(expect(part.get("text"), str, f"{place}.text"))
            continue
        marker = _MARKERS.get(kind, "attachment")
        draft.omit(marker)
        pieces.append(f"[{marker}]")
    return "".join(pieces)
