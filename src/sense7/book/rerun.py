"""One notebook, run again with other parameters: a copy beside the user's files, and its values."""

import json
import re
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

from sense7.book.editions import DATA_SETS, source_of
from sense7.book.execute import Kernels
from sense7.book.jobs import Job, in_order
from sense7.book.notebooks import (
    TextNotebook,
    find_notebooks,
    ipynb_text,
    plain_outputs,
    refuse_edited,
)
from sense7.errors import UserError
from sense7.files import (
    WRITTEN,
    digest_of,
    digest_of_file,
    not_written,
    note_as_written,
    replacing_folder,
    require_as_written,
    unused_path,
    write_whole,
)
from sense7.record import format_value, read_values
from sense7.sources import resolve
from sense7.taxonomy import SIMULATED_WORDS
from sense7.terminal import did_you_mean


class Rerun(NamedTuple):
    """A notebook that was run again: its name, what its data are, the executed copy, the folder of the values."""

    name: str
    label: str
    notebook: Path
    results: Path


def rerun(
    root: Path, notebook: str, parameters: Mapping | None = None, *, out: str | Path | None = None
) -> Rerun:
    """Execute a copy of one notebook with a user's parameters, after those whose values it reads, with the same.

    The copy is ``out``, or NAME.executed.ipynb in the working directory; its values lie beside it in STEM.results. Both
    are moved there when all is done: after an error nothing has changed but for papermill's copy of
    what failed, which gets a name of its own. A copy that was edited, and a folder that holds
    anything else, are kept, and refused.
    """
    notebooks = find_notebooks(root)
    chosen = select_notebook(notebook, notebooks)
    parameters = dict(parameters or {})
    if "results" in parameters:
        raise UserError(
            "results: the values lie beside the copy. Choose its place by --out FILE.ipynb."
        )
    if out is None:
        out = f"{chosen.name}.executed.ipynb"
    out = Path(out).expanduser().absolute()
    if out.suffix != ".ipynb":
        raise UserError(f"{out}: the executed copy is a notebook. Give a name that ends in .ipynb.")
    results = out.with_name(f"{out.stem}.results")
    _require_unedited(out, results)
    needed = _with_needed(chosen, notebooks)
    refuse_edited([notebook.path for notebook in needed])
    ordered = in_order(needed, parameters)
    data = parameters.get("data", chosen.defaults.get("data", DATA_SETS[0]))
    # Names of places as they are true in any folder; what is unfit is refused before anything runs.
    settings = {"results": results.name}
    provenance = None
    if "data" in parameters:
        from sense7.loading import load

        provenance = load(data).provenance
        settings["data"] = source_of(data, resolve(data)[0])
    predictions = parameters.get("predictions")
    if predictions:
        folder = Path(predictions).expanduser()
        if not folder.is_dir():
            raise UserError(
                f"{predictions}: no folder of predictions. Give the one that `sense7 judge run` wrote."
            )
        settings["predictions"] = str(folder.resolve())
    jobs = []
    for page, accepted in ordered:
        fitting = {name: value for name, value in settings.items() if name in page.defaults}
        jobs.append(Job(page, {**accepted, **fitting}))
    label = ""
    if "data" in chosen.defaults:
        label = (provenance or resolve(data)[1]).label
    try:
        _execute(jobs, out, results, label)
    except OSError as error:
        raise UserError(not_written(error.filename or out, error)) from None
    return Rerun(chosen.name, label, out, results)


def select_notebook(text: str, notebooks: Sequence[TextNotebook]) -> TextNotebook:
    """The notebook that a user names: by number ("3"), name ("03-reliability", "reliability") or path."""
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


def _with_needed(chosen: TextNotebook, notebooks: Sequence[TextNotebook]) -> list[TextNotebook]:
    """A notebook with those whose values it reads, and those whose values these read."""
    by_name = {notebook.name: notebook for notebook in notebooks}
    needed = {}
    waiting = [chosen.name]
    while waiting:
        name = waiting.pop(0)
        if name not in needed:
            needed[name] = by_name[name]
            waiting += by_name[name].needs
    return list(needed.values())


def _execute(jobs: Sequence[Job], out: Path, results: Path, label: str) -> None:
    """Execute notebooks, and move the copy of the last, and the values of all, to their places."""
    kernels = Kernels({}, out)
    failed = unused_path(out.with_name(f"{out.stem}.failed.ipynb"))
    with replacing_folder(results, check=partial(_require_unedited, out)) as values:
        # The copy runs where it will lie, so that what it is given is true of its place.
        folder = values.parent
        for job in jobs:
            scratch = folder / f"{job.notebook.name}.left"
            scratch.mkdir()
            executed = kernels.executed_copy(job, folder, scratch, failed)
        # Outputs of any kernel in the place of those of a page, and numbers in the place of their names.
        recorded = read_values(values)
        node = json.loads(executed)
        for cell in node["cells"]:
            if cell["cell_type"] == "code":
                cell["outputs"] = plain_outputs(cell["outputs"])
            else:
                cell["source"] = with_numbers("".join(cell["source"]), recorded)
        if label:
            title, _, text = node["cells"][0]["source"].partition("\n")
            node["cells"][0]["source"] = (
                f"{title}\n\n> Data of the numbers below: {label}\n\n{text.strip()}"
            )
        executed = ipynb_text(node)
        written = {path.name: digest_of_file(path) for path in values.iterdir() if path.is_file()}
        written[f"../{out.name}"] = digest_of(executed.encode())
        note_as_written(values, written)
        _require_unedited(out, results)
        if results.exists():
            # So that the copy counts as written also if the process is killed before the values.
            note_as_written(results, written)
        write_whole(out, executed, replace=out.exists())


def with_numbers(text: str, values: Mapping[str, Mapping]) -> str:
    """Put recorded numbers in the place of their names in a sentence; another page's number is said to be absent.

    Examples
    --------
    >>> with_numbers("Alpha is {value}`a`.", {})
    'Alpha is (not computed in this run: a).'
    """

    def words(match: re.Match) -> str:
        key, part = match["text"], ""
        if key not in values:
            key, _, part = key.rpartition(".")
        if key not in values or part not in ("", "estimate", "n"):
            return f"(not computed in this run: {match['text']})"
        number = format_value(values[key], part)
        if (values[key]["method"] or "").startswith(SIMULATED_WORDS) and part != "n":
            number += f" ({SIMULATED_WORDS})"
        return number

    return re.sub(r"\{value\}`(?P<text>[^`]+)`", words, text)


def _require_unedited(out: Path, results: Path) -> None:
    """Refuse to replace an executed copy, or values, that are not as a run wrote them."""
    files = [out]
    if results.is_dir() and not results.is_symlink():
        files += sorted(path for path in results.iterdir() if path.name != WRITTEN)
    else:
        files.append(results)  # a file or link of this name is not ours
    require_as_written(files, results)
