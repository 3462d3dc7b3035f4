"""Text notebooks: what is refused before anything runs, and what is derived from them."""

import ast
import json
import shutil
from pathlib import Path

import jupytext
import pytest

from helpers import naming
from helpers.checkout import recording
from helpers.studies import FRAMES, READING, write_study
from helpers.unforeseen import changed
from sense7 import simulate
from sense7.book import notebooks
from sense7.book.derived import write_derived
from sense7.book.notebooks import (
    cells_digest,
    find_notebooks,
    load_notebook,
    to_node,
    unfit_parameters,
)
from sense7.book.run import execute_notebooks, in_threads, plan
from sense7.errors import UserError

ROOT = Path(__file__).resolve().parents[2]


def unfit(**given):
    defaults = {"seed": 1, "draws": 10_000, "confidence": 0.95, "data": "synthetic", "judge": ""}
    return unfit_parameters(defaults, given)


@pytest.mark.parametrize(
    "given",
    [
        *({"seed": seed} for seed in (True, 1.0, "1", None, -1, 2**63)),
        *({"draws": draws} for draws in (99, 1_000_001, float("nan"))),
        *({"confidence": confidence} for confidence in (True, float("nan"), 1, "0.95")),
        *({"data": 5}, {"judge": ["a"]}, {"nothing": 1}),
    ],
    ids=str,
)
def test_unfit_parameters_are_refused_by_name_and_value(given):
    (problem,) = unfit(**given)
    ((name, value),) = given.items()
    naming.check(problem, name, repr(value) if name != "nothing" else name)


@pytest.mark.parametrize("cell", ["seed = 1 +", "seed = int(1)", "import os\nseed = 1", "a.b = 1"])
def test_a_parameters_cell_holds_assignments_of_literals_only(checkout, cell):
    path = checkout.notebook("01-a", parameters=cell)
    with naming.refused("01-a.md: ", "seed = 1"):
        load_notebook(path)


def test_a_page_of_released_ratings_that_names_none_is_refused(checkout):
    code = "from sense7.sources import released\n\nreleased.felt_heard()"
    path = checkout.notebook("01-a", code, parameters='seed = 1\nresults = ""')
    with naming.refused("01-a.md: ", "released: [", "felt_heard"):
        plan(checkout.root, {}, "")
    text = path.read_text("utf-8")
    path.write_text(text.replace("stored: []", "stored: []\n  released: [felt_heard]"), "utf-8")
    shutil.copytree(ROOT / "data" / "real", checkout.root / "data" / "real")
    assert list(plan(checkout.root, {}, "")) == ["01-a"]


@pytest.mark.parametrize("keeps_the_block", [True, False])
def test_a_text_saved_from_its_derived_notebook_is_refused(tmp_path, keeps_the_block):
    """It has numbers in the place of the names of values, and no longer says what the page rests on."""
    name = "15-three-judges"
    node = jupytext.read(ROOT / "notebooks" / f"{name}.ipynb")
    if keeps_the_block:
        node.metadata["jupytext"] = {"notebook_metadata_filter": "sense7"}
    path = tmp_path / f"{name}.md"
    jupytext.write(node, path, fmt="md:myst")
    with pytest.raises(UserError, match=rf"{name}\.md: "):
        load_notebook(path)


def for_readers(prose):
    """A notebook as it is derived: it names the digest of its cells."""
    cell = {"id": "cell-01", "cell_type": "markdown", "metadata": {}, "source": prose}
    metadata = {"sense7": {"derived": cells_digest([cell])}}
    return json.dumps({"nbformat": 4, "nbformat_minor": 5, "metadata": metadata, "cells": [cell]})


def test_an_edit_in_jupyter_is_never_lost_nor_passed_over(checkout):
    path = checkout.notebook("01-a", recording("01-a", "a"))
    folder, copy = path.parent, path.with_suffix(".ipynb")
    assert write_derived(folder, {"01-a": for_readers("Text.")}) == [copy]
    assert write_derived(folder, {"01-a": for_readers("Text.")}) == []
    node = json.loads(copy.read_text("utf-8"))
    node["metadata"]["kernelspec"] = {"display_name": "as Jupyter saves it"}
    copy.write_text(json.dumps(node), "utf-8")
    assert write_derived(folder, {"01-a": for_readers("Other text.")}) == [copy]
    edited = copy.read_text("utf-8").replace("Other text.", "My text.")
    copy.write_text(edited, "utf-8")
    with naming.refused(copy, "01-a.md"):
        write_derived(folder, {"01-a": for_readers("Text.")})
    assert copy.read_text("utf-8") == edited


# Cells by hand


def cells_by_hand():
    return [
        (notebook.name, cell["source"], cell["metadata"].get("needs", []))
        for notebook in find_notebooks(ROOT)
        for cell in to_node(notebook)["cells"]
        if notebooks.BY_HAND in cell["metadata"].get("tags", ())
    ]


OTHERS = {"numpy", "pandas", "scipy", "statsmodels"}
OF_A_STUDY = {*FRAMES, "rated_dimensions", "conditions", "prompted_condition"}


def test_cells_by_hand_use_no_statistic_of_the_library():
    for name, source, needs in cells_by_hand():
        used = set()
        for node in ast.walk(ast.parse(source)):
            if isinstance(node, ast.Import):
                assert {alias.name.split(".")[0] for alias in node.names} <= OTHERS, name
            elif isinstance(node, ast.ImportFrom):
                assert node.module.split(".")[0] in OTHERS, name
            elif isinstance(node, ast.Name):
                used.add(node.id)
            elif isinstance(node, ast.Attribute) and ast.unparse(node.value) == "study":
                assert node.attr in OF_A_STUDY, name
        assert not used & {"s7", "sense7"}, name
        assert "assert" in source, f"{name}: compares with nothing"
        columns = [need for need in needs if "." in need and " of " not in need]
        assert {need.partition(".")[0] for need in columns} <= set(FRAMES), name


@pytest.mark.parametrize(
    "size", [(24, 6), *(pytest.param(size, marks=pytest.mark.long) for size in ((12, 3), (12, 12)))]
)
def test_cells_by_hand_agree_with_the_library_on_small_workbooks(tmp_path, size):
    """Each is executed with its page; one that disagrees with the library would end the execution."""
    parameters = simulate.Parameters(participants=size[1], conversations=size[0])
    sheets = simulate.simulate(parameters, seed=3, judge=None).sheets
    sheets["Tasks"].rows.append(["P0", "gpt-4", "of a person who rated nothing"])
    sheets = changed(
        sheets, "Messages", "Relational", lambda _, cell: "-7" if cell == "Neutral" else cell
    )
    reading = READING + "missingValues: [{value: '-7', label: declined}]\n"
    write_study(sheets, tmp_path / "small.xlsx", reading)
    names = ("01-dataset", "02-ratings", "03-reliability", "09-poor-turn")
    cache = tmp_path / "cache"
    given = {"data": str(tmp_path / "small.xlsx"), "results": "../results", "draws": 100}
    jobs = plan(ROOT, given, "0" * 64, only=names)
    with in_threads(jobs, cache) as execution:
        execute_notebooks(jobs, tmp_path, cache, execution, failed=tmp_path / "failed")
    for name in names:
        node = json.loads((tmp_path / "notebooks" / f"{name}.ipynb").read_text("utf-8"))
        tags = [cell["metadata"].get("tags", ()) for cell in node["cells"]]
        assert [one for one in tags if notebooks.BY_HAND in one and "skip-execution" not in one]
