"""Whose empathy: scipy's correlations with true ties, and corrections from their formulas."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import sense7 as s7
from sense7.findings import whose_empathy
from sense7.sources.released import EXPERTS, JUDGES, PERSON
from sense7.statistics.bootstrap import ParticipantBootstrap

OBSERVERS = (*EXPERTS, "crowd", *JUDGES)


def bootstrap_of(people, draws, seed):
    conversations = pd.Series(people.items.index, dtype=object)
    return ParticipantBootstrap(conversations, draws, seed, unit="conversation")


def panel_tables(people, draws=100, seed=1):
    """All tables of a panel as one, by key."""
    return pd.concat(
        whose_empathy.tables(people, bootstrap_of(people, draws, seed)).values()
    ).set_index("key")


@pytest.fixture(scope="module")
def people():
    return whose_empathy.panel()


@pytest.fixture(scope="module")
def tables(people):
    return panel_tables(people, 4_000, 3)


def rho(x, y):
    return stats.spearmanr(x, y).statistic


def sums(people):
    """Sums of the six ratings: whole numbers but for the crowd's, so that equal scores are equal numbers."""
    return {
        rater: people.items[rater].sum(axis=1).to_numpy().round(6) for rater in (PERSON, *OBSERVERS)
    }


def exactly(people):
    """The same from whole numbers."""
    of = sums(people)
    experts, models = sum(of[e] for e in EXPERTS), sum(of[j] for j in JUDGES)
    found = {
        f"whose_{rater}_with_person": rho(of[rater], of[PERSON]) for rater in ("crowd", *JUDGES)
    }
    found |= {
        f"whose_{rater}_with_experts": rho(of[rater], experts) for rater in ("crowd", *JUDGES)
    }
    found["whose_experts_with_person"] = rho(experts, of[PERSON])
    found["whose_models_with_person"] = rho(models, of[PERSON])
    found["whose_observers_agree"] = np.mean([rho(of[e], experts - of[e]) for e in EXPERTS])
    return found


def test_every_correlation_is_that_of_scipy_with_true_ties(people, tables):
    for key, value in exactly(people).items():
        assert tables.loc[key, "estimate"] == pytest.approx(value, abs=1e-12), key


def test_the_correlation_given_the_label_is_that_of_what_the_label_leaves_of_ranks(people, tables):
    of = sums(people)
    label = (people.answers["label"] == "ai").to_numpy()
    left = []
    for scores in (sum(of[e] for e in EXPERTS), of[PERSON]):
        ranks = pd.Series(stats.rankdata(scores))
        left.append(ranks - ranks.groupby(label).transform("mean"))
    value = tables.loc["whose_experts_with_person_given_label", "estimate"]
    assert value == pytest.approx(stats.pearsonr(*left).statistic, abs=1e-12)


def test_differences_are_those_of_the_correlations(people, tables):
    value = tables["estimate"]
    of = sums(people)
    two = np.mean([rho(sum(of[f] for f in EXPERTS if f != e), of[PERSON]) for e in EXPERTS])
    expected = {
        "whose_difference": value["whose_observers_agree"] - value["whose_experts_with_person"],
        "whose_difference_same_target": value["whose_observers_agree"] - two,
        "whose_models_difference": value["whose_models_agree"] - value["whose_gemini_with_person"],
        "whose_claude_difference": value["whose_claude_with_experts"]
        - value["whose_claude_with_person"],
    }
    for key, difference in expected.items():
        assert value[key] == pytest.approx(difference, abs=1e-12), key


def with_ratings_of(people, rater, values):
    items = people.items.copy()
    items[rater] = values
    return replace(people, items=items)


def verdict_of(panel, key="whose_difference"):
    row = panel_tables(panel, 1_000).loc[key]
    return whose_empathy.verdict(row["low"], row["high"])


def test_the_verdict_follows_the_data(people):
    assert verdict_of(people) == whose_empathy.SEEN
    mean = sum(people.items[expert] for expert in EXPERTS) / 3
    assert verdict_of(with_ratings_of(people, PERSON, mean)) == whose_empathy.OPPOSITE, (
        "the person rates as the experts do"
    )
    assert (
        verdict_of(with_ratings_of(people, PERSON, people.items["claude"]))
        == whose_empathy.NOT_SETTLED
    )


def test_the_correction_for_attenuation_follows_from_both_alphas(people, tables):
    value = tables["estimate"]
    experts = people.scores[list(EXPERTS)]
    person_alpha, experts_alpha = (
        s7.cronbach_alpha(people.items[PERSON]),
        s7.cronbach_alpha(experts),
    )
    assert value["whose_reliability_person"] == pytest.approx(person_alpha, abs=1e-9)
    assert value["whose_reliability_experts"] == pytest.approx(experts_alpha, abs=1e-6)
    corrected = value["whose_experts_with_person"] / np.sqrt(person_alpha * experts_alpha)
    assert value["whose_experts_with_person_corrected"] == pytest.approx(corrected, abs=1e-6)


@pytest.mark.parametrize(("key", "measure"), [("sd", np.std), ("quartiles", stats.iqr)])
def test_the_correction_for_range_is_thorndikes(people, tables, key, measure):
    estimate = tables["estimate"]
    wider = measure(people.scores["experts"]) / measure(people.scores[PERSON])
    assert estimate[f"whose_wider_{key}"] == pytest.approx(wider)
    slope = np.tan(np.arcsin(estimate["whose_experts_with_person"]))
    corrected = np.sin(np.arctan(wider * slope))
    assert estimate[f"whose_experts_with_person_wider_{key}"] == pytest.approx(corrected, abs=1e-9)
    assert estimate[f"whose_difference_wider_{key}"] == pytest.approx(
        estimate["whose_observers_agree"] - corrected, abs=1e-9
    )
