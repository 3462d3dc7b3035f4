"""A factor for each group of dimensions: against a general minimizer, against known models, and where there is none."""

import itertools

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.stats import f as f_distribution
from scipy.stats import multivariate_normal

from helpers.studies import draws_of
from sense7.estimators import factor, group_factors, nested_covariances
from sense7.findings import measures
from sense7.findings.structure import factors_by_group, one_factor
from sense7.taxonomy import DIMENSION_NAMES
from sense7.workbook import parse_sheets, read_workbook

GROUPS = [factors_by_group.GROUPS[name] for name in DIMENSION_NAMES]
LOADINGS = np.array([1, 0.8, 0.75, 0.9, 0.7, 0.85, 0.6])


@pytest.fixture(scope="module")
def study(workbooks):
    return read_workbook(workbooks["reference"])


def model(loadings, factors, groups=GROUPS):
    """Correlations by a model of the groups, as its definition writes them; a group of one item has no error."""
    names = list(dict.fromkeys(groups))
    pattern = np.array([[one * (group == name) for name in names] for one, group in zip(loadings, groups, strict=True)])
    modeled = pattern @ np.asarray(factors) @ pattern.T
    np.fill_diagonal(modeled, 1)
    return modeled


def factors_of(affective_motivational, affective_cognitive, motivational_cognitive):
    """Correlations of the factors in the order of the dimensions: affective, cognitive, motivational."""
    assert list(dict.fromkeys(GROUPS)) == ["affective", "cognitive", "motivational"]
    am, ac, mc = affective_motivational, affective_cognitive, motivational_cognitive
    return np.array([[1, ac, am], [ac, 1, mc], [am, mc, 1]])


def ratings(correlations, rows=400, people=40, seed=1, shift=0.0):
    """Normal ratings with these correlations; each person has a level of their own."""
    generator = np.random.default_rng(seed)
    values = generator.multivariate_normal(np.zeros(7), correlations, size=rows)
    person = np.arange(rows) % people
    values += shift * generator.normal(size=people)[person][:, None]
    index = pd.MultiIndex.from_arrays([[f"P{one}" for one in person], [f"C{one}" for one in person]])
    return pd.DataFrame(values, index=index, columns=list(DIMENSION_NAMES))


@pytest.mark.parametrize("factors", [(0.6, 0.7, 0.8), (0.9, 0.85, 1.0), (0.3, 0.2, 0.1)])
def test_the_parameters_of_an_exact_matrix_are_recovered(factors):
    fit = group_factors.fit_group_factors(model(LOADINGS, factors_of(*factors)), GROUPS)
    assert fit.groups == ("affective", "cognitive", "motivational")
    np.testing.assert_allclose(fit.loadings, LOADINGS, atol=1e-6)
    np.testing.assert_allclose(fit.correlations, factors_of(*factors), atol=1e-6)
    np.testing.assert_allclose(fit.uniquenesses, np.where(LOADINGS < 1, 1 - LOADINGS**2, 0), atol=1e-6)
    assert fit.discrepancy == pytest.approx(0, abs=1e-10)


def sample(seed, rows=150):
    generator = np.random.default_rng(seed)
    factors = factors_of(*generator.uniform(0.3, 0.8, size=3))
    loadings = np.where(LOADINGS < 1, generator.uniform(0.4, 0.9, size=7), 1)
    return np.corrcoef(generator.multivariate_normal(np.zeros(7), model(loadings, factors), size=rows).T)


def loss(point, correlations):
    """Discrepancy of a model whose parameters stand in the order of their definition, written out once more."""
    factors = factors_of(point[8], point[7], point[9])
    code = np.array([["affective", "cognitive", "motivational"].index(group) for group in GROUPS])
    modeled = np.outer(point[:7], point[:7]) * factors[np.ix_(code, code)]
    modeled[range(1, 7), range(1, 7)] += np.exp(point[10:])
    values = np.linalg.eigvalsh(modeled)
    if values[0] <= 1e-9:
        return 1e3
    return (
        np.log(values).sum() + np.trace(correlations @ np.linalg.inv(modeled)) - np.linalg.slogdet(correlations)[1] - 7
    )


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 10**6))
def test_no_general_minimizer_finds_a_better_fit(seed):
    correlations = sample(seed)
    fit = group_factors.fit_group_factors(correlations, GROUPS)
    between = [fit.correlations[0, 1], fit.correlations[0, 2], fit.correlations[1, 2]]
    here = np.concatenate([fit.loadings, between, np.log(fit.uniquenesses[1:])])
    assert loss(here, correlations) == pytest.approx(float(fit.discrepancy), abs=1e-9)
    start = np.concatenate([np.full(7, 0.7), np.full(3, 0.5), np.full(6, np.log(0.5))])
    bounds = [(None, None)] * 10 + [(np.log(0.005), None)] * 6
    found = minimize(loss, start, args=(correlations,), method="L-BFGS-B", bounds=bounds, options={"maxiter": 2000})
    assert fit.discrepancy <= found.fun + 1e-7


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 10**6))
def test_it_never_fits_worse_than_one_factor_and_many_are_fitted_as_one(seed):
    matrices = np.stack([sample(seed + place) for place in range(6)])
    together = group_factors.fit_group_factors(matrices.reshape(2, 3, 7, 7), GROUPS)
    assert (together.discrepancy.ravel() <= factor.fit_one_factor(matrices).discrepancy + 1e-10).all()
    for place, matrix in enumerate(matrices):
        alone = group_factors.fit_group_factors(matrix, GROUPS)
        np.testing.assert_allclose(together.loadings.reshape(6, 7)[place], alone.loadings, atol=1e-6)
        np.testing.assert_allclose(together.correlations.reshape(6, 3, 3)[place], alone.correlations, atol=1e-6)


def test_unsound_matrices_do_no_harm():
    matrices = np.stack([np.ones((7, 7)), np.full((7, 7), np.nan), sample(1)])
    assert np.isfinite(group_factors.fit_group_factors(matrices, GROUPS).discrepancy).tolist() == [False, False, True]


def test_a_uniqueness_that_tends_to_zero_stops_at_its_bound():
    correlations = model(LOADINGS, factors_of(0.3, 0.3, 0.3))
    cognitive = [1, 5, 6]
    correlations[np.ix_(cognitive, cognitive)] = [[1, 0.9, 0.8], [0.9, 1, 0.55], [0.8, 0.55, 1]]  # 0.9 * 0.8 > 0.55
    fit = group_factors.fit_group_factors(correlations, GROUPS)
    assert fit.uniquenesses[1] == pytest.approx(0.005)
    assert fit.discrepancy > 0


def test_indices_are_those_of_their_definitions():
    frame = ratings(model(LOADINGS, factors_of(0.6, 0.7, 0.8)))
    table = factors_by_group.fit_of_models(frame)["estimate"]
    covariances = np.cov(frame.to_numpy().T, ddof=0)
    scale = np.sqrt(np.diag(covariances))
    correlations = covariances / np.outer(scale, scale)
    n, fit = len(frame), group_factors.fit_group_factors(correlations, GROUPS)
    chi, none = n * float(fit.discrepancy), -n * np.linalg.slogdet(correlations)[1]
    own = table[table.index.str.startswith("a factor for each group")].rename(lambda name: name.split(": ")[1])
    assert own["chi-square"] == pytest.approx(chi)
    assert own["degrees of freedom"] == 12  # 21 correlations; 6 loadings and 3 correlations of factors
    assert own["CFI"] == pytest.approx(1 - max(chi - 12, 0) / (none - 21))
    assert own["RMSEA"] == pytest.approx(np.sqrt(max(chi - 12, 0) / (12 * n)))
    code = [["affective", "cognitive", "motivational"].index(group) for group in GROUPS]
    modeled = np.outer(fit.loadings, fit.loadings) * fit.correlations[np.ix_(code, code)]
    np.fill_diagonal(modeled, 1)
    residuals = (correlations - modeled)[np.tril_indices(7)]
    assert own["SRMR"] == pytest.approx(np.sqrt((residuals**2).mean()))
    density = multivariate_normal(frame.to_numpy().mean(axis=0), modeled * np.outer(scale, scale))
    likelihood = density.logpdf(frame.to_numpy()).sum()
    assert own["log-likelihood"] == pytest.approx(likelihood, abs=1e-4)
    assert own["AIC"] == pytest.approx(-2 * likelihood + 2 * 16, abs=1e-3)  # the means are left out
    assert own["BIC"] == pytest.approx(-2 * likelihood + 16 * np.log(n), abs=1e-3)


@pytest.mark.parametrize("which", ["turn", "post"])
def test_its_one_factor_has_the_fit_indices_of_the_module_of_one_factor(study, which):
    frame = measures.turn_ratings(study) if which == "turn" else measures.post_task_ratings(study)
    table = factors_by_group.fit_of_models(frame)
    for index, row in one_factor.fit_indices(frame).iterrows():
        assert table.loc[f"one factor: {index}", "estimate"] == pytest.approx(row["estimate"], abs=1e-8)
        assert table.loc[f"one factor: {index}", "n"] == row["n"]


def test_within_conversations_levels_of_conversations_do_not_count():
    correlations = model(LOADINGS, factors_of(0.6, 0.7, 0.8))
    frame, shifted = ratings(correlations), ratings(correlations, shift=3.0)
    for function in (
        factors_by_group.fit_of_models,
        lambda f, within: factors_by_group.comparison(f, draws_of(f), within=within),
    ):
        np.testing.assert_allclose(
            function(frame, within=True)["estimate"], function(shifted, within=True)["estimate"], atol=1e-5
        )
    assert set(factors_by_group.fit_of_models(frame, within=True)["n"]) == {400 - 40}
    sums = nested_covariances.nested_moments(frame)[0].sum(axis=0)
    covariances = nested_covariances.within_covariances(sums)
    scale = np.sqrt(np.diag(covariances))
    fit = factor.fit_one_factor(covariances / np.outer(scale, scale))
    found = factors_by_group.fit_of_models(frame, within=True).loc["one factor: chi-square", "estimate"]
    assert found == pytest.approx(360 * float(fit.discrepancy))


def test_the_comparison_is_that_of_the_two_fits():
    frame = ratings(model(LOADINGS, factors_of(0.6, 0.7, 0.8)))
    fits, table = factors_by_group.fit_of_models(frame)["estimate"], factors_by_group.comparison(frame, draws_of(frame))
    one, groups = (fits[f"{name}: chi-square"] for name in factors_by_group.MODELS)
    assert table.loc["likelihood ratio", "estimate"] == pytest.approx(one - groups)
    one, groups = (fits[f"{name}: BIC"] for name in factors_by_group.MODELS)
    assert table.loc["BIC of the groups minus that of one factor", "estimate"] == pytest.approx(groups - one)
    assert table.loc["p of one factor", "estimate"] < 0.001
    row = table.loc["correlation of cognitive and motivational"]
    assert row["low"] < 0.8 < row["high"] < 1
    assert row["method"].endswith("leaving out each participant in turn")


def test_errors_are_those_of_leaving_out_each_participant():
    frame = ratings(model(LOADINGS, factors_of(0.6, 0.7, 0.8)), rows=200, people=20)
    row = factors_by_group.comparison(frame, draws_of(frame)).loc["correlation of affective and motivational"]
    without = []
    for person in frame.index.get_level_values(0).unique():
        rest = frame[frame.index.get_level_values(0) != person]
        without.append(group_factors.fit_group_factors(np.corrcoef(rest.to_numpy().T), GROUPS).correlations[0, 2])
    error = np.sqrt(19 / 20 * ((without - np.mean(without)) ** 2).sum())
    assert (row["high"] - row["low"]) / 2 == pytest.approx(2.093024 * error, rel=1e-5)  # t on 19 degrees of freedom


def test_the_p_value_is_that_of_its_formula():
    """Departures: cognitive and motivational from 1, and from each other in what they share with affective."""
    frame = ratings(model(LOADINGS, factors_of(0.7, 0.8, 1.0)), rows=200, people=20)

    def departures(rest):
        factors = group_factors.fit_group_factors(np.corrcoef(rest.to_numpy().T), GROUPS).correlations
        return np.array([factors[1, 2] - 1, factors[0, 2] - factors[0, 1]])

    people = frame.index.get_level_values(0)
    without = np.array([departures(frame[people != person]) for person in people.unique()])
    spread, found = 19 / 20 * 19 * np.cov(without.T), departures(frame)
    expected = f_distribution.sf(found @ np.linalg.inv(spread) @ found * 18 / (2 * 19), 2, 18)
    assert 0.001 < expected < 0.999
    p = factors_by_group.comparison(frame, draws_of(frame)).loc["p of one factor", "estimate"]
    assert p == pytest.approx(expected, rel=1e-5)


def test_one_factor_is_rejected_about_as_often_as_its_level_where_it_is_right():
    """People with levels of their own, so that units are not independent."""
    one = model(LOADINGS, factors_of(0.8, 0.8, 1.0))
    p = []
    for seed in range(150):
        frame = ratings(one, rows=300, people=50, seed=seed, shift=0.4)
        p.append(factors_by_group.comparison(frame, draws_of(frame, 2)).loc["p of one factor", "estimate"])
    assert np.mean(np.array(p) < 0.05) == pytest.approx(0.05, abs=0.04)
    assert np.mean(p) == pytest.approx(0.5, abs=0.08)


# --- where there is none --------------------------------------------------------------------


def test_what_one_factor_is_is_no_other_model():
    """One group of several and one of one: the correlation of the factors is a loading of one factor."""
    frame = ratings(np.eye(7) * 0.4 + 0.6)[["Affective", "Response", "Prosocial", "Interest"]]
    table = factors_by_group.comparison(frame, draws_of(frame))
    assert table["estimate"].isna().all()
    assert table.loc["likelihood ratio", "reason"].startswith("the groups that were rated are no other model")
    missing = "no dimension of this group was rated, or varies: cognitive"
    assert table.loc["correlation of cognitive and motivational", "reason"] == missing
    fits = factors_by_group.fit_of_models(frame)
    assert fits.loc["one factor: CFI", "estimate"] > 0.9
    assert fits.loc["a factor for each group: CFI", "reason"].startswith("the groups that were rated are no other")


@pytest.mark.parametrize("columns", [c for size in (3, 4, 5, 6) for c in itertools.combinations(DIMENSION_NAMES, size)])
def test_any_dimensions_have_values_or_reasons(columns):
    frame = ratings(model(LOADINGS, factors_of(0.6, 0.7, 0.8)), rows=120, people=12)[list(columns)]
    for table in (factors_by_group.comparison(frame, draws_of(frame)), factors_by_group.fit_of_models(frame)):
        for _, row in table.iterrows():
            assert np.isfinite(row["estimate"]) or row["reason"]


@pytest.mark.parametrize("within", [False, True])
@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda f: f * np.nan, "none of these ratings was given and varies; this needs 4"),
        (lambda f: f.iloc[:8], "units that rate all of 7 items: 8; this needs 20"),
        (lambda f: f.assign(Affective=f["Cognitive"]), factors_by_group._UNDEFINED),
    ],
)
def test_where_no_model_can_be_fitted_the_rows_say_why(change, reason, within):
    frame = change(ratings(model(LOADINGS, factors_of(0.6, 0.7, 0.8))))
    for table in (
        factors_by_group.comparison(frame, draws_of(frame), within=within),
        factors_by_group.fit_of_models(frame, within=within),
    ):
        assert table["estimate"].isna().all()
        assert reason in set(table["reason"])
        assert (table["reason"] != "").all()


def test_one_turn_per_conversation_has_no_model_within():
    frame = ratings(np.eye(7) * 0.4 + 0.6, rows=40, people=40)
    table = factors_by_group.comparison(frame, draws_of(frame), within=True)
    assert "turns beyond the first of their conversation: 0; this needs 20" in set(table["reason"])


def test_one_participant_has_correlations_and_no_test():
    frame = ratings(model(LOADINGS, factors_of(0.6, 0.7, 0.8)), people=1)
    table = factors_by_group.comparison(frame, draws_of(frame))
    assert table.loc["p of one factor", "reason"] == "no test: only 1 participant"
    row = table.loc["correlation of cognitive and motivational"]
    assert row["estimate"] == pytest.approx(0.8, abs=0.15)
    assert row["reason"] == "no interval: only 1 participant to resample"


def test_a_small_study_says_what_it_lacks(minimal_sheets):
    study = parse_sheets(minimal_sheets())
    frame = measures.nested_turn_ratings(study)
    for within in (False, True):
        table = factors_by_group.comparison(frame, draws_of(frame), within=within)
        assert table["estimate"].isna().all()
        assert (table["reason"] != "").all()
