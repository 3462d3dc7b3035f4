"""Other ids for the same people and conversations give the same results of judges; of findings: test_contract.py."""

import importlib
import inspect
import pkgutil
import uuid
from dataclasses import fields, is_dataclass, replace
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import sense7.judge
from sense7.estimators.bootstrap import ParticipantBootstrap
from sense7.findings.sufficient_statistics import estimates_of_parts, sums_of_part
from sense7.judge.few_shot import ORDERS, chosen_examples
from sense7.judge.requests import Shots
from sense7.workbook import parse_sheets
from sense7.workbook.xlsx import read_sheets

WORKBOOK = Path(__file__).resolve().parents[2] / "data" / "synthetic.xlsx"
PEOPLE = 24
DRAWS = 40
GIVEN = ({"study"}, {"study", "bootstrap"})
"""Arguments without a default of the functions that are tested."""


OF_RELEASED_RATINGS = ("sense7.judge.three_judges",)
"""Modules whose functions take studies of one corpus only."""


def functions_of_a_study():
    """Every public function of the analysis that needs no more than a study and resamples."""
    found = {}
    for package in (sense7.judge,):
        for info in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            if info.name in OF_RELEASED_RATINGS:
                continue
            module = importlib.import_module(info.name)
            for name in getattr(module, "__all__", ()):
                function = getattr(module, name)
                if not info.ispkg and inspect.isfunction(function) and needed(function) in GIVEN:
                    found[f"{info.name.removeprefix('sense7.')}.{name}"] = function
    return found


def needed(function):
    """Arguments without a default."""
    parameters = inspect.signature(function).parameters.values()
    return {one.name for one in parameters if one.default is one.empty and one.kind is not one.VAR_KEYWORD}


FUNCTIONS = functions_of_a_study()


@cache
def two_studies():
    """A study of some of the synthetic participants, the same with other ids in another order, and new id -> old id."""
    sheets = read_sheets(WORKBOOK)
    people = list(dict.fromkeys(sheets["Tasks"].column(sheets["Tasks"].header.index("PID"))))[:PEOPLE]
    talks = {row[sheets["Tasks"].header.index("TaskId")] for row in sheets["Tasks"].rows if row[0] in people}
    kept = {"PID": set(people), "TaskId": talks}
    generator = np.random.default_rng(3)
    other = {
        old: str(uuid.UUID(bytes=generator.bytes(16), version=4)) for old in [*people, *sorted(talks, reverse=True)]
    }
    first, second = {}, {}
    for name, sheet in sheets.items():
        key = next((header for header in ("TaskId", "PID") if header in sheet.header), None)
        rows = [row for row in sheet.rows if key is None or row[sheet.header.index(key)] in kept[key]]
        first[name] = replace(sheet, rows=rows)
        places = [place for place, header in enumerate(sheet.header) if header in kept]
        renamed = [[other[cell] if place in places else cell for place, cell in enumerate(row)] for row in rows]
        second[name] = replace(sheet, rows=renamed)
    return parse_sheets(first), parse_sheets(second), {new: old for old, new in other.items()}


@cache
def result_of(name, which):
    function, study = FUNCTIONS[name], two_studies()[which]
    given = {"study": study, "bootstrap": ParticipantBootstrap(study.conversations["participant"], DRAWS, seed=4)}
    return function(**{argument: given[argument] for argument in needed(function)})


def assert_same(found, expected, back):
    """Equal to the last bit, once the new ids are translated back."""
    assert type(found) is type(expected)
    if isinstance(expected, pd.DataFrame | pd.Series):
        named = found.rename(index=lambda name: translated(name, back))
        named = named.map(lambda cell: translated(cell, back)) if holds_text(named) else named
        compare = pd.testing.assert_frame_equal if isinstance(found, pd.DataFrame) else pd.testing.assert_series_equal
        compare(named, expected, check_exact=True, check_dtype=False, check_index_type=False)
    elif isinstance(expected, np.ndarray):
        np.testing.assert_array_equal(found, expected)
    elif isinstance(expected, dict):
        assert [translated(key, back) for key in found] == list(expected)
        for one, other in zip(found.values(), expected.values(), strict=True):
            assert_same(one, other, back)
    elif isinstance(expected, list | tuple | pd.Index):
        assert len(found) == len(expected)
        for one, other in zip(found, expected, strict=True):
            assert_same(one, other, back)
    elif is_dataclass(expected):
        for field in fields(expected):
            assert_same(getattr(found, field.name), getattr(expected, field.name), back)
    else:
        assert translated(found, back) == expected or (pd.isna(found) and pd.isna(expected))


def holds_text(frame):
    return isinstance(frame, pd.DataFrame) or frame.dtype == object


def translated(cell, back):
    return back.get(cell, cell) if isinstance(cell, str) else cell


def test_the_new_ids_sort_otherwise():
    first, second, _ = two_studies()
    for name in ("participant", "conversation"):
        order = [pd.factorize(study.conversations[name], sort=True)[0].tolist() for study in (first, second)]
        assert order[0] != order[1]
        assert first.conversations[name].nunique() == second.conversations[name].nunique() > PEOPLE - 1


@pytest.mark.parametrize("name", sorted(FUNCTIONS))
def test_no_result_depends_on_how_ids_sort(name):
    assert_same(result_of(name, 1), result_of(name, 0), two_studies()[2])


def test_every_order_of_examples_is_that_of_the_data():
    first, second, back = two_studies()
    for order in ORDERS:
        found, expected = (chosen_examples(study, Shots("adaptive", 5, order, 2)) for study in (second, first))
        assert_same(found, expected, back)


def test_what_folds_and_permutations_give_is_there_to_be_compared():
    baselines = result_of("judge.baselines.baseline_predictions", 0)
    assert not any(baseline.reason for baseline in baselines.values())


def test_sums_of_parts_give_the_same_estimates():
    first, second, _ = two_studies()
    found, expected = (estimates_of_parts([sums_of_part(study)], draws=DRAWS, seed=4) for study in (second, first))
    pd.testing.assert_frame_equal(found, expected, check_exact=True)
