"""Three real models and their juries, compared with values computed independently."""

import numpy as np
import pytest
from scipy.stats import spearmanr

from sense7.estimators.estimates import holm
from sense7.judge import three_judges
from sense7.judge import three_judges as real_juries
from sense7.sources.released import EXPERTS, JUDGES


@pytest.fixture(scope="module")
def judged():
    return real_juries.with_jury(three_judges.ratings())


@pytest.fixture(scope="module")
def near(judged):
    return real_juries.nearness(judged, three_judges.CorpusBootstrap(judged, 500, 1))


def nearness_by_hand(judged, score):
    """Spearman's rho with the mean of two experts, mean over three targets and 21 questions."""
    values = []
    for _, group in judged.assign(score=score).groupby(["corpus", "question"]):
        for out in EXPERTS:
            target = group[[expert for expert in EXPERTS if expert != out]].mean(axis=1)
            values.append(spearmanr(group["score"], target).statistic)
    return np.mean(values)


def test_differences_of_models_are_those_of_their_nearness(judged, near):
    table = real_juries.model_differences(near)
    apart = nearness_by_hand(judged, judged["gpt"]) - nearness_by_hand(judged, judged["claude"])
    row = table.loc["GPT-4o minus Claude 3.7 Sonnet"]
    assert row["estimate"] == pytest.approx(apart, abs=1e-12)
    assert row["key"] == "real_difference_spearman_gpt_minus_claude"
    np.testing.assert_allclose(table["p_holm"], holm(table["p"]))


def test_gains_of_the_mean_jury_are_those_of_the_mean_rating(judged, near):
    gains = real_juries.jury_gains(near).set_index("key")
    members = [nearness_by_hand(judged, judged[model]) for model in JUDGES]
    jury = nearness_by_hand(judged, judged[list(JUDGES)].mean(axis=1))
    assert gains.loc["real_jury_mean_over_mean_spearman", "estimate"] == pytest.approx(jury - np.mean(members))
    assert gains.loc["real_jury_mean_over_best_spearman", "estimate"] == pytest.approx(jury - max(members))


def alpha_by_hand(ratings):
    """Krippendorff's alpha of complete ratings, (raters, conversations), by the sums of its definition."""
    raters, count = ratings.shape
    observed = sum(np.subtract.outer(column, column).__pow__(2).sum() for column in ratings.T) / (raters - 1)
    expected = (np.subtract.outer(ratings.ravel(), ratings.ravel()) ** 2).sum() / (raters * count - 1)
    return 1 - observed / expected


def test_agreement_is_the_mean_over_questions(judged):
    row = real_juries.agreement_among_models(judged, three_judges.CorpusBootstrap(judged, 200, 1))
    groups = judged.groupby(["corpus", "question"])
    each = [alpha_by_hand(group[list(JUDGES)].to_numpy(dtype=float).T) for _, group in groups]
    assert row["estimate"] == pytest.approx(np.mean(each))
    assert (row["key"], row["n"]) == ("real_jury_alpha", 200)
