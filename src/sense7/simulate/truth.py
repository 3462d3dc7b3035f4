"""The truth of a simulated study: its parameters, and the true values that follow from them.

True values are those of the population, see :mod:`sense7.simulate.true_values`, whose table says what each is.
"""

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from sense7.simulate.model import Numbers
from sense7.simulate.parameters import JudgeParameters, Parameters
from sense7.simulate.true_values.arrays import Tables
from sense7.simulate.true_values.judge import population_judge_values
from sense7.simulate.true_values.population import population_values
from sense7.simulate.true_values.table import TABLES, TWINS, described
from sense7.taxonomy import DIMENSION_NAMES, LEVELS

FORMAT = 2
"""Format of the truth file. In 2, a true value has the key under which a notebook records the same statistic."""

PUBLISHED: dict[str, float | None] = {"best_condition": None}
"""Published figures by their id; a name has no number."""
PUBLISHED.update(TABLES["published"])

NEAR: dict[str, str] = {key: key for key in PUBLISHED}
"""Key -> the published figure that it may mean: with another interval, or under the name of its family."""
NEAR.update(TABLES["near"])
NEAR.update({key: twin for key, twin in TWINS.items() if twin in PUBLISHED})

_BY_SIMULATION = "brute force: mean over independent draws at many times the size of the study"
_BY_SIMULATION_OF_JUDGE = (
    "brute force: mean over independent draws at many times the size of the study, with the number of turns in place "
    "of the number of words; plus the mean difference that the words make, over further draws with texts"
)
_PLACED = "put in as a parameter"


def parameters_behind(patterns: Iterable[str], planted: Mapping[str, float]) -> list[str]:
    """Planted keys that the patterns name, in their order.

    A star stands for any name, and then for those alone whose value is not zero, if there are such: an effect that
    was not planted is nothing to rest on.

    Examples
    --------
    >>> parameters_behind(("turn_sd", "topic_effect_*"), {"topic_effect_a": 0.1, "topic_effect_b": 0, "turn_sd": 0})
    ['turn_sd', 'topic_effect_a']
    """
    matching: list[str] = []
    for pattern in patterns:
        expression = re.compile(re.escape(pattern).replace(r"\*", ".*"))
        keys = [key for key in planted if expression.fullmatch(key)]
        planted_keys = [key for key in keys if planted[key]]
        matching += planted_keys or keys
    return list(dict.fromkeys(matching))


def _significant(number: float | None, digits: int) -> float | None:
    """A number with so many significant digits; None for NaN, which JSON can't hold."""
    if number is None or not np.isfinite(number):
        return None
    return float(f"{number:.{digits}g}")


def entry(
    key: str,
    value: Any,
    *,
    unit: str,
    meaning: str,
    kind: str,
    how: str,
    error: float | None = None,
) -> dict[str, Any]:
    """Make the entry of a planted value; numbers are rounded to six significant digits, errors to two.

    ``kind`` is count, parameter, or implied: a true value that follows from the parameters, of which ``rests_on``,
    empty at first, are those without which it would be another one. A value counts as tuned where the defaults set
    it near a published figure and it still lies within a tenth of that, also where other parameters were changed:
    which of them move which value is not known in general.
    """
    near = NEAR.get(key)
    published = PUBLISHED.get(near)
    tuned = near is not None and (key in PUBLISHED or "quadratic" not in key)
    if tuned and published is not None and value is not None and not isinstance(value, str):
        tuned = bool(abs(value - published) <= 0.1 * abs(published))
    if isinstance(value, float):
        value = _significant(value, 6)
    return {
        "key": key,
        "value": value,
        "unit": unit,
        "meaning": meaning,
        "kind": kind,
        "tuned": tuned,
        "near": near,
        "published": published,
        "how": how,
        "monte_carlo_error": _significant(error, 2),
        "rests_on": [],
    }


def count_entries(p: Parameters) -> list[dict[str, Any]]:
    """Entries of what is counted in the design."""
    counts = {
        "participants": (p.participants, "participants"),
        "conversations_released": (p.conversations, "conversations"),
        "llm_conditions": (len(p.conditions), "conditions"),
        "tasks": (len(p.topics), "topics"),
        "dimensions": (len(DIMENSION_NAMES), "dimensions of empathy"),
        "levels": (len(LEVELS), "levels of a rating"),
    }
    common = {"unit": "count", "kind": "count", "how": "counted in the design"}
    return [
        entry(key, value, meaning=f"number of {units}", **common)
        for key, (value, units) in counts.items()
    ]


def parameter_entries(p: Parameters) -> list[dict[str, Any]]:
    """Entries of the parameters: those of one number, the weights that are left, those of one number per name."""
    entries = []

    def add(key: str, value: float, unit: str, meaning: str, how: str = _PLACED) -> None:
        entries.append(entry(key, value, unit=unit, meaning=meaning, kind="parameter", how=how))

    for key, (unit, meaning) in TABLES["parameters"].items():
        add(key, getattr(p, key), unit, meaning)
    weight_of_mean = round(1 - p.post_trough_weight - p.post_end_weight, 12)
    add(
        "post_mean_weight",
        weight_of_mean,
        "1",
        "weight of the mean of the turns in the post-task judgment: what the worst and the last turn leave",
    )
    add(
        "post_peak_weight",
        0.0,
        "1",
        "weight of the best turn in the post-task judgment",
        "not in the model",
    )
    for field, (pattern, unit, meaning) in TABLES["parameters_per_name"].items():
        rule = Parameters.__dataclass_fields__[field].metadata
        for name, value in zip(p.keys_of(rule["one_per"]), getattr(p, field), strict=True):
            name_in_key = name.lower() if field == "most_important_shares" else name
            add(pattern.format(name_in_key), value, unit, meaning.format(name))
    return entries


def planted_entries(
    p: Parameters, values: Mapping[str, tuple[float, float]]
) -> list[dict[str, Any]]:
    """Entries of the truth file: counts, parameters, and true values with their Monte Carlo errors."""
    parameters = parameter_entries(p)
    planted = {parameter["key"]: parameter["value"] for parameter in parameters}
    entries = count_entries(p) + parameters

    def add(key: str, value: Any, how: str = _BY_SIMULATION, error: float | None = None) -> None:
        unit, meaning, patterns = described(key, p.conditions)
        implied = entry(
            key, value, unit=unit, meaning=meaning, kind="implied", how=how, error=error
        )
        implied["rests_on"] = parameters_behind(patterns, planted)
        entries.append(implied)

    mean_of_condition = {name: values[f"condition_mean_{name}"][0] for name in p.conditions}
    add("best_condition", max(p.conditions, key=mean_of_condition.__getitem__))
    for key, (value, error) in values.items():
        add(key, value, error=error)
    effects = dict(zip(p.characteristics, p.characteristic_effects, strict=True))
    effects["Age"] = 0
    for name, effect in effects.items():
        if effect == 0:
            how = "zero by construction: the characteristic has no effect"
            add(f"characteristic_correlation_{name}", 0.0, how)
    for name in ("Gender", "Role", "AIExperience", "MostImportantDimension"):
        how = "zero by construction: drawn without regard to the ratings"
        add(f"characteristic_omega_squared_{name}", 0.0, how)
    return entries


def judge_entries(parameters: Parameters, judge: JudgeParameters) -> list[dict[str, Any]]:
    """Entries of the truth file for a simulated judge: its parameters, and the true values of page and metrics."""
    entries = []
    for key, value in judge.as_dict().items():
        unit, meaning = TABLES["judge"][key]
        kind = "count" if key == "judge_runs" else "parameter"
        entries.append(entry(key, value, unit=unit, meaning=meaning, kind=kind, how=_PLACED))
    for key, (value, error) in population_judge_values(parameters, judge).items():
        unit, meaning, _ = described(key)
        about = {"unit": unit, "meaning": meaning, "kind": "implied"}
        entries.append(entry(key, value, **about, how=_BY_SIMULATION_OF_JUDGE, error=error))
    return entries


def _table(columns: Mapping[str, Iterable]) -> dict[str, list]:
    """Columns as their names and rows, numbers with four decimals."""
    rows = []
    for cells in zip(*columns.values(), strict=True):
        rows.append([round(cell, 4) if isinstance(cell, float) else cell for cell in cells])
    return {"columns": list(columns), "rows": rows}


def truth_of(
    study: Numbers, seed: int, pids: list[str], task_ids: list[str], message_ids: list[int]
) -> dict:
    """The truth file of a study as a JSON-able dictionary.

    It holds format (``FORMAT``), seed, parameters, planted (a list of entries) and units (effects of each participant,
    participant by condition, conversation and turn; four decimals). Ids are in the study's order.
    """
    p = study.parameters
    people = len(pids)
    qualities = zip(DIMENSION_NAMES, study.quality.T.tolist(), strict=True)
    truths = [None if np.isnan(value) else value for value in Tables(study).truth.tolist()]
    units = {
        "participants": _table(
            {"PID": pids, "participant_effect": study.participant_effect.tolist()}
        ),
        "participant_conditions": _table(
            {
                "PID": np.repeat(pids, len(p.conditions)).tolist(),
                "Model": list(p.conditions) * people,
                "participant_condition_effect": study.participant_condition_effect.ravel().tolist(),
            }
        ),
        "conversations": _table(
            {
                "TaskId": task_ids,
                "PID": [pids[row] for row in study.participant.tolist()],
                "Model": [p.conditions[row] for row in study.condition.tolist()],
                "conversation_effect": study.conversation_effect.tolist(),
                "context_effect": study.context_effect.tolist(),
                "unmet": study.unmet.tolist(),
                "ground_truth": truths,
            }
        ),
        "turns": _table(
            {
                "TaskId": [task_ids[row] for row in study.conversation.tolist()],
                "MessageId": message_ids,
                "failure": study.failure.tolist(),
                "carry": study.carry.tolist(),
                "turn_effect": study.turn_effect.tolist(),
                **{f"quality_{name}": column for name, column in qualities},
                "experienced": study.experienced.tolist(),
            }
        ),
    }
    return {
        "format": FORMAT,
        "seed": seed,
        "parameters": p.as_dict(),
        "planted": planted_entries(p, population_values(p)),
        "units": units,
    }


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def _json_lines(values: Iterable) -> str:
    """A list in JSON, each of its entries on a line."""
    return "[\n" + ",\n".join(_json(value) for value in values) + "\n]"


def truth_text(truth: dict) -> str:
    """The truth as JSON, one planted value and one unit a line: small, and readable as a difference.

    >>> units = {"turns": {"columns": ["a"], "rows": [[1], [2]]}}
    >>> print(truth_text({"format": 1, "planted": [{"key": "b"}], "units": units}), end="")
    {"format":1,
    "planted":[
    {"key":"b"}
    ],
    "units":{
    "turns":{"columns":["a"],"rows":[
    [1],
    [2]
    ]}
    }}
    """
    parts = []
    for key, value in truth.items():
        if key == "planted":
            text = _json_lines(value)
        elif key == "units":
            tables = []
            for name, table in value.items():
                columns = _json(table["columns"])
                rows = _json_lines(table["rows"])
                tables.append(f'{_json(name)}:{{"columns":{columns},"rows":{rows}}}')
            text = "{\n" + ",\n".join(tables) + "\n}"
        else:
            text = _json(value)
        parts.append(f"{_json(key)}:{text}")
    return "{" + ",\n".join(parts) + "}\n"
