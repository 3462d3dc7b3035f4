"""The synthetic workbook and its judge: what is put in is there, in ratings, words and scores."""

import numpy as np
import pandas as pd
import pytest

from helpers import naming
from helpers.studies import parse_sheets
from sense7.checkout import data_file
from sense7.judge.reply import read_reply
from sense7.judge.scores.judges import write_simulated
from sense7.simulate import JudgeParameters, Parameters, draw, simulate
from sense7.simulate.judge import KINDS, draw_judge, offered_quality, reply_text
from sense7.simulate.text import write_words
from sense7.taxonomy import DIMENSION_NAMES, MESSAGE_COLUMNS, TASK_COLUMNS
from sense7.workbook.xlsx import read_sheets


@pytest.mark.parametrize(
    ("mapping", "places"),
    [
        ({"turn_sds": 1}, ["turn_sds", "turn_sd"]),
        ({"turn_sd": "x"}, ["turn_sd is 'x'", "0 to 3"]),
        ({"participants": 1.5}, ["participants is 1.5", "1 to 100,000"]),
        ({"conversations": 50}, ["conversations is 50", "(109)"]),
        ({"conditions": ["a", "a"]}, ["conditions is ['a', 'a']"]),
        ({"condition_effects": {"model-x": 0}}, ["condition_effects.model-x is 0", "model-a"]),
        ({"applicability": [0.5] * 6}, ["applicability", "7 numbers"]),
        ({"thresholds": [1, 1, 2, 3]}, ["thresholds"]),
        ({"topics": ["the weather"]}, ["topics is ['the weather']", "Working from home"]),
        ({"design": "crossed"}, ["design is 'crossed'", "within", "between"]),
        ({"most_important_shares": [0.1] * 7}, ["most_important_shares", 1]),
        ({"turns_maximum": 3}, ["turns_maximum is 3", "turns_minimum (4)"]),
        ({"post_trough_weight": 0.9}, ["post_end_weight is 0.15", 1]),
        ({"characteristics": ["Age"], "characteristic_effects": [0]}, ["PID, Age"]),
        ({"judge_refusal_rate": 1.0}, ["judge_truncation_rate is 0.006", 1]),
    ],
)
def test_refusals_name_parameter_value_and_range(mapping, places):
    of_judge = any(name.startswith("judge_") for name in mapping)
    with naming.refused(*places):
        (JudgeParameters if of_judge else Parameters).from_mapping(mapping)


def test_mapping_changes_only_the_named_entries():
    changed = Parameters.from_mapping(
        {"applicability": {"Relational": 0.2}, "condition_effects": {"model-b": 1}}
    )
    assert changed.applicability == (*Parameters().applicability[:6], 0.2)
    assert changed.condition_effects[1] == 1.0
    new = {"conditions": ["x", "y"], "condition_slopes": [0, 0], "condition_desired_slopes": [0, 0]}
    assert Parameters.from_mapping(
        new | {"condition_effects": {"y": 1, "x": 0}}
    ).condition_effects == (0.0, 1.0)
    with naming.refused("condition_effects", "x"):
        Parameters.from_mapping(new | {"condition_effects": {"y": 1}})


@pytest.fixture(scope="module")
def large():
    return draw(Parameters(), np.random.default_rng(5), 30)


def test_conditions_are_balanced_within_participants(large):
    counts = np.zeros((large.participant.max() + 1, 4), dtype=int)
    np.add.at(counts, (large.participant, large.condition), 1)
    assert (counts.max(axis=1) - counts.min(axis=1) <= 1).all()


def test_between_design_gives_each_participant_one_condition():
    study = draw(Parameters(design="between"), np.random.default_rng(1))
    groups = pd.Series(study.condition).groupby(study.participant)
    assert (groups.max() == groups.min()).all()
    people = groups.first()
    assert people.value_counts().max() - people.value_counts().min() <= 1


DEGENERATE = (
    {"participants": 1, "conversations": 1, "unrated_conversations": 0},
    {"unrated_turn_rate": 1},
    {"failure_probability": 1, "overall_applicability": 0},
    {"thresholds": (-10, -9, -8, -7)},
    {"turns_minimum": 1, "turns_maximum": 1, "turns_mean": 1},
    {"characteristics": (), "characteristic_effects": ()},
    {"design": "between"},
)


@pytest.mark.parametrize("changes", DEGENERATE)
def test_degenerate_studies_are_simulated_without_warnings(changes):
    parameters = Parameters().replace(**{"participants": 5, "conversations": 9} | changes)
    simulated = simulate(parameters, 1)
    assert len(simulated.sheets["Tasks"].rows) == parameters.conversations


def test_text_does_not_know_the_person():
    """The same chances with another leniency give the same words: only comments follow ratings."""
    first = draw(Parameters(participant_sd=0.1), np.random.default_rng(3))
    second = draw(Parameters(participant_sd=1.5), np.random.default_rng(3))
    assert (first.ratings != second.ratings).any()
    one = write_words(first, np.random.default_rng(4))
    two = write_words(second, np.random.default_rng(4))
    assert one.assistant == two.assistant
    assert one.user == two.user


def test_embedded_files_are_those_that_the_defaults_give_today_and_small(default, tmp_path):
    """Every number and word of the simulation is compared with the one that is committed."""
    workbook, judge = (
        data_file("synthetic.xlsx"),
        data_file("synthetic.xlsx").with_name("synthetic_judge"),
    )
    assert read_sheets(workbook) == default.sheets
    write_simulated(default, tmp_path / "again")
    embedded, again = (
        {path.name: path.read_bytes() for path in at.iterdir()}
        for at in (judge, tmp_path / "again")
    )
    assert embedded == again
    assert workbook.stat().st_size < 3e6
    assert sum(map(len, embedded.values())) < 600_000


def test_the_strict_reader_finds_the_ratings_and_what_real_data_have(default):
    """Sheets, ids, order, roles, times and scales are the reader's to check."""
    study, numbers = parse_sheets(default.sheets), default.study
    assert study.diagnostics == []
    assert [sheet.header for sheet in map(default.sheets.get, ("Tasks", "Messages"))] == [
        [column.official for column in columns] for columns in (TASK_COLUMNS, MESSAGE_COLUMNS)
    ]
    levels = study.turns[["overall", *DIMENSION_NAMES]].fillna(0).to_numpy()
    np.testing.assert_array_equal(levels, np.clip(numbers.ratings[:, [7, *range(7)]], 0, None))
    counts = [
        study.conversations[name].nunique()
        for name in ("conversation", "participant", "condition", "topic")
    ]
    assert counts == [672, 109, 4, 8]
    assert set(study.participants["participant"]) == set(study.conversations["participant"])
    assert list(study.participants)[1:5] == ["Age", "Gender", "Role", "AIExperience"]
    assert study.participants.notna().all(axis=None)
    rated = study.turns_put_to_rating["conversation"].unique()
    assert len(set(study.conversations["conversation"]) - set(rated)) == 2


PLAIN = JudgeParameters(
    judge_length_weight=0.0,
    judge_level_shift=0.0,
    judge_misjudgment_sd=0.0,
    judge_jitter_sd=0.0,
    judge_refusal_rate=0.0,
    judge_no_number_rate=0.0,
    judge_off_scale_rate=0.0,
    judge_truncation_rate=0.0,
)
"""A judge that sees nothing but what the conversation offers."""


# What is put in


def test_the_signal_is_a_slope_and_nothing_of_the_person_is_in_it(large):
    words = np.full(len(large.turns), 400.0)
    judgment = draw_judge(large, words, PLAIN, np.random.default_rng(1)).judgment
    slope, level = np.polyfit(offered_quality(large) - 4.19, judgment, 1)
    assert (slope, level) == (pytest.approx(0.7), pytest.approx(4.19))
    person = large.participant_effect[large.participant]
    assert abs(np.corrcoef(judgment, person)[0, 1]) < 0.03


@pytest.mark.parametrize(
    ("kind", "finish", "status", "authors"),
    [
        ("ok", "stop", "ok", 4.0),
        ("refusal", "content_filter", "refusal", 3.0),
        ("no number", "stop", "parse_failure", 3.0),
        ("off the scale", "stop", "parse_failure", 1.0),
        ("truncated", "length", "truncated", 3.0),
    ],
)
def test_replies_are_read_as_they_are_and_called_simulated(kind, finish, status, authors):
    text = reply_text(KINDS.index(kind), 4)
    read = read_reply(text, finish_reason=finish)
    assert (read.status, read.score, read.authors_score) == (
        status,
        4.0 if kind == "ok" else None,
        authors,
    )
    naming.check(text, "Simulated: ")
    assert not (kind == "ok" and read.doubtful)
