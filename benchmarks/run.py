"""Each piece of work beside what a user would use otherwise, in one run: the ratio first.

    make bench

Both sides run in turn, five times each after a warm-up, and must give the same answer; the
medians are compared. Times depend on the machine, ratios much less.
"""

import platform
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd

from sense7.simulate import Parameters, simulate
from sense7.sources import data_file
from sense7.statistics import reliability
from sense7.statistics.bootstrap import ParticipantBootstrap
from sense7.statistics.ground_truth import ground_truth
from sense7.taxonomy import DIMENSION_NAMES
from sense7.workbook import read_workbook

RUNS = 5


@dataclass(frozen=True)
class Entry:
    """One piece of work, ours and the peer's, and how much of it the peer does."""

    work: str
    peer: str
    ours: Callable[[], object]
    theirs: Callable[[], object]
    share: float = 1.0


def read_with_openpyxl(path: Path) -> dict:
    """The two sheets by pandas and openpyxl, without validation."""
    return {sheet: pd.read_excel(path, sheet_name=sheet, engine="openpyxl") for sheet in ("Tasks", "Messages")}


def loop_ground_truth(study) -> list[float]:
    """A filter a conversation, and loops over turns and dimensions."""
    truths = []
    for conversation in study.conversations["conversation"]:
        turns = study.turns[study.turns["conversation"] == conversation]
        means = []
        for _, turn in turns.iterrows():
            rated = [turn[name] for name in DIMENSION_NAMES if not np.isnan(turn[name])]
            if rated:
                means.append(np.mean(rated))
        truths.append(np.mean(means) if means else np.nan)
    return truths


def resample_frames(turns: pd.DataFrame, draws: int) -> np.ndarray:
    """Alpha by copying participants' rows, for each draw."""
    groups = dict(list(turns.groupby(level=0)))
    names = list(groups)
    generator = np.random.default_rng(1)
    alphas = []
    for _ in range(draws):
        rows = pd.concat([groups[names[code]] for code in generator.integers(len(names), size=len(names))])
        alphas.append(reliability.alpha_from_covariances(rows.cov().to_numpy()))
    return np.quantile(alphas, [0.025, 0.975])


def entries() -> list[Entry]:
    """The benchmark's entries on the embedded workbook."""
    path = data_file("synthetic.xlsx")
    study = read_workbook(path)
    turns = reliability.turn_ratings(study)
    few = 50  # draws of the peer; its cost per draw does not change

    def engine():
        bootstrap = ParticipantBootstrap(study.conversations["participant"], draws=10_000, seed=1)
        return reliability.alpha_row(turns, bootstrap)

    return [
        Entry(
            "workbook to validated frames",
            "pandas and openpyxl, two sheets, no validation",
            lambda: read_workbook(path),
            lambda: read_with_openpyxl(path),
        ),
        Entry(
            "ground truth of all conversations",
            "filter a conversation, loops",
            lambda: ground_truth(study.turns, study.conversations["conversation"]),
            lambda: loop_ground_truth(study),
        ),
        Entry(
            "interval of alpha, 10,000 draws of participants",
            f"resampling frames ({few} draws timed)",
            engine,
            lambda: resample_frames(turns, few),
            share=few / 10_000,
        ),
    ]


def timed(work: Callable[[], object]) -> float:
    """Seconds of one run."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def growth() -> pd.DataFrame:
    """Seconds and conversations per second of reading, at one and four times the size."""
    rows = []
    for times in (1, 4):
        parameters = Parameters().replace(participants=109 * times, conversations=672 * times)
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "large.xlsx"
            simulate(parameters, seed=1).write(path)
            seconds = statistics.median(timed(partial(read_workbook, path)) for _ in range(3))
        rows.append((672 * times, round(seconds, 2), round(672 * times / seconds)))
    return pd.DataFrame(rows, columns=["conversations", "seconds", "conversations a second"])


def main() -> None:
    """Run every entry and print the table."""
    versions = f"Python {platform.python_version()}, numpy {np.__version__}, pandas {pd.__version__}"
    print(f"{platform.machine()}, {platform.system()}; {versions}; median of {RUNS} runs\n")
    print(f"{'ratio':>8}  {'ours':>10}  {'peer':>10}  work | peer")
    for entry in entries():
        entry.ours(), entry.theirs()
        pairs = [(timed(entry.ours), timed(entry.theirs) / entry.share) for _ in range(RUNS)]
        ours, theirs = (statistics.median(side) for side in zip(*pairs, strict=True))
        ratio = statistics.median(theirs / ours for ours, theirs in pairs)
        print(f"{ratio:7.1f}x  {ours:9.4f}s  {theirs:9.3f}s  {entry.work} | {entry.peer}")
    if "--growth" in sys.argv:
        print(f"\nReading, by size\n{growth().to_string(index=False)}")


if __name__ == "__main__":
    main()
