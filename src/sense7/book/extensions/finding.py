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

The ledger as one picture, and claims on cards: for ledger and front page.

A Sphinx extension with two directives that read the folder of the edition:

- ``ledger-picture``: one row per claim about SENSE-7, with this edition's value and interval beside the published
  value. Each row is a link to the cell that computed the value, and a reader filters rows by whether the claim's rule
  is passed. Published figures share one axis: the value as a multiple of the published one. Claims in words have an
  axis each, with the value that the claim excludes in its middle.
- ``claim-card``: the claims that it names: the published words with their grade, this edition's value as a bar with its
  line of comparison labeled, the same number from ratings that another study released, and the two marks.
"""

import html
from collections import Counter
from collections.abc import Mapping
from typing import ClassVar

from docutils import nodes
from docutils.parsers.rst import directives as options
from sphinx.util.docutils import SphinxDirective, SphinxRole

from sense7.book.editions import MARKS, positions
from sense7.book.extensions.values import (
    OUTCOME,
    check_badge,
    looked_up,
    paragraph,
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
    option_spec: ClassVar = {"claim": options.unchanged_required, "verdict": options.unchanged_required}

    def run(self):
        edition = looked_up(self.env, "ledger.json", "edition.json")
        claims = self.arguments[0].split() if self.arguments else []
        if unknown := [name for name in claims if name not in edition.claims]:
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
        judged = sorted((edition.claims[name] for name in claims), key=lambda row: row["rule"]["passed"] is None)
        decided = sum(row["rule"]["passed"] is not None for row in judged)
        shown, rows = min(max(decided, 1), SHOWN_AT_ONCE), [_claim(row) for row in judged]
        box += rows[:shown]
        if folded := rows[shown:]:
            summary = f"<details><summary>{count_of(len(folded), 'further claim')}</summary>"
            box += [nodes.raw("", summary, format="html"), *folded, nodes.raw("", "</details>", format="html")]
        if any(row["rule"]["why"] == ONLY_OFFICIAL for row in judged):
            box += paragraph(f"{ONLY_OFFICIAL}.", classes=["sense7-kind"])
        if "verdict" in self.options:
            box += _part("Verdict", self._words(self.options["verdict"]))
        elif not claims:
            box += _part("Claim", paragraph("No published figure to compare with."))
        kind, said = "Synthetic data", "no number here is a finding about SENSE-7."
        if released:
            kind, said = "Real ratings of other studies", "not SENSE-7, and the same in every edition."
        if released or edition.facts["kind"] == "synthetic":
            box += paragraph(nodes.strong(text=f"{kind}:"), f" {said}", classes=["sense7-kind"])
        return [answer, box]

    def _words(self, text: str) -> nodes.paragraph:
        inline, messages = self.state.inline_text(text, self.lineno)
        return nodes.paragraph("", "", *inline, *messages)


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


def _bar(row: Mapping, *, labeled: bool = False) -> str:
    """The row's axis as HTML; hidden from screen readers, which have the numbers in words."""
    if (places := positions(row)) is None:
        return '<span class="sense7-bar" aria-hidden="true"></span>'
    reference, estimate, low, high = places
    label = f'<b style="left:{reference}%">zero</b>' if labeled else ""
    return (
        f'<span class="sense7-bar" aria-hidden="true"><i class="reference" style="left:{reference}%"></i>'
        f'<i class="range" style="left:{low}%;width:{high - low:.1f}%"></i>'
        f'<i class="point" style="left:{estimate}%"></i>{label}</span>'
    )


def _number(row: Mapping) -> str:
    computed = row["computed"]
    if computed is None or computed["estimate"] is None:
        return ""
    estimate = computed["estimate"]
    return estimate if isinstance(estimate, str) else format_number(estimate, computed["unit"])


def _row(row: Mapping) -> str:
    claim, rule, check = row["published"], row["rule"], row["check"]
    outcome = OUTCOME[rule["passed"]]
    simulated = row["computed"] is not None and (row["computed"]["method"] or "").startswith(SIMULATED_WORDS)
    name = html.escape(claim["short"] or claim["title"]) + " (simulated)" * simulated
    published = html.escape(claim["shown"]) if claim["value"] is not None else ""
    address = f"../{row['link']}" if row["link"] else f"ledger.html#claim-{row['id'].replace('_', '-')}"
    tuned = ' <span class="sense7-tuned">tuned</span>' if row["tuned"] else ""
    return (
        f'<li data-rule="{outcome}" title="{html.escape(claim["title"], quote=True)}">'
        f'<span class="mark" aria-hidden="true">{MARKS[outcome]}</span>'
        f'<a href="{address}">{name}</a>{_bar(row)}<span class="here">{html.escape(_number(row))}</span>'
        f'<span class="published"><span class="sense7-spoken">, published: </span>{published} '
        f'<small title="grade of the source">{claim["grade"]}</small></span>'
        f'<span class="sense7-spoken">, claim\'s rule: {rule["mark"]}</span>'
        f'<span class="method"><span class="sense7-spoken">, check of the method: </span>'
        f"{check['mark'] if check else ''}</span>{tuned}</li>"
    )


class LedgerPictureDirective(SphinxDirective):
    """One row per claim about SENSE-7, filtered by verdict."""

    def run(self):
        rows = [row for row in looked_up(self.env, "ledger.json").ledger if not row["published"]["release"]]
        figures = [row for row in rows if positions(row) and row["published"]["value"] is not None]
        words = [row for row in rows if positions(row) and row["published"]["value"] is None]
        others = [row for row in rows if not positions(row)]
        groups = (
            ("Published figures: this edition as a multiple of the published value (line)", "figures", figures),
            ("Claims in words: this edition beside the value that the claim excludes (line)", "in-words", words),
            ("Without a value to draw", "others", others),
        )
        lists = "".join(
            f'<section class="{kind}"><h2 class="sense7-rows-title">{title}</h2>'
            f"<ul>{''.join(map(_row, rows))}</ul></section>"
            for title, kind, rows in groups
            if rows
        )
        counts = Counter(OUTCOME[row["rule"]["passed"]] for row in rows)
        keys = "".join(
            f'<li data-rule="{outcome}"><span class="mark" aria-hidden="true">{mark}</span> '
            f"{words} ({counts[outcome]})</li>"
            for (outcome, mark), words in zip(MARKS.items(), OUTCOMES.values(), strict=True)
            if counts[outcome]
        )
        tuned = sum(row["tuned"] for row in rows)
        legend = "The claim's rule is (choose to filter):"
        said = f"Synthetic data: {tuned} of these values were set near the published ones (tuned)."
        note = f'<p class="sense7-kind">{said}</p>' * bool(tuned)
        note += (
            '<p class="sense7-kind">Right of each bar: this edition, the published value with the grade of its source, '
            f"and on simulated data the check of the method. {legend}</p>"
        )
        shown = f'{note}<div class="sense7-ledger-picture"><ul class="sense7-verdicts">{keys}</ul>{lists}</div>'
        return [nodes.raw("", shown, format="html")]


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
    return [*paragraphs[:2], nodes.raw("", _bar(row, labeled=True), format="html"), *paragraphs[2:]]


def setup(app):
    """Register the directive and the role with Sphinx."""
    app.add_directive("finding", FindingDirective)
    app.add_role("answer", AnswerRole())
    app.add_directive("ledger-picture", LedgerPictureDirective)
    app.add_directive("claim-card", ClaimCardDirective)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
