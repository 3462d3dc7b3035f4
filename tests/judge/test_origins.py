"""Where replies come from: another model than was asked, and replies that come from a cache, are said."""

import json

import pytest

from helpers import endpoint, naming
from helpers.endpoint import need_the_judge
from helpers.judged import ask, number_of
from sense7.judge.origins import is_model
from sense7.judge.scores.report import evaluate

need_the_judge()

Answered = endpoint.Answer


@pytest.mark.parametrize(
    ("asked", "returned", "same"),
    [
        ("gpt-4o", "gpt-4o", True),
        ("gpt-4o", "gpt-4o-2024-08-06", True),
        ("mistral-large-latest", "mistral-large-2411", True),
        ("claude-3-5-sonnet", "claude-3-5-sonnet-20241022", True),
        ("openai/gpt-4o", "gpt-4o", True),
        ("llama3", "llama3:latest", True),
        ("Qwen2.5.gguf", "/models/qwen2.5.gguf", True),
        ("gpt-4o", "gpt-4o-mini", False),
        ("gpt-4", "gpt-4.1", False),
        ("gpt-4", "gpt-4-32k", False),
        ("gpt-4o-2024-05-13", "gpt-4o-2024-08-06", False),
        ("llama-3.3-70b-instruct", "qwen2.5-0.5b-instruct", False),
    ],
)
def test_a_date_or_a_folder_makes_no_other_model(asked, returned, same):
    assert is_model(asked, returned) == same
    assert is_model(returned, asked) == same


def completion(number, of, **fields):
    """A completion with an id; its text names the number of its generation."""
    text = f"<S0>Generation {of}.</S0><S2>{of % 5 + 1}</S2>"
    choices = [{"message": {"content": text}, "finish_reason": "stop"}]
    said = {"id": f"chatcmpl-{number}", "model": "judge", "choices": choices, **fields}
    return Answered(body=json.dumps(said).encode())


def test_another_model_is_one_note_a_run_and_in_the_evaluation(server, study_of, tmp_path):
    server.script = lambda asked: completion(asked.number, asked.number, model="small-0.5b")
    outcome = ask(study_of(4), server, tmp_path, runs=2)
    first, second = outcome.remarks
    naming.check(first, "run 1:", "judge", "small-0.5b (4 replies)")
    naming.check(second, "run 2:", "judge", "small-0.5b (4 replies)")
    remarks = evaluate(tmp_path, draws=10).facts.remarks
    assert [name for name, _ in remarks] == ["judge-brief-iter1", "judge-brief-iter2"]
    (sentence,) = {remark for _, remark in remarks}
    naming.check(sentence, "small-0.5b (4 replies)")


def test_another_version_of_the_model_is_said_within_a_run_and_between_runs(
    server, study_of, tmp_path
):
    server.script = lambda asked: completion(
        asked.number, asked.number, model=f"judge-2024-0{min(asked.number, 3) % 3 + 1}-06"
    )
    outcome = ask(study_of(4), server, tmp_path, runs=2, concurrency=1)
    (note,) = outcome.remarks
    naming.check(note, "run 1:", "judge-2024-01-06 (2 replies)", "judge-2024-03-06 (1 reply)")
    assert evaluate(tmp_path, draws=10).facts.models == [f"judge-2024-0{n}-06" for n in (1, 2, 3)]


def test_a_run_of_repeated_replies_is_no_further_run(server, study_of, tmp_path):
    first = {}
    server.script = lambda asked: completion(
        *[first.setdefault(number_of(asked), asked.number)] * 2
    )
    outcome = ask(study_of(4), server, tmp_path, runs=3)
    second, third = outcome.remarks
    naming.check(second, "run 2:")
    naming.check(third, "run 3:")
    report = evaluate(tmp_path, draws=10)
    assert len(report.files) == 1
    assert len(report.facts.repeats) == 2


@pytest.mark.parametrize("ids", ["one for all", "none repeated", "texts differ"])
def test_ids_that_say_nothing_make_no_note(ids, server, study_of, tmp_path):
    def script(asked):
        number = {
            "one for all": 0,
            "none repeated": asked.number,
            "texts differ": number_of(asked),
        }[ids]
        return completion(number, asked.number)

    server.script = script
    outcome = ask(study_of(4), server, tmp_path, runs=2)
    assert outcome.remarks == []
    assert len(evaluate(tmp_path, draws=10).files) == 2
