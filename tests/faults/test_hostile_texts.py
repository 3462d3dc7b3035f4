"""What people write stays text: in workbooks and CSV files, tables, figures, notebooks, and on a terminal."""

import csv
import io
import re
import sys

import openpyxl
import pandas as pd
import pytest
from bs4 import BeautifulSoup
from typer.testing import CliRunner

from helpers import hostile
from sense7 import cli, tables
from sense7.figures.style import csv_text
from sense7.judge.files import read_predictions, write_predictions
from sense7.workbook import read_sheets, read_workbook, write_sheets

PAYLOADS = hostile.texts("payload")
STEERS = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
"""What a terminal obeys, or would be shown other than it is; line breaks apart."""


@pytest.fixture(scope="module")
def workbook(tmp_path_factory):
    path = tmp_path_factory.mktemp("hostile") / hostile.FILE
    write_sheets(hostile.sheets(), path)
    return path


# What is written


def test_a_workbook_comes_back_with_every_text_as_it_was(workbook):
    written = {sheet.name: sheet for sheet in hostile.sheets()}
    assert read_sheets(workbook) == written
    study = read_workbook(workbook)
    assert set(study.messages["content"]) >= {text for text in hostile.texts("said") if text == text.strip()}


def test_no_cell_of_a_workbook_is_a_formula_or_a_link(workbook, tmp_path):
    frame = pd.DataFrame({"conversation": PAYLOADS, "participant": PAYLOADS, "score": 3.0, "status": "ok"})
    for column in ("model", "output", "reason"):
        frame[column] = PAYLOADS
    write_predictions(tmp_path / "judged.xlsx", frame)
    for path in (workbook, tmp_path / "judged.xlsx"):
        book = openpyxl.load_workbook(path)
        cells = [cell for sheet in book for row in sheet.iter_rows() for cell in row if cell.value is not None]
        assert len(cells) > len(PAYLOADS)
        assert {cell.data_type for cell in cells} <= {"s", "n"}
        assert [cell for cell in cells if cell.hyperlink] == []
    assert read_predictions(tmp_path / "judged.xlsx").frame["output"].tolist() == PAYLOADS


def original(cell):
    """What a cell of our CSV was."""
    return cell.removeprefix("'")


def read_csv(text):
    return list(csv.reader(io.StringIO(text, newline=""), strict=True))


@pytest.mark.parametrize("payload", PAYLOADS)
def test_no_text_of_a_csv_is_a_formula_and_each_can_be_had_back(payload):
    table = pd.DataFrame({payload: [payload, "-1"]}, index=pd.Index([payload, "plain"], name=payload))
    rows = read_csv(csv_text(table))
    assert [cell for row in rows for cell in row if re.match("[=+@\t\r\n\uff1d-]", cell)] == []
    assert [[original(cell) for cell in row] for row in rows] == [
        [payload, payload],
        [payload, payload],
        ["plain", "-1"],
    ]


def test_the_rows_of_several_tables_are_made_safe_as_well():
    table = pd.concat({"=1+1": pd.DataFrame({"n": [1]}, index=["@x"])}, names=["+a", "b"])
    assert csv_text(table).splitlines() == ['"\'+a","b","n"', '"\'=1+1","\'@x",1']


# What is shown


@pytest.mark.parametrize("payload", PAYLOADS)
def test_a_table_and_a_sentence_show_a_text_as_it_is(payload):
    table = tables.plain(pd.DataFrame({payload: [payload]}, index=pd.Index([payload], name=payload)), payload)
    for shown in (table, tables.Sentence(payload)):
        page = BeautifulSoup(shown._repr_html_(), "html.parser")
        known = {"table", "caption", "thead", "tbody", "tr", "th", "td", "p", "em"}
        assert {tag.name for tag in page.find_all()} <= known
        assert {name for tag in page.find_all() for name in tag.attrs} <= {"class", "scope"}
        for place in page.select("td, caption, em"):
            assert " ".join(place.get_text().split()) == " ".join(payload.split())
        assert not STEERS.search(repr(shown))


# The terminal


def test_nothing_that_a_command_prints_steers_the_terminal(workbook, monkeypatch, capsys, tmp_path):
    text = hostile.text("model", 50)
    frame = pd.DataFrame({"conversation": ["C1", text], "participant": ["P1", "P2"], "score": 3.0, "status": "ok"})
    frame = frame.assign(ground_truth=[3.0, 4.0], model=text)
    write_predictions(tmp_path / "a.xlsx", frame)
    write_predictions(tmp_path / f"{text[:9]}\x1b[31m.xlsx", frame.iloc[1:])
    for arguments in (
        ["check", workbook],
        ["check", workbook, "--json"],
        ["check", workbook, "--prompted", text],
        ["check", tmp_path / text[:20]],
        ["build", workbook, "--name", text],
        ["ledger", text],
        ["run", text],
        ["fetch", text],
        ["judge", "evaluate", tmp_path, "--draws", 20],
        ["judge", "evaluate", tmp_path, "--draws", 20, "--json"],
    ):
        monkeypatch.setattr(sys, "argv", ["sense7", *map(str, arguments)])
        with pytest.raises(SystemExit):
            cli.main()
        said = capsys.readouterr()
        assert said.out + said.err != ""
        assert not STEERS.search(said.out + said.err), arguments


def test_a_ledger_with_hostile_names_is_printed_as_text(monkeypatch):
    rows = [
        {
            "published": {"title": text, "contradiction": text, "grade": "A", "shown": text},
            "computed": {"estimate": text, "low": None, "high": None, "unit": "name", "reason": None},
            "verdict": "not comparable",
            "tuned": False,
            "why": text,
            "rule": {"mark": text, "why": text},
            "check": {"mark": text},
        }
        for text in PAYLOADS
    ]
    for row, text in zip(rows, PAYLOADS, strict=True):
        row["id"] = text
    monkeypatch.setattr("sense7.book.ledger.read_ledger", lambda root, name: (rows, PAYLOADS[50]))
    for arguments in (["ledger", "x"], ["ledger", "x", "--json"], ["ledger", "x", "--strict"]):
        said = CliRunner().invoke(cli.app, arguments)
        assert said.exit_code == int("--strict" in arguments), said.output  # nothing was compared with the paper
        assert not STEERS.search(said.output)
        assert "zqpayload00q" in said.output
