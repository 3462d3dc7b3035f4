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
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial
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


@dataclass(frozen=True)
class Measure:
    """A piece of work, its peer, and both sides, each of which returns its seconds and its answer.

    The goal is that ``theirs`` takes ``ratio`` times as long, or that ``ours`` is at most ``most``.
    """

    work: str
    peer: str
    ours: Callable
    theirs: Callable | None = None
    ratio: float | None = None
    most: float | None = None
    pairs: int = 5
    tolerance: float = 1e-9
    unit: str = "s"


class Ran(NamedTuple):
    """A program that has ended: its seconds, those of processors, its peak memory in MiB, and what it printed."""

    seconds: float
    processor: float
    mib: float
    said: str


def program(*command: str | Path, folder: Path = ROOT, **variables: str) -> Ran:
    """Run a program as a user would; what it said is the error if it fails."""
    left_out = ("SENSE7_", "GITHUB_", "OPENAI_", "PYTEST_", "PYTHONDONTWRITEBYTECODE", "VIRTUAL_ENV")
    kept = {key: value for key, value in os.environ.items() if not key.startswith(left_out)}
    environment = kept | FIXED | {"SENSE7_ROOT": str(folder)} | variables
    meter = [sys.executable, "-c", METER, *map(str, command)]
    said = subprocess.check_output(meter, cwd=folder, env=environment, text=True)  # noqa: S603 - commands of our own
    code, *measured = json.loads(said)
    if code:
        raise RuntimeError(f"{' '.join(map(str, command))}: ended with {code}\n{measured[-1]}")
    return Ran(*measured)


def timed(work: Callable) -> tuple[float, object]:
    """Seconds of one run, and what it gives."""
    start = time.perf_counter()
    answer = work()
    return time.perf_counter() - start, answer


class Bench:
    """What the measures share: a scratch folder, the study, two clones with their books.

    Of a ``tiny`` run, which only sees that everything works, no book is built: make says what it would do.
    """

    def __init__(self, scratch: Path, tiny: bool = False):
        self.scratch, self.tiny = scratch, tiny
        self.now = self.before = None

    @cached_property
    def study(self):
        """The embedded study."""
        from sense7 import load

        return load("synthetic")

    def make(self, root: Path, *verbs: str) -> float:
        """Seconds of make, with nothing downloaded before."""
        shutil.rmtree(self.scratch / "empty", ignore_errors=True)
        empty = {f"{name}_CACHE_DIR": str(self.scratch / "empty" / name) for name in ("PIP", "UV")}
        return program("make", *["--dry-run"][: self.tiny], *verbs, folder=root, **empty).seconds

    def long(self, *command: str | Path, **options) -> Ran:
        """A program that a tiny run leaves out."""
        return Ran(1.0, 1.0, 1.0, "[]") if self.tiny else program(*command, **options)

    def clone(self, name: str, commit: str) -> Path:
        """A new clone, in which nothing was ever built."""
        root = self.scratch / name
        shutil.rmtree(root, ignore_errors=True)
        program("git", "clone", "--quiet", ROOT, root)
        program("git", "checkout", "--quiet", "--detach", commit, folder=root)
        return root

    def book(self, name: str) -> Path:
        """A clone of the last commit, or of BEFORE, with its book."""
        if getattr(self, name) is None:
            setattr(self, name, self.clone(name, "HEAD" if name == "now" else BEFORE))
            self.make(getattr(self, name), "book")
        return getattr(self, name)


def values_in(results: Path) -> dict[str, list[float]]:
    """Recorded numbers: key -> estimate, low, high, n."""
    return {
        value["key"]: [math.nan if value[name] is None else value[name] for name in ("estimate", "low", "high", "n")]
        for path in results.glob("*.json")
        for value in json.loads(path.read_text("utf-8"))
        if isinstance(value["estimate"], int | float) and not MOVED.search(value["key"])
    }


# --- books -----------------------------------------------------------------------------


def built(bench: Bench, root: Path) -> tuple[float, dict]:
    """Build the book of a clone."""
    return bench.make(root, "book"), values_in(root / "_build" / "editions" / "synthetic" / "results")


def from_nothing(bench: Bench) -> tuple[float, dict]:
    """From a clone to the whole book."""
    cloning, root = timed(partial(bench.clone, "fresh", "HEAD"))
    building, values = built(bench, root)
    return cloning + building, values


def cold(bench: Bench) -> tuple[float, dict]:
    """The whole book, nothing cached."""
    shutil.rmtree(bench.book("now") / "_build", ignore_errors=True)
    return built(bench, bench.now)


def edited(bench: Bench, side: str, old: str, new: str) -> tuple[float, dict]:
    """The book after a notebook was edited in one place."""
    path = bench.book(side) / "notebooks" / "02-ratings.md"
    before, _, after = path.read_text("utf-8").partition(old)
    path.write_text(f"{before}{old}{new.format(time.monotonic_ns())}{after}", "utf-8")
    return built(bench, bench.book(side))


def jupyter_book(bench: Bench, environment: Path | None = None) -> tuple[float, dict]:
    """The pages and notebooks of BEFORE by `jupyter-book build`, which executes them."""
    root, stage = bench.book("before"), bench.scratch / "stage"
    programs = (environment or root / ".venv") / "bin"
    shutil.rmtree(stage, ignore_errors=True)
    command = json.loads(bench.long(root / ".venv/bin/python", "-c", PREPARE, stage, folder=root).said)
    variables = {"PATH": f"{programs}:{os.environ['PATH']}", "PYTHONWARNINGS": "ignore"}
    seconds = bench.long(programs / "python", *command, folder=root, **variables).seconds
    return seconds, values_in(stage / "_build" / "interactive" / "results")


def from_nothing_otherwise(bench: Bench) -> tuple[float, dict]:
    """From a clone of BEFORE to its book, by pip and Jupyter Book alone."""
    cloning, root = timed(partial(bench.clone, "fresh before", BEFORE))
    pip = [root / ".venv/bin/python", "-m", "pip", "install", "--quiet", "--no-cache-dir"]
    steps = [[sys.executable, "-m", "venv", root / ".venv"], [*pip, "--require-hashes", "-r", "requirements.lock"]]
    steps += [[*pip, "--no-deps", "--no-build-isolation", "-e", "."]]
    installing = sum(bench.long(*step, folder=root).seconds for step in steps)
    seconds, values = jupyter_book(bench, root / ".venv")
    return cloning + installing + seconds, values


def make_test(bench: Bench) -> tuple[float, None]:
    """`make test` in a clone with an environment and a book."""
    bench.make(bench.book("now"), "judge", "browser")
    return bench.make(bench.now, "test"), None


# --- reading and growth ----------------------------------------------------------------


def frames(bench: Bench) -> tuple[float, list]:
    """The workbook to validated frames."""
    from sense7.workbook import read_workbook

    seconds, study = timed(partial(read_workbook, WORKBOOK))
    return seconds, [*study.conversations["conversation"], *study.messages["content"].fillna("")]


def sheets(bench: Bench) -> tuple[float, list]:
    """Its two sheets by pandas."""
    seconds, found = timed(partial(pd.read_excel, WORKBOOK, sheet_name=["Tasks", "Messages"], engine="openpyxl"))
    return seconds, [*found["Tasks"]["TaskId"].astype(str), *found["Messages"]["Content"].fillna("")]


def growth(bench: Bench) -> tuple[float, dict]:
    """Largest peak memory at 100 times the data; and of each step, at each size, seconds of processors and MiB."""
    from sense7.simulate import Parameters, simulate

    steps, one = {}, (9, 30) if bench.tiny else (109, 672)
    for times in (1, 2) if bench.tiny else (1, 10, 100):
        data, parts, out = (bench.scratch / f"{times} {name}" for name in ("data", "parts", "out"))
        data.mkdir()
        out.mkdir()
        parameters = Parameters(participants=one[0] * times, conversations=one[1] * times)
        for name, sheet in simulate(parameters, 1).sheets.items():
            with (data / f"{name}.csv").open("w", newline="", encoding="utf-8") as stream:
                csv.writer(stream).writerows([sheet.header, *sheet.rows])
        work = {"check": ["check", data], "partition": ["partition", data, parts, "--parts", 4, "--format", "csv"]}
        work["statistics"] = ["statistics", parts, "--out", out / "statistics.csv"]
        for path in sorted((ROOT / "notebooks").glob("*.md")):
            if 'data = "synthetic"' in path.read_text("utf-8") and not bench.tiny:
                work[path.stem] = ["run", path.stem, "--data", data, "--out", out / f"{path.stem}.ipynb"]
        for step, command in list(work.items())[: 1 if bench.tiny else None]:
            ran = program(*SENSE7, *command)
            steps.setdefault(step, []).append([round(ran.processor, 2), round(ran.mib)])
    return max(sizes[-1][1] for sizes in steps.values()), steps


# --- statistics: intervals from sums per participant, and from copied rows ------------------


def draws_of(bench: Bench, draws: int):
    """Resamples of participants."""
    from sense7.estimators.bootstrap import ParticipantBootstrap

    return ParticipantBootstrap(bench.study.conversations["participant"], draws=draws, seed=1)


def copied(bench: Bench, draws: int, table: pd.DataFrame, statistic: Callable) -> list[float]:
    """Limits of a statistic from the rows of each resample's participants; a participant taken twice has two names."""
    groups, found, bootstrap = dict(list(table.groupby(level=0))), [], draws_of(bench, draws)
    for weights in bootstrap.weights().astype(int):
        taken = [(name, copy) for name, often in zip(bootstrap.names, weights, strict=True) for copy in range(often)]
        rows = [groups[name].assign(who=f"{name} {copy}") for name, copy in taken if name in groups]
        found.append(statistic(pd.concat(rows, ignore_index=True)))
    return list(np.quantile(found, [0.025, 0.975], axis=0).ravel())


def alpha(bench: Bench, draws: int, plain: bool) -> list[float]:
    """Limits of Cronbach's alpha of turns."""
    from sense7.estimators.alpha import alpha_row
    from sense7.findings.measures import turn_ratings

    def by_hand(rows: pd.DataFrame) -> float:
        covariances = rows.drop(columns="who").cov().to_numpy()
        return len(covariances) / (len(covariances) - 1) * (1 - np.trace(covariances) / covariances.sum())

    ratings = turn_ratings(bench.study)
    if plain:
        return copied(bench, draws, ratings, by_hand)
    row = alpha_row(ratings, draws_of(bench, draws), interval="percentile")
    return [row["low"], row["high"]]


def kappa(bench: Bench, draws: int, plain: bool) -> list[float]:
    """Limits of linearly weighted kappa of Affective with the overall rating."""
    from sklearn.metrics import cohen_kappa_score

    from sense7 import cohens_kappa

    both = bench.study.turns.set_index("participant")[["Affective", "overall"]].dropna().astype(int)
    if plain:
        linear = partial(cohen_kappa_score, weights="linear")
        return copied(bench, draws, both, lambda rows: linear(rows["Affective"], rows["overall"]))
    counts = np.zeros((len(both), 5, 5))
    counts[np.arange(len(both)), both["Affective"] - 1, both["overall"] - 1] = 1
    return list(draws_of(bench, draws).estimate(cohens_kappa, counts, pd.Series(both.index))[1:3])


def conversations(bench: Bench) -> pd.DataFrame:
    """Rated conversations by participant, with a score that is one level off every so often."""
    from sense7.findings.measures import conversation_ratings

    frame = conversation_ratings(bench.study).reset_index().set_index("participant")
    frame = frame[["condition", "conversation", "ground_truth"]].dropna().round(9)  # equal means are equal ranks
    noise = np.random.default_rng(1).normal(scale=0.7, size=len(frame))
    return frame.assign(score=(frame["ground_truth"] + noise).round().clip(1, 5))


def spearman(bench: Bench, draws: int, plain: bool) -> list[float]:
    """Limits of Spearman's correlation of a score with the ground truth."""
    from scipy.stats import spearmanr

    from sense7.estimators.ranks import spearman_in_draws

    frame = conversations(bench)
    if plain:
        return copied(bench, draws, frame, lambda rows: spearmanr(rows["ground_truth"], rows["score"]).statistic)
    bootstrap, pair = draws_of(bench, draws), [frame[name].to_numpy() for name in ("ground_truth", "score")]
    codes = bootstrap.names.get_indexer(frame.index)
    found = bootstrap.in_every_draw(lambda weights: spearman_in_draws(*pair, weights, codes))
    return list(bootstrap.interval(found, pd.Series(frame.index))[:2])


def mixed(bench: Bench, draws: int, plain: bool) -> list[float]:
    """Variances of participants, participants by condition and conversations, in the data; fitted in each resample."""
    import statsmodels.formula.api as smf

    from sense7.estimators.mixed import fit_nested, nested_sums

    def by_statsmodels(rows: pd.DataFrame) -> list[float]:
        options = {"groups": rows["who"], "re_formula": "1", "vc_formula": {"c": "0 + C(condition)"}}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of its optimizer, where a variance is nearly zero
            fit = smf.mixedlm("ground_truth ~ 0 + condition", rows, **options).fit(reml=True, method="lbfgs")
        return [fit.cov_re.iloc[0, 0], *fit.vcomp, fit.scale]

    frame = conversations(bench)
    rows = frame.assign(who=frame.index).reset_index(drop=True)
    if plain:
        copied(bench, draws, frame, by_statsmodels)
        return by_statsmodels(rows)
    design, units = pd.get_dummies(rows["condition"]).to_numpy(float), ("who", "condition", "conversation")
    sums = nested_sums(rows["ground_truth"].to_numpy(), design, *(rows[name] for name in units))
    fit, bootstrap = fit_nested(sums), draws_of(bench, draws)
    weights = bootstrap.weights()[:, bootstrap.names.get_indexer(sums.participants)]
    fit_nested(sums, weights, fit.variances[:3] / fit.variances[3])
    return list(fit.variances[[0, 1, 3]])


def statistic(name: str, function: Callable, draws: int, few: int, **options) -> Measure:
    """A statistic in so many resamples; the peer does few of them, whose cost is the same for each."""

    def side(bench: Bench, plain: bool) -> tuple[float, list]:
        few_here, whole = (2, 20) if bench.tiny else (few, draws)
        seconds, answer = timed(partial(function, bench, few_here if plain else whole, plain))
        return (seconds * whole / few_here, answer) if plain else (seconds, function(bench, few_here, plain))

    peer = f"copied rows of data frames ({few} resamples timed, and multiplied)"
    sides = partial(side, plain=False), partial(side, plain=True)
    return Measure(f"{name}, {draws:,} resamples of participants", peer, *sides, 100, pairs=3, **options)


# --- judge -----------------------------------------------------------------------------


def judged(bench: Bench, latency: float, ours: bool = True, what: str = "seconds") -> tuple[float, list]:
    """A judge's session, or 50 threads with the openai client that send the same; on the endpoint of the tests."""
    sys.path.insert(0, str(ROOT / "tests"))
    from helpers.endpoint import Endpoint

    folder, bodies = Path(tempfile.mkdtemp(dir=bench.scratch)), bench.scratch / "bodies.json"
    with Endpoint(latency=0.01 if bench.tiny else latency) as endpoint:
        session = ["judge", "run", "--data", "synthetic", "--model", "judge", "--yes", "--concurrency", 50]
        session += ["--base-url", endpoint.address, "--out", folder / "session", *["--limit", 4][: 2 * bench.tiny]]
        ran = program(*([*SENSE7, *session] if ours else [sys.executable, "-c", PEER, endpoint.address, bodies]))
    if ours:
        bodies.write_text(json.dumps([one.body for one in endpoint.asked]), "utf-8")
        (file,) = (folder / "session").glob("*.xlsx")
    scores = pd.read_excel(file, engine="openpyxl")["IS_EMPATHY"] if ours else json.loads(ran.said)
    return getattr(ran, what), [*sorted(one.prompt for one in endpoint.asked), *map(float, scores)]


def judge(latency: float) -> Measure:
    """All conversations once, everything recorded."""
    work = f"judge: all conversations, 50 at once, all recorded; endpoint with {latency:g} s latency"
    sides = (partial(judged, latency=latency, ours=side) for side in (True, False))
    return Measure(work, "50 threads with the openai client, nothing recorded", *sides, 1 / 1.15, pairs=3)


def edit(work: str, old: str, new: str) -> Measure:
    """An edit of one notebook, with a number in the place of {}."""
    sides = (partial(edited, side=side, old=old, new=new) for side in ("now", "before"))
    return Measure(f"book, {work} edited", f"the build of {BEFORE}", *sides, 1, pairs=2)


def plain(*command: str | Path) -> Callable:
    """The seconds of a program whose answer is not compared."""
    return lambda bench: (program(*command).seconds, None)


PLAIN = f"jupyter-book build with execution, of {BEFORE}"
ALL = f"clone, pip install and {PLAIN}"
PEAK, SESSION = "100 times the data: peak memory of any step", "judge: peak memory of such a session"
CHECK = plain(*SENSE7, "check", WORKBOOK), plain(sys.executable, "-c", "import pandas")
MEMORY = {"pairs": 1, "unit": "MiB"}
MEASURES = {
    "clean": Measure("clean clone to book, nothing cached", ALL, from_nothing, from_nothing_otherwise, 4, pairs=1),
    "cold": Measure("book, cold", PLAIN, cold, jupyter_book, 4, pairs=2),
    "unchanged": Measure("book, nothing changed", "", lambda bench: built(bench, bench.book("now")), most=1),
    "code": edit("a finding's code cell", "import sense7 as s7\n", "\nassert {} > 0\n"),
    "prose": edit("prose", "\n## How it was computed\n", "\nA line, edited at {}.\n"),
    "reading": Measure("workbook to validated frames", "pandas with openpyxl, two sheets", frames, sheets, 4),
    "check": Measure("sense7 check", "import pandas", *CHECK, 1 / 1.3),
    "tests": Measure("make test, set-up apart", "", make_test, most=480, pairs=1),
    "growth": Measure(PEAK, "", growth, most=2048, **MEMORY),
    "alpha": statistic("Cronbach's alpha of turns", alpha, 10_000, 20),
    "kappa": statistic("weighted kappa", kappa, 10_000, 20),
    "spearman": statistic("Spearman's correlation", spearman, 10_000, 40),
    "mixed": statistic("mixed model", mixed, 1_000, 4, tolerance=1e-4),
    "judge": judge(1.0),
    "judge_near": judge(0.05),
    "judge_memory": Measure(SESSION, "", partial(judged, latency=1.0, what="mib"), most=130, **MEMORY),
}


# --- results ---------------------------------------------------------------------------


def require_same(ours: object, theirs: object, tolerance: float) -> None:
    """Refuse different answers; of values by key, those count that both have."""
    if isinstance(ours, dict):
        ours, theirs = ([found[key] for key in sorted(ours.keys() & theirs.keys())] for found in (ours, theirs))
    if ours is not None and ours != theirs:
        np.testing.assert_allclose(ours, theirs, rtol=tolerance, atol=tolerance)


def measured(measure: Measure, bench: Bench) -> dict:
    """Run both sides in turn, each first in turn; of several pairs the first does not count."""
    sides = {"ours": measure.ours} | ({"theirs": measure.theirs} if measure.theirs else {})
    times, several = {"ours": [], "theirs": []}, measure.pairs > 1 and not bench.tiny
    for number in range(measure.pairs + 1 if several else 1):
        answers = {}
        for name in sorted(sides, reverse=bool(number % 2)):
            seconds, answers[name] = sides[name](bench)
            times[name].append(seconds)
            print(f"  {measure.work}: {name} {seconds:.4g} {measure.unit}", file=sys.stderr, flush=True)
        if measure.theirs:
            require_same(*answers.values() if number % 2 == 0 else reversed(answers.values()), measure.tolerance)
    ours, theirs = (times[name][several:] for name in ("ours", "theirs"))
    ratio = statistics.median(b / a for a, b in zip(ours, theirs, strict=True)) if theirs else None
    return {"ours": ours, "theirs": theirs, "ratio": ratio, "steps": answers["ours"] if measure.ours is growth else {}}


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
    parts = [
        "# Benchmarks",
        __doc__.partition("\n")[0] + " Made by `make bench`, both sides in turn, with equal answers.",
    ]
    parts.append(table(head, *(line(MEASURES[key], row) for key, row in known.items())))
    parts += [f"Not measured yet: {'; '.join(missing)}."] if missing else []
    if steps := known.get("growth", {}).get("steps"):
        head = ["Step", "1 time the data", "10 times", "100 times", "Exponent of its time"]
        shown = [
            [
                *[step, *(f"{took:,.1f} s, {mib:,} MiB" for took, mib in sizes)],
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
