"""The tests of what changed since main, within half a minute: for `make check`, between two edits.

A changed module is tested by its own doctests, by the test files of its name or of its package
(`tests/**/test_NAME.py`, `test_NAME_*.py`), and then by those that import it; a changed test file by itself. What needs
the built book (`tests/built_book`, `tests/browser`) is left to `make test`, as is what does not fit into the time,
which is said.
"""

import ast
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
SECONDS = 20
"""After so many no further test begins; style, and the start of pytest, need the rest."""

NEED_A_BOOK = {"built_book", "browser"}
UNTIL = "SENSE7_CHECK_UNTIL"


def pytest_runtest_setup(item):
    """Skip what can't begin in time; this module is a plugin of the run that it starts."""
    if time.time() > float(os.environ[UNTIL]):
        pytest.skip(f"no time left in `make check` ({SECONDS} s): `make test` runs it")


def main() -> None:
    """Run the tests, and exit as pytest does."""
    changed = changes()
    chosen = tests_of(changed)
    if not chosen:
        print("No test belongs to what changed since main.")
        return
    print(f"{len(changed)} files changed since main; their tests: {len(chosen)} files, nearest first", flush=True)
    environment = os.environ | {UNTIL: str(time.time() + SECONDS), "PYTHONPATH": str(Path(__file__).parent)}
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-x",
        "-n",
        os.environ.get("JOBS", "auto"),
        "-p",
        Path(__file__).stem,
    ]
    done = subprocess.run([*command, *chosen], cwd=ROOT, env=environment, check=False)  # noqa: S603 - pytest
    sys.exit(0 if done.returncode == pytest.ExitCode.NO_TESTS_COLLECTED else done.returncode)


def changes() -> list[str]:
    """Files that differ from the last commit that main has as well, new ones among them."""
    bases = (git("merge-base", "HEAD", main) for main in ("main", "origin/main", "HEAD"))
    base = next(filter(None, bases), ["HEAD"])[0]
    names = git("diff", "--name-only", base) + git("ls-files", "--others", "--exclude-standard")
    return [name for name in names if (ROOT / name).is_file()]


def git(*arguments: str) -> list[str]:
    """Lines that git prints; none if it fails."""
    done = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=False)  # noqa: S603, S607
    return done.stdout.splitlines() if not done.returncode else []


def tests_of(changed: list[str]) -> list[str]:
    """Files to run, nearest first: what changed itself, then tests of its name, then those that import it."""
    tests = [path for path in sorted((ROOT / "tests").rglob("test_*.py")) if path.parent.name not in NEED_A_BOOK]
    paths = [ROOT / name for name in changed if name.endswith(".py")]
    modules = [path for path in paths if path.is_relative_to(ROOT / "src")]
    named = [
        test
        for path in modules
        for name in (path.stem, path.parent.name)  # a package of findings has one test for all of its modules
        for test in tests
        if test.stem == f"test_{name}" or (test.stem.startswith(f"test_{name}_") and name == path.stem)
    ]
    names = {module_name(path) for path in modules}
    importing = [test for test in tests if names & imported(test)]
    chosen = [*(path for path in paths if path in tests), *named, *modules, *importing]
    return [str(path.relative_to(ROOT)) for path in dict.fromkeys(chosen)]


def module_name(path: Path) -> str:
    """Name of the module in a file of the library."""
    return ".".join(path.relative_to(ROOT / "src").with_suffix("").parts).removesuffix(".__init__")


def imported(path: Path) -> set[str]:
    """Modules that a file imports by name, and what it takes from them, which may be a module."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found |= {node.module} | {f"{node.module}.{alias.name}" for alias in node.names}
    return found


if __name__ == "__main__":
    main()
