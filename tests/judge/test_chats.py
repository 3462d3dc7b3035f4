"""What a judge is shown of a conversation: its messages, to the letter."""

import json

from helpers.endpoint import need_the_judge
from helpers.studies import parse_sheets, write_study
from sense7.judge.chats import chats
from sense7.workbook.xlsx import read_sheets

need_the_judge()


def test_every_conversation_has_its_chat_in_the_order_of_the_file(minimal_sheets, tmp_path):
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
