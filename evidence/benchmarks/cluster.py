"""Work on a cluster of Dask, two worker processes of this machine, beside the same work in one process.

    python evidence/benchmarks/cluster.py [ADDRESS] FOLDER   all notebooks, one at a time, or on a cluster

dask.distributed is in no lock: where it is not installed, these rows stay as they were.
"""

import importlib.util
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pandas as pd
from threadpoolctl import threadpool_limits

import book
import growth
from measuring import Counts, Row, in_turn, say
from sense7.book.partitioned import statistics_of_parts
from sense7.book.scheduler import connect
from sense7.workbook import read_workbook
from sense7.workbook.partitions import write_partitions

WORKERS = 2
TIMES = 10
PARTS = 16
DRAWS = 10_000
AT_LEAST = 1.7
GOAL = f"{AT_LEAST} times as fast"


@contextmanager
def workers() -> Iterator[str]:
    """Give the address of a scheduler with so many worker processes of one thread each."""
    from distributed import LocalCluster

    with LocalCluster(n_workers=WORKERS, threads_per_worker=1, processes=True, dashboard_address=None) as cluster:
        yield cluster.scheduler_address


def execute(folder: Path, address: str | None) -> None:
    """All notebooks, on the cluster or one at a time here."""
    edition = folder / "edition"
    with connect(address, None if address else 1) as where:
        where.run(book.jobs_in(edition), edition, folder / "cache")


def parts(counts: Counts, address: str) -> Row:
    """The main statistics of a data set in parts."""
    times, draws = counts.of(TIMES, 1), counts.of(DRAWS, 100)
    row = Row(
        "cluster_parts",
        f"main statistics of {growth.CONVERSATIONS * times:,} conversations in {PARTS} parts, {WORKERS} workers",
        "the same in one process of one thread",
        GOAL,
        ratio_at_least=AT_LEAST,
        note="Every number was equal; the resamples of the merged sums are shared by the workers as well.",
    )
    options = {"draws": draws, "seed": 1, "confidence": 0.95}
    scratch_folder = tempfile.TemporaryDirectory(prefix="sense7-bench-")
    with scratch_folder as scratch, connect(address) as where, threadpool_limits(1):  # as Dask's workers have it
        whole, folder = Path(scratch) / "whole", Path(scratch) / "parts"
        growth.write_csv(times, whole)
        write_partitions(read_workbook(whole), folder, PARTS, form="csv")

        def ours() -> pd.DataFrame:
            return statistics_of_parts(folder, apply=where.map, **options)

        def theirs() -> pd.DataFrame:
            return statistics_of_parts(folder, **options)

        pd.testing.assert_frame_equal(ours(), theirs(), check_exact=True)
        return in_turn(row, ours, theirs, counts.pairs)


def notebooks(counts: Counts, address: str) -> Row:
    """Execution of all notebooks, nothing cached."""
    row = Row(
        "cluster_notebooks",
        f"executing all notebooks on {WORKERS} workers, nothing cached",
        "one at a time on this machine, from warm kernels as well",
        GOAL,
        ratio_at_least=AT_LEAST,
    )
    return book.executed_in_turn(row, counts, [__file__, address], [__file__])


def cluster(counts: Counts) -> list[Row]:
    """What two workers gain."""
    if importlib.util.find_spec("distributed") is None:
        say('cluster: left out, as dask.distributed is not installed: python -m pip install "distributed>=2024.8"')
        return []
    with workers() as address:
        return [parts(counts, address), notebooks(counts, address)]


ENTRIES = {"cluster": cluster}


if __name__ == "__main__":
    *address, folder = sys.argv[1:]
    execute(Path(folder), *address or [None])
