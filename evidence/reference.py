"""Reference values: run R again, say what moved, and list what is compared with which tolerance.

    make reference                               # run R and compare its values with golden.csv; then as `table`
    make reference UPDATE=1                      # the same, and golden.csv takes the values that moved
    python evidence/reference.py compare NEW.csv  # compare values that R has given elsewhere
    python evidence/reference.py table            # list the tolerances again

R's values stand in tests/reference/golden.csv, one row per quantity; tests/reference/families.yml says which quantities
belong together, how far a value may differ when R runs again, and which function computes them. The project's own
values and their tolerances are in tests/helpers/golden.py.
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


class ReferenceProblem(Exception):
    """Something that the person at the keyboard has to know, in one sentence."""


def read_values(path: Path) -> dict[str, dict]:
    """Quantity -> row of a file of values, in its order."""
    try:
        rows = list(csv.DictReader(path.read_text(encoding="utf-8").splitlines()))
    except OSError as error:
        raise ReferenceProblem(f"{path}: cannot be read ({error.strerror}).") from error
    if not rows or not {"quantity", "method", "r_package", "value"} <= rows[0].keys():
        raise ReferenceProblem(
            f"{path}: columns quantity, method, r_package and value are expected."
        )
    return {row["quantity"]: row for row in rows}


def read_families() -> dict:
    """Families, quantities that are not computed, and statistics without a reference."""
    return yaml.safe_load(FAMILIES.read_text(encoding="utf-8"))


def family_of(quantities: Iterable[str], families: Mapping) -> dict[str, dict]:
    """Quantity -> the one entry it belongs to: a family, or what is not computed."""
    entries: dict[str, list[dict]] = {quantity: [] for quantity in quantities}
    for entry in (*families["families"], *families["not_computed"]):
        patterns = entry["quantities"]
        if isinstance(patterns, str):
            patterns = [patterns]
        for pattern in patterns:
            matching = fnmatch.filter(entries, pattern)
            if not matching:
                raise ReferenceProblem(
                    f"{FAMILIES.name}: no quantity is called {pattern}. Take it out."
                )
            for quantity in matching:
                entries[quantity].append(entry)
    for quantity, of_quantity in entries.items():
        if len(of_quantity) != 1:
            how = "several entries" if of_quantity else "no entry"
            raise ReferenceProblem(
                f"{FAMILIES.name}: {quantity} belongs to {how}. Each quantity needs exactly one."
            )
    return {quantity: entry for quantity, (entry,) in entries.items()}


def compare(old: Mapping[str, dict], new: Mapping[str, dict], families: Mapping) -> dict[str, str]:
    """Quantity -> a line, for each that moved beyond the tolerance of its family, was added, or is gone.

    A value moved if it differs by more than the tolerance times its size, or times 1 where it is smaller than that.
    """
    entries = family_of(new, families)
    lines = {}
    for quantity, row in new.items():
        if quantity not in old:
            lines[quantity] = (
                f"added    {quantity}: {row['value']} ({row['method']}, {row['r_package']})"
            )
            continue
        old_value = float(old[quantity]["value"])
        new_value = float(row["value"])
        tolerance = entries[quantity]["moved"]
        difference = abs(new_value - old_value)
        is_near = difference <= tolerance * max(1.0, abs(old_value))
        both_missing = math.isnan(old_value) and math.isnan(new_value)
        if not is_near and not both_missing:
            packages = f"{old[quantity]['r_package']} -> {row['r_package']}"
            how = f"by {difference:.3g} (tolerance {tolerance:g}; {packages})"
            lines[quantity] = f"moved    {quantity}: {old_value!r} -> {new_value!r}, {how}"
    for quantity in old:
        if quantity not in new:
            lines[quantity] = f"removed  {quantity}: {old[quantity]['value']}"
    return lines


def run_r(target: Path) -> None:
    """Run the script, which writes its values to a file."""
    rscript = shutil.which(os.environ.get("RSCRIPT", "Rscript"))
    if rscript is None:
        raise ReferenceProblem(
            "R is not installed here, so its values were not computed again; on Debian: apt install r-base-core, and "
            "the packages that tests/reference/README.md lists."
        )
    command = [rscript, "--vanilla", str(SCRIPT), str(target)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603 the script is ours
    if done.returncode:
        lines = [line for line in done.stderr.splitlines() if line.strip()]
        raise ReferenceProblem(
            "\n".join(lines[-5:]) or f"{SCRIPT.name} ended with code {done.returncode}."
        )


def asserted_values() -> list[tuple[str, str, float]]:
    """Quantity, kind of tolerance, and tolerance of each of the project's own values."""
    sys.path[:0] = [str(ROOT), str(ROOT / "tests")]
    from helpers import golden

    return [row[:3] for family in golden.OURS for row in golden.errors_of(family)]


def tolerances_by_family(asserted: Iterable, entries: Mapping[str, dict]) -> dict[str, list[dict]]:
    """Statistic -> each tolerance that is asserted: its kind, and the number of values."""
    groups = defaultdict(lambda: defaultdict(set))
    for quantity, kind, tolerance in asserted:
        groups[entries[quantity]["statistic"]][kind, tolerance].add(quantity)
    rows = defaultdict(list)
    for statistic, by_tolerance in groups.items():
        for (kind, tolerance), quantities in sorted(by_tolerance.items()):
            row = {"kind": kind, "tolerance": tolerance, "values": len(quantities)}
            rows[statistic].append(row)
    return dict(rows)


def make_table(values: Mapping[str, dict], families: Mapping, asserted: Iterable) -> dict:
    """All that the page shows, see data/README.md; each quantity of a family has to be asserted, and no other."""
    entries = family_of(values, families)
    asserted = list(asserted)
    names = {quantity for quantity, *_ in asserted}
    computed = {quantity for quantity, entry in entries.items() if "statistic" in entry}
    if names != computed:
        raise ReferenceProblem(
            f"asserted but listed as not computed, or the reverse: {', '.join(sorted(names ^ computed))}. "
            f"Correct {FAMILIES.name} or the tests."
        )
    tolerances = tolerances_by_family(asserted, entries)
    table = {"values": len(values), "asserted": len(names), "families": [], "not_computed": []}
    for entry in (*families["families"], *families["not_computed"]):
        quantities = [quantity for quantity in values if entries[quantity] is entry]
        packages = sorted({values[quantity]["r_package"] for quantity in quantities})
        if "statistic" in entry:
            row = {
                "statistic": entry["statistic"],
                "functions": entry["functions"],
                "r": entry["r"],
                "packages": packages,
                "values": len(quantities),
                "tolerances": tolerances[entry["statistic"]],
            }
            table["families"].append(row)
        else:
            row = {"quantities": quantities, "packages": packages, "reason": entry["reason"]}
            table["not_computed"].append(row)
    table["without_reference"] = []
    for row in families["without_reference"]:
        columns = ("statistic", "functions", "instead")
        table["without_reference"].append({name: row[name] for name in columns})
    table["odds_ratios"] = odds_ratios(values)
    return table


def odds_ratios(values: Mapping[str, dict]) -> dict:
    """R's odds ratio of two conditions of the reference study: without random effects, and with them."""
    condition, other = "gpt-4-emp", "llama2-70b"
    marginal = values[f"clm_b_model{condition}"]
    conditional = values[f"clmm_b_model{condition}"]
    return {
        "pair": f"{condition} / {other}",
        "package": conditional["r_package"],
        "marginal": float(f"{math.exp(float(marginal['value'])):.4g}"),
        "conditional": float(f"{math.exp(float(conditional['value'])):.4g}"),
    }


def main() -> int:
    """Run the command line; return its exit code: 0 agreement, 1 values moved, 2 it could not be told."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("verb", choices=["run", "compare", "table"])
    parser.add_argument(
        "new", type=Path, nargs="?", help="values that R has given elsewhere, to compare"
    )
    parser.add_argument(
        "--update", action="store_true", help="write the values to tests/reference/golden.csv"
    )
    options = parser.parse_intermixed_args()
    try:
        with tempfile.TemporaryDirectory() as folder:
            new = options.new or Path(folder) / "values.csv"
            if options.verb == "run":
                run_r(new)
            code = 0
            if options.verb != "table":
                code = compare_with(new, options.update)
            if code or options.verb == "compare":
                return code
        table = make_table(read_values(VALUES), read_families(), asserted_values())
        TABLE.write_text(json.dumps(table, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
        print(f"{table['asserted']} of {table['values']} values asserted; written: {TABLE}.")
    except ReferenceProblem as problem:
        print(problem, file=sys.stderr)
        return 2
    return 0


def accept(path: Path, moved: Iterable[str]) -> None:
    """Write what R gave to golden.csv; a line whose value did not move stays, though its last digits differ."""
    moved = set(moved)
    committed = {}
    for line in VALUES.read_text(encoding="utf-8").splitlines():
        committed[line.partition(",")[0]] = line
    lines = []
    for line in path.read_text(encoding="utf-8").splitlines():
        quantity = line.partition(",")[0]
        committed_line = committed.get(quantity, line)
        same_method = line.rpartition(",")[0] == committed_line.rpartition(",")[0]
        if same_method and quantity not in moved:
            lines.append(committed_line)
        else:
            lines.append(line)
    VALUES.write_text("\n".join(lines) + "\n", encoding="utf-8")


def compare_with(path: Path, update: bool) -> int:
    """Print what moved, and replace the committed values if that is wanted; 1 if something differs and stays."""
    new = read_values(path)
    moved = compare(read_values(VALUES), new, read_families())
    print("\n".join(moved.values()) or f"All {len(new)} values of R agree with {VALUES.name}.")
    if update:
        accept(path, moved)
        print(
            f"{VALUES.name} has what R gave: {len(moved)} of {len(new)} values moved, were added or are gone."
        )
    elif moved:
        print(
            f"{len(moved)} of {len(new)} values differ; nothing was written. To accept them: make reference UPDATE=1"
        )
    return int(bool(moved) and not update)


if __name__ == "__main__":
    sys.exit(main())
