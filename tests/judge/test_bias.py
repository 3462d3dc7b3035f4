"""Bias table: where a judge errs to one side, compared with cases worked out by hand and planted biases."""

import numpy as np
import pandas as pd
import pytest

from sense7.estimators.bootstrap import ParticipantBootstrap
from sense7.estimators.estimates import holm
from sense7.findings.ground_truth import ground_truth
from sense7.judge.bias import bias_table, factors, family_of


@pytest.fixture(scope="module")
def bootstrap(study):
    return ParticipantBootstrap(study.conversations["participant"], 300, 1)


def run_of(study, error, model="gpt-4o"):
    """A run whose score is the ground truth plus an error."""
    known = study.conversations
    truth = ground_truth(study.turns, known["conversation"]).to_numpy(dtype=float)
    return pd.DataFrame(
        {"conversation": known["conversation"], "score": truth + error, "status": "ok", "model": model}
    ).astype({"status": object})


def test_a_planted_preference_is_found_where_it_was_planted(study, bootstrap):
    chosen = (study.conversations["condition"] == "model-b").to_numpy()
    noise = np.random.default_rng(0).normal(0, 0.3, len(chosen))
    table = bias_table(study, {"1": run_of(study, 0.5 * chosen + noise)}, bootstrap)
    row = table.loc["condition: model-b"]
    assert row["estimate"] == pytest.approx(0.5, abs=0.1)
    assert row["p"] < 0.01
    errors = pd.Series(0.5 * chosen + noise)
    known = run_of(study, 0)["score"].notna()
    inside, outside = errors[known & chosen], errors[known & ~chosen]
    assert row["estimate"] == pytest.approx(inside.mean() - outside.mean())
    assert row["n"] == len(inside)
    assert row["key"] == "bias_condition_model-b"


def test_intervals_resample_participants_with_all_their_conversations(study, bootstrap):
    error = np.random.default_rng(1).normal(0, 1, len(study.conversations))
    row = bias_table(study, {"1": run_of(study, error)}, bootstrap).loc["condition: model-b"]
    known = run_of(study, 0)["score"].notna().to_numpy()
    first = (study.conversations["condition"] == "model-b").to_numpy()
    codes = bootstrap.codes(study.conversations["participant"])
    drawn = []
    for weights in bootstrap.weights():
        weight = weights[codes] * known
        drawn.append(
            (weight * first * error).sum() / (weight * first).sum()
            - (weight * ~first * error).sum() / (weight * ~first).sum()
        )
    assert [row["low"], row["high"]] == pytest.approx(np.quantile(drawn, [0.025, 0.975]))


def test_p_values_are_corrected_over_the_whole_table(study, bootstrap):
    table = bias_table(study, {"1": run_of(study, 0.1)}, bootstrap)
    np.testing.assert_allclose(table["p_holm"], holm(table["p"]))


def test_errors_are_means_over_the_runs_that_have_a_score(study, bootstrap):
    chosen = (study.conversations["condition"] == "model-b").to_numpy()
    first, second = run_of(study, 0.2 * chosen), run_of(study, 0.6 * chosen)
    half = bias_table(study, {"1": first, "2": second}, bootstrap)
    assert half.loc["condition: model-b", "estimate"] == pytest.approx(0.4)
    lacking = second.assign(score=np.nan, status="refusal")
    alone = bias_table(study, {"1": first, "2": lacking}, bootstrap)
    assert alone.loc["condition: model-b", "estimate"] == pytest.approx(0.2)


def test_every_conversation_has_its_groups(study):
    groups, reasons = factors(study)
    assert groups["condition"].tolist() == study.conversations["condition"].tolist()
    assert reasons == {"model family": "no condition is of the family of the judge (no name)"}


def named(study, conditions):
    conversations = study.conversations.assign(condition=study.conversations["condition"].map(conditions))
    return study.__class__(**{**vars(study), "conversations": conversations})


NAMES = {"model-a": "gpt-4o", "model-a-empathy-prompt": "GPT-4o + empathy", "model-b": "Llama-3", "model-c": "claude-3"}


def test_a_judge_that_favors_its_own_family_is_found(study, bootstrap):
    renamed = named(study, NAMES)
    own = renamed.conversations["condition"].str.contains("gpt", case=False).to_numpy()
    table = bias_table(renamed, {"1": run_of(renamed, 0.3 * own)}, bootstrap)
    assert table.loc["model family: own", "estimate"] == pytest.approx(0.3)
    assert table.loc["model family: own", "key"] == "bias_own_family"
    assert "model family: other" not in table.index


@pytest.mark.parametrize(
    ("model", "conditions", "reason"),
    [
        ("my-judge", NAMES, "no condition is of the family of the judge (my-judge)"),
        ("gpt-4o", {name: name for name in NAMES}, "no condition is of the family of the judge (gpt-4o)"),
        ("gemini-2.5-pro", NAMES, "no condition is of the family of the judge (gemini-2.5-pro)"),
    ],
)
def test_where_families_are_not_known_the_table_says_so(study, bootstrap, model, conditions, reason):
    renamed = named(study, conditions)
    row = bias_table(renamed, {"1": run_of(renamed, 0.1, model)}, bootstrap).loc["model family"]
    assert reason in row["reason"]
    assert np.isnan(row["estimate"])


@pytest.mark.parametrize(
    ("name", "family"),
    [
        ("chatgpt-4o-latest", "OpenAI"),
        ("o3-mini", "OpenAI"),
        ("openai/gpt-oss-120b", "OpenAI"),
        ("claude-3-7-sonnet", "Anthropic"),
        ("Qwen2.5-72B", "Alibaba"),
        ("deepseek-r1-distill-llama-70b", ""),  # two makers: not guessed
        ("napalm", ""),
        ("model-a", ""),
    ],
)
def test_families_are_known_by_names_and_never_guessed(name, family):
    assert family_of(name) == family


def test_without_a_judge_each_factor_says_why(study, bootstrap):
    table = bias_table(study, {}, bootstrap)
    assert set(table["reason"]) == {"no predictions of a judge are available"}


def test_a_group_of_few_participants_has_no_interval(study, bootstrap):
    conditions = study.conversations["condition"].to_numpy(dtype=object, copy=True)
    conditions[:3] = "rare"
    rare = study.__class__(**{**vars(study), "conversations": study.conversations.assign(condition=conditions)})
    table = bias_table(rare, {"1": run_of(rare, np.random.default_rng(3).normal(0, 1, 672))}, bootstrap)
    row = table.loc["condition: rare"]
    assert row["reason"] == "no interval: only 1 participant to resample"
    assert np.isnan(row["p"])
