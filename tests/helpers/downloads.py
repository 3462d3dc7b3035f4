"""A server of files on loopback, and small files to be fetched from it."""

import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import xlsxwriter


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
                self.send_header(
                    "Content-Length", str(len(body)) if length is None else str(length)
                )
                for name, value in headers.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):
                pass

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.port = self.http.server_address[1]
        self.thread = threading.Thread(
            target=self.http.serve_forever, kwargs={"poll_interval": 0.01}
        )
        self.thread.start()

    def address(self, path="/official.xlsx"):
        return f"http://127.0.0.1:{self.port}{path}"

    def close(self):
        self.stop.set()
        self.http.shutdown()
        self.http.server_close()
        self.thread.join()


def workbook(path, text="hello", sheets=("Tasks", "messages")):
    """A small workbook; other text, other bytes."""
    with xlsxwriter.Workbook(path) as book:
        for name in sheets:
            book.add_worksheet(name).write_row(0, 0, ["TaskId", text])
    return path.read_bytes()
