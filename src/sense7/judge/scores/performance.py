"""How well the judge of a page agrees with people: the tables of its page, and its correlation in every specification.

Each table is that of :mod:`sense7.judge.scores.metrics`, with the keys under which its rows are recorded. Where no
predictions are available, every row says so.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from sense7.estimators.bootstrap import ParticipantBootstrap
from sense7.estimators.estimates import estimate_row, estimate_table
from sense7.findings.core import finding, rank_correlation
from sense7.findings.ground_truth import ground_truth, labels, other_ground_truths
from sense7.findings.robustness import REPLIES, RUNS, TRUTHS, specifications
from sense7.judge.files import counted_scores
from sense7.judge.scores import correlations, metrics
from sense7.judge.scores.judges import ABSENT
from sense7.judge.scores.metrics import METRICS, SHOWN_METRICS, OverRuns, simulated_prefix
from sense7.segmentation import words_in
from sense7.study import Study

__all__ = [
    "ShownJudge",
    "accuracy_bounds",
    "agreement_between_runs",
    "answer_lengths",
    "defined",
    "facts",
    "judge_multiverse",
    "level_and_length",
    "mean_recall",
    "metrics_by_authors_rule",
    "metrics_over_runs",
    "recall_and_false_positive_rate",
    "reply_counts",
    "shown_judge",
    "spread_over_runs",
    "truth_by_predicted_level",
    "what_correlation_rests_on",
    "with_row_labels",
    "youden_by_level",
]

AUTHORS_PROMPT = "empathy_judge"
"""Name of the authors' prompt file, which stands in the names of prediction files made with it."""

NO_REPLIES = pd.DataFrame(
    columns=["conversation", "participant", "ground_truth", "score", "status", "doubtful"]
)
"""Predictions of no conversation, for the tables where there is no judge."""


@dataclass(frozen=True)
class ShownJudge:
    """The judge that a page shows.

    ``strict`` and ``authors`` measure its runs by the two rules of reading replies. ``replies`` are those of all runs,
    one below the other. With ``method_prefix`` the methods of a simulated judge's values begin.
    """

    name: str
    strict: OverRuns
    authors: OverRuns
    replies: pd.DataFrame
    method_prefix: str
    bootstrap: ParticipantBootstrap

    def recorded(
        self, table: pd.DataFrame, key: str, rows: Collection | None = None
    ) -> pd.DataFrame:
        """A table of this judge with a key for each row, or for some; without a judge, every row says so."""
        keys = f"{key}_" + table.index.astype(str)
        if rows is not None:
            keys = keys.where(table.index.isin(rows), "")
        table = table.assign(method=self.method_prefix + table["method"], key=keys)
        if not self.name:
            table = table.assign(estimate=np.nan, low=np.nan, high=np.nan, n=0, reason=ABSENT)
        return table


def shown_judge(
    judges: Mapping[str, Mapping[str, pd.DataFrame]], judge: str, bootstrap: ParticipantBootstrap
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

    Examples
    --------
    >>> nobody = shown_judge({}, "", ParticipantBootstrap(["a", "b"]))
    >>> metrics_over_runs(nobody).loc["accuracy", "reason"]
    'no predictions of a judge are available'
    """
    runs = judges.get(judge, {"": NO_REPLIES})
    return ShownJudge(
        name=judge,
        strict=OverRuns(runs, bootstrap, "strict"),
        authors=OverRuns(runs, bootstrap, "authors"),
        replies=pd.concat(runs.values(), ignore_index=True),
        method_prefix=simulated_prefix(runs),
        bootstrap=bootstrap,
    )


@finding
def metrics_over_runs(judge: ShownJudge) -> pd.DataFrame:
    """Return coverage and every metric of the shown judge, mean over its runs."""
    return judge.recorded(judge.strict.mean, "judge")


@finding
def spread_over_runs(judge: ShownJudge) -> pd.DataFrame:
    """Return the standard deviation of every metric over the runs of the shown judge; n counts runs."""
    return judge.recorded(judge.strict.spread, "judge_spread", SHOWN_METRICS)


@finding
def metrics_by_authors_rule(judge: ShownJudge) -> pd.DataFrame:
    """Return the same as :func:`metrics_over_runs`, with replies read by the authors' rule."""
    return judge.recorded(judge.authors.mean, "judge_authors", SHOWN_METRICS)


@finding
def reply_counts(judge: ShownJudge) -> pd.DataFrame:
    """Return what became of the replies of all runs: how many were usable, refused, cut off, and so on.

    The share of usable ones has no key here; :func:`metrics_over_runs` has it as a mean over runs.
    """
    counts = ("ok", "parse_failure", "refusal", "truncated", "api_error", "doubtful")
    table = metrics.coverage(judge.replies, judge.bootstrap)
    return judge.recorded(table, "judge_count", counts)


@finding
def accuracy_bounds(judge: ShownJudge) -> pd.DataFrame:
    """Return the lowest and highest accuracy that any values of the missing scores could give."""
    bounds = metrics.missing_bounds(judge.replies, judge.bootstrap)
    return judge.recorded(bounds, "judge_bound")


@finding
def truth_by_predicted_level(judge: ShownJudge) -> pd.DataFrame:
    """Return the mean ground truth of the conversations that get each level."""
    return judge.recorded(metrics.calibration(judge.strict), "judge_calibration")


@finding
def agreement_between_runs(judge: ShownJudge) -> pd.DataFrame:
    """Return the share of the conversations that get one label in all runs."""
    return judge.recorded(metrics.stability(judge.strict), "judge")


@finding
def level_and_length(judge: ShownJudge, words: pd.Series | None = None) -> pd.DataFrame:
    """Return the mean error of the scores, and their correlation with the length of the conversation.

    ``words`` are those of :func:`answer_lengths`; without them there is no correlation.
    """
    return judge.recorded(metrics.level_and_length(judge.strict, words), "judge")


@finding
def what_correlation_rests_on(
    judge: ShownJudge, lengths: pd.DataFrame | None = None
) -> pd.DataFrame:
    """Return the judge's correlation within participants, between participants, and given the length of conversations.

    ``lengths`` are those of :func:`answer_lengths`; without them no length is held constant.
    """
    return judge.recorded(correlations.what_it_rests_on(judge.strict, lengths), "judge_spearman")


@finding
def youden_by_level(judge: ShownJudge) -> pd.DataFrame:
    """Return Youden's index of each level: recall minus the share of the other conversations that get the level."""
    return judge.recorded(metrics.recognition(judge.strict), "judge_recognition")


@finding
def mean_recall(judge: ShownJudge) -> pd.DataFrame:
    """Return the mean recall of the levels that enough people gave, and by how much it lies above chance."""
    return judge.recorded(metrics.mean_recall(judge.strict), "judge")


@finding
def recall_and_false_positive_rate(over_runs: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Recall and false positive rate of each level, to be drawn side by side.

    Parameters
    ----------
    over_runs : DataFrame
        Metrics of a judge, such as those of :func:`metrics_over_runs`; the second share is one minus the specificity.

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
        {
            "key": "judge_shown",
            "estimate": judge.name,
            "n": len(judges),
            "unit": "name",
            "method": "the one with most runs",
        },
        {
            "key": "judge_used_authors_prompt",
            "estimate": used_authors_prompt,
            "n": int(bool(judge.name)),
            "unit": "prompts",
            "method": f"by the name of its files: {AUTHORS_PROMPT}",
        },
    ]
    if not judge.name:
        for row in rows:
            row.update(estimate=None, reason=ABSENT)
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
    judges: Mapping[str, Mapping[str, pd.DataFrame]],
    judge: str,
    bootstrap: ParticipantBootstrap,
) -> pd.DataFrame:
    """Return Spearman's correlation of a judge's scores with the users' ratings in every specification."""
    choices = specifications("judge_spearman")
    conversations = study.conversations[["conversation", "participant"]]
    truth = ground_truth(study.turns, conversations["conversation"]).to_numpy()
    truths = {**other_ground_truths(study), TRUTHS[0]: truth, TRUTHS[1]: labels(truth)}
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
        scores = pd.DataFrame({run: counted_scores(frame, policy) for run, frame in runs.items()})
        if choice["runs"] == RUNS[2]:  # each conversation's median over the runs that have one
            scores = scores.median(axis=1).to_frame()
        elif choice["runs"] == RUNS[1]:
            scores = scores.iloc[:, :1]
        rated = conversations.assign(ground_truth=np.asarray(truths[choice["ground truth"]]))
        frames = {run: rated.assign(score=score.to_numpy()) for run, score in scores.items()}
        over_runs = OverRuns(frames, bootstrap)
        rho = over_runs.average(
            rank_correlation(run.bootstrap, run.truth, run.score, run.people)
            for run in over_runs.runs.values()
        )
        undefined = "fewer than two conversations have both, or one of the two does not vary"
        rows[number] = metric.number(number, rho, over_runs.people, undefined).row(bootstrap)
    return choices.join(estimate_table(rows, "specification"))
