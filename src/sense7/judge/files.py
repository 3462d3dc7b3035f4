"""Prediction files: the authors' layout with a status and a reason beside each score, written and read."""

import functools
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path

import numpy as np
import pandas as pd

from sense7.errors import UserError
from sense7.file_names import file_name
from sense7.judge.ratings import SHEET as RATINGS_SHEET
from sense7.judge.ratings import read_ratings_sheet
from sense7.judge.reply import (
    AUTHORS_DEFAULT,
    FAILURES,
    HIGHEST,
    LOWEST,
    NOT_ASKED,
    STATUSES,
    Reply,
    read_reply,
)
from sense7.taxonomy import SIMULATED_JUDGE, SIMULATED_WORDS, SYNTHETIC_SHEET, normalise_name
from sense7.terminal import count_of
from sense7.workbook.ids import as_names, as_number, as_texts, is_blank
from sense7.workbook.reading import Interval
from sense7.workbook.tables import read_table
from sense7.workbook.xlsx import (
    LONGEST_TEXT,
    UNWRITABLE,
    Sheet,
    read_sheets,
    utf16_units,
    write_sheets,
)

__all__ = [
    "COLUMNS",
    "JOURNAL",
    "Predictions",
    "Run",
    "ScoreScale",
    "models_that_answered",
    "read_predictions",
    "write_predictions",
]

ENDINGS = (".csv", ".xlsx")
JOURNAL = "journal.sqlite"
"""Beside them while a session has not ended: every answer to a request."""

SHEET = "results"

POLICIES = ("strict", "authors")
"""Which reading of a reply counts: the strict one, which may be none, or the authors', which is 3 at the least."""

SKIPPED_WORD = "results"
"""The authors' evaluation passes over files whose full path holds this word."""

UNSTATED = "unstated"
"""Status of a row without a score in a file that does not say why."""

COLUMNS = {
    "CoT": "reasoning",
    "TaskId": "conversation",
    "PID": "participant",
    "IS_EMPATHY": "score",
    "Chat": "chat",
    "OnlyChat": "chat",
    "Prompt": "prompt",
    "Output": "output",
    "Processing Time": "seconds",
    "Model": "model",
    "ground-truth": "ground_truth",
    "status": "status",
    "reason": "reason",
    "policy": None,
    "run": "run",
    "prompt_sha256": "prompt_sha256",
    "returned_model": "returned_model",
    "system_fingerprint": "system_fingerprint",
    "response_id": "response_id",
    "finish_reason": "finish_reason",
    "input_tokens": "input_tokens",
    "output_tokens": "output_tokens",
    "altered": "altered",
    "attempts": "attempts",
}
"""Column of a file -> column of the frame. The first eleven are the authors'; they do not say how Chat and
OnlyChat differ, so both hold the conversation. ``policy`` says by which rule IS_EMPATHY was read."""

FRAME_COLUMNS = tuple(dict.fromkeys(name for name in COLUMNS.values() if name))
READINGS = ("authors_score", "doubtful")
"""Columns of a frame that files do not have: these hold the text (Output) that both are read from."""

COUNTED = ("run", "input_tokens", "output_tokens", "attempts")
EVALUATED = ("IS_EMPATHY", "ground-truth")
_NAMES = ("TaskId", "PID", "status")
_DECIDING = (*_NAMES, "policy")
"""Columns that need not be there, and on which numbers depend if they are."""

_READ = (*EVALUATED, *_DECIDING, "reason", "Model", "Output", "finish_reason", "returned_model")
"""Columns that are read."""

TITLES = {name: title for title, name in reversed(COLUMNS.items())}
"""Column of the frame -> column of a file; of Chat and OnlyChat the first."""

LONG_TEXTS = (
    "reasoning",
    "chat",
    "prompt",
    "output",
    "reason",
    "returned_model",
    "system_fingerprint",
    "response_id",
    "finish_reason",
)
"""Columns of the frame that are fitted to the cells of a sheet."""

_ABOVE_AUTHORS = 6.0
_READ_AGAIN = ("ok", "parse_failure", "truncated")
"""Statuses that follow from the text of a reply."""

_RUN = re.compile(r"-iter([0-9]{1,9})$")
_UNSAFE = "[^A-Za-z0-9._+=@-]"
_LONGEST_PART = 80
_SLACK = 1e-9
_RATED_ON = f"the scale from {LOWEST:g} to {HIGHEST:g}"


class ScoreScale(Interval):
    """A scale from its worst score (``lowest``) to its best (``highest``), which may be the lower number."""

    @property
    def option(self) -> str:
        """As it is written after ``--score-scale``: 1-7, -3..3."""
        separator = ".." if min(self.lowest, self.highest) < 0 else "-"
        return f"{self.lowest:.15g}{separator}{self.highest:.15g}"

    @classmethod
    def of(cls, text: str) -> "ScoreScale":
        """Read a scale such as ``0-100``, ``1-7`` or, where a low number is the better, ``5-1``."""
        ends = re.fullmatch(r"\s*(-?[\d.]+)\s*(?:-|\.\.)\s*(-?[\d.]+)\s*", text, re.ASCII)
        numbers = [as_number(end) for end in ends.groups()] if ends else []
        if len(numbers) != 2 or None in numbers or numbers[0] == numbers[1]:
            raise UserError(
                f"--score-scale: {text[:40]!r}: no scale. Write its two ends: 1-7, 0-100, -3..3, or 5-1."
            )
        return cls(*numbers)


@dataclass(frozen=True, eq=False)
class Run:
    """One run of a judge: arrays with a value for each conversation.

    Attributes
    ----------
    conversation, participant : array of object
        Names; missing where no column says.
    ground_truth : array of float
        1..5, NaN where there is none.
    score : array of float
        By the strict reading of a reply; NaN where there is none.
    authors_score : array of float
        By the authors' reading, 3 for an unusable reply. NaN where a status is unstated, or nothing was asked: the
        authors' evaluation drops what is not a number.
    status : array of object
        One of ``STATUSES``, ``NOT_ASKED`` or ``UNSTATED``.
    reason : array of object
        Why a score is missing or doubtful; "" otherwise.
    doubtful : array of bool
        Whether the two readings of a reply differ.
    model : array of object
        The model that was asked; missing where it is not known.
    above : array of float
        A baseline's score above what its fold would be predicted without any feature; NaN for a judge.

    Examples
    --------
    >>> frame = pd.DataFrame({"score": [4.0, np.nan, np.nan], "status": ["ok", "refusal", "parse_failure"]})
    >>> run = Run.of(frame.assign(authors_score=[np.nan, np.nan, 1.0]))
    >>> run.scores("strict").tolist(), run.scores("authors").tolist()
    ([4.0, nan, nan], [4.0, 3.0, 1.0])
    """

    conversation: np.ndarray
    participant: np.ndarray
    ground_truth: np.ndarray
    score: np.ndarray
    authors_score: np.ndarray
    status: np.ndarray
    reason: np.ndarray
    doubtful: np.ndarray
    model: np.ndarray
    above: np.ndarray

    @classmethod
    def of(cls, frame: pd.DataFrame) -> "Run":
        """Take the columns of predictions that metrics rest on; those that are not there are missing."""
        table = frame.reindex(columns=[column.name for column in fields(cls)])
        columns = {name: table[name].to_numpy(dtype=object) for name in table}
        for name in ("ground_truth", "score", "authors_score", "above"):
            columns[name] = table[name].to_numpy(dtype=float)
        failed = table["status"].isin(FAILURES).to_numpy()
        by_authors = np.where(failed, AUTHORS_DEFAULT, columns["score"])
        columns["score"] = np.where(failed, np.nan, columns["score"])
        read_by_authors = columns["authors_score"]
        columns["authors_score"] = np.where(np.isnan(read_by_authors), by_authors, read_by_authors)
        usable = np.isfinite(columns["score"])
        no_status = table["status"].isna() | (table["status"] == "ok")
        columns["status"] = table["status"].mask(no_status, UNSTATED).mask(usable, "ok").to_numpy()
        columns["reason"] = np.where(table["reason"].isna(), "", columns["reason"])
        columns["doubtful"] = table["doubtful"].eq(True).to_numpy(dtype=bool)
        return cls(**columns)

    @classmethod
    def joined(cls, runs: Iterable["Run"]) -> "Run":
        """Return the predictions of several runs, one below the other."""
        return cls.of(pd.concat([run.table for run in runs], ignore_index=True))

    @property
    def table(self) -> pd.DataFrame:
        """The run as a table, one row per conversation."""
        return pd.DataFrame(vars(self))

    @property
    def simulated(self) -> bool:
        """Whether a simulated judge made it, by the model of any conversation."""
        return bool((self.model == SIMULATED_JUDGE).any())

    def scores(self, policy: str) -> np.ndarray:
        """Scores that count under a policy, strict or authors."""
        check_policy(policy)
        return self.authors_score if policy == "authors" else self.score

    def at(self, conversations: Iterable[str]) -> "Run":
        """Return the predictions of these conversations, in their order; one that the run lacks has no score."""
        table = self.table.set_index("conversation").reindex(conversations)
        return Run.of(table.rename_axis("conversation").reset_index())


@dataclass(frozen=True, eq=False)
class Predictions:
    """One file of predictions, read.

    Attributes
    ----------
    path : Path
        The file.
    name : str
        Its name without the ending.
    run : Run
        Its rows, wholly blank ones left out.
    models : list of str
        The models that answered, or that were asked where no reply says which.
    notes : list of str
        What was found and is not an error, each with its count.
    marks : mapping or None
        What the sheet of a simulated judge says of its making: key -> value; None where there is no such sheet.
    ratings : dict of str to Run, or None
        Rating of turns or dimensions -> the judge's levels beside the person's; None where there are none.
    """

    path: Path
    name: str
    run: Run = field(repr=False)
    models: list[str]
    notes: list[str]
    marks: Mapping[str, str] | None
    ratings: Mapping[str, Run] | None = field(repr=False)

    @property
    def judge(self) -> str:
        """Its name without the number of the run, which is what the runs of one judge have in common."""
        return self.called(_RUN.sub("", self.name))

    @property
    def simulated(self) -> bool:
        """Whether a simulated judge made it, by the sheet that says so or by the column Model of any row."""
        return self.run.simulated

    def named_run(self) -> Run:
        """Return the run; refused if some row does not name its conversation."""
        nameless = int(pd.isna(self.run.conversation).sum())
        if nameless:
            raise UserError(
                f"{self.path}: column TaskId: blank or missing in {count_of(nameless, 'row')}, so its conversations "
                "can't be matched with others. Give each row its TaskId."
            )
        return self.run

    def called(self, name: str) -> str:
        """Give a name of this file the word simulated, if a simulated judge made it and the name does not say so."""
        if self.simulated and "simulated" not in name.casefold():
            return f"{SIMULATED_WORDS}: {name}"
        return name


def prediction_path(folder: str | Path, model: str, prompt_name: str, run: int) -> Path:
    """Return the path of a run's file: ``{model}-{prompt name}-iter{N}.xlsx``, in ASCII and not too long."""
    model = file_name(model, unsafe=_UNSAFE, longest=_LONGEST_PART)
    prompt_name = file_name(prompt_name, unsafe=f"{_UNSAFE}|-", longest=_LONGEST_PART)
    return Path(folder) / f"{model}-{prompt_name}-iter{run}.xlsx"


def prediction_files(folder: str | Path) -> list[Path]:
    """Files of a folder that may hold predictions, by name, iter2 before iter10."""
    files = []
    for path in Path(folder).iterdir():
        is_table = path.suffix.casefold() in ENDINGS and not path.is_dir()
        if is_table and not path.name.startswith(("~", ".")):
            files.append(path)
    return sorted(files, key=lambda path: (_RUN.sub("", path.stem), len(path.stem), path.name))


def require_seen_by_authors(path: Path, remedy: str = "Choose another folder or name.") -> None:
    """Refuse a path that the authors' evaluation would pass over."""
    if SKIPPED_WORD in str(path.absolute()):
        raise UserError(
            f"{path.absolute()}: the path holds the word {SKIPPED_WORD}, and the authors' evaluation passes over "
            f"such files. {remedy}"
        )


def write_predictions(
    path: str | Path,
    frame: pd.DataFrame,
    *,
    policy: str = "strict",
    further: Sequence[Sheet] = (),
    own: bool = False,
) -> list[str]:
    """Write one run as an .xlsx file, whole or not at all; it is checked when it is read.

    A file that is there is replaced; if ``own`` is true, only as it was written.
    """
    path = Path(path)
    require_seen_by_authors(path)
    values = frame.assign(score=Run.of(frame).scores(policy)).astype(object)
    columns = values.where(values.notna(), None).to_dict("list")
    for name in frame.columns.intersection(COUNTED):
        columns[name] = [None if value is None else int(value) for value in columns[name]]
    blank = [None] * len(frame)
    altered = [[remark] if remark else [] for remark in columns.get("altered", blank)]
    counts = Counter()
    for name in LONG_TEXTS:
        for row, text in enumerate(columns.get(name, ())):
            if text is not None:
                columns[name][row], changes = _fitted(str(text))
                remarks = [f"{TITLES[name]}: {change}" for change in changes]
                altered[row] += remarks
                counts.update(remarks)
    cells = {title: columns.get(name, blank) for title, name in COLUMNS.items()}
    if "attempts" not in columns:  # a session's alone
        del cells["attempts"]
    cells["policy"] = [policy] * len(frame)
    cells["altered"] = ["; ".join(remarks) or None for remarks in altered]
    rows = [list(row) for row in zip(*cells.values(), strict=True)]
    write_sheets([Sheet(SHEET, list(cells), rows), *further], path, replace=not own, own=own)
    return [f"{path.name}: column {remark}; rows: {count:,}" for remark, count in counts.items()]


def _fitted(text: str) -> tuple[str, list[str]]:
    """A text as a cell can hold it, and how it was changed."""
    changes = []
    text, count = UNWRITABLE.subn("\ufffd", text)
    if count:
        changes.append("replaced characters that no cell can hold")
    units = text.encode("utf-16-le")  # characters of a cell are UTF-16 units of two bytes
    length = len(units) // 2
    if length > LONGEST_TEXT:
        mark = f" [.. cut: {length:,} characters in all]"
        # Half of a pair of units is dropped with the rest.
        text = units[: 2 * (LONGEST_TEXT - len(mark))].decode("utf-16-le", errors="ignore") + mark
        changes.append("cut at the limit of a cell")
    return text, changes


def check_policy(policy: str) -> None:
    """Refuse what is no policy."""
    if policy not in POLICIES:
        raise UserError(f"There is no policy {policy!r}. Choose {' or '.join(POLICIES)}.")


@dataclass(frozen=True)
class _Rows:
    """Rows of a file of predictions that are not blank: their numbers, and their cells by column."""

    where: str
    numbers: list[int]
    cells: Mapping[str, list]

    def error(self, title: str, row: int, problem: str) -> UserError:
        """An error that names column and row."""
        return UserError(f"{self.where}, column {title}, row {self.numbers[row]:,}: {problem}")


def read_predictions(path: str | Path, *, score_scale: ScoreScale | None = None) -> Predictions:
    """Predictions of a file of this project or of the authors, .xlsx or .csv.

    Of a workbook the sheet ``results`` is read, or else the first. IS_EMPATHY and ground-truth have to be
    there. What is not a finite number in them is missing, and counted in the notes; TRUE is no number.

    IS_EMPATHY holds the reading by one rule; the other is read from the reply in the column Output, unless that was cut
    at the limit of a cell, or scores are on another scale. So a file counts under either policy what it would count had
    it been written under that policy. Without the column Output, both readings are IS_EMPATHY; without the column
    status, a row without a score has the status ``UNSTATED``.

    Parameters
    ----------
    path : path
        The file.
    score_scale : ScoreScale, optional
        On which scale the scores of a file without statuses are; 1 to 5 if not given.

    Returns
    -------
    Predictions
        Rows in the order of the file, wholly blank ones left out.

    Raises
    ------
    UserError
        If the file can't be read, lacks a column that is needed or has one twice, has a TaskId twice, an unknown status
        or a score that neither rule reads from the reply in Output, or numbers that are not on its scale (IS_EMPATHY: 1
        to below 6, which is what the authors' rule gives, or that of ``score_scale``; ground-truth: 1 to 5).
    """
    path = Path(path)
    if path.suffix.casefold() not in ENDINGS:
        formats = " or ".join(ENDINGS)
        raise UserError(
            f"{path}: no file of predictions, which is a table of the format {formats}. "
            "Save it as one of these, with a row for each conversation."
        )
    is_csv = path.suffix.casefold() == ".csv"
    sheets = {SHEET: read_table(path)} if is_csv else read_sheets(path)
    if not sheets:
        raise UserError(
            f"{path}: the workbook has no sheet. Give it a sheet {SHEET} with the predictions."
        )
    sheet = sheets.get(SHEET) or next(iter(sheets.values()))
    marks = ratings = None
    if SYNTHETIC_SHEET in sheets:
        marks = {str(row[0]): str(row[1]) for row in sheets[SYNTHETIC_SHEET].rows if len(row) > 1}
    if SHEET in sheets and RATINGS_SHEET in sheets:
        levels = read_ratings_sheet(sheets[RATINGS_SHEET], f"{path}: sheet {RATINGS_SHEET}")
        ratings = {name: Run.of(rows) for name, rows in levels.groupby("rating", sort=False)}
    where = str(path) if is_csv else f"{path}: sheet {sheet.name}"
    rows = _rows_of(sheet, where)
    frame = _frame_of(rows)
    if marks is not None:
        frame["Model"] = SIMULATED_JUDGE

    states_status = "status" in rows.cells
    if states_status:
        score_scale = None
        allowed = (*STATUSES, NOT_ASKED, UNSTATED)
        for row, status in enumerate(frame["status"]):
            if status not in allowed:
                value = "blank" if status is None else repr(status)
                choices = ", ".join(allowed)
                problem = f"{value} is no status. Write one of {choices}, or remove the column."
                raise rows.error("status", row, problem)
    notes = _bring_to_scale(frame, rows, score_scale, path)
    truths = frame["ground-truth"].dropna()
    # Means of levels may miss the ends of the scale by an error of floating point.
    off = truths[~truths.between(LOWEST - _SLACK, HIGHEST + _SLACK)]
    if len(off):
        raise rows.error(
            "ground-truth",
            off.index[0],
            f"{off.iloc[0]:g} is off {_RATED_ON}, as are {len(off):,} of {len(truths):,}. "
            f"Ground truth is the mean of a user's ratings: write it on {_RATED_ON}.",
        )
    notes += _not_numbers(frame, rows)
    # Replies with ratings are JSON, and not read by either rule.
    replies = {}
    if not score_scale and ratings is None and "Output" in rows.cells:
        blank_is_reply = frame["Output"].notna().any() and not states_status
        read = functools.cache(read_reply)  # a judge may say the same of many conversations
        cells = zip(frame["Output"], frame["finish_reason"], strict=True)
        for row, (text, finish) in enumerate(cells):
            # One less than a cut text has, if half a pair is dropped.
            is_whole = utf16_units(text or "") < LONGEST_TEXT - 1
            if is_whole and (text or blank_is_reply):
                replies[row] = read(text, finish_reason=finish)
    notes += _take_readings(frame, rows, replies)
    frame = frame.drop(columns="policy").rename(columns=COLUMNS)
    notes += models_that_answered(frame)
    models = frame["returned_model"].fillna(frame["model"]).dropna().unique()
    return Predictions(path, path.stem, Run.of(frame), sorted(models), notes, marks, ratings)


def _rows_of(sheet: Sheet, where: str) -> _Rows:
    """Rows of a sheet; refused if it is not of predictions, or has a column twice."""
    header = [title.strip() for title in sheet.header]
    for title in EVALUATED:
        if title not in header:
            present = ", ".join(filter(None, header)) or "none"
            raise UserError(
                f"{where}: the column {title} is missing (columns present: {present}). "
                f"Add it or name it exactly {title}; if this is no file of predictions, move it elsewhere."
            )
    folded = {normalise_name(title): title for title in _DECIDING}
    for title in header:
        meant = folded.get(normalise_name(title), title)
        if meant not in header:
            raise UserError(
                f"{where}: the column {title} is not read under this name. If it is {meant}, name it "
                "exactly so; if it is something else, give it another name."
            )
    rows = {number: row for number, row in enumerate(sheet.rows, 2) if not all(map(is_blank, row))}
    cells = {}
    for title in COLUMNS:
        if header.count(title) > 1:
            raise UserError(
                f"{where}: the column {title} is there {header.count(title)} times. Remove all but one."
            )
        if title in header:
            column = header.index(title)
            cells[title] = [row[column] for row in rows.values()]
    return _Rows(where, list(rows), cells)


def _frame_of(rows: _Rows) -> pd.DataFrame:
    """Columns of a file that are read, by their titles; refused if it has a conversation twice."""
    frame = pd.DataFrame(index=range(len(rows.numbers)))
    for title in _READ:
        cells = rows.cells.get(title, [None] * len(rows.numbers))
        if title in EVALUATED:
            frame[title] = pd.Series(map(as_number, cells), dtype=float)
        elif title in _NAMES:
            frame[title] = pd.Series(as_names(cells), dtype=object)
        else:
            frame[title] = pd.Series(as_texts(cells), dtype=object)
    names = frame["TaskId"].dropna()
    repeated = names[names.duplicated(keep=False)]
    if len(repeated):
        name = repeated.iloc[0]
        numbers = ", ".join(f"{rows.numbers[row]:,}" for row in repeated.index[repeated == name])
        raise UserError(
            f"{rows.where}, column TaskId: {name!r} is in rows {numbers} ({repeated.nunique():,} TaskIds are "
            "there more than once). A file holds one run: keep one row a conversation."
        )
    return frame


def _bring_to_scale(
    frame: pd.DataFrame, rows: _Rows, scale: ScoreScale | None, path: Path
) -> list[str]:
    """Bring scores from a declared scale to 1..5, and note it; refused if a score is on neither."""
    scores = frame["IS_EMPATHY"].dropna()
    if scale:
        off = scores[~scores.map(scale.holds).astype(bool)]
        problem = f"off the scale {scale.option}"
        remedy = "Declare the scale that they are on: --score-scale WORST-BEST."
    else:
        off = scores[(scores < LOWEST) | (scores >= _ABOVE_AUTHORS)]
        problem = f"no score on {_RATED_ON}"
        remedy = f"Write them on {_RATED_ON}."
        if "status" not in rows.cells:
            remedy = (
                f"For the book, write them on {_RATED_ON}. To evaluate them as they are, declare their scale, worst "
                f"score first, such as: sense7 judge evaluate {path} --score-scale 0-100"
            )
    if len(off):
        row = off.index[0]
        cell = rows.cells["IS_EMPATHY"][row]
        problem += f", as are {len(off):,} of {len(scores):,}"
        extremes = f"the scores run from {scores.min():g} to {scores.max():g}"
        raise rows.error("IS_EMPATHY", row, f"{cell!r} is {problem}; {extremes}. {remedy}")
    if not scale:
        return []
    note = f"IS_EMPATHY: scores on the scale {scale.option}, rescaled linearly to 1..5"
    if len(scores):
        note += f"; their mean as given is {scores.mean():.4g}"
    frame["IS_EMPATHY"] = scale.rescaled(frame["IS_EMPATHY"].to_numpy(), HIGHEST)
    return [note]


def _not_numbers(frame: pd.DataFrame, rows: _Rows) -> list[str]:
    """Notes on cells that are neither blank nor a number."""
    notes = []
    for title in EVALUATED:
        unread = []
        missing = frame[title].isna()
        for number, cell, is_missing in zip(rows.numbers, rows.cells[title], missing, strict=True):
            if is_missing and not is_blank(cell):
                unread.append(f"{cell!r} in row {number:,}")
        if unread:
            count = count_of(len(unread), "cell")
            notes.append(
                f"{title}: {count} not a number, counted as missing; the first is {unread[0]}"
            )
    return notes


def _take_readings(frame: pd.DataFrame, rows: _Rows, replies: Mapping[int, Reply]) -> list[str]:
    """Give each row a status and both readings, of its reply where that is there; note numbers that do not count."""
    number = frame["IS_EMPATHY"]
    if "status" not in rows.cells:
        frame["status"] = pd.Series(np.where(number.notna(), "ok", UNSTATED), dtype=object)
    is_usable = frame["status"] == "ok"
    # What is beside an unusable reply is the authors' reading, or nothing.
    frame["authors_score"] = number.where(~is_usable & (frame["policy"] == "authors"))
    frame["IS_EMPATHY"] = number.where(is_usable)
    frame["doubtful"] = False
    is_lacking = is_usable & number.isna()
    frame.loc[is_lacking, "status"] = UNSTATED
    notes = []
    if is_lacking.any():
        lacking = count_of(is_lacking.sum(), "row")
        notes.append(f"status: {lacking} ok without a score, counted as missing")

    refused, readings = {}, {}
    scored_rows = (is_usable & number.notna()).tolist()
    statuses, scores = frame["status"].tolist(), number.tolist()
    for row, reply in replies.items():
        status = statuses[row]
        if scored_rows[row] and scores[row] not in (reply.score, reply.authors_score):
            raise rows.error(
                "IS_EMPATHY",
                row,
                f"{scores[row]:g} is not the score of the reply in the column Output, by either rule. Correct it; or "
                "remove the column Output, if it does not hold the replies.",
            )
        if status == "refusal":
            refused[row] = reply.authors_score
        if status in _READ_AGAIN:
            readings[row] = reply
    unusable = sum(scored_rows[row] and reply.score is None for row, reply in readings.items())
    if unusable:
        count = count_of(unusable, "row")
        notes.append(
            f"IS_EMPATHY: {count} with a number of an unusable reply, as the column Output shows; it counts under the "
            "policy authors alone"
        )
    frame.loc[list(refused), "authors_score"] = list(refused.values())
    for title in ("IS_EMPATHY", "authors_score", "status", "reason", "doubtful"):
        values = [getattr(reply, COLUMNS.get(title, title)) for reply in readings.values()]
        frame.loc[list(readings), title] = np.array(values, dtype=frame[title].dtype)

    lost = number.notna() & frame["IS_EMPATHY"].isna() & frame["authors_score"].isna()
    if lost.any():
        first = lost.idxmax()
        count = count_of(lost.sum(), "number")
        notes.append(
            f"IS_EMPATHY: {count} beside a status that says there is no score, counted as missing; the first is "
            f"{number[first]:g} beside {frame['status'][first]} in row {rows.numbers[first]:,}"
        )
    return notes


def models_that_answered(frame: pd.DataFrame) -> list[str]:
    """Note the models that answered a run, unless it is the model alone that was asked."""
    replies = frame[frame["output"].notna() & (frame["model"] != SIMULATED_JUDGE)]
    answering = replies["returned_model"].value_counts()
    models = replies["model"].dropna().unique()
    if answering.empty or answering.index.tolist() == models.tolist():
        return []
    counts = [
        f"{name} ({count_of(number, 'reply', 'replies')})" for name, number in answering.items()
    ]
    note = (
        f"asked was the model {' and '.join(models)}; the endpoint names as the model that answered "
        f"{', '.join(counts)}"
    )
    if len(counts) > 1:
        note += ". The model changed during the run, so that its scores are of several"
    return [note]
