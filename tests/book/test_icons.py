"""The icon font of the theme holds the icons that pages and style sheets name, and no others."""

import shutil
from pathlib import Path

import pydata_sphinx_theme
import pytest
from fontTools.ttLib import TTFont

from sense7.book.icons import reduce_icon_font

THEME = Path(pydata_sphinx_theme.__file__).parent / "theme" / "pydata_sphinx_theme" / "static"
STYLE = "styles/pydata-sphinx-theme.css"
FONTS = "vendor/fontawesome/webfonts"
MOON, STAR, CHECK = 0xF186, 0xF005, 0xF00C


@pytest.fixture
def static(tmp_path):
    for part in (STYLE, f"{FONTS}/fa-solid-900.ttf"):
        (tmp_path / part).parent.mkdir(parents=True)
        shutil.copyfile(THEME / part, tmp_path / part)
    (tmp_path / "own.css").write_text('.done::before { content: "\\f00c" }', encoding="utf-8")
    return tmp_path


def icons(static):
    (font,) = (static / FONTS).glob("*.woff")
    assert f'url(../{FONTS}/{font.name}) format("woff")' in (static / STYLE).read_text("utf-8")
    return set(TTFont(font).getBestCmap())


def test_icons_of_pages_and_of_style_sheets_stay_and_others_go(static):
    reduce_icon_font(static, [b'<i class="fa-solid fa-moon fa-lg"></i>'])
    found = icons(static)
    assert {MOON, CHECK} <= found
    assert STAR not in found


def test_done_again_it_changes_nothing(static):
    pages = [b'<i class="fa-solid fa-moon"></i>']
    reduce_icon_font(static, pages)
    before = {path: path.read_bytes() for path in static.rglob("*") if path.is_file()}
    reduce_icon_font(static, pages)
    assert {path: path.read_bytes() for path in static.rglob("*") if path.is_file()} == before


def test_another_icon_gives_another_font(static):
    reduce_icon_font(static, [b'<i class="fa-solid fa-moon"></i>'])
    for font in (static / FONTS).glob("*.woff"):
        font.unlink()
    reduce_icon_font(static, [b'<i class="fa-solid fa-star"></i>'])
    assert STAR in icons(static)
    assert MOON not in icons(static)


def test_a_place_without_the_theme_is_left_alone(tmp_path):
    reduce_icon_font(tmp_path, [b"fa-moon"])
    assert list(tmp_path.iterdir()) == []
