"""Whole conversations: how turns combine, how ratings move over turns, and what they have to do with experience."""

from sense7.findings.whole.outcomes import (
    EXPERIENCE_KEYS,
    PEAK_END_KEYS,
    PREDICTED_KEYS,
    WITHIN_KEYS,
    cross_validated_r2,
    empathy_and_experience,
    peak_end,
    rating_of_turns,
    variance_inflation,
)
from sense7.findings.whole.time_course import (
    FADING_KEYS,
    TURNS,
    levels_by_turn,
    prompt_fading,
    slopes_per_turn,
    still_going,
)

__all__ = [
    "EXPERIENCE_KEYS",
    "FADING_KEYS",
    "PEAK_END_KEYS",
    "PREDICTED_KEYS",
    "TURNS",
    "WITHIN_KEYS",
    "cross_validated_r2",
    "empathy_and_experience",
    "levels_by_turn",
    "peak_end",
    "prompt_fading",
    "rating_of_turns",
    "slopes_per_turn",
    "still_going",
    "variance_inflation",
]
