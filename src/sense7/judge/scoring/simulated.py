"""Predictions of a simulated judge: written in the authors' layout, and recognized wherever they are copied to.

How its scores are drawn: :mod:`sense7.simulate.judge`. Every row of its files names it as the model and says in the
reply that none was asked; every workbook has a sheet besides that says so, with the seed and the parameters.
"""

import json
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd

from sense7.arguments import check_arguments
from sense7.errors import UserError
from sense7.files import not_written, replacing_folder
from sense7.findings.ground_truth import ground_truth
from sense7.judge.predictions import (
    SKIPPED_WORD,
    Predictions,
    prediction_files,
    prediction_path,
    read_files,
    write_predictions,
)
from sense7.judge.reply import read_reply
from sense7.loading import synthetic_marks
from sense7.study import Study
from sense7.taxonomy import SIMULATED_JUDGE, SIMULATED_WORDS, SYNTHETIC_SHEET
from sense7.workbook import parse_sheets
from sense7.workbook.xlsx import Sheet, read_sheets

__all__ = ["is_planted", "require_own_folder", "simulated_files", "simulated_folder", "write_simulated"]

if TYPE_CHECKING:
    from sense7.simulate import Simulation

ABOUT_SIMULATED = (
    "no model was asked, and the scores say nothing about any model. As the simulation comes, the correlation and "
    "the accuracy of its judge were tuned to the published figures, so their nearness is no evidence."
)
"""What a reader has to know of every figure of a simulated judge."""

_NOTE = "A simulated judge made these predictions. No model was asked; its scores say nothing about any model."
_FINISH = ("stop", "content_filter", "stop", "stop", "length")
"""Why a reply ended, by its kind; see :data:`sense7.simulate.judge.KINDS`."""


def method_prefix(runs: Mapping[str, pd.DataFrame]) -> str:
    """Return what the method of every value of a simulated judge begins with; "" for any other judge."""
    made = any("model" in frame and (frame["model"] == SIMULATED_JUDGE).any() for frame in runs.values())
    return f"{SIMULATED_WORDS}: " if made else ""


def simulated_folder(workbook: str | Path) -> Path:
    """Folder of the simulated judge's predictions for a workbook: STEM_judge beside it."""
    workbook = Path(workbook)
    return workbook.with_name(f"{workbook.stem}_judge")


def write_simulated(simulation: "Simulation", folder: str | Path) -> list[Path]:
    """Write the predictions of a simulation's judge, one file per run; the folder appears whole or not at all."""
    if simulation.judged is None:
        raise ValueError("the simulation has no judge")
    folder = Path(folder)
    require_own_folder(folder)
    study = parse_sheets(simulation.sheets, name=SIMULATED_JUDGE)
    known = study.conversations[["conversation", "participant"]]
    truth = ground_truth(study.turns, known["conversation"]).to_numpy()
    sheet = _mark_sheet(simulation)
    paths = []
    try:
        with replacing_folder(folder) as temporary:
            for run, (scores, kinds) in enumerate(zip(simulation.judged.score, simulation.judged.kind, strict=True), 1):
                frame = known.assign(ground_truth=truth, model=SIMULATED_JUDGE, run=run)
                frame = pd.concat([frame, _replies(scores.tolist(), kinds.tolist())], axis=1)
                path = prediction_path(temporary, *SIMULATED_JUDGE.split("-"), run)
                write_predictions(path, frame, further=[sheet])
                paths.append(folder / path.name)
    except OSError as error:
        raise UserError(not_written(folder, error)) from None
    return paths


def require_own_folder(folder: str | Path) -> None:
    """Refuse a folder that the authors' evaluation would pass over, or in which something else would be lost."""
    folder = Path(folder)
    if SKIPPED_WORD in str(folder.absolute()):
        raise UserError(
            f"{folder.absolute()}: the path holds the word {SKIPPED_WORD}, and the authors' evaluation passes over "
            "such files. Choose another: --judge FOLDER."
        )
    try:
        here = sorted(folder.iterdir()) if folder.exists() else []
    except OSError as error:
        raise UserError(
            f"{folder}: can't be a folder of predictions ({error.strerror}). Choose another: --judge FOLDER."
        ) from None
    if foreign := [path.name for path in here if not path.match(f"{SIMULATED_JUDGE}-iter*.xlsx")]:
        raise UserError(
            f"{folder}: holds {foreign[0]}, which is not of a simulated judge and would be lost. Move it, or choose "
            "another folder: --judge FOLDER."
        )


def _replies(scores: Sequence[int], kinds: Sequence[int]) -> pd.DataFrame:
    """Replies as they would have come, and as they are read."""
    from sense7.simulate.judge import reply_text

    texts = [reply_text(kind, score) for kind, score in zip(kinds, scores, strict=True)]
    finish = [_FINISH[kind] for kind in kinds]
    read = [read_reply(text, finish_reason=reason) for text, reason in zip(texts, finish, strict=True)]
    return pd.DataFrame(
        {
            "score": [reply.score for reply in read],
            "authors_score": [reply.authors_score for reply in read],
            "status": [reply.status for reply in read],
            "reason": [reply.reason for reply in read],
            "doubtful": [reply.doubtful for reply in read],
            "reasoning": [reply.reasoning for reply in read],
            "output": texts,
            "returned_model": "none (simulated)",
            "finish_reason": finish,
        }
    )


def _mark_sheet(simulation: "Simulation") -> Sheet:
    marks = {
        "note": _NOTE,
        "seed": str(simulation.seed),
        "judge_parameters": json.dumps(simulation.judged.parameters.as_dict()),
    }
    return Sheet(SYNTHETIC_SHEET, ["key", "value"], [list(row) for row in marks.items()])


def simulated_files(folder: str | Path) -> list[Path]:
    """Prediction files of a folder, if all of them are of a simulated judge; none otherwise, or without the folder."""
    folder = Path(folder)
    paths = prediction_files(folder) if folder.is_dir() else []
    return paths if paths and all(map(_is_simulated, paths)) else []


def _is_simulated(path: Path) -> bool:
    # The mark alone, where there is one: to read all predictions takes ten times as long.
    if path.suffix.casefold() != ".csv" and SYNTHETIC_SHEET in read_sheets(path, only=SYNTHETIC_SHEET):
        return True
    predictions, _ = read_files([path])
    return bool(predictions) and predictions[0].simulated


def require_synthetic(study: Study, predictions: Predictions) -> None:
    """Refuse predictions of a simulated judge for a data set that is not synthetic."""
    if predictions.simulated and synthetic_marks(study) is None:
        raise UserError(
            f"{predictions.path.name}: predictions of a simulated judge, and this data set is not synthetic. No model "
            "read its conversations. Take the file out of the folder, and ask a model: sense7 judge run --help"
        )


def is_planted(truth: Mapping, marks: Collection[Mapping | None]) -> bool:
    """Whether the judge's values in a truth file are those of given predictions."""
    planted = (truth.get("judge") or {}).get("parameters")
    if planted is None or len(marks) != planted.get("judge_runs"):
        return False
    try:
        return all(
            mark is not None and mark["seed"] == str(truth["seed"]) and json.loads(mark["judge_parameters"]) == planted
            for mark in marks
        )
    except (KeyError, TypeError, ValueError):
        return False


def simulated_note(names: Collection[str]) -> str:
    """A sentence on the simulated judges of a page; "" if there are none."""
    if not names:
        return ""
    what = "is a simulated judge" if len(names) == 1 else "are simulated judges"
    return f"{' and '.join(sorted(names))} {what}: {ABOUT_SIMULATED}"


check_arguments(globals())
