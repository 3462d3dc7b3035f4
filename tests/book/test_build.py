"""Editions: what they may be called, when they are made again, and that the last good book survives everything."""

import errno
import json
import re
import shutil
import threading
from dataclasses import replace
from pathlib import Path

import pytest
import yaml
from bs4 import BeautifulSoup

from helpers import interrupting, naming
from helpers.checkout import (
    HOSTILE,
    SHARED_BUILD,
    SHARED_FILE,
    SHARED_JUDGE,
    SHARED_NAME,
    SHARED_PARAMETERS,
    recording,
)
from sense7.book import build
from sense7.book import pages as pages_module
from sense7.book.build import build_edition
from sense7.book.editions import require_same_source, write_manifest
from sense7.book.inputs import configuration, declared_configuration, edition_name, resolve_inputs
from sense7.errors import BuildError
from sense7.files import scratch_folder
from sense7.sources import SOURCES

ROOT = Path(__file__).resolve().parents[2]
SLOW = """\
import os, pathlib, time
own = pathlib.Path(f"../../../../{{os.getpid()}}")
own.write_text(str(os.getpid()))
own.replace("../../../../pid")
time.sleep({})
"""
"""Says its process, whole, in a file that several may write, and waits."""


def visible(folder):
    return sorted(path.name for path in folder.iterdir() if not path.name.startswith("."))


def hidden(folder):
    return sorted(path.name for path in folder.glob(".*") if path.is_dir())


# Names


NO_FOLDER = ("", "..", "../x", "a\\b", ".x", "-x", "a ", "a\n", "<b>", "a\0", "a\ud800")


@pytest.mark.parametrize("name", [*NO_FOLDER, "x" * 161, "日" * 60])
def test_a_name_that_is_no_plain_folder_is_refused(name):
    with naming.refused(f"{name!r} ", "--name "):
        edition_name(name, "mine.xlsx")


def test_an_edition_may_be_called_in_any_script():
    assert edition_name(None, "../हिन्दी (2).xlsx") == "हिन्दी (2)"


def test_a_configuration_that_lacks_what_a_book_needs_is_named(tmp_path):
    (tmp_path / "_config.yml").write_text("title: A book\n", "utf-8")
    with pytest.raises(BuildError, match=r"_config\.yml: .*repository: url"):
        declared_configuration(tmp_path)


@pytest.mark.parametrize("name", ["synthetic", "official", "Official", "SYNTHETIC"])
def test_reserved_names_are_for_their_data_only(name):
    for given, data in ((name, "mine.xlsx"), (None, f"../x/{name}.xlsx")):
        with naming.refused(f"'{name}'", f"--name my-{name}"):
            edition_name(given, data)


def test_an_edition_holds_its_judges_predictions_or_chosen_ones(built, edition, monkeypatch):
    assert [path.read_text("utf-8") for path in (edition / "predictions").iterdir()] == [
        SHARED_JUDGE
    ]
    (judges,) = [
        one
        for one in json.loads((edition / "results/01-a.json").read_text())
        if one["key"] == "judges"
    ]
    assert judges["estimate"] == "judge-iter1.csv"
    monkeypatch.setenv("SENSE7_ROOT", str(built.root))
    inputs = resolve_inputs(
        str(built.root / "data" / SHARED_FILE), name="other", predictions=edition / "predictions"
    )
    assert [path.parent for path in inputs.predictions] == [edition / "predictions"]
    assert "predictions" in inputs.jobs["01-a"].parts


DATA = ROOT / "data"


def test_the_default_edition_takes_the_simulated_judge_and_another_only_such_a_one(checkout):
    found = resolve_inputs(str(DATA / "synthetic.xlsx"), name="x")
    assert sorted(found.predictions) == sorted((DATA / "synthetic_judge").iterdir())
    checkout.book()
    folder = checkout.root / "mine_judge"
    folder.mkdir()
    judged = "TaskId,PID,IS_EMPATHY,ground-truth\nT0001,P001,3,4\n"
    (folder / "a-iter1.csv").write_text(judged, "utf-8")
    assert resolve_inputs(str(checkout.root / "mine.xlsx")).predictions == []
    (folder / "a-iter1.csv").unlink()
    copied = folder / "simulated-judge-iter1.xlsx"
    copied.write_bytes((DATA / "synthetic_judge" / copied.name).read_bytes())
    assert resolve_inputs(str(checkout.root / "mine.xlsx")).predictions == [copied]


@pytest.mark.parametrize("files", [None, [], ["notes.txt"]])
def test_a_folder_without_predictions_is_named(checkout, files):
    checkout.book()
    folder = checkout.root / "predictions"
    if files is not None:
        folder.mkdir()
    for name in files or ():
        (folder / name).write_text("", "utf-8")
    with naming.refused(folder, "sense7 judge run", "--out"):
        build.build_edition(str(checkout.root / "mine.xlsx"), predictions=folder)


def test_unfit_parameters_are_refused_before_the_workbook_is_read(checkout):
    checkout.book()
    (checkout.root / "broken.xlsx").write_bytes(b"no workbook")
    with naming.refused("prompted ", "seed = 'x'"):
        build_edition(str(checkout.root / "broken.xlsx"), parameters={"seed": "x", "prompted": 5})
    assert not (checkout.root / "_build").exists()


# Facts and banners


@pytest.mark.parametrize(
    ("server", "provider"),
    [
        (None, "github"),
        ("https://github.com", "github"),
        ("https://gitlab.com", "gitlab"),
        ("https://codeberg.org", None),
        ("https://github.example.org", None),
    ],
)
def test_pages_lead_to_the_repository_that_builds_them(checkout, monkeypatch, server, provider):
    """Code comes from the declared one; where the theme has no addresses, there are no buttons."""
    declared = declared_configuration(checkout.root)
    monkeypatch.setenv("GITHUB_REPOSITORY", "me/mine")
    monkeypatch.delenv("GITHUB_SERVER_URL", raising=False)
    if server:
        monkeypatch.setenv("GITHUB_SERVER_URL", server)
    config = configuration(checkout.root)
    options = config["sphinx"]["config"]["html_theme_options"]
    assert config["repository"]["url"] == f"{server or 'https://github.com'}/me/mine"
    assert options.get("repository_provider") == provider
    assert options["use_source_button"] is bool(provider)
    assert declared_configuration(checkout.root) == declared


# Whole builds


def pages(edition):
    return [
        path
        for path in sorted((edition / "html").glob("*/*.html"))
        if path.parent.name != "_static"
    ]


def page(edition, name):
    (found,) = [path for path in pages(edition) if path.name == f"{name}.html"]
    return BeautifulSoup(found.read_text("utf-8"), "html.parser")


def test_roles_show_texts_as_they_are(edition):
    text = page(edition, "index").find("article").get_text()
    assert "7 is 7 of 1." in text
    assert f"Topic: =topic {HOSTILE}." in text
    assert text.count("<i>why</i>") == 1, "a page gives a reason once"
    paragraph = next(line for line in text.splitlines() if "<i>why</i>" in line)
    naming.check(paragraph, "7 is 7 of 1", "<script>", "{value}`a`", "(<i>why</i>)")
    said = f"empathy {HOSTILE}, {SHARED_FILE}, seed = 7, its (b)."
    assert said in text
    scripts = page(edition, "index").find_all("script")
    assert not any("alert(1)" in script.get_text() for script in scripts), "nor in the banner"


def read_when(checkout):
    """When Sphinx last read each page."""
    folder = checkout.root / "_build" / "pages" / SHARED_NAME / ".doctrees"
    return {
        str(path.relative_to(folder).with_suffix("")): path.stat().st_mtime_ns
        for path in folder.rglob("*.doctree")
    }


GIVEN = {"name": SHARED_NAME, "parameters": {"seed": 7}}


def build_again(checkout):
    """Notebooks that were executed for another build of the shared book, and pages that were read."""
    before = read_when(checkout)
    finished = build_edition(str(checkout.root / "data" / SHARED_FILE), **GIVEN)
    after = read_when(checkout)
    assert finished.changed
    return sorted(finished.executed), {name for name in after if after[name] != before.get(name)}


def replace_in(path, old, new):
    text = path.read_text("utf-8")
    path.write_text(text.replace(old, new), "utf-8")
    return text


def test_a_book_is_the_same_anywhere_and_changes_where_it_must(checkout, built, monkeypatch):
    """One after the other on one book, since every rendering takes its seconds."""
    command = checkout.shared_book()
    shutil.copytree(built.root / "_build" / "cache", checkout.root / "_build" / "cache")
    assert build_again(checkout)[0] == [], "what was executed for a book is there for another"
    first = built.bytes(SHARED_NAME)
    good = checkout.bytes(SHARED_NAME)
    assert first.keys() == good.keys()
    assert [name for name in first if first[name] != good[name]] == []
    assert hidden(checkout.editions) == []

    # Nothing changed, wherever the command is given, and though the list of editions was lost.
    monkeypatch.chdir(checkout.root / "book")
    (checkout.editions / "editions.js").unlink()
    same = build_edition(f"../data/{SHARED_FILE}", **GIVEN)
    assert (same.executed, same.changed, checkout.bytes(SHARED_NAME)) == ([], False, good)
    assert (checkout.editions / "editions.js").exists()

    # Another value and other prose: two notebooks, and the pages that show something of these.
    notebooks = checkout.root / "notebooks"
    replace_in(notebooks / "01-a.md", '"seed_of_a", seed,', '"seed_of_a", seed - 5,')
    replace_in(notebooks / "02-b.md", "Text.", "Text of a message.")
    changed = {"notebooks/01-a", "notebooks/02-b", "book/figure", "book/index", "book/ledger"}
    with monkeypatch.context() as patch:
        patch.setattr(
            "sense7.files.exchange", lambda *_: False
        )  # on a system without it: by two renames
        assert build_again(checkout) == (["01-a"], changed)
    assert "2 is 2 of 1." in page(checkout.editions / SHARED_NAME, "index").get_text()
    assert "Text of a message." in page(checkout.editions / SHARED_NAME, "02-b").get_text()
    assert hidden(checkout.editions) == []

    # A part of the book has another name, which stands on every page.
    toc = yaml.safe_load((checkout.root / "_toc.yml").read_text("utf-8"))
    toc["parts"] = [{"caption": "Answers", "chapters": toc.pop("chapters")}]
    (checkout.root / "_toc.yml").write_text(yaml.safe_dump(toc), "utf-8")
    build_again(checkout)
    assert "Answers" in page(checkout.editions / SHARED_NAME, "02-b").get_text()
    good = checkout.bytes(SHARED_NAME)

    # Warnings are errors, of every kind, and all are said with page and line; the last good book stays.
    twice = "(twice)=\n## 1\n\n(twice)=\n## 2\n"
    checkout.page("index", f"# Front\n\n{{value}}`no_such` and [gone](nowhere.md)\n\n{twice}")
    checkout.page(
        "ledger",
        "# Ledger\n\n```{ledger}\n```\n\n```{nosuch}\n```\n\n{edition}`no_fact`\n{published}`no_claim`\n",
    )
    done = checkout.call(*command)
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    for place, words in (
        ("book/index.md:3", "'no_such'"),
        ("book/index.md:3", "nowhere.md"),
        ("book/index.md", "twice"),
        ("book/ledger.md:6", "nosuch"),
        ("book/ledger.md:9", "no_fact"),
        ("book/ledger.md:", "'no_claim'"),
    ):
        lines = [line for line in done.stderr.splitlines() if place in line]
        assert any(words in line for line in lines), (place, done.stderr)
    assert str(checkout.root) not in done.stderr
    assert checkout.bytes(SHARED_NAME) == good
    assert hidden(checkout.editions) == []


# Two sources, one name


@pytest.mark.parametrize(
    ("known", "source", "digest", "is_refused"),
    [
        ("/home/a/mine.xlsx", "/home/b/mine.xlsx", "b", True),
        ("/home/a/mine.xlsx", "official", "b", True),
        ("/home/a/mine.xlsx", "/home/a/mine.xlsx", "b", False),  # the same file, changed
        ("/home/a/mine.xlsx", "/home/b/mine.xlsx", "a", False),  # the same content, from elsewhere
        (None, "/home/b/mine.xlsx", "b", False),  # not finished
    ],
)
def test_an_edition_of_another_source_is_not_replaced(tmp_path, known, source, digest, is_refused):
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "edition.json").write_text(json.dumps({"sha256": "a" * 64}), "utf-8")
    if known:
        write_manifest(folder, "key", known)
    if not is_refused:
        require_same_source(folder, source, digest * 64)
        return
    with naming.refused("a" * 12, source, "--name OTHER", folder):
        require_same_source(folder, source, digest * 64)


def test_a_figure_of_a_verified_workbook_is_not_taken_from_a_mirrors_copy(checkout):
    checkout.book()
    inputs = resolve_inputs(str(checkout.root / "mine.xlsx"))
    known = {"kind": "official", "address": SOURCES["official"].address}
    official = replace(inputs.provenance, fetched="2026-01-01T00:00:00Z", **known)
    copies = [inputs.provenance, official, replace(official, mirror=True)]
    assert [copy.verified for copy in copies] == [False, True, False]
    jobs = [replace(inputs, provenance=copy).jobs.values() for copy in copies]
    assert len({job.digest for (job,) in jobs}) == 3


def test_a_second_build_waits_and_says_so(checkout):
    """Both end well: tests/faults/test_interrupted_build.py."""
    inputs = resolve_inputs(str(checkout.book().root / "mine.xlsx"))
    said = []
    waited = []

    def second():
        with build.build_lock(inputs, said.append):
            waited.append(True)

    thread = threading.Thread(target=second)
    with build.build_lock(inputs, said.append):
        thread.start()
        interrupting.until(lambda: bool(said))
        assert waited == []
    thread.join()
    assert waited == [True]


@pytest.mark.parametrize(
    "problem",
    [OSError(errno.ENOSPC, "No space left on device"), BuildError("No space left on device")],
    ids=["here", "in another process"],
)
def test_on_a_full_disk_a_build_names_the_fix_and_the_last_book_stays(own, monkeypatch, problem):
    """In this process or in another."""
    good = own.bytes(SHARED_NAME)
    replace_in(own.root / "notebooks" / "02-b.md", "Text.", "Other text.")

    def full(*given):
        raise problem

    monkeypatch.setattr(pages_module, "make_pages", full)
    done = own.call(*SHARED_BUILD)
    ended = interrupting.Ended(done.returncode, done.stdout, done.stderr, 0)
    interrupting.require_full(ended, SHARED_NAME)
    naming.check(done.stderr.splitlines()[-1], own.editions / SHARED_NAME)
    assert own.bytes(SHARED_NAME) == good
    assert hidden(own.editions) == []


def test_a_killed_build_leaves_the_last_book_and_the_next_clears_up(own, ends):
    """A good book, and two notebooks that would take a quarter of an hour to run in the next."""
    for name in ("01-a", "02-b"):  # of two, kernels are forked
        code = recording(name, f"seed_of_{name[-1]}", before=SLOW.format(900))
        own.notebook(name, code, parameters=SHARED_PARAMETERS)
    process = own.start("build", f"data/{SHARED_FILE}", "--name", SHARED_NAME)
    good, place = own.bytes(SHARED_NAME), own.root / "_build" / "pid"
    interrupting.until(lambda: place.exists() and place.read_text("utf-8"))
    kernel = int(place.read_text("utf-8"))
    process.kill()
    process.communicate()
    assert ends(kernel), "the kernel survived its build"
    assert own.bytes(SHARED_NAME) == good
    assert visible(own.editions) == ["editions.js", SHARED_NAME]
    assert len(hidden(own.editions)) == 1
    with scratch_folder(own.editions):
        assert len(hidden(own.editions)) == 1, "but for the one in use"


def test_a_failing_notebook_is_named_on_the_command_line_at_once_and_the_others_are_kept(checkout):
    checkout.book(code="seed / 0")
    checkout.notebook("02-b", recording("02-b", "b"))
    done = checkout.call("build", "mine.xlsx")
    assert (done.returncode, done.stdout) == (1, "")
    at_once = re.compile(r"  01-a failed: .*ZeroDivisionError")
    assert any(map(at_once.match, done.stderr.replace("\r", "").splitlines()))
    failed = checkout.root / "_build" / "failed" / "01-a.ipynb"
    message = done.stderr.partition("sense7: ")[2]
    naming.check(message, "01-a.md: ", "cell 3", "'seed / 0'", "ZeroDivisionError", failed)
    assert "papermill-error-cell-tag" in failed.read_text("utf-8")
    assert "Traceback" not in done.stderr
    assert [path.name[:4] for path in (checkout.root / "_build" / "cache").iterdir()] == ["02-b"]
    assert visible(checkout.editions) == []
