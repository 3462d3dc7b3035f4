"""Every finding, found by itself and called with what it asks for: nothing here is a list of names."""

import importlib
import inspect
import pkgutil
from dataclasses import fields, is_dataclass
from functools import partial

import pandas as pd

import sense7.findings
from sense7.findings import measures
from sense7.findings.robustness import IN_STUDIES
from sense7.statistics.bootstrap import ParticipantBootstrap

NESTED = {
    "reliability.by_level",
    "reliability.correlation_matrices",
    "reliability.within_fit_indices",
}
"""Functions whose ratings are those of turns within conversations."""

NO_NUMBERS = {"is_first_turn", "turn_rating", "turn_summaries"}
"""Functions of other turns than those of :func:`arguments`."""

ARGUMENTS = {
    "study",
    "bootstrap",
    "ratings",
    "turns",
    "post_task",
    "nested",
    "outcome",
    "recorded_as",
    "seed",
}


def arguments(study, draws, seed=4, recorded_as="turn"):
    """What findings ask for, by the name of the parameter."""
    bootstrap = ParticipantBootstrap(study.conversations["participant"], draws, seed)
    turns = measures.turn_ratings(study)
    return {
        "study": study,
        "bootstrap": bootstrap,
        "ratings": turns,
        "turns": turns,
        "post_task": measures.post_task_ratings(study),
        "nested": measures.nested_turn_ratings(study),
        "outcome": study.turns_put_to_rating.set_index("participant")["overall"],
        "recorded_as": recorded_as,
        "seed": seed,
    }


def findings():
    """Every function of a finding that takes a study or its ratings, and what else it asks for."""
    found = {}
    for info in pkgutil.iter_modules(sense7.findings.__path__):
        module = importlib.import_module(f"sense7.findings.{info.name}")
        for name, function in vars(module).items():
            if name.startswith("_") or getattr(function, "__module__", "") != module.__name__:
                continue
            asked = inspect.signature(function).parameters if inspect.isfunction(function) else {}
            needed = {one.name for one in asked.values() if one.default is one.empty}
            given = [one for one in asked if one in needed | {"recorded_as", "seed"}]
            if name in NO_NUMBERS:
                continue
            if needed & {"study", "ratings", "turns", "nested"} and needed <= ARGUMENTS:
                found[f"{info.name}.{name}"] = function, given
            elif needed == {"study", "bootstrap", "headline"}:
                ways = {
                    f"{info.name}.{name}, {one}": (partial(function, headline=one), given[:2])
                    for one in IN_STUDIES
                }
                found |= ways
    return found


FINDINGS = {name: one for name, one in findings().items() if not name.startswith("elsewhere.")}
MANY = {name for name in FINDINGS if ", " in name}
"""Multiverses: many specifications of findings that are tested one by one."""


def rows_of(found, place=""):
    """Every row of estimates in what a finding returns: where it stands -> the row."""
    if isinstance(found, pd.DataFrame):
        if "estimate" not in found or "unit" not in found:
            return {}
        names = found.index if found.index.is_unique else range(len(found))
        rows = zip(names, found.to_dict("records"), strict=True)
        return {f"{place}/{name}": row for name, row in rows}
    if isinstance(found, dict):
        if "estimate" in found and "unit" in found:
            return {place: found}
        return {
            key: row
            for name, part in found.items()
            for key, row in rows_of(part, f"{place}/{name}").items()
        }
    if is_dataclass(found):
        return rows_of({field.name: getattr(found, field.name) for field in fields(found)}, place)
    if isinstance(found, list | tuple):
        return rows_of(dict(enumerate(found)), place)
    return {}


def numbers(study, draws, seed=4, left_out=MANY, **more):
    """Every row of every finding, by function and place."""
    given, found = arguments(study, draws, seed) | more, {}
    for name, (function, asked) in FINDINGS.items():
        if name not in left_out:
            own = {
                one: given["nested" if one == "ratings" and name in NESTED else one]
                for one in asked
            }
            found |= rows_of(function(**own), name)
    return found
