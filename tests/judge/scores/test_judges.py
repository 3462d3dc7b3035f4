"""Judges of a data set: predictions matched with its conversations, a simulated judge known as one, the multiverse."""

import json
from pathlib import Path

import numpy as np
import pytest

from helpers import naming
from helpers.studies import READING, bootstrap_of, parse_sheets, write_study
from sense7.cli.judge_words import notes_of_evaluation
from sense7.findings.ground_truth import ground_truth
from sense7.judge.files import prediction_path, write_predictions
from sense7.judge.scores import judges as available_judges
from sense7.judge.scores import performance
from sense7.judge.scores.ceiling import judge_results
from sense7.judge.scores.judges import (
    ABOUT_SIMULATED,
    read_runs,
    simulated_files,
    simulated_folder,
    simulated_parameters,
    write_simulated,
)
from sense7.judge.scores.report import evaluate
from sense7.loading import load
from sense7.simulate import JudgeParameters, Parameters, simulate
from sense7.workbook.reading import write_reading

DATA = Path(__file__).resolve().parents[3] / "data"
SMALL = Parameters(participants=12, conversations=48, unrated_conversations=1)
JUDGE = "simulated-judge"


@pytest.fixture(scope="module")
def small():
    return simulate(SMALL, 3, JudgeParameters(judge_runs=3, judge_refusal_rate=0.1))


@pytest.fixture(scope="module")
def few(small):
    """The study of a small simulation."""
    return parse_sheets(small.sheets, name="small")


@pytest.fixture
def frame(few):
    """Predictions of every conversation; the last one was refused."""
    known = few.conversations[["conversation", "participant"]].assign(
        status="ok", model="asked-for"
    )
    known["ground_truth"] = ground_truth(few.turns, known["conversation"]).to_numpy()
    known["score"] = [4.0, 5.0, 3.0, 4.5] * 12
    known.loc[47, ["score", "status"]] = [np.nan, "refusal"]
    return known


@pytest.fixture
def folder(small, tmp_path):
    """A folder of the simulated judge's files."""
    write_simulated(small, tmp_path / "mine_judge")
    return tmp_path / "mine_judge"


def write(folder, frame, model="judge", prompt="empathy", run=1):
    folder.mkdir(exist_ok=True)
    write_predictions(prediction_path(folder, model, prompt, run), frame)
    return folder


def content(folder):
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


# Predictions and the data set


def test_runs_of_a_judge_are_told_from_other_judges(tmp_path, few, frame):
    for model, run in (("judge", 1), ("judge", 2), ("judge", 10), ("another", 1)):
        write(tmp_path / "p", frame, model, run=run)
    judges = read_runs(few, tmp_path / "p")
    assert {name: list(runs) for name, runs in judges.items()} == {
        "another-empathy": ["another-empathy-iter1"],
        "judge-empathy": ["judge-empathy-iter1", "judge-empathy-iter2", "judge-empathy-iter10"],
    }
    assert available_judges.chosen_judge(judges) == "judge-empathy"
    assert available_judges.chosen_judge(judges, "another-empathy") == "another-empathy"
    with naming.refused("judge = 'nobody'", "another-empathy, judge-empathy"):
        available_judges.chosen_judge(judges, "nobody")


def test_rows_are_matched_by_conversation_and_those_that_lack_have_no_score(tmp_path, few, frame):
    ((run,),) = (
        runs.values()
        for runs in read_runs(few, write(tmp_path / "p", frame.iloc[::-1].iloc[3:])).values()
    )
    for name in ("conversation", "participant"):
        assert getattr(run, name).tolist() == few.conversations[name].tolist()
    np.testing.assert_array_equal(run.score, [*frame["score"].iloc[:45], np.nan, np.nan, np.nan])
    assert run.status.tolist() == ["ok"] * 45 + ["unstated"] * 3


def test_predictions_of_another_workbook_are_refused(tmp_path, few, frame):
    foreign = write(tmp_path / "p", frame.assign(conversation="X" + frame["conversation"]))
    path = tmp_path / "p" / "judge-empathy-iter1.xlsx"
    with naming.refused(path, "48 of 48", "'XT0001'"):
        read_runs(few, foreign)
    before = frame.loc[2, "ground_truth"]
    frame.loc[2, "ground_truth"] = 1.0
    with naming.refused(path, "1 conversation", "'T0003'", "(1 there", f"{before:g} here"):
        read_runs(few, write(tmp_path / "p", frame))


# A simulated judge: its files


UNFIT = [
    ("mine_judge/notes.txt", "mine_judge", "notes.txt"),
    ("mine_judge/gpt-4o-empathy-iter1.xlsx", "mine_judge", "gpt-4o-empathy-iter1.xlsx"),
    ("other", "results_judge", ""),
    ("a_judge", "a_judge", ""),
]


@pytest.mark.parametrize(("file", "given", "place"), UNFIT)
def test_an_unfit_folder_is_refused_and_left_as_it_is(folder, small, file, given, place):
    (folder.parent / file).write_text("mine", "utf-8")
    before = content(folder)
    with naming.refused(folder.parent / given, place, "--out"):
        write_simulated(small, folder.parent / given)
    assert (content(folder), (folder.parent / file).read_text("utf-8")) == (before, "mine")


# Recognized wherever they are


def test_under_any_name_the_judge_is_called_simulated_and_refused_for_real_data(folder, small, few):
    for path in list(folder.iterdir()):
        path.rename(path.with_name(path.name.replace(JUDGE, "gpt-4o-empathy_judge")))
    judges = read_runs(few, folder)
    assert list(judges) == ["simulated judge: gpt-4o-empathy_judge"]
    assert "simulated judge: gpt-4o-empathy_judge" in judge_results(few, judges).index
    evaluated = evaluate([folder], draws=50)
    assert evaluated.files[0]["name"] == "simulated judge: gpt-4o-empathy_judge-iter1"
    said = "\n".join(notes_of_evaluation(evaluated))
    assert "simulated judge: gpt-4o-empathy_judge-iter1" in said
    assert ABOUT_SIMULATED in said
    real = parse_sheets(
        {name: sheet for name, sheet in small.sheets.items() if name != "Synthetic"}, name="mine"
    )
    with naming.refused("gpt-4o-empathy_judge-iter1.xlsx", "sense7 judge run", "--help"):
        read_runs(real, folder)


def test_beside_a_real_judge_called_so_only_one_is_simulated(folder, few, frame):
    write(folder, frame.assign(model="simulated-user"), "simulated-user")
    judges = read_runs(few, folder)
    assert (list(judges), list(judges.simulated)) == ([JUDGE, "simulated-user-empathy"], [JUDGE])
    for judge in judges:
        shown = performance.shown_judge(judges, judge, bootstrap_of(few))
        for name in performance.TABLES:
            methods = performance.judge_table(shown, name)["method"]
            assert set(methods.str.startswith("simulated judge: ")) == {judge == JUDGE}
    assert simulated_files(folder) == []


def test_the_named_data_set_brings_its_judge_and_a_copy_does_not(tmp_path, small, judges):
    assert {name: len(runs) for name, runs in judges.items()} == {JUDGE: 10}
    copy = tmp_path / "mine.xlsx"
    copy.write_bytes((DATA / "synthetic.xlsx").read_bytes())
    write_reading(copy, READING)
    assert simulated_folder(copy) == tmp_path / "mine_judge"
    write_study(small.sheets, tmp_path / "synthetic.xlsx")
    for path in (copy, tmp_path / "synthetic.xlsx"):
        assert read_runs(load(path)) == {}


def test_the_parameters_are_those_of_a_whole_simulated_judge(folder, small, few):
    marks = read_runs(few, folder).simulated[JUDGE]
    assert simulated_parameters(marks) == small.judged.parameters.as_dict()
    another = {
        "judge_parameters": json.dumps(small.judged.parameters.as_dict() | {"judge_runs": 2})
    }
    for other in (marks[:2], [*marks[:2], None], (), [{"seed": "3"}] * 3, [*marks[:2], another]):
        assert simulated_parameters(other) is None
