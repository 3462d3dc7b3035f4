r"""Alternative annotator test: whether a judge represents the other annotators at least as well as one of them does.

Each annotator is left out in turn. On every instance it is asked who is closer to the remaining annotators, the judge
or the one left out. The judge *wins* against an annotator if its share of instances is, beyond chance, not lower by as
much as :math:`\varepsilon`, the price that a person's work is worth. The authors correct the p values of the annotators
of one data set by the procedure of Benjamini and Yekutieli at 0.05, and let a judge replace them from a winning rate of
one half on. They use the t test from 30 instances on, and Wilcoxon's signed rank test below; here is the t test alone.

Calderon, N., Reichart, R., & Dror, R. (2025). The alternative annotator test for LLM-as-a-judge: How to statistically
justify replacing human annotators with LLMs. ACL 2025, 16051-16081, arXiv 2501.10970.
"""

from typing import NamedTuple

import numpy as np
from scipy.special import stdtr

from sense7.statistics.order import rounded

FEWEST_INSTANCES = 30
"""Instances of an annotator below which the t test is not used."""


class Wins(NamedTuple):
    """Who is at least as close to the others, on each instance and for each annotator; NaN where that can't be said."""

    judge: np.ndarray
    annotator: np.ndarray


class AlternativeTest(NamedTuple):
    r"""The test against each annotator."""

    advantage: np.ndarray
    p: np.ndarray


def wins(judge: np.ndarray, annotators: np.ndarray, reference: np.ndarray | None = None) -> Wins:
    r"""Compare the judge with each annotator who is left out.

    The closeness of a rating r to the remaining annotators of an instance is
    :math:`-\sqrt{\frac{1}{|R|} \sum_{k \in R} (r - x_k)^2}`.

    Examples
    --------
    >>> found = wins(np.array([3.0, 5.0]), np.array([[3.0, 3, 5], [1, 1, 1]]))
    >>> found.judge.tolist(), found.annotator.tolist()
    ([[1.0, 1.0, 1.0], [0.0, 0.0, 0.0]], [[1.0, 1.0, 0.0], [1.0, 1.0, 1.0]])
    """
    judge = np.asarray(judge, dtype=float)
    annotators = np.asarray(annotators, dtype=float)
    wins_of_judge = np.full(annotators.shape, np.nan)
    wins_of_annotator = np.full(annotators.shape, np.nan)
    for column in range(annotators.shape[1]):
        if reference is None:
            remaining = np.delete(annotators, column, axis=1)
        else:
            remaining = np.asarray(reference, dtype=float)[:, None]
        from_judge = rounded(_distance(judge, remaining))
        from_annotator = rounded(_distance(annotators[:, column], remaining))
        compared = np.isfinite(from_judge) & np.isfinite(from_annotator)
        wins_of_judge[compared, column] = (from_judge <= from_annotator)[compared]
        wins_of_annotator[compared, column] = (from_annotator <= from_judge)[compared]
    return Wins(wins_of_judge, wins_of_annotator)


def _distance(rating: np.ndarray, remaining: np.ndarray) -> np.ndarray:
    """Root mean squared difference of a rating from those of the remaining annotators that there are."""
    present = np.isfinite(remaining)
    squares = np.where(present, (rating[:, None] - remaining) ** 2, 0)
    with np.errstate(divide="ignore", invalid="ignore"):  # nobody remains: NaN
        return np.sqrt(squares.sum(axis=1) / present.sum(axis=1))


def alternative_test(
    found: Wins, epsilon: float = 0.2, weights: np.ndarray | None = None
) -> AlternativeTest:
    r"""Test the judge against each annotator, in the data or in every resample of instances.

    With :math:`d_{ij}` the win of annotator j minus that of the judge on instance i, the hypothesis
    :math:`E\,d_j \ge \varepsilon` is tested by

    .. math:: t_j = \frac{\bar d_j - \varepsilon}{s_j / \sqrt{n}}

    with n - 1 degrees of freedom; small p values speak for the judge.

    R: t.test(mu=epsilon, alternative='less'), p.adjust(method='BY'), tests/reference/reference.R; equal to 1e-7.

    Examples
    --------
    >>> judge = np.tile([3.0, 3, 3, 1], 10)
    >>> found = alternative_test(wins(judge, np.tile([3.0, 3, 4], (40, 1))))
    >>> found.advantage.tolist(), found.p.round(3).tolist()
    ([0.75, 0.75, 0.75], [0.762, 0.762, 0.0])
    """
    compared = np.isfinite(found.judge)
    win_of_judge = np.where(compared, found.judge, 0)
    difference = np.where(compared, found.annotator, 0) - win_of_judge
    times_taken = np.ones((1, len(compared)))
    if weights is not None:
        times_taken = np.asarray(weights, dtype=float)
    n = times_taken @ compared
    with np.errstate(divide="ignore", invalid="ignore"):
        advantage = times_taken @ win_of_judge / n
        mean = times_taken @ difference / n
        variance = (times_taken @ difference**2 - n * mean**2) / (n - 1)
        t = (mean - epsilon) / np.sqrt(variance / n)
    # Without variance the mean is certain.
    certain = np.where(rounded(mean) < epsilon, -np.inf, np.inf)
    t = np.where(rounded(variance) == 0, certain, t)
    p = np.where(n < FEWEST_INSTANCES, np.nan, stdtr(n - 1, t))
    if weights is None:
        return AlternativeTest(advantage[0], p[0])
    return AlternativeTest(advantage, p)


def benjamini_yekutieli(p: np.ndarray) -> np.ndarray:
    r"""Hypotheses that are rejected at a false discovery rate of 0.05 under any dependence of the tests.

    The k smallest p values are rejected for the largest k with
    :math:`p_{(k)} \le \frac{k}{m} \frac{0.05}{\sum_{i=1}^m 1/i}`.

    Examples
    --------
    >>> benjamini_yekutieli(np.array([0.001, 0.02, 0.5])).tolist()
    [True, False, False]
    """
    p = np.asarray(p, dtype=float)
    tested = np.isfinite(p)
    tests = tested.sum(axis=-1, keepdims=True)
    places = np.arange(1, p.shape[-1] + 1)
    harmonic_sums = np.concatenate([[1.0], np.cumsum(1 / places)])
    p_or_last = np.where(tested, p, np.inf)
    ordered = np.sort(p_or_last, axis=-1)
    limits = places * 0.05 / (np.maximum(tests, 1) * harmonic_sums[tests])
    rejections = np.where(ordered <= limits, places, 0).max(axis=-1, keepdims=True)
    largest_rejected = np.take_along_axis(ordered, np.maximum(rejections - 1, 0), axis=-1)
    return tested & (rejections > 0) & (p_or_last <= largest_rejected)


def winning_rate(rejected: np.ndarray, p: np.ndarray) -> np.ndarray:
    r"""Winning rate :math:`\omega`: share of the annotators against whom the judge wins; NaN where none was tested.

    Examples
    --------
    >>> winning_rate(np.array([True, False, False]), np.array([0.001, 0.5, np.nan])).item()
    0.5
    """
    tested = np.isfinite(p).sum(axis=-1)
    with np.errstate(invalid="ignore"):
        return np.where(tested > 0, rejected.sum(axis=-1) / np.maximum(tested, 1), np.nan)
