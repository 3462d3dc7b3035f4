"""Files of predictions in, every metric out: per file, and over files."""

import json
import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pandas as pd

from sense7.arguments import check_arguments
from sense7.errors import UserError
from sense7.estimators.bootstrap import ParticipantBootstrap
from sense7.files import reason
from sense7.judge.asking.journal import JOURNAL, with_unfinished_runs
from sense7.judge.predictions import SKIPPED_WORD, Predictions, counted_scores, prediction_files, read_files
from sense7.judge.reply import NOT_ASKED
from sense7.judge.score_scale import ScoreScale
from sense7.judge.scoring import metrics
from sense7.judge.scoring.metrics import AUTHORS_METRICS, METRICS, OverRuns
from sense7.judge.scoring.rating_metrics import MEASURES, applicability, by_rating
from sense7.judge.scoring.simulated import ABOUT_SIMULATED, require_synthetic
from sense7.study import Study
from sense7.taxonomy import SIMULATED_WORDS
from sense7.terminal import count_of

__all__ = ["Evaluation", "aligned_text", "evaluate", "records"]

_ABOUT_P = (
    "\nnaive p: Spearman's p as the authors print it. It takes conversations as independent, which those of one "
    "participant are not; the interval over participants doesn't."
)


_ABOUT_BIAS = "above zero: scores higher than the ratings. p by Holm over the table."


@dataclass(frozen=True, eq=False)
class Evaluation:
    """What :func:`evaluate` found.

    Attributes
    ----------
    files : dict of Predictions
        Name -> the file as read, in the order of evaluation.
    skipped : list of Path
        Files of folders that were passed over, as the authors' evaluation does.
    left_out : dict of str
        Further files of folders, which hold no predictions -> why they were left out.
    policy : str
        Which reading of a reply counts.
    draws, seed, confidence : int, int, float
        Of the resamples of the participants of all files, and of the intervals.
    metrics : OverRuns
        Every metric per file, its mean over files and its spread.
    spearman_p : dict of float
        Name of a file -> see :func:`sense7.judge.scoring.metrics.spearman_p`.
    coverage, bounds : dict of DataFrame
        Name of a file -> see :func:`sense7.judge.scoring.metrics.coverage` and
        :func:`sense7.judge.scoring.metrics.missing_bounds` (of usable scores, under both policies).
    confusion, calibration, stability : DataFrame
        Over all files; see the functions of these names in :mod:`sense7.judge.scoring.metrics`.
    notes : list of str
        What has to be known to read the figures.
    bias : dict of DataFrame
        Judge -> see :func:`sense7.judge.scoring.bias.bias_table`; empty without the data set that was judged.
    ratings, applicability : dict of DataFrame
        Of files with ratings of turns or dimensions, see :mod:`sense7.judge.scoring.rating_metrics`; empty without.
    """

    files: dict[str, Predictions]
    skipped: list[Path]
    left_out: dict[Path, str]
    policy: str
    draws: int
    seed: int
    confidence: float
    metrics: OverRuns
    spearman_p: dict[str, float]
    coverage: dict[str, pd.DataFrame] = field(repr=False)
    bounds: dict[str, pd.DataFrame] = field(repr=False)
    confusion: pd.DataFrame = field(repr=False)
    calibration: pd.DataFrame = field(repr=False)
    stability: pd.DataFrame = field(repr=False)
    notes: list[str]
    bias: dict[str, pd.DataFrame] = field(default_factory=dict, repr=False)
    ratings: dict[str, pd.DataFrame] = field(default_factory=dict, repr=False)
    applicability: dict[str, pd.DataFrame] = field(default_factory=dict, repr=False)

    def rows(self) -> list[list[str]]:
        """Return the authors' metrics as texts: a header, one row per file, and rows over files."""
        shown = ("coverage", *AUTHORS_METRICS)
        table = [["file", "n", "coverage", *(METRICS[name].title for name in AUTHORS_METRICS), "naive p"]]
        for name, table_of_file in self.metrics.runs.items():
            p = self.spearman_p[name]
            numbers = [*(number_text(table_of_file.loc[key]) for key in shown), "" if math.isnan(p) else f"{p:.3g}"]
            table.append([name, f"{table_of_file.loc['accuracy', 'n']:,}", *numbers])
        mean, spread = self.metrics.mean, self.metrics.spread
        n = f"{mean.loc['accuracy', 'n']:,}"
        interval = [f"{self.confidence:.0%} interval", n, *(interval_text(mean.loc[key]) for key in shown), ""]
        if len(self.files) == 1:
            return [*table, interval]
        return [
            *table,
            ["mean", n, *(number_text(mean.loc[key]) for key in shown), ""],
            interval,
            ["sd over files", f"{len(self.files):,}", *(number_text(spread.loc[key]) for key in shown), ""],
        ]

    def further_rows(self) -> list[list[str]]:
        """Return every metric as texts: a header, and one row per metric with mean, interval, deviation and note."""
        table = [["metric", "mean", f"{self.confidence:.0%} interval", "sd over files", "note"]]
        for name, metric in METRICS.items():
            mean, spread = self.metrics.mean.loc[name], self.metrics.spread.loc[name]
            table.append([metric.title, number_text(mean), interval_text(mean), number_text(spread), mean["reason"]])
        return table

    def bounds_rows(self) -> list[list[str]]:
        """Return what accuracy, within 1 and MAE could be at worst and best, for the files that lack scores."""
        bounded = ("accuracy", "within_one", "mean_absolute_error")
        table = [["file", "missing", *(METRICS[name].title for name in bounded)]]
        for name, bounds in self.bounds.items():
            frame = self.files[name].frame
            missing = int((frame["ground_truth"].notna() & frame["score"].isna()).sum())
            if missing:
                ends = [[number_text(bounds.loc[f"{key}_{end}"]) for end in ("worst", "best")] for key in bounded]
                table.append([name, f"{missing:,}", *(" to ".join(pair) for pair in ends)])
        return table

    def ratings_rows(self) -> list[list[str]]:
        """Return the metrics of each rating as texts: a header, and one row per rating."""
        shown = ("accuracy", "within_one", "mean_absolute_error", "spearman", "quadratic_kappa")
        table = [["rating", "n", *(METRICS[name].title for name in shown)]]
        for rating, mean in self.ratings.items():
            cells = [_with_interval(mean.loc[name]) for name in shown]
            table.append([rating, f"{mean.loc['accuracy', 'n']:,}", *cells])
        return table

    def applicability_rows(self) -> list[list[str]]:
        """Return how well it is known which dimensions do not apply: a header, and one row per dimension."""
        table = [["not applicable", "n", *MEASURES]]
        for dimension, found in self.applicability.items():
            cells = [_with_interval(found.loc[name]) or found.loc[name, "reason"] for name in MEASURES]
            table.append([dimension, f"{found['n'].iloc[0]:,}", *cells])
        return table

    def text(self) -> str:
        """Return all of it as plain text for a terminal."""
        parts = [aligned_text(self.rows()) + _ABOUT_P, aligned_text(self.further_rows())]
        if len(self.bounds_rows()) > 1:
            parts.append("Worst and best for any values of the missing scores\n" + aligned_text(self.bounds_rows()))
        if len(self.files) > 1 and self.stability["n"].any():
            same, deviation = self.stability.loc["same_label"], self.stability.loc["score_deviation"]
            parts.append(
                f"Over files {number_text(same)} of {same['n']:,} conversations keep one label; "
                f"scores of a conversation deviate by {number_text(deviation)} levels on the average."
            )
        parts += [
            f"Mean error of {judge} by group; {_ABOUT_BIAS}\n{_bias_text(table)}" for judge, table in self.bias.items()
        ]
        if self.ratings:
            parts.append(aligned_text(self.ratings_rows()))
        if self.applicability:
            parts.append(aligned_text(self.applicability_rows()))
        return "\n\n".join([*parts, *(["\n".join(self.notes)] if self.notes else [])])

    def to_json(self) -> str:
        """Return all of it as JSON; null where there is no number, with the reason beside it."""
        content = {
            "policy": self.policy,
            "draws": self.draws,
            "seed": self.seed,
            "confidence": self.confidence,
            "files": [
                {
                    "name": name,
                    "path": str(predictions.path),
                    "rows": len(predictions.frame),
                    "metrics": records(self.metrics.runs[name]),
                    "coverage": records(self.coverage[name]),
                    "bounds": records(self.bounds[name]),
                    "spearman_naive_p": None if math.isnan(self.spearman_p[name]) else self.spearman_p[name],
                }
                for name, predictions in self.files.items()
            ],
            "over_files": {
                "mean": records(self.metrics.mean),
                "spread": records(self.metrics.spread),
                "stability": records(self.stability),
                "calibration": records(self.calibration),
                "confusion": self.confusion.to_numpy().tolist(),
            },
            "bias": {judge: list(records(table.reset_index()).values()) for judge, table in self.bias.items()},
            "ratings": {name: records(table) for name, table in self.ratings.items()},
            "applicability": {name: records(table) for name, table in self.applicability.items()},
            "skipped": [str(path) for path in self.skipped],
            "left_out": {str(path): why for path, why in self.left_out.items()},
            "notes": self.notes,
        }
        return json.dumps(content, indent=1, allow_nan=False)


def evaluate(
    paths: str | Path | Sequence[str | Path],
    *,
    study: Study | None = None,
    policy: str = "strict",
    score_scale: ScoreScale | None = None,
    draws: int = 10_000,
    seed: int = 0,
    confidence: float = 0.95,
) -> Evaluation:
    r"""Evaluate files of predictions, one run each.

    Parameters
    ----------
    paths : path or sequence of paths
        Files (.xlsx, .csv), and folders, of which every .xlsx and .csv file is taken but those whose full path
        holds the word results, as the authors' evaluation does, and those without a column IS_EMPATHY. A file
        that is named is always taken. A folder of an interrupted session gives the answers that it has so far.
    study : Study, optional
        The data set that was judged: then there is a table of each judge's mean error by length, position, condition,
        topic, level and language.
    policy : {"strict", "authors"}
        Which reading of a reply counts, see :func:`sense7.judge.predictions.counted_scores`.
    score_scale : ScoreScale, optional
        See :func:`sense7.judge.predictions.read_predictions`.
    draws, seed, confidence : int, int, float
        Of the intervals over participants.

    Returns
    -------
    Evaluation
        Without the column PID there are figures and no intervals, and the reason says so.

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
    >>> float(found.metrics.mean.loc["accuracy", "estimate"]), found.metrics.mean.loc["accuracy", "reason"]
    (0.5, 'no interval: participants are not known')
    """
    require_settings(draws, seed, confidence)
    read, skipped, left_out = read_paths(paths, score_scale)
    names = _names([file.path for file in read])
    files = {file.called(name): file for name, file in zip(names, read, strict=True)}
    frames = {
        name: file.frame.drop(columns="participant") if "participant" in file.absent else file.frame
        for name, file in files.items()
    }
    settings = {"draws": draws, "seed": seed, "confidence": confidence}
    bootstrap = bootstrap_of(frames, settings)
    several, over = list(frames.values()), metrics.over_runs(frames, bootstrap, policy=policy)
    rated = {name: file.ratings for name, file in files.items() if file.ratings is not None}
    return Evaluation(
        files=files,
        skipped=skipped,
        left_out=left_out,
        policy=policy,
        **settings,
        metrics=over,
        spearman_p={name: metrics.spearman_p(frame, policy) for name, frame in frames.items()},
        coverage={name: _coverage(frame, over.runs[name]) for name, frame in frames.items()},
        bounds={
            name: metrics.missing_bounds(
                frame["ground_truth"], counted_scores(frame), frame.get("participant"), bootstrap
            )
            for name, frame in frames.items()
        },
        confusion=metrics.confusion(several, policy=policy),
        calibration=metrics.calibration(several, bootstrap, policy=policy),
        stability=metrics.stability(several, bootstrap, policy=policy),
        notes=_notes(files, skipped, left_out, policy),
        bias={} if study is None else _bias(study, files, settings, policy),
        ratings=by_rating(rated, bootstrap) if rated else {},
        applicability=applicability(rated, bootstrap) if rated else {},
    )


def _coverage(frame: pd.DataFrame, table: pd.DataFrame) -> pd.DataFrame:
    """Coverage of a file, with the interval that its metrics have already."""
    counts = metrics.coverage(frame).drop(index="coverage")
    return pd.concat([table.loc[["coverage"]], counts]).rename_axis("coverage")


def _bias(study: Study, files: Mapping[str, Predictions], settings: dict, policy: str) -> dict[str, pd.DataFrame]:
    """Bias table of each judge."""
    from sense7.judge.scoring.available_judges import aligned
    from sense7.judge.scoring.bias import bias_table

    judges: dict[str, dict[str, pd.DataFrame]] = {}
    for name, file in files.items():
        require_synthetic(study, file)
        require_task_ids(file)
        judges.setdefault(file.judge, {})[name] = aligned(study, file.frame, name)
    bootstrap = ParticipantBootstrap(study.conversations["participant"], **settings)
    return {judge: bias_table(study, runs, bootstrap, policy=policy) for judge, runs in judges.items()}


def require_task_ids(file: Predictions) -> None:
    """Refuse predictions of which it is not known what conversations they are for."""
    if nameless := int(file.frame["conversation"].isna().sum()):
        blank = f"column TaskId: blank in {count_of(nameless, 'row')}"
        what = "lacks the column TaskId" if "conversation" in file.absent else blank
        raise UserError(
            f"{file.path}: {what}, so its conversations can't be matched with others. Give each row its TaskId."
        )


def require_settings(draws: int, seed: int, confidence: float) -> None:
    """Refuse settings of intervals that are out of range."""
    if draws < 1 or not 0 < confidence < 1 or seed < 0:
        raise UserError(
            f"draws are at least 1, the confidence is between 0 and 1, and the seed is not negative; "
            f"these are {draws}, {confidence:g} and {seed}."
        )


def read_paths(
    paths: str | Path | Sequence[str | Path], score_scale: ScoreScale | None
) -> tuple[list[Predictions], list[Path], dict[Path, str]]:
    """Predictions of all files and unfinished sessions, files passed over, and files left out -> why."""
    files, skipped = find_files(paths)
    wanted = _as_paths(paths)
    named = {path.absolute() for path in wanted if not path.is_dir()}
    required = [path for path in files if path.absolute() in named]
    read, left_out = read_files(files, required=required, score_scale=score_scale)
    for folder in filter(Path.is_dir, wanted):
        read = with_unfinished_runs(folder, read)
    if not read:
        raise _nothing(wanted, "".join(f"; {path.name}: {why}" for path, why in left_out.items()))
    return read, skipped, left_out


def bootstrap_of(frames: Mapping[str, pd.DataFrame], settings: dict) -> ParticipantBootstrap | None:
    """Resamples of the participants of all files; None if none is known."""
    people = [frame["participant"] for frame in frames.values() if "participant" in frame]
    everyone = pd.concat(people, ignore_index=True).dropna() if people else ()
    return ParticipantBootstrap(everyone, **settings) if len(everyone) else None


def find_files(paths: str | Path | Sequence[str | Path]) -> tuple[list[Path], list[Path]]:
    """Find the files that are meant, and those of folders that are passed over."""
    wanted = _as_paths(paths)
    files: dict[Path, Path] = {}
    skipped: dict[Path, Path] = {}
    for path in wanted:
        for entry in _entries(path) if path.is_dir() else [path]:
            passed_over = entry is not path and SKIPPED_WORD in str(entry.absolute())
            (skipped if passed_over else files).setdefault(entry.absolute(), entry)
    if not files and not any((path / JOURNAL).exists() for path in wanted):
        raise _all_passed_over(wanted, skipped) if skipped else _nothing(wanted)
    return list(files.values()), [path for key, path in skipped.items() if key not in files]


def _all_passed_over(wanted: list[Path], skipped: Collection) -> UserError:
    return UserError(
        f"{', '.join(map(str, wanted))}: every file ({len(skipped):,}) has the word {SKIPPED_WORD} in its full path, "
        "and such files of a folder are passed over, as the authors do. Name the files themselves, or move them."
    )


def _entries(folder: Path) -> list[Path]:
    try:
        return prediction_files(folder)
    except OSError as error:
        raise UserError(f"{folder}: the folder can't be listed ({reason(error)}). Check its permissions.") from None


def _as_paths(paths: str | Path | Sequence[str | Path]) -> list[Path]:
    return [Path(path) for path in ([paths] if isinstance(paths, str | Path) else paths)]


def _nothing(wanted: list[Path], why: str = "") -> UserError:
    what = ", ".join(map(str, wanted)) or "nothing"
    return UserError(f"{what}: no file of predictions{why}. Give .xlsx or .csv files, or folders that hold them.")


def _names(paths: list[Path]) -> list[str]:
    """A short name for each file: its stem, or as much of its path as tells it from the others."""
    stems = [path.stem for path in paths]
    return [path.stem if stems.count(path.stem) == 1 else str(path) for path in paths]


def _notes(files: dict[str, Predictions], skipped: list[Path], left_out: dict[Path, str], policy: str) -> list[str]:
    notes = [f"{name}: {note}." for name, file in files.items() for note in file.notes]
    if simulated := [name for name, file in files.items() if file.simulated]:
        notes.insert(0, f"{SIMULATED_WORDS} ({', '.join(simulated)}): {ABOUT_SIMULATED}")
    for name, file in files.items():
        notes += [f"{name}: {note}" for note in _notes_on_rows(file.frame)]
    if policy == "authors":
        notes.append("Unusable replies count as 3 (the authors' rule), which rewards failure; coverage does not.")
    notes += [f"{path}: {why}." for path, why in left_out.items()]
    if skipped:
        notes.append(
            f"Passed over, as the authors do, for the word {SKIPPED_WORD} in the full path: {len(skipped):,}; "
            f"the first is {skipped[0]}."
        )
    return notes + _differences(files)


def _notes_on_rows(frame: pd.DataFrame) -> list[str]:
    """Which rows of a file lack a score or ground truth, or were read with doubt."""
    notes = []
    failures = frame.loc[frame["score"].isna(), "status"].value_counts()
    if len(failures):
        counts = ", ".join(f"{count:,} {status}" for status, count in failures.items())
        notes.append(f"without a usable score: {counts}.")
    if never := int((frame["status"] == NOT_ASKED).sum()):
        notes.append(f"never asked: {count_of(never, 'conversation')}, without a score and not in n under any policy.")
    doubtful = frame[frame["doubtful"]]
    if len(doubtful):
        notes.append(f"doubtful readings: {len(doubtful):,}; the first: {doubtful['reason'].iloc[0]}.")
    if untrue := int(frame["ground_truth"].isna().sum()):
        notes.append(f"rows without ground truth, left out: {untrue:,}.")
    return notes


def _differences(files: dict[str, Predictions]) -> list[str]:
    """How files differ that are evaluated together, conversation by conversation."""
    notes = []
    models = {model for file in files.values() for model in file.frame["model"].dropna().unique()}
    if len(models) > 1:
        listed = ", ".join(sorted(models))
        notes.append(f"The files are of {len(models):,} models ({listed}): mean and sd are over files, not over runs.")
    if len(files) < 2:
        return notes
    without = [name for name, file in files.items() if "conversation" in file.absent]
    if without:
        notes.append(f"{without[0]} has no column TaskId: its rows can't be matched with those of other files.")
    known = {name: file.frame.dropna(subset="conversation") for name, file in files.items() if name not in without}
    return notes + (_unlike(known) if len(known) > 1 else [])


def _unlike(frames: Mapping[str, pd.DataFrame]) -> list[str]:
    """Which conversations files lack, and whether their ground truths differ."""
    truths = pd.concat(
        [frame.set_index("conversation")["ground_truth"] for frame in frames.values()], axis=1, keys=frames
    )
    everyone = len(truths)
    notes = [
        f"{name}: {everyone - len(frame):,} of the {everyone:,} conversations of all files are not in it."
        for name, frame in frames.items()
        if len(frame) < everyone
    ]
    low, high = truths.min(axis=1), truths.max(axis=1)
    differ = ~np.isclose(low, high, rtol=0, atol=1e-9, equal_nan=True)
    if differ.any():
        notes.append(
            f"Conversations whose ground truth differs between files: {differ.sum():,}; the first is "
            f"{truths.index[differ][0]}. Are they predictions for the same data?"
        )
    return notes


def number_text(row: pd.Series) -> str:
    return "" if math.isnan(row["estimate"]) else f"{row['estimate']:z.3f}"


def interval_text(row: pd.Series) -> str:
    return "" if math.isnan(row["low"]) else f"{row['low']:z.3f} to {row['high']:z.3f}"


def _bias_text(table: pd.DataFrame) -> str:
    from sense7.judge.scoring.bias import bias_in_words

    words = bias_in_words(table).reset_index()
    return aligned_text([list(words.columns), *words.to_numpy().tolist()])


def _with_interval(row: pd.Series) -> str:
    """An estimate with its interval in one cell."""
    return f"{number_text(row)} [{interval_text(row)}]" if interval_text(row) else number_text(row)


def aligned_text(rows: list[list[str]]) -> str:
    """Set rows of texts as a table for a terminal."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in rows]
    return "\n".join(line.rstrip() for line in lines)


def records(table: pd.DataFrame) -> dict[str, dict]:
    """Give a table of estimates as JSON can hold it."""
    return {
        str(name): {
            key: None if isinstance(value, float) and not math.isfinite(value) else value for key, value in row.items()
        }
        for name, row in table.astype(object).to_dict("index").items()
    }


check_arguments(globals())
