"""Released ratings of others: known answers, R's values and scipy's; verdicts that follow from intervals by rule."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import spearmanr
from statsmodels.formula.api import ols

from sense7.findings import elsewhere
from sense7.findings.elsewhere import FINDINGS, NO_INTERVAL, NOT_SEEN, OPPOSITE, SEEN, Rule, verdict
from sense7.findings.ground_truth import ground_truth
from sense7.sources import released
from sense7.statistics.bootstrap import ParticipantBootstrap

RATED = ["understood", "appropriate", "attentive", "sensible", "polite"]


@pytest.fixture(scope="module")
def study():
    return elsewhere.ieval()


@pytest.fixture(scope="module")
def bootstrap(study):
    return ParticipantBootstrap(study.conversations["participant"], draws=400, seed=2)


@pytest.fixture(scope="module")
def found(study, bootstrap):
    return elsewhere.tables(study, bootstrap)


@pytest.fixture(scope="module")
def felt():
    """The people who answered, and what the page shows of them."""
    people = elsewhere.felt_heard()
    return people, elsewhere.felt_heard_tables(
        people, elsewhere.felt_heard_resampling(people, draws=400, seed=3)
    )


@pytest.fixture(scope="module")
def values(found, felt):
    """Values as the page has them."""
    return elsewhere.values_of(found | felt[1])


# iEval: known answers


def test_consistency_is_that_of_r(found):
    """psych::alpha, cor(); the release's own page puts both pairs above .85."""
    known = {
        "alpha of the five statements": 0.916730415206,
        "understood with appropriate": 0.878178888111,
        "attentive with sensible": 0.848150152623,
    }
    np.testing.assert_allclose(
        found["consistency"].loc[list(known), "estimate"], list(known.values()), rtol=1e-9
    )


def test_shares_are_those_of_r(found):
    """lme4::lmer(y ~ bot + (1|worker) + (1|worker:bot)): variance of the worker by the sum is .1178402571348."""
    shares = found["individual"]["estimate"]
    within_bots = shares["participant"] / (1 - shares["condition"])
    assert within_bots == pytest.approx(0.1178402571348, abs=2e-4)
    # Every person met every bot in both scenarios: the bots' share is that of the variance between their means.
    study = elsewhere.ieval()
    y = ground_truth(study.turns, study.conversations["conversation"]).to_numpy()
    means = pd.DataFrame({"bot": study.conversations["condition"], "y": y})
    between = means.groupby("bot")["y"].mean().var(ddof=0)
    assert shares["condition"] == pytest.approx(between / means["y"].var(ddof=0), abs=0.01)


def test_liking_is_that_of_r(found):
    assert found["liking"].loc["liking with the mean rating", "estimate"] == pytest.approx(
        0.8258706925963, rel=1e-9
    )


def test_the_questionnaire_is_related_with_equal_means_as_ties(found):
    """Sums of whole numbers are exact; means of means differ in their last digit, which would break ties."""
    raw = released.ieval_conversations()
    sums = raw[RATED].sum(axis=1).groupby(raw["worker"]).sum()
    teq = released.ieval_workers().set_index("worker")["teq"].loc[sums.index]
    row = found["liking"].loc["questionnaire with the mean rating"]
    assert row["estimate"] == pytest.approx(spearmanr(teq, sums).statistic, rel=1e-12)
    assert row["n"] == 240


# The corpora


def test_alphas_of_experts_are_those_of_r(found):
    known = [0.9582170306799, 0.3553011749814, 0.640424610052]
    np.testing.assert_allclose(found["corpora"]["estimate"], known, rtol=1e-9)
    assert set(found["corpora"]["n"]) == {150}
    assert found["corpora"]["method"].str.contains("leaving out each conversation in turn").all()


def test_a_model_that_tells_nothing_of_the_person_does_not_agree_in_part(values):
    """Observers agree more with each other than such a model with the person: that alone is no agreement in part."""
    both = {"elsewhere_judge_with_person": 0.3, "elsewhere_judge_difference": 0.4}
    for key in both:
        above = {name: values[name] | {"low": low, "high": 0.9} for name, low in both.items()}
        assert elsewhere.verdicts_of_claim("judge_spearman", above) == [SEEN]
        above[key]["low"] = -0.1
        assert elsewhere.verdicts_of_claim("judge_spearman", above) == [NOT_SEEN]


# Rules and verdicts

ABOVE, APART = Rule(0.05, 0.05, ""), Rule(0.8, 0.7, "")


@pytest.mark.parametrize(
    ("rule", "low", "high", "expected"),
    [
        (ABOVE, 0.06, 0.2, SEEN),
        (ABOVE, 0.05, 0.2, NOT_SEEN),
        (ABOVE, 0.01, 0.05, NOT_SEEN),
        (ABOVE, 0.01, 0.04, OPPOSITE),
        (APART, 0.81, 0.9, SEEN),
        (APART, 0.75, 0.79, NOT_SEEN),
        (APART, 0.6, 0.9, NOT_SEEN),
        (APART, 0.5, 0.69, OPPOSITE),
        (ABOVE, None, None, NO_INTERVAL),
        (ABOVE, np.nan, np.nan, NO_INTERVAL),
    ],
)
def test_a_verdict_is_the_place_of_the_whole_interval(rule, low, high, expected):
    assert verdict({"low": low, "high": high}, rule) == expected


def test_each_verdict_rests_on_its_own_value(values):
    """Turn every value round its line: no verdict may stay as it was."""
    for finding in FINDINGS:
        for key, _, rule in finding.asked.values():
            for low, high, expected in ((-11, -9, OPPOSITE), (-10, 12, NOT_SEEN)):
                moved = {"low": rule.line + low, "high": rule.line + high}
                assert elsewhere.verdicts_of_claim(finding.claim, {key: moved}) == [expected]


# Felt heard

FEELINGS = ["understood", "validated", "affirmed", "seen", "accepted", "caredfor"]


def test_the_means_that_others_computed(felt):
    means = [table for name, table in felt[1].items() if name.startswith("answer")]
    by_key = {row["key"]: row for table in means for row in table.to_dict("records")}
    known = {
        "felt_heard_mean_ai_ai": (5.407, 124),
        "felt_heard_mean_ai_human": (6.118, 110),
        "felt_heard_mean_human_ai": (4.820, 110),
        "felt_heard_mean_human_human": (5.511, 111),
    }
    assert {key: (round(row["estimate"], 3), row["n"]) for key, row in by_key.items()} == known
    assert all(row["low"] < row["estimate"] < row["high"] for row in by_key.values())


def test_alpha_is_that_of_r_and_the_ceiling_is_counted(felt):
    """psych::alpha, raw_alpha."""
    people, found = felt[0], felt[1]["feelings"]
    assert found.loc["Cronbach's alpha", "estimate"] == pytest.approx(0.969167190524, rel=1e-9)
    assert (
        found.loc["highest rating to all six", "estimate"]
        == (people[FEELINGS] == 7).all(axis=1).mean()
    )


def test_effects_are_the_coefficients_of_the_model(felt):
    people, source, label = (
        felt[0],
        (felt[0]["response"] == "ai") - 0.5,
        (felt[0]["label"] == "human") - 0.5,
    )
    fitted = ols("y ~ s * n", people.assign(y=people["mean of six"], s=source, n=label)).fit()
    np.testing.assert_allclose(
        felt[1]["effects"]["estimate"].iloc[:3], fitted.params[["s", "n", "s:n"]], rtol=1e-9
    )
    truly_labeled = int((people["response"] == people["label"]).sum())
    assert felt[1]["effects"]["n"].tolist() == [*[len(people)] * 3, truly_labeled]
