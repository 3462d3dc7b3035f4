"""The command line as users meet it: messages, exit codes, no traceback."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from typer.main import get_command

from sense7 import cli
from sense7.book import execute
from sense7.book.execute import Rerun
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


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["biuld"], "sense7: No such command 'biuld'. Did you mean 'build'? Help: sense7 --help"),
        (
            ["verify", "--quite"],
            "sense7: No such option: --quite (Possible options: --quiet). Help: sense7 verify --help",
        ),
        (["fetch"], "sense7: Missing argument 'name'. Help: sense7 fetch --help"),
        (["judge", "rnu"], "sense7: No such command 'rnu'. Did you mean 'run'? Help: sense7 judge --help"),
    ],
)
def test_a_wrong_call_is_said_in_one_line_with_what_was_meant(arguments, said, call):
    done = call(*arguments)
    assert (done.returncode, done.stdout, done.stderr) == (2, "", f"{said}\n")


def test_every_verb_is_listed_once_under_its_panel(call):
    text = call("--help").stdout
    panels = dict(re.findall(r"^╭─ ([\w ]+) ─+╮\n(.*?)^╰", text, re.DOTALL | re.MULTILINE))
    listed = {panel: re.findall(r"^│ (\w[\w-]*) ", lines, re.MULTILINE) for panel, lines in panels.items()}
    assert list(listed) == ["Options", *cli._PANELS]
    assert sorted(verb for panel in cli._PANELS for verb in listed[panel]) == sorted(get_command(cli.app).commands)


@pytest.mark.parametrize(("short", "long"), [("-h", "--help"), ("-V", "--version")])
def test_short_options_say_the_same(short, long, call):
    assert call(short).stdout == call(long).stdout
    if short == "-h":
        assert call("judge", "run", short).stdout == call("judge", "run", long).stdout


def test_a_shell_completes_verbs():
    done = run(_SENSE7_COMPLETE="complete_bash", COMP_WORDS="sense7 bu", COMP_CWORD="1")
    assert done.stdout.split() == ["build"]


@pytest.mark.parametrize(
    ("arguments", "code", "part"),
    [
        (["check", "absent.xlsx", "--json"], 2, "absent.xlsx: neither the name"),
        (["ledger", "nowhere", "--json"], 2, "there is no edition 'nowhere'"),
        (["check", "--json"], 2, "Missing argument"),
    ],
)
def test_an_error_is_json_where_the_result_would_be(arguments, code, part, call):
    done = call(*arguments)
    said = json.loads(done.stderr)
    assert (done.returncode, done.stdout, said["exit_code"], said.keys()) == (code, "", code, {"error", "exit_code"})
    assert part in said["error"]


def test_a_file_that_is_spelt_otherwise_is_suggested(tmp_path, monkeypatch, call):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "ratings-2025.xlsx").touch()
    refused(call("check", "rating-2025.xlsx"), "neither the name", "Did you mean ratings-2025.xlsx?")
    refused(call("check", "ratings-2025.xlsx", "--words", "worsd.yml"), "no such file. Check the path.")
    (tmp_path / "words.yml").touch()
    refused(call("check", "ratings-2025.xlsx", "--words", "worsd.yml"), "no such file. Did you mean words.yml?")


def test_a_notebook_that_is_spelt_otherwise_is_suggested(call):
    refused(call("run", "relaibility"), "Did you mean reliability?")


def test_a_run_prints_what_was_recorded_and_last_where_it_lies(tmp_path, monkeypatch, call):
    monkeypatch.chdir(tmp_path)
    lines = run("run", "00", "--data", "synthetic").stdout.splitlines()
    assert lines[-2:] == [str(tmp_path / f"00-taxonomy.executed.{end}") for end in ("results", "ipynb")]
    recorded = json.loads((tmp_path / "00-taxonomy.executed.results" / "00-taxonomy.json").read_text("utf-8"))
    shown = "\n".join(lines)
    assert recorded
    assert all(value["key"] in shown for value in recorded)
    done = Rerun("00-taxonomy", "", *(Path(line) for line in reversed(lines[-2:])))
    monkeypatch.setattr(execute, "rerun", lambda *given, **options: done)
    assert call("run", "00", "-q").stdout.splitlines() == lines[-2:]


def test_the_data_of_a_run_are_given_once(call):
    done = call("run", "03", "--data", "synthetic", "-p", "data=official")
    refused(done, "data: given twice, as official and as syn")


def test_data_may_be_given_by_the_option_that_other_verbs_have(tmp_path, call):
    assert call("check", "--data", "synthetic").stdout == call("check", "synthetic").stdout
    refused(call("check", "synthetic", "--data", "real"), "data: given twice, as synthetic and as real")
    refused(call("build", "--data", tmp_path / "absent.xlsx", "-q"), "absent.xlsx: neither the name of a data set")
    refused(call("check"), "Missing argument 'DATA'")


def test_an_unknown_data_set_is_refused_with_the_names_that_exist(call):
    refused(call("check", "ofical"), "synthetic, official", "Did you mean official?")
    refused(call("build", "ofical"), "synthetic, official")


def test_the_official_workbook_has_to_be_fetched_first(tmp_path, call):
    refused(call("build", "official", SENSE7_CACHE=tmp_path), "not fetched yet", "sense7 fetch official")


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


# All of one size: what it implies is computed once in a process.
SMALL = ("-p", "participants=8", "-p", "conversations=16")


def test_simulate_writes_a_workbook_that_knows_it_is_synthetic(tmp_path, call):
    out = tmp_path / "mine.xlsx"
    done = call("simulate", "--out", out, "--seed", 3, *SMALL)
    assert done.returncode == 0, done.stderr
    judged = [tmp_path / "mine_judge" / f"simulated-judge-iter{run}.xlsx" for run in range(1, 11)]
    assert done.stdout.split() == list(map(str, (out, tmp_path / "mine_truth.json", *judged)))
    assert sorted(judged) == sorted((tmp_path / "mine_judge").iterdir())
    copy = tmp_path / "copy.xlsx"
    copy.write_bytes(out.read_bytes())
    for path in (out, copy):
        assert "synthetic workbook, whose numbers are no findings" in call("check", path).stdout
    assert len(read_sheets(out)["Tasks"].rows) == 16


def test_the_simulated_judge_can_be_left_out_or_put_elsewhere_and_the_workbook_is_the_same(tmp_path, call):
    out = tmp_path / "a.xlsx"
    assert call("simulate", "--out", out, *SMALL).returncode == 0
    elsewhere = call("simulate", "--out", tmp_path / "b.xlsx", *SMALL, "--judge", tmp_path / "c", "-p", "judge_runs=2")
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
        (("-p", "judge_signal=1", "--no-judge"), "-p judge_signal and --no-judge exclude each other"),
        (("-p", "judge_signal=9"), "judge_signal is 9; accepted: a number from 0 to 3"),
        (("-p", "judge_colour=9"), "no parameter judge_colour"),
        (("--judge", "results"), "holds the word results"),
    ],
)
def test_unfit_options_of_the_simulated_judge_are_refused_and_nothing_is_written(tmp_path, options, said, call):
    where = [tmp_path / word if word in ("x", "results") else word for word in options]
    refused(call("simulate", "--out", tmp_path / "x.xlsx", *SMALL, *where), said)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("setting", ["participants=0", "participants=many", "colours=3"])
def test_simulate_refuses_unfit_parameters_and_writes_nothing(tmp_path, setting, call):
    refused(call("simulate", "--out", tmp_path / "x.xlsx", "-p", setting), setting.partition("=")[0])
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
