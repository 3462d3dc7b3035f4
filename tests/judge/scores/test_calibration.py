"""What a judge's scores are worth: mappings and error with participants held out, calibrated files, errors by group."""

import numpy as np
import pandas as pd
import pytest

from helpers import naming
from helpers.judged import run_of, table_of
from sense7.judge.files import Run, write_predictions
from sense7.judge.scores.calibration import Calibrated, calibration_errors
from sense7.judge.scores.report import calibrate
from sense7.statistics.bootstrap import ParticipantBootstrap


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
    before, after = (Calibrated.of(Run.of(one)).scores for one in (frame, other))
    assert before[own] == pytest.approx(after[own], abs=1e-9)
    assert np.abs(before - after)[~own].max() > 1e-3


def test_rows_without_ground_truth_are_mapped_and_teach_nothing_and_one_without_a_score_stays_without():
    frame = predictions()
    frame.loc[3, "score"] = np.nan
    hidden = frame.index % 5 == 0
    without = frame.assign(ground_truth=frame["ground_truth"].where(~hidden))
    odd = without.assign(score=without["score"].where(~hidden, 1.0))
    mapped, changed = (Calibrated.of(Run.of(one)).scores for one in (without, odd))
    assert np.flatnonzero(np.isnan(mapped)).tolist() == [3]
    assert mapped[~hidden] == pytest.approx(changed[~hidden], nan_ok=True)


@pytest.mark.long
def test_intervals_hold_their_estimate_and_mostly_the_error_that_was_planted():
    held = []
    for seed in range(60):
        frame = predictions(seed, people=40, shift=0.0)
        frame["score"] = np.clip(frame["score"], 2, 4)
        frame["ground_truth"] = (
            frame["score"] - 0.5 + np.random.default_rng(seed + 1000).normal(0, 0.5, len(frame))
        )
        table = calibration_errors(
            Calibrated.of(Run.of(frame)), ParticipantBootstrap(frame["participant"], 50, 1)
        )
        assert (table["low"] <= table["estimate"]).all()
        assert (table["estimate"] <= table["high"]).all()
        held.append(table.loc["as given", "low"] <= 0.5 <= table.loc["as given", "high"])
    assert np.mean(held) > 0.88


def given(people=10, **more):
    return run_of(1, rows=5 * people, people=people, missing=[7], **{"model": "a model"} | more)


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "given").mkdir()
    write_predictions(tmp_path / "given" / "model-prompt-iter1.xlsx", given())
    return tmp_path


# As files


def test_files_hold_the_mapped_scores_and_what_had_none(folder):
    done = calibrate([folder / "given"], folder / "out", draws=50)
    (path,) = done.paths.values()
    assert path.name == "model-prompt-iter1.xlsx"
    frame = table_of(path)
    assert frame["score"].to_numpy() == pytest.approx(
        Calibrated.of(Run.of(given())).scores, nan_ok=True
    )
    assert frame["status"].value_counts().to_dict() == {"ok": 49, "refusal": 1}
    assert done.without_score == {"model-prompt-iter1": {"refusal": 1}}


@pytest.mark.parametrize(
    ("frame", "out", "places"),
    [
        (given(people=3), "out", ["model-prompt-iter1.xlsx: 3 participants", "5"]),
        (given().assign(participant=None), "out", ["model-prompt-iter1.xlsx", "PID", "TaskId"]),
        (given(), "given", ["model-prompt-iter1.xlsx", "--out"]),
    ],
)
def test_what_cannot_be_calibrated_is_refused_and_nothing_written(folder, frame, out, places):
    write_predictions(folder / "given" / "model-prompt-iter1.xlsx", frame)
    before = sorted(folder.rglob("*"))
    with naming.refused(folder / "given", *places):
        calibrate([folder / "given"], folder / out, draws=50)
    assert sorted(folder.rglob("*")) == before
