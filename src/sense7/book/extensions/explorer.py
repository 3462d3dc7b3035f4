"""The explorer's place on its page, and links to it.

A Sphinx extension:

- the directive ``explorer``: where the page shows the conversations (see ``book/static/explorer.js``);
- ``{conversation}`T0001```: a link to one conversation;
- a table that a notebook shows with a column ``conversation in full``: its cells become such links. The notebook itself
  knows nothing of the book; opened elsewhere, its table is plain text.

Links from groups on a page to their conversations in the explorer.

A Sphinx extension:

- ``{conversations}`the conversations with a poor turn <poor=yes>```: a link to the explorer with these filters set. A
  filter that the explorer does not have is a warning, and warnings end the build.
- a table of a notebook whose rows are conditions, topics, participants, or levels of importance, desired empathy or
  the label: the names of its rows become such links.
- a figure whose data name such groups: links to them follow its caption.

Of tables and figures, only names that this edition's workbook has are linked, and only on pages about its data; the
notebook itself knows nothing of the book.
"""

import base64
import csv
import html
import io
import posixpath
import re
from collections.abc import Mapping
from urllib.parse import parse_qsl, quote, urlencode

from docutils import nodes
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective, SphinxRole
from sphinx.util.nodes import split_explicit_title

from sense7.book.editions import EXPLORER_FOLDER, EXPLORER_PAGE
from sense7.book.extensions.directives import edition_of
from sense7.taxonomy import DESIRED_EMPATHY, IMPORTANCE, LEVELS, RATING_NAMES

__all__ = [
    "COLUMN",
    "FILTERS",
    "SCRIPTS",
    "conversation_address",
    "filtered_address",
    "link_conversations",
    "link_figures",
    "link_groups",
    "setup",
    "wrong_filters",
]

SCRIPTS = ("explorer-elements.js", "explorer-filters.js", "explorer-conversation.js", "explorer.js")
"""In the order in which they build on each other."""

COLUMN = "conversation in full"
"""Head of the column in a notebook's table whose cells name conversations."""

_DOCUMENT = EXPLORER_PAGE.removesuffix(".html")
_TABLE = re.compile(r"<table\b.*?</table>", re.DOTALL)
_ROW = re.compile(r"<tr\b.*?</tr>", re.DOTALL)
_CELL = re.compile(r"(<t[dh]\b[^>]*>)([^<]*)(</t[dh]>)")

NO_SCRIPT = (
    "This page needs JavaScript to show the conversations. Without it, they can be read in the workbook, which lies "
    "in the folder data of this edition: sheets Tasks and Messages."
)


def conversation_address(conversation: str, page: str) -> str:
    """Address of one conversation in the explorer, relative to a page of the book.

    Examples
    --------
    >>> conversation_address("T 1&2", "notebooks/00-taxonomy")
    '../book/explorer.html#conversation=T%201%262'
    >>> conversation_address("T1", "book/ledger")
    'explorer.html#conversation=T1'
    """
    address = posixpath.relpath(EXPLORER_PAGE, posixpath.dirname(page) or ".")
    return f"{address}#conversation={quote(conversation, safe='')}"


def link_conversations(shown: str, page: str) -> str:
    """Make links of the cells of every column ``conversation in full`` in the tables of a cell's output.

    Examples
    --------
    >>> table = "<table><tr><th>conversation in full</th></tr><tr><td>T1</td></tr></table>"
    >>> link_conversations(table, "book/ledger").partition("<td>")[2]
    '<a href="explorer.html#conversation=T1">T1</a></td></tr></table>'
    """
    return _TABLE.sub(lambda table: _link_table(table[0], page), shown)


def _link_table(table: str, page: str) -> str:
    head = _ROW.search(table)
    names = [html.unescape(cell[2]).strip() for cell in _CELL.finditer(head[0])] if head else []
    if COLUMN not in names:
        return table
    column = names.index(COLUMN)

    def link_row(row: re.Match) -> str:
        cells = list(_CELL.finditer(row[0]))
        # A row of another shape is left alone: nothing is better than a link to somewhere else.
        if len(cells) != len(names) or not cells[column][2].strip():
            return row[0]
        cell = cells[column]
        address = html.escape(conversation_address(html.unescape(cell[2]), page), quote=True)
        return f'{row[0][: cell.start(2)]}<a href="{address}">{cell[2]}</a>{row[0][cell.end(2) :]}'

    return table[: head.end()] + _ROW.sub(link_row, table[head.end() :])


class ConversationRole(SphinxRole):
    """A link to one conversation; its bare name where the book has no explorer."""

    def run(self):
        if _DOCUMENT not in self.env.found_docs:
            return [nodes.inline(text=self.text, support_smartquotes=False)], []
        address = conversation_address(self.text, self.env.docname)
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
        return [nodes.container("", nodes.raw("", page, format="html"), classes=["full-width"])]


def _link_outputs(app, tree) -> None:
    if _DOCUMENT not in app.env.found_docs:
        return
    for node in tree.findall(nodes.raw):
        shown = node.astext()
        if "html" in node.get("format", "").split() and f">{COLUMN}</th>" in shown:
            node.clear()
            node.append(nodes.Text(link_conversations(shown, app.env.docname)))


def _add_files(app, page, template, context, tree) -> None:
    """Only the explorer's page loads the explorer's style and scripts."""
    if page == _DOCUMENT:
        app.add_css_file("explorer.css")
        for script in SCRIPTS:
            app.add_js_file(script, loading_method="defer")


_LOGGER = logging.getLogger(__name__)
_ANY, _WHOLE, _NUMBER = ".+", r"\d+", r"\d+(\.\d+)?"
_ONE_OF_IMPORTANCE = f"[1-{IMPORTANCE.size}]|none"
_ONE_OF_DESIRED = f"[1-{DESIRED_EMPATHY.size}]|none"
_ONE_OF_LABELS = f"[1-{len(LEVELS)}]|none"

FILTERS = {
    "text": _ANY,
    "condition": _ANY,
    "prompted": "yes|no",
    "topic": _ANY,
    "participant": _ANY,
    "label": _ONE_OF_LABELS,
    "from": _NUMBER,
    "to": _NUMBER,
    "turns_from": _WHOLE,
    "turns_to": _WHOLE,
    "poor": "yes|no|unknown",
    "first": _WHOLE,
    "low": "|".join(RATING_NAMES),
    "level": "1",
    "importance": _ONE_OF_IMPORTANCE,
    "desired": _ONE_OF_DESIRED,
    "repeat": "first|later|condition|topic",
    "apart": r"0\.5|1|1\.5|2|none",
    "judge": _ANY,
    "sort": "lowest|highest|poor|longest|apart|above|below",
}
"""Filter of the explorer -> pattern of its values; the script that reads them is book/static/explorer-filters.js."""

_ROWS = {
    "condition": "condition",
    "topic": "topic",
    "participant": "participant",
    "importance": "importance",
    "desired empathy": "desired",
    "label": "label",
}
"""Head of a table's first column -> the filter that its rows are values of."""

_NAMED = ("condition", "topic", "participant")
_MOST_BEHIND = 12
"""Groups of a figure that are linked below it; of more, as of participants, there are none."""

_FIGURE = re.compile(r'<figure class="sense7-figure[ "].*?</figure>', re.DOTALL)
_DATA = re.compile(r'href="data:text/csv;base64,([^"]*)"')
_CORNER = re.compile(r"<th\b[^>]*>([^<]*)</th>")
_ROW_HEAD = re.compile(r'(<th scope="row">)([^<]+)(</th>)')


def filtered_address(filters: Mapping[str, str], page: str) -> str:
    """Address of the explorer with filters set, relative to a page of the book.

    Examples
    --------
    >>> filtered_address({"poor": "yes", "condition": "A & B"}, "notebooks/06-poor-turn")
    '../book/explorer.html#poor=yes&condition=A+%26+B'
    """
    address = posixpath.relpath(EXPLORER_PAGE, posixpath.dirname(page) or ".")
    # A condition may be called "none", which else stands for what is not given.
    plain = {
        name: f"={value}" if name in _NAMED and (value == "none" or value.startswith("=")) else value
        for name, value in filters.items()
    }
    return f"{address}#{urlencode(plain)}"


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


def link_groups(shown: str, page: str, groups: Mapping[str, list[str]]) -> str:
    """Make links of the names of rows that are groups of conversations.

    Examples
    --------
    >>> row = '<tr><th scope="row">{}</th></tr>'.format
    >>> table = f'<table><tr><th scope="col">topic</th></tr>{row("Work")}{row("(all)")}</table>'
    >>> linked = link_groups(table, "book/ledger", {"topic": ["Work"]})
    >>> linked == table.replace("Work", '<a href="explorer.html#topic=Work">Work</a>')
    True
    """
    return _TABLE.sub(lambda table: _link_rows(table[0], page, groups), shown)


def _link_rows(table: str, page: str, groups: Mapping[str, list[str]]) -> str:
    corner = _CORNER.search(table)
    name = _ROWS.get(html.unescape(corner[1]).strip()) if corner else None
    if name is None:
        return table

    def link(head: re.Match) -> str:
        value = html.unescape(head[2])
        return f"{head[1]}{_link(name, value, page)}{head[3]}" if _is_group(name, value, groups) else head[0]

    return table[: corner.end()] + _ROW_HEAD.sub(link, table[corner.end() :])


def _is_group(name: str, value: str, groups: Mapping[str, list[str]]) -> bool:
    if name in _NAMED:
        return value in groups.get(name, ()) and not value.isdecimal()
    return value.isdecimal() and not wrong_filters({name: value})


def _link(name: str, value: str, page: str) -> str:
    address = html.escape(filtered_address({name: value}, page), quote=True)
    return f'<a href="{address}">{html.escape(value, quote=False)}</a>'


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
    return _FIGURE.sub(lambda figure: _with_groups(figure[0], page, groups), shown)


def _with_groups(figure: str, page: str, groups: Mapping[str, list[str]]) -> str:
    data = _DATA.search(figure)
    rows = csv.DictReader(io.StringIO(base64.b64decode(data[1]).decode(), newline="")) if data else None
    column = next((head for head in _ROWS if rows and head in (rows.fieldnames or ())), None)
    if column is None:
        return figure
    name = _ROWS[column]
    values = [value for value in dict.fromkeys(row[column] for row in rows) if _is_group(name, value, groups)]
    if not 1 <= len(values) <= _MOST_BEHIND:
        return figure
    what = "Conversations" if name in _NAMED else f"Conversations by {column}"
    links = ", ".join(_link(name, value, page) for value in values)
    head, end, rest = figure.rpartition("</figcaption>")
    return f"{head} {what}: {links}.{end}{rest}"


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


def _link_groups_of_outputs(app, tree) -> None:
    page = app.env.docname
    if _DOCUMENT not in app.env.found_docs or not page.startswith("notebooks/"):
        return
    facts = edition_of(app).facts
    if posixpath.basename(page) in facts["made"]["released"]:
        return  # its rows are of other data
    for node in tree.findall(nodes.raw):
        shown = node.astext()
        if "html" in node.get("format", "").split() and ("<table" in shown or "<figure" in shown):
            linked = link_figures(link_groups(shown, page, facts["groups"]), page, facts["groups"])
            node.clear()
            node.append(nodes.Text(linked))


def setup(app):
    """Register directive, role, links and files with Sphinx."""
    app.add_role("conversations", ConversationsRole())
    app.connect("doctree-read", _link_groups_of_outputs)
    app.add_role("conversation", ConversationRole())
    app.add_directive("explorer", ExplorerDirective)
    app.connect("doctree-read", _link_outputs)
    app.connect("html-page-context", _add_files)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
