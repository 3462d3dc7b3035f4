"""Predictions of a judge, what a judge's session is asked about, and what it has kept, for tests."""

import contextlib
import sqlite3

import numpy as np
import openpyxl
import pandas as pd

from sense7.judge.asking.ask import Endpoint as Address
from sense7.judge.asking.requests import Prompt
from sense7.judge.asking.session import carry_out, plan_session
from sense7.judge.files import COLUMNS, JOURNAL, Run, read_predictions
from sense7.judge.scores.metrics import OverRuns
from sense7.workbook.xlsx import read_sheets

BRIEF = Prompt("brief", "Rate this: {chat}")


def run_of(seed, noise=0.8, rows=40, people=8, missing=(), **columns):
    """A run whose scores follow a ground truth that is the same for any seed; those of some rows are missing."""
    truth = np.clip(np.random.default_rng(0).normal(3.4, 1.2, rows), 1, 5).round(2)
    score = np.clip(np.round(truth + np.random.default_rng(seed).normal(0, noise, rows)), 1, 5)
    frame = pd.DataFrame({"score": score, "ground_truth": truth, "status": "ok"}).astype(
        {"status": object}
    )
    frame["conversation"] = [f"C{row}" for row in range(rows)]
    frame["participant"] = [f"P{row % people}" for row in range(rows)]
    frame.loc[list(missing), ["score", "status"]] = [np.nan, "refusal"]
    return frame.assign(**columns)


def runs_of(frames):
    """Predictions as runs of one judge, called 1, 2, ..."""
    return {str(number): Run.of(frame) for number, frame in enumerate(frames, 1)}


def over_runs_of(frames, bootstrap=None, policy="strict", lengths=None):
    return OverRuns(runs_of(frames), bootstrap, policy, lengths)


def said_in(conversations, turns=1, words=""):
    """What is said in so many conversations: no message is like another."""
    return [
        f"Message {n} of conversation {name}.{words}"
        for name in range(conversations)
        for n in range(2 * turns)
    ]


def number_of(asked):
    """Number of the conversation that a request is about, from 0."""
    return int(asked.prompt.partition("of conversation ")[2].partition(".")[0])


def plan_for(study, server, folder, **options):
    known = {"model": "judge", "prompt": BRIEF, "concurrency": 4, "retries": 2, "timeout": 60.0}
    address = server
    if not isinstance(server, Address):
        address = Address.of(getattr(server, "address", server))
    return plan_session(study, endpoint=address, folder=folder, **known | options)


def ask(study, server, folder, *, say=lambda line: None, **options):
    return carry_out(plan_for(study, server, folder, **options), say=say)


def cells_of(path, sheet="results"):
    """A sheet as another library sees it: column -> cells."""
    rows = list(openpyxl.load_workbook(path)[sheet].iter_rows(values_only=True))
    return {title: [row[place] for row in rows[1:]] for place, title in enumerate(rows[0])}


def table_of(path):
    """A prediction file: its cells under the names that a frame has, and both readings."""
    sheet = read_sheets(path)["results"]
    names = [COLUMNS[title] or title for title in sheet.header]
    table = pd.DataFrame(sheet.rows, columns=names, dtype=object)
    table = table.loc[:, ~table.columns.duplicated()]
    run = vars(read_predictions(path).run)
    readings = ("score", "authors_score", "status", "reason", "doubtful")
    return table.assign(**{name: run[name] for name in readings})


def frame_of(outcome, run=1):
    return table_of(outcome.paths[run - 1])


def kept_in(folder):
    """Answers in the journal of a folder: (conversation, run, attempt) -> response."""
    if not (folder / JOURNAL).exists():
        return {}
    with contextlib.closing(sqlite3.connect(folder / JOURNAL)) as database:
        rows = database.execute("SELECT conversation, run, attempt, content FROM replies")
        return {row[:3]: row[3] for row in rows}
