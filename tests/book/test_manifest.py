"""An edition's manifest: damage is noticed; nothing changed is said at once, and never when anything did change."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sense7.book import manifest
from sense7.book.crate import write_crate
from sense7.book.editions import write_site
from sense7.book.ledger import read_ledger
from sense7.book.manifest import damage, environment_of, installed_otherwise, observe, unchanged, write_manifest
from sense7.checkout import Project
from sense7.errors import UserError

HEAVY = {"numpy", "pandas", "scipy", "matplotlib", "sphinx", "typer", "yaml", "sense7.cli", "sense7.book.build"}
FACTS = {"warnings": {}, "verdicts": "1 recovered", "verdicts_of_other_works": "none", "label": "synthetic"}
RESULTS = "results/01-a.json"
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
    for name in ("html/index.html", "html/notebooks/01-a.html", RESULTS, "notebooks/01-a.ipynb", "ledger.json"):
        (edition / name).parent.mkdir(parents=True, exist_ok=True)
        (edition / name).write_text("[1, 2]", "utf-8")
    (edition / "edition.json").write_text(json.dumps(FACTS), "utf-8")
    (checkout.editions / "editions.js").write_text('window.sense7Editions = [{"name": "mine"}];\n', "utf-8")
    # The library's own sources are an input like the others; a copy can be changed.
    library = tmp_path / "library"
    (library / "estimators").mkdir(parents=True)
    for name in ("__init__.py", "estimators/mixed.py", "help.txt"):
        (library / name).write_text("# code\n", "utf-8")
    monkeypatch.setattr(manifest, "_package", [str(library)])
    write_manifest(edition, COMMAND, observe(COMMAND))
    assert says(checkout) == ["nothing changed since this edition was built", "1 recovered. none"]
    return checkout


def says(checkout, *arguments):
    """Lines of the answer from the manifest, apart from the last, which is the path of the front page."""
    lines = unchanged([*COMMAND, *arguments])
    if lines is None:
        return None
    assert lines[-1] == ("stdout", str(checkout.editions / "mine" / "html" / "index.html"))
    return [text for _, text in lines[:-1]]


# What an edition consists of


@pytest.mark.parametrize(
    ("name", "content", "what"),
    [
        ("html/notebooks/01-a.html", None, "is missing"),
        (RESULTS, "[]", "changed"),
        (RESULTS, "[1, 3]", "changed"),
        ("results/02-b.json", "[]", "was added"),
        ("notebooks/01-a.ipynb", "{}", "changed"),
        ("ledger.json", None, "is missing"),
        ("edition.json", "{}", "changed"),
    ],
)
def test_a_file_that_is_not_the_editions_is_named_and_the_edition_refused(built, tmp_path, name, content, what):
    edition = built.editions / "mine"
    assert damage(edition) == []
    if content is None:
        (edition / name).unlink()
    else:
        (edition / name).write_text(content, "utf-8")
    assert damage(edition) == [f"{name} {what}"]
    assert says(built) is None
    with pytest.raises(UserError, match=rf"damaged \({name} {what}\). Repair it: sense7 build mine"):
        read_ledger(built.root, "mine")


def test_a_page_that_others_put_there_is_no_damage(built):
    (built.editions / "mine" / "html" / "notes.html").write_text("mine", "utf-8")
    assert damage(built.editions / "mine") == []


def test_what_is_shared_of_a_damaged_edition_is_refused(built, tmp_path):
    edition = built.editions / "mine"
    made = {"versions": {"sense7": "1"}, "notebooks": {}}
    facts = FACTS | {"file": "mine.xlsx", "sha256": "0", "kind": "own", "made": made}
    (edition / "edition.json").write_text(json.dumps(facts), "utf-8")
    write_manifest(edition, COMMAND, None)
    (edition / RESULTS).write_text("[1, 3]", "utf-8")
    with pytest.raises(UserError, match=r"results/01-a\.json changed"):
        write_site(built.editions, ["mine"], tmp_path / "site")
    with pytest.raises(UserError, match=r"results/01-a\.json changed"):
        write_crate(Project(built.root, built.root), "mine", tmp_path / "mine.zip")
    assert not (tmp_path / "site").exists()
    assert not (tmp_path / "mine.zip").exists()


def test_a_damaged_edition_is_repaired_and_said_to_be(checkout):
    checkout.book()
    first = checkout.sense7("build", "mine.xlsx")
    assert first.returncode == 0, first.stderr
    edition = checkout.editions / "mine"
    before = (edition / "manifest.json").read_bytes()
    page, values = next((edition / "html" / "notebooks").glob("01-*.html")), edition / "results" / "01-a.json"
    page.unlink()
    values.write_text("[]", "utf-8")
    again = checkout.sense7("build", "mine.xlsx")
    assert again.returncode == 0, again.stderr
    assert (
        "mine: damaged (html/notebooks/01-a.html is missing, results/01-a.json changed), and made again" in again.stderr
    )
    assert damage(edition) == []
    assert (edition / "manifest.json").read_bytes() == before


# What is installed


def test_another_version_than_the_locks_is_named_and_is_another_environment(tmp_path, monkeypatch):
    (tmp_path / "requirements.lock").write_text("some-thing==1.0 \\\n  --hash=sha256:0\nabsent==3 ; x\n", "utf-8")
    (tmp_path / "site" / "some_thing-1.0.dist-info").mkdir(parents=True)
    (tmp_path / "site" / "by_hand-9.dist-info").mkdir()
    monkeypatch.setattr("sys.path", [str(tmp_path / "site")])
    assert environment_of(tmp_path) == ["some-thing 1.0"]
    assert installed_otherwise(tmp_path) == []
    (tmp_path / "site" / "some_thing-1.0.dist-info").rename(tmp_path / "site" / "some_thing-1.1.dist-info")
    assert environment_of(tmp_path) == ["some-thing 1.1"]
    ((stream, line),) = installed_otherwise(tmp_path)
    assert stream == "stderr"
    assert line.startswith("some-thing 1.1 is installed, the lock has 1.0: results may differ.")


def test_without_a_lock_every_installed_package_counts(tmp_path, monkeypatch):
    (tmp_path / "by_hand-9.dist-info").mkdir()
    monkeypatch.setattr("sys.path", [str(tmp_path)])
    assert environment_of(tmp_path) == ["by-hand 9"]


# Whether anything changed


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


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
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
    noticed = unchanged(COMMAND)
    other.unlink(missing_ok=True)
    path.write_bytes(before)
    assert noticed is None, (path, change)
    assert unchanged(COMMAND) is not None


@pytest.mark.parametrize("variable", ["SENSE7_REPOSITORY", "GITHUB_REPOSITORY", "PYTHONPATH"])
def test_another_environment_is_noticed(built, monkeypatch, variable):
    monkeypatch.setenv(variable, "/another")
    assert unchanged(COMMAND) is None


def test_another_command_or_folder_is_noticed(built, monkeypatch):
    assert unchanged([*COMMAND, "--strict"]) is None
    monkeypatch.chdir(built.root / "book")
    assert unchanged(COMMAND) is None


def test_the_same_command_asked_to_be_quiet_says_less(built):
    assert says(built, "--quiet") == ["1 recovered. none"]


def test_another_version_of_a_package_of_the_lock_is_noticed(built, monkeypatch, tmp_path):
    monkeypatch.syspath_prepend(tmp_path / "site")
    (tmp_path / "site" / "unknown-3.0.dist-info").mkdir(parents=True)
    assert unchanged(COMMAND) is not None
    (tmp_path / "site" / "a-2.dist-info").mkdir()
    assert unchanged(COMMAND) is None


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
    assert unchanged(COMMAND) is None


def test_no_answer_is_kept_where_something_changed_during_the_build(built):
    before = observe(COMMAND)
    built.page("index", "# Another front\n")
    write_manifest(built.editions / "mine", COMMAND, before)
    assert unchanged(COMMAND) is None
    assert damage(built.editions / "mine") == []


@pytest.mark.parametrize("text", ["", "{", "[]", '{"inputs": 1}', "null"])
def test_a_manifest_that_cannot_be_read_is_damage(built, text):
    path = built.editions / "mine" / "manifest.json"
    path.write_text(text, "utf-8")
    assert unchanged(COMMAND) is None
    assert damage(path.parent) == ["manifest.json is missing or can't be read"]


def test_more_files_than_a_shortcut_is_worth_give_no_answer(built, monkeypatch):
    monkeypatch.setattr(manifest, "_MOST_FILES", 5)
    assert observe(COMMAND) is None
    write_manifest(built.editions / "mine", COMMAND, None)
    assert unchanged(COMMAND) is None


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
