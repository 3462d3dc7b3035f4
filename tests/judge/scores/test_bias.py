"""Where a judge errs to one side: planted preferences, intervals, few participants."""

import numpy as np
import pandas as pd
import pytest

from helpers import naming
from sense7.findings.ground_truth import ground_truth
from sense7.judge.files import Run
from sense7.judge.scores.bias import bias_table
from sense7.statistics.bootstrap import ParticipantBootstrap
from sense7.statistics.estimates import holm


@pytest.fixture(scope="module")
def bootstrap(study):
    return ParticipantBootstrap(study.conversations["participant"], 300, 1)


def judged(study, error, model="gpt-4o"):
    """A run whose score is the ground truth plus an error."""
    known = study.conversations
    truth = ground_truth(study.turns, known["conversation"]).to_numpy(dtype=float)
    run = known[["conversation"]].assign(score=truth + error, status="ok", model=model)
    return Run.of(run)


def test_a_planted_preference_is_found_where_it_was_planted(study, bootstrap):
    chosen = (study.conversations["condition"] == "model-b").to_numpy()
    noise = np.random.default_rng(0).normal(0, 0.3, len(chosen))
    table = bias_table(study, {"1": judged(study, 0.5 * chosen + noise)}, bootstrap)
    row = table.loc["condition: model-b"]
    assert row["estimate"] == pytest.approx(0.5, abs=0.1)
    assert row["p"] < 0.01
    errors = pd.Series(0.5 * chosen + noise)
    known = np.isfinite(judged(study, 0).score)
    inside, outside = errors[known & chosen], errors[known & ~chosen]
    assert row["estimate"] == pytest.approx(inside.mean() - outside.mean())
    assert row["n"] == len(inside)
    assert row["key"] == "bias_condition_model-b"
    np.testing.assert_allclose(table["p_holm"], holm(table["p"]))


def test_a_group_of_few_participants_has_no_interval(study, bootstrap):
    conditions = study.conversations["condition"].to_numpy(dtype=object, copy=True)
    conditions[:3] = "rare"
    rare = study.__class__(
        **{**vars(study), "conversations": study.conversations.assign(condition=conditions)}
    )
    table = bias_table(
        rare, {"1": judged(rare, np.random.default_rng(3).normal(0, 1, 672))}, bootstrap
    )
    row = table.loc["condition: rare"]
    naming.check(row["reason"], "1 participant", 10)
    assert np.isnan(row["p"])
