"""Mutation testing: small changes of the code, and the share of them that the tests miss, per package.

mutmut makes the mutants: a number is one larger, a comparison is reversed, an argument is left out. All mutants of a
package are listed by file and then by position in the file, and a seed draws positions in that list, so that no name
influences the draw. The modules outside of packages are the package "top". Before the draw, mutants of wording are
excluded and counted: those that change only a literal in which a space stands between words. Nothing is excluded
afterwards. A mutant is dead when a test fails, or when its tests don't end.

The tests of a package are those in the folder of tests with its name, and the examples in its docstrings; a package
without such a folder (top is one) has those of the files tests/test_*.py. Which tests run against a mutant: first those
of any package that reach its function in this process, then the others of its own package, which may reach it in a
process that they start; in each group the quickest first, until their times add up to --seconds. So a test that alone
takes longer never runs, which excludes whole books. Tests in folders without a package's name never run either:
browsers, whole editions, interruptions, fuzzing. Tests that fail in the copy of the checkout without any mutant, for
example because they need git, are left out. Each mutant runs in a process of its own, forked after all tests were
collected.

    make mutants                                 # or: python evidence/mutation.py --jobs 1 --seconds 8
    python evidence/mutation.py --packages book judge --seed 11

With --packages, the rows of the other packages stay in the table as they are. After an interruption the same command
continues, as long as no file of src or tests changes. mutmut leaves out annotations, and code that stands outside of
functions or in a function with a decorator. It is not in the lock.
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
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from importlib.metadata import version
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SOURCE = Path("src/sense7")
RESULT = ROOT / "data" / "mutation.json"
ALIVE = "alive"
DEAD = "dead"
OUT_OF_TIME = "out of time"
WORDING = re.compile(r"\w[^\w ]* [^\w ]*\w")
WITHOUT_MUTANT = "stats"
"""mutmut's name for a run that changes nothing and notes which functions are called."""


def main() -> None:
    """Draw mutants, run them, show those that lived, and write the table."""
    os.chdir(ROOT)
    existing_packages = sorted({package_of(path) for path in SOURCE.rglob("*.py")})
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--number", type=int, default=60, help="mutants of a package")
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--seconds", type=int, default=8, help="seconds of tests for a mutant")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument(
        "--packages", nargs="+", choices=existing_packages, help="packages to run; all if left out"
    )
    options = parser.parse_args()
    # Before numpy is imported: a forked process has no threads but the one that forked.
    os.environ["OPENBLAS_NUM_THREADS"] = "1"
    os.environ["OMP_NUM_THREADS"] = "1"
    settings = {
        "mutmut": version("mutmut"),
        "number": options.number,
        "seed": options.seed,
        "seconds": options.seconds,
    }
    folder = results_folder(settings)
    drawn = read_or_draw(folder, options.number, options.seed)
    names = options.packages or list(drawn["packages"])
    packages = {name: drawn["packages"][name] for name in names}

    outcomes = dict(read_lines(folder / "outcomes.jsonl"))
    waiting = [mutant for mutant in in_turn(packages) if mutant not in outcomes]
    if waiting:
        outcomes |= run(drawn, waiting, folder, options.jobs, options.seconds)

    commit = subprocess.check_output(["git", "rev-parse", "--short", "HEAD"], text=True).strip()  # noqa: S607 - git
    table = json.loads(RESULT.read_text(encoding="utf-8"))["packages"]
    for name, package in packages.items():
        counts = count_outcomes(package, outcomes)
        print(name, json.dumps(counts))
        for mutant in package["drawn"]:
            if outcomes.get(mutant) == ALIVE:
                print(f"--- {mutant}\n{drawn['differences'][mutant]}")
        table[name] = {"commit": commit} | settings | counts
    in_order = {name: table[name] for name in drawn["packages"] if name in table}
    RESULT.write_text(json.dumps({"packages": in_order}, indent=1) + "\n", encoding="utf-8")


def results_folder(settings: dict) -> Path:
    """Make the folder that keeps the draw and the outcomes for these settings and today's src and tests."""
    digest = hashlib.sha256(json.dumps(settings).encode())
    for file in sorted([*Path("src").rglob("*.py"), *Path("tests").rglob("*.py")]):
        digest.update(file.read_bytes())
    folder = ROOT / "_build" / "mutation" / digest.hexdigest()[:12]
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def read_or_draw(folder: Path, number: int, seed: int) -> dict:
    """Return the mutants that were drawn before an interruption, or draw them."""
    file = folder / "drawn.json"
    if not file.exists():
        file.write_text(json.dumps(draw(number, seed)))
    return json.loads(file.read_text())


def in_turn(packages: dict) -> Iterator[str]:
    """Yield the first mutant of each package, then the second of each, and so on."""
    rounds = itertools.zip_longest(*(package["drawn"] for package in packages.values()))
    for mutants in rounds:
        yield from filter(None, mutants)


def count_outcomes(package: dict, outcomes: dict[str, str]) -> dict:
    """Count the outcomes of a package's mutants; the share alive has Wilson's interval."""
    from scipy.stats import binomtest

    counts = Counter(outcomes[mutant] for mutant in package["drawn"] if mutant in outcomes)
    run = counts.total()
    row = {
        "mutants": package["mutants"],
        "wording": package["wording"],
        "run": run,
        "dead": counts[DEAD],
        "out_of_time": counts[OUT_OF_TIME],
        "alive": counts[ALIVE],
    }
    if run:
        interval = binomtest(counts[ALIVE], run).proportion_ci(method="wilson")
        row["share"] = round(counts[ALIVE] / run, 3)
        row["low"] = round(interval.low, 3)
        row["high"] = round(interval.high, 3)
    return row


def read_lines(log: Path) -> list:
    """Read a file of one JSON value per line; nothing if there is no such file yet."""
    if not log.exists():
        return []
    return [json.loads(line) for line in log.read_text().splitlines()]


def append_line(log: Path, value: list) -> None:
    """Add one JSON value as a line."""
    with log.open("a") as stream:
        stream.write(json.dumps(value) + "\n")


# Drawing


def package_of(path: Path) -> str:
    """Return the package of a source file."""
    parts = path.relative_to(SOURCE).parts
    return parts[0] if len(parts) > 1 else "top"


def draw(number: int, seed: int) -> dict:
    """Draw mutants of each package; also the files that hold them, and how each differs."""
    import libcst
    from mutmut.mutation.file_mutation import combine_mutations_to_source, create_mutations

    gc.disable()  # the trees of all files are kept, and would be searched again and again
    created = {}
    candidates = defaultdict(list)
    wording = Counter()
    for path in sorted(SOURCE.rglob("*.py")):
        package = package_of(path)
        created[path] = create_mutations(str(path), path.read_text(encoding="utf-8"))
        for mutation in created[path][1]:
            if not isinstance(mutation.contained_by_top_level_function, libcst.FunctionDef):
                continue
            literal = mutation.original_node
            if isinstance(literal, libcst.SimpleString) and WORDING.search(literal.value):
                wording[package] += 1
            else:
                candidates[package].append((path, mutation))

    packages = {}
    chosen = defaultdict(list)
    for name, mutations in candidates.items():
        packages[name] = {"mutants": len(mutations), "wording": wording[name], "drawn": []}
        sample_size = min(number, len(mutations))
        positions = random.Random(seed).sample(range(len(mutations)), sample_size)  # noqa: S311 - no secret
        for position in sorted(positions):
            path, mutation = mutations[position]
            chosen[path].append(mutation)

    files = {}
    differences = {}
    for path, mutations in chosen.items():
        module, _, *ignored = created[path]
        mutated = combine_mutations_to_source(module, mutations, *ignored)
        files[str(path)] = mutated.code
        for name in mutated.mutant_names:
            mutant = f"{module_name(path)}.{name}"
            packages[package_of(path)]["drawn"].append(mutant)
            differences[mutant] = difference(mutated, name)
    gc.enable()
    return {"packages": packages, "files": files, "differences": differences}


def module_name(path: Path) -> str:
    """Return the name by which a source file is imported."""
    parts = path.relative_to("src").with_suffix("").parts
    return ".".join(part for part in parts if part != "__init__")


def function_of(mutant: str) -> str:
    """Return the name of the function that a mutant changes, as mutmut writes it."""
    return mutant.partition("__mutmut_")[0]


def difference(mutated, name: str) -> str:
    """Return the lines by which a mutant differs from the function as it is."""
    lines = mutated.code.splitlines()
    span_before = mutated.line_span_by_function_name[f"{function_of(name)}__mutmut_orig"]
    span_after = mutated.line_span_by_function_name[name]
    before = lines[span_before.start - 1 : span_before.end]
    after = lines[span_after.start - 1 : span_after.end]
    changed = list(difflib.unified_diff(before, after, lineterm="", n=0))[2:]
    # Neither the function's name, which differs always, nor positions.
    return "\n".join(line for line in changed if "__mutmut_" not in line and line[0] != "@")


# Running


def run(drawn: dict, waiting: list[str], folder: Path, jobs: int, seconds: float) -> dict[str, str]:
    """Run mutants in a copy of the checkout, so that nothing in the checkout is changed."""
    with tempfile.TemporaryDirectory(prefix="m") as temporary:
        (Path(temporary) / "shared").symlink_to((ROOT.parent / "shared").resolve())
        copy = Path(temporary) / "copy"
        copy_checkout(copy, drawn["files"])
        os.environ["PYTHONPATH"] = str(copy / "src")
        sys.path.insert(0, str(copy / "src"))
        os.chdir(copy)
        import pytest

        import sense7

        if not Path(sense7.__file__).is_relative_to(copy):
            sys.exit(f"{sense7.__file__} would be tested, instead of the mutants")
        folders = [f"tests/{name}" for name in drawn["packages"] if Path(f"tests/{name}").is_dir()]
        files = sorted(str(path) for path in Path("tests").glob("test_*.py"))
        loop = MutantLoop(drawn["packages"], waiting, folder, jobs, seconds, Path(temporary))
        options = ["-q", "-s", "-p", "no:cacheprovider"]
        status = pytest.main([*options, *folders, *files, "src"], plugins=[loop])
        os.chdir(ROOT)
    if status != pytest.ExitCode.OK:
        sys.exit(f"pytest ended with {status!r}")
    return loop.outcomes


def copy_checkout(copy: Path, mutated_files: dict[str, str]) -> None:
    """Copy the files under version control, those of the source with their mutants."""
    listing = subprocess.check_output(["git", "ls-files", "-z"], text=True)  # noqa: S607 - the user's own git
    for name in listing.split("\0")[:-1]:
        (copy / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(name, copy / name)
    for name, code in mutated_files.items():
        (copy / name).write_text(code, encoding="utf-8")


@dataclass
class TestRun:
    """A test that was run, whether it failed, and the seconds that it computed."""

    test: object
    failed: bool
    seconds: float


class MutantLoop:
    """Instead of pytest's loop over tests: a loop over mutants, each with its tests in a process of its own."""

    def __init__(
        self,
        packages: dict,
        waiting: list[str],
        folder: Path,
        jobs: int,
        seconds: float,
        temporary: Path,
    ):
        self.waiting = waiting
        self.folder = folder
        self.jobs = jobs
        self.seconds = seconds
        self.temporary = temporary
        self.outcomes: dict[str, str] = {}
        self.package_of_mutant = {}
        for name, package in packages.items():
            for mutant in package["drawn"]:
                self.package_of_mutant[mutant] = name

    def pytest_runtestloop(self, session) -> bool:
        """Find out which test reaches what, and then run the mutants."""
        # mutmut copies docstrings into the mutants: their examples would run twice.
        tests = [test for test in session.items if "__mutmut_" not in test.name]
        gc.collect()
        gc.freeze()
        self.began = time.monotonic()
        seconds, reached_by = self.run_without_mutants(tests)
        elapsed = time.monotonic() - self.began
        total = sum(seconds.values())
        print(
            f"{len(seconds)} of {len(tests)} tests can run, {total:.0f} s, in {elapsed:.0f} s",
            flush=True,
        )
        running: dict[int, str] = {}
        for mutant in self.waiting:
            if len(running) >= self.jobs:
                self.wait_for_one(running)
            chosen = self.choose_tests(tests, seconds, reached_by, mutant)
            limit = int(10 + 4 * sum(seconds[test.nodeid] for test in chosen))
            process = self.fork(partial(self.any_test_fails, chosen, limit / 2), mutant, limit)
            running[process] = mutant
        while running:
            self.wait_for_one(running)
        return True

    def wait_for_one(self, running: dict[int, str]) -> None:
        """Wait until the process of some mutant ends, and note the outcome."""
        process, status = os.wait()
        self.clean_up(process)
        mutant = running.pop(process)
        outcome_of_code = {0: ALIVE, 1: DEAD}
        outcome = outcome_of_code.get(os.waitstatus_to_exitcode(status), OUT_OF_TIME)
        self.outcomes[mutant] = outcome
        append_line(self.folder / "outcomes.jsonl", [mutant, outcome])
        print(f"{time.monotonic() - self.began:5.0f} s  {outcome:12} {mutant}", flush=True)

    def fork(self, work: Callable[[], bool], mutant: str, limit: int) -> int:
        """Do work in a process that ends with 1 if the work returns true, else with 0."""
        from mutmut.mutation.trampoline import set_mutant_under_test

        process = os.fork()
        if process:
            return process
        os.setsid()
        set_mutant_under_test(mutant)
        if mutant == WITHOUT_MUTANT:
            # Processes that tests start elsewhere can't note which functions they call.
            del os.environ["MUTANT_UNDER_TEST"]
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
            os._exit(status)  # runs none of the parent's clean-up

    def any_test_fails(self, tests: list, most_seconds: float) -> bool:
        """Run tests until one fails; none begins after a time far above that of all, since fixtures may be slow."""
        began = time.process_time()
        for test_run in self.run_tests(tests):
            if test_run.failed:
                return True
            if time.process_time() - began > most_seconds:
                return False
        return False

    def clean_up(self, process: int) -> None:
        """End what a process has left running, and remove its files."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process, signal.SIGKILL)
        shutil.rmtree(self.temporary / str(process), ignore_errors=True)

    def run_without_mutants(self, tests: list) -> tuple[dict[str, float], dict[str, set[str]]]:
        """Run all tests without a mutant: seconds of those that pass, and the tests that reach each function."""
        log = self.folder / "reach.jsonl"
        while True:
            logged = {name for name, _, _ in read_lines(log)}
            waiting = [test for test in tests if test.nodeid not in logged]
            if not waiting:
                break
            process = self.fork(partial(self.log_reach, waiting, log), WITHOUT_MUTANT, 100_000)
            _, status = os.waitpid(process, 0)
            self.clean_up(process)
            if status:
                # The first test without an entry has ended the process: it can't run.
                logged = {name for name, _, _ in read_lines(log)}
                ended_by = next(test for test in waiting if test.nodeid not in logged)
                append_line(log, [ended_by.nodeid, None, []])
        seconds = {}
        reached_by = defaultdict(set)
        for name, seconds_of_test, functions in read_lines(log):
            if seconds_of_test is not None:
                seconds[name] = seconds_of_test
            for function in functions:
                reached_by[function].add(name)
        return seconds, reached_by

    def log_reach(self, tests: list, log: Path) -> bool:
        """Run tests, and log for each its seconds (none if it fails) and the functions that it reaches."""
        from mutmut.state import state

        for test_run in self.run_tests(tests, watch=True):
            seconds = None if test_run.failed else test_run.seconds
            append_line(log, [test_run.test.nodeid, seconds, sorted(state()._stats)])
            state()._stats.clear()
        return False

    def choose_tests(self, tests: list, seconds: dict, reached_by: dict, mutant: str) -> list:
        """Return the tests for a mutant, those of one file together, files in the order of their first test."""
        package = self.package_of_mutant[mutant]
        folder = f"tests/{package}/" if Path(f"tests/{package}").is_dir() else "tests/test_"
        of_package = (folder, f"src/sense7/{package}/")
        reaching = reached_by.get(function_of(mutant), set())

        def reaching_and_quick_first(test) -> tuple[bool, float]:
            return test.nodeid not in reaching, seconds[test.nodeid]

        chosen = []
        total = 0.0
        able = [test for test in tests if test.nodeid in seconds]
        for test in sorted(able, key=reaching_and_quick_first):
            wanted = test.nodeid in reaching or test.nodeid.startswith(of_package)
            if wanted and total + seconds[test.nodeid] <= self.seconds:
                chosen.append(test)
                total += seconds[test.nodeid]
        rank_of_file = {}
        for rank, test in enumerate(chosen):
            rank_of_file.setdefault(test.path, rank)
        return sorted(chosen, key=lambda test: rank_of_file[test.path])

    def run_tests(self, tests: list, *, watch: bool = False) -> Iterator[TestRun]:
        """Run tests; a watched one that takes longer than the seconds of a mutant fails."""
        import psutil
        import pytest

        this_process = psutil.Process()

        def computed_seconds() -> float:
            total = sum(os.times()[:4])
            if watch:
                for process in this_process.children(recursive=True):
                    with contextlib.suppress(psutil.Error):
                        total += sum(process.cpu_times()[:2])
            return total

        def fail_if_too_long(*_) -> None:
            computed = computed_seconds() - computed_before
            waited = time.monotonic() - began
            if computed > self.seconds or waited > 20 * self.seconds:
                pytest.fail("takes too long")

        for test, next_test in zip(tests, [*tests[1:], None], strict=True):
            test.session.testsfailed = 0
            interrupted = False
            computed_before = computed_seconds()
            began = time.monotonic()
            if watch:
                signal.alarm(0)
                signal.signal(signal.SIGALRM, fail_if_too_long)
                signal.setitimer(signal.ITIMER_REAL, 1, 1)
            try:
                test.config.hook.pytest_runtest_protocol(item=test, nextitem=next_test)
            except BaseException:  # an interruption, or too long between two steps of pytest
                interrupted = True
            if watch:
                signal.setitimer(signal.ITIMER_REAL, 0)
            failed = interrupted or test.session.testsfailed > 0
            yield TestRun(test, failed, computed_seconds() - computed_before)


if __name__ == "__main__":
    main()
