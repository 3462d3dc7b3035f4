"""Everything from reading to ledger at 1, 10 and 100 times the size: seconds and peak memory of every step.

    python evidence/benchmarks/growth.py --times 1 10 100

The data of a size are so many simulated studies of 672 conversations, side by side as one. Each step runs in a
process of its own, with a kernel of its own where it is a notebook, so that its memory is its own. What was measured
is kept: given again, the command goes on where it was, and measures again what changed since. With ``--only``, the
other steps stay as the result has them, each with the commit at which it was measured. An .xlsx sheet ends at 1,048,576
rows, so the largest size is read from tables only.
"""

import argparse
import csv
import json
import math
import os
import platform
import shutil
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd

import report
from sense7.book import execute
from sense7.book.ledger import write_ledger
from sense7.book.partitioned import statistics_of_parts
from sense7.book.plan import FIXED, library_digest, plan_jobs
from sense7.checkout import commit_of, find_checkout
from sense7.record import write_json
from sense7.simulate import Parameters, draw
from sense7.simulate.text import write_words
from sense7.simulate.workbook import build_sheets
from sense7.taxonomy import SYNTHETIC_SHEET
from sense7.workbook import Sheet, read_workbook, write_sheets
from sense7.workbook.ids import as_text
from sense7.workbook.partitions import write_partitions
from sense7.workbook.xlsx import MOST_ROWS

CONVERSATIONS = Parameters().conversations
PARTS = {"Tasks": ("PID", "TaskId"), "Messages": ("TaskId",), "Participants": ("PID",)}
"""Sheets, and their columns of ids."""

NOTE = "These tables are synthetic. Nobody said or rated anything in them; their numbers are no findings."
FORMATS = {"workbook": "xlsx", "CSV": "csv", "parquet": "parquet"}
PARTITIONS = 16
"""Parts of the data of each size."""

IN_PARTS = "statistics in parts"
"""Name of the step that computes the main statistics of a data set in parts."""


# --- data ------------------------------------------------------------------------------


def studies(times: int):
    """Sheets of as many simulated studies, one after the other, with ids of their own."""
    for number in range(times):
        streams = [np.random.default_rng(child) for child in np.random.SeedSequence(number).spawn(3)]
        study = draw(Parameters(), streams[0])
        sheets = build_sheets(study, write_words(study, streams[1]), streams[2]).sheets
        for name, columns in PARTS.items():
            places = [sheets[name].header.index(column) for column in columns]
            for row in sheets[name].rows:
                for place in places:
                    row[place] = f"S{number}-{row[place]}"
        yield sheets


def write_csv(times: int, folder: Path) -> None:
    """Write the tables of a size, one study after the other."""
    folder.mkdir(parents=True)
    marks = [["key", "value"], ["note", NOTE], ["studies", str(times)]]
    with (folder / f"{SYNTHETIC_SHEET}.csv").open("w", newline="", encoding="utf-8") as stream:
        csv.writer(stream).writerows(marks)
    streams = {name: (folder / f"{name}.csv").open("w", newline="", encoding="utf-8") for name in PARTS}
    for number, sheets in enumerate(studies(times)):
        for name, stream in streams.items():
            table = csv.writer(stream)
            if number == 0:
                table.writerow(sheets[name].header)
            table.writerows([["" if cell is None else as_text(cell) for cell in row] for row in sheets[name].rows])
    for stream in streams.values():
        stream.close()


def make_data(times: int, folder: Path) -> dict[str, Path]:
    """Give the data of a size in every format that can hold them here, written once."""
    places = {name: folder / f"data.{ending}" for name, ending in FORMATS.items()}
    making = folder / "making"
    shutil.rmtree(making, ignore_errors=True)
    if not places["CSV"].exists():
        write_csv(times, making)
        making.rename(places["CSV"])
    rows = sum(1 for _ in csv.reader((places["CSV"] / "Messages.csv").open(newline="", encoding="utf-8")))
    if rows > MOST_ROWS:
        del places["workbook"]
    elif not places["workbook"].exists():
        merged: dict[str, Sheet] = {}
        for sheets in studies(times):
            for name in PARTS:
                merged.setdefault(name, Sheet(name, sheets[name].header, [])).rows.extend(sheets[name].rows)
        marks = Sheet(SYNTHETIC_SHEET, ["key", "value"], [["note", NOTE], ["studies", str(times)]])
        write_sheets([*merged.values(), marks], places["workbook"])
    if not (folder / "parts").exists():
        write_partitions(read_workbook(places["CSV"]), folder / "parts", PARTITIONS, form="csv")
    try:
        from pyarrow import csv as arrow_csv
        from pyarrow import parquet
    except ImportError:
        del places["parquet"]
        return places
    if not places["parquet"].exists():
        making.mkdir()
        for path in places["CSV"].glob("*.csv"):
            parse = arrow_csv.ParseOptions(newlines_in_values=True)
            convert = arrow_csv.ConvertOptions(strings_can_be_null=True, null_values=[""])
            table = arrow_csv.read_csv(path, parse_options=parse, convert_options=convert)
            parquet.write_table(table, making / f"{path.stem}.parquet")
        making.rename(places["parquet"])
    return places


# --- steps -----------------------------------------------------------------------------


def run_step(step: str, folder: Path, data: Path) -> None:
    """Do one step; called in a process of its own."""
    root = find_checkout()
    edition = folder / "edition"
    if step.startswith("read "):
        read_workbook(data)
    elif step == "ground truth":
        from sense7.findings.ground_truth import ground_truth

        study = read_workbook(data)
        start = time.process_time()
        ground_truth(study.turns, study.conversations["conversation"])
        print(json.dumps({"of it": time.process_time() - start}))
    elif step == IN_PARTS:
        statistics_of_parts(folder / "parts", draws=10_000, seed=1, confidence=0.95)
    elif step == "ledger":
        from sense7.sources import resolve

        write_ledger(root, edition, resolve(data)[1], None, {})
    else:
        job = plan_jobs(root, {"data": str(data), "results": "../results"}, "", [])[step]
        scratch = edition / f"{step}.left"
        shutil.rmtree(scratch, ignore_errors=True)
        for part in (edition / "notebooks", edition / "results", scratch):
            part.mkdir(parents=True, exist_ok=True)
        execute.executed_copy(job, edition / "notebooks", scratch)
        shutil.rmtree(scratch)


def measure(step: str, folder: Path, data: Path, limit: float) -> dict:
    """Seconds, seconds of processors, and peak memory of one step, or why there are none."""
    command = [sys.executable, __file__, "--step", step, "--folder", str(folder), "--data", str(data)]
    environment = os.environ | FIXED
    log = folder / "step.log"
    start = time.perf_counter()
    with log.open("w+") as stream:
        process = subprocess.Popen(command, env=environment, stdout=stream, stderr=stream)  # noqa: S603 - this file itself
        timed_out = False
        while True:
            pid, status, used = os.wait4(process.pid, os.WNOHANG)
            if pid:
                break
            if time.perf_counter() - start > limit and not timed_out:
                process.terminate()
                timed_out = True
            time.sleep(0.05)
        process.returncode = os.waitstatus_to_exitcode(status)
        stream.seek(0)
        last = (stream.read().strip().splitlines() or [""])[-1]
    found = {
        "seconds": round(time.perf_counter() - start, 2),
        "processor_seconds": round(used.ru_utime + used.ru_stime, 2),
        "peak_mib": round(used.ru_maxrss / 1024),
    }
    if process.returncode:
        found["problem"] = f"not finished within {limit:g} s" if timed_out else last[:300]
    elif last.startswith("{"):
        found["own_processor_seconds"] = round(json.loads(last)["of it"], 4)
    return found


def growth_exponents(sizes: dict) -> dict[str, float]:
    """Of each step between the two largest sizes that it was done at: 1 is linear, 0 is no growth at all."""
    seconds: dict[str, list[tuple[int, float]]] = {}
    for size, measured in sizes.items():
        for step, found in measured["steps"].items():
            if "problem" not in found:
                own = found.get("own_processor_seconds", found["processor_seconds"])
                seconds.setdefault(step, []).append((int(size), max(own, 1e-4)))
    return {
        step: round(math.log(done[-1][1] / done[-2][1]) / math.log(done[-1][0] / done[-2][0]), 2)
        for step, done in seconds.items()
        if len(done) > 1
    }


def of_earlier(result: dict, size: str, step: str) -> dict:
    """A step as an earlier result has it, with its commit; or that it was not measured."""
    found = result.get("sizes", {}).get(size, {}).get("steps", {}).get(step)
    return {"commit": result["commit"], **found} if found else {"problem": "not measured"}


def measure_all(
    root: Path, all_times: list[int], only: list[str] | None, kept: Path, limit: float, earlier: dict
) -> dict:
    """Measure the steps of every size; those that were measured before with the same code are not repeated."""
    file = kept / "growth-measured.json"
    measured = json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}
    digests = {name: job.digest for name, job in plan_jobs(root, {}, "", []).items()}
    library = library_digest(())
    sizes = {}
    for times in all_times:
        folder = kept / f"{times} times"
        print(f"{times} times: making the data, unless they are there", flush=True)
        # In a process of its own: a step's peak counts from that of the process that starts it.
        making = [sys.executable, __file__, "--make", str(times), "--folder", str(folder)]
        subprocess.run(making, check=True)  # noqa: S603 - this file itself
        data = make_data(times, folder)
        steps = [f"read {name}" for name in data] + ["ground truth", IN_PARTS, *digests, "ledger"]
        sizes[str(times)] = {"conversations": CONVERSATIONS * times, "steps": {}}
        for number, step in enumerate(steps, 1):
            key = f"{times} {step} {digests.get(step, library)}"
            if key not in measured and (not only or step in only):
                name = step.removeprefix("read ")
                measured[key] = measure(step, folder, data.get(name, data["CSV"]), limit)
                write_json(file, measured)
                print(f"{times} times, {number} of {len(steps)}: {step}: {measured[key]}", flush=True)
            sizes[str(times)]["steps"][step] = measured.get(key) or of_earlier(earlier, str(times), step)
        sizes[str(times)]["bytes"] = sum(path.stat().st_size for path in data["CSV"].iterdir())
    return sizes


def main() -> None:
    """Measure all sizes, make the data of one, or do one step."""
    root = find_checkout()
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--times", type=int, nargs="+", default=[1, 10])
    parser.add_argument("--only", nargs="+", help="names of steps; the others stay as they are")
    parser.add_argument("--limit", type=float, default=1800.0, help="seconds that a step may take")
    parser.add_argument("--out", type=Path, default=report.GROWTH)
    parser.add_argument("--kept", type=Path, default=root / "_build" / "bench", help="folder of the data")
    parser.add_argument("--make", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--step", help=argparse.SUPPRESS)
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--data", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.make:
        make_data(given.make, given.folder)
        return
    if given.step:
        run_step(given.step, given.folder, given.data)
        return
    earlier = json.loads(given.out.read_text(encoding="utf-8")) if given.only and given.out.exists() else {}
    sizes = measure_all(root, given.times, given.only, given.kept, given.limit, earlier)
    result = {
        "commit": commit_of(root)["commit"],
        "library": library_digest(())[:12],
        "machine": f"{platform.system()} on {platform.machine()}, {os.cpu_count()} processors",
        "versions": {"Python": platform.python_version(), "numpy": np.__version__, "pandas": pd.__version__},
        "sizes": sizes,
        "exponents": growth_exponents(sizes) if len(sizes) > 1 else {},
    }
    write_json(given.out, result)
    if given.out == report.GROWTH:
        report.main()
    print(given.out)


if __name__ == "__main__":
    main()
