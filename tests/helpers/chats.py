"""Conversations as other programs write them, for tests of what is read, left out and refused."""

ASKED, ANSWERED = "I lost my job.", "I am sorry. What happened?"
USER = {"role": "user", "content": ASKED}
ASSISTANT = {"role": "assistant", "content": ANSWERED}
TALK = [("user", ASKED), ("assistant", ANSWERED)]

OPENAI = {
    "id": "a",
    "model": "gpt-4o",
    "metadata": {"run": "1"},
    "messages": [
        {"role": "system", "content": "Be kind."},
        {"role": "user", "content": [{"type": "text", "text": ASKED}, {"type": "image_url"}]},
        {"role": "assistant", "content": None, "tool_calls": [{"id": "1"}]},
        {"role": "tool", "tool_call_id": "1", "content": "nothing"},
        {**ASSISTANT, "reasoning_content": "hm", "created_at": "2026-01-02T03:04:05Z"},
    ],
}
ANTHROPIC = {
    "system": "Be kind.",
    "messages": [
        USER,
        {
            "role": "assistant",
            "content": [
                {"type": "thinking", "thinking": "hm", "signature": "s"},
                {"type": "text", "text": ANSWERED[:12]},
                {"type": "text", "text": ANSWERED[12:], "citations": None},
                {"type": "tool_use", "id": "1", "name": "search", "input": {"q": "x"}},
            ],
        },
        {
            "role": "user",
            "content": [{"type": "tool_result", "tool_use_id": "1", "content": "found"}],
        },
    ],
}
GEMINI = {
    "contents": [
        {"role": "user", "parts": [{"text": ASKED}]},
        {
            "role": "model",
            "parts": [
                {"text": "The person is upset.", "thought": True, "thoughtSignature": "s"},
                {"text": ANSWERED},
                {"functionCall": {"name": "search", "args": {}}},
            ],
        },
    ]
}


def node(name, parent, role, parts, **message):
    """A message of ChatGPT's export; of the text type, unless its content says otherwise."""
    content = {"content_type": "text", "parts": parts}
    return {
        "id": name,
        "parent": parent,
        "children": [],
        "message": {"author": {"role": role}, "content": content, "metadata": {}, **message},
    }


def export(*nodes):
    """A conversation of ChatGPT's export."""
    mapping = {each["id"]: each for each in nodes}
    return {
        "title": "Work",
        "conversation_id": "g1",
        "current_node": nodes[-1]["id"],
        "mapping": mapping,
    }


HIDDEN = {"is_visually_hidden_from_conversation": True}
THOUGHTS = {"content_type": "thoughts", "thoughts": [{"content": "hm"}]}
MULTIMODAL = {
    "content_type": "multimodal_text",
    "parts": [{"content_type": "image_asset_pointer", "asset_pointer": "file"}, ASKED],
}
CHATGPT = export(
    {"id": "root", "message": None, "parent": None, "children": ["hello"]},
    node("hello", "root", "system", [""]),
    node("about", "hello", "user", ["About me"], metadata=HIDDEN),
    node("ask", "about", "user", [], content=MULTIMODAL, create_time=1000.5),
    node("old", "ask", "assistant", ["Well."], create_time=1001),
    node("think", "ask", "assistant", [], content=THOUGHTS),
    node("call", "think", "assistant", ["q"], recipient="browser"),
    node("result", "call", "tool", ["r"]),
    node(
        "answer",
        "result",
        "assistant",
        [ANSWERED],
        create_time=1010.5,
        metadata={"model_slug": "gpt-5"},
    ),
)
