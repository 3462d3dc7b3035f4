"""What pages show of the ledger's claims; all markup stands in ``claims.html``, and all texts enter it as text.

Directives that read the folder of the edition:

- ``ledger``: the table of every claim about the paper beside what this edition computed; with the argument
  ``other works`` of every claim about another work beside what its released numbers give;
- ``ledger-picture``: one row per claim about the paper, with this edition's value and interval beside the published
  value, and in how many other studies real ratings show the finding. Each row is a link to the cell that computed the
  value, and a reader filters rows by their state. Published figures share one axis: the value as a multiple of the
  published one. Claims of an effect have an axis each, with the value that the claim excludes in its middle;
- ``finding``: the head of a finding's page, below its title::

    ```{finding} finding_individualized
    {answer}`finding_individualized`: the person explains more than ..., by {value}`participant_share_beyond_...`.
    ```

  Its argument names claims; the first is shown at once, the others are folded. The content is the sentence that answers
  for this edition; it stands above the box. In the box each claim has its source and state. Real data have a verdict;
  of simulated data the box gives the value expected by what was put in, the value found, and how many simulated studies
  meet the rule. The decision rule is folded below. A page on which no claim is judged says by ``claim`` what it asks;
  ``untested`` says why no released ratings bear on the question, which simulated data then follow.
  In the place of sentences with a number that these data cannot give stands the reason, once.
"""

import re
from typing import ClassVar

from docutils import nodes
from docutils.parsers.rst import directives as options
from sphinx.util.docutils import SphinxDirective

from sense7.book.extensions.values import looked_up, raw
from sense7.book.words import (
    CLAIMS,
    MARKS,
    NOT_AVAILABLE,
    UNTESTED,
    Edition,
    shown_row,
    slug,
)
from sense7.claims import State
from sense7.expected import PUT_IN_COUNTS
from sense7.terminal import count_of


class LedgerDirective(SphinxDirective):
    """The table of claims: about the paper, or about other works."""

    optional_arguments = 1
    final_argument_whitespace = True

    def run(self):
        is_of_other_works = bool(self.arguments)
        rows = _shown_rows(looked_up(self.env, "ledger.json", "edition.json"), is_of_other_works)
        return [raw(CLAIMS.table(rows, is_of_other_works))]


def _shown_rows(edition: Edition, is_of_other_works: bool) -> list[dict]:
    """Rows of the ledger about other works, or about the paper."""
    rows = []
    for row in edition.ledger:
        if bool(row["published"]["release"]) == is_of_other_works:
            rows.append(shown_row(row))
    return rows


class LedgerPictureDirective(SphinxDirective):
    """One row per claim about the paper, filtered by state; counts typed into the simulation are no results."""

    def run(self):
        from sense7.findings import elsewhere  # with all statistics, which other pages do not need

        edition = looked_up(self.env, "ledger.json", "edition.json")
        rows = []
        for row in _shown_rows(edition, is_of_other_works=False):
            if row["rehearsal"] and row["published"]["key"] in PUT_IN_COUNTS:
                continue
            verdicts = elsewhere.verdicts_of_claim(row["id"], edition.values)
            row["elsewhere_words"] = ""
            if verdicts:
                row["elsewhere_words"] = f"{verdicts.count(elsewhere.SEEN)} of {len(verdicts)}"
            if elsewhere.OPPOSITE in verdicts:
                row["elsewhere_words"] += f", opposite {verdicts.count(elsewhere.OPPOSITE)}"
            rows.append(row)
        return [raw(CLAIMS.picture(rows, State, MARKS, slug))]


class FindingDirective(SphinxDirective):
    """The sentence that answers, and the box with the claims and their states."""

    optional_arguments = 1
    final_argument_whitespace = True
    has_content = True
    option_spec: ClassVar = {
        "claim": options.unchanged_required,
        "untested": options.unchanged_required,
    }

    def run(self):
        edition = looked_up(self.env, "ledger.json", "edition.json")
        claims = self.arguments[0].split() if self.arguments else []
        unknown = [name for name in claims if name not in edition.claims]
        if unknown:
            raise self.error(f"finding: the ledger has no claim {', '.join(unknown)}.")
        if not self.content or not (claims or "claim" in self.options):
            raise self.error(
                "finding: name a claim, or say by :claim: what is asked; the content is the answer."
            )
        answer = nodes.container("", *self.parse_content_to_nodes(), classes=["sense7-answer"])
        if "untested" in self.options and edition.facts["kind"] == "synthetic":
            words = f"**{UNTESTED}:** {self.options['untested']}"
            answer[:0] = self.parse_text_to_nodes(words)
        for part in list(answer.findall(nodes.paragraph)):
            _say_why_instead(part)
        box = nodes.container(classes=["sense7-finding"])
        if "claim" in self.options:
            label = raw('<p class="sense7-finding-label"><strong>Question</strong></p>')
            question = nodes.container("", *self.parse_text_to_nodes(self.options["claim"]))
            box += nodes.container("", label, question, classes=["sense7-finding-part"])
        rows = [shown_row(edition.claims[name]) for name in claims]
        box += raw(CLAIMS.boxes(rows))
        page = self.env.docname.removeprefix("notebooks/")
        notebooks = [edition.values[key]["notebook"] for key in edition.set_to_published]
        if page in notebooks and "sense7_set_note" not in self.env.temp_data:  # once on a page
            self.env.temp_data["sense7_set_note"] = True
            values = count_of(notebooks.count(page), "simulated value")
            note = f"Set to published figures, so that agreement shows nothing: {values} here."
            box += nodes.paragraph("", note, classes=["sense7-set-note"])
        return [answer, box]


_END_OF_SENTENCE = re.compile(r"(?<=[.?!])(?=\s)")
_REASON = re.compile(rf"{NOT_AVAILABLE} \(([^()]*)\)")


def _say_why_instead(answer: nodes.paragraph) -> None:
    """Leave out the sentences with a number that these data cannot give, and say why at the end, once.

    Numbers stand in nodes of their own, and sentences end in text.
    """
    if NOT_AVAILABLE not in answer.astext():
        return
    sentences: list[list[nodes.Node]] = [[]]
    for node in answer.children:
        if not isinstance(node, nodes.Text):
            sentences[-1].append(node)
            continue
        end, *beginnings = _END_OF_SENTENCE.split(node.astext())
        sentences[-1].append(nodes.Text(end))
        sentences += [[nodes.Text(text)] for text in beginnings]
    answerable: list[nodes.Node] = []
    reasons: list[str] = []
    for sentence in sentences:
        numbers = [node.astext() for node in sentence if not isinstance(node, nodes.Text)]
        if any(NOT_AVAILABLE in number for number in numbers):
            for number in numbers:
                reasons += _REASON.findall(number)
        else:
            answerable += sentence
    why = "; ".join(dict.fromkeys(reasons)) or "see below"
    answer[:] = [*answerable, nodes.Text(f" Not available here: {why}.")]
