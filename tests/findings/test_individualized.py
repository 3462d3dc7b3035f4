"""Parts of the variance: against R, exact in resamplings, recovered, and where they can't be told."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from scipy import stats

from helpers import naming
from helpers.studies import bootstrap_of, parse_sheets
from sense7.findings import individualized
from sense7.findings.context import CONTEXT, context_frame
from sense7.statistics.bootstrap import NO_WIDTH
from sense7.statistics.mixed import fit_nested
from sense7.taxonomy import DIMENSION_NAMES


def test_a_part_that_is_zero_in_every_resampling_is_not_called_certain(minimal_sheets):
    # Everybody's conversations are alike on average and differ in themselves: nothing is the participants'.
    words = ("poor", "neutral", "good", "Very good")
    study = parse_sheets(
        minimal_sheets(
            conversations=24,
            tasks={"PID": [f"P{n // 4}" for n in range(24)], "Model": "only"},
            messages={
                name: [cell for n in range(24) for cell in (None, words[n % 4]) * 2]
                for name in ("EmpathyOverall", *DIMENSION_NAMES)
            },
        )
    )
    row = individualized.participant_icc(study, bootstrap_of(study), draws=50).loc["mixed model"]
    assert row["estimate"] == pytest.approx(0, abs=1e-9)
    assert np.isnan(row[["low", "high"]].to_numpy(dtype=float)).all()
    assert row["reason"] == NO_WIDTH


# Shares on one base


def test_the_variance_of_effects_is_that_of_a_balanced_analysis_of_variance():
    generator = np.random.default_rng(3)
    y = (
        generator.normal(size=(20, 4))
        + generator.normal(size=(20, 1))
        + np.array([0.0, 1.0, 1.0, 3.0])
    )
    means = y.mean(axis=0)
    rest = y - y.mean(axis=1, keepdims=True) - means + y.mean()
    error = (rest**2).sum() / (19 * 3)
    # Participants shift all conditions alike; so their variance is in all variances and covariances of the means.
    covariance = (error * np.eye(4) + 0.7) / 20
    found = individualized.variance_of_effects(means, covariance, np.full(4, 20))
    mean_square = 20 * means.var(ddof=1)
    assert found == pytest.approx((mean_square - error) / 20 * 3 / 4)


def mean_square(frame, *contexts):
    """Of an ordinary regression on an indicator of each participant and condition, and on some contexts."""
    columns = [
        pd.get_dummies(frame["participant"], dtype=float),
        pd.get_dummies(frame["condition"], dtype=float).iloc[:, 1:],
    ]
    for name in contexts:
        if name == "topic":
            columns.append(pd.get_dummies(frame["topic"], dtype=float).iloc[:, 1:])
        else:
            columns.append(frame[name])
    return sm.OLS(frame["y"], pd.concat(columns, axis=1)).fit().mse_resid


def test_context_on_one_base_is_the_fall_of_the_mean_square_with_an_indicator_of_each(synthetic):
    some = synthetic.subset(participants=synthetic.conversations["participant"].unique()[:30])
    frame = context_frame(some)
    shares = individualized.variance_shares(some, bootstrap_of(some), draws=2)["estimate"]
    fit = fit_nested(individualized.VarianceModel(frame).sums)
    whole = fit.variances[0] / shares["participant"]
    for name, contexts in (
        ("context", CONTEXT),
        ("of the context: topic", ["topic"]),
        ("of the context: importance", ["importance"]),
        ("of the context: desired empathy", ["desired_empathy"]),
    ):
        fall = mean_square(frame) - mean_square(frame, *contexts)
        assert shares[name] == pytest.approx(fall / whole, abs=1e-8)
    assert shares[list(individualized.PARTS)].sum() == pytest.approx(1)
    both = shares["condition"] + shares["of the context: topic"]
    assert shares["condition and topic"] == pytest.approx(both)
    difference = shares["participant"] - both
    assert shares["participant minus condition and topic"] == pytest.approx(difference)


def test_context_in_a_resample_is_the_fall_of_the_mean_square_of_the_rows_copied_out(synthetic):
    frame = context_frame(synthetic)
    names = pd.Index(frame["participant"].unique())
    times = np.random.default_rng(6).integers(0, 3, len(names))
    sums, variables = individualized.context_sums(frame, list(CONTEXT), names)
    copies = [
        frame[frame["participant"] == name].assign(participant=f"{name}/{copy}")
        for name, count in zip(names, times, strict=True)
        for copy in range(count)
    ]
    copied = pd.concat(copies, ignore_index=True)
    falls = individualized.context_variances(times @ sums, variables)
    without = mean_square(copied)
    assert falls["all"] == pytest.approx(without - mean_square(copied, *CONTEXT), abs=1e-8)
    for name in CONTEXT:
        assert falls[name] == pytest.approx(without - mean_square(copied, name), abs=1e-8)


# What characteristics explain


def with_characteristics(synthetic, sheet, *, same=False):
    """Sixty people of the synthetic study with other characteristics; if so, all their ratings are the same."""
    people = synthetic.conversations["participant"].unique()[:60]
    study = synthetic.subset(participants=people)
    if same:
        study = replace(study, turns=study.turns.assign(**dict.fromkeys(DIMENSION_NAMES, 3.0)))
    return replace(study, participants=pd.DataFrame({"participant": people, **sheet}))


def test_omega_squared_is_that_of_the_analysis_of_variance(synthetic):
    sheet = {"group": [f"g{n * n % 3}" for n in range(60)]}
    study = with_characteristics(synthetic, sheet)
    means = individualized.participant_means(study)
    groups = study.participants.set_index("participant")["group"].reindex(means.index)
    anova = stats.f_oneway(*(group for _, group in means.groupby(groups)))
    found = individualized.relations(study, bootstrap_of(study, 4000))
    f = anova.statistic
    assert found.estimates.loc["group", "estimate"] == pytest.approx((f - 1) / (f - 1 + 60))
    assert found.tests.loc["group", "p"] == pytest.approx(anova.pvalue, abs=0.03)
    alike = with_characteristics(synthetic, sheet, same=True)
    row = individualized.relations(alike, bootstrap_of(alike)).estimates.loc["group"]
    assert np.isnan(row["estimate"])
    assert row["reason"]


def test_columns_that_cannot_be_examined_are_listed_with_the_reason():
    people = pd.Index([f"P{number}" for number in range(30)])
    frame = pd.DataFrame(
        {
            "participant": people,
            "Prolific_ID": range(1000, 1060, 2),
            "number": range(1, 31),
            "same": "x",
            "words": [f"text {number}" for number in range(30)],
            "town": [f"town {number % 14}" for number in range(30)],
            "few": [1.0, 2.0] + [np.nan] * 28,
            "age": [20.0 + number % 17 for number in range(30)],
            "gender": ["f", "m"] * 15,
            "row": range(2, 32),
        }
    )
    table = individualized.characteristic_columns(frame, people)
    assert table["kind"].to_dict() == dict.fromkeys(table.index, "") | {
        "age": "number",
        "gender": "group",
    }
    assert (table["reason"] == "").tolist() == (table["kind"] != "").tolist()
    said = "\n".join(f"{column}: {reason}" for column, reason in table["reason"].items())
    naming.check(said, "town: 14 groups of 30 ", "few: 2 ")
