"""Jupyter Book waits for its work, does it once, and does not outlive the build."""

import importlib.metadata
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from sense7.book import jupyter_book
from sense7.book.jupyter_book import JupyterBook

HELD = """
import os, time
from sense7.book.jupyter_book import JupyterBook
with JupyterBook() as program:
    print(program._process.pid, flush=True)
    time.sleep(60)
"""


def test_it_runs_in_the_folder_and_gives_code_and_words(tmp_path):
    with JupyterBook() as program:
        program.start(["build", "absent"], tmp_path)
        code, log = program.finish()
    assert code != 0
    assert "absent" in log


def test_something_else_is_done_meanwhile(tmp_path):
    running = []
    with JupyterBook() as program:
        program.start(["--version"], tmp_path)
        code, _ = program.finish(lambda: running.append(program._process.poll()))
    assert (code, running) == (0, [None])


def test_who_gives_it_no_work_ends_it(ends):
    with JupyterBook() as program:
        pid = program._process.pid
    assert ends(pid)


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_a_killed_build_takes_it_along(ends):
    held = subprocess.Popen([sys.executable, "-c", HELD], stdout=subprocess.PIPE, text=True)
    pid = int(held.stdout.readline())
    held.send_signal(signal.SIGKILL)
    held.wait()
    held.stdout.close()
    assert ends(pid)


def test_one_that_died_is_an_exit_code(tmp_path, monkeypatch):
    monkeypatch.setattr(jupyter_book, "_COMMAND", (sys.executable, "-c", "raise SystemExit('no memory')"))
    with JupyterBook() as program:
        program._process.wait()
        program.start(["--version"], tmp_path)
        assert program.finish() == (1, "no memory\n")


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_nothing_is_left_open_where_it_can_not_start(monkeypatch):
    def held():
        return len(list(Path("/proc/self/fd").iterdir()))

    monkeypatch.setattr(jupyter_book, "_COMMAND", ("/nowhere/python",))
    before = held()
    with pytest.raises(OSError, match="nowhere"), JupyterBook():
        pass
    assert held() == before


def test_entry_points_are_those_that_would_be_found_each_time():
    found = jupyter_book._entry_points(importlib.metadata.entry_points)
    for wanted in ({"group": "console_scripts"}, {"group": "console_scripts", "name": "sense7"}, {"group": "none"}):
        assert tuple(found(**wanted)) == tuple(importlib.metadata.entry_points(**wanted))
    assert tuple(found(group="console_scripts", name="sense7"))
