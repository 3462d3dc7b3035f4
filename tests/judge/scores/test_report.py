"""Evaluation of files: which are taken, what is said of them, and that figures are those of the metrics."""

import json
from pathlib import Path

import numpy as np
import pytest

from helpers import naming
from helpers.judged import run_of
from sense7.cli.judge_words import notes_of_evaluation
from sense7.judge.files import prediction_path, write_predictions
from sense7.judge.scores import metrics
from sense7.judge.scores.report import evaluate, find_files
from sense7.workbook.xlsx import Sheet, write_sheets


def session(folder, runs=3, failures=0):
    for run in range(1, runs + 1):
        frame = run_of(run, missing=range(failures), model="model")
        write_predictions(prediction_path(folder, "model", "prompt", run), frame)
    return folder


def names_of(found):
    return [file["name"] for file in found.files]


def csv(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


# Which files


def test_of_a_folder_every_table_is_taken_in_the_order_of_runs(tmp_path):
    passed_over = ("notes.txt", "~$m-iter2.xlsx", ".hidden.csv", "deeper.csv/m-iter3.xlsx")
    for name in ("m-iter10.xlsx", "m-iter2.xlsx", "m-iter1.CSV", *passed_over):
        csv(tmp_path / name, "")
    found, skipped = find_files([tmp_path])
    assert [path.name for path in found] == ["m-iter1.CSV", "m-iter2.xlsx", "m-iter10.xlsx"]
    assert skipped == []


def test_of_a_folder_files_with_that_word_are_passed_over_but_not_those_named(tmp_path):
    session(tmp_path, runs=1)
    left_out = csv(tmp_path / "my_results.csv", "IS_EMPATHY,ground-truth\n1,1\n")
    found = evaluate([tmp_path])
    assert names_of(found) == ["model-prompt-iter1"]
    assert found.skipped == [left_out]
    assert names_of(evaluate([tmp_path, left_out])) == ["model-prompt-iter1", "my_results"]
    assert evaluate([tmp_path, left_out]).skipped == []


def test_a_file_is_taken_once_and_names_tell_files_apart(tmp_path, monkeypatch):
    first, second = (
        csv(tmp_path / folder / "m-iter1.csv", "IS_EMPATHY,ground-truth\n1,1\n") for folder in "ab"
    )
    monkeypatch.chdir(tmp_path)
    assert names_of(evaluate([first, first.parent, Path("a/m-iter1.csv")])) == ["m-iter1"]
    assert names_of(evaluate([first, second])) == [str(first), str(second)]


# What is found


def shown(table):
    """Coverage and the authors' metrics, to three decimals."""
    return table["estimate"].loc[["coverage", *metrics.AUTHORS_METRICS]].round(3).tolist()


def test_the_fixture_of_the_release_from_a_file(tmp_path):
    truth = [4.5, 3.5, 2.5, 1.5, 4.857142857142857, None, 4.2]
    score = ["5", "4", "2.5", "2", "5.9", "4", "PROCESSING_FAILED"]
    rows = [list(row) for row in zip(score, truth, strict=True)]
    write_sheets([Sheet("results", ["IS_EMPATHY", "ground-truth"], rows)], tmp_path / "a.xlsx")
    remarks = set()
    for policy in ("strict", "authors"):
        found = evaluate([tmp_path], policy=policy)
        assert shown(found.files[0]["metrics"]) == [0.857, 0.8, 0.778, 1.0, 0.509, 1.0]
        assert found.files[0]["metrics"].loc["accuracy", "n"] == 5
        (file, remark), *_ = found.facts.remarks
        assert file == "a"
        remarks.add(remark)
        run = found.facts.runs["a"]
        assert (run.status[np.isnan(run.score)].tolist(), np.isnan(run.ground_truth).sum()) == (
            ["unstated"],
            1,
        )
    (remark,) = remarks
    naming.check(remark, "IS_EMPATHY: 1 cell", "'PROCESSING_FAILED' in row 8")


def test_rows_are_matched_by_id_and_what_does_not_match_is_said(tmp_path):
    frame = run_of(1)
    write_predictions(tmp_path / "a.xlsx", frame)
    write_predictions(tmp_path / "b.xlsx", frame.iloc[::-1])
    same = evaluate([tmp_path], draws=50)
    assert same.over_files["stability"].loc["same_label", "estimate"] == 1
    assert notes_of_evaluation(same) == []
    other = frame.iloc[:-2].assign(
        ground_truth=frame["ground_truth"] - (frame["conversation"] == "C7")
    )
    write_predictions(tmp_path / "c.xlsx", other)
    facts = evaluate([tmp_path], draws=50).facts
    assert facts.lacking == {"a": 0, "b": 0, "c": 2}
    assert facts.differing_truths == ["C7"]


def test_the_json_has_every_figure_and_no_nan(tmp_path):
    found = evaluate([session(tmp_path, failures=2)], draws=50, seed=9)
    content = json.loads(found.to_json(), parse_constant=pytest.fail)
    settings = {"policy": "strict", "draws": 50, "seed": 9, "confidence": 0.95}
    assert settings.items() <= content.items()
    first = content["files"][0]
    accuracy = found.files[0]["metrics"].loc["accuracy"]
    for name in ("estimate", "low", "high", "n", "unit", "method", "reason"):
        assert first["metrics"]["accuracy"][name] == accuracy[name]
    assert first["coverage"]["refusal"]["estimate"] == 2
    assert set(content["over_files"]["mean"]) == {"coverage", *metrics.METRICS}
    assert content["over_files"]["spread"]["accuracy"]["low"] is None
    assert np.sum(content["over_files"]["confusion"]) == 3 * 38
