"""Each piece of work beside what a user would use otherwise, in one run: the ratio first.

    make bench                           everything but the tests, about 20 minutes on two processors
    make bench ONLY=tests                the tests, which take another quarter of an hour
    make bench ONLY=reading,bootstrap    some of it; the rest of the result stays
    python evidence/benchmarks/run.py --only=     nothing: only the reasons of missed goals are written again

Both sides run in turn and must give the same answer; the medians are compared. Times depend on the machine, ratios
much less. What was measured is kept under ``_build/bench`` until the library or the entry changes: interrupted, the
same command goes on where it was. The result is ``bench.json`` beside this file; RESULTS.md shows it.
"""

import argparse
import hashlib
import json
import os
import platform
import statistics
import sys
from dataclasses import asdict
from pathlib import Path

import analysis
import book
import cluster
import command_line
import explorer
import judging
import report
import suite
from measuring import ROOT, Counts, Row
from sense7.book.how_made import versions
from sense7.book.plan import library_digest
from sense7.checkout import commit_of
from sense7.record import write_json

FAMILIES = (analysis, judging, book, cluster, explorer, command_line, suite)
ENTRIES = {name: (entry, family) for family in FAMILIES for name, entry in family.ENTRIES.items()}
PROFILE = "profile"
"""Name of what is no entry: where the time of a cold build goes."""

REASONS: dict[str, str] = {
    "reading": "Of 0.20 s, calamine's own reading of the XML takes 0.09 s, the examination of the package for bombs "
    "and lost values, which the peer leaves out, 0.03 s, and checks and frames 0.06 s (a profile).",
    "bootstrap": "Ours takes 0.07 s as before. The peer, whose loops copy rows, took 20 to 40 s when the goal was set, "
    "and 10 s in this run.",
    "notebooks": "Executing all notebooks takes 49 s of processor time, by which two processors are busy for 28 s. The "
    "peer executes the same cells: what makes one quicker helps both. More than a quarter of the time draws some 75 "
    "figures, each laid out for wide and for narrow screens; the baselines are computed on three pages, 1.5 s each; a "
    "thousand fits test whether topics recur.",
    "from_nothing": "The set-up is quick enough; the book is not, for the reason of the whole book, cold.",
    "book_cold": "In the fresh environment of each round, modules are compiled when they are first imported; pip, on "
    "the peer's side, did so during the set-up. With compiled modules a cold build took 42 s, 73 s of processor time, "
    "49 s of it in notebooks, on a day when the ratio was 3.9. In this run the machine was slower and changed its "
    "speed: the same loop took 1.8 to 3.5 s.",
    "book_edited_code": "The edited notebook takes 2.5 s with the start of its kernel; then as after an edit of prose.",
    "cluster_parts": "The work takes 2 s, Dask's own process 0.4 s. With ten times the data, 2 workers were 1.5 times "
    "as fast: each took 1.4 times as long for its half of the reading as a process of its own, and two such processes "
    "together are 1.9 times as fast as one on this machine.",
    "tests": "More than 9,300 tests and a second execution of all notebooks need more processor time than two "
    "processors have in 8 minutes. Two fifths of the tests' time makes books, whole and small ones, some "
    "of them killed while they are made; a fifth is a browser's, which looks at every page in light and "
    "dark, wide and on a phone; four fifths of the tests take a third. Other work on the machine counts: "
    "at another time, the same took 15 minutes with the set-up.",
    "check": "Of 0.41 s, typer takes 0.1 s, half of it for pydantic, which newer versions import; numpy 0.04 s, "
    "and reading 0.2 s.",
}
"""Key of a row that misses its goal -> the measured reason, which RESULTS.md shows."""


def machine() -> dict[str, str | int | float]:
    """What the times depend on."""
    info = Path("/proc/cpuinfo")
    lines = info.read_text(encoding="utf-8").splitlines() if info.exists() else []
    models = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return {
        "processor": models[0] if models else platform.processor() or platform.machine(),
        "cores": os.cpu_count() or 1,
        "memory_gib": round(memory, 1),
        "system": f"{platform.system()} {platform.machine()}",
    }


def measured(row: Row) -> dict:
    """A row with its medians, and whether the goal is met: of ``ours`` alone, or by the ratio of the pairs."""
    found = asdict(row) | {"seconds": statistics.median(row.ours), "peer_seconds": None, "ratio": None, "met": None}
    if row.theirs:
        found["peer_seconds"] = statistics.median(row.theirs)
        found["ratio"] = statistics.median(theirs / ours for ours, theirs in zip(row.ours, row.theirs, strict=True))
    if row.ratio_at_least is not None:
        found["met"] = found["ratio"] >= row.ratio_at_least
    elif row.at_most is not None:
        found["met"] = found["seconds"] <= row.at_most
    return found


def kept_place(folder: Path, name: str, counts: Counts) -> Path:
    """Where the result of an entry is kept: the name changes with all that it rests on."""
    family = ENTRIES[name][1].__file__ if name in ENTRIES else book.__file__
    texts = [Path(family), Path(family).with_name("measuring.py"), *sorted((ROOT / "notebooks").glob("*.md"))]
    total = hashlib.sha256(f"{library_digest(())} {counts} {json.dumps(versions())}".encode())
    for path in [*texts, ROOT / "data" / "synthetic.xlsx"]:
        total.update(path.read_bytes())
    return folder / f"{name}-{total.hexdigest()[:16]}.json"


def obtain(name: str, folder: Path, counts: Counts) -> list[dict] | dict:
    """The result of an entry: kept, or measured and kept."""
    place = kept_place(folder, name, counts)
    if place.exists():
        print(f"{name}: kept from an earlier run", file=sys.stderr, flush=True)
        return json.loads(place.read_text(encoding="utf-8"))
    print(f"{name}: measuring", file=sys.stderr, flush=True)
    found = book.profile(counts) if name == PROFILE else [measured(row) for row in ENTRIES[name][0](counts)]
    if found:  # without rows it could not be measured here
        folder.mkdir(parents=True, exist_ok=True)
        write_json(place, found)
    return found


def merged(path: Path, results: dict[str, list[dict] | dict]) -> dict:
    """The whole result: what was measured now, and of the rest what the file says already."""
    old = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {"entries": {}, "profile": None}
    commit = {key: value for key, value in commit_of(ROOT).items() if key != "apart"}
    made = {**commit, "library": library_digest(())[:12], "machine": machine(), "versions": versions()}
    entries = {name: old["entries"].get(name) for name in ENTRIES}
    for name, rows in results.items():
        if rows and name != PROFILE:
            entries[name] = {"made": made, "rows": rows}
    for entry in filter(None, entries.values()):
        for row in entry["rows"]:
            row["reason"] = REASONS.get(row["key"], "") if row["met"] is False else ""
    profile = results.get(PROFILE)
    return {
        "about": "Times of this project's work beside that of others; nothing here is a finding about people.",
        "command": "make bench",
        "entries": {name: entry for name, entry in entries.items() if entry},
        "profile": {"made": made, **profile} if profile else old["profile"],
    }


def table(result: dict) -> str:
    """The rows for people, the ratio first."""
    lines = [f"{'ratio':>9}  {'ours':>11}  {'peer':>11}  goal      work | peer"]
    for entry in result["entries"].values():
        for row in entry["rows"]:
            ratio = "" if row["ratio"] is None else f"{row['ratio']:,.2f}x"
            peer = "" if row["peer_seconds"] is None else f"{row['peer_seconds']:,.4g} s"
            met = {True: "met", False: "missed", None: "-"}[row["met"]]
            ours = f"{row['seconds']:,.4g} {row['unit']}"
            lines.append(f"{ratio:>9}  {ours:>11}  {peer:>11}  {met:<8}  {row['work']} | {row['peer'] or '-'}")
    return "\n".join(lines)


def main() -> None:
    """Measure what was asked for, keep it, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    names = (*ENTRIES, PROFILE)
    most = [name for name in names if name not in suite.ENTRIES]
    parser.add_argument("--only", default=",".join(most), help=f"some of: {', '.join(names)}; with commas")
    parser.add_argument("--pairs", type=int, default=3, help="of runs, of what is quick")
    parser.add_argument("--long-pairs", type=int, default=2, help="of what takes minutes")
    parser.add_argument("--tiny", action="store_true", help="only see that every entry works; the times mean nothing")
    parser.add_argument("--again", action="store_true", help="measure again what is kept")
    parser.add_argument("--out", type=Path, default=report.BENCH)
    parser.add_argument("--kept", type=Path, default=ROOT / "_build" / "bench")
    given = parser.parse_args()
    chosen = given.only.split(",") if given.only else []
    if unknown := [name for name in chosen if name not in names]:
        parser.error(f"no entry {', '.join(unknown)}; there are {', '.join(names)}")
    if given.tiny and given.out == report.BENCH:
        parser.error("--tiny measures nothing: give another --out")
    counts = Counts(1, 1, tiny=True) if given.tiny else Counts(given.pairs, given.long_pairs)
    result = merged(given.out, {})
    for name in chosen:
        if given.again:
            kept_place(given.kept, name, counts).unlink(missing_ok=True)
        result = merged(given.out, {name: obtain(name, given.kept, counts)})
        write_json(given.out, result)
    if not chosen:
        write_json(given.out, result)
    if given.out == report.BENCH:
        report.main()
    print(f"{'; '.join(f'{key}: {value}' for key, value in machine().items())}\n\n{table(result)}\n\n{given.out}")


if __name__ == "__main__":
    main()
