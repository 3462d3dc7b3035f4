"""Whole conversations: how turns combine, and what they have to do with experience."""

from sense7.findings.whole.outcomes import (
    available_turn_rating,
    cross_validated_r2,
    empathy_and_experience,
)

__all__ = [
    "available_turn_rating",
    "cross_validated_r2",
    "empathy_and_experience",
]
