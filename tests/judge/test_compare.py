"""Comparison of judges: same conversations, paired differences, what is refused, and what the verb prints."""

import json
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from sense7.cli.judge import judge as judge_commands
from sense7.errors import UserError
from sense7.estimators.bootstrap import ParticipantBootstrap, resampled_p
from sense7.estimators.estimates import holm
from sense7.judge.comparison import compare_judges
from sense7.judge.files import prediction_path, write_predictions
from sense7.judge.metrics import METRICS, run_metrics
from sense7.judge.report import Price, compare


def run_of(seed, noise=0.8, rows=40, people=8, missing=(), **columns):
    truth = np.clip(np.random.default_rng(0).normal(3.4, 1.2, rows), 1, 5).round(2)
    score = np.clip(np.round(truth + np.random.default_rng(seed).normal(0, noise, rows)), 1, 5)
    frame = pd.DataFrame({"score": score, "ground_truth": truth, "status": "ok"}).astype({"status": object})
    frame["conversation"] = [f"C{row}" for row in range(rows)]
    frame["participant"] = [f"P{row % people}" for row in range(rows)]
    frame.loc[list(missing), ["score", "status"]] = [np.nan, "refusal"]
    return frame.assign(**columns)


JUDGES = {
    "near": {"1": run_of(1, 0.4), "2": run_of(2, 0.4, missing=[3])},
    "far": {"1": run_of(3, 1.6, missing=[5])},
    "middle": {"1": run_of(4, 0.9)},
}


@pytest.fixture(scope="module")
def bootstrap():
    return ParticipantBootstrap([f"P{number}" for number in range(8)], 400, 1)


@pytest.fixture(scope="module")
def compared(bootstrap):
    return compare_judges(JUDGES, bootstrap)


@pytest.fixture
def folder(tmp_path):
    for judge, runs in JUDGES.items():
        for number, frame in enumerate(runs.values(), 1):
            write_predictions(prediction_path(tmp_path, judge, "prompt", number), frame.assign(model=judge))
    return tmp_path


def call(*arguments):
    return CliRunner().invoke(judge_commands, ["compare", *map(str, arguments), "--draws", "200"])


# What is compared


def test_judges_are_measured_on_the_conversations_that_every_run_of_each_has(compared):
    assert (compared.conversations, compared.shared) == (40, 38)
    assert compared.left_out.loc["near"].to_dict() == {
        "runs": 2,
        "scored": 39,
        "shared": 38,
        "left_out": 1,
        "lacking": 1,
    }
    assert compared.left_out["left_out"].to_dict() == {"near": 1, "far": 1, "middle": 2}
    frame = JUDGES["middle"]["1"].drop(index=[3, 5])
    pd.testing.assert_series_equal(compared.judges["middle"].mean["estimate"], run_metrics(frame)["estimate"])


def test_a_difference_is_that_of_the_means_over_runs_and_its_interval_that_of_the_difference(compared, bootstrap):
    for metric in ("accuracy", "mean_absolute_error", "spearman", "quadratic_kappa"):
        row = compared.differences[metric].loc["near minus far"]
        near, far = (compared.judges[judge].mean.loc[metric, "estimate"] for judge in ("near", "far"))
        assert row["estimate"] == pytest.approx(near - far, abs=1e-12)
    hits = {
        judge: np.mean(
            [
                (np.rint(frame["score"]) == np.rint(frame["ground_truth"])).drop([3, 5]).to_numpy()
                for frame in runs.values()
            ],
            axis=0,
        )
        for judge, runs in JUDGES.items()
    }
    apart = pd.Series(hits["near"] - hits["far"])
    codes = bootstrap.codes(JUDGES["near"]["1"]["participant"].drop([3, 5]))
    copied = []  # rows copied out as often as each resample takes their participant
    for weights in bootstrap.weights():
        copied.append(np.repeat(apart.to_numpy(), weights[codes].astype(int)).mean())
    row = compared.differences["accuracy"].loc["near minus far"]
    assert [row["low"], row["high"]] == pytest.approx(np.quantile(copied, [0.025, 0.975]), abs=1e-12)
    assert row["p"] == resampled_p(np.array(copied))


def test_p_values_are_corrected_over_the_pairs_of_one_metric(compared):
    assert list(compared.differences) == ["coverage", *METRICS]
    for table in compared.differences.values():
        assert table.index.tolist() == ["near minus far", "near minus middle", "far minus middle"]
        np.testing.assert_allclose(table["p_holm"], holm(table["p"]))
    worse = compared.differences["mean_absolute_error"].loc["near minus far"]
    assert worse["high"] < 0
    assert worse["p"] < 0.05


def test_coverage_is_over_all_conversations(compared):
    assert compared.coverage["estimate"].to_dict() == {"near": 79 / 80, "far": 39 / 40, "middle": 1.0}
    assert compared.differences["coverage"].loc["near minus far", "estimate"] == pytest.approx(1 / 80)


def test_a_judge_against_the_others_has_the_signs_turned(compared):
    row = compared.differences["accuracy"].loc["near minus middle"]
    assert compared.against("near", "accuracy").loc["middle", "estimate"] == row["estimate"]
    turned = compared.against("middle", "accuracy").loc["near"]
    assert (turned["estimate"], turned["low"], turned["high"]) == (-row["estimate"], -row["high"], -row["low"])
    assert turned["p_holm"] == row["p_holm"]


def test_references_are_compared_with_judges_and_not_with_each_other(bootstrap):
    near, *references = JUDGES
    found = compare_judges(
        {near: JUDGES[near]}, bootstrap, references={reference: JUDGES[reference] for reference in references}
    )
    assert found.differences["accuracy"].index.tolist() == ["near minus far", "near minus middle"]


def test_the_same_judge_twice_differs_by_nothing_and_p_is_one(bootstrap):
    same = {"1": run_of(1)}
    row = compare_judges({"a": same, "b": same}, bootstrap).differences["spearman"].iloc[0]
    assert (row["estimate"], row["p"]) == (0, 1)
    assert row["reason"] == "no interval: every resampling gives the same value"


def test_participants_may_stand_in_one_of_the_files(bootstrap):
    nameless = {"1": run_of(3).drop(columns="participant")}
    found = compare_judges({"a": JUDGES["near"], "b": nameless}, bootstrap)
    assert found.differences["accuracy"]["low"].notna().all()


def test_without_participants_there_are_differences_and_no_interval():
    frames = {name: {"1": run_of(seed).drop(columns="participant")} for seed, name in enumerate("ab")}
    row = compare_judges(frames, None).differences["accuracy"].iloc[0]
    assert np.isfinite(row["estimate"])
    assert np.isnan([row["low"], row["p"], row["p_holm"]]).all()
    assert row["reason"] == "no interval: participants are not known"


def test_p_values_of_resamples():
    assert np.isnan(resampled_p(np.array([np.nan, np.nan])))
    one_below = np.r_[-1.0, np.ones(998)]
    assert resampled_p(one_below) == pytest.approx(2 * 2 / 1000)
    assert resampled_p(-one_below) == resampled_p(one_below)
    more = [resampled_p(np.r_[-np.ones(k), np.ones(999 - k)]) for k in range(0, 500, 50)]
    assert all(a < b for a, b in pairwise(more))


# What is refused


def test_one_judge_is_no_comparison(tmp_path):
    write_predictions(prediction_path(tmp_path, "m", "p", 1), run_of(1))
    with pytest.raises(UserError, match=r"m-p: a comparison needs at least two judges\. .* --each-run"):
        compare(tmp_path)


def test_predictions_of_other_data_are_refused():
    other = run_of(1)
    other.loc[7, "ground_truth"] = 1.5
    with pytest.raises(UserError, match=r"ground truth of 1 conversation differs .* 'C7': .* 1\.5 in b, 1"):
        compare_judges({"a": {"1": run_of(1)}, "b": {"1": other}}, None)
    other = run_of(1)
    other.loc[7, "participant"] = "P1"
    with pytest.raises(UserError, match=r"'C7' is of different participants \(PID\) in different files: 'P7' and 'P1'"):
        compare_judges({"a": {"1": run_of(1)}, "b": {"1": other}}, None)


def test_judges_without_a_conversation_in_common_are_refused():
    other = run_of(1)
    other["conversation"] = "D" + other["conversation"]
    with pytest.raises(UserError, match=r"No conversation has a usable score of all 2 judges; a has the fewest \(40\)"):
        compare_judges({"a": {"1": run_of(1)}, "b": {"1": other}}, None)


def test_rows_without_a_task_are_refused_with_file_and_column(tmp_path):
    for name in "ab":
        (tmp_path / f"{name}.csv").write_text("IS_EMPATHY,ground-truth\n4,4.2\n", encoding="utf-8")
    with pytest.raises(UserError, match=r"a\.csv: lacks the column TaskId, so its conversations can.t be matched"):
        compare(tmp_path)
    for name in "ab":
        text = "TaskId,IS_EMPATHY,ground-truth\nC1,4,4.2\n,3,3\n"
        (tmp_path / f"{name}.csv").write_text(text, encoding="utf-8")
    with pytest.raises(UserError, match=r"a\.csv: column TaskId: blank in 1 row, so"):
        compare(tmp_path)


@pytest.mark.parametrize("text", ["gpt", "gpt=1", "gpt=1,2,3", "=1,2", "gpt=a,2", "gpt=-1,2", "gpt=nan,1"])
def test_a_price_that_is_none_is_refused(text):
    with pytest.raises(UserError, match=r"Write JUDGE=IN,OUT"):
        Price.named(text)


def test_a_price_of_no_judge_is_refused(folder):
    ended = call(folder, "--price", "gpt=1,2")
    assert isinstance(ended.exception, UserError)
    assert "no such judge. These are compared: far-prompt, middle-prompt, near-prompt" in str(ended.exception)


# What the verb prints


def test_the_text_counts_who_is_left_out_and_names_the_better(folder):
    said = call(folder).stdout
    assert "Juries" not in said
    assert "3 judges on the same 38 of 40 conversations with ground truth" in said
    assert "near-prompt: without a usable score in some run: 1 of 40 conversations" in said
    assert "p by Holm over 3 pairs for each metric" in said
    line = next(line for line in said.splitlines() if line.startswith("MAE") and "far-prompt minus near-prompt" in line)
    assert line.split()[-1] == "near-prompt"  # less is better


def test_json_holds_every_metric_of_every_judge_and_pair(folder):
    said = json.loads(call(folder, "--json", "--each-run").stdout)
    names = ["far-prompt-iter1", "middle-prompt-iter1", "near-prompt-iter1", "near-prompt-iter2"]
    assert [judge["name"] for judge in said["judges"]] == names
    said = json.loads(call(folder, "--json").stdout)
    assert [judge["name"] for judge in said["judges"]] == ["far-prompt", "middle-prompt", "near-prompt"]
    assert [len(judge["files"]) for judge in said["judges"]] == [1, 1, 2]
    assert said["juries"] == {"agreement": {}, "gains": []}
    assert set(said["differences"]) == {"coverage", *METRICS}
    row = said["differences"]["accuracy"][0]
    assert (row["first"], row["second"]) == ("far-prompt", "middle-prompt")
    assert {"estimate", "low", "high", "p", "p_holm", "n", "unit", "method", "reason"} < set(row)


def test_judges_called_alike_in_two_folders_stay_apart(tmp_path):
    for part, seed in (("one", 1), ("two", 2)):
        write_predictions(prediction_path(tmp_path / part, "m", "p", 1), run_of(seed))
    found = compare([tmp_path / "one", tmp_path / "two"], draws=50)
    assert list(found.comparison.judges) == [f"{tmp_path}/one/m-p", f"{tmp_path}/two/m-p"]


def test_tokens_time_and_cost_stand_beside_where_files_have_them(tmp_path):
    asked = run_of(1, input_tokens=1000.0, output_tokens=50.0, seconds=np.arange(40.0))
    write_predictions(prediction_path(tmp_path, "asked", "p", 1), asked)
    write_predictions(prediction_path(tmp_path, "other", "p", 1), run_of(2))
    found = compare(tmp_path, draws=50, prices={"asked-p": Price(2.0, 10.0)})
    assert found.took.loc["asked-p"].to_dict() == {
        "calls": 40,
        "input_tokens": 1000,
        "output_tokens": 50,
        "seconds": 19.5,
        "cost": pytest.approx(40 * (1000 * 2 + 50 * 10) / 1e6),
    }
    assert found.took.loc["other-p"].isna().sum() == 4
    assert "tokens in a call" in found.text()
    write_predictions(prediction_path(tmp_path, "asked", "p", 1), run_of(1))
    assert "tokens in a call" not in compare(tmp_path, draws=50).text()


def test_baselines_stand_beside_with_the_data_and_foreign_predictions_are_refused(folder):
    ended = call(folder, "--data", "synthetic")
    assert isinstance(ended.exception, UserError)
    assert "conversations that are not of this data set: 40 of 40" in str(ended.exception)


def test_juries_are_formed_only_where_they_are_asked_for(folder):
    said = call(folder, "--jury", "median").stdout
    assert "near-prompt: median of 2 runs: Krippendorff's alpha of the members: 0." in said
    assert "median of 3 judges" in said
    found = json.loads(call(folder, "--jury", "mean", "--worth", "5", "--json").stdout)["juries"]
    assert {row["jury"] for row in found["gains"]} == {"near-prompt: mean of 2 runs", "mean of 3 judges"}
    assert {row["worth"] for row in found["gains"]} == {False}
    ended = call(folder, "--jury", "vote")
    assert isinstance(ended.exception, UserError)
    assert "no such rule" in str(ended.exception)


def test_too_few_draws_for_so_many_pairs_are_said_to_be(tmp_path):
    for seed in range(4):
        write_predictions(prediction_path(tmp_path, f"m{seed}", "p", 1), run_of(seed))
    said = "no corrected p value can fall below 0.12, so no difference can be decided. Take --draws 480 or more."
    assert said in compare(tmp_path, draws=100).text()
    assert said not in compare(tmp_path, draws=480).text()


def test_of_three_participants_there_is_no_interval_no_p_value_and_the_reason(tmp_path):
    for seed, judge in enumerate("ab"):
        write_predictions(prediction_path(tmp_path, judge, "p", 1), run_of(seed, rows=6, people=3))
    found = compare(tmp_path, draws=100, jury="mean")
    reason = "no interval: only 3 participants to resample"
    for metric in ("coverage", "accuracy", "mean_absolute_error"):
        row = found.comparison.differences[metric].iloc[0]
        assert np.isfinite(row["estimate"])
        assert np.isnan(row["p"])
        assert row["reason"] == reason
    assert found.juries["gains"].loc[("mean of 2 judges", "accuracy"), "reason"] == reason
    assert "nan" not in found.text()
