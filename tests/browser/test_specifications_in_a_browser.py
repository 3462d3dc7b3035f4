"""A reader changes the analysis on a page opened from disk: what is shown follows, and the address keeps it."""

import json

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

PAGE = "notebooks/06-poor-turn.html"
NAME = "poor_turn_d"
CHOICE = "any dimension at most 2"
HASH = "#specification-poor_turn_d.poor+turn=any+dimension+at+most+2"


@pytest.fixture
def figure(reader):
    page = reader.open(PAGE)
    expect(page.locator(f"#specification-{NAME} fieldset.control")).to_be_visible()
    return page.locator(f"#specification-{NAME}")


def content(figure):
    return json.loads(figure.locator("script[type='application/json']").text_content())


def said(figure):
    return figure.locator("output")


def test_a_choice_by_keyboard_switches_sentence_and_drawing(figure):
    data = content(figure)
    page = figure.page
    figure.get_by_role("radio").first.focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    expect(figure.get_by_label(CHOICE, exact=True)).to_be_checked()
    row = next(row for row in data["rows"] if row[0] == [2, 0, 0, 0])
    expect(said(figure)).to_contain_text(f"With these choices: {row[5]}.")
    expect(said(figure)).to_contain_text(f"number {row[6] + 1} of ")
    for mark in figure.locator(".sense7-here").all():
        x0, dx, *_ = map(float, mark.get_attribute("data-geometry").split())
        place = mark.locator("path").nth(2).get_attribute("d").removeprefix("M").split()[0]
        assert float(place) == pytest.approx(x0 + dx * row[6])


def test_the_address_keeps_the_choice_and_forgets_it(figure):
    page = figure.page
    figure.get_by_label(CHOICE, exact=True).check()
    assert page.url.endswith(HASH)
    page.reload()
    expect(figure.get_by_label(CHOICE, exact=True)).to_be_checked()
    expect(said(figure)).to_contain_text("With these choices")
    expect(figure).to_be_in_viewport()
    figure.get_by_role("button", name="As on the other pages").click()
    assert "#" not in page.url
    expect(figure.get_by_role("radio").first).to_be_focused()


def test_a_combination_that_was_not_computed_says_why(reader):
    other = reader.open("notebooks/10-individualized.html").locator("#specification-participants_share")
    other.get_by_label("overall rating", exact=True).check()
    other.get_by_label("complete turns only", exact=True).check()
    expect(said(other)).to_contain_text(f"not computed: {content(other)['left_out']}")
    assert {path.get_attribute("d") for path in other.locator(".sense7-here path").all()} == {""}


def test_a_click_on_the_curve_chooses(figure):
    picture = figure.locator("svg:visible")
    x0 = float(picture.locator(".sense7-here").get_attribute("data-geometry").split()[0])
    box = picture.bounding_box()
    view = [float(number) for number in picture.get_attribute("viewBox").split()]
    picture.click(position={"x": (x0 - view[0]) * box["width"] / view[2], "y": box["height"] / 2})
    expect(said(figure)).to_contain_text("number 1 of ")


def test_paper_shows_the_choices_of_the_book(figure):
    page = figure.page
    before = said(figure).inner_text()
    figure.get_by_label(CHOICE, exact=True).check()
    page.emulate_media(media="print")
    expect(said(figure)).to_have_text(before)
    expect(figure.locator("fieldset.control")).to_be_hidden()
    expect(figure.locator("svg:visible")).to_be_visible()
    page.emulate_media(media="screen")
    expect(said(figure)).to_contain_text("With these choices")


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.long
def test_it_is_read_on_a_phone_without_fault(reader, figure, theme):
    page = figure.page
    page.set_viewport_size({"width": 360, "height": 740})
    reader.use_theme(theme)
    figure.get_by_label(CHOICE, exact=True).check()
    assert page.evaluate("document.scrollingElement.scrollWidth") == 360
    options = {"resultTypes": ["violations"], "preload": False}
    faults = Axe().run(page, context=f"#specification-{NAME}", options=options).response["violations"]
    assert [fault["id"] for fault in faults if fault["impact"] in {"serious", "critical"}] == []


def test_without_a_script_the_curve_stands_there_and_no_dead_control(browser, html):
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(f"{html.as_uri()}/{PAGE}")
    figure = page.locator(f"#specification-{NAME}")
    expect(said(figure)).to_contain_text("As on the other pages:")
    expect(figure.locator("svg:visible")).to_be_visible()
    assert figure.locator("input, button, select").count() == 0
    context.close()
