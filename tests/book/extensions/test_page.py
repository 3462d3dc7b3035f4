"""The end of a page, its cells, the lists of the library, and figures of other notebooks."""

import json
import re
import shlex
from pathlib import Path

import pytest
from docutils import nodes

import sense7
from helpers import naming
from sense7.book.extensions.page import (
    find_picture,
    fold_sections,
    gather_code,
)

SOURCE = "# Page\n\nText.\n"


def test_every_recorded_value_stands_at_the_end(page, recorded):
    values = [
        recorded(),
        recorded("beta", None, None, None, reason="never asked"),
        recorded("other", notebook="04"),
    ]
    html, warnings = page(SOURCE, ["page"], values=values)
    assert warnings == ""
    rows = [
        [cell.get_text(strip=True) for cell in row.find_all("td")]
        for row in html.select(".sense7-values tbody tr")
    ]
    assert rows[0] == ["alpha", "0.800 [0.700, 0.850]", "1,234", "method of <alpha>"]
    assert rows[1][0] == "beta"
    assert "never asked" in rows[1][1]
    assert len(rows) == 2, "another page's values stand there"


def test_the_command_that_runs_the_page_again(page, recorded):
    html, _ = page(SOURCE, ["page"], values=[recorded()])
    assert (
        html.select_one(".sense7-rerun").get_text().strip()
        == ".venv/bin/sense7 run 03 -p data=synthetic"
    )


def test_the_command_quotes_the_name_of_a_file(page, recorded):
    html, warnings = page(
        SOURCE, ["page"], values=[recorded()], kind="own", file="it's <b>; rm -rf.xlsx"
    )
    assert warnings == ""
    said = html.select_one(".sense7-rerun").get_text().strip()
    assert shlex.split(said)[-1] == "data=it's <b>; rm -rf.xlsx"


# Cells

TABLE = "<table></table>"


def cell(html):
    bundle = nodes.container(
        "", nodes.raw("", html, format="html"), nodes.literal_block("", "text")
    )
    output = nodes.container("", bundle, nb_element="cell_code_output")
    return nodes.container("", output, nb_element="cell_code")


def section(title, *outputs):
    return nodes.section(
        "", nodes.title("", title), nodes.paragraph("", "Prose."), *map(cell, outputs)
    )


def code(text, *classes):
    source = nodes.container("", nodes.literal_block(text, text), nb_element="cell_code_source")
    return nodes.container("", source, nb_element="cell_code", classes=list(classes))


def test_code_by_hand_stands_open_and_other_code_in_a_fold():
    tree = nodes.section("", nodes.title("", "A"), code("1"), code("2", "tag_by-hand"))
    gather_code(None, tree)
    assert [one.astext() for one in tree.findall(nodes.literal_block)] == ["2", "1"]
    fold = next(tree.findall(nodes.raw))
    assert fold.astext().startswith("<details")
    assert tree.index(fold) == 3


def test_more_analyses_are_one_fold():
    more = nodes.section(
        "", nodes.title("", "More analyses"), section("B", TABLE), ids=["more-analyses"]
    )
    tree = nodes.section("", nodes.title("", "A"), more)
    fold_sections(None, tree)
    assert more[1].astext().startswith('<details class="sense7-more">')
    assert more[-1].astext() == "</details>"


# The reference of the library

ROOT = Path(__file__).resolve().parents[3]
PAGES = sorted(ROOT.glob("book/api*.md"))


def listed(page, source):
    """Sections, and signature -> sentence, of a page's lists."""
    html, warnings = page(source, ["page"])
    assert warnings == ""
    found = [item.get_text().partition(": ") for item in html.select("section section li")]
    sections = {
        one.h2.get_text().rstrip("#\N{PILCROW SIGN}") for one in html.select("section section")
    }
    return sections, {signature: said for signature, _, said in found}


IMPORTED = re.compile(r"^from sense7(\.\w+)? import ([\w, ]+)$", re.MULTILINE)


def imported_modules():
    """Modules that notebooks and tutorials import by name."""
    texts = [*ROOT.glob("notebooks/*.md"), *ROOT.glob("book/*.md")]
    for path in texts:
        for package, names in IMPORTED.findall(path.read_text("utf-8")):
            for name in names.split(", "):
                yield f"{package}.{name}".removeprefix(".")


def test_all_that_notebooks_import_and_s7_gives_is_listed_in_at_most_9000_words(page):
    fences = re.findall(
        r"```{functions}[^`]*```", "\n".join(path.read_text("utf-8") for path in PAGES)
    )
    assert len(PAGES) == 3
    sections, entries = listed(page, "\n\n".join(["# Page", *fences]))
    assert len(f"{sections} {entries}".split()) <= 9_000
    assert set(imported_modules()) <= sections
    functions = {name for name in sense7.__all__ if callable(getattr(sense7, name))}
    assert functions - {"count_of"} <= {signature.partition("(")[0] for signature in entries}


def test_a_signature_names_what_is_needed_and_the_sentence_has_no_markup_of_docstrings(page):
    _, entries = listed(page, "# Page\n\n```{functions} loading findings.*\n```\n")
    assert {"load(data)", "importance_shares(study, bootstrap)"} <= entries.keys()
    assert not re.search(r":(func|class|mod):|`", str(entries))


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


def test_a_figure_is_found_by_its_name_or_the_sentence_in_its_place():
    other, sentence = (
        FIGURE.replace('data-name="alpha"', 'data-name="beta"'),
        "<p><em>Nothing was rated.</em></p>",
    )
    node = notebook(
        ('draw(name="beta")', other), ('draw(name="alpha")', [FIGURE[:30], FIGURE[30:]])
    )
    assert (find_picture(node, "alpha"), find_picture(node, "beta")) == (FIGURE, other)
    assert find_picture(notebook(('draw(name="alpha")', sentence)), "alpha") == sentence
    assert find_picture(node, "alph") is None
    assert find_picture({"cells": [{"source": '`name="alpha"` in prose'}]}, "alpha") is None


def test_a_cell_that_only_mentions_a_figure_does_not_stand_in_its_place():
    table, sentence = "<table></table>", "<p><em>No judge.</em></p>"
    mentioning = ('tables |= {"alpha": judge_table("alpha")}', table)
    assert (
        find_picture(notebook(mentioning, ('curve(name="alpha")', sentence)), "alpha") == sentence
    )
    not_drawn = find_picture(notebook(mentioning, ('curve(name="alpha")', "")), "alpha")
    assert not_drawn
    assert find_picture(notebook(mentioning), "alpha") is None


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
def test_a_page_shows_a_figure_of_another_one_or_the_sentence_in_its_place(
    page, shown, name, words, complaints
):
    executed = (
        {}
        if shown is None
        else {"17-robustness": json.dumps(notebook(('draw(name="alpha")', shown)))}
    )
    source = f"# Page\n\n```{{picture}} notebooks/17-robustness {name}\n```\n"
    html_of, warnings = page(source, ["page"], executed=executed)
    found = complaints(warnings)
    assert (list(found), bool(warnings)) == ((["3"], True) if not words else ([], False))
    for complaint in found.values():
        naming.check(complaint, "notebooks/17-robustness", f"'{name}'")
    assert words in str(html_of)
