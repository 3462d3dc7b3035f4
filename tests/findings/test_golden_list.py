"""Every reference value of R is asserted, here or beside its module, or left out with a reason.

That none is missing is checked when all tests have run (``conftest.py``): a value counts as asserted if a test asks
the fixture ``golden`` for it. Here stand those that belong to no one module, and the list of those left out.
"""

import fnmatch
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import yaml

from sense7.estimators import alpha
from sense7.estimators.bootstrap import ParticipantBootstrap
from sense7.estimators.mixed import fit_nested, nested_sums
from sense7.findings import measures, reliability
from sense7.findings.poor_turn import poor_turn_conversations
from sense7.judge.metrics import run_metrics
from sense7.workbook import read_workbook

CLOSED_FORM = 1e-7
MIXED_MODEL = 2e-4
CONDITIONS = ("llama2-70b", "gpt-3.5", "gpt-4", "gpt-4-emp")
TESTS = Path(__file__).resolve().parents[1]
CONFTEST = TESTS / "conftest.py"
REFERENCE = TESTS / "reference"

FAMILIES = yaml.safe_load((REFERENCE / "families.yml").read_text("utf-8"))
NOT_COMPUTED = {entry["quantities"]: entry["reason"] for entry in FAMILIES["not_computed"]}
"""Quantities that the library does not compute: pattern -> why."""


@pytest.mark.parametrize("pattern", NOT_COMPUTED)
def test_what_is_left_out_is_there_and_has_a_reason(golden, pattern):
    quantities = fnmatch.filter(golden, pattern)
    assert quantities, "no such quantity: take it off the list"
    assert NOT_COMPUTED[pattern]
    golden.left_out.update(quantities)


def test_nothing_is_left_out_twice(golden):
    for quantity in golden:
        assert sum(fnmatch.fnmatchcase(quantity, pattern) for pattern in NOT_COMPUTED) <= 1, quantity


# The check at the end of a run


TOY = """
def test_some(golden):
    assert golden["a"] == 1

def test_others(golden):
    golden.left_out.add("b")
"""


@pytest.mark.parametrize("options", [("-p", "xdist", "-n", "2"), pytest.param((), marks=pytest.mark.long)])
def test_a_run_without_one_of_the_values_fails(tmp_path, options):
    checkout = tmp_path / "checkout"
    folder = checkout / "tests" / "reference"
    folder.mkdir(parents=True)
    (folder / "golden.csv").write_text("quantity,value\na,1\nb,2\nc,3\n", "utf-8")
    (checkout / "pytest.ini").write_text("[pytest]\ntestpaths = tests\naddopts = --import-mode=importlib\n", "utf-8")
    (checkout / "tests" / "test_toy.py").write_text(TOY, "utf-8")
    shutil.copy(CONFTEST, checkout / "tests")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *options]
    root = CONFTEST.parents[1]
    paths = {"PYTHONPATH": os.pathsep.join([str(root), str(root / "tests")])}  # what conftest.py imports
    alone = os.environ | paths | {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}  # quicker
    done = subprocess.run(command, cwd=checkout, env=alone, capture_output=True, text=True, check=False)
    assert done.returncode == pytest.ExitCode.TESTS_FAILED
    assert "2 passed" in done.stdout
    found = [line for line in done.stdout.splitlines() if line.startswith("FAILED")]
    assert found == ["FAILED reference values: c is neither asserted nor left out with a reason"]


# Values that belong to no one module


@pytest.fixture(scope="module")
def study(workbooks):
    return read_workbook(workbooks["reference"])


@pytest.fixture(scope="module")
def ratings(study):
    turns, post_task = measures.turn_ratings(study), measures.post_task_ratings(study)
    return {
        "turn_pairwise": (turns, "pairwise"),
        "turn_listwise": (turns, "listwise"),
        "turn_6dims_pairwise": (turns.drop(columns="Relational"), "pairwise"),
        "post": (post_task, "pairwise"),
    }


WHICH = ["turn_pairwise", "turn_listwise", "turn_6dims_pairwise", "post"]


@pytest.mark.parametrize("which", WHICH)
def test_feldt_limits_are_those_of_psych_and_psychometric(ratings, golden, which):
    frame, missing = ratings[which]
    row = alpha.alpha_row(frame, ParticipantBootstrap(frame.index, 10, 1), missing=missing, interval="feldt")
    golden.check(f"alpha_feldt_lower_psych_{which}", row["low"], abs=CLOSED_FORM)
    golden.check(f"alpha_feldt_upper_psych_{which}", row["high"], abs=CLOSED_FORM)
    golden.check(f"alpha_psychometric_lcl_{which}", row["low"], abs=CLOSED_FORM)


@pytest.mark.parametrize("which", WHICH)
def test_alpha_without_each_dimension_is_that_of_psych(ratings, golden, which):
    frame, missing = ratings[which]
    # Listwise, R leaves out the incomplete turns first, those that lack the dimension left out among them.
    frame = frame.dropna() if missing == "listwise" else frame
    dropped = reliability.alpha_if_dropped(frame, ParticipantBootstrap(frame.index, 10, 1))
    for name in frame:
        golden.check(f"alpha_if_dropped_{which}_{name}", dropped.loc[name, "estimate"], abs=CLOSED_FORM)


def test_the_model_of_post_task_ratings_is_that_of_lme4(study, golden):
    rows = study.conversations.dropna(subset=["successful"])
    design = np.column_stack([np.ones(len(rows)), *(rows["condition"] == name for name in CONDITIONS[1:])])
    sums = nested_sums(rows["successful"].to_numpy(), design, rows["participant"], rows["condition"])
    # The reference has no participant by condition.
    sums.free[1] = False
    fit = fit_nested(sums)
    golden.check("lmm_post_logLik", -fit.deviance / 2, abs=MIXED_MODEL)
    for place, name in enumerate(["(Intercept)", *(f"model{condition}" for condition in CONDITIONS[1:])]):
        golden.check(f"lmm_post_b_{name}", fit.coefficients[place], abs=MIXED_MODEL)
        golden.check(f"lmm_post_se_{name}", np.sqrt(fit.covariance[place, place]), abs=MIXED_MODEL)


def test_conversations_without_a_poor_turn_are_counted_as_in_r(study, golden):
    conversations = poor_turn_conversations(study, "experience")
    golden.check("n_none_one_vs_none", (conversations["poor"] == 0).sum(), abs=0)


JUDGE = {
    "spearman": "judge_spearman",
    "accuracy": "judge_accuracy",
    "macro_f1": "judge_macro_f1",
    "mean_absolute_error": "judge_mae",
    "quadratic_kappa": "judge_kappa_quad",
}


def test_metrics_of_a_judge_are_those_of_r(study, golden):
    scores = pd.read_csv(REFERENCE / "judge_turns.csv")
    both = study.turns.merge(scores, on=["conversation", "turn"]).dropna(subset=["overall", "judge"])
    table = run_metrics(both.rename(columns={"overall": "ground_truth", "judge": "score"}))
    for row, quantity in JUDGE.items():
        golden.check(quantity, table.loc[row, "estimate"], abs=CLOSED_FORM)


# The table that the book shows


def test_a_table_that_is_not_this_runs_is_a_problem(request, golden):
    conftest = request.config.pluginmanager.get_plugin(str(CONFTEST))
    stored = json.loads((TESTS.parent / "data" / "reference.json").read_text("utf-8"))
    left = {quantity for row in stored["not_computed"] for quantity in row["quantities"]}
    # Errors of nothing, all with one tolerance: what is stored says otherwise of every statistic.
    found = conftest.stale_table({(quantity, "absolute", 1e-3, 0.0) for quantity in set(golden) - left})
    for row in stored["families"]:
        assert sum(problem.startswith(f"{row['statistic']}: ") for problem in found) == 1, row["statistic"]
    assert all("run `make reference`" in line for line in found)
