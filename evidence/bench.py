"""Each piece of work beside what one would use otherwise: median seconds of both sides, their ratio, and the goal.

    make bench                        everything; hours, most of them for the data of 100 studies
    make bench ONLY=reading,check     some of it; the other rows stay as they are

Both sides run in turn, and have to give the same answer. Whole books are compared with that of commit 5c01ecd, the last
one before the book was halved, as plain Jupyter Book builds it. The result is kept in bench.json and shown in
RESULTS.md. Ratios depend on the machine much less than times do.
"""

import argparse
import csv
import json
import math
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

ROOT = Path(__file__).resolve().parents[1]
BENCH, RESULTS = ROOT / "evidence" / "bench.json", ROOT / "evidence" / "RESULTS.md"
BEFORE = "5c01ecd"
WORKBOOK = ROOT / "data" / "synthetic.xlsx"
SENSE7 = [sys.executable, "-c", "import sys; sys.argv[0] = 'sense7'; from sense7.cli import main; main()"]
FIXED = {f"{name}_NUM_THREADS": "1" for name in ("OMP", "OPENBLAS", "MKL")} | {"PYTHONHASHSEED": "0"}
MOVED = re.compile("learned|compared_(better|worse|undecided)")
"""Keys of the judge that is learned from ratings, which is another one since BEFORE."""

METER = """
import json, resource, subprocess, sys, time
start = time.perf_counter()
done = subprocess.run(sys.argv[1:], capture_output=True, text=True)
seconds, used = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
said = done.stdout if done.returncode == 0 else done.stdout[-9000:] + done.stderr[-9000:]
print(json.dumps([done.returncode, seconds, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024, said]))
"""
PEER = """
import json, sys, openai, sense7
from concurrent.futures import ThreadPoolExecutor
client, data = openai.OpenAI(base_url=sys.argv[1], api_key="none"), sense7.load("synthetic")
def ask(body):
    return client.chat.completions.create(**body).choices[0].message.content.partition("<S2>")[2].partition("</S2>")[0]
print(json.dumps(list(ThreadPoolExecutor(50).map(ask, json.load(open(sys.argv[2]))))))
"""
PREPARE = """
import json, pathlib, sys
sys.path.insert(0, "evidence/benchmarks")
from book import prepare_for_jupyter_book as prepare
print(json.dumps([str(part) for part in prepare(pathlib.Path.cwd(), pathlib.Path(sys.argv[1]))]))
"""
"""Runs at BEFORE, by what lies there."""

PLAIN = f"jupyter-book build with execution, of {BEFORE}"
NEAR = "judge: all conversations, 50 at once, all recorded; endpoint with {:g} s latency"
CLIENT = "50 threads with the openai client, nothing recorded"


class Measure(NamedTuple):
    """A piece of work: ``run(bench, ours)`` gives the answer of a side, or `Took`.

    The goal is that the peer takes ``ratio`` times as long, or that ours is at most ``most``.
    """

    work: str
    peer: str
    run: Callable
    ratio: float | None = None
    most: float | None = None
    pairs: int = 5
    tolerance: float = 1e-9
    unit: str = "s"


class Took(NamedTuple):
    """The answer of work of which not all is counted, or not its seconds."""

    amount: float
    answer: object = None


class Ran(NamedTuple):
    """A program that has ended: its seconds, those of processors, its peak memory in MiB, and what it printed."""

    seconds: float
    processor: float
    mib: float
    said: str


MEASURES: dict[str, Measure] = {}


def measure(work: str, peer: str = "", **goal) -> Callable:
    """Let a function be a row of the table, under its name."""
    return lambda run: MEASURES.setdefault(run.__name__, Measure(work, peer, run, **goal)).run


def program(*command: str | Path, folder: Path = ROOT, **variables: str) -> Ran:
    """Run a program as a user would; what it said is the error if it fails."""
    left_out = ("SENSE7_", "GITHUB_", "OPENAI_", "PYTEST_", "PYTHONDONTWRITEBYTECODE", "VIRTUAL_ENV")
    kept = {key: value for key, value in os.environ.items() if not key.startswith(left_out)}
    environment = kept | FIXED | {"SENSE7_ROOT": str(folder)} | variables
    meter = [sys.executable, "-c", METER, *map(str, command)]
    code, *ran = json.loads(subprocess.check_output(meter, cwd=folder, env=environment, text=True))  # noqa: S603 - our own
    if code:
        raise RuntimeError(f"{' '.join(map(str, command))}: ended with {code}\n{ran[-1]}")
    return Ran(*ran)


class Bench:
    """A scratch folder, the study, and clones with their books."""

    def __init__(self, scratch: Path):
        self.scratch = scratch

    @cached_property
    def study(self):
        """The embedded study."""
        from sense7 import load

        return load("synthetic")

    @cached_property
    def now(self) -> Path:
        """A clone of the last commit with its book."""
        return self.built(self.clone("now", "HEAD"))

    @cached_property
    def before(self) -> Path:
        """A clone of BEFORE with its environment."""
        return self.installed("before")

    def installed(self, name: str) -> Path:
        """A new clone of BEFORE with an environment by pip."""
        root = self.clone(name, BEFORE)
        pip = [root / ".venv/bin/python", "-m", "pip", "install", "--quiet", "--no-cache-dir"]
        program(sys.executable, "-m", "venv", root / ".venv", folder=root)
        program(*pip, "--require-hashes", "-r", "requirements.lock", folder=root)
        program(*pip, "--no-deps", "--no-build-isolation", "-e", ".", folder=root)
        return root

    def clone(self, name: str, commit: str) -> Path:
        """A new clone, in which nothing was ever built."""
        root = self.scratch / name
        shutil.rmtree(root, ignore_errors=True)
        program("git", "clone", "--quiet", ROOT, root)
        program("git", "checkout", "--quiet", "--detach", commit, folder=root)
        return root

    def built(self, root: Path, *verbs: str) -> Path:
        """A clone after make, with nothing downloaded before."""
        shutil.rmtree(self.scratch / "empty", ignore_errors=True)
        empty = {f"{name}_CACHE_DIR": str(self.scratch / "empty" / name) for name in ("PIP", "UV")}
        program("make", *(verbs or ["book"]), folder=root, **empty)
        return root

    def jupyter_book(self, root: Path) -> Took:
        """The pages and notebooks of BEFORE by `jupyter-book build`, which executes them, in a clone's environment."""
        stage, programs = self.scratch / "stage", root / ".venv/bin"
        shutil.rmtree(stage, ignore_errors=True)
        command = json.loads(program(programs / "python", "-c", PREPARE, stage, folder=root).said)
        variables = {"PATH": f"{programs}:{os.environ['PATH']}", "PYTHONWARNINGS": "ignore"}
        ran = program(programs / "python", *command, folder=root, **variables)
        return Took(ran.seconds, values_in(stage / "_build" / "interactive"))


def values_in(edition: Path) -> dict[str, list[float]]:
    """Recorded numbers: key -> estimate, low, high, n."""
    return {
        value["key"]: [math.nan if value[name] is None else value[name] for name in ("estimate", "low", "high", "n")]
        for path in (edition / "results").glob("*.json")
        for value in json.loads(path.read_text("utf-8"))
        if isinstance(value["estimate"], int | float) and not MOVED.search(value["key"])
    }


def values_of(root: Path) -> dict[str, list[float]]:
    """Those of the book in a clone."""
    return values_in(root / "_build" / "editions" / "synthetic")


# Books


@measure("clean clone to book, nothing cached", f"clone, pip install and {PLAIN}", ratio=4, pairs=1)
def clean(bench: Bench, ours: bool):
    """From nothing to the whole book; otherwise by pip and Jupyter Book alone."""
    if ours:
        return values_of(bench.built(bench.clone("fresh", "HEAD")))
    start = time.perf_counter()
    root = bench.installed("fresh before")
    installing = time.perf_counter() - start
    seconds, values = bench.jupyter_book(root)
    return Took(installing + seconds, values)


@measure("book, cold", PLAIN, ratio=4, pairs=2)
def cold(bench: Bench, ours: bool):
    """The whole book in a clone with an environment."""
    if not ours:
        return bench.jupyter_book(bench.before)
    shutil.rmtree(bench.now / "_build", ignore_errors=True)
    return values_of(bench.built(bench.now))


@measure("book, nothing changed", most=1)
def unchanged(bench: Bench, ours: bool):
    """The book again."""
    bench.built(bench.now)


def edited(bench: Bench, old: str, new: str) -> None:
    """The book after a notebook was edited in one place, with another number each time."""
    path = bench.now / "notebooks" / "02-ratings.md"
    before, _, after = path.read_text("utf-8").partition(old)
    path.write_text(f"{before}{old}{new.format(time.monotonic_ns())}{after}", "utf-8")
    bench.built(bench.now)


@measure("book, a finding's code cell edited", most=6.4, pairs=2)
def code(bench: Bench, ours: bool):
    """An edit that executes the notebook; BEFORE took as long as the goal."""
    edited(bench, "import sense7 as s7\n", "\nassert {} > 0\n")


@measure("book, prose edited", most=3.4, pairs=2)
def prose(bench: Bench, ours: bool):
    """An edit that executes nothing; BEFORE took as long as the goal."""
    edited(bench, "\n## How it was computed\n", "\nA line, edited at {}.\n")


@measure("make test, set-up apart", most=480, pairs=1)
def tests(bench: Bench, ours: bool):
    """`make test` in a clone with an environment and a book."""
    bench.built(bench.now, "judge", "browser")
    start = time.perf_counter()
    bench.built(bench.now, "test")
    return Took(time.perf_counter() - start)


# Reading, and growth


@measure("workbook to validated frames", "pandas with openpyxl, two sheets", ratio=4)
def reading(bench: Bench, ours: bool):
    """The workbook to validated frames; its two sheets by pandas."""
    from sense7.workbook import read_workbook

    if ours:
        study = read_workbook(WORKBOOK)
        return [*study.conversations["conversation"], *study.messages["content"].fillna("")]
    found = pd.read_excel(WORKBOOK, sheet_name=["Tasks", "Messages"], engine="openpyxl")
    return [*found["Tasks"]["TaskId"].astype(str), *found["Messages"]["Content"].fillna("")]


@measure("sense7 check", "import pandas", ratio=1 / 1.3)
def check(bench: Bench, ours: bool):
    """The command whole."""
    program(*([*SENSE7, "check", WORKBOOK] if ours else [sys.executable, "-c", "import pandas"]))


@measure("100 times the data: peak memory of any step", most=2048, pairs=1, unit="MiB")
def growth(bench: Bench, ours: bool):
    """Largest peak memory at 100 times the data; and of each step, at each size, seconds of processors and MiB."""
    from sense7.simulate import Parameters, simulate

    steps = {}
    for times in (1, 10, 100):
        data, parts, out = (bench.scratch / f"{times} {name}" for name in ("data", "parts", "out"))
        data.mkdir()
        out.mkdir()
        parameters = Parameters(participants=109 * times, conversations=672 * times)
        for name, sheet in simulate(parameters, 1).sheets.items():
            with (data / f"{name}.csv").open("w", newline="", encoding="utf-8") as stream:
                csv.writer(stream).writerows([sheet.header, *sheet.rows])
        work = {"check": ["check", data], "partition": ["partition", data, parts, "--parts", 4]}
        work["statistics"] = ["statistics", parts, "--out", out / "statistics.csv"]
        for path in sorted((ROOT / "notebooks").glob("*.md")):
            if 'data = "synthetic"' in path.read_text("utf-8"):
                work[path.stem] = ["run", path.stem, "--data", data, "--out", out / f"{path.stem}.ipynb"]
        for step, command in work.items():
            ran = program(*SENSE7, *command)
            steps.setdefault(step, []).append([round(ran.processor, 2), round(ran.mib)])
    return Took(max(sizes[-1][1] for sizes in steps.values()), steps)


# Statistics: an interval from sums per participant, and from copied rows


@measure(
    "Cronbach's alpha of turns, 10,000 resamples of participants", "copied rows of data frames", ratio=100, pairs=3
)
def alpha(bench: Bench, ours: bool) -> Took:
    """Limits of Cronbach's alpha; of copied rows 20 resamples are timed, and multiplied: each costs the same."""
    from sense7.estimators.alpha import alpha_row
    from sense7.estimators.bootstrap import ParticipantBootstrap
    from sense7.findings.measures import turn_ratings

    ratings, people = turn_ratings(bench.study), bench.study.conversations["participant"]
    many, few = (ParticipantBootstrap(people, draws, 1) for draws in (10_000, 20))

    def limits(bootstrap: ParticipantBootstrap) -> list[float]:
        row = alpha_row(ratings, bootstrap, interval="percentile")
        return [row["low"], row["high"]]

    start = time.perf_counter()
    if ours:
        limits(many)
        return Took(time.perf_counter() - start, limits(few))
    groups, found = dict(list(ratings.groupby(level=0))), []
    for weights in few.weights().astype(int):
        taken = zip(few.names, weights, strict=True)
        rows = pd.concat([groups[name] for name, often in taken if name in groups for _ in range(often)])
        covariances = rows.cov().to_numpy()
        found.append(len(covariances) / (len(covariances) - 1) * (1 - np.trace(covariances) / covariances.sum()))
    seconds = time.perf_counter() - start
    return Took(seconds * many.draws / few.draws, list(np.quantile(found, [0.025, 0.975])))


# A judge


def judged(bench: Bench, ours: bool, latency: float, what: str = "seconds") -> Took:
    """A judge's session, or 50 threads with the openai client that send the same; on the endpoint of the tests."""
    sys.path.insert(0, str(ROOT / "tests"))
    from helpers.endpoint import Endpoint

    folder, bodies = Path(tempfile.mkdtemp(dir=bench.scratch)), bench.scratch / "bodies.json"
    with Endpoint(latency=latency) as endpoint:
        session = ["judge", "run", "--data", "synthetic", "--model", "judge", "--yes", "--concurrency", 50]
        session += ["--base-url", endpoint.address, "--out", folder / "session"]
        ran = program(*([*SENSE7, *session] if ours else [sys.executable, "-c", PEER, endpoint.address, bodies]))
    if ours:
        bodies.write_text(json.dumps([one.body for one in endpoint.asked]), "utf-8")
        (file,) = (folder / "session").glob("*.xlsx")
    scores = pd.read_excel(file, engine="openpyxl")["IS_EMPATHY"] if ours else json.loads(ran.said)
    return Took(getattr(ran, what), [*sorted(one.prompt for one in endpoint.asked), *map(float, scores)])


@measure(NEAR.format(1), CLIENT, ratio=1 / 1.15, pairs=3)
def judge(bench: Bench, ours: bool):
    """A session with a slow endpoint."""
    return judged(bench, ours, 1.0)


@measure(NEAR.format(0.05), CLIENT, ratio=1 / 1.15, pairs=3)
def judge_near(bench: Bench, ours: bool):
    """A session with a quick endpoint."""
    return judged(bench, ours, 0.05)


@measure("judge: peak memory of such a session", most=130, pairs=1, unit="MiB")
def judge_memory(bench: Bench, ours: bool):
    """Peak memory of a session."""
    return judged(bench, ours, 1.0, "mib")


# Results


def require_same(ours: object, theirs: object, tolerance: float) -> None:
    """Refuse different answers; of values by key, those count that both have."""
    if isinstance(ours, dict):
        ours, theirs = ([found[key] for key in sorted(ours.keys() & theirs.keys())] for found in (ours, theirs))
    if ours is not None and ours != theirs:
        np.testing.assert_allclose(ours, theirs, rtol=tolerance, atol=tolerance)


def measured(measure: Measure, bench: Bench) -> dict:
    """Run both sides in turn, each first in turn; of several pairs the first does not count."""
    amounts, several = {"ours": [], "theirs": []}, measure.pairs > 1
    for number in range(measure.pairs + 1 if several else 1):
        answers = {}
        for side in sorted(["ours", "theirs"] if measure.peer else ["ours"], reverse=bool(number % 2)):
            start = time.perf_counter()
            answer = measure.run(bench, side == "ours")
            took = answer if isinstance(answer, Took) else Took(time.perf_counter() - start, answer)
            amounts[side].append(took.amount)
            answers[side] = took.answer
            print(f"  {measure.work}: {side} {took.amount:.4g} {measure.unit}", file=sys.stderr, flush=True)
        if measure.peer:
            require_same(answers["ours"], answers["theirs"], measure.tolerance)
    ours, theirs = (amounts[side][several:] for side in ("ours", "theirs"))
    ratio = statistics.median(b / a for a, b in zip(ours, theirs, strict=True)) if theirs else None
    return {"ours": ours, "theirs": theirs, "ratio": ratio, "steps": answers["ours"] if measure.run is growth else {}}


def made() -> str:
    """The machine, the versions and the commit, on which times depend."""
    models = re.findall("model name\t: (.*)", Path("/proc/cpuinfo").read_text("utf-8")) or ["a processor"]
    commit = program("git", "rev-parse", "--short=12", "HEAD").said.strip()
    versions = f"Python {sys.version.split()[0]}, numpy {np.__version__}, pandas {pd.__version__}"
    return f"{models[0]}, {os.cpu_count()} cores; {versions}; commit {commit}"


def table(*rows: list[str]) -> str:
    """Rows as a table of Markdown, the first as its head."""
    return "\n".join("| " + " | ".join(line) + " |" for line in [rows[0], ["---"] * len(rows[0]), *rows[1:]])


def line(measure: Measure, row: dict) -> list[str]:
    """A row of the page."""
    medians = [statistics.median(row[side]) if row[side] else math.nan for side in ("ours", "theirs")]
    if measure.most:
        goal, met = f"at most {measure.most:g} {measure.unit}", medians[0] <= measure.most
        met &= all(sizes[-1][0] <= 10**1.1 * sizes[-2][0] for sizes in row["steps"].values())
    else:
        at_least = f"{measure.ratio:g} times as fast" if measure.ratio > 1 else "not slower"
        goal = at_least if measure.ratio >= 1 else f"at most {1 / measure.ratio:.3g} times its time"
        met = row["ratio"] >= measure.ratio
    ratio = f"{row['ratio']:,.2f}" if row["ratio"] else ""
    shown = [f"{median:,.3g} {measure.unit}" if median > 0 else "" for median in medians]
    return [measure.work, measure.peer, *shown, ratio, goal, "met" if met else "**missed**"]


def page(rows: dict[str, dict]) -> str:
    """RESULTS.md."""
    known = {key: rows[key] for key in MEASURES if key in rows}
    missing = [measure.work for key, measure in MEASURES.items() if key not in rows]
    head = ["Work", "Peer", "Ours", "Peer's", "Times as fast", "Goal", ""]
    said = __doc__.partition("\n")[0] + " Made by `make bench`, both sides in turn, with equal answers."
    parts = ["# Benchmarks", said, table(head, *(line(MEASURES[key], row) for key, row in known.items()))]
    parts += [f"Not measured yet: {'; '.join(missing)}."] if missing else []
    if steps := known.get("growth", {}).get("steps"):
        head = ["Step", "1 time the data", "10 times", "100 times", "Exponent of its time"]
        shown = [
            [
                step,
                *(f"{took:,.1f} s, {mib:,} MiB" for took, mib in sizes),
                f"{math.log10(sizes[-1][0] / sizes[-2][0]):.2f}",
            ]
            for step, sizes in steps.items()
        ]
        parts += ["Seconds of processors and peak memory; an exponent of 1 is linear growth.", table(head, *shown)]
    places = dict.fromkeys(row["made"] for row in known.values())
    return "\n\n".join([*parts, "Measured on:", *(f"- {place}" for place in places)]) + "\n"


def main() -> None:
    """Measure what was asked for, and keep each row as soon as it is there."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--only", default=",".join(MEASURES), help="some of them, with commas")
    chosen = parser.parse_args().only.split(",")
    if unknown := [name for name in chosen if name not in MEASURES]:
        parser.error(f"no measure {', '.join(unknown)}; there are {', '.join(MEASURES)}")
    with tempfile.TemporaryDirectory(prefix="sense7-bench-") as scratch:
        bench = Bench(Path(scratch))
        for name in chosen:
            row = measured(MEASURES[name], bench) | {"made": made()}
            rows = (json.loads(BENCH.read_text("utf-8")) if BENCH.exists() else {}) | {name: row}
            BENCH.write_text(json.dumps({key: rows[key] for key in MEASURES if key in rows}, indent=1) + "\n", "utf-8")
            RESULTS.write_text(page(rows), "utf-8")
    print(RESULTS.read_text("utf-8"))


if __name__ == "__main__":
    main()
