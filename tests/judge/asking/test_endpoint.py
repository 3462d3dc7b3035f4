"""Where a judge is asked: addresses and keys; what endpoints answer, in all their words; what of a key is written."""

import base64
import functools
import gzip
import html
import json
import math
import re
import ssl
import subprocess
import sys
import time
import urllib.parse
import zipfile
from collections import Counter
from pathlib import Path

import pytest

from helpers import endpoint, naming
from helpers.endpoint import need_the_judge
from helpers.judged import ask, frame_of, kept_in, number_of, plan_for
from sense7.errors import UserError
from sense7.judge.asking import client
from sense7.judge.asking.waits import asked_to_wait
from sense7.judge.endpoint import Endpoint as Address
from sense7.judge.files import JOURNAL

need_the_judge()

Answered, GOOD = endpoint.Answer, endpoint.GOOD
CERTIFICATE = Path(__file__).parent / "loopback.pem"
KEY = "sk-loopback-0123456789abcdef"
WHOLE = "<S0>because</S0><S2>4</S2>"
LARGEST = client.LARGEST_REPLY


# Addresses and keys


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
    ("addresses", "remedy"),
    [(WITH_CREDENTIALS, "SENSE7_JUDGE_KEY"), (NO_ADDRESSES, "http://localhost:11434/v1")],
    ids=["credentials", "no address"],
)
def test_unfit_addresses_are_refused_and_not_repeated(addresses, remedy):
    refusals = set()
    for address in addresses:
        with pytest.raises(UserError) as caught:
            Address.of(address, {})
        refusals.add(str(caught.value))
    (sentence,) = refusals
    naming.check(sentence, "--base-url", remedy)
    assert not re.search("secret|user", sentence)


LOCAL = "http://127.0.0.1:8000/v1"


def test_what_is_imported_meanwhile_is_waited_for_when_python_ends():
    """Else a command that is refused early ends by a crash of OpenSSL now and then."""
    code = (
        "import threading; from sense7.judge.endpoint import Endpoint; "
        f"Endpoint.of({LOCAL!r}, {{}}); "
        "print([thread.daemon for thread in threading.enumerate()])"
    )
    ended = subprocess.run(
        [sys.executable, "-c", code], check=True, capture_output=True, text=True, timeout=60
    )
    assert "True" not in ended.stdout, ended.stdout


@pytest.mark.parametrize(
    ("address", "environ", "name"),
    [
        (
            "https://host.example/v1",
            {"SENSE7_JUDGE_KEY": "a", "OPENAI_API_KEY": "b"},
            "SENSE7_JUDGE_KEY",
        ),
        (
            "https://host.example/v1",
            {"SENSE7_JUDGE_KEY": " ", "OPENAI_API_KEY": "b"},
            "OPENAI_API_KEY",
        ),
        (None, {"OPENAI_API_KEY": "b"}, "OPENAI_API_KEY"),
        (LOCAL, {"OPENAI_API_KEY": "b"}, "OPENAI_API_KEY"),
        (LOCAL, {}, ""),
        ("http://gpu-server:8000/v1", {"OPENAI_API_KEY": "b"}, ""),
        ("http://gpu-server:8000/v1", {"SENSE7_JUDGE_KEY": "a"}, "SENSE7_JUDGE_KEY"),
        ("https://host.example/v1", {}, None),
        ("http://host.example/v1", {"OPENAI_API_KEY": "b"}, None),
        ("https://host.example/v1", {"SENSE7_JUDGE_KEY": "sk-\nb"}, None),
        ("https://host.example/v1", {"SENSE7_JUDGE_KEY": "sk-ü"}, None),
        ("https://host.example/v1", {"SENSE7_JUDGE_KEY": '"sk-b"'}, None),
        ("https://host.example/v1", {"SENSE7_JUDGE_KEY": "'sk-b'"}, None),
    ],
)
def test_which_key_an_endpoint_is_sent(address, environ, name):
    if name is not None:
        assert Address.of(address, environ).key_name == name
        return
    with pytest.raises(UserError, match="SENSE7_JUDGE_KEY") as caught:
        Address.of(address, environ)
    assert "sk-" not in str(caught.value)


def test_the_key_goes_into_its_header_and_without_one_there_is_none(
    server, study_of, tmp_path, monkeypatch
):
    address = Address.of(f"{LOCAL}/chat/completions", {"OPENAI_API_KEY": KEY})
    assert address.address == LOCAL
    assert KEY not in repr(address)
    ask(study_of(1), server, tmp_path / "without")
    monkeypatch.setenv("SENSE7_JUDGE_KEY", KEY)
    ask(study_of(1), server, tmp_path / "with")
    assert [asked.headers.get("authorization") for asked in server.asked] == [None, f"Bearer {KEY}"]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("ALL_PROXY", "socks5://127.0.0.1"),
        ("all_proxy", "socks5h://user:secret@127.0.0.1:1080"),
        ("http_proxy", "http://proxy:port"),
        ("http_proxy", "http//proxy:3128"),
        ("http_proxy", "ftp://secret@proxy:21"),
        ("HTTP_PROXY", "http://[::1"),
    ],
    ids=["SOCKS", "SOCKS with a password", "port", "colon", "FTP", "bracket"],
)
def test_a_proxy_that_can_not_be_used_is_one_line_that_names_its_variable(
    name, value, server, study_of, tmp_path, monkeypatch
):
    monkeypatch.setenv(name, value)
    monkeypatch.setenv("SENSE7_JUDGE_KEY", "none")
    with naming.refused(f"{name}:") as caught:
        plan_for(study_of(1), "http://judge.example/v1", tmp_path)
    assert not re.search("secret|\n", str(caught.value))
    assert list(tmp_path.iterdir()) == []
    plan_for(study_of(1), server, tmp_path)  # an endpoint on this machine needs no proxy


@pytest.mark.parametrize("scheme", ["http", "https"])
def test_a_proxy_that_lets_nothing_through_is_one_sentence_without_its_password(
    scheme, server, study_of, tmp_path, monkeypatch
):
    monkeypatch.setenv(
        f"{scheme}_proxy", f"http://user:secret-of-the-proxy@127.0.0.1:{server.port}"
    )
    monkeypatch.setenv("SENSE7_JUDGE_KEY", "none")
    server.script = lambda asked: Answered(status=407, body=b"Proxy Authentication Required")
    outcome = ask(study_of(3), f"{scheme}://judge.example/v1", tmp_path)
    assert len(server.asked) == 1
    naming.check(outcome.stopped, "1 of 3", "HTTP 407")
    assert not [
        text for text in [*texts_in(tmp_path), outcome.stopped] if "secret-of-the-proxy" in text
    ]


# Replies: what they come to, and how often they are asked for


def answered(status=200, headers=(), **body):
    return Answered(status=status, headers=tuple(headers), body=json.dumps(body).encode())


def completion(content, finish="stop", *, usage=None, choice=None, **message):
    message = {"role": "assistant", "content": content, **message}
    choice = {"index": 0, "finish_reason": finish, "message": message, **(choice or {})}
    return answered(choices=[choice], usage=usage or {"prompt_tokens": 600, "completion_tokens": 5})


def part(text, kind="text"):
    return {"type": kind, kind: text}


def packed(body, encoding="gzip"):
    return Answered(body=gzip.compress(body), headers=(("Content-Encoding", encoding),))


def refused(message, code=None, status=400, param=None):
    return Answered(status=status, body=endpoint.error_body(message, code, param))


LOST = {"error": {"code": 502, "message": "Upstream connection lost"}}
LONG = b'{"choices": [{"finish_reason": "stop", "message": {"content": "<S2>2</S2>%s"}}]}'
OUT_OF_TOKENS = ("truncated", None, "")
FILTERED = ("refusal", None, "")
EMPTY = ("parse_failure", None, "")
TOO_LARGE = "2 MiB"

REPLIES = [
    # A whole reply counts as it is, and is never bought again.
    (Answered(text=""), *EMPTY),
    (Answered(text=None), *EMPTY),
    (Answered(text="I would say four."), "parse_failure", None, "<S2>"),
    (Answered(text="<S2>four</S2>"), "parse_failure", None, "<S2>: 'four'"),
    (Answered(text=None, refusal="I can't."), "refusal", None, "I can't."),
    (Answered(text="", finish="content_filter"), *FILTERED),
    (Answered(text="<S0>So long", finish="length"), *OUT_OF_TOKENS),
    (Answered(text="<S0>Long</S0><S2>2</S2> and", finish="length"), "ok", 2, ""),
    (refused("The prompt was filtered.", "content_filter"), "refusal", None, "The prompt was filtered."),
    (answered(403, error={"message": "flagged", "metadata": {"reasons": ["x"]}}), "refusal", None, "flagged"),
    (completion([part(WHOLE)]), "ok", 4, ""),
    (completion([part("<S0>because</S0>"), part("<S2>4</S2>")]), "ok", 4, ""),
    (completion([part([part("<S2>1</S2>")], "thinking"), part(WHOLE)]), "ok", 4, ""),
    (completion([part("<S2>1</S2>", "reasoning"), WHOLE]), "ok", 4, ""),
    (completion([part("<S2>1</S2>") | {"thought": True}, part(WHOLE)]), "ok", 4, ""),
    (completion([part("<S2>1</S2>") | {"thought": True}]), *EMPTY[:2], "type thought"),
    (completion("", reasoning_details=[{}]), *EMPTY[:2], "reasoning_details,"),
    (completion([{"type": "output_text", "text": WHOLE}]), "ok", 4, ""),
    (completion([part("I can't.", "refusal")]), "refusal", None, "I can't."),
    (completion([part("<S2>1</S2>", "thinking")]), *EMPTY[:2], "type thinking"),
    (completion(None, reasoning_content=WHOLE), *EMPTY[:2], "reasoning_content"),
    (completion("", reasoning=WHOLE), *EMPTY[:2], "reasoning,"),
    (completion(None, tool_calls=[{}]), *EMPTY[:2], "tool"),
    (completion(WHOLE, None), "ok", 4, ""),
    *[(Answered(body=body), "ok", 4, "") for body in (completion(WHOLE).body, gzip.compress(completion(WHOLE).body))],
    (packed(completion(WHOLE).body), "ok", 4, ""),
    (Answered(body=LONG % b"\xfc", headers=(("Content-Type", "application/json; charset=latin1"),)), "ok", 2, ""),
    (packed(gzip.compress(completion(WHOLE).body), "gzip, gzip"), "ok", 4, ""),
    *[(Answered(body=completion(WHOLE).body, headers=(("Content-Encoding", label),)), "ok", 4, "")
      for label in ("", "utf-8", "identity")],
    (Answered(body=completion(WHOLE).body, headers=(("Content-Encoding", "gzip"),)), "ok", 4, ""),
    (Answered(body=LONG % (b"x" * (LARGEST - len(LONG) + 2))), "ok", 2, ""),
    (packed(LONG % (b"x" * (LARGEST - len(LONG) + 2))), "ok", 2, ""),
]  # fmt: skip
FAILED = [
    # What may pass is tried again at once, what does not by the next command alone. Attempts, what the reason names.
    (1, completion("<S0>half", "error", choice=LOST), "(error): Upstream connection lost"),
    (1, answered(choices=[], usage={"prompt_tokens": 600}), "choices"),
    (1, answered(content=[part(WHOLE)], role="assistant", usage={"input_tokens": 600}), "content, role, usage"),
    (1, answered(choices=[{"index": 0, "delta": {"content": WHOLE}}]), "delta, index"),
    (3, Answered(body=LONG % b"\xfc"), "UTF-8"),
    (1, completion([4]), ""),
    (3, refused("The server had an error", status=500), "HTTP 500: The server had an error"),
    (3, Answered(status=408), "HTTP 408"),
    (3, endpoint.rate_limited(0), "HTTP 429: Rate limit reached"),
    (1, endpoint.rate_limited(3600), "3,600 seconds"),
    (1, refused("No credit", "insufficient_quota", 429), "HTTP 429: No credit"),
    (1, answered(429, error={"message": "Spent", "type": "exceeded_current_quota_error"}), "HTTP 429: Spent"),
    *[(3, refused("Try later", status=status), f"HTTP {status}: Try later") for status in (424, 498, 499, 529)],
    (1, refused("no such thing", "400", 200), "no such thing"),
    (3, refused("no such thing", "502", 200), "no such thing"),
    (3, refused("Upstream is busy", status=200), "Upstream is busy"),
    (3, Answered(dropped=True), "message="),
    (3, Answered(headers=(("X", "x" * 2**18),)), "message="),
    (3, Answered(body=b"\xff\xfe\x00 garbage {"), "UTF-8"),
    (3, Answered(body=b"garbage {"), "JSON"),
    (3, Answered(body=b"\x1f\x8bno gzip"), "(gzip)"),
    (1, Answered(body=b"\x0b\x02\x80{}", headers=(("Content-Encoding", "br"),)), "br"),
    (1, refused("Request too large on tokens per min: Limit 30000, Requested 45000.", "rate_limit_exceeded", 429),
     "HTTP 429: Request too large"),
    (1, packed(LONG % (b"x" * 50 * LARGEST)), TOO_LARGE),
    (1, Answered(body=b"x" * 2**16, endless=True), TOO_LARGE),
    (1, Answered(status=500, body=b"x" * 2**16, endless=True), TOO_LARGE),
    (1, refused("Incorrect API key provided", status=401), "HTTP 401: Incorrect API key"),
    (1, refused("The conversation is not acceptable."), "HTTP 400: The conversation is not acceptable."),
    # What a server says reaches the user.
    (1, answered(404, detail="Not Found"), "HTTP 404: Not Found"),
    (1, answered(422, detail=[{"loc": ["body", "x"], "msg": "Input is bad"}]), "HTTP 422: body.x: Input is bad"),
    (1, answered(400, title="Bad Request", detail="model unknown"), "HTTP 400: model unknown; Bad Request"),
    (1, answered(400, error="invalid", message="who is judge?"), "HTTP 400: who is judge?; invalid"),
    (1, answered(400, errors=[{"message": "first"}, {"message": "second"}]), "HTTP 400: first; second"),
    (1, answered(400, error={"message": "Provider returned error", "metadata": {"raw": "the true reason"}}),
     "HTTP 400: Provider returned error; the true reason"),
    (1, answered(400, response={"body": {"error": {"message": "deep inside"}}}), "HTTP 400: deep inside"),
    (1, answered(400, fault={"faultstring": "no quota", "detail": {"code": 1}}), "HTTP 400: no quota"),
    (1, answered(400, error={"details": [{"@type": "x", "info": {"message": "deeper"}}]}), "HTTP 400: deeper"),
    (1, answered(400, message='{"error": {"message": "JSON in a text"}}'), "HTTP 400: JSON in a text"),
    (1, Answered(status=400, body=b"plain words"), "HTTP 400: plain words"),
    (1, Answered(status=403, body=b"<html><head><style>p {}</style></head><body><h1>Access &amp; more</h1>no.</body>"),
     "HTTP 403: Access & more no."),
]  # fmt: skip


def without_words_of_aiohttp(reason):
    if "message=" in reason or "Cannot connect" in reason:
        return reason.partition(": ")[0]
    return reason


def test_what_replies_come_to_and_how_often_they_are_asked_for(server, study_of, tmp_path):
    """One conversation for each; the first has an answer, else what follows would be taken for another address."""
    expected = [(1, "ok", 4, "")]
    expected += [(1, *row[1:]) for row in REPLIES] + [
        (attempts, "api_error", None, said) for attempts, _, said in FAILED
    ]
    answers = [GOOD, *[row[0] for row in REPLIES], *[answer for _, answer, _ in FAILED]]
    server.script = lambda asked: answers[number_of(asked)]
    study = study_of(len(answers))
    outcome = ask(study, server, tmp_path, give_up_after=99, concurrency=20)
    asked = Counter(map(number_of, server.asked))
    frame = frame_of(outcome)
    for number, (row, wanted) in enumerate(zip(frame.itertuples(), expected, strict=True)):
        attempts, status, score, named = wanted
        assert (asked[number], row.status) == (attempts, status), answers[number]
        assert (None if math.isnan(row.score) else row.score) == score, answers[number]
        assert named in row.reason, answers[number]
    reasons = [without_words_of_aiohttp(reason) for reason in frame["reason"] if reason]
    assert all(reasons)
    assert outcome.stopped == ""
    assert server.sent_endlessly < 2 * (LARGEST + 2**24), "but for what the system's buffers hold"
    # The next command asks for the failures alone.
    failed = {number for number, row in enumerate(expected) if row[1] == "api_error"}
    server.reset()
    again = ask(study, server, tmp_path)
    assert set(map(number_of, server.asked)) == failed
    assert again.statuses == Counter(
        row[1] if number not in failed else "ok" for number, row in enumerate(expected)
    )


def test_a_server_that_is_not_there_is_an_error_with_its_reason(study_of, tmp_path):
    frame = frame_of(ask(study_of(1), "http://127.0.0.1:9/v1", tmp_path))
    assert frame["status"].tolist() == ["api_error"]
    assert "127.0.0.1:9" in frame["reason"][0]
    assert without_words_of_aiohttp(frame["reason"][0])


@pytest.mark.parametrize(
    ("usage", "counted"),
    [
        ({"prompt_tokens": 3, "completion_tokens": 5, "cache_read_input_tokens": 597}, 600),
        ({"prompt_tokens": 600, "completion_tokens": 5, "cache_read_input_tokens": 597}, 600),
        ({"input_tokens": 3, "output_tokens": 5, "cache_creation_input_tokens": 597}, 600),
        ({"prompt_tokens": 3, "completion_tokens": 5}, 3),
    ],
)
def test_tokens_in_a_cache_count_and_a_low_count_is_one_warning_and_no_failure(
    usage, counted, server, study_of, tmp_path
):
    server.script = lambda asked: completion(WHOLE, usage=usage)
    outcome = ask(study_of(3), server, tmp_path)
    assert frame_of(outcome)[["score", "input_tokens"]].to_numpy().tolist() == [[4, counted]] * 3
    assert len(outcome.remarks) == (counted == 3)
    for remark in outcome.remarks:
        naming.check(remark, "3 of 3", 41)


# Another address


@pytest.mark.parametrize(
    ("answer", "named"),
    [
        (
            answered(error="Unexpected endpoint or method. (POST /chat/completions)"),
            "Unexpected endpoint or method.",
        ),
        (answered(404, detail="Not Found"), "HTTP 404: Not Found"),
        (Answered(status=405, body=b"Method Not Allowed"), "HTTP 405: Method Not Allowed"),
        (
            Answered(body=b"<!doctype html><html><body><h1>Welcome</h1></body></html>"),
            "'Welcome'",
        ),
        (Answered(body=b"Ollama is running"), "'Ollama is running'"),
        (Answered(body=b""), "JSON"),
        (Answered(body=b'data: {"choices": []}\n\n'), "'data:"),
        (answered(object="list"), ""),
    ],
    ids=["error", "404", "405", "page", "text", "nothing", "stream", "list"],
)
def test_at_another_address_the_first_call_is_the_last_and_the_address_is_named(
    answer, named, server, study_of, tmp_path
):
    server.script = lambda asked: answer
    outcome = ask(study_of(3), server.address.removesuffix("/v1"), tmp_path)
    assert len(server.asked) == 1
    naming.check(outcome.stopped, "1 of 3", named, f"--base-url {server.address}")


def test_with_the_right_address_it_is_not_named_and_401_stops_as_well(server, study_of, tmp_path):
    server.script = lambda asked: refused("Incorrect API key", status=401)
    stopped = ask(study_of(3), server, tmp_path).stopped
    assert len(server.asked) == 1
    assert "--base-url" not in stopped
    naming.check(stopped, "HTTP 401: Incorrect API key")


@pytest.mark.parametrize(
    ("path", "words", "advice"),
    [
        ("", "model 'judge' not found", ["--model"]),
        (
            "/openai/deployments/judge",
            "The API deployment for this resource does not exist.",
            ["--model"],
        ),
        (
            "/openai/deployments/judge",
            "Resource not found",
            ["/openai/v1", "--model"],
        ),
        ("/api", "Not Found", ["/api/chat/completions"]),
    ],
    ids=["model", "no deployment", "Azure", "api"],
)
def test_the_advice_after_404_names_no_address_that_is_wrong(
    path, words, advice, server, study_of, tmp_path
):
    server.script = lambda asked: answered(404, error={"message": words})
    stopped = ask(study_of(2), server.address.removesuffix("/v1") + path, tmp_path).stopped
    assert len(server.asked) == 1
    naming.check(stopped, "HTTP 404", *advice)
    assert f"{path}/v1" not in stopped.replace("/openai/v1", "")


def test_a_version_of_azure_is_no_credential():
    address = "https://mine.openai.azure.com/openai/deployments/gpt-4o?api-version=2024-10-21"
    with naming.refused(
        "api-version", "https://mine.openai.azure.com/openai/v1", "--model", "--base-url"
    ):
        Address.of(address, {"SENSE7_JUDGE_KEY": "none"})


NO_PROXY = {
    "http://10.20.30.40:8000/v1": {
        True: "10.20.0.0/16 10.20.30.40 10.20.30.40:8000 * localhost,10.0.0.0/8 10.20.30.1/24 10.20.0.0/255.255.0.0",
        False: "10.21.0.0/16 10.20.30.40:80 10.20.30.4 fd00::/8",
    },
    "https://llm.example.org/v1": {
        True: "example.org .example.org EXAMPLE.ORG *.example.org llm.example.org:443 x,llm.example.org a;.org *:443",
        False: "ample.org xllm.example.org llm.example.org:80 llm.example llm.example.org.com",
    },
    "http://[fd00::1]:8000/v1": {
        True: "fd00::/8 fd00::1 [fd00::1] [fd00::1]:8000 fd00:0::1 [fd00::/8]",
        False: "fe80::/10 [fd00::1]:80 ::1 10.0.0.0/8",
    },
    "http://[::ffff:10.1.2.3]/v1": {True: "10.0.0.0/8", False: "11.0.0.0/8"},
}


@pytest.mark.parametrize("address", NO_PROXY)
@pytest.mark.parametrize("excluded", [True, False])
def test_hosts_without_a_proxy_are_read_as_curl_and_requests_do(address, excluded, monkeypatch):
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    monkeypatch.setenv("https_proxy", "http://127.0.0.1:9")
    monkeypatch.delenv("NO_PROXY", raising=False)
    for value in NO_PROXY[address][excluded].split():
        monkeypatch.setenv("no_proxy", value)
        assert (client.proxy_of(Address(address)) is None) == excluded, value


def test_a_certificate_that_nobody_trusts_is_one_sentence_and_one_that_the_user_trusts_enough(
    study_of, tmp_path, monkeypatch
):
    with endpoint.Endpoint(certificate=CERTIFICATE) as secure:
        outcome = ask(study_of(2), secure, tmp_path / "no")
        assert secure.asked == []
        sentence, _, _ = outcome.stopped.partition(" (")  # what follows are the words of OpenSSL
        naming.check(sentence, "1 of 2", "--base-url", "SSL_CERT_FILE")
        monkeypatch.setenv("SSL_CERT_FILE", str(CERTIFICATE))
        assert ssl.create_default_context().get_ca_certs(), "the platform reads the variable"
        assert ask(study_of(2), secure, tmp_path / "yes").statuses == Counter(ok=2)


def test_a_redirect_names_where_it_leads_and_is_not_followed(server, study_of, tmp_path):
    there = (
        ("Location", "https://user:secret@elsewhere.example/v2/chat/completions?token=secret"),
    )
    server.script = lambda asked: Answered(status=308, headers=there)
    outcome = ask(study_of(5), server, tmp_path)
    assert len(server.asked) == 1
    naming.check(outcome.stopped, "HTTP 308", "https://elsewhere.example/v2,", "--base-url")
    assert "secret" not in outcome.stopped
    assert b"secret" not in (tmp_path / JOURNAL).read_bytes()


# How long it asks to wait

NOW = 1767225600.0
BODIES = [
    ([{"error": {"details": [{"@type": "google.rpc.RetryInfo", "retryDelay": "39s"}]}}], 39),
    ({"error": {"details": [{"retryDelay": {"seconds": "12"}}]}}, 12),
    ({"error": {"retry_after": 3.5}}, 3.5),
    ({"retry_after_ms": 1500}, 1.5),
    (
        "Rate limit reached: Limit 30000, Used 29000, Requested 2000. Please try again in 20s. Visit",
        20,
    ),
    ("Please try again in 6m0s.", 360),
    ("Please retry in 34.5s.", 34.5),
    ("Try again in 350ms", 0.35),
    ("Please retry after 20 seconds.", 20),
    ("Please wait 2 minutes and 30 seconds", 150),
    ("You have 3 retries left", None),
]
HEADERS = [
    ({"Retry-After": "1.5"}, 1.5),
    ({"Retry-After": "20s"}, 20),
    ({"retry-after-ms": "1500"}, 1.5),
    ({"Retry-After": "0", "x-ratelimit-reset-requests": "60s"}, 0),
    ({"x-ratelimit-reset-requests": "1s", "x-ratelimit-reset-tokens": "6m0s"}, 360),
    (
        {
            "x-ratelimit-reset-requests": "1m30s",
            "x-ratelimit-remaining-requests": "0",
            "x-ratelimit-reset-tokens": "5m",
        },
        90,
    ),
    (
        {
            "x-ratelimit-reset-requests": "24h",
            "x-ratelimit-remaining-requests": "9",
            "x-ratelimit-reset-tokens": "12s",
        },
        12,
    ),
    ({"x-ratelimit-reset": str(int(NOW) + 30)}, 30),
    ({"x-ratelimit-reset": str((int(NOW) + 30) * 1000)}, 30),
    (
        {
            "anthropic-ratelimit-tokens-reset": "2026-01-01T00:00:25Z",
            "anthropic-ratelimit-tokens-remaining": "0",
        },
        25,
    ),
    ({"RateLimit": "limit=100, remaining=0, reset=50"}, 50),
    ({"RateLimit": '"default";r=0;t=33'}, 33),
    ({"x-ratelimit-limit-tokens": "30000"}, None),
]


@pytest.mark.parametrize(("said", "seconds"), [*BODIES, *HEADERS])
def test_a_wait_is_read_in_any_header_field_or_words(said, seconds):
    headers = {"Date": "Thu, 01 Jan 2026 00:00:00 GMT"}
    is_header = (said, seconds) in HEADERS
    body, words = ({}, "") if is_header else (said, said if isinstance(said, str) else "")
    wait = asked_to_wait(429, headers | said if is_header else headers, body, words)
    assert wait == (seconds if seconds is None else pytest.approx(seconds))


def test_a_wait_said_in_the_body_is_waited_for(server, study_of, tmp_path):
    said = json.dumps([{"error": {"message": "Quota", "details": [{"retryDelay": "1s"}]}}]).encode()
    server.script = lambda asked: Answered(status=429, body=said) if asked.number == 1 else GOOD
    begun = time.monotonic()
    assert ask(study_of(1), server, tmp_path).statuses == Counter(ok=1)
    assert time.monotonic() - begun >= 1


# Parameters and prompts that an endpoint refuses


def test_a_refused_parameter_costs_one_call_and_the_corrected_command_goes_on_in_the_same_folder(
    server, study_of, tmp_path
):
    study, server.script = study_of(6), endpoint.refuses("max_tokens", "temperature")
    outcome = ask(study, server, tmp_path)
    assert (len(server.asked), outcome.final) == (1, True)
    naming.check(outcome.stopped, "max_tokens (HTTP 400", "--param max_completion_tokens=3000")
    corrected = {"param": {"max_completion_tokens": 3000}}
    outcome = ask(study, server, tmp_path, **corrected)
    naming.check(outcome.stopped, "temperature (HTTP 400", "--omit temperature")
    done = ask(study, server, tmp_path, **corrected, omit=["temperature"])
    assert (done.stopped, done.statuses) == ("", Counter(ok=6))
    with naming.refused(tmp_path, 'request: {"max_completion_tokens": 3000}'):
        ask(study, server, tmp_path)
    assert (len(server.asked), set(server.times_answered().values())) == (8, {1})


@pytest.mark.parametrize(
    ("body", "remedy"),
    [
        (endpoint.error_body("Unsupported value", param="temperature"), "--omit temperature"),
        (endpoint.error_body("bad", param="seed"), "--param seed"),
        (
            b'{"error": "Model grok does not support parameter presencePenalty."}',
            "--omit presence_penalty",
        ),
        (
            b'[{"error": {"code": 400, "message": "Unknown name \\"top_p\\": Cannot find field."}}]',
            "--omit top_p",
        ),
        (
            b'{"detail": [{"loc": ["body", "frequency_penalty"], "msg": "not permitted", "input": {"seed": 1}}]}',
            "--omit frequency_penalty",
        ),
    ],
    ids=["OpenAI", "free", "xAI", "Gemini", "pydantic"],
)
def test_whatever_words_a_refusal_has_the_parameter_and_the_remedy_are_named(
    body, remedy, server, study_of, tmp_path
):
    server.script = lambda asked: Answered(status=400, body=body)
    stopped = ask(study_of(3), server, tmp_path, param={"seed": 1}).stopped
    assert stopped.endswith(remedy)
    naming.check(stopped, "HTTP 400")
    assert len(server.asked) == 1


def limit_of(body):
    return body.get("max_tokens", body.get("max_completion_tokens", 0))


ADVICE = {
    "'max_tokens' is too large: 3000. This model's maximum context length is 4096 tokens and your request has 1500 "
    "input tokens (3000 > 4096 - 1500). None": lambda body: limit_of(body) > 2596,
    "This model's maximum context length is 4096 tokens. However, you requested 5000 tokens (2000 in the messages, "
    "3000 in the completion). Please reduce the length of the messages or completion.": lambda body: (
        limit_of(body) > 2096
    ),
    "input length and `max_tokens` exceed context limit: 197000 + 3000 > 199000, decrease input length": (
        lambda body: limit_of(body) > 2000
    ),
    "max_tokens is too large: 3000. This model supports at most 2048 completion tokens.": (
        lambda body: limit_of(body) > 2048
    ),
    "Range of max_tokens should be [1, 1024]": lambda body: limit_of(body) > 1024,
    "Unsupported parameter: 'max_tokens'.": lambda body: "max_tokens" in body,
    "top_p must be less than or equal to 0.9": lambda body: body.get("top_p", 0) > 0.9,
    "'temperature' does not support 0.0 with this model. Only the default (1) value is supported.": (
        lambda body: "temperature" in body
    ),
    "temperature must be greater than 0": lambda body: body.get("temperature") == 0,
}
"""What an endpoint says -> which requests it refuses with these words."""


@pytest.mark.parametrize("words", ADVICE)
def test_advice_works_when_it_is_followed(words, server, study_of, tmp_path):
    server.script = lambda asked: refused(words) if ADVICE[words](asked.body) else GOOD
    outcome = ask(study_of(3), server, tmp_path)
    assert (len(server.asked), outcome.statuses["parse_failure"]) == (1, 0)
    option, name, value = re.findall(r"--(param|omit) (\w+)(?:=([\w.]+))?", outcome.stopped)[-1]
    option = {"omit": [name]} if option == "omit" else {"param": {name: json.loads(value)}}
    assert ask(study_of(3), server, tmp_path, **option).statuses == Counter(ok=3)


# The key is nowhere

HARD = 'sk-A/b+c=d&_0123<9%>"x\\z~'
"""A key in which most encodings change something."""


def base64_of(before, after="", alphabet=base64.b64encode):
    return alphabet(f"{before}{HARD}{after}".encode()).decode()


def quoted(times):
    return functools.reduce(lambda said, _: urllib.parse.quote(said, safe=""), range(times), HARD)


ENCODINGS = {
    "plain": HARD,
    "JSON": json.dumps(HARD)[1:-1],
    "JSON with escaped slashes": json.dumps(HARD)[1:-1].replace("/", "\\/"),
    "JSON of JSON": json.dumps(json.dumps(json.dumps(HARD))),
    "\\u of every character": "".join(f"\\u{ord(c):04x}" for c in HARD),
    "\\u003d": HARD.replace("=", "\\u003d"),
    **{f"URL, {times} times": quoted(times) for times in (1, 2, 3)},
    "URL of every character": "".join(f"%{ord(c):02{'xX'[n % 2]}}" for n, c in enumerate(HARD)),
    "Bearer": base64_of("Bearer "),
    **{f"Base64 after {n}": base64_of("." * n, "?" * n) for n in range(4)},
    **{f"Base64 without padding after {n}": base64_of("." * n).rstrip("=") for n in range(3)},
    **{
        f"URL-safe Base64 after {n}": base64_of("." * n, alphabet=base64.urlsafe_b64encode)
        for n in range(3)
    },
    "Base64 in JSON": base64_of("").replace("/", "\\/"),
    "capitals": HARD.upper(),
    "hexadecimal": HARD.encode().hex(),
    "hexadecimal with blanks": HARD.encode().hex(" ").upper(),
    "bytes": "".join(f"\\x{ord(c):02x}" for c in HARD),
    "quoted-printable": "".join(f"={ord(c):02X}" for c in HARD),
    "HTML": html.escape(HARD),
    "entities": "".join(f"&#{ord(c)};" for c in HARD),
    "hexadecimal entities": "".join(f"&#x{ord(c):X};" for c in HARD),
    "split by tags": "<wbr>".join(HARD),
    "split by a tag": f"{HARD[:7]}<b class='x'>{HARD[7:]}",
    "split by lines": f"{HARD[:9]}\n{HARD[9:]}",
    "split by what is not seen": "\u200b".join(HARD),
}
assert {"/", "+"} <= set(
    "".join(said for name, said in ENCODINGS.items() if name.startswith("Base64"))
)


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_the_key_is_taken_out_in_any_encoding(encoding):
    left = Address("http://localhost", key=HARD).without_key(f"before {ENCODINGS[encoding]} after")
    around = re.fullmatch(r"before (.*)\[key\](.*) after", left)
    assert around, left
    assert max(map(len, around.groups())) <= 12, "less than any encoding of half of it"


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
    scored, problem = f"<S0>{KEY}</S0><S2>2</S2>", f"said {KEY}".encode()
    answers = [
        completion(scored),
        completion(None, refusal=KEY),
        answered(
            choices=[{"message": {"content": scored}, "finish_reason": KEY}], model=KEY, id=KEY
        ),
        refused(KEY),
        refused(KEY, "content_filter"),
        Answered(body=problem),
        Answered(status=429, headers=(("Retry-After", "3600"),), body=problem),
        Answered(status=308, headers=(("Location", f"https://host.example/{KEY}"),)),
    ]
    server.script = lambda asked: answers[number_of(asked)]
    outcome = ask(study_of(len(answers)), server, tmp_path, retries=0, concurrency=1)
    assert {asked.headers["authorization"] for asked in server.asked} == {f"Bearer {KEY}"}
    texts = [*texts_in(tmp_path), outcome.stopped]
    assert not [text for text in texts if KEY in text]
    masked = ["[key]" in repr(answer) for answer in kept_in(tmp_path).values()]
    assert masked == [True] * len(answers)


def test_a_key_in_another_form_is_withheld_with_its_text_and_half_a_key_at_a_cut_is_none(
    server, study_of, tmp_path, monkeypatch
):
    monkeypatch.setenv("SENSE7_JUDGE_KEY", KEY)
    in_utf_16 = base64.b64encode(f"Bearer {KEY}".encode("utf-16-le")).decode()
    padding = "<html>" + " " * (19_990 - 6)
    answers = [
        completion(WHOLE),
        refused(f"dump {in_utf_16}"),
        refused(f"Incorrect key {KEY[:-4]}****"),
        Answered(body=f"{padding}{KEY}</html>".encode()),
        Answered(body=completion(WHOLE).body, headers=(("Content-Encoding", KEY),)),
        Answered(body=b"\x0b", headers=(("Content-Encoding", KEY.upper()),)),
        Answered(status=302, headers=(("Location", f"https://{KEY}.example/x"),)),
    ]
    server.script = lambda asked: answers[number_of(asked)]
    outcome = ask(study_of(len(answers)), server, tmp_path, retries=0, concurrency=1)
    for text in [*texts_in(tmp_path), outcome.stopped]:
        assert KEY[3:15] not in text.casefold()
        assert in_utf_16[:30] not in text


def test_a_placeholder_for_a_key_is_a_word_like_others():
    assert (
        Address("http://localhost", key="ollama").without_key("the ollama server")
        == "the ollama server"
    )
