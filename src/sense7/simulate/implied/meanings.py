"""What each implied value is, in words, with its unit and the planted parameters that it rests on.

``meanings.csv`` beside this module says so, a row for each family of keys. A star in a key stands for any name, {0} in
the other columns for the first of these, and the first row that matches holds. What it rests on are keys of planted
parameters, with stars, or groups of them, which begin with @.
"""

import csv
import re
from collections.abc import Iterable, Mapping
from importlib.resources import files

__all__ = ["described", "parameters_behind"]

_SPREAD = "participant_sd characteristic_effect_* participant_condition_sd conversation_sd turn_sd"
_AFTER = "post_mean_weight post_trough_weight post_end_weight post_participant_sd post_conversation_sd"
_GROUPS = {
    "@person": "participant_sd characteristic_effect_*",
    "@condition": "condition_effect_* condition_slope_* condition_desired_slope_*",
    "@context": "topic_effect_* importance_effect desired_effect",
    "@continuity": "failure_probability continuity_drop continuity_persistence continuity_weight_*",
    "@turn": "turn_sd dimension_quality_sd dimension_noise_sd_*",
    "@spread": _SPREAD,
    "@level": f"quality_mean {_SPREAD}",
    "@overall": "overall_weight_* overall_noise_sd",
    "@after": _AFTER,
    "@after_items": f"{_AFTER} post_item_sd",
    "@experience": "experience_loading experience_common_sd experience_item_sd",
    "@relational": "relational_first_applicability relational_failure_applicability relational_participant_sd",
}

_PAIRED = (
    ("condition_model_difference_{pair}", "level", "mean ground truth of {a} minus that of {b}"),
    ("condition_d_{pair}", "sd", "Cohen's d (pooled sd over conversations) of the ground truth, {a} minus {b}"),
    ("condition_odds_ratio_{pair}", "1", "odds ratio of {a} by {b}, cumulative logit of the overall rating"),
)
"""Keys of two conditions, whose names may hold anything: they are looked up, not matched."""


def _families() -> Iterable[tuple[re.Pattern, str, str, list[str]]]:
    """Rows of the table: a pattern of keys, unit, meaning, and what it rests on."""
    table = files(__package__).joinpath("meanings.csv").read_text(encoding="utf-8")
    for row in csv.DictReader(table.splitlines()):
        key = re.compile(re.escape(row["key"]).replace(r"\*", "(.*)"))
        rests_on = " ".join(_GROUPS[name] if name.startswith("@") else name for name in row["rests_on"].split())
        yield key, row["unit"], row["meaning"], rests_on.split()


_FAMILIES = tuple(_families())


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
    if text := _of_pair(key, conditions):
        return text
    for pattern, unit, meaning, rests in _FAMILIES:
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
                if key == pattern.format(pair=f"{a}_{b}"):
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
