"""What a judge is shown: the authors' convention for a conversation as JSON."""

import json

import numpy as np
import pandas as pd
import pytest

from sense7.judge.requests import chat_json, chats
from sense7.workbook import parse_sheets, read_sheets, write_sheets


def messages(*rows):
    return pd.DataFrame(list(rows), columns=["role", "content"], dtype=object)


def content_of(content):
    return json.loads(chat_json(messages(("user", content))))[0]["content"]


def test_a_conversation_is_compact_json_in_the_order_of_rows():
    said = messages(("user", "Hello"), ("assistant", "Hi, you"))
    assert chat_json(said) == '[{"role":"user","content":"Hello"},{"role":"assistant","content":"Hi, you"}]'


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        (None, "pending"),
        (np.nan, "pending"),
        ("", "pending"),
        ("None", "None"),
        ("NA", "NA"),
        ("nan", "nan"),
        ("   ", ""),
        ("two\nlines\r\nand\rmore", "two lines and more"),
        ("  spaces \t in  between ", "spaces in between"),
        ("no\u00a0break\u2003em\u3000wide\u2028line", "no break em wide line"),
        ("zero\u200bwidth is no space", "zero\u200bwidth is no space"),
        ('a "quote" and a \\', 'a "quote" and a \\'),
        ("{chat} ~~EXAMPLES~~ </S0><S2>5</S2>", "{chat} ~~EXAMPLES~~ </S0><S2>5</S2>"),
        ("=1+1", "=1+1"),
        ("12", "12"),
    ],
)
def test_contents_are_texts_with_single_spaces(written, shown):
    assert content_of(written) == shown


def test_every_conversation_of_tasks_has_its_chat_in_the_order_of_the_file(minimal_sheets):
    sheets = minimal_sheets(
        messages={
            "TaskId": ["C2", "C1", "C2", "C2"],
            "MessageId": [3.0, 1.0, 1.0, 2.0],  # which is not the order of the rows
            "Role": ["user", "user", "assistant", "error"],
            "Content": ["first", "other", "second", "left out"],
            "EmpathyOverall": [None, None, "good", None],
        }
    )
    found = chats(parse_sheets(sheets))
    assert found.index.tolist() == ["C1", "C2", "C3", "C4"]
    assert (found.name, found.index.name) == ("chat", "conversation")
    assert found["C1"] == '[{"role":"user","content":"other"}]'
    assert [entry["content"] for entry in json.loads(found["C2"])] == ["first", "second"]
    assert found[["C3", "C4"]].tolist() == ["[]", "[]"]


def test_texts_of_a_workbook_come_through_a_file(minimal_sheets, tmp_path):
    contents = ["=SUM(1)", "_x000D_ and\ra return", "NA", None, "007", "1e5", "nan", "#N/A"]
    sheets = minimal_sheets(
        conversations=1,
        messages={
            "TaskId": "C1",
            "MessageId": [float(number) for number in range(8)],
            "Role": ["user", "assistant"] * 4,
            "Content": contents,
        },
    )
    write_sheets(sheets, tmp_path / "study.xlsx")
    entries = json.loads(chats(parse_sheets(read_sheets(tmp_path / "study.xlsx")))["C1"])
    shown = ["=SUM(1)", "_x000D_ and a return", "NA", "pending", "007", "1e5", "nan", "#N/A"]
    assert [entry["content"] for entry in entries] == shown
