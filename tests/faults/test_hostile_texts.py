"""What people write stays text: in workbooks and CSV files, tables, figures, notebooks, and on a terminal."""

import base64
import csv
import io
import re
import sys
import warnings

import openpyxl
import pandas as pd
import pytest
from bs4 import BeautifulSoup
from hypothesis import given
from hypothesis import strategies as st
from papermill.translators import PythonTranslator
from typer.testing import CliRunner

from helpers import hostile
from sense7 import cli, figures, tables
from sense7.estimators.estimates import estimate_row, estimate_table
from sense7.figures.style import csv_text
from sense7.judge.files import read_predictions, write_predictions
from sense7.terminal import plain_lines
from sense7.workbook import Sheet, read_sheets, read_workbook, write_sheets

PAYLOADS = hostile.texts("payload")
STEERS = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
"""What a terminal obeys, or would be shown other than it is; line breaks apart."""


@pytest.fixture(scope="module")
def workbook(tmp_path_factory):
    path = tmp_path_factory.mktemp("hostile") / hostile.FILE
    write_sheets(hostile.sheets(), path)
    return path


def test_there_are_payloads_enough_and_each_has_its_word():
    assert len(set(hostile.PAYLOADS)) == len(hostile.PAYLOADS) >= 40
    assert all(hostile.word("payload", number) in text for number, text in enumerate(PAYLOADS))


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


@given(st.lists(st.text(alphabet=st.sampled_from("=+-@'\"\t\r\n;, a1\uff1d")), min_size=2, max_size=4, unique=True))
def test_any_text_can_be_had_back_from_a_csv(texts):
    rows = read_csv(csv_text(pd.DataFrame({"text": texts}, index=texts)))[1:]
    assert [[original(cell) for cell in row] for row in rows] == [[text, text] for text in texts]


def test_numbers_of_a_csv_stay_numbers():
    table = pd.DataFrame({"estimate": [-0.25, float("nan")], "n": [3, -4]}, index=["-a", "b"])
    again = pd.read_csv(io.StringIO(csv_text(table)), index_col=0)
    assert again.dtypes.tolist() == ["float64", "int64"]
    assert again.to_numpy().tolist()[0] == [-0.25, 3]
    assert again.index.tolist() == ["'-a", "b"]


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


def test_figures_draw_any_names_without_a_warning():
    table = estimate_table(
        {name: estimate_row(0.5, 0.4, 0.6, n=9, unit="share of turns", method="m") for name in PAYLOADS}, "which"
    )
    three = dict.fromkeys(PAYLOADS[:3], table.iloc[36:40])
    common = {"name": "x", "caption": "n = 9"}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        drawn = [
            figures.intervals(table, label="share (%)", **common),
            figures.intervals(three, label="share (%)", **common),
            figures.heat_map(
                pd.DataFrame(1, index=pd.Index(PAYLOADS[:12]), columns=PAYLOADS[36:41]), label="texts", **common
            ),
        ]
        pages = [(figure, BeautifulSoup(figure.html(), "html.parser")) for figure in drawn]
    for figure, page in pages:
        assert page.svg["aria-label"] == figure.alt
        drawing = {"svg", "defs", "g", "path", "use", "clippath", "rect", "text", "image", "pattern"}
        assert {tag.name for tag in page.find_all()} - drawing <= {"figure", "figcaption", "a"}
        assert [text for text in page.find_all("text") if text.find_all() or STEERS.search(text.get_text())] == []
        assert not [name for tag in page.find_all() for name in tag.attrs if name.startswith("on")]
        links = [tag[name] for tag in page.find_all() for name in ("href", "xlink:href") if tag.has_attr(name)]
        assert [link for link in links if not re.match("#f[0-9a-f]{8}-|data:(text/csv|image/png);base64,", link)] == []
        assert not STEERS.search(repr(figure))


def test_a_long_name_leaves_room_to_draw_and_stands_whole_beside_the_drawing():
    name = "very long " * 40
    table = estimate_table({name: estimate_row(1.5, 1.0, 2.0, n=9, unit="level", method="m")}, "which")
    figure = figures.intervals({"a" * 300: table, "b" * 300: table}, label="level", name="x", caption="n = 9")
    page = BeautifulSoup(figure.html(), "html.parser")
    assert name in page.svg["aria-label"]
    content = base64.b64decode(page.select_one("a[download]")["href"].partition("base64,")[2]).decode("utf-8")
    assert name in content


# Notebooks


@pytest.mark.parametrize("payload", PAYLOADS)
def test_a_parameter_reaches_a_notebook_as_the_text_it_is(payload):
    given = {}
    exec(PythonTranslator.codify({"data": payload, "prompted_condition": payload}), given)  # noqa: S102 - our question
    assert (given["data"], given["prompted_condition"]) == (payload, payload)


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


def test_every_payload_is_harmless_once_it_is_plain():
    assert not STEERS.search(plain_lines("\n".join(PAYLOADS)))
    assert plain_lines("ünïcödé — “x” 你好 🙂\nnext") == "ünïcödé — “x” 你好 🙂\nnext"


# XML


def test_what_an_xlsx_package_names_outside_is_not_asked_for(workbook, tmp_path):
    import zipfile
    from http.server import BaseHTTPRequestHandler, HTTPServer
    from threading import Thread

    asked = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            asked.append(self.path)
            self.send_error(404)

        def log_message(self, *_):
            pass

    path = tmp_path / "entities.xlsx"
    write_sheets([Sheet("Tasks", ["PID"], [["P1"]])], path)
    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        address = f"http://127.0.0.1:{server.server_port}"
        doctype = (
            f'<!DOCTYPE x SYSTEM "{address}/dtd" [<!ENTITY % p SYSTEM "{address}/parameter"> %p; '
            f'<!ENTITY out SYSTEM "{address}/entity"> <!ENTITY file SYSTEM "file:///etc/passwd">]>'
        ).encode()
        with zipfile.ZipFile(path) as package:
            parts = {name: package.read(name) for name in package.namelist()}
        with zipfile.ZipFile(path, "w") as package:
            for name, content in parts.items():
                head, end, rest = content.partition(b"?>")
                rest = rest.replace(b"P1</t>", b"P1&out;&file;</t>")
                package.writestr(name, head + end + doctype + rest if name.endswith(".xml") else content)
        try:
            read = str(read_sheets(path)["Tasks"].rows)
        except Exception as error:
            read = str(error)
        server.shutdown()
    assert asked == []
    assert "root:" not in read
