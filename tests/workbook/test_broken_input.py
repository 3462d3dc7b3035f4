"""Broken and odd input on the command line: one message with place and remedy, or counted warnings and right frames.

What is said of cells stands in the modules beside this one, of predictions and prompts in ``tests/judge``. Here stand
packages, places and bombs, each with parts of its message.
"""

import io
import os
import re
import signal
import struct
import subprocess
import sys
import zipfile

import pytest

from helpers.studies import write_study, write_tables

resource = pytest.importorskip(
    "resource", reason="pipes, devices and limits of a process are Unix's"
)
pytestmark = pytest.mark.skipif(
    not sys.platform.startswith("linux"), reason="the peak of memory is read from /proc"
)

LONGEST_MESSAGE = 6_000
"""Characters of a message: all diagnostics of a small workbook at once have room, what it holds has not."""

MEGABYTES = 400
"""What a bomb may take of memory; the library and its imports take about 100 MB."""

LONGEST_WAIT = 300
"""Seconds after which a process that waits for something is ended."""

SHEETS = {
    name: f"xl/worksheets/sheet{number}.xml"
    for number, name in enumerate(("Tasks", "Messages", "Participants"), 1)
}
TASKS, MESSAGES, _ = SHEETS.values()
SAID = "I had a bad day."
END = "</sheetData>"


class Bench:
    """A folder, and what makes clean files in it, or broken ones."""

    def __init__(self, folder, sheets):
        self.folder, self.sheets, self.path = folder, sheets, folder / "mine.xlsx"

    def file(self, name, content):
        (self.folder / name).write_bytes(content.encode() if isinstance(content, str) else content)
        return self.folder / name

    def workbook(self, **changes):
        """A workbook with changes of its columns; see ``minimal_sheets``."""
        write_study(self.sheets(**changes), self.path)
        return self.path

    def parts(self):
        with zipfile.ZipFile(self.workbook()) as package:
            return {name: package.read(name) for name in package.namelist()}

    def package(self, parts, method=zipfile.ZIP_DEFLATED):
        with zipfile.ZipFile(self.path, "w", method) as package:
            for name, content in parts.items():
                package.writestr(name, content)
        return self.path

    def with_bytes(self, change):
        """A workbook whose bytes are changed."""
        return self.file("mine.xlsx", change(self.workbook().read_bytes()))

    def changed(self, part, change):
        """A workbook one of whose parts is changed."""
        parts = self.parts()
        return self.package(parts | {part: change(parts[part])})

    def edited(self, part, old, new):
        """A workbook one of whose parts has other XML in one place."""
        old, new = (text if isinstance(text, bytes) else text.encode() for text in (old, new))

        def change(xml):
            assert old in xml, old
            return xml.replace(old, new, 1)

        return self.changed(part, change)

    def tables(self):
        """A folder of CSV tables."""
        return write_tables(self.sheets(), self.folder / "mine")

    def big(self, unit, megabytes):
        """A workbook whose second sheet holds a great many equal rows; written piece by piece."""
        parts = self.parts()
        head = parts.pop(MESSAGES).split(b"<sheetData>")[0] + b"<sheetData>"
        with zipfile.ZipFile(self.path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as package:
            for other, content in parts.items():
                package.writestr(other, content)
            with package.open(MESSAGES, "w") as stream:
                stream.write(head)
                for _ in range(megabytes):
                    stream.write(unit * (2**20 // len(unit)))
                stream.write(b"</sheetData></worksheet>")
        return self.path


@pytest.fixture
def bench(tmp_path, minimal_sheets):
    return Bench(tmp_path, minimal_sheets)


def require_refusal(found, *places):
    code, out, err = found
    assert (code, out) == (2, ""), err or out
    assert [line.startswith("sense7: ") for line in err.splitlines()].count(True) == 1, err
    assert err.startswith("sense7: ")
    assert len(err) < LONGEST_MESSAGE
    assert [place for place in places if place not in err] == [], err


def files_of(folder):
    """Every file with its content, and every other thing with its kind."""
    return {
        path: path.read_bytes() if path.is_file() else path.is_dir() for path in folder.rglob("*")
    }


# What is refused


def flipped(content):
    with zipfile.ZipFile(io.BytesIO(content)) as package:
        start = package.getinfo(MESSAGES).header_offset + 150
    return content[:start] + bytes(20) + content[start + 20 :]


def ole(stream):
    """What Office wrote before .xlsx, and writes of what it protects."""
    return (
        b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(504) + stream.encode("utf-16-le") + bytes(512)
    )


def doctype(entity):
    head = f"<!DOCTYPE w [{entity}]><worksheet".encode()
    return lambda xml: xml.replace(b"<worksheet", head, 1).replace(SAID.encode(), b"&x;", 1)


def stray(xml):
    return TASKS, END, f"{xml}{END}"


NUMBERLESS = "<row/>" * 100_000 + "<row>" + "<c/>" * 16_000 + "<c><v>1</v></c></row>"
OTHER_FILES = {
    # content -> the file's name
    b"": "mine.xlsx",
    ole("EncryptedPackage"): "mine.xlsx",
    ole(""): "mine.xlsx",
    b"PID,TaskId\nP1,C1\n": "mine.xlsx",
    b"version https://git-lfs.github.com/spec/v1\n": "mine.xlsx",
    b"%PDF-1.7\n1 0 obj\n": "mine.pdf",
    b"PID,TaskId\n1,2\n": "mine.csv",
    b"caf\xe9;b\n": "mine.csv",
}


def without_messages(bench):
    parts = bench.parts()
    del parts[MESSAGES]
    return bench.package(parts)


def pipe(bench):
    """A place on which a reader would wait for ever."""
    os.mkfifo(bench.path)
    return bench.path


def pipe_among_tables(bench):
    place = bench.tables() / "Messages.csv"
    place.unlink()
    os.mkfifo(place)
    return place.parent


INSIDE_A_TAG = f'<c x="<c/>" r="XFD1048576"><v>1</v></c>{END}'
UNREADABLE = {
    "place behind a tag inside a tag": (
        lambda b: b.edited(MESSAGES, END, INSIDE_A_TAG),
        ["sheet Messages"],
    ),
    "xml in latin-1": (
        lambda b: b.edited(MESSAGES, SAID, b"caf\xe9"),
        ["mine.xlsx", "sheet Messages", "UTF-8"],
    ),
    "stray cell without a place": (
        lambda b: b.edited(*stray(NUMBERLESS)),
        ["mine.xlsx", "sheet Tasks", "<c/>"],
    ),
    "entity from a file": (
        lambda b: b.changed(MESSAGES, doctype('<!ENTITY x SYSTEM "file:///etc/passwd">')),
        ["mine.xlsx", "sheet2.xml"],
    ),
    "truncated zip": (lambda b: b.with_bytes(lambda content: content[:-300]), ["mine.xlsx"]),
    "flipped bytes": (lambda b: b.with_bytes(flipped), ["mine.xlsx", "sheet2.xml"]),
    "part missing": (without_messages, ["mine.xlsx", "sheet Messages"]),
    "no workbook": (lambda b: b.package({"word/document.xml": b"<d/>"}), ["mine.xlsx"]),
    "pipe": (pipe, ["mine.xlsx"]),
    "device": (lambda _: "/dev/zero", ["/dev/zero"]),
    "name too long": (lambda b: b.folder / ("x" * 300) / "mine.xlsx", ["mine.xlsx"]),
    "pipe among tables": (pipe_among_tables, ["Messages.csv"]),
}
ALIASES = "draws=[&a [x, x], &b [*a, *a], &c [*b, *b], *c]"
REFUSED = {
    name: (lambda b, make=make: ["check", make(b)], places)
    for name, (make, places) in UNREADABLE.items()
} | {
    "file where a folder belongs": (
        lambda b: ["template", b.workbook() / "new.xlsx"],
        ["mine.xlsx/new.xlsx"],
    ),
    "parameter of aliases": (lambda _: ["build", "synthetic", "-p", ALIASES], ["draws"]),
    "parameter that would run": (
        lambda _: ["build", "synthetic", "-p", "seed=!!python/object/apply:os.getcwd []"],
        ["seed"],
    ),
    "edition of the folder itself": (lambda _: ["build", "."], [".xlsx"]),
}


@pytest.mark.parametrize(("content", "name"), OTHER_FILES.items())
def test_a_file_of_another_kind_is_refused(content, name, bench, sense7):
    require_refusal(sense7("check", bench.file(name, content)), name, ".xlsx")


@pytest.mark.parametrize(("make", "places"), REFUSED.values(), ids=REFUSED)
def test_what_can_not_be_used_is_refused_with_its_place_and_fix(make, places, bench, sense7):
    command = make(bench)
    before = files_of(bench.folder)
    done = sense7(*command)
    require_refusal(done, *places)
    assert files_of(bench.folder) == before


def test_a_file_that_nobody_may_read_is_refused(bench, sense7, monkeypatch):
    # What reads a workbook is imported before, as the checkout may be in a folder of root's alone.
    sense7("check", bench.workbook())
    bench.path.chmod(0)
    monkeypatch.chdir("/")
    before = os.geteuid()
    if before == 0:
        bench.folder.chmod(0o755)
        os.seteuid(65534)
    try:
        require_refusal(sense7("check", bench.path), "mine.xlsx", "Permission denied")
    finally:
        os.seteuid(before)


def test_prefixed_xml_is_read_as_any_other(bench, sense7):
    plain = sense7("check", bench.workbook())
    bench.changed(
        MESSAGES,
        lambda xml: re.sub(rb"<(/?)(\w)", rb"<\1x:\2", xml).replace(b'xmlns="', b'xmlns:x="'),
    )
    assert sense7("check", bench.path) == plain


# Bombs, and a process of its own


def limited():
    """Limits for a process: an endless loop or a flood of memory ends the test, not the machine."""
    signal.alarm(LONGEST_WAIT)
    resource.setrlimit(resource.RLIMIT_CPU, (120, 120))
    resource.setrlimit(resource.RLIMIT_AS, (8 * 2**30, 8 * 2**30))


# Not the system's own record of the largest process: it counts this one, of which a child is a copy at first.
TELLING_ITS_PEAK = """
import atexit, re, sys
status = lambda: open("/proc/self/status").read()
atexit.register(lambda: sys.stderr.write("peak: " + re.search("VmHWM:[^0-9]+([0-9]+)", status())[1]))
from sense7.cli import main
main()
"""
NUMBERED = b"<row><c><v>1</v></c></row>"
LAUGHS = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, 10))


def liar(bench):
    """A part says that it unpacks to 100 bytes, and unpacks to 256 MB."""
    content = bench.big(NUMBERED, 256).read_bytes()
    start = content.rfind(MESSAGES.encode()) - 46
    assert content[start : start + 4] == b"PK\x01\x02"
    return bench.file(
        "mine.xlsx", content[: start + 24] + struct.pack("<I", 100) + content[start + 28 :]
    )


SHARED = "xl/sharedStrings.xml"


def with_shared_text(bench, text, cells, announced=1):
    """A workbook with a text that stands in a part of its own, and cells that refer to it."""
    name = b"xmlns='http://schemas.openxmlformats.org/spreadsheetml/2006/main'"
    parts = bench.parts()
    rows = b'<row><c t="s"><v>0</v></c></row>' * cells
    shared = b"<sst %b uniqueCount='%d'><si><t>%b</t></si></sst>" % (name, announced, text)
    messages = parts[MESSAGES].replace(END.encode(), rows + END.encode())
    return bench.package(parts | {MESSAGES: messages, SHARED: shared})


def wide_and_long(bench):
    """A table whose rows are short, and each of which has a cell for every name."""
    folder = bench.tables()
    names = ",".join(f"c{number}" for number in range(16_000))
    bench.file("mine/Tasks.csv", f"{names}\n" + "1\n" * 2_000)
    return folder


CORNER = ["mine.xlsx", "sheet Tasks", "row 1,048,576", "column 16,384"]
BOMBS = {
    "zip bomb": (lambda b: b.big(NUMBERED, 520), ["mine.xlsx", "52", "MB"]),
    "that lies": (liar, ["mine.xlsx", "sheet2.xml"]),
    "billion laughs": (
        lambda b: b.changed(MESSAGES, doctype(f'<!ENTITY l0 "ha">{LAUGHS}<!ENTITY x "&l9;">')),
        ["mine.xlsx", "sheet2.xml"],
    ),
    "cell in the last corner": (
        lambda b: b.edited(*stray('<row r="1048576"><c r="XFD1048576"><v>1</v></c></row>')),
        CORNER,
    ),
    "place of ten digits": (
        lambda b: b.edited(*stray('<row r="9999999999"><c r="A9999999999"><v>1</v></c></row>')),
        ["mine.xlsx", "sheet Tasks", "9999999999"],
    ),
    "texts announced": (
        lambda b: with_shared_text(b, b"a", 1, announced=2**32 - 1),
        ["mine.xlsx", "sharedStrings.xml", "4294967295"],
    ),
    "one text in many cells": (
        lambda b: with_shared_text(b, b"a" * 32_767, 100_000),
        ["mine.xlsx", "sharedStrings.xml", "3,12", "MB"],
    ),
    "table that is wide and long": (wide_and_long, ["Tasks.csv", "row 1", "16,000", "1,625"]),
}


@pytest.mark.parametrize(("make", "places"), BOMBS.values(), ids=BOMBS)
def test_a_bomb_is_refused_in_bounded_memory_by_a_process_of_its_own(make, places, bench):
    done = subprocess.run(
        [sys.executable, "-c", TELLING_ITS_PEAK, "check", make(bench)],
        check=False,
        capture_output=True,
        text=True,
        preexec_fn=limited,
    )
    err, peak = re.fullmatch(
        r"(?s)(.*?)(?:peak: ([0-9]+))?", done.stderr
    ).groups()  # none if the process was aborted
    require_refusal((done.returncode, done.stdout, err), *places)
    assert 0 < int(peak or 0) / 2**10 < MEGABYTES
