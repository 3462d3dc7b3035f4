"""The measurements: both sides do the same work, what is kept is kept, and the page says what was measured."""

import importlib
import json
import re
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest
from bs4 import BeautifulSoup

from sense7 import benchmarks, figures, start, tables
from sense7.findings.ground_truth import ground_truth
from sense7.loading import load

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "evidence" / "benchmarks"
PARTS = ("measuring", "analysis", "judging", "book", "cluster", "command_line", "explorer", "growth", "suite", "run")

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


# The page


def test_the_table_gives_the_ratio_first_and_the_reason_of_a_miss(result):
    table = benchmarks.goals_table(result)
    assert table.columns[0] == "times as fast"
    assert table.loc["a run"][["times as fast", "ours", "peer", "met"]].tolist() == ["3.00", "2.00 s", "6.00 s", "met"]
    assert table.loc["a walk"][["times as fast", "ours", "peer"]].tolist() == ["", "50.0 ms", ""]
    assert table.loc["a walk", "met"] == "missed"
    assert benchmarks.remarks(result).loc["a walk", "why the goal is missed"] == "feet are slow"
    goals = benchmarks.goals_met(result)
    assert (goals["estimate"], goals["n"], goals["reason"]) == ("1 of 2", 2, "")


def test_what_a_user_gains_comes_with_what_it_is_compared_to_and_nothing_is_said_of_what_was_not_measured(scripts, row):
    found = scripts["run"].measured(row([2.0], [7.0])) | {"key": "from_nothing"}
    alone = scripts["run"].measured(row([0.3])) | {"key": "book_unchanged"}
    table = benchmarks.gains_table({"entries": {"book": {"rows": [found, alone]}}})
    assert table.index.tolist() == [benchmarks.GAINS["from_nothing"]]
    assert table.iloc[0].tolist() == ["2.00 s", "7.00 s", "3.50", "a ride"]
    assert benchmarks.gains_table({"entries": {}}).empty


def test_the_recorded_ratios_say_what_they_are_of(result):
    table = benchmarks.ratios(result)
    assert table["key"].to_dict() == {"run": "bench_run_ratio"}
    assert table.loc["run", "estimate"] == 3
    assert "a ride" in table.loc["run", "method"]


def test_the_machine_is_named_once_if_all_was_measured_there(result):
    assert benchmarks.machine(result).columns.tolist() == ["all"]
    made = result["profile"]["made"]
    other = result | {"profile": result["profile"] | {"made": made | {"commit": "another"}}}
    assert benchmarks.machine(other).columns.tolist() == ["reading", "profile"]


def test_the_profile_is_shares_of_the_whole(result):
    table = benchmarks.profile_table(result)
    assert table["estimate"].tolist() == [0.75, 0.25]
    assert table["key"].to_dict() == {"A": "bench_profile_a", "B": "bench_profile_b"}
    assert benchmarks.slowest_notebooks(result, 1)["seconds"].to_dict() == {"01-a": "3.00"}


def test_growth_takes_notebooks_together_and_leaves_out_what_did_not_end():
    table = benchmarks.growth(GROWTH)
    together = table[table["line"] == benchmarks.NOTEBOOKS]
    assert together[["conversations", "seconds", "mebibytes"]].to_numpy().tolist() == [[672, 5, 300], [6720, 40, 300]]
    assert set(table["line"]) == {"ground truth", benchmarks.NOTEBOOKS}
    assert benchmarks.growth_problems(GROWTH)["why"].tolist() == ["not finished within 5 s"] * 2
    assert benchmarks.growth_exponents(GROWTH).to_dict("index") == {
        "02-b": {
            "exponent": "",
            "processor time (s)": "24.0",
            "share of all steps": "50.0%",
            "peak memory (MiB)": "300",
        },
        "01-a": {
            "exponent": "0.95",
            "processor time (s)": "16.0",
            "share of all steps": "33.3%",
            "peak memory (MiB)": "200",
        },
        "ground truth": {
            "exponent": "0.90",
            "processor time (s)": "8.00",
            "share of all steps": "16.7%",
            "peak memory (MiB)": "100",
        },
    }


def test_what_a_million_conversations_would_take_follows_from_the_growth_that_was_measured():
    def size(conversations, **steps):
        found = {name: dict(zip(("processor_seconds", "peak_mib"), two, strict=True)) for name, two in steps.items()}
        return {"conversations": conversations, "steps": found}

    sizes = {
        "10": size(1000, **{"01-a": (5.0, 100), "02-b": (9.0, 1000), "statistics in parts": (1.0, 100)}),
        "100": size(10_000, **{"01-a": (360.0, 1024), "02-b": (36.0, 1900), "statistics in parts": (3.6, 109)}),
    }
    stored = {"sizes": sizes, "exponents": {"01-a": 1.5, "02-b": 0.6}}
    # 360 s * 100**1.5 and 36 s * 100, which is linear though less was measured; 0.1 MiB a conversation of 02-b, and
    # 924 MiB / 9000 conversations of 01-a.
    said = benchmarks.reach(stored).T.to_dict("list")
    assert said == {
        "one machine: all notebooks, one after another": ["101 hours of one processor", "100 GiB, for 01-a"],
        "cluster: all notebooks, side by side": [
            "100 hours, as long as the longest, 01-a",
            "100 GiB, for 01-a, on the worker that executes it; every worker holds the data",
        ],
        "cluster: main statistics of a data set in parts": [
            "6.00 minutes of processors, which the workers share",
            "1.07 GiB where the sums come together; a worker holds one part",
        ],
        "one machine of 16 GiB": ["", "enough for 154,840 conversations"],
    }
    assert benchmarks.reach({"sizes": {"10": sizes["10"]}, "exponents": {}}).empty
    sizes["100"]["steps"]["02-b"] = {"problem": "not measured"}
    assert benchmarks.reach(stored).index[0] == "one machine: 1 of 2 notebooks, one after another"


def test_a_step_without_a_measurement_meets_no_goal_of_growth():
    table = benchmarks.growth_goals(GROWTH)
    assert table["met"].tolist() == ["missed", "missed"]
    assert table["steps that meet it"].tolist() == ["3 of 4", "2 of 3"]
    assert table["highest"].unique().tolist() == ["ledger: no measurement"]
    assert benchmarks.growth_goals({"sizes": {}, "exponents": {}}).empty


def test_growth_is_the_same_to_the_last_digit_in_whatever_order_steps_were_done():
    seconds = [0.1, 0.2, 0.3, 1e-17, 0.7, 1e3, 0.1]
    steps = {f"{number:02d}-a": {"processor_seconds": second, "peak_mib": 1} for number, second in enumerate(seconds)}
    sizes = [{"1": {"conversations": 672, "steps": dict(order)}} for order in (steps.items(), [*steps.items()][::-1])]
    first, other = (benchmarks.growth({"sizes": size})["seconds"].item() for size in sizes)
    assert first == other


def growth_figure():
    return figures.growth_curves(benchmarks.growth(GROWTH), name="growth", caption="n = 2 sizes.")


def test_the_curves_have_axes_with_units_and_say_what_they_show():
    figure = growth_figure()
    labels = [(axes.get_xlabel(), axes.get_ylabel(), axes.get_xscale()) for axes in figure.drawing.axes]
    assert labels == [("conversations", "processor time (s)", "log"), ("conversations", "peak memory (MiB)", "log")]
    assert "ground truth: from 1 s and 100 MiB with 672 conversations to 8 s" in figure.alt
    assert BeautifulSoup(figure.html(), "html.parser").svg["aria-label"] == figure.alt
    assert growth_figure().html() == growth_figure().html()


def test_where_nothing_was_measured_the_page_says_so(monkeypatch):
    def absent(name):
        raise benchmarks.UserError(f"{name}: not there")

    monkeypatch.setattr(benchmarks, "data_file", absent)
    stored, sizes = benchmarks.stored_benchmarks(), benchmarks.stored_growth()
    for empty in (
        benchmarks.gains_table(stored),
        benchmarks.goals_table(stored),
        benchmarks.machine(stored),
        benchmarks.slowest_notebooks(stored),
    ):
        assert isinstance(tables.plain(empty, "caption"), tables.Sentence)
    goals = benchmarks.goals_met(stored)
    assert (goals["estimate"], goals["n"], goals["reason"]) == (None, 0, benchmarks.NOT_MEASURED)
    assert benchmarks.ratios(stored).empty
    assert benchmarks.profile_table(stored).empty
    curves = figures.growth_curves(benchmarks.growth(sizes), name="x", caption="", empty=benchmarks.NO_GROWTH)
    assert curves == tables.Sentence(benchmarks.NO_GROWTH)
    assert benchmarks.growth_exponents(sizes).empty
    assert benchmarks.growth_problems(sizes).empty
    assert benchmarks.growth_goals(sizes).empty
    assert benchmarks.growth_made(sizes) == ""


def test_what_is_stored_can_be_shown():
    stored, sizes = benchmarks.stored_benchmarks(), benchmarks.stored_growth()
    for frame in (benchmarks.goals_table(stored), benchmarks.machine(stored), benchmarks.growth_exponents(sizes)):
        assert isinstance(frame, pd.DataFrame)
    missed = [row for row in benchmarks._rows(stored) if row["met"] is False]
    assert [row["key"] for row in missed if not row["reason"]] == [], "a missed goal has its measured reason"


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
