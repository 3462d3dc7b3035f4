"""How requests are sent: by inspect_ai's models, which limit what runs at once and retry.

Not by a whole evaluation of inspect_ai's: its care for each sample takes several times the processor's time of the
call itself. Its logs are written from the journal instead, see :mod:`sense7.judge.logs`. inspect_ai and openai are the
optional extra ``judge``: they are imported when requests are to be sent, so that all else works without them.
"""

import asyncio
import contextlib
import email.utils
import itertools
import json
import signal
import threading
import time
import zlib
from collections import Counter
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from sense7.errors import UserError
from sense7.files import one_line
from sense7.judge.answers import FILTERED, NOT_ASKED, Answer, describe_reply, filter_refusal, now, read_completion
from sense7.judge.endpoint import OPENAI_KEY, Endpoint
from sense7.judge.journal import Journal
from sense7.judge.logs import undisturbed
from sense7.terminal import count_of

if TYPE_CHECKING:
    from sense7.judge.run import Plan

__all__ = ["Session", "Tally"]

LONGEST_BACKOFF = 60.0
"""Seconds between two attempts, unless the endpoint asks for more."""

LONGEST_WAIT = 600.0
"""Seconds that an endpoint may ask to be waited for (Retry-After); a call that should wait longer has failed."""

LARGEST_REPLY = 2 * 2**20
"""Bytes of a response, unpacked. A reply of as many tokens as a request allows has some thousands."""

WORTH_SAYING = 3.0
"""Seconds of a wait before a further attempt from which it is said when it begins."""

SILENCE = 10.0
"""Seconds without a reply to any request after which that is said; three times the slowest reply if that is longer."""

_LONGEST_REASON = 300
_PROVIDER = "sense7"


@dataclass
class Tally:
    """How far a session is.

    Attributes
    ----------
    total : int
        Calls of this session.
    statuses : Counter
        What became of those that are over, by status.
    input_tokens, output_tokens : int
        As the endpoint counted them.
    uncounted : int
        Answers without counts of tokens.
    cost : float or None
        Of these tokens; None if prices are not known.
    seconds : float
        Since the first call.
    """

    total: int
    statuses: Counter = field(default_factory=Counter)
    input_tokens: int = 0
    output_tokens: int = 0
    uncounted: int = 0
    cost: float | None = None
    seconds: float = 0.0

    @property
    def done(self) -> int:
        """Calls that are over."""
        return self.statuses.total()

    @property
    def rate(self) -> float:
        """Calls a second."""
        return self.done / self.seconds if self.seconds > 0 else 0.0

    def line(self) -> str:
        """Say it in one line."""
        by_status = ", ".join(f"{status} {count:,}" for status, count in sorted(self.statuses.items()))
        tokens = f"{self.input_tokens:,} + {self.output_tokens:,} tokens"
        if self.uncounted:
            tokens += f" ({self.uncounted:,} replies without a count)"
        cost = "" if self.cost is None else f"; cost {self.cost:,.2f}"
        calls = f"{self.done:,}/{self.total:,} calls, {self.rate:.1f} a second"
        return "; ".join(filter(None, (calls, by_status, tokens))) + cost


class _Unanswered(Exception):
    """An attempt that brought no answer; ``again`` says whether another may, ``silent`` that nothing at all came."""

    def __init__(
        self, reason: str, *, again: bool, wait: float | None = None, limited: bool = False, silent: bool = False
    ):
        super().__init__(reason)
        self.again, self.wait, self.limited, self.silent = again, wait, limited, silent


@dataclass
class _Call:
    """A request under way: what its attempts come to."""

    conversation: str
    run: int
    attempts: int = 0
    seconds: float = 0.0
    """In its attempts so far, without the waits between them."""
    failure: str = ""
    answer: Answer | None = None


class _Waits:
    """Says at once when the user has to wait: before a further attempt, or for requests that bring no reply.

    Parameters
    ----------
    say : callable
        Called with one line.
    timeout : float
        Seconds after which a call without a reply is given up.
    """

    def __init__(self, say: Callable[[str], None], timeout: float):
        self._say, self._timeout = say, timeout
        self._under_way: list[float] = []
        self._heard = self._slowest = 0.0
        self._replied = time.monotonic()
        self._said_until = 0.0

    @contextlib.contextmanager
    def request(self) -> Iterator[None]:
        """While a request is under way."""
        begun = time.monotonic()
        self._under_way.append(begun)
        try:
            yield
            self._slowest = max(self._slowest, time.monotonic() - begun)
            self._replied = time.monotonic()
        except _Unanswered as failed:
            self._replied = self._replied if failed.silent else time.monotonic()
            raise
        finally:
            self._under_way.remove(begun)
            self._heard = time.monotonic()

    @property
    def is_silent(self) -> bool:
        """Whether the endpoint has sent nothing for as long as a call may take."""
        return time.monotonic() - self._replied >= self._timeout

    def before_attempt(self, seconds: float, why: str) -> None:
        """Say that a wait begins, unless one as long was said: requests at once are often refused together."""
        until = time.monotonic() + seconds
        if seconds >= WORTH_SAYING and until > self._said_until + WORTH_SAYING:
            self._said_until = until
            self._say(f"waiting {seconds:,.0f} seconds before the next attempt: {why}")

    async def watch(self) -> None:
        """Say, once in each silence, that requests bring no reply."""
        import anyio

        said = None
        while True:
            await anyio.sleep(SILENCE / 20)
            if not self._under_way or said == self._heard:
                continue
            silence = time.monotonic() - max(self._heard, min(self._under_way))
            if silence >= max(SILENCE, 3 * self._slowest):
                said = self._heard
                requests = count_of(len(self._under_way), "request")
                self._say(
                    f"{requests} without a reply for {silence:,.0f} seconds; a call is given up after "
                    f"{self._timeout:g} seconds (--timeout)"
                )


_current: ContextVar[_Call] = ContextVar("call")
_sessions = itertools.count(1)


class Session:
    """The calls of a plan that are not answered yet.

    Attributes
    ----------
    pending : list of (str, int)
        Conversation and run of each, run by run.
    tally : Tally
        How far it is.
    sent : int
        Calls of which a request was sent.
    stopped : str
        Why no more are sent; "" if all were.
    """

    def __init__(self, plan: "Plan", journal: Journal, progress: Callable[[Tally], None], say: Callable[[str], None]):
        self.plan, self.journal, self.progress, self.say = plan, journal, progress, say
        names, runs = plan.questions.conversations, range(1, plan.runs + 1)
        self.pending = [(name, run) for run in runs for name in names if not journal.is_answered(name, run)]
        self.tally = Tally(len(self.pending), cost=None if plan.estimate.prices is None else 0.0)
        self.sent = 0
        self.stopped = ""
        self._broken: UserError | None = None
        self._unusable = 0
        self._terminated = False
        self._cancel: Callable[[], object] = _nothing
        self._begun = time.monotonic()
        self.waits = _Waits(say, plan.timeout)

    def run(self) -> None:
        """Send them.

        Raises
        ------
        UserError
            If an answer can't be kept.
        KeyboardInterrupt
            If the user ends it.
        """
        import anyio

        with undisturbed(), self._sigterm_after_the_loop():
            anyio.run(self._send_all)
        if self._broken:
            raise self._broken

    @contextlib.contextmanager
    def _sigterm_after_the_loop(self) -> Iterator[None]:
        """Let SIGTERM cancel what is under way, and call its handler, if it has one, when the event loop has ended.

        The handler may raise an exception, which in the middle of the loop's own work could leave it waiting forever.
        """
        handler = signal.getsignal(signal.SIGTERM)
        if not callable(handler) or threading.current_thread() is not threading.main_thread():
            yield
            return

        def cancel(_number, _frame) -> None:
            self._terminated = True
            self._cancel()

        signal.signal(signal.SIGTERM, cancel)
        try:
            yield
        finally:
            signal.signal(signal.SIGTERM, handler)
            if self._terminated:
                handler(signal.SIGTERM, None)

    async def _send_all(self) -> None:
        import anyio
        from inspect_ai.model import GenerateConfig, get_model

        plan = self.plan
        config = GenerateConfig(**plan.questions.parameters, max_retries=plan.retries, max_connections=plan.concurrency)
        _register_provider(self)
        model = get_model(
            f"{_PROVIDER}/{plan.questions.model}", base_url=plan.endpoint.address, config=config, memoize=False
        )
        self._begun = time.monotonic()
        pending = iter(self.pending)
        async with model, anyio.create_task_group() as watched:
            watched.start_soon(self.waits.watch)
            async with anyio.create_task_group() as group:
                loop = asyncio.get_running_loop()
                self._cancel = lambda: loop.call_soon_threadsafe(group.cancel_scope.cancel)
                for _ in range(min(plan.concurrency, len(self.pending))):
                    group.start_soon(self._send, model, pending)
            self._cancel = _nothing
            watched.cancel_scope.cancel()

    async def _send(self, model, pending: Iterator[tuple[str, int]]) -> None:
        """Send one request after the other, as long as there are any that no other worker has taken."""
        import anyio

        for conversation, run in pending:
            if self.stopped or self._terminated:
                return
            call, error = _Call(conversation, run), None
            _current.set(call)
            try:
                await model.generate([])  # the provider knows what is asked, to the letter
            except anyio.get_cancelled_exc_class():
                if self.stopped and call.attempts:  # else the user interrupted
                    self._finish(call, None)
                raise
            except Exception as caught:  # whatever it is, it is this call's failure and not the session's end
                error = caught
            self._finish(call, error)
            try:
                with anyio.CancelScope(shield=True):
                    await anyio.to_thread.run_sync(self.journal.sync)
            except UserError as error:
                self._break(error)

    def receive(self, call: _Call, seconds: float, **returned) -> None:
        """Keep an answer, first of all."""
        call.answer = self._answer(call, seconds=round(seconds, 4), **returned)
        self._add(call.answer)

    def wait(self, call: _Call, error: BaseException | None, attempt: int) -> float:
        """Seconds to wait before the next attempt; the user is told of a long one, if there is a next attempt."""
        seconds = _wait(error, attempt, self.plan.backoff, call)
        if attempt <= self.plan.retries:
            self.waits.before_attempt(seconds, str(error))
        return seconds

    def _finish(self, call: _Call, error: Exception | None) -> None:
        """Note what became of a call. An answer is in the journal already, since the moment it came."""
        answer = call.answer
        if answer is None:
            said = call.failure or (one_line(error) if error else "no answer")
            answer = self._answer(call, error=_short(said, self.plan.endpoint))
            self._add(answer)
        self._count(answer)
        self._unusable = 0 if answer.reply.status == "ok" else self._unusable + 1
        if self._unusable >= self.plan.give_up_after and not self.stopped:
            number = count_of(self._unusable, "reply in a row", "replies in a row")
            self.stopped = f"{number} could not be used; the last: {describe_reply(answer.reply)}"
            if self.waits.is_silent:  # what is under way would only be waited for
                self._cancel()

    def _answer(self, call: _Call, **known) -> Answer:
        sha256 = self.plan.questions.request_sha256(call.conversation)
        return Answer(call.conversation, call.run, sha256, attempts=call.attempts, time=now(), **known)

    def _add(self, answer: Answer) -> None:
        try:
            self.journal.add(answer)
        except UserError as error:
            self._break(error)

    def _break(self, error: UserError) -> None:
        """Send no more: answers that can't be kept must not be paid for."""
        self._broken = self._broken or error
        self.stopped = self.stopped or NOT_ASKED

    def _count(self, answer: Answer) -> None:
        tally = self.tally
        tally.statuses[answer.reply.status] += 1
        if answer.error is None:
            tally.uncounted += answer.input_tokens is None or answer.output_tokens is None
            tally.input_tokens += answer.input_tokens or 0
            tally.output_tokens += answer.output_tokens or 0
        if tally.cost is not None:
            tally.cost = self.plan.estimate.prices.cost(tally.input_tokens, tally.output_tokens)
        tally.seconds = time.monotonic() - self._begun
        self.progress(replace(tally, statuses=Counter(tally.statuses)))


def _nothing() -> None:
    """What is cancelled where nothing is under way."""


def _register_provider(session: Session) -> None:
    """Tell inspect_ai how to send one request.

    Not its own provider for OpenAI-compatible endpoints: for some models that renames max_tokens, it cuts
    reasoning out of replies, drops the fingerprint, and waits between attempts whatever Retry-After says.
    """
    from inspect_ai.model import ModelAPI, ModelOutput, RetryDecision, modelapi

    plan = session.plan
    key = f"session {next(_sessions)}"

    @modelapi(name=_PROVIDER)
    class Provider(ModelAPI):
        def __init__(self, model_name, base_url=None, api_key=None, config=None, **arguments):
            super().__init__(model_name, base_url, None, [], config)
            self.client = _client(plan.endpoint)

        async def generate(self, input, tools, tool_choice, config):
            call = _current.get()
            call.attempts += 1
            session.sent += call.attempts == 1
            begun = time.monotonic()
            try:
                with session.waits.request():
                    returned = await _attempt(self.client, session, call)
            except _Unanswered as failed:
                call.failure = str(failed)
                raise
            finally:
                call.seconds += time.monotonic() - begun
            session.receive(call, time.monotonic() - begun, **returned)
            return ModelOutput(model=self.model_name)  # the answer is in the journal

        def connection_key(self):
            return key  # of its own: inspect_ai keeps the limit that a key had at first for the whole process

        def should_retry(self, ex):
            if not isinstance(ex, _Unanswered) or not ex.again:
                return False
            return RetryDecision.rate_limit(ex.wait) if ex.limited else RetryDecision.transient(ex.wait)

        def retry_wait(self):
            return lambda state: session.wait(_current.get(), state.outcome.exception(), state.attempt_number)

        async def aclose(self):
            await self.client.close()


def _client(endpoint: Endpoint):
    import openai

    return openai.AsyncOpenAI(
        api_key=endpoint.key or "none",
        base_url=endpoint.address,
        default_query=endpoint.query,
        max_retries=0,
        timeout=None,
        # A redirect is not followed: conversations go to the host that was named and to no other.
        http_client=openai.DefaultAsyncHttpxClient(
            timeout=None,
            follow_redirects=False,
            trust_env=not endpoint.is_loopback,
            event_hooks={"response": [_read_bounded]},
        ),
    )


async def _read_bounded(response) -> None:
    """Read a response of httpx up to ``LARGEST_REPLY`` bytes, packed or not; a longer one is left, and its connection.

    Raises
    ------
    _Unanswered
        If it is longer, or packed in a way that was not asked for.
    """
    stream, content = response.stream, bytearray()
    packing = response.headers.pop("content-encoding", "identity").strip().lower()
    if packing not in ("identity", "gzip"):
        raise _Unanswered(f"the reply is packed as {packing}, which was not asked for", again=False)
    unpacking = zlib.decompressobj(wbits=16 + zlib.MAX_WBITS)
    async for part in stream:
        room = LARGEST_REPLY + 1 - len(content)
        try:
            content += part if packing == "identity" else unpacking.decompress(part, room)
        except zlib.error:
            raise _Unanswered("the reply can't be unpacked (gzip)", again=True) from None
        if len(content) > LARGEST_REPLY:
            raise _Unanswered(f"the reply is larger than {LARGEST_REPLY / 2**20:g} MiB", again=False)
    await stream.aclose()
    response.stream = type(response)(200, content=bytes(content)).stream


def _headers(endpoint: Endpoint) -> dict:
    """Headers beyond the client's own, and those of its own that are not sent."""
    import openai

    omitted = [] if endpoint.sends_bearer else ["Authorization"]
    if endpoint.key_name != OPENAI_KEY:
        omitted += ["OpenAI-Organization", "OpenAI-Project"]  # they would come from the environment, and go to others
    return {"Accept-Encoding": "gzip", **endpoint.headers, **dict.fromkeys(omitted, openai.Omit())}


async def _attempt(client, session: Session, call: _Call) -> dict:
    """Send a request once; what was returned, free of the key.

    Raises
    ------
    _Unanswered
        With the reason in one line, if there is no answer.
    """
    import anyio
    import openai

    plan, endpoint = session.plan, session.plan.endpoint
    try:
        with anyio.fail_after(max(0.0, plan.timeout - call.seconds)):
            raw = await client.chat.completions.with_raw_response.create(
                **plan.questions.body(call.conversation), extra_headers=_headers(endpoint)
            )
            content = raw.content
    except TimeoutError:
        raise _Unanswered(f"no answer within {plan.timeout:g} seconds (--timeout)", again=False, silent=True) from None
    except openai.APIStatusError as error:
        refusal = filter_refusal(error.status_code, error.body)
        if refusal is not None:
            return _redacted({"refusal": refusal, "finish_reason": FILTERED}, endpoint)
        raise _status_failure(error, endpoint) from None
    except openai.APIConnectionError as error:
        if isinstance(error.__cause__, _Unanswered):  # some versions of openai wrap whatever is raised
            raise _Unanswered(_short(str(error.__cause__), endpoint), again=error.__cause__.again) from None
        cause = one_line(error.__cause__ or error)
        raise _Unanswered(_short(f"no connection, or one that broke off: {cause}", endpoint), again=True) from None
    try:
        return _redacted(read_completion(json.loads(content.decode("utf-8"))), endpoint)
    except ValueError as error:
        said = "what was returned is no JSON" if isinstance(error, json.JSONDecodeError | UnicodeDecodeError) else error
        raise _Unanswered(_short(f"{said}", endpoint), again=True) from None


def _redacted(returned: dict, endpoint: Endpoint) -> dict:
    return {name: endpoint.without_key(said) if isinstance(said, str) else said for name, said in returned.items()}


def _status_failure(error, endpoint: Endpoint) -> _Unanswered:
    status, wait = error.status_code, _asked_to_wait(error.response.headers)
    said = _short(f"HTTP {status}: {_message(error) or 'without a message'}", endpoint)
    spent = error.code in ("insufficient_quota", "billing_hard_limit_reached")
    again = (status in (408, 409, 425, 429) or status >= 500) and not spent
    if again and wait is not None and wait > LONGEST_WAIT:
        return _Unanswered(f"{said} (asks to wait for {wait:,.0f} seconds)", again=False)
    return _Unanswered(said, again=again, wait=wait, limited=status == 429)


def _message(error) -> str:
    body = error.body
    said = body.get("message") if isinstance(body, dict) else body
    return said if isinstance(said, str) else ""


def _short(text: str, endpoint: Endpoint) -> str:
    text = " ".join(endpoint.without_key(text).split())
    return text if len(text) <= _LONGEST_REASON else f"{text[:_LONGEST_REASON]} .."


def _asked_to_wait(headers) -> float | None:
    """Seconds that the endpoint asks to wait: a number, or a date in the form of HTTP."""
    with contextlib.suppress(KeyError, ValueError):
        return max(0.0, float(headers["retry-after-ms"]) / 1000)
    said = headers.get("retry-after", "")
    with contextlib.suppress(ValueError):
        return max(0.0, float(said))
    with contextlib.suppress(ValueError):
        return max(0.0, email.utils.parsedate_to_datetime(said).timestamp() - time.time())
    return None


def _wait(error: BaseException | None, attempt: int, backoff: float, call: _Call) -> float:
    """Seconds before the next attempt: what the endpoint asks for, or twice as long each time.

    Calls that failed together do not come back together: each waits for its own part of the time.
    """
    share = zlib.crc32(f"{call.conversation} {call.run} {attempt}".encode("utf-8", "replace")) / 2**32
    asked = getattr(error, "wait", None)
    if asked is not None:
        return asked + min(1.0, backoff) * share
    return min(LONGEST_BACKOFF, backoff * 2.0 ** min(attempt - 1, 30)) * (0.5 + 0.5 * share)
