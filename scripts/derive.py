"""Make the derived files again that are committed: simulated data, notebooks, names of s7, the picture in CONTRIBUTING.

python scripts/derive.py

Simulating takes over a minute, so it is left out while the files of simulate/ are those that the data were made by. Of
the notebooks those are executed whose code, library or data changed, as in a build.
"""

import hashlib
import subprocess
import sys
from pathlib import Path

import sense7

ROOT = Path(__file__).resolve().parents[1]
SIMULATE = ROOT / "src" / "sense7" / "simulate"
STUB = ROOT / "src" / "sense7" / "__init__.pyi"
MADE_BY = ROOT / "data" / "synthetic_made_by.sha256"
SOURCES = {".csv", ".py", ".toml", ".yml"}


def digest_of_simulation() -> str:
    """SHA-256 over names and contents of the files that make the synthetic workbook."""
    digest = hashlib.sha256()
    for path in sorted(SIMULATE.rglob("*")):
        if path.suffix in SOURCES:
            digest.update(path.relative_to(SIMULATE).as_posix().encode())
            digest.update(path.read_bytes())
    return digest.hexdigest()


def stub() -> str:
    """What ``import sense7 as s7`` gives, as type checkers and editors read it: they run no ``__getattr__``."""
    imports, short_names = [], []
    for name, module in sense7.NAMES.items():
        if name in sense7.__all__:
            imports.append(f"from sense7.{module} import {name} as {name}")
        else:
            short_names.append(f"{name} = {getattr(sense7, name).__name__}")
    modules = {path.stem for path in (ROOT / "src" / "sense7" / "findings").glob("[!_]*.py")}
    for module in modules - sense7.NAMES.keys():
        imports.append(f"from sense7.findings import {module} as {module}")
    variables = ["__version__: str", "NAMES: dict[str, str]", f"__all__ = {sense7.__all__}"]
    head = "# Made of __init__.py and findings/ by `make derived`."
    return "\n".join([head, *sorted(imports), *sorted(short_names), *variables, ""])


def main() -> None:
    """Run each step, and end at the first that fails."""
    program = Path(sys.executable).with_name("sense7")

    def run(*command: object) -> None:
        subprocess.run(command, cwd=ROOT, check=True)  # noqa: S603 - commands of this project

    digest = digest_of_simulation()
    if MADE_BY.exists() and MADE_BY.read_text(encoding="ascii").strip() == digest:
        print("data/synthetic.xlsx: up to date, since simulate/ did not change")
    else:
        run(program, "simulate", "--out", "data/synthetic.xlsx", "--force")
        MADE_BY.write_text(f"{digest}\n", encoding="ascii")
    STUB.write_text(stub(), encoding="ascii")
    run(program, "notebooks")
    run(sys.executable, "tests/test_house.py")


if __name__ == "__main__":
    main()
