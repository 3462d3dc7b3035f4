"""How an edition's data are opened: the study, its truth if it is simulated, and its judges."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from sense7.expected import OF_JUDGE
from sense7.files import read_json
from sense7.workbook.options import ReadingOptions

if TYPE_CHECKING:
    from sense7.judge.scores.judges import Judges
    from sense7.study import Study


class Opened(NamedTuple):
    """What an edition is made of: the study, its truth if it is simulated, its judges, None without any."""

    study: "Study"
    truth: dict | None = None
    judges: "Judges | None" = None


def open_study(
    data: str | Path,
    parameters: Mapping,
    options: ReadingOptions | None = None,
    strict: bool = False,
) -> "Study":
    """Read data with the parameters of notebooks that say how; without options as the file beside them says."""
    from sense7.loading import load

    how = {}
    if options is not None:
        how = {
            "scale": options.scales,
            "words": options.words,
            "allow_unreadable": options.allow_unreadable,
            "missing": options.missing,
        }
    prompted = parameters.get("prompted_condition")
    return load(data, prompted_condition=prompted, strict=strict, **how)


def open_data(
    study: "Study", truth: dict | None, predictions: Sequence[Path], parameters: Mapping
) -> Opened:
    """Read a judge's predictions as well, and leave of the truth what these data have to be compared with.

    The truth of the simulated judge is kept only where the judge that the book shows is that one.
    """
    from sense7.judge.scores.judges import (  # imports all statistics
        chosen_judge,
        is_planted,
        read_runs,
    )

    judges = read_runs(study, predictions[0].parent) if predictions else None
    if truth is None or "judge" not in truth:
        return Opened(study, truth, judges)
    if judges:
        shown_judge = chosen_judge(judges, parameters.get("judge", ""))
        if is_planted(truth, judges.simulated.get(shown_judge, ())):
            return Opened(study, truth, judges)
    without_judge = {name: value for name, value in truth.items() if name != "judge"}
    without_judge["planted"] = [
        entry for entry in truth["planted"] if not entry["key"].startswith(OF_JUDGE)
    ]
    return Opened(study, without_judge, judges)


def read_truth(path: Path, study: "Study") -> dict | None:
    """Truth of a simulated workbook, if it is there and belongs to it."""
    from sense7.loading import synthetic_marks

    if study.provenance.kind != "synthetic":
        return None
    try:
        truth = read_json(path)
        marks = synthetic_marks(study) or {}
        parameters = json.loads(marks.get("parameters", "null"))
        belongs = (str(truth["seed"]), truth["parameters"]) == (str(marks.get("seed")), parameters)
    except (OSError, ValueError, KeyError, TypeError):
        return None
    if belongs:
        return truth
    return None


def function_of_true_value(key: str) -> str:
    """Name of the function that computes a true value of the simulation; "" for what was put in."""
    from sense7.simulate.true_values.table import family_and_names

    try:
        family, _ = family_and_names(key)
    except KeyError:
        return ""
    if not family.function:
        return ""
    return f"sense7.simulate.true_values.{family.function}"
