"""Cells by hand in the derived notebook of an edition: left out where they have nothing to be compared with."""

import functools
import importlib
import inspect
import json
import re
from collections.abc import Mapping
from pathlib import Path

from sense7 import sources
from sense7.book.notebooks import BY_HAND, ipynb_text
from sense7.estimators.bootstrap import ParticipantBootstrap
from sense7.findings.core import keyed_rows
from sense7.loading import load
from sense7.study import Study

__all__ = ["FRAMES", "NEED", "NOT_RUN", "skip_unfit"]

FRAMES = ("conversations", "messages", "turns", "participants")
NOT_RUN = "# Not run here: "
"""How the first line of a cell begins that was left out; the page shows it as a sentence."""

NEED = re.compile(r"(interval )?(\w+) of (\w+)\.(\w+)|(\w+)\.(\w+)")
"""What a cell declares: the key of a finding's number that has to have a value or an interval, or a column."""


def skip_unfit(text: str, parameters: Mapping, folder: Path) -> str:
    """Tag the cells by hand that this workbook cannot run, for papermill and nbval, and say in them why.

    Parameters
    ----------
    text : str
        A derived notebook.
    parameters : mapping
        With which it is to run: the workbook under ``data``, and ``predictions``.
    folder : Path
        Where it is to run.
    """
    node = json.loads(text)
    for cell in node["cells"]:
        if BY_HAND not in cell["metadata"].get("tags", ()) or not (needs := cell["metadata"].get("needs")):
            continue
        lacks, reasons = [], {}
        for need in needs:
            if need == "predictions":
                lacks += [] if parameters.get("predictions") else ["no predictions of a judge"]
                continue
            path = folder / parameters["data"]
            path = path if path.exists() else sources.resolve(parameters["data"])[0]
            path, (interval, key, module, function, frame, column) = path.resolve(), NEED.fullmatch(need).groups()
            if key:
                part = "low" if interval else "estimate"
                reasons |= _reason(path, path.stat().st_mtime_ns, key, module, function, part)
                continue
            found = getattr(_loaded(path, path.stat().st_mtime_ns), frame)
            if found is None or column not in found or not found[column].notna().any():
                lacks.append(f"no {column.replace('_', ' ')} ({frame})")
        if lacks or reasons:
            cell["metadata"]["tags"] += ["skip-execution", "nbval-skip"]
            why = f"the data have {', '.join(lacks)}" if lacks else "; ".join(reasons)
            cell["source"] = f"{NOT_RUN}{why}.\n{cell['source']}"
    return ipynb_text(node)


@functools.lru_cache(maxsize=2)
def _loaded(path: Path, changed: int) -> Study:
    return load(path)


@functools.lru_cache(maxsize=64)
def _reason(path: Path, changed: int, key: str, module: str, function: str, part: str) -> dict[str, None]:
    """Why a finding has no number, or no interval, under a key in this workbook; nothing if it has one."""
    study = _loaded(path, changed)
    compute = getattr(importlib.import_module(f"sense7.findings.{module}"), function)
    given = {"study": study, "bootstrap": ParticipantBootstrap(study.conversations["participant"], draws=100)}
    needed = inspect.signature(compute).parameters
    rows = keyed_rows(compute(**{name: value for name, value in given.items() if name in needed}))
    row = next((row for row in rows if row["key"] == key), {part: None, "reason": f"there is no {key}"})
    return {row["reason"]: None} if row[part] is None or row[part] != row[part] else {}
