"""The files that make an environment, automate, or release a version agree with each other."""

import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml
from markdown_it import MarkdownIt

from helpers import naming

ROOT = Path(__file__).resolve().parents[1]
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
PROJECT = PYPROJECT["project"]
BINDERS_LOCK = "requirements-binder.lock"


# environment.yml and postBuild


def test_binder_installs_what_executes_notebooks_and_nothing_that_only_pages_need():
    conda = yaml.safe_load((ROOT / "environment.yml").read_text("utf-8"))
    (pip,) = (entry["pip"] for entry in conda["dependencies"] if isinstance(entry, dict))
    assert pip == [f"-r {BINDERS_LOCK}"]
    lock = (ROOT / BINDERS_LOCK).read_text("utf-8")
    assert re.search("^papermill==", lock, re.MULTILINE)
    assert not re.search("^(jupyter-book|sphinx|myst-nb|sqlalchemy)==", lock, re.MULTILINE)
    of_books = set(PROJECT["optional-dependencies"]["book"])
    of_pages = {line for line in of_books if re.match("fonttools|jupyter-book|sphinxext", line)}
    assert of_books - of_pages <= set(PYPROJECT["dependency-groups"]["binder"])


# The set-up; that it makes an environment is seen by every run of the workflows


def test_a_folder_called_venv_that_is_no_environment_is_kept_and_named(tmp_path):
    library = ("src/sense7/files.py", "src/sense7/errors.py")
    for path in ("Makefile", "scripts/set_up.py", "requirements.lock", "pyproject.toml", *library):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / path, tmp_path / path)
    (tmp_path / "src/sense7/__init__.py").touch()
    thesis = tmp_path / ".venv" / "thesis.txt"
    thesis.parent.mkdir()
    thesis.write_text("years of work", "utf-8")
    command = [shutil.which("make"), f"PYTHON={sys.executable}", "setup"]
    kept = {name: value for name, value in os.environ.items() if not name.startswith("MAKE")}
    done = subprocess.run(
        command, cwd=tmp_path, env=kept, capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    naming.check(done.stderr, tmp_path / ".venv")
    assert [path.read_text("utf-8") for path in thesis.parent.iterdir()] == ["years of work"]


# `make book`: what a person gives is read by no shell


@pytest.fixture
def make_book(tmp_path):
    """Run `make book` with a shell script that prints its arguments in the place of sense7."""
    environment = tmp_path / ".venv"
    for folder in (environment / ".made-from", environment / "bin", tmp_path / "scripts"):
        folder.mkdir(parents=True)
    for path in ("Makefile", "scripts/build_book.py", "requirements.lock", "pyproject.toml"):
        shutil.copy(ROOT / path, tmp_path / path)
    for name in ("requirements.lock", "pyproject.toml"):
        shutil.copy(ROOT / name, environment / ".made-from" / name)
    (environment / ".made-from" / "place").write_text(str(tmp_path.resolve()), "utf-8")
    programs = {"python": f'exec "{sys.executable}" "$@"', "sense7": "printf '%s\\n' \"$@\""}
    for name, text in programs.items():
        program = environment / "bin" / name
        program.write_text(f"#!/bin/sh\n{text}\n", encoding="utf-8")
        program.chmod(0o755)
    kept = {name: value for name, value in os.environ.items() if not name.startswith("MAKE")}
    options = {"cwd": tmp_path, "env": kept, "capture_output": True, "text": True}

    def run(*given):
        command = [shutil.which("make"), "--no-print-directory", "book", *given]
        done = subprocess.run(command, check=False, **options)
        return done.stdout.splitlines(), done.stderr

    run.folder = tmp_path
    return run


NAMES = (
    *("study `touch ran`.xlsx", "study $(touch ran).xlsx", "study $(shell touch ran).xlsx"),
    *("Costs $5.xlsx", "a;touch ran;.xlsx", 'it\'s "so".xlsx', "-x.xlsx", "100 %.xlsx"),
    "#1 & 2 | 3 > ran.xlsx",
)


@pytest.mark.parametrize("name", NAMES)
def test_the_name_of_a_file_reaches_the_program_as_it_is(make_book, name):
    before = set(make_book.folder.iterdir())
    said, _ = make_book(f"DATA={name}", f"NAME={name}", f"PREDICTIONS={name}")
    assert said == ["build", f"--name={name}", f"--predictions={name}", "--", name]
    assert set(make_book.folder.iterdir()) == before


def test_options_are_words_in_the_quotes_of_a_shell(make_book):
    said, _ = make_book("OPTIONS=--predictions 'a b' --jobs 1 $(touch ran)")
    words = ["--predictions", "a b", "--jobs", "1", "$(touch", "ran)"]
    assert said == ["build", *words, "--", "synthetic"]
    said, problem = make_book("OPTIONS='a")
    assert said == []
    (line,) = [line for line in problem.splitlines() if "OPTIONS" in line]
    naming.check(line, "OPTIONS")


# The project itself


def test_links_of_the_readme_lead_to_files_also_from_a_package_index():
    links = []
    for token in MarkdownIt("gfm-like").parse((ROOT / "README.md").read_text("utf-8")):
        for part in token.children or ():
            address = part.attrs.get("href") or part.attrs.get("src")
            if address:
                links.append(address)
    assert [link for link in links if not link.startswith("https://")] == []
    repository = PROJECT["urls"]["Repository"]
    own = [link.removeprefix(repository) for link in links if link.startswith(repository)]
    files = [re.sub(r"^/(blob|raw)/main/", "", link) for link in own]
    assert len(files) > 10
    assert [name for name in files if not (ROOT / name).is_file()] == []
