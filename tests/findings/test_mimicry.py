"""Proxies of mimicry: echo word by word, rare turns named as rare, and associations against frames."""

import numpy as np
import pandas as pd
import pytest

import sense7 as s7
from helpers.studies import bootstrap_of
from sense7.findings.words import mimicry
from sense7.workbook import parse_sheets

NAMES = list(mimicry._PROXIES)
RARE = "warm but unfitting minus cold and unfitting"


@pytest.fixture(scope="module")
def study():
    return s7.load("synthetic")


@pytest.mark.parametrize(
    ("user", "answer", "share"),
    [
        ("work is hard", "Work is hard, hard work!", 1.0),
        ("My boss shouted", "A boss may shout", 1 / 3),  # boss, of boss, may, shout
        ("nothing in common", "kind words", 0.0),
        ("the and of", "kind words", np.nan),
        ("kind words", "...", np.nan),
        ("Chef ignoriert mich", "Ihr CHEF hat Sie ignoriert", 2 / 5),
    ],
)
def test_the_echo_is_counted_in_different_words(user, answer, share):
    assert mimicry.echo(user, answer) == pytest.approx(share, nan_ok=True)


def test_the_echo_is_that_of_the_message_before(minimal_sheets):
    texts = ["alpha beta", "alpha gamma", "gamma delta", "gamma delta"]
    study = parse_sheets(minimal_sheets(conversations=1, messages={"Content": texts}))
    found = mimicry.echo_of_turns(study)
    assert found["echo"].tolist() == [0.5, 1.0]
    assert found["length"].tolist() == pytest.approx([np.log(3), np.log(3)])


def test_kinds_of_turns_are_counted_by_hand(study):
    table = mimicry.warm_and_fitting(study)
    turns = study.turns
    warm, unfitting = turns["Affective"].isin([4, 5]), turns["Response"].isin([1, 2])
    assert table.loc["warm and unfitting", "turns"] == (warm & unfitting).sum()
    assert table.loc["warm and unfitting", "participants"] == turns[warm & unfitting]["participant"].nunique()
    assert table.loc["warm and unfitting", "overall"] == turns[warm & unfitting]["overall"].mean()
    cold = turns["Affective"] <= 2
    assert table.loc["cold and fitting", "turns"] == (cold & turns["Response"].ge(4)).sum()


def test_few_warm_but_unfitting_turns_are_called_too_rare(study):
    table = mimicry.mimicry_proxies(study, bootstrap_of(study))
    assert table.loc["warm but unfitting turns", "estimate"] == mimicry.warm_and_fitting(study).iloc[1]["turns"] < 20
    assert np.isnan(table.loc[RARE, "estimate"])
    assert table.loc[RARE, "reason"].startswith("too rare to be compared: 3 turns of 3 participants")


def test_enough_of_them_are_compared(study):
    turns = study.turns.copy()
    cold = turns["Affective"].le(2) & turns["Response"].le(2)
    chosen = turns[cold].groupby("participant").head(1).index
    turns.loc[chosen, "Affective"] = 4
    turns.loc[chosen, "overall"] -= 0.5
    changed = s7.Study("changed", study.conversations, study.messages, turns, None, study.columns)
    row = mimicry.mimicry_proxies(changed, bootstrap_of(study)).loc[RARE]
    warm = turns["Affective"].ge(4) & turns["Response"].le(2)
    left = turns["Affective"].le(2) & turns["Response"].le(2)
    expected = turns.loc[warm, "overall"].mean() - turns.loc[left, "overall"].mean()
    assert row["estimate"] == pytest.approx(expected)
    assert row["low"] < row["estimate"] < row["high"]


def test_associations_are_those_of_residuals(study):
    table = mimicry.mimicry_proxies(study, bootstrap_of(study))
    turns = mimicry.echo_of_turns(study).dropna(subset=["echo", "overall"])
    turns = turns[turns.groupby("conversation")["overall"].transform("size") > 1]
    centered = turns[["echo", "overall", "length"]] - turns.groupby("conversation")[
        ["echo", "overall", "length"]
    ].transform("mean")
    assert table.loc[NAMES[1], "estimate"] == pytest.approx(centered["echo"].corr(centered["overall"]))
    z = centered[["length"]].to_numpy()
    left = [centered[name] - z @ np.linalg.lstsq(z, centered[name], rcond=None)[0] for name in ("echo", "overall")]
    assert table.loc[NAMES[2], "estimate"] == pytest.approx(np.corrcoef(*left)[0, 1])
    assert table.loc[NAMES[0], "estimate"] == pytest.approx(mimicry.echo_of_turns(study)["echo"].mean())


def test_warmer_than_fitting_sees_what_is_planted(study):
    """Ratings by warmth alone, then by fit alone: the sign follows, at any mean of the two."""
    for name, sign in (("Affective", 1), ("Response", -1)):
        turns = study.turns.assign(overall=study.turns[name].astype(float))
        changed = s7.Study("changed", study.conversations, study.messages, turns, None, study.columns)
        row = mimicry.mimicry_proxies(changed, bootstrap_of(study)).loc[NAMES[6]]
        assert sign * row["estimate"] == pytest.approx(1, abs=1e-9)


@pytest.mark.parametrize(
    "changes",
    [
        {"messages": {"EmpathyOverall": None}},
        {"messages": {"Affective": None}},
        {"messages": {"Content": None}},
        {"conversations": 1},
    ],
    ids=["no overall rating", "never warm or cold", "no texts", "one conversation"],
)
def test_what_cannot_be_computed_says_why(minimal_sheets, changes):
    study = parse_sheets(minimal_sheets(**changes))
    table = mimicry.mimicry_proxies(study, bootstrap_of(study, 20))
    assert list(table.index) == NAMES
    missing = table["estimate"].isna()
    assert (table.loc[missing, "reason"] != "").all()
    assert (table.loc[table["low"].isna() & ~table.index.isin(["warm but unfitting turns"]), "reason"] != "").all()
    assert isinstance(mimicry.warm_and_fitting(study), pd.DataFrame)
