"""A session against an endpoint that fails in every way: nothing is lost, doubled or guessed."""

import email.utils
import gzip
import math
import re
import time
import zlib
from collections import Counter

import openpyxl
import pytest

from helpers import endpoint
from helpers.extras import need_the_judge
from helpers.judged import kept_in
from sense7.judge import endpoint as client
from sense7.judge import session
from sense7.judge.endpoint import Endpoint as Address
from sense7.judge.files import read_predictions
from sense7.judge.requests import Prompt
from sense7.judge.session import carry_out, plan_session
from sense7.workbook.sheets import parse_sheets

need_the_judge()

Endpoint, Answered, GOOD = endpoint.Endpoint, endpoint.Answer, endpoint.GOOD

BRIEF = Prompt("brief", "Rate this: {chat}")
ERROR_500 = Answered(status=500, body=endpoint.error_body("The server had an error"))
RATE_LIMITED = endpoint.rate_limited(0)
TIMEOUT = 2.0
PATIENT = 60.0
"""Where requests are counted, a machine with other work must not make one more of them."""
TOO_SLOW = Answered(wait=30)
DROPPED = Answered(dropped=True)
GARBAGE = Answered(body=b"\xff\xfe\x00 garbage {")
NO_COMPLETION = Answered(body=b'{"choices": []}')
ERROR_200 = Answered(body=endpoint.error_body("Upstream is busy"))
LARGEST = client.LARGEST_REPLY
COMPLETION = b'{"choices": [{"finish_reason": "stop", "message": {"content": "<S2>2</S2>%s"}}]}'
LARGE = Answered(body=COMPLETION % (b"x" * LARGEST))
ENDLESS = Answered(body=b"x" * 2**16, endless=True)
ENDLESS_ERROR = Answered(status=500, body=b"x" * 2**16, endless=True)


def packed(body, encoding="gzip"):
    return Answered(body=gzip.compress(body), headers=(("Content-Encoding", encoding),))


BOMB = packed(COMPLETION % (b"x" * 50 * LARGEST))
NO_TEXT = Answered(body=b'{"choices": [{"message": {"content": [4]}}]}')


@pytest.fixture
def study_of(minimal_sheets):
    """A study of so many conversations in which different things are said."""

    def build(conversations):
        said = [f"Message {number} of conversation {name}." for name in range(conversations) for number in range(4)]
        return parse_sheets(minimal_sheets(conversations=conversations, messages={"Content": said}))

    return build


def ask(study, server, folder, **options):
    known = {"model": "judge", "prompt": BRIEF, "concurrency": 4, "backoff": 0.01, "retries": 2, "timeout": PATIENT}
    plan = plan_session(study, endpoint=Address.of(server.address), folder=folder, **known | options)
    return carry_out(plan)


def at_first(fault, then=GOOD):
    """A script: the fault where a prompt is asked for the first time, then something else."""
    return lambda asked: fault if asked.time == 1 else then


def frame_of(outcome):
    return read_predictions(outcome.paths[0]).frame


# Answers that are none of use


@pytest.mark.parametrize(
    ("answer", "status", "score", "reason"),
    [
        (Answered(text=""), "parse_failure", None, "the reply is empty"),
        (Answered(text=None), "parse_failure", None, "the reply is empty"),
        (Answered(text="I would say four."), "parse_failure", None, "no <S2> in the reply"),
        (Answered(text="<S2>four</S2>"), "parse_failure", None, "not one number from 1 to 5 inside <S2>: 'four'"),
        (Answered(text=None, refusal="I can't."), "refusal", None, "I can't."),
        (Answered(text="", finish="content_filter"), "refusal", None, "stopped by the endpoint's content filter"),
        (Answered(text="<S0>So long", finish="length"), "truncated", None, "cut off at the limit of tokens"),
        (Answered(text="<S0>Long</S0><S2>2</S2> and", finish="length"), "ok", 2.0, ""),
        (
            Answered(text="<S0>Not <S2>5</S2> but</S0><S2>2</S2>"),
            "parse_failure",
            None,
            "different scores in several <S2>",
        ),
        (Answered(text="<think><S2>1</S2></think><S2>3</S2>"), "ok", 3.0, "the authors' rule reads 1"),
        (
            Answered(status=400, body=endpoint.error_body("The prompt was filtered.", "content_filter")),
            "refusal",
            None,
            "The prompt was filtered.",
        ),
    ],
)
def test_what_an_answer_comes_to_and_that_it_is_asked_for_once(answer, status, score, reason, study_of, tmp_path):
    study = study_of(1)
    with Endpoint(lambda asked: answer) as server:
        outcome = ask(study, server, tmp_path / "out")
        again = ask(study, server, tmp_path / "out")
        assert len(server.asked) == 1
    for row in (frame_of(outcome).iloc[0], frame_of(again).iloc[0]):
        assert row["status"] == status
        assert (None if math.isnan(row["score"]) else row["score"]) == score
        assert row["reason"].startswith(reason)


def test_under_the_authors_policy_a_failure_is_written_as_3_and_read_as_missing(study_of, tmp_path):
    with Endpoint(lambda asked: Answered(text="no score")) as server:
        outcome = ask(study_of(2), server, tmp_path / "out", policy="authors")
    rows = list(openpyxl.load_workbook(outcome.paths[0])["results"].values)
    assert [row[rows[0].index("IS_EMPATHY")] for row in rows[1:]] == [3, 3]
    assert frame_of(outcome)["score"].isna().all()


# Requests that bring no answer


@pytest.mark.parametrize(
    "fault",
    [
        ERROR_500,
        RATE_LIMITED,
        DROPPED,
        Answered(status=408),
        ERROR_200,
    ],
    ids=["500", "429", "dropped", "408", "busy"],
)
def test_what_may_pass_is_tried_again(fault, study_of, tmp_path):
    with Endpoint(at_first(fault)) as server:
        outcome = ask(study_of(1), server, tmp_path / "out")
        assert len(server.asked) == 2
    assert frame_of(outcome)["status"].tolist() == ["ok"]
    assert kept_in(tmp_path / "out")["C1", 1].attempts == 2


@pytest.mark.parametrize(
    ("fault", "attempts", "reason"),
    [
        (ERROR_500, 3, "HTTP 500: The server had an error"),
        (TOO_SLOW, 1, "no answer within 2 seconds (--timeout)"),
        (LARGE, 1, "the reply is larger than 2 MiB"),
        (ENDLESS, 1, "the reply is larger than 2 MiB"),
        (ENDLESS_ERROR, 1, "the reply is larger than 2 MiB"),
        (BOMB, 1, "the reply is larger than 2 MiB"),
        (packed(b"{}", "br"), 1, "the reply is packed as br, which was not asked for"),
        (Answered(body=b"\x1f\x8bno gzip"), 3, "the reply can't be unpacked (gzip)"),
        (Answered(headers=(("X", "x" * 2**18),)), 3, "no connection, or one that broke off"),
        (DROPPED, 3, "no connection, or one that broke off"),
        (GARBAGE, 3, "what was returned is no JSON"),
        (NO_COMPLETION, 1, "the completion has no reply in it: its choices are empty"),
        (ERROR_200, 3, "what was returned is no chat completion: Upstream is busy"),
        (
            Answered(body=b'{"choices": [{"message": {"content": [4]}}]}'),
            1,
            "the reply of the chat completion is no text",
        ),
        (
            Answered(status=401, body=endpoint.error_body("Incorrect API key provided")),
            1,
            "HTTP 401: Incorrect API key",
        ),
        (Answered(status=404, body=b"<html>no such page</html>"), 1, "HTTP 404: no such page"),
        (Answered(status=429, body=endpoint.error_body("No credit", "insufficient_quota")), 1, "HTTP 429: No credit"),
        (endpoint.rate_limited(3600), 1, "HTTP 429: Rate limit reached (asks to wait for 3,600 seconds)"),
    ],
    ids=[
        *("500", "slow", "large", "endless", "endless error", "bomb", "brotli", "no gzip", "large head"),
        *("dropped", "garbage", "no completion", "200", "no text", "401", "404", "no credit", "an hour"),
    ],
)
def test_what_does_not_pass_is_an_error_with_its_reason(fault, attempts, reason, study_of, tmp_path):
    with Endpoint(lambda asked: fault if "conversation 1" in asked.prompt else GOOD) as server:
        outcome = ask(study_of(2), server, tmp_path / "out", timeout=TIMEOUT if fault is TOO_SLOW else PATIENT)
        assert len(server.asked) == attempts + 1
    frame = frame_of(outcome)
    assert frame["status"].tolist() == ["ok", "api_error"]
    assert frame["score"].isna().tolist() == [False, True]
    assert frame["reason"][1].startswith(reason)
    assert outcome.statuses == Counter(ok=1, api_error=1)
    assert outcome.stopped == ""


def test_a_server_that_is_not_there_is_an_error_with_its_reason(study_of, tmp_path):
    with Endpoint() as server:
        pass
    outcome = ask(study_of(1), server, tmp_path / "out")
    assert frame_of(outcome)["reason"][0].startswith("no connection")


@pytest.mark.parametrize(
    "header",
    [
        ("Retry-After", "1"),
        ("retry-after-ms", "1000"),
        ("Retry-After", lambda: email.utils.formatdate(time.time() + 2, usegmt=True)),
    ],
    ids=["seconds", "milliseconds", "date"],
)
def test_the_endpoint_is_waited_for_as_long_as_it_asks(header, study_of, tmp_path):
    name, value = header

    def script(asked):
        said = value() if callable(value) else value
        return Answered(status=429, headers=((name, said),), body=b"") if asked.time == 1 else GOOD

    with Endpoint(script) as server:
        outcome = ask(study_of(1), server, tmp_path / "out")
        first, second = (asked.at for asked in server.asked)
    assert 0.95 <= second - first < 60
    assert frame_of(outcome)["status"].tolist() == ["ok"]


def test_failures_are_asked_again_by_the_next_command_and_answers_are_not(study_of, tmp_path):
    study, folder = study_of(4), tmp_path / "out"

    def script(asked):
        if "conversation 1" in asked.prompt:
            return ERROR_500
        return Answered(text="no score") if "conversation 2" in asked.prompt else GOOD

    with Endpoint(script) as server:
        first = ask(study, server, folder, retries=0)
        assert frame_of(first)["status"].tolist() == ["ok", "api_error", "parse_failure", "ok"]
        server.script = lambda asked: GOOD
        second = ask(study, server, folder)
        assert [asked.prompt for asked in server.asked[4:]] == [frame_of(first)["prompt"][1]]
    assert frame_of(second)["status"].tolist() == ["ok", "ok", "parse_failure", "ok"]
    assert (second.tally.total, first.tally.total) == (1, 4)


def test_a_reply_up_to_the_limit_is_read_packed_or_not(study_of, tmp_path):
    whole = COMPLETION % (b"x" * (LARGEST - len(COMPLETION) + 2))
    assert len(whole) == LARGEST
    with Endpoint(lambda asked: packed(whole) if asked.number % 2 else Answered(body=whole)) as server:
        outcome = ask(study_of(2), server, tmp_path / "out")
    assert frame_of(outcome)["score"].tolist() == [2.0, 2.0]


def test_no_more_is_read_of_an_endless_reply_than_fits(study_of, tmp_path):
    with Endpoint(lambda asked: ENDLESS) as server:
        ask(study_of(1), server, tmp_path / "out")
        sent = server.sent_endlessly
        time.sleep(0.1)
        assert server.sent_endlessly == sent, "the connection is closed"
    assert LARGEST <= sent <= LARGEST + 2**24, "but for what the system's buffers hold"


# What cannot be used, again and again


USELESS = {
    "parse_failure": (
        Answered(text="\x1b[31mNo\nscore: " + "x" * 1000),
        "no <S2> in the reply): '\\x1b[31mNo score: xx",
    ),
    "refusal": (Answered(text=None, refusal="I can't."), "I can't."),
    "truncated": (Answered(text="<S0>So", finish="length"), "cut off at the limit of tokens before a usable score"),
    "api_error": (Answered(status=401, body=endpoint.error_body("wrong key")), "HTTP 401: wrong key"),
}


@pytest.mark.parametrize("status", USELESS)
def test_after_so_many_unusable_replies_in_a_row_no_more_are_sent_and_every_row_says_so(status, study_of, tmp_path):
    answer, said = USELESS[status]
    with Endpoint(lambda asked: answer if asked.number > 3 else GOOD) as server:
        outcome = ask(study_of(30), server, tmp_path / "out", concurrency=2, give_up_after=4)
        sent = len(server.asked)
        assert 7 <= sent <= 8
        assert outcome.stopped.startswith(
            f"stopped after {sent} of 30 calls: 4 replies in a row could not be used; the last: {status} ("
        )
        assert said in outcome.stopped
        assert len(outcome.stopped) < 500
        frame = frame_of(outcome)
        assert frame["status"].value_counts().to_dict() == dict(
            Counter(["ok"] * 3 + [status] * (sent - 3) + ["not_asked"] * (30 - sent))
        )
        rest = frame["reason"].eq(f"not asked: {outcome.stopped}")
        assert rest.sum() == 30 - sent
        # The same command asks for the rest, and keeps what was answered.
        server.script = lambda asked: GOOD
        again = ask(study_of(30), server, tmp_path / "out")
        kept = 0 if status == "api_error" else sent - 3
        assert again.statuses == Counter({"ok": 30 - kept} | ({status: kept} if kept else {}))
        assert again.stopped == ""


def test_unusable_replies_below_that_number_end_nothing_but_a_run_of_them_is_named(study_of, tmp_path):
    with Endpoint(lambda asked: Answered(text="No.") if asked.number <= 5 else GOOD) as server:
        outcome = ask(study_of(5), server, tmp_path / "out", runs=2, concurrency=1)
        assert len(server.asked) == 10
    assert outcome.stopped == ""
    assert outcome.without_score == [
        "run 1: none of 5 replies could be used; the last: parse_failure (no <S2> in the reply): 'No.'"
    ]


def test_failures_among_answers_do_not_end_the_session(study_of, tmp_path):
    with Endpoint(lambda asked: GOOD if asked.number % 3 == 1 else Answered(status=404)) as server:
        outcome = ask(study_of(30), server, tmp_path / "out", concurrency=1)
        assert len(server.asked) == 30
    assert outcome.statuses == Counter(ok=10, api_error=20)


# Waiting


def told(study, server, folder, **options):
    """What is said in a session, with the seconds since its beginning."""
    lines, begun = [], time.monotonic()
    known = {"model": "judge", "prompt": BRIEF, "concurrency": 4, "backoff": 0.01, "retries": 1}
    plan = plan_session(study, endpoint=Address.of(server.address), folder=folder, **known | options)
    outcome = carry_out(plan, say=lambda line: lines.append((line, time.monotonic() - begun)))
    return outcome, lines


def test_a_wait_that_the_endpoint_asks_for_is_said_once_when_it_begins(study_of, tmp_path, monkeypatch):
    monkeypatch.setattr(session, "WORTH_SAYING", 0.5)
    with Endpoint(at_first(endpoint.rate_limited(1))) as server:
        _, lines = told(study_of(4), server, tmp_path / "out")
        again = server.asked[1].at - server.asked[0].at
    # Of the first call, which is sent alone, and of the others together.
    (line, _), (other, _) = lines
    assert line == other == "waiting 1 seconds before the next attempt: HTTP 429: Rate limit reached"
    assert again >= 1


def test_no_wait_is_said_where_none_follows(study_of, tmp_path, monkeypatch):
    monkeypatch.setattr(session, "WORTH_SAYING", 0.5)
    with Endpoint(lambda asked: endpoint.rate_limited(1)) as server:
        _, lines = told(study_of(1), server, tmp_path / "out", retries=0)
    assert lines == []


def test_silence_is_said_once_and_ends_after_the_time_of_one_call(study_of, tmp_path, monkeypatch):
    monkeypatch.setattr(session, "SILENCE", 0.3)
    with Endpoint(lambda asked: TOO_SLOW) as server:
        outcome, lines = told(study_of(30), server, tmp_path / "out", timeout=4, retries=5, concurrency=10)
        seconds = time.monotonic() - server.asked[0].at
        sent = len(server.asked)
    assert 4 <= seconds < 8, "calls begun meanwhile are not waited for"
    assert 10 <= sent < 20
    said = re.fullmatch(r"stopped after (\d+) of 30 calls: 10 replies in a row could not.*", outcome.stopped)
    assert sent <= int(said[1]) < 20, "what was called off before it reached the endpoint counts"
    ((line, _),) = lines
    silence = (
        r"(?:1 request|10 requests) without a reply for [0-3] seconds; a call is given up after 4 seconds \(--timeout\)"
    )
    assert re.fullmatch(silence, line)
    reasons = frame_of(outcome)["reason"].str.partition(":")[0].value_counts().to_dict()
    assert reasons.pop("not asked") == 30 - int(said[1])
    assert reasons.pop("no answer within 4 seconds (--timeout)") >= 10
    assert set(reasons) <= {"no answer"}


def test_a_slow_endpoint_is_not_taken_for_a_silent_one(study_of, tmp_path, monkeypatch):
    monkeypatch.setattr(session, "SILENCE", 0.1)
    with Endpoint(lambda asked: Answered(wait=0.25)) as server:
        _, lines = told(study_of(4), server, tmp_path / "out", concurrency=1)
    assert len(lines) == 1, "before it is known how slow it is"


def test_the_time_of_a_call_is_that_of_all_its_attempts(study_of, tmp_path):
    with Endpoint(lambda asked: Answered(status=500, wait=0.8)) as server:
        outcome = ask(study_of(1), server, tmp_path / "out", timeout=2, retries=9)
        assert 2 <= len(server.asked) <= 3
    assert frame_of(outcome)["reason"][0] == "no answer within 2 seconds (--timeout)"


# All of it at once


def test_at_thirty_per_cent_faults_nothing_is_lost_doubled_or_guessed(study_of, tmp_path):
    faults = (ERROR_500, RATE_LIMITED, TOO_SLOW, DROPPED, ERROR_200)
    useless = (Answered(text="NUMBER: no score"), Answered(text=None, refusal="NUMBER: no"))

    def script(asked):
        chance = zlib.crc32(f"{asked.prompt} {asked.time}".encode())
        if chance % 10 < 3:
            return faults[chance // 10 % len(faults)]
        return useless[chance // 100 % 2] if chance % 10 == 3 else GOOD

    study, runs = study_of(12), 4
    with Endpoint(script) as server:
        for _ in range(4):  # a call that brought nothing in its time is asked for again by the next command
            outcome = ask(study, server, tmp_path / "out", runs=runs, concurrency=8, retries=8, timeout=3)
            if not outcome.statuses["api_error"]:
                break
    in_journal = kept_in(tmp_path / "out")
    assert len(in_journal) == 48
    assert {answer.error for answer in in_journal.values()} == {None}
    usable = {asked.number for asked in server.asked if script(asked) not in faults}
    assert len(server.asked) > len(usable) == 48
    # Every answer that was sent was kept, each for the conversation to which it was given.
    frames = [read_predictions(path).frame for path in outcome.paths]
    given = {asked.number: asked.prompt for asked in server.asked}
    kept = {}
    for frame in frames:
        assert frame["conversation"].tolist() == study.conversations["conversation"].tolist()
        for row in frame.itertuples():
            words = row.output if row.status != "refusal" else row.reason
            number = int("".join(filter(str.isdigit, words.partition("</S0>")[0])))
            assert given[number] == row.prompt
            assert (row.status == "ok") == (row.score == 4.0)
            kept[number] = row.status
    assert kept.keys() == usable
    assert Counter(kept.values()) == outcome.statuses
    assert outcome.statuses.keys() == {"ok", "parse_failure", "refusal"}
