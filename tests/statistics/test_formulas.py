"""Alpha, agreement of raters, ranks, and rows of estimates: against algebra and other libraries, and without any."""

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import stats
from sklearn.metrics import cohen_kappa_score
from statsmodels.stats.multitest import multipletests

import sense7 as s7
from helpers import naming
from sense7.errors import UserError
from sense7.findings import measures
from sense7.statistics import alpha as alpha_module
from sense7.statistics.alternative_annotator import (
    FEWEST_INSTANCES,
    alternative_test,
    benjamini_yekutieli,
    winning_rate,
    wins,
)
from sense7.statistics.bootstrap import ParticipantBootstrap
from sense7.statistics.estimates import COLUMNS, estimate_row, estimate_table, holm
from sense7.statistics.ranks import spearman_in_draws, spearmans_in_draws
from sense7.statistics.rater_agreement import STEPS, quadratic_kappa
from sense7.workbook import read_workbook


@pytest.fixture(scope="module")
def study(workbooks):
    return read_workbook(workbooks["reference"])


def alpha_by_pandas(ratings: pd.DataFrame) -> float:
    covariances, items = ratings.cov().to_numpy(), ratings.shape[1]
    return items / (items - 1) * (1 - np.trace(covariances) / covariances.sum())


def test_the_interval_is_that_of_bonett_with_an_error_by_leaving_out_participants(study):
    """An independent program: drop each participant's rows, compute alpha with pandas."""
    frame = measures.turn_ratings(study)
    people, rest = frame.index.unique(), 1 - alpha_by_pandas(frame)
    logs = np.log([1 - alpha_by_pandas(frame[frame.index != who]) for who in people])
    reach = stats.t.ppf(0.975, len(people) - 1) * np.sqrt((len(people) - 1) * logs.var())
    found = alpha_module.alpha_row(frame, ParticipantBootstrap(frame.index, draws=2))
    assert found["low"] == pytest.approx(1 - rest * np.exp(reach), abs=1e-9)
    assert found["high"] == pytest.approx(1 - rest * np.exp(-reach), abs=1e-9)
    naming.check(found["method"], "95%", "log(1 - alpha)")


def test_the_t_interval_does_not_depend_on_resamples_or_seed_and_the_percentile_interval_does(
    study,
):
    ratings = measures.post_task_ratings(study)
    few, many = (
        ParticipantBootstrap(ratings.index, draws, seed) for draws, seed in ((50, 1), (60, 2))
    )
    first, second = (alpha_module.alpha_row(ratings, one) for one in (few, many))
    assert first == second
    first, second = (
        alpha_module.alpha_row(ratings, one, interval="percentile") for one in (few, many)
    )
    assert first["low"] != second["low"]
    naming.check(first["method"], "95%", 50)


def one_participant_each(rows: list[list[float]]) -> pd.DataFrame:
    return pd.DataFrame(
        rows, columns=list("abc"[: len(rows[0])]), index=[f"P{i}" for i in range(len(rows))]
    )


@pytest.mark.parametrize(
    ("rows", "has_estimate", "named"),
    [
        ([[np.nan, np.nan], [np.nan, np.nan]], False, ""),
        ([[1, np.nan], [2, np.nan]], False, ""),
        ([[3, 3], [3, 3], [3, 3]], False, ""),
        ([[1, np.nan], [2, np.nan], [np.nan, 3], [np.nan, 4]], False, ""),
        ([[1, 2]], False, "2 dimensions"),
        ([[1, 2, np.nan], [2, 2, np.nan], [4, 5, np.nan]], True, "2 dimensions; never rated: c"),
    ],
)
def test_where_there_is_no_alpha_the_row_says_why(rows, has_estimate, named):
    ratings = one_participant_each(rows)
    row = alpha_module.alpha_row(ratings, ParticipantBootstrap(ratings.index, 100, 1))
    assert np.isnan(row["low"])
    assert np.isfinite(row["estimate"]) == has_estimate
    naming.check(row["reason"], named)


def test_an_alpha_of_one_is_not_called_certain():
    ratings = one_participant_each([[1, 1], [2, 2], [4, 4], [5, 5], [3, 3], [2, 2]])
    reasons = set()
    for interval in ("participants", "percentile"):
        row = alpha_module.alpha_row(
            ratings, ParticipantBootstrap(ratings.index, 100, 1), interval=interval
        )
        assert row["estimate"] == pytest.approx(1)
        assert np.isnan([row["low"], row["high"]]).all()
        reasons.add(row["reason"])
        assert "interval" not in row["method"]
    (reason,) = reasons
    naming.check(reason, "same value")


def test_an_unknown_interval_is_refused():
    ratings = one_participant_each([[1, 2], [2, 3]])
    with naming.refused("participants, percentile, feldt", error=ValueError):
        alpha_module.alpha_row(ratings, ParticipantBootstrap(ratings.index, 100, 1), interval="bca")


def test_an_unknown_rule_for_missing_ratings_is_refused():
    ratings = one_participant_each([[1, 2], [2, 3]])
    bootstrap = ParticipantBootstrap(ratings.index, 100, 1)
    with naming.refused("pairwise, listwise", error=ValueError):
        alpha_module.alpha_row(ratings, bootstrap, missing="mean")


THIRDS = st.integers(3, 21).map(lambda third: third / 3)

two_raters = st.lists(st.tuples(THIRDS, THIRDS), min_size=2, max_size=40)


def of_scikit_learn(first, second):
    """Categories are the values that occur, in their order."""
    return cohen_kappa_score(
        *np.rint(100 * np.array([first, second])).astype(int), weights="quadratic"
    )


def by_definition(first, second):
    """Observed and expected squared distance, pair by pair."""
    expected = np.mean([(a - b) ** 2 for a in first for b in second])
    return 1 - np.mean(np.square(np.subtract(first, second))) / expected


@pytest.mark.parametrize(
    ("steps", "reference"), [("scale", by_definition), ("occurring", of_scikit_learn)]
)
@settings(max_examples=50, deadline=None)
@given(pairs=two_raters)
def test_kappa_is_one_minus_observed_by_expected_distance(steps, reference, pairs):
    first, second = zip(*pairs, strict=True)
    kappa = quadratic_kappa(first, second, steps=steps)
    if len({*first, *second}) == 1:
        assert np.isnan(kappa)
    else:
        assert kappa == pytest.approx(reference(first, second), abs=1e-12)


@pytest.mark.parametrize("steps", STEPS)
def test_a_resample_has_the_kappa_of_its_units_copied_out(steps):
    """So the values that occur are those of the resample."""
    generator = np.random.default_rng(3)
    first, second = generator.integers(1, 8, (2, 12)) / 2
    bootstrap = ParticipantBootstrap([f"u{number}" for number in range(12)], draws=150, seed=1)
    kappas = quadratic_kappa(first, second, bootstrap.weights(), steps=steps)
    assert kappas.shape == (150,)
    for kappa, weights in zip(kappas, bootstrap.weights().astype(int), strict=True):
        copies = np.repeat(first, weights), np.repeat(second, weights)
        np.testing.assert_allclose(kappa, quadratic_kappa(*copies, steps=steps), atol=1e-12)


@pytest.mark.parametrize("steps", STEPS)
def test_two_raters_without_any_difference_have_no_kappa(steps):
    assert np.isnan(quadratic_kappa([2.5, 2.5], [2.5, 2.5], steps=steps))
    assert np.isnan(quadratic_kappa([1, 2], [1, 3], np.zeros(2), steps=steps)), "nothing is taken"
    assert np.isnan(quadratic_kappa([], [], steps=steps))
    assert quadratic_kappa([1, 1], [2, 2], steps=steps) == 0, "both constant, at two levels"


def test_ratings_that_do_not_match_are_refused():
    with naming.refused("quadratic_kappa", "2 and 3"):
        quadratic_kappa([1, 2], [1, 2, 3])
    with naming.refused("quadratic_kappa", 1):
        quadratic_kappa([1, np.nan], [1, 2])
    with naming.refused("steps", "'scale'", "'occurring'", "'levels'"):
        quadratic_kappa([1, 2], [1, 2], steps="levels")


@pytest.mark.parametrize(
    ("table", "perfect"),
    [
        ([[1, 1], [3, 3], [5, 5]], ("ICC1", "ICC2", "ICC3")),
        ([[1 / 3] * 3, [0.1] * 3, [2 / 3] * 3], ("ICC1", "ICC2", "ICC3")),
        ([[1, 2], [3, 4], [4, 5]], ("ICC3",)),
        ([[0.1, 0.2], [0.3, 0.4]], ("ICC3",)),
    ],
)
def test_perfect_agreement_is_1_with_its_limits(table, perfect):
    found = s7.intraclass_correlations(np.array(table, dtype=float))
    assert np.isfinite(found.to_numpy()).all()
    for name in perfect:
        assert found.loc[[name, f"{name}k"]].to_numpy() == pytest.approx(1, abs=1e-12)
    others = [name for name in ("ICC1", "ICC2", "ICC3") if name not in perfect]
    assert (found.loc[others, "estimate"] < 0.99).all()


@pytest.mark.parametrize("level", [3.0, 0.1])
def test_nothing_is_defined_where_nothing_varies(level):
    assert s7.intraclass_correlations(np.full((5, 3), level)).isna().all(axis=None)


@pytest.mark.parametrize("missing", [np.nan, None])
@pytest.mark.parametrize("first", [True, False])
def test_a_missing_value_is_refused_and_not_ranked(missing, first):
    columns = [[1.0, 2.0, missing, 4.0], [2.0, 1.0, 4.0, 3.0]]
    x, y = columns if first else reversed(columns)
    with naming.refused("1 of 8"):
        spearman_in_draws(x, y, np.ones((1, 4)))
    with pytest.raises(UserError, match="1 of 8"):
        spearmans_in_draws([x, y], [(0, 1)], np.ones((1, 4)))


def test_a_row_has_every_column_in_plain_types():
    row = estimate_row(1, 0, 2, n=3.0, unit="level", method="mean", reason="few")
    assert tuple(row) == COLUMNS
    assert row == {
        "estimate": 1.0,
        "low": 0.0,
        "high": 2.0,
        "n": 3,
        "unit": "level",
        "method": "mean",
        "reason": "few",
    }
    assert [type(row[name]) for name in COLUMNS] == [float, float, float, int, str, str, str]


def test_what_is_not_given_is_missing_and_needs_no_reason():
    row = estimate_row(n=0, unit="level", method="mean")
    assert all(math.isnan(row[name]) for name in ("estimate", "low", "high"))
    assert row["reason"] == ""


@pytest.mark.parametrize("name", ["unit", "method"])
@pytest.mark.parametrize("text", ["", None, 1])
def test_an_estimate_without_its_unit_or_method_is_refused(name, text):
    with naming.refused(name, error=ValueError):
        estimate_row(1.0, n=1, **{"unit": "level", "method": "mean", name: text})


def test_an_estimate_without_its_n_is_refused():
    with pytest.raises(TypeError):
        estimate_row(1.0, n=None, unit="level", method="mean")


@pytest.mark.parametrize("kind", [pd.DataFrame, lambda table: table.astype(int).tolist()])
def test_a_table_of_raters_may_be_a_frame_or_a_list_of_rows(kind):
    table = np.array([[9.0, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8], [7, 1, 2, 6]])
    pd.testing.assert_frame_equal(
        s7.intraclass_correlations(kind(table)), s7.intraclass_correlations(table)
    )


def test_a_table_keeps_the_order_of_rows_and_columns():
    rows = {
        name: estimate_row(n=number, unit="level", method="mean")
        for number, name in enumerate("ba")
    }
    table = estimate_table(rows, "which")
    assert list(table.index) == ["b", "a"]
    assert (table.index.name, tuple(table.columns)) == ("which", COLUMNS)
    assert tuple(estimate_table({}, "which").columns) == COLUMNS


# Holm's rule


@settings(max_examples=60)
@given(st.lists(st.floats(0, 1), min_size=1, max_size=8), st.lists(st.integers(0, 8), max_size=4))
def test_it_is_that_of_statsmodels_and_a_test_that_could_not_be_made_does_not_count(p, places):
    holes = list(p)
    for place in places:
        holes.insert(min(place, len(holes)), float("nan"))
    found = holm(holes)
    assert np.isnan(found).tolist() == np.isnan(holes).tolist()
    np.testing.assert_allclose(
        found[~np.isnan(found)], multipletests(p, method="holm")[1], atol=1e-15
    )


@pytest.mark.parametrize("p", [[0, 1], (0, 1, 1)])
def test_p_values_in_whole_numbers_stay_numbers(p):
    found = holm([*p, 0.01])
    assert found.dtype == float
    assert holm(p).dtype == float
    assert holm(p).tolist() == [0.0] + [1.0] * (len(p) - 1)


def test_the_given_values_stay_as_they_are():
    p = np.array([0.01, 0.02])
    holm(p)
    assert p.tolist() == [0.01, 0.02]


NAN = np.nan


def against_one(judge, annotators, column, epsilon, reference=None):
    """Advantage probability and p value against one annotator, instance by instance."""
    of_judge, apart = [], []
    for row in range(len(judge)):
        others = [x for k, x in enumerate(annotators[row]) if k != column and not np.isnan(x)]
        others = others if reference is None else [x for x in [reference[row]] if not np.isnan(x)]
        if not others or np.isnan(judge[row]) or np.isnan(annotators[row][column]):
            continue
        far, near = (
            -np.sqrt(np.mean([(x - r) ** 2 for r in others]))
            for x in (judge[row], annotators[row][column])
        )
        f, h = int(far >= near - 1e-9), int(near >= far - 1e-9)
        of_judge.append(f)
        apart.append(h - f)
    return np.mean(of_judge), apart


ratings = arrays(float, (40, 4), elements=st.sampled_from([1.0, 2.0, 3.0, 3.5, 5.0, NAN]))


@settings(max_examples=60, deadline=None)
@given(table=ratings, epsilon=st.sampled_from([0.0, 0.1, 0.2]), alone=st.booleans())
def test_advantage_and_p_value_are_those_of_the_definition(table, epsilon, alone):
    judge, annotators = table[:, 0], table[:, 1:]
    reference = annotators[:, 2] if alone else None
    annotators = annotators[:, :2] if alone else annotators
    found = alternative_test(wins(judge, annotators, reference), epsilon)
    for column in range(annotators.shape[1]):
        with np.errstate(all="ignore"):
            advantage, apart = (
                against_one(judge, annotators, column, epsilon, reference)
                if (np.isfinite(judge) & np.isfinite(annotators[:, column])).any()
                and compared(judge, annotators, column, reference)
                else (NAN, [])
            )
        assert found.advantage[column] == pytest.approx(advantage, nan_ok=True)
        if len(apart) < FEWEST_INSTANCES:
            assert np.isnan(found.p[column])
        elif np.ptp(apart):
            expected = stats.ttest_1samp(apart, epsilon, alternative="less").pvalue
            assert found.p[column] == pytest.approx(expected, rel=1e-9, abs=1e-14)
        else:
            assert found.p[column] == (0 if apart[0] < epsilon else 1)


def compared(judge, annotators, column, reference):
    others = np.delete(annotators, column, axis=1) if reference is None else reference[:, None]
    known = (
        np.isfinite(judge) & np.isfinite(annotators[:, column]) & np.isfinite(others).any(axis=1)
    )
    return known.any()


def test_a_resample_is_the_test_of_its_rows_copied_out():
    generator = np.random.default_rng(1)
    table = generator.integers(1, 6, (40, 4)).astype(float)
    found = wins(table[:, 0], table[:, 1:])
    rows = generator.integers(40, size=(5, 40))
    weights = np.array([np.bincount(row, minlength=40) for row in rows])
    drawn = alternative_test(found, 0.2, weights)
    for number, row in enumerate(rows):
        copied = alternative_test(wins(table[row, 0], table[row, 1:]), 0.2)
        assert drawn.advantage[number] == pytest.approx(copied.advantage)
        assert drawn.p[number] == pytest.approx(copied.p)


@settings(max_examples=200, deadline=None)
@given(
    st.lists(st.one_of(st.floats(0, 1), st.floats(0, 0.02), st.just(NAN)), min_size=1, max_size=8),
)
def test_rejections_are_those_of_statsmodels(p):
    p = np.array(p)
    known = np.isfinite(p)
    expected = np.zeros(len(p), dtype=bool)
    if known.any():
        expected[known] = multipletests(p[known], 0.05, method="fdr_by")[0]
    assert benjamini_yekutieli(p).tolist() == expected.tolist()
    assert benjamini_yekutieli(np.array([p, p[::-1]]))[1].tolist() == expected[::-1].tolist()


def test_a_winning_rate_is_a_share_of_the_tests_that_were_made():
    p = np.array([[0.0, 0.0, NAN], [NAN, NAN, NAN]])
    rates = winning_rate(np.array([[True, False, False], [False, False, False]]), p)
    assert rates[0] == 0.5
    assert np.isnan(rates[1])
