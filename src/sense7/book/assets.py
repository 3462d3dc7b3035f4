"""The style sheet that all pages load, with the rules that some page uses.

Sphinx, its theme and its extensions have a dozen style sheets, the largest with rules for parts that no page has, and
an icon font with 1,400 glyphs. The sheet is made in the finished folder alone: what Sphinx keeps for its next run stays
as it wrote it.
"""

import base64
import io
import re
from collections.abc import Iterable
from pathlib import Path

_COMMENT = re.compile(r"/\*.*?(?:\*/|\Z)", re.DOTALL)
_RULE = re.compile(r"(?P<selectors>[^{}]*)\{(?P<style>[^{}]*)\}")
"""A rule without others inside; blocks such as @media stay around theirs."""

_ICON = re.compile(r'content: ?"\\([ef][0-9a-f]{3})"')
_ICON_FILE = "vendor/fontawesome/webfonts/fa-solid-900.ttf"


def write_styles(html: Path, sheets: Iterable[str]) -> None:
    """Write ``book.css``: the used rules of ``sheets``, patterns of names below ``_static``."""
    static = html / "_static"
    classes: set[str] = set()
    for page in html.rglob("*.html"):
        for names in re.findall(r'class="([^"]*)"', page.read_text("utf-8")):
            classes.update(names.split())
    for script in static.rglob("*.js"):  # scripts give classes, too
        if script.name != "fontawesome.js":
            classes.update(re.findall(r"[\w-]+", script.read_text("utf-8")))
    licences, rules = [], []
    for pattern in sheets:
        for sheet in static.glob(pattern):
            text = sheet.read_text("utf-8")
            licences += [comment for comment in _COMMENT.findall(text) if comment.startswith("/*!")]
            text = _COMMENT.sub("", text).removeprefix('@charset "UTF-8";')
            rules.append(used_rules(text, classes))
    style = "\n".join(rules)
    font = _icon_font(static / _ICON_FILE, {int(sign, 16) for sign in _ICON.findall(style)})
    (static / "book.css").write_text("\n".join([*licences, font + style]), "utf-8")


def used_rules(style: str, classes: set[str]) -> str:
    """A style sheet without rules for classes that no element has, and without the fonts of icons.

    Examples
    --------
    >>> used_rules("a.b, .c { top: 0 } @media print { .d { top: 1px } }", {"c"})
    'a.b, .c { top: 0 } @media print { }'
    """

    def kept(rule: re.Match) -> str:
        is_icon_font = "@font-face" in rule["selectors"] and "Font Awesome" in rule["style"]
        if is_icon_font or not _may_match(rule["selectors"], classes):
            return ""
        return rule[0]

    return _RULE.sub(kept, style)


def _may_match(selectors: str, classes: set[str]) -> bool:
    """Whether some element may match one of the selectors, as far as their classes tell."""
    shortened = None
    while shortened != selectors:
        shortened = selectors
        selectors = re.sub(r"\([^()]*\)", "", shortened)  # :is(.a, .b) asks for one of both
    alternatives = [re.findall(r"\.(-?[A-Za-z_][\w-]*)", part) for part in selectors.split(",")]
    return any(classes.issuperset(names) for names in alternatives)


def _icon_font(file: Path, signs: set[int]) -> str:
    """A rule that holds the icons' font itself, with these signs alone: 2 kilobytes instead of 150."""
    from fontTools import subset
    from fontTools.ttLib import TTFont

    font = TTFont(file, recalcTimestamp=False)
    subsetter = subset.Subsetter()
    subsetter.populate(unicodes=signs)
    subsetter.subset(font)
    font.flavor = "woff"
    stream = io.BytesIO()
    font.save(stream)
    data = base64.b64encode(stream.getvalue()).decode()
    family = "font-family:Font Awesome\\ 6 Free;font-style:normal;font-weight:900"
    return f"@font-face{{font-display:block;{family};src:url(data:font/woff;base64,{data})}}\n"
