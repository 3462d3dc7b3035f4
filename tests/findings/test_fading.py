"""Fading: against models with an indicator of each conversation, and where there is none."""

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm

import sense7 as s7
from sense7.estimators.bootstrap import ParticipantBootstrap
from sense7.findings import conditions
from sense7.findings.measures import turn_rating
from sense7.workbook import parse_sheets


def bootstrap_of(study, draws=100):
    return ParticipantBootstrap(study.conversations["participant"], draws=draws, seed=1)


@pytest.fixture(scope="module")
def study():
    return s7.load("synthetic")


def test_levels_are_plain_means_of_each_turn(study):
    turns = study.turns.assign(y=turn_rating(study.turns, "dimensions"))
    expected = turns.groupby(["condition", "turn"])["y"].agg(["mean", "count"])
    for condition, table in conditions.levels_by_turn(study, bootstrap_of(study)).items():
        assert list(table.index) == list(range(1, 11))
        np.testing.assert_allclose(table["estimate"], expected.loc[condition].loc[1:10, "mean"])
        assert table["n"].tolist() == expected.loc[condition].loc[1:10, "count"].tolist()
        assert ((table["low"] < table["estimate"]) & (table["estimate"] < table["high"])).all()


def test_fading_is_that_of_a_model_with_an_indicator_of_each_conversation(study):
    people = study.conversations["participant"].unique()[:12]
    some = study.subset(participants=list(people))
    turns = some.turns.assign(y=turn_rating(some.turns, "dimensions")).dropna(subset=["y"]).reset_index(drop=True)
    prompted = (turns["condition"] == study.prompted_condition).to_numpy()
    met = pd.Series(prompted).groupby(turns["participant"]).transform("nunique").to_numpy() == 2
    assert met.any()
    found = conditions.prompt_fading(some, bootstrap_of(some))
    for name, used in (("all participants", np.ones(len(turns), dtype=bool)), ("participants who met both", met)):
        own, kind = turns[used], prompted[used]
        columns = pd.DataFrame({"p": own["turn"] * kind, "o": own["turn"] * ~kind})
        indicators = pd.get_dummies(own["conversation"], dtype=float)
        fit = sm.OLS(own["y"], pd.concat([columns, indicators], axis=1).astype(float)).fit()
        assert found.loc[name, "estimate"] == pytest.approx(fit.params["p"] - fit.params["o"], abs=1e-9)
        assert found.loc[name, "n"] == used.sum()


# What can't be computed


SILENT = dict.fromkeys(("Affective", "Cognitive", "Response", "Prosocial", "Interest", "Contextual", "Relational"))


def fading_reasons(minimal_sheets, **changes):
    study = parse_sheets(minimal_sheets(**changes))
    return set(conditions.prompt_fading(study, bootstrap_of(study, 100))["reason"])


def test_reasons_say_what_is_missing(minimal_sheets):
    assert fading_reasons(minimal_sheets, messages=SILENT) == {
        "the mean of the rated dimensions of a turn was never given in this data set"
    }
    assert fading_reasons(minimal_sheets, tasks={"Model": ["a", "b", "a", "b"]}) == {
        "it is not known which condition has the empathy prompt"
    }
    assert "no conversation has two rated turns to compare" in fading_reasons(minimal_sheets, turns=1)


def test_those_who_met_both_may_be_nobody(minimal_sheets):
    apart = parse_sheets(
        minimal_sheets(tasks={"PID": ["P1", "P1", "P2", "P3"], "Model": ["plain-empathy"] * 2 + ["plain"] * 2})
    )
    row = conditions.prompt_fading(apart, bootstrap_of(apart, 100)).loc["participants who met both"]
    assert (row["n"], row["reason"]) == (0, "no participant met both")
