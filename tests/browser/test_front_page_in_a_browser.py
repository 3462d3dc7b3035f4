"""The front page and the reading paths in a browser: filters by mark, the way along a path, the weight of a page."""

import pytest

HEAVIEST = 1.5e6  # bytes of a page with all that it loads to be seen, not compressed


@pytest.fixture
def front(reader):
    return reader.open("book/index.html")


@pytest.fixture
def ledger(reader):
    return reader.open("book/ledger.html")


def rows(page):
    return page.locator(".sense7-ledger-picture > section li:visible")


def test_tab_leads_to_the_skip_link_first_and_soon_to_the_article(front):
    where = []
    while len(where) < 10 and "article" not in where:
        front.keyboard.press("Tab")
        where.append(
            front.evaluate(
                "(node => node.closest('article') ? 'article' : node.closest('#pst-skip-link') ? 'skip' : 'other')"
                "(document.activeElement)"
            )
        )
    assert where[0] == "skip"
    assert where[-1] == "article", where


def test_a_mark_filters_the_rows_by_keyboard_and_again_shows_all(ledger):
    every = rows(ledger).count()
    button = ledger.get_by_role("button", name="not passed")
    button.focus()
    ledger.keyboard.press("Enter")
    assert button.get_attribute("aria-pressed") == "true"
    assert 0 < rows(ledger).count() < every
    assert set(rows(ledger).evaluate_all("nodes => nodes.map(node => node.dataset.rule)")) == {"not-passed"}
    ledger.keyboard.press("Enter")
    assert rows(ledger).count() == every
    ledger.get_by_role("button", name="decided").click()
    ledger.get_by_role("button", name="all").click()
    assert rows(ledger).count() == every


def test_each_row_leads_to_the_cell_that_computed_it(ledger):
    link = rows(ledger).first.locator("a")
    target = link.evaluate("node => node.href")
    link.click()
    ledger.wait_for_url(target)
    assert ledger.evaluate("document.getElementById(location.hash.slice(1)) !== null")


@pytest.mark.parametrize("path", ["five-minutes", "half-an-hour"])
def test_next_follows_the_path_to_its_end(front, path):
    front.locator(f".sense7-paths [data-path={path}] a").click()
    front.wait_for_load_state("load")
    seen = []
    while front.locator("a.right-next").is_visible():
        seen.append(front.url.partition("html/")[2])
        assert front.locator(".sense7-paths p:visible").count() == 1
        title = front.locator("a.right-next .prev-next-title").text_content()
        front.locator("a.right-next").click()
        front.wait_for_load_state("load")
        assert front.locator("article h1").first.text_content().startswith(title.rstrip(" .\u2026")[:20])
    assert len(seen) == {"five-minutes": 3, "half-an-hour": 7}[path]
    assert all(url.endswith(f"?path={path}") for url in seen)
    assert front.locator(".sense7-paths p:visible").text_content().endswith("this is its last page.")


@pytest.mark.parametrize("file", ["book/index.html", "notebooks/12-disrupted.html", "notebooks/20-three-judges.html"])
def test_a_first_visit_is_quiet_and_light(new_reader, address, file):
    reader = new_reader()
    weights = []
    reader.page.on("response", lambda response: weights.append(int(response.headers.get("content-length", 0))))
    reader.page.goto(f"{address}/{file}", wait_until="networkidle")
    reader.context.close()
    assert reader.complaints == []
    assert sum(weights) <= HEAVIEST


def test_no_page_loads_what_only_the_search_needs(html):
    for path in [*html.glob("book/*.html"), *html.glob("notebooks/*.html")]:
        page = path.read_text("utf-8")
        assert "searchindex.js" not in page, path
        assert "fontawesome.js" not in page, path
    assert "searchindex.js" in (html / "search.html").read_text("utf-8")
