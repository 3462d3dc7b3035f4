"""The rating page where a browser stands in the way: several tabs, no store, no downloads, a translation."""

import json

import pytest
from playwright.sync_api import expect

from helpers.pages import PATIENCE
from sense7.collect.gathering import read_download
from sense7.collect.page import write_page
from sense7.collect.study import StudyFile

REPLIES = ("That is annoying.", "Then look there.")
KEPT = """() => {
    const key = Object.keys(localStorage).find(each => each.endsWith(":P01"));
    return key ? JSON.parse(localStorage[key]) : null;
}"""
NO_STORE = "Object.defineProperty(window, 'localStorage', { get() { throw new DOMException('no', 'SecurityError') } })"
COUNT_WRITES = """() => {
    window.writes = 0;
    const setItem = Storage.prototype.setItem;
    Storage.prototype.setItem = function (key, text) { window.writes += 1; return setItem.call(this, key, text); };
}"""


def chat(name):
    said = [("user", f"I lost my keys ({name})."), ("assistant", REPLIES[0])]
    said += [("user", "At home."), ("assistant", REPLIES[1])]
    return {"id": name, "messages": [{"role": role, "content": text} for role, text in said]}


CHATS = (chat("C1"),)


@pytest.fixture
def page_file(tmp_path):
    """Write a page with one dimension and an overall rating."""

    def written(chats=CHATS, **settings):
        study = {
            "title": "Keys",
            "before": [],
            "after": [],
            "dimensions": ["Affective"],
            **settings,
        }
        return write_page(
            StudyFile.from_mapping(study, "study.yml"),
            list(chats),
            tmp_path / "rate.html",
            replace=True,
        )

    return written


@pytest.fixture
def context(browser):
    """A browser of a person's own, with a store that all its tabs share."""
    context = browser.new_context(reduced_motion="reduce", accept_downloads=True)
    context.set_default_timeout(PATIENCE)
    yield context
    context.close()


def begin(page):
    page.bring_to_front()  # a browser draws a tab behind another once a second, and clicks wait for that
    page.locator("#code").fill("P01")
    page.locator("button.main").click()


def rate(page, number, level):
    page.bring_to_front()
    page.locator("fieldset").nth(number).locator(".levels input").nth(level).check()


def go_on(page):
    page.locator("button.main").click()


def to_the_end(page):
    while "finish" not in page.locator("main").get_attribute("class"):
        for number in range(page.locator("fieldset").count()):
            rate(page, number, 3)
        go_on(page)


def tabs(context, file, number):
    """Tabs of one person, all on the first step, with their writes counted."""
    opened = [context.new_page() for _ in range(number)]
    opened[0].goto(file.as_uri())
    begin(opened[0])
    expect(opened[0].locator("fieldset")).to_have_count(2)
    for page in opened[1:]:
        page.goto(file.as_uri())
    for page in opened:
        expect(page.locator("fieldset")).to_have_count(2)
    return opened


def turns(page):
    return page.evaluate(KEPT)["conversations"][0]["turns"]


def expect_turns(page, expected):
    """What is kept, as soon as this tab sees what the others wrote."""
    for _ in range(200):
        if turns(page) == expected:
            break
        page.wait_for_timeout(100)
    assert turns(page) == expected


# Tabs


def test_answers_of_three_tabs_join_and_no_tab_answers_another_by_a_write(context, page_file):
    first, second, third = tabs(context, page_file(), 3)
    rate(first, 0, 4)
    rate(second, 1, 0)
    third.get_by_label("Comment").fill("from the third")
    expect_turns(
        first,
        {"2": {"Affective": "very good", "overall": "very poor", "comment": "from the third"}},
    )
    expect(first.get_by_label("Comment")).to_have_value("from the third")
    expect(third.locator("fieldset").first.get_by_label("Very good", exact=True)).to_be_checked()
    rate(second, 0, 1)  # the same question: the later answer counts
    expect(first.locator("fieldset").first.get_by_label("Poor", exact=True)).to_be_checked()
    first.get_by_label("Comment").fill("")  # an answer that is taken back
    expect(third.get_by_label("Comment")).to_have_value("")
    rate(third, 1, 2)
    expect_turns(first, {"2": {"Affective": "poor", "overall": "neutral"}})
    expect(first.locator(".other-tab")).not_to_be_empty()
    assert first.locator(".other-tab").inner_text()
    pages = (first, second, third)
    for page in pages:
        page.evaluate(COUNT_WRITES)
    writes = []
    for _ in range(20):  # of tabs that answered each other the writes would never end
        writes.append([page.evaluate("window.writes") for page in pages])
        first.wait_for_timeout(2000)
        if writes[-1] == [page.evaluate("window.writes") for page in pages]:
            break
    else:
        pytest.fail(f"writes of the three tabs, every two seconds: {writes}")


def test_what_is_being_typed_stays_while_another_tab_answers(context, page_file):
    questions = [{"name": "Age", "text": "How old are you?", "kind": "number", "lowest": 18}]
    questions.append({"name": "Job", "text": "What do you do?"})
    file = page_file(questions=questions)
    first, second = context.new_page(), context.new_page()
    first.goto(file.as_uri())
    begin(first)
    expect(first.get_by_label("How old")).to_be_visible()
    second.goto(file.as_uri())
    first.get_by_label("How old").fill("1")  # not yet a number that is taken
    second.get_by_label("What do you do?").fill("work")
    expect(first.get_by_label("What do you do?")).to_have_value("work")
    expect(first.get_by_label("How old")).to_have_value("1")
    expect(first.get_by_label("How old")).to_be_focused()


@pytest.mark.parametrize("action", ["Back", "reload", "answer"])
def test_what_was_removed_for_good_comes_back_from_no_other_tab(context, page_file, action):
    first, second = tabs(context, page_file(), 2)
    to_the_end(first)
    if action == "Back":
        to_the_end(second)
    first.bring_to_front()
    first.get_by_role("button", name="Remove my answers").click()
    first.get_by_role("button", name="Remove for good").click()
    assert first.evaluate(KEPT) is None
    expect(second.locator(".other-tab")).not_to_be_empty()  # says so, however late it hears of it
    second.bring_to_front()
    if action == "Back":
        second.get_by_role("button", name="Back").click()
    elif action == "answer":
        second.locator("fieldset .levels input").first.click()
    else:
        second.reload()
    expect(second.locator("#code")).to_be_visible()
    assert second.evaluate(KEPT) is None
    begin(second)  # again, under the same code
    expect(second.locator("input:checked")).to_have_count(0)


# Nothing is kept, nothing is saved


def test_where_nothing_is_kept_a_reload_and_another_person_are_asked_about(context, page_file):
    page, asked = context.new_page(), []
    page.on("dialog", lambda dialog: (asked.append(dialog.type), dialog.accept()))
    page.add_init_script(NO_STORE)
    page.goto(page_file().as_uri())
    expect(page.locator(".note.fault")).to_be_visible()
    assert page.locator(".note.fault").inner_text()
    begin(page)
    page.reload()
    assert asked == [], "nothing was answered yet"
    begin(page)
    rate(page, 0, 3)
    page.get_by_role("button", name="I am someone else").click()
    expect(page.get_by_text("This browser keeps nothing.")).to_be_visible()
    page.get_by_role("button", name="Keep them").click()
    page.reload()
    assert asked == ["beforeunload"]


@pytest.mark.parametrize(
    "sandbox", ["allow-scripts allow-forms", "allow-scripts allow-forms allow-downloads"]
)
def test_the_text_is_offered_and_no_file_is_claimed(context, page_file, tmp_path, sandbox):
    (tmp_path / "frame.html").write_text(
        f"<iframe sandbox='{sandbox}' src='{page_file().name}' width=380></iframe>"
    )
    page, downloads = context.new_page(), []
    page.on("download", lambda download: downloads.append(download.suggested_filename))
    page.goto((tmp_path / "frame.html").as_uri())
    frame = page.frame_locator("iframe")
    frame.locator("#code").fill("P01")
    frame.locator("button.main").click()
    for _ in range(2):
        for number in (0, 1):
            frame.locator("fieldset").nth(number).locator(".levels input").nth(3).check()
        frame.locator("button.main").click()
    frame.get_by_role("button", name="Download my answers").click()
    expect(
        frame.get_by_text("Your browser was asked to save the file ratings-P01.json.")
    ).to_be_visible()
    text = frame.get_by_label("Your answers as a text").input_value()
    (tmp_path / "copied.json").write_text(text, "utf-8")
    assert read_download(tmp_path / "copied.json").answers["C1", "message 2"] == {
        "Affective": "good",
        "overall": "good",
    }
    frame.get_by_role("button", name="Copy the text").click()
    expect(frame.get_by_text("The text was copied.")).to_be_visible()
    assert frame.get_by_label("Your answers as a text").evaluate(
        "field => field.selectionEnd"
    ) == len(text)
    assert downloads == (["ratings-P01.json"] if "allow-downloads" in sandbox else [])


# Texts


@pytest.mark.parametrize(
    ("pasted", "stored"),
    [
        ("two\x0blines\x0cthree", "two\nlines\nthree"),
        ("a\x01b\ufffec\uffff", "abc"),
        ("\ud83d\x07", None),
        ("\U0001f600", "\U0001f600"),
    ],
)
def test_what_no_workbook_can_hold_is_left_out_on_writing(context, page_file, pasted, stored):
    page = context.new_page()
    page.goto(page_file(before=["topic"]).as_uri())
    begin(page)
    write = """(field, text) => {
        field.value = JSON.parse(text);
        field.dispatchEvent(new InputEvent("input", { bubbles: true }));
    }"""
    page.locator("input").first.evaluate(write, json.dumps(pasted))
    go_on(page)
    if stored is None:  # the question has no answer
        page.get_by_role("button", name="Go on without").click()
    page.get_by_label("Comment").evaluate(write, json.dumps(pasted))
    kept = page.evaluate(KEPT)["conversations"][0]
    assert kept["turns"]["2"].get("comment") == stored
    assert kept["before"].get("topic") == (stored and stored.replace("\n", " "))
