"""Files of a built edition: the ledger's rows, recorded values, and where each is computed."""

import ast
import json
import math
import re
from pathlib import Path

import pytest
import yaml
from scripts import freeze_values

from helpers.pages import text
from sense7 import claims
from sense7.book.extensions.truths import NOT_SIMULATED
from sense7.book.ledger import source_of
from sense7.book.notebooks import NOT_RUN, load_notebook, to_ipynb
from sense7.record import format_value, read_values

RECORDED = ("key", "estimate", "low", "high", "n", "unit", "method", "reason", "notebook", "cell")

ROOT = Path(__file__).resolve().parents[2]
CLAIMS = yaml.safe_load((ROOT / "data" / "claims.yml").read_text("utf-8"))
TIME = re.compile(r"\b20\d\d-\d\d-\d\d[T ]\d\d:\d\d")


SENSE_7 = [claim for claim in CLAIMS if not claim.get("release")]
OTHERS = [claim for claim in CLAIMS if claim.get("release")]


def rows(edition):
    """Rows of the two tables, in the order of the claims: those about SENSE-7, then those about other works."""
    tables = edition.page("book/ledger").select("table.sense7-ledger")
    shown = [table.tbody.find_all("tr") for table in tables]
    assert list(map(len, shown)) == [len(SENSE_7), len(OTHERS)]
    assert CLAIMS == SENSE_7 + OTHERS
    return shown[0] + shown[1]


def test_the_ledger_page_has_a_row_for_every_claim(edition):
    shown, ledger = rows(edition), edition.json("ledger.json")
    assert len(shown) == len(CLAIMS) == len(ledger)
    for claim, row, entry in zip(CLAIMS, shown, ledger, strict=True):
        name, published, computed, rule, *check = row.find_all("td")
        assert entry["id"] == claim["id"]
        for words in (claim["title"], f"Needs: {claim['needs']}"):
            assert " ".join(words.split()) in text(name)
        assert f"Grade {claim['grade']}" in text(published)
        assert entry["published"]["shown"] in text(published)
        assert claim["source"] in text(published)
        assert (entry["rule"]["asks"] or "") in text(rule)
        assert any(cell.select_one(".sense7-tuned") for cell in check) is entry["tuned"]
        (badge,) = row.select(".sense7-badge")
        assert text(badge) == entry["rule"]["mark"]
        assert [text(mark) for mark in row.select(".sense7-check")] == [one["mark"] for one in [entry["check"]] if one]
        assert edition.facts["kind"] == "synthetic" or entry["check"] is None, entry["id"]
        if entry["computed"]:
            assert format_value(entry["computed"]) in text(computed)
        else:
            assert text(computed) == "-"


def test_the_contradiction_is_shown(edition):
    contradicting = {claim["id"]: claim["contradiction"] for claim in CLAIMS if claim.get("contradiction")}
    assert contradicting
    for claim, row in zip(CLAIMS, rows(edition), strict=True):
        assert ("Contradiction:" in text(row)) is (claim["id"] in contradicting)
        if claim["id"] in contradicting:
            assert " ".join(contradicting[claim["id"]].split()) in text(row)


def test_every_computed_row_links_to_the_cell_that_recorded_it(edition):
    linked = 0
    for claim, row, entry in zip(CLAIMS, rows(edition), edition.json("ledger.json"), strict=True):
        if not entry["computed"]:
            assert row.find_all("a") == []
            continue
        (link,) = row.find_all("a")
        assert link["href"] == f"../{entry['link']}"
        page, anchor = entry["link"].split("#")
        assert page == f"notebooks/{claim['notebook']}.html"
        assert edition.page(page).find(id=anchor) is not None, entry["link"]
        cells = edition.executed[claim["notebook"]]["cells"]
        (code,) = ("".join(cell["source"]) for cell in cells if f"cell-{cell.get('execution_count')}" == anchor)
        assert re.search(r"record\.(?:value|table)\(", code), f"{claim['id']}: {anchor} records nothing"
        linked += 1
    assert linked >= 8


def test_verdicts_are_those_that_the_data_allow(edition):
    ledger = edition.json("ledger.json")
    assert edition.facts["kind"] in {"synthetic", "own"}
    own = [entry for entry in ledger if not entry["published"]["release"]]
    assert {entry["verdict"] for entry in own} == {claims.NOT_COMPARABLE}
    assert any(entry["check"] for entry in own) is (edition.facts["kind"] == "synthetic")
    checks = [entry["rule"]["passed"] for entry in ledger if entry["published"]["kind"] == claims.CHECK]
    assert checks == [False]
    others = [entry for entry in ledger if entry["published"]["release"]]
    assert {entry["verdict"] for entry in others} == {claims.REPRODUCED, claims.DIFFERS}
    assert all(entry["published"]["of"] != "SENSE-7" and not entry["tuned"] for entry in others)
    assert edition.facts["verdicts"].startswith("Ledger: ")
    assert edition.facts["verdicts_of_other_works"].startswith("Other works, from the numbers that they released: ")
    for tally in (edition.facts["verdicts"], edition.facts["verdicts_of_other_works"]):
        assert tally in text(edition.page("book/ledger").find("article"))
    assert edition.facts["verdicts"] in text(edition.page("book/index").find("article"))


def test_what_other_works_published_is_the_same_in_every_edition(edition, synthetic):
    """And all of it is reproduced but for one correlation of iEval, which its page calls larger than it is."""
    others = {entry["id"]: entry for entry in edition.json("ledger.json") if entry["published"]["release"]}
    differing = [name for name, entry in others.items() if entry["verdict"] == claims.DIFFERS]
    assert differing == ["ieval_attentive_sensible_r"]
    default = {entry["id"]: entry for entry in synthetic.json("ledger.json")}
    for name, entry in others.items():
        assert entry["computed"]["estimate"] == default[name]["computed"]["estimate"]


def test_the_252_values_of_four_corpora_are_reproduced_and_each_can_be_seen(synthetic):
    counted = [row for claim, row in zip(CLAIMS, rows(synthetic), strict=True) if claim["unit"] == "published values"]
    figures = [item for row in counted for item in row.select("details li")]
    assert (len(counted), len(figures)) == (8, 252)
    assert not [item for item in figures if "not the same" in text(item)]
    for item in figures:
        published, here = re.search(r"published (\S+), here (\S+)$", text(item)).groups()
        assert abs(float(published) - float(here)) <= 0.005 + 1e-9


def test_what_was_planted_in_the_synthetic_workbook_is_held_against_what_was_found(synthetic):
    ledger = synthetic.json("ledger.json")
    planted = {entry["key"] for entry in synthetic.json("data/truth.json")["planted"]}
    held = [entry for entry in ledger if entry["check"]]
    computed = [entry for entry in ledger if entry["computed"] and not entry["published"]["release"]]
    unheld = [entry for entry in computed if not entry["check"] and entry["published"]["kind"] != claims.CHECK]
    assert [entry["id"] for entry in unheld if entry["computed"]["key"] in planted] == []
    assert len(held) >= 8
    for entry in held:
        low, high = entry["computed"]["low"], entry["computed"]["high"]
        if low is not None:  # else judged by its name, its count, or its spread over simulated studies
            assert (low <= entry["truth"] <= high) is entry["check"]["passed"], entry["id"]
    assert any(entry["tuned"] for entry in held)


def test_one_sentence_on_tuning_stands_above_the_table_and_none_in_its_rows(edition):
    article = text(edition.page("book/ledger").find("article"))
    assert article.count("no evidence for anything") == any(row["tuned"] for row in edition.json("ledger.json"))
    assert [row["id"] for row in edition.json("ledger.json") if "tuned" in f"{row['rule']} {row['check']}"] == []


def test_what_is_implied_stands_on_simulated_data_alone(edition):
    simulated = edition.facts["kind"] == "synthetic"
    for name in edition.notebooks:
        (table,) = edition.page(name).select("table.sense7-values")
        heads = [text(head) for head in table.thead.find_all("th")]
        assert simulated or "Implied" not in heads, name
    assert (NOT_SIMULATED in text(edition.page("book/ledger"))) is not simulated


def test_recorded_values_have_what_other_tools_rely_on(edition):
    files = sorted((edition.folder / "results").glob("*.json"))
    assert [path.stem for path in files] == sorted(edition.executed)
    keys = []
    for path in files:
        values = json.loads(path.read_text("utf-8"))
        assert isinstance(values, list)
        assert values, f"{path.name} holds nothing"
        for value in values:
            assert tuple(value) == RECORDED + ("listed",) * (value["unit"] == "published values" and "listed" in value)
            keys.append(value["key"])
            assert value["notebook"] == path.stem
            numbers = [value[name] for name in ("estimate", "low", "high")]
            assert all(number is None or isinstance(number, str) or math.isfinite(number) for number in numbers)
            assert (value["low"] is None) == (value["high"] is None)
            if value["low"] is not None:
                assert value["low"] <= value["estimate"] <= value["high"], value["key"]
            if value["estimate"] is not None:
                assert isinstance(value["n"], int), value["key"]
                assert value["unit"]
                assert value["method"]
            else:
                assert value["low"] is None
                assert value["reason"]
    assert len(keys) == len(set(keys))


def code_cells(node):
    return [cell for cell in node["cells"] if cell["cell_type"] == "code"]


def test_the_notebooks_were_executed_from_first_to_last(edition):
    """Without this, comparing notebooks with themselves would prove nothing."""
    assert sorted(f"notebooks/{name}" for name in edition.executed) == sorted(edition.notebooks)
    for name, node in edition.executed.items():
        cells = code_cells(node)
        run = [cell for cell in cells if "skip-execution" not in cell["metadata"].get("tags", [])]
        assert [cell["execution_count"] for cell in run] == list(range(1, len(run) + 1)), name
        given = node["metadata"]["papermill"]["parameters"]
        paths = {"data": f"../data/{edition.facts['file']}", "results": "../results"}
        if "data" not in load_notebook(ROOT / "notebooks" / f"{name}.md").defaults:
            paths.pop("data")  # it looks at other data than the edition's, or at none
        assert given | paths == given
        (injected,) = [cell for cell in cells if "injected-parameters" in cell["metadata"].get("tags", [])]
        assert all(path in "".join(injected["source"]) for path in paths.values())
        # Cells by hand print; all others show tables and figures.
        shown = [cell for cell in cells if "by-hand" not in cell["metadata"].get("tags", [])]
        outputs = [output for cell in shown for output in cell["outputs"]]
        assert len(outputs) >= 1
        assert all(output["output_type"] == "execute_result" for output in outputs), name
        assert {output["output_type"] for output in outputs} <= {"execute_result", "display_data"}, "warnings or errors"


def test_what_was_executed_is_what_lies_in_the_repository(edition):
    for name, node in edition.executed.items():
        source = json.loads(to_ipynb(load_notebook(ROOT / "notebooks" / f"{name}.md")))
        cells = [cell for cell in node["cells"] if "injected-parameters" not in cell["metadata"].get("tags", [])]
        ran = [re.sub(rf"\A{re.escape(NOT_RUN)}.*\n", "", "".join(cell["source"])) for cell in cells]
        assert ran == ["".join(cell["source"]) for cell in source["cells"]], name


def test_nothing_tells_when_and_on_which_machine_it_was_built(edition):
    places = [str(place).encode() for place in {ROOT, ROOT.parent, edition.folder, Path.home()} if len(str(place)) > 4]
    for path in edition.folder.rglob("*"):
        if not path.is_file() or path.suffix == ".xlsx":
            continue
        content = path.read_bytes()
        assert [place for place in places if place in content] == [], path
        assert b"/tmp/ipykernel" not in content, path
        if path.suffix in {".json", ".ipynb", ".html"} and path.parent.name != "_static":
            assert TIME.findall(content.decode("utf-8")) == [], path


def test_the_edition_holds_its_data_and_nothing_unknown(edition):
    assert {path.name for path in edition.folder.iterdir()} == {
        "data",
        "edition.json",
        "html",
        "ledger.json",
        "manifest.json",
        "notebooks",
        "results",
        *(["predictions"] if edition.facts["kind"] == "synthetic" else []),  # of the simulated judge
    }
    assert (edition.folder / "data" / edition.facts["file"]).is_file()


@pytest.mark.parametrize("name", ["edition.json", "ledger.json"])
def test_files_for_other_tools_are_plain_json(edition, name):
    def refuse(constant):
        raise AssertionError(constant)

    json.loads((edition.folder / name).read_text("utf-8"), parse_constant=refuse)


# Every recorded key leads to a function, and its line is where it says.


@pytest.fixture(scope="module")
def sources(synthetic):
    values = read_values(synthetic.folder / "results")
    folder = synthetic.folder / "notebooks"
    return {key: source_of(folder / f"{value['notebook']}.ipynb", value) for key, value in values.items()}


def test_every_recorded_key_leads_to_a_function(sources):
    assert [key for key, source in sources.items() if source is None] == []
    defined = {
        source.file: {
            node.name
            for node in ast.parse(source.file.read_text("utf-8")).body
            if isinstance(node, (ast.FunctionDef, ast.ClassDef))
        }
        for source in sources.values()
    }
    assert all(source.function.rpartition(".")[2] in defined[source.file] for source in sources.values())


def test_the_line_has_the_key_or_begins_the_function(sources):
    for key, source in sources.items():
        line = source.file.read_text("utf-8").splitlines()[source.line - 1]
        assert key in line or source.function.rpartition(".")[2] in line, (key, str(source))


@pytest.mark.parametrize(
    ("key", "function"),
    [
        ("importance_cognitive", "findings.importance.importance_shares"),
        ("importance_smallest_total", "findings.importance.smallest_total"),
        ("alpha_turn", "findings.reliability"),
    ],
)
def test_known_keys_lead_where_they_are_computed(sources, key, function):
    assert sources[key].function.startswith(f"sense7.{function}")


# No recorded value of the synthetic edition moves unnoticed: scripts/freeze_values.py writes what is compared here.


def test_every_value_is_the_frozen_one(synthetic):
    wanted = json.loads(freeze_values.FROZEN.read_text("utf-8"))
    found = freeze_values.frozen(synthetic.folder)
    assert found.keys() == wanted.keys()
    assert {key: (found[key], wanted[key]) for key in wanted if not same(found[key], wanted[key])} == {}


def same(one, other):
    """Sums of other processors and libraries differ in the last digits."""
    for kind in ("estimate", "low", "high", "n"):
        if isinstance(other[kind], float) and isinstance(one[kind], float):
            if one[kind] != pytest.approx(other[kind], rel=1e-7, abs=1e-9):
                return False
        elif one[kind] != other[kind]:
            return False
    return True
