"""`sense7 fetch`, ended at any moment or on a full disk: here is the old copy or the new, with its own record."""

import json
import sys

import pytest

from helpers import interrupting
from helpers.downloads import Server, workbook
from sense7.sources import resolve

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="processes are looked for in /proc")

PACE = 0.02


def slowly(body):
    """An answer that takes its time, so that moments fall into it."""

    def answer(handler):
        handler.send(body[:1], length=len(body))
        for begin in range(1, len(body), 1000):
            handler.server.paused.wait(PACE)
            handler.wfile.write(body[begin : begin + 1000])

    return answer


@pytest.fixture(scope="module")
def fetched(tmp_path_factory, forks):
    """A cache with an older copy, the arguments that bring a newer one, and what that comes to undisturbed."""
    base = tmp_path_factory.mktemp("fetch")
    folder = base / "cache"
    folder.mkdir()
    old, new = workbook(base / "old.xlsx", "old"), workbook(base / "new.xlsx", "new", ("Tasks", "Messages", "More"))
    server = Server()
    server.http.paused = server.stop
    command = interrupting.Command(folder, forks, SENSE7_CACHE=str(folder))
    arguments = ("fetch", "official", "--mirror", server.address(), "--again")
    try:
        server.answers["/official.xlsx"] = old
        assert command.run(*arguments).code == 0
        before = interrupting.content(folder)
        server.answers["/official.xlsx"] = slowly(new)
        whole = command.run(*arguments)
        assert whole.code == 0
        yield command, before, arguments, whole, interrupting.content(folder), (old, new)
    finally:
        server.close()


def restore(folder, files):
    for path in [path for path in folder.rglob("*") if path.is_file()]:
        path.unlink()
    for name, found in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(found)


def without_time(files):
    """Records without the time of the fetch."""
    return {
        name: json.loads(found) | {"fetched": ""} if name.endswith(".json") else found for name, found in files.items()
    }


@pytest.mark.parametrize("moment", interrupting.moments(4, seed=2), ids=str)
def test_whatever_ends_it_the_copy_and_its_record_agree_and_the_next_run_gives_the_same(fetched, moment, monkeypatch):
    command, before, arguments, whole, after, contents = fetched
    restore(command.folder, before)
    command.interrupt(moment, whole, *arguments)
    monkeypatch.setenv("SENSE7_CACHE", str(command.folder))
    path, provenance = resolve("official")  # refuses a file that is not what its record says
    assert path.read_bytes() in contents
    assert not provenance.verified
    found = interrupting.content(command.folder)
    assert found.keys() <= before.keys() | after.keys()
    assert all(found[name] in (before.get(name), after.get(name)) for name in found if name.endswith(".xlsx"))
    again = command.run(*arguments)
    assert again.code == 0, again.err
    found = without_time(interrupting.content(command.folder))
    assert without_time(after).items() <= found.items()
    assert found.keys() <= before.keys() | after.keys()
    assert interrupting.unfinished(command.folder) == []


@pytest.mark.parametrize("room", [0, pytest.param(8, marks=pytest.mark.long)])
def test_on_a_full_disk_it_names_the_place_and_the_fix_and_keeps_what_was_here(fetched, room, tmp_path):
    command, before, _, _, after, (_, new) = fetched
    restore(command.folder, before)
    (tmp_path / "new.xlsx").write_bytes(new)
    ended = command.run_on_a_full_disk(room, "fetch", "official", "--again", "--mirror", tmp_path / "new.xlsx")
    interrupting.require_full(ended, "official")
    found = interrupting.content(command.folder)
    assert before.items() <= found.items()
    assert found.keys() <= after.keys() | before.keys()  # the new copy may be there, whole, without a record yet
    assert interrupting.unfinished(command.folder) == []
