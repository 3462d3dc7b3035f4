"""Full likelihood, and tests of several effects at once: against R, against whole matrices, and where they are plain.

The restricted likelihood and resamplings are tested with the variance parts, the random intercept with the poor turns.
"""

import numpy as np
import pandas as pd
import pytest

from sense7.estimators import mixed
from sense7.estimators.mixed import fit_nested, nested_sums


def simulated(seed, people=10):
    generator = np.random.default_rng(seed)
    who = np.repeat(np.arange(people), generator.integers(3, 8, people))
    what, talk = generator.integers(3, size=len(who)), np.arange(len(who))
    times = generator.integers(1, 4, len(who))
    who, what, talk = (np.repeat(one, times) for one in (who, what, talk))
    y = generator.normal(size=people)[who] + generator.normal(0, 0.6, (people, 3))[who, what]
    y = y + generator.normal(0, 0.7, talk.max() + 1)[talk] + generator.normal(size=len(who))
    return y, np.eye(3)[what], pd.Series(who), pd.Series(what), pd.Series(talk)


def test_fits_do_not_depend_on_how_many_are_made_at_once(monkeypatch):
    rng = np.random.default_rng(4)
    who = pd.Series(rng.integers(12, size=150)).map("P{}".format)
    cells = pd.Series(rng.choice(["a", "b", "c"], size=150))
    y = rng.normal(size=150) + who.map(dict(zip(who.unique(), rng.normal(size=12), strict=True)))
    design = np.column_stack([cells == name for name in "abc"])
    small = nested_sums(y.to_numpy(), design, who, cells)
    weights = rng.integers(3, size=(60, 12)).astype(float)
    together = fit_nested(small, weights)
    monkeypatch.setattr("sense7.estimators.mixed._ARRAYS", 1 << 17)  # so that few fit into a chunk
    apart = fit_nested(small, weights)
    np.testing.assert_allclose(apart.deviance, together.deviance, atol=1e-9)
    for name in ("coefficients", "variances"):
        np.testing.assert_allclose(getattr(apart, name), getattr(together, name), atol=1e-9)


@pytest.mark.parametrize("coding", ["conditions", "treatment and a characteristic"])
def test_derivatives_of_the_likelihood_are_its_differences(coding):
    y, design, who, what, talk = simulated(8)
    if coding != "conditions":
        design = np.column_stack([np.ones(len(y)), design[:, 1:], who % 4])
    sums, width = nested_sums(y, design, who, what, talk), 1e-5
    weights = np.random.default_rng(1).integers(3, size=(4, 10)).astype(float)
    ratios = np.random.default_rng(2).uniform(0.1, 1, (4, 3))
    at = lambda ratios: mixed._likelihood(sums, weights, np.log1p(ratios))  # noqa: E731
    found = at(ratios)
    hessian = found.curvature - found.squares[:, :, None] * found.squares[:, None] / found.freedom[:, None, None]
    for part in range(3):
        ahead, behind = at(ratios + width * np.eye(3)[part]), at(ratios - width * np.eye(3)[part])
        difference = lambda name: (getattr(ahead, name) - getattr(behind, name)) / (2 * width)  # noqa: B023, E731
        np.testing.assert_allclose(found.gradient[:, part], difference("deviance"), atol=1e-6)
        np.testing.assert_allclose(hessian[:, part], difference("gradient"), atol=1e-6)


def test_the_fit_is_where_the_gradient_is_zero_or_rises_from_the_bound():
    y, design, who, what, talk = simulated(9)
    sums = nested_sums(y, design, who, what, talk)
    weights = np.random.default_rng(3).multinomial(10, np.full(10, 0.1), 50).astype(float)
    fit = fit_nested(sums, weights)
    ratios = fit.variances[:, :3] / fit.variances[:, 3:]
    gradient = mixed._likelihood(sums, weights, np.log1p(ratios)).gradient
    np.testing.assert_allclose(gradient[ratios > 0], 0, atol=1e-8)
    assert (ratios == 0).any()
    assert (gradient[ratios == 0] > 0).all()
