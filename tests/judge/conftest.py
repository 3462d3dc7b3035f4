"""What every test of a judge has."""

import pytest

from helpers import endpoint
from helpers.judged import said_in
from helpers.studies import parse_sheets, write_study
from sense7.judge.scores.judges import read_runs
from sense7.loading import load


@pytest.fixture(autouse=True)
def no_keys(monkeypatch):
    """Nobody's key is sent to anybody, and no proxy is asked."""
    for name in ("SENSE7_JUDGE_KEY", "OPENAI_API_KEY", "OPENAI_ORG_ID", "OPENAI_PROJECT_ID"):
        monkeypatch.delenv(name, raising=False)
    for name in ("ALL_PROXY", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)


@pytest.fixture
def server(monkeypatch):
    """An endpoint within the process; what it answers is its ``script``."""
    return endpoint.InProcess().connect(monkeypatch)


@pytest.fixture(scope="session")
def study():
    """The synthetic data set; it is only read."""
    return load("synthetic")


@pytest.fixture(scope="session")
def judges(study):
    """The predictions that come with it."""
    return read_runs(study)


@pytest.fixture(scope="session")
def study_of(minimal_sheets):
    """A study of so many conversations in which different things are said."""

    def build(conversations, turns=1, words="", **messages):
        said = {"Content": said_in(conversations, turns, words)} | messages
        return parse_sheets(minimal_sheets(conversations=conversations, turns=turns, messages=said))

    return build


@pytest.fixture
def workbook(minimal_sheets, tmp_path):
    """Path of a workbook of so many conversations."""

    def write(conversations):
        path = tmp_path / f"data{conversations}.xlsx"
        sheets = minimal_sheets(
            conversations=conversations, turns=1, messages={"Content": said_in(conversations)}
        )
        write_study(sheets, path)
        return path

    return write
