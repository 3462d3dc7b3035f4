"""Polychoric correlations of the dimensions, and ordinal alpha."""

import itertools
from dataclasses import replace

import numpy as np
import pandas as pd

from sense7.arguments import check_arguments
from sense7.estimators.alpha import alpha_from_covariances
from sense7.estimators.bootstrap import ParticipantBootstrap
from sense7.estimators.estimates import estimate_row, estimate_table
from sense7.estimators.item_analysis import joined, lacking_items, too_few, usable, varies
from sense7.estimators.polychoric import LEVEL_COUNT, polychoric
from sense7.terminal import count_of

__all__ = ["ordinal_alpha_row", "ordinal_alphas", "polychoric_matrix"]

MOST_DRAWS = 500
"""Draws for the interval of ordinal alpha: each takes all correlations again."""


def level_tables(ratings: pd.DataFrame) -> tuple[np.ndarray, pd.Index]:
    """Return how often each two levels were given together, by participant and pair of items.

    Parameters
    ----------
    ratings : DataFrame, shape (units, items)
        Indexed by participant. Units that lack an item, or give it no whole level 1..5, are in none of its tables.

    Returns
    -------
    tables : array, shape (participants, pairs, 5, 5)
        By level of the first and of the second item of a pair. For units, one table for each would be needed.
    participants : Index
        The first axis.

    Examples
    --------
    >>> ratings = pd.DataFrame({"a": [1.0, 1.0, 5.0], "b": [2.0, 2.0, np.nan]}, index=["P1", "P1", "P2"])
    >>> tables, participants = level_tables(ratings)
    >>> tables.shape, tables[0, 0, 0, 1].item(), tables.sum().item(), list(participants)
    ((2, 1, 5, 5), 2.0, 2.0, ['P1', 'P2'])
    """
    codes, participants = pd.factorize(ratings.index, use_na_sentinel=False)
    values = ratings.to_numpy(dtype=float)
    rated = np.isin(values, np.arange(1, LEVEL_COUNT + 1))
    levels = np.where(rated, values, 1).astype(int) - 1
    pairs = list(itertools.combinations(range(values.shape[1]), 2))
    tables = np.zeros((len(participants), len(pairs), LEVEL_COUNT, LEVEL_COUNT))
    for pair, (a, b) in enumerate(pairs):
        both = rated[:, a] & rated[:, b]
        cells = (codes[both] * LEVEL_COUNT + levels[both, a]) * LEVEL_COUNT + levels[both, b]
        tables[:, pair] = np.bincount(cells, minlength=len(participants) * LEVEL_COUNT**2).reshape(
            -1, LEVEL_COUNT, LEVEL_COUNT
        )
    return tables, participants


def _square(correlations: np.ndarray, items: int) -> np.ndarray:
    matrix = np.zeros((*correlations.shape[:-1], items, items))
    rows, columns = np.triu_indices(items, 1)
    matrix[..., rows, columns] = matrix[..., columns, rows] = correlations
    return matrix + np.eye(items)


def polychoric_matrix(ratings: pd.DataFrame) -> pd.DataFrame:
    """Return polychoric correlations of all pairs of items, each over the units that rate both.

    Items without a rating or without variation keep their row and column, of NaN.

    Notes
    -----
    R: psych::polychoric(correct=0), polycor::polychor(ML=FALSE), tests/reference/reference.R; equal to 5e-5.
    """
    counts = level_tables(ratings)[0].sum(axis=0)
    matrix = _square(polychoric(counts), ratings.shape[1])
    constant = [column for column, name in enumerate(ratings) if not varies(ratings[name])]
    matrix[constant, constant] = np.nan
    return pd.DataFrame(matrix, index=list(ratings), columns=list(ratings))


def _ordinal_alpha(sums: np.ndarray) -> np.ndarray:
    items = round((1 + np.sqrt(1 + 8 * sums.shape[-3])) / 2)
    return alpha_from_covariances(_square(polychoric(sums), items))


def ordinal_alpha_row(ratings: pd.DataFrame, bootstrap: ParticipantBootstrap) -> dict:
    r"""Return Cronbach's alpha of the polychoric correlations, listwise, as a row of estimates.

    Parameters
    ----------
    ratings : DataFrame, shape (units, items)
        Whole levels 1..5, indexed by participant. Items never rated or without variation are left
        out, and named in the method.
    bootstrap : ParticipantBootstrap
        Bootstrap resamples of participants, of which at most 500 are used: each takes all correlations again.

    Returns
    -------
    dict
        Row of estimates; n is the number of units that rate every item.

    References
    ----------
    Zumbo, B. D., Gadermann, A. M., & Zeisser, C. (2007). Journal of Modern Applied Statistical
    Methods 6, 21-29.

    Notes
    -----
    R: psych::alpha(psych::polychoric(correct=0)$rho), tests/reference/reference.R; equal to 5e-5.
    """
    used, note = usable(ratings)
    common = {
        "n": len(used),
        "unit": "alpha",
        "method": f"ordinal alpha (two-step polychoric), listwise, {count_of(used.shape[1], 'item')}{note}",
    }
    if reason := too_few(used, items=2, units=20) or _no_levels(used):
        return estimate_row(**common, reason=reason)
    own = replace(bootstrap, draws=min(bootstrap.draws, MOST_DRAWS))
    undefined = "a polychoric correlation runs to its limit: two of the ratings hardly ever differ"
    row = own.row(own.estimate(_ordinal_alpha, *level_tables(used)), **common, undefined=undefined)
    return row | {"reason": joined(row["reason"], lacking_items(used, note))}


def ordinal_alphas(turns: pd.DataFrame, post_task: pd.DataFrame, bootstrap: ParticipantBootstrap) -> pd.DataFrame:
    """Return ordinal alpha per turn and after the conversation."""
    rows = {
        "per turn, listwise": ordinal_alpha_row(turns, bootstrap) | {"key": "ordinal_alpha_turn"},
        "after the conversation, listwise": ordinal_alpha_row(post_task, bootstrap) | {"key": "ordinal_alpha_post"},
    }
    return estimate_table(rows, "ratings")


def _no_levels(used: pd.DataFrame) -> str:
    whole = used.isin(range(1, LEVEL_COUNT + 1)).all(axis=None)
    return "" if whole else "the ratings are no whole levels from 1 to 5"


check_arguments(globals())
