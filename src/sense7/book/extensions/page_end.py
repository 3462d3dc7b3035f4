"""The end of a page: where to read on, how to run it again, and all its values.

A Sphinx extension. Reading paths are listed in ``book/paths.yml``; each page on one of them names the next page of the
path, and the directive ``reading-paths`` lists them all. A notebook's page ends with the command that runs it again and
with every value that it recorded, so that no value is computed without being shown.
"""

import html
import json
import shlex
from collections.abc import Mapping
from pathlib import Path

import yaml
from docutils import nodes
from sphinx.util.docutils import SphinxDirective

from sense7.book.extensions.cells import MORE
from sense7.book.extensions.directives import Edition, looked_up, marks
from sense7.book.extensions.page_table import page_table
from sense7.book.extensions.truths import folded
from sense7.record import format_value

__all__ = ["read_paths", "setup"]

_FILE = "book/paths.yml"
_SCRIPT = "paths.js"


def read_paths(folder: Path) -> list[dict]:
    """Reading paths of a book: ``name``, ``title``, ``minutes`` and ``pages`` of each; none if it has none."""
    file = folder / _FILE
    return yaml.safe_load(file.read_text(encoding="utf-8")) if file.exists() else []


# --- where to read on ------------------------------------------------------------------


def _add_what_follows(app, tree, page: str) -> None:
    """Name the next page of each reading path that this page is on."""
    lines = [_line(app, path, page) for path in read_paths(Path(app.confdir)) if page in path["pages"]]
    if lines:
        shown = f'<nav class="sense7-paths" aria-label="Reading paths">{"".join(lines)}</nav>'
        next(iter(tree.findall(nodes.section))).append(nodes.raw("", shown, format="html"))


def _line(app, path: Mapping, page: str) -> str:
    pages = path["pages"]
    here = pages.index(page)
    said = f"<strong>{html.escape(path['title'])}</strong>, page {here + 1} of {len(pages)}: "
    if here + 1 == len(pages):
        return f'<p data-path="{path["name"]}">{said}this is its last page.</p>'
    return f'<p data-path="{path["name"]}">{said}next {_link(app, path, page, pages[here + 1])}</p>'


def _link(app, path: Mapping, page: str, target: str) -> str:
    address = f"{app.builder.get_relative_uri(page, target)}?path={path['name']}"
    return f'<a href="{address}">{html.escape(app.env.titles[target].astext())}</a>'


class reading_paths(nodes.General, nodes.Element):
    """Stands for the list of reading paths until the titles of all pages are known."""


class ReadingPathsDirective(SphinxDirective):
    """All reading paths with their pages."""

    def run(self):
        return [reading_paths()]


def _list_paths(app, tree, page: str) -> None:
    for node in list(tree.findall(reading_paths)):
        items = "".join(
            f"<li><strong>{html.escape(path['title'])}:</strong> "
            f"{' · '.join(_link(app, path, page, target) for target in path['pages'] if target != page)}</li>"
            for path in read_paths(Path(app.confdir))
        )
        node.replace_self(nodes.raw("", f'<ul class="sense7-all-paths">{items}</ul>', format="html"))


# --- how to run it again, and all its values -------------------------------------------


def _add_rerun(app, tree) -> None:
    """End a notebook's page with the command that runs it again, and with its values."""
    page = app.env.docname
    name = page.removeprefix("notebooks/")
    if name == page:
        return
    edition = looked_up(app.env, "edition.json")
    data = (
        edition.facts["name"]
        if edition.facts["kind"] in {"synthetic", "official", "third-party"}
        else edition.facts["file"]
    )
    section = nodes.section("", nodes.title(text="Rerun this page"), ids=["rerun-this-page"], names=["rerun this page"])
    download = nodes.reference("", "this page as a notebook", refuri=f"../_sources/{page}.ipynb", internal=True)
    section += nodes.paragraph(
        "",
        "",
        nodes.Text("All code, set-up included: "),
        download,
        nodes.Text(". In a checkout (elsewhere without .venv/bin/):"),
    )
    parameters = ["-p", f"data={data}"] if "data" in edition.facts["made"]["notebooks"].get(name, ()) else []
    command = shlex.join([".venv/bin/sense7", "run", name, *parameters])  # a file may be called anything
    section += nodes.literal_block(command, command, language="text", classes=["sense7-rerun"])
    section += _values(app, edition, name)
    sections = [*tree.findall(nodes.section)]
    next((one for one in sections if MORE in one["ids"]), sections[0]).append(section)


def _values(app, edition: Edition, name: str) -> list[nodes.Node]:
    """Every value that a notebook recorded, folded: name, value, n and method."""
    values = [value for value in edition.values.values() if value["notebook"] == name]
    if not values:
        return []
    looked_up(app.env, f"results/{name}.json")
    body = [
        [[nodes.paragraph("", "", nodes.literal(text=value["key"]))], *([nodes.paragraph(text=text)] for text in cells)]
        for value in values
        for cells in [_cells(edition, value)]
    ]
    head = ("Name", "Value", "n", "How it was computed")
    title = "Every value of this page by the name under which it is recorded, with its interval in brackets."
    table = page_table(title, head, (28, 24, 10, 38), body, classes=["sense7-values", "colwidths-given"])
    table.next_node(nodes.table)["ids"].append("values-of-this-page")  # Sphinx has given ids before
    return folded(f"All values of this page ({len(values):,})", table)


def _cells(edition: Edition, value: Mapping) -> tuple[str, str, str]:
    n = "" if value["n"] is None else f"{value['n']:,}"
    return format_value(value) + marks(edition, value["key"]), n, value["method"]


def _add_script(app) -> None:
    """Load the script that leads along a path, where the checkout has it, with the pages of all paths."""
    folders = [Path(app.confdir) / folder for folder in app.config.html_static_path]
    if any((folder / _SCRIPT).exists() for folder in folders):
        pages = {path["name"]: path["pages"] for path in read_paths(Path(app.confdir))}
        app.add_js_file(_SCRIPT, loading_method="defer", **{"data-paths": json.dumps(pages)})


def setup(app):
    """Register the directive, and what is added to the end of pages, with Sphinx."""
    app.add_node(reading_paths)
    app.add_directive("reading-paths", ReadingPathsDirective)
    app.connect("doctree-read", _add_rerun, priority=700)
    app.connect("doctree-resolved", _add_what_follows)
    app.connect("doctree-resolved", _list_paths)
    app.connect("builder-inited", _add_script)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
