"""Plain scientific English: words of a dialect of our own are found in no page, docstring, comment or message."""

import doctest
import importlib.util
import re
import sys
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


# Sentences that can be read in one breath


@pytest.fixture(scope="module")
def reading_level():
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(ROOT / "evidence")
        spec = importlib.util.spec_from_file_location("reading_level", ROOT / "evidence" / "reading_level.py")
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        yield module
        del sys.modules["prose"]


def test_syllables_grades_and_sentences_are_those_of_the_examples(reading_level):
    for module in (reading_level, sys.modules["prose"]):
        failed, tried = doctest.testmod(module)
        assert tried
        assert not failed


def test_a_sentence_is_told_from_what_is_around_it(reading_level):
    text = """\
---
title: None. Of it.
---

# A heading. Of two

One sentence with {term}`turns <turn>` and `code. Code`.
Another, (of version 1.2) that [links](page.md).

- An item;
- another item

```python
no. Code.
```

| Head | Of a table |
|---|---|
| A cell. With two | and `one_more` |
"""
    found = [(one.line, one.text) for one in reading_level.sentences(text)]
    assert [pair for pair in found if any(map(str.isalpha, pair[1]))] == [
        (7, "One sentence with ※ and ※."),
        (7, "Another, (of version 1.2) that links."),
        (10, "An item;"),
        (11, "another item"),
        (17, "Head"),
        (17, "Of a table"),
        (19, "A cell."),
        (19, "With two"),
        (19, "and ※"),
    ]


LONGEST = 40
"""Words of a sentence."""

READ_ALOUD = ["README.md", "CONTRIBUTING.md"] + [
    f"book/{name}.md"
    for name in (
        *("how-to-read", "ledger", "format", "synthetic", "reproduce", "own-workbook", "own-judge"),
        *("collect", "library", "promises", "cite"),
    )
]


@pytest.mark.parametrize("name", READ_ALOUD)
def test_no_sentence_is_out_of_breath(name, reading_level):
    found = reading_level.read(ROOT / name)
    assert found
    assert [one for one in found if reading_level.length(one) > LONGEST] == [], "split it, or make it a list"


def test_a_sentence_out_of_breath_would_be_found(reading_level):
    (one,) = reading_level.sentences(f"It is `so`, {'and so on, ' * LONGEST}and so forth.")
    assert reading_level.length(one) > LONGEST
