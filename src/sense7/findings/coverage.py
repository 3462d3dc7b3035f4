r"""Whether intervals hold the truth as often as they say: the stored coverage over simulated studies."""

import numpy as np
import pandas as pd
from scipy import optimize, stats

from sense7.checkout import data_file
from sense7.files import parse_yaml, read_json
from sense7.findings.core import finding, frame_of
from sense7.statistics.estimates import estimate_row, estimate_table

__all__ = [
    "KEPT",
    "coverage_exclusions",
    "coverage_misses",
    "coverage_settings",
    "coverage_table",
    "coverage_truths",
    "coverage_verdict",
    "expectations_rates",
    "few_people_coverage",
    "fewest_people",
    "rules_before_and_after",
    "wilson_row",
]

KEPT_LIMITS = (0.91, 0.98)
"""Coverage of a nominal 95% interval that counts as kept."""

KEPT = f"between {KEPT_LIMITS[0]:.0%} and {KEPT_LIMITS[1]:.0%}"
"""The same in words."""

NOMINAL = 0.95
"""Confidence of the intervals whose coverage is stored."""

COVERAGE = "coverage.json"
"""File in ``data/`` with the stored result of ``evidence/coverage/run.py``."""


def wilson_row(count: int, n: int, *, unit: str, method: str) -> dict:
    r"""Share of independent trials with Wilson's interval, as a row of estimates.

    .. math:: \frac{\hat p + z^2 / 2n \pm z \sqrt{\hat p (1 - \hat p) / n + z^2 / 4n^2}}{1 + z^2 / n}

    References
    ----------
    Wilson, E. B. (1927). Journal of the American Statistical Association 22, 209-212.

    Examples
    --------
    >>> row = wilson_row(95, 100, unit="share of studies", method="covered")
    >>> [round(row[name], 4) for name in ("estimate", "low", "high")]
    [0.95, 0.8882, 0.9785]
    """
    if n == 0:
        return estimate_row(n=0, unit=unit, method=method, reason="it was defined in no study")
    limits = stats.binomtest(count, n).proportion_ci(NOMINAL, method="wilson")
    method = f"{method}; {NOMINAL:.0%} Wilson interval, studies are independent"
    return estimate_row(count / n, limits.low, limits.high, n=n, unit=unit, method=method)


def _stored() -> dict:
    """The stored result of the simulation."""
    return read_json(data_file(COVERAGE))


def _entries(design: str, kind: str) -> list[dict]:
    """Stored results of one design and kind, as :func:`coverage_table` explains them."""
    chosen = []
    for entry in _stored()["results"]:
        if entry["design"] == design and entry["kind"] == kind:
            chosen.append(entry)
    return chosen


def _excludes_nominal(table: pd.DataFrame) -> pd.Series:
    """Whether the Wilson interval of each row lies wholly above or below the confidence."""
    return (table["low"] > NOMINAL) | (table["high"] < NOMINAL)


def coverage_settings() -> pd.DataFrame:
    """Settings of the stored simulation of coverage: one row per setting, one column per part, values as text."""
    stored = _stored()
    columns = {}
    for part, settings in stored["parts"].items():
        columns[f"{part} statistics"] = {
            "command": stored["command"],
            "seed": str(settings["seed"]),
            "simulated studies of each kind": f"{settings['studies']:,}",
            "resamplings of participants in each study": f"{settings['draws']:,}",
            "Python": settings["Python"],
            "numpy": settings["numpy"],
            "scipy": settings["scipy"],
        }
    return pd.DataFrame(columns).rename_axis("setting")


@finding
def coverage_table(*, design: str, kind: str) -> pd.DataFrame:
    """Coverage of the intervals in simulated studies, or error rates of tests, as stored.

    Parameters
    ----------
    design : {"within", "between"}
        Whether the simulated participants meet all conditions, or one each.
    kind : {"participants", "naive", "other", "false positives"}
        Intervals that resample participants; intervals that take turns or conversations as independent; another
        interval of alpha; or the share of studies without any effect in which a difference of conditions came out
        significant.

    Returns
    -------
    DataFrame
        One row per statistic, with the stored key: share of studies with Wilson's interval; n is the number of studies
        in which the interval was defined.
    """
    rows = {}
    keys = {}
    for entry in _entries(design, kind):
        name = entry["name"]
        rows[name] = wilson_row(
            entry["count"],
            entry["studies"],
            unit="share of simulated studies",
            method=entry["method"],
        )
        # Where participants meet one condition each, coverage is recorded of comparisons of conditions only.
        compares_conditions = kind == "false positives" or "condition_difference" in entry["key"]
        if compares_conditions or (design == "within" and "quadratic" not in entry["key"]):
            keys[name] = entry["key"]
    return estimate_table(rows, "statistic", keys)


def coverage_misses(design: str) -> pd.DataFrame:
    """Number of intervals over participants below and above the truth, and their mean width, by statistic.

    Returns
    -------
    DataFrame
        One row per statistic: studies whose whole interval lies below the truth, and above it (counts);
        and the mean width of the intervals by that of the right one, had the estimates of all studies
        been normal with their own standard deviation (1: as wide as it should be).
    """
    standard_errors_wide = 2 * stats.norm.ppf(0.975)
    rows = {}
    for entry in _entries(design, "participants"):
        right_width = standard_errors_wide * entry["standard_deviation"]
        rows[entry["name"]] = {
            "interval below the truth": entry["too_low"],
            "interval above the truth": entry["too_high"],
            "mean width, by the right one": entry["mean_width"] / right_width,
        }
    return frame_of(rows, "statistic")


def coverage_truths(design: str) -> pd.DataFrame:
    """True values of the statistics in the simulated studies, and how they were computed.

    Returns
    -------
    DataFrame
        A row for each statistic: truth, mean of the estimates over the studies, and how the truth was computed.
    """
    rows = {
        entry["name"]: {
            "truth": entry["truth"],
            "mean estimate": entry["mean"],
            "computed by": entry["truth_by"],
        }
        for entry in _entries(design, "participants")
    }
    return frame_of(rows, "statistic")


@finding
def coverage_exclusions() -> pd.DataFrame:
    """Number of intervals over resampled participants whose coverage is not their confidence.

    Returns
    -------
    DataFrame
        Of all statistics in both designs (n): number whose Wilson interval excludes the confidence on either side, and
        number whose coverage is below it. Counts, without intervals.
    """
    within = coverage_table(design="within", kind="participants")
    between = coverage_table(design="between", kind="participants")
    intervals = pd.concat([within, between])

    def count(label: str, chosen: pd.Series, key: str) -> dict:
        return estimate_row(
            int(chosen.sum()),
            n=len(intervals),
            unit="number of intervals",
            method=f"{label}, both designs; a count",
            key=key,
        )

    excluding = "Wilson interval excludes the confidence"
    below = "coverage below the confidence"
    rows = {
        excluding: count(excluding, _excludes_nominal(intervals), "coverage_excludes_confidence"),
        below: count(below, intervals["estimate"] < NOMINAL, "coverage_below_confidence"),
    }
    return estimate_table(rows, "intervals whose")


def coverage_verdict(design: str) -> str:
    """Verdict on the coverage of the intervals over resampled participants, in words.

    Those are named whose Wilson interval excludes the confidence; then those outside ``KEPT``, a range that allows for
    intervals that are a little narrow.
    """
    table = coverage_table(design=design, kind="participants")
    excluding = table[_excludes_nominal(table)]
    verdict = f"For {len(excluding)} of {len(table)} the Wilson interval excludes {NOMINAL:.0%}"
    coverages = [f"{name} {row['estimate']:.1%}" for name, row in excluding.iterrows()]
    if coverages:
        verdict += f": {'; '.join(coverages)}"
    low, high = KEPT_LIMITS
    outside = table[(table["estimate"] < low) | (table["estimate"] > high)]
    if outside.empty:
        return f"{verdict}. All lie {KEPT}."
    names = [f"{name}, {row['estimate']:.1%}" for name, row in outside.iterrows()]
    return f"{verdict}. All but {len(names)} ({'; '.join(names)}) lie {KEPT}."


def rules_before_and_after() -> pd.DataFrame:
    """Return the decision rules that were changed: as they were and as they are, and how often each is passed.

    Power is the share of simulated studies with the effect, false positives the share of those without it. A claim
    that no rule decides any more has no power.
    """
    earlier_rules = parse_yaml(data_file("earlier_rules.yml").read_text(encoding="utf-8"))
    claims = parse_yaml(data_file("claims.yml").read_text(encoding="utf-8"))
    claim_of = {claim["id"]: claim for claim in claims}
    rates = read_json(data_file("claims_power.json"))["claims"]
    rows = []
    for earlier in earlier_rules:
        if (
            "now" in earlier
        ):  # of the page on other studies, which no simulated study was counted for
            of_page = {"claim": earlier["finding"], "earlier rule": earlier["rule"]}
            rows.append({**of_page, "rule": earlier["now"], "why changed": earlier["why"]})
            continue
        claim = claim_of[earlier["claim"]]
        now = "none: no rule can decide it"
        power = false_positives = ""
        if claim["key"]:
            now = claim["compare"].get("number", "the same").rstrip(",")
            power = _passed_of(rates[claim["id"]]["effect"])
            false_positives = _passed_of(rates[claim["id"]]["null"])
        row = {
            "claim": claim["short"],
            "earlier rule": earlier["rule"],
            "power, earlier": _passed_of(earlier["with_effect"]),
            "false positives, earlier": _passed_of(earlier["without_effect"]),
            "rule": now,
            "power": power,
            "false positives": false_positives,
            "power, more studies": "",
            "false positives, more studies": "",
            "why changed": earlier["why"],
        }
        more = earlier.get("more_studies")
        if more:
            row["power, more studies"] = _passed_of(more["with_effect"])
            row["false positives, more studies"] = _passed_of(more["without_effect"])
        rows.append(row)
    return pd.DataFrame(rows).fillna("").set_index("claim")


@finding
def expectations_rates() -> pd.DataFrame:
    """Return how often simulated studies meet the rule on unmet expectations, and a rule that was not taken.

    The rule takes the interval of the mixed model; the other the interval of the same model by resampling participants.

    Returns
    -------
    DataFrame
        Four rows: false positives (studies without the effect) and power (with it) of each; Wilson intervals; n
        counts simulated studies.

    Examples
    --------
    >>> expectations_rates()["estimate"].round(3).tolist()
    [0.052, 0.72, 0.04, 0.615]
    """
    earlier = parse_yaml(data_file("earlier_rules.yml").read_text(encoding="utf-8"))
    (entry,) = [entry for entry in earlier if entry.get("claim") == "finding_expectations"]
    rows = {}
    keys = {}
    for interval, ending, counts in (
        ("interval of the mixed model", "", entry["more_studies"]),
        ("participants resampled", "_resampled", entry["alternative"]),
    ):
        for name, world in {"false_positives": "without_effect", "power": "with_effect"}.items():
            label = f"{name.replace('_', ' ')}, {interval}"
            rows[label] = wilson_row(
                counts[world]["passed"],
                counts[world]["studies"],
                unit="share of studies",
                method=f"simulated studies {world.replace('_', ' ')} that meet the rule, {interval}",
            )
            keys[label] = f"{name}_expectations{ending}"
    return estimate_table(rows, "rule", keys)


def _passed_of(counts: dict) -> str:
    """Studies that passed a rule, in words."""
    return f"{counts['passed'] / counts['studies']:.1%} of {counts['studies']:,}"


FEW_PEOPLE = "few_people.json"
"""File in ``data/`` with the stored result of ``evidence/coverage/few_people.py``."""

ENOUGH = 0.9
"""Coverage from which on a contrast has an interval."""


def few_people_coverage() -> pd.DataFrame:
    """Return the coverage of contrasts by number of people in the smaller condition, the lowest of three situations.

    One row per contrast, one column per number of people tried: the lowest share of studies whose 95% interval
    holds the truth where the other condition has many people, has as many, or the same people. An empty text where no
    study gave an interval. The last column is the number that :func:`fewest_people` gives.
    """
    shares = _rising_shares()
    lowest = shares.pivot_table(
        index="contrast", columns="people", values="share", aggfunc="min", sort=False
    )
    table = lowest.map(lambda share: "" if np.isnan(share) else f"{share:.0%}")
    return table.assign(needed=pd.Series(fewest_people()))


def fewest_people() -> dict[str, int]:
    """Return the number of people from which on a contrast covers the truth in 90% of studies in every situation.

    Of the numbers tried, the smallest at which a curve that never falls (isotonic regression) through the shares
    reaches 90% in each of the three situations.
    """
    shares = _rising_shares()
    fewest = {}
    for contrast, of_contrast in shares.groupby("contrast", sort=False):
        lowest = of_contrast.groupby("people")["rising"].min()
        enough = lowest[lowest >= ENOUGH]
        fewest[contrast] = int(enough.index.min())
    return fewest


def _rising_shares() -> pd.DataFrame:
    """Stored shares by contrast, situation and number of people, and the curve through them that never falls.

    Where no study gave an interval the curve is zero.
    """
    stored = read_json(data_file(FEW_PEOPLE))
    table = pd.DataFrame(stored["results"])
    table["share"] = table["count"] / table["studies"].where(table["studies"] > 0)
    curves = []
    for _, rows in table.groupby(["contrast", "situation"], sort=False):
        shares = rows["share"].fillna(0).to_numpy()
        weights = rows["studies"].clip(lower=1).to_numpy(dtype=float)
        curve = optimize.isotonic_regression(shares, weights=weights).x
        curves.append(pd.Series(curve, index=rows.index))
    return table.assign(rising=pd.concat(curves))
