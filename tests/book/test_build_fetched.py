"""Editions of data that others published in parts: built from their name, never taken for SENSE-7."""

import hashlib
import json

import pytest

from helpers.checkout import recording
from sense7.book.build import build_edition
from sense7.book.plan import resolve_inputs
from sense7.errors import UserError
from sense7.sources import SOURCES, Source, fetch, part_files, resolve
from sense7.sources.converters import official_sheets


def convert(parts):
    texts = parts["chats.txt"].read_text("utf-8").split()
    messages = list(zip(("user", "assistant") * 2, texts, strict=True))
    tasks = [{"PID": f"P{number}", "Model": "bot", "TaskId": f"T{number}"} for number in (1, 2)]
    return official_sheets([(task, messages, {"Affective": 4}) for task in tasks])


@pytest.fixture
def theirs(checkout, tmp_path, monkeypatch):
    """Fetch a small data set of a third party; gives its name."""
    content = b"hi hello well bye"
    (tmp_path / "chats.txt").write_bytes(content)
    source = Source(
        name="theirs",
        title="Their data (Them, 2020)",
        address="https://raw.githubusercontent.com/them/theirs/0123/",
        licence="CC-BY-4.0",
        credit="Them: Their Paper.",
        kind="third-party",
        parts={"chats.txt": hashlib.sha256(content).hexdigest()},
        convert=convert,
    )
    monkeypatch.setitem(SOURCES, "theirs", source)
    monkeypatch.setenv("SENSE7_CACHE", str(tmp_path / "cache"))
    fetch("theirs", mirror=tmp_path)
    return "theirs"


def test_an_edition_is_built_by_the_name_and_reproduces_nothing(checkout, theirs):
    before = "import sense7 as s7\n\nstudy = s7.load(data)\n"
    checkout.book(code=recording("01-a", "seed_of_a", "3 + len(study.turns)", before=before))
    built = build_edition(theirs)
    facts = json.loads((built.folder / "edition.json").read_text("utf-8"))
    assert (facts["name"], facts["kind"], facts["verified"]) == ("theirs", "third-party", False)
    assert facts["label"] == "Their data (Them, 2020), converted; not SENSE-7"
    front = (built.folder / "html" / "book" / "index.html").read_text("utf-8")
    assert "Them: Their Paper. Licence of the data: CC-BY-4.0." in front
    rows = json.loads((built.folder / "ledger.json").read_text("utf-8"))
    counted = next(row for row in rows if row["id"] == "counted")
    assert counted["computed"]["estimate"] == counted["published"]["value"] == 7
    assert (counted["verdict"], counted["rule"]["why"]) == ("not comparable", "the data are not the SENSE-7 release")
    copy, provenance = resolve(built.folder / "data" / "theirs.xlsx")
    assert provenance.parts == SOURCES[theirs].pins
    assert copy.read_bytes() == resolve(theirs)[0].read_bytes()
    assert not build_edition(theirs).changed


def test_a_notebook_that_looks_at_fetched_data_has_another_key_without_them(checkout, theirs):
    checkout.book()
    checkout.notebook("01-a", recording("01-a", "seed_of_a"), sources=[theirs])

    def keys():
        inputs = resolve_inputs(str(checkout.root / "mine.xlsx"))
        return inputs.jobs["01-a"].digest, inputs.key

    notebook, edition = keys()
    assert keys() == (notebook, edition)
    chats = part_files(theirs)["chats.txt"]
    chats.write_bytes(b"changed")
    with pytest.raises(UserError, match=r"chats\.txt isn't in .* as it was published\. Run: sense7 fetch theirs"):
        keys()
    chats.unlink()
    assert keys()[0] != notebook, "as if it had never been fetched"
    assert keys()[1] != edition
