"""The truth of a simulated study: what was planted, and what the plants imply.

Implied values are those of the population, see :mod:`sense7.simulate.implied`.
"""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from sense7.simulate.implied import TWINS, implied_values
from sense7.simulate.implied.arrays import ground_truth
from sense7.simulate.implied.meanings import described, parameters_behind
from sense7.simulate.model import Numbers
from sense7.simulate.parameters import Parameters
from sense7.taxonomy import DIMENSION_NAMES, LEVELS

__all__ = ["FORMAT", "Ledger", "truth_of"]

FORMAT = 2
"""Format of the truth file. In 2, an implied value has the key under which a notebook records the same statistic."""

_PUBLISHED = {
    "participants": 109,
    "conversations_released": 672,
    "dimensions": 7,
    "levels": 5,
    "llm_conditions": 4,
    "tasks": 8,
    "alpha_turn": 0.961,
    "alpha_post": 0.94,
    "poor_turn_d": 1.142,
    "importance_cognitive": 0.281,
    "importance_affective": 0.198,
    "importance_response": 0.193,
    "relational_applicability": 0.381,
    "relational_very_poor": 0.022,
    "kappa_affective": 0.703,
    "kappa_relational": 0.541,
    "best_condition": None,
    "judge_spearman": 0.369,
    "judge_accuracy": 0.487,
}
"""Published figures by their id, shares as fractions."""

_NEAR = {
    "applicability_Relational": "relational_applicability",
    "very_poor_of_rated_Relational": "relational_very_poor",
    "kappa_linear_Affective": "kappa_affective",
    "kappa_linear_Relational": "kappa_relational",
    "kappa_quadratic_Affective": "kappa_affective",
    "kappa_quadratic_Relational": "kappa_relational",
}
"""Other keys that may be what a published figure means."""

_SAME = {key: twin for key, twin in TWINS.items() if twin in _PUBLISHED}
"""Keys of the same statistic as a published one, with another interval."""

_TUNED = {*_PUBLISHED, *_SAME} | {
    # The same quantities under the names of their families.
    "applicability_Relational",
    "very_poor_of_rated_Relational",
    "kappa_linear_Affective",
    "kappa_linear_Relational",
}

_BY_SIMULATION = "brute force: mean over independent draws at many times the size of the study"
_PLACED = "put in as a parameter"
_NO_SUCH = "not in the model"
_GROUPS = ("Gender", "Role", "AIExperience", "MostImportantDimension")
"""Answers of participants that are no numbers."""

_COUNTED = "counted in the design"


_PARAMETERS = (
    ("participant_sd", "level", "sd of the participant's own latent effect, characteristics apart"),
    ("participant_condition_sd", "level", "sd of the latent effect of participant by condition"),
    ("conversation_sd", "level", "sd of the latent effect of the conversation"),
    ("turn_sd", "level", "sd of the latent effect of the turn"),
    ("dimension_quality_sd", "level", "sd of what a turn offers on one dimension and not on the others"),
    ("overall_noise_sd", "level", "sd of the noise of the overall rating"),
    ("quality_mean", "level", "mean latent quality before all effects"),
    ("importance_effect", "level per step", "latent effect of importance"),
    ("importance_mean", "level", "mean latent importance"),
    ("desired_effect", "level per step", "latent effect of desired empathy"),
    ("desired_mean", "level", "mean latent desired empathy, 1 to 3"),
    ("failure_probability", "share", "probability that continuity fails at a turn after the first"),
    (
        "continuity_drop",
        "level",
        "fall of latent quality where continuity fails, times a dimension's weight",
    ),
    ("continuity_persistence", "share", "share of that fall left one turn later"),
    ("relational_first_applicability", "share", "probability that Relational is rated at the first turn"),
    (
        "relational_failure_applicability",
        "share",
        "probability that Relational is rated at a turn where continuity fails",
    ),
    ("relational_participant_sd", "1", "sd over participants of the tendency to rate Relational, probit scale"),
    ("unrated_turn_rate", "share", "probability that an assistant turn is not put to rating"),
    ("unrated_conversations", "count", "conversations without any turn put to rating"),
    ("turns_mean", "count", "mean number of assistant turns of a conversation"),
    ("post_trough_weight", "1", "weight of the worst turn in the post-task judgment"),
    ("post_end_weight", "1", "weight of the last turn in the post-task judgment"),
    ("post_intercept", "level", "shift of the post-task judgment"),
    ("post_participant_sd", "level", "sd of the post-task judgment over participants"),
    ("post_conversation_sd", "level", "sd of the post-task judgment over conversations"),
    ("post_item_sd", "level", "sd of each post-task rating of empathy"),
    (
        "expectation_drop",
        "level",
        "fall of the post-task latents where a high desired empathy was not met",
    ),
    ("unmet_below", "level", "mean experienced latent below which a high desired empathy is not met"),
    ("experience_loading", "1", "slope of the experience ratings on the post-task judgment"),
    ("experience_common_sd", "level", "sd of what the experience ratings share besides"),
    ("experience_item_sd", "level", "sd of each rating of the experience"),
)
"""Parameters that are one number each: key, unit, meaning."""

_PARAMETERS_PER_NAME = (
    ("condition_effects", "condition_effect_{}", "level", "latent effect of {} at the first turn"),
    (
        "condition_slopes",
        "condition_slope_{}",
        "level per turn",
        "change of the latent effect of {} per turn",
    ),
    (
        "condition_desired_slopes",
        "condition_desired_slope_{}",
        "level per step",
        "additional latent effect of {} per step of desired empathy above 2",
    ),
    ("topic_effects", "topic_effect_{}", "level", "latent effect of the topic {}"),
    ("dimension_intercepts", "dimension_intercept_{}", "level", "shift of the latent quality of {}"),
    ("dimension_noise_sds", "dimension_noise_sd_{}", "level", "sd of the noise of the ratings of {}"),
    ("overall_weights", "overall_weight_{}", "1", "weight of {} in the overall rating"),
    ("applicability", "rating_probability_{}", "share", "probability that {} is rated, Relational after turn 1"),
    ("continuity_weights", "continuity_weight_{}", "1", "multiple of continuity_drop that {} falls"),
    (
        "most_important_shares",
        "importance_{}",
        "share",
        "probability that a participant names {} most important",
    ),
    ("characteristic_effects", "characteristic_effect_{}", "level per sd", "latent effect of {}"),
)
"""Parameters with one number per condition, topic, dimension or characteristic: field, key, unit, meaning."""


def _rounded(value: float | None, digits: int = 6) -> float | None:
    """Round to significant digits; NaN becomes None, which JSON can hold."""
    if value is None or not np.isfinite(value):
        return None
    return float(f"{value:.{digits}g}")


def _is_tuned(key: str, value: Any, published: float | None) -> bool:
    """Whether a value was set near a published figure: by the defaults, and not moved away since.

    Which parameters move which value is not known in general; so a value that still lies
    within a tenth of the published figure counts as tuned, also where other parameters were changed.
    """
    if key not in _TUNED:
        return False
    if isinstance(value, str) or published is None or value is None:
        return True
    return abs(value - published) <= 0.1 * abs(published)


class Ledger:
    """Collects the entries of the planted values in order.

    Attributes
    ----------
    entries : list of dict
        Entries of the truth file; see :meth:`add`.
    """

    def __init__(self) -> None:
        self.entries: list[dict[str, Any]] = []

    def add(self, key, value, unit, meaning, kind, how, error=None, rests_on=()) -> None:
        """Add a planted value; numbers are rounded to six significant digits, errors to two.

        ``rests_on`` are the keys of the parameters without which an implied value would be another one.
        """
        near = key if key in _PUBLISHED else _NEAR.get(key, _SAME.get(key))
        self.entries.append(
            {
                "key": key,
                "value": _rounded(value) if isinstance(value, float) else value,
                "unit": unit,
                "meaning": meaning,
                "kind": kind,
                "tuned": _is_tuned(key, value, _PUBLISHED.get(near)),
                "near": near,
                "published": _PUBLISHED.get(near) if near else None,
                "how": how,
                "monte_carlo_error": _rounded(error, 2),
                "rests_on": list(rests_on),
            }
        )


def _counts(ledger: Ledger, p: Parameters) -> None:
    for key, value, meaning in (
        ("participants", p.participants, "participants"),
        ("conversations_released", p.conversations, "conversations"),
        ("llm_conditions", len(p.conditions), "conditions"),
        ("tasks", len(p.topics), "topics"),
        ("dimensions", len(DIMENSION_NAMES), "dimensions of empathy"),
        ("levels", len(LEVELS), "levels of a rating"),
    ):
        ledger.add(key, value, "count", f"number of {meaning}", "count", _COUNTED)


def _placed(ledger: Ledger, p: Parameters) -> None:
    for key, unit, meaning in _PARAMETERS:
        ledger.add(key, getattr(p, key), unit, meaning, "parameter", _PLACED)
    rest = round(1 - p.post_trough_weight - p.post_end_weight, 12)
    meaning = "weight of the mean of the turns in the post-task judgment: what the worst and the last turn leave"
    ledger.add("post_mean_weight", rest, "1", meaning, "parameter", _PLACED)
    ledger.add("post_peak_weight", 0.0, "1", "weight of the best turn in the post-task judgment", "parameter", _NO_SUCH)
    for field, name_of, unit, meaning in _PARAMETERS_PER_NAME:
        rule = Parameters.__dataclass_fields__[field].metadata
        for key, value in zip(p.keys_of(rule["one_per"]), getattr(p, field), strict=True):
            short = key.lower() if field == "most_important_shares" else key
            ledger.add(name_of.format(short), value, unit, meaning.format(key), "parameter", _PLACED)


def _implied(ledger: Ledger, p: Parameters, values: dict[str, tuple[float, float]]) -> None:
    placed = {entry["key"]: entry["value"] for entry in ledger.entries if entry["kind"] == "parameter"}
    best = max(p.conditions, key=lambda name: values[f"condition_mean_{name}"][0])
    words = [("best_condition", best, "condition of the highest mean ground truth")]
    conditions = parameters_behind(("condition_effect_*", "condition_slope_*", "condition_desired_slope_*"), placed)
    for key, value, meaning in words:
        ledger.add(key, value, "name", meaning, "implied", _BY_SIMULATION, rests_on=conditions)
    for key, (value, error) in values.items():
        unit, meaning, patterns = described(key, p.conditions)
        rests = parameters_behind(patterns, placed)
        ledger.add(key, value, unit, meaning, "implied", _BY_SIMULATION, error, rests)
    effects = dict(zip(p.characteristics, p.characteristic_effects, strict=True)) | {"Age": 0}
    for name, effect in effects.items():
        if effect == 0:
            key = f"characteristic_correlation_{name}"
            unit, meaning, patterns = described(key)
            how = "zero by construction: the characteristic has no effect"
            ledger.add(key, 0.0, unit, meaning, "implied", how, rests_on=parameters_behind(patterns, placed))
    for name in _GROUPS:
        key = f"characteristic_omega_squared_{name}"
        how = "zero by construction: drawn without regard to the ratings"
        ledger.add(key, 0.0, *described(key)[:2], "implied", how)


def _table(columns: Sequence[str], *values: Iterable) -> dict[str, list]:
    rows = [[round(cell, 4) if isinstance(cell, float) else cell for cell in row] for row in zip(*values, strict=True)]
    return {"columns": list(columns), "rows": rows}


def truth_of(study: Numbers, seed: int, pids: list[str], task_ids: list[str], message_ids: list[int]) -> dict:
    """The truth file of a study as a JSON-able dictionary.

    Parameters
    ----------
    study : Numbers
        The study whose unit effects are listed.
    seed : int
        Its seed.
    pids, task_ids : list of str
        Ids of participants and conversations, in the study's order.
    message_ids : list of int
        MessageId of each assistant turn.

    Returns
    -------
    dict
        format (``FORMAT``), seed, parameters, planted (a list of entries) and units (effects of each
        participant, participant by condition, conversation and turn; four decimals).
    """
    p = study.parameters
    ledger = Ledger()
    _counts(ledger, p)
    _placed(ledger, p)
    _implied(ledger, p, implied_values(p))
    participants = range(len(pids))
    units = {
        "participants": _table(["PID", "participant_effect"], pids, study.participant_effect.tolist()),
        "participant_conditions": _table(
            ["PID", "Model", "participant_condition_effect"],
            [pids[row] for row in participants for _ in p.conditions],
            [name for _ in participants for name in p.conditions],
            study.participant_condition_effect.ravel().tolist(),
        ),
        "conversations": _table(
            ["TaskId", "PID", "Model", "conversation_effect", "context_effect", "unmet", "ground_truth"],
            task_ids,
            [pids[row] for row in study.participant.tolist()],
            [p.conditions[row] for row in study.condition.tolist()],
            study.conversation_effect.tolist(),
            study.context_effect.tolist(),
            study.unmet.tolist(),
            [None if np.isnan(value) else value for value in ground_truth(study).tolist()],
        ),
        "turns": _table(
            ["TaskId", "MessageId", "failure", "carry", "turn_effect"]
            + [f"quality_{name}" for name in DIMENSION_NAMES]
            + ["experienced"],
            [task_ids[row] for row in study.conversation.tolist()],
            message_ids,
            study.failure.tolist(),
            study.carry.tolist(),
            study.turn_effect.tolist(),
            *study.quality.T.tolist(),
            study.experienced.tolist(),
        ),
    }
    return {"format": FORMAT, "seed": seed, "parameters": p.as_dict(), "planted": ledger.entries, "units": units}
