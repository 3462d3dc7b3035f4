"""Comments: counted by hand, words against arithmetic, one person's habit, and where there are none."""

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sense7 import tables
from sense7.estimators.bootstrap import ParticipantBootstrap
from sense7.findings.words import terms as terms_module
from sense7.record import Recorder, read_values
from sense7.study import Study
from sense7.tables import Sentence
from sense7.taxonomy import DIMENSION_NAMES
from sense7.workbook import parse_sheets, read_workbook


def study_of(rows):
    """Turns as (participant, level or None, comment or None), each a conversation of its own."""
    frame = pd.DataFrame(rows, columns=["participant", "overall", "comment"])
    frame["conversation"] = [f"C{number}" for number in range(len(frame))]
    frame = frame.assign(turn=1, position=2).astype({"overall": float})
    comments = frame[["conversation", "position", "comment"]].astype({"comment": object})
    comments["comment"] = comments["comment"].where(comments["comment"].notna(), None)
    turns = frame.drop(columns="comment").assign(**dict.fromkeys(DIMENSION_NAMES, np.nan))
    people = frame[["conversation", "participant"]]
    return Study("made up", people, comments, turns, None, pd.DataFrame())


def bootstrap_of(study, draws=200, seed=1):
    return ParticipantBootstrap(study.turns["participant"], draws=draws, seed=seed)


def talk(people=6):
    """Poor turns are cold, good ones warm, to all but one each; P0 says sprocket, often, of poor ones."""
    rows = []
    for number in range(people):
        who = f"P{number}"
        rows += [
            (who, 1, "So cold."),
            (who, 2, "cold answer"),
            (who, 5, "A warm answer!"),
            (who, 4, "warm"),
            (who, 4, None),
        ]
    rows += [("P0", 1, "sprocket sprocket sprocket")] * 4 + [("P1", 3, "so-so"), ("P1", None, "gone")]
    return study_of([*rows, ("P1", 5, "cold"), ("P2", 1, "warm")])


# How often


def test_shares_are_counted_by_level():
    study = talk()
    shares = terms_module.comment_shares(study, bootstrap_of(study))
    assert shares.loc["very poor", "estimate"] == 1
    assert shares.loc["good", "estimate"] == pytest.approx(0.5)
    assert shares.loc["all rated turns", "estimate"] == pytest.approx((4 * 6 + 7) / (5 * 6 + 7))
    assert shares.loc["all rated turns", "n"] == 37
    counts = terms_module.comment_counts(study)["estimate"]
    assert counts.to_dict() == {"comments": 32, "commenting_participants": 6}


def test_blank_comments_and_those_of_other_messages_do_not_count(minimal_sheets):
    study = parse_sheets(minimal_sheets(messages={"Comment": ["user's", "fine", None, "  "] * 4}))
    assert terms_module.commented_turns(study)["comment"].tolist() == ["fine", None] * 4


def test_a_rating_between_levels_is_kept_beside_its_level(minimal_sheets):
    study = parse_sheets(
        minimal_sheets(messages={"EmpathyOverall": None, "Interest": [None, "poor", None, "poor"] * 4})
    )
    frame = terms_module.commented_turns(study)
    dimensions = study.turns[study.rated_dimensions].mean(axis=1)
    assert frame["rating"].tolist() == dimensions.tolist()
    assert frame["level"].tolist() == np.floor(dimensions + 0.5).tolist()
    assert (frame["rating"] != frame["level"]).any()


# Words


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("I don\N{RIGHT SINGLE QUOTATION MARK}t LIKE it", ["dont", "like"]),
        ("caf\u00e9, na\u00efve_word 42 x2!", ["caf\u00e9", "na\u00efve", "word", "x"]),
        ("<b>$x^2$</b>", ["b", "x", "b"]),
        ("", []),
        ("it was not good", ["not", "good"]),
    ],
)
def test_a_text_is_cut_to_letters(text, terms):
    assert terms_module.terms_of(text) == terms


@settings(max_examples=50, deadline=None)
@given(st.text())
def test_terms_are_letters_in_lower_case(text):
    for term in terms_module.terms_of(text):
        assert term.isalpha()
        assert term not in terms_module.STOP_WORDS


def test_log_odds_and_z_are_those_of_the_formula():
    study = talk()
    table = terms_module.distinctive_terms(study, bootstrap_of(study))
    # After stop words: poor 12 cold, 6 answer, 12 sprocket, 1 warm; good 12 warm, 6 answer, 1 cold; others 1 gone.
    poor, good, others = 12 + 6 + 12 + 1, 12 + 6 + 1, 1
    prior = good * 13 / (poor + good + others)
    first, second = 12 + prior, 1 + prior
    ratio = math.log(first / (poor + good - first)) - math.log(second / (good + good - second))
    assert table.loc["cold", "estimate"] == pytest.approx(ratio, abs=1e-12)
    assert table.loc["cold", "z"] == pytest.approx(ratio / math.sqrt(1 / first + 1 / second), abs=1e-12)
    assert table.loc["cold", ["poor", "good", "participants"]].tolist() == [12, 1, 6]


def test_the_habit_of_one_person_marks_nothing():
    study = talk()
    table = terms_module.distinctive_terms(study, bootstrap_of(study))
    assert "sprocket" not in table.index
    assert table.index[0] == "cold"
    assert table.index[-1] == "warm"
    assert table.loc["cold", "low"] > 0 > table.loc["warm", "high"]
    assert set(table.loc[table["z"] > 0, "kind"]) == {"poor"}


def test_a_resampled_term_is_that_of_the_comments_copied_out(copies_of, resampled):
    rows = [("P0", 1, "cold cold"), ("P1", 2, "cold"), ("P2", 1, "cold stone"), ("P3", 2, "stone"), ("P4", 1, "stone")]
    rows += [(f"P{number}", 5, "warm cold day") for number in range(5)] + [("P1", 4, "day"), ("P3", 4, "warm")]
    rows += [("P0", 2, "warm day stone"), ("P4", 4, "stone")]
    study = study_of(rows)
    bootstrap, times = copies_of(bootstrap_of(study, seed=4))
    copied = [row for row in rows for _ in range(times[row[0]])]
    table = terms_module.distinctive_terms(study, bootstrap)
    size = sum(len(terms_module.terms_of(text)) for _, level, text in rows if level <= 2)
    every = [term for _, _, text in rows for term in terms_module.terms_of(text)]
    for term, value in zip(table.index, resampled(table), strict=True):
        poor = [one for _, level, text in copied if level <= 2 for one in terms_module.terms_of(text)]
        good = [one for _, level, text in copied if level >= 4 for one in terms_module.terms_of(text)]
        prior = size * every.count(term) / len(every)
        odds = [(part.count(term) + prior) / (len(part) + size - part.count(term) - prior) for part in (poor, good)]
        assert value == pytest.approx(math.log(odds[0] / odds[1]), abs=1e-10)


def test_a_term_of_one_kind_only_has_no_interval():
    rows = [(f"P{number}", level, text) for number in range(8) for level, text in ((1, "cold"), (5, "warm"))]
    study = study_of(rows)
    table = terms_module.distinctive_terms(study, bootstrap_of(study))
    assert table["low"].isna().all()
    assert table["reason"].str.startswith("no interval: used about turns of one kind only").all()


def test_a_term_that_hardly_stands_out_is_not_called_the_mark():
    rows = [(f"P{number}", level, "even more words for both") for number in range(8) for level in (1, 5)]
    study = study_of([*rows, *((f"P{number}", 1, "odd") for number in range(3))])
    table = terms_module.distinctive_terms(study, bootstrap_of(study))
    assert table.loc["odd", "kind"] == "poor"
    assert terms_module.leading_terms(table)["estimate"].isna().all()


def test_the_leading_terms_are_recorded_as_text(tmp_path):
    study = talk()
    record = Recorder("x", tmp_path)
    record.table(terms_module.leading_terms(terms_module.distinctive_terms(study, bootstrap_of(study))))
    values = read_values(tmp_path)
    assert values["term_of_poor_turns"]["estimate"] == "cold"
    assert values["term_of_good_turns"]["estimate"] == "warm"


# Quotations


def test_quotations_follow_their_rule():
    rows = [("P0", 1, "a" * 50), ("P0", 1, "b" * 11), ("P1", 1, "c" * 10), ("P2", 1, "c" * 10), ("P3", 2, "d" * 9)]
    rows += [("P4", 1, "e"), ("P1", 5, "warm"), ("P2", 3, "neither")]
    shown = terms_module.quotations(study_of(rows), count=3)
    assert shown["comment"].tolist() == ["b" * 11, "c" * 10, "d" * 9, "warm"]
    assert shown["turn"].tolist() == ["poor"] * 3 + ["good"]
    assert shown["level"].tolist() == ["very poor", "very poor", "poor", "very good"]


def test_of_equally_near_lengths_the_first_is_quoted_and_white_space_folded():
    frame = pd.DataFrame({"participant": list("abc"), "comment": ["x" * 9, "y  \n " + "y" * 3, "z" * 7]})
    # Lengths 9, 5 and 7 once folded.
    assert terms_module.typical_in_length(frame, 1)["comment"].tolist() == ["z" * 7]
    assert terms_module.typical_in_length(frame, 2)["comment"].tolist() == ["x" * 9, "z" * 7]
    assert terms_module.typical_in_length(frame, 3)["comment"].tolist() == ["x" * 9, "y yyy", "z" * 7]
    assert terms_module.typical_in_length(frame[:0], 3).empty


def test_a_comment_is_shown_as_text():
    shown = terms_module.quotations(study_of([("P0", 1, '<script>alert("x")</script> $a$')]))
    html = tables.plain(shown, "comments")._repr_html_()
    assert "<script>" not in html
    assert "&lt;script&gt;" in html


# Where there is nothing to compute


def check_nothing(study, tmp_path):
    bootstrap = ParticipantBootstrap(study.conversations["participant"], draws=100, seed=1)
    shares = terms_module.comment_shares(study, bootstrap)
    assert shares["estimate"].isna().all()
    assert set(shares["reason"]) == {terms_module.NO_COMMENTS}
    terms = terms_module.distinctive_terms(study, bootstrap)
    assert terms.empty
    assert isinstance(tables.plain(terms_module.quotations(study), "comments"), Sentence)
    assert terms_module.comment_counts(study)["estimate"].tolist() == [0, 0]
    record = Recorder("x", tmp_path)
    record.table(terms_module.leading_terms(terms))
    assert read_values(tmp_path)["term_of_poor_turns"]["estimate"] is None


@pytest.mark.parametrize("name", ["ieval", "lend_an_ear"])
def test_data_without_comments_say_so(workbooks, tmp_path, name):
    check_nothing(read_workbook(workbooks[name]), tmp_path)


def test_a_column_without_comments_says_so(minimal_sheets, tmp_path):
    check_nothing(parse_sheets(minimal_sheets(messages={"Comment": ...})), tmp_path)


@pytest.mark.parametrize("rows", [[("P0", 5, "warm")] * 5, [("P0", None, "warm")], [("P0", 1, "it was the")]])
def test_comments_of_one_kind_mark_nothing(rows):
    study = study_of(rows)
    assert terms_module.distinctive_terms(study, bootstrap_of(study)).empty
    assert len(terms_module.quotations(study)) <= 1
    assert terms_module.comment_shares(study, bootstrap_of(study))["low"].isna().all()
