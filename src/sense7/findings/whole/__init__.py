"""Whole conversations: how turns combine, how ratings move over turns, and what they have to do with experience."""

from sense7.findings.whole.outcomes import (
    available_turn_rating,
    cross_validated_r2,
    empathy_and_experience,
)
from sense7.findings.whole.time_course import levels_by_turn, prompt_fading, slopes_per_turn, still_going

__all__ = [
    "available_turn_rating",
    "cross_validated_r2",
    "empathy_and_experience",
    "levels_by_turn",
    "prompt_fading",
    "slopes_per_turn",
    "still_going",
]
