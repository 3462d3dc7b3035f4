"""Metrics of a judge: the authors' to the letter, and every interval exact."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import confusion_matrix, f1_score, recall_score

from helpers import naming
from helpers.judged import over_runs_of
from sense7.findings.ground_truth import labels
from sense7.judge.files import Run
from sense7.judge.scores.metrics import (
    MeasuredRun,
    calibration,
    mean_recall,
    missing_bounds,
    run_metrics,
    stability,
)
from sense7.statistics.bootstrap import ParticipantBootstrap

NAN = np.nan


def run_of(seed=1, rows=60, people=8, missing=0.1, error=1.0):
    """A run in which the score follows the truth; some scores and truths are missing."""
    generator = np.random.default_rng(seed)
    truth = np.clip(generator.normal(3.4, 1.2, rows), 1, 5).round(2)
    score = np.clip((2 * (truth + generator.normal(0, error, rows))).round() / 2, 1, 5)
    failed = generator.random(rows) < missing
    frame = pd.DataFrame({"conversation": [f"C{row}" for row in range(rows)]}, dtype=object)
    frame["participant"] = pd.Series([f"P{row % people}" for row in range(rows)], dtype=object)
    frame["score"] = np.where(failed, NAN, score)
    frame["status"] = pd.Series(np.where(failed, "refusal", "ok"), dtype=object)
    frame["ground_truth"] = np.where(generator.random(rows) < missing, NAN, truth)
    return frame


def bootstrap_of(*frames, draws=40, seed=3):
    return ParticipantBootstrap(
        pd.concat([frame["participant"] for frame in frames]), draws=draws, seed=seed
    )


def scored(truth, score):
    return pd.DataFrame({"ground_truth": truth, "score": score}, dtype=float)


def metrics_of(frame):
    return run_metrics(Run.of(frame[["ground_truth", "score"]]))["estimate"].drop("coverage")


def copies_of(frame, bootstrap):
    """The rows that each draw takes, copied out."""
    groups = dict(list(frame.groupby("participant")))
    for weights in bootstrap.weights():
        taken = [
            groups[name]
            for name, times in zip(bootstrap.names, weights, strict=True)
            for _ in range(int(times))
            if name in groups
        ]
        yield pd.concat(taken, ignore_index=True)


# The authors' metrics


def test_metrics_that_r_has_not_and_where_a_label_is_missing_are_those_of_scikit_learn():
    frame = run_of(missing=0).assign(
        ground_truth=lambda rows: rows["ground_truth"].clip(1, 4.4)
    )  # no label 5
    truth, predicted = (
        np.clip(np.round(frame[name]), 1, 5).astype(int) for name in ("ground_truth", "score")
    )
    five = [1, 2, 3, 4, 5]
    found = metrics_of(frame)
    table = confusion_matrix(truth, predicted, labels=five)
    expected = {
        "within_one": ((truth - predicted).abs() <= 1).mean(),
        "macro_f1": f1_score(truth, predicted, average="macro", zero_division=0),
    }
    for level in five[:4]:
        expected[f"sensitivity_{level}"] = recall_score(truth == level, predicted == level)
    for level in five:
        expected[f"specificity_{level}"] = recall_score(truth != level, predicted != level)
    assert found[list(expected)].to_dict() == pytest.approx(expected, abs=1e-12)
    assert np.isnan(found["sensitivity_5"])
    counts = over_runs_of([frame]).confusion
    assert counts.to_numpy().tolist() == table.tolist()
    assert (counts.index.name, counts.columns.name) == ("ground truth", "prediction")


# Intervals


@settings(max_examples=4, deadline=None)
@given(seed=st.integers(0, 10**6), people=st.integers(5, 9), rows=st.integers(10, 60))
def test_every_metric_of_every_draw_is_that_of_the_rows_copied_out(seed, people, rows):
    frame = run_of(seed, rows=rows, people=people, missing=0.1)
    bootstrap = bootstrap_of(frame, draws=8, seed=seed)
    complete = frame.dropna()
    drawn = pd.DataFrame(MeasuredRun(Run.of(frame), bootstrap).drawn).drop(columns="coverage")
    for (_, values), copied in zip(
        drawn.iloc[1:].iterrows(), copies_of(complete, bootstrap), strict=True
    ):
        recomputed = metrics_of(copied)
        assert values.to_numpy() == pytest.approx(
            recomputed[values.index].to_numpy(), abs=1e-12, nan_ok=True
        )


# Coverage, policies and bounds


def test_bounds_of_the_accuracy_are_those_with_every_missing_score_wrong_or_right():
    frame = run_of(1, rows=12, missing=0.3)
    truth, score = frame["ground_truth"], frame["score"]
    found = missing_bounds(over_runs_of([frame]))
    opposite = np.where(truth < 3, 5.0, 1.0)
    for end, filled in (
        ("best", score.fillna(truth)),
        ("worst", score.fillna(pd.Series(opposite))),
    ):
        expected = metrics_of(scored(truth, filled))["accuracy"]
        assert found.loc[f"accuracy_{end}", "estimate"] == pytest.approx(expected, abs=1e-12)
    assert (found["n"] == truth.notna().sum()).all()


# Over runs


def test_the_mean_and_the_spread_over_runs_are_those_of_the_tables():
    runs = [run_of(seed, error=0.8) for seed in range(4)]
    found = over_runs_of(runs)
    tables = pd.DataFrame(
        {name: run_metrics(Run.of(frame))["estimate"] for name, frame in enumerate(runs)}
    )
    assert list(found.runs) == ["1", "2", "3", "4"]
    assert found.mean["estimate"].to_numpy() == pytest.approx(tables.mean(axis=1).to_numpy())
    assert found.spread["estimate"].to_numpy() == pytest.approx(
        tables.std(axis=1, ddof=1).to_numpy()
    )
    assert (found.spread["n"] == 4).all()
    assert found.spread[["low", "high"]].isna().all(axis=None)
    (reason,) = set(over_runs_of(runs[:1]).spread["reason"])
    naming.check(reason, "one run")


# Confusion and calibration


@pytest.mark.parametrize("policy", ["strict", "authors"])
def test_calibration_is_the_mean_truth_of_each_predicted_level(policy):
    frames = [run_of(seed, rows=100) for seed in (1, 2)]
    bootstrap = bootstrap_of(*frames, draws=100)
    found = calibration(over_runs_of(frames, bootstrap, policy))
    pooled = pd.concat(
        [frame.assign(score=Run.of(frame).scores(policy)) for frame in frames]
    ).dropna()
    predicted = np.clip(np.round(pooled["score"]), 1, 5)
    for level in range(1, 6):
        chosen = pooled[predicted == level]
        assert found.loc[level, "n"] == len(chosen)
        assert found.loc[level, "estimate"] == pytest.approx(chosen["ground_truth"].mean())
        means = [rows["ground_truth"].mean() for rows in copies_of(chosen, bootstrap)]
        assert found.loc[level, ["low", "high"]].tolist() == pytest.approx(
            np.quantile(means, [0.025, 0.975]).tolist()
        )


# Degenerate data


def test_without_rows_every_metric_says_why_it_is_missing():
    empty = run_of(rows=0)
    bootstrap = bootstrap_of(run_of())
    for found in (
        run_metrics(Run.of(empty), bootstrap),
        over_runs_of([empty, empty], bootstrap).mean,
        calibration(over_runs_of([empty], bootstrap)),
    ):
        assert found["estimate"].isna().all()
        assert (found["reason"] != "").all()
    (reason,) = set(missing_bounds(over_runs_of([empty], bootstrap))["reason"])
    naming.check(reason, "ground truth")


@pytest.mark.parametrize(
    ("truth", "score", "name", "level"),
    [
        ([3.0], [4.0], "spearman", ""),
        ([3.0, 4.0], [4.0, 4.0], "spearman", ""),
        ([3.0, 3.0], [4.0, 2.0], "spearman", ""),
        ([3.0, 3.1], [3.0, 2.9], "quadratic_kappa", ""),
        ([3.0, 3.1], [4.0, 2.0], "sensitivity_4", "4"),
        ([3.0, 3.1], [4.0, 2.0], "specificity_3", "3"),
    ],
)
def test_a_metric_that_is_undefined_says_why(truth, score, name, level):
    found = run_metrics(
        Run.of(scored(truth, score).assign(participant="P1")),
        ParticipantBootstrap(["P1"], draws=20),
    )
    assert np.isnan(found.loc[name, "estimate"])
    naming.check(found.loc[name, "reason"], level)


@pytest.mark.parametrize(
    ("participant", "number"),
    [
        (None, ""),
        ([None] * 6, ""),
        (["a", None, "b", "c", "d", "e"], "1"),
        (["a", "a", "b", "b", "a", "b"], "2 participants"),
    ],
)
def test_without_participants_there_are_figures_and_no_intervals(participant, number):
    frame = run_of(rows=6, missing=0).drop(columns="participant")
    if participant is not None:
        frame["participant"] = pd.Series(participant, dtype=object)
    bootstrap = ParticipantBootstrap(list("abcde"), draws=20)
    (reason,) = stability(over_runs_of([frame] * 2, bootstrap))["reason"]
    naming.check(reason, number)
    for found in (run_metrics(Run.of(frame), bootstrap), over_runs_of([frame] * 2, bootstrap).mean):
        defined = found["estimate"].notna()
        assert (found.loc[defined, "reason"] == reason).all()
        assert found[["low", "high"]].isna().all(axis=None)
    assert missing_bounds(over_runs_of([frame], bootstrap))["reason"].unique() == [reason]


def test_runs_agree_only_about_conversations_that_two_of_them_scored():
    frame = run_of(rows=6, missing=0)
    other = frame.assign(conversation=[f"D{row}" for row in range(6)])
    for frames, named in (([frame], "one run"), ([frame, other], "two runs")):
        agreement = stability(over_runs_of(frames, bootstrap_of(frame))).loc["same_label"]
        assert np.isnan(agreement["estimate"])
        naming.check(agreement["reason"], named)


def test_mean_recall_is_that_of_scikit_learn_over_the_levels_of_enough_people():
    frame = run_of(rows=200, people=20, missing=0)
    lowest = frame["ground_truth"] < 1.5
    frame.loc[lowest, "participant"] = [f"P{row % 3}" for row in range(lowest.sum())]
    table = mean_recall(over_runs_of([frame], bootstrap_of(frame)))
    truth, score = labels(frame["ground_truth"]), labels(frame["score"])
    expected = recall_score(truth, score, labels=[2, 3, 4, 5], average="macro")
    assert table.loc["mean_recall", "estimate"] == pytest.approx(expected, abs=1e-12)
    above = table.loc["mean_recall_above_chance"]
    assert above["estimate"] == pytest.approx(expected - 1 / 4, abs=1e-12)
    assert "(2, 3, 4, 5)" in above["method"]
