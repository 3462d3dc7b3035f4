"""The ledger: what was published beside what an edition computed, with two marks for each claim.

The first mark is the claim's rule: passed, not passed, or can't be decided. A rule that states an effect is applied to
any data. A published figure is only compared with the official workbook, fetched from the authors' repository, and
nothing else ("reproduced" or "differs"); that of another work only with the numbers that this work released, pinned by
their hash. A check of published figures against each other (kind ``check``) rests on no data.

The second mark is a check of the method, on synthetic data: whether what was put into the simulation is found again. It
says nothing about the claim. Where a truth was set near the published figure ("tuned"), being near the published figure
is no evidence for it.
"""

import json
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import NamedTuple

from sense7.errors import UserError
from sense7.estimators.order import rounded
from sense7.files import parse_yaml, reason
from sense7.implied import BEYOND, INDEPENDENT, ImpliedTruth
from sense7.record import P_VALUE, format_number

__all__ = [
    "Claim",
    "Row",
    "apply_rule",
    "load_claims",
    "make_ledger",
    "summarize",
    "summarize_other_works",
]

REPRODUCED, DIFFERS, NOT_COMPARABLE = "reproduced", "differs", "not comparable"
"""What came of comparing a published figure with the numbers that it was computed from."""

CHECK = "check"
"""Kind of a claim whose published figures are checked against each other."""

PRIMARY = ("A", "B")

POWER_FILE = "claims_power.json"
"""How often each claim's rule is passed by simulated studies, with the effect and without: name in ``data/``."""

OUTCOMES = {True: "passed", False: "not passed", None: "can't be decided"}
"""Outcomes of a claim's rule in words, in the order in which they are shown."""

ONLY_OFFICIAL = "Only the official workbook can be compared with a published figure"


class Rule(NamedTuple):
    """A kind of rule: whether a value passes it, and what it asks of the value.

    ``passes`` takes the limit, the value (numbers rounded) and the published figure, ``asks`` the limit and the unit. A
    rule that ``states_an_effect`` can be passed or failed by any data; the others are about a published figure.
    """

    passes: Callable[[object, Mapping, float | None], bool]
    asks: Callable[[object, str], str]
    states_an_effect: bool = True
    needs_an_interval: bool = False


def _near(most: float, unit: str) -> str:
    distance = f"{100 * most:g} percentage points" if unit.startswith("share") else f"{most:g}"
    return f"lie within {distance} of the published one" if most else "be the published one"


RULES = {
    "within": Rule(
        lambda most, value, published: rounded(abs(value["estimate"] - published)) <= most,
        _near,
        False,
    ),
    "at_most": Rule(
        lambda limit, value, _: 0 < value["estimate"] <= limit,
        lambda limit, unit: f"be at most {format_number(limit, unit)}",
        states_an_effect=False,
    ),
    "above": Rule(
        lambda limit, value, _: value["estimate"] > limit,
        lambda limit, unit: f"lie above {format_number(limit, unit)}",
        states_an_effect=False,
    ),
    "beyond": Rule(
        lambda limit, value, _: value["low"] > limit,
        lambda limit, unit: f"lie above {format_number(limit, unit) if limit else 'zero'}",
        needs_an_interval=True,
    ),
    "significant": Rule(
        lambda level, value, _: value["estimate"] <= level,
        lambda level, unit: f"be at most {level:g}",
    ),
    "counts": Rule(
        lambda number, value, _: value["estimate"] == number, lambda number, unit: f"be {number:,}"
    ),
    "flag": Rule(
        lambda key, value, _: value["estimate"] == "yes", lambda key, unit: ""
    ),  # of another value
    "sign": Rule(
        lambda wanted, value, _: value["low"] > 0 if wanted == "positive" else value["high"] < 0,
        lambda wanted, unit: f"lie {'above' if wanted == 'positive' else 'below'} zero",
        needs_an_interval=True,
    ),
}
"""Kinds of rule that a claim may be judged by, one each."""

_SUBJECTS = {"significant": "the p value of {}"} | dict.fromkeys(
    ("beyond", "sign"), "the whole interval of {}"
)


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
        shown = (
            f"{round(100 * self.value, 9):g}%"
            if self.unit.startswith("share")
            else f"{self.value:,g}"
        )
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
        Whether the published figure was reproduced, differs, or was not compared with these data.
    rule : dict
        The first mark, whether these data pass the claim's rule: ``passed`` (None where that cannot be decided),
        ``mark``, ``asks`` (the rule in a sentence), ``why`` where it cannot be decided, ``power`` and ``null`` (how
        often simulated studies pass it with the effect and without; None where that was not counted).
    check : dict or None
        The second mark, on synthetic data: whether the interval contains the true value that was put into the
        simulation: ``passed``, ``mark`` and ``says``.
    tuned : bool
        Whether the synthetic truth was set near the published figure.
    truth : float, str or None
        The planted or implied value.
    elsewhere : dict or None
        The same number from ratings that another study released, where they bear on the claim: ``value``, ``study`` and
        whether they pass the same rule (``passed``).
    """

    claim: Claim
    computed: dict | None
    verdict: str
    rule: dict
    check: dict | None = None
    tuned: bool = False
    truth: float | str | None = None
    elsewhere: dict | None = None

    def to_dict(self) -> dict:
        """As plain values for ledger.json, with the address of the cell that computed it, from the top of the book."""
        published, link = asdict(self.claim) | {"shown": self.claim.published}, None
        if self.computed:
            cell = self.computed.get("cell")
            link = f"notebooks/{self.computed['notebook']}.html" + (f"#cell-{cell}" if cell else "")
        return {
            "id": published.pop("id"),
            "published": published,
            "computed": self.computed,
            "link": link,
        } | {
            name: getattr(self, name)
            for name in ("verdict", "rule", "check", "tuned", "truth", "elsewhere")
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
    schema = json.loads(Path(__file__).with_name("claims_schema.json").read_text(encoding="utf-8"))
    if error := jsonschema.exceptions.best_match(
        jsonschema.Draft202012Validator(schema).iter_errors(entries)
    ):
        place = [*error.absolute_path]
        if place:
            entry = entries[place[0]]
            place[0] = (
                entry["id"]
                if isinstance(entry, dict) and "id" in entry
                else f"claim {place[0] + 1}"
            )
        where = "".join(f"{part!s:.60}: " for part in place)
        raise UserError(
            f"{path}: {where}{error.message:.200}. The head of the file explains the fields."
        )
    doubled = [
        name for name, count in Counter(entry["id"] for entry in entries).items() if count > 1
    ]
    if doubled:
        raise UserError(f"{path}: {', '.join(doubled)} stands more than once. Keep one.")
    return [Claim(**entry) for entry in entries]


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
    rows = []
    for claim in claims:
        value, known = values.get(claim.key), claim.truth or claim.key
        passed, why, verdict = _outcome(claim, values, provenance, rests_on or {})
        checked, simulated = (
            (None, False, None),
            provenance.kind == "synthetic" and not claim.release,
        )
        if simulated and claim.kind != CHECK and value and value["estimate"] is not None:
            checked = _check(claim, value, planted.get(known), (implied or {}).get(known))
        rule = _rule_mark(claim, value, passed, why, (rates or {}).get(claim.id))
        computed = None if value is None else dict(value)
        rows.append(Row(claim, computed, verdict, rule, *checked, _elsewhere(claim, values)))
    return rows


def _outcome(
    claim: Claim, values: Mapping, provenance, rests_on: Mapping
) -> tuple[bool | None, str, str]:
    """Whether these data pass a claim's rule, why not if it can't be decided, and what came of the published figure."""
    value = values.get(claim.key)
    if claim.key is None or value is None:
        return (
            None,
            claim.why_not or f"no notebook of this edition recorded {claim.key}",
            NOT_COMPARABLE,
        )
    if value["estimate"] is None:
        return None, value["reason"], NOT_COMPARABLE
    if claim.kind == CHECK:
        return *apply_rule(claim, values), NOT_COMPARABLE
    absent = [
        table for table in claim.release or () if table not in rests_on.get(value["notebook"], ())
    ]
    if absent:
        return None, f"not computed from the released table {', '.join(absent)}", NOT_COMPARABLE
    if not claim.release and not (provenance.kind == "official" and provenance.verified):
        rule = _rule_of(claim)
        effect = (
            rule
            and RULES[rule].states_an_effect
            and not (rule == "flag" and claim.value is not None)
        )
        if effect:  # nearness to a published figure is none
            return *apply_rule(claim, values), NOT_COMPARABLE
        others = {
            "synthetic": ONLY_OFFICIAL,
            "official": "an unverified copy of the official workbook",
        }
        return (
            None,
            others.get(provenance.kind, "the data are not the SENSE-7 release"),
            NOT_COMPARABLE,
        )
    if claim.compare is None:
        return None, "published in words: read the page beside the claim", NOT_COMPARABLE
    condition = claim.compare.get("when")
    if condition and values.get(condition, {}).get("estimate") != "yes":
        return None, f"not so here: {condition.replace('_', ' ')}", NOT_COMPARABLE
    passed, why = apply_rule(claim, values)
    return passed, why, {True: REPRODUCED, False: DIFFERS, None: NOT_COMPARABLE}[passed]


def _elsewhere(claim: Claim, values: Mapping) -> dict | None:
    """The claim's number from ratings that another study released, and whether they pass the same rule."""
    value = values.get(claim.elsewhere["key"]) if claim.elsewhere else None
    if value is None or value["estimate"] is None:
        return None
    passed, _ = apply_rule(replace(claim, key=value["key"]), values)
    return {"value": dict(value), "study": claim.elsewhere["study"], "passed": passed}


def _rule_mark(
    claim: Claim, value: Mapping | None, passed: bool | None, why: str, counted: Mapping | None
) -> dict:
    """The first mark: the outcome, what the rule asks, and how often simulated studies pass it."""
    power, null = (
        counted[world]["passed"] / counted[world]["studies"] if counted else None
        for world in ("planted", "null")
    )
    mark, why = f"{OUTCOMES[passed]} by these data", why or None
    if passed is False and power == 0:
        passed, mark = None, "can't be decided by this design"
        why = "no simulated study passes the rule, not even with the effect"
    asks = None
    if rule := _rule_of(claim):
        number, unit = (
            claim.compare.get("number", "the value"),
            (value or {}).get("unit") or claim.unit,
        )
        subject = _SUBJECTS.get(rule, "{}").format(number)
        asked = RULES[rule].asks(claim.compare[rule], unit)
        asks = f"{subject[0].upper()}{subject[1:]}{f' has to {asked}' if asked else ''}."
    return {"passed": passed, "mark": mark, "asks": asks, "why": why, "power": power, "null": null}


def _check(
    claim: Claim, value: Mapping, planted: Mapping | None, implied: ImpliedTruth | None
) -> tuple:
    """The second mark, whether the truth was tuned, and the truth; None of what has no truth."""
    if value["unit"] == P_VALUE or (
        planted is None and implied is None
    ):  # no truth of a p value could be stated
        return None, False, None
    if planted is None:
        truth, tuned, source = implied.value, False, f"implied, by {implied.source}"
    else:
        truth, tuned = planted["value"], bool(planted.get("tuned"))
        source = f"implied, by {INDEPENDENT}" if planted.get("kind") == "implied" else "planted"
    estimate, low, high, unit = (value[name] for name in ("estimate", "low", "high", "unit"))
    if isinstance(truth, str) or (planted or {}).get("kind") == "count":
        passed = estimate == truth
        says = f"{format_number(truth, claim.unit)} ({source}) was {'' if passed else 'not '}found."
    elif (
        low is None
    ):  # its spread over simulated studies stands for the interval, where it is known
        distance = (
            None
            if implied is None or not implied.sd
            else replace(implied, value=truth).distance(value)
        )
        if distance is None:
            return None, tuned, truth
        passed = abs(distance) <= BEYOND
        says = f"{format_number(truth, unit)} ({source}) lies {abs(distance):.1f} standard errors away, by the spread "
        says += "over simulated studies."
    else:
        passed = bool(rounded(low) <= rounded(truth) <= rounded(high))
        how = "planted" if source == "planted" else "implied by what was planted"
        mark = f"true value {'inside' if passed else 'outside'}"
        return (
            {"passed": passed, "mark": mark, "says": f"It is {format_number(truth, unit)}, {how}."},
            tuned,
            truth,
        )
    mark = "found again" if passed else "not found again"
    return {"passed": passed, "mark": mark, "says": f"{says[0].upper()}{says[1:]}"}, tuned, truth


def _rule_of(claim: Claim) -> str | None:
    return next((name for name in RULES if name in (claim.compare or {})), None)


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
    why : str
        Where it can't be applied, why; else "".

    Examples
    --------
    >>> entry = dict(id="a", title="A", kind="finding", value=None, unit="in words", grade="A", source="abstract")
    >>> entry |= dict(needs="ratings", notebook="06-individualized", key="share")
    >>> claim = Claim(**entry, compare={"beyond": 0.1, "reason": "a tenth of the variance"})
    >>> apply_rule(claim, {"share": {"estimate": 0.3, "low": 0.2, "high": 0.4, "unit": "share of variance"}})
    (True, '')
    """
    value, name = values.get(claim.key), _rule_of(claim)
    if name is None:
        return None, "published in words, without a rule"
    if value is None:
        return None, "not recorded here"
    if value["estimate"] is None:
        return None, value["reason"]
    rule, given = RULES[name], claim.compare[name]
    if name == "flag":
        value = values.get(given, {"estimate": None})
        if value["estimate"] is None:
            return None, f"{given.replace('_', ' ')}: {value.get('reason') or 'not recorded here'}"
    if rule.needs_an_interval and value["low"] is None:
        return (
            None,
            f"there is no interval to tell the {'sign' if name == 'sign' else 'distance'} by",
        )
    numbers = {part: rounded(number) for part, number in value.items() if isinstance(number, float)}
    return bool(rule.passes(given, {**value, **numbers}, claim.value)), ""


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
    check = (
        f"; check of the method: {sum(checks)} of {len(checks)} true values found{note}"
        if checks
        else ""
    )
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
    said = ", ".join(
        f"{counts[passed]} {words}" for passed, words in OUTCOMES.items() if counts[passed]
    )
    return f"claim's rule {said}" if rows else "no claims"
