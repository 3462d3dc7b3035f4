"""The noise ceiling: against bivariate normal probabilities, against simulation, and where it can't be told."""

import itertools
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import integrate, stats
from scipy.special import ndtr

from helpers import naming
from helpers.studies import bootstrap_of
from sense7.estimators.estimates import estimate_row, estimate_table
from sense7.figures import Figure, ceiling_curves
from sense7.findings.ground_truth import ground_truth, labels
from sense7.judge.scores import ceiling as noise_ceiling
from sense7.judge.scores.judges import ABSENT
from sense7.study import Study
from sense7.tables import Sentence
from sense7.taxonomy import DIMENSION_NAMES
from sense7.workbook import parse_sheets, read_workbook

SEVEN = list(DIMENSION_NAMES)
QUADRATURE = 1e-5
"""As documented."""

SPREADS = {
    "skewed": (5, 10, 25, 40, 20),
    "the lowest level absent": (0, 2, 20, 50, 28),
    "a level in the middle absent": (10, 30, 0, 40, 20),
    "two levels": (0, 0, 70, 30, 0),
    "even": (20, 20, 20, 20, 20),
}
every_spread = pytest.mark.parametrize("counts", SPREADS.values(), ids=SPREADS)
counts_strategy = st.lists(st.integers(0, 50), min_size=5, max_size=5).filter(
    lambda n: sum(value > 0 for value in n) > 1
)


def study_of(turns=None, conversations=None, provenance=None):
    nothing = pd.DataFrame()
    return Study(
        "made up",
        conversations=nothing if conversations is None else conversations,
        messages=nothing,
        turns=nothing if turns is None else turns,
        participants=None,
        columns=nothing,
        provenance=provenance,
    )


# Thresholds


@given(counts_strategy)
def test_thresholds_reproduce_the_distribution_of_the_labels(counts):
    found = np.diff(ndtr([-np.inf, *noise_ceiling.level_thresholds(counts), np.inf]))
    np.testing.assert_allclose(found, np.array(counts) / sum(counts), atol=1e-12)


def test_thresholds_beyond_the_levels_that_occur_are_infinite():
    assert noise_ceiling.level_thresholds([0, 3, 0, 3, 0]).tolist() == [-np.inf, 0, 0, np.inf]
    assert np.isnan(noise_ceiling.level_thresholds([0] * 5)).all()


def test_the_thresholds_of_a_study_are_those_of_its_labels(study):
    truth = labels(ground_truth(study.turns, study.conversations["conversation"]).dropna())
    expected = stats.norm.ppf([(truth <= level).mean() for level in range(1, 5)])
    np.testing.assert_allclose(noise_ceiling.study_thresholds(study), expected, atol=1e-12)


# The curve


def covariance_above(a, b, rho):
    """Of 1[X > a] and 1[Y > b], X and Y standard normal with correlation rho."""
    if not (np.isfinite(a) and np.isfinite(b)):
        return 0.0
    both = stats.multivariate_normal(cov=[[1, rho], [rho, 1]]).cdf([-a, -b])
    return both - ndtr(-a) * ndtr(-b)


def by_normal_probabilities(counts, share):
    """Spearman's correlation with one side cut, from bivariate normal probabilities."""
    p = np.array(counts) / sum(counts)
    cuts, jumps = noise_ceiling.level_thresholds(counts), (p[:-1] + p[1:]) / 2
    spread = (1 - (p**3).sum()) / 12
    # The rank of c is P(X < c) with X independent: 1[c - X > 0], whose correlation with y is sqrt(s / 2).
    one = sum(
        jump * covariance_above(0, cut, np.sqrt(share / 2))
        for jump, cut in zip(jumps, cuts, strict=True)
    )
    return one / np.sqrt(spread / 12)


@every_spread
@pytest.mark.parametrize("share", [0.05, 0.29, 0.8])
def test_rank_correlation_is_that_of_bivariate_normal_probabilities(counts, share):
    found = noise_ceiling.ceiling_curve(noise_ceiling.level_thresholds(counts), [share]).iloc[0]
    # scipy's bivariate probabilities are good to 1e-5 or so.
    assert found["spearman"] == pytest.approx(by_normal_probabilities(counts, share), abs=5e-5)


def by_adaptive_integration(counts, share, statistic):
    cuts = noise_ceiling.level_thresholds(counts)

    def integrand(content):
        below = ndtr((cuts - np.sqrt(share) * content) / np.sqrt(1 - share))
        return statistic(np.diff([0, *below, 1])) * stats.norm.pdf(content)

    edges = np.linspace(-8.5, 8.5, 35)
    return sum(
        integrate.quad(integrand, *ends, epsabs=1e-9, limit=100)[0]
        for ends in itertools.pairwise(edges)
    )


@pytest.mark.parametrize("counts", [SPREADS["skewed"], SPREADS["a level in the middle absent"]])
@pytest.mark.parametrize("share", [0.29, 0.95])
def test_what_the_best_judge_gets_is_that_of_adaptive_integration(counts, share):
    found = noise_ceiling.ceiling_curve(noise_ceiling.level_thresholds(counts), [share])[
        "accuracy"
    ].iloc[0]
    assert found == pytest.approx(
        by_adaptive_integration(counts, share, lambda p: p.max()), abs=QUADRATURE
    )


@settings(max_examples=10, deadline=None)
@given(counts_strategy)
def test_ceilings_rise_with_the_content_from_chance_to_what_ties_leave(counts):
    p = np.array(counts) / sum(counts)
    curve = noise_ceiling.ceiling_curve(
        noise_ceiling.level_thresholds(counts), np.linspace(0, 1, 21)
    )
    assert (np.diff(curve, axis=0) > -2 * QUADRATURE).all()
    nothing, all_of_it = curve.iloc[0], curve.iloc[-1]
    assert nothing[["spearman_untied", "spearman"]].tolist() == [0, 0]
    assert nothing["accuracy"] == pytest.approx(p.max(), abs=1e-9)
    assert 1 - 1e-9 < all_of_it["accuracy"] <= 1
    assert all_of_it["spearman"] == pytest.approx(np.sqrt(1 - (p**3).sum()), abs=1e-9)
    assert (curve["spearman"] <= curve["spearman_untied"] + 1e-12).all()


def test_one_label_has_no_rank_correlation():
    curve = noise_ceiling.ceiling_curve(noise_ceiling.level_thresholds([0, 0, 9, 0, 0]))
    assert curve["spearman"].isna().all()
    np.testing.assert_allclose(curve["accuracy"], 1)


# How much content a result needs


@pytest.mark.parametrize("rho", [0.1, 0.369, 0.55, 0.9])
def test_the_content_share_needed_is_the_inverse_of_the_curve(rho):
    needed = noise_ceiling.content_share_needed(rho)
    assert needed == pytest.approx((2 * np.sin(np.pi * rho / 6)) ** 2, abs=1e-8)
    curve = noise_ceiling.ceiling_curve(noise_ceiling.level_thresholds(SPREADS["skewed"]), [needed])
    assert curve["spearman_untied"].iloc[0] == pytest.approx(rho, abs=1e-8)
    assert noise_ceiling.content_share_needed(-rho) == 0


def correlations(**judges):
    return pd.DataFrame.from_dict(
        judges, orient="index", columns=["estimate", "low", "high"], dtype=float
    )


def test_the_need_carries_the_correlations_interval_over_and_says_where_there_is_none(study):
    judges = correlations(a=(0.3, -0.1, 0.5), b=(0.3, np.nan, np.nan), c=(np.nan, np.nan, np.nan))
    table = noise_ceiling.shares_needed(judges, study)
    assert table["estimate"].tolist()[:2] == [noise_ceiling.content_share_needed(0.3)] * 2
    np.testing.assert_allclose(
        table.loc["a", ["low", "high"]].astype(float), [0, (2 * np.sin(np.pi / 12)) ** 2], atol=1e-8
    )
    assert table.drop("a")[["low", "high"]].isna().all(axis=None)
    with_interval, without_interval, without_result = table["method"]
    assert with_interval != without_interval == without_result
    assert with_interval
    assert table["reason"].tolist()[:2] == ["", ""]
    assert table.loc["c", "reason"]


# The published classifier


@pytest.mark.parametrize(
    ("kind", "verified", "own"),
    [
        ("official", True, True),
        ("official", False, False),
        ("synthetic", True, False),
        ("", False, False),
    ],
)
def test_published_results_are_said_to_be_from_other_data_unless_they_are_not(kind, verified, own):
    provenance = SimpleNamespace(kind=kind, verified=verified) if kind else None
    (name,) = noise_ceiling.judge_results(study_of(provenance=provenance), {}).index
    assert (name == "published classifier") == own
    assert name


# Available judges


def test_runs_of_a_judge_are_averaged_and_judges_kept_apart(study):
    study = replace(study, provenance=None)
    known = study.conversations[["conversation", "participant"]]
    known = known.assign(
        ground_truth=ground_truth(study.turns, known["conversation"]).to_numpy()
    ).dropna()
    generator = np.random.default_rng(5)
    runs = {run: known.assign(score=generator.integers(1, 6, size=len(known))) for run in "12"}
    judges = {
        "other": {"1": known.assign(score=labels(known["ground_truth"]).astype(float))},
        "some": runs,
    }
    found = noise_ceiling.judge_results(study, judges)["estimate"]
    assert found.index.tolist() == ["published classifier (on other data)", "other", "some"]
    ranked = known["ground_truth"].round(9)  # equal means are ties
    expected = [stats.spearmanr(run["score"], ranked).statistic for run in runs.values()]
    assert found["some"] == pytest.approx(np.mean(expected))


@pytest.mark.parametrize("numbers", [[0.3, 0.1, 0.5], [np.nan] * 3])
def test_the_words_per_turn_are_those_of_the_baselines(study, numbers):
    index = pd.MultiIndex.from_tuples([("spearman", "words per turn")])
    row = estimate_row(*numbers, n=9, unit="correlation", method="mean", reason="few")
    table = estimate_table({"x": row}, "which").set_axis(index)
    found = noise_ceiling.judge_results(study, {}, baselines=table).loc["baseline: words per turn"]
    np.testing.assert_array_equal(found[["estimate", "low", "high"]].astype(float), numbers)


def test_keys_hold_no_name_of_a_judge_and_without_one_its_need_says_why(study):
    own = dict.fromkeys(("a/b <c>", "x, by y", "baseline: words per turn"), (0.3, np.nan, np.nan))
    judges = pd.concat([noise_ceiling.judge_results(study, {}), correlations(**own)])
    assert noise_ceiling.shares_needed(judges, study)["key"].tolist() == [
        f"ceiling_needed_{who}_spearman_untied"
        for who in ("published", "judge_1", "judge_2", "words_per_turn")
    ]
    needed = noise_ceiling.shares_needed(noise_ceiling.judge_results(study, {}), study).iloc[-1]
    assert needed["key"] == "ceiling_needed_judge_1_spearman_untied"
    assert needed["reason"] == ABSENT


def test_what_is_recorded_of_the_curve_are_two_points():
    curve = noise_ceiling.ceiling_curve(noise_ceiling.level_thresholds(SPREADS["skewed"]))
    table = noise_ceiling.curve_estimates(curve, 100)
    assert table["estimate"].tolist() == [
        curve.loc[s, m] for m in ("spearman", "accuracy") for s in (0.3, 0.6)
    ]
    assert table["key"].tolist() == [
        f"ceiling_{m}_at_{p}" for m in ("spearman", "accuracy") for p in (30, 60)
    ]


@pytest.mark.parametrize("counts", [[0] * 5, [0, 0, 0, 7, 0]], ids=["no conversation", "one label"])
def test_without_two_labels_there_is_no_curve_to_show(counts):
    """That the only label is always right is no result."""
    curve = noise_ceiling.ceiling_curve(noise_ceiling.level_thresholds(counts))
    table = noise_ceiling.curve_estimates(curve, sum(counts))
    assert table["estimate"].isna().all()
    (reason,) = set(table["reason"])
    assert reason


# The upper bound


def made(sds, *, people=300, per_cell=3, turns=4, means=(2.6, 3.0, 3.4), seed=3, between=False):
    """A study of turn means with known standard deviations: participant, interaction, conversation, turn."""
    generator = np.random.default_rng(seed)
    kinds = len(means)
    cells = [
        (person, kind)
        for person in range(people)
        for kind in range(kinds)
        if not between or person % kinds == kind
    ]
    cell = np.repeat(np.arange(len(cells)), per_cell)
    who, kind = np.array(cells)[cell].T
    person, interaction = (
        sds[0] * generator.standard_normal(people),
        sds[1] * generator.standard_normal(len(cells)),
    )
    level = (
        np.array(means)[kind]
        + person[who]
        + interaction[cell]
        + sds[2] * generator.standard_normal(len(cell))
    )
    counts = generator.integers(1, 2 * turns, size=len(cell))
    of = np.repeat(np.arange(len(cell)), counts)
    names = pd.DataFrame(
        {
            "conversation": [f"C{number}" for number in range(len(cell))],
            "participant": [f"P{number:04d}" for number in who],
            "condition": [f"M{number}" for number in kind],
        }
    )
    frame = (
        names.iloc[of].reset_index(drop=True).assign(overall=np.nan, **dict.fromkeys(SEVEN, np.nan))
    )
    frame["Affective"] = level[of] + sds[3] * generator.standard_normal(len(of))
    study = study_of(turns=frame, conversations=names.assign(topic=None))
    return study, bootstrap_of(study)


SDS = (0.6, 0.3, 0.5, 0.8)


@pytest.mark.parametrize("between", [False, True])
def test_bounds_are_what_the_planted_variances_leave(between):
    """Where each participant met one condition, interactions are part of the participant's."""
    study, bootstrap = made(SDS, between=between)
    person, interaction, conversation, turn = np.square(SDS)
    turns = (1 / study.turns["conversation"].value_counts()).mean()
    whole = np.var([2.6, 3.0, 3.4]) + person + interaction + conversation + turn * turns
    found = noise_ceiling.content_shares(study, bootstrap, draws=5).bounds["estimate"].iloc[0]
    assert found == pytest.approx(
        1 - (person + between * interaction) / whole, abs=0.06 if between else 0.04
    )


@pytest.fixture(scope="module")
def reference(workbooks):
    return read_workbook(workbooks["reference"])


def copied_out(study, bootstrap, draw):
    """The study with every participant as often as a draw took them, each time as somebody else."""
    conversations, turns = [], []
    for person, times in zip(bootstrap.names, bootstrap.weights()[draw].astype(int), strict=True):
        for copy in range(times):
            for frame, kept in ((study.conversations, conversations), (study.turns, turns)):
                own = frame[frame["participant"] == person]
                kept.append(
                    own.assign(
                        **{name: own[name] + f"-{copy}" for name in ("participant", "conversation")}
                    )
                )
    return replace(
        study,
        conversations=pd.concat(conversations, ignore_index=True),
        turns=pd.concat(turns, ignore_index=True),
    )


def test_in_a_draw_bound_and_ceilings_are_those_of_the_participants_taken(reference):
    bootstrap = bootstrap_of(reference, draws=2)
    shares = noise_ceiling.content_shares(reference, bootstrap, draws=2)
    many = noise_ceiling.ceilings_at_bound(reference, bootstrap, shares)
    ceilings = []
    for draw in range(2):
        copy = copied_out(reference, bootstrap, draw)
        once = noise_ceiling.content_shares(copy, bootstrap_of(copy, 1), draws=1)
        assert shares.drawn[draw + 1] == pytest.approx(once.bounds["estimate"].iloc[0], abs=1e-4)
        ceilings.append(
            noise_ceiling.ceilings_at_bound(copy, bootstrap_of(copy, 1), once)["estimate"]
        )
    low, high = np.quantile(ceilings, [0.025, 0.975], axis=0)
    np.testing.assert_allclose(many["low"], low, atol=2e-4)
    np.testing.assert_allclose(many["high"], high, atol=2e-4)


def test_ceilings_at_the_bound_are_those_of_the_curve(reference):
    bootstrap = bootstrap_of(reference)
    shares = noise_ceiling.content_shares(reference, bootstrap, draws=20)
    table = noise_ceiling.ceilings_at_bound(reference, bootstrap, shares)
    curve = noise_ceiling.ceiling_curve(
        noise_ceiling.study_thresholds(reference), [shares.bounds["estimate"].iloc[0]]
    )
    np.testing.assert_allclose(
        table["estimate"], curve.iloc[0][["spearman", "accuracy"]], atol=1e-12
    )
    assert (table["low"] < table["estimate"]).all()
    assert (table["estimate"] < table["high"]).all()
    naming.check("\n".join(table["method"]), "95%", 20)
    assert table["key"].tolist() == ["ceiling_at_bound_spearman", "ceiling_at_bound_accuracy"]


def test_one_condition_has_no_part():
    study, bootstrap = made(SDS, means=(3.0,))
    shares = noise_ceiling.content_shares(study, bootstrap, draws=20)
    assert np.isfinite(shares.bounds["low"].iloc[0])


# Where it can't be told

NOTHING = dict.fromkeys(DIMENSION_NAMES)
EDGES = {
    "no ground truth": (
        {"messages": NOTHING},
        "no ground truth of a conversation in this data set",
    ),
    "one participant": ({"tasks": {"PID": "P1"}}, "there is one participant only"),
    "one conversation each": (
        {"tasks": {"PID": ["P1", "P2", "P3", "P4"]}},
        "no participant has two rated",
    ),
    "constant": (
        {"messages": {name: [None, "good"] * 8 for name in SEVEN}},
        "the ratings do not vary",
    ),
    "no condition": ({"tasks": {"Model": None}}, ""),
    "one turn each": ({"turns": 1, "conversations": 8, "participants": 3}, ""),
}


@pytest.mark.parametrize("case", EDGES)
def test_what_can_not_be_computed_says_why(minimal_sheets, case):
    changes, reason = EDGES[case]
    study = parse_sheets(minimal_sheets(**changes))
    bootstrap = bootstrap_of(study)
    shares = noise_ceiling.content_shares(study, bootstrap)
    assert shares.bounds["reason"].iloc[0].startswith(reason)
    at_bound, judges = (
        noise_ceiling.ceilings_at_bound(study, bootstrap, shares),
        noise_ceiling.judge_results(study, {}),
    )
    for table in (shares.bounds, at_bound):
        assert (table.loc[table["low"].isna(), "reason"] != "").all()
    for table in (shares.bounds, at_bound, noise_ceiling.shares_needed(judges, study)):
        assert (table.loc[table["estimate"].isna(), "reason"] != "").all()
        assert table.loc[table["estimate"].isna(), ["low", "high"]].isna().all(axis=None)
    curve = noise_ceiling.ceiling_curve(noise_ceiling.study_thresholds(study))
    shown = ceiling_curves(
        curve, judges["estimate"], name="ceiling", caption="n.", bound=shares.bounds.iloc[0]
    )
    assert isinstance(shown, Sentence if curve["spearman"].isna().any() else Figure)
    assert "nan" not in str(getattr(shown, "alt", shown)).casefold()


def test_without_a_bound_the_caption_says_why():
    curve = noise_ceiling.ceiling_curve(noise_ceiling.level_thresholds(SPREADS["even"]))
    bound = pd.Series(
        {
            "estimate": np.nan,
            "low": np.nan,
            "high": np.nan,
            "reason": "there is one participant only",
        }
    )
    figure = ceiling_curves(curve, {}, name="ceiling", caption="n = 5.", bound=bound)
    naming.check(figure.caption, "n = 5.", bound["reason"])
    assert figure.alt
