"""Agreement with the overall rating, in participants left out and copied out."""

import numpy as np
import pandas as pd
from scipy import stats

from helpers import naming
from helpers.studies import bootstrap_of
from sense7.findings import agreement
from sense7.statistics.rater_agreement import weighted_kappa
from sense7.study import Study
from sense7.taxonomy import DIMENSION_NAMES


def differences_of(turns):
    """Kappa of Relational minus that of each other dimension, where all three ratings are there."""
    differences = []
    for name in DIMENSION_NAMES[:-1]:
        both = turns.dropna(subset=["overall", "Relational", name]).astype(
            {name: int, "Relational": int, "overall": int}
        )
        tables = np.zeros((2, 5, 5))
        for table, one in zip(tables, ("Relational", name), strict=True):
            np.add.at(table, (both[one] - 1, both["overall"] - 1), 1)
        differences.append(np.subtract(*weighted_kappa(tables)))
    return np.array(differences)


def test_simultaneous_intervals_are_those_of_participants_left_out_and_copied_out():
    generator = np.random.default_rng(1)
    overall = generator.integers(1, 6, size=200).astype(float)
    turns = pd.DataFrame(
        {"participant": [f"P{turn % 12}" for turn in range(200)], "overall": overall}
    )
    for name in DIMENSION_NAMES:
        turns[name] = np.clip(np.rint(overall + 0.8 * generator.normal(size=200)), 1, 5)
        turns.loc[generator.random(200) < 0.1, name] = np.nan
    study = Study("x", turns, pd.DataFrame(), turns, participants=None, columns=pd.DataFrame())
    bootstrap = bootstrap_of(study, 40)
    table = agreement.kappa_differences(study, bootstrap).iloc[:-1]
    here, people = table["estimate"].to_numpy(), list(bootstrap.names)
    without = np.array([differences_of(turns[turns["participant"] != name]) for name in people])
    errors = np.sqrt(11 / 12 * ((without - without.mean(axis=0)) ** 2).sum(axis=0))
    drawn = []
    for weights in bootstrap.weights().astype(int):
        times = turns["participant"].map(dict(zip(people, weights, strict=True)))
        drawn.append(differences_of(turns.loc[turns.index.repeat(times)]))
    largest = (np.abs(np.array(drawn) - here) / np.std(drawn, axis=0)).max(axis=1)
    reach = np.quantile(largest, 0.95) * stats.t.ppf(0.975, 11) / stats.norm.ppf(0.975)
    np.testing.assert_allclose(table["high"] - here, reach * errors, rtol=1e-5)
    np.testing.assert_allclose(here - table["low"], reach * errors, rtol=1e-5)
    (interval,) = set(table["method"].str.rpartition("; ")[2])
    naming.check(interval, "95%", "max-t", 40)
