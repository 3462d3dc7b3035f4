"""``sense7 judge learn``: predictions without a model."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from sense7.terminal import count_of, plain_lines

__all__ = ["learn"]


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
    from sense7.judge.scoring.learned import LEARNED, write_learned
    from sense7.loading import load

    study = load(data)
    rated = count_of(len(study.conversations), "conversation")
    people = count_of(study.conversations["participant"].nunique(), "participant")
    print(plain_lines(f"learning from {rated} of {people}; up to a minute or two ..."), file=sys.stderr, flush=True)
    for path in write_learned(study, out, baseline or (LEARNED,)):
        print(plain_lines(str(path)))
