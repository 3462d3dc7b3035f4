"""Cells on a page: a page whose main result cannot be computed says why once."""

import pytest
from docutils import nodes

from sense7.book.extensions.page_end import _fold_more, _gather_code, _leave_out_empty_sections, _say_what_was_not_run

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


def code(text, *classes):
    source = nodes.container("", nodes.literal_block(text, text), nb_element="cell_code_source")
    return nodes.container("", source, nb_element="cell_code", classes=list(classes))


def test_code_by_hand_stands_open_and_other_code_in_a_fold():
    tree = nodes.section("", nodes.title("", "A"), code("1"), code("2", "tag_by-hand"))
    _gather_code(None, tree)
    assert [one.astext() for one in tree.findall(nodes.literal_block)] == ["2", "1"]
    fold = next(tree.findall(nodes.raw))
    assert fold.astext().startswith("<details")
    assert tree.index(fold) == 3


def test_a_cell_that_was_not_run_says_why_above_its_code():
    tree = nodes.section("", code("# Not run here: the data have no topic.\n1 / 0", "tag_by-hand"))
    _say_what_was_not_run(None, tree)
    assert [one.astext() for one in tree.children[:1]] == ["Not run here: the data have no topic."]
    assert next(tree.findall(nodes.literal_block)).astext() == "1 / 0"


def test_more_analyses_are_one_fold():
    more = nodes.section("", nodes.title("", "More analyses"), section("B", TABLE), ids=["more-analyses"])
    tree = nodes.section("", nodes.title("", "A"), more)
    _fold_more(None, tree)
    assert more[1].astext().startswith('<details class="sense7-more">')
    assert more[-1].astext() == "</details>"
