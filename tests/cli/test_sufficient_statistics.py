"""Data in parts: the sums of the parts give what the data in one piece give."""

import os
import signal
from functools import cache

import numpy as np
import pandas as pd
import pytest

from sense7.book.scheduler import mapping
from sense7.cli.sufficient_statistics import (
    estimates_of_parts,
    statistics_of_parts,
    sums_of_part,
)
from sense7.estimators import alpha, rater_agreement
from sense7.estimators.bootstrap import ParticipantBootstrap
from sense7.estimators.estimates import safe_names
from sense7.findings import agreement, conditions, measures, poor_turn, ratings
from sense7.findings import reliability as alphas_module
from sense7.findings.ground_truth import ground_truth
from sense7.judge.scores.metrics import run_metrics
from sense7.loading import load
from sense7.taxonomy import DIMENSION_NAMES
from sense7.workbook import parse_sheets
from sense7.workbook.writing import write_partitions

DRAWS = {"draws": 300, "seed": 5, "confidence": 0.9}
NUMBERS = ["estimate", "low", "high", "n"]


@pytest.fixture(scope="module")
def study():
    return load("synthetic")


@pytest.fixture(scope="module")
def scores(study):
    """A judge that is right at times, and silent on some conversations."""
    generator = np.random.default_rng(1)
    truth = ground_truth(study.turns, study.conversations["conversation"])
    return (truth + generator.normal(size=len(truth))).clip(1, 5).iloc[20:]


def in_one_piece(study, scores=None):
    """The same statistics by the functions that the notebooks call: key -> row."""
    bootstrap = ParticipantBootstrap(study.conversations["participant"], **DRAWS)
    turns, post = measures.turn_ratings(study), measures.post_task_ratings(study)
    tables = [
        alphas_module.alpha_table(turns, post, bootstrap, repeated="").iloc[:4],
        ratings.applicability(study, bootstrap),
        ratings.mean_levels(study, bootstrap),
        poor_turn.poor_turn_effects(study, bootstrap).iloc[:1],
        *(
            agreement.agreement_with_overall(study, bootstrap, kind)
            for kind in rater_agreement.WEIGHTS
        ),
        conditions.condition_means(study, bootstrap),
        poor_turn.empathy_and_experience(study, bootstrap).loc[list(poor_turn.EXPERIENCE)],
    ]
    rows = {row["key"]: row for table in tables for _, row in table.iterrows()}
    if scores is not None:
        truth = ground_truth(study.turns, study.conversations["conversation"])
        who = study.conversations["participant"].to_numpy()
        frame = pd.DataFrame(
            {"ground_truth": truth, "score": scores.reindex(truth.index), "participant": who}
        )
        rows["accuracy"] = run_metrics(frame, bootstrap).loc["accuracy"]
    return rows


@pytest.fixture(scope="module")
def expected(study, scores):
    return in_one_piece(study, scores)


@pytest.fixture(scope="module")
def in_parts(study, tmp_path_factory):
    """A folder of the study in so many parts, written once: only to be read."""

    @cache
    def folder_of(parts):
        folder = tmp_path_factory.mktemp("partitions") / "parts"
        write_partitions(study, folder, parts)
        return folder

    return folder_of


def require_equal(found, expected):
    for key, row in expected.items():
        np.testing.assert_allclose(
            found.loc[key, NUMBERS].astype(float),
            row[NUMBERS].astype(float),
            rtol=1e-12,
            atol=1e-12,
            err_msg=key,
        )


@pytest.mark.parametrize("parts", [1, pytest.param(3, marks=pytest.mark.long), 8])
def test_parts_give_what_the_data_in_one_piece_give(expected, in_parts, scores, parts):
    found = statistics_of_parts(in_parts(parts), scores, **DRAWS)
    assert len(expected) > 40
    require_equal(found, expected)


def test_the_differences_of_conditions_are_those_of_the_data_in_one_piece(study, in_parts):
    found = statistics_of_parts(in_parts(8), **DRAWS)
    bootstrap = ParticipantBootstrap(study.conversations["participant"], **DRAWS)
    for standardized, start in ((False, "condition_difference"), (True, "condition_d")):
        table = conditions.condition_differences(study, bootstrap, standardized=standardized)
        safe = safe_names(study.conditions)
        for name, (first, second, _) in conditions.condition_pairs(study).items():
            sign = 1 if first < second else -1
            key = f"{start}_{safe[min(first, second)]}_{safe[max(first, second)]}"
            limits = np.array(found.loc[key, ["estimate", "low", "high"]], dtype=float)
            limits = limits if sign > 0 else -limits[[0, 2, 1]]
            expected = table.loc[name, ["estimate", "low", "high"]].astype(float)
            np.testing.assert_allclose(limits, expected, rtol=1e-11, atol=1e-12, err_msg=key)


def ratings_of(conversations, dimensions):
    """Cells of two assistant turns a conversation; None where a dimension is not rated."""
    return {
        name: [
            cell
            for number in range(conversations)
            for cell in (None, dimensions(number, name), None, 4.0)
        ]
        for name in DIMENSION_NAMES
    }


def test_a_dimension_that_one_part_never_rates_counts_as_in_one_piece(minimal_sheets, tmp_path):
    # The last participant never rates Relational: listwise, that part has no complete turn.
    def level(number, name):
        return (
            None if number == 11 and name == "Relational" else float(1 + (number + len(name)) % 5)
        )

    cells = ratings_of(12, level)
    cells["Relational"][-1] = None
    study = parse_sheets(minimal_sheets(conversations=12, participants=12, messages=cells))
    write_partitions(study, tmp_path / "parts", 12)
    found = statistics_of_parts(tmp_path / "parts", **DRAWS)
    turns = measures.turn_ratings(study)
    bootstrap = ParticipantBootstrap(study.conversations["participant"], **DRAWS)
    for missing, key in (("pairwise", "alpha_turn"), ("listwise", "alpha_turn_listwise")):
        require_equal(found, {key: pd.Series(alpha.alpha_row(turns, bootstrap, missing=missing))})


def test_a_part_without_a_rating_and_a_condition_of_one_part_only_are_no_trouble(
    minimal_sheets, tmp_path
):
    def level(number, name):
        return None if number == 7 else float(1 + (number * 3 + len(name)) % 5)

    cells = ratings_of(8, level) | {"EmpathyOverall": [None, 4.0, None, 2.0] * 7 + [None] * 4}
    for name in DIMENSION_NAMES:
        cells[name][-1] = None
    models = ["plain", "other"] * 3 + ["plain", "rare"]
    study = parse_sheets(
        minimal_sheets(conversations=8, participants=8, messages=cells, tasks={"Model": models})
    )
    write_partitions(study, tmp_path / "parts", 8)
    require_equal(
        statistics_of_parts(tmp_path / "parts", **DRAWS),
        {key: row for key, row in in_one_piece(study).items() if "rare" not in key},
    )


def test_a_participant_in_two_parts_is_refused(study, sentences):
    part = sums_of_part(study)
    with sentences.refused("'P001'"):
        estimates_of_parts([part, part], **DRAWS)


def end_this_worker(_item):
    os.kill(os.getpid(), signal.SIGTERM)


def test_a_worker_that_the_system_ends_is_one_sentence_on_memory_and_jobs(sentences):
    with (
        sentences.refused(2, "--jobs 1"),
        mapping(None, 2) as apply,
    ):
        list(apply(end_this_worker, range(4)))
