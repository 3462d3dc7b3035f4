"""What pages show of the ledger's claims; all markup stands in ``claims.html``, and all texts enter it as text.

A Sphinx extension with directives that read the folder of the edition:

- ``ledger``: the table of every claim about the paper beside what this edition computed; with the argument
  ``other works`` of every claim about another work beside what its released numbers give;
- ``ledger-picture``: one row per claim about the paper, with this edition's value and interval beside the published
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
  The decision rule and, on simulated data, the recovery are folded below. A page on which no claim is
  judged says with the option ``claim`` what it asks. The role ``answer`` is the first word of an answer: Yes, Not shown
  or Can't be decided. It stands only where the claim's rule answers the question of the page. In the place of sentences
  with a number that these data cannot give stands the reason, once.
"""

import math
import re
from collections import Counter
from collections.abc import Mapping
from typing import ClassVar

from docutils import nodes
from docutils.parsers.rst import directives as options
from sphinx.util.docutils import SphinxDirective, SphinxRole

from sense7.book.claims_map import claims_map
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
from sense7.claims import CHECK, PAPER, TUNED, State
from sense7.record import format_number, format_value
from sense7.taxonomy import SIMULATED_WORDS
from sense7.terminal import count_of

__all__ = ["setup"]

TEMPLATES.globals["tuned_words"] = TUNED
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
    "figures": "Published figures: the value here as a multiple of the published value (line)",
    "in-words": "Claims of an effect: the value here beside the value that the claim excludes (line)",
    "others": "Without a value to draw",
}


def shown_row(row: Mapping, facts: Mapping) -> dict:
    """A row of the ledger, with what the templates show of it."""
    claim = row["published"]
    computed = row["computed"]
    elsewhere = row["elsewhere"]
    state = State(row["rule"]["state"])
    shown = {
        **row,
        "anchor": f"claim-{row['id'].replace('_', '-')}",
        "words": claim["title"],
        "of": "" if claim["of"] == PAPER else f"; {claim['of']}",
        "value": "-",
        "number": "",
        "n": "",
        "simulated": False,
        "asks": row["rule"]["asks"] or "There is no rule.",
        "reason": _sentence((claim["compare"] or {}).get("reason")),
        "here": _answer(row, state, facts),
        "effect_words": _effect(row),
        "power_words": _power(row),
        "slug": _slug(state),
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
    if elsewhere:
        shown["other"] = format_value(elsewhere["value"])
        shown["other_outcome"] = MET[elsewhere["passed"]]
    if not shown["places"]:
        shown["group"] = "others"
    elif _excluded_value(claim) is not None:
        shown["group"] = "in-words"
    return shown


def lines_of_claim(row: Mapping, facts: Mapping) -> dict[str, str]:
    """What a box says of a claim, where no page shows it as HTML: one line for each of claim, answer and power."""
    row = shown_row(row, facts)
    answer = f"{row['rule']['state']} {row['here']}"
    if row["here"][:1].isupper():
        answer = f"{row['rule']['state']}. {row['here']}"
    claim = f"{row['words']} ({row['published']['source']}{row['of']})."
    lines = {"Claim": claim, "Answer": answer.strip()}
    if row["power_words"]:
        lines["Power"] = f"{row['power_words']} {row['effect_words']}".strip()
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
        data = "simulated data" if _is_of_simulated_data(row, facts) else "these data"
        return f"by {data}. {_sentence(why)}".strip()
    words = _sentence(why)
    computed = row["computed"]
    if state is State.WAITING and computed and computed["estimate"] is not None:
        words += f" Computed here: {format_value(computed)} (n = {computed['n']:,})."
        asks = row["rule"]["asks"]
        if asks:
            words += f" Decision rule: {asks[0].lower()}{asks[1:]}"
    return words.strip()


def _effect(row: Mapping) -> str:
    """Say how large the simulated effect is, where it is a number."""
    truth, computed = row["truth"], row["computed"]
    if truth is None or not computed:
        return ""
    size = format_number(truth, computed["unit"])
    if computed["unit"].startswith(("level", "points")):
        size += " points"
    return f"Effect in the simulation: {size}."


def _power(row: Mapping) -> str:
    """How often simulated studies meet a rule, with the effect and without."""
    rule = row["rule"]
    if rule["power"] is not None:
        words = [
            f"{rule['power']:.0%}; false positives {rule['null']:.1%} "
            "(simulated studies of this size)."
        ]
        for studies in rule["also"]:
            words.append(f"Met by {studies['share']:.0%} of studies {studies['like']}.")
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
        return [raw(_SHOWN.table(title, column, rows, any(row["check"] for row in rows)))]


def _shown_rows(edition: Edition, is_of_other_works: bool) -> list[dict]:
    """Rows of the ledger about other works, or about the paper."""
    rows = []
    for row in edition.ledger:
        if bool(row["published"]["release"]) == is_of_other_works:
            rows.append(shown_row(row, edition.facts))
    return rows


class LedgerPictureDirective(SphinxDirective):
    """One row per claim about the paper, filtered by state."""

    def run(self):
        edition = looked_up(self.env, "ledger.json", "edition.json")
        rows = _shown_rows(edition, is_of_other_works=False)
        groups = []
        for group, title in _GROUPS.items():
            of_group = [row for row in rows if row["group"] == group]
            if of_group:
                groups.append((title, group, of_group))
        counts = Counter(row["rule"]["state"] for row in rows)
        keys = []
        for state in State:
            if counts[state]:
                keys.append((_slug(state), MARKS[state], str(state), counts[state]))
        tuned = sum(row["tuned"] for row in rows)
        return [raw(_SHOWN.picture(groups, keys, tuned))]


class ClaimsMapDirective(SphinxDirective):
    """One tile for each claim: published, in this edition, and in real ratings of other studies."""

    def run(self):
        edition = looked_up(self.env, "ledger.json", "edition.json")
        return [raw(claims_map(edition.ledger, edition.values, edition.facts, MARKS))]


class FindingDirective(SphinxDirective):
    """The sentence that answers, and the box with the claims and their states."""

    optional_arguments = 1
    final_argument_whitespace = True
    has_content = True
    option_spec: ClassVar = {"claim": options.unchanged_required}

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
        for part in list(answer.findall(nodes.paragraph)):
            _say_why_instead(part)
        box = nodes.container(classes=["sense7-finding"])
        if "claim" in self.options:
            inline, messages = self.state.inline_text(self.options["claim"], self.lineno)
            box += _part("Question", nodes.paragraph("", "", *inline, *messages))
        rows = [edition.claims[name] for name in claims]
        boxes = [raw(_SHOWN.box(shown_row(row, edition.facts))) for row in rows]
        box += boxes[:SHOWN_AT_ONCE]
        folded = boxes[SHOWN_AT_ONCE:]
        if folded:
            box += fold(count_of(len(folded), "further claim"), *folded)
        tuned = edition.tuned_on(self.env.docname)
        if tuned:
            were = "was" if len(tuned) == 1 else "were"
            values = count_of(len(tuned), "simulated value")
            note = f"{values} here {were} {TUNED}; agreement is no evidence."
            box += paragraph(note, classes=["sense7-tuned-note"])
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
    """Whether these data pass the rule of a claim; KeyError if the ledger has no such claim."""
    row = edition.claims[claim]
    passed = row["rule"]["passed"]
    if passed is None:
        return "Can't be decided"
    if not passed:
        return "Not shown"
    if _is_of_simulated_data(row, edition.facts):
        return "Yes, in these simulated data"
    return "Yes, in these data"


def _is_of_simulated_data(row: Mapping, facts: Mapping) -> bool:
    """Whether a claim is judged by simulated data, not by what another work released."""
    return facts["kind"] == "synthetic" and not row["published"]["release"]


class AnswerRole(SphinxRole):
    """The first word of an answer: whether these data meet the rule of a claim."""

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
    app.add_directive("claims-map", ClaimsMapDirective)
    app.add_directive("finding", FindingDirective)
    app.add_role("answer", AnswerRole())
    return METADATA
