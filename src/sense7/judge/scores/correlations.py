r"""What a judge's correlation with people rests on: Spearman's rho within people, between people, and given the length.

*Within participants*, each score and ground truth is taken minus the mean of the same participant's; participants with
one conversation have no such distance and are left out. *Between participants*, the means of participants are
correlated, each counted once. *Given the length* is the partial correlation of ranks,

.. math:: \rho_{st \cdot l} = \frac{\rho_{st} - \rho_{sl} \, \rho_{tl}}{\sqrt{(1 - \rho_{sl}^2)(1 - \rho_{tl}^2)}}

of scores s, ground truth t and length l. All are exact in each resample of participants, since a participant is taken
with all conversations or not at all.
"""

import numpy as np
import pandas as pd

from sense7.estimators.order import rounded
from sense7.estimators.ranks import spearmans_in_draws
from sense7.findings.core import tabulate
from sense7.judge.scores.metrics import Metric, OverRuns, Run

__all__ = ["what_it_rests_on"]

RHO = "Spearman's rho"


def what_it_rests_on(over: OverRuns, lengths: pd.DataFrame | None = None) -> pd.DataFrame:
    """Correlations within participants, between them, and given each length, mean over runs.

    Parameters
    ----------
    over : OverRuns
        The runs of a judge.
    lengths : DataFrame, optional
        One row per conversation, one column per length, such as ``words``; a conversation without a length is left out.

    Returns
    -------
    DataFrame
        Table of estimates: within_participants, between_participants, and given_COLUMN for each column of lengths.

    Examples
    --------
    >>> run = pd.DataFrame({"participant": ["a", "a", "b", "b"], "conversation": ["1", "2", "3", "4"]})
    >>> run = run.assign(ground_truth=[1.0, 3, 2, 5], score=[3.0, 4, 1, 2])
    >>> what_it_rests_on(OverRuns([run]))["estimate"].round(3).tolist()
    [0.894, -1.0]
    """
    runs = over.runs.values()
    longest = max(runs, key=lambda run: run.n)
    numbers = [
        over.number(
            "within_participants",
            over.average(_spearman(run, distances_from_own_mean(run)) for run in runs),
            Metric("", RHO, f"{RHO} of score and ground truth, each minus its participant's mean"),
            "no participant has two conversations with a score and a ground truth, or one of the "
            "two never differs within a participant",
            distances_from_own_mean(longest)["participant"],
        ),
        over.number(
            "between_participants",
            over.average(_spearman(run, participant_means(run)) for run in runs),
            Metric("", RHO, f"{RHO} of participants' mean scores and mean ground truths"),
            "fewer than two participants have a score and a ground truth, or the means of one of "
            "the two are all the same",
            participant_means(longest)["participant"],
        ),
    ]
    if lengths is not None:
        for name, length in lengths.items():
            words = str(name).replace("_", " ")
            partial = over.average(
                _partial_spearman(run, _with_length(run, length)) for run in runs
            )
            metric = Metric("", RHO, f"partial {RHO} of score and ground truth, given {words}")
            undefined = (
                "scores, ground truths or lengths are all the same, one of them orders the "
                "conversations as another does, or fewer than three conversations have all"
            )
            people = _with_length(longest, length)["participant"]
            numbers.append(over.number(f"given_{name}", partial, metric, undefined, people))
    return tabulate("correlation", numbers, over.bootstrap)


def _scored(run: Run) -> pd.DataFrame:
    """Participant, score and ground truth of each conversation that has both."""
    return pd.DataFrame(
        {"participant": run.people.to_numpy(), "score": run.score, "truth": run.truth}
    )


def distances_from_own_mean(run: Run) -> pd.DataFrame:
    """Score and ground truth minus the participant's mean, where a participant has several conversations."""
    rows = _scored(run)
    of_participant = rows.groupby("participant")
    several = of_participant["score"].transform("size") > 1
    means = of_participant[["score", "truth"]].transform("mean")
    return rows.assign(score=rows["score"] - means["score"], truth=rows["truth"] - means["truth"])[
        several
    ]


def participant_means(run: Run) -> pd.DataFrame:
    """Mean score and mean ground truth of each participant."""
    return _scored(run).groupby("participant", sort=False, as_index=False).mean()


def _with_length(run: Run, length: pd.Series) -> pd.DataFrame:
    """Score, ground truth and length of each conversation that has all three."""
    rows = _scored(run)
    rows["length"] = length.reindex(run.rows["conversation"]).to_numpy(dtype=float)
    return rows.dropna(subset="length")


def _spearman(run: Run, rows: pd.DataFrame) -> np.ndarray:
    return run.spearman(rows["score"], rows["truth"], rows["participant"])


def _partial_spearman(run: Run, rows: pd.DataFrame) -> np.ndarray:
    columns = [rows["score"], rows["truth"], rows["length"]]
    pairs = [(0, 1), (0, 2), (1, 2)]

    def correlation(weights: np.ndarray, codes: np.ndarray | None) -> np.ndarray:
        score_truth, score_length, truth_length = spearmans_in_draws(
            columns, pairs, weights, codes
        ).T
        left_by_length = (1 - score_length**2) * (1 - truth_length**2)
        with np.errstate(divide="ignore", invalid="ignore"):
            partial = (score_truth - score_length * truth_length) / np.sqrt(left_by_length)
        return np.where(rounded(left_by_length) == 0, np.nan, partial)

    return run.of_weights(correlation, rows["participant"])
