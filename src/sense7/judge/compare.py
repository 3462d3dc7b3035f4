"""Files of predictions in, paired differences between the judges out, with what each of them took."""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pandas as pd

from sense7.arguments import check_arguments
from sense7.errors import UserError
from sense7.estimators.estimates import p_in_words
from sense7.judge.evaluate import (
    aligned_text,
    bootstrap_of,
    interval_text,
    number_text,
    read_paths,
    records,
    require_settings,
    require_task_ids,
)
from sense7.judge.predictions import Predictions
from sense7.judge.score_scale import ScoreScale
from sense7.judge.scoring.available_judges import aligned
from sense7.judge.scoring.comparison import COVERAGE, JudgeComparison, as_judges, compare_judges, least_p
from sense7.judge.scoring.juries import juries_of, jury_tables, require_rule
from sense7.judge.scoring.metrics import AUTHORS_METRICS, METRICS
from sense7.judge.scoring.simulated import ABOUT_SIMULATED, require_synthetic
from sense7.study import Study
from sense7.taxonomy import SIMULATED_WORDS
from sense7.terminal import count_of

__all__ = ["Compared", "Price", "compare"]

_SHOWN = (*AUTHORS_METRICS, "quadratic_kappa")
_TITLES = {COVERAGE: "coverage"} | {name: METRICS[name].title for name in METRICS}
_LOWER_IS_BETTER = ("mean_absolute_error",)


@dataclass(frozen=True)
class Price:
    """Price of a million tokens that a judge reads and writes."""

    read: float
    written: float

    @classmethod
    def of(cls, text: str) -> tuple[str, "Price"]:
        """Read NAME=IN,OUT."""
        name, _, prices = text.rpartition("=")
        try:
            read, written = (float(price) for price in prices.split(","))
        except ValueError:
            read = written = math.nan
        if not name or not (0 <= read < math.inf and 0 <= written < math.inf):
            raise UserError(
                f"--price {text}: no judge with two prices. Write JUDGE=IN,OUT, prices of a million tokens with a "
                "point for decimals, such as gpt-4o-empathy=2.5,10."
            )
        return name, cls(read, written)


@dataclass(frozen=True, eq=False)
class Compared:
    """What :func:`compare` found."""

    comparison: JudgeComparison
    took: pd.DataFrame
    files: dict[str, list[Path]]
    policy: str
    draws: int
    seed: int
    confidence: float
    juries: dict[str, pd.DataFrame] = field(default_factory=dict, repr=False)
    worth: float = 0.0
    notes: list[str] = field(default_factory=list)

    def rows(self) -> list[list[str]]:
        """Return the metrics of each judge as texts: a header, and one row per judge."""
        table = [["judge", "runs", "left out", "coverage", *(_TITLES[name] for name in _SHOWN)]]
        for judge, counts in self.comparison.left_out.iterrows():
            measured = self.comparison.judges[judge].mean
            numbers = [number_text(self.comparison.coverage.loc[judge])]
            numbers += [number_text(measured.loc[name]) for name in _SHOWN]
            table.append([judge, f"{counts['runs']:,}", f"{counts['left_out']:,}", *numbers])
        return table

    def took_rows(self) -> list[list[str]]:
        """Return what each judge took as texts; no row if no file says."""
        heads = {
            "calls": ("calls", ",.0f"),
            "input_tokens": ("tokens in a call", ",.0f"),
            "output_tokens": ("tokens out", ",.0f"),
            "seconds": ("seconds, median", ",.2f"),
            "cost": ("cost of all calls", ",.2f"),
        }
        said = [name for name in list(heads)[1:] if self.took[name].notna().any()]
        if not said:
            return []
        table = [["judge", *(heads[name][0] for name in ("calls", *said))]]
        for judge, row in self.took.iterrows():
            table.append([judge, *(_or_blank(row[name], heads[name][1]) for name in ("calls", *said))])
        return table

    def difference_rows(self) -> list[list[str]]:
        """Return paired differences as texts: a header, and one row per pair and metric shown."""
        table = [["metric", "difference", "", f"{self.confidence:.0%} interval", "p", "p, Holm", "better"]]
        for metric in (COVERAGE, *_SHOWN):
            for name, row in self.comparison.differences[metric].iterrows():
                p, corrected = p_in_words(row["p"]), p_in_words(row["p_holm"])
                table.append(
                    [
                        *(_TITLES[metric], name, number_text(row), interval_text(row), p, corrected),
                        row["reason"] or _better(metric, row, self.confidence),
                    ]
                )
        return table

    def jury_rows(self) -> list[list[str]]:
        """Return what each jury adds as texts: a header, and one row per jury and metric."""
        over = f"{self.confidence:.0%} interval"
        table = [["jury", "metric", "over mean member", over, "over best", over, "per call", "at least", "p, Holm", ""]]
        for (jury, metric), row in self.juries["gains"].iterrows():
            best = pd.Series({"estimate": row["over_best"], "low": row["best_low"], "high": row["best_high"]})
            texts = [number_text(row), interval_text(row), number_text(best), interval_text(best)]
            verdict = row["reason"] or ("worth its calls" if row["worth"] else "not shown to be")
            calls = [_or_blank(row[name], "z.4f") for name in ("per_call", "per_call_low")]
            cells = [*texts, *calls, p_in_words(row["p_holm"]), verdict]
            table.append([jury, _TITLES[metric], *cells])
        return table

    def jury_text(self) -> str:
        """Return the juries as plain text."""
        agreement = []
        for jury, row in self.juries["agreement"].iterrows():
            alpha = f"{number_text(row)} ({interval_text(row) or row['reason']})".strip()
            agreement.append(f"{jury}: Krippendorff's alpha of the members: {alpha}.")
        about = (
            "Gains are positive where the jury is better. Per call: gain by the number of additional calls, of runs of "
            "one judge over the mean run, of several judges over the best; at least: its one-sided limit. A jury is "
            f"worth its calls where an additional one brings more than {self.worth:g}."
        )
        return "\n".join(["Juries", *agreement, aligned_text(self.jury_rows()), about])

    def text(self) -> str:
        """Return all of it as plain text for a terminal."""
        found = self.comparison
        head = (
            f"{count_of(len(found.judges), 'judge')} on the same {found.shared:,} of "
            f"{count_of(found.conversations, 'conversation')} with ground truth: those for which every run of every "
            "judge has a usable score. Coverage is over all of them."
        )
        pairs = len(found.differences[COVERAGE])
        about = (
            f"Paired differences; {self.draws:,} resamplings of participants, the same for all; p by Holm over "
            f"{count_of(pairs, 'pair')} for each metric. Of the mean absolute error (MAE), less is better."
        )
        parts = [f"{head}\n{aligned_text(self.rows())}"]
        if took := self.took_rows():
            parts.append("What they took, by the files\n" + aligned_text(took))
        parts.append(f"{about}\n{aligned_text(self.difference_rows())}")
        if self.juries:
            parts.append(self.jury_text())
        return "\n\n".join([*parts, *(["\n".join(self.notes)] if self.notes else [])])

    def to_json(self) -> str:
        """Return all of it as JSON, every metric included; null where there is no number, with the reason beside it."""
        found = self.comparison
        content = {
            **{name: getattr(self, name) for name in ("policy", "draws", "seed", "confidence")},
            "conversations": found.conversations,
            "shared": found.shared,
            "judges": [
                {
                    "name": judge,
                    "files": [str(path) for path in self.files.get(judge, [])],
                    **{name: int(count) for name, count in found.left_out.loc[judge].items()},
                    "took": {name: _or_null(value) for name, value in self.took.loc[judge].items()},
                    "coverage": records(found.coverage)[judge],
                    "metrics": records(measured.mean.drop(index=COVERAGE)),
                }
                for judge, measured in found.judges.items()
            ],
            "differences": {metric: list(records(table).values()) for metric, table in found.differences.items()},
            "juries": {
                "agreement": records(self.juries["agreement"]) if self.juries else {},
                "gains": list(records(_flat(self.juries["gains"])).values()) if self.juries else [],
            },
            "notes": self.notes,
        }
        return json.dumps(content, indent=1, allow_nan=False)


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
) -> Compared:
    r"""Compare the judges of files of predictions with each other, and with the baselines.

    Files of one folder that are called alike but for the number of the run are runs of one judge. Judges are taken
    together only where a jury is asked for.

    Parameters
    ----------
    paths : path or sequence of paths
        See :func:`sense7.judge.evaluate.evaluate`.
    study : Study, optional
        The data set that was judged: then its baselines are compared, too, and predictions for other data refused.
    each_run : bool
        Whether each file is taken for a judge of its own.
    prices : mapping of Price, optional
        Judge -> price of a million tokens.
    jury : {"", "mean", "median", "majority"}
        Rule of the juries that are compared with their members, see :mod:`sense7.judge.scoring.juries`; none without.
    worth : float
        Gain in a metric that an additional call of a jury has to bring.
    policy, score_scale, draws, seed, confidence
        See :func:`sense7.judge.evaluate.evaluate`.

    Returns
    -------
    Compared

    Raises
    ------
    UserError
        As :func:`sense7.judge.evaluate.evaluate` and :func:`sense7.judge.scoring.comparison.compare_judges`; if a
        conversation has no TaskId, or a price is of no judge.

    Examples
    --------
    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> for judge, scores in {"a": (4, 2), "b": (5, 3)}.items():
    ...     text = f"TaskId,IS_EMPATHY,ground-truth\nC1,{scores[0]},4.2\nC2,{scores[1]},3\n"
    ...     _ = (folder / f"{judge}-iter1.csv").write_text(text)
    >>> compare(folder).comparison.differences["accuracy"]["estimate"].to_dict()
    {'a minus b': 0.0}
    """
    require_settings(draws, seed, confidence)
    if jury:
        require_rule(jury)
    read, skipped, left_out = read_paths(paths, score_scale)
    groups = _judges(read, each_run)
    judges = {judge: {str(file.path): _frame(study, file) for file in files} for judge, files in groups.items()}
    prices = dict(prices or {})
    if unknown := [name for name in prices if name not in judges]:
        raise UserError(f"--price {unknown[0]}: no such judge. These are compared: {', '.join(judges)}.")
    settings = {"draws": draws, "seed": seed, "confidence": confidence}
    frames = {f"{judge} {run}": frame for judge, runs in judges.items() for run, frame in runs.items()}
    bootstrap = bootstrap_of(frames, settings)
    comparison = compare_judges(judges, bootstrap, references=_baselines(study), policy=policy)
    juries = juries_of(judges, comparison.people.index, jury, policy) if jury else []
    return Compared(
        comparison,
        _took(judges, prices).reindex(list(comparison.judges)),
        {judge: [file.path for file in files] for judge, files in groups.items()},
        policy,
        **settings,
        juries=jury_tables(juries, comparison.people, bootstrap, policy=policy, worth=worth) if juries else {},
        worth=worth,
        notes=[
            *_notes(groups, comparison, skipped, left_out, policy),
            *_few_draws(comparison, draws, confidence),
        ],
    )


def _baselines(study: Study | None) -> dict:
    if study is None:
        return {}
    from sense7.judge.scoring.baselines import baseline_predictions  # here, as it imports scikit-learn

    return as_judges(baseline_predictions(study))


def _judges(read: Sequence[Predictions], each_run: bool) -> dict[str, list[Predictions]]:
    """Judge -> its files; the folder stands before the names of judges that are called alike."""
    groups: dict[tuple, list[Predictions]] = {}
    for file in read:
        name = file.called(file.name) if each_run else file.judge
        groups.setdefault((name, file.path.parent), []).append(file)
    names = [name for name, _ in groups]
    return {name if names.count(name) == 1 else f"{folder}/{name}": files for (name, folder), files in groups.items()}


def _frame(study: Study | None, file: Predictions) -> pd.DataFrame:
    """Predictions by conversation, with what is known of the participants."""
    require_task_ids(file)
    if study is not None:
        require_synthetic(study, file)
        return aligned(study, file.frame, str(file.path))
    return file.frame.drop(columns="participant") if "participant" in file.absent else file.frame


def _took(judges: Mapping[str, Mapping[str, pd.DataFrame]], prices: Mapping[str, Price]) -> pd.DataFrame:
    rows = {}
    for judge, runs in judges.items():
        frame = pd.concat(runs.values(), ignore_index=True)
        frame = frame[frame["status"].ne("unstated") | frame["score"].notna()]
        tokens = frame[["input_tokens", "output_tokens"]]
        price, both = prices.get(judge), tokens.notna().all(axis=None)
        cost = np.nan
        if price and both:
            cost = float((tokens.sum() * [price.read, price.written]).sum() / 1e6)
        rows[judge] = {
            "calls": len(frame),
            **tokens.mean().to_dict(),
            "seconds": frame["seconds"].median(),
            "cost": cost,
        }
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis("judge")


def _notes(
    groups: Mapping[str, list[Predictions]],
    comparison: JudgeComparison,
    skipped: Sequence[Path],
    left_out: Mapping[Path, str],
    policy: str,
) -> list[str]:
    notes = []
    if simulated := [judge for judge, files in groups.items() if any(file.simulated for file in files)]:
        notes.append(f"{SIMULATED_WORDS} ({', '.join(simulated)}): {ABOUT_SIMULATED}")
    lacking = comparison.left_out["lacking"]
    notes += [
        f"{judge}: without a usable score in some run: {count:,} of "
        f"{count_of(comparison.conversations, 'conversation')}, which are left out for every judge."
        for judge, count in lacking.items()
        if count
    ]
    if comparison.shared < 0.9 * comparison.conversations and comparison.left_out["runs"].max() > 1:
        notes.append("Fewer runs leave out fewer conversations: name the files of some runs only.")
    if policy == "authors":
        notes.append("Unusable replies count as 3 (the authors' rule), which rewards failure; coverage does not.")
    notes += [f"{file.path.name}: {note}." for files in groups.values() for file in files for note in file.notes]
    notes += [f"{path}: {why}." for path, why in left_out.items()]
    if skipped:
        notes.append(f"Passed over for their path, as the authors do: {len(skipped):,}; the first is {skipped[0]}.")
    return notes


def _few_draws(comparison: JudgeComparison, draws: int, confidence: float) -> list[str]:
    """A note where no corrected p value can decide, since it is no smaller than the resamples allow."""
    pairs = len(comparison.differences[COVERAGE])
    least = least_p(pairs, draws)
    if least < 1 - confidence:
        return []
    enough = math.ceil(4 * pairs / (1 - confidence))
    return [
        f"With {count_of(draws, 'draw')} and {count_of(pairs, 'pair')} no corrected p value can fall below "
        f"{least:.2g}, so no difference can be decided. Take --draws {enough} or more."
    ]


def _better(metric: str, row: pd.Series, confidence: float) -> str:
    """Which of two is better after Holm's correction."""
    if not row["p_holm"] < 1 - confidence:
        return "not distinguished"
    return row["first"] if (row["estimate"] > 0) != (metric in _LOWER_IS_BETTER) else row["second"]


def _flat(gains: pd.DataFrame) -> pd.DataFrame:
    """Gains with jury and metric as columns, so that each row says what it is."""
    return gains.reset_index()


def _or_blank(number: float, form: str) -> str:
    return "" if math.isnan(number) else format(number, form)


def _or_null(number: float) -> float | None:
    return None if math.isnan(number) else float(number)


check_arguments(globals())
