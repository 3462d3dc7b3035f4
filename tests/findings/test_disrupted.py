"""What breaks empathy: around a poor turn and between neighbors against all orders, losses against statsmodels."""

import itertools

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers.studies import bootstrap_of
from sense7.checkout import data_file
from sense7.estimators.bootstrap import ParticipantBootstrap
from sense7.findings import disrupted
from sense7.findings.disrupted import lag_1_correlation
from sense7.study import Study
from sense7.taxonomy import DIMENSION_NAMES
from sense7.workbook import read_workbook


def study_of(conversations, people=None):
    """Conversations as lists of levels, None for a turn without one."""
    rows = [
        (f"C{number}", people[number] if people else f"P{number}", turn, level)
        for number, levels in enumerate(conversations)
        for turn, level in enumerate(levels, 1)
    ]
    turns = pd.DataFrame(rows, columns=["conversation", "participant", "turn", "overall"])
    turns = turns.astype({"overall": float}).assign(**dict.fromkeys(DIMENSION_NAMES, np.nan))
    names = turns[["conversation", "participant"]].drop_duplicates()
    return Study("made up", names, pd.DataFrame(), turns, None, pd.DataFrame())


def around(levels):
    """(event time, level) of each rated turn; nothing without a poor turn."""
    poor = [turn for turn, level in enumerate(levels) if level is not None and level <= 2]
    return [(turn - poor[0], level) for turn, level in enumerate(levels) if level is not None] if poor else []


def orders(levels):
    """All orders of the levels among the rated turns."""
    places = [turn for turn, level in enumerate(levels) if level is not None]
    for order in itertools.permutations([level for level in levels if level is not None]):
        given_to = dict(zip(places, order, strict=True))
        yield [given_to.get(turn) for turn in range(len(levels))]


def mean_by_time(pieces):
    """Mean level by event time; each piece has a weight."""
    sums, weights = dict.fromkeys(disrupted.TIMES, 0.0), dict.fromkeys(disrupted.TIMES, 0.0)
    for weight, pairs in pieces:
        for time, level in pairs:
            if time in sums:
                sums[time] += weight * level
                weights[time] += weight
    return {time: sums[time] / weights[time] if weights[time] else np.nan for time in disrupted.TIMES}


conversations_of_levels = st.lists(
    st.lists(st.one_of(st.none(), st.integers(1, 5)), min_size=1, max_size=5), min_size=1, max_size=5
)


@settings(max_examples=40, deadline=None)
@given(conversations_of_levels)
def test_chance_order_is_the_mean_over_all_orders(conversations):
    study = study_of(conversations)
    tables = disrupted.levels_by_event_time(study, bootstrap_of(study, draws=2))
    rated = mean_by_time([(1, around(levels)) for levels in conversations])
    pieces = []
    for levels in conversations:
        possible = list(orders(levels))
        pieces += [(1 / len(possible), around(order)) for order in possible]
    chance = mean_by_time(pieces)
    for time in disrupted.TIMES:
        assert tables["as rated"].loc[time, "estimate"] == pytest.approx(rated[time], nan_ok=True)
        if np.isfinite(tables["in permuted order"].loc[time, "estimate"]):
            assert tables["in permuted order"].loc[time, "estimate"] == pytest.approx(chance[time])
            difference = tables["difference"].loc[time, "estimate"]
            assert difference == pytest.approx(rated[time] - chance[time], abs=1e-9)
        else:
            assert tables["in permuted order"].loc[time, "reason"] != ""


def test_the_reversed_order_is_the_statistic_of_conversations_read_backwards():
    generator = np.random.default_rng(6)
    conversations = generator.integers(1, 6, size=(60, 9)).tolist()
    people = [f"P{number % 12}" for number in range(60)]
    study, backwards = study_of(conversations, people), study_of([levels[::-1] for levels in conversations], people)
    table = disrupted.reversed_order(study, bootstrap_of(study))
    drops = [disrupted.lasting_drop(one, bootstrap_of(one)).loc["difference"] for one in (study, backwards)]
    after = [disrupted.levels_by_event_time(one, bootstrap_of(one))["difference"].loc[1] for one in (study, backwards)]
    for name, (forward, backward) in {"lasting drop": drops, "right after": after}.items():
        difference = table.loc[f"{name}, as it happened minus reversed"]
        assert difference["estimate"] == pytest.approx(forward["estimate"] - backward["estimate"])
        assert difference["n"] == backward["n"]


# Neighboring turns

DIFFERENCE = "as rated minus permuted order"


def found(study, draws=100):
    return lag_1_correlation(study, ParticipantBootstrap(study.turns["participant"], draws, seed=1))


def by_loops(conversations):
    """Numerator and denominator of the correlation, pair by pair."""
    products = squares = 0.0
    for levels in conversations:
        rated = [level for level in levels if level is not None]
        mean = sum(rated) / len(rated) if rated else 0
        spread = sum((level - mean) ** 2 for level in rated) / len(rated) if rated else 0
        for one, other in itertools.pairwise(levels):
            if one is not None and other is not None:
                products += (one - mean) * (other - mean)
                squares += spread
    return products, squares


@settings(max_examples=40, deadline=None)
@given(conversations_of_levels)
def test_permuted_order_is_the_mean_over_all_orders(conversations):
    table = found(study_of(conversations), draws=2)["estimate"]
    products, squares = by_loops(conversations)
    if squares < 1e-9:
        assert table.isna().all()
        return
    expected = 0.0
    for levels in conversations:
        places = [turn for turn, level in enumerate(levels) if level is not None]
        orders = list(itertools.permutations([levels[place] for place in places]))
        for order in orders:
            given_to = dict(zip(places, order, strict=True))
            expected += by_loops([[given_to.get(turn) for turn in range(len(levels))]])[0] / len(orders)
    assert table["as rated"] == pytest.approx(products / squares)
    assert table["permuted order"] == pytest.approx(expected / squares)
    assert table[DIFFERENCE] == pytest.approx((products - expected) / squares, abs=1e-9)


# Failures of continuity


def study_of_failures(conversations, turns):
    return Study("made up", conversations, pd.DataFrame(), turns, None, pd.DataFrame())


def made(seed=1, conversations=60, people=12, longest=8):
    """Ratings with holes; the overall rating follows the dimensions, the outcome the overall ratings."""
    generator = np.random.default_rng(seed)
    rows = []
    for number in range(conversations):
        for turn in range(1, generator.integers(1, longest + 1) + 1):
            quality = generator.normal(3, 1)
            given = [round(np.clip(quality + generator.normal(0, 0.7), 1, 5)) for _ in range(8)]
            rated = [level if generator.random() < 0.8 else np.nan for level in given]
            rows.append((f"C{number}", f"P{number % people}", turn, *rated))
    turns = pd.DataFrame(rows, columns=["conversation", "participant", "turn", "overall", *DIMENSION_NAMES])
    frame = turns[["conversation", "participant"]].drop_duplicates().reset_index(drop=True)
    for name in DIMENSION_NAMES:
        frame[f"post_{name}"] = generator.integers(1, 6, size=len(frame)).astype(float)
    return study_of_failures(frame, turns)


def losses_and_failures_by_loop(turns, moment):
    """(loss, failures of the seven dimensions) of each turn that can be compared, turn by turn."""
    found = []
    for _, group in turns.groupby("conversation"):
        dimensions = group[list(DIMENSION_NAMES)]
        rating = group["overall"] if moment == "same" else dimensions.mean(axis=1)
        level = dict(zip(group["turn"], rating, strict=True))
        for turn, levels in zip(group["turn"], dimensions.to_numpy(), strict=True):
            outcome = level[turn] if moment == "same" else level.get(turn + 1, np.nan)
            others = [y for at, y in level.items() if at not in (turn, turn + 1) and not np.isnan(y)]
            if not np.isnan(outcome) and others:
                found.append((np.mean(others) - outcome, levels <= 2))
    return found


@pytest.mark.parametrize("moment", ["same", "next"])
def test_contrasts_of_continuity_are_those_of_statsmodels_on_a_loop(moment):
    study = made(seed=8)
    table = disrupted.continuity_contrasts(study, bootstrap_of(study))
    found = losses_and_failures_by_loop(study.turns, moment)
    failed = np.array([which for _, which in found], dtype=float)
    fit = sm.OLS([loss for loss, _ in found], sm.add_constant(failed)).fit().params
    own, others = fit[7], fit[1:7].mean()
    assert list(DIMENSION_NAMES).index("Relational") == 6
    expected = [own - others, own, others]
    rows = table.loc[[name for name in table.index if name.startswith(moment)]]
    np.testing.assert_allclose(rows["estimate"], expected[: len(rows)], atol=1e-10)
    counts = [failed[:, 6].sum(), failed[:, 6].sum(), failed[:, :6].any(axis=1).sum()]
    assert rows["n"].tolist() == counts[: len(rows)]


# Unmet expectations

COMPARISONS = {
    "against all other conversations": [],
    "at the same mean rating of turns": ["mean"],
    "beyond low ratings and high wishes by themselves": ["low", "high", "mean"],
}


@pytest.fixture(scope="module")
def synthetic():
    return read_workbook(data_file("synthetic.xlsx"))


def test_the_estimates_are_those_of_statsmodels(synthetic):
    table = disrupted.unmet_expectations(synthetic, bootstrap_of(synthetic, 2000))
    frame = disrupted.expectation_conversations(synthetic)
    groups = pd.factorize(frame["participant"])[0]
    for name, held in COMPARISONS.items():
        design = sm.add_constant(frame[["unmet", *held]].astype(float))
        fit = sm.OLS(frame["outcome"], design).fit(cov_type="cluster", cov_kwds={"groups": groups})
        row = table.loc[name]
        assert row["estimate"] == pytest.approx(-fit.params["unmet"], abs=1e-10)
        assert (row["high"] - row["low"]) / (2 * 1.96) == pytest.approx(fit.bse["unmet"], rel=0.2)
        assert row["n"] == len(frame)


def surface_by_statsmodels(frame):
    m, w = (frame["mean"] - 3) / 2, frame["desired"] - 2
    design = np.column_stack([np.ones(len(frame)), m, w, m**2, m * w, w**2])
    groups = pd.factorize(frame["participant"])[0]
    return sm.OLS(frame["outcome"].to_numpy(), design).fit(cov_type="cluster", cov_kwds={"groups": groups})


def test_the_response_surface_is_that_of_statsmodels(synthetic):
    found = disrupted.response_surface(synthetic, bootstrap_of(synthetic, 2000))
    frame = disrupted.expectation_conversations(synthetic)
    fit = surface_by_statsmodels(frame)
    row = found.loc["mean rating by wish"]
    assert row["estimate"] == pytest.approx(fit.params[4], abs=1e-9)
    assert (row["high"] - row["low"]) / (2 * 1.96) == pytest.approx(fit.bse[4], rel=0.2)
