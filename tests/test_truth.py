"""What is expected of the simulated study: by plain code, equal to the library's statistics on one study."""

import hashlib
import itertools
import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from evidence import truth

from helpers.studies import bootstrap_of, parse_sheets
from sense7.checkout import find_checkout
from sense7.findings import (
    agreement,
    dataset,
    disrupted,
    individualized,
    measures,
    poor_turn,
    ratings,
)
from sense7.simulate import DEFAULT_JUDGE, Parameters, simulate
from sense7.statistics.alpha import alpha_row
from sense7.taxonomy import DIMENSION_NAMES

ROOT = find_checkout()
STORED = json.loads((ROOT / "data" / "truth.json").read_text("utf-8"))
EXPECTED = json.loads((ROOT / "data" / "expected.json").read_text("utf-8"))


@pytest.fixture(scope="module")
def simulation():
    return simulate(Parameters(participants=218, conversations=1344), 1, None, texts=False)


@pytest.fixture(scope="module")
def plain(simulation):
    return truth.statistics_of(simulation.study)


def test_the_same_statistic_by_two_codes_is_the_same_number(simulation, plain):
    """The mixed models' variances and contrasts, and chance orders, have a quicker plain code: not compared here."""
    study = replace(parse_sheets(simulation.sheets), prompted_condition=truth.PROMPTED)
    bootstrap = bootstrap_of(study, 2)
    found = [
        ratings.published_shares(study, bootstrap),
        ratings.nearest_rivals(study, bootstrap),
        agreement.published_kappas(study, bootstrap),
        agreement.agreement_with_overall(study, bootstrap),
        agreement.agreement_with_overall(study, bootstrap, weights="quadratic"),
        agreement.kappa_differences(study, bootstrap),
        dataset.ground_truth_mean(study, bootstrap),
        individualized.participant_icc(study, bootstrap),
        poor_turn.poor_turn_effects(study, bootstrap),
        poor_turn.empathy_and_experience(study, bootstrap),
        disrupted.continuity_losses(study, bootstrap),
        disrupted.unmet_expectations(study, bootstrap),
    ]
    estimates = {}
    for table in found:
        for row in pd.DataFrame(table if isinstance(table, pd.DataFrame) else [table]).itertuples():
            estimates[row.key] = row.estimate
    for key, rated in {
        "alpha_turn": measures.turn_ratings(study),
        "alpha_post": measures.post_task_ratings(study),
    }.items():
        estimates[key] = alpha_row(rated, bootstrap)["estimate"]
    shares = agreement.explained_shares(*agreement.overall_and_ratings(study), bootstrap)
    for name in DIMENSION_NAMES:
        estimates[f"relative_importance_share_{name}"] = shares.loc[name, "estimate"]
    compared = (plain.keys() & estimates.keys()) - {"icc_reml"}
    by_iteration = {"poor_turn_d_mixed", "expectation_loss"}
    for key in compared:
        allowed = 1e-6 if key in by_iteration else 1e-9
        assert plain[key] == pytest.approx(estimates[key], rel=allowed), key
    contrasts = {key for key in plain if key.startswith("condition_model_difference_")}
    assert plain.keys() - compared == contrasts | {
        "icc_reml",
        "lasting_drop",
        "context_share",
        "participant_share_beyond_condition_and_topic",
        "prompted_minus_best_other",
    }


def test_importance_is_the_mean_gain_over_all_orders(simulation):
    turns = truth.turn_table(simulation.study)
    rows = turns[[*DIMENSION_NAMES, "overall"]].dropna()
    x = rows[list(DIMENSION_NAMES)] - rows[list(DIMENSION_NAMES)].mean()
    y = rows["overall"] - rows["overall"].mean()

    def explained(names):
        if not names:
            return 0.0
        design = x[list(names)].to_numpy()
        left = y - design @ np.linalg.lstsq(design, y.to_numpy())[0]
        return 1 - (left**2).sum() / (y**2).sum()

    known = {}
    gains = []
    for order in itertools.permutations(DIMENSION_NAMES):
        place = order.index("Relational")
        before = frozenset(order[:place])
        if before not in known:
            known[before] = explained((*before, "Relational")) - explained(before)
        gains.append(known[before])
    found = truth.relative_importance(turns)["relative_importance_share_Relational"]
    assert found == pytest.approx(np.mean(gains) / explained(DIMENSION_NAMES))


# The file


def test_the_stored_values_are_of_the_shipped_workbook_and_its_judge():
    workbook = (ROOT / "data" / "synthetic.xlsx").read_bytes()
    assert STORED["workbook_sha256"] == hashlib.sha256(workbook).hexdigest()
    assert STORED["parameters"] == EXPECTED["parameters"] == Parameters().as_dict()
    assert STORED["judge"] == EXPECTED["judge"] == DEFAULT_JUDGE.as_dict()


def test_the_stored_values_are_those_that_the_code_gives_today():
    few = truth.population_values(Parameters(), batches=2)
    put_in = truth.put_in(Parameters())
    of_judge = {"judge_accuracy", "judge_spearman"}
    assert STORED["values"].keys() == {*few.index, *put_in, *of_judge}
    for key, entry in STORED["values"].items():
        if key in put_in:
            assert entry == {"value": put_in[key], "error": 0}, key
        elif key not in of_judge:
            error = entry["error"] * np.sqrt(truth.BATCHES / 2)
            assert few.loc[key, "value"] == pytest.approx(entry["value"], abs=5 * error), key
