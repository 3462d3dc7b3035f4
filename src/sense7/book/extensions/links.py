"""What a page has from elsewhere in the book: links to conversations, and figures of other notebooks.

A Sphinx extension:

- the directive ``explorer``: where the page shows the conversations (see ``book/static/explorer.js``);
- ``{conversation}`T0001```: a link to one conversation;
- ``{conversations}`the conversations with a poor turn <poor=yes>```: a link to the explorer with these filters set. A
  filter that the explorer does not have is a warning, and warnings end the build;
- a table that a notebook shows with a column ``conversation in full``: its cells become such links;
- a table of a notebook whose rows are conditions, topics, participants, or levels of importance, desired empathy or
  the label: the names of its rows become links to their conversations;
- a figure whose data name such groups: links to them follow its caption;
- ``{picture} notebooks/02-ratings levels-by-rating``: the figure of that name from the edition's own notebook, with its
  caption and data, so that no picture of other data can stand on a page. Where the edition could not draw it, the
  sentence that the notebook has in its place stands here too;
- ``{specifications} poor_turn_d``: the specification curve that the edition's notebook on robustness draws of this
  headline, with the control that ``book/static/specifications.js`` adds to it.

Of tables and figures, only names that this edition's workbook has are linked, and only on pages about its data; the
notebook itself knows nothing of the book.
"""

import base64
import csv
import html
import io
import itertools
import json
import posixpath
import re
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import parse_qsl, quote, quote_plus, urlencode

from docutils import nodes
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective, SphinxRole
from sphinx.util.nodes import split_explicit_title

from sense7.book.editions import EXPLORER_FOLDER, EXPLORER_PAGE
from sense7.book.extensions.values import edition_of, paragraph, raw
from sense7.taxonomy import DESIRED_EMPATHY, IMPORTANCE, LEVELS, RATING_NAMES

__all__ = ["setup"]

SCRIPTS = ("explorer-elements.js", "explorer-filters.js", "explorer-conversation.js", "explorer.js")
"""In the order in which they build on each other."""

COLUMN = "conversation in full"
"""Head of the column in a notebook's table whose cells name conversations."""

_DOCUMENT = EXPLORER_PAGE.removesuffix(".html")
_TABLE = re.compile(r"<table\b.*?</table>", re.DOTALL)
_ROW = re.compile(r"<tr\b.*?</tr>", re.DOTALL)
_CELL = re.compile(r"(<t[dh]\b[^>]*>)([^<]*)(</t[dh]>)")
_FIGURE = re.compile(r'<figure class="sense7-figure[ "].*?</figure>', re.DOTALL)
_DATA = re.compile(r'href="data:text/csv;base64,([^"]*)"')
ROBUSTNESS = "notebooks/15-robustness"
"""The page whose notebook draws the specification curves."""

LACKING = "What other choices would give is computed by the page on robustness, which this edition does not have."
NO_SCRIPT = (
    "This page needs JavaScript to show the conversations. Without it, they can be read in the workbook, which lies "
    "in the folder data of this edition: sheets Tasks and Messages."
)


def _link(shown: str, filters: Mapping[str, str], page: str) -> str:
    return f'<a href="{html.escape(filtered_address(filters, page), quote=True)}">{shown}</a>'


class ConversationRole(SphinxRole):
    """A link to one conversation; its bare name where the book has no explorer."""

    def run(self):
        if _DOCUMENT not in self.env.found_docs:
            return [nodes.inline(text=self.text, support_smartquotes=False)], []
        address = filtered_address({"conversation": self.text}, self.env.docname)
        return [nodes.reference("", self.text, refuri=address, internal=True)], []


class ExplorerDirective(SphinxDirective):
    """The place that the script fills."""

    def run(self):
        root = posixpath.relpath(".", posixpath.dirname(self.env.docname) or ".")
        page = (
            f'<div class="sense7-explorer" id="sense7-explorer" data-folder="{root}/{EXPLORER_FOLDER}/">\n'
            f"<noscript><p>{html.escape(NO_SCRIPT)}</p></noscript>\n</div>\n"
            f'<script defer src="{root}/{EXPLORER_FOLDER}/conversations.js"></script>\n'
        )
        return [nodes.container("", raw(page), classes=["full-width"])]


def _add_files(app, page, template, context, tree) -> None:
    """Only the explorer's page loads the explorer's style and scripts."""
    if page == _DOCUMENT:
        app.add_css_file("explorer.css")
        for script in SCRIPTS:
            app.add_js_file(script, loading_method="defer")


_LOGGER = logging.getLogger(__name__)
_OF = {"importance": IMPORTANCE.size, "desired": DESIRED_EMPATHY.size, "label": len(LEVELS)}

FILTERS = {
    **dict.fromkeys(("text", "condition", "topic", "participant", "judge"), ".+"),
    **dict.fromkeys(("turns_from", "turns_to", "first"), r"\d+"),
    **dict.fromkeys(("from", "to"), r"\d+(\.\d+)?"),
    **{name: f"[1-{size}]|none" for name, size in _OF.items()},
    "prompted": "yes|no",
    "poor": "yes|no|unknown",
    "low": "|".join(RATING_NAMES),
    "level": "1",
    "repeat": "first|later|condition|topic",
    "apart": r"0\.5|1|1\.5|2|none",
    "sort": "lowest|highest|poor|longest|apart|above|below",
}
"""Filter of the explorer -> pattern of its values; the script that reads them is book/static/explorer-filters.js."""

_NAMED = ("condition", "topic", "participant")
_ROWS = {"desired empathy" if name == "desired" else name: name for name in (*_NAMED, *_OF)}
"""Head of a table's first column -> the filter that its rows are values of."""

_MOST_BEHIND = 12
"""Groups of a figure that are linked below it; of more, as of participants, there are none."""


def filtered_address(filters: Mapping[str, str], page: str) -> str:
    """Address of the explorer with filters set, relative to a page of the book.

    Examples
    --------
    >>> filtered_address({"poor": "yes", "condition": "A & B"}, "notebooks/06-poor-turn")
    '../book/explorer.html#poor=yes&condition=A+%26+B'
    >>> filtered_address({"conversation": "T 1&2"}, "book/ledger")
    'explorer.html#conversation=T%201%262'
    """
    address = posixpath.relpath(EXPLORER_PAGE, posixpath.dirname(page) or ".")
    # A condition may be called "none", which else stands for what is not given.
    plain = {
        name: f"={value}" if name in _NAMED and (value == "none" or value.startswith("=")) else value
        for name, value in filters.items()
    }
    return f"{address}#{urlencode(plain, quote_via=quote if 'conversation' in plain else quote_plus, safe='')}"


def wrong_filters(filters: Mapping[str, str]) -> str:
    """What is wrong with filters, in words; "" if nothing.

    Examples
    --------
    >>> wrong_filters({"poor": "yes"}), wrong_filters({"poor": "maybe"})
    ('', "poor='maybe'; it takes yes|no|unknown")
    >>> wrong_filters({"poro": "yes"})[:44]
    "'poro' is no filter of the explorer; it has "
    """
    for name, value in filters.items():
        if name not in FILTERS:
            return f"{name!r} is no filter of the explorer; it has {', '.join(FILTERS)}"
        if not re.fullmatch(FILTERS[name], value, re.DOTALL):
            return f"{name}={value!r}; it takes {FILTERS[name]}"
    return "" if filters else "no filter is given"


def link_tables(shown: str, page: str, groups: Mapping[str, list[str]] | None) -> str:
    """Make links of the cells of columns ``conversation in full``, and of names of rows that are groups, if any may be.

    Examples
    --------
    >>> row = '<tr><th scope="row">{}</th></tr>'.format
    >>> table = f'<table><tr><th scope="col">topic</th></tr>{row("Work")}{row("(all)")}</table>'
    >>> linked = link_tables(table, "book/ledger", {"topic": ["Work"]})
    >>> linked == table.replace("Work", '<a href="explorer.html#topic=Work">Work</a>')
    True
    >>> table = "<table><tr><th>conversation in full</th></tr><tr><td>T1</td></tr></table>"
    >>> link_tables(table, "book/ledger", {}).partition("<td>")[2]
    '<a href="explorer.html#conversation=T1">T1</a></td></tr></table>'
    """

    def link_table(table: re.Match) -> str:
        head = _ROW.search(table[0])
        names = [html.unescape(cell[2]).strip() for cell in _CELL.finditer(head[0])] if head else [""]
        group = None if groups is None else _ROWS.get(names[0])
        column = names.index(COLUMN) if COLUMN in names else None
        if group is None and column is None:
            return table[0]

        def link_row(row: re.Match) -> str:
            # A row of another shape is left alone: nothing is better than a link to somewhere else.
            places, whole = itertools.count(), len(_CELL.findall(row[0])) == len(names)

            def link_cell(cell: re.Match) -> str:
                place, value = next(places), html.unescape(cell[2])
                leads = {"conversation": value} if place == column and whole and value.strip() else {}
                if place == 0 and group and 'scope="row"' in cell[1] and _is_group(group, value, groups):
                    leads = {group: value}
                return f"{cell[1]}{_link(cell[2], leads, page)}{cell[3]}" if leads else cell[0]

            return _CELL.sub(link_cell, row[0])

        return table[0][: head.end()] + _ROW.sub(link_row, table[0][head.end() :])

    return _TABLE.sub(link_table, shown)


def _is_group(name: str, value: str, groups: Mapping[str, list[str]]) -> bool:
    if name in _NAMED:
        return value in groups.get(name, ()) and not value.isdecimal()
    return value.isdecimal() and not wrong_filters({name: value})


def link_figures(shown: str, page: str, groups: Mapping[str, list[str]]) -> str:
    r"""Add links to the groups that a figure shows after its caption.

    Examples
    --------
    >>> data = base64.b64encode(b'"topic","n"\n"Work",1\n"Home",2\n').decode()
    >>> figure = '<figure class="sense7-figure"><figcaption>{}</figcaption></figure>'.format
    >>> linked = link_figures(figure(f'<a href="data:text/csv;base64,{data}">Data</a>'), "book/a", {"topic": ["Work"]})
    >>> linked.partition("Data</a>")[2]
    ' Conversations: <a href="explorer.html#topic=Work">Work</a>.</figcaption></figure>'
    """

    def with_groups(figure: re.Match) -> str:
        data = _DATA.search(figure[0])
        rows = list(csv.DictReader(io.StringIO(base64.b64decode(data[1]).decode(), newline=""))) if data else []
        column = next((head for head in _ROWS if rows and head in rows[0]), None)
        name = _ROWS.get(column)
        values = [
            value for value in dict.fromkeys(row[column] for row in rows if column) if _is_group(name, value, groups)
        ]
        if not 1 <= len(values) <= _MOST_BEHIND:
            return figure[0]
        what = "Conversations" if name in _NAMED else f"Conversations by {column}"
        links = ", ".join(_link(html.escape(value, quote=False), {name: value}, page) for value in values)
        head, end, rest = figure[0].rpartition("</figcaption>")
        return f"{head} {what}: {links}.{end}{rest}"

    return _FIGURE.sub(with_groups, shown)


class ConversationsRole(SphinxRole):
    """A link to the explorer with filters set; its bare words where the book has no explorer."""

    def run(self):
        explicit, words, query = split_explicit_title(self.text)
        pairs = parse_qsl(query, keep_blank_values=True)
        filters = dict(pairs)
        wrong = wrong_filters(filters) if explicit else "write it as: words <filter=value>"
        wrong = wrong or ("a filter is given twice" if len(filters) < len(pairs) else "")
        if wrong:
            _LOGGER.warning("conversations %r: %s", self.text, wrong, location=self.get_location())
        if wrong or _DOCUMENT not in self.env.found_docs:
            return [nodes.inline(text=words)], []
        return [nodes.reference("", words, refuri=filtered_address(filters, self.env.docname), internal=True)], []


def _link_outputs(app, tree) -> None:
    """Link what a page shows of notebooks; groups only where they are this edition's."""
    page = app.env.docname
    shown = [node for node in tree.findall(nodes.raw) if "html" in node.get("format", "").split()]
    shown = [node for node in shown if "<table" in node.astext() or "<figure" in node.astext()]
    if _DOCUMENT not in app.env.found_docs or not shown:
        return
    facts = edition_of(app).facts
    is_own = page.startswith("notebooks/") and posixpath.basename(page) not in facts["made"]["released"]
    groups = facts["groups"] if is_own else {}
    for node in shown:
        linked = link_tables(node.astext(), page, groups if is_own else None)
        node.clear()
        node.append(nodes.Text(link_figures(linked, page, groups) if is_own else linked))


def find_picture(node: dict, name: str) -> str | None:
    """HTML of a notebook's figure, or of the sentence in its place.

    Examples
    --------
    >>> figure = '<figure class="sense7-figure"><svg></svg><a download="levels.csv"></a></figure>'
    >>> cell = {"source": 'draw(name="levels")', "outputs": [{"data": {"text/html": f"<div>{figure}</div>"}}]}
    >>> find_picture({"cells": [{"source": "# Levels"}, cell]}, "levels") == figure
    True
    >>> find_picture({"cells": [cell]}, "shares") is None
    True
    """
    sentence = None
    for cell in node["cells"]:
        for output in cell.get("outputs", ()):
            shown = "".join(output.get("data", {}).get("text/html", ""))
            for figure in _FIGURE.findall(shown):
                if f'download="{name}.csv"' in figure:
                    return figure
            if shown and f'"{name}"' in "".join(cell["source"]):
                sentence = sentence or shown
    return sentence


class PictureDirective(SphinxDirective):
    """A figure of a notebook: its page and its name."""

    required_arguments = 2

    def run(self):
        page, name = self.arguments
        path = Path(self.config.sense7_edition) / f"{page}.ipynb"
        self.env.note_dependency(str(path))  # with the notebook, the page that shows it is read again
        try:
            shown = find_picture(json.loads(path.read_text(encoding="utf-8")), name)
        except (OSError, ValueError):
            shown = None
        if shown is None:
            _LOGGER.warning("%s has no figure %r", page, name, location=self.get_location())
            return []
        # Made by figures and tables of this library, which escape all texts of a workbook.
        return [nodes.container("", raw(shown), classes=["sense7-picture"])]


class SpecificationsDirective(PictureDirective):
    """The specifications of a headline."""

    required_arguments = 1

    def run(self):
        if not Path(self.config.sense7_edition, f"{ROBUSTNESS}.ipynb").exists():
            return [paragraph(nodes.emphasis(text=LACKING))]
        self.arguments = [ROBUSTNESS, *self.arguments]
        return super().run()


def setup(app):
    """Register directives, roles, links and files with Sphinx."""
    app.add_role("conversations", ConversationsRole())
    app.add_role("conversation", ConversationRole())
    app.add_directive("explorer", ExplorerDirective)
    app.add_directive("picture", PictureDirective)
    app.add_directive("specifications", SpecificationsDirective)
    app.connect("doctree-read", _link_outputs)
    app.connect("html-page-context", _add_files)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
