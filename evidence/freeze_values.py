"""Freeze the values of the built synthetic edition, so that a later change that moves one is seen.

python evidence/freeze_values.py     # writes tests/reference/frozen_values.json; commit it with the reason

Numbers are written with ten significant digits: sums of other processors and libraries differ in later ones.
"""

import json
import math
from pathlib import Path

from sense7.record import read_values

ROOT = Path(__file__).resolve().parents[1]
FROZEN = ROOT / "tests" / "reference" / "frozen_values.json"
PARTS = ("estimate", "low", "high", "n")
DIGITS = 10


def written(number):
    """A number with as many digits as are frozen; a text, a count and what is missing as it is."""
    if isinstance(number, float):
        return float(f"{number:.{DIGITS}g}")
    return number


def frozen(edition: Path) -> dict[str, dict]:
    """Key -> estimate, limits and n of every recorded value."""
    frozen_values = {}
    for key, value in sorted(read_values(edition / "results").items()):
        frozen_values[key] = {part: written(value.get(part)) for part in PARTS}
    return frozen_values


def same(value: dict, other: dict) -> bool:
    """Whether two values differ at most as other processors and versions of libraries make them differ."""
    for part in PARTS:
        number, expected = value[part], other[part]
        if isinstance(number, float) and isinstance(expected, float):
            if not math.isclose(number, expected, rel_tol=1e-7, abs_tol=1e-9):
                return False
        elif number != expected:
            return False
    return True


def main() -> None:
    """Write the file, in which values that are the same keep their lines, and say which moved."""
    stored = {}
    if FROZEN.exists():
        stored = json.loads(FROZEN.read_text(encoding="utf-8"))
    values = frozen(ROOT / "_build/editions/synthetic")
    moved = sorted(stored.keys() - values.keys())
    lines = []
    for key, new_value in values.items():
        value = new_value
        if key in stored and same(new_value, stored[key]):
            value = stored[key]
        else:
            moved.append(key)
        lines.append(f"{json.dumps(key)}: {json.dumps(value)}")
    FROZEN.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
    print(f"{len(lines)} values; moved, new or gone: {', '.join(moved) or 'none'}")


if __name__ == "__main__":
    main()
