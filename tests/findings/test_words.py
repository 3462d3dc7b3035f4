"""Comments and words: counted by hand, the formula of the log-odds, sklearn's kappa, and sheets that are refused."""

import math

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import cohen_kappa_score

from helpers import naming
from helpers.studies import bootstrap_of
from sense7.csv_text import frame_as_csv
from sense7.findings import words
from sense7.study import Study
from sense7.taxonomy import DIMENSION_NAMES

CODES = list(words.CODEBOOK)


def study_of(rows):
    """Turns as (participant, level or None, comment or None), each a conversation of its own."""
    frame = pd.DataFrame(rows, columns=["participant", "overall", "comment"])
    frame["conversation"] = [f"C{number}" for number in range(len(frame))]
    frame = frame.assign(turn=1, position=2).astype({"overall": float})
    comments = frame[["conversation", "position", "comment"]].astype({"comment": object})
    comments["comment"] = comments["comment"].where(comments["comment"].notna(), None)
    turns = frame.drop(columns="comment").assign(**dict.fromkeys(DIMENSION_NAMES, np.nan))
    return Study(
        "made up", frame[["conversation", "participant"]], comments, turns, None, pd.DataFrame()
    )


def talk(people=6):
    """Poor turns are cold, good ones warm, to all but one each; P0 says sprocket, often, of poor ones."""
    said = [(1, "So cold."), (2, "cold answer"), (5, "A warm answer!"), (4, "warm"), (4, None)]
    rows = [(f"P{number}", level, text) for number in range(people) for level, text in said]
    rows += [("P0", 1, "sprocket sprocket sprocket")] * 4 + [
        ("P1", 3, "so-so"),
        ("P1", None, "gone"),
    ]
    return study_of([*rows, ("P1", 5, "cold"), ("P2", 1, "warm")])


def test_shares_are_counted_by_level():
    study = talk()
    shares = words.comment_shares(study, bootstrap_of(study))["estimate"]
    assert shares[["very poor", "good", "all rated turns"]].tolist() == pytest.approx(
        [1, 0.5, 31 / 37]
    )
    assert words.comment_counts(study)["estimate"].to_dict() == {
        "comments": 32,
        "commenting_participants": 6,
    }


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("I don\N{RIGHT SINGLE QUOTATION MARK}t LIKE it", ["dont", "like"]),
        ("caf\u00e9, na\u00efve_word 42 x2!", ["caf\u00e9", "na\u00efve", "word", "x"]),
        ("<b>$x^2$</b>", ["b", "x", "b"]),
        ("it was not good", ["not", "good"]),
        ("मुझे बहुत दुख है", ["मुझे", "बहुत", "दुख", "है"]),
        ("আমার মন খারাপ", ["আমার", "মন", "খারাপ"]),
        ("أَنَا حَزِينٌ", ["أَنَا", "حَزِينٌ"]),
        ("می\u200cروم", ["میروم"]),
        ("我今天很难过", ["我", "今", "天", "很", "难", "过"]),
        ("can\u00b4t, can`t, can\u2032t, can\u02bct", ["cant"] * 4),
        ("DIE STRASSE, die Straße; İYİ", ["die", "strasse", "die", "strasse", "iyi"]),
        ("오늘 슬퍼요", ["오늘", "슬퍼요"]),
        ("👍🏽 sad\u00adness 1\ufe0f\u20e3", ["sadness"]),
    ],
)
def test_a_text_is_cut_to_letters(text, terms):
    assert words.terms_of(text) == terms


def test_log_odds_and_z_are_those_of_the_formula_and_the_habit_of_one_person_marks_nothing():
    study = talk()
    table = words.distinctive_terms(study, bootstrap_of(study))
    # After stop words: poor 12 cold, 6 answer, 12 sprocket, 1 warm; good 12 warm, 6 answer, 1 cold; others 1 gone.
    poor, good, others = 12 + 6 + 12 + 1, 12 + 6 + 1, 1
    prior = good * 13 / (poor + good + others)
    first, second = 12 + prior, 1 + prior
    ratio = math.log(first / (poor + good - first)) - math.log(second / (good + good - second))
    assert table.loc["cold", ["estimate", "z"]].tolist() == pytest.approx(
        [ratio, ratio / math.sqrt(1 / first + 1 / second)], abs=1e-12
    )
    assert table.loc["cold", ["poor", "good", "participants"]].tolist() == [12, 1, 6]
    assert "sprocket" not in table.index
    assert (table.index[0], table.index[-1]) == ("cold", "warm")
    assert table.loc["cold", "low"] > 0 > table.loc["warm", "high"]
    assert words.leading_terms(table)["estimate"].tolist() == ["cold", "warm"]


def test_the_prior_is_500_words_where_both_kinds_have_more():
    said = [(1, "cold " * 150 + "answer " * 50), (5, "warm " * 150 + "answer " * 50)]
    study = study_of([(f"P{number}", level, text) for number in range(4) for level, text in said])
    table = words.distinctive_terms(study, bootstrap_of(study, 20))
    prior = 500 * 600 / 1600
    first, second = 600 + prior, 0 + prior
    ratio = math.log(first / (800 + 500 - first)) - math.log(second / (800 + 500 - second))
    assert table.loc["cold", "estimate"] == pytest.approx(ratio, abs=1e-12)


def test_a_term_of_one_kind_only_has_no_interval_and_one_that_hardly_stands_out_is_no_mark():
    rows = [
        (f"P{number}", level, text)
        for number in range(8)
        for level, text in ((1, "cold"), (5, "warm"))
    ]
    table = words.distinctive_terms(study_of(rows), bootstrap_of(study_of(rows)))
    assert table["low"].isna().all()
    (reason,) = set(table["reason"])
    naming.check(reason, "one kind")
    rows = [
        (f"P{number}", level, "even more words for both") for number in range(8) for level in (1, 5)
    ]
    study = study_of([*rows, *((f"P{number}", 1, "odd") for number in range(3))])
    table = words.distinctive_terms(study, bootstrap_of(study))
    assert table.loc["odd", "kind"] == "poor"
    assert words.leading_terms(table)["estimate"].isna().all()


# Double coding


def coded(study, seed, shift=0.0, order=0):
    """A sheet in an order of its own, coded by chance: the second coder agrees with the first where shift is small."""
    sheet = words.coding_sheet(study, order).set_index(words.IDENTIFIER).sort_index()
    answers = np.random.default_rng(seed).random((len(sheet), len(CODES))) < 0.3
    answers ^= np.random.default_rng(seed + 1).random(answers.shape) < shift
    answers[~answers.any(axis=1), -1] = True  # none of these
    sheet[CODES] = np.where(answers, "1", "")
    return sheet.reset_index().sample(frac=1, random_state=order)


def test_the_sheet_holds_every_comment_once_in_another_order_and_gives_nothing_away(synthetic):
    first, second = (words.coding_sheet(synthetic, seed) for seed in (1, 2))
    written = words.commented_turns(synthetic)["comment"].dropna()
    assert sorted(first["comment"]) == sorted(" ".join(text.split()) for text in written)
    assert first["comment"].tolist() != second["comment"].tolist() != written.tolist()
    assert set(zip(first[words.IDENTIFIER], first["comment"], strict=True)) == set(
        zip(second[words.IDENTIFIER], second["comment"], strict=True)
    )
    text = frame_as_csv(first)
    for hidden in (*synthetic.conversations["participant"], *synthetic.conditions):
        assert hidden not in text


def test_kappa_is_that_of_sklearn_for_every_code(synthetic):
    first, second = coded(synthetic, 5, order=1), coded(synthetic, 5, 0.15, order=2)
    table = words.coder_agreement(synthetic, first, second, bootstrap_of(synthetic))
    both = first.set_index(words.IDENTIFIER).join(
        second.set_index(words.IDENTIFIER).add_suffix(" 2")
    )
    expected = [cohen_kappa_score(both[code] == "1", both[f"{code} 2"] == "1") for code in CODES]
    assert table["estimate"].tolist() == pytest.approx(expected, abs=1e-12)
    assert table["method"].str.contains(f"used {(both[CODES[0]] == '1').sum()} times").iloc[0]


def test_answers_may_be_written_in_several_ways(synthetic):
    first = coded(synthetic, 5)
    ways = {"1": ["1", "x", " YES ", 1, 1.0, True], "": ["", "0", "no", 0, np.nan, None, False]}
    second = first.astype(object)
    for code in CODES:
        second[code] = [
            ways[cell][number % len(ways[cell])] for number, cell in enumerate(first[code])
        ]
    assert (
        words.coder_agreement(synthetic, first, second, bootstrap_of(synthetic, 20))["estimate"]
        == 1
    ).all()


def with_first(sheet, column, cell):
    """A coding sheet with another cell in its first row."""
    return sheet.assign(**{column: [cell, *sheet[column].iloc[1:]]})


@pytest.mark.parametrize(
    ("change", "place"),
    [
        (lambda sheet: sheet.drop(columns="generic"), "columns generic"),
        (lambda sheet: pd.concat([sheet, sheet.iloc[:1]]), "twice"),
        (lambda sheet: with_first(sheet, words.IDENTIFIER, "strange"), "comment strange"),
        (lambda sheet: with_first(sheet, "generic", "perhaps"), "'perhaps' under generic"),
    ],
)
def test_a_sheet_that_cannot_be_read_is_refused(synthetic, change, place):
    sheet = coded(synthetic, 5)
    with naming.refused("second coder", place):
        words.coder_agreement(synthetic, sheet, change(sheet), bootstrap_of(synthetic, 20))
