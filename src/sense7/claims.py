"""The ledger: what was published beside what an edition computed.

Each claim has a state. Real data have verdicts: *met* or *not met* says whether they satisfy the claim's decision rule.
A rule that states an effect is applied to any real data; a published figure needs the official workbook, fetched from
the authors' repository. A figure of another work is compared with the numbers that this work released, pinned by their
hash. Published figures that are checked against each other (kind ``check``) rest on no data and are counted apart.

Simulated data have no verdict: the claim is *rehearsed*. Its row gives the value expected by what was put in, the value
found, and how many simulated studies of this size meet the rule. Where the simulation was set to the published figure,
their agreement shows nothing.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum
from pathlib import Path

from sense7.errors import UserError
from sense7.expected import PUT_IN_COUNTS, ExpectedValue, is_set_to_published
from sense7.files import parse_yaml, read_json, reason, require_schema
from sense7.record import format_number
from sense7.statistics.order import rounded

__all__ = [
    "Claim",
    "Row",
    "State",
    "apply_rule",
    "load_claims",
    "make_ledger",
]

PAPER = "SENSE-7"
"""Name of the paper: claims of other works name theirs."""

CHECK = "check"
"""Kind of a claim whose published figures are checked against each other."""

PRIMARY = ("A", "B")

POWER_FILE = "claims_power.json"
"""How often each claim's rule is met by simulated studies, with the effect and without: name in ``data/``."""


class State(StrEnum):
    """Where a claim stands, in the order in which the states are shown."""

    MET = "met"
    NOT_MET = "not met"
    REHEARSED = "rehearsed"
    WAITING = "needs the official workbook"
    UNDECIDED = "can't be decided by these data"
    NO_RULE = "no rule can decide it"
    UNRELEASED = "in no release"
    CONTRADICTION = "quoted figures contradict each other"
    CONSISTENT = "quoted figures fit each other"


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
    compare: dict | None = None
    no_effect: dict | None = None
    also_simulated: list[dict] | None = None
    release: list[str] | None = None
    smallest: dict | None = None
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
    state : State
        Where the claim stands.
    why : str
        The reason of a state that needs one.
    asks : str or None
        The decision rule as a sentence.
    rehearsal : dict or None
        On simulated data: ``expected``, the value that the simulation should give (None if not known); ``is_put_in``,
        whether that is a parameter; ``is_inside``, whether the interval found contains it (None without an interval);
        ``is_set``, whether the simulation was set to the published figure.
    studies : dict or None
        How many simulated studies met the rule: ``effect``, ``null`` (without the effect), ``also`` (others that the
        claim names), each with ``passed`` and ``studies``. Only where the data are like these studies.
    """

    claim: Claim
    computed: Mapping | None
    state: State
    why: str
    asks: str | None
    rehearsal: dict | None = None
    studies: dict | None = None

    def to_dict(self) -> dict:
        """As plain values for ledger.json, with the address of the cell that computed it, from the top of the book."""
        row = {"id": self.claim.id, **asdict(self)}
        row["published"] = row.pop("claim")
        row["published"]["shown"] = self.claim.published
        row["link"] = None
        if self.computed:
            row["link"] = f"notebooks/{self.computed['notebook']}.html"
            if self.computed.get("cell"):
                row["link"] += f"#cell-{self.computed['cell']}"
        return row


def load_claims(path: Path) -> list[Claim]:
    """Load the claims, and check them by ``claims_schema.json``.

    Raises
    ------
    UserError
        Naming the file, the claim and the field.
    """
    try:
        entries = parse_yaml(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise UserError(f"{path}: can't be read ({reason(error)}). Fix the file.") from None
    schema = read_json(Path(__file__).with_name("claims_schema.json"))
    require_schema(entries, schema, f"{path} (its head explains the fields)")
    return [Claim(**entry) for entry in entries]


def make_ledger(
    claims: Sequence[Claim],
    values: Mapping[str, Mapping],
    provenance,
    rests_on: Mapping[str, Collection[str]],
    expected: Mapping[str, ExpectedValue],
    rates: Mapping[str, Mapping],
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
    rests_on : mapping
        Notebook -> the tables of released ratings that it reads, each verified by its hash, and nothing else: no
        notebook that reads the edition's workbook. A claim about another work is compared only with what such a
        notebook recorded.
    expected : mapping
        Key -> what is expected of a recorded value in the project's simulated study.
    rates : mapping
        Claim -> how many simulated studies met its rule (see :attr:`Row.studies`). Only of studies like the one that
        the values come from.

    Returns
    -------
    list of Row
        One for each claim, in their order.
    """
    rows = []
    for claim in claims:
        value = values.get(claim.key)
        state, why = _state(claim, values, provenance, rests_on)
        rehearsal = None
        if state is State.REHEARSED:
            rehearsal = _rehearsal(claim, value, expected.get(claim.key))
        rows.append(
            Row(
                claim=claim,
                computed=value,
                state=state,
                why=why,
                asks=_asks(claim, value),
                rehearsal=rehearsal,
                studies=rates.get(claim.id),
            )
        )
    return rows


def _state(claim: Claim, values: Mapping, provenance, rests_on: Mapping) -> tuple[State, str]:
    """Where a claim stands by what an edition recorded, and why."""
    if claim.not_released:
        return State.UNRELEASED, claim.not_released
    if claim.no_rule:
        return State.NO_RULE, claim.no_rule
    value = values.get(claim.key)
    missing = ""
    if value is None:
        missing = f"no notebook of this edition recorded {claim.key}"
    elif value["estimate"] is None:
        missing = value["reason"]
    is_about_the_release = not claim.release and claim.kind != CHECK
    if is_about_the_release and provenance.kind == "synthetic":
        return (State.UNDECIDED, missing) if missing else (State.REHEARSED, "")
    is_official = provenance.kind == "official" and provenance.verified
    if is_about_the_release and not is_official and not _states_an_effect(claim):
        why = missing
        if provenance.kind == "official":
            why = "this copy of the official workbook is not verified"
        return State.WAITING, why
    if missing:
        return State.UNDECIDED, missing
    absent = [
        table for table in claim.release or () if table not in rests_on.get(value["notebook"], ())
    ]
    if absent:
        return State.UNDECIDED, f"not computed from the released table {', '.join(absent)}"
    if claim.compare is None:
        return State.NO_RULE, "published in words: read the page beside the claim"
    condition = claim.compare.get("when")
    is_compared = bool(is_official or claim.release)
    if is_compared and condition and values.get(condition, {}).get("estimate") != "yes":
        return State.UNDECIDED, f"not so here: {condition.replace('_', ' ')}"
    passed, why = apply_rule(claim, values)
    if passed is None:
        return State.UNDECIDED, why
    if claim.kind == CHECK:
        return State.CONSISTENT if passed else State.CONTRADICTION, why
    return State.MET if passed else State.NOT_MET, why


def _states_an_effect(claim: Claim) -> bool:
    """Whether a claim's rule can be applied to any data; nearness to a published figure is no effect."""
    rule = _rule_of(claim)
    if rule is None or (rule == "flag" and claim.value is not None):
        return False
    return rule not in _ABOUT_A_FIGURE


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


def _rehearsal(claim: Claim, value: Mapping, expected: ExpectedValue | None) -> dict:
    """What simulated data should give, and whether the interval found contains it."""
    is_set = is_set_to_published(value)
    if claim.key in PUT_IN_COUNTS:
        is_set = value["estimate"] == claim.value
    rehearsal = {"expected": None, "is_put_in": False, "is_inside": None, "is_set": is_set}
    if expected is not None:
        rehearsal["expected"] = expected.value
        rehearsal["is_put_in"] = expected.is_put_in
        if value["low"] is not None:
            low, truth, high = map(rounded, (value["low"], expected.value, value["high"]))
            rehearsal["is_inside"] = bool(low <= truth <= high)
    return rehearsal


def _rule_of(claim: Claim) -> str | None:
    return next((name for name in RULES if name in (claim.compare or {})), None)


def apply_rule(claim: Claim, values: Mapping[str, Mapping]) -> tuple[bool | None, str]:
    """Whether recorded values of any data meet a claim's rule.

    Parameters
    ----------
    claim : Claim
        With a rule (``compare``); a condition (``when``) is not asked for.
    values : mapping
        Key -> recorded value. The claim's own has an estimate.

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
    value, rule = values[claim.key], _rule_of(claim)
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
