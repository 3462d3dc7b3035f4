"""Where formats have the text of a message: it is read, or the conversation is refused; no message becomes blank."""

import bz2
import gzip
import lzma
import re

import pytest

from helpers import naming
from sense7.exchange import read_chats
from sense7.exchange.readers import read_record

ASKED, ANSWERED = "I lost my keys.", "Where did you last have them?"


def texts(messages, key="messages"):
    _, chat = read_record({"id": "c", key: messages})
    return [(message.role, message.text) for message in chat.messages]


def both(form, roles=("user", "assistant"), role="role"):
    return [{role: side, **form(text)} for side, text in zip(roles, (ASKED, ANSWERED), strict=True)]


FORMS = {
    "content": lambda text: {"content": text},
    "AI SDK": lambda text: {"parts": [{"type": "step-start"}, {"type": "text", "text": text}]},
    "Gemini": lambda text: {"parts": [{"text": text}]},
    "Chatbox": lambda text: {"contentParts": [{"type": "text", "text": text}]},
    "message": lambda text: {"message": text},
    "text, beside a blank content": lambda text: {"content": "", "text": text},
    "text, beside an unknown part": lambda text: {
        "content": [{"type": "new", "x": "y"}],
        "text": text,
    },
    "a message in another": lambda text: {"message": {"content": text}},
    "parts of a content": lambda text: {"content": {"content_type": "text", "parts": [text]}},
    "spoken": lambda text: {
        "content": None,
        "audio": {"id": "a", "data": "QUJD", "transcript": text},
    },
    "spoken, as a part": lambda text: {"content": [{"type": "input_audio", "transcript": text}]},
    "voice note": lambda text: {"content": [{"type": "voice_note", "text": text}]},
    "Telegram": lambda text: {"text": [text[:4], {"type": "bold", "text": text[4:]}]},
}


@pytest.mark.parametrize("form", FORMS)
def test_a_text_is_read_wherever_it_stands(form):
    assert texts(both(FORMS[form])) == [("user", ASKED), ("assistant", ANSWERED)]


@pytest.mark.parametrize("key", ["response", "utterance", "output", "answer"])
def test_a_text_under_an_unknown_key_refuses_the_conversation(key):
    with naming.refused("messages[1]", key, error=ValueError):
        texts(both(lambda text: {key: text}))
    with pytest.raises(ValueError, match=re.escape("messages[1]")):
        texts(both(lambda text: {"content": [{"type": "new", key: text}]}))


def test_a_spoken_answer_without_words_keeps_its_place():
    spoken = {"role": "assistant", "content": None, "audio": {"id": "a"}}
    assert [text for _, text in texts([spoken, *both(FORMS["content"])])] == [
        "[audio]",
        ASKED,
        ANSWERED,
    ]


@pytest.mark.parametrize(
    "between",
    [{"type": "tool_use"}, {"type": "tool-weather"}, {"type": "thinking", "thinking": "x"}],
)
def test_two_texts_around_what_is_left_out_stay_apart(between):
    parts = [{"type": "text", "text": "part one"}, between, {"type": "text", "text": "part two"}]
    assert texts([{"role": "assistant", "content": parts}]) == [("assistant", "part one\npart two")]
    parts = [{"type": "text", "text": "to"}, {"type": "text", "text": "gether"}]
    assert texts([{"role": "assistant", "content": parts}]) == [("assistant", "together")]


@pytest.mark.parametrize(
    "name",
    ["gpt", "bard", "claude", "gemini", "bing", "Claude-3-opus", "gpt-4o", "GPT4", "Bing Chat"],
)
def test_names_of_assistants_are_the_assistant(name):
    said = both(lambda text: {"value": text}, ("human", name), "from")
    assert texts(said, "conversations") == [("user", ASKED), ("assistant", ANSWERED)]


def test_librechat_says_who_wrote_a_message_whatever_its_label_is():
    said = [
        {
            "messageId": "1",
            "parentMessageId": "0",
            "sender": "GPT",
            "isCreatedByUser": True,
            "text": ASKED,
        },
        {
            "messageId": "2",
            "parentMessageId": "1",
            "sender": "User",
            "isCreatedByUser": False,
            "text": ANSWERED,
        },
    ]
    assert texts(said) == [("user", ASKED), ("assistant", ANSWERED)]


def tree(*messages):
    nodes = {"root": {"parent": None, "children": ["0"], "message": None}}
    for number, message in enumerate(messages):
        parent = str(number - 1) if number else "root"
        nodes[str(number)] = {"parent": parent, "children": [str(number + 1)], "message": message}
    nodes[str(len(messages) - 1)]["children"] = []
    return {"id": "c", "mapping": nodes}


def test_a_tree_of_deepseek_and_a_message_without_author():
    def fragments(*said):
        return {"fragments": [{"type": kind, "content": text} for kind, text in said]}

    _, chat = read_record(
        tree(fragments(("REQUEST", ASKED)), fragments(("THINK", "Hm."), ("RESPONSE", ANSWERED)))
    )
    assert [(message.role, message.text) for message in chat.messages] == [
        ("user", ASKED),
        ("assistant", ANSWERED),
    ]
    assert chat.omitted == ("reasoning",)
    whole = {"author": {"role": "user"}, "content": {"content_type": "text", "parts": [ASKED]}}
    _, chat = read_record(tree({"content": {"content_type": "text", "parts": ["?"]}}, whole))
    assert [message.text for message in chat.messages] == [ASKED]
    assert chat.omitted == ("message without author",)


PACKED = {
    "gzip": gzip.compress(b"{}"),
    "bzip2": bz2.compress(b"{}"),
    "xz": lzma.compress(b"{}"),
    "Zstandard": b"\x28\xb5\x2f\xfd{}",
    "7-Zip": b"7z\xbc\xaf\x27\x1c",
}


@pytest.mark.parametrize("packing", PACKED)
@pytest.mark.parametrize("name", ["chats.json", "chats.jsonl", "chats.packed"])
def test_a_packed_file_is_named_as_one(packing, name, tmp_path):
    (tmp_path / name).write_bytes(PACKED[packing])
    with naming.refused(f"{name}: ", packing):
        list(read_chats([tmp_path / name]))
