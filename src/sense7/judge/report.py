"""Files of predictions in; every metric, the differences between judges, or calibrated scores out."""

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd

from sense7.errors import UserError
from sense7.estimators.bootstrap import ParticipantBootstrap
from sense7.estimators.estimates import p_in_words
from sense7.files import reason
from sense7.findings.core import tabulate
from sense7.judge import metrics
from sense7.judge.comparison import (
    LOWER_IS_BETTER,
    RULES,
    as_judges,
    compare_judges,
    decided,
    interval_in_words,
    jury_tables,
    least_p,
    number_in_words,
)
from sense7.judge.cost import Price
from sense7.judge.files import SKIPPED_WORD, Predictions, ScoreScale, prediction_files, read_files, write_predictions
from sense7.judge.journal import Journal
from sense7.judge.judges import ABOUT_SIMULATED, aligned
from sense7.judge.metrics import AUTHORS_METRICS, MEASURED, METRICS, Metric, OverRuns, Run
from sense7.judge.reply import HIGHEST, LOWEST, NOT_ASKED, STATUSES
from sense7.study import Study
from sense7.taxonomy import DIMENSION_NAMES, SIMULATED_WORDS
from sense7.terminal import count_of

__all__ = ["calibrate", "compare", "evaluate"]

_ABOUT_P = (
    "naive p: Spearman's p as the authors print it. It takes conversations as independent, which those of one "
    "participant are not; the interval over participants doesn't."
)
_FEW_RATINGS = ("accuracy", "within_one", "mean_absolute_error", "spearman", "quadratic_kappa")
_APPLICABILITY = {
    "sensitivity_1": Metric(
        "sensitivity",
        "share of ratings",
        "share said not to apply among the ratings that the person says do not apply",
        "the person says of no rating that it does not apply",
    ),
    "sensitivity_2": Metric(
        "specificity",
        "share of ratings",
        "share said to apply among the ratings that the person gives",
        "the person gives no rating",
    ),
    "quadratic_kappa": Metric(
        "kappa",
        "kappa",
        "Cohen's kappa of applies and does not apply",
        "the judge or the person says the same of every rating, or there is none",
    ),
}
"""Metric of the labels 1, does not apply, and 2, applies -> what it is here; of two labels kappa has no weights."""

_TOOK = {
    "calls": ("calls", ",.0f"),
    "input_tokens": ("tokens in a call", ",.0f"),
    "output_tokens": ("tokens out", ",.0f"),
    "seconds": ("seconds, median", ",.2f"),
    "cost": ("cost of all calls", ",.2f"),
}
"""What a judge took: title and format of the column."""


def _titles(names: Iterable[str]) -> list[str]:
    return [MEASURED[name].title for name in names]


def _cells(table: pd.DataFrame, names: Iterable[str], cell=number_in_words) -> list[str]:
    return [cell(table.loc[name]) for name in names]


def _both(row: Mapping, otherwise: str = "") -> str:
    """An estimate with its interval, or what stands in the place of an interval."""
    beside = interval_in_words(row) or otherwise
    return f"{number_in_words(row)} ({beside})" if beside else number_in_words(row)


def _formatted(number: float, form: str) -> str:
    return "" if math.isnan(number) else format(number, form)


def as_json(value: object) -> object:
    """What JSON can hold: a table as rows by name, or a list of rows where two names make one; null for no number."""
    if isinstance(value, pd.DataFrame):
        several = isinstance(value.index, pd.MultiIndex)
        rows = (value.reset_index() if several else value).astype(object).to_dict("index")
        return as_json(list(rows.values()) if several else rows)
    if isinstance(value, Mapping):
        return {str(name): as_json(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [as_json(part) for part in value]
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return str(value) if isinstance(value, Path) else value


@dataclass(frozen=True, eq=False)
class Report:
    """What was found, by name and as attributes; the same as ``text()`` and, with the settings, as ``to_json()``."""

    found: dict
    """Tables of estimates, counts and texts; in JSON, null where there is no number, with the reason beside it."""

    settings: dict
    sections: list[tuple[str, list[list[str]], str]] = field(default_factory=list, repr=False)
    """Of the text: what stands before a table, its rows, what stands behind it."""

    notes: list[str] = field(default_factory=list)

    def __getattr__(self, name: str):
        if name in self.__dict__.get("found", ()):
            return self.found[name]
        raise AttributeError(name)

    def say(self, before: str = "", rows: Sequence[Sequence[str]] = (), behind: str = "") -> None:
        """Add a section to the text."""
        self.sections.append((before, list(rows), behind))

    def text(self) -> str:
        """Return all of it as plain text for a terminal."""
        parts = []
        for before, rows, behind in self.sections:
            widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
            lines = ["  ".join(map(str.ljust, row, widths)).rstrip() for row in rows]
            parts.append("\n".join(filter(None, (before, *lines, behind))))
        return "\n\n".join([*parts, *(["\n".join(self.notes)] if self.notes else [])])

    def to_json(self) -> str:
        """Return all of it as JSON."""
        return json.dumps(as_json({**self.settings, **self.found, "notes": self.notes}), indent=1, allow_nan=False)


# The files


def find_files(paths: str | Path | Sequence[str | Path]) -> tuple[list[Path], list[Path]]:
    """Find the files that are meant, and those of folders that are passed over."""
    wanted = [Path(path) for path in ([paths] if isinstance(paths, str | Path) else paths)]
    files: dict[Path, Path] = {}
    skipped: dict[Path, Path] = {}
    for path in wanted:
        try:
            entries = prediction_files(path) if path.is_dir() else [path]
        except OSError as error:
            raise UserError(f"{path}: the folder can't be listed ({reason(error)}). Check its permissions.") from None
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


def read_paths(
    paths: str | Path | Sequence[str | Path], score_scale: ScoreScale | None = None
) -> tuple[list[Predictions], dict, list[str]]:
    """Predictions of all files and unfinished sessions; what was left out or passed over, and notes on it."""
    files, skipped = find_files(paths)
    wanted = [Path(path) for path in ([paths] if isinstance(paths, str | Path) else paths)]
    named = {path.absolute() for path in wanted if not path.is_dir()}
    required = [path for path in files if path.absolute() in named]
    read, left_out = read_files(files, required=required, score_scale=score_scale)
    for folder in filter(Path.is_dir, wanted):
        with Journal.reading(folder) as journal:
            read = journal.unfinished_runs(read) if journal else read
    if not read:
        what = ", ".join(map(str, wanted)) or "nothing"
        why = "".join(f"; {path.name}: {why}" for path, why in left_out.items())
        raise UserError(f"{what}: no file of predictions{why}. Give .xlsx or .csv files, or folders that hold them.")
    notes = [f"{path}: {why}." for path, why in left_out.items()]
    if skipped:
        notes.append(
            f"Passed over, as the authors do, for the word {SKIPPED_WORD} in the full path: {len(skipped):,}; "
            f"the first is {skipped[0]}."
        )
    return read, {"skipped": skipped, "left_out": left_out}, notes


def _bootstrap_of(frames: Iterable[pd.DataFrame], settings: dict) -> ParticipantBootstrap | None:
    """Resamples of the participants of all files; None if none is known."""
    ParticipantBootstrap(["anybody"], **settings)  # refuses settings out of range, whether or not anybody is known
    everyone = pd.concat([metrics.people_of(frame) for frame in frames]).dropna()
    return ParticipantBootstrap(everyone, **settings) if len(everyone) else None


def _with_common_notes(notes: list[str], simulated: Sequence[str], policy: str, last: list[str]) -> list[str]:
    """Notes between what is said first, and last, of any files."""
    first = [f"{SIMULATED_WORDS} ({', '.join(simulated)}): {ABOUT_SIMULATED}"] if simulated else []
    unusable = "Unusable replies count as 3 (the authors' rule), which rewards failure; coverage does not."
    return [*first, *notes, *([unusable] if policy == "authors" else []), *last]


# Evaluate


def evaluate(
    paths: str | Path | Sequence[str | Path],
    *,
    study: Study | None = None,
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
        holds the word results, as the authors' evaluation does, and those without a column IS_EMPATHY. A file
        that is named is always taken. A folder of an interrupted session gives the answers that it has so far.
    study : Study, optional
        The data set that was judged: then there is a table of each judge's mean error by condition and model family.
    policy : {"strict", "authors"}
        Which reading of a reply counts, see :func:`sense7.judge.files.counted_scores`.
    score_scale : ScoreScale, optional
        See :func:`sense7.judge.files.read_predictions`.
    draws, seed, confidence : int, int, float
        Of the intervals over participants.

    Returns
    -------
    Report
        With ``files`` (of each its name, path, rows, metrics, coverage, bounds, spearman_naive_p), ``over_files``
        (mean, spread, stability, calibration, confusion), ``bias``, ``ratings`` and ``applicability``. Without the
        column PID there are no intervals.

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
    read, passed, left_out = read_paths(paths, score_scale)
    stems = [file.path.stem for file in read]
    names = [stem if stems.count(stem) == 1 else str(file.path) for stem, file in zip(stems, read, strict=True)]
    files = {file.called(name): file for name, file in zip(names, read, strict=True)}
    bootstrap = _bootstrap_of((file.frame for file in read), settings)
    over = OverRuns({name: file.frame for name, file in files.items()}, bootstrap, policy)
    rated = {name: file.ratings for name, file in files.items() if file.ratings is not None}
    bias = {}
    if study is not None:
        from sense7.judge.bias import bias_table

        judges: dict[str, dict[str, pd.DataFrame]] = {}
        for name, file in files.items():
            judges.setdefault(file.judge, {})[name] = aligned(study, file)
        everybody = ParticipantBootstrap(study.conversations["participant"], **settings)
        bias = {judge: bias_table(study, own, everybody, policy=policy) for judge, own in judges.items()}
    found = passed | {
        "files": [
            {
                "name": name,
                "path": file.path,
                "rows": len(file.frame),
                "metrics": over.each[name].mean,
                "coverage": metrics.coverage(file.frame, bootstrap),
                "bounds": metrics.missing_bounds(file.frame, bootstrap),
                "spearman_naive_p": over.runs[name].naive_p,
            }
            for name, file in files.items()
        ],
        "over_files": {
            "mean": over.mean,
            "spread": over.spread,
            "stability": metrics.stability(over),
            "calibration": metrics.calibration(over),
            "confusion": over.confusion.to_numpy().tolist(),
        },
        "bias": bias,
        "ratings": by_rating(rated, bootstrap),
        "applicability": applicability(rated, bootstrap),
    }
    notes = [f"{name}: {note}." for name, file in files.items() for note in file.notes]
    notes += [f"{name}: {note}" for name, file in files.items() for note in _notes_on_rows(file.frame)]
    simulated = [name for name, file in files.items() if file.simulated]
    notes = _with_common_notes(notes, simulated, policy, [*left_out, *_differences_of_files(files)])
    report = Report(found, {"policy": policy, **settings}, notes=notes)
    # In words
    shown, mean, spread = ("coverage", *AUTHORS_METRICS), over.mean, over.spread
    rows = [["file", "n", *_titles(shown), "naive p"]]
    for file in found["files"]:
        table, p = file["metrics"], _formatted(file["spearman_naive_p"], ".3g")
        rows.append([file["name"], f"{table.loc['accuracy', 'n']:,}", *_cells(table, shown), p])
    report.say("", rows, _ABOUT_P)
    rows = [["metric", "n", "mean over files", f"{confidence:.0%} interval", "sd over files", "note"]]
    for name, row in mean.iterrows():
        cells = number_in_words(row), interval_in_words(row), number_in_words(spread.loc[name])
        rows.append([MEASURED[name].title, f"{row['n']:,}", *cells, row["reason"]])
    report.say("", rows)
    bounded = ("accuracy", "within_one", "mean_absolute_error")
    rows = [["file", "missing", *_titles(bounded)]]
    for file, read in zip(found["files"], files.values(), strict=True):
        if missing := int((read.frame["ground_truth"].notna() & read.frame["score"].isna()).sum()):
            ends = [_cells(file["bounds"], (f"{key}_worst", f"{key}_best")) for key in bounded]
            rows.append([file["name"], f"{missing:,}", *(" to ".join(pair) for pair in ends)])
    if len(rows) > 1:
        report.say("Worst and best for any values of the missing scores", rows)
    same, deviation = (row for _, row in found["over_files"]["stability"].iterrows())
    if len(files) > 1 and same["n"]:
        report.say(
            f"Over files {number_in_words(same)} of {same['n']:,} conversations keep one label; "
            f"scores of a conversation deviate by {number_in_words(deviation)} levels on the average."
        )
    for judge, table in bias.items():
        from sense7.judge.bias import bias_in_words

        words = bias_in_words(table).reset_index()
        about = f"Mean error of {judge} by group; above zero: scores higher than the ratings. p by Holm over the table."
        report.say(about, [list(words.columns), *words.to_numpy().tolist()])
    if found["ratings"]:
        rows = [["rating", "n", *_titles(_FEW_RATINGS)]]
        for rating, table in found["ratings"].items():
            rows.append([rating, f"{table.loc['accuracy', 'n']:,}", *_cells(table, _FEW_RATINGS, _both)])
        report.say("", rows)
    if found["applicability"]:
        rows = [["not applicable", "n", *(metric.title for metric in _APPLICABILITY.values())]]
        for dimension, table in found["applicability"].items():
            cells = [_both(row) or row["reason"] for _, row in table.iterrows()]
            rows.append([dimension, f"{table['n'].iloc[0]:,}", *cells])
        report.say("", rows)
    return report


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


def _differences_of_files(files: dict[str, Predictions]) -> list[str]:
    """How files differ that are evaluated together: in models, conversations, and ground truth."""
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
    frames = {name: file.frame.dropna(subset="conversation") for name, file in files.items() if name not in without}
    if len(frames) < 2:
        return notes
    truths = pd.concat(
        [frame.set_index("conversation")["ground_truth"] for frame in frames.values()], axis=1, keys=frames
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


def by_rating(files: Mapping[str, pd.DataFrame], bootstrap: ParticipantBootstrap | None = None) -> dict:
    """Return every metric of each rating, as a mean over files."""
    sides = {"judge": "score", "person": "ground_truth"}
    frames = {name: ratings.rename(columns=sides) for name, ratings in files.items()}
    return {
        rating: OverRuns({name: own[own["rating"] == rating] for name, own in frames.items()}, bootstrap).mean
        for rating in _in_all(files)
    }


def _in_all(files: Mapping[str, pd.DataFrame]) -> list[str]:
    """Ratings that every file holds, in the order of the first."""
    first, *others = [ratings["rating"].unique().tolist() for ratings in files.values()] or [[]]
    return [rating for rating in first if all(rating in other for other in others)]


def applicability(files: Mapping[str, pd.DataFrame], bootstrap: ParticipantBootstrap | None = None) -> dict:
    """Return how well a judge knows which dimensions do not apply, over the units of all files."""
    tables = {}
    for dimension in filter(DIMENSION_NAMES.__contains__, _in_all(files)):
        rows = pd.concat([own[own["rating"] == dimension] for own in files.values()], ignore_index=True)
        run = Run(rows.assign(score=1 + rows["judge_applies"], ground_truth=1 + rows["person_applies"]), bootstrap)
        numbers = [about.number(about.title, run.drawn[name], run.people) for name, about in _APPLICABILITY.items()]
        tables[dimension] = tabulate("measure", numbers, run.bootstrap)
    return tables


# Compare


def compare(
    paths: str | Path | Sequence[str | Path],
    *,
    study: Study | None = None,
    each_run: bool = False,
    prices: Mapping[str, Price] | None = None,
    jury: str = "",
    worth: float = 0.0,
    policy: str = "strict",
    score_scale: ScoreScale | None = None,
    draws: int = 10_000,
    seed: int = 0,
    confidence: float = 0.95,
) -> Report:
    r"""Compare the judges of files of predictions with each other, and with the baselines.

    Files of one folder that are called alike but for the number of the run are runs of one judge. Judges are taken
    together only where a jury is asked for.

    Parameters
    ----------
    paths : path or sequence of paths
        See :func:`evaluate`.
    study : Study, optional
        The data set that was judged: then its baselines are compared, too, and predictions for other data refused.
    each_run : bool
        Whether each file is taken for a judge of its own.
    prices : mapping of Price, optional
        Judge -> price of a million tokens.
    jury : {"", "mean", "median", "majority"}
        Rule of the juries that are compared with their members, see :mod:`sense7.judge.comparison`; none without.
    worth : float
        Gain in a metric that an additional call of a jury has to bring.
    policy, score_scale, draws, seed, confidence
        See :func:`evaluate`.

    Returns
    -------
    Report
        With ``conversations``, ``shared``, ``judges`` (of each its name, files, counts, took, coverage, metrics),
        ``differences`` (metric -> table) and ``juries``.

    Raises
    ------
    UserError
        As :func:`evaluate` and :func:`sense7.judge.comparison.compare_judges`; if a conversation has no TaskId, or a
        price is of no judge.

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
    if jury not in ("", *RULES):
        raise UserError(f"--jury {jury}: no such rule. Give one of {', '.join(RULES)}.")
    read, passed, left_out = read_paths(paths, score_scale)
    grouped: dict[tuple, list[Predictions]] = {}
    for file in read:
        name = file.called(file.name) if each_run else file.judge
        grouped.setdefault((name, file.path.parent), []).append(file)
    names = [name for name, _ in grouped]  # the folder stands before those that are called alike
    groups = {name if names.count(name) == 1 else f"{path}/{name}": files for (name, path), files in grouped.items()}
    frame_of = (lambda file: file.by_task.reset_index()) if study is None else partial(aligned, study)
    judges = {judge: {str(file.path): frame_of(file) for file in files} for judge, files in groups.items()}
    prices = dict(prices or {})
    if unknown := [name for name in prices if name not in judges]:
        raise UserError(f"--price {unknown[0]}: no such judge. These are compared: {', '.join(judges)}.")
    bootstrap = _bootstrap_of((frame for runs in judges.values() for frame in runs.values()), settings)
    references = {}
    if study is not None:
        from sense7.judge.baselines import baseline_predictions  # here, as it imports scikit-learn

        references = as_judges(baseline_predictions(study))
    compared = compare_judges(judges, bootstrap, references=references, policy=policy)
    took = pd.DataFrame({judge: _took(runs.values(), prices.get(judge)) for judge, runs in judges.items()}).T
    took = took.rename_axis("judge").reindex(list(compared.judges))
    juries = jury_tables(compared, list(judges), jury, worth) if jury else {}
    found = passed | {
        "conversations": compared.conversations,
        "shared": compared.shared,
        "judges": [
            {
                "name": judge,
                "files": [file.path for file in groups.get(judge, ())],
                **compared.left_out.loc[judge].to_dict(),
                "took": took.loc[judge].to_dict(),
                "coverage": compared.coverage.loc[judge].to_dict(),
                "metrics": measured.mean.drop(index="coverage"),
            }
            for judge, measured in compared.judges.items()
        ],
        "differences": compared.differences,
        "juries": juries or {"agreement": {}, "gains": []},
    }
    everyone = count_of(compared.conversations, "conversation")
    notes = [
        f"{judge}: without a usable score in some run: {count:,} of {everyone}, which are left out for every judge."
        for judge, count in compared.left_out["lacking"].items()
        if count
    ]
    if compared.shared < 0.9 * compared.conversations and compared.left_out["runs"].max() > 1:
        notes.append("Fewer runs leave out fewer conversations: name the files of some runs only.")
    last = [f"{file.path.name}: {note}." for files in groups.values() for file in files for note in file.notes]
    pairs = len(compared.differences["coverage"])
    last, least = last + left_out, least_p(pairs, draws)
    if not decided(least, confidence):
        last.append(
            f"With {count_of(draws, 'draw')} and {count_of(pairs, 'pair')} no corrected p value can fall below "
            f"{least:.2g}, so no difference can be decided. Take --draws {math.ceil(4 * pairs / (1 - confidence))} or "
            "more."
        )
    simulated = [judge for judge, files in groups.items() if any(file.simulated for file in files)]
    notes = _with_common_notes(notes, simulated, policy, last)
    report = Report(found, {"policy": policy, **settings}, notes=notes)
    # In words
    shown, interval = (*AUTHORS_METRICS, "quadratic_kappa"), f"{confidence:.0%} interval"
    rows = [["judge", "runs", "left out", "coverage", *_titles(shown)]]
    for judge in found["judges"]:
        numbers = [number_in_words(judge["coverage"]), *_cells(judge["metrics"], shown)]
        rows.append([judge["name"], f"{judge['runs']:,}", f"{judge['left_out']:,}", *numbers])
    report.say(
        f"{count_of(len(judges) + len(references), 'judge')} on the same {compared.shared:,} of {everyone} with ground "
        "truth: those for which every run of every judge has a usable score. Coverage is over all of them.",
        rows,
    )
    said = {name: about for name, about in _TOOK.items() if name == "calls" or took[name].notna().any()}
    if len(said) > 1:
        rows = [["judge", *(title for title, _ in said.values())]]
        for judge, row in took.iterrows():
            rows.append([judge, *(_formatted(row[name], form) for name, (_, form) in said.items())])
        report.say("What they took, by the files", rows)
    rows = [["metric", "difference", "", interval, "p", "p, Holm", "better"]]
    for metric in ("coverage", *shown):
        for name, row in compared.differences[metric].iterrows():
            better = "not distinguished"
            if decided(row["p_holm"], confidence):
                better = row["first"] if (row["estimate"] > 0) != (metric in LOWER_IS_BETTER) else row["second"]
            p = p_in_words(row["p"]), p_in_words(row["p_holm"])
            numbers = number_in_words(row), interval_in_words(row)
            rows.append([MEASURED[metric].title, name, *numbers, *p, row["reason"] or better])
    report.say(
        f"Paired differences; {draws:,} resamplings of participants, the same for all; p by Holm over "
        f"{count_of(pairs, 'pair')} for each metric. Of the mean absolute error (MAE), less is better.",
        rows,
    )
    if not juries:
        return report
    before = [
        f"{name}: Krippendorff's alpha of the members: {_both(row, row['reason']).strip()}."
        for name, row in juries["agreement"].iterrows()
    ]
    rows = [["jury", "metric", "over mean member", interval, "over best", interval]]
    rows[0] += ["per call", "at least", "p, Holm", ""]
    for (name, metric), row in juries["gains"].iterrows():
        best = {"estimate": row["over_best"], "low": row["best_low"], "high": row["best_high"]}
        verdict = row["reason"] or ("worth its calls" if row["worth"] else "not shown to be")
        numbers = [cell(one) for one in (row, best) for cell in (number_in_words, interval_in_words)]
        calls = [_formatted(row[part], "z.4f") for part in ("per_call", "per_call_low")]
        rows.append([name, METRICS[metric].title, *numbers, *calls, p_in_words(row["p_holm"]), verdict])
    report.say(
        "\n".join(["Juries", *before]),
        rows,
        "Gains are positive where the jury is better. Per call: gain by the number of additional calls, of runs of "
        "one judge over the mean run, of several judges over the best; at least: its one-sided limit. A jury is "
        f"worth its calls where an additional one brings more than {worth:g}.",
    )
    return report


def _took(frames: Iterable[pd.DataFrame], price: Price | None) -> dict:
    """Calls, mean tokens, median seconds and cost of a judge, as far as its files say."""
    frame = pd.concat(frames, ignore_index=True)
    frame = frame[frame["status"].ne("unstated") | frame["score"].notna()]
    tokens = frame[["input_tokens", "output_tokens"]]
    cost = float(price.cost(*tokens.sum())) if price and tokens.notna().all(axis=None) else np.nan
    return {"calls": len(frame), **tokens.mean().to_dict(), "seconds": frame["seconds"].median(), "cost": cost}


# Calibrate


def calibrate(
    paths: Sequence[Path],
    out: str | Path,
    *,
    mapping: str = "isotonic",
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
    mapping : str
        See :func:`sense7.judge.calibration.calibrated`.
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
    from sense7.judge.calibration import AS_GIVEN, calibrated, calibration_errors  # with it comes scikit-learn

    settings, out = {"draws": draws, "seed": seed, "confidence": confidence}, Path(out)
    files, passed, notes = read_paths(paths)
    ready, errors, written, rows = {}, {}, {}, []
    for file in files:
        if file.name in ready:
            raise UserError(f"{file.path}: another of these files is called so too. Calibrate them into two folders.")
        if file.path.resolve().parent == out.resolve():
            raise UserError(f"{out}: holds {file.path.name}, which is to be calibrated. Give another folder as --out.")
        frame = file.frame
        if frame["participant"].isna().any() or frame["conversation"].isna().any():
            raise UserError(
                f"{file.path}: some rows have no PID or no TaskId, so that participants can't be held out. Fill in "
                "both columns."
            )
        try:
            scores = np.clip(calibrated(frame, mapping), LOWEST, HIGHEST)
        except UserError as error:
            raise UserError(f"{file.path}: {error}") from None
        errors[file.name] = calibration_errors(frame, ParticipantBootstrap(frame["participant"], **settings))
        # Rows with a score, or why there is none; replies are those of another score.
        kept = ["conversation", "participant", "status", "reason", "ground_truth", "model", "run", "chat"]
        frame = frame[kept].assign(score=scores, status=frame["status"].where(np.isnan(scores), "ok"))
        ready[file.name] = frame[frame["score"].notna() | frame["status"].isin((*STATUSES[1:-2], NOT_ASKED))]
    for file in files:
        plain = not file.simulated or "simulated" in file.name.casefold()
        written[file.name] = out / f"{file.name if plain else f'simulated-{file.name}'}.xlsx"
        write_predictions(written[file.name], ready[file.name])
        table, drop = errors[file.name]["calibration"], errors[file.name]["drop"].loc[mapping]
        given, mapped = (_both(row, row["reason"]) for row in (table.loc[AS_GIVEN], table.loc[mapping]))
        rows.append(
            f"{written[file.name]}\n  expected calibration error, {table.loc[AS_GIVEN, 'n']:,} conversations: "
            f"{given} as given, {mapped} {mapping}; lower by {_both(drop, drop['reason'])}"
        )
    found = passed | {"paths": written, "errors": errors}
    return Report(found, settings, [("\n".join(rows), [], "")], notes)
