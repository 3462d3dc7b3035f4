"""A session whose endpoint is a server on the loopback: kills, proxies, and nobody else is spoken to."""

import signal
import socket
import subprocess
import sys
import zlib
from pathlib import Path

import pytest

from helpers import endpoint, naming
from helpers.endpoint import need_the_judge
from helpers.interrupting import CODES
from helpers.judged import ask, kept_in, said_in
from helpers.studies import write_study

need_the_judge()

Answered, GOOD = endpoint.Answer, endpoint.GOOD
RATE_LIMITED = endpoint.rate_limited(0)
BUSY = Answered(status=503, headers=(("Retry-After", "0"),), body=b"busy")
SENSE7 = Path(sys.executable).with_name("sense7")


@pytest.fixture
def server():
    with endpoint.Endpoint() as running:
        yield running


CALLS, AT_ONCE = 320, 20
ENDINGS = {60: signal.SIGKILL, 140: signal.SIGINT, 220: signal.SIGTERM}
"""Number of the request at which the session is ended -> how."""

FAULTS = (RATE_LIMITED, BUSY, Answered(dropped=True), Answered(body=b'{"choices": ['))


def test_whatever_ends_a_session_each_answer_is_kept_once(server, minimal_sheets, tmp_path):
    """Some calls meet HTTP 429, 503, 400, drops, slow and broken replies."""
    conversations = CALLS // 4
    path, out = tmp_path / "data.xlsx", tmp_path / "out"
    said = {"Content": said_in(conversations)}
    write_study(minimal_sheets(conversations=conversations, turns=1, messages=said), path)
    arguments = [SENSE7, "judge", "run", "--data", path, "--model", "judge", "--out", out, "--yes"]
    arguments += ["--base-url", server.address, "--concurrency", AT_ONCE, "--runs", 4]
    arguments = list(map(str, arguments))
    ending = {}

    def script(asked):
        for number, how in ending.items():
            if asked.number == number:
                process.send_signal(how)
        chance = zlib.crc32(f"{asked.prompt} {asked.time}".encode()) % 100
        if chance < 8 and asked.number > 1:
            return FAULTS[chance % 4]
        if chance == 8 and asked.number > 1:
            return Answered(status=400, body=endpoint.error_body("not acceptable"))
        return Answered(wait=0.2) if chance == 9 else GOOD

    server.script = script
    before = {}
    for times, (number, how) in enumerate(ENDINGS.items(), 1):
        ending.clear()
        ending[number] = how
        process = subprocess.Popen(
            arguments, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
        )
        _, err = process.communicate(timeout=300)
        assert process.returncode == CODES[how], err
        assert "Traceback" not in err
        kept = kept_in(out)
        assert before.items() <= kept.items(), "an answer is lost, or was replaced"
        assert len(server.answered) - len(kept) <= AT_ONCE * times
        before = kept
    ending.clear()
    server.script = lambda asked: GOOD  # what has no answer is asked for again by the same command
    done = subprocess.run(arguments, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    kept = kept_in(out)
    assert before.items() <= kept.items()
    assert {entry[2] for entry in kept} == {1}, "nothing was bought twice"
    assert len(kept) == CALLS
    # What was bought more often than it is kept was under way when it was ended.
    assert len(server.answered) - CALLS <= AT_ONCE * len(ENDINGS)


def test_nobody_but_the_endpoint_is_spoken_to(server, study_of, tmp_path, monkeypatch):
    reached, connect = set(), socket.socket.connect
    monkeypatch.setattr(
        socket.socket, "connect", lambda self, to: (reached.add(to), connect(self, to))[1]
    )
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    ask(study_of(2), server, tmp_path)
    assert {to for to in reached if isinstance(to, tuple)} == {("127.0.0.1", server.port)}


@pytest.mark.parametrize(
    ("scheme", "proxy"),
    [("http", "127.0.0.1:{port}"), ("https", "127.0.0.1:{port}"), ("http", "127.0.0.1:9")],
)
def test_a_refusing_proxy_is_named(scheme, proxy, server, study_of, tmp_path, monkeypatch):
    proxy = proxy.format(port=server.port)
    monkeypatch.setenv(f"{scheme}_proxy", f"http://user:secret@{proxy}")
    monkeypatch.setenv("SENSE7_JUDGE_KEY", "none")
    server.script = lambda asked: Answered(status=407, body=b"Proxy Authentication Required")
    outcome = ask(study_of(3), f"{scheme}://judge.example/v1", tmp_path)
    naming.check(outcome.stopped, "1 of 3", "proxy", proxy)
    written = [path.read_bytes() for path in tmp_path.iterdir()]
    assert not [text for text in [*written, outcome.stopped.encode()] if b"secret" in text]


def test_a_proxy_is_named_without_its_password(server, study_of, tmp_path, monkeypatch):
    monkeypatch.setenv("SENSE7_JUDGE_KEY", "none")
    monkeypatch.setenv("http_proxy", "socks5://user:secret@127.0.0.1:1080")
    with naming.refused("HTTP_PROXY", "NO_PROXY") as caught:
        ask(study_of(1), "http://judge.example/v1", tmp_path)
    assert "secret" not in str(caught.value)
    ask(study_of(1), server, tmp_path / "here")  # an endpoint on this machine needs no proxy
