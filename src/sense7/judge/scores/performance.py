"""How well the judge of a page agrees with people: the tables of its page, and its correlation in every specification.

Each table is that of :mod:`sense7.judge.scores.metrics`, with the keys under which its rows are recorded. Where no
predictions are available, every row says so.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from operator import attrgetter

import numpy as np
import pandas as pd

from sense7.findings.core import finding, value_row
from sense7.findings.ground_truth import ground_truth, labels, pooled_ground_truth
from sense7.findings.robustness import REPLIES, RUNS, TRUTHS, specifications
from sense7.judge.files import Run
from sense7.judge.scores import metrics
from sense7.judge.scores.correlations import what_it_rests_on
from sense7.judge.scores.judges import ABSENT
from sense7.judge.scores.metrics import METRICS, OverRuns, correlate, simulated_prefix
from sense7.segmentation import words_in
from sense7.statistics.bootstrap import ParticipantBootstrap
from sense7.statistics.estimates import estimate_row, estimate_table
from sense7.study import Study

__all__ = [
    "ShownJudge",
    "answer_lengths",
    "defined",
    "facts",
    "judge_multiverse",
    "judge_table",
    "recall_and_false_positive_rate",
    "shown_judge",
    "with_row_labels",
]

AUTHORS_PROMPT = "empathy_judge"
"""Name of the authors' prompt file, which stands in the names of prediction files made with it."""

NO_REPLIES = Run.of(pd.DataFrame())
"""A run without any conversation, for the tables where there is no judge."""


@dataclass(frozen=True)
class ShownJudge:
    """The judge that a page shows, measured by the two rules of reading replies.

    The methods of a simulated judge's values begin with ``method_prefix``.
    """

    name: str
    strict: OverRuns
    authors: OverRuns
    method_prefix: str


def shown_judge(
    judges: Mapping[str, Mapping[str, Run]],
    judge: str,
    bootstrap: ParticipantBootstrap,
    lengths: pd.DataFrame | None = None,
) -> ShownJudge:
    """Return the judge that a page shows, measured by both rules of reading replies.

    Parameters
    ----------
    judges : mapping
        As :func:`sense7.judge.scores.judges.read_runs` gives it.
    judge : str
        One of them; "" if there is none.
    bootstrap : ParticipantBootstrap
        Bootstrap resamples of participants.
    lengths : DataFrame, optional
        Those of :func:`answer_lengths`; without them no correlation with a length is computed.

    Examples
    --------
    >>> nobody = shown_judge({}, "", ParticipantBootstrap(["a", "b"]))
    >>> judge_table(nobody, "metrics").loc["accuracy", "reason"]
    'no predictions of a judge are available'
    """
    runs = judges.get(judge, {"": NO_REPLIES})
    return ShownJudge(
        name=judge,
        strict=OverRuns(runs, bootstrap, "strict", lengths),
        authors=OverRuns(runs, bootstrap, "authors"),
        method_prefix=simulated_prefix(runs),
    )


@dataclass(frozen=True)
class JudgeTable:
    """A table of a judge's runs: what computes it, and the keys of the rows that are recorded."""

    compute: Callable[[OverRuns], pd.DataFrame]
    prefix: str
    """With it and the name of its row every key begins and ends."""
    keys: str
    policy: str = "strict"


TABLES = {
    "metrics": JudgeTable(
        attrgetter("mean"),
        "judge",
        "judge_coverage judge_accuracy judge_macro_f1 judge_within_one judge_mean_absolute_error judge_spearman "
        "judge_quadratic_kappa judge_sensitivity_1 judge_sensitivity_2 judge_sensitivity_3 judge_sensitivity_4 "
        "judge_sensitivity_5 judge_specificity_1 judge_specificity_2 judge_specificity_3 judge_specificity_4 "
        "judge_specificity_5",
    ),
    "spread over runs": JudgeTable(
        attrgetter("spread"), "judge_spread", "judge_spread_accuracy judge_spread_spearman"
    ),
    "metrics by the authors' rule": JudgeTable(
        attrgetter("mean"),
        "judge_authors",
        "judge_authors_accuracy judge_authors_spearman",
        policy="authors",
    ),
    "replies": JudgeTable(
        metrics.coverage,
        "judge_count",
        "judge_count_ok judge_count_parse_failure judge_count_refusal judge_count_truncated judge_count_api_error "
        "judge_count_doubtful",
    ),
    "bounds": JudgeTable(
        metrics.missing_bounds,
        "judge_bound",
        "judge_bound_accuracy_worst judge_bound_accuracy_best",
    ),
    "truth by predicted level": JudgeTable(
        metrics.calibration,
        "judge_calibration",
        "judge_calibration_1 judge_calibration_2 judge_calibration_3 judge_calibration_4 judge_calibration_5",
    ),
    "agreement between runs": JudgeTable(metrics.stability, "judge", "judge_same_label"),
    "level and length": JudgeTable(
        metrics.level_and_length, "judge", "judge_level_bias judge_length_spearman"
    ),
    "what the correlation rests on": JudgeTable(
        what_it_rests_on,
        "judge_spearman",
        "judge_spearman_within_participants judge_spearman_between_participants judge_spearman_given_words "
        "judge_spearman_given_words_per_answer",
    ),
    "mean recall": JudgeTable(
        metrics.mean_recall, "judge", "judge_mean_recall judge_mean_recall_above_chance"
    ),
}
"""Name of each table of the page on a judge -> the table."""


@finding
def judge_table(judge: ShownJudge, name: str) -> pd.DataFrame:
    """Return a table of the judge that a page shows, with a key for each row that is recorded.

    Parameters
    ----------
    judge : ShownJudge
        As :func:`shown_judge` gives it; where there is none, every row says so.
    name : str
        ``metrics``: coverage and every metric, mean over runs; ``metrics by the authors' rule``: the same with replies
        read by the authors' rule; ``spread over runs``: standard deviations, n counts runs. ``replies``: what became of
        the replies of all runs. ``bounds``: lowest and highest accuracy for any values of the missing scores.
        ``truth by predicted level``: mean ground truth of the conversations that get each level. ``agreement between
        runs``: share of the conversations with one label in all runs. ``level and length``: mean error, and
        correlation of the scores with the words of the assistant. ``what the correlation rests on``: within
        participants, between them, and given lengths. ``mean recall``: over the levels that enough people gave, and
        above chance.

    Returns
    -------
    DataFrame
        Rows of estimates.

    Raises
    ------
    KeyError
        If there is no table of that name.
    """
    definition = TABLES[name]
    table = definition.compute(getattr(judge, definition.policy))
    keys = f"{definition.prefix}_" + table.index.astype(str)
    keys = keys.where(keys.isin(definition.keys.split()), "")
    table = table.assign(method=judge.method_prefix + table["method"], key=keys)
    if not judge.name:
        table = table.assign(estimate=np.nan, low=np.nan, high=np.nan, n=0, reason=ABSENT)
    return table


@finding
def recall_and_false_positive_rate(over_runs: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Recall and false positive rate of each level, to be drawn side by side.

    Parameters
    ----------
    over_runs : DataFrame
        Metrics of a judge, as the table ``metrics`` of :func:`judge_table` has them; the second share is one minus the
        specificity.

    Returns
    -------
    dict
        Name of a series -> table of estimates, rows 1..5.

    Examples
    --------
    >>> run = Run.of(pd.DataFrame({"score": [5.0, 5.0, 4.0], "ground_truth": [5.0, 4.0, 4.0]}))
    >>> tables = recall_and_false_positive_rate(metrics.run_metrics(run))
    >>> [float(table.loc["5", "estimate"]) for table in tables.values()]
    [1.0, 0.5]
    """

    def by_level(metric: str) -> pd.DataFrame:
        rows = over_runs[over_runs.index.str.startswith(metric)]
        return rows.rename(index=lambda name: name.removeprefix(metric)).rename_axis("level")

    specificity = by_level("specificity_")
    false_positive_rate = specificity.assign(
        estimate=1 - specificity["estimate"],
        low=1 - specificity["high"],
        high=1 - specificity["low"],
        method="1 minus " + specificity["method"],
    )
    return {
        "conversations of this level (recall)": by_level("sensitivity_"),
        "all other conversations": false_positive_rate,
    }


@finding
def facts(judges: Mapping[str, object], judge: ShownJudge) -> list[dict]:
    """What is said of the judge that is shown in words and counts, as arguments of ``Recorder.value``.

    ``judge_shown``, and ``judge_used_authors_prompt`` (by the names of its files: the text of the authors' prompt is
    not known here).

    Examples
    --------
    >>> nobody = shown_judge({}, "", ParticipantBootstrap(["a", "b"]))
    >>> [row["estimate"] for row in facts({}, nobody)]
    [None, None]
    """
    used_authors_prompt = "no"
    if judge.name.endswith(f"-{AUTHORS_PROMPT}"):
        used_authors_prompt = "yes"
    rows = [
        value_row(
            "judge_shown", judge.name, n=len(judges), unit="name", method="the one with most runs"
        ),
        value_row(
            "judge_used_authors_prompt",
            used_authors_prompt,
            n=int(bool(judge.name)),
            unit="prompts",
            method=f"by the name of its files: {AUTHORS_PROMPT}",
        ),
    ]
    if not judge.name:
        rows = [{**row, "estimate": None, "reason": ABSENT} for row in rows]
    return rows


def answer_lengths(study: Study) -> pd.DataFrame:
    """Words that the assistant wrote in each conversation, in all and per answer; the latter missing without an answer.

    Examples
    --------
    >>> import sense7 as s7
    >>> answer_lengths(s7.load("synthetic")).loc["T0001"].round(1).to_dict()
    {'words': 657.0, 'words_per_answer': 38.6}
    """
    messages = study.messages[study.messages["role"] == "assistant"]
    # Message by message: the words of all of them at once would be many times as large as the study.
    counts = [len(words_in(text)) for text in messages["content"].fillna("")]
    words = pd.Series(counts, messages["conversation"], dtype=float).groupby(level=0)
    conversations = study.conversations["conversation"]
    return pd.DataFrame(
        {
            "words": words.sum().reindex(conversations, fill_value=0),
            "words_per_answer": words.mean().reindex(conversations),
        }
    )


def defined(table: pd.DataFrame) -> pd.DataFrame:
    """Rows of a table of estimates that have a value, such as those of the levels that occur; all rows if none has.

    Examples
    --------
    >>> defined(pd.DataFrame({"estimate": [np.nan, 3.5]}, index=[1, 2])).index.tolist()
    [2]
    """
    valued = table[table["estimate"].notna()]
    if valued.empty:
        return table
    return valued


def with_row_labels(table: pd.DataFrame) -> pd.DataFrame:
    """A table of this module whose rows have names for readers.

    Examples
    --------
    >>> list(with_row_labels(pd.DataFrame({"n": [1, 1]}, index=["macro_f1", "accuracy_worst"])).index)
    ['macro F1', 'accuracy worst']
    """
    titles = {name: metric.title for name, metric in METRICS.items()}
    return table.rename(index=lambda name: titles.get(name, str(name).replace("_", " ")))


def judge_multiverse(
    study: Study,
    judges: Mapping[str, Mapping[str, Run]],
    judge: str,
    bootstrap: ParticipantBootstrap,
) -> pd.DataFrame:
    """Return Spearman's correlation of a judge's scores with the users' ratings in every specification."""
    choices = specifications("judge_spearman")
    conversations = study.conversations[["conversation", "participant"]]
    truth = ground_truth(study.turns, conversations["conversation"]).to_numpy()
    values = (truth, labels(truth), pooled_ground_truth(study))
    truths = dict(zip(TRUTHS, values, strict=True))
    runs = judges.get(judge, {})
    method = f"{simulated_prefix(runs)}Spearman's rho, "
    rows = {}
    for number, choice in choices.iterrows():
        metric = replace(METRICS["spearman"], method=method + choice["runs"])
        if not judge:
            rows[number] = estimate_row(n=0, unit=metric.unit, method=metric.method, reason=ABSENT)
            continue
        policy = "authors"
        if choice["replies without a score"] == REPLIES[0]:
            policy = "strict"
        scores = pd.DataFrame({name: run.scores(policy) for name, run in runs.items()})
        if choice["runs"] == RUNS[2]:  # each conversation's median over the runs that have one
            scores = scores.median(axis=1).to_frame()
        elif choice["runs"] == RUNS[1]:
            scores = scores.iloc[:, :1]
        rated = conversations.assign(ground_truth=np.asarray(truths[choice["ground truth"]]))
        chosen_runs = {}
        for name, score in scores.items():
            chosen_runs[name] = Run.of(rated.assign(score=score.to_numpy()))
        over_runs = OverRuns(chosen_runs, bootstrap)
        measured = over_runs.runs.values()
        correlate(measured)
        rho = over_runs.average(run.rho for run in measured)
        undefined = "fewer than two conversations have both, or one of the two does not vary"
        rows[number] = metric.number(number, rho, over_runs.people, undefined).row(bootstrap)
    return choices.join(estimate_table(rows, "specification"))
