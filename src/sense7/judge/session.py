"""A session with a judge: every conversation in every run, once, also after failures and interruptions.

An answer is on the disk before the worker that brought it sends its next request, so that a kill costs at most the
calls under way. Answers that come together wait for the disk once. The first call of a folder is sent alone: an
endpoint that refuses a parameter, or can't be reached at all, says so before more is sent.
"""

import asyncio
import contextlib
import hashlib
import json
import signal
import threading
import time
import zlib
from collections import Counter
from collections.abc import AsyncIterator, Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

import pandas as pd

import sense7
from sense7.errors import UserError
from sense7.files import one_line
from sense7.judge.answers import Answer, describe_reply, now, run_frame, without_score
from sense7.judge.cost import CostEstimate, Price, cut_by_endpoint, estimate, few_tokens, too_long_to_send
from sense7.judge.endpoint import Client, Endpoint, Unanswered, proxy_of, require_extra
from sense7.judge.files import SKIPPED_WORD, prediction_path, write_predictions
from sense7.judge.journal import JOURNAL, Journal
from sense7.judge.logs import log_path, write_log
from sense7.judge.ratings import ratings_of, ratings_sheet, schema
from sense7.judge.reply import USABLE, check_policy
from sense7.judge.requests import (
    SHOTS,
    SYSTEM_MESSAGE,
    Prompt,
    Questions,
    Shots,
    asked_units,
    request_body,
    request_parameters,
)
from sense7.study import Study
from sense7.taxonomy import DIMENSION_NAMES
from sense7.terminal import count_of

__all__ = ["Outcome", "Plan", "Tally", "carry_out", "plan_session", "questions_for"]


# What is to be asked


@dataclass(frozen=True, eq=False)
class Plan:
    """A session that could begin; nothing is sent or written yet. Made by :func:`plan_session`."""

    questions: Questions
    endpoint: Endpoint
    folder: Path
    runs: int
    policy: str
    estimate: CostEstimate
    asked: dict = field(repr=False)
    about: dict = field(repr=False)
    concurrency: int = 10
    timeout: float = 120.0
    retries: int = 5
    backoff: float = 1.0
    give_up_after: int = 10
    per_minute: int | None = None
    context: int | None = None

    def path(self, run: int) -> Path:
        """Where a run's prediction file will be."""
        return prediction_path(self.folder, self.questions.model, self.questions.prompt.name, run)


def plan_session(
    study: Study,
    *,
    model: str,
    endpoint: Endpoint,
    folder: str | Path,
    runs: int = 1,
    prompt: Prompt | None = None,
    limit: int | None = None,
    prices: Price | None = None,
    policy: str = "strict",
    unit: str = "conversation",
    rating: str = "overall",
    shots=None,
    omit=(),
    param: Mapping | None = None,
    **sending,
) -> Plan:
    """Plan of a session, after every check before anything is sent; ``sending`` is of :class:`Plan`."""
    folder = Path(folder)
    check_policy(policy)
    least = {"runs": 1, "concurrency": 1, "retries": 0, "give_up_after": 1, "limit": 1, "per_minute": 1, "context": 1}
    for name, value in {**sending, "runs": runs, "limit": limit}.items():
        if value is not None and value < least.get(name, value):
            raise UserError(f"{name} is {value}. Give a number from {least[name]}.")
    if not sending.get("timeout", 1) > 0 or not sending.get("backoff", 1) >= 0:
        raise UserError("timeout and backoff are seconds. Give numbers above 0.")
    if SKIPPED_WORD in str(folder.absolute()):
        raise UserError(
            f"{folder.absolute()}: the path holds the word {SKIPPED_WORD}, and the authors' evaluation passes over "
            "such files. Choose another folder."
        )
    proxy_of(endpoint)
    template = prompt or Prompt.bundled(unit, rating)
    if (unit, rating) != ("conversation", "overall") and policy != "strict":
        raise UserError(f"--policy {policy}: the authors' rule reads no ratings of turns or dimensions. Give strict.")
    questions = questions_for(
        study, template, model, shots=shots, limit=limit, omit=omit, param=param, unit=unit, rating=rating
    )
    asked = {
        "model": model,
        "endpoint": endpoint.identity + "".join(f"?{name}={value}" for name, value in endpoint.query.items()),
        "data": study.provenance.sha256 if study.provenance else "unknown",
        "prompt": questions.prompt.sha256,
        "prompt name": questions.prompt.name,
        "system message": SYSTEM_MESSAGE,
        "request": dict(questions.parameters),
        "shots": questions.shots.to_dict(),
        "requests": questions.sha256,
        **({"unit": unit, "rating": rating} if questions.ratings else {}),
    }
    with Journal.reading(folder) as journal:
        if journal:
            journal.check(asked, questions, runs)
        estimated = estimate(questions, runs, journal, prices)
    about = {"data": study.name, "base_url": endpoint.address, "sense7": sense7.__version__, "begun": now()}
    plan = Plan(questions, endpoint, folder, runs, policy, estimated, asked, about, **sending)
    existing = [plan.path(run) for run in range(1, runs + 1) if plan.path(run).exists()]
    if existing and not (folder / JOURNAL).exists():
        raise UserError(
            f"{existing[0]}: is there already and not from a session in this folder. Choose another folder."
        )
    return plan


def questions_for(
    study: Study,
    prompt: Prompt,
    model: str,
    *,
    shots: Shots | None = None,
    limit: int | None = None,
    omit: Collection[str] = (),
    param: Mapping | None = None,
    unit: str = "conversation",
    rating: str = "overall",
) -> Questions:
    """Put every conversation, and the examples chosen for it, into the prompt."""
    standard, names, shots = (unit, rating) == ("conversation", "overall"), ratings_of(rating), shots or Shots()
    needed = {} if standard else {"response_format": schema(names)}
    parameters = request_parameters(model, omit=omit, param=param, needed=needed)
    if not model.strip():
        raise UserError("The model has no name. Give the name by which the endpoint knows it.")
    if shots.kind not in SHOTS:
        raise UserError(f"There are no shots {shots.kind!r}. Choose one of {', '.join(SHOTS)}.")
    if shots.kind != "zero" and not standard:
        raise UserError("--shots: examples have a score of a whole conversation. Leave out --unit and --rating.")
    frame = asked_units(study, unit, names)
    examples = pd.Series("", frame["conversation"])
    if shots.kind != "zero":
        prompt.require_examples()
        from sense7.judge.few_shot import examples_for  # with it comes scikit-learn

        examples = examples_for(study, shots=shots.kind, number=shots.number, order=shots.order, seed=shots.seed)
    if unit == "turn" or rating in DIMENSION_NAMES:
        frame["ground_truth"] = pd.to_numeric(frame[f"person_{names[0]}"], errors="coerce")
    frame["prompt"] = [
        prompt.fill(chat, examples[name]) for name, chat in zip(frame["conversation"], frame["chat"], strict=True)
    ]
    bodies = (json.dumps(request_body(model, text, parameters), sort_keys=True) for text in frame["prompt"])
    frame["request_sha256"] = [hashlib.sha256(body.encode()).hexdigest() for body in bodies]
    named = list(zip(frame["conversation"], frame["request_sha256"], strict=True))
    total = hashlib.sha256(json.dumps(named).encode()).hexdigest()
    if limit:
        frame = frame[pd.factorize(frame["source"])[0] < limit].reset_index(drop=True)
    return Questions(model, prompt, shots, frame, total, parameters, () if standard else names)


# Sending


class Pace:
    """The turns of a session's requests."""

    def __init__(self, at_once: int, per_minute: int | None, say: Callable[[str], None]):
        self.limit = self._most = at_once
        self._gap = 60.0 / per_minute if per_minute else 0.0
        self._say = say
        self._free = asyncio.Semaphore(at_once)
        self._owed = self._good = 0
        self._next = self._cut = float("-inf")

    @contextlib.asynccontextmanager
    async def turn(self) -> AsyncIterator[float]:
        """Wait for a turn, and keep it as long as the request takes; give when it began."""
        await self._free.acquire()
        try:
            await self._spaced()
            yield asyncio.get_running_loop().time()
        finally:
            self._release()

    async def _spaced(self) -> None:
        if self._gap:
            now = asyncio.get_running_loop().time()
            begin = max(now, self._next)
            self._next = begin + self._gap
            await asyncio.sleep(begin - now)

    def _release(self) -> None:
        if self._owed:
            self._owed -= 1
        else:
            self._free.release()

    def overrun(self, begun: float) -> None:
        """Halve the limit, for a request that began then and was refused as one too many."""
        if begun < self._cut or self.limit == 1:
            return
        self._cut, self._good = asyncio.get_running_loop().time(), 0
        fewer = self.limit // 2
        self._owed += self.limit - fewer
        self.limit = fewer
        requests = count_of(fewer, "request")
        self._say(f"HTTP 429 without a time to wait: {requests} at once from now on; more as answers come")

    def answered(self) -> None:
        """Count an answer, and raise the limit where as many came as it allows."""
        if self.limit == self._most:
            return
        self._good += 1
        if self._good >= self.limit:
            self.limit, self._good = self.limit + 1, 0
            self._release()
            if self.limit == self._most:
                self._say(f"{count_of(self.limit, 'request')} at once again")


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
        self.pending = journal.pending(plan.runs)
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
        self._has_answered = journal.has_answer

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
            if not self._has_answered:
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
        await self._until_on_disk(answer)

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
        """Give what a call came to to the journal."""
        asked = list(self.plan.questions.ratings) or None
        answer = Answer(call.conversation, call.run, attempts=call.attempts, time=now(), asked=asked, **known)
        self.journal.add(answer)
        return answer

    async def _until_on_disk(self, answer: Answer) -> None:
        """Wait until the disk has an answer: many calls share one wait. If it can't be kept, no more are paid for."""
        async with self._disk:
            if self.journal.lacks(answer):
                try:
                    await asyncio.to_thread(self.journal.sync)
                except UserError as error:
                    self._broken = self._broken or error
                    self.stopped = self.stopped or "not asked"
                    self._ending.set()

    def _note(self, answer: Answer) -> None:
        """Count what a call came to, and send no more if too many in a row could not be used."""
        reply = answer.reply
        self._count(answer, reply.status)
        if answer.attempts:  # else it was too long to be sent, which says nothing of the endpoint
            self._unusable = 0 if reply.status in USABLE else self._unusable + 1
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


@dataclass(frozen=True)
class Outcome:
    """What a session came to."""

    paths: list[Path]
    statuses: Counter
    tally: Tally
    remarks: list[str]
    stopped: str = ""
    doubtful: int = 0
    without_score: list[str] = field(default_factory=list)
    final: bool = False
    cut: list[str] = field(default_factory=list)


def carry_out(
    plan: Plan,
    *,
    progress: Callable[[Tally], None] = lambda tally: None,
    say: Callable[[str], None] = lambda line: None,
) -> Outcome:
    """Send what is not answered yet, and write one prediction file for each run."""
    require_extra("aiohttp", "Asking a judge")
    questions, paths, remarks, statuses, doubtful, without = plan.questions, [], [], Counter(), 0, []
    with Journal.open(plan.folder) as journal:
        if journal.unlocked:
            say(f"warning: {journal.unlocked}")
        journal.check(plan.asked, questions, plan.runs)  # again, now that no other session is at work here
        journal.begin(plan.asked, plan.about, questions, plan.runs)
        session = Session(plan, journal, progress, say)
        if session.pending:
            session.run()
        asked, stopped = {run for _, run in session.pending}, session.stopped
        if stopped:
            stopped = f"stopped after {session.sent:,} of {count_of(len(session.pending), 'call')}: {stopped}"
        lacking = f"not asked: {stopped}" if stopped else "not asked"
        remarks += few_tokens(journal)
        for run in range(1, plan.runs + 1):
            path, answers, further = plan.path(run), journal.answers(run), []
            frame = run_frame(questions, run, answers, lacking=lacking)
            if questions.ratings:
                units = questions.frame
                levels = [answers[name].reply.levels if name in answers else {} for name in units["conversation"]]
                further = [ratings_sheet(units, questions.ratings, levels)]
            remarks += write_predictions(path, frame, policy=plan.policy, further=further)
            paths.append(path)
            statuses.update(frame["status"])
            doubtful += int(frame["doubtful"].sum())
            without += filter(None, [without_score(run, answers)])
            if run in asked or not log_path(plan, run).exists():
                write_log(plan, run, answers, frame, lacking=lacking)
        cut = journal.cut()
    return Outcome(paths, statuses, session.tally, remarks, stopped, doubtful, without, session.final, cut)
