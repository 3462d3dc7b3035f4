"""Reference values: run R again, say what moved, and measure how near the project's own values come.

    make reference                               # run R and compare its values with golden.csv; then as `table`
    make reference UPDATE=1                      # the same, and golden.csv becomes what R gave
    python evidence/reference.py compare NEW.csv  # compare values that R has given elsewhere
    python evidence/reference.py table            # measure the errors, by the tests that assert R's values

R's values stand in tests/reference/golden.csv, one row per quantity; tests/reference/families.yml says which quantities
belong together, how far a value may differ when R runs again, and which function computes them. The errors are noted by
the tests themselves: the table shows what they assert through `golden.check`.
"""

import argparse
import csv
import fnmatch
import json
import math
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterable, Mapping
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "tests" / "reference"
SCRIPT = FOLDER / "reference.R"
VALUES = FOLDER / "golden.csv"
FAMILIES = FOLDER / "families.yml"
TABLE = ROOT / "data" / "reference.json"
ERRORS = "SENSE7_REFERENCE_ERRORS"
"""Variable that tells tests/conftest.py where to write the errors."""

NOISE = 1e-9
"""Errors below this are rounding, which differs from one processor to the next."""


class ReferenceProblem(Exception):
    """Something that the person at the keyboard has to know, in one sentence."""


def read_values(path: Path) -> dict[str, dict]:
    """Quantity -> row of a file of values, in its order."""
    try:
        with path.open(encoding="utf-8", newline="") as stream:
            rows = list(csv.DictReader(stream))
    except OSError as error:
        raise ReferenceProblem(f"{path}: cannot be read ({error.strerror}).") from error
    if not rows or not {"quantity", "method", "r_package", "value"} <= rows[0].keys():
        raise ReferenceProblem(f"{path}: columns quantity, method, r_package and value are expected.")
    return {row["quantity"]: row for row in rows}


def read_families(path: Path = FAMILIES) -> dict:
    """Families, quantities that are not computed, and statistics without a reference."""
    return yaml.safe_load(path.read_text(encoding="utf-8"))


def family_of(quantities: Iterable[str], families: Mapping) -> dict[str, dict]:
    """Quantity -> the entry it belongs to: a family, or what is not computed.

    Raises
    ------
    ReferenceProblem
        If a quantity belongs to none or to several, or a pattern to no quantity.
    """
    quantities = list(quantities)
    found = defaultdict(list)
    for entry in (*families["families"], *families["not_computed"]):
        patterns = entry["quantities"]
        for pattern in [patterns] if isinstance(patterns, str) else patterns:
            matching = fnmatch.filter(quantities, pattern)
            if not matching:
                raise ReferenceProblem(f"{FAMILIES.name}: no quantity is called {pattern}. Take it out.")
            for quantity in matching:
                found[quantity].append(entry)
    for quantity in quantities:
        if len(found[quantity]) != 1:
            how = "several entries" if found[quantity] else "no entry"
            raise ReferenceProblem(f"{FAMILIES.name}: {quantity} belongs to {how}. Each quantity needs exactly one.")
    return {quantity: entries[0] for quantity, entries in found.items()}


def compare(old: Mapping[str, dict], new: Mapping[str, dict], families: Mapping) -> list[str]:
    """One line for every quantity that moved beyond the tolerance of its family, was added, or is gone.

    A value moved if it differs by more than the tolerance times its size, or times 1 where it is smaller than that.
    """
    entries = family_of(new, families)
    lines = []
    for quantity, row in new.items():
        if quantity not in old:
            lines.append(f"added    {quantity}: {row['value']} ({row['method']}, {row['r_package']})")
            continue
        before, after = float(old[quantity]["value"]), float(row["value"])
        tolerance = entries[quantity]["moved"]
        difference = abs(after - before)
        if not difference <= tolerance * max(1.0, abs(before)) and not (math.isnan(before) and math.isnan(after)):
            lines.append(
                f"moved    {quantity}: {before!r} -> {after!r}, by {difference:.3g} (tolerance {tolerance:g}; "
                f"{old[quantity]['r_package']} -> {row['r_package']})"
            )
    lines += [f"removed  {quantity}: {old[quantity]['value']}" for quantity in old if quantity not in new]
    return lines


def run_r(target: Path) -> float:
    """Run the script, which writes its values to a file; return the seconds it took.

    Raises
    ------
    ReferenceProblem
        If R is not installed, lacks a package, or ends with an error.
    """
    rscript = shutil.which(os.environ.get("RSCRIPT", "Rscript"))
    if rscript is None:
        raise ReferenceProblem(
            "R is not installed here, so its values were not computed again; on Debian: apt install r-base-core, and "
            "the packages that tests/reference/README.md lists."
        )
    began = time.monotonic()
    done = subprocess.run(  # noqa: S603 the script is ours
        [rscript, "--vanilla", str(SCRIPT), str(target)], capture_output=True, text=True, check=False
    )
    if done.returncode:
        said = [line for line in done.stderr.splitlines() if line.strip()]
        raise ReferenceProblem("\n".join(said[-5:]) or f"{SCRIPT.name} ended with code {done.returncode}.")
    return time.monotonic() - began


def measure() -> list[tuple[str, str, float, float]]:
    """Run the tests that assert R's values: quantity, kind of tolerance, tolerance, error of each assertion.

    Raises
    ------
    ReferenceProblem
        If a test fails.
    """
    files = [str(path) for path in sorted((ROOT / "tests").rglob("test_*.py")) if "golden.check(" in path.read_text()]
    with tempfile.TemporaryDirectory() as folder:
        noted = Path(folder) / "errors.json"
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *files]
        done = subprocess.run(  # noqa: S603 our own tests
            command, cwd=ROOT, env=os.environ | {ERRORS: str(noted)}, capture_output=True, text=True, check=False
        )
        if done.returncode:
            raise ReferenceProblem(f"{done.stdout[-3000:]}\nTests of R's values fail; the table was not written.")
        return [tuple(row) for row in json.loads(noted.read_text(encoding="utf-8"))]


def errors_by_family(errors: Iterable, entries: Mapping[str, dict]) -> dict[str, list[dict]]:
    """Statistic -> for each tolerance that is asserted: its kind, the number of values, the largest error and whose."""
    groups = defaultdict(lambda: defaultdict(dict))
    for quantity, kind, tolerance, error in errors:
        group = groups[entries[quantity]["statistic"]][kind, tolerance]
        group[quantity] = max(error, group.get(quantity, 0.0))
    return {
        statistic: [
            {
                "kind": kind,
                "tolerance": tolerance,
                "values": len(group),
                "largest_error": float(f"{max(group.values()):.2g}"),
                "quantity": max(sorted(group), key=group.get),
            }
            for (kind, tolerance), group in sorted(found.items())
        ]
        for statistic, found in groups.items()
    }


def make_table(values: Mapping[str, dict], families: Mapping, errors: Iterable) -> dict:
    """All that the page shows, see data/README.md.

    Raises
    ------
    ReferenceProblem
        If a quantity of a family was not asserted, or one that is listed as not computed was.
    """
    entries = family_of(values, families)
    errors = list(errors)
    asserted = {row[0] for row in errors}
    computed = {quantity for quantity, entry in entries.items() if "statistic" in entry}
    if asserted != computed:
        raise ReferenceProblem(
            f"asserted but listed as not computed, or the reverse: {', '.join(sorted(asserted ^ computed))}. "
            f"Correct {FAMILIES.name} or the tests."
        )
    measured = errors_by_family(errors, entries)

    def of(entry):
        return [quantity for quantity in values if entries[quantity] is entry]

    def packages(entry):
        return sorted({values[quantity]["r_package"] for quantity in of(entry)})

    return {
        "values": len(values),
        "asserted": len(asserted),
        "families": [
            {
                "statistic": entry["statistic"],
                "functions": entry["functions"],
                "r": entry["r"],
                "packages": packages(entry),
                "values": len(of(entry)),
                "errors": measured[entry["statistic"]],
            }
            for entry in families["families"]
        ],
        "not_computed": [
            {"quantities": of(entry), "packages": packages(entry), "reason": entry["reason"]}
            for entry in families["not_computed"]
        ],
        "without_reference": families["without_reference"],
    }


def differences(stored: Mapping, fresh: Mapping) -> list[str]:
    """What a stored table says otherwise than a fresh one; errors may differ by rounding, or by a factor of two."""
    lines = [
        f"{name} is not what it was: run `make reference`"
        for name in ("values", "asserted", "not_computed", "without_reference")
        if stored[name] != fresh[name]
    ]
    before = {row["statistic"]: row for row in stored["families"]}
    after = {row["statistic"]: row for row in fresh["families"]}
    lines += [f"{name}: in one table only: run `make reference`" for name in sorted(before.keys() ^ after.keys())]
    for name in before.keys() & after.keys():
        facts = [{key: value for key, value in row.items() if key != "errors"} for row in (before[name], after[name])]
        known = [
            {(row["kind"], row["tolerance"], row["values"]): row["largest_error"] for row in table[name]["errors"]}
            for table in (before, after)
        ]
        if facts[0] != facts[1] or known[0].keys() != known[1].keys():
            lines.append(f"{name}: other functions, values or tolerances are stored: run `make reference`")
            continue
        for group, error in known[1].items():
            low, high = sorted((known[0][group], error))
            if high > NOISE and high > 2 * low:
                lines.append(f"{name}: the largest error is {error:g}, and {known[0][group]:g} is stored")
    return lines


def write_table(table: Mapping, path: Path = TABLE) -> None:
    """Write the table as JSON."""
    path.write_text(json.dumps(table, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def _compare_with(new: Path, update: bool) -> int:
    found = compare(read_values(VALUES), read_values(new), read_families())
    for line in found:
        print(line)
    count = len(read_values(new))
    if not found:
        print(f"All {count} values of R agree with {VALUES.name}.")
    if update:
        shutil.copyfile(new, VALUES)
        print(f"{VALUES.name} is now what R gave: {len(found)} of {count} values moved, were added or are gone.")
    elif found:
        print(f"{len(found)} of {count} values differ; nothing was written. To accept them: make reference UPDATE=1")
        return 1
    return 0


def _table() -> int:
    table = make_table(read_values(VALUES), read_families(), measure())
    write_table(table)
    print(f"{table['asserted']} of {table['values']} values asserted; written: {TABLE}.")
    return 0


def main(arguments: list[str] | None = None) -> int:
    """Run the command line; return its exit code: 0 agreement, 1 values moved, 2 it could not be told."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    verbs = parser.add_subparsers(dest="verb")
    for name, about in (("run", "run R and compare, then measure"), ("compare", "compare a file of values")):
        verb = verbs.add_parser(name, help=about)
        verb.add_argument("--update", action="store_true", help="write the values to tests/reference/golden.csv")
        if name == "compare":
            verb.add_argument("new", type=Path)
    verbs.add_parser("table", help="measure the errors and write data/reference.json")
    given = parser.parse_args(arguments)
    try:
        if given.verb == "compare":
            return _compare_with(given.new, given.update)
        if given.verb == "table":
            return _table()
        with tempfile.TemporaryDirectory() as folder:
            new = Path(folder) / "values.csv"
            seconds = run_r(new)
            print(f"R took {seconds:.0f} s.")
            return _compare_with(new, getattr(given, "update", False)) or _table()
    except ReferenceProblem as problem:
        print(problem, file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
