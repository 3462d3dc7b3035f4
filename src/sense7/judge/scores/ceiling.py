r"""How well a judge that sees only the text could do at all: the noise ceiling.

Each conversation has one rater. So what the text explains and that person's own reaction can't be
distinguished, and the share s of the ratings' variance that the text explains (the *content share*) is
not identified: it can't be estimated from these data. What can be computed is the ceiling for
every s, the largest s that the variance between participants leaves (under an assumption), and the
smallest s that a given judge's result needs.

The model: behind the ground truth of a conversation lies a normal variable,

.. math:: y = \sqrt{s}\, c + \sqrt{1 - s}\, e, \quad c, e \sim N(0, 1) \text{ independent}.

The best judge knows c, the content, and nothing of e. Spearman's correlation depends on y's order
only, so that y may be any increasing function of the ground truth. For a normal pair (Pearson 1907) it is

.. math:: \rho = \frac{6}{\pi} \arcsin \frac{\sqrt{s}}{2}, \quad s = \left(2 \sin \frac{\pi \rho}{6}\right)^2

without ties. Ties, of labels or of scores, lower it: this is a ceiling for any number of levels.

References
----------
Pearson, K. (1907). On further methods of determining correlation. Drapers' Company Research
Memoirs, Biometric Series IV.
"""

from collections.abc import Mapping

import numpy as np
import pandas as pd

from sense7.findings.core import finding, value_row
from sense7.findings.individualized import variance_shares
from sense7.judge.files import Run
from sense7.judge.scores.judges import ABSENT
from sense7.judge.scores.metrics import METRICS, OverRuns
from sense7.statistics.bootstrap import ParticipantBootstrap
from sense7.statistics.estimates import COLUMNS, estimate_row, estimate_table
from sense7.study import Study

__all__ = [
    "PUBLISHED",
    "content_share_bound",
    "content_share_itself",
    "judge_results",
    "shares_needed",
]

PUBLISHED = 0.369
"""Spearman correlation of the paper's classifier, from the abstract (grade A); as in data/claims.yml."""

_UNIT = "share of the variance"
_NAMES = {
    "published classifier": "published",
    "published classifier (on other data)": "published",
    "baseline: words per turn": "words_per_turn",
}
"""Judges that are in every edition -> their name in keys."""


def best_correlation(share: np.ndarray) -> np.ndarray:
    """Spearman's correlation of the best judge that sees only the text, at a content share from 0 to 1."""
    return 6 / np.pi * np.arcsin(np.sqrt(share) / 2)


def content_share_needed(rho: np.ndarray) -> np.ndarray:
    """The smallest content share with which a judge that sees only the text could reach a Spearman correlation."""
    return (2 * np.sin(np.pi * np.maximum(rho, 0) / 6)) ** 2


@finding
def shares_needed(judges: pd.DataFrame) -> pd.DataFrame:
    """The smallest content shares that judges' correlations need, if they saw only the text.

    Parameters
    ----------
    judges : DataFrame
        From :func:`judge_results`.

    Returns
    -------
    DataFrame
        One row per judge: estimate (0..1), low, high, n (conversations of the judge's result), unit,
        method, reason. The interval is the correlation's, carried over.
    """
    of_result = "content share whose ceiling is the judge's Spearman correlation; latent normal"
    judges_of_data = 0
    rows = {}
    for label, result in judges.iterrows():
        name = _NAMES.get(label)
        if name is None:
            judges_of_data += 1
            name = f"judge_{judges_of_data}"
        correlations = result[["estimate", "low", "high"]].to_numpy(dtype=float)
        method = of_result
        if np.isfinite(correlations).all():
            method += "; the correlation's interval, participants resampled, carried over"
        rows[label] = estimate_row(
            *content_share_needed(correlations),
            n=int(result["n"]),
            unit=_UNIT,
            method=method,
            reason=result["reason"],
            key=f"ceiling_needed_{name}",
        )
    if not judges_of_data:
        key = "ceiling_needed_judge_1"
        rows["a judge"] = estimate_row(n=0, unit=_UNIT, method=of_result, reason=ABSENT, key=key)
    return estimate_table(rows, "judge")


@finding
def content_share_itself() -> dict:
    """The content share, which no data with one rater of each conversation can estimate: a value with its reason.

    Examples
    --------
    >>> content_share_itself()["estimate"] is None
    True
    """
    return value_row(
        "content_share",
        None,
        n=0,
        unit=_UNIT,
        method="share of the ground truth's variance that the content of the text explains",
        reason="not identified: each conversation was rated by one person, who also had it",
    )


def judge_results(
    study: Study,
    judges: Mapping[str, Mapping[str, Run]],
    bootstrap: ParticipantBootstrap | None = None,
    baselines: pd.DataFrame | None = None,
) -> pd.DataFrame:
    """Correlations of the published classifier, of the judges that are available, and of the words per turn.

    Parameters
    ----------
    study : Study
        The data. The published classifier's name says that its result is from other data, unless this is the release.
    judges : mapping
        As :func:`sense7.judge.scores.judges.read_runs` returns it.
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
    for name, runs in judges.items():
        rows[name] = OverRuns(runs, bootstrap).mean.loc["spearman"]
    if baselines is not None:
        rows[words_per_turn] = baselines.loc[("spearman", "words per turn")]
    rows = {name: {column: row[column] for column in COLUMNS} for name, row in rows.items()}
    return estimate_table(rows, "judge")


@finding
def content_share_bound(study: Study, bootstrap: ParticipantBootstrap) -> pd.DataFrame:
    r"""Upper bound of the content share, if participants' levels are their own, and the ceiling there.

    A judge sees the text of one conversation. **If** nothing in the text says who rates strictly, the variance between
    participants is no content. All the rest may be: differences of conditions, a person's interaction with one (the
    assistant may answer them differently there), and the single conversation with its rater's passing mood. So the
    bound is one minus the participants' share of :func:`sense7.findings.individualized.variance_shares`.

    The truth lies anywhere below: that a part *may* be content does not make it content. Nor is the bound safe if
    the assumption fails: people who write differently and rate differently give themselves away by the text, and then
    part of the variance between them is content.

    Parameters
    ----------
    study : Study
        The data.
    bootstrap : ParticipantBootstrap
        Its first resamplings; the model is fitted in each.

    Returns
    -------
    DataFrame
        Rows for the content share and for Spearman's correlation; n counts conversations. Where the design can't tell
        the participants' part, a reason in place of both. If each participant met one condition only, interactions are
        part of the participant's, and are taken off with it.
    """
    of_participants = variance_shares(study, bootstrap).loc["participant"]
    bound = 1 - of_participants[["estimate", "high", "low"]].to_numpy(dtype=float)
    # Where the estimated variance of conditions is negative, a share may be above 1.
    bound = bound.clip(min=0)
    common = {"n": of_participants["n"], "reason": of_participants["reason"]}
    rows = {
        "content share": estimate_row(
            *bound,
            unit=_UNIT,
            method=f"one minus the participants' share: {of_participants['method']}",
            key="ceiling_bound_participant",
            **common,
        ),
        "Spearman correlation": estimate_row(
            *best_correlation(bound),
            unit="correlation",
            method=f"ceiling at one minus the participants' share: {of_participants['method']}",
            key="ceiling_at_bound_spearman",
            **common,
        ),
    }
    return estimate_table(rows, "if participants' levels carry no content")
