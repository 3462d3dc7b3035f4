"""A judge's reply: the authors' rule for its score, and a status for every other."""

import re
import time

import pytest

from sense7.errors import UserError
from sense7.findings.ground_truth import labels
from sense7.judge.reply import check_policy, read_reply


@pytest.mark.parametrize(
    ("inside", "authors", "label", "strict"),
    [
        ("10", 1, 1, None),
        ("7.5", 5, 5, None),
        ("0.5", 5, 5, None),
        ("9.25", 2, 2, None),
        ("5.9", 5.9, 5, None),
        ("3-4", 3, 3, None),
        ("4/5", 4, 4, 4),
        ("-2", 2, 2, None),
        ("3,5", 3, 3, None),
        ("Score (1-5): 4", 1, 1, None),
        ("Level 2: 5", 2, 2, None),
        ("1.5", 1.5, 2, 1.5),
        ("2.5", 2.5, 2, 2.5),
        ("3.5", 3.5, 4, 3.5),
        ("4.5", 4.5, 4, 4.5),
    ],
)
def test_scores_are_those_of_the_authors_table_and_strictly_only_what_is_on_the_scale(inside, authors, label, strict):
    reply = read_reply(f"<S2>{inside}</S2>")
    assert (reply.authors_score, labels(reply.authors_score)) == (authors, label)
    assert (reply.score, reply.status) == (strict, "parse_failure" if strict is None else "ok")


@pytest.mark.parametrize("inside", ["0", "6", "four", "", "\uff14", "\u0664"])  # full-width and Arabic 4
def test_no_score_by_either_rule_is_a_parse_failure(inside):
    reply = read_reply(f"<S2>{inside}</S2>")
    assert (reply.score, reply.authors_score, reply.status, reply.doubtful) == (None, 3.0, "parse_failure", False)
    assert reply.reason == f"not one number from 1 to 5 inside <S2>: {inside!r}"


@pytest.mark.parametrize(
    ("inside", "authors"),
    [
        *[("85/100", 5), ("99.5", 5), ("100", 1), ("40%", 4), ("4 %", 4), ("8/10", 1), ("4/10", 4), ("1,000", 1)],
        *[("\u22122", 2), ("Score -2", 2), ("+4", 4), ("Score-4", 4), ("<3", 3), ("at least \u2265 4", 4)],
        *[("3 or 4", 3), ("3..5", 3), ("4 5", 4), ("4/4", 4), ("4/50", 4), ("4/5/5", 4), ("of 5", 5), ("4,0", 4)],
        *[("4e1", 4), ("4x", 4), ("1.2.3", 1.2), (".5", 5), ("3\u00bd", 3), ("4\u00b2", 4), ("4 \uff15", 4)],
    ],
)
def test_what_is_not_one_number_on_the_scale_is_no_score_and_doubtful(inside, authors):
    reply = read_reply(f"<S2>{inside}</S2>")
    assert (reply.score, reply.status, reply.authors_score) == (None, "parse_failure", authors)
    assert reply.doubtful


@pytest.mark.parametrize(
    ("inside", "score"),
    [
        *[("4", 4), (" 4.5\n", 4.5), ("5.0", 5), ("1", 1), ("04", 4)],
        *[("Score: 4", 4), ("4.", 4), ("**4**", 4), ("4, since it listens", 4), ("\u5f97\u52064\u5206", 4)],
        *[("4 / 5", 4), ("4.5/5", 4.5), ("3 out of 5", 3), ("3 of 5 stars", 3), ("4 (4/5)", 4)],
    ],
)
def test_one_number_on_the_scale_is_read_among_any_words(inside, score):
    reply = read_reply(f"<S2>{inside}</S2>")
    assert (reply.score, reply.authors_score, reply.status) == (score, score, "ok")
    assert reply.doubtful == (re.fullmatch(r"\s*[0-9.]*[0-9]\s*", inside) is None), "more than a bare score is doubtful"


@pytest.mark.parametrize("tag", ["think", "REASONING"])
@pytest.mark.parametrize(
    ("text", "strict", "authors"),
    [
        ("<T>Perhaps <S2>1</S2>?</T><S2>5</S2>", 5, 1),
        ("Perhaps <S2>1</S2>?</T><S2>5</S2>", 5, 1),  # some templates open the thinking before the reply
        ("<T>a</T>b<T><S2>1</S2></T><S2>5</S2>", 5, 1),
        ("<T>a<T>b</T><S2>1</S2></T><S2>5</S2>", 5, 1),
        ("<S2>5</S2><T>or <S2>1</S2></T>", 5, 5),
        ("<T>Perhaps <S2>1</S2>", None, 1),
        ("<T>a</T>", None, 3),
    ],
)
def test_thinking_is_removed_before_the_strict_reading_alone(tag, text, strict, authors):
    reply = read_reply(text.replace("<T>", f"<{tag}>").replace("</T>", f"</{tag}>"))
    assert (reply.score, reply.authors_score) == (strict, authors)
    assert reply.doubtful == (strict != authors and (strict, authors) != (None, 3))


# What a model thinks aloud

MARKS = {
    "DeepSeek, Qwen": ("<think>", "</think>"),
    "Claude by prompt": ("<Thinking>", "</Thinking>"),
    "Hunyuan": ("<think:opt>", "</think:opt>"),
    "with attributes": ("<think effort='high'>", "</think>"),
    "EXAONE": ("<thought>", "</thought>"),
    "fine-tunes": ("<reasoning>", "</reasoning>"),
    "Seed": ("<seed:think>", "</seed:think>"),
    "LongCat": ("<longcat_think>", "</longcat_think>"),
    "scratchpad": ("<scratchpad>", "</scratchpad>"),
    "Mistral": ("[THINK]", "[/THINK]"),
    "Pangu": ("[unused16]", "[unused17]"),
    "Kimi": ("◁think▷", "◁/think▷"),
    "Cohere": ("<|START_THINKING|>", "<|END_THINKING|><|START_RESPONSE|>"),
    "OpenThoughts": ("<|begin_of_thought|>", "<|end_of_thought|><|begin_of_solution|>"),
    "Step": ("<|THINK_START|>", "<|THINK_END|>"),
    "Solar": ("<|think:start|>", "<|think:end|>"),
    "Solar Open": ("<|think|>", "<|end|><|begin|>assistant<|content|>"),
    "Apertus": ("<|inner_prefix|>", "<|inner_suffix|>"),
    "gpt-oss": ("<|channel|>analysis<|message|>", "<|end|><|start|>assistant<|channel|>final<|message|>"),
    "gpt-oss, JSON": ("<|channel|>commentary<|message|>", "<|channel|>final <|constrain|>json<|message|>"),
    "gpt-oss without tokens": ("analysisWe see: ", "assistantfinal"),
    "Gemma": ("<|channel>thought\n", "<channel|>"),
    "Granite": ("Here is my thought process: ", "Here is my response:"),
    "HyperCLOVA X": ("/think\n", "<|im_end|>\n<|im_start|>assistant\n"),
    "Open WebUI": ('<details type="reasoning" done="true">', "</details>"),
    "fenced": ("```thinking\n", "\n```\n"),
}
MAYBE = "maybe <S2>1</S2>, or"


@pytest.mark.parametrize("family", MARKS)
def test_what_a_model_thinks_aloud_gives_no_score_closed_or_cut_off(family):
    begin, end = MARKS[family]
    closed = read_reply(f"{begin}{MAYBE}{end}<S0>because</S0><S2>4</S2>")
    assert (closed.status, closed.score) == ("ok", 4)
    for more in ("", f" <think>b</think> {MAYBE}" if not begin.startswith("<th") else ""):
        cut = read_reply(f"{begin}{MAYBE}{more}", finish_reason="length")
        assert (cut.status, cut.score, cut.authors_score) == ("truncated", None, 1)
    never_closed = read_reply(f"{begin}{MAYBE}")
    assert (never_closed.status, never_closed.score) == ("parse_failure", None)


WHOLE = "<S0>because</S0><S2>4</S2>"
CUT_OFF = {
    f"<ponder>{MAYBE}": None,
    f"<ponder>{MAYBE}</ponder> so": None,
    f"[PONDER] {MAYBE}": None,
    f"◁ponder▷{MAYBE}": None,
    f"<|ponder|>{MAYBE}": None,
    f"Well. <ponder>{MAYBE}": None,
    f"<S0>{MAYBE}": None,
    f"<ponder>a</ponder>{WHOLE} and": 4,
    f"<answer>{WHOLE}": 4,
    f"{WHOLE} and then": 4,
    f"<b>Good.</b> {WHOLE} and": 4,
}


def test_a_reply_that_was_cut_off_in_markup_that_nobody_knows_is_no_score():
    replies = {text: read_reply(text, finish_reason="length") for text in CUT_OFF}
    assert {text: reply.score for text, reply in replies.items()} == CUT_OFF
    assert {reply.status for reply in replies.values() if reply.score is None} == {"truncated"}


@pytest.mark.parametrize(
    ("text", "strict", "authors"),
    [
        ("<S2>4</S2><S2>5</S2>", None, 4),
        ("<S2>4</S2> no: <S2>10</S2>", None, 4),
        ("<S2>4</S2> no: <S2>5", None, 4),
        ("<S2><S2>4</S2>", None, 2),
        ("<S2>4</S2> so <s2> 4.0 </s2>", 4, 4),
    ],
)
def test_several_scores_have_to_agree(text, strict, authors):
    reply = read_reply(text)
    assert (reply.score, reply.authors_score) == (strict, authors)


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


def test_tags_are_read_in_any_case_over_lines_and_to_the_authors_the_first_wins():
    assert read_reply("<s2>\n 4 \n</S2>").score == 4
    assert read_reply("<s2>\n 4 \n</S2><S2>1</S2>").authors_score == 4
    found = read_reply("<S2>none</S2><S2>1</S2>")
    assert (found.status, found.authors_score) == ("parse_failure", 3)


@pytest.mark.parametrize("decimals", ["4.\u0665", "4.", "4. 5", "4.x"])
def test_decimals_are_ascii_digits_right_after_the_point(decimals):
    found = read_reply(f"<S2>{decimals}</S2>")
    assert found.authors_score == 4
    assert found.score == (4 if decimals == "4." else None)


def test_reasoning_is_the_first_s0_without_space_at_its_ends():
    assert read_reply("<s0> Kind\nand warm. </S0><S0>no</S0><S2>5</S2>").reasoning == "Kind\nand warm."
    assert read_reply("<S0>unclosed <S2>5</S2>").reasoning is None
    assert read_reply("<S0>Kind.</S0>").reasoning == "Kind."


def test_a_doubtful_reading_says_what_was_read():
    assert read_reply("<S2>4/5</S2>").reason == "more than a score from 1 to 5 inside <S2>: '4/5'"
    assert read_reply("<think><S2>1</S2></think><S2>5</S2>").reason == "the authors' rule reads 1"
    assert read_reply("<think><S2></S2></think><S2>5</S2>").reason == "the authors' rule reads no score"
    found = read_reply("<S2>Score (1-5): 4</S2>").reason
    assert found == "not one number from 1 to 5 inside <S2>: 'Score (1-5): 4'; the authors' rule reads 1"


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
        assert refused.authors_score == (4 if refused.text else 3), "to the authors there is nothing but the text"
    assert read_reply("", refusal="I can't help with that.").reason == "I can't help with that."
    assert "content filter" in read_reply("<S2>4</S2>", finish_reason="content_filter").reason
    assert read_reply("I'm sorry, but I can't rate this.").status == "parse_failure"


def test_an_error_is_one_with_any_other_content():
    failed = read_reply("<S2>4</S2>", refusal="no", finish_reason="length", error="429 too many requests")
    assert (failed.status, failed.score, failed.reason) == ("api_error", None, "429 too many requests")
    assert failed.authors_score == 3, "to the authors there is no text"
    assert read_reply(None, error="").reason == "the request failed"


@pytest.mark.parametrize("piece", ["<S2>", "<S2>4</S2>", "<think>", "</think>", "4 ", "4/5 ", "4 of     "])
def test_a_long_reply_takes_no_time(piece):
    begun = time.process_time()
    read_reply(f"<S2>{piece * 100_000}</S2>")
    assert time.process_time() - begun < 5, "seconds, not minutes: no step is quadratic"


def test_unknown_policies_are_refused():
    check_policy("strict")
    with pytest.raises(UserError, match="Choose strict or authors"):
        check_policy("lenient")
