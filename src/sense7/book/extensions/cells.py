"""Cells of executed notebooks as pages show them: results first, one fold of code at the end of each section.

A Sphinx extension. What a page says once it does not say again: of sentences that stand in the place of results that
cannot be computed, equal ones are shown where the first of them stands.
"""

import re

from docutils import nodes

__all__ = ["setup"]

_SENTENCE = re.compile(r'\s*<p class="[^"]*"><em>.*</em></p>\s*', re.DOTALL)


def _gather_code(app, tree) -> None:
    """Put the code of each section, in its order, into one fold at the end of what the section itself says."""
    for section in [tree, *tree.findall(nodes.section)]:
        cells = [child for child in section.children if _is(child, "cell_code")]
        sources = [part for cell in cells for part in cell.children if _is(part, "cell_code_source")]
        if not sources:
            continue
        for source in sources:
            source.parent.remove(source)
        first = next((i for i, child in enumerate(section.children) if isinstance(child, nodes.section)), None)
        place = len(section.children) if first is None else first
        opening = nodes.raw("", '<details class="sense7-code"><summary>Code</summary>', format="html")
        section[place:place] = [opening, *sources, nodes.raw("", "</details>", format="html")]


def _is(node: nodes.Node, element: str) -> bool:
    return isinstance(node, nodes.container) and node.get("nb_element") == element


def _say_once(app, tree) -> None:
    """Leave out of a page the sentences that it has said before in the place of a result."""
    said = set()
    for node in list(tree.findall(nodes.raw)):
        text = node.astext()
        if _SENTENCE.fullmatch(text):
            if text in said:
                node.parent.remove(node)
            said.add(text)


def setup(app):
    """Register with Sphinx what is done to each page once it is read."""
    # After the anchors of cells, which go by the cells' containers.
    app.connect("doctree-read", _gather_code, priority=600)
    app.connect("doctree-read", _say_once, priority=600)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
