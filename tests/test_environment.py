"""The files that make an environment, automate, or release a version agree with each other."""

import copy
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest
import yaml
from markdown_it import MarkdownIt

from helpers import naming

ROOT = Path(__file__).resolve().parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
BINDERS_LOCK = "requirements-binder.lock"


# environment.yml and postBuild


def test_binder_installs_what_executes_notebooks_and_nothing_that_only_pages_need():
    conda = yaml.safe_load((ROOT / "environment.yml").read_text("utf-8"))
    (pip,) = (entry["pip"] for entry in conda["dependencies"] if isinstance(entry, dict))
    assert pip == [f"-r {BINDERS_LOCK}"]
    lock = (ROOT / BINDERS_LOCK).read_text("utf-8")
    assert re.search("^papermill==", lock, re.MULTILINE)
    assert not re.search("^(jupyter-book|sphinx|myst-nb|sqlalchemy)==", lock, re.MULTILINE)


def test_a_notebook_is_compared_where_pytest_has_no_plugin_but_nbval():
    """As in Binder."""
    done = subprocess.run(
        [
            *(sys.executable, "-m", "pytest", "--collect-only", "-q"),
            *("-p", "nbval.plugin", "--nbval", "notebooks/05-importance.ipynb"),
        ],
        cwd=ROOT,
        env=os.environ | {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


# The set-up, of a small project: its lock, whose packages lie in a folder, and this one's Makefile and script

VERSIONS = {"alpha": ["1.0", "2.0"], "beta": ["1.0"]}
BACKEND = """
import pathlib, zipfile

def build_editable(folder, settings=None, metadata=None):
    name = "sense7_companion-0.1.0"
    with zipfile.ZipFile(pathlib.Path(folder, f"{name}-py3-none-any.whl"), "w") as wheel:
        for path, text in {
            "sense7.pth": str(pathlib.Path("src").resolve()),
            f"{name}.dist-info/METADATA": "Metadata-Version: 2.1\\nName: sense7-companion\\nVersion: 0.1.0\\n",
            f"{name}.dist-info/WHEEL": "Wheel-Version: 1.0\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n",
            f"{name}.dist-info/entry_points.txt": "[console_scripts]\\nsense7 = sense7:main\\n",
            f"{name}.dist-info/RECORD": "",
        }.items():
            wheel.writestr(path, text)
    return f"{name}-py3-none-any.whl"
"""


class SmallProject:
    """A checkout whose environment is made within a second, without a network."""

    def __init__(self, folder):
        self.root, self.wheels = folder / "project", folder / "wheels"
        self.environment = self.root / ".venv"
        library = ("src/sense7/files.py", "src/sense7/errors.py")
        for path in ("Makefile", "scripts/set_up.py", *library):
            (self.root / path).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / path, self.root / path)
        self.write(
            "src/sense7/__init__.py",
            "def main():\n    import alpha\n    print('alpha', alpha.version)\n",
        )
        self.write("backend.py", BACKEND)
        self.write(
            "pyproject.toml",
            '[build-system]\nrequires = []\nbuild-backend = "backend"\nbackend-path = ["."]\n',
        )
        self.wheels.mkdir(parents=True)
        self.hashes = {
            name: self._wheel(*name) for name in ((n, v) for n in VERSIONS for v in VERSIONS[n])
        }
        self.lock("requirements.lock", alpha="1.0")
        self.uv = folder / "bin"
        self.uv.mkdir()
        (self.uv / "uv").symlink_to(Path(sys.executable).parent / "uv")
        others = ("MAKE", "PIP_", "PYTHONPATH", "UV_")
        kept = {name: value for name, value in os.environ.items() if not name.startswith(others)}
        self.variables = kept | {
            **{"HOME": str(folder), "PIP_CONFIG_FILE": os.devnull},
            **{"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(self.wheels)},
            **{"UV_NO_INDEX": "1", "UV_FIND_LINKS": str(self.wheels)},
            "PATH": f"{self.uv}{os.pathsep}{without_uv(os.environ['PATH'])}",
        }

    def write(self, path, text):
        (self.root / path).parent.mkdir(parents=True, exist_ok=True)
        (self.root / path).write_text(text, encoding="utf-8")

    def lock(self, name, **versions):
        entries = (
            f"{n}=={v} \\\n    --hash=sha256:{self.hashes[n, v]}\n" for n, v in versions.items()
        )
        self.write(name, "".join(entries))

    def make(self, verb, *, fails=False):
        """Run a verb, and give what it says; if it has to fail, its complaint."""
        command = [shutil.which("make"), "--no-print-directory", f"PYTHON={sys.executable}", verb]
        done = subprocess.run(
            command, cwd=self.root, env=self.variables, capture_output=True, text=True, check=False
        )
        assert bool(done.returncode) == fails, done.stdout + done.stderr
        assert fails or not done.stderr
        assert "Traceback" not in done.stderr
        return (done.stderr if fails else done.stdout).splitlines()

    def program(self):
        """What the project's own program prints, in the environment."""
        done = subprocess.run(
            [self.environment / "bin/sense7"],
            env=self.variables,
            capture_output=True,
            text=True,
            check=True,
        )
        return done.stdout

    def _wheel(self, name, version):
        path = self.wheels / f"{name}-{version}-py3-none-any.whl"
        about = f"{name}-{version}.dist-info"
        files = {
            f"{name}.py": f"version = '{version}'\n",
            f"{about}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n",
            f"{about}/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        }
        files[f"{about}/RECORD"] = "".join(f"{file},,\n" for file in [*files, f"{about}/RECORD"])
        with zipfile.ZipFile(path, "w") as wheel:
            for file, text in files.items():
                wheel.writestr(file, text)
        return hashlib.sha256(path.read_bytes()).hexdigest()


def without_uv(path):
    return os.pathsep.join(
        folder for folder in path.split(os.pathsep) if not (Path(folder) / "uv").exists()
    )


@pytest.fixture
def project(tmp_path):
    return SmallProject(tmp_path / "Grüße")


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A project with its environment, and what making it said: only to be read, since it takes seconds."""
    project = SmallProject(tmp_path_factory.mktemp("made") / "Grüße")
    return project, project.make("setup")


def test_the_environment_is_made_once_and_follows_what_the_locks_say(made):
    project, (line,) = made
    naming.check(line, ".venv", "requirements.lock")
    assert project.program() == "alpha 1.0\n"
    environment = project.environment.stat().st_ino
    os.utime(project.root / "requirements.lock", (2e9, 2e9))
    assert project.make("setup") == []
    assert project.environment.stat().st_ino == environment
    # Other systems have no locale in ASCII.
    variables = project.variables | ({"LC_ALL": "C"} if sys.platform == "linux" else {})
    command = [project.environment / "bin/python", project.environment / "bin/sense7"]
    done = subprocess.run(command, env=variables, capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("alpha 1.0\n", "")


def gets_an_environment_of_its_own(project):
    """Make the environment of a folder that came with one, and give what that said."""
    project.write("src/sense7/__init__.py", "def main():\n    print('here')\n")
    (line,) = project.make("setup")
    assert project.program() == "here\n"
    assert project.make("setup") == []
    return line


def test_a_copied_folder_gets_an_environment_of_its_own(made, tmp_path):
    original, _ = made
    project = copy.copy(original)
    project.root = shutil.copytree(original.root, tmp_path / "Grüße" / "copy", symlinks=True)
    project.environment = project.root / ".venv"
    line = gets_an_environment_of_its_own(project)
    naming.check(line, ".venv", "requirements.lock")
    assert original.program() == "alpha 1.0\n"


def test_a_folder_of_this_name_that_is_no_environment_is_kept_and_named(project):
    project.write(".venv/thesis.txt", "years of work")
    assert str(project.environment) in project.make("setup", fails=True)[0]
    assert [path.read_text("utf-8") for path in project.environment.iterdir()] == ["years of work"]


@pytest.mark.long
def test_where_uv_fails_pip_goes_on_and_where_both_fail_the_environment_is_as_it_was(project):
    refusing = '#!/bin/sh\ncase "$*" in *requirements*) echo "No index." >&2; exit 1; esac; exec'
    (project.uv / "uv").unlink()
    (project.uv / "uv").write_text(
        f'{refusing} "{Path(sys.executable).parent / "uv"}" "$@"\n', encoding="utf-8"
    )
    (project.uv / "uv").chmod(0o755)
    making, uv_failed = project.make("setup")
    assert "requirements.lock" in making
    assert "No index." in uv_failed
    lock = project.root / "requirements.lock"
    lock.write_text(
        lock.read_text("utf-8")
        .replace(project.hashes["alpha", "1.0"], "0" * 64)
        .replace("1.0", "2.0")
    )
    assert "hash" in "\n".join(project.make("setup", fails=True)).lower()
    assert project.program() == "alpha 1.0\n"
    assert not [*project.root.glob(".part-*")]
    project.lock("requirements.lock", alpha="1.0")
    assert project.make("setup") == []


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


# The paper
