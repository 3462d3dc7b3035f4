"""The effect of a poor turn: every definition against R, and where there is none."""

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm

from helpers.studies import bootstrap_of
from sense7.checkout import data_file
from sense7.estimators import effect_size
from sense7.estimators.bootstrap import ParticipantBootstrap
from sense7.estimators.estimates import estimate_row, estimate_table
from sense7.estimators.mixed import fit_random_intercept, random_intercept_sums
from sense7.findings import measures as measures_module
from sense7.findings.poor_turn import definitions
from sense7.findings.poor_turn import ladder as ladder_module
from sense7.workbook import parse_sheets, read_workbook

MIXED_MODEL = 2e-4


@pytest.fixture(scope="module")
def study(workbooks):
    return read_workbook(workbooks["reference"])


@pytest.fixture(scope="module")
def effects(study):
    bootstrap = ParticipantBootstrap(study.conversations["participant"], draws=2000, seed=1)
    # In the reference the outcome is the post-task experience, whose four ratings are equal there.
    return definitions.poor_turn_effects(study, bootstrap, outcome="experience")


@pytest.mark.parametrize(
    ("row", "name", "tolerance"),
    [
        ("at least one poor turn, between conversations", "d_any_vs_none", 1e-7),
        ("exactly one poor turn, between conversations", "d_one_vs_none", 1e-7),
        ("at least one poor turn, within participants", "d_av_participant", 1e-7),
        ("at least one poor turn, mixed model", "d_lmm_total", MIXED_MODEL),
    ],
)
def test_each_definition_equals_that_of_r(effects, golden, row, name, tolerance):
    golden.check(name, effects.loc[row, "estimate"], abs=tolerance)


def test_the_groups_are_those_of_r(study, golden, effects):
    conversations = definitions.poor_turn_conversations(study, "experience")
    golden.check("n_none_any_vs_none", (conversations["poor"] == 0).sum(), abs=0)
    golden.check("n_poor_any_vs_none", (conversations["poor"] > 0).sum(), abs=0)
    golden.check("n_poor_one_vs_none", (conversations["poor"] == 1).sum(), abs=0)
    golden.check("d_participant_n", effects.loc["at least one poor turn, within participants", "n"], abs=0)


def test_the_mixed_model_equals_lme4(study, golden):
    conversations = definitions.poor_turn_conversations(study, "experience")
    design = np.column_stack([np.ones(len(conversations)), conversations["poor"] > 0]).astype(float)
    sums, _ = random_intercept_sums(conversations["outcome"].to_numpy(), design, conversations["participant"])
    fit = fit_random_intercept(sums.sum(axis=0))
    golden.check("d_lmm_b", fit.coefficients[1], abs=MIXED_MODEL)
    golden.check("d_lmm_se", fit.errors[1], abs=MIXED_MODEL)


def test_a_resampled_mixed_model_is_that_of_the_rows_copied_out():
    generator = np.random.default_rng(3)
    who = pd.Series(np.repeat(np.arange(8), [1, 2, 3, 4, 5, 3, 2, 6]))
    design = np.column_stack([np.ones(len(who)), generator.integers(2, size=len(who))]).astype(float)
    y = generator.normal(size=8)[who] + generator.normal(size=len(who)) + design[:, 1]
    sums, names = random_intercept_sums(y, design, who)
    times = np.array([2, 0, 1, 3, 1, 1, 0, 1])
    rows = [(copy, row) for row in range(len(who)) for copy in range(times[names.get_loc(who[row])])]
    copied, _ = random_intercept_sums(
        y[[row for _, row in rows]],
        design[[row for _, row in rows]],
        pd.Series([f"{who[row]}-{copy}" for copy, row in rows]),
    )
    by_weights = fit_random_intercept(np.tensordot(times, sums, axes=1))
    by_copies = fit_random_intercept(copied.sum(axis=0))
    np.testing.assert_allclose(by_weights.coefficients, by_copies.coefficients, atol=1e-8)
    np.testing.assert_allclose(by_weights.participant_variance, by_copies.participant_variance, atol=1e-6)


def d_between(frame):
    groups = [frame.loc[frame["poor"] == which, "outcome"] for which in (False, True)]
    squares = sum(((group - group.mean()) ** 2).sum() for group in groups)
    return (groups[0].mean() - groups[1].mean()) / np.sqrt(squares / (len(frame) - 2))


def d_within(frame):
    means = frame.pivot_table(index="copy", columns="poor", values="outcome").dropna()
    return (means[False] - means[True]).mean() / np.sqrt(means.var(ddof=1).mean())


def test_intervals_resample_participants_with_all_their_conversations(study):
    """An independent program: copy participants' rows, each copy a participant of its own."""
    bootstrap = ParticipantBootstrap(study.conversations["participant"], draws=40, seed=1)
    table = definitions.poor_turn_effects(study, bootstrap, outcome="experience")
    frame = definitions.poor_turn_conversations(study, "experience")
    frame = frame.assign(poor=frame["poor"] > 0)
    groups = dict(list(frame.groupby("participant")))
    drawn = {"between conversations": [], "within participants": []}
    for weights in bootstrap.weights().astype(int):
        copies = [groups[who] for who, times in zip(bootstrap.names, weights, strict=True) for _ in range(times)]
        rows = pd.concat([copy.assign(copy=number) for number, copy in enumerate(copies)])
        drawn["between conversations"].append(d_between(rows))
        drawn["within participants"].append(d_within(rows))
    for comparison, values in drawn.items():
        limits = table.loc[f"at least one poor turn, {comparison}", ["low", "high"]].tolist()
        assert limits == pytest.approx(np.quantile(values, [0.025, 0.975]), abs=1e-9)


def test_conversations_without_a_rated_turn_or_without_an_outcome_are_left_out(minimal_sheets):
    study = parse_sheets(minimal_sheets(messages={"EmpathyOverall": [None] * 4 + [None, "poor", None, "good"] * 3}))
    study.conversations.loc[1, measures_module.OUTCOMES["experience"]] = np.nan
    conversations = definitions.poor_turn_conversations(study, "experience")
    assert list(conversations.index) == list(study.conversations["conversation"].iloc[2:])
    assert conversations["poor"].tolist() == [1, 1]
    assert conversations["rated"].tolist() == [2, 2]


def test_without_differences_between_participants_their_variance_is_zero():
    who = pd.Series(np.tile(np.arange(5), 4))
    y = np.tile([1.0, -1.0, 1.0, -1.0], (5, 1)).T.ravel()
    fit = fit_random_intercept(random_intercept_sums(y, np.ones((20, 1)), who)[0].sum(axis=0))
    assert fit.participant_variance == 0
    assert fit.residual_variance == pytest.approx(np.var(y, ddof=1))


def study_with(minimal_sheets, overall, **tasks):
    study = parse_sheets(minimal_sheets(messages={"EmpathyOverall": overall}, tasks=tasks))
    bootstrap = ParticipantBootstrap(study.conversations["participant"], draws=100, seed=1)
    return definitions.poor_turn_effects(study, bootstrap)


def test_without_a_poor_turn_every_row_says_so(minimal_sheets):
    table = study_with(minimal_sheets, [None, "good", None, "very good"] * 4)
    assert table["estimate"].isna().all()
    assert set(table["reason"]) == {"0 conversations with such a turn and 4 without a poor one: too few"}


def test_an_outcome_that_does_not_vary_has_no_effect(minimal_sheets):
    overall = [None, "poor", None, "good"] * 2 + [None, "good", None, "good"] * 2
    table = study_with(minimal_sheets, overall)
    assert table["estimate"].isna().all()
    assert table.loc["at least one poor turn, between conversations", "reason"] == "the outcome does not vary"


def test_what_was_never_asked_is_said(workbooks):
    study = read_workbook(workbooks["lend_an_ear"])
    bootstrap = ParticipantBootstrap(study.conversations["participant"], draws=100, seed=1)
    reasons = set(definitions.poor_turn_effects(study, bootstrap)["reason"])
    assert reasons == {"the overall rating was never given in this data set, so no turn can be called poor"}


@pytest.mark.parametrize(
    ("groups", "d"),
    [(([4.0, 5, 3], [2.0, 3, 1]), 2.0), (([2.0, 3, 1], [4.0, 5, 3]), -2.0)],
)
def test_d_is_positive_where_the_second_group_is_lower(groups, d):
    sums = np.array([[len(group), sum(group), sum(y * y for y in group)] for group in groups])
    assert effect_size.cohens_d(sums) == pytest.approx(d)


@pytest.mark.parametrize("groups", [([1.0], [2.0]), ([], [1.0, 2]), ([2.0, 2], [2.0, 2])])
def test_d_is_undefined_where_nothing_can_be_compared(groups):
    sums = np.array([[len(group), sum(group), sum(y * y for y in group)] for group in groups])
    assert np.isnan(effect_size.cohens_d(sums))


# In points, and by what they are divided


@pytest.fixture(scope="module")
def synthetic():
    return read_workbook(data_file("synthetic.xlsx"))


def test_d_is_points_by_the_pooled_spread_of_the_groups(synthetic):
    measures = definitions.poor_turn_measures(synthetic, bootstrap_of(synthetic))
    frame = definitions.poor_turn_conversations(synthetic)
    good, poor = frame.loc[frame["poor"] == 0, "outcome"], frame.loc[frame["poor"] == 1, "outcome"]
    name = "exactly one poor turn, between conversations"
    assert measures["points"].loc[name, "estimate"] == pytest.approx(good.mean() - poor.mean())
    pooled = (good.var() * (len(good) - 1) + poor.var() * (len(poor) - 1)) / (len(good) + len(poor) - 2)
    assert measures["d"].loc[name, "estimate"] == pytest.approx((good.mean() - poor.mean()) / np.sqrt(pooled))
    assert (measures["points"]["low"] < measures["points"]["estimate"]).all()


def test_every_definition_of_d_has_its_key_and_two_have_one_in_points(synthetic):
    tables = definitions.poor_turn_measures(synthetic, bootstrap_of(synthetic, 10))
    assert tables["d"]["key"].nunique() == len(definitions.DEFINITIONS)
    assert tables["d"].loc["exactly one poor turn, mixed model", "key"] == "poor_turn_d_mixed_exactly_one"
    assert set(tables["points"]["key"]) == {"poor_turn_points", "poor_turn_points_within", ""}
    experience = definitions.poor_turn_effects(synthetic, bootstrap_of(synthetic, 10), outcome="experience")
    assert "key" not in experience


def test_the_grid_counts_the_conversations_of_each_definition(synthetic):
    measures = definitions.poor_turn_measures(synthetic, bootstrap_of(synthetic))
    frame = definitions.poor_turn_conversations(synthetic)
    published = measures["d"]["high"].iloc[0] - 1e-6
    grid = definitions.poor_turn_grid(synthetic, measures, published)
    between = grid.loc["exactly one poor turn, between conversations"]
    assert between["with"] == (frame["poor"] == 1).sum()
    assert between["without"] == (frame["poor"] == 0).sum()
    kinds = (frame["poor"] > 0).groupby(frame["participant"]).agg(["sum", "count"])
    both = kinds[(kinds["sum"] > 0) & (kinds["sum"] < kinds["count"])]
    within = grid.loc["at least one poor turn, within participants"]
    assert within["with"] == both["sum"].sum()
    assert within["without"] == (both["count"] - both["sum"]).sum()
    assert grid["holds it"].iloc[0] == "yes"
    assert "note" not in grid
    answers = definitions.poor_turn_grid(synthetic, measures, 9.0)["holds it"]
    assert set(answers) == {"no"}


@pytest.mark.parametrize(("published", "held", "answer"), [(0.9, 2, "yes"), (1.15, 1, "yes"), (0.3, 0, "no")])
def test_the_definitions_whose_interval_holds_the_published_value_are_counted(published, held, answer):
    rows = {
        name: estimate_row(estimate, low, high, n=9, unit="Cohen's d", method="m")
        for name, estimate, low, high in (("a", 1.0, 0.8, 1.2), ("b", 0.7, 0.5, 0.95), ("c", 2.0, np.nan, np.nan))
    }
    verdict = definitions.published_in_grid(estimate_table(rows, "definition"), published)
    assert verdict["counts"]["estimate"].tolist() == [held, 0.7, 2.0]
    assert verdict["counts"]["n"].tolist() == [2, 3, 3]
    assert verdict["held"]["estimate"] == answer


def test_without_an_interval_no_definition_holds_a_value(minimal_sheets):
    study = parse_sheets(minimal_sheets(messages={"EmpathyOverall": [None, "good", None, "very good"] * 4}))
    measures = definitions.poor_turn_measures(study, bootstrap_of(study))
    verdict = definitions.published_in_grid(measures["d"], 1.0)
    assert verdict["counts"]["estimate"].isna().all()
    assert (verdict["counts"]["reason"] != "").all()
    assert verdict["held"]["estimate"] is None
    assert verdict["held"]["reason"] == "no definition has an interval"
    grid = definitions.poor_turn_grid(study, measures, 1.0)
    assert set(grid["holds it"]) == {""}
    assert (grid["note"] != "").all()
    assert set(ladder_module.poor_turn_ladder(study, bootstrap_of(study))["reason"]) == set(grid["note"])


# What is held equal


def ladder_frame(study):
    """Conversations with a turn that is not poor, by a loop."""
    rows = []
    for conversation, turns in study.turns.groupby("conversation"):
        given = turns["overall"].dropna()
        good = given[given > 2]
        own = study.conversations.set_index("conversation").loc[conversation]
        outcome = own[measures_module.OUTCOMES["empathy"]].astype(float).mean()
        if len(good) and not np.isnan(outcome):
            rows.append((own["participant"], len(good) < len(given), len(given), good.mean(), outcome))
    return pd.DataFrame(rows, columns=["participant", "poor", "rated", "others", "outcome"])


def test_the_ladder_is_that_of_statsmodels(synthetic):
    ladder = ladder_module.poor_turn_ladder(synthetic, bootstrap_of(synthetic, 1000))
    frame = ladder_frame(synthetic)
    columns = frame[["poor", "rated", "others"]].astype(float)
    people = pd.get_dummies(frame["participant"]).astype(float)
    designs = [
        sm.add_constant(columns[["poor"]]),
        sm.add_constant(columns[["poor", "rated"]]),
        sm.add_constant(columns),
    ]
    designs.append(columns.join(people))
    groups = pd.factorize(frame["participant"])[0]
    for (name, row), design in zip(ladder.iterrows(), designs, strict=True):
        fit = sm.OLS(frame["outcome"], design).fit(cov_type="cluster", cov_kwds={"groups": groups})
        assert row["estimate"] == pytest.approx(-fit.params["poor"], abs=1e-9), name
        assert (row["high"] - row["low"]) / (2 * 1.96) == pytest.approx(fit.bse["poor"], rel=0.2), name
        assert row["n"] == len(frame)
