"""Cells by hand in the derived notebook of an edition: left out where the workbook lacks a column that they need."""

import functools
import json
import re
from collections.abc import Mapping
from pathlib import Path

from sense7 import sources
from sense7.book.notebooks import BY_HAND, ipynb_text
from sense7.findings.importance import choice_column
from sense7.loading import load
from sense7.study import Study

__all__ = ["FRAMES", "NEED", "NOT_RUN", "skip_unfit"]

FRAMES = ("conversations", "messages", "turns", "participants")
NOT_RUN = "# Not run here: "
"""How the first line of a cell begins that was left out; the page shows it as a sentence."""


NEED = re.compile(r"(?:(\d+) )?(\w+)\.([\w ]+)(?:([<>]=)(\d+))?")
"""What a cell declares: a column with a value; with so many different ones; with a value at most, or at least, this."""


def skip_unfit(text: str, parameters: Mapping, folder: Path) -> str:
    """Tag the cells by hand that this workbook cannot run, for papermill and nbval, and say in them what it lacks.

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
        lacks = []
        for need in needs:
            if need == "predictions":
                lacks += [] if parameters.get("predictions") else ["no predictions of a judge"]
                continue
            path = folder / parameters["data"]
            path = path if path.exists() else sources.resolve(parameters["data"])[0]
            lacks.append(_lacking(_loaded(path.resolve(), path.stat().st_mtime_ns), need))
        if any(lacks):
            cell["metadata"]["tags"] += ["skip-execution", "nbval-skip"]
            cell["source"] = f"{NOT_RUN}the data have {', '.join(filter(None, lacks))}.\n{cell['source']}"
    return ipynb_text(node)


@functools.lru_cache(maxsize=2)
def _loaded(path: Path, changed: int) -> Study:
    return load(path)


def _lacking(study: Study, need: str) -> str:
    """What the study lacks of a need, in words; "" if nothing."""
    least, frame, column, order, bound = NEED.fullmatch(need).groups()
    if column == "most important dimension":  # in a column of any name, found by its answers
        return "" if choice_column(study.participants) else "no column that names the most important dimension"
    words = f"{column.replace('_', ' ')} ({frame})"
    found = getattr(study, frame)
    values = found[column].dropna() if found is not None and column in found else ()
    if not len(values):
        return f"no {words}"
    if least and values.nunique() < int(least):
        return f"fewer than {least} different values of {words}"
    if order and not (values <= int(bound) if order == "<=" else values >= int(bound)).any():
        return f"no {words} of {bound} or {'less' if order == '<=' else 'more'}"
    return ""
