"""Models that want other parameters, endpoints with limits: what is refused is said with the option that helps."""

import json
import ssl
from collections import Counter
from pathlib import Path

import openpyxl
import pytest
from typer.testing import CliRunner

from helpers import endpoint
from helpers.extras import need_the_judge
from helpers.judged import kept_in
from sense7.cli.judge import judge as judge_commands
from sense7.errors import UserError
from sense7.judge import session
from sense7.judge.endpoint import Endpoint as Address
from sense7.judge.files import counted_scores, read_predictions
from sense7.judge.journal import JOURNAL
from sense7.judge.requests import REQUEST, Prompt, by_model, parse_parameters, request_parameters
from sense7.judge.session import carry_out, plan_session
from sense7.workbook import write_sheets
from sense7.workbook.sheets import parse_sheets

need_the_judge()

Endpoint, Answered, GOOD = endpoint.Endpoint, endpoint.Answer, endpoint.GOOD
CERTIFICATE = Path(__file__).parent / "loopback.pem"
BRIEF = Prompt("brief", "Rate this: {chat}")


@pytest.fixture
def sheets_of(minimal_sheets):
    """Sheets of so many conversations in which different things are said."""

    def build(conversations, words=""):
        said = [
            f"Message {number} of conversation {name}.{words}" for name in range(conversations) for number in (1, 2)
        ]
        return minimal_sheets(conversations=conversations, turns=1, messages={"Content": said})

    return build


@pytest.fixture
def study_of(sheets_of):
    return lambda *given: parse_sheets(sheets_of(*given))


def ask(study, address, folder, *, say=lambda line: None, **options):
    known = {"model": "judge", "prompt": BRIEF, "concurrency": 4, "backoff": 0.01, "timeout": 60.0} | options
    plan = plan_session(study, endpoint=Address.of(address), folder=folder, **known)
    return carry_out(plan, say=say)


def frame_of(outcome):
    return read_predictions(outcome.paths[0]).frame


# Parameters


def test_a_reasoning_model_gets_its_own_limit_and_no_sampling(study_of, tmp_path):
    with Endpoint() as server:
        ask(study_of(1), server.address, tmp_path / "out", model="openai/o3-mini")
    body = server.asked[0].body
    assert {name: body[name] for name in body if name not in ("model", "messages")} == {
        "max_completion_tokens": 10_000,
        "reasoning_effort": "medium",
    }


def test_every_entry_of_the_table_names_a_model_and_keeps_a_limit_of_tokens():
    for model in ("o1", "o3", "o4-mini-2025-04-16", "gpt-5", "gpt-5-mini", "gpt-5.1"):
        assert request_parameters(model).keys() == {"max_completion_tokens", "reasoning_effort"}
    for model in ("claude-opus-4-1-20250805", "anthropic/claude-sonnet-4-5", "claude-haiku-4-5"):
        assert request_parameters(model).keys() == REQUEST.keys() - {"top_p"}
    for model in ("gemini-2.5-flash", "grok-4-fast"):
        assert request_parameters(model).keys() == {"temperature", "top_p", "max_tokens"}
    for model in ("gpt-4o", "gpt-5-chat-latest", "claude-opus-4-20250514", "o365", "judge", "llama3.1:8b"):
        assert by_model(model)["why"] == ""
        assert request_parameters(model) == REQUEST


def test_free_parameters_are_sent_as_they_were_given_and_remembered(study_of, tmp_path):
    given = parse_parameters(["max_completion_tokens=500", 'reasoning={"effort": "low"}', "seed=null", "top_p=0.5"])
    with Endpoint() as server:
        ask(study_of(1), server.address, tmp_path / "out", param=given, omit=["presence_penalty"])
        body = server.asked[0].body
        expected = {"temperature": 0.0, "top_p": 0.5, "frequency_penalty": 0.0, "max_completion_tokens": 500}
        assert {name: body[name] for name in body if name not in ("model", "messages")} == expected | {
            "reasoning": {"effort": "low"},
            "seed": None,
        }
        said = r'request: {"seed": null} there, {"seed": 1} now'
        with pytest.raises(UserError, match="asked something else") as caught:
            ask(study_of(1), server.address, tmp_path / "out", param=given | {"seed": 1}, omit=["presence_penalty"])
        assert said in str(caught.value)
        assert len(server.asked) == 1


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("seed", "give a name, an equals sign and JSON"),
        ("=1", "give a name, an equals sign and JSON"),
        ("effort=low", "--param 'effort=\"low\"'"),
        ("seed=", "is no JSON"),
        ("seed=NaN", "is no JSON"),
        ("seed=1e999", "is no JSON"),
        ("seed=" + "[" * 100_000, "is no JSON"),
        ("model=1", "is no free parameter. Give --model"),
        ("stream=true", "is no free parameter. Replies are read whole"),
        ("n=2", "is no free parameter. One reply is read: give --runs"),
        ("max_tokens=0", "Give a whole number from 1"),
        ("max_tokens=true", "Give a whole number from 1"),
    ],
)
def test_what_is_no_parameter_is_refused_with_the_way_to_write_it(text, said):
    with pytest.raises(UserError) as caught:
        parse_parameters([text])
    assert said in str(caught.value)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"param": {"seed": 1}, "omit": ["seed"]}, "seed: is left out by --omit and given by --param"),
        ({"omit": ["temprature"]}, "--omit temprature: is no parameter of the requests. Choose of frequency_penalty"),
        ({"omit": ["max_tokens"]}, "--omit max_tokens: a reply needs a limit of tokens"),
        ({"per_minute": 0}, "per_minute is 0. Give a number from 1"),
        ({"context": 0}, "context is 0. Give a number from 1"),
    ],
)
def test_unfit_options_are_refused_before_anything_is_written(options, said, study_of, tmp_path):
    with Endpoint() as server, pytest.raises(UserError) as caught:
        ask(study_of(1), server.address, tmp_path / "out", **options)
    assert said in str(caught.value)
    assert server.asked == []
    assert list(tmp_path.iterdir()) == []


def test_a_parameter_given_twice_is_refused():
    with pytest.raises(UserError, match="--param seed: is given twice"):
        parse_parameters(["seed=1", "seed=2"])


# The first call


def test_a_refused_parameter_costs_one_call_and_the_corrected_command_goes_on_in_the_same_folder(study_of, tmp_path):
    study, folder = study_of(6), tmp_path / "out"
    with Endpoint(endpoint.refuses("max_tokens", "temperature")) as server:
        outcome = ask(study, server.address, folder)
        assert len(server.asked) == 1
        assert outcome.final
        assert "the endpoint refuses the parameter max_tokens (HTTP 400: Unsupported" in outcome.stopped
        assert outcome.stopped.endswith("Give --param max_completion_tokens=3000")
        corrected = {"param": {"max_completion_tokens": 3000}}
        assert ask(study, server.address, folder, **corrected).stopped.endswith("Give --omit temperature")
        done = ask(study, server.address, folder, **corrected, omit=["temperature"])
        assert (done.stopped, done.statuses) == ("", Counter(ok=6))
        assert len(server.asked) == 8
        assert set(server.times_answered().values()) == {1}
        with pytest.raises(UserError, match="asked something else"):
            ask(study, server.address, folder)
        assert ask(study, server.address, folder, **corrected, omit=["temperature"]).statuses == Counter(ok=6)
        assert len(server.asked) == 8


def test_the_answer_of_the_first_call_counts_and_is_not_asked_for_again(study_of, tmp_path):
    with Endpoint(latency=0.2) as server:
        ask(study_of(5), server.address, tmp_path / "out")
    at = [asked.at for asked in server.asked]
    assert len(at) == 5
    assert at[1] - at[0] >= 0.2, "the others follow when the first is answered"
    assert len(kept_in(tmp_path / "out")) == 5


def test_the_others_do_not_wait_long_for_a_slow_first_answer(study_of, tmp_path, monkeypatch):
    monkeypatch.setattr(session, "HEAD_START", 0.2)
    with Endpoint(latency=2.0) as server:
        ask(study_of(4), server.address, tmp_path / "out")
    assert server.most_at_once == 4


@pytest.mark.parametrize(
    ("body", "remedy"),
    [
        (endpoint.error_body("Unsupported value", param="temperature"), "Give --omit temperature"),
        (endpoint.error_body("bad", param="seed"), "Leave out --param seed"),
        (b'{"error": "Model grok does not support parameter presencePenalty."}', "Give --omit presence_penalty"),
        (b'[{"error": {"code": 400, "message": "Unknown name \\"top_p\\": Cannot find field."}}]', "Give --omit top_p"),
        (
            b'{"detail": [{"loc": ["body", "frequency_penalty"], "msg": "not permitted", "input": {"seed": 1}}]}',
            "Give --omit frequency_penalty",
        ),
    ],
    ids=["OpenAI", "free", "xAI", "Gemini", "pydantic"],
)
def test_whatever_words_a_refusal_has_the_parameter_and_the_remedy_are_named(body, remedy, study_of, tmp_path):
    with Endpoint(lambda asked: Answered(status=400, body=body)) as server:
        outcome = ask(study_of(3), server.address, tmp_path / "out", param={"seed": 1})
        assert len(server.asked) == 1
    assert outcome.stopped.endswith(remedy)


def test_a_refusal_that_names_no_parameter_concerns_one_conversation(study_of, tmp_path):
    body = endpoint.error_body("The conversation is not acceptable.")
    bad = Answered(status=400, body=body)
    with Endpoint(lambda asked: bad if "conversation 0" in asked.prompt else GOOD) as server:
        outcome = ask(study_of(3), server.address, tmp_path / "out")
    assert (outcome.stopped, outcome.statuses) == ("", Counter(ok=2, api_error=1))


# Limits


def test_requests_begin_no_faster_than_a_minute_allows(study_of, tmp_path):
    with Endpoint() as server:
        ask(study_of(5), server.address, tmp_path / "out", per_minute=300)
    at = [asked.at for asked in server.asked]
    assert at[-1] - at[0] >= 4 * 0.2 - 0.05


def test_an_overrun_endpoint_is_sent_fewer_at_once_and_that_is_said(study_of, tmp_path):
    lines, script = [], endpoint.takes_at_once(2)
    with Endpoint(script, latency=0.02) as server:
        script.server = server
        options = {"concurrency": 8, "retries": 50, "backoff": 0.05}
        outcome = ask(study_of(30), server.address, tmp_path / "out", say=lines.append, **options)
        refused = len(server.asked) - 30
    assert outcome.statuses == Counter(ok=30)
    assert lines[0].startswith("HTTP 429 without a time to wait: 4 requests at once from now on")
    assert refused < 60
    assert set(server.times_answered().values()) == {1}


def test_a_429_that_names_a_time_changes_no_number(study_of, tmp_path):
    lines = []
    script = lambda asked: endpoint.rate_limited(0) if asked.time == 1 else GOOD  # noqa: E731
    with Endpoint(script) as server:
        ask(study_of(6), server.address, tmp_path / "out", say=lines.append)
    assert lines == []


# Context


LONG = " and so on and on" * 1000
"""About 17,000 characters."""


def test_a_prompt_that_the_endpoint_cut_is_a_failure_and_never_a_score(study_of, tmp_path):
    study, folder = study_of(2, LONG), tmp_path / "out"
    with Endpoint(lambda asked: Answered(prompt_tokens=2048)) as server:
        outcome = ask(study, server.address, folder, context=6000)
        assert outcome.statuses == Counter(prompt_cut=2)
        frame = frame_of(outcome)
        assert frame["status"].tolist() == ["prompt_cut"] * 2
        assert frame["score"].isna().all()
        assert counted_scores(frame, "authors").tolist() == [3.0, 3.0]
        assert frame["output"].str.contains("<S2>4</S2>").all(), "what came is kept"
        assert frame["reason"][0].startswith("the endpoint cut the prompt: it counted 2,048 tokens of about 8,")
        assert outcome.tally.input_tokens == 2 * 2048, "paid for"
        rows = list(openpyxl.load_workbook(outcome.paths[0])["results"].values)
        assert [row[rows[0].index("IS_EMPATHY")] for row in rows[1:]] == [None, None]
        server.script = lambda asked: GOOD
        assert ask(study, server.address, folder).statuses == Counter(ok=2)
        assert len(server.asked) == 4


def test_a_prompt_that_fills_the_known_context_was_cut(study_of, tmp_path):
    with Endpoint(lambda asked: Answered(prompt_tokens=8192)) as server:
        outcome = ask(study_of(1, LONG), server.address, tmp_path / "out", context=8192)
    assert outcome.statuses == Counter(prompt_cut=1)


@pytest.mark.parametrize("name", ["max_model_len", "context_length", "loaded_context_length"])
def test_the_context_is_asked_for_and_what_is_longer_is_not_sent(name, study_of, tmp_path):
    lines, models = [], {"data": [{"id": "other", name: 10**6}, {"id": "judge", name: 4096}]}
    study = study_of(3, LONG)
    with Endpoint(models=models) as server:
        outcome = ask(study, server.address, tmp_path / "out", say=lines.append, give_up_after=1)
        assert server.asked == []
        assert lines == ["the model's context has 4,096 tokens, as the endpoint says"]
        assert outcome.statuses == Counter(not_asked=3)
        assert outcome.stopped == ""
        assert frame_of(outcome)["reason"][0].startswith("not sent: the prompt has about 8,")
        assert ask(study, server.address, tmp_path / "out", context=32_768).statuses == Counter(ok=3)
        assert len(server.asked) == 3


@pytest.mark.parametrize(
    "models", [[], {"data": 4}, {"data": [{"id": "judge"}]}, {"data": [{"id": "judge", "max_model_len": "x"}]}]
)
def test_an_endpoint_that_does_not_say_its_context_is_asked_all_the_same(models, study_of, tmp_path):
    with Endpoint(models=models) as server:
        assert ask(study_of(1), server.address, tmp_path / "out").statuses == Counter(ok=1)


def test_a_prompt_that_the_endpoint_refuses_for_its_length_has_that_status(study_of, tmp_path):
    said = "This model's maximum context length is 4096 tokens. Please reduce the length, or max_tokens."
    bad = Answered(status=400, body=endpoint.error_body(said, "context_length_exceeded", "messages"))
    with Endpoint(lambda asked: bad if "conversation 0" in asked.prompt else GOOD) as server:
        outcome = ask(study_of(2), server.address, tmp_path / "out")
    assert (outcome.stopped, outcome.statuses) == ("", Counter(ok=1, prompt_cut=1))


# Addresses that can't work


def test_a_certificate_that_nobody_trusts_is_one_sentence_and_one_call(study_of, tmp_path):
    with Endpoint(certificate=CERTIFICATE) as server:
        outcome = ask(study_of(5), server.address, tmp_path / "out")
        assert server.asked == []
    assert "stopped after 1 of 5 calls: the endpoint's certificate is not trusted." in outcome.stopped
    assert "SSL_CERT_FILE" in outcome.stopped


def test_a_certificate_that_the_user_trusts_is_enough(study_of, tmp_path, monkeypatch):
    monkeypatch.setenv("SSL_CERT_FILE", str(CERTIFICATE))
    assert ssl.create_default_context().get_ca_certs(), "the platform reads the variable"
    with Endpoint(certificate=CERTIFICATE) as server:
        assert ask(study_of(2), server.address, tmp_path / "out").statuses == Counter(ok=2)


def test_https_where_no_tls_is_spoken(study_of, tmp_path):
    with Endpoint() as server:
        outcome = ask(study_of(5), server.address.replace("http:", "https:"), tmp_path / "out")
    assert "the endpoint does not speak TLS. Begin --base-url with http: in place of https:" in outcome.stopped


def test_a_redirect_names_where_it_leads_and_is_not_followed(study_of, tmp_path):
    there = (("Location", "https://user:secret@elsewhere.example/v2/chat/completions?token=secret"),)
    with Endpoint(lambda asked: Answered(status=308, headers=there)) as server:
        outcome = ask(study_of(5), server.address, tmp_path / "out")
        assert len(server.asked) == 1
    assert "HTTP 308: the endpoint redirects to https://elsewhere.example/v2, and" in outcome.stopped
    assert outcome.stopped.endswith("give it as --base-url")
    assert "secret" not in outcome.stopped
    assert b"secret" not in (tmp_path / "out" / JOURNAL).read_bytes()


# The command


@pytest.fixture
def invoked(sheets_of, tmp_path):
    """What the command says of a session with five conversations in the folder ``out``."""
    write_sheets(sheets_of(5), tmp_path / "data.xlsx")
    common = ["run", "--data", str(tmp_path / "data.xlsx"), "--out", str(tmp_path / "out"), "--model", "judge"]

    def run(server, *options):
        return CliRunner().invoke(judge_commands, [*common, "--base-url", server.address, *options])

    return run


def test_the_command_says_what_was_refused_and_what_helps(invoked, tmp_path):
    with Endpoint(endpoint.refuses("max_tokens")) as server:
        said = invoked(server)
        assert said.exit_code == 1
        assert "Give --param max_completion_tokens=3000" in said.stderr
        assert "5 without an answer; corrected in this way, the command asks for these again" in said.stderr
        said = invoked(server, "--param", "max_completion_tokens=3000", "--per-minute", "6000")
        assert said.exit_code == 0, said.output
        assert "parameters     the authors', without max_tokens and with max_completion_tokens=3000" in said.stderr
    answers = kept_in(tmp_path / "out")
    assert len(answers) == 5


def test_the_command_says_what_was_cut_and_how_to_correct_it(invoked):
    with Endpoint(lambda asked: Answered(prompt_tokens=100_000)) as server:
        said = invoked(server, "--context", "100000")
        assert said.exit_code == 1
        assert "5 longer than the context of the model, and without a score" in said.stderr
        assert "OLLAMA_CONTEXT_LENGTH" in said.stderr


def test_parameters_reach_a_batch_as_well(invoked, tmp_path):
    path = str(tmp_path / "requests.jsonl")
    arguments = ["batch", "export", "--data", str(tmp_path / "data.xlsx"), "--out", path, "--param", "seed=7"]
    assert CliRunner().invoke(judge_commands, [*arguments, "--model", "judge"]).exit_code == 0
    bodies = [json.loads(line)["body"] for line in Path(path).read_text().splitlines()]
    assert {body["seed"] for body in bodies} == {7}
