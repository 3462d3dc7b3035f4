"""Plain scientific English: words of a dialect of our own are found in no page, docstring, comment or message."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
FOLDERS = {"src": "*.py", "book": "*.md", "notebooks": "*.md", "evidence": "*.py", "scripts": "*.py", "tests": "*.py"}
FILES = [path for folder, pattern in FOLDERS.items() for path in sorted((ROOT / folder).rglob(pattern))]
FILES += [ROOT / name for name in ("README.md", "CONTRIBUTING.md", "data/claims.yml")]

INSTEAD = {
    r"nought": "zero",
    r"the mend\b|\bmended": "how to fix it; fixed",
    r"anew": "again",
    r"made ready": "set up; prepared",
    r"at hand": "available",
    r"held (?:against|beside)": "compared with",
    r"told apart": "distinguished",
    r"hangs? (?:together|on)": "are internally consistent; depends on",
    r"leaning": "interaction; skewed",
    r"heaped": "cumulative",
    r"sign by sign": "character by character",
    r"for once": "for this run",
    r"who(?:so)?ever": "name the person or part",
    r"whatever": "regardless of; any",
    r"as it were": "nothing",
    r"a (?:row|column|line|table|panel|judge|person|day|dimension) each": "one row for each",
}
"""Words -> what to write."""

DIALECT = re.compile(rf"\b(?:{'|'.join(INSTEAD)})\b", re.IGNORECASE)


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_no_word_of_a_dialect_is_left(path):
    if path == Path(__file__).resolve():
        pytest.skip("the list itself")
    lines = path.read_text("utf-8").splitlines()
    assert [f"{number}: {line.strip()}" for number, line in enumerate(lines, 1) if DIALECT.search(line)] == []
