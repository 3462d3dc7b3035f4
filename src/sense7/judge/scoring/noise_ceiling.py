r"""How well a judge that sees only the text could do at all: the noise ceiling.

Each conversation has one rater. So what the text explains and that person's own reaction can't be
distinguished, and the share s of the ratings' variance that the text explains (the *content share*) is
not identified: it can't be estimated from these data. What can be computed is the ceiling for
every s, the largest s that the variance between participants leaves (under an assumption), and the
smallest s that a given judge's result needs.

The model: behind the label of a conversation lies a normal variable,

.. math:: y = \sqrt{s}\, c + \sqrt{1 - s}\, e, \quad c, e \sim N(0, 1) \text{ independent},

cut at the thresholds that reproduce the distribution of the labels in the study. The best judge knows c, the
content, and nothing of e. Correlations of ranks and shares of labels depend on y's order only, so that y may be
any increasing function of the ground truth.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy.optimize import brentq
from scipy.special import ndtr, ndtri

from sense7.arguments import check_arguments
from sense7.estimators.bootstrap import ParticipantBootstrap
from sense7.estimators.estimates import Estimate, estimate_row, estimate_table
from sense7.estimators.mixed import Nested, fit_nested, nested_sums
from sense7.findings.ground_truth import label_counts, labels
from sense7.findings.individualized.variance_components import MODEL_DRAWS, rated_conversations, variance_parts
from sense7.findings.measures import conversation_ratings
from sense7.judge.scoring.metrics import over_runs
from sense7.study import Study
from sense7.taxonomy import LEVELS
from sense7.terminal import count_of

__all__ = [
    "PUBLISHED",
    "ContentShares",
    "Result",
    "ceiling_curve",
    "ceilings_at_bound",
    "content_share_itself",
    "content_shares",
    "curve_estimates",
    "curve_table",
    "judge_results",
    "shares_needed",
    "study_thresholds",
    "text_baselines",
    "with_row_labels",
]

SHARES = tuple(place / 100 for place in range(101))
"""Content shares at which the curve is drawn."""

CEILINGS = {
    "pearson": ("Pearson correlation with the ground truth", "correlation"),
    "spearman_untied": ("Spearman correlation, no ties", "correlation"),
    "spearman": ("Spearman correlation, five levels on one side", "correlation"),
    "spearman_levels": ("Spearman correlation, five levels on both sides", "correlation"),
    "accuracy": ("accuracy", "share of conversations"),
    "within_one": ("within one level", "share of conversations"),
    "mean_absolute_error": ("mean absolute error of labels (at least)", "levels (from 1 to 5)"),
}
"""Measures of a judge -> name for readers and unit."""

PUBLISHED = (0.369, 0.487)
"""Spearman correlation and accuracy of the paper's classifier, from the abstract (grade A); as in data/claims.yml."""

TURN_DRAWS = 300
"""The model of turns takes several times as long, and only checks the other."""

_BY = {
    "Spearman": "spearman_untied",
    "Spearman with the ties of these labels": "spearman",
    "accuracy with these labels": "accuracy",
}
_UNIT = "share of the variance"
_TENTHS = tuple(place / 10 for place in range(1, 10))
_FURTHEST = 40.0  # stands for an infinite threshold, without infinity minus infinity
_ANGLES, _ANGLE_WEIGHTS = np.polynomial.legendre.leggauss(128)
_POINTS, _POINT_WEIGHTS = np.polynomial.legendre.leggauss(3)
_CONTENT = np.linspace(-8.5, 8.5, 341)
_STEPS = np.linspace(-7, 7, 29)
_CHUNK = 50
_ROUNDING = 1e-9
_SMALLEST = 1e-24
_PUBLISHED = ("published classifier", "published classifier (on other data)")
_TEXT_BASELINES = {
    "baseline: words per turn": ("baseline_words_per_turn_spearman", "baseline_words_per_turn_accuracy"),
    "baseline: all words, ridge": ("baseline_tfidf_ridge_spearman", "baseline_tfidf_ridge_accuracy"),
}
"""Baselines that see the text -> keys of their correlation and accuracy, as the page of the baselines records them."""

_NEEDED = {
    **dict.fromkeys(
        _PUBLISHED,
        "ceiling_needed_published_spearman_untied ceiling_needed_published_spearman ceiling_needed_published_accuracy",
    ),
    "baseline: words per turn": "ceiling_needed_words_per_turn_spearman_untied ceiling_needed_words_per_turn_spearman "
    "ceiling_needed_words_per_turn_accuracy",
    "baseline: all words, ridge": "ceiling_needed_tfidf_ridge_spearman_untied ceiling_needed_tfidf_ridge_spearman "
    "ceiling_needed_tfidf_ridge_accuracy",
}
"""Judges known by name -> keys of their rows of :func:`shares_needed`, in the order of ``_BY``."""

_NO_TRUTH = "no conversation of this data set has ground truth"
_ONE_LABEL = "all conversations have the same label"


class Result(NamedTuple):
    """Result of a judge: Spearman's correlation with the ground truth, accuracy, and the correlation's interval."""

    spearman: float
    accuracy: float
    low: float = np.nan
    high: float = np.nan


def level_thresholds(counts) -> np.ndarray:
    r"""Thresholds at which a standard normal variable is cut into levels of given frequencies.

    .. math:: t_k = \Phi^{-1}\left(\frac{n_1 + \dots + n_k}{n}\right), \quad k = 1, \dots, 4

    Parameters
    ----------
    counts : array, shape (..., 5)
        How often each level occurs; shares will do.

    Returns
    -------
    array, shape (..., 4)
        Ascending; infinite beyond the levels that occur, NaN if none does.

    Examples
    --------
    >>> level_thresholds([1, 2, 4, 2, 1]).round(3).tolist()
    [-1.282, -0.524, 0.524, 1.282]
    """
    cumulative = np.cumsum(np.asarray(counts, dtype=float), axis=-1)
    with np.errstate(divide="ignore", invalid="ignore"):
        return ndtri(cumulative[..., :-1] / cumulative[..., -1:])


def study_thresholds(study: Study) -> np.ndarray:
    """Thresholds that reproduce the labels of a study's ground truth; see :func:`level_thresholds`."""
    return level_thresholds(label_counts(conversation_ratings(study)["ground_truth"]))


def ceiling_curve(thresholds, shares=SHARES) -> pd.DataFrame:
    r"""The best that a judge who sees only the text can reach, for each content share.

    - *pearson*: :math:`\sqrt{s}`, for any distribution, if s is the share of the ground truth's variance;
    - *spearman_untied*: a prediction and a ground truth without ties, :math:`\frac{6}{\pi} \arcsin \frac{\sqrt{s}}{2}`;
    - *spearman*: one of the two has five levels. With midranks, jumps :math:`g_k = (p_k + p_{k+1})/2` at the
      thresholds, and U the difference of an independent normal variable and c, by Plackett's identity

      .. math:: \rho = \frac{12}{\sqrt{1 - \sum_k p_k^3}} \sum_{k=1}^{4} g_k\,
                \frac{1}{2\pi} \int_0^{\arcsin\sqrt{s/2}} e^{-t_k^2 / (2 \cos^2 \theta)}\, d\theta

      It is the ceiling of a continuous prediction of labels; and, since c and y may change places, that of a judge who
      answers in five levels, as often each as the labels have them, compared with the unrounded ground truth. One
      whose levels are more even has fewer ties and can pass it, though not *spearman_untied*;
    - *spearman_levels*: both have the five levels, with the same frequencies;
    - *accuracy*: :math:`E[\max_k P(y = k \mid c)]`;
    - *within_one*: :math:`E[\max_k P(|y - k| \le 1 \mid c)]`;
    - *mean_absolute_error*: :math:`E[\min_k E(|y - k| \mid c)]`, which no judge that answers in levels falls below.

    Parameters
    ----------
    thresholds : array, shape (4,)
        From :func:`level_thresholds`.
    shares : sequence of float
        Content shares s, 0..1.

    Returns
    -------
    DataFrame
        Indexed by content share; columns as ``CEILINGS``. Correlations of ranks are NaN where only one
        level occurs, everything but *pearson* and *spearman_untied* where none does.

    Raises
    ------
    ValueError
        If a share lies outside 0..1.

    References
    ----------
    Plackett, R. L. (1954). Biometrika 41, 351-360. Spearman's correlation of a normal pair: Pearson, K. (1907),
    Drapers' Company Research Memoirs, Biometric Series IV.

    Notes
    -----
    The integral of *spearman* is exact to rounding, the others to 1e-5 (Gauss and Legendre; piecewise over c).
    Checked against bivariate normal probabilities, and against simulation.

    Examples
    --------
    >>> curve = ceiling_curve(level_thresholds([5, 10, 25, 40, 20]), [0.29])
    >>> curve.loc[0.29, ["spearman", "accuracy"]].round(3).tolist()
    [0.499, 0.437]
    """
    s = np.asarray(shares, dtype=float)
    if not ((s >= 0) & (s <= 1)).all():
        raise ValueError("a content share lies between 0 and 1")
    cuts = np.broadcast_to(np.asarray(thresholds, dtype=float), (len(s), len(LEVELS) - 1))
    return pd.DataFrame(_ceilings(cuts, s), index=pd.Index(s, name="content share"))


def curve_table(curve: pd.DataFrame) -> pd.DataFrame:
    """The ceilings at every tenth of the content share, with titles that can be read; empty below two labels."""
    tenths = curve.loc[list(_TENTHS)].rename(columns={name: title for name, (title, _) in CEILINGS.items()})
    return tenths if np.isfinite(tenths).all(axis=None) else tenths.iloc[:0]


def curve_estimates(curve: pd.DataFrame, n: int) -> pd.DataFrame:
    """The ceilings of Spearman's correlation and of accuracy at every tenth of the content share, to be recorded.

    Parameters
    ----------
    curve : DataFrame
        From :func:`ceiling_curve`, with the default shares.
    n : int
        Conversations with ground truth, on whose labels the thresholds rest.

    Returns
    -------
    DataFrame
        Rows ``spearman_at_10`` .. ``accuracy_at_90``, by percent: a table of estimates without intervals. Below two
        different labels there is none: that the only one is always right is no result.

    Examples
    --------
    >>> curve_estimates(ceiling_curve(level_thresholds([5, 10, 25, 40, 20])), 100).index[[0, -1]].tolist()
    ['spearman_at_10', 'accuracy_at_90']
    """
    rows = {}
    defined = np.isfinite(curve["spearman"]).all()
    for measure in ("spearman", "accuracy"):
        title, unit = CEILINGS[measure]
        for share in _TENTHS:
            percent = round(100 * share)
            keys = {"spearman": f"ceiling_spearman_at_{percent}", "accuracy": f"ceiling_accuracy_at_{percent}"}
            rows[f"{measure}_at_{percent}"] = estimate_row(
                curve.loc[share, measure] if defined else np.nan,
                n=n,
                unit=unit,
                method=f"ceiling of {title} at a content share of {share:.0%}; latent normal, labels as in the data",
                reason="" if defined else _ONE_LABEL if n else _NO_TRUTH,
                key=keys[measure],
            )
    return estimate_table(rows, "ceiling")


def _ceilings(thresholds: np.ndarray, shares: np.ndarray) -> dict[str, np.ndarray]:
    """All ceilings, for rows of thresholds and shares: (rows, 4) and (rows,)."""
    hits, near, error = (np.empty(len(shares)) for _ in range(3))
    for first in range(0, len(shares), _CHUNK):
        rows = slice(first, first + _CHUNK)
        likely, weights = _level_probabilities(thresholds[rows], shares[rows])
        cumulative = np.cumsum(likely, axis=-1)
        hits[rows] = (likely.max(axis=-1) * weights).sum(axis=-1)
        threes = likely[..., :-2] + likely[..., 1:-1] + likely[..., 2:]
        near[rows] = (threes.max(axis=-1) * weights).sum(axis=-1)
        # E|y - k| is least at the median: each threshold passed on the wrong side costs one level.
        beside = np.minimum(cumulative[..., :-1], 1 - cumulative[..., :-1]).sum(axis=-1)
        error[rows] = (beside * weights).sum(axis=-1)
    return {
        "pearson": np.sqrt(shares),
        "spearman_untied": 6 / np.pi * np.arcsin(np.sqrt(shares) / 2),
        "spearman": _spearman(thresholds, shares),
        "spearman_levels": _spearman_levels(thresholds, shares),
        "accuracy": np.minimum(hits, 1),  # not a rounding error more
        "within_one": np.minimum(near, 1),
        "mean_absolute_error": error,
    }


def _level_probabilities(thresholds: np.ndarray, shares: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Probability of each level at points of the content, (rows, points, levels), and the points' weights."""
    known = np.sqrt(np.maximum(shares, _SMALLEST))[:, None]
    rest = np.sqrt(np.maximum(1 - shares, _SMALLEST))[:, None]
    # The nearer s to 1, the narrower the passage from one level to the next: places are set by its width.
    passages = ((thresholds[:, :, None] + rest[:, :, None] * _STEPS) / known[:, :, None]).reshape(len(shares), -1)
    everywhere = np.broadcast_to(_CONTENT, (len(shares), len(_CONTENT)))
    ends = np.sort(np.clip(np.concatenate([everywhere, passages], axis=1), _CONTENT[0], _CONTENT[-1]), axis=1)
    half, middle = np.diff(ends, axis=1)[..., None] / 2, (ends[:, 1:, None] + ends[:, :-1, None]) / 2
    content = (middle + half * _POINTS).reshape(len(shares), -1)
    weights = (half * _POINT_WEIGHTS).reshape(len(shares), -1) * np.exp(-(content**2) / 2) / np.sqrt(2 * np.pi)
    below = ndtr((thresholds[:, None, :] - (known * content)[..., None]) / rest[..., None])
    edge = np.zeros((*below.shape[:-1], 1))
    return np.diff(np.concatenate([edge, below, edge + 1], axis=-1), axis=-1), weights


def _midranks(thresholds: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Jumps of the midrank at each threshold, and 12 times its variance (NaN if it has none)."""
    cumulative = ndtr(thresholds)
    ends = np.zeros((*cumulative.shape[:-1], 1))
    p = np.diff(np.concatenate([ends, cumulative, ends + 1], axis=-1), axis=-1)
    spread = 1 - (p**3).sum(axis=-1)
    return (p[..., :-1] + p[..., 1:]) / 2, np.where(spread > 1e-9, spread, np.nan)


def _spearman(thresholds: np.ndarray, shares: np.ndarray) -> np.ndarray:
    jumps, spread = _midranks(thresholds)
    half = np.arcsin(np.sqrt(shares / 2)) / 2
    angles = half[:, None] * (1 + _ANGLES)
    squares = np.clip(thresholds, -_FURTHEST, _FURTHEST)[:, :, None] ** 2
    inner = np.exp(-squares / (2 * np.cos(angles)[:, None, :] ** 2)) @ _ANGLE_WEIGHTS
    return 12 * (jumps * inner).sum(axis=-1) * half / (2 * np.pi) / np.sqrt(spread)


def _spearman_levels(thresholds: np.ndarray, shares: np.ndarray) -> np.ndarray:
    jumps, spread = _midranks(thresholds)
    half = np.arcsin(np.sqrt(shares)) / 2
    angles = (half[:, None] * (1 + _ANGLES))[:, None, None, :]
    cuts = np.clip(thresholds, -_FURTHEST, _FURTHEST)
    first, second = cuts[:, :, None, None], cuts[:, None, :, None]
    distance = (first - second) ** 2 + 2 * first * second * (1 - np.sin(angles))
    inner = np.exp(-distance / (2 * np.cos(angles) ** 2)) @ _ANGLE_WEIGHTS
    return 12 * np.einsum("rj,rk,rjk->r", jumps, jumps, inner) * half / (2 * np.pi) / spread


def content_share_needed(result: float, thresholds, measure: str = "spearman") -> float:
    """The smallest content share with which a judge that sees only the text could have a result.

    The inverse of :func:`ceiling_curve`: a judge below its ceiling needs more.

    Parameters
    ----------
    result : float
        Spearman correlation, or accuracy, of the judge.
    thresholds : array, shape (4,)
        From :func:`level_thresholds`.
    measure : str
        A key of ``CEILINGS`` other than ``mean_absolute_error``.

    Returns
    -------
    float
        0..1; 0 for what can be reached without any content, NaN for what can't be reached with nothing but
        content, or if the measure is not defined.

    Examples
    --------
    >>> thresholds = level_thresholds([5, 10, 25, 40, 20])
    >>> round(content_share_needed(0.369, thresholds), 3), content_share_needed(0.99, thresholds)
    (0.16, nan)
    """
    cuts = np.asarray(thresholds, dtype=float)[None, :]

    def excess(share: float) -> float:
        return _ceilings(cuts, np.array([share]))[measure][0] - result

    lowest, highest = excess(0.0), excess(1.0)
    if not (np.isfinite(lowest) and np.isfinite(highest)) or highest < 0:
        return np.nan
    # Not zero itself: the curve of accuracy begins flat, so that a rounding error would be a share.
    return 0.0 if lowest > -_ROUNDING else float(brentq(excess, 0.0, 1.0, xtol=1e-9))


def shares_needed(judges: Mapping[str, tuple[float, ...]], study: Study) -> pd.DataFrame:
    """The smallest content shares that judges' results need, if they saw only the text.

    Parameters
    ----------
    judges : mapping
        Name -> :class:`Result`, or a pair of Spearman correlation and accuracy; NaN where there is none.
    study : Study
        Its labels give the thresholds of all rows but the first of each judge.

    Returns
    -------
    DataFrame
        Rows ``<name>, by Spearman``, ``<name>, by Spearman with the ties of these labels`` and ``<name>, by accuracy
        with these labels``: estimate (0..1), low, high, n (conversations with ground truth), unit, method, reason. The
        first holds for any labels and ties: ties only raise the need. The second is the need of a judge
        whose scores, or else the ground truth, have five levels, as often each as these labels; scores with decimals
        need less. Only the first has an interval: the correlation's, carried over, as the need rises with it.
    """
    counts = label_counts(conversation_ratings(study)["ground_truth"])
    others = [name for name in judges if name not in _NEEDED]
    keys = _NEEDED | {
        name: f"ceiling_needed_judge_{number}_spearman_untied ceiling_needed_judge_{number}_spearman "
        f"ceiling_needed_judge_{number}_accuracy"
        for number, name in enumerate(others, 1)
    }
    rows = {
        f"{name}, by {words}": _needed_row(Result(*result), measure, counts, key)
        for name, result in judges.items()
        for (words, measure), key in zip(_BY.items(), keys[name].split(), strict=True)
    }
    return estimate_table(rows, "judge")


def _needed_row(result: Result, measure: str, counts: np.ndarray, key: str) -> dict:
    """Content share that a result needs at least by one measure, with labels as often as counted."""
    cuts, n = level_thresholds(counts), int(counts.sum())
    method = f"content share whose ceiling is the judge's result; {CEILINGS[measure][0]}; latent normal"
    shown = {"n": n, "unit": _UNIT, "key": key}
    value = result.accuracy if measure == "accuracy" else result.spearman
    reason = _NO_TRUTH if not n else _ONE_LABEL if counts.max() == n else ""
    if reason or not np.isfinite(value):
        return estimate_row(**shown, method=method, reason=reason or "this judge has no such result")
    share = content_share_needed(value, cuts, measure)
    if not np.isfinite(share):
        reason = "more than the text alone could give with these labels"
        return estimate_row(**shown, method=method, reason=reason)
    ends = (result.low, result.high) if measure == "spearman_untied" else ()
    if not (ends and np.isfinite(ends).all()):
        return estimate_row(share, **shown, method=method)
    low, high = (content_share_needed(end, cuts, measure) for end in ends)
    method = f"{method}; the correlation's interval, participants resampled, carried over"
    return estimate_row(share, low, high, **shown, method=method)


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


def published_judge(study: Study) -> dict[str, Result]:
    """The paper's classifier by its name beside this study, as :func:`shares_needed` takes judges.

    The name says that the result is from other data, unless the study is the verified release.
    """
    provenance = study.provenance
    own = provenance is not None and provenance.kind == "official" and provenance.verified
    return {_PUBLISHED[0 if own else 1]: Result(*PUBLISHED)}


def judge_results(
    study: Study, runs: Mapping[str, Mapping[str, pd.DataFrame]], bootstrap: ParticipantBootstrap | None = None
) -> dict[str, Result]:
    """Results of the published classifier and of the judges whose predictions for this data set are available.

    Parameters
    ----------
    study : Study
        The data.
    runs : mapping
        Judge -> run -> predictions, as :func:`sense7.judge.scoring.available_judges.read_runs` reads them.
    bootstrap : ParticipantBootstrap, optional
        Of the intervals of the correlations.

    Returns
    -------
    dict
        Name -> Result, means over the runs of a judge, without unusable replies.
    """
    judges = {}
    for name, frames in runs.items():
        mean = over_runs(frames, bootstrap).mean
        judges[name] = _result(mean.loc["spearman"], mean.loc["accuracy"])
    return published_judge(study) | judges


def _result(spearman: Mapping, accuracy: Mapping) -> Result:
    """Result from two rows of a table of estimates, or two recorded values."""
    numbers = (spearman["estimate"], accuracy["estimate"], spearman["low"], spearman["high"])
    return Result(*(np.nan if value is None else float(value) for value in numbers))


def text_baselines(values: Mapping[str, Mapping]) -> dict[str, Result]:
    """Baselines that know nothing of the person: how much the assistant wrote per turn, and all words.

    Parameters
    ----------
    values : mapping
        Key -> value as the page of the baselines recorded them from
        :func:`sense7.judge.scoring.baselines.baseline_table`; see :func:`sense7.record.read_values`.

    Returns
    -------
    dict
        Name -> Result; NaN for a baseline without predictions, such as where no text is known. The participant's own
        mean is no such baseline: it sees ratings, and the ceiling does not bind it.
    """
    return {
        name: _result(values[correlation], values[accuracy])
        for name, (correlation, accuracy) in _TEXT_BASELINES.items()
    }


@dataclass(frozen=True, eq=False)
class ContentShares:
    """Parts of the variance, and the upper bounds of the content share that follow from them.

    Attributes
    ----------
    parts : DataFrame
        Shares of the ground truth's whole variance: between conditions, between participants, participants'
        interactions with conditions, and the rest; a table of estimates.
    averaged : DataFrame
        The same from the variance of turns, carried over to means over turns.
    bounds : DataFrame
        Upper bounds of the content share by what is assumed; a table of estimates.
    draws : array, shape (draws,)
        The first bound in each resampling; empty if there is no interval.
    """

    parts: pd.DataFrame
    averaged: pd.DataFrame
    bounds: pd.DataFrame
    draws: np.ndarray


_PARTS = ("condition", "participant", "participant by condition", "conversation", "turns, averaged")

_PART_KEYS = {
    "condition": "ceiling_part_condition",
    "participant": "ceiling_part_participant",
    "participant by condition": "ceiling_part_participant_condition",
    "conversation": "ceiling_part_conversation",
    "turns, averaged": "ceiling_part_turns",
}
"""Part of the variance -> key, where it comes from turns."""


def content_shares(
    study: Study, bootstrap: ParticipantBootstrap, draws: int = MODEL_DRAWS, turn_draws: int = TURN_DRAWS
) -> ContentShares:
    r"""Upper bounds of the content share, by what is the participants' own.

    The ground truth of conversation i of participant p in condition c is taken apart as

    .. math:: g_{pci} = \mu_c + u_p + v_{pc} + w_{pci}

    (a mixed model by REML). A judge sees the text of one conversation. **If** nothing in the text says who rates
    strictly, u is no content. All the rest may be: differences of conditions, a person's interaction with one (the
    assistant may answer them differently there), and the single conversation with its rater's passing mood. Therefore

    .. math:: s \le 1 - \frac{\sigma_u^2}{\sigma_\mu^2 + \sigma_u^2 + \sigma_v^2 + \sigma_w^2}, \quad
              \sigma_\mu^2 = \sum_c f_c (\mu_c - \bar\mu)^2

    with f the shares of the conversations. Conditions are part of the whole here, unlike in
    :func:`sense7.findings.individualized.variance_components.variance_parts`, since a judge is scored over all of
    them. If the interactions v are no content either, :math:`\sigma_v^2` is taken off as well. The truth lies anywhere
    below: that a part *may* be content does not make it content. Nor is the bound safe if the assumption fails: people
    who write differently and rate differently give themselves away by the text, and then part of u is content.

    From turns: a turn adds its own residual r, and the ground truth is a mean over the :math:`T_i` rated turns of a
    conversation. So u, v and w pass into it whole, and of r there remains :math:`\sigma_r^2\, \overline{1/T_i}`, if
    turns of a conversation are not correlated beyond w. Averaging thus raises the participants' share, and
    lowers the bound below that of single turns. The bound from turns checks the first one.

    Parameters
    ----------
    study : Study
        The data.
    bootstrap : ParticipantBootstrap
        Its first resamplings; the models are fitted in each.
    draws, turn_draws : int
        At most so many, for the model of conversations and the slower one of turns.

    Returns
    -------
    ContentShares
        Where the design can't tell a part from another one, the bounds that need it have a reason instead. If each
        participant met one condition only, interactions are part of the participant's, and are taken off with it.

    Notes
    -----
    :math:`\sigma_\mu^2` is that of the estimated means, and a little too large for it, which raises the bound.
    """
    direct = _variance_shares(study, bootstrap, draws, "ground_truth")
    averaged = _variance_shares(study, bootstrap, turn_draws, "turn_mean")
    levels, interactions = ("participant",), ("participant", "participant by condition")
    bounds = {
        "participants' levels carry no content": _bound_row(direct, levels, bootstrap, "ceiling_bound_participant"),
        "the same, from single turns": _bound_row(averaged, levels, bootstrap, "ceiling_bound_participant_turns"),
        "nor do participants' interactions with conditions": _bound_row(
            direct, interactions, bootstrap, "ceiling_bound_participant_condition"
        ),
    }
    return ContentShares(
        _parts_table(direct, _PARTS[:4], bootstrap),
        _parts_table(averaged, _PARTS, bootstrap, _PART_KEYS),
        estimate_table(bounds, "if"),
        np.empty(0) if direct.draws is None else 1 - direct.draws[:, _PARTS.index("participant")],
    )


@dataclass(frozen=True, eq=False)
class _VarianceShares:
    """Shares of the ground truth's variance by part: (parts,), in draws (draws, parts) or None; why there is none."""

    shares: np.ndarray
    draws: np.ndarray | None
    people: np.ndarray
    reasons: dict[str, str]
    method: str
    n: int


def _variance_shares(study: Study, bootstrap: ParticipantBootstrap, draws: int, rating: str) -> _VarianceShares:
    # Why a part can't be estimated is known there; one draw, as only the reasons are used.
    known = variance_parts(study, bootstrap, rating=rating, draws=1).shares
    reasons = {name: row["reason"] for name, row in known.iterrows() if not np.isfinite(row["estimate"])}
    if "turn" in reasons:
        reasons["turns, averaged"] = reasons.pop("turn")
    of_turns = rating == "turn_mean"
    method = "mixed model of turns, averaged over the turns of a conversation" if of_turns else "mixed model"
    method = f"{method}; shares of the whole variance of the ground truth, conditions included; REML"
    n = int(known["n"].max())
    if len(reasons) == len(known):
        why = dict.fromkeys(_PARTS, next(iter(reasons.values())))
        return _VarianceShares(np.full(len(_PARTS), np.nan), None, np.empty(0), why, method, n)
    frame, _ = rated_conversations(study, rating)
    names = sorted(frame["condition"].unique())
    design = np.column_stack([frame["condition"] == name for name in names]).astype(float)
    groups = frame["conversation"] if of_turns else None
    sums = nested_sums(frame["y"].to_numpy(), design, frame["participant"], frame["condition"], groups)
    counts = _counts(frame, sums.participants, names)
    ones = np.ones((1, len(counts)))
    fit = fit_nested(sums)
    shares = _shares(fit_nested(sums, ones), ones @ counts, of_turns=of_turns)[0]
    weights = bootstrap.weights(slice(draws))[:, bootstrap.codes(sums.participants)]
    many = None
    if not bootstrap.too_few(frame["participant"]):
        start = fit.variances[:3] / fit.variances[3]
        many = _shares(fit_nested(sums, weights, start), weights @ counts, of_turns=of_turns)
    return _VarianceShares(shares, many, frame["participant"].to_numpy(), reasons, method, n)


def _counts(frame: pd.DataFrame, participants: pd.Index, conditions: list[str]) -> np.ndarray:
    """Per participant: conversations in each condition, then the sum over them of one by the number of rated turns."""
    conversations = frame.groupby("conversation", sort=False).agg(
        participant=("participant", "first"), condition=("condition", "first"), turns=("y", "size")
    )
    rows = pd.Index(participants).get_indexer(conversations["participant"])
    counts = np.zeros((len(participants), len(conditions) + 1))
    np.add.at(counts, (rows, pd.Index(conditions).get_indexer(conversations["condition"])), 1)
    np.add.at(counts, (rows, len(conditions)), 1 / conversations["turns"].to_numpy())
    return counts


def _shares(fit: Nested, counts: np.ndarray, *, of_turns: bool) -> np.ndarray:
    """Shares of the ground truth's variance by part: (draws, parts)."""
    counts, inverse = counts[:, :-1], counts[:, -1]
    with np.errstate(divide="ignore", invalid="ignore"):
        frequency = counts / counts.sum(axis=1, keepdims=True)
        centre = (frequency * fit.coefficients).sum(axis=1, keepdims=True)
        condition = (frequency * (fit.coefficients - centre) ** 2).sum(axis=1)
        person, interaction, group, rest = fit.variances.T
        # At the level of conversations the model's residual is the conversation.
        turns = rest * inverse / counts.sum(axis=1) if of_turns else np.zeros_like(rest)
        parts = np.column_stack([condition, person, interaction, group if of_turns else rest, turns])
        return parts / parts.sum(axis=1, keepdims=True)


def _percentile_row(
    value: float, draws: np.ndarray | None, people, bootstrap: ParticipantBootstrap, **shown: object
) -> dict:
    """Row of a value with the percentile interval of its draws, which may be fewer than the bootstrap's."""
    if draws is None:
        return bootstrap.row(Estimate(value, reason=bootstrap.too_few(people)), **shown)
    kind = f"{bootstrap.confidence:.0%} percentile interval, {count_of(len(draws), 'resampling')} of participants"
    return bootstrap.row(Estimate(value, *bootstrap.interval(draws, people)), **shown, how=kind)


def _bound_row(parts: _VarianceShares, names: tuple[str, ...], bootstrap: ParticipantBootstrap, key: str) -> dict:
    """Upper bound of the content share: one minus the shares of these parts."""
    shown = {"n": parts.n, "unit": _UNIT, "method": parts.method, "key": key}
    reason = next((parts.reasons[name] for name in names if name in parts.reasons), "")
    if reason:
        return estimate_row(**shown, reason=reason)
    columns = [_PARTS.index(name) for name in names]
    many = None if parts.draws is None else 1 - parts.draws[:, columns].sum(axis=1)
    return _percentile_row(1 - parts.shares[columns].sum(), many, parts.people, bootstrap, **shown)


def _parts_table(
    parts: _VarianceShares,
    names: tuple[str, ...],
    bootstrap: ParticipantBootstrap,
    keys: Mapping[str, str] | None = None,
) -> pd.DataFrame:
    shown, rows = {"n": parts.n, "unit": _UNIT, "method": parts.method}, {}
    for column, name in enumerate(names):
        if name in parts.reasons:
            rows[name] = estimate_row(**shown, reason=parts.reasons[name])
        else:
            many = None if parts.draws is None else parts.draws[:, column]
            rows[name] = _percentile_row(parts.shares[column], many, parts.people, bootstrap, **shown)
    return estimate_table(rows, "part", keys)


_AT_BOUND = {
    "pearson": "ceiling_at_bound_pearson",
    "spearman_untied": "ceiling_at_bound_spearman_untied",
    "spearman": "ceiling_at_bound_spearman",
    "spearman_levels": "ceiling_at_bound_spearman_levels",
    "accuracy": "ceiling_at_bound_accuracy",
    "within_one": "ceiling_at_bound_within_one",
    "mean_absolute_error": "ceiling_at_bound_mean_absolute_error",
}
"""Measure -> key of its ceiling at the upper bound."""


def ceilings_at_bound(study: Study, bootstrap: ParticipantBootstrap, shares: ContentShares) -> pd.DataFrame:
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
        Rows as ``CEILINGS``: estimate, low, high, n (conversations with ground truth), unit, method, reason.
    """
    truth = conversation_ratings(study)[["participant", "ground_truth"]].dropna()
    label = labels(truth["ground_truth"]).astype(int)
    bound, why = shares.bounds["estimate"].iloc[0], shares.bounds["reason"].iloc[0]
    shown = {"n": len(truth), "method": "ceiling at the upper bound of the content share; latent normal"}
    reason = why if not np.isfinite(bound) else _ONE_LABEL if len(set(label)) == 1 else ""
    if reason:
        rows = {name: estimate_row(**shown, unit=unit, reason=reason) for name, (_, unit) in CEILINGS.items()}
        return estimate_table(rows, "measure", _AT_BOUND)
    counts = np.zeros((len(bootstrap.names), len(LEVELS)))
    np.add.at(counts, (bootstrap.codes(truth["participant"]), label - 1), 1)
    values = _ceilings(level_thresholds(counts.sum(axis=0))[None], np.array([bound]))
    many = _ceilings_in_draws(counts, bootstrap, shares.draws)
    rows = {
        name: _percentile_row(
            values[name][0],
            None if many is None else many[name],
            truth["participant"],
            bootstrap,
            **shown,
            unit=unit,
        )
        for name, (_, unit) in CEILINGS.items()
    }
    return estimate_table(rows, "measure", _AT_BOUND)


def _ceilings_in_draws(
    counts: np.ndarray, bootstrap: ParticipantBootstrap, bounds: np.ndarray
) -> dict[str, np.ndarray] | None:
    """Ceilings at the bound of each draw, with its labels: NaN where there is no bound; None without draws."""
    if not len(bounds):
        return None
    known = np.isfinite(bounds)
    many = {name: np.full(len(bounds), np.nan) for name in CEILINGS}
    if known.any():
        weights = bootstrap.weights(slice(len(bounds)))[known]
        for name, values in _ceilings(level_thresholds(weights @ counts), np.clip(bounds[known], 0, 1)).items():
            many[name][known] = values
    return many


def with_row_labels(table: pd.DataFrame) -> pd.DataFrame:
    """A table with a row for each measure, under the measures' names for readers.

    Examples
    --------
    >>> with_row_labels(pd.DataFrame({"n": [9]}, index=["within_one"])).index.tolist()
    ['within one level']
    """
    return table.rename(index={name: title for name, (title, _) in CEILINGS.items()})


check_arguments(globals())
