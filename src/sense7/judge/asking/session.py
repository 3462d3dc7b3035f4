"""A session with a judge: as many requests at once as are wanted, each repeated if its failure may pass.

An answer is in the journal before anything else is done with it, and on the disk before the worker that brought it
sends its next request. So a kill costs at most the calls under way, and a failure of power too. Answers that come
together are written together and wait for the disk once.

The first call of a folder is sent alone: an endpoint that refuses a parameter, or can't be reached at all, says so
before more is sent. Its answer counts like any other.
"""

import asyncio
import contextlib
import signal
import threading
import time
import zlib
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace

from sense7.errors import UserError
from sense7.files import one_line
from sense7.judge.asking.answers import NOT_ASKED, Answer, describe_reply, now
from sense7.judge.asking.client import Client, Unanswered
from sense7.judge.asking.context_length import cut_by_endpoint, too_long_to_send
from sense7.judge.asking.journal import Journal
from sense7.judge.asking.pace import Pace
from sense7.judge.asking.plan import Plan
from sense7.terminal import count_of

__all__ = ["Session", "Tally"]

LONGEST_BACKOFF = 60.0
"""Seconds between two attempts, unless the endpoint asks for more."""

WORTH_SAYING = 3.0
"""Seconds of a wait before a further attempt from which it is said when it begins."""

SILENCE = 10.0
"""Seconds without a reply to any request after which that is said; three times the slowest reply if that is longer."""

LAST_REPLIES = 10.0
"""Seconds in which requests under way may still be answered when no more are sent: they are paid for."""

HEAD_START = 10.0
"""Seconds after which the others follow a first call without a reply: what refuses a request does so at once."""


@dataclass
class Tally:
    """How far a session is."""

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


class _NotSent(Exception):
    """No request of a call was sent, and none will be."""


@dataclass
class _Call:
    """A request under way: what its attempts come to."""

    conversation: str
    run: int
    attempts: int = 0
    seconds: float = 0.0
    """In its attempts so far, without the waits between them."""
    failure: str = ""


class _Waits:
    """Says at once when the user has to wait: before a further attempt, or for requests that bring no reply."""

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
            self._heard = self._replied = time.monotonic()
        except Unanswered as failed:
            if not failed.silent:
                self._heard = self._replied = time.monotonic()
            raise
        finally:
            self._under_way.remove(begun)

    @property
    def longest(self) -> float:
        """Seconds that a request is under way."""
        return time.monotonic() - min(self._under_way, default=time.monotonic())

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
        said = None
        while True:
            await asyncio.sleep(SILENCE / 20)
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


class Session:
    """The calls of a plan that are not answered yet."""

    def __init__(self, plan: Plan, journal: Journal, progress: Callable[[Tally], None], say: Callable[[str], None]):
        self.plan, self.journal, self.progress = plan, journal, progress
        names, runs = plan.questions.conversations, range(1, plan.runs + 1)
        self.pending = [(name, run) for run in runs for name in names if not journal.is_answered(name, run)]
        self.tally = Tally(len(self.pending), cost=None if plan.estimate.prices is None else 0.0)
        self.sent = 0
        self.stopped = ""
        self.final = False
        self._client = Client(plan.endpoint)
        self._disk = asyncio.Lock()
        self._broken: UserError | None = None
        self._unusable = 0
        self._terminated = False
        self._call_off: Callable[[], object] = _nothing
        self._begun = time.monotonic()
        self._waits = _Waits(say, plan.timeout)
        self._say = say
        self._pace = Pace(plan.concurrency, plan.per_minute, say)
        self._context = plan.context
        self._first = asyncio.Event()
        self._ending = asyncio.Event()
        self._has_answered = any(answer.error is None for answer in journal.answers.values())

    def run(self) -> None:
        """Send them."""
        try:
            with self._sigterm_after_the_loop():
                asyncio.run(self._send_all())
        finally:
            self.journal.sync()
        if self._broken:
            raise self._broken

    @contextlib.contextmanager
    def _sigterm_after_the_loop(self) -> Iterator[None]:
        """Let SIGTERM call off what is under way."""
        handler = signal.getsignal(signal.SIGTERM)
        if not callable(handler) or threading.current_thread() is not threading.main_thread():
            yield
            return

        def call_off(_number, _frame) -> None:
            self._terminated = True
            self._call_off()

        signal.signal(signal.SIGTERM, call_off)
        try:
            yield
        finally:
            signal.signal(signal.SIGTERM, handler)
            if self._terminated:
                handler(signal.SIGTERM, None)

    async def _send_all(self) -> None:
        loop, pending = asyncio.get_running_loop(), iter(self.pending)
        self._begun = time.monotonic()
        async with self._client, asyncio.TaskGroup() as group:
            await self._ask_for_context()
            watching = group.create_task(self._waits.watch())
            number = min(self.plan.concurrency, len(self.pending))
            workers = [group.create_task(self._send(pending))]
            self._call_off = lambda: loop.call_soon_threadsafe(lambda: [worker.cancel() for worker in workers])
            if all(answer.error is not None for answer in self.journal.answers.values()):
                await self._head_start()
            if not self.stopped and not self._terminated:
                workers += [group.create_task(self._send(pending)) for _ in range(number - 1)]
            await asyncio.wait(workers)
            self._call_off = _nothing
            watching.cancel()

    async def _head_start(self) -> None:
        """Let the first call come to an end before others are sent, unless a reply takes longer than a refusal does."""
        longest = min(HEAD_START, self.plan.timeout / 4)
        while not self._first.is_set() and self._waits.longest < longest:
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._first.wait(), longest / 20)

    async def _ask_for_context(self) -> None:
        """Ask the endpoint how many tokens its model takes, if the user did not say so."""
        if self._context is None:
            self._context = await self._client.context_length(self.plan.questions.model)
            if self._context is not None:
                self._say(f"the model's context has {self._context:,} tokens, as the endpoint says")

    async def _send(self, pending: Iterator[tuple[str, int]]) -> None:
        """Make one call after the other, as long as there are any that no other worker has taken."""
        try:
            for conversation, run in pending:
                if self.stopped or self._terminated:
                    return
                await self._call(_Call(conversation, run))
        finally:
            self._first.set()

    async def _call(self, call: _Call) -> None:
        try:
            answer = await self._answer_to(call)
        except asyncio.CancelledError:
            if self.stopped and call.attempts:  # else the user interrupted
                self._note(self._keep(call, error=call.failure or "no answer"))
            raise
        except _NotSent:
            return
        except Exception as error:  # of any kind: this call failed, and the session goes on
            answer = self._keep(call, error=self._client.short(one_line(error)))
        self._note(answer)
        self._first.set()
        await self._until_on_disk()

    async def _answer_to(self, call: _Call) -> Answer:
        """Make a call, in as many attempts as it needs and may have; what it comes to is in the journal."""
        plan = self.plan
        if why := too_long_to_send(plan.questions.characters(call.conversation), self._context):
            return self._keep(call, error=why, prompt_cut=True)
        while True:
            begun = time.monotonic()
            try:
                async with self._pace.turn() as turn:
                    if self.stopped:
                        return self._given_up(call)
                    begun = time.monotonic()
                    call.attempts += 1
                    self.sent += call.attempts == 1
                    with self._waits.request():
                        returned = await self._attempt(call)
            except Unanswered as failed:
                call.failure = str(failed)
                call.seconds += time.monotonic() - begun
                if failed.overrun:
                    self._pace.overrun(turn)
                final = failed.final or (failed.strange and not self._has_answered)
                if final or not failed.again or call.attempts > plan.retries:
                    if final and not self.stopped:
                        self.final = True
                        self._stop(_why_final(failed))
                    return self._keep(call, error=call.failure, prompt_cut=failed.refusal.too_long)
                if self.stopped:
                    return self._given_up(call)
                seconds = _wait(failed, plan.backoff, call)
                self._waits.before_attempt(seconds, call.failure)
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(self._ending.wait(), seconds)
                    return self._given_up(call)
            else:
                self._has_answered = True
                self._pace.answered()
                cut = cut_by_endpoint(
                    plan.questions.characters(call.conversation), returned.get("input_tokens"), self._context
                )
                known = returned | ({"error": cut, "prompt_cut": True} if cut else {})
                return self._keep(call, seconds=round(time.monotonic() - begun, 4), **known)

    def _given_up(self, call: _Call) -> Answer:
        """What a call comes to that is ended because no more are sent: it is not asked again."""
        if not call.attempts:
            raise _NotSent
        return self._keep(call, error=call.failure)

    def _stop(self, why: str) -> None:
        """Send no more: calls that wait end at once, requests under way when their reply comes, or a little later."""
        self.stopped = why
        self._ending.set()
        asyncio.get_running_loop().call_later(0 if self._waits.is_silent else LAST_REPLIES, self._call_off)

    async def _attempt(self, call: _Call) -> dict:
        timeout = self.plan.timeout
        try:
            return await self._client.ask(self.plan.questions.body(call.conversation), max(0.0, timeout - call.seconds))
        except TimeoutError:
            raise Unanswered(f"no answer within {timeout:g} seconds (--timeout)", again=False, silent=True) from None

    def _keep(self, call: _Call, **known) -> Answer:
        """Put what a call came to into the journal, before anything else is done with it."""
        sha256 = self.plan.questions.request_sha256(call.conversation)
        asked = list(self.plan.questions.ratings) or None
        answer = Answer(call.conversation, call.run, sha256, attempts=call.attempts, time=now(), asked=asked, **known)
        with self._sending_no_more_if_full():
            self.journal.add(answer)
        return answer

    async def _until_on_disk(self) -> None:
        """Wait until the disk has every answer that came so far: many calls share one wait."""
        written = self.journal.written
        async with self._disk:
            if self.journal.synced < written:
                with self._sending_no_more_if_full():
                    await asyncio.to_thread(self.journal.sync)

    @contextlib.contextmanager
    def _sending_no_more_if_full(self) -> Iterator[None]:
        """Send no more if an answer can't be kept: it must not be paid for."""
        try:
            yield
        except UserError as error:
            self._broken = self._broken or error
            self.stopped = self.stopped or NOT_ASKED
            self._ending.set()

    def _note(self, answer: Answer) -> None:
        """Count what a call came to, and send no more if too many in a row could not be used."""
        reply = answer.reply
        self._count(answer, reply.status)
        if answer.attempts:  # else it was too long to be sent, which says nothing of the endpoint
            self._unusable = 0 if reply.status in ("ok", "not_applicable") else self._unusable + 1
        if self._unusable >= self.plan.give_up_after and not self.stopped:
            number = count_of(self._unusable, "reply in a row", "replies in a row")
            self._stop(f"{number} could not be used; the last: {describe_reply(reply)}")

    def _count(self, answer: Answer, status: str) -> None:
        tally = self.tally
        tally.statuses[status] += 1
        tally.uncounted += answer.error is None and None in (answer.input_tokens, answer.output_tokens)
        tally.input_tokens += answer.input_tokens or 0
        tally.output_tokens += answer.output_tokens or 0
        if tally.cost is not None:
            tally.cost = self.plan.estimate.prices.cost(tally.input_tokens, tally.output_tokens)
        tally.seconds = time.monotonic() - self._begun
        self.progress(replace(tally, statuses=Counter(tally.statuses)))


def _nothing() -> None:
    """What is called off where nothing is under way."""


def _why_final(failed: Unanswered) -> str:
    """Why no more are sent, with what to do about it."""
    refusal = failed.refusal
    if not refusal.name or refusal.one_prompt:
        return str(failed)
    return f"the endpoint refuses the parameter {refusal.name} ({failed}). {refusal.remedy}"


def _wait(failed: Unanswered, backoff: float, call: _Call) -> float:
    """Seconds before the next attempt: what the endpoint asks for, or twice as long each time."""
    named = f"{call.conversation} {call.run} {call.attempts}"
    share = zlib.crc32(named.encode("utf-8", "replace")) / 2**32
    if failed.wait is not None:
        return failed.wait + min(1.0, backoff) * share
    return min(LONGEST_BACKOFF, backoff * 2.0 ** min(call.attempts - 1, 30)) * (0.5 + 0.5 * share)
