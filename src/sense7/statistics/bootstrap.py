r"""The one engine for intervals: resample participants, by weights, exactly.

Turns nest in conversations and conversations in participants, so it is participants that
are drawn. A draw is how often each is taken. A statistic that is a function of sums over
rows (means, shares, covariances, tables of counts) then needs its sums per participant
only: with :math:`w_{bp}` the times that draw b takes participant p and :math:`s_p` the sums
of p, the sums of the resampled data are :math:`\sum_p w_{bp} s_p`, equal to those of the
rows copied out. The cost grows linearly in participants and draws, and not at all in rows.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd

__all__ = ["ParticipantBootstrap", "ratio", "sums_by_participant"]

FEWEST_PARTICIPANTS = 5
MOST_UNDEFINED = 0.05


def sums_by_participant(values: np.ndarray, codes: np.ndarray, participants: int) -> np.ndarray:
    """Sum rows by participant.

    Parameters
    ----------
    values : array, shape (rows, ...)
        What is to be summed; no NaN.
    codes : array of int, shape (rows,)
        Participant of each row, 0 .. participants - 1.
    participants : int
        Number of participants.

    Returns
    -------
    array, shape (participants, ...)

    Examples
    --------
    >>> sums_by_participant(np.array([[1.0], [2.0], [4.0]]), np.array([0, 1, 0]), 2).tolist()
    [[5.0], [2.0]]
    """
    flat = values.reshape(len(values), -1)
    sums = [np.bincount(codes, weights=column, minlength=participants) for column in flat.T]
    return np.stack(sums, axis=1).reshape(participants, *values.shape[1:])


def ratio(sums: np.ndarray) -> np.ndarray:
    """Return the first of two sums by the second: a mean (second: counts) or a share, in every draw.

    Examples
    --------
    >>> float(ratio(np.array([3.0, 4.0])))
    0.75
    """
    return sums[..., 0] / sums[..., 1]


@dataclass(frozen=True, eq=False)
class ParticipantBootstrap:
    """Draws of participants, the same for every statistic of a study.

    Parameters
    ----------
    participants : Series or array
        Participant of each unit, in any order; the distinct ones are resampled.
    draws : int
        Number of draws.
    seed : int
        Seed of the draws; equal seeds give equal draws for equal participants.
    confidence : float
        Of the intervals, e.g. 0.95.

    Examples
    --------
    >>> bootstrap = ParticipantBootstrap(["a", "b", "c", "a"], draws=1000, seed=1)
    >>> rows = pd.DataFrame({"who": ["a", "a", "b", "c"], "x": [1.0, 2.0, 3.0, 4.0]})
    >>> totals = np.column_stack([rows["x"], np.ones(4)])
    >>> bootstrap.estimate(ratio, totals, rows["who"])[0]
    2.5
    """

    participants: pd.Series
    draws: int = 10_000
    seed: int = 0
    confidence: float = 0.95

    @cached_property
    def names(self) -> pd.Index:
        """The distinct participants, sorted, so that the order of rows does not matter."""
        return pd.Index(sorted(pd.unique(pd.Series(self.participants).dropna())))

    @cached_property
    def weights(self) -> np.ndarray:
        """How often each draw takes each participant: (draws, participants)."""
        count = len(self.names)
        generator = np.random.default_rng(self.seed)
        taken = generator.integers(count, size=(self.draws, count))
        cells = taken + count * np.arange(self.draws)[:, None]
        table = np.bincount(cells.ravel(), minlength=self.draws * count)
        return table.reshape(self.draws, count).astype(float)

    def distribution(
        self, statistic: Callable[[np.ndarray], np.ndarray], values: np.ndarray, participants: pd.Series
    ) -> np.ndarray:
        """Return the statistic in every draw.

        Parameters
        ----------
        statistic : callable
            Takes sums of shape (..., *values.shape[1:]) and returns shape (...).
        values : array, shape (rows, ...)
            What is summed.
        participants : Series
            Participant of each row.
        """
        sums = sums_by_participant(values, self.names.get_indexer(participants), len(self.names))
        resampled = self.weights @ sums.reshape(len(sums), -1)
        with np.errstate(divide="ignore", invalid="ignore"):
            return statistic(resampled.reshape(self.draws, *values.shape[1:]))

    def estimate(
        self, statistic: Callable[[np.ndarray], np.ndarray], values: np.ndarray, participants: pd.Series
    ) -> tuple[float, float, float, str]:
        """Return the statistic, its percentile interval, and why there is none if so.

        The interval is left out below five participants, where the statistic is undefined in
        more than 5% of the draws (draws in which it is undefined are passed over), and where
        every draw gives the same value: a share of nought has no width, and is not certain.

        Returns
        -------
        estimate, low, high : float
            NaN where there is none.
        reason : str
            "" if there is an interval.
        """
        values = np.asarray(values, dtype=float)
        with np.errstate(divide="ignore", invalid="ignore"):
            estimate = float(statistic(values.sum(axis=0)))
        few = self.too_few(participants)
        if few:
            return estimate, np.nan, np.nan, few
        return estimate, *self.interval(self.distribution(statistic, values, participants), participants)

    @staticmethod
    def too_few(participants: pd.Series) -> str:
        """Why there are too few participants for an interval; "" if there are enough."""
        present = pd.Series(participants).nunique()
        if present >= FEWEST_PARTICIPANTS:
            return ""
        return f"no interval: only {present} participant{'' if present == 1 else 's'} to resample"

    def interval(
        self, draws: np.ndarray, participants: pd.Series, *, shift_to: float | None = None
    ) -> tuple[float, float, str]:
        """Return the percentile interval of a statistic that comes as draws, and why there is none if so.

        Parameters
        ----------
        draws : array, shape (draws,)
            The statistic in every draw; NaN where it is undefined.
        participants : Series
            Participant of each row that it rests on.
        shift_to : float, optional
            Move the draws so that their mean is this: for statistics that resampling inflates.

        Returns
        -------
        low, high : float
            NaN where there is none; see :meth:`estimate` for when.
        reason : str
            "" if there is an interval.
        """
        if few := self.too_few(participants):
            return np.nan, np.nan, few
        defined = draws[np.isfinite(draws)]
        if len(defined) < (1 - MOST_UNDEFINED) * len(draws):
            return np.nan, np.nan, f"no interval: undefined in {1 - len(defined) / len(draws):.0%} of the draws"
        if shift_to is not None:
            defined = defined - defined.mean() + shift_to
        tail = (1 - self.confidence) / 2
        low, high = np.quantile(defined, [tail, 1 - tail])
        if high - low <= 1e-12 * max(1.0, abs(high)):
            return np.nan, np.nan, "no interval: every resampling gives the same value"
        return float(low), float(high), ""

    @property
    def description(self) -> str:
        """Kind of interval, in words."""
        return f"{self.confidence:.0%} percentile interval, {self.draws:,} resamplings of participants"
