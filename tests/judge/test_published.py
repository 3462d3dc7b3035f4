"""Judges that others ran: known answers of the published data, and every number against a naive computation."""

from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from scipy.stats import spearmanr
from sklearn.metrics import cohen_kappa_score

import sense7 as s7
from sense7.errors import UserError
from sense7.judge import published
from sense7.judge.metrics import label_metrics
from sense7.judge.predictions import read_predictions, write_predictions
from sense7.judge.published import EXPERTS, JUDGES, MEASURES, METRIC_NAMES, RATERS, ConversationBootstrap, Panel
from sense7.sources import fetch, part_files
from sense7.statistics.estimates import COLUMNS
from sense7.workbook import read_sheets

DIMENSIONS = ("Affective", "Cognitive", "Interest")


def panel_of(generator, conversations=12):
    """Raters who agree more or less on what a conversation is worth."""
    worth = generator.integers(1, 6, conversations)
    return Panel.of(
        {
            rater: {
                f"C{number:02d}": {
                    dimension: int(np.clip(worth[number] + generator.integers(-1, 2), 1, 5)) for dimension in DIMENSIONS
                }
                for number in range(conversations)
            }
            for rater in RATERS
        }
    )


@pytest.fixture(scope="module")
def small():
    return panel_of(np.random.default_rng(5))


@pytest.fixture(scope="module")
def bootstrap(small):
    return small.resampling(draws=100, seed=1)


@pytest.fixture(scope="module")
def fetched(shared, tmp_path_factory):
    """The published data, fetched from a local copy."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SENSE7_CACHE", str(tmp_path_factory.mktemp("cache")))
        fetch("lend-an-ear", mirror=shared / "data" / "raw" / "lend_an_ear", progress=False)
        yield published.panel()


@pytest.fixture
def absent(tmp_path, monkeypatch):
    monkeypatch.setenv("SENSE7_CACHE", str(tmp_path / "cache"))
    return published.panel()


def everything(found, bootstrap):
    """Every table of estimates by name."""
    tables = {f"judge {judge}": table for judge, table in published.judge_metrics(found, bootstrap).items()}
    tables |= {f"mean {metric}": table for metric, table in published.against_the_mean(found, bootstrap).items()}
    tables |= {f"pairs {measure}": table for measure, table in published.pairwise_kappa(found, bootstrap).items()}
    tables |= {f"kappa {rater}": table for rater, table in published.mean_kappa(found, bootstrap).items()}
    return tables | {"targets": published.same_targets(found, bootstrap)}


# Known answers


@pytest.mark.parametrize(
    ("judge", "accuracy", "macro_f1", "within_one", "error", "rho"),
    [
        ("gpt", 0.5267, 0.3753, 0.9667, 0.5311, 0.6117),
        ("claude", 0.5733, 0.3149, 0.9867, 0.4756, 0.6286),
        ("gemini", 0.6533, 0.5260, 0.9800, 0.4422, 0.6731),
    ],
)
def test_the_metrics_that_others_computed(fetched, judge, accuracy, macro_f1, within_one, error, rho):
    """Computed independently of this project, by the official conventions."""
    table = published.judge_metrics(fetched, fetched.resampling(100, 1))[judge]
    assert set(table["n"]) == {150}
    assert table["estimate"].round(4).tolist()[:5] == [accuracy, macro_f1, within_one, error, rho]


@pytest.mark.parametrize(
    ("measure", "pair", "kappa"),
    [
        ("Affective", "expert1_expert2", 0.25),
        ("Affective", "expert2_expert3", 0.58),
        ("Affective", "expert1_expert3", 0.39),
        ("Cognitive", "expert1_expert2", 0.47),
        ("Cognitive", "expert2_expert3", 0.43),
        ("Cognitive", "expert1_expert3", 0.37),
        ("Interest", "expert1_expert2", 0.69),
        ("Interest", "expert2_expert3", 0.73),
        ("Interest", "expert1_expert3", 0.62),
    ],
)
def test_the_agreement_of_experts_that_their_authors_published(fetched, measure, pair, kappa):
    """From annotations/all_annotator_pairs_spearman_kappa.csv of their repository, which gives two decimals."""
    table = published.pairwise_kappa(fetched, fetched.resampling(100, 1))[measure]
    assert round(table.loc[pair, "estimate"], 2) == kappa
    assert table.loc[pair, "n"] == 50


def test_predictions_are_those_that_others_laid_out(fetched, shared):
    for judge, frame in published.published_predictions("lend-an-ear").items():
        sheet = read_sheets(shared / "data" / "lend_an_ear_judges" / f"{judge}-iter1.xlsx")["results"]
        theirs = pd.DataFrame(sheet.rows, columns=sheet.header)
        assert frame["conversation"].tolist() == theirs["TaskId"].tolist()
        assert frame["participant"].tolist() == theirs["PID"].tolist()
        assert frame["score"].round(4).tolist() == theirs["IS_EMPATHY"].tolist()
        np.testing.assert_allclose(frame["ground_truth"], theirs["ground-truth"], rtol=0, atol=1e-14)


def test_ground_truth_is_that_of_the_converted_workbook(fetched):
    study = s7.load("lend-an-ear")
    truth = s7.ground_truth(study.turns, study.conversations["conversation"])
    for frame in published.published_predictions().values():
        assert frame["conversation"].tolist() == study.conversations["conversation"].tolist()
        assert frame["ground_truth"].tolist() == truth.tolist()


def test_predictions_can_be_written_as_files(fetched, tmp_path):
    frame = published.published_predictions()["claude"]
    assert write_predictions(tmp_path / "claude-iter1.xlsx", frame) == []
    read = read_predictions(tmp_path / "claude-iter1.xlsx").frame
    columns = ["conversation", "participant", "score", "ground_truth", "status", "model"]
    pd.testing.assert_frame_equal(read[columns], frame[columns], check_dtype=False)


def test_the_panel_says_whose_data_it_holds(fetched):
    assert "Kumar" in fetched.notice
    assert "Licence of the data: MIT" in fetched.notice
    assert fetched.reason == ""
    assert len(fetched.conversations) == 50


# Against naive computations


def test_a_score_is_the_mean_of_the_ratings(small):
    for conversation in small.conversations:
        for rater in RATERS:
            levels = [small.ratings.loc[conversation, (rater, dimension)] for dimension in DIMENSIONS]
            assert small.scores.loc[conversation, rater] == np.mean(levels)


def test_a_judge_is_held_against_every_experts_score(small, bootstrap):
    for judge, table in published.judge_metrics(small, bootstrap).items():
        pairs = [
            (small.scores.loc[conversation, expert], small.scores.loc[conversation, judge])
            for conversation in small.conversations
            for expert in EXPERTS
        ]
        truth, score = np.array(pairs).T
        assert table.index.tolist() == list(METRIC_NAMES)
        assert table.loc["accuracy", "estimate"] == np.mean(np.round(truth) == np.round(score))
        assert table.loc["mean_absolute_error", "estimate"] == pytest.approx(np.abs(truth - score).mean(), abs=1e-12)
        assert table.loc["spearman", "estimate"] == pytest.approx(spearmanr(truth, score).statistic, abs=1e-12)
        counts = published.confusions(small)[judge]
        assert counts.to_numpy().sum() == len(truth)
        assert counts.loc[2, 3] == np.sum((np.round(truth) == 2) & (np.round(score) == 3))


def test_an_expert_is_held_against_the_other_two_and_a_judge_against_all_three(small, bootstrap):
    tables = published.against_the_mean(small, bootstrap)
    for rater in RATERS:
        others = [expert for expert in EXPERTS if expert != rater]
        assert len(others) == (2 if rater in EXPERTS else 3)
        expected = label_metrics(small.scores[others].mean(axis=1), small.scores[rater])
        for metric in METRIC_NAMES:
            assert tables[metric].loc[rater, "estimate"] == expected.loc[metric, "estimate"]
            assert tables[metric].loc[rater, "n"] == len(small.conversations)


def same_target_errors(scores, rater):
    errors = []
    for _, row in scores.iterrows():
        for left_out in EXPERTS:
            target = np.mean([row[expert] for expert in EXPERTS if expert != left_out])
            errors.append(abs((row[left_out] if rater == "experts" else row[rater]) - target))
    return np.mean(errors)


def test_experts_and_judges_have_the_same_targets(small, bootstrap):
    table = published.same_targets(small, bootstrap)
    experts = same_target_errors(small.scores, "experts")
    assert table.loc["experts", "estimate"] == pytest.approx(experts, abs=1e-12)
    for judge in JUDGES:
        error = same_target_errors(small.scores, judge)
        assert table.loc[judge, "estimate"] == pytest.approx(error, abs=1e-12)
        assert table.loc[f"{judge}_minus_experts", "estimate"] == pytest.approx(error - experts, abs=1e-12)


def levels_of(found, rater, measure):
    column = np.round(found.scores[rater]) if measure == "score" else found.ratings[(rater, measure)]
    return column.astype(int).to_numpy()


def naive_kappa(found, first, second, measure, rows=slice(None)):
    pair = (levels_of(found, rater, measure)[rows] for rater in (first, second))
    return cohen_kappa_score(*pair, weights="quadratic", labels=range(1, 6))


@pytest.mark.parametrize("measure", MEASURES)
def test_pairs_have_the_kappa_of_scikit_learn(small, bootstrap, measure):
    pairs = published.pairwise_kappa(small, bootstrap)[measure]["estimate"]
    expected = {
        f"{a}_{b}": naive_kappa(small, a, b, measure)
        for a, b in (*combinations(EXPERTS, 2), *((judge, expert) for judge in JUDGES for expert in EXPERTS))
    }
    assert pairs.to_dict() == pytest.approx(expected, abs=1e-12)
    means = {name: table.loc[measure, "estimate"] for name, table in published.mean_kappa(small, bootstrap).items()}
    experts = np.mean(pairs.iloc[:3])
    assert means["experts"] == pytest.approx(experts, abs=1e-12)
    for judge in JUDGES:
        mean = np.mean([pairs[f"{judge}_{expert}"] for expert in EXPERTS])
        assert means[judge] == pytest.approx(mean, abs=1e-12)
        assert means[f"{judge}_minus_experts"] == pytest.approx(mean - experts, abs=1e-12)


def test_intervals_resample_conversations_with_all_that_was_said_of_them(small, bootstrap):
    """Copying out the conversations of every draw gives the same limits."""
    rows = [np.repeat(np.arange(len(small.conversations)), weights.astype(int)) for weights in bootstrap.weights()]
    scores = [small.scores.iloc[chosen] for chosen in rows]

    def limits(values):
        return np.quantile(values, [0.025, 0.975])

    def found(table, row):
        return table.loc[row, ["low", "high"]].to_numpy(dtype=float)

    kappas = [
        np.mean([naive_kappa(small, "gpt", expert, "Interest", chosen) for expert in EXPERTS])
        - np.mean([naive_kappa(small, a, b, "Interest", chosen) for a, b in combinations(EXPERTS, 2)])
        for chosen in rows
    ]
    table = published.mean_kappa(small, bootstrap)["gpt_minus_experts"]
    np.testing.assert_allclose(found(table, "Interest"), limits(kappas), atol=1e-12)

    errors = [same_target_errors(drawn, "gemini") - same_target_errors(drawn, "experts") for drawn in scores]
    table = published.same_targets(small, bootstrap)
    np.testing.assert_allclose(found(table, "gemini_minus_experts"), limits(errors), atol=1e-12)

    rho = [
        spearmanr(drawn[list(EXPERTS)].to_numpy().ravel(), np.repeat(drawn["claude"].to_numpy(), 3)).statistic
        for drawn in scores
    ]
    table = published.judge_metrics(small, bootstrap)["claude"]
    np.testing.assert_allclose(found(table, "spearman"), limits(rho), atol=1e-12)


def test_equal_seeds_give_equal_numbers(small):
    first, second = (everything(small, small.resampling(200, 3)) for _ in range(2))
    for name, table in first.items():
        pd.testing.assert_frame_equal(table, second[name])


# Said as it is


def test_every_table_says_that_conversations_were_resampled(small, bootstrap):
    for name, table in everything(small, bootstrap).items():
        assert tuple(table.columns) == COLUMNS
        with_interval = table["low"].notna()
        assert with_interval.any(), name
        assert table.loc[with_interval, "method"].str.contains("100 resamplings of conversations").all()
        assert not table["method"].str.contains("participants").any()
        assert not table["reason"].str.contains("participant").any()


def test_shares_against_experts_are_of_experts_scores(small, bootstrap):
    table = published.judge_metrics(small, bootstrap)["gpt"]
    assert table.loc["accuracy", "unit"] == "share of experts' scores"


@pytest.mark.parametrize("conversations", [1, 3])
def test_few_conversations_have_no_interval_and_say_so(conversations):
    found = panel_of(np.random.default_rng(1), conversations)
    for table in everything(found, found.resampling(100, 1)).values():
        assert table["low"].isna().all()
        assert (table["reason"] != "").all()
        assert table["reason"].str.contains("conversation|level|same").all()
        assert not table["reason"].str.contains("participant").any()


def test_raters_without_any_difference(bootstrap):
    levels = {f"C{number:02d}": dict.fromkeys(DIMENSIONS, 3) for number in range(12)}
    found = Panel.of(dict.fromkeys(RATERS, levels))
    table = published.mean_kappa(found, bootstrap)["claude_minus_experts"]
    assert table["estimate"].isna().all()
    assert set(table["reason"]) == {"two raters give every conversation the same level"}
    assert published.same_targets(found, bootstrap).loc["experts", "estimate"] == 0


def test_a_rater_with_a_hole_is_refused():
    levels = {"C1": {"Affective": 1}, "C2": {"Affective": 2}}
    with pytest.raises(ValueError, match="every rater has to have rated every conversation"):
        Panel.of({"expert1": levels, "gpt": {"C1": {"Affective": 1}}})


def test_without_the_data_every_row_says_how_to_get_them(absent):
    assert "sense7 fetch lend-an-ear" in absent.notice
    for name, table in everything(absent, absent.resampling(100, 1)).items():
        assert table["estimate"].isna().all()
        assert (table["n"] == 0).all()
        assert set(table["reason"]) == {absent.reason}, name
        assert tuple(table.columns) == COLUMNS
    assert all(table.empty for table in published.confusions(absent).values())


def test_tables_have_the_same_rows_with_and_without_the_data(small, bootstrap, absent):
    without = everything(absent, absent.resampling(100, 1))
    for name, table in everything(small, bootstrap).items():
        assert table.index.tolist() == without[name].index.tolist()
        assert table.index.name == without[name].index.name


def test_published_predictions_are_asked_for_by_name(absent):
    with pytest.raises(UserError, match=r"lend-an-ear: not fetched yet\. Run: sense7 fetch lend-an-ear"):
        published.published_predictions("lend-an-ear")
    with pytest.raises(UserError, match="ieval: no judge's scores are published with it"):
        published.published_predictions("ieval")


def test_a_changed_part_is_refused(shared, tmp_path, monkeypatch):
    monkeypatch.setenv("SENSE7_CACHE", str(tmp_path / "cache"))
    fetch("lend-an-ear", mirror=shared / "data" / "raw" / "lend_an_ear", progress=False)
    part_files("lend-an-ear")["gpt_ratings.csv"].write_text("5", encoding="utf-8")
    with pytest.raises(UserError, match=r"gpt_ratings\.csv isn't in .* as it was published"):
        published.panel()


def test_conversations_are_called_so():
    few = pd.Series(["C1", "C2"])
    assert ConversationBootstrap.too_few(few) == "no interval: only 2 conversations to resample"
