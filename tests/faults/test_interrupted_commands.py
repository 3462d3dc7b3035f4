"""`sense7 simulate`, `fetch` and `judge run`, ended at any moment: earlier files stay, or the new are there, whole.

No answer of a judge that was kept is lost or asked for again.
"""

import json
import os
import signal
import sys
import zlib
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import pytest

from helpers import endpoint, interrupting
from helpers.downloads import Server, workbook
from helpers.endpoint import need_the_judge
from helpers.judged import kept_in, table_of
from helpers.studies import write_study
from sense7.judge.files import JOURNAL
from sense7.sources import resolve

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="processes are looked for in /proc")

SMALL = ("-p", "participants=6", "-p", "conversations=12", "-p", "judge_runs=2")
PACE = 0.02


@dataclass
class Work:
    """A folder with files, a command that replaces them, and what that comes to undisturbed."""

    command: interrupting.Command
    arguments: tuple
    named: str
    together: tuple = ()
    """Files that are the old or the new ones as a whole."""

    def __post_init__(self):
        self.before = interrupting.content(self.command.folder)
        self.whole = self.command.run(*self.arguments)
        assert self.whole.code == 0
        self.after = interrupting.content(self.command.folder)

    def restore(self):
        for path in [path for path in self.command.folder.rglob("*") if path.is_file()]:
            path.unlink()
        for name, found in self.before.items():
            (self.command.folder / name).parent.mkdir(parents=True, exist_ok=True)
            (self.command.folder / name).write_bytes(found)


@pytest.fixture(scope="module")
def simulation(tmp_path_factory):
    folder = tmp_path_factory.mktemp("simulate") / "folder"
    folder.mkdir()
    command, out = interrupting.Command(folder), folder / "study.xlsx"
    assert command.run("simulate", "--out", out, "--seed", 1, *SMALL).code == 0
    arguments = ("simulate", "--out", out, "--force", "--seed", 2, *SMALL)
    judged = tuple(f"study_judge/simulated-judge-iter{run}.xlsx" for run in (1, 2))
    work = Work(command, arguments, "study.xlsx", judged)
    assert set(work.before) == {"study.xlsx", "study.xlsx.reading.yml", *judged}
    return work


def slowly(body):
    """An answer that takes its time, so that moments fall into it."""

    def answer(handler):
        handler.send(body[:1], length=len(body))
        for begin in range(1, len(body), 1000):
            handler.server.paused.wait(PACE)
            handler.wfile.write(body[begin : begin + 1000])

    return answer


@pytest.fixture(scope="module")
def fetched(tmp_path_factory):
    base = tmp_path_factory.mktemp("fetch")
    folder = base / "cache"
    folder.mkdir()
    old, new = (
        workbook(base / "old.xlsx", "old"),
        workbook(base / "new.xlsx", "new", ("Tasks", "Messages", "More")),
    )
    server = Server()
    server.http.paused = server.stop
    command = interrupting.Command(folder, SENSE7_CACHE=str(folder))
    arguments = ("fetch", "official", "--mirror", server.address(), "--again")
    try:
        server.answers["/official.xlsx"] = old
        assert command.run(*arguments).code == 0
        server.answers["/official.xlsx"] = slowly(new)
        yield Work(command, arguments, "official")
    finally:
        server.close()


@pytest.fixture(params=["simulation", "fetched"])
def work(request):
    work = request.getfixturevalue(request.param)
    work.restore()
    return work


def without_time(files):
    """Records without the time of the fetch."""
    return {
        name: json.loads(found) | {"fetched": ""} if name.endswith(".provenance.json") else found
        for name, found in files.items()
    }


@pytest.mark.parametrize("moment", interrupting.moments(4, seed=1), ids=str)
def test_whatever_ends_it_the_files_are_whole_and_the_next_run_gives_the_same(
    work, moment, monkeypatch
):
    work.command.interrupt(moment, work.whole, *work.arguments)
    found = interrupting.content(work.command.folder)
    assert (
        work.before.keys() & work.after.keys()
        <= found.keys()
        <= work.before.keys() | work.after.keys()
    )
    for name in found:
        if not name.endswith(".provenance.json"):
            assert found[name] in (work.before.get(name), work.after.get(name)), (
                f"{name} is neither old nor new"
            )
    assert [found[name] for name in work.together] in [
        [files[name] for name in work.together] for files in (work.before, work.after)
    ]
    if work.named == "official":
        monkeypatch.setenv("SENSE7_CACHE", str(work.command.folder))
        path, provenance = resolve("official")  # refuses a file that is not what its record says
        assert path.read_bytes() in {*work.before.values(), *work.after.values()}
        assert not provenance.verified
    again = work.command.run(*work.arguments)
    assert again.code == 0, again.err
    found = interrupting.content(work.command.folder)
    assert without_time(work.after).items() <= without_time(found).items()
    assert found.keys() <= work.before.keys() | work.after.keys()
    assert interrupting.unfinished(work.command.folder) == []


# A judge

CONVERSATIONS, RUNS, AT_ONCE = 10, 2, 3
LATE = partial(pytest.param, marks=pytest.mark.long)
TOLD = ["conversation", "participant", "score", "status", "output", "prompt"]


def script(asked):
    """The same answer to the same prompt, whenever it is asked."""
    score = zlib.crc32(asked.prompt.encode()) % 5 + 1
    return endpoint.Answer(text=f"<S0>Because of {len(asked.prompt)} letters.</S0><S2>{score}</S2>")


@pytest.fixture(scope="module")
def session(tmp_path_factory, minimal_sheets):
    """A server, a command without a folder, its arguments, and what it comes to undisturbed."""
    need_the_judge()
    base = tmp_path_factory.mktemp("judge")
    said = [
        f"Message {number} of conversation {name}."
        for name in range(CONVERSATIONS)
        for number in range(4)
    ]
    write_study(
        minimal_sheets(conversations=CONVERSATIONS, messages={"Content": said}), base / "study.xlsx"
    )
    with endpoint.Endpoint(script, latency=0.1) as server:

        def prepared(name):
            folder = base / name
            folder.mkdir()
            arguments = [
                "judge",
                "run",
                "--data",
                base / "study.xlsx",
                "--base-url",
                server.address,
            ]
            arguments += [
                "--concurrency",
                AT_ONCE,
                "--runs",
                RUNS,
                "--out",
                folder / "out",
            ]
            return interrupting.Command(folder, HOME=str(base)), arguments

        command, arguments = prepared("undisturbed")
        whole = command.run(*arguments)
        assert whole.code == 0, whole.err
        yield server, prepared, whole, predictions(command.folder / "out")


def predictions(folder):
    """What the prediction files of a folder say, but for times."""
    return {
        path.name: table_of(path)[TOLD].to_dict("records") for path in sorted(folder.glob("*.xlsx"))
    }


@pytest.mark.parametrize("moment", interrupting.moments(2, seed=3), ids=str)
def test_whatever_ends_it_the_answers_stay_and_the_next_run_gives_the_same(session, moment):
    server, prepared, whole, undisturbed = session
    command, arguments = prepared(str(moment))
    out = command.folder / "out"
    begun = len(server.asked)
    command.interrupt(moment, whole, *arguments)
    asked = len(server.asked) - begun
    kept = kept_in(out)
    assert asked - len(kept) <= AT_ONCE, "more was lost than was under way"
    assert predictions(out).items() <= undisturbed.items(), (
        "a prediction file is not what it is in the end"
    )

    again = command.run(*arguments)
    assert again.code == 0, again.err
    assert len(server.asked) - begun - asked == CONVERSATIONS * RUNS - len(kept), (
        "what was kept was asked for again"
    )
    assert predictions(out) == undisturbed
    both = kept_in(out)
    assert kept.items() <= both.items()
    assert interrupting.unfinished(command.folder) == []


@pytest.mark.long
def test_in_the_background_of_a_script_sigterm_ends_it_and_sigint_does_not(session):
    server, prepared, _, undisturbed = session
    command, arguments = prepared("background")
    begun, journal = len(server.asked), command.folder / "out" / JOURNAL
    process = command.start(*arguments, background=True)
    interrupting.until(lambda: journal.exists() and journal.stat().st_size > 0, process)
    (child,) = [
        pid
        for pid, line in command.running().items()
        if "-c\0" in line and not line.startswith("sh\0")
    ]
    os.kill(child, signal.SIGTERM)
    _, err = process.communicate(timeout=300)
    assert process.returncode == interrupting.CODES[signal.SIGTERM], err
    assert err.splitlines()[-1] == interrupting.SAID
    asked = len(server.asked) - begun
    assert asked < CONVERSATIONS * RUNS
    assert asked - len(kept_in(journal.parent)) <= AT_ONCE
    again = command.run(*arguments, number=signal.SIGINT, step=2, background=True)
    assert again.code == 0, again.err
    assert predictions(command.folder / "out") == undisturbed


@pytest.mark.parametrize("room", [4, LATE(8), LATE(120)])
def test_on_a_full_disk_it_names_the_file_and_the_fix_and_the_next_run_gives_the_same(
    session, room
):
    _, prepared, _, undisturbed = session
    command, arguments = prepared(f"room {room}")
    ended = command.run_on_a_full_disk(room, *arguments)
    interrupting.require_full(ended, "/out/journal.sqlite")
    assert interrupting.unfinished(command.folder) == []
    again = command.run(*arguments)
    assert again.code == 0, again.err
    assert predictions(command.folder / "out") == undisturbed


def test_predictions_that_are_evaluated_onto_a_full_disk_are_a_message(session, tmp_path):
    _, prepared, *_ = session
    command, _ = prepared("evaluate")
    undisturbed = command.folder.with_name("undisturbed") / "out"
    with Path("/dev/full").open("w") as full:
        ended = command.run("judge", "evaluate", undisturbed, "--draws", 50, stdout=full)
    interrupting.require_full(ended, "standard output")
