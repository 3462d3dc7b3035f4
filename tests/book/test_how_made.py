"""How an edition was made: its commit, what the foot of every page says, and on what more than one page depends."""

import shutil
import subprocess

import pytest

from sense7.checkout import commit_of

GIT = shutil.which("git")
needs_git = pytest.mark.skipif(GIT is None, reason="git is not installed")


def git(folder, *arguments):
    """Git with an identity of its own, and none of the user's settings."""
    own = ("-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false")
    done = subprocess.run(
        [GIT, "-C", folder, *own, *arguments], check=True, capture_output=True, text=True
    )
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
    assert commit_of(repository) == {
        "commit": git(repository, "rev-parse", "HEAD"),
        "changed": False,
    }


@needs_git
@pytest.mark.parametrize(
    "where", ["book/index.md", "book/new.md", "src/sense7/new.py", "notes.txt"]
)
def test_a_change_of_what_books_are_made_of_is_said_and_no_other(repository, where):
    (repository / where).parent.mkdir(parents=True, exist_ok=True)
    (repository / where).write_text("other", "utf-8")
    assert commit_of(repository)["changed"] is (where != "notes.txt")


@needs_git
def test_the_commit_of_a_repository_around_the_checkout_is_not_taken_for_its_own(repository):
    inner = repository / "inner"
    inner.mkdir()
    assert commit_of(inner)["commit"] is None
