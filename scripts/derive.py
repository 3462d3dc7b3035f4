"""Make the derived files again that are committed: simulated data, notebooks, the picture in CONTRIBUTING.

python scripts/derive.py

Simulating takes over a minute, so it is left out while simulate/ and evidence/truth.py are what the data were made by.
Of the notebooks those are executed whose code, library or data changed, as in a build.
"""

import hashlib
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SIMULATE = ROOT / "src" / "sense7" / "simulate"
TRUTH = ROOT / "evidence" / "truth.py"
MADE_BY = ROOT / "data" / "synthetic_made_by.sha256"
SOURCES = {".py", ".toml", ".yml"}


def digest_of_simulation() -> str:
    """SHA-256 over names and contents of the files that make the synthetic workbook and what is expected of it."""
    digest = hashlib.sha256()
    for path in sorted(SIMULATE.rglob("*")):
        if path.suffix in SOURCES:
            digest.update(path.relative_to(SIMULATE).as_posix().encode())
            digest.update(path.read_bytes())
    digest.update(TRUTH.read_bytes())
    return digest.hexdigest()


def main() -> None:
    """Run each step, and end at the first that fails."""
    program = Path(sys.executable).with_name("sense7")

    def run(*command: object) -> None:
        subprocess.run(command, cwd=ROOT, check=True)  # noqa: S603 - commands of this project

    digest = digest_of_simulation()
    if MADE_BY.exists() and MADE_BY.read_text(encoding="ascii").strip() == digest:
        print(
            "data/synthetic.xlsx and truth.json: up to date, since simulate/ and evidence/truth.py did not change"
        )
    else:
        run(program, "simulate", "--out", "data/synthetic.xlsx", "--force")
        run(sys.executable, "-m", "evidence.truth")
        MADE_BY.write_text(f"{digest}\n", encoding="ascii")
    run(program, "notebooks")
    run(sys.executable, "scripts/house.py")


if __name__ == "__main__":
    main()
