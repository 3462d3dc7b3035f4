"""Notebooks for readers: a text notebook with what an edition computed by it, as a plain, executed Jupyter notebook.

It is read on GitHub, in JupyterLab, Colab or VS Code, none of which knows the book. So each role of the text becomes
the words that the page shows, each directive a sentence or a formula, and each output a picture, a table or text. What
a reader has to know first stands in the first cell: whose data these are, and how to run it on others.
"""

import html
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from sense7.book.editions import DATA_SETS
from sense7.book.inputs import Inputs
from sense7.book.notebooks import (
    DECLARED,
    DERIVED,
    KERNEL,
    TextNotebook,
    cells_digest,
    ipynb_text,
    number_cells,
    plain_outputs,
    refuse_edited,
    tags_of,
)
from sense7.book.words import (
    PROVENANCE,
    ROLES,
    TEMPLATES,
    UNTESTED,
    Edition,
    claim_in_words,
    key_and_part,
    value_in_words,
)
from sense7.errors import BuildError
from sense7.files import read_json, write_whole

_INSTALL = '''# Only where the companion isn't installed, as on Colab: once, from its repository.
import importlib.util

if importlib.util.find_spec("sense7") is None:
    %pip install --quiet "sense7-companion @ {}"'''

_DIRECTIVE = re.compile(
    r"^(?P<fence>:{3,}|`{3,})\{(?P<name>[\w-]+)\}[ ]*(?P<argument>.*)\n(?P<body>(?:.*\n)*?)(?P=fence)[ ]*$",
    re.MULTILINE,
)
_OPTION = re.compile(r"^:(?P<name>[\w-]+):[ ]*(?P<value>.*)\n", re.MULTILINE)
_ROLE = re.compile(r"\{(?P<name>[\w:-]+)\}`(?P<text>[^`]+)`")
_REPEATED = re.compile(r"^(\(The figure: .*\))$(?:\n+\1$)+", re.MULTILINE)
"""Two figures of one other page, which are one link."""

_TARGET = re.compile(r"^\([\w-]+\)=\n", re.MULTILINE)
_LINK = re.compile(r"(?<=\]\()(?P<address>[^()\s]+)(?=\))")
_SPECIAL = re.compile(r"[\\`*_<>&|~$#{}\[\]]")
_INTERVAL = re.compile(r"&#91;([-\d.,% ]+, [-\d.,% ]+)&#93;(?![(\[:])")


@dataclass(frozen=True)
class Book:
    """All that the notebooks of an edition share when they are derived.

    ``online`` is the address of the checkout at its commit, for a notebook that lies elsewhere; "" of one beside its
    text.
    """

    edition: Edition
    notebooks: Sequence[TextNotebook]
    root: Path
    title: str
    install_from: str
    online: str = ""

    def address(self, link: str) -> str:
        """Address for a link of a text notebook: to a notebook beside it, or a page of the checkout."""
        page, _, _ = link.partition("#")
        if re.match(r"[a-z]+:", link) or not page:
            return link
        if page.startswith("../"):
            return f"{self.online or '../'}{page.removeprefix('../')}.md"
        return f"{page}.ipynb"


# --- sources that are cited -----------------------------------------------------------------


@cache
def read_citations(path: Path) -> dict[str, str]:
    """Read a BibTeX file: key -> who wrote a source and when, with a link to it, as it stands within parentheses."""
    from pybtex.database import parse_file
    from pybtex.richtext import Text

    citations = {}
    for key, entry in parse_file(str(path)).entries.items():
        names = []
        for person in entry.persons["author"]:
            names.append(str(Text.from_latex(" ".join(person.last_names))))
        authors = " and ".join(names)
        if len(names) > 2:
            authors = f"{names[0]} et al."
        citations[key] = f"{authors}, {entry.fields['year']}"
        if "doi" in entry.fields:
            citations[key] = f"[{citations[key]}](https://doi.org/{entry.fields['doi']})"
        elif "eprint" in entry.fields:
            citations[key] = f"[{citations[key]}](https://arxiv.org/abs/{entry.fields['eprint']})"
    return citations


# --- prose -----------------------------------------------------------------------------------


def as_markdown(text: str) -> str:
    """Text that is no markup, wherever it comes from, for Markdown.

    >>> as_markdown("0.9 [0.8, 1.0]"), as_markdown("my_file*.xlsx"), as_markdown("[a](b)")
    ('0.9 [0.8, 1.0]', 'my&#95;file&#42;.xlsx', '&#91;a&#93;(b)')
    """
    escaped = _SPECIAL.sub(lambda match: f"&#{ord(match[0])};", text)
    # Brackets of an interval are common, and no markup.
    return _INTERVAL.sub(r"[\1]", escaped)


TEMPLATES.filters["markdown"] = as_markdown
_PREFACE = TEMPLATES.get_template("preface.md")


@dataclass
class Prose:
    """The prose of one notebook, from its text to plain Markdown; a reason is given once."""

    book: Book
    notebook: TextNotebook
    given_reasons: set[str] = field(default_factory=set)

    def plain(self, source: str) -> str:
        """Plain Markdown of a cell."""
        text = _TARGET.sub("", source)
        text = _DIRECTIVE.sub(self._directive, f"{text}\n")
        text = _LINK.sub(lambda match: self.book.address(match["address"]), text)
        text = _ROLE.sub(self._words_of_role, text)
        text = _REPEATED.sub(r"\1", text)
        return re.sub(r"\n{3,}", "\n\n", text).strip()

    def _directive(self, match: re.Match) -> str:
        name = match["name"]
        body = match["body"].strip("\n")
        if name == "math":
            return f"$$\n{body}\n$$"
        if name == "put-in":
            return body if self.book.edition.expected else ""
        if name == "picture":
            page = match["argument"].split()[0].removeprefix("notebooks/")
            sources = {notebook.name: notebook.source for notebook in self.book.notebooks}
            title = re.search(r"(?m)^# (.+)$", sources[page])[1]
            return f"(The figure: [{title}]({page}))"
        if name == "finding":
            options = {option["name"]: option["value"] for option in _OPTION.finditer(f"{body}\n")}
            return self._finding(match["argument"].split(), options, _OPTION.sub("", f"{body}\n"))
        raise BuildError(
            f"{self.notebook.path}: the directive {name} has no plain form for the .ipynb. "
            "Write the page without it, or give it one in book/derived.py."
        )

    def _finding(self, claims: Sequence[str], options: Mapping, answer: str) -> str:
        edition = self.book.edition
        parts = []
        if "claim" in options:
            parts.append(f"**Question.** {options['claim']}")
        if "untested" in options and edition.facts["kind"] == "synthetic":
            parts.append(f"**{UNTESTED}:** {options['untested']}")
        parts.append(answer.strip())
        for claim in claims:
            lines = claim_in_words(edition.claims[claim])
            words = [f"**{name}:** {as_markdown(line)}" for name, line in lines.items()]
            parts.append(f"- {' '.join(words)}")
        return "\n\n".join(parts)

    def _words_of_role(self, match: re.Match) -> str:
        words = self._role(match["name"], match["text"])
        begins_line = match.string[: match.start()].endswith("\n")
        if begins_line and words.isdecimal() and match.string[match.end() :].startswith((".", ")")):
            words = f"{words[:-1]}&#{ord(words[-1])};"  # a number and a point would begin a list
        return words

    def _role(self, name: str, text: str) -> str:
        edition = self.book.edition
        try:
            if name == "value" and not {text, text.rpartition(".")[0]} & edition.values.keys():
                return f"(not computed in this run: {as_markdown(text)})"
            if name == "value":
                key, part = key_and_part(edition, text)
                return as_markdown(value_in_words(edition, key, part, self.given_reasons))
            if name in ROLES:
                words = as_markdown(ROLES[name](edition, text))
                return f"**{words}**" if name == "answer" else words
            if name == "math":
                return f"${text}$"
            if name == "term":
                return text.partition("<")[0].strip()
            if name == "cite:p":
                citations = read_citations(self.book.root / "book" / "references.bib")
                return f"({'; '.join(citations[key] for key in text.split(','))})"
        except KeyError:
            pass
        raise BuildError(
            f"{self.notebook.path}: {{{name}}}`{text}`: the edition has nothing of this name, or the role "
            "no plain form for the .ipynb in book/derived.py."
        )


REHEARSAL = "## Rehearsal: simulated data, no findings"
"""Heading of what the edition's own data give, below real ratings of other studies."""


def _preface(book: Book, notebook: TextNotebook, data: str) -> str:
    """What a reader has to know first, in a block below the title; ``data`` is what the notebook reads."""
    released = bool(notebook.released_alone)
    mixes_data = "\n## Rehearsal" in notebook.source
    words = PROVENANCE.banner(book.edition.facts, released, "", mixes_data)
    marked = re.sub(r"</?strong>", "\0", words)
    text = html.unescape(re.sub(r"<[^<>]*>", "", marked))
    words = " ".join(as_markdown(text).replace("\0", "**").split())
    is_beside = data not in DATA_SETS and not Path(data).is_absolute()
    return _PREFACE.render(book=book, notebook=notebook, banner=words, data=is_beside and data)


# --- the notebook ------------------------------------------------------------------------------


def derive(
    book: Book, notebook: TextNotebook, executed: Mapping, settings: Mapping | None = None
) -> str:
    """The notebook for readers, in Jupyter's format; ``settings`` take the place of its parameters."""
    prose = Prose(book, notebook)
    cells = []
    for cell in executed["cells"]:
        if cell["cell_type"] != "code":
            text = prose.plain("".join(cell["source"]))
            if book.edition.facts["kind"] != "synthetic":
                text = text.replace(REHEARSAL, "## These ratings")
            if not cells:
                title, _, body = text.partition("\n")
                data = {**notebook.defaults, **(settings or {})}.get("data", "")
                preface = _preface(book, notebook, data)
                text = f"{title}\n\n{preface}\n\n{body.strip()}".strip()
            if text:
                cells.append({"cell_type": "markdown", "metadata": {}, "source": text})
        elif "injected-parameters" not in tags_of(cell):
            cells.append(_executed_cell(cell))
        if "parameters" in tags_of(cell):
            if settings is not None:
                lines = [f"{name} = {value!r}" for name, value in settings.items()]
                cells[-1]["source"] = "\n".join(lines)
            cells.append(_code_cell(_INSTALL.format(book.install_from)))
    number_cells(cells)
    code_cells = [cell for cell in cells if cell["cell_type"] == "code"]
    for count, cell in enumerate(code_cells, 1):
        cell["execution_count"] = count
        for output in cell["outputs"]:
            if output["output_type"] == "execute_result":
                output["execution_count"] = count
    # What the cells were, so that a later edit in Jupyter differs from a later edit of the text.
    metadata = {**KERNEL, DECLARED: {DERIVED: cells_digest(cells)}}
    return ipynb_text({"cells": cells, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5})


def derive_all(
    root: Path,
    notebooks: Sequence[TextNotebook],
    edition: Path,
    config: Mapping,
    settings: Mapping[str, Mapping] | None = None,
    commit: str | None = None,
) -> dict[str, str]:
    """Notebooks for readers of an edition's executed notebooks: name -> text in Jupyter's format.

    With ``settings``, parameters by notebook, they lie elsewhere, and their links lead to the repository.
    """
    address = config["repository"]["url"]
    revision = commit or config["repository"]["branch"]
    online = ""
    if settings:
        online = f"{address.removesuffix('/')}/blob/{revision}/"
    install_from = f"git+{address}@{revision}"
    book = Book(Edition(edition), notebooks, root, config["title"], install_from, online)
    derived = {}
    for notebook in notebooks:
        path = edition / "notebooks" / f"{notebook.name}.ipynb"
        if path.exists():
            parameters = (settings or {}).get(notebook.name)
            derived[notebook.name] = derive(book, notebook, read_json(path), parameters)
    return derived


def derive_downloads(
    inputs: Inputs, edition: Path, facts: Mapping, config: Mapping
) -> dict[str, str]:
    """Notebooks that pages offer for download, since a page's own names folders that nobody else has: path -> text."""
    commit = facts["made"]["commit"]
    data = facts["file"]
    if facts["name"] in DATA_SETS:
        data = facts["name"]
    settings = {}
    for name, job in inputs.jobs.items():
        values = {**job.notebook.defaults, **inputs.parameters, "data": data}
        settings[name] = {key: values[key] for key in job.notebook.defaults}
    notebooks = [job.notebook for job in inputs.jobs.values()]
    derived = derive_all(inputs.project.sources, notebooks, edition, config, settings, commit)
    return {f"_sources/notebooks/{name}.ipynb": text for name, text in derived.items()}


def _executed_cell(cell: Mapping) -> dict:
    """A code cell with the outputs that any kernel gives."""
    source = "".join(cell["source"])
    tags = tags_of(cell)
    if "skip-execution" in tags:
        # The first line says why. Where the notebook is run again as a whole, it would end here.
        reason, *lines = source.splitlines()
        source = "\n".join([reason, *(f"# {line}".rstrip() for line in lines)])
    return _code_cell(source, tags, plain_outputs(cell["outputs"]))


def _code_cell(source: str, tags: Sequence[str] = (), outputs: Sequence[dict] = ()) -> dict:
    """A code cell in Jupyter's format."""
    return {
        "cell_type": "code",
        "execution_count": None,
        "metadata": {"tags": list(tags)} if tags else {},
        "outputs": list(outputs),
        "source": source,
    }


def write_derived(folder: Path, derived: Mapping[str, str]) -> list[Path]:
    """Write derived notebooks beside their texts where those that are there are out of date, and return these."""
    texts = {folder / f"{name}.ipynb": text for name, text in derived.items()}
    refuse_edited(texts)
    written = []
    for path, text in texts.items():
        present = path.read_text("utf-8") if path.exists() else ""
        if not present or without_pictures(present) != without_pictures(text):
            write_whole(path, text, replace=True)
            written.append(path)
    return written


def without_pictures(text: str) -> dict:
    """A notebook without the bytes of its pictures: of an equal drawing, a processor may turn one dot."""
    node = json.loads(text)
    for cell in node["cells"]:
        for output in cell.get("outputs", ()):
            if "image/png" in output.get("data", {}):
                output["data"]["image/png"] = ""
    return node
