"""What a judge is shown and what it answers, compared with the authors' rules written down once more, step by step."""

import json
import math
import unicodedata
from dataclasses import asdict

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sense7.judge.answers import Answer, read_completion
from sense7.judge.batch import import_replies, request_name
from sense7.judge.files import read_predictions
from sense7.judge.reply import STATUSES, read_reply
from sense7.judge.requests import Prompt, chat_json
from sense7.judge.session import questions_for
from sense7.workbook import parse_sheets

any_text = st.text()  # lone surrogates and control characters included

# The reply


def inside_first(tag, text):
    """What stands between the first opening tag and the next closing one; characters compared one by one."""
    opening, closing = f"<{tag}>", f"</{tag}>"

    def find(word, start):
        for place in range(start, len(text) - len(word) + 1):
            if all(chr(ord(c) | 32) == w if c.isascii() else False for c, w in zip(text[place:], word, strict=False)):
                return place
        return None

    begin = find(opening, 0)
    end = None if begin is None else find(closing, begin + len(opening))
    return None if end is None else text[begin + len(opening) : end]


def score_by_hand(text):
    """The first digit from 1 to 5, with the decimals that follow it."""
    inside = inside_first("s2", text) or ""
    for place, character in enumerate(inside):
        if character in "12345":
            decimals = ""
            if inside[place + 1 : place + 2] == ".":
                for digit in inside[place + 2 :]:
                    if digit not in "0123456789":
                        break
                    decimals += digit
            return float(f"{character}.{decimals or 0}")
    return None


TAGS = ["<S2>", "</S2>", "<s2>", "</s2>", "<S0>", "</s0>", "<\u017f2>", "<S2", "S2>"]
NUMBERS = ["4.5", "5.9", "10", "3-4", "2.", "0.5", "1.2.3", "4.\u0665"]
DIGITS = ["\uff14", "\u0664", "\u00b2"]  # full-width, Arabic, superscript: none counts
pieces = st.lists(
    st.sampled_from(TAGS + NUMBERS + DIGITS) | st.text("0123456789.,/-<> \n\x00", max_size=5) | st.text(max_size=3),
    max_size=9,
).map("".join)


@settings(max_examples=400)
@given(text=pieces | pieces.map(lambda text: f"<S2>{text}</S2>"))
def test_the_score_is_that_of_the_rule_followed_by_hand(text):
    # `|` makes a capital letter small; of `<`, `>`, `/` and digits it is the same character that comes out.
    assert all(chr(ord(c) | 32) == c for c in "<>/02")
    reply = read_reply(text)
    assert reply.authors_score == (score_by_hand(text) or 3.0)
    assert (reply.status == "ok") == (reply.score is not None)
    if reply.score is not None and not reply.doubtful:
        assert reply.score == score_by_hand(text)
    reasoning = inside_first("s0", text)
    assert reply.reasoning == (reasoning if reasoning is None else reasoning.strip())


@given(
    text=st.none() | pieces,
    finish_reason=st.sampled_from([None, "stop", "length", "content_filter"]),
    refusal=st.none() | any_text,
    error=st.none() | any_text,
)
def test_a_reply_has_a_score_or_says_why_not(text, finish_reason, refusal, error):
    reply = read_reply(text, finish_reason=finish_reason, refusal=refusal, error=error)
    assert reply.status in STATUSES
    assert (reply.score is None) == (reply.status != "ok")
    assert reply.status == "ok" or reply.reason
    assert reply.score is None or 1 <= reply.score <= 5
    assert reply.authors_score == (3.0 if error is not None else score_by_hand(text or "") or 3.0)
    assert reply.doubtful or reply.authors_score == (3.0 if reply.score is None else reply.score)
    if error is not None or refusal or finish_reason == "content_filter":
        assert reply.status == ("api_error" if error is not None else "refusal")


# The conversation as JSON


def content_by_hand(content):
    if pd.isna(content) or content == "":
        return "pending"
    words = [""]
    for character in content:
        if unicodedata.category(character) in ("Zs", "Zl", "Zp") or character in "\t\n\x0b\x0c\r\x1c\x1d\x1e\x1f\x85":
            words.append("")
        else:
            words[-1] += character
    return " ".join(word for word in words if word)


spaced = st.text(st.sampled_from(' \t\r\n\u00a0\u2003\u2028\u3000\x1c\x85\u200bab"\\/{}🙂\ud800=<>'), max_size=12)
rows = st.lists(
    st.tuples(
        st.sampled_from(["user", "assistant", "error", "Error", "USER", "error ", "System", None, ""]),
        st.none() | st.just(math.nan) | spaced | any_text,
    ),
    max_size=6,
)


@settings(max_examples=200)
@given(rows=rows)
def test_a_chat_is_the_compact_json_of_its_rows(rows):
    chat = chat_json(pd.DataFrame(rows, columns=["role", "content"], dtype=object))
    expected = [
        {"role": (role or "").lower(), "content": content_by_hand(content)}
        for role, content in rows
        if role != "error"
    ]  # fmt: skip
    assert json.loads(chat) == expected
    assert chat == json.dumps(expected, ensure_ascii=False, separators=(",", ":"))
    assert Prompt("any", "<{chat}>").fill(chat) == f"<{chat}>"


# Replies of a batch

USAGE = {"prompt_tokens": 10, "completion_tokens": 2}


@pytest.fixture(scope="module")
def questions(minimal_sheets):
    study = parse_sheets(minimal_sheets())
    return questions_for(study, Prompt("brief", "Rate this: {chat}"), "gpt-4o")


def completion(text, **changes):
    body = {"choices": [{"message": {"role": "assistant", "content": text}, "finish_reason": "stop"}], "usage": USAGE}
    return {"response": {"status_code": 200, "body": body | changes}}


junk = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.just(10**400) | any_text,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)
outcomes = st.one_of(
    st.tuples(st.just("ok"), st.sampled_from([completion("<S2>4</S2>"), completion("<s2>5</s2>", model="\ud800")])),
    st.tuples(st.just("parse_failure"), st.sampled_from([completion("four"), completion(None), completion("<S2>4")])),
    st.tuples(
        st.just("refusal"),
        st.just({"response": {"status_code": 400, "body": {"error": {"code": "content_filter"}}}}),
    ),
    st.tuples(
        st.just("not_asked"),
        st.just({"response": None, "error": {"code": "batch_expired", "message": "late"}}),
    ),
    st.tuples(
        st.just("api_error"),
        st.sampled_from(
            [
                {"response": {"status_code": 500, "body": "broken"}},
                {"response": {"status_code": 200, "body": {"choices": []}}},
                {},
            ]
        ),
    ),
)


@settings(max_examples=25)
@given(data=st.data())
def test_every_reply_goes_to_its_request_and_nothing_is_guessed(questions, tmp_path_factory, data):
    names, runs = list(questions.units), data.draw(st.integers(1, 2))
    asked = [(name, run) for name in names for run in range(1, runs + 1)]
    known = {request: data.draw(outcomes) for request in asked if data.draw(st.booleans())} or {
        asked[0]: ("api_error", {})
    }
    lines = [
        {"custom_id": f"run{run}-{request_name(questions.units[name])}"} | record
        for (name, run), (_, record) in known.items()
    ]
    lines += [
        {"custom_id": data.draw(st.sampled_from(["run1-x", "other", f"run{runs + 1}{lines[0]['custom_id'][4:]}"]))}
    ]
    path = tmp_path_factory.mktemp("batch") / "replies.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in data.draw(st.permutations(lines))))
    found = import_replies(questions, [path], path.parent / "out", runs=runs)
    assert (found.missing, len(found.foreign), found.repeated) == (len(asked) - len(known), 1, 0)
    for run, written in enumerate(found.paths, 1):
        frame = read_predictions(written).frame
        assert frame["conversation"].tolist() == names
        assert frame["status"].tolist() == [known.get((name, run), ("not_asked",))[0] for name in names]
        assert (frame["score"].notna() == (frame["status"] == "ok")).all()


@settings(max_examples=200)
@given(body=junk, usage=junk | st.fixed_dictionaries({"prompt_tokens": junk, "completion_tokens": junk}))
def test_what_is_no_completion_is_refused_and_never_half_read(body, usage):
    with pytest.raises(ValueError, match=r"no chat completion|is no text"):
        read_completion(body)
    read = read_completion(completion("<S2>4</S2>", usage=usage, model=body)["response"]["body"])
    assert read["output"] == "<S2>4</S2>"
    for name in ("input_tokens", "output_tokens"):
        assert read[name] is None or float(read[name]) == read[name]
    assert read["returned_model"] is None or isinstance(body, str)


answers = st.builds(
    Answer,
    conversation=any_text,
    run=st.integers(1, 10**6),
    output=st.none() | any_text,
    refusal=st.none() | any_text,
    input_tokens=st.none() | st.integers(0, 2**53),
    seconds=st.none() | st.floats(allow_nan=False),
    error=st.none() | any_text,
    prompt_cut=st.booleans(),
)


@given(answer=answers)
def test_an_answer_comes_back_from_its_record(answer):
    assert Answer(**json.loads(json.dumps(asdict(answer)))) == answer
