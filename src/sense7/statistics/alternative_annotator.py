r"""Alternative annotator test: whether a judge represents the other annotators at least as well as one of them does.

Each annotator is left out in turn. On every instance it is asked who is closer to the remaining annotators, the judge
or the one left out. The judge *wins* against an annotator if its share of instances is, beyond chance, not lower by as
much as :math:`\varepsilon`, the price that a person's work is worth. The authors correct the p values of the annotators
of one data set by the procedure of Benjamini and Yekutieli at 0.05, and let a judge replace them from a winning rate of
one half on. They use the t test, which is here, from 30 instances on, and Wilcoxon's signed rank test below.

Calderon, N., Reichart, R., & Dror, R. (2025). The alternative annotator test for LLM-as-a-judge: How to statistically
justify replacing human annotators with LLMs. ACL 2025, 16051-16081, arXiv 2501.10970.
"""

from typing import NamedTuple

import numpy as np
from scipy import stats

from sense7.statistics.order import rounded

FALSE_DISCOVERY_RATE = 0.05


class Wins(NamedTuple):
    """Who is at least as close to the others, on each instance and for each annotator."""

    judge: np.ndarray
    annotator: np.ndarray


class AlternativeTest(NamedTuple):
    r"""The test against each annotator."""

    advantage: np.ndarray
    p: np.ndarray


def wins(judge: np.ndarray, annotators: np.ndarray, reference: np.ndarray | None = None) -> Wins:
    r"""Compare the judge with each annotator who is left out; nobody lacks a rating.

    The closeness of a rating r to the remaining annotators of an instance is
    :math:`-\sqrt{\frac{1}{|R|} \sum_{k \in R} (r - x_k)^2}`.

    Examples
    --------
    >>> found = wins(np.array([3.0, 5.0]), np.array([[3.0, 3, 5], [1, 1, 1]]))
    >>> found.judge.tolist(), found.annotator.tolist()
    ([[1.0, 1.0, 1.0], [0.0, 0.0, 0.0]], [[1.0, 1.0, 0.0], [1.0, 1.0, 1.0]])
    """
    wins_of_judge = np.empty(annotators.shape)
    wins_of_annotator = np.empty(annotators.shape)
    for column, annotator in enumerate(annotators.T):
        remaining = np.delete(annotators, column, axis=1)
        if reference is not None:
            remaining = reference[:, None]
        from_judge = _distance(judge, remaining)
        from_annotator = _distance(annotator, remaining)
        wins_of_judge[:, column] = from_judge <= from_annotator
        wins_of_annotator[:, column] = from_annotator <= from_judge
    return Wins(wins_of_judge, wins_of_annotator)


def _distance(rating: np.ndarray, remaining: np.ndarray) -> np.ndarray:
    """Root mean squared difference of a rating from those of the remaining annotators."""
    squares = (rating[:, None] - remaining) ** 2
    return rounded(np.sqrt(squares.mean(axis=1)))


def alternative_test(found: Wins, epsilon: float, weights: np.ndarray) -> AlternativeTest:
    r"""Test the judge against each annotator, in every resample of instances: (draws, annotators).

    With :math:`d_{ij}` the win of annotator j minus that of the judge on instance i, the hypothesis
    :math:`E\,d_j \ge \varepsilon` is tested by

    .. math:: t_j = \frac{\bar d_j - \varepsilon}{s_j / \sqrt{n}}

    with n - 1 degrees of freedom; small p values speak for the judge.

    R: t.test(mu=epsilon, alternative='less'), p.adjust(method='BY'), tests/reference/reference.R; equal to 1e-7.

    Examples
    --------
    >>> judge = np.tile([3.0, 3, 3, 1], 10)
    >>> found = alternative_test(wins(judge, np.tile([3.0, 3, 4], (40, 1))), 0.2, np.ones((1, 40)))
    >>> found.advantage.tolist(), found.p.round(3).tolist()
    ([[0.75, 0.75, 0.75]], [[0.762, 0.762, 0.0]])
    """
    n = weights.sum(axis=1, keepdims=True)
    advantage = weights @ found.judge / n
    difference = found.annotator - found.judge
    mean = weights @ difference / n
    variance = (weights @ difference**2 - n * mean**2) / (n - 1)
    with np.errstate(divide="ignore", invalid="ignore"):
        t = (mean - epsilon) / np.sqrt(variance / n)
    # Without variance the mean is certain.
    certain = np.where(rounded(mean) < epsilon, -np.inf, np.inf)
    t = np.where(rounded(variance) == 0, certain, t)
    return AlternativeTest(advantage, stats.t.cdf(t, n - 1))


def winning_rate(p: np.ndarray) -> np.ndarray:
    r"""Winning rate :math:`\omega`: share of the annotators, the last axis, against whom the judge wins.

    By the procedure of Benjamini and Yekutieli, which holds the false discovery rate under any dependence of the tests.

    Examples
    --------
    >>> winning_rate(np.array([0.001, 0.02, 0.5])).round(3)
    np.float64(0.333)
    """
    adjusted = stats.false_discovery_control(p, axis=-1, method="by")
    return (adjusted <= FALSE_DISCOVERY_RATE).mean(axis=-1)
