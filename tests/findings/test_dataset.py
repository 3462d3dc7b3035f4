"""What a data set holds: counts by hand, examples by their rule, people's choices, and the authors' ground truth."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers import naming
from helpers.studies import bootstrap_of, parse_sheets
from sense7.checkout import data_file
from sense7.findings import dataset, examples, ratings
from sense7.findings.ground_truth import (
    ground_truth,
    labels,
)
from sense7.loading import load
from sense7.taxonomy import DIMENSION_NAMES
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
    table = dataset.levels_by_condition(
        parsed(tasks={"PreTaskImportance": [1.0, 5.0, 5.0, None]}), "importance"
    )
    assert table.columns.tolist() == [1, 2, 3, 4, 5, "not answered"]
    assert table.loc["plain"].tolist() == [1, 0, 0, 0, 1, 0]
    assert table.loc["plain-empathy"].tolist() == [0, 0, 0, 0, 1, 1]
    assert table.loc[dataset.ALL].sum() == 4
    assert dataset.levels_by_condition(parsed(), "desired_empathy").columns.tolist() == [
        1,
        2,
        3,
        "not answered",
    ]
    assert dataset.levels_by_condition(parsed(tasks={"PreTaskImportance": ...}), "importance").empty


# Retries and errors


@pytest.mark.parametrize(
    ("cell", "retries"),
    [
        (1.0, 4),
        (True, 4),
        ("yes", 4),
        ("2", 4),
        (0.0, 0),
        ("0", 0),
        (False, 0),
        (" No ", 0),
        ("FALSE", 0),
    ],
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
    assert not any(
        str(answer).removesuffix(".0") in shown for answer in answers if len(str(answer)) > 4
    )


def test_of_all_turns_those_not_put_to_rating_count_as_not_rated(minimal_sheets):
    answers = [None, "good", None, "unknown", None, None, None, "poor"] * 2
    study = parse_sheets(
        minimal_sheets(messages=dict.fromkeys(("EmpathyOverall", *DIMENSION_NAMES), answers))
    )
    bootstrap = bootstrap_of(study)
    assert (len(study.turns), len(study.turns_put_to_rating)) == (8, 6)
    put = ratings.applicability(study, bootstrap).loc["Relational"]
    every = ratings.applicability_of_all_turns(study, bootstrap).loc["Relational"]
    assert (put["estimate"], put["n"]) == (4 / 6, 6)
    assert (every["estimate"], every["n"]) == (4 / 8, 8)
    counts = ratings.level_counts(study).loc["Relational"]
    assert counts.to_dict() == {1: 0, 2: 2, 3: 0, 4: 2, 5: 0, "not rated": 2, "absent": 2}


def test_counts_and_ground_truth_of_the_real_data_are_those_of_their_readme(workbooks):
    study = read_workbook(workbooks["ieval"])
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


# Examples


@pytest.fixture(scope="module")
def study():
    return read_workbook(data_file("synthetic.xlsx"))


@pytest.fixture(scope="module")
def chosen(study):
    return examples.rated_examples(study)


def by_loop(study):
    """The rule, row by row."""
    texts = {}
    for conversation, messages in study.messages.groupby("conversation"):
        user = None
        for message in messages.sort_values("position").itertuples():
            if message.role == "user":
                user = message.content
            texts[conversation, message.position] = (user, message.content)
    taken, shown, expected = set(), set(), {}
    for name in DIMENSION_NAMES:
        for end, levels in (("high", {5}), ("low", {1, 2})):
            rows = []
            for turn in study.turns.itertuples():
                user, text = texts[turn.conversation, turn.position]
                if user and text and getattr(turn, name) in levels:
                    rows.append((turn, text))
            middle = np.median([len(text) for _, text in rows])
            free = [row for row in rows if row[0].participant not in taken and row[1] not in shown]
            turn, text = min(free, key=lambda row: abs(len(row[1]) - middle))
            taken.add(turn.participant)
            shown.add(text)
            expected[name, end] = (turn.conversation, turn.turn)
    return expected


def test_the_examples_are_those_of_the_rule(study, chosen):
    expected = {
        (row.dimension, row.end): (row.conversation, row.turn) for row in chosen.itertuples()
    }
    assert expected == by_loop(study)
    assert examples.dimensions_with_examples(chosen)["estimate"].tolist() == [7]


def test_a_dimension_never_asked_says_so(minimal_sheets):
    study = parse_sheets(minimal_sheets(messages={"Relational": ...}))
    shown = examples.dimensions_shown(examples.rated_examples(study), "Relational")
    (reason,) = set(shown["assistant's turn"])
    naming.check(reason, "never asked")
    assert set(shown["rating"]) == {"none"}


def test_long_texts_are_cut_at_a_word_with_a_mark(chosen, monkeypatch):
    monkeypatch.setattr(examples, "CUT", 40)
    shown = examples.dimensions_shown(chosen, "Affective")
    text = shown.loc["high", "assistant's turn"]
    whole = chosen.loc[
        (chosen["dimension"] == "Affective") & (chosen["end"] == "high"), "assistant"
    ].item()
    assert text.endswith(examples.CUT_MARK)
    head = text.removesuffix(examples.CUT_MARK)
    assert len(head) <= 40
    assert " ".join(whole.split()).startswith(head + " ")


SEVEN = list(DIMENSION_NAMES)


def as_the_authors_do(turns: pd.DataFrame, conversations: list[str]) -> list[float]:
    """Loops over conversations, turns and dimensions."""
    truths = []
    for conversation in conversations:
        means = []
        for _, row in turns[turns["conversation"] == conversation].iterrows():
            rated = [row[name] for name in DIMENSION_NAMES if not np.isnan(row[name])]
            if rated:
                means.append(np.mean(rated))
        truths.append(np.mean(means) if means else np.nan)
    return truths


def turns_of(conversations: list[list[list[float]]]) -> pd.DataFrame:
    rows = [
        [f"C{number}", *(np.nan if level is None else float(level) for level in turn)]
        for number, turns in enumerate(conversations)
        for turn in turns
    ]
    return pd.DataFrame(rows, columns=["conversation", *DIMENSION_NAMES]).astype(
        dict.fromkeys(DIMENSION_NAMES, float)
    )


turn_strategy = st.lists(st.one_of(st.none(), st.integers(1, 5)), min_size=7, max_size=7)
# Up to 150 turns: numpy sums in blocks of 8 and of 128, and the vectorised sum has to follow.
study_strategy = st.lists(
    st.one_of(
        st.lists(turn_strategy, max_size=12), st.lists(turn_strategy, min_size=120, max_size=150)
    ),
    min_size=1,
    max_size=6,
)


@settings(max_examples=15, deadline=None)
@given(study_strategy, st.randoms())
def test_equals_the_loops_to_the_last_bit_in_any_order_of_conversations(study, random):
    turns = turns_of(study)
    names = [f"C{number}" for number in range(len(study))]
    random.shuffle(names)
    truth = ground_truth(turns, pd.Series(names, dtype=object))
    np.testing.assert_array_equal(truth.to_numpy(), as_the_authors_do(turns, names))


@pytest.mark.parametrize(
    ("score", "label"),
    [(1.5, 2), (2.5, 2), (3.5, 4), (4.5, 4), (4.500000000000001, 5), (5.9, 5), (0.2, 1), (7.5, 5)],
)
def test_labels_round_half_to_even_and_clip(score, label):
    assert labels([score])[0] == label


def test_the_steps_of_the_flow_add_up_with_what_was_left_out():
    study = load("synthetic")
    steps = dataset.flow(study)
    left_out = (
        steps["note"]
        .str.findall(r"[\d,]+")
        .map(lambda numbers: sum(int(number.replace(",", "")) for number in numbers))
    )
    participants, conversations, turns, shown, ratings, rated = steps["n"]
    assert (participants, conversations) == (109, len(study.conversations))
    assert shown + left_out.iloc[3] == turns == len(study.turns)
    assert ratings + left_out.iloc[4] == shown * len(study.asked)
    assert rated + left_out.iloc[5] == conversations


def test_the_conversation_of_the_picture_is_short_complete_and_moves_most():
    study = load("synthetic")
    talk = examples.short_conversation(study)
    answers = talk[talk["text"].str.startswith("assistant: ")]
    assert 0 < len(answers) <= examples.MOST_TURNS
    assert (answers["note"] != "").all()
    assert talk["text"].iloc[0].startswith("user: ")
    overall = study.turns.groupby("conversation")["overall"].agg(["min", "max", "size"])
    short = overall[overall["size"] <= examples.MOST_TURNS]
    rated = answers["note"].str.extract(r"overall (\d)")[0].astype(float)
    assert np.ptp(rated) == (short["max"] - short["min"]).max()
