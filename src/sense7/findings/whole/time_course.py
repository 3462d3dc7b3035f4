"""Time course: how ratings change over the turns of a conversation, by condition."""

import numpy as np
import pandas as pd

from sense7.arguments import check_arguments
from sense7.estimators.bootstrap import ParticipantBootstrap, ratio
from sense7.estimators.estimates import estimate_row, estimate_table
from sense7.estimators.least_squares import coefficient, within
from sense7.findings.measures import turn_rating
from sense7.findings.whole.outcomes import RATINGS
from sense7.study import Study

__all__ = ["TURNS", "levels_by_turn", "prompt_fading", "slopes_per_turn", "still_going"]

TURNS = 10
"""Turns that are shown, from the first."""

EVERY = "all conversations"
PER_TURN = "points per turn"
LEVEL = "level, 1 to 5"

_FADING = {
    "slope with the empathy prompt": "prompt_slope",
    "slope of the other conditions": "prompt_slope_others",
    "difference, all participants": "prompt_fading",
    "difference, participants who met both": "prompt_fading_within",
    "difference, conversations not compared with themselves": "prompt_fading_mixed_up",
}
"""Rows of :func:`prompt_fading` -> keys."""


def _rated(study: Study, rating: str) -> pd.DataFrame:
    """Rated turns: conversation, participant, condition, turn, y."""
    turns = study.turns[["conversation", "participant", "condition", "turn"]]
    turns = turns.assign(y=turn_rating(study.turns, rating))
    return turns[turns["y"].notna()].reset_index(drop=True)


def _never(rating: str) -> str:
    return f"{RATINGS[rating]} of a turn was never given in this data set"


def levels_by_turn(
    study: Study, bootstrap: ParticipantBootstrap, rating: str = "dimensions"
) -> dict[str, pd.DataFrame]:
    """Return the mean rating of the first turn, the second, and so on, by condition.

    Later turns are those of the conversations that are still going (:func:`still_going`), so that a change
    from turn to turn may be one of which conversations remain; :func:`slopes_per_turn` compares each with itself.

    Parameters
    ----------
    study : Study
        The data.
    bootstrap : ParticipantBootstrap
        Bootstrap resamples of participants for the intervals.
    rating : {"dimensions", "overall"}
        Rating of a turn: the mean of its rated dimensions, or its overall rating. Turns without it are left out.

    Returns
    -------
    dict of str -> DataFrame
        For each condition (``all conversations`` if there is none) a table with one row per turn, 1 to at most 10:
        estimate, low, high (1..5), n (rated turns), unit, method, reason.
    """
    turns = _rated(study, rating)
    shown = range(1, min(TURNS, max(int(turns["turn"].max()) if len(turns) else 1, 1)) + 1)
    tables = {}
    for number, condition in enumerate(study.conditions or [EVERY], 1):
        own = turns if condition == EVERY and not study.conditions else turns[turns["condition"] == condition]
        rows = {turn: _level_row(own[own["turn"] == turn], bootstrap, rating, turns.empty) for turn in shown}
        keys = {turn: f"level_turn_{turn}_condition_{number}" for turn in shown}
        tables[condition] = estimate_table(rows, "turn", keys if rating == "dimensions" else None)
    return tables


def _level_row(chosen: pd.DataFrame, bootstrap: ParticipantBootstrap, rating: str, never: bool) -> dict:
    method = f"mean over turns of {RATINGS[rating]}"
    if chosen.empty:
        reason = _never(rating) if never else "no such turn was rated"
        return estimate_row(n=0, unit=LEVEL, method=method, reason=reason)
    values = np.column_stack([chosen["y"], np.ones(len(chosen))])
    mean = bootstrap.estimate(ratio, values, chosen["participant"])
    return bootstrap.row(mean, n=len(chosen), unit=LEVEL, method=method)


def still_going(study: Study) -> pd.DataFrame:
    """Return the share of the conversations that have at least so many turns, by condition; without intervals.

    Returns
    -------
    DataFrame
        One row per turn (1 to at most 10), one column per condition (``all conversations`` if there is none); 0..1.
    """
    lengths = study.turns.groupby("conversation")["turn"].max()
    lengths = lengths.reindex(study.conversations["conversation"], fill_value=0).to_numpy()
    conditions = study.conversations["condition"].to_numpy()
    shown = range(1, min(TURNS, max(int(lengths.max()) if len(lengths) else 1, 1)) + 1)
    groups = {name: conditions == name for name in study.conditions} or {EVERY: np.ones(len(lengths), dtype=bool)}
    shares = {name: [float((lengths[chosen] >= turn).mean()) for turn in shown] for name, chosen in groups.items()}
    return pd.DataFrame(shares, index=pd.Index(shown, name="turn"))


def slopes_per_turn(study: Study, bootstrap: ParticipantBootstrap, rating: str = "dimensions") -> pd.DataFrame:
    r"""Return the change of the rating per turn, each conversation compared with itself, by condition.

    .. math:: y_{ct} - \bar y_c = \beta \, (t - \bar t_c) + e_{ct}

    over all rated turns. That conversations of different length differ in level changes nothing. A straight line is
    assumed; a short conversation weighs little, a long one much.

    Parameters
    ----------
    study : Study
        The data.
    bootstrap : ParticipantBootstrap
        Bootstrap resamples of participants for the intervals.
    rating : {"dimensions", "overall"}
        See :func:`levels_by_turn`.

    Returns
    -------
    DataFrame
        One row for ``all conversations`` and one for each condition: estimate (points per turn), low, high, n (rated
        turns), unit, method, reason.

    Notes
    -----
    Checked against statsmodels' OLS with an indicator of each conversation.
    """
    turns = _rated(study, rating)
    groups = {EVERY: np.ones(len(turns), dtype=bool)}
    groups |= {name: (turns["condition"] == name).to_numpy() for name in study.conditions}
    rows = {}
    for name, chosen in groups.items():
        if not chosen.any():
            reason = _never(rating) if turns.empty else "no turn of this condition was rated"
            rows[name] = estimate_row(n=0, unit=PER_TURN, method="least squares", reason=reason)
        else:
            rows[name] = _row(coefficient(0), turns[chosen], chosen[chosen][:, None], bootstrap, rating)
    keys = {name: f"turn_slope_{number}" for number, name in enumerate(rows, 1)}
    return estimate_table(rows, "condition", keys if rating == "dimensions" else None)


def _row(statistic, turns: pd.DataFrame, groups: np.ndarray, bootstrap, rating: str, *, own: bool = True) -> dict:
    """Row of a statistic of the cross products of (turn by group, y), within conversations if ``own``."""
    columns = groups * turns[["turn"]].to_numpy(dtype=float)
    if own:
        z = within(np.column_stack([columns, turns["y"]]), turns["conversation"])
        method = f"least squares of {RATINGS[rating]}, each conversation minus its own mean"
    else:
        z = np.column_stack([columns, groups, turns["y"]])
        method = f"least squares of {RATINGS[rating]}, all turns alike"
    slope = bootstrap.estimate(statistic, z[:, :, None] * z[:, None, :], turns["participant"])
    undefined = "no conversation has two rated turns to compare"
    return bootstrap.row(slope, n=len(turns), unit=PER_TURN, method=method, undefined=undefined)


def prompt_fading(study: Study, bootstrap: ParticipantBootstrap, rating: str = "dimensions") -> pd.DataFrame:
    """Return whether the empathy prompt's advantage fades: its slope per turn minus that of the other conditions.

    Slopes as in :func:`slopes_per_turn`, one for all other conditions together. Participants are resampled with all
    their conversations, so that a difference within participants is taken as one.

    Parameters
    ----------
    study : Study
        The data.
    bootstrap : ParticipantBootstrap
        Bootstrap resamples of participants for the intervals.
    rating : {"dimensions", "overall"}
        See :func:`levels_by_turn`.

    Returns
    -------
    DataFrame
        The two slopes; their difference (negative: it fades) over all participants; over those who had
        conversations of both kinds; and for comparison from least squares on all turns alike, which mixes up change
        within conversations with who is still talking.
    """
    turns = _rated(study, rating)
    reason = _never(rating) if turns.empty else ""
    turns = turns[turns["condition"].notna()].reset_index(drop=True)
    prompted = (turns["condition"] == study.prompted_condition).to_numpy()
    if not reason and study.prompted_condition is None:
        reason = "it is not known which condition has the empathy prompt"
    if not reason and (prompted.all() or not prompted.any()):
        reason = "there is no condition to compare the empathy prompt with"
    if reason:
        none = estimate_row(n=len(turns), unit=PER_TURN, method="least squares", reason=reason)
        return estimate_table(dict.fromkeys(_FADING, none), "slope", _FADING)
    groups = np.column_stack([prompted, ~prompted]).astype(float)
    kinds = pd.Series(prompted).groupby(turns["participant"]).transform("nunique").to_numpy()
    both = kinds == 2
    every = (turns, groups, bootstrap, rating)
    rows = [
        _row(coefficient(0), *every) | {"n": int(prompted.sum())},
        _row(coefficient(1), *every) | {"n": int((~prompted).sum())},
        _row(coefficient(0, minus=1), *every),
        _row(coefficient(0, minus=1), turns[both], groups[both], bootstrap, rating)
        if both.any()
        else estimate_row(n=0, unit=PER_TURN, method="least squares", reason="no participant met both"),
        _row(coefficient(0, minus=1), *every, own=False),
    ]
    return estimate_table(dict(zip(_FADING, rows, strict=True)), "slope", _FADING)


check_arguments(globals())
