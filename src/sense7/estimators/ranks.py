"""Spearman's rank correlation in every resample, exactly: ranks are those of the resampled values.

SciPy loads ``scipy.sparse`` when it is first used, which asking a judge does not need before its last answer.
"""

from collections.abc import Sequence

import numpy as np
import pandas as pd
import scipy

from sense7.errors import UserError
from sense7.estimators.bootstrap import ParticipantBootstrap
from sense7.estimators.estimates import Estimate, estimate_row
from sense7.estimators.order import rounded

_MOST_NUMBERS = 300_000
"""Numbers of a table of rows by resamples that is held at once."""

_LONG_ROW = 256
"""Numbers in a row from which on adding rows one by one is faster than NumPy's cumulative sum."""


def spearman_in_draws(x, y, weights: np.ndarray, codes: np.ndarray | None = None) -> np.ndarray:
    """Return Spearman's correlation of two columns in every resample; see :func:`spearmans_in_draws`.

    Examples
    --------
    >>> x, y = np.array([1.0, 2, 3, 4]), np.array([1.0, 3, 2, 4])
    >>> spearman_in_draws(x, y, np.ones((1, 4))).round(3).tolist()
    [0.8]
    """
    return spearmans_in_draws([x, y], [(0, 1)], weights, codes)[:, 0]


def spearmans_in_draws(
    columns: Sequence,
    pairs: Sequence[tuple[int, int]],
    weights: np.ndarray,
    codes: np.ndarray | None = None,
) -> np.ndarray:
    r"""Return Spearman's correlations of pairs of columns in every resample, each row taken as often as its unit.

    With :math:`m_u` how often a resample takes the value u, its midrank is :math:`\sum_{v<u} m_v + (m_u + 1)/2`; ranks
    are centered by :math:`(N + 1) / 2`. All sums are of halves and quarters, thus exact. A column of several pairs is
    ranked once.

    Examples
    --------
    >>> columns = [[1, 2, 3, 4], [1, 3, 2, 4], [4, 3, 2, 1]]
    >>> spearmans_in_draws(columns, [(0, 1), (0, 2)], np.ones((1, 4))).round(3).tolist()
    [[0.8, -1.0]]
    """
    correlations = np.full((len(weights), len(pairs)), np.nan)
    codes = np.arange(weights.shape[1]) if codes is None else codes
    if not len(codes):
        return correlations
    columns = [rounded(np.asarray(column, dtype=float)) for column in columns]
    if missing := sum(int(pd.isna(column).sum()) for column in columns):
        raise UserError(
            f"Spearman's correlation needs every value; {missing:,} of {sum(map(len, columns)):,} are missing. "
            "Leave out the rows that lack one."
        )
    levels = [np.unique(column, return_inverse=True)[1] for column in columns]
    masses = [_counts(level, codes, weights.shape[1]) for level in levels]
    # The first of a pair has more levels; sums are taken by the fewer levels of the second.
    pairs = [sorted(pair, key=lambda column: -masses[column].shape[0]) for pair in pairs]
    cells = [_cells(levels[first], levels[second], codes) for first, second in pairs]
    step = max(1, _MOST_NUMBERS // len(codes))
    for start in range(0, len(weights), step):
        chunk = np.ascontiguousarray(weights[start : start + step].T)
        ranked = [_ranked(mass @ chunk) for mass in masses]
        for number, ((first, second), (of_first, of_code, sums)) in enumerate(
            zip(pairs, cells, strict=True)
        ):
            products = ranked[first][0][of_first]
            products *= chunk[of_code]
            together = np.einsum("ud,ud->d", sums @ products, ranked[second][0])
            with np.errstate(divide="ignore", invalid="ignore"):
                correlations[start : start + step, number] = together / np.sqrt(
                    ranked[first][1] * ranked[second][1]
                )
    return correlations


def _counts(level: np.ndarray, codes: np.ndarray, units: int) -> "scipy.sparse.csr_array":
    """How many rows of each unit have each level: shape (levels, units)."""
    return scipy.sparse.csr_array(
        (np.ones(len(level)), (level, codes)), shape=(level.max() + 1, units)
    )


def _cells(first: np.ndarray, second: np.ndarray, codes: np.ndarray):
    """Rows that no resample distinguishes: their level of the first, unit, and sums by level of the second."""
    key = (codes * (first.max() + 1) + first) * (second.max() + 1) + second
    _, row, counts = np.unique(key, return_index=True, return_counts=True)
    return (
        first[row],
        codes[row],
        scipy.sparse.csr_array((counts.astype(float), (second[row], np.arange(len(row))))),
    )


def _ranked(taken: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Centered midranks of levels, (levels, draws), and their sums of squares, from counts, which are overwritten."""
    rank = _cumulated(taken)
    rank -= rank[-1] / 2
    rank -= taken / 2
    taken *= rank
    return rank, np.einsum("ud,ud->d", taken, rank)


def _cumulated(table: np.ndarray) -> np.ndarray:
    """Cumulative sums down the columns; row by row where rows are long, which is several times as fast as NumPy's."""
    if table.shape[1] < _LONG_ROW:
        return np.cumsum(table, axis=0)
    total = table.copy()
    for row in range(1, len(total)):
        np.add(total[row], total[row - 1], out=total[row])
    return total


def spearman_row(
    first: np.ndarray,
    second: np.ndarray,
    participants: pd.Series,
    bootstrap: ParticipantBootstrap,
    method: str,
    counts: np.ndarray | int = 1,
    draws: np.ndarray | None = None,
) -> dict:
    """Return Spearman's correlation with its interval, as a row of estimates.

    ``counts`` is the number of rows that each row represents; ``draws`` the result of :func:`spearman_draws`, if known.
    """
    common = {"n": int(np.broadcast_to(counts, len(first)).sum()), "unit": "correlation"}
    estimate = spearman_in_draws(
        first, second, np.broadcast_to(counts, (1, len(first))).astype(float)
    )[0]
    if not np.isfinite(estimate):
        return estimate_row(**common, method=method, reason="one of the two does not vary")
    if draws is None:
        draws = spearman_draws(
            *distinct_pairs(first, second, participants, bootstrap, counts), bootstrap
        )
    return bootstrap.row(
        Estimate(estimate, *bootstrap.interval(draws, participants)), **common, method=method
    )


def distinct_pairs(
    first: np.ndarray,
    second: np.ndarray,
    participants: pd.Series,
    bootstrap: ParticipantBootstrap,
    counts: np.ndarray | int = 1,
) -> tuple[np.ndarray, "scipy.sparse.csr_matrix"]:
    """Return distinct pairs of values, and how many of each a participant has: means of few levels make few pairs."""
    pairs, pair = np.unique(np.column_stack([first, second]), axis=0, return_inverse=True)
    cells = pair, bootstrap.codes(participants)
    table = scipy.sparse.csr_matrix(
        (np.broadcast_to(counts, len(first)), cells), (len(pairs), len(bootstrap.names))
    )
    return pairs, table


def spearman_draws(
    pairs: np.ndarray, table: "scipy.sparse.csr_matrix", bootstrap: ParticipantBootstrap
) -> np.ndarray:
    """Return Spearman's correlation in every resample, of :func:`distinct_pairs`."""
    return bootstrap.in_every_draw(
        lambda weights: spearman_in_draws(*pairs.T, (table @ weights.T).T)
    )
