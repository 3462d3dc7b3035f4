"""Calibrated files: read back as predictions, errors named with their place, and nothing half-written."""

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from sense7.cli import app
from sense7.errors import UserError
from sense7.judge.calibration import calibrated
from sense7.judge.files import read_predictions, write_predictions
from sense7.judge.report import calibrate


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
    call = ["judge", "calibrate", str(folder / "given"), "--out", str(folder / "out"), "--mapping", "ordinal"]
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
