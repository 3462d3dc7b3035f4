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
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return str(value) if isinstance(value, Path) else value


@dataclass(frozen=True, eq=False)
class Report:
    """What was computed, by name and as attributes; with the settings and notes as ``to_json()``."""

    found: dict
    """Tables of estimates, counts and texts; in JSON, null where there is no number, with the reason beside it."""

    settings: dict
    notes: list[str] = field(default_factory=list)

    def __getattr__(self, name: str):
        if name in self.__dict__.get("found", ()):
            return self.found[name]
        raise AttributeError(name)

    def to_json(self) -> str:
        """Return all of it as JSON."""
        return json.dumps(
            as_json({**self.settings, **self.found, "notes": self.notes}), indent=1, allow_nan=False
        )


# The files


def find_files(paths: str | Path | Sequence[str | Path]) -> tuple[list[Path], list[Path]]:
    """Find the files that are meant, and those of folders that are passed over."""
    wanted = _listed(paths)
    files: dict[Path, Path] = {}
    skipped: dict[Path, Path] = {}
    for path in wanted:
        try:
            entries = prediction_files(path) if path.is_dir() else [path]
        except OSError as error:
            raise UserError(
                f"{path}: the folder can't be listed ({reason(error)}). Check its permissions."
            ) from None
        for entry in entries:
            passed_over = entry is not path and SKIPPED_WORD in str(entry.absolute())
            (skipped if passed_over else files).setdefault(entry.absolute(), entry)
    if not files and skipped:
        raise UserError(
            f"{', '.join(map(str, wanted))}: every file ({len(skipped):,}) has the word {SKIPPED_WORD} in its full "
            "path, and such files of a folder are passed over, as the authors do. Name the files themselves, or move "
            "them."
        )
    return list(files.values()), [path for key, path in skipped.items() if key not in files]


def _listed(paths: str | Path | Sequence[str | Path]) -> list[Path]:
    return [Path(path) for path in ([paths] if isinstance(paths, str | Path) else paths)]


def read_paths(
    paths: str | Path | Sequence[str | Path], score_scale: ScoreScale | None = None
) -> tuple[list[Predictions], list[Path], list[str]]:
    """Predictions of all files; which files of folders were passed over, and a note on these."""
    files, skipped = find_files(paths)
    if not files:
        named = _listed(paths)
        begun = next((path for path in named if (path / JOURNAL).exists()), None)
        why = (
            f" yet: the session there ({JOURNAL}) has not ended. Give its `sense7 judge run` again"
            if begun
            else ""
        )
        what = ", ".join(map(str, named)) or "nothing"
        raise UserError(
            f"{what}: no file of predictions{why or '. Give .xlsx or .csv files, or folders of them'}."
        )
    notes = []
    if skipped:
        notes.append(
            f"Passed over, as the authors do, for the word {SKIPPED_WORD} in the full path: {len(skipped):,}; "
            f"the first is {skipped[0]}."
        )
    read, repeats = without_repeats(
        [read_predictions(path, score_scale=score_scale) for path in files]
    )
    return read, skipped, [*notes, *(f"{path}: {note}." for path, note in repeats.items())]


def _bootstrap_of(frames: Iterable[pd.DataFrame], settings: dict) -> ParticipantBootstrap | None:
    """Resamples of the participants of all files; None if none is known."""
    ParticipantBootstrap(
        ["anybody"], **settings
    )  # refuses settings out of range, whether or not anybody is known
    everyone = pd.concat([metrics.people_of(frame) for frame in frames]).dropna()
    return ParticipantBootstrap(everyone, **settings) if len(everyone) else None


def _with_common_notes(
    notes: list[str], simulated: Sequence[str], policy: str, last: list[str]
) -> list[str]:
    """Notes between what is said first, and last, of any files."""
    first = [f"{SIMULATED_WORDS} ({', '.join(simulated)}): {ABOUT_SIMULATED}"] if simulated else []
    unusable = (
        "Unusable replies count as 3 (the authors' rule), which rewards failure; coverage does not."
    )
    return [*first, *notes, *([unusable] if policy == "authors" else []), *last]


# Evaluate


def evaluate(
    paths: str | Path | Sequence[str | Path],
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
    read, skipped, passed_over = read_paths(paths, score_scale)
    files = _by_name(read)
    bootstrap = _bootstrap_of((file.frame for file in read), settings)
    over = OverRuns({name: file.frame for name, file in files.items()}, bootstrap, policy)
    rated = {name: file.ratings for name, file in files.items() if file.ratings is not None}
    found = {
        "skipped": skipped,
        "files": [_measured(name, file, over, bootstrap) for name, file in files.items()],
        "over_files": {
            "mean": over.mean,
            "spread": over.spread,
            "stability": metrics.stability(over),
            "calibration": metrics.calibration(over),
            "confusion": over.confusion.to_numpy().tolist(),
        },
        "ratings": by_rating(rated, bootstrap),
    }
    notes = [f"{name}: {note}." for name, file in files.items() for note in file.notes]
    for about in found["files"]:
        of_rows = _notes_on_rows(files[about["name"]].frame, about["bounds"])
        notes += [f"{about['name']}: {note}" for note in of_rows]
    simulated = [name for name, file in files.items() if file.simulated]
    last = [*passed_over, *_differences_of_files(files)]
    notes = _with_common_notes(notes, simulated, policy, last)
    return Report(found, {"policy": policy, **settings}, notes)


def _by_name(read: Sequence[Predictions]) -> dict[str, Predictions]:
    """Files by their names, and by their paths where several are called alike."""
    stems = Counter(file.path.stem for file in read)
    files = {}
    for file in read:
        name = file.path.stem if stems[file.path.stem] == 1 else str(file.path)
        files[file.called(name)] = file
    return files


def _measured(
    name: str, file: Predictions, over: OverRuns, bootstrap: ParticipantBootstrap | None
) -> dict:
    """What is said of one file."""
    return {
        "name": name,
        "path": file.path,
        "rows": len(file.frame),
        "metrics": over.each[name].mean,
        "coverage": metrics.coverage(file.frame, bootstrap),
        "bounds": metrics.missing_bounds(file.frame, bootstrap),
    }


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
    if never := int((frame["status"] == NOT_ASKED).sum()):
        notes.append(
            f"never asked: {count_of(never, 'conversation')}, without a score and not in n under any policy."
        )
    doubtful = frame[frame["doubtful"]]
    if len(doubtful):
        notes.append(
            f"doubtful readings: {len(doubtful):,}; the first: {doubtful['reason'].iloc[0]}."
        )
    if untrue := int(frame["ground_truth"].isna().sum()):
        notes.append(f"rows without ground truth, left out: {untrue:,}.")
    return notes


def _differences_of_files(files: dict[str, Predictions]) -> list[str]:
    """How files differ that are evaluated together: in models, conversations, and ground truth."""
    notes = []
    models = {model for file in files.values() for model in file.frame["model"].dropna().unique()}
    if len(models) > 1:
        listed = ", ".join(sorted(models))
        notes.append(
            f"The files are of {len(models):,} models ({listed}): mean and sd are over files, not over runs."
        )
    if len(files) < 2:
        return notes
    frames = {name: file.frame.dropna(subset="conversation") for name, file in files.items()}
    truths = pd.concat(
        [frame.set_index("conversation")["ground_truth"] for frame in frames.values()],
        axis=1,
        keys=frames,
    )
    everyone = len(truths)
    notes += [
        f"{name}: {everyone - len(frame):,} of the {everyone:,} conversations of all files are not in it."
        for name, frame in frames.items()
        if len(frame) < everyone
    ]
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
    first, *others = [ratings["rating"].unique().tolist() for ratings in files.values()] or [[]]
    sides = {"judge": "score", "person": "ground_truth"}
    frames = {name: ratings.rename(columns=sides) for name, ratings in files.items()}
    return {
        rating: OverRuns(
            {name: own[own["rating"] == rating] for name, own in frames.items()}, bootstrap
        ).mean
        for rating in first
        if all(rating in other for other in others)
    }


# Compare


def compare(
    paths: str | Path | Sequence[str | Path],
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
    read, skipped, passed_over = read_paths(paths, score_scale)
    groups = _by_judge(read)
    judges = {}
    for judge, files in groups.items():
        judges[judge] = {str(file.path): _conversations(file, study) for file in files}
    frames = [frame for runs in judges.values() for frame in runs.values()]
    bootstrap = _bootstrap_of(frames, settings)
    references = {}
    if study is not None:
        from sense7.judge.scores.baselines import (
            baseline_predictions,  # here, as it imports scikit-learn
        )

        references = as_judges(baseline_predictions(study))
    compared = compare_judges(judges, bootstrap, references=references, policy=policy)
    found = {
        "skipped": skipped,
        "conversations": compared.conversations,
        "shared": compared.shared,
        "judges": [
            {
                "name": judge,
                "files": [file.path for file in groups.get(judge, ())],
                **compared.left_out.loc[judge].to_dict(),
                "coverage": compared.coverage.loc[judge].to_dict(),
                "metrics": measured.mean.drop(index="coverage"),
            }
            for judge, measured in compared.judges.items()
        ],
        "differences": compared.differences,
    }
    everyone = count_of(compared.conversations, "conversation")
    notes, last = [], []
    for judge, count in compared.left_out["lacking"].items():
        if count:
            notes.append(
                f"{judge}: without a usable score in some run: {count:,} of {everyone}, which are left out for every "
                "judge."
            )
    for files in groups.values():
        for file in files:
            last += [f"{file.path.name}: {note}." for note in file.notes]
    simulated = [judge for judge, files in groups.items() if any(file.simulated for file in files)]
    notes = _with_common_notes(notes, simulated, policy, [*last, *passed_over])
    return Report(found, {"policy": policy, **settings}, notes)


def _by_judge(read: Sequence[Predictions]) -> dict[str, list[Predictions]]:
    """The files of each judge; the folder stands before the names of those that are called alike."""
    grouped: dict[tuple, list[Predictions]] = {}
    for file in read:
        grouped.setdefault((file.judge, file.path.parent), []).append(file)
    names = Counter(judge for judge, _ in grouped)
    groups = {}
    for (judge, folder), files in grouped.items():
        groups[judge if names[judge] == 1 else f"{folder}/{judge}"] = files
    return groups


def _conversations(file: Predictions, study: Study | None) -> pd.DataFrame:
    """Predictions of a file, of the conversations of a study if there is one."""
    return file.by_task.reset_index() if study is None else aligned(study, file)


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
    settings, out = {"draws": draws, "seed": seed, "confidence": confidence}, Path(out)
    files, skipped, notes = read_paths(paths)
    paths_of = _places(files, out)
    calibrations = {file.name: _calibration(file, settings) for file in files}
    for file in files:
        frame, _ = calibrations[file.name]
        write_predictions(paths_of[file.name], frame, own=True)
    errors = {name: table for name, (_, table) in calibrations.items()}
    return Report({"skipped": skipped, "paths": paths_of, "errors": errors}, settings, notes)


def _places(files: Sequence[Predictions], out: Path) -> dict[str, Path]:
    """Where the calibrated files will be; refused if one of them would take the place of another."""
    places: dict[str, Path] = {}
    for file in files:
        if file.name in places:
            raise UserError(
                f"{file.path}: another of these files is called so too. Calibrate them into two folders."
            )
        if file.path.resolve().parent == out.resolve():
            raise UserError(
                f"{out}: holds {file.path.name}, which is to be calibrated. Give another folder as --out."
            )
        places[file.name] = out / f"{file.name}.xlsx"
    require_as_written(places.values())
    return places


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
