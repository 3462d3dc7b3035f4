"""A session with a judge: every conversation in every run, once, also after failures and interruptions.

An answer is on the disk before the worker that brought it sends its next request, so that a kill costs at most the
calls under way. Answers that come together wait for the disk once. The first call of a folder is sent alone: an
endpoint that refuses a parameter, or can't be reached at all, says so before more is sent.
"""

import asyncio
import contextlib
import importlib.util
import json
import time
import zlib
from collections import Counter
from collections.abc import AsyncIterator, Callable, Collection, Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from types import MappingProxyType

import pandas as pd

import sense7
from sense7.errors import UserError
from sense7.files import digest_of, one_line, require_as_written
from sense7.judge.asking.answers import Answer, Written, describe_reply, now
from sense7.judge.asking.client import Client, Unanswered
from sense7.judge.asking.cost import CostEstimate, Price, estimate, few_tokens
from sense7.judge.asking.journal import Journal
from sense7.judge.asking.requests import (
    EXAMPLES,
    SYSTEM_MESSAGE,
    Prompt,
    Questions,
    asked_units,
    request_body,
    request_parameters,
)
from sense7.judge.endpoint import Endpoint, proxy_of
from sense7.judge.files import check_policy, require_seen_by_authors
from sense7.judge.ratings import ratings_of, schema
from sense7.judge.reply import USABLE
from sense7.study import Study
from sense7.taxonomy import DIMENSION_NAMES
from sense7.terminal import count_of, silent

__all__ = ["Plan", "Tally", "carry_out", "plan_session", "questions_for"]

LONGEST_BACKOFF = 60.0
"""Seconds between two attempts, unless the endpoint asks for more."""

WORTH_SAYING = 3.0
"""Seconds of a wait before a further attempt from which it is said when it begins."""

LAST_REPLIES = 10.0
"""Seconds in which requests under way may still be answered when no more are sent: they are paid for."""


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
    question: dict = field(repr=False)
    about: dict = field(repr=False)
    concurrency: int = 10
    timeout: float = 120.0
    retries: int = 5
    backoff: float = 1.0
    give_up_after: int = 10


def plan_session(
    study: Study,
    *,
    endpoint: Endpoint,
    folder: str | Path,
    runs: int = 1,
    prices: Price | None = None,
    policy: str = "strict",
    say: Callable[[str], None] = silent,
    **options,
) -> Plan:
    """Plan of a session, after every check before anything is sent; ``options``: of questions_for, and of Plan."""
    folder = Path(folder)
    check_policy(policy)
    require_seen_by_authors(folder)
    proxy_of(endpoint)
    names = {parameter.name for parameter in fields(Plan)}
    sending = {name: options.pop(name) for name in names & options.keys()}
    options.setdefault("prompt", None)
    questions = questions_for(study, **options)
    if questions.ratings and policy != "strict":
        raise UserError(
            f"--policy {policy}: the authors' rule reads no ratings of turns or dimensions. Give strict."
        )
    question = {
        "model": questions.model,
        "endpoint": endpoint.identity,
        "data": study.provenance.sha256 if study.provenance else "unknown",
        "prompt": questions.prompt.sha256,
        "prompt name": questions.prompt.name,
        "request": dict(questions.parameters),
        "shots": questions.shots,
        "requests": questions.sha256,
    }
    is_begun = False
    with Journal.reading(folder, say) as journal:
        if journal:
            journal.check(question, questions, runs)
            is_begun = bool(journal.content)
        estimated = estimate(questions, runs, journal, prices)
    about = {
        "data": study.name,
        "base_url": endpoint.address,
        "sense7": sense7.__version__,
        "begun": now(),
    }
    plan = Plan(questions, endpoint, folder, runs, policy, estimated, question, about, **sending)
    paths = [questions.path(folder, run) for run in range(1, runs + 1)]
    existing = [path for path in paths if path.exists()]
    if existing and not is_begun:
        raise UserError(
            f"{existing[0]}: is there already and not from a session in this folder. Choose another folder."
        )
    # So it is in a session of a version that did not note what it wrote, too.
    require_as_written(
        existing,
        fix="Move it away and give the same command again: it is written again from the journal, "
        "where every answer is, and nothing is asked twice.",
    )
    return plan


def questions_for(
    study: Study,
    prompt: Prompt | None,
    model: str,
    *,
    shots: int = 0,
    limit: int | None = None,
    omit: Collection[str] = (),
    param: Mapping = MappingProxyType({}),
    unit: str = "conversation",
    rating: str = "overall",
) -> Questions:
    """Put every conversation, and so many examples chosen for it, into the prompt; the bundled one if none is given."""
    prompt = prompt or Prompt.bundled(unit, rating)
    names = ratings_of(rating)
    is_standard = (unit, rating) == ("conversation", "overall")
    needed = {}
    if not is_standard:
        needed = {"response_format": schema(names)}
    parameters = request_parameters(omit, param, needed)
    if not model.strip():
        raise UserError("The model has no name. Give the name by which the endpoint knows it.")
    if shots and not is_standard:
        raise UserError(
            "--shots: examples have a score of a whole conversation. Leave out --unit and --rating."
        )
    frame = asked_units(study, unit, names)
    examples = pd.Series("", frame["conversation"])
    if shots:
        if EXAMPLES not in prompt.text:
            raise UserError(
                f"The prompt {prompt.name} has no {EXAMPLES}. Write it where examples are to stand."
            )
        from sense7.judge.asking.few_shot import examples_for  # with it comes scikit-learn

        examples = examples_for(study, shots)
    if unit == "turn" or rating in DIMENSION_NAMES:
        frame["ground_truth"] = pd.to_numeric(frame[f"person_{names[0]}"], errors="coerce")
    prompts = []
    requests = []
    for conversation, chat in zip(frame["conversation"], frame["chat"], strict=True):
        text = prompt.fill(chat, examples[conversation])
        body = json.dumps(request_body(model, text, parameters), sort_keys=True)
        prompts.append(text)
        requests.append((conversation, digest_of(body.encode())))
    frame = frame.assign(prompt=prompts)
    # Of all that a request says.
    frame["characters"] = frame["prompt"].str.len() + len(SYSTEM_MESSAGE)
    frame["request_sha256"] = [digest for _, digest in requests]
    requests_sha256 = digest_of(json.dumps(requests).encode())
    if limit:
        frame = frame[pd.factorize(frame["source"])[0] < limit].reset_index(drop=True)
    if is_standard:
        names = ()
    return Questions(model, prompt, shots, frame, requests_sha256, parameters, names)


# Sending


@dataclass
class Tally:
    """How far a session is."""

    total: int
    prices: Price | None = None
    statuses: Counter = field(default_factory=Counter)
    input_tokens: int = 0
    output_tokens: int = 0
    begun: float = field(default_factory=time.monotonic)

    @property
    def done(self) -> int:
        """Calls that are over."""
        return self.statuses.total()

    @property
    def cost(self) -> float | None:
        """Cost so far; None if prices are not known."""
        if self.prices is None:
            return None
        return self.prices.cost(self.input_tokens, self.output_tokens)

    def line(self) -> str:
        """Say it in one line."""
        rate = self.done / max(time.monotonic() - self.begun, 1e-9)
        counts = [f"{status} {count:,}" for status, count in sorted(self.statuses.items())]
        parts = [f"{self.done:,}/{self.total:,} calls, {rate:.1f} a second"]
        if counts:
            parts.append(", ".join(counts))
        parts.append(f"{self.input_tokens:,} + {self.output_tokens:,} tokens")
        if self.cost is not None:
            parts.append(f"cost {self.cost:,.2f}")
        return "; ".join(parts)


class _Session:
    """The calls of a plan that are not answered yet, and the requests under way."""

    def __init__(
        self,
        plan: Plan,
        journal: Journal,
        progress: Callable[[Tally], None],
        say: Callable[[str], None],
    ):
        self.plan = plan
        self.journal = journal
        self.progress = progress
        self.say = say
        self.pending = journal.pending(plan.runs)
        self.tally = Tally(len(self.pending), plan.estimate.prices)
        self.client = Client(plan.endpoint, plan.timeout)
        self.has_answered = journal.has_answer
        self.sent = 0
        self.unusable = 0
        self.stopped = ""
        self.final = False
        self.disk = asyncio.Lock()
        self.ending = asyncio.Event()
        self.room = asyncio.Event()
        self.workers: list[asyncio.Task] = []
        self.under_way = 0
        self.at_once = plan.concurrency  # an overrun endpoint halves it
        self.answers_since = 0
        self.halved_at = float("-inf")
        self.said_until = float("-inf")

    async def send_all(self) -> None:
        """Send the first call alone, then as many at once as may be."""
        calls = iter(self.pending)

        async def work() -> None:
            for conversation, run in calls:
                if self.stopped:
                    return
                await self.call(conversation, run)

        async with self.client:
            if not self.has_answered:
                await self.call(*next(calls))
            async with asyncio.TaskGroup() as group:
                self.workers = [group.create_task(work()) for _ in range(self.plan.concurrency)]

    @contextlib.asynccontextmanager
    async def request(self) -> AsyncIterator[float]:
        """Wait for a turn, and keep it as long as a request takes; give when it began."""
        while self.under_way >= self.at_once:
            self.room.clear()
            await self.room.wait()
        begun = time.monotonic()
        self.under_way += 1
        try:
            yield begun
            self.raise_limit()
        except Unanswered as failed:
            if failed.overrun and begun >= self.halved_at and self.at_once > 1:
                self.halved_at = time.monotonic()
                self.answers_since = 0
                self.at_once //= 2
                requests = count_of(self.at_once, "request")
                self.say(
                    f"HTTP 429 without a time to wait: {requests} at once from now on; more as answers come"
                )
            raise
        finally:
            self.under_way -= 1
            self.room.set()

    def raise_limit(self) -> None:
        """Allow one request more at once, up to those of the plan, after as many answers as there may be requests."""
        if self.at_once == self.plan.concurrency:
            return
        self.answers_since += 1
        if self.answers_since >= self.at_once:
            self.at_once += 1
            self.answers_since = 0
            if self.at_once == self.plan.concurrency:
                self.say(f"{count_of(self.at_once, 'request')} at once again")

    async def wait(self, attempt: int, failed: Unanswered, call: str) -> None:
        """Wait before a further attempt, as long as the endpoint asks, or longer each time; no longer if all ends."""
        # Calls that were refused together come apart, each by its share.
        share = zlib.crc32(f"{call} {attempt}".encode("utf-8", "replace")) / 2**32
        if failed.wait is None:
            backoff = self.plan.backoff * 2.0 ** min(attempt - 1, 30)
            seconds = min(LONGEST_BACKOFF, backoff) * (0.5 + 0.5 * share)
        else:
            seconds = failed.wait + min(1.0, self.plan.backoff) * share
        until = time.monotonic() + seconds
        # Requests at once often wait together: that is said once.
        if seconds >= WORTH_SAYING and until > self.said_until + WORTH_SAYING:
            self.said_until = until
            self.say(f"waiting {seconds:,.0f} seconds before the next attempt: {failed}")
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self.ending.wait(), seconds)

    async def call(self, conversation: str, run: int) -> None:
        """Make a call, in as many attempts as it needs and may have; keep what it comes to."""
        outcome = {"attempts": 0, "error": "no answer"}
        try:
            await self.attempt(conversation, run, outcome)
        except asyncio.CancelledError:
            if self.stopped and outcome["attempts"]:  # else the user interrupted
                self.keep(conversation, run, outcome)
            raise
        except Exception as error:  # of any kind: this call failed, and the session goes on
            outcome["error"] = self.client.short(one_line(error))
        if not outcome["attempts"]:  # stopped before it was sent
            return
        self.keep(conversation, run, outcome)
        async with self.disk:  # many calls share one wait for it
            if self.journal.waiting:
                await asyncio.to_thread(self.journal.sync)

    async def attempt(self, conversation: str, run: int, outcome: dict) -> None:
        """Attempt a call until it is answered or may not be repeated; ``outcome`` has what it came to so far."""
        plan = self.plan
        body = plan.questions.body(conversation)
        spent = begun = 0.0
        while not self.stopped:
            try:
                async with self.request() as begun:
                    if self.stopped:
                        return
                    outcome["attempts"] += 1
                    if outcome["attempts"] == 1:
                        self.sent += 1
                    answer = await self.client.ask(body, max(0.0, plan.timeout - spent))
                    outcome.update(error=None, prompt_cut=False)
                    outcome.update(answer)
            except Unanswered as failed:
                spent += time.monotonic() - begun
                outcome.update(error=str(failed), prompt_cut=failed.too_long)
                if failed.final or (failed.strange and not self.has_answered):
                    if not self.stopped:
                        self.final = True
                    self.stop(failed.stop or str(failed))
                if self.stopped or not failed.again or outcome["attempts"] > plan.retries:
                    return
                await self.wait(outcome["attempts"], failed, f"{conversation} {run}")
            else:
                self.has_answered = True
                outcome["seconds"] = round(time.monotonic() - begun, 4)
                return

    def stop(self, why: str) -> None:
        """Send no more: calls that wait end at once, requests under way when their reply comes, or a little later."""
        if self.stopped:
            return

        def cancel() -> None:
            for worker in self.workers:
                worker.cancel()

        self.stopped = why
        self.ending.set()
        asyncio.get_running_loop().call_later(LAST_REPLIES, cancel)

    def keep(self, conversation: str, run: int, outcome: dict) -> None:
        """Give an answer to the journal, count it, and send no more if too many in a row could not be used."""
        ratings = list(self.plan.questions.ratings) or None
        answer = Answer(conversation, run, time=now(), asked=ratings, **outcome)
        self.journal.add(answer)
        reply = answer.reply
        self.tally.statuses[reply.status] += 1
        self.tally.input_tokens += answer.input_tokens or 0
        self.tally.output_tokens += answer.output_tokens or 0
        self.progress(self.tally)
        self.unusable = 0 if reply.status in USABLE else self.unusable + 1
        if self.unusable >= self.plan.give_up_after:
            number = count_of(self.unusable, "reply in a row", "replies in a row")
            self.stop(f"{number} could not be used; the last: {describe_reply(reply)}")


def carry_out(
    plan: Plan,
    *,
    progress: Callable[[Tally], None] = silent,
    say: Callable[[str], None] = silent,
) -> Written:
    """Send what is not answered yet, and write one prediction file for each run."""
    if importlib.util.find_spec("aiohttp") is None:
        raise UserError(
            "Asking a judge needs aiohttp, which is not installed. In a checkout: make setup. "
            "Elsewhere: pip install 'sense7-companion[judge]'."
        )
    with Journal.open(plan.folder, say) as journal:
        if journal.unlocked:
            say(f"warning: {journal.unlocked}")
        # Again, now that no other session is at work here.
        journal.check(plan.question, plan.questions, plan.runs)
        for run in range(1, plan.runs + 1):
            journal.answers(run)  # an answer that can't be read is refused before more are paid
        journal.begin(plan.question, plan.about, plan.questions, plan.runs)
        session = _Session(plan, journal, progress, say)
        try:
            if session.pending:
                asyncio.run(session.send_all())
        except ExceptionGroup as failed:  # of the workers: answers can't be kept
            raise failed.exceptions[0] from None
        finally:
            journal.sync()
        stopped = ""
        lacking = "not asked"
        if session.stopped:
            calls = count_of(len(session.pending), "call")
            stopped = f"stopped after {session.sent:,} of {calls}: {session.stopped}"
            lacking = f"not asked: {stopped}"
        outcome = Written(stopped=stopped, final=session.final)
        counts = []
        for run in range(1, plan.runs + 1):
            answered = journal.answers(run)
            answers = outcome.add(
                plan.questions, plan.folder, run, answered, lacking=lacking, policy=plan.policy
            )
            for answer in answers:
                if answer.error is None and answer.input_tokens:
                    characters = plan.questions.units[answer.conversation].characters
                    counts.append((characters, answer.input_tokens))
        outcome.remarks += few_tokens(counts)
    return outcome
