"""The font of the theme's icons, cut down to the icons that pages show: 5 kB in place of 156."""

import hashlib
import io
import re
from collections.abc import Iterable
from pathlib import Path

__all__ = ["prepare_to_cut", "reduce_icon_font"]

_STYLE = "styles/pydata-sphinx-theme.css"
_FONTS = "vendor/fontawesome/webfonts"
_FONT = "fa-solid-900"
_SOURCE = re.compile(rf"url\(\.\./{_FONTS}/{_FONT}[^)]*\) format\(\"woff2?\"\)")
_ICON_RULE = re.compile(r"\.fa-[^{}]*\{[^{}]*\}")
_NAMED = re.compile(rb"fa-(?<=\bfa-)([a-z0-9-]+)")  # what begins with a letter is found ten times as fast
_ESCAPED = re.compile(r"\\(e[0-9a-f]{3}|f[0-9a-f]{3})\b")
_PRIVATE = re.compile("[\ue000-\uf8ff]")


def prepare_to_cut() -> None:
    """Import what cuts fonts, which takes longer than to cut one."""
    import fontTools.subset  # noqa: F401 - Matplotlib brings it


def reduce_icon_font(static: Path, pages: Iterable[bytes]) -> None:
    """Write the theme's icon font with only the icons that pages and style sheets name, and let the theme use that.

    Parameters
    ----------
    static : Path
        Folder of the style sheets. Nothing is done where it has no such theme.
    pages : iterable of bytes
        Content of every page.
    """
    style, whole = static / _STYLE, static / _FONTS / f"{_FONT}.ttf"
    if not style.exists() or not whole.exists():
        return
    theme = style.read_text(encoding="utf-8")
    names = {name.decode() for content in pages for name in _NAMED.findall(content)}
    rules = _ICON_RULE.findall(theme)
    named = "".join(rule for rule in rules if set(re.findall(r"\.fa-([a-z0-9-]+)", rule)) & names)
    others = [path.read_text(encoding="utf-8") for path in sorted(static.rglob("*.css")) if path != style]
    letters = _letters(named, _ICON_RULE.sub("", theme), *others)
    reduced = f"{_FONT}-{hashlib.sha256(letters.encode()).hexdigest()[:8]}.woff"
    if not (static / _FONTS / reduced).exists():
        (static / _FONTS / reduced).write_bytes(_subset(whole, letters))
    said = _SOURCE.sub(f'url(../{_FONTS}/{reduced}) format("woff")', theme)
    if said != theme:
        style.write_text(said, encoding="utf-8")


def _letters(*styles: str) -> str:
    """The icons in style sheets, each once: letters of the range that is for private use."""
    found = {chr(int(code, 16)) for style in styles for code in _ESCAPED.findall(style)}
    return "".join(sorted(found.union(*map(_PRIVATE.findall, styles))))


def _subset(font: Path, letters: str) -> bytes:
    from fontTools import subset, ttLib

    options = subset.Options(flavor="woff", layout_features=[])
    cut = subset.Subsetter(options)
    with ttLib.TTFont(font, recalcTimestamp=False) as whole:
        cut.populate(text=letters)
        cut.subset(whole)
        stream = io.BytesIO()
        subset.save_font(whole, stream, options)
    return stream.getvalue()
