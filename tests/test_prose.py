"""No statistic is ever typed by hand: prose is read, and a number in it is an error unless a rule lets it pass."""

import ast
import re
from pathlib import Path

import jupytext
import pytest
from evidence import prose as module

from sense7.book.build import build_edition
from sense7.record import read_values

ROOT = Path(__file__).resolve().parents[1]
NOTEBOOKS, PAGES, blank, prose, prose_of = module.NOTEBOOKS, module.PAGES, module.blank, module.prose, module.prose_of

ALLOWED = {
    r"\bSENSE-7\b": "the name of the data set",
    r"\barXiv[: ]\d{4}\.\d{4,5}\b": "the identifier of a paper",
    r"\bPython 3\.\d+": "a version that is needed",
    r"\bSHA-256\b": "the name of an algorithm",
    r"(?:, |\()(?:19|20)\d\d(?=[,;)])": "the year of a citation",
    r"\([0-9]\)": "the number of an anchor of a scale, as in very poor (1)",
    r"\b(?:from|levels?|scale|number) [0-9](?: [a-z ]{1,20})?(?: to | and |-)[0-9]\b|, [0-9] to [0-9]\b": "a scale",
    r"\bnumbers from -?\d+ to \d+\b": "the ends of an answer scale",
    r'"[0-9] - [A-Z][a-z]+"': "how a cell may be written",
}
"""What may stand in prose although it is a number: pattern -> why."""

WORD = (
    "zero|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen|seventeen|"
    "eighteen|nineteen|twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety"
)
LARGE = (
    "eleven|twelve|thirteen|fourteen|fifteen|sixteen|seventeen|eighteen|nineteen|twenty|thirty|forty|fifty|sixty|"
    "seventy|eighty|ninety|hundreds?|thousands?|millions?|dozens?"
)
STATISTIC = re.compile(
    rf"""
    \d*[.,]\d+                                       # 0.95, .95, 1,920
    | [0-9]+ \s* (?:%|per\s?cent\b|percentage)       # 5 %
    | \b(?:{WORD}|{LARGE}) [\s-]+ (?:per\s?cent|percentage)\b
    | \b[^\W\d_]\w{{0,3}} \s* [=<>≤≥≈~] \s* -?[\d.]    # n = 5, p < .05, d>1
    | [±≈~] \s* [\d.]
    | \b[0-9]{{2,}}\b                                # 12
    | \b[0-9]+ \s+ (?:out\s+)?of\b                   # 3 of
    | \b(?:{LARGE})\b
    | \b(?:half|(?:a|one|two|three|four)[\s-]+(?:thirds?|quarters?|fifths?|tenths?)) \s+ (?:of|as)\b
    | \b(?:about|around|roughly|nearly|almost|over|under|up\ to|at\ least|at\ most|(?:more|less|fewer)\ than|only|some)
      \s+ (?:(?:a|one|two|three|four|the)[\s-]+)? (?:half|thirds?|quarters?|fifths?|sixths?|tenths?)\b (?!\s+an?\b)
    | \b(?:{WORD}|[0-9]+) \s+ (?:in|out\ of|of\ every) \s+ (?!one\b)(?:{WORD}|[0-9]+)\b
    | \b(?:vast\s+)?(?:majority|minority) \s+ of\b
    | \b(?:most|few) \s+ of \s+ (?:the\s+|all\s+)?(?:participants|people|users|conversations|turns|ratings)\b
    | \b(?:{WORD}|[0-9]+) \s+ times \s+ (?:as|more|less|larger|higher|lower|smaller)\b
    | \b(?:twice|thrice|doubled?|tripled?) \s+ (?:as|of|the)\b
    | \b[0-9]+ \s+ (?:participants|people|users|conversations|turns|messages|ratings|conditions|models|points)\b
    """,
    re.VERBOSE | re.IGNORECASE,
)


def typed_numbers(markdown):
    """Numbers that look like statistics: line and text of each."""
    text = prose(markdown)
    for pattern in ALLOWED:
        text = re.sub(pattern, blank, text)
    return [(text.count("\n", 0, match.start()) + 1, " ".join(match[0].split())) for match in STATISTIC.finditer(text)]


# The checker itself

TYPED = [
    "Alpha was 0.961 per turn.",
    "It was .96.",
    "The interval runs from 0.955 to 0.967.",
    "In 38.1 % of turns it was rated.",
    "In 5% of turns.",
    "In 5 percent of turns.",
    "Five percent of turns.",
    "In twenty-five per cent of the turns.",
    "There were 109 participants.",
    "There were 9 participants.",
    "We saw 1,920 conversations.",
    "Ratings (n = 12) were used.",
    "Ratings (N=5) were used.",
    "A difference (p < .05) was found.",
    "It differs (d = 1).",
    "About ~3 were.",
    "3 of the dimensions applied.",
    "3 out of four.",
    "Twelve participants said so.",
    "Hundreds of turns.",
    "Half of the turns were rated.",
    "Two thirds of all turns.",
    "It was rated twice as often.",
    "| Affective | 4.02 |",
    "# Alpha is 0.9",
    ":::{admonition} Note\nAlpha is 0.9.\n:::",
    "- **Alpha**: 0.9",
    "*12* turns",
    "See [the 12 turns](x.md).",
    "Ratings 2019 were made.",
    "over 2000 turns",
    "levels 12 to 50",
    "About a third said so.",
    "Nearly half changed their minds.",
    "Roughly two-thirds were rated.",
    "One in four turns.",
    "Three out of ten said so.",
    "The majority of turns was good.",
    "Most of the participants agreed.",
    "It is three times as likely.",
    "Alpha was `0.961`.",
    "In `38.1%` of turns.",
    "Alpha was {math}`0.961`.",
    "```{note}\nAlpha was 0.961.\n```",
    "```{admonition} Alpha was 0.961\nSo.\n```",
    ":::{admonition} Alpha was 0.961\nSo.\n:::",
    ":::{table} Alpha was 0.961\n:::",
    '[alpha](page.md "it was 0.961")',
]
FINE = [
    "SENSE-7 is a taxonomy of seven observable dimensions.",
    "Four large language models.",
    "See arXiv 2509.16437.",
    "[arXiv 2509.16437](https://arxiv.org/abs/2509.16437)",
    "(Suh and others, 2025)",
    "Python 3.11 or later.",
    "On the scale from very poor (1) to very good (5).",
    "A number from 1 to 5.",
    "levels 1 very poor to 5 very good",
    "{value}`alpha_turn` and {published}`alpha_post` of {edition}`label`",
    "`draws = 2000` and ``n = `12` ``",
    "```bash\nmake book DATA=x12.xlsx -p draws=2000\n```",
    "```{code-cell} ipython3\nseed = 12\n```",
    "---\ntitle: 12 of 0.5\n---\n\nText.",
    "![Figure](figure-12.png) and [text](page.md#n-12)",
    "<https://example.org/12.5>",
    "<!-- 0.95 -->",
    "(target-12)=\n# Title",
    "::::{grid-item-card} A card\n:link: ../notebooks/12-disrupted\n:link-type: doc\n::::",
    "Grade A is primary.",
    "1. First\n2. Second",
    'a word, or both ("4 - Good")',
    "more than one turn",
    "Less than half a minute.",
    "It is rounded from `4.5` to `4`.",
    "The label of the majority.",
    "```{glossary}\nturn\n: A message.\n```",
]


@pytest.mark.parametrize("sentence", TYPED)
def test_the_checker_finds_a_typed_number(sentence):
    assert typed_numbers(sentence)


@pytest.mark.parametrize("sentence", FINE)
def test_the_checker_lets_pass_what_is_no_statistic(sentence):
    assert typed_numbers(sentence) == []


def test_the_checker_tells_the_line():
    text = "---\na: 1\n---\n\nFine.\n\n```\n0.5\n```\n\nAlpha is 0.961,\nof `x`\n12 turns."
    assert typed_numbers(text) == [(11, "0.961"), (13, "12")]


# The prose


@pytest.mark.parametrize("path", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_no_statistic_is_typed_into_prose(path):
    assert typed_numbers(prose_of(path)) == [], "record the value and weave it in: {value}`key`"


@pytest.mark.parametrize("path", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_headings_hold_no_woven_value(path):
    """Headings stand in the navigation of every page, and a value that changes makes its own page again only."""
    assert re.findall(r"^#+ .*\{\w+\}`.*$", prose_of(path), re.MULTILINE) == []


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_no_statistic_is_typed_into_captions(path):
    """Texts in code end on the page as well: captions, labels, reasons."""
    for cell in jupytext.read(path, fmt="md:myst").cells:
        if cell.cell_type == "code":
            texts = [node.value for node in ast.walk(ast.parse(cell.source)) if isinstance(node, ast.Constant)]
            found = [text for text in texts if isinstance(text, str) and " " in text and typed_numbers(text)]
            assert found == [], "compute it: f'n = {len(frame):,}'"


@pytest.mark.parametrize("pattern", ALLOWED)
def test_every_exception_is_still_needed(pattern):
    texts = "\n".join(prose(prose_of(path)) for path in PAGES)
    code = "\n".join(path.read_text("utf-8") for path in NOTEBOOKS)
    assert re.search(pattern, texts + code), "nothing needs it any more: remove it"


def test_every_value_in_prose_is_recorded_by_a_notebook(monkeypatch):
    for name in ("SENSE7_ROOT", "SENSE7_REPOSITORY", "GITHUB_REPOSITORY"):
        monkeypatch.delenv(name, raising=False)
    recorded = read_values(build_edition("synthetic").folder / "results")
    used = {}
    for path in PAGES:
        for key in re.findall(r"(?<!`` )\{value\}`([^`]+)`", path.read_text("utf-8")):
            used.setdefault(key, path.name)
    assert used
    parts = tuple(f".{part}" for part in ("estimate", "interval", "n", "unit", "method"))
    names = {key: key.rpartition(".")[0] if key not in recorded and key.endswith(parts) else key for key in used}
    assert {key: used[key] for key, name in names.items() if name not in recorded} == {}
