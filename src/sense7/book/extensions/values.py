"""What pages of the book can say about the edition they stand in.

A Sphinx extension, so that no number is typed into prose:

- ``{value}`alpha_turn```: a recorded value with its interval; ``{value}`alpha_turn.estimate```, ``.n`` or
  ``.implied`` (what follows from what was planted) for a part of it; the reason where it has no value;
- ``{published}`alpha_turn```: the published figure of a claim;
- ``{edition}`label```: a fact about the edition (name, label, file, sha256, verdicts ...);
- the directive ``ledger``: every claim about SENSE-7 beside what this edition computed; with the argument
  ``other works`` every claim about another work beside what its released numbers give.

A key that does not exist is a warning, and warnings end the build. All texts enter the page
as text: nothing that a workbook holds is markup.
"""

import contextlib
import html
import json
import pickle
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

from docutils import nodes
from sphinx.application import ENV_PICKLE_FILENAME
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective, SphinxRole

from sense7.book.ledger import source_of
from sense7.book.pages import banner, describe
from sense7.implied import FILE as IMPLIED
from sense7.implied import ImpliedTruth
from sense7.record import format_number, format_value, read_values
from sense7.taxonomy import SIMULATED_WORDS

__all__ = ["setup"]

_LOGGER = logging.getLogger(__name__)
_STYLES = {"editions.css", "finding.css", "front.css", "specifications.css", "switch.css"}
_SCRIPTS = {"figures.js", "ledger.js", "reading-order.js", "specifications.js", "tables.js"}
TUNED = (
    "Rows marked tuned have a truth that was set near the published figure, so that nearness to this figure is no "
    "evidence for anything."
)
NOT_AVAILABLE = "not available here"
"""Said of a value whose reason the page has given before."""


class Edition:
    """What the extension reads from the folder of the edition."""

    def __init__(self, folder: Path):
        def read(name: str):
            path = folder / name
            return json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}

        self.folder, self.values = folder, read_values(folder / "results")
        self.ledger, self.facts, self.truth = read("ledger.json"), read("edition.json"), read("data/truth.json")
        simulated = read(f"data/{IMPLIED}").get("truths", {})
        self.implied = {key: ImpliedTruth(**entry) for key, entry in simulated.items()}
        self.claims = {row["id"]: row for row in self.ledger}
        # What the truth calls tuned; a claim may rest on it under another name.
        self.tuned = {
            entry["key"] for entry in self.truth.get("planted", ()) if entry.get("tuned")
        } & self.values.keys()
        self.tuned |= {row["computed"]["key"] for row in self.ledger if row["tuned"] and row["computed"]}

    def tuned_on(self, page: str) -> list[str]:
        """Tuned values on a notebook's page: those that it records, and those of the notebooks that it needs."""
        name = page.removeprefix("notebooks/")
        recorders = {name, *self.facts["made"]["needs"].get(name, ())}
        return [key for key in sorted(self.tuned) if self.values[key]["notebook"] in recorders]


def edition_of(app_or_env) -> Edition:
    """The edition that the pages are made of, read once, when it is complete."""
    app = getattr(app_or_env, "app", app_or_env)
    if not hasattr(app, "_sense7_edition"):
        app._sense7_edition = Edition(Path(app.config.sense7_edition))
    return app._sense7_edition


def looked_up(env, *files: str) -> Edition:
    """The edition, of which the page that is read shows what stands in these files: if they change it is read again."""
    edition = edition_of(env)
    for file in files:
        env.note_dependency(str(edition.folder / file))
    return edition


def marks(edition: Edition, key: str) -> str:
    """Words that go with a recorded value, in parentheses; "" if there are none.

    Beside a published figure, nearness to it would else be taken for evidence, and a simulated judge for a model.
    """
    words = [SIMULATED_WORDS] * (edition.values[key]["method"] or "").startswith(SIMULATED_WORDS)
    words += ["tuned"] * (key in edition.tuned)
    return f" ({', '.join(words)})" if words else ""


class TextRole(SphinxRole):
    """A role that becomes plain text, which ``lookup`` gives of the environment and the role's text."""

    def __init__(self, lookup: Callable):
        self.lookup = lookup

    def run(self):
        try:
            text = self.lookup(self.env, self.text)
        except KeyError:
            _LOGGER.warning("nothing is recorded as %r", self.text, location=self.get_location())
            text = ""
        # Typographic quotes and dashes would change names that come from a workbook.
        return [nodes.inline(self.rawtext, text, classes=[f"sense7-{self.name}"], support_smartquotes=False)], []


def _published(env, name: str) -> str:
    claim = looked_up(env, "ledger.json").claims[name]["published"]
    if claim["value"] is None:
        raise KeyError(name)
    return claim["shown"]


def _fact(env, name: str) -> str:
    return str(looked_up(env, "edition.json").facts[name])


class ValueRole(TextRole):
    """A recorded value, or a part of it; n and method go with every value that has them."""

    def __init__(self):
        super().__init__(self.shown)

    def _key(self, values: Mapping) -> tuple[str, str]:
        key, _, part = (self.text, "", "") if self.text in values else self.text.rpartition(".")
        if part not in ("", "estimate", "n", "implied"):
            raise KeyError(self.text)
        return key, part

    def shown(self, env, text: str) -> str:
        """The value as a sentence shows it."""
        edition = edition_of(env)
        key, part = self._key(edition.values)
        value = edition.values[key]
        looked_up(env, f"results/{value['notebook']}.json")
        if part == "implied":
            truth = edition.implied.get(key)
            return format_number(truth.value, value["unit"]) if truth else "no value that is known here"
        said = format_value(value, part)
        # The front page says in a sentence of its own how many values are tuned.
        is_marked = part in ("", "estimate") and env.docname != self.config.root_doc
        return said + marks(edition, key) * is_marked

    def run(self):
        (node,), messages = super().run()
        edition = edition_of(self.env)
        with contextlib.suppress(KeyError):  # said before
            value = edition.values[self._key(edition.values)[0]]
            is_there = value["estimate"] is not None
            explained = f"n = {value['n']:,}; {value['method']}" if is_there else value["reason"]
            if source := source_of(edition.folder / "notebooks" / f"{value['notebook']}.ipynb", value):
                self.env.note_dependency(str(source.file))
                explained = f"{explained}; computed by {source}"
            said = self.env.temp_data.setdefault("sense7-reasons", set())
            if is_there or value["reason"] in said:
                # An abbreviation, whose long form is n and method, or the reason that the page gave before: a sentence
                # has no room for them.
                shown = node.astext() if is_there else NOT_AVAILABLE
                attributes = {"classes": node["classes"], "explanation": explained, "support_smartquotes": False}
                node = nodes.abbreviation(self.rawtext, shown, **attributes)
            said |= set() if is_there else {value["reason"]}
        return [node], messages


class LedgerDirective(SphinxDirective):
    """The table of claims: about SENSE-7, or about other works."""

    optional_arguments = 1
    final_argument_whitespace = True

    def run(self):
        others = self.arguments == ["other works"]
        if self.arguments and not others:
            raise self.error(f"ledger: {self.arguments[0]!r} is no part of the ledger. Write other works, or nothing.")
        rows = [row for row in looked_up(self.env, "ledger.json").ledger if bool(row["published"]["release"]) == others]
        checked = any(row["check"] for row in rows)
        head = ["Claim", "Published", "Released numbers give" if others else "This edition", "Claim's rule"]
        head += ["Check of the method"] * checked
        title = "compared with the numbers that the work released" if others else "beside what this edition computed"
        title = f"Every claim about {'other works' if others else 'SENSE-7'}, {title}"
        widths = (24, 16, 20, 24, 16) if checked else (28, 22, 25, 25)
        table = page_table(title, head, widths, [_claim_cells(row)[: len(head)] for row in rows], ["sense7-ledger"])
        return [nodes.paragraph(text=TUNED), table] if any(row["tuned"] for row in rows) else [table]


def _claim_cells(row: Mapping) -> list[str | list[nodes.Node]]:
    """Cells of a claim in the ledger: the claim, the published, the computed, and both marks."""
    claim, computed, check = row["published"], row["computed"], row["check"]
    title = nodes.inline(text=claim["title"], ids=[f"claim-{row['id'].replace('_', '-')}"])
    source = f"Grade {claim['grade']}: {claim['source']}" + (f"; {claim['of']}" if claim["of"] != "SENSE-7" else "")
    cells = [[paragraph(title), paragraph(f"Needs: {claim['needs']}")], [*map(paragraph, (claim["shown"], source))]]
    if claim["contradiction"]:
        cells[0].append(paragraph(nodes.strong(text="Contradiction: "), claim["contradiction"]))
    if computed is None:
        cells.append("-")
    else:
        link = nodes.reference("", format_value(computed), refuri=f"../{row['link']}", internal=True)
        n = f"n = {computed['n']:,}; " if computed["n"] else ""
        cells.append([paragraph(link), paragraph(f"{n}{computed['method']}")])
    cells.append([paragraph(rule_badge(row)), paragraph(rule_in_words(row["rule"]))])
    if reason := (claim["compare"] or {}).get("reason"):
        cells[-1] += fold("Why this rule", raw(f"<p>{html.escape(f'{reason[:1].upper()}{reason[1:]}.')}</p>"))
    if not check:
        return [*cells, "-"]
    return [*cells, [paragraph(check_badge(row), *tuned_mark(row)), paragraph(check["says"])]]


def paragraph(*parts: str | nodes.Node, verbatim: bool = False, **attributes) -> nodes.paragraph:
    """A paragraph of texts and nodes; ``verbatim`` without typographic quotes and dashes, which change names."""
    attributes |= {"support_smartquotes": False} if verbatim else {}
    inline = (nodes.Text(part) if isinstance(part, str) else part for part in parts)
    return nodes.paragraph("", "", *inline, **attributes)


def raw(shown: str) -> nodes.raw:
    """HTML, in which all that comes from outside is escaped."""
    return nodes.raw("", shown, format="html")


def fold(summary: str, *content: nodes.Node, classes: str = "") -> list[nodes.Node]:
    """What opens with a click on its summary."""
    mark = f' class="{classes}"' if classes else ""
    return [raw(f"<details{mark}><summary>{summary}</summary>"), *content, raw("</details>")]


def _anchor_cells(app, tree) -> None:
    """Give every code cell an anchor by its execution count, for links from the ledger."""
    for node in tree.findall(nodes.container):
        if node.get("nb_element") == "cell_code" and node.get("exec_count"):
            node["ids"].append(f"cell-{node['exec_count']}")


def _add_files(app) -> None:
    """Load the book's own styles and scripts, where the checkout has them."""
    folders = [Path(app.confdir) / folder for folder in app.config.html_static_path]
    present = {path.name for folder in folders for path in folder.glob("*")}
    for name in sorted(_STYLES & present):
        app.add_css_file(name)
    # Of the editions only this one's name: which others there are stands outside, so that no page changes by them.
    scripts: dict[str, dict] = {name: {} for name in sorted(_SCRIPTS)}
    scripts["editions.js"] = {"data-edition": edition_of(app).facts["name"]}
    for name, attributes in scripts.items():
        if name in present:
            app.add_js_file(name, loading_method="defer", **attributes)


def _finish_page(app, page, template, context, doctree) -> None:
    """Put the banner at the head of every page, and how it was made at its foot; mend what others put there."""
    facts = edition_of(app).facts
    context["theme_extra_footer"] = describe(facts, page)
    address = context["pathto"]("notebooks/01-dataset").removesuffix("#")  # which is the page itself
    released = page in {f"notebooks/{name}" for name in facts["made"].get("released", ())}
    context["theme_announcement"] = banner(facts, address, released=released)
    if "body" in context:
        # References stand in a list; docutils gives them a role that is out of use.
        context["body"] = context["body"].replace('role="doc-biblioentry"', 'role="listitem"')
    # Jupyter Book always loads sphinx-thebe: no page runs code, and it ends in an error on each.
    for files in (context["script_files"], context["css_files"]):
        for file in [*files]:
            if (
                "thebe"
                in f"{getattr(file, 'filename', file)} {getattr(file, 'attributes', {}).get('body', '')}".lower()
            ):
                files.remove(file)  # in place: others add to this list


def _keep_entries_of_search(app, exception) -> None:
    """Keep the entries of the index for the next build: Sphinx collects them after it has written what it keeps."""
    if exception is None:
        with (Path(app.doctreedir) / ENV_PICKLE_FILENAME).open("wb") as stream:
            pickle.dump(app.env, stream, pickle.HIGHEST_PROTOCOL)


def _require_edition(app, config) -> None:
    """End with one sentence where plain Jupyter Book is called: pages show the values of an edition."""
    if not config.sense7_edition:
        raise SystemExit(
            "These pages show the values of an edition. Build them by: make book, or: sense7 build synthetic"
        )


def page_table(
    title: str,
    head: Sequence[str],
    widths: Sequence[int],
    rows: Iterable[Sequence[str | Sequence[nodes.Node]]],
    classes: Sequence[str],
) -> nodes.container:
    """A table with its title, inside what lets it scroll; a cell is a text, or what it holds.

    Examples
    --------
    >>> made = page_table("Title", ["A"], [1], [["a"]], ["sense7-example"])
    >>> [row.astext() for row in made.findall(nodes.row)]
    ['A', 'a']
    """
    table = nodes.table(classes=list(classes), support_smartquotes=False)
    table += nodes.title(text=title)
    group = nodes.tgroup(cols=len(head))
    group += [nodes.colspec(colwidth=width) for width in widths]
    made = [
        nodes.row("", *(nodes.entry("", *([paragraph(cell)] if isinstance(cell, str) else cell)) for cell in row))
        for row in (head, *rows)
    ]
    group += [nodes.thead("", made[0]), nodes.tbody("", *made[1:])]
    table += group
    return nodes.container("", table, classes=["sense7-scroll", "full-width"])


OUTCOME = {True: "passed", False: "not-passed", None: "undecided"}


def rule_badge(row: Mapping) -> nodes.inline:
    """The first mark: whether these data pass the claim's rule; a filled shape."""
    rule = row["rule"]
    return nodes.inline(text=rule["mark"], classes=["sense7-badge", f"sense7-rule-{OUTCOME[rule['passed']]}"])


def check_badge(row: Mapping) -> nodes.inline:
    """The second mark: whether the method finds what was put into simulated data; an outlined shape."""
    check = row["check"]
    return nodes.inline(text=check["mark"], classes=["sense7-check", f"sense7-check-{OUTCOME[check['passed']]}"])


def tuned_mark(row: Mapping) -> list:
    """What follows a check whose true value was set near the published one."""
    return [" ", nodes.inline(text="tuned", classes=["sense7-tuned"])] if row["tuned"] else []


def rule_in_words(rule: Mapping) -> str:
    """What a rule asks, why it cannot be decided, and how often simulated studies pass it."""
    said = [rule["asks"], rule["why"] and f"{rule['why'][:1].upper()}{rule['why'][1:]}."]
    if rule["power"] is not None:
        said.append(
            f"Simulated studies of SENSE-7's size pass it in {rule['power']:.0%} with the effect (power), in "
            f"{rule['null']:.1%} without."
        )
    return " ".join(filter(None, said))


def setup(app):
    """Register roles, directive and anchors with Sphinx."""
    app.connect("config-inited", _require_edition)
    app.add_config_value("sense7_edition", "", "env", types=[str])
    app.add_role("value", ValueRole())
    for name, lookup in (("published", _published), ("edition", _fact)):
        app.add_role(name, TextRole(lookup))
    app.add_directive("ledger", LedgerDirective)
    app.connect("doctree-read", _anchor_cells)
    app.connect("html-page-context", _finish_page)
    app.connect("builder-inited", _add_files)
    app.connect("build-finished", _keep_entries_of_search)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
