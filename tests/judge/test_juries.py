"""Juries: their scores, agreement among members, and gains over these."""

from itertools import permutations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sense7.errors import UserError
from sense7.estimators.bootstrap import ParticipantBootstrap
from sense7.judge.comparison import (
    GAIN_METRICS,
    RULES,
    agreement_sums,
    compare_judges,
    jury_scores,
    jury_tables,
    krippendorff_alpha,
)
from sense7.judge.metrics import run_metrics

PEOPLE, ROWS = 8, 40
NAMES = pd.Index([f"C{row}" for row in range(ROWS)])


def run_of(seed, noise=1.0):
    truth = np.clip(np.random.default_rng(0).normal(3.4, 1.2, ROWS), 1, 5).round(2)
    score = np.clip(np.round(truth + np.random.default_rng(seed).normal(0, noise, ROWS)), 1, 5)
    people = [f"P{row % PEOPLE}" for row in range(ROWS)]
    return pd.DataFrame({"conversation": NAMES, "participant": people, "ground_truth": truth, "score": score})


@pytest.fixture(scope="module")
def bootstrap():
    return ParticipantBootstrap([f"P{number}" for number in range(PEOPLE)], 200, 1)


def tables_of(judges, rule, bootstrap, worth=0.0):
    compared = compare_judges(judges, bootstrap, references={"baseline": {"1": run_of(5)}})
    return jury_tables(compared, list(judges), rule, bootstrap, worth)


JUDGES = {"many": {str(seed): run_of(seed) for seed in (1, 2, 3)}, "other": {"1": run_of(9, 0.7), "2": run_of(8, 0.7)}}


def test_a_majority_takes_the_most_frequent_level_then_the_nearest_then_the_lower():
    members = np.array([[5, 1, 1], [5, 2, 5], [1, 2, 1], [2, 1, 5], [2, 5, 3]], dtype=float)
    assert jury_scores(members, "majority").tolist() == [2, 2, 1]  # 5 and 2 twice, mean 3; 1 and 5 twice, mean 3


levels = st.lists(st.lists(st.integers(1, 5), min_size=3, max_size=3), min_size=1, max_size=6)


@given(levels)
def test_the_order_of_members_does_not_matter_and_unanimous_members_are_followed(rows):
    members = np.array(rows, dtype=float).T
    for rule in RULES:
        score = jury_scores(members, rule)
        for order in permutations(range(3)):
            np.testing.assert_allclose(jury_scores(members[list(order)], rule), score)
        assert (score >= members.min(axis=0) - 1e-12).all()
        assert (score <= members.max(axis=0) + 1e-12).all()


def double_sums(scores):
    """Krippendorff's alpha by the sums of its definition."""
    units, values = list(scores.T), scores.ravel()
    n = len(values)
    observed = sum(np.subtract.outer(unit, unit).__pow__(2).sum() / (len(unit) - 1) for unit in units) / n
    expected = (np.subtract.outer(values, values) ** 2).sum() / (n * (n - 1))
    return 1 - observed / expected


def test_krippendorffs_alpha_is_that_of_its_definition():
    scores = np.random.default_rng(4).integers(1, 6, (4, 30)).astype(float)
    assert krippendorff_alpha(agreement_sums(scores).sum(axis=0)) == pytest.approx(double_sums(scores), abs=1e-12)


def test_juries_are_of_the_runs_of_each_judge_and_of_all_judges(bootstrap):
    found = tables_of(JUDGES, "median", bootstrap)
    names = ["many: median of 3 runs", "other: median of 2 runs", "median of 2 judges"]
    assert found["agreement"].index.tolist() == names
    assert [text[-9] for text in found["agreement"]["method"].str.partition(";")[0]] == ["3", "2", "2"]
    accuracies = []  # of as many runs as the judge with the fewest
    for first, second in zip(*(runs.values() for runs in JUDGES.values()), strict=False):
        together = np.median([first["score"], second["score"]], axis=0)
        accuracies.append((np.rint(together) == np.rint(first["ground_truth"])).mean())
    gains = found["gains"].loc[("median of 2 judges", "accuracy")]
    mean = compare_judges(JUDGES, bootstrap).judges[gains["best"]].mean.loc["accuracy", "estimate"]
    assert gains["over_best"] == pytest.approx(np.mean(accuracies) - mean, abs=1e-12)


def test_one_run_of_one_judge_is_no_jury_and_a_rule_has_to_be_one(bootstrap):
    with pytest.raises(UserError, match="one run of one judge is no jury"):
        tables_of({"a": {"1": run_of(1)}}, "mean", bootstrap)
    with pytest.raises(UserError, match=r"--jury vote: no such rule\. Give one of mean, median, majority"):
        tables_of(JUDGES, "vote", bootstrap)


def test_gains_are_those_of_the_metrics_and_positive_where_the_jury_is_better(bootstrap):
    tables = tables_of(JUDGES, "mean", bootstrap)
    frame, runs = run_of(1), list(JUDGES["many"].values())
    together = np.mean([run["score"] for run in runs], axis=0)
    jury = run_metrics(frame.assign(score=together))["estimate"]
    members = [run_metrics(run)["estimate"] for run in runs]
    members = pd.concat(members, axis=1)
    table = tables["gains"].loc["many: mean of 3 runs"]
    for metric in GAIN_METRICS:
        sign = -1 if metric == "mean_absolute_error" else 1
        gain = sign * (jury[metric] - members.loc[metric].mean())
        best = (sign * members.loc[metric]).max()
        assert table.loc[metric, "estimate"] == pytest.approx(gain, abs=1e-12)
        assert table.loc[metric, "over_best"] == pytest.approx(sign * jury[metric] - best, abs=1e-12)
        assert table.loc[metric, "per_call"] == pytest.approx(gain / 2, abs=1e-12)
        assert table.loc[metric, "per_call_low"] < table.loc[metric, "per_call"]
    assert table.loc["mean_absolute_error", "estimate"] > 0


def test_a_jury_of_judges_pays_by_its_gain_over_the_best(bootstrap):
    table = tables_of(JUDGES, "mean", bootstrap)["gains"].loc["mean of 2 judges"]
    assert table["per_call"].to_numpy() == pytest.approx(table["over_best"].to_numpy())


def test_a_jury_of_the_same_run_again_is_worth_nothing(bootstrap):
    same = {"a": {"1": run_of(1), "2": run_of(1)}}
    tables = tables_of(same, "mean", bootstrap)
    assert tables["agreement"]["estimate"].tolist() == [1]
    assert (tables["gains"]["estimate"] == 0).all()
    assert (tables["gains"]["p"] == 1).all()
    assert not tables["gains"]["worth"].any()


def test_what_a_call_has_to_bring_decides(bootstrap):
    noisy = {"a": {str(seed): run_of(seed, 1.5) for seed in range(6)}}
    cheap, dear = (tables_of(noisy, "mean", bootstrap, worth)["gains"]["worth"] for worth in (0.0, 1.0))
    assert cheap.any()
    assert not dear.any()


def test_without_participants_there_is_a_gain_and_no_test():
    tables = tables_of(JUDGES, "mean", None)
    assert tables["gains"]["estimate"].notna().all()
    assert tables["gains"][["low", "p", "per_call_low"]].isna().all(axis=None)
    assert not tables["gains"]["worth"].any()


def test_a_member_whose_metric_is_undefined_is_not_the_best(bootstrap):
    constant = run_of(1).assign(score=3.0)
    judges = {"constant": {"1": constant}, "a": {"1": run_of(1)}, "b": {"1": run_of(2)}}
    row = tables_of(judges, "median", bootstrap)["gains"].loc[("median of 3 judges", "spearman")]
    assert row["best"] in ("a", "b")
    assert np.isfinite(row["over_best"])
    assert np.isnan(row["estimate"])
    assert row["reason"]
