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
def test_the_commit_is_the_checkouts_and_changes_are_said(repository):
    commit = git(repository, "rev-parse", "HEAD")
    for place, changed in (("notes.txt", False), ("src/sense7/new.py", True)):
        (repository / place).parent.mkdir(parents=True, exist_ok=True)
        (repository / place).write_text("other", "utf-8")
        assert commit_of(repository) == {"commit": commit, "changed": changed}
    assert commit_of(repository / "src")["commit"] is None, "it is that of a repository around it"
