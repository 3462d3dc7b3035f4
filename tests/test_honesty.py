"""Honest by construction: no verdict beyond what is known of the data, no published figure typed a second time."""

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest
import yaml

from sense7 import claims, tables
from sense7.book.pages import banner
from sense7.errors import UserError
from sense7.estimators.estimates import estimate_row, estimate_table
from sense7.judge import ceiling as noise_ceiling
from sense7.judge import judges as available_judges
from sense7.judge.files import read_predictions
from sense7.judge.judges import is_planted
from sense7.loading import load
from sense7.simulate import truth
from sense7.sources import SOURCES, Provenance, write_record
from sense7.sources.registry import SOURCE_SHEET
from sense7.taxonomy import SYNTHETIC_SHEET
from sense7.workbook import Sheet, write_sheets

ROOT = Path(__file__).resolve().parents[1]
ENTRIES = yaml.safe_load((ROOT / "data" / "claims.yml").read_text("utf-8"))
PUBLISHED = {entry["id"]: entry for entry in ENTRIES}
AUTHORS = SOURCES["official"].address
FETCHED = "2026-01-01T00:00:00Z"

# "Reproduced" is for the authors' workbook alone -------------------------------------------

COUNT = next(claim for claim in claims.load_claims(ROOT / "data" / "claims.yml") if claim.id == "participants")
COUNTED = {"key": "participants", "estimate": 109, "low": None, "high": None, "n": 109, "unit": "participants"}
EQUAL = {"participants": COUNTED | {"reason": None}}


def verdict(path):
    """What an edition of a workbook would say of a count that is equal to the published one."""
    provenance = load(path).provenance
    (row,) = claims.make_ledger([COUNT], EQUAL, provenance, None)
    return row.verdict, provenance


def fetched(path):
    """The record that a fetch from the authors' repository writes."""
    return replace(Provenance.of(path, kind="official", name="official"), address=AUTHORS, fetched=FETCHED)


@pytest.fixture
def workbook(tmp_path, minimal_sheets):
    """Write a small workbook, with a sheet more if one is given; give its path."""

    def write(name="official.xlsx", *further):
        path = tmp_path / name
        write_sheets(list(minimal_sheets(further=further).values()), path)
        return path

    return write


def test_what_was_fetched_from_the_authors_repository_can_reproduce(workbook):
    """Without this, none of the tests below would prove anything."""
    path = workbook()
    write_record(path, fetched(path))
    said, provenance = verdict(path)
    assert (said, provenance.verified) == ("reproduced", True)


FORGED = {
    "a mirror's copy": {"mirror": True, "address": "https://example.org/official.xlsx"},
    "the authors' address, reached as a mirror": {"mirror": True},
    "a copy of a local file": {"mirror": True, "address": None},
    "without an address": {"address": None},
    "another repository": {"address": AUTHORS.replace("microsoft", "somebody")},
    "another branch": {"address": AUTHORS.replace("/main/", "/other/")},
    "without the time of the fetch": {"fetched": None},
    "own data": {"kind": "own"},
    "data of others": {"kind": "third-party"},
}


@pytest.mark.parametrize("record", FORGED.values(), ids=FORGED)
def test_no_other_record_leads_to_a_reproduction(workbook, record):
    path = workbook()
    write_record(path, replace(fetched(path), **record))
    said, provenance = verdict(path)
    assert said == "not comparable"
    assert not provenance.verified
    facts = {"kind": provenance.kind, "verified": provenance.verified, "label": provenance.label, "credit": ""}
    shown = banner(facts | {"file": path.name, "sha256": provenance.sha256, "fetched": provenance.fetched})
    assert "Official SENSE-7 workbook" not in shown
    if provenance.kind == "official":
        assert "UNVERIFIED" in provenance.label
        assert "Unverified copy" in shown


def test_a_workbook_given_by_its_path_reproduces_nothing_even_if_it_is_the_same(workbook):
    said, provenance = verdict(workbook())
    assert (said, provenance.kind) == ("not comparable", "own")


@pytest.mark.parametrize(
    ("sheet", "kind"),
    [
        (Sheet(SYNTHETIC_SHEET, ["key", "value"], [["seed", "1"]]), "synthetic"),
        (Sheet(SOURCE_SHEET, ["key", "value"], [["note", "of others"]]), "third-party"),
    ],
    ids=["synthetic", "of others"],
)
def test_what_a_workbook_says_of_itself_outweighs_a_forged_record(workbook, sheet, kind):
    path = workbook("official.xlsx", sheet)
    write_record(path, fetched(path))
    said, provenance = verdict(path)
    assert (said, provenance.kind, provenance.verified) == ("not comparable", kind, False)


# Published figures stand in one place: test_texts.py finds those that are typed ------

SHOWN = [
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CITATION.cff", "_config.yml")),
    *sorted((ROOT / "book").glob("*.md")),
    *sorted((ROOT / "notebooks").glob("*.md")),
]

NUMBERS = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"]
WORDS = {word: number for number, word in enumerate(NUMBERS)}
COUNTED = {
    r"(\w+) observable (?:\{term\}`)?dimensions\b": "dimensions",
    r"\bThe (\w+) dimensions\b": "dimensions",
    r"(\w+) large language models\b": "llm_conditions",
}


@pytest.mark.parametrize("pattern", COUNTED)
def test_counts_in_words_are_those_of_the_claims(pattern):
    found = [(path.name, word) for path in SHOWN for word in re.findall(pattern, path.read_text("utf-8"))]
    assert found, "nothing says it any more: remove it"
    said = {(name, WORDS.get(word.casefold(), word)) for name, word in found}
    assert {number for _, number in said} == {PUBLISHED[COUNTED[pattern]]["value"]}, said


def test_published_figures_in_code_are_those_of_the_claims():
    """Where something has to be computed with one: the noise ceiling, and the tuning of the synthetic workbook."""
    assert PUBLISHED["judge_spearman"]["value"] == noise_ceiling.PUBLISHED
    differing = {key: value for key, value in truth._PUBLISHED.items() if value != PUBLISHED[key]["value"]}
    assert differing == {}


def test_every_planted_value_near_a_published_one_is_called_tuned():
    planted = json.loads((ROOT / "data" / "synthetic_truth.json").read_text("utf-8"))["planted"]
    tuned = {entry["key"] for entry in planted if entry["tuned"]}
    named = {entry["truth"] if entry.get("truth") else entry["key"]: entry for entry in ENTRIES}
    for entry in planted:
        claim = named.get(entry["key"])
        if claim is None or claim["value"] is None or isinstance(entry["value"], str):
            continue
        near = abs(entry["value"] - claim["value"]) <= 0.05 * abs(claim["value"])
        assert not near or entry["key"] in tuned, f"{entry['key']} is near the published figure and not called tuned"


# The simulated judge ------------------------------------------------------------------------

SHIPPED = sorted((ROOT / "data" / "synthetic_judge").glob("*"))


def test_the_shipped_predictions_are_marked_by_name_in_every_row_and_by_a_sheet():
    assert len(SHIPPED) == 10
    for path in SHIPPED:
        found = read_predictions(path)
        assert found.judge == "simulated-judge"
        assert found.simulated
        assert "No model was asked" in found.marks["note"]
        assert set(found.frame["model"]) == {"simulated-judge"}
        assert found.frame["output"].str.contains("Simulated: no model was asked", regex=False).all()
        assert found.frame[["chat", "prompt"]].isna().all(axis=None), "no text of a conversation"


def test_the_truth_of_the_simulated_judge_is_the_one_beside_its_workbook():
    planted = json.loads((ROOT / "data" / "synthetic_truth.json").read_text("utf-8"))
    assert is_planted(planted, [read_predictions(path).marks for path in SHIPPED])


def test_nothing_of_a_simulated_judge_is_shown_for_data_that_are_not_synthetic(workbook):
    with pytest.raises(UserError, match="simulated judge, and this data set is not synthetic"):
        available_judges.read_runs(load(workbook("mine.xlsx")), SHIPPED[0].parent)


# Claims, intervals ------------------------------------------------------------------------


def test_a_claim_without_a_computation_is_listed_with_the_reason():
    without = [entry for entry in ENTRIES if entry["key"] is None]
    assert without
    known = claims.load_claims(ROOT / "data" / "claims.yml")
    rows = claims.make_ledger(known, {}, replace(Provenance.of(ROOT / "README.md"), kind="own"), None)
    assert [row.claim.id for row in rows] == [entry["id"] for entry in ENTRIES]
    for entry, row in zip(ENTRIES, rows, strict=True):
        assert row.rule["passed"] is None
        assert row.rule["why"] == (entry["why_not"].strip() if entry["key"] is None else row.rule["why"])
        assert row.rule["why"]


def test_a_table_whose_caption_does_not_say_what_its_intervals_are_gives_the_methods():
    rows = {
        name: estimate_row(0.5, low, 0.6, n=9, unit="levels", method=f"mean of {name}; percentile interval")
        for name, low in (("a", 0.4), ("b", 0.3))
    }
    table = estimate_table(rows, "which")
    shown = tables.estimates(table, "Means")
    assert shown.caption == "Means; mean of a; percentile interval; mean of b; percentile interval"
    assert "n" in shown.frame.columns
    assert tables.estimates(table, "Means; 95% percentile interval").caption == "Means; 95% percentile interval"
    none = estimate_table({"a": estimate_row(0.5, n=9, unit="levels", method="mean")}, "which")
    assert tables.estimates(none, "Means").caption == "Means"
