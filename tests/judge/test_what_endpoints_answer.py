"""What endpoints answer, as the command shows it, in all the words that they use; no reply is bought twice."""

import contextlib
import email.utils
import errno
import fcntl
import gzip
import json
import math
import re
import time
from collections import Counter
from types import SimpleNamespace

import pytest
from typer.testing import CliRunner

from helpers import endpoint
from helpers.extras import need_the_judge
from sense7.cli.judge import judge as judge_commands
from sense7.errors import UserError
from sense7.judge import answers, session
from sense7.judge.files import counted_scores, read_predictions
from sense7.workbook import write_sheets

need_the_judge()

Endpoint, Answered, GOOD = endpoint.Endpoint, endpoint.Answer, endpoint.GOOD
WHOLE = "<S0>because</S0><S2>4</S2>"


@pytest.fixture
def run(minimal_sheets, tmp_path):
    """What ``sense7 judge run`` comes to: its exit code, its words, the rows of its file."""

    def invoke(address, *options, conversations=1, out="out"):
        said = [f"Message {number} of conversation {name}." for name in range(conversations) for number in (1, 2)]
        data = tmp_path / f"data{conversations}.xlsx"
        if not data.exists():
            write_sheets(minimal_sheets(conversations=conversations, turns=1, messages={"Content": said}), data)
        common = {"--backoff": 0.01, "--retries": 2, "--timeout": 60, "--model": "judge"}
        common |= {"--data": data, "--out": tmp_path / out, "--base-url": getattr(address, "address", address)}
        given = [str(part) for pair in common.items() for part in pair] + ["--yes", *map(str, options)]
        done = CliRunner().invoke(judge_commands, ["run", *given])
        paths = sorted((tmp_path / out).glob("*.xlsx"))
        rows = read_predictions(paths[0]).frame.to_dict("records") if paths else []
        error = str(done.exception) if isinstance(done.exception, UserError) else ""
        assert error or done.exception is None or isinstance(done.exception, SystemExit), done.exception
        return SimpleNamespace(
            code=done.exit_code, said=done.output + error, rows=rows, error=error, folder=tmp_path / out
        )

    return invoke


def answered(status=200, headers=(), **body):
    return Answered(status=status, headers=tuple(headers), body=json.dumps(body).encode())


def completion(content, finish="stop", *, usage=None, choice=None, **message):
    message = {"role": "assistant", "content": content, **message}
    choice = {"index": 0, "finish_reason": finish, "message": message, **(choice or {})}
    return answered(choices=[choice], usage=usage or {"prompt_tokens": 600, "completion_tokens": 5})


def part(text, kind="text"):
    return {"type": kind, kind: text}


# Shapes of replies, and how they ended


@pytest.mark.parametrize(
    ("answer", "status", "score", "reason"),
    [
        (completion([part(WHOLE)]), "ok", 4, ""),
        (completion([part("<S0>because</S0>"), part("<S2>4</S2>")]), "ok", 4, ""),
        (completion([part([part("<S2>1</S2>")], "thinking"), part(WHOLE)]), "ok", 4, ""),
        (completion([part("<S2>1</S2>", "reasoning"), WHOLE]), "ok", 4, ""),
        (completion([{"type": "output_text", "text": WHOLE}]), "ok", 4, ""),
        (completion([part("I can't.", "refusal")]), "refusal", None, "I can't."),
        (completion([part("<S2>1</S2>", "thinking")]), "parse_failure", None, "parts of the type thinking alone"),
        (completion(None, reasoning_content=WHOLE), "parse_failure", None, "stands in reasoning_content"),
        (completion("", reasoning=WHOLE), "parse_failure", None, "stands in reasoning,"),
        (completion(None, tool_calls=[{}]), "parse_failure", None, "it calls a tool"),
        (completion(None, "SAFETY"), "refusal", None, "content filter"),
        (completion("<S2>4</S2>", "refusal"), "refusal", None, "content filter"),
        (completion(None, "PROHIBITED_CONTENT"), "refusal", None, "content filter"),
        (completion("<S0>half", "max_tokens"), "truncated", None, "limit of tokens"),
        (completion("<S0>half", "MAX_TOKENS"), "truncated", None, "limit of tokens"),
        (completion("<S0>half", "model_context_window_exceeded"), "truncated", None, "limit of tokens"),
        (completion(WHOLE, "end_turn"), "ok", 4, ""),
        (completion(WHOLE, "eos_token"), "ok", 4, ""),
        (completion(WHOLE, None), "ok", 4, ""),
        (answered(403, error={"message": "flagged", "metadata": {"reasons": ["x"]}}), "refusal", None, "flagged"),
    ],
)
def test_a_whole_reply_is_mapped_and_never_asked_for_again(answer, status, score, reason, run):
    with Endpoint(lambda asked: answer) as server:
        done = run(server)
        run(server)
        assert len(server.asked) == 1
    row = done.rows[0]
    assert (row["status"], None if row["score"] != row["score"] else row["score"]) == (status, score)
    assert reason in row["reason"]


LOST = {"error": {"code": 502, "message": "Upstream connection lost"}}


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (completion("<S0>half", "error", choice=LOST), "Upstream connection lost"),
        (completion(WHOLE, "error"), "ended in an error (error)"),
        (completion("<S0>half", "abort"), "ended in an error (abort)"),
        (completion(None, "insufficient_system_resource"), "ended in an error"),
        (answered(choices=[], usage={"prompt_tokens": 600, "completion_tokens": 5}), "its choices are empty"),
        (answered(choices=[]), "its choices are empty"),
        (completion([4]), "is no text"),
    ],
)
def test_a_reply_that_failed_is_asked_for_again_by_the_next_command_alone(answer, reason, run, tmp_path):
    with Endpoint(lambda asked: answer) as server:
        done = run(server, conversations=2)
        assert len(server.asked) == 2, "paid for, and the same request would be answered the same"
        assert [row["status"] for row in done.rows] == ["api_error"] * 2
        assert reason in done.rows[0]["reason"]
        server.script = lambda asked: GOOD
        (tmp_path / "data2.xlsx").unlink()  # written again, it is another file of the same conversations
        assert [row["status"] for row in run(server, conversations=2).rows] == ["ok"] * 2


@pytest.mark.parametrize(
    ("usage", "counted"),
    [
        ({"prompt_tokens": 3, "completion_tokens": 5, "cache_read_input_tokens": 597}, 600),
        ({"prompt_tokens": 600, "completion_tokens": 5, "cache_read_input_tokens": 597}, 600),
        ({"input_tokens": 3, "output_tokens": 5, "cache_creation_input_tokens": 597}, 600),
        ({"prompt_tokens": 3, "completion_tokens": 5}, 3),
    ],
)
def test_tokens_in_a_cache_count_and_a_low_count_is_one_warning_and_no_failure(usage, counted, run):
    with Endpoint(lambda asked: completion(WHOLE, usage=usage)) as server:
        done = run(server, conversations=3)
    assert [(row["score"], row["input_tokens"]) for row in done.rows] == [(4, counted)] * 3
    assert done.code == 0
    assert done.said.count("far fewer tokens") == (counted == 3)


@pytest.mark.parametrize("label", [(), (("Content-Encoding", "gzip"),)])
@pytest.mark.parametrize("is_packed", [True, False])
def test_whether_a_reply_is_packed_is_seen_at_its_beginning(label, is_packed, run):
    body = completion(WHOLE).body
    body = gzip.compress(body) if is_packed else body
    with Endpoint(lambda asked: Answered(body=body, headers=label)) as server:
        assert run(server).rows[0]["score"] == 4
        assert len(server.asked) == 1


# What a model thinks aloud

MARKS = {
    "DeepSeek, Qwen": ("<think>", "</think>"),
    "Claude by prompt": ("<Thinking>", "</Thinking>"),
    "Hunyuan": ("<think:opt>", "</think:opt>"),
    "with attributes": ("<think effort='high'>", "</think>"),
    "EXAONE": ("<thought>", "</thought>"),
    "fine-tunes": ("<reasoning>", "</reasoning>"),
    "Seed": ("<seed:think>", "</seed:think>"),
    "LongCat": ("<longcat_think>", "</longcat_think>"),
    "scratchpad": ("<scratchpad>", "</scratchpad>"),
    "Mistral": ("[THINK]", "[/THINK]"),
    "Pangu": ("[unused16]", "[unused17]"),
    "Kimi": ("◁think▷", "◁/think▷"),
    "Cohere": ("<|START_THINKING|>", "<|END_THINKING|><|START_RESPONSE|>"),
    "OpenThoughts": ("<|begin_of_thought|>", "<|end_of_thought|><|begin_of_solution|>"),
    "Step": ("<|THINK_START|>", "<|THINK_END|>"),
    "Solar": ("<|think:start|>", "<|think:end|>"),
    "Solar Open": ("<|think|>", "<|end|><|begin|>assistant<|content|>"),
    "Apertus": ("<|inner_prefix|>", "<|inner_suffix|>"),
    "gpt-oss": ("<|channel|>analysis<|message|>", "<|end|><|start|>assistant<|channel|>final<|message|>"),
    "gpt-oss, JSON": ("<|channel|>commentary<|message|>", "<|channel|>final <|constrain|>json<|message|>"),
    "gpt-oss without tokens": ("analysisWe see: ", "assistantfinal"),
    "Gemma": ("<|channel>thought\n", "<channel|>"),
    "Granite": ("Here is my thought process: ", "Here is my response:"),
    "HyperCLOVA X": ("/think\n", "<|im_end|>\n<|im_start|>assistant\n"),
    "Open WebUI": ('<details type="reasoning" done="true">', "</details>"),
    "fenced": ("```thinking\n", "\n```\n"),
}
MAYBE = "maybe <S2>1</S2>, or"


def test_what_a_model_thinks_aloud_gives_no_score_closed_or_cut_off(run):
    """One conversation for each mark: closed, cut off at the limit of tokens, and ended without being closed."""
    begins = [begin for begin, _ in MARKS.values()]
    replies = {
        "closed": [completion(f"{begin}{MAYBE}{end}{WHOLE}") for begin, end in MARKS.values()],
        "cut": [completion(f"{begin}{MAYBE}", "length") for begin in begins],
        "open": [completion(f"{begin}{MAYBE}") for begin in begins],
        "in another": [completion(f"{begin}{MAYBE} <think>b</think> {MAYBE}", "length") for begin in begins[5:]],
    }
    expected = {"closed": ("ok", 4), "cut": ("truncated", None), "open": ("parse_failure", None)}
    for kind, said in replies.items():

        def script(asked, said=said):
            return said[int(re.search(r"conversation (\d+)\.", asked.prompt)[1])]

        with Endpoint(script) as server:
            done = run(server, "--give-up-after", 99, conversations=len(said), out=kind)
        found = {
            name: (row["status"], None if math.isnan(row["score"]) else row["score"])
            for name, row in zip(list(MARKS)[-len(said) :], done.rows, strict=True)
        }
        wanted = expected.get(kind, ("truncated", None))
        assert {name: one for name, one in found.items() if one != wanted} == {}, kind


CUT_OFF = {
    f"<ponder>{MAYBE}": None,
    f"<ponder>{MAYBE}</ponder> so": None,
    f"[PONDER] {MAYBE}": None,
    f"◁ponder▷{MAYBE}": None,
    f"<|ponder|>{MAYBE}": None,
    f"Well. <ponder>{MAYBE}": None,
    f"<S0>{MAYBE}": None,
    f"<ponder>a</ponder>{WHOLE} and": 4,
    f"<answer>{WHOLE}": 4,
    f"{WHOLE} and then": 4,
    f"<b>Good.</b> {WHOLE} and": 4,
}


def test_a_reply_that_was_cut_off_in_markup_that_nobody_knows_is_no_score(run):
    said = list(CUT_OFF)

    def script(asked):
        return completion(said[int(re.search(r"conversation (\d+)\.", asked.prompt)[1])], "length")

    with Endpoint(script) as server:
        done = run(server, "--give-up-after", 99, conversations=len(said))
    found = {
        text: None if math.isnan(row["score"]) else row["score"] for text, row in zip(said, done.rows, strict=True)
    }
    assert found == CUT_OFF
    assert {row["status"] for row in done.rows if math.isnan(row["score"])} == {"truncated"}


# What a server says


SAID = {
    "detail": (answered(404, detail="Not Found"), "HTTP 404: Not Found"),
    "list": (answered(422, detail=[{"loc": ["body", "x"], "msg": "Input is bad"}]), "HTTP 422: body.x: Input is bad"),
    "problem+json": (
        answered(400, title="Bad Request", detail="model unknown"),
        "HTTP 400: model unknown; Bad Request",
    ),
    "error and message": (answered(400, error="invalid", message="who is judge?"), "HTTP 400: who is judge?; invalid"),
    "errors": (answered(400, errors=[{"message": "first"}, {"message": "second"}]), "HTTP 400: first; second"),
    "provider": (
        answered(400, error={"message": "Provider returned error", "metadata": {"raw": "the true reason"}}),
        "Provider returned error; the true reason",
    ),
    "text": (Answered(status=400, body=b"plain words"), "HTTP 400: plain words"),
    "HTML": (
        Answered(status=403, body=b"<html><head><style>p {}</style></head><body><h1>Access &amp; more</h1>no.</body>"),
        "HTTP 403: Access & more no.",
    ),
}


@pytest.mark.parametrize("kind", SAID)
def test_what_the_server_says_reaches_the_user(kind, run):
    answer, said = SAID[kind]
    with Endpoint(lambda asked: answer) as server:
        done = run(server)
        assert len(server.asked) == 1
    assert said in done.rows[0]["reason"]


STRANGE = {
    "error in words": (
        answered(error="Unexpected endpoint or method. (POST /chat/completions)"),
        "Unexpected endpoint",
    ),
    "404": (answered(404, detail="Not Found"), "HTTP 404: Not Found"),
    "405": (Answered(status=405, body=b"Method Not Allowed"), "HTTP 405: Method Not Allowed"),
    "page": (
        Answered(body=b"<!doctype html><html><body><h1>Welcome</h1></body></html>", headers=(("X", "y"),)),
        "no JSON, but application/json, which begins with 'Welcome'",
    ),
    "text": (Answered(body=b"Ollama is running"), "begins with 'Ollama is running'"),
    "nothing": (Answered(body=b""), "no JSON, but empty"),
    "stream": (Answered(body=b'data: {"choices": []}\n\n'), "begins with 'data:"),
    "other JSON": (answered(object="list"), "no chat completion"),
}


@pytest.mark.parametrize("kind", STRANGE)
def test_at_another_address_the_first_call_is_the_last_and_the_address_is_named(kind, run):
    answer, said = STRANGE[kind]
    with Endpoint(lambda asked: answer) as server:
        done = run(server.address.removesuffix("/v1"), conversations=3)
        assert len(server.asked) == 1
    assert done.code == 1
    assert "stopped after 1 of 3 calls" in done.said
    assert said in done.said
    assert f"--base-url {server.address}" in done.said


def test_with_the_right_address_it_is_not_named_and_401_stops_as_well(run):
    with Endpoint(lambda asked: answered(401, error={"message": "Incorrect API key"})) as server:
        done = run(server, conversations=3)
        assert len(server.asked) == 1
    assert "HTTP 401: Incorrect API key" in done.said
    assert "likely cause" not in done.said


def test_what_comes_after_an_answer_concerns_one_conversation(run):
    with Endpoint(lambda asked: GOOD if asked.number != 2 else answered(404, detail="gone")) as server:
        done = run(server, "--concurrency", 1, conversations=3)
        assert len(server.asked) == 3
    assert Counter(row["status"] for row in done.rows) == {"ok": 2, "api_error": 1}


# Advice


def limit_of(body):
    return body.get("max_tokens", body.get("max_completion_tokens", 0))


def refusing(message, unfit, **further):
    bad = answered(400, error={"message": message, **further})
    return lambda asked: bad if unfit(asked.body) else GOOD


ADVICE = {
    "room": refusing(
        "'max_tokens' is too large: 3000. This model's maximum context length is 4096 tokens and your request has 1500 "
        "input tokens (3000 > 4096 - 1500). None",
        lambda body: limit_of(body) > 2596,
    ),
    "both": refusing(
        "This model's maximum context length is 4096 tokens. However, you requested 5000 tokens (2000 in the messages, "
        "3000 in the completion). Please reduce the length of the messages or completion.",
        lambda body: limit_of(body) > 2096,
        code="context_length_exceeded",
        param="messages",
    ),
    "sum": refusing(
        "input length and `max_tokens` exceed context limit: 197000 + 3000 > 199000, decrease input length",
        lambda body: limit_of(body) > 2000,
    ),
    "most": refusing(
        "max_tokens is too large: 3000. This model supports at most 2048 completion tokens.",
        lambda body: limit_of(body) > 2048,
        param="max_tokens",
    ),
    "range": refusing("Range of max_tokens should be [1, 1024]", lambda body: limit_of(body) > 1024),
    "name": refusing("Unsupported parameter: 'max_tokens'.", lambda body: "max_tokens" in body, param="max_tokens"),
    "value": refusing("top_p must be less than or equal to 0.9", lambda body: body.get("top_p", 0) > 0.9),
    "default": refusing(
        "'temperature' does not support 0.0 with this model. Only the default (1) value is supported.",
        lambda body: "temperature" in body,
        param="temperature",
    ),
    "least": refusing("temperature must be greater than 0", lambda body: body.get("temperature") == 0),
}


@pytest.mark.parametrize("kind", ADVICE)
def test_advice_works_when_it_is_followed(kind, run):
    with Endpoint(ADVICE[kind]) as server:
        done = run(server, conversations=3)
        assert len(server.asked) == 1
        assert "prompt_cut" not in done.said
        option, value = re.findall(r"(--param|--omit) (\w+(?:=[\w.]+)?)", done.said)[-1]
        assert [row["score"] for row in run(server, option, value, conversations=3).rows] == [4] * 3


@pytest.mark.parametrize(
    "words",
    [
        "The decoder prompt (length 5000) is longer than the maximum model length of 4096. Make sure that "
        "`max_model_len` is no smaller than the number of text tokens.",
        "This model's maximum context length is 4096 tokens. However, your messages resulted in 5000 tokens.",
        "prompt is too long: 210000 tokens > 200000 maximum",
        "the request exceeds the available context size (4096 tokens), try increasing it",
        "Input is too long for requested model.",
    ],
)
def test_a_prompt_that_is_too_long_is_no_parameter(words, run):
    with Endpoint(lambda asked: answered(400, error={"message": words, "code": 400})) as server:
        assert run(server).rows[0]["status"] == "prompt_cut"


# How many requests, and when


def test_conversations_that_were_never_asked_have_no_score_under_any_policy(run, tmp_path):
    with Endpoint(lambda asked: Answered(status=500, body=b"broken")) as server:
        options = ("--give-up-after", 3, "--concurrency", 1, "--retries", 0, "--policy", "authors")
        done = run(server, *options, conversations=12)
        assert len(server.asked) == 3
    assert Counter(row["status"] for row in done.rows) == {"api_error": 3, "not_asked": 9}
    assert "not_asked 9" in done.said
    shown = CliRunner().invoke(
        judge_commands, ["evaluate", str(tmp_path / "out"), "--policy", "authors", "--draws", "50"]
    )
    assert "never asked: 9 conversations, without a score and not in n under any policy" in shown.stdout
    as_json = ["evaluate", str(tmp_path / "out"), "--policy", "authors", "--draws", "50", "--json"]
    found = json.loads(CliRunner().invoke(judge_commands, as_json).stdout)
    assert found["files"][0]["metrics"]["accuracy"]["n"] == 3


def test_a_prompt_that_is_too_long_to_be_sent_was_never_asked(run, tmp_path):
    with Endpoint() as server:
        done = run(server, "--context", 10, conversations=2)
        assert server.asked == []
    assert [row["status"] for row in done.rows] == ["not_asked"] * 2
    assert done.rows[0]["reason"].startswith("not sent: the prompt has about")
    assert "2 longer than the context of the model" in done.said
    as_json = ["evaluate", str(tmp_path / "out"), "--policy", "authors", "--draws", "50", "--json"]
    found = json.loads(CliRunner().invoke(judge_commands, as_json).stdout)
    assert found["files"][0]["metrics"]["accuracy"]["n"] == 0


def test_giving_up_ends_the_calls_that_wait_and_keeps_the_replies_under_way(run):
    def script(asked):
        number = int(re.search(r"conversation (\d+)", asked.prompt)[1])
        if number == 0:
            return GOOD
        if number <= 3:
            return Answered(text="I would rather not say.", wait=0.3)
        return Answered(wait=1.0) if number == 4 else Answered(status=500, body=b"broken")

    with Endpoint(script) as server:
        options = ("--concurrency", 30, "--give-up-after", 3, "--backoff", 2, "--retries", 5)
        done = run(server, *options, conversations=40)
        useless = [one.at for one in server.asked if re.search(r"conversation [123]\.", one.prompt)]
        assert max(one.at for one in server.asked) < max(useless) + 1.5
    assert done.code == 1
    by_status = Counter(row["status"] for row in done.rows)
    assert by_status["ok"] == 2, "what was under way is paid for, and kept"
    assert by_status["not_asked"] >= 5


@pytest.mark.parametrize("fault", [Answered(status=500), endpoint.rate_limited(0), Answered(dropped=True)])
def test_the_first_call_is_sent_alone_until_it_has_an_answer(fault, run):
    with Endpoint(lambda asked: fault if asked.number <= 2 else GOOD) as server:
        done = run(server, "--backoff", 0.2, "--concurrency", 8, conversations=8)
        assert len({asked.prompt for asked in server.asked[:3]}) == 1
    assert [row["status"] for row in done.rows] == ["ok"] * 8


@pytest.mark.parametrize("ahead", [3600, -3600])
def test_a_date_to_wait_for_is_by_the_clock_of_the_endpoint(ahead, run):
    def script(asked):
        at = time.time() + ahead
        dates = {"Date": at, "Retry-After": at + 2}
        headers = tuple((name, email.utils.formatdate(value, usegmt=True)) for name, value in dates.items())
        return Answered(status=429, headers=headers, body=b"") if asked.number == 1 else GOOD

    with Endpoint(script) as server:
        assert run(server).rows[0]["score"] == 4
        assert 0.9 <= server.asked[1].at - server.asked[0].at < 10


def test_a_batch_line_needs_no_status_and_what_was_never_carried_out_was_not_asked(run, tmp_path):
    with Endpoint() as server:
        run(server, "--dry-run", conversations=3)
    common = ["--data", str(tmp_path / "data3.xlsx"), "--model", "judge"]
    CliRunner().invoke(judge_commands, ["batch", "export", *common, "--out", str(tmp_path / "requests.jsonl")])
    names = [json.loads(line)["custom_id"] for line in (tmp_path / "requests.jsonl").read_text().splitlines()]
    body = json.loads(completion(WHOLE).body)
    lines = [
        {"custom_id": names[0], "response": {"request_id": "r", "body": body}},
        {"custom_id": names[1], "response": None, "error": {"code": "batch_expired", "message": "too late"}},
    ]
    (tmp_path / "replies.jsonl").write_text("\n".join(map(json.dumps, lines)))
    options = [*common, "--out", str(tmp_path / "batch"), "--policy", "authors"]
    CliRunner().invoke(judge_commands, ["batch", "import", str(tmp_path / "replies.jsonl"), *options])
    (path,) = (tmp_path / "batch").glob("*.xlsx")
    frame = read_predictions(path).frame
    assert frame["status"].tolist() == ["ok", "not_asked", "not_asked"]
    assert frame["reason"].tolist()[1:] == ["batch_expired: too late", "no reply in the batch"]
    assert list(map(math.isnan, counted_scores(frame, "authors"))) == [False, True, True]


# The machine


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("ALL_PROXY", "socks5://127.0.0.1", "ALL_PROXY: names a SOCKS proxy"),
        ("all_proxy", "socks5h://user:secret@127.0.0.1:1080", "all_proxy: names a SOCKS proxy"),
        ("http_proxy", "socks4://127.0.0.1:1080", "http_proxy: names a SOCKS proxy"),
        ("HTTP_PROXY", "http://proxy:port", "HTTP_PROXY: is no address of a proxy"),
        ("http_proxy", "http://:3128", "http_proxy: is no address of a proxy"),
        ("http_proxy", "http//proxy:3128", "http_proxy: is no address of a proxy"),
        ("http_proxy", "ftp://secret@proxy:21", "http_proxy: is no address of a proxy"),
        ("http_proxy", "proxy:99999", "http_proxy: is no address of a proxy"),
        ("http_proxy", "http://[::1", "http_proxy: is no address of a proxy"),
    ],
)
def test_a_proxy_that_can_not_be_used_is_one_line_that_names_its_variable(name, value, said, run, monkeypatch):
    monkeypatch.setenv(name, value)
    monkeypatch.setenv("SENSE7_JUDGE_KEY", "none")
    done = run("http://judge.example/v1")
    assert done.error.startswith(said)
    assert "secret" not in done.said
    assert "\n" not in done.error
    assert not done.folder.exists()
    with Endpoint() as server:
        assert run(server).rows[0]["score"] == 4, "an endpoint on this machine needs no proxy"


@pytest.mark.parametrize("number", [errno.ENOLCK, errno.EOPNOTSUPP, errno.ENOSYS, errno.EINVAL, errno.EIO])
def test_on_a_disk_without_locks_the_run_goes_on_and_says_so(number, run, monkeypatch):
    def no_lock(*_):
        raise OSError(number, "no locks")

    monkeypatch.setattr(fcntl, "flock", no_lock)
    with Endpoint() as server:
        done = run(server)
    assert (done.code, done.rows[0]["score"]) == (0, 4)
    assert "the disk has no locks" in done.said
    assert "permission" not in done.said


def test_a_reply_is_parsed_when_it_comes_and_when_its_file_is_written(run, monkeypatch):
    texts, read = [], answers.read_reply
    monkeypatch.setattr(answers, "read_reply", lambda text, **known: texts.append(text) or read(text, **known))
    with Endpoint() as server:
        run(server, "--runs", 2, conversations=3)
    assert sorted(texts[:6]) == sorted(texts[6:])
    assert len(set(texts)) == 6


def test_replies_under_way_are_not_waited_for_longer_than_that(run, monkeypatch):
    monkeypatch.setattr(session, "LAST_REPLIES", 0.3)

    def script(asked):
        if asked.number <= 1:
            return GOOD
        return Answered(text="no") if asked.number <= 4 else Answered(wait=20)

    begun = time.monotonic()
    with Endpoint(script) as server, contextlib.suppress(SystemExit):
        done = run(server, "--give-up-after", 3, "--concurrency", 8, conversations=12)
    assert time.monotonic() - begun < 15
    assert Counter(row["status"] for row in done.rows)["parse_failure"] == 3
