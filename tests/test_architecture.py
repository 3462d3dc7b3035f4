"""Each floor of the house knows only the floors below."""

import ast
import subprocess
import sys
from graphlib import TopologicalSorter
from pathlib import Path

import jupytext
import pytest

import sense7
from sense7.book.notebooks import load_notebook

ROOT = Path(__file__).resolve().parents[1]
BASE = ROOT / "src" / "sense7"
FLOORS = (
    {"errors", "taxonomy", "terminal"},
    {"arguments", "checkout", "study", "files"},
    {"workbook", "simulate", "download", "sources", "collect"},
    {"loading", "exchange"},
    {"estimators"},
    {"findings"},
    {"judge"},
    {"record", "tables", "figures"},
    {"claims", "implied"},
    {"book"},
    {"cli"},
    {"start"},
)
"""From the ground. Parts of one floor may use each other, though never in a circle."""

FLOOR = {part: number for number, floor in enumerate(FLOORS) for part in floor}
MODULES = sorted(path for path in BASE.rglob("*.py") if path != BASE / "__init__.py")
NOTEBOOKS = sorted((ROOT / "notebooks").glob("[0-9]*.md"))
ONLY_FOR_BOOKS = {"papermill", "jupytext", "nbformat", "nbclient", "jupyter_book", "sphinx", "docutils", "jsonschema"}
"""What the extra ``book`` brings: without it, everything below it has to work."""

CLOSED_TO_NOTEBOOKS = {"book", "claims", "implied", "cli", "simulate", "sources", "download", "files"}
STORED = {
    "coverage_": "data/coverage.json",
    "elsewhere.matrix_cells": "data/claims.yml",
    "elsewhere.published": "data/claims.yml",
}
"""Stored results, by the calls that read them."""


def part_of(path):
    return path.relative_to(BASE).parts[0].removesuffix(".py")


def imports(path):
    """Modules that a file imports, wherever in it: full names."""
    package = ("sense7", *path.relative_to(BASE).parent.parts)
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = ".".join(package[: len(package) - node.level + 1]) if node.level else ""
            module = ".".join(filter(None, (above, node.module)))
            # `from sense7 import claims` imports the part, `from sense7.claims import Row` as well
            yield from (f"{module}.{alias.name}" for alias in node.names)


def used_parts(path):
    return {name.split(".")[1] for name in imports(path) if name.startswith("sense7.")} & FLOOR.keys()


def test_every_part_has_its_floor():
    parts = {part_of(path) for path in MODULES}
    assert parts == FLOOR.keys(), "a new part of the library needs a floor; a part that is gone needs none"


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(BASE)))
def test_no_floor_knows_one_above(path):
    own = FLOOR[part_of(path)]
    assert {part for part in used_parts(path) if FLOOR[part] > own} == set()


def test_parts_do_not_use_each_other_in_a_circle():
    graph = {part: set() for part in FLOOR}
    for path in MODULES:
        graph[part_of(path)] |= used_parts(path) - {part_of(path)}
    TopologicalSorter(graph).prepare()  # a circle is an error that names it


def test_rooms_of_findings_do_not_use_each_other_in_a_circle():
    graph = {}
    for path in (BASE / "findings").rglob("*.py"):
        room = path.relative_to(BASE / "findings").parts[0].removesuffix(".py")
        used = {name.split(".")[2] for name in imports(path) if name.startswith("sense7.findings.")}
        graph.setdefault(room, set()).update(used - {room})
    TopologicalSorter(graph).prepare()


def test_estimators_know_no_study():
    for path in (BASE / "estimators").glob("*.py"):
        assert used_parts(path) <= {"estimators", "arguments", "errors", "taxonomy", "terminal"}, path.name


def test_scoring_a_judge_does_not_need_asking_it():
    for path in (BASE / "judge" / "scoring").glob("*.py"):
        assert not any(name.startswith("sense7.judge.asking") for name in imports(path)), path.name


def test_the_ground_floor_imports_nothing_of_ours():
    assert {part: used_parts(BASE / f"{part}.py") for part in FLOORS[0]} == {part: set() for part in FLOORS[0]}


def test_only_the_book_needs_what_makes_books():
    found = {
        (str(path.relative_to(BASE)), name)
        for path in MODULES
        for name in imports(path)
        if name.split(".")[0] in ONLY_FOR_BOOKS and part_of(path) != "book"
    }
    assert found == set()


def test_the_front_door_leads_to_what_notebooks_may_use():
    behind = {where.split(".")[0] for where in (*sense7._WHERE.values(), *sense7._MODULES.values())}
    assert behind.isdisjoint(CLOSED_TO_NOTEBOOKS)
    for name in sense7.__all__:
        assert getattr(sense7, name) is not None


def test_no_two_modules_that_notebooks_use_have_the_same_name():
    names = [where.rpartition(".")[2] for where in sense7._MODULES.values()]
    assert sorted(names) == sorted(set(names))


def test_the_command_line_starts_without_the_heavy_libraries():
    heavy = {"pandas", "numpy", "matplotlib", "scipy", "seaborn", "statsmodels", "papermill", "sphinx", "xlsxwriter"}
    code = f"import sys, sense7.cli; print(sorted({heavy} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


# Notebooks

OTHER_NAMES = {"judge": "available_judges", "ground_truth": "ground_truths", "taxonomy": "examples"}
"""Notebooks whose module is reached by another name: that of a function or a package is taken."""


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_the_module_of_a_notebook_has_its_name(path):
    name = path.stem.partition("-")[2].replace("-", "_")
    room = OTHER_NAMES.get(name, name)
    assert room in sense7._MODULES
    assert any(f"s7.{room}" in cell.source for cell in code_cells(path))


def code_cells(path):
    return [cell for cell in jupytext.read(path, fmt="md:myst").cells if cell.cell_type == "code"]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_names_the_stored_results_that_it_shows(path):
    code = "".join(cell.source for cell in code_cells(path))
    shown = {file for call, file in STORED.items() if call in code}
    assert set(load_notebook(path).stored) == shown


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_records_under_its_own_name(path):
    calls = [
        node
        for cell in code_cells(path)
        for node in ast.walk(ast.parse(cell.source))
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "s7.Recorder"
    ]
    assert [[ast.unparse(argument) for argument in call.args] for call in calls] == [[repr(path.stem), "results"]]
