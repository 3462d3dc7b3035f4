"""A session with a judge: every conversation in every run, once, also after failures and interruptions.

An answer is on the disk before the worker that brought it sends its next request, so that a kill costs at most the
calls under way. Answers that come together wait for the disk once. The first call of a folder is sent alone: an
endpoint that refuses it, or can't be reached at all, says so before more is sent.
"""

import asyncio
import contextlib
import importlib.util
import json
import random
import time
from collections import Counter
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType

import pandas as pd

from sense7.errors import UserError
from sense7.files import digest_of, require_as_written
from sense7.judge.asking.ask import Answer, Client, Endpoint, Unanswered, describe_reply
from sense7.judge.asking.cost import CostEstimate, Price, estimate
from sense7.judge.asking.journal import Journal
from sense7.judge.asking.requests import (
    EXAMPLES,
    SYSTEM_MESSAGE,
    Prompt,
    Questions,
    asked_units,
    request_parameters,
)
from sense7.judge.files import (
    FRAME_COLUMNS,
    READINGS,
    models_that_answered,
    require_seen_by_authors,
    write_predictions,
)
from sense7.judge.ratings import UNITS, ratings_of, ratings_sheet, schema
from sense7.judge.reply import NOT_ASKED, USABLE
from sense7.study import Study
from sense7.taxonomy import DIMENSION_NAMES
from sense7.terminal import count_of, silent

BACKOFF = 1.0
LONGEST_BACKOFF = 60.0
"""Seconds before the second attempt, doubled each time, and the most; unless the endpoint says how long to wait."""

MOST_FAILURES = 10
"""Replies in a row that can't be used, after which no more are sent."""

SECONDS_BETWEEN_LINES = 5.0
"""A line of progress is said at most this often, and at the end."""


# What is to be asked


@dataclass(frozen=True, eq=False)
class Plan:
    """A session that could begin; nothing is sent or written yet. Made by :func:`plan_session`."""

    questions: Questions
    endpoint: Endpoint
    folder: Path
    runs: int
    again: bool
    concurrency: int
    timeout: float
    retries: int
    question: dict = field(repr=False)
    estimate: CostEstimate


def plan_session(
    study: Study,
    *,
    endpoint: Endpoint,
    folder: str | Path,
    runs: int = 1,
    prices: Price | None = None,
    again: bool = False,
    concurrency: int,
    timeout: float,
    retries: int,
    **options,
) -> Plan:
    """Plan of a session, after every check before anything is sent; ``options``: of :func:`questions_for`."""
    folder = Path(folder)
    require_seen_by_authors(folder)
    questions = questions_for(study, **options)
    question = {
        "model": questions.model,
        "endpoint": endpoint.address,
        "data": study.provenance.sha256 if study.provenance else "unknown",
        "prompt": questions.prompt.sha256,
        "prompt name": questions.prompt.name,
        "request": dict(questions.parameters),
        "shots": questions.shots,
        "prompts": questions.sha256,
    }
    with Journal.open(folder, question) as journal:
        is_begun = journal is not None
        pending = pending_calls(questions, runs, journal, again=again)
    paths = [questions.path(folder, run) for run in range(1, runs + 1)]
    existing = [path for path in paths if path.exists()]
    if existing and not is_begun:
        raise UserError(
            f"{existing[0]}: is there already and not from a session in this folder. Choose another folder."
        )
    require_as_written(
        existing,
        fix="Move it away and give the same command again: it is written again from the journal, "
        "where every answer is, and nothing is asked twice.",
    )
    return Plan(
        questions,
        endpoint,
        folder,
        runs,
        again,
        concurrency,
        timeout,
        retries,
        question,
        estimate(questions, runs, list(pending), prices),
    )


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
    with_schema: bool = True,
) -> Questions:
    """Put every conversation, and the examples chosen for it, into a prompt or the bundled one."""
    names = ratings_of(rating)
    if unit not in UNITS:
        raise UserError(f"--unit {unit}: there is no such unit. Choose {' or '.join(UNITS)}.")
    prompt = prompt or Prompt.bundled(unit, rating)
    is_standard = (unit, rating) == ("conversation", "overall")
    needed = {}
    if len(names) > 1 and with_schema:
        needed = {"response_format": schema(names)}
    parameters = request_parameters(omit, param, needed)
    if not model.strip():
        raise UserError("--model: is empty. Give the name by which the endpoint knows the model.")
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
    prompts = {}
    for conversation, chat in zip(frame["conversation"], frame["chat"], strict=True):
        prompts[conversation] = prompt.fill(chat, examples[conversation])
    frame = frame.assign(prompt=prompts.values())
    # Of all that a request says.
    frame["characters"] = frame["prompt"].str.len() + len(SYSTEM_MESSAGE)
    prompts_sha256 = digest_of(json.dumps(prompts).encode())
    if limit:
        frame = frame[pd.factorize(frame["source"])[0] < limit].reset_index(drop=True)
    if is_standard:
        names = ()
    return Questions(model, prompt, shots, frame, prompts_sha256, parameters, names)


def pending_calls(
    questions: Questions, runs: int, journal: Journal | None, *, again: bool
) -> dict[tuple[str, int], int]:
    """Calls without an answer, or to ask ``again`` without a usable one -> which attempt it is."""
    if journal is None:
        every = [(name, run) for run in range(1, runs + 1) for name in questions.units]
        return dict.fromkeys(every, 1)
    pending = dict.fromkeys(journal.pending(questions.units, runs), 1)
    if again:
        for run in range(1, runs + 1):
            for name, answer in journal.answers(run).items():
                is_usable = answer.reply(questions.ratings).status in USABLE
                if name in questions.units and not is_usable:
                    pending[name, run] = answer.attempts + 1
    return pending


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

    def line(self) -> str:
        """Say it in one line."""
        rate = self.done / max(time.monotonic() - self.begun, 1e-9)
        counts = [f"{status} {count:,}" for status, count in sorted(self.statuses.items())]
        parts = [f"{self.done:,}/{self.total:,} calls, {rate:.1f} a second", *counts]
        parts.append(f"{self.input_tokens:,} + {self.output_tokens:,} tokens")
        if self.prices is not None:
            cost = self.prices.cost(self.input_tokens, self.output_tokens)
            parts.append(f"cost {cost:,.2f}")
        return "; ".join(parts)


@dataclass(eq=False)
class _Session:
    """The calls of a plan that are not answered yet, and the requests under way."""

    plan: Plan
    journal: Journal
    say: Callable[[str], None]
    failed: dict[tuple[str, int], Answer] = field(default_factory=dict)
    failures: int = 0
    stopped: str = ""
    ending: asyncio.Event = field(default_factory=asyncio.Event)
    disk: asyncio.Lock = field(default_factory=asyncio.Lock)
    next_write: asyncio.Task | None = None
    said_until: float = 0.0

    def __post_init__(self):
        plan = self.plan
        self.pending = pending_calls(plan.questions, plan.runs, self.journal, again=plan.again)
        self.tally = Tally(len(self.pending), plan.estimate.prices)
        self.has_answered = self.journal.has_answer
        self.next_line = self.tally.begun + SECONDS_BETWEEN_LINES

    async def send_all(self) -> None:
        """Send the first call alone, then as many at once as may be."""
        calls = iter(self.pending)
        client = Client(self.plan.endpoint, self.plan.timeout)
        async with client.openai:

            async def work() -> None:
                for conversation, run in calls:
                    if self.stopped:
                        return
                    await self.call(client, conversation, run)

            if not self.has_answered:
                await self.call(client, *next(calls))
            async with asyncio.TaskGroup() as group:
                for _ in range(self.plan.concurrency):
                    group.create_task(work())

    async def call(self, client: Client, conversation: str, run: int) -> None:
        """Make a call, in as many requests as it needs and may have; keep its answer."""
        body = self.plan.questions.body(conversation)
        for repetition in range(self.plan.retries + 1):
            begun = time.monotonic()
            try:
                content = await client.ask(body)
            except Unanswered as failed:
                answer = Answer(conversation, run, error=failed.reason)
                is_last = repetition == self.plan.retries or not failed.again
                # A server that is down from the beginning is said at once.
                if is_last or self.stopped or (failed.is_down and not self.has_answered):
                    break
                await self.wait(failed, repetition)
            else:
                seconds = round(time.monotonic() - begun, 4)
                answer = Answer(
                    conversation, run, content, seconds, self.pending[conversation, run]
                )
                problem = answer.columns.get("error")
                if (
                    problem and not self.has_answered
                ):  # a page of another server, rather than a reply
                    answer = Answer(conversation, run, error=problem)
                    break
                self.journal.waiting.append(answer)
                if self.next_write is None:
                    self.next_write = asyncio.create_task(self.write())
                self.count(answer)  # as they come: a slow disk changes no row of failures
                await self.next_write
                return
        self.count(answer)

    async def write(self) -> None:
        """Write all answers that came since the last write began: many calls share one wait for the disk."""
        async with self.disk:
            self.next_write = None
            await asyncio.to_thread(self.journal.write)

    async def wait(self, failed: Unanswered, repetition: int) -> None:
        """Wait before a call is sent again: as long as the endpoint asks, or longer each time."""
        seconds = failed.wait
        if seconds is None:
            seconds = min(LONGEST_BACKOFF, BACKOFF * 2.0**repetition)
        # Calls that were refused together come apart.
        seconds += random.uniform(0, min(1.0, seconds))  # noqa: S311
        # They often wait together: that is said once.
        if time.monotonic() + seconds > self.said_until + 1:
            self.said_until = time.monotonic() + seconds
            self.say(f"waiting {seconds:,.0f} seconds before the next attempt: {failed.reason}")
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self.ending.wait(), seconds)

    def count(self, answer: Answer) -> None:
        """Count what a call came to, and send no more if the first failed, or too many in a row could not be used."""
        reply = answer.reply(self.plan.questions.ratings)
        if answer.error is not None:
            self.failed[answer.conversation, answer.run] = answer
        self.tally.statuses[reply.status] += 1
        self.tally.input_tokens += answer.columns.get("input_tokens") or 0
        self.tally.output_tokens += answer.columns.get("output_tokens") or 0
        if self.tally.done == self.tally.total or time.monotonic() >= self.next_line:
            self.next_line = time.monotonic() + SECONDS_BETWEEN_LINES
            self.say(self.tally.line())
        self.failures = 0 if reply.status in USABLE else self.failures + 1
        why = ""
        if not self.has_answered and reply.status == "api_error":
            why = f"the first call was not answered: {reply.reason}"
        elif self.failures >= MOST_FAILURES:
            why = f"{self.failures} replies in a row could not be used; the last: {describe_reply(reply)}"
        self.has_answered = self.has_answered or reply.status != "api_error"
        if why and not self.stopped:
            self.stopped = why
            self.ending.set()


# What came of it


@dataclass
class Written:
    """The prediction files of a session, and what its replies came to."""

    paths: list[Path] = field(default_factory=list)
    statuses: Counter = field(default_factory=Counter)
    remarks: list[str] = field(default_factory=list)
    doubtful: int = 0
    without_score: list[str] = field(default_factory=list)
    unanswered: int = 0
    stopped: str = ""

    def add(self, plan: Plan, run: int, answers: Mapping[str, Answer]) -> None:
        """Write the file of a run, and count what its replies came to."""
        questions = plan.questions
        units = questions.frame
        rows = []
        unusable = ""
        for name in units["conversation"]:
            answer = answers.get(name)
            if answer is None or answer.error is not None:
                self.unanswered += 1
            if answer is None:
                why = f"not asked: {self.stopped}" if self.stopped else "not asked"
                rows.append({"status": NOT_ASKED, "reason": why, "doubtful": False, "levels": {}})
                continue
            reply = answer.reply(questions.ratings)
            sent = {"seconds": answer.seconds, "attempts": answer.attempts}
            rows.append({**vars(reply), **answer.columns, **sent})
            if reply.status not in USABLE:
                unusable = describe_reply(reply)
        frame = pd.DataFrame(rows, units.index).assign(
            model=questions.model, run=run, prompt_sha256=questions.prompt.sha256
        )
        for name in ("conversation", "participant", "chat", "prompt", "ground_truth"):
            frame[name] = units[name]
        further = []
        if questions.ratings:
            further.append(ratings_sheet(units, questions.ratings, frame["levels"].tolist()))
        frame = frame.reindex(columns=[*FRAME_COLUMNS, *READINGS])
        path = questions.path(plan.folder, run)
        self.paths.append(path)
        self.remarks += write_predictions(path, frame, further=further, own=True)
        self.remarks += [f"run {run:,}: {note}" for note in models_that_answered(frame)]
        self.statuses.update(frame["status"])
        self.doubtful += int(frame["doubtful"].sum())
        if answers and not frame["status"].isin(USABLE).any():
            number = count_of(len(answers), "reply", "replies")
            self.without_score.append(
                f"run {run:,}: none of {number} could be used; the last: {unusable}"
            )


def carry_out(
    plan: Plan,
    *,
    say: Callable[[str], None] = silent,
) -> Written:
    """Send what is not answered yet, and write one prediction file for each run."""
    if importlib.util.find_spec("openai") is None:
        raise UserError(
            "Asking a judge needs openai, which is not installed. In a checkout: make setup. "
            "Elsewhere: pip install 'sense7-companion[judge]'."
        )
    with Journal.open(plan.folder, plan.question, to_write=True) as journal:
        session = _Session(plan, journal, say)
        try:
            if session.pending:
                asyncio.run(session.send_all())
        except ExceptionGroup as failed:  # of the workers: answers can't be kept
            raise failed.exceptions[0] from None
        finally:
            journal.write()
        outcome = Written()
        if session.stopped:
            calls = count_of(len(session.pending), "call")
            outcome.stopped = f"stopped after {session.tally.done:,} of {calls}: {session.stopped}"
        if not journal.has_answer:  # there is nothing to write
            outcome.unanswered = len(session.pending)
            return outcome
        for run in range(1, plan.runs + 1):
            answers = journal.answers(run)
            for (name, number), answer in session.failed.items():
                if number == run:
                    answers.setdefault(name, answer)
            outcome.add(plan, run, answers)
    return outcome
