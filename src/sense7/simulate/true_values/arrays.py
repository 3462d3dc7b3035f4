"""What functions of true values share: a study in arrays, and plain statistics of arrays.

None of them is the library's: an error of an estimator must not hide in the value that it is compared with.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from sense7.simulate.model import NOT_PUT, Numbers
from sense7.taxonomy import DIMENSION_NAMES

OVERALL = 7
POOR = 2
"""A rating is poor up to this level."""


@dataclass(frozen=True, eq=False)
class Tables:
    """A study, and what several functions need of it. C conversations, T assistant turns.

    A rating below 1 is no rating, whether it was asked for or not: 0 here.
    """

    study: Numbers = field(repr=False)

    @cached_property
    def seven(self) -> np.ndarray:
        """Ratings of the dimensions, 0 if not rated: (T, 7)."""
        return np.maximum(self.study.ratings[:, :7], 0)

    @cached_property
    def overall(self) -> np.ndarray:
        """Overall rating, 0 if not rated: (T,)."""
        return np.maximum(self.study.ratings[:, OVERALL], 0)

    @cached_property
    def put(self) -> np.ndarray:
        """Whether the turn was put to rating: (T,)."""
        return (self.study.ratings != NOT_PUT).any(axis=1)

    @cached_property
    def complete(self) -> np.ndarray:
        """Whether every dimension is rated: (T,)."""
        return (self.seven > 0).all(axis=1)

    @cached_property
    def covariances(self) -> dict[str, np.ndarray]:
        """Covariances of the seven ratings: of turns pairwise, of complete turns, after the conversation: (7, 7)."""
        return {
            "turn": covariances(self.seven),
            "turn_listwise": covariances(self.seven[self.complete]),
            "post": covariances(self.study.post),
        }

    @cached_property
    def turn_mean(self) -> np.ndarray:
        """Mean over the rated dimensions, NaN where none is: (T,)."""
        return divided(self.seven.sum(axis=1), (self.seven > 0).sum(axis=1))

    def mean_by_conversation(self, values: np.ndarray) -> np.ndarray:
        """Mean over the turns of each conversation whose value is not NaN: (C,)."""
        return mean_by(values, self.study.conversation, len(self.study.turns))

    @cached_property
    def truth(self) -> np.ndarray:
        """Ground truth, the mean over rated turns of their means; NaN where no turn is rated: (C,)."""
        return self.mean_by_conversation(self.turn_mean)

    @cached_property
    def has_truth(self) -> np.ndarray:
        """Whether a conversation has a ground truth: (C,)."""
        return ~np.isnan(self.truth)

    @cached_property
    def rated_truth(self) -> np.ndarray:
        """Ground truth of the conversations that have one."""
        return self.truth[self.has_truth]

    @cached_property
    def rated_condition(self) -> np.ndarray:
        """Condition of the conversations that have a ground truth."""
        return self.study.condition[self.has_truth]

    @cached_property
    def person(self) -> np.ndarray:
        """Number of the participant of each conversation that has a ground truth."""
        return compact(self.study.participant[self.has_truth])

    @cached_property
    def truth_within(self) -> np.ndarray:
        """Ground truth minus the participant's mean, of the conversations that have one."""
        return centered(self.rated_truth, self.person)

    @cached_property
    def overall_mean(self) -> np.ndarray:
        """Mean overall rating, NaN where there is none: (C,)."""
        return self.mean_by_conversation(missing(self.overall))

    @cached_property
    def dimension_means(self) -> np.ndarray:
        """Mean rating of each dimension over the turns of each conversation, NaN where it was never rated: (C, 7)."""
        means = [self.mean_by_conversation(missing(ratings)) for ratings in self.seven.T]
        return np.column_stack(means)

    @cached_property
    def post(self) -> np.ndarray:
        """Mean post-task rating of empathy: (C,)."""
        return self.study.post.mean(axis=1)

    @cached_property
    def experience(self) -> np.ndarray:
        """Mean post-task rating of the experience: (C,)."""
        return self.study.experience.mean(axis=1)

    @cached_property
    def poor_turns(self) -> np.ndarray:
        """Number of turns with a poor overall rating: (C,)."""
        poor = (self.overall > 0) & (self.overall <= POOR)
        return np.bincount(self.study.conversation[poor], minlength=len(self.study.turns))

    @cached_property
    def conditions(self) -> list[tuple[str, np.ndarray]]:
        """Name and conversations (C,) of each condition, in alphabetical order."""
        names = self.study.parameters.conditions
        return [(name, self.study.condition == names.index(name)) for name in sorted(names)]


# Means --------------------------------------------------------------------------------------------


def by_dimension(beginning: str, values: Iterable[float]) -> dict[str, float]:
    """One value per dimension, by a key that begins so and ends with its name."""
    keys = [f"{beginning}_{name}" for name in DIMENSION_NAMES]
    return dict(zip(keys, values, strict=True))


def missing(ratings: np.ndarray) -> np.ndarray:
    """Ratings as numbers, NaN for 0."""
    return np.where(ratings > 0, ratings, np.nan)


def divided(sums: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Quotient, NaN where nothing was counted."""
    counts = np.asarray(counts, dtype=float)
    return np.divide(sums, counts, out=np.full(counts.shape, np.nan), where=counts > 0)


def mean(values: np.ndarray) -> float:
    """Mean, NaN of nothing."""
    return float(values.mean()) if values.size else np.nan


def mean_by(values: np.ndarray, groups: np.ndarray, number: int) -> np.ndarray:
    """Mean of the values of each group that are not NaN; NaN in a group that has none."""
    valid = ~np.isnan(values)
    sums = np.bincount(groups[valid], weights=values[valid], minlength=number)
    return divided(sums, np.bincount(groups[valid], minlength=number))


def compact(*keys: np.ndarray) -> np.ndarray:
    """One group number, from 0, for each combination of keys."""
    combined = keys[0].astype(np.int64)
    for key in keys[1:]:
        combined = combined * (int(key.max(initial=0)) + 1) + key
    return np.unique(combined, return_inverse=True)[1]


def centered(values: np.ndarray, groups: np.ndarray) -> np.ndarray:
    """Values, one column or several, minus the mean of their group."""
    counts = np.bincount(groups)
    if values.ndim == 1:
        return values - (np.bincount(groups, weights=values) / counts)[groups]
    return np.column_stack([centered(column, groups) for column in values.T])


def over_draws(draws: list[dict[str, float]], key: str) -> tuple[float, float]:
    """Mean and standard error of a statistic over the draws that define it; NaN if fewer than two do."""
    column = np.array([statistics.get(key, np.nan) for statistics in draws], dtype=float)
    column = column[np.isfinite(column)]
    if len(column) < 2:
        return np.nan, np.nan
    error = float(column.std(ddof=1) / np.sqrt(len(column)))
    if error <= 1e-12:
        error = 0.0
    return float(column.mean()), error


# Two variables ------------------------------------------------------------------------------------


def correlation(x: np.ndarray, y: np.ndarray) -> float:
    """Pearson correlation; NaN below two rows."""
    if len(x) < 2:
        return np.nan
    x, y = x - x.mean(), y - y.mean()
    return (x * y).sum() / np.sqrt((x**2).sum() * (y**2).sum())


def difference(first: np.ndarray, second: np.ndarray) -> tuple[float, float]:
    """Difference of means, and the pooled sd."""
    if min(len(first), len(second)) < 2:
        return np.nan, np.nan
    squares = (len(first) - 1) * first.var(ddof=1) + (len(second) - 1) * second.var(ddof=1)
    pooled = squares / (len(first) + len(second) - 2)
    return first.mean() - second.mean(), float(np.sqrt(pooled))


def cohens_d(first: np.ndarray, second: np.ndarray) -> float:
    """Cohen's d with the pooled sd."""
    points, spread = difference(first, second)
    return points / spread


def crossed(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Counts of pairs of labels 1..5, 0 for none: (5, 5)."""
    return np.bincount(6 * a.astype(np.int64) + b, minlength=36).reshape(6, 6)[1:, 1:].astype(float)


def kappa(table: np.ndarray, power: int) -> float:
    """Cohen's weighted kappa of counted pairs of labels; disagreement weighs |i - j| ** power."""
    if not table.any():
        return np.nan
    table = table / table.sum()
    weights = np.abs(np.subtract.outer(np.arange(5), np.arange(5))) ** power
    expected = np.outer(table.sum(axis=1), table.sum(axis=0))
    return 1 - (weights * table).sum() / (weights * expected).sum()


# Several variables --------------------------------------------------------------------------------


def covariances(values: np.ndarray) -> np.ndarray:
    """Pairwise covariances of columns of ratings; zeros are missing. NaN where two columns share no two rows."""
    # Sums of whole numbers are exact in floating point, so the products are the same everywhere.
    ratings = values.astype(float)
    rated = (values > 0).astype(float)
    pairs = rated.T @ rated
    # Entry (a, b) of sums is the sum of a over the rows where both are rated.
    sums = ratings.T @ rated
    return np.where(pairs > 1, (ratings.T @ ratings - sums * sums.T / pairs) / (pairs - 1), np.nan)


def alpha(covariance: np.ndarray) -> float:
    """Cronbach's alpha, k / (k - 1) * (1 - trace / sum) of the covariances."""
    items = len(covariance)
    return items / (items - 1) * (1 - np.trace(covariance) / covariance.sum())


def pair_correlations(values: np.ndarray) -> np.ndarray:
    """Correlations of columns of ratings, each over the rows where both are rated; zeros are missing."""
    ratings = values.astype(float)
    rated = (values > 0).astype(float)
    pairs = rated.T @ rated
    sums = ratings.T @ rated
    squares = (ratings**2).T @ rated
    covariance = ratings.T @ ratings - sums * sums.T / pairs
    spread = np.sqrt(squares - sums**2 / pairs)
    return covariance / (spread * spread.T)


def correlations(covariance: np.ndarray) -> np.ndarray:
    """Covariances by standard deviations; NaN where nothing varies."""
    spread = np.sqrt(np.where(np.diag(covariance) > 0, np.diag(covariance), np.nan))
    return covariance / np.outer(spread, spread)


def regression(columns: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, float]:
    """Coefficients of least squares, and the residual sum of squares; an intercept is a column of ones.

    NaN where the columns do not identify them.
    """
    width = columns.shape[1]
    nothing = np.full(width, np.nan), np.nan
    if len(y) <= width:
        return nothing
    cross = columns.T @ columns
    scale = np.sqrt(np.diag(cross))
    if not (scale > 1e-9).all():
        return nothing
    if np.linalg.eigvalsh(cross / np.outer(scale, scale))[0] < 1e-9:
        return nothing
    products = columns.T @ y
    coefficients = np.linalg.solve(cross, products)
    return coefficients, float((y**2).sum() - coefficients @ products)


def with_ones(*columns: np.ndarray) -> np.ndarray:
    """Columns of a design behind a column of ones."""
    return np.column_stack([np.ones(len(columns[0])), *columns])


# Groups -------------------------------------------------------------------------------------------


def _pair_covariance(values: np.ndarray, groups: np.ndarray) -> tuple[float, float]:
    """Sum of products over ordered pairs of different rows of a group, and the number of pairs."""
    sums = np.bincount(groups, weights=values)
    squares = np.bincount(groups, weights=values**2)
    counts = np.bincount(groups).astype(float)
    return float((sums**2 - squares).sum()), float((counts * (counts - 1)).sum())


def variance_parts(values: np.ndarray, levels: list[np.ndarray]) -> list[float]:
    """Variance parts of nested groups from covariances of pairs, outermost first, residual last.

    The covariance of two rows that share group g but not the next finer one is the sum of
    the variances of g and all groups around it; differences of these are the parts.
    """
    shared = []
    for level, groups in enumerate(levels):
        products, pairs = _pair_covariance(values, groups)
        if level + 1 < len(levels):
            inner_products, inner_pairs = _pair_covariance(values, levels[level + 1])
            products -= inner_products
            pairs -= inner_pairs
        shared.append(products / pairs if pairs else np.nan)
    shared.append(mean(values**2))
    return list(np.diff([0.0, *shared]))


def icc_1(values: np.ndarray, groups: np.ndarray) -> float:
    """ICC(1) of the one-way analysis of variance with unequal group sizes."""
    counts = np.bincount(groups).astype(float)
    means = np.bincount(groups, weights=values) / counts
    n = counts.sum()
    m = len(counts)
    if m < 2 or n <= m:
        return np.nan
    between = (counts * (means - values.mean()) ** 2).sum() / (m - 1)
    within = ((values - means[groups]) ** 2).sum() / (n - m)
    size = (n - (counts**2).sum() / n) / (m - 1)
    return (between - within) / (between + (size - 1) * within)


def distances(values: np.ndarray, groups: np.ndarray) -> tuple[float, float]:
    """Sum of |x - y| over the pairs of rows of a group, each pair once, and the number of pairs.

    In order, a value is added once for each that lies below it and taken off once for each above.
    """
    order = np.lexsort((values, groups))
    values = values[order]
    groups = groups[order]
    counts = np.bincount(groups)
    rank = np.arange(len(values)) - (np.cumsum(counts) - counts)[groups]
    pairs = counts * (counts - 1.0) / 2
    return float((values * (2 * rank - counts[groups] + 1)).sum()), float(pairs.sum())
