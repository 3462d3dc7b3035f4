"""Structure of the seven ratings: correlations, number of factors, fit of one and of several factors."""

from sense7.findings.structure.factors_by_group import comparison, fit_of_models
from sense7.findings.structure.items import consistency, correlation_matrix, correlations, item_rest
from sense7.findings.structure.number_of_factors import eigenvalues, parallel_analysis, retained
from sense7.findings.structure.one_factor import fit_indices, omega_row, omegas_and_loadings
from sense7.findings.structure.ordinal_alpha import ordinal_alphas, polychoric_matrix

__all__ = [
    "comparison",
    "consistency",
    "correlation_matrix",
    "correlations",
    "eigenvalues",
    "fit_indices",
    "fit_of_models",
    "item_rest",
    "omega_row",
    "omegas_and_loadings",
    "ordinal_alphas",
    "parallel_analysis",
    "polychoric_matrix",
    "retained",
]
