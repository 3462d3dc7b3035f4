"""The judge of a page: the tables and their keys, its correlation in every specification."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import spearmanr

from helpers.studies import bootstrap_of
from sense7.findings import robustness
from sense7.findings.ground_truth import ground_truth, labels
from sense7.judge.scores import performance
from sense7.judge.scores.judges import ABSENT
from sense7.judge.scores.performance import facts, judge_multiverse
from sense7.taxonomy import DIMENSION_NAMES, SIMULATED_WORDS

JUDGE = "simulated-judge"


def test_without_predictions_every_table_says_so(study):
    nobody = performance.shown_judge({}, "", bootstrap_of(study))
    for name in performance.TABLES:
        table = performance.judge_table(nobody, name)
        assert set(table["reason"]) == {ABSENT}
        assert table[["estimate", "low", "high"]].isna().all(axis=None)
    assert {(fact["estimate"], fact["reason"]) for fact in facts({}, nobody)} == {(None, ABSENT)}
    table = judge_multiverse(study, {}, "", bootstrap_of(study))
    assert set(table["reason"]) == {ABSENT}
    assert robustness.summary(table, "judge_spearman", 0.369)["reason"].str.endswith(ABSENT).all()


def test_the_interval_of_a_false_positive_rate_mirrors_that_of_the_specificity():
    specificity = {"estimate": 0.9, "low": 0.8, "high": 0.95, "method": "mean over runs"}
    metrics = pd.DataFrame(specificity, index=["specificity_5"])
    rates = performance.recall_and_false_positive_rate(metrics)["all other conversations"]
    found = rates.loc["5", ["estimate", "low", "high"]].tolist()
    assert found == pytest.approx([0.1, 0.05, 0.2])


# The multiverse of a judge's correlation


@pytest.fixture(scope="module")
def table(study, judges):
    return judge_multiverse(study, judges, JUDGE, bootstrap_of(study, 40))


def truth_of(study, way):
    truth = ground_truth(study.turns, study.conversations["conversation"])
    if way != "all ratings pooled":
        return pd.Series(labels(truth), truth.index) if way == "the same as a level" else truth
    seven, of = study.turns[list(DIMENSION_NAMES)], study.turns["conversation"]
    pooled = (
        seven.sum(axis=1).groupby(of).sum() / seven.notna().sum(axis=1).groupby(of).sum()
    ).reindex(truth.index)
    # The order of a sum parts no equal values, and none from the authors' own.
    pooled = pooled.round(12)
    return pooled.mask((pooled - truth).abs() <= 1e-9, truth)


def by_scipy(study, judges, choice):
    truth = truth_of(study, choice["ground truth"])
    runs = {name: run.table.set_index("conversation") for name, run in judges[JUDGE].items()}
    scores = pd.DataFrame({name: run["score"] for name, run in runs.items()})
    if choice["replies without a score"] == "counted as 3":
        for name, run in runs.items():
            told = run["authors_score"].fillna(run["score"])
            scores[name] = told.where(told.notna() | (run["status"] == "unstated"), 3.0)
    if choice["runs"] == "first run":
        scores = scores.iloc[:, :1]
    if choice["runs"].startswith("median"):
        scores = scores.median(axis=1).to_frame()
    return np.mean(
        [
            spearmanr(score.round(9), truth.round(9), nan_policy="omit").statistic
            for _, score in scores.items()
        ]
    )


def test_every_specification_equals_scipys_and_the_first_is_that_of_the_page(study, judges, table):
    expected = [by_scipy(study, judges, choice) for choice in table.to_dict("records")]
    np.testing.assert_allclose(table["estimate"], expected, rtol=0, atol=1e-12)
    assert table["estimate"].nunique() == len(table)
    assert table["method"].str.startswith(SIMULATED_WORDS).all()
    summary = robustness.summary(table, "judge_spearman", 0.369)
    assert summary["method"].str.startswith(SIMULATED_WORDS).all()
    shown = performance.shown_judge(judges, JUDGE, bootstrap_of(study, 40))
    page = performance.judge_table(shown, "metrics").loc["spearman"]
    for name in ("estimate", "low", "high", "n"):
        assert table.loc[1, name] == pytest.approx(page[name], abs=1e-12)
