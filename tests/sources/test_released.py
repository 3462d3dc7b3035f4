"""Released ratings of other studies: pinned by their hash, credited, and read as they were released."""

import json
import shutil
import sys
from pathlib import Path

import pandas as pd
import pytest

from helpers.studies import lend_an_ear_sheets
from sense7 import cli
from sense7.errors import UserError
from sense7.sources import released, resolve

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "data" / "real" / "README.md").read_text("utf-8")
READERS = {
    "judged_conversations": released.judged_conversations,
    "published_agreement": released.published_agreement,
    "felt_heard": released.felt_heard,
    "ieval": released.ieval_conversations,
    "ieval_workers": released.ieval_workers,
}


@pytest.fixture(autouse=True)
def this_checkout(places, monkeypatch):
    """Other tests of this folder have a checkout of their own; here it is this one that is looked at."""
    monkeypatch.setenv("SENSE7_ROOT", str(ROOT))
    released.ieval_study.cache_clear()


@pytest.fixture
def changed_checkout(tmp_path, monkeypatch):
    """A checkout whose copy of a table can be changed."""
    tmp_path = tmp_path / "changed"
    shutil.copytree(ROOT / "data" / "real", tmp_path / "data" / "real")
    shutil.copyfile(ROOT / "_config.yml", tmp_path / "_config.yml")
    (tmp_path / "notebooks").mkdir()
    monkeypatch.setenv("SENSE7_ROOT", str(tmp_path))
    return tmp_path


@pytest.fixture
def check(monkeypatch, capsys):
    """Run ``sense7 check``; give its exit code, output and messages."""

    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["sense7", "check", *arguments])
        with pytest.raises(SystemExit) as caught:
            cli.main()
        shown = capsys.readouterr()
        return caught.value.code or 0, shown.out, shown.err

    return run


# The tables


def test_every_table_has_a_reader_and_every_file_is_a_table():
    assert READERS.keys() == released.RELEASED.keys()
    files = {path.name for path in (ROOT / "data" / "real").glob("*.csv")}
    assert files == {f"{name}.csv" for name in released.RELEASED}


@pytest.mark.parametrize("name", READERS)
def test_one_changed_byte_is_refused_and_the_file_named(changed_checkout, name):
    path = changed_checkout / "data" / "real" / f"{name}.csv"
    content = bytearray(path.read_bytes())
    content[-2] ^= 1
    path.write_bytes(content)
    with pytest.raises(UserError, match=rf"{name}\.csv: not the table that was released .* git checkout -- data/real/"):
        READERS[name]()
    with pytest.raises(UserError, match="not the table"):
        released.verified_digest(name)


def test_a_missing_table_is_one_clear_message(changed_checkout):
    (changed_checkout / "data" / "real" / "ieval.csv").unlink()
    with pytest.raises(UserError, match=r"real/ieval\.csv"):
        released.ieval_conversations()


def test_there_is_no_other_table():
    with pytest.raises(UserError, match=r"not a table of released ratings\. Known: judged_conversations, "):
        released.verified_digest("sense7")


def test_no_table_holds_a_text():
    """Every cell that is no number is a short code: an id, a name of a corpus, a question, an emotion."""
    for name, reader in READERS.items():
        frame = reader()
        for column in frame.select_dtypes(exclude="number"):
            assert frame[column].dropna().map(len).max() <= 30, (name, column)
            assert not frame[column].str.contains(r"[.?!,]\s").any(), (name, column)


def test_ratings_lie_on_their_scales():
    judged = released.judged_conversations()
    for rater in (*released.EXPERTS, released.CROWD, *released.JUDGES, released.PERSON):
        given = judged[rater].notna()
        inside = judged.loc[given, rater].between(judged.loc[given, "lowest"], judged.loc[given, "highest"])
        assert inside.all(), rater
    assert released.felt_heard()[list(released.FEELINGS)].isin(range(1, 8)).all(axis=None)
    assert released.ieval_workers().filter(regex=r"teq_").isin(range(5)).all(axis=None)


# Source, licence, credit


@pytest.mark.parametrize("table", released.RELEASED.values(), ids=lambda table: table.name)
def test_the_readme_says_of_each_what_the_library_pins(table):
    for text in (f"`{table.name}.csv`", table.sha256, f"{table.rows:,}", table.credit, table.licence, table.commit):
        assert text in README, text


# As a workbook


def test_ieval_as_a_workbook_is_read_to_the_number():
    study, table = released.ieval_study(), released.ieval_conversations()
    assert {warning.kind for warning in study.warnings} == {"unknown-column", "unknown-sheet"}  # src_...: whose data
    assert (len(study.conversations), study.conversations["participant"].nunique()) == (1920, 240)
    rated = study.turns.dropna(subset=["Affective"])
    assert rated["Affective"].tolist() == table["understood"].tolist()
    assert rated["Contextual"].tolist() == table["sensible"].tolist()
    assert study.participants["TEQ"].tolist() == released.ieval_workers()["teq"].tolist()


@pytest.mark.parametrize("sheets", [released.ieval_sheets, lend_an_ear_sheets])
def test_a_workbook_of_released_ratings_says_whose_they_are_and_has_no_text(sheets):
    named = {sheet.name: sheet for sheet in sheets()}
    said = dict(named["src_Source"].rows)
    assert "It is not SENSE-7" in said["note"]
    assert "Licence of the data" in said["credit"]
    messages = pd.DataFrame(named["Messages"].rows, columns=named["Messages"].header)
    assert set(messages["Content"]) == {released.NO_TEXT}


# sense7 check real


def test_check_real_describes_every_table_with_its_credit(check):
    code, out, err = check("real")
    assert (code, err) == (0, "")
    assert "None of them is SENSE-7." in out
    for table in released.RELEASED.values():
        assert f"data/{table.file}: {table.title}; {table.rows:,} rows, one per {table.row}" in out
        assert f"Verified, sha256 {table.sha256}" in out
        assert f"Licence: {table.licence}. Credit: {table.credit}" in out


def test_check_real_as_json_holds_the_same(check):
    code, out, _ = check("real", "--json")
    described = {table["name"]: table for table in json.loads(out)}
    assert code == 0
    assert described.keys() == READERS.keys()
    for name, reader in READERS.items():
        frame = reader()
        assert list(described[name]["columns"]) == list(frame)
        assert described[name]["rows"] == len(frame)
    assert described["ieval"]["columns"]["bot"]["values"] == ["green", "pink", "purple", "yellow"]


def test_check_real_takes_no_options_of_workbooks(check):
    code, out, err = check("real", "--scale", "1-7")
    assert (code, out) == (2, "")
    assert "Give no other option than --json" in err


def test_real_is_no_workbook():
    with pytest.raises(UserError, match="tables of released ratings, not a workbook of one study"):
        resolve("real")
