"""A judge's correlation within participants, between them and given the length, against loops and scipy."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import rankdata, spearmanr

from helpers import naming
from helpers.judged import over_runs_of, run_of
from sense7.judge.scores.correlations import what_it_rests_on
from sense7.statistics.bootstrap import ParticipantBootstrap

DRAWS = 30


def lengths_of(frame, seed=5):
    """A length of each conversation that has to do with its score."""
    noise = np.random.default_rng(seed).normal(0, 40, len(frame))
    words = (100 * frame["score"].fillna(3) + noise).round(-1)
    return pd.DataFrame({"words": words.to_numpy()}, index=frame["conversation"])


def within_by_hand(rows):
    scores = []
    truths = []
    for _, own in rows.groupby("participant"):
        if len(own) > 1:
            scores += (own["score"] - own["score"].mean()).round(9).tolist()
            truths += (own["ground_truth"] - own["ground_truth"].mean()).round(9).tolist()
    return spearmanr(scores, truths).statistic


def between_by_hand(rows):
    means = rows.groupby("participant")[["score", "ground_truth"]].mean().round(9)
    return spearmanr(means["score"], means["ground_truth"]).statistic


def given_length_by_hand(rows, lengths):
    """Correlation of what is left of the ranks when those of the length are taken out by least squares."""
    length = rankdata(lengths["words"].loc[rows["conversation"]])
    design = np.column_stack([np.ones(len(rows)), length])
    left = []
    for name in ("score", "ground_truth"):
        ranks = rankdata(rows[name])
        left.append(ranks - design @ np.linalg.lstsq(design, ranks, rcond=None)[0])
    return np.corrcoef(*left)[0, 1]


def test_intervals_are_those_of_participants_copied_out():
    run = run_of(1)
    bootstrap = ParticipantBootstrap(run["participant"], DRAWS, seed=2)
    lengths = lengths_of(run)
    table = what_it_rests_on(over_runs_of([run], bootstrap, lengths=lengths))
    drawn = {name: [] for name in table.index}
    for weights in bootstrap.weights().astype(int):
        copies = []
        for name, times in zip(bootstrap.names, weights, strict=True):
            for number in range(times):
                own = run[run["participant"] == name]
                copies.append(own.assign(participant=f"{name} {number}"))
        rows = pd.concat(copies)
        drawn["within_participants"].append(within_by_hand(rows))
        drawn["between_participants"].append(between_by_hand(rows))
        drawn["given_words"].append(given_length_by_hand(rows, lengths))
    for name, values in drawn.items():
        limits = table.loc[name, ["low", "high"]].tolist()
        assert limits == pytest.approx(np.quantile(values, [0.025, 0.975]))


@pytest.mark.parametrize(
    ("frame", "row", "named"),
    [
        (run_of(1, people=40), "within_participants", "two conversations"),
        (run_of(1, people=1), "between_participants", "two participants"),
        (run_of(1).assign(score=np.nan), "within_participants", "two conversations"),
        (run_of(1).assign(score=np.nan), "given_words", "lengths"),
        (run_of(1).assign(score=3.0), "given_words", "lengths"),
    ],
)
def test_what_cannot_be_computed_says_why(frame, row, named):
    bootstrap = ParticipantBootstrap(frame["participant"], DRAWS)
    found = what_it_rests_on(over_runs_of([frame], bootstrap, lengths=lengths_of(run_of(1)))).loc[
        row
    ]
    assert np.isnan(found["estimate"])
    naming.check(found["reason"], named)
