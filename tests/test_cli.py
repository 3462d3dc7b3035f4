"""The command line as users meet it: messages, exit codes, no traceback."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from sense7.workbook import read_sheets

SENSE7 = Path(sys.executable).with_name("sense7")


def run(*arguments, **environment):
    """Run the command as users do."""
    return subprocess.run(
        [SENSE7, *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | {key: str(value) for key, value in environment.items()},
    )


@pytest.fixture
def call(run_here):
    """Run it in this process, which takes less time."""

    def run(*arguments, **environment):
        given = {name: str(value) for name, value in environment.items()}
        return run_here(*arguments, cwd=Path.cwd(), environment=os.environ | given)

    return run


def refused(done, *parts):
    assert done.returncode == 2, done.stderr
    assert "Traceback" not in done.stderr
    assert done.stdout == ""
    for part in parts:
        assert part in done.stderr


def test_help_lists_the_verbs():
    done = run("--help")
    assert done.returncode == 0
    for verb in ("check", "simulate", "fetch", "build", "ledger", "notebooks"):
        assert verb in done.stdout


@pytest.mark.parametrize(
    "arguments", [["nonsense"], ["check"], ["build", "--jobs", "0"], ["simulate", "--out", "x", "--seed", "-1"]]
)
def test_a_wrong_call_ends_with_2_and_no_traceback(arguments):
    done = run(*arguments)
    assert done.returncode == 2
    assert "Traceback" not in done.stderr


def test_an_unknown_data_set_is_refused_with_the_names_that_exist():
    refused(run("check", "ofical"), "synthetic, official", "Did you mean official?")
    refused(run("build", "ofical"), "synthetic, official")


def test_the_official_workbook_has_to_be_fetched_first(tmp_path):
    refused(run("build", "official", SENSE7_CACHE=tmp_path), "not fetched yet", "sense7 fetch official")


@pytest.mark.parametrize(
    ("parameter", "said"),
    [
        ("draws=ten", "draws = 'ten'"),
        ("draws=5", "draws = 5"),
        ("seed=1.5", "seed = 1.5"),
        ("colour=red", "colour"),
        ("data=x.xlsx", "set by the build itself"),
        ("draws", "expected NAME=VALUE"),
        ("prompted_condition=nobody", "there is no condition 'nobody'"),
    ],
)
def test_unfit_parameters_are_refused_before_anything_runs(parameter, said, call):
    done = call("build", "synthetic", "-p", parameter)
    refused(done, said)
    assert "executed" not in done.stderr


def test_check_says_what_is_in_the_default_workbook(call):
    done = call("check", "synthetic")
    assert done.returncode == 0
    for part in ("participants         109", "conversations        672", "Never asked: nothing", "No warnings."):
        assert part in done.stdout
    description = json.loads(call("check", "synthetic", "--json").stdout)
    assert description["prompted_condition"]["how"] == "guessed from its name"
    assert description["diagnostics"] == []


def test_the_default_workbook_passes_the_strict_reader(call):
    assert call("check", "synthetic", "--strict").returncode == 0


def test_a_session_opens_as_many_data_sets_as_it_likes():
    import sense7 as s7

    first, second = s7.load("synthetic"), s7.load("synthetic")
    assert len(first.turns) == len(second.turns)
    for name in s7.__all__:
        assert getattr(s7, name) is getattr(s7, name)


def test_simulate_writes_a_workbook_that_knows_it_is_synthetic(tmp_path):
    out = tmp_path / "mine.xlsx"
    done = run("simulate", "--out", out, "--seed", 3, "--set", "participants=12", "--set", "conversations=40")
    assert done.returncode == 0, done.stderr
    judged = [tmp_path / "mine_judge" / f"simulated-judge-iter{run}.xlsx" for run in range(1, 11)]
    assert done.stdout.split() == list(map(str, (out, tmp_path / "mine_truth.json", *judged)))
    assert sorted(judged) == sorted((tmp_path / "mine_judge").iterdir())
    copy = tmp_path / "copy.xlsx"
    copy.write_bytes(out.read_bytes())
    for path in (out, copy):
        assert "synthetic workbook, whose numbers are no findings" in run("check", path).stdout
    assert len(read_sheets(out)["Tasks"].rows) == 40


SMALL = ("--set", "participants=8", "--set", "conversations=16")


def test_the_simulated_judge_can_be_left_out_or_put_elsewhere_and_the_workbook_is_the_same(tmp_path, call):
    out = tmp_path / "a.xlsx"
    assert call("simulate", "--out", out, *SMALL).returncode == 0
    elsewhere = call(
        "simulate", "--out", tmp_path / "b.xlsx", *SMALL, "--judge", tmp_path / "c", "--set", "judge_runs=2"
    )
    assert elsewhere.stdout.split()[2:] == [str(tmp_path / "c" / f"simulated-judge-iter{n}.xlsx") for n in (1, 2)]
    none = call("simulate", "--out", tmp_path / "d.xlsx", *SMALL, "--no-judge")
    assert none.stdout.split() == [str(tmp_path / "d.xlsx"), str(tmp_path / "d_truth.json")]
    names = ["a.xlsx", "a_judge", "a_truth.json", "b.xlsx", "b_truth.json", "c", "d.xlsx", "d_truth.json"]
    assert sorted(path.name for path in tmp_path.iterdir()) == names
    assert out.read_bytes() == (tmp_path / "b.xlsx").read_bytes() == (tmp_path / "d.xlsx").read_bytes()
    said = call("judge", "evaluate", tmp_path / "c").stdout
    assert "simulated judge (simulated-judge-iter1, simulated-judge-iter2): no model was asked" in said


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--judge", "x", "--no-judge"), "exclude each other"),
        (("--set", "judge_signal=1", "--no-judge"), "--set judge_signal and --no-judge exclude each other"),
        (("--set", "judge_signal=9"), "judge_signal is 9; accepted: a number from 0 to 3"),
        (("--set", "judge_colour=9"), "no parameter judge_colour"),
        (("--judge", "results"), "holds the word results"),
    ],
)
def test_unfit_options_of_the_simulated_judge_are_refused_and_nothing_is_written(tmp_path, options, said, call):
    where = [tmp_path / word if word in ("x", "results") else word for word in options]
    refused(call("simulate", "--out", tmp_path / "x.xlsx", *SMALL, *where), said)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("setting", ["participants=0", "participants=many", "colours=3"])
def test_simulate_refuses_unfit_parameters_and_writes_nothing(tmp_path, setting, call):
    refused(call("simulate", "--out", tmp_path / "x.xlsx", "--set", setting), setting.partition("=")[0])
    assert list(tmp_path.iterdir()) == []


def test_simulate_lists_its_parameters(call):
    done = call("simulate", "--parameters")
    assert done.returncode == 0
    assert "participants" in done.stdout


def test_fetch_of_an_unknown_name_is_refused(call):
    refused(call("fetch", "nothing"), "not a data set that can be fetched")


def test_fetch_from_a_file_is_labelled_unverified(tmp_path, call):
    source = Path(__file__).resolve().parents[1] / "data" / "synthetic.xlsx"
    done = call("fetch", "official", "--mirror", source, SENSE7_CACHE=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "UNVERIFIED" in done.stdout


def test_ledger_of_an_edition_that_is_not_there_names_those_that_are(call):
    refused(call("ledger", "nowhere"), "there is no edition 'nowhere' yet", "sense7 build nowhere")


def edition_with(root, verdict, grade):
    """A checkout with one finished edition whose ledger holds one row."""
    for folder in ("notebooks", "data", "_build/editions/official"):
        (root / folder).mkdir(parents=True)
    for name in ("_config.yml", "data/claims.yml"):
        (root / name).touch()
    row = {
        "id": "participants",
        "published": {"title": "Participants", "value": 109, "shown": "109", "grade": grade, "contradiction": None},
        "computed": None,
        "link": None,
        "verdict": verdict,
        "why": "because",
        "tuned": False,
        "truth": None,
    }
    (root / "_build/editions/official/ledger.json").write_text(json.dumps([row]))
    (root / "_build/editions/official/edition.json").write_text(json.dumps({"label": "official workbook"}))
    return root


@pytest.mark.parametrize(
    ("verdict", "grade", "code"),
    [("differs", "A", 1), ("differs", "B", 1), ("differs", "D", 0), ("reproduced", "A", 0)],
)
def test_a_strict_ledger_fails_where_the_official_workbook_differs_from_a_primary_figure(
    tmp_path, verdict, grade, code, call
):
    root = edition_with(tmp_path, verdict, grade)
    done = call("ledger", "official", "--strict", SENSE7_ROOT=root)
    assert done.returncode == code
    assert ("participants" in done.stderr) == bool(code)
    assert call("ledger", "official", SENSE7_ROOT=root).returncode == 0
