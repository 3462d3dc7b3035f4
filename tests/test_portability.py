"""What works on every system, Windows among them: reading a workbook, one notebook, the agreement of a judge.

Here the Unix-only modules and functions are hidden from this project's own code; jobs on Windows and macOS run the
same verbs there (.github/workflows/portability.yml).
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
UNIX_MODULES = {"fcntl", "grp", "posix", "pty", "pwd", "resource", "syslog", "termios", "tty"}

HIDING = """
import builtins, os, sys

ours, modules = builtins.__import__, set(sys.argv.pop(1).split())

def importing(name, globals=None, locals=None, fromlist=(), level=0):
    if not level and name in modules and (globals or {}).get("__name__", "").startswith("sense7"):
        raise ModuleNotFoundError(f"No module named {name!r}", name=name)
    return ours(name, globals, locals, fromlist, level)

def symlink(*arguments, **options):
    raise OSError("A required privilege is not held by the client")

builtins.__import__, os.symlink = importing, symlink
del os.fork, os.killpg, os.pidfd_open
sys.argv[0] = "sense7"
from sense7.cli import main
main()
"""


@pytest.mark.skipif(sys.platform != "linux", reason="hides what only Linux has; elsewhere the verbs run as they are")
@pytest.mark.parametrize(
    ("arguments", "shown"),
    [
        (["check", "synthetic", "--json"], "672"),
        (["run", "03", "-p", "draws=100"], "03-reliability.executed.ipynb"),
        (["judge", "evaluate", str(ROOT / "data" / "synthetic_judge"), "--draws", "100"], "672"),
    ],
    ids=lambda value: "-".join(value[:2]) if isinstance(value, list) else "",
)
def test_a_verb_needs_nothing_that_only_unix_has(arguments, shown, tmp_path):
    command = [sys.executable, "-c", HIDING, " ".join(UNIX_MODULES), *arguments]
    done = subprocess.run(
        command,
        cwd=tmp_path,
        capture_output=True,
        # A pipe of Windows may take less than Unicode.
        env={**os.environ, "PYTHONIOENCODING": "cp1252", "SENSE7_ROOT": str(ROOT)},
        encoding="cp1252",
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert shown in done.stdout
    assert "Traceback" not in done.stderr
