"""RESULTS.md: what was measured, as tables. Written by run.py and growth.py; by itself, from what is stored."""

import json
from pathlib import Path

FOLDER = Path(__file__).parent
RESULTS = FOLDER / "RESULTS.md"
BENCH, GROWTH = FOLDER / "bench.json", FOLDER / "growth.json"


def amount(seconds: float, unit: str = "s") -> str:
    """A time with three digits."""
    value, unit = (1000 * seconds, "ms") if unit == "s" and seconds < 0.1 else (seconds, unit)
    return f"{value:,.{0 if value >= 100 else 1 if value >= 10 else 2}f} {unit}"


def table(head: list[str], rows: list[list[str]]) -> str:
    """Rows as a table of Markdown."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines)


def peers(result: dict) -> str:
    """Every piece of work beside what a user would use otherwise, and whether its goal is met."""
    rows = [row for entry in result["entries"].values() for row in entry["rows"]]
    met = {True: "met", False: "**missed**", None: ""}
    lines = [
        [
            row["work"],
            amount(row["seconds"], row["unit"]),
            "" if row["peer_seconds"] is None else amount(row["peer_seconds"], row["unit"]),
            "" if row["ratio"] is None else f"{row['ratio']:,.2f}",
            row["goal"],
            met[row["met"]],
            row["peer"],
        ]
        for row in rows
    ]
    goals = [row["met"] for row in rows if row["met"] is not None]
    missed = [f"- *{row['work']}*: {row['reason'] or 'not known yet'}" for row in rows if row["met"] is False]
    head = ["Work", "Ours", "Peer", "Times as fast", "Goal", "", "Peer is"]
    return "\n\n".join(
        [
            f"{sum(goals)} of {len(goals)} goals are met. Times are medians; a ratio is the median over pairs of runs.",
            table(head, lines),
            *(["Why goals are missed:", "\n".join(missed)] if missed else []),
        ]
    )


def cold_build(profile: dict) -> str:
    """Where the time of a cold build goes, and its slowest notebooks."""
    steps = [[step["step"], amount(step["seconds"])] for step in profile["steps"]]
    slowest = sorted(profile["notebooks"].items(), key=lambda item: -item[1])[:8]
    named = ", ".join(f"{name} ({amount(seconds)})" for name, seconds in slowest)
    whole = f"The whole build took {amount(profile['seconds'])}. Slowest notebooks: {named}."
    return f"{table(['Step', 'Time'], steps)}\n\n{whole}"


def sizes(growth: dict) -> str:
    """Processor time and memory of each step at the largest size, and the exponent of its growth (1 is linear)."""
    largest = list(growth["sizes"].values())[-1]
    measured = {step: found for step, found in largest["steps"].items() if "problem" not in found}
    problems = [f"- {step}: {found['problem']}" for step, found in largest["steps"].items() if "problem" in found]
    rows = [
        [
            step,
            amount(found["processor_seconds"]),
            f"{found['peak_mib']:,} MiB",
            f"{growth['exponents'][step]:.2f}" if step in growth["exponents"] else "",
        ]
        for step, found in sorted(measured.items(), key=lambda item: -item[1]["processor_seconds"])
    ]
    head = ["Step", "Processor time", "Peak memory", "Exponent of time"]
    said = f"{largest['conversations']:,} conversations; the exponent is that from the size before."
    return "\n\n".join([said, table(head, rows), *(["Not measured:", "\n".join(problems)] if problems else [])])


def conditions(*all_made: dict) -> str:
    """On which machines, with which versions and at which commits something was measured."""
    places, commits = {}, {}
    for made in all_made:
        machine = made["machine"]
        if not isinstance(machine, str):
            machine = "{processor}, {cores} cores, {memory_gib} GiB, {system}".format(**machine)
        versions = ", ".join(f"{name} {version}" for name, version in made["versions"].items() if name != "system")
        places[f"{machine} ({versions})"] = commits[(made["commit"] or "not known")[:12]] = None
    return f"Measured on {' and on '.join(places)}, at commit {', '.join(commits)}."


def results(bench: dict, growth: dict) -> str:
    """The whole page."""
    parts = [
        "# Benchmarks",
        "Times of this project's work beside that of others. `make bench` measures the first two sections, "
        "`evidence/benchmarks/growth.py` the third (hours, at the largest size). Ratios depend on the machine much "
        "less than times.",
    ]
    if bench["entries"]:
        made = conditions(*(entry["made"] for entry in bench["entries"].values()))
        parts += ["## Beside what a user would use otherwise", made, peers(bench)]
    if bench["profile"]:
        parts += ["## Where the time of a cold build goes", conditions(bench["profile"]["made"])]
        parts += [cold_build(bench["profile"])]
    if growth["sizes"]:
        parts += ["## Growth with the size of the data", conditions(growth), sizes(growth)]
    return "\n\n".join(parts) + "\n"


def read(path: Path) -> dict:
    """A stored result, empty where there is none."""
    empty = {"entries": {}, "profile": None, "sizes": {}, "exponents": {}}
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else empty


def main() -> None:
    """Write RESULTS.md."""
    RESULTS.write_text(results(read(BENCH), read(GROWTH)), encoding="utf-8")
    print(RESULTS)


if __name__ == "__main__":
    main()
