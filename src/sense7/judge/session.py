"""A session with a judge: every conversation in every run, once, also after failures and interruptions.

An answer is on the disk before the worker that brought it sends its next request, so that a kill costs at most the
calls under way. Answers that come together wait for the disk once. The first call of a folder is sent alone: an
endpoint that refuses a parameter, or can't be reached at all, says so before more is sent.
"""

import asyncio
import contextlib
import hashlib
import json
import time
import zlib
from collections import Counter
from collections.abc import AsyncIterator, Callable, Collection, Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path

import pandas as pd

import sense7
from sense7.errors import UserError
from sense7.files import one_line
from sense7.judge.answers import Answer, Written, describe_reply, now
from sense7.judge.cost import CostEstimate, Price, cut_by_endpoint, estimate, few_tokens, too_long_to_send
from sense7.judge.endpoint import Client, Endpoint, Unanswered, proxy_of, require_extra
from sense7.judge.files import prediction_path, require_seen_by_authors
from sense7.judge.journal import JOURNAL, Journal
from sense7.judge.logs import log_path, write_log
from sense7.judge.ratings import ratings_of, schema
from sense7.judge.reply import USABLE, check_policy
from sense7.judge.requests import (
    EXAMPLES,
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

USUAL = {"unit": "conversation", "rating": "overall"}
"""What is asked for if nothing else is said."""

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
    endpoint: Endpoint,
    folder: str | Path,
    runs: int = 1,
    prices: Price | None = None,
    policy: str = "strict",
    **given,
) -> Plan:
    """Plan of a session, after every check before anything is sent; ``given``: of questions_for, and of Plan."""
    folder = Path(folder)
    check_policy(policy)
    require_seen_by_authors(folder)
    proxy_of(endpoint)
    sending = {one.name: given.pop(one.name) for one in fields(Plan) if one.name in given}
    questions = questions_for(study, **{"prompt": None, **given})
    if questions.ratings and policy != "strict":
        raise UserError(f"--policy {policy}: the authors' rule reads no ratings of turns or dimensions. Give strict.")
    asked = {
        "model": questions.model,
        "endpoint": endpoint.identity + "".join(f"?{name}={value}" for name, value in endpoint.query.items()),
        "data": study.provenance.sha256 if study.provenance else "unknown",
        "prompt": questions.prompt.sha256,
        "prompt name": questions.prompt.name,
        "system message": SYSTEM_MESSAGE,
        "request": dict(questions.parameters),
        "shots": questions.shots.to_dict(),
        "requests": questions.sha256,
        **({name: given.get(name, usual) for name, usual in USUAL.items()} if questions.ratings else {}),
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
    prompt: Prompt | None,
    model: str,
    *,
    shots: Shots | None = None,
    limit: int | None = None,
    omit: Collection[str] = (),
    param: Mapping | None = None,
    unit: str = "conversation",
    rating: str = "overall",
) -> Questions:
    """Put every conversation, and the examples chosen for it, into the prompt; the bundled one if none is given."""
    prompt = prompt or Prompt.bundled(unit, rating)
    standard, names, shots = [unit, rating] == list(USUAL.values()), ratings_of(rating), shots or Shots()
    needed = {} if standard else {"response_format": schema(names)}
    parameters = request_parameters(model, omit=omit, param=param, needed=needed)
    if not model.strip():
        raise UserError("The model has no name. Give the name by which the endpoint knows it.")
    if shots.kind != "zero" and not standard:
        raise UserError("--shots: examples have a score of a whole conversation. Leave out --unit and --rating.")
    frame = asked_units(study, unit, names)
    examples = pd.Series("", frame["conversation"])
    if shots.kind != "zero":
        if EXAMPLES not in prompt.text:
            raise UserError(f"The prompt {prompt.name} has no {EXAMPLES}. Write it where examples are to stand.")
        from sense7.judge.few_shot import examples_for  # with it comes scikit-learn

        examples = examples_for(study, shots)
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


@dataclass
class Tally:
    """How far a session is."""

    total: int
    prices: Price | None = None
    statuses: Counter = field(default_factory=Counter)
    input_tokens: int = 0
    output_tokens: int = 0
    uncounted: int = 0
    begun: float = field(default_factory=time.monotonic)

    @property
    def done(self) -> int:
        """Calls that are over."""
        return self.statuses.total()

    @property
    def cost(self) -> float | None:
        """Cost so far; None if prices are not known."""
        return self.prices and self.prices.cost(self.input_tokens, self.output_tokens)

    def line(self) -> str:
        """Say it in one line."""
        rate = self.done / max(time.monotonic() - self.begun, 1e-9)
        said = [f"{self.done:,}/{self.total:,} calls, {rate:.1f} a second"]
        said += [", ".join(f"{status} {count:,}" for status, count in sorted(self.statuses.items()))]
        uncounted = f" ({self.uncounted:,} replies without a count)" if self.uncounted else ""
        said += [f"{self.input_tokens:,} + {self.output_tokens:,} tokens{uncounted}"]
        said += [] if self.cost is None else [f"cost {self.cost:,.2f}"]
        return "; ".join(filter(None, said))


class _Traffic:
    """Requests under way: how many there may be, and how long the endpoint has been silent."""

    def __init__(self, plan: Plan, say: Callable[[str], None]):
        self._limit = self._most = plan.concurrency
        self._gap = 60.0 / plan.per_minute if plan.per_minute else 0.0
        self._timeout, self._say = plan.timeout, say
        self._free = asyncio.Semaphore(plan.concurrency)
        self._owed = self._good = 0
        self._next = self._cut = self._said_until = float("-inf")
        self._slowest, self._heard = 0.0, time.monotonic()
        self._under_way: list[float] = []

    @contextlib.asynccontextmanager
    async def request(self) -> AsyncIterator[float]:
        """Wait for a turn, and keep it as long as a request takes; give when it began."""
        await self._free.acquire()
        try:
            if self._gap:
                self._next = max(time.monotonic(), self._next + self._gap)
                await asyncio.sleep(self._next - time.monotonic())
            begun = time.monotonic()
            self._under_way.append(begun)
            try:
                yield begun
                self._heard = time.monotonic()
                self._slowest = max(self._slowest, self._heard - begun)
                self._good += self._limit < self._most
                if self._good >= self._limit < self._most:  # as many answers as may be under way: one more
                    self._limit, self._good = self._limit + 1, 0
                    self._release()
                    if self._limit == self._most:
                        self._say(f"{count_of(self._limit, 'request')} at once again")
            except Unanswered as failed:
                self._heard = self._heard if failed.silent else time.monotonic()
                if failed.overrun and begun >= self._cut and self._limit > 1:  # half as many
                    self._cut, self._good = time.monotonic(), 0
                    self._owed += self._limit - self._limit // 2
                    self._limit //= 2
                    requests = count_of(self._limit, "request")
                    self._say(f"HTTP 429 without a time to wait: {requests} at once from now on; more as answers come")
                raise
            finally:
                self._under_way.remove(begun)
        finally:
            self._release()

    def _release(self) -> None:
        if self._owed:
            self._owed -= 1
        else:
            self._free.release()

    @property
    def is_silent(self) -> bool:
        """Whether the endpoint has sent nothing for as long as a call may take."""
        return time.monotonic() - self._heard >= self._timeout

    def say_wait(self, seconds: float, why: str) -> None:
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
            silence = time.monotonic() - max(self._heard, min(self._under_way, default=time.monotonic()))
            if said != self._heard and silence >= max(SILENCE, 3 * self._slowest):
                said = self._heard
                requests = count_of(len(self._under_way), "request")
                self._say(
                    f"{requests} without a reply for {silence:,.0f} seconds; a call is given up after "
                    f"{self._timeout:g} seconds (--timeout)"
                )


class _Session:
    """The calls of a plan that are not answered yet."""

    def __init__(self, plan: Plan, journal: Journal, progress: Callable[[Tally], None], say: Callable[[str], None]):
        self.plan, self.journal, self.progress, self.say = plan, journal, progress, say
        self.pending = journal.pending(plan.runs)
        self.tally = Tally(len(self.pending), plan.estimate.prices)
        self.sent = self.unusable = 0
        self.stopped, self.final = "", False
        self.client = Client(plan.endpoint, plan.timeout)
        self.traffic = _Traffic(plan, say)
        self.context = plan.context
        self.has_answered = journal.has_answer
        self.disk, self.first, self.ending = asyncio.Lock(), asyncio.Event(), asyncio.Event()
        self.workers: list[asyncio.Task] = []

    def run(self) -> None:
        """Send them."""
        try:
            asyncio.run(self.send_all())
        except ExceptionGroup as failed:  # of the workers: answers can't be kept
            raise failed.exceptions[0] from None
        finally:
            self.journal.sync()

    async def send_all(self) -> None:
        """Send the first call alone, then as many at once as may be."""
        calls = iter(self.pending)

        async def work() -> None:
            try:
                for conversation, run in calls:
                    if self.stopped:
                        return
                    await self.call(conversation, run)
            finally:
                self.first.set()

        async with self.client, asyncio.TaskGroup() as group:
            if self.context is None:
                self.context = await self.client.context_length(self.plan.questions.model)
                if self.context is not None:
                    self.say(f"the model's context has {self.context:,} tokens, as the endpoint says")
            watching = group.create_task(self.traffic.watch())
            self.workers.append(group.create_task(work()))
            if not self.has_answered:
                await self.first.wait()
            if not self.stopped:
                others = min(self.plan.concurrency, len(self.pending)) - 1
                self.workers += [group.create_task(work()) for _ in range(others)]
            await asyncio.wait(self.workers)
            watching.cancel()

    async def call(self, conversation: str, run: int) -> None:
        """Make a call, in as many attempts as it needs and may have; keep what it comes to."""
        plan, seconds, begun = self.plan, 0.0, 0.0
        asked = list(plan.questions.ratings) or None
        known = {"attempts": 0, "error": "no answer", "prompt_cut": False}
        characters = plan.questions.characters(conversation)
        try:
            if why := too_long_to_send(characters, self.context):
                known |= {"error": why, "prompt_cut": True}
            while not why:
                try:
                    async with self.traffic.request() as begun:
                        if self.stopped:
                            break
                        known["attempts"] += 1
                        self.sent += known["attempts"] == 1
                        loop, slow = asyncio.get_running_loop(), min(HEAD_START, plan.timeout / 4)
                        others_follow = loop.call_later(slow, self.first.set)
                        try:
                            body = plan.questions.body(conversation)
                            returned = await self.client.ask(body, max(0.0, plan.timeout - seconds))
                        finally:
                            others_follow.cancel()
                except Unanswered as failed:
                    seconds += time.monotonic() - begun
                    known |= {"error": str(failed), "prompt_cut": failed.too_long}
                    if failed.final or (failed.strange and not self.has_answered):
                        self.final = self.final or not self.stopped
                        self.stop(failed.stop or str(failed))
                        break
                    if not failed.again or known["attempts"] > plan.retries or self.stopped:
                        break
                    named = f"{conversation} {run} {known['attempts']}".encode("utf-8", "replace")
                    share = zlib.crc32(named) / 2**32  # those refused together come again one by one
                    wait = min(LONGEST_BACKOFF, plan.backoff * 2.0 ** min(known["attempts"] - 1, 30))
                    wait *= 0.5 + 0.5 * share
                    wait = wait if failed.wait is None else failed.wait + min(1.0, plan.backoff) * share
                    self.traffic.say_wait(wait, str(failed))
                    with contextlib.suppress(TimeoutError):
                        await asyncio.wait_for(self.ending.wait(), wait)
                        break
                else:
                    self.has_answered = True
                    cut = cut_by_endpoint(characters, returned.get("input_tokens"), self.context)
                    known |= {"seconds": round(time.monotonic() - begun, 4), "error": None, **returned}
                    known |= {"error": cut, "prompt_cut": True} if cut else {}
                    break
        except asyncio.CancelledError:
            if self.stopped and known["attempts"]:  # else the user interrupted
                self.keep(Answer(conversation, run, time=now(), asked=asked, **known))
            raise
        except Exception as error:  # of any kind: this call failed, and the session goes on
            known["error"] = self.client.short(one_line(error))
        if not known["attempts"] and not known["prompt_cut"]:  # stopped before it was sent
            return
        answer = Answer(conversation, run, time=now(), asked=asked, **known)
        self.keep(answer)
        self.first.set()
        async with self.disk:  # many calls share one wait for it
            if self.journal.lacks(answer):
                await asyncio.to_thread(self.journal.sync)

    def stop(self, why: str) -> None:
        """Send no more: calls that wait end at once, requests under way when their reply comes, or a little later."""
        if self.stopped:
            return
        self.stopped = why
        self.ending.set()
        last = 0 if self.traffic.is_silent else LAST_REPLIES
        asyncio.get_running_loop().call_later(last, lambda: [worker.cancel() for worker in self.workers])

    def keep(self, answer: Answer) -> None:
        """Give an answer to the journal, count it, and send no more if too many in a row could not be used."""
        self.journal.add(answer)
        reply, tally = answer.reply, self.tally
        tally.statuses[reply.status] += 1
        tally.uncounted += answer.error is None and None in (answer.input_tokens, answer.output_tokens)
        tally.input_tokens += answer.input_tokens or 0
        tally.output_tokens += answer.output_tokens or 0
        self.progress(tally)
        if answer.attempts:  # else it was too long to be sent, which says nothing of the endpoint
            self.unusable = 0 if reply.status in USABLE else self.unusable + 1
        if self.unusable >= self.plan.give_up_after:
            number = count_of(self.unusable, "reply in a row", "replies in a row")
            self.stop(f"{number} could not be used; the last: {describe_reply(reply)}")


@dataclass
class Outcome(Written):
    """What a session came to."""

    tally: Tally | None = None
    stopped: str = ""
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
    with Journal.open(plan.folder) as journal:
        if journal.unlocked:
            say(f"warning: {journal.unlocked}")
        journal.check(plan.asked, plan.questions, plan.runs)  # again, now that no other session is at work here
        journal.begin(plan.asked, plan.about, plan.questions, plan.runs)
        session = _Session(plan, journal, progress, say)
        if session.pending:
            session.run()
        asked, stopped = {run for _, run in session.pending}, session.stopped
        if stopped:
            stopped = f"stopped after {session.sent:,} of {count_of(len(session.pending), 'call')}: {stopped}"
        lacking = f"not asked: {stopped}" if stopped else "not asked"
        outcome = Outcome(tally=session.tally, stopped=stopped, final=session.final, cut=journal.cut())
        outcome.remarks += few_tokens(journal)
        for run in range(1, plan.runs + 1):
            answers = journal.answers(run)
            frame = outcome.add(plan.questions, plan.folder, run, answers, policy=plan.policy, lacking=lacking)
            if run in asked or not log_path(plan, run).exists():
                write_log(plan, run, answers, frame, lacking=lacking)
    return outcome
