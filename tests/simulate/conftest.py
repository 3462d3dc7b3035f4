import pytest

from sense7.simulate import DEFAULT_SEED, Parameters, simulate


@pytest.fixture(scope="session")
def default():
    """The simulation that stands in data/, made once: its implied values take some seconds."""
    return simulate(Parameters(), DEFAULT_SEED)


@pytest.fixture(scope="session")
def cheap(default):
    """Simulate with another seed at no cost, because the implied values are kept."""
    return lambda seed: simulate(Parameters(), seed)
