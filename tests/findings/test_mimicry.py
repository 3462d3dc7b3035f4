"""Proxies of mimicry: echo word by word, and associations against frames."""

import numpy as np
import pytest

import sense7 as s7
from helpers.studies import bootstrap_of
from sense7.findings.words import mimicry
from sense7.workbook import parse_sheets

NAMES = list(mimicry._PROXIES)


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


def test_associations_are_those_of_residuals(study):
    table = mimicry.mimicry_proxies(study, bootstrap_of(study))
    turns = mimicry.echo_of_turns(study).dropna(subset=["echo", "overall"])
    turns = turns[turns.groupby("conversation")["overall"].transform("size") > 1]
    centered = turns[["echo", "overall", "length"]] - turns.groupby("conversation")[
        ["echo", "overall", "length"]
    ].transform("mean")
    z = centered[["length"]].to_numpy()
    left = [centered[name] - z @ np.linalg.lstsq(z, centered[name], rcond=None)[0] for name in ("echo", "overall")]
    assert table.loc[NAMES[1], "estimate"] == pytest.approx(np.corrcoef(*left)[0, 1])
    assert table.loc[NAMES[0], "estimate"] == pytest.approx(mimicry.echo_of_turns(study)["echo"].mean())


def test_warmer_than_fitting_sees_what_is_planted(study):
    """Ratings by warmth alone, then by fit alone: the sign follows, at any mean of the two."""
    for name, sign in (("Affective", 1), ("Response", -1)):
        turns = study.turns.assign(overall=study.turns[name].astype(float))
        changed = s7.Study("changed", study.conversations, study.messages, turns, None, study.columns)
        row = mimicry.mimicry_proxies(changed, bootstrap_of(study)).loc[NAMES[2]]
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
    assert (table.loc[table["low"].isna(), "reason"] != "").all()
