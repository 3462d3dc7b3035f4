"""A session that was interrupted is evaluated from its journal; doubtful readings are counted on the last line."""

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from helpers import endpoint
from helpers.extras import need_the_judge
from sense7.cli.judge import judge as judge_commands
from sense7.errors import UserError
from sense7.judge.endpoint import Endpoint as Address
from sense7.judge.files import counted_scores
from sense7.judge.reply import NOT_ASKED
from sense7.judge.report import evaluate
from sense7.judge.requests import Prompt
from sense7.judge.session import carry_out, plan_session
from sense7.workbook import write_sheets
from sense7.workbook.sheets import parse_sheets

need_the_judge()


BRIEF = Prompt("brief", "Rate this: {chat}")
REPLIES = ["<S2>4</S2>", "<S2>10</S2>", "<S2>4/5</S2>", "I'd rather not.", "<S2>2</S2>", "<S2>3</S2>"]


@pytest.fixture
def sheets(minimal_sheets):
    said = [f"Message {number} of conversation {name}." for name in range(6) for number in range(4)]
    return minimal_sheets(conversations=6, turns=2, participants=6, messages={"Content": said})


def answer(asked):
    name = int(asked.prompt.partition("of conversation ")[2].partition(".")[0])
    return endpoint.Answer(text=REPLIES[name])


def plan_for(sheets, server, folder, runs, **options):
    return plan_session(
        parse_sheets(sheets),
        model="judge",
        endpoint=Address.of(server.address),
        folder=folder,
        runs=runs,
        prompt=BRIEF,
        concurrency=1,
        **options,
    )


def interrupt(plan, after):
    """End a session when so many calls are over."""

    def progress(tally):
        if tally.done == after:
            raise KeyboardInterrupt

    with pytest.raises((KeyboardInterrupt, BaseExceptionGroup)):
        carry_out(plan, progress=progress)


def test_the_answers_of_an_interrupted_session_are_evaluated_as_far_as_they_go(sheets, tmp_path):
    folder = tmp_path / "out"
    with endpoint.Endpoint(answer) as server:
        interrupt(plan_for(sheets, server, folder, runs=2), after=4)
        assert not list(folder.glob("*.xlsx"))
        found = evaluate(folder, draws=50)
        assert list(found.files) == ["judge-brief-iter1"], "the second run has no answer yet"
        read = found.files["judge-brief-iter1"]
        assert read.frame["status"].tolist() == ["ok", "parse_failure", "ok", "parse_failure", NOT_ASKED, NOT_ASKED]
        assert found.metrics.runs["judge-brief-iter1"].loc["coverage", "estimate"] == pytest.approx(2 / 6)
        assert found.coverage["judge-brief-iter1"].loc["not_asked", "estimate"] == 2
        np.testing.assert_array_equal(counted_scores(read.frame, "authors"), [4, 1, 4, 3, np.nan, np.nan])
        assert found.notes[0] == (
            "judge-brief-iter1: run 1 of 2 was interrupted: 4 of 6 answers so far, from journal.sqlite; "
            "the same `sense7 judge run` asks for the others."
        )
        whole = carry_out(plan_for(sheets, server, folder, runs=2))
    assert len(server.asked) == 12, "evaluating a session changes nothing of it"
    finished = evaluate(folder, draws=50)
    assert [one.path for one in finished.files.values()] == whole.paths
    assert not any("interrupted" in note for note in finished.notes)
    first = finished.files["judge-brief-iter1"].frame
    names = ["conversation", "participant", "ground_truth", "score", "authors_score", "status", "doubtful", "reason"]
    pd.testing.assert_frame_equal(first.loc[:3, names], read.frame.loc[:3, names], check_dtype=False)


def test_a_file_that_lacks_later_answers_gives_way_to_the_journal(sheets, tmp_path):
    folder = tmp_path / "out"
    with endpoint.Endpoint(answer) as server:
        carry_out(plan_for(sheets, server, folder, runs=1, limit=2))
        interrupt(plan_for(sheets, server, folder, runs=1), after=3)
    found = evaluate(folder, draws=50)
    assert found.notes[0].startswith("judge-brief-iter1: run 1 of 1 was interrupted: 5 of 6 answers so far")
    assert len(found.files["judge-brief-iter1"].frame) == 6


def test_a_session_without_an_answer_holds_no_predictions(tmp_path):
    (tmp_path / "journal.sqlite").write_text("")
    with pytest.raises(UserError, match="no file of predictions"):
        evaluate(tmp_path)


def test_doubtful_readings_are_counted_on_the_last_line_before_the_files(sheets, tmp_path, monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    write_sheets(sheets, tmp_path / "mine.xlsx")
    (tmp_path / "brief.txt").write_text(BRIEF.text)
    options = ["--data", tmp_path / "mine.xlsx", "--prompt", tmp_path / "brief.txt", "--model", "judge", "--yes"]
    with endpoint.Endpoint(answer) as server:
        arguments = ["run", *options, "--base-url", server.address, "--out", tmp_path / "out", "--runs", 2]
        done = CliRunner().invoke(judge_commands, list(map(str, arguments)))
    assert done.exit_code == 0, done.output
    assert done.stderr.splitlines()[-1] == "ok 8, parse_failure 4; doubtful readings 4"
