"""Execution: in order, side by side, only what changed, the same to the last byte, and a clear word where it fails."""

import errno
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import textwrap
import threading
import time
from pathlib import Path

import pytest

from helpers import naming
from helpers.checkout import recording
from sense7.book import execute, kernels
from sense7.book import jobs as jobs_module
from sense7.book.code import Library
from sense7.book.jobs import plan
from sense7.book.notebooks import find_notebooks
from sense7.errors import BuildError
from sense7.processes import FIXED

ROOT = Path(__file__).resolve().parents[2]
GIVEN = {"data": "../data/mine.xlsx", "results": "../results"}


class Runner:
    """Plans and runs the notebooks of a checkout; says what was executed and what came from the cache."""

    def __init__(self, checkout):
        self.checkout, self.count, self.library = checkout, 0, Library

    def plan(self, workbook="0" * 64, judged=(), **given):
        return plan(self.checkout.root, GIVEN | given, workbook, judged, self.library())

    def run(self, workers=2, **options):
        self.count += 1
        self.edition = self.checkout.root / f"edition {self.count}"
        self.said = []
        cache = self.checkout.root / "cache"
        return execute.run(
            self.plan(**options),
            self.edition,
            cache,
            workers=workers,
            say=lambda line, *_: self.said.append(line),
        )

    def results(self, name):
        return json.loads((self.edition / "results" / f"{name}.json").read_text("utf-8"))


@pytest.fixture
def runner(checkout):
    return Runner(checkout)


# Digests: what makes a notebook run again (nothing runs here)


def changed(before, after):
    return [name for name in before if before[name].digest != after[name].digest]


@pytest.fixture
def chain(runner):
    """03-c needs 02-b, which needs 01-a; 04-d stands alone and has a parameter more."""
    runner.checkout.notebook("01-a", "1")
    runner.checkout.notebook("02-b", "1", needs=["01-a"])
    runner.checkout.notebook("03-c", "1", needs=["02-b"])
    runner.checkout.notebook("04-d", "1", parameters="draws = 100\nseed = 1")
    return runner


def test_an_edit_changes_the_notebook_and_all_that_need_it(chain):
    before = chain.plan()
    chain.checkout.notebook("02-b", "2", needs=["01-a"])
    assert changed(before, chain.plan()) == ["02-b", "03-c"]


def test_a_parameter_changes_the_notebooks_that_know_it(chain):
    before = chain.plan()
    assert changed(before, chain.plan(draws=200)) == ["04-d"]
    assert sorted(changed(before, chain.plan(seed=2))) == ["01-a", "02-b", "03-c", "04-d"]


def test_predictions_change_the_notebooks_that_look_at_them(chain):
    chain.checkout.notebook("05-e", "1", parameters='predictions = ""')
    judged = [chain.checkout.root / "judge.csv"]
    judged[0].write_text("1", "utf-8")
    before = chain.plan(judged=judged)
    judged[0].write_text("2", "utf-8")
    assert changed(before, chain.plan(judged=judged)) == ["05-e"]


def test_a_stored_result_changes_the_notebooks_that_show_it(chain):
    root = chain.checkout.root
    chain.checkout.notebook("05-e", "1", stored=["data/coverage.json"])
    plans = [plan(root, {})]
    for content in ("1", "2"):
        (root / "data" / "coverage.json").write_text(content, "utf-8")
        plans.append(plan(root, {}))
        assert changed(*plans[-2:]) == ["05-e"]
    (root / "data" / "expected.json").write_text("1", "utf-8")
    assert changed(plans[-1], plan(root, {})) == []


@pytest.mark.parametrize("what", ["nothing", "workbook", "installed", "versions", "threads"])
def test_workbook_versions_and_threads_change_every_notebook(chain, monkeypatch, tmp_path, what):
    before = chain.plan()
    if what == "installed":  # a package that the lock names
        (tmp_path / "site" / "a-2.dist-info").mkdir(parents=True)
        monkeypatch.syspath_prepend(tmp_path / "site")
    elif what == "versions":
        monkeypatch.setattr(jobs_module, "versions", lambda: {"numpy": "another"})
    elif what == "threads":
        monkeypatch.setitem(FIXED, "OMP_NUM_THREADS", "2")
    after = chain.plan(workbook="1" * 64 if what == "workbook" else "0" * 64)
    assert changed(before, after) == ([] if what == "nothing" else list(before))


LIBRARY = {
    "__init__": "",
    "loading": "def load():\n    from sense7.parts.reading import read\n    return read()",
    "parts/__init__": "",
    "parts/reading": '"""Reads."""\n\ndef read():\n    """Read."""\n    return 1  # as it is',
    "parts/other": "def other():\n    return 2",
    "findings/__init__": "",
    "findings/turns": "from sense7.parts import other",
    "findings/words": "WORDS = 1",
}


@pytest.fixture
def library(chain, tmp_path):
    """A library of eight modules, by which notebooks are planned; gives a function that writes into it."""
    package = tmp_path / "sense7"

    def write(name, text):
        path = package / (name if "." in name else f"{name}.py")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")

    for name, text in LIBRARY.items():
        write(name, text)
    chain.library = lambda: Library(package, {"load": "loading"})
    return write


@pytest.mark.parametrize(
    ("name", "text", "again"),
    [
        ("findings/turns", "from sense7.parts import other\n\nTURNS = 2", ["01-a"]),
        ("findings/words", "WORDS = 2", ["02-b"]),
        ("parts/other", "def other():\n    return 3", ["01-a"]),
        ("parts/reading", "def read():\n    return 2", ["01-a", "02-b"]),
        ("parts/table.csv", "1", ["01-a", "02-b"]),
        ("parts/static/page.css", "1", ["01-a", "02-b"]),
        ("findings/words.toml", "1", ["01-a", "02-b"]),
        ("parts/reading", "# Other words.\n\ndef read():\n    'Other words.'\n    return 1", []),
        ("parts/new", "NEW = 1", []),
    ],
)
def test_an_edit_of_a_module_concerns_the_notebooks_that_import_it(
    chain, library, name, text, again
):
    for notebook, finding in (("01-a", "turns"), ("02-b", "words"), ("03-c", ""), ("04-d", "")):
        code = "1"
        if finding:
            code = f"from sense7.findings import {finding}\n{finding}.table(s7.load(data))"
        chain.checkout.notebook(notebook, "%matplotlib inline\nimport sense7 as s7", code)
    before = chain.plan()
    library(name, text)
    assert changed(before, chain.plan()) == again


LOADED = """
import sys
import textwrap
{code}
print(*sorted(name for name in sys.modules if name.partition(".")[0] == "sense7"))
"""


@pytest.mark.parametrize(
    "name",
    ["09", pytest.param("16", marks=pytest.mark.long), pytest.param("17", marks=pytest.mark.long)],
)
def test_every_module_that_an_execution_loads_is_in_the_key(name, tmp_path):
    """In a fresh process, with few resamples: what the cells of the notebook import while they run."""
    (notebook,) = (one for one in find_notebooks(ROOT) if one.name.startswith(name))
    cells = [source for source, metadata in json.loads(notebook.code)]
    given = notebook.defaults | {"results": str(tmp_path), "draws": 100}
    given = "\n".join(
        f"{key} = {value!r}" for key, value in given.items() if key in notebook.defaults
    )
    cells = [given if source.startswith("data =") else source for source in cells]
    code = LOADED.format(code="\n".join(cells))
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, cwd=tmp_path
    )
    assert done.returncode == 0, done.stderr
    assert set(done.stdout.splitlines()[-1].split()) <= Library().modules_of(notebook)


@pytest.mark.parametrize(
    ("needs", "circle"), [("03-c", ["01-a", "02-b", "03-c"]), ("01-a", ["01-a"])]
)
def test_a_circle_of_needs_is_named(chain, needs, circle):
    chain.checkout.notebook("01-a", "1", needs=[needs])
    with naming.refused(" -> ", *circle):
        chain.plan()


# Runs


def test_in_order_side_by_side_and_only_once(runner):
    """One walk through the life of a cache, since every kernel takes its seconds to start."""
    # Each waits for a file that the other one writes: neither ends unless both run at the same time.
    meet = (
        "import pathlib, time\nfolder = pathlib.Path(results).resolve().parents[3]\n(folder / '{0}').touch()\n"
        "while not (folder / '{1}').exists():\n    time.sleep(0.05)\n"
    )
    checkout = runner.checkout
    checkout.notebook("01-a", recording("01-a", "a", before=meet.format("one", "two")))
    checkout.notebook("02-b", recording("02-b", "b", before=meet.format("two", "one")))
    reading = "import json, pathlib\nread = json.loads((pathlib.Path(results) / '01-a.json').read_text())[0]\n"
    checkout.notebook(
        "03-c", recording("03-c", "c", 'read["estimate"]', reading), needs=["01-a", "02-b"]
    )
    folder = os.getcwd()  # noqa: PTH109
    assert sorted(runner.run(seed=5)) == ["01-a", "02-b", "03-c"]
    assert runner.said[-1].startswith("03-c: ")
    assert "(3 of 3)" in runner.said[-1]
    assert runner.results("03-c")[0]["estimate"] == 5
    assert os.getcwd() == folder, "the folder of this process was changed"  # noqa: PTH109
    assert runner.results("01-a")[0]["cell"] == 3  # parameters, injected parameters, this one

    assert runner.run(seed=5) == []
    assert [line.partition(" (")[0].partition(": ")[2] for line in runner.said] == ["unchanged"] * 3
    assert runner.results("03-c")[0]["estimate"] == 5

    checkout.notebook("03-c", recording("03-c", "d"), needs=["01-a"])
    assert runner.run(seed=5) == ["03-c"]
    assert sorted(path.name[:4] for path in (checkout.root / "cache").iterdir()) == [
        "01-a",
        "02-b",
        "03-c",
        "03-c",
    ]


FAILING = {
    "nothing recorded": "from sense7.record import Recorder\n\nrecord = Recorder('01-a', results)",
    "kernel dies": "import os\n\nos._exit(3)",
}


@pytest.mark.parametrize("way", FAILING)
def test_other_ways_to_fail_name_the_notebook(runner, way):
    runner.checkout.notebook("01-a", FAILING[way])
    with naming.refused("01-a.md: ", error=BuildError):
        runner.run()
    assert list((runner.checkout.root / "cache").iterdir()) == []


def test_an_interrupt_kills_what_runs_at_once(runner, ends):
    place = runner.checkout.root / "pid"
    write = f"pathlib.Path({str(place)!r}).write_text(str(os.getpid()))"
    runner.checkout.notebook("01-a", "import os, pathlib, time", write)
    path = runner.checkout.root / "notebooks" / "01-a.md"
    path.write_text(
        path.read_text("utf-8") + "\n```{code-cell} ipython3\ntime.sleep(900)\n```\n", "utf-8"
    )

    def interrupt():
        deadline = time.monotonic() + 300
        while not (place.exists() and place.read_text("utf-8")) and time.monotonic() < deadline:
            time.sleep(0.05)
        started.append(time.monotonic())
        signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)

    started = []
    thread = threading.Thread(target=interrupt)
    thread.start()
    with pytest.raises(KeyboardInterrupt):
        runner.run()
    thread.join()
    assert time.monotonic() - started[0] < 300
    assert ends(int(place.read_text("utf-8")))
    assert list((runner.checkout.root / "cache").iterdir()) == []


def broken(*given):
    raise OSError("no kernel here")


@pytest.mark.parametrize("name", ["be_kernel", "start_fork_server"])
def test_where_a_kernel_can_not_be_forked_it_starts_fresh(runner, monkeypatch, name):
    """The launch raises in the forked process, or there is no fork server."""
    runner.checkout.notebook("01-a", recording("01-a", "a"))
    monkeypatch.setattr(kernels, name, broken)
    assert runner.run() == ["01-a"]
    (message,) = [line for line in runner.said if not line.startswith("01-a")]
    reason = ["no kernel here"] if name == "start_fork_server" else []
    naming.check(message, *reason)


@pytest.mark.skipif(not execute.FORKS, reason="kernels are forked under Linux alone")
def test_no_process_of_a_build_begins_with_the_key_of_a_judge():
    lines = """
        import os, psutil
        from pathlib import Path
        from sense7.book.kernels import start_fork_server
        from sense7.processes import without_keys

        start_fork_server([], without_keys())
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


@pytest.mark.parametrize("forks", [True, False])
def test_a_kernel_that_the_system_kills_is_said_with_what_helps(runner, monkeypatch, forks):
    monkeypatch.setattr(execute, "FORKS", forks and execute.FORKS)
    runner.checkout.notebook("01-a", "import os\n\nos.kill(os.getpid(), 9)")
    with naming.refused("01-a.md: ", "--jobs", error=BuildError):
        runner.run()


def test_forked_kernels_share_no_random_state(runner):
    drawing = (
        "import random\n\nimport numpy as np\n\nboth = f'{random.random()} {np.random.random()}'\n"
    )
    for name in ("01-a", "02-b"):
        runner.checkout.notebook(name, recording(name, name[-1], "both", drawing))
    runner.run()
    one, two = (runner.results(name)[0]["estimate"].split() for name in ("01-a", "02-b"))
    assert not set(one) & set(two)


# Prose: what was executed gets that which the notebook has now


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
    assert "A cell of its own." in kept.decode()


# Same again: neither threads nor workers nor the way kernels start change a number, to the last byte.

CODE = """\
import numpy as np
import threadpoolctl
import sense7 as s7

record = s7.Recorder("{name}", results)
how = {{"computed_by": "a cell"}}
random = np.random.default_rng(seed)
many = random.normal(size=(600, 600))
inverse = np.linalg.inv(many @ many.T)
record.value("sum_of_{name}", float(inverse.sum()), n=600, unit="levels", method="sum of an inverse", **how)
record.value("eigenvalue_of_{name}", float(np.linalg.eigvalsh(inverse)[-1]), n=600, unit="levels", method="one", **how)
record.value("order_of_{name}", "".join({{"a", "b", "c", "d"}}), n=4, unit="letters", method="order of a set", **how)
threads = max(pool["num_threads"] for pool in threadpoolctl.threadpool_info())
record.value("threads_of_{name}", threads, n=1, unit="threads", method="asked of the libraries", **how)
inverse[:2, :2]"""
NAMES = ("01-a", "02-b")

WAYS = {
    "forked": {"threads": "4", "workers": 2, "forks": execute.FORKS},
    "fresh": {"threads": "1", "workers": 1, "forks": False},
}


@pytest.fixture(scope="module")
def executed(new_checkout):
    """Execute two notebooks in both ways: way -> file -> bytes."""
    checkout = new_checkout()
    for name in NAMES:
        checkout.notebook(name, CODE.format(name=name))
    jobs = plan(checkout.root, {"results": "../results"})
    found = {}
    for number, (way, how) in enumerate(WAYS.items()):
        folder = checkout.root / f"edition {number}"
        with pytest.MonkeyPatch.context() as patch:
            for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
                patch.setenv(variable, how["threads"])
            patch.setenv("PYTHONHASHSEED", str(number))
            patch.setattr(execute, "FORKS", how["forks"])
            execute.run(jobs, folder, folder / "cache", workers=how["workers"])
        files = [*folder.glob("results/*.json"), *folder.glob("notebooks/*.ipynb")]
        found[way] = {path.name: path.read_bytes() for path in files}
    return found


def test_threads_workers_and_kernels_change_no_byte(executed):
    assert set(executed["fresh"]) == {
        f"{name}.{ending}" for name in NAMES for ending in ("json", "ipynb")
    }
    assert executed["forked"] == executed["fresh"]


# Where the tasks of a build run: on this machine, or on a cluster (test_scheduler_cluster.py).


def test_without_a_way_to_this_machine_itself_no_kernel_is_waited_for(runner, monkeypatch):
    runner.checkout.notebook("01-a", recording("01-a", "a"))

    def unreachable(address, **options):
        raise OSError(errno.ENETUNREACH, os.strerror(errno.ENETUNREACH))

    monkeypatch.setattr(socket, "create_connection", unreachable)
    with naming.refused("127.0.0.1", os.strerror(errno.ENETUNREACH)):
        runner.run()
    assert list((runner.checkout.root / "cache").iterdir()) == []
