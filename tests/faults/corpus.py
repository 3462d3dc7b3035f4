"""Broken and odd input on the command line: one row for each, whose name says what is wrong.

The function of a row gets a :class:`Bench` to make files with, and gives the arguments of the command line.
``said.yml`` has the parts of the one message by which it is refused: the place and how to fix it. ``Read`` says which
warnings are counted, and how the frames differ from those of the clean workbook: in the touched cells and nowhere else.
What each kind of warning says, and which cells are levels, is asserted of the reader itself in ``tests/workbook``.
"""

import contextlib
import csv
import gc
import io
import json
import os
import re
import resource
import struct
import sys
import warnings
import zipfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import yaml

from sense7.workbook import Sheet, write_sheets

WORDS = yaml.safe_load(Path(__file__).with_name("said.yml").read_text("utf-8"))
NAN = float("nan")
NOBODY = 65534
SHEETS = {"Tasks": "sheet1", "Messages": "sheet2", "Participants": "sheet3"}


@dataclass(frozen=True)
class Case:
    """What is done, and what must come of it.

    Refused: exit code 2 and one message with these words; nothing is written. Otherwise exit code 0, these kinds of
    warnings with their counts, and the clean frames but for what ``touch`` changes; of what is no workbook these words
    in what is printed. A costly one runs in a process of its own, whose memory is measured.
    """

    name: str
    make: Callable[["Bench"], list]
    refused: bool
    around: Callable[["Bench"], contextlib.AbstractContextManager]
    costly: bool = False
    touch: Callable[[dict], None] | None = None
    warnings: Mapping[str, int] = field(default_factory=dict)

    @property
    def words(self) -> list[str]:
        """Parts of the message or the output, as said.yml has them."""
        return WORDS[self.name].split(" … ") if self.name in WORDS else []


CASES: list[Case] = []


def untouched(bench: "Bench") -> contextlib.AbstractContextManager:
    """Nothing is different while the command runs."""
    return contextlib.nullcontext()


def refused(name, make, around=untouched, costly=False):
    CASES.append(Case(name, make, True, around, costly))


def read(name, make, touch=None, **warnings):
    counts = {kind.replace("_", "-"): count for kind, count in warnings.items()}
    CASES.append(Case(name, make, False, untouched, touch=touch, warnings=counts))


class Bench:
    """A folder, and what makes clean files in it."""

    def __init__(self, folder: Path, sheets: Callable):
        self.folder, self.sheets = folder, sheets

    def file(self, name: str, content: bytes | str) -> Path:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    def workbook(self, **changes) -> Path:
        """A workbook with changes of its columns; see ``minimal_sheets``."""
        write_sheets(self.sheets(**changes), self.folder / "mine.xlsx")
        return self.folder / "mine.xlsx"

    def parts(self) -> dict[str, bytes]:
        with zipfile.ZipFile(self.workbook()) as package:
            return {name: package.read(name) for name in package.namelist()}

    def package(self, parts: Mapping[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> Path:
        with zipfile.ZipFile(self.folder / "mine.xlsx", "w", method) as package:
            for name, content in parts.items():
                package.writestr(name, content)
        return self.folder / "mine.xlsx"

    def changed(self, part: str, change: Callable[[bytes], bytes]) -> Path:
        """A workbook one of whose parts is changed."""
        parts = self.parts()
        return self.package(parts | {part: change(parts[part])})

    def edited(self, sheet: str, old: str, new: str | bytes) -> Path:
        """A workbook whose sheet has other XML in one place."""
        new = new.encode() if isinstance(new, str) else new
        return self.changed(f"xl/worksheets/{SHEETS[sheet]}.xml", lambda xml: b"".join(cut(xml, old.encode(), new)))

    def pipe(self, name: str) -> Path:
        """A pipe that nobody writes to, on which a reader would wait for ever."""
        os.mkfifo(self.folder / name)
        return self.folder / name

    def link(self, name: str, target: str) -> Path:
        (self.folder / name).symlink_to(self.folder / target)
        return self.folder / name

    def tables(self, **changes) -> Path:
        """A folder of CSV tables."""
        for sheet in self.sheets(**changes).values():
            text = io.StringIO()
            csv.writer(text).writerows([sheet.header, *sheet.rows])
            self.file(f"mine/{sheet.name}.csv", text.getvalue())
        return self.folder / "mine"

    def predictions(self, name: str = "model-prompt-iter1.csv", **columns) -> Path:
        """A prediction file of four conversations; ``...`` removes a column."""
        known = {
            "TaskId": ["C1", "C2", "C3", "C4"],
            "PID": ["P1", "P1", "P2", "P3"],
            "IS_EMPATHY": ["4", "5", "4", "2"],
            "ground-truth": ["4.5", "4.5", "4.5", "4.5"],
        } | {name.replace("_TRUTH", "ground-truth"): cells for name, cells in columns.items()}
        kept = {column: cells for column, cells in known.items() if cells is not ...}
        rows = [list(row) for row in zip(*kept.values(), strict=True)]
        if name.endswith(".xlsx"):
            write_sheets([Sheet("results", list(kept), rows)], self.folder / name)
            return self.folder / name
        return self.file(name, "\n".join(",".join(row) for row in [list(kept), *rows]) + "\n")


def cut(content: bytes, old: bytes, new: bytes) -> tuple[bytes, bytes, bytes]:
    """The content up to the first place of some bytes, what is put there, and the rest."""
    before, found, after = content.partition(old)
    assert found, old
    return before, new, after


def check(path, *options) -> list:
    return ["check", path, *options]


def evaluate(*paths) -> list:
    return ["judge", "evaluate", *paths, "--draws", "20"]


def first_turn(cell, column="Affective"):
    """A column of Messages whose first assistant row holds this cell."""
    return {"messages": {column: [None, cell] + [None, "Very good"] + [None, "good", None, "Very good"] * 3}}


def change_turn(level, state="unreadable", column="Affective"):
    def touch(frames):
        frames["turns"].loc[0, column] = level
        frames["turns"].loc[0, f"{column}_state"] = state

    return touch


def change(frame, rows, column, value):
    def touch(frames):
        frames[frame].loc[rows, column] = value

    return touch


# Workbooks: what command line and file add to the reader -------------------------------------

GOOD, SECONDS, SAID = (
    '<c r="H3" t="inlineStr"><is><t>good</t></is></c>',
    '<c r="C3"><v>20.0</v></c>',
    "I had a bad day.",
)
MESSAGES = "xl/worksheets/sheet2.xml"
MANY_NAMES = b"".join(b'<sheet name="T%d" sheetId="%d" r:id="rId1"/>' % (number, number + 9) for number in range(9999))


def of_four(*names):
    """TaskIds of 16 messages."""
    return {"messages": {"TaskId": [name for name in names for _ in range(4)]}}


def only(*conversations):
    """Touch: what is left where the others have no messages."""

    def touch(frames):
        for frame in ("messages", "turns"):
            kept = frames[frame]["conversation"].isin(conversations)
            frames[frame] = frames[frame][kept].reset_index(drop=True)

    return touch


def without_seconds(frames):
    frames["messages"].loc[1, "seconds"] = NAN
    frames["turns"].loc[0, "seconds"] = NAN


def rating(xml):
    """A check of a workbook with other XML in Messages!H3."""
    return lambda b: check(b.edited("Messages", GOOD, f'<c r="H3"{xml}</c>'))


def part(name, change):
    return lambda b: check(b.changed(name, change))


refused("sheet missing", lambda b: check(b.workbook(tasks=None)))
read(
    "200,000 rows of formats",
    lambda b: check(
        b.edited(
            "Messages",
            "</sheetData>",
            "".join(f'<row r="{row}" s="1" customFormat="1"><c r="A{row}" s="1"/></row>' for row in range(20, 200_000))
            + "</sheetData>",
        )
    ),
)
read(
    "empty texts beyond the data",
    lambda b: check(
        b.edited("Tasks", "</sheetData>", '<row r="40"><c r="Z40" t="inlineStr"><is><t></t></is></c></row></sheetData>')
    ),
)
read(
    "prefixed xml",
    part(MESSAGES, lambda xml: re.sub(rb"<(/?)(\w)", rb"<\1x:\2", xml).replace(b'xmlns="', b'xmlns:x="')),
)
read(
    "rating misspelt",
    lambda b: check(b.workbook(**first_turn("gud")), "--allow-unreadable"),
    change_turn(NAN),
    unknown_word=1,
)
refused("ratings misspelt", lambda b: check(b.workbook(**first_turn("gud"))))
read("formula without value", rating("><f>2+2</f><v></v>"), change_turn(NAN, "absent"), formula_without_value=1)
read("formula of an empty text", rating(' t="str"><f>IF(1,"","x")</f><v></v>'), change_turn(NAN, "absent"))
read("error in other quotes", rating(" t='e'><f>1/0</f><v>#DIV/0!</v>"), change_turn(NAN, "absent"), error_cell=1)
refused("conversation twice", lambda b: check(b.workbook(tasks={"TaskId": ["C1", "C2", "C1", "C4"]})))
read(
    "messages of no conversation",
    lambda b: check(b.workbook(**of_four("C1", "C2", "C3", "X9"))),
    only("C1", "C2", "C3"),
    orphan=4,
    no_message=1,
)
for digits in ("1e999", "NaN"):
    read(
        f"time {digits}",
        lambda b, digits=digits: check(b.edited("Messages", SECONDS, f'<c r="C3"><v>{digits}</v></c>')),
        without_seconds,
        not_a_number=1,
    )
read(
    "carriage return escaped",
    lambda b: check(b.edited("Messages", SAID, "a_x000D_\nb")),
    change("messages", 0, "content", "a\r\nb"),
)
read(
    "text in several styles, with a reading aid",
    lambda b: check(
        b.edited(
            "Messages",
            f"<t>{SAID}</t>",
            '<r><t>I had</t></r><r><rPr><b/></rPr><t xml:space="preserve"> a bad day.</t></r>'
            '<rPh sb="0" eb="1"><t>X</t></rPh>',
        )
    ),
)

# Packages -----------------------------------------------------------------------------------


def encrypted(content: bytes) -> bytes:
    content = bytearray(content)
    for start in [found.start() for found in re.finditer(rb"PK\x01\x02", bytes(content))]:
        content[start + 8] |= 1
    return bytes(content)


def flipped(content: bytes) -> bytes:
    with zipfile.ZipFile(io.BytesIO(content)) as package:
        start = package.getinfo(MESSAGES).header_offset + 150
    return content[:start] + bytes(20) + content[start + 20 :]


def ole(stream: str) -> bytes:
    """What Office wrote before .xlsx, and writes of what it protects."""
    return b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(504) + stream.encode("utf-16-le") + bytes(512)


def whole_file(change):
    return lambda b: check(b.file("mine.xlsx", change(b.workbook().read_bytes())))


refused("zero byte in the xml", lambda b: check(b.edited("Messages", SAID, "a\0b&#0;")))
refused("truncated zip", whole_file(lambda content: content[:-300]))
refused("flipped bytes", whole_file(flipped))
refused("encrypted zip", whole_file(encrypted))
refused(
    "other zip mine.docx", lambda b: check(b.package({"word/document.xml": b"<d/>"}).rename(b.folder / "mine.docx"))
)
refused("part missing", lambda b: check(b.package({name: xml for name, xml in b.parts().items() if name != MESSAGES})))
refused("part twice but for case", lambda b: check(b.package(b.parts() | {MESSAGES.upper(): b""})))
refused("other compression", lambda b: check(b.package(b.parts(), zipfile.ZIP_LZMA)))
refused("xml cut short", part(MESSAGES, lambda xml: xml[:3000]))
refused("xml in utf-16", part(MESSAGES, lambda xml: xml.decode().replace("UTF-8", "UTF-16").encode("utf-16")))
refused(
    "one part under thousands of names",
    part("xl/workbook.xml", lambda xml: b"".join(cut(xml, b"</sheets>", MANY_NAMES + b"</sheets>"))),
)
for name, old, new in (
    ("place behind a tag inside a tag", "</sheetData>", '<c x="<c/>" r="XFD1048576"><v>1</v></c></sheetData>'),
    ("xml in latin-1", SAID, b"caf\xe9"),
    ("shared text that is not there", GOOD, '<c r="H3" t="s"><v>99</v></c>'),
    ("type of cell unknown", SECONDS, '<c r="C3" t="zz"><v>20.0</v></c>'),
    ("place of a cell unreadable", '<c r="C3"><v>', '<c r="3C"><v>'),
):
    refused(name, lambda b, old=old, new=new: check(b.edited("Messages", old, new)))
for name, content in (
    ("mine.xlsx", b""),
    ("mine.xlsx", ole("EncryptedPackage")),
    ("mine.xlsx", "PID,TaskId\nP1,C1\n"),
    ("mine.pdf", b"%PDF-1.7\n1 0 obj\n"),
    ("mine.xlsx", "version https://git-lfs.github.com/spec/v1\noid sha256:0\n"),
):
    refused(
        f"{name} of {content[:9]!r}, {len(content)}", lambda b, name=name, content=content: check(b.file(name, content))
    )

# Places -------------------------------------------------------------------------------------


@contextlib.contextmanager
def as_nobody(bench: Bench) -> Iterator[None]:
    """Run as a user who may read nothing that is not for all."""
    before = os.geteuid()
    if before == 0:
        bench.folder.chmod(0o755)
        os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(before)


@contextlib.contextmanager
def full_disk(bench: Bench) -> Iterator[None]:
    """No file can grow beyond a few bytes: what a full disk is to a program that writes."""
    limits, before = resource.getrlimit(resource.RLIMIT_FSIZE), sys.dont_write_bytecode
    sys.dont_write_bytecode = True  # Python would leave a part of a module's, and stumble over it ever after
    resource.setrlimit(resource.RLIMIT_FSIZE, (64, limits[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        sys.dont_write_bytecode = before
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # XlsxWriter leaves the files that it could not fill to the collector
            gc.collect()


def forbidden(bench):
    path = bench.workbook()
    path.chmod(0)
    return check(path)


refused("nothing there", lambda b: check(b.folder / "none.xlsx"))
refused("dangling link", lambda b: check(b.link("mine.xlsx", "gone.xlsx")))
refused("pipe", lambda b: check(b.pipe("pipe.xlsx")))
refused("device", lambda _: check("/dev/zero"))
refused("name too long", lambda b: check(b.folder / ("x" * 300) / "mine.xlsx"))
refused("no permission", forbidden, around=as_nobody)
refused("full disk, template", lambda b: ["template", b.folder / "new.xlsx"], around=full_disk)
refused("full disk, simulation", lambda b: simulate(b, "participants=8", "conversations=16"), around=full_disk)
refused(
    "full disk, import",
    lambda b: ["import", b.file("chats.txt", "User: Hi\nAssistant: Yes\n"), "--out", b.folder / "new.xlsx"],
    around=full_disk,
)
refused(
    "full disk, batch",
    lambda b: ["judge", "batch", "export", "--out", b.folder / "requests.jsonl", "--data", b.workbook()],
    around=full_disk,
)
refused("file where a folder belongs", lambda b: ["template", b.workbook() / "new.xlsx"])
refused("template there", lambda b: ["template", b.workbook()])
refused(
    "pipe among tables",
    lambda b: [(b.tables() / "Messages.csv").unlink(), check(b.pipe("mine/Messages.csv").parent)][1],
)
refused("table missing", lambda b: [(b.tables() / "Messages.csv").unlink(), check(b.folder / "mine")][1])
read(
    "table with a text of 200,000 characters",
    lambda b: check(
        b.tables(
            messages={
                "Content": [
                    "long " * 40_000,
                    "I am sorry to hear that.",
                    "Thank you.",
                    "Gladly.",
                    *[SAID, "I am sorry to hear that.", "Thank you.", "Gladly."] * 3,
                ]
            }
        )
    ),
    change("messages", 0, "content", "long " * 40_000),
)

# Bombs --------------------------------------------------------------------------------------


def big(bench, unit: bytes, megabytes: int) -> Path:
    """A workbook whose second sheet holds a great many equal rows; written piece by piece."""
    parts = bench.parts()
    head = parts.pop(MESSAGES).split(b"<sheetData>")[0] + b"<sheetData>"
    path = bench.folder / "mine.xlsx"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as package:
        for other, content in parts.items():
            package.writestr(other, content)
        with package.open(MESSAGES, "w") as stream:
            stream.write(head)
            for _ in range(megabytes):
                stream.write(unit * (2**20 // len(unit)))
            stream.write(b"</sheetData></worksheet>")
    return path


def liar(bench):
    """A part says that it unpacks to 100 bytes, and unpacks to 256 MB."""
    content = big(bench, NUMBERED, 256).read_bytes()
    start = content.rfind(MESSAGES.encode()) - 46
    assert content[start : start + 4] == b"PK\x01\x02"
    return check(bench.file("mine.xlsx", content[: start + 24] + struct.pack("<I", 100) + content[start + 28 :]))


def not_dense(bench):
    """More than a million rows that do not say their number, in a file large enough not to look dense."""
    path = big(bench, NUMBERED, 30)
    with zipfile.ZipFile(path, "a", zipfile.ZIP_STORED) as package:
        package.writestr("docProps/thumbnail.jpeg", os.urandom(2**20))
    return check(path)


def with_document_type(declaration: str):
    head = f"<!DOCTYPE w [{declaration}]><worksheet".encode()
    return part(MESSAGES, lambda xml: xml.replace(b"<worksheet", head, 1).replace(SAID.encode(), b"&x;", 1))


NUMBERED = b"<row><c><v>1</v></c></row>"
LAUGHS = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, 10))
refused("zip bomb", lambda b: check(big(b, NUMBERED, 520)), costly=True)
refused("zip bomb just small enough", lambda b: check(big(b, b"<row/>", 64)), costly=True)
refused("zip bomb of predictions", lambda b: evaluate(big(b, b"<row/>", 64)), costly=True)
refused("zip bomb that lies", liar, costly=True)
refused("rows beyond the last", not_dense, costly=True)
refused("billion laughs", with_document_type(f'<!ENTITY l0 "ha">{LAUGHS}<!ENTITY x "&l9;">'), costly=True)
refused("entity from a file", with_document_type('<!ENTITY x SYSTEM "file:///etc/passwd">'))
for name, xml in (
    ("in the last corner", '<row r="1048576"><c r="XFD1048576"><v>1</v></c></row>'),
    ("behind a false place", """<row r="7"><c x=' r="A7"' r="XFD1048576"><v>1</v></c></row>"""),
    ("beyond the last corner", '<row r="99999999"><c r="ZZZZ99999999"><v>1</v></c></row>'),
    ("without a place", "<row/>" * 100_000 + "<row>" + "<c/>" * 16_000 + "<c><v>1</v></c></row>"),
):
    refused(
        f"stray cell {name}",
        lambda b, xml=xml: check(b.edited("Tasks", "</sheetData>", f"{xml}</sheetData>")),
        costly="last corner" in name,
    )

# Records of origin, parameters, editions -----------------------------------------------------

CLAIMED = {"kind": "official", "name": "official", "file": "mine.xlsx", "fetched": "2026-01-01T00:00:00+00:00"}
CLAIMED |= {"address": "https://example.org/a.xlsx", "sha256": "0" * 64, "size": 1, "mirror": False}
RECORD = "mine.xlsx.provenance.json"
refused("record of origin broken", lambda b: [b.file(RECORD, "{"), check(b.workbook())][1])
refused("record of origin of another file", lambda b: [b.file(RECORD, json.dumps(CLAIMED)), check(b.workbook())][1])

for given in (
    "colour=red",
    "draws=ten",
    "confidence=95",
    "seed=-1 draws=5",
    "data=../../../etc/passwd",
    "draws=[&a [x, x], &b [*a, *a], &c [*b, *b], *c]",
    "seed=!!python/object/apply:os.getcwd []",
    "prompted_condition=nobody",
):
    several = given.split() if given == "seed=-1 draws=5" else [given]
    command = ["build", "synthetic", *(word for one in several for word in ("-p", one))]
    refused(f"parameter {given}", lambda _, command=command: command)
refused("edition outside its folder", lambda _: ["build", "synthetic", "--name", "../../elsewhere"])
refused("edition of the folder itself", lambda _: ["build", "."])
refused("edition that claims to be official", lambda b: ["build", b.workbook(), "--name", "official"])
refused("predictions nowhere", lambda b: ["build", "synthetic", "--predictions", b.folder / "none"])
refused("notebook unknown", lambda _: ["run", "99"])


def simulate(bench, *settings: str):
    return ["simulate", "--out", bench.folder / "new.xlsx", *(word for one in settings for word in ("-p", one))]


for setting in (
    "colours=3",
    "participants=many",
    "condition_effects=[0.1]",
    "conditions=[a, a]",
):
    refused(f"simulation {setting}", lambda b, setting=setting: simulate(b, setting))
refused("simulation without a place", lambda _: ["simulate"])

# The ledger ---------------------------------------------------------------------------------

CLAIM = """\
- {id: a, title: A claim, kind: figure, value: 1, unit: things, grade: A, source: abstract, needs: data,
   notebook: 01-a, key: seed_of_a, compare: {within: 0, reason: exact}}
"""
NOTEBOOK = """\
---
jupytext:
  text_representation: {extension: .md, format_name: myst}
kernelspec: {display_name: Python 3, language: python, name: python3}
---

```{code-cell} ipython3
:tags: [parameters]

data = "synthetic"
predictions = ""
results = "results"
```
"""
CHECKOUT = Path(__file__).resolve().parents[2]


def ledger(claims: bytes | str):
    """A build from a checkout with these claims; it ends before anything runs."""

    def make(bench):
        bench.file("checkout/notebooks/01-a.md", NOTEBOOK)
        bench.file("checkout/data/claims.yml", claims)
        for name in ("_config.yml", "_toc.yml", "requirements.lock"):
            bench.file(f"checkout/{name}", (CHECKOUT / name).read_bytes())
        return ["build", bench.workbook()]

    return make


@contextlib.contextmanager
def in_its_checkout(bench: Bench) -> Iterator[None]:
    """Run in the checkout that the case made."""
    before = os.environ.get("SENSE7_ROOT")
    os.environ["SENSE7_ROOT"] = str(bench.folder / "checkout")
    try:
        yield
    finally:
        del os.environ["SENSE7_ROOT"]
        if before is not None:
            os.environ["SENSE7_ROOT"] = before


DOUBLED = "".join(f"&a{n} [{', '.join([f'*a{n - 1}'] * 9)}], " for n in range(1, 9))
for name, claims in (
    ("of aliases", f"[&a0 [x], {DOUBLED}]"),
    ("that would run", "- !!python/object/apply:os.getcwd []"),
    ("in latin-1", CLAIM.encode() + b"# caf\xe9"),
    ("nested too deeply", "[" * 10_000),
    ("value nan", CLAIM.replace("value: 1", "value: .nan")),
):
    refused(f"claims {name}", ledger(claims), around=in_its_checkout)


def beside(*files, command=None):
    """The same checkout with further files, and another command."""

    def make(bench):
        built = ledger(CLAIM)(bench)
        for name, content in files:
            bench.file(f"checkout/{name}", content)
        return command or built

    return make


def judged(**columns):
    """A build with a folder of predictions."""
    return lambda b: [*ledger(CLAIM)(b), "--predictions", b.predictions("predictions/a-b-iter1.csv", **columns).parent]


refused(
    "claims missing",
    lambda b: [ledger(CLAIM)(b), (b.folder / "checkout/data/claims.yml").unlink()][0],
    around=in_its_checkout,
)
refused(
    "checkout that is none",
    lambda b: [b.file("checkout/notes.txt", "x"), ["build", "synthetic"]][1],
    around=in_its_checkout,
)
refused(
    "ledger broken",
    beside(
        ("_build/editions/mine/ledger.json", "[{"),
        ("_build/editions/mine/edition.json", "{}"),
        command=["ledger", "mine"],
    ),
    around=in_its_checkout,
)
refused("ledger of no edition", beside(command=["ledger", "none"]), around=in_its_checkout)
refused("predictions for another workbook", judged(TaskId=["C1", "C2", "C3", "X9"]), around=in_its_checkout)

# Prompts ------------------------------------------------------------------------------------


def ask(bench, prompt: Path, *more):
    command = ["judge", "run", "--dry-run", "--data", bench.workbook(), "--out", bench.folder / "session"]
    return [*command, "--base-url", "http://localhost:9/v1", "--prompt", prompt, *more]


for content in ("Rate this: {Chat}", "", b"Rate {chat}, caf\xe9"):
    refused(f"prompt {content!r}", lambda b, content=content: ask(b, b.file("mine.txt", content)))
refused("prompt of 50 MB", lambda b: ask(b, b.file("mine.txt", b"{chat}" + b"x" * (50 * 2**20))), costly=True)
refused("prompt nowhere", lambda b: ask(b, b.folder / "none.txt"))
# Predictions --------------------------------------------------------------------------------

for name, columns in (
    ("without scores", {"IS_EMPATHY": ...}),
    ("without truth", {"_TRUTH": ..., "name": "a-b-iter1.xlsx"}),
    ("twice", {"TaskId": ["C1", "C1", "C3", "C4"]}),
):
    refused(f"predictions {name}", lambda b, columns=columns: evaluate(b.predictions(**columns)))
for name, columns in (
    ("clean", {}),
    ("in words", {"IS_EMPATHY": ["four", "5", "4", "2"]}),
    ("infinite", {"IS_EMPATHY": ["inf", "1e999", "4", "2"]}),
):
    read(f"predictions {name}", lambda b, columns=columns: evaluate(b.predictions(**columns)))
for content in (
    "",
    b"TaskId\nC1\xe9\n",
    "IS_EMPATHY,ground-truth\n4,4\n4,4,4\n",
    "IS_EMPATHY,IS_EMPATHY,ground-truth\n4,4,4\n",
):
    refused(f"predictions {content!r}", lambda b, content=content: evaluate(b.file("a-b-iter1.csv", content)))
refused(
    "predictions on an empty sheet",
    lambda b: [
        write_sheets([Sheet("results", [], [])], b.folder / "a-b-iter1.xlsx"),
        evaluate(b.folder / "a-b-iter1.xlsx"),
    ][1],
)
refused("csv called xlsx", lambda b: evaluate(b.predictions().rename(b.folder / "a-b-iter1.xlsx")))
refused("workbook called csv", lambda b: evaluate(b.predictions("a-b-iter1.xlsx").rename(b.folder / "a-b-iter1.csv")))
refused("folder without predictions", lambda b: evaluate(b.file("session/notes.txt", "x").parent))
refused("confidence of 95", lambda b: [*evaluate(b.predictions()), "--confidence", "95"])

# Batches and sessions -----------------------------------------------------------------------


def replies(bench, path):
    return ["judge", "batch", "import", path, "--out", bench.folder / "out", "--data", bench.workbook()]


for content in (
    '{"custom_id": "run1-x"}\n{"custom_id": "ru',
    "[" * 100_000,
    '{"custom_id": "run1-x"}\n',
):
    refused(f"replies {content[:30]!r}", lambda b, content=content: replies(b, b.file("replies.jsonl", content)))
refused(
    "session with a broken journal",
    lambda b: [b.file("session/journal.sqlite", "something else " * 99), ask(b, b.file("mine.txt", "{chat}"))][1],
)
