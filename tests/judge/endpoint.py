"""A loopback server that plays an OpenAI-compatible endpoint, with faults by script.

It records what it was asked and what it answered. It stops when its block is left:

    with Endpoint(lambda asked: Answer(status=500) if asked.time == 1 else GOOD) as endpoint:
        ... endpoint.address ...
"""

import asyncio
import contextlib
import json
import threading
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from time import monotonic as now

MODEL_RETURNED = "judge-2026-01-01"
FINGERPRINT = "fp_loopback"
USAGE = {"prompt_tokens": 200, "completion_tokens": 30, "total_tokens": 230}


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
    endless: bool = False
    """Whether the body is sent again and again, for as long as it is read."""


GOOD = Answer()


def rate_limited(seconds) -> Answer:
    return Answer(status=429, headers=(("Retry-After", str(seconds)),), body=error_body("Rate limit reached"))


def error_body(message, code=None) -> bytes:
    return json.dumps({"error": {"message": message, "type": "error", "param": None, "code": code}}).encode()


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


class Endpoint:
    """The server, in a thread of its own."""

    def __init__(self, script: Callable[[Asked], Answer] = lambda asked: GOOD, *, latency: float = 0.0):
        self.script = script
        self.latency = latency
        self.asked: list[Asked] = []
        self.answered: list[int] = []
        """Numbers of the requests whose whole answer (status 200) was handed to the network."""
        self.most_at_once = 0
        self.sent_endlessly = 0
        """Bytes of endless answers."""
        self._open = 0
        self._times = Counter()

    def __enter__(self):
        started = threading.Event()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._serve(started)), daemon=True)
        self._thread.start()
        assert started.wait(10)
        return self

    def __exit__(self, *_):
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join(10)

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    def times_answered(self) -> Counter:
        """How many whole answers each prompt got."""
        prompts = {asked.number: asked.prompt for asked in self.asked}
        return Counter(prompts[number] for number in self.answered)

    async def _serve(self, started):
        self._loop, self._stop = asyncio.get_running_loop(), asyncio.Event()
        tasks = set()

        async def connection(reader, writer):
            tasks.add(asyncio.current_task())
            try:
                with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError):
                    while await self._exchange(reader, writer):
                        pass
            except asyncio.CancelledError:
                pass
            finally:
                writer.close()
                tasks.discard(asyncio.current_task())

        server = await asyncio.start_server(connection, "127.0.0.1", 0, backlog=500)
        self.port = server.sockets[0].getsockname()[1]
        started.set()
        await self._stop.wait()
        server.close()
        for task in list(tasks):
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _exchange(self, reader, writer) -> bool:
        """One request and its answer; False when the connection is at its end."""
        first = await reader.readline()
        if not first:
            return False
        headers = {}
        while (line := (await reader.readline()).decode().strip()) != "":
            name, _, value = line.partition(":")
            headers[name.lower()] = value.strip()
        body = json.loads(await reader.readexactly(int(headers.get("content-length", 0))) or b"{}")
        prompt = next((m["content"] for m in body.get("messages", []) if m["role"] == "user"), "")
        self._times[prompt] += 1
        asked = Asked(len(self.asked) + 1, prompt, self._times[prompt], first.decode().split()[1], headers, body, now())
        self.asked.append(asked)
        self._open += 1
        self.most_at_once = max(self.most_at_once, self._open)
        try:
            answer = self.script(asked)
            await asyncio.sleep(self.latency + answer.wait)
        finally:
            self._open -= 1
        content = answer.body if answer.body is not None else self._completion(asked, answer)
        length = "Connection: close" if answer.endless else f"Content-Length: {len(content)}"
        head = f"HTTP/1.1 {answer.status} Answer\r\nContent-Type: application/json\r\n{length}\r\n"
        head += "".join(f"{name}: {value}\r\n" for name, value in answer.headers)
        if answer.dropped:
            writer.write(head.encode() + b"\r\n" + content[: len(content) // 2])
            await writer.drain()
            writer.transport.abort()
            return False
        if reader.at_eof():  # the client has gone: it waited long enough
            return False
        writer.write(head.encode() + b"\r\n" + content)
        await writer.drain()
        while answer.endless:
            self.sent_endlessly += len(content)
            writer.write(content)
            await writer.drain()
        if answer.status == 200:
            self.answered.append(asked.number)
        return True

    @staticmethod
    def _completion(asked, answer) -> bytes:
        said = [words and words.replace("NUMBER", str(asked.number)) for words in (answer.text, answer.refusal)]
        message = {"role": "assistant", "content": said[0], "refusal": said[1]}
        completion = {
            "id": f"chatcmpl-{asked.number}",
            "object": "chat.completion",
            "created": 1767225600,
            "model": MODEL_RETURNED,
            "system_fingerprint": FINGERPRINT,
            "choices": [{"index": 0, "message": message, "logprobs": None, "finish_reason": answer.finish}],
            "usage": USAGE,
        }
        return json.dumps(completion).encode()
