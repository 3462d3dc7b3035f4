"""A checkout, a cache and a server of the tests' own."""

import hashlib
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pandas as pd
import pytest

from sense7.workbook import Sheet, write_sheets


class Server:
    """Answers by path from ``answers``: bytes, or a function of the request's handler."""

    def __init__(self):
        self.answers = {}
        self.asked = []
        self.stop = threading.Event()
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self):
                outer.asked.append(self.path)
                answer = outer.answers.get(self.path.partition("?")[0])
                if answer is None:
                    self.send_error(404)
                elif callable(answer):
                    answer(self)
                else:
                    self.send(answer)

            def send(self, body, status=200, length=None, **headers):
                self.send_response(status)
                self.send_header("Content-Length", str(len(body)) if length is None else str(length))
                for name, value in headers.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):
                pass

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.port = self.http.server_address[1]
        self.thread = threading.Thread(target=self.http.serve_forever, kwargs={"poll_interval": 0.01})
        self.thread.start()

    def address(self, path="/official.xlsx"):
        return f"http://127.0.0.1:{self.port}{path}"

    def close(self):
        self.stop.set()
        self.http.shutdown()
        self.http.server_close()
        self.thread.join()


@pytest.fixture(autouse=True)
def places(tmp_path, monkeypatch):
    """A checkout, a cache and a working directory of the test's own; no proxy in between."""
    root = tmp_path / "checkout"
    for folder in ("notebooks", "data"):
        (root / folder).mkdir(parents=True)
    (root / "_config.yml").touch()
    (root / "data" / "claims.yml").touch()
    write_sheets(
        [Sheet("Tasks", ["TaskId", "planted"], []), Sheet("Messages", ["TaskId"], [])], root / "data/synthetic.xlsx"
    )
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    monkeypatch.setenv("SENSE7_ROOT", str(root))
    monkeypatch.setenv("SENSE7_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("NO_PROXY", "*")
    return tmp_path


@pytest.fixture
def listening():
    """A server on loopback, without answers yet."""
    running = Server()
    yield running
    running.close()


@pytest.fixture
def left_behind(places):
    """Names of unfinished files and folders in the cache."""
    return lambda: sorted(path.name for path in (places / "cache").rglob("*") if ".part" in path.name)


@pytest.fixture
def same_study():
    """Assert that two studies hold the same people, conversations, messages and ratings, in the same order."""

    def compare(ours, theirs, of=lambda ids: ids.notna()):
        for name in ("conversations", "messages", "turns", "participants"):
            found, expected = getattr(ours, name), getattr(theirs, name)
            if expected is None:
                assert found is None
                continue
            if "conversation" in expected:
                expected = expected[of(expected["conversation"])]
            expected = expected.reset_index(drop=True).drop(columns="row")
            pd.testing.assert_frame_equal(found.drop(columns="row"), expected)

    return compare


@pytest.fixture
def digest_of():
    """The first digits of the SHA-256 of the cells of sheets."""

    def digest(sheets):
        cells = [(sheet.name, sheet.header, sheet.rows) for sheet in sheets]
        return hashlib.sha256(repr(cells).encode()).hexdigest()[:16]

    return digest
