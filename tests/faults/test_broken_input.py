"""Broken and odd input through the command line: one located message, or counted warnings and a right result."""

import copy
import json
import os
import re
import resource
import signal
import subprocess
import sys

import pandas as pd
import pytest

from faults import corpus
from helpers.studies import FRAMES
from sense7 import cli
from sense7.loading import load

LONGEST_MESSAGE = 6_000
"""Characters of a message: all diagnostics of a small workbook at once have room, what it holds has not."""

SECONDS = 15
MEGABYTES = 400
"""What a bomb may take of a processor and of memory; the library and its imports take a second and about 100 MB."""

LONGEST_WAIT = 300
"""Seconds after which a process that waits for something is ended."""

IN_PROCESS = [case for case in corpus.CASES if not case.costly]
COSTLY = [case for case in corpus.CASES if case.costly]
SAMPLE = IN_PROCESS[::24]
"""Also run as a process of its own, as a user does."""


@pytest.fixture
def bench(tmp_path, minimal_sheets):
    return corpus.Bench(tmp_path, minimal_sheets)


@pytest.fixture(scope="module")
def clean(tmp_path_factory, minimal_sheets):
    """Frames of the clean workbook."""
    study = load(corpus.Bench(tmp_path_factory.mktemp("clean"), minimal_sheets).workbook())
    return {name: getattr(study, name) for name in FRAMES}


@pytest.fixture
def sense7(monkeypatch, capsys):
    """Run a command in this process; give its exit code, output and messages."""

    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["sense7", *map(str, arguments)])
        with pytest.raises(SystemExit) as caught:
            cli.main()
        shown = capsys.readouterr()
        return caught.value.code or 0, shown.out, shown.err

    return run


def files_of(folder):
    """Every file with its content, and every other thing with its kind."""
    return {
        str(path.relative_to(folder)): path.read_bytes() if path.is_file() else path.is_dir()
        for path in folder.rglob("*")
    }


def require_refusal(case, code, out, err):
    assert code == 2, err or out
    assert out == ""
    assert err.startswith("sense7: ")
    assert err.count("sense7: ") == 1
    assert "Traceback" not in err
    assert len(err) < LONGEST_MESSAGE
    assert [words for words in case.words if words not in err] == [], err


def parametrised(cases):
    return pytest.mark.parametrize("case", cases, ids=[case.name for case in cases])


def test_each_case_has_a_name_of_its_own_and_says_what_must_be_said():
    names = [case.name for case in corpus.CASES]
    assert len(names) == len(set(names)) >= 80
    assert all(case.words or not case.refused for case in corpus.CASES)


@parametrised([case for case in IN_PROCESS if case.refused])
def test_what_can_not_be_used_is_refused_with_its_place_and_fix_and_nothing_is_written(case, bench, sense7):
    command = case.make(bench)
    before = None if case.around is corpus.as_nobody else files_of(bench.folder)
    with case.around(bench):
        found = sense7(*command)
    require_refusal(case, *found)
    assert before is None or files_of(bench.folder) == before


@parametrised([case for case in IN_PROCESS if not case.refused and not case.words])
def test_what_can_be_lived_with_is_read_right_and_every_warning_counted(case, bench, sense7, clean):
    command = case.make(bench)
    code, out, err = sense7(*command, "--json")
    assert (code, err) == (0, "")
    counts = {}
    for diagnostic in json.loads(out)["diagnostics"]:
        counts[diagnostic["kind"]] = counts.get(diagnostic["kind"], 0) + diagnostic["count"]
        assert diagnostic["sheet"]
        assert diagnostic["fix"]
    assert counts == case.warnings
    expected = copy.deepcopy(clean)
    if case.touch:
        case.touch(expected)
    study = load(command[1], allow_unreadable="--allow-unreadable" in command)
    for name, frame in expected.items():
        pd.testing.assert_frame_equal(getattr(study, name), frame, check_dtype=name != "participants")


@parametrised([case for case in IN_PROCESS if not case.refused and case.words])
def test_predictions_that_can_be_lived_with_are_evaluated_and_every_loss_said(case, bench, sense7):
    code, out, err = sense7(*case.make(bench))
    assert (code, err) == (0, "")
    assert [words for words in case.words if words not in out] == [], out


def limited():
    """Limits for a process: an endless loop or a flood of memory ends the test, not the machine."""
    signal.alarm(LONGEST_WAIT)
    resource.setrlimit(resource.RLIMIT_CPU, (120, 120))
    resource.setrlimit(resource.RLIMIT_AS, (8 * 2**30, 8 * 2**30))


# Not the system's own record of the largest process: it counts this one, of which a child is a copy at first.
TELLING_ITS_PEAK = """
import atexit, re, sys
status = lambda: open("/proc/self/status").read()
if sys.platform.startswith("linux"):
    atexit.register(lambda: sys.stderr.write("peak: " + re.search("VmHWM:[^0-9]+([0-9]+)", status())[1]))
from sense7.cli import main
main()
"""


def by_itself(command):
    """Run a command in a process of its own: exit code, output, messages; seconds of a processor; megabytes at most."""
    process = subprocess.Popen(
        [sys.executable, "-c", TELLING_ITS_PEAK, *map(str, command)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=limited,  # noqa: PLW1509 -- no threads here
    )
    out, err = process.stdout.read(), process.stderr.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    process.stdout.close()
    process.stderr.close()
    err, peak = re.fullmatch(r"(?s)(.*?)(?:peak: ([0-9]+))?", err).groups()  # none if the process was aborted
    return (process.returncode, out, err), usage.ru_utime + usage.ru_stime, int(peak or 0) / 2**10


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the peak of memory is read from /proc")
@parametrised(COSTLY)
def test_a_bomb_is_refused_in_bounded_time_and_memory(case, bench):
    found, seconds, megabytes = by_itself(case.make(bench))
    require_refusal(case, *found)
    assert seconds < SECONDS
    assert 0 < megabytes < MEGABYTES


@parametrised([case for case in SAMPLE if case.refused and case.around is corpus.untouched])
def test_as_a_process_of_its_own_it_ends_with_2_and_one_message(case, bench):
    command = case.make(bench)
    before = files_of(bench.folder)
    found, _, _ = by_itself(command)
    require_refusal(case, *found)
    assert files_of(bench.folder) == before
