"""Kernels that start warm: equal to fresh ones, gone with the build, and done without where there is no fork."""

import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from sense7 import sources
from sense7.book import execute, warm_kernels
from sense7.book.notebooks import load_notebook
from sense7.book.plan import plan
from sense7.book.warm_kernels import Nursery, NurseryError

ROOT = Path(__file__).resolve().parents[2]
REAL = ("03-reliability", "09-conditions")

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="kernels are forked under Linux only")


def run(edition, notebooks, given, data="synthetic", **options):
    """Execute notebooks in a new edition; returns every file that they gave, and what was said."""
    path, provenance = sources.resolve(data)
    sources.copy_for_edition(path, provenance, edition / "data")
    given = {"data": f"../data/{provenance.file}", "results": "../results"} | given
    said = []
    jobs = plan(notebooks, given, provenance.sha256, [])
    execute.run(jobs, edition, edition / "cache", workers=2, say=said.append, **options)
    files = [*(edition / "notebooks").iterdir(), *(edition / "results").iterdir()]
    return {path.name: path.read_bytes() for path in files}, said


def test_a_warm_kernel_gives_what_a_fresh_one_gives_to_the_byte(tmp_path):
    notebooks = [load_notebook(ROOT / "notebooks" / f"{name}.md") for name in REAL]
    warm, fresh = (run(tmp_path / str(warm), notebooks, {"draws": 100}, warm=warm) for warm in (True, False))
    assert warm == fresh
    assert warm[1] == []


@pytest.fixture
def two(checkout, recording_code):
    """Two notebooks that record the state that numpy's old generator begins with."""
    for name in ("01-a", "02-b"):
        state = "import numpy\n\nseed = int(numpy.random.get_state()[1][:5].sum())"
        checkout.notebook(name, recording_code(name, f"state_{name[-1]}", before=f"{state}\n"))
    notebooks = [load_notebook(checkout.root / "notebooks" / f"{name}.md") for name in ("01-a", "02-b")]
    return notebooks, {}, str(checkout.root / "mine.xlsx")


def test_copies_do_not_share_a_random_state(tmp_path, two):
    files, said = run(tmp_path / "edition", *two)
    states = [json.loads(files[f"{name}.json"])[0]["estimate"] for name in ("01-a", "02-b")]
    assert states[0] != states[1]
    assert said == []


@pytest.fixture
def worker():
    """A worker of a cluster, which is what this process is to a task; its kernels end with the test."""
    execute._kernels_of_worker.cache_clear()
    yield execute.execute_apart
    execute._kernels_of_worker().close()
    execute._kernels_of_worker.cache_clear()


def test_a_worker_reads_the_workbook_of_a_build_once_and_then_that_of_the_next(
    tmp_path, checkout, recording_code, worker
):
    """A notebook records what was read before it began: one workbook, which is the one that it loads."""
    loading = "import os\n\nimport sense7 as s7\nfrom sense7 import loading\n\n"
    loading += "before = len(loading._read_ahead)\ns7.load(data)\nleft = len(loading._read_ahead)\n"
    for name in ("01-a", "02-b"):
        nursery = f"\nrecord.value('nursery_{name[:2]}', os.getppid(), n=1, unit='id', method='none')"
        checkout.notebook(name, recording_code(name, f"read_{name[:2]}", "10 * before + left", loading) + nursery)
    notebooks = [load_notebook(checkout.root / "notebooks" / f"{name}.md") for name in ("01-a", "02-b")]
    found = []
    for number, workbook in enumerate(("mine.xlsx", "mine.xlsx", "other.xlsx")):
        edition = tmp_path / str(number)
        for folder in ("data", "notebooks", "results"):
            (edition / folder).mkdir(parents=True)
        shutil.copyfile(checkout.root / "mine.xlsx", edition / "data" / workbook)
        jobs = plan(notebooks, {"data": f"../data/{workbook}", "results": "../results"}, "", [])
        for name, job in jobs.items():
            worker(job, edition, edition / name)
            found.append([value["estimate"] for value in json.loads((edition / name / "values.json").read_text())])
    assert [read for read, _ in found] == [10] * 6
    assert len({nursery for _, nursery in found}) == 1


@pytest.mark.parametrize("how", ["another system", "dies at once"])
def test_without_a_fork_kernels_start_fresh_and_it_is_said_once(tmp_path, monkeypatch, two, how):
    if how == "another system":
        monkeypatch.setattr(warm_kernels, "FORKS", False)
    else:
        monkeypatch.setattr(warm_kernels, "COMMAND", ("/bin/false",))
    files, said = run(tmp_path / "edition", *two)
    assert sorted(files) == ["01-a.ipynb", "01-a.json", "02-b.ipynb", "02-b.json"]
    assert len(said) == 1
    assert said[0].startswith("kernels start fresh")


SLEEPER = """
import os, sys
from sense7.book.warm_kernels import Nursery

nursery = Nursery(dict(os.environ))
kernel = nursery.fork(["-f", sys.argv[1]], sys.argv[2], dict(os.environ))
print(kernel.pid, nursery._process.pid, flush=True)
sys.stdin.read()
"""


def test_a_killed_build_takes_its_kernels_with_it(tmp_path, running, ends):
    arguments = [str(tmp_path / "connection.json"), str(tmp_path)]
    with subprocess.Popen(
        [sys.executable, "-c", SLEEPER, *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as build:
        kernel, nursery = map(int, build.stdout.readline().split())
        assert running(kernel)
        assert running(nursery)
        build.kill()
    assert ends(kernel)
    assert ends(nursery)


def test_one_that_nobody_asked_for_a_kernel_ends_at_once(monkeypatch):
    monkeypatch.setattr(warm_kernels, "COMMAND", (sys.executable, "-c", "import time; time.sleep(600)"))
    nursery = Nursery(dict(os.environ))
    nursery.close()
    assert nursery._process.returncode == -signal.SIGKILL


def test_the_end_of_a_kernel_is_known_with_its_exit_code(tmp_path, ends):
    nursery = Nursery(dict(os.environ))
    try:
        first, second = (
            nursery.fork(["-f", str(tmp_path / f"{name}.json")], str(tmp_path), dict(os.environ)) for name in "ab"
        )
        assert first.poll() is None
        with pytest.raises(subprocess.TimeoutExpired):
            first.wait(timeout=0.05)
        first.kill()
        assert first.wait(timeout=300) == -signal.SIGKILL
        assert first.poll() == -signal.SIGKILL
        first.terminate()  # nothing, once it has ended
        assert second.poll() is None
    finally:
        nursery.close()
    assert second.wait(timeout=300) == -signal.SIGKILL
    assert ends(second.pid)
    with pytest.raises(NurseryError, match="gone"):
        nursery.fork([], str(tmp_path), {})
