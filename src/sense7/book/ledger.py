"""The ledger of an edition: the claims beside its recorded values and the truth of its data, as a file."""

import ast
import functools
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import sense7
from sense7.book.editions import find_edition, read_json, require_whole
from sense7.book.plan import BuildError, Jobs, file_of, module_of
from sense7.claims import POWER_FILE, Claim, Row, make_ledger
from sense7.implied import FILE as IMPLIED
from sense7.implied import implied_truths, load_implied
from sense7.loading import synthetic_marks
from sense7.record import read_values, write_json
from sense7.sources import Provenance
from sense7.sources.released import verified_digest
from sense7.study import Study


def read_ledger(place: Path, edition: str) -> tuple[list[dict], str]:
    """Ledger of a finished edition, as plain values, and what its data are."""
    folder = find_edition(place, edition)
    require_whole(folder)
    return read_json(folder / "ledger.json"), read_json(folder / "edition.json")["label"]


def read_truth(path: Path, study: Study) -> dict | None:
    """Truth of a synthetic workbook, if it is there and belongs to it."""
    if study.provenance.kind != "synthetic":
        return None
    try:
        truth = json.loads(path.read_text(encoding="utf-8"))
        marks = synthetic_marks(study) or {}
        belongs = str(truth["seed"]) == str(marks.get("seed")) and truth["parameters"] == json.loads(
            marks.get("parameters", "null")
        )
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return truth if belongs else None


def write_ledger(
    root: Path, edition: Path, claims: Sequence[Claim], provenance: Provenance, truth: dict | None, jobs: Jobs
) -> list[Row]:
    """Compare claims with an edition's recorded values; write the ledger."""
    try:
        values = read_values(edition / "results")
    except ValueError as error:
        raise BuildError(f"recorded values: {error}. Rename one of the two.") from None
    rests_on = {
        name: [table for table in job.notebook.released_alone if verified_digest(table)]
        for name, job in jobs.items()
        if job.notebook.released_alone
    }
    stored = load_implied(root / "data" / IMPLIED)
    changed = any(
        name not in _CHANCE and value != job.notebook.defaults.get(name)
        for job in jobs.values()
        for name, value in job.parameters.items()
    )
    # Means over simulated studies hold for the same parameters, and notebooks that analyze by default.
    fits = truth is not None and not changed and (stored or truth)["parameters"] == truth["parameters"]
    simulated = stored if fits else None
    implied = implied_truths(truth, simulated)
    counted = root / "data" / POWER_FILE
    rates = json.loads(counted.read_text(encoding="utf-8"))["claims"] if counted.exists() else {}
    rows = make_ledger(claims, values, provenance, truth, rests_on, implied, rates)
    write_json(edition / "ledger.json", [row.to_dict() for row in rows])
    if implied:
        truths = {key: asdict(truth) for key, truth in implied.items()}
        write_json(edition / "data" / IMPLIED, {"truths": truths})
    return rows


_CHANCE = {"data", "predictions", "results", "confidence", "draws", "seed"}
"""Parameters of notebooks on which no estimate of a simulated study depends but by chance."""


@dataclass(frozen=True)
class Source:
    """A place in the code; ``line`` is where the key stands, or where the function begins if the key is composed."""

    function: str
    file: Path
    line: int
    end: int

    def __str__(self) -> str:
        return f"{self.function}, {self.file.relative_to(Path(sense7.__file__).parents[2])}:{self.line}"


def source_of(notebook: Path, value: Mapping) -> Source | None:
    """The function whose result was recorded in the cell that a recorded value names; None if the cell calls none.

    Of several it is the one in which, or else in whose module, the longest beginning of the key stands.
    """
    recorded = _recorded(notebook, notebook.stat().st_mtime_ns, value["cell"])
    found = [(*_likeness(value["key"], one), one) for one in recorded]
    best = max(found, key=lambda each: each[0], default=None)
    return None if best is None else replace(best[2], line=best[1])


@functools.lru_cache(maxsize=512)
def _recorded(notebook: Path, changed: int, count: int) -> tuple[Source, ...]:
    """Functions of the library whose results reach a call of ``record`` in a cell; those nearest to it first."""
    cells = [cell for cell in json.loads(notebook.read_text(encoding="utf-8"))["cells"] if cell["cell_type"] == "code"]
    bound, named, calls = {"s7": "sense7"}, {}, []
    for cell in [cell for cell in cells if (cell["execution_count"] or 0) <= count]:
        for node in ast.walk(ast.parse("".join(cell["source"]))):
            if isinstance(node, ast.Assign | ast.For | ast.comprehension):
                targets = node.targets if isinstance(node, ast.Assign) else [node.target]
                for name in [part.id for one in targets for part in ast.walk(one) if isinstance(part, ast.Name)]:
                    named.setdefault(name, []).insert(0, node.value if isinstance(node, ast.Assign) else node.iter)
            elif isinstance(node, ast.ImportFrom):
                bound |= {alias.asname or alias.name: f"{node.module}.{alias.name}" for alias in node.names}
            elif isinstance(node, ast.Call) and cell["execution_count"] == count:
                calls += [([*node.args, *node.keywords], set())] if ast.unparse(node.func).startswith("record.") else []
    found = {}
    for left, seen in calls:
        for node in (node for expression in left for node in ast.walk(expression)):  # which grows
            if isinstance(node, ast.Name | ast.Attribute):
                first, _, rest = ast.unparse(node).partition(".")
                if first in bound and (source := _definition(f"{bound[first]}.{rest}".rstrip("."))):
                    found[source] = None
                left.extend(named.get(first, []) if first not in seen else [])
                seen.add(first)
    return tuple(found)


@functools.cache
def _definition(dotted: str) -> Source | None:
    """Where a function is defined, by its whole name or that of a package which gives it."""
    package, _, name = dotted.rpartition(".")
    module = (module_of(dotted) or module_of(package)) if package else None
    if module is None or module == dotted:
        return None
    file, name = file_of(module), sense7._SHORT.get(name, name)
    for node in ast.parse(file.read_bytes()).body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and node.name == name:
            return Source(f"{module}.{name}", file, node.lineno, node.end_lineno)
        if isinstance(node, ast.ImportFrom) and name in {alias.asname or alias.name for alias in node.names}:
            return _definition(f"{node.module}.{name}")
    return None


@functools.lru_cache(maxsize=4096)
def _likeness(key: str, source: Source) -> tuple[float, int]:
    """Length of the longest beginning of a key that stands in a function, else in its module, and the line."""
    lines = source.file.read_text(encoding="utf-8").splitlines()
    texts = {source.line: "\n".join(lines[source.line - 1 : source.end]), 1: "\n".join(lines)}
    parts = key.split("_")
    for length in range(len(parts), 0, -1):
        start = "_".join(parts[:length])
        for first, text in texts.items():
            if start in text:
                line = first + text.partition(start)[0].count("\n") if length == len(parts) else source.line
                return len(start) + (first == source.line) / 2, line
    return 0, source.line
