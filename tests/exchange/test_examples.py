"""Examples that the reader of the rating page is given, too (tests/browser)."""

import pytest

from helpers.chat_examples import EXAMPLES
from sense7.errors import UserError
from sense7.exchange import ImportSummary, read_chats


@pytest.mark.parametrize("name", EXAMPLES)
def test_each_example_is_read_or_refused(write, name):
    text, expected = EXAMPLES[name]
    read = [messages for messages in expected if messages is not None]
    path = write("chats.jsonl" if "\n{" in text or "\n[" in text else "chats.json", text)
    summary = ImportSummary()
    if not read:
        with pytest.raises(UserError):
            list(read_chats([path], summary=summary))
        return
    chats = list(read_chats([path], summary=summary))
    assert [[(message.role, message.text) for message in chat.messages] for chat in chats] == read
    assert summary.omitted["conversation that can't be read"] == expected.count(None)
