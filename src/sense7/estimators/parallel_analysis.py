"""Eigenvalues of noise, which those of the data have to exceed."""

import numpy as np
from scipy import stats

from sense7.arguments import check_arguments
from sense7.estimators.item_analysis import correlations_from_covariances, unexplained_variances

__all__ = ["descending_eigenvalues", "noise_eigenvalues", "reduced_correlations"]

SIMULATIONS = 1000
QUANTILE = 0.95


def descending_eigenvalues(matrices: np.ndarray) -> np.ndarray:
    """Eigenvalues from the largest to the smallest; NaN where a matrix has a NaN."""
    finite = np.isfinite(matrices).all(axis=(-2, -1))
    safe = np.where(finite[..., None, None], matrices, np.eye(matrices.shape[-1]))
    return np.where(finite[..., None], np.linalg.eigvalsh(safe)[..., ::-1], np.nan)


def reduced_correlations(correlations: np.ndarray) -> np.ndarray:
    """Correlation matrices with squared multiple correlations in the diagonal."""
    unexplained = unexplained_variances(correlations)
    return correlations - unexplained[..., None] * np.eye(correlations.shape[-1])


def noise_eigenvalues(
    rows: int, items: int, *, seed: int, simulations: int = SIMULATIONS, quantile: float = QUANTILE
) -> tuple[np.ndarray, np.ndarray]:
    """Quantiles of the eigenvalues of unrelated normal data, by rank.

    Parameters
    ----------
    rows, items : int
        Size of the data; more rows than items.
    seed : int
        Seed of the noise.
    simulations : int
        Number of data sets.
    quantile : float
        Which quantile, 0..1.

    Returns
    -------
    components, factors : array, shape (items,)
        Of the correlation matrix, and of that with squared multiple correlations in the diagonal.

    Notes
    -----
    R: psych::fa.parallel(quant=.95), tests/reference/reference.R; the numbers of factors and components are the same.

    Examples
    --------
    >>> components, factors = noise_eigenvalues(1000, 3, seed=1)
    >>> components.round(1).tolist(), factors.round(1).tolist()
    ([1.1, 1.0, 1.0], [0.1, 0.0, -0.0])
    """
    # Sums of squares of normal data are Wishart distributed: no data need be drawn.
    drawn = stats.wishart.rvs(rows - 1, np.eye(items), size=simulations, random_state=np.random.default_rng(seed))
    correlations = correlations_from_covariances(drawn)
    return tuple(
        np.quantile(descending_eigenvalues(matrix), quantile, axis=0)
        for matrix in (correlations, reduced_correlations(correlations))
    )


check_arguments(globals())
