"""``sense7 judge compare``: judges, prompts, runs and baselines beside each other."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from sense7.cli.judge import Policy
from sense7.terminal import plain_lines

__all__ = ["compare"]


def compare(
    paths: Annotated[list[Path], typer.Argument(help="Prediction files, or folders of them, of any number of judges.")],
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
    policy: Policy = "strict",
    score_scale: Annotated[
        str | None, typer.Option(metavar="WORST-BEST", help="Scale of the scores in files of others, such as 0-100.")
    ] = None,
    draws: Annotated[int, typer.Option(min=1, help="Draws of the bootstrap over participants.")] = 10_000,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the bootstrap.")] = 0,
    confidence: Annotated[float, typer.Option(help="Of the intervals.")] = 0.95,
    as_json: Annotated[bool, typer.Option("--json", help="Print as JSON, every metric included.")] = False,
) -> None:
    """Compare judges with each other: paired differences of every metric, on the same conversations.

    Files that are called alike but for the number of the run are runs of one judge. Judges are averaged only by
    --jury, which adds what juries gain over their members, and whether that is worth the calls.
    """
    from sense7.judge.compare import Price
    from sense7.judge.compare import compare as compare_files
    from sense7.judge.score_scale import ScoreScale
    from sense7.loading import load

    compared = compare_files(
        paths,
        study=load(data) if data else None,
        each_run=each_run,
        prices=dict(Price.of(text) for text in price or ()),
        jury=jury,
        worth=worth,
        policy=policy,
        score_scale=None if score_scale is None else ScoreScale.of(score_scale),
        draws=draws,
        seed=seed,
        confidence=confidence,
    )
    if as_json:
        for note in compared.notes:
            print(plain_lines(f"note: {note}"), file=sys.stderr)
    print(compared.to_json() if as_json else plain_lines(compared.text()))
