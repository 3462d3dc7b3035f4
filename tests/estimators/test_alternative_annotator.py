"""The alternative annotator test: the paper's definitions, written down a second time with scipy and statsmodels."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import stats
from statsmodels.stats.multitest import multipletests

from sense7.estimators.alternative_annotator import (
    FEWEST_INSTANCES,
    alternative_test,
    benjamini_yekutieli,
    winning_rate,
    wins,
)

NAN = np.nan


def by_hand(judge, annotators, column, epsilon, reference=None):
    """Advantage probability and p value against one annotator, instance by instance."""
    of_judge, apart = [], []
    for row in range(len(judge)):
        others = [x for k, x in enumerate(annotators[row]) if k != column and not np.isnan(x)]
        others = others if reference is None else [x for x in [reference[row]] if not np.isnan(x)]
        if not others or np.isnan(judge[row]) or np.isnan(annotators[row][column]):
            continue
        far, near = (-np.sqrt(np.mean([(x - r) ** 2 for r in others])) for x in (judge[row], annotators[row][column]))
        f, h = int(far >= near - 1e-9), int(near >= far - 1e-9)
        of_judge.append(f)
        apart.append(h - f)
    return np.mean(of_judge), apart


ratings = arrays(float, (40, 4), elements=st.sampled_from([1.0, 2.0, 3.0, 3.5, 5.0, NAN]))


@settings(max_examples=60, deadline=None)
@given(table=ratings, epsilon=st.sampled_from([0.0, 0.1, 0.2]), alone=st.booleans())
def test_advantage_and_p_value_are_those_of_the_definition(table, epsilon, alone):
    judge, annotators = table[:, 0], table[:, 1:]
    reference = annotators[:, 2] if alone else None
    annotators = annotators[:, :2] if alone else annotators
    found = alternative_test(wins(judge, annotators, reference), epsilon)
    for column in range(annotators.shape[1]):
        with np.errstate(all="ignore"):
            advantage, apart = (
                by_hand(judge, annotators, column, epsilon, reference)
                if (np.isfinite(judge) & np.isfinite(annotators[:, column])).any()
                and _compared(judge, annotators, column, reference)
                else (NAN, [])
            )
        assert found.advantage[column] == pytest.approx(advantage, nan_ok=True)
        if len(apart) < FEWEST_INSTANCES:
            assert np.isnan(found.p[column])
        elif np.ptp(apart):
            expected = stats.ttest_1samp(apart, epsilon, alternative="less").pvalue
            assert found.p[column] == pytest.approx(expected, rel=1e-9, abs=1e-14)
        else:
            assert found.p[column] == (0 if apart[0] < epsilon else 1)


def _compared(judge, annotators, column, reference):
    others = np.delete(annotators, column, axis=1) if reference is None else reference[:, None]
    known = np.isfinite(judge) & np.isfinite(annotators[:, column]) & np.isfinite(others).any(axis=1)
    return known.any()


def test_a_resample_is_the_test_of_its_rows_copied_out():
    generator = np.random.default_rng(1)
    table = generator.integers(1, 6, (40, 4)).astype(float)
    found = wins(table[:, 0], table[:, 1:])
    rows = generator.integers(40, size=(5, 40))
    weights = np.array([np.bincount(row, minlength=40) for row in rows])
    drawn = alternative_test(found, 0.2, weights)
    for number, row in enumerate(rows):
        copied = alternative_test(wins(table[row, 0], table[row, 1:]), 0.2)
        assert drawn.advantage[number] == pytest.approx(copied.advantage)
        assert drawn.p[number] == pytest.approx(copied.p)


@settings(max_examples=200, deadline=None)
@given(
    st.lists(st.one_of(st.floats(0, 1), st.floats(0, 0.02), st.just(NAN)), min_size=1, max_size=8),
    st.sampled_from([0.05, 0.2]),
)
def test_rejections_are_those_of_statsmodels(p, q):
    p = np.array(p)
    known = np.isfinite(p)
    expected = np.zeros(len(p), dtype=bool)
    if known.any():
        expected[known] = multipletests(p[known], q, method="fdr_by")[0]
    assert benjamini_yekutieli(p, q).tolist() == expected.tolist()
    assert benjamini_yekutieli(np.array([p, p[::-1]]), q)[1].tolist() == expected[::-1].tolist()


def test_a_winning_rate_is_a_share_of_the_tests_that_were_made():
    p = np.array([[0.0, 0.0, NAN], [NAN, NAN, NAN]])
    rates = winning_rate(np.array([[True, False, False], [False, False, False]]), p)
    assert rates[0] == 0.5
    assert np.isnan(rates[1])
