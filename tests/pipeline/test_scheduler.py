"""A book on a cluster: worker processes of this machine give what one process gives, and may die."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from sense7.errors import UserError
from sense7.loading import load
from sense7.pipeline.parts import statistics_of_parts
from sense7.pipeline.scheduler import Cluster, ThisMachine, connect
from sense7.workbook.partitions import write_partitions

NEEDS_DASK = "the extra cluster (dask.distributed) is not installed; it is in no lock"
WORKERS = 3


class LocalCluster:
    """A scheduler and worker processes, as a user would start them."""

    def __init__(self, folder):
        self.folder = folder
        self.file = folder / "scheduler.json"
        self.started = [self._start("dask_scheduler", "--host", "127.0.0.1", "--port", "0")]
        self.workers = [self.worker() for _ in range(WORKERS)]
        from distributed import Client

        with Client(scheduler_file=str(self.file), timeout="60s", set_as_default=False) as client:
            client.wait_for_workers(WORKERS, timeout=60)
            self.address = client.scheduler.address

    def _start(self, program, *options):
        command = [sys.executable, "-m", f"distributed.cli.{program}", "--scheduler-file", str(self.file)]
        log = (self.folder / f"{program}.log").open("a")
        return subprocess.Popen([*command, "--no-dashboard", *options], stdout=log, stderr=log, cwd=self.folder)

    def worker(self):
        options = ("--nthreads", "1", "--no-nanny", "--local-directory", str(self.folder))
        self.started.append(self._start("dask_worker", *options))
        return self.started[-1]

    def stop(self):
        for process in reversed(self.started):
            process.kill()
            process.wait()


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    pytest.importorskip("distributed", reason=NEEDS_DASK)
    made = LocalCluster(tmp_path_factory.mktemp("cluster"))
    yield made
    made.stop()


def several_notebooks(checkout, recording, code="", count=4):
    """A book of several notebooks, the last of which reads what the first recorded."""
    checkout.book(front="Seed: {value}`seed_of_a`.", name="01-a", code=recording("01-a", "seed_of_a"))
    names = [f"{number:02d}-b" for number in range(2, count + 1)]
    for name in names:
        numbers = "import numpy as np\n\ndrawn = np.random.default_rng(seed).normal(size=100).mean()\n"
        checkout.notebook(name, recording(name, f"drawn_{name[:2]}", "float(drawn)", numbers + code))
    reading = 'from sense7.record import read_values\n\nfound = read_values(results)["seed_of_a"]["estimate"]\n'
    checkout.notebook("09-c", recording("09-c", "read", "found", reading), needs=["01-a"])
    checkout.toc("book/ledger", *(f"notebooks/{name}" for name in ("01-a", *names, "09-c")))


def test_a_book_made_on_a_cluster_is_byte_for_byte_that_of_one_process(cluster, new_checkout, recording_code):
    books = []
    for options in ((), ("--scheduler", cluster.address)):
        checkout = new_checkout()
        several_notebooks(checkout, recording_code)
        done = checkout.sense7("build", "mine.xlsx", "--name", "same", *options)
        assert done.returncode == 0, done.stderr
        kept = ("results/", "notebooks/", "ledger.json")
        books.append({name: text for name, text in checkout.bytes("same").items() if name.startswith(kept)})
    assert len(books[0]) == 11
    assert books[0] == books[1]


def test_a_worker_that_is_killed_costs_its_own_task_only(cluster, new_checkout, recording_code):
    checkout = new_checkout()
    log = checkout.root / "begun"
    log.mkdir()
    # Each notebook notes every time that it begins; one waits for its end the first time.
    several_notebooks(
        checkout,
        recording_code,
        code=(
            "import os, pathlib, time, uuid\n"
            f"place = pathlib.Path({str(log)!r})\n"
            'begun = len(list(place.glob(f"{os.getppid()}-*")))\n'
            'mine = record_name = __import__("uuid").uuid4().hex\n'
        ),
    )
    slow = checkout.root / "notebooks" / "03-b.md"
    text = slow.read_text()
    mark = checkout.root / "slow"
    waiting = (
        f"import pathlib, time\n\nmark = pathlib.Path({str(mark)!r})\nfirst = not mark.exists()\n"
        "mark.touch()\nif first:\n    time.sleep(600)\n"
    )
    slow.write_text(text.replace("import numpy as np", waiting + "import numpy as np", 1))
    raise AssertionError((text, signal, time, os))
