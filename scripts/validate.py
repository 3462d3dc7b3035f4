"""Validate the executed notebooks of an edition: nbval runs each again and compares every output with the stored one.

    python scripts/validate.py                # all notebooks of the edition synthetic
    python scripts/validate.py mine 03 12     # two of another edition

Each notebook runs in a folder of its own below _build/validation, with the edition's data and copies of the recorded
values that it declares as needed. The edition itself is not changed, which is checked at the end.
"""

import argparse
import os
import shutil
import subprocess
import sys

from sense7.book.editions import find_edition, require_whole
from sense7.book.execute import select_notebook, stage
from sense7.book.notebooks import find_notebooks
from sense7.checkout import find_project
from sense7.errors import UserError
from sense7.processes import FIXED


def main() -> int:
    """Stage the notebooks, run nbval on them, and return its exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("edition", nargs="?", default="synthetic")
    parser.add_argument("notebooks", nargs="*", help="numbers or names; all if not given")
    parser.add_argument("--jobs", default="auto", help="notebooks that run at once")
    options = parser.parse_args()
    project = find_project()
    edition = find_edition(project.place, options.edition)
    require_whole(edition)
    known = find_notebooks(project.sources)
    chosen = [select_notebook(name, known) for name in options.notebooks] or known
    place = project.place / "_build" / "validation"
    shutil.rmtree(place, ignore_errors=True)
    for notebook in chosen:
        folder = stage(edition, notebook.needs, place / notebook.name)
        shutil.copy(edition / "notebooks" / f"{notebook.name}.ipynb", folder)
    # Only nbval's own settings; a file per process, so that the outputs of one notebook come from one kernel.
    options_of_pytest = [
        "-q",
        "-n",
        options.jobs,
        "--dist",
        "loadfile",
        "-p",
        "no:cacheprovider",
        "-c",
        os.devnull,
    ]
    command = [
        sys.executable,
        "-m",
        "pytest",
        *options_of_pytest,
        f"--rootdir={place}",
        "--nbval",
        str(place),
    ]
    code = subprocess.run(command, env=os.environ | FIXED, check=False).returncode  # noqa: S603 - our own command
    require_whole(edition)
    return code


if __name__ == "__main__":
    try:
        sys.exit(main())
    except UserError as error:
        sys.exit(f"validate: {error}")
