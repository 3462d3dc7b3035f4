r"""Alternative annotator test: whether a judge represents the other annotators at least as well as one of them does.

Each annotator is left out in turn. On every instance it is asked who is closer to the remaining annotators, the judge
or the one left out. The judge *wins* against an annotator if its share of instances is, beyond chance, not lower by as
much as :math:`\varepsilon`, the price that a person's work is worth.

Calderon, N., Reichart, R., & Dror, R. (2025). The alternative annotator test for LLM-as-a-judge: How to statistically
justify replacing human annotators with LLMs. ACL 2025, 16051-16081, arXiv 2501.10970.
"""

from typing import NamedTuple

import numpy as np
from scipy.special import stdtr

from sense7.estimators.order import rounded

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
    judge, annotators = np.asarray(judge, dtype=float), np.asarray(annotators, dtype=float)
    of_judge, of_annotator = np.full(annotators.shape, np.nan), np.full(annotators.shape, np.nan)
    for column in range(annotators.shape[1]):
        others = (
            np.delete(annotators, column, axis=1)
            if reference is None
            else np.asarray(reference, float)[:, None]
        )
        far, near = (
            rounded(_distance(rating, others)) for rating in (judge, annotators[:, column])
        )
        known = np.isfinite(far) & np.isfinite(near)
        of_judge[known, column] = far[known] <= near[known]
        of_annotator[known, column] = near[known] <= far[known]
    return Wins(of_judge, of_annotator)


def _distance(rating: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Root mean squared difference of a rating from those others that there are."""
    squares = (rating[:, None] - others) ** 2
    present = np.isfinite(others)
    total = np.where(present, squares, 0).sum(axis=1)
    with np.errstate(invalid="ignore"):
        return np.sqrt(total / np.where(present.any(axis=1), present.sum(axis=1), np.nan))


def alternative_test(
    found: Wins, epsilon: float = 0.2, weights: np.ndarray | None = None
) -> AlternativeTest:
    r"""Test the judge against each annotator, in the data or in every resample of instances.

    With :math:`d_{ij}` the win of annotator j minus that of the judge on instance i, the hypothesis
    :math:`E\,d_j \ge \varepsilon` is tested by

    .. math:: t_j = \frac{\bar d_j - \varepsilon}{s_j / \sqrt{n}}

    with n - 1 degrees of freedom; small p values speak for the judge.

    Examples
    --------
    >>> judge = np.tile([3.0, 3, 3, 1], 10)
    >>> found = alternative_test(wins(judge, np.tile([3.0, 3, 4], (40, 1))))
    >>> found.advantage.tolist(), found.p.round(3).tolist()
    ([0.75, 0.75, 0.75], [0.762, 0.762, 0.0])
    """
    known = np.isfinite(found.judge)
    weights = np.ones((1, len(known))) if weights is None else np.asarray(weights, dtype=float)
    judge = np.where(known, found.judge, 0)
    apart = np.where(known, found.annotator, 0) - judge
    n = weights @ known
    with np.errstate(divide="ignore", invalid="ignore"):
        advantage, mean = weights @ judge / n, weights @ apart / n
        spread = (weights @ apart**2 - n * mean**2) / (n - 1)
        alike = rounded(spread) == 0
        t = np.where(
            alike,
            np.where(rounded(mean) < epsilon, -np.inf, np.inf),
            (mean - epsilon) / np.sqrt(spread / n),
        )
        p = np.where(n < FEWEST_INSTANCES, np.nan, stdtr(n - 1, t))
    several = slice(None) if len(weights) > 1 else 0
    return AlternativeTest(advantage[several], p[several])


def benjamini_yekutieli(p: np.ndarray, q: float = 0.05) -> np.ndarray:
    r"""Hypotheses that are rejected at a false discovery rate under any dependence of the tests.

    The k smallest p values are rejected for the largest k with
    :math:`p_{(k)} \le \frac{k}{m} \frac{q}{\sum_{i=1}^m 1/i}`.

    Examples
    --------
    >>> benjamini_yekutieli(np.array([0.001, 0.02, 0.5])).tolist()
    [True, False, False]
    """
    p = np.asarray(p, dtype=float)
    values = np.where(np.isfinite(p), p, np.inf)
    m = np.isfinite(p).sum(axis=-1, keepdims=True)
    harmonic = np.concatenate([[1.0], np.cumsum(1 / np.arange(1, p.shape[-1] + 1))])[m]
    ranks = np.arange(1, p.shape[-1] + 1)
    ordered = np.sort(values, axis=-1)
    with np.errstate(divide="ignore", invalid="ignore"):
        passed = ordered <= ranks * q / (np.maximum(m, 1) * harmonic)
    last = np.where(passed, ranks, 0).max(axis=-1, keepdims=True)
    limit = np.take_along_axis(ordered, np.maximum(last - 1, 0), axis=-1)
    return (last > 0) & (values <= limit) & np.isfinite(p)


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
