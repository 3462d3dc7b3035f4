"""The judges whose predictions for a data set are at hand, brought into line with its conversations."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from sense7.arguments import check_arguments
from sense7.errors import UserError
from sense7.judge.metrics import (
    METRICS,
    OverRuns,
    calibration,
    confusion,
    coverage,
    missing_bounds,
    over_runs,
    stability,
)
from sense7.judge.predictions import UNSTATED, prediction_files, read_predictions
from sense7.statistics.bootstrap import ParticipantBootstrap
from sense7.statistics.estimates import estimate_row, estimate_table
from sense7.statistics.ground_truth import ground_truth
from sense7.study import Study

__all__ = [
    "ABSENT",
    "HOW_TO_MAKE_THEM",
    "Detail",
    "by_judge",
    "chosen_judge",
    "compare",
    "detail",
    "request_facts",
    "runs_at_hand",
    "titled",
    "used_authors_prompt",
]

AUTHORS_PROMPT = "empathy_judge"
"""Name of the authors' prompt file, which stands in the names of prediction files made with it."""

ABSENT = "no predictions of a judge are at hand"

HOW_TO_MAKE_THEM = (
    "No predictions of a judge are at hand for this edition. To make them, with an endpoint of your own: "
    "make judge, then sense7 judge run --model NAME --base-url URL --data DATA --runs 10 --out predictions_NAME, "
    "and build the edition again."
)

_SAME = 1e-9
_SHORT = 16
_NOTHING = pd.DataFrame(
    {name: pd.Series(dtype=float) for name in ("score", "ground_truth")}
    | {name: pd.Series(dtype=object) for name in ("conversation", "participant", "status")}
)


def runs_at_hand(study: Study, folder: str | Path = "") -> dict[str, dict[str, pd.DataFrame]]:
    """Read the predictions of every judge for a data set.

    Files that are called alike but for the number of the run are runs of one judge.

    Parameters
    ----------
    study : Study
        The data set that was judged.
    folder : path
        Folder of prediction files (.xlsx, .csv); "" if there is none.

    Returns
    -------
    dict
        Judge -> run -> predictions with a row for every conversation of the study, in its order, with the study's
        participants and ground truth. A conversation that the file lacks has no score.

    Raises
    ------
    UserError
        If a file can't be read, holds conversations that are not of this data set, or was made when
        their ground truth was another.

    Examples
    --------
    >>> import sense7 as s7
    >>> runs_at_hand(s7.load("synthetic"))
    {}
    """
    judges: dict[str, dict[str, pd.DataFrame]] = {}
    for path in prediction_files(folder) if folder else ():
        found = read_predictions(path)
        if nameless := int(found.frame["conversation"].isna().sum()):
            raise UserError(
                f"{path.name}: column TaskId: {nameless:,} of {len(found.frame):,} predictions don't say of which "
                "conversation they are. Give each row its TaskId."
            )
        judges.setdefault(found.judge, {})[found.name] = _aligned(study, found.frame, path.name)
    return dict(sorted(judges.items()))


def _aligned(study: Study, frame: pd.DataFrame, file: str) -> pd.DataFrame:
    known = study.conversations[["conversation", "participant"]]
    truth = ground_truth(study.turns, known["conversation"])
    predicted = frame.set_index("conversation")
    if len(strange := predicted.index.difference(truth.index)):
        raise UserError(
            f"{file}: {len(strange):,} of {len(frame):,} conversations are not of this data set, the first being "
            f"{strange[0]!r}. Give the predictions that were made for it."
        )
    then, now = predicted["ground_truth"].to_numpy(dtype=float), truth[predicted.index].to_numpy()
    other = ~np.isclose(then, now, rtol=0, atol=_SAME, equal_nan=True)
    if other.any():
        which = predicted.index[other.argmax()]
        raise UserError(
            f"{file}: the ground truth of {other.sum():,} conversations is not that of this data set, the first being "
            f"{which!r} ({then[other.argmax()]:g} there, {now[other.argmax()]:g} here). "
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
        raise UserError(f"judge = {name!r}: no predictions of it are at hand ({', '.join(judges) or 'of none'}).")
    return name or max(judges, key=lambda judge: len(judges[judge]), default="")


def compare(
    judges: Mapping[str, Mapping[str, pd.DataFrame]], bootstrap: ParticipantBootstrap, policy: str = "strict"
) -> dict[str, OverRuns]:
    """Every metric of every judge over its runs; see :func:`sense7.judge.metrics.over_runs`."""
    return {judge: over_runs(runs, bootstrap, policy=policy) for judge, runs in judges.items()}


def by_judge(compared: Mapping[str, OverRuns], metric: str) -> pd.DataFrame:
    """One metric of every judge, mean over runs: a row a judge; no row if there is none.

    Examples
    --------
    >>> by_judge({}, "accuracy").empty
    True
    """
    rows = {judge: found.mean.loc[metric].to_dict() for judge, found in compared.items()}
    return estimate_table(rows, "judge")


@dataclass(frozen=True, eq=False)
class Detail:
    """One judge, looked at from all sides.

    Attributes
    ----------
    judge : str
        Its name; "" if there is none, and then all tables hold the reason.
    mean, spread : DataFrame
        Mean over runs with the interval over participants, and standard deviation over runs.
    authors : DataFrame
        As ``mean``, with 3 for every unusable reply, as the authors count it.
    coverage, bounds : DataFrame
        Of all runs together; see :func:`sense7.judge.metrics.coverage` and
        :func:`sense7.judge.metrics.missing_bounds`.
    confusion, calibration, stability : DataFrame
        Of all runs; see the functions of these names in :mod:`sense7.judge.metrics`.
    """

    judge: str
    mean: pd.DataFrame
    spread: pd.DataFrame
    authors: pd.DataFrame
    coverage: pd.DataFrame
    bounds: pd.DataFrame
    confusion: pd.DataFrame
    calibration: pd.DataFrame
    stability: pd.DataFrame


def detail(judges: Mapping[str, Mapping[str, pd.DataFrame]], judge: str, bootstrap: ParticipantBootstrap) -> Detail:
    """Look at one judge from all sides.

    Parameters
    ----------
    judges : mapping
        As :func:`runs_at_hand` gives it.
    judge : str
        One of them; "" if there is none.
    bootstrap : ParticipantBootstrap
        Draws of participants.

    Examples
    --------
    >>> detail({}, "", ParticipantBootstrap(["a", "b"])).mean.loc["accuracy", "reason"]
    'no predictions of a judge are at hand'
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
    }
    if not judge:
        tables = {name: _absent(table) for name, table in tables.items()}
    return Detail(judge, **tables, confusion=confusion(frames))


def _absent(table: pd.DataFrame) -> pd.DataFrame:
    rows = {
        name: estimate_row(n=0, unit=row["unit"], method=row["method"], reason=ABSENT) for name, row in table.iterrows()
    }
    return estimate_table(rows, table.index.name)


def titled(table: pd.DataFrame) -> pd.DataFrame:
    """Rows of a table of :class:`Detail` under names for people.

    Examples
    --------
    >>> list(titled(pd.DataFrame({"n": [1, 1]}, index=["macro_f1", "accuracy_worst"])).index)
    ['macro F1', 'accuracy worst']
    """
    return table.rename(index=lambda name: METRICS[name].title if name in METRICS else str(name).replace("_", " "))


def request_facts(judges: Mapping[str, Mapping[str, pd.DataFrame]]) -> pd.DataFrame:
    """What is recorded of how each judge was asked: a row a judge, texts and counts; "" where nothing is.

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
        rows[judge] = {"runs": len(runs), **texts, "tokens": tokens}
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
        "estimate": answer,
        "n": 1 if judge else 0,
        "unit": "prompts",
        "method": f"by the name of its files: {AUTHORS_PROMPT}",
        "reason": "" if judge else ABSENT,
    }


check_arguments(globals())
