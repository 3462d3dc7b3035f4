"""Binder's set-up, rehearsed on this machine: a notebook runs to its end.

In a new folder, as on Binder: the files under version control; a fresh environment that has JupyterLab, as
every image of Binder has; what environment.yml lists for pip; postBuild. Then Jupyter executes the notebook.

    make rehearse                     # or: python evidence/binder.py 09-poor-turn --keep /tmp/binder

What is not rehearsed: conda, Binder's operating system, its limits on memory, and the notebook in a browser.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import nbformat
import yaml

ROOT = Path(__file__).resolve().parents[1]


def main() -> None:
    """Rehearse, and exit with 1 if anything fails."""
    parser = argparse.ArgumentParser(description="Rehearse Binder's set-up on this machine.")
    parser.add_argument("notebook", nargs="?", default="03-reliability", help="name of a notebook")
    parser.add_argument("--keep", type=Path, help="empty folder to work in, which is kept")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="binder-") as temporary:
        checkout = (chosen.keep or Path(temporary)).resolve() / "checkout"
        variables = make_environment(checkout, checkout.with_name("environment"))
        notebook = checkout / "notebooks" / f"{chosen.notebook}.ipynb"
        command(["jupyter", "execute", "--inplace", str(notebook)], notebook.parent, variables)
        cells = [
            cell for cell in nbformat.read(notebook, as_version=4).cells if cell.cell_type == "code"
        ]
        shown = sum(bool(cell.outputs) for cell in cells)
        print(
            f"{chosen.notebook}: all {len(cells)} code cells ran without an error, {shown} of them show something"
        )


def command(arguments: list[str], folder: Path, variables: dict) -> str:
    """Run a program to its end; what it said is the error if it fails."""
    print(f"- {' '.join(arguments)}", flush=True)
    done = subprocess.run(  # noqa: S603 - commands of our own
        arguments,
        cwd=folder,
        env=variables,
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
    )
    if done.returncode:
        said = "\n".join((done.stdout + done.stderr).strip().splitlines()[-15:])
        sys.exit(f"rehearsal failed: {arguments[0]} ended with {done.returncode}:\n{said}")
    return done.stdout


def python_of(version: str) -> str:
    """The program of a Python; this one's where there is none, or one of pyenv's that leads to none."""
    program = shutil.which(f"python{version}")
    if program is None:
        return sys.executable
    done = subprocess.run([program, "--version"], capture_output=True, check=False)  # noqa: S603
    return sys.executable if done.returncode else program


def make_environment(checkout: Path, place: Path) -> dict:
    """Copy the checkout, make what its environment.yml describes; give the variables under which programs are found."""
    # What is under version control, or would be at the next commit: Binder has no more.
    listing = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    for name in filter(None, command(listing, ROOT, dict(os.environ)).split("\0")):
        if (ROOT / name).is_file():
            (checkout / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, checkout / name)
    described = yaml.safe_load((checkout / "environment.yml").read_text(encoding="utf-8"))[
        "dependencies"
    ]
    version = next(
        entry.partition("=")[2] for entry in described if str(entry).startswith("python=")
    )
    left_out = {"PYTHONPATH", "PYTHONHOME", "SENSE7_ROOT"}
    variables = {key: value for key, value in os.environ.items() if key not in left_out}
    variables |= {
        "PATH": f"{place / 'bin'}{os.pathsep}{os.environ['PATH']}",
        "VIRTUAL_ENV": str(place),
        # Nobody's own settings of Jupyter: they would be no part of Binder.
        **{
            f"JUPYTER_{name}_DIR": str(place / "jupyter" / name)
            for name in ("CONFIG", "DATA", "RUNTIME")
        },
        "IPYTHONDIR": str(place / "ipython"),
    }
    command([python_of(version), "-m", "venv", str(place)], checkout, variables)
    install = [
        str(place / "bin/python"),
        "-m",
        "pip",
        "install",
        "--quiet",
        "--disable-pip-version-check",
    ]
    pip = next(entry["pip"] for entry in described if isinstance(entry, dict))
    for line in ["jupyterlab>=4,<5", *pip]:  # JupyterLab is there before anything of ours
        command([*install, *line.split()], checkout, variables)
    command([str(checkout / "postBuild")], checkout, variables)
    command(["sense7", "check", "synthetic"], checkout, variables)
    return variables


if __name__ == "__main__":
    main()
