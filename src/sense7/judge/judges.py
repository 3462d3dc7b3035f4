"""Predictions of a simulated judge: written in the authors' layout, and recognized wherever they are copied to."""

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from sense7.errors import UserError
from sense7.estimators.bootstrap import FEWEST_PARTICIPANTS, ParticipantBootstrap
from sense7.estimators.estimates import estimate_row, estimate_table
from sense7.files import not_written, replacing_folder
from sense7.findings.core import finding
from sense7.findings.ground_truth import ground_truth, labels, other_ground_truths
from sense7.judge.files import (
    UNSTATED,
    Predictions,
    counted_scores,
    prediction_files,
    prediction_path,
    read_predictions,
    require_seen_by_authors,
    without_repeats,
    write_predictions,
)
from sense7.judge.metrics import (
    LEVEL_NUMBERS,
    METRICS,
    Metric,
    OverRuns,
    calibration,
    coverage,
    level_and_length,
    levels_recognized,
    missing_bounds,
    recognition,
    stability,
)
from sense7.judge.reply import read_reply
from sense7.loading import synthetic_marks
from sense7.segmentation import words_in
from sense7.sources import resolve
from sense7.study import Study
from sense7.taxonomy import LEVELS, SIMULATED_JUDGE, SIMULATED_WORDS, SYNTHETIC_SHEET
from sense7.terminal import count_of
from sense7.workbook import parse_sheets
from sense7.workbook.xlsx import Sheet, read_sheets

__all__ = [
    "ABSENT",
    "HOW_TO_MAKE_THEM",
    "Judges",
    "assistant_words",
    "chosen_judge",
    "defined",
    "detail",
    "facts",
    "judge_multiverse",
    "read_runs",
    "recall_and_false_positive_rate",
    "simulated_note",
    "with_row_labels",
]

if TYPE_CHECKING:
    from sense7.simulate import Simulation

ABOUT_SIMULATED = (
    "no model was asked. Correlation and accuracy were calibrated to the paper, "
    "so that agreement is no evidence."
)
"""What a reader has to know of every figure of a simulated judge."""

_FINISH = ("stop", "content_filter", "stop", "stop", "length")
"""Why a reply ended, by its kind; see :data:`sense7.simulate.judge.KINDS`."""


def simulated_prefix(runs: Mapping[str, pd.DataFrame]) -> str:
    """Return what the method of every value of a simulated judge begins with; "" for the runs of any other judge."""
    models = (
        model for frame in runs.values() if "model" in frame for model in frame["model"].unique()
    )
    return f"{SIMULATED_WORDS}: " if SIMULATED_JUDGE in models else ""


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
    if simulation.judged is None:
        raise ValueError("the simulation has no judge")
    from sense7.simulate.judge import reply_text

    folder = Path(folder)
    require_own_folder(folder, replace=replace)
    study = parse_sheets(simulation.sheets, name=SIMULATED_JUDGE)
    known = study.conversations[["conversation", "participant"]]
    truth = ground_truth(study.turns, known["conversation"]).to_numpy()
    judged, paths = simulation.judged, []
    marks = {
        "note": "A simulated judge made these predictions. No model was asked; its scores say nothing about any model.",
        "seed": str(simulation.seed),
        "judge_parameters": json.dumps(judged.parameters.as_dict()),
    }
    sheet = Sheet(SYNTHETIC_SHEET, ["key", "value"], [list(row) for row in marks.items()])
    try:
        check = partial(require_own_folder, replace=replace)
        with replacing_folder(folder, check=check) as temporary:
            for run, (scores, kinds) in enumerate(zip(judged.score, judged.kind, strict=True), 1):
                frame = known.assign(ground_truth=truth, model=SIMULATED_JUDGE, run=run)
                texts = [
                    reply_text(kind, score)
                    for kind, score in zip(kinds.tolist(), scores.tolist(), strict=True)
                ]
                finish = [_FINISH[kind] for kind in kinds.tolist()]
                read = [
                    read_reply(text, finish_reason=reason)
                    for text, reason in zip(texts, finish, strict=True)
                ]
                for name in ("score", "authors_score", "status", "reason", "doubtful", "reasoning"):
                    frame[name] = pd.Series([getattr(reply, name) for reply in read], frame.index)
                frame = frame.assign(
                    output=texts, returned_model="none (simulated)", finish_reason=finish
                )
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
        here = sorted(folder.iterdir()) if folder.exists() else []
    except OSError as error:
        raise UserError(
            f"{folder}: can't be a folder of predictions ({error.strerror}). Give another --out."
        ) from None
    if foreign := [path.name for path in here if not path.match(f"{SIMULATED_JUDGE}-iter*.xlsx")]:
        raise UserError(
            f"{folder}: holds {foreign[0]}, which is not of a simulated judge and would be lost. Move it, or choose "
            "another --out."
        )
    if here and not replace:
        raise UserError(
            f"{folder}: is there already. Give another --out, or --force to write over it."
        )


def simulated_files(folder: str | Path) -> list[Path]:
    """Prediction files of a folder, if all of them are of a simulated judge; none otherwise, or without the folder."""
    folder = Path(folder)
    paths = prediction_files(folder) if folder.is_dir() else []
    return paths if paths and all(map(_is_simulated, paths)) else []


def _is_simulated(path: Path) -> bool:
    # The mark alone, where there is one: to read all predictions takes ten times as long.
    if path.suffix.casefold() != ".csv" and SYNTHETIC_SHEET in read_sheets(
        path, only=SYNTHETIC_SHEET
    ):
        return True
    return read_predictions(path).simulated


def is_planted(truth: Mapping, marks: Collection[Mapping | None]) -> bool:
    """Whether the judge's values in a truth file are those of given predictions."""
    planted = (truth.get("judge") or {}).get("parameters")
    if planted is None or len(marks) != planted.get("judge_runs"):
        return False
    try:
        return all(
            mark is not None
            and mark["seed"] == str(truth["seed"])
            and json.loads(mark["judge_parameters"]) == planted
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


AUTHORS_PROMPT = "empathy_judge"
"""Name of the authors' prompt file, which stands in the names of prediction files made with it."""

ABSENT = "no predictions of a judge are available"

HOW_TO_MAKE_THEM = (
    "No predictions of a judge are available for this edition. To make them, with an endpoint of your own: "
    "make judge, then sense7 judge run --model NAME --base-url URL --data DATA --runs 10 --out predictions_NAME, "
    "and build the edition again."
)


_KEYS = {
    "mean": {name: f"judge_{name}" for name in ("coverage", *METRICS)},
    "spread": {name: f"judge_spread_{name}" for name in ("accuracy", "spearman")},
    "authors": {name: f"judge_authors_{name}" for name in ("accuracy", "spearman")},
    "coverage": {
        name: f"judge_count_{name}"
        for name in ("ok", "parse_failure", "refusal", "truncated", "api_error", "doubtful")
    },
    "bounds": {name: f"judge_bound_{name}" for name in ("accuracy_worst", "accuracy_best")},
    "calibration": {level: f"judge_calibration_{level}" for level in LEVEL_NUMBERS},
    "stability": {"same_label": "judge_same_label"},
    "level_and_length": {name: f"judge_{name}" for name in ("level_bias", "length_spearman")},
    "recognition": {level: f"judge_recognition_{level}" for level in LEVEL_NUMBERS},
}
"""Table of :func:`detail` -> row -> key; the share of usable replies is recorded once, as a mean over runs."""

_SAME = 1e-9
_NOTHING = pd.DataFrame(
    {name: pd.Series(dtype=float) for name in ("score", "ground_truth")}
    | {
        name: pd.Series(dtype=object)
        for name in ("conversation", "participant", "status", "doubtful")
    }
)


class Judges(dict[str, dict[str, pd.DataFrame]]):
    """Judge -> run -> predictions, and what was noted when they were read."""

    def __init__(
        self,
        runs: Mapping[str, dict[str, pd.DataFrame]],
        notes: Mapping[str, str],
        simulated: Mapping[str, list[Mapping | None]] | None = None,
    ):
        super().__init__(runs)
        self.notes = dict(notes)
        self.simulated = dict(simulated or {})


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
        Judge -> run -> predictions with a row for every conversation of the study, in its order, with the study's
        participants and ground truth. A conversation that the file lacks has no score.

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
    judges: dict[str, dict[str, pd.DataFrame]] = {}
    simulated: dict[str, list[Mapping | None]] = {}
    folder = folder or _shipped(study)
    files = [read_predictions(path) for path in prediction_files(folder)] if folder else []
    runs, repeats = without_repeats(files)
    notes = {Path(path).name: note for path, note in repeats.items()}
    for file in runs:
        judges.setdefault(file.judge, {})[file.name] = aligned(study, file)
        if file.simulated:
            simulated.setdefault(file.judge, []).append(file.marks)
        if file.notes:
            notes[file.path.name] = "; ".join(
                filter(None, (notes.get(file.path.name), *file.notes))
            )
    return Judges(dict(sorted(judges.items())), notes, simulated)


def _shipped(study: Study) -> Path | str:
    """Folder of the predictions that come with the synthetic data set; "" for any other, or where there are none."""
    provenance = study.provenance
    if provenance is None or provenance.name != "synthetic":
        return ""
    try:
        path, own = resolve("synthetic")
    except UserError:  # the project's own workbook is not here
        return ""
    folder = simulated_folder(path)
    return folder if own.sha256 == provenance.sha256 and folder.is_dir() else ""


def aligned(study: Study, file: Predictions) -> pd.DataFrame:
    """Predictions with a row for every conversation of a study; refused if they are not of this data set."""
    if file.simulated and synthetic_marks(study) is None:
        raise UserError(
            f"{file.path.name}: predictions of a simulated judge, and this data set is not synthetic. No model "
            "read its conversations. Take the file out of the folder, and ask a model: sense7 judge run --help"
        )
    known, predicted = study.conversations[["conversation", "participant"]], file.by_task
    truth = ground_truth(study.turns, known["conversation"])
    if len(foreign := predicted.index.difference(truth.index)):
        raise UserError(
            f"{file.path}: conversations that are not of this data set: {len(foreign):,} of {len(predicted):,}, the "
            f"first being {foreign[0]!r}. Give the predictions that were made for it."
        )
    then, now = predicted["ground_truth"].to_numpy(dtype=float), truth[predicted.index].to_numpy()
    other = ~np.isclose(then, now, rtol=0, atol=_SAME, equal_nan=True)
    if other.any():
        first, count = predicted.index[other.argmax()], count_of(int(other.sum()), "conversation")
        raise UserError(
            f"{file.path}: the ground truth of {count} is not that of this data set, the first being {first!r} "
            f"({then[other.argmax()]:g} there, {now[other.argmax()]:g} here). The workbook has changed since: judge it "
            "again, or give the predictions that were made for it."
        )
    aligned = predicted.reindex(known["conversation"]).drop(columns=["participant", "ground_truth"])
    aligned["status"] = aligned["status"].fillna(UNSTATED)
    aligned["participant"] = known["participant"].to_numpy()
    aligned["ground_truth"] = truth.to_numpy()
    return aligned.reset_index()


def chosen_judge(judges: dict[str, dict[str, pd.DataFrame]], name: str = "") -> str:
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


@dataclass(frozen=True)
class JudgeTables:
    """What is shown of one judge: tables of estimates, the confusion of its levels, and facts about its files.

    ``frequent_levels`` counts the levels given by enough participants. With ``prefix`` the methods of a simulated
    judge's values begin.
    """

    judge: str
    mean: pd.DataFrame
    spread: pd.DataFrame
    authors: pd.DataFrame
    coverage: pd.DataFrame
    bounds: pd.DataFrame
    calibration: pd.DataFrame
    stability: pd.DataFrame
    level_and_length: pd.DataFrame
    recognition: pd.DataFrame
    confusion: pd.DataFrame
    frequent_levels: int
    prefix: str


@finding
def detail(
    judges: Mapping[str, Mapping[str, pd.DataFrame]],
    judge: str,
    bootstrap: ParticipantBootstrap,
    words: pd.Series | None = None,
) -> JudgeTables:
    """Every table about one judge, with the keys of its rows.

    Parameters
    ----------
    judges : mapping
        As :func:`read_runs` gives it.
    judge : str
        One of them; "" if there is none.
    bootstrap : ParticipantBootstrap
        Bootstrap resamples of participants.
    words : Series, optional
        Of :func:`assistant_words`; without it there is no correlation of the scores with the length.

    Returns
    -------
    JudgeTables
        The tables whose rows are recorded have keys.

    Examples
    --------
    >>> detail({}, "", ParticipantBootstrap(["a", "b"])).mean.loc["accuracy", "reason"]
    'no predictions of a judge are available'
    """
    runs = judges.get(judge, {"": _NOTHING})
    strict, authors = (OverRuns(runs, bootstrap, policy) for policy in ("strict", "authors"))
    pooled = pd.concat(runs.values(), ignore_index=True)
    tables = {
        "mean": strict.mean,
        "spread": strict.spread,
        "authors": authors.mean,
        "coverage": coverage(pooled, bootstrap),
        "bounds": missing_bounds(pooled, bootstrap),
        "calibration": calibration(strict),
        "stability": stability(strict),
        "level_and_length": level_and_length(strict, words),
        "recognition": recognition(strict),
    }
    prefix, nothing = (
        simulated_prefix(runs),
        {} if judge else dict.fromkeys(("estimate", "low", "high"), np.nan),
    )
    nothing |= {} if judge else {"n": 0, "reason": ABSENT}
    for name, table in tables.items():
        keys = [_KEYS[name].get(row, "") for row in table.index]
        tables[name] = table.assign(**nothing, method=prefix + table["method"], key=keys)
    pairs = pooled[["participant", "ground_truth", "score"]].dropna()
    often = (
        pairs["participant"].groupby(labels(pairs["ground_truth"])).nunique() >= FEWEST_PARTICIPANTS
    )
    return JudgeTables(
        judge=judge,
        **tables,
        confusion=strict.confusion,
        frequent_levels=int(often.sum()),
        prefix=prefix,
    )


def assistant_words(study: Study) -> pd.Series:
    """Number of words that the assistant wrote in each conversation; 0 where it wrote none.

    Examples
    --------
    >>> import sense7 as s7
    >>> assistant_words(s7.load("synthetic")).loc[["T0001", "T0002"]].tolist()
    [657.0, 511.0]
    """
    said = study.messages[study.messages["role"] == "assistant"]
    # Message by message: the words of all of them at once would be many times as large as the study.
    words = pd.Series(
        [len(words_in(text)) for text in said["content"].fillna("")], index=said.index, dtype=int
    )
    counts = words.groupby(said["conversation"], sort=False).sum()
    return counts.reindex(study.conversations["conversation"], fill_value=0).astype(float)


@finding
def recall_and_false_positive_rate(mean: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Recall and false positive rate of each level, to be drawn side by side.

    Parameters
    ----------
    mean : DataFrame
        Metrics of a judge, such as ``mean`` of :func:`detail`; the second share is one minus the specificity.

    Returns
    -------
    dict
        Name of a series -> table of estimates, rows 1..5.

    Examples
    --------
    >>> run = pd.DataFrame({"score": [5.0, 5.0, 4.0], "ground_truth": [5.0, 4.0, 4.0]})
    >>> tables = recall_and_false_positive_rate(OverRuns([run]).mean)
    >>> [float(table.loc["5", "estimate"]) for table in tables.values()]
    [1.0, 0.5]
    """

    def rows(kind: str) -> pd.DataFrame:
        chosen = mean[mean.index.str.startswith(kind)]
        return chosen.rename(index=lambda name: name.removeprefix(kind)).rename_axis("level")

    others = rows("specificity_")
    turned = {
        name: 1 - others[of]
        for name, of in (("estimate", "estimate"), ("low", "high"), ("high", "low"))
    }
    method = "1 minus " + others["method"]
    return {
        "conversations of this level (recall)": rows("sensitivity_"),
        "all other conversations": others.assign(**turned, method=method),
    }


@finding
def facts(judges: Mapping[str, object], detail: JudgeTables) -> list[dict]:
    """What is said of the judge that is shown in words and counts, as arguments of ``Recorder.value``.

    ``judge_shown``; ``judge_used_authors_prompt`` (by the names of its files: the text of the authors' prompt is not
    known here); ``levels_recognized``; and ``levels_are_comparable``: whether this number can be compared with the
    published one, which it can if the authors' prompt was used and each of the five levels is that of conversations of
    at least ``FEWEST_PARTICIPANTS`` participants, since of a rarer level no judge could be shown to recognize it.

    Examples
    --------
    >>> [row["estimate"] for row in facts({}, detail({}, "", ParticipantBootstrap(["a", "b"])))]
    [None, None, None, None]
    """
    judge, often = detail.judge, detail.frequent_levels
    used = "yes" if judge.endswith(f"-{AUTHORS_PROMPT}") else "no"
    comparable = "yes" if used == "yes" and often == len(LEVELS) else "no"
    prompt = f"by the name of its files: {AUTHORS_PROMPT}"
    rule = (
        "authors' prompt by the name of the files, and each of the five levels given by at least "
        f"{FEWEST_PARTICIPANTS} participants; n counts the levels that are"
    )
    recognized, n = levels_recognized(detail.recognition), int(detail.mean.loc["accuracy", "n"])
    rows = [
        ("judge_shown", judge, len(judges), "judges", "the one with most runs"),
        ("judge_used_authors_prompt", used, int(bool(judge)), "prompts", prompt),
        ("levels_are_comparable", comparable, often, "levels", rule),
    ]
    columns, absent = (
        ("key", "estimate", "n", "unit", "method"),
        {} if judge else {"estimate": None, "reason": ABSENT},
    )
    found = [dict(zip(columns, row, strict=True)) for row in rows]
    found.insert(
        2,
        recognized
        | {"key": "levels_recognized", "n": n, "method": detail.prefix + recognized["method"]},
    )
    return [row | absent for row in found]


def defined(table: pd.DataFrame) -> pd.DataFrame:
    """Rows of a table of estimates that have a value, such as those of the levels that occur; all rows if none has.

    Examples
    --------
    >>> defined(pd.DataFrame({"estimate": [np.nan, 3.5]}, index=[1, 2])).index.tolist()
    [2]
    """
    valued = table[table["estimate"].notna()]
    return valued if len(valued) else table


def with_row_labels(table: pd.DataFrame) -> pd.DataFrame:
    """A table of :func:`detail` whose rows have names for readers.

    Examples
    --------
    >>> list(with_row_labels(pd.DataFrame({"n": [1, 1]}, index=["macro_f1", "accuracy_worst"])).index)
    ['macro F1', 'accuracy worst']
    """
    return table.rename(
        index=lambda name: METRICS[name].title if name in METRICS else str(name).replace("_", " ")
    )


def judge_multiverse(
    study: Study,
    judges: Mapping[str, Mapping[str, pd.DataFrame]],
    judge: str,
    bootstrap: ParticipantBootstrap,
) -> pd.DataFrame:
    """Return Spearman's correlation of a judge's scores with the users' ratings in every specification."""
    from sense7.findings.robustness import (
        REPLIES,
        RUNS,
        TRUTHS,
        specifications,
    )  # all findings, and scipy.stats

    chosen, unit, prefix = (
        specifications("judge_spearman"),
        METRICS["spearman"].unit,
        simulated_prefix(judges.get(judge, {})),
    )
    known = study.conversations[["conversation", "participant"]]
    truth, others = (
        ground_truth(study.turns, known["conversation"]).to_numpy(),
        other_ground_truths(study),
    )
    truths = dict(
        zip(
            TRUTHS,
            (truth, labels(truth), *(others[name].to_numpy() for name in TRUTHS[2:])),
            strict=True,
        )
    )
    rows = {}
    for number, choice in chosen.iterrows():
        metric = Metric("", unit, f"{prefix}Spearman's rho, {choice['runs']}")
        if not judge:
            rows[number] = estimate_row(n=0, unit=unit, method=metric.method, reason=ABSENT)
            continue
        policy = "strict" if choice["replies without a score"] == REPLIES[0] else "authors"
        scores = pd.DataFrame(
            {run: counted_scores(frame, policy) for run, frame in judges[judge].items()}
        )
        if choice["runs"] == RUNS[2]:  # each conversation's median over the runs that have one
            scores = scores.median(axis=1).to_frame()
        elif choice["runs"] == RUNS[1]:
            scores = scores.iloc[:, :1]
        rated = known.assign(ground_truth=truths[choice["ground truth"]])
        over = OverRuns(
            {run: rated.assign(score=score.to_numpy()) for run, score in scores.items()}, bootstrap
        )
        drawn = over.over(lambda run: run.spearman(run.truth, run.score))
        undefined = "fewer than two conversations have both, or one of the two does not vary"
        rows[number] = metric.number(number, drawn, over.people, undefined).row(bootstrap)
    return chosen.join(estimate_table(rows, "specification"))
