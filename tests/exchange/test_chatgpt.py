"""ChatGPT's data export: the branch that was shown, texts as they were shown, everything else counted or refused."""

import copy

import pytest

from helpers.chats import ANSWERED, ASKED, CHATGPT, TALK, export, node
from sense7.exchange import read_chats

LEFT_OUT = {
    "hidden message": 1, "image": 1, "message of another branch": 1, "reasoning": 1, "system message": 1,
    "tool call": 1, "tool result": 1,
}  # fmt: skip
CITE = "\ue200cite\ue202turn0search0\ue201"
NAME = '\ue200entity\ue202["people","Ada"]\ue201'


def test_the_branch_that_was_shown_is_read(read, write):
    assert read("conversations.json", [CHATGPT]) == ([TALK], LEFT_OUT)
    [chat], _ = read_chats([write("conversations.json", [CHATGPT])])
    assert (chat.id, chat.model, chat.condition) == ("g1", "gpt-5", None)
    assert [message.seconds for message in chat.messages] == [0, 10]
    other = {**CHATGPT, "current_node": "old"}
    assert read("one.json", other)[0] == [[("user", ASKED), ("assistant", "Well.")]]


def test_an_empty_conversation_is_counted(read):
    empty = {"conversation_id": "e", "mapping": {}, "current_node": None}
    talk, left_out = read("conversations.json", [empty, CHATGPT])
    assert (talk, left_out) == ([TALK], {**LEFT_OUT, "conversation without any message": 1})


def test_marks_of_the_page_are_replaced_by_what_was_shown(read):
    references = [
        {"matched_text": CITE, "alt": "([Site](https://site.example))"},
        {"matched_text": NAME, "alt": "Ada"},
        {"matched_text": " ", "alt": "no mark"},
    ]
    answer = node("b", "a", "assistant", [f"It was {NAME}. {CITE}"])
    answer["message"]["metadata"]["content_references"] = references
    record = export(node("a", None, "user", ["Who?"]), answer)
    shown = "It was Ada. ([Site](https://site.example))"
    assert read("a.json", record)[0] == [[("user", "Who?"), ("assistant", shown)]]
    references[0] = {"matched_text": CITE, "type": "hidden"}
    assert read("a.json", record)[0][0][1] == ("assistant", "It was Ada. ")


@pytest.mark.parametrize(
    "references", [[], [{"matched_text": CITE, "type": "image"}], [{"matched_text": CITE, "alt": CITE}]]
)  # fmt: skip
def test_marks_without_a_text_are_refused(refuse, references):
    answer = node("b", None, "assistant", [f"Yes. {CITE}"])
    answer["message"]["metadata"]["content_references"] = references
    refuse("a.json", export(answer), "mapping['b']", "U+E200")


def test_files_are_counted_and_empty_answers_left_out(read):
    files = {"attachments": [{"name": "a.txt"}, {"name": "b.txt"}]}
    record = export(
        node("a", None, "user", [""], metadata=files),
        node("b", "a", "assistant", [""]),
        node("c", "b", "assistant", [ANSWERED]),
    )
    talk = [("user", ""), ("assistant", ANSWERED)]
    assert read("a.json", record) == ([talk], {"file": 2, "empty message": 1})


BROKEN = {
    "no current message": (["current_node"], None, "current_node"),
    "a current message that is not there": (["current_node"], "gone", "'gone'"),
    "a parent that is not there": (["mapping", "ask", "parent"], "gone", "'gone'"),
    "a circle": (["mapping", "root", "parent"], "answer", "'answer'"),
    "another key of the record": (["summary"], "said", "'summary'"),
    "another key of a node": (["mapping", "ask", "text"], "said", "mapping['ask']: ", "'text'"),
    "another key of a message": (["mapping", "ask", "message", "fragments"], [1], "'fragments'"),
    "another content": (["mapping", "answer", "message", "content", "content_type"], "canvas", "'canvas'"),
    "another part": (["mapping", "answer", "message", "content", "parts"], [{"content_type": "x"}], "parts[1]: "),
    "another role": (["mapping", "ask", "message", "author", "role"], "narrator", "'narrator'"),
    "another time": (["mapping", "ask", "message", "create_time"], "noon", "create_time: "),
}  # fmt: skip


@pytest.mark.parametrize("name", BROKEN)
def test_what_is_no_export_is_refused_with_its_place(refuse, name):
    (*way, key), value, *named = BROKEN[name]
    record = copy.deepcopy(CHATGPT)
    holder = record
    for step in way:
        holder = holder[step]
    holder[key] = value
    refuse("conversations.json", [record], "conversation 1: ", *named)
