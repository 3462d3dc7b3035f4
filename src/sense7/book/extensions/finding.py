"""The head of a finding's page: the answer, and a box with two marks of each claim.

A Sphinx extension with one directive, which stands below the title::

    ```{finding} finding_individualized
    {answer}`finding_individualized`: the person explains more than ..., by {value}`participant_share_beyond_...`.
    ```

Its argument names claims of the ledger. The content is the sentence that answers for this edition; it stands above the
box. In the box each claim has its grade and two marks: whether these data pass the claim's rule, with what the rule
asks and how often simulated studies pass it; and, on simulated data, whether the interval contains the true value. A
page on which no claim is judged says with the option ``claim`` what it asks. The role ``answer`` is the first word of
an answer: Yes, Not shown or Can't be decided.

The ledger as one picture, and claims on cards: for ledger and front page.

A Sphinx extension with two directives that read the folder of the edition:

- ``ledger-picture``: one row per claim about SENSE-7, with this edition's value and interval beside the published
  value. Each row is a link to the cell that computed the value, and a reader filters rows by whether the claim's rule
  is passed. Published figures share one axis: the value as a multiple of the published one. Claims in words have an
  axis each, with the value that the claim excludes in its middle.
- ``claim-card``: the claims that it names: the published words with their grade, this edition's value as a bar with its
  line of comparison labeled, the same number from ratings that another study released, and the two marks.
"""

from collections import Counter
from collections.abc import Mapping
from typing import ClassVar

from docutils import nodes
from docutils.parsers.rst import directives as options
from jinja2 import Environment, PackageLoader
from sphinx.util.docutils import SphinxDirective, SphinxRole

from sense7.book.editions import MARKS, positions
from sense7.book.extensions.values import (
    OUTCOME,
    check_badge,
    fold,
    looked_up,
    paragraph,
    raw,
    rule_badge,
    rule_in_words,
    tuned_mark,
)
from sense7.claims import ONLY_OFFICIAL, OUTCOMES
from sense7.record import format_number, format_value
from sense7.taxonomy import SIMULATED_WORDS
from sense7.terminal import count_of

__all__ = ["setup"]

SHOWN_AT_ONCE = 2
"""Claims of a box that are not folded, if these data decide them: the figure below is to be seen at once."""


class FindingDirective(SphinxDirective):
    """The sentence that answers, and the box with the claims and their marks."""

    optional_arguments = 1
    final_argument_whitespace = True
    has_content = True
    option_spec: ClassVar = {"claim": options.unchanged_required}

    def run(self):
        edition = looked_up(self.env, "ledger.json", "edition.json")
        claims = self.arguments[0].split() if self.arguments else []
        if unknown := [name for name in claims if name not in edition.claims]:
            raise self.error(f"finding: the ledger has no claim {', '.join(unknown)}.")
        if not self.content or not (claims or "claim" in self.options):
            raise self.error("finding: name a claim, or say by :claim: what is asked; the content is the answer.")
        answer = nodes.container(classes=["sense7-answer"])
        self.state.nested_parse(self.content, self.content_offset, answer)
        box = nodes.container(classes=["sense7-finding"])
        if "claim" in self.options:
            inline, messages = self.state.inline_text(self.options["claim"], self.lineno)
            box += _part("Question", nodes.paragraph("", "", *inline, *messages))
        judged = sorted((edition.claims[name] for name in claims), key=lambda row: row["rule"]["passed"] is None)
        decided = sum(row["rule"]["passed"] is not None for row in judged)
        shown, rows = min(max(decided, 1), SHOWN_AT_ONCE), [_claim(row) for row in judged]
        box += rows[:shown]
        if folded := rows[shown:]:
            box += fold(count_of(len(folded), "further claim"), *folded)
        if any(row["rule"]["why"] == ONLY_OFFICIAL for row in judged):
            box += paragraph(f"{ONLY_OFFICIAL}.", classes=["sense7-kind"])
        if tuned := edition.tuned_on(self.env.docname):
            said = f" {count_of(len(tuned), 'value')} on this page, so marked in the table of all its values. "
            said += "Set near the published figures, so that nearness is no evidence."
            box += paragraph(nodes.strong(text="Tuned:"), said, classes=["sense7-tuned-note"])
        if not claims:
            box += _part("Claim", paragraph("No published figure to compare with."))
        return [answer, box]


def _label(name: str) -> nodes.paragraph:
    return paragraph(nodes.strong(text=name), classes=["sense7-finding-label"])


def _part(name: str, content: nodes.paragraph) -> nodes.container:
    return nodes.container("", _label(name), nodes.container("", content), classes=["sense7-finding-part"])


def _claim(row: Mapping) -> nodes.container:
    """What was published, and the two marks."""
    claim, check = row["published"], row["check"]
    text = claim["title"] if claim["value"] is None else f"{claim['title']}: {claim['shown']}"
    grade = f"grade {claim['grade']}" if claim["value"] is not None else f"in words, grade {claim['grade']}"
    of = "" if claim["of"] == "SENSE-7" else f"; {claim['of']}"
    address = f"../book/ledger.html#claim-{row['id'].replace('_', '-')}"
    mark = nodes.reference("", "", rule_badge(row), refuri=address, internal=True)
    rule = row["rule"] | ({"why": None} if row["rule"]["why"] == ONLY_OFFICIAL else {})  # said once, below the claims
    parts = [
        nodes.container("", _label("Claim"), paragraph(f"{text} ({grade}{of})", verbatim=True)),
        nodes.container("", _label("Claim's rule"), paragraph(mark, " ", rule_in_words(rule), verbatim=True)),
    ]
    if check:
        said = paragraph(check_badge(row), " ", check["says"], *tuned_mark(row), verbatim=True)
        parts.append(nodes.container("", _label("Check of the method"), said))
    return nodes.container("", *parts, classes=["sense7-marks"])


class AnswerRole(SphinxRole):
    """The first word of an answer: whether these data pass the rule of a claim."""

    def run(self):
        edition = looked_up(self.env, "ledger.json", "edition.json")
        row = edition.claims.get(self.text)
        if row is None:
            message = self.inliner.reporter.error(f"answer: the ledger has no claim {self.text}.", line=self.lineno)
            return [], [message]
        simulated = edition.facts["kind"] == "synthetic" and not row["published"]["release"]
        yes = "Yes, in these simulated data" if simulated else "Yes, in these data"
        said = {True: yes, False: "Not shown", None: "Can't be decided"}[row["rule"]["passed"]]
        return [nodes.strong(text=said, support_smartquotes=False)], []


_PICTURE = Environment(loader=PackageLoader("sense7.book", "extensions"), autoescape=True).get_template(
    "ledger_picture.html"
)
_GROUPS = {
    "figures": "Published figures: this edition as a multiple of the published value (line)",
    "in-words": "Claims in words: this edition beside the value that the claim excludes (line)",
    "others": "Without a value to draw",
}


def _drawn(row: Mapping) -> dict:
    """A claim with what the picture shows of it."""
    computed, anchor = row["computed"] or {"estimate": None, "method": ""}, row["id"].replace("_", "-")
    number, outcome, places = computed["estimate"], OUTCOME[row["rule"]["passed"]], positions(row)
    return row | {
        "outcome": outcome,
        "sign": MARKS[outcome],
        "places": places,
        "group": "others" if not places else "in-words" if row["published"]["value"] is None else "figures",
        "address": f"../{row['link']}" if row["link"] else f"ledger.html#claim-{anchor}",
        "simulated": (computed["method"] or "").startswith(SIMULATED_WORDS),
        "number": "" if number is None else format_number(number, computed["unit"]),
    }


class LedgerPictureDirective(SphinxDirective):
    """One row per claim about SENSE-7, filtered by verdict."""

    def run(self):
        rows = [_drawn(row) for row in looked_up(self.env, "ledger.json").ledger if not row["published"]["release"]]
        groups = [(title, kind, [row for row in rows if row["group"] == kind]) for kind, title in _GROUPS.items()]
        counts = Counter(row["outcome"] for row in rows)
        keys = zip(MARKS.items(), OUTCOMES.values(), strict=True)
        shown = _PICTURE.render(
            tuned=sum(row["tuned"] for row in rows),
            groups=[group for group in groups if group[-1]],
            keys=[(name, mark, words, counts[name]) for (name, mark), words in keys if counts[name]],
        )
        return [raw(shown)]


class ClaimCardDirective(SphinxDirective):
    """What was published, what this edition shows, what other people's ratings give, and the two marks."""

    required_arguments = 1
    final_argument_whitespace = True

    def run(self):
        ledger, names = looked_up(self.env, "ledger.json").claims, self.arguments[0].split()
        if unknown := [name for name in names if name not in ledger]:
            raise self.error(f"claim-card: the ledger has no claim {', '.join(unknown)}.")
        return [node for name in names for node in _card(ledger[name])]


def _card(row: Mapping) -> list[nodes.Node]:
    claim, computed, other = row["published"], row["computed"], row["elsewhere"]
    words = claim["title"] if claim["value"] is None else f"{claim['title']}: {claim['shown']}"
    number = claim["compare"]["number"].rstrip(",")
    shown = f"{number[0].upper()}{number[1:]}: "
    published = (
        f"Published: \N{LEFT DOUBLE QUOTATION MARK}{words}\N{RIGHT DOUBLE QUOTATION MARK} (grade {claim['grade']})."
    )
    value = nodes.strong(text=format_value(computed) if computed else "-")
    n = f" (n = {computed['n']:,})." if computed and computed["n"] else "."
    lines = [[published], [shown, value, n]]
    if other:
        study = f"Real ratings of other people ({other['study']}, n = {other['value']['n']:,}): "
        lines.append([f"{study}{format_value(other['value'])}; the same rule is {OUTCOMES[other['passed']]}."])
    elif not claim["elsewhere"]:
        lines.append(["No released ratings of other people bear on it."])
    lines.append(["Claim's rule: ", rule_badge(row)])
    if row["check"]:
        lines.append(["Check of the method: ", check_badge(row)])
    paragraphs = [paragraph(*line, verbatim=True) for line in lines]
    return [
        *paragraphs[:2],
        raw(_PICTURE.module.bar(positions(row), labeled=True)),
        *paragraphs[2:],
    ]


def setup(app):
    """Register the directive and the role with Sphinx."""
    app.add_directive("finding", FindingDirective)
    app.add_role("answer", AnswerRole())
    app.add_directive("ledger-picture", LedgerPictureDirective)
    app.add_directive("claim-card", ClaimCardDirective)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
