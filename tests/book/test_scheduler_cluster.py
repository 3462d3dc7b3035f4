"""A book on a cluster: worker processes of this machine give what one process gives, and may die."""

import signal
import subprocess
import sys
import time

import pytest

from helpers.checkout import recording
from sense7.book import scheduler
from sense7.book.scheduler import Cluster
from sense7.errors import UserError

pytest.importorskip(
    "distributed", reason="the extra cluster (dask.distributed) is not installed; it is in no lock"
)

WORKERS = 3


class LocalCluster:
    """A scheduler and worker processes, as a user would start them."""

    def __init__(self, folder):
        self.folder = folder
        self.file = folder / "scheduler.json"
        self.started = [self._start("dask_scheduler", "--host", "127.0.0.1", "--port", "0")]
        self.workers = [self.worker() for _ in range(WORKERS)]
        from distributed import Client

        with Client(scheduler_file=str(self.file), timeout="300s", set_as_default=False) as client:
            client.wait_for_workers(WORKERS, timeout=300)
            self.address = client.scheduler.address

    def _start(self, program, *options):
        command = [
            sys.executable,
            "-m",
            f"distributed.cli.{program}",
            "--scheduler-file",
            str(self.file),
        ]
        with (self.folder / f"{program}.log").open("a") as log:
            return subprocess.Popen(
                [*command, "--no-dashboard", *options], stdout=log, stderr=log, cwd=self.folder
            )

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
    made = LocalCluster(tmp_path_factory.mktemp("cluster"))
    yield made
    made.stop()


def several_notebooks(checkout, before=lambda name: "", count=4):
    """A book of several notebooks, the last of which reads what the first recorded."""
    checkout.book(name="01-a", code=recording("01-a", "seed_of_a", before=before("01-a")))
    names = [f"{number:02d}-b" for number in range(2, count + 1)]
    numbers = "import numpy as np\n\ndrawn = np.random.default_rng(seed).normal(size=100).mean()\n"
    for name in names:
        checkout.notebook(
            name, recording(name, f"drawn_{name[:2]}", "float(drawn)", before(name) + numbers)
        )
    reading = 'from sense7.record import read_values\n\nfound = read_values(results)["seed_of_a"]["estimate"]\n'
    checkout.notebook(
        "09-c", recording("09-c", "read", "found", before("09-c") + reading), needs=["01-a"]
    )
    checkout.toc("book/ledger", *(f"notebooks/{name}" for name in ("01-a", *names, "09-c")))


def recorded(checkout, name):
    """What an edition's notebooks gave: file -> bytes."""
    kept = ("results/", "notebooks/", "ledger.json")
    return {
        file: content for file, content in checkout.bytes(name).items() if file.startswith(kept)
    }


def test_a_book_made_on_a_cluster_is_byte_for_byte_that_of_one_process(cluster, new_checkout):
    books = []
    for options in ((), ("--scheduler", cluster.address)):
        checkout = new_checkout()
        several_notebooks(checkout)
        done = checkout.sense7("build", "mine.xlsx", "--name", "same", *options)
        assert done.returncode == 0, done.stderr
        books.append(recorded(checkout, "same"))
    assert len(books[0]) == 12  # five notebooks and their values, what the reader found, the ledger
    assert books[0] == books[1]


def noting(folder, slow):
    """Code by which a notebook notes that it began; the slow one never ends the first time."""

    def before(name):
        code = (
            "import os, pathlib, time, uuid\n\n"
            f"place = pathlib.Path({str(folder)!r})\nbefore = list(place.glob({name + ' *'!r}))\n"
            f"(place / f'{name} {{uuid.uuid4()}}').write_text(str(os.getppid()))\n"
        )
        return code + ("if not before:\n    time.sleep(600)\n" if name == slow else "")

    return before


def test_a_worker_that_is_killed_costs_its_own_task_only(cluster, new_checkout, ends):
    import psutil

    checkout = new_checkout()
    begun = checkout.root / "begun"
    begun.mkdir()
    several_notebooks(checkout, noting(begun, "03-b"))
    build = checkout.start("build", "mine.xlsx", "--name", "kept", "--scheduler", cluster.address)
    try:
        until = time.monotonic() + 300
        # Four are done, and the one that waits has said which process its kernel belongs to.
        while len(list((checkout.root / "_build" / "cache").glob("0*"))) < 4 or not list(
            begun.glob("03-b *")
        ):
            assert time.monotonic() < until, build.poll()
            time.sleep(0.1)
        kernel = psutil.Process(int(next(begun.glob("03-b *")).read_text()))
        own = {process.pid: process for process in cluster.workers}
        killed = next(
            own[process.pid] for process in (kernel, *kernel.parents()) if process.pid in own
        )
        killed.send_signal(signal.SIGKILL)
        _, problems = build.communicate(timeout=300)
    finally:
        build.kill()
    cluster.workers.remove(killed)
    cluster.workers.append(cluster.worker())
    assert build.returncode == 0, problems
    times = {
        name: len(list(begun.glob(f"{name} *")))
        for name in ("01-a", "02-b", "03-b", "04-b", "09-c")
    }
    assert times == {"01-a": 1, "02-b": 1, "03-b": 2, "04-b": 1, "09-c": 1}
    assert ends(kernel.pid), "the kernels of a worker end with it"
    assert "read" in (checkout.editions / "kept" / "results" / "09-c.json").read_text()


def test_a_notebook_that_fails_on_a_cluster_is_named_as_ever(cluster, checkout):
    checkout.book(code="1 / 0")
    done = checkout.sense7("build", "mine.xlsx", "--scheduler", cluster.address)
    assert done.returncode == 1
    assert "01-a.md: code cell 3" in done.stderr
    assert "ZeroDivisionError" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_worker_with_other_code_is_refused(cluster, tmp_path, monkeypatch):
    for name in ("first", "second"):  # what a process has is looked up once for each folder
        (tmp_path / name).mkdir()
    Cluster(cluster.address, shared=tmp_path / "first").close()
    monkeypatch.setattr(scheduler, "library_digest", lambda: "other")
    with pytest.raises(UserError, match=rf"^--scheduler {cluster.address}: .*{tmp_path}/second"):
        Cluster(cluster.address, shared=tmp_path / "second")


def test_where_nothing_answers_the_message_says_how_to_start_a_scheduler(checkout):
    done = checkout.book().sense7("build", "mine.xlsx", "--scheduler", "tcp://127.0.0.1:9")
    assert done.returncode == 2
    assert "--scheduler tcp://127.0.0.1:9: " in done.stderr
    assert "dask scheduler" in done.stderr
