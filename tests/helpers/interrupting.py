"""Commands that are ended just before they touch the disk for the n-th time, and what must hold afterwards.

Steps find what times rarely hit: the gap between a file and its record, or between two renames.
"""

import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from helpers.checkout import environment_of

SAID = "sense7: interrupted; what was finished is kept"
CODES = {signal.SIGINT: 130, signal.SIGTERM: 143, signal.SIGKILL: -signal.SIGKILL}
UNFINISHED = ".part"

# Everything up to the import of main is Python's own start, which no program can guard.
DRIVER = """
import os, sys
from pathlib import Path
from sense7.cli import main

folder, told, number, last = sys.argv[1], Path(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])
del sys.argv[1:5]
changing = {"os.rename", "os.mkdir", "os.remove", "os.rmdir", "os.truncate", "os.utime", "fcntl.flock",
            "shutil.copyfile", "shutil.copytree", "shutil.move", "shutil.rmtree", "subprocess.Popen"}
steps = 0

def look(event, arguments):
    global steps
    opened = event == "open" and (arguments[2] or 0) & (os.O_WRONLY | os.O_RDWR)
    swapped = event == "ctypes.dlsym" and arguments[1] == "renameat2"
    if swapped or ((opened or event in changing) and folder in str(arguments)):
        steps += 1
        if steps == last:
            os.kill(os.getpid(), number)

sys.addaudithook(look)
try:
    main()
finally:
    told.write_text(str(steps))
"""


@dataclass(frozen=True)
class Ended:
    """What a command came to."""

    code: int
    out: str
    err: str
    steps: int


class Command:
    """A command of the project whose every file lies in ``folder``."""

    def __init__(self, folder: Path, **environment: str):
        self.folder, self.mark = folder, f"{uuid.uuid4()}"
        given = environment | {"SENSE7_TEST_MARK": self.mark, "NO_PROXY": "*"}
        self.environment = environment_of(**given)

    def run(self, *arguments: object, number: int = 0, step: int = 0) -> Ended:
        """Run it; the signal of that number comes before that step."""
        told = self.folder.parent / f"steps {self.mark}"
        told.unlink(missing_ok=True)
        given = [str(argument) for argument in (self.folder, told, number, step, *arguments)]
        done = subprocess.run(
            [sys.executable, "-c", DRIVER, *given],
            cwd=self.folder,
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=300,
            start_new_session=True,
            check=False,
        )
        until(lambda: not self.running(), "processes were left behind")
        steps = int(told.read_text("utf-8")) if told.exists() else 0
        return Ended(done.returncode, done.stdout, done.stderr, steps)

    def running(self) -> list[Path]:
        """Processes that this command started: those with its mark in their environment."""
        found = []
        for process in Path("/proc").glob("[0-9]*"):
            try:
                if self.mark.encode() in (process / "environ").read_bytes():
                    found.append(process)
            except OSError:
                continue
        return found


def require_a_good_end(ended: Ended, number: signal.Signals) -> None:
    """Ended by the signal with one line and no traceback, or done before it came."""
    assert "Traceback" not in ended.err, ended.err
    assert "Exception ignored" not in ended.err, ended.err
    if ended.code in {0, -signal.SIGINT, -signal.SIGTERM}:
        return  # at its very end: what follows tells that all was done
    assert ended.code == CODES[number], ended
    if number != signal.SIGKILL:
        messages = [line for line in ended.err.splitlines() if line.startswith("sense7: ")]
        assert messages == [SAID], ended.err


def require_full(ended: Ended, path: object) -> None:
    """One message that names the file and how to fix it."""
    assert ended.code == 2, ended
    assert "Traceback" not in ended.err, ended.err
    assert "Exception ignored" not in ended.err, ended.err
    last = ended.err.splitlines()[-1]
    assert last.startswith("sense7: "), ended.err
    assert str(path) in last, ended.err
    assert "can't be written" in last, ended.err
    assert "Make room on that disk" in last or "raise the limit" in last, ended.err


def until(holds: Callable[[], bool], what: str = "it never came") -> None:
    """Wait until something holds, or fail."""
    deadline = time.monotonic() + 300
    while not holds():
        assert time.monotonic() < deadline, what
        time.sleep(0.005)


def content(folder: Path) -> dict[str, bytes]:
    """Every file of a folder but those of unfinished work: relative path -> bytes."""
    files = [path for path in folder.rglob("*") if path.is_file()]
    names = {path: str(path.relative_to(folder)) for path in files}
    return {name: path.read_bytes() for path, name in names.items() if UNFINISHED not in name}


def unfinished(folder: Path) -> list[str]:
    """What was left of work that was not finished."""
    return sorted(path.name for path in folder.rglob(".*") if path.name.startswith(UNFINISHED))
