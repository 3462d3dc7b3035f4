"""The learned judge as files: read back, evaluated like any judge's, and refused where there is nothing to learn."""

import numpy as np
import pytest
from typer.testing import CliRunner

from judge.test_baselines import lists, study_of
from sense7.cli import app
from sense7.errors import UserError
from sense7.judge import learned
from sense7.judge.baselines import Baseline, baseline_predictions
from sense7.judge.files import read_predictions
from sense7.judge.learned import learned_predictions, write_learned


@pytest.fixture(scope="module")
def study():
    who, truths, said, answers = lists()
    return study_of(who, [np.nan if number in (3, 17) else truth for number, truth in enumerate(truths)], said, answers)


def test_files_hold_what_the_baselines_predict(study, tmp_path):
    names = ("learned judge", "own mean")
    paths = write_learned(study, tmp_path, names)
    assert [path.name for path in paths] == ["learned-judge-baseline-iter1.xlsx", "own-mean-baseline-iter1.xlsx"]
    for path, name in zip(paths, names, strict=True):
        frame = read_predictions(path).frame.set_index("conversation")
        known = baseline_predictions(study, names=[name])[name].predictions.set_index("conversation")
        assert set(frame["status"]) == {"ok"}
        assert frame["score"].between(1, 5).all()
        assert frame["score"][known.index].to_numpy() == pytest.approx(known["score"].clip(1, 5).to_numpy())
        if name != "own mean":
            assert frame["ground_truth"].isna().sum() == 2
            assert len(frame) == len(study.conversations)


def test_scores_off_the_scale_are_written_as_its_ends(study, tmp_path, monkeypatch):
    frame = baseline_predictions(study, names=["own mean"])["own mean"].predictions.assign(score=0.2)
    frame.loc[0, "score"] = 5.7
    baseline = {"own mean": Baseline("own mean", "made up", frame)}
    monkeypatch.setattr(learned, "learned_predictions", lambda study, names: baseline)
    (path,) = write_learned(study, tmp_path, ["own mean"])
    assert set(read_predictions(path).frame["score"]) == {1.0, 5.0}


def test_nothing_is_written_where_there_is_nothing_to_learn(tmp_path):
    few = study_of([1, 1, 2], [3, 4, 5], ["tea", "ale", "rain"])
    with pytest.raises(UserError, match=r"learned judge: 2 participants are too few .*Give a workbook with rated"):
        write_learned(few, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_an_unknown_baseline_is_refused_with_those_there_are(study):
    with pytest.raises(UserError, match=r"'guess' is no baseline\. Choose one of: majority label; own mean;"):
        learned_predictions(study, ["guess"])


def test_the_command_writes_files_and_prints_their_paths(study, tmp_path, monkeypatch):
    monkeypatch.setattr("sense7.loading.load", lambda data: study)
    done = CliRunner().invoke(app, ["judge", "learn", "--data", "mine.xlsx", "--out", str(tmp_path)])
    assert done.exit_code == 0, done.output
    assert str(tmp_path / "learned-judge-baseline-iter1.xlsx") in done.stdout
    assert "40 conversations of 8 participants" in done.stderr
