"""Prediction files: the authors' layout, no text changed in silence, every file read for what it says."""

import re
from urllib.parse import unquote

import numpy as np
import pandas as pd
import pytest

from helpers import judged, naming
from helpers.judged import cells_of, table_of
from sense7.judge.files import (
    COLUMNS,
    FRAME_COLUMNS,
    READINGS,
    UNSTATED,
    ScoreScale,
    models_that_answered,
    prediction_path,
    read_predictions,
    write_predictions,
)
from sense7.judge.reply import read_reply
from sense7.taxonomy import SIMULATED_JUDGE
from sense7.workbook.xlsx import Sheet, write_sheets


def run_of(length=3, **columns):
    """A run in which every reply is usable, but for what is given."""
    return judged.run_of(1, rows=length, people=2, **columns)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "a.xlsx"


@pytest.fixture
def foreign(path):
    """Write a workbook of somebody else: columns by their titles, the truth 3 if none is given."""

    def write(IS_EMPATHY, truth=None, **columns):
        columns |= {"IS_EMPATHY": IS_EMPATHY, "ground-truth": truth or [3.0] * len(IS_EMPATHY)}
        rows = [list(row) for row in zip(*columns.values(), strict=True)]
        write_sheets([Sheet("results", list(columns), rows)], path)
        return path

    return write


# Names of files


NAMES = [
    ("judge", "empathy"),
    ("org/name:7b", "my-prompt"),
    ("\u0301~%.", " a\\b"),
    ("m" * 300, "p" * 300),
]


@pytest.mark.parametrize(("model", "prompt"), NAMES)
def test_model_prompt_and_run_can_be_read_from_the_name_and_long_ones_stay_different(model, prompt):
    path = prediction_path("session", model, prompt, 7)
    *found, run = re.fullmatch(r"(.*)-([^-]*)-iter([0-9]+)", path.stem).groups()
    assert run == "7"
    assert "~" in path.stem or [unquote(part) for part in found] == [model, prompt]
    assert re.fullmatch(r"[A-Za-z0-9._+=@%~-]+", path.name)
    assert len(path.name) <= 200
    assert path != prediction_path("session", f"{model}a", prompt, 7)


# Writing


def test_the_authors_columns_come_first_in_their_order_and_everything_comes_back(path):
    texts = ("reasoning", "chat", "prompt", "output", "reason", "model", "prompt_sha256")
    numbers = {"seconds": 0.125, "run": 3.0, "input_tokens": 1200.0, "output_tokens": 40.0}
    names = (*texts, "system_fingerprint", "response_id", "finish_reason", "returned_model")
    columns = {name: f"some {name}" for name in names}
    columns |= {**numbers, "attempts": 2.0, "altered": "", "output": "<S2>2</S2>"}
    frame = run_of(2, **columns, score=2.0)[list(FRAME_COLUMNS)]
    assert write_predictions(path, frame) == []
    cells = cells_of(path)
    authors = ["CoT", "TaskId", "PID", "IS_EMPATHY", "Chat", "OnlyChat", "Prompt", "Output"]
    assert list(cells) == list(COLUMNS)
    assert list(cells)[:11] == [*authors, "Processing Time", "Model", "ground-truth"]
    for title, name in COLUMNS.items():
        if name not in (None, "altered"):
            assert cells[title] == frame[name].tolist()
    assert cells["policy"] == ["strict"] * 2
    read = read_predictions(path)
    (note,) = read.notes
    naming.check(note, "some model", "some returned_model (2 replies)")
    assert read.models == ["some returned_model"]


@pytest.mark.parametrize("character", ["a", "a🙂"])
def test_a_text_beyond_the_limit_of_a_cell_is_cut_with_a_mark_and_said(path, character):
    text = character * 40_000
    (said,) = write_predictions(path, run_of(3, prompt=["a" * 32_767, text, text]))
    naming.check(said, "a.xlsx", "column Prompt", "rows: 2")
    read = table_of(path)
    whole, cut, _ = read["prompt"]
    assert whole == "a" * 32_767
    beginning, _, mark = cut.rpartition(" [")
    assert text.startswith(beginning)
    naming.check(mark, f"{len(text.encode('utf-16-le')) // 2:,}")
    assert 32_766 <= len(cut.encode("utf-16-le")) // 2 <= 32_767
    assert read["altered"].notna().tolist() == [False, True, True]


def test_characters_that_no_cell_can_hold_are_replaced_and_said(path):
    frame = run_of(2, prompt=["half \ud83d of \uffff", "fine"])
    (said,) = write_predictions(path, frame)
    naming.check(said, "a.xlsx", "column Prompt", "rows: 1")
    read = table_of(path)
    assert read["prompt"].tolist() == ["half \ufffd of \ufffd", "fine"]
    naming.check(read["altered"][0], "Prompt")


def test_what_can_not_be_written_is_refused_whole(tmp_path):
    (tmp_path / "file").write_text("")
    with naming.refused(tmp_path / "a.xlsx", "sheet results", "cell B2", "40,000"):
        write_predictions(tmp_path / "a.xlsx", run_of(1, conversation="C" * 40_000))
    with naming.refused(tmp_path / "my_results" / "a.xlsx"):
        write_predictions(tmp_path / "my_results" / "a.xlsx", run_of())
    with naming.refused(tmp_path / "file" / "a.xlsx"):
        write_predictions(tmp_path / "file" / "a.xlsx", run_of())
    assert [entry.name for entry in tmp_path.iterdir()] == ["file"]


# Both readings of a reply


SAID = {
    "<S2>4</S2>": (4, 4),
    "<S2>10</S2>": (None, 1),
    "<think><S2>1</S2></think><S2>5</S2>": (5, 1),
    "<S2>3-4</S2>": (None, 3),
    "<S2>5.9</S2>": (None, 5.9),
    "I can't rate this.": (None, 3),
    None: (None, 3),
}
"""Reply -> its score by the strict and by the authors' rule."""


@pytest.mark.parametrize("policy", ["strict", "authors"])
def test_a_file_counts_under_either_policy_as_if_it_were_written_under_that(path, policy):
    replies = [read_reply(text) for text in SAID]
    both = {
        rule: [row[place] for row in SAID.values()]
        for place, rule in enumerate(("strict", "authors"))
    }
    read = {
        name: [getattr(reply, name) for reply in replies]
        for name in ("score", "status", "reason", *READINGS)
    }
    write_predictions(path, run_of(len(SAID), **read, output=list(SAID)), policy=policy)
    assert cells_of(path)["IS_EMPATHY"] == both[policy]
    run = read_predictions(path).run
    for rule, scores in both.items():
        np.testing.assert_array_equal(run.scores(rule), np.array(scores, dtype=float))
    assert run.doubtful.tolist() == [False, True, True, True, True, False, False]
    naming.check(run.reason[1], "<S2>: '10'", 1)
    if policy == "authors":  # the same as others write it: some of its columns are not there
        other = path.with_suffix(".csv")
        bare = pd.read_excel(path, engine="openpyxl").drop(columns=["status", "reason", "policy"])
        bare.to_csv(other, index=False)
        found = read_predictions(other)
        for rule, scores in both.items():
            np.testing.assert_array_equal(found.run.scores(rule), np.array(scores, dtype=float))
        (note,) = found.notes
        naming.check(note, "IS_EMPATHY: 5 rows", "Output", "authors")


LONG = "<think>" + "a" * 32_760  # the limit of a cell: the reply is cut
STATED = [
    # Score, status, policy and reply in a file -> status, score by the strict and by the authors' rule.
    (1.0, "ok", None, "<S2>10</S2>", "parse_failure", None, 1),
    (None, "parse_failure", None, "<S2>no</S2><S2>2</S2>", "parse_failure", None, 3),
    (None, "parse_failure", None, "<think><S2></S2></think><S2>5</S2>", "ok", 5, 3),
    (4.0, "ok", None, "<S2>4</S2>", "ok", 4, 4),
    (None, "refusal", None, "<S2>4</S2> but I", "refusal", None, 4),
    (1.0, "truncated", "authors", LONG, "truncated", None, 1),
    (None, "truncated", "strict", LONG, "truncated", None, 3),
]


@pytest.mark.parametrize(
    ("score", "status", "policy", "text", "found", "strict", "authors"), STATED
)
def test_a_status_is_read_by_both(foreign, score, status, policy, text, found, strict, authors):
    path = foreign([score], status=[status], policy=[policy], Output=[text])
    run = read_predictions(path).run
    assert run.status.tolist() == [found]
    np.testing.assert_array_equal(run.scores("strict"), np.array([strict], dtype=float))
    assert run.scores("authors").tolist() == [authors]


@pytest.mark.parametrize("outputs", [["<S2>4</S2>", "a" * 32_767], [None, None]])
def test_a_three_is_a_score_where_the_reply_was_cut_or_is_not_there(foreign, outputs):
    read = read_predictions(foreign([4.0, 3.0], Output=outputs))
    assert read.run.score.tolist() == [4, 3]
    assert ((read.run.status == "ok").all(), read.notes) == (True, [])


@pytest.mark.parametrize("further", [{}, {"status": ["ok"] * 2}])
def test_a_score_that_no_rule_reads_from_its_reply_is_refused_with_its_cell(foreign, further):
    path = foreign([4.0, 5.0], Output=["<S2>4</S2>", "rated 5"], **further)
    with naming.refused(f"{path}: sheet results, column IS_EMPATHY, row 3: 5", "Output"):
        read_predictions(path)


# Other scales


@pytest.mark.parametrize(
    ("scores", "numbers", "option"),
    [
        ([85.0, 40.0, 3.0], ["85.0", "2 of 3", "from 3 to 85"], "0-100"),
        ([0.85, 0.4], ["0.85", "2 of 2", "from 0.4 to 0.85"], "0-1"),
        ([0.0, 4.0], ["0.0", "1 of 2", "from 0 to 4"], "0-4"),
        ([6.0, 5.0], ["6.0", "1 of 2", "from 5 to 6"], "1-7"),
    ],
)
def test_scores_on_another_scale_are_refused_with_the_option(foreign, scores, numbers, option):
    path = foreign(scores)
    with naming.refused(
        f"{path}: sheet results, column IS_EMPATHY, row 2: ",
        *numbers,
        f"sense7 judge evaluate {path} --score-scale 0-100",
    ):
        read_predictions(path)
    read_predictions(path, score_scale=ScoreScale.of(option))


@pytest.mark.parametrize(
    ("scale", "given", "scores"),
    [
        ("0-100", [85.0, "40", 12.5, 0.0, 100.0, "no"], [4.4, 2.6, 1.5, 1, 5, np.nan]),
        ("5-1", [1.0, 4.0], [5, 2]),  # its best score is the lower one
        (None, [1.0, 5.9, "5.99"], [1, 5.9, 5.99]),  # what the authors' rule can give
    ],
)
def test_a_declared_scale_is_rescaled_linearly(foreign, scale, given, scores):
    read = read_predictions(foreign(given), score_scale=scale and ScoreScale.of(scale))
    np.testing.assert_allclose(read.run.score, scores, rtol=1e-15)
    if scale == "0-100":
        naming.check(read.notes[0], "IS_EMPATHY", "0-100", "1..5", "47.5")
        with naming.refused("IS_EMPATHY, row 2: 85.0", "0-10", "4 of 5", "--score-scale"):
            read_predictions(read.path, score_scale=ScoreScale.of("0-10"))


@pytest.mark.parametrize("text", ["", "0", "0-0", "a-b", "nan-1"])
def test_what_is_no_scale_is_refused(text):
    with naming.refused(f"--score-scale: '{text}'", "1-7", "0-100"):
        ScoreScale.of(text)


# Reading files of others


def test_a_comma_separated_file_is_read_alike(tmp_path):
    path = tmp_path / "model-prompt-iter7.csv"
    header = "\ufeffTaskId,PID,IS_EMPATHY,ground-truth,Model\r\n"
    text = header + '007,P1,4,4.5,"two\r\nlines, and ""quotes"""\r\nNA,P2,,nan,\r\n'
    path.write_bytes(text.encode())
    read = read_predictions(path)
    run = read.run
    assert run.conversation.tolist() == ["007", "NA"]
    np.testing.assert_array_equal([run.score, run.ground_truth], [[4, np.nan], [4.5, np.nan]])
    assert run.model.tolist() == ['two\r\nlines, and "quotes"', None]
    assert run.status.tolist() == ["ok", UNSTATED]
    (note,) = read.notes
    naming.check(note, "ground-truth: 1 cell", "'nan' in row 3")
    # As spreadsheets write it in Europe.
    path.write_bytes(b"TaskId;IS_EMPATHY;ground-truth\nC1;4;3.5\n")
    assert read_predictions(path).run.ground_truth.tolist() == [3.5]


def test_what_is_no_number_is_missing_and_counted_with_its_place(foreign):
    scores = ["4", " 4.5 ", "PROCESSING_FAILED", True, "inf", "1_0", "4/5", None, "1e0"]
    read = read_predictions(foreign(scores))
    np.testing.assert_array_equal(read.run.score, [4, 4.5, *[np.nan] * 6, 1])
    assert (read.run.status == "ok").tolist() == np.isfinite(read.run.score).tolist()
    (note,) = read.notes
    naming.check(note, "IS_EMPATHY: 5 cells", "'PROCESSING_FAILED' in row 4")
    read = read_predictions(foreign(["four", None, 4.0], status=["ok"] * 3))
    naming.check(read.notes[0], "IS_EMPATHY: 1 cell", "'four' in row 2")
    assert read.run.status.tolist() == [UNSTATED, UNSTATED, "ok"]


def test_a_number_beside_a_status_without_score_is_missing_and_counted(foreign):
    statuses = ["ok", "refusal", UNSTATED, "not_asked", UNSTATED]
    read = read_predictions(foreign([4.0, 5.0, 2.0, None, None], status=statuses))
    assert read.run.status.tolist() == statuses
    np.testing.assert_array_equal(read.run.score, [4.0, *[np.nan] * 4])
    (note,) = read.notes
    naming.check(note, "IS_EMPATHY: 2 numbers", "5 beside refusal in row 3")


def test_scores_and_truths_are_enough_and_the_first_sheet_stands_in_for_one_that_is_not_there(path):
    scores, notes = (["IS_EMPATHY", "ground-truth"], [[4.0, 3.5]]), Sheet("notes", ["a"], [])
    for sheets in ([Sheet("other", *scores), notes], [notes, Sheet("results", *scores)]):
        write_sheets(sheets, path)
        run = read_predictions(path).run
        assert (run.score.tolist(), run.ground_truth.tolist()) == ([4.0], [3.5])
        assert (run.conversation.tolist(), run.participant.tolist()) == ([None], [None])


NO_RUN = {
    "TaskId,ground-truth\nC,1": ["column IS_EMPATHY", "TaskId, ground-truth"],
    "is_empathy,ground-truth\n1,1": ["column IS_EMPATHY", "is_empathy"],
    "IS_EMPATHY, IS_EMPATHY,ground-truth\n1,1,1": ["column IS_EMPATHY", "2 times"],
    "TaskId,IS_EMPATHY,ground-truth\nA,1,1\nB,1,1\nA,1,1": ["column TaskId", "'A'", "rows 2, 4"],
    "IS_EMPATHY,ground-truth,status\n1,1,fine": ["column status, row 2: 'fine'"],
    "IS_EMPATHY,ground-truth,Status\n1,1,ok": ["column Status", "status"],
    "IS_EMPATHY,ground-truth\n4,5.000000000000001\n4,62": ["column ground-truth, row 3: 62"],
    "IS_EMPATHY,ground-truth\n4,0.5": ["column ground-truth, row 2: 0.5", "1 of 1"],
    "IS_EMPATHY,ground-truth\n1,2,3": ["row 2", "3 cells", "row 1", "2 columns"],
    "": ["row 1"],
}


@pytest.mark.parametrize("text", NO_RUN)
def test_a_file_that_is_no_run_says_where_and_how_to_fix_it(tmp_path, text):
    path = tmp_path / "a.csv"
    path.write_text(text, "utf-8")
    with naming.refused(path, *NO_RUN[text]):
        read_predictions(path)


@pytest.mark.parametrize("name", ["a.jsonl", "a.xlsx"])
def test_a_file_of_another_format_is_one_message(tmp_path, name):
    (tmp_path / name).write_bytes(b'{"IS_EMPATHY": 4}')
    with naming.refused(f"{tmp_path / name}: ", ".xlsx"):
        read_predictions(tmp_path / name)


# The model that answered


@pytest.mark.parametrize(
    ("asked", "answered", "named"),
    [
        ("judge", ["judge", "judge", None], []),
        ("judge", [None, None, None], []),
        ("judge", ["small-0.5b"] * 3, ["judge", "small-0.5b (3 replies)"]),
        ("judge", ["judge-08-06", None, "judge-05-13"], ["judge-08-06 (1 reply)", "judge-05-13"]),
        ("judge", ["judge", "small-0.5b", "judge"], ["judge (2 replies)", "small-0.5b", "changed"]),
        (SIMULATED_JUDGE, ["none (simulated)"] * 3, []),
    ],
)
def test_another_model_than_was_asked_or_a_change_of_models_is_one_note(asked, answered, named):
    run = pd.DataFrame({"model": asked, "returned_model": answered, "output": "<S2>4</S2>"})
    notes = models_that_answered(run)
    assert len(notes) == bool(named)
    assert all(word in notes[0] for word in named)
