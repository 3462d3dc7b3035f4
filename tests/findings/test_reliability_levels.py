"""Within conversations and between them: against plain loops, against known variances, and where there is nothing."""

import itertools
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from helpers.studies import draws_of
from sense7.estimators import alpha as alpha_module
from sense7.estimators.bootstrap import ParticipantBootstrap
from sense7.findings import measures
from sense7.findings.reliability import levels
from sense7.findings.structure import items
from sense7.taxonomy import DIMENSION_NAMES
from sense7.workbook import parse_sheets, read_workbook


@pytest.fixture(scope="module")
def study(workbooks):
    return read_workbook(workbooks["reference"])


def nested(seed=1, people=12, talks=4, turns=(2, 7), between=1.0, within=1.0, noise=0.5, holes=0.2):
    """Ratings of two levels with one common part at each: person and talk of each turn are the index."""
    generator = np.random.default_rng(seed)
    rows = []
    for person, talk in itertools.product(range(people), range(talks)):
        common = between * generator.normal()
        for _ in range(generator.integers(*turns)):
            ratings = 3 + common + within * generator.normal() + noise * generator.normal(size=7)
            ratings[generator.random(7) < holes] = np.nan
            rows.append((f"P{person}", f"P{person}-{talk}", *ratings))
    frame = pd.DataFrame(rows, columns=["participant", "conversation", *DIMENSION_NAMES])
    return frame.set_index(["participant", "conversation"])


def by_loops(frame, a, b):
    """Covariances within and between conversations of two items, by the definitions, one conversation at a time."""
    parts = []
    for _, own in frame[[a, b]].set_axis(["x", "y"], axis=1).groupby(level=1):
        both = own.dropna()
        if len(both):
            parts.append(both.to_numpy())
    pooled = np.concatenate(parts)
    crossed = sum(((part - part.mean(axis=0)).prod(axis=1)).sum() for part in parts)
    within = crossed / sum(len(part) - 1 for part in parts)
    distances = [len(part) * (part.mean(axis=0) - pooled.mean(axis=0)).prod() for part in parts]
    sizes = np.array([len(part) for part in parts])
    per_group = (sizes.sum() - (sizes**2).sum() / sizes.sum()) / (len(parts) - 1)
    return within, (sum(distances) / (len(parts) - 1) - within) / per_group


def test_covariances_of_both_levels_are_those_of_plain_loops():
    frame = nested()
    sums = alpha_module.nested_moments(frame)[0].sum(axis=0)
    within, between = alpha_module.within_covariances(sums), alpha_module.between_covariances(sums)
    for (i, a), (j, b) in itertools.product(enumerate(frame), repeat=2):
        assert (within[i, j], between[i, j]) == pytest.approx(by_loops(frame, a, b), abs=1e-10)


def test_within_is_the_residual_of_a_regression_on_the_conversation():
    from statsmodels.formula.api import ols

    frame = nested(holes=0.0).reset_index()
    residuals = np.column_stack(
        [ols(f"{name} ~ C(conversation)", frame).fit().resid for name in ("Affective", "Relational")]
    )
    expected = residuals.T @ residuals / (len(frame) - frame["conversation"].nunique())
    used = frame.set_index(["participant", "conversation"])[["Affective", "Relational"]]
    sums = alpha_module.nested_moments(used)[0].sum(axis=0)
    np.testing.assert_allclose(alpha_module.within_covariances(sums), expected, atol=1e-10)


def test_both_levels_have_the_variances_that_were_drawn():
    """Of a common part at each level and noise within: so many conversations that chance is small."""
    frame = nested(seed=3, people=600, talks=5, between=0.8, within=0.6, noise=0.5, holes=0.3)
    sums = alpha_module.nested_moments(frame)[0].sum(axis=0)
    off = ~np.eye(7, dtype=bool)
    within, between = alpha_module.within_covariances(sums), alpha_module.between_covariances(sums)
    assert within[off].mean() == pytest.approx(0.36, abs=0.02)
    assert np.diagonal(within).mean() == pytest.approx(0.36 + 0.25, abs=0.02)
    assert between.mean() == pytest.approx(0.64, abs=0.05), "noise is none of this level"
    table = levels.alphas_by_level(frame, draws_of(frame))["estimate"]
    assert table["within conversations"] == pytest.approx(7 * 0.36 / (7 * 0.36 + 0.25), abs=0.01)
    assert table["between conversations"] == pytest.approx(1, abs=0.01)
    averages = levels.average_correlations_by_level(frame, draws_of(frame))["estimate"]
    assert averages["within conversations"] == pytest.approx(0.36 / 0.61, abs=0.02)


def test_differences_between_participants_and_conversations_do_not_change_correlations_within():
    frame = nested()
    generator = np.random.default_rng(8)
    shifts = generator.normal(0, 5, size=frame.index.get_level_values(1).nunique())
    shifted = frame.add(shifts[pd.factorize(frame.index.get_level_values(1))[0]], axis=0)
    for function in (levels.alphas_by_level, levels.average_correlations_by_level):
        first, second = function(frame, draws_of(frame)), function(shifted, draws_of(frame))
        within = first.index.str.startswith("within")
        columns = ["estimate", "low", "high"]
        np.testing.assert_allclose(first.loc[within, columns], second.loc[within, columns], atol=1e-7)


def test_one_conversation_each_of_all_turns_makes_within_the_whole():
    """With a single conversation, pooled covariances are the usual ones of its turns."""
    frame = nested(people=1, talks=1, turns=(40, 41), holes=0.3)
    alpha = levels.alphas_by_level(frame, draws_of(frame)).loc["within conversations"]
    assert alpha["estimate"] == pytest.approx(alpha_module.cronbach_alpha(frame.to_numpy()), abs=1e-12)
    averages = levels.average_correlations_by_level(frame, draws_of(frame))
    expected = items.average_correlation_row(frame.droplevel(1), draws_of(frame))["estimate"]
    assert averages.loc["within conversations", "estimate"] == pytest.approx(expected, abs=1e-12)
    assert np.isnan(averages.loc["between conversations", "estimate"])


def test_resampled_values_are_those_of_the_conversations_copied_out(copies_of, resampled):
    frame = nested(people=8)
    bootstrap, times = copies_of(draws_of(frame))
    table = levels.average_correlations_by_level(frame, bootstrap)
    copies = []
    for person, count in times.items():
        for copy in range(count):
            own = frame.loc[[person]].reset_index()
            own["conversation"] += f" copy {copy}"
            copies.append(own)
    again = pd.concat(copies).set_index(["participant", "conversation"])
    expected = levels.average_correlations_by_level(again, draws_of(again))["estimate"]
    np.testing.assert_allclose(resampled(table), expected, atol=1e-10)


def test_alpha_within_has_its_logarithmic_interval_and_alpha_between_one_that_may_pass_one():
    frame = nested(people=60, noise=0.3)
    table = levels.alphas_by_level(frame, draws_of(frame))
    assert table["high"].iloc[0] < 1
    assert table["method"].str.contains("on the scale log").tolist() == [True, False]
    assert (table["low"] < table["estimate"]).all()
    assert (table["estimate"] < table["high"]).all()


def test_ratings_of_the_reference_study_are_more_consistent_between_conversations_than_within(study):
    frame = measures.nested_turn_ratings(study)
    assert list(frame) == list(DIMENSION_NAMES)
    assert len(frame) == len(study.turns_put_to_rating)
    bootstrap = ParticipantBootstrap(study.conversations["participant"], 100, 1)
    pooled = alpha_module.cronbach_alpha(frame.to_numpy())
    alphas = levels.alphas_by_level(frame, bootstrap)["estimate"]
    assert alphas["within conversations"] < pooled < alphas["between conversations"]


def test_the_matrix_within_is_that_of_the_definition():
    frame = nested()
    matrix = levels.correlation_matrix_within(frame.assign(Interest=np.nan))
    cross, own = by_loops(frame, "Affective", "Cognitive")[0], by_loops(frame, "Affective", "Affective")[0]
    expected = cross / np.sqrt(own * by_loops(frame, "Cognitive", "Cognitive")[0])
    assert matrix.loc["Affective", "Cognitive"] == pytest.approx(expected, abs=1e-12)
    assert matrix.loc["Interest"].isna().all()


# --- where there is none --------------------------------------------------------------------

FUNCTIONS = [levels.alphas_by_level, levels.average_correlations_by_level]


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda f: f * np.nan, "none of these ratings was given and varies; this needs"),
        (lambda f: f.assign(**dict.fromkeys(DIMENSION_NAMES[1:], np.nan)), "only 1 of these ratings was given"),
        (lambda f: f.groupby(level=1).head(1), "no conversation has two turns that rate the same two dimensions"),
        (lambda f: f.groupby(level=1).transform("first"), "a dimension does not vary within conversations"),
    ],
)
def test_without_variation_within_conversations_the_reason_says_so(function, change, reason):
    frame = change(nested(holes=0.0))
    table = function(frame, draws_of(frame))
    within = table[table.index.str.startswith("within")]
    assert within["estimate"].isna().all()
    assert within["reason"].str.startswith(reason).all()
    assert levels.correlation_matrix_within(frame).isna().to_numpy().any()


def test_dimensions_that_are_lacking_are_named():
    frame = nested().assign(Relational=np.nan)
    row = levels.alphas_by_level(frame, draws_of(frame)).loc["within conversations"]
    assert row["reason"] == "6 dimensions; never rated: Relational"


def test_one_participant_has_values_and_no_intervals():
    frame = nested(people=1, talks=12)
    table = levels.alphas_by_level(frame, draws_of(frame))
    assert table["estimate"].notna().all()
    assert set(table["reason"]) == {"no interval: only 1 participant to resample"}


@pytest.mark.parametrize("function", FUNCTIONS)
def test_a_study_of_one_rated_turn_per_conversation_has_nothing_within(function, workbooks):
    other = read_workbook(workbooks["ieval"])
    table = function(measures.nested_turn_ratings(other), ParticipantBootstrap(other.conversations["participant"], 50))
    assert table["estimate"].isna().all()
    assert set(table["reason"]) == {"no conversation has two turns that rate the same two dimensions"}


@pytest.mark.parametrize("function", FUNCTIONS)
def test_a_small_study_says_what_it_lacks(function, minimal_sheets):
    other = parse_sheets(minimal_sheets(messages=dict.fromkeys(DIMENSION_NAMES, [None, "good", None, "good"] * 4)))
    table = function(measures.nested_turn_ratings(other), ParticipantBootstrap(other.conversations["participant"], 50))
    assert table["estimate"].isna().all()
    assert table["reason"].str.startswith("none of these ratings was given and varies").all()


def test_other_confidence_other_width():
    frame = nested(holes=0.0)
    wide, narrow = (
        levels.alphas_by_level(frame, replace(draws_of(frame), confidence=confidence)) for confidence in (0.95, 0.5)
    )
    assert ((wide["high"] - wide["low"]) > (narrow["high"] - narrow["low"])).all()
