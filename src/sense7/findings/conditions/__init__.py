"""The conditions compared: means, differences, mixed model, odds ratios, profiles, and for whom they differ."""

from sense7.findings.conditions.cumulative_logit_model import (
    beside_the_mixed_model,
    odds_keys,
    odds_ratios,
    order_of_conditions,
    rating_compared,
    same_order,
)
from sense7.findings.conditions.design import condition_design
from sense7.findings.conditions.intervals import condition_intervals
from sense7.findings.conditions.means import (
    best_condition,
    condition_differences,
    condition_means,
    prompted_by_dimension,
    prompted_is_highest,
)
from sense7.findings.conditions.mixed_model import mixed_contrasts, prompted_minus_best_other
from sense7.findings.conditions.moderators import moderation
from sense7.findings.conditions.pairs import condition_keys, pair_keys
from sense7.findings.conditions.profile import condition_profile, profile_keys, where
from sense7.findings.conditions.rank_comparisons import TEST_KEYS, p_values_in_words, rank_tests

__all__ = [
    "TEST_KEYS",
    "beside_the_mixed_model",
    "best_condition",
    "condition_design",
    "condition_differences",
    "condition_intervals",
    "condition_keys",
    "condition_means",
    "condition_profile",
    "mixed_contrasts",
    "moderation",
    "odds_keys",
    "odds_ratios",
    "order_of_conditions",
    "p_values_in_words",
    "pair_keys",
    "profile_keys",
    "prompted_by_dimension",
    "prompted_is_highest",
    "prompted_minus_best_other",
    "rank_tests",
    "rating_compared",
    "same_order",
    "where",
]
