"""The head of a finding's page: the answer, and a box with two marks of each claim.

A Sphinx extension with one directive, which stands below the title::

    ```{finding} finding_individualized
    {answer}`finding_individualized`: the person explains more than ..., by {value}`participant_share_beyond_...`.
    ```

Its argument names claims of the ledger. The content is the sentence that answers for this edition; it stands above the
box. In the box each claim has its grade and two marks: whether these data pass the claim's rule, with what the rule
asks and how often simulated studies pass it; and, on simulated data, whether the interval contains the true value. A
page on which no claim is judged says with the option ``claim`` what it asks; with the option ``verdict`` a page adds
words of its own. The role ``answer`` is the first word of an answer: Yes, Not shown or Can't be decided.
"""

from collections.abc import Mapping
from typing import ClassVar

from docutils import nodes
from docutils.parsers.rst import directives as options
from sphinx.util.docutils import SphinxDirective, SphinxRole

from sense7.book.extensions.directives import looked_up
from sense7.book.extensions.marks import check_badge, rule_badge, rule_in_words

__all__ = ["setup"]


class FindingDirective(SphinxDirective):
    """The sentence that answers, and the box with the claims and their marks."""

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
        released = self.env.docname.removeprefix("notebooks/") in edition.facts["made"].get("released", ())
        answer = nodes.container(classes=["sense7-answer"])
        self.state.nested_parse(self.content, self.content_offset, answer)
        box = nodes.container(classes=["sense7-finding"])
        if "claim" in self.options:
            box += _part("Question", self._words(self.options["claim"]))
        box += [_claim(ledger[name]) for name in claims]
        if "verdict" in self.options:
            box += _part("Verdict", self._words(self.options["verdict"]))
        elif not claims:
            box += _part("Claim", nodes.paragraph(text="No published figure to compare with."))
        if released:
            box += _note("Real ratings of other studies", "not SENSE-7, and the same in every edition.")
        elif edition.facts["kind"] == "synthetic":
            box += _note("Synthetic data", "no number here is a finding about SENSE-7.")
        return [answer, box]

    def _words(self, text: str) -> nodes.paragraph:
        inline, messages = self.state.inline_text(text, self.lineno)
        return nodes.paragraph("", "", *inline, *messages)


def _part(name: str, content: nodes.paragraph) -> nodes.container:
    label = nodes.paragraph("", "", nodes.strong(text=name), classes=["sense7-finding-label"])
    return nodes.container("", label, nodes.container("", content), classes=["sense7-finding-part"])


def _claim(row: Mapping) -> nodes.container:
    """What was published, and the two marks."""
    claim, check = row["published"], row["check"]
    text = claim["title"] if claim["value"] is None else f"{claim['title']}: {claim['shown']}"
    grade = f"grade {claim['grade']}" if claim["value"] is not None else f"in words, grade {claim['grade']}"
    of = "" if claim["of"] == "SENSE-7" else f"; {claim['of']}"
    published = nodes.paragraph(text=f"{text} ({grade}{of})", support_smartquotes=False)
    address = f"../book/ledger.html#claim-{row['id'].replace('_', '-')}"
    mark = nodes.reference("", "", rule_badge(row), refuri=address, internal=True)
    parts = [_mark("Claim", None, published), _mark("Claim's rule", mark, _text(rule_in_words(row["rule"])))]
    if check:
        said = _text(check["says"])
        if row["tuned"]:
            said += [nodes.Text(" "), nodes.inline(text="tuned", classes=["sense7-tuned"])]
        parts.append(_mark("Check of the method", check_badge(row), said))
    return nodes.container("", *parts, classes=["sense7-marks"])


def _text(words: str) -> nodes.paragraph:
    return nodes.paragraph("", "", nodes.Text(words), support_smartquotes=False)


def _mark(name: str, mark: nodes.Node | None, said: nodes.paragraph) -> nodes.container:
    label = nodes.paragraph("", "", nodes.strong(text=name), classes=["sense7-finding-label"])
    return nodes.container("", label, *([nodes.paragraph("", "", mark)] if mark else []), said)


class AnswerRole(SphinxRole):
    """The first word of an answer: whether these data pass the rule of a claim."""

    def run(self):
        edition = looked_up(self.env, "ledger.json")
        looked_up(self.env, "edition.json")
        row = next((row for row in edition.ledger if row["id"] == self.text), None)
        if row is None:
            message = self.inliner.reporter.error(f"answer: the ledger has no claim {self.text}.", line=self.lineno)
            return [], [message]
        simulated = edition.facts["kind"] == "synthetic" and not row["published"]["release"]
        yes = "Yes, in these simulated data" if simulated else "Yes, in these data"
        said = {True: yes, False: "Not shown", None: "Can't be decided"}[row["rule"]["passed"]]
        return [nodes.strong(text=said, support_smartquotes=False)], []


def _note(kind: str, text: str) -> nodes.paragraph:
    return nodes.paragraph("", "", nodes.strong(text=f"{kind}:"), nodes.Text(f" {text}"), classes=["sense7-kind"])


def setup(app):
    """Register the directive and the role with Sphinx."""
    app.add_directive("finding", FindingDirective)
    app.add_role("answer", AnswerRole())
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
