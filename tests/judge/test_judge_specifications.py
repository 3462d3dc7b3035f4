"""The judge's multiverse: each specification by pandas and scipy, the first that of the page on the judge."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import spearmanr

import sense7 as s7
from sense7.findings.ground_truth import labels
from sense7.judge.judges import ABSENT, detail, judge_multiverse
from sense7.taxonomy import DIMENSION_NAMES, SIMULATED_WORDS

JUDGE = "simulated-judge"


@pytest.fixture(scope="module")
def bootstrap(study):
    return s7.ParticipantBootstrap(study.conversations["participant"], draws=40, seed=1)


@pytest.fixture(scope="module")
def table(study, judges, bootstrap):
    return judge_multiverse(study, judges, JUDGE, bootstrap)


def truth_of(study, way):
    truth = s7.ground_truth(study.turns, study.conversations["conversation"])
    if way != "all ratings pooled":
        return pd.Series(labels(truth), truth.index) if way == "the same as a level" else truth
    seven = study.turns[list(DIMENSION_NAMES)]
    of = study.turns["conversation"]
    pooled = (seven.sum(axis=1).groupby(of).sum() / seven.notna().sum(axis=1).groupby(of).sum()).reindex(truth.index)
    # The order of a sum parts no equal values, and none from the authors' own.
    pooled = pooled.round(12)
    return pooled.mask((pooled - truth).abs() <= 1e-9, truth)


def by_scipy(study, judges, choice):
    truth = truth_of(study, choice["ground truth"])
    scores = pd.DataFrame({name: run.set_index("conversation")["score"] for name, run in judges[JUDGE].items()})
    if choice["replies without a score"] == "counted as 3":
        authors = {name: run.set_index("conversation") for name, run in judges[JUDGE].items()}
        for name, run in authors.items():
            told = run["authors_score"].fillna(run["score"])
            scores[name] = told.where(told.notna() | (run["status"] == "unstated"), 3.0)
    if choice["runs"] == "first run":
        scores = scores.iloc[:, :1]
    if choice["runs"].startswith("median"):
        scores = scores.median(axis=1).to_frame()
    found = []
    for score in scores.T.to_numpy():
        both = np.isfinite(score) & np.isfinite(truth.to_numpy())
        found.append(spearmanr(np.round(truth[both], 9), np.round(score[both], 9)).statistic)
    return np.mean(found)


def test_every_specification_equals_scipys(study, judges, table):
    expected = [by_scipy(study, judges, choice) for choice in table.to_dict("records")]
    np.testing.assert_allclose(table["estimate"], expected, rtol=0, atol=1e-12)
    assert table["estimate"].nunique() == len(table)


def test_the_first_specification_is_that_of_the_page(judges, bootstrap, table):
    page = detail(judges, JUDGE, bootstrap).mean.loc["spearman"]
    for name in ("estimate", "low", "high"):
        assert table.loc[1, name] == pytest.approx(page[name], abs=1e-12)
    assert (table.loc[1, "n"], table.loc[1, "unit"]) == (page["n"], page["unit"])


def test_a_simulated_judge_is_called_so_in_every_value(table):
    assert table["method"].str.startswith(SIMULATED_WORDS).all()
    summary = s7.robustness.summary(table, "judge_spearman", 0.369)
    assert summary["method"].str.startswith(SIMULATED_WORDS).all()


def test_without_predictions_every_specification_says_so(study, bootstrap):
    table = judge_multiverse(study, {}, "", bootstrap)
    assert table["estimate"].isna().all()
    assert set(table["reason"]) == {ABSENT}
    summary = s7.robustness.summary(table, "judge_spearman", 0.369)
    assert summary["reason"].str.endswith(ABSENT).all()


def test_scores_that_do_not_vary_have_no_correlation(study, judges, bootstrap):
    run = next(iter(judges[JUDGE].values()))
    table = judge_multiverse(study, {"one": {"one": run.assign(score=3.0, status="ok")}}, "one", bootstrap)
    assert table["estimate"].isna().any()
    assert (table.loc[table["estimate"].isna(), "reason"] != "").all()


def test_of_few_participants_there_is_no_interval(study, judges):
    few = study.subset(participants=study.conversations["participant"].unique()[:3])
    kept = set(few.conversations["conversation"])
    runs = {name: run[run["conversation"].isin(kept)].reset_index(drop=True) for name, run in judges[JUDGE].items()}
    bootstrap = s7.ParticipantBootstrap(few.conversations["participant"], draws=40, seed=1)
    table = judge_multiverse(few, {"one": runs}, "one", bootstrap)
    assert table["estimate"].notna().all()
    assert table["low"].isna().all()
    assert (table["reason"] != "").all()
