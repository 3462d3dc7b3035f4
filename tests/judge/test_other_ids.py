"""Other ids for the same people and conversations give the same results of judges; of findings: test_contract.py."""

import uuid
from dataclasses import replace
from functools import cache

import numpy as np
import pandas as pd
import pytest

from helpers.studies import bootstrap_of
from sense7.findings.sufficient_statistics import estimates_of_parts, sums_of_part
from sense7.judge.baselines import baseline_predictions
from sense7.judge.ceiling import content_shares, study_thresholds
from sense7.judge.few_shot import chosen_examples
from sense7.judge.judges import assistant_words
from sense7.judge.requests import chats
from sense7.loading import load

IDS = ("participant", "conversation")
RESULTS = {
    "baselines": lambda study: pd.concat({name: one.predictions for name, one in baseline_predictions(study).items()}),
    "bound": lambda study: content_shares(study, bootstrap_of(study, 40)).bounds,
    "thresholds": lambda study: pd.DataFrame(study_thresholds(study)),
    "words": lambda study: assistant_words(study).to_frame(),
    "chats": lambda study: chats(study).to_frame(),
    "examples": lambda study: chosen_examples(study, 5),
    "sums of parts": lambda study: estimates_of_parts([sums_of_part(study)], draws=40, seed=4),
}


@cache
def two_studies():
    """A study of some of the synthetic participants, the same with other ids in another order, and new id -> old id."""
    whole = load("synthetic")
    study = whole.subset(participants=whole.conversations["participant"].unique()[:24])
    generator, new = np.random.default_rng(3), {}
    for old in sorted(pd.unique(study.conversations[list(IDS)].to_numpy().ravel()), reverse=True):
        new[old] = str(uuid.UUID(bytes=generator.bytes(16), version=4))
    frames = {
        name: frame.assign(**{column: frame[column].map(new).astype(object) for column in IDS if column in frame})
        for name, frame in vars(study).items()
        if isinstance(frame, pd.DataFrame) and name in ("conversations", "messages", "turns", "participants")
    }
    return study, replace(study, **frames), {other: old for old, other in new.items()}


def test_the_new_ids_sort_otherwise():
    first, second, _ = two_studies()
    for name in IDS:
        order = [pd.factorize(study.conversations[name], sort=True)[0].tolist() for study in (first, second)]
        assert order[0] != order[1]


@pytest.mark.parametrize("name", RESULTS)
def test_no_result_depends_on_how_ids_sort(name):
    first, second, back = two_studies()
    expected, found = (RESULTS[name](study) for study in (first, second))
    found = found.rename(index=back).map(lambda cell: back.get(cell, cell) if isinstance(cell, str) else cell)
    assert len(found)
    pd.testing.assert_frame_equal(found, expected, check_exact=True, check_dtype=False, check_index_type=False)
