"""What is fuzzed: everything that reads a file or a reply. Bytes in; a result or one UserError out.

Each target takes the bytes as a user's file. An exception other than ``UserError`` is a finding, as are a result that
breaks what its docstring promises, an input that takes longer than ``SECONDS``, and one that takes more than
``MEGABYTES``. ``evidence/fuzzing.py`` searches for findings; ``test_fuzz_corpus.py`` replays what it has kept.
"""

import contextlib
import functools
import io
import json
import math
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import xlsxwriter

from sense7.claims import load_claims, make_ledger
from sense7.cli.common import assignments
from sense7.cli.description import describe
from sense7.errors import UserError
from sense7.judge.asking.batch import import_replies, request_name
from sense7.judge.asking.journal import Journal
from sense7.judge.asking.requests import CHAT, EXAMPLES, Prompt, Questions
from sense7.judge.asking.session import questions_for
from sense7.judge.files import Predictions, read_predictions
from sense7.judge.reply import STATUSES, read_reply
from sense7.simulate import Parameters
from sense7.sources.provenance import Provenance, read_record
from sense7.study import Study
from sense7.taxonomy import RATING_NAMES
from sense7.workbook import read_workbook

CORPUS = Path(__file__).parent / "corpus"
"""An archive for each target, with the inputs that a search has kept, by name."""

SECONDS = 5
MEGABYTES = 2048

TASKS = (
    ("PID", "TaskId", "Model", "PreTaskChoice", "PreTaskImportance", "PostTaskEmpathy_Affective"),
    ("P1", "C1", "plain", "work", 4, 5),
    ("P2", "C2", "empathy prompt", "home", "very important", "good"),
)
MESSAGES = (
    (
        "TaskId",
        "MessageId",
        "TimeOffsetSeconds",
        "Role",
        "Content",
        "EmpathyOverall",
        "Affective",
        "Comment",
    ),
    ("C1", 1, 0, "user", "I had a bad day.", None, None, None),
    ("C1", 2, 20.5, "assistant", "I am sorry to hear that.", "good", "Very good", "kind"),
    ("C2", 1, 0, "user", "Hello", None, None, None),
    ("C2", 2, 9, "error", None, None, None, None),
    ("C2", 3, 12, "assistant", "Hello! ☺", "unknown", 4, None),
)
PEOPLE = (("PID", "Age"), ("P1", 30), ("P2", "unknown"))

TARGETS: dict[str, Callable[[bytes], None]] = {}


def target(function: Callable[[bytes], None]) -> Callable[[bytes], None]:
    """Enter a function among the targets, under its name."""
    TARGETS[function.__name__] = function
    return function


def kept(name: str) -> dict[str, bytes]:
    """Inputs that were kept of a target: name -> content."""
    with zipfile.ZipFile(CORPUS / f"{name}.zip") as archive:
        return {entry: archive.read(entry) for entry in archive.namelist()}


@contextlib.contextmanager
def as_file(content: bytes, name: str) -> Iterator[Path]:
    """Write the bytes as a file in a folder of its own."""
    with tempfile.TemporaryDirectory(prefix="fuzz-") as folder:
        path = Path(folder) / name
        path.write_bytes(content)
        yield path


@contextlib.contextmanager
def refusals() -> Iterator[None]:
    """Let pass a refusal that says something."""
    try:
        yield
    except UserError as error:
        if len(str(error)) < 20:
            raise AssertionError("a refusal names the place and how to fix it") from error


# Workbooks


@functools.cache
def parts() -> dict[str, bytes]:
    """The parts of a small valid workbook: name -> content."""
    stream = io.BytesIO()
    book = xlsxwriter.Workbook(stream, {"in_memory": True})
    for name, rows in (("Tasks", TASKS), ("Messages", MESSAGES), ("Participants", PEOPLE)):
        sheet = book.add_worksheet(name)
        for number, cells in enumerate(rows):
            sheet.write_row(number, 0, cells)
    book.close()
    with zipfile.ZipFile(stream) as package:
        return {
            name: package.read(name)
            for name in package.namelist()
            if name.startswith(("[", "_", "xl/"))
        }


def package_with(part: str, content: bytes) -> bytes:
    """The small workbook, one of whose parts is replaced or added."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as package:
        for name, known in (parts() | {part: content}).items():
            package.writestr(zipfile.ZipInfo(name), known)
    return stream.getvalue()


def check(study: Study) -> None:
    """Look at all that a study says of itself."""
    assert set(study.turns[list(RATING_NAMES)].melt()["value"].dropna()) <= {1, 2, 3, 4, 5}
    assert study.conversations["conversation"].is_unique
    json.dumps(describe(study))


@target
def workbook(content: bytes) -> None:
    """A file called .xlsx, of any content."""
    with as_file(content, "a.xlsx") as path, refusals():
        check(read_workbook(path))


@target
def part(content: bytes) -> None:
    """A valid workbook but for one part: its name in the first line, its XML in the others."""
    name, _, xml = content.partition(b"\n")
    with as_file(package_with(name.decode("latin-1") or "part", xml), "a.xlsx") as path, refusals():
        check(read_workbook(path))


@target
def tables(content: bytes) -> None:
    """A folder of CSV files: Tasks, Messages and Participants, parted by lines of three hyphens."""
    with as_file(b"", "not-a-table") as path, refusals():
        for name, table in zip(
            ("Tasks", "Messages", "Participants"), content.split(b"\n---\n"), strict=False
        ):
            path.with_name(f"{name}.csv").write_bytes(table)
        check(read_workbook(path.parent))


# Judges


@target
def reply(content: bytes) -> None:
    """A judge's reply: a score exactly if it is usable, and never one beyond the scale."""
    text = content.decode("utf-8", errors="surrogatepass" if content.isascii() else "replace")
    for options in ({}, {"finish_reason": "length"}, {"refusal": text}, {"error": text}):
        read = read_reply(text, **options)
        assert read.status in STATUSES
        assert (read.score is None) == (read.status != "ok")
        assert read.score is None or 1 <= read.score <= 5
        assert 1 <= read.authors_score < 6
        assert read.doubtful or read.authors_score == (read.score or 3.0)


@target
def predictions(content: bytes) -> None:
    """Predictions as CSV: every score is a number or missing, every row has a status."""
    with as_file(content, "model-prompt-iter1.csv") as path, refusals():
        read = read_predictions(path)
        assert isinstance(read, Predictions)
        assert not any(map(math.isinf, read.frame["score"]))
        assert read.frame["status"].notna().all()


@functools.cache
def questions() -> Questions:
    """The requests for the small workbook."""
    with as_file(package_with("part", b""), "a.xlsx") as path:
        return questions_for(read_workbook(path), Prompt("brief", "Rate this: {chat}"), "gpt-4o")


@target
def batch(content: bytes) -> None:
    """Replies of a batch. An id of ``{1}`` stands for that of the first conversation: its hash can't be guessed."""
    asked = questions()
    for number, unit in enumerate(asked.units.values(), 1):
        content = content.replace(b"{%d}" % number, f"-{request_name(unit)}".encode())
    with as_file(content, "replies.jsonl") as path, refusals():
        found = import_replies(asked, [path], path.parent / "out")
        assert sum(found.statuses.values()) == len(found.paths) * len(asked.units)


@target
def journal(content: bytes) -> None:
    """A journal of answers that is none is refused."""
    with (
        as_file(content, "journal.sqlite") as path,
        refusals(),
        Journal.reading(path.parent) as found,
    ):
        assert found is None or not found.content


@target
def prompt(content: bytes) -> None:
    """A prompt: filled, it holds no placeholder of its own."""
    with as_file(content, "brief.txt") as path, refusals():
        filled = Prompt.read(path).fill("[]")
        assert filled.replace("[]", "").count(EXAMPLES) == 0 or EXAMPLES not in content.decode()
        assert CHAT not in filled or CHAT.encode() * 2 in content or b"{" in content


# The book


@target
def claims(content: bytes) -> None:
    """The claims of the ledger: read whole, each gets its row."""
    with as_file(content, "claims.yml") as path, refusals():
        read = load_claims(path)
        values = {
            claim.key: {"estimate": 1.0, "low": 0.5, "high": 2.0, "notebook": "x"} for claim in read
        }
        rows = make_ledger(read, values, Provenance.of(path), None)
        assert len(json.dumps([row.to_dict() for row in rows], default=str)) > 0


@target
def provenance(content: bytes) -> None:
    """A record of provenance: what is taken for one can be written again, and is not verified by itself."""
    with as_file(content, "a.xlsx.provenance.json") as path, refusals():
        record = read_record(path.with_name("a.xlsx"))
        assert record is not None
        assert Provenance.from_dict(json.loads(json.dumps(record.to_dict()))) == record
        assert not record.verified
        assert record.label


@target
def parameters(content: bytes) -> None:
    """Parameters of a simulation, one a line, as NAME=VALUE."""
    with refusals():
        Parameters.from_mapping(assignments(content.decode("utf-8", errors="replace").split("\n")))
