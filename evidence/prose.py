"""Prose of the book: pages and notebooks without code, and their sentences."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import jupytext

__all__ = ["MARK", "NOTEBOOKS", "PAGES", "ROOT", "Sentence", "blank", "prose", "prose_of", "sentences"]

ROOT = Path(__file__).resolve().parents[1]
NOTEBOOKS = sorted((ROOT / "notebooks").glob("[0-9]*.md"))
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "book").rglob("*.md")), *NOTEBOOKS]

MARK = "\N{REFERENCE MARK}"
"""What stands in the place of code, roles and addresses."""

_FRONT_MATTER = re.compile(r"\A---\n.*?\n---\n", re.DOTALL)
_FENCE = re.compile(r"^(?P<fence>`{3,}|~{3,}).*?^(?P=fence)\s*?$", re.DOTALL | re.MULTILINE)
_ROLE_OR_CODE = re.compile(r"(?:\{[\w:+-]+\})?(?P<ticks>`+)(?:(?!`).|(?!(?P=ticks)(?!`))`)+?(?P=ticks)(?!`)", re.DOTALL)
_NO_TEXT = {
    *("code-cell", "code-block", "ledger", "modules", "front-door", "explorer", "bibliography", "picture"),
    *("claims-power", "distances", "interval", "ledger-picture", "reading-paths", "specifications"),
}
"""Directives that hold no prose; that of any other is read, as are the titles of all."""

_WOVEN = {
    *("value", "published", "edition", "term", "ref", "doc", "cite:t", "cite:p", "py:class", "py:exc", "judge_logs"),
    "setting",
}
"""Roles whose text stands for something else; that of any other is read."""

_NUMBER_AS_CODE = re.compile(r"[\d.,\s]*\d[\d.,\s]*%?")
_ROUNDED_LEVEL = re.compile(r"[1-5](?:\.50*1?)?")
"""A number in the typeface of code is a number, but for levels whose rounding is explained."""

_NO_PROSE = (
    re.compile(r"<!--.*?-->", re.DOTALL),
    re.compile(r"\]\([^)\s]*"),  # target of a link or an image; its title is read
    re.compile(r"^\[[^\]]+\]:.*$", re.MULTILINE),
    re.compile(r"<https?://[^>]*>|https?://[^\s)]+"),
    re.compile(r"^\([\w-]+\)=\s*$", re.MULTILINE),
    re.compile(r"^:link: \S+$", re.MULTILINE),  # where a card leads to
    re.compile(r"^:{3,}(?:\{[\w-]+\})?", re.MULTILINE),  # the fence of an admonition: title and content are prose
)


def blank(match: re.Match) -> str:
    """Keep the lines, so that a sentence can be given with its line."""
    return f" {MARK} " + "\n" * match[0].count("\n")


def _without_fence(match: re.Match) -> str:
    """Nothing of a block of code; of a directive that holds prose, all but the fence."""
    opening, *inside, _ = match[0].split("\n")
    directive = re.match(r"[`~]+\{([\w-]+)\}(.*)", opening)
    if not directive or directive[1] in _NO_TEXT:
        return blank(match)
    return "\n".join([directive[2], *inside, ""])


def _without_role(match: re.Match) -> str:
    """Nothing of code and of what is woven in; the text of other roles, and numbers that are dressed as code."""
    role, _, content = match[0].partition("`")
    content = content.strip("`").strip()
    if role and role.strip("{}") not in _WOVEN:
        return f" {content} "
    typed = not role and _NUMBER_AS_CODE.fullmatch(content) and not _ROUNDED_LEVEL.fullmatch(content)
    return f" {content} " if typed else blank(match)


def prose(markdown: str) -> str:
    """Markdown without code, roles, addresses and front matter; every line in its place."""
    for pattern, instead in (
        (_FRONT_MATTER, blank),
        (_FENCE, _without_fence),
        (_ROLE_OR_CODE, _without_role),
        *((pattern, blank) for pattern in _NO_PROSE),
    ):
        markdown = pattern.sub(instead, markdown)
    return markdown


def prose_of(path: Path) -> str:
    """Text of a page, or of a notebook's cells of text."""
    if path not in NOTEBOOKS:
        return path.read_text("utf-8")
    return "\n\n".join(cell.source for cell in jupytext.read(path, fmt="md:myst").cells if cell.cell_type == "markdown")


class Sentence(NamedTuple):
    """A sentence as it is read, and the line of the text on which its paragraph begins."""

    line: int
    text: str


_LINK = re.compile(rf"\[([^\[\]]*?)\s*{MARK}\s*\)")
_OPTION = re.compile(r"^[ \t]*:[\w-]+:", re.MULTILINE)
_IDENTIFIER = re.compile(r"\b\w+_\w+\b")
_TERM = re.compile(r"^(?![-*:|#\d])(\S[^\n]{0,40})\n(?=  \S)", re.MULTILINE)
_BLOCK = re.compile(
    r"\n[ \t]*\n|\n(?=[ \t]*(?:[-*:] |\d+\. |\||#))|(?<=\S)[ \t]*\|[ \t]*(?=\S)|^#[^\n]*\n", re.MULTILINE
)
_END = re.compile(rf"(?<=[.!?])[\"')]*\s+(?=[\"'(]*[A-Z{MARK}])")


def sentences(markdown: str) -> Iterator[Sentence]:
    r"""Sentences of paragraphs, items of lists and cells of tables; no headings. A mark stands for one word.

    Examples
    --------
    >>> [one.text for one in sentences("# A title\n\nIt is `so`. See [the ledger](ledger.md).\n\n- An item")]
    ['It is ※.', 'See the ledger.', 'An item']
    """
    text = _LINK.sub(r"\1", _IDENTIFIER.sub(MARK, prose(markdown)))
    text = _TERM.sub(r"\1.\n", _OPTION.sub("", text))
    start = 0
    for gap in [*_BLOCK.finditer(text), None]:
        block = text[start : gap.start() if gap else len(text)]
        line = text.count("\n", 0, start + len(block) - len(block.lstrip())) + 1
        plain = " ".join(re.sub(r"^[ \t]*(?:[-*:]|\d+\.)[ \t]|[*|]{1,2}", "", block, flags=re.MULTILINE).split())
        if not block.lstrip().startswith("#"):
            yield from (Sentence(line, re.sub(r" ([.,;:!?)])(?!\w)", r"\1", one)) for one in _END.split(plain) if one)
        start = gap.end() if gap else len(text)
