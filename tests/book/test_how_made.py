"""How an edition was made: its commit, and what the foot of every page says."""

import shutil
import subprocess

import pytest
from bs4 import BeautifulSoup

from sense7.book import plan
from sense7.book.pages import describe
from sense7.book.plan import versions
from sense7.checkout import commit_of
from sense7.sources.released import RELEASED

GIT = shutil.which("git")
needs_git = pytest.mark.skipif(GIT is None, reason="git is not installed")


def git(folder, *arguments):
    """Git with an identity of its own, and none of the user's settings."""
    own = ("-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false")
    done = subprocess.run([GIT, "-C", folder, *own, *arguments], check=True, capture_output=True, text=True)
    return done.stdout.strip()


@pytest.fixture
def repository(tmp_path):
    folder = tmp_path / "a checkout"
    (folder / "book").mkdir(parents=True)
    (folder / "book" / "index.md").write_text("# Front\n", "utf-8")
    git(folder.parent, "init", "--quiet", str(folder))
    git(folder, "add", ".")
    git(folder, "commit", "--quiet", "-m", "first")
    return folder


@needs_git
def test_the_commit_is_that_of_the_checkout(repository):
    assert commit_of(repository) == {"commit": git(repository, "rev-parse", "HEAD"), "changed": False, "apart": True}


@needs_git
@pytest.mark.parametrize("where", ["book/index.md", "book/new.md", "src/sense7/new.py"])
def test_a_change_of_what_books_are_made_of_is_said(repository, where):
    (repository / where).parent.mkdir(parents=True, exist_ok=True)
    (repository / where).write_text("other", "utf-8")
    assert commit_of(repository)["changed"] is True


@needs_git
def test_a_change_elsewhere_is_none(repository):
    (repository / "notes.txt").write_text("other", "utf-8")
    assert commit_of(repository)["changed"] is False


@needs_git
def test_the_commit_of_a_repository_around_the_checkout_is_not_taken_for_its_own(repository):
    inner = repository / "inner"
    inner.mkdir()
    assert commit_of(inner)["commit"] is None


def test_without_git_the_commit_is_not_known(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    assert commit_of(tmp_path) == {"commit": None, "changed": None, "apart": True}


@needs_git
def test_what_a_hook_sets_leads_to_no_other_repository(repository, tmp_path, monkeypatch):
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "elsewhere"))
    assert commit_of(repository)["commit"] is not None


def test_what_is_not_installed_is_said(monkeypatch):
    monkeypatch.setattr(plan, "SHOWN_VERSIONS", ("numpy", "no-such-package"))
    assert versions()["no-such-package"] == "not installed"
    assert versions()["numpy"][0].isdecimal()


def facts(**given):
    told = {
        "parameters": {},
        "notebooks": {"01-a": {"seed": 7, "data": "../data/<b>.xlsx"}},
        "versions": {"sense7": "0.1.0", "numpy": "2.0"},
        "commit": "c" * 40,
        "changed": False,
        "apart": False,
        "library": "d" * 64,
    }
    return {"file": "<b>.xlsx", "sha256": "a" * 64, "parameters": "seed = 1", "made": told | given}


def text(markup):
    page = BeautifulSoup(markup, "html.parser")
    assert {tag.name for tag in page.find_all()} == {"p", "strong"}
    return page.get_text()


def test_the_foot_of_a_page_gives_workbook_parameters_versions_and_commit():
    told = text(describe(facts()))
    for part in ("<b>.xlsx", "SHA-256 " + "a" * 64, "seed = 1", "numpy 2.0", "commit " + "c" * 40, "d" * 12):
        assert part in told
    assert "not committed" not in told


def test_a_notebooks_page_gives_the_parameters_of_that_notebook():
    assert "seed = 7, data = '../data/<b>.xlsx'" in text(describe(facts(), "notebooks/01-a"))


def test_a_page_of_released_ratings_names_their_tables_and_not_the_workbook():
    released = {"01-a": ["felt_heard"]}
    told = text(describe(facts(released=released), "notebooks/01-a"))
    assert f"Released ratings: real/felt_heard.csv, SHA-256 {RELEASED['felt_heard'].sha256}" in told
    assert "a" * 64 not in told
    assert "a" * 64 in text(describe(facts(released=released), "book/index"))


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"changed": True}, "with changes that are not committed"),
        ({"apart": True}, "from which the library lies apart"),
        ({"commit": None, "changed": None}, "commit not known"),
    ],
)
def test_what_the_commit_does_not_tell_is_said(given, words):
    assert words in text(describe(facts(**given)))
