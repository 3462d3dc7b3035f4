"""Three real judges: all 252 published values, known answers, and numbers against a naive computation."""

from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from scipy.stats import spearmanr
from sklearn.metrics import cohen_kappa_score

from sense7.judge.scores import three_judges
from sense7.judge.scores.comparison import agreement_sums, krippendorff_alpha
from sense7.judge.scores.three_judges import ALL, EPSILON, corpus_bootstrap
from sense7.sources.released import CORPORA, EXPERTS, JUDGES, PERSON, published_agreement
from sense7.statistics.alternative_annotator import alternative_test, benjamini_yekutieli, wins
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
def agreement(judged):
    return three_judges.agreement_table(judged)


@pytest.fixture(scope="module")
def statistics(judged, bootstrap):
    return three_judges.by_question(judged, bootstrap)


@pytest.fixture(scope="module")
def tables(judged, bootstrap):
    return three_judges.tables(judged, bootstrap)


@pytest.fixture(scope="module")
def groups(judged):
    return dict(iter(judged.groupby(["corpus", "question"], sort=False)))


# The published values


def test_every_published_value_stands_once_and_is_reproduced(agreement):
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


def test_computed_values_are_those_of_scipy_and_scikit_learn(groups, agreement):
    for row in agreement.itertuples():
        both = [groups[row.corpus, row.question][name] for name in (row.first, row.second)]
        assert row.spearman == pytest.approx(spearmanr(*both).statistic, abs=1e-12)
        classes = (np.rint(100 * one).astype(int) for one in both)
        assert row.kappa == pytest.approx(
            cohen_kappa_score(*classes, weights="quadratic"), abs=1e-12
        )
        assert row.n == 50


# Resampling


def copied_out(judged, bootstrap, draw):
    """The rows of one resample, each as often as it was taken."""
    times = bootstrap.weights()[draw].astype(int)[bootstrap.codes(judged["conversation"])]
    return judged.loc[judged.index.repeat(times)]


def test_corpora_are_resampled_whole_independently_and_by_the_seed(judged, bootstrap):
    def weights_of(bootstrap):
        return [
            bootstrap.weights()[:, bootstrap.codes(own.unique())]
            for _, own in judged.groupby("corpus")["conversation"]
        ]

    weights, other = weights_of(bootstrap), weights_of(corpus_bootstrap(judged, DRAWS, 2))
    assert all((own.sum(axis=1) == 50).all() for own in weights)
    assert not any(
        np.array_equal(first, second) for first, second in combinations([*weights, *other], 2)
    )
    assert np.array_equal(corpus_bootstrap(judged, DRAWS, 1).weights(), bootstrap.weights())


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


def test_statistics_are_those_of_their_definitions(groups, statistics):
    for name in MEASURES:
        for rater, values in statistics[name].drawn.items():
            assert list(values) == list(groups)
            for asked, group in groups.items():
                assert values[asked][0] == pytest.approx(naive(group, name, rater), abs=1e-12)


def test_intervals_are_those_of_resampled_conversations_with_all_their_ratings(
    judged, bootstrap, statistics
):
    """Copying out the conversations of every resample gives the same limits: of one corpus, and of a difference."""
    drawn = {name: [] for name in MEASURES}
    for draw in range(DRAWS):
        rows = copied_out(judged[judged["corpus"] == "epitome"], bootstrap, draw)
        own = [group for _, group in rows.groupby("question")]
        for name, found in drawn.items():
            raters = ("gemini", "expert") if name in {"left_out", "error"} else ("gemini", "claude")
            found.append(
                [np.mean([naive(group, name, rater) for group in own]) for rater in raters]
            )
    for name, found in drawn.items():
        means = np.array(found)
        row = (
            statistics[name]
            .by_corpus()["Gemini 2.5 Pro"]
            .loc["EPITOME", ["low", "high"]]
            .astype(float)
        )
        np.testing.assert_allclose(row, np.quantile(means[:, 0], [0.025, 0.975]), atol=1e-12)
        other = "expert" if name in {"left_out", "error"} else "claude"
        (difference,) = statistics[name].minus([("gemini", other)]).by_corpus().values()
        row = difference.loc["EPITOME", ["low", "high"]].astype(float)
        np.testing.assert_allclose(
            row, np.quantile(means[:, 0] - means[:, 1], [0.025, 0.975]), atol=1e-12
        )


# Experts, models, juries


def test_the_medians_are_those_that_were_published(tables, agreement):
    """Published as .58 between two experts and .60 between experts and model."""
    found = tables["more"]["medians"]
    assert found["estimate"].round(2).tolist() == [0.58, 0.60]
    both = agreement["first"].isin(EXPERTS) & agreement["second"].isin(EXPERTS)
    model = (agreement["first"] == "experts") & (agreement["second"] == "llm")
    medians = [agreement.loc[both, "kappa"].median(), agreement.loc[model, "kappa"].median()]
    assert found["estimate"].tolist() == pytest.approx(medians)
    assert (found["low"] < found["estimate"]).all()
    assert (found["estimate"] < found["high"]).all()
    assert found["n"].tolist() == [200, 200]


def test_differences_and_gains_of_a_jury_are_those_of_nearness(judged, groups, tables):
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
    sums = [
        agreement_sums(group[list(JUDGES)].to_numpy(dtype=float).T).sum(axis=0)
        for group in groups.values()
    ]
    alpha = tables["more"]["alpha"].iloc[0]
    assert (alpha["key"], alpha["n"]) == ("real_jury_alpha", 200)
    assert alpha["estimate"] == pytest.approx(
        np.mean(krippendorff_alpha(np.array(sums)))
    )  # oracle: test_compare.py
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


# The alternative annotator test


@pytest.mark.parametrize(("kind", "own"), [("experts", None), ("person", PERSON)])
def test_advantage_and_winning_rate_are_those_of_the_test_on_each_question(
    groups, statistics, tables, kind, own
):
    """Of the test itself: tests/statistics."""
    asked = {
        name: group for name, group in groups.items() if own is None or group[own].notna().all()
    }
    tests = [
        alternative_test(
            wins(group["claude"], group[list(EXPERTS)].to_numpy(), own and group[own].to_numpy()),
            EPSILON,
        )
        for group in asked.values()
    ]
    rate = np.array([benjamini_yekutieli(test.p).mean() for test in tests])
    for measure, expected in (
        ("advantage", [test.advantage.mean() for test in tests]),
        ("published_rate", rate),
    ):
        values = statistics[f"{measure}_{kind}"].drawn["claude"]
        assert list(values) == list(asked)
        assert [drawn[0] for drawn in values.values()] == pytest.approx(expected)
    table = tables["more"][f"published_passed_{kind}"]
    assert table.loc["Claude 3.7 Sonnet", "estimate"] == (rate >= 0.5).sum()
    assert table["n"].tolist() == [len(asked)] * 3


def test_a_model_that_copies_an_expert_wins_and_one_that_is_far_off_loses(judged):
    middle = judged[list(EXPERTS)].median(axis=1)
    other = judged.assign(gpt=middle, claude=judged["highest"] + 9.0)
    found = three_judges.by_question(other, corpus_bootstrap(other, draws=1, seed=1))
    assert min(drawn[0] for drawn in found["advantage_experts"].drawn["gpt"].values()) > 0.7
    assert (
        np.mean([drawn[0] for drawn in found["published_rate_experts"].drawn["gpt"].values()]) > 0.8
    )
    assert max(drawn[0] for drawn in found["published_rate_experts"].drawn["claude"].values()) == 0


# Small examples by hand


def of(judged, draws=100):
    return three_judges.by_question(judged, corpus_bootstrap(judged, draws=draws, seed=1))


def test_a_verdict_follows_the_interval(judged):
    verdicts = []
    for low, high in ((-0.2, -0.01), (-0.2, 0.1), (0.01, 0.2), (-0.1, 0.0), (np.nan, np.nan)):
        row = {
            "estimate": 0.0,
            "low": low,
            "high": high,
            "n": 200,
            "method": "difference; interval",
        }
        gaps = {
            f"{model} minus expert left out": pd.DataFrame(row, index=[ALL])
            for model in JUDGES.values()
        }
        found = {row["key"]: row["estimate"] for row in three_judges.facts(judged, {"gaps": gaps})}
        (verdict,) = {found[f"three_judges_standing_{judge}"] for judge in JUDGES}
        verdicts.append(verdict)
    lower, undecided, higher, up_to_zero, unknown = verdicts
    assert up_to_zero == undecided
    assert len({lower, undecided, higher, unknown}) == 4
    assert [words.split()[0] for words in verdicts] == ["lower", "not", "higher", "not", "no"]
    assert found["three_judges_questions"] == 21
