"""Examples of turns and a conversation for a picture, by their rules."""

import numpy as np
import pytest

from helpers import naming
from helpers.studies import parse_sheets
from sense7.checkout import data_file
from sense7.findings import examples
from sense7.taxonomy import DIMENSION_NAMES
from sense7.workbook.sheets import read_workbook


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
