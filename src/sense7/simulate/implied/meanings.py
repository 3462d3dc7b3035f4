"""What each implied value is, in words, with its unit and the planted parameters that it rests on."""

import re
from collections.abc import Iterable, Mapping

__all__ = ["described", "parameters_behind"]

_PERSON = ("participant_sd", "characteristic_effect_*")
_CONDITION = ("condition_effect_*", "condition_slope_*", "condition_desired_slope_*")
_CONTEXT = ("topic_effect_*", "importance_effect", "desired_effect")
_CONTINUITY = ("failure_probability", "continuity_drop", "continuity_persistence", "continuity_weight_*")
_TURN = ("turn_sd", "dimension_quality_sd", "dimension_noise_sd_*")
_SPREAD = (*_PERSON, "participant_condition_sd", "conversation_sd", "turn_sd")
_OVERALL = ("overall_weight_*", "overall_noise_sd")
_AFTER = ("post_mean_weight", "post_trough_weight", "post_end_weight", "post_participant_sd", "post_conversation_sd")
_AFTER_ITEMS = (*_AFTER, "post_item_sd")
_EXPERIENCE = ("experience_loading", "experience_common_sd", "experience_item_sd")
_LEVEL = ("quality_mean", *_SPREAD)
_RELATIONAL = ("relational_first_applicability", "relational_failure_applicability", "relational_participant_sd")

_D = "Cohen's d of {0} after the conversation, without a poor turn (overall rating at most 2) minus with "
_OF = {"": "mean post-task empathy", "_experience": "the mean rating of the experience"}


def _poor_turn_effects() -> Iterable[tuple]:
    for suffix, outcome in _OF.items():
        for kind, words in (("_exactly_one", "exactly one"), ("", "at least one")):
            for way, how in (
                ("_within", ", a participant's two means, by the sd of these means"),
                ("_mixed", ", by the sd of a model with participants random"),
                ("", " (pooled sd over conversations)"),
            ):
                key = f"poor_turn_d{way}{kind}{suffix}"
                rests = (*_AFTER_ITEMS, *(_EXPERIENCE if suffix else ()), *_SPREAD, "continuity_drop")
                yield key, "sd", _D.format(outcome) + words + how, rests
                if not suffix and not way:
                    yield f"{key}_naive", "sd", _D.format(outcome) + words + how, rests
                    yield f"{key}_clustered", "sd", _D.format(outcome) + words + how, rests


_SETS = {
    "turn_listwise": ("the seven turn ratings, complete turns only", (*_SPREAD, *_TURN)),
    "turn": ("the seven turn ratings, from pairwise covariances", (*_SPREAD, *_TURN)),
    "post_listwise": ("the seven post-task empathy ratings", _AFTER_ITEMS),
    "post": ("the seven post-task empathy ratings", _AFTER_ITEMS),
}


def _of_sets() -> Iterable[tuple]:
    for name, (words, rests) in _SETS.items():
        yield f"alpha_{name}_without_only_*", "1", f"Cronbach's alpha of {words}, without {{0}}", rests
        yield f"alpha_{name}", "1", f"Cronbach's alpha of {words}", rests
        for interval in ("percentile", "feldt"):
            yield f"alpha_{name}_{interval}", "1", f"Cronbach's alpha of {words}", rests
        yield f"item_rest_{name}_*", "1", f"correlation of {{0}} with the sum of the others, {words}", rests
        yield f"average_correlation_{name}", "1", f"mean correlation of {words}", rests
        yield f"alpha_standardised_{name}", "1", f"standardised alpha of {words}", rests
        yield f"guttman_lambda6_{name}", "1", f"Guttman's lambda 6 of {words}", rests
        yield f"omega_{name}", "1", f"omega total of one factor of {words}", rests


def _importance() -> Iterable[tuple]:
    turns = "the overall rating of a turn", (*_OVERALL, *_SPREAD, *_TURN)
    for prefix, outcome, rests in (
        ("relative_importance_experience", "the mean rating of the experience", (*_EXPERIENCE, *_AFTER_ITEMS)),
        ("relative_importance_without_relational", f"{turns[0]}, Relational left out", turns[1]),
        ("relative_importance", *turns),
    ):
        yield f"{prefix}_r2", "share", f"R squared of the dimensions for {outcome}", rests
        yield f"{prefix}_share_*", "share", f"LMG of {{0}} for {outcome}, divided by R squared", rests
        yield f"{prefix}_*", "share", f"LMG of {{0}} for {outcome}", rests


_FAILED_OTHERS = "mean overall rating of the conversation's other turns minus that of"
_EXPECTED = "least-squares coefficient, its sign turned, of high desired empathy with a mean overall rating below 3.5"

_FAMILIES = (
    # Key with * for names, unit, meaning with {0} for the first name, what it rests on; the first match holds.
    ("turns", "count", "assistant turns of a study", ("turns_mean",)),
    ("turns_put_to_rating", "count", "assistant turns put to rating", ("turns_mean", "unrated_turn_rate")),
    ("conversations_with_ground_truth", "count", "conversations with a rated turn", ("unrated_conversations",)),
    (
        "applicability_all_turns_Relational",
        "share",
        "share of all assistant turns in which Relational is rated",
        (*_RELATIONAL, "unrated_turn_rate"),
    ),
    (
        "applicability_all_turns_*",
        "share",
        "share of all assistant turns in which {0} is rated",
        ("rating_probability_{0}", "unrated_turn_rate"),
    ),
    (
        "relational_applicability_turn_*",
        "share",
        "share of turns number {0} put to rating in which Relational is rated",
        _RELATIONAL,
    ),
    (
        "relational_applicability_first_turn",
        "share",
        "share of first turns put to rating in which Relational is rated",
        ("relational_first_applicability",),
    ),
    (
        "relational_applicability_later_turns",
        "share",
        "share of later turns put to rating in which Relational is rated",
        ("rating_probability_Relational", "relational_failure_applicability"),
    ),
    (
        "relational_applicability_later_minus_first",
        "share",
        "share of later turns in which Relational is rated minus that of first turns",
        _RELATIONAL,
    ),
    (
        "kappa_same_turns_*",
        "1",
        "Cohen's kappa with linear weights of {0} with the overall rating, turns that rate everything",
        (*_OVERALL, *_SPREAD, *_TURN),
    ),
    (
        "relational_kappa_quadratic_minus_*",
        "1",
        "kappa (quadratic) of Relational minus that of {0}, both with the overall rating, turns that rate all three",
        (*_OVERALL, *_TURN),
    ),
    (
        "relational_kappa_minus_*",
        "1",
        "kappa (linear) of Relational minus that of {0}, both with the overall rating, turns that rate all three",
        (*_OVERALL, *_TURN),
    ),
    ("within_alpha*", "1", "Cronbach's alpha of the turn ratings within conversations", _TURN),
    ("between_alpha*", "1", "Cronbach's alpha of the turn ratings between conversations", _SPREAD),
    ("within_average_correlation*", "1", "mean correlation of the turn ratings within conversations", _TURN),
    ("between_average_correlation", "1", "mean correlation of the turn ratings between conversations", _SPREAD),
    ("within_omega*", "1", "omega total of one factor of the turn ratings within conversations", _TURN),
    (
        "relative_importance_within_r2",
        "share",
        "R squared of the dimensions for the overall rating within conversations",
        (*_OVERALL, *_TURN),
    ),
    (
        "relative_importance_within_share_*",
        "share",
        "LMG of {0} for the overall rating within conversations, divided by R squared",
        ("overall_weight_{0}", *_TURN),
    ),
    (
        "relative_importance_within_*",
        "share",
        "LMG of {0} for the overall rating within conversations",
        ("overall_weight_{0}", *_TURN),
    ),
    (
        "overall_coefficient_within_*",
        "1",
        "coefficient of {0} for the overall rating beside the other dimensions, within conversations",
        ("overall_weight_{0}", "dimension_noise_sd_{0}"),
    ),
    (
        "overall_coefficient_*",
        "1",
        "coefficient of {0} for the overall rating beside the other dimensions",
        ("overall_weight_{0}", "dimension_noise_sd_{0}"),
    ),
    (
        "poor_turn_points*",
        "level",
        "mean post-task empathy without a poor turn minus that with one, by the definition in the key",
        (*_AFTER_ITEMS, *_SPREAD, "continuity_drop"),
    ),
    (
        "poor_turn_spread*",
        "level",
        "standard deviation by which the difference is divided, by the definition in the key",
        (*_AFTER_ITEMS, *_SPREAD),
    ),
    (
        "poor_turn_ladder_as_they_are",
        "level",
        "points of post-task empathy lost with a poor turn, nothing held equal",
        (*_AFTER, *_SPREAD),
    ),
    (
        "poor_turn_ladder_*",
        "level",
        "points of post-task empathy lost with a poor turn, held equal: {0}, and what the rungs before hold",
        ("post_mean_weight", "post_trough_weight", "post_end_weight"),
    ),
    (
        "poor_turn_share_*_third",
        "share",
        "share of conversations with a poor turn, {0} third by the number of rated turns",
        ("turns_mean", *_LEVEL),
    ),
    (
        "continuity_contrast_*_turn",
        "level",
        "loss in the {0} turn that a poor Relational goes with beyond that of the other dimensions, all taken together",
        ("overall_weight_*", *_CONTINUITY, *_RELATIONAL),
    ),
    (
        "continuity_failure_*_turn",
        "level",
        "loss in the {0} turn that a poor Relational goes with, the other dimensions held equal",
        ("overall_weight_*", *_CONTINUITY, *_RELATIONAL),
    ),
    (
        "other_failures_*_turn",
        "level",
        "loss in the {0} turn that a poor rating of another dimension goes with, on average",
        ("overall_weight_*", *_CONTINUITY),
    ),
    (
        "prompted_minus_best_other",
        "level",
        "mean ground truth of the prompted condition minus the highest of the others",
        _CONDITION,
    ),
    (
        "condition_profile_*",
        "level",
        "mean of a dimension in a condition minus its mean over conditions: {0}",
        _CONDITION,
    ),
    (
        "conversation_mean_share_*",
        "share",
        "share of {0} in the variance of the ground truth of conversations, conditions included",
        (*_SPREAD, *_CONDITION, *_TURN),
    ),
    (
        "turn_mean_share_*",
        "share",
        "share of {0} in the variance of turns' means, conditions included",
        (*_SPREAD, *_CONDITION, *_TURN),
    ),
    (
        "turn_overall_share_*",
        "share",
        "share of {0} in the variance of overall ratings, conditions included",
        (*_SPREAD, *_CONDITION, *_OVERALL),
    ),
    (
        "one_base_share_*",
        "share",
        "share of {0} in the variance of the ground truth, conditions and context included",
        (*_SPREAD, *_CONDITION, *_CONTEXT),
    ),
    (
        "participant_share",
        "share",
        "participants' share of the variance of the ground truth, conditions and context included",
        (*_SPREAD, *_CONDITION, *_CONTEXT),
    ),
    (
        "condition_and_topic_share",
        "share",
        "share of conditions and topics in the variance of the ground truth",
        (*_SPREAD, *_CONDITION, "topic_effect_*"),
    ),
    (
        "participant_share_beyond_condition_and_topic",
        "share",
        "participants' share of the variance of the ground truth minus that of conditions and topics",
        (*_SPREAD, *_CONDITION, "topic_effect_*"),
    ),
    (
        "characteristic_omega_squared_*",
        "share",
        "omega squared over participants of {0} for the mean ground truth of their conversations",
        (),
    ),
    *_of_sets(),
    (
        "alpha_turn_without_relational*",
        "1",
        "Cronbach's alpha of the six turn ratings other than Relational, from pairwise covariances",
        (*_SPREAD, *_TURN),
    ),
    (
        "omega_turn_without_relational",
        "1",
        "omega total of one factor of the six turn ratings other than Relational, complete ones",
        (*_SPREAD, *_TURN),
    ),
    (
        "one_factor_loading_turn_*",
        "1",
        "loading of {0} on the one factor of complete turns, maximum likelihood",
        (*_SPREAD, *_TURN),
    ),
    ("eigenvalue_turn_*", "1", "eigenvalue {0} of the correlations of complete turns", (*_SPREAD, *_TURN)),
    ("correlation_turn_*", "1", "Pearson correlation of the turn ratings {0}", (*_SPREAD, *_TURN)),
    ("applicability_Relational", "share", "share of the turns put to rating in which Relational is rated", _RELATIONAL),
    ("relational_applicability", "share", "share of the turns put to rating in which Relational is rated", _RELATIONAL),
    ("applicability_*", "share", "share of the turns put to rating in which {0} is rated", ("rating_probability_*",)),
    ("relational_very_poor", "share", "share of very poor among the ratings of Relational", (*_LEVEL, *_CONTINUITY)),
    (
        "relational_very_poor_of_all",
        "share",
        "share of very poor for Relational among all turns put to rating",
        (*_LEVEL, *_CONTINUITY, *_RELATIONAL),
    ),
    ("very_poor_of_rated_*", "share", "share of very poor among the ratings of {0}", (*_LEVEL, *_CONTINUITY)),
    (
        "very_poor_of_all_*",
        "share",
        "share of very poor for {0} among all turns put to rating",
        (*_LEVEL, *_CONTINUITY),
    ),
    ("mean_post_*", "level", "mean post-task empathy rating of {0}", ("quality_mean", *_AFTER, "expectation_drop")),
    ("mean_*", "level", "mean turn rating of {0}", ("quality_mean", "dimension_intercept_{0}")),
    (
        "kappa_affective",
        "1",
        "Cohen's kappa with linear weights of Affective with the overall rating, turns where both are rated",
        (*_OVERALL, *_SPREAD, *_TURN),
    ),
    (
        "kappa_relational",
        "1",
        "Cohen's kappa with linear weights of Relational with the overall rating, turns where both are rated",
        (*_OVERALL, *_SPREAD, *_TURN),
    ),
    (
        "kappa_*_*",
        "1",
        "Cohen's kappa with {0} weights of {1} with the overall rating, labels 1 to 5, turns where both are rated",
        (*_OVERALL, *_SPREAD, *_TURN),
    ),
    *_importance(),
    ("poor_turn_share", "share", "share of turns with an overall rating of at most 2 among those with one", _LEVEL),
    ("poor_turn_conversations", "share", "share of conversations with at least one such poor turn", _LEVEL),
    *_poor_turn_effects(),
    ("failure_share", "share", "share of assistant turns at which continuity fails", ("failure_probability",)),
    (
        "continuity_loss_next_turn",
        "level",
        "rated points lost on average over rated dimensions at the turn after a continuity failure, "
        "against the same turn had it not happened",
        _CONTINUITY,
    ),
    ("continuity_loss_*", "level", "rated points of {0} lost at a turn where continuity fails", _CONTINUITY),
    (
        "continuity_loss",
        "level",
        "rated points lost on average over rated dimensions at a turn where continuity fails, against "
        "the same turn had it not happened",
        _CONTINUITY,
    ),
    ("unmet_share", "share", "share of conversations where a high desired empathy was not met", ("unmet_below",)),
    (
        "expectation_loss_caused",
        "level",
        "rated points of post-task empathy lost where a high desired empathy was not met, against the "
        "same conversation without that drop",
        ("expectation_drop",),
    ),
    (
        "recovery_after_1_reversed",
        "level",
        "mean overall rating right after the first poor turn, turns in reversed order, minus that of shuffled ratings",
        ("conversation_sd", "turn_sd", "continuity_drop", "continuity_persistence"),
    ),
    (
        "recovery_after_1_minus_reversed",
        "level",
        "mean overall rating right after the first poor turn against chance, as it happened minus in reversed order",
        ("continuity_drop", "continuity_persistence"),
    ),
    (
        "lasting_drop_reversed",
        "level",
        "lasting drop, turns in reversed order",
        ("conversation_sd", "turn_sd", "continuity_drop", "continuity_persistence"),
    ),
    (
        "lasting_drop_minus_reversed",
        "level",
        "lasting drop as it happened minus that of turns in reversed order",
        ("continuity_drop", "continuity_persistence"),
    ),
    (
        "response_surface_*",
        "level",
        "post-task empathy on mean overall rating and desired empathy, both from -1 to 1, quadratic: {0}",
        ("post_mean_weight", "expectation_drop", "unmet_below"),
    ),
    (
        "recovery_*_*",
        "level",
        "mean overall rating {1} turns {0} the first poor turn, minus that around the first poor turn of the same "
        "ratings in shuffled order",
        ("continuity_drop", "continuity_persistence"),
    ),
    (
        "event_study_*_*",
        "level",
        "overall rating {1} turns {0} the first poor turn against the turn right before, conversations' intercepts",
        ("turn_sd", *_OVERALL, "continuity_drop", "continuity_persistence"),
    ),
    (
        "lasting_drop_as_rated",
        "level",
        "mean overall rating of the three turns before the first poor one minus that of turns 2 to 5 after it",
        ("turn_sd", *_OVERALL, "continuity_drop", "continuity_persistence"),
    ),
    ("lasting_drop_in_chance_order", "level", "the same of ratings in shuffled order", ("turn_sd", *_OVERALL)),
    (
        "lasting_drop",
        "level",
        "drop as rated minus that of the ratings in shuffled order",
        ("continuity_drop", "continuity_persistence"),
    ),
    (
        "failure_same_turn_contrast",
        "level",
        "loss in the turn where Relational is poor minus the mean loss where one of the others is",
        ("overall_weight_*", *_CONTINUITY),
    ),
    (
        "failure_next_turn_contrast",
        "level",
        "loss in the turn after Relational is poor minus the mean loss after one of the others",
        _CONTINUITY,
    ),
    (
        "failure_after_contrast",
        "level",
        "loss after the conversation with a poor Relational minus the mean loss with one of the others",
        _CONTINUITY,
    ),
    ("failure_same_turn_*", "level", _FAILED_OTHERS + " a turn where {0} is poor", ("overall_weight_*", *_CONTINUITY)),
    ("failure_next_turn_*", "level", _FAILED_OTHERS + " the turn after {0} is poor", _CONTINUITY),
    (
        "failure_after_*",
        "level",
        "mean post-task empathy of conversations where {0} is rated and never poor minus that where it is poor",
        (*_AFTER, *_SPREAD, *_CONTINUITY),
    ),
    (
        "expectation_difference_adjusted*",
        "level",
        _EXPECTED + ", at the same mean rating",
        ("expectation_drop", "unmet_below", *_AFTER),
    ),
    ("expectation_difference*", "level", _EXPECTED + ", nothing held equal", ("expectation_drop", *_AFTER, *_SPREAD)),
    (
        "expectation_loss*",
        "level",
        _EXPECTED + ", at the same mean rating, beside low mean and high wish by themselves",
        ("expectation_drop", "unmet_below"),
    ),
    ("ground_truth_mean", "level", "mean ground truth of a conversation", ("quality_mean",)),
    ("ground_truth_sd", "level", "standard deviation of the ground truth over conversations", (*_SPREAD, *_CONDITION)),
    ("ground_truth_label_*", "share", "share of conversations whose ground truth is nearest to level {0}", _LEVEL),
    ("ground_truth_correlation_*", "1", "correlation of the ground truth with the convention {0}", (*_SPREAD, *_TURN)),
    ("ground_truth_changed_*", "share", "share of conversations with another label by the convention {0}", _TURN),
    ("ground_truth_shift_*", "level", "mean of the convention {0} minus that of the ground truth", _LEVEL),
    ("condition_mean_overall_*", "level", "mean over conversations in {0} of the mean overall rating", _CONDITION),
    ("condition_mean_*", "level", "mean ground truth of conversations in {0}", _CONDITION),
    (
        "prompted_difference_*",
        "level",
        "mean {0} of the prompted condition minus that of the others' means",
        _CONDITION,
    ),
    (
        "levels_two_participants",
        "level",
        "expected difference of two participants' levels, from the variances",
        _PERSON,
    ),
    (
        "levels_one_participant",
        "level",
        "expected difference of two conversations of one participant, from the variance",
        ("conversation_sd", "turn_sd"),
    ),
    (
        "variance_turn_*",
        "level^2",
        "variance part {0} of the turn mean over rated dimensions, condition fixed",
        (*_SPREAD, *_TURN),
    ),
    (
        "variance_overall_*",
        "level^2",
        "variance part {0} of the overall rating, condition fixed",
        (*_SPREAD, *_OVERALL),
    ),
    ("variance_*", "level^2", "variance part {0} of the ground truth of a conversation, condition fixed", _SPREAD),
    ("share_*", "share", "share of the part {0} in the variance of the ground truth, condition fixed", _SPREAD),
    (
        "icc_participant",
        "share",
        "participants' share of the variance of conversations' ground truth, condition fixed",
        _SPREAD,
    ),
    ("icc_turn_participant", "share", "participants' share of the variance of turn means, condition fixed", _SPREAD),
    (
        "icc_overall_participant",
        "share",
        "participants' share of the variance of overall ratings, condition fixed",
        (*_SPREAD, *_OVERALL),
    ),
    (
        "icc_1_without_conditions",
        "1",
        "ICC(1) of conversations' ground truth minus the condition's mean in participants",
        _SPREAD,
    ),
    (
        "icc_1",
        "1",
        "ICC(1) of conversations' ground truth in participants, one-way analysis of variance",
        (*_SPREAD, *_CONDITION),
    ),
    ("apart_two_people*", "level", "mean distance of the ground truth of two people's conversations alike", _SPREAD),
    ("apart_one_person*", "level", "mean distance of the ground truth of one person's conversations alike", _SPREAD),
    ("apart_excess*", "level", "distance of two people's conversations alike minus that of one person's", _PERSON),
    ("ceiling_bound_*", "share", "upper bound of the content share if {0} is no content", (*_SPREAD, *_CONDITION)),
    ("ceiling_part_*", "share", "share of {0} in the ground truth's variance, from turns", (*_SPREAD, *_CONDITION)),
    (
        "content_share",
        "share",
        "squared correlation of the ground truth with the mean quality that the turns offer: what a reader "
        "of a perfect text could explain",
        ("conversation_sd", "turn_sd", *_CONDITION, "topic_effect_*", *_CONTINUITY, *_PERSON),
    ),
    (
        "characteristic_correlation_*",
        "1",
        "Spearman correlation over participants of {0} with the mean ground truth of their conversations",
        ("characteristic_effect_{0}",),
    ),
    (
        "characteristics_explained",
        "share",
        "share of the variance of participants' mean ground truth that all characteristics explain",
        ("characteristic_effect_*", "participant_sd"),
    ),
    (
        "characteristics_left_to_the_person",
        "share",
        "share of the variance of participants' mean ground truth that no characteristic explains",
        ("characteristic_effect_*", "participant_sd"),
    ),
    (
        "topic_mean_own_*",
        "level",
        "mean ground truth of topic {0} minus the participant's own mean",
        ("topic_effect_*",),
    ),
    ("topic_mean_*", "level", "mean ground truth of topic {0}, in alphabetical order", ("topic_effect_*",)),
    ("importance_mean_*", "level", "mean ground truth at importance {0}", ("importance_effect", "desired_effect")),
    ("desired_mean_*", "level", "mean ground truth at desired empathy {0}", ("desired_effect", "importance_effect")),
    (
        "*_slope_condition_*",
        "level per step",
        "slope of the ground truth on {0} empathy within participants in condition {1}, in alphabetical order",
        ("desired_effect", "condition_desired_slope_*"),
    ),
    (
        "desired_slope_prompted",
        "level per step",
        "slope on desired empathy within participants in the prompted condition",
        ("desired_effect", "condition_desired_slope_*"),
    ),
    (
        "importance_slope_prompted",
        "level per step",
        "slope on importance within participants in the prompted condition",
        ("importance_effect",),
    ),
    (
        "importance_slope_others",
        "level per step",
        "slope on importance within participants in the other conditions",
        ("importance_effect",),
    ),
    (
        "desired_slope_others",
        "level per step",
        "slope on desired empathy within participants in the other conditions",
        ("desired_effect", "condition_desired_slope_*"),
    ),
    (
        "desired_slope_difference",
        "level per step",
        "slope on desired empathy within participants in the prompted condition minus that in the others",
        ("condition_desired_slope_*",),
    ),
    (
        "importance_slope_difference",
        "level per step",
        "slope on importance within participants in the prompted condition minus that in the others",
        ("importance_effect",),
    ),
    ("importance_slope*", "level per step", "slope of the ground truth on importance", ("importance_effect",)),
    (
        "desired_slope*",
        "level per step",
        "slope of the ground truth on desired empathy",
        ("desired_effect", "condition_desired_slope_*"),
    ),
    (
        "context_share_topic",
        "share",
        "share of the variance within participants that topics explain",
        ("topic_effect_*",),
    ),
    (
        "context_share_importance",
        "share",
        "share of the variance within participants that importance explains",
        ("importance_effect",),
    ),
    (
        "context_share_desired_empathy",
        "share",
        "share of the variance within participants that desired empathy explains",
        ("desired_effect", "condition_desired_slope_*"),
    ),
    ("context_share", "share", "share of the variance within participants that all context explains", _CONTEXT),
    (
        "expected_experienced_gap*",
        "share of scale",
        "mean of post-task empathy minus desired empathy, both brought to a scale from 0 to 1",
        ("desired_mean", "quality_mean", "post_intercept", "expectation_drop"),
    ),
    (
        "level_turn_*_condition_*",
        "level",
        "mean over rated dimensions of turn {0} in condition {1}, in alphabetical order",
        ("condition_effect_*", "condition_slope_*"),
    ),
    (
        "turn_slope_*",
        "level per turn",
        "change of the mean over rated dimensions per turn within conversations (1: all, then the conditions)",
        ("condition_slope_*", *_CONTINUITY),
    ),
    (
        "prompt_slope*",
        "level per turn",
        "change of the mean over rated dimensions per turn within conversations, prompted condition or the others",
        ("condition_slope_*", *_CONTINUITY),
    ),
    (
        "prompt_fading*",
        "level per turn",
        "slope per turn of the prompted condition minus that of the others",
        ("condition_slope_*",),
    ),
    (
        "peak_end_inflation_*",
        "1",
        "variance inflation of {0} beside mean, trough, peak and end of the overall ratings",
        ("turn_sd", *_OVERALL),
    ),
    (
        "peak_end_share_explained",
        "share",
        "share of post-task empathy explained by mean, trough, peak and end of the overall ratings",
        _AFTER_ITEMS,
    ),
    (
        "peak_end_trough",
        "level per level",
        "weight of the lowest overall rating for post-task empathy, beside mean, peak and end",
        ("post_trough_weight", *_OVERALL),
    ),
    (
        "peak_end_*",
        "level per level",
        "weight of the {0} of the overall ratings for post-task empathy, beside the other three",
        ("post_{0}_weight", *_OVERALL),
    ),
    (
        "empathy_satisfaction",
        "1",
        "Spearman correlation of mean post-task empathy with the mean of the four experience items",
        (*_EXPERIENCE, *_AFTER_ITEMS),
    ),
    (
        "empathy_satisfaction_within",
        "1",
        "Pearson correlation within participants of mean post-task empathy with the mean of the experience items",
        (*_EXPERIENCE, *_AFTER_ITEMS),
    ),
    (
        "empathy_*",
        "1",
        "Spearman correlation of mean post-task empathy with PostTaskExperience_{0}",
        (*_EXPERIENCE, *_AFTER_ITEMS),
    ),
)

_PAIRED = (
    ("condition_difference_turns_{kind}_{pair}", "level", "mean over turns of their rated dimensions, {a} minus {b}"),
    ("condition_difference_turns_{pair}", "level", "mean over turns of their rated dimensions, {a} minus {b}"),
    ("condition_model_difference_{pair}", "level", "mean ground truth of {a} minus that of {b}"),
    ("condition_difference_{pair}", "level", "mean ground truth of {a} minus that of {b}"),
    ("condition_d_{pair}", "sd", "Cohen's d (pooled sd over conversations) of the ground truth, {a} minus {b}"),
    ("condition_odds_ratio_{pair}", "1", "odds ratio of {a} by {b}, cumulative logit of the overall rating"),
)
"""Keys of two conditions, whose names may hold anything: they are looked up, not matched."""

_PATTERNS = tuple(
    (re.compile(re.escape(pattern).replace(r"\*", "(.*)")), *rest)
    for pattern, *rest in _FAMILIES  # [*rest] is unit, meaning, what it rests on
)


def described(key: str, conditions: tuple[str, ...] = ()) -> tuple[str, str, tuple[str, ...]]:
    """Unit, meaning, and patterns of the planted keys it rests on, of an implied value.

    Raises
    ------
    KeyError
        If the key belongs to no family.

    Examples
    --------
    >>> described("mean_Affective")
    ('level', 'mean turn rating of Affective', ('quality_mean', 'dimension_intercept_Affective'))
    """
    if found := _of_pair(key, conditions):
        return found
    for pattern, unit, meaning, rests in _PATTERNS:
        if match := pattern.fullmatch(key):
            names = match.groups()
            return unit, meaning.format(*names), tuple(rest.format(*names) for rest in rests)
    raise KeyError(key)


def _of_pair(key: str, conditions: tuple[str, ...]) -> tuple[str, str, tuple[str, ...]] | None:
    if not key.startswith("condition_"):
        return None
    for a in conditions:
        for b in conditions:
            for pattern, unit, meaning in _PAIRED:
                for kind in ("naive", "clustered", "resampled"):
                    if key == pattern.format(pair=f"{a}_{b}", kind=kind):
                        rests = tuple(f"condition_{what}_{name}" for what in ("effect", "slope") for name in (a, b))
                        return unit, meaning.format(a=a, b=b), (*rests, "condition_desired_slope_*")
    return None


def parameters_behind(patterns: Iterable[str], planted: Mapping[str, float]) -> list[str]:
    """Planted keys that the patterns name, in their order.

    A star stands for any name, and then for those alone whose value is not zero, if there are such: an effect that
    was not planted is nothing to rest on.

    Examples
    --------
    >>> parameters_behind(("turn_sd", "topic_effect_*"), {"topic_effect_a": 0.1, "topic_effect_b": 0, "turn_sd": 0})
    ['turn_sd', 'topic_effect_a']
    """
    found = []
    for pattern in patterns:
        wanted = re.compile(re.escape(pattern).replace(r"\*", ".*"))
        keys = [key for key in planted if wanted.fullmatch(key)]
        found += [key for key in keys if planted[key]] or keys
    return list(dict.fromkeys(found))
