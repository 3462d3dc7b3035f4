"""Sphinx's builder of HTML: the same pages with less work, begun while notebooks are still executed.

- Pages that say nothing of an edition, above all the reference of the library, are read first; the others once the
  edition is complete (:mod:`sense7.book.pages`).
- Pages are written by several processes, which Sphinx can do, though Jupyter Book does not ask for it.
- The side bar of every page shows the titles of all pages: only these are copied, not whole tables of contents.
- docutils searches a tree by one generator for each level of it: here one stack does.
"""

import collections
import os
import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from docutils import nodes
from sphinx.builders.html import StandaloneHTMLBuilder

__all__ = ["PagesBuilder", "find_nodes", "setup"]

_findall = nodes.Node.findall
_WORTH_A_PROCESS = 10
"""Number of pages from which it takes less time to start another process than to write all of them in this one."""

_OF_EDITION = re.compile(
    r"\{(claims-power|conversation|distances|edition|finding|interval|judge_logs|ledger|ledger-picture|picture|published|"
    r"specifications|truths|value)\}"
)
"""Roles and directives that show something of an edition."""


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


class PagesBuilder(StandaloneHTMLBuilder):
    """Sphinx's builder of HTML, which reads first what rests on no edition, and copies titles where it shows titles."""

    edition_is_complete: Callable[[], object] = staticmethod(lambda: None)
    """Returns once it is; at once where nobody says when."""

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

    def _write_parallel(self, docnames: Sequence[str], nproc: int) -> None:
        if len(docnames) < _WORTH_A_PROCESS:
            self._write_serial(docnames)
        else:
            super()._write_parallel(docnames, nproc)

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


def setup(app):
    """Register the builder with Sphinx; docutils walks faster in the whole process."""
    nodes.Node.findall = find_nodes
    app.add_builder(PagesBuilder, override=True)
    app.connect("env-updated", _write_side_by_side)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
