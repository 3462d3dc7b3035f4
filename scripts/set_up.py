"""The environment: made from a lock beside the one that is there, and put in its place once it works.

    make setup      # or: python3 scripts/set_up.py
    make judge      # or: python3 scripts/set_up.py --judge

By uv, which is given what pip is configured with (another index, a proxy, certificates), and by pip where uv can't be
had or fails. Hashes are checked by both. Nothing is done where the environment was made from what the locks and
pyproject.toml say now. What a user installed besides is installed again.

It runs before anything is installed: the standard library, and of the project's own what needs no more.
"""

import argparse
import ast
import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import venv
from importlib import metadata
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "src"))

from sense7.errors import UserError  # noqa: E402 -- not installed yet
from sense7.files import one_line, replacing_folder  # noqa: E402

VENV = ROOT / ".venv"
MADE_FROM = ".made-from"
"""Folder of an environment with copies of the files that it was made from; the Makefile compares them, too."""

LOCK, JUDGES_LOCK, PROJECT = "requirements.lock", "requirements-judge.lock", "pyproject.toml"
ENTRY = re.compile(r"^([\w.-]+)==(\S+).*\n(?:    --hash=.*\n)+", re.MULTILINE)
QUIET = ("--quiet", "--quiet")
"""No warnings, such as those of a folder in pip's configuration that does not exist; errors are shown."""

UV_OF_PIP = {
    "index-url": "UV_DEFAULT_INDEX",
    "extra-index-url": "UV_INDEX",
    "find-links": "UV_FIND_LINKS",
    "no-index": "UV_NO_INDEX",
    "trusted-host": "UV_INSECURE_HOST",
    "cert": "SSL_CERT_FILE",
    "client-cert": "SSL_CLIENT_CERT",
    "proxy": "ALL_PROXY",
    "timeout": "UV_HTTP_TIMEOUT",
    "no-cache-dir": "UV_NO_CACHE",
}
"""pip's settings, and the variables by which uv is given the same."""


class ToolError(Exception):
    """A program failed; the text is what it said."""


def main() -> None:
    """Set up, and exit with 2 and one message if that fails; the environment that was there is as it was then."""
    parser = argparse.ArgumentParser(description="Make .venv from the locks.")
    parser.add_argument("--judge", action="store_true", help="with what runs a judge")
    try:
        set_up(judge=parser.parse_args().judge)
    except (UserError, ToolError) as error:
        print(error, file=sys.stderr)
        sys.exit(2)
    except KeyboardInterrupt:
        sys.exit(130)


def set_up(*, judge: bool) -> None:
    """Bring the environment to what the locks say: by additions to it if they suffice, else by a new one."""
    there = (VENV / "bin/python").exists()
    judge = judge or (VENV / MADE_FROM / JUDGES_LOCK).exists()
    wanted = [LOCK, *([JUDGES_LOCK] if judge else []), PROJECT]
    changed = [name for name in wanted if not there or not same(name)]
    if not changed:
        return
    lock = JUDGES_LOCK if judge else LOCK
    if not there or not set() < held(VENV) <= pins(ROOT / lock):
        with replacing_folder(VENV) as new:
            make(new, lock, added_by_user(VENV))
            note(new, wanted)
            move_scripts(new, VENV)
            make_relative(new, VENV)
        return
    installer = Installer(VENV)
    if changed != [PROJECT]:
        print(f"Adding to .venv what {lock} has more, with {installer.name} ...", flush=True)
        installer.install_lock(lock)
    installer.install_project()
    make_relative(VENV, VENV)
    note(VENV, wanted)


def same(name: str) -> bool:
    """Whether the environment was made from the file as it is."""
    copy = VENV / MADE_FROM / name
    return copy.exists() and copy.read_bytes() == (ROOT / name).read_bytes()


def note(environment: Path, names: list[str]) -> None:
    """Keep what the environment was made from."""
    (environment / MADE_FROM).mkdir(exist_ok=True)
    for name in names:
        shutil.copyfile(ROOT / name, environment / MADE_FROM / name)


def pins(lock: Path) -> set[tuple[str, str]]:
    """Names and versions of a lock; none if there is no such file."""
    return set(ENTRY.findall(lock.read_text(encoding="utf-8"))) if lock.exists() else set()


def held(environment: Path) -> set[tuple[str, str]]:
    """What the environment holds of the locks that it was made from."""
    return pins(environment / MADE_FROM / LOCK) | pins(environment / MADE_FROM / JUDGES_LOCK)


def make(new: Path, lock: str, additions: list[str]) -> None:
    """Make an environment from a lock, with the project itself and what the user had added to the old one."""
    venv.create(new, symlinks=True, with_pip=False)
    installer = Installer(new)
    print(f"Making .venv from {lock} with {installer.name} (once) ...", flush=True)
    installer.install_lock(lock)
    installer.install_project()
    run([new / "bin/sense7", "--version"])
    kept = []
    for addition in additions:
        try:
            installer.add(addition)
        except ToolError as error:
            print(f"{addition}, which you had added to .venv, can't be kept: {one_line(error)}", flush=True)
        else:
            kept.append(addition)
    if kept:
        print(f"Kept what you had added to .venv: {', '.join(kept)}", flush=True)


def move_scripts(made: Path, to: Path) -> None:
    """Let an environment's scripts, which name its folder, name the one that it is moved to."""
    for path in [*(made / "bin").iterdir(), made / "pyvenv.cfg"]:
        if path.is_file() and not path.is_symlink():
            content = path.read_bytes()
            moved = content.replace(os.fsencode(made), os.fsencode(to))
            if moved != content:
                path.write_bytes(moved)


def make_relative(made: Path, to: Path) -> None:
    """Let the path file of the project name its source from where it stands, in ASCII.

    Python reads such a file in the encoding of the locale, which can be ASCII where the checkout's path is not.
    """
    for path in made.glob("lib/python*/site-packages/*.pth"):
        if path.read_bytes().strip() == os.fsencode(ROOT / "src"):
            path.write_text(os.path.relpath(ROOT / "src", to / path.parent.relative_to(made)) + "\n", encoding="ascii")


def added_by_user(environment: Path) -> list[str]:
    """Packages that a user asked for by name and no lock holds, each as it would be asked for again."""
    locked = held(environment) or pins(ROOT / JUDGES_LOCK)
    ours = {normal(name) for name, _ in locked} | {"pip", "sense7-companion"}
    others = (one for one in distributions(environment) if normal(one.name) not in ours)
    return sorted(requirement(one) for one in others if one.read_text("REQUESTED") is not None)


def distributions(environment: Path) -> list[metadata.Distribution]:
    """What is installed in an environment."""
    return [*metadata.distributions(path=[str(path) for path in environment.glob("lib/python*/site-packages")])]


def normal(name: str) -> str:
    """A package's name as indexes compare it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def requirement(distribution: metadata.Distribution) -> str:
    """Version of a package from an index, address of another."""
    origin = json.loads(distribution.read_text("direct_url.json") or "{}")
    if origin.get("dir_info", {}).get("editable"):
        return f"--editable={origin['url']}"
    return f"{distribution.name} @ {origin['url']}" if origin else f"{distribution.name}=={distribution.version}"


def run(command: list, **variables: str) -> str:
    """Run a program to its end, and give what it prints; what it complains of, if it fails, is the error."""
    done = subprocess.run(  # noqa: S603 - commands of our own
        [str(part) for part in command],
        cwd=ROOT,
        env=os.environ | {"PIP_DISABLE_PIP_VERSION_CHECK": "1"} | variables,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
    )
    if done.returncode:
        raise ToolError("\n".join((done.stdout + done.stderr).strip().splitlines()[-15:]) or f"{command[0]} failed")
    return done.stdout


class Installer:
    """What installs packages into an environment: uv, or pip after it failed.

    Neither compiles: of ten thousand modules a book imports three thousand, and those are compiled then.
    """

    def __init__(self, environment: Path):
        self.environment, self.python = environment, environment / "bin/python"
        self.uv, self.variables = None, {}
        pip = bundled_pip()
        try:
            self.uv = shutil.which("uv") or next(filter(Path.exists, (VENV / "bin/uv", environment / "bin/uv")), None)
            if self.uv is None:
                self._install_uv(pip)
            if not any(environment.glob("lib/python*/site-packages/pip")):
                run([self.uv, "pip", "install", "--quiet", "--no-index", "--no-deps", "--python", self.python, pip])
            self.variables = in_words_of_uv(run([self.python, "-m", "pip", "config", "list"]))
        except (ToolError, OSError):
            self.uv = None
            run([self.python, f"{pip}/pip", "install", *QUIET, "--no-index", "--no-deps", "--no-compile", pip])

    @property
    def name(self) -> str:
        """Who installs, and how long that takes."""
        return "uv" if self.uv else "pip, which takes about a minute"

    def install_lock(self, lock: str) -> None:
        """Install what a lock lists."""
        self._install("--require-hashes", "-r", lock)

    def install_project(self) -> None:
        """Install this project itself, in place; nothing is downloaded."""
        self._install("--no-index", "--no-deps", "--no-build-isolation", "-e", ".")

    def add(self, requirement: str) -> None:
        """Install one package more, and change none that is there."""
        with tempfile.TemporaryDirectory() as folder:
            constraints = Path(folder) / "constraints.txt"
            lines = (f"{one.name}=={one.version}\n" for one in distributions(self.environment))
            constraints.write_text("".join(lines), encoding="utf-8")
            self._run("--constraint", constraints, requirement)

    def _install(self, *arguments: str | Path) -> None:
        try:
            self._run(*arguments)
        except (ToolError, OSError) as error:
            if self.uv is None:
                raise
            print(f"uv can't: {one_line(error)} With pip, which takes longer ...", flush=True)
            self.uv = None
            self._run(*arguments)

    def _run(self, *arguments: str | Path) -> None:
        if self.uv:
            run([self.uv, "pip", "install", "--quiet", "--python", self.python, *arguments], **self.variables)
        else:
            run([self.python, "-m", "pip", "install", *QUIET, "--no-compile", *arguments])

    def _install_uv(self, pip: Path) -> None:
        """Install uv alone, as it is locked."""
        with tempfile.TemporaryDirectory() as folder:
            wanted = Path(folder) / "uv.txt"
            entries = ENTRY.finditer((ROOT / LOCK).read_text(encoding="utf-8"))
            wanted.write_text("".join(entry[0] for entry in entries if entry[1] == "uv"), encoding="utf-8")
            run([self.python, f"{pip}/pip", "install", *QUIET, "--no-compile", "--require-hashes", "-r", wanted])
        self.uv = self.environment / "bin/uv"


def bundled_pip() -> Path:
    """Path of the pip that Python brings with it: it is run from its file, and installed, without a download."""
    folders = [Path(sysconfig.get_path("stdlib"), "ensurepip", "_bundled"), sysconfig.get_config_var("WHEEL_PKG_DIR")]
    found = [path for folder in filter(None, folders) for path in Path(folder).glob("pip-*.whl")]
    if not found:
        raise UserError(f"{sys.executable} can't make an environment; on Debian: apt install python3-venv")
    return found[0]


def in_words_of_uv(listing: str) -> dict[str, str]:
    r"""Translate pip's configuration, as ``pip config list`` shows it; what is set for uv itself stays.

    >>> in_words_of_uv("global.index-url='https://a/simple'\n:env:.index-url='https://b/simple'")["UV_DEFAULT_INDEX"]
    'https://b/simple'
    """
    told = {}
    entries = [line.partition("=") for line in listing.splitlines() if "=" in line]
    for section in ("global", "install", ":env:"):  # a later one prevails
        told |= {
            key.removeprefix(f"{section}."): str(ast.literal_eval(value))
            for key, _, value in entries
            if key.startswith(f"{section}.")
        }
    # A folder that isn't there is an error to uv, and nothing to pip.
    links = [link for link in told.pop("find-links", "").split() if "://" in link or Path(link).exists()]
    told |= {"find-links": ",".join(links)} if links else {}
    variables = {name: told[key] for key, name in UV_OF_PIP.items() if key in told and name not in os.environ}
    # Of all indexes, as pip does: the hashes say which file is meant.
    return {"UV_INDEX_STRATEGY": "unsafe-best-match", **variables}


if __name__ == "__main__":
    main()
