"""Numbers that are declared: the reason where there is none, errors that stay errors, statistics that are paired."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import sense7
from sense7.errors import UserError
from sense7.estimators.bootstrap import ConversationBootstrap, ParticipantBootstrap
from sense7.estimators.estimates import Estimate
from sense7.findings.core import Number, Resamples, need, resampled, share, tabulate, widened

ROWS = pd.DataFrame({"participant": [f"P{row // 2}" for row in range(20)], "x": np.arange(20) % 7, "y": np.arange(20)})
BOOTSTRAP = ParticipantBootstrap(ROWS["participant"], draws=300, seed=2)


def number(statistic, **more):
    return Number("mean", statistic, unit="points", method="mean", rows=ROWS, **more)


def mean(name):
    return share(BOOTSTRAP, ROWS[name], np.ones(len(ROWS)), ROWS["participant"])


def refused():
    need([], "nobody was asked")


@pytest.mark.parametrize("error", [KeyError, ValueError, TypeError, ZeroDivisionError, UserError, RuntimeError])
def test_a_real_error_is_never_swallowed(error):
    def wrong():
        need(True, "not the reason")
        raise error("a mistake")

    with pytest.raises(error, match="a mistake"):
        tabulate("what", [number(wrong)], BOOTSTRAP)


def test_what_is_missing_becomes_the_reason_of_its_row_alone():
    table = tabulate(
        "what", [number(refused, key="a"), Number("y", lambda: mean("y"), "points", "mean", ROWS)], BOOTSTRAP
    )
    assert table["reason"].tolist() == ["nobody was asked", ""]
    assert table["key"].tolist() == ["a", ""]
    assert np.isnan(table["estimate"].iloc[0])
    assert table.loc["y", "low"] < table.loc["y", "estimate"] == ROWS["y"].mean() < table.loc["y", "high"]
    assert table["n"].tolist() == [20, 20]


def test_reasons_are_caught_in_one_place():
    sources = Path(sense7.__file__).parent.rglob("*.py")
    caught = [path.name for path in sources if "except NotComputable" in path.read_text(encoding="utf-8")]
    assert caught == ["core.py"]


def test_a_difference_is_the_minus_of_two_statistics():
    rows = np.column_stack([ROWS["y"] - ROWS["x"], np.ones(20)])
    direct = resampled(BOOTSTRAP, lambda sums: sums[..., 0] / sums[..., 1], rows, ROWS["participant"])
    np.testing.assert_allclose(mean("y") - mean("x"), direct, atol=1e-12)
    row = number(lambda: mean("y") - mean("x")).row(BOOTSTRAP)
    assert [row["low"], row["high"]] == pytest.approx(np.quantile(direct[1:], [0.025, 0.975]).tolist())


def test_an_interval_of_another_kind_is_said_and_a_note_stays():
    row = number(lambda: Estimate(2.0, 1.0, 3.0), interval="t interval", note="six of seven items").row(BOOTSTRAP)
    assert (row["method"], row["reason"], row["low"]) == ("mean; t interval", "six of seven items", 1.0)
    assert number(lambda: Estimate(np.nan), undefined="constant").row(BOOTSTRAP)["reason"] == "constant"


def test_more_comparisons_widen_by_bonferroni():
    assert widened(BOOTSTRAP, 5).confidence == pytest.approx(0.99)
    np.testing.assert_array_equal(widened(BOOTSTRAP, 5).weights(), BOOTSTRAP.weights())


@pytest.mark.parametrize("draw", [0, 1, 7])
def test_statistics_of_columns_are_those_of_the_rows_copied_out(draw):
    generator = np.random.default_rng(5)
    frame = pd.DataFrame(generator.integers(1, 6, (12, 3)), columns=["a", "b", "c"], index=[f"C{n}" for n in range(12)])
    over = Resamples(frame, ConversationBootstrap(frame.index.to_series(), draws=10, seed=1))
    copied = frame.loc[frame.index.repeat(over.weights[draw].astype(int))]
    k, whole = 3, copied.sum(axis=1).var()
    for found, expected in (
        (over.mean(frame["a"]), copied["a"].mean()),
        (over.deviation(frame["a"]), copied["a"].std()),
        (over.quantile(frame["a"], 0.25), np.quantile(copied["a"], 0.25)),
        (over.spearman("a", "b"), stats.spearmanr(copied["a"], copied["b"])[0]),
        (over.alpha(frame), k / (k - 1) * (1 - copied.var().sum() / whole)),
    ):
        assert found[draw] == pytest.approx(expected, abs=1e-12)
    assert over.of(frame.iloc[:6]).weights.shape == (11, 6)
