"""Time course: against models with an indicator of each conversation, and where there is none."""

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from bs4 import BeautifulSoup

import sense7 as s7
from helpers.studies import bootstrap_of, read
from sense7.estimators import least_squares
from sense7.estimators.bootstrap import ParticipantBootstrap
from sense7.estimators.estimates import estimate_row, estimate_table
from sense7.estimators.least_squares import coefficient
from sense7.figures.time_course import lines_by_turn
from sense7.findings.measures import turn_rating
from sense7.findings.whole import time_course
from sense7.tables import Sentence
from sense7.workbook import parse_sheets


@pytest.fixture(scope="module")
def study():
    return s7.load("synthetic")


def test_levels_are_plain_means_of_each_turn(study):
    turns = study.turns.assign(y=turn_rating(study.turns, "dimensions"))
    expected = turns.groupby(["condition", "turn"])["y"].agg(["mean", "count"])
    for condition, table in time_course.levels_by_turn(study, bootstrap_of(study)).items():
        assert list(table.index) == list(range(1, 11))
        np.testing.assert_allclose(table["estimate"], expected.loc[condition].loc[1:10, "mean"])
        assert table["n"].tolist() == expected.loc[condition].loc[1:10, "count"].tolist()
        assert ((table["low"] < table["estimate"]) & (table["estimate"] < table["high"])).all()


def test_shares_that_still_go_on_never_rise(study):
    shares = time_course.still_going(study)
    assert (shares.loc[1] == 1).all()
    assert (shares.diff().dropna() <= 0).all(axis=None)
    assert shares.index.name == "turn"


def test_the_slope_is_that_of_a_model_with_an_indicator_of_each_conversation(study):
    some = study.conversations["conversation"].iloc[:60]
    turns = study.turns[study.turns["conversation"].isin(some)]
    turns = turns.assign(y=turn_rating(turns, "dimensions")).dropna(subset=["y"]).reset_index(drop=True)
    prompted = (turns["condition"] == study.prompted_condition).to_numpy()
    columns = pd.DataFrame({"p": turns["turn"] * prompted, "o": turns["turn"] * ~prompted})
    indicators = pd.get_dummies(turns["conversation"], dtype=float)
    fit = sm.OLS(turns["y"], pd.concat([columns, indicators], axis=1).astype(float)).fit()
    groups = np.column_stack([prompted, ~prompted]).astype(float)
    row = time_course._row(coefficient(0, minus=1), turns, groups, bootstrap_of(study), "dimensions")
    assert row["estimate"] == pytest.approx(fit.params["p"] - fit.params["o"], abs=1e-9)
    alone = time_course._row(coefficient(0), turns, np.ones((len(turns), 1)), bootstrap_of(study), "dimensions")
    fit = sm.OLS(turns["y"], pd.concat([turns[["turn"]], indicators], axis=1).astype(float)).fit()
    assert alone["estimate"] == pytest.approx(fit.params["turn"], abs=1e-9)


def test_resampling_by_weights_is_that_of_the_turns_copied_out(study):
    bootstrap = bootstrap_of(study, 2)
    turns = study.turns.assign(y=turn_rating(study.turns, "dimensions")).dropna(subset=["y"])
    z = least_squares.within(turns[["turn", "y"]].to_numpy(dtype=float), turns["conversation"])
    draws = bootstrap.distribution(coefficient(0), z[:, :, None] * z[:, None, :], turns["participant"])
    for times, draw in zip(bootstrap.weights(), draws, strict=True):
        count = turns["participant"].map(dict(zip(bootstrap.names, times, strict=True))).astype(int).to_numpy()
        copies = np.repeat(z, count, axis=0)
        assert draw == pytest.approx((copies[:, 0] @ copies[:, 1]) / (copies[:, 0] @ copies[:, 0]), abs=1e-12)


def survivors(rise, lengths, levels):
    """Turns of conversations that only differ in length and level."""
    rows = [
        {"conversation": f"C{number}", "participant": f"P{number % 5}", "turn": turn, "y": level + rise * turn}
        for number, (length, level) in enumerate(zip(lengths, levels, strict=True))
        for turn in range(1, length + 1)
    ]
    return pd.DataFrame(rows)


def test_conversations_that_end_early_do_not_make_a_slope():
    turns = survivors(0.0, [2, 2, 3, 6, 8, 8, 9], [1.0, 1, 2, 4, 4, 5, 5])
    ones = np.ones((len(turns), 1))
    bootstrap = ParticipantBootstrap(turns["participant"], draws=100, seed=1)
    own = time_course._row(coefficient(0), turns, ones, bootstrap, "dimensions")
    mixed = time_course._row(coefficient(0), turns, ones, bootstrap, "dimensions", own=False)
    assert own["estimate"] == pytest.approx(0, abs=1e-12)
    assert mixed["estimate"] > 0.1
    rising = time_course._row(
        coefficient(0), survivors(0.1, [4, 5, 9], [1, 2, 3]), np.ones((18, 1)), bootstrap, "dimensions"
    )
    assert rising["estimate"] == pytest.approx(0.1)


def test_fading_is_the_difference_of_the_two_slopes(study):
    table = time_course.prompt_fading(study, bootstrap_of(study))["estimate"]
    slopes = time_course.slopes_per_turn(study, bootstrap_of(study))["estimate"]
    assert table["slope with the empathy prompt"] == pytest.approx(slopes[study.prompted_condition])
    difference = table["slope with the empathy prompt"] - table["slope of the other conditions"]
    assert table["difference, all participants"] == pytest.approx(difference)
    assert table.iloc[2:].nunique() == 3, "all, who met both, and all turns alike"


# What can't be computed


def sound(table):
    missing = table["estimate"].isna()
    assert (table.loc[missing, "reason"] != "").all()
    assert table.loc[missing, ["low", "high"]].isna().all(axis=None)
    assert (table["method"] != "").all()


def all_sound(study):
    bootstrap = bootstrap_of(study, 100)
    for rating in ("dimensions", "overall"):
        levels = time_course.levels_by_turn(study, bootstrap, rating)
        tables = [*levels.values(), time_course.slopes_per_turn(study, bootstrap, rating)]
        for table in [*tables, time_course.prompt_fading(study, bootstrap, rating)]:
            sound(table)
        lines_by_turn(levels, name="x", label="level", caption="c")
    assert time_course.still_going(study).notna().all(axis=None)


@pytest.mark.parametrize("file", ["reference", "ieval", "lend_an_ear"])
def test_every_data_set_gives_estimates_or_reasons(workbooks, file):
    all_sound(read(workbooks[file]))


SILENT = dict.fromkeys(("Affective", "Cognitive", "Response", "Prosocial", "Interest", "Contextual", "Relational"))
DEGENERATE = {
    "as it is": {},
    "one participant": {"tasks": {"PID": "P1"}, "participants": None},
    "one conversation": {"conversations": 1},
    "three conversations": {"conversations": 3},
    "one turn each": {"turns": 1},
    "no condition": {"tasks": {"Model": None}},
    "one condition": {"tasks": {"Model": "plain-empathy"}},
    "no dimension rated": {"messages": SILENT},
    "hostile names": {"tasks": {"Model": ["<b>", "$x$", "<b>", "$x$"]}},
}


@pytest.mark.parametrize("changes", DEGENERATE.values(), ids=DEGENERATE)
def test_degenerate_data_give_estimates_or_reasons(minimal_sheets, changes):
    all_sound(parse_sheets(minimal_sheets(**changes)))


def fading_reasons(minimal_sheets, **changes):
    study = parse_sheets(minimal_sheets(**changes))
    return set(time_course.prompt_fading(study, bootstrap_of(study, 100))["reason"])


def test_reasons_say_what_is_missing(minimal_sheets):
    assert fading_reasons(minimal_sheets, messages=SILENT) == {
        "the mean of the rated dimensions of a turn was never given in this data set"
    }
    assert fading_reasons(minimal_sheets, tasks={"Model": ["a", "b", "a", "b"]}) == {
        "it is not known which condition has the empathy prompt"
    }
    assert "no conversation has two rated turns to compare" in fading_reasons(minimal_sheets, turns=1)


def test_without_conditions_all_conversations_are_one_line(minimal_sheets):
    study = parse_sheets(minimal_sheets(tasks={"Model": None}))
    levels = time_course.levels_by_turn(study, bootstrap_of(study, 100))
    assert list(levels) == list(time_course.still_going(study)) == ["all conversations"]
    assert levels["all conversations"]["n"].tolist() == [4, 4]


# The figure


def lines(names, estimate=3.5):
    rows = {turn: estimate_row(estimate, 3.0, 4.0, n=10, unit="level", method="m") for turn in (1, 2)}
    rows[3] = estimate_row(n=0, unit="level", method="m", reason="no such turn was rated")
    return {name: estimate_table(rows, "turn") for name in names}


def test_the_figure_says_what_is_drawn_and_takes_names_as_text():
    names = ["<script>alert(1)</script>", "$\\frac{1}$", *(f"c{number}" for number in range(12))]
    figure = lines_by_turn(lines(names), name="x", label="mean <b>", caption="n = 10 <i>")
    page = BeautifulSoup(figure.html(), "html.parser")
    assert not page.find_all(["script", "b", "i"])
    assert "turn 1: 3.5" in figure.alt
    assert "turn 3" not in figure.alt
    assert len(figure.data) == 3 * len(names)
    again = lines_by_turn(lines(names), name="x", label="mean <b>", caption="n = 10 <i>")
    assert figure.html() == again.html()


def test_with_nothing_to_draw_the_figure_is_a_sentence():
    sentence = lines_by_turn(lines(["a"], estimate=np.nan), name="x", label="level", caption="c")
    assert isinstance(sentence, Sentence)
    assert sentence.text == "No figure of level: no such turn was rated."


def test_slopes_count_their_own_turns_and_those_who_met_both_may_be_nobody(study, minimal_sheets):
    table = time_course.prompt_fading(study, bootstrap_of(study))
    counts = table["n"].tolist()
    assert counts[0] + counts[1] == counts[2] == counts[4] > counts[3] > 0
    assert table.index.name == "slope"
    apart = parse_sheets(
        minimal_sheets(tasks={"PID": ["P1", "P1", "P2", "P3"], "Model": ["plain-empathy"] * 2 + ["plain"] * 2})
    )
    row = time_course.prompt_fading(apart, bootstrap_of(apart, 100)).loc["difference, participants who met both"]
    assert (row["n"], row["reason"]) == (0, "no participant met both")
    unrated = parse_sheets(minimal_sheets(messages=SILENT))
    assert time_course.prompt_fading(unrated, bootstrap_of(unrated, 100)).index.name == "slope"


def test_lines_over_another_scale_say_what_it_is():
    tables = {"high": lines(["a"])["a"].rename(index=lambda turn: turn / 2)}
    figure = lines_by_turn(tables, name="x", label="level", caption="c", across="mean rating")
    assert figure.drawing.axes[0].get_xlabel() == "mean rating"
    assert "by mean rating" in figure.alt
    assert "at 0.5:" in figure.alt
    assert "turn" not in figure.alt
