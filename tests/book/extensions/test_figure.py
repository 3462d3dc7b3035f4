"""The picture on a page is the edition's own: the figure of its notebook, or the sentence in the figure's place."""

from sense7.book.extensions.figure import find_picture

FIGURE = '<figure class="sense7-figure"><svg></svg><a download="levels.csv" href="#">Data (CSV)</a></figure>'


def notebook(*cells):
    return {"cells": [{"source": [source], "outputs": [{"data": {"text/html": shown}}]} for source, shown in cells]}


def test_the_figure_is_found_by_its_name():
    other = FIGURE.replace("levels.csv", "shares.csv")
    node = notebook(
        ('draw(name="shares")', other), ('draw(name="levels")', [f"<div>{FIGURE[:30]}", f"{FIGURE[30:]}</div>"])
    )
    assert find_picture(node, "levels") == FIGURE
    assert find_picture(node, "shares") == other


def test_a_sentence_takes_the_place_of_a_figure_that_could_not_be_drawn():
    sentence = "<p><em>Nothing was rated.</em></p>"
    assert find_picture(notebook(('draw(name="levels")', sentence)), "levels") == sentence


def test_a_name_that_no_cell_draws_is_not_found():
    assert find_picture(notebook(('draw(name="levels")', FIGURE)), "level") is None
    assert find_picture({"cells": [{"source": '`name="levels"` in prose'}]}, "levels") is None
