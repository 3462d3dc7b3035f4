"""What participants' characteristics explain of how they rate, and what remains their own.

The unit is the participant: each has one mean rating. Tested on turns or conversations, characteristics
that mean nothing would look related by the dozen. Any column of the participants' sheet is
examined, under any name; those that can't be are listed with the reason.
"""

from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy import stats

from sense7.arguments import check_arguments
from sense7.estimators.bootstrap import ParticipantBootstrap, pieces
from sense7.estimators.estimates import Estimate, estimate_row, estimate_table, p_in_words, safe_names
from sense7.estimators.ranks import spearman_in_draws
from sense7.findings.measures import conversation_ratings
from sense7.study import Study
from sense7.terminal import count_of

__all__ = ["Relations", "explained_together", "relations", "spearman"]

NO_SHEET = "the workbook has no participants' sheet"
FALSE_DISCOVERY_RATE = 0.05
MOST_GROUPS = 12
FEWEST_PER_GROUP = 3
"""Smallest average number of participants in a group."""

FEWEST_ANSWERS = 10
ANSWERED = 0.8
"""Share of participants that have to have answered a characteristic for it to be taken together with others."""

FREE_PARTICIPANTS = 20
"""Smallest excess of participants over coefficients in the model of all characteristics."""

NONCENTRAL = "interval from the noncentral F distribution, participants independent"

_KEYS = {"number": "characteristic_correlation_{}", "group": "characteristic_omega_squared_{}"}
"""Kind of a characteristic -> key of its relation to the ratings, which ends with its name."""

_EXPLAINED = {
    "explained, adjusted": "characteristics_explained",
    "predicted, cross-validated": "characteristics_explained_cross_validated",
}
"""Rows of :func:`explained_together` -> keys."""

_PIECE = 2000


@dataclass(frozen=True, eq=False)
class Relations:
    """Every characteristic against participants' mean ratings.

    Attributes
    ----------
    estimates : DataFrame
        A table of estimates, one row per characteristic: Spearman's rho of numbers, omega squared of groups.
    tests : DataFrame
        p (by permutation), q (Benjamini and Hochberg), and whether q is at most 0.05.
    left_out : DataFrame
        Columns that were not examined, with the reason.
    summary : DataFrame
        A table of estimates: how many were examined, how many are related.
    shown : DataFrame
        Estimates and tests in words.
    """

    estimates: pd.DataFrame
    tests: pd.DataFrame
    left_out: pd.DataFrame
    summary: pd.DataFrame
    shown: pd.DataFrame


def characteristic_columns(participants: pd.DataFrame | None, people: pd.Index) -> pd.DataFrame:
    """Return the kind of each column of the participants' sheet: a number, a group, or left out and why.

    Parameters
    ----------
    participants : DataFrame or None
        As in a study.
    people : Index
        Participants with a rating; the others do not count.

    Returns
    -------
    DataFrame
        One row per column: ``kind`` (number, group, or "" if left out), ``reason``, ``answers``.
    """
    if participants is None:
        return pd.DataFrame(columns=["kind", "reason", "answers"]).rename_axis("characteristic")
    own = participants[participants["participant"].isin(people)]
    kinds = {}
    for name in own.columns.drop(["participant", "row"], errors="ignore"):
        answers = own[name].dropna()
        kinds[name] = (*_kind_of(str(name), answers), len(answers))
    frame = pd.DataFrame.from_dict(kinds, orient="index", columns=["kind", "reason", "answers"])
    return frame.rename_axis("characteristic")


def _kind_of(name: str, answers: pd.Series) -> tuple[str, str]:
    if len(answers) < FEWEST_ANSWERS:
        return "", f"{count_of(len(answers), 'participant')} with ratings answered it: too few"
    number = pd.api.types.is_numeric_dtype(answers) and not pd.api.types.is_bool_dtype(answers)
    values = answers if number else answers.astype(str)
    distinct = values.nunique()
    if distinct == 1:
        return "", "the same for everybody"
    if distinct == len(values) and name.lower().replace("_", " ").split()[-1:] in (["id"], ["pid"], ["uuid"]):
        return "", "an identifier"
    if number:
        return ("", "a running number") if _is_running_number(values) else ("number", "")
    if distinct == len(values):
        return "", "another text for everybody"
    if distinct > min(MOST_GROUPS, len(values) / FEWEST_PER_GROUP):
        return "", f"{distinct} groups of {len(values)} participants are too many"
    return "group", ""


def _is_running_number(values: pd.Series) -> bool:
    """Whether the values are consecutive whole numbers, each once."""
    whole = (values == np.round(values)).all()
    return whole and values.nunique() == len(values) and np.ptp(values) == len(values) - 1


def spearman(x: np.ndarray, y: np.ndarray) -> tuple[float, float]:
    """Return Spearman's rank correlation (ties at their mean rank) and its p value by the t approximation.

    NaN if either is constant, or below three pairs.

    References
    ----------
    Spearman, C. (1904). American Journal of Psychology 15, 72-101.

    Notes
    -----
    R: cor.test(method='spearman', exact=FALSE), tests/reference/reference.R; equal to 1e-7.

    Examples
    --------
    >>> rho, p = spearman(np.array([1.0, 2, 3, 4]), np.array([1.0, 3, 2, 4]))
    >>> round(rho, 3), round(p, 3)
    (0.8, 0.2)
    """
    if len(x) < 3 or np.ptp(x) == 0 or np.ptp(y) == 0:
        return np.nan, np.nan
    result = stats.spearmanr(x, y)
    return float(result.statistic), float(result.pvalue)


def omega_squared(sums: np.ndarray) -> np.ndarray:
    r"""Return the share of the variance between groups, adjusted for chance: omega squared, from sums.

    .. math:: \omega^2 = \frac{SS_b - (k - 1) MS_w}{SS_b + SS_w + MS_w}

    with :math:`SS_b` and :math:`SS_w` the sums of squares between and within k groups, and :math:`MS_w` the mean square
    within. Unlike eta squared, :math:`SS_b / (SS_b + SS_w)`, it is about zero on average where groups do not
    differ, and may be negative.

    Parameters
    ----------
    sums : array, shape (..., groups, 3)
        For each group n, the sum and the sum of squares.

    Returns
    -------
    array, shape (...)
        At most 1; NaN if nothing varies, or if there are no more rows than groups.

    References
    ----------
    Hays, W. L. (1963). Statistics for psychologists.

    Examples
    --------
    >>> groups = [[1.0, 2.0], [3.0, 4.0]]
    >>> sums = np.array([[len(g), sum(g), sum(y * y for y in g)] for g in groups])
    >>> round(float(omega_squared(sums)), 3)
    0.636
    """
    between, within, above, below = _analysis_of_variance(sums)
    with np.errstate(divide="ignore", invalid="ignore"):
        square = within / below
        return np.where(below > 0, (between - above * square) / (between + within + square), np.nan)


def _analysis_of_variance(sums: np.ndarray) -> tuple[np.ndarray, ...]:
    """Sums of squares between and within groups, and their degrees of freedom; NaN if nothing varies."""
    n, total, squares = np.moveaxis(np.asarray(sums, dtype=float), -1, 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        grand = total.sum(axis=-1) ** 2 / n.sum(axis=-1)
    between = np.where(n > 0, total**2 / np.where(n > 0, n, 1), 0).sum(axis=-1) - grand
    whole = squares.sum(axis=-1) - grand
    groups = (n > 0).sum(axis=-1)
    varies = whole > 1e-9 * np.maximum(squares.sum(axis=-1), 1)
    between = np.where(varies, between, np.nan)
    return between, np.maximum(whole - between, 0), groups - 1, n.sum(axis=-1) - groups


def participant_means(study: Study, rating: str = "ground_truth") -> pd.Series:
    """Return each participant's mean rating over conversations, to nine decimals; those without one are left out.

    Rounded, since means that are equal differ in their last bits by the order of summation, and would not tie in ranks.
    """
    return conversation_ratings(study).groupby("participant", sort=False)[rating].mean().dropna().round(9)


def relations(
    study: Study,
    bootstrap: ParticipantBootstrap,
    means: pd.Series | None = None,
    permutations: int | None = None,
) -> Relations:
    """Return how every characteristic is related to participants' mean ratings, with control of false discoveries.

    Numbers by Spearman's rank correlation, groups by omega squared, whose interval is that of the noncentral F
    distribution with participants independent, since resampling inflates it; its lower limit is at most the estimate,
    which may be negative. p is the share of permutations of the participants with at least as strong a relation; q by
    Benjamini and Hochberg over all that were examined.

    Parameters
    ----------
    study : Study
        The data.
    bootstrap : ParticipantBootstrap
        Bootstrap resamples of participants for the intervals; its seed also serves the permutations.
    means : Series, optional
        Mean rating by participant; without it, that of the conversations' ground truth.
    permutations : int, optional
        As many as draws without it; 0 for the t and F approximations.

    References
    ----------
    Benjamini, Y., & Hochberg, Y. (1995). Journal of the Royal Statistical Society B 57, 289-300.

    Notes
    -----
    Participants without an answer are left out of that characteristic.
    R: cor.test(method='spearman', exact=FALSE), p.adjust(method='BH'), tests/reference/reference.R; correlations, and
    q of the approximations, equal to 1e-7.
    """
    means = participant_means(study) if means is None else means.dropna()
    permutations = bootstrap.draws if permutations is None else permutations
    columns = characteristic_columns(study.participants, means.index)
    examined = columns[columns["kind"] != ""]
    rows, p = {}, {}
    generator = np.random.default_rng(bootstrap.seed)
    table = None if study.participants is None else study.participants.set_index("participant")
    for name, kind in examined["kind"].items():
        values = table[name].reindex(means.index).dropna()
        y = means[values.index]
        relate = _numbers if kind == "number" else _groups
        rows[name], p[name] = relate(values, y, bootstrap, permutations, generator)
    keys = {name: _KEYS[examined.loc[name, "kind"]].format(safe) for name, safe in safe_names(rows).items()}
    estimates = estimate_table(rows, "characteristic", keys)
    tests = pd.DataFrame({"p": p}, index=estimates.index, dtype=float)
    known = tests["p"].notna()
    tests["q"] = np.nan
    if known.any():
        tests.loc[known, "q"] = stats.false_discovery_control(tests.loc[known, "p"])
    tests["related"] = tests["q"] <= FALSE_DISCOVERY_RATE
    left_out = columns.loc[columns["kind"] == "", ["reason"]]
    summary = _summary(study, tests, len(means))
    return Relations(estimates, tests, left_out, summary, _shown(estimates, tests))


def _numbers(values: pd.Series, y: pd.Series, bootstrap, permutations, generator) -> tuple[dict, float]:
    x, y_values = values.to_numpy(dtype=float), y.to_numpy()
    unit, method = "Spearman's rho", "Spearman's rank correlation with participants' mean ratings"
    rho, p = spearman(x, y_values)
    if not np.isfinite(rho):
        return estimate_row(n=len(x), unit=unit, method=method, reason="the ratings do not vary"), np.nan
    if permutations:
        ranks = stats.rankdata(x), stats.rankdata(y_values)
        centered = [(one - one.mean()) / one.std() for one in ranks]
        p = _share_as_strong(
            lambda order: np.abs(centered[1][order] @ centered[0]) / len(x), abs(rho), len(x), permutations, generator
        )
    codes = bootstrap.codes(values.index)
    draws = bootstrap.in_every_draw(lambda weights: spearman_in_draws(x, y_values, weights, codes))
    estimate = Estimate(rho, *bootstrap.interval(draws, values.index))
    return bootstrap.row(estimate, n=len(x), unit=unit, method=method), p


def _groups(values: pd.Series, y: pd.Series, bootstrap, permutations, generator) -> tuple[dict, float]:
    groups = pd.get_dummies(values.astype(str), dtype=float).to_numpy()
    y_values = y.to_numpy()
    unit = "share of the variance of participants' means (omega squared)"
    method = f"omega squared of {count_of(groups.shape[1], 'group')}"
    cells = groups[:, :, None] * np.column_stack([np.ones(len(y)), y_values, y_values**2])[:, None, :]
    sums = cells.sum(axis=0)
    between, within, above, below = (float(part) for part in _analysis_of_variance(sums))
    if not np.isfinite(between):
        return estimate_row(n=len(y), unit=unit, method=method, reason="the ratings do not vary"), np.nan
    f = between / max(within, 1e-12) * below / above
    if permutations:
        centered = y_values - y_values.mean()
        by_size = groups / np.sqrt(groups.sum(axis=0))
        p = _share_as_strong(
            lambda order: ((centered[order] @ by_size) ** 2).sum(axis=1) / (between + within),
            between / (between + within),
            len(y),
            permutations,
            generator,
        )
    else:
        p = float(stats.f.sf(f, above, below))
    estimate = Estimate(float(omega_squared(sums)), reason="no interval: the groups tell the means exactly")
    if within > 1e-9 * between:
        low, high = _noncentral(f, int(above), int(below), len(y), bootstrap.confidence)
        estimate = Estimate(estimate.estimate, min(low, estimate.estimate), high)
    how = f"{bootstrap.confidence:.0%} {NONCENTRAL}"
    return bootstrap.row(estimate, n=len(y), unit=unit, method=method, how=how), p


def _share_as_strong(strength, observed: float, n: int, permutations: int, generator) -> float:
    """Share of permutations at least as strong as the observed one, which counts as one of them."""
    as_strong = 0
    for piece in pieces(permutations, n, _PIECE):
        order = np.argsort(generator.random((piece.stop - piece.start, n)), axis=1)
        as_strong += int((strength(order) >= observed - 1e-12).sum())
    return (as_strong + 1) / (permutations + 1)


def _summary(study: Study, tests: pd.DataFrame, people: int) -> pd.DataFrame:
    unit, method = "characteristics", f"Benjamini-Hochberg, false discovery rate {FALSE_DISCOVERY_RATE:g}"
    reason = NO_SHEET if study.participants is None else "no column of the participants' sheet can be examined"
    reason = "" if tests["p"].notna().any() else reason if tests.empty else "no characteristic can be tested"
    rows = {
        name: estimate_row(np.nan if reason else count, n=people, unit=unit, method=method, reason=reason)
        for name, count in (("examined", len(tests)), ("related", int(tests["related"].sum())))
    }
    keys = {"examined": "characteristics_examined", "related": "characteristics_related"}
    return estimate_table(rows, "characteristics", keys)


def _shown(estimates: pd.DataFrame, tests: pd.DataFrame) -> pd.DataFrame:
    rows = {}
    for name, row in estimates.iterrows():
        interval = f"{row['low']:z.2f} to {row['high']:z.2f}" if np.isfinite(row["low"]) else ""
        rows[name] = {
            "measure": "omega squared" if row["unit"].startswith("share") else row["unit"],
            "estimate": f"{row['estimate']:z.2f}" if np.isfinite(row["estimate"]) else row["reason"],
            "interval": interval,
            "n": row["n"],
            "p": p_in_words(tests.loc[name, "p"]),
            "q": p_in_words(tests.loc[name, "q"]),
            "related": "yes" if tests.loc[name, "related"] else "no",
        }
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis("characteristic")


def explained_together(study: Study, bootstrap: ParticipantBootstrap) -> pd.DataFrame:
    r"""Return what all characteristics together explain of the variance of participants' means, and what they predict.

    All rows are shares of one base, the variance of participants' mean ratings, each participant counting the same:

    - *explained, adjusted*: adjusted R squared of the means on all characteristics (numbers as they are, groups as
      groups), an estimate of what the true coefficients would explain; its interval from the noncentral F
      distribution, :math:`\lambda / (\lambda + n)`, its lower limit at most the estimate, which may be negative.
      Participants are its independent units.
    - *predicted, cross-validated*: :math:`1 - \sum (y_i - \hat y_{(i)})^2 / \sum (y_i - \bar y_{(i)})^2`, each
      participant predicted from the others; below zero where prediction is worse than the others' mean.

    Returns
    -------
    DataFrame
        These rows; n counts participants, those who answered every characteristic that at least
        80% answered.
    """
    unit = "share of the variance of participants' means"
    means = participant_means(study)
    columns = characteristic_columns(study.participants, means.index)
    columns = columns[(columns["kind"] != "") & (columns["answers"] >= ANSWERED * len(means))]
    reason, design, y = "", None, means
    if study.participants is None:
        reason = NO_SHEET
    elif means.empty:
        reason = "no conversation has a ground truth"
    elif columns.empty:
        reason = "no column of the participants' sheet can be examined"
    else:
        design, y = _design(study.participants, columns, means)
        if len(y) - design.shape[1] < FREE_PARTICIPANTS:
            coefficients = count_of(design.shape[1], "coefficient")
            reason = f"{count_of(len(y), 'participant')} answered all, too few for {coefficients}"
        elif np.ptp(y) < 1e-9:
            reason = "the ratings do not vary"
    method = count_of(len(columns), "characteristic")
    if reason:
        none = estimate_row(n=len(y), unit=unit, method=method, reason=reason)
        return estimate_table(dict.fromkeys(_EXPLAINED, none), "share", _EXPLAINED)
    method = f"{method}, {count_of(design.shape[1] - 1, 'coefficient')}"
    (n, width), common = design.shape, {"n": len(y), "unit": unit}
    basis = np.linalg.qr(design)[0]
    residual, whole = y.to_numpy() - basis @ (basis.T @ y.to_numpy()), ((y - y.mean()) ** 2).sum()
    within = (residual**2).sum()
    adjusted = 1 - within / (n - width) / (whole / (n - 1))
    f = (whole - within) / (width - 1) / (within / (n - width))
    low, high = _noncentral(f, width - 1, n - width, n, bootstrap.confidence)
    how = f"{bootstrap.confidence:.0%} {NONCENTRAL}"
    leverage = np.minimum((basis**2).sum(axis=1), 1)
    alone = leverage > 1 - 1e-9  # a participant who is the only one of a group can't be predicted
    predicted = ((residual[~alone] / (1 - leverage[~alone])) ** 2).sum()
    without = (((y.to_numpy() - y.mean()) * n / (n - 1))[~alone] ** 2).sum()
    rows = {
        "explained, adjusted": estimate_row(
            adjusted, min(low, adjusted), high, **common, method=f"adjusted R squared, {method}; {how}"
        ),
        "predicted, cross-validated": estimate_row(
            1 - predicted / without, **common, method=f"leave one participant out, {method}"
        ),
    }
    return estimate_table(rows, "share", _EXPLAINED)


def _design(participants: pd.DataFrame, columns: pd.DataFrame, means: pd.Series) -> tuple[np.ndarray, pd.Series]:
    """Ones, numbers by their standard deviation, groups but one; columns that add nothing are left out."""
    answers = participants.set_index("participant")[list(columns.index)].reindex(means.index).dropna()
    parts = [np.ones((len(answers), 1))]
    for name, kind in columns["kind"].items():
        if kind == "group":
            parts.append(pd.get_dummies(answers[name].astype(str), drop_first=True, dtype=float).to_numpy())
        elif len(answers) and np.ptp(answers[name]) > 0:
            parts.append(((answers[name] - answers[name].mean()) / answers[name].std()).to_numpy(float)[:, None])
    design = np.concatenate(parts, axis=1)
    kept = []
    for column in range(design.shape[1]):
        if np.linalg.matrix_rank(design[:, [*kept, column]]) > len(kept):
            kept.append(column)
    return design[:, kept], means[answers.index]


def _noncentral(f: float, above: int, below: int, n: int, confidence: float) -> tuple[float, float]:
    """Limits of the explained share, from the noncentralities whose quantiles f is."""
    tail = (1 - confidence) / 2
    limits = []
    for level in (1 - tail, tail):
        if stats.f.cdf(f, above, below) <= level:
            limits.append(0.0)
            continue
        left, right = 0.0, 1.0
        while stats.ncf.cdf(f, above, below, right) > level and right < 1e6:
            right *= 2
        for _ in range(60):
            middle = (left + right) / 2
            left, right = (middle, right) if stats.ncf.cdf(f, above, below, middle) > level else (left, middle)
        limits.append(left / (left + n))
    return limits[0], limits[1]


check_arguments(globals())
