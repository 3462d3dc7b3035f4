"""The ledger: what was published beside what an edition computed, with one verdict each.

A verdict says no more than the data allow:

- ``reproduced`` or ``differs``: of a claim about SENSE-7, the official workbook, fetched from the authors'
  repository, and nothing else; of a claim about another work, the numbers that this work released, pinned by their
  hash, and nothing else;
- ``recovered``, ``consistent`` or ``missed``: synthetic data, whether the truth that the planted parameters imply lies
  inside the interval; consistent where it does and the interval is wide, see ``PRECISE``. Where a truth was set near
  the published figure ("tuned"), being near the published figure is no evidence for it;
- ``by construction``: synthetic data, counts that were planted;
- ``possible`` or ``impossible as published``: a check of published figures against each other (kind ``check``), which
  rests on no data and is the same in every edition;
- ``not comparable``: any other data;
- ``cannot be computed here``: with the reason.
"""

import json
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from sense7.errors import UserError
from sense7.files import parse_yaml, reason
from sense7.implied import BEYOND, INDEPENDENT, ImpliedTruth
from sense7.record import format_distinct, format_number
from sense7.sources.released import RELEASED

__all__ = ["Claim", "Row", "apply_rule", "load_claims", "make_ledger", "summarize", "summarize_other_works"]

REPRODUCED = "reproduced"
DIFFERS = "differs"
RECOVERED = "recovered"
CONSISTENT = "consistent"
MISSED = "missed"
BY_CONSTRUCTION = "by construction"
POSSIBLE = "possible as published"
IMPOSSIBLE = "impossible as published"
NOT_COMPARABLE = "not comparable"
NOT_COMPUTED = "cannot be computed here"
VERDICTS = (
    *(REPRODUCED, DIFFERS),
    *(RECOVERED, CONSISTENT, MISSED, BY_CONSTRUCTION),
    *(POSSIBLE, IMPOSSIBLE),
    *(NOT_COMPARABLE, NOT_COMPUTED),
)
PRECISE = 0.25
"""Largest half-width of an interval, as a share of the truth inside it, with which a truth is called recovered.

An interval this narrow that holds the truth lies, wherever the truth is inside it, between half the truth and one and a
half times it: it excludes no effect, and an effect half as large. A wider one would hold many other truths as well.
"""

CHECK = "check"
"""Kind of a claim whose published figures are checked against each other."""

P_VALUE = "p value"
"""Unit of what is judged by its rule alone: no truth of a p value can be stated."""

PRIMARY = ("A", "B")

POWER_FILE = "claims_power.json"
"""How often each claim's rule is passed by simulated studies, with the effect and without: name in ``data/``."""

RULES = ("within", "at_most", "above", "beyond", "significant", "counts", "flag", "sign")
"""Kinds of rule that a claim may be judged by, one each."""

OF_AN_EFFECT = ("beyond", "significant", "counts", "flag", "sign")
"""Rules that state an effect, so that simulated data can pass or fail them; the others are about a published figure."""

OUTCOMES = {True: "passed", False: "not passed", None: "can't be decided"}
"""Outcomes of a claim's rule in words, in the order in which they are shown."""

ONLY_OFFICIAL = "Only the official workbook can be compared with a published figure"


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
    of: str = "SENSE-7"
    also: str | None = None
    truth: str | None = None
    compare: dict | None = None
    no_effect: dict | None = None
    release: list[str] | None = None
    elsewhere: dict | None = None
    why_not: str | None = None
    contradiction: str | None = None

    @property
    def published(self) -> str:
        """The published figure with the digits it was published with; "in words" if it has none."""
        if self.value is None:
            return "in words"
        shown = f"{round(100 * self.value, 9):g}%" if self.unit.startswith("share") else f"{self.value:,g}"
        return f"above {shown}" if "above" in (self.compare or {}) else shown


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
        One of ``VERDICTS``.
    why : str
        What the verdict rests on.
    tuned : bool
        Whether the synthetic truth was set near the published figure.
    truth : float or None
        The planted or implied value.
    precision : float or None
        Half the interval's width as a share of the truth, on synthetic data.
    rule : dict or None
        The first mark, whether these data pass the claim's rule: ``passed`` (None where that cannot be decided),
        ``mark``, ``asks`` (the rule in a sentence), ``why`` where it cannot be decided, ``power`` and ``null`` (how
        often simulated studies pass it with the effect and without; None where that was not counted).
    check : dict or None
        The second mark, on synthetic data: whether the interval contains the true value that was put into the
        simulation: ``passed``, ``mark`` and ``says``. It says nothing about the claim.
    elsewhere : dict or None
        The same number from ratings that another study released, where they bear on the claim: ``value``, ``study`` and
        whether they pass the same rule (``passed``).
    """

    claim: Claim
    computed: dict | None
    verdict: str
    why: str
    tuned: bool = False
    truth: float | None = None
    precision: float | None = None
    rule: dict | None = None
    check: dict | None = None
    elsewhere: dict | None = None

    @property
    def link(self) -> str | None:
        """Address of the cell that computed it, relative to the top of the book."""
        if self.computed is None:
            return None
        cell = self.computed.get("cell")
        return f"notebooks/{self.computed['notebook']}.html" + (f"#cell-{cell}" if cell else "")

    @property
    def primary(self) -> bool:
        """Whether the figure comes from a primary source."""
        return self.claim.grade in PRIMARY

    def to_dict(self) -> dict:
        """As plain values for ledger.json."""
        claim = asdict(self.claim) | {"shown": self.claim.published}
        return {
            "id": claim.pop("id"),
            "published": claim,
            "computed": self.computed,
            "link": self.link,
            "verdict": self.verdict,
            "why": self.why,
            "tuned": self.tuned,
            "truth": self.truth,
            "precision": self.precision,
            "rule": self.rule,
            "check": self.check,
            "elsewhere": self.elsewhere,
        }


def load_claims(path: Path) -> list[Claim]:
    """Load the claims, and check them by ``claims_schema.json`` and by each other.

    Raises
    ------
    UserError
        Naming the file, the claim and the field.
    """
    import jsonschema

    try:
        entries = parse_yaml(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise UserError(f"{path}: can't be read ({reason(error)}). Fix it there, or restore the file.") from None
    schema = json.loads(Path(__file__).with_name("claims_schema.json").read_text(encoding="utf-8"))
    if error := jsonschema.exceptions.best_match(jsonschema.Draft202012Validator(schema).iter_errors(entries)):
        number, *fields = [*error.absolute_path, None][: len(error.absolute_path) or 1]
        name = "" if number is None else f"{_name_of(entries[number], number)}: "
        field = "".join(f"{field}: " for field in fields)
        raise UserError(f"{path}: {name}{field}{error.message:.200}. The head of the file explains the fields.")
    for number, entry in enumerate(entries):
        if problem := _contradiction(entry):
            raise UserError(f"{path}: {_name_of(entry, number)}: {problem}")
    doubled = [name for name, count in Counter(entry["id"] for entry in entries).items() if count > 1]
    if doubled:
        raise UserError(f"{path}: {', '.join(doubled)} stands more than once. Keep one.")
    return [Claim(**entry) for entry in entries]


def _name_of(entry: object, number: int) -> str:
    return f"{entry['id']!s:.60}" if isinstance(entry, dict) and "id" in entry else f"claim {number + 1}"


def _contradiction(entry: Mapping) -> str | None:
    """What of a claim contradicts another part of it, and how to fix it; None if nothing does."""
    compare, value, of = entry.get("compare") or {}, entry["value"], entry.get("of", "SENSE-7")
    for number in (value, *compare.values()):  # a schema takes nan and whole numbers beyond floats for numbers
        if isinstance(number, int | float) and not abs(number) < 1e300:
            return f"{str(number)[:40]} is no number to compute with. Write another, or null."
    if compare and len(compare.keys() & set(RULES)) != 1:
        return f"compare: more than one rule, or none. Give one of {', '.join(RULES)}."
    for rule, others in (("above", ()), ("counts", (None,))):
        if rule in compare and value not in (compare[rule], *others):
            return f"compare: {rule} is {compare[rule]!r}, and the published value {value!r}. Correct one of the two."
    for table in entry.get("release", ()):
        if table not in RELEASED:
            return f"release: there is no table {table!r:.60}. Known: {', '.join(RELEASED)}."
        if of != RELEASED[table].work:
            return (
                f"release: {table} was released with {RELEASED[table].work}, and the claim is of {of}. "
                "A claim is only compared with numbers of its own work: correct one of the two."
            )
    return None


def make_ledger(
    claims: Sequence[Claim],
    values: Mapping[str, Mapping],
    provenance,
    truth: Mapping | None,
    rests_on: Mapping[str, Collection[str]] | None = None,
    implied: Mapping[str, ImpliedTruth] | None = None,
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
    truth : mapping or None
        Truth of a synthetic workbook, as it is stored beside it.
    rests_on : mapping, optional
        Notebook -> the tables of released ratings that it reads, each verified by its hash, and nothing else: no
        notebook that reads the edition's workbook. A claim about another work is compared only with what such a
        notebook recorded.
    implied : mapping, optional
        Key -> what the parameters of a synthetic workbook imply for a recorded value; for claims whose truth is not
        named in the truth file.
    rates : mapping, optional
        Claim -> how many simulated studies passed its rule, with the effect (``planted``) and without (``null``).

    Returns
    -------
    list of Row
        One for each claim, in their order.
    """
    planted = {entry["key"]: entry for entry in (truth or {}).get("planted", ())}
    rows = [_row(claim, values, provenance, (planted, implied or {}), rests_on or {}) for claim in claims]
    rows = [
        replace(row, rule=_rule_mark(row, rates or {}), check=_check_mark(row), elsewhere=_elsewhere(row.claim, values))
        for row in rows
    ]
    if not values.get("rescaled_columns", {}).get("estimate"):
        return rows
    note = "; ratings on another scale were rescaled to the official one"
    return [replace(row, why=row.why + note) if row.computed and not row.claim.release else row for row in rows]


def _row(claim: Claim, values: Mapping, provenance, truths: tuple[Mapping, Mapping], rests_on: Mapping) -> Row:
    value = values.get(claim.key)
    if claim.key is None:
        return Row(claim, None, NOT_COMPUTED, claim.why_not)
    if value is None:
        return Row(claim, None, NOT_COMPUTED, f"no notebook of this edition recorded {claim.key}")
    if value["estimate"] is None:
        return Row(claim, dict(value), NOT_COMPUTED, value["reason"])
    if claim.kind == CHECK:
        passed, words = apply_rule(claim, values)
        verdict = {True: POSSIBLE, False: IMPOSSIBLE, None: NOT_COMPARABLE}[passed]
        return Row(claim, dict(value), verdict, f"{words} ({claim.compare['reason']})")
    if claim.release:
        if absent := [table for table in claim.release if table not in rests_on.get(value["notebook"], ())]:
            return Row(claim, dict(value), NOT_COMPARABLE, f"not computed from the released table {', '.join(absent)}")
        return _reproduction(claim, value, values)
    if provenance.kind == "synthetic":
        planted, implied = (known.get(claim.truth or claim.key) for known in truths)
        row = _recovery(claim, value, planted, implied)
        return replace(row, rule=_passed(claim, values) or {"passed": None, "words": ONLY_OFFICIAL})
    if provenance.kind != "official" or not provenance.verified:
        official = provenance.kind == "official"
        why = "an unverified copy of the official workbook" if official else "the data are not the SENSE-7 release"
        return Row(claim, dict(value), NOT_COMPARABLE, why, rule=_passed(claim, values))
    return _reproduction(claim, value, values)


def _elsewhere(claim: Claim, values: Mapping) -> dict | None:
    """The claim's number from ratings that another study released, and whether they pass the same rule."""
    value = values.get(claim.elsewhere["key"]) if claim.elsewhere else None
    if value is None or value["estimate"] is None:
        return None
    passed, _ = apply_rule(replace(claim, key=value["key"]), values)
    return {"value": dict(value), "study": claim.elsewhere["study"], "passed": passed}


def _rule_mark(row: Row, rates: Mapping[str, Mapping]) -> dict:
    """Whether these data pass a claim's rule, what it asks, and how often simulated studies pass it."""
    claim = row.claim
    decided = {REPRODUCED: True, POSSIBLE: True, DIFFERS: False, IMPOSSIBLE: False}
    passed = row.rule["passed"] if row.rule else decided.get(row.verdict)
    why = None if passed is not None else row.rule["words"] if row.rule else row.why
    counted = rates.get(claim.id, {})
    power, null = (
        counted[world]["passed"] / counted[world]["studies"] if counted else None for world in ("planted", "null")
    )
    mark = f"{OUTCOMES[passed]} by these data"
    if passed is False and power == 0:
        passed, mark = None, "can't be decided by this design"
        why = "no simulated study passes the rule, not even with the effect"
    return {"passed": passed, "mark": mark, "asks": _asks(row), "why": why, "power": power, "null": null}


def _asks(row: Row) -> str | None:
    """The rule of a claim in a sentence; None of a claim without one."""
    compare = row.claim.compare
    if not compare:
        return None
    rule = next(name for name in RULES if name in compare)
    given, unit = compare[rule], (row.computed or {}).get("unit") or row.claim.unit
    number = compare.get("number", "the value")
    subject = number[0].upper() + number[1:]
    if rule == "flag":
        return f"{subject}."
    if rule in ("beyond", "sign"):
        side = "above" if rule == "beyond" else {"positive": "above", "negative": "below"}.get(given, "on one side of")
        limit = format_number(given, unit) if rule == "beyond" and given else "zero"
        return f"The whole interval of {number} has to lie {side} {limit}."
    if rule == "significant":
        return f"The p value of {number} has to be at most {given:g}."
    if rule == "within" and given:
        distance = f"{100 * given:g} percentage points" if unit.startswith("share") else f"{given:g}"
        return f"{subject} has to lie within {distance} of the published one."
    asked = {
        "counts": lambda: f"be {given:,}",
        "within": lambda: "be the published one",
        "at_most": lambda: f"be at most {format_number(given, unit)}",
        "above": lambda: f"lie above {format_number(given, unit)}",
    }
    return f"{subject} has to {asked[rule]()}."


_CHECKED = {RECOVERED: True, CONSISTENT: True, BY_CONSTRUCTION: True, MISSED: False}
"""Verdict on synthetic data -> whether what was put into them was found."""


def _check_mark(row: Row) -> dict | None:
    """Whether the method finds what is true of synthetic data; None on other data, and of what has no truth."""
    passed = _CHECKED.get(row.verdict)
    if passed is None:
        return None
    if row.verdict == BY_CONSTRUCTION or row.computed["low"] is None:
        says, mark = f"{row.why[:1].upper()}{row.why[1:]}.", "found again" if passed else "not found again"
    else:
        truth = format_number(row.truth, row.computed["unit"])
        of = "was put into" if "(planted)" in row.why else "follows from"
        says = f"The interval {'contains' if passed else 'misses'} {truth}, which {of} the simulation."
        mark = f"true value {'inside' if passed else 'outside'}"
    return {"passed": passed, "mark": mark, "says": says}


def _recovery(claim: Claim, value: Mapping, planted: Mapping | None, implied: ImpliedTruth | None) -> Row:
    if value["unit"] == P_VALUE:
        return Row(claim, dict(value), NOT_COMPARABLE, "a p value has no truth that could be stated; see its rule")
    if planted is None and implied is None:
        return Row(claim, dict(value), NOT_COMPARABLE, "synthetic data without a truth under this name")
    if planted is None:
        truth, tuned, source = implied.value, False, f"implied, by {implied.source}"
    else:
        truth, tuned = planted["value"], bool(planted.get("tuned"))
        source = f"implied, by {INDEPENDENT}" if planted.get("kind") == "implied" else "planted"
    row = Row(claim, dict(value), NOT_COMPARABLE, "", tuned, truth)
    estimate, low, high, unit = (value[name] for name in ("estimate", "low", "high", "unit"))
    if isinstance(truth, str) or (planted or {}).get("kind") == "count":
        same, counted = estimate == truth, not isinstance(truth, str)
        verdict = (BY_CONSTRUCTION if counted else RECOVERED) if same else MISSED
        why = f"{format_number(truth, claim.unit)} ({source}) was {'' if same else 'not '}found"
        return replace(row, verdict=verdict, why=why)
    if low is None:
        return replace(row, **_without_interval(value, truth, implied, source))
    texts = format_distinct([truth, low, high], unit)
    if not low <= truth <= high:
        why = f"{texts[0]} ({source}) lies outside the interval, [{texts[1]}, {texts[2]}]"
        return replace(row, verdict=MISSED, why=why, precision=_precision(low, high, truth))
    precision = _precision(low, high, truth)
    recovered = precision is not None and precision <= PRECISE
    width = (
        "its precision can't be said of a truth of zero" if precision is None else f"precision {_percent(precision)}"
    )
    why = f"{texts[0]} ({source}) lies inside the interval; {width}"
    return replace(row, verdict=RECOVERED if recovered else CONSISTENT, why=why, precision=precision)


def _precision(low: float, high: float, truth: float) -> float | None:
    """Half the interval's width as a share of the truth; None of a truth of zero."""
    return (high - low) / 2 / abs(truth) if truth else None


def _percent(share: float) -> str:
    """A share in percent with at least two digits that are not zero."""
    return f"{share:.0%}" if share >= 0.1 else f"{100 * share:.2g}%"


def _without_interval(value: Mapping, truth: float, implied: ImpliedTruth | None, source: str) -> dict:
    """Verdict of a value without an interval: its spread over simulated studies stands for it, where it is known."""
    distance = None if implied is None or not implied.sd else replace(implied, value=truth).distance(value)
    if distance is None:
        return {"why": "there is no interval to compare the truth with"}
    shown = format_number(truth, value["unit"])
    why = f"{shown} ({source}) lies {abs(distance):.1f} standard errors away, by the spread over simulated studies"
    return {"verdict": CONSISTENT if abs(distance) <= BEYOND else MISSED, "why": why}


def _passed(claim: Claim, values: Mapping) -> dict | None:
    """Whether data pass the rule of a claim that states an effect; None for a claim without such a rule."""
    if not set(OF_AN_EFFECT) & set(claim.compare or {}) or ("flag" in claim.compare and claim.value is not None):
        return None  # nearness to a published figure is no effect
    passed, words = apply_rule(claim, values)
    return {"passed": passed, "words": words}


def _reproduction(claim: Claim, value: Mapping, values: Mapping) -> Row:
    if claim.compare is None:
        return Row(claim, dict(value), NOT_COMPARABLE, "published in words: read the page beside the claim")
    condition = claim.compare.get("when")
    if condition and values.get(condition, {}).get("estimate") != "yes":
        return Row(claim, dict(value), NOT_COMPARABLE, f"not so here: {condition.replace('_', ' ')}")
    passed, rule = apply_rule(claim, values)
    if passed is None:
        return Row(claim, dict(value), NOT_COMPARABLE, rule)
    verdict = REPRODUCED if passed else DIFFERS
    words = f"{'agrees' if passed else 'does not agree'} {rule} ({claim.compare['reason']})"
    return Row(claim, dict(value), verdict, words)


def apply_rule(claim: Claim, values: Mapping[str, Mapping]) -> tuple[bool | None, str]:
    """Whether recorded values of any data pass a claim's rule.

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
    words : str
        The rule, to follow "agrees" or "does not agree"; where it can't be applied, why.

    Examples
    --------
    >>> entry = dict(id="a", title="A", kind="finding", value=None, unit="in words", grade="A", source="abstract")
    >>> entry |= dict(needs="ratings", notebook="10-individualized", key="share")
    >>> claim = Claim(**entry, compare={"beyond": 0.1, "reason": "a tenth of the variance"})
    >>> apply_rule(claim, {"share": {"estimate": 0.3, "low": 0.2, "high": 0.4, "unit": "share of variance"}})
    (True, 'with the whole interval above 10.0%')
    """
    value = values.get(claim.key)
    if claim.compare is None:
        return None, "published in words, without a rule"
    if value is None:
        return None, "not recorded here"
    if value["estimate"] is None:
        return None, value["reason"]
    rule = next(name for name in RULES if name in claim.compare)
    if rule in ("sign", "beyond") and value["low"] is None:
        return None, f"there is no interval to tell the {'sign' if rule == 'sign' else 'distance'} by"
    return _APPLIED[rule](claim.compare[rule], claim, value, values)


def _flag(key: str, claim: Claim, value: Mapping, values: Mapping) -> tuple[bool | None, str]:
    flag, rule = values.get(key, {}), key.replace("_", " ")
    if flag.get("estimate") is None:
        return None, f"{rule}: {flag.get('reason') or 'not recorded here'}"
    return flag["estimate"] == "yes", rule if flag["estimate"] == "yes" else f"{rule}: {flag['estimate']}"


def _sign(wanted: str, claim: Claim, value: Mapping, values: Mapping) -> tuple[bool, str]:
    signs = {"positive": value["low"] > 0, "negative": value["high"] < 0}
    return signs.get(wanted, any(signs.values())), f"in sign: the whole interval on one side of zero ({wanted})"


_APPLIED = {
    # Guards against 0.966 - 0.961 being slightly above 0.005.
    "within": lambda most, claim, value, _: (
        abs(value["estimate"] - claim.value) <= most + 1e-12,
        f"within {most:g}" if most else "exactly",
    ),
    "at_most": lambda limit, claim, value, _: (
        0 < value["estimate"] <= limit,
        f"at most {format_number(limit, claim.unit)}",
    ),
    "above": lambda limit, claim, value, _: (value["estimate"] > limit, f"above {format_number(limit, claim.unit)}"),
    "beyond": lambda limit, claim, value, _: (
        value["low"] > limit,
        f"with the whole interval above {format_number(limit, value['unit'])}",
    ),
    "significant": lambda level, claim, value, _: (
        value["estimate"] <= level,
        f"at the level of significance {level:g}",
    ),
    "counts": lambda number, claim, value, _: (value["estimate"] == number, f"with a count of {number:,}"),
    "flag": _flag,
    "sign": _sign,
}
"""Rule -> its limit, the claim, its value and all values -> whether it is passed, and its words."""


def summarize(rows: Sequence[Row]) -> str:
    """One line on the claims about SENSE-7: both marks counted.

    Claims about other works that are compared with their own released numbers are not counted, see
    :func:`summarize_other_works`.

    Examples
    --------
    >>> summarize([])
    'Ledger: no claims'
    """
    rows = [row for row in rows if not row.claim.release]
    checks = [row.check["passed"] for row in rows if row.check]
    tuned = sum(row.tuned for row in rows)
    note = f" ({tuned} with a truth tuned to a published figure)" if tuned else ""
    check = f"; check of the method: {sum(checks)} of {len(checks)} true values found{note}" if checks else ""
    return f"Ledger: {_tally(rows)}{check}"


def summarize_other_works(rows: Sequence[Row]) -> str:
    """One line on the claims about other works, each compared with the numbers that this work released.

    Examples
    --------
    >>> summarize_other_works([])
    'Other works, from the numbers that they released: no claims'
    """
    rows = [row for row in rows if row.claim.release]
    return f"Other works, from the numbers that they released: {_tally(rows)}"


def _tally(rows: Sequence[Row]) -> str:
    counts = Counter(row.rule["passed"] for row in rows)
    said = ", ".join(f"{counts[passed]} {words}" for passed, words in OUTCOMES.items() if counts[passed])
    return f"claim's rule {said}" if rows else "no claims"
