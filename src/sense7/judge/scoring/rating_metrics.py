"""How good a judge's ratings of turns and dimensions are: every metric for each, and whether it applies at all."""

from collections.abc import Mapping

import numpy as np
import pandas as pd

from sense7.arguments import check_arguments
from sense7.estimators.bootstrap import ParticipantBootstrap
from sense7.estimators.estimates import Estimate, estimate_row, estimate_table
from sense7.estimators.rater_agreement import weighted_kappa
from sense7.judge.scoring.metrics import over_runs
from sense7.taxonomy import DIMENSION_NAMES, LEVELS

__all__ = ["applicability", "by_rating"]

MEASURES = {
    "sensitivity": "share said not to apply among the ratings that the person says do not apply",
    "specificity": "share said to apply among the ratings that the person gives",
    "kappa": "Cohen's kappa of applies and does not apply",
}
"""Measures of :func:`applicability` and how they are computed."""

_UNDEFINED = {
    "sensitivity": "the person says of no rating that it does not apply",
    "specificity": "the person gives no rating",
    "kappa": "the judge or the person says the same of every rating, or there is none",
}


def by_rating(
    files: Mapping[str, pd.DataFrame], bootstrap: ParticipantBootstrap | None = None
) -> dict[str, pd.DataFrame]:
    """Return every metric of each rating, as a mean over files."""
    names = {"judge": "score", "person": "ground_truth"}
    found = {}
    for rating in _in_all(files):
        frames = {
            name: ratings[ratings["rating"] == rating].rename(columns=names).reset_index(drop=True)
            for name, ratings in files.items()
        }
        found[rating] = over_runs(frames, bootstrap).mean
    return found


def _in_all(files: Mapping[str, pd.DataFrame]) -> list[str]:
    """Ratings that every file holds, in the order of the first."""
    first, *others = (ratings["rating"].unique().tolist() for ratings in files.values())
    return [rating for rating in first if all(rating in other for other in others)]


def applicability(
    files: Mapping[str, pd.DataFrame], bootstrap: ParticipantBootstrap | None = None
) -> dict[str, pd.DataFrame]:
    """Return how well a judge knows which dimensions do not apply, over the units of all files."""
    everyone = pd.concat(files.values(), ignore_index=True)
    found = {}
    for dimension in _in_all(files):
        if dimension in DIMENSION_NAMES:
            rows = everyone[everyone["rating"] == dimension].dropna(subset=["judge_applies", "person_applies"])
            found[dimension] = _applicability(rows.reset_index(drop=True), bootstrap)
    return found


def _applicability(rows: pd.DataFrame, bootstrap: ParticipantBootstrap | None) -> pd.DataFrame:
    person, judge = (rows[f"{side}_applies"].to_numpy(dtype=int) for side in ("person", "judge"))
    cells = np.zeros((len(rows), 4))
    cells[np.arange(len(rows)), 2 * person + judge] = 1
    participant = rows.get("participant")
    known = bootstrap is not None and participant is not None and participant.notna().all()
    if known and len(rows):
        estimates = bootstrap.estimates(_measures, cells, participant)
    else:
        reason = "no interval: participants are not known"
        with np.errstate(divide="ignore", invalid="ignore"):
            values = _measures(cells.sum(axis=0))
        estimates = [Estimate(float(value), reason=reason) for value in values]
    table = {}
    for (name, method), found in zip(MEASURES.items(), estimates, strict=True):
        given = {"n": len(rows), "unit": name if name == "kappa" else "share of ratings", "method": method}
        if not np.isfinite(found[0]):
            table[name] = estimate_row(**given, reason=_UNDEFINED[name])
        elif known:
            table[name] = bootstrap.row(found, **given)
        else:
            table[name] = estimate_row(found[0], **given, reason=reason)
    return estimate_table(table, "measure")


def _measures(sums: np.ndarray) -> np.ndarray:
    """Measures from counts of (person, judge): neither applies, only to the judge, only to the person, both."""
    neither, judge, person, both = np.moveaxis(np.asarray(sums, dtype=float), -1, 0)
    tables = np.zeros((*neither.shape, len(LEVELS), len(LEVELS)))
    tables[..., 0, 0], tables[..., 0, 1], tables[..., 1, 0], tables[..., 1, 1] = neither, judge, person, both
    shares = neither / (neither + judge), both / (person + both)
    return np.stack([*shares, weighted_kappa(tables)], axis=-1)


check_arguments(globals())
