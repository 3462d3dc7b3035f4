"""Each piece of work beside what one would use otherwise: median seconds of both sides, their ratio, and the goal.

    make bench                        everything; hours, most of them for the data of 100 studies
    make bench ONLY=reading,check     some of it; the other rows stay as they are

Both sides run in turn, and have to give the same answer. Whole books are compared with that of commit 5c01ecd, the last
one before the book was halved, as plain Jupyter Book builds it. The result is kept in bench.json and shown in
RESULTS.md. Ratios depend on the machine much less than times do.
"""

import argparse
import asyncio
import contextlib
import csv
import json
import math
import os
import re
import shutil
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

ROOT = Path(__file__).resolve().parents[1]
BENCH = ROOT / "evidence" / "bench.json"
RESULTS = ROOT / "evidence" / "RESULTS.md"
SCRATCH = ROOT / "_build" / "bench"
BEFORE = "5c01ecd"
WORKBOOK = ROOT / "data" / "synthetic.xlsx"
SENSE7 = [
    sys.executable,
    "-c",
    "import sys; sys.argv[0] = 'sense7'; from sense7.cli import main; main()",
]
FIXED = {
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "PYTHONHASHSEED": "0",
}
MOVED = re.compile(
    "^(baseline|bias|calibration|ceiling|compared|elsewhere_count|judge|median|multiverse)_"
)
"""Keys of which some moved since BEFORE: of texts and the simulated judge, which are others, and of rules."""

METER = """
import json, resource, subprocess, sys, time
start = time.perf_counter()
done = subprocess.run(sys.argv[1:], stdout=subprocess.PIPE, text=True, check=True)
seconds, used = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
print(json.dumps([seconds, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024, done.stdout]))
"""
PREPARE = """
import json, pathlib, sys
sys.path.insert(0, "evidence/benchmarks")
from book import prepare_for_jupyter_book as prepare
print(json.dumps([str(part) for part in prepare(pathlib.Path.cwd(), pathlib.Path(sys.argv[1]))]))
"""
"""Runs at BEFORE, by what lies there."""

PLAIN = f"jupyter-book build with execution, of {BEFORE}"
SAME = f"the same edit and command, of {BEFORE}"


class Took(NamedTuple):
    """What is measured of work of which not all is counted, or not its seconds; and the answer."""

    amount: float
    answer: object = None


class Ran(NamedTuple):
    """A program that has ended: its seconds, those of processors, its peak memory in MiB, and what it printed."""

    seconds: float
    processor: float
    mib: float
    said: str


def program(*command: str | Path, folder: Path = ROOT, **variables: str) -> Ran:
    """Run a program as a user would."""
    left_out = (
        "SENSE7_",
        "GITHUB_",
        "OPENAI_",
        "PYTEST_",
        "PYTHONDONTWRITEBYTECODE",
        "VIRTUAL_ENV",
    )
    environment = {}
    for key, value in os.environ.items():
        if not key.startswith(left_out):
            environment[key] = value
    environment.update(FIXED, SENSE7_ROOT=str(folder), **variables)
    meter = [sys.executable, "-c", METER, *map(str, command)]
    return Ran(*json.loads(subprocess.check_output(meter, cwd=folder, env=environment, text=True)))  # noqa: S603 - ours


# Books


def clone(name: str, commit: str) -> Path:
    """A new clone, in which nothing was ever built."""
    root = SCRATCH / name
    shutil.rmtree(root, ignore_errors=True)
    program("git", "clone", "--quiet", ROOT, root)
    program("git", "checkout", "--quiet", "--detach", commit, folder=root)
    return root


def build(root: Path) -> Path:
    """A clone after `make book`, with nothing downloaded before."""
    shutil.rmtree(SCRATCH / "empty", ignore_errors=True)
    empty = {f"{name}_CACHE_DIR": str(SCRATCH / "empty" / name) for name in ("PIP", "UV")}
    program("make", "book", folder=root, **empty)
    return root


def install_before(name: str) -> Path:
    """A new clone of BEFORE with an environment by pip."""
    root = clone(name, BEFORE)
    pip = [root / ".venv/bin/python", "-m", "pip", "install", "--quiet", "--no-cache-dir"]
    program(sys.executable, "-m", "venv", root / ".venv", folder=root)
    program(*pip, "--require-hashes", "-r", "requirements.lock", folder=root)
    program(*pip, "--no-deps", "--no-build-isolation", "-e", ".", folder=root)
    return root


@cache
def now() -> Path:
    """A clone of the last commit with its book."""
    return build(clone("now", "HEAD"))


@cache
def before() -> Path:
    """A clone of BEFORE with its environment."""
    return install_before("before")


def jupyter_book(root: Path) -> Took:
    """The pages and notebooks of BEFORE by `jupyter-book build`, which executes them, in a clone's environment."""
    stage = SCRATCH / "stage"
    programs = root / ".venv/bin"
    shutil.rmtree(stage, ignore_errors=True)
    # Not counted: the stage is made from it.
    program(programs / "sense7", "build", "synthetic", folder=root)
    command = json.loads(program(programs / "python", "-c", PREPARE, stage, folder=root).said)
    variables = {"PATH": f"{programs}:{os.environ['PATH']}", "PYTHONWARNINGS": "ignore"}
    ran = program(programs / "python", *command, folder=root, **variables)
    return Took(ran.seconds, values_in(stage / "_build" / "interactive"))


def values_in(edition: Path) -> dict[str, list[float]]:
    """Recorded numbers: key -> estimate, low, high, n."""
    values = {}
    for path in (edition / "results").glob("*.json"):
        for value in json.loads(path.read_text("utf-8")):
            key = value["key"]
            if not isinstance(value["estimate"], int | float) or MOVED.search(key):
                continue
            numbers = [value[name] for name in ("estimate", "low", "high", "n")]
            values[key] = [math.nan if number is None else number for number in numbers]
    return values


def clean(ours: bool):
    """From nothing to the whole book; otherwise by pip and Jupyter Book alone."""
    if ours:
        return values_in(build(clone("fresh", "HEAD")) / "_build/editions/synthetic")
    start = time.perf_counter()
    root = install_before("fresh before")
    installing = time.perf_counter() - start
    seconds, values = jupyter_book(root)
    return Took(installing + seconds, values)


def cold(ours: bool):
    """The whole book in a clone with an environment."""
    if not ours:
        return jupyter_book(before())
    shutil.rmtree(now() / "_build", ignore_errors=True)
    return values_in(build(now()) / "_build/editions/synthetic")


def unchanged(ours: bool) -> None:
    """The book again."""
    build(now())


def edit(ours: bool, last: str, new: str) -> Took:
    """The book after a notebook was edited in one place, with another number each time."""
    root = now() if ours else before()
    path = root / "notebooks" / "05-importance.md"
    above, _, below = path.read_text("utf-8").rpartition(last)
    path.write_text(f"{above}{last}{new.format(time.monotonic_ns())}{below}", "utf-8")
    return Took(program(root / ".venv/bin/sense7", "build", "synthetic", folder=root).seconds)


def code(ours: bool) -> Took:
    """An edit that executes the notebook."""
    return edit(ours, "import sense7 as s7\n", "\nassert {} > 0\n")


def prose(ours: bool) -> Took:
    """An edit that executes nothing."""
    return edit(ours, "\n", "\nA line, edited at {}.\n")


# Reading, and growth


def reading(ours: bool):
    """The workbook to validated frames; its two sheets by pandas."""
    from sense7.workbook import read_workbook

    if ours:
        study = read_workbook(WORKBOOK)
        return [*study.conversations["conversation"], *study.messages["content"].fillna("")]
    sheets = pd.read_excel(WORKBOOK, sheet_name=["Tasks", "Messages"], engine="openpyxl")
    return [*sheets["Tasks"]["TaskId"].astype(str), *sheets["Messages"]["Content"].fillna("")]


def check(ours: bool) -> None:
    """The command whole."""
    command = [sys.executable, "-c", "import pandas"]
    if ours:
        command = [*SENSE7, "check", WORKBOOK]
    program(*command)


def growth(ours: bool) -> Took:
    """Largest peak memory at 100 times the data; and of each step, at each size, seconds of processors and MiB."""
    from sense7.simulate import Parameters, simulate

    steps = {}
    for times in (1, 10, 100):
        data = SCRATCH / f"{times} data"
        out = SCRATCH / f"{times} out"
        data.mkdir(parents=True)
        out.mkdir()
        parameters = Parameters(participants=109 * times, conversations=672 * times)
        for name, sheet in simulate(parameters, 1).sheets.items():
            with (data / f"{name}.csv").open("w", newline="", encoding="utf-8") as stream:
                csv.writer(stream).writerows([sheet.header, *sheet.rows])
        work = {"check": ["check", data]}
        for path in sorted((ROOT / "notebooks").glob("*.md")):
            if 'data = "synthetic"' in path.read_text("utf-8"):
                executed = out / f"{path.stem}.ipynb"
                work[path.stem] = ["run", path.stem, "-p", f"data={data}", "--out", executed]
        for step, command in work.items():
            ran = program(*SENSE7, *command)
            steps.setdefault(step, []).append([round(ran.processor, 2), round(ran.mib)])
    return Took(max(sizes[-1][1] for sizes in steps.values()), steps)


# Pages

READ = {
    "front": ("front page", "book/index.html"),
    "finding": ("page of a finding", "notebooks/03-reliability.html"),
    "explorer": ("explorer", "book/explorer.html"),
}
"""Key of a page -> what it is called, and its file."""
STOCK = "a page of jupyter-book create"
PAIRS = 5


@cache
def visits() -> dict[str, list[dict]]:
    """Key of a page -> what each visit saw, those of a stock book among them."""
    from page_visits import stock_pages, visits_in_turn

    program(Path(sys.executable).with_name("sense7"), "build", "synthetic")
    ours = ROOT / "_build" / "editions" / "synthetic" / "html"
    pages = {key: (ours, file) for key, (_, file) in READ.items()}
    pages[STOCK] = (stock_pages(SCRATCH / "stock"), "markdown.html")
    return visits_in_turn(pages, PAIRS + 1)


def seen_of_page(key: str, quantity: str) -> Callable[[bool], Took]:
    """What gives a quantity of each visit of a page, or of the stock page, one after the other."""
    visited = {True: key, False: STOCK}
    number = {True: 0, False: 0}

    def run(ours: bool) -> Took:
        seen = visits()[visited[ours]][number[ours]]
        number[ours] += 1
        return Took(seen[quantity])

    return run


def page_measures() -> dict[str, "Measure"]:
    """Weight and paint of pages on a phone: slow 4G, a processor four times slower."""
    measures = {}
    for key, (name, _) in READ.items():
        for quantity, words, most, unit in (
            ("kilobytes", "weight on a phone", 1 / 4, "KB"),
            ("requests", "requests", 1, ""),
            ("paint", "largest paint, slow 4G", 1, "s"),
            ("blocking", "blocking, processor 4 times slower", 1, "ms"),
        ):
            measures[f"{key}_{quantity}"] = Measure(
                f"{name}: {words}", STOCK, most, seen_of_page(key, quantity), PAIRS, unit
            )
        measures[f"{key}_shift"] = Measure(
            f"{name}: layout shift", "", 0.01, seen_of_page(key, "shift"), PAIRS, ""
        )
    return measures


# A judge

AT_ONCE = 50
"""Requests at once, ours and those of the plain program."""

ENDPOINT = """
import sys, time
sys.path.insert(0, "tests")
from helpers.endpoint import Endpoint
with Endpoint(latency=float(sys.argv[1])) as endpoint:
    print(endpoint.address, flush=True)
    sys.stdin.read()
"""
"""A loopback endpoint in a process of its own."""


@contextlib.contextmanager
def answering(latency: float) -> Iterator[str]:
    """The address of an endpoint that answers after so many seconds."""
    command = [sys.executable, "-c", ENDPOINT, str(latency)]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen(command, cwd=ROOT, text=True, **pipes) as process:  # noqa: S603 - ours
        yield process.stdout.readline().strip()
        process.stdin.close()


async def ask_plainly(address: str, bodies: list[dict]) -> list[str]:
    """The program that one would write with the client alone: as many tasks as requests at once."""
    import openai

    waiting = iter(bodies)
    texts = []
    async with openai.AsyncOpenAI(base_url=address, api_key="none") as client:

        async def work() -> None:
            for body in waiting:
                completion = await client.chat.completions.create(**body)
                texts.append(completion.choices[0].message.content)

        await asyncio.gather(*(work() for _ in range(AT_ONCE)))
    return texts


def asking(latency: float) -> Callable[[bool], Took]:
    """What asks about every conversation once, by our session or plainly; until the last answer is there."""

    def run(ours: bool) -> Took:
        from sense7.judge.asking.ask import Endpoint
        from sense7.judge.asking.session import carry_out, plan_session
        from sense7.loading import load

        shutil.rmtree(SCRATCH / "judged", ignore_errors=True)
        ends = []
        with answering(latency) as address:
            plan = plan_session(
                load("synthetic"),
                endpoint=Endpoint.of(address),
                folder=SCRATCH / "judged",
                prompt=None,
                model="judge",
                concurrency=AT_ONCE,
            )
            bodies = [plan.questions.body(name) for name in plan.questions.units]
            start = time.perf_counter()
            if ours:
                carry_out(plan, progress=lambda tally: ends.append(time.perf_counter()))
            else:
                ends = [time.perf_counter() for _ in asyncio.run(ask_plainly(address, bodies))]
        return Took(ends[-1] - start, len(ends))

    return run


def resume(ours: bool) -> Took:
    """What is pending of a session with a million answers: one run of a thousand."""
    from sense7.judge.asking.ask import Answer
    from sense7.judge.asking.journal import Journal

    folder = SCRATCH / "million"
    question = {"model": "judge"}
    names = [f"C{number}" for number in range(1000)]
    content = json.dumps({"choices": [{"message": {"content": "<S2>4</S2>"}}], "id": "x" * 200})
    if not folder.exists():
        with Journal.open(folder, question, to_write=True) as journal:
            for run in range(1, 1001):
                journal.waiting += [Answer(name, run, content) for name in names]
                journal.write()
    start = time.perf_counter()
    with Journal.open(folder, question, to_write=True) as journal:
        pending = journal.pending(names, 1001)
    return Took(time.perf_counter() - start, len(pending))


def down(ours: bool) -> None:
    """The command whole, where no server is."""
    folder = SCRATCH / "down"
    command = [*SENSE7, "judge", "run", "--data", WORKBOOK, "--out", folder, "--yes"]
    command += ["--base-url", "http://127.0.0.1:9/v1"]
    words = list(map(str, command))
    done = subprocess.run(words, capture_output=True, text=True, check=False)  # noqa: S603 - ours
    if done.returncode != 1 or "no connection" not in done.stderr:
        raise ValueError(done.stderr)


# Results


class Measure(NamedTuple):
    """A piece of work: ``run(ours)`` gives the answer of a side, or `Took`.

    The goal is at most ``most``: times what the peer takes, or in ``unit`` where there is no peer.
    """

    work: str
    peer: str
    most: float
    run: Callable
    pairs: int = 5
    unit: str = "s"


MEASURES = {
    "clean": Measure(
        "clean clone to book, nothing cached",
        f"clone, pip install and {PLAIN}",
        1 / 4,
        clean,
        pairs=1,
    ),
    "cold": Measure("book, cold", PLAIN, 1 / 4, cold, pairs=2),
    "unchanged": Measure("book, nothing changed", "", 1, unchanged),
    "code": Measure("book, a finding's code cell edited", SAME, 1, code),
    "prose": Measure("book, prose edited", SAME, 1, prose),
    "reading": Measure(
        "workbook to validated frames", "pandas with openpyxl, two sheets", 1 / 4, reading
    ),
    "check": Measure("sense7 check", "import pandas", 1.3, check),
    "asking_soon": Measure(
        "a judge asked of 672 conversations, answers after 50 ms",
        f"a plain program of the openai client, {AT_ONCE} tasks",
        1.1,
        asking(0.05),
    ),
    "asking_late": Measure(
        "the same, answers after 1 s",
        f"a plain program of the openai client, {AT_ONCE} tasks",
        1.1,
        asking(1.0),
        pairs=3,
    ),
    "resume": Measure("resume of a session with a million answers", "", 1.5, resume),
    "down": Measure("a judge whose server is down is said", "", 5, down),
    "growth": Measure(
        "100 times the data: peak memory of any step", "", 2048, growth, pairs=1, unit="MiB"
    ),
}
MEASURES |= page_measures()


def measured(measure: Measure) -> dict:
    """Run both sides in turn, each first in turn; of several pairs the first does not count."""
    amounts = {"ours": [], "theirs": []}
    uncounted = 1 if measure.pairs > 1 else 0
    for number in range(measure.pairs + uncounted):
        answers = {}
        for side in sorted(amounts if measure.peer else ["ours"], reverse=bool(number % 2)):
            start = time.perf_counter()
            answer = measure.run(side == "ours")
            took = answer if isinstance(answer, Took) else Took(time.perf_counter() - start, answer)
            amounts[side].append(took.amount)
            answers[side] = took.answer
            print(
                f"  {measure.work}: {side} {took.amount:.4g} {measure.unit}",
                file=sys.stderr,
                flush=True,
            )
        if measure.peer:
            require_same(*answers.values())
    row = {side: counted[uncounted:] for side, counted in amounts.items()}
    row["steps"] = answers["ours"] if measure.run is growth else {}
    row["made"] = made()
    return row


def require_same(ours: object, theirs: object) -> None:
    """Refuse different answers; of values by key, those count that both have."""
    if isinstance(ours, dict):
        keys = sorted(ours.keys() & theirs.keys())
        our_values = [ours[key] for key in keys]
        their_values = [theirs[key] for key in keys]
        np.testing.assert_allclose(our_values, their_values, rtol=1e-9, atol=1e-9)
    elif ours != theirs:
        raise ValueError("the two sides give different answers")


def made() -> str:
    """The machine, the versions and the commit, on which times depend."""
    models = re.findall("model name\t: (.*)", Path("/proc/cpuinfo").read_text("utf-8")) or [
        "a processor"
    ]
    commit = program("git", "rev-parse", "--short=12", "HEAD").said.strip()
    versions = f"Python {sys.version.split()[0]}, numpy {np.__version__}, pandas {pd.__version__}"
    return f"{models[0]}, {os.cpu_count()} cores; {versions}; commit {commit}"


def table(*rows: list[str]) -> str:
    """Rows as a table of Markdown, the first as its head."""
    rule = ["---"] * len(rows[0])
    return "\n".join(f"| {' | '.join(cells)} |" for cells in (rows[0], rule, *rows[1:]))


def line(measure: Measure, row: dict) -> list[str]:
    """A row of the page."""
    ours = statistics.median(row["ours"])
    cells = [measure.work, measure.peer, f"{ours:,.3g} {measure.unit}"]
    if measure.peer:
        value = statistics.median(a / b for a, b in zip(row["ours"], row["theirs"], strict=True))
        cells.append(f"{statistics.median(row['theirs']):,.3g} {measure.unit}")
        cells += [f"{value:.3g}", f"at most {measure.most:g} times the peer's"]
    else:
        value = ours
        cells += ["", "", f"at most {measure.most:g} {measure.unit}"]
    linear = all(sizes[-1][0] <= 10**1.1 * sizes[-2][0] for sizes in row["steps"].values())
    cells.append("met" if value <= measure.most and linear else "**missed**")
    return cells


def page(rows: dict[str, dict]) -> str:
    """RESULTS.md."""
    summary = __doc__.partition("\n")[0]
    head = ["Work", "Peer", "Ours", "Peer's", "Ratio", "Goal", ""]
    lines = []
    missing = []
    machines = {}
    for key, measure in MEASURES.items():
        if key not in rows:
            missing.append(measure.work)
            continue
        lines.append(line(measure, rows[key]))
        machines[rows[key]["made"]] = None
    parts = [
        "# Benchmarks",
        f"{summary} Made by `make bench`, both sides in turn, with equal answers.",
        table(head, *lines),
    ]
    if missing:
        parts.append(f"Not measured yet: {'; '.join(missing)}.")
    steps = rows.get("growth", {}).get("steps")
    if steps:
        parts.append("Seconds of processors and peak memory; an exponent of 1 is linear growth.")
        growth_rows = [["Step", "1 time the data", "10 times", "100 times", "Exponent of its time"]]
        for step, sizes in steps.items():
            amounts = [f"{seconds:,.1f} s, {mib:,} MiB" for seconds, mib in sizes]
            exponent = math.log10(sizes[-1][0] / sizes[-2][0])
            growth_rows.append([step, *amounts, f"{exponent:.2f}"])
        parts.append(table(*growth_rows))
    parts.append("Measured on:")
    parts += [f"- {machine}" for machine in machines]
    return "\n\n".join(parts) + "\n"


def main() -> None:
    """Measure what was asked for, and keep each row as soon as it is there."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--only", default=",".join(MEASURES), help="some of them, with commas")
    chosen = parser.parse_args().only.split(",")
    unknown = [name for name in chosen if name not in MEASURES]
    if unknown:
        parser.error(f"no measure {', '.join(unknown)}; there are {', '.join(MEASURES)}")
    shutil.rmtree(SCRATCH, ignore_errors=True)
    SCRATCH.mkdir(parents=True)
    for name in chosen:
        row = measured(MEASURES[name])
        rows = {}
        if BENCH.exists():
            rows = json.loads(BENCH.read_text("utf-8"))
        rows[name] = row
        rows = {key: rows[key] for key in MEASURES if key in rows}
        BENCH.write_text(json.dumps(rows, indent=1) + "\n", "utf-8")
        RESULTS.write_text(page(rows), "utf-8")
    print(RESULTS.read_text("utf-8"))


if __name__ == "__main__":
    main()
