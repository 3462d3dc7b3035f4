"""Predictions of a simulated judge: written in the authors' layout, and recognized wherever they are copied to."""

import contextlib
import dataclasses
import json
from collections.abc import Collection, Mapping
from functools import partial
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from sense7.errors import UserError
from sense7.files import not_written, replacing_folder
from sense7.findings.ground_truth import ground_truth
from sense7.judge.files import (
    Predictions,
    Run,
    prediction_files,
    prediction_path,
    read_predictions,
    require_seen_by_authors,
    write_predictions,
)
from sense7.judge.reply import read_reply
from sense7.loading import synthetic_marks
from sense7.sources import resolve
from sense7.study import Study
from sense7.taxonomy import SIMULATED_JUDGE, SYNTHETIC_SHEET
from sense7.terminal import count_of
from sense7.workbook.xlsx import Sheet, read_sheets

__all__ = [
    "ABSENT",
    "HOW_TO_MAKE_THEM",
    "Judges",
    "chosen_judge",
    "read_runs",
    "simulated_note",
]

if TYPE_CHECKING:
    from sense7.simulate import Simulation

ABOUT_SIMULATED = (
    "no model was asked. Correlation and accuracy were set near the published figures, "
    "so that agreement is no evidence."
)
"""What a reader has to know of every figure of a simulated judge."""

_FINISH = ("stop", "content_filter", "stop", "stop", "length")
"""Why a reply ended, by its kind; see :data:`sense7.simulate.judge.KINDS`."""


def simulated_folder(workbook: str | Path) -> Path:
    """Folder of the simulated judge's predictions for a workbook: STEM_judge beside it."""
    workbook = Path(workbook)
    return workbook.with_name(f"{workbook.stem}_judge")


def write_simulated(
    simulation: "Simulation",
    folder: str | Path,
    *,
    replace: bool = True,
) -> list[Path]:
    """Write the predictions of a simulation's judge, one file per run; the folder appears whole or not at all."""
    from sense7.simulate.judge import reply_text

    folder = Path(folder)
    require_own_folder(folder, replace=replace)
    study = simulation.parsed(SIMULATED_JUDGE)
    judged = simulation.judged
    conversations = study.conversations[["conversation", "participant"]]
    truth = ground_truth(study.turns, conversations["conversation"]).to_numpy()
    conversations = conversations.assign(ground_truth=truth, model=SIMULATED_JUDGE)
    marks = {
        "note": "A simulated judge made these predictions. No model was asked; its scores say nothing about any model.",
        "seed": str(simulation.seed),
        "judge_parameters": json.dumps(judged.parameters.as_dict()),
    }
    sheet = Sheet(SYNTHETIC_SHEET, ["key", "value"], [list(row) for row in marks.items()])
    paths = []
    try:
        check = partial(require_own_folder, replace=replace)
        with replacing_folder(folder, check=check) as temporary:
            for run, (scores, kinds) in enumerate(zip(judged.score, judged.kind, strict=True), 1):
                replies = []
                for reply_kind, score in zip(kinds.tolist(), scores.tolist(), strict=True):
                    finish = _FINISH[reply_kind]
                    reply = read_reply(reply_text(reply_kind, score), finish_reason=finish)
                    replies.append({**vars(reply), "output": reply.text, "finish_reason": finish})
                frame = pd.DataFrame(replies, conversations.index).join(conversations)
                frame = frame.assign(run=run, returned_model="none (simulated)")
                path = prediction_path(temporary, *SIMULATED_JUDGE.split("-"), run)
                write_predictions(path, frame, further=[sheet])
                paths.append(folder / path.name)
    except OSError as error:
        raise UserError(not_written(folder, error)) from None
    return paths


def require_own_folder(folder: str | Path, *, replace: bool = True) -> None:
    """Refuse a folder that the authors' evaluation would pass over, or that holds other files."""
    folder = Path(folder)
    require_seen_by_authors(folder, "Give another --out.")
    try:
        present = sorted(folder.iterdir()) if folder.exists() else []
    except OSError as error:
        raise UserError(
            f"{folder}: can't be a folder of predictions ({error.strerror}). Give another --out."
        ) from None
    for path in present:
        if not path.match(f"{SIMULATED_JUDGE}-iter*.xlsx"):
            raise UserError(
                f"{folder}: holds {path.name}, which is not of a simulated judge and would be lost. Move it, or "
                "choose another --out."
            )
    if present and not replace:
        raise UserError(
            f"{folder}: is there already. Give another --out, or --force to write over it."
        )


def simulated_files(folder: str | Path) -> list[Path]:
    """Prediction files of a folder, if all of them are of a simulated judge; none otherwise, or without the folder."""
    folder = Path(folder)
    if not folder.is_dir():
        return []
    paths = prediction_files(folder)
    for path in paths:
        # The mark alone, where there is one: to read all predictions takes ten times as long.
        is_marked = path.suffix.casefold() != ".csv" and read_sheets(path, only=SYNTHETIC_SHEET)
        if not is_marked and not read_predictions(path).simulated:
            return []
    return paths


def simulated_parameters(marks: Collection[Mapping | None]) -> dict | None:
    """Return the parameters of the simulated judge whose runs bear these marks; None unless all of its runs do."""
    try:
        stated = [json.loads(mark["judge_parameters"]) for mark in marks]
        is_whole = stated and all(stated[0] == other for other in stated)
        if is_whole and stated[0]["judge_runs"] == len(stated):
            return stated[0]
    except (KeyError, TypeError, ValueError):
        pass
    return None


def simulated_note(names: Collection[str]) -> str:
    """A sentence on the simulated judges of a page; "" if there are none."""
    if not names:
        return ""
    are = "is a simulated judge" if len(names) == 1 else "are simulated judges"
    return f"{' and '.join(sorted(names))} {are}: {ABOUT_SIMULATED}"


ABSENT = "no predictions of a judge are available"

HOW_TO_MAKE_THEM = (
    "To make them, with an endpoint of your own: sense7 judge run "
    "--model NAME --base-url URL --data DATA --runs 10 --out predictions_NAME"
)

_SAME = 1e-9


class Judges(dict[str, dict[str, Run]]):
    """Judge -> its runs by their names, and what was noted when they were read."""

    def __init__(self):
        super().__init__()
        self.notes: dict[str, str] = {}
        self.simulated: dict[str, list[Mapping | None]] = {}


def read_runs(study: Study, folder: str | Path = "") -> Judges:
    """Predictions of every judge for a data set.

    Files that are called alike but for the number of the run are runs of one judge.

    Parameters
    ----------
    study : Study
        The data set that was judged.
    folder : path
        Folder of prediction files (.xlsx, .csv); "" for those that come with the data set: the simulated judge's for
        ``load("synthetic")``, none for any other.

    Returns
    -------
    Judges
        Judge -> name of a run -> :class:`sense7.judge.files.Run` with a value for every conversation of the study, in
        its order, with the study's participants and ground truth. A conversation that the file lacks has no score.

    Raises
    ------
    UserError
        If a file can't be read, holds conversations that are not of this data set, or was made when
        their ground truth was another; or if it is of a simulated judge and the data set is not synthetic.

    Examples
    --------
    >>> import sense7 as s7
    >>> {judge: len(runs) for judge, runs in read_runs(s7.load("synthetic")).items()}
    {'simulated-judge': 10}
    """
    judges = Judges()
    provenance = study.provenance
    if not folder and provenance is not None and provenance.name == "synthetic":
        with contextlib.suppress(UserError):  # the project's own workbook may not be here
            path, synthetic = resolve("synthetic")
            shipped = simulated_folder(path)
            if synthetic.sha256 == provenance.sha256 and shipped.is_dir():
                folder = shipped
    files = []
    if folder:
        files = [read_predictions(path) for path in prediction_files(folder)]
    for file in sorted(files, key=attrgetter("judge")):
        judges.setdefault(file.judge, {})[file.name] = aligned(study, file)
        if file.simulated:
            judges.simulated.setdefault(file.judge, []).append(file.marks)
        if file.notes:
            judges.notes[file.path.name] = "; ".join(file.notes)
    return judges


def aligned(study: Study, file: Predictions) -> Run:
    """Return the run with a value for every conversation of a study; refused if they are not of this data set."""
    if file.simulated and synthetic_marks(study) is None:
        raise UserError(
            f"{file.path.name}: predictions of a simulated judge, and this data set is not synthetic. No model "
            "read its conversations. Take the file out of the folder, and ask a model: sense7 judge run --help"
        )
    conversations = study.conversations[["conversation", "participant"]]
    truth = ground_truth(study.turns, conversations["conversation"])
    run = file.named_run()
    published_ids = study.published_ids.get("conversation", {})
    predicted = pd.Index([published_ids.get(name, name) for name in run.conversation], dtype=object)
    foreign = predicted.difference(truth.index)
    if len(foreign):
        raise UserError(
            f"{file.path}: conversations that are not of this data set: {len(foreign):,} of {len(predicted):,}, the "
            f"first being {foreign[0]!r}. Give the predictions that were made for it."
        )
    then = run.ground_truth
    now = truth[predicted].to_numpy()
    differs = ~np.isclose(then, now, rtol=0, atol=_SAME, equal_nan=True)
    if differs.any():
        row = differs.argmax()
        count = count_of(int(differs.sum()), "conversation")
        raise UserError(
            f"{file.path}: the ground truth of {count} is not that of this data set, the first being "
            f"{predicted[row]!r} ({then[row]:g} there, {now[row]:g} here). The workbook has changed since: judge "
            "it again, or give the predictions that were made for it."
        )
    of_study = dataclasses.replace(run, conversation=predicted).at(conversations["conversation"])
    participants = conversations["participant"].to_numpy(dtype=object)
    return dataclasses.replace(of_study, participant=participants, ground_truth=truth.to_numpy())


def chosen_judge(judges: Mapping[str, Mapping[str, Run]], name: str = "") -> str:
    """Name of the judge that is shown in detail: the one asked for, else the one with most runs.

    Raises
    ------
    UserError
        If there is no judge of that name.

    Examples
    --------
    >>> chosen_judge({"a": {"a-iter1": None}, "b": {"b-iter1": None, "b-iter2": None}}), chosen_judge({})
    ('b', '')
    """
    if name and name not in judges:
        raise UserError(
            f"judge = {name!r}: no predictions of it are available ({', '.join(judges) or 'of none'})."
        )
    return name or max(judges, key=lambda judge: len(judges[judge]), default="")
