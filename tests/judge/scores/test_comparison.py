"""Judges compared: same conversations, paired differences, what is refused and printed; a page."""

import numpy as np
import pandas as pd
import pytest

from helpers import naming
from helpers.judged import run_of, runs_of
from sense7.judge.files import Run
from sense7.judge.scores import comparison
from sense7.judge.scores.comparison import compare_judges
from sense7.judge.scores.judges import ABSENT
from sense7.judge.scores.metrics import METRICS, run_metrics
from sense7.judge.scores.report import compare
from sense7.judge.scores.three_judges import krippendorff_alpha
from sense7.statistics.bootstrap import ParticipantBootstrap, resampled_p
from sense7.statistics.estimates import holm

JUDGES = {
    "near": [run_of(1, 0.4), run_of(2, 0.4, missing=[3])],
    "far": [run_of(3, 1.6, missing=[5])],
    "middle": [run_of(4, 0.9)],
}


@pytest.fixture(scope="module")
def bootstrap():
    return ParticipantBootstrap([f"P{number}" for number in range(8)], 400, 1)


@pytest.fixture(scope="module")
def compared(bootstrap):
    return compare_judges({judge: runs_of(frames) for judge, frames in JUDGES.items()}, bootstrap)


# What is compared


def test_judges_are_measured_on_the_conversations_that_every_run_of_each_has(compared):
    assert (compared.conversations, compared.shared) == (40, 38)
    assert compared.left_out.loc["near"].to_dict() == {"runs": 2, "left_out": 1, "lacking": 1}
    assert compared.left_out["left_out"].to_dict() == {"near": 1, "far": 1, "middle": 2}
    frame = JUDGES["middle"][0].drop(index=[3, 5])
    pd.testing.assert_series_equal(
        compared.judges["middle"].mean["estimate"], run_metrics(Run.of(frame))["estimate"]
    )


def test_a_difference_is_that_of_the_means_over_runs_with_its_interval(compared, bootstrap):
    for metric in ("accuracy", "mean_absolute_error", "spearman", "quadratic_kappa"):
        row = compared.differences[metric].loc["near minus far"]
        near, far = (
            compared.judges[judge].mean.loc[metric, "estimate"] for judge in ("near", "far")
        )
        assert row["estimate"] == pytest.approx(near - far, abs=1e-12)
    hits = {}
    for judge, frames in JUDGES.items():
        right = [np.rint(frame["score"]) == np.rint(frame["ground_truth"]) for frame in frames]
        hits[judge] = np.mean([run.drop([3, 5]) for run in right], axis=0)
    apart = pd.Series(hits["near"] - hits["far"])
    codes = bootstrap.codes(JUDGES["near"][0]["participant"].drop([3, 5]))
    copied = []  # rows copied out as often as each resample takes their participant
    for weights in bootstrap.weights():
        copied.append(np.repeat(apart.to_numpy(), weights[codes].astype(int)).mean())
    row = compared.differences["accuracy"].loc["near minus far"]
    assert [row["low"], row["high"]] == pytest.approx(
        np.quantile(copied, [0.025, 0.975]), abs=1e-12
    )
    assert row["p"] == resampled_p(np.array(copied))


def test_p_values_are_corrected_over_the_pairs_of_one_metric(compared):
    assert list(compared.differences) == ["coverage", *METRICS]
    for table in compared.differences.values():
        assert table.index.tolist() == ["near minus far", "near minus middle"]
        np.testing.assert_allclose(table["p_holm"], holm(table["p"]))
    worse = compared.differences["mean_absolute_error"].loc["near minus far"]
    assert worse["high"] < 0
    assert worse["p"] < 0.05


def test_participants_may_stand_in_one_of_the_files_and_few_have_no_interval(bootstrap):
    nameless = runs_of([run_of(3).drop(columns="participant")])
    few = runs_of([run_of(3, rows=6, people=3)])
    found = compare_judges({"a": runs_of(JUDGES["near"]), "b": nameless}, bootstrap)
    assert found.differences["accuracy"]["low"].notna().all()
    three = ParticipantBootstrap(few["1"].participant, 100)
    for runs, own, number in ((nameless, None, ""), (few, three, "3 participants")):
        row = compare_judges({"a": runs, "b": runs}, own).differences["mean_absolute_error"].iloc[0]
        assert row["estimate"] == 0
        naming.check(row["reason"], number)
        assert np.isnan([row["low"], row["p"], row["p_holm"]]).all()


def test_a_p_value_is_twice_the_smaller_share_of_resamples_and_never_zero():
    one_below = np.r_[-1.0, np.ones(998)]
    assert resampled_p(one_below) == resampled_p(-one_below) == pytest.approx(2 * 2 / 1000)
    assert np.isnan(resampled_p(np.array([np.nan, np.nan])))


# What is refused


OTHER = {
    "ground_truth": (1.5, ["1 conversation", "'C7'", "4.54 in a, 1", "1.5 in b, 1"]),
    "participant": ("P1", ["'C7'", "PID"]),
    "conversation": ("D7", ["2 judges", "(1)"]),
}


@pytest.mark.parametrize("column", OTHER)
def test_predictions_of_other_data_are_refused(column):
    other, own, (value, places) = run_of(1), run_of(1), OTHER[column]
    other.loc[7, column] = value
    if column == "conversation":
        own, other = own.loc[[7]], other.loc[[7]]
    with naming.refused(*places):
        compare_judges({"a": runs_of([own]), "b": runs_of([other])}, None)


@pytest.mark.parametrize(
    "text", ["IS_EMPATHY,ground-truth\n4,4.2\n", "TaskId,IS_EMPATHY,ground-truth\nC1,4,4.2\n,3,3\n"]
)
def test_rows_without_a_task_are_refused_with_file_and_column(tmp_path, text):
    for name in "ab":
        (tmp_path / f"{name}.csv").write_text(text, encoding="utf-8")
    with naming.refused(f"{tmp_path / 'a.csv'}: column TaskId", "1 row"):
        compare([tmp_path])


def double_sums(scores):
    """Krippendorff's alpha by the sums of its definition."""
    units, values = list(scores.T), scores.ravel()
    n = len(values)
    observed = (
        sum(np.subtract.outer(unit, unit).__pow__(2).sum() / (len(unit) - 1) for unit in units) / n
    )
    expected = (np.subtract.outer(values, values) ** 2).sum() / (n * (n - 1))
    return 1 - observed / expected


def test_krippendorffs_alpha_is_that_of_its_definition():
    scores = np.random.default_rng(4).integers(1, 6, (4, 30)).astype(float)
    (alpha,) = krippendorff_alpha(scores, np.ones((1, 30)))
    assert alpha == pytest.approx(double_sums(scores), abs=1e-12)


# The judges of an edition, for its page


def test_a_judge_is_compared_with_every_other_and_outcomes_are_counted(bootstrap):
    judges = {judge: runs_of(frames) for judge, frames in JUDGES.items()}
    found = comparison.compare_edition(judges, "near", {}, bootstrap)
    table = found.differences["spearman"]
    assert table["key"].to_dict() == {
        name: f"compared_spearman_{name}" for name in ("far", "middle")
    }
    counts = found.counts.set_index("key")["estimate"]
    decided = table["p_holm"] < 0.05
    assert counts["compared_better_spearman"] == (decided & (table["estimate"] > 0)).sum() > 0
    outcomes = [counts[f"compared_{name}_spearman"] for name in ("better", "worse", "undecided")]
    assert sum(outcomes) == table["p_holm"].notna().sum()
    empty = comparison.compare_edition({}, "", {}, bootstrap)
    assert empty.reason == ABSENT
    assert empty.counts["key"].tolist() == found.counts["key"].tolist()
    assert set(empty.counts["reason"]) == {empty.reason}
    assert empty.left_out.empty
