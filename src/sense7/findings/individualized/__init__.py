"""Individualized: how much of the ratings depends on the person."""

from sense7.findings.individualized.characteristics import explained_together, relations
from sense7.findings.individualized.same_person import own_ratings, participant_icc, same_condition_differences
from sense7.findings.individualized.shares_of_variance import variance_shares
from sense7.findings.individualized.variance_components import variance_parts

__all__ = [
    "explained_together",
    "own_ratings",
    "participant_icc",
    "relations",
    "same_condition_differences",
    "variance_parts",
    "variance_shares",
]
