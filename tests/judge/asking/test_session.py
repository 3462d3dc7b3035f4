"""A session of a judge: every conversation once a run, also after failures and interruptions."""

import importlib.util
import subprocess
import sys
from collections import Counter

import numpy as np
import pytest

from helpers import endpoint, naming
from helpers.endpoint import need_the_judge
from helpers.judged import BRIEF, ask, frame_of, kept_in, number_of, plan_for
from sense7.findings.ground_truth import ground_truth
from sense7.judge.asking.cost import Price
from sense7.judge.asking.journal import Journal
from sense7.judge.asking.requests import Prompt
from sense7.judge.asking.session import carry_out
from sense7.judge.chats import chats
from sense7.judge.files import JOURNAL, Run

need_the_judge()

Answered, GOOD = endpoint.Answer, endpoint.GOOD
ERROR_500 = Answered(status=500)
BUSY = Answered(status=503, headers=(("Retry-After", "0"),), body=b"busy")


# Every conversation once a run


def test_all_that_was_sent_and_returned_is_kept_in_one_file_a_run(server, study_of, tmp_path):
    study = study_of(4, Content=["The same."] * 8)  # asked about each, all the same
    server.script = lambda asked: Answered(finish="length")
    outcome = ask(study, server, tmp_path, runs=3)
    outputs = set()
    for run, path in enumerate(outcome.paths, 1):
        assert path.name == f"judge-brief-iter{run}.xlsx"
        frame = frame_of(outcome, run)
        outputs |= set(frame["output"])
        for name in ("conversation", "participant"):
            assert frame[name].tolist() == study.conversations[name].tolist()
        truth = ground_truth(study.turns, frame["conversation"])
        assert frame["ground_truth"].tolist() == truth.tolist()
        assert frame["chat"].tolist() == chats(study).tolist()
        expected = {
            "returned_model": endpoint.MODEL_RETURNED,
            "system_fingerprint": endpoint.FINGERPRINT,
            "finish_reason": "length",
            "input_tokens": 200.0,
            "output_tokens": 30.0,
            "attempts": 1.0,
            "prompt_sha256": BRIEF.sha256,
            "run": float(run),
            "model": "judge",
            "status": "ok",
        }
        for name, value in expected.items():
            assert set(frame[name]) == {value}, name
        assert (frame["seconds"] > 0).all()
    assert len(outputs) == len(kept_in(tmp_path)) == 12


def test_so_many_requests_run_at_once_and_progress_is_told(server, study_of, tmp_path, monkeypatch):
    monkeypatch.setattr("sense7.judge.asking.session.SECONDS_BETWEEN_LINES", 0.0)
    server.latency, lines = 0.05, []
    plan = plan_for(study_of(6), server, tmp_path, runs=2, prices=Price(1.0, 10.0), concurrency=5)
    carry_out(plan, say=lines.append)
    assert server.most_at_once == 5
    assert [line.split()[0] for line in lines] == [f"{done}/12" for done in range(1, 13)]
    naming.check(lines[-1], "12/12", "ok 12", "2,400", 360, "cost 0.01")


# Resuming


def test_the_same_command_sends_nothing_and_more_runs_add_to_it(server, study_of, tmp_path):
    study = study_of(4)
    first = frame_of(ask(study, server, tmp_path, limit=2))
    for options, sent in (({}, 2), ({"limit": 3, "runs": 2}, 6), ({}, 6)):
        outcome = ask(study, server, tmp_path, **{"limit": 2, **options})
        assert len(server.asked) == sent
    assert frame_of(outcome).equals(first)


@pytest.mark.parametrize(
    ("changed", "places"),
    [
        ({"model": "another"}, ("model: judge", "another")),
        ({"prompt": Prompt("other", BRIEF.text)}, ("prompt name: brief", "other")),
        ({"prompt": Prompt("brief", "Rate that: {chat}")}, ("prompt: ",)),
        (
            {"shots": 3, "prompt": Prompt("brief", "Rate this: {chat}~~EXAMPLES~~")},
            ("shots: 0", "3"),
        ),
        ({"words": "Other words."}, ("prompts: ",)),
        ({"server": "http://localhost:1/v1"}, ("endpoint: http://127", "http://localhost:1/v1")),
    ],
)
def test_a_session_that_asks_something_else_is_refused(changed, places, server, study_of, tmp_path):
    ask(study_of(2), server, tmp_path)
    study, server_now = study_of(2, words=changed.pop("words", "")), changed.pop("server", server)
    with naming.refused(tmp_path, *places):
        plan_for(study, server_now, tmp_path, **changed)
    assert len(server.asked) == 2


def test_a_folder_of_another_session_or_of_files_is_left_alone(server, study_of, tmp_path):
    plan = plan_for(study_of(1), server, tmp_path)
    assert list(tmp_path.iterdir()) == [], "a plan writes nothing"
    with Journal.open(tmp_path, plan.question, to_write=True), naming.refused(tmp_path):
        carry_out(plan)
    (tmp_path / JOURNAL).unlink()
    (tmp_path / "judge-brief-iter1.xlsx").write_bytes(b"somebody's")
    with naming.refused(tmp_path / "judge-brief-iter1.xlsx"):
        plan_for(study_of(1), server, tmp_path)
    assert server.asked == []


def test_without_the_extra_the_message_says_how_to_get_it(server, study_of, tmp_path, monkeypatch):
    code = "import sys\nsys.modules['openai'] = None\n"
    code += "import sense7.cli.judge, sense7.judge.scores.report, sense7.judge.asking.session\n"
    subprocess.run([sys.executable, "-c", code], check=True)
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with naming.refused("openai", "make setup", "sense7-companion[judge]"):
        ask(study_of(1), server, tmp_path)


# The first call, waits, and the end


@pytest.mark.parametrize("fault", [None, endpoint.rate_limited(0), BUSY])
def test_the_first_call_is_sent_alone_until_it_has_an_answer(fault, server, study_of, tmp_path):
    server.script = lambda asked: fault if fault and asked.number <= 2 else GOOD
    server.latency = 0.05
    assert ask(study_of(8), server, tmp_path, concurrency=8).statuses == Counter(ok=8)
    alone = server.asked[: 3 if fault else 1]
    assert len({asked.prompt for asked in alone}) == 1
    assert server.asked[len(alone)].at - alone[-1].at >= 0.05


@pytest.mark.parametrize(
    "fault", [ERROR_500, Answered(dropped=True), Answered(body=b"<html>Welcome</html>")]
)
def test_a_first_call_without_an_answer_is_the_last(fault, server, study_of, tmp_path):
    server.script = lambda asked: fault
    outcome = ask(study_of(30), server, tmp_path)
    assert len(server.asked) == 1
    naming.check(outcome.stopped, "1 of 30", "first call")
    assert (outcome.unanswered, outcome.paths) == (30, [])


def test_a_wait_that_the_endpoint_asks_for_is_kept_and_said_once(server, study_of, tmp_path):
    lines = []
    server.script = lambda asked: endpoint.rate_limited(0.2) if asked.time == 1 else GOOD
    ask(study_of(4), server, tmp_path, say=lines.append)
    line, _ = lines
    naming.check(line, "second", "HTTP 429", "Rate limit reached")
    sent = {}
    for asked in server.asked:
        sent.setdefault(asked.prompt, []).append(asked.at)
    assert min(later - first for first, later in sent.values()) >= 0.2


def test_a_silent_endpoint_is_given_up(server, study_of, tmp_path):
    server.script = lambda asked: GOOD if asked.number == 1 else Answered(wait=30)
    outcome = ask(study_of(31), server, tmp_path, timeout=0.3, retries=5, concurrency=10)
    assert 11 <= len(server.asked) < 31
    naming.check(outcome.stopped, "10 replies in a row", "--timeout")
    assert set(frame_of(outcome)["status"]) == {"ok", "api_error", "not_asked"}
    assert len(kept_in(tmp_path)) == 1


USELESS = {
    "parse_failure": (Answered(text="No\nscore: " + "x" * 1000), ("<S2>", "'No score: xx")),
    "refusal": (Answered(text=None, refusal="I can't."), ("I can't.",)),
    "truncated": (Answered(text="<S0>So", finish="length"), ()),
    "api_error": (
        Answered(status=401, body=endpoint.error_body("wrong key")),
        ("HTTP 401: wrong key",),
    ),
}


@pytest.mark.parametrize("status", USELESS)
def test_after_ten_unusable_replies_in_a_row_no_more_are_sent(status, server, study_of, tmp_path):
    answer, places = USELESS[status]
    server.script = lambda asked: answer if asked.number > 3 else GOOD
    outcome = ask(study_of(30), server, tmp_path, concurrency=2)
    sent = len(server.asked)
    assert 13 <= sent <= 16
    naming.check(outcome.stopped, f" {sent} of 30 ", "10 replies in a row", status, *places)
    assert len(outcome.stopped) < 700
    frame = frame_of(outcome)
    assert Counter(frame["status"]) == Counter({"ok": 3, status: sent - 3, "not_asked": 30 - sent})
    assert frame["reason"].str.endswith(outcome.stopped).sum() == 30 - sent
    never_asked = np.isnan(Run.of(frame).scores("authors")).sum()
    assert never_asked == 30 - sent, "never asked is no failure"
    # The same command asks for the rest, and keeps what was answered.
    server.script = lambda asked: GOOD
    again = ask(study_of(30), server, tmp_path)
    kept = 0 if status == "api_error" else sent - 3
    expected = Counter({"ok": 30 - kept}) + Counter({status: kept})
    assert (again.statuses, again.stopped) == (expected, "")


def test_failures_are_asked_again_if_the_user_says_so(server, study_of, tmp_path):
    server.script = lambda asked: Answered(text="No.") if number_of(asked) < 2 else GOOD
    for _ in range(2):  # the second sends nothing
        outcome = ask(study_of(4), server, tmp_path)
        assert outcome.statuses == Counter(ok=2, parse_failure=2)
    assert len(server.asked) == 4
    server.script = lambda asked: Answered(text="No.") if number_of(asked) < 1 else GOOD
    outcome = ask(study_of(4), server, tmp_path, again=True)
    assert outcome.statuses == Counter(ok=3, parse_failure=1)
    assert frame_of(outcome)["attempts"].tolist() == [2, 2, 1, 1]
    assert len(kept_in(tmp_path)) == len(server.asked) == 6, "each answer is kept"
