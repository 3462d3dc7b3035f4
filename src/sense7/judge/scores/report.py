"""Files of predictions in; every metric, the differences between judges, or calibrated scores out."""

import json
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pandas as pd

from sense7.errors import UserError
from sense7.files import reason, require_as_written
from sense7.judge.files import (
    JOURNAL,
    SKIPPED_WORD,
    Predictions,
    Run,
    ScoreScale,
    prediction_files,
    read_predictions,
    write_predictions,
)
from sense7.judge.reply import HIGHEST, LOWEST
from sense7.judge.scores import metrics
from sense7.judge.scores.comparison import as_judges, compare_judges
from sense7.judge.scores.judges import aligned
from sense7.judge.scores.metrics import OverRuns
from sense7.statistics.bootstrap import ParticipantBootstrap
from sense7.study import Study
from sense7.taxonomy import RATING_NAMES

__all__ = ["calibrate", "compare", "evaluate"]

CONFIDENCE = 0.95
"""Of the intervals over participants, and of the decisions between judges."""


def plain_values(value: object) -> object:
    """Return a table as rows by name, a row as a mapping, a path as text; null for no number."""
    if isinstance(value, Path):
        return str(value)
    numbers = value.astype(object).where(value.notna(), None)
    if isinstance(value, pd.Series):
        return numbers.to_dict()
    return numbers.to_dict("index")


@dataclass(frozen=True)
class Facts:
    """What a reader has to know of the files of a report, besides its tables.

    ``remarks`` are files and what was remarked when they were read. ``lacking`` counts, of ``conversations`` in all,
    those that a file does not have.
    """

    simulated: list[str] = field(default_factory=list)
    remarks: list[tuple[str, str]] = field(default_factory=list)
    runs: Mapping[str, Run] = field(default_factory=dict)
    models: Collection[str] = ()
    conversations: int = 0
    lacking: Mapping[str, int] = field(default_factory=dict)
    differing_truths: list[str] = field(default_factory=list)


@dataclass(frozen=True, eq=False)
class Report:
    """What was computed of files; in JSON, null where there is no number, with the reason beside it.

    ``skipped`` are the files of folders that were passed over.
    """

    settings: dict
    facts: Facts
    skipped: list[Path]

    def to_json(self, notes: Sequence[str] = ()) -> str:
        """Return all of it but the facts as JSON, with notes for a reader."""
        parts = {**self.settings, **vars(self), "notes": notes}
        del parts["settings"], parts["facts"]
        return json.dumps(parts, indent=1, allow_nan=False, default=plain_values)


@dataclass(frozen=True, eq=False)
class Evaluation(Report):
    """Of each file its name, path, rows, metrics, coverage and bounds; tables over files; metrics by rating."""

    files: list[dict]
    over_files: dict[str, object]
    ratings: dict[str, pd.DataFrame]


@dataclass(frozen=True, eq=False)
class JudgesCompared(Report):
    """Numbers of conversations; of each judge its name, files, counts, coverage and metrics; metric -> differences."""

    conversations: int
    shared: int
    judges: list[dict]
    differences: Mapping[str, pd.DataFrame]


@dataclass(frozen=True, eq=False)
class Calibration(Report):
    """By file: path of the calibrated one, errors before and after, and rows without a score by status."""

    paths: dict[str, Path]
    errors: dict[str, pd.DataFrame]
    without_score: dict[str, dict[str, int]]


# The files


def find_files(paths: Sequence[Path]) -> tuple[list[Path], list[Path]]:
    """Find the files that are meant, and those of folders that are passed over."""
    files = {}
    passed_over = {}
    for path in paths:
        entries = [path]
        try:
            is_folder = path.is_dir()
            if is_folder:
                entries = prediction_files(path)
        except OSError as error:
            raise UserError(
                f"{path}: the folder can't be listed ({reason(error)}). Check its permissions."
            ) from None
        for entry in entries:
            absolute = entry.absolute()
            if is_folder and SKIPPED_WORD in str(absolute):
                passed_over.setdefault(absolute, entry)
            else:
                files.setdefault(absolute, entry)
    if not files and passed_over:
        raise UserError(
            f"{', '.join(map(str, paths))}: every file ({len(passed_over):,}) has the word {SKIPPED_WORD} in its full "
            "path, and such files of a folder are passed over, as the authors do. Name the files themselves, or move "
            "them."
        )
    skipped = [path for absolute, path in passed_over.items() if absolute not in files]
    return list(files.values()), skipped


def read_paths(
    paths: Sequence[Path], score_scale: str | None = None
) -> tuple[list[Predictions], list[Path]]:
    """Predictions of all files, and which files of folders were passed over."""
    files, skipped = find_files(paths)
    if not files:
        problem = ". Give .xlsx or .csv files, or folders of them"
        if any((folder / JOURNAL).exists() for folder in paths):
            problem = f" yet: the session there ({JOURNAL}) has not ended. Give its `sense7 judge run` again"
        names = ", ".join(map(str, paths)) or "nothing"
        raise UserError(f"{names}: no file of predictions{problem}.")
    scale = score_scale and ScoreScale.of(score_scale)
    predictions = [read_predictions(path, score_scale=scale) for path in files]
    return predictions, skipped


def _bootstrap_of(runs: Iterable[Run], settings: dict) -> ParticipantBootstrap | None:
    """Resamples of the participants of all files; None if none is known."""
    everyone = pd.Series(np.concatenate([run.participant for run in runs])).dropna()
    if everyone.empty:
        return None
    return ParticipantBootstrap(everyone, **settings)


# Evaluate


def evaluate(
    paths: Sequence[Path],
    *,
    policy: str = "strict",
    score_scale: str | None = None,
    draws: int = 10_000,
    seed: int = 0,
) -> Evaluation:
    r"""Evaluate files of predictions, one run each.

    Parameters
    ----------
    paths : sequence of Path
        Files (.xlsx, .csv), and folders, of which every .xlsx and .csv file is taken but those whose full path
        holds the word results, as the authors' evaluation does. A file that is named is always taken.
    policy : {"strict", "authors"}
        Which reading of a reply counts, see :class:`sense7.judge.files.Run`.
    score_scale : str, optional
        Scale of others' scores, worst first, such as ``0-100``.
    draws, seed : int
        Of the intervals over participants.

    Returns
    -------
    Evaluation
        ``over_files`` holds mean, spread, stability, calibration, confusion. Without the column PID there are no
        intervals.

    Raises
    ------
    UserError
        If there is no file, or one can't be read, lacks IS_EMPATHY or ground-truth, has a TaskId twice or scores on
        another scale; if draws or policy are out of range.

    Examples
    --------
    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> _ = (folder / "model-prompt-iter1.csv").write_text("IS_EMPATHY,ground-truth\n4,4.2\n2,3\n")
    >>> found = evaluate([folder])
    >>> accuracy = found.over_files["mean"].loc["accuracy"]
    >>> float(accuracy["estimate"]), accuracy["reason"]
    (0.5, 'no interval: participants are not known')
    """
    settings = {"draws": draws, "seed": seed, "confidence": CONFIDENCE}
    predictions, skipped = read_paths(paths, score_scale)
    stems = Counter(file.path.stem for file in predictions)
    files = {}
    for file in predictions:
        name = file.path.stem
        if stems[name] > 1:  # the path tells apart what is called alike
            name = str(file.path)
        files[file.called(name)] = file
    bootstrap = _bootstrap_of((file.run for file in predictions), settings)
    over = OverRuns({name: file.run for name, file in files.items()}, bootstrap, policy)
    of_files, remarks = [], []
    for name, file in files.items():
        remarks += [(name, remark) for remark in file.notes]
        measured = OverRuns({name: over.runs[name]}, bootstrap)
        of_files.append(
            {
                "name": name,
                "path": file.path,
                "rows": len(file.run.score),
                "metrics": measured.mean,
                "coverage": metrics.coverage(measured),
                "bounds": metrics.missing_bounds(measured),
            }
        )
    with_ratings = [file.ratings for file in predictions if file.ratings is not None]
    by_rating = {}
    for rating in RATING_NAMES:
        runs = {str(n): runs[rating] for n, runs in enumerate(with_ratings) if rating in runs}
        if runs and len(runs) == len(with_ratings):
            by_rating[rating] = OverRuns(runs, bootstrap).mean
    truths = {}  # of every conversation that has a name, one column per file
    for name, file in files.items():
        named = file.run.table.dropna(subset="conversation").set_index("conversation")
        truths[name] = named["ground_truth"]
    truths = pd.concat(truths, axis=1)
    differs = ~np.isclose(truths.min(axis=1), truths.max(axis=1), rtol=0, atol=1e-9, equal_nan=True)
    lacking = {}
    for name, file in files.items():
        lacking[name] = len(truths) - pd.notna(file.run.conversation).sum()
    facts = Facts(
        simulated=[name for name, file in files.items() if file.simulated],
        remarks=remarks,
        runs={name: file.run for name, file in files.items()},
        models=sorted(set().union(*(file.models for file in predictions))),
        conversations=len(truths),
        lacking=lacking,
        differing_truths=truths.index[differs].tolist(),
    )
    return Evaluation(
        {"policy": policy, **settings},
        facts,
        skipped,
        files=of_files,
        over_files={
            "mean": over.mean,
            "spread": over.spread,
            "stability": metrics.stability(over),
            "calibration": metrics.calibration(over),
            "confusion": over.confusion.to_numpy().tolist(),
        },
        ratings=by_rating,
    )


# Compare


def compare(
    paths: Sequence[Path],
    *,
    study: Study | None = None,
    policy: str = "strict",
    score_scale: str | None = None,
    draws: int = 10_000,
    seed: int = 0,
) -> JudgesCompared:
    r"""Compare the judge of the first file of predictions with each other judge, and with the baselines.

    Files of one folder that are called alike but for the number of the run are runs of one judge.

    Parameters
    ----------
    paths : sequence of Path
        See :func:`evaluate`.
    study : Study, optional
        The data set that was judged: then its baselines are compared, too, and predictions for other data refused.
    policy, score_scale, draws, seed
        See :func:`evaluate`.

    Returns
    -------
    JudgesCompared
        Judges, and their differences by metric.

    Raises
    ------
    UserError
        As :func:`evaluate` and :func:`sense7.judge.scores.comparison.compare_judges`; if a conversation has no TaskId.

    Examples
    --------
    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> for judge, scores in {"a": (4, 2), "b": (5, 3)}.items():
    ...     text = f"TaskId,IS_EMPATHY,ground-truth\nC1,{scores[0]},4.2\nC2,{scores[1]},3\n"
    ...     _ = (folder / f"{judge}-iter1.csv").write_text(text)
    >>> compare([folder]).differences["accuracy"]["estimate"].to_dict()
    {'a minus b': 0.0}
    """
    settings = {"draws": draws, "seed": seed, "confidence": CONFIDENCE}
    predictions, skipped = read_paths(paths, score_scale)
    grouped = {}
    for file in predictions:
        grouped.setdefault((file.judge, file.path.parent), []).append(file)
    names = Counter(judge for judge, _ in grouped)
    groups = {}
    for (judge, folder), files in grouped.items():
        name = judge
        if names[judge] > 1:  # the folder tells apart what is called alike
            name = f"{folder}/{judge}"
        groups[name] = files
    judges = {}
    simulated, remarks = [], []
    all_runs = []
    for judge, files in groups.items():
        judges[judge] = {}
        if any(file.simulated for file in files):
            simulated.append(judge)
        for file in files:
            remarks += [(file.path.name, remark) for remark in file.notes]
            run = file.named_run() if study is None else aligned(study, file)
            judges[judge][str(file.path)] = run
            all_runs.append(run)
    bootstrap = _bootstrap_of(all_runs, settings)
    if study is not None:
        # With it comes scikit-learn.
        from sense7.judge.scores.baselines import baseline_predictions

        judges.update(as_judges(baseline_predictions(study)))
    compared = compare_judges(judges, bootstrap, policy=policy)
    of_judges = []
    for judge, measured in compared.judges.items():
        of_judges.append(
            {
                "name": judge,
                "files": [file.path for file in groups.get(judge, ())],
                **compared.left_out.loc[judge].to_dict(),
                "coverage": compared.coverage.loc[judge],
                "metrics": measured.mean.drop(index="coverage"),
            }
        )
    facts = Facts(
        simulated=simulated,
        remarks=remarks,
    )
    return JudgesCompared(
        {"policy": policy, **settings},
        facts,
        skipped,
        conversations=compared.conversations,
        shared=compared.shared,
        judges=of_judges,
        differences=compared.differences,
    )


# Calibrate


def calibrate(
    paths: Sequence[Path],
    out: str | Path,
    *,
    draws: int = 2_000,
    seed: int = 0,
) -> Calibration:
    """Calibrate every file of predictions and write it to a folder under the name of its judge.

    Parameters
    ----------
    paths : sequence of Path
        Files, or folders of them.
    out : path
        Folder, made if need be; not one that files are read from.
    draws, seed
        Of the intervals over participants.

    Returns
    -------
    Calibration
        Files that were written, with their errors before and after.

    Raises
    ------
    UserError
        If a file can't be read, names no participants, has too few ratings, or would be replaced by its own
        calibrated form. Nothing is written then.
    """
    # With it comes scikit-learn.
    from sense7.judge.scores.calibration import Calibrated, calibration_errors

    settings = {"draws": draws, "seed": seed, "confidence": CONFIDENCE}
    files, skipped = read_paths(paths)
    out = Path(out)
    calibrated_paths = {}
    for file in files:
        if file.name in calibrated_paths:
            raise UserError(
                f"{file.path}: another of these files is called so too. Calibrate them into two folders."
            )
        if file.path.resolve().parent == out.resolve():
            raise UserError(
                f"{out}: holds {file.path.name}, which is to be calibrated. Give another folder as --out."
            )
        calibrated_paths[file.name] = out / f"{file.name}.xlsx"
    require_as_written(calibrated_paths.values())
    frames, errors = {}, {}
    without_score = {}
    remarks = []
    for file in files:
        remarks += [(file.path.name, remark) for remark in file.notes]
        run = file.run
        if pd.isna(run.participant).any() or pd.isna(run.conversation).any():
            raise UserError(
                f"{file.path}: some rows have no PID or no TaskId, so that participants can't be "
                "held out. Fill in both columns."
            )
        calibrated = Calibrated.of(run)
        if calibrated.reason:
            raise UserError(f"{file.path}: {calibrated.reason}")
        bootstrap = ParticipantBootstrap(run.participant, **settings)
        errors[file.name] = calibration_errors(calibrated, bootstrap)
        # Without chats and replies, which are those of another score.
        scores = np.clip(calibrated.scores, LOWEST, HIGHEST)
        without_score[file.name] = dict(Counter(run.status[np.isnan(scores)]).most_common())
        columns = ["conversation", "participant", "status", "reason", "ground_truth", "model"]
        frames[file.name] = run.table[columns].assign(score=scores)
    for name, frame in frames.items():
        write_predictions(calibrated_paths[name], frame, own=True)
    return Calibration(
        settings, Facts(remarks=remarks), skipped, calibrated_paths, errors, without_score
    )
