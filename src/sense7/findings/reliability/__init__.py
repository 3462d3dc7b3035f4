"""Reliability of the seven ratings: alpha over all turns and within conversations, straight-lining."""

from sense7.findings.reliability.alphas import alpha_if_dropped, alpha_table, alpha_taking_turns_as_independent
from sense7.findings.reliability.levels import (
    alphas_by_level,
    average_correlations_by_level,
    correlation_matrix_within,
)
from sense7.findings.reliability.straight_lines import straight_lining

__all__ = [
    "alpha_if_dropped",
    "alpha_table",
    "alpha_taking_turns_as_independent",
    "alphas_by_level",
    "average_correlations_by_level",
    "correlation_matrix_within",
    "straight_lining",
]
