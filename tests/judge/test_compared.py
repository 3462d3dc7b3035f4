"""The judges of an edition, compared for a page: with a judge, with several, and without any."""

import numpy as np
import pytest
from scipy.stats import spearmanr

from sense7.estimators.bootstrap import ParticipantBootstrap
from sense7.judge import comparison as compared
from sense7.judge.baselines import baseline_predictions
from sense7.judge.judges import Judges, read_runs
from sense7.loading import load
from sense7.tables import Sentence


@pytest.fixture(scope="module")
def study():
    return load("synthetic")


@pytest.fixture(scope="module")
def bootstrap(study):
    return ParticipantBootstrap(study.conversations["participant"], 300, 1)


@pytest.fixture(scope="module")
def judges(study):
    (runs,) = read_runs(study).values()
    few = dict(list(runs.items())[:3])
    return Judges({"simulated-judge": few}, {}, {"simulated-judge": []})


@pytest.fixture(scope="module")
def baselines(study):
    return baseline_predictions(study, names=("majority label", "own mean", "words per turn"))


@pytest.fixture(scope="module")
def found(judges, baselines, bootstrap):
    return compared.compare_edition(judges, "simulated-judge", baselines, bootstrap)


def test_a_judge_is_compared_with_every_baseline_and_outcomes_are_counted(found):
    table = found.differences["spearman"]
    assert table.index.tolist() == ["baseline: majority label", "baseline: own mean", "baseline: words per turn"]
    assert table["key"].tolist()[1] == "compared_spearman_baseline-own-mean"
    assert table["method"].str.startswith("simulated judge: ").all()
    counts = found.counts.set_index("key")["estimate"]
    decided = table["p_holm"] < 0.05
    assert counts["compared_worse_spearman"] == (decided & (table["estimate"] < 0)).sum() == 2
    outcomes = [counts[f"compared_{outcome}_spearman"] for outcome in ("better", "worse", "undecided")]
    assert sum(outcomes) == table["p_holm"].notna().sum()  # the majority label orders nothing
    assert table["key"].tolist()[0] == ""


def test_the_page_counts_conversations_that_all_have(found):
    row = found.counts.loc["compared"]
    assert row["estimate"] == found.shared < row["n"] == found.conversations
    assert found.left_out.loc["simulated-judge", "runs"] == 3
    assert list(found.panels()) == [
        "Spearman: right of zero the judge is better",
        "accuracy: right of zero the judge is better",
    ]


def test_the_jury_of_the_runs_is_their_mean_score(found, judges, bootstrap):
    table = compared.jury_of_runs(judges, bootstrap, found)
    assert table["key"].tolist() == ["jury_runs_mean_spearman", "jury_runs_mean_accuracy"]
    assert table["method"].str.startswith("simulated judge: ").all()
    names = found.people.index
    runs = [frame.set_index("conversation").loc[names] for frame in judges["simulated-judge"].values()]
    truth = runs[0]["ground_truth"].round(9)  # equal means are ties
    scores = np.stack([run["score"].to_numpy(dtype=float) for run in runs])
    each = [spearmanr(score, truth).statistic for score in scores]
    gain = spearmanr(scores.mean(axis=0).round(9), truth).statistic - np.mean(each)
    assert table.loc["Spearman", "estimate"] == pytest.approx(gain)


def test_one_run_is_no_jury(judges, bootstrap):
    first, second = list(judges["simulated-judge"].items())[:2]
    two = Judges({"a": dict([first]), "b": dict([second])}, {})
    pair = compared.compare_edition(two, "a", {}, bootstrap)
    assert pair.differences["accuracy"].index.tolist() == ["b"]
    assert set(compared.jury_of_runs(two, bootstrap, pair)["reason"]) == {"one run of one judge is no jury"}


def test_without_a_judge_every_key_is_there_with_its_reason(found, judges, bootstrap):
    empty = compared.compare_edition({}, "", {}, bootstrap)
    assert empty.reason == "no predictions of a judge are available"
    assert empty.counts["key"].tolist() == found.counts["key"].tolist()
    assert set(empty.counts["reason"]) == {empty.reason}
    assert empty.left_out.empty
    jury = compared.jury_of_runs({}, bootstrap, empty)
    assert jury["key"].tolist() == ["jury_runs_mean_spearman", "jury_runs_mean_accuracy"]
    assert set(jury["reason"]) == {empty.reason}
    from sense7.figures import forest

    assert isinstance(forest(empty.panels(), name="x", caption="none"), Sentence)


def test_one_judge_of_one_run_without_baselines_says_what_is_lacking(judges, bootstrap):
    alone = Judges({"a": dict(list(judges["simulated-judge"].items())[:1])}, {})
    found = compared.compare_edition(alone, "a", {}, bootstrap)
    assert "a comparison needs at least two judges" in found.reason
    assert np.isnan(found.counts["estimate"]).all()


def test_resamples_too_few_for_a_decision_are_said_to_be(study, judges, baselines):
    few = ParticipantBootstrap(study.conversations["participant"], 60, 1)
    counts = compared.compare_edition(judges, "simulated-judge", baselines, few).counts.set_index("key")
    assert counts.loc["compared_worse_spearman", "reason"] == "too few resamples (60) to decide on 2 pairs"
    assert counts.loc["compared_conversations", "estimate"] > 0
