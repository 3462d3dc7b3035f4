"""Figures of other notebooks, and the order of a page's parts."""

import json

import pytest

from helpers import naming

# Figures of other notebooks

FIGURE = (
    '<figure class="sense7-figure sense7-specifications" data-name="alpha" id="specification-alpha">'
    '<script type="application/json">{}</script>'
    '<a download="alpha-simulated.csv" href="#">Data (CSV)</a></figure>'
)


def notebook(*cells):
    return {
        "cells": [
            {"source": [source], "outputs": [{"data": {"text/html": shown}}]}
            for source, shown in cells
        ]
    }


@pytest.mark.parametrize(
    ("shown", "name", "words"),
    [
        (f"<div>{FIGURE}</div>", "alpha", FIGURE),
        ("<p><em>No curve of alpha.</em></p>", "alpha", "<em>No curve of alpha.</em>"),
        (None, "alpha", ""),
        (FIGURE, "alfa", ""),
    ],
    ids=["figure", "sentence", "no such notebook", "unknown"],
)
def test_a_page_shows_a_figure_of_another_or_its_sentence(page, shown, name, words, complaints):
    executed = (
        {}
        if shown is None
        else {"17-robustness": json.dumps(notebook(('draw(name="alpha")', shown)))}
    )
    source = f"# Page\n\n```{{picture}} notebooks/17-robustness {name}\n```\n"
    html_of, warnings = page(source, executed=executed)
    found = complaints(warnings)
    assert (list(found), bool(warnings)) == ((["3"], True) if not words else ([], False))
    for complaint in found.values():
        naming.check(complaint, "notebooks/17-robustness", f"'{name}'")
    assert words in str(html_of)


# Real data lead

ORDERED = """# Page

Of others.

## Rehearsal: simulated data, no findings

Of these.

## Change the analysis

```{picture} notebooks/17-robustness alpha
```

## More analyses

Further.
"""


@pytest.mark.parametrize(
    ("kind", "order"),
    [
        ("synthetic", ["Of others.", "Of these.", "Further."]),
        ("own", ["Of these.", "Of others.", "Further."]),
    ],
)
def test_the_ratings_that_are_real_come_first_and_have_variants(page, kind, order):
    executed = {"17-robustness": json.dumps(notebook(('draw(name="alpha")', FIGURE)))}
    html, warnings = page(ORDERED, executed=executed, kind=kind)
    assert warnings == ""
    said = [text.get_text() for text in html.select("p") if text.get_text() in order]
    assert said == order
    assert html.select_one("details p").get_text() == "Further."  # in its fold
    assert bool(html.select("#rehearsal-simulated-data-no-findings")) is (kind == "synthetic")
    assert bool(html.select("#change-the-analysis")) is (kind == "own")
