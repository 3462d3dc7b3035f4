"""`sense7 simulate` and `fetch`, ended at any moment: earlier files stay, or the new are there."""

import json
import sys
from dataclasses import dataclass

import pytest

from helpers import interrupting
from helpers.downloads import Server, workbook
from sense7.sources import resolve

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="processes are looked for in /proc")

SMALL = ("-p", "participants=6", "-p", "conversations=12", "-p", "judge_runs=2")
# The truth is computed from few conversations: how exact it is changes nothing in how files are written.
ROUGHLY = "from sense7.simulate import judge\njudge.LEAST_CONVERSATIONS = 1\n"
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
    command, out = interrupting.Command(folder, ROUGHLY), folder / "study.xlsx"
    assert command.run("simulate", "--out", out, "--seed", 1, *SMALL).code == 0
    arguments = ("simulate", "--out", out, "--seed", 2, *SMALL)
    judged = tuple(f"study_judge/simulated-judge-iter{run}.xlsx" for run in (1, 2))
    work = Work(command, arguments, "study.xlsx", judged)
    assert sorted(work.before) == sorted(["study.xlsx", "study_truth.json", *judged])
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
    old, new = workbook(base / "old.xlsx", "old"), workbook(base / "new.xlsx", "new", ("Tasks", "Messages", "More"))
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
def test_whatever_ends_it_the_files_are_whole_and_the_next_run_gives_the_same(work, moment, monkeypatch):
    work.command.interrupt(moment, work.whole, *work.arguments)
    found = interrupting.content(work.command.folder)
    assert work.before.keys() & work.after.keys() <= found.keys() <= work.before.keys() | work.after.keys()
    for name in found:
        if not name.endswith(".provenance.json"):
            assert found[name] in (work.before.get(name), work.after.get(name)), f"{name} is neither old nor new"
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
