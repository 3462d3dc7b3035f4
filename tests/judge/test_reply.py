"""A judge's reply: the authors' rule for its score, and a status for every other."""

import json
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers import naming
from sense7.findings.ground_truth import labels
from sense7.judge.ratings import read_levels
from sense7.judge.reply import CUT, FAILED, FILTERED, STATUSES, ending, read_reply

# The score: by the authors' rule, followed by hand, and strictly


def inside_first(tag, text):
    """What stands between the first opening tag and the next closing one; characters compared one by one."""
    opening, closing = f"<{tag}>", f"</{tag}>"

    def find(word, start):
        for place in range(start, len(text) - len(word) + 1):
            if all(
                chr(ord(c) | 32) == w if c.isascii() else False
                for c, w in zip(text[place:], word, strict=False)
            ):
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
def test_a_reply_has_a_score_or_says_why_not_and_the_authors_is_that_of_the_rule_followed_by_hand(
    text, finish_reason, refusal, error
):
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
    # Bare numbers on the scale, and how the authors round them to a level.
    **{"1": (1, 1, 1), "04": (4, 4, 4), " 4.5\n": (4.5, 4.5, 4), "5.0": (5, 5, 5)},
    **{"1.5": (1.5, 1.5, 2), "2.5": (2.5, 2.5, 2), "3.5": (3.5, 3.5, 4)},
    # One number on the scale among any words: doubtful.
    **{
        "Score: 4": (4, 4),
        "4.": (4, 4),
        "**4**": (4, 4),
        "4, since it listens": (4, 4),
        "\u5f97\u52064\u5206": (4, 4),
    },
    **{
        "4/5": (4, 4),
        "4 / 5": (4, 4),
        "4.5/5": (4.5, 4.5),
        "3 out of 5": (3, 3),
        "3 of 5 stars": (3, 3),
    },
    **{"4 (4/5)": (4, 4)},
    # Not one number on the scale: no score, doubtful where the authors read one.
    **{
        "10": (None, 1, 1),
        "7.5": (None, 5, 5),
        "0.5": (None, 5, 5),
        "9.25": (None, 2, 2),
        "5.9": (None, 5.9, 5),
    },
    **{
        "3-4": (None, 3),
        "-2": (None, 2),
        "3,5": (None, 3),
        "Score (1-5): 4": (None, 1),
        "Level 2: 5": (None, 2),
    },
    **{
        "85/100": (None, 5),
        "99.5": (None, 5),
        "100": (None, 1),
        "40%": (None, 4),
        "4 %": (None, 4),
        "8/10": (None, 1),
    },
    **{
        "4/10": (None, 4),
        "1,000": (None, 1),
        "\u22122": (None, 2),
        "Score -2": (None, 2),
        "+4": (None, 4),
    },
    **{
        "Score-4": (None, 4),
        "<3": (None, 3),
        "at least \u2265 4": (None, 4),
        "3 or 4": (None, 3),
        "3..5": (None, 3),
    },
    **{
        "4 5": (None, 4),
        "4/4": (None, 4),
        "4/50": (None, 4),
        "4/5/5": (None, 4),
        "of 5": (None, 5),
        "4,0": (None, 4),
    },
    **{
        "4e1": (None, 4),
        "4x": (None, 4),
        "1.2.3": (None, 1.2),
        ".5": (None, 5),
        "3\u00bd": (None, 3),
    },
    **{
        "4\u00b2": (None, 4),
        "4 \uff15": (None, 4),
        "4.\u0665": (None, 4),
        "4. 5": (None, 4),
        "4.x": (None, 4),
    },
    **dict.fromkeys(["0", "6", "four", "", "\uff14", "\u0664"], (None, None)),
    # So many of five, said in different ways.
    **dict.fromkeys(
        ["4 von 5", "4 sur 5", "4 de 5", "4 \u0438\u0437 5", "4 ud af 5", "4 out of a possible 5"],
        (4, 4),
    ),
    **dict.fromkeys(
        ["4 points out of 5", "4 von 5 Punkten", "4 out of five", "4 (max 5)", "4 / 5 - kind"],
        (4, 4),
    ),
    **{
        "4\u5206\uff08\u6ee1\u52065\u5206\uff09": (4, 4),
        "5\u70b9\u6e80\u70b9\u4e2d4\u70b9": (4, 5),
    },
    # Words that announce a score, and remarks behind it.
    **dict.fromkeys(
        ["I would give it a 4", "Bewertung: 4", "good (4)", "4 (good)", "four (4)"], (4, 4)
    ),
    **dict.fromkeys(
        ['{"score": 4}', "\\boxed{4}", "<b>4</b>", "4. It asks two kind questions"], (4, 4)
    ),
    # A level in words that is far from the number: the scale was reversed.
    **dict.fromkeys(["5 (very poor)", "very poor (5)", "5 = worst", "Score: 5 (poor)"], (None, 5)),
    **dict.fromkeys(["very good (1)", "1 = best", "sehr gut: 1", "1, excellent"], (None, 1)),
    **dict.fromkeys(["4 (very good)", "4: gut", "4 (better than most)"], (4, 4)),
    # A number of something else.
    **{
        "vier von 5": (None, 5),
        "quatre sur 5": (None, 5),
        "\u56db\u5206\uff08\u6ee1\u52065\u5206\uff09": (None, 5),
    },
    **{
        "max 5": (None, 5),
        "5 max": (None, 5),
        "on a scale of 5": (None, 5),
        "N/A - only 1 message": (None, 1),
    },
    **{
        "2 messages": (None, 2),
        "4 of 5 messages": (None, 4),
        "Turn 3": (None, 3),
        "Messages: 3": (None, 3),
    },
    **{
        "less than 3": (None, 3),
        "unter 3": (None, 3),
        "4 or more": (None, 4),
        "4 (at least)": (None, 4),
    },
    **{
        "not 5": (None, 5),
        "keine 3": (None, 3),
        "4+": (None, 4),
        "~4": (None, 4),
        "4 bis 5": (None, 4),
    },
    **{
        "4 a 5": (None, 4),
        "4 out of ten": (None, 4),
        "3, maybe four": (None, 3),
        "4.5.2024": (None, 4.5),
    },
    **{
        "May 4": (None, 4),
        "4. May": (None, 4),
        "04.05.": (None, 4.05),
        "4:30": (None, 4),
        "4 (Score: 3)": (None, 4),
    },
}
"""What stands inside <S2> -> the score by the strict rule, by the authors', and its level."""


@pytest.mark.parametrize("inside", INSIDE)
def test_strictly_a_score_is_one_number_on_the_scale(inside):
    strict, authors, *label = INSIDE[inside]
    reply = read_reply(f"<S2>{inside}</S2>")
    assert (reply.score, reply.authors_score) == (strict, 3 if authors is None else authors)
    assert not label or labels(reply.authors_score) == label[0]
    is_bare = inside.strip().replace(".", "").isdecimal() and not inside.endswith(".")
    assert reply.doubtful == (strict != authors or (strict is not None and not is_bare))
    if strict is None:
        assert reply.status == "parse_failure"
        assert f"<S2>: {inside!r}" in reply.reason


OF_FIVE = [
    "/5",
    " / 5",
    " of 5",
    " out of 5",
    " von 5",
    " sur 5",
    " de 5",
    " su 5",
    " av 5",
    " z 5",
    " \u0438\u0437 5",
    " of five",
]
BEFORE = [
    "",
    "Score: ",
    "Final rating = ",
    "I would give it a ",
    "**",
    "(",
    "Note : ",
    "\u8bc4\u5206\uff1a",
]
BEHIND = ["", ".", " - it listens", "\n\nIt listens.", ", since it listens", " (warm)", "**"]
OTHERS = [
    "less than ",
    "more than ",
    "not ",
    "at least ",
    "up to ",
    "max ",
    "only ",
    "unter ",
    "plus de ",
    "menos de ",
]
COUNTED = [
    " messages",
    " turns",
    " Nachrichten",
    " of 7 turns",
    " or more",
    " bis 5",
    " out of 10",
    "%",
    " years",
    "-5",
]


@settings(max_examples=200)
@given(
    score=st.sampled_from(["1", "2", "3", "4", "5", "2.5"]),
    before=st.sampled_from(BEFORE),
    of_five=st.sampled_from(["", *OF_FIVE]),
    behind=st.sampled_from(BEHIND),
    other=st.sampled_from(OTHERS),
    counted=st.sampled_from(COUNTED),
)
def test_a_number_is_a_score_alone_or_of_five_and_none_beside_other_words(
    score, before, of_five, behind, other, counted
):
    def read(inside):
        return read_reply(f"<S2>{inside}</S2>").score

    assert read(f"{before}{score}{of_five}{behind}") == float(score)
    assert read(f"{other}{score}{of_five}{behind}") is None
    assert read(f"{before}{score}{counted}{behind}") is None


TEXTS = [
    # Several scores have to agree.
    ("<S2>4</S2><S2>5</S2>", None, 4, "different scores in several <S2>: '4, 5'"),
    ("<S2>4</S2> no: <S2>10</S2>", None, 4, "not one number from 1 to 5 inside <S2>: '10'"),
    ("<S2>4</S2> no: <S2>5", None, 4, "<S2> is not closed"),
    ("<S2><S2>4</S2>", None, 2, "not one number"),
    ("<S0>Rather <S2>3</S2>? No.</S0><S2>4</S2>", 4, 3, ""),
    ("<S2>4</S2> so <s2> 4.0 </s2>", 4, 4, ""),
    ("<s2>\n 4 \n</S2>", 4, 4, ""),
    # A reply without a score says why.
    ("<S2>4", None, 3, "<S2> is not closed"),
    ("4</S2>", None, 3, "no <S2> in the reply"),
    ("</S2>4<S2>", None, 3, "<S2> is not closed"),
    ("< S2 >4</ S2 >", None, 3, "no <S2> in the reply"),
    ("<\u017f2>4</\u017f2>", None, 3, "no <S2> in the reply"),  # a long s, whose other case is S
    ("I'm sorry, but I can't rate this.", None, 3, "no <S2> in the reply"),
    (" \n", None, 3, "the reply is empty"),
    # A doubtful reading says what was read.
    ("<S2>4/5</S2>", 4, 4, "more than a score from 1 to 5 inside <S2>: '4/5'"),
    ("<S2>Score (1-5): 4</S2>", None, 1,
     "not one number from 1 to 5 inside <S2>: 'Score (1-5): 4'; the authors' rule reads 1"),
    (f"<S2>{'a' * 60}</S2>", None, 3, f"not one number from 1 to 5 inside <S2>: '{'a' * 60}'"),
    (f"<S2>{'a' * 61}</S2>", None, 3, f"not one number from 1 to 5 inside <S2>: '{'a' * 60} ..'"),
    # Thinking is removed before the strict reading alone.
    ("<think>Perhaps <S2>1</S2>?</think><S2>5</S2>", 5, 1, "the authors' rule reads 1"),
    ("<think><S2></S2></think><S2>5</S2>", 5, 3, "the authors' rule reads no score"),
    ("Perhaps <S2>1</S2>?</think><S2>5</S2>", 5, 1, ""),  # some templates open the thinking before the reply
    ("<REASONING>a</REASONING>b<REASONING><S2>1</S2></REASONING><S2>5</S2>", 5, 1, ""),
    ("<think>a<think>b</think><S2>1</S2></think><S2>5</S2>", 5, 1, ""),
    ("<think>a<reasoning>b</think><S2>1</S2></reasoning><S2>5</S2>", 5, 1, ""),
    ("<S2>5</S2><think>or <S2>1</S2></think>", 5, 5, ""),
    ("<think>Perhaps <S2>1</S2>", None, 1, "no <S2> in the reply after its thinking"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "strict", "authors", "reason"), TEXTS)
def test_what_is_read_from_a_text_and_why(text, strict, authors, reason):
    reply = read_reply(text)
    assert (reply.text, reply.score, reply.authors_score) == (text, strict, authors)
    assert reply.reason.startswith(reason)
    assert len(reply.reason) < 200


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
    "in words": ("<start_of_thought>", "<end_of_thought>"),
    "in words, last": ("<think_start>", "<think_end>"),
    "Mistral": ("[THINK]", "[/THINK]"),
    "Pangu": ("[unused16]", "[unused17]"),
    "MedGemma": ("<unused94>thought\n", "<unused95>"),
    "Kimi": ("◁think▷", "◁/think▷"),
    "Cohere": ("<|START_THINKING|>", "<|END_THINKING|><|START_RESPONSE|>"),
    "OpenThoughts": ("<|begin_of_thought|>", "<|end_of_thought|><|begin_of_solution|>"),
    "DeepSeek's tokens": (
        "<\uff5cbegin\u2581of\u2581thought\uff5c>",
        "<\uff5cend\u2581of\u2581thought\uff5c>",
    ),
    "Step": ("<|THINK_START|>", "<|THINK_END|>"),
    "Solar": ("<|think:start|>", "<|think:end|>"),
    "Solar Open": ("<|think|>", "<|end|><|begin|>assistant<|content|>"),
    "Apertus": ("<|inner_prefix|>", "<|inner_suffix|>"),
    "gpt-oss": (
        "<|channel|>analysis<|message|>",
        "<|end|><|start|>assistant<|channel|>final<|message|>",
    ),
    "gpt-oss, JSON": (
        "<|channel|>commentary<|message|>",
        "<|channel|>final <|constrain|>json<|message|>",
    ),
    "gpt-oss without tokens": ("analysisWe see: ", "assistantfinal"),
    "Gemma": ("<|channel>thought\n", "<channel|>"),
    "Granite": ("Here is my thought process: ", "Here is my response:"),
    "Apriel": ("Here are my reasoning steps:\n", "\n[BEGIN FINAL RESPONSE]\n"),
    "HuatuoGPT-o1": ("## Thinking\n\n", "\n\n## Final Response\n\n"),
    "s1": ("<|im_start|>think\n", "<|im_start|>answer\n"),
    "HyperCLOVA X": ("/think\n", "<|im_end|>\n<|im_start|>assistant\n"),
    "Open WebUI": ('<details type="reasoning" done="true">', "</details>"),
    "fenced": ("```thinking\n", "\n```\n"),
}
MAYBE = "maybe <S2>1</S2>, or"
PHRASES = {"Granite", "Apriel", "HuatuoGPT-o1"}
"""Families whose marks are common words."""


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


@pytest.mark.parametrize("family", MARKS)
def test_marks_of_thinking_that_an_answer_quotes_are_words(family):
    for mark in MARKS[family]:
        quoting = f"<S0>It shows\n{mark}\nby mistake.</S0><S2>4</S2>"
        assert read_reply(quoting).score == 4
        assert read_reply(f"<think>Short.</think>{quoting}").score == 4
        assert read_reply(f"{WHOLE} It shows {mark}").score == 4
        levels, reason, _ = read_levels(
            json.dumps({"reasoning": f"It shows {mark}", "overall": 4}), ("overall",)
        )
        assert (levels, reason) == ({"overall": 4}, "")
    if family in PHRASES:
        assert read_reply(f"{MARKS[family][0]}{WHOLE}").score == 4
    assert read_reply(f"It shows `{mark}`. {WHOLE}").score == 4
    assert read_reply(f"[Analysis] It listens. {WHOLE}").score == 4


CUT_OFF = {
    f"<ponder>{MAYBE}": None,
    f"<ponder>{MAYBE}</ponder> so": None,
    f"[PONDER] {MAYBE}": None,
    f"<Überlegung>{MAYBE}": None,
    f"[思考] {MAYBE}": None,
    f"<思考>a</思考>{WHOLE} and": 4,
    f"◁ponder▷{MAYBE}": None,
    f"<|ponder|>{MAYBE}": None,
    f"Well. <ponder>{MAYBE}": None,
    f"<S0>{MAYBE}": None,
    "<S2>4": None,
    "": None,
    f"<ponder>a</ponder>{WHOLE} and": 4,
    f"[PONDER]a[/PONDER]{WHOLE} and": 4,
    f"<answer>{WHOLE}": 4,
    f"<CONCLUSION>{WHOLE} and": 4,
    f"{WHOLE} and then": 4,
    f"<b>Good.</b> {WHOLE} and": 4,
}


def test_a_reply_that_was_cut_off_has_a_score_only_before_the_cut_and_outside_unknown_markup():
    replies = {text: read_reply(text, finish_reason="length") for text in CUT_OFF}
    assert {text: reply.score for text, reply in replies.items()} == CUT_OFF
    without = [reply for reply in replies.values() if reply.score is None]
    assert {reply.status for reply in without} == {"truncated"}
    assert any("authors" in reply.reason for reply in without)


# How a reply ended

ENDINGS = {
    "": "stop COMPLETE end_turn stop_sequence eos_token tool_calls load null OTHER FINISH_REASON_UNSPECIFIED",
    CUT: "length MAX_TOKENS model_length maximum_tokens token_limit time_limit not_finished incomplete ERROR_LIMIT "
    "max_output_tokens model_context_window_exceeded",
    FILTERED: "content_filter SAFETY refusal RECITATION PROHIBITED_CONTENT SPII ERROR_TOXIC guardrail_intervened "
    "sensitive LANGUAGE IMAGE_SAFETY content_filtered MODEL_ARMOR",
    FAILED: "error abort cancelled timeout network_error insufficient_system_resource MALFORMED_FUNCTION_CALL "
    "rate_limit deadline_exceeded server_shutdown preempted",
}


@pytest.mark.parametrize("kind", ENDINGS)
def test_words_for_how_a_reply_ended_are_those_of_many_servers(kind):
    assert {word: ending(word) for word in ENDINGS[kind].split()} == dict.fromkeys(
        ENDINGS[kind].split(), kind
    )
    expected = {"": "ok", CUT: "ok", FILTERED: "refusal", FAILED: "api_error"}[kind]
    assert {read_reply(WHOLE, finish_reason=word).status for word in ENDINGS[kind].split()} == {
        expected
    }


def test_refusals_and_errors_are_those_that_the_endpoint_calls_so():
    refused = read_reply("<S2>4</S2>", refusal="I can't help with that.")
    assert (refused.status, refused.authors_score) == ("refusal", 4)
    naming.check(refused.reason, "I can't help with that.", 4)
    filtered = read_reply("<S2>4</S2>", finish_reason="content_filter")
    assert filtered.status == "refusal"
    naming.check(filtered.reason, "authors", 4)
    failed = read_reply(
        "<S2>4</S2>", refusal="no", finish_reason="length", error="429 too many requests"
    )
    assert (failed.status, failed.score, failed.reason) == (
        "api_error",
        None,
        "429 too many requests",
    )
    failed = read_reply(None, error="")
    assert failed.status == "api_error"
    assert failed.reason


@pytest.mark.parametrize(
    "piece",
    [
        "<S2>",
        "<S2>4</S2>",
        "<think>",
        "</think>",
        "</think>{",
        "4 ",
        "4/5 ",
        "4 of     ",
        "score ",
        WHOLE,
    ],
)
def test_a_long_reply_takes_no_time(piece):
    begun = time.process_time()
    read_reply(f"<S2>{piece * 50_000}</S2>")
    assert time.process_time() - begun < 2, "a second, not minutes: no step is quadratic"
