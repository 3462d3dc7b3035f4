"""The book of a workbook full of hostile text, judged by a hostile model: all of it is text, and nothing else.

The markup is what a browser makes of it, since nobody else's reading counts. What a payload would run sets
``window.__pwned``; what it would load comes from a host that is not this machine.
"""

import importlib.util
import re
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import quote

import pytest
from playwright.sync_api import expect

from helpers import endpoint, hostile
from sense7 import load

pytestmark = pytest.mark.long

EXPLORER = "book/explorer.html"
WORD = re.compile("zq[a-z]+[0-9]?[0-9]{2}q")
THEME_SAYS = {"Got invalid theme mode: . Resetting to auto."}
PLACES_OF_TEXT = {
    ("svg", "aria-label"),  # what a figure shows, for those who do not see it
    ("a", "href"),  # into the explorer, and within it; see below
    ("option", "value"),  # filters of the explorer
    ("meta", "content"),  # what search engines read of the page
}
"""Attributes in which a text of the data belongs."""

THEME_RUNS = {"window.print()", "toggleFullScreen()"}
"""Buttons of the theme."""

LOOK = """() => {
    const word = /zq[a-z]+[0-9]?[0-9]{2}q/;
    const attributes = [], elements = [];
    for (const element of document.querySelectorAll("*")) {
        for (const { name, value } of element.attributes) {
            if (word.test(name) || word.test(value)) attributes.push([element.localName, name, value]);
            if (name.startsWith("on")) attributes.push([element.localName, name, value]);
        }
        const odd = ["iframe", "object", "embed", "base", "math", "mglyph", "frame", "applet", "portal"];
        const holds = ["script", "style", "link", "meta", "title", "noscript", "textarea"];
        // A formula of the book's own stands by itself, outside of results.
        const own = element.matches("math[display=block]") && !element.closest("table, figure, .cell_output");
        if (odd.includes(element.localName) && (!own || word.test(element.textContent))) {
            elements.push(element.outerHTML.slice(0, 200));
        }
        if (holds.includes(element.localName) && word.test(element.textContent)) {
            elements.push(`${element.localName}: ${element.textContent.slice(0, 200)}`);
        }
    }
    // What a notebook says on standard error names folders of the machine that made the book.
    const noise = document.querySelectorAll(".stderr, .math, mjx-container, .MathJax").length;
    return { attributes, elements, noise, ran: window.__pwned ?? null, text: document.body.textContent };
}"""
"""What a browser made of a page: attributes and elements that a payload may have a part in."""


@pytest.fixture(scope="module")
def predictions(tmp_path_factory):
    """Two runs of a judge whose model, prompt and replies are hostile; None without what asks one."""
    if importlib.util.find_spec("openai") is None:
        return None
    from helpers.studies import write_study
    from sense7.judge.asking.ask import Endpoint
    from sense7.judge.asking.requests import Prompt
    from sense7.judge.asking.session import carry_out, plan_session

    folder = tmp_path_factory.mktemp("judged")
    write_study(hostile.sheets(), folder / "asked.xlsx")
    file = folder / f"{hostile.text('prompt', 10)[:9]} <img src=x onerror=1>.txt"
    file.write_text(
        "\n".join([*hostile.texts("template"), "{chat}"]), encoding="utf-8", newline="\n"
    )

    def answer(asked):
        return endpoint.Answer(
            text=f"<S0>{hostile.text('output', asked.number)}</S0><S2>{1 + asked.number % 5}</S2>"
        )

    with endpoint.Endpoint(answer) as server:
        plan = plan_session(
            load(folder / "asked.xlsx"),
            endpoint=Endpoint.of(server.address),
            folder=folder / "session",
            model=f"maker/{hostile.text('model', 1)}",
            prompt=Prompt.read(file),
            runs=2,
        )
        with ThreadPoolExecutor(
            1
        ) as apart:  # the browser of other modules runs an event loop in this thread
            assert set(apart.submit(carry_out, plan).result().statuses) == {"ok"}
    return folder / "session"


@pytest.fixture(scope="module", autouse=True)
def built(predictions, tmp_path_factory):
    """The edition; a link in its place leads out of the folder of editions."""
    root = tmp_path_factory.mktemp("hostile")
    outside = tmp_path_factory.mktemp("outside")
    (outside / "precious.txt").write_text("kept", encoding="utf-8")
    editions = root / "_build" / "editions"
    editions.mkdir(parents=True)
    (editions / "hostile").symlink_to(outside, target_is_directory=True)
    edition = hostile.build(root, predictions)
    assert [path.name for path in outside.iterdir()] == ["precious.txt"]
    assert not edition.folder.is_symlink()
    return edition


@pytest.fixture(scope="module")
def html(built):
    """Folder of the pages; the readers of this module open these."""
    return built.folder / "html"


@pytest.fixture(scope="module")
def study(built):
    return load(built.folder / "data" / hostile.FILE)


@pytest.fixture
def reader(new_reader):
    """A reader who is asked nothing, and whose browser complains of nothing and asks nobody outside."""
    reader = new_reader()
    dialogs = []
    reader.page.on("dialog", lambda dialog: (dialogs.append(dialog.message), dialog.dismiss()))
    yield reader
    reader.context.close()
    assert dialogs == []
    assert reader.outside == []
    assert set(reader.complaints) <= THEME_SAYS


def look(page):
    """What is on a page; elements and requests caused by a payload are named."""
    found = page.evaluate(LOOK)
    assert found["ran"] is None
    assert found["elements"] == []
    assert found["noise"] == 0
    places = [entry for entry in found["attributes"] if entry[2] not in THEME_RUNS]
    assert [entry for entry in places if tuple(entry[:2]) not in PLACES_OF_TEXT] == []
    for _, name, value in places:
        if name == "href":
            assert re.match(
                r"(\.\./book/|\.\./)?(explorer\.html)?#|data:text/csv;base64,", value
            ), value
    return found["text"]


def pages(html):
    return sorted(
        str(path.relative_to(html))
        for path in html.rglob("*.html")
        if "_static" not in path.parts and path.name != "index.html"
    )


# Pages


def test_no_page_holds_anything_that_a_text_of_the_data_made(reader, html):
    everything = {file: look(reader.open(file)) for file in [*pages(html), "book/index.html"]}
    fields = {
        file: {word[2:-3] for word in WORD.findall(text)} for file, text in everything.items()
    }
    assert {"cond", "head", "sheet", "trait0"} <= fields["notebooks/01-dataset.html"]
    assert "said" in fields["notebooks/00-taxonomy.html"]
    assert not [file for file, found in fields.items() if found & {"pid", "task"}]
    assert "comment" in fields["notebooks/11-words.html"]
    assert {"cond", "file"} <= fields["book/index.html"]
    for file in ("10-conditions", "07-context"):
        assert "cond" in fields[f"notebooks/{file}.html"], file
    unnamed = {file for file, found in fields.items() if "file" not in found}
    assert unnamed == {f"notebooks/{name}.html" for name in hostile.RELEASED}, (
        "elsewhere the banner names the workbook"
    )
    assert "7" in hostile.FILE
    assert not [
        file
        for file, text in everything.items()
        if "{{ 49 }}" in text or re.search(r"root:[x*]:0:", text)
    ]


def test_a_hostile_judge_stands_on_its_page_as_text(reader, html, predictions):
    if predictions is None:
        pytest.skip("the extra judge is not installed")
    for file in ("notebooks/12-judge.html", "notebooks/13-baselines.html"):
        assert "zqmodel01q" in look(reader.open(file)), file


def test_a_search_finds_pages_and_shows_texts_as_texts(reader, address):
    page = reader.page
    page.goto(f"{address}/search.html?q=zqtopic00q+script")
    expect(page.locator("#search-results")).to_contain_text(
        re.compile("finished|Search Results|did not match", re.I)
    )
    look(page)
    page.goto(f"{address}/search.html?q={quote(hostile.text('topic', 1))}")
    page.wait_for_load_state("networkidle")
    assert page.evaluate(LOOK)["ran"] is None
    assert page.locator("#search-results img, main img[onerror]").count() == 0


# The explorer


def test_every_conversation_opens_and_shows_what_was_said(reader, html, study):
    page = reader.open(EXPLORER)
    root = page.locator("#sense7-explorer")
    expect(root).to_have_attribute("data-state", "ready")
    for name, messages in study.messages.groupby("conversation", sort=False):
        page.evaluate(
            "name => { location.hash = new URLSearchParams({conversation: name}); }", name
        )
        expect(root.locator("h2")).to_have_text(re.compile(rf"\b{name}\b"))
        said = root.locator("li.message .text > p.own").all_text_contents()
        assert said == messages["content"].tolist()
        comments = root.locator("li.message .comment > p.own").all_text_contents()
        assert comments == messages["comment"].dropna().tolist()
        assert page.evaluate(LOOK)["ran"] is None
    look(page)


STATES = [
    "sort=constructor",
    "poor=__proto__",
    "sort=__proto__&poor=toString&label=x",
    "judge=__proto__&low=constructor&level=9&first=x&with=%00&turn=-1&with_turn=1e9&compare=%3Cb%3E",
]


@pytest.mark.parametrize("state", STATES)
def test_no_address_makes_the_explorer_fail(state, reader, html):
    page = reader.open(
        f"{EXPLORER}#{state}&conversation={quote('<img src=x onerror=window.__pwned=1>')}"
    )
    expect(page.locator("#sense7-explorer")).to_contain_text(
        "There is no conversation of this name"
    )
    look(page)
