"""Calibration: a judge's scores brought to the scale of those who rated, by what other participants teach."""

from collections.abc import Callable, Mapping

import numpy as np
import pandas as pd
from scipy.special import expit
from sklearn.isotonic import IsotonicRegression
from sklearn.model_selection import GroupKFold

from sense7.errors import UserError
from sense7.estimators.bootstrap import OWN_SCALE, ParticipantBootstrap
from sense7.estimators.cumulative_logit import fit_cumulative_logit
from sense7.estimators.estimates import estimate_row, estimate_table
from sense7.findings.ground_truth import labels
from sense7.judge.judges import ABSENT
from sense7.taxonomy import LEVELS
from sense7.terminal import count_of

__all__ = [
    "MAPPINGS",
    "calibrated",
    "calibration_errors",
    "mean_over_runs",
    "with_calibrated",
]

MAPPINGS = ("isotonic", "ordinal")
"""Ways to map scores to levels."""

AS_GIVEN = "as given"

FOLDS = 10
FEWEST_PARTICIPANTS = 5
"""Participants with ratings and scores below which no mapping is learned."""

_KEYS = {AS_GIVEN: "calibration_error_as_given", "isotonic": "calibration_error_isotonic"}
_UNIT = "level, difference"


_ERROR = "expected calibration error: mean over conversations of |mean rating - mean score| of their score's level"


def mean_over_runs(runs: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """One score per conversation: the mean over the runs of a judge that have one.

    Parameters
    ----------
    runs : mapping
        Run -> predictions, as :func:`sense7.judge.judges.read_runs` returns them for a judge.

    Returns
    -------
    DataFrame
        conversation, participant, ground_truth, score; in the order of the first run. Empty without a run, and its
        ``attrs["reason"]`` says so.

    Examples
    --------
    >>> run = pd.DataFrame({"conversation": ["C1"], "participant": ["P1"], "ground_truth": [4.0], "score": [3.0]})
    >>> mean_over_runs({"1": run, "2": run.assign(score=4.0), "3": run.assign(score=np.nan)})["score"].tolist()
    [3.5]
    """
    frames = list(runs.values())
    if not frames:
        nothing = pd.DataFrame(columns=["conversation", "participant", "ground_truth", "score"])
        nothing.attrs["reason"] = ABSENT
        return nothing
    scores = pd.concat([frame["score"].reset_index(drop=True) for frame in frames], axis=1)
    known = frames[0][["conversation", "participant", "ground_truth"]].reset_index(drop=True)
    return known.assign(score=scores.astype(float).mean(axis=1))


def calibrated(frame: pd.DataFrame, mapping: str = "isotonic") -> np.ndarray:
    """Scores mapped to the scale of the ratings, participants held out."""
    if mapping not in MAPPINGS:
        raise UserError(f"{mapping!r} is no mapping of scores. Choose one of {', '.join(MAPPINGS)}.")
    learn = _isotonic if mapping == "isotonic" else _ordinal
    score, truth = (frame[name].to_numpy(dtype=float) for name in ("score", "ground_truth"))
    people = frame["participant"].to_numpy(dtype=object)
    rated = np.isfinite(score) & np.isfinite(truth)
    number = len(pd.unique(people[rated]))
    if number < FEWEST_PARTICIPANTS:
        raise UserError(
            f"{count_of(number, 'participant')} with ratings and scores: too few to learn what a score is worth. Give "
            f"predictions of at least {FEWEST_PARTICIPANTS} participants' rated conversations."
        )
    mapped, scored = np.full(len(score), np.nan), np.flatnonzero(np.isfinite(score))
    groups = pd.factorize(people[scored])[0]
    for train, test in GroupKFold(min(FOLDS, number)).split(scored, groups=groups):
        known, new = scored[train][rated[scored[train]]], scored[test]
        if not len(known):
            raise UserError("All ratings are of one fold of participants. Give predictions of more participants.")
        mapped[new] = learn(score[known], truth[known], people[known])(score[new])
    return mapped


def _isotonic(score: np.ndarray, truth: np.ndarray, people: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
    return IsotonicRegression(out_of_bounds="clip").fit(score, truth).predict


def _ordinal(score: np.ndarray, truth: np.ndarray, people: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
    level = labels(truth)
    occurring = np.unique(level)
    fit = fit_cumulative_logit(level, score[:, None], pd.Series(people))
    if fit is None:
        if len(occurring) == 1 or np.ptp(score) == 0:
            return lambda new: np.full(len(new), level.mean())
        raise UserError(
            "The cumulative logit of the levels on the scores has no maximum: the scores part the levels without any "
            "overlap. Use the mapping isotonic."
        )

    def expected(new: np.ndarray) -> np.ndarray:
        above = expit(new[:, None] * fit.coefficients - fit.thresholds)
        return occurring[0] + above @ np.diff(occurring)

    return expected


def with_calibrated(frame: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Predictions as given and by every mapping that can be learned; without ground truth, rows stay as they are."""
    found = {AS_GIVEN: frame}
    for mapping in MAPPINGS:
        try:
            found[mapping] = frame.assign(score=calibrated(frame, mapping))
        except UserError as error:
            found[mapping] = frame.assign(score=np.nan)
            found[mapping].attrs["reason"] = frame.attrs.get("reason") or str(error)
    return found


def calibration_errors(frame: pd.DataFrame, bootstrap: ParticipantBootstrap) -> dict[str, pd.DataFrame]:
    r"""Expected calibration error before and after calibration.

    .. math:: ECE = \sum_{k=1}^{5} \frac{n_k}{n} \left| \bar y_k - \bar s_k \right|

    with :math:`\bar y_k` and :math:`\bar s_k` the mean rating and the mean score of the :math:`n_k` conversations
    whose score has the label k.

    Parameters
    ----------
    frame : DataFrame
        As for :func:`calibrated`; rows without rating or score do not count.
    bootstrap : ParticipantBootstrap
        Resamples of participants; mapped scores are held fixed.

    Returns
    -------
    dict
        "calibration": table of estimates by mapping; "drop": by how much calibration lowers the error of the same
        conversations.

    Notes
    -----
    Resamples would add their own chance to an error that is never below zero. So its interval and that of its drop
    are t intervals; that of the error ends at zero. Chance alone makes the error greater than zero, before
    calibration more than after: a drop of a few hundredths says nothing in a small study. Guo and others (2017), On
    calibration of modern neural networks, with levels for bins and distances for shares.

    Examples
    --------
    >>> people = [f"P{n}" for n in range(10)] * 4
    >>> frame = pd.DataFrame({"participant": people, "score": np.repeat([1.0, 2, 4, 5], 10)})
    >>> frame["ground_truth"] = frame["score"] / 2 + 2
    >>> bootstrap = ParticipantBootstrap(people, draws=100, seed=1)
    >>> calibration_errors(frame, bootstrap)["calibration"].loc[["as given", "isotonic"], "estimate"].tolist()
    [0.75, 0.0]
    """
    ways = with_calibrated(frame)
    sums = {way: _sums(frame) for way, frame in ways.items()}
    tables: dict[str, dict] = {"calibration": {}, "drop": {}}
    for way, (values, people) in sums.items():
        key = _KEYS.get(way, "")
        tables["calibration"][way] = _row(_ece, values, people, bootstrap, f"{way}: {_ERROR}", ways[way], key)
        if way != AS_GIVEN:
            before = sums[AS_GIVEN][0]
            both = np.stack([before, values], axis=1) if len(before) == len(values) else values[:0]
            method = f"{_ERROR}; as given minus {way}"
            tables["drop"][way] = _row(_ece_drop, both, people, bootstrap, method, ways[way])
    return {name: estimate_table(rows, "scores") for name, rows in tables.items()}


def _row(
    statistic: Callable,
    values: np.ndarray,
    people: pd.Series,
    bootstrap: ParticipantBootstrap,
    method: str,
    frame: pd.DataFrame,
    key: str = "",
) -> dict:
    if not len(values):
        reason = frame.attrs.get("reason") or "no conversation has both a rating and a score"
        return estimate_row(n=0, unit=_UNIT, method=method, reason=reason, key=key)
    found = bootstrap.estimate(statistic, values, people, OWN_SCALE)
    if statistic is _ece:
        found = found._replace(low=np.maximum(found.low, 0))
    how = bootstrap.describe(OWN_SCALE)
    return bootstrap.row(found, n=len(values), unit=_UNIT, method=method, how=how, key=key)


def _sums(frame: pd.DataFrame) -> tuple[np.ndarray, pd.Series]:
    """Per conversation: rating minus score in the column of the score's level, and 1."""
    known = frame[np.isfinite(frame["score"].astype(float)) & np.isfinite(frame["ground_truth"].astype(float))]
    values = np.zeros((len(known), len(LEVELS) + 1))
    values[:, -1] = 1
    apart = (known["ground_truth"] - known["score"]).to_numpy(dtype=float)
    values[np.arange(len(known)), labels(known["score"]).astype(int) - 1] = apart
    return values, known["participant"]


def _ece(sums: np.ndarray) -> np.ndarray:
    return np.abs(sums[..., :-1]).sum(axis=-1) / sums[..., -1]


def _ece_drop(sums: np.ndarray) -> np.ndarray:
    return _ece(sums[..., 0, :]) - _ece(sums[..., 1, :])
