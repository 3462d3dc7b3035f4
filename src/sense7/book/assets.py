"""Styles and scripts that all pages load, in one file or a few, with what some page uses of them.

Sphinx, its theme and its extensions have each page ask for thirty files, one after the other, of
which the largest are an icon font with 1,400 glyphs, and rules for as many icons and for parts that
no page has. On a slow line scripts would share it with the style sheet, and the page would be drawn
later: they are asked for when the style sheet is there. Pages are rewritten in the finished folder
alone: what Sphinx keeps for its next run stays as it wrote it.
"""

import base64
import io
import posixpath
import re
from collections.abc import Iterable, Sequence
from functools import partial
from pathlib import Path, PurePosixPath

from sense7.files import digest_of

_ELEMENT = re.compile(r"<link[^<>]*>|<script[^<>]*></script>")
_ADDRESS = re.compile(r'(?:href|src)="([^"<>?]*)')
_COMMENT = re.compile(r"/\*.*?(?:\*/|\Z)", re.DOTALL)
_IMPORT = re.compile(r"""@import\s+["']([\w./-]+\.css)["']\s*;""")
_URL = re.compile(r"url\(([^()]*)\)")
_ICON = re.compile(r'content: ?"\\([ef][0-9a-f]{3})"')
_LARGE = 50_000
"""Bytes of a script that is not joined with others."""

_ICON_FILE = "vendor/fontawesome/webfonts/fa-solid-900.ttf"
_AFTER_STYLES = """<template id="sense7-scripts">
{scripts}
</template>
<script>
  // A script in the body waits for the style sheet; what stands in a template is asked for by nobody before.
  for (const script of document.getElementById("sense7-scripts").content.cloneNode(true).querySelectorAll("script")) {
    script.async = false;
    document.body.append(script);
  }
</script>
"""


def share_assets(html: Path) -> None:
    """Replace what all pages of a folder load by one style sheet and a few scripts, which come after the styles."""
    static = html / "_static"
    pages = {}
    for path in sorted(html.rglob("*.html")):
        if static in path.parents:
            continue
        text = path.read_text("utf-8")
        if _elements(text, "stylesheet"):
            pages[path] = text
    if not pages:
        return
    styles = _in_all(static, pages.values(), "stylesheet")
    # Not those that take data from their own element.
    scripts = _in_all(static, pages.values(), "src=", but=" data-")
    style = _joined_styles(static, styles, _names_of_classes(pages.values(), static))
    style_address = _write(static, "book.css", style)
    script_addresses = []
    for number, names in enumerate(_in_tasks(static, scripts), 1):
        script = ";\n".join((static / name).read_text("utf-8") for name in names)
        script_addresses.append(_write(static, f"book-{number}.js", script))
    for path, text in pages.items():
        root = "../" * (len(path.relative_to(html).parts) - 1)
        elements = [f'<script src="{root}{address}"></script>' for address in script_addresses]
        joined = {
            ".css": f'<link rel="stylesheet" href="{root}{style_address}" />',
            ".js": "\n".join(elements),
        }
        path.write_text(_rewritten(text, {*styles, *scripts}, joined), "utf-8")


def _elements(page: str, mark: str) -> list[str]:
    """Elements of a page's head that load something, and have this mark."""
    head = page.partition("</head>")[0]
    return [element for element in _ELEMENT.findall(head) if mark in element]


def _file(element: str) -> str:
    """The file that an element loads, by its place in the folder of static files."""
    address = _ADDRESS.search(element)
    if address is None:
        return ""
    return address[1].rpartition("_static/")[2]


def _in_all(static: Path, pages: Iterable[str], mark: str, but: str = "\n") -> list[str]:
    """Files that every page loads by an element with a mark, and without another, in the order of the first page."""
    lists = []
    for page in pages:
        lists.append([_file(element) for element in _elements(page, mark) if but not in element])
    names = []
    for name in lists[0]:
        if all(name in files for files in lists) and (static / name).is_file():
            names.append(name)
    return names


def _in_tasks(static: Path, scripts: Sequence[str]) -> list[list[str]]:
    """Scripts in groups that are joined. A large one stands alone: while a file runs, a browser answers nobody."""
    groups: list[list[str]] = []
    is_open = False
    for name in scripts:
        is_large = (static / name).stat().st_size > _LARGE
        if is_open and not is_large:
            groups[-1].append(name)
        else:
            groups.append([name])
        is_open = not is_large
    return groups


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


def _write(static: Path, name: str, content: str) -> str:
    """Write a shared file; gives its address below the pages' root, which changes with its content."""
    (static / name).write_text(content, "utf-8")
    return f"_static/{name}?v={digest_of(content.encode())[:8]}"


def _rewritten(page: str, shared: set[str], joined: dict[str, str]) -> str:
    """A page with elements for the joined files in the place of the first shared one, and scripts at its end."""
    scripts: list[str] = []

    def element(match: re.Match) -> str:
        shown = match[0]
        file = _file(shown)
        if file in shared and " data-" not in shown:
            shown = joined.pop(PurePosixPath(file).suffix, "")
        if not shown.startswith("<script") or "src=" not in shown:
            return shown
        scripts.append(shown)
        return ""

    head, end, body = page.partition("</head>")
    head = _ELEMENT.sub(element, head)
    content, end_of_body, rest = body.rpartition("</body>")
    loader = _AFTER_STYLES.replace("{scripts}", "\n".join(scripts))
    return f"{head}{end}{content}{loader}{end_of_body}{rest}"


# --- styles -------------------------------------------------------------------------------


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
