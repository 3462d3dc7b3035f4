"""What a judge is asked: the conversation as JSON, the prompt around it, the parameters; all as the authors send it."""

import json

import pytest

from helpers import naming
from helpers.endpoint import need_the_judge
from helpers.judged import ask, plan_for
from sense7.judge.asking.requests import Prompt, parse_parameters
from sense7.judge.chats import chats

need_the_judge()


# The prompt


def test_data_change_nothing_outside_their_placeholder():
    prompt = Prompt("any", "~~EXAMPLES~~ {} {chat}{chat} ~~EXAMPLES")
    filled = prompt.fill("[~~EXAMPLES~~]", "({chat})")
    assert filled == "({chat}) {} [~~EXAMPLES~~][~~EXAMPLES~~] ~~EXAMPLES"


def test_the_bundled_prompt_asks_for_what_is_read_from_the_reply():
    for mark in ("{chat}", "~~EXAMPLES~~", "<S0>", "</S0>", "<S2>", "</S2>"):
        assert Prompt.bundled().text.count(mark) == 1


@pytest.mark.parametrize(
    ("content", "places"),
    [
        ("\ufeffRate:\r\n{chat}".encode(), None), (b"Rate this.", ["{chat}"]),
        (b"Rate {chat} \xff", ["byte 13", "UTF-8"]), (None, []),
    ],
)  # fmt: skip
def test_a_prompt_of_ones_own_is_read_or_refused_with_the_remedy(tmp_path, content, places):
    path = tmp_path / "short one.txt"
    if content is not None:
        path.write_bytes(content)
    if places is None:
        text = content.decode("utf-8-sig").replace("\r\n", "\n")
        assert Prompt.read(path) == Prompt("short one", text)
        return
    with naming.refused(path, *places):
        Prompt.read(path)


# The request


def test_the_request_is_the_authors_and_nothing_else(server, study_of, tmp_path):
    study = study_of(3)
    ask(study, server, tmp_path, model="org/name:7b@main")
    assert {asked.path for asked in server.asked} == {"/v1/chat/completions"}
    bodies = {asked.prompt: asked.body for asked in server.asked}
    for chat in chats(study):
        expected = {
            "model": "org/name:7b@main",
            "messages": [
                {"role": "system", "content": "You are a helpful AI assistant"},
                {"role": "user", "content": f"Rate this: {chat}"},
            ],
            "temperature": 0.0,
            "top_p": 1.0,
            "max_tokens": 3000,
            "presence_penalty": 0.0,
            "frequency_penalty": 0.0,
        }
        # As texts: to JSON 0 and 0.0 are two ways to write a number, and the authors' is 0.0.
        assert json.dumps(bodies[f"Rate this: {chat}"], sort_keys=True) == json.dumps(
            expected, sort_keys=True
        )


def test_parameters_are_sent_as_given_and_remembered(server, study_of, tmp_path):
    given = parse_parameters(
        ["max_completion_tokens=500", 'reasoning={"effort": "low"}', "seed=null", "top_p=0.5"]
    )
    options = {"param": given, "omit": ["presence_penalty"]}
    ask(study_of(1), server, tmp_path / "free", **options)
    (free,) = (
        {n: v for n, v in one.body.items() if n not in ("model", "messages")}
        for one in server.asked
    )
    assert free == given | {"temperature": 0.0, "frequency_penalty": 0.0}
    with naming.refused(tmp_path / "free", "request: "):
        ask(study_of(1), server, tmp_path / "free", **options | {"param": given | {"seed": 1}})


@pytest.mark.parametrize(
    ("texts", "places"),
    [
        (["seed"], ["--param seed"]), (["seed=NaN"], ["--param seed"]), (["model=1"], ["--param model"]),
        (["effort=low"], ["--param 'effort=\"low\"'"]), (["max_tokens=true"], ["--param max_tokens", "1"]),
    ],
)  # fmt: skip
def test_what_is_no_parameter_is_refused_with_the_way_to_write_it(texts, places):
    with naming.refused(*places, "--param"):
        parse_parameters(texts)


@pytest.mark.parametrize(
    ("options", "places"),
    [
        ({"shots": 5}, ["~~EXAMPLES~~"]), ({"param": {"top_p": 1}, "omit": ["top_p"]}, ["--omit top_p:", "--param"]),
        ({"omit": ["temprature"]}, ["--omit temprature:", "frequency_penalty"]),
        ({"omit": ["max_tokens"]}, ["--omit max_tokens:", "--param max_completion_tokens=3000"]),
        ({"folder": "my_results"}, ["my_results"]), ({"model": " "}, ["--model: "]),
        ({"unit": "message"}, ["--unit message:", "conversation", "turn"]),
        ({"rating": "interest"}, ["--rating interest:", "overall, Affective"]),
    ],
)  # fmt: skip
def test_unfit_options_are_refused_before_any_call(options, places, server, study_of, tmp_path):
    folder = tmp_path / options.get("folder", "out")
    with naming.refused(*places):
        plan_for(study_of(2), server, folder, **{n: v for n, v in options.items() if n != "folder"})
    assert (server.asked, list(tmp_path.iterdir())) == ([], [])


def test_examples_stand_in_the_prompt(server, study_of, tmp_path):
    study, prompt = study_of(6), Prompt("few", "~~EXAMPLES~~ Rate this: {chat}")
    ask(study, server, tmp_path, prompt=prompt, shots=2)
    for asked in server.asked:
        before, _, own = asked.prompt.rpartition(" Rate this: ")
        assert before.count("<S2>") == 2
        assert own in set(chats(study))
        assert own not in before
