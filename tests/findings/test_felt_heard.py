"""Felt heard: known answers, R's values, and every statistic against a naive computation."""

import numpy as np
import pandas as pd
import pytest
from statsmodels.formula.api import ols
from statsmodels.stats.anova import anova_lm

from sense7.estimators.bootstrap import ParticipantBootstrap
from sense7.estimators.estimates import require_estimates
from sense7.findings import felt_heard

FEELINGS = ["understood", "validated", "affirmed", "seen", "accepted", "cared for"]
CELLS = [("ai", "ai"), ("ai", "human"), ("human", "ai"), ("human", "human")]


@pytest.fixture(scope="module")
def people():
    return felt_heard.people()


@pytest.fixture(scope="module")
def bootstrap(people):
    return felt_heard.resampling(people, draws=400, seed=3)


@pytest.fixture(scope="module")
def small():
    """Twenty people in unequal groups."""
    generator = np.random.default_rng(8)
    cells = [cell for cell, count in zip(CELLS, (7, 3, 4, 6), strict=True) for _ in range(count)]
    frame = pd.DataFrame(cells, columns=["response", "label"])
    frame.insert(0, "participant", [f"p{number}" for number in range(20)])
    frame[FEELINGS] = generator.integers(1, 8, (20, 6))
    return frame.assign(**{"mean of six": frame[FEELINGS].mean(axis=1)})


# Known answers


def test_the_means_that_others_computed(people, bootstrap):
    found = felt_heard.cell_means(people, bootstrap)
    by_key = {
        felt_heard.MEAN_KEYS[source][label]: row
        for source, table in found.items()
        for label, row in table.to_dict("index").items()
    }
    known = {
        "felt_heard_mean_ai_ai": (5.407, 124),
        "felt_heard_mean_ai_human": (6.118, 110),
        "felt_heard_mean_human_ai": (4.820, 110),
        "felt_heard_mean_human_human": (5.511, 111),
    }
    assert {key: (round(row["estimate"], 3), row["n"]) for key, row in by_key.items()} == known
    assert all(row["low"] < row["estimate"] < row["high"] for row in by_key.values())


# car::Anova(lm(y ~ response * label), type = 3, white.adjust = "hc3"), contrasts contr.sum: F, then p, of each term
R_VALUES = {
    "mean of six": (
        [21.776834901, 29.9518256225, 0.00616486224553],
        [4.0438637974e-06, 7.36128551131e-08, 0.937451920532],
    ),
    "understood": (
        [19.1983341466, 20.3294680442, 0.307384557189],
        [1.46682693103e-05, 8.32104359566e-06, 0.579564394372],
    ),
    "seen": (
        [17.2650502704, 30.9335832198, 0.109550726985],
        [3.89051768038e-05, 4.58231179349e-08, 0.740809930277],
    ),
    "cared for": (
        [23.0498487887, 36.2424202702, 0.00894057212056],
        [2.15085098817e-06, 3.61376218922e-09, 0.924710607403],
    ),
}


@pytest.mark.parametrize("rating", R_VALUES)
def test_the_tests_are_those_of_r(people, rating):
    statistics, p = R_VALUES[rating]
    found = felt_heard.model_tests(people, rating)
    np.testing.assert_allclose(found["estimate"], p, rtol=1e-9)
    shown = [float(method.split("F = ")[1].split()[0]) for method in found["method"]]
    assert shown == [round(value, 2) for value in statistics]
    assert found["method"].str.endswith("on 1 and 451 degrees of freedom").all()
    assert list(found.index) == ["source", "label", "interaction"]


def test_the_structure_is_that_of_r(people, bootstrap):
    """psych::alpha (raw_alpha, average_r), the same on residuals of the four groups, eigen(cor())."""
    found = felt_heard.structure(people, bootstrap, seed=1)
    names = ["Cronbach's alpha", "Cronbach's alpha within the four groups", "share of the first eigenvalue"]
    known = [0.969167190524, 0.966166378672, 0.869350905244]
    np.testing.assert_allclose(found.loc[names, "estimate"], known, rtol=1e-9)
    # psych takes the average of correlations by the same definition
    assert found.loc["average correlation", "estimate"] == pytest.approx(0.842822369095, rel=1e-9)
    assert found.loc[["components above noise", "factors above noise"], "estimate"].tolist() == [1, 1]
    assert found["low"].iloc[:5].gt(0.8).all()
    assert (found["low"].iloc[:5] < found["estimate"].iloc[:5]).all()


def test_another_implementation_of_the_tests(small):
    fit = ols("y ~ C(response, Sum) * C(label, Sum)", small.assign(y=small["seen"])).fit()
    other = anova_lm(fit, typ=3, robust="hc3")
    found = felt_heard.model_tests(small, "seen")
    np.testing.assert_allclose(found["estimate"], other["PR(>F)"].iloc[1:4], rtol=1e-9)


# Naive computations


def naive_effects(frame, rating):
    mean = frame.groupby(["response", "label"])[rating].mean()
    source = (mean["ai", "ai"] + mean["ai", "human"]) / 2 - (mean["human", "ai"] + mean["human", "human"]) / 2
    label = (mean["ai", "human"] + mean["human", "human"]) / 2 - (mean["ai", "ai"] + mean["human", "ai"]) / 2
    interaction = (mean["ai", "human"] - mean["ai", "ai"]) - (mean["human", "human"] - mean["human", "ai"])
    return [source, label, interaction, mean["ai", "ai"] - mean["human", "human"]]


@pytest.mark.parametrize("rating", ["mean of six", "affirmed"])
def test_effects_against_a_naive_computation(small, rating):
    bootstrap = felt_heard.resampling(small, draws=100, seed=1)
    found = felt_heard.effects(small, bootstrap, rating)
    np.testing.assert_allclose(found["estimate"], naive_effects(small, rating), atol=1e-12)
    within = small[rating] - small.groupby(["response", "label"])[rating].transform("mean")
    sd = np.sqrt((within**2).sum() / (len(small) - 4))
    d = felt_heard.effects(small, bootstrap, rating, standardized=True)
    np.testing.assert_allclose(d["estimate"], np.array(naive_effects(small, rating)) / sd, atol=1e-12)
    assert found["n"].tolist() == [20, 20, 20, 13]
    assert set(d["unit"]) == {"Cohen's d"}


def fitted(people):
    source, label = (people["response"] == "ai") - 0.5, (people["label"] == "human") - 0.5
    return ols("y ~ s * n", people.assign(y=people["mean of six"], s=source, n=label)).fit(cov_type="HC3", use_t=True)


def test_effects_are_the_coefficients_of_the_model(people, bootstrap):
    found = felt_heard.effects(people, bootstrap)["estimate"]
    np.testing.assert_allclose(found.iloc[:3], fitted(people).params[["s", "n", "s:n"]], rtol=1e-9)


def test_intervals_are_those_of_resampled_people(small):
    """Each draw, done again with copies of rows."""
    bootstrap = felt_heard.resampling(small, draws=60, seed=4)
    resampled = [
        naive_effects(small.loc[np.repeat(small.index, weights.astype(int))], "mean of six")
        for weights in bootstrap.weights()
    ]
    low, high = np.quantile(np.array(resampled), [0.025, 0.975], axis=0)
    found = felt_heard.effects(small, bootstrap)
    np.testing.assert_allclose(found["low"], low, atol=1e-12)
    np.testing.assert_allclose(found["high"], high, atol=1e-12)


def test_people_are_resampled_within_their_groups(people, bootstrap):
    group = (people["response"] + people["label"]).to_numpy()
    order = pd.Index(people["participant"]).get_indexer(bootstrap.names)
    for name in np.unique(group):
        drawn = bootstrap.weights()[:, group[order] == name].sum(axis=1)
        assert set(drawn) == {(group == name).sum()}


def test_the_intervals_are_near_those_of_the_model(people):
    """Intervals by HC3 errors, without resampling, of the same differences."""
    found = felt_heard.effects(people, felt_heard.resampling(people, draws=20_000, seed=1))
    np.testing.assert_allclose(found[["low", "high"]].iloc[:3], fitted(people).conf_int().iloc[1:], atol=0.025)


def test_effects_by_feeling_are_the_effects(people, bootstrap):
    found = felt_heard.effects_by_feeling(people, bootstrap)
    assert {name: list(table.index) for name, table in found.items()} == dict.fromkeys(
        felt_heard.FEELING_KEYS, FEELINGS
    )
    own = felt_heard.effects(people, bootstrap, "accepted")
    for name, table in found.items():
        row = own.loc[felt_heard.EFFECTS[name]]
        assert table.loc["accepted", ["estimate", "low", "high"]].tolist() == row[["estimate", "low", "high"]].tolist()
        require_estimates("test", name, table)


def test_ceilings_against_a_naive_computation(people, bootstrap):
    found = felt_heard.ceiling(people, bootstrap)["estimate"]
    assert found["seen"] == (people["seen"] == 7).mean()
    every = (people[FEELINGS] == 7).all(axis=1)
    assert found["all six"] == every.mean()
    group = (people["response"] == "human") & (people["label"] == "ai")
    assert found["all six, answer by a person, labeled as by an AI"] == pytest.approx(every[group].mean())
    assert list(found.index) == list(felt_heard.CEILING_KEYS)


def test_p_values_of_feelings_are_corrected_for_being_six(people):
    shown = felt_heard.tests_in_words(people)
    assert list(shown.index) == ["mean of six", *FEELINGS]
    assert shown.loc["mean of six", "source, p (Holm)"] == ""
    p = pd.Series({name: felt_heard.model_tests(people, name).loc["source", "estimate"] for name in FEELINGS})
    by_hand, largest = {}, 0
    for place, name in enumerate(p.sort_values().index):
        largest = max(largest, min(1, p[name] * (6 - place)))
        by_hand[name] = "< 0.0001" if largest < 0.0001 else f"{largest:.4f}"
    assert shown["source, p (Holm)"].iloc[1:].to_dict() == by_hand
    assert (shown["interaction, p (Holm)"].iloc[1:] == "1.0000").all()


# The verdict


@pytest.mark.parametrize(
    ("source", "label", "begins"),
    [
        ((0.1, 0.5), (0.2, 0.9), "seen: "),
        ((-0.5, -0.1), (-0.9, -0.2), "the opposite: "),
        ((-0.1, 0.5), (0.2, 0.9), "not seen: "),
        ((-0.5, -0.1), (0.2, 0.9), "not seen: "),
    ],
)
def test_the_verdict_follows_from_both_intervals(source, label, begins):
    limits = dict(zip(("source", "label"), (source, label), strict=True))
    rows = {
        felt_heard.EFFECTS[name]: {"estimate": 0, "low": low, "high": high, "n": 9}
        for name, (low, high) in limits.items()
    }
    assert felt_heard.verdict(pd.DataFrame(rows).T)["estimate"].startswith(begins)


def test_the_verdict_on_these_ratings(people, bootstrap):
    assert felt_heard.verdict(felt_heard.effects(people, bootstrap))["estimate"].startswith("seen: ")


def test_every_row_has_a_key_that_is_written_once(people, bootstrap):
    keys = [
        *(key for table in felt_heard.MEAN_KEYS.values() for key in table.values()),
        *(key for table in felt_heard.EFFECT_KEYS.values() for key in table.values()),
        *(key for table in felt_heard.FEELING_KEYS.values() for key in table.values()),
        *felt_heard.P_KEYS.values(),
        *felt_heard.STRUCTURE_KEYS.values(),
        *felt_heard.CEILING_KEYS.values(),
    ]
    assert len(keys) == len(set(keys))
    assert all(key.startswith("felt_heard_") for key in keys)
    assert list(felt_heard.structure(people, bootstrap, seed=1).index) == list(felt_heard.STRUCTURE_KEYS)
    assert list(felt_heard.effects(people, bootstrap).index) == list(felt_heard.EFFECT_KEYS["d"])


def test_people_of_another_table_are_refused(people):
    other = ParticipantBootstrap(["a", "b", "c"], draws=100, seed=1)
    with pytest.raises(Exception, match="not among the 3"):
        felt_heard.effects(people, other)
