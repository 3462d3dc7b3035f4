"""The reference of the library: pages of the book that are made of docstrings, again with every build.

A Sphinx extension. On a page, a fence ``{modules} NAMES`` becomes a section for every module it names: of the packages
in :data:`OPEN` a section for each of their modules. A fence ``{front-door}`` becomes the table of what
``import sense7 as s7`` gives. What a section holds, autodoc reads from the library itself, so that no page
can say what the code does not.

Formulas become MathML, which browsers show by themselves: the book needs no network.
"""

import importlib
import inspect
import pkgutil
import re
from collections.abc import Iterator

from docutils import nodes
from docutils.utils.math import MathError, latex2mathml
from sphinx import addnodes
from sphinx.pycode import ModuleAnalyzer
from sphinx.pycode.parser import DefinitionFinder, Parser
from sphinx.transforms import SphinxTransform
from sphinx.util import logging

import sense7

__all__ = ["OPEN", "expand", "modules_of", "setup"]

OPEN = ("estimators", "findings", "judge")
"""Packages with a section for each of their modules; of any other package, only what it offers itself is public."""

_LOGGER = logging.getLogger(__name__)
_FENCE = re.compile(r"^```\{(?P<kind>modules|front-door)\}(?P<names>[^\n]*)\n```$", re.MULTILINE)

_SIZES = re.compile(r"\\(?:[Bb]igg?)(?![A-Za-z])|(?<=\\)(?=dots(?![A-Za-z]))")
"""Commands of TeX that docutils does not know: sizes of brackets, which are left out, and dots, which become ldots."""

_SETTINGS = {
    "add_module_names": False,  # the section's title says it
    "autodoc_member_order": "bysource",
    "autodoc_preserve_defaults": True,
    "autodoc_typehints_format": "short",
    "python_use_unqualified_type_names": True,
    "python_maximum_signature_line_length": 90,
    "napoleon_google_docstring": False,
    # Types are words for people ("array, shape (n, k)"), not names to be looked up.
    "napoleon_use_param": False,
    "napoleon_use_rtype": False,
    "napoleon_use_ivar": True,
}

_SEVERAL = re.compile(r":(?:ivar|vartype) \w+(?:, \w+)+:")


def modules_of(name: str) -> list[str]:
    """Modules that a name in a fence stands for: the module itself, or those of an open package.

    Parameters
    ----------
    name : str
        Below ``sense7``, e.g. ``loading``.

    Raises
    ------
    ImportError
        If there is no such module.

    Examples
    --------
    >>> modules_of("loading")
    ['loading']
    >>> modules_of("judge")[:2]
    ['judge.asking', 'judge.asking.answers']
    """
    module = importlib.import_module(f"sense7.{name}")
    if name not in OPEN:
        return [name]
    inside = pkgutil.walk_packages(module.__path__, f"{module.__name__}.")
    return [entry.name.removeprefix("sense7.") for entry in inside]


def expand(text: str) -> str:
    r"""Put sections and tables in the places of their fences.

    Parameters
    ----------
    text : str
        A page in MyST Markdown.

    Returns
    -------
    str
        The same for the same library.

    Raises
    ------
    ImportError
        If a fence names a module that is not there.

    Examples
    --------
    >>> print(expand("```{modules} loading\n```"))
    (api-loading)=
    ## loading
    <BLANKLINE>
    ```{eval-rst}
    .. automodule:: sense7.loading
       :members:
    ```
    <BLANKLINE>
    """

    def replacement(match: re.Match) -> str:
        if match["kind"] == "front-door":
            return _fenced("\n".join(_front_door()))
        return "\n".join(_section(name) for package in match["names"].split() for name in modules_of(package))

    return _FENCE.sub(replacement, text)


def _section(name: str) -> str:
    label = f"api-{name.replace('.', '-').replace('_', '-')}"
    # The functions of a package inside an open one stand in the sections of its modules.
    members = "" if _is_package_of_modules(name) else "\n   :members:"
    return f"({label})=\n## {name}\n\n" + _fenced(f".. automodule:: sense7.{name}{members}") + "\n"


def _is_package_of_modules(name: str) -> bool:
    parts = name.split(".")
    return len(parts) > 1 and parts[0] in OPEN and hasattr(importlib.import_module(f"sense7.{name}"), "__path__")


def _fenced(rest: str) -> str:
    return f"```{{eval-rst}}\n{rest}\n```"


def _front_door() -> Iterator[str]:
    """The table of what the library offers by name, in reStructuredText as docstrings are."""
    yield from (".. list-table::", "   :header-rows: 1", "   :widths: 32 68", "", "   * - Name", "     - What it is")
    for name in sorted(sense7.__all__, key=str.casefold):
        thing = getattr(sense7, name)
        where = thing.__name__ if inspect.ismodule(thing) else f"sense7.{sense7._WHERE[name]}"
        if inspect.isclass(thing) or inspect.isroutine(thing):
            where += f".{name}"
        yield f"   * - :py:obj:`s7.{name} <{where}>`"
        yield f"     - {_summary(thing)}"


def _summary(thing: object) -> str:
    """First paragraph of what is said of a module, class or function; of a value, what kind of thing it is."""
    if not (inspect.ismodule(thing) or inspect.isclass(thing) or inspect.isroutine(thing)):
        return f"A constant ({type(thing).__name__}); see its module."
    return " ".join((inspect.getdoc(thing) or "").split("\n\n", 1)[0].split())


def _expand_source(app, docname: str, source: list[str]) -> None:
    source[0] = expand(source[0])


def _keep_names_together(app, what: str, name: str, thing: object, options, lines: list[str]) -> None:
    """Attributes that share an entry, without blanks: Sphinx would take all but the last one for its type."""
    lines[:] = [_SEVERAL.sub(lambda match: match[0].replace(", ", ","), line) for line in lines]


class _MathML(SphinxTransform):
    """Formulas as MathML, before the domains look for any: else the page would ask for a library from the network."""

    default_priority = 800

    def apply(self, **kwargs) -> None:
        if self.app.builder.format != "html":
            return  # LaTeX has formulas of its own
        for node in [*self.document.findall(nodes.math), *self.document.findall(nodes.math_block)]:
            block = isinstance(node, nodes.math_block)
            code = _SIZES.sub(lambda match: "" if match[0] else "l", node.astext())
            try:
                formula = latex2mathml.tex2mathml(code, as_block=block)
            except (MathError, SyntaxError) as error:
                _LOGGER.warning("formula %r: %s", code, error, location=node)
                continue
            if block:  # on a phone it scrolls in its place, by the keyboard too
                formula = f'<div class="sense7-formula" role="group" aria-label="Formula" tabindex="0">{formula}</div>'
            node.replace_self(nodes.raw("", formula, format="html"))


class _PlainQuotes(SphinxTransform):
    """Quotation marks of docstrings stay as they are: many of them belong to code. Dashes are napoleon's.

    Attributes that share an entry have their blanks back.
    """

    default_priority = 740  # before they are made typographic

    def apply(self, **kwargs) -> None:
        for node in self.document.findall(addnodes.desc):
            node["support_smartquotes"] = False
            for text in [*node.findall(nodes.Text)]:
                if text == "," and isinstance(text.parent, addnodes.literal_strong):
                    text.parent.replace(text, nodes.Text(", "))
                elif text.startswith((" -- ", ") -- ")):
                    text.parent.replace(text, nodes.Text(text.replace(" -- ", " \N{EN DASH} ", 1)))


def _definitions(analyzer: ModuleAnalyzer) -> dict[str, tuple[str, int, int]]:
    """Where a module defines what, for who asks: autodoc does not, and the search takes a tenth of its time."""
    finder = DefinitionFinder(analyzer.code.splitlines(keepends=True))
    finder.parse()
    return finder.definitions


def setup(app):
    """Register the extension with Sphinx, and autodoc and napoleon with it."""
    Parser.parse_definition, ModuleAnalyzer.find_tags = (lambda parser: None), _definitions
    app.setup_extension("sphinx.ext.autodoc")
    app.setup_extension("sphinx.ext.napoleon")
    for name, value in _SETTINGS.items():
        app.config[name] = value
    # Names of other libraries, and of what is not public, have no place in this book to lead to.
    app.config.nitpick_ignore_regex = [*app.config.nitpick_ignore_regex, ("py:.*", ".*")]
    app.connect("source-read", _expand_source)
    app.connect("autodoc-process-docstring", _keep_names_together, priority=600)  # after napoleon
    app.add_transform(_PlainQuotes)
    app.add_transform(_MathML)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
