"""`sense7 judge run`, ended at any moment or on a full disk: no answer that was kept is lost or asked for again."""

import sys
import zlib
from functools import partial
from pathlib import Path

import pytest

from helpers import endpoint, interrupting
from helpers.endpoint import need_the_judge
from helpers.judged import kept_in, table_of
from helpers.studies import write_study

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="processes are looked for in /proc")


CONVERSATIONS, RUNS, AT_ONCE = 10, 2, 3
LATE = partial(pytest.param, marks=pytest.mark.long)
TOLD = ["conversation", "participant", "score", "status", "output", "prompt"]


def script(asked):
    """The same answer to the same prompt, whenever it is asked."""
    score = zlib.crc32(asked.prompt.encode()) % 5 + 1
    return endpoint.Answer(text=f"<S0>Because of {len(asked.prompt)} letters.</S0><S2>{score}</S2>")


@pytest.fixture(scope="module")
def session(tmp_path_factory, minimal_sheets):
    """A server, a command without a folder, its arguments, and what it comes to undisturbed."""
    need_the_judge()
    base = tmp_path_factory.mktemp("judge")
    said = [
        f"Message {number} of conversation {name}."
        for name in range(CONVERSATIONS)
        for number in range(4)
    ]
    write_study(
        minimal_sheets(conversations=CONVERSATIONS, messages={"Content": said}), base / "study.xlsx"
    )
    with endpoint.Endpoint(script, latency=0.1) as server:

        def prepared(name):
            folder = base / name
            folder.mkdir()
            arguments = [
                "judge",
                "run",
                "--data",
                base / "study.xlsx",
                "--base-url",
                server.address,
            ]
            arguments += ["--concurrency", AT_ONCE, "--runs", RUNS, "--out", folder / "out"]
            return interrupting.Command(folder, HOME=str(base)), arguments

        command, arguments = prepared("undisturbed")
        whole = command.run(*arguments)
        assert whole.code == 0, whole.err
        yield server, prepared, whole, predictions(command.folder / "out")


def predictions(folder):
    """What the prediction files of a folder say, but for times."""
    return {
        path.name: table_of(path)[TOLD].to_dict("records") for path in sorted(folder.glob("*.xlsx"))
    }


@pytest.mark.parametrize("moment", interrupting.moments(2, seed=3), ids=str)
def test_whatever_ends_it_the_answers_stay_and_the_next_run_gives_the_same(session, moment):
    server, prepared, whole, undisturbed = session
    command, arguments = prepared(str(moment))
    out = command.folder / "out"
    begun = len(server.asked)
    command.interrupt(moment, whole, *arguments)
    asked = len(server.asked) - begun
    kept = kept_in(out)
    assert asked - len(kept) <= AT_ONCE, "more was lost than was under way"
    assert predictions(out).items() <= undisturbed.items(), (
        "a prediction file is not what it is in the end"
    )

    again = command.run(*arguments)
    assert again.code == 0, again.err
    assert len(server.asked) - begun - asked == CONVERSATIONS * RUNS - len(kept), (
        "what was kept was asked for again"
    )
    assert predictions(out) == undisturbed
    both = kept_in(out)
    assert kept.items() <= both.items()
    assert interrupting.unfinished(command.folder) == []


@pytest.mark.parametrize("room", [4, LATE(8), LATE(120)])
def test_on_a_full_disk_it_names_the_file_and_the_fix_and_the_next_run_gives_the_same(
    session, room
):
    _, prepared, _, undisturbed = session
    command, arguments = prepared(f"room {room}")
    ended = command.run_on_a_full_disk(room, *arguments)
    interrupting.require_full(ended, "/out/journal.sqlite")
    assert interrupting.unfinished(command.folder) == []
    again = command.run(*arguments)
    assert again.code == 0, again.err
    assert predictions(command.folder / "out") == undisturbed


def test_predictions_that_are_evaluated_onto_a_full_disk_are_a_message(session, tmp_path):
    _, prepared, *_ = session
    command, _ = prepared("evaluate")
    undisturbed = command.folder.with_name("undisturbed") / "out"
    with Path("/dev/full").open("w") as full:
        ended = command.run("judge", "evaluate", undisturbed, "--draws", 50, stdout=full)
    interrupting.require_full(ended, "standard output")
