"""What pages show of the ledger's claims; all markup stands in ``claims.html``, and all texts enter it as text.

A Sphinx extension with directives that read the folder of the edition:

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
  In the place of sentences with a number that these data cannot give stands the reason, once;
- ``{answer}`` is the first words of an answer, where the claim's rule answers the question of the page; ``{rehearsed}``
  what was expected and found of simulated data.
"""

import math
import re
from collections import Counter
from collections.abc import Mapping
from typing import ClassVar

from docutils import nodes
from docutils.parsers.rst import directives as options
from sphinx.util.docutils import SphinxDirective, SphinxRole

from sense7.book.extensions import METADATA
from sense7.book.extensions.values import (
    NOT_AVAILABLE,
    Edition,
    fold,
    looked_up,
    paragraph,
    raw,
)
from sense7.book.pages import TEMPLATES
from sense7.claims import CHECK, PAPER, State
from sense7.expected import PUT_IN_COUNTS
from sense7.findings import elsewhere
from sense7.record import format_number, format_value
from sense7.taxonomy import SIMULATED_WORDS
from sense7.terminal import count_of

__all__ = ["setup"]

_SHOWN = TEMPLATES.get_template("claims.html").module

MARKS = {
    State.MET: "●",
    State.NOT_MET: "◆",
    State.REHEARSED: "◇",
    State.WAITING: "○",
    State.UNDECIDED: "○",
    State.NO_RULE: "□",
    State.UNRELEASED: "□",
    State.CONTRADICTION: "◆",
    State.CONSISTENT: "●",
}
"""State of a claim -> a mark, so that it does not rest on color alone."""

SHOWN_AT_ONCE = 1
"""Claims of a box that are not folded: the figure below is to be seen at once, on a phone, too."""

_WIDEST = 2
"""Largest multiple of a published value on the common axis; what lies beyond ends at its edge."""

_GROUPS = {
    "figures": "Published figures: the value here as a multiple of the published value (line)",
    "in-words": "Claims of an effect: the value here beside the value that the claim excludes (line)",
    "others": "Without a value to draw",
}


def shown_row(row: Mapping) -> dict:
    """A row of the ledger, with what the templates show of it."""
    claim = row["published"]
    computed = row["computed"]
    state = State(row["state"])
    shown = {
        **row,
        "anchor": f"claim-{row['id'].replace('_', '-')}",
        "words": claim["title"],
        "of": "" if claim["of"] == PAPER else f"; {claim['of']}",
        "value": "-",
        "number": "",
        "n": "",
        "simulated": False,
        "asks": row["asks"] or "There is no rule.",
        "reason": _sentence((claim["compare"] or {}).get("reason")),
        "label": "Rehearsal" if state is State.REHEARSED else "Answer",
        "here": _answer(row, state),
        "size": size_in_words(row),
        "studies_words": _studies_in_words(row),
        "expected": "",
        "slug": state.name.lower().replace("_", "-"),
        "sign": MARKS[state],
        "places": positions(row),
        "group": "figures",
    }
    if claim["value"] is not None:
        shown["words"] += f": {claim['shown']}"
    if computed:
        shown["value"] = format_value(computed)
        shown["simulated"] = (computed["method"] or "").startswith(SIMULATED_WORDS)
    if computed and computed["estimate"] is not None:
        shown["number"] = format_number(computed["estimate"], computed["unit"])
    if computed and computed["n"]:
        shown["n"] = f"{computed['n']:,}"
    rehearsal = row["rehearsal"]
    if rehearsal and rehearsal["is_set"]:
        shown["expected"] = "set as published"
    elif rehearsal and rehearsal["expected"] is not None:
        shown["expected"] = f"expected {format_number(rehearsal['expected'], computed['unit'])}"
    if not shown["places"]:
        shown["group"] = "others"
    elif _excluded_value(claim) is not None:
        shown["group"] = "in-words"
    return shown


def lines_of_claim(row: Mapping) -> dict[str, str]:
    """What a box says of a claim, where no page shows it as HTML: label -> line."""
    row = shown_row(row)
    lines = {
        "Claim": f"{row['words']} ({row['published']['source']}{row['of']}).",
        row["label"]: f"{row['state']}. {row['here']} {row['size']}".strip(),
    }
    if row["studies_words"]:
        lines["Studies"] = row["studies_words"]
    return lines


def _sentence(text: str | None) -> str:
    """Words as a sentence, with a capital and a full stop."""
    if not text:
        return ""
    return f"{text[0].upper()}{text[1:].rstrip('.')}."


def _answer(row: Mapping, state: State) -> str:
    """What stands beside the state of a claim in its box."""
    if state is State.REHEARSED:
        return _rehearsal_in_words(row["computed"], row["rehearsal"])
    words = _sentence(row["why"])
    computed = row["computed"]
    if state is State.NOT_MET and not row["studies"] and row["published"]["no_effect"]:
        words += " How often a study like this one would see the effect is not known."
    if state is State.WAITING and computed and computed["estimate"] is not None:
        words += f" Computed here: {format_value(computed)} (n = {computed['n']:,})."
        if row["asks"]:
            words += f" Decision rule: {row['asks'][0].lower()}{row['asks'][1:]}"
    return words.strip()


def _rehearsal_in_words(computed: Mapping, rehearsal: Mapping) -> str:
    """What was put in or is expected of simulated data, and what was found.

    Examples
    --------
    >>> computed = {"estimate": 0.444, "low": 0.327, "high": 0.551, "n": 670, "unit": "share, difference"}
    >>> rehearsal = {"expected": 0.371, "is_put_in": False, "is_inside": True, "is_set": False}
    >>> _rehearsal_in_words(computed, rehearsal)
    'By what was put in, 37.1 percentage points are expected; 44.4 [32.7, 55.1] percentage points were found (n = 670).'
    """
    if rehearsal["is_set"] and rehearsal["is_put_in"] and computed["low"] is None:
        return "Typed into the simulation as published: no result."
    found = format_value(computed)
    is_plural = found.endswith("points")
    found += f" {'were' if is_plural else 'was'} found"
    if computed["n"]:
        found += f" (n = {computed['n']:,})"
    words = f"{found}."
    if rehearsal["expected"] is not None:
        expected = format_value({"estimate": rehearsal["expected"], "unit": computed["unit"]})
        verb = "are" if is_plural else "is"
        words = f"By what was put in, {expected} {verb} expected; {found}."
        if rehearsal["is_put_in"]:
            words = f"{expected} was put in; {found}."
    if rehearsal["is_set"]:
        words += " The simulation was set to the published figure, so that agreement shows nothing."
    return words


def _studies_in_words(row: Mapping) -> str:
    """How many simulated studies meet a rule, with the effect, without it, and in other situations."""
    studies = row["studies"]
    if not studies:
        return ""

    def share(counts: Mapping) -> str:
        return f"{counts['passed']:,} of {counts['studies']:,}"

    meet = "meet the rule" if row["published"]["value"] is not None else "see the effect"
    words = [
        f"{share(studies['effect'])} simulated studies of this size {meet}; "
        f"without the effect {share(studies['null'])} do."
    ]
    for others in studies.get("also", ()):
        words.append(f"So do {share(others)} studies {others['like']}.")
    return " ".join(words)


def size_in_words(row: Mapping) -> str:
    """How the interval found lies to the smallest effect of interest; "" of a claim without one.

    Examples
    --------
    >>> row = {"published": {"smallest": {"effect": 0.2, "reason": "a fifth of a level"}, "compare": {"beyond": 0}}}
    >>> size_in_words(row | {"computed": {"low": 0.01, "high": 0.17, "unit": "level, difference"}})
    'Smaller than the smallest effect of interest (0.20).'
    >>> size_in_words(row | {"computed": {"low": 0.12, "high": 0.76, "unit": "level, difference"}})
    'May be smaller than the smallest effect of interest (0.20).'
    """
    claim, computed = row["published"], row["computed"]
    if not claim["smallest"] or not computed or computed["low"] is None:
        return ""
    smallest = claim["smallest"]["effect"]
    low, high = computed["low"], computed["high"]
    if claim["compare"].get("sign") == "negative":
        low, high = -high, -low
    words = "May be smaller than"
    if low >= smallest:
        words = "At least"
    elif high < smallest:
        words = "Smaller than"
    return f"{words} the smallest effect of interest ({format_number(smallest, computed['unit'])})."


def positions(row: Mapping) -> tuple[float, float, float, float] | None:
    """Where reference, estimate and both limits lie on a row's axis, in percent of its width.

    For a published figure the axis goes from zero to twice that figure; for a claim of an effect it
    is as wide as the interval needs to either side of the value that the claim excludes.

    Examples
    --------
    >>> published = {"value": 2.0, "kind": "figure", "compare": {"within": 0.1}}
    >>> computed = {"estimate": 2.0, "low": 1.0, "high": 4.0}
    >>> positions({"published": published, "computed": computed})
    (50.0, 50.0, 25.0, 100.0)
    """
    claim, computed = row["published"], row["computed"]
    if computed is None or claim["kind"] == CHECK:
        return None
    estimate, low, high = (computed[name] for name in ("estimate", "low", "high"))
    if not isinstance(estimate, int | float):
        return None
    numbers = [estimate, estimate, estimate]
    if low is not None:
        numbers = [estimate, low, high]
    excluded = _excluded_value(claim)
    if excluded is not None:
        reach = 2.1 * max(abs(number - excluded) for number in numbers) or 1
        shares = [0.5 + (number - excluded) / reach for number in (excluded, *numbers)]
    elif claim["value"] is not None:
        shares = [number / claim["value"] / _WIDEST for number in (claim["value"], *numbers)]
    else:
        return None
    reference, estimate, low, high = (
        round(100 * min(max(share, 0), 1), 1) for share in shares if math.isfinite(share)
    )
    return reference, estimate, low, high


def _excluded_value(claim: Mapping) -> float | None:
    """The value that a claim of an effect excludes, in the unit of the computed number; None of other claims."""
    rule = claim["compare"] or {}
    if "beyond" in rule or "sign" in rule:
        return rule.get("beyond", 0)
    return None


class LedgerDirective(SphinxDirective):
    """The table of claims: about the paper, or about other works."""

    optional_arguments = 1
    final_argument_whitespace = True

    def run(self):
        title = "Every claim about SENSE-7, beside what these data give"
        column = "These data"
        is_of_other_works = self.arguments == ["other works"]
        if is_of_other_works:
            title = (
                "Every claim about other works, compared with the numbers that the work released"
            )
            column = "Released numbers give"
        elif self.arguments:
            raise self.error(
                f"ledger: {self.arguments[0]!r} is no part of the ledger. Write other works, or nothing."
            )
        rows = _shown_rows(looked_up(self.env, "ledger.json", "edition.json"), is_of_other_works)
        return [raw(_SHOWN.table(title, column, rows))]


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
        edition = looked_up(self.env, "ledger.json", "edition.json")
        rows = []
        for row in _shown_rows(edition, is_of_other_works=False):
            if row["rehearsal"] and row["published"]["key"] in PUT_IN_COUNTS:
                continue
            verdicts = elsewhere.verdicts_of_claim(row["id"], edition.values)
            row["elsewhere_words"] = ""
            if verdicts:
                row["elsewhere_words"] = f"{verdicts.count(elsewhere.SEEN)} of {len(verdicts)}"
            rows.append(row)
        groups = []
        for group, title in _GROUPS.items():
            of_group = [row for row in rows if row["group"] == group]
            if of_group:
                groups.append((title, group, of_group))
        counts = Counter(row["state"] for row in rows)
        keys = []
        for state in State:
            if counts[state]:
                keys.append(
                    (state.name.lower().replace("_", "-"), MARKS[state], str(state), counts[state])
                )
        return [raw(_SHOWN.picture(groups, keys))]


UNTESTED = "Real ratings can't tell yet"
"""Begins a page that no released ratings bear on, in the edition of simulated data."""


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
        answer = nodes.container(classes=["sense7-answer"])
        self.state.nested_parse(self.content, self.content_offset, answer)
        if "untested" in self.options and edition.facts["kind"] == "synthetic":
            words = f"**{UNTESTED}:** {self.options['untested']}"
            inline, messages = self.state.inline_text(words, self.lineno)
            answer.insert(0, nodes.paragraph("", "", *inline, *messages))
        for part in list(answer.findall(nodes.paragraph)):
            _say_why_instead(part)
        box = nodes.container(classes=["sense7-finding"])
        if "claim" in self.options:
            inline, messages = self.state.inline_text(self.options["claim"], self.lineno)
            box += _part("Question", nodes.paragraph("", "", *inline, *messages))
        rows = [edition.claims[name] for name in claims]
        boxes = [raw(_SHOWN.box(shown_row(row))) for row in rows]
        box += boxes[:SHOWN_AT_ONCE]
        folded = boxes[SHOWN_AT_ONCE:]
        if folded:
            box += fold(count_of(len(folded), "further claim"), *folded)
        fixed = edition.set_on(self.env.docname)
        if fixed:
            values = count_of(len(fixed), "simulated value")
            note = f"Set to published figures, so that agreement shows nothing: {values} here."
            box += paragraph(note, classes=["sense7-set-note"])
        if not claims:
            box += _part("Claim", paragraph("No published figure to compare with."))
        return [answer, box]


_END_OF_SENTENCE = re.compile(r"(?<=[.?!])(?=\s)")
_REASON = re.compile(rf"{NOT_AVAILABLE} \(([^()]*)\)")


def _say_why_instead(answer: nodes.paragraph) -> None:
    """Put the reason, once, in the place of sentences with a number that these data cannot give."""
    if NOT_AVAILABLE not in answer.astext():
        return
    kept: list[nodes.Node] = []
    reasons: list[str] = []
    for sentence in _sentences(answer):
        text = "".join(node.astext() for node in sentence)
        if NOT_AVAILABLE in text:
            reasons += _REASON.findall(text)
        else:
            kept += sentence
    why = "; ".join(dict.fromkeys(reasons)) or "see below"
    answer[:] = [*kept, nodes.Text(f" Not available here: {why}.")]


def _sentences(answer: nodes.paragraph) -> list[list[nodes.Node]]:
    """The sentences of a paragraph, each as its nodes: they end in plain text alone."""
    sentences: list[list[nodes.Node]] = [[]]
    for node in answer.children:
        if not isinstance(node, nodes.Text):
            sentences[-1].append(node)
            continue
        first, *others = _END_OF_SENTENCE.split(node.astext())
        sentences[-1].append(nodes.Text(first))
        sentences += [[nodes.Text(other)] for other in others]
    return sentences


def _part(name: str, content: nodes.paragraph) -> nodes.container:
    label = paragraph(nodes.strong(text=name), classes=["sense7-finding-label"])
    return nodes.container("", label, nodes.container("", content), classes=["sense7-finding-part"])


def answer_in_words(edition: Edition, claim: str) -> str:
    """The first words of an answer; KeyError if the ledger has no such claim."""
    row = edition.claims[claim]
    state = State(row["state"])
    if state is State.REHEARSED:
        return "Rehearsed on simulated data"
    if state not in (State.MET, State.NOT_MET):
        return "Can't be decided"
    size = size_in_words(row)
    if state is State.NOT_MET:
        return "Not shown"
    if size.startswith("Smaller"):
        return "Yes, in these data, by less than the smallest effect of interest"
    if size.startswith("May be"):
        return "Yes, in these data, perhaps by less than the smallest effect of interest"
    return "Yes, in these data"


class RehearsedRole(SphinxRole):
    """What was expected and found of simulated data for a claim, and how many simulated studies see the effect."""

    def run(self):
        edition = looked_up(self.env, "ledger.json", "edition.json")
        row = edition.claims[self.text]
        words = _rehearsal_in_words(row["computed"], row["rehearsal"])
        counts = row["studies"]["effect"]
        words += f" {counts['passed']:,} of {counts['studies']:,} simulated studies of this size see the effect."
        return [nodes.inline(text=words, support_smartquotes=False)], []


class AnswerRole(SphinxRole):
    """The first words of an answer: whether these data meet the rule of a claim."""

    def run(self):
        edition = looked_up(self.env, "ledger.json", "edition.json")
        if self.text not in edition.claims:
            message = self.inliner.reporter.error(
                f"answer: the ledger has no claim {self.text}.", line=self.lineno
            )
            return [], [message]
        words = answer_in_words(edition, self.text)
        return [nodes.strong(text=words, support_smartquotes=False)], []


def setup(app):
    """Register the directives and the role with Sphinx."""
    app.add_directive("ledger", LedgerDirective)
    app.add_directive("ledger-picture", LedgerPictureDirective)
    app.add_directive("finding", FindingDirective)
    app.add_role("answer", AnswerRole())
    app.add_role("rehearsed", RehearsedRole())
    return METADATA
