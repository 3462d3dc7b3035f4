"""The ledger: what was published beside what an edition computed.

Each claim has a state. *Met* or *not met* says whether these data satisfy the claim's decision rule; a rule that states
an effect is applied to any data. A published figure waits for the official workbook, fetched from the authors'
repository ("reproduced" or "differs"); that of another work is compared with the numbers that this work released,
pinned by their hash. What a claim needs may be in no release, or no rule may be able to decide it. Published figures
that are checked against each other (kind ``check``) rest on no data and are counted apart.

On synthetic data each claim also says whether the value that was put in or is expected was recovered. That tests the
method and says nothing about the claim. Where such a value was chosen to lie near the published figure ("tuned"), their
agreement is no evidence.
"""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import NamedTuple

from sense7.errors import UserError
from sense7.expected import BEYOND, PUT_IN_COUNTS, ExpectedValue, is_calibrated
from sense7.files import parse_yaml, read_json, reason
from sense7.record import format_number
from sense7.statistics.order import rounded
from sense7.taxonomy import SIMULATED_WORDS
from sense7.terminal import count_of

__all__ = [
    "Claim",
    "Row",
    "State",
    "apply_rule",
    "load_claims",
    "make_ledger",
    "summarize",
    "summarize_other_works",
]

PAPER = "SENSE-7"
"""Name of the paper: claims of other works name theirs."""

REPRODUCED = "reproduced"
DIFFERS = "differs"
NOT_COMPARABLE = "not comparable"
"""What came of comparing a published figure with the numbers that it was computed from."""

CHECK = "check"
"""Kind of a claim whose published figures are checked against each other."""

PRIMARY = ("A", "B")

POWER_FILE = "claims_power.json"
"""How often each claim's rule is met by simulated studies, with the effect and without: name in ``data/``."""


CALIBRATED = "calibrated"
TUNED = f"{CALIBRATED} to the paper"
"""Said of a simulated value that was chosen to lie near the published figure: their agreement is no evidence."""


class State(StrEnum):
    """Where a claim stands, in the order in which the states are shown."""

    MET = "met"
    NOT_MET = "not met"
    WAITING = "waiting for the official workbook"
    UNDECIDED = "can't be decided by these data"
    NO_RULE = "no rule can decide it"
    UNRELEASED = "in no release"
    CONTRADICTION = "published figures contradict each other"
    CONSISTENT = "published figures fit each other"


_PASSED = {
    State.MET: True,
    State.CONSISTENT: True,
    State.NOT_MET: False,
    State.CONTRADICTION: False,
}
"""States of claims whose rule was applied -> whether the rule is met."""

_COUNTED = {
    State.MET: "{} met by {}",
    State.NOT_MET: "{} not met by {}",
    State.WAITING: "{} waiting for the official workbook",
    State.UNDECIDED: "{} that can't be decided by these data",
    State.NO_RULE: "{} that no rule can decide",
    State.UNRELEASED: "{} that rest on what is in no release",
}
"""State -> how many claims are in it, as a part of a line. Checks of published figures have a sentence of their own."""


_ABOUT_A_FIGURE = ("within", "at_most", "above")
"""Rules about a published figure."""

_OF_AN_INTERVAL = ("beyond", "sign")
"""Rules about an interval."""

RULES = (*_ABOUT_A_FIGURE, "beyond", "counts", "flag", "sign")
"""Rules that a claim may be judged by, one each. All but those about a published figure state an effect, which any data
can show or not."""


def _is_met(rule: str, limit, value: Mapping, published: float | None) -> bool:
    """Whether a value, its numbers rounded, meets a rule."""
    estimate = value["estimate"]
    if rule == "within":
        return rounded(abs(estimate - published)) <= limit
    if rule == "at_most":
        return 0 < estimate <= limit
    if rule == "above":
        return estimate > limit
    if rule == "beyond":
        return value["low"] > limit
    if rule == "sign" and limit == "positive":
        return value["low"] > 0
    if rule == "sign":
        return value["high"] < 0
    if rule == "counts":
        return estimate == limit
    return estimate == "yes"  # a flag, which is another value


def _rule_in_words(rule: str, limit, unit: str) -> str:
    """What a rule asks of a value; "" of a flag, which says so by its name."""
    if rule == "flag":
        return ""
    if rule == "counts":
        return f"is {limit:,}"
    if rule == "sign":
        return "lies above zero" if limit == "positive" else "lies below zero"
    if rule == "beyond" and limit == 0:
        return "lies above zero"
    if rule == "within" and limit == 0:
        return "equal to the published value"
    if rule == "within" and unit.startswith("share"):
        return f"within {100 * limit:g} percentage points of the published value"
    if rule == "within":
        return f"within {limit:g} of the published value"
    words = {"at_most": "at most", "above": "above", "beyond": "lies above"}
    return f"{words[rule]} {format_number(limit, unit)}"


@dataclass(frozen=True)
class Claim:
    """One claim of the paper; see the head of ``data/claims.yml`` for the fields."""

    id: str
    title: str
    kind: str
    value: float | None
    unit: str
    grade: str
    source: str
    needs: str
    notebook: str | None
    key: str | None
    short: str | None = None
    of: str = PAPER
    truth: str | None = None
    compare: dict | None = None
    no_effect: dict | None = None
    also_simulated: list[dict] | None = None
    release: list[str] | None = None
    elsewhere: dict | None = None
    not_released: str | None = None
    no_rule: str | None = None
    contradiction: str | None = None

    @property
    def published(self) -> str:
        """The published figure with the digits it was published with; "in words" if it has none."""
        if self.value is None:
            return "in words"
        figure = f"{self.value:,g}"
        if self.unit.startswith("share"):
            figure = f"{round(100 * self.value, 9):g}%"
        if "above" in (self.compare or {}):
            return f"above {figure}"
        return figure


@dataclass(frozen=True)
class Row:
    """A claim beside what an edition computed.

    Attributes
    ----------
    claim : Claim
        What was published.
    computed : dict or None
        The recorded value.
    verdict : str
        Whether the published figure was reproduced, differs, or was not compared with these data.
    rule : dict
        ``state`` (see :class:`State`), ``passed`` (whether the rule is met; None where it was not applied), ``asks``
        (the rule in a sentence), ``why`` (of a state that needs a reason), ``power`` and ``null`` (how often simulated
        studies meet the rule with the effect and without; None where that was not counted for such data), ``also``
        (the same for other simulated studies that the claim names: ``like``, in words, and ``share``).
    check : dict or None
        On synthetic data, whether the simulation's value was recovered: ``passed``, ``mark`` and ``says``.
    tuned : bool
        Whether the simulation's value was set near the published figure.
    truth : float or None
        The value in the simulation, put in as a parameter or expected from these.
    elsewhere : dict or None
        The same number from ratings that another study released, where they bear on the claim: ``value``, ``study`` and
        whether they meet the same rule (``passed``).
    """

    claim: Claim
    computed: dict | None
    verdict: str
    rule: dict
    check: dict | None = None
    tuned: bool = False
    truth: float | None = None
    elsewhere: dict | None = None

    def to_dict(self) -> dict:
        """As plain values for ledger.json, with the address of the cell that computed it, from the top of the book."""
        published = asdict(self.claim)
        published["shown"] = self.claim.published
        link = None
        if self.computed:
            link = f"notebooks/{self.computed['notebook']}.html"
        if self.computed and self.computed.get("cell"):
            link += f"#cell-{self.computed['cell']}"
        return {
            "id": published.pop("id"),
            "published": published,
            "computed": self.computed,
            "link": link,
            "verdict": self.verdict,
            "rule": self.rule,
            "check": self.check,
            "tuned": self.tuned,
            "truth": self.truth,
            "elsewhere": self.elsewhere,
        }


def load_claims(path: Path) -> list[Claim]:
    """Load the claims, and check them by ``claims_schema.json``.

    Raises
    ------
    UserError
        Naming the file, the claim and the field.
    """
    import jsonschema

    try:
        entries = parse_yaml(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise UserError(
            f"{path}: can't be read ({reason(error)}). Fix it there, or restore the file."
        ) from None
    schema = read_json(Path(__file__).with_name("claims_schema.json"))
    errors = jsonschema.Draft202012Validator(schema).iter_errors(entries)
    error = jsonschema.exceptions.best_match(errors)
    if error is not None:
        fields = [*error.absolute_path]
        if fields:
            entry = entries[fields[0]]
            fields[0] = f"claim {fields[0] + 1}"
            if isinstance(entry, dict) and "id" in entry:
                fields[0] = entry["id"]
        where = "".join(f"{field!s:.60}: " for field in fields)
        raise UserError(
            f"{path}: {where}{error.message:.200}. The head of the file explains the fields."
        )
    counts = Counter(entry["id"] for entry in entries)
    doubled = [name for name, count in counts.items() if count > 1]
    if doubled:
        raise UserError(f"{path}: {', '.join(doubled)} stands more than once. Keep one.")
    return [Claim(**entry) for entry in entries]


def make_ledger(
    claims: Sequence[Claim],
    values: Mapping[str, Mapping],
    provenance,
    rests_on: Mapping[str, Collection[str]] | None = None,
    expected: Mapping[str, ExpectedValue] | None = None,
    rates: Mapping[str, Mapping] | None = None,
) -> list[Row]:
    """Compare every claim with what an edition recorded.

    Parameters
    ----------
    claims : sequence of Claim
        What was published.
    values : mapping
        Key -> recorded value.
    provenance : Provenance
        Where the edition's workbook comes from.
    rests_on : mapping, optional
        Notebook -> the tables of released ratings that it reads, each verified by its hash, and nothing else: no
        notebook that reads the edition's workbook. A claim about another work is compared only with what such a
        notebook recorded.
    expected : mapping, optional
        Key -> what is expected of a recorded value in the project's simulated study.
    rates : mapping, optional
        Claim -> how many simulated studies met its rule, with the effect (``effect``), without (``null``), and in
        other studies that the claim names (``also``, a list). Only of
        studies like the one that the values come from.

    Returns
    -------
    list of Row
        One for each claim, in their order.
    """
    has_truth = provenance.kind == "synthetic"
    rows = []
    for claim in claims:
        value = values.get(claim.key)
        outcome = _outcome(claim, values, provenance, rests_on or {})
        recovery = Recovery()
        is_about_the_data = claim.kind != CHECK and not claim.release
        if has_truth and is_about_the_data and value and value["estimate"] is not None:
            recovery = _recovery(claim, value, (expected or {}).get(claim.truth or claim.key))
        rule = _rule_mark(claim, value, outcome, (rates or {}).get(claim.id))
        computed = dict(value) if value else None
        elsewhere = _elsewhere(claim, values)
        rows.append(Row(claim, computed, outcome.verdict, rule, *recovery, elsewhere))
    return rows


class Outcome(NamedTuple):
    """The state of a claim, the reason of a state that needs one, and what came of the published figure."""

    state: State
    why: str = ""
    verdict: str = NOT_COMPARABLE


def _outcome(claim: Claim, values: Mapping, provenance, rests_on: Mapping) -> Outcome:
    """Where a claim stands by what an edition recorded."""
    if claim.not_released:
        return Outcome(State.UNRELEASED, claim.not_released)
    if claim.no_rule:
        return Outcome(State.NO_RULE, claim.no_rule)
    value = values.get(claim.key)
    missing = ""
    if value is None:
        missing = f"no notebook of this edition recorded {claim.key}"
    elif value["estimate"] is None:
        missing = value["reason"]
    is_official = provenance.kind == "official" and provenance.verified
    is_about_the_release = not claim.release and claim.kind != CHECK
    if is_about_the_release and not is_official and not _states_an_effect(claim):
        why = missing
        if provenance.kind == "official":
            why = "this copy of the official workbook is not verified"
        return Outcome(State.WAITING, why)
    if missing:
        return Outcome(State.UNDECIDED, missing)
    absent = [
        table for table in claim.release or () if table not in rests_on.get(value["notebook"], ())
    ]
    if absent:
        return Outcome(State.UNDECIDED, f"not computed from the released table {', '.join(absent)}")
    if claim.compare is None:
        return Outcome(State.NO_RULE, "published in words: read the page beside the claim")
    is_compared = (is_about_the_release and is_official) or bool(claim.release)
    condition = claim.compare.get("when")
    if is_compared and condition and values.get(condition, {}).get("estimate") != "yes":
        return Outcome(State.UNDECIDED, f"not so here: {condition.replace('_', ' ')}")
    passed, why = apply_rule(claim, values)
    if passed is None:
        return Outcome(State.UNDECIDED, why)
    if claim.kind == CHECK:
        return Outcome(State.CONSISTENT if passed else State.CONTRADICTION, why)
    state = State.MET if passed else State.NOT_MET
    if not is_compared:
        return Outcome(state, why)
    return Outcome(state, why, REPRODUCED if passed else DIFFERS)


def _states_an_effect(claim: Claim) -> bool:
    """Whether a claim's rule can be applied to any data; nearness to a published figure is no effect."""
    rule = _rule_of(claim)
    if rule is None or (rule == "flag" and claim.value is not None):
        return False
    return rule not in _ABOUT_A_FIGURE


def _elsewhere(claim: Claim, values: Mapping) -> dict | None:
    """The claim's number from ratings that another study released, and whether they meet the same rule."""
    if claim.elsewhere is None:
        return None
    value = values.get(claim.elsewhere["key"])
    if value is None or value["estimate"] is None:
        return None
    passed, _ = apply_rule(replace(claim, key=value["key"]), values)
    return {"value": dict(value), "study": claim.elsewhere["study"], "passed": passed}


def _rule_mark(
    claim: Claim, value: Mapping | None, outcome: Outcome, counted: Mapping | None
) -> dict:
    """The state, what the rule asks, and how often simulated studies meet it."""
    is_of_simulated_judge = ((value or {}).get("method") or "").startswith(SIMULATED_WORDS)
    if "judge" in (claim.no_effect or {}) and not is_of_simulated_judge:
        counted = None  # those of a simulated judge say nothing of another one
    power = null = None
    also = []
    if counted:
        power = _share_that_met(counted["effect"])
        null = _share_that_met(counted["null"])
        for counts in counted.get("also", ()):
            also.append({"like": counts["like"], "share": _share_that_met(counts)})
    if outcome.state is State.NOT_MET and power == 0:
        why = "no simulated study of this size meets the rule, not even with the effect"
        outcome = outcome._replace(state=State.NO_RULE, why=why)
    return {
        "state": outcome.state,
        "passed": _PASSED.get(outcome.state),
        "asks": _asks(claim, value),
        "why": outcome.why or None,
        "power": power,
        "null": null,
        "also": also,
    }


def _share_that_met(counts: Mapping) -> float:
    """Share of simulated studies that met a rule, of those in which it could be applied."""
    return counts["passed"] / counts["studies"]


def _asks(claim: Claim, value: Mapping | None) -> str | None:
    """What a claim's rule asks, as a sentence."""
    rule = _rule_of(claim)
    if rule is None:
        return None
    unit = (value or {}).get("unit") or claim.unit
    subject = claim.compare.get("number", "")
    if subject and rule in _OF_AN_INTERVAL:
        subject = f"the whole interval of {subject}"
    words = f"{subject} {_rule_in_words(rule, claim.compare[rule], unit)}".strip()
    return f"{words[0].upper()}{words[1:]}."


class Recovery(NamedTuple):
    """Whether the simulation's value was recovered, whether it was tuned, and the value; None of what has none."""

    check: dict | None = None
    tuned: bool = False
    truth: float | None = None


def _recovery(claim: Claim, value: Mapping, expected: ExpectedValue | None) -> Recovery:
    """Compare a value with what was put in or is expected."""
    estimate, low, high, unit = (value[name] for name in ("estimate", "low", "high", "unit"))
    tuned = is_calibrated(value)
    if claim.key in PUT_IN_COUNTS:
        tuned = estimate == claim.value
    if expected is None:
        return Recovery(tuned=tuned)
    truth = expected.value
    distance_in_words = ""
    if expected.is_put_in and low is None:
        passed = estimate == truth
        unit = claim.unit
    elif low is None:
        # The spread over simulated studies stands for the interval, where it is known.
        distance = expected.distance(value)
        if distance is None:
            return Recovery(None, tuned, truth)
        passed = abs(distance) <= BEYOND
        distance_in_words = (
            f"; the estimate lies {abs(distance):.1f} standard errors away, by the spread over "
            "simulated studies"
        )
    else:
        passed = bool(rounded(low) <= rounded(truth) <= rounded(high))
    mark = "recovered" if passed else "not recovered"
    source = "Put in" if expected.is_put_in else "Expected"
    says = f"{source}: {format_number(truth, unit)}{distance_in_words}."
    return Recovery({"passed": passed, "mark": mark, "says": says}, tuned, truth)


def _rule_of(claim: Claim) -> str | None:
    for name in RULES:
        if name in (claim.compare or {}):
            return name
    return None


def apply_rule(claim: Claim, values: Mapping[str, Mapping]) -> tuple[bool | None, str]:
    """Whether recorded values of any data meet a claim's rule.

    Parameters
    ----------
    claim : Claim
        With a rule (``compare``) or without; a condition (``when``) is not asked for.
    values : mapping
        Key -> recorded value.

    Returns
    -------
    passed : bool or None
        None where the rule can't be applied.
    why : str
        Why it can't be applied, or why a flag is not "yes"; else "".

    Examples
    --------
    >>> entry = dict(id="a", title="A", kind="finding", value=None, unit="in words", grade="A", source="abstract")
    >>> entry |= dict(needs="ratings", notebook="06-individualized", key="share")
    >>> claim = Claim(**entry, compare={"beyond": 0.1, "reason": "a tenth of the variance"})
    >>> apply_rule(claim, {"share": {"estimate": 0.3, "low": 0.2, "high": 0.4, "unit": "share of variance"}})
    (True, '')
    """
    value, rule = values.get(claim.key), _rule_of(claim)
    if rule is None:
        return None, "published in words, without a rule"
    if value is None:
        return None, "not recorded here"
    if value["estimate"] is None:
        return None, value["reason"]
    limit = claim.compare[rule]
    if rule == "flag":
        value = values.get(limit, {"estimate": None})
        if value["estimate"] is None:
            why = value.get("reason") or "not recorded here"
            return None, f"{limit.replace('_', ' ')}: {why}"
    if rule in _OF_AN_INTERVAL and value["low"] is None:
        to_tell = "sign" if rule == "sign" else "distance"
        return None, f"there is no interval to tell the {to_tell} by"
    numbers = {part: rounded(number) for part, number in value.items() if isinstance(number, float)}
    passed = bool(_is_met(rule, limit, {**value, **numbers}, claim.value))
    if rule == "flag" and not passed:
        return False, value.get("reason") or ""
    return passed, ""


def summarize(rows: Sequence[Row], *, simulated: bool = False) -> str:
    """One line on the claims about SENSE-7: how many are in each state, and what was recovered of a simulation.

    Claims about other works are compared with their own released numbers, see :func:`summarize_other_works`.

    Parameters
    ----------
    rows : sequence of Row
        The ledger.
    simulated : bool
        Whether the data are simulated, so that claims that are met are no findings.

    Examples
    --------
    >>> summarize([])
    'Ledger: no claims'
    """
    rows = [row for row in rows if not row.claim.release]
    claims = [row for row in rows if row.claim.kind != CHECK]
    checked = [row for row in claims if row.check]
    data = "simulated data" if simulated else "these data"
    sentences = [f"Ledger: {_tally(claims, data)}"]
    contradictions = sum(row.rule["state"] == State.CONTRADICTION for row in rows)
    if contradictions:
        sentences.append(f"Published figures that contradict each other: {contradictions}")
    if checked:
        recovered = sum(row.check["passed"] for row in checked)
        tuned = sum(row.tuned for row in rows)
        note = ""
        if tuned:
            was = "was" if tuned == 1 else "were"
            note = f"; {tuned} of these {was} chosen to lie near a published figure"
        sentences.append(
            f"The method recovered {recovered} of {len(checked)} values of the simulation{note}"
        )
    return ". ".join(sentences)


def summarize_other_works(rows: Sequence[Row]) -> str:
    """One line on the claims about other works, each compared with the numbers that this work released.

    Examples
    --------
    >>> summarize_other_works([])
    'Other works, from the numbers that they released: no claims'
    """
    rows = [row for row in rows if row.claim.release]
    tally = _tally(rows, "released numbers")
    return f"Other works, from the numbers that they released: {tally}"


def _tally(rows: Sequence[Row], data: str = "these data") -> str:
    counts = Counter(row.rule["state"] for row in rows)
    parts = []
    for state, words in _COUNTED.items():
        number = str(counts[state])
        if not parts:
            number += f" of {count_of(len(rows), 'claim')}"
        if counts[state]:
            parts.append(words.format(number, data))
    return ", ".join(parts) or "no claims"
