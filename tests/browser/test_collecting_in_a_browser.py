"""People rate conversations on the page, opened from disk; what they download becomes a workbook."""

import json

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

from helpers import naming
from helpers.pages import PATIENCE
from sense7.collect.gathering import gather, read_download
from sense7.collect.page import wording, write_page
from sense7.collect.study import LANGUAGES, StudyFile
from sense7.loading import load
from sense7.taxonomy import DIMENSION_NAMES

HOSTILE = "<img src=x onerror='window.ran = 1'></script><script>window.ran = 2</script>{{7*7}} \u202etxt =1+1"
REPLIES = ("I am sorry to hear that.", "What would help?")
SAID = [
    ("user", "I had a bad day."),
    ("assistant", REPLIES[0]),
    ("user", HOSTILE),
    ("assistant", REPLIES[1]),
]


def chat(name, participant=None, condition="plain"):
    messages = [{"role": role, "content": text, "seconds": 1.5} for role, text in SAID]
    return {"id": name, "condition": condition, "participant": participant, "messages": messages}


CHATS = [chat("C1"), chat("C2", condition="plain-empathy")]
QUESTIONS = [
    {"name": "Age", "text": "How old are you?", "kind": "number", "lowest": 18, "highest": 99},
    {
        "name": "Job",
        "text": "What do you do?",
        "kind": "choice",
        "choices": ["Office", HOSTILE],
        "when": "after",
    },
]
RATE = """(fields, level) => fields.forEach(field => {
    const choices = field.querySelectorAll("input"), choice = choices[Math.min(level, choices.length - 1)];
    if (!choice.checked) choice.click();
})"""


class Person:
    """One who rates, in a browser of their own."""

    def __init__(self, browser, page_file):
        self.file, self.complaints, self.asked = page_file, [], []
        self.context = browser.new_context(accept_downloads=True, reduced_motion="reduce")
        self.context.set_default_timeout(PATIENCE)
        self.page = self._new_page()

    def _new_page(self):
        page = self.context.new_page()
        page.on("console", lambda message: self.complaints.append(message.text))
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.on("request", lambda request: self.asked.append(request.url))
        return page

    def open(self):
        """Open the page in a new tab, in place of the last."""
        self.page.goto("about:blank")  # a closed tab's process is gone with what it wrote just now
        self.page.close()
        self.page = self._new_page()
        self.page.goto(self.file.as_uri())
        return self.page

    def begin(self, code):
        page = self.open()
        page.locator("#code").fill(code)
        if page.locator("#agree").count():
            page.locator("#agree").check()
        self.go_on()
        return page

    def go_on(self):
        self.page.locator("button.main").click()

    def through(self, level):
        """Answer every step alike, up to the last."""
        while "finish" not in self.page.locator("main").get_attribute("class"):
            about = "about" in self.page.locator("main").get_attribute("class")
            self.page.locator("fieldset").evaluate_all(RATE, 0 if about else level)
            for field in self.page.locator("input.number").all():
                field.fill("44")
            for field in self.page.locator("input:not([type]):not(.number)").all():
                field.fill("work")
            self.go_on()

    def download(self, folder):
        with self.page.expect_download() as waiting:
            self.go_on()
        path = folder / waiting.value.suggested_filename
        waiting.value.save_as(path)
        return path


@pytest.fixture
def new_person(browser, tmp_path):
    """Give a study's page to a person; in the end it has complained of nothing and asked for nothing else."""
    people = []

    def new(study=None, chats=tuple(CHATS), **more):
        study = study or StudyFile("Ten chats", **more)
        page_file = write_page(study, list(chats), tmp_path / "rate.html", replace=True)
        people.append(Person(browser, page_file))
        return people[-1]

    yield new
    for person in people:
        assert person.complaints == []
        own = {person.file.as_uri()}
        assert [url for url in person.asked if url not in own and not url.startswith("blob:")] == []
        assert person.page.evaluate("window.ran") is None
        person.context.close()


def test_three_people_rate_and_their_downloads_become_a_workbook(new_person, tmp_path):
    asked = {"title": HOSTILE, "consent": "I may stop.", "questions": QUESTIONS}
    study = StudyFile.from_mapping(asked | {"order": "shuffled", "seed": 7}, "study.yml")
    folder = tmp_path / "ratings"
    folder.mkdir()
    for number, code in enumerate(("anna", "ben", "花子")):
        person = new_person(study)
        person.begin(code)
        person.through(number)
        assert read_download(person.download(folder)).person == code
    gathered = gather(folder, tmp_path / "mine.xlsx")
    assert gathered.notes == []
    orders = {download.dimensions for download in gathered.downloads}
    assert len(orders) > 1, "orders differ between people"
    read = load(tmp_path / "mine.xlsx")
    rated = read.turns.groupby("participant")[["overall", *DIMENSION_NAMES]].first()
    assert rated.to_numpy().tolist() == [[level] * 8 for level in (1, 2, 3)]
    assert read.conversations.groupby("participant")["importance"].first().tolist() == [1, 2, 3]
    assert read.conversations["post_Relational"].tolist() == [1, 1, 2, 2, 3, 3]
    assert set(read.conversations["topic"]) == {"work"}
    assert read.participants["Age"].tolist() == [44, 44, 44]
    assert read.messages["content"].iloc[2] == HOSTILE
    assert set(read.messages["seconds"]) == {1.5}


def test_one_rates_by_keys_skips_comes_back_and_downloads_what_was_answered(new_person, tmp_path):
    """The session of one person, from the first code that is refused to the download."""
    study = {
        "title": "T",
        "consent": "I may stop.",
        "questions": QUESTIONS[:1],
        "before": [],
        "after": [],
    }
    person = new_person(StudyFile.from_mapping(study, ""), chats=CHATS[:1])
    page = person.open()
    fault = page.locator("#start-fault")
    person.go_on()
    expect(fault).not_to_be_empty()
    page = person.begin("=1+1")
    expect(page.locator("#start-fault")).not_to_be_empty()
    page = person.begin("anna")
    for wrong in ("17", "abc", "1e2"):
        page.get_by_label("How old").fill(wrong)
        person.go_on()
        expect(page.locator("[id$=-fault]:visible")).not_to_be_empty()
        naming.check(page.locator("[id$=-fault]:visible").inner_text(), 18, 99)
    page.get_by_label("How old").fill("18")
    person.go_on()
    # Only what was said so far is seen.
    expect(page.locator(".conversation")).to_contain_text(REPLIES[0])
    expect(page.locator(".conversation")).not_to_contain_text(REPLIES[1])
    fields = page.locator("fieldset")
    fields.first.locator("input").first.focus()
    page.keyboard.press("Control+3")  # the browser's
    expect(fields.first.locator("input:checked")).to_have_count(0)
    page.keyboard.press("4")
    expect(fields.first.get_by_label("Good", exact=True)).to_be_checked()
    page.keyboard.press("0")  # does not apply
    expect(fields.nth(1).locator(".apart input")).to_be_checked()
    expect(fields.nth(2).locator("input").first).to_be_focused()
    page.keyboard.press("Space")
    page.keyboard.press("ArrowRight")
    expect(fields.nth(2).get_by_label("Poor", exact=True)).to_be_checked()
    page.get_by_label("Comment").fill("=1+1")
    page = person.open()
    expect(page.get_by_text("Welcome back, anna.")).to_be_visible()
    fields = page.locator("fieldset")
    expect(fields.nth(2).get_by_label("Poor", exact=True)).to_be_checked()
    expect(page.get_by_label("Comment")).to_have_value("=1+1")
    person.go_on()
    unanswered = page.get_by_role("alert").filter(has_text=": 5.")
    expect(unanswered).to_be_visible()
    expect(fields.nth(3).locator("input").first).to_be_focused()
    page.get_by_role("button", name="Go on without").click()
    person.go_on()
    page.get_by_role("button", name="Go on without").click()
    link = page.get_by_role("link", name="Turn 1 of 2")
    address = link.get_attribute("href")
    link.click()
    expect(page.get_by_role("heading", name="Turn 1 of 2")).to_be_focused()
    assert page.url.endswith(address)
    page.go_back()
    path = person.download(tmp_path)
    assert read_download(path).answers["C1", "message 2"] == {
        **{"Affective": "good", "Cognitive": "unknown", "Response": "poor", "comment": "=1+1"}
    }
    assert json.loads(path.read_text("utf-8"))["answers"] == {"Age": 18}


def test_a_person_who_has_no_conversation_is_named_and_another_rates_their_own(new_person):
    """And of their own the turn whose number the study gives."""
    own = [chat("C1", "anna"), chat("C2", "ben")]
    person = new_person(conversations="own", turns=(2,), before=(), chats=own)
    page = person.begin("cleo")
    naming.check(page.locator("#start-fault").inner_text(), "cleo")
    page = person.begin("ben")
    expect(page.get_by_text("Conversation 1 of 1")).to_be_visible()
    expect(page.get_by_text(REPLIES[1])).to_be_visible()
    expect(page.locator("fieldset").first).to_be_visible()


ATTEMPTS = """async () => {
    const refused = new Set();
    document.addEventListener("securitypolicyviolation", (event) => refused.add(event.effectiveDirective));
    const [image, script, form] = ["img", "script", "form"].map((tag) => document.createElement(tag));
    image.src = "https://example.org/a.png";
    script.textContent = "window.ran = 3";
    form.action = "https://example.org/";
    document.body.append(image, script, form);
    form.submit();
    await fetch("https://example.org/a").catch(() => null);
    await new Promise((done) => setTimeout(done, 300));
    return [...refused].sort();
}"""


def test_the_browser_refuses_to_send_or_load_anything_even_if_the_page_tried(new_person):
    person = new_person()
    refused = person.open().evaluate(ATTEMPTS)
    assert refused == ["connect-src", "form-action", "img-src", "script-src-elem"]
    person.complaints.clear()  # the browser says what it refused
    person.asked.clear()


def faults(page, *, of_colors=False):
    options = {"resultTypes": ["violations"], "preload": False}
    if of_colors:
        options["runOnly"] = ["color-contrast", "link-in-text-block"]
    return [fault["id"] for fault in Axe().run(page, options=options).response["violations"]]


OTHERS = [pytest.param(one, marks=pytest.mark.long) for one in sorted({*LANGUAGES} - {"en"})]


@pytest.mark.parametrize("language", ["en", *OTHERS])
def test_every_step_is_without_fault_on_a_phone_and_a_desk_in_light_and_dark(new_person, language):
    study = {
        "title": "T",
        "language": language,
        "turns": "first",
        "consent": "C",
        "questions": QUESTIONS,
    }
    person = new_person(StudyFile.from_mapping(study, ""), chats=CHATS[:1])
    page = person.open()
    seen = []
    while True:
        kind = page.locator("main").get_attribute("class")
        seen.append(kind)
        for width, theme in ((360, "light"), (1280, "dark")):
            page.set_viewport_size({"width": width, "height": 800})
            page.emulate_media(color_scheme=theme)
            assert page.evaluate("document.scrollingElement.scrollWidth") <= width, kind
            # In dark only colors differ.
            assert language != "en" or faults(page, of_colors=theme == "dark") == [], (kind, theme)
        if kind == "finish":
            break
        if kind == "start":
            page = person.begin("anna")
            continue
        person.go_on()
        if page.locator(".skip:visible").count():
            assert language != "en" or faults(page) == [], kind
            page.get_by_role("button", name=wording(language)["go_on"]).click()
    assert seen == ["start", "about", "before", "turn", "after", "about", "finish"]
    assert page.evaluate("document.documentElement.lang").startswith(language)
