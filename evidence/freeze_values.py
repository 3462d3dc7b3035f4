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
    return float(f"{number:.{DIGITS}g}") if isinstance(number, float) else number


def frozen(edition: Path) -> dict[str, dict]:
    """Key -> estimate, limits and n of every recorded value."""
    values = read_values(edition / "results")
    return {key: {part: written(values[key].get(part)) for part in PARTS} for key in sorted(values)}


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
    before = json.loads(FROZEN.read_text(encoding="utf-8")) if FROZEN.exists() else {}
    values = frozen(ROOT / "_build/editions/synthetic")
    moved = sorted(before.keys() - values.keys())
    lines = []
    for key, value in values.items():
        stays = key in before and same(value, before[key])
        if not stays:
            moved.append(key)
        lines.append(f"{json.dumps(key)}: {json.dumps(before[key] if stays else value)}")
    FROZEN.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
    print(f"{len(lines)} values; moved, new or gone: {', '.join(moved) or 'none'}")


if __name__ == "__main__":
    main()
