"""A table of a page, as directives make it: it scrolls on a narrow screen, and its texts stay as they are."""

from collections.abc import Iterable, Sequence

from docutils import nodes

__all__ = ["page_table"]


def page_table(
    title: str,
    head: Sequence[str],
    widths: Sequence[int],
    rows: Iterable[Sequence[Sequence[nodes.Node]]],
    classes: Sequence[str],
) -> nodes.container:
    """A table with its title, inside what lets it scroll.

    Parameters
    ----------
    title : str
        Stands above it.
    head : sequence of str
        Names of the columns.
    widths : sequence of int
        Their widths, relative to each other.
    rows : iterable of sequences
        For each row its cells, for each cell its paragraphs.
    classes : sequence of str
        Names for the style sheet.

    Examples
    --------
    >>> made = page_table("Title", ["A"], [1], [[[nodes.paragraph(text="a")]]], ["sense7-example"])
    >>> [row.astext() for row in made.findall(nodes.row)]
    ['A', 'a']
    """
    table = nodes.table(classes=list(classes), support_smartquotes=False)
    table += nodes.title(text=title)
    group = nodes.tgroup(cols=len(head))
    group += [nodes.colspec(colwidth=width) for width in widths]
    group += nodes.thead("", nodes.row("", *(nodes.entry("", nodes.paragraph(text=text)) for text in head)))
    group += nodes.tbody("", *(nodes.row("", *(nodes.entry("", *cell) for cell in row)) for row in rows))
    table += group
    return nodes.container("", table, classes=["sense7-scroll", "full-width"])
