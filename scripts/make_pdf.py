"""The five-minute path of an edition as one PDF: its pages after each other, printed by a headless Chromium.

    .venv/bin/python scripts/make_pdf.py [EDITION]

The pages are those of the built edition that its front page names, with its numbers and its banner, by the style sheets
for print.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from bs4 import BeautifulSoup

ROOT = Path(__file__).resolve().parents[1]
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
KEPT = {"how-it-was-computed", "what-this-does-not-show"}
"""Sections of a finding's page that are printed, besides the answer and the main figure at its head."""

SECONDS = 120
"""After which a browser that does not end has failed."""


def read_page(file: Path) -> BeautifulSoup:
    """Parse a page of the built edition."""
    return BeautifulSoup(file.read_text("utf-8"), "html.parser")


def one_page(front: Path) -> str:
    """Return the front page and the articles of the pages that it names for five minutes, each on a new sheet."""
    document = read_page(front)
    last_article = document.find("article")
    for link in five_minute_links(document):
        article = read_page(front.parent / link["href"]).find("article")
        article["style"] = "break-before: page"
        last_article.insert_after(article)
        last_article = article
    for section in document.select("article > section > section"):
        if section.get("id") not in KEPT:
            section.decompose()
    # What is folded or has to be clicked is for the screen.
    for element in document.select("details:not(.sense7-banner), script"):
        element.decompose()
    return str(document)


def five_minute_links(document: BeautifulSoup) -> list:
    """Return the links of the front page's list item that begins with "In five minutes"."""
    items = document.select("article li")
    (path,) = [item for item in items if item.get_text().startswith("In five minutes")]
    return path.find_all("a")


def print_pdf(browser: str, page: Path, out: Path) -> None:
    """Print a page of the disk; no unfinished file is left behind."""
    with tempfile.TemporaryDirectory() as temporary:
        printed = Path(temporary) / "printed.pdf"
        options = [
            "--headless=new",
            "--disable-gpu",
            "--no-pdf-header-footer",
            f"--user-data-dir={temporary}/profile",
        ]
        if hasattr(os, "geteuid") and os.geteuid() == 0:
            options.append("--no-sandbox")  # Chromium refuses to run as root with it
        subprocess.run(  # noqa: S603 - a browser of this machine, a page of this checkout
            [browser, *options, f"--print-to-pdf={printed}", page.as_uri()],
            check=True,
            capture_output=True,
            timeout=SECONDS,
        )
        shutil.copyfile(printed, out)


def find_browser() -> str | None:
    """Return the program of the browser that SENSE7_CHROMIUM names, or of the first one that is installed."""
    for name in (os.environ.get("SENSE7_CHROMIUM", ""), *BROWSERS):
        program = shutil.which(name)
        if program is not None:
            return program
    return None


def main() -> None:
    """Print the five-minute path of the edition that the command line names."""
    edition = sys.argv[1] if len(sys.argv) > 1 else "synthetic"
    folder = ROOT / "_build" / "editions" / edition
    front = folder / "html" / "book" / "index.html"
    out = folder / "five-minutes.pdf"
    if not front.exists():
        sys.exit(f'{folder}: no finished edition. Build it first: make book DATA="{edition}"')
    browser = find_browser()
    if browser is None:
        sys.exit(
            f"No Chromium ({', '.join(BROWSERS)}). Install one, or name it by SENSE7_CHROMIUM."
        )
    # In the folder of the front page, so that its links to style sheets still lead to them.
    with tempfile.NamedTemporaryFile(
        "w", suffix=".html", dir=front.parent, encoding="utf-8"
    ) as file:
        file.write(one_page(front))
        file.flush()
        try:
            print_pdf(browser, Path(file.name), out)
        except (subprocess.SubprocessError, OSError) as error:
            sys.exit(f"{browser} could not print the pages: {error}")
    print(out)


if __name__ == "__main__":
    main()
