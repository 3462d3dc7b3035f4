"""Nothing changed: said at once, from bytes, and never when anything did change."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sense7.book import unchanged
from sense7.book.unchanged import keep, observe

HEAVY = {"numpy", "pandas", "scipy", "matplotlib", "sphinx", "typer", "yaml", "sense7.cli", "sense7.book.build"}
SAID = [("stderr", "nothing changed"), ("stdout", "the last line")]
COMMAND = ["mine.xlsx", "--words=words.yml", "-p", "seed=3"]
ALONE = ("_config.yml", "_toc.yml", "requirements.lock")
"""Inputs in a folder of which nothing else is one."""


@pytest.fixture
def built(checkout, monkeypatch, tmp_path):
    """A small checkout with every kind of input, as if its book had just been built by ``COMMAND``."""
    checkout.book()
    monkeypatch.chdir(checkout.root)
    monkeypatch.setenv("SENSE7_CACHE", str(tmp_path / "cache"))
    for name in (
        *("words.yml", "mine.xlsx.provenance.json", "mine.reading.yml", "mine_truth.json", "mine_judge/a.csv"),
        *("predictions_mine/run.csv", "predictions_mine/logs/1.eval", "data/real/table.csv"),
        *(tmp_path / "cache" / "official" / "0" / "official.xlsx", tmp_path / "cache" / "official.provenance.json"),
    ):
        path = checkout.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"some bytes")
    (checkout.root / "_build" / "cache").mkdir(parents=True)
    edition = checkout.editions / "mine"
    (edition / "html").mkdir(parents=True)
    (edition / "html" / "index.html").touch()
    (edition / "edition.json").write_text("{}", "utf-8")
    (checkout.editions / "editions.js").touch()
    # The library's own sources are an input like the others; a copy can be changed.
    library = tmp_path / "library"
    (library / "estimators").mkdir(parents=True)
    for name in ("__init__.py", "estimators/mixed.py", "help.txt"):
        (library / name).write_text("# code\n", "utf-8")
    monkeypatch.setattr(unchanged, "_package", [str(library)])
    keep(COMMAND, observe(COMMAND), SAID)
    assert unchanged.unchanged(COMMAND) == SAID
    return checkout


def inputs(root):
    """Every file that the build of ``COMMAND`` may read."""
    folders = (root, root.parent / "library", root.parent / "cache")
    kept = [path for folder in folders for path in folder.rglob("*") if path.is_file()]
    return sorted(path for path in kept if "_build" not in path.relative_to(root.parent).parts)


def test_every_kind_of_input_is_there(built):
    names = {path.relative_to(built.root.parent).as_posix() for path in inputs(built.root)}
    for name in ("library/estimators/mixed.py", "cache/official/0/official.xlsx"):
        assert name in names
    for name in (
        *("notebooks/01-a.md", "book/index.md", "book/static/companion.css", "data/claims.yml", "_config.yml"),
        *("_toc.yml", "requirements.lock", "mine.xlsx", "mine_truth.json", "mine_judge/a.csv"),
        *("predictions_mine/logs/1.eval", "words.yml", "mine.reading.yml"),
    ):
        assert f"{built.root.name}/{name}" in names


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_any_change_of_any_input_is_noticed(built, data):
    """One byte, put back with its time or not; a file that is gone, another that came, one that was renamed."""
    path = data.draw(st.sampled_from(inputs(built.root)))
    before, times = path.read_bytes(), path.stat()
    change = data.draw(st.sampled_from(["byte", "byte", "longer", "gone", "new", "renamed"]))
    other = path.with_name(f"{path.stem}-other{path.suffix}")
    if change == "byte" and before:
        place = data.draw(st.integers(0, len(before) - 1))
        byte = before[place] ^ data.draw(st.integers(1, 255))
        path.write_bytes(before[:place] + bytes([byte]) + before[place + 1 :])
    elif change == "gone":
        path.unlink()
    elif change == "new" and path.name not in ALONE:
        other.write_bytes(before)
    elif change == "renamed":
        path.rename(other)
    else:
        path.write_bytes(before + b"\n")
    if path.exists():  # an editor, a copy or a clock may leave size and time as they were
        os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))
    noticed = unchanged.unchanged(COMMAND)
    other.unlink(missing_ok=True)
    path.write_bytes(before)
    assert noticed is None, (path, change)
    assert unchanged.unchanged(COMMAND) == SAID


@pytest.mark.parametrize("variable", ["SENSE7_REPOSITORY", "GITHUB_REPOSITORY", "PYTHONPATH", "HOME"])
def test_another_environment_is_noticed(built, monkeypatch, variable):
    monkeypatch.setenv(variable, "/another")
    assert unchanged.unchanged(COMMAND) is None


def test_another_command_or_folder_is_noticed(built, monkeypatch):
    assert unchanged.unchanged([*COMMAND, "--quiet"]) is None
    monkeypatch.chdir(built.root / "book")
    assert unchanged.unchanged(COMMAND) is None


def test_another_package_or_version_is_noticed(built, monkeypatch, tmp_path):
    monkeypatch.syspath_prepend(tmp_path / "site")
    keep(COMMAND, observe(COMMAND), SAID)
    (tmp_path / "site" / "numpy-3.0.dist-info").mkdir(parents=True)
    assert unchanged.unchanged(COMMAND) is None
    keep(COMMAND, observe(COMMAND), SAID)
    (tmp_path / "site" / "numpy-3.0.dist-info" / "METADATA").write_text("Version: 3.1", "utf-8")
    assert unchanged.unchanged(COMMAND) is None


@pytest.mark.parametrize(
    "file", ["mine/edition.json", "mine/html/index.html", "editions.js", ".making-x/left", "other/edition.json"]
)
def test_another_edition_or_what_a_killed_build_left_is_noticed(built, file):
    path = built.editions / file
    if path.exists() and path.name == "index.html":
        path.unlink()
    else:
        path.parent.mkdir(exist_ok=True)
        path.write_text("other", "utf-8")
    assert unchanged.unchanged(COMMAND) is None


def test_no_stamp_is_left_where_something_changed_during_the_build(built):
    before = observe(COMMAND)
    built.page("index", "# Another front\n")
    keep(COMMAND, before, SAID)
    assert unchanged.unchanged(COMMAND) is None


@pytest.mark.parametrize("text", ["", "{", "[]", '{"inputs": 1}', "null"])
def test_a_stamp_that_is_none_is_no_answer(built, text):
    (stamp,) = (built.root / "_build" / "stamps").iterdir()
    stamp.write_text(text, "utf-8")
    assert unchanged.unchanged(COMMAND) is None


def test_more_files_than_a_shortcut_is_worth_give_no_stamp(built, monkeypatch):
    monkeypatch.setattr(unchanged, "_MOST_FILES", 5)
    assert observe(COMMAND) is None
    keep(COMMAND, None, SAID)


def test_the_command_says_the_same_again_without_importing_anything_slow(checkout):
    checkout.book()
    first = checkout.sense7("build", "mine.xlsx")
    assert first.returncode == 0, first.stderr
    code = (
        "import sys, atexit\nfrom sense7.start import main\n"
        f"atexit.register(lambda: print(sorted({HEAVY} & set(sys.modules)), file=sys.stderr))\nmain()"
    )

    def again():
        return subprocess.run(
            [sys.executable, "-c", code, "build", "mine.xlsx"],
            cwd=checkout.root,
            env=checkout.environment(),
            capture_output=True,
            text=True,
            check=False,
        )

    done = again()
    assert (done.returncode, done.stdout) == (0, first.stdout)
    assert done.stderr.splitlines()[0] == "nothing changed since this edition was built"
    assert done.stderr.splitlines()[-1] == "[]"
    Path(checkout.root / "book" / "index.md").write_text("# Front\n\nOther words.\n", "utf-8")
    done = again()
    assert done.returncode == 0
    assert "nothing changed" not in done.stderr
    assert done.stderr.splitlines()[-1] != "[]"
