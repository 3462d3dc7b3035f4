"""Conversations as people bring them, and what both readers make of each: `sense7 import` and the rating page.

Name -> a text, and for each record in it the messages that are read, or None if it is refused.
"""

import json

TALK = [("user", "I lost my job."), ("assistant", "I am sorry. What happened?")]
USER, ASSISTANT = ({"role": role, "content": text} for role, text in TALK)
MESSAGES = [USER, ASSISTANT]


def lines(*records):
    return "\n".join(
        record if isinstance(record, str) else json.dumps(record) for record in records
    )


def node(role, parts, parent, **more):
    content = {"content_type": more.pop("kind", "text"), "parts": parts}
    return {"parent": parent, "message": {"author": {"role": role}, "content": content} | more}


CHATGPT = {
    "root": {"parent": None, "message": None},
    "hello": node("system", [""], "root"),
    "about": node(
        "user", ["About me"], "hello", metadata={"is_visually_hidden_from_conversation": True}
    ),
    "ask": node(
        "user",
        [{"content_type": "image_asset_pointer"}, TALK[0][1]],
        "about",
        kind="multimodal_text",
    ),
    "old": node("assistant", ["Well."], "ask", create_time=5),
    "think": node("assistant", [], "ask", kind="thoughts"),
    "call": node("assistant", ["q"], "think", recipient="browser"),
    "result": node("tool", ["r"], "call"),
    "answer": node("assistant", [TALK[1][1]], "result", create_time=9),
}
TREE = [
    {"id": "1", "parent_id": None, "role": "user", "content": TALK[0][1]},
    {"id": "2", "parent_id": "1", "role": "assistant", "content": "Well."},
    {"id": "3", "parent_id": "1", "role": "assistant", "content": TALK[1][1]},
]
CHILDREN = [
    {"role": "prompter", "text": TALK[0][1], "replies": [{"role": "assistant", "text": TALK[1][1]}]}
]
CLAUDE = [
    {"sender": "human", "text": TALK[0][1], "content": [], "attachments": [{"file_name": "a.txt"}]},
    {
        "sender": "assistant",
        "text": "-",
        "content": [{"type": "thinking"}, {"type": "text", "text": TALK[1][1]}],
    },
]
PARTS = [
    {"type": "text", "text": "I am sorry. "},
    {"type": "tool_use"},
    {"type": "text", "text": "What happened?"},
]
CALL = {"role": "assistant", "content": None, "tool_calls": [{"id": "1"}]}
SAMPLE = {"id": 1, "messages": MESSAGES}
SHAREGPT = [
    {"from": who, "value": text}
    for who, text in (("system", "Be kind."), ("human", "q"), ("gpt", "a"))
]

EXAMPLES: dict[str, tuple[str, list]] = {
    "messages": (lines({"messages": MESSAGES}), [TALK]),
    "a list of messages": (lines(MESSAGES), [TALK]),
    "a list of conversations": (
        lines([{"id": "a", "messages": MESSAGES}, {"id": "b", "messages": MESSAGES}]),
        [TALK, TALK],
    ),
    "lines": (lines({"messages": MESSAGES}, "", {"id": 7, "messages": MESSAGES}), [TALK, TALK]),
    "a system message": (
        lines({"messages": [{"role": "system", "content": "Be kind."}, *MESSAGES]}),
        [TALK],
    ),
    "a system text": (lines({"system": "Be kind.", "messages": MESSAGES}), [TALK]),
    "roles in other words": (
        lines([{"role": "Human", "content": "q"}, {"role": " AI", "content": "a"}]),
        [[("user", "q"), ("assistant", "a")]],
    ),
    "tool calls": (lines([USER, CALL, {"role": "tool", "content": "nothing"}, ASSISTANT]), [TALK]),
    "parts": (lines([USER, {"role": "assistant", "content": PARTS}]), [TALK]),
    "an image": (
        lines([{"role": "user", "content": ["Look: ", {"type": "image_url"}]}, ASSISTANT]),
        [[("user", "Look: [image]"), TALK[1]]],
    ),
    "texts around a tool call": (
        lines(
            [USER, {"role": "assistant", "content": ["part one", {"type": "tool_use"}, "part two"]}]
        ),
        [[TALK[0], ("assistant", "part one\npart two")]],
    ),
    "parts beside the content": (
        lines(
            [
                {"role": "user", "parts": [{"type": "text", "text": "q"}]},
                {"role": "assistant", "content": "", "parts": ["a"]},
            ]
        ),
        [[("user", "q"), ("assistant", "a")]],
    ),
    "LibreChat": (
        lines(
            {
                "messages": [
                    {"isCreatedByUser": True, "sender": "Anna", "text": "q"},
                    {"isCreatedByUser": False, "sender": "GPT-4", "text": "a"},
                ]
            }
        ),
        [[("user", "q"), ("assistant", "a")]],
    ),
    "ShareGPT of another assistant": (
        lines({"conversations": [{"from": "human", "value": "q"}, {"from": "bard", "value": "a"}]}),
        [[("user", "q"), ("assistant", "a")]],
    ),
    "a role with a model's name": (
        lines([USER, {"role": "gpt-4", "content": "a"}]),
        [[TALK[0], ("assistant", "a")]],
    ),
    "a spoken answer": (
        lines([USER, {"role": "assistant", "content": None, "audio": {"transcript": "Spoken."}}]),
        [[TALK[0], ("assistant", "Spoken.")]],
    ),
    "DeepSeek": (
        lines(
            [
                {
                    "mapping": {
                        "root": {"parent": None, "message": None},
                        "1": {
                            "parent": "root",
                            "message": {"fragments": [{"type": "REQUEST", "content": "q"}]},
                        },
                        "2": {
                            "parent": "1",
                            "message": {
                                "fragments": [
                                    {"type": "THINK", "content": "hm"},
                                    {"type": "RESPONSE", "content": "a"},
                                ]
                            },
                        },
                    }
                }
            ]
        ),
        [[("user", "q"), ("assistant", "a")]],
    ),
    "a node without an author": (
        lines(
            [
                {
                    "mapping": {**CHATGPT, "odd": {"parent": "answer", "message": {"content": {}}}},
                    "current_node": "odd",
                }
            ]
        ),
        [[("user", "[image]" + TALK[0][1]), TALK[1]]],
    ),
    "a text under a key that nobody knows": (
        lines({"messages": MESSAGES}, [USER, {"role": "assistant", "said": "a"}]),
        [TALK, None],
    ),
    "a part in which a text may stand": (
        lines(
            {"messages": MESSAGES},
            [USER, {"role": "assistant", "content": [{"type": "hologram", "words": "a"}]}],
        ),
        [TALK, None],
    ),
    "an empty message": (
        lines([{"role": "user", "content": ""}, ASSISTANT]),
        [[("user", ""), TALK[1]]],
    ),
    "a message without content": (lines([{"role": "user"}, ASSISTANT]), [[("user", ""), TALK[1]]]),
    "a part that nobody knows": (
        lines([{"role": "user", "content": [{"type": "hologram"}]}, ASSISTANT]),
        [[("user", ""), TALK[1]]],
    ),
    "a refusal": (
        lines([USER, {"role": "assistant", "content": None, "refusal": "No."}]),
        [[TALK[0], ("assistant", "No.")]],
    ),
    "ChatGPT": (
        lines([{"mapping": CHATGPT, "current_node": "answer"}]),
        [[("user", "[image]" + TALK[0][1]), TALK[1]]],
    ),
    "ChatGPT without a current node": (
        lines({"mapping": CHATGPT}),
        [[("user", "[image]" + TALK[0][1]), TALK[1]]],
    ),
    "Claude": (
        lines([{"uuid": "u", "chat_messages": CLAUDE}]),
        [[("user", "[file]" + TALK[0][1]), TALK[1]]],
    ),
    "ShareGPT": (lines({"conversations": SHAREGPT}), [[("user", "q"), ("assistant", "a")]]),
    "WildChat": (lines({"conversation_hash": "h", "conversation": MESSAGES}), [TALK]),
    "a log of inspect_ai": (
        lines({"eval": {"task": "t"}, "samples": [SAMPLE, SAMPLE | {"id": 2}]}),
        [TALK, TALK],
    ),
    "a tree": (lines({"messages": TREE}), [TALK]),
    "a tree with a current message": (
        lines({"messages": TREE, "current_id": "2"}),
        [[TALK[0], ("assistant", "Well.")]],
    ),
    "children inside": (lines({"messages": CHILDREN}), [TALK]),
    "plain text": (
        "User: I lost it.\n\nAll: of it.\n\n**Assistant:**  Oh no.\n- a\n### user: Yes\nai: no speaker here\n",
        [
            [
                ("user", "I lost it.\n\nAll: of it."),
                ("assistant", " Oh no.\n- a"),
                ("user", "Yes\nai: no speaker here"),
            ]
        ],
    ),
    "plain text with instructions": (
        "System: Be kind.\nHuman\uff1aHi\nClaude\uff1a Hello\n",
        [[("user", "Hi"), ("assistant", "Hello")]],
    ),
    "a bracket that is no JSON": ("[9:41] User: Hi\nAssistant: Hello", [None]),
    "a mark of the byte order": ("\ufeff" + lines({"messages": MESSAGES}), [TALK]),
    "text before the first speaker": ("My chat\nUser: Hi\nAssistant: Hello", [None]),
    "text of one side": ("User: Hi\nUser: Hello", [None]),
    "text without speakers": ("Hello", [None]),
    "a line that is cut off": (lines({"messages": MESSAGES}, '{"messages": [{"role'), [TALK, None]),
    "JSON that is cut off": ('{"messages": [{"role', [None]),
    "a role that nobody has": (
        lines({"messages": MESSAGES}, [USER, {"role": "judge", "content": "a"}]),
        [TALK, None],
    ),
    "a content that is a number": (
        lines({"messages": MESSAGES}, [USER, {"role": "assistant", "content": [5]}]),
        [TALK, None],
    ),
    "a message that is a text": (
        lines({"messages": MESSAGES}, {"messages": [USER, "a"]}),
        [TALK, None],
    ),
    "half a character": (
        lines({"messages": MESSAGES}, [USER, {"role": "assistant", "content": "\ud83d"}]),
        [TALK, None],
    ),
    "an unknown form": (lines({"messages": MESSAGES}, {"said": "a"}), [TALK, None]),
    "a circle of parents": (
        lines(
            {"messages": MESSAGES},
            {"messages": [{"id": "1", "parent": "2"}, {"id": "2", "parent": "1"}]},
        ),
        [TALK, None],
    ),
    "two messages of one id": (
        lines({"messages": MESSAGES}, {"messages": [TREE[0], TREE[1], TREE[1]]}),
        [TALK, None],
    ),
}
