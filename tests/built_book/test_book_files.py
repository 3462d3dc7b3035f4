"""Files of a built edition: the ledger's rows, recorded values, and where each is computed."""

import functools
import importlib
import inspect
import json
import re
from pathlib import Path

import pytest
import yaml
from evidence import freeze_values

from helpers import naming
from helpers.findings import rows_of
from helpers.pages import text
from sense7 import claims
from sense7.findings.elsewhere import ieval
from sense7.loading import load
from sense7.record import format_value, read_values
from sense7.statistics.bootstrap import ParticipantBootstrap

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


def test_the_ledger_page_has_a_row_for_every_claim_with_its_cell(edition):
    for claim, row, entry in zip(CLAIMS, rows(edition), edition.json("ledger.json"), strict=True):
        name, published, computed, rule = row.find_all("td")
        for words in (claim["title"], f"Needs: {claim['needs']}", claim.get("contradiction") or ""):
            assert " ".join(words.split()) in text(name)
        for words in (f"grade {claim['grade']}", entry["published"]["shown"], claim["source"]):
            assert words in text(published)
        naming.check(text(rule), entry["state"], entry["asks"] or "")
        assert edition.facts["kind"] == "synthetic" or entry["rehearsal"] is None, entry["id"]
        if not entry["computed"]:
            assert (text(computed), row.find_all("a")) == ("-", [])
            continue
        assert format_value(entry["computed"]) in text(computed)
        (link,) = row.find_all("a")
        assert link["href"] == f"../{entry['link']}"
        page, anchor = entry["link"].split("#")
        assert page == f"notebooks/{claim['notebook']}.html"
        assert edition.page(page).select(f"#{anchor}")
        assert re.search(r"record\.(?:value|table)\(", recording_cell(edition, entry)), claim["id"]


def recording_cell(edition, entry):
    """Code of the cell that recorded a claim's value."""
    value = entry["computed"]
    for cell in edition.executed[value["notebook"]]["cells"]:
        if cell.get("execution_count") == value["cell"]:
            return "".join(cell["source"])
    return ""


def test_what_other_works_published_is_the_same_in_every_edition(edition, synthetic):
    """And all of it is reproduced but for one correlation of iEval, which its page calls larger than it is."""
    others = {
        entry["id"]: entry for entry in edition.json("ledger.json") if entry["published"]["release"]
    }
    differing = [name for name, entry in others.items() if entry["state"] == claims.State.NOT_MET]
    assert differing == ["ieval_attentive_sensible_r"]
    default = {entry["id"]: entry for entry in synthetic.json("ledger.json")}
    for name, entry in others.items():
        assert entry["computed"]["estimate"] == default[name]["computed"]["estimate"]


def test_nothing_tells_when_and_on_which_machine_it_was_built(edition):
    places = [
        str(place).encode()
        for place in {ROOT, ROOT.parent, edition.folder, Path.home()}
        if len(str(place)) > 4
    ]
    for path in edition.folder.rglob("*"):
        if not path.is_file() or path.suffix == ".xlsx":
            continue
        content = path.read_bytes()
        assert [place for place in places if place in content] == [], path
        assert b"/tmp/ipykernel" not in content, path
        if path.suffix in {".json", ".ipynb", ".html"} and path.parent.name != "_static":
            assert TIME.findall(content.decode("utf-8")) == [], path


@functools.cache
def rows_by_key(function, options, study, draws):
    """What a function returns where it is called as the book calls it: key -> row."""
    needed = inspect.signature(function).parameters
    bootstrap = ParticipantBootstrap(study.conversations["participant"], draws, 1)
    given = {"study": study, "bootstrap": bootstrap}
    arguments = {name: given[name] for name in given if name in needed}
    rows = rows_of(function(**arguments, **dict(options))).values()
    return {row["key"]: row for row in rows if row.get("key")}


def required(function):
    """Names of the parameters without a default."""
    parameters = inspect.signature(function).parameters.values()
    return {parameter.name for parameter in parameters if parameter.default is parameter.empty}


def is_estimate(estimate, recorded):
    """Whether an estimate is the recorded one."""
    if isinstance(estimate, str) or recorded is None:
        return recorded == (estimate if isinstance(estimate, str) else None)
    return estimate == pytest.approx(recorded, rel=1e-9, abs=1e-9)


def test_the_function_that_a_value_names_returns_it_under_its_key(synthetic):
    """Where it needs only a study and a bootstrap; of others the recorder refuses a key that they did not return."""
    studies = {"sense7.findings.elsewhere": ieval()}
    of_the_edition = load(synthetic.folder / "data" / synthetic.facts["file"])
    compared = 0
    for key, value in read_values(synthetic.folder / "results").items():
        module, _, name = value["computed_by"]["function"].rpartition(".")
        function = getattr(importlib.import_module(module), name)
        options = value["computed_by"]["options"]
        if not required(function) <= {"study", "bootstrap", *options}:
            continue
        call = (function, tuple(options.items()), studies.get(module, of_the_edition))
        rows = rows_by_key(*call, draws=50)
        assert key in rows, (key, value["computed_by"])
        if not is_estimate(rows[key]["estimate"], value["estimate"]):
            rows = rows_by_key(*call, draws=10_000)  # it may rest on the book's own resamples
        assert is_estimate(rows[key]["estimate"], value["estimate"]), key
        compared += 1
    assert compared > 250


# No recorded value of the synthetic edition moves unnoticed: evidence/freeze_values.py writes what is compared here.


def test_every_value_is_the_frozen_one(synthetic):
    wanted = json.loads(freeze_values.FROZEN.read_text("utf-8"))
    found = freeze_values.frozen(synthetic.folder)
    how = "Is it meant? Then run: .venv/bin/python evidence/freeze_values.py"
    assert found.keys() == wanted.keys(), how
    assert {
        key: (found[key], wanted[key])
        for key in wanted
        if not freeze_values.same(found[key], wanted[key])
    } == {}, how
