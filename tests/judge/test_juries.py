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
    juries_of,
    jury_scores,
    jury_tables,
    krippendorff_alpha,
)
from sense7.judge.metrics import label_metrics

PEOPLE, ROWS = 8, 40
NAMES = pd.Index([f"C{row}" for row in range(ROWS)])


def run_of(seed, noise=1.0):
    truth = np.clip(np.random.default_rng(0).normal(3.4, 1.2, ROWS), 1, 5).round(2)
    score = np.clip(np.round(truth + np.random.default_rng(seed).normal(0, noise, ROWS)), 1, 5)
    return pd.DataFrame({"conversation": NAMES, "ground_truth": truth, "score": score, "status": "ok"})


@pytest.fixture(scope="module")
def people():
    return pd.Series([f"P{row % PEOPLE}" for row in range(ROWS)], index=NAMES)


@pytest.fixture(scope="module")
def bootstrap(people):
    return ParticipantBootstrap(people, 400, 1)


JUDGES = {"many": {str(seed): run_of(seed) for seed in (1, 2, 3)}, "other": {"1": run_of(9, 0.7), "2": run_of(8, 0.7)}}


def test_a_majority_takes_the_most_frequent_level_then_the_nearest_then_the_lower():
    members = np.array([[5, 1, 1], [5, 2, 5], [1, 2, np.nan], [2, 1, np.nan], [np.nan, 5, np.nan]], dtype=float)
    assert jury_scores(members, "majority").tolist() == [5, 2, 1]  # 1 and 2 twice, mean 2.2; 1 and 5 once, mean 3


def test_where_nobody_has_a_score_there_is_none():
    for rule in RULES:
        assert np.isnan(jury_scores(np.full((2, 3), np.nan), rule)).all()


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
    units = [column[np.isfinite(column)] for column in scores.T]
    units = [unit for unit in units if len(unit) > 1]
    values = np.concatenate(units)
    n = len(values)
    observed = sum(np.subtract.outer(unit, unit).__pow__(2).sum() / (len(unit) - 1) for unit in units) / n
    expected = (np.subtract.outer(values, values) ** 2).sum() / (n * (n - 1))
    return 1 - observed / expected


def test_krippendorffs_alpha_is_that_of_its_definition():
    generator = np.random.default_rng(4)
    scores = generator.integers(1, 6, (4, 30)).astype(float)
    scores[generator.random(scores.shape) < 0.2] = np.nan
    assert krippendorff_alpha(agreement_sums(scores).sum(axis=0)) == pytest.approx(double_sums(scores), abs=1e-12)


def test_krippendorffs_alpha_of_his_example():
    # Krippendorff (2011), Computing Krippendorff's Alpha-Reliability, four observers and twelve units: interval .849
    rows = ("1 2 3 3 2 1 4 1 2 . . .", "1 2 3 3 2 2 4 1 2 5 . 3", ". 3 3 3 2 3 4 2 2 5 1 .", "1 2 3 3 2 4 4 1 2 5 1 .")
    scores = np.array([[np.nan if cell == "." else float(cell) for cell in row.split()] for row in rows])
    assert round(float(krippendorff_alpha(agreement_sums(scores).sum(axis=0))), 3) == 0.849


def test_scores_that_are_all_the_same_have_no_alpha():
    assert np.isnan(krippendorff_alpha(agreement_sums(np.full((3, 5), 4.0)).sum(axis=0)))


def test_juries_are_of_the_runs_of_each_judge_and_of_all_judges():
    found = {jury.name: jury for jury in juries_of(JUDGES, NAMES, "median")}
    assert list(found) == ["many: median of 3 runs", "other: median of 2 runs", "median of 2 judges"]
    assert [len(jury.members) for jury in found.values()] == [3, 2, 2]
    assert [len(jury.runs) for jury in found.values()] == [1, 1, 2]  # as many as the judge with the fewest
    first = [JUDGES[judge]["1"]["score"] for judge in JUDGES]
    assert found["median of 2 judges"].runs["1"]["score"].tolist() == np.median(first, axis=0).tolist()


def test_one_run_of_one_judge_is_no_jury_and_a_rule_has_to_be_one():
    with pytest.raises(UserError, match="one run of one judge is no jury"):
        juries_of({"a": {"1": run_of(1)}}, NAMES, "mean")
    with pytest.raises(UserError, match=r"--jury vote: no such rule\. Give one of mean, median, majority"):
        juries_of(JUDGES, NAMES, "vote")


def test_gains_are_those_of_the_metrics_and_positive_where_the_jury_is_better(people, bootstrap):
    tables = jury_tables(juries_of(JUDGES, NAMES, "mean"), people, bootstrap)
    frame, runs = run_of(1), list(JUDGES["many"].values())
    together = np.mean([run["score"] for run in runs], axis=0)
    jury = label_metrics(frame["ground_truth"], together)["estimate"]
    members = [label_metrics(run["ground_truth"], run["score"])["estimate"] for run in runs]
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


def test_a_jury_of_judges_pays_by_its_gain_over_the_best(people, bootstrap):
    table = jury_tables(juries_of(JUDGES, NAMES, "mean"), people, bootstrap)["gains"].loc["mean of 2 judges"]
    assert table["per_call"].to_numpy() == pytest.approx(table["over_best"].to_numpy())


def test_a_jury_of_the_same_run_again_is_worth_nothing(people, bootstrap):
    same = {"a": {"1": run_of(1), "2": run_of(1)}}
    tables = jury_tables(juries_of(same, NAMES, "mean"), people, bootstrap)
    assert tables["agreement"]["estimate"].tolist() == [1]
    assert (tables["gains"]["estimate"] == 0).all()
    assert (tables["gains"]["p"] == 1).all()
    assert not tables["gains"]["worth"].any()


def test_what_a_call_has_to_bring_decides(people, bootstrap):
    noisy = {"a": {str(seed): run_of(seed, 1.5) for seed in range(6)}}
    juries = juries_of(noisy, NAMES, "mean")
    cheap = jury_tables(juries, people, bootstrap)["gains"]["worth"]
    dear = jury_tables(juries, people, bootstrap, worth=1.0)["gains"]["worth"]
    assert cheap.any()
    assert not dear.any()


def test_without_participants_there_is_a_gain_and_no_test(people):
    tables = jury_tables(juries_of(JUDGES, NAMES, "mean"), people, None)
    assert tables["gains"]["estimate"].notna().all()
    assert tables["gains"][["low", "p", "per_call_low"]].isna().all(axis=None)
    assert not tables["gains"]["worth"].any()


def test_a_member_whose_metric_is_undefined_is_not_the_best(people, bootstrap):
    constant = run_of(1).assign(score=3.0)
    judges = {"constant": {"1": constant}, "a": {"1": run_of(1)}, "b": {"1": run_of(2)}}
    row = jury_tables(juries_of(judges, NAMES, "median"), people, bootstrap)["gains"].loc[
        ("median of 3 judges", "spearman")
    ]
    assert row["best"] in ("a", "b")
    assert np.isfinite(row["over_best"])
    assert np.isnan(row["estimate"])
    assert row["reason"]
