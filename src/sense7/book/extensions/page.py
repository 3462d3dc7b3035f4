"""The end of a page: where to read on, how to run it again, and all its values.

A Sphinx extension. Reading paths are listed in ``book/paths.yml``; each page on one of them names the next page of the
path, and the directive ``reading-paths`` lists them all. A notebook's page ends with the command that runs it again and
with every value that it recorded, so that no value is computed without being shown.

Cells of executed notebooks as pages show them: results first, one fold of code at the end of each section.

A Sphinx extension. The code of a cell tagged ``by-hand`` stands open where it is, also on paper. All below the heading
"More analyses" is one closed fold, which paper leaves out. What a page says once it does not say again: of sentences
that stand in the place of results that cannot be computed, equal ones are shown where the first of them stands. Where a
page's main result cannot be computed, sections all of whose results would only say the same are left out.

What search engines and previews read of a page: description, canonical address, picture, what the book is about.

A Sphinx extension. An edition has a public address only where the repository is on GitHub, whose Pages publish what
``sense7 site`` puts together; a workbook of somebody's own has none, and is not to be found by a search engine.

Formulas as MathML, which browsers show by themselves: the book needs no network.
"""

import html
import json
import re
import shlex
import textwrap
from collections.abc import Mapping
from pathlib import Path

from docutils import nodes
from docutils.utils.math import MathError, latex2mathml
from pybtex.database import parse_file
from sphinx.transforms import SphinxTransform
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective

from sense7.book.editions import CARD, published_address
from sense7.book.extensions.truths import values_table
from sense7.book.extensions.values import edition_of, fold, looked_up, paragraph, raw, read_paths
from sense7.book.notebooks import NOT_RUN

__all__ = ["setup"]

# --- where to read on ------------------------------------------------------------------


def _add_what_follows(app, tree, page: str) -> None:
    """Name the next page of each reading path that this page is on, and list the paths where the page asks for it."""
    paths, lines = read_paths(Path(app.confdir)), []

    def link(path: Mapping, target: str) -> str:
        address = f"{app.builder.get_relative_uri(page, target)}?path={path['name']}"
        return f'<a href="{address}">{html.escape(app.env.titles[target].astext())}</a>'

    for path in paths:
        if page in (pages := path["pages"]):
            here = pages.index(page) + 1
            said = f"<strong>{html.escape(path['title'])}</strong>, page {here} of {len(pages)}: "
            said += f"next {link(path, pages[here])}" if here < len(pages) else "this is its last page."
            lines.append(f'<p data-path="{path["name"]}">{said}</p>')
    if lines:
        shown = f'<nav class="sense7-paths" aria-label="Reading paths">{"".join(lines)}</nav>'
        next(iter(tree.findall(nodes.section))).append(raw(shown))
    for node in list(tree.findall(reading_paths)):
        items = "".join(
            f"<li><strong>{html.escape(path['title'])}:</strong> "
            f"{' · '.join(link(path, target) for target in path['pages'] if target != page)}</li>"
            for path in paths
        )
        node.replace_self(raw(f'<ul class="sense7-all-paths">{items}</ul>'))


class reading_paths(nodes.General, nodes.Element):
    """Stands for the list of reading paths until the titles of all pages are known."""


class ReadingPathsDirective(SphinxDirective):
    """All reading paths with their pages."""

    def run(self):
        return [reading_paths()]


# --- how to run it again, and all its values -------------------------------------------


def _add_rerun(app, tree) -> None:
    """End a notebook's page with the command that runs it again, and with every value that it recorded, folded."""
    page = app.env.docname
    name = page.removeprefix("notebooks/")
    if name == page:
        return
    edition = looked_up(app.env, "edition.json", f"results/{name}.json")
    known = edition.facts["kind"] in {"synthetic", "official", "third-party"}
    section = nodes.section("", nodes.title("", "Rerun this page"), ids=["rerun-this-page"], names=["rerun this page"])
    download = nodes.reference("", "this page as a notebook", refuri=f"../_sources/{page}.ipynb", internal=True)
    section += paragraph("All code, set-up included: ", download, ". In a checkout (elsewhere without .venv/bin/):")
    has_data = "data" in edition.facts["made"]["notebooks"].get(name, ())
    parameters = ["-p", f"data={edition.facts['name' if known else 'file']}"] if has_data else []
    command = shlex.join([".venv/bin/sense7", "run", name, *parameters])  # a file may be called anything
    section += nodes.literal_block(command, command, language="text", classes=["sense7-rerun"])
    if keys := [key for key, value in edition.values.items() if value["notebook"] == name]:
        title = "Every value of this page by the name under which it is recorded, with its interval in brackets."
        table = values_table(edition, keys, title, of_page=True)
        table.next_node(nodes.table)["ids"].append("values-of-this-page")  # Sphinx has given ids before
        section += fold(f"All values of this page ({len(keys):,})", table, classes="sense7-fold sense7-not-on-paper")
    sections = [*tree.findall(nodes.section)]
    next((one for one in sections if MORE in one["ids"]), sections[0]).append(section)


MORE = "more-analyses"
"""Id of the section that is folded."""

_SENTENCE = re.compile(r'\s*<p class="[^"]*"><em>.*</em></p>\s*', re.DOTALL)


def _gather_code(app, tree) -> None:
    """Put the code of each section, in its order, into one fold at the end of what the section itself says."""
    for section in [tree, *tree.findall(nodes.section)]:
        cells = [child for child in section.children if _is(child, "cell_code")]
        cells = [cell for cell in cells if "tag_by-hand" not in cell["classes"]]
        sources = [part for cell in cells for part in cell.children if _is(part, "cell_code_source")]
        if not sources:
            continue
        for source in sources:
            source.parent.remove(source)
        first = next((i for i, child in enumerate(section.children) if isinstance(child, nodes.section)), None)
        place = len(section.children) if first is None else first
        section[place:place] = fold("Code", *sources, classes="sense7-code")


def _say_what_was_not_run(app, tree) -> None:
    """Show the reason for which a cell by hand was left out as a sentence above the cell."""
    for source in [node for node in tree.findall(nodes.literal_block) if node.astext().startswith(NOT_RUN)]:
        reason, code = source.astext().split("\n", 1)
        cell = source.parent.parent
        cell.parent.insert(cell.parent.index(cell), paragraph(nodes.emphasis(text=reason.removeprefix("# "))))
        source.replace_self(nodes.literal_block(code, code, **source.attributes))


def _is(node: nodes.Node, element: str) -> bool:
    return isinstance(node, nodes.container) and node.get("nb_element") == element


def _say_once(app, tree) -> None:
    """Leave out of a page the sentences that it has said before in the place of a result."""
    said = set()
    for node in list(tree.findall(nodes.raw)):
        text = node.astext()
        if _SENTENCE.fullmatch(text):
            if text in said:
                node.parent.remove(node)
            said.add(text)


def _leave_out_empty_sections(app, tree) -> None:
    """Leave out sections whose results are all the sentence that stands in the place of the page's main result."""
    for page in [child for child in tree.children if isinstance(child, nodes.section)]:
        main = {text for cell in page.children if _is(cell, "cell_code") for text in _results(cell)}
        if len(main) != 1 or not _SENTENCE.fullmatch(*main):
            continue
        own = [child for child in page.children if isinstance(child, nodes.section)]
        more = [
            child for one in own if MORE in one["ids"] for child in one.children if isinstance(child, nodes.section)
        ]
        for section in [*own, *more]:
            if (results := _results(section)) and set(results) == main:
                # The ledger leads to its cells: there the page begins, and says why nothing is shown.
                cells = [cell for cell in section.findall(nodes.container) if _is(cell, "cell_code")]
                page["ids"] += [f"cell-{cell['exec_count']}" for cell in cells if cell.get("exec_count")]
                section.parent.remove(section)


def _results(node: nodes.Node) -> list[str]:
    """What each output of the cells in a node is on a page: its HTML; "" where it has none."""
    cells = (cell for cell in node.findall(nodes.container) if _is(cell, "cell_code_output"))
    return [next((raw.astext() for raw in output.findall(nodes.raw)), "") for cell in cells for output in cell.children]


def _fold_more(app, tree) -> None:
    """Make one closed fold of what stands below the heading of further analyses."""
    for section in tree.findall(nodes.section):
        if MORE in section["ids"]:
            words = "Show further analyses, all values, and how to rerun this page"
            section[1:] = fold(words, *section[1:], classes="sense7-more")


_PAPER = "suh2025sense7taxonomydatasetmeasuring"
_LONGEST = 240
"""Characters of a description; search engines show fewer."""


def describe_page(tree: nodes.document, facts: Mapping) -> str:
    """What a page says first, in at most 240 characters, beginning with what the data are."""
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
    base = published_address(app.config.html_theme_options.get("repository_url", ""), facts["name"])
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
        # In the words of schema.org.
        paper = parse_file(str(Path(app.confdir) / app.config.bibtex_bibfiles[0])).entries[_PAPER]
        paper_address = f"https://arxiv.org/abs/{paper.fields['eprint']}"
        names = [" ".join([*one.first_names, *one.middle_names, *one.last_names]) for one in paper.persons["author"]]
        article = {
            "@type": "ScholarlyArticle",
            "name": paper.fields["title"].replace("{", "").replace("}", ""),
            "url": paper_address,
            "datePublished": paper.fields["year"],
            "author": [{"@type": "Person", "name": name} for name in names],
        }
        dataset = {
            "@type": "Dataset",
            "name": f"{app.config.project}: {facts['label']}",
            "url": address,
            "description": facts["label"],
            "identifier": f"sha256:{facts['sha256']}",
            "isBasedOn": paper_address,
        }
        about = [{"@context": "https://schema.org", **entry} for entry in (article, dataset)]
        # "<" inside of a script would end it; JSON has another way to write it.
        about = json.dumps(about, ensure_ascii=False).replace("<", "\\u003c")
        context["metatags"] += f'<script type="application/ld+json">{about}</script>\n'


_LOGGER = logging.getLogger(__name__)

_SIZES = re.compile(r"\\(?:[Bb]igg?)(?![A-Za-z])|(?<=\\)(?=dots(?![A-Za-z]))")
"""Commands of TeX that docutils does not know: sizes of brackets, which are left out, and dots, which become ldots."""


class _MathML(SphinxTransform):
    """Before the domains look for any formula: else the page would ask for a library from the network."""

    default_priority = 800

    def apply(self, **kwargs) -> None:
        if self.app.builder.format != "html":
            return  # LaTeX has formulas of its own
        for node in [*self.document.findall(nodes.math), *self.document.findall(nodes.math_block)]:
            block = isinstance(node, nodes.math_block)
            code = _SIZES.sub(lambda match: "" if match[0] else "l", node.astext())
            try:
                formula = latex2mathml.tex2mathml(code, as_block=block)
            except (MathError, SyntaxError) as error:
                _LOGGER.warning("formula %r: %s", code, error, location=node)
                continue
            if block:  # on a phone it scrolls in its place, by the keyboard too
                formula = f'<div class="sense7-formula" role="group" aria-label="Formula" tabindex="0">{formula}</div>'
            node.replace_self(raw(formula))


def setup(app):
    """Register the directive, and what is added to the end of pages, with Sphinx."""
    app.connect("doctree-read", _leave_out_empty_sections, priority=400)
    # The last makes a fold of what the end of the page stands in.
    for priority, change in enumerate((_gather_code, _say_what_was_not_run, _say_once, _add_rerun, _fold_more), 600):
        app.connect("doctree-read", change, priority=priority)
    app.add_node(reading_paths)
    app.add_directive("reading-paths", ReadingPathsDirective)
    app.connect("doctree-resolved", _add_what_follows)
    app.connect("html-page-context", _add)
    app.add_transform(_MathML)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
