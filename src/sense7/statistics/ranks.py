"""Spearman's rank correlation in every resample, exactly: ranks are those of the resampled values.

SciPy loads ``scipy.sparse`` when it is first used, which asking a judge does not need before its last answer.
"""

from collections.abc import Mapping, Sequence
from itertools import chain
from typing import NamedTuple

import numpy as np
import pandas as pd
import scipy

from sense7.errors import UserError
from sense7.statistics.order import rounded

_MOST_NUMBERS = 300_000
"""Numbers of a table of rows by resamples that is held at once."""


def spearman_in_draws(
    columns: Mapping[str, Sequence],
    pairs: Sequence[tuple[str, str]],
    weights: np.ndarray,
    codes: np.ndarray | None = None,
) -> dict[tuple[str, str], np.ndarray]:
    r"""Return Spearman's correlations of pairs of columns in every resample, each row taken as often as its unit.

    With :math:`m_u` how often a resample takes the value u, its midrank is :math:`\sum_{v<u} m_v + (m_u + 1)/2`; ranks
    are centered by :math:`(N + 1) / 2`. All sums are of halves and quarters, thus exact. A column of several pairs is
    ranked once.

    Examples
    --------
    >>> columns = {"x": [1, 2, 3, 4], "y": [1, 3, 2, 4], "z": [4, 3, 2, 1]}
    >>> rho = spearman_in_draws(columns, [("x", "y"), ("x", "z")], np.ones((1, 4)))
    >>> rho["x", "y"].round(3).tolist(), rho["x", "z"].round(3).tolist()
    ([0.8], [-1.0])
    """
    correlations = {pair: np.full(len(weights), np.nan) for pair in pairs}
    codes = np.arange(weights.shape[1]) if codes is None else codes
    if not len(codes):
        return correlations
    values = {name: rounded(np.asarray(columns[name], dtype=float)) for name in chain(*pairs)}
    missing = sum(int(pd.isna(column).sum()) for column in values.values())
    if missing:
        count = sum(len(column) for column in values.values())
        raise UserError(
            f"Spearman's correlation needs every value; {missing:,} of {count:,} are missing. "
            "Leave out the rows that lack one."
        )

    # How many rows of each unit have each level of a column: (levels, units).
    levels = {}
    masses = {}
    for name, column in values.items():
        level = np.unique(column, return_inverse=True)[1]
        shape = (level.max() + 1, weights.shape[1])
        levels[name] = level
        masses[name] = scipy.sparse.csr_array((np.ones(len(level)), (level, codes)), shape=shape)

    # Sums are taken by the levels of that column of a pair which has fewer.
    cells_of_pairs = {}
    for pair in pairs:
        more, fewer = sorted(pair, key=lambda name: masses[name].shape[0], reverse=True)
        cells_of_pairs[pair] = more, fewer, _cells(levels[more], levels[fewer], codes)

    draws_at_once = max(1, _MOST_NUMBERS // len(codes))
    for start in range(0, len(weights), draws_at_once):
        draws = slice(start, start + draws_at_once)
        times_drawn = np.ascontiguousarray(weights[draws].T)
        ranked = {name: _ranked(mass @ times_drawn) for name, mass in masses.items()}
        for pair, (more, fewer, cells) in cells_of_pairs.items():
            x = ranked[more]
            y = ranked[fewer]
            products = x.ranks[cells.first_level]
            products *= times_drawn[cells.unit]
            cross = np.einsum("ud,ud->d", cells.sums_by_second @ products, y.ranks)
            with np.errstate(divide="ignore", invalid="ignore"):
                correlations[pair][draws] = cross / np.sqrt(x.squares * y.squares)
    return correlations


class _Cells(NamedTuple):
    """Rows that no resample distinguishes: their level of the first, unit, and sums by level of the second."""

    first_level: np.ndarray
    unit: np.ndarray
    sums_by_second: "scipy.sparse.csr_array"


def _cells(first: np.ndarray, second: np.ndarray, codes: np.ndarray) -> _Cells:
    """The cells of two columns of levels."""
    key = (codes * (first.max() + 1) + first) * (second.max() + 1) + second
    _, row, counts = np.unique(key, return_index=True, return_counts=True)
    positions = (second[row], np.arange(len(row)))
    sums_by_second = scipy.sparse.csr_array((counts.astype(float), positions))
    return _Cells(first[row], codes[row], sums_by_second)


class _Ranked(NamedTuple):
    """Centered midranks of levels, (levels, draws), and their sums of squares, (draws,)."""

    ranks: np.ndarray
    squares: np.ndarray


def _ranked(times_drawn: np.ndarray) -> _Ranked:
    """Centered midranks of levels from how often each is drawn, which is overwritten."""
    ranks = np.cumsum(times_drawn, axis=0)
    n = ranks[-1].copy()
    ranks -= n / 2
    times_drawn *= 0.5
    ranks -= times_drawn
    times_drawn *= 2
    cubes = np.einsum("ud,ud,ud->d", times_drawn, times_drawn, times_drawn)
    return _Ranked(ranks, (n**3 - cubes) / 12)
