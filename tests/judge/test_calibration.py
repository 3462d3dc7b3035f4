"""Calibration: participants held out, mappings and error by other means; calibrated files, and nothing half-written."""

import numpy as np
import pandas as pd
import pytest
from sklearn.isotonic import IsotonicRegression
from sklearn.model_selection import GroupKFold
from typer.testing import CliRunner

from sense7.cli import app
from sense7.errors import UserError
from sense7.estimators.bootstrap import ParticipantBootstrap
from sense7.findings.ground_truth import labels
from sense7.judge.calibration import calibrated, calibration_errors
from sense7.judge.files import read_predictions, write_predictions
from sense7.judge.report import calibrate


def predictions(seed=0, people=12, each=6, shift=1.0):
    generator = np.random.default_rng(seed)
    who = np.repeat([f"P{n}" for n in range(people)], each)
    truth = np.clip(3.3 + generator.normal(0, 0.8, len(who)), 1, 5)
    score = np.clip(np.round(truth + shift + generator.normal(0, 0.6, len(who))), 1, 5)
    return pd.DataFrame({"participant": who, "ground_truth": truth, "score": score})


def test_what_a_participant_rated_changes_nothing_in_their_own_scores():
    frame = predictions()
    other = frame.copy()
    own = frame["participant"] == "P3"
    other.loc[own, "ground_truth"] = 6 - frame.loc[own, "ground_truth"]
    before, after = (calibrated(one) for one in (frame, other))
    assert before[own] == pytest.approx(after[own], abs=1e-9)
    assert np.abs(before - after)[~own].max() > 1e-3


def test_isotonic_is_that_of_scikit_learn_fold_by_fold():
    frame = predictions()
    score, truth = frame["score"].to_numpy(), frame["ground_truth"].to_numpy()
    expected = np.empty(len(frame))
    for train, test in GroupKFold(10).split(score, groups=pd.factorize(frame["participant"])[0]):
        expected[test] = IsotonicRegression(out_of_bounds="clip").fit(score[train], truth[train]).predict(score[test])
    assert calibrated(frame) == pytest.approx(expected)


def test_rows_without_ground_truth_are_mapped_and_teach_nothing():
    frame = predictions()
    hidden = frame.index % 5 == 0
    without = frame.assign(ground_truth=frame["ground_truth"].where(~hidden))
    odd = without.assign(score=without["score"].where(~hidden, 1.0))
    mapped, changed = calibrated(without), calibrated(odd)
    assert np.isfinite(mapped).all()
    assert mapped[~hidden] == pytest.approx(changed[~hidden])


def test_a_row_without_a_score_has_none_after():
    frame = predictions()
    frame.loc[3, "score"] = np.nan
    assert np.flatnonzero(np.isnan(calibrated(frame))).tolist() == [3]


def test_too_few_participants_are_refused():
    with pytest.raises(UserError, match=r"4 participants with ratings and scores: too few .* at least 5"):
        calibrated(predictions(people=4))


def test_the_error_is_the_weighted_distance_of_the_levels():
    frame = predictions()
    bootstrap = ParticipantBootstrap(frame["participant"], 200, 1)
    found = calibration_errors(frame, bootstrap)
    level = labels(frame["score"])
    by_hand = sum(
        (level == k).mean() * abs(frame.loc[level == k, "ground_truth"].mean() - frame.loc[level == k, "score"].mean())
        for k in np.unique(level)
    )
    assert found.loc["as given", "estimate"] == pytest.approx(by_hand)
    lower = found.loc["as given", "estimate"] - found.loc["isotonic", "estimate"]
    assert found.loc["lower by", "estimate"] == pytest.approx(lower)
    assert found.loc["lower by", "low"] > 0.3  # a judge one level too kind
    assert found.loc["isotonic", "estimate"] < 0.2


@pytest.mark.long
def test_intervals_hold_their_estimate_and_mostly_the_error_that_was_planted():
    held = []
    for seed in range(60):
        frame = predictions(seed, people=40, shift=0.0)
        frame["score"] = np.clip(frame["score"], 2, 4)
        frame["ground_truth"] = frame["score"] - 0.5 + np.random.default_rng(seed + 1000).normal(0, 0.5, len(frame))
        table = calibration_errors(frame, ParticipantBootstrap(frame["participant"], 50, 1))
        assert (table["low"] <= table["estimate"]).all()
        assert (table["estimate"] <= table["high"]).all()
        held.append(table.loc["as given", "low"] <= 0.5 <= table.loc["as given", "high"])
    assert np.mean(held) > 0.88


def test_no_scores_give_reasons_and_no_numbers():
    frame = predictions().assign(score=np.nan)
    table = calibration_errors(frame, ParticipantBootstrap(frame["participant"], 50, 1))
    assert table["estimate"].isna().all()
    assert (table["reason"] != "").all()


def run_of(people=10, each=5, **more):
    generator = np.random.default_rng(1)
    truth = np.clip(generator.normal(3.2, 0.7, people * each), 1, 5)
    frame = {
        "conversation": [f"C{n}" for n in range(people * each)],
        "participant": np.repeat([f"P{n}" for n in range(people)], each),
        "ground_truth": truth,
        "score": np.clip(np.round(truth + 1 + generator.normal(0, 0.5, len(truth))), 1, 5),
        "status": "ok",
        "model": "a model",
    }
    frame = pd.DataFrame(frame | more)
    frame.loc[7, ["score", "status"]] = [np.nan, "refusal"]
    return frame


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "given").mkdir()
    write_predictions(tmp_path / "given" / "model-prompt-iter1.xlsx", run_of())
    return tmp_path


def test_files_hold_the_mapped_scores_and_what_had_none(folder):
    done = calibrate([folder / "given"], folder / "out", draws=50)
    (path,) = done.paths.values()
    assert path.name == "model-prompt-iter1.xlsx"
    frame = read_predictions(path).frame
    assert frame["score"].to_numpy() == pytest.approx(calibrated(run_of()), nan_ok=True)
    assert frame["status"].value_counts().to_dict() == {"ok": 49, "refusal": 1}
    assert "expected calibration error, 49 conversations: " in done.text()


def test_the_command_prints_paths_and_errors(folder):
    call = ["judge", "calibrate", str(folder / "given"), "--out", str(folder / "out")]
    done = CliRunner().invoke(app, call)
    assert done.exit_code == 0, done.output
    assert str(folder / "out" / "model-prompt-iter1.xlsx") in done.stdout


def test_a_simulated_judge_stays_simulated(folder):
    write_predictions(folder / "given" / "model-prompt-iter1.xlsx", run_of(model="simulated-judge"))
    (path,) = calibrate([folder / "given"], folder / "out", draws=50).paths.values()
    assert read_predictions(path).simulated


@pytest.mark.parametrize(
    ("frame", "out", "why"),
    [
        (run_of(people=3), "out", r"iter1\.xlsx: 3 participants with ratings and scores: too few"),
        (run_of().assign(participant=None), "out", "some rows have no PID or no TaskId"),
        (run_of(), "given", r"given: holds model-prompt-iter1\.xlsx, which is to be calibrated\. Give another folder"),
    ],
    ids=["few", "nobody", "in place"],
)
def test_what_cannot_be_calibrated_is_refused_and_nothing_written(folder, frame, out, why):
    write_predictions(folder / "given" / "model-prompt-iter1.xlsx", frame)
    before = sorted(folder.rglob("*"))
    with pytest.raises(UserError, match=why):
        calibrate([folder / "given"], folder / out, draws=50)
    assert sorted(folder.rglob("*")) == before


def test_two_files_of_one_name_are_refused(folder):
    (folder / "more").mkdir()
    write_predictions(folder / "more" / "model-prompt-iter1.xlsx", run_of())
    with pytest.raises(UserError, match="another of these files is called so too"):
        calibrate([folder / "given", folder / "more"], folder / "out", draws=50)
