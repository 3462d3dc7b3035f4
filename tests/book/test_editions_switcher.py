"""Editions lie side by side: a reader goes from a page to the same page in another edition, from disk as well."""

import json
import shutil
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
from bs4 import BeautifulSoup

from helpers import naming
from helpers.pages import PATIENCE
from sense7.book.editions import FORMAT, list_editions, write_manifest, write_site

ROOT = Path(__file__).resolve().parents[2]
HOSTILE = "it's <b> & “x” \u2028 </script><script>window.hit = 1</script>"
PAGE = """<!DOCTYPE html>
<html lang="en" data-content_root="{root}"><head><meta charset="utf-8"><title>A page</title>
<script>window.problems = []; window.addEventListener("error", (event) => problems.push(event.message))</script>
<script defer data-edition="{name}" src="{root}_static/editions.js"></script></head>
<body><aside class="bd-header-announcement" aria-label="Announcement">
<div class="bd-header-announcement__content">Data.</div></aside><main><h1>A page</h1></main></body></html>
"""


def make_edition(editions, name, label="some data", pages=("book/index", "notebooks/01-a")):
    """A finished edition, as far as the list and the script look at it."""
    folder = editions / name
    for page in ("index", "search", *pages, "_static/macros"):
        path = folder / "html" / f"{page}.html"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(PAGE.format(root="../" * page.count("/") or "./", name=name), "utf-8")
    shutil.copyfile(
        ROOT / "book" / "static" / "editions.js", folder / "html" / "_static" / "editions.js"
    )
    facts = {"format": FORMAT, "label": label, "kind": "synthetic", "texts": ""}
    (folder / "edition.json").write_text(json.dumps(facts), "utf-8")
    return folder


def listed(editions):
    text = (editions / "editions.js").read_text("utf-8")
    assert text.endswith(";\n")
    return json.loads(text.removeprefix("window.sense7Editions = ").removesuffix(";\n"))


# A web site


def test_a_site_holds_editions_as_they_were_and_a_front_page_in_the_order_asked_for(tmp_path):
    for name in ("one", "two (b)", "three"):
        folder = make_edition(tmp_path / "editions", name, HOSTILE)
        (folder / "results").mkdir()
        (folder / "results" / "a.json").write_text("{}", "utf-8")
        (folder / "ledger.json").write_text("[]", "utf-8")
        (folder / "data").mkdir()
        write_manifest(folder)
        (folder / "html" / "beside.txt").write_text("mine", "utf-8")
        (folder / "html" / "link.html").symlink_to(tmp_path / "a file.txt")
    front = write_site(tmp_path / "editions", ["two (b)", "one"], tmp_path / "site")
    page = BeautifulSoup(front.read_text("utf-8"), "html.parser")
    links = [link["href"] for link in page.select("main a")]
    assert links == [
        "editions/two%20%28b%29/html/book/index.html",
        "editions/one/html/book/index.html",
    ]
    assert page.find("meta", attrs={"http-equiv": "refresh"})["content"] == f"0; url={links[0]}"
    assert all((front.parent / unquote(link)).is_file() for link in links)
    assert [*(tmp_path / "site").rglob("beside.txt"), *(tmp_path / "site").rglob("link.html")] == []
    assert page.select("script") == []
    nowhere = BeautifulSoup((front.parent / "404.html").read_text("utf-8"), "html.parser")
    assert " ".join(nowhere.find("main").get_text().split())
    assert HOSTILE in page.get_text()
    assert [entry["name"] for entry in listed(tmp_path / "site" / "editions")] == ["one", "two (b)"]
    assert sorted(path.name for path in (tmp_path / "site" / "editions" / "one").iterdir()) == [
        "edition.json",
        "html",
        "ledger.json",
        "results",
    ]


def test_a_site_is_whole_or_not_there(tmp_path):
    edition = make_edition(tmp_path / "editions", "one")
    write_manifest(edition)
    with naming.refused("absent", "sense7 build", "--name"):
        write_site(tmp_path / "editions", ["one", "absent"], tmp_path / "site")
    page = edition / "html" / "search.html"
    page.rename(tmp_path / "elsewhere.html")
    page.symlink_to(tmp_path / "elsewhere.html")
    with naming.refused("html/search.html ", "sense7 build WORKBOOK --name one"):
        write_site(tmp_path / "editions", ["one"], tmp_path / "site")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["editions", "elsewhere.html"]
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "mine.txt").write_text("kept", "utf-8")
    with naming.refused(f"{tmp_path / 'site'}: "):
        write_site(tmp_path / "editions", ["one"], tmp_path / "site")
    assert (tmp_path / "site" / "mine.txt").read_text("utf-8") == "kept"


# In a browser


@pytest.fixture
def visit(browser):
    """Open a page from disk; gives it with what the console said."""
    context = browser.new_context()
    context.set_default_timeout(PATIENCE)

    def open_page(path, anchor=""):
        page = context.new_page()
        said = []
        page.on("console", lambda message: said.append(message.text))
        page.on("requestfailed", lambda request: said.append(request.url))
        page.goto(path.as_uri() + anchor, wait_until="load")
        page.wait_for_function("performance.getEntriesByType('navigation')[0].loadEventEnd > 0")
        return page, said

    yield open_page
    context.close()


@pytest.fixture
def editions(tmp_path):
    """Three editions, one of them without the notebook, with names and data that are hard on a page."""
    folder = tmp_path / "a checkout #1 100%" / "_build" / "editions"
    make_edition(folder, "one")
    make_edition(folder, "Übung 2.a+(b)", HOSTILE)
    make_edition(folder, "zero", "others' data", pages=["book/index"])
    (folder / ".part-sense7-x").mkdir()
    (make_edition(folder, "no front") / "html" / "index.html").unlink()
    list_editions(folder)
    return folder


def place(page):
    """The file that a browser shows."""
    return Path(unquote(urlsplit(page.url).path))


def open_list(page):
    nav = page.get_by_role("navigation", name="Editions of this book")
    nav.wait_for()
    nav.locator("summary").click()
    return nav


def test_a_reader_goes_to_the_same_place_in_another_edition_and_back(editions, visit):
    page, said = visit(editions / "one" / "html" / "notebooks" / "01-a.html", "#cell-3")
    nav = open_list(page)
    assert nav.locator("summary").inner_text() == "Edition: one"
    nav.get_by_role("link", name="Übung 2.a+(b)").click()
    assert place(page) == editions / "Übung 2.a+(b)" / "html" / "notebooks" / "01-a.html"
    assert page.url.endswith("#cell-3")
    open_list(page).get_by_role("link", name="one").click()
    assert place(page) == editions / "one" / "html" / "notebooks" / "01-a.html"
    assert said == []


def test_where_the_other_edition_lacks_the_page_its_front_page_opens(editions, visit):
    page, said = visit(editions / "one" / "html" / "notebooks" / "01-a.html", "#cell-3")
    nav = open_list(page)
    assert nav.locator("li a").all_text_contents() == ["one", "zero", "Übung 2.a+(b)"]
    here, without_the_page, there = nav.locator("li small").all_text_contents()
    assert (here, there) == ("some data", HOSTILE)
    naming.check(without_the_page, "others' data")
    assert nav.locator("[aria-current=page]").all_text_contents() == ["one"]
    assert page.locator("nav b, nav script").count() == 0
    assert page.evaluate("window.hit") is None
    assert said == page.evaluate("problems") == []
    nav.get_by_role("link", name="zero").click()
    assert place(page) == editions / "zero" / "html" / "book" / "index.html"
    assert "#" not in page.url


def test_the_list_opens_and_closes_by_keyboard(editions, visit):
    page, _ = visit(editions / "one" / "html" / "book" / "index.html")
    nav = page.get_by_role("navigation", name="Editions of this book")
    nav.wait_for()
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    assert nav.locator("ul").is_visible()
    page.keyboard.press("Tab")
    page.keyboard.press("Escape")
    assert not nav.locator("ul").is_visible()
    assert page.evaluate("document.activeElement.textContent") == "Edition: one"


@pytest.mark.parametrize("case", ["elsewhere", "renamed", "the only one"])
def test_a_book_without_others_shows_and_logs_nothing(editions, visit, tmp_path, case):
    if case == "elsewhere":
        html = shutil.copytree(editions / "one" / "html", tmp_path / "site" / "one")
    elif case == "renamed":
        html = (editions / "one").rename(editions / "mine") / "html"
    else:
        for other in ("zero", "Übung 2.a+(b)"):
            shutil.rmtree(editions / other)
        list_editions(editions)
        html = editions / "one" / "html"
    page, said = visit(html / "book" / "index.html")
    assert page.locator("nav").count() == 0
    assert said == page.evaluate("problems") == []
