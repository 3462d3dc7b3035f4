"""``sense7 judge calibrate``: scores brought to the level of the ratings."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from sense7.terminal import plain_lines

__all__ = ["calibrate"]


def calibrate(
    paths: Annotated[list[Path], typer.Argument(help="Prediction files with ratings, or folders of them.")],
    out: Annotated[Path, typer.Option(help="Folder of the calibrated prediction files.")],
    mapping: Annotated[str, typer.Option(help="isotonic or ordinal.")] = "isotonic",
    draws: Annotated[int, typer.Option(min=1, help="Draws of the bootstrap over participants.")] = 2_000,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the bootstrap.")] = 0,
    confidence: Annotated[float, typer.Option(help="Of the intervals.")] = 0.95,
) -> None:
    """Bring scores to the level of the ratings, by what other participants teach.

    No score is mapped by ratings of its own participant. Files are written in the judges' layout, and a table says how
    far scores were from ratings before and after.
    """
    from sense7.judge.calibrate import calibrate_files

    done = calibrate_files(paths, out, mapping=mapping, draws=draws, seed=seed, confidence=confidence)
    for note in done.notes:
        print(plain_lines(f"note: {note}"), file=sys.stderr)
    print(plain_lines(done.text()))
