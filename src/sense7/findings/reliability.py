r"""Whether the seven ratings are seven measures or one impression: alpha, correlations, components, one factor.

A covariance over all turns mixes two questions: whether the ratings move together from turn to turn of one
conversation, and whether conversations that are rated high on one dimension are rated high on the others. With C
conversations, :math:`n_c` turns of conversation c that rate both items, N turns in all, and conversation means
:math:`\bar x_c, \bar y_c` over these turns,

.. math::

    S_W = \frac{\sum_c \sum_t (x_{ct} - \bar x_c)(y_{ct} - \bar y_c)}{\sum_c (n_c - 1)}, \qquad
    S_B = \frac{M_B - S_W}{n_0}, \qquad
    M_B = \frac{\sum_c n_c (\bar x_c - \bar x)(\bar y_c - \bar y)}{C - 1}, \qquad
    n_0 = \frac{N - \sum_c n_c^2 / N}{C - 1}

are the covariances *within* conversations (pooled) and *between* conversations (of their expected ratings, free of the
variation from turn to turn). Alpha of each is the multilevel reliability of Geldhof, Preacher and Zyphur (2014) and of
Lai (2021), by analysis of variance in place of a structural equation model.

Ratings are frames indexed by participant, one column per item, NaN if not rated. Items that were never rated or do not
vary are left out, and named in the method. Pairwise: each covariance over the units that rate both items, each variance
over those that rate the item. Listwise: only units that rate every item.
"""

import itertools
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, cached_property

import numpy as np
import pandas as pd

from sense7.findings.core import Needs, Number, finding, mean_number, resampled, tabulate
from sense7.statistics.alpha import (
    FEWEST_UNITS,
    SCALE,
    alpha_from_covariances,
    alpha_row,
    average_correlation,
    between_covariances,
    correlations_from_covariances,
    covariances_from_sums,
    item_rest_from_covariances,
    joined,
    lacking_items,
    moments_by_participant,
    nested_moments,
    too_few,
    usable,
    within_covariances,
)
from sense7.statistics.bootstrap import OWN_SCALE, ParticipantBootstrap, Scale
from sense7.statistics.estimates import estimate_row, estimate_table
from sense7.statistics.factor import (
    ITEMS_FOR_A_FACTOR,
    QUANTILE,
    SIMULATIONS,
    descending_eigenvalues,
    fit_one_factor,
    indices_of,
    noise_eigenvalues,
    omega_total,
    reduced_correlations,
)
from sense7.statistics.order import rounded
from sense7.taxonomy import LEVELS
from sense7.terminal import count_of

ITEMS_FOR_A_TEST = 4
UNITS_FOR_A_FACTOR = 20
RATINGS_OF_A_LINE = 5
"""Ratings of a turn that must be of one level to count as a straight line."""

PARALLEL = [
    "components",
    "components, noise",
    "components, noise of participants",
    "factors",
    "factors, noise",
    "factors, noise of participants",
]
"""Columns of :func:`parallel_analysis`."""

NO_FACTOR = "no factor model can be fitted: some of the ratings are the same, or sums of others"


class Items:
    """Ratings of items as one statistic uses them, and why there is none of them."""

    def __init__(self, ratings: pd.DataFrame, missing: str, fewest: int, units: int = FEWEST_UNITS):
        self.ratings = ratings
        self.used, self.note = usable(ratings, missing)
        self.reason = too_few(self.used, fewest, units)
        self.words = f"{missing}, {count_of(self.used.shape[1], 'item')}{self.note}"
        self.lacking = lacking_items(self.used, self.note)

    @cached_property
    def moments(self) -> tuple[np.ndarray, np.ndarray]:
        """Sums of each participant from which covariances follow, and the participants."""
        return moments_by_participant(self.used.to_numpy(dtype=float), self.used.index)

    def statistic(
        self, bootstrap: ParticipantBootstrap, of_covariances: Callable[[np.ndarray], np.ndarray]
    ) -> np.ndarray:
        """A function of the covariances, in all units and in every resample."""

        def of_sums(sums: np.ndarray) -> np.ndarray:
            return of_covariances(covariances_from_sums(sums))

        return resampled(bootstrap, of_sums, *self.moments)

    def number(self, name: str, of_items: Callable[[], np.ndarray], **declared) -> Number:
        """The number of one item, from a statistic with a column for each item used."""

        def statistic():
            return of_items()[:, list(self.used).index(name)]

        reason = self.reason
        if not reason and name not in self.used:
            reason = "does not vary in the units used"
        needs = Needs(answers={name: self.ratings[name]})
        return Number(name, statistic, counted="unit", needs=needs, reason=reason, **declared)


@finding
def alpha_table(
    turns: pd.DataFrame,
    post_task: pd.DataFrame,
    bootstrap: ParticipantBootstrap,
    *,
    repeated: str,
) -> pd.DataFrame:
    """Return alpha per turn (pairwise, listwise, without Relational, with Feldt's interval) and after the conversation.

    Feldt's interval takes every turn as independent of every other. The others are t intervals over participants, see
    :func:`sense7.statistics.alpha.alpha_row`.

    Parameters
    ----------
    turns, post_task : DataFrame
        As :func:`~sense7.findings.measures.turn_ratings` and :func:`~sense7.findings.measures.post_task_ratings`
        return them.
    bootstrap : ParticipantBootstrap
        Of the study's participants.
    repeated : str
        Why the ratings after the conversation have no alpha of their own, as
        :func:`~sense7.findings.repeated_ratings.why_no_judgment_of_the_whole` says it; empty where they have one.

    Returns
    -------
    DataFrame
        A table of estimates, one row for each.
    """
    independent = alpha_row(turns, bootstrap, interval="feldt", key="alpha_turn_feldt")
    rows = {
        "per turn, pairwise": alpha_row(turns, bootstrap, key="alpha_turn"),
        "per turn, listwise": alpha_row(
            turns, bootstrap, missing="listwise", key="alpha_turn_listwise"
        ),
        "per turn, without Relational": alpha_row(
            turns.drop(columns="Relational"), bootstrap, key="alpha_turn_without_relational"
        ),
        "after the conversation": alpha_row(
            post_task, bootstrap, refused=repeated, key="alpha_post"
        ),
        "per turn, turns taken as independent": independent,
    }
    return estimate_table(rows, "ratings")


@finding
def alpha_if_dropped(ratings: pd.DataFrame, bootstrap: ParticipantBootstrap) -> pd.DataFrame:
    """Return alpha of the other items, pairwise, for each item."""
    rows = {}
    for name in ratings:
        never = "" if ratings[name].notna().any() else "never rated itself"
        key = f"alpha_turn_without_only_{name}"
        rows[name] = alpha_row(ratings.drop(columns=name), bootstrap, refused=never, key=key)
    return estimate_table(rows, "left out")


COVARIANCES = {"within": within_covariances, "between": between_covariances}
"""Level -> its covariances, from the sums of :func:`~sense7.statistics.alpha.nested_moments`."""


@finding
def by_level(ratings: pd.DataFrame, bootstrap: ParticipantBootstrap) -> pd.DataFrame:
    r"""Return alpha, and the mean correlation of two dimensions, within conversations and between them, pairwise.

    .. math:: \alpha = \frac{k}{k - 1}\left(1 - \frac{\sum_i S_{ii}}{\sum_{ij} S_{ij}}\right), \qquad
              \bar r = \frac{2}{k (k - 1)} \sum_{i < j} \frac{S_{ij}}{\sqrt{S_{ii} S_{jj}}}

    with S the covariances of the level, see this module's head. Between conversations alpha may be estimated above 1,
    where its logarithmic scale ends, so that its t interval is on its own scale. ``ratings`` are those of
    :func:`~sense7.findings.measures.nested_turn_ratings`.

    Examples
    --------
    >>> index = pd.MultiIndex.from_tuples([("P", "C1"), ("P", "C1"), ("P", "C2"), ("P", "C2")])
    >>> ratings = pd.DataFrame({"Affective": [1.0, 3, 4, 5], "Relational": [2.0, 3, 3, 5]}, index=index)
    >>> float(by_level(ratings, ParticipantBootstrap(["P"], 100, 1))["estimate"].iloc[0].round(3))
    0.889
    """
    items = Items(ratings, "pairwise", fewest=2)
    moments, participants = nested_moments(items.used)

    def varying_covariances(sums: np.ndarray, level: str) -> np.ndarray:
        covariances = COVARIANCES[level](sums)
        variances = np.diagonal(covariances, axis1=-2, axis2=-1)
        all_vary = (rounded(variances) > 0).all(axis=-1)
        return np.where(all_vary[..., None, None], covariances, np.nan)

    def number(level: str, unit: str, words: str, of_covariances, scale: Scale | None) -> Number:
        def of_sums(sums: np.ndarray) -> np.ndarray:
            return of_covariances(varying_covariances(sums, level))

        def statistic():
            return bootstrap.estimate(of_sums, moments, participants, scale)

        return Number(
            label=f"{unit} {level} conversations",
            statistic=statistic,
            unit=unit,
            method=f"{words} of the covariances {level} conversations, {items.words}",
            rows=items.used.index.get_level_values(0),
            key=f"{level}_{unit.replace(' ', '_')}",
            undefined=f"a dimension does not vary {level} conversations, or no two are rated together there",
            reason=items.reason,
            interval=bootstrap.describe(scale),
            note=items.lacking,
        )

    alpha = ("alpha", "Cronbach's alpha", alpha_from_covariances)
    average = ("average correlation", "average correlation", average_correlation)
    numbers = [
        number("within", *alpha, SCALE),
        number("between", *alpha, OWN_SCALE),
        number("within", *average, None),
        number("between", *average, None),
    ]
    return tabulate("level", numbers, bootstrap)


@finding
def straight_lining(turns: pd.DataFrame, bootstrap: ParticipantBootstrap) -> pd.DataFrame:
    r"""Return how often all ratings of a turn are one level, and alpha without the participants who do so most.

    A turn counts if it has at least five ratings. With :math:`s_p` the share of participant p's turns that have one
    level, alpha is that of the participants with :math:`s_p \le Q_{3/4}(s)`: at most a quarter is left out, the same
    in all resamples. To leave out the turns themselves would lower alpha for any cause, since in these, ratings agree.

    Examples
    --------
    >>> ratings = pd.DataFrame([[5.0] * 5, [4.0] * 5, [5, 4, 5, 4, 5], [5, 5, 5, 5, np.nan]], index=list("ppqq"))
    >>> straight_lining(ratings, ParticipantBootstrap(["p", "q"], 100, 1))["estimate"].iloc[:2].round(3).tolist()
    [0.667, 0.5]
    """
    complete = turns[turns.notna().sum(axis=1) >= RATINGS_OF_A_LINE]
    lowest = complete.min(axis=1)
    highest = complete.max(axis=1)
    is_line = lowest == highest
    is_below_top = highest[is_line] < len(LEVELS)

    def number(label: str, key: str, unit: str, is_counted: pd.Series) -> Number:
        return mean_number(
            bootstrap,
            is_counted,
            pd.DataFrame({"participant": is_counted.index}),
            label=label,
            unit=unit,
            method=f"turns with at least {RATINGS_OF_A_LINE} ratings of dimensions, all of one level",
            counted=f"turn with {RATINGS_OF_A_LINE} ratings",
            key=key,
        )

    numbers = [
        number("one level for all dimensions", "straight_lined", "share of turns", is_line),
        number(
            "of these, below very good",
            "straight_lined_below_top",
            "share of such turns",
            is_below_top,
        ),
    ]
    shares = tabulate("straight-lining", numbers, bootstrap)

    share_of_participant = is_line.astype(float).groupby(level=0).mean()
    upper_quartile = share_of_participant.quantile(0.75)
    is_left_out = rounded(share_of_participant) > rounded(upper_quartile)
    left_out = share_of_participant.index[is_left_out]
    remaining = turns[~turns.index.isin(left_out)]
    alpha = alpha_row(remaining, bootstrap, key="alpha_turn_without_straight_liners")
    participants = count_of(turns.index.nunique(), "participant")
    alpha["method"] += f"; without {len(left_out)} of {participants}"
    label = "alpha without the quarter that does so most"
    return pd.concat([shares, estimate_table({label: alpha}, "straight-lining")])


@finding
def correlations(ratings: pd.DataFrame, bootstrap: ParticipantBootstrap) -> pd.DataFrame:
    """Return Pearson's correlation of each pair of items over the units that rate both.

    Examples
    --------
    >>> ratings = pd.DataFrame({"a": [1, 2, 3, 4.0], "b": [1, 3, 2, 4.0]}, index=list("pqrs"))
    >>> correlations(ratings, ParticipantBootstrap(ratings.index, 100, 1))["estimate"].round(3).to_dict()
    {'a with b': 0.8}
    """

    def number(a: str, b: str) -> Number:
        rows = ratings[[a, b]].dropna()

        def statistic():
            moments, people = moments_by_participant(rows.to_numpy(dtype=float), rows.index)
            return resampled(bootstrap, pearson_from_sums, moments, people)

        return Number(
            label=f"{a} with {b}",
            statistic=statistic,
            unit="Pearson correlation",
            method="Pearson correlation of the units that rate both",
            rows=rows.index,
            counted="unit",
            needs=Needs(
                answers={a: ratings[a], b: ratings[b]},
                rows=FEWEST_UNITS,
                varying={f"{a} is": rows[a], f"{b} is": rows[b]},
            ),
        )

    return tabulate(
        "pair", [number(*pair) for pair in itertools.combinations(ratings, 2)], bootstrap
    )


def pearson_from_sums(sums: np.ndarray) -> np.ndarray:
    """Pearson's correlation of two items, from moments; NaN below three units, or where either does not vary."""
    r = correlations_from_covariances(covariances_from_sums(sums))[..., 0, 1]
    return np.where(sums[..., 0, 0, 1] >= FEWEST_UNITS, np.clip(r, -1, 1), np.nan)


def correlation_matrices(ratings: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Return correlations over all turns and within conversations, pairwise, of ratings as `by_level` takes them.

    An item that was never rated, or does not vary, has a row and a column of NaN.
    """
    over_all = ratings.corr(min_periods=FEWEST_UNITS)
    moments, _ = nested_moments(ratings)
    within = correlations_from_covariances(within_covariances(moments.sum(axis=0)))
    return {
        "over all turns": over_all.mask(rounded(ratings.std()) == 0),
        "within conversations": pd.DataFrame(within, index=list(ratings), columns=list(ratings)),
    }


@finding
def item_rest(ratings: pd.DataFrame, bootstrap: ParticipantBootstrap) -> pd.DataFrame:
    """Return the correlation of each item with the sum of the others, pairwise; n counts units that rate the item."""
    items = Items(ratings, "pairwise", fewest=2)

    @cache
    def of_items():
        return items.statistic(bootstrap, item_rest_from_covariances)

    numbers = []
    for name in ratings:
        number = items.number(
            name,
            of_items,
            unit="correlation",
            method=f"correlation with the sum of the others, {items.words}",
            rows=ratings.index[ratings[name].notna()],
            key=f"item_rest_turn_{name}",
            undefined="too few units rate the item together with the others",
        )
        numbers.append(number)
    return tabulate("item", numbers, bootstrap)


@finding
def average_correlation_table(
    ratings: pd.DataFrame, bootstrap: ParticipantBootstrap
) -> pd.DataFrame:
    """Return the mean correlation of two items per turn, pairwise: one row.

    Each covariance is over the units that rate both items, and each variance over those that rate the item (as
    psych::alpha does), so that it is not quite the mean of :func:`correlations`.
    """
    items = Items(ratings, "pairwise", fewest=2)
    number = Number(
        label="average correlation over all turns",
        statistic=lambda: items.statistic(bootstrap, average_correlation),
        unit="average correlation",
        method=f"average correlation of the covariances, {items.words}",
        rows=items.used.index,
        key="average_correlation_turn",
        undefined="some of the ratings are the same, or too few units rate them together",
        reason=items.reason,
        note=items.lacking,
    )
    return tabulate("level", [number], bootstrap)


def parallel_analysis(ratings: pd.DataFrame, *, seed: int) -> pd.DataFrame:
    """Return the eigenvalues of the ratings beside those of noise, listwise.

    Eigenvalues of noise depend on the number of independent units. Turns of one person are not independent, so the
    comparison is made twice: with noise of as many rows as units, and of as many rows as participants, which is the
    conservative reference.

    Returns
    -------
    DataFrame
        One row per rank: ``components`` (eigenvalues of the correlations) and ``factors`` (of the correlations with
        squared multiple correlations in the diagonal); each with the 95th percentile of noise of as many rows as units,
        and as participants (NaN if these are not more than the items). Empty if there are too few ratings.

    References
    ----------
    Horn, J. L. (1965). Psychometrika 30, 179-185. Humphreys, L. G., & Montanelli, R. G. (1975). Multivariate Behavioral
    Research 10, 193-205 (factors).
    """
    items = Items(ratings, "listwise", ITEMS_FOR_A_FACTOR, UNITS_FOR_A_FACTOR)
    if items.reason:
        return pd.DataFrame(columns=PARALLEL, dtype=float).rename_axis("rank")

    units, k = items.used.shape
    participants = items.used.index.nunique()
    correlations = correlations_from_covariances(np.cov(items.used.to_numpy(dtype=float).T))
    components = descending_eigenvalues(correlations)
    factors = descending_eigenvalues(reduced_correlations(correlations))
    noise = noise_eigenvalues(units, k, seed=seed)
    noise_of_participants = (np.full(k, np.nan), np.full(k, np.nan))
    if participants > k + 1:
        noise_of_participants = noise_eigenvalues(participants, k, seed=seed)
    columns = [components, noise[0], noise_of_participants[0]]
    columns += [factors, noise[1], noise_of_participants[1]]
    ranks = pd.RangeIndex(1, k + 1, name="rank")
    return pd.DataFrame(dict(zip(PARALLEL, columns, strict=True)), index=ranks)


@finding
def retained(ratings: pd.DataFrame, *, seed: int) -> pd.DataFrame:
    """Return how many components and factors exceed noise (`parallel_analysis`), counted until one does not."""
    items = Items(ratings, "listwise", ITEMS_FOR_A_FACTOR, UNITS_FOR_A_FACTOR)
    table = parallel_analysis(ratings, seed=seed)
    units, k = items.used.shape
    participants = items.used.index.nunique()
    data_sets = count_of(SIMULATIONS, "data set")
    method = f"parallel analysis, {data_sets} of noise, {QUANTILE:.0%} quantile{items.note}"

    def row(counted: str, noise: str, n: int, key: str) -> dict:
        common = {"n": n, "unit": f"number of {counted}", "method": method, "key": key}
        if items.reason:
            return estimate_row(**common, reason=items.reason)
        if not np.isfinite(table[[counted, noise]]).all(axis=None):
            reason = "some of the ratings are the same, or sums of others"
            if participants <= k + 1:
                reason = f"only {count_of(participants, 'participant')} for {count_of(k, 'item')}"
            return estimate_row(**common, reason=reason)
        exceeds = rounded(table[counted]) > rounded(table[noise])
        reason = joined("no interval: a count against a fixed reference", items.lacking)
        return estimate_row(int(exceeds.cummin().sum()), **common, reason=reason)

    of_participants = "components, noise of participants"
    rows = {
        "components, noise of as many units": row(
            "components", "components, noise", units, "parallel_components_turn"
        ),
        "factors, noise of as many units": row(
            "factors", "factors, noise", units, "parallel_factors_turn"
        ),
        "components, noise of as many participants": row(
            "components", of_participants, participants, "parallel_components_participants_turn"
        ),
    }
    return estimate_table(rows, "what is counted")


@dataclass(frozen=True, eq=False)
class OmegaAndLoadings:
    """Omega total of one factor, and its loadings, as tables of estimates."""

    omega: pd.DataFrame
    loadings: pd.DataFrame


@finding
def omega_and_loadings(turns: pd.DataFrame, bootstrap: ParticipantBootstrap) -> OmegaAndLoadings:
    """Return omega total of one factor by maximum likelihood, and its loadings, listwise; fitted in every resample.

    A loading is the correlation of item and factor. n counts the units that rate every item.
    """
    items = Items(turns, "listwise", ITEMS_FOR_A_FACTOR, UNITS_FOR_A_FACTOR)
    method = f"one factor by maximum likelihood, {items.words}"

    def of_covariances(covariances: np.ndarray) -> np.ndarray:
        fit = fit_one_factor(correlations_from_covariances(covariances))
        omega = omega_total(fit.loadings, fit.uniquenesses)
        return np.concatenate([omega[..., None], fit.loadings], axis=-1)

    @cache
    def omega_then_loadings():
        return items.statistic(bootstrap, of_covariances)

    omega = Number(
        label="per turn, listwise",
        statistic=lambda: omega_then_loadings()[:, 0],
        unit="omega",
        method=f"omega total, {method}",
        rows=items.used.index,
        key="omega_turn_listwise",
        undefined=NO_FACTOR,
        reason=items.reason,
        note=items.lacking,
    )
    loadings = []
    for name in turns:
        loading = items.number(
            name,
            lambda: omega_then_loadings()[:, 1:],
            unit="loading",
            method=method,
            rows=items.used.index,
            key=f"one_factor_loading_turn_{name}",
            undefined=NO_FACTOR,
        )
        loadings.append(loading)
    return OmegaAndLoadings(
        omega=tabulate("ratings", [omega], bootstrap),
        loadings=tabulate("item", loadings, bootstrap),
    )


@finding
def fit_indices(ratings: pd.DataFrame) -> pd.DataFrame:
    r"""Return how well one factor fits: CFI, RMSEA and SRMR, listwise.

    With n units, F the discrepancy, f = k (k - 3) / 2 degrees of freedom, and of the model of no correlation
    :math:`\chi_0^2 = -n \log|R|` on :math:`f_0 = k (k - 1) / 2`:

    .. math::

        \chi^2 = nF, \quad
        \mathrm{CFI} = 1 - \frac{\max(\chi^2 - f, 0)}{\max(\chi_0^2 - f_0, \chi^2 - f, 0)}, \quad
        \mathrm{RMSEA} = \sqrt{\max(\chi^2 - f, 0) / (fn)}, \quad
        \mathrm{SRMR} = \sqrt{\textstyle\sum_{i \le j} (r_{ij} - \hat r_{ij})^2 / (k (k + 1) / 2)}

    There are no intervals and no test: chi-square takes units as independent, which turns are not, and resampling
    inflates misfit.

    References
    ----------
    Bentler, P. M. (1990). Psychological Bulletin 107, 238-246. Hu, L., & Bentler, P. M. (1999). Structural Equation
    Modeling 6, 1-55.
    """
    items = Items(ratings, "listwise", ITEMS_FOR_A_TEST, UNITS_FOR_A_FACTOR)
    covariances = None
    if not items.reason:
        covariances = np.cov(items.used.to_numpy(dtype=float).T, ddof=0)
    return _fit_of_one_factor(items, covariances, len(items.used), "one_factor_turn")


@finding
def within_fit_indices(nested: pd.DataFrame) -> pd.DataFrame:
    r"""Return how well one factor fits within conversations: the indices of `fit_indices`, listwise.

    The factor is fitted to the pooled covariances within conversations,

    .. math:: S_{PW} = \frac{1}{n - J} \sum_{j=1}^J \sum_{i \in j} (x_i - \bar x_j)(x_i - \bar x_j)'

    with n turns in J conversations, and n - J, which the rows count, takes the place of n: what is common to the turns
    of one conversation, and so of one person, plays no role. The level between conversations is left out: its
    covariances are a difference of two estimates, which the formula of chi-square does not fit.
    ``nested`` are the ratings of :func:`~sense7.findings.measures.nested_turn_ratings`.

    References
    ----------
    Ryu, E., & West, S. G. (2009). Level-specific evaluation of model fit in multilevel structural equation modeling.
    Structural Equation Modeling 16, 583-601.

    Notes
    -----
    R: lavaan::cfa(sample.cov=psych::statsBy(cor='cov')$rwg), tests/reference/reference.R; equal to 2e-4. Maximum
    likelihood of both levels, lavaan::sem(cluster=), gives an RMSEA and an SRMR that differ by 0.001 there.
    """
    items = Items(nested, "listwise", ITEMS_FOR_A_TEST, UNITS_FOR_A_FACTOR)
    covariances = None
    freedom = 0
    if not items.reason:
        moments, _ = nested_moments(items.used)
        covariances = within_covariances(moments.sum(axis=0))
        freedom = len(items.used) - items.used.index.get_level_values(1).nunique()
        if freedom < UNITS_FOR_A_FACTOR:
            turns = count_of(freedom, "turn")
            items.reason = f"{turns} beyond one per conversation; this needs {UNITS_FOR_A_FACTOR}"
    return _fit_of_one_factor(
        items, covariances, freedom, "one_factor_within", " within conversations"
    )


def _fit_of_one_factor(
    items: Items, covariances: np.ndarray | None, n: int, key: str, where: str = ""
) -> pd.DataFrame:
    """Fit indices of one factor to covariances of so many units; rows of NaN with the reason where there are none."""
    indices = dict.fromkeys(("CFI", "RMSEA", "SRMR"), np.nan)
    reason = items.reason
    if not reason:
        fit = fit_one_factor(correlations_from_covariances(covariances))
        modeled = np.outer(fit.loadings, fit.loadings)
        parameters = 2 * len(covariances)
        computed = indices_of(
            covariances, n, float(fit.discrepancy), modeled, parameters=parameters
        )
        if np.isfinite(computed["CFI"]):
            indices = {name: computed[name] for name in indices}
            reason = joined("no interval: resampling inflates misfit", items.lacking)
        else:
            reason = NO_FACTOR
    rows = {}
    for name, index in indices.items():
        rows[name] = estimate_row(
            index,
            n=n,
            unit=name,
            method=f"one factor by maximum likelihood{where}, {items.words}",
            reason=reason,
            key=f"{key}_{name.lower()}",
        )
    return estimate_table(rows, "index")
