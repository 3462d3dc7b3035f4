r"""What a judge's correlation with people rests on: Spearman's rho within people, between people, and given the length.

*Within participants*, each score and ground truth is taken minus the mean of the same participant's; participants with
one conversation have no such distance and are left out. *Between participants*, the means of participants are
correlated, each counted once. *Given the length* is the partial correlation of ranks,

.. math:: \rho_{st \cdot l} = \frac{\rho_{st} - \rho_{sl} \, \rho_{tl}}{\sqrt{(1 - \rho_{sl}^2)(1 - \rho_{tl}^2)}}

of scores s, ground truth t and length l. All are exact in each resample of participants, since a participant is taken
with all conversations or not at all.
"""

from collections.abc import Mapping

import numpy as np
import pandas as pd

from sense7.findings.core import rank_correlation, tabulate
from sense7.judge.scores.metrics import Metric, OverRuns
from sense7.statistics.order import rounded

__all__ = ["what_it_rests_on"]

RHO = "Spearman's rho"


def what_it_rests_on(over: OverRuns) -> pd.DataFrame:
    """Correlations within participants, between them, and given each length, mean over runs.

    Parameters
    ----------
    over : OverRuns
        The runs of a judge, and the lengths of the conversations; one without a length is left out.

    Returns
    -------
    DataFrame
        Table of estimates: within_participants, between_participants, and given_COLUMN for each column of lengths.

    Notes
    -----
    R: psych::statsBy(method='spearman'), psych::partial.r(method='spearman'), tests/reference/reference.R; equal to
    1e-7.

    Examples
    --------
    >>> from sense7.judge.files import Run
    >>> frame = pd.DataFrame({"participant": ["a", "a", "b", "b"], "conversation": ["1", "2", "3", "4"]})
    >>> run = Run.of(frame.assign(ground_truth=[1.0, 3, 2, 5], score=[3.0, 4, 1, 2]))
    >>> what_it_rests_on(OverRuns({"1": run}))["estimate"].round(3).tolist()
    [0.894, -1.0]
    """
    runs = over.runs.values()
    longest = max(runs, key=lambda run: run.n)
    within = Metric(
        "",
        RHO,
        f"{RHO} of score and ground truth, each minus its participant's mean",
        "no participant has two conversations with a score and a ground truth, or one of the "
        "two never differs within a participant",
    )
    between = Metric(
        "",
        RHO,
        f"{RHO} of participants' mean scores and mean ground truths",
        "fewer than two participants have a score and a ground truth, or the means of one of "
        "the two are all the same",
    )
    numbers = []
    for name, metric, rows_of in (
        ("within_participants", within, distances_from_own_mean),
        ("between_participants", between, participant_means),
    ):
        rhos = []
        for run in runs:
            rows = rows_of(run.scored)
            columns = rows["score"], rows["truth"], rows["participant"]
            rhos.append(rank_correlation(run.bootstrap, *columns))
        people = rows_of(longest.scored)["participant"]
        numbers.append(over.number(name, over.average(rhos), metric, people=people))
    for name in over.lengths:
        metric = Metric(
            "",
            RHO,
            f"partial {RHO} of score and ground truth, given {name.replace('_', ' ')}",
            "scores, ground truths or lengths are all the same, one of them orders the "
            "conversations as another does, or fewer than three conversations have all",
        )
        partial = over.average(given(name, rhos) for rhos in over.length_correlations)
        people = over.with_lengths(longest)["participant"]
        numbers.append(over.number(f"given_{name}", partial, metric, people=people))
    return tabulate("correlation", numbers, over.bootstrap)


def distances_from_own_mean(rows: pd.DataFrame) -> pd.DataFrame:
    """Score and ground truth minus the participant's mean, where a participant has several conversations."""
    scores = rows[["score", "truth"]]
    of_participant = scores.groupby(rows["participant"])
    distances = scores - of_participant.transform("mean")
    several = of_participant["score"].transform("size") > 1
    return distances.assign(participant=rows["participant"])[several]


def participant_means(rows: pd.DataFrame) -> pd.DataFrame:
    """Mean score and mean ground truth of each participant."""
    of_participant = rows.groupby("participant", sort=False, as_index=False)
    return of_participant[["score", "truth"]].mean()


def given(length: str, rhos: Mapping[tuple[str, str], np.ndarray]) -> np.ndarray:
    """Partial correlation of score and ground truth, given a length."""
    score_length, truth_length = rhos["score", length], rhos["truth", length]
    left_by_length = (1 - score_length**2) * (1 - truth_length**2)
    with np.errstate(divide="ignore", invalid="ignore"):
        partial = (rhos["score", "truth"] - score_length * truth_length) / np.sqrt(left_by_length)
    return np.where(rounded(left_by_length) == 0, np.nan, partial)
