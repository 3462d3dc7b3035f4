"""What a reader does with the book in a browser: search, follow paths, switch, sort, change an analysis, print."""

import json
import re
import struct
from pathlib import Path

import pandas as pd
import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

from helpers import naming
from sense7.book.editions import write_site
from sense7.tables import Table

RELIABILITY = "Seven measures, or one impression?"
"""Title of the page on Cronbach's alpha."""


def test_what_a_search_found_in_a_closed_fold_is_shown(reader):
    page = reader.open("search.html?q=Feldt")
    page.locator("#search-results a[href*='03-reliability']").first.click()
    expect(page.locator("article h1")).to_contain_text(RELIABILITY)
    expect(page.locator("span.highlighted").first).to_be_visible()


@pytest.mark.parametrize("site", ["/", "/companion/"])
def test_an_address_that_leads_nowhere_has_the_way_to_the_front_page(browser, html, tmp_path, site):
    write_site(html.parents[1], ["synthetic"], tmp_path / "site")
    nowhere = (tmp_path / "site" / "404.html").read_text("utf-8")

    def answer(route):
        is_list = re.match(
            f"http://(other/|host.test{site})editions/editions.js", route.request.url
        )
        route.fulfill(status=200 if is_list else 404, body=nowhere, content_type="text/html")

    page = browser.new_page()
    page.route("**", answer)
    for path in ("x.html", "book/x.html", "editions/synthetic/html/notebooks/x.html", "/other/x"):
        page.goto(f"http://host.test{site}{path}")
        expect(page.get_by_role("link", name="The front page")).to_have_attribute("href", site)
    page.close()


@pytest.mark.parametrize("file", ["notebooks/03-reliability.html", "book/ledger.html"])
def test_paper_shows_the_finding_and_its_banner_without_what_is_for_the_screen(reader, file):
    page = reader.open(file)
    page.emulate_media(media="print")
    for part in (
        ".bd-sidebar-primary",
        ".bd-sidebar-secondary",
        ".bd-header-article",
        "#pst-skip-link",
    ):
        assert not any(each.is_visible() for each in page.locator(part).all()), part
    assert page.locator("h1:visible").count() == 1, "the theme has a second one for paper"
    expect(page.locator("article :is(table, figure)").first).to_be_visible()
    assert page.locator(".bd-header-announcement").is_visible(), "paper says what the data are"
    expect(page.locator(".bd-header-announcement")).to_contain_text("Synthetic data")


def test_a_switch_shows_one_variant_at_a_time_by_keyboard(reader):
    page = reader.open("notebooks/15-three-judges.html")
    # What is folded is neither reached by Tab nor printed.
    switch = page.locator("fieldset.sense7-switch:not(details *)").first
    choices, shown = switch.get_by_role("radio"), switch.locator("> [role=group]")
    number = choices.count()
    assert shown.count() == number > 1
    choices.first.focus()
    for place in range(number):
        assert [each.is_visible() for each in shown.all()] == [
            other == place for other in range(number)
        ]
        assert shown.nth(place).inner_text().strip()
        expect(choices.nth(place)).to_be_focused()
        page.keyboard.press("ArrowRight")
    expect(shown.first).to_be_visible()  # round again
    page.emulate_media(media="print")
    assert all(each.is_visible() for each in shown.all()), "paper shows all variants"


HEAVIEST = 1.5e6  # bytes of a page with all that it loads to be seen, not compressed


def test_a_state_filters_picture_and_tables_by_keyboard_and_stands_in_the_address(reader):
    ledger = reader.open("book/ledger.html")
    rows = ledger.locator(
        ":is(.sense7-ledger-picture > section li, .sense7-ledger tr[data-rule]):visible"
    )
    every = rows.count()
    button = ledger.get_by_role("button", name="rehearsed")
    button.focus()
    ledger.keyboard.press("Enter")
    assert button.get_attribute("aria-pressed") == "true"
    left = rows.count()
    assert 0 < left < every
    assert set(rows.evaluate_all("nodes => nodes.map(node => node.dataset.rule)")) == {"rehearsed"}
    assert ledger.url.endswith("#state=rehearsed")
    ledger.reload()
    assert rows.count() == left
    button.focus()
    ledger.keyboard.press("Enter")
    assert rows.count() == every
    assert "#" not in ledger.url
    ledger.get_by_role("button", name="in no release").click()
    ledger.get_by_role("button", name="all").click()
    assert rows.count() == every


def test_a_question_finds_its_page(reader):
    pages = {
        "cronbach alpha": "notebooks/03-reliability.html",
        "who rates": "notebooks/02-ratings.html",
        "what is ground truth": "notebooks/12-judge.html",
        "empathy prompt": "notebooks/10-conditions.html",
        "how do I cite": "book/cite.html",
    }
    for query, page in pages.items():
        shown = reader.open(f"search.html?q={query}")
        shown.locator(f"#search-results li > a[href*='{page}']").first.wait_for()


@pytest.mark.parametrize(
    "file", ["book/index.html", "notebooks/08-disrupted.html", "notebooks/15-three-judges.html"]
)
def test_a_first_visit_is_quiet_and_light(new_reader, address, file):
    reader = new_reader()
    weights = []
    reader.page.on(
        "response", lambda response: weights.append(int(response.headers.get("content-length", 0)))
    )
    reader.page.goto(f"{address}/{file}", wait_until="networkidle")
    reader.context.close()
    assert reader.complaints == []
    assert sum(weights) <= HEAVIEST


def test_a_figure_comes_down_as_a_picture_of_itself(reader, tmp_path):
    page = reader.open("notebooks/02-ratings.html")
    reader.use_theme("dark")
    caption = page.locator("figure.sense7-figure figcaption").first
    name = caption.locator("a[download]").get_attribute("download").removesuffix(".csv")
    for kind in ("SVG", "PNG"):
        button = caption.get_by_role("button", name=f"{kind} of the figure {name}")
        button.focus()
        with page.expect_download() as coming:
            page.keyboard.press("Enter")
        assert coming.value.suggested_filename == f"{name}.{kind.lower()}"
        coming.value.save_as(tmp_path / kind)
    drawn = (tmp_path / "SVG").read_text("utf-8")
    assert drawn.startswith("<svg ")
    assert "currentColor" not in drawn
    assert "Prosocial" in drawn
    width, height = (
        float(number)
        for number in re.search(r'width="([\d.]+)pt" height="([\d.]+)pt"', drawn).groups()
    )
    content = (tmp_path / "PNG").read_bytes()
    assert content.startswith(b"\x89PNG")
    size = struct.unpack(">II", content[16:24])
    assert size == pytest.approx(
        (2 * width / 0.75, 2 * height / 0.75), abs=3
    )  # at twice the size in pixels


# --- tables ----------------------------------------------------------------------------

STATIC = Path(__file__).resolve().parents[2] / "book" / "static"
HOSTILE = '<img src=x onerror="window.ran=1">'


@pytest.fixture(scope="module")
def shown(new_reader):
    """Show tables on a page of their own, with the book's style and script."""
    reader = new_reader()

    def show(*tables):
        html = "".join(table._repr_html_() for table in tables)
        reader.page.set_content(
            f"<html lang=en><title>Tables</title><main><article><h1>Tables</h1>{html}</article></main>"
        )
        reader.page.add_style_tag(path=STATIC / "companion.css")
        reader.page.add_script_tag(path=STATIC / "tables.js")
        return reader.page

    yield show
    reader.context.close()
    assert reader.outside == []


def table_of(texts, rows=12, **options):
    """A table whose rows keep their number, filled up with cells that are missing."""
    texts = [*texts, *[""] * (rows - len(texts))]
    index = pd.Index([f"row {number}" for number in range(len(texts))], name="which")
    return Table(
        pd.DataFrame({"value": texts, "text": [HOSTILE] * len(texts)}, index=index),
        "A table.",
        **options,
    )


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


PAGE = "notebooks/06-individualized.html"
NAME = "participant_share_beyond_condition_and_topic"
CHOICE = "overall rating"
HASH = f"#specification-{NAME}.rating=overall+rating"


def unfolded(page, name):
    """The figure of a result's variants, after its fold was opened."""
    figure = page.locator(f"#specification-{name}")
    page.locator("details.sense7-more", has=figure).locator("> summary").click()
    return figure


def content(figure):
    return json.loads(figure.locator("script[type='application/json']").text_content())


def said(figure):
    return figure.locator("output")


def sentence_of(figure, choices):
    """The end of the sentence on these choices: the estimate and how it was computed."""
    row = next(row for row in content(figure)["rows"] if row[0] == choices)
    return f": {row[5]} ({row[7]})."


def test_a_choice_among_variants_moves_sentence_drawing_and_address_and_is_reset(reader):
    page = reader.open(PAGE)
    figure = unfolded(page, NAME)
    figure.get_by_role("radio").first.focus()
    page.keyboard.press("ArrowDown")
    expect(figure.get_by_label(CHOICE, exact=True)).to_be_checked()
    expect(said(figure)).to_contain_text(sentence_of(figure, [1, 0, 0, 0]))
    naming.check(said(figure).inner_text(), "42.6 [31.0, 53.5]", "n = 670", "5 of 18")
    assert page.url.endswith(HASH)
    page.reload()
    expect(figure.get_by_label(CHOICE, exact=True)).to_be_checked()
    expect(said(figure)).to_contain_text(sentence_of(figure, [1, 0, 0, 0]))
    expect(figure).to_be_in_viewport()
    figure.get_by_label("complete turns only", exact=True).check()
    expect(said(figure)).to_contain_text(content(figure)["left_out"])
    naming.check(said(figure).inner_text(), "not computed")
    assert {path.get_attribute("d") for path in figure.locator(".sense7-here path").all()} == {""}
    figure.get_by_role("button", name="Reset to main analysis").click()
    assert "#" not in page.url
    expect(figure.get_by_role("radio").first).to_be_focused()
