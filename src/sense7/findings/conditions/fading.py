"""Whether the advantage of the prompted condition fades over the turns of a conversation."""

import numpy as np
import pandas as pd

from sense7.arguments import check_arguments
from sense7.estimators.bootstrap import ParticipantBootstrap, ratio
from sense7.estimators.estimates import estimate_row, estimate_table
from sense7.estimators.least_squares import coefficient, within
from sense7.findings.measures import turn_rating
from sense7.study import Study

__all__ = ["levels_by_turn", "prompt_fading"]

TURNS = 10
"""Turns that are shown, from the first."""

EVERY = "all conversations"
PER_TURN = "points per turn"
LEVEL = "level, 1 to 5"
MEAN = "the mean of the rated dimensions"

_FADING = {"all participants": "prompt_fading", "participants who met both": "prompt_fading_within"}
"""Rows of :func:`prompt_fading` -> keys."""


def _rated(study: Study) -> pd.DataFrame:
    """Rated turns: conversation, participant, condition, turn, y (mean of the rated dimensions)."""
    turns = study.turns[["conversation", "participant", "condition", "turn"]]
    turns = turns.assign(y=turn_rating(study.turns, "dimensions"))
    return turns[turns["y"].notna()].reset_index(drop=True)


def levels_by_turn(study: Study, bootstrap: ParticipantBootstrap) -> dict[str, pd.DataFrame]:
    """Return the mean rating of the first turn, the second, and so on, by condition.

    A turn counts by the mean of its rated dimensions. Later turns are those of the conversations that are still going,
    so that a change from turn to turn may be one of which conversations remain; :func:`prompt_fading` compares each
    with itself.

    Returns
    -------
    dict of str -> DataFrame
        For each condition (``all conversations`` if there is none) a table with one row per turn, 1 to at most 10:
        estimate, low, high (1..5), n (rated turns), unit, method, reason.
    """
    turns = _rated(study)
    last = max(int(turns["turn"].max()) if len(turns) else 1, 1)
    tables = {}
    for condition in study.conditions or [EVERY]:
        own = turns[turns["condition"] == condition] if study.conditions else turns
        rows = {}
        for turn in range(1, min(TURNS, last) + 1):
            chosen = own[own["turn"] == turn]
            common = {"n": len(chosen), "unit": LEVEL, "method": f"mean over turns of {MEAN}"}
            if chosen.empty:
                reason = f"{MEAN} of a turn was never given in this data set"
                rows[turn] = estimate_row(**common, reason=reason if turns.empty else "no such turn was rated")
                continue
            values = np.column_stack([chosen["y"], np.ones(len(chosen))])
            rows[turn] = bootstrap.row(bootstrap.estimate(ratio, values, chosen["participant"]), **common)
        tables[condition] = estimate_table(rows, "turn")
    return tables


def prompt_fading(study: Study, bootstrap: ParticipantBootstrap) -> pd.DataFrame:
    r"""Return whether the empathy prompt's advantage fades: its slope per turn minus that of the other conditions.

    .. math:: y_{ct} - \bar y_c = \beta_{g(c)} (t - \bar t_c) + e_{ct}

    by least squares over all rated turns t of the conversations c, with one slope for the prompted condition and one
    for all others; y is the mean of a turn's rated dimensions. Each conversation is compared with itself, so that it
    does not matter which conversations are long. A straight line is assumed; a long conversation weighs more.

    Returns
    -------
    DataFrame
        The difference of the slopes (points per turn; negative: it fades) over all participants, and over those who had
        conversations of both kinds: estimate, low, high, n (rated turns), unit, method, reason.

    Notes
    -----
    Checked against statsmodels' OLS with an indicator of each conversation.
    """
    turns = _rated(study)
    reason = f"{MEAN} of a turn was never given in this data set" if turns.empty else ""
    turns = turns[turns["condition"].notna()].reset_index(drop=True)
    prompted = (turns["condition"] == study.prompted_condition).to_numpy()
    if not reason and study.prompted_condition is None:
        reason = "it is not known which condition has the empathy prompt"
    if not reason and (prompted.all() or not prompted.any()):
        reason = "there is no condition to compare the empathy prompt with"
    kinds = pd.Series(prompted).groupby(turns["participant"]).transform("nunique").to_numpy()
    method = f"least squares of {MEAN}, each conversation minus its own mean"
    rows = {}
    for name, used in zip(_FADING, (np.ones(len(turns), dtype=bool), kinds == 2), strict=True):
        common = {"n": int(used.sum()), "unit": PER_TURN, "method": method}
        if reason or not used.any():
            rows[name] = estimate_row(**common, reason=reason or "no participant met both")
            continue
        own, groups = turns[used], np.column_stack([prompted, ~prompted])[used]
        columns = groups * own[["turn"]].to_numpy(dtype=float)
        z = within(np.column_stack([columns, own["y"]]), own["conversation"])
        slope = bootstrap.estimate(coefficient(0, minus=1), z[:, :, None] * z[:, None, :], own["participant"])
        rows[name] = bootstrap.row(slope, **common, undefined="no conversation has two rated turns to compare")
    return estimate_table(rows, "participants", _FADING)


check_arguments(globals())
