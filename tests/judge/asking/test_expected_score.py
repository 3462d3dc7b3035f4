"""Expected scores over the probabilities of the levels: where they are known, and loudly where they are not."""

import json
import math
from collections import Counter
from pathlib import Path

import numpy as np
import openpyxl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from helpers import endpoint
from helpers.extras import need_the_judge
from sense7.cli.judge import judge as judge_commands
from sense7.errors import UserError
from sense7.judge.asking.answers import Answer
from sense7.judge.asking.endpoint import Endpoint as Address
from sense7.judge.asking.journal import JOURNAL
from sense7.judge.asking.plan import plan_session
from sense7.judge.asking.prompt import Prompt
from sense7.judge.asking.run import carry_out
from sense7.judge.asking.score_probabilities import expected_score, logprobs_of_levels
from sense7.judge.evaluate import evaluate
from sense7.judge.predictions import read_predictions
from sense7.workbook import write_sheets
from sense7.workbook.reader import parse_sheets

need_the_judge()

Endpoint, Answered, GOOD, token = endpoint.Endpoint, endpoint.Answer, endpoint.GOOD, endpoint.token
SURE = endpoint.with_probabilities(4, {4: 0.6, 5: 0.2, 2: 0.05})
BRIEF = Prompt("brief", "Rate this: {chat}")


@pytest.fixture(autouse=True)
def no_keys(monkeypatch):
    """Nobody's key is sent to anybody."""
    for name in ("SENSE7_JUDGE_KEY", "OPENAI_API_KEY"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def sheets_of(minimal_sheets):
    """Sheets of so many conversations in which different things are said."""

    def build(conversations):
        said = [f"Message {number} of conversation {name}." for name in range(conversations) for number in (1, 2)]
        return minimal_sheets(conversations=conversations, turns=1, messages={"Content": said})

    return build


@pytest.fixture
def study_of(sheets_of):
    return lambda *given: parse_sheets(sheets_of(*given))


def ask(study, server, folder, **options):
    known = {"model": "judge", "prompt": BRIEF, "concurrency": 2, "score": "expected"} | options
    return carry_out(plan_session(study, endpoint=Address.of(server.address), folder=folder, **known))


# The number


def test_the_expected_score_is_the_mean_of_the_levels_by_their_probabilities(study_of, tmp_path):
    with Endpoint(lambda asked: SURE) as server:
        outcome = ask(study_of(3), server, tmp_path / "out")
    assert (server.asked[0].body["logprobs"], server.asked[0].body["top_logprobs"]) == (True, 20)
    frame = read_predictions(outcome.paths[0]).frame
    assert frame["score"].tolist() == [4.0] * 3, "the score stays what the reply states"
    assert frame["expected_score"].to_numpy() == pytest.approx((4 * 0.6 + 5 * 0.2 + 2 * 0.05) / 0.85)
    assert frame["certainty"].to_numpy() == pytest.approx(0.6 / 0.85)
    header = next(openpyxl.load_workbook(outcome.paths[0])["results"].values)
    assert header[-2:] == ("expected_score", "certainty")
    kept = [json.loads(line)["score_logprobs"] for line in (tmp_path / "out" / JOURNAL).read_text().splitlines()]
    assert [level for level, _ in kept[0]] == [4, 5, 2]


@given(shares=st.dictionaries(st.integers(1, 5), st.floats(1e-300, 1.0), min_size=1))
def test_it_lies_between_the_levels_and_the_certainty_between_a_fifth_and_one(shares):
    expected, certainty = expected_score([(level, math.log(share)) for level, share in shares.items()])
    assert min(shares) - 1e-9 <= expected <= max(shares) + 1e-9
    assert 1 / len(shares) - 1e-9 <= certainty <= 1 + 1e-9
    assert expected == pytest.approx(sum(k * p for k, p in shares.items()) / sum(shares.values()), rel=1e-9)


@pytest.mark.parametrize(
    ("before", "said", "after", "alternatives", "levels"),
    [
        ("<S2>", "4", "</S2>", [("4", -0.5), (" 4", -3.0), ("5", -1.0), ("4.5", -2.0), ("10", -2.5)], [4, 5, 4]),
        ("<S2", ">4<", "/S2>", [(">4<", -0.5), (">3<", -1.0), ("3", -1.5)], [4, 3]),
        ("<S2> ", " 4", "\n</S2>", [(" 4", -0.5), ("\n2", -1.0)], [4, 2]),
        ("<think><S2>2</S2></think><S2>", "4", "</S2>", [("4", -0.5), ("5", -1.0)], [4, 5]),
        ("😀<S2>Score: ", "4", " of 5</S2>", [("4", -0.5), ("1", -9.0)], [4, 1]),
    ],
)
def test_the_place_of_the_score_is_found_in_any_cut_into_tokens(before, said, after, alternatives, levels):
    content = [token(before, (before, -0.1)), token(said, *alternatives, logprob=-0.5), token(after)]
    found = logprobs_of_levels(f"{before}{said}{after}", {"content": content})
    assert [level for level, _ in found] == levels


def test_tokens_that_are_parts_of_characters_and_a_last_one_that_ends_the_reply_are_no_obstacle():
    emoji = "😀".encode()
    parts = [{"token": "\ufffd", "bytes": list(emoji[:2]), "logprob": -0.1, "top_logprobs": []}]
    parts += [{"token": "\ufffd", "bytes": list(emoji[2:]), "logprob": -0.1, "top_logprobs": []}]
    content = [*parts, token("<S2>"), token("3", ("3", -0.2)), token("</S2>"), token("<|end|>")]
    assert logprobs_of_levels("😀<S2>3</S2>", {"content": content}) == [[3, -0.2]]


@pytest.mark.parametrize(
    "logprobs", [None, {}, {"content": None}, {"content": []}, {"content": [4]}, {"content": [token("<S2>4</S2>")]}]
)
def test_without_alternatives_there_are_no_probabilities(logprobs):
    assert logprobs_of_levels("<S2>4</S2>", logprobs) is None


def test_where_tokens_do_not_give_the_reply_its_place_is_not_known():
    content = [token("<S2>", ("<S2>", -0.1)), token("5", ("5", -0.1))]
    assert logprobs_of_levels("<S2>4</S2>", {"content": content}) == []


@pytest.mark.parametrize("logprob", [float("nan"), float("-inf"), "x", None])
def test_what_is_no_log_probability_counts_for_nothing(logprob):
    content = [token("<S2>"), token("4", ("4", -0.5), ("5", logprob)), token("</S2>")]
    assert logprobs_of_levels("<S2>4</S2>", {"content": content}) == [[4, -0.5]]


def test_a_score_with_decimals_or_of_another_level_has_no_expected_score():
    for text, pairs in (("<S2>4.5</S2>", [[4, -0.1]]), ("<S2>4</S2>", [[3, -0.1]]), ("none", [[3, -0.1]])):
        assert np.isnan(Answer("C1", 1, "", output=text, score_logprobs=pairs).expected_score).all()


# Never silently


def test_an_endpoint_without_probabilities_is_refused_after_one_call_and_before_the_next(study_of, tmp_path):
    study, folder = study_of(6), tmp_path / "out"
    with Endpoint() as server:
        outcome = ask(study, server, folder)
        assert len(server.asked) == 1
        assert "stopped after 1 of 6 calls: --score expected needs the probabilities of tokens" in outcome.stopped
        assert "leave out --score expected and give another folder" in outcome.stopped
        with pytest.raises(UserError, match="--score expected needs the probabilities"):
            ask(study, server, folder)
        assert len(server.asked) == 1


def test_an_endpoint_that_refuses_to_give_them_is_recognized_by_its_words(study_of, tmp_path):
    with Endpoint(endpoint.refuses("logprobs")) as server:
        outcome = ask(study_of(3), server, tmp_path / "out")
    assert outcome.stopped.endswith("Leave out --score expected: this endpoint gives no probabilities for this model")


def test_scores_without_an_expected_one_are_counted_and_if_there_is_none_the_run_has_failed(study_of, tmp_path):
    decimal = Answered(text="<S2>4.5</S2>", logprobs=SURE.logprobs)
    with Endpoint(lambda asked: decimal if "conversation 0" in asked.prompt else SURE) as server:
        outcome = ask(study_of(3), server, tmp_path / "some")
        assert outcome.remarks[0].startswith("run 1: no expected score for 1 of 3 scores")
        server.script = lambda asked: decimal
        outcome = ask(study_of(3), server, tmp_path / "none")
        assert outcome.without_score[0].startswith("run 1: no expected score for 3 of 3 scores")


def test_unfit_combinations_are_refused_before_anything_is_sent(study_of, tmp_path):
    with Endpoint() as server:
        for options, said in (
            ({"score": "guessed"}, "there is no such score"),
            ({"omit": ["logprobs"]}, "--omit logprobs: --score expected needs it"),
        ):
            with pytest.raises(UserError, match=said):
                ask(study_of(1), server, tmp_path / "out", **options)
        assert server.asked == []


def test_without_a_prompt_of_ones_own_whole_levels_are_asked_for(study_of, tmp_path):
    with Endpoint(lambda asked: SURE) as server:
        outcome = ask(study_of(1), server, tmp_path / "out", prompt=None)
    assert outcome.paths[0].name == "judge-empathy%2Dlevels-iter1.xlsx"
    assert "Give a whole number, without decimals." in server.asked[0].prompt
    assert "Decimals are allowed" not in server.asked[0].prompt


# Evaluated


def test_evaluation_takes_the_expected_score_if_asked_and_refuses_files_without(study_of, tmp_path):
    study = study_of(6)
    with Endpoint(lambda asked: SURE) as server:
        ask(study, server, tmp_path / "out")
        server.script = lambda asked: GOOD
        ask(study, server, tmp_path / "stated", score="stated")
    truth = read_predictions(next((tmp_path / "out").glob("*.xlsx"))).frame["ground_truth"]
    found = {score: evaluate(tmp_path / "out", score=score, draws=50) for score in ("stated", "expected")}
    for score, value in (("stated", 4.0), ("expected", 3.5 / 0.85)):
        error = found[score].metrics.mean.loc["mean_absolute_error", "estimate"]
        assert error == pytest.approx((truth - value).abs().mean())
    assert found["expected"].notes[0].startswith("Scores are expected values")
    assert json.loads(found["expected"].to_json())["score"] == "expected"
    with pytest.raises(UserError, match="the column expected_score is missing or empty"):
        evaluate(tmp_path / "stated", score="expected")
    with pytest.raises(UserError, match="Give --policy strict"):
        evaluate(tmp_path / "out", score="expected", policy="authors")
    with pytest.raises(UserError, match="no such score"):
        evaluate(tmp_path / "out", score="guessed")


def test_the_commands_take_it(sheets_of, tmp_path):
    write_sheets(sheets_of(4), tmp_path / "data.xlsx")
    with Endpoint(lambda asked: SURE) as server:
        arguments = ["run", "--data", str(tmp_path / "data.xlsx"), "--base-url", server.address, "--model", "judge"]
        said = CliRunner().invoke(judge_commands, [*arguments, "--score", "expected", "--out", str(tmp_path / "out")])
        assert said.exit_code == 0, said.output
        assert Path(said.stdout.strip()).name == "judge-empathy%2Dlevels-iter1.xlsx"
        assert "Give a whole number, without decimals." in server.asked[0].prompt
    said = CliRunner().invoke(
        judge_commands, ["evaluate", str(tmp_path / "out"), "--score", "expected", "--draws", "50"]
    )
    assert "Scores are expected values over the probabilities of the levels" in said.stdout


def test_statuses_stay_as_they_are(study_of, tmp_path):
    with Endpoint(lambda asked: SURE if asked.number % 2 else Answered(text="no")) as server:
        assert ask(study_of(4), server, tmp_path / "out").statuses == Counter(ok=2, parse_failure=2)
