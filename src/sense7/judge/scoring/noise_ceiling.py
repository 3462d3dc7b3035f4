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
from sense7.estimators.estimates import estimate_row, estimate_table
from sense7.estimators.mixed import Nested, fit_nested, nested_sums
from sense7.findings.ground_truth import label_counts, labels
from sense7.findings.individualized.variance_components import MODEL_DRAWS, variance_parts
from sense7.findings.measures import conversation_ratings
from sense7.judge.scoring.baselines import BASELINES, baseline_keys
from sense7.judge.scoring.metrics import over_runs
from sense7.study import Study
from sense7.taxonomy import DIMENSION_NAMES, LEVELS
from sense7.terminal import count_of

__all__ = [
    "BOUNDS",
    "CEILINGS",
    "PUBLISHED",
    "SHARES",
    "ContentShares",
    "Result",
    "ceiling_curve",
    "ceilings_at_bound",
    "content_share_itself",
    "content_share_needed",
    "content_shares",
    "curve_estimates",
    "curve_table",
    "judges_at_hand",
    "level_thresholds",
    "needed_keys",
    "published_judge",
    "shares_needed",
    "study_thresholds",
    "text_baselines",
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
"""Measures: key -> its name and unit."""

BOUNDS = {
    "participants' levels carry no content": "participant",
    "the same, from single turns": "participant_turns",
    "nor do participants' interactions with conditions": "participant_condition",
}
"""Assumptions under which variance parts bound the content share -> endings of keys."""

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
_TEXT_BASELINES = ("words per turn", "all words, ridge")
_BASELINE = "baseline: "
_NO_TRUTH = "no conversation of this data set has ground truth"
_ONE_LABEL = "all conversations have the same label"


class Result(NamedTuple):
    """Result of a judge: Spearman's correlation with the ground truth, accuracy, and the correlation's interval."""

    spearman: float
    accuracy: float
    low: float = np.nan
    high: float = np.nan


def level_thresholds(counts) -> np.ndarray:
    r"""Cut a standard normal variable so that the levels have given frequencies.

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
    r"""Compute the best that a judge who sees only the text can reach, for each content share.

    - *pearson*: :math:`\sqrt{s}`, whatever the distribution, if s is the share of the ground truth's variance;
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
            value = curve.loc[share, measure] if defined else np.nan
            method = f"ceiling of {title} at a content share of {share:.0%}; latent normal, labels as in the data"
            reason = "" if defined else _ONE_LABEL if n else _NO_TRUTH
            rows[f"{measure}_at_{round(100 * share)}"] = estimate_row(
                value, n=n, unit=unit, method=method, reason=reason
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
    """Probability of each level at places of the content, (rows, places, levels), and the places' weights."""
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
    """Compute the smallest content share with which a judge that sees only the text could have a result.

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
    """Compute the smallest content shares that judges' results need, if they saw only the text.

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
        first holds whatever the labels and their ties are: ties only raise the need. The second is the need of a judge
        whose scores, or else the ground truth, have five levels, as often each as these labels; scores with decimals
        need less. Only the first has an interval: the correlation's, carried over, as the need rises with it.
    """
    counts = label_counts(conversation_ratings(study)["ground_truth"])
    cuts, n = level_thresholds(counts), int(counts.sum())
    rows = {}
    for name, given in judges.items():
        result = Result(*given)
        for words, measure in _BY.items():
            value = result.accuracy if measure == "accuracy" else result.spearman
            share = np.nan
            if not n:
                reason = _NO_TRUTH
            elif counts.max() == n:
                reason = _ONE_LABEL
            elif not np.isfinite(value):
                reason = "this judge has no such result"
            else:
                share = content_share_needed(value, cuts, measure)
                reason = "" if np.isfinite(share) else "more than the text alone could give with these labels"
            method = f"content share whose ceiling is the judge's result; {CEILINGS[measure][0]}; latent normal"
            ends = np.nan, np.nan
            if measure == "spearman_untied" and np.isfinite([share, result.low, result.high]).all():
                ends = tuple(content_share_needed(end, cuts, measure) for end in (result.low, result.high))
                method = f"{method}; the correlation's interval, participants resampled, carried over"
            rows[f"{name}, by {words}"] = estimate_row(share, *ends, n=n, unit=_UNIT, method=method, reason=reason)
    return estimate_table(rows, "judge")


def content_share_itself() -> dict:
    """The content share, which no data with one rater of each conversation can estimate: a value with its reason.

    Examples
    --------
    >>> content_share_itself()["estimate"] is None
    True
    """
    return {
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


def judges_at_hand(
    study: Study, runs: Mapping[str, Mapping[str, pd.DataFrame]], bootstrap: ParticipantBootstrap | None = None
) -> dict[str, Result]:
    """The published classifier, and the judges whose predictions for this data set are available.

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
    correlations, accuracies = baseline_keys("spearman"), baseline_keys("accuracy")
    return {_BASELINE + name: _result(values[correlations[name]], values[accuracies[name]]) for name in _TEXT_BASELINES}


def needed_keys(table: pd.DataFrame, start: str = "ceiling_needed") -> dict[str, str]:
    """Keys for :func:`shares_needed`: the published result and baselines by name, judges by number.

    Names of judges may hold anything.

    Examples
    --------
    >>> rows = pd.DataFrame(index=["published classifier, by Spearman", "a/b, by accuracy with these labels"])
    >>> list(needed_keys(rows).values())
    ['ceiling_needed_published_spearman_untied', 'ceiling_needed_judge_1_accuracy']
    """
    split = {row: row.rpartition(", by ") for row in table.index}
    known = dict.fromkeys(_PUBLISHED, "published") | {_BASELINE + name: BASELINES[name] for name in _TEXT_BASELINES}
    others = dict.fromkeys(name for name, _, _ in split.values() if name not in known)
    known |= {name: f"judge_{number}" for number, name in enumerate(others, 1)}
    return {row: f"{start}_{known[name]}_{_BY[words]}" for row, (name, _, words) in split.items()}


@dataclass(frozen=True, eq=False)
class ContentShares:
    """What variance parts say of the content share.

    Attributes
    ----------
    parts : DataFrame
        Shares of the ground truth's whole variance: between conditions, between participants, participants'
        interactions with conditions towards conditions, and the rest; a table of estimates.
    averaged : DataFrame
        The same from the variance of turns, carried over to means over turns.
    bounds : DataFrame
        Upper bounds of the content share, rows as ``BOUNDS``; a table of estimates.
    draws : array, shape (draws,)
        The first bound in each resampling; empty if there is no interval.
    """

    parts: pd.DataFrame
    averaged: pd.DataFrame
    bounds: pd.DataFrame
    draws: np.ndarray


_PARTS = ("condition", "participant", "participant by condition", "conversation", "turns, averaged")


def content_shares(
    study: Study, bootstrap: ParticipantBootstrap, draws: int = MODEL_DRAWS, turn_draws: int = TURN_DRAWS
) -> ContentShares:
    r"""Bound the content share from above by what is the participants' own.

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
    turns of a conversation do not lean on each other beyond w. Averaging thus raises the participants' share, and
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
    direct = _apart(study, bootstrap, draws, "ground_truth")
    averaged = _apart(study, bootstrap, turn_draws, "turn_mean")
    sources = (
        (direct, ("participant",)),
        (averaged, ("participant",)),
        (direct, ("participant", "participant by condition")),
    )
    rows = {name: _bound_row(*source, bootstrap) for name, source in zip(BOUNDS, sources, strict=True)}
    first = np.empty(0) if direct.draws is None else 1 - direct.draws[:, _PARTS.index("participant")]
    return ContentShares(
        _parts_table(direct, _PARTS[:4], bootstrap),
        _parts_table(averaged, _PARTS, bootstrap),
        estimate_table(rows, "if"),
        first,
    )


@dataclass(frozen=True, eq=False)
class _Apart:
    """Shares of the ground truth's variance by part: (parts,), in draws (draws, parts) or None; why there is none."""

    shares: np.ndarray
    draws: np.ndarray | None
    people: np.ndarray
    reasons: dict[str, str]
    method: str
    n: int


def _apart(study: Study, bootstrap: ParticipantBootstrap, draws: int, rating: str) -> _Apart:
    # Why a part can't be told is known there; one draw, as only the reasons are used.
    told = variance_parts(study, bootstrap, rating=rating, draws=1).shares
    reasons = {name: row["reason"] for name, row in told.iterrows() if not np.isfinite(row["estimate"])}
    if "turn" in reasons:
        reasons["turns, averaged"] = reasons.pop("turn")
    of_turns = rating == "turn_mean"
    method = "mixed model of turns, averaged over the turns of a conversation" if of_turns else "mixed model"
    method = f"{method}; shares of the whole variance of the ground truth, conditions included; REML"
    n = int(told["n"].max())
    if len(reasons) == len(told):
        why = dict.fromkeys(_PARTS, next(iter(reasons.values())))
        return _Apart(np.full(len(_PARTS), np.nan), None, np.empty(0), why, method, n)
    frame = _rows(study, of_turns=of_turns)
    names = sorted(frame["condition"].unique())
    design = np.column_stack([frame["condition"] == name for name in names]).astype(float)
    groups = frame["conversation"] if of_turns else None
    sums = nested_sums(frame["y"].to_numpy(), design, frame["participant"], frame["condition"], groups)
    # Per participant: conversations by condition, and the sum of one by the number of rated turns.
    whole = frame.groupby("conversation", sort=False).agg(
        participant=("participant", "first"), condition=("condition", "first"), turns=("y", "size")
    )
    place = pd.Index(sums.participants).get_indexer(whole["participant"])
    counts = np.zeros((len(sums.participants), len(names) + 1))
    np.add.at(counts, (place, pd.Index(names).get_indexer(whole["condition"])), 1)
    np.add.at(counts, (place, len(names)), 1 / whole["turns"].to_numpy())
    ones = np.ones((1, len(counts)))
    fit = fit_nested(sums)
    shares = _shares(fit_nested(sums, ones), ones @ counts, of_turns=of_turns)[0]
    weights = bootstrap.weights(slice(draws))[:, bootstrap.codes(sums.participants)]
    many = None
    if not bootstrap.too_few(frame["participant"]):
        start = fit.variances[:3] / fit.variances[3]
        many = _shares(fit_nested(sums, weights, start), weights @ counts, of_turns=of_turns)
    return _Apart(shares, many, frame["participant"].to_numpy(), reasons, method, n)


def _rows(study: Study, *, of_turns: bool) -> pd.DataFrame:
    """Rated turns or conversations as ``variance_parts`` takes them, with the rating as ``y``."""
    if of_turns:
        frame = study.turns[["participant", "condition", "conversation"]].copy()
        frame["y"] = study.turns[list(DIMENSION_NAMES)].mean(axis=1)
    else:
        frame = conversation_ratings(study).reset_index().rename(columns={"ground_truth": "y"})
    if not study.conditions:
        frame["condition"] = ""
    return frame[frame["y"].notna() & frame["condition"].notna() & frame["participant"].notna()]


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


def _described(method: str, draws: np.ndarray, bootstrap: ParticipantBootstrap) -> str:
    resamplings = count_of(len(draws), "resampling")
    return f"{method}; {bootstrap.confidence:.0%} percentile interval, {resamplings} of participants"


def _row(value: float, draws: np.ndarray | None, apart: _Apart, bootstrap: ParticipantBootstrap) -> dict:
    low, high, reason = np.nan, np.nan, bootstrap.too_few(apart.people)
    if draws is not None:
        low, high, reason = bootstrap.interval(draws, apart.people)
    method = apart.method if reason else _described(apart.method, draws, bootstrap)
    return estimate_row(value, low, high, n=apart.n, unit=_UNIT, method=method, reason=reason)


def _bound_row(apart: _Apart, names: tuple[str, ...], bootstrap: ParticipantBootstrap) -> dict:
    reason = next((apart.reasons[name] for name in names if name in apart.reasons), "")
    if reason:
        return estimate_row(n=apart.n, unit=_UNIT, method=apart.method, reason=reason)
    places = [_PARTS.index(name) for name in names]
    many = None if apart.draws is None else 1 - apart.draws[:, places].sum(axis=1)
    return _row(1 - apart.shares[places].sum(), many, apart, bootstrap)


def _parts_table(apart: _Apart, names: tuple[str, ...], bootstrap: ParticipantBootstrap) -> pd.DataFrame:
    rows = {}
    for place, name in enumerate(names):
        if name in apart.reasons:
            rows[name] = estimate_row(n=apart.n, unit=_UNIT, method=apart.method, reason=apart.reasons[name])
        else:
            many = None if apart.draws is None else apart.draws[:, place]
            rows[name] = _row(apart.shares[place], many, apart, bootstrap)
    return estimate_table(rows, "part")


def ceilings_at_bound(study: Study, bootstrap: ParticipantBootstrap, shares: ContentShares) -> pd.DataFrame:
    """Compute the ceilings at the upper bound of the content share, which no judge of the text passes if it holds.

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
    found = labels(truth["ground_truth"]).astype(int)
    bound, why = shares.bounds["estimate"].iloc[0], shares.bounds["reason"].iloc[0]
    n, method = len(truth), "ceiling at the upper bound of the content share; latent normal"
    reason = why if not np.isfinite(bound) else _ONE_LABEL if len(set(found)) == 1 else ""
    if reason:
        return estimate_table(
            {name: estimate_row(n=n, unit=unit, method=method, reason=reason) for name, (_, unit) in CEILINGS.items()},
            "measure",
        )
    counts = np.zeros((len(bootstrap.names), len(LEVELS)))
    np.add.at(counts, (bootstrap.codes(truth["participant"]), found - 1), 1)
    values = _ceilings(level_thresholds(counts.sum(axis=0))[None], np.array([bound]))
    known = np.isfinite(shares.draws)
    many = None
    if known.any():
        weights = bootstrap.weights(slice(len(shares.draws)))[known]
        many = _ceilings(level_thresholds(weights @ counts), np.clip(shares.draws[known], 0, 1))
    rows = {}
    for name, (_, unit) in CEILINGS.items():
        low, high, reason = np.nan, np.nan, bootstrap.too_few(truth["participant"])
        if many is not None:
            everywhere = np.full(len(shares.draws), np.nan)
            everywhere[known] = many[name]
            low, high, reason = bootstrap.interval(everywhere, truth["participant"])
        told = method if reason else _described(method, shares.draws, bootstrap)
        rows[name] = estimate_row(values[name][0], low, high, n=n, unit=unit, method=told, reason=reason)
    return estimate_table(rows, "measure")


check_arguments(globals())
