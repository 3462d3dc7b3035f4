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


def chat(name, participant=None, condition="plain"):
    said = [("I had a bad day.", REPLIES[0]), (HOSTILE, REPLIES[1])]
    messages = [
        {"role": role, "content": text, "seconds": 1.5}
        for pair in said
        for role, text in zip(("user", "assistant"), pair, strict=True)
    ]
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

    def open(self, again=False):
        if again:
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

    def rate(self, level):
        self.page.locator("fieldset").evaluate_all(RATE, level)

    def through(self, level):
        """Answer every step alike, up to the last."""
        while "finish" not in self.page.locator("main").get_attribute("class"):
            self.rate(0 if "about" in self.page.locator("main").get_attribute("class") else level)
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
        people.append(
            Person(browser, write_page(study, list(chats), tmp_path / "rate.html", replace=True))
        )
        return people[-1]

    yield new
    for person in people:
        assert person.complaints == []
        assert set(person.asked) <= {person.file.as_uri()} | {
            url for url in person.asked if url.startswith("blob:")
        }
        assert person.page.evaluate("window.ran") is None
        person.context.close()


def test_three_people_rate_and_their_downloads_become_a_workbook(new_person, tmp_path):
    asked = {
        "title": HOSTILE,
        "consent": "I may stop.",
        "questions": QUESTIONS,
        "order": "shuffled",
        "seed": 7,
    }
    study = StudyFile.from_mapping(asked, "study.yml")
    folder = tmp_path / "ratings"
    folder.mkdir()
    for number, code in enumerate(("anna", "ben", "花子")):
        person = new_person(study)
        person.begin(code)
        person.through(number)
        assert read_download(person.download(folder)).person == code
    gathered = gather(folder, tmp_path / "mine.xlsx")
    assert gathered.notes == []
    assert len({download.dimensions for download in gathered.downloads}) > 1, (
        "orders differ between people"
    )
    read = load(tmp_path / "mine.xlsx")
    assert read.turns.groupby("participant")[
        ["overall", *DIMENSION_NAMES]
    ].first().to_numpy().tolist() == [[level] * 8 for level in (1, 2, 3)]
    assert read.conversations.groupby("participant")["importance"].first().tolist() == [1, 2, 3]
    assert read.conversations["post_Relational"].tolist() == [1, 1, 2, 2, 3, 3]
    assert set(read.conversations["topic"]) == {"work"}
    assert read.participants["Age"].tolist() == [44, 44, 44]
    assert read.messages["content"].iloc[2] == HOSTILE
    assert set(read.messages["seconds"]) == {1.5}


def test_not_applicable_stands_apart_and_is_the_official_unknown(new_person, tmp_path):
    person = new_person(turns="last", before=(), after=(), chats=CHATS[:1])
    page = person.begin("anna")
    page.locator("fieldset .apart input").first.check()
    for field in page.locator("fieldset").all()[1:]:
        field.get_by_label("Very good", exact=True).check()
    page.get_by_label("Comment").fill("=1+1")
    person.go_on()
    (turn,) = json.loads(person.download(tmp_path).read_text("utf-8"))["conversations"][0]["turns"]
    assert (turn["message"], turn["Affective"], turn["Cognitive"], turn["comment"]) == (
        4,
        "unknown",
        "very good",
        "=1+1",
    )


def test_a_closed_tab_loses_nothing_that_was_answered(new_person):
    person = new_person(before=())
    page = person.begin("anna")
    page.locator("fieldset").nth(2).get_by_label("Poor", exact=True).check()
    page.get_by_label("Comment").fill("half a")
    page = person.open(again=True)
    expect(page.get_by_text("Welcome back, anna.")).to_be_visible()
    expect(page.locator("fieldset").nth(2).get_by_label("Poor", exact=True)).to_be_checked()
    expect(page.get_by_label("Comment")).to_have_value("half a")


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


def test_what_is_missing_is_said_and_may_be_skipped(new_person, tmp_path):
    person = new_person(turns="first", before=(), after=(), chats=CHATS[:1])
    page = person.begin("anna")
    page.locator("fieldset").first.get_by_label("Good", exact=True).check()
    person.go_on()
    unanswered = page.get_by_role("alert").filter(has_text=": 7.")
    expect(unanswered).to_be_visible()
    naming.check(unanswered.locator("p").inner_text(), ": 7.")
    expect(page.locator("fieldset").nth(1).locator("input").first).to_be_focused()
    page.get_by_role("button", name="Go on without").click()
    page.get_by_role("link", name="Turn 1 of 1").click()
    expect(page.get_by_role("heading", name="Turn 1 of 1")).to_be_focused()
    page.go_back()
    download = read_download(person.download(tmp_path))
    assert download.answers["C1", "message 2"] == {"Affective": "good"}


def test_keys_rate_without_a_mouse(new_person):
    person = new_person(before=(), turns="first")
    page = person.begin("anna")
    page.locator("fieldset").first.locator("input").first.focus()
    page.keyboard.press("4")
    expect(page.locator("fieldset").first.get_by_label("Good", exact=True)).to_be_checked()
    page.keyboard.press("0")
    expect(page.locator("fieldset").nth(1).locator(".apart input")).to_be_checked()
    expect(page.locator("fieldset").nth(2).locator("input").first).to_be_focused()
    page.keyboard.press("Space")
    page.keyboard.press("ArrowRight")
    expect(page.locator("fieldset").nth(2).get_by_label("Poor", exact=True)).to_be_checked()


def test_only_what_was_said_so_far_is_seen(new_person):
    page = new_person(before=()).begin("anna")
    expect(page.locator(".conversation")).to_contain_text(REPLIES[0])
    expect(page.locator(".conversation")).not_to_contain_text(REPLIES[1])


def test_the_code_and_the_consent_are_asked_for(new_person):
    person = new_person(
        conversations="own", consent="I may stop.", chats=[chat("C1", "anna"), chat("C2", "ben")]
    )
    page = person.open()
    person.go_on()
    fault = page.locator("#start-fault")
    expect(fault).not_to_be_empty()
    assert fault.inner_text()
    refusals = []
    for code in ("", "=1+1", "cleo"):
        person.begin(code)
        expect(fault).to_be_visible()
        refusals.append(fault.inner_text())
    without_code, unfit, unknown = refusals
    assert without_code == unfit
    assert unfit
    naming.check(unknown, "cleo")
    person.begin("ben")
    expect(page.get_by_text("Conversation 1 of 1")).to_be_visible()


def test_a_number_off_its_limits_is_not_taken(new_person):
    person = new_person(StudyFile.from_mapping({"title": "T", "questions": QUESTIONS}, ""))
    page = person.begin("anna")
    fault, refusals = page.locator("[id$=-fault]:visible"), set()
    for wrong in ("17", "abc", "1e2"):
        page.get_by_label("How old").fill(wrong)
        person.go_on()
        expect(fault).not_to_be_empty()
        refusals.add(fault.inner_text())
    (sentence,) = refusals
    naming.check(sentence, 18, 99)
    page.get_by_label("How old").fill("18")
    person.go_on()
    expect(page.get_by_role("heading", name="Before the conversation")).to_be_focused()


def faults(page):
    return [
        fault["id"]
        for fault in Axe()
        .run(page, options={"resultTypes": ["violations"], "preload": False})
        .response["violations"]
    ]


@pytest.mark.parametrize(
    "language",
    ["en", *(pytest.param(one, marks=pytest.mark.long) for one in sorted({*LANGUAGES} - {"en"}))],
)
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
            assert language != "en" or faults(page) == [], (kind, theme)
        if kind == "finish":
            break
        if kind == "start":
            person.begin("anna")
            continue
        person.go_on()
        if page.locator(".skip:visible").count():
            assert language != "en" or faults(page) == [], kind
            page.get_by_role("button", name=wording(language)["go_on"]).click()
    assert seen == ["start", "about", "before", "turn", "after", "about", "finish"]
    assert page.evaluate("document.documentElement.lang").startswith(language)
