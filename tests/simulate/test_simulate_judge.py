"""The simulated judge: what is planted is in its scores, and its truth is that of the population."""

from pathlib import Path

import numpy as np
import pytest

from sense7.errors import UserError
from sense7.judge.judges import write_simulated
from sense7.judge.reply import read_reply
from sense7.simulate import JudgeParameters, Parameters, describe_parameters, draw, simulate
from sense7.simulate.judge import (
    KINDS,
    USABLE,
    _difference,
    draw_judge,
    implied_judge_values,
    judge_statistics,
    offered_quality,
    plant_judge,
    reply_text,
)
from sense7.simulate.truth import ground_truth

DATA = Path(__file__).resolve().parents[2] / "data"

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


@pytest.fixture(scope="module")
def large():
    return draw(Parameters(), np.random.default_rng(5), 20)


def _content(folder):
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


def scores_of(study, judge, *, words=400.0, seed=1):
    return draw_judge(study, np.full(len(study.turns), words), judge, np.random.default_rng(seed))


# What is planted


def test_the_judge_without_any_error_gives_the_level_of_what_is_offered(large):
    found = scores_of(large, PLAIN.replace(judge_signal=1.0))
    expected = np.clip(np.ceil(offered_quality(large) - 0.5), 1, 5)
    np.testing.assert_array_equal(found.score, np.tile(expected, (10, 1)))
    assert (found.kind == USABLE).all()


def test_the_signal_is_a_slope_and_nothing_of_the_person_is_in_it(large):
    judgment = scores_of(large, PLAIN).judgment
    slope, level = np.polyfit(offered_quality(large) - 4.19, judgment, 1)
    assert (slope, level) == (pytest.approx(0.7), pytest.approx(4.19))
    person = large.participant_effect[large.participant]
    assert abs(np.corrcoef(judgment, person)[0, 1]) < 0.03


@pytest.mark.parametrize("shift", [-0.6, 0.5])
def test_a_shift_moves_every_judgment(large, shift):
    moved = scores_of(large, PLAIN.replace(judge_level_shift=shift)).judgment - scores_of(large, PLAIN).judgment
    np.testing.assert_allclose(moved, shift)


def test_the_weight_on_length_is_per_doubling_of_the_words(large):
    judge = PLAIN.replace(judge_length_weight=0.2, judge_usual_length=100.0)
    for words, doublings in ((100.0, 0), (200.0, 1), (25.0, -2)):
        moved = scores_of(large, judge, words=words).judgment - scores_of(large, PLAIN).judgment
        np.testing.assert_allclose(moved, 0.2 * doublings, atol=1e-12)
    assert np.isfinite(scores_of(large, judge, words=0.0).judgment).all()


def test_misjudgment_is_shared_by_the_runs_and_jitter_is_not(large):
    judge = PLAIN.replace(judge_misjudgment_sd=0.5)
    found = scores_of(large, judge)
    assert (found.score == found.score[0]).all()
    assert (found.judgment - scores_of(large, PLAIN).judgment).std() == pytest.approx(0.5, abs=0.015)
    jittered = scores_of(large, PLAIN.replace(judge_jitter_sd=0.2)).score.astype(int)
    apart = np.abs(jittered - scores_of(large, PLAIN).score)
    # By a normal error of a fifth of a level, a score moves by one level at the most, and only near a threshold.
    assert set(np.unique(apart)) == {0, 1}
    near = np.abs((scores_of(large, PLAIN).judgment + 0.5) % 1 - 0.5) > 0.45
    assert apart[:, near].mean() == pytest.approx(0.45, abs=0.06)


def test_shares_of_unusable_replies_are_those_put_in(large):
    rates = (0.03, 0.02, 0.01, 0.04)
    judge = JudgeParameters(
        judge_refusal_rate=rates[0],
        judge_no_number_rate=rates[1],
        judge_off_scale_rate=rates[2],
        judge_truncation_rate=rates[3],
    )
    kinds = scores_of(large, judge).kind
    for place, rate in enumerate(rates, 1):
        # 134,400 replies: a standard error of at most 0.0006.
        assert (kinds == place).mean() == pytest.approx(rate, abs=0.002), KINDS[place]
    assert (scores_of(large, judge.replace(judge_refusal_rate=0.93)).kind != USABLE).all()


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
def test_replies_are_read_as_what_they_are_and_say_that_they_are_simulated(kind, finish, status, authors):
    text = reply_text(KINDS.index(kind), 4)
    read = read_reply(text, finish_reason=finish)
    assert (read.status, read.score, read.authors_score) == (status, 4.0 if kind == "ok" else None, authors)
    assert text.removeprefix("<S0>").startswith("Simulated: no model was asked")
    assert not (kind == "ok" and read.doubtful)


# Its parameters


@pytest.mark.parametrize(
    ("mapping", "said"),
    [
        ({"judge_signals": 1}, r"no parameter judge_signals\. Did you mean judge_signal"),
        ({"judge_refusal_rate": 1.0}, r"judge_truncation_rate is 0.006; accepted: at most 1 together"),
    ],
)
def test_refusals_name_parameter_value_and_range(mapping, said):
    with pytest.raises(UserError, match=said):
        JudgeParameters.from_mapping(mapping)


def test_every_parameter_is_listed_documented_and_taken_back():
    judge = JudgeParameters(judge_signal=1)
    assert JudgeParameters.from_mapping(judge.as_dict()) == judge
    listed = "\n".join(describe_parameters())
    for name in judge.as_dict():
        assert f"{name} = " in listed


# The study stays the same


def test_the_judge_changes_nothing_of_the_study(small):
    without = simulate(small.study.parameters, 3, judge=None)
    assert without.sheets == small.sheets
    assert without.judged is None
    assert "judge" not in without.truth
    assert without.truth["units"] == small.truth["units"]
    keys = [entry["key"] for entry in without.truth["planted"]]
    assert keys == [entry["key"] for entry in small.truth["planted"] if not entry["key"].startswith("judge_")]


# Its truth


def test_correlation_and_accuracy_are_near_the_published_ones_and_called_tuned(planted):
    for key, published in (("judge_spearman", 0.369), ("judge_accuracy", 0.487)):
        entry = planted[key]
        assert (entry["tuned"], entry["near"], entry["published"]) == (True, key, published)
        assert entry["value"] == pytest.approx(published, abs=0.003)
        assert 0 < entry["monte_carlo_error"] < 0.003
    others = {key for key, entry in planted.items() if key.startswith("judge_") and entry["tuned"]}
    assert others == {"judge_spearman", "judge_accuracy"}


@pytest.mark.long
def test_a_judge_that_was_moved_away_is_not_called_tuned():
    small = Parameters(participants=8, conversations=30, unrated_conversations=1)
    entries = {entry["key"]: entry for entry in plant_judge(small, JudgeParameters(judge_signal=0.0))}
    assert not entries["judge_spearman"]["tuned"]
    assert entries["judge_spearman"]["value"] < 0.15
    assert entries["judge_signal"]["value"] == 0.0


def test_every_entry_says_what_it_is(planted):
    of_judge = {key: entry for key, entry in planted.items() if key.startswith("judge_")}
    assert set(JudgeParameters().as_dict()) < set(of_judge)
    assert all((one["monte_carlo_error"] is not None) == (one["kind"] == "implied") for one in of_judge.values())


@pytest.mark.long
def test_what_follows_directly_is_what_was_put_in(planted):
    assert planted["judge_coverage"]["value"] == pytest.approx(1 - 0.028, abs=0.0004)
    # Only jitter parts the runs: without it, all of them agree.
    still = implied_judge_values(Parameters(), JudgeParameters(judge_jitter_sd=0.0), 2, 2, 2)
    assert still["judge_same_label"][0] == pytest.approx(1.0)


@pytest.mark.long
def test_the_difference_that_words_make_varies_little():
    """That is what the stand-in is for: the error of the difference is a fraction of that of the value."""
    found = [
        _difference(Parameters(), JudgeParameters(), seed, 1)["judge_spearman"]
        for seed in np.random.SeedSequence(3).spawn(6)
    ]
    assert np.std(found, ddof=1) < 0.012
    assert len(set(found)) == 6


def test_statistics_of_a_judge_are_those_of_a_small_table_by_hand():
    """Four conversations, two runs: every number can be counted."""
    study = draw(Parameters(participants=2, conversations=4, unrated_conversations=0), np.random.default_rng(8))
    truth = ground_truth(study)
    judge = JudgeParameters(judge_runs=2)
    scores = draw_judge(study, np.ones(4), judge, np.random.default_rng(1))
    label = np.rint(truth).astype(np.int8)
    score = np.array([label, np.where(np.arange(4) == 0, label - 1, label)], dtype=np.int8)
    kind = np.zeros((2, 4), dtype=np.int8)
    kind[1, 3] = KINDS.index("off the scale")
    found = judge_statistics(study, type(scores)(judge, scores.judgment, score, kind), np.ones(4))
    assert found["judge_accuracy"] == pytest.approx((1 + 2 / 3) / 2)
    assert found["judge_coverage"] == pytest.approx(7 / 8)
    assert found["judge_same_label"] == pytest.approx(2 / 3)
    second = (score[1] - truth)[:3].mean()
    assert found["judge_level_bias"] == pytest.approx(((score[0] - truth).mean() + second) / 2)
    # The authors read 1 from a 10.
    assert found["judge_authors_accuracy"] == pytest.approx((1 + 2 / 4) / 2)


# As the library reads and counts it


def test_embedded_predictions_are_regenerated_and_small(default, tmp_path):
    write_simulated(default, tmp_path / "again")
    assert _content(tmp_path / "again") == _content(DATA / "synthetic_judge")
    assert sum(map(len, _content(tmp_path / "again").values())) < 600_000
