"""Built pages: intervals have n and kind, simulated data no verdict; choices begin with the page's value."""

import base64
import csv
import io
import json
import re
from pathlib import Path

from helpers import naming
from helpers.pages import text
from sense7.expected import is_set_to_published
from sense7.findings.robustness import HEADLINES
from sense7.judge.scores.judges import simulated_note
from sense7.record import format_value

LIMITS = re.compile(r"^(?:low|high|lower|upper|from|to|.*\binterval)$", re.IGNORECASE)
ROOT = Path(__file__).resolve().parents[2]
KIND = re.compile(r"interval|credible|resampl", re.IGNORECASE)
IN_TEXT = re.compile(r"\[-?[\d.,]+%?, -?[\d.,]+%?\]")
COUNTED = re.compile(r"\bn\b|\b[\d,]+ (?:turns|conversations|participants|studies)")


def data_of(figure):
    (link,) = figure.find_all("a", download=True)
    return list(csv.reader(io.StringIO(base64.b64decode(link["href"].partition(",")[2]).decode())))


# Intervals


def test_a_table_or_figure_with_intervals_gives_n_and_says_what_they_are(edition):
    tables = figures = 0
    for name in edition.notebooks:
        for table in edition.page(name).find("article").find_all("table"):
            heads = [text(cell) for cell in table.thead.find_all("th")]
            if any(LIMITS.match(head) for head in heads):
                tables += 1
                caption = text(table.caption)
                assert KIND.search(caption) or any("method" in head for head in heads), (
                    f"{name}: {caption}"
                )
                assert "n" in heads or COUNTED.search(caption), f"{name}: {caption}"
        for figure in edition.page(name).select("figure.sense7-figure"):
            if any(LIMITS.match(head) for head in data_of(figure)[0]):
                figures += 1
                caption = text(figure.figcaption)
                assert KIND.search(caption), f"{name}: {caption}"
                assert COUNTED.search(caption), f"{name}: {caption}"
    assert tables > 20
    assert figures > 5


STATED = re.compile(
    r"\bn = [\d,]+|\bn\b.* as in the tables? above|Definitions, no data|whose n is not stated"
    r"|^[\d,]+ (turns|conversations|participants|studies)"
)
"""How a caption states n."""


def test_every_figure_says_what_and_whose_data_it_shows_and_gives_them(edition):
    """In its drawing, its caption, its data and their file's name."""
    for name in edition.toc:
        figures = edition.page(name).select("figure.sense7-figure")
        # Where nothing can be drawn, a sentence stands in the figure's place.
        draws = name in edition.notebooks and "figures." in (ROOT / f"{name}.md").read_text("utf-8")
        assert not draws or figures or edition.page(name).select(".cell_output p > em"), name
        for figure in figures:
            assert all(len(drawing["aria-label"]) > 20 for drawing in figure.select("[role=img]"))
            assert STATED.search(figure.figcaption.get_text()), name
            head, *rows = data_of(figure)
            assert {len(row) for row in rows} == {len(head)}, name
            assert head[-1] == "data", f"{name}: {head}"
            labels = {row[-1] for row in rows}
            (link,) = figure.find_all("a", download=re.compile(r"\.csv$"))
            assert "not-stated" not in link["download"], f"{name}: {link['download']}"
            is_simulated = any("Simulated" in label for label in labels)
            assert ("simulated" in link["download"]) == is_simulated, name
            for drawing in figure.select("svg[role=img]"):
                shown = squeezed(drawing.get_text())
                assert all(squeezed(label) in shown for label in labels), f"{name}: {labels}"


def squeezed(shown):
    return "".join(shown.split())


def test_no_interval_stands_in_a_page_outside_of_tables_figures_and_woven_values(edition):
    for name in edition.toc:
        if name.startswith("book/api"):  # examples of the library
            continue
        for node in edition.page(name).find("article").find_all(string=IN_TEXT):
            kept = {"pre", "code", "script", "style", "svg", "td", "figure"}
            around = {parent.name for parent in node.parents}
            woven = any("sense7-value" in (parent.get("class") or ()) for parent in node.parents)
            counted = "(n = " in node  # in the box of a claim
            assert woven or counted or around & kept, f"{name}: {node}"


# No verdict on invented data


def test_no_claim_has_a_verdict_on_simulated_data(synthetic):
    """Released ratings of others, and checks of published figures, have theirs in every edition."""
    for row in synthetic.json("ledger.json"):
        is_real = row["published"]["release"] or row["published"]["kind"] == "check"
        assert (row["state"] in {"met", "not met"}) is bool(row["published"]["release"]), row["id"]
        assert row["rehearsal"] is None or not is_real, row["id"]
    for name in synthetic.toc:
        if name.removeprefix("notebooks/") in synthetic.facts["made"]["released"]:
            continue
        article = synthetic.page(name).find("article")
        for badge in article.select(".sense7-finding .sense7-badge"):
            assert not re.search(r"\bmet\b", text(badge)), name
        for answer in article.select(".sense7-answer strong"):
            assert "Yes" not in text(answer), name


def test_values_set_to_published_figures_are_marked_and_announced(synthetic):
    fixed = {key for key, value in synthetic.values.items() if is_set_to_published(value)}
    assert len(fixed) > 10
    for name in synthetic.notebooks:
        rows = synthetic.page(name).select(".sense7-values tbody tr")
        shown = {text(row.find("td")): text(row) for row in rows}
        here = fixed & shown.keys()
        marked = {key for key in here if "(set to the published figure)" in shown[key]}
        assert marked == here, name
        if here:
            assert synthetic.page(name).select(".sense7-finding .sense7-set-note"), name


# The simulated judge


def test_every_figure_and_table_that_shows_the_simulated_judge_has_the_word(synthetic):
    note = simulated_note(["simulated-judge"])
    naming.check(note, "simulated-judge")
    for name in ("notebooks/12-judge", "notebooks/13-baselines"):
        assert note in text(synthetic.page(name).find("article")), name
    page = synthetic.page("notebooks/12-judge").find("article")
    for figure in page.select("figure.sense7-figure"):
        is_of_real_ratings = "Real ratings" in figure.svg["aria-label"]
        assert is_of_real_ratings or "simulated" in text(figure.figcaption), figure.figcaption
    for table in page.find_all("table"):
        assert "simulated" in text(table), table.caption


# Analyses to choose, which the notebooks computed

PAGE = "notebooks/17-robustness"


def figures(edition):
    pages = [page for page in edition.notebooks if "sense7-specifications" in edition.text(page)]
    return [
        (page, figure)
        for page in pages
        for figure in edition.page(page).select("figure.sense7-specifications")
    ]


def content(figure):
    return json.loads(figure.find("script", type="application/json").string)


def test_every_headline_stands_once_on_the_page_of_its_finding_or_says_why(edition):
    """Of real data; of simulated data one page has its own."""
    shown = [content(figure)["name"] for _, figure in figures(edition)]
    assert PAGE not in {page for page, _ in figures(edition)}
    if edition.facts["kind"] == "synthetic":
        assert shown == ["participant_share_beyond_condition_and_topic"]
        return
    sentences = [
        tag.get_text() for page in edition.notebooks for tag in edition.page(page).select("p > em")
    ]
    absent = " ".join(sentences)
    for name, headline in HEADLINES.items():
        is_absent = f"No curve of {headline.title}: " in absent
        assert shown.count(name) + is_absent == 1, name


def test_the_first_choice_is_the_value_of_the_findings_page(edition):
    for _, figure in figures(edition):
        shown = content(figure)
        value = edition.values[shown["name"]]
        assert shown["rows"][0][5] == f"{format_value(value)}, n = {value['n']:,}", shown["name"]
