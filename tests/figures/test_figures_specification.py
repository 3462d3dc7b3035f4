"""Specification curves: sentence, drawing and embedded table are the multiverse's; texts of a workbook are inert."""

import base64
import io
import json
import re

import numpy as np
import pandas as pd
import pytest
from bs4 import BeautifulSoup

from sense7.errors import UserError
from sense7.figures.specification import SpecificationCurve, specification_curve, specification_table
from sense7.findings.robustness import HEADLINES, specifications

HOSTILE = "</script><script>window.ran = 1</script></figure><!-- \u2028 \"'&amp;"
CHOICES = list(HEADLINES["relational_applicability"].choices)


def table_of(estimates, headline="relational_applicability", reason="no participant"):
    """A multiverse with these estimates: the first specifications of the headline."""
    chosen = specifications(headline).iloc[: len(estimates)]
    numbers = np.asarray(estimates, dtype=float)
    unit = HEADLINES[headline].unit
    reasons = ["" if np.isfinite(number) else reason for number in numbers]
    return chosen.assign(
        estimate=numbers, low=numbers - 0.1, high=numbers + 0.1, n=1234, unit=unit, method="m", reason=reasons
    )


def drawn(table, published=0.25, name="relational_applicability"):
    figure = specification_curve(table, name=name, caption="n = 5.", published=published)
    assert isinstance(figure, SpecificationCurve)
    return figure, BeautifulSoup(figure._repr_html_(), "html.parser")


def content_of(page):
    return json.loads(page.find("script", type="application/json").string)


def test_the_embedded_table_is_the_multiverse():
    table = table_of([0.3, 0.1, np.nan, 0.2])
    content = content_of(drawn(table)[1])
    options = {name: given for name, _, given in content["choices"]}
    assert list(options) == CHOICES
    assert len(content["rows"]) == len(table)
    for (codes, *numbers, n, words, place), (_, row) in zip(content["rows"], table.iterrows(), strict=True):
        assert [options[name][code] for name, code in zip(options, codes, strict=True)] == row[CHOICES].tolist()
        assert n == row["n"]
        for number, name in zip(numbers, ("estimate", "low", "high"), strict=True):
            assert number == (pytest.approx(row[name], rel=1e-5) if np.isfinite(row[name]) else None)
        assert (place is None) == np.isnan(row["estimate"])
        assert words == f"no estimate: {row['reason']}" or f"{100 * row['estimate']:.1f}%" in words
    assert [row[6] for row in content["rows"]] == [2, 0, None, 1]


def test_the_first_specification_stands_there_without_a_script():
    _, page = drawn(table_of([0.3, 0.1, np.nan, 0.2]))
    assert page.output.get_text() == (
        "As on the other pages: 30.0% [20.0%, 40.0%], n = 1,234. 2 of 3 specifications have an interval that holds the "
        "published value, 25.0%. By its estimate it is number 3 of 3, from the lowest."
    )
    assert page.output["aria-live"] == "polite"
    assert len(page.select("svg .sense7-here")) == 2, "on a wide page and on a phone"
    for mark in page.select(".sense7-here"):
        x0, dx, y0, dy, _, _ = map(float, mark["data-geometry"].split())
        place = [float(number) for number in re.findall(r"[-\d.]+", mark.select("path")[2]["d"])[:2]]
        assert place == pytest.approx([x0 + 2 * dx, y0 + 0.3 * dy], abs=0.01)
    assert page.select("input, button, select") == [], "what only a script can move is added by the script"


def test_a_headline_without_a_published_figure_is_compared_with_its_reference():
    _, page = drawn(table_of([0.3, 0.05], "continuity_contrast"), None, "continuity_contrast")
    assert "1 of 2 specifications have an interval that lies above zero." in page.output.get_text()
    assert content_of(page)["left_out"] == HEADLINES["continuity_contrast"].left_out


def test_texts_of_a_workbook_are_inert():
    figure = specification_curve(
        table_of([np.nan, 0.2], reason=HOSTILE), name="relational_applicability", caption=HOSTILE, published=0.25
    )
    source = figure._repr_html_()
    assert source.count("</script") == source.count("<script") == source.count("</figure>") == 1
    page = BeautifulSoup(source, "html.parser")
    assert content_of(page)["rows"][0][5] == f"no estimate: {HOSTILE}"
    assert HOSTILE in page.output.get_text()
    assert HOSTILE in page.figcaption.get_text()


def test_the_data_come_down_in_the_order_of_the_drawing():
    table = table_of([0.3, 0.1, np.nan, 0.2])
    _, page = drawn(table)
    link = page.find("a", download="relational_applicability.csv")["href"]
    data = pd.read_csv(io.BytesIO(base64.b64decode(link.partition(",")[2])), index_col=0)
    assert data.index.tolist() == [2, 4, 1, 3]
    assert data["estimate"].tolist()[:3] == [0.1, 0.2, 0.3]
    assert data[CHOICES].loc[4].tolist() == table[CHOICES].loc[4].tolist()


def test_the_alternative_text_says_what_is_seen():
    figure, page = drawn(table_of([0.3, 0.1, np.nan, 0.2]))
    assert {picture["aria-label"] for picture in page.select("svg[role=img]")} == {figure.alt}
    assert re.match(
        r"Specification curve of .*\. 3 of 4 specifications could be computed: from 10.0% to 30.0%", figure.alt
    )


def test_an_unknown_headline_is_refused():
    with pytest.raises(UserError, match="poor_turn_d"):
        specification_curve(table_of([0.1]), name="curve", caption="n")


def test_the_table_of_all_headlines_has_their_ranges_or_the_reason():
    tables = {
        "relational_applicability": table_of([0.3, 0.1, 0.2]),
        "judge_spearman": table_of([np.nan], "judge_spearman"),
    }
    frame = specification_table(tables, {"relational_applicability": 0.25}).frame
    row = frame.loc[HEADLINES["relational_applicability"].title]
    assert row.tolist() == [
        "30.0% [20.0%, 40.0%], n = 1,234",
        "10.0%",
        "30.0%",
        "2 of 3 hold the published 25.0%",
    ]
    assert frame.loc[HEADLINES["judge_spearman"].title].tolist()[1:] == [""] * 3
