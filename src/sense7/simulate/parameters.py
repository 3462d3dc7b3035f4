"""What is planted: the parameters of the simulation and of its judge, from ``parameters.toml``, and their checks."""

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

TOPICS = tuple(_TABLES["study"]["topics"]["default"])
"""Topics for which there is text; ``Parameters.topics`` chooses among them."""

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
        among = f" among: {', '.join(rule['default'])}" if "known" in rule else ""
        return f"a list of {fewest} to {most} different names{among}"
    if "known" in rule:
        return " or ".join(rule["known"])
    low, high = rule["range"]
    number = f"{'a whole number' if isinstance(rule['default'], int) else 'a number'} from {low:,} to {high:,}"
    return (
        f"a list with {number} for each of the {rule['one_per']}" if "one_per" in rule else number
    )


def _check(name: str, value: Any, rule: Mapping) -> Any:
    """Return the value in its type, or refuse it."""
    accepted = _accepted(rule)
    if "names" in rule or "one_per" in rule:
        if not isinstance(value, Sequence) or isinstance(value, str):
            _refuse(name, value, accepted)
        if "one_per" in rule:
            each = {"default": 0.0, "range": rule["range"]}
            return tuple(
                _check(f"{name}[{position}]", item, each) for position, item in enumerate(value)
            )
        named = all(isinstance(item, str) and item.strip() for item in value) and len(
            set(value)
        ) == len(value)
        known = "known" not in rule or (named and set(value) <= set(rule["default"]))
        if not named or not known or not rule["names"][0] <= len(value) <= rule["names"][1]:
            _refuse(name, list(value), accepted)
        return tuple(value)
    if "known" in rule:
        if not isinstance(value, str) or value not in rule["known"]:
            _refuse(name, value, accepted)
        return value
    kind, (low, high) = type(rule["default"]), rule["range"]
    # bool is an int to Python, but not to a reader.
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        _refuse(name, value, accepted)
    if (kind is int and value != int(value)) or not low <= value <= high:
        _refuse(name, value, accepted)
    return kind(value)


class _CheckedParameters:
    """What all parameters have in common: a frozen dataclass whose fields say by their metadata what they accept."""

    def __post_init__(self) -> None:
        for entry in dataclasses.fields(self):
            object.__setattr__(
                self, entry.name, _check(entry.name, getattr(self, entry.name), entry.metadata)
            )
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
        known = {entry.name: entry.metadata for entry in dataclasses.fields(self)}
        for name in changes:
            if name not in known:
                hint = did_you_mean(name, known)
                text = f"There is no parameter {name}. {hint}{' ' * bool(hint)}Known: {', '.join(sorted(known))}."
                raise UserError(text)
        # Names first: the keys of a mapping for condition_effects are those of the new conditions.
        values = {
            name: _check(name, value, known[name])
            for name, value in changes.items()
            if "names" in known[name]
        }
        names = dict(values)
        for name, value in changes.items():
            one_per = known[name].get("one_per")
            if one_per and isinstance(value, Mapping):
                keys = names.get(one_per) or self.keys_of(one_per)
                for key in value:
                    if key not in keys:
                        _refuse(
                            f"{name}.{key}",
                            value[key],
                            f"keys among the {one_per}: {', '.join(keys)}",
                        )
                merged = dict(zip(self.keys_of(one_per), getattr(self, name), strict=True)) | dict(
                    value
                )
                if missing := [key for key in keys if key not in merged]:
                    accepted = f"a value for each of the {one_per}; missing: {', '.join(missing)}"
                    _refuse(name, dict(value), accepted)
                values[name] = tuple(merged[key] for key in keys)
            elif name not in names:
                values[name] = value
        return dataclasses.replace(self, **values)

    @classmethod
    def accepted(cls) -> list[tuple[str, Any, str]]:
        """Name, default and accepted values of every parameter, in order."""
        return [
            (entry.name, entry.metadata["default"], _accepted(entry.metadata))
            for entry in dataclasses.fields(cls)
        ]

    def as_dict(self) -> dict[str, Any]:
        """Names and values, tuples as lists: what the truth file holds, and what `from_mapping` takes."""
        values = {entry.name: getattr(self, entry.name) for entry in dataclasses.fields(self)}
        return {
            name: list(value) if isinstance(value, tuple) else value
            for name, value in values.items()
        }


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
        for entry in dataclasses.fields(self):
            if one_per := entry.metadata.get("one_per"):
                wanted, value = len(self.keys_of(one_per)), getattr(self, entry.name)
                if len(value) != wanted:
                    _refuse(
                        entry.name, list(value), f"{wanted} numbers, one for each of the {one_per}"
                    )
        taken = sorted(set(self.characteristics) & set(_OTHER_COLUMNS))
        fewest, most = self.turns_minimum, self.turns_maximum
        rules = [
            ("characteristics", not taken, f"names other than {', '.join(_OTHER_COLUMNS)}"),
            (
                "conversations",
                self.conversations >= self.participants,
                f"at least one a participant ({self.participants})",
            ),
            (
                "unrated_conversations",
                self.unrated_conversations < self.conversations,
                "fewer than conversations",
            ),
            ("turns_maximum", most >= fewest, f"at least turns_minimum ({fewest})"),
            ("turns_mean", fewest <= self.turns_mean <= most, f"from {fewest} to {most}"),
            (
                "thresholds",
                sorted(set(self.thresholds)) == list(self.thresholds),
                "four numbers in ascending order",
            ),
            *(
                (
                    name,
                    math.isclose(sum(getattr(self, name)), 1, abs_tol=1e-6),
                    "seven shares that sum to 1",
                )
                for name in ("overall_weights", "most_important_shares")
            ),
            (
                "post_end_weight",
                self.post_trough_weight + self.post_end_weight <= 1,
                "at most 1 together with post_trough_weight",
            ),
        ]
        for name, holds, accepted in rules:
            if not holds:
                _refuse(
                    name, taken if name == "characteristics" else self.as_dict()[name], accepted
                )

    def keys_of(self, one_per: str) -> tuple[str, ...]:
        """Names to which the entries of a tuple belong, in order: of the conditions, topics, dimensions, ..."""
        fixed = {
            "dimensions": DIMENSION_NAMES,
            "experience items": EXPERIENCE_ITEMS,
            "cuts": ("1|2", "2|3", "3|4", "4|5"),
        }
        return fixed[one_per] if one_per in fixed else getattr(self, one_per)

    def without_effects(self) -> Self:
        """The same study with every systematic effect at zero; the sds of random effects and the noise stay.

        Condition, topic, importance, desired empathy, continuity failure, unmet expectation and characteristics have no
        effect.

        Examples
        --------
        >>> set(Parameters().without_effects().condition_effects)
        {0.0}
        """
        several = (
            "condition_effects",
            "condition_slopes",
            "condition_desired_slopes",
            "topic_effects",
        )
        zeros = {
            name: (0.0,) * len(getattr(self, name)) for name in (*several, "characteristic_effects")
        }
        single = ("importance_effect", "desired_effect", "continuity_drop", "expectation_drop")
        return self.replace(**zeros, **dict.fromkeys(single, 0.0))


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
            _refuse(
                "judge_truncation_rate",
                self.judge_truncation_rate,
                "at most 1 together with the other rates",
            )

    @property
    def unusable_rates(self) -> tuple[float, float, float, float]:
        """Probabilities of a refusal, of no number, of a number off the scale, and of a truncated reply."""
        kinds = ("refusal", "no_number", "off_scale", "truncation")
        return tuple(getattr(self, f"judge_{kind}_rate") for kind in kinds)


def _made(name: str, table: str, base: type) -> type:
    about = {"__module__": __name__, "__doc__": base.__doc__}
    return dataclasses.make_dataclass(
        name, _fields(table), bases=(base,), namespace=about, frozen=True
    )


Parameters = _made("Parameters", "study", _StudyParameters)
JudgeParameters = _made("JudgeParameters", "judge", _JudgeParameters)
