"""What a data set holds: lengths and times by hand, medians against rows copied out, and nobody named."""

import numpy as np
import pandas as pd
import pytest
from bs4 import BeautifulSoup

from helpers.studies import bootstrap_of
from sense7 import tables
from sense7.figures import distributions, heat_map
from sense7.findings import dataset
from sense7.tables import Sentence
from sense7.workbook import parse_sheets


@pytest.fixture
def parsed(minimal_sheets):
    """Parse the small workbook with changes: 4 conversations of 3 participants, 2 turns each."""
    return lambda **changes: parse_sheets(minimal_sheets(**changes))


def quantity_of(values, condition="a"):
    frame = pd.DataFrame({"participant": [f"P{n}" for n in range(len(values))], "condition": condition})
    return dataset.Quantity("turns", "turns", "turns", "conversations", frame.assign(value=values))


# Lengths


def test_words_are_counted_by_role_and_blank_texts_left_out(parsed):
    texts = ["one two  three\nfour", "I am sorry.", "  ", None]
    user, assistant, turns = dataset.lengths(parsed(messages={"Content": texts * 4}))
    assert user.frame["value"].tolist() == [4] * 4
    assert assistant.frame["value"].tolist() == [3] * 4
    assert turns.frame["value"].tolist() == [2] * 4
    assert sorted(user.frame["participant"]) == ["P1", "P1", "P2", "P3"]


# Times


def talk(parsed, seconds, roles):
    """One conversation with these times and roles; the others have none."""
    length = len(seconds)
    return parsed(
        messages={
            "TaskId": ["C1"] * length + ["C2", "C3", "C4"],
            "MessageId": [*map(float, range(1, length + 1)), 1.0, 1.0, 1.0],
            "TimeOffsetSeconds": [*seconds, None, None, None],
            "Role": [*roles, "assistant", "assistant", "assistant"],
            "EmpathyOverall": "good",
        },
    )


def durations_of(study):
    return dataset.durations(study).frame["value"].tolist()


@pytest.mark.parametrize(
    ("seconds", "duration"),
    [
        ([0.0, 5.0, 4.0, 9.0], []),  # runs backwards: which time is wrong is not known
        ([-2.0, 5.0, 6.0, 9.0], []),  # negative: missing
        ([0.0, None, 6.0, 9.0], [9.0]),
        ([0.0, 5.0, 6.0, None], []),
        ([0.0, 0.0, 0.0, 0.0], [0.0]),
        (["soon", "later", None, None], []),
    ],
)
def test_times_that_cannot_be_used_leave_out_what_needs_them(parsed, seconds, duration):
    assert durations_of(talk(parsed, seconds, ["user", "assistant"] * 2)) == duration


# Medians and quartiles


def test_quartiles_are_ordered_by_condition_and_conversations_without_one_come_last():
    quantity = quantity_of([1.0, 2.0, 4.0, 8.0, 9.0], ["b", "b", "b", dataset.NO_CONDITION, "a"])
    table = dataset.quartiles_by_condition(quantity)
    assert table.index.tolist() == ["a", "b", dataset.NO_CONDITION, dataset.ALL]
    assert table.loc["b"].tolist() == [3, 1.5, 2, 3]
    described = quantity.frame["value"].describe()
    assert table.loc[dataset.ALL].tolist() == described[["count", "25%", "50%", "75%"]].tolist()


# What was said before


def test_levels_add_up_to_the_conversations(parsed):
    table = dataset.levels_by_condition(parsed(tasks={"PreTaskImportance": [1.0, 5.0, 5.0, None]}), "importance")
    assert table.columns.tolist() == [1, 2, 3, 4, 5, "not answered"]
    assert table.loc["plain"].tolist() == [1, 0, 0, 0, 1, 0]
    assert table.loc["plain-empathy"].tolist() == [0, 0, 0, 0, 1, 1]
    assert table.loc[dataset.ALL].sum() == 4
    assert dataset.levels_by_condition(parsed(), "desired_empathy").columns.tolist() == [1, 2, 3, "not answered"]
    assert dataset.levels_by_condition(parsed(tasks={"PreTaskImportance": ...}), "importance").empty


def test_the_rarest_of_very_many_topics_are_put_together(parsed):
    topics = ["often"] * 3 + [f"topic {number:02}" for number in range(57)]
    table = dataset.topics_by_condition(parsed(conversations=60, tasks={"PreTaskChoice": topics}))
    assert len(table) == dataset.MOST_TOPICS + 1
    assert table.index[-1] == "(18 other topics)"
    assert table.sum(axis=1).iloc[-1] == 18
    assert table.loc["often"].sum() == 3
    assert table.to_numpy().sum() == 60


# Retries and errors


@pytest.mark.parametrize(
    ("cell", "retries"),
    [(1.0, 4), (True, 4), ("yes", 4), ("2", 4), (0.0, 0), ("0", 0), (False, 0), (" No ", 0), ("FALSE", 0)],
)
def test_a_retry_is_a_cell_that_says_so(parsed, cell, retries):
    study = parsed(messages={"Retry": [None, cell, None, None] * 4})
    rows = dataset.disturbance_shares(study, bootstrap_of(study))
    assert rows["estimate"].tolist() == [retries / 4, 0]


@pytest.mark.parametrize("cell", [None, ...])
def test_retries_that_were_never_recorded_are_not_reported_as_zero(parsed, cell):
    study = parsed(messages={"Retry": cell})
    rows = dataset.disturbance_shares(study, bootstrap_of(study))
    assert rows["reason"].tolist()[0] == dataset.NO_RETRIES
    assert rows["estimate"].isna().tolist() == [True, False]


# Participants


def people_of(parsed, columns, people=12):
    return dataset.characteristics(
        parsed(conversations=people + 1, participants={"PID": [f"P{n + 1}" for n in range(people)]} | columns)
    )


def test_numbers_are_summed_up_and_few_texts_counted(parsed):
    ages = [20.0, 30.0, 40.0, 50.0] * 3
    summary = people_of(parsed, {"Age": ages, "Gender": ["f", "m", "f", None] * 3})
    assert summary.numbers.columns[0] == summary.others.columns[0] == "n"
    assert summary.numbers.loc["Age"].tolist() == [12, 20, *np.quantile(ages, [0.25, 0.5, 0.75]), 50]
    assert summary.groups.index.tolist() == ["Gender: f", "Gender: m"]
    assert summary.groups["participants"].tolist() == [6, 3]
    assert summary.groups["share of answers (%)"].tolist() == pytest.approx([200 / 3, 100 / 3])
    assert summary.others.empty
    assert summary.reason == ""


@pytest.mark.parametrize(
    ("column", "answers"),
    [
        ("Name", [f"Robin {n}" for n in range(12)]),
        ("Town", ["here", "there", "elsewhere", "nowhere", "up", "down"] * 2),  # two a text: few, yet too many
        ("Born", [f"1980-01-{n + 1:02}" for n in range(12)]),
        ("worker_id", [float(7 * n * n + 3) for n in range(12)]),
        ("Number", [float(n + 500) for n in range(12)]),
        ("Phone", [float(1_234_000 + 7 * n * n) for n in range(12)]),
    ],
)
def test_what_may_name_people_is_not_shown(parsed, column, answers):
    summary = people_of(parsed, {"Age": ..., "Gender": ..., column: answers})
    assert summary.others.loc[column].tolist() == [12, len(set(answers))]
    shown = summary.numbers.to_csv() + summary.groups.to_csv() + summary.others.to_csv()
    assert not any(str(answer).removesuffix(".0") in shown for answer in answers if len(str(answer)) > 4)


def test_a_column_without_answers_and_a_sheet_without_columns_say_so(parsed):
    assert people_of(parsed, {"Age": None}).others.loc["Age"].tolist() == [0, 0]
    bare = dataset.characteristics(parsed(participants={"Age": ..., "Gender": ...}))
    assert bare.reason == "the participants' sheet has no column but PID"
    gone = dataset.characteristics(parsed(participants=None))
    assert gone.reason == "the workbook has no participants' sheet"
    assert gone.numbers.empty
    assert gone.groups.empty
    assert gone.others.empty


# Where there is nothing


def everything(study):
    """All that the page shows of lengths, times, answers, topics and people."""
    shown = []
    for quantities in (dataset.lengths(study), [dataset.durations(study)], dataset.answers(study)):
        frames = {one.name: one.frame for one in quantities}
        shown.append(tables.plain(dataset.shown_by_condition(quantities), "c", empty="none"))
        shown.append(tables.estimates(dataset.medians(quantities, bootstrap_of(study)), "c"))
        shown.append(distributions(frames, name="x", label="it", caption=dataset.in_words(quantities)))
    topics = dataset.topics_by_condition(study)
    people = dataset.characteristics(study)
    for table in (people.numbers, people.groups, people.others, topics):
        shown.append(tables.plain(table, "c", empty=people.reason or "none"))
    shown.append(heat_map(topics, name="x", label="topics", caption="c"))
    return shown


BARE = {"Model": ..., "PreTaskChoice": ..., "PreTaskImportance": ..., "PreTaskDesiredEmpathy": ...}


@pytest.mark.parametrize(
    ("changes", "sentences"),
    [
        ({}, 1),  # three people, two genders: no answer is shown
        ({"tasks": {"PID": "P1", "Model": "plain"}}, 1),
        ({"tasks": BARE, "messages": {"TimeOffsetSeconds": None, "Content": None}, "participants": None}, 9),
    ],
)
def test_every_hole_is_a_sentence_and_no_number(parsed, changes, sentences):
    shown = everything(parsed(**changes))
    assert sum(isinstance(one, Sentence) for one in shown) == sentences
    for one in shown:
        assert "nan" not in BeautifulSoup(getattr(one, "alt", str(one)), "html.parser").get_text().casefold()
