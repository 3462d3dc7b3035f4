"""The tests, as who changes something runs them: `make test` in a clone of the last commit, set-up apart."""

import os
import resource
import subprocess
import tempfile
from pathlib import Path

from measuring import ROOT, Counts, Row, say, timed


def run(command: list[str], folder: Path) -> None:
    """Run a program as a user would; what it printed is the error if it fails."""
    left_out = ("SENSE7_", "GITHUB_", "PYTEST_", "PYTHONDONTWRITEBYTECODE")
    kept = {key: value for key, value in os.environ.items() if not key.startswith(left_out)}
    done = subprocess.run(command, cwd=folder, env=kept, capture_output=True, text=True, check=False)  # noqa: S603 - commands of our own
    if done.returncode:
        raise RuntimeError(f"{' '.join(command)}: ended with {done.returncode}\n{done.stdout[-9000:]}{done.stderr}")


def processor_seconds() -> float:
    """Processor time of all programs that were run and have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def tests(counts: Counts) -> list[Row]:
    """Once, since it takes many minutes; of a tiny run, only that there is such a verb."""
    row = Row("tests", "`make test`, set-up apart", "", "at most 8 minutes on two processors", at_most=480)
    if counts.tiny:
        row.ours.append(timed(lambda: run(["make", "--dry-run", "test"], ROOT)))
        return [row]
    with tempfile.TemporaryDirectory(prefix="sense7-bench-") as scratch:
        clone = Path(scratch) / "clone"
        run(["git", "clone", "--quiet", str(ROOT), str(clone)], Path(scratch))
        run(["make", "judge", "browser"], clone)
        before = processor_seconds()
        row.ours.append(timed(lambda: run(["make", "test"], clone)))
        row.note = f"{(processor_seconds() - before) / 60:.1f} minutes of processor time."
    say(f"tests: {row.ours[0]:.0f} s; {row.note}")
    return [row]


ENTRIES = {"tests": tests}
