"""Commands that are ended at a moment drawn by a seed, or find no room on the disk; and what must hold afterwards.

A moment is either a time, or a step: just before the command touches the disk for the n-th time. Steps find what
times rarely hit: the gap between a file and its record, or between two renames. One moment is for every run, the others
for the long one.
"""

import os
import random
import shutil
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

SAID = "sense7: interrupted; what was finished is kept"
CODES = {signal.SIGINT: 130, signal.SIGTERM: 143, signal.SIGKILL: -signal.SIGKILL}
MAIN = "from sense7.cli import main; main()"
LONG = 8
ENDINGS = (signal.SIGKILL, signal.SIGINT, signal.SIGKILL, signal.SIGTERM)
UNFINISHED = ".part"
UNSHARED = ("unshare", "--map-root-user", "--mount")

# Everything up to the import of main is Python's own start, which no program can guard.
DRIVER = """
import os, sys
from pathlib import Path
from sense7.cli import main

folder, ready, number, last = sys.argv[1], Path(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])
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
ready.touch()
try:
    main()
finally:
    ready.write_text(str(steps))
"""

# In a mount namespace of its own: a disk of a given size, with a copy of a folder on it, which is brought back after.
ON_A_SMALL_DISK = """
disk=$1; back=$2; room=$3; shift 3
mount -t tmpfs -o size=500m tmpfs "$disk" || exit 77
cp -a "$back/." "$disk/"
used=$(df -k --output=used "$disk" | tail -n 1)
mount -o remount,size=$((used + room))k "$disk" || exit 77
cd "$disk" || exit 77
"$@"
code=$?
cd /
rm -rf "$back" && cp -a "$disk" "$back"
exit $code
"""


@dataclass(frozen=True)
class Moment:
    """When a command is ended, and by which signal; ``share`` is of all its steps or of all its time."""

    signal: signal.Signals
    by_step: bool
    share: float

    def __str__(self) -> str:
        return (
            f"{self.signal.name} at {self.share:.1%} of its {'steps' if self.by_step else 'time'}"
        )


@dataclass(frozen=True)
class Ended:
    """What a command came to."""

    code: int
    out: str
    err: str
    steps: int
    seconds: float


def moments(few: int, seed: int) -> list:
    """One moment, and more that are marked as long: the rest of the few of its seed, and as many as LONG."""
    first, *more = [*drawn_moments(few, seed), *drawn_moments(LONG, 100 + seed)]
    return [first, *(pytest.param(moment, marks=pytest.mark.long) for moment in more)]


def drawn_moments(number: int, seed: int) -> list[Moment]:
    """Draw moments spread over the whole of a command, by turns steps and times, with every signal in turn."""
    draw = random.Random(seed)  # noqa: S311 - no secret
    shares = [(place + draw.random()) / number for place in range(number)]
    draw.shuffle(shares)
    return [
        Moment(ENDINGS[place % len(ENDINGS)], place // 2 % 2 == 0 or place % 3 == 0, share)
        for place, share in enumerate(shares)
    ]


class Command:
    """A command of the project whose every file lies in ``folder``.

    ``before`` is code that comes before the command.
    """

    def __init__(self, folder: Path, before: str = "", **environment: str):
        self.folder, self.before = folder, before
        self.mark = f"{uuid.uuid4()}"
        ours = ("SENSE7_", "GITHUB_")
        kept = {name: value for name, value in os.environ.items() if not name.startswith(ours)}
        self.environment = kept | environment | {"SENSE7_TEST_MARK": self.mark, "NO_PROXY": "*"}
        self.ready = folder.parent / f"ready {self.mark}"

    def start(
        self, *arguments: object, number: int = 0, step: int = 0, stdout=subprocess.PIPE
    ) -> subprocess.Popen:
        """Start it; the signal comes before the step of that number."""
        self.ready.unlink(missing_ok=True)
        code = self.before + DRIVER
        given = [str(argument) for argument in (self.folder, self.ready, number, step, *arguments)]
        return subprocess.Popen(
            [sys.executable, "-c", code, *given],
            cwd=self.folder,
            env=self.environment,
            stdout=stdout,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    def run(self, *arguments: object, **options) -> Ended:
        """Run it undisturbed; options as of :meth:`start`."""
        return self._end(self.start(*arguments, **options))

    def interrupt(self, moment: Moment, whole: Ended, *arguments: object, **options) -> Ended:
        """Run it up to a moment; ``whole`` is what it comes to undisturbed."""
        step = max(1, round(moment.share * whole.steps)) if moment.by_step else 0
        process = self.start(*arguments, number=moment.signal, step=step, **options)
        if not moment.by_step:
            until(self.ready.exists, process)
            time.sleep(moment.share * whole.seconds)
            process.send_signal(moment.signal)  # nothing to one that has ended
        ended = self._end(process)
        self._require_a_good_end(moment, ended)
        return ended

    def run_on_a_full_disk(self, room: int, *arguments: object) -> Ended:
        """Run it where only so many KiB are left on the disk of its folder."""
        if not small_disks():
            pytest.skip("this system lets nobody but its owner mount a small disk")
        disk = self.folder.with_name("disk")
        disk.mkdir(exist_ok=True)
        here, there = str(self.folder), str(disk)
        environment = {
            name: value.replace(here, there) if name.startswith("SENSE7_") else value
            for name, value in self.environment.items()
        }
        given = [str(argument).replace(here, there) for argument in arguments]
        shell = [*UNSHARED, "sh", "-c", ON_A_SMALL_DISK, "sh", there, here, str(room)]
        command = [*shell, sys.executable, "-c", MAIN, *given]
        where = {"cwd": self.folder.parent, "env": environment}
        done = subprocess.run(
            command, check=False, capture_output=True, text=True, timeout=300, **where
        )
        return Ended(done.returncode, done.stdout, done.stderr, 0, 0.0)

    def _end(self, process: subprocess.Popen) -> Ended:
        begun = time.monotonic()
        out, err = process.communicate(timeout=300)
        steps = self.ready.read_text("utf-8") if self.ready.exists() else ""
        seconds = time.monotonic() - begun
        until(lambda: not self.running(), what="processes were left behind")
        return Ended(process.returncode, out, err, int(steps or 0), seconds)

    def running(self) -> dict[int, str]:
        """Processes that this command started, and itself: those with its mark in their environment."""
        found = {}
        for process in Path("/proc").glob("[0-9]*"):
            try:
                if self.mark.encode() in (process / "environ").read_bytes():
                    found[int(process.name)] = (process / "cmdline").read_text("utf-8", "replace")
            except OSError:
                continue
        return found

    @staticmethod
    def _require_a_good_end(moment: Moment, ended: Ended) -> None:
        """Ended by the signal with one line and no traceback, or done before it came."""
        assert "Traceback" not in ended.err, (moment, ended.err)
        assert "Exception ignored" not in ended.err, (moment, ended.err)
        if ended.code in {0, -signal.SIGINT, -signal.SIGTERM}:
            return  # at its very end: what follows tells that all was done
        assert ended.code == CODES[moment.signal], (moment, ended)
        if moment.signal != signal.SIGKILL:
            assert ended.err.splitlines()[-1] == SAID, (moment, ended.err)
            messages = [line for line in ended.err.splitlines() if line.startswith("sense7: ")]
            assert messages == [SAID], (moment, ended.err)


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


def small_disks() -> bool:
    """Whether a small disk can be mounted here, in a namespace of the test's own."""
    if shutil.which("unshare") is None:
        return False
    trial = [*UNSHARED, "mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", "/mnt"]
    return subprocess.run(trial, capture_output=True, check=False).returncode == 0


def until(
    holds: Callable[[], bool],
    process: subprocess.Popen | None = None,
    seconds: float = 300,
    what: str = "it never came",
) -> None:
    """Wait until something holds, or fail."""
    deadline = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < deadline, what
        assert process is None or process.poll() is None, process.communicate()
        time.sleep(0.005)


def content(folder: Path) -> dict[str, bytes]:
    """Every file of a folder but those of unfinished work: relative path -> bytes."""
    files = [path for path in folder.rglob("*") if path.is_file()]
    names = {path: str(path.relative_to(folder)) for path in files}
    return {name: path.read_bytes() for path, name in names.items() if UNFINISHED not in name}


def unfinished(folder: Path) -> list[str]:
    """What was left of work that was not finished."""
    return sorted(path.name for path in folder.rglob(".*") if path.name.startswith(UNFINISHED))
