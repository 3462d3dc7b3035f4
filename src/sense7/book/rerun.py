"""One notebook, run again with other parameters; and the copies of notebooks that readers download.

What a notebook reads of others' values is computed for it first, with the same parameters, so that a copy never
mixes values of different data.
"""

import json
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from sense7 import sources
from sense7.book import execute
from sense7.book.notebooks import TextNotebook, find_notebooks, ipynb_text, load_notebook, refuse_edited, to_ipynb
from sense7.book.plan import plan
from sense7.errors import UserError
from sense7.files import not_written, scratch_folder, write_whole
from sense7.loading import load
from sense7.terminal import did_you_mean

__all__ = ["Rerun", "download_copy", "rerun", "select_notebook", "write_downloads"]


@dataclass(frozen=True)
class Rerun:
    """A notebook that was run again.

    Attributes
    ----------
    name : str
        Of the notebook, and of the file of its values.
    label : str
        What its data are, in words; "" where it takes none.
    notebook : Path
        The executed copy.
    results : Path
        Folder of the values that it recorded, and of those that it needed.
    """

    name: str
    label: str
    notebook: Path
    results: Path


def select_notebook(text: str, notebooks: Sequence[TextNotebook]) -> TextNotebook:
    """Find the notebook that a user names.

    Parameters
    ----------
    text : str
        A number ("3", "03"), a name ("03-reliability", "reliability"), or the path of a text notebook.
    notebooks : sequence of TextNotebook
        Those of the checkout.

    Raises
    ------
    UserError
        If there is none, or the path leads to something else.
    """
    for notebook in notebooks:
        number, _, title = notebook.name.partition("-")
        if text in {notebook.name, title, number} or (text.isdecimal() and text.zfill(len(number)) == number):
            return notebook
    path = Path(text).expanduser()
    if not path.is_file():
        names = ", ".join(notebook.name for notebook in notebooks)
        known = [part for notebook in notebooks for part in (notebook.name, notebook.name.partition("-")[2])]
        hint = did_you_mean(text, known, "Check the name or the path.")
        raise UserError(f"{text}: neither a notebook of this book ({names}) nor a file. {hint}")
    if path.suffix != ".md":
        raise UserError(f"{text}: not a text notebook. Give the .md file that it was derived from.")
    try:
        return load_notebook(path.resolve())
    except (OSError, UnicodeDecodeError):
        raise UserError(f"{text}: can't be read as text in UTF-8. Check its permissions, or save it again.") from None


def rerun(root: Path, notebook: str, parameters: Mapping | None = None, *, out: str | Path | None = None) -> Rerun:
    """Execute a copy of one notebook with given parameters.

    Parameters
    ----------
    root : Path
        The checkout.
    notebook : str
        Its number, name or path, see :func:`select_notebook`.
    parameters : mapping, optional
        Values for its parameters, other than ``results``. ``data`` may be a name, or the path of a workbook
        or folder of tables; ``predictions`` the path of a folder.
    out : path, optional
        Where the copy is to be; ``NAME.executed.ipynb`` in the working directory if not given.
        The values lie beside it, in the folder ``STEM.results``.

    Returns
    -------
    Rerun
        Where everything lies. It was moved there when all was done: after an error nothing has changed.

    Raises
    ------
    UserError
        If there is no such notebook, or the parameters, the data or the place are unfit.
    BuildError
        If a cell fails; names the notebook, the cell and the exception.
    """
    known = find_notebooks(root)
    chosen = select_notebook(notebook, known)
    chosen_parameters = dict(parameters or {})
    if "results" in chosen_parameters:
        raise UserError("results: the values lie beside the copy. Choose its place by --out FILE.ipynb.")
    out = Path(out).expanduser().absolute() if out is not None else Path.cwd() / f"{chosen.name}.executed.ipynb"
    if out.suffix != ".ipynb":
        raise UserError(f"{out}: the executed copy is a notebook. Give a name that ends in .ipynb.")
    results = out.with_name(f"{out.stem}.results")
    if out.is_dir() or (results.exists() and not results.is_dir()):
        in_the_way = out if out.is_dir() else results
        raise UserError(f"{in_the_way}: is in the way. Remove it, or give another place by --out.")
    refuse_edited(_with_needed(chosen, known))
    jobs = plan(_with_needed(chosen, known), chosen_parameters, "", ())
    own = _placed(chosen_parameters, chosen) | {"results": results.name}
    try:
        with scratch_folder(out.parent) as scratch:
            # The copy runs where it will lie, so that what it is given is true of its place.
            making = scratch / results.name
            making.mkdir()
            for name, job in jobs.items():
                (left := scratch / f"{name}.left").mkdir()
                settings = job.parameters | {key: own[key] for key in own if key in job.notebook.schemas}
                copy = execute.executed_copy(replace(job, parameters=settings), scratch, left)
                execute.require_values(job.notebook, making)
                if name == chosen.name:
                    executed = copy
            _put(making, results)
            write_whole(out, executed)
    except OSError as error:
        raise UserError(not_written(error.filename or out, error)) from None
    return Rerun(chosen.name, _label(chosen_parameters, chosen), out, results)


def _with_needed(chosen: TextNotebook, known: Sequence[TextNotebook]) -> list[TextNotebook]:
    """The chosen notebook and, one after the other, all whose values it reads."""
    by_name = {notebook.name: notebook for notebook in known} | {chosen.name: chosen}
    names, needed = [chosen.name], {}
    while names:
        name = names.pop()
        if name not in by_name:
            raise UserError(f"{chosen.path}: needs {name!r}, which is no notebook. Fix its metadata.")
        if name not in needed:
            needed[name] = by_name[name]
            names += needed[name].needs
    return list(needed.values())


def _placed(values: Mapping, chosen: TextNotebook) -> dict:
    """Data and predictions as the copy finds them from wherever it lies; refused if unfit."""
    placed = {}
    if values.keys() & {"data", "prompted_condition"}:
        data = values.get("data", chosen.defaults.get("data", "synthetic"))
        load(data, prompted_condition=values.get("prompted_condition"))
        named = data == "synthetic" or data in sources.SOURCES
        placed["data"] = data if named else str(sources.resolve(data)[0].resolve())
    if predictions := values.get("predictions"):
        folder = Path(predictions).expanduser()
        if not folder.is_dir():
            raise UserError(f"{predictions}: no folder of predictions. Give the one that `sense7 judge run` wrote.")
        placed["predictions"] = str(folder.resolve())
    return placed


def _label(values: Mapping, chosen: TextNotebook) -> str:
    """What the data of a notebook are."""
    if "data" not in chosen.schemas:
        return ""
    if "data" not in values:
        return sources.resolve(chosen.defaults["data"])[1].label
    return load(values["data"], prompted_condition=values.get("prompted_condition")).provenance.label


def _put(making: Path, results: Path) -> None:
    """Move the values to their place; those of an earlier run go."""
    if results.exists():
        if foreign := [path.name for path in results.iterdir() if path.suffix != ".json"]:
            raise UserError(f"{results}: holds {foreign[0]}, which isn't of a run. Move it, or give another --out.")
        shutil.rmtree(results)
    making.replace(results)


# --- downloads -------------------------------------------------------------------------


def download_copy(notebook: TextNotebook, data: str, install_from: str | None = None, predictions: str = "") -> str:
    """Give a notebook as a reader downloads it: not executed, on its edition's data, values beside it.

    The page's own source has the paths of the build's folders in it, which nobody else has.

    Parameters
    ----------
    notebook : TextNotebook
        What the page shows.
    data : str
        What its parameter ``data`` is to be: a data set's name, or the name of a file.
    install_from : str, optional
        See :func:`~sense7.book.notebooks.to_ipynb`.
    predictions : str
        What its parameter ``predictions`` is to be: the name of a folder, or "" for those that come with the data set.

    Returns
    -------
    str
        In Jupyter's format.
    """
    node = json.loads(to_ipynb(notebook, install_from))
    own = {"data": data, "predictions": predictions, "results": f"{notebook.name}.results"}
    for cell in node["cells"]:
        if "parameters" in cell["metadata"].get("tags", []):
            settings = notebook.defaults | {key: own[key] for key in own if key in notebook.defaults}
            cell["source"] = "\n".join(f"{key} = {value!r}" for key, value in settings.items())
    return ipynb_text(node)


def write_downloads(root: Path, facts: Mapping, pages: Path, install_from: str) -> None:
    """Put a copy that runs in the place of every notebook that the built pages offer for download.

    Parameters
    ----------
    root : Path
        The checkout.
    facts : mapping
        Of the edition: ``kind``, ``name``, ``file`` and, where it has any of its own, ``predictions``.
    pages : Path
        The built pages; ``_sources/notebooks`` holds what their download buttons lead to.
    install_from : str
        See :func:`~sense7.book.notebooks.installable_from`.
    """
    named = facts["name"] == "synthetic" or facts["name"] in sources.SOURCES
    data = facts["name"] if named else facts["file"]
    for notebook in find_notebooks(root):
        source = pages / "_sources" / "notebooks" / f"{notebook.name}.ipynb"
        if source.exists():  # the table of contents may leave out one
            write_whole(source, download_copy(notebook, data, install_from, facts.get("predictions", "")))
