"""Every specification of the judge's correlation with the users' ratings: the multiverse of a judge.

Its choices are declared with those of the other headlines, in
:data:`sense7.findings.robustness.HEADLINES`; predictions are known here.
"""

from collections.abc import Mapping

import numpy as np
import pandas as pd

from sense7.arguments import check_arguments
from sense7.estimators.bootstrap import ParticipantBootstrap
from sense7.estimators.estimates import Estimate, estimate_row, estimate_table
from sense7.estimators.ranks import spearman_in_draws
from sense7.findings.ground_truth import ground_truth, labels, other_ground_truths
from sense7.findings.robustness import HEADLINES, REPLIES, RUNS, TRUTHS, specifications
from sense7.judge.predictions import counted_scores
from sense7.judge.scoring.available_judges import ABSENT
from sense7.study import Study
from sense7.taxonomy import SIMULATED_WORDS

__all__ = ["judge_multiverse"]

_HEADLINE = "judge_spearman"


def judge_multiverse(
    study: Study, judges: Mapping[str, Mapping[str, pd.DataFrame]], judge: str, bootstrap: ParticipantBootstrap
) -> pd.DataFrame:
    """Return Spearman's correlation of a judge's scores with the users' ratings in every specification."""
    chosen = specifications(_HEADLINE)
    truths, scores = _truths(study), {policy: _scores(judges.get(judge, {}), policy) for policy in REPLIES}
    prefix = f"{SIMULATED_WORDS}: " if judge in getattr(judges, "simulated", ()) else ""
    people = study.conversations["participant"]
    known: dict[bytes, tuple] = {}

    def correlate(truth: np.ndarray, score: np.ndarray) -> tuple:
        content = np.stack([truth, score]).tobytes()
        if content not in known:
            known[content] = _correlation(truth, score, people, bootstrap)
        return known[content]

    rows = {}
    for number, choice in chosen.iterrows():
        runs, method = scores[choice["replies without a score"]], f"{prefix}Spearman's rho, {choice['runs']}"
        if not judge:
            rows[number] = _row(n=0, method=method, reason=ABSENT)
            continue
        truth = truths[choice["ground truth"]]
        found = [correlate(truth, score) for score in _used(runs, choice["runs"])]
        rows[number] = _mean_row(found, method, people, bootstrap)
    return chosen.join(estimate_table(rows, "specification"))


def _truths(study: Study) -> dict[str, np.ndarray]:
    """Rating of each conversation by its users, in each way."""
    truth = ground_truth(study.turns, study.conversations["conversation"]).to_numpy()
    others = other_ground_truths(study)
    return dict(zip(TRUTHS, (truth, labels(truth), *(others[name].to_numpy() for name in TRUTHS[2:])), strict=True))


def _scores(runs: Mapping[str, pd.DataFrame], replies: str) -> np.ndarray:
    """Score of each run and conversation, NaN where there is none: shape (runs, conversations)."""
    policy = "strict" if replies == REPLIES[0] else "authors"
    scores = [counted_scores(frame, policy) for frame in runs.values()]
    return np.stack(scores) if scores else np.zeros((0, 0))


def _used(scores: np.ndarray, runs: str) -> np.ndarray:
    """Scores that are correlated: of all runs, of the first, or each conversation's median over those that have one."""
    if runs == RUNS[2]:
        return pd.DataFrame(scores).median().to_numpy()[None]
    return scores[:1] if runs == RUNS[1] else scores


def _correlation(truth, score, people: pd.Series, bootstrap: ParticipantBootstrap) -> tuple:
    """Correlation, that of every resample (None without an interval), conversations, and why something is lacking."""
    both = np.isfinite(truth) & np.isfinite(score)
    n, who = int(both.sum()), people[both]
    if n < 2 or not np.ptp(truth[both]) or not np.ptp(score[both]):
        return np.nan, None, n, "fewer than two conversations have both, or one of the two does not vary"
    estimate = spearman_in_draws(truth[both], score[both], np.ones((1, n)))[0]
    if reason := bootstrap.too_few(who):
        return estimate, None, n, reason
    codes = bootstrap.codes(who)
    draws = bootstrap.in_every_draw(lambda weights: spearman_in_draws(truth[both], score[both], weights, codes))
    return estimate, draws, n, ""


def _mean_row(found: list[tuple], method: str, people: pd.Series, bootstrap: ParticipantBootstrap) -> dict:
    estimates, draws, counts, reasons = zip(*found, strict=True)
    if reason := next(filter(None, reasons), ""):
        return _row(float(np.mean(estimates)), n=max(counts), method=method, reason=reason)
    estimate = Estimate(float(np.mean(estimates)), *bootstrap.interval(np.mean(draws, axis=0), people))
    return bootstrap.row(estimate, n=max(counts), unit=HEADLINES[_HEADLINE].unit, method=method)


def _row(estimate: float = np.nan, *, n: int, method: str, reason: str) -> dict:
    return estimate_row(estimate, n=n, unit=HEADLINES[_HEADLINE].unit, method=method, reason=reason)


check_arguments(globals())
