"""Poor turns, and what breaks empathy: against all orders of turns and models fitted one by one."""

import itertools
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
import statsmodels.formula.api as smf
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

import sense7 as s7
from helpers import golden, naming
from helpers.studies import bootstrap_of, parse_sheets
from sense7.findings import disrupted, ground_truth, measures, poor_turn, reliability, robustness
from sense7.findings.ground_truth import labels
from sense7.findings.repeated_ratings import why_no_judgment_of_the_whole
from sense7.statistics.estimates import estimate_row, estimate_table
from sense7.study import Study
from sense7.taxonomy import DIMENSION_NAMES
from sense7.workbook.xlsx import Sheet


def test_the_grid_counts_by_definition():
    synthetic = s7.load("synthetic")
    measures = poor_turn.poor_turn_measures(synthetic, bootstrap_of(synthetic))
    frame = poor_turn.poor_turn_conversations(synthetic)
    grid = poor_turn.poor_turn_grid(synthetic, measures, measures["d"]["high"].iloc[0] - 1e-6)
    one = grid.loc["exactly one poor turn, between conversations", ["with", "without"]]
    assert one.tolist() == [(frame["poor"] == 1).sum(), (frame["poor"] == 0).sum()]
    kinds = (frame["poor"] > 0).groupby(frame["participant"]).agg(["sum", "count"])
    both = kinds[(kinds["sum"] > 0) & (kinds["sum"] < kinds["count"])]
    within = grid.loc["at least one poor turn, within participants"]
    assert within[["with", "without"]].tolist() == [
        both["sum"].sum(),
        (both["count"] - both["sum"]).sum(),
    ]
    assert grid["holds it"].iloc[0] == "yes"
    assert set(poor_turn.poor_turn_grid(synthetic, measures, 9.0)["holds it"]) == {"no"}


@pytest.mark.parametrize(
    ("published", "held", "answer"), [(0.9, 2, "yes"), (1.15, 1, "yes"), (0.3, 0, "no")]
)
def test_the_definitions_whose_interval_holds_the_published_value_are_counted(
    published, held, answer
):
    rows = {
        name: estimate_row(estimate, low, high, n=9, unit="Cohen's d", method="m")
        for name, estimate, low, high in (
            ("a", 1.0, 0.8, 1.2),
            ("b", 0.7, 0.5, 0.95),
            ("c", 2.0, np.nan, np.nan),
        )
    }
    verdict = poor_turn.published_in_grid(estimate_table(rows, "definition"), published)
    assert verdict["counts"]["estimate"].tolist() == [held, 0.7, 2.0]
    assert verdict["counts"]["n"].tolist() == [2, 3, 3]
    assert verdict["held"]["estimate"] == answer


@pytest.mark.parametrize("ending", ["", "_not_poor"])
def test_d_of_the_overall_ratings_is_that_of_scipys_t_test(ending):
    study = s7.load("synthetic")
    table = poor_turn.poor_turn_effects(study, bootstrap_of(study))
    turns = study.turns.dropna(subset="overall")
    has_poor = (turns["overall"] <= 2).groupby(turns["conversation"]).any()
    outcome_turns = turns if not ending else turns[turns["overall"] > 2]
    outcome = outcome_turns.groupby("conversation")["overall"].mean()
    has_poor = has_poor[outcome.index]
    t = stats.ttest_ind(outcome[~has_poor], outcome[has_poor]).statistic
    d = t * np.sqrt(1 / (~has_poor).sum() + 1 / has_poor.sum())
    row = table.set_index("key").loc[f"poor_turn_d_overall{ending}"]
    assert row["estimate"] == pytest.approx(d, abs=1e-9)
    assert row["n"] == len(outcome)


def test_a_single_rated_turn_is_not_compared_with_itself(minimal_sheets):
    overall = [None, "poor", None, None] * 2 + [None, "good", None, None] * 2
    study = parse_sheets(minimal_sheets(messages={"EmpathyOverall": overall}))
    effects = poor_turn.poor_turn_effects(study, bootstrap_of(study)).set_index("key")
    assert np.isnan(effects.loc["poor_turn_d_overall", "estimate"])
    naming.check(effects.loc["poor_turn_d_overall", "reason"], "two turns")


# From turns to the whole


WORDS = ["very poor", "poor", "neutral", "good", "very good"]


def rated_once(where):
    """Sixty conversations whose ratings after them are those of some of their turns; ``where`` says of which."""
    generator = np.random.default_rng(4)
    rated = ["EmpathyOverall", *DIMENSION_NAMES]
    tasks = [["PID", "Model", "TaskId", *(f"PostTaskEmpathy_{name}" for name in DIMENSION_NAMES)]]
    messages = [["TaskId", "MessageId", "Role", *rated]]
    for number in range(60):
        levels = generator.integers(1, 6, (3, 8))
        if where == "every turn":
            levels[:] = levels[0]
        after = {
            "only turn": levels[2, 1:],
            "every turn": levels[0, 1:],
            "first turn": levels[0, 1:],
            "last turn": levels[2, 1:],
            "lowest": levels[:, 1:].min(axis=0),
            "another rating": generator.integers(1, 6, 7),
        }[where]
        tasks.append([f"P{number // 3}", "a", f"T{number}", *map(float, after)])
        for turn in range(3):
            words = [WORDS[level - 1] for level in levels[turn]]
            if where == "only turn" and turn < 2:
                words = [None] * 8
            messages.append([f"T{number}", 2.0 * turn + 1, "user", *[None] * 8])
            messages.append([f"T{number}", 2.0 * turn + 2, "assistant", *words])
    sheets = {"Tasks": Sheet("Tasks", tasks[0], tasks[1:])}
    sheets["Messages"] = Sheet("Messages", messages[0], messages[1:])
    return parse_sheets(sheets)


OTHERS = ["only turn", "every turn", "first turn", "lowest"]
SAME = ["last turn", *OTHERS]


@pytest.mark.parametrize("where", SAME)
def test_ratings_that_repeat_those_of_turns_are_told(where):
    assert why_no_judgment_of_the_whole(rated_once(where))


@pytest.mark.parametrize(
    "where", ["last turn", *(pytest.param(where, marks=pytest.mark.long) for where in OTHERS)]
)
def test_what_asks_for_a_judgment_of_the_whole_has_no_number_where_there_is_none(where):
    study = rated_once(where)
    bootstrap = bootstrap_of(study)
    effects = poor_turn.poor_turn_effects(study, bootstrap).iloc[:6]
    turns, after = measures.turn_ratings(study), measures.post_task_ratings(study)
    repeated = why_no_judgment_of_the_whole(study)
    alphas = reliability.alpha_table(turns, after, bootstrap, repeated=repeated)
    refused = [
        *effects["reason"],
        *poor_turn.poor_turn_ladder(study, bootstrap)["reason"],
        *poor_turn.cross_validated_r2(study, bootstrap)["reason"],
        *robustness.multiverse(study, bootstrap, "poor_turn_d")["reason"],
        alphas.loc["after the conversation", "reason"],
        ground_truth.changed_labels(study, bootstrap)["reason"].iloc[-1],
    ]
    assert set(refused) == {repeated}
    assert effects["estimate"].isna().all()
    assert np.isfinite(alphas.loc["per turn, pairwise", "estimate"])


def test_another_judgment_of_the_whole_is_compared():
    study = rated_once("another rating")
    effects = poor_turn.poor_turn_effects(study, bootstrap_of(study))
    assert np.isfinite(effects["estimate"].iloc[0])
    assert why_no_judgment_of_the_whole(study) == ""


def test_a_few_differences_do_not_make_another_judgment():
    study = rated_once("last turn")
    study.conversations.loc[7, "post_Affective"] = 6 - study.conversations.loc[7, "post_Affective"]
    reason = poor_turn.poor_turn_effects(study, bootstrap_of(study))["reason"].iloc[0]
    assert reason == why_no_judgment_of_the_whole(study) != ""


def test_the_end_is_the_last_rated_turn(minimal_sheets):
    overall = [None, "poor", None, "good", None, "very good", None, None]
    study = parse_sheets(minimal_sheets(messages={"EmpathyOverall": overall * 4}, turns=4))
    first = poor_turn.turn_summaries(study).iloc[0]
    assert first[[*poor_turn.PREDICTORS, "rated"]].tolist() == pytest.approx([11 / 3, 2, 5, 5, 3])


def test_cross_validation_equals_models_fitted_one_by_one():
    study = golden.study()
    bootstrap, frame = bootstrap_of(study), poor_turn.turn_summaries(study)
    people = sorted(frame["participant"].unique())
    fold = np.random.default_rng(bootstrap.seed).permutation(
        np.arange(len(people)) % poor_turn.FOLDS
    )
    row_fold = frame["participant"].map(dict(zip(people, fold, strict=True)))

    def predicted(*chosen):
        errors = null = 0.0
        for number in range(poor_turn.FOLDS):
            train, test = frame[row_fold != number], frame[row_fold == number]
            fit = sm.OLS(train["outcome"], sm.add_constant(train[list(chosen)])).fit()
            errors += (
                (test["outcome"] - fit.predict(sm.add_constant(test[list(chosen)]))) ** 2
            ).sum()
            null += ((test["outcome"] - train["outcome"].mean()) ** 2).sum()
        return 1 - errors / null

    mean = predicted("mean")
    expected = [mean, predicted("peak", "end"), predicted(*poor_turn.PREDICTORS) - mean]
    np.testing.assert_allclose(
        poor_turn.cross_validated_r2(study, bootstrap)["estimate"], expected, atol=1e-9
    )


def study_of(conversations, people=None):
    """Conversations as lists of levels, None for a turn without one."""
    rows = [
        (f"C{number}", people[number] if people else f"P{number}", turn, level)
        for number, levels in enumerate(conversations)
        for turn, level in enumerate(levels, 1)
    ]
    turns = pd.DataFrame(rows, columns=["conversation", "participant", "turn", "overall"])
    turns = turns.astype({"overall": float}).assign(**dict.fromkeys(DIMENSION_NAMES, np.nan))
    names = turns[["conversation", "participant"]].drop_duplicates()
    return Study("made up", names, pd.DataFrame(), turns, None, pd.DataFrame())


def around(levels):
    """(event time, level) of each rated turn; nothing without a poor turn."""
    poor = [turn for turn, level in enumerate(levels) if level is not None and level <= 2]
    return (
        [(turn - poor[0], level) for turn, level in enumerate(levels) if level is not None]
        if poor
        else []
    )


def orders(levels):
    """All orders of the levels among the rated turns."""
    places = [turn for turn, level in enumerate(levels) if level is not None]
    for order in itertools.permutations([level for level in levels if level is not None]):
        given_to = dict(zip(places, order, strict=True))
        yield [given_to.get(turn) for turn in range(len(levels))]


def mean_by_time(pieces):
    """Mean level by event time; each piece has a weight."""
    sums, weights = dict.fromkeys(disrupted.TIMES, 0.0), dict.fromkeys(disrupted.TIMES, 0.0)
    for weight, pairs in pieces:
        for time, level in pairs:
            if time in sums:
                sums[time] += weight * level
                weights[time] += weight
    return {
        time: sums[time] / weights[time] if weights[time] else np.nan for time in disrupted.TIMES
    }


conversations_of_levels = st.lists(
    st.lists(st.one_of(st.none(), st.integers(1, 5)), min_size=1, max_size=5),
    min_size=1,
    max_size=5,
)


@settings(max_examples=40, deadline=None)
@given(conversations_of_levels)
def test_chance_order_is_the_mean_over_all_orders(conversations):
    study = study_of(conversations)
    event = disrupted.around_first_poor_turns(study)
    differences = disrupted.levels_after_a_poor_turn(study, bootstrap_of(study, draws=2))
    rated = mean_by_time([(1, around(levels)) for levels in conversations])
    pieces = []
    for levels in conversations:
        possible = list(orders(levels))
        pieces += [(1 / len(possible), around(order)) for order in possible]
    chance = mean_by_time(pieces)
    for time in disrupted.TIMES:
        with np.errstate(invalid="ignore"):
            sums = event.sums[time].sum(axis=0)
            assert disrupted.as_rated(sums) == pytest.approx(rated[time], nan_ok=True)
            assert disrupted.permuted(sums) == pytest.approx(chance[time], nan_ok=True)
    for time, row in differences.iterrows():
        if np.isfinite(row["estimate"]):
            assert row["estimate"] == pytest.approx(rated[time] - chance[time], abs=1e-9)
        else:
            assert row["reason"]


def test_the_reversed_order_is_the_statistic_of_conversations_read_backwards():
    generator = np.random.default_rng(6)
    conversations = generator.integers(1, 6, size=(60, 9)).tolist()
    people = [f"P{number % 12}" for number in range(60)]
    study, backwards = (
        study_of(conversations, people),
        study_of([levels[::-1] for levels in conversations], people),
    )
    table = disrupted.reversed_order(study, bootstrap_of(study))
    drops = [
        disrupted.lasting_drop(one, bootstrap_of(one)).loc["difference"]
        for one in (study, backwards)
    ]
    after = [
        disrupted.levels_after_a_poor_turn(one, bootstrap_of(one)).loc[1]
        for one in (study, backwards)
    ]
    for name, (forward, backward) in {"lasting drop": drops, "right after": after}.items():
        difference = table.loc[f"{name}, as it happened minus reversed"]
        assert difference["estimate"] == pytest.approx(forward["estimate"] - backward["estimate"])
        assert difference["n"] == backward["n"]


# What is poor


def test_a_rating_is_poor_by_its_label():
    ratings = np.array([1, 2, 2.5, 2.500001, 1.67, 3, 3.5, 5, np.nan])
    assert measures.is_poor(ratings).tolist() == [
        True,
        True,
        True,
        False,
        True,
        False,
        False,
        False,
        False,
    ]
    assert measures.is_poor(ratings).tolist() == (labels(ratings) <= measures.POOR).tolist()
    series = pd.Series(ratings, index=list("abcdefghi"))
    pd.testing.assert_series_equal(
        measures.is_poor(series), pd.Series(measures.is_poor(ratings), series.index)
    )


# Lost continuity and unmet expectations, with statsmodels on the study that is compared with R


def failures_and_losses(study):
    """Each turn with a next one: whether Relational failed in it, and the loss in the next turn, by loops."""
    rows = []
    for _, turns in study.turns.groupby("conversation"):
        ratings = turns.sort_values("turn")[list(DIMENSION_NAMES)]
        means = ratings.mean(axis=1).to_numpy()
        for t in range(len(means) - 1):
            others = np.delete(means, [t, t + 1])
            others = others[np.isfinite(others)]
            if len(others) and np.isfinite(means[t + 1]):
                rows.append((*(ratings.iloc[t] <= 2), others.mean() - means[t + 1]))
    return pd.DataFrame(rows, columns=[*DIMENSION_NAMES, "loss"]).astype(float)


def test_losses_after_failures_are_those_of_statsmodels_on_rows_made_by_loops():
    study = golden.study().subset(
        participants=golden.study().conversations["participant"].unique()[:40]
    )
    table = disrupted.continuity_losses(study, bootstrap_of(study)).set_index("key")["estimate"]
    rows = failures_and_losses(study)
    plain = smf.ols("loss ~ Relational", rows).fit().params
    assert table["continuity_loss_after_failure"] == pytest.approx(plain["Relational"])
    together = smf.ols(f"loss ~ {' + '.join(DIMENSION_NAMES)}", rows).fit().params[1:]
    others = together.drop("Relational").mean()
    assert table["continuity_failure_next_turn"] == pytest.approx(together["Relational"])
    assert table["other_failures_next_turn"] == pytest.approx(others)
    contrast = together["Relational"] - others
    assert table["continuity_contrast_next_turn"] == pytest.approx(contrast)


def expectations_of(study):
    """The conversations of the claim on expectations, by pandas alone."""
    conversations = study.conversations.set_index("conversation")
    rated = study.turns[list(DIMENSION_NAMES)].mean(axis=1)
    frame = conversations[["participant"]].assign(
        mean=rated.groupby(study.turns["conversation"]).mean(),
        y=conversations.filter(like="post_").mean(axis=1),
        high=(conversations["desired_empathy"] == 3).astype(int),
    )
    frame = frame[conversations["desired_empathy"].notna()].dropna()
    return frame.assign(low=(frame["mean"].round(9) < 3.5).astype(int))


def test_the_loss_with_an_unmet_expectation_is_that_of_the_mixed_model_of_statsmodels():
    study = s7.load("synthetic")
    loss = disrupted.unmet_expectations(study, bootstrap_of(study)).iloc[-1]
    model = smf.mixedlm("y ~ low * high + mean", expectations_of(study), groups="participant").fit()
    assert loss["estimate"] == pytest.approx(-model.fe_params["low:high"], abs=1e-4)
    # Its interval is normal; with Satterthwaite's hundreds of degrees of freedom, t is a little wider.
    half_width = 1.959964 * model.bse["low:high"]
    assert (loss["high"] - loss["low"]) / 2 == pytest.approx(half_width, rel=0.005)


def test_an_expectation_is_unmet_by_the_mean_of_the_dimensions_and_by_the_overall_rating_without_any():
    study = s7.load("synthetic")
    turns = study.turns.assign(**dict.fromkeys(DIMENSION_NAMES, np.nan))
    without_dimensions = replace(study, turns=turns)
    by_overall = disrupted.expectation_conversations(study, rating="overall")
    pd.testing.assert_frame_equal(
        disrupted.expectation_conversations(without_dimensions), by_overall
    )
    assert not by_overall["mean"].equals(disrupted.expectation_conversations(study)["mean"])
