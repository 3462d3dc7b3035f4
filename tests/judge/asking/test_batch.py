"""Requests out as a batch, replies back in: matched by what they say, in any order and state."""

import json
import re
from types import SimpleNamespace

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from helpers import naming
from sense7.cli.judge import judge as judge_commands
from sense7.judge.asking.answers import NoCompletion, read_response
from sense7.judge.asking.batch import MISSING, export_requests, import_replies, request_name
from sense7.judge.asking.requests import Prompt, request_body
from sense7.judge.asking.session import questions_for
from sense7.judge.files import read_predictions
from sense7.workbook import write_sheets
from sense7.workbook.sheets import parse_sheets


@pytest.fixture(scope="module")
def questions(minimal_sheets):
    said = [f"Message {number} of conversation {name}." for name in range(4) for number in range(4)]
    study = parse_sheets(minimal_sheets(messages={"Content": said}))
    return questions_for(study, Prompt("brief", "Rate this: {chat}"), "gpt-4o")


@pytest.fixture(scope="module")
def requests(questions, tmp_path_factory):
    """The exported requests of three runs."""
    path = tmp_path_factory.mktemp("batch") / "requests.jsonl"
    assert export_requests(questions, 3, path) == 12
    return [json.loads(line) for line in path.read_text().splitlines()]


def completed(text="<S0>Kind.</S0><S2>4</S2>", **changes):
    """What the Batch API gives for a request."""
    choice = {
        "index": 0,
        "message": {"role": "assistant", "content": text},
        "finish_reason": "stop",
    }
    usage = {"prompt_tokens": 100, "completion_tokens": 9}
    return {
        "status_code": 200,
        "body": {"id": "chatcmpl-1", "choices": [choice], "usage": usage} | changes,
    }


def reply(request, said=None):
    """A line of replies, of a response or of all that it says but which request it is to."""
    said = completed() if said is None else said
    name = request if isinstance(request, str) else request["custom_id"]
    return {"custom_id": name, "error": None} | (said if "response" in said else {"response": said})


EXPIRED = {"response": None, "error": {"code": "batch_expired", "message": "Not executed in time."}}


def imported(questions, folder, records, **options):
    (folder / "replies.jsonl").write_text("".join(f"{json.dumps(record)}\n" for record in records))
    return import_replies(questions, [folder / "replies.jsonl"], folder / "out", **options)


def frames(found):
    return [read_predictions(path).frame for path in found.paths]


def test_requests_are_the_authors_and_in_the_form_of_the_batch_api(questions, requests):
    assert [request.pop("body") for request in map(dict, requests)] == [
        request_body("gpt-4o", prompt) for prompt in questions.frame["prompt"]
    ] * 3
    assert {(request["method"], request["url"], len(request)) for request in requests} == {
        ("POST", "/v1/chat/completions", 4)
    }


@given(
    names=st.lists(st.text(max_size=90), unique=True, min_size=2),
    shas=st.lists(st.text(), min_size=1),
)
def test_ids_are_short_plain_and_never_shared(names, shas):
    units = [
        SimpleNamespace(conversation=name, request_sha256=sha)
        for name in names
        for sha in set(shas)
    ]
    ids = {f"run999999-{request_name(unit)}" for unit in units}
    assert len(ids) == len(units)
    assert all(re.fullmatch("[a-z0-9-]{1,64}", made) for made in ids)


OUTCOMES = [
    ("ok", completed("<S2>4</S2>"), ""),
    ("ok", completed("<s2>5</s2>", model="half \ud83d"), ""),
    ("parse_failure", completed("four"), "<S2>"),
    (
        "parse_failure",
        {"body": completed(None)["body"]},
        "",
    ),  # some write no status
    (
        "refusal",
        {"status_code": 400, "body": {"error": {"code": "content_filter", "message": "filtered"}}},
        "filtered",
    ),
    ("not_asked", EXPIRED, "batch_expired: Not executed in time."),
    ("api_error", {"response": None}, ""),
    ("api_error", {"status_code": 429, "body": "slow down"}, "HTTP 429: slow down"),
    (
        "api_error",
        {"status_code": 500, "body": {"error": {"message": "an error"}}},
        "HTTP 500: an error",
    ),
    ("api_error", {"status_code": 200}, "without a message"),
    (
        "api_error",
        completed(choices=[]),
        "choices",
    ),
]
"""Status, what a batch holds of a reply, and what the reason of its row names."""


def test_the_reason_stands_in_the_row_of_each_reply(questions, requests, tmp_path):
    records = [
        reply(request, said) for request, (_, said, _) in zip(requests, OUTCOMES, strict=False)
    ]
    rows = pd.concat(frames(imported(questions, tmp_path, records)))
    assert rows["status"].tolist()[: len(OUTCOMES)] == [status for status, *_ in OUTCOMES]
    naming.check("\n".join(rows["reason"].dropna()), "batch_expired", "HTTP 429", "HTTP 500")


@settings(max_examples=25)
@given(data=st.data())
def test_every_reply_goes_to_its_request_and_nothing_is_guessed(
    questions, requests, tmp_path_factory, data
):
    known = {}
    for request in requests[:8]:  # of two runs
        if data.draw(st.booleans()) or not known:
            known[request["custom_id"]] = data.draw(st.sampled_from(OUTCOMES))
    records = [reply(name, said) for name, (_, said, _) in known.items()]
    foreign = data.draw(st.sampled_from(["run1-x", "other", requests[8]["custom_id"]]))
    folder = tmp_path_factory.mktemp("batch")
    found = imported(
        questions, folder, data.draw(st.permutations([*records, reply(foreign)])), runs=2
    )
    assert (found.missing, found.foreign, found.repeated) == (8 - len(known), [foreign], 0)
    for start, frame in zip((0, 4), frames(found), strict=True):
        wanted = [
            known.get(one["custom_id"], ("not_asked", {}, MISSING))
            for one in requests[start : start + 4]
        ]
        assert frame["conversation"].tolist() == list(questions.units)
        assert frame["status"].tolist() == [status for status, *_ in wanted]
        assert (frame["score"].notna() == (frame["status"] == "ok")).all()
        assert all(
            named in reason for reason, (*_, named) in zip(frame["reason"], wanted, strict=True)
        )


@pytest.mark.parametrize(
    ("status", "known"), [("200", True), (200.0, True), (None, True), ("ok", False), ([], False)]
)
def test_a_status_may_be_a_text(status, known, questions, requests, tmp_path):
    line = reply(requests[0])
    line["response"]["status_code"] = status
    found = imported(questions, tmp_path, [line, reply(requests[1])], runs=1)
    (frame,) = frames(found)
    assert frame["status"].tolist()[0] == ("ok" if known else "api_error")


def test_what_a_file_says_of_a_reply_and_what_no_cell_can_hold(questions, requests, tmp_path):
    usage = {"prompt_tokens": 10**400, "completion_tokens": 9}
    odd = completed(model="half \ud83d", system_fingerprint="f" * 40_000, usage=usage)
    found = imported(questions, tmp_path, [reply(requests[0], odd), reply(requests[1])], runs=1)
    (frame,) = frames(found)
    assert frame["returned_model"].tolist()[:2] == ["half \ufffd", None]
    assert frame["input_tokens"].tolist()[1] == 100
    assert frame["input_tokens"].isna().tolist() == [True, False, True, True]
    assert frame["output_tokens"].tolist()[:2] == [9, 9]
    assert frame["reasoning"].tolist()[:2] == ["Kind."] * 2
    assert frame["seconds"].isna().all()  # a batch does not say
    columns = [remark.split(": ")[1] for remark in found.remarks if ": column " in remark]
    assert columns == ["column returned_model", "column system_fingerprint"]


junk = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.just(10**400) | st.text(),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=5,
)


@settings(max_examples=200)
@given(
    body=junk,
    usage=junk | st.fixed_dictionaries({"prompt_tokens": junk, "completion_tokens": junk}),
)
def test_what_is_no_completion_is_refused_and_never_half_read(body, usage):
    with pytest.raises(NoCompletion):
        read_response(200, body)
    read = read_response(200, completed(usage=usage, model=body)["body"])
    assert read["output"] == "<S0>Kind.</S0><S2>4</S2>"
    for name in ("input_tokens", "output_tokens"):
        assert read[name] is None or float(read[name]) == read[name]
    assert read["returned_model"] is None or isinstance(body, str)


def test_of_several_replies_the_first_that_was_answered_counts(questions, requests, tmp_path):
    one, scores = requests[0], [completed(f"<S2>{score}</S2>") for score in (2, 5)]
    records = [reply(one, EXPIRED), *(reply(one, score) for score in scores), reply(one, EXPIRED)]
    found = imported(questions, tmp_path, records)
    assert (found.repeated, frames(found)[0]["score"][0]) == (3, 2.0)


def test_a_reply_to_a_run_far_beyond_the_others_is_foreign(questions, requests, tmp_path):
    records = [reply(requests[0]), reply(requests[0]["custom_id"].replace("run1-", "run999999-"))]
    found = imported(questions, tmp_path, records)
    assert (len(found.paths), len(found.foreign)) == (1, 1)


@pytest.mark.parametrize(
    ("content", "places"),
    [
        (b"", ["0 replies"]),
        (b'{"custom_id": "run1-of another prompt"}', ["1 reply", "'run1-of another prompt'"]),
        (b'{"custom_id": "run1-x", "method": "POST", "body": {}}', ["line 1", "request"]),
        (b'{"custom_id": "run1', ["line 1", "column 15"]),
        (b'{"custom_id": ' + b"[" * 100_000, ["line 1"]),
        (b'\n{"custom_id": 3}\n', ["line 2", "custom_id"]),
        (b"[]", ["line 1", "custom_id"]),
        (b"\xff\xfe", ["line 1", "byte 1"]),
        (None, []),
    ],
    ids=["empty", "foreign", "requests", "cut", "nested", "number", "list", "UTF-16", "none"],
)
def test_a_file_that_is_none_of_replies_is_refused_with_its_line(
    content, places, questions, tmp_path
):
    if content is not None:
        (tmp_path / "replies.jsonl").write_bytes(content)
    with naming.refused(tmp_path / "replies.jsonl", *places):
        import_replies(questions, [tmp_path / "replies.jsonl"], tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_folder_that_holds_a_session_is_left_alone(questions, requests, tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "journal.sqlite").touch()
    with naming.refused(tmp_path / "out", "sense7 judge run"):
        imported(questions, tmp_path, [reply(requests[0])])


def test_out_and_in_by_the_commands(minimal_sheets, tmp_path):
    data = tmp_path / "data.xlsx"
    write_sheets(list(minimal_sheets().values()), data)

    def invoke(*arguments):
        done = CliRunner().invoke(
            judge_commands, ["batch", *map(str, arguments)], catch_exceptions=False
        )
        assert done.exit_code == 0, done.output
        return done

    out, replies = tmp_path / "requests.jsonl", tmp_path / "output.jsonl"
    said = invoke("export", "--data", data, "--runs", 2, "--out", out)
    assert said.stdout.strip() == str(out)
    naming.check(said.stderr, 8)
    requests = [json.loads(line) for line in out.read_text().splitlines()]
    records = [*map(reply, [*requests[:6], requests[0], "mine"]), reply(requests[6], EXPIRED)]
    replies.write_text("".join(f"{json.dumps(record)}\n" for record in records))
    said = invoke("import", replies, "--data", data, "--out", tmp_path / "out")
    naming.check(said.stderr, "'mine'", "2 runs", "not_asked 2", "ok 6")
    assert [len(read_predictions(path).frame) for path in said.stdout.split()] == [4, 4]
