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


def one_page(front: Path) -> str:
    """The front page, and below it the articles of the pages that it names for five minutes, each on a new sheet."""
    whole = BeautifulSoup(front.read_text("utf-8"), "html.parser")
    (path,) = [
        item for item in whole.select("article li") if item.get_text().startswith("In five minutes")
    ]
    article = whole.find("article")
    for link in path.find_all("a"):
        part = BeautifulSoup((front.parent / link["href"]).read_text("utf-8"), "html.parser").find(
            "article"
        )
        part["style"] = "break-before: page"
        article.insert_after(part)
        article = part
    sections = [
        part for part in whole.select("article > section > section") if part.get("id") not in KEPT
    ]
    # What is folded or to be clicked is for the screen.
    for part in [
        *sections,
        *whole.select("details:not(.sense7-banner)"),
        *whole.find_all("script"),
    ]:
        part.decompose()
    return str(whole)


def print_pdf(browser: str, page: Path, out: Path) -> None:
    """Print a page of the disk; an unfinished file is not left."""
    with tempfile.TemporaryDirectory() as profile:
        made = Path(profile) / "made.pdf"
        options = [
            "--headless=new",
            "--disable-gpu",
            "--no-pdf-header-footer",
            f"--user-data-dir={profile}/profile",
        ]
        if hasattr(os, "geteuid") and os.geteuid() == 0:
            options.append("--no-sandbox")  # Chromium refuses to run as root with it
        subprocess.run(  # noqa: S603 - a browser of this machine, a page of this checkout
            [browser, *options, f"--print-to-pdf={made}", page.as_uri()],
            check=True,
            capture_output=True,
            timeout=SECONDS,
        )
        shutil.copyfile(made, out)


def main() -> None:
    """Print the path of the edition that the command line names."""
    edition = sys.argv[1] if len(sys.argv) > 1 else "synthetic"
    folder = ROOT / "_build" / "editions" / edition
    front, out = folder / "html" / "book" / "index.html", folder / "five-minutes.pdf"
    if not front.exists():
        sys.exit(f'{folder}: no finished edition. Build it first: make book DATA="{edition}"')
    browser = next(
        filter(None, map(shutil.which, [os.environ.get("SENSE7_CHROMIUM", ""), *BROWSERS])), None
    )
    if browser is None:
        sys.exit(
            f"No Chromium ({', '.join(BROWSERS)}). Install one, or name it by SENSE7_CHROMIUM."
        )
    # Beside the pages that it is made of, so that style sheets are found; in a folder as deep as theirs.
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
