"""What stands on a page, and Chromium to look at it."""

import contextlib
import os
import shutil

import pytest

BROWSERS = (
    "chromium-headless-shell",
    *("chromium", "chromium-browser", "google-chrome", "google-chrome-stable"),
)
PATIENCE = 120_000
"""Milliseconds until what has not come to a page is taken to be missing; tests run side by side, on few processors."""


@contextlib.contextmanager
def chromium():
    """An installed Chromium without a window.

    While it is open, playwright's event loop counts as running in this thread, and tests that run one themselves fail.
    """
    playwright = pytest.importorskip("playwright.sync_api")
    path = os.environ.get("SENSE7_CHROMIUM") or next(
        filter(None, map(shutil.which, BROWSERS)), None
    )
    if path is None:
        pytest.skip(
            f"no browser: none of {', '.join(BROWSERS)} is installed, and SENSE7_CHROMIUM names none"
        )
    with playwright.sync_playwright() as started:
        playwright.expect.set_options(timeout=PATIENCE)
        browser = started.chromium.launch(executable_path=path)
        yield browser
        browser.close()


def text(tag):
    """The text of an element, its white space as single spaces."""
    return " ".join(tag.get_text(" ").split())
