"""Run the tests of what changed since the branch main: `make check`.

    .venv/bin/python scripts/check.py --since COMMIT

A changed test is run; of a changed module its doctests, and the tests that carry its name. A change of a finding, a
notebook or a claim may break a page, so the tests of pages are run as well, on the book that is built first. Tests in
a browser are left to `make test`.
"""

import argparse
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
BRANCHES = ("main", "origin/main", "origin/HEAD")

OF_PAGES = (
    "_toc.yml",
    "book/",
    "data/claims.yml",
    "notebooks/",
    "src/sense7/findings/",
    "tests/reference/",
)
"""Beginnings of the paths of what stands on pages."""

TESTS_OF_PAGES = [
    "tests/built_book",
    "tests/findings/test_contract.py",
    "tests/test_claims.py",
    "tests/test_evidence.py",
    "tests/test_house.py",
    "tests/test_reference.py",
    "tests/test_texts.py",
    "tests/test_tutorials.py",
]


def git(*words: str) -> list[str]:
    """Lines that a git command prints; ends where git fails, with what git says."""
    done = subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=False)  # noqa: S603, S607
    if done.returncode:
        reason = done.stderr.strip() or "it gives no reason"
        sys.exit(
            f"make check: git {' '.join(words)} failed: {reason}. So it is not known what changed."
        )
    return done.stdout.splitlines()


def is_commit(name: str) -> bool:
    """Whether this repository has a commit of this name."""
    words = ["git", "rev-parse", "--quiet", "--verify", f"{name}^{{commit}}"]
    return subprocess.run(words, cwd=ROOT, capture_output=True, check=False).returncode == 0  # noqa: S603


def changed_files(since: str) -> list[str]:
    """Files that differ from a commit, or from where this branch left it, and new ones; no deleted ones."""
    if not since:
        since = next(filter(is_commit, BRANCHES), "")
        if not since:
            since = "HEAD"
            print(
                "There is no branch main here: only what is not committed is checked. Or: make check SINCE=COMMIT"
            )
    elif not is_commit(since):
        sys.exit(
            f"make check: there is no commit {since} here. Give another: make check SINCE=COMMIT"
        )
    changed = git("diff", "--name-only", "--diff-filter=d", "--merge-base", since)
    return sorted({*changed, *git("ls-files", "--others", "--exclude-standard")})


def tests_of(path: str) -> list[str]:
    """Tests that a change of this file can break, but for those of pages."""
    name = Path(path).name
    if path.startswith("tests/") and name.startswith("test_") and name.endswith(".py"):
        return [path]
    if not (path.startswith("src/") and path.endswith(".py")):
        return []
    by_name = (ROOT / "tests").rglob(f"test_{Path(path).stem}*.py")
    return [path, *(test.relative_to(ROOT).as_posix() for test in by_name)]


def main() -> int:
    """Choose the tests and run them; the exit code is that of pytest."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--since", default="", help="a commit or branch to compare with")
    options = parser.parse_args()
    changed = changed_files(options.since)
    chosen = set()
    for path in changed:
        chosen.update(test for test in tests_of(path) if not test.startswith("tests/browser/"))
    if any(path.startswith(OF_PAGES) for path in changed):
        sense7 = Path(sys.executable).with_name("sense7")
        built = subprocess.run([sense7, "build", "synthetic", "--quiet"], cwd=ROOT, check=False)  # noqa: S603
        if built.returncode:
            return built.returncode
        chosen.update(TESTS_OF_PAGES)
    if not chosen:
        print(
            f"No test belongs to what changed ({len(changed)} files): run make test for all of them."
        )
        return 0
    words = [
        sys.executable,
        "-m",
        "pytest",
        "-qx",
        "-n",
        "auto",
        "--dist",
        "loadfile",
        *sorted(chosen),
    ]
    return subprocess.run(words, cwd=ROOT, check=False).returncode  # noqa: S603


if __name__ == "__main__":
    sys.exit(main())
