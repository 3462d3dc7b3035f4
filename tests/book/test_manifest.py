"""An edition's manifest: damage is noticed; nothing changed is said at once, and never when anything did change."""

import json
import os
import re

import pytest

from helpers import naming
from helpers.checkout import SHARED_BUILD, SHARED_NAME
from sense7.book import inputs
from sense7.book.code import environment_of, installed_otherwise
from sense7.book.editions import FORMAT, damage, read_manifest, write_manifest, write_site
from sense7.book.inputs import resolve_inputs
from sense7.book.ledger import read_ledger
from sense7.errors import UserError

FACTS = {
    "format": FORMAT,
    "label": "mine",
    "file": "m.xlsx",
    "sha256": "0",
    "kind": "own",
    "made": {"versions": {"sense7": "1"}, "notebooks": {}},
}
RESULTS = "results/01-a.json"


@pytest.fixture
def edition(tmp_path):
    """A finished edition whose files say little."""
    folder = tmp_path / "_build" / "editions" / "mine"
    for name in ("html/index.html", RESULTS, "notebooks/01-a.ipynb", "ledger.json", "edition.json"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(json.dumps(FACTS), "utf-8")
    write_manifest(folder, "key")
    assert (damage(folder), read_manifest(folder)["key"]) == ([], "key")
    return folder


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("html/index.html", None),
        (RESULTS, "[]"),
        ("results/02-b.json", "[]"),
        ("notebooks/01-a.ipynb", "{}"),
        ("ledger.json", None),
        ("edition.json", "{}"),
    ],
)
def test_a_changed_file_is_named_and_the_edition_refused(edition, tmp_path, name, content):
    (edition / name).unlink() if content is None else (edition / name).write_text(content, "utf-8")
    (problem,) = damage(edition)
    assert problem.startswith(f"{name} ")
    with naming.refused(problem, "sense7 build WORKBOOK --name mine"):
        read_ledger(tmp_path, "mine")
    if name == RESULTS:
        with pytest.raises(UserError, match=re.escape(problem)):
            write_site(edition.parent, ["mine"], tmp_path / "site")
        assert not (tmp_path / "site").exists()


@pytest.mark.parametrize("facts", [FACTS | {"format": FORMAT + 1}, {"label": "mine"}])
def test_an_edition_of_another_version_is_refused(edition, tmp_path, facts):
    (edition / "edition.json").write_text(json.dumps(facts), "utf-8")
    write_manifest(edition, "key")
    with naming.refused(f"{edition / 'edition.json'}: "):
        read_ledger(tmp_path, "mine")


def test_another_version_than_the_locks_is_named_and_is_another_environment(tmp_path, monkeypatch):
    (tmp_path / "site" / "some_thing-1.0.dist-info").mkdir(parents=True)
    (tmp_path / "site" / "by_hand-9.dist-info").mkdir()
    monkeypatch.setattr("sys.path", [str(tmp_path / "site")])
    assert environment_of(tmp_path) == ["by-hand 9", "some-thing 1.0"], "without a lock, all count"
    (tmp_path / "requirements.lock").write_text(
        "some-thing==1.0 ; python_version >= '3' \\\n  --hash=sha256:0\nabsent==3\n", "utf-8"
    )
    assert (environment_of(tmp_path), installed_otherwise(tmp_path)) == (["some-thing 1.0"], [])
    (tmp_path / "site" / "some_thing-1.0.dist-info").rename(
        tmp_path / "site" / "some_thing-1.1.dist-info"
    )
    assert environment_of(tmp_path) == ["some-thing 1.1"]
    (line,) = installed_otherwise(tmp_path)
    naming.check(line, "some-thing 1.1 ", "1.0")


@pytest.fixture
def project(checkout, monkeypatch, tmp_path):
    """A small checkout with every kind of input; the library's own sources are a copy that can be changed."""
    checkout.book()
    monkeypatch.setattr(inputs, "PACKAGE", tmp_path / "library")
    library = tmp_path / "library"
    for name in (
        *("mine_notes.json", "mine_judge/a.csv", "predictions_mine/run.csv"),
        *("predictions_mine/notes/1.txt", "data/real/table.csv"),
        *(library / "statistics" / "mixed.py", library / "a.txt"),
    ):
        path = checkout.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"some bytes")
    (checkout.root / "requirements.lock").unlink()
    return checkout


def key(project, **options):
    return resolve_inputs(str(project.root / "mine.xlsx"), **options).key


CHANGED = {  # what becomes of a file that an edition depends on
    "a byte": lambda path: path.write_bytes(path.read_bytes()[:-1] + b"x"),
    "gone": lambda path: path.unlink(),
    "renamed": lambda path: path.rename(path.with_name(f"{path.stem}-other{path.suffix}")),
    "another beside it": lambda path: path.with_name("other.csv").write_text("1"),
}
FILES = ("notebooks/01-a.md", "book/references.bib", "data/real/table.csv", "mine_judge/a.csv")
FILES += ("predictions_mine/notes/1.txt", "../library/statistics/mixed.py")


@pytest.mark.parametrize("change", CHANGED)
@pytest.mark.parametrize("name", FILES)
def test_any_change_of_any_input_is_noticed(project, name, change):
    """Also where the time of the file is put back, as an editor, a copy or a clock may leave it."""
    known = key(project)
    path = project.root / name
    times = path.stat()
    CHANGED[change](path)
    if path.exists():
        os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))
    assert key(project) != known


def test_other_data_options_addresses_and_versions_are_noticed(project, monkeypatch, tmp_path):
    known = {key(project), key(project, parameters={"seed": 3}), key(project, name="other")}
    project.workbook(project.root / "mine.xlsx", topic="another")
    known.add(key(project))
    monkeypatch.setenv("GITHUB_REPOSITORY", "another/address")
    known.add(key(project))
    monkeypatch.syspath_prepend(tmp_path / "site")
    (tmp_path / "site" / "unknown-3.0.dist-info").mkdir(parents=True)
    known.add(key(project))
    assert len(known) == 6


def test_a_damaged_edition_is_said_and_repaired(own):
    edition = own.editions / SHARED_NAME
    (edition / "html" / "notebooks" / "01-a.html").unlink()
    (edition / RESULTS).write_text("[]", "utf-8")
    (edition / "html" / "notes.html").write_text("mine", "utf-8")
    done = own.call(*SHARED_BUILD)
    assert done.returncode == 0, done.stderr
    kept = edition.parent.parent / "kept" / SHARED_NAME
    for name, content in ((RESULTS, "[]"), ("html/notes.html", "mine")):
        assert (kept / name).read_text("utf-8") == content
    (moved,) = [line for line in done.stderr.splitlines() if str(kept) in line]
    naming.check(moved, kept, "html/notes.html", RESULTS)
    damaged, *_ = [line for line in done.stderr.splitlines() if "01-a.html" in line]
    naming.check(damaged, "html/notebooks/01-a.html ", f"{RESULTS} ")
    assert damage(edition) == []
    assert (edition / "html" / "notebooks" / "01-a.html").exists()
