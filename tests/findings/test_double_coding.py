"""Double coding: a sheet that gives nothing away, kappa against another implementation, and sheets that are refused."""

import base64
import io

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import cohen_kappa_score

import sense7 as s7
from helpers.studies import bootstrap_of
from sense7.estimators.bootstrap import ParticipantBootstrap
from sense7.figures import Download
from sense7.figures.style import csv_text
from sense7.findings.words import double_coding
from sense7.findings.words.double_coding import CODEBOOK, IDENTIFIER
from sense7.findings.words.terms import commented_turns
from sense7.workbook import parse_sheets

CODES = list(CODEBOOK)


@pytest.fixture(scope="module")
def study():
    return s7.load("synthetic")


def coded(study, seed, shift=0.0, order=0):
    """A sheet in an order of its own, coded by chance: the second coder agrees with the first where shift is small."""
    sheet = double_coding.coding_sheet(study, order).set_index(IDENTIFIER).sort_index()
    answers = np.random.default_rng(seed).random((len(sheet), len(CODES))) < 0.3
    other = np.random.default_rng(seed + 1).random(answers.shape) < shift
    answers = np.where(other, ~answers, answers)
    answers[~answers.any(axis=1), -1] = True  # none of these
    sheet[CODES] = np.where(answers, "1", "")
    return sheet.reset_index().sample(frac=1, random_state=order)


def test_the_sheet_holds_every_comment_once_and_nothing_else(study):
    sheet = double_coding.coding_sheet(study, 3)
    assert list(sheet.columns) == [IDENTIFIER, "comment", *CODES]
    assert sheet[IDENTIFIER].is_unique
    written = commented_turns(study)["comment"].dropna()
    assert sorted(sheet["comment"]) == sorted(" ".join(text.split()) for text in written)
    assert (sheet[CODES] == "").all(axis=None)
    text = csv_text(sheet)
    for hidden in (*study.conversations["participant"], *study.conversations["conversation"], *study.conditions):
        assert hidden not in text


def test_the_order_is_shuffled_and_names_stay(study):
    first, second = (double_coding.coding_sheet(study, seed) for seed in (1, 2))
    written = commented_turns(study)["comment"].dropna()
    assert first["comment"].tolist() != second["comment"].tolist() != written.tolist()
    pd.testing.assert_frame_equal(first, double_coding.coding_sheet(study, 1))
    columns = [IDENTIFIER, "comment"]
    pd.testing.assert_frame_equal(
        *(sheet[columns].sort_values(IDENTIFIER).reset_index(drop=True) for sheet in (first, second))
    )


def test_the_downloaded_sheet_is_read_back(study):
    sheet = double_coding.coding_sheet(study, 1)
    shown = Download(sheet, "comments", "Sheet")
    encoded = shown._repr_html_().split("base64,")[1].split('"')[0]
    back = pd.read_csv(io.BytesIO(base64.b64decode(encoded)))
    assert list(back.columns) == list(sheet.columns)
    assert back[IDENTIFIER].tolist() == sheet[IDENTIFIER].tolist()
    assert f"{len(sheet)} rows" in repr(shown)
    back[CODES] = back[CODES].astype(object)
    back["none of these"] = 1
    table = double_coding.coder_agreement(study, back, back, bootstrap_of(study, 20))
    assert (table["n"] == len(sheet)).all()


def test_kappa_is_that_of_sklearn_for_every_code(study):
    first, second = coded(study, 5, order=1), coded(study, 5, 0.15, order=2)
    table = double_coding.coder_agreement(study, first, second, bootstrap_of(study))
    assert list(table.index) == CODES
    both = first.set_index(IDENTIFIER).join(second.set_index(IDENTIFIER).add_suffix(" 2"))
    for code in CODES:
        expected = cohen_kappa_score(both[code] == "1", both[f"{code} 2"] == "1")
        assert table.loc[code, "estimate"] == pytest.approx(expected, abs=1e-12)
        assert table.loc[code, "low"] < expected < table.loc[code, "high"]
        assert f"used {(both[code] == '1').sum()} times" in table.loc[code, "method"]
    same = double_coding.coder_agreement(study, first, first, bootstrap_of(study))
    assert (same["estimate"] == 1).all()


def test_a_resampled_kappa_is_that_of_the_comments_copied_out(study):
    first, second = coded(study, 7), coded(study, 7, 0.2)
    bootstrap = ParticipantBootstrap(study.conversations["participant"], draws=2, seed=5, confidence=1 - 1e-12)
    row = double_coding.coder_agreement(study, first, second, bootstrap).loc["generic"]
    comments = double_coding._named_comments(study).set_index(IDENTIFIER)
    pair = pd.DataFrame(
        {name: sheet.set_index(IDENTIFIER)["generic"] == "1" for name, sheet in (("a", first), ("b", second))}
    ).join(comments["participant"])
    copied = []
    for weights in bootstrap.weights():
        times = pair["participant"].map(dict(zip(bootstrap.names, weights.astype(int), strict=True))).fillna(0)
        drawn = pair.loc[pair.index.repeat(times.astype(int))]
        copied.append(cohen_kappa_score(drawn["a"], drawn["b"]))
    assert row[["low", "high"]].tolist() == pytest.approx(sorted(copied), abs=1e-9)


@pytest.mark.parametrize(
    ("table", "kappa"),
    [([[10, 0], [0, 5]], 1.0), ([[5, 5], [5, 5]], 0.0), ([[0, 5], [5, 0]], -1.0), ([[7, 0], [0, 0]], np.nan)],
)
def test_kappa_by_hand(table, kappa):
    assert double_coding.cohens_kappa(np.array(table)) == pytest.approx(kappa, nan_ok=True)


def test_comments_that_one_coder_left_blank_do_not_count(study):
    first, second = coded(study, 5), coded(study, 5)
    first.loc[first.index[:7], CODES] = ""
    table = double_coding.coder_agreement(study, first, second.iloc[:-3], bootstrap_of(study, 20))
    left = set(first[IDENTIFIER].iloc[7:]) & set(second[IDENTIFIER].iloc[:-3])
    assert (table["n"] == len(left)).all()


def test_a_code_that_nobody_used_has_no_kappa(study):
    first, second = coded(study, 5), coded(study, 5, 0.1)
    for sheet in (first, second):
        sheet["generic"] = ""
    row = double_coding.coder_agreement(study, first, second, bootstrap_of(study, 20)).loc["generic"]
    assert np.isnan(row["estimate"])
    assert row["reason"] == "neither coder, or both of them always, used this code"


def test_answers_may_be_written_in_several_ways(study):
    first = coded(study, 5)
    second = first.copy()
    ways = {"1": ["1", "x", " YES ", 1, 1.0, True], "": ["", "0", "no", 0, np.nan, None, False]}
    for code in CODES:
        second[code] = pd.Series(
            [ways[cell][number % len(ways[cell])] for number, cell in enumerate(second[code])],
            index=second.index,
            dtype=object,
        )
    assert (double_coding.coder_agreement(study, first, second, bootstrap_of(study, 20))["estimate"] == 1).all()


def without_a_code(sheet):
    return sheet.drop(columns="generic")


def twice(sheet):
    return pd.concat([sheet, sheet.iloc[:1]])


def of_another_study(sheet):
    return sheet.assign(**{IDENTIFIER: ["strange", *sheet[IDENTIFIER].iloc[1:]]})


def with_another_answer(sheet):
    return sheet.assign(generic=["perhaps", *sheet["generic"].iloc[1:]])


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (without_a_code, "The second coder's sheet lacks the columns generic"),
        (twice, "twice"),
        (of_another_study, "has the comment strange, which is not in this study"),
        (with_another_answer, "has 'perhaps' under generic"),
    ],
)
def test_a_sheet_that_cannot_be_read_is_refused(study, change, said):
    sheet = coded(study, 5)
    with pytest.raises(s7.UserError, match=said):
        double_coding.coder_agreement(study, sheet, change(sheet), bootstrap_of(study, 20))


def test_without_comments_there_is_an_empty_sheet_and_a_reason(minimal_sheets):
    study = parse_sheets(minimal_sheets(messages={"Comment": None}))
    sheet = double_coding.coding_sheet(study)
    assert list(sheet.columns) == [IDENTIFIER, "comment", *CODES]
    assert sheet.empty
    table = double_coding.coder_agreement(study, sheet, sheet, bootstrap_of(study, 20))
    assert set(table["reason"]) == {"no turn has a comment in this data set"}
    assert "0 rows" in repr(Download(sheet, "comments", "Sheet"))
    assert Download(sheet, "comments", "Sheet")._repr_html_().count("<a ") == 1


def test_the_download_is_harmless_in_a_page_and_in_a_spreadsheet():
    frame = pd.DataFrame({"name": ["=1+1", "ok"], "text": ["<script>", "\u00e4"]})
    shown = Download(frame, 'a"><b', "<i>Take</i>")._repr_html_()
    assert "<script>" not in shown
    assert "<i>" not in shown
    assert 'download="a&quot;&gt;&lt;b.csv"' in shown
    table = base64.b64decode(shown.split("base64,")[1].split('"')[0]).decode("utf-8-sig")
    assert "'=1+1" in table
    assert "\u00e4" in table
