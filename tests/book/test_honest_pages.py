"""Built pages: no interval without its n and its kind, and tuned values marked wherever they are shown."""

import base64
import csv
import io
import re
from pathlib import Path

from sense7.record import format_value

ROOT = Path(__file__).resolve().parents[2]
LIMITS = re.compile(r"^(?:low|high|lower|upper|from|to|.*\binterval)$", re.IGNORECASE)
KIND = re.compile(r"interval|credible|resampl", re.IGNORECASE)
IN_TEXT = re.compile(r"\[-?[\d.,]+%?, -?[\d.,]+%?\]")
COUNTED = re.compile(r"\bn\b|\b[\d,]+ (?:turns|conversations|participants|studies)")


def text(tag):
    return " ".join(tag.get_text(" ").split())


def columns(table):
    return [text(cell) for cell in table.thead.find_all("th")]


def data_of(figure):
    (link,) = figure.find_all("a", download=True)
    return list(csv.reader(io.StringIO(base64.b64decode(link["href"].partition(",")[2]).decode())))


# Intervals


def test_a_table_with_intervals_gives_n_and_says_what_they_are(edition):
    found = 0
    for name in edition.notebooks:
        for table in edition.page(name).find("article").find_all("table"):
            heads = columns(table)
            if not any(LIMITS.match(head) for head in heads):
                continue
            found += 1
            caption = text(table.caption)
            assert KIND.search(caption) or any("method" in head for head in heads), f"{name}: {caption}"
            assert "n" in heads or COUNTED.search(caption), f"{name}: {caption}"
    assert found > 20


def test_a_figure_with_intervals_gives_n_and_says_what_they_are(edition):
    found = 0
    for name in edition.notebooks:
        for figure in edition.page(name).select("figure.sense7-figure"):
            if any(LIMITS.match(head) for head in data_of(figure)[0]):
                found += 1
                caption = text(figure.figcaption)
                assert KIND.search(caption), f"{name}: {caption}"
                assert COUNTED.search(caption), f"{name}: {caption}"
    assert found > 5


def test_a_value_in_a_sentence_carries_its_n_and_method(edition):
    woven = 0
    for name in edition.toc:
        for tag in edition.page(name).select(".sense7-value"):
            if not IN_TEXT.search(tag.get_text()):
                continue
            woven += 1
            value = next(
                value
                for value in edition.values.values()
                if value["estimate"] is not None
                and tag.get_text().removesuffix(" (tuned)") in {format_value(value), format_value(value, ["interval"])}
            )
            assert re.match(r"n = [\d,]+; .{5}", tag["title"]), f"{name}: {text(tag)}"
            assert value["n"], value["key"]
    assert woven > 10


def test_no_interval_stands_in_a_page_outside_of_tables_figures_and_woven_values(edition):
    for name in edition.toc:
        if name.startswith("book/api"):  # examples of the library
            continue
        for node in edition.page(name).find("article").find_all(string=IN_TEXT):
            kept = {"pre", "code", "script", "style", "svg", "td", "figure"}
            around = {parent.name for parent in node.parents}
            woven = any("sense7-value" in (parent.get("class") or ()) for parent in node.parents)
            assert woven or around & kept, f"{name}: {node}"


# Tuned values


def tuned(edition):
    """Every value that the truth of the synthetic workbook calls tuned, or on which a tuned claim rests."""
    planted = {entry["key"] for entry in edition.json("data/truth.json")["planted"] if entry["tuned"]}
    claimed = {row["computed"]["key"] for row in edition.json("ledger.json") if row["tuned"] and row["computed"]}
    return (planted | claimed) & edition.values.keys()


def test_tuned_values_are_marked_below_the_cell_that_shows_them_and_at_the_head_of_the_page(synthetic):
    keys = tuned(synthetic)
    assert len(keys) > 15
    for key in keys:
        value = synthetic.values[key]
        page = synthetic.page(f"notebooks/{value['notebook']}")
        note = page.find(id=f"cell-{value['cell']}").find_next_sibling()
        assert "sense7-tuned-note" in note["class"], key
        assert re.search(rf"^Tuned above ?: .*\b{key}\b.*no evidence", text(note)), key
        head = page.find("article").find("h1").find_next_sibling().find_next_sibling()
        assert "sense7-tuned-note" in head["class"], key
        assert re.search(rf"\b{key}\b", text(head)), key


def test_a_page_that_reads_tuned_values_of_another_says_so(synthetic):
    for name, needs in synthetic.facts["made"]["needs"].items():
        shown = {key for key in tuned(synthetic) if synthetic.values[key]["notebook"] in needs}
        notes = " ".join(text(note) for note in synthetic.page(f"notebooks/{name}").select(".sense7-tuned-note"))
        assert {key for key in shown if not re.search(rf"\b{key}\b", notes)} == set(), name


def test_tuned_values_in_sentences_are_marked(synthetic):
    keys, marked = tuned(synthetic), 0
    for name in synthetic.toc:
        woven = re.findall(r"\{value\}`([^`]+)`", (ROOT / f"{name}.md").read_text("utf-8"))
        shown = [tag.get_text() for tag in synthetic.page(name).select(".sense7-value")]
        for key, said in zip(woven, shown, strict=True):
            whole = key.removesuffix(".estimate").removesuffix(".interval")
            assert said.endswith(" (tuned)") is (whole in keys), f"{name}: {key}"
            marked += whole in keys
    assert marked >= 5


def test_where_nothing_was_tuned_nothing_is_called_so(ieval):
    for name in ieval.notebooks:
        assert ieval.page(name).select(".sense7-tuned-note") == [], name
        assert "(tuned)" not in text(ieval.page(name).find("article")), name
