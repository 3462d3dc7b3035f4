"""Notebooks executed again: one with other parameters, as a copy with its values; and a whole edition, to verify it."""

import math
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from sense7.book.build import compute, read_contents
from sense7.book.derived import derive_all
from sense7.book.editions import DATA_SETS, find_edition, read_facts, source_of
from sense7.book.inputs import Inputs, declared_configuration
from sense7.book.notebooks import TextNotebook, find_notebooks
from sense7.book.run import in_threads
from sense7.checkout import Project
from sense7.errors import UserError
from sense7.files import (
    WRITTEN,
    digest_of,
    digest_of_file,
    not_written,
    note_as_written,
    replacing_folder,
    require_as_written,
    write_whole,
)
from sense7.record import read_values
from sense7.sources import resolve
from sense7.terminal import did_you_mean, silent

TOLERANCE = 1e-6
"""Relative difference up to which two numbers are equal: other processors and libraries round otherwise."""


@dataclass(frozen=True)
class Rerun:
    """A notebook that was executed again: its name, its data, the executed copy, and the folder of the values."""

    name: str
    label: str
    notebook: Path
    results: Path


def rerun(
    project: Project, notebook: str, parameters: Mapping, *, out: str | Path | None = None
) -> Rerun:
    """Execute a copy of one notebook with a user's parameters, after those whose values it reads, with the same.

    The copy is ``out``, or NAME.executed.ipynb in the working directory; its values lie beside it in STEM.results. A
    copy that was edited, and a folder that holds anything else, are kept, and refused.
    """
    chosen = select_notebook(notebook, find_notebooks(project.sources))
    if "results" in parameters:
        raise UserError(
            "results: the values lie beside the copy. Choose its place by --out FILE.ipynb."
        )
    out = Path(out or f"{chosen.name}.executed.ipynb").expanduser().absolute()
    if out.suffix != ".ipynb":
        raise UserError(f"{out}: the executed copy is a notebook. Give a name that ends in .ipynb.")
    results = out.with_name(f"{out.stem}.results")
    require_unedited(out, results)
    for name in {"data", "predictions"} & parameters.keys() - chosen.defaults.keys():
        raise UserError(f"{name}: {chosen.name} has no such parameter.")
    settings = dict(parameters)
    data = settings.pop("data", chosen.defaults.get("data", DATA_SETS[0]))
    predictions = settings.pop("predictions", None)
    path, provenance = resolve(data)
    folder = Path(predictions).expanduser() if predictions else None
    label = provenance.label if "data" in chosen.defaults else ""
    try:
        with replacing_folder(results, check=partial(require_unedited, out)) as values:
            temporary = Project(project.sources, values.parent)
            inputs = Inputs(temporary, provenance.name, data, path, provenance, settings, folder)
            inputs = replace(inputs, only=(chosen.name,))
            failed = replace(inputs, project=project).failed  # the temporary place is removed
            with in_threads(inputs.jobs, inputs.cache) as execution:
                compute(inputs, read_contents(inputs), inputs.folder, execution, failed)
            settings_shown = {**chosen.defaults, **inputs.jobs[chosen.name].parameters}
            places = {"data": source_of(data, path), "results": results.name}
            if folder:
                places["predictions"] = str(folder.resolve())
            settings_shown |= {
                name: path for name, path in places.items() if name in settings_shown
            }
            repository = declared_configuration(project.sources)["repository"]
            settings_of = {chosen.name: settings_shown}
            copies = derive_all(project.sources, inputs.folder, repository, settings_of)
            for name in inputs.jobs:
                (inputs.folder / "results" / f"{name}.json").replace(values / f"{name}.json")
            written = {file.name: digest_of_file(file) for file in values.iterdir()}
            written[f"../{out.name}"] = digest_of(copies[chosen.name].encode())
            note_as_written(values, written)
            require_unedited(out, results)
            if results.exists():
                # So that the copy counts as written also if the process is killed before the values.
                note_as_written(results, written)
            write_whole(out, copies[chosen.name], replace=out.exists())
    except OSError as error:
        raise UserError(not_written(error.filename or out, error)) from None
    return Rerun(chosen.name, label, out, results)


def select_notebook(text: str, notebooks: list[TextNotebook]) -> TextNotebook:
    """Find a notebook by number ("3"), name ("03-reliability", "reliability") or path."""
    by_name: dict[str, TextNotebook] = {}
    for notebook in notebooks:
        number, _, title = notebook.name.partition("-")
        for name in (notebook.name, title, number, number.lstrip("0") or "0"):
            by_name[name] = notebook
    name = Path(text).name.removesuffix(".md").removesuffix(".ipynb")
    if name not in by_name:
        names = ", ".join(notebook.name for notebook in notebooks)
        words = [name for name in by_name if not name.isdecimal()]
        hint = did_you_mean(text, words, "Check the name.")
        raise UserError(f"{text}: not a notebook of this book ({names}). {hint}")
    return by_name[name]


def require_unedited(out: Path, results: Path) -> None:
    """Refuse to replace an executed copy, or values, that are not as a run wrote them."""
    files = [out]
    if results.is_dir() and not results.is_symlink():
        files += sorted(path for path in results.iterdir() if path.name != WRITTEN)
    else:
        files.append(results)  # a file or link of this name is not ours
    require_as_written(files, results)


@dataclass(frozen=True)
class Comparison:
    """An edition compared with its recomputation: its folder, data, number of values, and the differing ones."""

    folder: Path
    label: str
    compared: int
    differences: list[tuple[str, str, object, object]]


def verify_edition(
    project: Project, edition: str, *, workers: int | None = None, say: Callable = silent
) -> Comparison:
    """Recompute an edition from its own data without the cache, and compare every part of its recorded values."""
    folder = find_edition(project.place, edition)
    facts = read_facts(folder)
    path, provenance = resolve(folder / "data" / Path(facts["file"]).name)
    if provenance.sha256 != facts["sha256"]:
        raise UserError(
            f"{path}: not the workbook that the edition was made of (sha256 {facts['sha256'][:12]}..., found "
            f"{provenance.sha256[:12]}...). Restore it, or build the edition again."
        )
    predictions = folder / "predictions"
    with tempfile.TemporaryDirectory(prefix="sense7-verify-") as scratch:
        temporary = Project(project.sources, Path(scratch))
        chosen = predictions if predictions.is_dir() else None
        parameters = facts["made"]["parameters"]
        inputs = Inputs(temporary, facts["name"], str(path), path, provenance, parameters, chosen)
        study = (path, provenance.name)
        failed = replace(inputs, project=project).failed
        with in_threads(inputs.jobs, inputs.cache, workers, study) as execution:
            compute(inputs, read_contents(inputs), inputs.folder, execution, failed, say)
        recomputed = read_values(inputs.folder / "results")
    recorded = read_values(folder / "results")
    differences = []
    for key in dict.fromkeys([*recorded, *recomputed]):
        value = recorded.get(key, {})
        again = recomputed.get(key, {})
        for part in dict.fromkeys([*value, *again]):
            if not equal(value.get(part), again.get(part)):
                differences.append((key, part, value.get(part), again.get(part)))
    return Comparison(folder, provenance.label, len(recorded), differences)


def equal(value: object, other: object) -> bool:
    """Compare two plain values: numbers within the tolerance, all else exactly.

    >>> equal(0.5, 0.5 + 1e-9), equal(0.5, 0.5001), equal("a", "b"), equal(1, True)
    (True, False, False, False)
    """
    if isinstance(value, float) and isinstance(other, float):
        return math.isclose(value, other, rel_tol=TOLERANCE, abs_tol=TOLERANCE / 1000)
    return type(value) is type(other) and value == other
