"""Freeze the values of the built synthetic edition, so that a later change that moves one is seen.

python evidence/freeze_values.py     # writes tests/reference/frozen_values.json; commit it with the reason
"""

import json
from pathlib import Path

from sense7.record import read_values

ROOT = Path(__file__).resolve().parents[1]
FROZEN = ROOT / "tests" / "reference" / "frozen_values.json"


def frozen(edition: Path) -> dict[str, dict]:
    """Key -> estimate, limits and n of every recorded value."""
    values = read_values(edition / "results")
    return {key: {name: values[key].get(name) for name in ("estimate", "low", "high", "n")} for key in sorted(values)}


if __name__ == "__main__":
    lines = [
        f"{json.dumps(key)}: {json.dumps(value)}" for key, value in frozen(ROOT / "_build/editions/synthetic").items()
    ]
    FROZEN.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
    print(f"{len(lines)} values: {FROZEN}")
