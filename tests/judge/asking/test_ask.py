"""Where a judge is asked: addresses, keys and headers; what endpoints answer; what of a key is written."""

import json
import re
import zipfile
from collections import Counter

import pytest

from helpers import endpoint, naming
from helpers.endpoint import need_the_judge
from helpers.judged import ask, frame_of, kept_in, number_of
from sense7.judge.asking.ask import Endpoint as Address

need_the_judge()

Answered, GOOD = endpoint.Answer, endpoint.GOOD
KEY = "sk-loopback-0123456789abcdef"
LOCAL = "http://127.0.0.1:8000/v1"
WHOLE = "<S0>because</S0><S2>4</S2>"


# Addresses, keys and headers

WITH_CREDENTIALS = [
    "http://user:secret@localhost/v1",
    "http://user@localhost/v1",
    "https://host.example/v1?key=secret",
    "https://host.example/v1#secret",
]
NO_ADDRESSES = [
    "localhost:11434/v1",
    "http:///v1",
    "http://local host/v1",
    "http://localhost:secret/v1",
]


@pytest.mark.parametrize(
    ("address", "remedy"),
    [(address, "SENSE7_JUDGE_KEY") for address in WITH_CREDENTIALS]
    + [(address, "http://localhost:11434/v1") for address in NO_ADDRESSES],
)
def test_unfit_addresses_are_refused_and_not_repeated(address, remedy):
    with naming.refused("--base-url", remedy) as caught:
        Address.of(address)
    assert not re.search("secret|user", str(caught.value))


@pytest.mark.parametrize(
    ("address", "environ", "name"),
    [
        ("https://host.example/v1", ("a", "b"), "SENSE7_JUDGE_KEY"),
        ("https://host.example/v1", (" ", "b"), "OPENAI_API_KEY"),
        (None, ("", "b"), "OPENAI_API_KEY"),
        (LOCAL, ("", "b"), "OPENAI_API_KEY"),
        (LOCAL, ("", ""), ""),
        ("http://gpu-server:8000/v1", ("", "b"), ""),
        ("http://gpu-server:8000/v1", ("a", ""), "SENSE7_JUDGE_KEY"),
        ("https://host.example/v1", ("", ""), None),
        ("http://host.example/v1", ("", "b"), None),
        ("https://host.example/v1", ("sk-\nb", ""), None),
        ("https://host.example/v1", ('"sk-b"', ""), None),
    ],
)
def test_which_key_an_endpoint_is_sent(address, environ, name, monkeypatch):
    for variable, key in zip(("SENSE7_JUDGE_KEY", "OPENAI_API_KEY"), environ, strict=True):
        monkeypatch.setenv(variable, key)
    if name is not None:
        assert Address.of(address).key_name == name
        return
    with naming.refused("SENSE7_JUDGE_KEY") as caught:
        Address.of(address)
    assert "sk-" not in str(caught.value)


def test_the_key_goes_into_its_header_or_a_named_one(server, study_of, tmp_path, monkeypatch):
    monkeypatch.setenv("SENSE7_JUDGE_KEY", KEY)
    address = Address.of(f"{server.address}/chat/completions", ["api-key: {key}", "X-Team:one"])
    assert address.address == server.address
    assert KEY not in repr(address)
    ask(study_of(1), address, tmp_path)
    headers = server.asked[0].headers
    assert headers["authorization"] == f"Bearer {KEY}"
    assert (headers["api-key"], headers["x-team"]) == (KEY, "one")
    server.script = lambda asked: refused("no such route", status=404)
    with_another_path = ask(study_of(1), address, tmp_path / "elsewhere")
    naming.check(with_another_path.stopped, "404", f"{server.address}/chat/completions", "gateway")
    address = Address.of(server.address, ["api-key: {key}", "Authorization: none"])
    ask(study_of(1), address, tmp_path / "one header")
    assert server.asked[-1].headers["authorization"] == "none"
    for header in ("api-key", ": x", "api-key: \u00fc"):
        with naming.refused("--header", "{key}"):
            Address.of(server.address, [header])


# Replies: what they come to, and how often they are asked for


def answered(status=200, **body):
    return Answered(status=status, body=json.dumps(body).encode())


def completion(content, finish="stop", **message):
    message = {"role": "assistant", "content": content, **message}
    return answered(choices=[{"index": 0, "finish_reason": finish, "message": message}])


def part(text, kind="text"):
    return {"type": kind, kind: text}


def refused(message, code=None, status=400):
    return Answered(status=status, body=endpoint.error_body(message, code))


REPLIES = [
    # A whole reply counts as it is, and is never bought again: status, score, what the reason names.
    (Answered(text=""), "parse_failure", None, "empty"),
    (Answered(text="I would say four."), "parse_failure", None, "<S2>"),
    (Answered(text=None, refusal="I can't."), "refusal", None, "I can't."),
    (Answered(text="", finish="content_filter"), "refusal", None, "filter"),
    (Answered(text="<S0>So long", finish="length"), "truncated", None, ""),
    (refused("The prompt was filtered.", "content_filter"), "refusal", None, "filter"),
    (completion([part("<S0>because</S0>"), part("<S2>4</S2>")]), "ok", 4, ""),
    (completion([part("<S2>1</S2>", "thinking"), part(WHOLE)]), "ok", 4, ""),
    (completion([part("<S2>1</S2>", "thinking")]), "parse_failure", None, "empty"),
    (completion(None, reasoning_content=WHOLE), "parse_failure", None, "empty"),
    (completion(WHOLE, reasoning="<S2>1</S2>"), "ok", 4, ""),
    (completion(f"{WHOLE}\ud83d\x00"), "ok", 4, ""),
    # No completion: it may have been paid, and is kept as it came.
    (answered(choices=[]), "api_error", None, "no chat completion"),
    (answered(choices=[{"delta": {"content": WHOLE}}]), "api_error", None, "delta"),
    (answered(error={"message": "Upstream is busy"}), "api_error", None, "Upstream is busy"),
    (Answered(body=b"garbage {"), "api_error", None, "garbage {"),
    (Answered(body=b"[" * 100_000), "api_error", None, "no chat completion"),
]
FAILED = [
    # Sent so often, in three attempts at most; what the reason names.
    (1, refused("The server had an error", status=500), "HTTP 500: The server had an error"),
    (1, refused("Incorrect API key provided", status=401), "HTTP 401: Incorrect API key"),
    (1, refused("The conversation is not acceptable."), "HTTP 400: The conversation is not"),
    (1, answered(422, detail=[{"msg": "Input is bad"}]), "Input is bad"),
    (1, Answered(status=400, body=b"plain words"), "HTTP 400: plain words"),
    (1, Answered(status=308, headers=(("Location", "http://127.0.0.1:9/"),)), "--base-url"),
    (1, Answered(dropped=True), "broke off"),
    (1, Answered(wait=30), "--timeout"),
    (3, endpoint.rate_limited(0), "HTTP 429: Rate limit reached"),
    (1, endpoint.rate_limited(3600), "3,600 seconds"),
]


def test_what_replies_come_to_and_how_often_they_are_sent(server, study_of, tmp_path, monkeypatch):
    """One conversation for each; the first has an answer, else none of the others would be sent."""
    monkeypatch.setattr("sense7.judge.asking.session.MOST_FAILURES", 99)
    expected = [(1, "ok", 4, "")]
    expected += [(1, *row[1:]) for row in REPLIES]
    expected += [(attempts, "api_error", None, words) for attempts, _, words in FAILED]
    answers = [GOOD, *[row[0] for row in REPLIES], *[answer for _, answer, _ in FAILED]]
    server.script = lambda asked: answers[number_of(asked)]
    study = study_of(len(answers))
    outcome = ask(study, server, tmp_path, concurrency=20, timeout=1)
    asked = Counter(map(number_of, server.asked))
    frame = frame_of(outcome)
    for number, (row, wanted) in enumerate(zip(frame.itertuples(), expected, strict=True)):
        attempts, status, score, words = wanted
        assert (asked[number], row.status) == (attempts, status), answers[number]
        assert (row.score if row.score == row.score else None) == score, answers[number]
        assert words in row.reason, answers[number]
    assert outcome.stopped == ""
    assert len(kept_in(tmp_path)) == 1 + len(REPLIES)
    # The next command asks for those without an answer alone.
    server.asked.clear()
    server.script = lambda asked: GOOD
    ask(study, server, tmp_path)
    assert sorted(map(number_of, server.asked)) == list(range(1 + len(REPLIES), len(answers)))


# Parameters that an endpoint refuses


def test_a_refused_parameter_costs_one_call_and_is_corrected(server, study_of, tmp_path):
    study, server.script = study_of(6), endpoint.refuses("max_tokens", "temperature")
    outcome = ask(study, server, tmp_path)
    assert len(server.asked) == 1
    naming.check(outcome.stopped, "max_tokens", "HTTP 400", "1 of 6", "--omit", "--param")
    corrected = {"param": {"max_completion_tokens": 3000}}
    naming.check(ask(study, server, tmp_path, **corrected).stopped, "temperature")
    done = ask(study, server, tmp_path, **corrected, omit=["temperature"])
    assert (done.stopped, done.statuses) == ("", Counter(ok=6))
    with naming.refused(tmp_path, "request: "):
        ask(study, server, tmp_path)
    assert (len(server.asked), set(server.times_answered().values())) == (8, {1})


# The key is nowhere


def texts_in(folder):
    """Every text in a folder, those in its archives included."""
    for path in folder.rglob("*"):
        if path.is_file() and zipfile.is_zipfile(path):
            with zipfile.ZipFile(path) as archive:
                yield from (
                    archive.read(name).decode("utf-8", "replace") for name in archive.namelist()
                )
        elif path.is_file():
            yield path.read_text("utf-8", "replace")


def test_the_key_is_nowhere_wherever_it_was_returned(server, study_of, tmp_path, monkeypatch):
    monkeypatch.setenv("SENSE7_JUDGE_KEY", KEY)
    choice = {"message": {"content": f"<S0>{KEY}</S0><S2>2</S2>"}, "finish_reason": KEY}
    answers = [
        completion(f"<S0>{KEY}</S0><S2>2</S2>"),
        completion(None, refusal=KEY),
        answered(choices=[choice], model=KEY, id=KEY),
        refused(KEY, "content_filter"),
        Answered(body=f"said {KEY}".encode()),
        refused(KEY),
        Answered(status=429, headers=(("Retry-After", "3600"),), body=KEY.encode()),
    ]
    server.script = lambda asked: answers[number_of(asked)]
    outcome = ask(study_of(len(answers)), server, tmp_path, concurrency=1)
    assert {asked.headers["authorization"] for asked in server.asked} == {f"Bearer {KEY}"}
    assert not [text for text in texts_in(tmp_path) if KEY in text]
    assert KEY not in repr(outcome)
    masked = ["[key]" in response for response in kept_in(tmp_path).values()]
    assert masked == [True] * 5
