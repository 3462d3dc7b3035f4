"""A judge's reply: the authors' rule for its score, and a status for every other."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sense7.findings.ground_truth import labels
from sense7.judge.reply import STATUSES, read_reply

# The score: by the authors' rule, followed by hand, and strictly


def inside_first(tag, text):
    """What stands between the first opening tag and the next closing one; only ASCII letters have two cases."""
    folded = "".join(c.lower() if c.isascii() else c for c in text)
    _, opening, behind = folded.partition(f"<{tag}>")
    inside, closing, _ = behind.partition(f"</{tag}>")
    begin = len(text) - len(behind)
    return text[begin : begin + len(inside)] if opening and closing else None


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
    st.sampled_from(TAGS + NUMBERS + DIGITS)
    | st.text("0123456789.,/-<> \n\x00", max_size=5)
    | st.text(max_size=3),
    max_size=9,
).map("".join)
texts = pieces | pieces.map(lambda text: f"<S2>{text}</S2>")


@settings(max_examples=400)
@given(
    text=st.none() | texts,
    finish_reason=st.sampled_from([None, "stop", "length", "content_filter"]),
    refusal=st.none() | st.none() | st.text(),
    error=st.none() | st.none() | st.text(),
)
def test_the_authors_score_is_that_of_their_rule_by_hand(text, finish_reason, refusal, error):
    reply = read_reply(text, finish_reason=finish_reason, refusal=refusal, error=error)
    by_hand = None if error is not None else score_by_hand(text or "")
    assert reply.authors_score == (by_hand or 3.0)
    assert reply.status in STATUSES
    assert (reply.score is None) == (reply.status != "ok")
    assert reply.status == "ok" or reply.reason
    assert reply.score is None or 1 <= reply.score <= 5
    assert reply.doubtful or (reply.score or 3.0) == reply.authors_score
    reasoning = inside_first("s0", text or "")
    assert reply.reasoning == (reasoning if reasoning is None else reasoning.strip())
    if error is not None or refusal or finish_reason == "content_filter":
        assert reply.status == ("api_error" if error is not None else "refusal")


INSIDE = {
    # Numbers on the scale, and how the authors round them to a level.
    **{"1": (1, 1, 1), " 4.5\n": (4.5, 4.5, 4), "2.5": (2.5, 2.5, 2), "3.5": (3.5, 3.5, 4)},
    # So many of five, and signs of Markdown around it.
    **dict.fromkeys(["4/5", "4 / 5", "**4**/5", "`4`", "# 4", "_4/5_\n", "\u20034"], (4, 4)),
    # A number off the scale.
    **{"10": (None, 1, 1), "7.5": (None, 5, 5), "0.5": (None, 5, 5), "5.9": (None, 5.9, 5)},
    **{"04": (None, 4), "85/100": (None, 5), "4/10": (None, 4), "-2": (None, 2), "+4": (None, 4)},
    # More than one number, or no number.
    **{"3-4": (None, 3), "3,5": (None, 3), "4 5": (None, 4), "4/5/5": (None, 4), "4 (4/5)": (None, 4)},
    **{"4.": (None, 4), "1.2.3": (None, 1.2), "4e1": (None, 4), ".5": (None, 5), "4\u00b2": (None, 4)},
    **dict.fromkeys(["0", "6", "four", "", "\uff14", "\u0664"], (None, None)),
    # Words beside a number, whatever they say: it may be the number of something else.
    **{"Score: 4": (None, 4), "4 of 5": (None, 4), "less than 3": (None, 3), "4, since": (None, 4)},
    **{"\u2605\u2605\u2605\u2605\u2606 (5)": (None, 5), "Score (1-5): 4": (None, 1)},
}  # fmt: skip
"""What stands inside <S2> -> the score by the strict rule, by the authors', and its level."""


@pytest.mark.parametrize("inside", INSIDE)
def test_strictly_a_score_is_one_number_on_the_scale(inside):
    strict, authors, *label = INSIDE[inside]
    reply = read_reply(f"<S2>{inside}</S2>")
    assert (reply.score, reply.authors_score) == (strict, 3 if authors is None else authors)
    assert not label or labels(reply.authors_score) == label[0]
    assert reply.doubtful == (strict != authors)
    if strict is None:
        assert reply.status == "parse_failure"
        assert repr(" ".join(inside.split())) in reply.reason


TEXTS = [
    # Several scores have to agree.
    ("<S2>4</S2><S2>5</S2>", None, 4, "different scores in several <S2>: '4, 5'"),
    ("<S2>4</S2> no: <S2>10</S2>", None, 4, "not one number from 1 to 5 inside <S2>: '10'"),
    ("<S2>4</S2> no: <S2>5", None, 4, "<S2> is not closed"),
    ("<S2><S2>4</S2>", None, 2, "<S2> is not closed; the authors' rule reads 2"),
    ("<S0>Rather <S2>3</S2>? No.</S0><S2>4</S2>", 4, 3, ""),
    ("<S2>4</S2> so <s2> 4.0 </s2>", 4, 4, ""),
    ("<s2>\n 4 \n</S2>", 4, 4, ""),
    # A reply without a score says why.
    ("<S2>4", None, 3, "<S2> is not closed"),
    ("4</S2>", None, 3, "no <S2> in the reply"),
    ("< S2 >4</ S2 >", None, 3, "no <S2> in the reply"),
    ("<\u017f2>4</\u017f2>", None, 3, "no <S2> in the reply"),  # a long s, whose other case is S
    (" \n", None, 3, "the reply is empty"),
    # A doubtful reading says what was read.
    ("<S2>Score (1-5): 4</S2>", None, 1,
     "not one number from 1 to 5 inside <S2>: 'Score (1-5): 4'; the authors' rule reads 1"),
    (f"<S2>{'a' * 60}</S2>", None, 3, f"not one number from 1 to 5 inside <S2>: '{'a' * 60}'"),
    (f"<S2>{'a' * 61}</S2>", None, 3, f"not one number from 1 to 5 inside <S2>: '{'a' * 60} ..'"),
    # What stands before the last </think> is no answer; the authors read that, too.
    ("<think>Perhaps <S2>1</S2>?</think><S2>5</S2>", 5, 1, "the authors' rule reads 1"),
    ("<think><S2></S2></think><S2>5</S2>", 5, 3, "the authors' rule reads no score"),
    ("Perhaps <S2>1</S2>?</think><S2>5</S2>", 5, 1, ""),  # some templates open the thinking before the reply
    ("<think>a<think>b</think><S2>1</S2></think><S2>5</S2>", 5, 1, ""),
    ("<S2>5</S2><think>or <S2>1</S2></think>", None, 5, "no <S2> in the reply after its thinking"),
    ("<think>Perhaps <S2>1</S2>", None, 1, "no <S2> in the reply after its thinking"),
    ("<S0>It shows <think> by mistake.</S0><S2>4</S2>", 4, 4, ""),
]  # fmt: skip


@pytest.mark.parametrize(("text", "strict", "authors", "reason"), TEXTS)
def test_what_is_read_from_a_text_and_why(text, strict, authors, reason):
    reply = read_reply(text)
    assert (reply.text, reply.score, reply.authors_score) == (text, strict, authors)
    assert reply.reason.startswith(reason)
    assert len(reply.reason) < 200


WHOLE = "<S0>because</S0><S2>4</S2>"
CUT_OFF = {
    f"{WHOLE} and then": 4,
    "<think>2?</think><S0>because</S0><S2>4</S2> and": 4,
    "<S0>maybe <S2>1</S2>, or": None,
    "<think>maybe <S2>1</S2>, or": None,
    "<S0>because</S0><S2>4": None,
    "": None,
}


@pytest.mark.parametrize("text", CUT_OFF)
def test_a_reply_that_was_cut_off_has_a_score_only_behind_its_reasons(text):
    reply = read_reply(text, finish_reason="length")
    assert reply.score == CUT_OFF[text]
    assert reply.status == ("ok" if reply.score else "truncated")
