"""Weighted kappa and ICC(1): against scikit-learn, their definitions, and the rows of a resample copied out."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import cohen_kappa_score

from sense7.statistics.bootstrap import ParticipantBootstrap
from sense7.statistics.rater_agreement import STEPS, quadratic_kappa

THIRDS = st.integers(3, 21).map(lambda third: third / 3)

two_raters = st.lists(st.tuples(THIRDS, THIRDS), min_size=2, max_size=40)


def of_scikit_learn(first, second):
    """Categories are the values that occur, in their order."""
    return cohen_kappa_score(
        *np.rint(100 * np.array([first, second])).astype(int), weights="quadratic"
    )


def by_definition(first, second):
    """Observed and expected squared distance, pair by pair."""
    expected = np.mean([(a - b) ** 2 for a in first for b in second])
    return 1 - np.mean(np.square(np.subtract(first, second))) / expected


@pytest.mark.parametrize(
    ("steps", "reference"), [("scale", by_definition), ("occurring", of_scikit_learn)]
)
@settings(max_examples=50, deadline=None)
@given(pairs=two_raters)
def test_kappa_is_one_minus_observed_by_expected_distance(steps, reference, pairs):
    first, second = zip(*pairs, strict=True)
    (kappa,) = quadratic_kappa(first, second, np.ones((1, len(first))), steps=steps)
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
        (of_copies,) = quadratic_kappa(*copies, np.ones((1, 12)), steps=steps)
        np.testing.assert_allclose(kappa, of_copies, atol=1e-12)


@pytest.mark.parametrize("steps", STEPS)
def test_two_raters_without_any_difference_have_no_kappa(steps):
    once_each = np.ones((1, 2))
    assert np.isnan(quadratic_kappa([2.5, 2.5], [2.5, 2.5], once_each, steps=steps))
    assert quadratic_kappa([1, 1], [2, 2], once_each, steps=steps) == 0, (
        "both constant, at two levels"
    )
