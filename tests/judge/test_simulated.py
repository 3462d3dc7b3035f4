"""Predictions of a simulated judge: the authors' layout, recognized everywhere, refused where nobody was simulated."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from sense7.errors import UserError
from sense7.estimators.bootstrap import ParticipantBootstrap
from sense7.findings.ground_truth import ground_truth
from sense7.judge import ceiling as noise_ceiling
from sense7.judge import judges as available_judges
from sense7.judge.files import COLUMNS, write_predictions
from sense7.judge.judges import (
    ABOUT_SIMULATED,
    is_planted,
    simulated_files,
    simulated_folder,
    simulated_note,
    write_simulated,
)
from sense7.judge.report import evaluate
from sense7.loading import load
from sense7.simulate import JudgeParameters, Parameters, simulate
from sense7.workbook import parse_sheets
from sense7.workbook.xlsx import read_sheets

ROOT = Path(__file__).resolve().parents[2]
DATA = ROOT / "data"
SMALL = Parameters(participants=12, conversations=48, unrated_conversations=1)


@pytest.fixture(scope="module")
def small():
    return simulate(SMALL, 3, JudgeParameters(judge_runs=3, judge_refusal_rate=0.1))


@pytest.fixture(scope="module")
def study(small):
    return parse_sheets(small.sheets, name="small")


@pytest.fixture
def folder(small, tmp_path):
    write_simulated(small, tmp_path / "mine_judge")
    return tmp_path / "mine_judge"


def content(folder):
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


# The files


def test_files_have_the_authors_layout_as_judge_run_writes_it(folder, small, study):
    assert [path.name for path in sorted(folder.iterdir())] == [f"simulated-judge-iter{run}.xlsx" for run in (1, 2, 3)]
    known = study.conversations[["conversation", "participant"]].assign(score=3.0, status="ok")
    write_predictions(folder.parent / "asked-prompt-iter1.xlsx", known)
    asked = read_sheets(folder.parent / "asked-prompt-iter1.xlsx")["results"]
    for run, path in enumerate(sorted(folder.iterdir())):
        sheet = read_sheets(path)["results"]
        assert sheet.header == asked.header == list(COLUMNS)
        assert sheet.column(1) == asked.column(1) == small.sheets["Tasks"].column(2), "rows in the order of Tasks"
        columns = {name: sheet.column(place) for place, name in enumerate(sheet.header)}
        assert set(columns["Model"]) == {"simulated-judge"}
        assert all("Simulated: no model was asked" in text for text in columns["Output"])
        for name in ("Chat", "OnlyChat", "Prompt", "Processing Time"):
            assert set(columns[name]) == {None}, "nothing was asked"
        scores = [cell for cell in columns["IS_EMPATHY"] if cell is not None]
        assert set(scores) <= {1.0, 2.0, 3.0, 4.0, 5.0}
        drawn = np.where(small.judged.kind[run] == 0, small.judged.score[run], np.nan)
        np.testing.assert_array_equal(np.array(columns["IS_EMPATHY"], dtype=float), drawn)
        truth = ground_truth(study.turns, study.conversations["conversation"]).to_numpy()
        np.testing.assert_array_equal(np.array(columns["ground-truth"], dtype=float), truth)


def test_the_bytes_depend_on_the_simulation_alone(folder, small, tmp_path):
    write_simulated(small, tmp_path / "again")
    assert content(tmp_path / "again") == content(folder)
    write_simulated(small, folder)
    assert content(tmp_path / "again") == content(folder)


def test_fewer_runs_leave_none_of_the_earlier_ones(folder, small):
    write_simulated(simulate(SMALL, 3, JudgeParameters(judge_runs=1)), folder)
    assert list(content(folder)) == ["simulated-judge-iter1.xlsx"]
    assert [path.name for path in folder.parent.iterdir()] == ["mine_judge"]


@pytest.mark.parametrize("name", ["notes.txt", "gpt-4o-empathy-iter1.xlsx"])
def test_a_folder_with_anything_else_is_refused_and_left_as_it_is(folder, small, name):
    (folder / name).write_text("mine", "utf-8")
    before = content(folder)
    with pytest.raises(UserError, match=rf"mine_judge: holds {name}, .*--out"):
        write_simulated(small, folder)
    assert content(folder) == before


def test_a_path_that_the_authors_evaluation_passes_over_is_refused(small, tmp_path):
    with pytest.raises(UserError, match="holds the word results"):
        write_simulated(small, tmp_path / "results_judge")


def test_a_file_in_the_place_of_the_folder_is_refused(small, tmp_path):
    (tmp_path / "a_judge").write_text("x", "utf-8")
    with pytest.raises(UserError, match="can't be a folder"):
        write_simulated(small, tmp_path / "a_judge")
    assert (tmp_path / "a_judge").read_text("utf-8") == "x"


def test_a_failure_on_the_way_leaves_the_earlier_files(folder, small, monkeypatch):
    before = content(folder)

    def fail(path, *arguments, **options):
        if "iter2" in path.name:
            raise OSError(28, "No space left on device")
        return write_predictions(path, *arguments, **options)

    monkeypatch.setattr("sense7.judge.judges.write_predictions", fail)
    with pytest.raises(UserError, match=r"mine_judge: can't be written.*Make room"):
        write_simulated(simulate(SMALL, 4, JudgeParameters(judge_runs=3)), folder)
    assert content(folder) == before
    assert [path.name for path in folder.parent.iterdir()] == ["mine_judge"]


def test_without_a_judge_there_is_nothing_to_write(tmp_path):
    with pytest.raises(ValueError, match="no judge"):
        write_simulated(simulate(SMALL, 3, None), tmp_path / "a")


# Recognized wherever they are


def renamed(folder, name):
    for path in list(folder.iterdir()):
        path.rename(path.with_name(path.name.replace("simulated-judge", name)))


def test_under_any_name_the_judge_is_called_simulated(folder, study):
    renamed(folder, "gpt-4o-empathy_judge")
    judges = available_judges.read_runs(study, folder)
    assert list(judges) == ["simulated judge: gpt-4o-empathy_judge"]
    assert available_judges.request_facts(judges)["simulated"].tolist() == ["yes: no model was asked"]
    assert "simulated judge: gpt-4o-empathy_judge" in noise_ceiling.judge_results(study, judges).index
    said = evaluate(folder, draws=50).text()
    assert said.count("simulated judge: gpt-4o-empathy_judge-iter1") >= 2
    assert ABOUT_SIMULATED in said


def test_as_csv_it_is_recognized_too(folder, study):
    for path in list(folder.iterdir()):
        pd.read_excel(path, engine="calamine").to_csv(path.with_suffix(".csv"), index=False)
        path.unlink()
    renamed(folder, "other")
    assert list(available_judges.read_runs(study, folder)) == ["simulated judge: other"]


def test_beside_a_real_judge_each_keeps_its_name_and_only_one_is_simulated(folder, study):
    known = study.conversations[["conversation", "participant"]].assign(score=4.0, status="ok", model="gpt-4o")
    known["ground_truth"] = ground_truth(study.turns, known["conversation"]).to_numpy()
    write_predictions(folder / "gpt-4o-empathy-iter1.xlsx", known)
    judges = available_judges.read_runs(study, folder)
    assert list(judges) == ["gpt-4o-empathy", "simulated-judge"]
    assert list(judges.simulated) == ["simulated-judge"]
    assert available_judges.request_facts(judges)["simulated"].to_dict() == {
        "gpt-4o-empathy": "no",
        "simulated-judge": "yes: no model was asked",
    }
    assert simulated_note(judges.simulated).startswith("simulated-judge is a simulated judge: no model was asked")
    bootstrap = ParticipantBootstrap(study.conversations["participant"], draws=50)
    for judge in judges:
        found = available_judges.detail(judges, judge, bootstrap, available_judges.assistant_words(study))
        tables = (found.mean, found.spread, found.authors, found.coverage, found.bounds, found.calibration)
        for table in (*tables, found.stability, found.level_and_length):
            assert set(table["method"].str.startswith("simulated judge: ")) == {judge == "simulated-judge"}
    assert simulated_files(folder) == []


def test_a_judge_that_is_only_called_so_is_not_taken_for_one(tmp_path, study):
    known = study.conversations[["conversation", "participant"]].assign(score=4.0, status="ok", model="simulated-user")
    known["ground_truth"] = ground_truth(study.turns, known["conversation"]).to_numpy()
    write_predictions(tmp_path / "simulated-user-prompt-iter1.xlsx", known)
    judges = available_judges.read_runs(study, tmp_path)
    assert (list(judges), judges.simulated) == (["simulated-user-prompt"], {})
    assert "no model was asked" not in evaluate(tmp_path, draws=50).text()


# Only for synthetic data


def test_for_a_workbook_that_is_not_synthetic_they_are_refused(folder, small):
    sheets = {name: sheet for name, sheet in small.sheets.items() if name != "Synthetic"}
    real = parse_sheets(sheets, name="mine")
    with pytest.raises(UserError, match=r"iter1.xlsx: predictions of a simulated judge, and this data set is not"):
        available_judges.read_runs(real, folder)
    with pytest.raises(UserError, match="Take the file out of the folder"):
        available_judges.read_runs(real, folder)
    renamed(folder, "gpt-4o-empathy")
    with pytest.raises(UserError, match="not synthetic"):
        available_judges.read_runs(real, folder)


# What comes with the data set


def test_the_named_data_set_brings_its_judge_and_a_copy_of_the_file_does_not(tmp_path):
    study = load("synthetic")
    judges = available_judges.read_runs(study)
    assert {name: len(runs) for name, runs in judges.items()} == {"simulated-judge": 10}
    copy = tmp_path / "mine.xlsx"
    copy.write_bytes((DATA / "synthetic.xlsx").read_bytes())
    assert available_judges.read_runs(load(copy)) == {}
    assert simulated_folder(copy) == tmp_path / "mine_judge"


def test_another_workbook_of_that_name_brings_none(tmp_path, small):
    small.write(tmp_path / "synthetic.xlsx")
    assert available_judges.read_runs(load(tmp_path / "synthetic.xlsx")) == {}


# The truth belongs to its predictions alone


def test_the_truth_is_that_of_these_predictions_or_of_none(folder, small, study):
    marks = available_judges.read_runs(study, folder).simulated["simulated-judge"]
    # Without its implied values, which take some seconds and say nothing here.
    truth = json.loads(
        json.dumps({"seed": small.seed, "judge": {"name": "simulated-judge", "parameters": small.judge.as_dict()}})
    )
    assert is_planted(truth, marks)
    assert not is_planted(truth, marks[:2])
    assert not is_planted(truth, [*marks[:2], None])
    assert not is_planted(truth | {"seed": 4}, marks)
    other = json.loads(json.dumps(truth["judge"]))
    other["parameters"]["judge_signal"] = 0.1
    assert not is_planted(truth | {"judge": other}, marks)
    assert not is_planted({"seed": truth["seed"]}, marks)
    assert not is_planted(truth, ())
    assert not is_planted(truth, [{"seed": "3"}] * 3)


# Words


def test_the_sentence_on_simulated_judges_names_each():
    assert simulated_note(["b", "a"]).startswith("a and b are simulated judges: no model was asked")
    assert "tuned to the published figures, so their nearness is no evidence" in simulated_note(["a"])


def test_level_and_length_without_words_or_scores_say_why(study):
    bootstrap = ParticipantBootstrap(study.conversations["participant"], draws=50)
    known = study.conversations[["conversation", "participant"]].assign(score=4.0, status="ok", ground_truth=3.5)
    detail = available_judges.detail(available_judges.Judges({"a": {"a": known}}, {}), "a", bootstrap)
    assert detail.level_and_length.loc["level_bias", "estimate"] == 0.5
    assert detail.level_and_length.loc["length_spearman", "reason"] == "scores or lengths are all the same"
    none = known.assign(score=np.nan, status="refusal")
    detail = available_judges.detail(available_judges.Judges({"a": {"a": none}}, {}), "a", bootstrap)
    assert set(detail.level_and_length["reason"]) == {"no conversation has both a score and a ground truth"}
