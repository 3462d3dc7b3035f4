"""Which judges a page on uses looks at: one whose predictions are there, the learned one, and reasons where neither."""

from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from sense7.judge.scoring.baselines import baseline_predictions
from sense7.judge.scoring.judge_uses import scored

spec = spec_from_file_location("baseline_examples", Path(__file__).with_name("test_baselines.py"))
examples = module_from_spec(spec)
spec.loader.exec_module(examples)
lists, study_of = examples.lists, examples.study_of


@pytest.fixture(scope="module")
def study():
    who, truths, said, answers = lists()
    return study_of(who, truths, said, answers)


def runs_of(study, *scores):
    known = study.conversations.assign(ground_truth=lists()[1])
    return {"model": {f"model-iter{n}": known.assign(score=score) for n, score in enumerate(scores, 1)}}


def test_without_predictions_it_is_the_learned_judge(study):
    found = scored(study, {})
    assert (found.judge, found.reason) == ("learned judge", "")
    assert list(found.by_judge) == ["learned judge"]
    expected = baseline_predictions(study, names=["learned judge"])["learned judge"].predictions["score"]
    assert found.predictions["score"].to_numpy() == pytest.approx(expected.to_numpy())
    assert found.shown["estimate"] == "learned judge"


def test_a_judge_has_the_mean_of_its_runs_at_the_level_of_the_ratings(study):
    truths = np.array(lists()[1])
    found = scored(study, runs_of(study, truths - 1, truths - 2), "model")
    assert found.predictions["score"].to_numpy() == pytest.approx(truths - 1.5)
    assert np.abs(found.by_judge["model"] - truths).max() < 1
    assert list(found.by_judge) == ["learned judge", "model"]


def test_where_nothing_can_be_learned_there_are_reasons_and_no_scores():
    few = study_of([1, 1, 2], [3, 4, 5], ["tea", "ale", "rain"])
    found = scored(few, {})
    assert "2 participants are too few" in found.reason
    assert np.isnan(found.by_judge["learned judge"]).all()
    assert isinstance(found.predictions, pd.DataFrame)
    assert found.shown["n"] == 0
