"""Text notebooks: read, their parameters checked, and turned into Jupyter's format.

A notebook is MyST Markdown in ``notebooks/``. The names assigned in its cell tagged
``parameters`` are what it accepts; their types and ranges come from ``COMMON`` below or, for
what only one finding needs, from ``sense7: parameters:`` in the notebook's metadata (JSON Schema).
"""

import ast
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from sense7.errors import UserError

__all__ = ["COMMON", "TextNotebook", "check_parameters", "find_notebooks", "load_notebook", "to_ipynb"]

COMMON = {
    "data": {"type": "string", "minLength": 1, "description": "data set: a name or a path"},
    "prompted_condition": {
        "type": "string",
        "description": "condition with the empathy prompt; empty: guessed from the names",
    },
    "seed": {
        "type": "integer",
        "minimum": 0,
        "maximum": 2**63 - 1,
        "description": "seed of every random step",
    },
    "draws": {
        "type": "integer",
        "minimum": 100,
        "maximum": 1_000_000,
        "description": "number of bootstrap draws",
    },
    "confidence": {
        "type": "number",
        "minimum": 0.5,
        "maximum": 0.999,
        "description": "confidence of the intervals",
    },
    "results": {"type": "string", "minLength": 1, "description": "folder for the recorded values"},
}
"""Schemas of the parameters that several notebooks share."""


@dataclass(frozen=True)
class TextNotebook:
    """A text notebook as the pipeline sees it.

    Attributes
    ----------
    path : Path
        The .md file.
    source : str
        Its text.
    defaults : dict
        Parameter -> default, from the parameters cell.
    schemas : dict
        Parameter -> JSON Schema.
    needs : tuple of str
        Names of the notebooks whose recorded values it reads.
    """

    path: Path
    source: str = field(repr=False)
    defaults: dict
    schemas: dict = field(repr=False)
    needs: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """Name without folder and ending; also the name of its file of recorded values."""
        return self.path.stem


def find_notebooks(root: Path) -> list[TextNotebook]:
    """Load every text notebook of a checkout, in the order of their names."""
    notebooks = [load_notebook(path) for path in sorted((root / "notebooks").glob("[0-9]*.md"))]
    if not notebooks:
        raise UserError(f"{root / 'notebooks'}: there is no notebook here. Run this from a checkout.")
    known = {notebook.name for notebook in notebooks}
    for notebook in notebooks:
        for needed in notebook.needs:
            if needed not in known:
                raise UserError(f"{notebook.path}: needs {needed!r}, which is no notebook. Mend its metadata.")
    return notebooks


def load_notebook(path: Path) -> TextNotebook:
    """Load one text notebook.

    Raises
    ------
    UserError
        If it has no parameters cell, or a parameter has no schema or an unfit default.
    """
    source = path.read_text(encoding="utf-8")
    node = _parse(source)
    own = node.metadata.get("sense7", {})
    cells = [cell for cell in node.cells if "parameters" in cell.metadata.get("tags", [])]
    if len(cells) != 1:
        raise UserError(f"{path}: {len(cells)} cells are tagged parameters. Tag exactly one.")
    schemas = COMMON | own.get("parameters", {})
    try:
        defaults = {
            statement.targets[0].id: ast.literal_eval(statement.value)
            for statement in ast.parse(cells[0].source).body
            if isinstance(statement, ast.Assign)
        }
    except (SyntaxError, ValueError, AttributeError):
        raise UserError(f"{path}: the parameters cell may hold only lines such as seed = 1. Mend it.") from None
    unknown = sorted(set(defaults) - set(schemas))
    if unknown:
        raise UserError(
            f"{path}: no schema for the parameters {', '.join(unknown)}. Add them under "
            "sense7: parameters: in the notebook's metadata."
        )
    notebook = TextNotebook(
        path=path,
        source=source,
        defaults=defaults,
        schemas={name: schemas[name] for name in defaults},
        needs=tuple(own.get("needs", ())),
    )
    check_parameters(notebook, defaults)
    return notebook


def check_parameters(notebook: TextNotebook, parameters: Mapping) -> None:
    """Refuse parameters that the notebook does not know, or of the wrong type or range.

    Raises
    ------
    UserError
        Naming the notebook, every unfit parameter, its value, and what is accepted.
    """
    import jsonschema

    schema = {"type": "object", "properties": notebook.schemas, "additionalProperties": False}
    problems = []
    for error in sorted(jsonschema.Draft202012Validator(schema).iter_errors(dict(parameters)), key=str):
        if error.validator == "additionalProperties":
            unknown = sorted(set(parameters) - set(notebook.schemas))
            problems.append(f"unknown: {', '.join(unknown)} (accepted: {', '.join(sorted(notebook.schemas))})")
        else:
            name = error.path[0]
            problems.append(
                f"{name} = {error.instance!r}: {error.message} ({notebook.schemas[name].get('description', '')})"
            )
    if problems:
        raise UserError(f"{notebook.path.name}: parameters refused. " + "; ".join(problems))


def _parse(source: str):
    import jupytext

    return jupytext.reads(source, fmt="md:myst")


def to_ipynb(notebook: TextNotebook) -> str:
    """Return the notebook in Jupyter's format, unexecuted, equal for equal text.

    Random cell ids are replaced by numbered ones, so that a diff shows only what changed.
    """
    import nbformat

    node = _parse(notebook.source)
    node.metadata = {
        "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
        "language_info": {"name": "python"},
    }
    node.nbformat, node.nbformat_minor = 4, 5
    for number, cell in enumerate(node.cells, 1):
        cell["id"] = f"cell-{number:02d}"
    nbformat.validate(node)
    return json.dumps(node, indent=1, ensure_ascii=False, sort_keys=True) + "\n"
