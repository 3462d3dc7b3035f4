"""What is put in: the parameters of the simulation and of its judge, from ``parameters.toml``, and their checks."""

import dataclasses
import importlib.resources
import math
import tomllib
from collections.abc import Mapping, Sequence
from typing import Any, Self

from sense7.errors import UserError
from sense7.taxonomy import DIMENSION_NAMES
from sense7.terminal import did_you_mean

_TABLES = tomllib.loads(
    (importlib.resources.files(__package__) / "parameters.toml").read_text("utf-8")
)

EXPERIENCE_ITEMS = ("Successful", "Engaged", "PositiveInteraction", "UseAgain")
"""Suffixes of the four post-task experience columns."""

_OTHER_COLUMNS = ("PID", "Age", "Gender", "Role", "AIExperience", "MostImportantDimension")


def _fields(table: str) -> list[tuple[str, type, Any]]:
    """Fields of a frozen dataclass whose metadata are the rows of a table."""
    fields = []
    for name, rule in _TABLES[table].items():
        default = rule["default"]
        if isinstance(default, list):
            fields.append((name, tuple, dataclasses.field(default=tuple(default), metadata=rule)))
        else:
            fields.append((name, type(default), dataclasses.field(default=default, metadata=rule)))
    return fields


def _refuse(name: str, value: Any, accepted: str) -> None:
    raise UserError(f"Parameter {name} is {value!r}; accepted: {accepted}.")


def _accepted(rule: Mapping) -> str:
    """What a parameter may be, in words."""
    if "names" in rule:
        fewest, most = rule["names"]
        words = f"a list of {fewest} to {most} different names"
        if "known" in rule:
            words += f" among: {', '.join(rule['default'])}"
        return words
    if "known" in rule:
        return " or ".join(rule["known"])
    low, high = rule["range"]
    number = "a whole number" if isinstance(rule["default"], int) else "a number"
    number += f" from {low:,} to {high:,}"
    if "one_per" in rule:
        return f"a list with {number} for each of the {rule['one_per']}"
    return number


def _check(name: str, value: Any, rule: Mapping) -> Any:
    """Return the value in its type, or refuse it."""
    accepted = _accepted(rule)
    is_list = isinstance(value, Sequence) and not isinstance(value, str)
    if ("names" in rule or "one_per" in rule) and not is_list:
        _refuse(name, value, accepted)
    if "one_per" in rule:
        rule_of_number = {"default": 0.0, "range": rule["range"]}
        numbers = []
        for position, item in enumerate(value):
            numbers.append(_check(f"{name}[{position}]", item, rule_of_number))
        return tuple(numbers)
    if "names" in rule:
        fewest, most = rule["names"]
        are_names = all(isinstance(item, str) and item.strip() for item in value)
        if not are_names or len(set(value)) < len(value) or not fewest <= len(value) <= most:
            _refuse(name, list(value), accepted)
        if "known" in rule and not set(value) <= set(rule["default"]):
            _refuse(name, list(value), accepted)
        return tuple(value)
    if "known" in rule:
        if not isinstance(value, str) or value not in rule["known"]:
            _refuse(name, value, accepted)
        return value
    number_type = type(rule["default"])
    low, high = rule["range"]
    # bool is an int to Python, but not to a reader.
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        _refuse(name, value, accepted)
    if (number_type is int and value != int(value)) or not low <= value <= high:
        _refuse(name, value, accepted)
    return number_type(value)


class _CheckedParameters:
    """What all parameters have in common: a frozen dataclass whose fields say by their metadata what they accept."""

    def __post_init__(self) -> None:
        for field in dataclasses.fields(self):
            value = _check(field.name, getattr(self, field.name), field.metadata)
            object.__setattr__(self, field.name, value)
        self._check_together()

    @classmethod
    def from_mapping(cls, mapping: Mapping[str, Any]) -> Self:
        """Parameters from names and values; what is not named keeps its default.

        A tuple takes a sequence, or a mapping from its keys (conditions, topics, dimensions, ...) to the entries that
        change. A name that is unknown, or a value of the wrong type or outside its range, raises a UserError.
        """
        return cls().replace(**mapping)

    def replace(self, /, **changes: Any) -> Self:
        """Copy with some parameters changed, under the same rules as :meth:`from_mapping`."""
        rules = {field.name: field.metadata for field in dataclasses.fields(self)}
        for name in changes:
            if name not in rules:
                parts = [f"There is no parameter {name}.", did_you_mean(name, rules)]
                parts.append(f"Known: {', '.join(sorted(rules))}.")
                raise UserError(" ".join(filter(None, parts)))
        # Names first: the keys of a mapping for condition_effects are those of the new conditions.
        values = {}
        for name, value in changes.items():
            if "names" in rules[name]:
                values[name] = _check(name, value, rules[name])
        for name, value in changes.items():
            one_per = rules[name].get("one_per")
            if one_per and isinstance(value, Mapping):
                keys = values.get(one_per) or self.keys_of(one_per)
                values[name] = self._merged(name, one_per, keys, value)
            elif "names" not in rules[name]:
                values[name] = value
        return dataclasses.replace(self, **values)

    def _merged(
        self, name: str, one_per: str, keys: Sequence[str], changes: Mapping
    ) -> tuple[float, ...]:
        """Entries of a tuple in the order of its keys, those that a mapping changes among them."""
        for key in changes:
            if key not in keys:
                accepted = f"keys among the {one_per}: {', '.join(keys)}"
                _refuse(f"{name}.{key}", changes[key], accepted)
        entries = dict(zip(self.keys_of(one_per), getattr(self, name), strict=True))
        entries.update(changes)
        missing = [key for key in keys if key not in entries]
        if missing:
            accepted = f"a value for each of the {one_per}; missing: {', '.join(missing)}"
            _refuse(name, dict(changes), accepted)
        return tuple(entries[key] for key in keys)

    @classmethod
    def accepted(cls) -> list[tuple[str, Any, str]]:
        """Name, default and accepted values of every parameter, in order."""
        parameters = []
        for field in dataclasses.fields(cls):
            rule = field.metadata
            parameters.append((field.name, rule["default"], _accepted(rule)))
        return parameters

    def as_dict(self) -> dict[str, Any]:
        """Names and values, tuples as lists: what a workbook says of its making, and what `from_mapping` takes."""
        values = {}
        for field in dataclasses.fields(self):
            value = getattr(self, field.name)
            values[field.name] = list(value) if isinstance(value, tuple) else value
        return values


class _StudyParameters(_CheckedParameters):
    """Every parameter of the simulation, by name with a default; see ``parameters.toml``.

    An instance is immutable and hashable. A value of the wrong type or outside its range raises a UserError.

    Examples
    --------
    >>> Parameters().participants, Parameters().conversations
    (109, 672)
    >>> Parameters.from_mapping({"applicability": {"Relational": 0.5}}).applicability[-1]
    0.5
    >>> Parameters.from_mapping({"turn_sd": -1})
    Traceback (most recent call last):
        ...
    sense7.errors.UserError: Parameter turn_sd is -1; accepted: a number from 0 to 3.
    """

    def _check_together(self) -> None:
        """Refuse values that do not go together, each in its own range."""
        for field in dataclasses.fields(self):
            one_per = field.metadata.get("one_per")
            numbers = getattr(self, field.name)
            if one_per and len(numbers) != len(self.keys_of(one_per)):
                count = len(self.keys_of(one_per))
                accepted = f"{count} numbers, one for each of the {one_per}"
                _refuse(field.name, list(numbers), accepted)
        reserved = sorted(set(self.characteristics) & set(_OTHER_COLUMNS))
        if reserved:
            _refuse("characteristics", reserved, f"names other than {', '.join(_OTHER_COLUMNS)}")
        if self.conversations < self.participants:
            accepted = f"at least one a participant ({self.participants})"
            _refuse("conversations", self.conversations, accepted)
        if self.unrated_conversations >= self.conversations:
            _refuse("unrated_conversations", self.unrated_conversations, "fewer than conversations")
        fewest = self.turns_minimum
        most = self.turns_maximum
        if most < fewest:
            _refuse("turns_maximum", most, f"at least turns_minimum ({fewest})")
        if not fewest <= self.turns_mean <= most:
            _refuse("turns_mean", self.turns_mean, f"from {fewest} to {most}")
        if sorted(set(self.thresholds)) != list(self.thresholds):
            _refuse("thresholds", list(self.thresholds), "four numbers in ascending order")
        for name in ("overall_weights", "most_important_shares"):
            shares = getattr(self, name)
            if not math.isclose(sum(shares), 1, abs_tol=1e-6):
                _refuse(name, list(shares), "seven shares that sum to 1")
        if self.post_trough_weight + self.post_end_weight > 1:
            accepted = "at most 1 together with post_trough_weight"
            _refuse("post_end_weight", self.post_end_weight, accepted)

    def keys_of(self, one_per: str) -> tuple[str, ...]:
        """Names to which the entries of a tuple belong, in order: of the conditions, topics, dimensions, ..."""
        fixed = {
            "dimensions": DIMENSION_NAMES,
            "experience items": EXPERIENCE_ITEMS,
            "cuts": ("1|2", "2|3", "3|4", "4|5"),
        }
        if one_per in fixed:
            return fixed[one_per]
        return getattr(self, one_per)

    def without_effects(self) -> Self:
        """The same study with every systematic effect at zero; the sds of random effects and the noise stay.

        Condition, topic, importance, desired empathy, continuity failure, unmet expectation and characteristics have no
        effect.

        Examples
        --------
        >>> set(Parameters().without_effects().condition_effects)
        {0.0}
        """
        single = ("importance_effect", "desired_effect", "continuity_drop", "expectation_drop")
        zeros = dict.fromkeys(single, 0.0)
        for name in (
            "condition_effects",
            "condition_slopes",
            "condition_desired_slopes",
            "topic_effects",
            "characteristic_effects",
        ):
            zeros[name] = (0.0,) * len(getattr(self, name))
        return self.replace(**zeros)


class _JudgeParameters(_CheckedParameters):
    """Every parameter of the simulated judge; see ``parameters.toml``, and :func:`sense7.simulate.judge.draw_judge`.

    Examples
    --------
    >>> JudgeParameters().judge_runs
    10
    >>> JudgeParameters.from_mapping({"judge_signal": -1})
    Traceback (most recent call last):
        ...
    sense7.errors.UserError: Parameter judge_signal is -1; accepted: a number from 0 to 3.
    """

    def _check_together(self) -> None:
        if sum(self.unusable_rates) > 1:
            accepted = "at most 1 together with the other rates"
            _refuse("judge_truncation_rate", self.judge_truncation_rate, accepted)

    @property
    def unusable_rates(self) -> tuple[float, float, float, float]:
        """Probabilities of a refusal, of no number, of a number off the scale, and of a truncated reply."""
        return (
            self.judge_refusal_rate,
            self.judge_no_number_rate,
            self.judge_off_scale_rate,
            self.judge_truncation_rate,
        )


def _made(name: str, table: str, base: type) -> type:
    about = {"__module__": __name__, "__doc__": base.__doc__}
    return dataclasses.make_dataclass(
        name, _fields(table), bases=(base,), namespace=about, frozen=True
    )


Parameters = _made("Parameters", "study", _StudyParameters)
JudgeParameters = _made("JudgeParameters", "judge", _JudgeParameters)
