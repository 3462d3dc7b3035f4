"""Parts of every page, and of a notebook's page: data, folds of code and values, figures of other pages.

A notebook's page ends with the command that runs it again and with every value that it recorded, so
that no value is computed without being shown. The code of each section is one fold at its end; that of a cell tagged
``by-hand`` stands where it is. All below the heading "Check this number yourself" is one closed fold; so is all below
"Change the analysis" and below "More analyses". Of simulated data one page alone has analysis variants to choose from.
A sentence in the place of results that cannot be computed is shown where the first of them stands.

A page on which real ratings of other studies speak begins with them; the section "Rehearsal: simulated data, no
findings" follows. In an edition of real data that section's content comes first, without its heading.

- ``{picture} notebooks/02-ratings levels-by-rating``: the figure of that name from the edition's own notebook, with its
  caption and data, so that no picture of other data can stand on a page. Where the edition could not draw it, the
  sentence that the notebook has in its place stands here too;
- ``{functions} NAMES``: a section for each module or package that it names (``findings.*``: each module of that
  package), with a signature and a sentence for each function. The whole docstrings are read in an editor and by
  ``help()``.

Formulas are MathML, which browsers show by themselves: the book needs
no network.
"""

import importlib
import inspect
import pkgutil
import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import yaml
from docutils import nodes
from docutils.utils.math import MathError, latex2mathml
from sphinx.search.en import SearchEnglish
from sphinx.transforms import SphinxTransform
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective

import sense7
from sense7.book.editions import DATA_PAGE
from sense7.book.extensions.tables import TABLES, compared
from sense7.book.extensions.values import edition_of, fold, looked_up, raw
from sense7.book.words import CODE, PROVENANCE, as_text
from sense7.files import read_json
from sense7.sources.released import RELEASED
from sense7.taxonomy import SIMULATED_WORDS

# --- how to run it again, and all its values -------------------------------------------


def add_rerun(app, tree) -> None:
    """End a notebook's page with the command that runs it again, and with every value that it recorded, folded."""
    name = app.env.docname.partition("notebooks/")[2]
    if not name:
        return
    edition = looked_up(app.env, "edition.json", f"results/{name}.json")
    facts = edition.facts
    words = [".venv/bin/sense7", "run", name]
    if "data" in facts["made"]["notebooks"].get(name, ()):
        data = facts["file"] if facts["kind"] == "own" else facts["name"]
        words += ["-p", f"data={data}"]
    command = shlex.join(words)  # a file may be called anything
    section = nodes.section(
        "", nodes.title("", "Rerun this page"), ids=["rerun-this-page"], names=["rerun this page"]
    )
    keys = [key for key, value in edition.values.items() if value["notebook"] == name]
    section += raw(TABLES.rerun(edition, name, command, keys, compared, SIMULATED_WORDS))
    sections = list(tree.findall(nodes.section))
    further_analyses = [part for part in sections if MORE in part["ids"]]
    (further_analyses or sections)[0].append(section)


CHANGE = "change-the-analysis"
MORE = "more-analyses"
FOLDED = {
    "check-this-number-yourself": "Show the formula and the computation, step by step",
    CHANGE: "Show the result of every combination of other choices",
    MORE: "Show further analyses, all values, and how to rerun this page",
}
"""Ids of the sections that are folded, and what opens them."""

_SENTENCE = re.compile(r'\s*<p class="[^"]*"><em>.*</em></p>\s*', re.DOTALL)


def gather_code(app, tree) -> None:
    """Put the code of each section, in its order, into one fold at the end of what the section itself says."""
    for section in [tree, *tree.findall(nodes.section)]:
        sources = []
        for cell in section.children:
            if cell.get("nb_element") == "cell_code" and "tag_by-hand" not in cell["classes"]:
                for part in cell.children:
                    if part.get("nb_element") == "cell_code_source":
                        sources.append(part)
        if not sources:
            continue
        for source in sources:
            source.parent.remove(source)
        end = section.first_child_matching_class(nodes.section)
        if end is None:
            end = len(section.children)
        section[end:end] = fold("Code", *sources, name="sense7-code")


def say_once(app, tree) -> None:
    """Leave out of a page the sentences that it has said before in the place of a result."""
    sentences = set()
    for node in list(tree.findall(nodes.raw)):
        text = node.astext()
        if _SENTENCE.fullmatch(text):
            if text in sentences:
                node.parent.remove(node)
            sentences.add(text)


REHEARSED_CHANGE = "notebooks/06-individualized"
"""Page on which a reader may change the analysis of simulated data."""


def change_one_rehearsal(app, tree) -> None:
    """Leave the analysis variants of simulated data on one page, as an example of what a reader can choose."""
    is_synthetic = looked_up(app.env, "edition.json").facts["kind"] == "synthetic"
    if not is_synthetic or app.env.docname == REHEARSED_CHANGE:
        return
    for section in list(tree.findall(nodes.section)):
        markup = "".join(node.astext() for node in section.findall(nodes.raw))
        if CHANGE in section["ids"] and "sense7-specifications" in markup:
            section.parent.remove(section)


def fold_sections(app, tree) -> None:
    """Make one closed fold of what stands below the heading of each folded section."""
    for section in tree.findall(nodes.section):
        for name in FOLDED.keys() & set(section["ids"]):
            section[1:] = fold(FOLDED[name], *section[1:], name="sense7-more")


REHEARSAL = "rehearsal-simulated-data-no-findings"
"""Id of the section with what simulated data give, below what real ratings of other studies show."""


def lead_with_real_data(app, tree) -> None:
    """Where the edition's own data are real, put them before the ratings of other studies."""
    if looked_up(app.env, "edition.json").facts["kind"] == "synthetic":
        return
    for rehearsal in list(tree.findall(nodes.section)):
        if REHEARSAL not in rehearsal["ids"]:
            continue
        page = rehearsal.parent
        first, position = 1, page.index(rehearsal)
        real_ratings = nodes.section(
            "", nodes.title("", "Real ratings of other studies"), ids=["other-studies"]
        )
        real_ratings += page.children[first:position]
        page[first : position + 1] = [*rehearsal.children[1:], real_ratings]


# --- what stands on it from elsewhere in the book ----------------------------------------


NOT_DRAWN = "<p>This figure was not drawn here; its page may say why.</p>"


def find_picture(node: dict, name: str) -> str | None:
    """HTML of a notebook's figure or, where it was not drawn, the sentence that the cell which makes it shows.

    A cell makes a figure if it calls a function with the name of the figure: ``name="levels"``. None if no cell does.

    Examples
    --------
    >>> figure = '<figure data-name="levels"><svg></svg></figure>'
    >>> cell = {"source": 'draw(name="levels")', "outputs": [{"data": {"text/html": figure}}]}
    >>> find_picture({"cells": [cell]}, "levels") == figure
    True
    >>> find_picture({"cells": [cell | {"outputs": []}]}, "levels")
    '<p>This figure was not drawn here; its page may say why.</p>'
    >>> find_picture({"cells": [cell]}, "other") is None
    True
    """
    for cell in node["cells"]:
        if f'name="{name}"' in "".join(cell["source"]) and "outputs" in cell:
            parts = [output.get("data", {}).get("text/html", "") for output in cell["outputs"]]
            return "".join(map("".join, parts)) or NOT_DRAWN
    return None


class PictureDirective(SphinxDirective):
    """A figure of a notebook: its page and its name."""

    required_arguments = 2

    def run(self):
        page, name = self.arguments
        path = Path(self.config.sense7_edition) / f"{page}.ipynb"
        # With the notebook, the page that shows it is read again.
        self.env.note_dependency(str(path))
        markup = None
        if path.exists():
            markup = find_picture(read_json(path), name)
        if markup is None:
            raise self.error(f"{page} has no figure {name!r}")
        # Made by figures and tables of this library, which escape all texts of a workbook.
        return [nodes.container("", raw(markup), classes=["sense7-picture"])]


# --- formulas -----------------------------------------------------------------------------

_LOGGER = logging.getLogger(__name__)


class MathML(SphinxTransform):
    """Before the domains look for any formula: else an HTML page would ask for a library from the network."""

    default_priority = 800

    def apply(self, **kwargs) -> None:
        for node in [*self.document.findall(nodes.math), *self.document.findall(nodes.math_block)]:
            block = isinstance(node, nodes.math_block)
            try:
                formula = latex2mathml.tex2mathml(node.astext(), as_block=block)
            except (MathError, SyntaxError) as error:
                _LOGGER.warning("formula %r: %s", node.astext(), error, location=node)
                continue
            if block:  # on a phone it scrolls in its place, by the keyboard too
                formula = f'<div class="sense7-formula" role="group" aria-label="Formula" tabindex="0">{formula}</div>'
            node.replace_self(raw(formula))


# --- the reference of the library: what users call, read from the code with every build ------

_ROLE = re.compile(r":[a-z:]{1,40}:`~?(?:[^`<]*<)?([^`>]+)>?`")


class FunctionsDirective(SphinxDirective):
    """A section for each module or package that it names; ``PACKAGE.*`` names each module of a package."""

    required_arguments = 1
    final_argument_whitespace = True

    def run(self):
        lines = []
        for name in self.arguments[0].split():
            package = name.removesuffix(".*")
            modules = [name]
            if package != name:
                folder = importlib.import_module(f"sense7.{package}").__path__
                modules = [f"{package}.{module.name}" for module in pkgutil.iter_modules(folder)]
            for module in modules:
                code = importlib.import_module(f"sense7.{module}")
                self.env.note_dependency(code.__file__)
                lines += [f"## {module}", "", *_entries(code), ""]
        return self.parse_text_to_nodes("\n".join(lines), allow_section_headings=True)


def _entries(module) -> Iterator[str]:
    """Functions of a module or package, and classes that ``s7`` gives by their own name, as items of a list."""
    names = getattr(module, "__all__", None)
    for name, definition in inspect.getmembers(module, callable):
        is_own = getattr(definition, "__module__", "") == module.__name__ and name[0] != "_"
        is_listed = is_own if names is None else name in names
        is_public_class = inspect.isclass(definition) and name in sense7.__all__
        if not is_listed or not (inspect.isroutine(definition) or is_public_class):
            continue
        sentence, _, _ = (inspect.getdoc(definition) or "").partition("\n")
        sentence = _ROLE.sub(lambda match: f"`{match[1].rpartition('.')[2]}`", sentence)
        needed = []
        try:
            for parameter in inspect.signature(definition).parameters.values():
                if parameter.default is parameter.empty:
                    needed.append(parameter.name)
        except ValueError:  # an exception of ours
            needed = ["..."]
        yield f"- `{name}({', '.join(needed)})`: {sentence}"


# --- around the content: data, how it was made, words to search for --------------------------

_LEFT_OUT = re.compile(
    r'<meta[^<>]*name="(?:viewport|keywords)"[^<>]*>|<meta property="og:url" content="(?!http)[^<>]*>'
)
"""What the layout has already, what only the index of the search needs, and addresses that are none."""


def finish_page(app, page, template, context, doctree) -> None:
    """Say what data a page shows and how it was made."""
    facts = edition_of(app).facts
    notebook = page.partition("notebooks/")[2]
    released = notebook in facts["made"]["released"]
    # Without what pathto ends the address of the page itself with.
    dataset_page = context["pathto"](DATA_PAGE).removesuffix("#")
    body = context.get("body", "")
    mixes_data = page == app.config.root_doc or f'id="{REHEARSAL}"' in body
    context["theme_announcement"] = PROVENANCE.banner(facts, released, dataset_page, mixes_data)
    context["theme_extra_footer"] = PROVENANCE.made(facts, notebook, RELEASED, CODE)
    context["data_label"] = as_text(PROVENANCE.label(facts, released))
    context["data_kind"] = "real"
    if facts["kind"] == "synthetic" and not released:
        context["data_kind"] = "simulated"
    context["metatags"] = _LEFT_OUT.sub("", context.get("metatags", ""))
    if body:
        # References stand in a list; docutils gives them a role that is out of use.
        context["body"] = body.replace('role="doc-biblioentry"', 'role="listitem"')


def add_keywords(app, tree) -> None:
    """Have a page found by what it is about."""
    path = Path(app.srcdir, "book/keywords.yml")
    if not path.exists():
        return
    phrases = yaml.safe_load(path.read_text("utf-8")).get(app.env.docname)
    if phrases:
        # Sphinx takes each keyword as one word of its index.
        words = dict.fromkeys(" ".join(phrases).split())
        tree.insert(0, nodes.meta("", name="keywords", content=", ".join(words)))


class Questions(SearchEnglish):
    """English, in which a search leaves out what only makes a question of it."""

    stopwords = SearchEnglish.stopwords | {"can", "do", "does", "how", "i", "many", "my", "what"}
    stopwords |= {"when", "where", "which", "who", "whose", "why"}
