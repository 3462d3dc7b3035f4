"""The alternative annotator test: against its definition, scipy and statsmodels."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import stats
from statsmodels.stats.multitest import multipletests

from sense7.statistics.alternative_annotator import (
    FEWEST_INSTANCES,
    alternative_test,
    benjamini_yekutieli,
    winning_rate,
    wins,
)

NAN = np.nan


def against_one(judge, annotators, column, reference=None):
    """Wins of the judge, and how much more often one annotator wins, instance by instance."""
    wins_of_judge, differences = [], []
    for row in range(len(judge)):
        others = np.delete(annotators[row], column) if reference is None else reference[row]
        others = np.array(others)[np.isfinite(others)]
        own = annotators[row][column]
        if not len(others) or np.isnan(judge[row]) or np.isnan(own):
            continue
        from_judge = np.sqrt(np.mean((judge[row] - others) ** 2))
        from_annotator = np.sqrt(np.mean((own - others) ** 2))
        wins_of_judge.append(from_judge <= from_annotator + 1e-9)
        differences.append(int(from_annotator <= from_judge + 1e-9) - int(wins_of_judge[-1]))
    return wins_of_judge, differences


ratings = arrays(float, (40, 4), elements=st.sampled_from([1.0, 2.0, 3.0, 3.5, 5.0, NAN]))


@settings(max_examples=60, deadline=None)
@given(table=ratings, epsilon=st.sampled_from([0.0, 0.1, 0.2]), alone=st.booleans())
def test_advantage_and_p_value_are_those_of_the_definition(table, epsilon, alone):
    judge, annotators, reference = table[:, 0], table[:, 1:], None
    if alone:
        annotators, reference = table[:, 1:3], table[:, 3:]
    found = alternative_test(wins(judge, annotators, reference[:, 0] if alone else None), epsilon)
    for column in range(annotators.shape[1]):
        wins_of_judge, differences = against_one(judge, annotators, column, reference)
        expected = np.mean(wins_of_judge) if wins_of_judge else NAN
        assert found.advantage[column] == pytest.approx(expected, nan_ok=True)
        if len(differences) < FEWEST_INSTANCES:
            assert np.isnan(found.p[column])
        elif np.ptp(differences):
            expected = stats.ttest_1samp(differences, epsilon, alternative="less").pvalue
            assert found.p[column] == pytest.approx(expected, rel=1e-9, abs=1e-14)
        else:
            assert found.p[column] == (0 if differences[0] < epsilon else 1)


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
)
def test_rejections_are_those_of_statsmodels(p):
    p = np.array(p)
    known = np.isfinite(p)
    expected = np.zeros(len(p), dtype=bool)
    if known.any():
        expected[known] = multipletests(p[known], 0.05, method="fdr_by")[0]
    assert benjamini_yekutieli(p).tolist() == expected.tolist()
    assert benjamini_yekutieli(np.array([p, p[::-1]]))[1].tolist() == expected[::-1].tolist()


def test_a_winning_rate_is_a_share_of_the_tests_that_were_made():
    p = np.array([[0.0, 0.0, NAN], [NAN, NAN, NAN]])
    rates = winning_rate(np.array([[True, False, False], [False, False, False]]), p)
    assert rates[0] == 0.5
    assert np.isnan(rates[1])
