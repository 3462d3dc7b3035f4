"""The conditions compared: means, differences, mixed model, odds ratios, profiles, and for whom they differ."""

from sense7.findings.conditions.cumulative_logit_model import (
    compare_models,
    main_turn_rating,
    odds_ratios,
    order_of_conditions,
    same_order,
)
from sense7.findings.conditions.design import condition_design
from sense7.findings.conditions.intervals import condition_interval_widths, condition_intervals
from sense7.findings.conditions.means import (
    best_condition,
    condition_differences,
    condition_means,
    prompted_by_dimension,
    prompted_is_highest,
)
from sense7.findings.conditions.mixed_model import mixed_contrasts, prompted_minus_best_other
from sense7.findings.conditions.moderators import moderation
from sense7.findings.conditions.profile import condition_profile, largest_deviation
from sense7.findings.conditions.rank_comparisons import p_values_in_words, rank_tests

__all__ = [
    "best_condition",
    "compare_models",
    "condition_design",
    "condition_differences",
    "condition_interval_widths",
    "condition_intervals",
    "condition_means",
    "condition_profile",
    "largest_deviation",
    "main_turn_rating",
    "mixed_contrasts",
    "moderation",
    "odds_ratios",
    "order_of_conditions",
    "p_values_in_words",
    "prompted_by_dimension",
    "prompted_is_highest",
    "prompted_minus_best_other",
    "rank_tests",
    "same_order",
]
