"""The synthetic workbook: what is put in is there, in ratings, words, sheets and the file of truths."""

import dataclasses
import json
import re
import string
from importlib.resources import files

import numpy as np
import pandas as pd
import pytest
from scipy.stats import spearmanr

from sense7.checkout import data_file
from sense7.errors import UserError
from sense7.simulate import NOT_PUT, JudgeParameters, Parameters, draw, simulate, truth_text
from sense7.simulate.implied import BATCHES, implied_values, statistics_of
from sense7.simulate.parameters import TOPICS
from sense7.simulate.text import PHRASES, write_words
from sense7.simulate.truth import ground_truth
from sense7.taxonomy import DIMENSION_NAMES, MESSAGE_COLUMNS, TASK_COLUMNS
from sense7.workbook import parse_sheets
from sense7.workbook.xlsx import read_sheets


@pytest.mark.parametrize(
    ("mapping", "said"),
    [
        ({"turn_sds": 1}, r"no parameter turn_sds\. Did you mean turn_sd"),
        ({"turn_sd": "x"}, r"turn_sd is 'x'; accepted: a number from 0 to 3"),
        ({"turn_sd": None}, r"turn_sd is None"),
        ({"turn_sd": True}, r"turn_sd is True"),
        ({"turn_sd": -0.1}, r"turn_sd is -0.1; accepted: a number from 0 to 3"),
        ({"turn_sd": float("nan")}, r"turn_sd is nan"),
        ({"participants": 1.5}, r"participants is 1.5; accepted: a whole number from 1 to 100,000"),
        ({"conversations": 50}, r"conversations is 50; accepted: at least one a participant \(109\)"),
        ({"unrated_conversations": 672}, r"unrated_conversations is 672"),
        ({"conditions": "model-a"}, r"conditions is 'model-a'; accepted: a list of 1 to 12 different names"),
        ({"conditions": ["a", "a"]}, r"conditions is \['a', 'a'\]"),
        ({"conditions": ["a", "b"]}, r"condition_effects .* 2 numbers, one for each of the conditions"),
        ({"condition_effects": {"model-x": 0}}, r"condition_effects\.model-x is 0; .*model-a"),
        ({"condition_effects": {"model-b": 9}}, r"condition_effects\[1\] is 9; accepted: a number from -3 to 3"),
        ({"applicability": 0.5}, r"applicability is 0.5; accepted: a list with a number from 0 to 1"),
        ({"applicability": [0.5] * 6}, r"7 numbers, one for each of the dimensions"),
        ({"thresholds": [1, 1, 2, 3]}, r"thresholds .* ascending"),
        ({"topics": ["the weather"]}, r"topics is \['the weather'\]; .*Working from home"),
        ({"design": "crossed"}, r"design is 'crossed'; accepted: within or between"),
        ({"most_important_shares": [0.1] * 7}, r"most_important_shares .* sum to 1"),
        ({"turns_mean": 3}, r"turns_mean is 3.0; accepted: from 4 to 20"),
        ({"turns_maximum": 3}, r"turns_maximum is 3; accepted: at least turns_minimum \(4\)"),
        ({"post_trough_weight": 0.9}, r"post_end_weight is 0.15; accepted: at most 1 together"),
        ({"characteristics": ["Age"], "characteristic_effects": [0]}, r"names other than PID, Age"),
    ],
)
def test_refusals_name_parameter_value_and_range(mapping, said):
    with pytest.raises(UserError, match=said):
        Parameters.from_mapping(mapping)


def test_mapping_changes_only_the_named_entries():
    changed = Parameters.from_mapping({"applicability": {"Relational": 0.2}, "condition_effects": {"model-b": 1}})
    assert changed.applicability == (*Parameters().applicability[:6], 0.2)
    assert changed.condition_effects[1] == 1.0
    new = {"conditions": ["x", "y"], "condition_slopes": [0, 0], "condition_desired_slopes": [0, 0]}
    assert Parameters.from_mapping(new | {"condition_effects": {"y": 1, "x": 0}}).condition_effects == (0.0, 1.0)
    with pytest.raises(UserError, match="missing: x"):
        Parameters.from_mapping(new | {"condition_effects": {"y": 1}})


def test_round_trip_and_immutability():
    parameters = Parameters.from_mapping({"turn_sd": 1, "participants": 10.0, "conversations": 40})
    assert Parameters.from_mapping(parameters.as_dict()) == parameters
    assert isinstance(parameters.turn_sd, float)
    assert isinstance(parameters.participants, int)
    assert hash(parameters) == hash(Parameters.from_mapping(parameters.as_dict()))
    with pytest.raises(dataclasses.FrozenInstanceError):
        parameters.turn_sd = 2.0


def test_every_parameter_is_documented():
    text = (files("sense7.simulate") / "parameters.toml").read_text("utf-8")
    for entry in dataclasses.fields(Parameters):
        assert re.search(rf"\b{entry.name}\b", text), entry.name


def test_no_systematic_effect_is_left_in_the_null_world():
    null = Parameters().without_effects()
    for name in ("condition_effects", "condition_slopes", "topic_effects", "characteristic_effects"):
        assert not any(getattr(null, name)), name
    assert null.continuity_drop == null.expectation_drop == null.importance_effect == null.desired_effect == 0
    assert null.participant_sd == Parameters().participant_sd


def test_there_is_a_story_for_every_topic():
    assert set(PHRASES["stories"]) == set(TOPICS)


# Far from floor and ceiling, ratings are the latent up to rounding, so that latent effects
# are rated effects.
SMALL = Parameters(participants=8, conversations=24, unrated_conversations=1)
CENTRED = Parameters().replace(
    quality_mean=3.0,
    condition_effects=(0.3, 0.0, 0.0, -0.3),
    condition_slopes=(0.0,) * 4,
    condition_desired_slopes=(0.0,) * 4,
    topic_effects=(0.0,) * 8,
    importance_effect=0.0,
    desired_effect=0.0,
    participant_sd=0.3,
    characteristic_effects=(0.0,) * 8,
    dimension_intercepts=(0.0,) * 7,
    failure_probability=0.0,
)


def frame_of(study):
    ratings = pd.DataFrame(study.ratings[:, :7], columns=list(DIMENSION_NAMES)).where(study.ratings[:, :7] > 0)
    turns = pd.DataFrame({"conversation": study.conversation, "mean": ratings.mean(axis=1)})
    frame = pd.DataFrame({"participant": study.participant, "condition": study.condition})
    frame["truth"] = turns.groupby("conversation")["mean"].mean()
    return frame


@pytest.fixture(scope="module")
def large():
    return draw(Parameters(), np.random.default_rng(5), 30)


def test_states_and_shapes(default):
    study = default.study
    assert set(np.unique(study.ratings)) == {NOT_PUT, 0, 1, 2, 3, 4, 5}
    blank = study.ratings == NOT_PUT
    assert (blank.all(axis=1) == blank.any(axis=1)).all(), "a turn is put to rating as a whole"
    assert study.turns.min() >= 4
    assert study.turns.max() <= 20
    assert np.bincount(study.conversation).tolist() == study.turns.tolist()
    assert not study.failure[study.turn == 0].any()
    counts = np.bincount(study.participant)
    assert len(counts) == 109
    assert counts.sum() == 672
    assert counts.min() >= 1
    assert counts.max() > 2 * counts.min()
    assert np.isnan(ground_truth(study)).sum() == 2
    for name, low, high in (("importance", 1, 5), ("desired", 1, 3), ("post", 1, 5), ("experience", 1, 5)):
        assert set(np.unique(getattr(study, name))) == set(range(low, high + 1)), name


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


def test_condition_differences_are_those_put_in():
    study = draw(CENTRED, np.random.default_rng(2), 30)
    means = frame_of(study).groupby("condition")["truth"].mean()
    # 20,160 conversations with sd of about 0.6: standard error of a difference about 0.01.
    assert means[0] - means[1] == pytest.approx(0.3, abs=0.035)
    assert means[0] - means[3] == pytest.approx(0.6, abs=0.035)
    assert means[1] - means[2] == pytest.approx(0.0, abs=0.035)


@pytest.mark.long
def test_variance_parts_are_those_put_in():
    # The ends of the scale take some 4% away; four draws have standard errors of about 0.0017.
    values = [statistics_of(draw(CENTRED, np.random.default_rng(seed), 20)) for seed in range(4)]
    for key, sd in (("variance_participant", 0.3), ("variance_participant_condition", 0.2)):
        assert np.mean([value[key] for value in values]) == pytest.approx(0.96 * sd**2, abs=0.008), key


def test_tuned_values_are_near_the_published_ones(planted):
    published = {
        "alpha_turn": (0.961, 0.001),
        "alpha_post": (0.94, 0.002),
        "applicability_Relational": (0.381, 0.006),
        "very_poor_of_rated_Relational": (0.022, 0.001),
        "poor_turn_d": (1.142, 0.03),
        "kappa_linear_Affective": (0.703, 0.004),
        "kappa_linear_Relational": (0.541, 0.004),
    }
    values = {key: entry["value"] for key, entry in planted.items()}
    for key, (value, allowed) in published.items():
        assert values[key] == pytest.approx(value, abs=allowed), key
    for family, best in (("applicability_", min), ("kappa_linear_", min), ("very_poor_of_rated_", max)):
        assert best(DIMENSION_NAMES, key=lambda name, of=family: values[of + name]) == "Relational"


def test_a_failure_of_continuity_drops_and_lingers(large):
    overall = large.latent[:, 7]
    before = np.append(False, large.failure[:-1]) & (large.turn > 0) & ~large.failure
    usual = overall[large.carry < 0.02].mean()
    assert overall[large.failure].mean() < usual - 0.6
    assert usual - 0.7 < overall[before].mean() < usual - 0.2
    drop = large.quality[large.carry < 0.02].mean(axis=0) - large.quality[large.failure].mean(axis=0)
    assert DIMENSION_NAMES[int(drop.argmax())] == "Relational"
    assert DIMENSION_NAMES[int(np.argsort(drop)[-2])] == "Contextual"


def test_unmet_expectation_lowers_post_task_ratings():
    with_drop = draw(Parameters(expectation_drop=1.0), np.random.default_rng(4), 10)
    without = draw(Parameters(expectation_drop=0.0), np.random.default_rng(4), 10)
    assert (with_drop.unmet == without.unmet).all()
    assert 0.02 < without.unmet.mean() < 0.2
    loss = without.post.mean(axis=1) - with_drop.post.mean(axis=1)
    assert loss[~without.unmet].max() == 0
    assert 0.6 < loss[without.unmet].mean() < 1.0


def test_characteristics_with_and_without_effect(large):
    means = frame_of(large).groupby("participant")["truth"].mean().dropna()
    # 3,270 participants: standard error of a null correlation 0.0175.
    correlations = [np.corrcoef(large.scores[means.index, k], means)[0, 1] for k in range(8)]
    assert correlations[0] > 0.25
    assert correlations[1] > 0.15
    assert np.abs(correlations[2:]).max() < 0.07


@pytest.mark.parametrize(
    "changes",
    [
        {"participants": 1, "conversations": 1, "unrated_conversations": 0},
        {"participants": 5, "conversations": 9, "unrated_turn_rate": 1},
        {"participants": 5, "conversations": 9, "failure_probability": 1, "overall_applicability": 0},
        {"participants": 5, "conversations": 9, "thresholds": (-10, -9, -8, -7)},
        {"participants": 5, "conversations": 9, "turns_minimum": 1, "turns_maximum": 1, "turns_mean": 1},
        {"participants": 5, "conversations": 9, "characteristics": (), "characteristic_effects": ()},
        {"participants": 5, "conversations": 9, "design": "between"},
    ],
)
def test_degenerate_studies_have_a_truth_without_warnings(changes):
    values = implied_values(Parameters().replace(**changes), batches=2, scale=2)
    assert "alpha_turn" in values


def slots(text):
    return {name for _, name, _, _ in string.Formatter().parse(text) if name}


def balance_of(texts):
    """Whole sentences of good and very good turns minus those of poor ones, found in the texts."""
    good, poor = [], []
    for sayings in PHRASES["phrases"].values():
        levels = list(sayings.values())
        good += [phrase for level in levels[2:] for phrase in level if not slots(phrase)]
        poor += [phrase for phrase in levels[0] if not slots(phrase)]
    return np.array([sum(s in text for s in good) - sum(s in text for s in poor) for text in texts])


def test_text_carries_signal_but_not_all(default):
    balance = balance_of(default.words.assistant)
    quality = default.study.quality.mean(axis=1)
    overall = default.study.ratings[:, 7]
    assert 0.35 < spearmanr(balance, quality).statistic < 0.9
    assert 0.2 < spearmanr(balance[overall > 0], overall[overall > 0]).statistic < 0.8


def test_each_behaviour_follows_its_own_dimension(default):
    shown, quality = default.words.shown, default.study.quality
    for place, name in enumerate(DIMENSION_NAMES):
        rows = shown[:, place] >= 0
        assert rows.sum() > 500, name
        own = np.corrcoef(shown[rows, place], quality[rows, place])[0, 1]
        assert 0.6 < own < 0.97, name


def test_noise_drowns_the_signal():
    parameters = Parameters(participants=40, conversations=200, text_noise_sd=20)
    study = draw(parameters, np.random.default_rng(1))
    words = write_words(study, np.random.default_rng(2))
    shown = np.where(words.shown >= 0, words.shown, np.nan)
    correlation = np.corrcoef(np.nanmean(shown, axis=1), study.quality.mean(axis=1))[0, 1]
    assert abs(correlation) < 0.12


def test_text_does_not_know_the_person():
    """The same chances with another leniency give the same words: only comments follow ratings."""
    first = draw(Parameters(participant_sd=0.1), np.random.default_rng(3))
    second = draw(Parameters(participant_sd=1.5), np.random.default_rng(3))
    assert (first.ratings != second.ratings).any()
    one = write_words(first, np.random.default_rng(4))
    two = write_words(second, np.random.default_rng(4))
    assert one.assistant == two.assistant
    assert one.user == two.user


def test_failures_read_like_failures(default):
    words, study = default.words, default.study
    starts = tuple(phrase.split("{")[0] for phrase in PHRASES["failures"])
    failed = [words.assistant[row].startswith(starts) for row in range(len(study.turn))]
    assert failed == study.failure.tolist()
    complaint = tuple(phrase.split("{")[0].strip().lower() for phrase in PHRASES["complaints"])
    after = np.flatnonzero(study.failure[:-1] & (study.turn[1:] < study.turns[study.conversation[1:]] - 1)) + 1
    after = after[study.turn[after] > 0]
    assert len(after) > 100
    assert all(words.user[row].lower().startswith(complaint) for row in after)


def test_words_are_finished_and_varied(default):
    words = default.words
    for text in words.user + words.assistant + [c for c in words.comment if c]:
        assert text == " ".join(text.split())
        assert text
        assert not set("{}+") & set(text), text
    assert len(set(words.assistant)) > 0.95 * len(words.assistant)
    assert len(set(words.user)) > 0.4 * len(words.user)
    lengths = [len(text) for text in words.assistant]
    assert 120 < np.mean(lengths) < 400


def test_no_sentence_comes_twice_in_a_row(default):
    words, study = default.words, default.study
    for row in np.flatnonzero(study.turn > 0):
        assert words.assistant[row] != words.assistant[row - 1]


@pytest.mark.parametrize("name", DIMENSION_NAMES)
def test_phrases_can_always_be_said(name):
    levels = list(PHRASES["phrases"][name].values())
    assert len(levels) == 4
    allowed = {"feeling", "fact", "sore", "old", "goal", "advice", "question", "name", "project"}
    for level in levels:
        assert len(set(level)) >= 6 or name == "Interest"
        assert all(slots(phrase) <= allowed for phrase in level)
        # Relational needs something to recall, and is shown only where there is.
        free = {"advice", "question", "sore", "fact"} | ({"old"} if name == "Relational" else set())
        assert any(slots(phrase) <= free for phrase in level)


@pytest.mark.parametrize("topic", PHRASES["stories"])
def test_stories_hold_together(topic):
    story = PHRASES["stories"][topic]
    told = {"name", "project", "day", "span"}
    assert len(story["details"]) == 12
    for fact in (*story["openings"], *story["details"]):
        sentence, reference = fact["user"], fact["assistant"]
        assert slots(sentence) | slots(reference) <= told
        assert sentence.endswith(".")
        assert not reference.endswith(".")
    assert all(opening.get("burden", True) for opening in story["openings"])
    # Before names are known, there must be something to advise and to ask.
    assert any(not slots(text) - {"day"} for text in story["advice"])
    assert any(not slots(text) for text in story["questions"])
    assert all(goal.startswith("to ") for goal in story["goals"])


def test_comments_follow_ratings(default):
    study, comments = default.study, default.words.comment
    given = np.array([comment is not None for comment in comments])
    overall = study.ratings[:, 7]
    assert not given[(study.ratings[:, :7] <= 0).all(axis=1)].any()
    assert given[(overall > 0) & (overall <= 2)].mean() > 1.5 * given[overall == 4].mean()
    assert 0.04 < given.mean() < 0.2


def test_same_seed_same_content_other_seed_other_content(small):
    again, other = simulate(SMALL, 3), simulate(SMALL, 4)
    assert again.sheets == small.sheets
    assert truth_text(again.truth) == truth_text(small.truth)
    assert other.sheets["Messages"].rows != small.sheets["Messages"].rows
    assert other.truth["planted"] == small.truth["planted"]
    assert other.truth["units"] != small.truth["units"]
    for name in ("score", "kind", "judgment"):
        np.testing.assert_array_equal(getattr(again.judged, name), getattr(small.judged, name))
    assert (other.judged.score != small.judged.score).any()


def test_files_are_what_the_sheets_and_the_truth_say(small, tmp_path):
    small.write(tmp_path / "a.xlsx", tmp_path / "a.json")
    assert read_sheets(tmp_path / "a.xlsx") == small.sheets
    assert json.loads((tmp_path / "a.json").read_text("utf-8")) == small.truth
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.json", "a.xlsx"]
    with pytest.raises(UserError, match="can't be written"):
        small.write(tmp_path / "b.xlsx", tmp_path / "a.json" / "b.json")


def test_embedded_files_are_regenerated_and_small(default, truth):
    """data/ holds what the defaults give today."""
    workbook, truths = data_file("synthetic.xlsx"), data_file("synthetic_truth.json")
    assert read_sheets(workbook) == default.sheets
    assert workbook.stat().st_size < 3e6
    assert truths.stat().st_size < 1.5e6
    assert Parameters.from_mapping(truth["parameters"]) == Parameters()
    few = implied_values(Parameters(), batches=2)
    for entry in truth["planted"]:
        if entry["key"] in few and entry["monte_carlo_error"]:
            error = entry["monte_carlo_error"] * np.sqrt(BATCHES / 2)
            assert few[entry["key"]][0] == pytest.approx(entry["value"], abs=8 * error), entry["key"]


@pytest.mark.long
def test_the_embedded_truth_is_regenerated(default):
    assert data_file("synthetic_truth.json").read_text("utf-8") == truth_text(default.truth)


def test_the_strict_reader_finds_the_ratings_and_what_real_data_have(default):
    """Sheets, ids, order, roles, times and scales are the reader's to check."""
    study, numbers = parse_sheets(default.sheets), default.study
    assert study.diagnostics == []
    assert [sheet.header for sheet in map(default.sheets.get, ("Tasks", "Messages"))] == [
        [column.official for column in columns] for columns in (TASK_COLUMNS, MESSAGE_COLUMNS)
    ]
    levels = study.turns[["overall", *DIMENSION_NAMES]].fillna(0).to_numpy()
    np.testing.assert_array_equal(levels, np.clip(numbers.ratings[:, [7, *range(7)]], 0, None))
    counts = [study.conversations[name].nunique() for name in ("conversation", "participant", "condition", "topic")]
    assert counts == [672, 109, 4, 8]
    assert set(study.participants["participant"]) == set(study.conversations["participant"])
    assert list(study.participants)[1:5] == ["Age", "Gender", "Role", "AIExperience"]
    assert study.participants.notna().all(axis=None)
    rated = study.turns_put_to_rating["conversation"].unique()
    assert len(set(study.conversations["conversation"]) - set(rated)) == 2
    messages, rows = study.messages, default.sheets["Messages"].rows
    assert (messages.groupby("conversation")["seconds"].diff().dropna() > 0).all()
    assert 40 < (messages["role"] == "error").sum() < 200
    assert 5 < messages["content"].isna().sum() < 100
    assert sum(row[5] is not None for row in rows) > 100
    assert messages["comment"].notna().sum() > 200
    spellings = {cell for row in rows for cell in row[6:14] if cell}
    assert {"Very good", "very good", "Very Good", "Unknown", "unknown"} <= spellings


def test_truth_is_complete(truth, planted):
    assert truth["format"] == 2
    assert truth["judge"] == {"name": "simulated-judge", "parameters": JudgeParameters().as_dict()}
    assert len(planted) == len(truth["planted"])
    for entry in planted.values():
        assert entry["kind"] in {"parameter", "implied", "count"}
        assert all(entry[part] for part in ("meaning", "unit", "how"))
        assert entry["value"] is not None
        assert entry["tuned"] <= (entry["near"] is not None)
        assert entry["monte_carlo_error"] is None or entry["kind"] == "implied"
    assert {entry["near"] for entry in planted.values() if entry["tuned"]} == {
        *("participants", "conversations_released", "llm_conditions", "tasks", "alpha_turn", "alpha_post"),
        *("relational_applicability", "relational_very_poor", "poor_turn_d", "kappa_affective"),
        *("kappa_relational", "importance_cognitive", "importance_affective", "importance_response"),
        *("dimensions", "levels", "best_condition", "judge_spearman", "judge_accuracy"),
    }
    assert planted["best_condition"]["value"] == "model-a-empathy-prompt"


def test_units_point_into_the_workbook(default, truth):
    units = truth["units"]
    roles = {(row[0], row[1]): row[3] for row in default.sheets["Messages"].rows}
    assert len(units["participants"]["rows"]) == 109
    assert len(units["participant_conditions"]["rows"]) == 109 * 4
    conversations = units["conversations"]
    assert [row[0] for row in conversations["rows"]] == default.sheets["Tasks"].column(2)
    place = conversations["columns"].index("ground_truth")
    expected = ground_truth(default.study)
    for row, value in zip(conversations["rows"], expected, strict=True):
        assert (row[place] is None) == np.isnan(value)
        assert row[place] is None or row[place] == pytest.approx(value, abs=5.1e-5)
    for row in units["turns"]["rows"]:
        assert roles[row[0], row[1]] == "assistant"


@pytest.mark.long
def test_a_value_stays_tuned_until_it_is_moved_away_from_the_published_one():
    small = Parameters(participants=8, conversations=30, unrated_conversations=1, turn_sd=2.5)
    truth = simulate(small, 1).truth
    planted = {entry["key"]: entry for entry in truth["planted"]}
    assert not planted["participants"]["tuned"]
    assert planted["tasks"]["tuned"]
    assert planted["alpha_turn"]["tuned"]
    for entry in planted.values():
        if entry["tuned"] and entry["published"]:
            assert entry["value"] == pytest.approx(entry["published"], rel=0.1)
    assert json.loads(truth_text(truth)) == truth


@pytest.mark.parametrize("seed", [-1, 1.5, "1", True])
def test_seed_is_checked(seed):
    with pytest.raises(UserError, match="whole number of at least 0"):
        simulate(Parameters(participants=2, conversations=4), seed)


def test_a_study_without_texts_has_the_same_ratings():
    """The words come from a stream of their own, and no rating depends on them."""
    small = Parameters(participants=6, conversations=18)
    spoken, mute = (simulate(small, 5, None, texts=texts) for texts in (True, False))
    assert np.array_equal(spoken.study.ratings, mute.study.ratings)
    content = mute.sheets["Messages"].header.index("Content")
    role = mute.sheets["Messages"].header.index("Role")
    said = {row[content] for row in mute.sheets["Messages"].rows if row[role] in ("user", "assistant")}
    assert said <= {".", None}
