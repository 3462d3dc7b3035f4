"""What pages of the book can say about the edition they stand in.

Roles, so that no number is typed into prose:

- ``{value}`alpha_turn```: a recorded value with its interval; ``{value}`alpha_turn.estimate```, ``.n``, ``.count`` (a
  share as 8 of 18) or ``.expected`` (what the simulation should give) for a part of it; the reason if it has none;
- ``{published}`alpha_turn```: the published figure of a claim, or the claim in words;
- ``{edition}`label```: a fact about the edition (name, label, file, sha256, verdicts ...);
- ``{answer}`` and ``{rehearsed}``: of a claim, the first words of an answer, and what was expected and found.

A key that does not exist is a warning, and warnings end the build. All texts enter the page
as text: nothing that a workbook holds is markup.
"""

import html
from pathlib import Path
from pickle import HIGHEST_PROTOCOL, dump

from docutils import nodes
from sphinx.application import ENV_PICKLE_FILENAME
from sphinx.util import logging
from sphinx.util.docutils import SphinxRole

from sense7.book.words import ROLES, Edition, key_and_part, value_in_words
from sense7.record import called

_LOGGER = logging.getLogger(__name__)


def edition_of(app_or_env) -> Edition:
    """The edition that the pages are made of, read once, when it is complete."""
    config = app_or_env.config  # what both have; it is kept without what begins with an underscore
    if not hasattr(config, "_sense7_edition"):
        config._sense7_edition = Edition(Path(config.sense7_edition))
    return config._sense7_edition


def looked_up(env, *files: str) -> Edition:
    """The edition; Sphinx reads the current page again when one of these files changes."""
    edition = edition_of(env)
    for file in files:
        env.note_dependency(str(edition.folder / file))
    return edition


class Explained(nodes.inline):
    """A text with a note, which is seen while a pointer or the keyboard is on it, or a finger has touched it."""


def visit_explained(writer, node: Explained) -> None:
    """Begin the element of a text with a note."""
    classes = " ".join(node["classes"])
    note = html.escape(node["explanation"])
    writer.body.append(f'<span class="{classes}" tabindex="0" aria-description="{note}">')


def depart_explained(writer, node: Explained) -> None:
    """End it."""
    writer.body.append("</span>")


class TextRole(SphinxRole):
    """A role that becomes plain text; the first words of an answer are strong."""

    def run(self):
        edition = looked_up(self.env, "ledger.json", "edition.json")
        # Typographic quotes and dashes would change names that come from a workbook.
        attributes = {"classes": [f"sense7-{self.name}"], "support_smartquotes": False}
        try:
            return [self.node(edition, attributes)], []
        except KeyError:
            words = f"{self.name}: the edition has no {self.text!r}"
            _LOGGER.warning(words, location=self.get_location())
            return [], []

    def node(self, edition: Edition, attributes: dict) -> nodes.Element:
        """The words in a node of their own."""
        words = ROLES[self.name](edition, self.text)
        if self.name == "answer":
            return nodes.strong(self.rawtext, words, support_smartquotes=False)
        return nodes.inline(self.rawtext, words, **attributes)


class ValueRole(TextRole):
    """A recorded value, or a part of it; its note has n and method, for which a sentence has no room."""

    def node(self, edition: Edition, attributes: dict) -> nodes.Element:
        """The words with their note."""
        key, part = key_and_part(edition, self.text)
        value = edition.values[key]
        looked_up(self.env, f"results/{value['notebook']}.json")
        given_reasons = self.env.temp_data.setdefault("sense7-reasons", set())  # of this page
        words = value_in_words(edition, key, part, given_reasons)
        how = [value["reason"]]
        if value["estimate"] is not None:
            how = [f"n = {value['n']:,}", value["method"]]
        note = "; ".join([*how, f"computed by {called(value)}"])
        return Explained(self.rawtext, words, explanation=note, **attributes)


def raw(markup: str) -> nodes.raw:
    """HTML, in which all that comes from outside is escaped."""
    return nodes.raw("", markup, format="html")


def fold(summary: str, *content: nodes.Node, name: str) -> list[nodes.Node]:
    """What opens with a click on its summary; ``name`` is that of its class."""
    opening = raw(f'<details class="{name}"><summary>{summary}</summary>')
    return [opening, *content, raw("</details>")]


def anchor_cells(app, tree) -> None:
    """Give every code cell an anchor by its execution count, for links from the ledger."""
    for node in tree.findall(nodes.container):
        if node.get("nb_element") == "cell_code" and node.get("exec_count"):
            node["ids"].append(f"cell-{node['exec_count']}")


def drop_absent_words(app) -> list:
    """Leave words out of the search index that no page has any more: else it differs from a first build's."""
    for pages_of in (app.builder.indexer._mapping, app.builder.indexer._title_mapping):
        for word in [word for word, pages in pages_of.items() if not pages]:
            del pages_of[word]
    return []


def keep_entries_of_search(app, exception) -> None:
    """Keep the entries of the index for the next build: Sphinx collects them after it has written what it keeps."""
    if exception is None:
        with (Path(app.doctreedir) / ENV_PICKLE_FILENAME).open("wb") as stream:
            dump(app.env, stream, HIGHEST_PROTOCOL)
