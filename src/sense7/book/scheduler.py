"""Notebooks executed by the workers of a Dask cluster, on other processes and machines, with the same results.

The workers of a cluster are started by the user (``dask scheduler``, ``dask worker``), with this project installed and
the checkout at the same path, as on a folder that all machines share. A task whose worker dies is given to another one;
what other tasks gave is kept.
"""

import functools
import logging
import sys
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

    def close(self) -> None:
        """Leave the cluster; tasks that nobody waits for any more are called off."""
        self._client.close()

    kill = close


@functools.cache  # of a worker what it began with, not what became of its files since
def _versions_and_view(shared: Path | None) -> tuple:
    """What a process computes with, and whether it sees a folder."""
    return (
        library_digest(),
        sys.version,
        sorted(versions().items()),
        shared is None or shared.exists(),
    )
