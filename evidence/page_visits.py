"""Pages as they reach a phone on a slow line: kilobytes, requests, seconds to the largest paint, shift, blocking.

The line is that which Lighthouse calls slow 4G, and the processor is four times slower. Pages are packed as a web
server packs them, and nothing is kept from an earlier visit.
"""

import gzip
import mimetypes
import shutil
import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

PHONE = {"width": 412, "height": 823}
BYTES_PER_SECOND = 1_600_000 / 8 * 0.9
SLOW_4G = {
    "offline": False,
    "latency": 150,
    "downloadThroughput": BYTES_PER_SECOND,
    "uploadThroughput": BYTES_PER_SECOND / 2,
}
SLOWDOWN = 4
SETTLED = 2500
"""Milliseconds after loading in which a page still paints, shifts or computes."""

OBSERVE = """
window.seen = { paint: 0, shift: 0, blocking: 0 };
const observe = (type, note) => new PerformanceObserver((list) => list.getEntries().forEach(note))
    .observe({ type, buffered: true });
observe("largest-contentful-paint", (entry) => { seen.paint = entry.startTime / 1000; });
observe("layout-shift", (entry) => { seen.shift += entry.value; });
observe("longtask", (entry) => { seen.blocking += Math.max(0, entry.duration - 50); });
"""
PACKED = ("font", "image/png")
"""Types of files that are packed already."""


class Packed(SimpleHTTPRequestHandler):
    """Serves a folder, its texts packed."""

    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        """Say nothing."""

    def do_GET(self):
        """Send a file."""
        path = Path(self.translate_path(self.path))
        if not path.is_file():
            self.send_error(404)
            return
        content = path.read_bytes()
        kind = mimetypes.guess_type(path.name)[0] or "application/octet-stream"
        self.send_response(200)
        self.send_header("Content-Type", kind)
        if not kind.startswith(PACKED):
            content = gzip.compress(content, 6)
            self.send_header("Content-Encoding", "gzip")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)


def visit(browser, folder: Path, file: str) -> dict[str, float]:
    """Open a page of a folder for the first time."""
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Packed, directory=folder)) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        context = browser.new_context(
            viewport=PHONE, device_scale_factor=2, is_mobile=True, has_touch=True
        )
        own = f"http://127.0.0.1:{server.server_port}/"
        context.route(lambda url: not url.startswith(own), lambda route: route.abort())
        page = context.new_page()
        devtools = context.new_cdp_session(page)
        devtools.send("Network.enable")
        sizes = []
        devtools.on(
            "Network.loadingFinished", lambda event: sizes.append(event["encodedDataLength"])
        )
        devtools.send("Network.emulateNetworkConditions", SLOW_4G)
        devtools.send("Emulation.setCPUThrottlingRate", {"rate": SLOWDOWN})
        page.add_init_script(OBSERVE)
        answer = page.goto(f"{own}{file}", wait_until="load")
        if not answer.ok:
            raise ValueError(f"{folder / file}: no page")
        page.wait_for_timeout(SETTLED)
        seen = page.evaluate("seen")
        context.close()
        server.shutdown()
    return seen | {"kilobytes": sum(sizes) / 1000, "requests": len(sizes)}


def visits_in_turn(pages: dict[str, tuple[Path, str]], times: int) -> dict[str, list[dict]]:
    """Name of a page -> what each of some visits saw, all pages visited in turn."""
    from playwright.sync_api import sync_playwright

    seen: dict[str, list[dict]] = {name: [] for name in pages}
    with sync_playwright() as playwright:
        program = shutil.which("chromium") or shutil.which("google-chrome")
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        for _ in range(times):
            for name, (folder, file) in pages.items():
                seen[name].append(visit(browser, folder, file))
        browser.close()
    return seen
