r"""The one engine for intervals: resample participants, by weights, exactly.

Turns nest in conversations and conversations in participants, so it is participants that
are drawn. A draw is how often each is taken. A statistic that is a function of sums over
rows (means, shares, covariances, tables of counts) then needs its sums per participant
only: with :math:`w_{bp}` the times that draw b takes participant p and :math:`s_p` the sums
of p, the sums of the resampled data are :math:`\sum_p w_{bp} s_p`, equal to those of the
rows copied out. The cost grows linearly in participants and draws, and not at all in rows.

Two kinds of interval come from this. The percentile interval is the middle part of the draws.
It leans to one side, and is somewhat narrow, for a statistic near an end of its range that depends on few
participants, as alpha does; for such there is a t interval on a :class:`Scale`, whose standard error comes
from leaving out each participant in turn.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from numbers import Integral, Real

import numpy as np
import pandas as pd

from sense7.errors import UserError, described
from sense7.statistics.estimates import Estimate, estimate_row
from sense7.terminal import count_of

FEWEST_PARTICIPANTS = 5

FEWEST_IN_A_GROUP = {
    "odds ratio": 8,
    "difference of means": 10,
    "Cohen's d": 10,
    "fading": 20,
    "dimension by condition": 40,
    "loadings": 6,
}
"""Contrast -> participants that each of its groups needs, so that its interval holds the truth in 90% of studies.

Measured by ``make few-people`` and shown on the page on coverage.
"""

MOST_UNDEFINED = 0.05
NO_WIDTH = "no interval: every resampling gives the same value"

_CELLS = 1 << 23
"""Numbers of a table that are worked on at once."""

_IN_CACHE = 1 << 17
"""Numbers of a table that a processor holds close by, with what is computed of them."""

_ARRAYS = 4
"""Arrays of one number a cell that drawing takes beside the table."""

_NUMBERS = {
    "draws": (Integral, 1, math.inf, "a whole number from 1"),
    "seed": (Integral, 0, math.inf, "a whole number from 0"),
    # Neither 0 nor 1: an interval of no or of all values is none.
    "confidence": (
        Real,
        math.ulp(0.0),
        math.nextafter(1.0, 0.0),
        "a number between 0 and 1, such as 0.95",
    ),
}
"""Parameter of a bootstrap -> its type, the least and the largest value, and what is wanted."""

_ROUNDING = 1e-12
"""Width of an interval, absolute or relative to its upper limit, that is rounding alone."""


def _has_no_width(low: float, high: float) -> bool:
    """Whether an interval has no width but for rounding."""
    return bool(high - low <= _ROUNDING * max(1.0, abs(high)))


@dataclass(frozen=True)
class Scale:
    """A scale on which the estimates of a statistic spread more evenly than as they are."""

    words: str
    forward: Callable[[np.ndarray], np.ndarray]
    backward: Callable[[np.ndarray], np.ndarray]


OWN_SCALE = Scale("", np.positive, np.positive)
"""The statistic as it is."""


def sums_by_participant(values: np.ndarray, codes: np.ndarray, participants: int) -> np.ndarray:
    """Sum rows by participant.

    Examples
    --------
    >>> sums_by_participant(np.array([[1.0], [2.0], [4.0]]), np.array([0, 1, 0]), 2).tolist()
    [[5.0], [2.0]]
    """
    sums = np.zeros((participants, math.prod(values.shape[1:])))
    columns = values.reshape(len(values), sums.shape[1]).T
    for index, column in enumerate(columns):
        sums[:, index] = np.bincount(codes, weights=column, minlength=participants)
    return sums.reshape(participants, *values.shape[1:])


def pieces(length: int, width: int, most: int | None = None) -> Iterator[slice]:
    """Cut a table of many rows into pieces of few, so that memory does not grow with its length.

    Examples
    --------
    >>> list(pieces(5, 3, 2))
    [slice(0, 2, None), slice(2, 4, None), slice(4, 5, None)]
    """
    rows_in_memory = _CELLS // max(1, width)
    rows = max(1, min(rows_in_memory, most or length))
    for first in range(0, length, rows):
        yield slice(first, min(first + rows, length))


def ratio(sums: np.ndarray) -> np.ndarray:
    """Return the first of two sums by the second: a mean (second: counts) or a share, in every draw.

    Examples
    --------
    >>> float(ratio(np.array([3.0, 4.0])))
    0.75
    """
    return sums[..., 0] / sums[..., 1]


def resampled_p(draws: np.ndarray) -> float:
    r"""Return the two-sided p value of no difference, from a difference in every resample.

    .. math:: \min\left(1, 2 \, \frac{1 + \min(\#\{d_b \le 0\}, \#\{d_b \ge 0\})}{B + 1}\right)

    It is below one minus the confidence where the percentile interval excludes zero (but for the added one, which keeps
    it above zero), and no smaller than 2 / (B + 1).

    Examples
    --------
    >>> resampled_p(np.array([0.1, 0.2, 0.3, 0.2, 0.1, 0.4, 0.1, 0.2, 0.3, -0.1])), resampled_p(np.zeros(9))
    (0.36363636363636365, 1.0)
    """
    defined = draws[np.isfinite(draws)]
    if not len(defined):
        return np.nan
    smaller = min(np.count_nonzero(defined <= 0), np.count_nonzero(defined >= 0))
    return float(min(1.0, 2 * (1 + smaller) / (len(defined) + 1)))


@dataclass(frozen=True, eq=False)
class ParticipantBootstrap:
    """Bootstrap resamples of participants, or of other units, the same for every statistic of a study.

    Parameters
    ----------
    participants : Series or other sequence
        Participant of each unit, in any order; the distinct ones are resampled. For statistics of a study these are
        all participants of that study, ``study.conversations["participant"]``, those without data for the statistic
        included.
    draws : int
        Number of draws.
    seed : int
        Seed of the draws, from 0; equal seeds give equal draws for equally many participants in the same order.
    confidence : float
        Of the intervals, between 0 and 1, e.g. 0.95.
    unit : str
        What is resampled, for descriptions: "conversation" where every rater rated every one, so that the
        raters are few and fixed. Of conversations there may be none, as where data were not fetched.
    strata : Series or other sequence, optional
        Group of each of ``participants``, in the same order, of fixed size, e.g. the cell of an experiment: every
        resample holds as many of each group as the study does. A participant belongs to one group. The name of a
        Series is that of a group in descriptions.
    no_interval : str
        Why nobody can be resampled, e.g. since participants are not known: there are then no draws, and no interval.

    Raises
    ------
    UserError
        If an argument is of another kind or out of range, or a participant is missing; later, if a statistic
        is given another study's bootstrap, or rows of participants that the bootstrap does not resample.

    References
    ----------
    Efron, B., & Tibshirani, R. J. (1993). An introduction to the bootstrap, chapter 8 (several samples).

    Examples
    --------
    >>> bootstrap = ParticipantBootstrap(["a", "b", "c", "a"], draws=1000, seed=1)
    >>> rows = pd.DataFrame({"who": ["a", "a", "b", "c"], "x": [1.0, 2.0, 3.0, 4.0]})
    >>> totals = np.column_stack([rows["x"], np.ones(4)])
    >>> bootstrap.estimate(ratio, totals, rows["who"])[0]
    2.5
    >>> cells = pd.Series(["x", "x", "y", "y", "y"], name="cell")
    >>> bootstrap = ParticipantBootstrap(list("abcde"), draws=200, seed=1, strata=cells)
    >>> set(bootstrap.weights()[:, :2].sum(axis=1)), set(bootstrap.weights()[:, 2:].sum(axis=1))
    ({np.float64(2.0)}, {np.float64(3.0)})
    >>> bootstrap.description
    '95% percentile interval, 200 resamplings of participants within each cell'
    """

    participants: pd.Series
    draws: int = 10_000
    seed: int = 0
    confidence: float = 0.95
    unit: str = "participant"
    strata: pd.Series | None = None
    no_interval: str = ""

    def __post_init__(self):
        if self.no_interval:
            return
        wanted = "A bootstrap wants the participant of each unit, such as study.conversations['participant']"
        if np.ndim(self.participants) != 1:
            raise UserError(f"{wanted}; got {described(self.participants)}.")
        names = pd.Series(self.participants)
        if names.empty and self.unit == "participant":
            raise UserError(f"{wanted}; got none.")
        missing = int(names.isna().sum())
        if missing:
            raise UserError(
                f"{wanted}; of {len(names):,} given, {missing:,} are missing. Leave out these rows."
            )
        distinct = names.unique()
        are_texts = all(isinstance(name, str) for name in distinct)
        are_numbers = all(isinstance(name, Real) for name in distinct)
        if not (are_texts or are_numbers):
            raise UserError(f"{wanted}: all of them texts, or all of them numbers.")

        for parameter, (number_type, least, most, wanted) in _NUMBERS.items():
            value = getattr(self, parameter)
            is_number = isinstance(value, number_type) and not isinstance(value, bool)
            if not (is_number and least <= value <= most):
                raise UserError(
                    f"A bootstrap wants {wanted} as {parameter}; got {described(value)}."
                )
        if self.strata is not None:
            groups = pd.Series(self.strata, dtype=object).reset_index(drop=True)
            is_complete = len(groups) == len(names) and groups.notna().all()
            if not is_complete or groups.groupby(names.to_numpy()).nunique().max() > 1:
                raise UserError(
                    f"A bootstrap wants one group of each {self.unit} as strata, in the order of the {self.unit}s; "
                    "some have none, or several. Leave out strata to resample them without groups."
                )

    def codes(self, participants: pd.Series) -> np.ndarray:
        """Return the place of each row's participant in ``names``.

        Examples
        --------
        >>> ParticipantBootstrap(["b", "a"]).codes(["a", "b", "a"]).tolist()
        [1, 0, 1]
        """
        codes = self.names.get_indexer(participants)
        if (codes < 0).any():
            strangers = pd.Index(participants)[codes < 0].unique()
            example = strangers.tolist()[0]
            are = "is" if len(strangers) == 1 else "are"
            raise UserError(
                f"{count_of(len(strangers), 'participant')} of these rows, such as {example!r}, "
                f"{are} not among the {len(self.names):,} that the bootstrap resamples. Make it from all participants "
                "of the study, and give the rows' own participants."
            )
        return codes

    @cached_property
    def names(self) -> pd.Index:
        """The distinct participants in the order of their first rows, so that other ids give the same resamples."""
        return pd.Index(pd.unique(pd.Series(self.participants).dropna()))

    @cached_property
    def _weights(self) -> np.ndarray:
        # Places in ``names`` of those who are drawn together, by stratum.
        together: list[slice | np.ndarray] = [slice(None)]
        if self.strata is not None:
            stratum_of = pd.Series(list(self.strata), index=list(self.participants))
            stratum_of = stratum_of[~stratum_of.index.duplicated()].loc[self.names].to_numpy()
            together = [np.flatnonzero(stratum_of == name) for name in pd.unique(stratum_of)]
        table = np.empty((self.draws, len(self.names)))
        for number, members in enumerate(together):
            # No two strata, nor two seeds, share their random numbers.
            generator = np.random.default_rng(len(together) * int(self.seed) + number)
            size = len(self.names[members])
            for draws in pieces(self.draws, _ARRAYS * size):
                taken = generator.integers(size, size=(draws.stop - draws.start, size))
                cells = taken + size * np.arange(len(taken))[:, None]
                counts = np.bincount(cells.ravel(), minlength=cells.size)
                table[draws, members] = counts.reshape(cells.shape)
        return table

    def weights(self, draws: slice = slice(None)) -> np.ndarray:
        """How often each draw takes each participant.

        Examples
        --------
        >>> ParticipantBootstrap(["a", "b", "c"], draws=2, seed=1).weights().sum(axis=1).tolist()
        [3.0, 3.0]
        """
        return self._weights[draws]

    def times_taken(self, participants: pd.Index) -> np.ndarray:
        """How often each of some participants is taken: once in the data, then in every draw (1 + draws, participants).

        Examples
        --------
        >>> ParticipantBootstrap(["a", "b", "c"], draws=2, seed=1).times_taken(["c", "a"])[0].tolist()
        [1.0, 1.0]
        """
        in_draws = self.weights()[:, self.codes(participants)]
        return np.concatenate([np.ones((1, len(participants))), in_draws])

    def first(self, most: int) -> "ParticipantBootstrap":
        """Return the first draws alone, at most so many."""
        return replace(self, draws=min(self.draws, most))

    def distribution(
        self,
        statistic: Callable[[np.ndarray], np.ndarray],
        values: np.ndarray,
        participants: pd.Series,
    ) -> np.ndarray:
        """Return the statistic in every draw."""
        if self.no_interval:
            with np.errstate(divide="ignore", invalid="ignore"):
                return np.asarray(statistic(values.sum(axis=0)))[None][:0]
        sums = sums_by_participant(values, self.codes(participants), len(self.names))
        flat = sums.reshape(len(sums), -1)
        width = max(1, flat.shape[1])
        # Measured: of tables that do not leave the cache, statistics of many sums take less than half the time.
        parts = []
        for draws in pieces(self.draws, max(width, len(self.names)), _IN_CACHE // width):
            weights = self.weights(draws)
            resampled_sums = (weights @ flat).reshape(len(weights), *sums.shape[1:])
            with np.errstate(divide="ignore", invalid="ignore"):
                parts.append(statistic(resampled_sums))
        return np.concatenate(parts)

    def estimate(
        self,
        statistic: Callable[[np.ndarray], np.ndarray],
        values: np.ndarray,
        participants: pd.Series,
        scale: Scale | None = None,
    ) -> Estimate:
        r"""Return the statistic, its interval, and why there is none if so.

        Without a scale it is the percentile interval. It is left out below five participants, where the
        statistic is undefined in more than 5% of the draws (draws in which it is undefined are passed over), and
        where every draw gives the same value: a share of zero has no width, and is not certain.

        With a scale g it is a t interval on it,

        .. math:: g^{-1}\left(g(\hat t) \pm t_{m - 1, 1 - \gamma/2} \, SE\right), \quad
                  SE^2 = \frac{m - 1}{m} \sum_p \left(g(t_p) - \overline{g(t)}\right)^2

        with :math:`t_p` the statistic without participant p of the m that have rows (the jackknife), and
        :math:`\gamma` one minus the confidence; no draw is needed. It is left out below five participants,
        where g is undefined without one of them, and where leaving out any of them gives the same value.
        """
        values = np.asarray(values, dtype=float)
        with np.errstate(divide="ignore", invalid="ignore"):
            estimate = float(statistic(values.sum(axis=0)))
        if scale is None:
            draws = self.distribution(statistic, values, participants)
            return self.percentile(np.append(estimate, draws), participants)
        reason = self.too_few(participants)
        if reason:
            return Estimate(estimate, reason=reason)

        # Imported here: with it comes a fifth of the memory of what computes no interval.
        from scipy.special import stdtrit

        codes = self.codes(participants)
        sums = sums_by_participant(values, codes, len(self.names))
        without_each = sums.sum(axis=0) - sums[np.unique(codes)]
        with np.errstate(divide="ignore", invalid="ignore"):
            left_out = statistic(without_each)
        is_defined = np.isfinite(left_out).all()
        if is_defined and _has_no_width(left_out.min(), left_out.max()):
            return Estimate(estimate, reason=NO_WIDTH)
        with np.errstate(divide="ignore", invalid="ignore"):
            middle = scale.forward(np.asarray(estimate))
            scaled = scale.forward(left_out)
        undefined = np.count_nonzero(~np.isfinite(scaled))
        if undefined:
            without = f"without {undefined} of the {len(left_out)} participants"
            return Estimate(estimate, reason=f"no interval: undefined {without}")
        if not np.isfinite(middle):
            return Estimate(estimate, reason="no interval: undefined at this value")
        freedom = len(scaled) - 1
        error = np.sqrt(freedom * np.var(scaled))
        reach = stdtrit(freedom, (1 + self.confidence) / 2) * error
        low, high = np.sort(scale.backward(np.array([middle - reach, middle + reach])))
        if _has_no_width(low, high):
            return Estimate(estimate, reason=NO_WIDTH)
        return Estimate(estimate, float(low), float(high))

    def percentile(
        self, values: np.ndarray, participants: pd.Series, *, shifted: bool = False
    ) -> Estimate:
        """Return a statistic with its percentile interval, from its value in the data and then in every draw.

        Those of the draws may be ``shifted`` so that their mean is the value in the data.
        """
        estimate = float(values[0])
        draws = values[1:]
        reason = self.too_few(participants)
        if reason:
            return Estimate(estimate, reason=reason)
        defined = draws[np.isfinite(draws)]
        if len(defined) < (1 - MOST_UNDEFINED) * len(draws):
            undefined = 1 - len(defined) / len(draws)
            reason = f"no interval: undefined in {undefined:.0%} of the resamples"
            return Estimate(estimate, reason=reason)
        if not len(draws):  # a statistic that is undefined in the data is not resampled
            return Estimate(estimate)
        if shifted:
            defined = defined - defined.mean() + estimate
        tail = (1 - self.confidence) / 2
        low, high = np.quantile(defined, [tail, 1 - tail])
        if _has_no_width(low, high):
            return Estimate(estimate, reason=NO_WIDTH)
        return Estimate(estimate, float(low), float(high))

    def too_few(self, participants: pd.Series) -> str:
        """Why there are too few participants for an interval; "" if there are enough."""
        present = pd.Series(participants).nunique()
        if self.no_interval or present >= FEWEST_PARTICIPANTS:
            return self.no_interval
        return f"no interval: only {count_of(present, self.unit)} to resample"

    def too_few_in_a_group(self, participants: pd.Series, groups: pd.Series, contrast: str) -> str:
        """Why a group of a contrast has too few participants for an interval; "" if all groups have enough.

        Rows without a group belong to none. What a contrast is called is a key of ``FEWEST_IN_A_GROUP``.

        Examples
        --------
        >>> people = [f"P{number}" for number in range(12)]
        >>> groups = ["prompted"] * 2 + ["plain"] * 10
        >>> ParticipantBootstrap(people).too_few_in_a_group(people, groups, "odds ratio")
        'no interval: 2 participants in one group of the contrast; this needs 8 in each'
        """
        fewest = FEWEST_IN_A_GROUP[contrast]
        smallest = pd.Series(participants).groupby(np.asarray(groups)).nunique().min()
        if smallest >= fewest:
            return ""
        of_group = count_of(smallest, self.unit)
        return f"no interval: {of_group} in one group of the contrast; this needs {fewest} in each"

    def row(
        self,
        result: Estimate,
        *,
        n: int,
        unit: str,
        method: str,
        undefined: str = "it is undefined in these data",
        how: str | None = None,
        key: str = "",
    ) -> dict:
        """Return what :meth:`estimate` found as a row of estimates.

        Examples
        --------
        >>> bootstrap = ParticipantBootstrap(["a", "b"], draws=100, seed=1)
        >>> row = bootstrap.row(Estimate(2.5, 1.0, 4.0), n=7, unit="points", method="mean")
        >>> row["method"]
        'mean; 95% percentile interval, 100 resamplings of participants'
        >>> bootstrap.row(Estimate(np.nan), n=0, unit="points", method="mean", undefined="no rating")["reason"]
        'no rating'
        """
        estimate, low, high, reason = result
        if not np.isfinite(estimate):
            return estimate_row(n=n, unit=unit, method=method, reason=undefined, key=key)
        if not reason:
            method = f"{method}; {how or self.describe()}"
        return estimate_row(
            estimate, low, high, n=n, unit=unit, method=method, reason=reason, key=key
        )

    @property
    def description(self) -> str:
        """Kind of the percentile interval, in words."""
        return self.describe()

    def describe(self, scale: Scale | None = None) -> str:
        """Kind of interval, in words: the percentile interval, or the t interval on a scale.

        Examples
        --------
        >>> ParticipantBootstrap(["a", "b"], draws=100, seed=1).describe(OWN_SCALE)
        '95% t interval, standard error by leaving out each participant in turn'
        """
        if scale is None:
            resamplings = f"{count_of(self.draws, 'resampling')} of {self.unit}s"
            if self.strata is not None:
                resamplings += f" within each {getattr(self.strata, 'name', None) or 'group'}"
            return f"{self.confidence:.0%} percentile interval, {resamplings}"
        on = f" on the scale {scale.words}" if scale.words else ""
        return f"{self.confidence:.0%} t interval{on}, standard error by leaving out each {self.unit} in turn"
