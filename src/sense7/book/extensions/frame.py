"""What stands around the content of every page: what data it shows, how it was made, and the scripts that it uses.

A Sphinx extension. The head itself is written by ``book/templates/layout.html``.
"""

import re

from sense7 import paper
from sense7.book.extensions.values import edition_of
from sense7.book.pages import banner, describe, label

__all__ = ["setup"]

SCRIPTS = {
    "figures.js": 'class="sense7-figure',
    "ledger.js": "sense7-ledger",
    "specifications.js": "sense7-specifications",
    "tables.js": "dataframe",
}
"""Script of the book -> what a page holds that uses it."""

_VIEWPORT = re.compile(r'<meta[^>]*name="viewport"[^>]*>')


def _finish_page(app, page, template, context, doctree) -> None:
    """Say what data a page shows and how it was made, and load the scripts that it uses."""
    facts = edition_of(app).facts
    released = page in {f"notebooks/{name}" for name in facts["made"].get("released", ())}
    # Without what pathto ends the address of the page itself with.
    dataset_page = context["pathto"](paper.DATA_PAGE).removesuffix("#")
    context["theme_announcement"] = banner(facts, dataset_page, released=released)
    context["theme_extra_footer"] = describe(facts, page)
    context["data_label"] = label(facts, released=released)
    simulated = paper.KINDS[facts["kind"]].has_truth and not released
    context["data_kind"] = "simulated" if simulated else "real"
    # The frame has one viewport already.
    context["metatags"] = _VIEWPORT.sub("", context.get("metatags", ""))
    body = context.get("body", "")
    for script, mark in SCRIPTS.items():
        if mark in body:
            app.add_js_file(script, loading_method="defer")
    if body:
        # References stand in a list; docutils gives them a role that is out of use.
        context["body"] = body.replace('role="doc-biblioentry"', 'role="listitem"')


def setup(app):
    """Have pages finished before they are written."""
    app.connect("html-page-context", _finish_page)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
