"""What was measured of this project's own speed: stored results of ``make bench`` and of the benchmark of growth."""

import json
import math
from collections.abc import Mapping

import numpy as np
import pandas as pd

from sense7.checkout import data_file
from sense7.errors import UserError
from sense7.estimators.estimates import estimate_row, estimate_table
from sense7.terminal import count_of

__all__ = [
    "NO_GROWTH",
    "gains_table",
    "goals_met",
    "goals_table",
    "growth",
    "growth_exponents",
    "growth_goals",
    "growth_made",
    "growth_problems",
    "machine",
    "profile_table",
    "ratios",
    "reach",
    "remarks",
    "slowest_notebooks",
    "stored_benchmarks",
    "stored_growth",
]

NOT_MEASURED = "not measured yet: the command is make bench"
NO_GROWTH = "growth with the size of the data was not measured: the command is `python evidence/benchmarks/growth.py`"
NOTEBOOKS = "all notebooks, one after another"
PARTS = "statistics in parts"
"""Name of the step that computes the main statistics of a data set in parts."""

MILLION = 1_000_000
MOST_GIBIBYTES = 2
"""Goal: memory of each step at the largest size."""

MOST_EXPONENT = 1.1
"""Goal: growth of each step's time; 1 is linear, and single runs differ by some percent."""

GAINS = {
    "from_nothing": "see the whole book, from a fresh clone",
    "book_unchanged": "ask for it again, nothing changed",
    "book_edited_prose": "see a sentence that you changed",
    "book_edited_code": "see what a changed line of code gives",
    "reading": "read and validate a workbook",
    "judge": "ask a judge about every conversation, all recorded",
    "bootstrap": "give six statistics their intervals",
}
"""Key of a row -> what one wants who has that work done."""


def stored_benchmarks() -> dict:
    """The stored result of ``make bench``; without entries where there is none."""
    return _stored("bench.json") or {"entries": {}, "profile": None}


def stored_growth() -> dict:
    """The stored times by size; without sizes where there are none."""
    return _stored("growth.json") or {"sizes": {}, "exponents": {}}


def _stored(name: str) -> dict | None:
    try:
        return json.loads(data_file(name).read_text(encoding="utf-8"))
    except UserError:
        return None


def _rows(stored: Mapping) -> list[dict]:
    return [row for entry in stored["entries"].values() for row in entry["rows"]]


def machine(stored: Mapping) -> pd.DataFrame:
    """Machine, versions and commit of what was measured: one row per fact, one column for each of their values.

    Parameters
    ----------
    stored : mapping
        As :func:`stored_benchmarks` gives it.
    """
    made: dict[str, tuple[dict, list[str]]] = {}
    for name, entry in {**stored["entries"], "profile": stored["profile"]}.items():
        if entry:
            made.setdefault(json.dumps(entry["made"], sort_keys=True), (entry["made"], []))[1].append(name)
    columns = {}
    for facts, names in made.values():
        computer = facts["machine"]
        columns[", ".join(names) if len(made) > 1 else "all"] = {
            "processor": computer["processor"],
            "cores": str(computer["cores"]),
            "memory": f"{computer['memory_gib']} GiB",
            **{name: version for name, version in facts["versions"].items() if name != "sense7"},
            "commit": _shown_commit(facts["commit"]) + (", with changes since" if facts["changed"] else ""),
            "library (sha256)": facts["library"],
        }
    return pd.DataFrame(columns).rename_axis("of")


def gains_table(stored: Mapping) -> pd.DataFrame:
    """What a user gains: how long the work takes, how long otherwise, and the ratio.

    Parameters
    ----------
    stored : mapping
        As :func:`stored_benchmarks` gives it.

    Returns
    -------
    DataFrame
        A row for each of the wishes that was measured beside a peer, all texts.

    Examples
    --------
    >>> row = {"key": "reading", "unit": "s", "seconds": 2.0, "peer_seconds": 3.0, "ratio": 1.5, "peer": "pandas"}
    >>> gains_table({"entries": {"reading": {"rows": [row]}}}).loc["read and validate a workbook"].tolist()
    ['2.00 s', '3.00 s', '1.50', 'pandas']
    """
    measured = {row["key"]: row for row in _rows(stored) if row["ratio"] is not None}
    rows = {
        wish: {
            "takes": _amount(measured[key]["seconds"], measured[key]["unit"]),
            "otherwise": _amount(measured[key]["peer_seconds"], measured[key]["unit"]),
            "times as fast": _short(measured[key]["ratio"]),
            "what is otherwise": measured[key]["peer"],
        }
        for key, wish in GAINS.items()
        if key in measured
    }
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis("if you want to")


def goals_table(stored: Mapping) -> pd.DataFrame:
    """Every piece of work beside its peer: the ratio first, and whether the goal is met.

    Parameters
    ----------
    stored : mapping
        As :func:`stored_benchmarks` gives it.

    Returns
    -------
    DataFrame
        One row per piece of work, all texts. Times are medians; the ratio is the median of those of the pairs.

    Examples
    --------
    >>> row = {"work": "a walk", "peer": "a ride", "goal": "not slower", "unit": "s", "seconds": 2.0, "reason": ""}
    >>> row |= {"peer_seconds": 3.0, "ratio": 1.5, "met": True, "ours": [2.0], "note": "Both arrived."}
    >>> goals_table({"entries": {"walk": {"rows": [row]}}}).loc["a walk"].tolist()
    ['1.50', 'met', 'not slower', '2.00 s', '3.00 s', 'a ride', '1']
    """
    rows = {
        row["work"]: {
            "times as fast": "" if row["ratio"] is None else _short(row["ratio"]),
            "met": {None: "no goal", True: "met", False: "missed"}[row["met"]],
            "goal": row["goal"],
            "ours": _amount(row["seconds"], row["unit"]),
            "peer": "" if row["peer_seconds"] is None else _amount(row["peer_seconds"], row["unit"]),
            "which peer": row["peer"] or "none",
            "runs": str(len(row["ours"])),
        }
        for row in _rows(stored)
    }
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis("work")


def remarks(stored: Mapping) -> pd.DataFrame:
    """Why a goal is missed, and what else is to be said of a piece of work: one row per work, missed goals first.

    Parameters
    ----------
    stored : mapping
        As :func:`stored_benchmarks` gives it.
    """
    found = {
        row["work"]: {
            "why the goal is missed": (row["reason"] or "not known yet") if row["met"] is False else "",
            "remark": row["note"],
        }
        for row in sorted(_rows(stored), key=lambda row: row["met"] is not False)
    }
    kept = {work: texts for work, texts in found.items() if any(texts.values())}
    columns = ["why the goal is missed", "remark"]
    return pd.DataFrame.from_dict(kept, orient="index", columns=columns).rename_axis("work")


def _short(number: float) -> str:
    """Three digits that count.

    Examples
    --------
    >>> [_short(number) for number in (0.01234, 0.5, 12.34, 1234.4)]
    ['0.0123', '0.500', '12.3', '1,234']
    """
    decimals = 0 if number == 0 else max(0, 2 - int(np.floor(np.log10(abs(number)))))
    return f"{number:,.{decimals}f}"


def _amount(number: float, unit: str) -> str:
    return f"{_short(1000 * number)} ms" if unit == "s" and number < 0.1 else f"{_short(number)} {unit}"


def goals_met(stored: Mapping) -> dict:
    """Number of goals that are met, in words, as ``Recorder.value`` takes it; the reason if nothing was measured.

    Parameters
    ----------
    stored : mapping
        As :func:`stored_benchmarks` gives it.
    """
    known = [row["met"] for row in _rows(stored) if row["met"] is not None]
    return {
        "key": "bench_goals_met",
        "estimate": f"{sum(known)} of {len(known)}" if known else None,
        "n": len(known),
        "unit": "goals",
        "method": "medians of one run",
        "reason": "" if known else NOT_MEASURED,
    }


def ratios(stored: Mapping) -> pd.DataFrame:
    """How many times as fast as its peer each piece of work is.

    Parameters
    ----------
    stored : mapping
        As :func:`stored_benchmarks` gives it.
    """
    rows = {
        row["key"]: estimate_row(
            row["ratio"],
            n=len(row["ours"]),
            unit="times as fast as the peer",
            method=f"median over pairs of runs; peer: {row['peer']}",
            key=f"bench_{row['key']}_ratio",
        )
        for row in _rows(stored)
        if row["ratio"] is not None
    }
    return estimate_table(rows, "work")


def profile_table(stored: Mapping) -> pd.DataFrame:
    """Share of each step in the time of a cold build.

    Parameters
    ----------
    stored : mapping
        As :func:`stored_benchmarks` gives it.
    """
    profile = stored["profile"] or {"steps": [], "seconds": 1.0}
    method = "one cold build, timed step by step"
    rows = {
        step["step"]: estimate_row(
            step["seconds"] / profile["seconds"],
            n=1,
            unit="share of the time of a cold build",
            method=method,
            key=f"bench_profile_{step['key']}",
        )
        for step in profile["steps"]
    }
    return estimate_table(rows, "step")


def slowest_notebooks(stored: Mapping, count: int = 8) -> pd.DataFrame:
    """Seconds of the slowest notebooks of that build, several at once: one row per notebook, as text.

    Parameters
    ----------
    stored : mapping
        As :func:`stored_benchmarks` gives it.
    count : int
        How many.
    """
    notebooks = (stored["profile"] or {"notebooks": {}})["notebooks"]
    chosen = sorted(notebooks.items(), key=lambda item: -item[1])[:count]
    return pd.DataFrame({"seconds": {name: _short(seconds) for name, seconds in chosen}}).rename_axis("notebook")


def growth_made(stored: Mapping) -> str:
    """Machine, versions and commit of the growth that was measured, in words; "" where none was.

    Examples
    --------
    >>> growth_made({"machine": "Linux", "versions": {"Python": "3.11"}, "commit": "5ed811bf42ab", "library": "d0de"})
    'Measured on: Linux; Python 3.11; commit 5ed811bf42ab; library (sha256) d0de.'

    Steps that a later change did not concern may have been measured at an earlier commit, which they name.

    >>> step = {"commit": "290ecf5a7e82", "seconds": 2.0}
    >>> growth_made({"machine": "Linux", "versions": {}, "commit": "5ed811bf42ab", "library": "d0de",
    ...              "sizes": {"1": {"steps": {"ledger": step, "03-reliability": step, "18-baselines": {}}}}})
    'Measured on: Linux; commit 5ed811bf42ab; library (sha256) d0de; 2 steps at commit 290ecf5a7e82.'
    """
    if "machine" not in stored:
        return ""
    versions = [f"{name} {version}" for name, version in stored["versions"].items()]
    steps: dict[str | None, set[str]] = {}
    for size in stored.get("sizes", {}).values():
        for step, found in size["steps"].items():
            if "commit" in found:
                steps.setdefault(found["commit"], set()).add(step)
    code = [
        f"commit {_shown_commit(stored.get('commit'))}",
        f"library (sha256) {stored.get('library', 'not known')}",
        *(f"{count_of(len(names), 'step')} at commit {_shown_commit(commit)}" for commit, names in steps.items()),
    ]
    return f"Measured on: {'; '.join([stored['machine'], *versions, *code])}."


def _shown_commit(commit: str | None) -> str:
    return (commit or "not known")[:12]


def growth(stored: Mapping) -> pd.DataFrame:
    """Processor time and peak memory by size: one row per size and line, notebooks taken together.

    Parameters
    ----------
    stored : mapping
        As :func:`stored_growth` gives it.

    Returns
    -------
    DataFrame
        Columns line, conversations, seconds (of processors, which other work beside it hardly lengthens), mebibytes.
        Of all notebooks, seconds are the sum and memory is the largest; a size at which one of them has no time has
        no such row.
    """
    rows = []
    # In one order: a sum in that of a set would differ in its last digit from one process to the next.
    every = sorted({name for size in stored["sizes"].values() for name in size["steps"] if _is_notebook(name)})
    for size in stored["sizes"].values():
        steps = size["steps"]
        single = {name: found for name, found in steps.items() if not _is_notebook(name)}
        together = [steps.get(name, {"problem": "not measured"}) for name in every]
        if together and all("problem" not in found for found in together):
            single[NOTEBOOKS] = {
                "processor_seconds": sum(found["processor_seconds"] for found in together),
                "peak_mib": max(found["peak_mib"] for found in together),
            }
        for name, measured in single.items():
            if "problem" not in measured:
                rows.append((name, size["conversations"], measured["processor_seconds"], measured["peak_mib"]))
    return pd.DataFrame(rows, columns=["line", "conversations", "seconds", "mebibytes"])


def _is_notebook(step: str) -> bool:
    return step[:2].isdigit()


def growth_exponents(stored: Mapping) -> pd.DataFrame:
    """What each step takes at the largest size, the longest first, and how its time grows between the two largest.

    Parameters
    ----------
    stored : mapping
        As :func:`stored_growth` gives it.

    Returns
    -------
    DataFrame
        One row per step, all texts: the exponent of its growth (1 is linear), processor time and its share of that of
        all steps, and peak memory.
    """
    sizes = list(stored["sizes"].values())
    largest = {
        step: measured for step, measured in (sizes[-1]["steps"] if sizes else {}).items() if "problem" not in measured
    }
    whole = sum(sorted(found["processor_seconds"] for found in largest.values()))
    rows = {
        step: {
            "exponent": f"{stored['exponents'][step]:.2f}" if step in stored["exponents"] else "",
            "processor time (s)": _short(found["processor_seconds"]),
            "share of all steps": f"{found['processor_seconds'] / whole:.1%}",
            "peak memory (MiB)": f"{found['peak_mib']:,}",
        }
        for step, found in sorted(largest.items(), key=lambda item: -item[1]["processor_seconds"])
    }
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis("step")


def growth_goals(stored: Mapping) -> pd.DataFrame:
    """Whether memory and time grow as they should: how many steps meet each goal, and which one is furthest from it.

    Parameters
    ----------
    stored : mapping
        As :func:`stored_growth` gives it.

    Returns
    -------
    DataFrame
        One row per goal, all texts; empty below two sizes. A step without a measurement meets no goal.

    Examples
    --------
    >>> steps = {"01-a": {"peak_mib": 512}, "02-b": {"peak_mib": 3072}}
    >>> sizes = {str(times): {"conversations": 672 * times, "steps": steps} for times in (10, 100)}
    >>> growth_goals({"sizes": sizes, "exponents": {"01-a": 1.04, "02-b": 0.9}}).to_numpy().tolist()
    [['missed', '1 of 2', '02-b: 3.00 GiB'], ['met', '2 of 2', '01-a: 1.04']]
    """
    if len(stored["sizes"]) < 2:
        return pd.DataFrame()
    before, last = list(stored["sizes"].values())[-2:]
    counts = f"{before['conversations']:,} to {last['conversations']:,} conversations"
    failed = {step: math.inf for step, found in last["steps"].items() if "problem" in found}
    peaks = {step: found["peak_mib"] / 1024 for step, found in last["steps"].items()} | failed
    memory = f"at most {MOST_GIBIBYTES} GiB of memory for each step with {last['conversations']:,} conversations"
    time = f"at most linear time of each step, an exponent of at most {MOST_EXPONENT}, from {counts}"
    rows = {}
    for goal, values, most, unit in (
        (memory, peaks, MOST_GIBIBYTES, " GiB"),
        (time, stored["exponents"] | failed, MOST_EXPONENT, ""),
    ):
        worst, fit = max(values, key=values.__getitem__), sum(value <= most for value in values.values())
        far = f"{values[worst]:.2f}{unit}" if math.isfinite(values[worst]) else "no measurement"
        rows[goal] = {
            "met": "met" if fit == len(values) else "missed",
            "steps that meet it": f"{fit} of {len(values)}",
            "highest": f"{worst}: {far}",
        }
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis("goal")


def reach(stored: Mapping, conversations: int = MILLION, gibibytes: int = 16) -> pd.DataFrame:
    """What so many conversations would take on one machine and on a cluster, from the growth that was measured.

    Processor time grows by the exponent between the two largest sizes, at least linearly, as a start that all sizes
    share makes it look less; peak memory by what a conversation added between these sizes.

    Parameters
    ----------
    stored : mapping
        As :func:`stored_growth` gives it.
    conversations : int
        How many.
    gibibytes : int
        Memory of a machine of which it is said how many conversations it holds.

    Returns
    -------
    DataFrame
        One row per piece of work, all texts; empty if no notebook was executed at two sizes.
    """
    sizes = list(stored["sizes"].values())[-2:]
    if len(sizes) < 2:
        return pd.DataFrame()
    counts = [size["conversations"] for size in sizes]
    times, peaks, holds = {}, {}, {}
    for step, last in sizes[1]["steps"].items():
        before = sizes[0]["steps"].get(step, {"problem": "not measured"})
        if "problem" in last or "problem" in before:
            continue
        exponent = max(1.0, stored["exponents"].get(step, 1.0))
        times[step] = last["processor_seconds"] * (conversations / counts[1]) ** exponent
        each = max(0.0, (last["peak_mib"] - before["peak_mib"]) / (counts[1] - counts[0]))
        peaks[step] = last["peak_mib"] + each * (conversations - counts[1])
        holds[step] = counts[1] + (1024 * gibibytes - last["peak_mib"]) / each if each else math.inf
    notebooks, every = ([step for step in steps if _is_notebook(step)] for steps in (times, sizes[1]["steps"]))
    if not notebooks:
        return pd.DataFrame()
    which = "all notebooks" if len(notebooks) == len(every) else f"{len(notebooks)} of {len(every)} notebooks"
    slow, large = max(notebooks, key=times.__getitem__), max(notebooks, key=peaks.__getitem__)
    together, most = sum(times[name] for name in notebooks), min(holds[step] for step in notebooks)
    largest = f"{_gib(peaks[large])}, for {large}"
    rows = {
        f"one machine: {which}, one after another": (f"{_duration(together)} of one processor", largest),
        f"cluster: {which}, side by side": (
            f"{_duration(times[slow])}, as long as the longest, {slow}",
            f"{largest}, on the worker that executes it; every worker holds the data",
        ),
    }
    if PARTS in times:
        rows["cluster: main statistics of a data set in parts"] = (
            f"{_duration(times[PARTS])} of processors, which the workers share",
            f"{_gib(peaks[PARTS])} where the sums come together; a worker holds one part",
        )
    if math.isfinite(most):
        rows[f"one machine of {gibibytes} GiB"] = ("", f"enough for {_short(most)} conversations")
    return pd.DataFrame.from_dict(rows, orient="index", columns=["time", "memory"]).rename_axis("work")


def _duration(seconds: float) -> str:
    """Seconds as people say them.

    Examples
    --------
    >>> [_duration(seconds) for seconds in (30.0, 600.0, 7200.0)]
    ['30.0 s', '10.0 minutes', '2.00 hours']
    """
    if seconds < 60:
        return f"{_short(seconds)} s"
    return f"{_short(seconds / 60)} minutes" if seconds < 3600 else f"{_short(seconds / 3600)} hours"


def _gib(mebibytes: float) -> str:
    return f"{_short(mebibytes / 1024)} GiB"


def growth_problems(stored: Mapping) -> pd.DataFrame:
    """Steps that did not come to their end at a size, and why.

    Parameters
    ----------
    stored : mapping
        As :func:`stored_growth` gives it.
    """
    rows = {
        f"{step}, {size['conversations']:,} conversations": {"why": measured["problem"]}
        for size in stored["sizes"].values()
        for step, measured in size["steps"].items()
        if "problem" in measured
    }
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis("step")
