"""How individual the ratings are: parts of their variance, and how differently people rate alike conversations.

The variance of ratings is split into that between participants, that of a participant's own
leaning towards a condition, that between a participant's conversations in one condition, and, where
turns are rated, that between the turns of a conversation. Conditions themselves are fixed
and belong to none of these.
"""

from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
from scipy import stats

from sense7.arguments import check_arguments
from sense7.statistics.bootstrap import ParticipantBootstrap
from sense7.statistics.comparison import conversation_ratings
from sense7.statistics.estimates import estimate_row, estimate_table
from sense7.statistics.mixed import fit_nested, nested_sums
from sense7.study import Study
from sense7.taxonomy import DIMENSION_NAMES
from sense7.terminal import count_of

__all__ = [
    "KEYS",
    "VarianceParts",
    "alike_conversations",
    "icc_1",
    "intraclass_correlations",
    "participant_icc",
    "variance_parts",
]

PARTS = ("participant", "participant by condition", "conversation", "turn")
KEYS = {
    "participant": "participant",
    "participant by condition": "participant_condition",
    "conversation": "conversation",
    "turn": "residual",
}
"""Endings of keys by the part's name."""

MODEL_DRAWS = 1000
"""A mixed model is fitted anew in each resampling, so fewer are drawn than where sums suffice."""

TURN_RATINGS = {
    "turn_mean": "mean over the rated dimensions of a turn",
    "overall": "overall rating of a turn",
}
FEWEST_PAIRS = 10
ONE_EACH = "no participant has two rated conversations, so persons can't be told from conversations"


@dataclass(frozen=True, eq=False)
class VarianceParts:
    r"""Parts of a rating's variance, tables of estimates with a row a part.

    Attributes
    ----------
    variances, shares : DataFrame
        In squared levels, and as shares of their sum.
    differences : DataFrame
        What they mean for two ratings, in levels, if the parts are normally distributed: expected
        difference of two participants' levels in a condition (:math:`2\sqrt{(\sigma_p^2 + \sigma_{pc}^2)/\pi}`),
        and of two conversations of one participant in a condition (:math:`2 \sigma_c / \sqrt{\pi}`).
    """

    variances: pd.DataFrame
    shares: pd.DataFrame
    differences: pd.DataFrame


def _rated(study: Study, rating: str) -> tuple[pd.DataFrame, str]:
    """Rows with the rating as ``y``, and what it is; conditions as text, one if there are none."""
    if rating in TURN_RATINGS:
        words = TURN_RATINGS[rating]
        frame = study.turns[["participant", "condition", "conversation"]].copy()
        whole = study.turns[list(DIMENSION_NAMES)].mean(axis=1) if rating == "turn_mean" else study.turns[rating]
        frame["y"] = whole.astype(float)
    else:
        words = "ground truth of a conversation"
        frame = conversation_ratings(study).reset_index()
        frame["y"] = frame[rating]
    if not study.conditions:
        frame["condition"] = ""
    return frame[frame["y"].notna() & frame["condition"].notna() & frame["participant"].notna()], words


def variance_parts(
    study: Study, bootstrap: ParticipantBootstrap, rating: str = "ground_truth", draws: int = MODEL_DRAWS
) -> VarianceParts:
    """Split the variance of a rating by a mixed model (REML) with conditions fixed.

    Parameters
    ----------
    study : Study
        The data.
    bootstrap : ParticipantBootstrap
        Its first ``draws`` resamplings; the model is fitted in each.
    rating : {"ground_truth", "turn_mean", "overall"}
        Ground truth of conversations; or of turns the mean over the rated dimensions, or the
        overall rating. Rows without it, or without a condition, are left out.
    draws : int
        At most so many.

    Notes
    -----
    R: lme4::lmer(overall ~ model + (1 | participant) + (1 | pm) + (1 | conversation)),
    tests/reference/reference.R; equal to 2e-4. A part that the design can't tell from another one has no
    estimate, and is part of that one.
    """
    frame, words = _rated(study, rating)
    parts = PARTS if rating in TURN_RATINGS else PARTS[:3]
    method = f"{words}: mixed model with conditions fixed; REML"
    per_person = frame.groupby("participant")["conversation"].nunique()
    reason, fit = "", None
    if frame.empty:
        reason = f"no {words} in this data set"
    elif len(per_person) < 2:
        reason = "there is one participant only"
    elif per_person.max() < 2:
        reason = ONE_EACH
    elif np.ptp(frame["y"]) < 1e-9:
        reason = "the ratings do not vary"
    else:
        names = sorted(frame["condition"].unique())
        design = np.column_stack([frame["condition"] == name for name in names]).astype(float)
        groups = frame["conversation"] if rating in TURN_RATINGS else None
        sums = nested_sums(frame["y"].to_numpy(), design, frame["participant"], frame["condition"], groups)
        fit = fit_nested(sums)
        if not np.isfinite(fit.variances).all() or fit.variances[3] < 1e-9 * np.var(frame["y"]):
            reason = "too few conversations for the model"
    if reason:
        return _no_parts(parts, len(frame), method, reason)
    # At the level of conversations the model's residual is the conversation.
    places = [0, 1, 2, 3] if rating in TURN_RATINGS else [0, 1, 3]
    known = [place == 3 or bool(sums.free[place]) for place in places]
    own, estimates = replace(bootstrap, draws=min(bootstrap.draws, draws)), fit.variances[places]
    resampled = np.full((own.draws, len(places)), np.nan)
    if not own.too_few(frame["participant"]):
        weights = own.weights()[:, own.names.get_indexer(sums.participants)]
        resampled = fit_nested(sums, weights, fit.variances[:3] / fit.variances[3]).variances[:, places]
        resampled[~np.isfinite(resampled).all(axis=1)] = np.nan  # a fit that failed tells no part

    def rows(statistic, names, unit, told) -> dict:
        values, drawn = statistic(estimates), statistic(resampled)
        found = [
            (values[place] if told[place] else np.nan, *own.interval(drawn[:, place], frame["participant"]))
            for place in range(len(names))
        ]
        return {
            name: own.row(found[place], n=len(frame), unit=unit, method=method, undefined=_mixed_up(name, frame))
            for place, name in enumerate(names)
        }

    share = lambda values: values / values.sum(axis=-1, keepdims=True)  # noqa: E731
    return VarianceParts(
        estimate_table(rows(lambda values: values, parts, "squared levels", known), "part"),
        estimate_table(rows(share, parts, "share of the variance", known), "part"),
        estimate_table(rows(_differences, DIFFERENCES, "levels (from 1 to 5)", [True, known[2]]), "two of"),
    )


DIFFERENCES = ("two participants' levels", "two conversations of one participant")


def _differences(variances: np.ndarray) -> np.ndarray:
    pairs = np.stack([variances[..., 0] + variances[..., 1], variances[..., 2]], axis=-1)
    return 2 * np.sqrt(pairs / np.pi)


def _mixed_up(name: str, frame: pd.DataFrame) -> str:
    """Why a part can't be told from another."""
    if name == "participant by condition":
        if frame.groupby("participant")["condition"].nunique().max() < 2:
            return "no participant met two conditions: it is part of the participant's"
        return "no participant has two conversations in a condition: it is part of the conversation's"
    if (frame.groupby("conversation").size() < 2).all():
        return "no conversation has two rated turns: it is part of the turn's"
    if frame.groupby("participant")["condition"].nunique().max() < 2:
        return "it can't be told from the participant's"
    return "no participant has two conversations in a condition: it is part of participant by condition"


def _no_parts(parts, n: int, method: str, reason: str) -> VarianceParts:
    units = {"squared levels": parts, "share of the variance": parts, "levels (from 1 to 5)": DIFFERENCES}
    return VarianceParts(
        *(
            estimate_table(
                {name: estimate_row(n=n, unit=unit, method=method, reason=reason) for name in names},
                "two of" if names is DIFFERENCES else "part",
            )
            for unit, names in units.items()
        )
    )


def icc_1(y: np.ndarray, groups: pd.Series) -> float:
    r"""Intraclass correlation ICC(1) by the one-way analysis of variance.

    .. math:: \frac{B - W}{B + (n_0 - 1) W}, \quad n_0 = \frac{1}{m - 1}\left(n - \frac{\sum_i n_i^2}{n}\right)

    with B and W the mean squares between and within m groups of :math:`n_i` rows.

    Parameters
    ----------
    y : array, shape (rows,)
        The values; no NaN.
    groups : Series
        Group of each row.

    Returns
    -------
    float
        At most 1, below nought where groups are more alike than chance; NaN below two groups, if no
        group has two rows, or if nothing varies.

    References
    ----------
    Shrout, P. E., & Fleiss, J. L. (1979). Psychological Bulletin 86, 420-428.

    Notes
    -----
    R: anova(aov(overall ~ factor(participant))), tests/reference/reference.R; equal to 1e-7.

    Examples
    --------
    >>> round(icc_1(np.array([1.0, 2, 5, 6, 9, 9]), pd.Series(list("aabbcc"))), 4)
    0.9766
    """
    codes, names = pd.factorize(pd.Series(groups).to_numpy())
    sums = _icc_sums(np.asarray(y, dtype=float), codes, np.ones((len(codes), 1)), len(names))
    return float(_icc_of(sums.sum(axis=0), centred=False))


def _icc_sums(y: np.ndarray, codes: np.ndarray, conditions: np.ndarray, count: int) -> np.ndarray:
    """Per participant: number, n, n squared, y squared; then by condition n and totals, and their products by n."""
    totals, counts = np.zeros((count, conditions.shape[1])), np.zeros((count, conditions.shape[1]))
    np.add.at(totals, codes, conditions * y[:, None])
    np.add.at(counts, codes, conditions)
    n = counts.sum(axis=1)
    both = np.concatenate([counts, totals], axis=1)
    products = both[:, :, None] * both[:, None, :] / n[:, None, None]
    head = np.column_stack([np.ones(count), n, n**2, np.bincount(codes, weights=y**2, minlength=count)])
    return np.concatenate([head, both, products.reshape(count, -1)], axis=1)


def _icc_of(sums: np.ndarray, *, centred: bool) -> np.ndarray:
    """ICC(1) from the sums; of values minus their condition's mean if ``centred``."""
    width = round((np.sqrt(4 * sums.shape[-1] - 15) - 1) / 4)  # from 4 + 2 width + (2 width)^2 entries
    groups, n, squares_of_n, squares = np.moveaxis(sums[..., :4], -1, 0)
    counts, totals = sums[..., 4 : 4 + width], sums[..., 4 + width : 4 + 2 * width]
    products = sums[..., 4 + 2 * width :].reshape(*sums.shape[:-1], 2 * width, 2 * width)
    with np.errstate(divide="ignore", invalid="ignore"):
        if centred:
            means = np.where(counts > 0, totals / counts, 0)
        else:
            means = np.broadcast_to((totals.sum(axis=-1) / n)[..., None], totals.shape)
        # Total of a participant minus what the means make of it: weights -mean on counts, 1 on totals.
        weights = np.concatenate([-means, np.ones_like(means)], axis=-1)
        between = np.einsum("...i,...ij,...j->...", weights, products, weights)
        whole = squares - 2 * (means * totals).sum(axis=-1) + (means**2 * counts).sum(axis=-1)
        within = whole - between
        size = (n - squares_of_n / n) / (groups - 1)
        b, w = between / (groups - 1), within / (n - groups)
        defined = (groups > 1) & (n > groups) & (whole > 1e-9 * np.maximum(squares, 1))
        return np.where(defined, (b - w) / (b + (size - 1) * w), np.nan)


def participant_icc(study: Study, bootstrap: ParticipantBootstrap) -> pd.DataFrame:
    """ICC(1) of participants over conversations' ground truth, as it is and without conditions' means.

    Parameters
    ----------
    study : Study
        The data.
    bootstrap : ParticipantBootstrap
        Draws of participants for the intervals; conditions' means are taken anew in each.

    Returns
    -------
    DataFrame
        Rows *as rated* and *without conditions' means* (the degrees of freedom of these means are not
        taken off); n counts conversations.
    """
    frame, words = _rated(study, "ground_truth")
    unit = "intraclass correlation"
    rows = {}
    for name, centred in (("as rated", False), ("without conditions' means", True)):
        method = f"ICC(1) of participants by analysis of variance; {words}, {name}"
        reason = ""
        if frame.empty:
            reason = f"no {words} in this data set"
        elif frame["participant"].value_counts().max() < 2:
            reason = ONE_EACH
        elif centred and frame["condition"].nunique() < 2:
            reason = "there is one condition only" if study.conditions else "no conversation has a condition"
        if reason:
            rows[name] = estimate_row(n=len(frame), unit=unit, method=method, reason=reason)
            continue
        codes, names = pd.factorize(frame["participant"].to_numpy())
        conditions = pd.get_dummies(frame["condition"], dtype=float).to_numpy()
        sums = _icc_sums(frame["y"].to_numpy(), codes, conditions, len(names))
        found = bootstrap.estimate(
            lambda values, centred=centred: _icc_of(values, centred=centred), sums, pd.Series(names)
        )
        undefined = "the ratings do not vary" if len(names) > 1 else "there is one participant only"
        rows[name] = bootstrap.row(found, n=len(frame), unit=unit, method=method, undefined=undefined)
    return estimate_table(rows, "ratings")


def intraclass_correlations(table: np.ndarray, confidence: float = 0.95) -> pd.DataFrame:
    """The six intraclass correlations of a complete table of rows rated on the same columns.

    Parameters
    ----------
    table : array, shape (rows, columns)
        At least two of each, no NaN.
    confidence : float
        Of the intervals, which take rows as independent and ratings as normal.

    Returns
    -------
    DataFrame
        Rows ICC1, ICC2, ICC3 (of one column), ICC1k, ICC2k, ICC3k (of their mean): estimate, low, high.

    References
    ----------
    Shrout, P. E., & Fleiss, J. L. (1979). Psychological Bulletin 86, 420-428.

    Notes
    -----
    R: psych::ICC(lmer=FALSE), tests/reference/reference.R; equal to 1e-7.

    Examples
    --------
    >>> table = np.array([[9.0, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8], [7, 1, 2, 6], [10, 5, 6, 9], [6, 2, 4, 7]])
    >>> intraclass_correlations(table)["estimate"].round(2).tolist()
    [0.17, 0.29, 0.71, 0.44, 0.62, 0.91]
    """
    n, k = table.shape
    grand, by_row, by_column = table.mean(), table.mean(axis=1), table.mean(axis=0)
    rows = k * ((by_row - grand) ** 2).sum() / (n - 1)
    columns = n * ((by_column - grand) ** 2).sum() / (k - 1)
    inside = ((table - by_row[:, None]) ** 2).sum() / (n * (k - 1))
    rest = ((table - by_row[:, None] - by_column + grand) ** 2).sum() / ((n - 1) * (k - 1))
    tail = (1 + confidence) / 2
    single = lambda f: (f - 1) / (f + k - 1)  # noqa: E731
    one, three = rows / inside, rows / rest
    limits = {
        1: (one / stats.f.ppf(tail, n - 1, n * (k - 1)), one * stats.f.ppf(tail, n * (k - 1), n - 1)),
        3: (three / stats.f.ppf(tail, n - 1, (n - 1) * (k - 1)), three * stats.f.ppf(tail, (n - 1) * (k - 1), n - 1)),
    }
    two = (rows - rest) / (rows + (k - 1) * rest + k * (columns - rest) / n)
    ratio = columns / rest
    above = (k - 1) * (n - 1) * (k * two * ratio + n * (1 + (k - 1) * two) - k * two) ** 2
    below = (n - 1) * k**2 * two**2 * ratio**2 + (n * (1 + (k - 1) * two) - k * two) ** 2
    f_low, f_high = stats.f.ppf(tail, n - 1, above / below), stats.f.ppf(tail, above / below, n - 1)
    base = k * columns + (k * n - k - n) * rest
    low = n * (rows - f_low * rest) / (f_low * base + n * rows)
    high = n * (f_high * rows - rest) / (base + n * f_high * rows)
    found = {
        "ICC1": (single(one), *map(single, limits[1])),
        "ICC2": (two, low, high),
        "ICC3": (single(three), *map(single, limits[3])),
    }
    of_mean = lambda r: r * k / (1 + r * (k - 1))  # noqa: E731
    found |= {f"{name}k": tuple(map(of_mean, values)) for name, values in found.items()}
    return pd.DataFrame.from_dict(found, orient="index", columns=["estimate", "low", "high"])


def alike_conversations(study: Study, bootstrap: ParticipantBootstrap) -> pd.DataFrame:
    r"""How far apart two ratings of alike conversations are: by two people, and by one.

    .. math:: \frac{\sum_{p < q} \sum_{i \in p, j \in q} a_{ij} |g_i - g_j|}
              {\sum_{p < q} \sum_{i \in p, j \in q} a_{ij}}

    with g the ground truth of a conversation and a = 1 if two are alike: in the same condition, or in
    the same condition and topic. For one person, the pairs are of the same participant. Every pair of
    conversations counts the same. In a resampling a pair of participants counts as often as both
    were taken together; a participant is never held against a copy of themselves.

    Parameters
    ----------
    study : Study
        The data. Conversations without a condition (and, for the pairs by topic, a topic) are left out; if no
        conversation has a condition, all count as of one.
    bootstrap : ParticipantBootstrap
        Draws of participants for the intervals.

    Returns
    -------
    DataFrame
        Rows for two people, one person, and the first minus the second, for both kinds of alike
        conversations; estimate in levels; n counts pairs of conversations (for the difference,
        conversations).
    """
    frame, words = _rated(study, "ground_truth")
    unit = "levels (from 1 to 5)"
    rows = {}
    for kind in ("same condition", "same condition and topic"):
        some = frame[frame["topic"].notna()] if "topic" in kind else frame
        method = f"mean absolute difference of the {words} over pairs in the {kind}"
        names = [f"{who}, {kind}" for who in ("two people", "one person", "two people minus one person")]
        if some.empty:
            reason = f"no {words} in this data set" if frame.empty else "no rated conversation has a topic"
            rows |= {name: estimate_row(n=0, unit=unit, method=method, reason=reason) for name in names}
            continue
        cell = some.groupby(["condition", "topic"] if "topic" in kind else "condition").ngroup().to_numpy()
        rows |= _pair_rows(some["y"].to_numpy(), cell, some["participant"], names, bootstrap, unit, method)
    return estimate_table(rows, "alike conversations")


def _pair_sums(y: np.ndarray, group: np.ndarray, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Sums of absolute differences of the pairs within a group, and numbers of pairs, each pair once each way.

    In order of y the sum is that of what lies below: no pair is formed, so that the cost is linear in rows.

    Parameters
    ----------
    y, group : array, shape (rows,)
        Values, and the groups in which they are paired: 0, 1, ..
    weights : array, shape (draws, rows)
        How often each row is taken, which makes so many pairs of it with any other row, and none with itself.

    Returns
    -------
    sums, pairs : array, shape (draws, groups)
    """
    order = np.lexsort((y, group))
    y, group, weights = y[order], group[order], weights[:, order]
    starts = np.flatnonzero(np.diff(group, prepend=-1))
    first = starts[group]

    def before(values: np.ndarray) -> np.ndarray:
        """Sum of the rows of the same group that come before each row."""
        below = np.cumsum(values, axis=1) - values
        return below - below[:, first]

    total = np.add.reduceat(weights, starts, axis=1)
    sums = np.add.reduceat(weights * (y * before(weights) - before(weights * y)), starts, axis=1)
    return 2 * sums, total**2 - np.add.reduceat(weights**2, starts, axis=1)


def _pair_rows(y, cell, participants: pd.Series, names, bootstrap, unit, method) -> dict:
    who = bootstrap.codes(participants)
    y = y - y.mean()  # sums of small numbers lose less
    once = np.ones((1, len(y)))
    # Pairs of one person's: theirs alone, by person; and taken off from all pairs, as often as both were taken.
    people, own_cell = np.unique(np.column_stack([who, cell]), axis=0, return_inverse=True)
    own = [
        np.bincount(people[:, 0], weights=part[0], minlength=len(bootstrap.names))
        for part in _pair_sums(y, own_cell.ravel(), once)
    ]
    everyone = [part.sum() for part in _pair_sums(y, cell, once)]
    counts = [round((everyone[1] - own[1].sum()) / 2), round(own[1].sum() / 2)]

    def apart(weights: np.ndarray) -> np.ndarray:
        everyone = [part.sum(axis=1) for part in _pair_sums(y, cell, weights[:, who])]
        with np.errstate(divide="ignore", invalid="ignore"):
            distance, pairs = (whole - weights**2 @ part for whole, part in zip(everyone, own, strict=True))
            two = np.where(pairs > 0, distance, np.nan) / pairs
            one = (weights @ own[0]) / (weights @ own[1])
            return np.column_stack([two, one, two - one])

    estimates = apart(np.ones((1, len(bootstrap.names))))[0]
    draws = bootstrap.in_every_draw(apart, len(y))
    rows = {}
    for place, name in enumerate(names):
        counted = [counts[place]] if place < 2 else counts
        n = counts[place] if place < 2 else len(participants)
        if min(counted) < FEWEST_PAIRS:
            reason = (
                f"only {count_of(min(counted), 'such pair', 'such pairs')} of conversations"
                if place < 2
                else "too few pairs of conversations"
            )
            rows[name] = estimate_row(n=n, unit=unit, method=method, reason=reason)
            continue
        found = estimates[place], *bootstrap.interval(draws[:, place], participants)
        rows[name] = bootstrap.row(found, n=n, unit=unit, method=method)
    return rows


check_arguments(globals())
