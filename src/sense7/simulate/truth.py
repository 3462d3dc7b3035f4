"""The truth of a simulated study: its parameters, and the true values that follow from them.

True values are those of the population, see :mod:`sense7.simulate.true_values`. ``true_values/meanings.csv`` says what
each is, a row for each family of keys: a star in a key stands for any name, {0} in the other columns for the first of
these, and the first row that matches holds. What it rests on are keys of planted parameters, with stars, or groups of
them, which begin with @ (``truth.toml``).
"""

import csv
import importlib.resources
import itertools
import json
import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from sense7.simulate.model import Numbers
from sense7.simulate.parameters import Parameters
from sense7.simulate.true_values import TWINS, population_values
from sense7.simulate.true_values.arrays import ground_truth
from sense7.taxonomy import DIMENSION_NAMES, LEVELS

FORMAT = 2
"""Format of the truth file. In 2, a true value has the key under which a notebook records the same statistic."""

_HERE = importlib.resources.files(__package__)
TABLES = tomllib.loads((_HERE / "truth.toml").read_text("utf-8"))

_PUBLISHED = TABLES["published"] | {"best_condition": None}
_NEAR = TABLES["near"] | {key: twin for key, twin in TWINS.items() if twin in _PUBLISHED}
"""Keys that may be what a published figure means: with another interval, or under the names of their families."""

_TUNED = {*_PUBLISHED, *(key for key in _NEAR if "quadratic" not in key)}
"""Keys that the defaults set near a published figure."""

_BY_SIMULATION = "brute force: mean over independent draws at many times the size of the study"
PLACED = "put in as a parameter"

_PAIRED = (
    ("condition_model_difference_{pair}", "level", "mean ground truth of {a} minus that of {b}"),
    (
        "condition_d_{pair}",
        "sd",
        "Cohen's d (pooled sd over conversations) of the ground truth, {a} minus {b}",
    ),
    (
        "condition_odds_ratio_{pair}",
        "1",
        "odds ratio of {a} by {b}, cumulative logit of the overall rating",
    ),
)
"""Keys of two conditions, whose names may hold anything: they are looked up, not matched."""

_FAMILIES = []
for _row in csv.DictReader(
    (_HERE / "true_values" / "meanings.csv").read_text("utf-8").splitlines()
):
    _key = re.compile(re.escape(_row["key"]).replace(r"\*", "(.*)"))
    _rests = " ".join(TABLES["groups"].get(name, name) for name in _row["rests_on"].split())
    _FAMILIES.append((_key, _row["unit"], _row["meaning"], _rests.split()))


def described(key: str, conditions: tuple[str, ...] = ()) -> tuple[str, str, tuple[str, ...]]:
    """Unit, meaning, and patterns of the planted keys it rests on, of an implied value.

    >>> described("mean_Affective")
    ('level', 'mean turn rating of Affective', ('quality_mean', 'dimension_intercept_Affective'))
    """
    for a, b in itertools.product(conditions, conditions):
        for pattern, unit, meaning in _PAIRED:
            if key == pattern.format(pair=f"{a}_{b}"):
                rests = tuple(
                    f"condition_{what}_{name}" for what in ("effect", "slope") for name in (a, b)
                )
                return unit, meaning.format(a=a, b=b), (*rests, "condition_desired_slope_*")
    for pattern, unit, meaning, rests in _FAMILIES:
        if match := pattern.fullmatch(key):
            names = match.groups()
            return unit, meaning.format(*names), tuple(rest.format(*names) for rest in rests)
    raise KeyError(key)


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


def entry(key, value, unit, meaning, kind, how, error=None, rests_on=()) -> dict[str, Any]:
    """Make the entry of a planted value; numbers are rounded to six significant digits, errors to two.

    ``rests_on`` are the keys of the parameters without which an implied value would be another one. A value counts as
    tuned where the defaults set it near a published figure and it still lies within a tenth of that, also where other
    parameters were changed: which of them move which value is not known in general.
    """

    def rounded(
        number: float | None, digits: int
    ) -> float | None:  # NaN becomes None, which JSON can hold
        return None if number is None or not np.isfinite(number) else float(f"{number:.{digits}g}")

    near = key if key in _PUBLISHED else _NEAR.get(key)
    published = _PUBLISHED.get(near)
    fixed = isinstance(value, str) or published is None or value is None
    return {
        "key": key,
        "value": rounded(value, 6) if isinstance(value, float) else value,
        "unit": unit,
        "meaning": meaning,
        "kind": kind,
        "tuned": key in _TUNED and (fixed or abs(value - published) <= 0.1 * abs(published)),
        "near": near,
        "published": published,
        "how": how,
        "monte_carlo_error": rounded(error, 2),
        "rests_on": list(rests_on),
    }


def planted_entries(
    p: Parameters, values: Mapping[str, tuple[float, float]]
) -> list[dict[str, Any]]:
    """Entries of the truth file: counts, parameters, and the values that they imply, with their Monte Carlo errors."""
    counts = (
        ("participants", p.participants, "participants"),
        ("conversations_released", p.conversations, "conversations"),
        ("llm_conditions", len(p.conditions), "conditions"),
        ("tasks", len(p.topics), "topics"),
        ("dimensions", len(DIMENSION_NAMES), "dimensions of empathy"),
        ("levels", len(LEVELS), "levels of a rating"),
    )
    entries = [
        entry(key, value, "count", f"number of {what}", "count", "counted in the design")
        for key, value, what in counts
    ]
    placed = {key: (getattr(p, key), *text, PLACED) for key, text in TABLES["parameters"].items()}
    rest = round(1 - p.post_trough_weight - p.post_end_weight, 12)
    meaning = "weight of the mean of the turns in the post-task judgment: what the worst and the last turn leave"
    placed["post_mean_weight"] = (rest, "1", meaning, PLACED)
    meaning = "weight of the best turn in the post-task judgment"
    placed["post_peak_weight"] = (0.0, "1", meaning, "not in the model")
    for field, (name_of, unit, meaning) in TABLES["parameters_per_name"].items():
        rule = Parameters.__dataclass_fields__[field].metadata
        for name, value in zip(p.keys_of(rule["one_per"]), getattr(p, field), strict=True):
            short = name.lower() if field == "most_important_shares" else name
            placed[name_of.format(short)] = (value, unit, meaning.format(name), PLACED)
    entries += [
        entry(key, value, unit, meaning, "parameter", how)
        for key, (value, unit, meaning, how) in placed.items()
    ]
    planted = {one["key"]: one["value"] for one in entries if one["kind"] == "parameter"}

    def implied(
        key: str, value: Any, how: str = _BY_SIMULATION, error: float | None = None
    ) -> None:
        unit, meaning, patterns = described(key, p.conditions)
        entries.append(
            entry(
                key,
                value,
                unit,
                meaning,
                "implied",
                how,
                error,
                parameters_behind(patterns, planted),
            )
        )

    implied(
        "best_condition", max(p.conditions, key=lambda name: values[f"condition_mean_{name}"][0])
    )
    for key, (value, error) in values.items():
        implied(key, value, error=error)
    effects = dict(zip(p.characteristics, p.characteristic_effects, strict=True)) | {"Age": 0}
    for name, effect in effects.items():
        if effect == 0:
            how = "zero by construction: the characteristic has no effect"
            implied(f"characteristic_correlation_{name}", 0.0, how)
    for name in ("Gender", "Role", "AIExperience", "MostImportantDimension"):
        how = "zero by construction: drawn without regard to the ratings"
        implied(f"characteristic_omega_squared_{name}", 0.0, how)
    return entries


def _table(columns: Sequence[str], *values: Iterable) -> dict[str, list]:
    rows = [
        [round(cell, 4) if isinstance(cell, float) else cell for cell in row]
        for row in zip(*values, strict=True)
    ]
    return {"columns": list(columns), "rows": rows}


def truth_of(
    study: Numbers, seed: int, pids: list[str], task_ids: list[str], message_ids: list[int]
) -> dict:
    """The truth file of a study as a JSON-able dictionary.

    It holds format (``FORMAT``), seed, parameters, planted (a list of entries) and units (effects of each participant,
    participant by condition, conversation and turn; four decimals). Ids are in the study's order.
    """
    p = study.parameters
    participants = range(len(pids))
    units = {
        "participants": _table(
            ["PID", "participant_effect"], pids, study.participant_effect.tolist()
        ),
        "participant_conditions": _table(
            ["PID", "Model", "participant_condition_effect"],
            [pids[row] for row in participants for _ in p.conditions],
            [name for _ in participants for name in p.conditions],
            study.participant_condition_effect.ravel().tolist(),
        ),
        "conversations": _table(
            [
                "TaskId",
                "PID",
                "Model",
                "conversation_effect",
                "context_effect",
                "unmet",
                "ground_truth",
            ],
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
    return {
        "format": FORMAT,
        "seed": seed,
        "parameters": p.as_dict(),
        "planted": planted_entries(p, population_values(p)),
        "units": units,
    }


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

    def plain(value) -> str:
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)

    def lines(values) -> str:
        return "[\n" + ",\n".join(plain(value) for value in values) + "\n]"

    parts = []
    for key, value in truth.items():
        if key == "planted":
            text = lines(value)
        elif key == "units":
            tables = (
                f'{plain(name)}:{{"columns":{plain(table["columns"])},"rows":{lines(table["rows"])}}}'
                for name, table in value.items()
            )
            text = "{\n" + ",\n".join(tables) + "\n}"
        else:
            text = plain(value)
        parts.append(f"{plain(key)}:{text}")
    return "{" + ",\n".join(parts) + "}\n"
