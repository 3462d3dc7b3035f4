"""Participants, conditions and context as shares of one variance."""

from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from sense7.arguments import check_arguments
from sense7.estimators.bootstrap import ParticipantBootstrap, sums_by_participant
from sense7.estimators.estimates import Estimate, estimate_row, estimate_table
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

__all__ = ["VarianceShares", "variance_shares"]

_COMPARISON = {
    "participant": "participant_share",
    "condition and topic": "condition_and_topic_share",
    "participant minus condition and topic": "participant_share_beyond_condition_and_topic",
}
"""Rows of :attr:`VarianceShares.comparison` -> keys."""

_SHARES = {
    "participant": "one_base_share_participant",
    "condition": "one_base_share_condition",
    "participant by condition": "one_base_share_participant_by_condition",
    "context": "one_base_share_context",
    "the rest": "one_base_share_rest",
    "of the context: topic": "one_base_share_topic",
    "of the context: importance": "one_base_share_importance",
    "of the context: desired empathy": "one_base_share_desired_empathy",
}
"""Rows of :attr:`VarianceShares.shares` -> keys."""


@dataclass(frozen=True, eq=False)
class VarianceShares:
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


def variance_shares(study: Study, bootstrap: ParticipantBootstrap, draws: int = MODEL_DRAWS) -> VarianceShares:
    r"""Return shares of participants, conditions and context in the variance of all conversations' ground truth.

    Participants, participant by condition and the conversations' residual variance are REML estimates with conditions
    fixed; the condition's variance is that of
    :func:`~sense7.findings.individualized.variance_components.variance_of_effects`. The context's is the fall of the
    mean square within participants when its columns are added to the conditions',

    .. math:: \frac{\mathrm{RSS}_{c}}{n - G - r_c} - \frac{\mathrm{RSS}_{c + x}}{n - G - r_{c + x}}

    with n conversations, G participants and r the rank of the columns. It is subtracted from the residual variance.
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
    VarianceShares
        Estimates with intervals; n counts conversations. Where there is no topic, participants are compared with
        conditions alone, and the other way round; where there is neither, there is no comparison.
    """
    frame, words = context_frame(study), "ground truth of a conversation"
    frame = frame.assign(conversation=range(len(frame)), **({} if study.conditions else {"condition": ""}))
    frame = frame[frame["condition"].notna() & frame["participant"].notna()]
    varying = [name for name in CONTEXT if not not_varying(frame, name)]
    frame = frame[frame[varying].notna().all(axis=1)]
    # The rows that are left out may have been the only ones that varied.
    varying = [name for name in varying if not not_varying(frame, name)]
    reason, model = fit_variance_model(frame, words, turns=False)
    method, unit = f"{words}: mixed model with conditions fixed, context within participants", "share of the variance"
    common = {"n": len(frame), "unit": unit, "method": method}
    if reason:
        none = estimate_row(**common, reason=reason)
        return _tables([none] * (len(_SHARES) + len(_COMPARISON)))
    own = replace(bootstrap, draws=min(bootstrap.draws, draws))
    sums, columns = _context_sums(frame, varying, model.sums.participants)
    estimates = _shares(model, sums, columns, model.fit)
    draws_of = _shares(model, sums, columns, *model.resampled(own, frame["participant"]))
    rows = []
    for i, (name, undefined) in enumerate(_undefined_shares(study, frame, varying, model)):
        if why := undefined or ("" if np.isfinite(estimates[i]) else _TOO_FEW_FOR_PARTS):
            rows.append(estimate_row(**common, reason=why))
            continue
        # Resampling inflates what is explained.
        shift = None if name in ("participant", "participant by condition") else estimates[i]
        interval = own.interval(draws_of[:, i], frame["participant"], shift_to=shift)
        rows.append(own.row(Estimate(estimates[i], *interval), **common, undefined=_TOO_FEW_FOR_PARTS))
    return _tables(rows)


def _tables(rows: list[dict]) -> VarianceShares:
    """Both tables from their rows, those of the shares first."""
    shares, comparison = rows[: len(_SHARES)], rows[len(_SHARES) :]
    return VarianceShares(
        estimate_table(dict(zip(_SHARES, shares, strict=True)), "part", _SHARES),
        estimate_table(dict(zip(_COMPARISON, comparison, strict=True)), "share", _COMPARISON),
    )


def _shares(
    model: VarianceModel,
    sums: np.ndarray,
    columns: dict[str, list[int]],
    fit: Nested,
    weights: np.ndarray | None = None,
) -> np.ndarray:
    """Shares in a fit, or in the fits of resamples: of the base, of each context alone, and the comparison."""
    context = _context_variances(sums.sum(axis=0) if weights is None else weights @ sums, columns)
    one_condition = model.counts.shape[1] < 2
    condition = np.zeros(fit.variances.shape[:-1]) if one_condition else model.of_conditions(fit, weights)
    people, interaction, rest = (fit.variances[..., component] for component in (0, 1, 3))
    together = condition + context["topic"]
    parts = np.stack(
        [
            *(people, condition, interaction, context["all"], rest - context["all"]),
            *(context[name] for name in CONTEXT),
            *(people, together, people - together),
        ],
        axis=-1,
    )
    return parts / (people + condition + interaction + rest)[..., None]


def _undefined_shares(study, frame, varying, model: VarianceModel) -> list[tuple[str, str]]:
    """Rows of both tables, each with why it has no estimate, or ""."""
    one_condition = model.counts.shape[1] < 2
    no_condition = "there is one condition only" if study.conditions else "no conversation has a condition"
    no_condition = no_condition if one_condition else ""
    no_interaction = "" if model.sums.free[1] else confounded("participant by condition", frame)
    no_context = "" if varying else "nothing of the context varies in this data set"
    of_context = [not_varying(frame, name) for name in CONTEXT]
    nothing = "neither condition nor topic varies in this data set" if one_condition and "topic" not in varying else ""
    reasons = ["", no_condition, no_interaction, no_context, "", *of_context, "", nothing, nothing]
    return list(zip((*_SHARES, *_COMPARISON), reasons, strict=True))


def _context_sums(frame: pd.DataFrame, varying: list, names: pd.Index) -> tuple[np.ndarray, dict[str, list[int]]]:
    """Cross products within participants, rows and one, summed by participant; columns of each context."""
    conditions = context_design(frame, ["condition"])
    designs, columns, start = [conditions], {"condition": list(range(conditions.shape[1]))}, conditions.shape[1]
    for name in varying:
        design = context_design(frame, [name])
        designs.append(design)
        columns[name] = list(range(start, start + design.shape[1]))
        start += design.shape[1]
    z = within(np.column_stack([*designs, frame["y"]]), frame["participant"])
    codes = names.get_indexer(frame["participant"])
    products = sums_by_participant(z[:, :, None] * z[:, None, :], codes, len(names)).reshape(len(names), -1)
    return np.column_stack([products, np.bincount(codes, minlength=len(names)), np.ones(len(names))]), columns


def _context_variances(sums: np.ndarray, columns: dict[str, list[int]]) -> dict[str, np.ndarray]:
    """Fall of the mean square within participants by each context, and by all ("all"); zero where it does not vary."""
    width = round(np.sqrt(sums.shape[-1] - 2))
    cross = sums[..., : width * width].reshape(*sums.shape[:-1], width, width)
    freedom = np.round(sums[..., -2] - sums[..., -1])

    def mean_square(names) -> np.ndarray:
        kept = [column for name in names for column in columns[name]] + [width - 1]
        _, residual, rank = least_squares(cross[..., kept, :][..., kept])
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(freedom - rank > 0, residual / (freedom - rank), np.nan)

    without = mean_square(["condition"])
    falls = {
        name: without - mean_square(["condition", name]) if name in columns else np.zeros_like(without)
        for name in CONTEXT
    }
    return falls | {"all": without - mean_square(list(columns))}


check_arguments(globals())
