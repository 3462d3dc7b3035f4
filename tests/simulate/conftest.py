import pytest

from sense7.simulate import DEFAULT_SEED, Parameters, simulate

SMALL = Parameters(participants=8, conversations=24, unrated_conversations=1)


@pytest.fixture(scope="session")
def default():
    """The simulation that stands in data/."""
    return simulate(Parameters(), DEFAULT_SEED)


@pytest.fixture
def small():
    return simulate(SMALL, 3)
