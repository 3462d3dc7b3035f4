"""Poor turns and the whole: against R, statsmodels and scipy, and where there is nothing to compute."""

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from scipy import stats

import sense7 as s7
from helpers.studies import bootstrap_of, read
from sense7.estimators.estimates import estimate_row, estimate_table
from sense7.findings import poor_turn
from sense7.findings.measures import OUTCOMES
from sense7.workbook import parse_sheets


@pytest.fixture(scope="module")
def study(workbooks):
    return read(workbooks["reference"])


@pytest.fixture(scope="module")
def synthetic():
    return s7.load("synthetic")


def test_conversations_without_a_rated_turn_or_without_an_outcome_are_left_out(minimal_sheets):
    study = parse_sheets(minimal_sheets(messages={"EmpathyOverall": [None] * 4 + [None, "poor", None, "good"] * 3}))
    study.conversations.loc[1, OUTCOMES["experience"]] = np.nan
    conversations = poor_turn.poor_turn_conversations(study, "experience")
    assert list(conversations.index) == list(study.conversations["conversation"].iloc[2:])
    assert conversations[["poor", "rated"]].to_numpy().tolist() == [[1, 2], [1, 2]]


def test_points_and_the_grid_count_by_definition(synthetic):
    measures = poor_turn.poor_turn_measures(synthetic, bootstrap_of(synthetic))
    frame = poor_turn.poor_turn_conversations(synthetic)
    good, poor = frame.loc[frame["poor"] == 0, "outcome"], frame.loc[frame["poor"] == 1, "outcome"]
    one = "exactly one poor turn, between conversations"
    assert measures["points"].loc[one, "estimate"] == pytest.approx(good.mean() - poor.mean())
    assert set(measures["points"]["key"]) == {"poor_turn_points", "poor_turn_points_within", ""}
    grid = poor_turn.poor_turn_grid(synthetic, measures, measures["d"]["high"].iloc[0] - 1e-6)
    assert grid.loc[one, ["with", "without"]].tolist() == [len(poor), len(good)]
    kinds = (frame["poor"] > 0).groupby(frame["participant"]).agg(["sum", "count"])
    both = kinds[(kinds["sum"] > 0) & (kinds["sum"] < kinds["count"])]
    within = grid.loc["at least one poor turn, within participants"]
    assert within[["with", "without"]].tolist() == [both["sum"].sum(), (both["count"] - both["sum"]).sum()]
    assert grid["holds it"].iloc[0] == "yes"
    assert set(poor_turn.poor_turn_grid(synthetic, measures, 9.0)["holds it"]) == {"no"}


@pytest.mark.parametrize(("published", "held", "answer"), [(0.9, 2, "yes"), (1.15, 1, "yes"), (0.3, 0, "no")])
def test_the_definitions_whose_interval_holds_the_published_value_are_counted(published, held, answer):
    rows = {
        name: estimate_row(estimate, low, high, n=9, unit="Cohen's d", method="m")
        for name, estimate, low, high in (("a", 1.0, 0.8, 1.2), ("b", 0.7, 0.5, 0.95), ("c", 2.0, np.nan, np.nan))
    }
    verdict = poor_turn.published_in_grid(estimate_table(rows, "definition"), published)
    assert verdict["counts"]["estimate"].tolist() == [held, 0.7, 2.0]
    assert verdict["counts"]["n"].tolist() == [2, 3, 3]
    assert verdict["held"]["estimate"] == answer


def test_without_a_poor_turn_every_row_says_so_and_no_definition_holds_a_value(minimal_sheets, workbooks):
    study = parse_sheets(minimal_sheets(messages={"EmpathyOverall": [None, "good", None, "very good"] * 4}))
    measures, ladder = (
        poor_turn.poor_turn_measures(study, bootstrap_of(study)),
        poor_turn.poor_turn_ladder(study, bootstrap_of(study)),
    )
    reasons = set(measures["d"]["reason"]) | set(ladder["reason"])
    assert reasons == {"0 conversations with such a turn and 4 without a poor one: too few"}
    verdict = poor_turn.published_in_grid(measures["d"], 1.0)
    assert verdict["counts"]["estimate"].isna().all()
    assert (verdict["held"]["estimate"], verdict["held"]["reason"]) == (None, "no definition has an interval")
    assert set(poor_turn.poor_turn_grid(study, measures, 1.0)["holds it"]) == {""}
    study = read(workbooks["lend_an_ear"])
    reasons = set(poor_turn.poor_turn_effects(study, bootstrap_of(study))["reason"])
    assert reasons == {"the overall rating was never given in this data set, so no turn can be called poor"}


def test_the_ladder_is_that_of_statsmodels(synthetic):
    ladder = poor_turn.poor_turn_ladder(synthetic, bootstrap_of(synthetic, 1000))
    given = synthetic.turns.dropna(subset=["overall"]).groupby("conversation")["overall"]
    frame = pd.DataFrame({"poor": given.min() <= 2, "rated": given.count()})
    frame["others"] = given.apply(lambda levels: levels[levels > 2].mean())
    talks = synthetic.conversations.set_index("conversation")
    frame = frame.join(talks[["participant"]]).assign(y=talks[OUTCOMES["empathy"]].mean(axis=1)).dropna()
    columns, people = (
        frame[["poor", "rated", "others"]].astype(float),
        pd.get_dummies(frame["participant"]).astype(float),
    )
    designs = [sm.add_constant(columns[chosen]) for chosen in (["poor"], ["poor", "rated"], list(columns))]
    for (_, row), design in zip(ladder.iterrows(), [*designs, columns.join(people)], strict=True):
        fit = sm.OLS(frame["y"], design).fit(
            cov_type="cluster", cov_kwds={"groups": pd.factorize(frame["participant"])[0]}
        )
        assert row["estimate"] == pytest.approx(-fit.params["poor"], abs=1e-9)
        assert (row["high"] - row["low"]) / (2 * 1.96) == pytest.approx(fit.bse["poor"], rel=0.2)
        assert row["n"] == len(frame)


# From turns to the whole


def test_the_end_is_the_last_rated_turn(minimal_sheets):
    overall = [None, "poor", None, "good", None, "very good", None, None]
    study = parse_sheets(minimal_sheets(messages={"EmpathyOverall": overall * 4}, turns=4))
    first = poor_turn.turn_summaries(study).iloc[0]
    assert first[[*poor_turn.PREDICTORS, "rated"]].tolist() == pytest.approx([11 / 3, 2, 5, 5, 3])


def test_cross_validation_equals_models_fitted_one_by_one(study):
    bootstrap, frame = bootstrap_of(study), poor_turn.turn_summaries(study)
    people = sorted(frame["participant"].unique())
    fold = np.random.default_rng(bootstrap.seed).permutation(np.arange(len(people)) % poor_turn.FOLDS)
    row_fold = frame["participant"].map(dict(zip(people, fold, strict=True)))

    def predicted(*chosen):
        errors = null = 0.0
        for number in range(poor_turn.FOLDS):
            train, test = frame[row_fold != number], frame[row_fold == number]
            fit = sm.OLS(train["outcome"], sm.add_constant(train[list(chosen)])).fit()
            errors += ((test["outcome"] - fit.predict(sm.add_constant(test[list(chosen)]))) ** 2).sum()
            null += ((test["outcome"] - train["outcome"].mean()) ** 2).sum()
        return 1 - errors / null

    mean = predicted("mean")
    expected = [mean, predicted("peak", "end"), predicted(*poor_turn.PREDICTORS) - mean]
    np.testing.assert_allclose(poor_turn.cross_validated_r2(study, bootstrap)["estimate"], expected, atol=1e-9)


def test_correlations_equal_scipys_and_that_of_residuals(synthetic):
    table = poor_turn.empathy_and_experience(synthetic, bootstrap_of(synthetic))
    talks = synthetic.conversations
    empathy = talks[OUTCOMES["empathy"]].mean(axis=1)
    for label, row in table.iloc[:-1].iterrows():
        names = OUTCOMES["experience"] if label == "all four together" else [label.replace(" ", "_")]
        assert row["method"].startswith("Spearman")
        expected = stats.spearmanr(empathy.round(9), talks[names].mean(axis=1).round(9)).statistic
        assert row["estimate"] == pytest.approx(expected, abs=1e-10)
    within = table.iloc[-1]
    several = talks["participant"].map(talks["participant"].value_counts()) > 1
    people = pd.get_dummies(talks.loc[several, "participant"], dtype=float).to_numpy()
    both = np.column_stack([empathy, talks[OUTCOMES["experience"]].mean(axis=1)])[several]
    left = [y - people @ np.linalg.lstsq(people, y, rcond=None)[0] for y in both.T]
    assert within["estimate"] == pytest.approx(np.corrcoef(*left)[0, 1], abs=1e-10)
    assert (within["method"][:7], within["n"]) == ("Pearson", several.sum())
