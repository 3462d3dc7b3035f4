"""The explorer's place on its page, and links to it.

A Sphinx extension:

- the directive ``explorer``: where the page shows the conversations (see ``book/static/explorer.js``);
- ``{conversation}`T0001```: a link to one conversation;
- a table that a notebook shows with a column ``conversation in full``: its cells become such links. The notebook itself
  knows nothing of the book; opened elsewhere, its table is plain text.
"""

import html
import posixpath
import re
from urllib.parse import quote

from docutils import nodes
from sphinx.util.docutils import SphinxDirective, SphinxRole

from sense7.book.editions import EXPLORER_FOLDER, EXPLORER_PAGE

__all__ = ["COLUMN", "SCRIPTS", "conversation_address", "link_conversations", "setup"]

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

    Parameters
    ----------
    conversation : str
        Its name; it may hold any sign.
    page : str
        The page that links, e.g. ``notebooks/00-taxonomy``.

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

    Parameters
    ----------
    shown : str
        HTML, as ``tables.Table`` writes it.
    page : str
        The page that it stands on.

    Returns
    -------
    str
        The HTML; just as it was where no table has such a column.

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


def setup(app):
    """Register directive, role, links and files with Sphinx."""
    app.add_role("conversation", ConversationRole())
    app.add_directive("explorer", ExplorerDirective)
    app.connect("doctree-read", _link_outputs)
    app.connect("html-page-context", _add_files)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
