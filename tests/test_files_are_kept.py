"""What a user has is never replaced unasked: by no verb, and also if it came while the verb was at work."""

import json
import os
import shlex
from pathlib import Path

import pytest
from typer.testing import CliRunner

from helpers import naming
from sense7 import cli
from sense7.errors import UserError
from sense7.files import digest_of_file, note_as_written, replacing, write_whole

ROOT = Path(__file__).resolve().parents[1]
SYNTHETIC = str(ROOT / "data" / "synthetic.xlsx")
RUN = "simulated-judge-iter1.xlsx"

# Verb -> its words, and what it would replace. Where the latter ends with /, a folder with a file of the user's.
WRITERS = {
    "simulate": ("simulate --out a.xlsx", "a.xlsx"),
    "simulate: the judge": ("simulate --out a.xlsx", "a_judge/"),
    "template": ("template a.xlsx", "a.xlsx"),
    "import": ("import chats.jsonl --out a.jsonl", "a.jsonl"),
    "import: a workbook": ("import chats.jsonl --out a.xlsx", "a.xlsx"),
    "instrument": ("instrument study.yml --conversations chats.jsonl --out a.html", "a.html"),
    "gather": ("gather downloads --out a.xlsx", "a.xlsx"),
    "site": ("site out synthetic", "out/"),
    "run": ("run 00 --out a.ipynb", "a.ipynb"),
    "run: the values": ("run 00 --out a.ipynb", "a.results/"),
    "judge learn": (
        f"judge learn --data '{SYNTHETIC}' --out out",
        "out/learned-judge-baseline-iter1.xlsx",
    ),
    "judge calibrate": (
        f"judge calibrate '{ROOT}/data/synthetic_judge/{RUN}' --out out",
        f"out/{RUN}",
    ),
}


def contents(folder):
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize(("words", "place"), WRITERS.values(), ids=WRITERS)
def test_what_is_there_stays_and_is_named(words, place, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "study.yml").write_text("title: Mine\n")
    messages = [{"role": role, "content": "a"} for role in ("user", "assistant")]
    (tmp_path / "chats.jsonl").write_text(json.dumps({"messages": messages}))
    mine = Path(place) / "mine.txt" if place.endswith("/") else Path(place)
    mine.parent.mkdir(exist_ok=True)
    mine.write_text("mine")
    before = contents(tmp_path)
    done = CliRunner().invoke(cli.app, shlex.split(words))
    assert isinstance(done.exception, UserError), done.output
    assert place.rstrip("/") in str(done.exception)
    assert contents(tmp_path) == before


@pytest.mark.parametrize(
    "make", [Path.touch, lambda path: path.symlink_to("nowhere"), os.mkfifo, Path.mkdir]
)
def test_what_comes_while_a_file_is_written_stays(make, tmp_path):
    path = tmp_path / "a.txt"

    def write():
        with replacing(path) as temporary:
            temporary.write_text("new")
            make(path)

    with pytest.raises(UserError, match=path.name):
        write()
    assert [file.name for file in tmp_path.iterdir()] == ["a.txt"]
    assert path.is_symlink() or not path.is_file() or path.read_text() == ""


@pytest.mark.parametrize("there", [True, False])
def test_a_link_stays_one_and_its_file_is_replaced(there, tmp_path):
    (tmp_path / "other disk").mkdir()
    file = tmp_path / "other disk" / "b.txt"
    if there:
        file.write_text("old")
    link = tmp_path / "a.txt"
    link.symlink_to(Path("other disk", "b.txt"))
    with naming.refused(link, "--force"):
        write_whole(link, "new")
    write_whole(link, "new", replace=True)
    assert link.readlink() == Path("other disk", "b.txt")
    assert file.read_text() == link.read_text() == "new"
    assert sorted(tmp_path.rglob("*.txt")) == [link, file]


def test_a_file_of_ours_is_replaced_until_it_is_edited(tmp_path):
    path = tmp_path / "a.txt"
    for text in ("first", "second"):
        with replacing(path, own=True) as temporary:
            temporary.write_text(text)
    path.write_text("edited")
    with naming.refused(path, "sense7 wrote", "--out"), replacing(path, own=True) as temporary:
        temporary.write_text("third")
    assert path.read_text() == "edited"


def test_whichever_file_a_killed_process_leaves_is_as_it_was_written(tmp_path):
    path = tmp_path / "a.txt"
    with replacing(path, own=True) as temporary:
        temporary.write_text("first")
    (tmp_path / "b.txt").write_text("second")
    note_as_written(
        tmp_path, {"a.txt": digest_of_file(tmp_path / "b.txt")}
    )  # and killed before it was moved
    with replacing(path, own=True) as temporary:
        temporary.write_text("third")
    assert path.read_text() == "third"
