"""Three real judges: all 252 published values, known answers, and every number against a naive computation."""

from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import spearmanr
from sklearn.metrics import cohen_kappa_score

from helpers.released import lend_an_ear_sheets
from sense7.errors import UserError
from sense7.estimators.estimates import COLUMNS
from sense7.findings.ground_truth import ground_truth
from sense7.judge import three_judges
from sense7.judge.files import read_predictions, write_predictions
from sense7.judge.metrics import label_metrics
from sense7.judge.three_judges import ALL, EXPERTS, JUDGES, CorpusBootstrap
from sense7.record import Recorder, read_values
from sense7.sources.released import CORPORA, published_agreement
from sense7.workbook import parse_sheets

DRAWS = 120


@pytest.fixture(scope="module")
def judged():
    return three_judges.ratings()


@pytest.fixture(scope="module")
def bootstrap(judged):
    return CorpusBootstrap(judged, draws=DRAWS, seed=1)


@pytest.fixture(scope="module")
def values():
    return three_judges.published_values()


@pytest.fixture(scope="module")
def table(judged):
    return three_judges.agreement_table(judged)


@pytest.fixture(scope="module")
def statistics(judged, bootstrap):
    """Every statistic by question."""
    return {
        "agreement": three_judges.agreement_with_experts(judged, bootstrap),
        "level": three_judges.level_against_experts(judged, bootstrap),
        "left out": three_judges.against_the_left_out_expert(judged, bootstrap),
        "error": three_judges.against_the_left_out_expert(judged, bootstrap, "error"),
    }


def group_of(judged, corpus, question):
    return judged[(judged["corpus"] == corpus) & (judged["question"] == question)]


# The published values


def test_every_published_value_is_reproduced(values):
    assert len(values) == 252
    assert values["measure"].value_counts().to_dict() == {"spearman": 126, "kappa": 126}
    assert values[~values["reproduced"]].empty
    assert ((100 * values["computed"]).round() == (100 * values["published"]).round()).all()


def test_a_published_value_stands_for_itself_once(values):
    keys = ["corpus", "question", "first", "second"]
    assert not values.duplicated([*keys, "measure"]).any()
    for measure, part in values.groupby("measure"):
        expected = published_agreement().set_index(keys)[measure].sort_index()
        found = part.set_index(keys)["published"].sort_index()
        pd.testing.assert_series_equal(found, expected, check_names=False)
    assert values["corpus"].unique().tolist() == list(CORPORA)


def test_computed_values_are_those_of_scipy_and_scikit_learn(judged, table):
    """By the authors' conventions, written out here by other means: the median by sorting, kappa by classes."""
    for row in table.itertuples():
        group = group_of(judged, row.corpus, row.question)
        experts = np.sort(group[list(EXPERTS)].to_numpy(), axis=1)
        series = {"experts": experts[:, 1], "llm": group["gemini"].to_numpy()}
        x, y = (series[name] if name in series else group[name].to_numpy() for name in (row.first, row.second))
        assert row.spearman == pytest.approx(spearmanr(x, y).statistic, abs=1e-12)
        classes = (np.rint(100 * one).astype(int) for one in (x, y))
        assert row.kappa == pytest.approx(cohen_kappa_score(*classes, weights="quadratic"), abs=1e-12)
        by_scale = 1 - np.mean((x - y) ** 2) / np.mean(np.subtract.outer(x, y) ** 2)
        assert row.kappa_scale == pytest.approx(by_scale, abs=1e-12)
        assert row.n == 50


def by_key(rows):
    return {row["key"]: row for row in rows}


def test_no_value_depends_on_how_a_half_is_rounded(table):
    for measure in three_judges.MEASURES:
        hundredths = 100 * table[measure]
        from_half = (hundredths - np.floor(hundredths) - 0.5).abs()
        assert from_half.min() > 1e-3
    largest = by_key(three_judges.largest_differences(table))["kumar_largest_difference"]["estimate"]
    assert float(largest) < 0.005
    apart = [(table[f"{measure}_published"] - table[measure]).abs().max() for measure in three_judges.MEASURES]
    assert largest == f"{max(apart):.5f}"


def test_a_value_that_is_not_the_same_counts_as_not_reproduced(monkeypatch):
    """One published value altered by a hundredth: without this, the count might be always full."""
    altered = published_agreement()
    altered.loc[3, "kappa"] += 0.01
    monkeypatch.setattr(three_judges, "published_agreement", lambda: altered)
    values = three_judges.published_values()
    assert (~values["reproduced"]).sum() == 1
    (missed,) = values[~values["reproduced"]].to_dict("records")
    assert (missed["corpus"], missed["measure"]) == (altered.loc[3, "corpus"], "kappa")
    counts = by_key(three_judges.reproduced(values))
    assert counts["kumar_values_reproduced"]["estimate"] == 251
    assert counts[f"kumar_kappa_{missed['corpus']}"]["estimate"] == counts[f"kumar_kappa_{missed['corpus']}"]["n"] - 1


def test_other_conventions_do_not_give_the_published_values(judged, values, monkeypatch):
    """The mean of the experts, or another model, would be noticed."""
    mean = judged.assign(experts=judged[list(EXPERTS)].mean(axis=1))
    model = judged.assign(llm=judged["gpt"])
    for other in (mean, model):
        monkeypatch.setattr(three_judges, "ratings", lambda other=other: other)
        assert three_judges.published_values()["reproduced"].sum() < len(values) - 10


COUNTS = {
    "kumar_spearman_empatheticdialogues": 18,
    "kumar_spearman_epitome": 18,
    "kumar_spearman_lend_an_ear": 36,
    "kumar_spearman_perceived_empathy": 54,
    "kumar_kappa_empatheticdialogues": 18,
    "kumar_kappa_epitome": 18,
    "kumar_kappa_lend_an_ear": 36,
    "kumar_kappa_perceived_empathy": 54,
    "kumar_values_reproduced": 252,
}


def test_counts_are_recorded_as_whole_numbers_of_published_values(values, tmp_path):
    record = Recorder("20-three-judges", tmp_path)
    for count in three_judges.reproduced(values):
        record.value(**count)
    found = read_values(tmp_path)
    assert {key: value["estimate"] for key, value in found.items()} == COUNTS
    assert {key: value["n"] for key, value in found.items()} == COUNTS
    assert all(isinstance(value["estimate"], int) for value in found.values())
    assert {value["unit"] for value in found.values()} == {"published values"}
    listed = {key: value["listed"] for key, value in found.items() if key != "kumar_values_reproduced"}
    assert {key: len(figures) for key, figures in listed.items()} == {key: COUNTS[key] for key in listed}
    figure = next(
        row for row in listed["kumar_kappa_empatheticdialogues"] if row["what"].startswith("empathy: experts")
    )
    assert figure["what"] == "empathy: experts (median) and crowd"
    assert (figure["published"], round(figure["computed"], 2), figure["same"]) == (0.15, 0.15, True)


def test_by_steps_of_the_scale_some_kappas_are_others(table):
    """Known answer, computed independently of the project: 93 of 126 stay."""
    found = by_key(three_judges.largest_differences(table))
    assert (found["kumar_kappa_steps_equal"]["estimate"], found["kumar_kappa_steps_equal"]["n"]) == (93, 126)


# The medians that the authors summarize


def test_the_medians_are_those_that_were_published(judged, bootstrap, table):
    """Published as .58 between two experts and .60 between experts and model."""
    found = three_judges.expert_and_model_kappas(judged, bootstrap)
    assert found["estimate"].round(2).to_dict() == {"kumar_expert_expert_kappa": 0.58, "kumar_expert_llm_kappa": 0.60}
    both = table["first"].isin(EXPERTS) & table["second"].isin(EXPERTS)
    model = (table["first"] == "experts") & (table["second"] == "llm")
    assert (both.sum(), model.sum()) == (63, 21)
    assert found["estimate"].tolist() == pytest.approx(
        [table.loc[both, "kappa"].median(), table.loc[model, "kappa"].median()]
    )
    assert (found["low"] < found["estimate"]).all()
    assert (found["estimate"] < found["high"]).all()
    assert found["n"].tolist() == [200, 200]


# Resampling


def copied_out(judged, bootstrap, draw):
    """The rows of one resample, each as often as it was taken."""
    parts = []
    for corpus, rows in judged.groupby("corpus", sort=False):
        resampling = bootstrap.corpora[corpus]
        times = resampling.weights()[draw].astype(int)[resampling.codes(rows["conversation"])]
        parts.append(rows.loc[rows.index.repeat(times)])
    return pd.concat(parts)


def test_every_resample_has_as_many_conversations_of_each_corpus(judged, bootstrap):
    assert list(bootstrap.corpora) == judged["corpus"].unique().tolist()
    for corpus, resampling in bootstrap.corpora.items():
        assert set(resampling.names) == set(judged.loc[judged["corpus"] == corpus, "conversation"])
        assert (resampling.weights().sum(axis=1) == 50).all()


def test_corpora_are_resampled_independently_of_each_other_and_by_the_seed(judged, bootstrap):
    weights = [resampling.weights() for resampling in bootstrap.corpora.values()]
    for first, second in combinations(weights, 2):
        assert not np.array_equal(first, second)
    again, other = (CorpusBootstrap(judged, DRAWS, seed).corpora["epitome"].weights() for seed in (1, 2))
    assert np.array_equal(again, bootstrap.corpora["epitome"].weights())
    assert not any(np.array_equal(other, one) for one in weights)


def naive(judged, statistic, rater, corpus, question):
    """The statistics as they are defined, without any weights."""
    group = group_of(judged, corpus, question)
    width = (group["highest"] - group["lowest"]).iloc[0]
    if statistic == "agreement":
        return spearmanr(group[rater], np.median(group[list(EXPERTS)], axis=1)).statistic
    if statistic == "level":
        return np.mean((group[rater] - np.mean(group[list(EXPERTS)], axis=1)) / width)
    found = []
    for left_out in EXPERTS:
        a, b = (expert for expert in EXPERTS if expert != left_out)
        target = (group[a] + group[b]) / 2
        own = group[left_out] if rater == "expert" else group[rater]
        error = np.mean(np.abs(own - target)) / width
        found.append(error if statistic == "error" else spearmanr(own, target).statistic)
    return np.mean(found)


def test_statistics_are_those_of_their_definitions(judged, statistics):
    for name, statistic in statistics.items():
        raters = (["expert"] if name in {"left out", "error"} else []) + [*JUDGES, "crowd"]
        assert list(statistic.estimates) == raters
        assert len(statistic.estimates) == 21
        for (corpus, question), row in statistic.estimates.iterrows():
            for rater in raters:
                assert row[rater] == pytest.approx(naive(judged, name, rater, corpus, question), abs=1e-12)


def test_intervals_are_those_of_resampled_conversations_with_all_their_ratings(judged, bootstrap, statistics):
    """Copying out the conversations of every resample gives the same limits: of one corpus, and of a difference."""
    asked = [question.removeprefix("epitome_") for question in three_judges.questions(judged)["EPITOME"]]
    drawn = {"agreement": [], "level": [], "left out": [], "error": []}
    for draw in range(DRAWS):
        rows = copied_out(judged[judged["corpus"] == "epitome"], bootstrap, draw)
        for name, found in drawn.items():
            raters = ("gemini", "expert") if name in {"left out", "error"} else ("gemini", "claude")
            found.append([[naive(rows, name, rater, "epitome", question) for question in asked] for rater in raters])
    for name, found in drawn.items():
        means = np.mean(found, axis=2)
        row = statistics[name].by_corpus()["gemini"].loc["epitome"]
        np.testing.assert_allclose(
            row[["low", "high"]].astype(float), np.quantile(means[:, 0], [0.025, 0.975]), atol=1e-12
        )
        other = "expert" if name in {"left out", "error"} else "claude"
        difference = statistics[name].minus([("gemini", other)]).by_corpus()[f"gemini_minus_{other}"].loc["epitome"]
        limits = np.quantile(means[:, 0] - means[:, 1], [0.025, 0.975])
        np.testing.assert_allclose(difference[["low", "high"]].astype(float), limits, atol=1e-12)


def test_means_over_questions_count_every_question_once(statistics):
    for statistic in statistics.values():
        means = statistic.by_corpus()
        for rater, table in means.items():
            assert table.index.tolist() == [*statistic.estimates.index.unique("corpus"), ALL]
            assert table.loc[ALL, "estimate"] == pytest.approx(statistic.estimates[rater].mean(), abs=1e-12)
            assert table.loc["lend_an_ear", "estimate"] == pytest.approx(
                statistic.estimates.loc["lend_an_ear", rater].mean(), abs=1e-12
            )
            assert table["n"].tolist() == [50, 50, 50, 50, 200]


def test_differences_are_paired(statistics):
    agreement = statistics["agreement"]
    between = agreement.minus(three_judges.DIFFERENCES)
    assert list(between.estimates) == ["gpt_minus_claude", "gpt_minus_gemini", "claude_minus_gemini"]
    means = agreement.by_corpus()
    for pair, table in between.by_corpus().items():
        first, second = pair.split("_minus_")
        expected = means[first]["estimate"] - means[second]["estimate"]
        np.testing.assert_allclose(table["estimate"], expected, atol=1e-12)
        # The same conversations for both: narrower than if other conversations had been drawn for the second.
        width = (table["high"] - table["low"])[ALL]
        squares = sum((means[rater]["high"] - means[rater]["low"])[ALL] ** 2 for rater in (first, second))
        assert width < np.sqrt(squares)


def test_equal_seeds_give_equal_numbers_and_other_seeds_others(judged):
    def limits(seed):
        return three_judges.level_against_experts(judged, CorpusBootstrap(judged, DRAWS, seed)).by_corpus()["gpt"]

    pd.testing.assert_frame_equal(limits(3), limits(3))
    assert not limits(3)["low"].equals(limits(4)["low"])


def test_every_table_says_that_conversations_were_resampled_within_each_corpus(judged, bootstrap, statistics):
    tables = [three_judges.expert_and_model_kappas(judged, bootstrap)]
    for statistic in statistics.values():
        tables += [*statistic.by_question().values(), *statistic.by_corpus().values()]
    for table in tables:
        assert set(table.columns) - {"key"} == set(COLUMNS)
        known = table["low"].notna()
        assert known.any()
        assert table.loc[known, "method"].str.contains("120 resamplings of conversations within each corpus").all()
        assert not table["method"].str.contains("participants").any()
        assert (table.loc[~known, "reason"] != "").all()


@pytest.mark.parametrize("argument", [{"draws": 0}, {"seed": -1}, {"seed": "one"}, {"confidence": 1}])
def test_odd_resampling_is_refused(judged, argument):
    with pytest.raises(UserError, match=next(iter(argument))):
        CorpusBootstrap(judged, **argument)


def test_an_unknown_measure_is_refused(judged, bootstrap):
    with pytest.raises(UserError, match="'spearman' or 'error' as measure; got 'bias'"):
        three_judges.against_the_left_out_expert(judged, bootstrap, "bias")


# Small examples by hand


def small(*conversations):
    """A corpus with one question on a scale of 1 to 5: three experts, then gpt, for each conversation."""
    rows = [
        {
            "corpus": "epitome",
            "conversation": f"c{number}",
            "question": "explorations",
            "lowest": 1,
            "highest": 5,
            **dict(zip(EXPERTS, ratings, strict=False)),
            **dict.fromkeys((*JUDGES, "crowd"), float(ratings[3])),
        }
        for number, ratings in enumerate(conversations)
    ]
    frame = pd.DataFrame(rows)
    return frame.assign(experts=frame[list(EXPERTS)].median(axis=1), llm=frame["gemini"])


def test_level_and_error_by_hand():
    judged = small((1, 2, 3, 4), (3, 3, 3, 1), (5, 5, 2, 4), (2, 2, 5, 3), (4, 4, 4, 4))
    bootstrap = CorpusBootstrap(judged, draws=100, seed=1)
    level = three_judges.level_against_experts(judged, bootstrap).estimates["gpt"].item()
    assert level == pytest.approx((2 - 2 + 0 + 0 + 0) / 5 / 4)
    error = three_judges.against_the_left_out_expert(judged, bootstrap, "error").estimates
    # Targets without expert 1, 2 and 3: (2.5, 2, 1.5), (3, 3, 3), (3.5, 3.5, 5), (3.5, 3.5, 2), (4, 4, 4).
    experts = (1.5 + 0 + 1.5) + 0 + (1.5 + 1.5 + 3) + (1.5 + 1.5 + 3) + 0
    judge = (1.5 + 2 + 2.5) + 6 + (0.5 + 0.5 + 1) + (0.5 + 0.5 + 1) + 0
    assert error["expert"].item() == pytest.approx(experts / 15 / 4)
    assert error["gpt"].item() == pytest.approx(judge / 15 / 4)


def test_few_conversations_have_no_interval_and_say_so():
    judged = small((1, 2, 3, 4), (3, 4, 3, 1), (5, 5, 2, 4))
    found = three_judges.agreement_with_experts(judged, CorpusBootstrap(judged, draws=100, seed=1)).by_corpus()["gpt"]
    assert found["low"].isna().all()
    assert set(found["reason"]) == {"no interval: only 3 conversations to resample"}
    shown = three_judges.beside_each_other({"gpt": found})
    assert "[" not in shown.loc["EPITOME", "GPT-4o"]


def test_a_rater_without_any_difference_has_no_correlation():
    judged = small(*((level, level, level, 3) for level in (1, 2, 3, 4, 5, 1)))
    found = three_judges.agreement_with_experts(judged, CorpusBootstrap(judged, draws=100, seed=1)).by_corpus()["gpt"]
    assert found["estimate"].isna().all()
    assert set(found["reason"]) == {"one of two raters gives every conversation the same rating"}
    assert three_judges.beside_each_other({"gpt": found}).loc["EPITOME", "GPT-4o"] == "-"


scales = st.tuples(st.integers(-3, 3), st.integers(1, 5))


@settings(max_examples=25, deadline=None)
@given(scales, st.lists(st.tuples(*[st.integers(1, 5)] * 4), min_size=5, max_size=9))
def test_another_scale_changes_nothing(scale, conversations):
    """A scale that is moved and stretched gives the same correlations, levels and errors."""
    start, width = scale
    judged = small(*conversations)
    rated = ["lowest", "highest", *EXPERTS, *JUDGES, "crowd", "experts", "llm"]
    other = judged.assign(**{column: start + width * judged[column] for column in rated})
    first, second = (CorpusBootstrap(frame, draws=1, seed=1) for frame in (judged, other))
    for statistic in (
        three_judges.agreement_with_experts,
        three_judges.level_against_experts,
        three_judges.against_the_left_out_expert,
        lambda frame, bootstrap: three_judges.against_the_left_out_expert(frame, bootstrap, "error"),
    ):
        pd.testing.assert_frame_equal(statistic(judged, first).estimates, statistic(other, second).estimates)


# Verdicts


@pytest.mark.parametrize(
    ("low", "high", "words"),
    [
        (-0.2, -0.01, "lower than the expert"),
        (-0.2, 0.1, "not distinguished from the expert"),
        (0.01, 0.2, "higher than the expert"),
        (-0.1, 0.0, "not distinguished from the expert"),
        (np.nan, np.nan, "no verdict without an interval"),
    ],
)
def test_a_verdict_follows_the_interval(low, high, words):
    row = {"estimate": 0.0, "low": low, "high": high, "n": 200, "method": "difference; interval"}
    found = three_judges.standings({f"{judge}_minus_expert": pd.DataFrame(row, index=[ALL]) for judge in JUDGES})
    assert [row["key"] for row in found] == [f"three_judges_standing_{judge}" for judge in JUDGES]
    assert {row["estimate"] for row in found} == {words}


# Lend an Ear by the official evaluation


@pytest.mark.parametrize(("judge", "accuracy"), [("gpt", 0.5267), ("claude", 0.5733), ("gemini", 0.6533)])
def test_the_accuracy_that_others_computed(judged, bootstrap, judge, accuracy):
    """Computed independently of this project, by the official conventions: see data/README.md."""
    row = three_judges.label_evaluation(judged, bootstrap)[judge].loc["accuracy"]
    assert (row["n"], row["estimate"].round(4), row["unit"]) == (150, accuracy, "share of experts' scores")
    assert "resamplings of conversations" in row["method"]


def test_predictions_have_the_metrics_that_others_computed(judged):
    """Macro F1, within one level, mean absolute error and Spearman's rho: see data/README.md."""
    known = {
        "gpt": (0.3753, 0.9667, 0.5311, 0.6117),
        "claude": (0.3149, 0.9867, 0.4756, 0.6286),
        "gemini": (0.5260, 0.9800, 0.4422, 0.6731),
    }
    names = ["macro_f1", "within_one", "mean_absolute_error", "spearman"]
    for judge, frame in three_judges.published_predictions(judged).items():
        metrics = label_metrics(frame["ground_truth"], frame["score"])
        assert tuple(metrics.loc[names, "estimate"].round(4)) == known[judge]


def test_predictions_belong_to_the_tasks_of_the_workbook(judged):
    study = parse_sheets({sheet.name: sheet for sheet in lend_an_ear_sheets()}, path="x", name="x")
    truth = ground_truth(study.turns, study.conversations["conversation"])
    for judge, frame in three_judges.published_predictions(judged).items():
        assert frame["conversation"].tolist() == study.conversations["conversation"].tolist()
        assert frame["participant"].tolist() == study.conversations["participant"].tolist()
        np.testing.assert_allclose(frame["ground_truth"], truth, rtol=0, atol=1e-12)
        assert frame.groupby(frame["conversation"].str.rpartition("-")[0])["score"].nunique().eq(1).all()
        assert set(frame["model"]) == {JUDGES[judge]}


def test_predictions_can_be_written_as_files(judged, tmp_path):
    frame = three_judges.published_predictions(judged)["claude"]
    assert write_predictions(tmp_path / "claude-iter1.xlsx", frame) == []
    read = read_predictions(tmp_path / "claude-iter1.xlsx").frame
    columns = ["conversation", "participant", "score", "ground_truth", "status", "model"]
    pd.testing.assert_frame_equal(read[columns], frame[columns], check_dtype=False)


# For readers


def test_credit_and_license_come_with_the_ratings():
    assert "Kumar" in three_judges.ACKNOWLEDGEMENT
    assert "MIT" in three_judges.ACKNOWLEDGEMENT


def test_every_row_has_a_name_for_readers(judged, statistics):
    for statistic in statistics.values():
        for table in (*statistic.by_question().values(), *statistic.by_corpus().values()):
            names = three_judges.with_row_labels(table).index
            assert not names.has_duplicates
            assert not any("_" in name for name in names)
    panels = three_judges.questions(judged)
    assert list(panels) == list(CORPORA.values())
    rows = [row for panel in panels.values() for row in panel]
    assert sorted(rows) == sorted(statistics["level"].by_question()["gpt"].index)
