"""What stands around the content of every page: its data, how it was made, scripts, words to search for.

A Sphinx extension. The head itself is written by ``book/templates/layout.html``.
``book/keywords.yml`` says what pages are about: a search finds a page by these words, too.
"""

import re
from pathlib import Path

import yaml
from docutils import nodes
from sphinx.search.en import SearchEnglish

from sense7.book.editions import DATA_PAGE
from sense7.book.extensions import METADATA
from sense7.book.extensions.values import edition_of
from sense7.book.pages import banner, describe, label

__all__ = ["setup"]

SCRIPTS = {
    "figures.js": 'class="sense7-figure',
    "ledger.js": "sense7-ledger",
    "specifications.js": "sense7-specifications",
    "tables.js": "<table",
}
"""Script of the book -> what a page holds that uses it."""

UNUSED = ("design-tabs.js",)
"""Scripts of other extensions for what no page has."""

KEYWORDS = "book/keywords.yml"

_LEFT_OUT = re.compile(
    r'<meta[^<>]*name="(?:viewport|keywords)"[^<>]*>|<meta property="og:url" content="(?!http)[^<>]*>'
)
"""What the layout has already, what only the index of the search needs, and addresses that are none."""


def finish_page(app, page, template, context, doctree) -> None:
    """Say what data a page shows and how it was made, and load the scripts that it uses."""
    facts = edition_of(app).facts
    released = page in {f"notebooks/{name}" for name in facts["made"].get("released", ())}
    # Without what pathto ends the address of the page itself with.
    dataset_page = context["pathto"](DATA_PAGE).removesuffix("#")
    context["theme_announcement"] = banner(
        facts, dataset_page, released=released, front=page == app.config.root_doc
    )
    context["theme_extra_footer"] = describe(facts, page)
    context["data_label"] = label(facts, released=released)
    context["data_kind"] = "real"
    if facts["kind"] == "synthetic" and not released:
        context["data_kind"] = "simulated"
    context["metatags"] = _LEFT_OUT.sub("", context.get("metatags", ""))
    body = context.get("body", "")
    for script, mark in SCRIPTS.items():
        if mark in body:
            app.add_js_file(script, loading_method="defer")
    context["script_files"] = [
        script
        for script in context["script_files"]
        if Path(script.filename or "").name not in UNUSED
    ]
    if body:
        # References stand in a list; docutils gives them a role that is out of use.
        context["body"] = body.replace('role="doc-biblioentry"', 'role="listitem"')


def add_keywords(app, tree) -> None:
    """Have a page found by what it is about."""
    path = Path(app.srcdir, KEYWORDS)
    if not path.exists():
        return
    phrases = yaml.safe_load(path.read_text("utf-8")).get(app.env.docname)
    if phrases:
        # Sphinx takes each keyword as one word of its index.
        words = dict.fromkeys(" ".join(phrases).split())
        tree.insert(0, nodes.meta("", name="keywords", content=", ".join(words)))


class Questions(SearchEnglish):
    """English, in which a search leaves out what only makes a question of it."""

    stopwords = SearchEnglish.stopwords | {"can", "do", "does", "how", "i", "many", "my", "what"}
    stopwords |= {"when", "where", "which", "who", "whose", "why"}


def setup(app):
    """Have pages finished before they are written."""
    app.add_search_language(Questions)
    app.connect("doctree-read", add_keywords)
    app.connect("html-page-context", finish_page, priority=900)  # after others have added theirs
    return METADATA
