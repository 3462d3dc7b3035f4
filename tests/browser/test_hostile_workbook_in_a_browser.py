"""The book of a workbook full of hostile text, judged by a hostile model: all of it is text, and nothing else.

The markup is what a browser makes of it, since nobody else's reading counts. What a payload would run sets
``window.__pwned``; what it would load comes from a host that is not this machine.
"""

import importlib.util
import json
import re
import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from urllib.parse import quote

import pytest
import yaml
from playwright.sync_api import expect

from helpers import endpoint, hostile
from helpers.judged import ask
from helpers.studies import write_study
from sense7 import load
from sense7.book.build import build_edition
from sense7.judge.asking.requests import Prompt
from sense7.workbook.reading import STANDARD

pytestmark = pytest.mark.long

ROOT = Path(__file__).resolve().parents[2]
EXPLORER = "book/explorer.html"
FRONT = (
    "{value}`best_condition`; {edition}`name`, {edition}`file`, {edition}`prompted_condition`.\n"
)
PAGES = ("explorer", "ledger", "how-to-read", "cite")
NOTEBOOKS = (
    *("00-taxonomy", "01-dataset", "02-ratings", "10-conditions", "06-individualized"),
    *("07-context", "11-words", "17-robustness", "13-baselines", "12-judge"),
    *("14-whose-empathy", "16-elsewhere"),
)
"""Pages that show texts of the data or of a judge, and three whose values or figures these pages show."""

SHOWN = {
    # Fields whose words stand on a page
    "notebooks/01-dataset": {"cond", "head", "trait0", "file"},
    "notebooks/00-taxonomy": {"said", "file"},
    "notebooks/11-words": {"comment", "file"},
    "notebooks/10-conditions": {"cond", "file"},
    "notebooks/07-context": {"topic", "file"},
    "book/index": {"cond", "file"},
}
WORD = re.compile("zq([a-z]+[0-9]?)[0-9]{2}q")
THEME_SAYS = {"Got invalid theme mode: . Resetting to auto."}
THEME_RUNS = {"window.print()", "toggleFullScreen()"}
"""Buttons of the theme."""

PLACES_OF_TEXT = {
    ("svg", "aria-label"),  # what a figure shows
    ("span", "aria-description"),  # how a value was computed, of which judge
    ("a", "href"),  # into the explorer, and within it
    ("option", "value"),  # filters of the explorer
    ("meta", "content"),  # what search engines read of the page
}
"""Attributes in which a text of the data belongs."""

LOOK = """() => {
    const word = /zq[a-z]+[0-9]?[0-9]{2}q/;
    const attributes = [], elements = [];
    for (const element of document.querySelectorAll("*")) {
        for (const { name, value } of element.attributes) {
            if (word.test(name) || word.test(value) || name.startsWith("on")) {
                attributes.push([element.localName, name, value]);
            }
        }
        const odd = ["iframe", "object", "embed", "base", "math", "mglyph", "frame", "applet", "portal"];
        const holds = ["script", "link", "meta", "noscript", "textarea"];  // title and style name the file
        // A formula of the book's own stands by itself, outside of results.
        const own = element.matches("math") && !element.closest("table, figure, .cell_output");
        const is_odd = odd.includes(element.localName) && (!own || word.test(element.textContent));
        if (is_odd || (holds.includes(element.localName) && word.test(element.textContent))) {
            elements.push(element.outerHTML.slice(0, 200));
        }
    }
    // What a notebook says on standard error names folders of the machine that made the book.
    const noise = document.querySelectorAll(".stderr, .math, mjx-container, .MathJax").length;
    return { attributes, elements, noise, ran: window.__pwned ?? null, text: document.body.textContent };
}"""
"""What a browser made of a page: attributes and elements that a payload may have a part in."""


def ask_a_hostile_judge(folder):
    """Two runs of a judge whose model, prompt and replies are hostile; None without what asks one."""
    if importlib.util.find_spec("openai") is None:
        return None
    write_study(hostile.sheets(), folder / "asked.xlsx")
    prompt = folder / f"{hostile.text('prompt', 10)[:9]} <img src=x onerror=1>.txt"
    lines = [text.replace("\0", "") for text in hostile.texts("template")]  # which no text may hold
    prompt.write_text("\n".join([*lines, "{chat}"]), "utf-8", newline="\n")

    def answer(asked):
        said = hostile.text("output", asked.number)
        return endpoint.Answer(text=f"<S0>{said}</S0><S2>{1 + asked.number % 5}</S2>")

    study, model = load(folder / "asked.xlsx"), f"maker/{hostile.text('model', 1)}"
    options = {"model": model, "prompt": Prompt.read(prompt), "runs": 2}
    # The browser of other modules runs an event loop in this thread.
    with endpoint.Endpoint(answer) as server, ThreadPoolExecutor(1) as apart:
        outcome = apart.submit(ask, study, server, folder / "session", **options).result()
    assert set(outcome.statuses) == {"ok"}
    return folder / "session"


def write_project(root):
    """The book's own pages and notebooks around the hostile workbook, and a front page with its names."""
    files = [*(f"book/{page}" for page in PAGES), *(f"notebooks/{name}" for name in NOTEBOOKS)]
    data = ["data/claims.yml", *(f"data/{path.name}" for path in (ROOT / "data").glob("*.json"))]
    pages = [f"{file}.md" for file in files]
    for file in ("requirements.lock", "book/references.bib", *data, *pages):
        (root / file).parent.mkdir(exist_ok=True)
        shutil.copyfile(ROOT / file, root / file)
    for folder in ("book/static", "book/templates", "data/real"):
        shutil.copytree(ROOT / folder, root / folder)
    config = yaml.safe_load((ROOT / "_config.yml").read_text("utf-8"))
    # Pages that are left out here
    config["sphinx"]["config"]["suppress_warnings"] = ["myst.xref_missing"]
    chapters = [{"file": file} for file in files]
    toc = {"format": "jb-book", "root": "book/index", "chapters": chapters}
    (root / "_config.yml").write_text(yaml.safe_dump(config, sort_keys=False), "utf-8")
    (root / "_toc.yml").write_text(yaml.safe_dump(toc), "utf-8")
    (root / "book" / "index.md").write_text(f"# Front\n\n{FRONT}", "utf-8")
    reading = f"{STANDARD}prompted: {json.dumps(hostile.text('cond', hostile.CONDITIONS[0]))}\n"
    write_study(hostile.sheets(), root / hostile.FILE, reading)


@pytest.fixture(scope="module")
def judged(tmp_path_factory):
    return ask_a_hostile_judge(tmp_path_factory.mktemp("judged"))


@pytest.fixture(scope="module")
def html(judged, tmp_path_factory):
    """Folder of the pages; a link in the edition's place leads out of the folder of editions."""
    root, outside = tmp_path_factory.mktemp("hostile"), tmp_path_factory.mktemp("outside")
    (outside / "precious.txt").write_text("kept", "utf-8")
    (root / "_build" / "editions").mkdir(parents=True)
    (root / "_build" / "editions" / "hostile").symlink_to(outside, target_is_directory=True)
    write_project(root)
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("GITHUB_REPOSITORY", raising=False)
        patch.setenv("SENSE7_ROOT", str(root))
        options = {"name": "hostile", "predictions": judged, "parameters": {"draws": 100}}
        edition = build_edition(str(root / hostile.FILE), **options)
    assert [path.name for path in outside.iterdir()] == ["precious.txt"]
    assert not edition.folder.is_symlink()
    return edition.folder / "html"


def look(page):
    """The text of a page, on which no element, attribute or script is of a payload's making."""
    found = page.evaluate(LOOK)
    assert (found["ran"], found["elements"], found["noise"]) == (None, [], 0)
    for element, name, value in found["attributes"]:
        if value not in THEME_RUNS:
            assert (element, name) in PLACES_OF_TEXT, value
        if name == "href":
            assert re.match(r"(\.\./book/|\.\./)?(explorer\.html)?#|data:text/csv;base64,", value)
    return found["text"]


def look_at_every_page(reader, html, has_judge):
    files = [path.relative_to(html).as_posix() for path in html.rglob("*.html")]
    files = [file for file in files if not file.startswith("_static/") and file != "index.html"]
    texts = {file.removesuffix(".html"): look(reader.open(file)) for file in sorted(files)}
    fields = {file: set(WORD.findall(text)) for file, text in texts.items()}
    for file, shown in SHOWN.items():
        assert shown <= fields[file], file
    assert [file for file, found in fields.items() if found & {"pid", "task"}] == []
    for file, text in texts.items():
        assert "{{ 49 }}" not in text, file
        assert not re.search(r"root:[x*]:0:", text), file
        if has_judge and file in {"notebooks/12-judge", "notebooks/13-baselines"}:
            assert "zqmodel01q" in text


def open_every_conversation(page, study):
    root = page.locator("#sense7-explorer")
    expect(root).to_have_attribute("data-state", "ready")
    for name, messages in study.messages.groupby("conversation", sort=False):
        go = "name => { location.hash = new URLSearchParams({conversation: name}); }"
        page.evaluate(go, name)
        expect(root.locator("h2")).to_have_text(re.compile(rf"\b{name}\b"))
        said = root.locator("li.message .text > p.own").all_text_contents()
        assert said == messages["content"].tolist()
        comments = root.locator("li.message .comment > p.own").all_text_contents()
        assert comments == messages["comment"].dropna().tolist()
    look(page)


STATES = [
    "sort=constructor",
    "sort=__proto__&poor=toString&label=x",
    "judge=__proto__&low=constructor&level=9&first=x&with=%00&turn=-1&with_turn=1e9&compare=%3Cb%3E",
]


def test_a_hostile_workbook_and_judge_are_text_everywhere(new_reader, html, judged, address):
    reader, dialogs = new_reader(), []
    reader.page.on("dialog", lambda dialog: (dialogs.append(dialog.message), dialog.dismiss()))
    look_at_every_page(reader, html, judged is not None)
    reader.page.goto(f"{address}/search.html?q=zqtopic00q+script")
    ended = re.compile("finished|Search Results|did not match", re.IGNORECASE)
    expect(reader.page.locator("#search-results")).to_contain_text(ended)
    look(reader.page)
    study = load(html.parent / "data" / hostile.FILE)
    open_every_conversation(reader.open(EXPLORER), study)
    for state in STATES:
        name = quote("<img src=x onerror=window.__pwned=1>")
        page = reader.open(f"{EXPLORER}#{state}&conversation={name}")
        page.reload()
        said = page.locator("#sense7-explorer")
        expect(said).to_contain_text("There is no conversation of this name")
        look(page)
    reader.context.close()
    assert (dialogs, reader.outside) == ([], [])
    assert set(reader.complaints) <= THEME_SAYS
