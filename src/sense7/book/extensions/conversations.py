"""Links from groups on a page to their conversations in the explorer.

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
from urllib.parse import parse_qsl, urlencode

from docutils import nodes
from sphinx.util import logging
from sphinx.util.docutils import SphinxRole
from sphinx.util.nodes import split_explicit_title

from sense7.book.editions import EXPLORER_PAGE
from sense7.book.extensions.directives import edition_of
from sense7.taxonomy import DESIRED_EMPATHY, IMPORTANCE, LEVELS, RATING_NAMES

__all__ = ["FILTERS", "filtered_address", "link_figures", "link_groups", "setup", "wrong_filters"]

_LOGGER = logging.getLogger(__name__)
_DOCUMENT = EXPLORER_PAGE.removesuffix(".html")
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
_TABLE = re.compile(r"<table\b.*?</table>", re.DOTALL)
_CORNER = re.compile(r"<th\b[^>]*>([^<]*)</th>")
_ROW_HEAD = re.compile(r'(<th scope="row">)([^<]+)(</th>)')


def filtered_address(filters: Mapping[str, str], page: str) -> str:
    """Address of the explorer with filters set, relative to a page of the book.

    Parameters
    ----------
    filters : mapping
        Name -> value, as in ``FILTERS``.
    page : str
        The page that links, e.g. ``notebooks/00-taxonomy``.

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

    Parameters
    ----------
    shown : str
        HTML of a cell's output, as ``tables.Table`` writes it.
    page : str
        The page that it stands on.
    groups : mapping
        Condition, topic and participant -> their names in this edition.

    Returns
    -------
    str
        The HTML; what is no such name stays as it was. A bare number is not taken for a condition, topic or
        participant, since a table may number its rows.

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

    Parameters
    ----------
    shown : str
        HTML of a cell's output, as a figure writes it, with its data as CSV in an address.
    page : str
        The page that it stands on.
    groups : mapping
        Condition, topic and participant -> their names in this edition.

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


def _link_outputs(app, tree) -> None:
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
    """Register role and links with Sphinx."""
    app.add_role("conversations", ConversationsRole())
    app.connect("doctree-read", _link_outputs)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
