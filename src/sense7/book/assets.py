"""Styles that all pages load, in one file, with the rules that some page uses.

Sphinx, its theme and its extensions have each page ask for ten style sheets, the largest with rules for parts that
no page has, and an icon font with 1,400 glyphs. Pages are rewritten in the finished folder alone: what Sphinx keeps
for its next run stays as it wrote it.
"""

import base64
import io
import posixpath
import re
from collections.abc import Iterable, Sequence
from functools import partial
from pathlib import Path, PurePosixPath

from sense7.files import digest_of

_STYLE = re.compile(r'<link rel="stylesheet"[^<>]*href="[^"<>]*_static/([^"?<>]*)[^<>]*>\n?')
_COMMENT = re.compile(r"/\*.*?(?:\*/|\Z)", re.DOTALL)
_IMPORT = re.compile(r"""@import\s+["']([\w./-]+\.css)["']\s*;""")
_URL = re.compile(r"url\(([^()]*)\)")
_ICON = re.compile(r'content: ?"\\([ef][0-9a-f]{3})"')
_ICON_FILE = "vendor/fontawesome/webfonts/fa-solid-900.ttf"


def share_assets(html: Path) -> None:
    """Replace the style sheets that all pages of a folder load by one file."""
    static = html / "_static"
    pages = {}
    for path in sorted(html.rglob("*.html")):
        text = path.read_text("utf-8")
        if static not in path.parents and _STYLE.search(text):
            pages[path] = text
    lists = [_STYLE.findall(text) for text in pages.values()]
    shared = []
    for name in lists[0] if lists else ():
        if all(name in names for names in lists) and (static / name).is_file():
            shared.append(name)
    style = _joined_styles(static, shared, _names_of_classes(pages.values(), static))
    (static / "book.css").write_text(style, "utf-8")
    version = digest_of(style.encode())[:8]
    for path, text in pages.items():
        root = "../" * (len(path.relative_to(html).parts) - 1)
        element = f'<link rel="stylesheet" href="{root}_static/book.css?v={version}" />\n'
        first = _STYLE.search(text)
        rest_of_page = _STYLE.sub(partial(_unless_shared, shared), text[first.end() :])
        path.write_text(f"{text[: first.start()]}{element}{rest_of_page}", "utf-8")


def _unless_shared(shared: Sequence[str], match: re.Match) -> str:
    """Nothing in the place of an element that loads a shared style sheet."""
    return "" if match[1] in shared else match[0]


def _names_of_classes(pages: Iterable[str], static: Path) -> set[str]:
    """Names that an element of some page may have as its class, those that scripts give among them."""
    names: set[str] = set()
    for page in pages:
        for classes in re.findall(r'class="([^"]*)"', page):
            names.update(classes.split())
    for script in static.rglob("*.js"):
        if script.name != "fontawesome.js":
            names.update(re.findall(r"[\w-]+", script.read_text("utf-8")))
    return names


def _joined_styles(static: Path, names: Sequence[str], classes: set[str]) -> str:
    """Style sheets one after the other, with addresses as seen from the folder of static files."""
    licences, rules = [], []
    for name in names:
        text = _with_imported(static / name)
        licences += [comment for comment in _COMMENT.findall(text) if comment.startswith("/*!")]
        text = _URL.sub(partial(_moved, PurePosixPath(name).parent), _COMMENT.sub("", text))
        rules.append(used_rules(text.removeprefix('@charset "UTF-8";'), classes))
    style = "\n".join(rules)
    font = static / _ICON_FILE
    if font.exists():
        style = _icon_font(font, {int(sign, 16) for sign in _ICON.findall(style)}) + style
    return "\n".join([*licences, style])


def _with_imported(path: Path) -> str:
    """A style sheet with those that it imports in their place: after other rules a browser passes an import over."""

    def imported(match: re.Match) -> str:
        text = _with_imported(path.parent / match[1])
        return _URL.sub(partial(_moved, PurePosixPath(match[1]).parent), text)

    return _IMPORT.sub(imported, path.read_text("utf-8"))


def _moved(folder: PurePosixPath, match: re.Match) -> str:
    """An address that a style sheet of a folder has, as seen from the folder of static files."""
    address = match[1].strip("\"'")
    if address.startswith(("data:", "#")):
        return match[0]
    return f'url("{posixpath.normpath(folder / address)}")'


def used_rules(style: str, classes: set[str]) -> str:
    """A style sheet without rules for classes that no element has, and without the fonts of icons.

    Examples
    --------
    >>> used_rules("a.b, .c { top: 0 } @media print { .d { top: 1px } }", {"c"})
    'a.b, .c { top: 0 } @media print { }'
    """
    first, *pieces = re.split(r"([{}])", style)
    used = []
    opened = None
    text = first
    for sign, following in zip(pieces[::2], pieces[1::2], strict=True):
        if sign == "{":
            if opened is not None:  # a block of rules, such as @media
                used.append(f"{opened}{{")
            opened = text
        elif opened is None:
            used.append(f"{text}}}")
        else:
            is_icon_font = "@font-face" in opened and "Font Awesome" in text
            if _may_match(opened, classes) and not is_icon_font:
                used.append(f"{opened}{{{text}}}")
            opened = None
        text = following
    return "".join(used)


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
