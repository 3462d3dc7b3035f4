"""Files of predictions in; every metric, the differences between judges, or calibrated scores out."""

import json
import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pandas as pd

from sense7.errors import UserError
from sense7.estimators.bootstrap import ParticipantBootstrap
from sense7.files import reason, require_as_written
from sense7.judge.files import (
    JOURNAL,
    SKIPPED_WORD,
    Predictions,
    ScoreScale,
    prediction_files,
    read_predictions,
    without_repeats,
    write_predictions,
)
from sense7.judge.reply import NOT_ASKED, STATUSES
from sense7.judge.score_text import HIGHEST, LOWEST
from sense7.judge.scores import metrics
from sense7.judge.scores.comparison import as_judges, compare_judges
from sense7.judge.scores.judges import ABOUT_SIMULATED, aligned
from sense7.judge.scores.metrics import OverRuns
from sense7.study import Study
from sense7.taxonomy import SIMULATED_WORDS
from sense7.terminal import count_of

__all__ = ["calibrate", "compare", "evaluate"]


def as_json(value: object) -> object:
    """What JSON can hold: a table as rows by name; null for no number."""
    if isinstance(value, pd.DataFrame):
        return as_json(value.astype(object).to_dict("index"))
    if isinstance(value, Mapping):
        return {str(name): as_json(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [as_json(part) for part in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, Path):
        return str(value)
    return value


@dataclass(frozen=True, eq=False)
class Report:
    """What was computed, by name and as attributes; with the settings and notes as ``to_json()``."""

    tables: dict
    """Tables of estimates, counts and texts; in JSON, null where there is no number, with the reason beside it."""

    settings: dict
    notes: list[str] = field(default_factory=list)

    def __getattr__(self, name: str):
        if name in self.__dict__.get("tables", ()):
            return self.tables[name]
        raise AttributeError(name)

    def to_json(self) -> str:
        """Return all of it as JSON."""
        return json.dumps(
            as_json({**self.settings, **self.tables, "notes": self.notes}),
            indent=1,
            allow_nan=False,
        )


# The files

Paths = str | Path | Sequence[str | Path]


def find_files(paths: Paths) -> tuple[list[Path], list[Path]]:
    """Find the files that are meant, and those of folders that are passed over."""
    paths = _listed(paths)
    files: dict[Path, Path] = {}
    passed_over: dict[Path, Path] = {}
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


def _listed(paths: Paths) -> list[Path]:
    if isinstance(paths, str | Path):
        paths = [paths]
    return [Path(path) for path in paths]


def read_paths(
    paths: Paths, score_scale: ScoreScale | None = None
) -> tuple[list[Predictions], list[Path], list[str]]:
    """Predictions of all files; which files of folders were passed over, and notes on these and on repeated replies."""
    files, skipped = find_files(paths)
    if not files:
        folders = _listed(paths)
        problem = ". Give .xlsx or .csv files, or folders of them"
        if any((folder / JOURNAL).exists() for folder in folders):
            problem = f" yet: the session there ({JOURNAL}) has not ended. Give its `sense7 judge run` again"
        names = ", ".join(map(str, folders)) or "nothing"
        raise UserError(f"{names}: no file of predictions{problem}.")
    notes = []
    if skipped:
        notes.append(
            f"Passed over, as the authors do, for the word {SKIPPED_WORD} in the full path: {len(skipped):,}; "
            f"the first is {skipped[0]}."
        )
    predictions = [read_predictions(path, score_scale=score_scale) for path in files]
    distinct, repeats = without_repeats(predictions)
    notes += [f"{path}: {note}." for path, note in repeats.items()]
    return distinct, skipped, notes


def _bootstrap_of(frames: Iterable[pd.DataFrame], settings: dict) -> ParticipantBootstrap | None:
    """Resamples of the participants of all files; None if none is known."""
    # Settings out of range are refused, whether or not anybody is known.
    ParticipantBootstrap(["anybody"], **settings)
    everyone = pd.concat([metrics.people_of(frame) for frame in frames]).dropna()
    if everyone.empty:
        return None
    return ParticipantBootstrap(everyone, **settings)


def _with_common_notes(
    notes: list[str], simulated: Sequence[str], policy: str, last: list[str]
) -> list[str]:
    """Notes between those that stand first, and last, of any files."""
    common = []
    if simulated:
        common.append(f"{SIMULATED_WORDS} ({', '.join(simulated)}): {ABOUT_SIMULATED}")
    common += notes
    if policy == "authors":
        common.append(
            "Unusable replies count as 3 (the authors' rule), which rewards failure; coverage does not."
        )
    return common + last


# Evaluate


def evaluate(
    paths: Paths,
    *,
    policy: str = "strict",
    score_scale: ScoreScale | None = None,
    draws: int = 10_000,
    seed: int = 0,
    confidence: float = 0.95,
) -> Report:
    r"""Evaluate files of predictions, one run each.

    Parameters
    ----------
    paths : path or sequence of paths
        Files (.xlsx, .csv), and folders, of which every .xlsx and .csv file is taken but those whose full path
        holds the word results, as the authors' evaluation does. A file that is named is always taken.
    policy : {"strict", "authors"}
        Which reading of a reply counts, see :func:`sense7.judge.files.counted_scores`.
    score_scale : ScoreScale, optional
        See :func:`sense7.judge.files.read_predictions`.
    draws, seed, confidence : int, int, float
        Of the intervals over participants.

    Returns
    -------
    Report
        With ``files`` (of each its name, path, rows, metrics, coverage, bounds), ``over_files`` (mean, spread,
        stability, calibration, confusion), ``ratings`` and ``skipped``. Without the column PID there are no intervals.

    Raises
    ------
    UserError
        If there is no file, or one can't be read, lacks IS_EMPATHY or ground-truth, has a TaskId twice or scores on
        another scale; if draws, confidence or policy are out of range.

    Examples
    --------
    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> _ = (folder / "model-prompt-iter1.csv").write_text("IS_EMPATHY,ground-truth\n4,4.2\n2,3\n")
    >>> found = evaluate(folder)
    >>> accuracy = found.over_files["mean"].loc["accuracy"]
    >>> float(accuracy["estimate"]), accuracy["reason"]
    (0.5, 'no interval: participants are not known')
    """
    settings = {"draws": draws, "seed": seed, "confidence": confidence}
    predictions, skipped, notes_on_paths = read_paths(paths, score_scale)
    files = _by_name(predictions)
    bootstrap = _bootstrap_of((file.frame for file in predictions), settings)
    over = OverRuns({name: file.frame for name, file in files.items()}, bootstrap, policy)
    of_files, simulated, notes, notes_on_rows, ratings = [], [], [], [], {}
    for name, file in files.items():
        bounds = metrics.missing_bounds(file.frame, bootstrap)
        of_files.append(
            {
                "name": name,
                "path": file.path,
                "rows": len(file.frame),
                "metrics": OverRuns({name: over.runs[name]}, bootstrap).mean,
                "coverage": metrics.coverage(file.frame, bootstrap),
                "bounds": bounds,
            }
        )
        notes += [f"{name}: {note}." for note in file.notes]
        notes_on_rows += [f"{name}: {note}" for note in _notes_on_rows(file.frame, bounds)]
        if file.simulated:
            simulated.append(name)
        if file.ratings is not None:
            ratings[name] = file.ratings
    tables = {
        "skipped": skipped,
        "files": of_files,
        "over_files": {
            "mean": over.mean,
            "spread": over.spread,
            "stability": metrics.stability(over),
            "calibration": metrics.calibration(over),
            "confusion": over.confusion.to_numpy().tolist(),
        },
        "ratings": by_rating(ratings, bootstrap),
    }
    last = [*notes_on_paths, *_differences_of_files(files)]
    notes = _with_common_notes(notes + notes_on_rows, simulated, policy, last)
    return Report(tables, {"policy": policy, **settings}, notes)


def _by_name(predictions: Sequence[Predictions]) -> dict[str, Predictions]:
    """Files by their names, and by their paths where several are called alike."""
    stems = Counter(file.path.stem for file in predictions)
    files = {}
    for file in predictions:
        name = file.path.stem
        if stems[name] > 1:
            name = str(file.path)
        files[file.called(name)] = file
    return files


def _notes_on_rows(frame: pd.DataFrame, bounds: pd.DataFrame) -> list[str]:
    """Which rows of a file lack a score or ground truth, or were read with doubt."""
    notes = []
    failures = frame.loc[frame["score"].isna(), "status"].value_counts()
    if len(failures):
        counts = ", ".join(f"{count:,} {status}" for status, count in failures.items())
        bounded = ""
        if np.isfinite(bounds["estimate"]).all():
            lowest, highest = bounds["estimate"]
            bounded = (
                f"; for any values of these scores, the accuracy is {lowest:z.3f} to {highest:z.3f}"
            )
        notes.append(f"without a usable score: {counts}{bounded}.")
    not_asked = int((frame["status"] == NOT_ASKED).sum())
    if not_asked:
        notes.append(
            f"never asked: {count_of(not_asked, 'conversation')}, without a score and not in n under any policy."
        )
    doubtful = frame[frame["doubtful"]]
    if len(doubtful):
        notes.append(
            f"doubtful readings: {len(doubtful):,}; the first: {doubtful['reason'].iloc[0]}."
        )
    without_truth = int(frame["ground_truth"].isna().sum())
    if without_truth:
        notes.append(f"rows without ground truth, left out: {without_truth:,}.")
    return notes


def _differences_of_files(files: dict[str, Predictions]) -> list[str]:
    """How files differ that are evaluated together: in models, conversations, and ground truth."""
    notes = []
    models = set().union(*(file.frame["model"].dropna() for file in files.values()))
    if len(models) > 1:
        listed = ", ".join(sorted(models))
        notes.append(
            f"The files are of {len(models):,} models ({listed}): mean and sd are over files, not over runs."
        )
    if len(files) < 2:
        return notes
    columns = {}
    for name, file in files.items():
        of_conversations = file.frame.dropna(subset="conversation").set_index("conversation")
        columns[name] = of_conversations["ground_truth"]
    truths = pd.concat(columns, axis=1)
    for name, column in columns.items():
        lacking = len(truths) - len(column)
        if lacking:
            notes.append(
                f"{name}: {lacking:,} of the {len(truths):,} conversations of all files are not in it."
            )
    differ = ~np.isclose(truths.min(axis=1), truths.max(axis=1), rtol=0, atol=1e-9, equal_nan=True)
    if differ.any():
        notes.append(
            f"Conversations whose ground truth differs between files: {differ.sum():,}; the first is "
            f"{truths.index[differ][0]}. Are they predictions for the same data?"
        )
    return notes


# Ratings of turns and dimensions


def by_rating(
    files: Mapping[str, pd.DataFrame], bootstrap: ParticipantBootstrap | None = None
) -> dict:
    """Return every metric of each rating, as a mean over files."""
    sides = {"judge": "score", "person": "ground_truth"}
    by_file = {}  # file -> rating -> its rows
    for name, ratings in files.items():
        by_file[name] = dict(iter(ratings.rename(columns=sides).groupby("rating", sort=False)))
    tables = {}
    for rating in next(iter(by_file.values()), {}):
        if all(rating in frames for frames in by_file.values()):
            of_files = {name: frames[rating] for name, frames in by_file.items()}
            tables[rating] = OverRuns(of_files, bootstrap).mean
    return tables


# Compare


def compare(
    paths: Paths,
    *,
    study: Study | None = None,
    policy: str = "strict",
    score_scale: ScoreScale | None = None,
    draws: int = 10_000,
    seed: int = 0,
    confidence: float = 0.95,
) -> Report:
    r"""Compare the judges of files of predictions with each other, and with the baselines.

    Files of one folder that are called alike but for the number of the run are runs of one judge.

    Parameters
    ----------
    paths : path or sequence of paths
        See :func:`evaluate`.
    study : Study, optional
        The data set that was judged: then its baselines are compared, too, and predictions for other data refused.
    policy, score_scale, draws, seed, confidence
        See :func:`evaluate`.

    Returns
    -------
    Report
        With ``conversations``, ``shared``, ``judges`` (of each its name, files, counts, coverage, metrics),
        ``differences`` (metric -> table) and ``skipped``.

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
    >>> compare(folder).differences["accuracy"]["estimate"].to_dict()
    {'a minus b': 0.0}
    """
    settings = {"draws": draws, "seed": seed, "confidence": confidence}
    predictions, skipped, notes_on_paths = read_paths(paths, score_scale)
    groups = _by_judge(predictions)
    judges, frames, simulated, notes_on_files = {}, [], [], []
    for judge, files in groups.items():
        judges[judge] = {}
        for file in files:
            frame = file.by_task.reset_index() if study is None else aligned(study, file)
            judges[judge][str(file.path)] = frame
            frames.append(frame)
            notes_on_files += [f"{file.path.name}: {note}." for note in file.notes]
        if any(file.simulated for file in files):
            simulated.append(judge)
    bootstrap = _bootstrap_of(frames, settings)
    references = {}
    if study is not None:
        # With it comes scikit-learn.
        from sense7.judge.scores.baselines import baseline_predictions

        references = as_judges(baseline_predictions(study))
    compared = compare_judges(judges, bootstrap, references=references, policy=policy)
    of_judges, notes = [], []
    for judge, measured in compared.judges.items():
        counts = compared.left_out.loc[judge].to_dict()
        of_judges.append(
            {
                "name": judge,
                "files": [file.path for file in groups.get(judge, ())],
                **counts,
                "coverage": compared.coverage.loc[judge].to_dict(),
                "metrics": measured.mean.drop(index="coverage"),
            }
        )
        if counts["lacking"]:
            everyone = count_of(compared.conversations, "conversation")
            notes.append(
                f"{judge}: without a usable score in some run: {counts['lacking']:,} of {everyone}, which are left out "
                "for every judge."
            )
    tables = {
        "skipped": skipped,
        "conversations": compared.conversations,
        "shared": compared.shared,
        "judges": of_judges,
        "differences": compared.differences,
    }
    notes = _with_common_notes(notes, simulated, policy, notes_on_files + notes_on_paths)
    return Report(tables, {"policy": policy, **settings}, notes)


def _by_judge(predictions: Sequence[Predictions]) -> dict[str, list[Predictions]]:
    """The files of each judge; the folder stands before the names of those that are called alike."""
    grouped: dict[tuple, list[Predictions]] = {}
    for file in predictions:
        grouped.setdefault((file.judge, file.path.parent), []).append(file)
    names = Counter(judge for judge, _ in grouped)
    groups = {}
    for (judge, folder), files in grouped.items():
        name = judge
        if names[judge] > 1:
            name = f"{folder}/{judge}"
        groups[name] = files
    return groups


# Calibrate


def calibrate(
    paths: Sequence[Path],
    out: str | Path,
    *,
    draws: int = 2_000,
    seed: int = 0,
    confidence: float = 0.95,
) -> Report:
    """Calibrate every file of predictions and write it to a folder under the name of its judge.

    Parameters
    ----------
    paths : sequence of Path
        Files, or folders of them.
    out : path
        Folder, made if need be; not one that files are read from.
    draws, seed, confidence
        Of the intervals over participants.

    Returns
    -------
    Report
        With ``paths`` (file that was read -> calibrated one) and ``errors``, before and after.

    Raises
    ------
    UserError
        If a file can't be read, names no participants, has too few ratings, or would be replaced by its own
        calibrated form. Nothing is written then.
    """
    settings = {"draws": draws, "seed": seed, "confidence": confidence}
    files, skipped, notes = read_paths(paths)
    calibrated_paths = _calibrated_paths(files, Path(out))
    frames, errors = {}, {}
    for file in files:
        frames[file.name], errors[file.name] = _calibration(file, settings)
    for name, frame in frames.items():
        write_predictions(calibrated_paths[name], frame, own=True)
    tables = {"skipped": skipped, "paths": calibrated_paths, "errors": errors}
    return Report(tables, settings, notes)


def _calibrated_paths(files: Sequence[Predictions], out: Path) -> dict[str, Path]:
    """Where the calibrated files will be; refused if one of them would take the place of another."""
    paths: dict[str, Path] = {}
    for file in files:
        if file.name in paths:
            raise UserError(
                f"{file.path}: another of these files is called so too. Calibrate them into two folders."
            )
        if file.path.resolve().parent == out.resolve():
            raise UserError(
                f"{out}: holds {file.path.name}, which is to be calibrated. Give another folder as --out."
            )
        paths[file.name] = out / f"{file.name}.xlsx"
    require_as_written(paths.values())
    return paths


def _calibration(file: Predictions, settings: Mapping) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Calibrated predictions of a file, and its calibration errors before and after."""
    # With it comes scikit-learn.
    from sense7.judge.scores.calibration import calibrated, calibration_errors

    frame = file.frame
    if frame["participant"].isna().any() or frame["conversation"].isna().any():
        raise UserError(
            f"{file.path}: some rows have no PID or no TaskId, so that participants can't be held out. Fill in both "
            "columns."
        )
    try:
        scores = np.clip(calibrated(frame), LOWEST, HIGHEST)
    except UserError as error:
        raise UserError(f"{file.path}: {error}") from None
    errors = calibration_errors(frame, ParticipantBootstrap(frame["participant"], **settings))
    # Rows with a score, or why there is none; replies are those of another score.
    columns = ["conversation", "participant", "status", "reason", "ground_truth", "model", "run"]
    status = frame["status"].where(np.isnan(scores), "ok")
    frame = frame[[*columns, "chat"]].assign(score=scores, status=status)
    has_reason = frame["status"].isin((*STATUSES[1:-2], NOT_ASKED))
    return frame[frame["score"].notna() | has_reason], errors
