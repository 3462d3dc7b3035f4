"""A sweep over prompts: a session for each, nothing asked twice, and how much every metric depends on the prompt."""

import json
import re
import zlib
from collections import Counter

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from helpers import endpoint
from helpers.extras import need_the_judge
from sense7 import cli
from sense7.errors import UserError
from sense7.estimators.bootstrap import ParticipantBootstrap
from sense7.judge.asking.prompt_sweep import sweep_prompts
from sense7.judge.evaluate import evaluate
from sense7.judge.predictions import read_predictions
from sense7.judge.scoring.metrics import METRICS, run_metrics
from sense7.judge.scoring.prompt_sensitivity import prompt_sensitivity
from sense7.workbook import write_sheets

need_the_judge()

Endpoint, Answered = endpoint.Endpoint, endpoint.Answer
NAMES = ["empathy", "brief", "observer", "person", "skeptic", "steps"]


@pytest.fixture(autouse=True)
def no_keys(monkeypatch):
    """Nobody's key is sent to anybody."""
    for name in ("SENSE7_JUDGE_KEY", "OPENAI_API_KEY"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def sweep(minimal_sheets, tmp_path):
    """The command over eight conversations, into the folder ``out``."""
    said = [f"Message {number} of conversation {name}." for name in range(8) for number in (1, 2)]
    write_sheets(minimal_sheets(conversations=8, turns=1, messages={"Content": said}), tmp_path / "data.xlsx")
    common = [
        "judge",
        "sweep",
        "--data",
        str(tmp_path / "data.xlsx"),
        "--out",
        str(tmp_path / "out"),
        "--model",
        "judge",
    ]

    def run(server, *options):
        arguments = [*common, "--base-url", server.address, "--draws", "50", *map(str, options)]
        return CliRunner().invoke(cli.app, arguments)

    return run


def by_words(asked):
    """A judge that depends on the prompt and the conversation."""
    return Answered(text=f"<S2>{zlib.crc32(asked.prompt.encode()) % 5 + 1}</S2>")


# The prompts


def test_our_paraphrases_ask_for_the_same_in_other_words():
    prompts = sweep_prompts()
    assert [prompt.name for prompt in prompts] == NAMES
    words = [re.findall(r"[a-z]+", prompt.text.lower()) for prompt in prompts]
    phrases = [Counter(zip(*(said[start:] for start in range(4)), strict=False)) for said in words]
    for number, prompt in enumerate(prompts):
        for needed in ("{chat}", "<S0>", "</S0>", "<S2>", "</S2>", "pending", "very poor", "neutral", "very good"):
            assert needed in prompt.text, (prompt.name, needed)
        assert prompt.text.count("{chat}") == 1
        assert re.search("decimals", prompt.text, re.IGNORECASE)
        for other in phrases[number + 1 :]:
            shared = (phrases[number] & other).total() / min(phrases[number].total(), other.total())
            assert shared < 0.15, "few phrases of four words are the same"


@pytest.mark.parametrize(
    ("files", "said"),
    [
        (None, "the folder can't be read"),
        ({"one.txt": "{chat}"}, "holds 1 prompts (files .txt), and a sweep needs two"),
        ({"one.txt": "{chat}", "two.txt": "{chat}"}, "is the same prompt as"),
        ({"one.txt": "{chat}", "two.txt": "Rate it."}, "the prompt has no {chat}"),
        ({"one.txt": "{chat}", "a b.txt": "Rate {chat}"}, "its name names a folder, and can't. Rename it"),
    ],
)
def test_prompts_that_make_no_sweep_are_refused_before_anything_is_sent(files, said, sweep, tmp_path):
    folder = tmp_path / "prompts"
    for name, text in (files or {}).items():
        folder.mkdir(exist_ok=True)
        (folder / name).write_text(text)
    with Endpoint() as server:
        done = sweep(server, "--prompts", folder)
        assert isinstance(done.exception, UserError)
        assert said in str(done.exception)
        assert server.asked == []
    assert not (tmp_path / "out").exists()


# The sessions


def test_each_prompt_has_its_session_and_the_report_compares_them(sweep, tmp_path):
    with Endpoint(by_words) as server:
        done = sweep(server, "--runs", 2)
        assert done.exit_code == 0, done.output
        assert len(server.asked) == 6 * 8 * 2
        again = sweep(server, "--runs", 2)
        assert len(server.asked) == 6 * 8 * 2, "nothing is sent twice"
    assert again.stdout == done.stdout
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == sorted([*NAMES, "prompt_sensitivity.json"])
    content = json.loads((tmp_path / "out" / "prompt_sensitivity.json").read_text())
    assert list(content["prompts"]) == NAMES
    assert content["conversations"] == 8
    for name in NAMES:
        found = evaluate(tmp_path / "out" / name, draws=10).metrics.mean["estimate"]
        assert content["prompts"][name]["accuracy"] == pytest.approx(found["accuracy"])
        assert f"\n{name} " in done.stdout
    accuracies = [values["accuracy"] for values in content["prompts"].values()]
    assert content["observed"]["accuracy"]["range"] == pytest.approx(max(accuracies) - min(accuracies))
    assert content["observed"]["accuracy"]["sd"] == pytest.approx(np.std(accuracies, ddof=1))
    assert content["sd"]["accuracy"]["n"] == 8
    assert "conversations with a score by every prompt: 8" in done.stdout


def test_a_sweep_that_an_endpoint_stops_asks_no_further_prompt_and_goes_on_when_corrected(sweep, tmp_path):
    with Endpoint(endpoint.refuses("presence_penalty", then=Answered())) as server:
        done = sweep(server)
        assert done.exit_code == 1
        assert len(server.asked) == 1
        assert "Give --omit presence_penalty" in done.stderr
        assert "prompts that were not asked: 5" in done.stderr
        assert sweep(server, "--omit", "presence_penalty").exit_code == 0
        assert len(server.asked) == 1 + 6 * 8


def test_a_dry_run_says_what_all_sessions_take(sweep, tmp_path):
    with Endpoint() as server:
        done = sweep(server, "--dry-run", "--price-in", 1, "--price-out", 10)
        assert server.asked == []
    assert "prompts        6 (empathy, brief, observer, person, skeptic, steps)" in done.stdout
    assert "calls          48 (8 conversations, runs: 6)" in done.stdout
    assert not (tmp_path / "out").exists()


def test_prompts_of_a_folder_are_taken_by_name(sweep, tmp_path):
    folder = tmp_path / "prompts"
    folder.mkdir()
    for name, text in (("b.txt", "Say {chat}"), ("a.txt", "Rate {chat}"), ("notes.md", "none"), (".x.txt", "{chat}")):
        (folder / name).write_text(text)
    with Endpoint(by_words) as server:
        done = sweep(server, "--prompts", folder)
    assert done.exit_code == 0, done.output
    assert list(json.loads((tmp_path / "out" / "prompt_sensitivity.json").read_text())["prompts"]) == ["a", "b"]
    assert (tmp_path / "out" / "a" / "judge-a-iter1.xlsx").exists()


def test_a_prompt_whose_calls_fail_is_named_and_there_is_no_report(sweep, tmp_path):
    bad = Answered(status=404, body=endpoint.error_body("gone"))

    def script(asked):
        return bad if "trained observer" in asked.prompt and "conversation 0" in asked.prompt else Answered()

    with Endpoint(script) as server:
        done = sweep(server)
    assert done.exit_code == 1
    assert "observer: 1 without an answer; the same command asks for these again" in done.stderr
    assert not (tmp_path / "out" / "prompt_sensitivity.json").exists()


# The sensitivity


def run_of(seed, rows=60, people=10, missing=()):
    generator, truths = np.random.default_rng(seed), np.random.default_rng(0)
    truth = np.clip(truths.normal(3.4, 1.2, rows), 1, 5)
    frame = pd.DataFrame({"conversation": [f"C{row}" for row in range(rows)], "ground_truth": truth})
    frame["participant"] = [f"P{row % people}" for row in range(rows)]
    frame["score"] = np.clip(np.round(truth + generator.normal(0, 1, rows)), 1, 5)
    frame["status"] = "ok"
    frame.loc[list(missing), ["score", "status"]] = [np.nan, "refusal"]
    return frame


def test_spreads_are_those_of_the_metrics_on_the_conversations_that_all_have():
    runs = {"a": [run_of(1, missing=[0])], "b": [run_of(2, missing=[3, 4])], "c": [run_of(3)]}
    bootstrap = ParticipantBootstrap(runs["a"][0]["participant"], draws=300, seed=1)
    found = prompt_sensitivity(runs, bootstrap)
    assert found.conversations == 57
    shared = {name: run[0].drop([0, 3, 4]) for name, run in runs.items()}
    for metric in METRICS:
        values = [run_metrics(frame).loc[metric, "estimate"] for frame in shared.values()]
        assert found.by_prompt[metric].tolist() == pytest.approx(values, nan_ok=True)
        assert found.observed.loc[metric, "range"] == pytest.approx(np.ptp(values), nan_ok=True)
        assert found.observed.loc[metric, "sd"] == pytest.approx(np.std(values, ddof=1), nan_ok=True)
    assert found.by_prompt["coverage"].tolist() == pytest.approx([59 / 60, 58 / 60, 1])
    for kind in ("range", "sd"):
        row = found.spreads[kind].loc["mean_absolute_error"]
        assert 0 <= row["low"] <= row["estimate"] < row["high"]
        assert row["estimate"] < found.observed.loc["mean_absolute_error", kind]
        assert (row["n"], row["unit"]) == (57, "level, difference")
        assert "bootstrap interval" in row["method"]


def test_noise_of_sampling_is_taken_from_the_spread_and_a_real_difference_stays():
    """Six prompts that differ by chance alone, and six of which one is too high by a level and a half."""
    equal = {str(seed): [run_of(seed, rows=400, people=80)] for seed in range(1, 7)}
    biased = equal | {"5": [equal["5"][0].assign(score=lambda run: (run["score"] + 1.5).clip(upper=5))]}
    bootstrap = ParticipantBootstrap(equal["1"][0]["participant"], draws=300, seed=1)
    spreads = {}
    for name, runs in (("equal", equal), ("biased", biased)):
        found = prompt_sensitivity(runs, bootstrap)
        spreads[name] = found.spreads["sd"].loc["mean_absolute_error"]
        spreads[f"{name}, observed"] = found.observed.loc["mean_absolute_error", "sd"]
    assert spreads["equal"]["low"] == 0
    assert spreads["equal"]["estimate"] < 0.7 * spreads["equal, observed"]
    assert spreads["biased"]["estimate"] == pytest.approx(spreads["biased, observed"], rel=0.05)
    assert spreads["biased"]["low"] > 0.5 * spreads["biased"]["estimate"]


def test_without_participants_spreads_are_as_observed_and_not_corrected():
    runs = {name: [run_of(seed).drop(columns="participant")] for seed, name in enumerate("abc", 1)}
    found = prompt_sensitivity(runs)
    assert found.observed.loc["accuracy", "range"] > 0
    row = found.spreads["range"].loc["accuracy"]
    assert np.isnan(row["estimate"])
    assert row["reason"] == "not corrected: participants are not known"


def test_runs_of_one_prompt_are_averaged_before_prompts_are_compared():
    one, other = run_of(1), run_of(2)
    found = prompt_sensitivity({"a": [one, other], "b": [other, one]})
    assert found.observed["range"].dropna().to_numpy() == pytest.approx(0, abs=1e-12)


def test_the_same_scores_under_every_prompt_have_no_spread_and_no_interval():
    bootstrap = ParticipantBootstrap(run_of(1)["participant"], draws=100, seed=1)
    found = prompt_sensitivity({"a": [run_of(1)], "b": [run_of(1)]}, bootstrap)
    row = found.spreads["range"].loc["accuracy"]
    assert row["estimate"] == 0
    assert np.isnan(row["low"])
    assert row["reason"]


@pytest.mark.parametrize("prompts", [{}, {"a": [run_of(1)]}, {"a": [run_of(1)], "b": []}])
def test_fewer_than_two_prompts_are_refused(prompts):
    with pytest.raises(UserError, match="needs two prompts"):
        prompt_sensitivity(prompts)


def test_files_of_a_sweep_are_ordinary_prediction_files(sweep, tmp_path):
    with Endpoint(by_words) as server:
        sweep(server)
    frame = read_predictions(tmp_path / "out" / "steps" / "judge-steps-iter1.xlsx").frame
    assert frame["status"].tolist() == ["ok"] * 8
