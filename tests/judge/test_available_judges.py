"""Predictions brought into line with a data set: every conversation once, nothing foreign, nothing stale."""

import numpy as np
import pandas as pd
import pytest

from sense7.errors import UserError
from sense7.estimators.bootstrap import ParticipantBootstrap
from sense7.findings.ground_truth import ground_truth
from sense7.judge import judges as available_judges
from sense7.judge.files import prediction_path, write_predictions
from sense7.judge.metrics import run_metrics
from sense7.workbook import parse_sheets


@pytest.fixture(scope="module")
def study(minimal_sheets):
    return parse_sheets(minimal_sheets(conversations=12, participants=6), name="small")


@pytest.fixture
def frame(study):
    """Predictions of every conversation; the last one was refused."""
    known = study.conversations[["conversation", "participant"]].copy()
    known["ground_truth"] = ground_truth(study.turns, known["conversation"]).to_numpy()
    known["score"] = [4.0, 5.0, 3.0, 4.5] * 2 + [4.0, 5.0, 3.0, np.nan]
    known["status"] = ["ok"] * 11 + ["refusal"]
    known["model"] = "asked-for"
    return known


def write(folder, frame, model="judge", prompt="empathy", run=1):
    folder.mkdir(exist_ok=True)
    path = prediction_path(folder, model, prompt, run)
    write_predictions(path, frame)
    return path


def test_runs_of_a_judge_are_told_from_other_judges(tmp_path, study, frame):
    for model, run in (("judge", 1), ("judge", 2), ("judge", 10), ("another", 1)):
        write(tmp_path / "p", frame, model, run=run)
    (tmp_path / "p" / "journal.jsonl").write_text("", "utf-8")
    judges = available_judges.read_runs(study, tmp_path / "p")
    assert {name: list(runs) for name, runs in judges.items()} == {
        "another-empathy": ["another-empathy-iter1"],
        "judge-empathy": ["judge-empathy-iter1", "judge-empathy-iter2", "judge-empathy-iter10"],
    }
    assert available_judges.chosen_judge(judges) == "judge-empathy"
    assert available_judges.chosen_judge(judges, "another-empathy") == "another-empathy"
    with pytest.raises(UserError, match=r"judge = 'nobody': .*another-empathy, judge-empathy"):
        available_judges.chosen_judge(judges, "nobody")


def test_rows_are_matched_by_conversation_and_those_that_lack_have_no_score(tmp_path, study, frame):
    write(tmp_path / "p", frame.iloc[::-1].iloc[3:])
    ((run,),) = (runs.values() for runs in available_judges.read_runs(study, tmp_path / "p").values())
    assert run["conversation"].tolist() == study.conversations["conversation"].tolist()
    np.testing.assert_array_equal(run["score"], [*frame["score"].iloc[:9], np.nan, np.nan, np.nan])
    assert run["status"].tolist() == ["ok"] * 9 + ["unstated"] * 3
    assert run["participant"].tolist() == frame["participant"].tolist()


def test_a_stray_file_and_another_scale_are_refused(tmp_path, study, frame):
    write(tmp_path / "p", frame)
    others = frame.assign(score=25 * (frame["score"] - 1)).rename(columns={"conversation": "TaskId"})
    others = others.rename(columns={"participant": "PID", "score": "IS_EMPATHY", "ground_truth": "ground-truth"})
    others = others[["TaskId", "PID", "IS_EMPATHY", "ground-truth"]]
    others.to_csv(tmp_path / "p" / "other-prompt-iter1.csv", index=False)
    with pytest.raises(UserError, match="--score-scale 0-100"):
        available_judges.read_runs(study, tmp_path / "p")
    (tmp_path / "p" / "other-prompt-iter1.csv").unlink()
    (tmp_path / "p" / "notes.csv").write_text("who,what\nme,rerun\n", "utf-8")
    with pytest.raises(UserError, match=r"notes.csv: the column IS_EMPATHY is missing .* move it elsewhere"):
        available_judges.read_runs(study, tmp_path / "p")


def test_predictions_for_other_conversations_are_refused(tmp_path, study, frame):
    path = write(tmp_path / "p", frame.assign(conversation="X" + frame["conversation"]))
    with pytest.raises(UserError, match=rf"{path.name}: conversations that are not of this data set: 12 of 12.*'XC1'"):
        available_judges.read_runs(study, tmp_path / "p")


def test_predictions_from_before_the_workbook_changed_are_refused(tmp_path, study, frame):
    frame.loc[2, "ground_truth"] = 1.0
    path = write(tmp_path / "p", frame)
    with pytest.raises(
        UserError, match=rf"{path.name}: the ground truth of 1 conversation .*'C3' \(1 there, 4.5 here\)"
    ):
        available_judges.read_runs(study, tmp_path / "p")


def test_the_detail_holds_both_policies_and_what_became_of_the_replies(tmp_path, study, frame):
    write(tmp_path / "p", frame)
    bootstrap = ParticipantBootstrap(study.conversations["participant"], draws=200)
    judges = available_judges.read_runs(study, tmp_path / "p")
    detail = available_judges.detail(judges, "judge-empathy", bootstrap)
    assert detail.mean.loc["accuracy", "estimate"] == run_metrics(frame).loc["accuracy", "estimate"]
    assert detail.mean.loc["accuracy", "n"] == 11
    assert detail.authors.loc["accuracy", "n"] == 12
    assert detail.coverage.loc["refusal", "estimate"] == 1
    assert detail.confusion.to_numpy().sum() == 11


def test_without_predictions_every_table_says_so(study):
    bootstrap = ParticipantBootstrap(study.conversations["participant"], draws=200)
    detail = available_judges.detail(available_judges.read_runs(study), "", bootstrap)
    for name in ("mean", "spread", "authors", "coverage", "bounds", "calibration", "stability", "recognition"):
        table = getattr(detail, name)
        assert len(table)
        assert set(table["reason"]) == {"no predictions of a judge are available"}
        assert table[["estimate", "low", "high"]].isna().all(axis=None)
    for fact in available_judges.facts({}, detail):
        assert (fact["estimate"], fact["reason"]) == (None, "no predictions of a judge are available")


@pytest.mark.parametrize(
    ("prompt", "levels", "answer"),
    [
        ("empathy_judge", (1, 2, 3, 4, 5), "yes"),
        ("empathy", (1, 2, 3, 4, 5), "no"),
        ("empathy_judge", (2, 3, 4, 5), "no"),
    ],
)
def test_levels_are_comparable_with_the_authors_prompt_and_where_all_five_are_common(prompt, levels, answer):
    truth = [float(level) for level in levels for _ in range(5)]
    people = [f"P{row % 5}" for row in range(len(truth))]
    frame = pd.DataFrame({"ground_truth": truth, "score": truth, "participant": people, "status": "ok"})
    frame["conversation"] = [f"C{row}" for row in range(len(truth))]
    detail = available_judges.detail(
        {f"model-{prompt}": {"one": frame}}, f"model-{prompt}", ParticipantBootstrap(people, 50)
    )
    found = {fact["key"]: fact for fact in available_judges.facts({"one": {}}, detail)}
    assert (found["levels_are_comparable"]["estimate"], found["levels_are_comparable"]["n"]) == (answer, len(levels))
    assert found["levels_recognized"]["estimate"] == len(levels)
    assert found["judge_used_authors_prompt"]["estimate"] == ("yes" if prompt == "empathy_judge" else "no")
    assert found["judge_shown"]["estimate"] == f"model-{prompt}"
