"""Check what ruff and codespell can't: words of the pages, typed numbers, and files that repeat each other.

python scripts/check_texts.py     # prints file, line and what is wrong; exit code 1 if there is anything
"""

import ast
import json
import re
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import jupytext
import yaml
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token
from myst_parser.config.main import MdParserConfig
from myst_parser.parsers.mdit import create_md_parser

from sense7 import __version__
from sense7.book.notebooks import load_notebook

ROOT = Path(__file__).resolve().parents[1]
NOTEBOOKS = sorted((ROOT / "notebooks").glob("[0-9]*.md"))
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "book").glob("*.md")), *NOTEBOOKS]

DIALECT = {
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
"""Words of a dialect of our own -> plain scientific English."""

LONGEST_SENTENCE = 40
"""Words."""

MARK = "\N{REFERENCE MARK}"
"""Stands for code, and for roles whose text comes from elsewhere."""

NO_PROSE = {
    *("code-cell", "code-block", "ledger", "modules", "functions", "explorer", "bibliography", "picture", "keys"),
    *(
        "claims-power",
        "distances",
        "claim-card",
        "ledger-picture",
        "reading-paths",
        "specifications",
        "truths",
        "toctree",
    ),
}
"""Directives whose content is no prose."""

ELSEWHERE = {
    *("value", "published", "edition", "term", "ref", "doc", "cite:t", "cite:p", "py:class", "py:exc", "judge_logs"),
    "setting",
}
"""Roles whose text comes from elsewhere."""

ALLOWED = {
    r"\bSENSE-7\b": "the name of the data set",
    r"\barXiv[: ]\d{4}\.\d{4,5}\b": "the identifier of a paper",
    r"\bPython 3\.\d+": "a version that is needed",
    r"\bSHA-256\b": "the name of an algorithm",
    r"\([0-9]\)": "the number of an anchor of a scale, as in very poor (1)",
    r"\b(?:from|levels?|scale|number) [0-9](?: [a-z ]{1,20})?(?: to | and |-)[0-9]\b|, [0-9] to [0-9]\b": "a scale",
    r"\bnumbers from -?\d+ to \d+\b": "the ends of an answer scale",
    r'"[0-9] - [A-Z][a-z]+"': "how a cell may be written",
}
"""Numbers that may stand in prose -> why."""

_SMALL = "zero|one|two|three|four|five|six|seven|eight|nine|ten"
_LARGE = (
    "eleven|twelve|thirteen|fourteen|fifteen|sixteen|seventeen|eighteen|nineteen|twenty|thirty|forty|fifty|sixty|"
    "seventy|eighty|ninety|hundreds?|thousands?|millions?|dozens?"
)
STATISTIC = re.compile(
    rf"""
    \d*[.,]\d+                                       # 0.95, .95, 1,920
    | [0-9]+ \s* (?:%|per\s?cent\b|percentage)       # 5 %
    | \b(?:{_SMALL}|{_LARGE}) [\s-]+ (?:per\s?cent|percentage)\b
    | \b[^\W\d_]\w{{0,3}} \s* [=<>≤≥≈~] \s* -?[\d.]    # n = 5, p < .05, d>1
    | [±≈~] \s* [\d.]
    | \b[0-9]{{2,}}\b                                # 12
    | \b[0-9]+ \s+ (?:out\s+)?of\b                   # 3 of
    | \b(?:{_LARGE})\b
    | \b(?:half|(?:a|one|two|three|four)[\s-]+(?:thirds?|quarters?|fifths?|tenths?)) \s+ (?:of|as)\b
    | \b(?:about|around|roughly|nearly|almost|over|under|up\ to|at\ least|at\ most|(?:more|less|fewer)\ than|only|some)
      \s+ (?:(?:a|one|two|three|four|the)[\s-]+)? (?:half|thirds?|quarters?|fifths?|sixths?|tenths?)\b (?!\s+an?\b)
    | \b(?:{_SMALL}|{_LARGE}|[0-9]+) \s+ (?:in|out\ of|of\ every) \s+ (?!one\b)(?:{_SMALL}|{_LARGE}|[0-9]+)\b
    | \b(?:vast\s+)?(?:majority|minority) \s+ of\b
    | \b(?:most|few) \s+ of \s+ (?:the\s+|all\s+)?(?:participants|people|users|conversations|turns|ratings)\b
    | \b(?:{_SMALL}|{_LARGE}|[0-9]+) \s+ times \s+ (?:as|more|less|larger|higher|lower|smaller)\b
    | \b(?:twice|thrice|doubled?|tripled?) \s+ (?:as|of|the)\b
    | \b[0-9]+ \s+ (?:participants|people|users|conversations|turns|messages|ratings|conditions|models|points)\b
    """,
    re.VERBOSE | re.IGNORECASE,
)

_MARKDOWN = create_md_parser(MdParserConfig(enable_extensions={"colon_fence", "deflist"}), RendererHTML)
_NUMBER = re.compile(r"[\d.,\s]*\d[\d.,]*\s*%?")
_ROUNDED_LEVEL = re.compile(r"[1-5](?:\.50*1?)?")  # levels whose rounding is explained may stand in code


def passages(markdown: str, first: int = 1) -> Iterator[tuple[int, str, bool]]:
    """Line, text and whether it is a heading, of each paragraph, item, cell and title of a page or a text cell."""
    heading = False
    for token in _MARKDOWN.parse(markdown):
        line = first + (token.map or [0])[0]
        heading = token.type == "heading_open" or (heading and token.type == "inline")
        if token.type in {"fence", "colon_fence"} and (directive := re.match(r"\{([\w-]+)\}\s*(.*)", token.info)):
            if directive[1] != "picture":  # its argument is an address
                yield line, _plain(_MARKDOWN.parseInline(directive[2])), False
            if directive[1] not in NO_PROSE:
                yield from passages(re.sub(r"^:[\w-]+:.*$", "", token.content, flags=re.MULTILINE), line + 1)
        elif token.type == "inline":
            yield line, _plain([token]), heading


def _plain(tokens: list[Token]) -> str:
    words, address = [], False
    for token in tokens:
        if token.type in {"link_open", "link_close"}:
            address = token.type == "link_open" and token.info == "auto"
        if address:
            continue
        if token.children:
            words.append(_plain(token.children))
        elif token.type == "myst_role":
            words.append(MARK if token.meta["name"] in ELSEWHERE else token.content)
        elif token.type == "code_inline":
            typed = _NUMBER.fullmatch(token.content) and not _ROUNDED_LEVEL.fullmatch(token.content)
            words.append(token.content if typed else MARK)
        elif token.type == "link_open" and token.attrs.get("title"):
            words.append(f"{token.attrs['title']} ")
        else:
            words.append(" " if token.type in {"softbreak", "hardbreak"} else token.content * (token.type == "text"))
    return "".join(words)


def typed_statistics(text: str) -> list[str]:
    """Numbers in prose that look like statistics."""
    for pattern in ALLOWED:
        text = re.sub(pattern, MARK, text)
    return [" ".join(match[0].split()) for match in STATISTIC.finditer(text)]


def long_sentences(text: str) -> list[str]:
    """Sentences that are too long to be read in one breath."""
    sentences = re.split(rf"(?<=[.!?])[\"')]*\s+(?=[\"'(]*[A-Z{MARK}])", text)
    return [one for one in sentences if len(re.findall(r"[A-Za-z][\w'-]*|\d[\d.,]*", one)) > LONGEST_SENTENCE]


def dialect(text: str) -> list[str]:
    """Words of a dialect with their line and those to be used."""
    return [
        f"{text.count(chr(10), 0, found.start()) + 1}: {found[0]!r}: write {instead}"
        for words, instead in DIALECT.items()
        for found in re.finditer(rf"\b(?:{words})\b", text, re.IGNORECASE)
    ]


def published_figures(text: str, figures: list[dict]) -> list[str]:
    """Published figures that are typed, even as code; those of one digit can't be told from other numbers."""
    found = []
    for figure in figures:
        value = figure["value"]
        digits = f"{value:g}" if value is not None else ""
        if len(digits.strip("0.")) < 2 or figure["unit"] == "published values":
            continue
        shares = [f"{100 * value:.4g}%", f"{100 * value:.4g} %"] if figure["unit"].startswith("share") else []
        for form in [digits, f"{value:,g}", digits.lstrip("0"), *shares]:
            if re.search(rf"(?<![\w.,-]){re.escape(form)}(?![\w]|[.,]\d)", text):
                found.append(f"{form} is a published figure: use {{published}}`{figure['id']}`")
    return found


def check_page(path: Path, figures: list[dict]) -> Iterator[str]:
    """What is wrong with the prose of a page, or with the texts in a notebook's code, which end on the page as well."""
    source = path.read_text("utf-8")
    cells = jupytext.read(path, fmt="md:myst").cells if path in NOTEBOOKS else []
    for text in [cell.source for cell in cells if cell.cell_type == "markdown"] or [source]:
        for line, words, heading in passages(text):
            place = f"{line}" if not cells else f"paragraph {words[:40]!r}"
            yield from (
                f"{place}: {one} is typed: record the value and use {{value}}" for one in typed_statistics(words)
            )
            yield from (f"{place}: more than {LONGEST_SENTENCE} words: {one}" for one in long_sentences(words))
            if heading and MARK in words and re.search(r"^#+ .*\{\w+\}`", text, re.MULTILINE):
                yield f"{place}: a value in a heading would change the navigation of every page"
    yield from published_figures(source, figures)
    for cell in cells:
        if cell.cell_type != "code" or "by-hand" in cell.metadata.get("tags", []):
            continue
        texts = [node.value for node in ast.walk(ast.parse(cell.source)) if isinstance(node, ast.Constant)]
        for text in texts:
            if isinstance(text, str) and " " in text:
                yield from (f"caption {text[:40]!r}: {one} is typed: compute it" for one in typed_statistics(text))


STORED = {
    "coverage_": "data/coverage.json",
    "elsewhere.matrix_cells": "data/claims.yml",
    "elsewhere.published": "data/claims.yml",
}
"""Calls in notebooks -> stored results that they read, which the notebook's metadata has to name."""


def check_notebook(path: Path) -> Iterator[str]:
    """Whether a notebook records under its own name and names the stored results that it shows."""
    code = [cell.source for cell in jupytext.read(path, fmt="md:myst").cells if cell.cell_type == "code"]
    names = re.findall(r"s7\.Recorder\(\"([\w-]+)\", results\)", "\n".join(code))
    if names != [path.stem]:
        yield f"it has to call s7.Recorder once, with {path.stem!r}, results"
    read = {file for call, file in STORED.items() if call in "".join(code)}
    if set(load_notebook(path).stored) != read:
        yield f"its metadata have to name as stored: {', '.join(sorted(read)) or 'nothing'}"


def check_metadata(root: Path) -> Iterator[str]:
    """Whether the files that describe the project say the same of it."""
    citation = yaml.safe_load((root / "CITATION.cff").read_text("utf-8"))
    codemeta = json.loads((root / "codemeta.json").read_text("utf-8"))
    changelog = (root / "CHANGELOG.md").read_text("utf-8")
    address = yaml.safe_load((root / "_config.yml").read_text("utf-8"))["repository"]["url"]
    headings = re.findall(r"^## \[(.+?)\](?: - (\S+))?$", changelog, re.MULTILINE)
    released = headings[1] if len(headings) > 1 else ("none", "")
    versions = {
        "CITATION.cff": citation["version"],
        "codemeta.json": codemeta["version"],
        "CHANGELOG.md": released[0],
        "book/cite.md": re.findall(r"version = \{(.+?)\}", (root / "book" / "cite.md").read_text("utf-8"))[-1],
    }
    yield from (f"{file}: says version {it}, not {__version__}" for file, it in versions.items() if it != __version__)
    if headings[0][0] != "Unreleased" or released[1] != str(citation["date-released"]):
        yield "CHANGELOG.md: begins with [Unreleased], then the version and date of CITATION.cff"
    for file, it in {"CITATION.cff": citation["repository-code"], "codemeta.json": codemeta["codeRepository"]}.items():
        if it != address:
            yield f"{file}: names another repository than _config.yml"
    if "version" not in tomllib.loads((root / "pyproject.toml").read_text("utf-8"))["project"]["dynamic"]:
        yield "pyproject.toml: the version stands in src/sense7/__init__.py alone"


def problems(root: Path = ROOT) -> list[str]:
    """Everything that is wrong, as file and sentence."""
    figures = yaml.safe_load((root / "data" / "claims.yml").read_text("utf-8"))
    found = list(check_metadata(root))
    for path in PAGES:
        wrong = [*check_page(path, figures), *(check_notebook(path) if path in NOTEBOOKS else [])]
        found += [f"{path.relative_to(root)}: {one}" for one in wrong]
    texts = [*PAGES, root / "data" / "claims.yml", *sorted((root / "src" / "sense7").rglob("*.py"))]
    texts += [path for folder in ("evidence", "scripts", "tests") for path in sorted((root / folder).rglob("*.py"))]
    for path in texts:
        if path.name in {"check_texts.py", "test_texts.py"}:
            continue
        found += [f"{path.relative_to(root)}:{one}" for one in dialect(path.read_text("utf-8"))]
    used = "\n".join(path.read_text("utf-8") for path in PAGES)
    found += [
        f"scripts/check_texts.py: {pattern} is no longer needed" for pattern in ALLOWED if not re.search(pattern, used)
    ]
    return found


if __name__ == "__main__":
    found = problems()
    print("\n".join(found))
    sys.exit(1 if found else 0)
