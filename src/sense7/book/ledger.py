"""The ledger of an edition: the claims beside its recorded values and the truth of its data, as a file."""

import ast
import functools
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from types import MappingProxyType

import sense7
from sense7.book.editions import edition_folder
from sense7.book.manifest import require_whole
from sense7.book.plan import BuildError, Job, released_only
from sense7.claims import POWER_FILE, Claim, Row, make_ledger
from sense7.errors import UserError
from sense7.implied import FILE as IMPLIED
from sense7.implied import implied_truths, load_implied
from sense7.loading import synthetic_marks
from sense7.record import read_values, write_json
from sense7.sources import Provenance
from sense7.sources.released import verified_digest
from sense7.study import Study
from sense7.terminal import did_you_mean

__all__ = ["Source", "read_ledger", "read_truth", "source_of", "write_ledger"]


def read_ledger(place: Path, name: str) -> tuple[list[dict], str]:
    """Ledger of a finished edition, as plain values, and what its data are."""
    folder = edition_folder(place, name)
    if (folder / "edition.json").exists():
        require_whole(folder)
    try:
        rows = json.loads((folder / "ledger.json").read_text(encoding="utf-8"))
        facts = json.loads((folder / "edition.json").read_text(encoding="utf-8"))
    except OSError:
        present = sorted(path.parent.name for path in (place / "_build/editions").glob("*/ledger.json"))
        hint = did_you_mean(name, present, f"Build it: sense7 build {name}")
        raise UserError(f"there is no edition {name!r} yet (present: {', '.join(present) or 'none'}). {hint}") from None
    except ValueError as error:
        raise UserError(f"{folder}: its ledger can't be read ({error}). Build it again: sense7 build {name}") from None
    return rows, facts["label"]


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
    root: Path,
    edition: Path,
    claims: Sequence[Claim],
    provenance: Provenance,
    truth: dict | None,
    jobs: Mapping[str, Job],
) -> list[Row]:
    """Compare claims with an edition's recorded values; write the ledger."""
    try:
        values = read_values(edition / "results")
    except ValueError as error:
        raise BuildError(f"recorded values: {error}. Rename one of the two.") from None
    rests_on = {
        name: [table for table in tables if verified_digest(table)] for name, tables in released_only(jobs).items()
    }
    simulated = _simulated_means(root, truth, jobs)
    implied = implied_truths(truth, simulated)
    counted = root / "data" / POWER_FILE
    rates = json.loads(counted.read_text(encoding="utf-8"))["claims"] if counted.exists() else {}
    rows = make_ledger(claims, values, provenance, truth, rests_on, implied, rates)
    write_json(edition / "ledger.json", [row.to_dict() for row in rows])
    if implied:
        truths = {key: asdict(truth) for key, truth in implied.items()}
        shares = (simulated or {}).get("beyond_shares", [])
        write_json(edition / "data" / IMPLIED, {"truths": truths, "beyond_shares": shares})
    return rows


_CHANCE = {"data", "predictions", "results", "confidence", "draws", "seed"}
"""Parameters of notebooks on which no estimate of a simulated study depends but by chance."""


def _simulated_means(root: Path, truth: dict | None, jobs: Mapping[str, Job]) -> dict | None:
    """Stored means over simulated studies, where they hold: same parameters, and notebooks that analyze by default."""
    stored = load_implied(root / "data" / IMPLIED)
    changed = any(
        name not in _CHANCE and value != job.notebook.defaults.get(name)
        for job in jobs.values()
        for name, value in job.parameters.items()
    )
    return None if truth is None or changed or (stored or truth)["parameters"] != truth["parameters"] else stored


_PACKAGE = Path(sense7.__file__).parent
_DEFINITIONS = (ast.FunctionDef, ast.ClassDef)


@dataclass(frozen=True)
class Source:
    """A place in the code; ``line`` is where the key stands, or where the function begins if the key is composed."""

    function: str
    file: Path
    line: int

    def __str__(self) -> str:
        return f"{self.function}, {self.file.relative_to(_PACKAGE.parents[1])}:{self.line}"


def source_of(notebook: Path, value: Mapping) -> Source | None:
    """The function whose result was recorded in the cell that a recorded value names; None if the cell calls none."""
    found = _recorded(notebook, notebook.stat().st_mtime_ns, value["cell"])
    if not found:
        return None
    likenesses = [_likeness(value["key"], source) for source in found]
    best = max(range(len(found)), key=lambda number: likenesses[number][0])
    return replace(found[best], line=likenesses[best][1])


@functools.lru_cache(maxsize=512)
def _recorded(notebook: Path, changed: int, count: int) -> tuple[Source, ...]:
    """Functions of the library whose results reach a call of ``record`` in a cell; those nearest to it first."""
    cells = [cell for cell in json.loads(notebook.read_text(encoding="utf-8"))["cells"] if cell["cell_type"] == "code"]
    before = [cell for cell in cells if (cell["execution_count"] or 0) <= count]
    named: dict[str, list[ast.expr]] = {}
    imported: dict[str, str] = {}
    calls: list[ast.Call] = []
    for cell in before:
        for node in ast.walk(ast.parse("".join(cell["source"]))):
            if isinstance(node, (ast.Assign, ast.For, ast.comprehension)):
                targets = node.targets if isinstance(node, ast.Assign) else [node.target]
                value = node.value if isinstance(node, ast.Assign) else node.iter
                for name in (part for target in targets for part in ast.walk(target) if isinstance(part, ast.Name)):
                    named.setdefault(name.id, []).insert(0, value)
                    imported |= {name.id: _dotted(value)} if _dotted(value).startswith("s7.") else {}
            elif isinstance(node, ast.ImportFrom):
                imported |= {alias.asname or alias.name: f"{node.module}.{alias.name}" for alias in node.names}
            elif isinstance(node, ast.Call) and cell["execution_count"] == count:
                calls += [node] if _dotted(node.func).startswith("record.") else []
    found: dict[Source, None] = {}
    for call in calls:
        for source in _functions([*call.args, *(keyword.value for keyword in call.keywords)], named, imported, set()):
            found[source] = None
    return tuple(found)


def _functions(
    expressions: list[ast.expr], named: dict[str, list[ast.expr]], imported: dict[str, str], seen: set[str]
) -> Iterator[Source]:
    """Functions that expressions call, or that made what they name."""
    names = []
    for expression in expressions:
        for node in ast.walk(expression):
            if isinstance(node, ast.Call) and (source := _definition(_dotted(node.func, imported))):
                yield source
            elif isinstance(node, ast.Name) and node.id not in seen:
                names.append(node.id)
    for name in names:
        yield from _functions(named.get(name, []), named, imported, seen | {*names})


def _dotted(node: ast.expr, imported: Mapping[str, str] = MappingProxyType({})) -> str:
    if isinstance(node, ast.Attribute):
        return f"{_dotted(node.value, imported)}.{node.attr}"
    name = getattr(node, "id", "")
    return imported.get(name, name)


@functools.cache
def _definition(dotted: str) -> Source | None:
    """Where ``s7.module.function`` is defined, or a function by its whole name."""
    first, *rest = dotted.split(".")
    if first == "sense7" and len(rest) > 1:
        return _in_module(dotted.rpartition(".")[0], rest[-1])
    if first != "s7" or not rest:
        return None
    name = sense7._SHORT.get(rest[0], rest[0])
    module = sense7._WHERE.get(name) or sense7._MODULES.get(name)
    return _in_module(f"sense7.{module}", rest[-1] if len(rest) > 1 else name) if module else None


def _in_module(module: str, name: str) -> Source | None:
    path = _PACKAGE.parent / module.replace(".", "/")
    path = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
    if not path.exists():  # a method of a class
        return _in_module(*module.rsplit(".", 1)) if module.count(".") > 1 else None
    for node in _tree(path).body:
        if isinstance(node, _DEFINITIONS) and node.name == name:
            return Source(f"{module}.{name}", path, node.lineno)
        if isinstance(node, ast.ImportFrom):
            for alias in node.names:
                if (alias.asname or alias.name) == name:
                    return _in_module(node.module, alias.name)
    return None


@functools.cache
def _tree(path: Path) -> ast.Module:
    return ast.parse("\n".join(_lines(path)))


@functools.cache
def _lines(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8").splitlines()


@functools.lru_cache(maxsize=4096)
def _likeness(key: str, source: Source) -> tuple[int, int]:
    """Length of the longest beginning of a key that stands in a function, else in its module, and the line."""
    lines = _lines(source.file)
    name = source.function.rpartition(".")[2]
    (node,) = [one for one in _tree(source.file).body if isinstance(one, _DEFINITIONS) and one.name == name]
    texts = ["\n".join(lines[node.lineno - 1 : node.end_lineno]), "\n".join(lines)]
    parts = key.split("_")
    for length in range(len(parts), 0, -1):
        start = "_".join(parts[:length])
        for text, first in zip(texts, (node.lineno, 1), strict=True):
            before, found, _ = text.partition(start)
            if found:
                return len(start), first + before.count("\n") if length == len(parts) else source.line
    return 0, source.line
