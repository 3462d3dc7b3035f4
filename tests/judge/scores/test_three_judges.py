"""Three real judges: all 252 published values, known answers, and numbers against a naive computation."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import spearmanr

from sense7.judge.scores import three_judges
from sense7.judge.scores.three_judges import ALL, corpus_bootstrap
from sense7.sources.released import CORPORA, EXPERTS, JUDGES, published_agreement
from sense7.statistics.estimates import holm

DRAWS = 16
MEASURES = ("agreement", "level", "left_out", "error")


@pytest.fixture(scope="module")
def judged():
    return three_judges.ratings()


@pytest.fixture(scope="module")
def bootstrap(judged):
    return corpus_bootstrap(judged, draws=DRAWS, seed=1)


@pytest.fixture(scope="module")
def tables(judged, bootstrap):
    return three_judges.tables(judged, bootstrap)


# The published values


def test_every_published_value_stands_once_and_is_reproduced(judged):
    agreement = three_judges.agreement_table(judged)
    keys = ["corpus", "question", "first", "second"]
    assert agreement["corpus"].unique().tolist() == list(CORPORA)
    published = published_agreement().set_index(keys).sort_index()
    for measure in ("spearman", "kappa"):
        found = agreement.set_index(keys)[f"{measure}_published"].sort_index()
        pd.testing.assert_series_equal(found, published[measure], check_names=False)
        assert agreement[measure].round(2).tolist() == pytest.approx(
            agreement[f"{measure}_published"].tolist()
        )
        hundredths = 100 * agreement[measure]  # none depends on how a half is rounded
        assert (hundredths - np.floor(hundredths) - 0.5).abs().min() > 1e-3


# Resampling


def copied_out(judged, bootstrap, draw):
    """The rows of one resample, each as often as it was taken."""
    times = bootstrap.weights()[draw].astype(int)[bootstrap.codes(judged["conversation"])]
    return judged.loc[judged.index.repeat(times)]


def naive(group, statistic, rater):
    """The statistics as they are defined, without any weights."""
    width = (group["highest"] - group["lowest"]).iloc[0]
    if statistic == "agreement":
        return spearmanr(group[rater], np.median(group[list(EXPERTS)], axis=1)).statistic
    if statistic == "level":
        return np.mean((group[rater] - np.mean(group[list(EXPERTS)], axis=1)) / width)
    found = []
    for left_out in EXPERTS:
        a, b = (expert for expert in EXPERTS if expert != left_out)
        target = (group[a] + group[b]) / 2
        own = group[left_out] if rater == "expert" else group[rater]
        error = np.mean(np.abs(own - target)) / width
        found.append(error if statistic == "error" else spearmanr(own, target).statistic)
    return np.mean(found)


def test_intervals_are_those_of_resampled_conversations(judged, bootstrap):
    """Copying out the conversations of every resample gives the same limits: of one corpus, and of a difference."""
    statistics = three_judges.by_question(judged, bootstrap)
    drawn = {name: [] for name in MEASURES}
    other = {"agreement": "claude", "level": "claude", "left_out": "expert", "error": "expert"}
    for draw in range(DRAWS):
        rows = copied_out(judged[judged["corpus"] == "epitome"], bootstrap, draw)
        own = [group for _, group in rows.groupby("question")]
        for name, found in drawn.items():
            gemini, second = (
                np.mean([naive(group, name, rater) for group in own])
                for rater in ("gemini", other[name])
            )
            found.append([gemini, gemini - second])
    for name, found in drawn.items():
        expected = np.quantile(found, [0.025, 0.975], axis=0).T
        (difference,) = statistics[name].minus([("gemini", other[name])]).by_corpus().values()
        for table, limits in zip(
            (statistics[name].by_corpus()["Gemini 2.5 Pro"], difference), expected, strict=True
        ):
            row = table.loc["EPITOME", ["low", "high"]].astype(float)
            np.testing.assert_allclose(row, limits, atol=1e-12)


# Experts, models, juries


def test_differences_and_gains_of_a_jury_are_those_of_nearness(judged, tables):
    groups = dict(iter(judged.groupby(["corpus", "question"], sort=False)))
    mean = {
        rater: np.mean([naive(group, "left_out", rater) for group in groups.values()])
        for rater in (*JUDGES, "jury")
    }
    pd.testing.assert_series_equal(
        judged["jury"], judged[["gpt", "claude", "gemini"]].mean(axis=1), check_names=False
    )
    differences, gains = (
        tables["more"]["differences"],
        tables["more"]["gains"].set_index("key")["estimate"],
    )
    row = differences.loc["GPT-4o minus Claude 3.7 Sonnet"]
    assert row["estimate"] == pytest.approx(mean["gpt"] - mean["claude"], abs=1e-12)
    assert row["key"] == "real_difference_spearman_gpt_minus_claude"
    np.testing.assert_allclose(differences["p_holm"], holm(differences["p"]))
    alpha = tables["more"]["alpha"].iloc[0]
    assert (alpha["key"], alpha["n"]) == ("real_jury_alpha", 200)
    models = [mean[judge] for judge in JUDGES]
    assert gains["real_jury_mean_over_mean_spearman"] == pytest.approx(
        mean["jury"] - np.mean(models)
    )
    assert gains["real_jury_mean_over_best_spearman"] == pytest.approx(mean["jury"] - max(models))


@pytest.mark.parametrize(
    ("judge", "accuracy"), [("gpt", 0.5267), ("claude", 0.5733), ("gemini", 0.6533)]
)
def test_the_accuracy_that_others_computed(tables, judge, accuracy):
    """Computed independently of this project, by the official conventions: see data/README.md."""
    row = tables["accuracy"][JUDGES[judge]].loc["accuracy"]
    assert (row["n"], row["estimate"].round(4)) == (150, accuracy)
    assert row["unit"]


# Small examples by hand


VERDICTS = {
    "lower": (-0.2, -0.01),
    "not": (-0.2, 0.1),
    "higher": (0.01, 0.2),
    "not distinguished": (-0.1, 0.0),
    "no": (np.nan, np.nan),
}


@pytest.mark.parametrize("verdict", VERDICTS)
def test_a_verdict_follows_the_interval(judged, verdict):
    low, high = VERDICTS[verdict]
    row = {"estimate": 0.0, "low": low, "high": high, "n": 200, "method": "difference"}
    gaps = {}
    for model in JUDGES.values():
        gaps[f"{model} minus expert left out"] = pd.DataFrame(row, index=[ALL])
    found = {row["key"]: row["estimate"] for row in three_judges.facts(judged, {"gaps": gaps})}
    for judge in JUDGES:
        assert found[f"three_judges_standing_{judge}"].startswith(f"{verdict} ")
    assert found["three_judges_questions"] == 21
