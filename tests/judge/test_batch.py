"""Requests out as a batch, replies back in: matched by what they say, in any order and state."""

import json
import re
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from sense7.cli.judge import judge as judge_commands
from sense7.errors import UserError
from sense7.judge.batch import MISSING, export_requests, import_replies, request_name
from sense7.judge.files import read_predictions
from sense7.judge.requests import REQUEST, Prompt, request_body
from sense7.judge.session import questions_for
from sense7.workbook import write_sheets
from sense7.workbook.sheets import parse_sheets


@pytest.fixture
def questions(minimal_sheets):
    said = [f"Message {number} of conversation {name}." for name in range(4) for number in range(4)]
    study = parse_sheets(minimal_sheets(messages={"Content": said}))
    return questions_for(study, Prompt("brief", "Rate this: {chat}"), "gpt-4o")


@pytest.fixture
def requests(questions, tmp_path):
    """The exported requests of three runs."""
    path = tmp_path / "requests.jsonl"
    assert export_requests(questions, 3, path) == 12
    return [json.loads(line) for line in path.read_text().splitlines()]


def reply(request, text=None, **changes):
    """A reply as the Batch API gives it, which says to which request it is."""
    text = f"<S0>To {request['custom_id']}.</S0><S2>4</S2>" if text is None else text
    body = {
        "id": "chatcmpl-1",
        "model": "gpt-4o-2024-08-06",
        "system_fingerprint": "fp_1",
        "choices": [{"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 100, "completion_tokens": 9},
    }
    response = {"status_code": 200, "request_id": "r", "body": body}
    return {"id": "batch_req_1", "custom_id": request["custom_id"], "response": response, "error": None} | changes


def error(request, status=400, **problem):
    return reply(request, response={"status_code": status, "body": {"error": problem}})


def expired(request):
    return reply(request, response=None, error={"code": "batch_expired", "message": "Not executed in time."})


def write(path, records):
    path.write_text("".join(f"{json.dumps(record)}\n" for record in records))
    return path


def imported(questions, tmp_path, records, **options):
    return import_replies(questions, [write(tmp_path / "replies.jsonl", records)], tmp_path / "out", **options)


def frames(found):
    return [read_predictions(path).frame for path in found.paths]


# Out


def test_requests_are_the_authors_and_in_the_form_of_the_batch_api(questions, requests):
    for request in requests:
        assert request.keys() == {"custom_id", "method", "url", "body"}
        assert (request["method"], request["url"]) == ("POST", "/v1/chat/completions")
        assert request["body"].keys() == {"model", "messages", *REQUEST}
    prompts = questions.frame["prompt"].tolist()
    assert [request["body"] for request in requests] == [request_body("gpt-4o", prompt) for prompt in prompts] * 3
    assert len({request["custom_id"] for request in requests}) == 12


@given(names=st.lists(st.text(min_size=1, max_size=90), unique=True, min_size=2), shas=st.lists(st.text(), min_size=2))
def test_ids_are_short_plain_and_never_shared(names, shas):
    units = [SimpleNamespace(conversation=name, request_sha256=sha) for name in names for sha in set(shas)]
    ids = [f"run999999-{request_name(unit)}" for unit in units]
    assert len(set(ids)) == len(units)
    assert all(re.fullmatch("[a-z0-9-]{1,64}", made) for made in ids)


# In


def test_replies_in_any_order_go_to_their_conversations(questions, requests, tmp_path):
    records = [reply(request) for request in requests]
    found = imported(questions, tmp_path, records[5:] + records[4::-1])
    assert [path.name for path in found.paths] == [f"gpt-4o-brief-iter{run}.xlsx" for run in (1, 2, 3)]
    assert (found.missing, found.repeated, found.foreign, found.remarks) == (0, 0, [], [])
    assert found.statuses == {"ok": 12}
    for run, frame in enumerate(frames(found), 1):
        assert frame["conversation"].tolist() == list(questions.units)
        assert frame["ground_truth"].tolist() == questions.frame["ground_truth"].tolist()
        for row in frame.itertuples():
            assert row.reasoning == f"To run{run}-{request_name(questions.units[row.conversation])}."
        assert set(frame["returned_model"]) == {"gpt-4o-2024-08-06"}
        assert set(frame["model"]) == {"gpt-4o"}
        assert set(frame["input_tokens"]) == {100.0}
        assert frame["seconds"].isna().all()  # a batch does not say


def test_missing_replies_and_errors_are_counted_and_nothing_is_guessed(questions, requests, tmp_path):
    first = requests[:4]
    records = [
        error(first[0], 500, message="The server had an error"),
        expired(first[1]),
        reply(first[2], "no score"),
    ]
    del records[2]["response"]["status_code"]  # some write a completion without it
    found = imported(questions, tmp_path, records)
    assert (found.missing, found.statuses) == (1, {"api_error": 1, "not_asked": 2, "parse_failure": 1})
    (frame,) = frames(found)
    assert frame["score"].isna().all()
    assert frame["reason"].tolist() == [
        "HTTP 500: The server had an error",
        "batch_expired: Not executed in time.",
        "no <S2> in the reply",
        MISSING,
    ]
    assert imported(questions, tmp_path, records, runs=3).missing == 9


@pytest.mark.parametrize(
    ("response", "reason"),
    [
        (None, "the reply has no response"),
        ({}, "what was returned is no chat completion: without a message"),
        ({"status_code": 200}, "what was returned is no chat completion: without a message"),
        ({"status_code": 200, "body": {"choices": []}}, "the completion has no reply in it: its choices are empty"),
        ({"status_code": 429, "body": "slow down"}, "HTTP 429: slow down"),
        ({"status_code": 400, "body": {"error": {"code": "content_filter", "message": "filtered"}}}, "filtered"),
    ],
)
def test_replies_that_hold_no_completion_are_errors(response, reason, questions, requests, tmp_path):
    (frame,) = frames(imported(questions, tmp_path, [reply(requests[0], response=response)]))
    assert frame["status"][0] == ("refusal" if "filtered" in reason else "api_error")
    assert frame["reason"][0] == reason


def test_of_several_replies_the_first_that_was_answered_counts(questions, requests, tmp_path):
    one = requests[0]
    found = imported(
        questions, tmp_path, [expired(one), reply(one, "<S2>2</S2>"), reply(one, "<S2>5</S2>"), expired(one)]
    )
    assert found.repeated == 3
    assert frames(found)[0]["score"][0] == 2.0


def test_replies_to_other_requests_are_left_out_and_named(questions, requests, tmp_path):
    other = {"custom_id": requests[1]["custom_id"].replace("run1-", "run1-x")}
    records = [reply(requests[0]), reply(other), reply({"custom_id": "mine"}), reply({"custom_id": "run0-x"})]
    found = imported(questions, tmp_path, records)
    assert found.foreign == [other["custom_id"], "mine", "run0-x"]
    assert found.statuses == {"ok": 1, "not_asked": 3}
    beyond = imported(questions, tmp_path, [reply(requests[0]), reply(requests[-1])], runs=2)
    assert beyond.foreign == [requests[-1]["custom_id"]]


def test_replies_to_another_prompt_are_refused(questions, requests, tmp_path, minimal_sheets):
    other = questions_for(parse_sheets(minimal_sheets()), Prompt("brief", "Rate that: {chat}"), "gpt-4o")
    with pytest.raises(UserError, match="none of 12 replies is to a request of these data and options"):
        imported(other, tmp_path, [reply(request) for request in requests])
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "none of 0 replies"),
        (b'{"custom_id": "run1', "line 1 is no JSON"),
        (b'{"custom_id": ' + b"[" * 100_000, r"replies\.jsonl: line 1 is no JSON"),
        (b'\n{"custom_id": 3}\n', "line 2 is no reply of a batch"),
        (b"[]", "line 1 is no reply of a batch"),
        (b"\xff\xfe", "not a text in UTF-8"),
        (None, "there is no such file"),
    ],
)
def test_a_file_that_is_none_of_replies_is_refused_with_its_line(content, said, questions, tmp_path):
    if content is not None:
        (tmp_path / "replies.jsonl").write_bytes(content)
    with pytest.raises(UserError, match=said):
        import_replies(questions, [tmp_path / "replies.jsonl"], tmp_path / "out")


def test_a_folder_that_holds_a_session_is_left_alone(questions, requests, tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "journal.sqlite").touch()
    with pytest.raises(UserError, match="holds a session"):
        imported(questions, tmp_path, [reply(requests[0])])


# The commands


def test_out_and_in_by_the_commands(minimal_sheets, tmp_path):
    data = tmp_path / "data.xlsx"
    write_sheets(list(minimal_sheets().values()), data)

    def invoke(*arguments):
        done = CliRunner().invoke(judge_commands, ["batch", *map(str, arguments)], catch_exceptions=False)
        assert done.exit_code == 0, done.output
        return done

    out = tmp_path / "requests.jsonl"
    said = invoke("export", "--data", data, "--runs", 2, "--out", out, "--price-in", 2, "--price-out", 8)
    assert said.stdout.strip() == str(out)
    assert "8 (4 conversations, runs: 2)" in said.stderr
    assert "at most" in said.stderr
    requests = [json.loads(line) for line in out.read_text().splitlines()]
    answered = write(tmp_path / "output.jsonl", [reply(request) for request in requests[:6]] + [reply(requests[0])])
    errors = write(tmp_path / "errors.jsonl", [expired(requests[6]), reply({"custom_id": "mine"})])
    said = invoke("import", answered, errors, "--data", data, "--out", tmp_path / "out")
    assert "1 request without a reply" in said.stderr
    assert "1 further reply to the same request left out" in said.stderr
    assert "1 reply to other requests left out; the first is 'mine'" in said.stderr
    assert "2 runs; not_asked 2, ok 6" in said.stderr
    assert [len(read_predictions(path).frame) for path in said.stdout.split()] == [4, 4]


def test_a_reply_to_a_run_far_beyond_the_others_makes_no_files_until_the_runs_are_said(questions, requests, tmp_path):
    far = reply(requests[0]) | {"custom_id": requests[0]["custom_id"].replace("run1-", "run999999-")}
    with pytest.raises(UserError, match=r"2 replies, one of them to run 999,999\. Say with --runs"):
        imported(questions, tmp_path, [reply(requests[0]), far])
    assert not (tmp_path / "out").exists()
    found = imported(questions, tmp_path, [reply(requests[0]), far], runs=1)
    assert (len(found.paths), len(found.foreign)) == (1, 1)


def test_what_no_cell_can_hold_is_no_reason_to_lose_a_reply(questions, requests, tmp_path):
    odd = reply(requests[0])
    odd["response"]["body"] |= {"model": "half \ud83d", "system_fingerprint": "f" * 40_000}
    odd["response"]["body"]["usage"] = {"prompt_tokens": 10**400, "completion_tokens": 9}
    found = imported(questions, tmp_path, [odd], runs=1)
    (frame,) = frames(found)
    assert frame.loc[0, "returned_model"] == "half \ufffd"
    assert frame["input_tokens"].isna().all()
    assert frame.loc[0, "output_tokens"] == 9
    assert [remark.split(": ")[1] for remark in found.remarks] == ["column returned_model", "column system_fingerprint"]
