"""Tables carry the keys under which they are recorded, also where nothing can be computed; others carry none."""

import numpy as np
import pytest

from sense7 import load
from sense7.estimators.bootstrap import ParticipantBootstrap
from sense7.findings import measures
from sense7.findings.conditions import MOST_CONDITIONS, no_pairs
from sense7.findings.context import own_topic_means
from sense7.findings.reliability import alpha_if_dropped, alpha_table, fit_indices
from sense7.taxonomy import DIMENSION_NAMES
from sense7.workbook import parse_sheets


@pytest.fixture(scope="module")
def study():
    whole = load("synthetic")
    return whole.subset(participants=whole.conversations["participant"].unique()[:30])


@pytest.fixture(scope="module")
def bootstrap(study):
    return ParticipantBootstrap(study.conversations["participant"], 40, seed=1)


def test_alpha_without_one_dimension_has_keys_where_it_is_recorded(study, bootstrap):
    turns, after = measures.turn_ratings(study), measures.post_task_ratings(study)
    recorded = alpha_if_dropped(turns, bootstrap, recorded_as="turn")
    assert recorded["key"].tolist() == [f"alpha_turn_without_only_{name}" for name in DIMENSION_NAMES]
    assert "" not in recorded["key"].tolist()
    assert set(alpha_if_dropped(turns, bootstrap).get("key", [])) <= {""}
    assert alpha_table(turns, after, bootstrap).index.name == "ratings"


def test_why_there_is_no_interval_names_items_that_are_lacking(study):
    turns = measures.turn_ratings(study)
    assert set(fit_indices(turns)["reason"]) == {"no interval: resampling inflates misfit"}
    lacking = fit_indices(turns.assign(Affective=np.nan))["reason"].iloc[0]
    assert lacking.startswith("no interval: resampling inflates misfit")
    assert "Affective" in lacking


@pytest.mark.parametrize(("conditions", "compared"), [(MOST_CONDITIONS, True), (MOST_CONDITIONS + 1, False)])
def test_pairs_of_up_to_twelve_conditions_are_compared(minimal_sheets, conditions, compared):
    names = [f"c{number}" for number in range(conditions)]
    study = parse_sheets(minimal_sheets(conversations=conditions, tasks={"Model": names}))
    assert len(study.conditions) == conditions
    assert (no_pairs(study) == "") is compared


def test_where_nobody_has_two_conversations_no_own_mean_is_compared(minimal_sheets):
    people = [f"P{number}" for number in range(6)]
    study = parse_sheets(minimal_sheets(conversations=6, tasks={"PID": people}))
    table = own_topic_means(study, ParticipantBootstrap(people, 20))
    assert set(table["reason"]) == {"no participant has two conversations to compare"}
    assert table["estimate"].isna().all()
