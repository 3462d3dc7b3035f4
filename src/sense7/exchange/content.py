"""A message of the kind that OpenAI, Anthropic and inspect_ai write: a role, and text or a list of parts."""

from collections.abc import Mapping

from sense7.exchange.chats import ASSISTANT, USER, Draft, expect, seconds_of

__all__ = ["ROLES", "add_message", "side_of"]

ROLES = {
    **dict.fromkeys(("user", "human"), USER),
    **dict.fromkeys(("assistant", "ai", "model", "bot", "gpt", "chatgpt"), ASSISTANT),
    **dict.fromkeys(("system", "developer"), "system message"),
    **dict.fromkeys(("tool", "function", "ipython", "observation", "function_response"), "tool result"),
    "function_call": "tool call",
}
"""Role of a message -> the side that says it, or what it is named by when it is left out."""

_TEXTS = {"text": "text", "input_text": "text", "output_text": "text", "refusal": "refusal"}
"""Type of a part -> where its text stands."""

_MARKED = {
    **dict.fromkeys(("image", "image_url", "image_file", "input_image"), "image"),
    **dict.fromkeys(("audio", "input_audio", "output_audio"), "audio"),
    "video": "video",
    **dict.fromkeys(("document", "file", "input_file", "container_upload", "data"), "file"),
}
"""Type of a part that a reader of the conversation saw -> its marker."""

_UNSEEN = {
    **dict.fromkeys(("tool_use", "server_tool_use", "mcp_tool_use", "function_call"), "tool call"),
    **dict.fromkeys(("thinking", "redacted_thinking", "reasoning"), "reasoning"),
}
"""Type of a part that is left out -> what it is named by."""

_TOOL_RESULT = "tool_result"


def side_of(role: object, where: str) -> str:
    """Say who says a message, or what it is named by when it is left out.

    Raises
    ------
    ValueError
        If the role is none of ``ROLES``.

    Examples
    --------
    >>> side_of("Human", "messages[1].role"), side_of("developer", "messages[2].role")
    ('user', 'system message')
    """
    side = ROLES.get(expect(role, str, where).strip().casefold())
    if side is None:
        raise ValueError(f"{where}: {role[:40]!r} is no known role; expected one of {', '.join(ROLES)}")
    return side


def add_message(draft: Draft, message: object, where: str, texts: Mapping[str, str] | None = None) -> None:
    """Add a message with ``role`` and ``content`` to a conversation.

    Parameters
    ----------
    draft : Draft
        The conversation.
    message : object
        A JSON value.
    where : str
        Its place in the record, for errors.
    texts : mapping, optional
        Attachments of an inspect_ai log: what a text refers to -> the text itself.

    Raises
    ------
    ValueError
        If it is no such message; says where, and what was expected.

    Examples
    --------
    >>> draft = Draft()
    >>> parts = [{"type": "text", "text": "Look: "}, {"type": "image_url", "image_url": {}}]
    >>> add_message(draft, {"role": "user", "content": parts}, "messages[1]")
    >>> draft.messages[0].text, draft.omitted[0].what
    ('Look: [image]', 'image')
    """
    expect(message, dict, where)
    side = side_of(message.get("role"), f"{where}.role")
    content = message.get("content")
    parts = content if isinstance(content, list) else [] if content is None else [content]
    if side not in (USER, ASSISTANT):
        told = "".join(part for part in parts if isinstance(part, str)) or _text_of(parts)
        draft.omit(side, told if side == "system message" else _name(message))
        return
    before = len(draft.omitted)
    text = "".join(
        _piece(draft, part, f"{where}.content[{number}]" if part is not content else f"{where}.content", texts or {})
        for number, part in enumerate(parts, 1)
    )
    _omit_calls(draft, message, where)
    if text or (content is not None and len(draft.omitted) == before):
        draft.say(side, text, seconds_of(message.get("seconds")))
    elif len(draft.omitted) == before:
        draft.omit("message without content")


def _piece(draft: Draft, part: object, where: str, texts: Mapping[str, str]) -> str:
    """Text of a part, or its marker; empty if it is left out."""
    if isinstance(part, str):
        return texts.get(part, part)
    kind = expect(expect(part, dict, where).get("type"), str, f"{where}.type")
    if kind in _TEXTS:
        text = expect(part.get(_TEXTS[kind]), str, f"{where}.{_TEXTS[kind]}")
        return texts.get(text, text)
    if kind in _MARKED:
        draft.omit(_MARKED[kind])
        return f"[{_MARKED[kind]}]"
    if kind in _UNSEEN:
        draft.omit(_UNSEEN[kind], _name(part))
    elif kind.endswith(_TOOL_RESULT):
        draft.omit("tool result")
    else:
        known = ", ".join((*_TEXTS, *_MARKED, *_UNSEEN, _TOOL_RESULT))
        raise ValueError(f"{where}.type: {kind[:40]!r} is no known part of a message; expected one of {known}")
    return ""


def _text_of(parts: list) -> str:
    """Texts among parts, for a system message."""
    return "".join(part["text"] for part in parts if isinstance(part, dict) and isinstance(part.get("text"), str))


def _omit_calls(draft: Draft, message: Mapping, where: str) -> None:
    """Name calls of tools, reasoning and sound that stand beside the content."""
    for call in expect(message.get("tool_calls") or [], list, f"{where}.tool_calls"):
        draft.omit("tool call", _name(call))
    if message.get("function_call"):
        draft.omit("tool call", _name(message["function_call"]))
    for key, what in (("reasoning_content", "reasoning"), ("reasoning", "reasoning"), ("audio", "audio")):
        if message.get(key):
            draft.omit(what)


def _name(value: object) -> str:
    """Name of a tool, in the forms of OpenAI, Anthropic and inspect_ai."""
    if isinstance(value, dict):
        name = value.get("name") or value.get("function")
        return name if isinstance(name, str) else _name(name)
    return ""
