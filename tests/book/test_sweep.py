"""A sweep: every point of a grid executed, every recorded value in a table, and nothing done twice."""

import csv
import re
import signal
import time

import pytest

from sense7.book.scheduler import ThisMachine
from sense7.book.sweep import read_grid, sweep
from sense7.checkout import Project
from sense7.errors import UserError

PARAMETERS = 'data = "synthetic"\nseed = 1\ndraws = 100\nresults = "results"'


def rows_of(path):
    with path.open(newline="", encoding="utf-8") as stream:
        return list(csv.DictReader(stream))


@pytest.fixture
def small(checkout, recording_code):
    """One notebook that multiplies its parameters, and fails where the seed is 13; another that needs it."""
    product = "if seed == 13:\n    raise ValueError('thirteen')\n"
    code = recording_code("01-a", "product", "seed * draws", product) + (
        '\nrecord.value("none", n=0, unit="things", method="counted", reason="there is none")'
    )
    checkout.notebook("01-a", code, parameters=PARAMETERS)
    reading = 'from sense7.record import read_values\n\nfound = read_values(results)["product"]["estimate"]\n'
    checkout.notebook("02-b", recording_code("02-b", "twice", "2 * found", reading), needs=["01-a"])
    return checkout


def test_every_point_of_the_grid_is_a_row_of_each_recorded_value(small):
    done = small.call("sweep", "01", "-p", "seed=2,3", "-p", "draws=100,200", "--data", "mine.xlsx", "--out", "t.csv")
    assert done.returncode == 0, done.stderr
    rows = rows_of(small.root / "t.csv")
    found = {(row["seed"], row["draws"]): row["estimate"] for row in rows if row["key"] == "product"}
    assert found == {("2", "100"): "200", ("2", "200"): "400", ("3", "100"): "300", ("3", "200"): "600"}
    assert len(rows) == 8
    assert {(row["estimate"], row["reason"]) for row in rows if row["key"] == "none"} == {("", "there is none")}
    assert {row["status"] for row in rows} == {"ok"}
    assert list(rows[0])[:3] == ["data", "seed", "draws"]


def test_several_data_sets_and_a_grid_in_a_file(small):
    small.workbook(small.root / "other.xlsx", condition="model x")
    (small.root / "grid.yml").write_text("seed: [4, 5]\ndraws: 100\n")
    options = ("--data", "mine.xlsx", "--data", "other.xlsx", "--grid", "grid.yml", "--out", "new/t.csv")
    done = small.call("sweep", "01-a", *options)
    assert done.returncode == 0, done.stderr
    found = [(row["data"], row["seed"]) for row in rows_of(small.root / "new" / "t.csv") if row["key"] == "product"]
    assert found == [("mine.xlsx", "4"), ("other.xlsx", "4"), ("mine.xlsx", "5"), ("other.xlsx", "5")]


def test_what_a_notebook_needs_is_computed_at_the_same_point_and_not_tabulated(small):
    done = small.call("sweep", "02", "-p", "seed=2,3", "--data", "mine.xlsx", "--out", "t.csv")
    assert done.returncode == 0, done.stderr
    rows = rows_of(small.root / "t.csv")
    assert [(row["key"], row["estimate"]) for row in rows] == [("twice", "400"), ("twice", "600")]


def test_all_notebooks_can_be_swept_over(small):
    done = small.call("sweep", "all", "-p", "seed=2", "--data", "mine.xlsx", "--out", "t.csv")
    assert done.returncode == 0, done.stderr
    assert [row["notebook"] for row in rows_of(small.root / "t.csv")] == ["01-a", "01-a", "02-b"]


def test_a_point_that_fails_is_a_row_with_its_reason_and_exit_code_1(small):
    done = small.sense7("sweep", "01", "-p", "seed=12,13,14", "--data", "mine.xlsx", "--out", "t.csv")
    assert done.returncode == 1
    assert "seed=13: " in done.stderr
    assert "Traceback" not in done.stderr
    rows = {row["seed"]: row for row in rows_of(small.root / "t.csv")}
    assert rows["12"]["status"] == rows["14"]["status"] == "ok"
    assert rows["13"]["status"].startswith("failed: ")
    assert "ValueError: thirteen" in rows["13"]["status"]
    assert rows["13"]["estimate"] == ""


@pytest.mark.parametrize(
    ("assigned", "data", "message"),
    [
        (["draws=100,x"], "mine.xlsx", "parameters refused. draws"),
        (["nonsense=1"], "mine.xlsx", "nonsense"),
        (["results=a"], "mine.xlsx", "results: can't be swept over"),
        ([], "absent.xlsx", "absent.xlsx"),
        (["prompted_condition=nobody"], "mine.xlsx", "no condition 'nobody'"),
    ],
)
def test_what_is_unfit_is_said_before_anything_is_executed(small, assigned, data, message):
    out = small.root / "t.csv"
    points = read_grid(None, ["seed=2,3", *assigned])
    with pytest.raises(UserError, match=re.escape(message)):
        sweep(Project(small.root, small.root), "01", points, [str(small.root / data)], out, where=ThisMachine(1))
    assert not out.exists()
    assert not list(small.root.rglob("_build"))


def test_the_command_says_what_is_unfit_in_one_line_with_exit_code_2(small):
    done = small.call("sweep", "01", "-p", "seed", "--data", "mine.xlsx", "--out", "t.csv")
    assert done.returncode == 2
    assert done.stderr == "sense7: 'seed': expected NAME=VALUE,VALUE, e.g. draws=1000,2000.\n"


def test_a_killed_sweep_goes_on_where_it_was(checkout, recording_code):
    begun = checkout.root / "begun"
    begun.mkdir()
    code = (
        f"import pathlib, time, uuid\n\nplace = pathlib.Path({str(begun)!r})\n"
        "again = bool(list(place.glob('3 *')))\n(place / f'{seed} {uuid.uuid4()}').touch()\n"
        "if seed == 3 and not again:\n    time.sleep(600)\n"
    )
    checkout.notebook("01-a", recording_code("01-a", "seed_of_a", before=code))
    command = ("sweep", "01", "-p", "seed=1,2,3", "--data", "mine.xlsx", "--out", "t.csv", "--jobs", "1")
    process = checkout.start(*command)
    until = time.monotonic() + 300
    while not list(begun.glob("3 *")):
        assert time.monotonic() < until
        time.sleep(0.1)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    assert not (checkout.root / "t.csv").exists()
    done = checkout.call(*command)
    assert done.returncode == 0, done.stderr
    assert [row["estimate"] for row in rows_of(checkout.root / "t.csv")] == ["1", "2", "3"]
    assert [len(list(begun.glob(f"{seed} *"))) for seed in (1, 2, 3)] == [1, 1, 2]
    assert not list((checkout.root / "_build" / "sweeps").rglob(".making-*"))


def test_a_grid_is_every_combination_or_a_list_of_points(tmp_path):
    (tmp_path / "grid.yml").write_text("a: [1, 2]\nb: [x, y]\n")
    assert read_grid(tmp_path / "grid.yml") == [
        {"a": 1, "b": "x"},
        {"a": 1, "b": "y"},
        {"a": 2, "b": "x"},
        {"a": 2, "b": "y"},
    ]
    (tmp_path / "points.yml").write_text("- {a: 1, b: x}\n- {a: 2}\n")
    assert read_grid(tmp_path / "points.yml", ["c=0.5"]) == [{"a": 1, "b": "x", "c": 0.5}, {"a": 2, "c": 0.5}]
    assert read_grid(None) == [{}]


@pytest.mark.parametrize("text", ["", "3", "a: []", "[]", "- 1", "a: [1", "\xff"])
def test_a_file_that_is_no_grid_is_refused(text, tmp_path):
    (tmp_path / "grid.yml").write_bytes(text.encode("latin-1"))
    with pytest.raises(UserError, match=r"grid\.yml"):
        read_grid(tmp_path / "grid.yml")
