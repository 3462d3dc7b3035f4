r"""How well a judge that sees only the text could do at all: the noise ceiling.

Each conversation has one rater. So what the text explains and that person's own reaction can't be
distinguished, and the share s of the ratings' variance that the text explains (the *content share*) is
not identified: it can't be estimated from these data. What can be computed is the ceiling for
every s, the largest s that the variance between participants leaves (under an assumption), and the
smallest s that a given judge's result needs.

The model: behind the label of a conversation lies a normal variable,

.. math:: y = \sqrt{s}\, c + \sqrt{1 - s}\, e, \quad c, e \sim N(0, 1) 	ext{ independent},

cut at the thresholds that reproduce the distribution of the labels in the study. The best judge knows c, the
content, and nothing of e. Correlations of ranks and shares of labels depend on y's order only, so that y may be
any increasing function of the ground truth.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
from scipy.optimize import brentq
from scipy.special import ndtr, ndtri

from sense7.estimators.bootstrap import ParticipantBootstrap
from sense7.estimators.estimates import COLUMNS, estimate_row, estimate_table
from sense7.estimators.mixed import Nested, fit_nested, nested_sums
from sense7.findings.core import finding, tabulate
from sense7.findings.ground_truth import NEVER_RATED, label_counts, labels
from sense7.findings.individualized import MODEL_DRAWS, rated_conversations, variance_parts
from sense7.findings.measures import conversation_ratings
from sense7.judge.scores.judges import ABSENT
from sense7.judge.scores.metrics import METRICS, Metric, OverRuns
from sense7.study import Study
from sense7.taxonomy import LEVELS

__all__ = [
    "PUBLISHED",
    "ceiling_curve",
    "ceilings_at_bound",
    "content_share_itself",
    "content_shares",
    "curve_estimates",
    "judge_results",
    "shares_needed",
    "study_thresholds",
]

SHARES = tuple(place / 100 for place in range(101))
"""Content shares at which the curve is drawn."""

CEILINGS = {
    "spearman_untied": ("Spearman correlation, no ties", "correlation"),
    "spearman": ("Spearman correlation, five levels on one side", "correlation"),
    "accuracy": ("accuracy", "share of conversations"),
}
"""Measures of a judge -> name for readers and unit."""

PUBLISHED = 0.369
"""Spearman correlation of the paper's classifier, from the abstract (grade A); as in data/claims.yml."""

_UNIT = "share of the variance"
_FURTHEST = 40.0  # stands for an infinite threshold, without infinity minus infinity
_ANGLES, _ANGLE_WEIGHTS = np.polynomial.legendre.leggauss(128)
_POINTS, _POINT_WEIGHTS = np.polynomial.legendre.leggauss(3)
_CONTENT = np.linspace(-8.5, 8.5, 341)
_STEPS = np.linspace(-7, 7, 29)
_CHUNK = 50
_ROUNDING = 1e-9
_SMALLEST = 1e-24
_NAMES = {
    "published classifier": "published",
    "published classifier (on other data)": "published",
    "baseline: words per turn": "words_per_turn",
}
"""Judges that are in every edition -> their name in keys."""

_ONE_LABEL = "all conversations have the same label"


def level_thresholds(counts) -> np.ndarray:
    """Thresholds at which a standard normal variable is cut into levels of given frequencies."""
    cumulative = np.cumsum(np.asarray(counts, dtype=float), axis=-1)
    with np.errstate(divide="ignore", invalid="ignore"):
        return ndtri(cumulative[..., :-1] / cumulative[..., -1:])


def study_thresholds(study: Study) -> np.ndarray:
    """Thresholds that reproduce the labels of a study's ground truth; see :func:`level_thresholds`."""
    return level_thresholds(label_counts(conversation_ratings(study)["ground_truth"]))


def ceiling_curve(thresholds, shares=SHARES) -> pd.DataFrame:
    r"""The best that a judge who sees only the text can reach, for each content share.

    - *spearman_untied*: a prediction and a ground truth without ties, :math:`\frac{6}{\pi} \arcsin \frac{\sqrt{s}}{2}`;
    - *spearman*: one of the two has five levels. With midranks, jumps :math:`g_k = (p_k + p_{k+1})/2` at the
      thresholds, and U the difference of an independent normal variable and c, by Plackett's identity

      .. math:: \rho = \frac{12}{\sqrt{1 - \sum_k p_k^3}} \sum_{k=1}^{4} g_k\,
                \frac{1}{2\pi} \int_0^{\arcsin\sqrt{s/2}} e^{-t_k^2 / (2 \cos^2 \theta)}\, d\theta

      It is the ceiling of a continuous prediction of labels; and, since c and y may change places, that of a judge who
      answers in five levels, as often each as the labels have them, compared with the unrounded ground truth. One
      whose levels are more even has fewer ties and can pass it, though not *spearman_untied*;
    - *accuracy*: :math:`E[\max_k P(y = k \mid c)]`.

    Parameters
    ----------
    thresholds : array, shape (4,)
        From :func:`level_thresholds`.
    shares : sequence of float
        Content shares s, 0..1.

    Returns
    -------
    DataFrame
        Indexed by content share; columns as ``CEILINGS``. *spearman* is NaN where only one level occurs, and *accuracy*
        where none does.

    References
    ----------
    Plackett, R. L. (1954). Biometrika 41, 351-360. Spearman's correlation of a normal pair: Pearson, K. (1907),
    Drapers' Company Research Memoirs, Biometric Series IV.

    Notes
    -----
    The integral of *spearman* is exact to rounding, the others to 1e-5 (Gauss and Legendre; piecewise over c).
    Checked against bivariate normal probabilities and adaptive integration.

    Examples
    --------
    >>> curve = ceiling_curve(level_thresholds([5, 10, 25, 40, 20]), [0.29])
    >>> curve.loc[0.29, ["spearman", "accuracy"]].round(3).tolist()
    [0.499, 0.437]
    """
    s = np.asarray(shares, dtype=float)
    cuts = np.broadcast_to(np.asarray(thresholds, dtype=float), (len(s), len(LEVELS) - 1))
    return pd.DataFrame(_ceilings(cuts, s), index=pd.Index(s, name="content share"))


@finding
def curve_estimates(curve: pd.DataFrame, n: int) -> pd.DataFrame:
    """The ceilings of Spearman's correlation and of accuracy at content shares of three and six tenths.

    Parameters
    ----------
    curve : DataFrame
        From :func:`ceiling_curve`, with the default shares.
    n : int
        Conversations with ground truth, on whose labels the thresholds rest.

    Returns
    -------
    DataFrame
        Rows ``spearman_at_30`` .. ``accuracy_at_60``, by percent: a table of estimates without intervals. Below two
        different labels there is none: that the only one is always right is no result.

    Examples
    --------
    >>> curve_estimates(ceiling_curve(level_thresholds([5, 10, 25, 40, 20])), 100).index[[0, -1]].tolist()
    ['spearman_at_30', 'accuracy_at_60']
    """
    reason = ""
    if not np.isfinite(curve["spearman"]).all():
        curve = curve * np.nan
        reason = _ONE_LABEL if n else NEVER_RATED
    rows = {}
    for measure in ("spearman", "accuracy"):
        title, unit = CEILINGS[measure]
        for share in (0.3, 0.6):
            percent = round(100 * share)
            rows[f"{measure}_at_{percent}"] = estimate_row(
                curve.loc[share, measure],
                n=n,
                unit=unit,
                method=f"ceiling of {title} at a content share of {share:.0%}; latent normal, labels as in the data",
                reason=reason,
                key=f"ceiling_{measure}_at_{percent}",
            )
    return estimate_table(rows, "ceiling")


def _ceilings(thresholds: np.ndarray, shares: np.ndarray) -> dict[str, np.ndarray]:
    """All ceilings, for rows of thresholds and shares: (rows, 4) and (rows,)."""
    hits = np.empty(len(shares))
    for first in range(0, len(shares), _CHUNK):
        rows = slice(first, first + _CHUNK)
        likely, weights = _level_probabilities(thresholds[rows], shares[rows])
        hits[rows] = (likely.max(axis=-1) * weights).sum(axis=-1)
    return {
        "spearman_untied": 6 / np.pi * np.arcsin(np.sqrt(shares) / 2),
        "spearman": _spearman(thresholds, shares),
        "accuracy": np.minimum(hits, 1),  # not a rounding error more
    }


def _level_probabilities(
    thresholds: np.ndarray, shares: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Probability of each level at points of the content, (rows, points, levels), and the points' weights."""
    rows = len(shares)
    content_scale = np.sqrt(np.maximum(shares, _SMALLEST))[:, None]
    rest_scale = np.sqrt(np.maximum(1 - shares, _SMALLEST))[:, None]
    # The nearer s to 1, the narrower the passage from one level to the next: places are set by its width.
    passages = thresholds[:, :, None] + rest_scale[:, :, None] * _STEPS
    passages = (passages / content_scale[:, :, None]).reshape(rows, -1)
    everywhere = np.broadcast_to(_CONTENT, (rows, len(_CONTENT)))
    ends = np.concatenate([everywhere, passages], axis=1)
    ends = np.sort(np.clip(ends, _CONTENT[0], _CONTENT[-1]), axis=1)
    half = np.diff(ends, axis=1)[..., None] / 2
    middle = (ends[:, 1:, None] + ends[:, :-1, None]) / 2
    content = (middle + half * _POINTS).reshape(rows, -1)
    widths = (half * _POINT_WEIGHTS).reshape(rows, -1)
    weights = widths * np.exp(-(content**2) / 2) / np.sqrt(2 * np.pi)
    distances = thresholds[:, None, :] - (content_scale * content)[..., None]
    return _level_shares(ndtr(distances / rest_scale[..., None])), weights


def _level_shares(below: np.ndarray) -> np.ndarray:
    """Probability of each level, from that of a variable below each threshold."""
    return np.diff(below, axis=-1, prepend=0, append=1)


def _spearman(thresholds: np.ndarray, shares: np.ndarray) -> np.ndarray:
    p = _level_shares(ndtr(thresholds))
    jumps = (p[..., :-1] + p[..., 1:]) / 2
    spread = 1 - (p**3).sum(axis=-1)  # 12 times the variance of the midrank
    spread = np.where(spread > 1e-9, spread, np.nan)  # no correlation of what has no variance
    half = np.arcsin(np.sqrt(shares / 2)) / 2
    angles = half[:, None] * (1 + _ANGLES)
    squares = np.clip(thresholds, -_FURTHEST, _FURTHEST)[:, :, None] ** 2
    inner = np.exp(-squares / (2 * np.cos(angles)[:, None, :] ** 2)) @ _ANGLE_WEIGHTS
    return 12 * (jumps * inner).sum(axis=-1) * half / (2 * np.pi) / np.sqrt(spread)


def content_share_needed(rho: float) -> float:
    """The smallest content share with which a judge that sees only the text could reach a Spearman correlation."""
    if np.isnan(rho):
        return np.nan
    if rho < _ROUNDING:
        return 0.0

    def excess(share: float) -> float:
        return 6 / np.pi * np.arcsin(np.sqrt(share) / 2) - rho

    return float(brentq(excess, 0.0, 1.0, xtol=1e-9))


@finding
def shares_needed(judges: pd.DataFrame, study: Study) -> pd.DataFrame:
    """The smallest content shares that judges' correlations need, if they saw only the text.

    Parameters
    ----------
    judges : DataFrame
        From :func:`judge_results`.
    study : Study
        Where it has no ground truth or a single label there is no need.

    Returns
    -------
    DataFrame
        One row per judge: estimate (0..1), low, high, n (conversations with ground truth), unit, method, reason. The
        need holds for any labels and ties: ties only raise it. The interval is the correlation's, carried over.
    """
    counts = label_counts(conversation_ratings(study)["ground_truth"])
    n = int(counts.sum())
    missing = ""
    if n == 0:
        missing = NEVER_RATED
    elif counts.max() == n:
        missing = _ONE_LABEL
    of_result = f"content share whose ceiling is the judge's result; {CEILINGS['spearman_untied'][0]}; latent normal"
    judges_of_data = 0
    rows = {}
    for label, result in judges.iterrows():
        name = _NAMES.get(label)
        if name is None:
            judges_of_data += 1
            name = f"judge_{judges_of_data}"
        reason = missing
        if not reason and not np.isfinite(result["estimate"]):
            reason = "this judge has no such result"
        method = of_result
        needed = [np.nan] * 3
        if not reason:
            needed = map(content_share_needed, result[["estimate", "low", "high"]])
            if np.isfinite(result["low"]):
                method += "; the correlation's interval, participants resampled, carried over"
        key = f"ceiling_needed_{name}_spearman_untied"
        rows[label] = estimate_row(*needed, n=n, unit=_UNIT, method=method, reason=reason, key=key)
    if not judges_of_data:
        key = "ceiling_needed_judge_1_spearman_untied"
        reason = missing or ABSENT
        rows["a judge"] = estimate_row(n=n, unit=_UNIT, method=of_result, reason=reason, key=key)
    return estimate_table(rows, "judge")


@finding
def content_share_itself() -> dict:
    """The content share, which no data with one rater of each conversation can estimate: a value with its reason.

    Examples
    --------
    >>> content_share_itself()["estimate"] is None
    True
    """
    return {
        "key": "content_share",
        "estimate": None,
        "n": 0,
        "unit": _UNIT,
        "method": "share of the ground truth's variance that the content of the text explains",
        "reason": "not identified: each conversation was rated by one person, who also had it",
    }


def judge_results(
    study: Study,
    runs: Mapping[str, Mapping[str, pd.DataFrame]],
    bootstrap: ParticipantBootstrap | None = None,
    baselines: pd.DataFrame | None = None,
) -> pd.DataFrame:
    """Correlations of the published classifier, of the judges that are available, and of the words per turn.

    Parameters
    ----------
    study : Study
        The data. The published classifier's name says that its result is from other data, unless this is the release.
    runs : mapping
        Judge -> run -> predictions, as :func:`sense7.judge.scores.judges.read_runs` reads them.
    bootstrap : ParticipantBootstrap, optional
        Of the intervals of the correlations.
    baselines : DataFrame, optional
        As :func:`sense7.judge.scores.baselines.baseline_table` gives it. The participant's own mean sees ratings, and
        the ceiling does not bind it.

    Returns
    -------
    DataFrame
        Spearman's correlation of each, mean over the runs of a judge, without unusable replies.
    """
    provenance = study.provenance
    is_release = provenance is not None and provenance.kind == "official" and provenance.verified
    published = estimate_row(
        PUBLISHED,
        n=0,
        unit=METRICS["spearman"].unit,
        method="as published",
        reason="published without interval",
    )
    on_this_data, on_other_data, words_per_turn = _NAMES
    rows = {on_other_data: published}
    if is_release:
        rows = {on_this_data: published}
    for name, frames in runs.items():
        rows[name] = OverRuns(frames, bootstrap).mean.loc["spearman"]
    if baselines is not None:
        rows[words_per_turn] = baselines.loc[("spearman", "words per turn")]
    rows = {name: {column: row[column] for column in COLUMNS} for name, row in rows.items()}
    return estimate_table(rows, "judge")


@dataclass(frozen=True, eq=False)
class ContentShares:
    """Upper bound of the content share: a table of estimates with one row, and the bound in the data and resamples."""

    bounds: pd.DataFrame
    drawn: np.ndarray


@finding
def content_shares(
    study: Study, bootstrap: ParticipantBootstrap, draws: int = MODEL_DRAWS
) -> ContentShares:
    r"""Upper bound of the content share, if participants' levels are their own.

    The ground truth of conversation i of participant p in condition c is taken apart as

    .. math:: g_{pci} = \mu_c + u_p + v_{pc} + w_{pci}

    (a mixed model by REML). A judge sees the text of one conversation. **If** nothing in the text says who rates
    strictly, u is no content. All the rest may be: differences of conditions, a person's interaction with one (the
    assistant may answer them differently there), and the single conversation with its rater's passing mood. Therefore

    .. math:: s \le 1 - \frac{\sigma_u^2}{\sigma_\mu^2 + \sigma_u^2 + \sigma_v^2 + \sigma_w^2}, \quad
              \sigma_\mu^2 = \sum_c f_c (\mu_c - \bar\mu)^2

    with f the shares of the conversations. Conditions are part of the whole here, unlike in
    :func:`sense7.findings.individualized.variance_parts`, since a judge is scored over all of
    them. The truth lies anywhere below: that a part *may* be content does not make it content. Nor is the bound safe if
    the assumption fails: people who write differently and rate differently give themselves away by the text, and then
    part of u is content.

    Parameters
    ----------
    study : Study
        The data.
    bootstrap : ParticipantBootstrap
        Its first resamplings; the model is fitted in each.
    draws : int
        At most so many.

    Returns
    -------
    ContentShares
        Where the design can't tell the participants' part, a reason in place of the bound. If each participant met one
        condition only, interactions are part of the participant's, and are taken off with it.

    Notes
    -----
    :math:`\sigma_\mu^2` is that of the estimated means, and a little too large for it, which raises the bound.
    """
    # Why the part can't be estimated is known there; one draw, as only the reasons are used.
    of_participants = variance_parts(study, bootstrap, draws=1).shares.loc["participant"]
    frame = rated_conversations(study)
    bound = Metric(
        "",
        _UNIT,
        "mixed model; shares of the whole variance of the ground truth, conditions included; REML",
        of_participants["reason"],
    )
    name = "participants' levels carry no content"
    key = "ceiling_bound_participant"
    if not np.isfinite(of_participants["estimate"]):
        statistic = np.array([np.nan])
        number = bound.number(name, statistic, frame["participant"], key=key)
        return ContentShares(tabulate("if", [number], bootstrap), statistic)
    design = pd.get_dummies(frame["condition"], dtype=float)
    sums = nested_sums(frame["y"], design, frame["participant"], frame["condition"])
    counts = design.groupby(frame["participant"]).sum().loc[sums.participants].to_numpy()
    ones = np.ones((1, len(counts)))
    statistic = _bounds(fit_nested(sums, ones), ones @ counts)
    if not bootstrap.too_few(frame["participant"]):
        fit = fit_nested(sums)
        weights = bootstrap.weights(slice(draws))[:, bootstrap.codes(sums.participants)]
        in_resamples = _bounds(fit_nested(sums, weights, fit.ratios), weights @ counts)
        statistic = np.concatenate([statistic, in_resamples])
    number = bound.number(name, statistic, frame["participant"], key=key)
    return ContentShares(tabulate("if", [number], _with_draws_of(statistic, bootstrap)), statistic)


def _with_draws_of(statistic: np.ndarray, bootstrap: ParticipantBootstrap) -> ParticipantBootstrap:
    """The bootstrap with as many resamples as a statistic has, which may be fewer."""
    return replace(bootstrap, draws=max(1, len(statistic) - 1))


def _bounds(fit: Nested, counts: np.ndarray) -> np.ndarray:
    """One minus the participants' share of the ground truth's variance: (draws,)."""
    with np.errstate(divide="ignore", invalid="ignore"):
        frequency = counts / counts.sum(axis=1, keepdims=True)
        centre = (frequency * fit.coefficients).sum(axis=1, keepdims=True)
        condition = (frequency * (fit.coefficients - centre) ** 2).sum(axis=1)
        person, interaction, _, rest = fit.variances.T
        return 1 - person / np.column_stack([condition, person, interaction, rest]).sum(axis=1)


@finding
def ceilings_at_bound(
    study: Study, bootstrap: ParticipantBootstrap, shares: ContentShares
) -> pd.DataFrame:
    """The ceilings at the upper bound of the content share, which no judge of the text passes if it holds.

    Parameters
    ----------
    study : Study
        The data.
    bootstrap : ParticipantBootstrap
        Its first resamplings: bound and distribution of the labels are taken again in each, together.
    shares : ContentShares
        From :func:`content_shares`, with the same bootstrap; the first bound is used.

    Returns
    -------
    DataFrame
        Rows ``Spearman correlation, five levels on one side`` and ``accuracy``: estimate, low, high, n (conversations
        with ground truth), unit, method, reason.
    """
    truth = conversation_ratings(study)[["participant", "ground_truth"]].dropna()
    label = labels(truth["ground_truth"]).astype(int)
    reason = ""
    if not np.isfinite(shares.bounds["estimate"].iloc[0]):
        reason = shares.bounds["reason"].iloc[0]
    elif len(set(label)) == 1:
        reason = _ONE_LABEL
    statistics = {name: np.full(len(shares.drawn), np.nan) for name in ("spearman", "accuracy")}
    if not reason:
        counts = np.zeros((len(bootstrap.names), len(LEVELS)))
        np.add.at(counts, (bootstrap.codes(truth["participant"]), label - 1), 1)
        weights = bootstrap.weights(slice(len(shares.drawn) - 1))
        counts = np.vstack([counts.sum(axis=0), weights @ counts])
        defined = np.isfinite(shares.drawn)  # not every resample has a bound
        bounds = np.clip(shares.drawn[defined], 0, 1)
        in_resamples = _ceilings(level_thresholds(counts[defined]), bounds)
        for name, statistic in statistics.items():
            statistic[defined] = in_resamples[name]
    numbers = []
    for name, statistic in statistics.items():
        title, unit = CEILINGS[name]
        ceiling = Metric("", unit, "ceiling at the upper bound of the content share; latent normal")
        key = f"ceiling_at_bound_{name}"
        numbers.append(ceiling.number(title, statistic, truth["participant"], reason, key))
    return tabulate("measure", numbers, _with_draws_of(shares.drawn, bootstrap))
