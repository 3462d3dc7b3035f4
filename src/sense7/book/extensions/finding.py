"""What pages show of the ledger's claims; all markup stands in ``claims.html``, and all texts enter it as text.

A Sphinx extension with directives that read the folder of the edition:

- ``ledger``: the table of every claim about SENSE-7 beside what this edition computed; with the argument
  ``other works`` of every claim about another work beside what its released numbers give;
- ``ledger-picture``: one row per claim about SENSE-7, with this edition's value and interval beside the published
  value. Each row is a link to the cell that computed the value, and a reader filters rows by their state. Published
  figures share one axis: the value as a multiple of the published one. Claims of an effect have an axis each, with
  the value that the claim excludes in its middle;
- ``claims-map``: one tile for each claim and for what was published, what this edition gives and what real ratings of
  other studies say;
- ``finding``: the head of a finding's page, below its title::

    ```{finding} finding_individualized
    {answer}`finding_individualized`: the person explains more than ..., by {value}`participant_share_beyond_...`.
    ```

  Its argument names claims; the first is shown at once, the others are folded. The content is the sentence that answers
  for this edition; it stands above the box. In the box each claim has three lines: the claim with its source, its
  state, and, where simulated studies of this size exist, how often they meet the rule and the effect that they have.
  The decision rule and, on simulated data, the recovery of the true value are folded below. A page on which no claim is
  judged says with the option ``claim`` what it asks. The role ``answer`` is the first word of an answer: Yes, Not shown
  or Can't be decided. It stands only where the claim's rule answers the question of the page.
"""

import math
from collections import Counter
from collections.abc import Mapping
from typing import ClassVar

from docutils import nodes
from docutils.parsers.rst import directives as options
from sphinx.util.docutils import SphinxDirective, SphinxRole

from sense7 import paper
from sense7.book.extensions.values import Edition, fold, looked_up, paragraph, raw
from sense7.book.pages import TEMPLATES
from sense7.claims import TUNED, State
from sense7.record import format_number, format_value
from sense7.terminal import count_of

__all__ = ["setup"]

_SHOWN = TEMPLATES.get_template("claims.html").module

MARKS = {
    State.MET: "●",
    State.NOT_MET: "◆",
    State.WAITING: "○",
    State.UNDECIDED: "○",
    State.NO_RULE: "□",
    State.UNRELEASED: "□",
    State.CONTRADICTION: "◆",
    State.CONSISTENT: "●",
}
"""State of a claim -> a mark, so that it does not rest on color alone."""

MET = {True: "met", False: "not met", None: "not decided"}
"""What is said of a rule that is applied to ratings of another study."""

SHOWN_AT_ONCE = 1
"""Claims of a box that are not folded: the figure below is to be seen at once, on a phone, too."""

_WIDEST = 2
"""Largest multiple of a published value on the common axis; what lies beyond ends at its edge."""

_GROUPS = {
    "figures": "Published figures: this edition as a multiple of the published value (line)",
    "in-words": "Claims of an effect: this edition beside the value that the claim excludes (line)",
    "others": "Without a value to draw",
}


def shown_row(row: Mapping, facts: Mapping) -> dict:
    """A row of the ledger, with what the templates show of it."""
    claim, computed, other = row["published"], row["computed"], row["elsewhere"]
    places = positions(row)
    state = State(row["rule"]["state"])
    is_number = computed and computed["estimate"] is not None
    group = "figures"
    if not places:
        group = "others"
    elif _excluded_value(claim) is not None:
        group = "in-words"
    return row | {
        "anchor": f"claim-{row['id'].replace('_', '-')}",
        "words": claim["title"]
        if claim["value"] is None
        else f"{claim['title']}: {claim['shown']}",
        "value": format_value(computed) if computed else "-",
        "number": format_number(computed["estimate"], computed["unit"]) if is_number else "",
        "n": f"{computed['n']:,}" if computed and computed["n"] else "",
        "simulated": bool(computed)
        and (computed["method"] or "").startswith(paper.SIMULATED_WORDS),
        "asks": row["rule"]["asks"] or "There is no rule.",
        "reason": _sentence((claim["compare"] or {}).get("reason")),
        "here": _answer(row, state, facts),
        "effect_words": _effect(row),
        "power_words": _power(row),
        "slug": _slug(state),
        "sign": MARKS[state],
        "checked": row["check"] and ("passed" if row["check"]["passed"] else "not-passed"),
        "tuned_words": TUNED,
        "other": other and format_value(other["value"]),
        "other_outcome": other and MET[other["passed"]],
        "places": places,
        "group": group,
    }


def lines_of_claim(row: Mapping, facts: Mapping) -> dict[str, str]:
    """What a box says of a claim, where no page shows it as HTML: one line for each of claim, answer and power."""
    shown = shown_row(row, facts)
    claim = row["published"]
    of = "" if claim["of"] == "SENSE-7" else f"; {claim['of']}"
    answer = f"{row['rule']['state']} {shown['here']}"
    if shown["here"][:1].isupper():
        answer = f"{row['rule']['state']}. {shown['here']}"
    lines = {"Claim": f"{shown['words']} ({claim['source']}{of}).", "Answer": answer.strip()}
    if shown["power_words"]:
        lines["Power"] = f"{shown['power_words']} {shown['effect_words']}".strip()
    return lines


def _slug(state: State) -> str:
    return state.name.lower().replace("_", "-")


def _sentence(text: str | None) -> str:
    """Words as a sentence, with a capital and a full stop."""
    if not text:
        return ""
    return f"{text[0].upper()}{text[1:].rstrip('.')}."


def _answer(row: Mapping, state: State, facts: Mapping) -> str:
    """What stands beside the state of a claim in its box."""
    why = row["rule"]["why"]
    if state in (State.MET, State.NOT_MET):
        simulated = paper.KINDS[facts["kind"]].has_truth and not row["published"]["release"]
        data = "by simulated data." if simulated else "by these data."
        return f"{data} {_sentence(why)}".strip()
    computed = row["computed"]
    if state is State.WAITING and computed and computed["estimate"] is not None:
        asks = row["rule"]["asks"]
        tolerance = f" Decision rule: {asks[0].lower()}{asks[1:]}" if asks else ""
        value = f"{format_value(computed)} (n = {computed['n']:,})"
        return f"{_sentence(why)} Computed here: {value}.{tolerance}".strip()
    return _sentence(why)


def _effect(row: Mapping) -> str:
    """How large the effect is that was put into the simulation, where that is a number."""
    truth, computed = row["truth"], row["computed"]
    if not isinstance(truth, int | float) or not computed:
        return ""
    return f"Effect in the simulation: {format_number(truth, computed['unit'])}."


def _power(row: Mapping) -> str:
    """How often simulated studies meet a rule, with the effect and without."""
    rule = row["rule"]
    if rule["power"] is not None:
        words = [
            f"{rule['power']:.0%}; false positives {rule['null']:.1%} "
            "(simulated studies of this size)."
        ]
        for others in rule["also"]:
            words.append(f"Met by {others['share']:.0%} of studies {others['like']}.")
        return " ".join(words)
    if row["published"]["no_effect"] and rule["passed"] is not None:
        return "not known, since no studies like this one were simulated."
    return ""


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
    if (
        computed is None
        or not isinstance(computed["estimate"], int | float)
        or claim["kind"] == "check"
    ):
        return None
    numbers = [computed["estimate"], computed["low"], computed["high"]]
    numbers = [numbers[0] if number is None else number for number in numbers]
    excluded = _excluded_value(claim)
    if excluded is not None:
        reach = 2.1 * max(abs(number - excluded) for number in numbers) or 1
        places = [0.5 + (number - excluded) / reach for number in (excluded, *numbers)]
    elif claim["value"] is not None:
        places = [number / claim["value"] / _WIDEST for number in (claim["value"], *numbers)]
    else:
        return None
    reference, estimate, low, high = (
        round(100 * min(max(place, 0), 1), 1) for place in places if math.isfinite(place)
    )
    return reference, estimate, low, high


def _excluded_value(claim: Mapping) -> float | None:
    """The value that a claim of an effect excludes, in the unit of the computed number; None of other claims."""
    rule = claim["compare"] or {}
    if "beyond" in rule or "sign" in rule:
        return rule.get("beyond", 0)
    return None


class LedgerDirective(SphinxDirective):
    """The table of claims: about SENSE-7, or about other works."""

    optional_arguments = 1
    final_argument_whitespace = True

    def run(self):
        others = self.arguments == ["other works"]
        if self.arguments and not others:
            raise self.error(
                f"ledger: {self.arguments[0]!r} is no part of the ledger. Write other works, or nothing."
            )
        edition = looked_up(self.env, "ledger.json", "edition.json")
        rows = [row for row in edition.ledger if bool(row["published"]["release"]) == others]
        title = (
            "compared with the numbers that the work released"
            if others
            else "beside what this edition computed"
        )
        title = f"Every claim about {'other works' if others else paper.NAME}, {title}"
        computed = "Released numbers give" if others else "This edition"
        return [
            raw(
                _SHOWN.table(
                    title,
                    computed,
                    [shown_row(row, edition.facts) for row in rows],
                    any(row["check"] for row in rows),
                )
            )
        ]


class LedgerPictureDirective(SphinxDirective):
    """One row per claim about SENSE-7, filtered by state."""

    def run(self):
        edition = looked_up(self.env, "ledger.json", "edition.json")
        rows = [
            shown_row(row, edition.facts)
            for row in edition.ledger
            if not row["published"]["release"]
        ]
        groups = [
            (title, kind, [row for row in rows if row["group"] == kind])
            for kind, title in _GROUPS.items()
        ]
        counts = Counter(row["rule"]["state"] for row in rows)
        keys = [
            (_slug(state), MARKS[state], str(state), counts[state])
            for state in State
            if counts[state]
        ]
        return [
            raw(
                _SHOWN.picture(
                    [one for one in groups if one[-1]], keys, sum(row["tuned"] for row in rows)
                )
            )
        ]


class ClaimsMapDirective(SphinxDirective):
    """One tile for each claim: published, in this edition, and in real ratings of other studies."""

    def run(self):
        edition = looked_up(self.env, "ledger.json", "edition.json")
        return [raw(paper.claims_map(edition.ledger, edition.values, edition.facts, MARKS))]


class FindingDirective(SphinxDirective):
    """The sentence that answers, and the box with the claims and their states."""

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
            raise self.error(
                "finding: name a claim, or say by :claim: what is asked; the content is the answer."
            )
        answer = nodes.container(classes=["sense7-answer"])
        self.state.nested_parse(self.content, self.content_offset, answer)
        box = nodes.container(classes=["sense7-finding"])
        if "claim" in self.options:
            inline, messages = self.state.inline_text(self.options["claim"], self.lineno)
            box += _part("Question", nodes.paragraph("", "", *inline, *messages))
        rows = [edition.claims[name] for name in claims]
        boxes = [raw(_SHOWN.box(shown_row(row, edition.facts))) for row in rows]
        box += boxes[:SHOWN_AT_ONCE]
        if folded := boxes[SHOWN_AT_ONCE:]:
            box += fold(count_of(len(folded), "further claim"), *folded)
        if tuned := edition.tuned_on(self.env.docname):
            were = "was" if len(tuned) == 1 else "were"
            said = f"{count_of(len(tuned), 'simulated value')} here {were} {TUNED}; "
            said += "agreement is no evidence."
            box += paragraph(said, classes=["sense7-tuned-note"])
        if not claims:
            box += _part("Claim", paragraph("No published figure to compare with."))
        return [answer, box]


def _part(name: str, content: nodes.paragraph) -> nodes.container:
    label = paragraph(nodes.strong(text=name), classes=["sense7-finding-label"])
    return nodes.container("", label, nodes.container("", content), classes=["sense7-finding-part"])


def answer_in_words(edition: Edition, claim: str) -> str:
    """Whether these data pass the rule of a claim; KeyError if the ledger has no such claim."""
    row = edition.claims[claim]
    simulated = paper.KINDS[edition.facts["kind"]].has_truth and not row["published"]["release"]
    yes = "Yes, in these simulated data" if simulated else "Yes, in these data"
    said = {True: yes, False: "Not shown", None: "Can't be decided"}
    return said[row["rule"]["passed"]]


class AnswerRole(SphinxRole):
    """The first word of an answer: whether these data meet the rule of a claim."""

    def run(self):
        edition = looked_up(self.env, "ledger.json", "edition.json")
        if self.text not in edition.claims:
            message = self.inliner.reporter.error(
                f"answer: the ledger has no claim {self.text}.", line=self.lineno
            )
            return [], [message]
        said = answer_in_words(edition, self.text)
        return [nodes.strong(text=said, support_smartquotes=False)], []


def setup(app):
    """Register the directives and the role with Sphinx."""
    app.add_directive("ledger", LedgerDirective)
    app.add_directive("ledger-picture", LedgerPictureDirective)
    app.add_directive("claims-map", ClaimsMapDirective)
    app.add_directive("finding", FindingDirective)
    app.add_role("answer", AnswerRole())
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
