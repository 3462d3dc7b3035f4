"""Text notebooks: read, their parameters checked, and turned into Jupyter's format.

A notebook is MyST Markdown in ``notebooks/``. The names assigned in its cell tagged
``parameters`` are what it accepts: values of the type that stands there, within ``LIMITS``.
"""

import ast
import copy
import json
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from sense7.errors import UserError
from sense7.files import digest_of, one_line, read_json
from sense7.outputs import OUTPUTS
from sense7.sources.released import RELEASED

NEED = re.compile(r"(interval )?(\w+)")
"""Key of a recorded number that a cell by hand needs, or that needs an interval; a column's frame matches, too."""

BY_HAND = "by-hand"
"""Tag of a visible cell that computes the page's number without the library; see CONTRIBUTING.md."""

DECLARED = "sense7"
"""Name of the block in a notebook's metadata that says what it rests on. Jupytext keeps it where the head says so, by
``notebook_metadata_filter``."""

DERIVED = "derived"
"""In that block of a derived .ipynb: digest of the cells as they were derived."""

LIMITS = {"seed": (0, 2**63 - 1), "draws": (100, 1_000_000), "confidence": (0.5, 0.999)}
"""Smallest and largest value of a parameter; texts that name something may not be empty."""


KERNEL = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}
"""Metadata of a notebook in Jupyter's format."""


@dataclass(frozen=True)
class TextNotebook:
    """A text notebook as the pipeline sees it."""

    path: Path
    source: str = field(repr=False)
    node: Mapping = field(repr=False)
    code: str = field(repr=False)
    defaults: dict
    stored: tuple[str, ...]
    released: tuple[str, ...]

    @property
    def name(self) -> str:
        """Name without folder and ending; also the name of its file of recorded values."""
        return self.path.stem

    @property
    def released_alone(self) -> tuple[str, ...]:
        """Tables of released ratings, where it rests on these and not on the edition's workbook."""
        if "data" in self.defaults:
            return ()
        return self.released


def find_notebooks(root: Path) -> list[TextNotebook]:
    """Load every text notebook of a checkout, in the order of their names."""
    return [load_notebook(path) for path in sorted((root / "notebooks").glob("[0-9]*.md"))]


def load_notebook(path: Path) -> TextNotebook:
    """Load one text notebook."""
    import jupytext
    import yaml

    try:
        source = path.read_text("utf-8-sig")  # Windows' editors write a mark first
        node = jupytext.reads(source, fmt="md:myst")
        declared = node.metadata.get(DECLARED)
    except (UnicodeDecodeError, yaml.YAMLError) as error:
        raise UserError(
            f"{path}: not UTF-8, or its head is no YAML ({one_line(error)}). Fix it."
        ) from None
    except KeyError:  # jupytext's own, of a block without content
        declared = None
    stored = released = None
    if isinstance(declared, dict) and declared.keys() <= {"stored", "released"}:
        stored, released = declared.get("stored", []), declared.get("released", [])
    is_fit = isinstance(stored, list) and isinstance(released, list)
    if not is_fit or not RELEASED.keys() >= set(released):
        raise UserError(
            f"{path}: its head needs a block `{DECLARED}:` that says what the page rests on, since real ratings could "
            f"be called simulated without it: stored, a list of files, and released, a list of {', '.join(RELEASED)}; "
            f"at least {DECLARED}: {{stored: []}}. It has {declared!r}. If a program saved the text from "
            f"{path.stem}.ipynb, bring it back (git checkout {path.name}), and make the change there."
        )
    cells = [cell for cell in node.cells if "parameters" in tags_of(cell)]
    if len(cells) != 1:
        raise UserError(f"{path}: {len(cells)} cells are tagged parameters. Tag exactly one.")
    defaults = {}
    try:
        for statement in ast.parse(cells[0].source).body:
            (target,) = statement.targets
            defaults[target.id] = ast.literal_eval(statement.value)
    except (SyntaxError, ValueError, AttributeError):
        raise UserError(
            f"{path}: the parameters cell may hold only lines such as seed = 1. Fix it."
        ) from None
    problems = unfit_parameters(defaults, defaults)
    if problems:
        raise UserError(f"{path}: unfit defaults. {'; '.join(problems)}.")
    code = json.dumps(
        [(cell.source, cell.metadata) for cell in node.cells if cell.cell_type == "code"],
        sort_keys=True,
    )
    return TextNotebook(path, source, node, code, defaults, tuple(stored), tuple(released))


def unfit_parameters(defaults: Mapping, parameters: Mapping) -> list[str]:
    """Say what is wrong with parameters: a line for each that is unknown, or of the wrong type or range.

    Examples
    --------
    >>> unfit_parameters({"seed": 1, "draws": 10_000}, {"seed": 2, "draws": 2000.0})
    ['draws = 2000.0: not a whole number, such as 10000']
    """
    problems = []
    unknown = sorted(set(parameters) - set(defaults))
    if unknown:
        problems.append(f"unknown: {', '.join(unknown)} (accepted: {', '.join(sorted(defaults))})")
    fitting_types = {int: (int,), float: (int, float), str: (str,)}
    types_in_words = {int: "a whole number", float: "a number", str: "a text"}
    for name in sorted(set(parameters) & set(defaults)):
        value = parameters[name]
        kind = type(defaults[name])
        low, high = LIMITS.get(name, (-math.inf, math.inf))
        if type(value) not in fitting_types.get(kind, ()):
            words = types_in_words.get(kind, kind.__name__)
            problems.append(f"{name} = {value!r}: not {words}, such as {defaults[name]!r}")
        elif kind is not str and not low <= value <= high:
            problems.append(f"{name} = {value!r}: not from {low} to {high}")
    return problems


def to_node(notebook: TextNotebook) -> dict:
    """The notebook in Jupyter's format as it is executed, to be changed by whoever executes it."""
    cells = copy.deepcopy(notebook.node["cells"])
    return {"cells": cells, "metadata": KERNEL, "nbformat": 4, "nbformat_minor": 5}


def number_cells(cells: Iterable[dict]) -> None:
    """Name cells by their order, so that equal notebooks are equal."""
    for number, cell in enumerate(cells, 1):
        cell["id"] = f"cell-{number:02d}"


def tags_of(cell: Mapping) -> list[str]:
    """Tags of a cell."""
    return cell["metadata"].get("tags", [])


def ipynb_text(node: Mapping) -> str:
    """Return a notebook in Jupyter's format as text, the same for equal notebooks."""
    return json.dumps(node, indent=1, ensure_ascii=False, sort_keys=True) + "\n"


def plain_outputs(outputs: Sequence[Mapping]) -> list[dict]:
    """Outputs of a build's kernel as any other kernel gives them."""
    plain = []
    for output in outputs:
        parts = output.get("data", {}).get(OUTPUTS)
        if parts is None:
            plain.append(output)
            continue
        plain += [{"output_type": "display_data", **part} for part in parts]
    return plain


# --- cells by hand -------------------------------------------------------------------


def leave_out_unfit(cells: Sequence[dict], values: Mapping[str, Mapping]) -> None:
    """Comment the cells by hand that these data can't run, after execution, with the reason in their first line.

    ``values`` are what the notebook recorded.
    """
    for cell in cells:
        if BY_HAND not in tags_of(cell):
            continue
        reasons = {}
        not_recorded = []
        for need in cell["metadata"].get("needs", ()):
            interval, key = NEED.match(need).groups()
            if key not in values:
                not_recorded.append(need)
            elif values[key]["low" if interval else "estimate"] is None:
                reasons[values[key]["reason"]] = None
        errors = [output for output in cell["outputs"] if output["output_type"] == "error"]
        if errors and not_recorded and not reasons:
            error = f"{errors[0]['ename']}: {errors[0]['evalue']}"
            reasons[f"it needs {', '.join(not_recorded)} ({error})"] = None
        if reasons:
            tags_of(cell).extend(["skip-execution", "nbval-skip"])
            cell["outputs"] = []
            text = f"# Not run here: {'; '.join(reasons)}.\n{''.join(cell['source'])}"
            cell["source"] = text.splitlines(keepends=True)


# --- the notebooks for readers, which are made from these -------------------------------


def refuse_edited(paths: Iterable[Path]) -> None:
    """Refuse to write over a derived .ipynb that was edited, since the book is made from the text beside it."""
    for path in filter(Path.exists, paths):
        try:
            node = read_json(path)
        except ValueError as error:  # of a merge, for one
            raise UserError(
                f"{path}: can't be read ({one_line(error)}). Remove it: it is derived again."
            ) from None
        if node["metadata"].get(DECLARED, {}).get(DERIVED) != cells_digest(node["cells"]):
            raise UserError(
                f"{path} was edited, and the book is made from {path.stem}.md beside it. Make the edit there, then "
                f"remove {path.name}: it is derived again."
            )


def cells_digest(cells: Sequence[Mapping]) -> str:
    """Digest of what the cells of a notebook say, without what they gave."""
    content = [[cell["cell_type"], "".join(cell["source"])] for cell in cells]
    return digest_of(json.dumps(content).encode())[:16]
