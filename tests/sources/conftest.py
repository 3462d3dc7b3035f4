"""A checkout, a cache and a server of the tests' own."""

import pytest

from helpers.downloads import Server
from sense7.workbook.xlsx import Sheet, write_sheets


@pytest.fixture(scope="session")
def synthetic(tmp_path_factory):
    """What stands in for the synthetic workbook."""
    path = tmp_path_factory.mktemp("data") / "synthetic.xlsx"
    write_sheets(
        [Sheet("Tasks", ["TaskId", "planted"], []), Sheet("Messages", ["TaskId"], [])], path
    )
    return path.read_bytes()


@pytest.fixture(autouse=True)
def places(tmp_path, monkeypatch, synthetic):
    """A checkout, a cache and a working directory of the test's own; no proxy in between."""
    root = tmp_path / "checkout"
    for folder in ("notebooks", "data"):
        (root / folder).mkdir(parents=True)
    (root / "_config.yml").touch()
    (root / "data" / "claims.yml").touch()
    (root / "data/synthetic.xlsx").write_bytes(synthetic)
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    monkeypatch.setenv("SENSE7_ROOT", str(root))
    monkeypatch.setenv("SENSE7_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("NO_PROXY", "*")
    return tmp_path


@pytest.fixture
def listening():
    """A server on loopback, without answers yet."""
    running = Server()
    yield running
    running.close()


@pytest.fixture
def left_behind(places):
    """Names of unfinished files and folders in the cache."""
    return lambda: sorted(
        path.name for path in (places / "cache").rglob("*") if ".part" in path.name
    )
