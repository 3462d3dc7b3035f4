"""A book of one page, made by Sphinx from what a small edition holds."""

import json
import re
from pathlib import Path

import pytest
from bs4 import BeautifulSoup
from sphinx.testing.util import SphinxTestApp

CONF = """\
project = "A book"
extensions = ["myst_parser", "sense7.book.extensions"]
sense7_edition = {edition!r}
html_theme_options = {{}}
"""


@pytest.fixture(scope="session")
def claim():
    """A row of the ledger; what is given takes the place of what stands there."""

    def make(name="alpha", state="needs the official workbook", *, computed=(), why="so", **given):
        known = {"title": f"Title of <{name}>", "kind": "figure", "key": name, "value": 0.9}
        known |= {"unit": "alpha", "grade": "D", "of": "SENSE-7", "source": "notes"}
        known |= {"compare": {"within": 0.1}, "shown": "0.9"}
        known |= dict.fromkeys(("short", "release", "no_effect", "smallest"))
        value = {"key": name, "estimate": 0.8, "low": 0.7, "high": 0.85, "n": 9, "unit": "alpha"}
        held = value | {"method": "a method"} | dict(computed)
        link = "notebooks/03.html#cell-4"
        beside = {part: given.pop(part, None) for part in ("rehearsal", "studies")}
        row = {"id": name, "state": state, "why": why, "asks": "It has to be near.", **beside}
        return row | {"published": known | given, "computed": held, "link": link}

    return make


@pytest.fixture(scope="session")
def recorded():
    """A recorded value of the notebook 03."""

    def make(key="alpha", estimate=0.8, low=0.7, high=0.85, **other):
        value = {"key": key, "estimate": estimate, "low": low, "high": high, "n": 1234, "cell": 4}
        value |= {"unit": "alpha", "method": f"method of <{key}>", "reason": None, "notebook": "03"}
        return value | {"computed_by": {"function": "sense7.findings.alpha", "options": {}}} | other

    return make


@pytest.fixture(scope="session")
def complaints():
    """Line of the page -> what Sphinx complained of there."""

    def of(warnings):
        plain = re.sub(r"\x1b\[[\d;]*m", "", warnings)
        return dict(re.findall(r"(?m)03\.md:(\d+): (?:WARNING|ERROR): (.*)$", plain))

    return of


@pytest.fixture(scope="session")
def page(tmp_path_factory):
    """Make ``notebooks/03`` from its source, a ledger and values: the page, and what Sphinx complained of."""

    def make(source, ledger=(), values=(), executed=(), **facts):
        place = tmp_path_factory.mktemp("page")
        edition, book = place / "edition", place / "book"
        for folder in ("edition/results", "edition/notebooks", "edition/data", "book/notebooks"):
            (place / folder).mkdir(parents=True)
        made = {"released": {}, "versions": {}, "library": "", "commit": ""}
        made |= {"notebooks": {"03": {"data": "x"}}, **facts.pop("made", {}), "changed": False}
        known = {"kind": "synthetic", "name": "synthetic", "label": "a workbook", "file": "a.xlsx"}
        known |= {"sha256": "0" * 64, "made": made, "parameters": "", "warnings": ""}
        known |= {"verified": True, "fetched": "2026-01-01"}
        written = {"ledger": list(ledger), "edition": known | facts, "results/03": list(values)}
        for name, content in written.items():
            (edition / f"{name}.json").write_text(json.dumps(content), "utf-8")
        for name, text in {"03": '{"cells": []}', **dict(executed)}.items():
            (edition / f"notebooks/{name}.ipynb").write_text(text, "utf-8")
        (book / "conf.py").write_text(CONF.format(edition=str(edition)), "utf-8")
        (book / "index.md").write_text("# Front\n\n```{toctree}\nnotebooks/03\n```\n", "utf-8")
        (book / "notebooks" / "03.md").write_text(source, "utf-8")
        app = SphinxTestApp("html", srcdir=book)
        try:
            app.build()
            html = (Path(app.outdir) / "notebooks" / "03.html").read_text("utf-8")
            return BeautifulSoup(html, "html.parser"), app.warning.getvalue()
        finally:
            app.cleanup()

    return make
