"""Where a recorded key is computed: function, file and line, read from the code when asked."""

import ast
import functools
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType

import sense7

__all__ = ["Source", "source_of"]

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
    """The function whose result was recorded in the cell that a recorded value names; None if the cell calls none.

    Parameters
    ----------
    notebook : Path
        An executed notebook, in Jupyter's format.
    value : mapping
        As a notebook records it: with key and cell.
    """
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
