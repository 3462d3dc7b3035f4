"""What a session with a judge is to ask, of whom, and how: checked before anything is sent."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import sense7
from sense7.arguments import check_arguments
from sense7.errors import UserError
from sense7.judge.asking.answers import now
from sense7.judge.asking.client import proxy_of
from sense7.judge.asking.cost import CostEstimate, Prices, estimate
from sense7.judge.asking.endpoint import Endpoint
from sense7.judge.asking.journal import JOURNAL, MANIFEST, check_manifest, read_journal, require_same_requests
from sense7.judge.asking.prompt import SYSTEM_MESSAGE, Prompt
from sense7.judge.asking.questions import Questions, Shots, questions_for
from sense7.judge.asking.ratings_prompt import prompt_for_ratings
from sense7.judge.predictions import SKIPPED_WORD, prediction_path
from sense7.judge.ratings import ratings_of, require_unit
from sense7.judge.reply import check_policy
from sense7.study import Study

__all__ = ["Plan", "plan_session"]


@dataclass(frozen=True, eq=False)
class Plan:
    """A session that could begin; nothing is sent or written yet. Made by :func:`plan_session`."""

    questions: Questions
    endpoint: Endpoint
    folder: Path
    runs: int
    estimate: CostEstimate
    concurrency: int
    timeout: float
    retries: int
    backoff: float
    give_up_after: int
    policy: str
    per_minute: int | None
    context: int | None
    manifest: dict = field(repr=False)
    about: dict = field(repr=False)

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
    shots: Shots | None = None,
    limit: int | None = None,
    omit: Collection[str] = (),
    param: Mapping | None = None,
    prices: Prices | None = None,
    policy: str = "strict",
    unit: str = "conversation",
    rating: str = "overall",
    concurrency: int = 10,
    timeout: float = 120.0,
    retries: int = 5,
    backoff: float = 1.0,
    give_up_after: int = 10,
    per_minute: int | None = None,
    context: int | None = None,
) -> Plan:
    """Plan of a session, after every check that is possible before anything is sent."""
    folder = Path(folder)
    check_policy(policy)
    _require_numbers(
        runs=(runs, 1),
        concurrency=(concurrency, 1),
        retries=(retries, 0),
        give_up_after=(give_up_after, 1),
        limit=(limit, 1),
        per_minute=(per_minute, 1),
        context=(context, 1),
    )
    if not timeout > 0 or not backoff >= 0:
        raise UserError("timeout and backoff are seconds. Give numbers above 0.")
    if SKIPPED_WORD in str(folder.absolute()):
        raise UserError(
            f"{folder.absolute()}: the path holds the word {SKIPPED_WORD}, and the authors' evaluation passes over "
            "such files. Choose another folder."
        )
    proxy_of(endpoint)
    template = prompt or _bundled_prompt(unit, rating)
    _check_combination(unit, rating, policy)
    questions = questions_for(
        study,
        template,
        model,
        shots=shots,
        limit=limit,
        omit=omit,
        param=param,
        unit=unit,
        rating=rating,
    )
    manifest = _manifest(study, model, endpoint, questions)
    if questions.ratings:
        manifest |= {"unit": unit, "rating": rating}
    answers, _ = read_journal(folder / JOURNAL)
    check_manifest(folder, manifest, answers)
    require_same_requests(folder, answers, questions, runs)
    plan = Plan(
        questions,
        endpoint,
        folder,
        runs,
        estimate(questions, runs, answers, prices),
        concurrency,
        timeout,
        retries,
        backoff,
        give_up_after,
        policy,
        per_minute,
        context,
        manifest,
        {"data": study.name, "base_url": endpoint.address, "sense7": sense7.__version__, "begun": now()},
    )
    existing = [plan.path(run) for run in range(1, runs + 1) if plan.path(run).exists()]
    if existing and not (folder / MANIFEST).exists():
        raise UserError(
            f"{existing[0]}: is there already and not from a session in this folder. Choose another folder."
        )
    return plan


def _bundled_prompt(unit: str, rating: str) -> Prompt:
    """Our own prompt for what is asked."""
    if (unit, rating) == ("conversation", "overall"):
        return Prompt.bundled()
    ratings_of(rating)
    require_unit(unit)
    return prompt_for_ratings(unit, rating)


def _check_combination(unit: str, rating: str, policy: str) -> None:
    """Refuse options that exclude each other."""
    if (unit, rating) != ("conversation", "overall") and policy != "strict":
        raise UserError(f"--policy {policy}: the authors' rule reads no ratings of turns or dimensions. Give strict.")


def _require_numbers(**given: tuple[int | None, int]) -> None:
    """Refuse numbers below the least; None where one need not be given."""
    for name, (value, least) in given.items():
        if value is not None and value < least:
            raise UserError(f"{name} is {value}. Give a number from {least}.")


def _manifest(study: Study, model: str, endpoint: Endpoint, questions: Questions) -> dict:
    """What a later session in the same folder has to ask as well."""
    return {
        "model": model,
        "endpoint": endpoint.identity + "".join(f"?{name}={value}" for name, value in endpoint.query.items()),
        "data": study.provenance.sha256 if study.provenance else "unknown",
        "prompt": questions.prompt.sha256,
        "prompt name": questions.prompt.name,
        "system message": SYSTEM_MESSAGE,
        "request": dict(questions.parameters),
        "shots": questions.shots.to_dict(),
        "requests": questions.sha256,
    }


check_arguments(globals())
