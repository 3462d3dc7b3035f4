"""What is planted: every parameter of the simulation, with its unit and its range.

The unit "level" is one step of the five-level rating scale, on the latent scale whose
default thresholds lie half-way between the levels.
"""

import dataclasses
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Self

from sense7.errors import UserError
from sense7.taxonomy import DIMENSION_NAMES
from sense7.terminal import did_you_mean

__all__ = ["EXPERIENCE_ITEMS", "TOPICS", "JudgeParameters", "Parameters"]

TOPICS = (
    "Conflict with a colleague",
    "Too much work",
    "Preparing a difficult conversation",
    "Feedback that was hard to hear",
    "A change in the team",
    "A mistake at work",
    "The next step in a career",
    "Working from home",
)
"""Topics for which there is text; ``Parameters.topics`` chooses among them."""

EXPERIENCE_ITEMS = ("Successful", "Engaged", "PositiveInteraction", "UseAgain")
"""Suffixes of the four post-task experience columns."""

DESIGNS = ("within", "between")
_OTHER_COLUMNS = ("PID", "Age", "Gender", "Role", "AIExperience", "MostImportantDimension")


def _number(default: float, low: float, high: float) -> Any:
    return field(default=default, metadata={"type": float, "low": low, "high": high})


def _whole(default: int, low: int, high: int) -> Any:
    return field(default=default, metadata={"type": int, "low": low, "high": high})


def _numbers(default: tuple, low: float, high: float, one_per: str) -> Any:
    return field(default=default, metadata={"type": float, "low": low, "high": high, "one_per": one_per})


def _names(default: tuple, fewest: int, most: int, known: tuple | None = None) -> Any:
    return field(default=default, metadata={"type": str, "fewest": fewest, "most": most, "known": known})


class _CheckedParameters:
    """What all parameters have in common: a frozen dataclass whose fields say by their metadata what they accept."""

    def __post_init__(self) -> None:
        for entry in dataclasses.fields(self):
            object.__setattr__(self, entry.name, _check(entry.name, getattr(self, entry.name), entry))
        self._check_together()

    def _check_together(self) -> None:
        """Refuse values that do not go together, each in its own range."""
        raise NotImplementedError

    @classmethod
    def from_mapping(cls, mapping: Mapping[str, Any]) -> Self:
        """Parameters from names and values; what is not named keeps its default.

        Parameters
        ----------
        mapping : mapping
            Parameter name -> value. A tuple parameter takes a sequence, or a mapping from its
            keys (conditions, topics, dimensions, ...) to the entries that change.

        Raises
        ------
        UserError
            If a name is unknown, a value has the wrong type, or lies outside its range.
        """
        return cls().replace(**mapping)

    def replace(self, /, **changes: Any) -> Self:
        """Copy with some parameters changed, under the same rules as :meth:`from_mapping`."""
        _require_known(self, changes)
        return dataclasses.replace(self, **changes)

    @classmethod
    def accepted(cls) -> list[tuple[str, Any, str]]:
        """Name, default and accepted values of every parameter, in order."""
        defaults = cls().as_dict()
        return [(entry.name, defaults[entry.name], _accepted(entry.metadata)) for entry in dataclasses.fields(cls)]

    def as_dict(self) -> dict[str, Any]:
        """Names and values, tuples as lists: what the truth file holds, and what `from_mapping` takes."""
        return {
            entry.name: list(value) if isinstance(value := getattr(self, entry.name), tuple) else value
            for entry in dataclasses.fields(self)
        }


@dataclass(frozen=True)
class Parameters(_CheckedParameters):
    """Every parameter of the simulation.

    All are keyword arguments with defaults; an instance is immutable and hashable. The
    defaults give a study of the size of the release; some were set so that statistics of
    the simulated study come near published ones (which, the truth file says). None of
    them is an estimate from data.

    Parameters
    ----------
    participants : int
        Number of participants, 1 to 100,000.
    conversations : int
        Number of conversations, at least one a participant, at most 1,000,000.
    conversation_spread : float
        How evenly conversations spread over participants: shape of the gamma distribution of
        a participant's propensity, 0.1 (very uneven) to 1,000 (even).
    design : str
        "within": each participant meets the conditions in randomly ordered blocks;
        "between": each participant meets one condition only.
    conditions : tuple of str
        Names of the conditions, 1 to 12, each once.
    condition_effects : tuple of float
        Effect of each condition on quality in its first turn, levels, -3 to 3.
    condition_slopes : tuple of float
        Change of each condition's effect per turn, levels a turn, -0.2 to 0.2.
    condition_desired_slopes : tuple of float
        Interaction of condition and desired empathy: additional effect of each condition per
        step of desired empathy above 2, levels, -1 to 1.
    topics : tuple of str
        Topics, a choice of 1 to 8 from :data:`TOPICS`.
    topic_effects : tuple of float
        Effect of each topic on quality, levels, -2 to 2.
    topic_importance : tuple of float
        Shift of each topic's importance on its latent scale of 1 to 5, -2 to 2.
    importance_mean, importance_sd, importance_participant_sd : float
        Mean of latent importance (1 to 5), its sd over conversations and over participants (0 to 3).
    importance_effect : float
        Effect of importance on the rating, levels per step above 3, -1 to 1.
    desired_mean, desired_sd, desired_importance_slope : float
        Mean of latent desired empathy (1 to 3), its sd (0 to 3), and its rise per step of
        importance above 3 (-1 to 1).
    desired_effect : float
        Effect of desired empathy on the rating, levels per step above 2, -1 to 1.
    quality_mean : float
        Mean latent quality before all effects, levels, 1 to 5.
    participant_sd : float
        Sd of the participant's own effect, besides what characteristics explain, levels, 0 to 3.
    participant_condition_sd, conversation_sd, turn_sd : float
        Sd of the effects of participant by condition, conversation and turn, levels, 0 to 3.
    dimension_intercepts : tuple of float
        Shift of each dimension, levels, -2 to 2.
    dimension_quality_sd : float
        Sd of what a turn offers on one dimension and not on the others, levels, 0 to 3. It
        shows in the text.
    dimension_noise_sds : tuple of float
        Sd of each dimension's rating noise, levels, 0 to 3. It does not show in the text.
    overall_weights : tuple of float
        Weight of each dimension's latent in the overall rating, 0 to 1, summing to 1.
    overall_intercept, overall_noise_sd : float
        Shift (-2 to 2) and noise (0 to 3) of the overall rating, levels.
    thresholds : tuple of float
        The four cuts between the five levels on the latent scale, ascending, -10 to 10.
    failure_probability : float
        Probability that continuity fails at a turn, from the second on, 0 to 1.
    continuity_drop : float
        Fall of quality at such a turn, levels, 0 to 4.
    continuity_persistence : float
        Share of the fall that is left one turn later (squared after two, and so on), 0 to 0.99.
    continuity_weights : tuple of float
        How strongly each dimension falls, as a multiple of ``continuity_drop``, 0 to 3.
    applicability : tuple of float
        Probability that a dimension is rated at a turn put to rating, 0 to 1. For Relational it
        holds from the second turn on.
    relational_first_applicability : float
        The same for Relational at the first turn, when there is nothing yet to recall, 0 to 1.
    relational_failure_applicability : float
        The same for Relational at a turn where continuity fails, 0 to 1.
    applicability_participant_sd, relational_participant_sd : float
        Sd over participants of the tendency to rate (the six dimensions other than Relational;
        Relational), on the probit scale, 0 to 5; half of the variance for the six is shared by
        them. The probabilities above are averages over participants.
    overall_applicability : float
        Probability that a turn put to rating has an overall rating, 0 to 1.
    unrated_turn_rate : float
        Probability that an assistant turn is not put to rating, 0 to 1.
    unrated_conversations : int
        Number of conversations without any turn put to rating, 0 to 1,000,000.
    post_trough_weight, post_end_weight : float
        Weight of the worst and of the last turn in the post-task judgment, 0 to 1; the mean of
        the turns has what is left to 1.
    post_intercept : float
        Shift of the post-task empathy ratings, levels, -2 to 3.
    post_participant_sd, post_conversation_sd, post_item_sd : float
        Sd of the post-task judgment over participants, over conversations, and of each item, levels, 0 to 3.
    unmet_below : float
        Mean experienced latent below which a high desired empathy counts as unmet, 0 to 6.
    expectation_drop : float
        Fall of all post-task ratings where it was unmet, levels, 0 to 4.
    experience_intercepts : tuple of float
        Mean of each of the four experience items at a post-task judgment equal to ``quality_mean``, 1 to 5.
    experience_loading, experience_common_sd, experience_item_sd : float
        Slope of the experience items on the post-task judgment (-1 to 2), and the sd of what they
        share besides and of each item (0 to 3).
    characteristics : tuple of str
        Names of the participants' trait scores, 0 to 40, each once.
    characteristic_effects : tuple of float
        Effect of each on the participant's ratings, levels per sd, -1 to 1; 0 is a null characteristic.
    most_important_shares : tuple of float
        Probability that a participant names each dimension as the most important, 0 to 1, summing to 1.
    turns_minimum, turns_maximum : int
        Fewest and most assistant turns of a conversation, 1 to 60.
    turns_mean : float
        Their mean, within these.
    turns_concentration : float
        How closely the numbers of turns gather round their mean (sum of the shapes of the
        beta distribution), 0.1 to 1,000.
    text_noise_sd : float
        Noise between the quality of a turn on a dimension and what its text shows, levels, 0 to 20.
    error_rate : float
        Probability that an error row stands before an assistant turn, 0 to 1.
    retry_rate : float
        Probability that an assistant turn without error was asked for again, 0 to 1.
    blank_rate : float
        Probability that a message's Content is blank, 0 to 1.
    comment_rate : float
        Probability of a comment at a rated turn of middling rating, 0 to 1; doubled where the
        overall rating is very good, tripled where it is poor or worse.

    Raises
    ------
    UserError
        If a value has the wrong type or lies outside its range, naming parameter, value and range.

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

    participants: int = _whole(109, 1, 100_000)
    conversations: int = _whole(672, 1, 1_000_000)
    conversation_spread: float = _number(4.0, 0.1, 1000)
    design: str = field(default="within", metadata={"type": str, "known": DESIGNS})

    conditions: tuple[str, ...] = _names(("model-a", "model-b", "model-c", "model-a-empathy-prompt"), 1, 12)
    condition_effects: tuple[float, ...] = _numbers((0.05, -0.15, -0.30, 0.40), -3, 3, "conditions")
    condition_slopes: tuple[float, ...] = _numbers((0.0, 0.0, 0.0, -0.012), -0.2, 0.2, "conditions")
    condition_desired_slopes: tuple[float, ...] = _numbers((0.0, 0.0, 0.0, 0.12), -1, 1, "conditions")

    topics: tuple[str, ...] = _names(TOPICS, 1, 8, TOPICS)
    topic_effects: tuple[float, ...] = _numbers((-0.15, -0.05, 0.15, -0.10, 0.0, -0.05, 0.20, 0.0), -2, 2, "topics")
    topic_importance: tuple[float, ...] = _numbers((0.2, 0.3, 0.3, 0.0, -0.2, 0.0, 0.2, -0.8), -2, 2, "topics")
    importance_mean: float = _number(3.6, 1, 5)
    importance_sd: float = _number(0.8, 0, 3)
    importance_participant_sd: float = _number(0.4, 0, 3)
    importance_effect: float = _number(0.06, -1, 1)
    desired_mean: float = _number(2.0, 1, 3)
    desired_sd: float = _number(0.6, 0, 3)
    desired_importance_slope: float = _number(0.15, -1, 1)
    desired_effect: float = _number(-0.10, -1, 1)

    quality_mean: float = _number(4.19, 1, 5)
    participant_sd: float = _number(0.48, 0, 3)
    participant_condition_sd: float = _number(0.20, 0, 3)
    conversation_sd: float = _number(0.36, 0, 3)
    turn_sd: float = _number(0.55, 0, 3)

    dimension_intercepts: tuple[float, ...] = _numbers((0.0, 0.10, 0.02, 0.05, -0.05, 0.05, -0.25), -2, 2, "dimensions")
    dimension_quality_sd: float = _number(0.22, 0, 3)
    dimension_noise_sds: tuple[float, ...] = _numbers(
        (0.246, 0.236, 0.236, 0.256, 0.256, 0.256, 0.495), 0, 3, "dimensions"
    )
    overall_weights: tuple[float, ...] = _numbers((0.30, 0.20, 0.16, 0.10, 0.10, 0.09, 0.05), 0, 1, "dimensions")
    overall_intercept: float = _number(0.0, -2, 2)
    overall_noise_sd: float = _number(0.352, 0, 3)
    thresholds: tuple[float, ...] = _numbers((1.5, 2.5, 3.5, 4.5), -10, 10, "cuts")

    failure_probability: float = _number(0.04, 0, 1)
    continuity_drop: float = _number(0.80, 0, 4)
    continuity_persistence: float = _number(0.45, 0, 0.99)
    continuity_weights: tuple[float, ...] = _numbers((1.0, 1.0, 1.0, 0.9, 1.0, 1.4, 1.7), 0, 3, "dimensions")

    applicability: tuple[float, ...] = _numbers((0.93, 0.95, 0.94, 0.93, 0.93, 0.93, 0.40), 0, 1, "dimensions")
    relational_first_applicability: float = _number(0.12, 0, 1)
    relational_failure_applicability: float = _number(0.65, 0, 1)
    applicability_participant_sd: float = _number(0.6, 0, 5)
    relational_participant_sd: float = _number(0.9, 0, 5)
    overall_applicability: float = _number(0.99, 0, 1)
    unrated_turn_rate: float = _number(0.03, 0, 1)
    unrated_conversations: int = _whole(2, 0, 1_000_000)

    post_trough_weight: float = _number(0.15, 0, 1)
    post_end_weight: float = _number(0.15, 0, 1)
    post_intercept: float = _number(0.20, -2, 3)
    post_participant_sd: float = _number(0.51, 0, 3)
    post_conversation_sd: float = _number(0.82, 0, 3)
    post_item_sd: float = _number(0.71, 0, 3)
    unmet_below: float = _number(3.6, 0, 6)
    expectation_drop: float = _number(0.50, 0, 4)
    experience_intercepts: tuple[float, ...] = _numbers((3.9, 4.0, 4.1, 3.7), 1, 5, "experience items")
    experience_loading: float = _number(0.75, -1, 2)
    experience_common_sd: float = _number(0.30, 0, 3)
    experience_item_sd: float = _number(0.50, 0, 3)

    characteristics: tuple[str, ...] = _names(
        (
            "TrustInAI",
            "EmpathicConcern",
            "PerspectiveTaking",
            "Extraversion",
            "Agreeableness",
            "Conscientiousness",
            "Neuroticism",
            "Openness",
        ),
        0,
        40,
    )
    characteristic_effects: tuple[float, ...] = _numbers(
        (0.22, 0.16, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0), -1, 1, "characteristics"
    )
    most_important_shares: tuple[float, ...] = _numbers(
        (0.198, 0.281, 0.193, 0.085, 0.080, 0.108, 0.055), 0, 1, "dimensions"
    )

    turns_minimum: int = _whole(4, 1, 60)
    turns_maximum: int = _whole(20, 1, 60)
    turns_mean: float = _number(9.5, 1, 60)
    turns_concentration: float = _number(4.0, 0.1, 1000)
    text_noise_sd: float = _number(0.55, 0, 20)
    error_rate: float = _number(0.015, 0, 1)
    retry_rate: float = _number(0.02, 0, 1)
    blank_rate: float = _number(0.003, 0, 1)
    comment_rate: float = _number(0.06, 0, 1)

    def _check_together(self) -> None:
        self._check_lengths()
        self._check_counts()
        if any(b <= a for a, b in zip(self.thresholds, self.thresholds[1:], strict=False)):
            _refuse("thresholds", list(self.thresholds), "four numbers in ascending order")
        for name in ("overall_weights", "most_important_shares"):
            if not math.isclose(sum(getattr(self, name)), 1, abs_tol=1e-6):
                _refuse(name, list(getattr(self, name)), "seven shares that sum to 1")
        if self.post_trough_weight + self.post_end_weight > 1:
            _refuse("post_end_weight", self.post_end_weight, "at most 1 together with post_trough_weight")

    def _check_lengths(self) -> None:
        for entry in dataclasses.fields(self):
            if one_per := entry.metadata.get("one_per"):
                wanted, value = len(self.keys_of(one_per)), getattr(self, entry.name)
                if len(value) != wanted:
                    _refuse(entry.name, list(value), f"{wanted} numbers, one for each of the {one_per}")
        if taken := set(self.characteristics) & set(_OTHER_COLUMNS):
            _refuse("characteristics", sorted(taken), f"names other than {', '.join(_OTHER_COLUMNS)}")

    def _check_counts(self) -> None:
        if self.conversations < self.participants:
            _refuse("conversations", self.conversations, f"at least one a participant ({self.participants})")
        if self.unrated_conversations >= self.conversations:
            _refuse("unrated_conversations", self.unrated_conversations, "fewer than conversations")
        if self.turns_maximum < self.turns_minimum:
            _refuse("turns_maximum", self.turns_maximum, f"at least turns_minimum ({self.turns_minimum})")
        if not self.turns_minimum <= self.turns_mean <= self.turns_maximum:
            _refuse("turns_mean", self.turns_mean, f"from {self.turns_minimum} to {self.turns_maximum}")

    def keys_of(self, one_per: str) -> tuple[str, ...]:
        """Names to which the entries of a tuple parameter belong, in order.

        Parameters
        ----------
        one_per : str
            "conditions", "topics", "dimensions", "characteristics", "experience items" or "cuts".
        """
        return {
            "conditions": self.conditions,
            "topics": self.topics,
            "dimensions": DIMENSION_NAMES,
            "characteristics": self.characteristics,
            "experience items": EXPERIENCE_ITEMS,
            "cuts": ("1|2", "2|3", "3|4", "4|5"),
        }[one_per]

    def replace(self, /, **changes: Any) -> Self:
        """Copy with some parameters changed, under the same rules as :meth:`from_mapping`.

        Examples
        --------
        >>> Parameters().replace(participants=20, conversations=60).participants
        20
        """
        known = _require_known(self, changes)
        # Names first: the keys of a mapping for condition_effects are those of the new conditions.
        names = {
            name: _check(name, changes[name], known[name])
            for name in ("conditions", "topics", "characteristics")
            if name in changes
        }
        values: dict[str, Any] = dict(names)
        for name, value in changes.items():
            one_per = known[name].metadata.get("one_per")
            if isinstance(value, Mapping) and one_per:
                keys = names.get(one_per) or self.keys_of(one_per)
                values[name] = self._merge(name, value, keys, one_per)
            elif name not in names:
                values[name] = value
        return dataclasses.replace(self, **values)

    def _merge(self, name: str, value: Mapping, keys: tuple[str, ...], one_per: str) -> tuple:
        for key in value:
            if key not in keys:
                _refuse(f"{name}.{key}", value[key], f"keys among the {one_per}: {', '.join(keys)}")
        current = dict(zip(self.keys_of(one_per), getattr(self, name), strict=True))
        current.update(value)
        missing = [key for key in keys if key not in current]
        if missing:
            _refuse(name, dict(value), f"a value for each of the {one_per}; missing: {', '.join(missing)}")
        return tuple(current[key] for key in keys)

    def without_effects(self) -> Self:
        """The same study with every systematic effect at zero: a null world.

        Condition, topic, importance, desired empathy, continuity failure, unmet expectation
        and characteristics have no effect; the sds of the random effects and the noise stay.

        Examples
        --------
        >>> set(Parameters().without_effects().condition_effects)
        {0.0}
        """
        zeros = {
            name: tuple(0.0 for _ in getattr(self, name))
            for name in (
                "condition_effects",
                "condition_slopes",
                "condition_desired_slopes",
                "topic_effects",
                "characteristic_effects",
            )
        }
        return self.replace(
            **zeros, importance_effect=0.0, desired_effect=0.0, continuity_drop=0.0, expectation_drop=0.0
        )


@dataclass(frozen=True)
class JudgeParameters(_CheckedParameters):
    """Every parameter of the simulated judge, which scores each conversation of a simulated study several times.

    Apart from :class:`Parameters`, since a workbook holds its own parameters and does not depend on its judge. The
    defaults were set so that the judge's Spearman correlation and accuracy come near the published ones; none is an
    estimate from data. How the score follows from them: :func:`sense7.simulate.judge.draw_judge`.

    Parameters
    ----------
    judge_runs : int
        Number of runs, 1 to 100.
    judge_signal : float
        Change of the judgment per level of quality that the conversation offers on average over its turns and
        dimensions, 0 to 3. What the participant adds to that quality, the judge does not see.
    judge_length_weight : float
        Change of the judgment per doubling of the number of words that the assistant wrote, levels, -2 to 2.
    judge_usual_length : float
        Number of words at which the length changes nothing, 1 to 100,000.
    judge_level_shift : float
        Shift of every judgment: above 0 the judge is lenient, below 0 it is strict, levels, -4 to 4.
    judge_misjudgment_sd : float
        Sd over conversations of the error that all runs share, levels, 0 to 5.
    judge_jitter_sd : float
        Sd of the error of a single run, levels, 0 to 5. Where the judgment lies near a threshold the score moves by a
        level from one run to another.
    judge_refusal_rate : float
        Probability that the reply is a refusal, 0 to 1.
    judge_no_number_rate : float
        Probability that the reply holds no number, 0 to 1.
    judge_off_scale_rate : float
        Probability that the number in the reply is off the scale, 0 to 1.
    judge_truncation_rate : float
        Probability that the reply ends before its score, 0 to 1. The four together are at most 1.

    Raises
    ------
    UserError
        If a value has the wrong type or lies outside its range, naming parameter, value and range.

    Examples
    --------
    >>> JudgeParameters().judge_runs
    10
    >>> JudgeParameters.from_mapping({"judge_signal": -1})
    Traceback (most recent call last):
        ...
    sense7.errors.UserError: Parameter judge_signal is -1; accepted: a number from 0 to 3.
    """

    judge_runs: int = _whole(10, 1, 100)
    judge_signal: float = _number(0.7, 0, 3)
    judge_length_weight: float = _number(0.1, -2, 2)
    judge_usual_length: float = _number(400.0, 1, 100_000)
    judge_level_shift: float = _number(0.335, -4, 4)
    judge_misjudgment_sd: float = _number(0.38, 0, 5)
    judge_jitter_sd: float = _number(0.1, 0, 5)
    judge_refusal_rate: float = _number(0.008, 0, 1)
    judge_no_number_rate: float = _number(0.010, 0, 1)
    judge_off_scale_rate: float = _number(0.004, 0, 1)
    judge_truncation_rate: float = _number(0.006, 0, 1)

    def _check_together(self) -> None:
        if sum(self.unusable_rates) > 1:
            _refuse("judge_truncation_rate", self.judge_truncation_rate, "at most 1 together with the other rates")

    @property
    def unusable_rates(self) -> tuple[float, float, float, float]:
        """Probabilities of a refusal, of no number, of a number off the scale, and of a truncated reply."""
        return (
            self.judge_refusal_rate,
            self.judge_no_number_rate,
            self.judge_off_scale_rate,
            self.judge_truncation_rate,
        )


def _require_known(parameters: Any, names: Mapping[str, Any]) -> dict[str, dataclasses.Field]:
    """Fields of a class of parameters by name; refuses names that are none of them."""
    known = {entry.name: entry for entry in dataclasses.fields(parameters)}
    for name in names:
        if name not in known:
            hint = did_you_mean(name, known)
            raise UserError(f"There is no parameter {name}. {hint}{' ' * bool(hint)}Known: {', '.join(sorted(known))}.")
    return known


def _refuse(name: str, value: Any, accepted: str) -> None:
    raise UserError(f"Parameter {name} is {value!r}; accepted: {accepted}.")


def _check(name: str, value: Any, entry: dataclasses.Field) -> Any:
    """Return the value in its type, or refuse it."""
    rule = entry.metadata
    if rule["type"] is str:
        return _check_names(name, value, rule)
    if "one_per" not in rule:
        return _check_number(name, value, rule)
    if not isinstance(value, Sequence) or isinstance(value, str):
        _refuse(name, value, _accepted(rule))
    return tuple(_check_number(f"{name}[{position}]", item, rule) for position, item in enumerate(value))


def _accepted(rule: Mapping) -> str:
    """What a parameter may be, in words."""
    if rule["type"] is not str:
        return f"a list with {_range(rule)} for each of the {rule['one_per']}" if "one_per" in rule else _range(rule)
    known = rule.get("known")
    if "fewest" not in rule:
        return " or ".join(known)
    among = f" among: {', '.join(known)}" if known else ""
    return f"a list of {rule['fewest']} to {rule['most']} different names{among}"


def _check_names(name: str, value: Any, rule: Mapping) -> Any:
    known, accepted = rule.get("known"), _accepted(rule)
    if "fewest" not in rule:
        if not isinstance(value, str) or value not in known:
            _refuse(name, value, accepted)
        return value
    if not isinstance(value, Sequence) or isinstance(value, str):
        _refuse(name, value, accepted)
    names = tuple(value)
    if not all(isinstance(item, str) and item.strip() for item in names) or len(set(names)) < len(names):
        _refuse(name, list(names), accepted)
    if not rule["fewest"] <= len(names) <= rule["most"] or (known and not set(names) <= set(known)):
        _refuse(name, list(names), accepted)
    return names


def _check_number(name: str, value: Any, rule: Mapping) -> Any:
    whole = rule["type"] is int
    # bool is an int to Python, but not to a reader.
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        _refuse(name, value, _range(rule))
    if whole and value != int(value):
        _refuse(name, value, _range(rule))
    if not rule["low"] <= value <= rule["high"]:
        _refuse(name, value, _range(rule))
    return rule["type"](value)


def _range(rule: Mapping) -> str:
    kind = "a whole number" if rule["type"] is int else "a number"
    return f"{kind} from {rule['low']:,} to {rule['high']:,}"
