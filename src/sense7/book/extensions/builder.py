"""Sphinx's builder of HTML: the same pages with less work, begun while notebooks are still executed.

- Pages that say nothing of an edition, above all the reference of the library, are read first; the others once the
  edition is complete (:mod:`sense7.book.pages`).
- Every processor resolves, indexes and writes pages, each taking the next page that nobody has; Sphinx leaves all but
  the writing to one of them, and Jupyter Book asks for no other.
- The side bar of every page shows the titles of all pages: only these are copied, not whole tables of contents.
- docutils searches a tree by one generator for each level of it: here one stack does. In a first build, no tree is
  searched for elements of which none was ever made: a third of what transforms search for.
"""

import collections
import functools
import multiprocessing
import os
import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import ClassVar

from docutils import nodes
from jinja2 import FileSystemBytecodeCache
from sphinx.builders.html import StandaloneHTMLBuilder
from sphinx.search import IndexBuilder
from sphinx.util.parallel import ParallelTasks

__all__ = ["PagesBuilder", "find_nodes", "setup"]

_findall = nodes.Node.findall
_element_init = nodes.Element.__init__
_WORTH_A_PROCESS = 10
"""Number of pages from which it takes less time to start another process than to write all of them in this one."""

_OF_EDITION = re.compile(
    r"\{(claims-power|conversation|distances|edition|finding|interval|judge_logs|ledger|ledger-picture|picture|published|"
    r"specifications|truths|value)\}"
)
"""Roles and directives that show something of an edition."""


class _Made:
    """Classes of the nodes that this process has made, if it has made all there are: none came from an earlier one."""

    classes: ClassVar[set[type]] = {nodes.Text}
    all_here: ClassVar[bool] = False

    @staticmethod
    def init(element: nodes.Element, *arguments, **attributes) -> None:
        """Take the place of ``docutils.nodes.Element.__init__``."""
        _Made.classes.add(type(element))
        _element_init(element, *arguments, **attributes)

    @classmethod
    def none_of(cls, condition: object) -> bool:
        """Whether no node can be of this class."""
        return (
            cls.all_here and isinstance(condition, type) and not any(issubclass(one, condition) for one in cls.classes)
        )


def find_nodes(
    node: nodes.Node,
    condition: type | tuple | Callable[[nodes.Node], bool] | None = None,
    include_self: bool = True,
    descend: bool = True,
    siblings: bool = False,
    ascend: bool = False,
) -> Iterator[nodes.Node]:
    """Nodes of a tree in the order of ``docutils.nodes.Node.findall``, which this takes the place of.

    Like there, the children of a node are looked at once the node was given, as they are by then.

    Examples
    --------
    >>> tree = nodes.paragraph("", "a ", nodes.strong("", "b"))
    >>> [found.astext() for found in find_nodes(tree, nodes.Text)]
    ['a ', 'b']
    """
    if not descend or siblings or ascend:
        return _findall(node, condition, include_self, descend, siblings, ascend)
    if _Made.none_of(condition):
        return iter(())
    nodes_in_order = _walk(node, include_self)
    if condition is None:
        return nodes_in_order
    if isinstance(condition, type):
        return (one for one in nodes_in_order if isinstance(one, condition))
    return filter(condition, nodes_in_order)


def _walk(node: nodes.Node, include_self: bool) -> Iterator[nodes.Node]:
    if include_self:
        yield node
    left = [iter(node.children)]
    while left:
        for child in left[-1]:
            yield child
            if child.children:
                left.append(iter(child.children))
                break
        else:
            left.pop()


_BY_PAGE = ("_titles", "_filenames", "_all_titles", "_index_entries")
_BY_WORD = ("_mapping", "_title_mapping")


def empty_index(indexer: IndexBuilder) -> None:
    """Let a process forget the pages of others."""
    for part in (*_BY_PAGE, *_BY_WORD):
        setattr(indexer, part, {})


def index_of(indexer: IndexBuilder) -> dict[str, dict]:
    """What Sphinx's search knows of the pages that this process has written."""
    return {part: getattr(indexer, part) for part in (*_BY_PAGE, *_BY_WORD)}


def add_to_index(indexer: IndexBuilder, index: dict[str, dict]) -> None:
    """Add what another process found out."""
    for part in _BY_PAGE:
        getattr(indexer, part).update(index[part])
    for part in _BY_WORD:
        known = getattr(indexer, part)
        for word, pages in index[part].items():
            known.setdefault(word, set()).update(pages)


def sort_index(indexer: IndexBuilder) -> None:
    """Sort entries by page, as if one process had written all pages in their order."""
    entries = indexer._index_entries
    in_order = sorted(entries.items())
    entries.clear()
    entries.update(in_order)


class PagesBuilder(StandaloneHTMLBuilder):
    """Sphinx's builder of HTML, which reads first what rests on no edition, and copies titles where it shows titles."""

    edition_is_complete: Callable[[], object] = staticmethod(lambda: None)
    """Returns once it is; at once where nobody says when."""

    def init_templates(self) -> None:
        """Keep compiled templates beside what Sphinx keeps of pages."""
        super().init_templates()
        (compiled := Path(self.doctreedir).with_name("templates")).mkdir(parents=True, exist_ok=True)
        self.templates.environment.bytecode_cache = FileSystemBytecodeCache(str(compiled))

    def get_outdated_docs(self) -> list[str]:
        """Pages to write; the front page at least, since Sphinx else ends without copying style sheets and scripts."""
        return list(super().get_outdated_docs()) or [self.config.root_doc]

    def _read_serial(self, docnames: list[str]) -> None:
        later = [name for name in docnames if self._shows_edition(name)]
        super()._read_serial([name for name in docnames if name not in later])
        self.edition_is_complete()
        super()._read_serial(later)

    def _shows_edition(self, docname: str) -> bool:
        path = Path(self.env.doc2path(docname))
        return path.suffix == ".ipynb" or _OF_EDITION.search(path.read_text(encoding="utf-8")) is not None

    def prepare_writing(self, docnames: set[str]) -> None:
        """Get ready, as Sphinx does, to write pages, which share most of the words that their index cuts to stems."""
        super().prepare_writing(docnames)
        self.indexer.lang.stem = functools.cache(self.indexer.lang.stem)

    def _write_parallel(self, docnames: Sequence[str], nproc: int) -> None:
        """Write the largest pages first, in this process and others, each of which takes the next page."""
        *others, smallest = sorted(docnames, key=self._size, reverse=True)
        self._write_serial([smallest])  # compiles the templates, for all processes
        taken = multiprocessing.get_context("fork").Value("i", 0)

        def remaining() -> Iterator[str]:
            while True:
                with taken.get_lock():
                    number = taken.value
                    taken.value += 1
                if number >= len(others):
                    return
                yield others[number]

        def write_some(_) -> tuple:
            empty_index(self.indexer)
            for name in remaining():
                self._write_serial([name])
            return index_of(self.indexer), self.images

        def add(_, written: tuple) -> None:
            index, images = written
            add_to_index(self.indexer, index)
            self.images |= images

        tasks = ParallelTasks(nproc)
        try:
            for number in range(min(nproc, len(others) // _WORTH_A_PROCESS)):
                tasks.add_task(write_some, number, add)
            for name in remaining():
                self._write_serial([name])
            tasks.join()
        finally:
            tasks.terminate()  # none is left, unless something failed: then nobody would take what it gives
        sort_index(self.indexer)

    def _size(self, docname: str) -> int:
        """Of what was read; the source of a page made of docstrings is short."""
        return Path(self.doctreedir, f"{docname}.doctree").stat().st_size

    def _get_local_toctree(self, docname: str, collapse: bool = True, **options) -> str:
        if not options.get("titles_only"):
            return super()._get_local_toctree(docname, collapse, **options)
        metadata = self.env.metadata
        self.env.metadata = collections.defaultdict(lambda: {"tocdepth": 1})
        try:
            return super()._get_local_toctree(docname, collapse, **options)
        finally:
            self.env.metadata = metadata


def _write_side_by_side(app, env) -> None:
    """Use every processor from here on: what reads pages is not all fit for it."""
    app.parallel = os.cpu_count() or 1


def _see_what_was_kept(app, env, added: set[str], changed: set[str], removed: set[str]) -> list[str]:
    """Know whether pages of an earlier process are among those that will be searched."""
    _Made.all_here = added == env.found_docs
    return []


def setup(app):
    """Register the builder with Sphinx; docutils walks faster in the whole process."""
    nodes.Node.findall = find_nodes
    nodes.Element.__init__ = _Made.init
    app.connect("env-get-outdated", _see_what_was_kept)
    app.add_builder(PagesBuilder, override=True)
    app.connect("env-updated", _write_side_by_side)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
