"""Mutation testing: small changes of the code, and the share of them that the tests miss, per package.

mutmut makes the mutants: a number is one larger, a comparison is reversed, an argument is left out. All mutants of a
package are put in a row, by file and then by place in the file, and positions in that row are drawn by a seed: the draw
depends on no name. The modules outside of packages are the package "top". Excluded from the row before the draw, and
counted, are mutants of wording: those that change only the text of a literal in which a blank stands between words.
Nothing is taken out afterwards. A mutant is dead when a test fails, or when its tests don't end.

The tests of a package are those in the folder of tests with its name, and the examples in its docstrings; of a package
without such a folder (top among them) those of the files tests/test_*.py. Against a mutant run first the tests of any
package that reach its function in this process, then the others of its own package, which may reach it in a process
that they start; each the quickest first, until their times add up to --seconds. So a test that alone takes longer is
not run, which excludes whole books; nor are tests in folders that have no package's name: browsers, whole editions,
interruptions, fuzzing. What fails without a mutant in the copy of the checkout, for example as it needs git, is left
out, too. Each mutant runs in a process of its own, forked after all tests were collected.

    make mutants                                 # or: python evidence/mutation.py --jobs 1 --seconds 8

Interrupted, the same command goes on, as long as no file of src or tests changes. mutmut leaves out annotations, and
what stands outside of functions or in a function with a decorator. It is no part of the lock.
"""

import argparse
import contextlib
import difflib
import gc
import hashlib
import itertools
import json
import os
import random
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from functools import partial
from importlib.metadata import version
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SOURCE = Path("src/sense7")
RESULT = ROOT / "data" / "mutation.json"
OUTCOMES = {0: "alive", 1: "dead"}
OUT_OF_TIME = "out of time"
WORDING = re.compile(r"\w[^\w ]* [^\w ]*\w")


def main() -> None:
    """Draw, run, show what lived, and write the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--number", type=int, default=60, help="mutants of a package")
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--seconds", type=int, default=8, help="seconds of tests for a mutant")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    options = parser.parse_args()
    os.environ |= {
        "OPENBLAS_NUM_THREADS": "1",
        "OMP_NUM_THREADS": "1",
    }  # before numpy: a fork copies no threads
    from scipy.stats import binomtest

    os.chdir(ROOT)
    head = {
        "mutmut": version("mutmut"),
        "number": options.number,
        "seed": options.seed,
        "seconds": options.seconds,
    }
    digest = hashlib.sha256(json.dumps(head).encode())
    for file in sorted([*Path("src").rglob("*.py"), *Path("tests").rglob("*.py")]):
        digest.update(file.read_bytes())
    folder = ROOT / "_build" / "mutation" / digest.hexdigest()[:12]
    folder.mkdir(parents=True, exist_ok=True)
    if not (file := folder / "drawn.json").exists():
        file.write_text(json.dumps(draw(options.number, options.seed)))
    drawn = json.loads(file.read_text())
    log = folder / "outcomes.jsonl"
    outcomes = dict(map(json.loads, log.read_text().splitlines())) if log.exists() else {}
    rounds = itertools.zip_longest(*(package["drawn"] for package in drawn["packages"].values()))
    waiting = [key for row in rounds for key in row if key and key not in outcomes]
    if waiting:
        outcomes |= run(drawn, waiting, folder, options.jobs, options.seconds)

    table = {}
    for name, package in drawn["packages"].items():
        results = Counter(outcomes[key] for key in package["drawn"] if key in outcomes)
        row = {key: package[key] for key in ("mutants", "wording")} | {"run": results.total()}
        table[name] = row | {
            how.replace(" ", "_"): results[how] for how in ("dead", OUT_OF_TIME, "alive")
        }
        if results.total():
            interval = binomtest(results["alive"], results.total()).proportion_ci(method="wilson")
            shares = results["alive"] / results.total(), interval.low, interval.high
            table[name] |= dict(
                zip(("share", "low", "high"), (round(one, 3) for one in shares), strict=True)
            )
        print(name, json.dumps(table[name]))
        for key in package["drawn"]:
            if outcomes.get(key) == "alive":
                print(f"--- {key}\n{drawn['differences'][key]}")
    commit = subprocess.check_output(["git", "rev-parse", "--short", "HEAD"], text=True).strip()  # noqa: S607 - git
    RESULT.write_text(
        json.dumps({"commit": commit} | head | {"packages": table}, indent=1) + "\n",
        encoding="utf-8",
    )


def package_of(path: Path) -> str:
    """Return the package of a source file."""
    parts = path.relative_to(SOURCE).parts
    return parts[0] if len(parts) > 1 else "top"


def draw(number: int, seed: int) -> dict:
    """Draw mutants of each package; also the files that hold them, and how each differs."""
    import libcst
    from mutmut.mutation.file_mutation import combine_mutations_to_source, create_mutations

    gc.disable()  # the trees of all files are kept, and looked through again and again otherwise
    files, rows, wording = {}, defaultdict(list), Counter()
    for path in sorted(SOURCE.rglob("*.py")):
        package = package_of(path)
        files[path] = create_mutations(str(path), path.read_text(encoding="utf-8"))
        for mutation in files[path][1]:
            if isinstance(mutation.contained_by_top_level_function, libcst.FunctionDef):
                literal = mutation.original_node
                if isinstance(literal, libcst.SimpleString) and WORDING.search(literal.value):
                    wording[package] += 1
                else:
                    rows[package].append((path, mutation))
    chosen = defaultdict(list)
    for row in rows.values():
        for position in sorted(random.Random(seed).sample(range(len(row)), min(number, len(row)))):  # noqa: S311 - no secret
            path, mutation = row[position]
            chosen[path].append(mutation)
    packages = {
        name: {"mutants": len(row), "wording": wording[name], "drawn": []}
        for name, row in rows.items()
    }
    sources, differences = {}, {}
    for path, mutations in chosen.items():
        module, _, *ignored = files[path]
        made = combine_mutations_to_source(module, mutations, *ignored)
        sources[str(path)] = made.code
        parts = path.relative_to("src").with_suffix("").parts
        lines = made.code.splitlines()
        for name in made.mutant_names:
            key = ".".join([*(part for part in parts if part != "__init__"), name])
            packages[package_of(path)]["drawn"].append(key)
            versions = (f"{name.partition('__mutmut_')[0]}__mutmut_orig", name)
            spans = [made.line_span_by_function_name[version] for version in versions]
            before, after = (lines[span.start - 1 : span.end] for span in spans)
            changed = list(difflib.unified_diff(before, after, lineterm="", n=0))[2:]
            differences[key] = "\n".join(
                line for line in changed if "__mutmut_" not in line and line[0] != "@"
            )
    return {"packages": packages, "files": sources, "differences": differences}


def run(drawn: dict, waiting: list[str], folder: Path, jobs: int, seconds: float) -> dict[str, str]:
    """Run mutants in a copy of the checkout, so that nothing in it is ever changed."""
    with tempfile.TemporaryDirectory(prefix="m") as temporary:
        (Path(temporary) / "shared").symlink_to((ROOT.parent / "shared").resolve())
        copy = Path(temporary) / "copy"
        names = subprocess.check_output(["git", "ls-files", "-z"], text=True)  # noqa: S607 - the user's own git
        for name in names.split("\0")[:-1]:
            (copy / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(name, copy / name)
        for path, code in drawn["files"].items():
            (copy / path).write_text(code, encoding="utf-8")
        os.environ["PYTHONPATH"] = str(copy / "src")
        sys.path.insert(0, str(copy / "src"))
        os.chdir(copy)
        import pytest

        import sense7

        if not Path(sense7.__file__).is_relative_to(copy):
            sys.exit(f"{sense7.__file__} would be tested, instead of the mutants")
        folders = [f"tests/{name}" for name in drawn["packages"] if Path(f"tests/{name}").is_dir()]
        forks = Forks(drawn, waiting, folder, jobs, seconds, Path(temporary))
        arguments = [
            "-q",
            "-s",
            "-p",
            "no:cacheprovider",
            *folders,
            *sorted(map(str, Path("tests").glob("test_*.py"))),
        ]
        status = pytest.main([*arguments, "src"], plugins=[forks])
        os.chdir(ROOT)
    if status != pytest.ExitCode.OK:
        sys.exit(f"pytest ended with {status!r}")
    return forks.outcomes


class Forks:
    """Instead of pytest's loop over tests: a loop over mutants, each with its tests in a process of its own."""

    def __init__(
        self,
        drawn: dict,
        waiting: list[str],
        folder: Path,
        jobs: int,
        seconds: float,
        temporary: Path,
    ):
        self.drawn, self.waiting, self.folder, self.jobs, self.seconds = (
            drawn,
            waiting,
            folder,
            jobs,
            seconds,
        )
        self.temporary, self.outcomes, self.packages = temporary, {}, {}
        for name, package in drawn["packages"].items():
            self.packages |= dict.fromkeys(package["drawn"], name)

    def pytest_runtestloop(self, session) -> bool:
        """Find out which test reaches what, and then run the mutants."""
        session.items = [item for item in session.items if "__mutmut_" not in item.name]
        gc.collect()
        gc.freeze()
        began = time.monotonic()
        seconds, reached_by = self.reach(session.items)
        number, passed = len(session.items), time.monotonic() - began
        print(
            f"{len(seconds)} of {number} tests can run, {sum(seconds.values()):.0f} s, in {passed:.0f} s",
            flush=True,
        )
        running: dict[int, str] = {}
        for key in [*self.waiting, None]:
            while running and (key is None or len(running) >= self.jobs):
                process, status = os.wait()
                self.tidy(process)
                ended = running.pop(process)
                self.outcomes[ended] = OUTCOMES.get(os.waitstatus_to_exitcode(status), OUT_OF_TIME)
                with (self.folder / "outcomes.jsonl").open("a") as log:
                    log.write(json.dumps([ended, self.outcomes[ended]]) + "\n")
                print(
                    f"{time.monotonic() - began:5.0f} s  {self.outcomes[ended]:12} {ended}",
                    flush=True,
                )
            if key:
                items = self.choose(session.items, seconds, reached_by, key)
                limit = int(10 + 4 * sum(seconds[item.nodeid] for item in items))
                running[self.fork(partial(self.is_dead, items, limit / 2), key, limit)] = key
        return True

    def fork(self, work, key: str, limit: int) -> int:
        """Do work in a process that ends with 1 if the work says so, else with 0."""
        from mutmut.mutation.trampoline import set_mutant_under_test

        process = os.fork()
        if process:
            return process
        os.setsid()
        set_mutant_under_test(key)
        if key == "stats":
            del os.environ[
                "MUTANT_UNDER_TEST"
            ]  # processes that tests start elsewhere can't note what they reach
        os.environ["TMPDIR"] = str(self.temporary / str(os.getpid()))
        tempfile.tempdir = None
        Path(os.environ["TMPDIR"]).mkdir()
        resource.setrlimit(resource.RLIMIT_CPU, (int(limit + time.process_time()), limit + 3600))
        signal.alarm(10 * limit)
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        sys.stdout = open(os.devnull, "w")  # noqa: SIM115, PTH123
        status = 3
        try:
            with contextlib.redirect_stderr(sys.stdout):
                status = int(work())
        finally:
            os._exit(status)  # nothing of the parent's is tidied away here

    def is_dead(self, items: list, most: float) -> bool:
        """Whether a test fails; none is begun after a time that is far above that of the tests, for slow fixtures."""
        began = time.process_time()
        for _, failed, _ in self.protocol(items):
            if failed or time.process_time() - began > most:
                return failed
        return False

    def tidy(self, process: int) -> None:
        """End what a process has left running, and remove its files."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process, signal.SIGKILL)
        shutil.rmtree(self.temporary / str(process), ignore_errors=True)

    def reach(self, items: list) -> tuple[dict[str, float], dict[str, set[str]]]:
        """Run all tests without a mutant: seconds of those that pass, and the tests that reach each function."""
        from mutmut.state import state

        log = self.folder / "reach.jsonl"

        def work() -> bool:
            for item, failed, took in self.protocol(waiting, watch=True):
                note(item, None if failed else took, sorted(state()._stats))
                state()._stats.clear()
            return False

        def note(item, took: float | None, functions: list[str]) -> None:
            with log.open("a") as stream:
                stream.write(json.dumps([item.nodeid, took, functions]) + "\n")

        while True:
            known = (
                [json.loads(line) for line in log.read_text().splitlines()] if log.exists() else []
            )
            done = {name for name, *_ in known}
            waiting = [item for item in items if item.nodeid not in done]
            if not waiting:
                break
            process = self.fork(work, "stats", 100_000)
            _, status = os.waitpid(process, 0)
            self.tidy(process)
            if status:  # a test has ended the process: the first without an outcome
                done = (
                    {json.loads(line)[0] for line in log.read_text().splitlines()}
                    if log.exists()
                    else set()
                )
                note(next(item for item in waiting if item.nodeid not in done), None, [])
        reached_by = defaultdict(set)
        for name, _, functions in known:
            for function in functions:
                reached_by[function].add(name)
        return {name: took for name, took, _ in known if took is not None}, reached_by

    def choose(self, items: list, seconds: dict, reached_by: dict, key: str) -> list:
        """Return the tests for a mutant, in the order of their files' first ones."""
        package, reaching = self.packages[key], reached_by.get(key.partition("__mutmut_")[0], ())
        own = [f"tests/{package}/"] if Path(f"tests/{package}").is_dir() else ["tests/test_"]
        own += [f"src/sense7/{package}/"]
        chosen, spent = [], 0.0
        known = [item for item in items if item.nodeid in seconds]
        for item in sorted(
            known, key=lambda item: (item.nodeid not in reaching, seconds[item.nodeid])
        ):
            wanted = item.nodeid in reaching or item.nodeid.startswith(tuple(own))
            if wanted and spent + seconds[item.nodeid] <= self.seconds:
                chosen.append(item)
                spent += seconds[item.nodeid]
        first = {item.path: number for number, item in reversed(list(enumerate(chosen)))}
        return sorted(chosen, key=lambda item: first[item.path])

    def protocol(self, items: list, *, watch: bool = False) -> Iterator[tuple]:
        """Run tests: each one, whether it failed, and its seconds of computing; a watched one may take no longer."""
        import psutil
        import pytest

        this = psutil.Process()

        def computed() -> float:
            total = sum(os.times()[:4])
            for process in this.children(recursive=True) if watch else ():
                with contextlib.suppress(psutil.Error):
                    total += sum(process.cpu_times()[:2])
            return total

        def look(*_) -> None:
            if computed() - began > self.seconds or time.monotonic() - since > 20 * self.seconds:
                pytest.fail("takes too long")

        for item, following in zip(items, [*items[1:], None], strict=True):
            item.session.testsfailed, failed = 0, False
            began, since = computed(), time.monotonic()
            if watch:
                signal.alarm(0)
                signal.signal(signal.SIGALRM, look)
                signal.setitimer(signal.ITIMER_REAL, 1, 1)
            try:
                item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
            except BaseException:  # also an interruption, or a look at the wrong moment
                failed = True
            if watch:
                signal.setitimer(signal.ITIMER_REAL, 0)
            yield item, failed or bool(item.session.testsfailed), computed() - began


if __name__ == "__main__":
    main()
