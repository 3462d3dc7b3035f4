"""The time to read what others wrote grows in proportion to its length: no text makes the reader hang."""

import contextlib
import time

import pytest

from helpers.studies import parse_sheets
from sense7.csv_text import guarded
from sense7.errors import UserError
from sense7.exchange.importing import read_transcript
from sense7.judge.ratings import read_levels
from sense7.judge.reply import read_reply
from sense7.workbook.answers import split_number

LONGER = 8
"""How many times as long the longer text is; work by its square would take 64 times as long."""

PIECES = [
    *(" ", "1", "1,", "a.", "4/5 ", "<", "<b>", "&amp;", "%25"),
    *("\\", "-", "\n", "\u200b", "'", "#", "("),
]
REPLIES = ["<S2>", "<S2>4</S2>", "<S0>", "</S0>", "</think>{", "4 ", "4/5 ", "* ", '{"a":', "```\n"]


def growth(work, text, longer):
    """How many times longer work takes on the longer text: the shortest of three runs of each, by processor time."""

    def seconds(given):
        times = []
        for _ in range(3):
            begun = time.process_time()
            work(given)
            times.append(time.process_time() - begun)
        return min(times)

    return seconds(longer) / seconds(text)


def require_proportional(work, piece):
    text = piece * (4_000 // len(piece))
    assert growth(work, f"{text}!", f"{text * LONGER}!") < 3 * LONGER


def transcript(text):
    with contextlib.suppress(UserError):
        read_transcript(text, "")
    with contextlib.suppress(UserError):
        read_transcript(f"User: {text}\nAssistant: {text}", "")


def reply(text):
    read_reply(f"<S2>{text}</S2>")
    read_levels(f"<S2>{text}</S2>", ("overall",))


READERS = {
    "reply of a judge": reply,
    "answer": split_number,
    "transcript": transcript,
    "cell of a CSV": guarded,
}


REPEATED = [
    *((reader, piece) for reader in READERS for piece in PIECES),
    *(("reply of a judge", piece) for piece in REPLIES),
    *(("transcript", piece) for piece in ("User: ", "User: a\n", "**", "User")),
]


@pytest.mark.parametrize(("reader", "piece"), REPEATED)
def test_a_text_that_repeats_itself_is_read_in_proportion_to_its_length(reader, piece):
    require_proportional(READERS[reader], piece)


@pytest.mark.parametrize("piece", PIECES)
def test_a_cell_is_read_in_proportion_to_its_length(piece, minimal_sheets):
    def read(text):
        sheets = minimal_sheets(
            tasks={"PID": text + "x", "Model": text + "x", "PreTaskImportance": text},
            messages={"Affective": text, "Content": text},
        )
        with contextlib.suppress(UserError):
            parse_sheets(sheets)

    require_proportional(read, piece)
