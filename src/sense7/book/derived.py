"""Notebooks for readers: a text notebook with what an edition computed by it, as a plain, executed Jupyter notebook.

It is read on GitHub, in JupyterLab, Colab or VS Code, none of which knows the book. So each role of the text becomes
the words that the page shows, each directive a sentence or a formula, and each output a picture, a table or text. What
a reader has to know first stands in the first cell: whose data these are, and how to run it on others.
"""

import html
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from sense7 import paper
from sense7.book.code import installed_packages
from sense7.book.extensions.finding import answer_in_words, lines_of_claim
from sense7.book.extensions.values import (
    Edition,
    fact_in_words,
    key_and_part,
    published_in_words,
    value_in_words,
)
from sense7.book.inputs import declared_configuration
from sense7.book.notebooks import (
    DECLARED,
    DERIVED,
    TextNotebook,
    cells_digest,
    find_notebooks,
    ipynb_text,
    plain_outputs,
    refuse_edited,
    to_ipynb,
)
from sense7.book.pages import banner
from sense7.errors import BuildError
from sense7.files import write_whole

_PICTURES = "pictures"
"""In a notebook's metadata: what drew its pictures."""

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
class Addresses:
    """Where links of a derived notebook lead: to other notebooks beside it, to texts, and to pages of the checkout."""

    checkout: str
    texts: str

    @classmethod
    def beside(cls) -> "Addresses":
        """Those of a notebook that lies in the checkout."""
        return cls(checkout="../", texts="")

    @classmethod
    def elsewhere(cls, repository: str, commit: str) -> "Addresses":
        """Those of a notebook that is downloaded, whose other pages are read in the repository."""
        checkout = f"{repository.removesuffix('/')}/blob/{commit}/"
        return cls(checkout=checkout, texts=f"{checkout}notebooks/")

    def of(self, link: str) -> str:
        """Address for a link of a text notebook."""
        page, _, _ = link.partition("#")
        if re.match(r"[a-z]+:", link) or not page:
            return link
        page = page.removesuffix(".md").removesuffix(".ipynb")
        if page.startswith("../"):
            return f"{self.checkout}{page.removeprefix('../')}.md"
        return f"{page}.ipynb"


@dataclass(frozen=True)
class Book:
    """What all notebooks of an edition share when they are derived."""

    edition: Edition
    notebooks: Sequence[TextNotebook]
    root: Path
    title: str
    addresses: Addresses
    install_from: str

    @cached_property
    def citations(self) -> dict[str, "Citation"]:
        """What the book cites, by key."""
        return read_citations(self.root / "book" / "references.bib")


# --- sources that are cited -----------------------------------------------------------------


@dataclass(frozen=True)
class Citation:
    """A source: who wrote it, when, and where it is found."""

    authors: str
    year: str
    address: str

    def in_parentheses(self) -> str:
        """As it stands within parentheses."""
        return self._linked(f"{self.authors}, {self.year}")

    def in_text(self) -> str:
        """As it stands in a sentence."""
        return self._linked(f"{self.authors} ({self.year})")

    def _linked(self, words: str) -> str:
        return f"[{words}]({self.address})" if self.address else words


def read_citations(path: Path) -> dict[str, Citation]:
    """Read a BibTeX file: key -> source."""
    from pybtex.database import parse_file

    citations = {}
    for key, entry in parse_file(str(path)).entries.items():
        names = [_plain_tex(" ".join(person.last_names)) for person in entry.persons["author"]]
        authors = " and ".join(names)
        if len(names) > 2:
            authors = f"{names[0]} et al."
        address = entry.fields.get("url", "")
        if "doi" in entry.fields:
            address = f"https://doi.org/{entry.fields['doi']}"
        elif "eprint" in entry.fields:
            address = f"https://arxiv.org/abs/{entry.fields['eprint']}"
        # Parentheses would end the link.
        address = address.replace("(", "%28").replace(")", "%29")
        citations[key] = Citation(authors, entry.fields["year"], address)
    return citations


def _plain_tex(text: str) -> str:
    from pybtex.richtext import Text

    return str(Text.from_latex(text))


# --- prose -----------------------------------------------------------------------------------


def as_markdown(text: str) -> str:
    """Text that is no markup, wherever it comes from, for Markdown.

    >>> as_markdown("0.9 [0.8, 1.0]"), as_markdown("my_file*.xlsx"), as_markdown("[a](b)")
    ('0.9 [0.8, 1.0]', 'my&#95;file&#42;.xlsx', '&#91;a&#93;(b)')
    """
    escaped = _SPECIAL.sub(lambda match: f"&#{ord(match[0])};", text)
    # Brackets of an interval are common, and no markup.
    return _INTERVAL.sub(r"[\1]", escaped)


@dataclass
class Prose:
    """The prose of one notebook, from its text to plain Markdown; ``said`` are the reasons that it has given."""

    book: Book
    notebook: TextNotebook
    said: set[str] = field(default_factory=set)

    def plain(self, source: str) -> str:
        """Plain Markdown of a cell."""
        text = _TARGET.sub("", source)
        text = _DIRECTIVE.sub(self._directive, f"{text}\n")
        text = _LINK.sub(self._link, text)
        text = _ROLE.sub(self._words_of_role, text)
        text = _REPEATED.sub(r"\1", text)
        return re.sub(r"\n{3,}", "\n\n", text).strip()

    def _link(self, match: re.Match) -> str:
        return self.book.addresses.of(match["address"])

    def _directive(self, match: re.Match) -> str:
        name = match["name"]
        body = match["body"].strip("\n")
        if name == "math":
            return f"$$\n{body}\n$$"
        if name == "planted":
            return body if self.book.edition.truth else ""
        if name == "picture":
            return self._picture(*match["argument"].split())
        if name == "finding":
            options = {found["name"]: found["value"] for found in _OPTION.finditer(f"{body}\n")}
            return self._finding(match["argument"].split(), options, _OPTION.sub("", f"{body}\n"))
        raise BuildError(
            f"{self.notebook.path}: the directive {name} has no plain form for the .ipynb. "
            "Write the page without it, or give it one in book/derived.py."
        )

    def _picture(self, page: str, name: str) -> str:
        other = page.removeprefix("notebooks/")
        titles = {notebook.name: title_of(notebook) for notebook in self.book.notebooks}
        return f"(The figure: [{titles[other]}]({other}))"

    def _finding(self, claims: Sequence[str], options: Mapping, answer: str) -> str:
        edition = self.book.edition
        parts = []
        if "claim" in options:
            parts.append(f"**Question.** {options['claim']}")
        parts.append(answer.strip())
        for claim in claims:
            lines = lines_of_claim(edition.claims[claim], edition.facts).items()
            parts.append(
                "- " + " ".join(f"**{name}:** {as_markdown(words)}" for name, words in lines)
            )
        return "\n\n".join(parts)

    def _words_of_role(self, match: re.Match) -> str:
        words = self._role(match["name"], match["text"])
        begins_line = match.string[: match.start()].endswith("\n")
        if begins_line and words.isdecimal() and re.match(r"[.)]\s", match.string[match.end() :]):
            words = f"{words[:-1]}&#{ord(words[-1])};"  # a number and a point would begin a list
        return words

    def _role(self, name: str, text: str) -> str:
        edition = self.book.edition
        try:
            if name == "value":
                key, part = key_and_part(edition, text)
                return as_markdown(value_in_words(edition, key, part, self.said))
            if name == "published":
                return as_markdown(published_in_words(edition, text))
            if name == "answer":
                return f"**{answer_in_words(edition, text)}**"
            if name == "edition":
                return as_markdown(fact_in_words(edition, text))
            if name == "math":
                return f"${text}$"
            if name == "term":
                return text.partition("<")[0].strip()
            if name == "cite:p":
                sources = [self.book.citations[key].in_parentheses() for key in text.split(",")]
                return f"({'; '.join(sources)})"
            if name == "cite:t":
                return " and ".join(self.book.citations[key].in_text() for key in text.split(","))
        except KeyError:
            raise BuildError(
                f"{self.notebook.path}: {name} {text!r}: the edition has nothing of this name."
            ) from None
        raise BuildError(
            f"{self.notebook.path}: the role {name} has no plain form for the .ipynb. "
            "Write the page without it, or give it one in book/derived.py."
        )


def title_of(notebook: TextNotebook) -> str:
    """Heading of a notebook's page."""
    heading = re.search(r"(?m)^# (.+)$", notebook.source)
    return heading[1] if heading else notebook.name


def _preface(book: Book, notebook: TextNotebook, data: str) -> str:
    """What a reader has to know first, in a block below the title; ``data`` is what the notebook reads."""
    facts = book.edition.facts
    released = bool(notebook.released_alone)
    parts = [_markdown_of_html(banner(facts, released=released))]
    if "data" in notebook.defaults and data not in paper.DATA_SETS:
        parts.append(f"**To run it**, lay the workbook {as_markdown(data)} beside it.")
    if "data" in notebook.defaults:
        parts.append(
            '**To run it on other data**, set `data` in the first code cell, such as `data = "mine.xlsx"`, and run all '
            "cells. Figures and tables then show those data; the sentences keep the numbers of the data above. "
            "`sense7 build mine.xlsx` makes a whole book whose sentences follow the data."
        )
    else:
        parts.append("**To run it again**, run all cells. It reads no workbook.")
    neighbours = []
    position = [other.name for other in book.notebooks].index(notebook.name)
    for words, other in (("before it", position - 1), ("after it", position + 1)):
        if 0 <= other < len(book.notebooks):
            page = book.notebooks[other]
            address = book.addresses.of(page.name)
            neighbours.append(f"{words} [{title_of(page)}]({address})")
    text = f"[{notebook.path.name}]({book.addresses.texts}{notebook.path.name})"
    place = f"a page of [{book.title}]({book.addresses.checkout}README.md)"
    if facts["name"] != "synthetic":
        place = f"{place}, edition {as_markdown(facts['name'])}"
    if neighbours:
        place = f"{place}; {', '.join(neighbours)}"
    parts.append(f"**Where it stands:** {place}. It is made from {text}: edits belong there.")
    return "\n>\n".join(f"> {part}" for part in parts)


def _markdown_of_html(words: str) -> str:
    """A line of HTML as Markdown: what is strong stays so, all else is text."""
    marked = re.sub(r"</?strong\b[^>]*>", "\0", words)
    texts = [html.unescape(re.sub(r"<[^<>]*>", " ", part)) for part in marked.split("\0")]
    texts = [" ".join(as_markdown(text).split()) for text in texts]
    for number in range(1, len(texts), 2):
        texts[number] = f"**{texts[number]}**"
    return re.sub(r" (?=[.,:;])", "", " ".join(filter(None, texts)))


# --- the notebook ------------------------------------------------------------------------------


def derive(
    book: Book, notebook: TextNotebook, executed: Mapping, settings: Mapping | None = None
) -> str:
    """The notebook for readers, in Jupyter's format; ``settings`` take the place of its parameters."""
    import nbformat

    prose = Prose(book, notebook)
    ran = iter(cells_that_ran(executed))
    cells = []
    for cell in json.loads(to_ipynb(notebook))["cells"]:
        if cell["cell_type"] != "code":
            text = prose.plain("".join(cell["source"]))
            if not cells:
                title, _, rest = text.partition("\n")
                data = {**notebook.defaults, **(settings or {})}.get("data", "")
                preface = _preface(book, notebook, data)
                text = f"{title}\n\n{preface}\n\n{rest.strip()}".strip()
            if text:
                cells.append(nbformat.v4.new_markdown_cell(text))
            continue
        tags = cell["metadata"].get("tags", [])
        cells.append(_executed_cell(next(ran)))
        if "parameters" in tags:
            if settings is not None:
                lines = [f"{name} = {value!r}" for name, value in settings.items()]
                cells[-1]["source"] = "\n".join(lines)
            cells.append(nbformat.v4.new_code_cell(_INSTALL.format(book.install_from)))
    count = 0
    for number, cell in enumerate(cells, 1):
        cell["id"] = f"cell-{number:02d}"
        if cell["cell_type"] == "code":
            count += 1
            cell["execution_count"] = count
            for shown in cell["outputs"]:
                if shown["output_type"] == "execute_result":
                    shown["execution_count"] = count
    node = nbformat.v4.new_notebook(cells=cells)
    node["nbformat_minor"] = 5
    node["metadata"] = {
        "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
        "language_info": {"name": "python"},
        # What the cells were, so that a later edit in Jupyter is told from a later edit of the text.
        DECLARED: {DERIVED: cells_digest(cells), _PICTURES: _libraries_of_pictures()},
    }
    nbformat.validate(node)
    return ipynb_text(node)


def derive_all(
    root: Path,
    edition: Path,
    addresses: Addresses,
    install_from: str,
    settings: Mapping[str, Mapping] | None = None,
) -> dict[str, str]:
    """All notebooks for readers of an edition whose notebooks were executed: name -> text in Jupyter's format."""
    notebooks = find_notebooks(root)
    title = declared_configuration(root)["title"]
    book = Book(Edition(edition), notebooks, root, title, addresses, install_from)
    derived = {}
    for notebook in notebooks:
        path = edition / "notebooks" / f"{notebook.name}.ipynb"
        executed = json.loads(path.read_text(encoding="utf-8"))
        derived[notebook.name] = derive(
            book, notebook, executed, (settings or {}).get(notebook.name)
        )
    return derived


def cells_that_ran(executed: Mapping) -> Iterator[Mapping]:
    """Code cells of an executed notebook, without the one that papermill put in."""
    for cell in executed["cells"]:
        injected = "injected-parameters" in cell["metadata"].get("tags", ())
        if cell["cell_type"] == "code" and not injected:
            yield cell


def _executed_cell(cell: Mapping) -> dict:
    """A code cell with the outputs that any kernel gives."""
    import nbformat

    source = "".join(cell["source"])
    tags = cell["metadata"].get("tags", [])
    if "skip-execution" in tags:
        # The first line says why. Where the notebook is run again as a whole, it would end here.
        reason, *lines = source.splitlines()
        source = "\n".join([reason, *(f"# {line}".rstrip() for line in lines)])
    outputs = [nbformat.from_dict(shown) for shown in plain_outputs(cell["outputs"])]
    metadata = {"tags": list(tags)} if tags else {}
    return nbformat.v4.new_code_cell(source, outputs=outputs, metadata=metadata)


def write_derived(folder: Path, derived: Mapping[str, str]) -> list[Path]:
    """Write derived notebooks beside their texts where those that are there are out of date, and return these."""
    refuse_edited([folder / f"{name}.md" for name in derived])
    written = []
    for name, text in derived.items():
        path = folder / f"{name}.ipynb"
        if not path.exists() or _is_stale(path.read_text(encoding="utf-8"), text):
            write_whole(path, text, replace=True)
            written.append(path)
    return written


def _is_stale(present: str, derived: str) -> bool:
    """Whether a notebook is to be written again; pictures are compared with those of the same libraries alone."""
    if not same_but_pictures(present, derived):
        return True
    libraries = [
        json.loads(text)["metadata"][DECLARED].get(_PICTURES) for text in (present, derived)
    ]
    return libraries[0] in (None, libraries[1]) and present != derived


def same_but_pictures(first: str, second: str) -> bool:
    """Whether two notebooks are the same in all but the bytes of their pictures, which differ between libraries."""
    return _without_pictures(first) == _without_pictures(second)


def _without_pictures(text: str) -> object:
    try:
        node = json.loads(text)
        node["metadata"][DECLARED].pop(_PICTURES, None)
        for cell in node["cells"]:
            for shown in cell.get("outputs", ()):
                if "image/png" in shown.get("data", {}):
                    shown["data"]["image/png"] = ""
    except (ValueError, LookupError, TypeError, AttributeError):
        return text
    return node


def _libraries_of_pictures() -> str:
    """Versions of what draws, on which the bytes of a picture depend."""
    installed = installed_packages()
    return ", ".join(f"{name} {installed[name]}" for name in ("matplotlib", "pillow"))
