"""True values of the ratings by themselves: applicability, levels, reliability, agreement, structure, importance."""

import itertools
from math import comb

import numpy as np

from sense7.simulate.true_values import arrays
from sense7.simulate.true_values.arrays import Tables
from sense7.taxonomy import DIMENSION_NAMES

_RELATIONAL = DIMENSION_NAMES.index("Relational")
_STEPS = 500
_CLOSE = 1e-12


def values_of_ratings(tables: Tables) -> dict[str, float]:
    """Key -> value of what the ratings of turns and after the conversation say by themselves."""
    return _levels(tables) | _agreement(tables) | _reliability(tables)


def details_of_ratings(tables: Tables) -> dict[str, float]:
    """The same of what costs more to compute."""
    return {
        **_by_turn(tables),
        **_kappa_differences(tables),
        **_structure(tables),
        **_importance(tables),
        **_levels_of_nesting(tables),
    }


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
        values[f"mean_{name}"] = arrays.mean(rated.astype(float))
    relational = tables.seven[:, _RELATIONAL]
    values["applicability_all_turns_Relational"] = arrays.mean(relational > 0)
    of_all = np.array([arrays.mean(levels == 1) for levels in tables.seven[put].T])
    values["relational_very_poor_of_all"] = of_all[_RELATIONAL]
    nearest = np.delete(of_all, _RELATIONAL).max()
    values["relational_very_poor_of_all_above_nearest"] = of_all[_RELATIONAL] - nearest
    others = [name for name in DIMENSION_NAMES if name != "Relational"]
    nearest = min(values[f"applicability_{name}"] for name in others)
    values["relational_applicability_below_nearest"] = nearest - values["applicability_Relational"]
    nearest = max(values[f"very_poor_of_rated_{name}"] for name in others)
    values["relational_very_poor_above_nearest"] = values["very_poor_of_rated_Relational"] - nearest
    return values


def _by_turn(tables: Tables) -> dict[str, float]:
    """How often Relational is rated in first turns and in later ones."""
    put, turn = tables.put, tables.study.turn[tables.put]
    rated = tables.seven[put, _RELATIONAL] > 0
    first, later = arrays.mean(rated[turn == 0]), arrays.mean(rated[turn > 0])
    values = {
        "relational_applicability_first_turn": first,
        "relational_applicability_later_turns": later,
    }
    return values | {"relational_applicability_later_minus_first": later - first}


def _agreement(tables: Tables) -> dict[str, float]:
    """Kappas with the overall rating, where both are rated."""
    values = {}
    for position, name in enumerate(DIMENSION_NAMES):
        pairs = arrays.crossed(tables.seven[:, position], tables.overall)
        values[f"kappa_linear_{name}"] = arrays.kappa(pairs, 1)
        values[f"kappa_quadratic_{name}"] = arrays.kappa(pairs, 2)
    return values


def _kappa_differences(tables: Tables) -> dict[str, float]:
    """Kappa of Relational minus that of each other dimension, in turns that rate both."""
    linear, quadratic = {}, {}
    rows = tables.seven[:, _RELATIONAL] > 0
    seven, overall = tables.seven[rows], tables.overall[rows]
    for position, name in enumerate(DIMENSION_NAMES):
        if position != _RELATIONAL:
            shared = np.where(seven[:, position] > 0, overall, 0)
            own, other = (arrays.crossed(seven[:, one], shared) for one in (_RELATIONAL, position))
            linear[f"kappa_difference_{name}"] = arrays.kappa(own, 1) - arrays.kappa(other, 1)
            quadratic[name] = arrays.kappa(own, 2) - arrays.kappa(other, 2)
    nearest = {"kappa_difference_nearest": max(linear.values())}
    return linear | nearest | {"kappa_difference_quadratic_nearest": max(quadratic.values())}


def _reliability(tables: Tables) -> dict[str, float]:
    values = {}
    for name, covariance in tables.covariances.items():
        values[f"alpha_{name}"] = arrays.alpha(covariance)
        if name in {"turn", "post"}:
            for position, left_out in enumerate(DIMENSION_NAMES):
                others = np.delete(np.delete(covariance, position, axis=0), position, axis=1)
                values[f"alpha_{name}_without_only_{left_out}"] = arrays.alpha(others)
    return values


def _structure(tables: Tables) -> dict[str, float]:
    values, matrices = {}, tables.covariances
    pairs = arrays.pair_correlations(tables.seven)
    for a, b in itertools.combinations(range(7), 2):
        values[f"correlation_turn_{DIMENSION_NAMES[a]}_{DIMENSION_NAMES[b]}"] = pairs[a, b]
    # With the sum of the others: its covariance with the item, and its variance, are sums of entries.
    covariance = matrices["turn"]
    own, rows = np.diag(covariance), covariance.sum(axis=1)
    rest = (rows - own) / np.sqrt(own * (covariance.sum() - 2 * rows + own))
    values |= {f"item_rest_turn_{item}": rest[place] for place, item in enumerate(DIMENSION_NAMES)}
    values["average_correlation_turn"] = _average(covariance)
    listwise = arrays.correlations(matrices["turn_listwise"])
    loadings = one_factor(listwise)
    values["omega_turn_listwise"] = loadings.sum() ** 2 / (
        loadings.sum() ** 2 + (1 - loadings**2).sum()
    )
    values |= {
        f"one_factor_loading_turn_{item}": loadings[column]
        for column, item in enumerate(DIMENSION_NAMES)
    }
    eigenvalues = (
        np.linalg.eigvalsh(listwise)[::-1] if np.isfinite(listwise).all() else np.full(7, np.nan)
    )
    values |= {f"eigenvalue_turn_{number}": value for number, value in enumerate(eigenvalues, 1)}
    return values


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


def _importance(tables: Tables) -> dict[str, float]:
    """Shares of what the dimensions explain of the overall rating (LMG), over all turns and within conversations."""
    used = tables.complete & (tables.overall > 0)
    rows = np.column_stack([tables.seven, tables.overall])[used].astype(float)
    own = arrays.centered(rows, arrays.compact(tables.study.conversation[used]))
    values = {}
    for prefix, columns in (("relative_importance", rows), ("relative_importance_within", own)):
        shares = shapley_shares(columns)
        values[f"{prefix}_r2"] = shares.sum()
        if columns is rows:  # what the coverage of intervals is of
            values |= {
                f"{prefix}_{item}": share
                for item, share in zip(DIMENSION_NAMES, shares, strict=True)
            }
        values |= {
            f"{prefix}_share_{item}": share / shares.sum()
            for item, share in zip(DIMENSION_NAMES, shares, strict=True)
        }
    return values


# Within conversations and between them --------------------------------------------------------------


def _levels_of_nesting(tables: Tables) -> dict[str, float]:
    """Reliability and correlations of the ratings within conversations and between them."""
    within, between = _nested_covariances(tables.seven, tables.study.conversation)
    return {
        "within_alpha": arrays.alpha(within),
        "between_alpha": arrays.alpha(between),
        "within_average_correlation": _average(within),
        "between_average_correlation": _average(between),
    }


def _average(covariance: np.ndarray) -> float:
    matrix = arrays.correlations(covariance)
    return (matrix.sum() - len(matrix)) / (len(matrix) * (len(matrix) - 1))


def _nested_covariances(ratings: np.ndarray, of: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Covariances within groups and between them, of every two columns where both are rated; zeros are missing."""
    starts = np.flatnonzero(np.diff(of, prepend=-1))
    values, rated = ratings.astype(float), (ratings > 0).astype(float)
    items = ratings.shape[1]
    within, between = np.full((items, items), np.nan), np.full((items, items), np.nan)
    for a, b in itertools.combinations_with_replacement(range(items), 2):
        both = rated[:, a] * rated[:, b]
        x, y = values[:, a] * both, values[:, b] * both
        counts, sum_x, sum_y = (np.add.reduceat(column, starts) for column in (both, x, y))
        some = counts > 0
        counts, products = counts[some], sum_x[some] * sum_y[some] / counts[some]
        total, groups = counts.sum(), len(counts)
        if groups < 2 or total <= groups:
            continue
        inside = ((x * y).sum() - products.sum()) / (total - groups)
        mean_square = (products.sum() - sum_x.sum() * sum_y.sum() / total) / (groups - 1)
        size = (total - (counts**2).sum() / total) / (groups - 1)
        within[a, b] = within[b, a] = inside
        between[a, b] = between[b, a] = (mean_square - inside) / size
    return within, between


# Relative importance --------------------------------------------------------------------------------


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
