"""The judges of an edition, compared for a page: with a judge, with several, and without any."""

import numpy as np
import pytest

from sense7.estimators.bootstrap import ParticipantBootstrap
from sense7.judge.scoring import compared
from sense7.judge.scoring.available_judges import Judges, read_runs
from sense7.judge.scoring.baselines import baseline_predictions
from sense7.loading import load
from sense7.tables import Sentence


@pytest.fixture(scope="module")
def study():
    return load("synthetic")


@pytest.fixture(scope="module")
def bootstrap(study):
    return ParticipantBootstrap(study.conversations["participant"], 1000, 1)


@pytest.fixture(scope="module")
def judges(study):
    return read_runs(study)


@pytest.fixture(scope="module")
def found(study, judges, bootstrap):
    baselines = baseline_predictions(study, names=("majority label", "own mean", "words per turn"))
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
    error = found.differences["mean_absolute_error"]
    assert counts["compared_worse_error"] == ((error["p_holm"] < 0.05) & (error["estimate"] > 0)).sum() > 0


def test_the_page_counts_conversations_that_all_have(found):
    row = found.counts.loc["compared"]
    assert row["estimate"] == found.comparison.shared < row["n"] == found.comparison.conversations
    assert found.left_out().loc["simulated-judge", "runs"] == "10"
    assert list(found.panels()) == [
        "Spearman: right of zero the judge is better",
        "accuracy: right of zero the judge is better",
        "MAE: left of zero the judge is better",
    ]


def test_juries_of_the_runs_have_keys_and_are_corrected_over_all_rules(found, judges, bootstrap):
    juries = compared.juries_of_edition(judges, bootstrap, found)
    assert juries.agreement["key"].tolist() == ["jury_runs_alpha"]
    gains = juries.gains
    assert gains["key"].tolist()[:2] == ["jury_runs_mean_accuracy", "jury_runs_mean_error"]
    assert gains["key"].nunique() == len(gains) == 12
    by_metric = gains.xs("accuracy", level="metric")
    assert (by_metric["p_holm"] >= by_metric["p"]).all()
    assert (by_metric["p_holm"] > by_metric["p"]).any()
    words = compared.gains_in_words(gains)
    assert set(words["worth its calls"]) <= {"yes", "not shown"}


def test_several_judges_form_a_jury_of_judges_too(study, judges, bootstrap):
    runs = judges["simulated-judge"]
    first, second = list(runs.items())[:2]
    two = Judges({"a": dict([first]), "b": dict([second])}, {})
    pair = compared.compare_edition(two, "a", {}, bootstrap)
    assert pair.differences["accuracy"].index.tolist() == ["b"]
    juries = compared.juries_of_edition(two, bootstrap, pair)
    assert set(juries.gains.index.get_level_values("jury")) == {f"{rule} of 2 judges" for rule in compared.RULES}
    assert set(juries.gains["key"]) == {""}  # of no judge's runs


def test_without_a_judge_every_key_is_there_with_its_reason(found, judges, bootstrap):
    empty = compared.compare_edition({}, "", {}, bootstrap)
    assert empty.reason == "no predictions of a judge are available"
    assert empty.counts["key"].tolist() == found.counts["key"].tolist()
    assert set(empty.counts["reason"]) == {empty.reason}
    assert empty.left_out().empty
    juries = compared.juries_of_edition({}, bootstrap, empty)
    of_the_page = set(compared.juries_of_edition(judges, bootstrap, found).gains["key"])
    assert set(juries.gains["key"]) == of_the_page
    assert juries.agreement["reason"].tolist() == [empty.reason]
    from sense7.figures import forest

    assert isinstance(forest(empty.panels(), name="x", caption="none"), Sentence)


def test_one_judge_of_one_run_without_baselines_says_what_is_lacking(judges, bootstrap):
    alone = Judges({"a": dict(list(judges["simulated-judge"].items())[:1])}, {})
    found = compared.compare_edition(alone, "a", {}, bootstrap)
    assert "a comparison needs at least two judges" in found.reason
    assert np.isnan(found.counts["estimate"]).all()


def test_resamples_too_few_for_a_decision_are_said_to_be(study, judges):
    few = ParticipantBootstrap(study.conversations["participant"], 60, 1)
    baselines = baseline_predictions(study, names=("own mean", "words per turn"))
    counts = compared.compare_edition(judges, "simulated-judge", baselines, few).counts.set_index("key")
    assert counts.loc["compared_worse_spearman", "reason"] == "too few resamples (60) to decide on 2 pairs"
    assert counts.loc["compared_conversations", "estimate"] > 0
