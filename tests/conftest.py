"""Fixtures for all tests: real ratings, synthetic ones, a small official workbook, and a browser."""

import contextlib
import gc
import io
import os
import re
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, settings

from helpers.pages import chromium
from helpers.studies import write_study
from sense7 import cli
from sense7.loading import load
from sense7.processes import ONE_THREAD
from sense7.sources import released
from sense7.taxonomy import MESSAGE_COLUMNS, TASK_COLUMNS
from sense7.workbook.xlsx import Sheet

# The same examples in every run, however slow the machine, so that a test never fails by chance; to look for new ones:
# python -m pytest --hypothesis-profile=searching
settings.register_profile(
    "fixed",
    derandomize=True,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
settings.register_profile("searching", deadline=None)
settings.load_profile("fixed")

ROOT = Path(__file__).resolve().parents[1]
SLOWEST = (
    *(
        "tests/built_book",
        "tests/browser/test_every",
        "tests/browser/test_hostile",
        "tests/book/test_build.py",
    ),
    *("tests/faults/test_interrupted_build", "tests/simulate", "tests/test_evidence"),
    *("tests/browser", "tests/book", "tests/faults"),
)
"""Where the files lie that take longest: begun with, so that no process waits for one of them at the end."""

SHARING = ("tests/built_book", "tests/simulate")
"""Folders whose files share what is slow to make: parsed pages; the truth of the default simulation."""

HALF = re.compile(r"\b(?:first|second) half\b")
"""In the id of a test whose file two processes share."""


@pytest.fixture(scope="session")
def ieval_workbook(tmp_path_factory):
    """A workbook of real ratings without texts."""
    path = tmp_path_factory.mktemp("workbooks") / "ieval.xlsx"
    write_study(released.ieval_sheets(), path)
    return path


@pytest.fixture(scope="session")
def synthetic():
    """The synthetic data set; it is only read."""
    return load("synthetic")


@pytest.fixture(scope="session")
def run_here():
    """Run the command in this process, where all is imported: for tests of what it does, not of how a process ends.

    What it says first where other versions than the lock's are installed is left out: tests run with any versions.
    """

    def run(*arguments, cwd, environment):
        handler, out, err = signal.getsignal(signal.SIGTERM), io.StringIO(), io.StringIO()
        with pytest.MonkeyPatch.context() as patch:
            for name in os.environ.keys() - environment.keys():
                patch.delenv(name)
            for name, value in environment.items():
                patch.setenv(name, value)
            patch.chdir(cwd)
            patch.setattr(sys, "argv", ["sense7", *map(str, arguments)])
            with (
                contextlib.redirect_stdout(out),
                contextlib.redirect_stderr(err),
                pytest.raises(SystemExit) as ended,
            ):
                cli.main()
        signal.signal(signal.SIGTERM, handler)
        said = re.sub(r"(?m)^\S+ \S+ is installed, the lock has .*\n", "", err.getvalue())
        return subprocess.CompletedProcess(arguments, ended.value.code or 0, out.getvalue(), said)

    return run


@pytest.fixture
def sense7(run_here):
    """Run a command in this process; give its exit code, output and messages."""

    def run(*arguments):
        done = run_here(*arguments, cwd=Path.cwd(), environment=dict(os.environ))
        assert "Traceback" not in done.stderr
        return done.returncode, done.stdout, done.stderr

    return run


@pytest.fixture(scope="module")
def browser():
    """A Chromium for one file, closed before tests of others begin, which may run an event loop."""
    with chromium() as started:
        yield started


@pytest.fixture(scope="session")
def minimal_sheets():
    """Build a small valid workbook that is read without a diagnostic; see ``build_minimal``."""
    return build_minimal


# One draw of a bootstrap, beside the sample itself


@pytest.fixture(scope="session")
def copies_of():
    """Gives of a bootstrap one draw beside the sample itself, and how often that draw takes each participant."""

    def one_draw(bootstrap):
        taken = bootstrap.weights()[0]
        both = replace(
            bootstrap, draws=2, confidence=np.nextafter(1.0, 0.0)
        )  # from one of the two to the other
        both.__dict__["_weights"] = np.stack([taken, np.ones_like(taken)])
        return both, dict(zip(bootstrap.names, taken.astype(int), strict=True))

    return one_draw


def pytest_addoption(parser):
    parser.addoption(
        "--long", action="store_true", help="also run what is marked long, as make test-long does"
    )


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """Keep together what shares something slow to make: the tests of a file, or of a folder of ``SHARING``.

    Not by pytest-xdist's groups, which it writes into names of tests that pytest 9.2 no longer takes from there.
    """
    from xdist.scheduler import LoadFileScheduling

    class Scheduling(LoadFileScheduling):
        def _split_scope(self, nodeid):
            file = super()._split_scope(nodeid)
            half = HALF.search(nodeid)
            if half:
                return f"{file} {half[0]}"
            return next((folder for folder in SHARING if file.startswith(f"{folder}/")), file)

    return Scheduling(config, log)


def pytest_collection_modifyitems(config, items):
    """Leave out what is long, and begin with what takes longest."""
    if not config.getoption("--long"):
        config.hook.pytest_deselected(
            items=[item for item in items if item.get_closest_marker("long")]
        )
        items[:] = [item for item in items if not item.get_closest_marker("long")]
    places = {item: item.path.relative_to(ROOT).as_posix() for item in items}
    items.sort(key=lambda item: [not places[item].startswith(start) for start in SLOWEST])


def pytest_collection_finish():
    """Look for cycles no more among modules and tests, which are millions of objects that stay."""
    gc.collect()
    gc.freeze()


def pytest_configure(config):
    gc.set_threshold(
        50_000, 20, 100
    )  # looking for cycles less often saves a tenth of the collection
    config.addinivalue_line("markers", "long: run by make test-long alone, which runs everything")
    # Processes of pytest-xdist are started with these: threads of two of them would wait for each other's processor.
    for name, number in ONE_THREAD.items():
        os.environ.setdefault(name, number)
    # In the background of a script interrupts are ignored; processes that tests interrupt would ignore them, too.
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def build_minimal(*, tasks=(), messages=(), participants=(), further=(), conversations=4, turns=2):
    """Sheets of a small valid workbook: 4 conversations of 3 participants, 2 rated turns each.

    Each of ``tasks``, ``messages`` and ``participants`` may be None, which leaves out the sheet, or
    a mapping of columns: a list gives the cells, any other value stands in every row, and
    ``...`` removes the column. ``participants`` may also be their number. ``further`` are sheets to add.
    """
    people = participants if isinstance(participants, int) else max(1, conversations - 1)
    columns = {
        "Tasks": default_tasks(conversations, people),
        "Messages": default_messages(conversations, turns),
        "Participants": {
            "PID": [f"P{person + 1}" for person in range(people)],
            "Age": [30.0 + 11 * person for person in range(people)],
            "Gender": cycle(["f", "m"], people),
        },
    }
    people_given = () if isinstance(participants, int) else participants
    changes = {"Tasks": tasks, "Messages": messages, "Participants": people_given}
    sheets = {
        name: sheet_of(name, columns[name], dict(changes[name]))
        for name in columns
        if changes[name] is not None
    }
    return sheets | {sheet.name: sheet for sheet in further}


def default_tasks(conversations, people):
    """The first participant has what is left over; every scale is 4 where it goes that far."""
    numbers = range(conversations)
    known = {
        "PID": [f"P{max(1, number - conversations + people + 1)}" for number in numbers],
        "Model": cycle(["plain", "plain-empathy"], conversations),
        "TaskId": [f"C{number + 1}" for number in numbers],
        "PreTaskChoice": cycle(["work", "home"], conversations),
        "PreTaskImportance": cycle([1.0, 3.0, 4.0, 5.0], conversations),
        "PreTaskDesiredEmpathy": cycle([1.0, 2.0, 3.0, 3.0], conversations),
    }
    return {
        column.official: known.get(column.official, [4.0] * conversations)
        for column in TASK_COLUMNS
    }


def default_messages(conversations, turns):
    """User and assistant in turn; ratings of assistant turns are good, very good, good .."""
    length = 2 * turns
    seconds = [float(20 * number) for number in range(length)]
    known = {
        "TaskId": [f"C{number + 1}" for number in range(conversations) for _ in range(length)],
        "MessageId": [float(number + 1) for number in range(length)] * conversations,
        "TimeOffsetSeconds": seconds * conversations,
        "Role": ["user", "assistant"] * turns * conversations,
        "Content": cycle(
            ["I had a bad day.", "I am sorry to hear that.", "Thank you.", "Gladly."], length
        )
        * conversations,
        "Retry": [0.0] * length * conversations,
        "Comment": cycle([None, "kind", None, None], length) * conversations,
    }
    ratings = cycle([None, "good", None, "Very good"], length) * conversations
    return {column.official: known.get(column.official, ratings) for column in MESSAGE_COLUMNS}


def cycle(values, length):
    return [values[number % len(values)] for number in range(length)]


def sheet_of(name, columns, changes):
    length = max((len(cells) for cells in changes.values() if isinstance(cells, list)), default=0)
    length = length or len(next(iter(columns.values())))
    for column, cells in changes.items():
        if cells is ...:
            del columns[column]
        else:
            columns[column] = cells if isinstance(cells, list) else [cells] * length
    columns = {column: (cells + [None] * length)[:length] for column, cells in columns.items()}
    return Sheet(name, list(columns), [list(row) for row in zip(*columns.values(), strict=True)])
