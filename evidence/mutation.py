"""Mutation testing: small changes of the code, and whether its tests notice them.

mutmut makes every mutant of a module: a number is one larger, a comparison is turned round, an argument is left out.
Of each module a seeded sample is run against its tests, in a copy of the checkout; the tests of the module's own file
come first, then those of other files that reach the mutated function. A mutant is dead as soon as one test fails.

Passed over, and counted apart, are mutants that change nothing but wording, the text of a string with a blank in it, or
the guard `strict=` of a zip, whose parts have one length wherever the program is right. Intervals in the table are of
the share that lived when it was first run, before any test was written for it.
mutmut leaves out annotations, and what stands outside of functions or in a function with a decorator.

    make mutants                                       # or: python evidence/mutation.py --sample 20 estimators.mixed
    python evidence/mutation.py --again estimators.mixed  # what was alive, with the tests as they are now

Interrupted, the same command goes on: what became of a mutant is kept until its function is changed.
It needs mutmut, which is no part of the lock.
"""

import argparse
import ast
import contextlib
import difflib
import gc
import importlib.metadata
import json
import os
import random
import resource
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = Path("src/sense7")
OUTPUT = ROOT / "_build" / "mutation"
RESULT = ROOT / "data" / "mutation.json"

MODULES = {
    "estimators.*": "tests/estimators tests/findings",
    "findings.*": "tests/findings",
    "workbook.*": "tests/workbook",
    "judge.reply": "tests/judge/test_reply.py",
    "judge.scoring.metrics": "tests/judge/scoring/test_metrics.py",
    "judge.predictions": "tests/judge/test_predictions.py",
    "judge.chat": "tests/judge/test_chat.py",
    "judge.asking.prompt": "tests/judge/asking/test_prompt.py",
    "claims": "tests/test_claims.py",
}
"""What is mutated, and where its tests are."""

DOCTESTS = """
import doctest, importlib
import pytest

@pytest.mark.parametrize("name", {names!r})
def test_examples_in_docstrings(name):
    module = importlib.import_module(name)
    runner = doctest.DocTestRunner(optionflags=doctest.FAIL_FAST)
    for test in doctest.DocTestFinder().find(module):
        if "__mutmut_" not in test.name or test.name.endswith("__mutmut_orig"):
            assert runner.run(test).failed == 0
"""
"""The examples of docstrings as tests: once for each function, not once for each of its mutants."""

GRACE = 20
"""Seconds of computing that a mutant has beside four times those that its tests need."""

OUTCOMES = {0: "alive", 1: "dead"}
OUT_OF_TIME = "out of time"
DEAD_SINCE = "dead since"
"""It lived until a test was written for what it changes: counted apart, since what was never run has no such test."""


def main() -> None:
    """Mutate, run, and show what lived; write the table when all modules were run."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("modules", nargs="*", help="such as estimators.mixed; default: all")
    parser.add_argument("--sample", type=int, default=12, help="mutants of a module; 0 for all")
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--budget", type=float, default=30, help="seconds of tests of other files; 0 for none")
    parser.add_argument("--again", action="store_true", help="run only what was alive, with the tests as they are now")
    parser.add_argument("--table", action="store_true", help="run nothing; show and write what is known")
    options = parser.parse_args()
    for threads in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"):
        os.environ.setdefault(threads, "1")  # before numpy: a fork copies no threads

    os.chdir(ROOT)  # mutmut looks for its settings there
    OUTPUT.mkdir(parents=True, exist_ok=True)
    modules = [Module(name) for name in options.modules or all_modules()]
    for module in modules:
        module.draw(options.sample, options.seed)
    if not options.table:
        wanted = "alive" if options.again else None
        sample = [mutant for module in modules for mutant in module.sample if mutant.outcome == wanted]
        run(modules, sample, options.jobs, options.budget)
    for module in modules:
        print(module.name, json.dumps(module.counts()))
        for mutant in module.sample:
            if mutant.outcome == "alive":
                print(f"--- {mutant.name}\n{mutant.difference()}")
    if not options.modules:
        head = {"mutmut": importlib.metadata.version("mutmut"), "seed": options.seed, "sample": options.sample}
        table = {module.name: module.counts() for module in modules}
        RESULT.write_text(json.dumps(head | {"modules": table}, indent=1) + "\n")


def all_modules() -> list[str]:
    """Names of all modules that are mutated, below the package's."""
    folder = ROOT / PACKAGE
    files = [
        file
        for pattern in MODULES
        for file in sorted(folder.glob(pattern.replace(".", "/").replace("*", "**/*") + ".py"))
    ]
    return [".".join(file.relative_to(folder).with_suffix("").parts) for file in files if file.stem != "__init__"]


class Module:
    """A module, a sample of its mutants, and what became of them."""

    def __init__(self, name: str):
        from mutmut.mutation.file_mutation import mutate_file_contents

        self.name = name
        self.path = PACKAGE / (name.replace(".", "/") + ".py")
        self.made = mutate_file_contents(str(self.path), (ROOT / self.path).read_text(encoding="utf-8"))
        self.lines = self.made.code.splitlines()
        self.results = OUTPUT / f"{name}.json"
        self.outcomes = json.loads(self.results.read_text()) if self.results.exists() else {}

    def draw(self, size: int, seed: int) -> None:
        """Draw mutants; of a small module, all. A larger sample holds the smaller one of the same seed."""
        self.sample, self.passed_over = [], 0
        names = self.made.mutant_names
        for name in sorted(names, key=lambda name: random.Random(f"{seed} sense7.{self.name}.{name}").random()):  # noqa: S311 - no secret
            mutant = Mutant(self, name)
            if mutant.is_idle():
                self.passed_over += 1
            else:
                self.sample.append(mutant)
            if len(self.sample) == size:
                break

    def tests(self, *, own: bool) -> list[str]:
        """Where the tests are: the module's own file alone, or the whole folder."""
        (folders,) = (folders.split() for pattern, folders in MODULES.items() if Path(self.name).match(pattern))
        paths = [Path(folder) for folder in folders]
        if own and not paths[0].suffix:
            paths = [path / f"{stem}.py" for path in paths for stem in own_files(self.name)]
        return [str(path) for path in paths if (ROOT / path).exists()]

    def function(self, name: str) -> ast.FunctionDef:
        """Parse one function of the mutated module."""
        span = self.made.line_span_by_function_name[name]
        return next(
            node
            for node in ast.walk(ast.parse("if True:\n" + "\n".join(indented(self.lines[span.start - 1 : span.end]))))
            if isinstance(node, ast.FunctionDef)
        )

    def note(self, mutant: "Mutant", outcome: str) -> None:
        """Keep what became of a mutant."""
        lived = self.outcomes.get(mutant.version) in {"alive", DEAD_SINCE}
        self.outcomes[mutant.version] = DEAD_SINCE if lived and outcome == "dead" else outcome
        self.results.write_text(json.dumps(self.outcomes, indent=1))

    def counts(self) -> dict[str, object]:
        """One row of the table."""
        from scipy.stats import binomtest

        found = Counter(mutant.outcome for mutant in self.sample if mutant.outcome)
        row = {"mutants": len(self.made.mutant_names), "passed_over": self.passed_over, "run": found.total()}
        row |= {how.replace(" ", "_"): found[how] for how in ("dead", OUT_OF_TIME, DEAD_SINCE, "alive")}
        if found.total():
            interval = binomtest(found["alive"] + found[DEAD_SINCE], found.total()).proportion_ci(method="wilson")
            row |= {"low": round(interval.low, 3), "high": round(interval.high, 3)}
        return row


def indented(lines: list[str]) -> list[str]:
    """Return the lines of a function or method as the body of an if."""
    return lines if lines[0].startswith(" ") else [f" {line}" for line in lines]


class Mutant:
    """One change of one function."""

    def __init__(self, module: Module, name: str):
        self.module, self.name = module, name
        self.key = f"sense7.{module.name}.{name}"
        self.reached_as = self.key.partition("__mutmut_")[0]
        self.version = f"{name} {module.made.hash_by_function_name[name.partition('__mutmut_')[0]]}"

    @property
    def outcome(self) -> str | None:
        """What became of it when it was last run: dead, out of time, dead since or alive."""
        return self.module.outcomes.get(self.version)

    def versions(self) -> tuple[ast.FunctionDef, ast.FunctionDef]:
        """Return the function before and after."""
        original = f"{self.name.partition('__mutmut_')[0]}__mutmut_orig"
        return self.module.function(original), self.module.function(self.name)

    def is_idle(self) -> bool:
        """Whether only the text of strings with a blank differs, or the guard of a zip."""
        before, after = map(outline, self.versions())
        return before == after

    def difference(self) -> str:
        """The lines that differ."""
        before, after = (
            ast.unparse(function).replace(function.name, "function", 1).splitlines() for function in self.versions()
        )
        lines = list(difflib.unified_diff(before, after, lineterm="", n=0))[2:]
        return "\n".join(line for line in lines if not line.startswith("@@"))


def outline(function: ast.FunctionDef) -> list:
    """Return all that a function consists of, but for its name, the text of strings with a blank, and guards of zip."""
    guards = [node for node in ast.walk(function) if isinstance(node, ast.keyword) and node.arg == "strict"]
    left_out = {function, *(part for guard in guards for part in ast.walk(guard))}
    parts = []
    for node in ast.walk(function):
        plain = [value for _, value in ast.iter_fields(node) if isinstance(value, str | int | float | None)]
        prose = isinstance(node, ast.Constant) and isinstance(node.value, str) and " " in node.value.strip("X")
        if node not in left_out:
            parts.append((type(node), "a text" if prose else plain))
    return parts


def run(modules: list[Module], sample: list[Mutant], jobs: int, budget: float) -> None:
    """Run each mutant of the sample against its tests, each in a process forked after all tests were collected.

    In a copy of the checkout, so that nothing in it is ever mutated.
    """
    with tempfile.TemporaryDirectory(dir=OUTPUT) as folder:
        (Path(folder) / "shared").symlink_to(ROOT.parent / "shared")
        copy = Path(folder) / "copy"
        shutil.copytree(ROOT, copy, ignore=shutil.ignore_patterns("_build", ".*", "__pycache__", "predictions_*"))
        for module in modules:
            (copy / module.path).write_text(module.made.code, encoding="utf-8")
        docstrings = DOCTESTS.format(names=[f"sense7.{module.name}" for module in modules])
        (copy / "tests" / "test_docstrings.py").write_text(docstrings, encoding="utf-8")
        os.environ["PYTHONPATH"] = str(copy / "src")
        sys.path.insert(0, str(copy / "src"))
        os.chdir(copy)
        import pytest

        places = sorted({place for module in modules for place in module.tests(own=not budget)})
        arguments = ["-q", "-s", "-p", "no:cacheprovider", *places, "tests/test_docstrings.py"]
        status = pytest.main(arguments, plugins=[Forks(sample, jobs, budget)])
        os.chdir(ROOT)
    if status not in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED):
        sys.exit(f"pytest ended with {status!r}")


class Forks:
    """Instead of pytest's loop over tests: a loop over mutants, each with its tests in a process of its own."""

    def __init__(self, sample: list[Mutant], jobs: int, budget: float):
        self.sample, self.jobs, self.budget = sample, jobs, budget

    def pytest_runtestloop(self, session) -> bool:
        """Find out which test reaches what, and then run the mutants."""
        gc.collect()
        gc.freeze()
        began = time.monotonic()
        self.seconds, self.reached_by = self.reach(session)
        print(f"{len(self.seconds)} tests pass, in {time.monotonic() - began:.0f} s", flush=True)
        running: dict[int, Mutant] = {}
        for mutant in [*self.sample, None]:
            while running and (mutant is None or len(running) >= self.jobs):
                process, status = os.wait()
                ended = running.pop(process)
                ended.module.note(ended, OUTCOMES.get(os.waitstatus_to_exitcode(status), OUT_OF_TIME))
                print(f"{time.monotonic() - began:5.0f} s  {ended.outcome:12} {ended.key}", flush=True)
            if mutant:
                running[self.start(session, mutant)] = mutant
        return True

    def reach(self, session) -> tuple[dict[str, float], dict[str, set[str]]]:
        """Run all tests without a mutant: seconds of those that pass, and the tests that reach each function."""
        from mutmut.state import state

        modules = {mutant.module.name for mutant in self.sample}
        items = [item for item in session.items if self.budget or any(is_own(item, name) for name in modules)]
        with tempfile.NamedTemporaryFile(suffix=".json") as file:
            if not os.fork():
                os.environ["MUTANT_UNDER_TEST"] = "stats"
                seconds, reached_by = {}, defaultdict(list)
                try:
                    for item, failed in protocol(items):
                        for function in state()._stats:
                            reached_by[function].append(item.nodeid)
                        state()._stats.clear()
                        if failed:
                            print(f"left out, as it fails without a mutant: {item.nodeid}", file=sys.__stderr__)
                        else:
                            seconds[item.nodeid] = item.took
                    Path(file.name).write_text(json.dumps([seconds, reached_by]))
                finally:
                    os._exit(0)  # nothing of the parent's is tidied away here
            os.wait()
            seconds, reached_by = json.loads(Path(file.name).read_text())
        return seconds, {function: set(tests) for function, tests in reached_by.items()}

    def chosen(self, session, mutant: Mutant) -> list:
        """Return the tests for a mutant: its module's own, then others that reach its function, quick ones first."""
        reaching, name = self.reached_by.get(mutant.reached_as, set()), mutant.module.name
        own, others, spent = [], [], 0.0
        items = [item for item in session.items if item.nodeid in self.seconds]
        for item in sorted(items, key=lambda item: (item.nodeid not in reaching, self.seconds[item.nodeid])):
            if is_own(item, name):
                own.append(item)
            elif item.nodeid in reaching and spent < self.budget:
                others.append(item)
                spent += self.seconds[item.nodeid]
        return own + sorted(others, key=lambda item: item.path.name)

    def start(self, session, mutant: Mutant) -> int:
        """Fork a process that ends with 1 when a test fails, and with 0 when none does."""
        process = os.fork()
        if process:
            return process
        items = self.chosen(session, mutant)
        limit = int(GRACE + 4 * sum(self.seconds[item.nodeid] for item in items) + time.process_time())
        resource.setrlimit(resource.RLIMIT_CPU, (limit, limit + 1))
        signal.alarm(10 * limit)
        os.environ["MUTANT_UNDER_TEST"] = mutant.key
        os._exit(int(any(failed for _, failed in protocol(items))))


def is_own(item, name: str) -> bool:
    """Whether a test stands in the module's own file of tests, or in its docstrings."""
    return item.path.stem in own_files(name) or item.name.endswith(f"[sense7.{name}]")


def own_files(name: str) -> set[str]:
    """Names that a module's own file of tests may have, without the ending."""
    parts = name.split(".")
    return {f"test_{part}" for part in (*parts[1:], "_".join(parts), "_".join(parts[1:]))}


def protocol(items: list) -> Iterator[tuple]:
    """Run tests, with nothing printed: each one, and whether it failed."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    sys.stdout = open(os.devnull, "w")  # noqa: SIM115, PTH123
    for item, following in zip(items, [*items[1:], None], strict=True):
        item.session.testsfailed, began = 0, sum(os.times()[:4])
        with contextlib.redirect_stderr(sys.stdout):
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
        item.took = sum(os.times()[:4]) - began
        yield item, bool(item.session.testsfailed)


if __name__ == "__main__":
    main()
