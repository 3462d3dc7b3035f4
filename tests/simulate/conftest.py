import json

import pytest

from sense7.checkout import data_file
from sense7.simulate import DEFAULT_SEED, Parameters, simulate

SMALL = Parameters(participants=8, conversations=24, unrated_conversations=1)


@pytest.fixture(scope="session")
def default():
    """The simulation that stands in data/: its sheets; what it implies would take half a minute."""
    return simulate(Parameters(), DEFAULT_SEED)


@pytest.fixture(scope="session")
def truth():
    """What stands in data/ of it; that today's code gives the same takes --long."""
    return json.loads(data_file("synthetic_truth.json").read_text("utf-8"))


@pytest.fixture(scope="session")
def planted(truth):
    """What was planted: key -> entry."""
    return {entry["key"]: entry for entry in truth["planted"]}


@pytest.fixture
def small(monkeypatch):
    """A small simulation, whose truth is computed from few conversations: how exact it is changes nothing else."""
    monkeypatch.setattr("sense7.simulate.true_values.judge.LEAST_CONVERSATIONS", 1)
    return simulate(SMALL, 3)
