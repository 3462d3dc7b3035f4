"""The page of all conversations in Chromium: how soon it can be read, how soon a filter answers."""

import os
import shutil
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

from book import BOOK, copied_checkout
from measuring import Counts, Row, run, say
from sense7.book.editions import EXPLORER_PAGE

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")

FIRST_VIEW = """
() => new Promise(resolve => {
  const place = document.querySelector("#sense7-explorer");
  // Two frames after the list is there it has been painted.
  const shown = () => requestAnimationFrame(() => requestAnimationFrame(() => resolve(performance.now())));
  const look = () => place.querySelectorAll("ol.list > li").length ? (shown(), true) : false;
  if (!look()) new MutationObserver((_, watching) => look() && watching.disconnect())
    .observe(place, {childList: true, subtree: true, attributes: true});
})
"""
"""Milliseconds since the navigation began until the list of conversations has been painted."""

FILTER = """
([label, place]) => new Promise(resolve => {
  const explorer = document.querySelector("#sense7-explorer");
  const choice = [...explorer.querySelectorAll("select")].find(each => each.labels[0].textContent.trim() === label);
  const status = explorer.querySelector("[role=status]"), before = status.textContent;
  const start = performance.now();
  const shown = () => requestAnimationFrame(() => requestAnimationFrame(() => resolve(performance.now() - start)));
  new MutationObserver((_, watching) => {
    if (status.textContent !== before) { watching.disconnect(); shown(); }
  }).observe(explorer, {childList: true, subtree: true, characterData: true});
  choice.selectedIndex = place;
  choice.dispatchEvent(new Event("input", {bubbles: true}));
})
"""
"""Milliseconds from a choice until what fits has been painted."""


def browser_path() -> str:
    """An installed Chromium."""
    path = os.environ.get("SENSE7_CHROMIUM") or next(filter(None, map(shutil.which, BROWSERS)), None)
    if path is None:
        raise RuntimeError(f"no browser: none of {', '.join(BROWSERS)} is installed, and SENSE7_CHROMIUM names none")
    return path


def explorer(counts: Counts) -> list[Row]:
    """First view and filter, of the page with 672 conversations, opened from disk."""
    view = Row(
        "explorer_view",
        "explorer page with 672 conversations: first view in Chromium",
        "",
        "under 1 s",
        at_most=1.0,
        note="Opened from disk in a browser that has never seen it, until the list has been painted.",
    )
    chosen = Row(
        "explorer_filter",
        "explorer page with 672 conversations: a filter in Chromium",
        "",
        "under 100 ms",
        at_most=0.1,
        note="From the choice until what fits has been painted; the first use of each page is the slowest, and counts.",
    )
    with copied_checkout(counts) as root, sync_playwright() as playwright:
        run(BOOK, root=root)
        html = root / "_build" / "editions" / "synthetic" / "html"
        browser = playwright.chromium.launch(executable_path=browser_path())
        for number in range(counts.pairs):
            with browser.new_context() as context:
                page = context.new_page()
                view.ours.append(first_view(page, html))
                chosen.ours.append(page.evaluate(FILTER, ["Condition", 1 + number % 2]) / 1000)
            say(f"explorer: {number + 1} of {counts.pairs}: {view.ours[-1]:.3f} s, {chosen.ours[-1]:.3f} s")
        browser.close()
    return [view, chosen]


def first_view(page: Page, html: Path) -> float:
    """Seconds from the navigation until the list is there."""
    page.goto(f"{html.as_uri()}/{EXPLORER_PAGE}", wait_until="commit")
    page.wait_for_selector("#sense7-explorer", state="attached")
    return page.evaluate(FIRST_VIEW) / 1000


ENTRIES = {"explorer": explorer}
