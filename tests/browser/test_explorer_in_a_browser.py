"""The conversations of the book as a reader explores them, opened from disk; what people wrote is only text."""

import shutil
from dataclasses import replace

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

from sense7.book.editions import EXPLORER_PAGE
from sense7.book.explorer import add_conversations, explorer_files
from sense7.loading import load

HOSTILE = (
    "<img src=x onerror='window.ran = 1'></script><script>window.ran = 2</script>{{7*7}} \u202etxt \u2028 &amp; end"
)


@pytest.fixture(scope="module", autouse=True)
def explorer(html):
    if not (html / EXPLORER_PAGE).is_file():
        pytest.skip(f"{EXPLORER_PAGE} is not in the book's contents")


def opened(page):
    expect(page.locator("#sense7-explorer")).to_have_attribute("data-state", "loaded")
    return page


def entries(page):
    return page.locator("#sense7-explorer ol.list > li")


def status(page):
    return page.locator("#sense7-explorer").get_by_role("status").first


def test_filters_leave_what_fits_and_stand_in_the_address(reader):
    page = opened(reader.open(EXPLORER_PAGE))
    study = load("synthetic")
    total = len(study.conversations)
    expect(status(page)).to_have_text(f"All {total:,} conversations.")
    condition = str(study.conversations["condition"].iloc[0])
    fitting = int((study.conversations["condition"] == condition).sum())
    page.get_by_label("Condition", exact=True).select_option(label=condition)
    expect(status(page)).to_have_text(f"{fitting:,} of {total:,} conversations.")
    assert all(condition in text for text in entries(page).all_inner_texts())
    page.wait_for_url("**#*condition=*")
    page.reload()
    expect(status(opened(page))).to_have_text(f"{fitting:,} of {total:,} conversations.")
    page.get_by_label("Search the texts").fill("no conversation holds these words")
    expect(status(page)).to_contain_text("Nothing fits all filters")
    page.get_by_role("button", name="Show all").click()
    expect(status(page)).to_have_text(f"All {total:,} conversations.")


def test_a_conversation_opens_by_keyboard_and_back_leads_to_the_list(reader):
    page = opened(reader.open(EXPLORER_PAGE))
    link = entries(page).first.locator("a")
    name = link.inner_text()
    link.focus()
    page.keyboard.press("Enter")
    heading = page.get_by_role("heading", name=f"Conversation {name}")
    expect(heading).to_be_focused()
    expect(entries(page).first).to_be_hidden()
    page.go_back()
    expect(heading).to_be_hidden()
    expect(link).to_be_focused()


def test_an_address_opens_its_conversation(reader):
    conversation = load("synthetic").conversations.iloc[-1]["conversation"]
    page = opened(reader.open(f"{EXPLORER_PAGE}#conversation={conversation}"))
    expect(page.get_by_role("heading", name=f"Conversation {conversation}")).to_be_visible()
    assert page.locator("#sense7-explorer li.message").count() > 1
    opened(reader.open(f"{EXPLORER_PAGE}#conversation=%3Cb%3Enone"))
    page.reload()
    expect(page.locator("#sense7-explorer")).to_contain_text("There is no conversation of this name")
    assert page.locator("#sense7-explorer b").count() == 0


def test_texts_of_the_data_are_only_text(reader, html, tmp_path):
    study = load("synthetic")
    first = study.conversations.iloc[0]["conversation"]
    messages = study.messages.assign(content=HOSTILE)
    for part in ("book", "_static"):
        shutil.copytree(html / part, tmp_path / part)
    add_conversations(explorer_files(replace(study, messages=messages)), tmp_path)
    reader.html = tmp_path
    page = opened(reader.open(f"{EXPLORER_PAGE}#conversation={first}"))
    shown = page.locator("#sense7-explorer li.message .own").filter(has_text="onerror")
    assert shown.first.text_content() == HOSTILE
    assert page.locator("#sense7-explorer").locator("img, script, iframe").count() == 0
    page.get_by_role("link", name="Back to the list").first.click()
    page.get_by_label("Search the texts").fill("onerror=")
    expect(entries(page).first).to_be_visible()
    entries(page).first.locator("a").click()
    expect(page.locator("#sense7-explorer mark").first).to_have_text("onerror=")
    assert page.evaluate("window.ran") is None


def test_a_conversation_is_read_on_a_phone_without_fault(reader):
    """As every page, but with a conversation open."""
    page = opened(reader.open(EXPLORER_PAGE))
    entries(page).first.locator("a").click()
    expect(page.locator("#sense7-explorer li.message").first).to_be_visible()
    options = {"resultTypes": ["violations"], "preload": False}
    for theme in ("light", "dark"):
        reader.use_theme(theme)
        faults = Axe().run(page, options=options).response["violations"]
        assert [fault["id"] for fault in faults if fault["impact"] in {"serious", "critical"}] == []
    page.set_viewport_size({"width": 390, "height": 844})
    assert page.evaluate("document.scrollingElement.scrollWidth") == 390
