"""Work on other processes and machines: a cluster of Dask, or this machine, with the same results.

The workers of a cluster are started by the user (``dask scheduler``, ``dask worker``), with this project installed and
the checkout at the same path, as on a folder that all machines share. A task whose worker dies is given to another one;
what other tasks gave is kept.
"""

import contextlib
import functools
import logging
import math
import os
import sys
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context
from pathlib import Path

from sense7.book.code import library_digest, versions
from sense7.book.execute import execute_apart
from sense7.book.jobs import Job
from sense7.errors import BuildError, UserError
from sense7.files import one_line


class Cluster:
    """A cluster of Dask: it has at least one worker, all run this library, and see ``shared`` at the same path."""

    def __init__(self, address: str, shared: Path | None = None):
        try:
            from distributed import Client
        except ImportError:
            raise UserError(
                "--scheduler: clusters are reached by dask.distributed, which is not installed. "
                'Run: python -m pip install "distributed>=2024.8"'
            ) from None
        # What matters is in the exceptions.
        logging.getLogger("distributed").setLevel(logging.CRITICAL)
        try:
            self._client = Client(address, timeout="10s", set_as_default=False)
        except (OSError, ValueError) as error:
            raise UserError(
                f"--scheduler {address}: nothing answers there ({one_line(error)}). Start one: dask scheduler; "
                "and on each machine: dask worker ADDRESS"
            ) from None
        try:
            threads = self._client.nthreads()
            if not threads:
                raise UserError(
                    f"--scheduler {address}: it has no worker. Start some: dask worker {address}"
                )
            self.workers = sum(threads.values())
            expected = _versions_and_view(shared)
            of_workers = self._client.run(_versions_and_view, shared, on_error="return")
            for worker, versions_and_view in of_workers.items():
                if versions_and_view != expected:
                    files = shared or "its files"
                    raise UserError(
                        f"--scheduler {address}: the worker {worker} has another library, Python or packages than this "
                        f"process, or does not see {files}. Start it again, in an environment of the same lock, with "
                        "the checkout at the same path on a folder that all machines share."
                    )
        except BaseException:
            self.close()
            raise

    def execute(self, job: Job, edition: Path, cached: Path) -> None:
        """Execute a notebook on some worker, as :meth:`sense7.book.execute.Kernels.execute`; if it dies, on another."""
        from distributed import KilledWorker

        future = self._client.submit(
            execute_apart, job, edition.absolute(), cached.absolute(), pure=False
        )
        try:
            future.result()
        except KilledWorker as error:
            raise BuildError(
                f"every worker that took up {job.notebook.name} died of it ({one_line(error)})."
            ) from None
        finally:
            future.release()

    def map(self, function: Callable, items: Iterable) -> list:
        """Call a function on each item, and give the results in order."""
        from distributed import KilledWorker

        # Sent to each worker once: it may hold much that all calls take.
        sent = self._client.scatter([function], broadcast=True, hash=False)[0]
        calls = self._client.map(_called, list(items), function=sent, pure=False)
        try:
            return self._client.gather(calls)
        except KilledWorker as error:
            raise UserError(
                f"--scheduler: every worker that took up a part died of it ({one_line(error)}), probably for want of "
                "memory. Start workers with more memory, or write the data set in more parts."
            ) from None

    def close(self) -> None:
        """Leave the cluster; tasks that nobody waits for any more are called off."""
        self._client.close()

    kill = close


def _called(item, function: Callable):
    return function(item)


@functools.cache  # of a worker what it began with, not what became of its files since
def _versions_and_view(shared: Path | None) -> tuple:
    """What a process computes with, and whether it sees a folder."""
    return (
        library_digest(),
        sys.version,
        sorted(versions().items()),
        shared is None or shared.exists(),
    )


@contextlib.contextmanager
def mapping(address: str | None, workers: int | None = None) -> Iterator[Callable]:
    """Give a ``map`` whose calls run on the cluster of an address or, without one, in processes of this machine."""
    if address is not None:
        with contextlib.closing(Cluster(address)) as cluster:
            yield cluster.map
        return
    workers = workers or os.cpu_count() or 1
    if workers == 1:
        yield map
        return
    try:
        with ProcessPoolExecutor(workers, get_context("spawn")) as pool:
            # Several at a time, with which the function is sent once: it may hold much that all of them take.
            yield lambda function, items: pool.map(
                function, items, chunksize=math.ceil(len(items) / (4 * workers))
            )
    except BrokenProcessPool:
        raise UserError(
            f"one of {workers} worker processes was ended from outside, probably by the system for want of memory. "
            "Nothing was written; run it with fewer at once, such as --jobs 1, or on a machine with more memory."
        ) from None
