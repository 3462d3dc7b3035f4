"""Calibration: a judge's scores brought to the scale of those who rated, by what other participants teach."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
from sklearn.isotonic import IsotonicRegression
from sklearn.model_selection import GroupKFold

from sense7.findings.core import finding
from sense7.findings.ground_truth import labels
from sense7.judge.files import Run
from sense7.judge.scores.judges import ABSENT
from sense7.judge.scores.metrics import METRICS, run_metrics
from sense7.statistics.bootstrap import OWN_SCALE, ParticipantBootstrap
from sense7.statistics.estimates import estimate_row, estimate_table
from sense7.taxonomy import LEVELS
from sense7.terminal import count_of

__all__ = [
    "Calibrated",
    "agreement_after_calibration",
    "calibration_errors",
    "mean_over_runs",
]

FOLDS = 10
FEWEST_PARTICIPANTS = 5
"""Participants with ratings and scores below which no mapping is learned."""

_ERROR = "expected calibration error: mean over conversations of |mean rating - mean score| of their score's level"


@dataclass(frozen=True, eq=False)
class Calibrated:
    """A run, and its scores mapped to the scale of the ratings; without these, the reason.

    Attributes
    ----------
    run : Run
        The run, with its scores as given.
    scores : array of float
        Scores on the scale of the ratings, NaN where there is none.
    reason : str
        Why no score could be mapped; "" otherwise.
    """

    run: Run
    scores: np.ndarray
    reason: str = ""

    @classmethod
    def of(cls, run: Run) -> "Calibrated":
        """Map a run's scores by isotonic regression, participants held out."""
        mapped = np.full(len(run.score), np.nan)
        rated = np.isfinite(run.score) & np.isfinite(run.ground_truth)
        number = len(pd.unique(run.participant[rated]))
        if number < FEWEST_PARTICIPANTS:
            reason = (
                f"{count_of(number, 'participant')} with ratings and scores: too few to learn what a score is worth. "
                f"Give predictions of at least {FEWEST_PARTICIPANTS} participants' rated conversations."
            )
            return cls(run, mapped, reason)
        scores = mapped.copy()
        scored = np.flatnonzero(np.isfinite(run.score))
        groups = pd.factorize(run.participant[scored])[0]
        for train, test in GroupKFold(min(FOLDS, number)).split(scored, groups=groups):
            learn_from = scored[train][rated[scored[train]]]
            if not len(learn_from):
                reason = "All ratings are of one fold of participants. Give predictions of more participants."
                return cls(run, mapped, reason)
            mapping = IsotonicRegression(out_of_bounds="clip")
            mapping.fit(run.score[learn_from], run.ground_truth[learn_from])
            scores[scored[test]] = mapping.predict(run.score[scored[test]])
        return cls(run, scores)


def mean_over_runs(runs: Mapping[str, Run]) -> Calibrated:
    """One score per conversation: the mean over the runs of a judge that have one.

    Parameters
    ----------
    runs : mapping
        A judge's runs by their names, as :func:`sense7.judge.scores.judges.read_runs` returns them.

    Returns
    -------
    Calibrated
        Mean scores in the order of the first run, as given and calibrated; without a run, empty, with the reason.

    Examples
    --------
    >>> frame = pd.DataFrame({"conversation": ["C1"], "participant": ["P1"], "ground_truth": [4.0]})
    >>> runs = {score: Run.of(frame.assign(score=score)) for score in (3.0, 4.0, np.nan)}
    >>> mean_over_runs(runs).run.score.tolist()
    [3.5]
    """
    if not runs:
        return Calibrated(Run.of(pd.DataFrame()), np.empty(0), ABSENT)
    scores = pd.DataFrame({name: run.score for name, run in runs.items()})
    first, *_ = runs.values()
    return Calibrated.of(replace(first, score=scores.mean(axis=1).to_numpy()))


@finding
def calibration_errors(calibrated: Calibrated, bootstrap: ParticipantBootstrap) -> pd.DataFrame:
    r"""Expected calibration error before and after calibration.

    .. math:: ECE = \sum_{k=1}^{5} \frac{n_k}{n} \left| \bar y_k - \bar s_k \right|

    with :math:`\bar y_k` and :math:`\bar s_k` the mean rating and the mean score of the :math:`n_k` conversations
    whose score has the label k.

    Parameters
    ----------
    calibrated : Calibrated
        A run; its conversations without rating or score do not count.
    bootstrap : ParticipantBootstrap
        Resamples of participants; mapped scores are held fixed.

    Returns
    -------
    DataFrame
        Table of estimates: the error of the scores as given, that of the calibrated ones, and by how much it is lower
        on the same conversations.

    Notes
    -----
    Resamples would add their own chance to an error that is never below zero. So its interval and that of its drop
    are t intervals; that of the error ends at zero. Chance alone makes the error greater than zero, before
    calibration more than after: a drop of a few hundredths says nothing in a small study. Guo and others (2017), On
    calibration of modern neural networks, with levels for bins and distances for shares. R: isoreg, each participant
    held out, tests/reference/reference.R; equal to 1e-7.

    Examples
    --------
    >>> people = [f"P{n}" for n in range(10)] * 4
    >>> frame = pd.DataFrame({"participant": people, "score": np.repeat([1.0, 2, 4, 5], 10)})
    >>> frame["ground_truth"] = frame["score"] / 2 + 2
    >>> bootstrap = ParticipantBootstrap(people, draws=100, seed=1)
    >>> calibration_errors(Calibrated.of(Run.of(frame)), bootstrap)["estimate"].tolist()
    [0.75, 0.0, 0.75]
    """
    run = calibrated.run
    as_given, isotonic = run.score, calibrated.scores
    compared = {
        f"as given: {_ERROR}": [as_given],
        f"isotonic: {_ERROR}": [isotonic],
        f"{_ERROR}; as given minus isotonic": [as_given, isotonic],
    }
    rows = []
    for method, kinds in compared.items():
        complete = np.isfinite([run.ground_truth, *kinds]).all(axis=0)
        n = int(complete.sum())
        about = {"n": n, "unit": "level, difference", "method": method}
        if n == 0:
            reason = calibrated.reason or "no conversation has both a rating and a score"
            rows.append(estimate_row(**about, reason=reason))
            continue
        # Per conversation and scores: rating minus score in the column of the score's level, and 1.
        sums = np.zeros((n, len(kinds), len(LEVELS) + 1))
        sums[..., -1] = 1
        for column, scores in enumerate(kinds):
            level = labels(scores[complete]).astype(int)
            distance = run.ground_truth[complete] - scores[complete]
            sums[np.arange(n), column, level - 1] = distance
        people = run.participant[complete]
        estimate = bootstrap.estimate(error_of_sums, sums, people, OWN_SCALE)
        if len(kinds) == 1:  # no error is below zero
            estimate = estimate._replace(low=np.maximum(estimate.low, 0))
        rows.append(bootstrap.row(estimate, **about, how=bootstrap.describe(OWN_SCALE)))
    keys = {"as given": "calibration_error_as_given", "isotonic": "calibration_error_isotonic"}
    return estimate_table(dict(zip((*keys, "lower by"), rows, strict=True)), "scores", keys)


def error_of_sums(sums: np.ndarray) -> np.ndarray:
    """Return the calibration error of one kind of scores; of two, by how much that of the second is lower."""
    errors = np.abs(sums[..., :-1]).sum(axis=-1) / sums[..., -1]
    if errors.shape[-1] == 1:
        return errors[..., 0]
    return errors[..., 0] - errors[..., 1]


@finding
def agreement_after_calibration(
    calibrated: Calibrated, bootstrap: ParticipantBootstrap
) -> pd.DataFrame:
    """Return Spearman's correlation and the mean absolute error, of the scores as given and of calibrated ones.

    The expected calibration error is also zero for one score that every conversation gets; these two tell a judge that
    distinguishes conversations from such a score. Both kinds of scores are of the same conversations.

    Parameters
    ----------
    calibrated : Calibrated
        A run; its conversations without rating or score do not count.
    bootstrap : ParticipantBootstrap
        Resamples of participants; mapped scores are held fixed.

    Returns
    -------
    DataFrame
        Table of estimates with four rows: each of the two, as given and isotonic.

    Examples
    --------
    >>> people = [f"P{n}" for n in range(10)] * 4
    >>> frame = pd.DataFrame({"participant": people, "score": np.repeat([1.0, 2, 4, 5], 10)})
    >>> frame["ground_truth"] = frame["score"] / 2 + 2
    >>> calibrated = Calibrated.of(Run.of(frame))
    >>> agreement_after_calibration(calibrated, ParticipantBootstrap(people, 100, 1))["estimate"].tolist()
    [1.0, 1.0, 0.75, 0.0]
    """
    run, isotonic = calibrated.run, calibrated.scores
    as_given = np.where(np.isnan(isotonic), np.nan, run.score)
    metrics_of = {
        "as given": run_metrics(replace(run, score=as_given), bootstrap),
        "isotonic": run_metrics(replace(run, score=isotonic), bootstrap),
    }
    rows = {}
    for metric in ("spearman", "mean_absolute_error"):
        for scores, table in metrics_of.items():
            row = table.loc[metric].to_dict()
            row["key"] = f"calibration_{metric}_{scores.replace(' ', '_')}"
            row["method"] = f"{scores}: {row['method']}"
            row["reason"] = calibrated.reason or row["reason"]
            rows[f"{METRICS[metric].title}, {scores}"] = row
    return estimate_table(rows, "measure")
