"""An OpenAI-compatible endpoint that answers by script, within the process or as a server on the loopback.

It records what it was asked and what it answered. The server stops when its block is left:

    with Endpoint(lambda asked: Answer(status=500) if asked.time == 1 else GOOD) as endpoint:
        ... endpoint.address ...
"""

import asyncio
import contextlib
import json
import re
import threading
import zlib
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.util import find_spec
from time import monotonic as now

import pytest

MODEL_RETURNED = "judge-2026-01-01"
FINGERPRINT = "fp_loopback"
PROMPT_TOKENS = 200
"""What is counted of a short prompt; of a longer one a quarter of its characters."""


@dataclass(frozen=True)
class Answer:
    """What the endpoint does with one request.

    ``text`` and ``refusal`` may hold NUMBER, which becomes the number of the request: no answer is like another.
    """

    text: str | None = "<S0>Reasoning NUMBER.</S0><S2>4</S2>"
    finish: str = "stop"
    refusal: str | None = None
    status: int = 200
    headers: tuple[tuple[str, str], ...] = ()
    body: bytes | None = None
    """Sent in place of the JSON."""
    wait: float = 0.0
    """Seconds before the first byte."""
    dropped: bool = False
    """Whether the connection ends in the midst of the body."""


GOOD = Answer()


def rate_limited(seconds) -> Answer:
    return Answer(
        status=429, headers=(("Retry-After", str(seconds)),), body=error_body("Rate limit reached")
    )


def error_body(message, code=None, param=None) -> bytes:
    return json.dumps(
        {"error": {"message": message, "type": "error", "param": param, "code": code}}
    ).encode()


def rates(asked) -> Answer:
    """A script that plays a model which rates as the prompt says: the same words get the same levels.

    A dimension does not apply where a digest of the prompt and its name says so, in about a third of the cases.
    """
    said = {"reasoning": f"Reasoning {asked.number}."}
    for name in re.findall(r"^- (\w+): ", asked.prompt, re.MULTILINE):
        number = zlib.crc32(f"{asked.prompt} {name}".encode())
        has_none = name != "overall" and number % 3 == 0
        said[name] = "not applicable" if has_none else number % 5 + 1
    return Answer(text=json.dumps(said))


def refuses(*names):
    """A script: an endpoint that refuses parameters as OpenAI's does, one after the other."""

    def script(asked):
        for name in names:
            if name in asked.body:
                said = f"Unsupported parameter: '{name}' is not supported with this model."
                return Answer(status=400, body=error_body(said, "unsupported_parameter", name))
        return GOOD

    return script


@dataclass(frozen=True)
class Asked:
    """One request: its number (1, 2, ..), its prompt, how often that prompt was asked so far, and all it held."""

    number: int
    prompt: str
    time: int
    path: str
    headers: dict[str, str]
    body: dict
    at: float
    """Seconds, of the monotonic clock."""


class Played:
    """An endpoint by script, and what it was asked and answered."""

    def __init__(
        self, script: Callable[[Asked], Answer] = lambda asked: GOOD, *, latency: float = 0.0
    ):
        self.script = script
        self.latency = latency
        self.asked: list[Asked] = []
        self.answered: list[int] = []
        """Numbers of the requests whose whole answer (status 200) was handed to the network."""
        self.most_at_once = 0
        self._times, self._under_way, self._counting = Counter(), 0, threading.Lock()

    def times_answered(self) -> Counter:
        """How many whole answers each prompt got."""
        prompts = {asked.number: asked.prompt for asked in self.asked}
        return Counter(prompts[number] for number in self.answered)

    async def answer(self, path, headers, content) -> tuple[Asked, Answer, bytes]:
        """Record a request, wait, and give what the script answers, and its body."""
        body = json.loads(content or b"{}")
        prompt = next((m["content"] for m in body.get("messages", []) if m["role"] == "user"), "")
        with self._counting:
            self._times[prompt] += 1
            number = len(self.asked) + 1
            asked = Asked(number, prompt, self._times[prompt], path, headers, body, now())
            self.asked.append(asked)
            self._under_way += 1
            self.most_at_once = max(self.most_at_once, self._under_way)
        try:
            answer = self.script(asked)
            await asyncio.sleep(self.latency + answer.wait)
        finally:
            with self._counting:
                self._under_way -= 1
        if answer.body is not None:
            return asked, answer, answer.body
        return asked, answer, self._completion(asked, answer)

    @staticmethod
    def _completion(asked, answer) -> bytes:
        said = [
            words and words.replace("NUMBER", str(asked.number))
            for words in (answer.text, answer.refusal)
        ]
        message = {"role": "assistant", "content": said[0], "refusal": said[1]}
        counted = max(PROMPT_TOKENS, len(asked.prompt) // 4)
        completion = {
            "id": f"chatcmpl-{asked.number}",
            "object": "chat.completion",
            "created": 1767225600,
            "model": MODEL_RETURNED,
            "system_fingerprint": FINGERPRINT,
            "choices": [{"index": 0, "message": message, "finish_reason": answer.finish}],
            "usage": {
                "prompt_tokens": counted,
                "completion_tokens": 30,
                "total_tokens": counted + 30,
            },
        }
        return json.dumps(completion).encode()


class InProcess(Played):
    """An endpoint behind the ``openai`` client's own transport: no socket, no thread."""

    address = "http://127.0.0.1:8000/v1"

    def connect(self, monkeypatch):
        """Have every client of the process reach this endpoint, whatever its address."""
        import httpx2
        import openai

        async def handle(request):
            headers = dict(request.headers)
            asked, answer, content = await self.answer(request.url.path, headers, request.content)
            if answer.dropped:
                raise httpx2.ReadError("the peer has gone", request=request)
            if answer.status == 200:
                self.answered.append(asked.number)
            return httpx2.Response(answer.status, headers=answer.headers, content=content)

        client = partial(openai.DefaultAsyncHttpxClient, transport=httpx2.MockTransport(handle))
        monkeypatch.setattr(openai, "DefaultAsyncHttpxClient", client)
        return self


class Endpoint(Played):
    """The server, with a thread for each connection."""

    def __enter__(self):
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                headers = {name.lower(): value for name, value in self.headers.items()}
                asked, answer, content = asyncio.run(outer.answer(self.path, headers, body))
                self.close_connection = answer.dropped
                self.send_response(answer.status)
                for name, value in answer.headers:
                    self.send_header(name, value)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content[: len(content) // 2] if answer.dropped else content)
                if answer.status == 200 and not answer.dropped:
                    outer.answered.append(asked.number)

            do_CONNECT = do_POST
            """Where it plays a proxy."""

            def handle(self):
                with contextlib.suppress(ConnectionError):  # the client has gone
                    super().handle()

            def log_message(self, *_):
                pass

        class Server(ThreadingHTTPServer):
            request_queue_size = 500

        self._http = Server(("127.0.0.1", 0), Handler)
        self.port = self._http.server_address[1]
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.01,))
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"


def need_the_judge():
    """Skip a test, or a file of tests, without the extra that asks a judge."""
    if find_spec("openai") is None:
        pytest.skip("the extra judge is not installed", allow_module_level=True)
