"""A checkout so small that a book is built from it in seconds."""

import os
import time
from pathlib import Path

import pytest

from helpers.checkout import Checkout, recording


def is_running(pid):
    """Whether a process is there and has not ended; one whose exit code nobody has asked for yet has ended."""
    try:
        os.kill(pid, 0)
        stat = (Path("/proc") / str(pid) / "stat").read_text("utf-8")
    except (ProcessLookupError, FileNotFoundError):
        return False
    return stat.rpartition(")")[2].split()[0] != "Z"


@pytest.fixture(scope="session")
def running():
    """Says of the id of a process whether it runs."""
    return is_running


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
def checkout(tmp_path, monkeypatch, quick_builds, run_here):
    """An empty small checkout; SENSE7_ROOT names it. A space in the path is no accident."""
    made = Checkout(tmp_path / "check out", run_here)
    for variable in ("SENSE7_REPOSITORY", "GITHUB_REPOSITORY"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("SENSE7_ROOT", str(made.root))
    return made


@pytest.fixture(scope="session")
def new_checkout(tmp_path_factory, run_here):
    """Make a small checkout that several tests share; SENSE7_ROOT is left alone."""
    return lambda: Checkout(tmp_path_factory.mktemp("shared") / "check out", run_here)


@pytest.fixture(scope="session")
def recording_code():
    return recording
