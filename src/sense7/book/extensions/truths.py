"""What was planted in simulated data, what that implies for each recorded value, and what was found; R's values.

A Sphinx extension:

- ``truths``: a table of a page's values, one row for each line ``key | what it is | parameters`` of its content (the
  parameters are names of entries of the truth file or of parameters of the simulation, with commas between them, or
  nothing);
- ``distances``: how far every recorded value with an implied truth lies from it: a figure, how many lie beyond 1.96
  standard errors and how many would be expected to, and a list of these;
- ``claims-power``: how often each claim's rule is passed by simulated studies without the effect and with it, from
  ``data/claims_power.json``;
- ``reference-values counts``: how many values R gives, and ``reference-values families``: what is compared with which
  call, and the largest error, from ``data/reference.json``, which ``make reference`` measures.

On data without a known truth the first two are one sentence.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective

from sense7.book.extensions.values import Edition, fold, looked_up, marks, page_table, paragraph, raw
from sense7.checkout import data_file
from sense7.claims import POWER_FILE
from sense7.errors import UserError
from sense7.implied import BEYOND, INDEPENDENT, OF_JUDGE, ImpliedTruth, distances
from sense7.record import format_distinct, format_number, format_value
from sense7.simulate.parameters import Parameters
from sense7.terminal import count_of

__all__ = ["setup"]

NOT_SIMULATED = "These data are not simulated: no truth is known."
NO_POWER = "How often simulated studies pass the rules of claims is not part of this checkout."
NO_TRUTH = "These data are simulated, but the file with their truth is missing: no truth is known."

_LOGGER = logging.getLogger(__name__)
_STEMS = tuple(
    f"{stem}_"
    for stem in (
        *("condition_effect", "condition_slope", "condition_desired_slope", "topic_effect", "characteristic_effect"),
        *("condition_mean", "condition_model_difference", "condition_d", "characteristic_correlation"),
    )
)
"""How names of truths begin that end in the name of a condition, a topic or a characteristic of the workbook."""


_MOST_LISTED = 7
_WIDE = ["sense7-truths", "colwidths-given"]
REFERENCE = "reference.json"
"""The stored table of R's values, in ``data/``."""

NO_REFERENCE = "The table of reference values is not part of this checkout. `make reference` measures it."


def planted_in_words(name: str, truth: Mapping[str, Any]) -> str:
    """A planted parameter in words, with its value.

    Examples
    --------
    >>> entry = {"key": "turn_sd", "value": 0.55, "unit": "level", "meaning": "sd of the effect of a turn"}
    >>> planted_in_words("turn_sd", {"planted": [entry], "parameters": {}})
    'sd of the effect of a turn: 0.55 (level)'
    >>> truth = {"planted": [], "parameters": Parameters().as_dict()}
    >>> planted_in_words("overall_weights.Relational", truth), planted_in_words("post_end_weight", truth)
    ('overall weights, Relational: 0.05', 'post end weight: 0.15')
    """
    for entry in truth["planted"]:
        if entry["key"] == name:
            unit = "" if entry["unit"] in {"1", "name", "count"} else f" ({entry['unit']})"
            return f"{entry['meaning']}: {_plain(entry['value'])}{unit}"
    field, _, part = name.partition(".")
    if field in truth["parameters"]:
        words, value = field.replace("_", " "), truth["parameters"][field]
        if isinstance(value, list):  # by the names of its entries
            one_per = Parameters.__dataclass_fields__[field].metadata.get("one_per")
            parameters = Parameters.from_mapping(truth["parameters"])
            names = parameters.keys_of(one_per) if one_per else range(1, len(value) + 1)
            value = dict(zip(map(str, names), value, strict=True))
        if not part and not isinstance(value, dict):
            return f"{words}: {_plain(value)}"
        if not part:
            numbers = [one for one in value.values() if not isinstance(one, str)]
            listed = ", ".join(f"{name} {_plain(one)}" for name, one in value.items())
            many = len(value) > _MOST_LISTED and len(numbers) == len(value)
            span = f"{len(value)} values from {_plain(min(numbers))} to {_plain(max(numbers))}" if many else listed
            return f"{words}: {span}"
        if isinstance(value, dict):
            return f"{words}, {part}: {_plain(value[part]) if part in value else 'not planted in this workbook'}"
    if name.startswith(_STEMS):
        return f"{name.replace('_', ' ')}: not planted in this workbook"
    raise KeyError(name)


def _plain(value: float | str) -> str:
    return value if isinstance(value, str) else f"{value:z,.6g}"


def compared(found: Mapping[str, Any], truth: ImpliedTruth) -> tuple[bool, str]:
    """Whether a found value parts from the implied one, and how the two lie to each other, in words.

    Examples
    --------
    >>> found = {"estimate": 0.873, "low": 0.8731, "high": 0.9, "unit": "alpha"}
    >>> compared(found, ImpliedTruth(0.8729))
    (True, 'outside the interval: 0.8729 and [0.8731, 0.9000]')
    >>> compared(found | {"low": 0.85}, ImpliedTruth(0.87, sd=0.01))
    (False, 'inside the interval; 0.3 standard errors above')
    """
    value, low, high = found["estimate"], found["low"], found["high"]
    if isinstance(value, str) or isinstance(truth.value, str) or (truth.is_fixed and low is None):
        return value != truth.value, "the same" if value == truth.value else "not the same"
    words, parts = [], False
    if low is not None:
        parts = not low <= truth.value <= high
        words.append(f"{'outside' if parts else 'inside'} the interval")
        if parts:
            shown, *limits = format_distinct([truth.value, low, high], found["unit"])
            words[0] += f": {shown} and [{', '.join(limits)}]"
    z = truth.distance(found) if truth.sd else None
    if z is not None:
        parts |= abs(z) > BEYOND
        words.append(f"{abs(z):.1f} standard errors {'above' if z > 0 else 'below'}")
    return parts, "; ".join(words) or "no interval, and its spread over simulated studies is not known"


def _no_truth(edition: Edition) -> list[nodes.Node]:
    """The sentence that stands for what cannot be said without a known truth; nothing where there is one."""
    if edition.facts["kind"] == "synthetic" and edition.truth:
        return []
    return [paragraph(NO_TRUTH if edition.facts["kind"] == "synthetic" else NOT_SIMULATED)]


class TruthsDirective(SphinxDirective):
    """Planted, implied and found, of the values that a page names."""

    has_content = True

    def run(self):
        edition = looked_up(self.env, "edition.json")
        rows = [*self._rows()]
        if said := _no_truth(edition):
            return said
        body = []
        for line, key, words, names in rows:
            if key in edition.values:
                looked_up(self.env, f"results/{edition.values[key]['notebook']}.json")
            planted = []
            for name in names:
                try:
                    planted.append(planted_in_words(name, edition.truth))
                except KeyError:
                    if "judge" in edition.truth or not name.startswith(OF_JUDGE):  # none may have been simulated
                        self._warn(line, f"nothing is planted under the name {name!r}")
            body.append([words, [*map(paragraph, planted or ["-"])], *_implied_and_found(edition, key)])
        head = ("What", "Planted", "Implied", "Found", "Found and implied")
        title = (
            "What was planted, what that implies for the value, and what was found on these simulated data. Implied: "
            f"by {INDEPENDENT}, or the mean of the companion's own statistics over simulated studies."
        )
        table = page_table(title, head, (24, 20, 18, 18, 20), body, _WIDE)
        return fold(f"Planted, implied and estimated values ({len(rows):,})", table, classes="sense7-fold")

    def _rows(self) -> Iterator[tuple[int, str, str, list[str]]]:
        """Line, key, words and names of parameters of each row."""
        for number, line in enumerate(self.content, self.lineno + self.content_offset + 1):
            if not line.strip():
                continue
            key, *rest = (part.strip() for part in line.split("|"))
            if not key or len(rest) not in (1, 2) or not rest[0]:
                self._warn(number, f"{line.strip()!r} is no row. Write: key | what it is | parameters, or nothing")
                continue
            names = rest[1].split(",") if len(rest) == 2 else []
            yield number, key, rest[0], [name.strip() for name in names if name.strip()]

    def _warn(self, line: int, problem: str) -> None:
        _LOGGER.warning("truths: %s", problem, location=(self.env.docname, line))


def values_table(edition: Edition, keys: Sequence[str], title: str, *, of_page: bool = False) -> nodes.container:
    """Recorded values, one row each: name, value, n and method, and beside simulated data what is implied.

    Names lead to the cells that computed them, unless they are of the page itself, which may not show them.
    """
    with_truth = any(key in edition.implied for key in keys)
    body = []
    for key in keys:
        value = edition.values[key]
        cell = f"#cell-{value['cell']}" if value["cell"] else ""
        address = f"../notebooks/{value['notebook']}.html{cell}"
        name = nodes.literal(text=key)
        name = name if of_page else nodes.reference("", "", name, refuri=address, internal=True)
        n = "" if value["n"] is None else f"{value['n']:,}"
        row = [[paragraph(name)], format_value(value) + marks(edition, key), n, value["method"] or ""]
        implied, _, beside = _implied_and_found(edition, key) if key in edition.implied else ([], [], [])
        body.append([*row, *([implied, beside] if with_truth else [])])
    head, widths = ("Name", "Value", "n", "How it was computed"), (28, 24, 10, 38)
    if with_truth:
        head, widths = (*head, "Implied", "Found and implied"), (18, 18, 8, 26, 15, 15)
    return page_table(title, head, widths, body, ["sense7-values", "colwidths-given"])


class DistancesDirective(SphinxDirective):
    """All recorded values with an implied truth, by their distance from it."""

    def run(self):
        edition = looked_up(self.env, "edition.json")
        looked_up(self.env, *{f"results/{value['notebook']}.json" for value in edition.values.values()})
        if said := _no_truth(edition):
            return said
        known = distances(edition.values, edition.implied)
        if not known:
            return [paragraph("No recorded value has an implied truth and an error.")]
        beyond = sorted((key for key in known if abs(known[key]) > BEYOND), key=lambda key: -abs(known[key]))
        said = beyond_in_words(len(known), len(beyond), edition.beyond_shares)
        fixed = sum(truth.is_fixed for key, truth in edition.implied.items() if key in edition.values)
        if fixed:
            said += f" Left out: {count_of(fixed, 'value')} that every simulated study gives alike."
        from sense7.figures.distributions import caterpillar  # takes a second to import, and only this page draws

        rows = [
            {
                "value": key,
                "notebook": edition.values[key]["notebook"],
                "found": edition.values[key]["estimate"],
                "implied": edition.implied[key].value,
                "distance": distance,
            }
            for key, distance in known.items()
        ]
        caption = (
            f"n = {count_of(len(known), 'recorded value')} with an implied truth. Found minus implied, divided by the "
            "standard deviation over simulated studies combined with the Monte Carlo error of the implied value. The "
            "dashed line is where independent normal distances would lie. Dotted: 1.96 on either side."
        )
        if any(edition.implied[key].sd is None for key in known):
            caption += " Where no spread over simulated studies is known, half the interval over 1.96 stands for it."
        drawn = caterpillar(rows, beyond=BEYOND, name="distances-from-implied-truth", caption=caption)
        made = [paragraph(said), nodes.container("", raw(drawn.html()), classes=["sense7-picture"])]
        if not beyond:
            return made
        title = "Values that lie further from their implied truth than 1.96 standard errors, the furthest first."
        table = values_table(edition, beyond, title)
        return [*made, *fold(f"Values beyond {BEYOND:g} ({len(beyond):,})", table, classes="sense7-fold")]


def beyond_in_words(values: int, beyond: int, shares: Sequence[float]) -> str:
    """How many values lie beyond 1.96 standard errors, beside how many are expected to.

    Examples
    --------
    >>> beyond_in_words(1000, 70, [])[:108]
    '70 of 1,000 values lie more than 1.96 standard errors from their implied truth; 50 are expected by chance. T'
    >>> beyond_in_words(1000, 70, [0.02] * 50 + [0.09] * 50).split("Among ")[1]
    '100 simulated studies, the middle 95% have 20 to 90 of so many beyond.'
    """
    expected = f"{0.05 * values:,.0f}"
    words = (
        f"{beyond:,} of {count_of(values, 'value')} lie more than {BEYOND:g} standard errors from their implied truth; "
        f"{expected} are expected by chance. The values are correlated, since all come from the same ratings: "
        "a study that is unusual in one of them is so in many, and the number beyond varies more from study to study "
        "than that of independent values."
    )
    if not shares:
        return words
    ordered = sorted(shares)
    low, high = (ordered[round(quantile * (len(ordered) - 1))] for quantile in (0.025, 0.975))
    return (
        f"{words} Among {len(ordered):,} simulated studies, the middle 95% have {low * values:,.0f} to "
        f"{high * values:,.0f} of so many beyond."
    )


class PowerDirective(SphinxDirective):
    """How often each claim's rule is passed by simulated studies, without the effect and with it."""

    def run(self):
        if (stored := _stored(self.env, POWER_FILE)) is None:
            return [paragraph(NO_POWER)]
        claims = looked_up(self.env, "ledger.json").claims
        body = [
            [
                claims[name]["published"]["title"] if name in claims else name,
                entry["null_parameters"],
                *(_share(entry[world]) for world in ("null", "planted")),
            ]
            for name, entry in stored["claims"].items()
        ]
        title = (
            "How often each claim's rule is passed, in percent of simulated studies, with 95% Wilson intervals; n is "
            "the number of studies in which the rule could be applied."
        )
        head = ("Claim", "Without the effect means", "Passed without the effect", "Passed with the effect (power)")
        return [page_table(title, head, (34, 26, 20, 20), body, _WIDE)]


def _stored(env, name: str):
    """What a file of ``data/`` holds, on which the page depends; None where it is not part of the checkout."""
    try:
        file = data_file(name)
    except UserError:
        return None
    env.note_dependency(str(file))
    return json.loads(file.read_text(encoding="utf-8"))


def _share(counted: Mapping[str, int]) -> str:
    from sense7.findings.coverage import wilson_row

    if not counted["studies"]:
        return "could be applied in no study"
    row = wilson_row(counted["passed"], counted["studies"], unit="share of studies", method="rule passed")
    return f"{format_value(row)}, n = {row['n']:,}"


class ReferenceValues(SphinxDirective):
    """One part of the stored table of R's values."""

    required_arguments = 1

    def run(self):
        part = directives.choice(self.arguments[0], ("counts", "families"))
        if (stored := _stored(self.env, REFERENCE)) is None:
            return [paragraph(NO_REFERENCE)]
        if part == "counts":
            left = stored["values"] - stored["asserted"]
            return [
                paragraph(
                    f"R gives {stored['values']:,} values. The tests assert {stored['asserted']:,} of them; "
                    f"{left:,} belong to statistics that the library does not compute."
                )
            ]

        def size(error: Mapping, kind: str) -> str:
            if not error["tolerance"] and kind == "tolerance":
                return "equal"
            return power_of_ten(error[kind]) + " of it" * (error["kind"] == "relative" and error[kind] > 0)

        rows = [
            [
                [
                    paragraph(nodes.strong(text=row["statistic"])),
                    *(paragraph(nodes.literal(text=name)) for name in row["functions"]),
                    paragraph("R: ", nodes.literal(text=row["r"]), f" ({', '.join(row['packages'])})"),
                ],
                f"{row['values']:,}",
                *([paragraph(size(error, kind)) for error in row["errors"]] for kind in ("tolerance", "largest_error")),
            ]
            for row in stored["families"]
        ]
        head = ("Statistic, function, and call of R", "Values", "Tolerance", "Largest error")
        classes = ["sense7-reference", "colwidths-given"]
        return [page_table("Every statistic that is compared with R", head, (52, 12, 17, 19), rows, classes)]


def power_of_ten(number: float) -> str:
    """Write a tolerance or an error in few characters.

    Examples
    --------
    >>> power_of_ten(1e-07), power_of_ten(1e-12), power_of_ten(0.0)
    ('10⁻⁷', '10⁻¹²', '0')
    """
    if number == 0:
        return "0"
    digits, exponent = f"{number:.1e}".split("e")
    power = "10" + str(int(exponent)).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))
    digits = digits.removesuffix(".0")
    return power if digits == "1" else f"{digits} \u00d7 {power}"


def _implied_and_found(edition: Edition, key: str) -> list[str | list[nodes.Node]]:
    """Cells of a value: what is implied, with its error and source, what was found, and how far the two lie apart."""
    value, truth = edition.values.get(key), edition.implied.get(key)
    unit = "" if value is None else value["unit"]
    if truth is None:
        why = "not recorded on these data" if value is None else "neither source has this value"
        implied = [f"no implied value: {why}"]
    elif isinstance(truth.value, str):
        implied = [truth.value, truth.source]
    else:  # an error with two digits that are not zero, in the words of its unit
        size = f"{100 * truth.error:.2g}%" if unit.startswith("share") else f"{truth.error:.2g}"
        error = f" (Monte Carlo error {size})" if truth.error else ""
        implied = [f"{format_number(truth.value, unit)}{error}", truth.source]
    cells = [[*map(paragraph, implied)]]
    if value is None:
        return [*cells, "not recorded on these data", "-"]
    text = format_value(value) + marks(edition, key)
    if value["estimate"] is None:
        return [*cells, text, "-"]
    explained = f"n = {value['n']:,}; {value['method']}"
    found = paragraph(nodes.abbreviation("", text, explanation=explained, support_smartquotes=False))
    parts, words = compared(value, truth) if truth else (False, "-")
    return [*cells, [found], [paragraph(nodes.strong(text=words) if parts else words)]]


def setup(app):
    """Register the directives with Sphinx."""
    app.add_directive("truths", TruthsDirective)
    app.add_directive("distances", DistancesDirective)
    app.add_directive("claims-power", PowerDirective)
    app.add_directive("reference-values", ReferenceValues)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
