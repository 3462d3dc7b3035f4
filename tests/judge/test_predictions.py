"""Prediction files: the authors' layout, no text changed in silence, every file read for what it says."""

import re
import zipfile
from urllib.parse import unquote

import numpy as np
import openpyxl
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sense7.errors import UserError
from sense7.judge.files import (
    COLUMNS,
    FRAME_COLUMNS,
    READ_COLUMNS,
    UNSTATED,
    ScoreScale,
    counted_scores,
    prediction_path,
    read_predictions,
    write_predictions,
)
from sense7.judge.reply import FAILURES, STATUSES, read_reply
from sense7.workbook import Sheet, write_sheets

AUTHORS = ["CoT", "TaskId", "PID", "IS_EMPATHY", "Chat", "OnlyChat", "Prompt", "Output", "Processing Time", "Model"]


def run_of(length=3, **columns):
    """A run in which every reply is usable, but for what is given."""
    frame = pd.DataFrame(
        {
            "conversation": [f"C{number}" for number in range(length)],
            "participant": [f"P{number % 2}" for number in range(length)],
            "score": [float(1 + number % 5) for number in range(length)],
            "status": "ok",
            "ground_truth": [3.25] * length,
        }
    ).astype({"conversation": object, "participant": object, "status": object})
    for name, values in columns.items():
        frame[name] = pd.Series(values if isinstance(values, list) else [values] * length)
    return frame


def cells_of(path):
    """The sheet as another library sees it: column -> cells."""
    rows = list(openpyxl.load_workbook(path)["results"].iter_rows(values_only=True))
    return {title: [row[place] for row in rows[1:]] for place, title in enumerate(rows[0])}


def foreign(path, **columns):
    """A workbook of somebody else: columns by their titles, _ for blanks and hyphens as in the authors'."""
    titles = {"truth": "ground-truth"}
    rows = [list(row) for row in zip(*columns.values(), strict=True)]
    write_sheets([Sheet("results", [titles.get(name, name) for name in columns], rows)], path)
    return path


# Names of files


@pytest.mark.parametrize(
    ("model", "prompt", "name"),
    [
        ("gpt-4o", "empathy_judge", "gpt-4o-empathy_judge-iter1.xlsx"),
        ("openai/gpt-4o", "empathy", "openai%2Fgpt-4o-empathy-iter1.xlsx"),
        ("llama3.1:8b", "my-prompt", "llama3.1%3A8b-my%2Dprompt-iter1.xlsx"),
        ("..", "ü", "%2E.-%C3%BC-iter1.xlsx"),
    ],
)
def test_a_file_is_named_after_model_prompt_and_run(tmp_path, model, prompt, name):
    assert prediction_path(tmp_path, model, prompt, 1) == tmp_path / name


names = st.text(st.one_of(st.sampled_from("ab-%./~ :\\"), st.characters()), min_size=1, max_size=12)


@settings(max_examples=300, deadline=None)
@given(names, names, st.integers(1, 10**6))
def test_model_prompt_and_run_can_be_read_from_the_name(model, prompt, run):
    path = prediction_path("session", model, prompt, run)
    found = re.fullmatch(r"(.*)-([^-]*)-iter([0-9]+)", path.stem)
    assert path.parent.name == "session"
    if "~" not in path.stem:
        decoded = (unquote(part, errors="surrogatepass") for part in found.groups())
        assert tuple(decoded) == (model, prompt, str(run))
    assert re.fullmatch(r"[A-Za-z0-9._+=@%~-]+", path.name)
    assert len(path.name) <= 200


def test_long_names_that_differ_at_their_end_stay_different():
    paths = {prediction_path(".", "m" * 300 + end, "-" * 300 + end, 1) for end in ("", "a", "b")}
    assert len(paths) == 3
    assert max(len(path.name) for path in paths) <= 200


@pytest.mark.parametrize("arguments", [("m", "p", 0), ("", "p", 1), ("m", "", 1)])
def test_a_nameless_file_is_refused(arguments):
    with pytest.raises(ValueError, match="a run is counted from 1"):
        prediction_path(".", *arguments)


# Writing


def test_the_authors_columns_come_first_in_their_order(tmp_path):
    path = prediction_path(tmp_path, "model", "prompt", 2)
    frame = run_of(reasoning="why", chat="[]", prompt="asked", output="said", seconds=1.5, model="model", run=2)
    assert write_predictions(path, frame) == []
    cells = cells_of(path)
    assert list(cells) == list(COLUMNS)
    assert list(cells)[:11] == [*AUTHORS, "ground-truth"]
    assert cells["TaskId"] == ["C0", "C1", "C2"]
    assert cells["IS_EMPATHY"] == [1, 2, 3]
    assert cells["Chat"] == cells["OnlyChat"] == ["[]"] * 3
    assert [cells[title][0] for title in ("CoT", "Prompt", "Output", "Processing Time", "Model")] == [
        *("why", "asked", "said", 1.5, "model")
    ]
    assert cells["policy"] == ["strict"] * 3
    assert cells["run"] == [2, 2, 2]


@pytest.mark.parametrize(("policy", "shown"), [("strict", None), ("authors", 3)])
def test_the_policy_says_what_an_unusable_reply_counts_and_the_status_remains(tmp_path, policy, shown):
    failures = list(FAILURES)
    frame = run_of(len(failures), status=failures, score=np.nan, reason="because")
    path = tmp_path / "a-b-iter1.xlsx"
    write_predictions(path, frame, policy=policy)
    assert cells_of(path)["IS_EMPATHY"] == [shown] * len(failures)
    read = read_predictions(path).frame
    assert read["score"].isna().all()
    assert read["status"].tolist() == failures
    assert read["reason"].tolist() == ["because"] * len(failures)


def test_a_score_beside_a_failure_is_not_written(tmp_path):
    write_predictions(tmp_path / "a.xlsx", run_of(1, status="truncated", score=4.0))
    assert cells_of(tmp_path / "a.xlsx")["IS_EMPATHY"] == [None]


cell_texts = st.text(
    st.one_of(st.characters(exclude_categories=["Cs"]), st.sampled_from("_x0DA=<r>/\r\n\t\x00\x1f")), max_size=30
).filter(lambda text: text and "\ufffe" not in text and "\uffff" not in text)
numbers = st.floats(1, 5)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.tuples(cell_texts, cell_texts, numbers, numbers), min_size=1, max_size=4))
def test_texts_and_numbers_come_back_as_they_were(tmp_path, rows):
    texts, others, scores, truths = zip(*rows, strict=True)
    frame = run_of(len(rows), score=list(scores), ground_truth=list(truths), output=list(texts), prompt=list(others))
    assert write_predictions(tmp_path / "a.xlsx", frame) == []
    read = read_predictions(tmp_path / "a.xlsx").frame
    assert read["output"].tolist() == list(texts)
    assert read["prompt"].tolist() == list(others)
    assert read["score"].tolist() == list(scores)
    assert read["ground_truth"].tolist() == list(truths)


@pytest.mark.parametrize(
    "text", ["=1+1", "_x000D_", "a\r\nb", "<r>x</r>", "http://a.b", "007", "nan", "\x00\x1b", " a "]
)
def test_texts_stay_texts(tmp_path, text):
    write_predictions(tmp_path / "a.xlsx", run_of(1, output=text, reasoning=text))
    read = read_predictions(tmp_path / "a.xlsx").frame.loc[0]
    assert (read["output"], read["reasoning"]) == (text, text)


def test_everything_in_the_frame_comes_back(tmp_path):
    frame = run_of(
        2,
        **{name: f"some {name}" for name in ("reasoning", "chat", "prompt", "output", "reason", "model")},
        **{name: f"a {name}" for name in ("prompt_sha256", "returned_model", "system_fingerprint", "finish_reason")},
        **{"seconds": 0.125, "run": 3.0, "input_tokens": 1200.0, "output_tokens": 40.0, "altered": ""},
    )[list(FRAME_COLUMNS)]
    write_predictions(tmp_path / "a.xlsx", frame)
    read = read_predictions(tmp_path / "a.xlsx")
    pd.testing.assert_frame_equal(read.frame[list(FRAME_COLUMNS)], frame, check_dtype=False)
    assert list(read.frame) == [*FRAME_COLUMNS, *READ_COLUMNS]
    assert read.absent == frozenset()
    assert read.notes == []


@pytest.mark.parametrize("character", ["a", "🙂", "a🙂"])
def test_a_text_beyond_the_limit_of_a_cell_is_cut_with_a_mark_and_said(tmp_path, character):
    text = character * 40_000
    length = len(text.encode("utf-16-le")) // 2
    said = write_predictions(tmp_path / "a.xlsx", run_of(3, prompt=["short", text, text]))
    assert said == ["a.xlsx: column Prompt: cut at the limit of a cell; rows: 2"]
    read = read_predictions(tmp_path / "a.xlsx").frame
    kept, mark = read["prompt"][1][:-100], read["prompt"][1][-100:]
    assert text.startswith(kept)
    assert mark.endswith(f" [.. cut: {length:,} characters in all]")
    assert 32_766 <= len(read["prompt"][1].encode("utf-16-le")) // 2 <= 32_767
    assert read["altered"].tolist() == ["", *[f"Prompt: cut at the limit of a cell, {length:,} characters in all"] * 2]


def test_a_text_of_just_the_limit_is_whole(tmp_path):
    assert write_predictions(tmp_path / "a.xlsx", run_of(1, prompt="a" * 32_767)) == []
    assert read_predictions(tmp_path / "a.xlsx").frame["prompt"][0] == "a" * 32_767


def test_characters_that_no_cell_can_hold_are_replaced_and_said(tmp_path):
    output = pd.Series(["half \ud83d of \uffff", "fine"], dtype=object)  # as other texts, pyarrow could not hold it
    said = write_predictions(tmp_path / "a.xlsx", run_of(2).assign(output=output))
    assert said == ["a.xlsx: column Output: replaced characters that no cell can hold; rows: 1"]
    read = read_predictions(tmp_path / "a.xlsx").frame
    assert read["output"].tolist() == ["half \ufffd of \ufffd", "fine"]
    assert read["altered"][0] == "Output: replaced characters that no cell can hold (2)"


def test_what_was_said_of_a_row_stays_when_it_is_written_again(tmp_path):
    write_predictions(tmp_path / "a.xlsx", run_of(1, output="\uffff"))
    write_predictions(tmp_path / "b.xlsx", read_predictions(tmp_path / "a.xlsx").frame)
    assert read_predictions(tmp_path / "b.xlsx").frame["altered"][0].startswith("Output: replaced")


def test_an_id_is_never_altered(tmp_path):
    with pytest.raises(UserError, match="cell B2: a text of 40,000 characters"):
        write_predictions(tmp_path / "a.xlsx", run_of(1, conversation="C" * 40_000))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("place", ["my_results/a.xlsx", "results/deep/a.xlsx", "session/results-model-iter1.xlsx"])
def test_a_path_that_the_authors_would_pass_over_is_refused(tmp_path, place):
    with pytest.raises(UserError, match="the path holds the word results"):
        write_predictions(tmp_path / place, run_of())
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_can_not_be_written_says_so(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(UserError, match="can't be written"):
        write_predictions(tmp_path / "file" / "a.xlsx", run_of())


@pytest.mark.parametrize(
    ("frame", "message"),
    [
        (run_of().drop(columns="status"), r"lack the columns \['status'\]"),
        (run_of(verdict="good"), r"unknown ones \['verdict'\]"),
        (run_of(status="fine"), r"unknown statuses: \['fine'\]"),
        (run_of(score=[1.0, np.nan, 2.0]), "is ok and has no score"),
        (run_of(score=[1.0, 85.0, 2.0]), "scores are from 1 to 5; these run from 1 to 85"),
        (run_of(conversation="C1"), "blank or there twice"),
        (run_of(conversation=["C1", None, "C2"]), "blank or there twice"),
    ],
)
def test_a_frame_that_is_no_run_is_refused(tmp_path, frame, message):
    with pytest.raises(ValueError, match=message):
        write_predictions(tmp_path / "a.xlsx", frame)
    assert list(tmp_path.iterdir()) == []


def test_equal_runs_are_equal_files(tmp_path):
    for name in ("a", "b"):
        write_predictions(tmp_path / f"{name}.xlsx", run_of())
    assert (tmp_path / "a.xlsx").read_bytes() == (tmp_path / "b.xlsx").read_bytes()


def test_a_run_without_rows_is_a_file_without_rows(tmp_path):
    write_predictions(tmp_path / "a.xlsx", run_of(0))
    assert read_predictions(tmp_path / "a.xlsx").frame.empty


# Both readings of a reply


SAID = [
    ("<S2>4</S2>", 4, 4),
    ("<S2>10</S2>", None, 1),
    ("<think><S2>1</S2></think><S2>5</S2>", 5, 1),
    ("<S2>3-4</S2>", None, 3),
    ("<S2>5.9</S2>", None, 5.9),
    ("I can't rate this.", None, 3),
    (None, None, 3),
]


def answered(tmp_path, policy):
    """A file as `judge run` writes it, of the replies above."""
    replies = [read_reply(text) for text, _, _ in SAID]
    frame = run_of(len(SAID)).assign(
        **{name: [getattr(reply, name) for reply in replies] for name in ("score", "status", "reason", *READ_COLUMNS)},
        output=[text for text, _, _ in SAID],
    )
    path = tmp_path / f"{policy}.xlsx"
    write_predictions(path, frame.astype({"score": float}), policy=policy)
    return path


def without(path, *columns):
    """The same file as others write it: some of its columns are not there."""
    other = path.with_suffix(".csv")
    pd.read_excel(path, engine="openpyxl").drop(columns=list(columns)).to_csv(other, index=False)
    return other


@pytest.mark.parametrize("policy", ["strict", "authors"])
def test_a_file_counts_under_either_policy_as_if_it_were_written_under_that(tmp_path, policy):
    strict, authors = ([row[place] for row in SAID] for place in (1, 2))
    path = answered(tmp_path, policy)
    assert cells_of(path)["IS_EMPATHY"] == (strict if policy == "strict" else authors)
    frame = read_predictions(path).frame
    np.testing.assert_array_equal(counted_scores(frame), np.array(strict, dtype=float))
    np.testing.assert_array_equal(counted_scores(frame, "authors"), authors)
    assert frame["doubtful"].tolist() == [False, True, True, True, True, False, False]
    assert frame["reason"][1] == "not one number from 1 to 5 inside <S2>: '10'; the authors' rule reads 1"


def test_a_file_of_the_authors_is_read_strictly_from_its_replies(tmp_path):
    path = answered(tmp_path, "authors")
    read = read_predictions(without(path, "status", "reason", "policy"))
    np.testing.assert_array_equal(counted_scores(read.frame, "authors"), [row[2] for row in SAID])
    np.testing.assert_array_equal(counted_scores(read.frame), np.array([row[1] for row in SAID], dtype=float))
    assert read.notes == [
        "IS_EMPATHY: 2 rows with the default 3 of an unusable reply, as the column Output shows",
        "IS_EMPATHY: 3 rows with a number of an unusable reply, as the column Output shows; "
        "it counts under the policy authors alone",
    ]


def test_a_file_from_before_the_strict_rule_is_read_by_it(tmp_path):
    outputs = ["<S2>10</S2>", "<S2>none</S2><S2>2</S2>", "<think><S2></S2></think><S2>5</S2>", "<S2>4</S2>"]
    path = foreign(
        tmp_path / "a.xlsx",
        IS_EMPATHY=[1.0, None, None, 4.0],
        truth=[3.0] * 4,
        status=["ok", "parse_failure", "parse_failure", "ok"],
        Output=outputs,
    )
    frame = read_predictions(path).frame
    assert frame["status"].tolist() == ["parse_failure", "parse_failure", "ok", "ok"]
    np.testing.assert_array_equal(counted_scores(frame), [np.nan, np.nan, 5, 4])
    np.testing.assert_array_equal(counted_scores(frame, "authors"), [1, 3, 3, 4])


@pytest.mark.parametrize("policy", ["strict", "authors"])
def test_where_the_reply_is_cut_the_file_counts_by_its_own_policy(tmp_path, policy):
    long = "<think>" + "a" * 40_000 + "<S2>1</S2>"
    frame = run_of(1, status="truncated", score=np.nan, output=long).assign(authors_score=1.0)
    write_predictions(tmp_path / "a.xlsx", frame, policy=policy)
    read = read_predictions(tmp_path / "a.xlsx").frame
    assert np.isnan(counted_scores(read)).all()
    assert counted_scores(read, "authors").tolist() == [1.0 if policy == "authors" else 3.0]


def test_what_a_refusal_says_counts_to_the_authors(tmp_path):
    path = foreign(tmp_path / "a.xlsx", IS_EMPATHY=[None], truth=[3.0], status=["refusal"], Output=["<S2>4</S2> but I"])
    frame = read_predictions(path).frame
    assert (counted_scores(frame, "authors").tolist(), frame["status"].tolist()) == ([4.0], ["refusal"])


def test_an_output_that_is_not_the_reply_changes_no_score(tmp_path):
    frame = run_of(2, output=["<S2>2</S2>", "said"], score=[4.0, 5.0])
    write_predictions(tmp_path / "a.xlsx", frame)
    read = read_predictions(tmp_path / "a.xlsx").frame
    assert counted_scores(read).tolist() == counted_scores(read, "authors").tolist() == [4, 5]
    assert not read["doubtful"].any()


# Other scales


@pytest.mark.parametrize(
    ("scores", "seen", "option"),
    [
        ([85.0, 40.0, 3.0], "85.0 is no score .* as are 2 of 3; the scores run from 3 to 85", "0-100"),
        ([0.85, 0.4], "0.85 is no score", "0-1"),
        (["85%", "40%"], "'85%' is no score", "0-100"),
        (["3,5", 4.0], "'3,5' is no score .* as are 1 of 2", "1-5"),
        ([7.0, 1.0], "7.0 is no score", "1-7"),
        ([0.0, 4.0], "0.0 is no score", "0-4"),
        ([10.0, 1.0], "10.0 is no score", "0-10"),
        ([6.0, 5.0], "6.0 is no score", "1-7"),
        ([-3.0, 120.0], "-3.0 is no score", "-3-120"),
    ],
)
def test_scores_on_another_scale_are_refused_with_the_option_that_reads_them(tmp_path, scores, seen, option):
    path = foreign(tmp_path / "a.xlsx", IS_EMPATHY=scores, truth=[3.0] * len(scores))
    with pytest.raises(UserError, match=seen) as caught:
        read_predictions(path)
    assert str(caught.value).startswith(f"{path}: sheet results, column IS_EMPATHY, row 2: ")
    assert str(caught.value).endswith(f"sense7 judge evaluate {path} --score-scale {option}")
    read_predictions(path, score_scale=ScoreScale.of(option))


def test_what_the_authors_rule_can_give_is_on_the_scale(tmp_path):
    path = foreign(tmp_path / "a.xlsx", IS_EMPATHY=[1.0, 5.9, "5.99"], truth=[1.0, 5.0, 3.0])
    assert read_predictions(path).frame["score"].tolist() == [1, 5.9, 5.99]


def test_a_declared_scale_is_rescaled_linearly(tmp_path):
    path = foreign(tmp_path / "a.xlsx", IS_EMPATHY=[85.0, "40%", "12,5", 0.0, 100.0, "no"], truth=[3.0] * 6)
    read = read_predictions(path, score_scale=ScoreScale.of("0-100"))
    np.testing.assert_allclose(read.frame["score"], [4.4, 2.6, 1.5, 1, 5, np.nan], rtol=1e-15)
    assert read.notes[0] == (
        "IS_EMPATHY: scores on the scale 0-100, rescaled linearly to 1..5; their mean as given is 47.5"
    )
    with pytest.raises(UserError, match=r"row 2: 85\.0 is off the scale 0-10, as are 4 of 5 scores"):
        read_predictions(path, score_scale=ScoreScale.of("0-10"))


def test_a_scale_may_have_its_best_score_below_and_percentages_may_be_shares(tmp_path):
    path = foreign(tmp_path / "a.xlsx", IS_EMPATHY=[1.0, 4.0], truth=[3.0] * 2)
    assert read_predictions(path, score_scale=ScoreScale.of("5-1")).frame["score"].tolist() == [5, 2]
    path = foreign(tmp_path / "b.xlsx", IS_EMPATHY=[0.25, "75%"], truth=[3.0] * 2)
    assert read_predictions(path, score_scale=ScoreScale.of("0-1")).frame["score"].tolist() == [2, 4]


def test_what_judge_run_writes_is_on_its_own_scale_also_where_another_is_declared(tmp_path):
    path = tmp_path / "a.xlsx"
    write_predictions(path, run_of(2))
    assert read_predictions(path, score_scale=ScoreScale.of("0-100")).frame["score"].tolist() == [1, 2]
    foreign(path, IS_EMPATHY=[85.0], truth=[3.0], status=["ok"])
    with pytest.raises(UserError, match="Write them on the scale from 1 to 5"):
        read_predictions(path)


@pytest.mark.parametrize("text", ["", "0", "1 and 7", "0-0", "a-b", "0-100-200", "nan-1"])
def test_what_is_no_scale_is_refused(text):
    with pytest.raises(UserError, match=r"does not name a scale\. Write its two ends: 1-7, 0-100"):
        ScoreScale.of(text)


@pytest.mark.parametrize("truth", [0.5, 62.0])
def test_ground_truth_off_the_scale_is_refused(tmp_path, truth):
    path = foreign(tmp_path / "a.xlsx", IS_EMPATHY=[4.0, 4.0], truth=[5.000000000000001, truth])
    with pytest.raises(UserError, match=rf"column ground-truth, row 3: {truth:g} is off the scale from 1 to 5"):
        read_predictions(path)


# Reading files of others


@pytest.mark.parametrize("judge", ["gpt", "claude", "gemini"])
def test_files_in_the_official_layout_are_read(workbooks, judge):
    read = read_predictions(workbooks[f"{judge}-iter1"])
    expected = pd.read_excel(read.path, sheet_name="results", engine="openpyxl", dtype={"TaskId": str, "PID": str})
    assert read.name == f"{judge}-iter1"
    assert read.frame["conversation"].tolist() == expected["TaskId"].tolist()
    assert read.frame["participant"].tolist() == expected["PID"].tolist()
    assert read.frame["score"].tolist() == expected["IS_EMPATHY"].tolist()
    assert read.frame["ground_truth"].tolist() == expected["ground-truth"].tolist()
    assert (read.frame["status"] == "ok").all()
    assert (read.frame["run"] == 1).all()
    assert read.absent >= {"status", "prompt", "output"}
    assert not read.absent & {"conversation", "participant", "score", "ground_truth"}


def test_a_comma_separated_file_is_read_alike(tmp_path):
    path = tmp_path / "model-prompt-iter7.csv"
    header = "\ufeffTaskId,PID,IS_EMPATHY,ground-truth,Output\r\n"
    text = header + '007,P1,4,4.5,"two\r\nlines, and ""quotes"""\r\nNA,P2,,nan,\r\n'
    path.write_bytes(text.encode())
    read = read_predictions(path)
    assert read.frame["conversation"].tolist() == ["007", "NA"]
    assert read.frame["score"].tolist()[0] == 4
    assert read.frame[["score", "ground_truth"]].isna().to_numpy().tolist() == [[False, False], [True, True]]
    assert read.frame["output"].tolist() == ['two\r\nlines, and "quotes"', None]
    assert read.frame["status"].tolist() == ["ok", UNSTATED]
    assert (read.frame["run"] == 7).all()
    assert read.notes == ["ground-truth: 1 cell not a number, counted as missing; the first is 'nan' in row 3"]
    path.write_bytes(b"TaskId;IS_EMPATHY;ground-truth\nC1;4;3.5\n")  # as spreadsheets write it in Europe
    assert read_predictions(path).frame.loc[0, ["score", "ground_truth"]].tolist() == [4, 3.5]


def test_what_is_no_number_is_missing_and_counted_with_its_place(tmp_path):
    scores = ["4", " 4.5 ", "PROCESSING_FAILED", True, "inf", "1_0", "4/5", None, "1e0"]
    path = foreign(tmp_path / "a.xlsx", TaskId=[f"C{n}" for n in range(9)], IS_EMPATHY=scores, truth=[3.0] * 9)
    read = read_predictions(path)
    known = read.frame["score"].dropna()
    assert known.to_dict() == {0: 4.0, 1: 4.5, 8: 1.0}
    assert read.frame.loc[known.index, "status"].tolist() == ["ok"] * 3
    assert (read.frame["status"].drop(known.index) == UNSTATED).all()
    assert read.notes == [
        "IS_EMPATHY: 5 cells not a number, counted as missing; the first is 'PROCESSING_FAILED' in row 4",
    ]


def test_a_reply_that_is_ok_without_a_number_is_noted_beside_what_stood_there(tmp_path):
    path = foreign(tmp_path / "a.xlsx", IS_EMPATHY=["four", 4.0], truth=[3.0, 3.0], status=["ok", "ok"])
    assert read_predictions(path).notes == [
        "IS_EMPATHY: 1 cell not a number, counted as missing; the first is 'four' in row 2",
        "status: 1 row ok without a score, counted as missing",
    ]


def test_a_number_beyond_all_bounds_is_none(tmp_path):
    path = foreign(tmp_path / "a.xlsx", IS_EMPATHY=[4.0, 12345.0], truth=[4.0, 3.0])
    with zipfile.ZipFile(path) as package:
        parts = {name: package.read(name).replace(b"12345.0", b"1E999") for name in package.namelist()}
    with zipfile.ZipFile(path, "w") as package:
        for name, content in parts.items():
            package.writestr(name, content)
    read = read_predictions(path)
    assert read.frame["status"].tolist() == ["ok", UNSTATED]
    assert read.notes == ["IS_EMPATHY: 1 cell not a number, counted as missing; the first is inf in row 3"]


def test_ids_are_texts_without_space_at_their_ends_and_blank_rows_do_not_count(tmp_path):
    path = foreign(
        tmp_path / "a.xlsx",
        TaskId=[12.0, None, " C2 ", None],
        PID=["P1", None, None, "P2"],
        IS_EMPATHY=[4.0, None, 5.0, 3.0],
        truth=[4.0, " ", 5.0, 3.0],
    )
    read = read_predictions(path).frame
    assert read["conversation"].tolist() == ["12", "C2", None]
    assert read["participant"].tolist() == ["P1", None, "P2"]


def test_a_file_of_scores_and_truths_alone_is_read(tmp_path):
    read = read_predictions(foreign(tmp_path / "a.xlsx", IS_EMPATHY=[4.0], truth=[3.5]))
    assert read.frame[["score", "ground_truth"]].to_numpy().tolist() == [[4.0, 3.5]]
    assert read.frame["run"].isna().all()
    assert {"conversation", "participant"} <= read.absent


def replies_of(tmp_path, outputs, scores):
    return read_predictions(foreign(tmp_path / "a.xlsx", IS_EMPATHY=scores, truth=[3.0] * len(scores), Output=outputs))


def test_the_authors_default_is_known_from_the_replies_beside_it(tmp_path):
    outputs = ["<S2>4</S2>", "<S2>3</S2>", "I can't rate this.", None, "<S2>6</S2>", "no score"]
    read = replies_of(tmp_path, outputs, [4.0, 3.0, 3.0, 3.0, 3.0, None])
    assert read.frame["status"].tolist() == ["ok", "ok", *["parse_failure"] * 3, UNSTATED]
    assert read.frame["score"].dropna().tolist() == [4.0, 3.0]
    assert read.frame["reason"][2] == "no <S2> in the reply"
    assert read.notes == ["IS_EMPATHY: 3 rows with the default 3 of an unusable reply, as the column Output shows"]


@pytest.mark.parametrize(
    ("outputs", "scores"),
    [
        (["rated 4", "rated 3"], [4.0, 3.0]),  # replies of another form: nothing is known
        (["<S2>5</S2>", "none"], [4.0, 3.0]),  # scores that are not those of the replies
        (["<S2>4</S2>", "none"], [4.0, 2.0]),  # no default, wherever it comes from
        (["<S2>4</S2>", "a" * 32_767], [4.0, 3.0]),  # cut at the limit of a cell, perhaps with its score
        ([None, None], [4.0, 3.0]),
    ],
)
def test_a_three_is_a_score_where_the_replies_do_not_show_otherwise(tmp_path, outputs, scores):
    read = replies_of(tmp_path, outputs, scores)
    assert read.frame["score"].tolist() == scores
    assert (read.frame["status"] == "ok").all()
    assert read.notes == []


def test_the_first_sheet_stands_in_for_one_that_is_not_there(tmp_path):
    rows = [[4.0, 3.5]]
    sheets = [Sheet("other", ["IS_EMPATHY", "ground-truth"], rows), Sheet("notes", ["a"], [])]
    write_sheets(sheets, tmp_path / "a.xlsx")
    assert read_predictions(tmp_path / "a.xlsx").frame["score"].tolist() == [4.0]
    write_sheets([sheets[1], Sheet("results", ["IS_EMPATHY", "ground-truth"], rows)], tmp_path / "b.xlsx")
    assert read_predictions(tmp_path / "b.xlsx").frame["score"].tolist() == [4.0]


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        (
            {"TaskId": ["C"], "truth": [1.0]},
            r"sheet results: the column IS_EMPATHY is missing \(columns present: TaskId",
        ),
        (
            {"IS_EMPATHY": [1.0]},
            "sheet results: the column ground-truth is missing.*Add it or name it exactly ground-truth",
        ),
        ({"is_empathy": [1.0], "truth": [1.0]}, "the column IS_EMPATHY is missing"),
        ({"IS_EMPATHY": [1.0], " IS_EMPATHY": [1.0], "truth": [1.0]}, "the column IS_EMPATHY is there 2 times. Remove"),
        (
            {"TaskId": ["A", "B", "A", "B"], "IS_EMPATHY": [1.0] * 4, "truth": [1.0] * 4},
            r"sheet results, column TaskId: 'A' is in rows 2, 4 \(2 TaskIds are there more than once\)",
        ),
        (
            {"IS_EMPATHY": [1.0], "truth": [1.0], "status": ["fine"]},
            "column status, row 2: 'fine' is no status. Write one",
        ),
        ({"IS_EMPATHY": [1.0], "truth": [1.0], "status": [None]}, "column status, row 2: blank is no status"),
    ],
)
def test_a_file_that_is_no_run_says_where_and_how_to_fix_it(tmp_path, columns, message):
    path = foreign(tmp_path / "a.xlsx", **columns)
    with pytest.raises(UserError, match=message) as caught:
        read_predictions(path)
    assert str(caught.value).startswith(f"{path}: sheet results")


def test_a_usable_reply_without_its_score_is_missing_and_counted(tmp_path):
    path = foreign(tmp_path / "a.xlsx", IS_EMPATHY=[None, 4.0], truth=[1.0, 4.0], status=["ok", "ok"])
    read = read_predictions(path)
    assert read.frame["status"].tolist() == [UNSTATED, "ok"]
    assert read.notes == ["status: 1 row ok without a score, counted as missing"]


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.csv", b"", "row 1 names no column"),
        ("a.csv", b"IS_EMPATHY,ground-truth\n\xff,1\n", "line 2, byte 25: not UTF-8"),
        ("a.csv", b"IS_EMPATHY,ground-truth\n1,2,3\n", "row 2 has 3 cells, row 1 names 2 columns"),
        ("a.xlsx", b"", "the file is empty"),
        ("a.xlsx", b"no workbook", "not an .xlsx file"),
    ],
)
def test_a_file_that_can_not_be_read_is_one_message(tmp_path, name, content, message):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(UserError, match=message) as caught:
        read_predictions(tmp_path / name)
    assert str(caught.value).startswith(str(tmp_path / name))


@pytest.mark.parametrize("name", ["none.csv", "none.xlsx"])
def test_a_file_that_is_not_there_is_one_message(tmp_path, name):
    with pytest.raises(UserError, match="there is no such file"):
        read_predictions(tmp_path / name)


def test_a_reason_that_is_not_there_is_an_empty_text_and_another_text_is_missing(tmp_path):
    write_predictions(
        tmp_path / "a.xlsx", run_of(2, status=["ok", STATUSES[1]], score=[3.0, np.nan], reason=["", "no"])
    )
    read = read_predictions(tmp_path / "a.xlsx").frame
    assert read["reason"].tolist() == ["", "no"]
    assert read["altered"].tolist() == ["", ""]
    assert read["model"].isna().all()
