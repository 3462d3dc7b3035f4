"""The built book in a browser: opened from disk, as it is when unpacked, and from a server on this machine."""

import re
import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

import pytest

from helpers.pages import PATIENCE
from sense7.book.build import build_edition

OUTSIDE = re.compile(r"^(?!file:|data:|blob:|about:|http://127\.0\.0\.1:)")
WIDE = {"width": 1280, "height": 900}


@pytest.fixture(scope="session")
def html():
    """Folder of the pages of this checkout's own edition; built if it is not up to date."""
    with pytest.MonkeyPatch.context() as patch:
        for name in ("SENSE7_ROOT", "GITHUB_REPOSITORY"):
            patch.delenv(name, raising=False)
        return build_edition("synthetic").folder / "html"


class Reader:
    """One who opens pages, and notes what the browser complains of and what it asks of other hosts."""

    def __init__(self, browser, html):
        self.html = html
        self.complaints, self.outside, self.theme = [], [], "light"
        self.context = browser.new_context(
            viewport=WIDE, color_scheme=self.theme, reduced_motion="reduce", accept_downloads=True
        )
        self.context.set_default_timeout(PATIENCE)
        self.context.route(OUTSIDE, self._refuse)
        self.page = self.context.new_page()
        self.page.on("console", self._hear)
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))

    def _refuse(self, route):
        self.outside.append(route.request.url)
        route.abort()

    def _hear(self, message):
        if message.type in {"error", "warning"}:
            self.complaints.append(message.text)

    def open(self, file):
        """Open a page from disk."""
        self.page.goto(f"{self.html.as_uri()}/{file}")
        return self.page

    def use_theme(self, theme):
        """What the reader's system asks for, light or dark; the theme of the page is followed to its end."""
        self.theme = theme
        self.page.emulate_media(color_scheme=theme)
        self.page.wait_for_function(
            "theme => document.documentElement.dataset.theme === theme"
            " && !document.getAnimations().some(each => { each.finish(); return each.playState === 'running'; })",
            arg=theme,
        )


@pytest.fixture(scope="module")
def new_reader(browser, html):
    """Make a reader who has never been here; to be closed."""
    return partial(Reader, browser, html)


@pytest.fixture
def reader(new_reader):
    """A reader on their first visit; nothing is asked of another host."""
    reader = new_reader()
    yield reader
    reader.context.close()
    assert reader.outside == []


@pytest.fixture
def page(reader):
    """The reader's page."""
    return reader.page


@pytest.fixture(scope="module")
def address(html):
    """Where a server on this machine serves the book."""

    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, *_):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=html)) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()
