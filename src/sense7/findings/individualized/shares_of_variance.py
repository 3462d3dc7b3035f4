"""Participants, conditions and context as shares of one variance."""

from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from sense7.arguments import check_arguments
from sense7.estimators.bootstrap import ParticipantBootstrap, sums_by_participant
from sense7.estimators.estimates import estimate_row, estimate_table
from sense7.estimators.least_squares import least_squares, within
from sense7.estimators.mixed import Nested
from sense7.findings.context.frame import CONTEXT, context_design, context_frame, not_varying
from sense7.findings.individualized.variance_components import (
    MODEL_DRAWS,
    VarianceModel,
    confounded,
    fit_variance_model,
)
from sense7.study import Study

__all__ = ["COMPARISON_KEYS", "CONTEXT_BASE_KEYS", "OneBase", "one_base"]

COMPARISON = ("participant", "condition and topic", "participant minus condition and topic")
COMPARISON_KEYS = {
    "participant": "participant_share",
    "condition and topic": "condition_and_topic_share",
    "participant minus condition and topic": "participant_share_beyond_condition_and_topic",
}
"""Rows of :attr:`OneBase.comparison` -> keys."""

CONTEXT_BASE = ("participant", "condition", "participant by condition", "context", "the rest")
CONTEXT_BASE_KEYS = {
    "participant": "one_base_share_participant",
    "condition": "one_base_share_condition",
    "participant by condition": "one_base_share_participant_by_condition",
    "context": "one_base_share_context",
    "the rest": "one_base_share_rest",
    "of the context: topic": "one_base_share_topic",
    "of the context: importance": "one_base_share_importance",
    "of the context: desired empathy": "one_base_share_desired_empathy",
}
"""Rows of :attr:`OneBase.shares` -> keys."""


@dataclass(frozen=True, eq=False)
class OneBase:
    """Shares of the variance of all conversations' ground truth, tables of estimates.

    Attributes
    ----------
    shares : DataFrame
        Participant, condition, participant by condition, context and the rest, which add up to one; then the topic, the
        importance and the desired empathy, each alone, which need not add up to the context.
    comparison : DataFrame
        Participant; condition and topic together; and the first minus the second.
    """

    shares: pd.DataFrame
    comparison: pd.DataFrame


_TOO_FEW_FOR_PARTS = "the conversations are too few, or too alike, to distinguish it from the other parts"


def one_base(study: Study, bootstrap: ParticipantBootstrap, draws: int = MODEL_DRAWS) -> OneBase:
    r"""Shares of participants, conditions and context of one base, the variance of all conversations' ground truth.

    Participants, participant by condition and the conversations' residual variance are REML estimates with conditions
    fixed; the condition's variance is that of
    :func:`~sense7.findings.individualized.variance_components.variance_of_effects`. The context's is the fall of the
    mean square within participants when its columns are added to the conditions',

    .. math:: \frac{\mathrm{RSS}_{c}}{n - G - r_c} - \frac{\mathrm{RSS}_{c + x}}{n - G - r_{c + x}}

    with n conversations, G participants and r the rank of the columns. It is taken off the residual variance.
    Both are zero on average where there is no effect, and single estimates may be negative. What people's
    choice of context has in common with their level belongs to *participant*.

    Parameters
    ----------
    study : Study
        The data. Conversations without a condition, or without a context that others have, are left out.
    bootstrap : ParticipantBootstrap
        Its first ``draws`` resamples. Resampling inflates what is explained: the draws of the rows with a
        condition or a context are moved so that their mean is the estimate.
    draws : int
        Largest number of resamples; the model is fitted in each.

    Returns
    -------
    OneBase
        Estimates with intervals; n counts conversations. Where there is no topic, participants are compared with
        conditions alone, and the other way round; where there is neither, there is no comparison.
    """
    frame, words = context_frame(study), "ground truth of a conversation"
    frame = frame.assign(conversation=range(len(frame)), **({} if study.conditions else {"condition": ""}))
    frame = frame[frame["condition"].notna() & frame["participant"].notna()]
    given = [name for name in CONTEXT if not not_varying(frame, name)]
    frame = frame[frame[given].notna().all(axis=1)]
    # Rows that are left out may take the variation with them.
    given = [name for name in given if not not_varying(frame, name)]
    reason, model = fit_variance_model(frame, words, turns=False)
    method, unit = f"{words}: mixed model with conditions fixed, context within participants", "share of the variance"
    alone = [f"of the context: {short}" for short in CONTEXT.values()]
    if reason:
        none = estimate_row(n=len(frame), unit=unit, method=method, reason=reason)
        return OneBase(
            estimate_table(dict.fromkeys((*CONTEXT_BASE, *alone), none), "part"),
            estimate_table(dict.fromkeys(COMPARISON, none), "share"),
        )
    own = replace(bootstrap, draws=min(bootstrap.draws, draws))
    drawn, weights = model.resampled(own, frame["participant"])
    sums, columns = _context_sums(frame, given, model.sums.participants)
    one_condition = model.counts.shape[1] < 2

    def parts(fit: Nested, of: np.ndarray | None) -> np.ndarray:
        """Shares: those of the base, of each context alone, and the comparison."""
        context = _context_variances(sums.sum(axis=0) if of is None else of @ sums, columns)
        condition = np.zeros(fit.variances.shape[:-1]) if one_condition else model.of_conditions(fit, of)
        people, both, rest = (fit.variances[..., place] for place in (0, 1, 3))
        together = condition + context["topic"]
        every = np.stack(
            [
                *(people, condition, both, context["all"], rest - context["all"]),
                *(context[name] for name in CONTEXT),
                *(people, together, people - together),
            ],
            axis=-1,
        )
        return every / (people + condition + both + rest)[..., None]

    estimates, in_draws = parts(model.fit, None), parts(drawn, weights)
    undefined = _undefined_on_base(study, frame, given, one_condition, model)
    rows = {}
    for place, (name, known) in enumerate(undefined):
        why = known or ("" if np.isfinite(estimates[place]) else _TOO_FEW_FOR_PARTS)
        explained = name not in ("participant", "participant by condition")
        shift = estimates[place] if explained and np.isfinite(estimates[place]) else None
        interval = own.interval(in_draws[:, place], frame["participant"], shift_to=shift)
        found = (np.nan, np.nan, np.nan, "") if why else (estimates[place], *interval)
        rows[place] = own.row(found, n=len(frame), unit=unit, method=method, undefined=why)
    names, count = [name for name, _ in undefined], len(CONTEXT_BASE) + len(CONTEXT)
    return OneBase(
        estimate_table({names[place]: rows[place] for place in range(count)}, "part"),
        estimate_table({names[place]: rows[place] for place in range(count, len(names))}, "share"),
    )


def _undefined_on_base(study, frame, given, one_condition: bool, model: VarianceModel) -> list[tuple[str, str]]:
    """Rows of both tables of :class:`OneBase`, each with why it has no estimate, or ""."""
    no_condition = "there is one condition only" if study.conditions else "no conversation has a condition"
    no_condition = no_condition if one_condition else ""
    no_interaction = "" if model.sums.free[1] else confounded("participant by condition", frame)
    no_context = "" if given else "nothing of the context varies in this data set"
    of_context = [(f"of the context: {CONTEXT[name]}", not_varying(frame, name)) for name in CONTEXT]
    nothing = "neither condition nor topic varies in this data set" if one_condition and "topic" not in given else ""
    parts = zip(CONTEXT_BASE, ("", no_condition, no_interaction, no_context, ""), strict=True)
    return [*parts, *of_context, *zip(COMPARISON, ("", nothing, nothing), strict=True)]


def _context_sums(frame: pd.DataFrame, given: list, names: pd.Index) -> tuple[np.ndarray, dict[str, list[int]]]:
    """Cross products within participants, rows and one, summed by participant; columns of each context."""
    conditions = context_design(frame, ["condition"])
    pieces, columns, start = [conditions], {"condition": list(range(conditions.shape[1]))}, conditions.shape[1]
    for name in given:
        piece = context_design(frame, [name])
        pieces.append(piece)
        columns[name] = list(range(start, start + piece.shape[1]))
        start += piece.shape[1]
    z = within(np.column_stack([*pieces, frame["y"]]), frame["participant"])
    codes = names.get_indexer(frame["participant"])
    products = sums_by_participant(z[:, :, None] * z[:, None, :], codes, len(names)).reshape(len(names), -1)
    return np.column_stack([products, np.bincount(codes, minlength=len(names)), np.ones(len(names))]), columns


def _context_variances(sums: np.ndarray, columns: dict[str, list[int]]) -> dict[str, np.ndarray]:
    """Fall of the mean square within participants by each context, and by all ("all"); zero where it was not given."""
    width = round(np.sqrt(sums.shape[-1] - 2))
    cross = sums[..., : width * width].reshape(*sums.shape[:-1], width, width)
    freedom = np.round(sums[..., -2] - sums[..., -1])

    def mean_square(names) -> np.ndarray:
        kept = [place for name in names for place in columns[name]] + [width - 1]
        _, residual, rank = least_squares(cross[..., kept, :][..., kept])
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(freedom - rank > 0, residual / (freedom - rank), np.nan)

    without = mean_square(["condition"])
    found = {
        name: without - mean_square(["condition", name]) if name in columns else np.zeros_like(without)
        for name in CONTEXT
    }
    return found | {"all": without - mean_square(list(columns))}


check_arguments(globals())
