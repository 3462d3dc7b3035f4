r"""Felt heard: what people felt after an answer by an AI or a person, labeled as by an AI or a person.

Every person got one answer, so the four combinations of *source* (who answered) and *label* (who was said to have
answered) are groups of different people. With :math:`\bar y_{rl}` the mean of the people whose answer came from r and
was labeled as from l (a: AI, h: human), the effects are

.. math::

   \text{source} &= \tfrac12(\bar y_{aa} + \bar y_{ah}) - \tfrac12(\bar y_{ha} + \bar y_{hh}) \\
   \text{label} &= \tfrac12(\bar y_{ah} + \bar y_{hh}) - \tfrac12(\bar y_{aa} + \bar y_{ha}) \\
   \text{interaction} &= (\bar y_{ah} - \bar y_{aa}) - (\bar y_{hh} - \bar y_{ha})

so every cell counts the same, not by its number of people. These are the coefficients of a linear model with both
factors coded as plus and minus one half.

Yin, Y., Jia, N., Wakslak, C. J. (2024). AI can help people feel heard, but an AI label diminishes this impact. PNAS,
121(14).
"""

from itertools import product

import numpy as np
import pandas as pd

from sense7.arguments import check_arguments
from sense7.estimators.alpha import alpha_row
from sense7.estimators.bootstrap import ParticipantBootstrap, StratifiedBootstrap, ratio
from sense7.estimators.estimates import estimate_table
from sense7.sources import released

__all__ = [
    "NAMES",
    "SOURCES",
    "acknowledgement",
    "cell_means",
    "consistency_and_ceiling",
    "effects",
    "people",
    "resampling",
    "verdict",
]

SOURCES = {"ai": "answer by an AI", "human": "answer by a person"}
"""Who answered: value of the column ``response`` -> words."""

LABELS = {"ai": "labeled as by an AI", "human": "labeled as by a person"}
"""Who was said to have answered: value of the column ``label`` -> words."""

NAMES = {
    "understood": "understood",
    "validated": "validated",
    "affirmed": "affirmed",
    "seen": "seen",
    "accepted": "accepted",
    "caredfor": "cared for",
}
"""The six feelings: column -> words."""

MEAN = "mean of six"
CELLS = tuple(product(SOURCES, LABELS))
"""Source and label of the four groups, in the order of the contrasts below."""

_MEANS = {
    "answer by an AI": {
        "labeled as by an AI": "felt_heard_mean_ai_ai",
        "labeled as by a person": "felt_heard_mean_ai_human",
    },
    "answer by a person": {
        "labeled as by an AI": "felt_heard_mean_human_ai",
        "labeled as by a person": "felt_heard_mean_human_human",
    },
}
"""Source -> label -> key of the mean of six."""

_CONTRASTS = {
    "source": (0.5, 0.5, -0.5, -0.5),
    "label": (-0.5, 0.5, -0.5, 0.5),
    "interaction": (-1.0, 1.0, 1.0, -1.0),
    "honest labels": (1.0, 0.0, 0.0, -1.0),
}
"""Weights of the means of ``CELLS``."""

EFFECTS = {
    "source": "source: AI minus person",
    "label": "label: person minus AI",
    "interaction": "interaction: difference of the two label effects",
    "honest labels": "honest labels: AI minus person",
}
"""Effects: name -> words. The last compares the two groups that were told the truth."""

_EFFECTS = {
    "source: AI minus person": "felt_heard_source",
    "label: person minus AI": "felt_heard_label",
    "interaction: difference of the two label effects": "felt_heard_interaction",
    "honest labels: AI minus person": "felt_heard_honest_labels",
}
"""Effect on the mean of six, in points -> key."""

HIGHEST = 7
"""Upper end of the scale, which begins at 1."""

POINTS = "points (scale from 1 to 7)"


def people() -> pd.DataFrame:
    """The ratings of every person, with their mean.

    Returns
    -------
    DataFrame
        One row per person: participant, response and label (``ai`` or ``human``), the six feelings (columns named as
        the values of ``NAMES``; 1 .. 7, none missing) and ``mean of six`` (1 .. 7).

    Raises
    ------
    UserError
        If the file of the ratings is missing or is not the one that is pinned.

    Examples
    --------
    >>> people().groupby(["response", "label"])["mean of six"].mean().round(3).to_dict()
    {('ai', 'ai'): 5.407, ('ai', 'human'): 6.118, ('human', 'ai'): 4.82, ('human', 'human'): 5.511}
    """
    table = released.felt_heard().rename(columns=NAMES)
    return table.assign(**{MEAN: table[list(NAMES.values())].mean(axis=1)})


def acknowledgement() -> str:
    """Whose ratings these are, their license and their source.

    Examples
    --------
    >>> acknowledgement()[:18]
    'Yin, Jia, Wakslak:'
    """
    return released.RELEASED["felt_heard"].acknowledgement


def resampling(table: pd.DataFrame, draws: int, seed: int, confidence: float = 0.95) -> StratifiedBootstrap:
    """Bootstrap resamples of people within the four groups, whose sizes the experiment fixed.

    Parameters
    ----------
    table : DataFrame
        As :func:`people` gives it.
    draws, seed, confidence
        As for :class:`sense7.estimators.bootstrap.ParticipantBootstrap`.

    Examples
    --------
    >>> resampling(people(), draws=100, seed=1).description
    '95% percentile interval, 100 resamplings of participants within groups'
    """
    groups = table["response"] + " " + table["label"]
    return StratifiedBootstrap(table["participant"], draws, seed, confidence, groups)


def cell_means(table: pd.DataFrame, bootstrap: ParticipantBootstrap) -> dict[str, pd.DataFrame]:
    """Mean of the six ratings in each of the four groups.

    Parameters
    ----------
    table : DataFrame
        As :func:`people` gives it.
    bootstrap : ParticipantBootstrap
        Resamples of these people.

    Returns
    -------
    dict
        Source in words (``SOURCES``) -> table of estimates with a row for each label (``LABELS``): estimate, low, high
        (1 .. 7), n (people), unit, method, reason.

    Examples
    --------
    >>> table = people()
    >>> means = cell_means(table, resampling(table, draws=200, seed=1))
    >>> round(float(means["answer by an AI"].loc["labeled as by an AI", "estimate"]), 3)
    5.407
    """
    tables = {}
    for source, words in SOURCES.items():
        rows = {}
        for label, said in LABELS.items():
            own = table[(table["response"] == source) & (table["label"] == label)]
            values = np.column_stack([own[MEAN], np.ones(len(own))])
            mean = bootstrap.estimate(ratio, values, own["participant"])
            rows[said] = bootstrap.row(mean, n=len(own), unit=POINTS, method=f"mean over people, {MEAN}")
        tables[words] = estimate_table(rows, "label", _MEANS[words])
    return tables


def effects(table: pd.DataFrame, bootstrap: ParticipantBootstrap) -> pd.DataFrame:
    r"""Effects of source, of label, their interaction, and the two honestly labeled groups compared.

    The formulas stand at the head of this module.

    Parameters
    ----------
    table : DataFrame
        As :func:`people` gives it.
    bootstrap : ParticipantBootstrap
        Resamples of these people.

    Returns
    -------
    DataFrame
        A row for each of ``EFFECTS``: estimate, low, high (points), n (people), unit, method, reason.

    Examples
    --------
    >>> table = people()
    >>> effects(table, resampling(table, draws=200, seed=1))["estimate"].round(3).to_list()
    [0.598, 0.701, 0.02, -0.103]
    """
    # Of each person 1 and the rating in the column of their cell: shape (people, 4, 2).
    cells = np.column_stack([(table["response"] == r) & (table["label"] == said) for r, said in CELLS]).astype(float)
    values = cells[:, :, None] * np.column_stack([np.ones(len(table)), table[MEAN]])[:, None, :]
    method = f"difference of group means, each group counted the same; {MEAN}"
    rows = {}
    for name, words in EFFECTS.items():
        weights = np.array(_CONTRASTS[name])
        effect = bootstrap.estimate(
            lambda sums, weights=weights: (sums[..., 1] / sums[..., 0]) @ weights, values, table["participant"]
        )
        n = int(values[:, weights != 0, 0].sum())
        rows[words] = bootstrap.row(effect, n=n, unit=POINTS, method=method)
    return estimate_table(rows, "effect", _EFFECTS)


def verdict(points: pd.DataFrame) -> dict:
    """Verdict on the effects of source and label that the study's title claims.

    "Seen" only if the intervals of source (AI minus person) and label (person minus AI) both lie above zero; "the
    opposite" if both lie below; else "not seen".

    Parameters
    ----------
    points : DataFrame
        As :func:`effects` gives it.

    Returns
    -------
    dict
        As ``Recorder.value`` takes it: key, estimate (the verdict and its rule in words), n (people), unit, method,
        reason.

    Examples
    --------
    >>> row = {"estimate": 0.5, "low": 0.2, "high": 0.8, "n": 9}
    >>> verdict(pd.DataFrame({EFFECTS[name]: row for name in ("source", "label")}).T)["estimate"]
    'seen: the intervals of source and label both lie above zero'
    """
    pair = points.loc[[EFFECTS["source"], EFFECTS["label"]]]
    above, below = (pair["low"] > 0).all(), (pair["high"] < 0).all()
    if above or below:
        side = "above" if above else "below"
        words = f"{'seen' if above else 'the opposite'}: the intervals of source and label both lie {side} zero"
    else:
        words = "not seen: an interval of source or label holds zero, or they have different signs"
    method = "rule on the intervals of source and label"
    n = int(pair["n"].max())
    return {"key": "felt_heard_verdict", "estimate": words, "n": n, "unit": "verdict", "method": method, "reason": ""}


def consistency_and_ceiling(table: pd.DataFrame, bootstrap: ParticipantBootstrap) -> pd.DataFrame:
    """Cronbach's alpha of the six feelings, and the share of people who gave the highest rating to all six.

    Parameters
    ----------
    table : DataFrame
        As :func:`people` gives it.
    bootstrap : ParticipantBootstrap
        Resamples of these people.

    Returns
    -------
    DataFrame
        One row for each: estimate, low, high, n (people), unit, method, reason.

    Examples
    --------
    >>> table = people()
    >>> consistency_and_ceiling(table, resampling(table, draws=200, seed=1))["estimate"].round(3).to_list()
    [0.969, 0.163]
    """
    ratings = table.set_index("participant")[list(NAMES.values())]
    highest = (ratings == HIGHEST).all(axis=1).to_numpy()
    values = np.column_stack([highest, np.ones(len(table))]).astype(float)
    share = bootstrap.estimate(ratio, values, table["participant"])
    method = "share of people who gave the highest rating to all six feelings"
    rows = {
        "Cronbach's alpha": alpha_row(ratings, bootstrap),
        "highest rating to all six": bootstrap.row(share, n=len(table), unit="share of people", method=method),
    }
    keys = {"Cronbach's alpha": "felt_heard_alpha", "highest rating to all six": "felt_heard_ceiling_all"}
    return estimate_table(rows, "measure", keys)


check_arguments(globals())
