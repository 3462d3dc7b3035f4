"""Parallel analysis: against R, against simulated data, and where there is none."""

import numpy as np
import pandas as pd
import pytest

from sense7.estimators import factor
from sense7.estimators.bootstrap import ParticipantBootstrap
from sense7.findings import measures
from sense7.findings.structure import number_of_factors
from sense7.workbook import read_workbook


@pytest.fixture(scope="module")
def frames(workbooks):
    study = read_workbook(workbooks["reference"])
    return {"turn_listwise": measures.turn_ratings(study), "post": measures.post_task_ratings(study)}


@pytest.mark.parametrize("which", ["turn_listwise", "post"])
def test_eigenvalues_equal_those_of_r(frames, golden, which):
    table = number_of_factors.eigenvalues(frames[which], ParticipantBootstrap(frames[which].index, 100, 1))
    golden.check(f"eigen1_{which}", table.loc[1, "estimate"], abs=1e-7)
    golden.check(f"eigen2_{which}", table.loc[2, "estimate"], abs=1e-7)
    assert table["estimate"].sum() == pytest.approx(7)


@pytest.mark.parametrize("which", ["turn_listwise", "post"])
def test_the_numbers_retained_are_those_of_psych_in_r(frames, golden, which):
    table = number_of_factors.retained(frames[which], seed=1)["estimate"]
    golden.check(f"parallel_ncomp_{which}", table["components, noise of as many units"], abs=0)
    golden.check(f"parallel_nfact_{which}", table["factors, noise of as many units"], abs=0)


def two_factors(rows=400, people=40, seed=1):
    generator = np.random.default_rng(seed)
    factors = generator.normal(size=(rows, 2)).repeat(3, axis=1)
    names = [f"P{row % people}" for row in range(rows)]
    return pd.DataFrame(factors + 0.6 * generator.normal(size=(rows, 6)), index=names, columns=list("abcdef"))


def test_two_factors_are_found_and_noise_has_none():
    assert set(number_of_factors.retained(two_factors(), seed=1)["estimate"]) == {2}
    noise = pd.DataFrame(np.random.default_rng(3).normal(size=(300, 5)), index=range(300), columns=list("abcde"))
    assert number_of_factors.retained(noise, seed=1).loc["components, noise of as many units", "estimate"] == 0


def test_noise_is_that_of_simulated_data():
    generator = np.random.default_rng(2)
    simulated = [np.linalg.eigvalsh(np.corrcoef(generator.normal(size=(5, 80))))[::-1] for _ in range(2000)]
    ours, _ = factor.noise_eigenvalues(80, 5, seed=1, simulations=2000)
    np.testing.assert_allclose(ours, np.quantile(simulated, 0.95, axis=0), atol=0.02)


def test_equal_seeds_give_equal_noise():
    first, second = (number_of_factors.parallel_analysis(two_factors(), seed=4, simulations=50) for _ in range(2))
    pd.testing.assert_frame_equal(first, second)


def test_few_participants_have_no_cautious_reference():
    table = number_of_factors.retained(two_factors(people=4), seed=1, simulations=50)
    assert table.loc["components, noise of as many participants", "reason"] == "only 4 participants for 6 items"
    assert np.isnan(table.loc["components, noise of as many participants", "estimate"])
    assert table.loc["components, noise of as many units", "estimate"] == 2
    barely = number_of_factors.retained(two_factors(people=7), seed=1, simulations=50)
    assert barely.loc["components, noise of as many participants", "reason"] == "only 7 participants for 6 items"


def test_identical_items_have_components_and_no_factors():
    frame = two_factors().assign(g=lambda f: f["a"])
    table = number_of_factors.retained(frame, seed=1, simulations=50)
    assert np.isfinite(table.loc["components, noise of as many units", "estimate"])
    reason = table.loc["factors, noise of as many units", "reason"]
    assert reason == "some of the ratings are the same, or sums of others"


def test_too_few_ratings_are_said():
    frame = two_factors()[["a", "b"]]
    table = number_of_factors.retained(frame, seed=1)
    assert set(table["reason"]) == {"only 2 of these ratings were given and vary; this needs 3"}
    assert number_of_factors.parallel_analysis(frame, seed=1).empty
    row = number_of_factors.eigenvalues(frame, ParticipantBootstrap(frame.index, 100, 1))
    assert row["estimate"].isna().all()
    assert set(row["reason"]) == set(table["reason"])
