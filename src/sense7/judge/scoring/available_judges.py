"""The judges whose predictions for a data set are available, brought into line with its conversations."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from sense7.arguments import check_arguments
from sense7.errors import UserError
from sense7.estimators.bootstrap import FEWEST_PARTICIPANTS, ParticipantBootstrap
from sense7.estimators.estimates import estimate_row, estimate_table
from sense7.findings.ground_truth import ground_truth, labels
from sense7.judge.predictions import UNSTATED, prediction_files, read_files
from sense7.judge.scoring.metrics import (
    LEVEL_NUMBERS,
    METRICS,
    OverRuns,
    calibration,
    confusion,
    coverage,
    level_and_length,
    levels_recognized,
    missing_bounds,
    over_runs,
    recognition,
    stability,
)
from sense7.judge.scoring.simulated import require_synthetic, simulated_folder, simulated_note
from sense7.sources import resolve
from sense7.study import Study
from sense7.taxonomy import LEVELS, SIMULATED_WORDS
from sense7.terminal import count_of

__all__ = [
    "ABSENT",
    "HOW_TO_MAKE_THEM",
    "Detail",
    "Judges",
    "assistant_words",
    "by_judge",
    "chosen_judge",
    "compare",
    "defined",
    "detail",
    "file_notes",
    "levels_are_comparable",
    "number_recognized",
    "read_runs",
    "recall_and_false_positive_rate",
    "request_facts",
    "sentence_on_simulated",
    "shown_judge",
    "used_authors_prompt",
    "with_row_labels",
]

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
        name: f"judge_count_{name}" for name in ("ok", "parse_failure", "refusal", "truncated", "api_error", "doubtful")
    },
    "bounds": {name: f"judge_bound_{name}" for name in ("accuracy_worst", "accuracy_best")},
    "calibration": {level: f"judge_calibration_{level}" for level in LEVEL_NUMBERS},
    "stability": {"same_label": "judge_same_label"},
    "level_and_length": {name: f"judge_{name}" for name in ("level_bias", "length_spearman")},
    "recognition": {level: f"judge_recognition_{level}" for level in LEVEL_NUMBERS},
}
"""Table of :class:`Detail` -> row -> key; the share of usable replies is recorded once, as a mean over runs."""

_SAME = 1e-9
_SHORT = 16
_NOTHING = pd.DataFrame(
    {name: pd.Series(dtype=float) for name in ("score", "ground_truth")}
    | {name: pd.Series(dtype=object) for name in ("conversation", "participant", "status", "doubtful")}
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
        participants and ground truth. A conversation that the file lacks has no score. A file without scores is left
        out and named in the notes.

    Raises
    ------
    UserError
        If a file can't be read, holds conversations that are not of this data set, or was made when
        their ground truth was another; if it is of a simulated judge and the data set is not synthetic; or if none of
        the files holds predictions.

    Examples
    --------
    >>> import sense7 as s7
    >>> {judge: len(runs) for judge, runs in read_runs(s7.load("synthetic")).items()}
    {'simulated-judge': 10}
    """
    judges: dict[str, dict[str, pd.DataFrame]] = {}
    simulated: dict[str, list[Mapping | None]] = {}
    folder = folder or _shipped(study)
    files, left_out = read_files(prediction_files(folder) if folder else ())
    if left_out and not files:
        named = ", ".join(path.name for path in left_out)
        raise UserError(
            f"{folder}: no file of predictions ({named}: without the column IS_EMPATHY). Give another folder."
        )
    notes = {path.name: why for path, why in left_out.items()}
    for file in files:
        name = file.path.name
        if nameless := int(file.frame["conversation"].isna().sum()):
            raise UserError(
                f"{name}: column TaskId: blank in {nameless:,} of {count_of(len(file.frame), 'prediction')}, so "
                "their conversations are not known. Give each row its TaskId."
            )
        require_synthetic(study, file)
        judges.setdefault(file.judge, {})[file.name] = aligned(study, file.frame, name)
        if file.simulated:
            simulated.setdefault(file.judge, []).append(file.marks)
        if file.notes:
            notes[name] = "; ".join(file.notes)
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


def aligned(study: Study, frame: pd.DataFrame, file: str) -> pd.DataFrame:
    known = study.conversations[["conversation", "participant"]]
    truth = ground_truth(study.turns, known["conversation"])
    predicted = frame.set_index("conversation")
    if len(foreign := predicted.index.difference(truth.index)):
        raise UserError(
            f"{file}: conversations that are not of this data set: {len(foreign):,} of {len(frame):,}, the first being "
            f"{foreign[0]!r}. Give the predictions that were made for it."
        )
    then, now = predicted["ground_truth"].to_numpy(dtype=float), truth[predicted.index].to_numpy()
    other = ~np.isclose(then, now, rtol=0, atol=_SAME, equal_nan=True)
    if other.any():
        first = predicted.index[other.argmax()]
        raise UserError(
            f"{file}: the ground truth of {count_of(int(other.sum()), 'conversation')} is not that of this data set, "
            f"the first being {first!r} ({then[other.argmax()]:g} there, {now[other.argmax()]:g} here). "
            "The workbook has changed since: judge it again, or give the predictions that were made for it."
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
        raise UserError(f"judge = {name!r}: no predictions of it are available ({', '.join(judges) or 'of none'}).")
    return name or max(judges, key=lambda judge: len(judges[judge]), default="")


def shown_judge(judges: Mapping[str, object], judge: str) -> dict:
    """Name of the judge that is shown in detail, to be recorded; the reason if there is none.

    Examples
    --------
    >>> shown_judge({"a": {}}, "a")["estimate"], shown_judge({}, "")["reason"]
    ('a', 'no predictions of a judge are available')
    """
    return {
        "key": "judge_shown",
        "estimate": judge or None,
        "n": len(judges),
        "unit": "judges",
        "method": "the one with most runs",
        "reason": "" if judges else ABSENT,
    }


def compare(
    judges: Mapping[str, Mapping[str, pd.DataFrame]], bootstrap: ParticipantBootstrap, policy: str = "strict"
) -> dict[str, OverRuns]:
    """Every metric of every judge over its runs; see :func:`sense7.judge.scoring.metrics.over_runs`."""
    return {judge: over_runs(runs, bootstrap, policy=policy) for judge, runs in judges.items()}


def by_judge(compared: Mapping[str, OverRuns], metric: str) -> pd.DataFrame:
    """One metric of every judge, mean over runs: one row per judge; no row if there is none."""
    rows = {judge: runs.mean.loc[metric].to_dict() for judge, runs in compared.items()}
    return estimate_table(rows, "judge")


@dataclass(frozen=True, eq=False)
class Detail:
    """Every table about one judge."""

    judge: str
    mean: pd.DataFrame
    spread: pd.DataFrame
    authors: pd.DataFrame
    coverage: pd.DataFrame
    bounds: pd.DataFrame
    confusion: pd.DataFrame
    calibration: pd.DataFrame
    stability: pd.DataFrame
    level_and_length: pd.DataFrame
    recognition: pd.DataFrame
    frequent_levels: int = 0
    simulated: bool = False


def detail(
    judges: Mapping[str, Mapping[str, pd.DataFrame]],
    judge: str,
    bootstrap: ParticipantBootstrap,
    words: pd.Series | None = None,
) -> Detail:
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

    Examples
    --------
    >>> detail({}, "", ParticipantBootstrap(["a", "b"])).mean.loc["accuracy", "reason"]
    'no predictions of a judge are available'
    """
    runs = judges.get(judge, {"": _NOTHING})
    frames = list(runs.values())
    strict, authors = (over_runs(runs, bootstrap, policy=policy) for policy in ("strict", "authors"))
    pooled = pd.concat(frames, ignore_index=True)
    bounds = missing_bounds(pooled["ground_truth"], pooled["score"], pooled["participant"], bootstrap)
    tables = {
        "mean": strict.mean,
        "spread": strict.spread,
        "authors": authors.mean,
        "coverage": coverage(pooled, bootstrap),
        "bounds": bounds,
        "calibration": calibration(frames, bootstrap),
        "stability": stability(frames, bootstrap),
        "level_and_length": level_and_length(frames, words, bootstrap),
        "recognition": recognition(frames, bootstrap),
    }
    simulated = judge in getattr(judges, "simulated", ())
    if not judge:
        tables = {name: _absent(table) for name, table in tables.items()}
    elif simulated:
        tables = {name: table.assign(method=f"{SIMULATED_WORDS}: " + table["method"]) for name, table in tables.items()}
    tables = {
        name: table.assign(key=[_KEYS[name].get(row, "") for row in table.index]) for name, table in tables.items()
    }
    return Detail(
        judge, **tables, confusion=confusion(frames), frequent_levels=_frequent_levels(frames), simulated=simulated
    )


def assistant_words(study: Study) -> pd.Series:
    """Number of words, separated by white space, that the assistant wrote in each conversation; 0 where it wrote none.

    Examples
    --------
    >>> import sense7 as s7
    >>> assistant_words(s7.load("synthetic")).loc[["T0001", "T0002"]].tolist()
    [657.0, 511.0]
    """
    said = study.messages[study.messages["role"] == "assistant"]
    # Message by message: the words of all of them at once would be many times as large as the study.
    words = pd.Series([len(text.split()) for text in said["content"].fillna("")], index=said.index, dtype=int)
    counts = words.groupby(said["conversation"], sort=False).sum()
    return counts.reindex(study.conversations["conversation"], fill_value=0).astype(float)


def _absent(table: pd.DataFrame) -> pd.DataFrame:
    rows = {
        name: estimate_row(n=0, unit=row["unit"], method=row["method"], reason=ABSENT) for name, row in table.iterrows()
    }
    return estimate_table(rows, table.index.name)


def recall_and_false_positive_rate(mean: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Recall and false positive rate of each level, to be drawn side by side.

    Parameters
    ----------
    mean : DataFrame
        Metrics of a judge, such as ``Detail.mean``; the second share is one minus the specificity.

    Returns
    -------
    dict
        Name of a series -> table of estimates, rows 1..5.

    Examples
    --------
    >>> run = pd.DataFrame({"score": [5.0, 5.0, 4.0], "ground_truth": [5.0, 4.0, 4.0]})
    >>> tables = recall_and_false_positive_rate(over_runs([run]).mean)
    >>> [float(table.loc["5", "estimate"]) for table in tables.values()]
    [1.0, 0.5]
    """

    def rows(kind: str) -> pd.DataFrame:
        chosen = mean[mean.index.str.startswith(kind)]
        return chosen.rename(index=lambda name: name.removeprefix(kind)).rename_axis("level")

    others = rows("specificity_")
    turned = {name: 1 - others[of] for name, of in (("estimate", "estimate"), ("low", "high"), ("high", "low"))}
    method = "1 minus " + others["method"]
    return {
        "conversations of this level (recall)": rows("sensitivity_"),
        "all other conversations": others.assign(**turned, method=method),
    }


def number_recognized(detail: Detail) -> dict:
    """Number of levels that a judge recognizes, to be recorded.

    See :func:`sense7.judge.scoring.metrics.levels_recognized`.

    Parameters
    ----------
    detail : Detail
        Of the judge; without one, the reason says so.
    """
    row = levels_recognized(detail.recognition)
    words = f"{SIMULATED_WORDS}: " if detail.simulated else ""
    row |= {"key": "levels_recognized", "method": words + row["method"], "n": int(detail.mean.loc["accuracy", "n"])}
    return row | ({} if detail.judge else {"reason": ABSENT})


def levels_are_comparable(detail: Detail) -> dict:
    """Whether the number of recognized levels can be compared with the published one, "yes" or "no"; to be recorded.

    It can if the authors' prompt was used, and each of the five levels is that of conversations of at least
    ``FEWEST_PARTICIPANTS`` participants: of a rarer level no judge could be shown to recognize it.

    Parameters
    ----------
    detail : Detail
        Of the judge; without one there is no value.
    """
    used = used_authors_prompt(detail.judge)
    often = detail.frequent_levels
    answer = "yes" if used["estimate"] == "yes" and often == len(LEVELS) else "no"
    return {
        "key": "levels_are_comparable",
        "estimate": answer if detail.judge else None,
        "n": often,
        "unit": "levels",
        "method": "authors' prompt by the name of the files, and each of the five levels given by at least "
        f"{FEWEST_PARTICIPANTS} participants; n counts the levels that are",
        "reason": used["reason"],
    }


def _frequent_levels(frames: list[pd.DataFrame]) -> int:
    """Levels of the ground truth that conversations with a score have of enough participants."""
    pairs = pd.concat([frame[["participant", "ground_truth", "score"]] for frame in frames], ignore_index=True).dropna()
    people = pairs["participant"].groupby(labels(pairs["ground_truth"])).nunique()
    return int((people >= FEWEST_PARTICIPANTS).sum())


def file_notes(judges: Judges) -> pd.DataFrame:
    """What has to be known of the files, one row per file; no row if there is nothing to know.

    Examples
    --------
    >>> file_notes(Judges({}, {"notes.csv": "left out"})).to_dict("index")
    {'notes.csv': {'note': 'left out'}}
    """
    return pd.DataFrame({"note": judges.notes}, dtype=object).rename_axis("file")


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
    """A table of :class:`Detail` whose rows have names for readers.

    Examples
    --------
    >>> list(with_row_labels(pd.DataFrame({"n": [1, 1]}, index=["macro_f1", "accuracy_worst"])).index)
    ['macro F1', 'accuracy worst']
    """
    return table.rename(index=lambda name: METRICS[name].title if name in METRICS else str(name).replace("_", " "))


def sentence_on_simulated(judges: Mapping) -> str:
    """A sentence on those of the judges that are simulated; "" if none is.

    Examples
    --------
    >>> sentence_on_simulated({})
    ''
    """
    return simulated_note(getattr(judges, "simulated", ()))


def request_facts(judges: Mapping[str, Mapping[str, pd.DataFrame]]) -> pd.DataFrame:
    """What is recorded of how each judge was asked: one row per judge, texts and counts; "" where nothing is.

    The column ``simulated`` says whether a model was asked at all.

    Examples
    --------
    >>> request_facts({}).empty
    True
    """
    facts = {
        "model asked for": "model",
        "model that answered": "returned_model",
        "system's fingerprint": "system_fingerprint",
        "prompt, SHA-256 (begin)": "prompt_sha256",
        "finish reason": "finish_reason",
    }
    rows = {}
    for judge, runs in judges.items():
        frame = pd.concat(runs.values(), ignore_index=True)
        texts = {
            title: ", ".join(
                sorted({str(text)[:_SHORT] if name == "prompt_sha256" else str(text) for text in frame[name].dropna()})
            )
            if name in frame
            else ""
            for title, name in facts.items()
        }
        tokens = frame[["input_tokens", "output_tokens"]].sum(min_count=1).sum(min_count=1)
        simulated = "yes: no model was asked" if judge in getattr(judges, "simulated", ()) else "no"
        rows[judge] = {"simulated": simulated, "runs": len(runs), **texts, "tokens": tokens}
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis("judge")


def used_authors_prompt(judge: str) -> dict:
    """Whether a judge's files say by their names that the authors' prompt was used: "yes", "no", or no value.

    The text of the authors' prompt is not known here, so that the name is all there is to go by.

    Examples
    --------
    >>> used_authors_prompt("gpt-4o-empathy_judge")["estimate"], used_authors_prompt("gpt-4o-empathy")["estimate"]
    ('yes', 'no')
    """
    answer = ("yes" if judge.endswith(f"-{AUTHORS_PROMPT}") else "no") if judge else None
    return {
        "key": "judge_used_authors_prompt",
        "estimate": answer,
        "n": 1 if judge else 0,
        "unit": "prompts",
        "method": f"by the name of its files: {AUTHORS_PROMPT}",
        "reason": "" if judge else ABSENT,
    }


check_arguments(globals())
