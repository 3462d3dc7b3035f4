"""An edition as one archive: its metadata name every file, are honest on what the data are, and can be read back."""

import csv
import hashlib
import io
import json
import os
import shutil
import zipfile
from datetime import UTC, datetime

import pytest
from typer.testing import CliRunner

from helpers import naming
from sense7 import cli
from sense7.book.editions import FORMAT, write_manifest
from sense7.errors import UserError
from sense7.sources.registry import SOURCE_SHEET
from sense7.taxonomy import SYNTHETIC_SHEET
from sense7.workbook import Sheet, write_sheets

RESULT = [{"key": "alpha", "estimate": 0.9, "n": 10, "notebook": "03-reliability"}]


@pytest.fixture
def edition(tmp_path, minimal_sheets, monkeypatch):
    """Make the folder of a small edition; give a function that exports it, and what is in the archive."""
    monkeypatch.chdir(tmp_path)

    def make(kind="own", label="workbook mine.xlsx, given by its path", sheets=None):
        folder = tmp_path / "mine"
        (folder / "results" / "reader").mkdir(parents=True, exist_ok=True)
        (folder / "data").mkdir(exist_ok=True)
        workbook = folder / "data" / "mine.xlsx"
        write_sheets(sheets or minimal_sheets(), workbook)
        notebooks = {
            "03-reliability": {"data": "../data/mine.xlsx", "draws": 2000},
            "09-poor-turn": {"draws": 2000},
        }
        made = {
            "notebooks": notebooks,
            "versions": {"sense7": "0", "Python": "3", "numpy": "2"},
            "library": "ab",
        }
        facts = {
            "format": FORMAT, "name": "mine", "kind": kind, "label": label, "file": "mine.xlsx", "verified": False,
            "sha256": hashlib.sha256(workbook.read_bytes()).hexdigest(), "parameters": "draws = 2000", "made": made,
        }  # fmt: skip
        for name, content in {
            "edition": facts,
            "ledger": [],
            "results/03-reliability": RESULT,
        }.items():
            (folder / f"{name}.json").write_text(json.dumps(content))
        (folder / "results" / "reader" / "warnings.json").write_text('["a cell of the workbook"]')
        write_manifest(folder)
        return folder

    return make


def export(*words):
    done = CliRunner().invoke(cli.app, ["export", *map(str, words), "--force"])
    if isinstance(done.exception, UserError):
        raise done.exception
    assert done.exit_code == 0, done.output
    with zipfile.ZipFile(done.stdout.strip()) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def graph(contents):
    return {
        entity["@id"]: entity for entity in json.loads(contents["ro-crate-metadata.json"])["@graph"]
    }


def references(value):
    if isinstance(value, dict):
        if set(value) == {"@id"}:
            yield value["@id"]
        for inner in value.values():
            yield from references(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from references(inner)


def test_the_archive_describes_all_that_it_holds(edition):
    contents = export(edition())
    entities = graph(contents)
    held = set(contents) - {"ro-crate-metadata.json"}
    assert held == {"edition.json", "ledger.json", "results/03-reliability.json", "croissant.json"}
    assert {part["@id"] for part in entities["./"]["hasPart"]} == held
    for path in held:
        assert entities[path]["@type"] == "File"
        assert (
            entities[path]["identifier"] == f"sha256:{hashlib.sha256(contents[path]).hexdigest()}"
        )
        assert entities[path]["contentSize"] == str(len(contents[path]))


def test_every_reference_leads_to_an_entity(edition):
    contents = export(
        edition(), "--license", "CC-BY-4.0", "--with-data", "--author", "A", "--author", "B"
    )
    metadata = json.loads(contents["ro-crate-metadata.json"])
    ids = [entity["@id"] for entity in metadata["@graph"]]
    assert len(ids) == len(set(ids)), "an entity stands once"
    assert set(references(metadata)) - set(ids) == {"https://w3id.org/ro/crate/1.1"}


def test_workbook_parameters_and_versions_are_named(edition):
    folder = edition()
    entities = graph(export(folder))
    sha256 = hashlib.sha256((folder / "data" / "mine.xlsx").read_bytes()).hexdigest()
    assert entities["#workbook"]["identifier"] == f"sha256:{sha256}"
    assert "draws = 2000" in entities["#run"]["description"]
    assert "numpy 2" in entities[entities["#run"]["instrument"]["@id"]]["description"]
    assert entities["#run"]["result"] == [
        {"@id": "ledger.json"},
        {"@id": "results/03-reliability.json"},
    ]


def test_the_edition_names_its_run_its_workbook_its_authors_and_when_it_was_made(edition):
    folder = edition()
    when = datetime(2026, 3, 4, 5, 6, 7, tzinfo=UTC)
    os.utime(folder / "edition.json", (when.timestamp(), when.timestamp()))
    entities = graph(export(folder, "--author", "A", "--author", "B"))
    root = entities["./"]
    assert root["mentions"] == {"@id": "#run"}
    assert root["isBasedOn"] == {"@id": "#workbook"}
    authors = [entities[author["@id"]] for author in root["author"]]
    assert [(author["@type"], author["name"]) for author in authors] == [
        ("Person", "A"),
        ("Person", "B"),
    ]
    assert root["datePublished"] == entities["#run"]["endTime"] == when.isoformat()


def test_no_license_is_claimed_that_nobody_gave(edition):
    entities = graph(export(edition()))
    assert entities["./"]["license"]


def test_data_of_ones_own_are_shared_under_a_license_only(edition):
    folder = edition()
    with naming.refused("--with-data: ", "--license"):
        export(folder, "--with-data")
    contents = export(folder, "--with-data", "--license", "CC-BY-4.0")
    assert contents["data/mine.xlsx"] == (folder / "data" / "mine.xlsx").read_bytes()
    assert graph(contents)["#workbook"]["license"] == {"@id": "https://spdx.org/licenses/CC-BY-4.0"}


def test_data_of_others_are_not_given_a_license_by_the_user(edition, minimal_sheets):
    sheets = [
        *minimal_sheets().values(),
        Sheet(SOURCE_SHEET, ["key", "value"], [["note", "of others"]]),
    ]
    folder = edition("third-party", "of others", sheets)
    with naming.refused("--with-data: ", "--license"):
        export(folder, "--with-data", "--license", "MIT")


def test_a_synthetic_edition_says_that_it_shows_no_findings(edition, minimal_sheets):
    sheets = [
        *minimal_sheets().values(),
        Sheet(SYNTHETIC_SHEET, ["key", "value"], [["note", "simulated"]]),
    ]
    folder = edition("synthetic", "synthetic workbook, whose numbers are no findings", sheets)
    contents = export(folder, "--with-data")
    described = graph(contents)["./"]["description"]
    assert described
    assert described in json.loads(contents["croissant.json"])["description"]
    assert graph(contents)["./"]["license"] == {"@id": "https://spdx.org/licenses/MIT"}
    assert "data/mine.xlsx" in contents


def test_the_same_edition_gives_the_same_bytes(edition, tmp_path):
    folder = edition()
    export(folder, "--out", "a.zip")
    first = (tmp_path / "a.zip").read_bytes()
    export(folder, "--out", "a.zip")
    assert (tmp_path / "a.zip").read_bytes() == first


def test_tables_are_described_as_they_are_written(edition, minimal_sheets):
    sheets = minimal_sheets()
    contents = export(edition(sheets=sheets), "--with-data", "--license", "MIT")
    described = json.loads(contents["croissant.json"])
    for file in described["distribution"]:
        assert hashlib.sha256(contents[file["contentUrl"]]).hexdigest() == file["sha256"]
    for record in described["recordSet"]:
        rows = list(
            csv.DictReader(
                io.StringIO(contents[f"data/tables/{record['name']}.csv"].decode(), newline="")
            )
        )
        assert len(rows) == len(sheets[record["name"]].rows)
        assert [field["name"] for field in record["field"]] == list(rows[0])
    tasks = {field["name"]: field for field in described["recordSet"][0]["field"]}
    assert tasks["PreTaskDesiredEmpathy"]["description"]
    assert (tasks["TaskId"]["dataType"], tasks["PreTaskImportance"]["dataType"]) == (
        "sc:Text",
        "sc:Float",
    )


@pytest.mark.filterwarnings("ignore")  # those of other libraries among each other
def test_tables_are_read_back_by_their_description(edition, tmp_path):
    mlcroissant = pytest.importorskip("mlcroissant", reason="mlcroissant is in no lock")
    contents = export(edition(), "--with-data", "--license", "MIT")
    for path, content in contents.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_bytes(content)
    data = mlcroissant.Dataset(jsonld=str(tmp_path / "croissant.json"))
    rows = list(csv.DictReader(io.StringIO(contents["data/tables/Tasks.csv"].decode(), newline="")))
    read = list(data.records(record_set="Tasks"))
    assert [row["Tasks/TaskId"].decode() for row in read] == [row["TaskId"] for row in rows]
    assert [row["Tasks/PreTaskImportance"] for row in read] == [
        float(row["PreTaskImportance"]) for row in rows
    ]


NOT_EXPORTED = {
    "an edition that is not there": (
        ["nowhere"],
        ["nowhere: ", "sense7 build WORKBOOK --name nowhere"],
    ),
    "an archive of another kind": (["mine", "--out", "a.tar"], ["--out a.tar: ", ".zip"]),
    "a licence without a name": (["mine", "--license", "my own"], ["--license 'my own': "]),
}


@pytest.mark.parametrize("reason", NOT_EXPORTED)
def test_what_cannot_be_exported(edition, reason):
    edition()
    words, named = NOT_EXPORTED[reason]
    with naming.refused(*named):
        export(*words)


@pytest.mark.parametrize("content", ["{}", "[]", "{", '{"file": "mine.xlsx"}'])
def test_an_edition_that_is_not_whole(edition, content):
    folder = edition()
    (folder / "edition.json").write_text(content)
    with naming.refused(f"{folder}: ", "edition.json", "sense7 build WORKBOOK --name mine"):
        export(folder)


def test_other_data_than_the_edition_was_made_of(edition, minimal_sheets):
    folder = edition()
    shutil.copy(folder / "edition.json", folder / "before.json")
    edition(sheets=minimal_sheets(messages={"Content": "other"}))
    shutil.move(folder / "before.json", folder / "edition.json")
    write_manifest(folder)
    with naming.refused(folder / "data" / "mine.xlsx"):
        export(folder)
