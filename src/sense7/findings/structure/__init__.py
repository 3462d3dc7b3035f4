"""Structure of the seven ratings: correlations, number of factors, fit of one factor."""

from sense7.findings.structure.items import average_correlation_row, correlation_matrix, correlations, item_rest
from sense7.findings.structure.number_of_factors import eigenvalues, parallel_analysis, retained
from sense7.findings.structure.one_factor import fit_indices, omega_and_loadings, omega_row

__all__ = [
    "average_correlation_row",
    "correlation_matrix",
    "correlations",
    "eigenvalues",
    "fit_indices",
    "item_rest",
    "omega_and_loadings",
    "omega_row",
    "parallel_analysis",
    "retained",
]
