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
import statsmodels.api as sm

from sense7.arguments import check_arguments
from sense7.estimators.alpha import alpha_row
from sense7.estimators.bootstrap import ParticipantBootstrap, StratifiedBootstrap, ratio
from sense7.estimators.estimates import estimate_row, estimate_table, p_in_words
from sense7.estimators.multiplicity import holm
from sense7.findings.structure.items import average_correlation_row
from sense7.findings.structure.number_of_factors import eigenvalues, retained
from sense7.findings.structure.one_factor import omega_row
from sense7.sources import released
from sense7.sources.released import FEELINGS

__all__ = [
    "NAMES",
    "SOURCES",
    "acknowledgement",
    "ceiling",
    "cell_means",
    "effects",
    "effects_by_feeling",
    "model_tests",
    "people",
    "resampling",
    "structure",
    "tests_in_words",
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

TESTED = ("source", "label", "interaction")
"""Effects that are the terms of the linear model."""

_EFFECTS = {
    "points": {
        "source: AI minus person": "felt_heard_source",
        "label: person minus AI": "felt_heard_label",
        "interaction: difference of the two label effects": "felt_heard_interaction",
        "honest labels: AI minus person": "felt_heard_honest_labels",
    },
    "d": {
        "source: AI minus person": "felt_heard_source_d",
        "label: person minus AI": "felt_heard_label_d",
        "interaction: difference of the two label effects": "felt_heard_interaction_d",
        "honest labels: AI minus person": "felt_heard_honest_labels_d",
    },
}
"""In points or as Cohen's d -> effect on the mean of six -> key."""

_FEELINGS = {
    "source": {
        "understood": "felt_heard_source_understood",
        "validated": "felt_heard_source_validated",
        "affirmed": "felt_heard_source_affirmed",
        "seen": "felt_heard_source_seen",
        "accepted": "felt_heard_source_accepted",
        "cared for": "felt_heard_source_caredfor",
    },
    "label": {
        "understood": "felt_heard_label_understood",
        "validated": "felt_heard_label_validated",
        "affirmed": "felt_heard_label_affirmed",
        "seen": "felt_heard_label_seen",
        "accepted": "felt_heard_label_accepted",
        "cared for": "felt_heard_label_caredfor",
    },
    "interaction": {
        "understood": "felt_heard_interaction_understood",
        "validated": "felt_heard_interaction_validated",
        "affirmed": "felt_heard_interaction_affirmed",
        "seen": "felt_heard_interaction_seen",
        "accepted": "felt_heard_interaction_accepted",
        "cared for": "felt_heard_interaction_caredfor",
    },
}
"""Effect -> feeling -> key of the effect in points."""

_P_VALUES = {
    "source": "felt_heard_p_source",
    "label": "felt_heard_p_label",
    "interaction": "felt_heard_p_interaction",
}
"""Term of the model -> key of its p value, for the mean of six."""

_STRUCTURE = {
    "Cronbach's alpha": "felt_heard_alpha",
    "Cronbach's alpha within the four groups": "felt_heard_alpha_within_groups",
    "average correlation": "felt_heard_average_correlation",
    "omega total, one factor": "felt_heard_omega",
    "share of the first eigenvalue": "felt_heard_first_eigenvalue_share",
    "components above noise": "felt_heard_components",
    "factors above noise": "felt_heard_factors",
}
"""Row of :func:`structure` -> key."""

_CEILING = {
    "understood": "felt_heard_ceiling_understood",
    "validated": "felt_heard_ceiling_validated",
    "affirmed": "felt_heard_ceiling_affirmed",
    "seen": "felt_heard_ceiling_seen",
    "accepted": "felt_heard_ceiling_accepted",
    "cared for": "felt_heard_ceiling_caredfor",
    "all six": "felt_heard_ceiling_all",
    "all six, answer by an AI, labeled as by an AI": "felt_heard_ceiling_all_ai_ai",
    "all six, answer by an AI, labeled as by a person": "felt_heard_ceiling_all_ai_human",
    "all six, answer by a person, labeled as by an AI": "felt_heard_ceiling_all_human_ai",
    "all six, answer by a person, labeled as by a person": "felt_heard_ceiling_all_human_human",
}
"""Row of :func:`ceiling` -> key."""

HIGHEST = 7
"""Upper end of the scale, which begins at 1."""

POINTS = "points (scale from 1 to 7)"
_TEST = "linear model, both factors coded as plus and minus one half; type III, HC3 errors"


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


def _by_cell(table: pd.DataFrame, rating: str) -> np.ndarray:
    """Of each person 1, y and y squared in the column of their cell: shape (people, 4, 3)."""
    y = table[rating].to_numpy(dtype=float)
    cells = np.column_stack([(table["response"] == r) & (table["label"] == said) for r, said in CELLS]).astype(float)
    return cells[:, :, None] * np.column_stack([np.ones(len(y)), y, y**2])[:, None, :]


def cell_means(table: pd.DataFrame, bootstrap: ParticipantBootstrap, rating: str = MEAN) -> dict[str, pd.DataFrame]:
    """Mean rating in each of the four groups.

    Parameters
    ----------
    table : DataFrame
        As :func:`people` gives it.
    bootstrap : ParticipantBootstrap
        Resamples of these people.
    rating : str
        ``mean of six`` or one of the feelings.

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
            values = np.column_stack([own[rating], np.ones(len(own))])
            mean = bootstrap.estimate(ratio, values, own["participant"])
            rows[said] = bootstrap.row(mean, n=len(own), unit=POINTS, method=f"mean over people, {rating}")
        tables[words] = estimate_table(rows, "label", _MEANS[words] if rating == MEAN else None)
    return tables


def _contrast(sums: np.ndarray, weights: tuple[float, ...], *, standardized: bool) -> np.ndarray:
    """Weighted sum of the cells' means; in standard deviations within cells, pooled, if asked for."""
    n, total, squares = np.moveaxis(sums, -1, 0)
    difference = (total / n) @ np.array(weights)
    if not standardized:
        return difference
    within = (squares - total**2 / n).sum(axis=-1) / (n.sum(axis=-1) - len(CELLS))
    return difference / np.sqrt(within)


def effects(
    table: pd.DataFrame, bootstrap: ParticipantBootstrap, rating: str = MEAN, *, standardized: bool = False
) -> pd.DataFrame:
    r"""Effects of source, of label, their interaction, and the two honestly labeled groups compared.

    The formulas stand at the head of this module. Standardized, an effect is divided by the standard deviation within
    the groups, :math:`s = \sqrt{\sum_{rl} \sum_i (y_{rli} - \bar y_{rl})^2 / (n - 4)}`, taken in each resample.

    Parameters
    ----------
    table : DataFrame
        As :func:`people` gives it.
    bootstrap : ParticipantBootstrap
        Resamples of these people.
    rating : str
        ``mean of six`` or one of the feelings.
    standardized : bool
        Whether in standard deviations (Cohen's d) and not in points.

    Returns
    -------
    DataFrame
        A row for each of ``EFFECTS``: estimate, low, high, n (people), unit, method, reason.

    Examples
    --------
    >>> table = people()
    >>> effects(table, resampling(table, draws=200, seed=1))["estimate"].round(3).to_list()
    [0.598, 0.701, 0.02, -0.103]
    """
    values = _by_cell(table, rating)
    unit = "Cohen's d" if standardized else POINTS
    method = f"difference of group means, each group counted the same; {rating}"
    method += ", in standard deviations within groups" if standardized else ""
    rows = {}
    for name, words in EFFECTS.items():
        weights = _CONTRASTS[name]
        effect = bootstrap.estimate(
            lambda sums, weights=weights: _contrast(sums, weights, standardized=standardized),
            values,
            table["participant"],
        )
        n = int(values[:, np.array(weights) != 0, 0].sum())
        rows[words] = bootstrap.row(effect, n=n, unit=unit, method=method)
    keys = _EFFECTS["d" if standardized else "points"] if rating == MEAN else None
    return estimate_table(rows, "effect", keys)


def effects_by_feeling(
    table: pd.DataFrame, bootstrap: ParticipantBootstrap, *, standardized: bool = False
) -> dict[str, pd.DataFrame]:
    """Effects of source, label and interaction on each of the six feelings.

    Parameters
    ----------
    table, bootstrap, standardized
        As for :func:`effects`.

    Returns
    -------
    dict
        Effect (``source``, ``label``, ``interaction``) -> table of estimates with a row for each feeling.

    Examples
    --------
    >>> table = people()
    >>> tables = effects_by_feeling(table, resampling(table, draws=200, seed=1))
    >>> round(float(tables["label"].loc["cared for", "estimate"]), 3)
    0.885
    """
    by_feeling = {feeling: effects(table, bootstrap, feeling, standardized=standardized) for feeling in NAMES.values()}
    return {
        name: estimate_table(
            {feeling: rows.loc[EFFECTS[name]].to_dict() for feeling, rows in by_feeling.items()},
            "feeling",
            None if standardized else _FEELINGS[name],
        )
        for name in TESTED
    }


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


def model_tests(table: pd.DataFrame, rating: str = MEAN) -> pd.DataFrame:
    r"""Type III tests of source, label and their interaction, with errors that allow for unequal variances (HC3).

    Least squares of the rating on :math:`1, s, l, sl` with s one half for an AI's answer and minus one half for a
    person's, l one half for a person's label and minus one half for an AI's. :math:`F = (b / SE_{HC3})^2` on 1 and
    n - 4 degrees of freedom.

    Parameters
    ----------
    table : DataFrame
        As :func:`people` gives it.
    rating : str
        ``mean of six`` or one of the feelings.

    Returns
    -------
    DataFrame
        Rows source, label, interaction: estimate (p value), n (people), unit, method (with F), reason.

    References
    ----------
    Long, J. S., & Ervin, L. H. (2000). The American Statistician 54, 217-224 (HC3).

    Notes
    -----
    The tests hold what car::Anova(lm(y ~ response * label, contrasts = contr.sum), type = 3, white.adjust = "hc3")
    gave, to 1e-9; tests/reference/reference.R does not compute these values.

    Examples
    --------
    >>> model_tests(people())["estimate"].round(4).to_dict()
    {'source': 0.0, 'label': 0.0, 'interaction': 0.9375}
    """
    source = np.where(table["response"] == "ai", 0.5, -0.5)
    label = np.where(table["label"] == "human", 0.5, -0.5)
    design = np.column_stack([np.ones(len(table)), source, label, source * label])
    fit = sm.OLS(table[rating].to_numpy(dtype=float), design).fit(cov_type="HC3", use_t=True)
    rows = {
        name: estimate_row(
            fit.pvalues[column],
            n=len(table),
            unit="p value",
            method=f"{_TEST}; F = {fit.tvalues[column] ** 2:.2f} on 1 and {fit.df_resid:.0f} degrees of freedom",
            reason="no interval: a p value",
        )
        for column, name in enumerate(TESTED, 1)
    }
    return estimate_table(rows, "effect", _P_VALUES if rating == MEAN else None)


def tests_in_words(table: pd.DataFrame) -> pd.DataFrame:
    """Tests of all ratings in words: F and p; for the six feelings also p corrected for being six (Holm).

    Parameters
    ----------
    table : DataFrame
        As :func:`people` gives it.

    Returns
    -------
    DataFrame
        One row per rating (mean of six, then the feelings); columns "source, F", "source, p", "source, p (Holm)" and
        so for label and interaction. All texts; the mean of six is one test, so its p is not corrected.

    References
    ----------
    Holm, S. (1979). Scandinavian Journal of Statistics 6, 65-70.
    """
    tests = {rating: model_tests(table, rating) for rating in (MEAN, *NAMES.values())}
    shown = pd.DataFrame(index=pd.Index(tests, name="rating"))
    for effect in TESTED:
        p = pd.Series({rating: rows.loc[effect, "estimate"] for rating, rows in tests.items()})
        corrected = pd.Series(holm(p.iloc[1:]), index=p.index[1:])
        shown[f"{effect}, F"] = [
            rows.loc[effect, "method"].partition("F = ")[2].partition(" ")[0] for rows in tests.values()
        ]
        shown[f"{effect}, p"] = [p_in_words(value) for value in p]
        shown[f"{effect}, p (Holm)"] = ["", *(p_in_words(value) for value in corrected)]
    return shown


def structure(table: pd.DataFrame, bootstrap: ParticipantBootstrap, *, seed: int) -> pd.DataFrame:
    r"""Internal consistency, share of the first eigenvalue and number of factors of the six feelings.

    Differences between the four groups alone would make the six go together, so alpha also stands for the ratings
    minus their group's means. The share of the first eigenvalue of the correlations, :math:`\lambda_1 / 6`, is 1/6 if
    nothing goes together and 1 if all six are the same.

    Parameters
    ----------
    table : DataFrame
        As :func:`people` gives it.
    bootstrap : ParticipantBootstrap
        Resamples of these people.
    seed : int
        Seed of the noise of the parallel analysis.

    Returns
    -------
    DataFrame
        One row per measure: estimate, low, high, n (people), unit, method, reason.
    """
    ratings = table.set_index("participant")[list(NAMES.values())]
    groups = [table["response"].to_numpy(), table["label"].to_numpy()]
    within = ratings - ratings.groupby(groups).transform("mean")
    first = eigenvalues(ratings, bootstrap).iloc[0].to_dict()
    share = first | {name: first[name] / len(FEELINGS) for name in ("estimate", "low", "high")}
    share |= {"unit": "share of the variance", "method": f"first eigenvalue divided by their number; {first['method']}"}
    counted = retained(ratings, seed=seed)
    alpha = alpha_row(within, bootstrap)
    rows = {
        "Cronbach's alpha": alpha_row(ratings, bootstrap),
        "Cronbach's alpha within the four groups": alpha | {"method": f"ratings minus group means; {alpha['method']}"},
        "average correlation": average_correlation_row(ratings, bootstrap),
        "omega total, one factor": omega_row(ratings, bootstrap),
        "share of the first eigenvalue": share,
        "components above noise": counted.loc["components, noise of as many units"].to_dict(),
        "factors above noise": counted.loc["factors, noise of as many units"].to_dict(),
    }
    return estimate_table(rows, "measure", _STRUCTURE)


def ceiling(table: pd.DataFrame, bootstrap: ParticipantBootstrap) -> pd.DataFrame:
    """Share of people who gave the highest rating: to each feeling, to all six, and to all six in each group.

    Where many are at the upper end of a scale, people who felt still better could not say so, and differences between
    high groups come out too small.

    Parameters
    ----------
    table : DataFrame
        As :func:`people` gives it.
    bootstrap : ParticipantBootstrap
        Resamples of these people.

    Returns
    -------
    DataFrame
        One row per rating, then per group: estimate, low, high (0 .. 1), n (people), unit, method, reason.

    Examples
    --------
    >>> table = people()
    >>> shares = ceiling(table, resampling(table, draws=200, seed=1))
    >>> round(float(shares.loc["all six", "estimate"]), 3)
    0.163
    """
    top = table[list(NAMES.values())] == HIGHEST
    every = pd.Series(True, index=table.index)
    chosen = {feeling: (top[feeling], every) for feeling in top} | {"all six": (top.all(axis=1), every)}
    for source, label in CELLS:
        group = (table["response"] == source) & (table["label"] == label)
        chosen[f"all six, {SOURCES[source]}, {LABELS[label]}"] = (top.all(axis=1), group)
    rows = {}
    for name, (highest, among) in chosen.items():
        values = np.column_stack([highest[among], np.ones(among.sum())]).astype(float)
        share = bootstrap.estimate(ratio, values, table.loc[among, "participant"])
        method = "share of people who gave the highest rating"
        rows[name] = bootstrap.row(share, n=int(among.sum()), unit="share of people", method=method)
    return estimate_table(rows, "rating", _CEILING)


check_arguments(globals())
