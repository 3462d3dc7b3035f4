"""The main statistics of a data set in parts: each task reads and sums one part, then computes some of the resamples.

They run here or on a cluster, with the same result.
"""

from collections.abc import Callable
from functools import partial
from pathlib import Path

import pandas as pd

from sense7.findings.sufficient_statistics import PartSums, estimates_of_parts, sums_of_part
from sense7.workbook import ReadingOptions, read_workbook
from sense7.workbook.partitions import partition_folders

__all__ = ["read_part", "statistics_of_parts"]


def read_part(folder: Path, scores: pd.Series | None = None) -> PartSums:
    """Read one part, and give its sums; its texts are forgotten."""
    return sums_of_part(read_workbook(folder, part=True, options=ReadingOptions(allow_unreadable=True)), scores)


def statistics_of_parts(
    folder: str | Path, scores: pd.Series | None = None, *, apply: Callable = map, **options
) -> pd.DataFrame:
    """Estimates and intervals of a data set that lies in parts.

    Parameters
    ----------
    folder : path
        As :func:`sense7.workbook.partitions.write_partitions` writes it.
    scores : Series, optional
        A judge's score of each conversation, by its id.
    apply : callable
        Applies a function to each of several items, as ``map`` does; that of a
        :class:`~sense7.book.scheduler.Cluster` or :class:`~sense7.book.scheduler.ThisMachine`.
    **options
        Of :class:`~sense7.estimators.bootstrap.ParticipantBootstrap`.

    Returns
    -------
    DataFrame
        See :func:`sense7.findings.sufficient_statistics.estimates_of_parts`.

    Raises
    ------
    UserError
        If there is no part, one of them can't be read, or a participant is in two of them.
    """
    places = [part.absolute() for part in partition_folders(folder)]
    parts = list(apply(partial(read_part, scores=scores), places))
    return estimates_of_parts(parts, apply=apply, **options)
