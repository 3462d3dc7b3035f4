"""Notebooks executed again: one with other parameters, as a copy with its values; and a whole edition, to verify it."""

import math
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from sense7.book.build import compute_apart
from sense7.book.derived import derive_all
from sense7.book.editions import DATA_SETS, find_edition, read_facts, source_of
from sense7.book.inputs import Inputs, declared_configuration
from sense7.book.notebooks import TextNotebook, find_notebooks
from sense7.checkout import Project
from sense7.errors import UserError
from sense7.files import not_written, replacing, require_as_written, scratch_folder
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
    """Execute a copy of one notebook with a user's parameters.

    The copy is ``out``, or NAME.executed.ipynb in the working directory; its values lie beside it in STEM.results. A
    copy that was edited, and a folder that holds anything else, are kept, and refused.
    """
    notebooks = find_notebooks(project.sources)
    chosen = select_notebook(notebook, notebooks)
    if "results" in parameters:
        raise UserError(
            "results: the values lie beside the copy. Choose its place by --out FILE.ipynb."
        )
    out = Path(out or f"{chosen.name}.executed.ipynb").expanduser().absolute()
    if out.suffix != ".ipynb":
        raise UserError(f"{out}: the executed copy is a notebook. Give a name that ends in .ipynb.")
    results = out.with_name(f"{out.stem}.results")
    require_as_written([out, *results.glob("[!.]*")])
    for name in {"data", "predictions"} & parameters.keys() - chosen.defaults.keys():
        raise UserError(f"{name}: {chosen.name} has no such parameter.")
    settings = dict(parameters)
    data = settings.pop("data", chosen.defaults.get("data", DATA_SETS[0]))
    predictions = settings.pop("predictions", None)
    path, provenance = resolve(data)
    folder = Path(predictions).expanduser() if predictions else None
    try:
        with scratch_folder(out.parent) as scratch:
            temporary = Project(project.sources, scratch)
            name, only = provenance.name, (chosen.name,)
            inputs = Inputs(
                temporary,
                name,
                data,
                path,
                provenance,
                settings,
                folder,
                only,
                failed_below=project.place,
            )
            compute_apart(inputs, inputs.folder)
            values = {**chosen.defaults, **inputs.jobs[chosen.name].parameters}
            values |= {"data": source_of(data, path), "results": results.name}
            if folder:
                values["predictions"] = str(folder.resolve())
            config = declared_configuration(project.sources)
            settings_of_copies = {chosen.name: {key: values[key] for key in chosen.defaults}}
            copies = derive_all(
                project.sources, notebooks, inputs.folder, config, settings_of_copies
            )
            recorded = (inputs.folder / "results" / f"{chosen.name}.json").read_text("utf-8")
            texts = {results / f"{chosen.name}.json": recorded, out: copies[chosen.name]}
            for file, text in texts.items():
                with replacing(file, own=True) as unfinished:
                    unfinished.write_text(text, "utf-8", newline="\n")
    except OSError as error:
        raise UserError(not_written(error.filename or out, error)) from None
    label = provenance.label if "data" in chosen.defaults else ""
    return Rerun(chosen.name, label, out, results)


def select_notebook(text: str, notebooks: list[TextNotebook]) -> TextNotebook:
    """Find a notebook by number ("3"), name ("03-reliability", "reliability") or path."""
    name = Path(text).name.removesuffix(".md").removesuffix(".ipynb")
    for notebook in notebooks:
        number, _, title = notebook.name.partition("-")
        if name in {notebook.name, title, number, number.removeprefix("0")}:
            return notebook
    names = [notebook.name for notebook in notebooks]
    titles = [name.partition("-")[2] for name in names]
    hint = did_you_mean(text, titles, "Check the name.")
    raise UserError(f"{text}: not a notebook of this book ({', '.join(names)}). {hint}")


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
    path, provenance = resolve(folder / "data" / facts["file"])
    predictions = folder / "predictions"
    with tempfile.TemporaryDirectory(prefix="sense7-verify-") as scratch:
        temporary = Project(project.sources, Path(scratch))
        chosen = predictions if predictions.is_dir() else None
        parameters = facts["made"]["parameters"]
        inputs = Inputs(
            temporary,
            facts["name"],
            str(path),
            path,
            provenance,
            parameters,
            chosen,
            failed_below=project.place,
        )
        compute_apart(inputs, inputs.folder, workers, say)
        recomputed = read_values(inputs.folder / "results")
    recorded = read_values(folder / "results")
    differences = []
    for key in recorded | recomputed:
        value = recorded.get(key, {})
        again = recomputed.get(key, {})
        for part in value | again:
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
