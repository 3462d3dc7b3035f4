"""Examples of rated turns: the rule, compared with a plain loop, and where there is none."""

import numpy as np
import pytest

from sense7.checkout import data_file
from sense7.findings import examples
from sense7.taxonomy import DIMENSION_NAMES
from sense7.workbook import parse_sheets, read_workbook


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
    expected = {(row.dimension, row.end): (row.conversation, row.turn) for row in chosen.itertuples()}
    assert expected == by_loop(study)


def test_every_example_has_a_level_of_its_end(chosen):
    assert set(chosen.loc[chosen["end"] == "high", "level"]) == {5}
    assert set(chosen.loc[chosen["end"] == "low", "level"]) <= {1, 2}
    counts = examples.dimensions_with_examples(chosen)
    assert counts["estimate"].tolist() == [7]


def test_a_dimension_never_asked_says_so(minimal_sheets):
    study = parse_sheets(minimal_sheets(messages={"Relational": ...}))
    shown = examples.dimensions_shown(examples.rated_examples(study), "Relational")
    assert set(shown["assistant's turn"]) == {"this dimension was never asked in this data set"}
    assert set(shown["rating"]) == {"none"}


def test_an_end_without_a_turn_says_so(minimal_sheets):
    chosen = examples.rated_examples(parse_sheets(minimal_sheets()))
    low = chosen[chosen["end"] == "low"]
    assert set(low["reason"]) == {"no turn with texts was rated very poor or poor"}
    counts = examples.dimensions_with_examples(chosen)
    assert counts.loc["both", "estimate"] == 0


def test_with_few_participants_the_later_dimensions_go_without(minimal_sheets):
    chosen = examples.rated_examples(parse_sheets(minimal_sheets()))
    high = chosen[chosen["end"] == "high"]
    assert (high["reason"] == "").sum() == 1  # there is but one text in it
    assert (
        high["reason"].iloc[-1] == "every participant, or every text, with a turn rated very good is an example already"
    )


def test_a_blank_text_of_the_user_is_not_replaced_by_an_earlier_one(minimal_sheets):
    texts = ["Hello.", "Good day.", None, "I see."] * 4
    chosen = examples.rated_examples(parse_sheets(minimal_sheets(messages={"Content": texts})))
    assert "I see." not in set(chosen["assistant"].dropna())


def test_long_texts_are_cut_at_a_word_with_a_mark(chosen):
    shown = examples.dimensions_shown(chosen, "Affective", length=40)
    text = shown.loc["high", "assistant's turn"]
    whole = chosen.loc[(chosen["dimension"] == "Affective") & (chosen["end"] == "high"), "assistant"].item()
    assert text.endswith(examples.CUT_MARK)
    head = text.removesuffix(examples.CUT_MARK)
    assert len(head) <= 40
    assert " ".join(whole.split()).startswith(head + " ")


def test_a_dimension_shows_both_ends_or_says_why_not(chosen):
    affective = chosen[chosen["dimension"] == "Affective"].set_index("end")
    high = affective.loc["high"]
    shown = examples.dimensions_shown(chosen, "Affective", length=10_000)
    assert (shown.index.name, list(shown.index)) == ("rated", list(affective.index))
    assert shown.loc["high"].to_dict() == {
        "rating": "very good",
        "user, before": " ".join(high["user"].split()),
        "assistant's turn": " ".join(high["assistant"].split()),
        "conversation in full": high["conversation"],
    }
    none = examples.dimensions_shown(chosen.assign(reason="why not"), "Affective").loc["low"]
    assert none.tolist() == ["none", "", "why not", ""]
