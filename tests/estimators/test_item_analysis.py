"""Correlations, item-rest correlations and what follows: against R, against plain data, and where there is none."""

import itertools

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers.studies import draws_of
from sense7.estimators import alpha
from sense7.figures.structure import heat_map, scree
from sense7.findings import measures
from sense7.findings.structure import items as items_module
from sense7.findings.structure.number_of_factors import parallel_analysis
from sense7.tables import Sentence
from sense7.taxonomy import DIMENSION_NAMES
from sense7.workbook import parse_sheets, read_workbook

CLOSED_FORM = 1e-7


@pytest.fixture(scope="module")
def study(workbooks):
    return read_workbook(workbooks["reference"])


@pytest.fixture(scope="module")
def ratings(study):
    turns = measures.turn_ratings(study)
    return {
        "turn_pairwise": (turns, "pairwise"),
        "turn_listwise": (turns, "listwise"),
        "turn_6dims_pairwise": (turns.drop(columns="Relational"), "pairwise"),
        "post": (measures.post_task_ratings(study), "listwise"),
    }


WHICH = ["turn_pairwise", "turn_listwise", "turn_6dims_pairwise", "post"]


@pytest.mark.parametrize("which", WHICH)
def test_the_average_correlation_equals_that_of_psych_in_r(ratings, golden, which):
    frame, missing = ratings[which]
    used, _ = alpha.usable(frame, missing)
    row = items_module.average_correlation_row(used, draws_of(used))
    golden.check(f"avg_r_{which}", row["estimate"], abs=CLOSED_FORM)


@pytest.mark.parametrize("which", WHICH)
def test_item_rest_correlations_equal_those_of_psych_in_r(ratings, golden, which):
    frame, missing = ratings[which]
    frame, _ = alpha.usable(frame, missing)
    table = items_module.item_rest(frame, draws_of(frame))
    for name in frame:
        golden.check(f"item_rest_r_{which}_{name}", table.loc[name, "estimate"], abs=CLOSED_FORM)


def test_a_sum_that_skips_holes_would_be_too_low(ratings):
    frame, _ = ratings["turn_pairwise"]
    ours = items_module.item_rest(frame, draws_of(frame)).loc["Affective", "estimate"]
    trap = frame["Affective"].corr(frame.drop(columns="Affective").sum(axis=1))
    assert trap < ours - 0.04


def test_counts_are_those_of_the_units_used(ratings):
    frame, _ = ratings["turn_pairwise"]
    table = items_module.item_rest(frame, draws_of(frame), recorded_as="turn")
    assert table["n"].to_dict() == frame.notna().sum().to_dict()
    assert table["key"].tolist() == [f"item_rest_turn_{name}" for name in frame]


def test_correlations_are_those_of_pandas(ratings):
    frame, _ = ratings["turn_pairwise"]
    table, square = items_module.correlations(frame, draws_of(frame)), frame.corr()
    pd.testing.assert_frame_equal(items_module.correlation_matrix(frame), square, atol=1e-12)
    for a, b in itertools.combinations(frame, 2):
        assert table.loc[f"{a} with {b}", "estimate"] == pytest.approx(square.loc[a, b], abs=1e-12)
        assert table.loc[f"{a} with {b}", "n"] == len(frame[[a, b]].dropna())
    keys = items_module.correlations(frame, draws_of(frame), recorded_as="turn")["key"]
    assert keys.iloc[0] == "correlation_turn_Affective_Cognitive"
    assert keys.nunique() == 21


def test_ieval_gives_its_known_answers(workbooks):
    frame = measures.turn_ratings(read_workbook(workbooks["ieval"]))
    table = items_module.correlations(frame, draws_of(frame))
    assert round(table.loc["Affective with Response", "estimate"], 3) == 0.878
    assert round(table.loc["Interest with Contextual", "estimate"], 3) == 0.848
    assert table.loc["Affective with Cognitive", "reason"] == "never rated: Cognitive"
    rest = items_module.item_rest(frame, draws_of(frame))
    assert rest.loc["Relational", "reason"] == "never rated in this data set"
    assert "5 items (never rated: Cognitive, Relational)" in rest.loc["Affective", "method"]
    average = items_module.average_correlation_row(frame, draws_of(frame))
    assert average["reason"] == "5 dimensions; never rated: Cognitive, Relational"
    assert np.isfinite(average["low"])


def noisy(seed, rows=60, items=4, people=8, holes=0.15):
    generator = np.random.default_rng(seed)
    values = generator.normal(size=(rows, 1)) + generator.normal(size=(rows, items)) + 3
    values = np.clip(np.round(values), 1, 5)
    values[generator.random(values.shape) < holes] = np.nan
    names = [f"P{code}" for code in generator.integers(people, size=rows)]
    return pd.DataFrame(values, index=names, columns=list("abcdefg"[:items]))


def copied(frame, bootstrap, draw):
    """Rows of a draw, copied out."""
    times = dict(zip(bootstrap.names, bootstrap.weights()[draw].astype(int), strict=True))
    return pd.concat([frame.loc[[name]] for name in frame.index.unique() for _ in range(times[name])])


@pytest.mark.parametrize("missing", ["pairwise", "listwise"])
def test_a_resampled_item_rest_correlation_is_that_of_the_rows_copied_out(missing):
    frame = noisy(4)
    bootstrap = draws_of(frame, 30)
    used, _ = alpha.usable(frame, missing)
    by_weights = bootstrap.distribution(
        lambda sums: alpha.item_rest_from_covariances(alpha.covariances_from_sums(sums)),
        alpha.pair_moments(used.to_numpy()),
        used.index,
    )
    for draw in range(30):
        covariances = alpha.usable(copied(frame, bootstrap, draw), missing)[0].cov().to_numpy()
        by_copies = alpha.item_rest_from_covariances(covariances)
        np.testing.assert_allclose(by_weights[draw], by_copies, atol=1e-10)


def test_intervals_are_quantiles_over_the_copied_rows():
    frame = noisy(5)
    bootstrap = draws_of(frame, 200)
    row = items_module.correlations(frame[["a", "b"]], bootstrap).iloc[0]
    values = [copied(frame, bootstrap, draw)["a"].corr(copied(frame, bootstrap, draw)["b"]) for draw in range(200)]
    np.testing.assert_allclose([row["low"], row["high"]], np.quantile(values, [0.025, 0.975]), atol=1e-10)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6))
def test_without_holes_the_item_rest_correlation_is_that_with_the_sum_of_the_others(seed):
    frame = noisy(seed, holes=0)
    used, _ = alpha.usable(frame)
    rest = alpha.item_rest_from_covariances(used.cov().to_numpy())
    for place, name in enumerate(used):
        expected = used[name].corr(used.drop(columns=name).sum(axis=1))
        assert rest[place] == pytest.approx(expected, abs=1e-10)


NONE = [np.nan] * 4


@pytest.mark.parametrize(
    ("columns", "reason"),
    [
        ({"a": NONE, "b": NONE}, "none of these ratings was given and varies; this needs 2"),
        ({"a": [1, 2, 3, 4.0], "b": NONE}, "only 1 of these ratings was given and varies; this needs 2"),
        ({"a": [1, 2, 3, 4.0], "b": [3.0] * 4}, "only 1 of these ratings was given and varies; this needs 2"),
    ],
)
def test_where_no_model_can_be_fitted_the_rows_say_why(columns, reason):
    frame = pd.DataFrame(columns, index=list("pqrs"))
    row = items_module.average_correlation_row(frame, draws_of(frame), key="average")
    assert np.isnan(row["estimate"])
    assert (row["reason"], row["key"]) == (reason, "average")
    rest = items_module.item_rest(frame, draws_of(frame))
    assert rest["estimate"].isna().all()
    assert rest["low"].isna().all()
    assert (rest["reason"] != "").all()


def test_one_participant_has_correlations_and_no_interval():
    frame = noisy(2, people=1)
    for table in (items_module.item_rest(frame, draws_of(frame)), items_module.correlations(frame, draws_of(frame))):
        assert table["estimate"].notna().all()
        assert table["low"].isna().all()
        assert set(table["reason"]) == {"no interval: only 1 participant to resample"}


def test_few_common_units_have_no_correlation():
    frame = pd.DataFrame({"a": [1, 2, np.nan, np.nan], "b": [np.nan, 4, 3, 2]}, index=list("pqrs"))
    assert (
        items_module.correlations(frame, draws_of(frame)).loc["a with b", "reason"]
        == "fewer than three units rate both"
    )
    rest = items_module.item_rest(frame, draws_of(frame))
    assert set(rest["reason"]) == {"too few units rate the item together with the others"}
    constant = pd.DataFrame({"a": [1, 2, 3, 4.0], "b": [2.0] * 4}, index=list("pqrs"))
    assert items_module.correlations(constant, draws_of(constant)).loc["a with b", "reason"] == "does not vary: b"


def test_a_small_study_without_variation_says_so_everywhere(minimal_sheets):
    study = parse_sheets(minimal_sheets(messages=dict.fromkeys(DIMENSION_NAMES, [None, "good", None, "good"] * 4)))
    turns = measures.turn_ratings(study)
    table = items_module.item_rest(turns, draws_of(turns))
    assert set(table["reason"]) == {"none of these ratings was given and varies; this needs 2"}
    assert isinstance(heat_map(items_module.correlation_matrix(turns), name="x", label="r", caption="c"), Sentence)
    assert isinstance(scree(parallel_analysis(turns, seed=1), name="x", caption="c"), Sentence)


def test_an_unknown_rule_for_missing_ratings_is_refused():
    with pytest.raises(ValueError, match="pairwise"):
        alpha.usable(noisy(1), "mean")


def test_the_heat_map_says_its_numbers(ratings):
    frame, _ = ratings["turn_pairwise"]
    matrix = items_module.correlation_matrix(frame.assign(Interest=np.nan))
    figure = heat_map(matrix, name="r", label="correlations", caption="n = <b>")
    assert f"Affective and Cognitive: {matrix.loc['Affective', 'Cognitive']:.2f}" in figure.alt
    assert "Affective and Interest: none" in figure.alt
    assert "nan" not in figure.html()
    assert "&lt;b&gt;" in figure.html()


def test_the_scree_says_its_numbers(ratings):
    frame, _ = ratings["post"]
    table = parallel_analysis(frame, seed=1, simulations=50)
    figure = scree(table, name="scree", caption="c")
    assert f"ratings: {table['components'].iloc[0]:.2f}" in figure.alt
    assert "noise, as many rows as participants" in figure.alt
    assert figure.svg().startswith("<svg")
