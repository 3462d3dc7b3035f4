"""What all entries share: the two sides in turn, the row that comes of it, and programs that are timed as a whole."""

import os
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from sense7.book.plan import FIXED

ROOT = Path(__file__).resolve().parents[2]
SENSE7 = [sys.executable, "-c", "import sys; sys.argv[0] = 'sense7'; from sense7.start import main; main()"]
"""The command, of the library that is measured, wherever it is installed."""


@dataclass(frozen=True)
class Counts:
    """How much is done: the real thing, or just enough to see that every entry works."""

    pairs: int = 5
    long_pairs: int = 3
    tiny: bool = False

    def of(self, whole: int, tiny: int) -> int:
        """The number that is wanted."""
        return tiny if self.tiny else whole


@dataclass
class Row:
    """One line of the table: what was measured, of whom, and what was to be reached.

    ``ours`` and ``peer`` belong to each other, pair by pair; without a peer, ``ours`` has a limit of its own.
    """

    key: str
    work: str
    peer: str
    goal: str
    ours: list[float] = field(default_factory=list)
    theirs: list[float] = field(default_factory=list)
    ratio_at_least: float | None = None
    at_most: float | None = None
    unit: str = "s"
    note: str = ""


def say(line: str) -> None:
    """Show how far it is, at once."""
    print(f"  {line}", file=sys.stderr, flush=True)


def timed(work: Callable[[], object]) -> float:
    """Seconds of one run."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def in_turn(row: Row, ours: Callable[[], object], theirs: Callable[[], object], pairs: int, share: float = 1.0) -> Row:
    """Measure both sides so many times, each going first in turn, after one run of each that does not count.

    ``share`` is how much of the work the peer does, whose cost is the same for each part of it.
    """
    ours(), theirs()
    for number in range(pairs):
        sides = {"ours": ours, "theirs": theirs}
        times = {name: timed(sides[name]) for name in sorted(sides, reverse=bool(number % 2))}
        row.ours.append(times["ours"])
        row.theirs.append(times["theirs"] / share)
        say(f"{row.key}: pair {number + 1} of {pairs}: {row.ours[-1]:.4g} and {row.theirs[-1]:.4g} s")
    return row


def run(command: Sequence[str | Path], *, root: Path = ROOT, folder: Path | None = None, **variables: str) -> str:
    """Run a program in a checkout, and give what it prints; what it complains of, if it fails, is the error."""
    # Python keeps what it compiled, as it does for users.
    left_out = ("SENSE7_", "GITHUB_", "OPENAI_", "PYTHONDONTWRITEBYTECODE")
    kept = {key: value for key, value in os.environ.items() if not key.startswith(left_out)}
    done = subprocess.run(  # noqa: S603 - commands of our own
        [str(part) for part in command],
        cwd=folder or root,
        env=kept | FIXED | {"SENSE7_ROOT": str(root)} | variables,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise RuntimeError(f"{' '.join(map(str, command))}: ended with {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout
