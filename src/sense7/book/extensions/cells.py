"""Cells of executed notebooks as pages show them: results first, one fold of code at the end of each section.

A Sphinx extension. The code of a cell tagged ``by-hand`` stands open where it is, also on paper. All below the heading
"More analyses" is one closed fold, which paper leaves out. What a page says once it does not say again: of sentences
that stand in the place of results that cannot be computed, equal ones are shown where the first of them stands. Where a
page's main result cannot be computed, sections all of whose results would only say the same are left out.
"""

import re

from docutils import nodes

from sense7.book.notebooks import NOT_RUN

__all__ = ["MORE", "setup"]

MORE = "more-analyses"
"""Id of the section that is folded."""

_SENTENCE = re.compile(r'\s*<p class="[^"]*"><em>.*</em></p>\s*', re.DOTALL)


def _gather_code(app, tree) -> None:
    """Put the code of each section, in its order, into one fold at the end of what the section itself says."""
    for section in [tree, *tree.findall(nodes.section)]:
        cells = [child for child in section.children if _is(child, "cell_code")]
        cells = [cell for cell in cells if "tag_by-hand" not in cell["classes"]]
        sources = [part for cell in cells for part in cell.children if _is(part, "cell_code_source")]
        if not sources:
            continue
        for source in sources:
            source.parent.remove(source)
        first = next((i for i, child in enumerate(section.children) if isinstance(child, nodes.section)), None)
        place = len(section.children) if first is None else first
        opening = nodes.raw("", '<details class="sense7-code"><summary>Code</summary>', format="html")
        section[place:place] = [opening, *sources, nodes.raw("", "</details>", format="html")]


def _say_what_was_not_run(app, tree) -> None:
    """Show the reason for which a cell by hand was left out as a sentence above the cell."""
    for source in [node for node in tree.findall(nodes.literal_block) if node.astext().startswith(NOT_RUN)]:
        reason, code = source.astext().split("\n", 1)
        cell = source.parent.parent
        cell.parent.insert(
            cell.parent.index(cell), nodes.paragraph("", "", nodes.emphasis(text=reason.removeprefix("# ")))
        )
        source.replace_self(nodes.literal_block(code, code, **source.attributes))


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


def _leave_out_empty_sections(app, tree) -> None:
    """Leave out sections whose results are all the sentence that stands in the place of the page's main result."""
    for page in [child for child in tree.children if isinstance(child, nodes.section)]:
        main = {text for cell in page.children if _is(cell, "cell_code") for text in _results(cell)}
        if len(main) != 1 or not _SENTENCE.fullmatch(*main):
            continue
        own = [child for child in page.children if isinstance(child, nodes.section)]
        more = [
            child for one in own if MORE in one["ids"] for child in one.children if isinstance(child, nodes.section)
        ]
        for section in [*own, *more]:
            if (results := _results(section)) and set(results) == main:
                # The ledger leads to its cells: there the page begins, and says why nothing is shown.
                page["ids"] += [f"cell-{count}" for count in _counts(section)]
                section.parent.remove(section)


def _counts(node: nodes.Node) -> list[int]:
    """Execution counts of the cells in a node."""
    cells = (cell for cell in node.findall(nodes.container) if _is(cell, "cell_code"))
    return [cell["exec_count"] for cell in cells if cell.get("exec_count")]


def _results(node: nodes.Node) -> list[str]:
    """What each output of the cells in a node is on a page: its HTML; "" where it has none."""
    cells = (cell for cell in node.findall(nodes.container) if _is(cell, "cell_code_output"))
    return [next((raw.astext() for raw in output.findall(nodes.raw)), "") for cell in cells for output in cell.children]


def _fold_more(app, tree) -> None:
    """Make one closed fold of what stands below the heading of further analyses."""
    for section in tree.findall(nodes.section):
        if MORE in section["ids"]:
            words = "Show further analyses, all values, and how to rerun this page"
            opening = f'<details class="sense7-more"><summary>{words}</summary>'
            section.insert(1, nodes.raw("", opening, format="html"))
            section.append(nodes.raw("", "</details>", format="html"))


def setup(app):
    """Register with Sphinx what is done to each page once it is read."""
    # Before the table of contents is read.
    app.connect("doctree-read", _leave_out_empty_sections, priority=400)
    # After the anchors of cells, which go by the cells' containers.
    app.connect("doctree-read", _gather_code, priority=600)
    app.connect("doctree-read", _say_what_was_not_run, priority=600)
    app.connect("doctree-read", _say_once, priority=600)
    app.connect("doctree-read", _fold_more, priority=800)  # after the end of the page, which stands in it
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
