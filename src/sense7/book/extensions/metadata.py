"""What search engines and previews read of a page: description, canonical address, picture, what the book is about.

A Sphinx extension. An edition has a public address only where the repository is on GitHub, whose Pages publish what
``sense7 site`` puts together; a workbook of somebody's own has none, and is not to be found by a search engine.
"""

import html
import json
import textwrap
from collections.abc import Mapping
from pathlib import Path

from docutils import nodes
from pybtex.database import parse_file

from sense7.book.editions import CARD, published_address
from sense7.book.extensions.directives import edition_of

__all__ = ["describe_page", "setup"]

_PAPER = "suh2025sense7taxonomydatasetmeasuring"
_LONGEST = 240
"""Characters of a description; search engines show fewer."""


def describe_page(tree: nodes.document, facts: Mapping) -> str:
    """What a page says first, in at most 240 characters, beginning with what the data are.

    Parameters
    ----------
    tree : docutils.nodes.document
        The page. Of a finding, the sentence on what this edition shows counts; of another page, its first paragraph.
    facts : mapping
        Of the edition.
    """
    box = next((node for node in tree.findall(nodes.container) if "sense7-answer" in node["classes"]), None)
    start = box if box is not None else tree
    paragraph = next(iter(start.findall(nodes.paragraph)), None)
    text = " ".join(paragraph.astext().split()) if paragraph is not None else ""
    kind = "Synthetic data, no findings: " if facts["kind"] == "synthetic" and box is not None else ""
    return textwrap.shorten(f"{kind}{text}", _LONGEST, placeholder=" ...")


def _add(app, page, template, context, doctree) -> None:
    """Add the page's metadata to its head."""
    if doctree is None:
        return
    facts = edition_of(app).facts
    title, text = nodes.Text(context["title"]).astext(), describe_page(doctree, facts)
    context["metatags"] += f'<meta name="description" content="{html.escape(text, quote=True)}">\n'
    base = published_address(app.config.html_theme_options["repository_url"], facts["name"])
    if facts["kind"] not in {"synthetic", "official", "third-party"} or not base:
        context["metatags"] += '<meta name="robots" content="noindex">\n'
        return
    address = f"{base}html/{page}.html"
    properties = {"type": "article", "title": html.unescape(title), "description": text, "url": address}
    properties |= {"site_name": app.config.html_title or app.config.project, "image": f"{base}{CARD}"}
    context["metatags"] += f'<link rel="canonical" href="{html.escape(address, quote=True)}">\n' + "".join(
        f'<meta property="og:{name}" content="{html.escape(content, quote=True)}">\n'
        for name, content in properties.items()
    )
    context["metatags"] += '<meta name="twitter:card" content="summary_large_image">\n'
    if page == app.config.root_doc:
        # "<" inside of a script would end it; JSON has another way to write it.
        about = json.dumps(_about(app, facts, address), ensure_ascii=False).replace("<", "\\u003c")
        context["metatags"] += f'<script type="application/ld+json">{about}</script>\n'


def _about(app, facts: Mapping, address: str) -> list[dict]:
    """What the book is about, in the words of schema.org: the paper, and the data of this edition."""
    paper = parse_file(str(Path(app.confdir) / app.config.bibtex_bibfiles[0])).entries[_PAPER]
    paper_address = f"https://arxiv.org/abs/{paper.fields['eprint']}"
    authors = [
        " ".join([*person.first_names, *person.middle_names, *person.last_names]) for person in paper.persons["author"]
    ]
    article = {"@type": "ScholarlyArticle", "name": paper.fields["title"].replace("{", "").replace("}", "")}
    article |= {"url": paper_address, "datePublished": paper.fields["year"]}
    article["author"] = [{"@type": "Person", "name": name} for name in authors]
    dataset = {"@type": "Dataset", "name": f"{app.config.project}: {facts['label']}", "url": address}
    dataset |= {"description": facts["label"], "identifier": f"sha256:{facts['sha256']}", "isBasedOn": paper_address}
    return [{"@context": "https://schema.org", **entry} for entry in (article, dataset)]


def setup(app):
    """Register with Sphinx what is added to the head of pages."""
    app.connect("html-page-context", _add)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
