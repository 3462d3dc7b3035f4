"""Tables in a browser: heads sort long ones, by mouse and by keyboard; folded ones open, and are printed."""

import re
from pathlib import Path

import pandas as pd
import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

from sense7.tables import Table

STATIC = Path(__file__).resolve().parents[2] / "book" / "static"
HOSTILE = '<img src=x onerror="window.ran=1">'


@pytest.fixture
def shown(reader):
    """Show tables on a page of their own, with the book's style and script."""

    def show(*tables):
        html = "".join(table._repr_html_() for table in tables)
        reader.page.set_content(
            f"<html lang=en><title>Tables</title><main><article><h1>Tables</h1>{html}</article></main>"
        )
        reader.page.add_style_tag(path=STATIC / "companion.css")
        reader.page.add_script_tag(path=STATIC / "tables.js")
        return reader.page

    return show


def table_of(texts, rows=12, **options):
    """A table whose rows keep their number, filled up with cells that are missing."""
    texts = [*texts, *[""] * (rows - len(texts))]
    index = pd.Index([f"row {number}" for number in range(len(texts))], name="which")
    return Table(pd.DataFrame({"value": texts, "text": [HOSTILE] * len(texts)}, index=index), "A table.", **options)


def column(page):
    return page.locator("tbody td:nth-child(2)").all_inner_texts()


@pytest.mark.parametrize(
    ("texts", "ascending"),
    [
        (["10", "9", "1,234", "-3", "0.5", "1e-05"], ["-3", "1e-05", "0.5", "9", "10", "1,234"]),
        (["12.0%", "5.3%", "100.0%", "0.5"], ["5.3%", "12.0%", "0.5", "100.0%"]),
        (["0.002", "0.001", "< 0.001", "0.040"], ["< 0.001", "0.001", "0.002", "0.040"]),
        (["0.52 [0.40, 0.61]", "-0.10 [-0.30, 0.10]", "0.07 (0.01 to 0.20)"], None),
        (["P10", "P9", "p1"], ["p1", "P9", "P10"]),
        (["2024-10-02", "2024-09-30", "1999-12-31"], ["1999-12-31", "2024-09-30", "2024-10-02"]),
        (["5 turns", "none", "12 turns"], ["5 turns", "12 turns", "none"]),
        (["beta", "10", "alpha"], ["10", "alpha", "beta"]),
        (["0.3", "not available", "0.1", "-", "0.2"], ["0.1", "0.2", "0.3", "not available", "-"]),
    ],
)
def test_numbers_are_sorted_as_numbers_and_what_is_missing_comes_last(shown, texts, ascending):
    page = shown(table_of(texts))
    before = column(page)
    ascending = ascending or [texts[1], texts[2], texts[0]]
    missing = [text for text in ascending if text in {"none", "not available", "-"}]
    known = [text for text in ascending if text not in missing]
    blank = [""] * (12 - len(texts))
    head = page.get_by_role("columnheader", name="value")
    button = head.get_by_role("button")
    for order, expected in (
        ("ascending", [*known, *missing, *blank]),
        ("descending", [*known[::-1], *missing, *blank]),
        (None, before),
        ("ascending", [*known, *missing, *blank]),
    ):
        button.click()
        assert head.get_attribute("aria-sort") == order
        assert column(page) == expected


def test_equal_cells_keep_their_order_and_only_one_column_is_sorted(shown):
    page = shown(table_of(["b", "a"] * 6))
    page.get_by_role("button", name="text").click()
    page.get_by_role("button", name="value").click()
    assert page.locator("th[aria-sort]").count() == 1
    rows = page.locator("tbody th").all_inner_texts()
    assert rows == [f"row {number}" for number in (*range(1, 12, 2), *range(0, 12, 2))]


def test_it_works_by_keyboard_and_says_where_it_stands(shown):
    page = shown(table_of(["3", "1", "2"]))
    page.keyboard.press("Tab")
    expect(page.get_by_role("button", name="which")).to_be_focused()
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    assert column(page)[:3] == ["1", "2", "3"]
    page.keyboard.press("Space")
    assert column(page)[:3] == ["3", "2", "1"]
    expect(page.get_by_role("button", name="value")).to_be_focused()
    assert Axe().run(page).response["violations"] == []


def test_a_folded_table_opens_and_is_on_paper(shown):
    page = shown(table_of(["1"], rows=3, fold=True))
    expect(page.get_by_role("table")).to_be_hidden()
    page.emulate_media(media="print")
    assert page.locator("table").evaluate("node => node.checkVisibility({contentVisibilityAuto: true})")
    assert page.locator("table").bounding_box()["height"] > 50
    page.emulate_media(media="screen")
    page.get_by_text("Table: A table").click()
    expect(page.get_by_role("table")).to_be_visible()


def test_long_tables_of_the_book_can_be_sorted(reader, html):
    files = {path: len(re.findall(r"<table[^>]*dataframe", path.read_text("utf-8"))) for path in html.glob("*/*.html")}
    page = reader.open(max(files, key=files.get).relative_to(html).as_posix())
    long = page.locator("article table.dataframe").filter(has=page.locator("tbody tr:nth-child(11)"))
    assert long.count() > 0
    for table in long.all():
        assert table.locator("thead .sense7-sort").count() > 0
    assert page.locator("article table.dataframe .sense7-sort").count() == long.locator(".sense7-sort").count()
