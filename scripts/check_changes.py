"""The tests of what changed since main, within half a minute: for `make check`, between two edits.

A changed module is tested by its own doctests and by the files `tests/**/test_NAME*.py` of its name or its package's; a
changed test file by itself. What needs the built book is left to `make test`, as is what does not fit into the time,
which is said.
"""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
SECONDS = 20
"""After so many no further test begins; style, and the start of pytest, need the rest."""


def pytest_runtest_setup(item):
    """Skip what can't begin in time; this module is a plugin of the run that it starts."""
    if time.time() > float(os.environ["SENSE7_CHECK_UNTIL"]):
        pytest.skip(f"no time left in `make check` ({SECONDS} s): `make test` runs it")


def git(*arguments: str) -> list[str]:
    """Lines that git prints; none if it fails."""
    done = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=False)  # noqa: S603, S607
    return done.stdout.splitlines() if not done.returncode else []


def main() -> None:
    """Run the tests, and exit as pytest does."""
    base = (git("merge-base", "HEAD", "main") or git("merge-base", "HEAD", "origin/main") or ["HEAD"])[0]
    names = git("diff", "--name-only", "--diff-filter=d", base) + git("ls-files", "--others", "--exclude-standard")
    changed = [Path(name) for name in names if name.endswith(".py")]
    modules = [path for path in changed if path.parts[0] == "src"]
    patterns = [f"test_{path.stem}*.py" for path in modules] + [f"test_{path.parent.name}.py" for path in modules]
    tests = [path for path in changed if path.name.startswith("test_")]
    tests += [path.relative_to(ROOT) for pattern in patterns for path in (ROOT / "tests").rglob(pattern)]
    chosen = [path for path in dict.fromkeys([*tests, *modules]) if path.parts[1] not in ("built_book", "browser")]
    if not chosen:
        sys.exit(print("No test belongs to what changed since main."))
    print(f"{len(changed)} modules changed since main; their tests: {len(chosen)} files", flush=True)
    environment = os.environ | {
        "SENSE7_CHECK_UNTIL": str(time.time() + SECONDS),
        "PYTHONPATH": str(Path(__file__).parent),
    }
    command = [sys.executable, "-m", "pytest", "-qx", "-n", os.environ.get("JOBS", "auto"), "-p", "check_changes"]
    done = subprocess.run([*command, *map(str, chosen)], cwd=ROOT, env=environment, check=False)  # noqa: S603 - pytest
    sys.exit(0 if done.returncode == pytest.ExitCode.NO_TESTS_COLLECTED else done.returncode)


if __name__ == "__main__":
    main()
