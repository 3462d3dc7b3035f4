"""What ruff and codespell can't check: words and typed numbers of the pages, and what they say of the code."""

import ast
import pkgutil
import re
from functools import cache
from pathlib import Path

import jupytext
import pytest
from markdown_it.renderer import RendererHTML
from myst_parser.config.main import MdParserConfig
from myst_parser.parsers.mdit import create_md_parser

ROOT = Path(__file__).resolve().parents[1]
NOTEBOOKS = sorted((ROOT / "notebooks").glob("[0-9]*.md"))
PAGES = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    *sorted((ROOT / "book").glob("*.md")),
    *NOTEBOOKS,
]
MARKDOWN = create_md_parser(
    MdParserConfig(enable_extensions={"colon_fence", "deflist"}), RendererHTML
)
MARK = "\N{REFERENCE MARK}"
"""Stands for code, and for roles whose text comes from elsewhere."""


NO_PROSE = {
    *("code-cell", "code-block", "ledger", "modules", "functions", "raw", "bibliography"),
    *("picture", "keys", "claim-card", "ledger-picture", "toctree"),
}
"""Directives whose content is no prose."""

ELSEWHERE = {
    *("value", "published", "edition", "term", "ref", "doc", "cite:t", "cite:p"),
    *("py:class", "py:exc"),
}
"""Roles whose text comes from elsewhere."""

ALLOWED = r"""\bSENSE-7\b|\barXiv[: ]\d{4}\.\d{4,5}\b|\bPython 3\.\d+|\bSHA-256\b|\([0-9]\)
|\b(?:from|levels?|scale|number) [0-9](?: [a-z ]{1,20})?(?: to | and |-)[0-9]\b|, [0-9] to [0-9]\b
|\bnumbers from -?\d+ to \d+\b
|\blevel of 5 %|\bpower of 80 %|"[0-9] - [A-Z][a-z]+\"""".replace("\n", "")
"""Numbers that may stand in prose: names, papers, versions, anchors and ends of scales, how a cell may be written."""

SMALL = "zero|one|two|three|four|five|six|seven|eight|nine|ten"
LARGE = (
    "eleven|twelve|thirteen|fourteen|fifteen|sixteen|seventeen|eighteen|nineteen|twenty|thirty|forty|fifty|sixty|"
    "seventy|eighty|ninety|hundreds?|thousands?|millions?|dozens?"
)
STATISTIC = re.compile(
    rf"""
    \d*[.,]\d+                                       # 0.95, .95, 1,920
    | [0-9]+ \s* (?:%|per\s?cent\b|percentage)       # 5 %
    | \b(?:{SMALL}|{LARGE}) [\s-]+ (?:per\s?cent|percentage)\b
    | \b[^\W\d_]\w{{0,3}} \s* [=<>≤≥≈~] \s* -?[\d.]    # n = 5, p < .05, d>1
    | [±≈~] \s* [\d.]
    | \b[0-9]{{2,}}\b                                # 12
    | \b[0-9]+ \s+ (?:out\s+)?of\b                   # 3 of
    | \b(?:{LARGE})\b
    | \b(?:half|(?:a|one|two|three|four)[\s-]+(?:thirds?|quarters?|fifths?|tenths?)) \s+ (?:of|as)\b
    | \b(?:about|around|roughly|nearly|almost|over|under|up\ to|at\ least|at\ most|(?:more|less|fewer)\ than|only|some)
      \s+ (?:(?:a|one|two|three|four|the)[\s-]+)? (?:half|thirds?|quarters?|fifths?|sixths?|tenths?)\b (?!\s+an?\b)
    | \b(?:{SMALL}|{LARGE}|[0-9]+) \s+ (?:in|out\ of|of\ every) \s+ (?!one\b)(?:{SMALL}|{LARGE}|[0-9]+)\b
    | \b(?:vast\s+)?(?:majority|minority) \s+ of\b
    | \b(?:most|few) \s+ of \s+ (?:the\s+|all\s+)?(?:participants|people|users|conversations|turns|ratings)\b
    | \b(?:{SMALL}|{LARGE}|[0-9]+) \s+ times \s+ (?:as|more|less|larger|higher|lower|smaller)\b
    | \b(?:twice|thrice|doubled?|tripled?) \s+ (?:as|of|the)\b
    | \b[0-9]+ \s+ (?:participants|people|users|conversations|turns|messages|ratings|conditions|models|points)\b
    """,
    re.VERBOSE | re.IGNORECASE,
)


def passages(markdown):
    """Text, and whether it is a heading, of each paragraph, item, cell and title of a page or a text cell."""
    heading = False
    for token in MARKDOWN.parse(markdown):
        heading = token.type == "heading_open" or (heading and token.type == "inline")
        if token.type in {"fence", "colon_fence"} and (
            directive := re.match(r"\{([\w-]+)\}\s*(.*)", token.info)
        ):
            if directive[1] != "picture":  # its argument is an address
                yield words_of(MARKDOWN.parseInline(directive[2])), False
            if directive[1] not in NO_PROSE:
                yield from passages(re.sub(r"^:[\w-]+:.*$", "", token.content, flags=re.MULTILINE))
        elif token.type == "inline":
            yield words_of([token]), heading


def words_of(tokens):
    """Words as they are read, with `MARK` for what is no prose."""
    words, address = [], False
    for token in tokens:
        if token.type in {"link_open", "link_close"}:
            address = token.type == "link_open" and token.info == "auto"
        if address:
            continue
        if token.children:
            words.append(words_of(token.children))
        elif token.type == "myst_role":
            words.append(MARK if token.meta["name"] in ELSEWHERE else token.content)
        elif token.type == "code_inline":
            # A number as code is typed as well, but for levels whose rounding is explained.
            number = re.fullmatch(r"[\d.,\s]*\d[\d.,]*\s*%?", token.content)
            is_typed = number and not re.fullmatch(r"[1-5](\.50*1?)?", token.content)
            words.append(token.content if is_typed else MARK)
        elif token.type == "link_open" and token.attrs.get("title"):
            words.append(f"{token.attrs['title']} ")
        elif token.type in {"softbreak", "hardbreak"}:
            words.append(" ")
        elif token.type == "text":
            words.append(token.content)
    return "".join(words)


def typed_statistics(text):
    """Numbers in prose that look like statistics."""
    return [" ".join(match[0].split()) for match in STATISTIC.finditer(re.sub(ALLOWED, MARK, text))]


def long_sentences(text):
    """Sentences of more than 40 words."""
    sentences = re.split(rf"(?<=[.!?])[\"')]*\s+(?=[\"'(]*[A-Z{MARK}])", text)
    return [one for one in sentences if len(re.findall(r"[A-Za-z][\w'-]*|\d[\d.,]*", one)) > 40]


@cache
def cells_of(path):
    return jupytext.read(path, fmt="md:myst").cells if path in NOTEBOOKS else []


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_no_statistic_is_typed_and_no_sentence_is_too_long(path):
    """Nor are texts of a notebook's code, which end on the page as well; by-hand cells compute what they say."""
    texts = [cell.source for cell in cells_of(path) if cell.cell_type == "markdown"] or [
        path.read_text("utf-8")
    ]
    wrong = []
    for text in texts:
        for words, heading in passages(text):
            wrong += [(words, one) for one in (*typed_statistics(words), *long_sentences(words))]
            if heading and MARK in words and re.search(r"^#+ .*\{\w+\}`", text, re.MULTILINE):
                wrong.append(
                    (words, "a value in a heading would change the navigation of every page")
                )
    for cell in cells_of(path):
        if cell.cell_type == "code" and "by-hand" not in cell.metadata.get("tags", []):
            for node in ast.walk(ast.parse(cell.source)):
                text = getattr(node, "value", None)
                if isinstance(node, ast.Constant) and isinstance(text, str) and " " in text:
                    wrong += [(text, one) for one in typed_statistics(text)]
    assert wrong == [], "a recorded number is written as {value}`KEY`"


def test_every_promise_names_tests_that_are_there():
    text = (ROOT / "book" / "promises.md").read_text("utf-8")
    for promise in re.findall(r"^- .*", text, re.MULTILINE):
        files = re.findall(r"`([\w/]+\.py)`", promise)
        assert files, promise
        assert all((ROOT / "tests" / file).exists() for file in files), promise


CHOICES = [
    ("how-to-read", "fewer than five participants", "statistics.bootstrap:FEWEST_PARTICIPANTS", 5),
    ("03-reliability", "at least three dimensions", "statistics.factor:ITEMS_FOR_A_FACTOR", 3),
    ("03-reliability", "its fit four", "findings.reliability:ITEMS_FOR_A_TEST", 4),
    ("08-disrupted", "to turns two to five after it", "findings.disrupted:LASTING", (2, 3, 4, 5)),
    ("08-disrupted", "From the three turns before", "findings.disrupted:BEFORE", (-3, -2, -1)),
    ("09-poor-turn", "overall rating is poor or very poor", "findings.measures:POOR", 2),
    ("11-words", "at least three participants use it", "findings.words:FEWEST_PEOPLE", 3),
    ("11-words", "good ones (good or very good)", "findings.words:GOOD", 4),
    ("13-baselines", "at least five", "judge.scores.baselines:FEWEST_PARTICIPANTS", 5),
]


@pytest.mark.parametrize(("page", "words", "place", "said"), CHOICES)
def test_what_a_page_says_of_a_choice_is_what_the_code_chooses(page, words, place, said):
    (path,) = (path for path in PAGES if path.stem == page)
    assert words in " ".join(path.read_text("utf-8").split())
    assert pkgutil.resolve_name(f"sense7.{place}") == said
