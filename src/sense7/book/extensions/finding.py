"""The box at the head of a finding's page: what was claimed, what these data show, and the verdict.

A Sphinx extension with one directive for the head of a notebook's page::

    ```{finding} finding_individualized
    Participants account for {value}`participant_share` of the variance.
    ```

Its argument names claims of the ledger; each is shown with its published value, grade and verdict. A page on which no
claim is judged gives the option ``claim``, which says what is asked. The content says what this edition shows. With
the option ``verdict`` the page words its own verdict.
"""

from collections.abc import Mapping
from typing import ClassVar

from docutils import nodes
from docutils.parsers.rst import directives as options
from sphinx.util.docutils import SphinxDirective

from sense7.book.extensions.directives import Edition, looked_up
from sense7.claims import BY_CONSTRUCTION, CONSISTENT, MISSED, RECOVERED

__all__ = ["badge", "setup"]

_SIMULATED = {
    RECOVERED: "the analysis finds the effect that was put into the data, precisely",
    CONSISTENT: "the interval holds the effect that was put into the data, and is wide",
    MISSED: "the interval does not hold the effect that was put into the data",
    BY_CONSTRUCTION: "a number that was put into the data was counted again",
}
"""What a verdict on synthetic data says in a reader's words."""


def badge(verdict: str) -> nodes.inline:
    """A verdict as a mark of its own, with a class named like it.

    Examples
    --------
    >>> badge("by construction")["classes"]
    ['sense7-badge', 'sense7-verdict-by-construction']
    """
    return nodes.inline(text=verdict, classes=["sense7-badge", f"sense7-verdict-{verdict.replace(' ', '-')}"])


class FindingDirective(SphinxDirective):
    """The box: claims with their verdicts, and what this edition shows."""

    optional_arguments = 1
    final_argument_whitespace = True
    has_content = True
    option_spec: ClassVar = {"claim": options.unchanged_required, "verdict": options.unchanged_required}

    def run(self):
        edition = looked_up(self.env, "ledger.json")
        looked_up(self.env, "edition.json")
        ledger = {row["id"]: row for row in edition.ledger}
        claims = self.arguments[0].split() if self.arguments else []
        if unknown := [name for name in claims if name not in ledger]:
            raise self.error(f"finding: the ledger has no claim {', '.join(unknown)}.")
        if not claims and "claim" not in self.options:
            raise self.error("finding: name a claim of the ledger, or say with :claim: what the page asks.")
        if not self.content:
            raise self.error("finding: the content has to say what this edition shows.")
        rows = [ledger[name] for name in claims]
        released = self.env.docname.removeprefix("notebooks/") in edition.facts["made"].get("released", ())
        box = nodes.container(classes=["sense7-finding"])
        box += self._part("Claim" if rows else "Question", self._claims(rows))
        shown = nodes.container()
        self.state.nested_parse(self.content, self.content_offset, shown)
        box += self._part("These data" if released else "This edition", shown.children)
        box += self._part("Verdict", self._verdicts(rows, edition, released=released))
        return [box]

    @staticmethod
    def _part(name: str, content) -> nodes.container:
        label = nodes.paragraph("", "", nodes.strong(text=name), classes=["sense7-finding-label"])
        return nodes.container("", label, nodes.container("", *content), classes=["sense7-finding-part"])

    def _words(self, text: str) -> nodes.paragraph:
        inline, messages = self.state.inline_text(text, self.lineno)
        return nodes.paragraph("", "", *inline, *messages)

    def _claims(self, rows) -> list[nodes.paragraph]:
        said = [self._words(self.options["claim"])] if "claim" in self.options else []
        return said + [_claim(row["published"]) for row in rows]

    def _verdicts(self, rows, edition: Edition, *, released: bool) -> list[nodes.Node]:
        simulated = edition.facts["kind"] == "synthetic"
        shown = [_verdict(row, name=len(rows) > 1, simulated=simulated) for row in rows]
        if "verdict" in self.options:
            shown.append(self._words(self.options["verdict"]))
        if not shown:
            shown.append(nodes.paragraph("", "", badge("no published figure"), nodes.Text(" nothing to compare with")))
        if released:
            shown.append(_note("Real ratings of other studies", "not SENSE-7, and the same in every edition."))
        elif simulated:
            shown.append(_note("Synthetic data", "no number here is a finding about SENSE-7."))
        return shown


def _claim(claim: Mapping) -> nodes.paragraph:
    text = claim["title"] if claim["value"] is None else f"{claim['title']}: {claim['shown']}"
    grade = f"grade {claim['grade']}" if claim["value"] is not None else f"in words, grade {claim['grade']}"
    of = "" if claim["of"] == "SENSE-7" else f"; {claim['of']}"
    return nodes.paragraph(text=f"{text} ({grade}{of})", support_smartquotes=False)


def _verdict(row: Mapping, *, name: bool, simulated: bool) -> nodes.paragraph:
    """The verdict as a badge that leads to its row in the ledger, and what it says."""
    claim = row["published"]
    address = f"../book/ledger.html#claim-{row['id'].replace('_', '-')}"
    said = nodes.paragraph("", "", nodes.reference("", "", badge(row["verdict"]), refuri=address, internal=True))
    said["support_smartquotes"] = False
    opening = f" {claim['short'] or claim['title']}:" if name else ""
    said += nodes.Text(f"{opening} {_SIMULATED.get(row['verdict'], row['why'])}")
    if row["rule"]:
        outcome = {True: "pass", False: "do not pass", None: "do not allow to apply"}[row["rule"]["passed"]]
        data = "the simulated data" if simulated else "these data"
        said += nodes.Text(f"; {data} {outcome} the claim's rule")
    if row["tuned"]:
        said += [nodes.Text(" "), nodes.inline(text="tuned", classes=["sense7-tuned"])]
    return said


def _note(kind: str, text: str) -> nodes.paragraph:
    return nodes.paragraph("", "", nodes.strong(text=f"{kind}:"), nodes.Text(f" {text}"), classes=["sense7-kind"])


def setup(app):
    """Register the directive with Sphinx."""
    app.add_directive("finding", FindingDirective)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
