"""Reliability of the seven ratings: alpha and omega, over all turns and within conversations."""

from sense7.findings.reliability.alphas import ALPHA_KEYS, alpha_if_dropped, alpha_table
from sense7.findings.reliability.levels import (
    CORRELATION_KEYS,
    LEVEL_ALPHA_KEYS,
    LEVEL_OMEGA_KEYS,
    alphas_by_level,
    average_correlations_by_level,
    correlation_matrix_within,
    omegas_within,
)

__all__ = [
    "ALPHA_KEYS",
    "CORRELATION_KEYS",
    "LEVEL_ALPHA_KEYS",
    "LEVEL_OMEGA_KEYS",
    "alpha_if_dropped",
    "alpha_table",
    "alphas_by_level",
    "average_correlations_by_level",
    "correlation_matrix_within",
    "omegas_within",
]
