"""Binder's set-up, rehearsed on this machine: a notebook runs to its end.

In a new folder, as on Binder: the files under version control; a fresh environment that has JupyterLab, as
every image of Binder has; what environment.yml lists for pip; postBuild. Then Jupyter executes the notebook, and
`sense7 run` does so with another parameter.

    make rehearse

What is not rehearsed: conda, Binder's operating system, its limits on memory, and the notebook in a browser.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import nbformat
import yaml

ROOT = Path(__file__).resolve().parents[1]
JUPYTERLAB = "jupyterlab>=4,<5"
VARIABLES_OF_THIS_MACHINE = {"PYTHONPATH", "PYTHONHOME", "SENSE7_ROOT"}
LINES_OF_AN_ERROR = 15
NOTEBOOK = "03-reliability"


def main() -> None:
    """Rehearse, and exit with 1 if anything fails."""
    with tempfile.TemporaryDirectory(prefix="binder-") as temporary:
        folder = Path(temporary).resolve()
        checkout = folder / "checkout"
        copy_checkout(checkout)
        variables = make_environment(checkout, folder / "environment")
        notebook = checkout / "notebooks" / f"{NOTEBOOK}.ipynb"
        run(["jupyter", "execute", "--inplace", str(notebook)], notebook.parent, variables)
        run(["sense7", "run", NOTEBOOK, "-p", "draws=200"], checkout, variables)
        cells = nbformat.read(notebook, as_version=4).cells
    code_cells = [cell for cell in cells if cell.cell_type == "code"]
    with_output = sum(bool(cell.outputs) for cell in code_cells)
    print(
        f"{NOTEBOOK}: all {len(code_cells)} code cells ran without an error, "
        f"{with_output} of them show something"
    )


def run(arguments: list[str], folder: Path, variables: dict) -> str:
    """Run a program to its end and return its output; if it fails, the last lines are the error."""
    print(f"- {' '.join(arguments)}", flush=True)
    finished = subprocess.run(  # noqa: S603 - the commands of this file
        arguments,
        cwd=folder,
        env=variables,
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
    )
    if finished.returncode:
        lines = (finished.stdout + finished.stderr).strip().splitlines()
        last_lines = "\n".join(lines[-LINES_OF_AN_ERROR:])
        sys.exit(
            f"rehearsal failed: {arguments[0]} ended with {finished.returncode}:\n{last_lines}"
        )
    return finished.stdout


def copy_checkout(checkout: Path) -> None:
    """Copy what is under version control, or would be at the next commit: Binder has no more."""
    listing = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    for name in run(listing, ROOT, dict(os.environ)).split("\0"):
        source = ROOT / name
        if source.is_file():
            target = checkout / name
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, target)


def make_environment(checkout: Path, environment: Path) -> dict:
    """Install what the checkout's environment.yml lists; return the variables under which programs run in it."""
    variables = {
        name: value for name, value in os.environ.items() if name not in VARIABLES_OF_THIS_MACHINE
    }
    variables["PATH"] = f"{environment / 'bin'}{os.pathsep}{os.environ['PATH']}"
    variables["VIRTUAL_ENV"] = str(environment)
    # A user's own settings of Jupyter are not on Binder.
    for name in ("CONFIG", "DATA", "RUNTIME"):
        variables[f"JUPYTER_{name}_DIR"] = str(environment / "jupyter" / name)
    variables["IPYTHONDIR"] = str(environment / "ipython")

    python_version, requirements = read_environment_file(checkout / "environment.yml")
    run([python_program(python_version), "-m", "venv", str(environment)], checkout, variables)
    python = str(environment / "bin/python")
    install = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    for line in [JUPYTERLAB, *requirements]:  # Binder's image has JupyterLab before anything else
        run([*install, *line.split()], checkout, variables)
    run([str(checkout / "postBuild")], checkout, variables)
    run(["sense7", "check", "synthetic"], checkout, variables)
    return variables


def read_environment_file(file: Path) -> tuple[str, list[str]]:
    """Return the version of Python and the lines for pip."""
    dependencies = yaml.safe_load(file.read_text(encoding="utf-8"))["dependencies"]
    python_version = ""
    requirements = []
    for dependency in dependencies:
        if isinstance(dependency, dict):
            requirements = dependency["pip"]
        elif dependency.startswith("python="):
            python_version = dependency.partition("=")[2]
    return python_version, requirements


def python_program(version: str) -> str:
    """Return the program of that Python; this one's if there is none, or only pyenv's stand-in for one."""
    program = shutil.which(f"python{version}")
    if program is None:
        return sys.executable
    finished = subprocess.run([program, "--version"], capture_output=True, check=False)  # noqa: S603
    if finished.returncode:
        return sys.executable
    return program


if __name__ == "__main__":
    main()
