"""The measurements: both sides do the same work, what is kept is kept, and RESULTS.md says what was measured."""

import importlib
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from sense7 import start
from sense7.findings.ground_truth import ground_truth
from sense7.loading import load

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "evidence" / "benchmarks"
PARTS = (
    "measuring",
    "analysis",
    "judging",
    "book",
    "cluster",
    "command_line",
    "explorer",
    "growth",
    "suite",
    "report",
    "run",
)

SIZES = {"1": (672, 1.0), "10": (6720, 8.0)}
GROWTH = {
    "sizes": {
        size: {
            "conversations": conversations,
            "steps": {
                "ground truth": {"processor_seconds": factor, "peak_mib": 100},
                "01-a": {"processor_seconds": 2 * factor, "peak_mib": 200},
                "02-b": {"processor_seconds": 3 * factor, "peak_mib": 300},
                "ledger": {"problem": "not finished within 5 s", "processor_seconds": 5.0, "peak_mib": 10},
            },
        }
        for size, (conversations, factor) in SIZES.items()
    },
    "exponents": {"ground truth": 0.9, "01-a": 0.95},
}


@pytest.fixture(scope="module")
def scripts():
    """The scripts, which are no part of the package, by their names."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(FOLDER))
        yield {name: importlib.import_module(name) for name in PARTS}
    for name in PARTS:
        del sys.modules[name]


@pytest.fixture
def row(scripts):
    """Make a row of so many seconds, of ours and of the peer."""
    kind = scripts["measuring"].Row

    def make(ours, theirs=(), **goal):
        return kind("walk", "a walk", "a ride" if theirs else "", "a goal", list(ours), list(theirs), **goal)

    return make


@pytest.fixture
def result(scripts, row, tmp_path, monkeypatch):
    """A whole result of a met goal, a missed one, and a profile."""
    run = scripts["run"]
    monkeypatch.setitem(run.REASONS, "walk", "feet are slow")
    rows = [run.measured(row([2.0], [6.0], ratio_at_least=2)) | {"work": "a run", "key": "run"}]
    rows.append(run.measured(row([0.05], at_most=0.01)))
    profile = {
        "steps": [{"key": key, "step": key.title(), "seconds": seconds} for key, seconds in (("a", 3.0), ("b", 1.0))],
        "notebooks": {"01-a": 3.0, "02-b": 0.5},
        "seconds": 4.0,
    }
    return run.merged(tmp_path / "bench.json", {"reading": rows, run.PROFILE: profile})


# Measuring


def test_both_sides_run_in_turn_and_begin_in_turn(scripts, row):
    order = []
    sides = (lambda: order.append("ours"), lambda: order.append("theirs"))
    measured = scripts["measuring"].in_turn(row([]), *sides, pairs=4, share=0.5)
    assert order[:2] == ["ours", "theirs"], "once without a clock"
    assert sorted(order[2:4]) == sorted(order[4:6]) == ["ours", "theirs"]
    assert order[2] != order[4], "what comes first in a pair changes"
    assert len(measured.ours) == len(measured.theirs) == 4


@pytest.mark.parametrize(
    ("ours", "theirs", "goal", "met", "ratio"),
    [
        ([1.0, 1.0, 9.0], [5.0, 6.0, 9.0], {"ratio_at_least": 5}, True, 5.0),
        ([1.0], [4.9], {"ratio_at_least": 5}, False, 4.9),
        ([0.9], [], {"at_most": 1}, True, None),
        ([1.1], [], {"at_most": 1}, False, None),
        ([1.0], [2.0], {}, None, 2.0),
    ],
)
def test_a_goal_is_met_by_the_median_ratio_of_the_pairs(scripts, row, ours, theirs, goal, met, ratio):
    measured = scripts["run"].measured(row(ours, theirs, **goal))
    assert (measured["met"], measured["ratio"]) == (met, ratio)


def test_every_entry_has_a_family_and_every_row_of_the_order_an_entry(scripts):
    names = {"reading", "ground-truth", "bootstrap", "variance", "judge", "notebooks", "book", "explorer"}
    assert scripts["run"].ENTRIES.keys() == names | {"command-line", "cluster", "tests"}


def test_the_tests_are_measured_only_where_they_are_asked_for(scripts, tmp_path, monkeypatch):
    run, measured = scripts["run"], []
    monkeypatch.setattr(run, "obtain", lambda name, *rest: measured.append(name))
    monkeypatch.setattr(sys, "argv", ["run.py", "--tiny", "--out", str(tmp_path / "bench.json")])
    run.main()
    assert measured == [name for name in (*run.ENTRIES, run.PROFILE) if name != "tests"]
    (row,) = scripts["suite"].tests(scripts["measuring"].Counts(1, 1, tiny=True))
    assert (row.key, row.theirs) == ("tests", [])


def test_what_can_not_be_measured_here_stays_as_it_was(scripts, result, tmp_path, monkeypatch):
    run, path = scripts["run"], tmp_path / "bench.json"
    path.write_text(json.dumps(result), encoding="utf-8")
    monkeypatch.setattr(scripts["cluster"].importlib.util, "find_spec", lambda name: None)
    counts = scripts["measuring"].Counts(1, 1, tiny=True)
    monkeypatch.setitem(run.ENTRIES, "reading", (scripts["cluster"].cluster, scripts["analysis"]))
    rows = run.obtain("reading", tmp_path / "kept", counts)
    assert run.merged(path, {"reading": rows})["entries"] == result["entries"]
    assert not (tmp_path / "kept").exists(), "it is tried again"


def test_what_was_measured_is_kept_until_what_it_rests_on_changes(scripts, row, tmp_path, monkeypatch):
    run, calls = scripts["run"], []
    counts = scripts["measuring"].Counts(1, 1)
    entry = lambda counts: calls.append(1) or [row([1.0], [2.0])]  # noqa: E731
    monkeypatch.setitem(run.ENTRIES, "reading", (entry, scripts["analysis"]))
    first = run.obtain("reading", tmp_path, counts)
    assert run.obtain("reading", tmp_path, counts) == first
    assert len(calls) == 1
    monkeypatch.setattr(run, "library_digest", lambda skip: "another")
    run.obtain("reading", tmp_path, counts)
    assert len(calls) == 2
    run.obtain("reading", tmp_path, scripts["measuring"].Counts(1, 1, tiny=True))
    assert len(calls) == 3, "a tiny run is no result"


def test_some_entries_measured_anew_leave_the_others_as_they_were(scripts, row, result, tmp_path):
    run, path = scripts["run"], tmp_path / "bench.json"
    path.write_text(json.dumps(result), encoding="utf-8")
    merged = run.merged(path, {"variance": [run.measured(row([1.0], [3.0]))]})
    assert merged["entries"]["reading"] == result["entries"]["reading"]
    assert merged["profile"] == result["profile"]
    assert list(merged["entries"]) == ["reading", "variance"]


def test_a_result_names_machine_versions_and_commit_but_no_path_and_no_time_of_day(scripts, result):
    made = result["entries"]["reading"]["made"]
    assert {"processor", "cores", "memory_gib", "system"} == made["machine"].keys()
    assert {"Python", "numpy", "pandas"} <= made["versions"].keys()
    assert {"commit", "library"} <= made.keys()
    text = json.dumps(result)
    assert str(ROOT) not in text
    assert not re.search(r"\b20\d\d-\d\d-\d\d\b|\b\d\d:\d\d\b", text)


@pytest.mark.parametrize(
    ("given", "said"), [(["--only", "reeding"], "no entry reeding"), (["--tiny"], "--tiny measures nothing")]
)
def test_a_wrong_call_is_refused_before_anything_is_measured(given, said):
    done = subprocess.run(
        [sys.executable, FOLDER / "run.py", *given], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert said in done.stderr


# The same work on both sides


def test_loops_give_the_same_ground_truth(scripts):
    study = load("synthetic")
    some = study.conversations["conversation"].head(20)
    ours = ground_truth(study.turns, some).to_numpy()
    assert scripts["analysis"].loop_ground_truth(study.turns, some) == pytest.approx(ours, nan_ok=True)


def test_studies_side_by_side_share_no_conversation(scripts):
    study = load("synthetic")
    turns, names = scripts["analysis"].many(study, 3)
    assert names.is_unique
    assert len(names) == 3 * len(study.conversations)
    assert set(turns["conversation"]) <= set(names)
    assert len(turns) == 3 * len(study.turns)


def test_limits_from_sums_are_those_of_copied_rows(scripts):
    both = scripts["analysis"].Bootstrapped(load("synthetic"))
    ours, theirs = both.ours(6), both.copied(6)
    assert ours.keys() == theirs.keys() == {"alpha", "difference", "d", "kappa", "Spearman", "accuracy"}
    for name, limits in ours.items():
        assert limits == pytest.approx(theirs[name], rel=1e-9), name
    assert both.copied(7)["alpha"] != pytest.approx(ours["alpha"], rel=1e-9)


def test_a_copy_of_the_checkout_was_never_built(scripts):
    counts = scripts["measuring"].Counts(1, 1)
    with scripts["book"].copied_checkout(counts) as root:
        assert (root / "notebooks" / f"{scripts['book'].EDITED}.md").is_file()
        assert (root / "_config.yml").is_file()
        assert not (root / "_build").exists()
        assert not (root / ".venv").exists()
        scripts["book"].edit(root, "\n## ", "\nMore.\n\n## ")
        edited = (root / "notebooks" / f"{scripts['book'].EDITED}.md").read_text("utf-8")
    assert not root.exists()
    assert edited != (ROOT / "notebooks" / f"{scripts['book'].EDITED}.md").read_text("utf-8")


def test_values_are_compared_without_the_number_of_their_cell(scripts, tmp_path):
    for name, cell, estimate in (("a", 1, 0.5), ("b", 2, 0.5), ("c", 2, 0.6)):
        (tmp_path / name).mkdir()
        value = {"key": "k", "estimate": estimate, "cell": cell}
        (tmp_path / name / "01.json").write_text(json.dumps([value]), "utf-8")
    a, b, c = (scripts["book"].values_of(tmp_path / name) for name in "abc")
    assert a == b != c


# What is written of it


def test_the_page_names_every_ratio_the_reason_of_a_miss_and_the_steps_that_did_not_end(scripts, result):
    page = scripts["report"].results(result, GROWTH | {"machine": "Linux", "versions": {}, "commit": "5ed811bf42ab"})
    assert "| a run | 2.00 s | 6.00 s | 3.00 | a goal | met | a ride |" in page
    assert "- *a walk*: feet are slow" in page
    assert "1 of 2 goals are met" in page
    assert "- ledger: not finished within 5 s" in page
    assert "| 02-b | 24.0 s | 300 MiB |  |\n| 01-a | 16.0 s | 200 MiB | 0.95 |" in page


def test_the_page_is_that_of_the_stored_results_and_every_missed_goal_has_its_reason(scripts):
    report = scripts["report"]
    assert report.RESULTS.read_text("utf-8") == report.results(report.read(report.BENCH), report.read(report.GROWTH))
    missed = [
        row for entry in report.read(report.BENCH)["entries"].values() for row in entry["rows"] if row["met"] is False
    ]
    assert [row["key"] for row in missed if not row["reason"]] == []


def test_nothing_measured_gives_no_table(scripts, tmp_path):
    empty = scripts["report"].read(tmp_path / "none.json")
    assert "|" not in scripts["report"].results(empty, empty)


# The help


def run_start(*arguments, **environment):
    code = "import sys; sys.argv[0] = 'sense7'; from sense7.start import main; main()"
    imported = "import atexit, sys; atexit.register(lambda: print('typer' in sys.modules, file=sys.stderr)); "
    return subprocess.run(
        [sys.executable, "-c", imported + code, *arguments],
        env={"PATH": "/usr/bin:/bin", **environment},
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_kept_help_is_what_the_verbs_would_say():
    code = "import sys; sys.argv = ['sense7', '--help']; from sense7.cli import main; main()"
    said = subprocess.run(
        [sys.executable, "-c", code], env={"PATH": "/usr/bin:/bin"}, capture_output=True, text=True, check=True
    ).stdout
    kept = (ROOT / "src" / "sense7" / start.HELP).read_text("utf-8")
    assert kept == said, "the help changed. Run: make derived"


def test_the_help_comes_without_what_parses_a_command_line():
    done = run_start("--help")
    assert done.stdout == (ROOT / "src" / "sense7" / start.HELP).read_text("utf-8")
    assert done.stderr == "False\n"


@pytest.mark.parametrize(
    ("arguments", "environment"), [(["--help"], {"COLUMNS": "60"}), (["--version"], {}), (["check", "--help"], {})]
)
def test_all_else_is_left_to_the_verbs(arguments, environment):
    done = run_start(*arguments, **environment)
    assert done.returncode == 0
    assert done.stderr == "True\n"
    assert max(map(len, done.stdout.splitlines())) <= int(environment.get("COLUMNS", 80))


def test_without_the_kept_help_the_verbs_say_it(monkeypatch, capsys):
    monkeypatch.setattr(start, "HELP", "absent.txt")
    monkeypatch.delenv("COLUMNS", raising=False)
    assert not start._show_help()
    assert capsys.readouterr().out == ""
