"""Elsewhere: from the wheel `sense7 build` works in any folder, and some verbs on every system, Windows among them."""

import compileall
import json
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from helpers import naming
from sense7.book.code import library_digest

ROOT = Path(__file__).resolve().parents[1]
CARRIED = "sense7/_project"
PARTS = ("notebooks", "book", "data", "_config.yml", "_toc.yml")
LARGEST = 5_000_000
"""Bytes that the wheel may have; it is about three fifths of that."""

OURS = ("SENSE7_", "GITHUB_", "PYTHON", "VIRTUAL_ENV")


@pytest.fixture(scope="session")
def wheel(tmp_path_factory):
    folder = tmp_path_factory.mktemp("wheel")
    code = "import sys; from hatchling.build import build_wheel; build_wheel(sys.argv[1])"
    subprocess.run([sys.executable, "-c", code, folder], cwd=ROOT, check=True, capture_output=True)
    (path,) = folder.glob("*.whl")
    return path


@pytest.fixture(scope="session")
def installed(wheel, tmp_path_factory):
    """What an installation unpacks and compiles, beside the packages of this environment."""
    folder = tmp_path_factory.mktemp("site packages")
    zipfile.ZipFile(wheel).extractall(folder)
    assert compileall.compile_dir(folder, quiet=1)
    return folder


@pytest.fixture
def run_installed(installed, tmp_path, monkeypatch):
    """Run Python on the installed package in an empty folder; no file of the package may change by it."""

    def run(code, *arguments):
        before = {path: path.stat().st_mtime_ns for path in installed.rglob("*")}
        kept = {name: value for name, value in os.environ.items() if not name.startswith(OURS)}
        done = subprocess.run(
            [sys.executable, "-c", code, *arguments],
            cwd=tmp_path,
            env=kept | {"PYTHONPATH": str(installed), "PYTHONDONTWRITEBYTECODE": "1"},
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
        assert {path: path.stat().st_mtime_ns for path in installed.rglob("*")} == before
        return done

    return run


def test_the_wheel_holds_each_notebook_page_and_data_file_and_no_more(wheel):
    names = {name for name in zipfile.ZipFile(wheel).namelist() if name.startswith(f"{CARRIED}/")}
    paths = [path for part in PARTS for path in (ROOT / part, *(ROOT / part).rglob("*"))]
    there = {f"{CARRIED}/{path.relative_to(ROOT).as_posix()}" for path in paths if path.is_file()}
    assert names == there
    assert {
        f"{CARRIED}/notebooks/{path.name}" for path in (ROOT / "notebooks").glob("*.md")
    } < names
    assert wheel.stat().st_size < LARGEST


RESOLVE = """
import json, sys
from sense7.book.code import library_digest; from sense7.book.inputs import resolve_inputs
from sense7.claims import load_claims
inputs = resolve_inputs(sys.argv[1])
sources = inputs.project.sources
claims = load_claims(sources / "data" / "claims.yml")
print(json.dumps([list(inputs.jobs), str(inputs.folder), len(claims), str(sources), library_digest()]))
"""


def test_a_build_in_an_empty_folder_finds_every_notebook(run_installed, installed, tmp_path):
    shutil.copyfile(ROOT / "data" / "synthetic.xlsx", tmp_path / "mine.xlsx")
    done = run_installed(RESOLVE, "mine.xlsx")
    assert not done.returncode, done.stderr
    jobs, folder, claims, sources, library = json.loads(done.stdout)
    assert sorted(jobs) == sorted(path.stem for path in (ROOT / "notebooks").glob("[0-9]*.md"))
    assert folder == str(tmp_path / "_build" / "editions" / "mine")
    assert claims == (ROOT / "data" / "claims.yml").read_text("utf-8").count("- id:")
    assert sources == str(installed / CARRIED)
    assert library == library_digest(), "it is the same from the wheel and from the checkout"


MAIN = "import sys; sys.argv[0] = 'sense7'; from sense7.cli import main; main()"


def test_a_notebook_runs_in_an_empty_folder_without_what_builds_pages(run_installed, tmp_path):
    """As in Binder."""
    hidden = "import sys; sys.modules |= dict.fromkeys(('jupyter_book', 'sphinx', 'docutils'))"
    done = run_installed(f"{hidden}\n{MAIN}", "run", "00", "-p", "draws=100")
    assert not done.returncode, done.stderr
    assert done.stdout.splitlines()[-1] == str(tmp_path / "00-taxonomy.executed.ipynb")
    assert {path.name for path in tmp_path.iterdir()} == {
        "00-taxonomy.executed.ipynb",
        "00-taxonomy.executed.results",
        ".sense7-written",
    }


def test_without_the_packages_that_build_books_the_way_to_them_is_said(run_installed):
    hidden = "import importlib.util as u; f = u.find_spec; u.find_spec = lambda n: None if n == 'papermill' else f(n)"
    done = run_installed(f"{hidden}\n{MAIN}", "build", "synthetic")
    assert (done.returncode, done.stdout) == (2, "")
    naming.check(done.stderr, "papermill", "sense7-companion[book]", "pip install")
