"""Seconds and kilobytes of this commit beside those of the last release, and of asking a judge beside a plain program.

    make bench                        everything; twenty minutes on a quiet machine
    make bench ONLY=reading,check     some of it; the other rows stay as they are

Both sides run in turn, each in a clone with an environment of its own, and their recorded values are compared. The rows
of a commit are kept in bench.csv, so that growth is seen, and shown in RESULTS.md. Ratios depend on the machine much
less than times do.
"""

import argparse
import asyncio
import contextlib
import csv
import json
import os
import shutil
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
RELEASES = ROOT / "evidence" / "releases.csv"
ROWS = ROOT / "evidence" / "bench.csv"
RESULTS = ROOT / "evidence" / "RESULTS.md"
SCRATCH = ROOT / "_build" / "bench"
WORKBOOK = ROOT / "data" / "synthetic.xlsx"
COLUMNS = ("commit", "date", "work", "unit", "amount", "peer", "amount_of_peer")
SENSE7 = [
    sys.executable,
    "-c",
    "import sys; sys.argv[0] = 'sense7'; from sense7.cli import main; main()",
]
LEFT_OUT = ("SENSE7_", "GITHUB_", "OPENAI_", "PYTEST_", "PYTHON", "VIRTUAL_ENV")
"""Beginnings of variables of the environment that a measured program does not get."""

READING = """
import time
from sense7.workbook.sheets import read_workbook
start = time.perf_counter()
read_workbook("data/synthetic.xlsx")
print(time.perf_counter() - start)
"""
PAGE = "notebooks/03-reliability.html"
"""The page of a finding that is weighed."""


def program(*command: str | Path, folder: Path = ROOT, **variables: str) -> str:
    """Run a program as a user would, and return its output."""
    environment = {}
    for name, value in os.environ.items():
        if not name.startswith(LEFT_OUT):
            environment[name] = value
    environment |= variables
    words = list(map(str, command))
    return subprocess.check_output(words, cwd=folder, env=environment, text=True)  # noqa: S603 - ours


# This commit and the last release


def last_release() -> tuple[str, str]:
    """Version and commit of the last release."""
    with RELEASES.open(encoding="utf-8", newline="") as stream:
        row = list(csv.DictReader(stream))[-1]
    return row["version"], row["commit"]


def clone_of(name: str) -> Path:
    """A new clone of a side, in which nothing was ever built."""
    commit = "HEAD" if name == "ours" else last_release()[1]
    root = SCRATCH / name
    shutil.rmtree(root, ignore_errors=True)
    program("git", "clone", "--quiet", ROOT, root)
    program("git", "checkout", "--quiet", "--detach", commit, folder=root)
    return root


def side(ours: bool) -> Path:
    """The clone of a side with its environment and its book."""
    root = SCRATCH / ("ours" if ours else "release")
    if not (root / "_build/editions/synthetic/manifest.json").exists():
        program("make", "book", folder=clone_of(root.name))
    return root


def timed(root: Path, *command: str | Path, **variables: str) -> float:
    """Seconds of a program."""
    start = time.perf_counter()
    program(*command, folder=root, **variables)
    return time.perf_counter() - start


def clone(ours: bool) -> float:
    """From nothing to the whole book, with nothing downloaded before."""
    shutil.rmtree(SCRATCH / "empty", ignore_errors=True)
    empty = {f"{name}_CACHE_DIR": str(SCRATCH / "empty" / name) for name in ("PIP", "UV")}
    start = time.perf_counter()
    root = clone_of("ours" if ours else "release")
    program("make", "book", folder=root, **empty)
    return time.perf_counter() - start


def cold(ours: bool) -> float:
    """The whole book in a clone with an environment."""
    root = side(ours)
    shutil.rmtree(root / "_build")
    return unchanged(ours, root)


def unchanged(ours: bool, root: Path | None = None) -> float:
    """The book again."""
    root = root or side(ours)
    return timed(root, root / ".venv/bin/sense7", "build", "synthetic", "--quiet")


def reading(ours: bool) -> float:
    """The workbook to validated frames."""
    root = side(ours)
    return float(program(root / ".venv/bin/python", "-c", READING, folder=root))


def check(ours: bool) -> float:
    """The command whole."""
    root = side(ours)
    return timed(root, root / ".venv/bin/sense7", "check", "data/synthetic.xlsx")


def tests(ours: bool) -> float:
    """`make test` whole."""
    return timed(side(ours), "make", "test")


def weight(ours: bool) -> float:
    """Kilobytes of a finding's page on its first visit, packed as a web server packs them."""
    from page_visits import visits_in_turn

    html = side(ours) / "_build/editions/synthetic/html"
    return visits_in_turn({"page": (html, PAGE)}, 1)["page"][0]["kilobytes"]


def values_in(root: Path) -> dict[str, object]:
    """Recorded estimates of a clone's book, by key."""
    values = {}
    for path in (root / "_build/editions/synthetic/results").glob("*.json"):
        for value in json.loads(path.read_text("utf-8")):
            values[value["key"]] = value["estimate"]
    return values


def moved_values() -> list[str]:
    """Keys of values that both books record, and that differ."""
    ours = values_in(SCRATCH / "ours")
    release = values_in(SCRATCH / "release")
    return sorted(key for key in ours.keys() & release.keys() if ours[key] != release[key])


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


def asking(latency: float) -> Callable[[bool], float]:
    """What asks about every conversation once, by our session or plainly; until the last answer is there."""

    def run(ours: bool) -> float:
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
                timeout=120.0,
                retries=5,
            )
            bodies = [plan.questions.body(name) for name in plan.questions.units]
            start = time.perf_counter()
            if ours:
                written = carry_out(plan, say=lambda line: ends.append(time.perf_counter()))
                answered = written.statuses["ok"]
            else:
                answered = len(asyncio.run(ask_plainly(address, bodies)))
                ends.append(time.perf_counter())
        if answered < len(bodies):
            raise ValueError("a question was not answered")
        return ends[-1] - start

    return run


def resume(ours: bool) -> float:
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
    if len(pending) != len(names):
        raise ValueError("a pending question is missing")
    return time.perf_counter() - start


def down(ours: bool) -> float:
    """The command whole, where no server is."""
    folder = SCRATCH / "down"
    command = [*SENSE7, "judge", "run", "--data", WORKBOOK, "--out", folder, "--yes"]
    command += ["--base-url", "http://127.0.0.1:9/v1"]
    words = list(map(str, command))
    start = time.perf_counter()
    done = subprocess.run(words, capture_output=True, text=True, check=False)  # noqa: S603 - ours
    if done.returncode != 1 or "no connection" not in done.stderr:
        raise ValueError(done.stderr)
    return time.perf_counter() - start


# Results


@dataclass(frozen=True)
class Measure:
    """A piece of work: ``run(ours)`` gives the amount of a side; without a peer only ours is measured."""

    work: str
    run: Callable[[bool], float]
    peer: str = "release"
    pairs: int = 5
    unit: str = "s"


MEASURES = {
    "clone": Measure("clean clone to book, nothing cached", clone, pairs=1),
    "cold": Measure("book, cold", cold, pairs=2),
    "unchanged": Measure("book, nothing changed", unchanged),
    "reading": Measure("workbook to validated frames", reading),
    "check": Measure("sense7 check", check),
    "test": Measure("make test", tests, pairs=1),
    "weight": Measure("page of a finding, first visit", weight, pairs=1, unit="KB"),
    "asking_soon": Measure(
        "a judge asked of 672 conversations, answers after 50 ms", asking(0.05), "plain program"
    ),
    "asking_late": Measure("the same, answers after 1 s", asking(1.0), "plain program", pairs=3),
    "resume": Measure("resume of a session with a million answers", resume, ""),
    "down": Measure("a judge whose server is down is said", down, ""),
}


def measured(measure: Measure) -> tuple[str, str]:
    """Median amounts of both sides, run in turn; "" without a peer, and of what failed."""
    amounts = {True: [], False: []}
    sides = [True, False] if measure.peer else [True]
    for number in range(measure.pairs):
        for ours in sides[:: (-1) ** number]:
            try:
                amount = measure.run(ours)
            except subprocess.CalledProcessError as error:  # a release's tests can be red here
                print(f"  {measure.work}: {error}", file=sys.stderr)
                continue
            amounts[ours].append(amount)
            print(f"  {measure.work}: {amount:.4g} {measure.unit}", file=sys.stderr)
    return tuple(f"{statistics.median(side):.3g}" if side else "" for side in amounts.values())


def read_rows() -> list[dict[str, str]]:
    """Rows that were measured, the last commit last."""
    if not ROWS.exists():
        return []
    with ROWS.open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))


def write_rows(rows: list[dict[str, str]]) -> None:
    """Write the rows, and the page of them."""
    with ROWS.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.DictWriter(stream, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    RESULTS.write_text(page(rows), "utf-8")


def table(*rows: list[str]) -> str:
    """Rows as a table of Markdown, the first as its head."""
    rule = ["---"] * len(rows[0])
    return "\n".join(f"| {' | '.join(cells)} |" for cells in (rows[0], rule, *rows[1:]))


def page(rows: list[dict[str, str]]) -> str:
    """RESULTS.md: the last commit beside its peers, and each work over commits."""
    parts = ["# Benchmarks", "Made by `make bench`, both sides in turn; medians."]
    if not rows:
        return "\n\n".join([*parts, "Not measured yet."]) + "\n"
    commit, date = rows[-1]["commit"], rows[-1]["date"]
    lines = []
    for row in rows:
        if row["commit"] != commit:
            continue
        measure = MEASURES[row["work"]]
        cells = [measure.work, f"{row['amount']} {row['unit']}", row["peer"], "", ""]
        if row["amount_of_peer"]:
            ratio = float(row["amount"]) / float(row["amount_of_peer"])
            cells[3:] = [f"{row['amount_of_peer']} {row['unit']}", f"{ratio:.2f}"]
        lines.append(cells)
    parts.append(f"Commit {commit}, {date}:")
    parts.append(table(["Work", "This commit", "Peer", "Peer's", "Ratio"], *lines))
    commits = list(dict.fromkeys(row["commit"] for row in rows))
    if len(commits) > 1:
        growth = []
        for name, measure in MEASURES.items():
            amounts = {row["commit"]: row["amount"] for row in rows if row["work"] == name}
            growth.append([measure.work, *(amounts.get(commit, "") for commit in commits)])
        parts.append("Each commit that was measured:")
        parts.append(table(["Work", *commits], *growth))
    return "\n\n".join(parts) + "\n"


def main() -> None:
    """Measure the chosen works, and keep each row as soon as it is there."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--only", default=",".join(MEASURES), help="some of them, with commas")
    chosen = parser.parse_args().only.split(",")
    unknown = [name for name in chosen if name not in MEASURES]
    if unknown:
        parser.error(f"no measure {', '.join(unknown)}; there are {', '.join(MEASURES)}")
    SCRATCH.mkdir(parents=True, exist_ok=True)
    for name in ("ours", "release"):
        shutil.rmtree(SCRATCH / name, ignore_errors=True)
    commit = program("git", "rev-parse", "--short=12", "HEAD").strip()
    version, _ = last_release()
    for name in chosen:
        measure = MEASURES[name]
        amount, amount_of_peer = measured(measure)
        row = {
            "commit": commit,
            "date": datetime.now(UTC).date().isoformat(),
            "work": name,
            "unit": measure.unit,
            "amount": amount,
            "peer": measure.peer.replace("release", version),
            "amount_of_peer": amount_of_peer,
        }
        others = [row for row in read_rows() if (row["commit"], row["work"]) != (commit, name)]
        write_rows([*others, row])
    print(RESULTS.read_text("utf-8"))
    moved = moved_values()
    if moved:
        print(f"Values that differ from {version}: {', '.join(moved)}")


if __name__ == "__main__":
    main()
