"""What was planted in simulated data, what that implies for each recorded value, and what was found.

A Sphinx extension; each directive reads the folder of the edition:

- ``truths``: a table of a page's values, one row for each line ``key | what it is | parameters`` of its content (the
  parameters are names of entries of the truth file or of parameters of the simulation, with commas between them, or
  nothing), and below it a fold with all values of the page that have an implied truth.
- ``distances``: how far every recorded value with an implied truth lies from it: a figure, how many lie beyond 1.96
  standard errors and how many would be expected to, and a list of these;
- ``claims-power``: how often each claim's rule is passed by simulated studies without the effect and with it, from
  ``data/claims_power.json``.

On data without a known truth the first two are one sentence.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from docutils import nodes
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective

from sense7.book.extensions.directives import Edition, looked_up, marks, page_table
from sense7.checkout import data_file
from sense7.claims import POWER_FILE
from sense7.errors import UserError
from sense7.implied import BEYOND, INDEPENDENT, ImpliedTruth, distances
from sense7.record import format_distinct, format_number, format_value
from sense7.simulate.parameters import Parameters
from sense7.terminal import count_of

__all__ = [
    "NOT_SIMULATED",
    "NO_POWER",
    "NO_TRUTH",
    "beyond_in_words",
    "compared",
    "folded",
    "planted_in_words",
    "setup",
    "values_table",
]

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
        words = field.replace("_", " ")
        value = _by_name(field, truth["parameters"])
        if not part:
            return f"{words}: {_listed(value) if isinstance(value, dict) else _plain(value)}"
        if isinstance(value, dict):
            if part in value:
                return f"{words}, {part}: {_plain(value[part])}"
            return f"{words}, {part}: not planted in this workbook"
    if name.startswith(_STEMS):
        return f"{name.replace('_', ' ')}: not planted in this workbook"
    raise KeyError(name)


def _by_name(field: str, parameters: Mapping[str, Any]) -> Any:
    """A parameter's value; by the names of its entries where it has several."""
    value = parameters[field]
    if not isinstance(value, list):
        return value
    one_per = Parameters.__dataclass_fields__[field].metadata.get("one_per")
    names = Parameters.from_mapping(parameters).keys_of(one_per) if one_per else range(1, len(value) + 1)
    return dict(zip(map(str, names), value, strict=True))


def _listed(values: Mapping[str, Any]) -> str:
    """Several values by name; many numbers by their range."""
    if len(values) > _MOST_LISTED and all(isinstance(value, int | float) for value in values.values()):
        return f"{len(values)} values from {_plain(min(values.values()))} to {_plain(max(values.values()))}"
    return ", ".join(f"{name} {_plain(value)}" for name, value in values.items())


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


class TruthsDirective(SphinxDirective):
    """Planted, implied and found: the rows that a page names, and all others below them."""

    has_content = True

    def run(self):
        edition = looked_up(self.env, "edition.json")
        rows = [*self._rows()]
        if edition.facts["kind"] != "synthetic" or not edition.truth:
            simulated = edition.facts["kind"] == "synthetic"
            return [nodes.paragraph(text=NO_TRUTH if simulated else NOT_SIMULATED)]
        for notebook in {edition.values[key]["notebook"] for _, key, _, _ in rows if key in edition.values}:
            looked_up(self.env, f"results/{notebook}.json")
        body = [self._row(edition, *row) for row in rows]
        head = ("What", "Planted", "Implied", "Found", "Found and implied")
        title = (
            "What was planted, what that implies for the value, and what was found on these simulated data. Implied: "
            f"by {INDEPENDENT}, or the mean of the companion's own statistics over simulated studies."
        )
        table = page_table(title, head, (24, 20, 18, 18, 20), body, classes=["sense7-truths", "colwidths-given"])
        return [*folded(f"Planted, implied and estimated values ({len(rows):,})", table), *self._all(edition)]

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

    def _row(self, edition: Edition, line: int, key: str, words: str, names: Sequence[str]) -> list[list[nodes.Node]]:
        planted = []
        for name in names:
            try:
                planted.append(planted_in_words(name, edition.truth))
            except KeyError:
                self._warn(line, f"nothing is planted under the name {name!r}")
        value, truth = edition.values.get(key), edition.implied.get(key)
        cells = [words], planted or ["-"], _implied(value, truth)
        return [[nodes.paragraph(text=text) for text in cell] for cell in cells] + [
            _found(edition, key),
            _beside(value, truth),
        ]

    def _all(self, edition: Edition) -> list[nodes.Node]:
        """Every value of the page that has an implied truth, folded."""
        page = self.env.docname.removeprefix("notebooks/")
        own = [key for key, value in edition.values.items() if value["notebook"] == page and key in edition.implied]
        shown = [
            key for key in own if edition.values[key]["estimate"] is not None and not edition.implied[key].is_fixed
        ]
        if not shown:
            return []
        looked_up(self.env, f"results/{page}.json")
        summary = f"All values of this page with an implied truth ({len(shown):,})"
        title = "Each value by its name and how it was computed, what the parameters imply for it, and what was found."
        if fixed := sum(edition.implied[key].is_fixed for key in own):
            title += f" Left out: {count_of(fixed, 'value')} that every simulated study gives alike."
        table = values_table(edition, shown, title)
        return folded(summary, table, on_paper=False)


def values_table(edition: Edition, keys: Iterable[str], title: str) -> nodes.container:
    """Recorded values that have an implied truth, one row each, with their names, methods and both numbers."""
    body = [
        [
            [_name(edition.values[key]), nodes.paragraph(text=edition.values[key]["method"])],
            [nodes.paragraph(text=text) for text in _implied(edition.values[key], edition.implied[key])],
            _found(edition, key),
            _beside(edition.values[key], edition.implied[key]),
        ]
        for key in keys
    ]
    head = ("Value", "Implied", "Found", "Found and implied")
    return page_table(title, head, (40, 20, 20, 20), body, classes=["sense7-truths", "colwidths-given"])


class DistancesDirective(SphinxDirective):
    """All recorded values with an implied truth, by their distance from it."""

    def run(self):
        edition = looked_up(self.env, "edition.json")
        for notebook in {value["notebook"] for value in edition.values.values()}:
            looked_up(self.env, f"results/{notebook}.json")
        if edition.facts["kind"] != "synthetic" or not edition.truth:
            return [nodes.paragraph(text=NO_TRUTH if edition.facts["kind"] == "synthetic" else NOT_SIMULATED)]
        known = distances(edition.values, edition.implied)
        if not known:
            return [nodes.paragraph(text="No recorded value has an implied truth and an error.")]
        beyond = sorted((key for key in known if abs(known[key]) > BEYOND), key=lambda key: -abs(known[key]))
        said = beyond_in_words(len(known), len(beyond), edition.beyond_shares)
        fixed = sum(truth.is_fixed for key, truth in edition.implied.items() if key in edition.values)
        if fixed:
            said += f" Left out: {count_of(fixed, 'value')} that every simulated study gives alike."
        shown = nodes.raw("", self._figure(edition, known).html(), format="html")
        made = [nodes.paragraph(text=said), nodes.container("", shown, classes=["sense7-picture"])]
        if not beyond:
            return made
        title = "Values that lie further from their implied truth than 1.96 standard errors, the furthest first."
        table = values_table(edition, beyond, title)
        return [*made, *folded(f"Values beyond {BEYOND:g} ({len(beyond):,})", table)]

    @staticmethod
    def _figure(edition: Edition, known: Mapping[str, float]):
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
        return caterpillar(rows, beyond=BEYOND, name="distances-from-implied-truth", caption=caption)


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
        try:
            file = data_file(POWER_FILE)
        except UserError:
            return [nodes.paragraph(text=NO_POWER)]
        self.env.note_dependency(str(file))
        stored = json.loads(file.read_text(encoding="utf-8"))
        titles = {row["id"]: row["published"]["title"] for row in looked_up(self.env, "ledger.json").ledger}
        body = [
            [
                [nodes.paragraph(text=titles.get(name, name))],
                [nodes.paragraph(text=entry["null_parameters"])],
                *([nodes.paragraph(text=_share(entry[world]))] for world in ("null", "planted")),
            ]
            for name, entry in stored["claims"].items()
        ]
        title = (
            "How often each claim's rule is passed, in percent of simulated studies, with 95% Wilson intervals; n is "
            "the number of studies in which the rule could be applied."
        )
        head = ("Claim", "Without the effect means", "Passed without the effect", "Passed with the effect (power)")
        return [page_table(title, head, (34, 26, 20, 20), body, classes=["sense7-truths", "colwidths-given"])]


def _share(counted: Mapping[str, int]) -> str:
    from sense7.findings.coverage import wilson_row

    if not counted["studies"]:
        return "could be applied in no study"
    row = wilson_row(counted["passed"], counted["studies"], unit="share of studies", method="rule passed")
    return f"{format_value(row)}, n = {row['n']:,}"


def folded(summary: str, table: nodes.Node, *, on_paper: bool = True) -> list[nodes.Node]:
    """A table that opens with a click on its summary, and on paper unless it is left out there."""
    classes = "sense7-fold" if on_paper else "sense7-fold sense7-not-on-paper"
    opening = nodes.raw("", f'<details class="{classes}"><summary>{summary}</summary>', format="html")
    return [opening, table, nodes.raw("", "</details>", format="html")]


def _name(value: Mapping) -> nodes.paragraph:
    """The name of a value in words, as a link to the cell that computed it."""
    cell = f"#cell-{value['cell']}" if value["cell"] else ""
    address = f"../notebooks/{value['notebook']}.html{cell}"
    words = value["key"].replace("_", " ")
    return nodes.paragraph("", "", nodes.reference("", words, refuri=address, internal=True))


def _implied(value: Mapping | None, truth: ImpliedTruth | None) -> list[str]:
    """The implied value with its error and its source; why there is none."""
    if truth is None:
        why = "not recorded on these data" if value is None else "neither source has this value"
        return [f"no implied value: {why}"]
    if isinstance(truth.value, str):
        return [truth.value, truth.source]
    unit = "" if value is None else value["unit"]
    error = f" (Monte Carlo error {_small(truth.error, unit)})" if truth.error else ""
    return [f"{format_number(truth.value, unit)}{error}", truth.source]


def _small(error: float, unit: str) -> str:
    """An error with two digits that are not zero, in the words of its unit."""
    return f"{100 * error:.2g}%" if unit.startswith("share") else f"{error:.2g}"


def _found(edition: Edition, key: str) -> list[nodes.Node]:
    """The recorded value with its interval, and a link to where it was computed."""
    value = edition.values.get(key)
    if value is None:
        return [nodes.paragraph(text="not recorded on these data")]
    text = format_value(value) + marks(edition, key)
    if value["estimate"] is None:
        return [nodes.paragraph(text=text)]
    explained = f"n = {value['n']:,}; {value['method']}"
    node = nodes.abbreviation("", text, explanation=explained, support_smartquotes=False)
    return [nodes.paragraph("", "", node)]


def _beside(value: Mapping | None, truth: ImpliedTruth | None) -> list[nodes.Node]:
    if value is None or truth is None or value["estimate"] is None:
        return [nodes.paragraph(text="-")]
    parts, words = compared(value, truth)
    return [nodes.paragraph("", "", nodes.strong(text=words) if parts else nodes.Text(words))]


def setup(app):
    """Register the directives with Sphinx."""
    app.add_directive("truths", TruthsDirective)
    app.add_directive("distances", DistancesDirective)
    app.add_directive("claims-power", PowerDirective)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
