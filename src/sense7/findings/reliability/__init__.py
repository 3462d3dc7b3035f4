"""Reliability of the seven ratings: alpha and omega, over all turns and within conversations."""

from sense7.findings.reliability.alphas import alpha_if_dropped, alpha_table
from sense7.findings.reliability.levels import (
    alphas_by_level,
    average_correlations_by_level,
    correlation_matrix_within,
    omegas_within,
)

__all__ = [
    "alpha_if_dropped",
    "alpha_table",
    "alphas_by_level",
    "average_correlations_by_level",
    "correlation_matrix_within",
    "omegas_within",
]
