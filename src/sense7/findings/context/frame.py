"""Context and ground truth of the conversations, and the columns of models of them.

Conversations differ in context, and so do the people who had them. So effects are estimated within participants: each
person's conversations are compared with that person's own mean. Demeaned cross products are sums over participants, so
that resampling them is exact.
"""

import numpy as np
import pandas as pd

from sense7.arguments import check_arguments
from sense7.findings.ground_truth import ground_truth
from sense7.study import Study

__all__ = []

CONTEXT = {"topic": "topic", "importance": "importance", "desired_empathy": "desired empathy"}
"""What is known of a conversation before it begins: column -> words."""
STEPS = ("importance", "desired_empathy")

MOST_DRAWS = 2_000
"""Largest number of resamples where each costs an eigendecomposition or a permutation; ``method`` says so."""


def context_frame(study: Study) -> pd.DataFrame:
    """Return context and ground truth of the conversations that have ground truth.

    Returns
    -------
    DataFrame
        participant, condition, topic, importance (1..5), desired_empathy (1..3), ``y`` (ground
        truth, 1..5); NaN or None where not given.
    """
    conversations = study.conversations
    truth = ground_truth(study.turns, conversations["conversation"]).to_numpy()
    frame = conversations[["participant", "condition", "topic", *STEPS]].assign(y=truth)
    return frame[np.isfinite(truth)].reset_index(drop=True)


def not_varying(frame: pd.DataFrame, name: str) -> str:
    """Why a context variable says nothing; "" if it does."""
    if frame.empty:
        return "no conversation has ground truth in this data set"
    values = frame[name].dropna()
    if values.empty:
        return f"{CONTEXT[name]} was not given in this data set"
    if values.nunique() < 2:
        return f"{CONTEXT[name]} is the same in every conversation"
    return ""


def context_design(frame: pd.DataFrame, names) -> np.ndarray:
    """Columns of a design: steps as numbers, texts as indicators of all but the first."""
    columns = []
    for name in names:
        if name in STEPS:
            columns.append(frame[[name]].to_numpy(dtype=float))
        else:
            columns.append(indicators(frame[name])[:, 1:])
    return np.column_stack(columns) if columns else np.empty((len(frame), 0))


def indicators(texts: pd.Series) -> np.ndarray:
    levels = sorted(texts.unique())
    return (texts.to_numpy()[:, None] == np.array(levels, dtype=object)[None, :]).astype(float)


def products(z: np.ndarray) -> np.ndarray:
    return z[:, :, None] * z[:, None, :]


check_arguments(globals())
