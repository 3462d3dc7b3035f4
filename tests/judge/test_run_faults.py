"""A session against an endpoint that fails in every way: nothing is lost, doubled or guessed."""

import email.utils
import importlib.util
import json
import math
import sys
import time
import zlib
from collections import Counter
from pathlib import Path

import openpyxl
import pytest

from sense7.judge.asking import FAILURES_IN_A_ROW
from sense7.judge.endpoint import Endpoint as Address
from sense7.judge.journal import JOURNAL, read_journal
from sense7.judge.predictions import read_predictions
from sense7.judge.prompt import Prompt
from sense7.judge.run import carry_out, plan_session
from sense7.workbook.reader import parse_sheets

pytest.importorskip("inspect_ai", reason="the extra judge is not installed")

spec = importlib.util.spec_from_file_location("endpoint", Path(__file__).with_name("endpoint.py"))
endpoint = sys.modules["endpoint"] = importlib.util.module_from_spec(spec)
spec.loader.exec_module(endpoint)
Endpoint, Answered, GOOD = endpoint.Endpoint, endpoint.Answer, endpoint.GOOD

BRIEF = Prompt("brief", "Rate this: {chat}")
ERROR_500 = Answered(status=500, body=endpoint.error_body("The server had an error"))
RATE_LIMITED = endpoint.rate_limited(0)
TIMEOUT = 1.0
PATIENT = 60.0
"""Where requests are counted, a machine with other work must not make one more of them."""
TOO_SLOW = Answered(wait=30)
DROPPED = Answered(dropped=True)
GARBAGE = Answered(body=b"\xff\xfe\x00 garbage {")
NO_COMPLETION = Answered(body=b'{"choices": []}')
ERROR_200 = Answered(body=endpoint.error_body("Upstream is busy"))
NO_TEXT = Answered(body=b'{"choices": [{"message": {"content": [4]}}]}')


@pytest.fixture(autouse=True)
def no_keys(monkeypatch):
    """Nobody's key is sent to anybody."""
    for name in ("SENSE7_JUDGE_KEY", "OPENAI_API_KEY"):
        monkeypatch.delenv(name, raising=False)


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
        (Answered(text="<S2>four</S2>"), "parse_failure", None, "no digit from 1 to 5 inside <S2>: 'four'"),
        (Answered(text=None, refusal="I can't."), "refusal", None, "I can't."),
        (Answered(text="", finish="content_filter"), "refusal", None, "stopped by the endpoint's content filter"),
        (Answered(text="<S0>So long", finish="length"), "truncated", None, "cut off at the limit of tokens"),
        (Answered(text="<S0>Long</S0><S2>2</S2> and", finish="length"), "ok", 2.0, ""),
        (Answered(text="<S0>Not <S2>5</S2> but</S0><S2>2</S2>"), "ok", 5.0, ""),
        (Answered(text="<think><S2>1</S2></think><S2>3</S2>"), "ok", 1.0, ""),
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
        TOO_SLOW,
        DROPPED,
        GARBAGE,
        NO_COMPLETION,
        Answered(status=408),
        Answered(body=b'"text"'),
    ],
    ids=["500", "429", "slow", "dropped", "garbage", "no completion", "408", "text"],
)
def test_what_may_pass_is_tried_again(fault, study_of, tmp_path):
    with Endpoint(at_first(fault)) as server:
        outcome = ask(study_of(1), server, tmp_path / "out", timeout=TIMEOUT if fault is TOO_SLOW else PATIENT)
        assert len(server.asked) == 2
    assert frame_of(outcome)["status"].tolist() == ["ok"]
    assert read_journal(tmp_path / "out" / JOURNAL)[0]["C1", 1].attempts == 2


@pytest.mark.parametrize(
    ("fault", "attempts", "reason"),
    [
        (ERROR_500, 3, "HTTP 500: The server had an error"),
        (TOO_SLOW, 3, "no answer within 1 seconds"),
        (DROPPED, 3, "no connection, or one that broke off"),
        (GARBAGE, 3, "what was returned is no JSON"),
        (NO_COMPLETION, 3, "what was returned is no chat completion"),
        (ERROR_200, 3, "what was returned is no chat completion: Upstream is busy"),
        (
            Answered(body=b'{"choices": [{"message": {"content": [4]}}]}'),
            3,
            "the reply of the chat completion is no text",
        ),
        (
            Answered(status=401, body=endpoint.error_body("Incorrect API key provided")),
            1,
            "HTTP 401: Incorrect API key",
        ),
        (Answered(status=404, body=b"<html>no such page</html>"), 1, "HTTP 404: <html>no such page</html>"),
        (Answered(status=429, body=endpoint.error_body("No credit", "insufficient_quota")), 1, "HTTP 429: No credit"),
        (endpoint.rate_limited(3600), 1, "HTTP 429: Rate limit reached (asks to wait for 3,600 seconds)"),
    ],
    ids=["500", "slow", "dropped", "garbage", "no completion", "200", "no text", "401", "404", "no credit", "an hour"],
)
def test_what_does_not_pass_is_an_error_with_its_reason(fault, attempts, reason, study_of, tmp_path):
    with Endpoint(lambda asked: fault if "conversation 0" in asked.prompt else GOOD) as server:
        outcome = ask(study_of(2), server, tmp_path / "out", timeout=TIMEOUT if fault is TOO_SLOW else PATIENT)
        assert len(server.asked) == attempts + 1
    frame = frame_of(outcome)
    assert frame["status"].tolist() == ["api_error", "ok"]
    assert frame["score"].isna().tolist() == [True, False]
    assert frame["reason"][0].startswith(reason)
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
    assert 0.95 <= second - first < 5
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


def test_when_every_call_fails_no_more_are_sent_and_every_row_says_so(study_of, tmp_path):
    with Endpoint(lambda asked: Answered(status=401, body=endpoint.error_body("wrong key"))) as server:
        outcome = ask(study_of(30), server, tmp_path / "out", concurrency=2)
        assert FAILURES_IN_A_ROW <= len(server.asked) <= FAILURES_IN_A_ROW + 2
        frame = frame_of(outcome)
        assert frame["status"].tolist() == ["api_error"] * 30
        assert frame["score"].isna().all()
        rest = frame["reason"].str.startswith(f"not asked: {FAILURES_IN_A_ROW} calls in a row had failed")
        assert rest.sum() == 30 - len(server.asked)
        assert "wrong key" in outcome.stopped
        server.script = lambda asked: GOOD
        assert ask(study_of(30), server, tmp_path / "out").statuses == {"ok": 30}


def test_failures_among_answers_do_not_end_the_session(study_of, tmp_path):
    with Endpoint(lambda asked: GOOD if asked.number % 3 == 0 else Answered(status=404)) as server:
        outcome = ask(study_of(30), server, tmp_path / "out", concurrency=1)
        assert len(server.asked) == 30
    assert outcome.statuses == Counter(ok=10, api_error=20)


# All of it at once


def test_at_thirty_per_cent_faults_nothing_is_lost_doubled_or_guessed(study_of, tmp_path):
    faults = (ERROR_500, RATE_LIMITED, TOO_SLOW, DROPPED, GARBAGE, NO_COMPLETION)
    useless = (Answered(text="NUMBER: no score"), Answered(text=None, refusal="NUMBER: no"))

    def script(asked):
        chance = zlib.crc32(f"{asked.prompt} {asked.time}".encode())
        if chance % 10 < 3:
            return faults[chance // 10 % len(faults)]
        return useless[chance // 100 % 2] if chance % 10 == 3 else GOOD

    study, runs = study_of(12), 4
    with Endpoint(script) as server:
        outcome = ask(study, server, tmp_path / "out", runs=runs, concurrency=8, retries=8, timeout=3)
    records = [json.loads(line) for line in (tmp_path / "out" / JOURNAL).read_text().splitlines()]
    pairs = [(record["conversation"], record["run"]) for record in records]
    assert len(set(pairs)) == len(pairs) == 48
    assert all(record["error"] is None for record in records)
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
