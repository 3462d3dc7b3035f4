"""Reading level of every page: Flesch-Kincaid grade, longest sentence, and the hardest sentences.

    python evidence/reading_level.py                                    # every page of the book, the hardest first
    python evidence/reading_level.py book/format.md --sentences 3       # one page, and its three hardest sentences

The grade is 0.39 words per sentence + 11.8 syllables per word - 15.59: the years of school after which most people
follow a text. J. P. Kincaid, R. P. Fishburne, R. L. Rogers and B. S. Chissom (1975), Derivation of new readability
formulas for Navy enlisted personnel, Research Branch Report 8-75, Naval Technical Training Command.

Syllables are counted from the spelling. Code, values and terms of the glossary count as one word of one syllable. The
grade measures length only, so it serves to compare pages of this book and to find sentences that are too long.
"""

import argparse
import re
import sys
from collections.abc import Iterable
from pathlib import Path

from prose import MARK, PAGES, ROOT, Sentence, prose_of, sentences

FEWEST = 4
"""Words of a sentence; what is shorter is a label of a list or the cell of a table."""

FEWEST_OF_HARDEST = 12
"""Words of a sentence that may be listed as hard: a few long words alone give any grade."""

_WORD = re.compile(rf"[A-Za-z]+(?:['\N{{RIGHT SINGLE QUOTATION MARK}}-][A-Za-z]+)*|{MARK}|\d[\d.,]*")
_SILENT = re.compile(
    r"(?<=[^aeiouyl])e$|(?<=[aeiouy]l)e$|(?<=[^aeioutdy])ed$|(?<=[^aeiouysxzgc])es$|e(?=(?:ly|ment|ful)s?$)"
)
_TWO = re.compile(r"i(?:a|o(?!n)|u)|eo|ua|ism$|ying$|rea(?=l|t[ei])|^co(?=[aeo])")


def syllables(word: str) -> int:
    """Syllables of an English word by its spelling: groups of vowels, without a silent e.

    Examples
    --------
    >>> [syllables(word) for word in ("rated", "noise", "conversation", "reliability", "table")]
    [2, 1, 4, 6, 2]
    """
    return sum(
        max(1, len(re.findall(r"[aeiouy]+", _SILENT.sub("", part))) + len(_TWO.findall(part)))
        for part in re.findall(r"[a-z]+", word.casefold().replace("'", "")) or [""]
    )


def grade(texts: Iterable[str]) -> float:
    """Flesch-Kincaid grade of sentences; NaN of none.

    Examples
    --------
    >>> round(grade(["The cat sat on the mat.", "It was warm."]), 2)
    -2.03
    """
    words = [_WORD.findall(text) for text in texts]
    count = sum(map(len, words))
    if not count:
        return float("nan")
    return 0.39 * count / len(words) + 11.8 * sum(syllables(word) for one in words for word in one) / count - 15.59


def length(sentence: Sentence) -> int:
    """Words, without what stands in the place of code."""
    return len(_WORD.findall(sentence.text.replace(MARK, "")))


def read(path: Path) -> list[Sentence]:
    """Sentences of a page that are long enough to have a grade."""
    return [one for one in sentences(prose_of(path)) if length(one) >= FEWEST]


def main() -> int:
    """Print a table of the pages, then the hardest sentences."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("pages", nargs="*", type=Path, help="Markdown files; all pages if none is given")
    parser.add_argument("--sentences", type=int, default=10, help="how many of the hardest sentences (default: 10)")
    options = parser.parse_args()
    if missing := [str(path) for path in options.pages if not path.is_file()]:
        print(f"There is no file {', '.join(missing)}. Give pages of book/ or notebooks/.", file=sys.stderr)
        return 2
    pages = {path: read(path) for path in [one.resolve() for one in options.pages] or PAGES}
    print(f"{'page':36}{'grade':>7}{'words':>8}{'words per sentence':>20}{'longest':>9}")
    for path, found in sorted(pages.items(), key=lambda item: -grade(one.text for one in item[1])):
        lengths = [length(one) for one in found] or [0]
        mean = sum(lengths) / len(lengths)
        name = str(path.relative_to(ROOT)) if path.is_relative_to(ROOT) else str(path)
        print(f"{name:36}{grade(one.text for one in found):7.1f}{sum(lengths):8}{mean:20.1f}{max(lengths):9}")
    hardest = sorted(
        ((path, one) for path in pages for one in pages[path] if length(one) >= FEWEST_OF_HARDEST),
        key=lambda item: -grade([item[1].text]),
    )
    for path, one in hardest[: options.sentences]:
        print(f"\n{path.name}, paragraph at line {one.line} of its prose, grade {grade([one.text]):.0f}:\n  {one.text}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
