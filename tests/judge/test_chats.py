"""What a judge is shown of a conversation: its messages, to the letter."""

import json
import math
import unicodedata

import pandas as pd
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers.endpoint import need_the_judge
from helpers.studies import parse_sheets, write_study
from sense7.judge.chats import chat_json, chats
from sense7.workbook.xlsx import read_sheets

need_the_judge()

# The conversation


def content_by_hand(content):
    if pd.isna(content) or content == "":
        return "pending"
    words = [""]
    for character in content:
        if (
            unicodedata.category(character) in ("Zs", "Zl", "Zp")
            or character in "\t\n\x0b\x0c\r\x1c\x1d\x1e\x1f\x85"
        ):
            words.append("")
        else:
            words[-1] += character
    return " ".join(word for word in words if word)


spaced = st.text(
    st.sampled_from(' \t\r\n\u00a0\u2003\u2028\u3000\x1c\x85\u200bab"\\/{}🙂\ud800=<>'), max_size=12
)
rows = st.lists(
    st.tuples(
        st.sampled_from(
            ["user", "assistant", "error", "Error", "USER", "error ", "System", None, ""]
        ),
        st.none() | st.just(math.nan) | spaced | st.text(),
    ),
    max_size=6,
)


@settings(max_examples=200)
@given(rows=rows)
def test_a_chat_is_the_compact_json_of_its_rows_but_errors(rows):
    chat = chat_json(rows)
    expected = [
        {"role": (role or "").lower(), "content": content_by_hand(content)}
        for role, content in rows
        if role != "error"
    ]
    assert chat == json.dumps(expected, ensure_ascii=False, separators=(",", ":"))


def test_every_conversation_of_tasks_has_its_chat_in_the_order_of_the_file(
    minimal_sheets, tmp_path
):
    odd = ["=SUM(1)", "_x000D_ and\ra return", "NA", None, "007", "1e5", "nan", "#N/A"]
    said = {
        "TaskId": ["C2", "C1", "C2", "C2", *["C3"] * 8],
        "MessageId": [
            3.0,
            1.0,
            1.0,
            2.0,
            *map(float, range(8)),
        ],  # which is not the order of the rows
        "Role": ["user", "user", "assistant", "error", *["user", "assistant"] * 4],
        "Content": ["first", "other", "second", "left out", *odd],
        "EmpathyOverall": [None] * 12,
    }
    write_study(minimal_sheets(messages=said), tmp_path / "study.xlsx")
    found = chats(parse_sheets(read_sheets(tmp_path / "study.xlsx")))
    contents = {
        name: [entry["content"] for entry in json.loads(chat)] for name, chat in found.items()
    }
    shown = ["=SUM(1)", "_x000D_ and a return", "NA", "pending", "007", "1e5", "nan", "#N/A"]
    assert contents == {"C1": ["other"], "C2": ["first", "second"], "C3": shown, "C4": []}
