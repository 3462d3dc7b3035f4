"""Run the tests of what changed since the branch main: `make check`.

    .venv/bin/python scripts/check.py --since COMMIT

A changed test is run; of a changed module its doctests, and the tests that import it or an importer of it. A change of
a finding, a notebook, a claim or a directive may break a page, so the tests of pages are run as well, on the book that
is built first. Tests in a browser are left to `make test`.
"""

import argparse
import ast
import subprocess
import sys
from pathlib import Path

import sense7

ROOT = Path(__file__).resolve().parents[1]
BRANCHES = ("main", "origin/main", "origin/HEAD")

OF_PAGES = (
    "_toc.yml",
    "book/",
    "data/claims.yml",
    "notebooks/",
    "src/sense7/book/extensions/",
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


IMPORTS = 2
"""A test this many imports away from what changed is run; one further away mostly tests something else."""


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


def importers() -> dict[str, set[str]]:
    """File -> files of src and tests that import it; of ``import sense7 as s7`` each name that is used."""
    files = {}
    for folder in ("src", "tests"):
        for file in (ROOT / folder).rglob("*.py"):
            module = ".".join(file.relative_to(ROOT / folder).with_suffix("").parts)
            files[module.removesuffix(".__init__")] = file.relative_to(ROOT).as_posix()
    found = {path: set() for path in files.values()}
    for path in files.values():
        tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
        for name in imported_names(tree):
            if name in files:
                found[files[name]].add(path)
    return found


def imported_names(tree: ast.Module) -> set[str]:
    """Every name that a module may import from, also by a text, as Sphinx is given its extensions."""
    names = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            names.add(node.module)
            names.update(f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Attribute) and ast.unparse(node.value) == "s7":
            module = sense7.NAMES.get(node.attr, f"findings.{node.attr}")
            names.add(f"sense7.{module}")
        elif isinstance(node, ast.Constant) and str(node.value).startswith("sense7."):
            names.add(node.value)
    return names


def tests_of(path: str, importers_of: dict[str, set[str]]) -> set[str]:
    """Its doctests, and the tests that import a file or an importer of it; where none does, the next nearest."""
    near = {path}
    newest = {path}
    steps = 0
    while newest and (steps < IMPORTS or not any(map(is_test, near))):
        newest = {importer for file in newest for importer in importers_of.get(file, ())} - near
        near |= newest
        steps += 1
    tests = set(filter(is_test, near))
    if path in importers_of and path.startswith("src/"):
        tests.add(path)
    return tests


def is_test(path: str) -> bool:
    """Whether pytest collects a file as tests."""
    return Path(path).name.startswith("test_") and path.endswith(".py")


def main() -> int:
    """Choose the tests and run them; the exit code is that of pytest."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--since", default="", help="a commit or branch to compare with")
    options = parser.parse_args()
    changed = changed_files(options.since)
    chosen = set()
    importers_of = importers()
    for path in changed:
        chosen |= tests_of(path, importers_of)
    chosen = {test for test in chosen if not test.startswith("tests/browser/")}
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
        "-q",
        "-n",
        "auto",
        "--dist",
        "loadfile",
        *sorted(chosen),
    ]
    return subprocess.run(words, cwd=ROOT, check=False).returncode  # noqa: S603


if __name__ == "__main__":
    sys.exit(main())
