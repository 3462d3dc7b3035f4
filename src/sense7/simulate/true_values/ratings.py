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


def levels(tables: Tables) -> dict[str, float]:
    """How often dimensions are rated, how often very poor, and their mean; Relational beside the nearest other."""
    study = tables.study
    put = tables.put
    studies = len(study.turns) / study.parameters.conversations
    values = {"turns": len(put) / studies, "turns_put_to_rating": put.sum() / studies}
    columns = [*tables.seven.T, tables.overall]
    for name, column in zip((*DIMENSION_NAMES, "overall"), columns, strict=True):
        asked_ratings = column[put]
        ratings = asked_ratings[asked_ratings > 0]
        values[f"applicability_{name}"] = arrays.mean(asked_ratings > 0)
        values[f"very_poor_of_rated_{name}"] = arrays.mean(ratings == 1)
        values[f"mean_{name}"] = arrays.mean(ratings.astype(float))
    values["applicability_all_turns_Relational"] = arrays.mean(tables.seven[:, _RELATIONAL] > 0)

    very_poor = [arrays.mean(ratings == 1) for ratings in tables.seven[put].T]
    relational = very_poor.pop(_RELATIONAL)
    values["relational_very_poor_of_all"] = relational
    values["relational_very_poor_of_all_above_nearest"] = relational - max(very_poor)
    other_names = [name for name in DIMENSION_NAMES if name != "Relational"]
    nearest = min(values[f"applicability_{name}"] for name in other_names)
    values["relational_applicability_below_nearest"] = nearest - values["applicability_Relational"]
    nearest = max(values[f"very_poor_of_rated_{name}"] for name in other_names)
    values["relational_very_poor_above_nearest"] = values["very_poor_of_rated_Relational"] - nearest
    return values


def relational_by_turn(tables: Tables) -> dict[str, float]:
    """How often Relational is rated in first turns and in later ones."""
    turn = tables.study.turn[tables.put]
    is_rated = tables.seven[tables.put, _RELATIONAL] > 0
    first = arrays.mean(is_rated[turn == 0])
    later = arrays.mean(is_rated[turn > 0])
    return {
        "relational_applicability_first_turn": first,
        "relational_applicability_later_turns": later,
        "relational_applicability_later_minus_first": later - first,
    }


def agreement(tables: Tables) -> dict[str, float]:
    """Kappas with the overall rating, where both are rated."""
    values = {}
    for position, name in enumerate(DIMENSION_NAMES):
        pairs = arrays.crossed(tables.seven[:, position], tables.overall)
        values[f"kappa_linear_{name}"] = arrays.kappa(pairs, 1)
        values[f"kappa_quadratic_{name}"] = arrays.kappa(pairs, 2)
    return values


def kappa_differences(tables: Tables) -> dict[str, float]:
    """Kappa of Relational minus that of each other dimension, in turns that rate both."""
    rows = tables.seven[:, _RELATIONAL] > 0
    ratings = tables.seven[rows]
    overall = tables.overall[rows]
    values = {}
    quadratic = []
    for position, name in enumerate(DIMENSION_NAMES):
        if position == _RELATIONAL:
            continue
        shared_overall = np.where(ratings[:, position] > 0, overall, 0)
        relational = arrays.crossed(ratings[:, _RELATIONAL], shared_overall)
        other = arrays.crossed(ratings[:, position], shared_overall)
        difference = arrays.kappa(relational, 1) - arrays.kappa(other, 1)
        values[f"kappa_difference_{name}"] = difference
        quadratic.append(arrays.kappa(relational, 2) - arrays.kappa(other, 2))
    values["kappa_difference_nearest"] = max(values.values())
    values["kappa_difference_quadratic_nearest"] = max(quadratic)
    return values


def reliability(tables: Tables) -> dict[str, float]:
    """Cronbach's alpha of turns, of complete turns and after the conversation, and without each dimension."""
    values = {}
    for name, covariance in tables.covariances.items():
        values[f"alpha_{name}"] = arrays.alpha(covariance)
        if name in {"turn", "post"}:
            alphas = []
            for position in range(7):
                remaining = np.delete(np.delete(covariance, position, axis=0), position, axis=1)
                alphas.append(arrays.alpha(remaining))
            values.update(arrays.by_dimension(f"alpha_{name}_without_only", alphas))
    return values


def structure(tables: Tables) -> dict[str, float]:
    """Correlations of the turn ratings, and one factor behind those of complete turns."""
    values = {}
    pairs = arrays.pair_correlations(tables.seven)
    for a, b in itertools.combinations(range(7), 2):
        values[f"correlation_turn_{DIMENSION_NAMES[a]}_{DIMENSION_NAMES[b]}"] = pairs[a, b]
    # With the sum of the other items: its covariance with the item, and its variance, are sums of entries.
    covariance = tables.covariances["turn"]
    variances = np.diag(covariance)
    rows = covariance.sum(axis=1)
    variances_of_sums = covariance.sum() - 2 * rows + variances
    item_rest = (rows - variances) / np.sqrt(variances * variances_of_sums)
    values.update(arrays.by_dimension("item_rest_turn", item_rest))
    values["average_correlation_turn"] = _average_correlation(covariance)

    listwise = arrays.correlations(tables.covariances["turn_listwise"])
    loadings = one_factor(listwise)
    common = loadings.sum() ** 2
    values["omega_turn_listwise"] = common / (common + (1 - loadings**2).sum())
    values.update(arrays.by_dimension("one_factor_loading_turn", loadings))
    eigenvalues = np.full(7, np.nan)
    if np.isfinite(listwise).all():
        eigenvalues = np.linalg.eigvalsh(listwise)[::-1]
    for number, eigenvalue in enumerate(eigenvalues, 1):
        values[f"eigenvalue_turn_{number}"] = eigenvalue
    return values


def one_factor(matrix: np.ndarray) -> np.ndarray:
    """Loadings of one factor by maximum likelihood, by going back and forth between uniquenesses and loadings."""
    if not np.isfinite(matrix).all() or np.linalg.eigvalsh(matrix)[0] < 1e-9:
        return np.full(len(matrix), np.nan)
    uniquenesses = 1 / np.diag(np.linalg.inv(matrix))
    for _ in range(_STEPS):
        scale = np.sqrt(uniquenesses)
        roots, vectors = np.linalg.eigh(matrix / np.outer(scale, scale))
        loadings = np.sqrt(max(roots[-1] - 1, 0)) * scale * vectors[:, -1]
        changed = np.maximum(1 - loadings**2, 1e-6)
        is_close = np.abs(changed - uniquenesses).max() < _CLOSE
        uniquenesses = changed
        if is_close:
            break
    return loadings * np.sign(loadings.sum())


def importance(tables: Tables) -> dict[str, float]:
    """Shares of what the dimensions explain of the overall rating (LMG), over all turns and within conversations."""
    is_complete = tables.complete & (tables.overall > 0)
    rows = np.column_stack([tables.seven, tables.overall])[is_complete].astype(float)
    conversation = arrays.compact(tables.study.conversation[is_complete])
    shares = shapley_shares(rows)
    values = {"relative_importance_r2": shares.sum()}
    # What the coverage of intervals is of.
    values.update(arrays.by_dimension("relative_importance", shares))
    values.update(arrays.by_dimension("relative_importance_share", shares / shares.sum()))
    shares = shapley_shares(arrays.centered(rows, conversation))
    values["relative_importance_within_r2"] = shares.sum()
    values.update(arrays.by_dimension("relative_importance_within_share", shares / shares.sum()))
    return values


# Within conversations and between them --------------------------------------------------------------


def within_and_between(tables: Tables) -> dict[str, float]:
    """Reliability and correlations of the ratings within conversations and between them."""
    within, between = _nested_covariances(tables.seven, tables.study.conversation)
    return {
        "within_alpha": arrays.alpha(within),
        "between_alpha": arrays.alpha(between),
        "within_average_correlation": _average_correlation(within),
        "between_average_correlation": _average_correlation(between),
    }


def _average_correlation(covariance: np.ndarray) -> float:
    matrix = arrays.correlations(covariance)
    return (matrix.sum() - len(matrix)) / (len(matrix) * (len(matrix) - 1))


def _nested_covariances(
    ratings: np.ndarray, conversation: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Covariances within groups and between them, of every two columns where both are rated; zeros are missing."""
    starts = np.flatnonzero(np.diff(conversation, prepend=-1))
    values = ratings.astype(float)
    rated = (ratings > 0).astype(float)
    items = ratings.shape[1]
    within = np.full((items, items), np.nan)
    between = np.full((items, items), np.nan)
    for a, b in itertools.combinations_with_replacement(range(items), 2):
        pair_rated = rated[:, a] * rated[:, b]
        x = values[:, a] * pair_rated
        y = values[:, b] * pair_rated
        counts = np.add.reduceat(pair_rated, starts)
        sum_x = np.add.reduceat(x, starts)
        sum_y = np.add.reduceat(y, starts)
        products = (sum_x * sum_y)[counts > 0] / counts[counts > 0]
        counts = counts[counts > 0]
        n = counts.sum()
        m = len(counts)
        if m < 2 or n <= m:
            continue
        inside = ((x * y).sum() - products.sum()) / (n - m)
        mean_square = (products.sum() - sum_x.sum() * sum_y.sum() / n) / (m - 1)
        size = (n - (counts**2).sum() / n) / (m - 1)
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
        r_squared = (solved * outcome).sum(axis=1) / covariance[-1, -1]
        explained.update(zip(subsets, r_squared.tolist(), strict=True))
    shares = np.zeros(width)
    for subset, r_squared in explained.items():
        for item in set(range(width)) - set(subset):
            gain = explained[tuple(sorted((*subset, item)))] - r_squared
            shares[item] += gain / (width * comb(width - 1, len(subset)))
    return shares
