"""The verbs of ``sense7 judge``: ask a model; evaluate, compare and calibrate predictions.

Exit codes are those of :mod:`sense7.cli`; 1 also if calls failed. What a verb comes to goes to standard output, what it
says on the way to standard error.
"""

import sys
from pathlib import Path
from typing import Annotated

import typer

from sense7.cli.common import Data, Json, Many, argument, complain, option, reporting
from sense7.errors import UserError
from sense7.judge import DEFAULT_MODEL
from sense7.loading import load
from sense7.terminal import plain_lines

judge = typer.Typer(
    no_args_is_help=True, help="Ask a model to rate conversations, and evaluate what it says."
)

Policy = Annotated[
    str, option("Which reading of a reply counts: strict, or the authors' (at least 3).")
]
Files = Annotated[list[Path], argument("Prediction files, or folders of them.")]
ScoreScale = Annotated[
    str | None, option("Of others' scores, such as 0-100.", metavar="WORST-BEST")
]
Draws = Annotated[int, option("Draws of the bootstrap over participants.", min=1)]


@judge.command()
def run(
    *,
    out: Annotated[Path, option("Folder of the session; given again, it goes on where it was.")],
    data: Data,
    model: Annotated[str, option("Name of the model, as the endpoint knows it.")] = DEFAULT_MODEL,
    prompt: Annotated[Path | None, option("File of the prompt; our own if not given.")] = None,
    shots: Annotated[
        int, option("How many rated examples the prompt holds, of other participants.", min=0)
    ] = 0,
    limit: Annotated[int | None, option("Only the first N conversations.", min=1)] = None,
    param: Annotated[
        Many, option("Of the request, such as seed=1. Can be repeated.", metavar="NAME=JSON")
    ] = (),
    omit: Annotated[
        Many, option("Parameter that the endpoint refuses, left out. Can be repeated.")
    ] = (),
    unit: Annotated[str, option("What is rated: conversation or turn.")] = "conversation",
    rating: Annotated[
        str, option("overall, a dimension such as Affective, or all of these in one call.")
    ] = "overall",
    no_schema: Annotated[bool, option("Do not send the schema of --rating all.", "--no-schema")] = (
        False
    ),
    runs: Annotated[int, option("How often each conversation is asked about.", min=1)] = 1,
    concurrency: Annotated[int, option("Requests at once.", min=1)] = 10,
    timeout: Annotated[float, option("Seconds in which a reply has to come.", min=0.001)] = 120.0,
    retries: Annotated[
        int, option("How often a call is sent again after HTTP 429, 503 or no connection.", min=0)
    ] = 5,
    again: Annotated[bool, option("Ask again where a reply could not be used.", "--again")] = False,
    base_url: Annotated[
        str | None, option("Endpoint, as http://localhost:11434/v1; OpenAI's if not given.")
    ] = None,
    header: Annotated[
        Many,
        option(
            "A further header; {key} is replaced by the key. Can be repeated.",
            metavar="'NAME: VALUE'",
        ),
    ] = (),
    price_in: Annotated[float | None, option("Price of a million input tokens.")] = None,
    price_out: Annotated[float | None, option("Price of a million output tokens.")] = None,
    dry_run: Annotated[
        bool, option("Say what it would take, and send nothing.", "--dry-run")
    ] = False,
    yes: Annotated[
        bool, option("Go on, however many calls or whatever price.", "--yes", "-y")
    ] = False,
) -> None:
    """Ask a model to rate every conversation.

    The key is read from SENSE7_JUDGE_KEY, else OPENAI_API_KEY; an endpoint on this machine needs none. Interrupted in
    any way, the same command goes on where it was: no answer is lost, and none is asked for twice.

    Exit code 1: calls are without an answer, no reply of a run could be used, or ten in a row could not; the last lines
    say which, and show a reply.
    """
    from sense7.judge.asking.ask import Endpoint
    from sense7.judge.asking.cost import Price
    from sense7.judge.asking.requests import Prompt, parse_parameters
    from sense7.judge.asking.session import carry_out, plan_session

    endpoint = Endpoint.of(base_url, header, to_ask=not dry_run)
    say = reporting()
    plan = plan_session(
        load(data, rated=shots > 0),  # only rated examples need ratings
        endpoint=endpoint,
        folder=out,
        prices=Price.of(price_in, price_out),
        model=model,
        prompt=prompt and Prompt.read(prompt),
        shots=shots,
        limit=limit,
        param=parse_parameters(param),
        omit=omit,
        unit=unit,
        rating=rating,
        with_schema=not no_schema,
        runs=runs,
        concurrency=concurrency,
        timeout=timeout,
        retries=retries,
        again=again,
    )
    lines = [
        f"endpoint       {endpoint.address} ({endpoint.key_name or 'no key'})",
        f"model          {model}",
        *plan.estimate.lines(),
    ]
    print("\n".join(lines), file=sys.stdout if dry_run else sys.stderr)
    if dry_run:
        return
    reason = plan.estimate.needs_consent(near=endpoint.is_near)
    if reason and not yes:
        raise UserError(f"{reason}. Give --yes to go on; or fewer --runs, or a --limit.")
    outcome = carry_out(plan, say=say)
    problems = [outcome.stopped] if outcome.stopped else outcome.without_score
    if outcome.unanswered:
        problems.append(
            f"{outcome.unanswered:,} without an answer; the same command asks for these again"
        )
    for remark in outcome.remarks:
        say(f"note: {remark}")
    if outcome.statuses:
        counts = [f"{status} {count:,}" for status, count in sorted(outcome.statuses.items())]
        say(f"{', '.join(counts)}; doubtful readings {outcome.doubtful:,}")
    for path in outcome.paths:
        print(path)
    for problem in problems:
        complain(problem)
    if problems:
        raise typer.Exit(1)


@judge.command()
def evaluate(
    paths: Files,
    policy: Policy = "strict",
    score_scale: ScoreScale = None,
    draws: Draws = 10_000,
    as_json: Json = False,
) -> None:
    """Compare predictions with the ratings: per file, and over files."""
    from sense7.cli.judge_words import notes_of_evaluation, print_evaluation
    from sense7.judge.scores.report import evaluate as evaluate_files

    report = evaluate_files(paths, policy=policy, score_scale=score_scale, draws=draws)
    _show(report, print_evaluation, notes_of_evaluation(report), as_json=as_json)


@judge.command()
def compare(
    paths: Files,
    data: Annotated[str | None, option("The data set that was judged: adds baselines.")] = None,
    policy: Policy = "strict",
    score_scale: ScoreScale = None,
    draws: Draws = 10_000,
    as_json: Json = False,
) -> None:
    """Compare the first judge with each other one: paired differences of every metric, on the same conversations.

    Files that are called alike but for the number of the run are runs of one judge.
    """
    from sense7.cli.judge_words import notes_of_files, print_comparison
    from sense7.judge.scores.report import compare as compare_files

    report = compare_files(
        paths,
        study=data and load(data),
        policy=policy,
        score_scale=score_scale,
        draws=draws,
    )
    _show(report, print_comparison, notes_of_files(report), as_json=as_json)


def _show(report, print_report, notes: list[str], *, as_json: bool) -> None:
    """Print a report, as JSON or as tables with the notes below."""
    if as_json:
        print(report.to_json(notes))
    else:
        print_report(report)
        print(plain_lines("\n".join(notes)))


@judge.command()
def learn(
    data: Data,
    out: Annotated[Path, option("Folder of the prediction file.")],
) -> None:
    """Predict every conversation by what other participants' ratings teach, offline.

    The learned judge is the mean of two ridge regressions, on words and on how much the assistant wrote. No
    conversation is predicted by ratings of its own participant. Its file is that of a judge: evaluate, compare or
    calibrate it.
    """
    from sense7.judge.scores.baselines import write_learned

    reporting()("learning; up to a minute or two ...")
    print(plain_lines(str(write_learned(load(data), out))))


@judge.command()
def calibrate(
    paths: Files,
    out: Annotated[Path, option("Folder of the calibrated prediction files.")],
    draws: Draws = 10_000,
) -> None:
    """Bring scores to the level of the ratings, by what other participants teach.

    No score is mapped by ratings of its own participant. Files are written in the judges' layout, and a table says how
    far scores were from ratings before and after.
    """
    from sense7.cli.judge_words import notes_of_files, print_calibration
    from sense7.judge.scores.report import calibrate as calibrate_files

    report = calibrate_files(paths, out, draws=draws)
    print_calibration(report)
    print(plain_lines("\n".join([*notes_of_files(report), *map(str, report.paths.values())])))
