"""The environment: made from a lock beside the one that is there, and put in its place once it works.

By uv, which is told what pip is configured with (another index, a proxy, certificates), and by pip where uv fails.
Hashes are checked by both. It runs before anything is installed: the standard library, and of the project's own what
needs no more.
"""

import ast
import os
import re
import shutil
import subprocess
import sys
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "src"))

from sense7.errors import UserError  # noqa: E402 -- not installed yet
from sense7.files import one_line, replacing_folder  # noqa: E402

VENV = ROOT / ".venv"
LOCK = "requirements.lock"
PROJECT = "pyproject.toml"
UV_OF_PIP = {
    "index-url": "UV_DEFAULT_INDEX",
    "extra-index-url": "UV_INDEX",
    "trusted-host": "UV_INSECURE_HOST",
    "cert": "SSL_CERT_FILE",
    "proxy": "ALL_PROXY",
}

# Of a person's settings of pip, uv and Python those count that say where packages come from, and none that say where
# they go (PIP_TARGET, PIP_USER, PIP_PREFIX) or which are wanted.
WHERE_FROM = re.compile(
    r"(PIP|UV)_(DEFAULT_INDEX|INDEX|INDEX_URL|INDEX_STRATEGY|INDEX_.*_(USERNAME|PASSWORD)|EXTRA_INDEX_URL|NO_INDEX|FIND_LINKS|"
    r"TRUSTED_HOST|INSECURE_HOST|CERT|CLIENT_CERT|SSL_CLIENT_CERT|PROXY|TIMEOUT|HTTP_TIMEOUT|RETRIES|HTTP_RETRIES|CACHE_DIR|"
    r"NO_CACHE|NO_CACHE_DIR|OFFLINE|CONFIG_FILE|KEYRING_PROVIDER|NATIVE_TLS|SYSTEM_CERTS|LINK_MODE|CONCURRENT_\w+)"
)


def surroundings() -> dict[str, str]:
    """The variables in which an environment is made."""
    variables = {}
    for name, value in os.environ.items():
        of_an_installer = name.startswith(("PIP_", "UV_"))
        if of_an_installer and not WHERE_FROM.fullmatch(name):
            continue
        if name not in {"PYTHONHOME", "PYTHONPATH"}:
            variables[name] = value
    variables["PIP_DISABLE_PIP_VERSION_CHECK"] = "1"
    return variables


def run(*command: str | Path, **variables: str) -> str:
    """Run a program to its end, and give what it prints; what it complains of, if it fails, is the error."""
    environment = surroundings() | variables
    words = [str(word) for word in command]
    done = subprocess.run(  # noqa: S603
        words, cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise UserError(
            "\n".join((done.stdout + done.stderr).strip().splitlines()[-15:])
            or f"{command[0]} failed"
        )
    return done.stdout


def told(configuration: str) -> dict[str, str]:
    r"""Pip's configuration, as ``pip config list`` shows it, in the words of uv.

    >>> told(":env:.index-url='https://b/simple'\nglobal.index-url='https://a/simple'")["UV_DEFAULT_INDEX"]
    'https://b/simple'
    """
    lines = sorted(
        configuration.splitlines(), key=lambda line: line.startswith(":env:")
    )  # which prevails
    settings = {
        name: str(ast.literal_eval(value))
        for name, value in re.findall(r"\.([a-z-]+)=(.*)", "\n".join(lines))
    }
    variables = {UV_OF_PIP[name]: value for name, value in settings.items() if name in UV_OF_PIP}
    # Of all indexes, as pip does: the hashes say which file is meant.
    return {"UV_INDEX_STRATEGY": "unsafe-best-match"} | variables | surroundings()


def install(environment: Path) -> None:
    """Install what the lock lists, and this project itself in place."""
    python = environment / "bin" / "python"
    into = [
        "--no-user",
        "--target=",
        f"--prefix={environment}",
        "--root=/",
    ]  # prevails over a pip.conf
    pip = [python, "-m", "pip", "install", "--quiet", "--quiet", "--no-compile", *into]
    steps = (
        ["--require-hashes", "-r", LOCK],
        ["--no-index", "--no-deps", "--no-build-isolation", "-e", "."],
    )
    try:
        uv = shutil.which("uv") or environment / "bin" / "uv"
        if not Path(uv).exists():  # alone, as it is locked
            locked = (ROOT / LOCK).read_text("utf-8")
            lock_of_uv = environment / "uv.txt"
            lock_of_uv.write_text(re.search(r"^uv==.*\n(?:    --hash=.*\n)+", locked, re.M)[0])
            run(*pip, "--require-hashes", "-r", lock_of_uv)
        variables = told(run(python, "-m", "pip", "config", "list"))
        for step in steps:
            run(uv, "pip", "install", "--quiet", "--python", python, *step, **variables)
    except (UserError, OSError, TypeError) as error:
        print(f"uv can't: {one_line(error)} With pip, which takes about a minute ...", flush=True)
        for step in steps:
            run(*pip, *step)


def require_own_package(environment: Path) -> None:
    """Refuse an environment that holds another package of this name than this checkout's."""
    code = "import importlib.util; print(getattr(importlib.util.find_spec('sense7'), 'origin', 'none'))"
    origin = run(environment / "bin" / "python", "-c", code).strip()
    if Path(origin).resolve() != ROOT / "src" / "sense7" / "__init__.py":
        raise UserError(
            f"the package was installed elsewhere: Python finds {origin}. Look for what says so in `pip config list`, "
            "in uv.toml, and among variables that begin with PIP_, UV_ or PYTHON."
        )


def require_environment(folder: Path) -> None:
    """Refuse to replace what is no environment of Python: somebody keeps something else there."""
    if not folder.is_dir() or (any(folder.iterdir()) and not (folder / "pyvenv.cfg").is_file()):
        raise UserError(
            f"{folder}: holds no environment of Python, so it was kept. Move it, and give the same command again."
        )


def main() -> None:
    """Bring .venv to what the lock says; what fails ends with 2 and one message, and leaves the old one as it is."""
    made_from = {name: (ROOT / name).read_bytes() for name in (LOCK, PROJECT)}
    print(f"Making .venv from {LOCK} (once) ...", flush=True)
    try:
        # A link to another disk stays one: what it leads to is replaced.
        folder = VENV.resolve()
        if folder.exists():
            require_environment(folder)  # not after a minute's work only
        with replacing_folder(folder, check=require_environment) as new:
            venv.create(new, symlinks=True, with_pip=True)
            install(new)
            require_own_package(new)
            run(new / "bin" / "sense7", "--version")
            for path in [
                *(new / "bin").iterdir(),
                new / "pyvenv.cfg",
            ]:  # which name the folder that is moved
                if (
                    path.is_file()
                    and not path.is_symlink()
                    and os.fsencode(new) in path.read_bytes()
                ):
                    path.write_bytes(path.read_bytes().replace(os.fsencode(new), os.fsencode(VENV)))
            # Python reads a path file in the encoding of the locale, which can be ASCII where the path is not.
            for path in new.glob("lib/python*/site-packages/*.pth"):
                if path.read_bytes().strip() == os.fsencode(ROOT / "src"):
                    path.write_text(
                        f"{os.path.relpath(ROOT / 'src', VENV / path.parent.relative_to(new))}\n",
                        "ascii",
                    )
            (new / ".made-from").mkdir()
            for name, content in made_from.items():
                (new / ".made-from" / name).write_bytes(content)
            # Programs name their environment by its path, so it serves no copy of this folder.
            (new / ".made-from" / "place").write_bytes(os.fsencode(ROOT))
    except (UserError, subprocess.CalledProcessError) as error:
        no_pip = f"{sys.executable} can't make an environment; on Debian: apt install python3-venv"
        print(error if isinstance(error, UserError) else no_pip, file=sys.stderr)
        sys.exit(2)


if __name__ == "__main__":
    main()
