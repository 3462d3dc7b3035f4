"""Mixed models: the likelihood against the covariance matrix written out, and its minimum (lme4's: tests/reference)."""

import numpy as np
import pandas as pd
import pytest

from sense7.statistics.mixed import fit_nested, nested_sums, restricted_likelihood


def simulated(seed, people=10):
    generator = np.random.default_rng(seed)
    who = np.repeat(np.arange(people), generator.integers(3, 8, people))
    what, talk = generator.integers(3, size=len(who)), np.arange(len(who))
    times = generator.integers(1, 4, len(who))
    who, what, talk = (np.repeat(one, times) for one in (who, what, talk))
    y = generator.normal(size=people)[who] + generator.normal(0, 0.6, (people, 3))[who, what]
    y = y + generator.normal(0, 0.7, talk.max() + 1)[talk] + generator.normal(size=len(who))
    return y, np.eye(3)[what], pd.Series(who), pd.Series(what), pd.Series(talk)


@pytest.mark.parametrize("coding", ["conditions", "treatment and a characteristic"])
def test_the_deviance_is_that_of_the_covariance_matrix_written_out(coding):
    y, design, who, what, talk = simulated(8)
    if coding != "conditions":
        design = np.column_stack([np.ones(len(y)), design[:, 1:], who % 4])
    sums = nested_sums(y, design, who, what, talk)
    times_taken = np.random.default_rng(1).integers(3, size=10)
    ratios = np.array([0.3, 0.6, 0.2])
    copies = [
        np.flatnonzero(who == name) for name in who.unique() for _ in range(times_taken[name])
    ]
    rows, person = np.concatenate(copies), np.repeat(np.arange(len(copies)), [*map(len, copies)])
    cell = person * 10 + what.to_numpy()[rows]
    group = person * 1000 + talk.to_numpy()[rows]
    V = np.eye(len(rows))
    for ratio, unit in zip(ratios, (person, cell, group), strict=True):
        V += ratio * np.equal.outer(unit, unit)
    X, inverse = design[rows], np.linalg.inv(V)
    information = X.T @ inverse @ X
    coefficients = np.linalg.solve(information, X.T @ inverse @ y[rows])
    residuals = y[rows] - X @ coefficients
    freedom = len(rows) - X.shape[1]
    variance = residuals @ inverse @ residuals / freedom
    logs = np.linalg.slogdet(V)[1] + np.linalg.slogdet(information)[1]
    found = restricted_likelihood(sums, times_taken[None].astype(float), np.log1p(ratios)[None])
    assert found.deviance[0] == pytest.approx(freedom * np.log(variance) + logs, abs=1e-9)
    assert found.residual[0] == pytest.approx(variance)
    np.testing.assert_allclose(found.coefficients[0], coefficients, atol=1e-9)


def test_no_ratios_near_the_fit_are_likelier():
    y, design, who, what, talk = simulated(9)
    sums = nested_sums(y, design, who, what, talk)
    weights = np.random.default_rng(3).multinomial(10, np.full(10, 0.1), 50).astype(float)
    fit = fit_nested(sums, weights)
    log_ratio = np.log1p(fit.ratios)
    assert (fit.ratios == 0).any()
    lowest = restricted_likelihood(sums, weights, log_ratio).deviance
    for step in 1e-3 * np.vstack([np.eye(3), -np.eye(3)]):
        moved = np.maximum(log_ratio + step, 0)
        assert (restricted_likelihood(sums, weights, moved).deviance >= lowest - 1e-10).all()
