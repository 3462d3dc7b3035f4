"""Structure of the seven ratings: correlations, number of factors, fit of one and of several factors."""

from sense7.findings.structure.factors_by_group import COMPARISON_KEYS, FIT_KEYS_OF_MODELS, comparison, fit_of_models
from sense7.findings.structure.items import (
    CONSISTENCY_KEYS,
    PAIR_KEYS,
    consistency,
    correlation_matrix,
    correlations,
    item_rest,
)
from sense7.findings.structure.number_of_factors import RETAINED_KEYS, eigenvalues, parallel_analysis, retained
from sense7.findings.structure.one_factor import (
    FIT_KEYS,
    OMEGA_KEYS,
    fit_indices,
    omega_row,
    omega_table,
    omegas_and_loadings,
)
from sense7.findings.structure.ordinal_alpha import ORDINAL_KEYS, ordinal_alphas, polychoric_matrix

__all__ = [
    "COMPARISON_KEYS",
    "CONSISTENCY_KEYS",
    "FIT_KEYS",
    "FIT_KEYS_OF_MODELS",
    "OMEGA_KEYS",
    "ORDINAL_KEYS",
    "PAIR_KEYS",
    "RETAINED_KEYS",
    "comparison",
    "consistency",
    "correlation_matrix",
    "correlations",
    "eigenvalues",
    "fit_indices",
    "fit_of_models",
    "item_rest",
    "omega_row",
    "omega_table",
    "omegas_and_loadings",
    "ordinal_alphas",
    "parallel_analysis",
    "polychoric_matrix",
    "retained",
]
