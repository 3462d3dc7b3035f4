"""Cells on a page: a page whose main result cannot be computed says why once."""

import pytest
from docutils import nodes

from sense7.book.extensions.cells import _leave_out_empty_sections

WHY = '<p class="x"><em>No predictions of a judge are available.</em></p>'
OTHER = '<p class="x"><em>There is nothing to show.</em></p>'
TABLE = "<table></table>"


def cell(html):
    bundle = nodes.container("", nodes.raw("", html, format="html"), nodes.literal_block("", "text"))
    output = nodes.container("", bundle, nb_element="cell_code_output")
    return nodes.container("", output, nb_element="cell_code")


def section(title, *outputs):
    return nodes.section("", nodes.title("", title), nodes.paragraph("", "Prose."), *map(cell, outputs))


def page(main, *sections):
    whole = nodes.section("", nodes.title("", "Page"), *map(cell, main), *sections)
    tree = nodes.container("", whole)
    _leave_out_empty_sections(None, tree)
    return [found[0].astext() for found in whole.children if isinstance(found, nodes.section)]


def test_sections_that_would_say_the_same_again_are_left_out():
    methods, limits = section("Methods"), section("Limits")
    assert page([WHY], methods, section("A", WHY), section("B", WHY, WHY), limits) == ["Methods", "Limits"]


@pytest.mark.parametrize("outputs", [[TABLE], [WHY, TABLE], [OTHER], [WHY, OTHER]])
def test_a_section_with_anything_else_stays(outputs):
    assert page([WHY], section("A", *outputs)) == ["A"]


@pytest.mark.parametrize("main", [[], [TABLE], [WHY, TABLE], [WHY, OTHER]])
def test_where_the_main_result_is_there_every_section_stays(main):
    assert page(main, section("A", WHY)) == ["A"]
