"""Words of an edition: recorded values, claims, facts and banners as pages, notebooks and the command line show them.

All markup stands in templates, into which every text enters as text.
"""

import html
from collections.abc import Mapping, Sequence
from pathlib import Path

from jinja2 import Environment, PackageLoader

from sense7.claims import CHECK, PAPER, Row, State
from sense7.expected import FILE as EXPECTED
from sense7.expected import ExpectedValue, is_of_simulated_judge, is_set_to_published
from sense7.files import read_json
from sense7.record import format_number, format_value, read_values
from sense7.taxonomy import SIMULATED_WORDS
from sense7.terminal import count_of

NOT_AVAILABLE = "not available here"
"""Said of a value whose reason the page has given before."""

UNTESTED = "Real ratings can't tell yet"
"""Begins a page that no released ratings bear on, in the edition of simulated data."""

CODE = "sense7:code"
"""Stands on a page for the commit and the library, which every commit and the first edit after it change."""

MARKS = {
    State.MET: "●",
    State.NOT_MET: "◆",
    State.REHEARSED: "◇",
    State.WAITING: "○",
    State.UNDECIDED: "○",
    State.NO_RULE: "□",
    State.UNRELEASED: "□",
    State.CONTRADICTION: "▲",
    State.CONSISTENT: "●",
}
"""State of a claim -> a mark, so that it does not rest on color alone."""


def _sentence(text: str | None) -> str:
    """Words as a sentence, with a capital and a full stop."""
    if not text:
        return ""
    return f"{text[0].upper()}{text[1:].rstrip('.')}."


TEMPLATES = Environment(loader=PackageLoader("sense7.book", "extensions"), autoescape=True)
TEMPLATES.filters.update(number=format_number, value=format_value, sentence=_sentence, repr=repr)
TEMPLATES.globals["count_of"] = count_of
TEMPLATES.tests["of_simulated_judge"] = is_of_simulated_judge
CLAIMS = TEMPLATES.get_template("claims.html").module
PROVENANCE = TEMPLATES.get_template("provenance.html").module
_SUMMARIES = TEMPLATES.get_template("summaries.html").module


class Edition:
    """The values, ledger and facts of an edition's folder."""

    def __init__(self, folder: Path):
        self.folder = folder
        self.values = read_values(folder / "results")
        self.ledger = read_json(folder / "ledger.json")
        self.facts = read_json(folder / "edition.json")
        self.expected = {}
        if (folder / "data" / EXPECTED).exists():
            simulated = read_json(folder / "data" / EXPECTED)["values"]
            self.expected = {key: ExpectedValue(**entry) for key, entry in simulated.items()}
        self.claims = {row["id"]: row for row in self.ledger}
        # Keys of simulated values set to published figures: those of claims, and the same statistics elsewhere.
        self.set_to_published = set()
        for row in self.ledger:
            if row["rehearsal"] and row["rehearsal"]["is_set"]:
                self.set_to_published.add(row["computed"]["key"])
        if self.facts["kind"] == "synthetic":
            self.set_to_published |= {
                key for key, value in self.values.items() if is_set_to_published(value)
            }


# --- recorded values ----------------------------------------------------------------------


def key_and_part(edition: Edition, text: str) -> tuple[str, str]:
    """Key of a recorded value, and the part of it that is to be shown; KeyError if there is none of this name."""
    if text in edition.values:
        return text, ""
    key, _, part = text.rpartition(".")
    if key not in edition.values or part not in ("", "estimate", "n", "count", "expected"):
        raise KeyError(text)
    return key, part


def value_in_words(edition: Edition, key: str, part: str, given_reasons: set[str]) -> str:
    """A recorded value, or a part of it, as a sentence shows it; a reason is given once."""
    value, truth = edition.values[key], edition.expected.get(key)
    if value["estimate"] is None and part != "n":
        if value["reason"] in given_reasons:
            return NOT_AVAILABLE
        given_reasons.add(value["reason"])
    if part == "expected" and not truth:
        return "no value that is known here"
    if part == "expected":
        return format_number(truth.value, value["unit"])
    words = format_value(value, part)
    if part != "n" and is_of_simulated_judge(value):
        words += f" ({SIMULATED_WORDS})"
    return words


# --- claims -------------------------------------------------------------------------------


def published_in_words(edition: Edition, claim: str) -> str:
    """What was published of a claim; KeyError if the ledger has no such claim."""
    published = edition.claims[claim]["published"]
    if published["value"] is None:
        return published["title"]
    return published["shown"]


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


def shown_row(row: Mapping) -> dict:
    """A row of the ledger, with what the templates show of it."""
    claim, state = row["published"], State(row["state"])
    display = {
        **row,
        "anchor": f"claim-{row['id'].replace('_', '-')}",
        "of": "" if claim["of"] == PAPER else f"; {claim['of']}",
        "label": "Rehearsal" if state is State.REHEARSED else "Answer",
        "size": size_in_words(row),
        "slug": slug(state),
        "sign": MARKS[state],
        "places": positions(row),
        "group": "figures",
    }
    if not display["places"]:
        display["group"] = "others"
    elif _excluded_value(claim) is not None:
        display["group"] = "in-words"
    return display


def rehearsal_in_words(edition: Edition, claim: str) -> str:
    """What was expected and found of simulated data for a claim, and how many simulated studies see the effect."""
    return as_text(CLAIMS.found_and_seen(shown_row(edition.claims[claim])))


def slug(state: State) -> str:
    """Name of a state in classes and attributes of a page."""
    return state.name.lower().replace("_", "-")


def as_text(markup: str) -> str:
    """What a template gave, as plain text."""
    return html.unescape(str(markup)).strip()


def summaries(rows: Sequence[Row]) -> dict[str, str]:
    """How many claims of a ledger are in each state, and what the rehearsal found: fact of an edition -> one line."""
    names = ("verdicts", "rehearsal", "verdicts_of_other_works")
    return {name: as_text(getattr(_SUMMARIES, name)(rows)) for name in names}


def claim_in_words(row: Mapping) -> dict[str, str]:
    """What a box says of a claim, where no page shows it as HTML: label -> line."""
    row = shown_row(row)
    lines = {
        "Claim": f"{CLAIMS.words(row)} ({row['published']['source']}{row['of']}).",
        row["label"]: f"{row['state']}. {CLAIMS.here(row)} {row['size']}",
        "Studies": CLAIMS.studies(row),
        "Decision rule": row["asks"],
    }
    return {name: as_text(line) for name, line in lines.items() if line}


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

    For a published figure the axis goes from zero to twice that figure, and ends there; for a claim of
    an effect it is as wide as the interval needs to either side of the value that the claim excludes.

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
        shares = [number / claim["value"] / 2 for number in (claim["value"], *numbers)]
    else:
        return None
    reference, estimate, low, high = (round(100 * min(max(share, 0), 1), 1) for share in shares)
    return reference, estimate, low, high


def _excluded_value(claim: Mapping) -> float | None:
    """The value that a claim of an effect excludes, in the unit of the computed number; None of other claims."""
    rule = claim["compare"] or {}
    if "beyond" in rule or "sign" in rule:
        return rule.get("beyond", 0)
    return None


# --- facts ----------------------------------------------------------------------------------


def fact_in_words(edition: Edition, name: str) -> str:
    """A fact about an edition; KeyError if there is none of this name."""
    return str(edition.facts[name])


ROLES = {
    "published": published_in_words,
    "edition": fact_in_words,
    "answer": answer_in_words,
    "rehearsed": rehearsal_in_words,
}
"""Role of a text -> the function that gives its words, of the edition and the role's content."""
