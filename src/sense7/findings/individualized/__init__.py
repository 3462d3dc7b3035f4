"""Individualized: how much of the ratings depends on the person."""

from sense7.findings.individualized.characteristics import TOGETHER_KEYS, explained_together, relations
from sense7.findings.individualized.same_person import participant_icc, same_condition_differences
from sense7.findings.individualized.shares_of_variance import COMPARISON_KEYS, CONTEXT_BASE_KEYS, one_base
from sense7.findings.individualized.variance_components import BASE_KEYS, KEYS, variance_parts

__all__ = [
    "BASE_KEYS",
    "COMPARISON_KEYS",
    "CONTEXT_BASE_KEYS",
    "KEYS",
    "TOGETHER_KEYS",
    "explained_together",
    "one_base",
    "participant_icc",
    "relations",
    "same_condition_differences",
    "variance_parts",
]
