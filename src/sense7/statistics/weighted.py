"""Statistics of one number per unit in many draws; ``weights``, (draws, units), say how often each takes a unit."""

import numpy as np


def weighted_mean(values, weights: np.ndarray) -> np.ndarray:
    """Return the mean in every draw.

    Examples
    --------
    >>> weighted_mean([1.0, 4.0], np.array([[1, 1], [2, 1]])).tolist()
    [2.5, 2.0]
    """
    return weights @ np.asarray(values, dtype=float) / weights.sum(axis=1)


def weighted_deviation(values, weights: np.ndarray) -> np.ndarray:
    """Return the standard deviation (n - 1) in every draw.

    Examples
    --------
    >>> weighted_deviation([1.0, 3.0], np.array([[2, 2]])).round(4).tolist()
    [1.1547]
    """
    n = weights.sum(axis=1)
    centered = np.asarray(values, dtype=float) - np.mean(values)
    variance = weighted_mean(centered**2, weights) - weighted_mean(centered, weights) ** 2
    return np.sqrt(np.maximum(variance, 0) * n / (n - 1))


def weighted_quantile(values, share: float, weights: np.ndarray) -> np.ndarray:
    """Return a quantile in every draw, as `numpy.quantile` computes it from the units copied out.

    Examples
    --------
    >>> weighted_quantile([1.0, 3.0], 0.5, np.array([[1, 1], [2, 1]])).tolist()
    [2.0, 1.0]
    """
    order = np.argsort(values, kind="stable")
    ascending = np.asarray(values, dtype=float)[order]
    units_so_far = np.cumsum(weights[:, order], axis=1)
    position = (units_so_far[:, -1] - 1) * share
    below = np.floor(position)
    above = np.ceil(position)
    low = ascending[(units_so_far > below[:, None]).argmax(axis=1)]
    high = ascending[(units_so_far > above[:, None]).argmax(axis=1)]
    return low + (position - below) * (high - low)
