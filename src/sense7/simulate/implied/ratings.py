"""Implied values of the ratings by themselves: applicability, levels, reliability, agreement, structure, importance."""

import itertools
from math import comb

import numpy as np

from sense7.simulate.implied import arrays
from sense7.simulate.implied.arrays import Tables
from sense7.taxonomy import DIMENSION_NAMES

__all__ = ["values_of_ratings"]

_STEPS = 500
_CLOSE = 1e-12


def values_of_ratings(tables: Tables) -> dict[str, float]:
    """Key -> value of what the ratings of turns and after the conversation say, conversations aside."""
    matrices = _matrices(tables)
    return _levels(tables) | _reliability(matrices) | _structure(tables, matrices) | _importance(tables)


def _levels(tables: Tables) -> dict[str, float]:
    study, put, overall = tables.study, tables.put, tables.overall
    values = {
        "turns": len(put) * study.parameters.conversations / len(study.turns),
        "turns_put_to_rating": put.sum() * study.parameters.conversations / len(study.turns),
    }
    for name, column in zip((*DIMENSION_NAMES, "overall"), (*tables.seven.T, overall), strict=True):
        asked = column[put]
        rated = asked[asked > 0]
        values[f"applicability_{name}"] = arrays.mean(asked > 0)
        values[f"very_poor_of_rated_{name}"] = arrays.mean(rated == 1)
        values[f"very_poor_of_all_{name}"] = arrays.mean(asked == 1)
        values[f"mean_{name}"] = arrays.mean(rated.astype(float))
    for position, name in enumerate(DIMENSION_NAMES):
        pairs = arrays.crossed(tables.seven[:, position], overall)
        values[f"kappa_linear_{name}"] = arrays.kappa(pairs, 1)
        values[f"kappa_quadratic_{name}"] = arrays.kappa(pairs, 2)
        values[f"mean_post_{name}"] = study.post[:, position].mean()
    return values


def _matrices(tables: Tables) -> dict[str, np.ndarray]:
    """Covariances of the seven ratings: of the turns pairwise, of complete turns, after the conversation."""
    complete = (tables.seven > 0).all(axis=1)
    return {
        "turn": arrays.covariances(tables.seven),
        "turn_listwise": arrays.covariances(tables.seven[complete]),
        "post": arrays.covariances(tables.study.post),
    }


def _without(covariance: np.ndarray, position: int) -> np.ndarray:
    return np.delete(np.delete(covariance, position, axis=0), position, axis=1)


def _reliability(matrices: dict[str, np.ndarray]) -> dict[str, float]:
    values = {}
    for name, covariance in matrices.items():
        values[f"alpha_{name}"] = arrays.alpha(covariance)
        for position, left_out in enumerate(DIMENSION_NAMES):
            values[f"alpha_{name}_without_only_{left_out}"] = arrays.alpha(_without(covariance, position))
    return values


def _structure(tables: Tables, matrices: dict[str, np.ndarray]) -> dict[str, float]:
    values = {}
    pairs = arrays.pair_correlations(tables.seven)
    for a, b in itertools.combinations(range(7), 2):
        values[f"correlation_turn_{DIMENSION_NAMES[a]}_{DIMENSION_NAMES[b]}"] = pairs[a, b]
    for name, covariance in matrices.items():
        # With the sum of the others: its covariance with the item, and its variance, are sums of entries.
        own, rows = np.diag(covariance), covariance.sum(axis=1)
        rest = (rows - own) / np.sqrt(own * (covariance.sum() - 2 * rows + own))
        values |= {f"item_rest_{name}_{item}": rest[place] for place, item in enumerate(DIMENSION_NAMES)}
        matrix = arrays.correlations(covariance)
        average = (matrix.sum() - 7) / 42
        values[f"average_correlation_{name}"] = average
        values[f"alpha_standardised_{name}"] = 7 * average / (1 + 6 * average)
        values[f"guttman_lambda6_{name}"] = _lambda6(matrix)
    listwise = arrays.correlations(matrices["turn_listwise"])
    loadings = one_factor(listwise)
    values["omega_turn_listwise"] = _omega(loadings)
    values["omega_turn_without_relational"] = _omega(
        one_factor(arrays.correlations(arrays.covariances(_complete(tables.seven[:, :6]))))
    )
    values["omega_post"] = _omega(one_factor(arrays.correlations(matrices["post"])))
    values |= {f"one_factor_loading_turn_{item}": loadings[place] for place, item in enumerate(DIMENSION_NAMES)}
    eigenvalues = np.linalg.eigvalsh(listwise)[::-1] if np.isfinite(listwise).all() else np.full(7, np.nan)
    values |= {f"eigenvalue_turn_{number}": value for number, value in enumerate(eigenvalues, 1)}
    return values


def _complete(ratings: np.ndarray) -> np.ndarray:
    return ratings[(ratings > 0).all(axis=1)]


def _lambda6(matrix: np.ndarray) -> float:
    if not np.isfinite(matrix).all() or np.linalg.eigvalsh(matrix)[0] < 1e-9:
        return np.nan
    return 1 - (1 / np.diag(np.linalg.inv(matrix))).sum() / matrix.sum()


def one_factor(matrix: np.ndarray) -> np.ndarray:
    """Loadings of one factor by maximum likelihood, by going back and forth between uniquenesses and loadings."""
    if not np.isfinite(matrix).all() or np.linalg.eigvalsh(matrix)[0] < 1e-9:
        return np.full(len(matrix), np.nan)
    unique = 1 / np.diag(np.linalg.inv(matrix))
    for _ in range(_STEPS):
        scale = np.sqrt(unique)
        roots, vectors = np.linalg.eigh(matrix / np.outer(scale, scale))
        loadings = np.sqrt(max(roots[-1] - 1, 0)) * scale * vectors[:, -1]
        before, unique = unique, np.maximum(1 - loadings**2, 1e-6)
        if np.abs(unique - before).max() < _CLOSE:
            break
    return loadings * np.sign(loadings.sum())


def _omega(loadings: np.ndarray) -> float:
    return loadings.sum() ** 2 / (loadings.sum() ** 2 + (1 - loadings**2).sum())


def _importance(tables: Tables) -> dict[str, float]:
    values = {}
    names = DIMENSION_NAMES
    complete = (tables.seven > 0).all(axis=1) & (tables.overall > 0)
    of_turns = np.column_stack([tables.seven, tables.overall])[complete].astype(float)
    six = (tables.seven[:, :6] > 0).all(axis=1) & (tables.overall > 0)
    of_six = np.column_stack([tables.seven[:, :6], tables.overall])[six].astype(float)
    after = np.column_stack([tables.study.post, tables.experience]).astype(float)
    for prefix, rows, items in (
        ("relative_importance", of_turns, names),
        ("relative_importance_without_relational", of_six, names[:6]),
        ("relative_importance_experience", after, names),
    ):
        shares = shapley_shares(rows)
        values |= {f"{prefix}_{item}": share for item, share in zip(items, shares, strict=True)}
        values[f"{prefix}_r2"] = shares.sum()
        values |= {f"{prefix}_share_{item}": share / shares.sum() for item, share in zip(items, shares, strict=True)}
    return values


def shapley_shares(rows: np.ndarray) -> np.ndarray:
    """Shares of R squared (LMG) of all columns but the last in explaining the last, by all subsets."""
    width = rows.shape[1] - 1
    if len(rows) < 10 * width:
        return np.full(width, np.nan)
    centered = rows - rows.mean(axis=0)
    covariance = centered.T @ centered
    if np.linalg.eigvalsh(covariance[:-1, :-1])[0] < 1e-9 or covariance[-1, -1] <= 0:
        return np.full(width, np.nan)
    explained = {(): 0.0}
    for size in range(1, width + 1):
        subsets = list(itertools.combinations(range(width), size))
        index = np.array(subsets)
        inside = covariance[index[:, :, None], index[:, None, :]]
        outcome = covariance[index, -1]
        solved = np.linalg.solve(inside, outcome[..., None])[..., 0]
        shares = (solved * outcome).sum(axis=1) / covariance[-1, -1]
        explained |= dict(zip(subsets, shares.tolist(), strict=True))
    found = np.zeros(width)
    for subset, share in explained.items():
        for item in set(range(width)) - set(subset):
            gain = explained[tuple(sorted((*subset, item)))] - share
            found[item] += gain / (width * comb(width - 1, len(subset)))
    return found
