"""What the book of an edition asks of its paper, SENSE-7; the machinery of editions knows it by nothing else.

The machinery (:mod:`sense7.book`) executes notebooks, makes pages and compares. What it has to know of data and of
statistics is here: names, kinds of data and what each may claim, how data are found, opened and described, the further
input (a judge's predictions), and the page that is made from data without a notebook. import-linter holds it to that.
"""

import functools
import importlib
import inspect
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from sense7.errors import UserError
from sense7.expected import OF_JUDGE
from sense7.files import read_json
from sense7.sources import SOURCES, Provenance, copy_for_edition, fetched_digest, resolve
from sense7.sources.released import RELEASED, verified_digest
from sense7.taxonomy import SIMULATED_WORDS
from sense7.workbook.options import ReadingOptions

if TYPE_CHECKING:
    from sense7.judge.scores.judges import Judges
    from sense7.study import Study

__all__ = [
    "RELEASED",
    "SIMULATED_WORDS",
    "Provenance",
    "ReadingOptions",
    "copy_for_edition",
    "fetched_digest",
    "resolve",
    "verified_digest",
]

NAME = "SENSE-7"

DATA_SETS = ("synthetic", *SOURCES)
"""Names of data sets; no edition of other data has one of them."""

DATA_PAGE = "notebooks/01-dataset"
"""The page that lists what the reader of data warned about."""


@dataclass(frozen=True)
class Kind:
    """A kind of data.

    Attributes
    ----------
    has_truth : bool
        Whether it is simulated, so that what was put in is known and no number is a finding.
    is_compared : bool
        Whether its numbers are compared with published ones, if its origin is verified.
    is_named : bool
        Whether it goes by the name of a data set rather than by that of a file.
    """

    has_truth: bool = False
    is_compared: bool = False
    is_named: bool = True


KINDS = {
    "synthetic": Kind(has_truth=True),
    "official": Kind(is_compared=True),
    "third-party": Kind(),
    "own": Kind(is_named=False),
}
"""Kinds of data, as a provenance names them."""


# --- data ---------------------------------------------------------------------------------


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

    if not KINDS[study.provenance.kind].has_truth:
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


def predictions_in(folder: Path) -> list[Path]:
    """Files of a judge's predictions in a folder, if it is there."""
    from sense7.judge.files import prediction_files  # imports pandas

    if folder.is_dir():
        return prediction_files(folder)
    return []


def predictions_for(workbook: Path, folder: Path, is_chosen: bool) -> list[Path]:
    """Files of a judge for an edition: those of the folder, or else of the simulated judge beside the workbook."""
    from sense7.judge.scores.judges import simulated_files, simulated_folder

    predictions = predictions_in(folder)
    if is_chosen and not predictions:
        raise UserError(
            f"{folder}: no folder with prediction files (.xlsx, .csv). Make some: sense7 judge run --out {folder}"
        )
    return predictions or simulated_files(simulated_folder(workbook))


# --- what is said of them -----------------------------------------------------------------


def facts_of(study: "Study") -> dict:
    """What pages may say of a study and of its reading."""
    from sense7.terminal import count_of
    from sense7.workbook.diagnostics import warnings_by_kind

    return {
        "prompted_condition": study.prompted_condition or "not known",
        "prompted_reason": study.prompted_reason,
        "warnings": warnings_by_kind(study.warnings),
        "reader_warnings": count_of(len(study.warnings), "warning"),
    }


def page_files(opened: Opened, parameters: Mapping) -> dict[str, str]:
    """The files of the page that is made from data without a notebook: path below the pages' folder -> text."""
    from sense7.explorer import explorer_files

    files = explorer_files(opened.study, opened.judges, parameters.get("judge", ""))
    return {f"explorer/{name}": text for name, text in files.items()}


def rated_example(opened: Opened) -> dict | None:
    """One conversation with its ratings, for the front page; None if none is fit."""
    from sense7 import explorer

    return explorer.rated_example(opened.study)


FILES_OF_PAGE = "book/explorer"
"""That page."""


# --- what a cell by hand needs ------------------------------------------------------------


def has_answers(path: Path, frame: str, column: str) -> bool:
    """Whether a frame of a study has a column with a value in it."""
    table = getattr(_study(path, path.stat().st_mtime_ns), frame)
    return table is not None and column in table and bool(table[column].notna().any())


def why_missing(path: Path, module: str, function: str, key: str, part: str) -> str | None:
    """Why a number of a finding lacks a ``part``, its value ("estimate") or interval ("low"); None if it has it."""
    row = _rows_of(path, path.stat().st_mtime_ns, module, function).get(key)
    if row is None:
        return f"there is no {key}"
    value = row[part]  # a number, or a text such as "yes"
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return row["reason"]
    return None


@functools.lru_cache(maxsize=2)
def _study(path: Path, changed: int) -> "Study":
    return open_study(path, {})


@functools.lru_cache(maxsize=64)
def _rows_of(path: Path, changed: int, module: str, function: str) -> dict[str, Mapping]:
    """Rows of a finding's table, by key, computed in few resamples: which have a value and an interval."""
    from sense7.estimators.bootstrap import ParticipantBootstrap
    from sense7.findings.core import keyed_rows

    study = _study(path, changed)
    compute = getattr(importlib.import_module(f"sense7.findings.{module}"), function)
    bootstrap = ParticipantBootstrap(study.conversations["participant"], draws=100)
    arguments = {"study": study, "bootstrap": bootstrap}
    for name in arguments.keys() - inspect.signature(compute).parameters.keys():
        del arguments[name]
    return {row["key"]: row for row in keyed_rows(compute(**arguments))}


# --- the map of all claims ----------------------------------------------------------------

IN_SOME = "seen in some"
"""What the map says of a claim that some of the data sets that could answer it show, and others do not."""

DARKNESS = {"met": 0.9, "not met": 0.5, "waiting for the official workbook": 0.2}
"""State of a claim -> how dark its tile is; other states have none."""


def claims_map(ledger: Sequence[Mapping], values: Mapping, facts: Mapping, marks: Mapping) -> str:
    """HTML of the map of all claims: what was published, what these data give, what real ratings elsewhere say.

    ``values`` are those that the edition recorded; ``marks`` has the mark of each state.
    """
    import pandas as pd

    from sense7 import figures
    from sense7.findings import elsewhere
    from sense7.record import format_number

    published = "published"
    this_data_set = "this data set"
    other_studies = "real ratings elsewhere"
    cells = []
    for row in ledger:
        claim = row["published"]
        if claim["release"]:
            continue
        title = claim["short"] or claim["title"]
        computed = row["computed"]
        number = ""
        if computed and computed["estimate"] is not None:
            number = format_number(computed["estimate"], computed["unit"])
        verdicts = elsewhere.verdicts_of_claim(row["id"], values)
        times_seen = verdicts.count(elsewhere.SEEN)
        outcome = elsewhere.NOT_ASKED
        share = ""
        if verdicts:
            share = f"{times_seen} of {len(verdicts)}"
            outcome = verdicts[0]
        if len(set(verdicts)) > 1:
            outcome = elsewhere.NOT_SEEN
        if 0 < times_seen < len(verdicts):
            outcome = IN_SOME
        cells.append((title, published, published, claim["shown"]))
        cells.append((title, this_data_set, row["rule"]["state"], number))
        cells.append((title, other_studies, outcome, share))
    looks = {published: ("", 0.3)}
    for state, mark in marks.items():
        looks[str(state)] = (mark, DARKNESS.get(str(state), 0))
    looks.update(figures.VERDICTS)
    looks[IN_SOME] = ("◐", 0.5)
    frame = pd.DataFrame(cells, columns=["row", "column", "verdict", "text"])
    is_other = frame["column"] == other_studies
    if (frame.loc[is_other, "text"] == "").all():  # no page of this edition recorded them
        frame = frame[~is_other]
    origin = figures.source_of_origin(
        facts["kind"], facts["label"], facts["file"], is_verified=bool(facts.get("verified"))
    )
    figure = figures.verdict_map(
        frame,
        name="claims",
        label="All claims: published, in this data set, and in real ratings of other studies",
        caption="One row for each claim. The mark is its state; elsewhere, in how many of the data sets that "
        "asked the finding is seen. n and intervals stand in the tables.",
        looks=looks,
        source={
            published: figures.PUBLISHED,
            this_data_set: origin,
            other_studies: figures.RELEASED,
        },
    )
    return figure.html()
