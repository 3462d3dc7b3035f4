"""Cells by hand in the derived notebook of an edition: left out where the workbook lacks a column that they need."""

import functools
import json
from collections.abc import Mapping
from pathlib import Path

from sense7 import sources
from sense7.book.notebooks import BY_HAND, ipynb_text
from sense7.loading import load

__all__ = ["FRAMES", "NOT_RUN", "skip_unfit"]

FRAMES = ("conversations", "messages", "turns", "participants")
NOT_RUN = "# Not run here: "
"""How the first line of a cell begins that was left out; the page shows it as a sentence."""


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
        filled = {"predictions"} if parameters.get("predictions") else set()
        if any("." in need for need in needs):
            path = folder / parameters["data"]
            path = path if path.exists() else sources.resolve(parameters["data"])[0]
            filled |= _filled(path.resolve(), path.stat().st_mtime_ns)
        if absent := [need for need in needs if need not in filled]:
            lacks = [
                f"{column} ({frame})" if column else "predictions of a judge" for frame, column in map(_parts, absent)
            ]
            cell["metadata"]["tags"] += ["skip-execution", "nbval-skip"]
            cell["source"] = f"{NOT_RUN}the data have no {', no '.join(lacks)}.\n{cell['source']}"
    return ipynb_text(node)


def _parts(need: str) -> tuple[str, str]:
    frame, _, column = need.partition(".")
    return frame, column.replace("_", " ")


@functools.lru_cache(maxsize=4)
def _filled(path: Path, changed: int) -> frozenset[str]:
    """Columns of a workbook's frames that hold any value, as ``frame.column``."""
    study = load(path)
    frames = {name: getattr(study, name) for name in FRAMES}
    return frozenset(
        f"{name}.{column}"
        for name, frame in frames.items()
        if frame is not None
        for column in frame.columns
        if frame[column].notna().any()
    )
