"""A checkout so small that a book is built from it in seconds."""

import fcntl
import os
import shutil
import time
from pathlib import Path

import pytest

from helpers.checkout import SHARED_NAME, Checkout


def is_running(pid):
    """Whether a process is there and has not ended; one whose exit code nobody has asked for yet has ended."""
    try:
        os.kill(pid, 0)
        stat = (Path("/proc") / str(pid) / "stat").read_text("utf-8")
    except (ProcessLookupError, FileNotFoundError):
        return False
    return stat.rpartition(")")[2].split()[0] != "Z"


@pytest.fixture(scope="session")
def ends():
    """Says of the id of a process whether it ends within so many seconds."""

    def wait(pid, seconds=300):
        deadline = time.monotonic() + seconds
        while is_running(pid) and time.monotonic() < deadline:
            time.sleep(0.05)
        return not is_running(pid)

    return wait


@pytest.fixture
def checkout(tmp_path, monkeypatch, run_here):
    """An empty small checkout; SENSE7_ROOT names it. A space in the path is no accident."""
    made = Checkout(tmp_path / "check out", run_here)
    monkeypatch.delenv("GITHUB_REPOSITORY", raising=False)
    monkeypatch.setenv("SENSE7_ROOT", str(made.root))
    return made


@pytest.fixture(scope="session")
def built(tmp_path_factory, run_here):
    """A small checkout with a built edition, which all processes of the tests share: only to be read."""
    place = tmp_path_factory.getbasetemp()
    place = (place.parent if "PYTEST_XDIST_WORKER" in os.environ else place) / "built"
    place.mkdir(exist_ok=True)
    with (place / "lock").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        made = Checkout(place / "check out", run_here)
        if not (place / "done").exists():
            done = made.call(*made.shared_book())
            assert done.returncode == 0, done.stderr
            page = made.editions / SHARED_NAME / "html" / "index.html"
            assert done.stdout.splitlines()[-1] == str(page)
            (place / "done").touch()
    return made


@pytest.fixture
def edition(built):
    """Folder of the shared edition: only to be read."""
    return built.editions / SHARED_NAME


@pytest.fixture
def copy(built, edition, tmp_path, monkeypatch):
    """A copy of that edition elsewhere, as if it had been downloaded, to be tampered with."""
    monkeypatch.setenv("SENSE7_ROOT", str(built.root))
    return shutil.copytree(edition, tmp_path / "a copy")


@pytest.fixture
def own(built, tmp_path, run_here, monkeypatch):
    """A copy of the shared checkout and its edition, to be built from again; SENSE7_ROOT names it."""
    shutil.copytree(built.root, tmp_path / "check out")
    monkeypatch.setenv("SENSE7_ROOT", str(tmp_path / "check out"))
    return Checkout(tmp_path / "check out", run_here)
