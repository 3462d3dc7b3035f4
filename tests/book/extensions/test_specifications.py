"""A page shows the specifications of its finding as the edition's notebook on robustness drew them, or why it can't."""

import io
import json

import pytest
from sphinx.application import Sphinx
from sphinx.util.docutils import docutils_namespace, patch_docutils

from sense7.book.extensions.figure import LACKING

CONFIG = """
extensions = ["sense7.book.extensions.figure"]
html_theme = "basic"

def setup(app):
    app.add_config_value("sense7_edition", "", "env", types=[str])
"""
FIGURE = (
    '<figure class="sense7-figure sense7-specifications" id="specification-alpha"><script type="application/json">{}'
    '</script><a download="alpha.csv" href="#">Data (CSV)</a></figure>'
)


@pytest.fixture
def build(tmp_path):
    """Build a page with the directive in an edition whose notebook on robustness shows this: page and warnings."""

    def made(shown=None, name="alpha"):
        for folder in ("source", "edition/notebooks"):
            (tmp_path / folder).mkdir(parents=True)
        (tmp_path / "source" / "conf.py").write_text(CONFIG, "utf-8")
        (tmp_path / "source" / "index.rst").write_text(f"Finding\n=======\n\n.. specifications:: {name}\n", "utf-8")
        if shown is not None:
            cell = {"source": 'draw(name="alpha")', "outputs": [{"data": {"text/html": shown}}]}
            notebook = tmp_path / "edition" / "notebooks" / "15-robustness.ipynb"
            notebook.write_text(json.dumps({"cells": [cell]}), "utf-8")
        warnings = io.StringIO()
        with patch_docutils(), docutils_namespace():
            app = Sphinx(
                *(tmp_path / "source", tmp_path / "source", tmp_path / "html", tmp_path / "trees", "html"),
                confoverrides={"sense7_edition": str(tmp_path / "edition")},
                status=None,
                warning=warnings,
            )
            app.build()
        return (tmp_path / "html" / "index.html").read_text("utf-8"), warnings.getvalue()

    return made


def test_the_figure_of_the_notebook_stands_on_the_page(build):
    page, warnings = build(f"<div>{FIGURE}</div>")
    assert FIGURE in page
    assert warnings == ""


def test_the_sentence_of_the_notebook_stands_there_where_nothing_could_be_computed(build):
    page, warnings = build("<p><em>No curve of alpha: nothing was rated.</em></p>")
    assert "No curve of alpha: nothing was rated." in page
    assert warnings == ""


def test_an_edition_without_the_notebook_says_so(build):
    page, warnings = build(None)
    assert LACKING in page
    assert warnings == ""


def test_an_unknown_headline_is_a_warning_which_ends_the_build(build):
    _, warnings = build(FIGURE, "alfa")
    assert "notebooks/15-robustness has no figure 'alfa'" in warnings
