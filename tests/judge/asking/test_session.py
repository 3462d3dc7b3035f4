"""A session of a judge: exactly the authors' request, every conversation once a run, also after an interruption."""

import email.utils
import errno
import importlib.util
import json
import re
import socket
import sqlite3
import subprocess
import sys
import time
import zlib
from collections import Counter

import numpy as np
import pytest

from helpers import endpoint, naming
from helpers.endpoint import need_the_judge
from helpers.judged import BRIEF, ask, frame_of, kept_in, number_of, plan_for
from sense7.errors import UserError
from sense7.files import WRITTEN
from sense7.findings.ground_truth import ground_truth
from sense7.judge.asking import journal, session
from sense7.judge.asking.answers import Answer
from sense7.judge.asking.cost import Price
from sense7.judge.asking.journal import Journal
from sense7.judge.asking.requests import Prompt
from sense7.judge.asking.session import carry_out
from sense7.judge.chats import chats
from sense7.judge.files import JOURNAL, counted_scores, read_predictions
from sense7.judge.scores.report import evaluate

need_the_judge()

Answered, GOOD = endpoint.Answer, endpoint.GOOD
RATE_LIMITED, ERROR_500 = endpoint.rate_limited(0), Answered(status=500)


# Every conversation once a run


def test_all_that_was_sent_and_returned_is_kept_in_one_file_a_run(server, study_of, tmp_path):
    study = study_of(4, Content=["The same."] * 8)  # asked about each, all the same
    server.script = lambda asked: Answered(finish="length")
    outcome = ask(study, server, tmp_path, runs=3)
    assert [path.name for path in outcome.paths] == [
        f"judge-brief-iter{run}.xlsx" for run in (1, 2, 3)
    ]
    outputs = []
    for run in (1, 2, 3):
        frame = frame_of(outcome, run)
        outputs += frame["output"].tolist()
        for name in ("conversation", "participant"):
            assert frame[name].tolist() == study.conversations[name].tolist()
        assert (
            frame["ground_truth"].tolist()
            == ground_truth(study.turns, frame["conversation"]).tolist()
        )
        assert frame["chat"].tolist() == chats(study).tolist()
        expected = {
            "returned_model": endpoint.MODEL_RETURNED,
            "system_fingerprint": endpoint.FINGERPRINT,
            "finish_reason": "length",
            "input_tokens": 200.0,
            "output_tokens": 30.0,
            "prompt_sha256": BRIEF.sha256,
            "run": float(run),
            "model": "judge",
            "status": "ok",
        }
        assert {name: set(frame[name]) for name in expected} == {
            name: {value} for name, value in expected.items()
        }
        assert (frame["seconds"] > 0).all()
        assert frame["reasoning"].str.fullmatch(r"Reasoning \d+\.").all()
    assert len(set(outputs)) == 12
    assert {kept.response_id for kept in kept_in(tmp_path).values()} == {
        f"chatcmpl-{n}" for n in range(1, 13)
    }


def test_as_many_requests_run_at_once_as_were_asked_for_and_progress_is_told_call_by_call(
    server, study_of, tmp_path
):
    server.latency, told = 0.1, []
    plan = plan_for(study_of(6), server, tmp_path, runs=2, prices=Price(1.0, 10.0), concurrency=5)
    carry_out(
        plan,
        progress=lambda tally: told.append((tally.done, tally.total, tally.cost, tally.line())),
    )
    assert server.most_at_once == 5
    assert [one[:2] for one in told] == [(done, 12) for done in range(1, 13)]
    assert told[-1][2] == pytest.approx(12 * (200 * 1.0 + 30 * 10.0) / 1e6)
    line = told[-1][3]
    rate = re.findall(r"[\d.]+", line)[2]
    naming.check(line.replace(f" {rate} ", " RATE "), "12/12", "ok 12", "2,400", 360, "cost 0.01")


# Resuming


def test_the_same_command_again_sends_nothing_and_more_runs_and_a_greater_limit_add_to_what_is_there(
    server, study_of, tmp_path
):
    study = study_of(4)
    first = frame_of(ask(study, server, tmp_path, limit=2))
    assert frame_of(ask(study, server, tmp_path, limit=2)).equals(first)
    assert len(server.asked) == 2
    ask(study, server, tmp_path, limit=3, runs=2)
    assert len(server.asked) == 6
    for limit, runs, conversation in ((2, 2, "'C3'"), (3, 1, "'C1'")):
        with naming.refused(tmp_path, "run 2", conversation, "--runs", "--limit"):
            plan_for(study, server, tmp_path, limit=limit, runs=runs)


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
        ({"words": "Other words."}, ("requests: ",)),
        (
            {"server": "https://host.example/v1"},
            ("endpoint: http://localhost/v1", "https://host.example/v1"),
        ),
    ],
    ids=["model", "prompt name", "prompt", "shots", "data", "endpoint"],
)
def test_a_session_that_would_ask_something_else_is_refused(
    changed, places, server, study_of, tmp_path, monkeypatch
):
    ask(study_of(2), server, tmp_path)
    monkeypatch.setenv("SENSE7_JUDGE_KEY", "sk-any-0123456789")
    study, server_now = study_of(2, words=changed.pop("words", "")), changed.pop("server", server)
    with naming.refused(tmp_path, *places):
        plan_for(study, server_now, tmp_path, **changed)
    assert len(server.asked) == 2


def test_an_endpoint_on_this_machine_may_change_its_port(server, study_of, tmp_path):
    ask(study_of(2), server, tmp_path)
    with endpoint.Endpoint() as other:
        assert ask(study_of(2), other, tmp_path).statuses == Counter(ok=2)
        assert other.asked == []


def test_a_folder_of_another_session_or_of_somebodys_files_is_left_alone(
    server, study_of, tmp_path
):
    plan = plan_for(study_of(1), server, tmp_path)
    assert list(tmp_path.iterdir()) == [], "a plan writes nothing"
    with Journal.open(tmp_path), naming.refused(tmp_path):
        carry_out(plan)
    (tmp_path / JOURNAL).unlink()
    (tmp_path / "judge-brief-iter1.xlsx").write_bytes(b"somebody's")
    with naming.refused(tmp_path / "judge-brief-iter1.xlsx"):
        plan_for(study_of(1), server, tmp_path)
    assert server.asked == []


def test_a_file_of_the_session_that_was_edited_is_kept_until_it_is_moved(
    server, study_of, tmp_path
):
    ask(study_of(2), server, tmp_path)
    asked, path = len(server.asked), tmp_path / "judge-brief-iter1.xlsx"
    written = path.read_bytes()
    path.write_bytes(b"edited")
    with naming.refused(path, "journal", "sense7 wrote"):
        plan_for(study_of(2), server, tmp_path)
    path.rename(tmp_path / "mine")
    ask(study_of(2), server, tmp_path)
    assert (tmp_path / "mine").read_bytes() == b"edited"
    assert path.read_bytes() == written
    assert len(server.asked) == asked


def test_a_session_of_a_version_that_did_not_note_what_it_wrote_is_written_again_from_its_journal(
    server, study_of, tmp_path
):
    ask(study_of(2), server, tmp_path)
    asked, path = len(server.asked), tmp_path / "judge-brief-iter1.xlsx"
    (tmp_path / WRITTEN).unlink()
    with naming.refused(path, "journal", "sense7 wrote"):
        plan_for(study_of(2), server, tmp_path)
    written = path.read_bytes()
    path.rename(tmp_path / "earlier.xlsx")
    ask(study_of(2), server, tmp_path)
    assert path.read_bytes() == written
    assert len(server.asked) == asked


# The journal


def test_an_answer_is_never_replaced_and_a_failure_is(server, study_of, tmp_path):
    plan = plan_for(study_of(1), server, tmp_path)
    (name,) = plan.questions.units
    failed, answered = (
        Answer(name, 1, error="HTTP 500"),
        Answer(name, 1, output="\u00fc\ud83d<S2>4</S2>"),
    )
    with Journal.open(tmp_path) as opened:
        opened.begin(plan.question, plan.about, plan.questions, 1)
        assert opened.pending(1) == [(name, 1)]
        for answer in (failed, answered, failed, Answer(name, 1, output="<S2>1</S2>")):
            opened.add(answer)
            opened.sync()
            assert opened.waiting == []
        assert opened.pending(2) == [(name, 2)]
    assert kept_in(tmp_path) == {(name, 1): answered}


@pytest.mark.parametrize(
    ("name", "content"),
    [
        (JOURNAL, "no database, and long enough to be read as the head of one" * 9),
        ("journal.jsonl", "{}"),
    ],
    ids=["no database", "of an earlier version"],
)
def test_what_is_no_journal_is_refused(name, content, server, study_of, tmp_path):
    (tmp_path / name).write_text(content)
    with naming.refused(tmp_path, name):
        plan_for(study_of(1), server, tmp_path)


@pytest.mark.parametrize(
    ("change", "places"),
    [
        (f"PRAGMA user_version = {journal.VERSION + 1}", [f"version {journal.VERSION + 1};"]),
        (
            "UPDATE replies SET content = json_set(content, '$.of_a_later_version', 1)",
            ["run 1", "'C1'"],
        ),
        ("UPDATE replies SET content = '[1'", ["run 1", "'C1'"]),
        ("UPDATE asked SET content = '{}'", []),
    ],
    ids=["journal", "field", "answer", "request"],
)
def test_a_journal_of_another_version_is_refused_in_words(
    change, places, server, study_of, tmp_path
):
    ask(study_of(2), server, tmp_path)
    with sqlite3.connect(tmp_path / JOURNAL) as database:
        assert database.execute("PRAGMA user_version").fetchone() == (journal.VERSION,)
        database.execute(change)
    with pytest.raises(UserError) as refused:
        ask(study_of(2), server, tmp_path)
    of_python = str(refused.value.__context__)
    naming.check(
        str(refused.value).replace(f"({of_python})", "(CAUSE)"), tmp_path / JOURNAL, *places
    )


def test_an_answer_that_cannot_be_read_is_refused_before_more_are_paid(server, study_of, tmp_path):
    ask(study_of(3), server, tmp_path, limit=1)
    with sqlite3.connect(tmp_path / JOURNAL) as database:
        database.execute("UPDATE replies SET content = '{'")
    with pytest.raises(UserError, match="'C1'"):
        ask(study_of(3), server, tmp_path)
    assert len(server.asked) == 1


@pytest.mark.parametrize("share", [0, 0.02, 0.25, 0.5, 0.75, 0.99])
def test_a_journal_that_was_cut_short_is_refused_and_nothing_is_asked_again(
    share, server, study_of, tmp_path
):
    ask(study_of(30), server, tmp_path)
    content = (tmp_path / JOURNAL).read_bytes()
    (tmp_path / JOURNAL).write_bytes(content[: int(len(content) * share)])
    with pytest.raises(UserError) as refused:
        ask(study_of(30), server, tmp_path)
    assert str(tmp_path) in str(refused.value)
    assert len(server.asked) == 30


def test_a_journal_from_before_versions_were_kept_goes_on(server, study_of, tmp_path):
    ask(study_of(2), server, tmp_path)
    asked = len(server.asked)
    with sqlite3.connect(tmp_path / JOURNAL) as database:
        database.execute("PRAGMA user_version = 0")
    ask(study_of(2), server, tmp_path)
    assert len(server.asked) == asked


def test_answers_to_another_request_are_refused(server, study_of, tmp_path):
    ask(study_of(3), server, tmp_path)
    with sqlite3.connect(tmp_path / JOURNAL) as database:
        database.execute("UPDATE requests SET sha256 = '0' WHERE place = 1")
    with naming.refused(tmp_path, "'C2'"):
        plan_for(study_of(3), server, tmp_path)


def test_when_answers_can_not_be_kept_no_more_are_asked_for(
    server, study_of, tmp_path, monkeypatch
):
    full_disk = UserError("No space left on device")

    def full(self):
        raise full_disk

    monkeypatch.setattr(Journal, "sync", full)
    with pytest.raises(UserError) as raised:
        ask(study_of(20), server, tmp_path, concurrency=2)
    assert raised.value is full_disk
    assert len(server.asked) <= 4


def test_no_worker_asks_again_before_the_disk_has_its_answer(
    server, study_of, tmp_path, monkeypatch
):
    at_once, on_disk, sync = 8, [0], Journal.sync

    def count(self):
        taken = len(self.waiting)
        sync(self)
        on_disk.append(on_disk[-1] + taken)

    monkeypatch.setattr(Journal, "sync", count)
    late = []
    server.script = lambda asked: late.append(asked.number - at_once - on_disk[-1]) or GOOD
    ask(study_of(40), server, tmp_path, concurrency=at_once)
    assert max(late) <= 0
    assert on_disk[-1] >= 40


@pytest.mark.parametrize("when", ["at the start", "in the midst"])
@pytest.mark.parametrize("lock", ["IMMEDIATE", "EXCLUSIVE"])
def test_a_journal_that_another_program_holds_is_waited_for_and_no_answer_is_bought_twice(
    when, lock, server, study_of, tmp_path
):
    study, lines = study_of(20), []
    ask(study, server, tmp_path, limit=2)
    other = sqlite3.connect(tmp_path / JOURNAL, isolation_level=None, check_same_thread=False)

    def hold():
        other.execute("PRAGMA busy_timeout = 5000")
        other.execute(f"BEGIN {lock}")

    def script(asked):
        if asked.number == 6 and when == "in the midst":
            hold()
        return GOOD

    def release_when_told(line):
        lines.append(line)
        other.rollback()

    if when == "at the start":
        hold()
    server.script = script
    outcome = ask(study, server, tmp_path, say=release_when_told)
    other.close()
    if when == "in the midst" or lock == "EXCLUSIVE":
        assert any(str(tmp_path / JOURNAL) in line for line in lines)
    assert outcome.statuses == Counter(ok=20)
    assert Counter(number_of(asked) for asked in server.asked) == Counter(range(20))


def test_on_a_disk_without_locks_the_run_goes_on_and_says_so(
    server, study_of, tmp_path, monkeypatch
):
    def no_lock(*_, **__):
        raise OSError(errno.ENOLCK, "no locks")

    monkeypatch.setattr(journal, "lock_file", no_lock)
    lines = []
    assert ask(study_of(1), server, tmp_path, say=lines.append).statuses == Counter(ok=1)
    naming.check(lines[0], "(no locks)")


@pytest.mark.parametrize("folder", ["empty", "begun"])
def test_a_session_that_has_not_ended_holds_no_predictions(folder, server, study_of, tmp_path):
    def progress(tally):
        raise KeyboardInterrupt

    if folder == "begun":
        with pytest.raises((KeyboardInterrupt, BaseExceptionGroup)):
            carry_out(plan_for(study_of(6), server, tmp_path), progress=progress)
    else:
        (tmp_path / JOURNAL).write_text("")
    with naming.refused(tmp_path, JOURNAL, "sense7 judge run"):
        evaluate(tmp_path)


def test_names_that_are_no_file_names_and_halves_of_surrogates_are_no_obstacle(
    server, study_of, tmp_path
):
    half = json.dumps(
        {"choices": [{"message": {"content": "\ud83d<S2>5</S2>\x00"}, "finish_reason": "stop"}]}
    ).encode()
    study, names = study_of(2), ["../a b/ü", "x" * 300]
    for frame in (study.conversations, study.messages, study.turns):
        frame["conversation"] = frame["conversation"].replace(
            dict(zip(["C1", "C2"], names, strict=True))
        )
    server.script = lambda asked: Answered(body=half)
    frame = frame_of(ask(study, server, tmp_path))
    assert frame["conversation"].tolist() == names
    assert frame["score"].tolist() == [5.0, 5.0]
    assert kept_in(tmp_path)["../a b/ü", 1].output == "\ud83d<S2>5</S2>\x00"


# Nothing else


def test_nobody_but_the_endpoint_is_spoken_to(server, study_of, tmp_path, monkeypatch):
    reached, looked_up = set(), set()
    connect, lookup = socket.socket.connect, socket.getaddrinfo
    monkeypatch.setattr(
        socket.socket, "connect", lambda self, to: (reached.add(to), connect(self, to))[1]
    )
    monkeypatch.setattr(
        socket, "getaddrinfo", lambda host, *a, **k: (looked_up.add(host), lookup(host, *a, **k))[1]
    )
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    ask(study_of(2), server, tmp_path)
    assert {to for to in reached if isinstance(to, tuple)} == {("127.0.0.1", server.port)}
    assert looked_up <= {"127.0.0.1", b"127.0.0.1"}


def test_without_the_extra_the_message_says_how_to_get_it_and_nothing_else_needs_it(
    server, study_of, tmp_path, monkeypatch
):
    code = "import sys\nsys.modules['aiohttp'] = sys.modules['certifi'] = None\n"
    code += "import sense7.cli.judge, sense7.judge.scores.report\n"
    code += "import sense7.judge.asking.session\n"
    subprocess.run([sys.executable, "-c", code], check=True)
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with naming.refused("aiohttp", "make setup", "sense7-companion[judge]", "pip install"):
        ask(study_of(1), server, tmp_path)


# What it will take


def test_the_estimate_counts_what_is_left(server, study_of, tmp_path):
    study = study_of(4)
    first = plan_for(study, server, tmp_path, runs=2, prices=Price(2.0, 8.0)).estimate
    tokens = 2 * sum(
        -(-len(f"Rate this: {chat}You are a helpful AI assistant") // 4) for chat in chats(study)
    )
    assert (first.calls, first.input_tokens) == (8, tokens)
    assert first.cost_range == pytest.approx((tokens * 2e-6, tokens * 2e-6 + 8 * 3000 * 8e-6))
    ask(study, server, tmp_path, limit=2, runs=2)
    rest = plan_for(study, server, tmp_path, runs=2).estimate
    assert (rest.calls, rest.kept, rest.input_tokens, rest.cost_range) == (4, 4, tokens // 2, None)
    naming.check("\n".join(rest.lines()), 4, f"{tokens // 2:,}", "--price-in", "--price-out")


def test_when_a_session_asks_first(server, study_of, tmp_path):
    known = plan_for(
        study_of(4), server, tmp_path, prices=Price(0.0, 1e3)
    ).estimate  # at most 12.00
    unknown = plan_for(study_of(4), server, tmp_path, runs=300).estimate
    naming.check(known.needs_consent(near=True), "12.00", "10.00")
    naming.check(unknown.needs_consent(near=False), "1,200")
    assert unknown.needs_consent(near=True) == ""
    refusals = set()
    for prices in ((1.0, None), (None, 1.0), (-1.0, 1.0), (float("nan"), 1.0), (float("inf"), 1.0)):
        with pytest.raises(UserError) as refused:
            Price.of(*prices)
        refusals.add(str(refused.value))
    (sentence,) = refusals
    naming.check(sentence, "--price-in", "--price-out")


# The first call, and how many at once


@pytest.mark.parametrize("fault", [None, ERROR_500, RATE_LIMITED, Answered(dropped=True)])
def test_the_first_call_is_sent_alone_until_it_has_an_answer(fault, server, study_of, tmp_path):
    server.script, server.latency = (
        lambda asked: fault if fault and asked.number <= 2 else GOOD,
        0.1,
    )
    assert ask(study_of(8), server, tmp_path, backoff=0.05, concurrency=8).statuses == Counter(ok=8)
    alone = server.asked[: 3 if fault else 1]
    assert len({asked.prompt for asked in alone}) == 1
    assert server.asked[len(alone)].at - alone[-1].at >= 0.1, (
        "the others follow when the first is answered"
    )


def test_an_overrun_endpoint_is_sent_fewer_at_once_and_that_is_said(server, study_of, tmp_path):
    lines, bad = [], Answered(status=429, body=endpoint.error_body("Too many requests at once"))
    server.script, server.latency = lambda asked: bad if len(server.under_way) > 2 else GOOD, 0.02
    options = {"concurrency": 8, "retries": 50, "backoff": 0.05}
    assert ask(study_of(30), server, tmp_path, say=lines.append, **options).statuses == Counter(
        ok=30
    )
    naming.check(lines[0], "HTTP 429", 4)
    assert len(server.asked) - 30 < 60
    assert set(server.times_answered().values()) == {1}
    lines.clear()
    server.reset(lambda asked: RATE_LIMITED if asked.time == 1 else GOOD)
    ask(study_of(6), server, tmp_path / "named", say=lines.append)
    assert lines == [], "a 429 that names a time changes no number"


# Waiting


def test_the_endpoint_is_waited_for_as_long_as_it_asks_by_its_own_clock(server, study_of, tmp_path):
    def script(asked):
        at, number = time.time() + (0, 0, 0, 3600, -3600)[number_of(asked)], number_of(asked)
        said = {0: ("Retry-After", "1"), 1: ("Retry-After", "1.0")}
        wait = said.get(number, ("Retry-After", email.utils.formatdate(at + 2, usegmt=True)))
        dated = ("Date", email.utils.formatdate(at, usegmt=True))
        return Answered(status=429, headers=(wait, dated), body=b"") if asked.time == 1 else GOOD

    server.script = script
    assert ask(study_of(5), server, tmp_path, concurrency=5).statuses == Counter(ok=5)
    waits = [[one.at for one in server.asked if number_of(one) == number] for number in range(5)]
    assert all(0.95 <= second - first < 300 for first, second in waits)


def test_a_wait_that_the_endpoint_asks_for_is_said_once_when_it_begins(
    server, study_of, tmp_path, monkeypatch
):
    monkeypatch.setattr(session, "WORTH_SAYING", 0.5)
    lines = []
    server.script = lambda asked: endpoint.rate_limited(1) if asked.time == 1 else GOOD
    ask(study_of(4), server, tmp_path, say=lines.append)
    # Of the first call, which is sent alone, and of the others together; none where no attempt follows.
    assert len(lines) == 2
    (line,) = set(lines)
    naming.check(line, "1 second", "HTTP 429", "Rate limit reached")
    server.script = lambda asked: endpoint.rate_limited(1)
    ask(study_of(1), server, tmp_path / "none", say=lines.append, retries=0)
    assert len(lines) == 2


def test_a_silent_endpoint_is_given_up(server, study_of, tmp_path):
    server.script = lambda asked: Answered(wait=30)
    outcome = ask(study_of(30), server, tmp_path, timeout=2, retries=5, concurrency=10)
    assert 10 <= len(server.asked) < 20
    called, calls, in_a_row = map(int, re.findall(r"\d+", outcome.stopped)[:3])
    assert (calls, in_a_row) == (30, 10)
    assert len(server.asked) <= called < 20, (
        "what was called off before it reached the endpoint counts"
    )
    frame = frame_of(outcome)
    assert Counter(frame["status"]) == Counter(not_asked=30 - called, api_error=called)
    reasons = frame["reason"][frame["status"] == "api_error"]
    timed_out = reasons[reasons.str.contains("--timeout")]
    assert len(timed_out) >= 10
    (sentence,) = set(timed_out)
    naming.check(sentence, "2 seconds", "--timeout")


def test_the_time_of_a_call_is_that_of_all_its_attempts(server, study_of, tmp_path):
    server.script = lambda asked: Answered(status=500, wait=0.4)
    outcome = ask(study_of(1), server, tmp_path, timeout=1, retries=9)
    assert len(server.asked) < 10
    naming.check(frame_of(outcome)["reason"][0], "1 second", "--timeout")


# Giving up


USELESS = {
    "parse_failure": (
        Answered(text="\x1b[31mNo\nscore: " + "x" * 1000),
        ("<S2>", "'\\x1b[31mNo score: xx"),
    ),
    "refusal": (Answered(text=None, refusal="I can't."), ("I can't.",)),
    "truncated": (Answered(text="<S0>So", finish="length"), ()),
    "api_error": (
        Answered(status=401, body=endpoint.error_body("wrong key")),
        ("HTTP 401: wrong key",),
    ),
}


@pytest.mark.parametrize("status", USELESS)
def test_after_so_many_unusable_replies_in_a_row_no_more_are_sent_and_every_row_says_so(
    status, server, study_of, tmp_path
):
    answer, places = USELESS[status]
    server.script = lambda asked: answer if asked.number > 3 else GOOD
    outcome = ask(study_of(30), server, tmp_path, concurrency=2, give_up_after=4)
    sent = len(server.asked)
    assert 7 <= sent <= 8
    assert f" {sent} of 30 " in outcome.stopped
    naming.check(outcome.stopped.replace(f" {sent} ", " SENT "), 4, status, *places)
    assert len(outcome.stopped) < 500
    frame = frame_of(outcome)
    assert Counter(frame["status"]) == Counter({"ok": 3, status: sent - 3, "not_asked": 30 - sent})
    assert frame["reason"].str.endswith(f": {outcome.stopped}").sum() == 30 - sent
    assert np.isnan(counted_scores(frame, "authors")).sum() == 30 - sent, (
        "never asked is no failure"
    )
    # The same command asks for the rest, and keeps what was answered.
    server.script = lambda asked: GOOD
    again = ask(study_of(30), server, tmp_path)
    kept = 0 if status == "api_error" else sent - 3
    assert (again.statuses, again.stopped) == (
        Counter({"ok": 30 - kept} | ({status: kept} if kept else {})),
        "",
    )


def test_unusable_replies_below_that_number_end_nothing_but_a_run_of_them_is_named(
    server, study_of, tmp_path
):
    server.script = lambda asked: Answered(text="No.") if asked.number <= 5 else GOOD
    outcome = ask(study_of(5), server, tmp_path, runs=2, concurrency=1)
    assert (len(server.asked), outcome.stopped) == (10, "")
    (sentence,) = outcome.without_score
    naming.check(sentence, "run 1", 5, "parse_failure", "<S2>", "'No.'")
    server.reset(lambda asked: GOOD if asked.number % 3 == 1 else Answered(status=404))
    outcome = ask(study_of(30), server, tmp_path / "among", concurrency=1)
    assert outcome.statuses == Counter(ok=10, api_error=20), (
        "failures among answers do not end the session"
    )


def test_giving_up_ends_the_calls_that_wait_and_keeps_the_replies_under_way(
    server, study_of, tmp_path
):
    def script(asked):
        number = number_of(asked)
        if number == 0:
            return GOOD
        if number <= 3:
            return Answered(text="I would rather not say.", wait=0.3)
        return Answered(wait=0.8) if number == 4 else ERROR_500

    server.script = script
    outcome = ask(
        study_of(40), server, tmp_path, concurrency=30, give_up_after=3, backoff=600, retries=5
    )
    assert {one.time for one in server.asked} == {1}
    assert outcome.statuses["ok"] == 2, "what was under way is paid for, and kept"
    assert outcome.statuses["not_asked"] >= 5


def test_replies_under_way_are_not_waited_for_longer_than_that(
    server, study_of, tmp_path, monkeypatch
):
    monkeypatch.setattr(session, "LAST_REPLIES", 0.3)
    useless, begun = Answered(text="no"), time.monotonic()
    server.script = lambda asked: (
        GOOD if asked.number == 1 else useless if asked.number <= 4 else Answered(wait=600)
    )
    outcome = ask(study_of(12), server, tmp_path, give_up_after=3, concurrency=8)
    assert time.monotonic() - begun < 300
    assert outcome.statuses["parse_failure"] == 3


# All of it at once


def test_at_thirty_per_cent_faults_nothing_is_lost_doubled_or_guessed(server, study_of, tmp_path):
    faults = (
        ERROR_500,
        RATE_LIMITED,
        Answered(wait=30),
        Answered(dropped=True),
        Answered(body=b'{"error": "busy"}'),
    )
    useless = (Answered(text="NUMBER: no score"), Answered(text=None, refusal="NUMBER: no"))

    def script(asked):
        chance = zlib.crc32(f"{asked.prompt} {asked.time}".encode())
        if chance % 10 < 3:
            return faults[chance // 10 % len(faults)]
        return useless[chance // 100 % 2] if chance % 10 == 3 else GOOD

    server.script, study = script, study_of(12)
    for _ in range(
        4
    ):  # a call that brought nothing in its time is asked for again by the next command
        outcome = ask(study, server, tmp_path, runs=4, concurrency=8, retries=8, timeout=2)
        if not outcome.statuses["api_error"]:
            break
    in_journal = kept_in(tmp_path)
    assert len(in_journal) == 48
    assert {answer.error for answer in in_journal.values()} == {None}
    usable = {asked.number for asked in server.asked if script(asked) not in faults}
    assert len(server.asked) > len(usable) == 48
    # Every answer that was sent was kept, each for the conversation to which it was given.
    given, kept = {asked.number: asked.prompt for asked in server.asked}, {}
    for path in outcome.paths:
        for row in read_predictions(path).frame.itertuples():
            words = row.output if row.status != "refusal" else row.reason
            number = int("".join(filter(str.isdigit, words.partition("</S0>")[0])))
            assert given[number] == row.prompt
            assert (row.status == "ok") == (row.score == 4.0)
            kept[number] = row.status
    assert kept.keys() == usable
    assert Counter(kept.values()) == outcome.statuses
    assert outcome.statuses.keys() == {"ok", "parse_failure", "refusal"}
