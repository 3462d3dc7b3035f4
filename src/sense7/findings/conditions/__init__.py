"""The conditions compared: means, differences, mixed model, odds ratios, dimension by condition, invariance, fading."""

from sense7.findings.conditions.cumulative_logit_model import main_turn_rating, odds_ratios
from sense7.findings.conditions.design import condition_design
from sense7.findings.conditions.fading import levels_by_turn, prompt_fading
from sense7.findings.conditions.invariance import largest_loading_difference
from sense7.findings.conditions.means import (
    best_condition,
    condition_differences,
    condition_means,
    prompted_minus_mean_of_others,
)
from sense7.findings.conditions.mixed_model import mixed_contrasts, p_values_in_words, prompted_minus_best_other
from sense7.findings.conditions.profile import dimension_by_condition

__all__ = [
    "best_condition",
    "condition_design",
    "condition_differences",
    "condition_means",
    "dimension_by_condition",
    "largest_loading_difference",
    "levels_by_turn",
    "main_turn_rating",
    "mixed_contrasts",
    "odds_ratios",
    "p_values_in_words",
    "prompt_fading",
    "prompted_minus_best_other",
    "prompted_minus_mean_of_others",
]
