"""The verbs of ``sense7 judge``: ask a model, evaluate its predictions, or go by way of a batch.

Exit codes are those of :mod:`sense7.cli`; 1 also if calls failed. What a verb comes to goes to standard output, what it
says on the way to standard error.
"""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sense7.cli.common import complain
from sense7.errors import UserError
from sense7.judge.asking.prompt import DEFAULT_MODEL
from sense7.terminal import count_of, plain_lines

if TYPE_CHECKING:
    from sense7.judge.asking.batch import Imported
    from sense7.judge.asking.questions import Questions, Shots
    from sense7.judge.asking.run import Outcome
    from sense7.judge.asking.session import Tally

__all__ = ["judge"]

SECONDS_BETWEEN_LINES = 5.0

judge = typer.Typer(no_args_is_help=True, help="Ask a model to rate conversations, and evaluate what it says.")
batch = typer.Typer(no_args_is_help=True, help="Ask by way of OpenAI's Batch API.")
judge.add_typer(batch, name="batch")

Data = Annotated[str, typer.Option(help="A workbook, or the name of a data set.", show_default=False)]
Model = Annotated[str, typer.Option(help="Name of the model, as the endpoint knows it.")]
PromptFile = Annotated[Path | None, typer.Option("--prompt", help="File of the prompt; our own if not given.")]
ShotsKind = Annotated[str, typer.Option("--shots", help="Rated examples in the prompt: zero, adaptive or personal.")]
Number = Annotated[int, typer.Option("--examples", min=1, help="How many examples.")]
Order = Annotated[str, typer.Option(help="Of examples: similar-last, similar-first, file or shuffled.")]
Seed = Annotated[int, typer.Option(min=0, help="Seed of shuffled examples.")]
Limit = Annotated[int | None, typer.Option(min=1, help="Only the first N conversations.")]
Omit = Annotated[
    list[str] | None,
    typer.Option(help="Parameter that an endpoint refuses, such as presence_penalty, left out; can be repeated."),
]
Param = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME=JSON",
        help="Parameter of the request, such as seed=1 or 'reasoning_effort=\"low\"'; can be repeated.",
    ),
]
Policy = Annotated[str, typer.Option(help="Which reading of a reply counts: strict, or the authors' (at least 3).")]


@judge.command()
def run(
    out: Annotated[Path, typer.Option(help="Folder of the session; given again, it goes on where it was.")],
    data: Data,
    model: Model = DEFAULT_MODEL,
    base_url: Annotated[
        str | None,
        typer.Option(help="OpenAI-compatible endpoint, e.g. http://localhost:11434/v1; OpenAI's if not given."),
    ] = None,
    runs: Annotated[int, typer.Option(min=1, help="How often each conversation is asked about.")] = 1,
    concurrency: Annotated[int, typer.Option(min=1, max=1000, help="Requests at once.")] = 10,
    prompt: PromptFile = None,
    shots: ShotsKind = "zero",
    examples: Number = 5,
    order: Order = "similar-last",
    seed: Seed = 0,
    policy: Policy = "strict",
    unit: Annotated[str, typer.Option(help="What is rated: conversation or turn.")] = "conversation",
    rating: Annotated[
        str, typer.Option(help="overall, a dimension such as Affective, or all of these in one call.")
    ] = "overall",
    limit: Limit = None,
    param: Param = None,
    omit: Omit = None,
    per_minute: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="Requests that may begin in a minute.")
    ] = None,
    context: Annotated[
        int | None,
        typer.Option(min=1, metavar="TOKENS", help="Context of the model; the endpoint is asked if not given."),
    ] = None,
    timeout: Annotated[
        float, typer.Option(min=0.001, help="Seconds that a call may take, further attempts included.")
    ] = 120.0,
    retries: Annotated[int, typer.Option(min=0, help="Further attempts of a call that failed.")] = 5,
    backoff: Annotated[float, typer.Option(min=0, help="Seconds before the first of them; doubled each time.")] = 1.0,
    give_up_after: Annotated[
        int, typer.Option(min=1, metavar="N", help="Stop after N replies in a row that cannot be used.")
    ] = 10,
    price_in: Annotated[float | None, typer.Option(help="Price of a million input tokens.")] = None,
    price_out: Annotated[float | None, typer.Option(help="Price of a million output tokens.")] = None,
    limit_cost: Annotated[
        float | None, typer.Option(min=0, help="Cost above which to ask first; 10 if not given.")
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what it would take, and send nothing.")] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask first.")] = False,
) -> None:
    """Ask a model to rate every conversation.

    The key is read from SENSE7_JUDGE_KEY, else OPENAI_API_KEY; an endpoint on this machine needs none. Interrupted in
    any way, the same command goes on where it was: no answer is lost, and none is asked for twice.

    Exit code 1: calls are without an answer, no reply of a run could be used, or --give-up-after stopped it; the last
    lines say which, and show a reply.
    """
    from sense7.judge.asking.cost import Prices
    from sense7.judge.asking.endpoint import Endpoint
    from sense7.judge.asking.parameters import describe_parameters, parse_parameters
    from sense7.judge.asking.plan import plan_session
    from sense7.judge.asking.questions import Shots
    from sense7.judge.asking.run import carry_out

    prices = Prices.of(price_in, price_out)
    endpoint = Endpoint.of(base_url, to_ask=not dry_run)
    study, template = _opened(data, prompt, shots)
    plan = plan_session(
        study,
        model=model,
        endpoint=endpoint,
        folder=out,
        runs=runs,
        prompt=template,
        shots=Shots(shots, examples, order, seed),
        limit=limit,
        omit=omit or (),
        param=parse_parameters(param or ()),
        prices=prices,
        policy=policy,
        unit=unit,
        rating=rating,
        concurrency=concurrency,
        timeout=timeout,
        retries=retries,
        backoff=backoff,
        give_up_after=give_up_after,
        per_minute=per_minute,
        context=context,
    )
    key = f"key from {endpoint.key_name}" if endpoint.key else "no key"
    lines = [f"endpoint       {endpoint.address} ({key})", f"model          {model}"]
    lines += [*describe_parameters(model, plan.questions.parameters), *plan.estimate.lines()]
    unusable = count_of(give_up_after, "reply", "replies in a row")
    lines.append(f"stops          after {unusable} that cannot be used (--give-up-after)")
    if dry_run:
        print("\n".join(lines))
        return
    print("\n".join(lines), file=sys.stderr)
    get_consent(plan.estimate.needs_consent(limit_cost, near=endpoint.is_near), yes)
    with showing_progress(plan.estimate.calls) as (progress, say):
        outcome = carry_out(plan, progress=progress, say=say)
    for remark in outcome.remarks:
        print(plain_lines(f"note: {remark}"), file=sys.stderr)
    print(by_status(outcome), file=sys.stderr)
    for path in outcome.paths:
        print(path)
    problems = [outcome.stopped] if outcome.stopped else outcome.without_score
    failed = outcome.statuses["api_error"] + outcome.statuses["not_asked"]
    if failed := failed - (len(outcome.cut) - outcome.statuses["prompt_cut"]):  # too long to be sent: said below
        again = "corrected in this way, the command asks" if outcome.final else "the same command asks"
        problems.append(f"{failed:,} without an answer; {again} for these again")
    if cut := outcome.cut:
        problems.append(f"{len(cut):,} longer than the context of the model, and without a score; {cut[0]}")
    require_none(problems)


@judge.command()
def evaluate(
    paths: Annotated[list[Path], typer.Argument(help="Prediction files, or folders of them.")],
    data: Annotated[
        str | None, typer.Option(help="The data set that was judged: show where each judge errs to one side, too.")
    ] = None,
    policy: Policy = "strict",
    score_scale: Annotated[
        str | None,
        typer.Option(
            metavar="WORST-BEST",
            help="Scale of the scores in files of others, such as 0-100; 1 to 5 if not given.",
        ),
    ] = None,
    draws: Annotated[int, typer.Option(min=1, help="Draws of the bootstrap over participants.")] = 10_000,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the bootstrap.")] = 0,
    confidence: Annotated[float, typer.Option(help="Of the intervals.")] = 0.95,
    as_json: Annotated[bool, typer.Option("--json", help="Print as JSON.")] = False,
) -> None:
    """Compare predictions with the ratings: per file, and over files."""
    from sense7.judge.evaluate import evaluate as evaluate_files
    from sense7.judge.score_scale import ScoreScale
    from sense7.loading import load

    settings = {"draws": draws, "seed": seed, "confidence": confidence, "study": load(data) if data else None}
    scale = None if score_scale is None else ScoreScale.of(score_scale)
    evaluation = evaluate_files(paths, policy=policy, score_scale=scale, **settings)
    for path, why in evaluation.left_out.items():
        print(plain_lines(f"note: {path}: {why}"), file=sys.stderr)
    print(evaluation.to_json() if as_json else plain_lines(evaluation.text()))


@batch.command("export")
def export_batch(
    out: Annotated[Path, typer.Option(help="File of requests to write, one line for each.")],
    data: Data,
    model: Model = DEFAULT_MODEL,
    runs: Annotated[int, typer.Option(min=1, help="How often each conversation is asked about.")] = 1,
    prompt: PromptFile = None,
    shots: ShotsKind = "zero",
    examples: Number = 5,
    order: Order = "similar-last",
    seed: Seed = 0,
    limit: Limit = None,
    param: Param = None,
    omit: Omit = None,
    price_in: Annotated[float | None, typer.Option(help="Price of a million input tokens.")] = None,
    price_out: Annotated[float | None, typer.Option(help="Price of a million output tokens.")] = None,
) -> None:
    """Write the requests as a file for the Batch API; nothing is sent."""
    from sense7.judge.asking.batch import export_requests
    from sense7.judge.asking.cost import Prices, estimate
    from sense7.judge.asking.questions import Shots

    prices = Prices.of(price_in, price_out)
    questions = _questions(data, model, prompt, Shots(shots, examples, order, seed), limit, omit, param)
    export_requests(questions, runs, out)
    print("\n".join(estimate(questions, runs, {}, prices).lines()), file=sys.stderr)
    print(out)


@batch.command("import")
def import_batch(
    replies: Annotated[list[Path], typer.Argument(help="Files of replies, those of errors included.")],
    out: Annotated[Path, typer.Option(help="Folder of prediction files.")],
    data: Data,
    model: Model = DEFAULT_MODEL,
    runs: Annotated[
        int | None, typer.Option(min=1, help="How many were exported; the highest with a reply if not given.")
    ] = None,
    prompt: PromptFile = None,
    shots: ShotsKind = "zero",
    examples: Number = 5,
    order: Order = "similar-last",
    seed: Seed = 0,
    limit: Limit = None,
    param: Param = None,
    omit: Omit = None,
    policy: Policy = "strict",
) -> None:
    """Make prediction files of a batch's replies; data and options are those of the export."""
    from sense7.judge.asking.batch import import_replies
    from sense7.judge.asking.questions import Shots

    questions = _questions(data, model, prompt, Shots(shots, examples, order, seed), limit, omit, param)
    imported = import_replies(questions, replies, out, runs=runs, policy=policy)
    said = [
        f"{count_of(imported.missing, 'request')} without a reply" if imported.missing else "",
        f"{count_of(imported.repeated, 'further reply', 'further replies')} to the same request left out"
        if imported.repeated
        else "",
        f"{count_of(len(imported.foreign), 'reply', 'replies')} to other requests left out; "
        f"the first is {imported.foreign[0]!r}"
        if imported.foreign
        else "",
        *imported.remarks,
    ]
    for remark in filter(None, said):
        print(plain_lines(f"note: {remark}"), file=sys.stderr)
    print(f"{count_of(len(imported.paths), 'run')}; {by_status(imported)}", file=sys.stderr)
    for path in imported.paths:
        print(path)
    require_none(imported.without_score)


def require_none(problems: list[str]) -> None:
    """End with exit code 1 if there are problems, each on a line of its own."""
    for problem in problems:
        complain(problem)
    if problems:
        raise typer.Exit(1)


def _opened(data: str, prompt: Path | None, shots: str):
    """The study and the prompt that options name, None if they name no prompt; only rated examples need ratings."""
    from sense7.judge.asking.prompt import Prompt
    from sense7.loading import load

    return load(data, rated=shots != "zero"), Prompt.read(prompt) if prompt else None


def _questions(
    data: str,
    model: str,
    prompt: Path | None,
    shots: "Shots",
    limit: int | None,
    omit: list[str] | None,
    param: list[str] | None,
) -> "Questions":
    from sense7.judge.asking.parameters import parse_parameters
    from sense7.judge.asking.prompt import Prompt
    from sense7.judge.asking.questions import questions_for

    study, named = _opened(data, prompt, shots.kind)
    template = named or Prompt.bundled()
    return questions_for(
        study, template, model, shots=shots, limit=limit, omit=omit or (), param=parse_parameters(param or ())
    )


def by_status(outcome: "Outcome | Imported") -> str:
    """Say what became of the replies, in the last line before the files."""
    counts = ", ".join(f"{status} {count:,}" for status, count in sorted(outcome.statuses.items()))
    return f"{counts}; doubtful readings {outcome.doubtful:,}"


def get_consent(reason: str, yes: bool) -> None:
    """Ask first where there is a reason to.

    Raises
    ------
    UserError
        If the user says no, or there is nobody to ask.
    """
    if not reason or yes:
        return
    if not sys.stdin.isatty():
        raise UserError(
            f"{reason}. Give --yes to go on; or fewer --runs, a --limit, or prices and a --limit-cost that suffices."
        )
    if not typer.confirm(f"{reason[0].upper()}{reason[1:]}. Go on?", err=True):
        raise UserError("nothing was sent")


@contextmanager
def showing_progress(total: int) -> Iterator[tuple[Callable[["Tally"], None], Callable[[str], None]]]:
    """A bar on a terminal; elsewhere a line every few seconds, and at the end. Give also what says a line at once."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    console = Console(stderr=True, highlight=False)
    columns = (BarColumn(), TimeElapsedColumn(), TextColumn("{task.description}"))
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task("", total=total)
        last = time.monotonic()

        def show(tally: "Tally") -> None:
            nonlocal last
            if console.is_terminal:
                bar.update(task, completed=tally.done, description=tally.line())
            elif tally.done == total or time.monotonic() - last >= SECONDS_BETWEEN_LINES:
                last = time.monotonic()
                print(tally.line(), file=sys.stderr, flush=True)

        def say(line: str) -> None:
            console.print(plain_lines(line), markup=False, soft_wrap=True)

        yield show, say
