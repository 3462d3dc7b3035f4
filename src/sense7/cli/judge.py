"""The verbs of ``sense7 judge``: ask a model, evaluate, compare and calibrate predictions, or go by way of a batch.

Exit codes are those of :mod:`sense7.cli`; 1 also if calls failed. What a verb comes to goes to standard output, what it
says on the way to standard error.
"""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sense7.cli.common import complain, with_options
from sense7.errors import UserError
from sense7.judge import DEFAULT_MODEL
from sense7.terminal import count_of, plain_lines

if TYPE_CHECKING:
    from sense7.judge.answers import Written
    from sense7.judge.session import Tally

__all__ = ["judge"]

SECONDS_BETWEEN_LINES = 5.0

judge = typer.Typer(no_args_is_help=True, help="Ask a model to rate conversations, and evaluate what it says.")
batch = typer.Typer(no_args_is_help=True, help="Ask by way of OpenAI's Batch API.")


@dataclass(frozen=True, kw_only=True)
class Asking:
    """What is asked, and of which conversations: the same for a session and a batch."""

    data: Annotated[str, typer.Option(help="A workbook, or the name of a data set.", show_default=False)]
    model: Annotated[str, typer.Option(help="Name of the model, as the endpoint knows it.")] = DEFAULT_MODEL
    prompt: Annotated[Path | None, typer.Option(help="File of the prompt; our own if not given.")] = None
    shots: Annotated[str, typer.Option(help="Rated examples in the prompt: zero, adaptive or personal.")] = "zero"
    examples: Annotated[int, typer.Option(min=1, help="How many examples.")] = 5
    order: Annotated[str, typer.Option(help="Of examples: similar-last, similar-first, file or shuffled.")] = (
        "similar-last"
    )
    seed: Annotated[int, typer.Option(min=0, help="Seed of shuffled examples.")] = 0
    limit: Annotated[int | None, typer.Option(min=1, help="Only the first N conversations.")] = None
    param: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=JSON",
            help="Parameter of the request, such as seed=1 or 'reasoning_effort=\"low\"'; can be repeated.",
        ),
    ] = None
    omit: Annotated[
        list[str] | None,
        typer.Option(help="Parameter that an endpoint refuses, such as presence_penalty, left out; can be repeated."),
    ] = None

    def opened(self) -> dict:
        """The study and the rest of what :func:`sense7.judge.session.questions_for` takes."""
        from sense7.judge.requests import Prompt, Shots, parse_parameters
        from sense7.loading import load

        return {
            "study": load(self.data, rated=self.shots != "zero"),  # only rated examples need ratings
            "prompt": Prompt.read(self.prompt) if self.prompt else None,
            "model": self.model,
            "shots": Shots(self.shots, self.examples, self.order, self.seed),
            "limit": self.limit,
            "param": parse_parameters(self.param or ()),
            "omit": self.omit or (),
        }


@dataclass(frozen=True, kw_only=True)
class Tokens:
    """What tokens cost."""

    price_in: Annotated[float | None, typer.Option(help="Price of a million input tokens.")] = None
    price_out: Annotated[float | None, typer.Option(help="Price of a million output tokens.")] = None

    @property
    def price(self):
        """The price of both, None if none was given."""
        from sense7.judge.cost import Price

        return Price.of(self.price_in, self.price_out)


@dataclass(frozen=True, kw_only=True)
class Intervals:
    """The bootstrap over participants."""

    draws: Annotated[int, typer.Option(min=1, help="Draws of the bootstrap over participants.")] = 10_000
    seed: Annotated[int, typer.Option(min=0, help="Seed of the bootstrap.")] = 0
    confidence: Annotated[float, typer.Option(help="Of the intervals.")] = 0.95


Runs = Annotated[int, typer.Option(min=1, help="How often each conversation is asked about.")]
Policy = Annotated[str, typer.Option(help="Which reading of a reply counts: strict, or the authors' (at least 3).")]


@dataclass(frozen=True, kw_only=True)
class Evaluated(Intervals):
    """How predictions are read and measured."""

    policy: Policy = "strict"
    score_scale: Annotated[
        str | None,
        typer.Option(
            metavar="WORST-BEST", help="Scale of scores in files of others, such as 0-100; 1 to 5 if not given."
        ),
    ] = None
    as_json: Annotated[bool, typer.Option("--json", help="Print as JSON, every metric included.")] = False

    def show(self, report: Callable, paths: list[Path], data: str | None, **given) -> None:
        """Print a report on the files, as text or as JSON."""
        from sense7.judge.files import ScoreScale
        from sense7.loading import load

        found = report(
            paths,
            study=load(data) if data else None,
            policy=self.policy,
            score_scale=None if self.score_scale is None else ScoreScale.of(self.score_scale),
            **{one.name: getattr(self, one.name) for one in fields(Intervals)},
            **given,
        )
        for path, why in found.left_out.items():
            print(plain_lines(f"note: {path}: {why}"), file=sys.stderr)
        print(found.to_json() if self.as_json else plain_lines(found.text()))


@dataclass(frozen=True, kw_only=True)
class Sending:
    """How requests are sent, and what is made of their replies."""

    runs: Runs = 1
    concurrency: Annotated[int, typer.Option(min=1, max=1000, help="Requests at once.")] = 10
    policy: Policy = "strict"
    unit: Annotated[str, typer.Option(help="What is rated: conversation or turn.")] = "conversation"
    rating: Annotated[
        str, typer.Option(help="overall, a dimension such as Affective, or all of these in one call.")
    ] = "overall"
    per_minute: Annotated[int | None, typer.Option(min=1, metavar="N", help="Requests that may begin in a minute.")] = (
        None
    )
    context: Annotated[
        int | None,
        typer.Option(min=1, metavar="TOKENS", help="Context of the model; the endpoint is asked if not given."),
    ] = None
    timeout: Annotated[
        float, typer.Option(min=0.001, help="Seconds that a call may take, further attempts included.")
    ] = 120.0
    retries: Annotated[int, typer.Option(min=0, help="Further attempts of a call that failed.")] = 5
    backoff: Annotated[float, typer.Option(min=0, help="Seconds before the first of them; doubled each time.")] = 1.0
    give_up_after: Annotated[
        int, typer.Option(min=1, metavar="N", help="Stop after N replies in a row that cannot be used.")
    ] = 10


@judge.command()
@with_options
def run(
    out: Annotated[Path, typer.Option(help="Folder of the session; given again, it goes on where it was.")],
    asking: Asking,
    tokens: Tokens,
    sending: Sending,
    base_url: Annotated[
        str | None,
        typer.Option(help="OpenAI-compatible endpoint, e.g. http://localhost:11434/v1; OpenAI's if not given."),
    ] = None,
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
    from sense7.judge.endpoint import Endpoint
    from sense7.judge.requests import describe_parameters
    from sense7.judge.session import carry_out, plan_session

    endpoint = Endpoint.of(base_url, to_ask=not dry_run)
    plan = plan_session(**asking.opened(), **asdict(sending), endpoint=endpoint, folder=out, prices=tokens.price)
    key = f"key from {endpoint.key_name}" if endpoint.key else "no key"
    lines = [f"endpoint       {endpoint.address} ({key})", f"model          {asking.model}"]
    lines += [*describe_parameters(asking.model, plan.questions.parameters), *plan.estimate.lines()]
    unusable = count_of(plan.give_up_after, "reply", "replies in a row")
    lines.append(f"stops          after {unusable} that cannot be used (--give-up-after)")
    if dry_run:
        print("\n".join(lines))
        return
    print("\n".join(lines), file=sys.stderr)
    reason = "" if yes else plan.estimate.needs_consent(limit_cost, near=endpoint.is_near)
    if reason and not sys.stdin.isatty():
        raise UserError(
            f"{reason}. Give --yes to go on; or fewer --runs, a --limit, or prices and a --limit-cost that suffices."
        )
    if reason and not typer.confirm(f"{reason[0].upper()}{reason[1:]}. Go on?", err=True):
        raise UserError("nothing was sent")
    with showing_progress(plan.estimate.calls) as (progress, say):
        outcome = carry_out(plan, progress=progress, say=say)
    problems = [outcome.stopped] if outcome.stopped else outcome.without_score
    failed = outcome.statuses["api_error"] + outcome.statuses["not_asked"]
    if failed := failed - (len(outcome.cut) - outcome.statuses["prompt_cut"]):  # too long to be sent: said below
        again = "corrected in this way, the command asks" if outcome.final else "the same command asks"
        problems.append(f"{failed:,} without an answer; {again} for these again")
    if cut := outcome.cut:
        problems.append(f"{len(cut):,} longer than the context of the model, and without a score; {cut[0]}")
    _end(outcome, outcome.remarks, "", problems)


@judge.command()
@with_options
def evaluate(
    paths: Annotated[list[Path], typer.Argument(help="Prediction files, or folders of them.")],
    evaluated: Evaluated,
    data: Annotated[
        str | None, typer.Option(help="The data set that was judged: show where each judge errs to one side, too.")
    ] = None,
) -> None:
    """Compare predictions with the ratings: per file, and over files."""
    from sense7.judge.report import evaluate as evaluate_files

    evaluated.show(evaluate_files, paths, data)


@judge.command()
@with_options
def compare(
    paths: Annotated[list[Path], typer.Argument(help="Prediction files, or folders of them, of any number of judges.")],
    evaluated: Evaluated,
    data: Annotated[
        str | None, typer.Option(help="The data set that was judged: compare with its baselines, too.")
    ] = None,
    each_run: Annotated[bool, typer.Option("--each-run", help="Take each file for a judge of its own.")] = False,
    price: Annotated[
        list[str] | None,
        typer.Option(metavar="JUDGE=IN,OUT", help="Prices of a million tokens read and written; can be repeated."),
    ] = None,
    jury: Annotated[
        str, typer.Option(metavar="mean|median|majority", help="Juries of runs and of judges, beside their members.")
    ] = "",
    worth: Annotated[float, typer.Option(help="Gain in a metric that a further call of a jury has to bring.")] = 0.0,
) -> None:
    """Compare judges with each other: paired differences of every metric, on the same conversations.

    Files that are called alike but for the number of the run are runs of one judge. Judges are averaged only by
    --jury, which adds what juries gain over their members, and whether that is worth the calls.
    """
    from sense7.judge.cost import Price
    from sense7.judge.report import compare as compare_files

    prices = dict(Price.named(text) for text in price or ())
    evaluated.show(compare_files, paths, data, each_run=each_run, prices=prices, jury=jury, worth=worth)


@judge.command()
@with_options
def learn(
    data: Annotated[str, typer.Option(help="A workbook, or the name of a data set.", show_default=False)],
    out: Annotated[Path, typer.Option(help="Folder of the prediction files.")],
    baseline: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="A baseline of the book, in place of the learned judge; may be repeated."),
    ] = None,
) -> None:
    """Predict every conversation by what other participants' ratings teach, offline.

    The learned judge is the mean of two ridge regressions, on words and on how much the assistant wrote. No
    conversation is predicted by ratings of its own participant. Its files are those of a judge: evaluate, compare or
    calibrate them.
    """
    from sense7.judge.learned import LEARNED, write_learned
    from sense7.loading import load

    study = load(data)
    rated = count_of(len(study.conversations), "conversation")
    people = count_of(study.conversations["participant"].nunique(), "participant")
    print(plain_lines(f"learning from {rated} of {people}; up to a minute or two ..."), file=sys.stderr, flush=True)
    for path in write_learned(study, out, baseline or (LEARNED,)):
        print(plain_lines(str(path)))


@judge.command()
@with_options
def calibrate(
    paths: Annotated[list[Path], typer.Argument(help="Prediction files with ratings, or folders of them.")],
    out: Annotated[Path, typer.Option(help="Folder of the calibrated prediction files.")],
    intervals: Intervals,
    mapping: Annotated[str, typer.Option(help="isotonic or ordinal.")] = "isotonic",
) -> None:
    """Bring scores to the level of the ratings, by what other participants teach.

    No score is mapped by ratings of its own participant. Files are written in the judges' layout, and a table says how
    far scores were from ratings before and after.
    """
    from sense7.judge.report import calibrate as calibrate_files

    done = calibrate_files(paths, out, mapping=mapping, **vars(intervals))
    print(plain_lines(done.text()))


judge.add_typer(batch, name="batch")


@batch.command("export")
@with_options
def export_batch(
    out: Annotated[Path, typer.Option(help="File of requests to write, one line for each.")],
    asking: Asking,
    tokens: Tokens,
    runs: Runs = 1,
) -> None:
    """Write the requests as a file for the Batch API; nothing is sent."""
    from sense7.judge.batch import export_requests
    from sense7.judge.cost import estimate
    from sense7.judge.session import questions_for

    prices, questions = tokens.price, questions_for(**asking.opened())
    export_requests(questions, runs, out)
    print("\n".join(estimate(questions, runs, prices=prices).lines()), file=sys.stderr)
    print(out)


@batch.command("import")
@with_options
def import_batch(
    replies: Annotated[list[Path], typer.Argument(help="Files of replies, those of errors included.")],
    out: Annotated[Path, typer.Option(help="Folder of prediction files.")],
    asking: Asking,
    runs: Annotated[
        int | None, typer.Option(min=1, help="How many were exported; the highest with a reply if not given.")
    ] = None,
    policy: Policy = "strict",
) -> None:
    """Make prediction files of a batch's replies; data and options are those of the export."""
    from sense7.judge.batch import import_replies
    from sense7.judge.session import questions_for

    imported = import_replies(questions_for(**asking.opened()), replies, out, runs=runs, policy=policy)
    said = []
    if imported.missing:
        said.append(f"{count_of(imported.missing, 'request')} without a reply")
    if imported.repeated:
        said.append(f"{count_of(imported.repeated, 'further reply', 'further replies')} to the same request left out")
    if imported.foreign:
        others = count_of(len(imported.foreign), "reply", "replies")
        said.append(f"{others} to other requests left out; the first is {imported.foreign[0]!r}")
    number = f"{count_of(len(imported.paths), 'run')}; "
    _end(imported, [*said, *imported.remarks], number, imported.without_score)


def _end(outcome: "Written", remarks: list[str], number: str, problems: list[str]) -> None:
    """Say what became of the replies, give the files, and end with exit code 1 if there are problems."""
    for remark in remarks:
        print(plain_lines(f"note: {remark}"), file=sys.stderr)
    counts = ", ".join(f"{status} {count:,}" for status, count in sorted(outcome.statuses.items()))
    print(f"{number}{counts}; doubtful readings {outcome.doubtful:,}", file=sys.stderr)
    for path in outcome.paths:
        print(path)
    for problem in problems:
        complain(problem)
    if problems:
        raise typer.Exit(1)


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
