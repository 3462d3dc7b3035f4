"""What pages of the book can say about the edition they stand in.

A Sphinx extension, so that no number is typed into prose:

- ``{value}`alpha_turn```: a recorded value with its interval; ``{value}`alpha_turn.estimate```,
  ``.interval``, ``.n``, ``.unit`` or ``.method`` for a part of it; the reason where it has no value;
- ``{published}`alpha_turn```: the published figure of a claim;
- ``{edition}`label```: a fact about the edition (name, label, file, sha256, verdicts ...);
- ``{setting}`poor_turn```: a choice of the analysis in words, see :mod:`sense7.book.settings`;
- ``{judge_logs}`words of the link```: a link to the logs of the judge, where the edition has them, else why not;
- the directive ``ledger``: every claim about SENSE-7 beside what this edition computed; with the argument
  ``other works`` every claim about another work beside what its released numbers give.

A key that does not exist is a warning, and warnings end the build. All texts enter the page
as text: nothing that a workbook holds is markup.
"""

import contextlib
import html
import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from docutils import nodes
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective, SphinxRole

from sense7.book.ledger import source_of
from sense7.book.pages import banner, describe
from sense7.book.settings import module_of, setting
from sense7.implied import FILE as IMPLIED
from sense7.implied import ImpliedTruth
from sense7.record import format_value, read_values
from sense7.taxonomy import SIMULATED_WORDS

__all__ = [
    "NOT_AVAILABLE",
    "OUTCOME",
    "Edition",
    "check_badge",
    "edition_of",
    "looked_up",
    "marks",
    "page_table",
    "rule_badge",
    "rule_in_words",
    "setup",
]

_LOGGER = logging.getLogger(__name__)
_STYLES = {"editions.css", "finding.css", "front.css", "specifications.css", "switch.css"}
_EDITIONS_SCRIPT = "editions.js"
_SCRIPTS = {"figures.js", "ledger.js", "reading-order.js", "specifications.js", "tables.js"}
TUNED = (
    "Rows marked tuned have a truth that was set near the published figure, so that nearness to this figure is no "
    "evidence for anything."
)
NOT_AVAILABLE = "not available here"
"""Said of a value whose reason the page has given before."""

_PARTS = ("estimate", "interval", "n", "unit", "method")


class Edition:
    """What the extension reads from the folder of the edition."""

    def __init__(self, folder: Path):
        self.values = read_values(folder / "results")
        self.ledger = json.loads((folder / "ledger.json").read_text(encoding="utf-8"))
        self.facts = json.loads((folder / "edition.json").read_text(encoding="utf-8"))
        self.folder = folder
        self.truth = _json(folder / "data" / "truth.json")
        simulated = _json(folder / "data" / IMPLIED)
        self.implied = {key: ImpliedTruth(**entry) for key, entry in simulated.get("truths", {}).items()}
        self.beyond_shares = simulated.get("beyond_shares", [])
        self.tuned = {row["computed"]["key"] for row in self.ledger if row["tuned"] and row["computed"]}
        self.tuned |= self._planted_near_published() & self.values.keys()

    def _planted_near_published(self) -> set[str]:
        """What the truth of a synthetic workbook calls tuned; a claim may rest on it under another name."""
        return {entry["key"] for entry in self.truth.get("planted", ()) if entry.get("tuned")}

    def titles(self, keys: Iterable[str]) -> list[str]:
        """Names of claims near whose published figures the truths of these values were set."""
        names = {row["id"]: row["published"]["short"] or row["published"]["title"] for row in self.ledger}
        near = {entry["key"]: entry["near"] for entry in self.truth.get("planted", ()) if entry.get("near") in names}
        near |= {row["computed"]["key"]: row["id"] for row in self.ledger if row["computed"]}
        return list(dict.fromkeys(names[near[key]] for key in keys))

    def tuned_on(self, page: str) -> dict[str, int | None]:
        """Tuned values on a notebook's page: key -> the cell that records it, None if another notebook does."""
        name = page.removeprefix("notebooks/")
        if name == page:
            return {}
        recorders = {name, *self.facts["made"]["needs"].get(name, ())}
        shown = {key: self.values[key] for key in sorted(self.tuned) if self.values[key]["notebook"] in recorders}
        return {key: value["cell"] if value["notebook"] == name else None for key, value in shown.items()}


def _json(path: Path) -> dict:
    """What a file holds; nothing if it is not there."""
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}


def edition_of(app_or_env) -> Edition:
    """The edition that the pages are made of, read once, when it is complete."""
    app = getattr(app_or_env, "app", app_or_env)
    if not hasattr(app, "_sense7_edition"):
        app._sense7_edition = Edition(Path(app.config.sense7_edition))
    return app._sense7_edition


def looked_up(env, file: str) -> Edition:
    """The edition, of which the page that is read shows what stands in this file: with it the page is read again."""
    edition = edition_of(env)
    env.note_dependency(str(edition.folder / file))
    return edition


def marks(edition: Edition, key: str) -> str:
    """Words that go with a recorded value, in parentheses; "" if there are none.

    Beside a published figure, nearness to it would else be taken for evidence, and a simulated judge for a model.
    """
    words = [SIMULATED_WORDS] * (edition.values[key]["method"] or "").startswith(SIMULATED_WORDS)
    words += ["tuned"] * (key in edition.tuned)
    return f" ({', '.join(words)})" if words else ""


class _TextRole(SphinxRole):
    """A role that becomes plain text."""

    def lookup(self) -> str:
        raise NotImplementedError

    def run(self):
        try:
            text = self.lookup()
        except KeyError:
            _LOGGER.warning("nothing is recorded as %r", self.text, location=self.get_location())
            text = ""
        # Typographic quotes and dashes would change names that come from a workbook.
        return [nodes.inline(self.rawtext, text, classes=[f"sense7-{self.name}"], support_smartquotes=False)], []


class ValueRole(_TextRole):
    """A recorded value, or a part of it; n and method go with every value that has them."""

    def lookup(self) -> str:
        edition = edition_of(self.env)
        key, part = self._key(edition)
        looked_up(self.env, f"results/{edition.values[key]['notebook']}.json")
        text = format_value(edition.values[key], [part]) if part else format_value(edition.values[key])
        if part not in {"", "estimate", "interval"}:
            return text
        # The front page says in a sentence of its own how many values are tuned.
        return text if self.env.docname == self.config.root_doc else text + marks(edition, key)

    def _key(self, edition: Edition) -> tuple[str, str]:
        if self.text in edition.values:
            return self.text, ""
        key, _, part = self.text.rpartition(".")
        if part not in _PARTS:
            raise KeyError(self.text)
        return key, part

    def run(self):
        (node,), messages = super().run()
        edition = edition_of(self.env)
        with contextlib.suppress(KeyError):  # said by lookup
            value = edition.values[self._key(edition)[0]]
            explained = f"n = {value['n']:,}; {value['method']}" if value["estimate"] is not None else value["reason"]
            if source := source_of(edition.folder / "notebooks" / f"{value['notebook']}.ipynb", value):
                self.env.note_dependency(str(source.file))
                explained = f"{explained}; computed by {source}"
            if value["estimate"] is not None or self._said_before(value["reason"]):
                # An abbreviation, whose long form is n and method, or the reason that the page gave before: a sentence
                # has no room for them.
                node = nodes.abbreviation(
                    self.rawtext,
                    node.astext() if value["estimate"] is not None else NOT_AVAILABLE,
                    classes=node["classes"],
                    explanation=explained,
                    support_smartquotes=False,
                )
        return [node], messages

    def _said_before(self, why: str) -> bool:
        """Whether the page has said already why a value is not available; from now on it has."""
        said = self.env.temp_data.setdefault("sense7-reasons", set())
        known = why in said
        said.add(why)
        return known


class PublishedRole(_TextRole):
    """The published figure of a claim."""

    def lookup(self) -> str:
        ledger = looked_up(self.env, "ledger.json").ledger
        claim = next((row["published"] for row in ledger if row["id"] == self.text), None)
        if claim is None or claim["value"] is None:
            raise KeyError(self.text)
        return claim["shown"]


class EditionRole(_TextRole):
    """A fact about the edition."""

    def lookup(self) -> str:
        return str(looked_up(self.env, "edition.json").facts[self.text])


class SettingRole(_TextRole):
    """A choice of the analysis, in words."""

    def lookup(self) -> str:
        self.env.note_dependency(module_of(self.text))
        return setting(self.text)


class JudgeLogsRole(SphinxRole):
    """A link to the judge's logs; without logs, words that say so."""

    def run(self):
        address = looked_up(self.env, "edition.json").facts.get("judge_logs")
        if not address:
            return [nodes.inline(text="This edition has no logs of a judge")], []
        return [nodes.reference("", self.text, refuri=f"../{address}", internal=True)], []


class LedgerDirective(SphinxDirective):
    """The table of claims: about SENSE-7, or about other works."""

    optional_arguments = 1
    final_argument_whitespace = True

    def run(self):
        others = self.arguments == ["other works"]
        if self.arguments and not others:
            raise self.error(f"ledger: {self.arguments[0]!r} is no part of the ledger. Write other works, or nothing.")
        head = ["Claim", "Published", "Released numbers give" if others else "This edition", "Claim's rule"]
        edition = looked_up(self.env, "ledger.json")
        rows = [row for row in edition.ledger if bool(row["published"]["release"]) == others]
        checked = any(row["check"] for row in rows)
        body = [[*map(self._cell, self._texts(row, checked=checked))] for row in rows]
        title = "compared with the numbers that the work released" if others else "beside what this edition computed"
        title = f"Every claim about {'other works' if others else 'SENSE-7'}, {title}"
        widths = (24, 16, 20, 24, 16) if checked else (28, 22, 25, 25)
        head += ["Check of the method"] * checked
        table = page_table(title, head, widths, body, classes=["sense7-ledger"])
        return [nodes.paragraph(text=TUNED), table] if any(row["tuned"] for row in rows) else [table]

    @staticmethod
    def _cell(paragraphs):
        """Paragraphs of inline nodes; what is no list of them stands as it is."""
        present = filter(None, paragraphs)
        return [nodes.paragraph("", "", *one) if isinstance(one, list) else one for one in present]

    def _texts(self, row, *, checked):
        claim, computed = row["published"], row["computed"]
        title = nodes.inline(text=claim["title"], ids=[f"claim-{row['id'].replace('_', '-')}"])
        source = f"Grade {claim['grade']}" + (f", {claim['also']}" if claim["also"] else "")
        source += f": {claim['source']}" + (f"; {claim['of']}" if claim["of"] != "SENSE-7" else "")
        yield [
            [title],
            [nodes.Text(f"Needs: {claim['needs']}")],
            [nodes.strong(text="Contradiction: "), nodes.Text(claim["contradiction"])]
            if claim["contradiction"]
            else None,
        ]
        yield [[nodes.Text(claim["shown"])], [nodes.Text(source)]]
        if computed is None:
            yield [[nodes.Text("-")]]
        else:
            link = nodes.reference("", format_value(computed), refuri=f"../{row['link']}", internal=True)
            n = f"n = {computed['n']:,}; " if computed["n"] else ""
            listed = _listed(computed["listed"]) if computed.get("listed") else None
            yield [[link], [nodes.Text(f"{n}{computed['method']}")], listed]
        reason = (claim["compare"] or {}).get("reason")
        yield [[rule_badge(row)], [nodes.Text(rule_in_words(row["rule"]))], _why(reason) if reason else None]
        if not checked:
            return
        if not row["check"]:
            yield [[nodes.Text("-")]]
            return
        tuned = [nodes.Text(" "), nodes.inline(text="tuned", classes=["sense7-tuned"])] * row["tuned"]
        yield [[check_badge(row), *tuned], [nodes.Text(row["check"]["says"])]]


def _why(reason: str) -> nodes.raw:
    """Why a claim has this rule, folded."""
    shown = html.escape(f"{reason[:1].upper()}{reason[1:]}.")
    return nodes.raw("", f"<details><summary>Why this rule</summary><p>{shown}</p></details>", format="html")


def _listed(figures: Iterable[Mapping]) -> nodes.raw:
    """Every published figure beside the computed one, folded."""
    lines = (
        f"<li>{html.escape(figure['what'])}: published {figure['published']:.2f}, here {figure['computed']:.4f}"
        f"{'' if figure['same'] else ' <strong>(not the same)</strong>'}</li>"
        for figure in figures
    )
    return nodes.raw("", f"<details><summary>Every value</summary><ul>{''.join(lines)}</ul></details>", format="html")


def _anchor_cells(app, tree) -> None:
    """Give every code cell an anchor by its execution count, for links from the ledger."""
    for node in _executed_cells(tree):
        node["ids"].append(f"cell-{node['exec_count']}")


def _executed_cells(tree) -> list[nodes.container]:
    cells = tree.findall(nodes.container)
    return [node for node in cells if node.get("nb_element") == "cell_code" and node.get("exec_count")]


def _mark_tuned(app, tree, page: str) -> None:
    """Mark tuned values, at the cells that record them and below the box at the head of the page."""
    edition = edition_of(app)
    tuned = edition.tuned_on(page)
    for node in _executed_cells(tree) if tuned else ():
        if here := [key for key, cell in tuned.items() if cell == node["exec_count"]]:
            node.parent.insert(node.parent.index(node) + 1, _tuned_note("Tuned above", edition.titles(here), here))
    first = next((node for node in tree.findall(nodes.container) if "sense7-finding" in node["classes"]), None)
    if tuned and first is not None:
        note = _tuned_note("Tuned, wherever this page shows them", edition.titles(tuned), tuned)
        note += nodes.Text(
            " The synthetic data were set near the published figures, so nearness to these is no evidence."
        )
        first.append(note)


def _tuned_note(opening: str, titles: Iterable[str], keys: Iterable[str]) -> nodes.paragraph:
    """Say of values that tables and figures show that they were set near published ones."""
    # Keys as classes: a test asks for them, and no reader has to.
    classes = ["sense7-tuned-note", *(f"tuned-{key}" for key in keys)]
    text = f": {'; '.join(titles)}."
    return nodes.paragraph(
        "", "", nodes.strong(text=opening), nodes.Text(text), classes=classes, support_smartquotes=False
    )


def _add_switches(app) -> None:
    """Load the book's own styles and scripts, where the checkout has them; that of editions with this one's name."""
    folders = [Path(app.confdir) / folder for folder in app.config.html_static_path]
    present = {path.name for folder in folders for path in folder.glob("*")}
    for name in sorted(_STYLES & present):
        app.add_css_file(name)
    for name in sorted(_SCRIPTS & present):
        app.add_js_file(name, loading_method="defer")
    if _EDITIONS_SCRIPT in present:
        # Only the name: which other editions there are stands outside, so that no page changes by them.
        attributes = {"data-edition": app.config.sense7_name or edition_of(app).facts["name"]}
        app.add_js_file(_EDITIONS_SCRIPT, loading_method="defer", **attributes)


def _say_what_and_how(app, page, template, context, doctree):
    """Put the banner at the head of every page, and workbook, parameters, versions and commit at its foot."""
    facts = edition_of(app).facts
    context["theme_extra_footer"] = describe(facts, page)
    address = context["pathto"]("notebooks/01-dataset").removesuffix("#")  # which is the page itself
    released = page in {f"notebooks/{name}" for name in facts["made"].get("released", ())}
    context["theme_announcement"] = banner(facts, address, released=released)


def _references_as_list(app, page, template, context, doctree):
    """Give references the role of items of a list, which they stand in; docutils gives one that is out of use."""
    if "body" in context:
        context["body"] = context["body"].replace('role="doc-biblioentry"', 'role="listitem"')


def _without_thebe(app, page, template, context, doctree):
    """Leave out sphinx-thebe, which Jupyter Book always loads: no page runs code, and it ends in an error on each."""

    def is_thebe(file) -> bool:
        return "thebe" in f"{getattr(file, 'filename', file)} {getattr(file, 'attributes', {}).get('body', '')}".lower()

    for kind in ("script_files", "css_files"):
        context[kind][:] = [file for file in context[kind] if not is_thebe(file)]  # in place: others add to this list


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
    rows: Iterable[Sequence[Sequence[nodes.Node]]],
    classes: Sequence[str],
) -> nodes.container:
    """A table with its title, inside what lets it scroll.

    Examples
    --------
    >>> made = page_table("Title", ["A"], [1], [[[nodes.paragraph(text="a")]]], ["sense7-example"])
    >>> [row.astext() for row in made.findall(nodes.row)]
    ['A', 'a']
    """
    table = nodes.table(classes=list(classes), support_smartquotes=False)
    table += nodes.title(text=title)
    group = nodes.tgroup(cols=len(head))
    group += [nodes.colspec(colwidth=width) for width in widths]
    group += nodes.thead("", nodes.row("", *(nodes.entry("", nodes.paragraph(text=text)) for text in head)))
    group += nodes.tbody("", *(nodes.row("", *(nodes.entry("", *cell) for cell in row)) for row in rows))
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


def rule_in_words(rule: Mapping) -> str:
    """What a rule asks, why it cannot be decided, and how often simulated studies pass it."""
    said = [rule["asks"], rule["why"] and f"{rule['why'][:1].upper()}{rule['why'][1:]}."]
    if rule["power"] is not None:
        said.append(
            f"In simulated studies of SENSE-7's size it passes in {rule['power']:.0%} with the effect (power), in "
            f"{rule['null']:.1%} without."
        )
    return " ".join(filter(None, said))


def setup(app):
    """Register roles, directive and anchors with Sphinx."""
    app.connect("config-inited", _require_edition)
    app.add_config_value("sense7_edition", "", "env", types=[str])
    app.add_config_value("sense7_name", "", "html", types=[str])
    app.add_role("value", ValueRole())
    app.add_role("published", PublishedRole())
    app.add_role("edition", EditionRole())
    app.add_role("setting", SettingRole())
    app.add_role("judge_logs", JudgeLogsRole())
    app.add_directive("ledger", LedgerDirective)
    app.connect("doctree-read", _anchor_cells)
    app.connect("doctree-resolved", _mark_tuned)
    app.connect("html-page-context", _references_as_list)
    app.connect("html-page-context", _without_thebe)
    app.connect("html-page-context", _say_what_and_how)
    app.connect("builder-inited", _add_switches)

    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
