"""Agreement of raters: quadratic kappa by its definition and scikit-learn's; intraclass correlations at their ends."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import cohen_kappa_score

import sense7 as s7
from sense7.errors import UserError
from sense7.estimators.bootstrap import ParticipantBootstrap
from sense7.estimators.rater_agreement import STEPS, quadratic_kappa

THIRDS = st.integers(3, 21).map(lambda third: third / 3)

two_raters = st.lists(st.tuples(THIRDS, THIRDS), min_size=2, max_size=40)


def of_scikit_learn(first, second):
    """Categories are the values that occur, in their order."""
    return cohen_kappa_score(*np.rint(100 * np.array([first, second])).astype(int), weights="quadratic")


def by_definition(first, second):
    """Observed and expected squared distance, pair by pair."""
    expected = np.mean([(a - b) ** 2 for a in first for b in second])
    return 1 - np.mean(np.square(np.subtract(first, second))) / expected


@pytest.mark.parametrize(("steps", "reference"), [("scale", by_definition), ("occurring", of_scikit_learn)])
@settings(max_examples=50, deadline=None)
@given(pairs=two_raters)
def test_kappa_is_one_minus_observed_by_expected_distance(steps, reference, pairs):
    first, second = zip(*pairs, strict=True)
    kappa = quadratic_kappa(first, second, steps=steps)
    if len({*first, *second}) == 1:
        assert np.isnan(kappa)
    else:
        assert kappa == pytest.approx(reference(first, second), abs=1e-12)


@pytest.mark.parametrize("steps", STEPS)
def test_a_resample_has_the_kappa_of_its_units_copied_out(steps):
    """So the values that occur are those of the resample."""
    generator = np.random.default_rng(3)
    first, second = generator.integers(1, 8, (2, 12)) / 2
    bootstrap = ParticipantBootstrap([f"u{number}" for number in range(12)], draws=150, seed=1)
    kappas = quadratic_kappa(first, second, bootstrap.weights(), steps=steps)
    assert kappas.shape == (150,)
    for kappa, weights in zip(kappas, bootstrap.weights().astype(int), strict=True):
        copies = np.repeat(first, weights), np.repeat(second, weights)
        np.testing.assert_allclose(kappa, quadratic_kappa(*copies, steps=steps), atol=1e-12)


@pytest.mark.parametrize("steps", STEPS)
def test_two_raters_without_any_difference_have_no_kappa(steps):
    assert np.isnan(quadratic_kappa([2.5, 2.5], [2.5, 2.5], steps=steps))
    assert np.isnan(quadratic_kappa([1, 2], [1, 3], np.zeros(2), steps=steps)), "nothing is taken"
    assert np.isnan(quadratic_kappa([], [], steps=steps))
    assert quadratic_kappa([1, 1], [2, 2], steps=steps) == 0, "both constant, at two levels"


def test_ratings_that_do_not_match_are_refused():
    with pytest.raises(UserError, match="got 2 and 3"):
        quadratic_kappa([1, 2], [1, 2, 3])
    with pytest.raises(UserError, match=r"1 are missing\. Leave out"):
        quadratic_kappa([1, np.nan], [1, 2])
    with pytest.raises(UserError, match="'scale' or 'occurring' as steps; got 'levels'"):
        quadratic_kappa([1, 2], [1, 2], steps="levels")


@pytest.mark.parametrize(
    ("table", "perfect"),
    [
        ([[1, 1], [3, 3], [5, 5]], ("ICC1", "ICC2", "ICC3")),
        ([[1 / 3] * 3, [0.1] * 3, [2 / 3] * 3], ("ICC1", "ICC2", "ICC3")),
        ([[1, 2], [3, 4], [4, 5]], ("ICC3",)),
        ([[0.1, 0.2], [0.3, 0.4]], ("ICC3",)),
    ],
)
def test_perfect_agreement_is_1_with_its_limits(table, perfect):
    found = s7.icc(np.array(table, dtype=float))
    assert np.isfinite(found.to_numpy()).all()
    for name in perfect:
        assert found.loc[[name, f"{name}k"]].to_numpy() == pytest.approx(1, abs=1e-12)
    others = [name for name in ("ICC1", "ICC2", "ICC3") if name not in perfect]
    assert (found.loc[others, "estimate"] < 0.99).all()


@pytest.mark.parametrize("level", [3.0, 0.1])
def test_nothing_is_defined_where_nothing_varies(level):
    assert s7.icc(np.full((5, 3), level)).isna().all(axis=None)
