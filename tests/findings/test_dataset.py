"""What a data set holds: counts by hand, and the authors' ground truth."""

import numpy as np
import pandas as pd
import pytest

from helpers.studies import bootstrap_of, parse_sheets
from sense7.findings import dataset
from sense7.findings.ground_truth import ground_truth
from sense7.workbook.sheets import read_workbook


@pytest.fixture
def parsed(minimal_sheets):
    """Parse the small workbook with changes: 4 conversations of 3 participants, 2 turns each."""
    return lambda **changes: parse_sheets(minimal_sheets(**changes))


def quantity_of(values, condition="a"):
    frame = pd.DataFrame(
        {"participant": [f"P{n}" for n in range(len(values))], "condition": condition}
    )
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
        }
    )


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
    study = talk(parsed, seconds, ["user", "assistant"] * 2)
    assert dataset.durations(study).frame["value"].tolist() == duration


# Medians and quartiles


def test_quartiles_are_ordered_by_condition_and_conversations_without_one_come_last():
    quantity = quantity_of([1.0, 2.0, 4.0, 8.0, 9.0], ["b", "b", "b", dataset.NO_CONDITION, "a"])
    table = dataset.quartiles_by_condition(quantity)
    assert table.index.tolist() == ["a", "b", dataset.NO_CONDITION, dataset.ALL]
    assert table.loc["b"].tolist() == [3, 1.5, 2, 3]
    described = quantity.frame["value"].describe()
    assert table.loc[dataset.ALL].tolist() == described[["count", "25%", "50%", "75%"]].tolist()


# Retries and errors


@pytest.mark.parametrize(
    ("cell", "retries"), [(1.0, 4), (True, 4), ("yes", 4), (0.0, 0), (" No ", 0), ("FALSE", 0)]
)
def test_a_retry_is_a_cell_that_says_so(parsed, cell, retries):
    study = parsed(messages={"Retry": [None, cell, None, None] * 4})
    rows = dataset.disturbance_shares(study, bootstrap_of(study))
    assert rows["estimate"].tolist() == [retries / 4, 0]


# Participants


def people_of(parsed, columns, people=12):
    return dataset.characteristics(
        parsed(
            conversations=people + 1,
            participants={"PID": [f"P{n + 1}" for n in range(people)]} | columns,
        )
    )


def test_numbers_are_summed_up_and_few_texts_counted(parsed):
    ages = [20.0, 30.0, 40.0, 50.0] * 3
    summary = people_of(parsed, {"Age": ages, "Gender": ["f", "m", "f", None] * 3})
    assert summary.numbers.columns[0] == summary.others.columns[0] == "n"
    assert summary.numbers.loc["Age"].tolist() == [
        12,
        20,
        *np.quantile(ages, [0.25, 0.5, 0.75]),
        50,
    ]
    assert summary.groups.index.tolist() == ["Gender: f", "Gender: m"]
    assert summary.groups["participants"].tolist() == [6, 3]
    assert summary.groups["share of answers (%)"].tolist() == pytest.approx([200 / 3, 100 / 3])
    assert summary.others.empty
    assert summary.reason == ""


@pytest.mark.parametrize(
    ("column", "answers"),
    [
        ("Name", [f"Robin {n}" for n in range(12)]),
        (
            "Town",
            ["here", "there", "elsewhere", "nowhere", "up", "down"] * 2,
        ),  # two a text: few, yet too many
        ("worker_id", [float(7 * n * n + 3) for n in range(12)]),
        ("Phone", [float(1_234_000 + 7 * n * n) for n in range(12)]),
    ],
)
def test_what_may_name_people_is_not_shown(parsed, column, answers):
    summary = people_of(parsed, {"Age": ..., "Gender": ..., column: answers})
    assert summary.others.loc[column].tolist() == [12, len(set(answers))]
    shown = summary.numbers.to_csv() + summary.groups.to_csv() + summary.others.to_csv()
    assert not any(
        str(answer).removesuffix(".0") in shown for answer in answers if len(str(answer)) > 4
    )


def test_counts_and_ground_truth_of_the_real_data_are_those_of_their_readme(ieval_workbook):
    study = read_workbook(ieval_workbook)
    counts = dataset.counts(study)["estimate"]
    expected = {
        "participants": 240,
        "conversations_released": 1920,
        "llm_conditions": 4,
        "dimensions": 5,
        "levels": 5,
    }
    assert counts[list(expected)].to_dict() == expected
    truth = ground_truth(study.turns, study.conversations["conversation"])
    found = dataset.ground_truth_mean(study, bootstrap_of(study))["estimate"]
    assert (round(found, 3), round(truth.std(), 3)) == (3.133, 1.106)
