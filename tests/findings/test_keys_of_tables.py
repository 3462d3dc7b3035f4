"""Tables carry the keys under which they are recorded, also where nothing can be computed; others carry none."""

import numpy as np
import pandas as pd
import pytest

from sense7 import load
from sense7.estimators.bootstrap import ParticipantBootstrap
from sense7.findings import measures
from sense7.findings.conditions.pairs import MOST_CONDITIONS, no_pairs
from sense7.findings.context.means import own_topic_means
from sense7.findings.poor_turn import intervals, ladder
from sense7.findings.reliability.alphas import alpha_if_dropped, alpha_table
from sense7.findings.structure.items import consistency
from sense7.findings.structure.one_factor import fit_indices
from sense7.findings.structure.ordinal_alpha import ordinal_alpha_row
from sense7.taxonomy import DIMENSION_NAMES
from sense7.workbook import parse_sheets


@pytest.fixture(scope="module")
def study():
    whole = load("synthetic")
    return whole.subset(participants=whole.conversations["participant"].unique()[:30])


@pytest.fixture(scope="module")
def bootstrap(study):
    return ParticipantBootstrap(study.conversations["participant"], 40, seed=1)


def test_widths_of_intervals_of_a_poor_turn_have_keys(study, bootstrap):
    table = intervals.poor_turn_interval_widths(intervals.poor_turn_intervals(study, bootstrap))
    assert table["key"].tolist() == ["interval_width_clustered_poor_turn", "interval_width_resampled_poor_turn"]
    assert table["estimate"].notna().all()


def test_thirds_by_length_have_keys(study, bootstrap):
    thirds = [f"poor_turn_share_{third}_third" for third in ("shortest", "middle", "longest")]
    assert ladder.poor_turn_by_length(study, bootstrap)["key"].tolist() == thirds


def test_alpha_without_one_dimension_has_keys_where_it_is_recorded(study, bootstrap):
    turns, after = measures.turn_ratings(study), measures.post_task_ratings(study)
    recorded = alpha_if_dropped(turns, bootstrap, recorded_as="turn")
    assert recorded["key"].tolist() == [f"alpha_turn_without_only_{name}" for name in DIMENSION_NAMES]
    assert "" not in recorded["key"].tolist()
    assert set(alpha_if_dropped(turns, bootstrap).get("key", [])) <= {""}
    assert alpha_table(turns, after, bootstrap, interval="participants").index.name == "ratings"


def test_what_cannot_be_computed_keeps_its_keys():
    ratings = pd.DataFrame({name: [np.nan] * 9 for name in DIMENSION_NAMES}, index=list("abcdefghi"))
    table = consistency(ratings, ParticipantBootstrap(ratings.index, 20), recorded_as="turn")
    assert table["estimate"].isna().all()
    assert table["key"].tolist() == ["average_correlation_turn", "alpha_standardised_turn", "guttman_lambda6_turn"]


def test_why_there_is_no_interval_names_items_that_are_lacking(study, bootstrap):
    turns = measures.turn_ratings(study)
    assert set(fit_indices(turns)["reason"]) == {"no interval: resampling inflates misfit"}
    lacking = fit_indices(turns.assign(Affective=np.nan))["reason"].iloc[0]
    assert lacking.startswith("no interval: resampling inflates misfit")
    assert "Affective" in lacking
    assert "Affective" in ordinal_alpha_row(turns.assign(Affective=np.nan).round(), bootstrap)["reason"]


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
