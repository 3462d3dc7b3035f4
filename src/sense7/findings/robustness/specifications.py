"""Specifications of the abstract's three findings: how each is computed.

Each function takes a study, prepares the ratings that specifications share, and returns a function from a
specification to a row of estimates. The choices themselves are declared in
:data:`sense7.findings.robustness.headlines.HEADLINES`.
"""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pandas as pd

from sense7.arguments import check_arguments
from sense7.estimators.bootstrap import ParticipantBootstrap
from sense7.estimators.estimates import Estimate, estimate_row
from sense7.estimators.least_squares import NEGLIGIBLE
from sense7.estimators.mixed import fit_nested, nested_sums
from sense7.findings.context.frame import CONTEXT, MOST_DRAWS
from sense7.findings.context.shares import EXPLAINED, WITHIN, adjusted_share_row
from sense7.findings.disrupted.failures import continuity_contrast
from sense7.findings.ground_truth import ground_truth
from sense7.findings.individualized import variance_components
from sense7.findings.measures import POOR
from sense7.study import Study

__all__ = ["FAILURES", "MISSING", "participants_share"]

MISSING = ("ratings given", "complete turns only")
RATINGS = ("mean of the conversation", "overall rating")
TURN_RATINGS = ("mean of the conversation", "mean of the turn", "overall rating of the turn")
REMOVED = ("removed", "kept")
FEWEST_CONVERSATIONS = 4
PEOPLE = ("all", f"{FEWEST_CONVERSATIONS} conversations or more")
CONTEXTS = {
    "all of it": ("topic", "importance", "desired_empathy"),
    "topic alone": ("topic",),
    "importance and wish": ("importance", "desired_empathy"),
}
"""Variables of the context: words -> columns."""

MOMENTS = ("next turn", "same turn")
CONTINUITY_RATINGS = ("mean of the rated dimensions", "overall rating")
FAILURES = (f"at most {POOR}", f"at most {POOR + 1}")

MODEL_DRAWS = 100
"""A mixed model is fitted in every resample of a specification, so there are few; the first has those of its page."""

OF_VARIANCE = "share of the variance"

Compute = Callable[[dict, ParticipantBootstrap], dict]


def _turn_means(study: Study, missing: str) -> pd.Series:
    """Mean over the rated dimensions of each turn; of complete turns only, NaN elsewhere."""
    levels = study.turns[study.rated_dimensions].astype(float)
    return levels.mean(axis=1, skipna=missing == MISSING[0]) if study.rated_dimensions else levels.sum(axis=1) * np.nan


def _conversation_means(study: Study, rating: str, missing: str) -> np.ndarray:
    """Rating of each conversation: the ground truth, its mean over complete turns, or the mean overall rating."""
    names = study.conversations["conversation"]
    if rating == TURN_RATINGS[0] and missing == MISSING[0]:
        return ground_truth(study.turns, names).to_numpy(dtype=float)
    of_turn = _turn_means(study, missing) if rating == TURN_RATINGS[0] else study.turns["overall"].astype(float)
    return of_turn.groupby(study.turns["conversation"]).mean().reindex(names).to_numpy(dtype=float)


def _without_conditions(frame: pd.DataFrame) -> pd.Series:
    """Ratings minus the mean of their condition."""
    return frame["y"] - frame.groupby(frame["condition"].fillna(""))["y"].transform("mean")


def participants_share(study: Study) -> Compute:
    r"""Return participants' share of the variance of ratings, by the mixed model of the page on individual judgments.

    Choices: which rating of what unit; the rule for missing ratings; conditions removed as fixed effects, or kept, so
    that they are part of the variance; and participants with few conversations left out or not. The model is that of
    :func:`sense7.findings.individualized.variance_components.variance_parts`.

    Parameters
    ----------
    study : Study
        The data.

    Returns
    -------
    callable
        Of a specification and a bootstrap; returns a row of estimates. The first specification uses as many
        resamples as the page on individual judgments, the others 100.
    """
    rated: dict[tuple[str, str], pd.DataFrame] = {}

    def compute(choice: dict, bootstrap: ParticipantBootstrap) -> dict:
        key = choice["rating"], choice["missing"]
        if key not in rated:
            rated[key] = _rows_of_model(study, *key)
        frame = rated[key]
        if choice["participants"] == PEOPLE[1]:
            counts = frame.groupby("participant")["conversation"].nunique()
            frame = frame[frame["participant"].map(counts) >= FEWEST_CONVERSATIONS]
        common = {"n": len(frame), "unit": OF_VARIANCE, "method": "mixed model, REML: participants' share"}
        if reason := _why_no_model(frame):
            return estimate_row(**common, reason=reason)
        names = sorted(frame["condition"].unique())
        design = np.column_stack([frame["condition"] == name for name in names]).astype(float)
        design = design if choice["conditions"] == REMOVED[0] else np.ones((len(frame), 1))
        groups = None if choice["rating"] == TURN_RATINGS[0] else frame["conversation"]
        sums = nested_sums(frame["y"].to_numpy(), design, frame["participant"], frame["condition"], groups)
        fit = fit_nested(sums)
        if not np.isfinite(fit.variances).all() or fit.variances[3] < NEGLIGIBLE:
            return estimate_row(**common, reason="too few conversations for the model under this specification")
        first = list(choice.values()) == [TURN_RATINGS[0], MISSING[0], REMOVED[0], PEOPLE[0]]
        most = variance_components.MODEL_DRAWS if first else MODEL_DRAWS
        own = replace(bootstrap, draws=min(bootstrap.draws, most))
        draws = np.full(own.draws, np.nan)
        if not own.too_few(frame["participant"]):
            weights = own.weights()[:, own.names.get_indexer(sums.participants)]
            draws = _first_share(fit_nested(sums, weights, fit.variances[:3] / fit.variances[3]).variances)
        share = Estimate(float(_first_share(fit.variances)), *own.interval(draws, frame["participant"]))
        return own.row(share, **common)

    return compute


def _rows_of_model(study: Study, rating: str, missing: str) -> pd.DataFrame:
    """Rated conversations or turns with a condition: participant, condition, conversation, y."""
    if rating == TURN_RATINGS[0]:
        frame = study.conversations[["participant", "condition", "conversation"]].copy()
        frame["y"] = _conversation_means(study, rating, missing)
    else:
        frame = study.turns[["participant", "condition", "conversation"]].copy()
        overall = rating == TURN_RATINGS[2]
        frame["y"] = study.turns["overall"].astype(float) if overall else _turn_means(study, missing)
    if not study.conditions:
        frame["condition"] = ""
    return frame[frame[["y", "condition", "participant"]].notna().all(axis=1)]


def _why_no_model(frame: pd.DataFrame) -> str:
    """Why a specification's rows have no participants' share; "" if they may have one."""
    conversations = frame.groupby("participant")["conversation"].nunique()
    if len(conversations) < 2 or conversations.max() < 2:
        return "under this specification no two participants have ratings, or none of two conversations"
    return "the ratings do not vary under this specification" if np.ptp(frame["y"]) < NEGLIGIBLE else ""


def _first_share(variances: np.ndarray) -> np.ndarray:
    # At the level of conversations the third part is zero and the fourth is the conversation.
    return variances[..., 0] / variances.sum(axis=-1)


def context_explains(study: Study) -> Compute:
    """Return the share of the variance within participants that context explains, as on the page on context.

    Choices: which rating of a conversation; the rule for missing ratings; conditions' means kept in the ratings, as on
    that page, or removed; and which variables are the context. The adjusted share is that of
    :func:`sense7.findings.context.shares.context_shares`.

    Parameters
    ----------
    study : Study
        The data.

    Returns
    -------
    callable
        Of a specification and a bootstrap, of which as many resamples are used as on that page; returns a row of
        estimates.
    """
    whole = study.conversations[["participant", "condition", *CONTEXT]]
    rated: dict[tuple[str, str], pd.DataFrame] = {}

    def compute(choice: dict, bootstrap: ParticipantBootstrap) -> dict:
        key = choice["rating"], choice["missing"]
        if key not in rated:
            frame = whole.assign(y=_conversation_means(study, *key))
            rated[key] = frame[frame["y"].notna()]
        frame = rated[key]
        names = [name for name in CONTEXTS[choice["context"]] if len(frame[name].dropna().unique()) > 1]
        frame = frame[frame[names].notna().all(axis=1)]
        if not names or frame.empty:
            reason = f"context, {choice['context']}: not given, or the same in all conversations"
            return estimate_row(n=len(frame), unit=WITHIN, method=EXPLAINED, reason=reason)
        if choice["conditions"] == REMOVED[0]:
            frame = frame.assign(y=_without_conditions(frame))
        own = replace(bootstrap, draws=min(bootstrap.draws, MOST_DRAWS))
        undefined = "too few conversations of the same participant, or their ratings do not vary"
        return adjusted_share_row(frame, names, own, undefined)

    return compute


def continuity_fails(study: Study) -> Compute:
    """Return how much more ratings fall with a failure of Relational than with one of another dimension.

    Choices: the turn and the rating of the loss, the level that is called a failure, and whether first turns
    count. See :func:`sense7.findings.disrupted.failures.continuity_contrasts`.

    Parameters
    ----------
    study : Study
        The data.

    Returns
    -------
    callable
        Of a specification and a bootstrap; returns a row of estimates.
    """

    def compute(choice: dict, bootstrap: ParticipantBootstrap) -> dict:
        moment = choice["moment"].split()[0]
        rating = "dimensions" if choice["rating"] == CONTINUITY_RATINGS[0] else "overall"
        poor = POOR + FAILURES.index(choice["failure"])
        first_turn = 2 if choice["exclusions"] == "first turns" else 1
        return continuity_contrast(study, bootstrap, moment, rating, poor=poor, first_turn=first_turn)

    return compute


check_arguments(globals())
