"""The prompt: the authors' placeholders, filled so that data never are placeholders."""

import hashlib
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sense7.errors import UserError
from sense7.judge import DEFAULT_MODEL
from sense7.judge.requests import LARGEST, REQUEST, SYSTEM_MESSAGE, Prompt
from sense7.taxonomy import DIMENSIONS, LEVELS


def test_the_request_is_the_authors():
    assert SYSTEM_MESSAGE == "You are a helpful AI assistant"
    assert json.dumps(REQUEST) == (
        '{"temperature": 0.0, "top_p": 1.0, "max_tokens": 3000, "presence_penalty": 0.0, "frequency_penalty": 0.0}'
    ), "0.0 and not 0; the penalties written out; no seed"
    assert DEFAULT_MODEL == "gpt-4o"


pieces = st.lists(st.one_of(st.sampled_from(["{chat}", "~~EXAMPLES~~"]), st.text("ab {}~\n", max_size=5)), max_size=8)
harmless = st.text("ab01[]\n", min_size=1, max_size=9)


@settings(max_examples=200, deadline=None)
@given(pieces.map("".join), harmless, st.one_of(st.just(""), harmless))
def test_without_placeholders_in_the_data_it_is_two_replacements_in_turn(text, chat, examples):
    prompt = Prompt("any", text + "~~EXAMPLES~~")
    naive = prompt.text.replace("{chat}", chat).replace("~~EXAMPLES~~", examples)
    assert prompt.fill(chat, examples) == naive


@settings(max_examples=200, deadline=None)
@given(pieces, pieces.map("".join), pieces.map("".join))
def test_data_change_nothing_outside_their_placeholder(template, chat, examples):
    """Filled piece by piece, also if the data hold placeholders."""
    template = ["~~EXAMPLES~~", *(piece if piece in ("{chat}", "~~EXAMPLES~~") else "|" for piece in template)]
    expected = "".join({"{chat}": chat, "~~EXAMPLES~~": examples}.get(piece, piece) for piece in template)
    assert Prompt("any", "".join(template)).fill(chat, examples) == expected


def test_where_it_departs_from_two_replacements():
    prompt = Prompt("any", "{chat}~~EXAMPLES~~")
    assert prompt.fill("[~~EXAMPLES~~]", "one") == "[~~EXAMPLES~~]one"
    assert prompt.text.replace("{chat}", "[~~EXAMPLES~~]").replace("~~EXAMPLES~~", "one") == "[one]one"


def test_zero_shot_leaves_no_trace_of_the_place_for_examples():
    assert Prompt("any", "Rate:~~EXAMPLES~~{chat}").fill("[]") == "Rate:[]"


def test_the_hash_is_of_the_text_alone():
    assert Prompt("a", "{chat} ü").sha256 == hashlib.sha256("{chat} ü".encode()).hexdigest()
    assert Prompt("a", "{chat}").sha256 == Prompt("b", "{chat}").sha256 != Prompt("a", "{chat} ").sha256


def test_the_bundled_prompt_asks_for_what_is_read_from_the_reply():
    prompt = Prompt.bundled()
    assert prompt.name == "empathy"
    assert prompt.text.count("{chat}") == prompt.text.count("~~EXAMPLES~~") == 1
    for tag in ("<S0>", "</S0>", "<S2>", "</S2>"):
        assert prompt.text.count(tag) == 1


def test_the_bundled_prompt_has_the_dimensions_and_levels_of_the_taxonomy():
    text = Prompt.bundled().text
    for number, dimension in enumerate(DIMENSIONS, 1):
        assert f"\n{number}. {dimension.title.capitalize()}: it {dimension.definition}.\n" in text
    for number, level in enumerate(LEVELS, 1):
        assert f"\n{number} = {level}\n" in text


def test_a_prompt_of_ones_own_is_named_after_its_file(tmp_path):
    path = tmp_path / "short one.txt"
    path.write_bytes("\ufeffRate:\r\n{chat}".encode())
    assert Prompt.read(path) == Prompt("short one", "Rate:\n{chat}")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"Rate this.", r"the prompt has no \{chat\}. Write \{chat\} where"),
        (b"", r"the prompt has no \{chat\}"),
        (b"Rate {chat} \xff", "byte 13 of the prompt is not UTF-8. Save"),
    ],
)
def test_a_prompt_that_can_not_be_used_says_how_to_fix_it(tmp_path, content, message):
    path = tmp_path / "mine.txt"
    path.write_bytes(content)
    with pytest.raises(UserError, match=message) as caught:
        Prompt.read(path)
    assert str(caught.value).startswith(str(path))


def test_a_prompt_has_at_most_a_megabyte(tmp_path):
    path = tmp_path / "long.txt"
    path.write_bytes(b"{chat}".ljust(LARGEST))
    assert len(Prompt.read(path).text) == LARGEST == 2**20
    path.write_bytes(b"{chat}".ljust(3 * LARGEST))
    with pytest.raises(UserError, match=r"a prompt has at most 1 MB\. Give"):
        Prompt.read(path)


def test_a_prompt_that_is_no_file_is_refused(tmp_path):
    with pytest.raises(UserError, match="there is no such file"):
        Prompt.read(tmp_path / "none.txt")
    with pytest.raises(UserError, match="this is a folder"):
        Prompt.read(tmp_path)
    with pytest.raises(UserError):
        Prompt.read("nul\0byte")
