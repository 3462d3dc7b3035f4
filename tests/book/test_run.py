"""Execution: in order, side by side, only what changed, the same to the last byte, and a clear word where it fails."""

import json
import os
import shutil
import signal
import subprocess
import sys
import textwrap
import threading

import pytest

from helpers import interrupting, naming
from helpers.checkout import recording
from sense7.book import run
from sense7.book.code import Library
from sense7.book.run import execute_notebooks, in_threads, plan
from sense7.errors import BuildError
from sense7.processes import FIXED

GIVEN = {"data": "../data/mine.xlsx", "results": "../results"}


class Runner:
    """Plans and runs the notebooks of a checkout; says what was executed and what came from the cache."""

    def __init__(self, checkout):
        self.checkout = checkout
        self.count = 0

    def plan(self, workbook="0" * 64, judged=(), **parameters):
        return plan(self.checkout.root, GIVEN | parameters, workbook, judged)

    def run(self, workers=2, **options):
        self.count += 1
        root = self.checkout.root
        self.edition = root / f"edition {self.count}"
        self.said = []
        jobs = self.plan(**options)
        with in_threads(jobs, root / "cache", workers) as execution:
            return execute_notebooks(
                jobs,
                self.edition,
                root / "cache",
                execution,
                failed=root / "failed",
                say=self.said.append,
            )

    def estimate(self, name):
        return json.loads((self.edition / "results" / f"{name}.json").read_text("utf-8"))[0][
            "estimate"
        ]


@pytest.fixture
def runner(checkout):
    return Runner(checkout)


def changed(before, after):
    return sorted(name for name in before if before[name].digest != after[name].digest)


@pytest.fixture
def chain(runner):
    """Four notebooks; 04-d has a parameter more, and reads no data."""
    runner.checkout.notebook("01-a", "1")
    runner.checkout.notebook("02-b", "1")
    runner.checkout.notebook("03-c", "1")
    runner.checkout.notebook("04-d", "1", parameters="draws = 100\nseed = 1")
    return runner


def test_a_digest_changes_with_code_parameters_data_and_packages(chain, monkeypatch):
    before = chain.plan()
    assert changed(before, chain.plan()) == []
    assert changed(before, chain.plan(draws=200)) == ["04-d"]
    assert changed(before, chain.plan(seed=2)) == ["01-a", "02-b", "03-c", "04-d"]
    assert changed(before, chain.plan(workbook="1" * 64)) == ["01-a", "02-b", "03-c"]
    chain.checkout.notebook("02-b", "2")
    assert changed(before, chain.plan()) == ["02-b"]
    monkeypatch.setitem(FIXED, "OMP_NUM_THREADS", "2")
    assert changed(before, chain.plan()) == sorted(before)


def test_predictions_and_stored_results_change_the_notebooks_that_read_them(chain):
    root = chain.checkout.root
    chain.checkout.notebook("05-e", "1", parameters='predictions = ""')
    chain.checkout.notebook("06-f", "1", stored=["data/coverage.json"])
    judged = [root / "judge.csv"]
    judged[0].write_text("1", "utf-8")
    before = chain.plan(judged=judged)
    judged[0].write_text("2", "utf-8")
    (root / "data" / "coverage.json").write_text("1", "utf-8")
    assert changed(before, chain.plan(judged=judged)) == ["05-e", "06-f"]


LIBRARY = {
    "__init__": "",
    "loading": "def load():\n    from sense7.parts.reading import (\n        read\n    )\n    return read()",
    "parts/__init__": "",
    "parts/reading": "READ = 1",
    "parts/other": "OTHER = 2",
    "findings/__init__": "",
    "findings/turns": "from sense7.parts import other as one",
    "findings/words": "WORDS = 1",
}


@pytest.mark.parametrize(
    ("name", "notebooks"),
    [
        ("findings/turns.py", ["01-a"]),
        ("findings/words.py", ["02-b"]),
        ("parts/other.py", ["01-a"]),
        ("parts/reading.py", ["01-a", "02-b"]),
        ("parts/table.csv", ["01-a", "02-b"]),
        ("parts/new.py", []),
    ],
)
def test_an_edit_concerns_notebooks_that_import_it(chain, tmp_path, monkeypatch, name, notebooks):
    package = tmp_path / "sense7"
    for module, text in LIBRARY.items():
        (package / module).parent.mkdir(parents=True, exist_ok=True)
        (package / f"{module}.py").write_text(text, "utf-8")
    monkeypatch.setattr(run, "Library", lambda: Library(package))
    for notebook, finding in (("01-a", "turns"), ("02-b", "words")):
        chain.checkout.notebook(notebook, "import sense7 as s7", f"s7.{finding}.f(s7.load(data))")
    before = chain.plan()
    (package / name).write_text("NEW = 1", "utf-8")
    assert changed(before, chain.plan()) == notebooks


def test_side_by_side_and_only_once(runner):
    """One walk through the life of a cache, since every kernel takes its seconds to start."""
    # Each waits for a file that the other one writes: neither ends unless both run at the same time.
    meet = (
        "import pathlib, time\nfolder = pathlib.Path(results).resolve().parents[3]\n(folder / '{0}').touch()\n"
        "while not (folder / '{1}').exists():\n    time.sleep(0.05)\n"
    )
    checkout = runner.checkout
    checkout.notebook("01-a", recording("01-a", "a", before=meet.format("one", "two")))
    checkout.notebook("02-b", recording("02-b", "b", before=meet.format("two", "one")))
    checkout.notebook("03-c", recording("03-c", "c"))
    assert sorted(runner.run(seed=5)) == ["01-a", "02-b", "03-c"]
    assert runner.estimate("03-c") == 5
    assert runner.run(seed=5) == []
    assert runner.said == []
    assert runner.estimate("03-c") == 5
    checkout.notebook("03-c", recording("03-c", "d"))
    assert runner.run(seed=5) == ["03-c"]
    naming.check(runner.said[0], "03-c: ", "page")
    assert len(list((checkout.root / "cache").iterdir())) == 4


@pytest.mark.parametrize(
    ("code", "named"),
    [
        ("from sense7.record import Recorder\n\nrecord = Recorder('01-a', results)", []),
        ("import os\n\nos._exit(3)", []),
        ("import os\n\nos.kill(os.getpid(), 9)", ["--jobs"]),
    ],
)
def test_a_failure_names_the_notebook_and_nothing_of_it_is_kept(runner, code, named):
    runner.checkout.notebook("01-a", code)
    with naming.refused("01-a.md: ", *named, error=BuildError):
        runner.run()
    assert list((runner.checkout.root / "cache").iterdir()) == []


def test_a_check_by_hand_that_these_data_can_not_give_is_left_out_with_the_reason(runner):
    missing = 'record.value("gap", n=None, unit="u", method="m", reason="too few", computed_by="a")'
    path = runner.checkout.notebook("01-a", f"{recording('01-a', 'a')}\n{missing}")
    cell = "\n```{{code-cell}} ipython3\n:tags: [by-hand]\n:needs: [{0}]\n\n{1}\n```\n"
    cells = [("gap of a.b", "1 / 0"), ("a of a.b", "'it ran'"), ("turns.overall", "{}['overall']")]
    text = path.read_text("utf-8") + "".join(cell.format(*one) for one in cells)
    path.write_text(text, "utf-8")
    runner.run()
    node = json.loads((runner.edition / "notebooks" / "01-a.ipynb").read_text("utf-8"))
    gap, ran, column = node["cells"][-3:]
    naming.check(gap["source"][0], "too few")
    naming.check(column["source"][0], "turns.overall", "KeyError")
    assert (gap["outputs"], column["outputs"]) == ([], [])
    assert ran["outputs"][0]["data"]["text/plain"] == ["'it ran'"]
    assert [cell["metadata"]["tags"][1:] for cell in (gap, ran)] == [
        ["skip-execution", "nbval-skip"],
        [],
    ]


def test_an_interrupt_kills_what_runs_at_once(runner, ends):
    place = runner.checkout.root / "pid"
    write = f"pathlib.Path({str(place)!r}).write_text(str(os.getpid()))"
    runner.checkout.notebook("01-a", "import os, pathlib, time", write, "time.sleep(900)")

    def interrupt():
        interrupting.until(lambda: place.exists() and place.read_text("utf-8"))
        signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)

    thread = threading.Thread(target=interrupt)
    thread.start()
    with pytest.raises(KeyboardInterrupt):
        runner.run()
    thread.join()
    assert ends(int(place.read_text("utf-8")))
    assert list((runner.checkout.root / "cache").iterdir()) == []


@pytest.mark.skipif(sys.platform != "linux", reason="kernels are forked under Linux alone")
def test_no_process_of_a_build_begins_with_the_key_of_a_judge():
    lines = """
        import os, psutil
        from pathlib import Path
        from sense7.book.kernels import start_fork_server

        start_fork_server()
        for child in psutil.Process().children():
            print(b"sk-secret" in Path(f"/proc/{child.pid}/environ").read_bytes())
        print(os.environ["SENSE7_JUDGE_KEY"])
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(lines)],
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | {"SENSE7_JUDGE_KEY": "sk-secret", "OPENAI_API_KEY": "sk-secret"},
    )
    assert (done.stdout.split(), done.stderr) == (["False", "False", "sk-secret"], "")


def test_other_prose_executes_nothing_and_gives_what_executing_would(runner):
    """Cells of prose that change, come and go, before and after the parameters, which were injected."""
    name, code = "01-a", recording("01-a", "seed_of_a")
    path = runner.checkout.notebook(
        name, code, "1 + 1", prose="Text with *stars*,\nover two lines."
    )
    assert runner.run(seed=5) == [name]
    text = path.read_text("utf-8").replace("over two lines.", "over\ntwo lines: ä.")
    tagged = '+++ {"tags": ["remove-cell"]}\n\nA cell of its own.\n'
    path.write_text(f"{text}\n{tagged}\n## A heading at the end\n", encoding="utf-8")
    assert runner.run(seed=5) == []
    kept = (runner.edition / "notebooks" / f"{name}.ipynb").read_bytes()
    shutil.rmtree(runner.checkout.root / "cache")
    assert runner.run(seed=5) == [name]
    assert kept == (runner.edition / "notebooks" / f"{name}.ipynb").read_bytes()
    assert "two lines: ä." in kept.decode()


CODE = """\
import random

import numpy as np
import threadpoolctl
import sense7 as s7

record = s7.Recorder("{name}", results)
how = {{"computed_by": "a cell"}}
many = np.random.default_rng(seed).normal(size=(600, 600))
inverse = np.linalg.inv(many @ many.T)
record.value("sum_of_{name}", float(inverse.sum()), n=600, unit="levels", method="sum of an inverse", **how)
record.value("order_of_{name}", "".join({{"a", "b", "c", "d"}}), n=4, unit="letters", method="order of a set", **how)
threads = max(pool["num_threads"] for pool in threadpoolctl.threadpool_info())
record.value("threads_of_{name}", threads, n=1, unit="threads", method="asked of the libraries", **how)
pathlib = __import__("pathlib")
drawn = f"{{random.random()}} {{np.random.random()}}"
pathlib.Path(results, "../../../../drawn.txt").resolve().open("a").write(drawn + "\\n")
inverse[:2, :2]"""


def test_threads_workers_and_kernels_change_no_byte(runner, monkeypatch):
    """Forked by two workers, and fresh by one; forked kernels share no random state."""
    gave = []
    for name in ("01-a", "02-b"):
        runner.checkout.notebook(name, CODE.format(name=name))
    for workers, forks in ((2, run.FORKS), (1, False)):
        monkeypatch.setenv("OMP_NUM_THREADS", str(2 * workers))
        monkeypatch.setattr(run, "FORKS", forks)
        runner.run(workers)
        shutil.rmtree(runner.checkout.root / "cache")
        files = [*runner.edition.glob("results/*.json"), *runner.edition.glob("notebooks/*.ipynb")]
        gave.append({path.name: path.read_bytes() for path in files})
    assert len(gave[0]) == 4
    assert gave[0] == gave[1]
    drawn = (runner.checkout.root / "drawn.txt").read_text().split()
    assert len(set(drawn)) == len(drawn)
