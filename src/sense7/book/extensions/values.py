"""What pages of the book can say about the edition they stand in.

A Sphinx extension, so that no number is typed into prose:

- ``{value}`alpha_turn```: a recorded value with its interval; ``{value}`alpha_turn.estimate```, ``.n`` or
  ``.expected`` (what the simulation should give) for a part of it; the reason where it has no value;
- ``{published}`alpha_turn```: the published figure of a claim, or the claim in words; with ``.source`` its source;
- ``{edition}`label```: a fact about the edition (name, label, file, sha256, verdicts ...).

A key that does not exist is a warning, and warnings end the build. All texts enter the page
as text: nothing that a workbook holds is markup.
"""

import html
import pickle
from collections.abc import Callable
from pathlib import Path

from docutils import nodes
from sphinx.application import ENV_PICKLE_FILENAME
from sphinx.util import logging
from sphinx.util.docutils import SphinxRole

from sense7.book.extensions import METADATA
from sense7.expected import FILE as EXPECTED
from sense7.expected import ExpectedValue, is_set_to_published
from sense7.files import read_json
from sense7.record import called, format_number, format_value, read_values
from sense7.taxonomy import SIMULATED_WORDS

__all__ = ["setup"]

_LOGGER = logging.getLogger(__name__)
NOT_AVAILABLE = "not available here"
"""Said of a value whose reason the page has given before."""


class Edition:
    """What the extension reads from the folder of the edition."""

    def __init__(self, folder: Path):
        def read(name: str):
            path = folder / name
            if not path.exists():
                return {}
            return read_json(path)

        self.folder = folder
        self.values = read_values(folder / "results")
        self.ledger = read("ledger.json")
        self.facts = read("edition.json")
        simulated = read(f"data/{EXPECTED}").get("values", {})
        self.expected = {key: ExpectedValue(**entry) for key, entry in simulated.items()}
        self.claims = {row["id"]: row for row in self.ledger}
        # Keys of simulated values set to published figures: those of claims, and the same statistics elsewhere.
        self.set_to_published = set()
        for row in self.ledger:
            if row["rehearsal"] and row["rehearsal"]["is_set"]:
                self.set_to_published.add(row["computed"]["key"])
        if self.facts["kind"] == "synthetic":
            self.set_to_published |= {
                key for key, value in self.values.items() if is_set_to_published(value)
            }

    def set_on(self, page: str) -> list[str]:
        """Such values on a notebook's page: those that it records, and those of the notebooks that it needs."""
        name = page.removeprefix("notebooks/")
        recorders = {name, *self.facts["made"]["needs"].get(name, ())}
        keys = sorted(self.set_to_published)
        return [key for key in keys if self.values[key]["notebook"] in recorders]


def edition_of(app_or_env) -> Edition:
    """The edition that the pages are made of, read once, when it is complete."""
    config = app_or_env.config  # what both have; it is kept without what begins with an underscore
    if not hasattr(config, "_sense7_edition"):
        config._sense7_edition = Edition(Path(config.sense7_edition))
    return config._sense7_edition


def looked_up(env, *files: str) -> Edition:
    """The edition, of which the page that is read shows what stands in these files: if they change it is read again."""
    edition = edition_of(env)
    for file in files:
        env.note_dependency(str(edition.folder / file))
    return edition


class Explained(nodes.inline):
    """A text with a note, which is seen while a pointer or the keyboard is on it, or a finger has touched it."""


def visit_explained(writer, node: Explained) -> None:
    """Begin the element of a text with a note."""
    ancestor = node.parent
    while ancestor is not None:
        if isinstance(ancestor, nodes.reference):  # a link is reached by itself
            writer.body.append("<span>")
            return
        ancestor = ancestor.parent
    classes = " ".join(node["classes"])
    note = html.escape(node["explanation"])
    writer.body.append(f'<span class="{classes}" tabindex="0" aria-description="{note}">')


def depart_explained(writer, node: Explained) -> None:
    """End it."""
    writer.body.append("</span>")


class TextRole(SphinxRole):
    """A role that becomes plain text, which ``lookup`` gives of environment and text, with its long form, if any."""

    def __init__(self, lookup: Callable):
        self.lookup = lookup

    def run(self):
        try:
            words, explanation = self.lookup(self.env, self.text)
        except KeyError:
            _LOGGER.warning("nothing is recorded as %r", self.text, location=self.get_location())
            return [], []
        # Typographic quotes and dashes would change names that come from a workbook.
        attributes = {"classes": [f"sense7-{self.name}"], "support_smartquotes": False}
        if not explanation:
            return [nodes.inline(self.rawtext, words, **attributes)], []
        return [Explained(self.rawtext, words, explanation=explanation, **attributes)], []


def published_in_words(edition: Edition, text: str) -> str:
    """What was published of a claim, or the source of that; KeyError if there is no such claim, or no such part."""
    name, _, part = text.partition(".")
    published = edition.claims[name]["published"]
    if part == "source":
        return published["source"]
    if part:
        raise KeyError(text)
    if published["value"] is None:
        return published["title"]
    return published["shown"]


def fact_in_words(edition: Edition, name: str) -> str:
    """A fact about an edition; KeyError if there is none of this name."""
    return str(edition.facts[name])


def key_and_part(edition: Edition, text: str) -> tuple[str, str]:
    """Key of a recorded value, and the part of it that is to be shown; KeyError if there is none of this name."""
    if text in edition.values:
        return text, ""
    key, _, part = text.rpartition(".")
    if key not in edition.values or part not in ("", "estimate", "n", "expected"):
        raise KeyError(text)
    return key, part


def value_in_words(edition: Edition, key: str, part: str, given_reasons: set[str]) -> str:
    """A recorded value, or a part of it, as a sentence shows it; a reason is given once."""
    value, truth = edition.values[key], edition.expected.get(key)
    if value["estimate"] is None and part != "n":
        if value["reason"] in given_reasons:
            return NOT_AVAILABLE
        given_reasons.add(value["reason"])
    if part == "expected" and not truth:
        return "no value that is known here"
    if part == "expected":
        return format_number(truth.value, value["unit"])
    words = format_value(value, part)
    if part != "n" and (value["method"] or "").startswith(SIMULATED_WORDS):
        words += f" ({SIMULATED_WORDS})"
    return words


def lookup_published(env, text: str) -> tuple[str, str]:
    """What was published of a claim."""
    return published_in_words(looked_up(env, "ledger.json"), text), ""


def lookup_fact(env, text: str) -> tuple[str, str]:
    """A fact about the edition."""
    return fact_in_words(looked_up(env, "edition.json"), text), ""


def lookup_value(env, text: str) -> tuple[str, str]:
    """A recorded value, or a part of it, as a sentence shows it; n and method, for which it has no room."""
    edition = edition_of(env)
    key, part = key_and_part(edition, text)
    value = edition.values[key]
    looked_up(env, f"results/{value['notebook']}.json")
    given_reasons = env.temp_data.setdefault("sense7-reasons", set())  # of this page
    is_missing = value["estimate"] is None
    is_repeated = value["reason"] in given_reasons
    words = value_in_words(edition, key, part, given_reasons)
    if is_missing and is_repeated:
        return words, f"{value['reason']}; computed by {called(value)}"
    if is_missing:
        return words, ""
    return words, f"n = {value['n']:,}; {value['method']}; computed by {called(value)}"


def paragraph(*parts: str | nodes.Node, **attributes) -> nodes.paragraph:
    """A paragraph of texts and nodes."""
    inline = (nodes.Text(part) if isinstance(part, str) else part for part in parts)
    return nodes.paragraph("", "", *inline, **attributes)


def raw(shown: str) -> nodes.raw:
    """HTML, in which all that comes from outside is escaped."""
    return nodes.raw("", shown, format="html")


def fold(summary: str, *content: nodes.Node, classes: str = "") -> list[nodes.Node]:
    """What opens with a click on its summary."""
    mark = f' class="{classes}"' if classes else ""
    return [raw(f"<details{mark}><summary>{summary}</summary>"), *content, raw("</details>")]


def no_element(writer, node: Explained) -> None:
    """Elsewhere than on pages the text stands alone."""


def anchor_cells(app, tree) -> None:
    """Give every code cell an anchor by its execution count, for links from the ledger."""
    for node in tree.findall(nodes.container):
        if node.get("nb_element") == "cell_code" and node.get("exec_count"):
            node["ids"].append(f"cell-{node['exec_count']}")


def keep_entries_of_search(app, exception) -> None:
    """Keep the entries of the index for the next build: Sphinx collects them after it has written what it keeps."""
    if exception is None:
        with (Path(app.doctreedir) / ENV_PICKLE_FILENAME).open("wb") as stream:
            pickle.dump(app.env, stream, pickle.HIGHEST_PROTOCOL)


def require_edition(app, config) -> None:
    """End with one sentence where plain Jupyter Book is called: pages show the values of an edition."""
    if not config.sense7_edition:
        raise SystemExit(
            "These pages show the values of an edition. Build them by: make book, or: sense7 build synthetic"
        )


def setup(app):
    """Register roles and anchors with Sphinx."""
    app.connect("config-inited", require_edition)
    app.add_config_value("sense7_edition", "", "env", types=[str])
    app.add_role("value", TextRole(lookup_value))
    app.add_role("published", TextRole(lookup_published))
    app.add_role("edition", TextRole(lookup_fact))
    app.add_node(
        Explained,
        override=False,
        html=(visit_explained, depart_explained),
        latex=(no_element, no_element),
        text=(no_element, no_element),
    )
    app.connect("doctree-read", anchor_cells)
    app.connect("build-finished", keep_entries_of_search)
    return METADATA
