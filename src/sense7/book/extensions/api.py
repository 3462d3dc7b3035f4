"""The reference of the library: a signature and a sentence for what users call, read from the code with every build.

A Sphinx extension. On a page, a fence ``{functions} NAMES`` becomes a section for each module or package that it
names. The whole docstrings are read in an editor and by ``help()``.
"""

import importlib
import inspect
import itertools
import re
from collections.abc import Iterator

import sense7

_FENCE = re.compile(r"^```\{functions\} (?P<names>[^\n]*)\n```$", re.MULTILINE)
_ROLE = re.compile(r":[a-z:]+:`~?(?:[^`<]*<)?([^`>]+)>?`")


def modules_of(name: str) -> list[str]:
    """Names below ``sense7`` of a module, or of those modules of a package that ``import sense7 as s7`` gives.

    Examples
    --------
    >>> modules_of("loading"), modules_of("judge")[:2]
    (['loading'], ['judge.baselines', 'judge.bias'])
    """
    return [f"{name}.{module}" for module in sense7._PACKAGES.get(name, "").split()] or [name]


def expand(text: str) -> str:
    r"""Put a list of functions in the place of each fence of a page in MyST Markdown.

    Examples
    --------
    >>> print(expand("```{functions} loading\n```").partition("\n- ")[0])
    (api-loading)=
    ## loading
    <BLANKLINE>
    """

    def replacement(match: re.Match) -> str:
        sections = []
        for name in itertools.chain(*map(modules_of, match["names"].split())):
            entries = "\n".join(_entries(importlib.import_module(f"sense7.{name}")))
            sections.append(f"(api-{re.sub('[._]', '-', name)})=\n## {name}\n\n{entries}\n")
        return "\n".join(sections)

    return _FENCE.sub(replacement, text)


def _entries(module) -> Iterator[str]:
    """Functions of a module or package, and classes that ``s7`` gives by their own name, as items of a list."""
    own = [name for name, one in vars(module).items() if getattr(one, "__module__", "") == module.__name__]
    for name in getattr(module, "__all__", sorted(name for name in own if not name.startswith("_"))):
        thing = getattr(module, name)
        if inspect.isroutine(thing) or (inspect.isclass(thing) and name in sense7.__all__):
            first = " ".join((inspect.getdoc(thing) or "").split("\n\n", 1)[0].split())
            first = re.split(r"(?<=[.!?]) (?=[A-Z])", first)[0]
            first = re.sub(r"^Return (.)", lambda match: match[1].upper(), first)
            said = _ROLE.sub(lambda match: f"`{match[1].rpartition('.')[2]}`", first).replace("``", "`")
            yield f"- `{name}{_arguments(thing)}`: {said}"


def _arguments(thing: object) -> str:
    """Names of what is given, with an ellipsis for what may be left out.

    Examples
    --------
    >>> _arguments(sense7.load)
    '(data, ...)'
    """
    try:
        given = inspect.signature(thing).parameters.values()
    except ValueError:
        return ""
    needed = [
        one.name for one in given if one.default is one.empty and one.kind not in {one.VAR_POSITIONAL, one.VAR_KEYWORD}
    ]
    return f"({', '.join([*needed, *(['...'] if len(needed) < len(given) else [])])})"


def _expand_source(app, docname: str, source: list[str]) -> None:
    for match in _FENCE.finditer(source[0]):
        for module in (module for name in match["names"].split() for module in modules_of(name)):
            app.env.dependencies[docname].add(importlib.import_module(f"sense7.{module}").__file__)
    source[0] = expand(source[0])


def setup(app):
    """Register the extension with Sphinx."""
    app.connect("source-read", _expand_source)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
