"""The notebooks that are committed, and those that pages offer, as viewers show them that know nothing of the book."""

import re
from functools import cache
from pathlib import Path
from urllib.parse import urlsplit

import nbformat
import pytest
from bs4 import BeautifulSoup
from nbconvert import HTMLExporter

from sense7.book.derived import derive_all, without_pictures
from sense7.book.inputs import declared_configuration
from sense7.book.notebooks import find_notebooks

ROOT = Path(__file__).resolve().parents[2]
COMMITTED = sorted((ROOT / "notebooks").glob("*.ipynb"))
LINK = "a[href]:not(.anchor-link)"  # nbconvert gives each heading a link to itself
MARKUP_OF_THE_BOOK = re.compile(r"\{[\w:-]+\}\s*`|\{[a-z:-]+\}|:::|\(\S+\)=")


def test_the_committed_notebooks_are_those_of_their_texts_and_of_the_synthetic_workbook(synthetic):
    derived = derive_all(ROOT, find_notebooks(ROOT), synthetic.folder, declared_configuration(ROOT))
    assert derived.keys() == {path.stem for path in COMMITTED}
    stale = [
        path.stem
        for path in COMMITTED
        if without_pictures(path.read_text("utf-8")) != without_pictures(derived[path.stem])
    ]
    assert stale == [], "Run: make derived"


VIEWER = HTMLExporter(template_name="basic", exclude_input=True)


@cache
def rendered(path):
    """What nbconvert shows of a notebook, only to be read: the parts that are Markdown, and those that are outputs."""
    node = nbformat.read(path, as_version=4)
    nbformat.validate(node)
    page = BeautifulSoup(VIEWER.from_notebook_node(node)[0], "html.parser")
    return page.select(".text_cell_render, .jp-RenderedMarkdown"), page.select(
        ".output_area, .jp-OutputArea-child"
    )


@pytest.fixture(params=["committed", "downloads"], scope="module")
def folder(request, synthetic):
    """Where notebooks for readers lie: in the repository, and among the pages of the book."""
    downloads = synthetic.html / "_sources" / "notebooks"
    return {"committed": ROOT / "notebooks", "downloads": downloads}[request.param]


@pytest.mark.parametrize("name", [path.stem for path in COMMITTED])
def test_a_viewer_shows_plain_text_pictures_and_no_dead_link(folder, name):
    texts, outputs = rendered(folder / f"{name}.ipynb")
    assert texts
    for text in texts:
        prose = "".join(string for string in text.strings if not string.find_parent("code"))
        words = re.sub(r"\$\$.*?\$\$", "", prose, flags=re.DOTALL)
        assert not MARKUP_OF_THE_BOOK.search(words), words
    for link in [link["href"] for part in (*texts, *outputs) for link in part.select(LINK)]:
        parts = urlsplit(link)
        if parts.scheme not in {"https", "data"}:
            assert parts.scheme == "", link
            assert (folder / parts.path).is_file(), f"{link} leads nowhere"
    for picture in [image for part in outputs for image in part.find_all("img")]:
        assert picture["alt"].strip()
        assert "No description" not in picture["alt"]
