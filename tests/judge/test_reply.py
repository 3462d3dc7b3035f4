"""A judge's reply: the authors' rule for its score, and a status for every other."""

import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sense7.errors import UserError
from sense7.judge.reply import POLICIES, STATUSES, Reply, apply_policy, read_reply
from sense7.statistics.ground_truth import labels


@pytest.mark.parametrize(
    ("inside", "score", "label"),
    [
        ("10", 1, 1),
        ("7.5", 5, 5),
        ("0.5", 5, 5),
        ("9.25", 2, 2),
        ("5.9", 5.9, 5),
        ("3-4", 3, 3),
        ("4/5", 4, 4),
        ("-2", 2, 2),
        ("3,5", 3, 3),
        ("Score (1-5): 4", 1, 1),
        ("Level 2: 5", 2, 2),
        ("1.5", 1.5, 2),
        ("2.5", 2.5, 2),
        ("3.5", 3.5, 4),
        ("4.5", 4.5, 4),
    ],
)
def test_scores_are_those_of_the_authors_table(inside, score, label):
    reply = read_reply(f"<S2>{inside}</S2>")
    assert (reply.score, reply.status) == (score, "ok")
    assert labels(reply.score) == label
    assert apply_policy(reply, "strict") == apply_policy(reply, "authors") == score


@pytest.mark.parametrize("inside", ["0", "6", "four", "", "\uff14", "\u0664"])  # full-width and Arabic 4
def test_no_score_inside_is_a_parse_failure(inside):
    reply = read_reply(f"<S2>{inside}</S2>")
    assert (reply.score, reply.status) == (None, "parse_failure")
    assert reply.reason == f"no digit from 1 to 5 inside <S2>: {inside!r}"
    assert (apply_policy(reply, "strict"), apply_policy(reply, "authors")) == (None, 3.0)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("<S2>4", "<S2> is not closed"),
        ("4</S2>", "no <S2> in the reply"),
        ("</S2>4<S2>", "<S2> is not closed"),
        ("I would say 4.", "no <S2> in the reply"),
        ("< S2 >4</ S2 >", "no <S2> in the reply"),
        ("<\u017f2>4</\u017f2>", "no <S2> in the reply"),  # a long s, whose other case is S
        ("", "the reply is empty"),
        (" \n", "the reply is empty"),
        (None, "the reply is empty"),
    ],
)
def test_a_reply_without_a_score_says_why(text, reason):
    reply = read_reply(text)
    assert (reply.score, reply.status, reply.reason) == (None, "parse_failure", reason)
    assert reply.text == (text or "")


def test_tags_are_read_in_any_case_over_lines_and_the_first_wins():
    assert read_reply("<s2>\n 4 \n</S2><S2>1</S2>").score == 4
    assert read_reply("<S2>none</S2><S2>1</S2>").status == "parse_failure"


@pytest.mark.parametrize("decimals", ["4.\u0665", "4.", "4. 5", "4.x"])
def test_decimals_are_ascii_digits_right_after_the_point(decimals):
    assert read_reply(f"<S2>{decimals}</S2>").score == 4


def test_reasoning_is_the_first_s0_without_space_at_its_ends():
    assert read_reply("<s0> Kind\nand warm. </S0><S0>no</S0><S2>5</S2>").reasoning == "Kind\nand warm."
    assert read_reply("<S0>unclosed <S2>5</S2>").reasoning is None
    assert read_reply("<S0>Kind.</S0>").reasoning == "Kind."


@pytest.mark.parametrize("inside", ["4", " 4.5\n", "5.0", "1"])
def test_a_plain_score_needs_no_remark(inside):
    assert read_reply(f"<S2>{inside}</S2>").reason == ""


@pytest.mark.parametrize("inside", ["10", "Score (1-5): 4", "3-4", "5.9", "4/5"])
def test_a_score_that_the_rule_may_have_misread_is_quoted(inside):
    assert read_reply(f"<S2>{inside}</S2>").reason == f"more than a score from 1 to 5 inside <S2>: {inside!r}"


def test_what_is_quoted_is_short():
    assert read_reply(f"<S2>{'a' * 60}</S2>").reason.endswith(f": '{'a' * 60}'")
    assert read_reply(f"<S2>{'a' * 61}</S2>").reason.endswith(f": '{'a' * 60} ..'")
    assert len(read_reply(f"<S2>{'many words ' * 1000}</S2>").reason) < 120


def test_a_reply_cut_off_is_truncated_only_without_a_usable_score():
    assert read_reply("<S0>At leng", finish_reason="length").status == "truncated"
    assert read_reply(None, finish_reason="length").status == "truncated"
    assert read_reply("<S2>4", finish_reason="length").status == "truncated"
    assert "limit of tokens" in read_reply("<S0>At leng", finish_reason="length").reason
    whole = read_reply("<S2>4</S2> and then I wou", finish_reason="length")
    assert (whole.status, whole.score) == ("ok", 4)


def test_refusals_are_those_that_the_endpoint_calls_so():
    for refused in (
        read_reply("", refusal="I can't help with that."),
        read_reply("<S2>4</S2>", refusal="I can't help with that."),
        read_reply("<S2>4</S2>", finish_reason="content_filter"),
    ):
        assert (refused.status, refused.score) == ("refusal", None)
    assert read_reply("", refusal="I can't help with that.").reason == "I can't help with that."
    assert "content filter" in read_reply("<S2>4</S2>", finish_reason="content_filter").reason
    assert read_reply("I'm sorry, but I can't rate this.").status == "parse_failure"


def test_an_error_is_one_whatever_came_with_it():
    failed = read_reply("<S2>4</S2>", refusal="no", finish_reason="length", error="429 too many requests")
    assert (failed.status, failed.score, failed.reason) == ("api_error", None, "429 too many requests")
    assert read_reply(None, error="").reason == "the request failed"


authors_score = re.compile(r"[1-5](?:\.\d+)?", re.ASCII)


def authors_rule(text):
    """Their rule in one expression, with 3 for whatever can't be read."""
    found = re.search(r"<S2>(.*?)</S2>", text, re.IGNORECASE | re.DOTALL | re.ASCII)
    number = authors_score.search(found[1]) if found else None
    return float(number[0]) if number else 3.0


parts = st.lists(
    st.one_of(
        st.sampled_from(["<S2>", "</S2>", "<s2>", "</s2>", "<S0>", "</S0>"]),
        st.text("0123456789.,/- \nab", max_size=6),
    ),
    max_size=8,
).map("".join)


@settings(max_examples=500, deadline=None)
@given(parts)
def test_any_reply_counts_to_the_authors_what_their_rule_gives(text):
    reply = read_reply(text)
    assert reply.status in STATUSES
    assert (reply.score is None) == (reply.status != "ok")
    assert apply_policy(reply, "authors") == authors_rule(text)
    assert apply_policy(reply, "strict") in (None, authors_rule(text))


def test_many_tags_that_are_never_closed_take_no_time():
    assert read_reply("<S2>" * 200_000).status == "parse_failure"


@pytest.mark.parametrize("status", [status for status in STATUSES if status != "ok"])
def test_every_unusable_status_is_missing_or_three(status):
    assert apply_policy((4.0, status), "strict") is None
    assert apply_policy((None, status), "authors") == 3.0


@pytest.mark.parametrize("score", [None, float("nan"), np.nan])
def test_a_score_that_is_missing_is_unusable_whatever_its_status(score):
    assert [apply_policy((score, "ok"), policy) for policy in POLICIES] == [None, 3.0]


def test_unknown_policies_and_statuses_are_refused():
    with pytest.raises(UserError, match="Choose strict or authors"):
        apply_policy((4.0, "ok"), "lenient")
    with pytest.raises(ValueError, match="no status of a reply: 'fine'"):
        apply_policy((4.0, "fine"), "strict")


def test_a_reply_is_a_value():
    assert read_reply("<S2>4</S2>") == Reply("<S2>4</S2>", 4.0, "ok", "", None)
