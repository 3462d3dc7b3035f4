"""`sense7 simulate`, ended at any moment or on a full disk: the earlier files stay, or the new are there, whole."""

import signal
import sys

import pytest

from helpers import interrupting

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="processes are looked for in /proc")

SMALL = ("--set", "participants=6", "--set", "conversations=12", "--set", "judge_runs=2")
# The truth is computed from few conversations: how exact it is changes nothing in how files are written.
ROUGHLY = "from sense7.simulate import judge\njudge.LEAST_CONVERSATIONS = 1\n"
RUNS = 2
JUDGED = tuple(f"study_judge/simulated-judge-iter{run}.xlsx" for run in range(1, RUNS + 1))
FILES = ("study.xlsx", "study_truth.json", *JUDGED)


@pytest.fixture(scope="module")
def simulations(tmp_path_factory, forks):
    """A folder with a simulation, the arguments of another over it, and what that comes to undisturbed."""
    folder = tmp_path_factory.mktemp("simulate") / "folder"
    folder.mkdir()
    command = interrupting.Command(folder, forks, ROUGHLY)
    out = folder / FILES[0]
    assert command.run("simulate", "--out", out, "--seed", 1, *SMALL).code == 0
    before = interrupting.content(folder)
    assert sorted(before) == sorted(FILES)
    arguments = ("simulate", "--out", out, "--seed", 2, *SMALL)
    whole = command.run(*arguments)
    assert whole.code == 0
    return command, before, arguments, whole, interrupting.content(folder)


def restore(folder, files):
    for name, found in files.items():
        (folder / name).write_bytes(found)


@pytest.mark.parametrize("moment", interrupting.moments(4, seed=1), ids=str)
def test_whatever_ends_it_the_files_are_whole_and_the_next_run_gives_the_same(simulations, moment):
    command, before, arguments, whole, after = simulations
    restore(command.folder, before)
    command.interrupt(moment, whole, *arguments)
    found = interrupting.content(command.folder)
    assert found.keys() == before.keys()
    for name in FILES:
        assert found[name] in (before[name], after[name]), f"{name} is neither the old nor the new one"
    judged = [[files[name] for name in JUDGED] for files in (found, before, after)]
    assert judged[0] in judged[1:], "the folder of predictions is the old or the new one, as a whole"
    assert command.run(*arguments).code == 0
    assert interrupting.content(command.folder) == after
    assert interrupting.unfinished(command.folder) == []


@pytest.mark.long
def test_in_the_background_of_a_script_sigterm_ends_it_and_sigint_does_not(simulations):
    command, before, arguments, _, after = simulations
    restore(command.folder, before)
    for number, code, files in ((signal.SIGTERM, 143, before), (signal.SIGINT, 0, after)):
        ended = command.run(*arguments, number=number, step=1, background=True)
        assert (ended.code, interrupting.content(command.folder)) == (code, files), ended
    assert interrupting.unfinished(command.folder) == []


@pytest.mark.parametrize("room", [60, pytest.param(0, marks=pytest.mark.long)])
def test_on_a_full_disk_it_names_the_file_and_the_fix_and_changes_nothing(simulations, room):
    command, before, arguments, *_ = simulations
    restore(command.folder, before)
    interrupting.require_full(
        command.run_on_a_full_disk(room, *arguments[:2], command.folder / FILES[0], *arguments[3:]), FILES[0]
    )
    assert interrupting.content(command.folder)[FILES[0]] == before[FILES[0]]
    assert interrupting.unfinished(command.folder) == []


@pytest.mark.long
def test_where_files_may_not_become_so_large_it_says_so(simulations):
    command, before, arguments, *_ = simulations
    restore(command.folder, before)
    interrupting.require_full(command.run(*arguments, limit=20_000), FILES[0])
    assert interrupting.content(command.folder) == before
    assert interrupting.unfinished(command.folder) == []
