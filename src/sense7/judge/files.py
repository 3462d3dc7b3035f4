"""On which scale a judge's scores are: the option that declares it, and what is refused without it."""

import hashlib
import io
import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

from sense7.errors import UserError
from sense7.files import one_line, reading
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
    check_policy,
    read_reply,
)
from sense7.taxonomy import SIMULATED_JUDGE, SIMULATED_WORDS, SYNTHETIC_SHEET
from sense7.terminal import count_of
from sense7.workbook.ids import as_names, as_number, as_texts, distinct_keys, is_blank
from sense7.workbook.options import Interval, parse_interval
from sense7.workbook.tables import read_text
from sense7.workbook.xlsx import LONGEST_TEXT, Sheet, read_sheets, write_sheets

__all__ = [
    "COLUMNS",
    "ForeignFile",
    "Predictions",
    "ScoreScale",
    "counted_scores",
    "read_predictions",
    "write_predictions",
]

_ABOVE_AUTHORS = 6.0
_OTHERWISE = re.compile(r"\s*([-+]?[0-9]+(?:[.,][0-9]+)?)\s*(%?)\s*")
_USUAL = ("0-1", "0-4", "1-7", "0-10", "0-100")


class ScoreScale(Interval):
    """A scale from its worst score (``lowest``) to its best (``highest``), which may be the lower number."""

    @classmethod
    def of(cls, text: str) -> "ScoreScale":
        """Read a scale such as ``0-100``, ``1-7`` or, where a low number is the better, ``5-1``."""
        ends = parse_interval(text, "--score-scale")
        return cls(ends.lowest, ends.highest)

    def __str__(self):
        return self.option

    def rescale(self, cells: list, numbers: list[int], where: str) -> tuple[pd.Series, str]:
        """Rescale cells linearly to 1..5: ``1 + 4 (x - lowest) / (highest - lowest)``."""
        scores = pd.Series([self._number(cell) for cell in cells], dtype=float)
        off = scores.notna() & ~scores.map(self.holds)
        if off.any():
            index = off.idxmax()
            raise UserError(
                f"{where}, row {numbers[index]:,}: {cells[index]!r} is off the scale {self}, as are {off.sum():,} of "
                f"{scores.notna().sum():,} scores. Declare the scale that they are on: --score-scale WORST-BEST."
            )
        mean = f"; their mean as given is {scores.mean():.4g}" if scores.notna().any() else ""
        note = f"IS_EMPATHY: scores on the scale {self}, rescaled linearly to 1..5{mean}"
        return self.rescaled(scores, HIGHEST), note

    def _number(self, cell) -> float:
        number, percent = _read(cell)
        return number / 100 if percent and max(abs(self.lowest), abs(self.highest)) <= 1 else number


def _read(cell) -> tuple[float, bool]:
    """The number of a cell, however it is written, and whether it has a percent sign; NaN if there is none."""
    number = as_number(cell)
    if number is None and isinstance(cell, str) and (match := _OTHERWISE.fullmatch(cell)):
        return float(match[1].replace(",", ".")), bool(match[2])
    return (np.nan if number is None else number), False


def require_authors_scale(cells: list, numbers: list[int], where: str, path: Path | str = "") -> None:
    """Refuse scores that the authors' rule can't have given: below 1, from 6 on, with a percent sign or a comma."""
    keys = distinct_keys(cells)
    distinct = {key: key if keys is cells else key[1] for key in dict.fromkeys(keys)}
    values = {key: np.nan if is_blank(cell) else _read(cell)[0] for key, cell in distinct.items()}
    no_number = {key: as_number(cell) is None for key, cell in distinct.items()}
    read = np.array([values[key] for key in keys], dtype=float)
    otherwise = np.array([no_number[key] for key in keys], dtype=bool)
    off = np.flatnonzero(~np.isnan(read) & (otherwise | (read < LOWEST) | (read >= _ABOVE_AUTHORS)))
    if not len(off):
        return
    known = read[~np.isnan(read)]
    message = (
        f"{where}, row {numbers[off[0]]:,}: {cells[off[0]]!r} is no score on the scale from {LOWEST:g} to {HIGHEST:g}, "
        f"as are {len(off):,} of {len(known):,}; the scores run from {known.min():g} to {known.max():g}."
    )
    if not path:
        raise UserError(f"{message} Write them on the scale from {LOWEST:g} to {HIGHEST:g}.")
    guess = _likely_scale(known, percent="%" in "".join(map(str, cells)))
    raise UserError(
        f"{message} For the book, write them on the scale from {LOWEST:g} to {HIGHEST:g}. To evaluate them as "
        f"they are, declare their scale, worst score first; if it is {guess}: "
        f"sense7 judge evaluate {path} --score-scale {guess}"
    )


def _likely_scale(scores: np.ndarray, *, percent: bool) -> str:
    """The scale that scores are probably on: 1 to 5, the first usual one that holds them, or from least to largest."""
    low, high = float(scores.min()), float(scores.max())
    if low >= LOWEST and high <= HIGHEST and not percent:
        return f"{LOWEST:g}-{HIGHEST:g}"
    fitting = (scale for scale in map(ScoreScale.of, _USUAL) if scale.holds(low) and scale.holds(high))
    return next(map(str, fitting), f"{low:g}-{high:g}")


ENDINGS = (".csv", ".xlsx")
SHEET = "results"

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
    "finish_reason": "finish_reason",
    "input_tokens": "input_tokens",
    "output_tokens": "output_tokens",
    "altered": "altered",
}
"""Column of a file -> column of the frame. The first eleven are the authors'; they do not say how Chat and
OnlyChat differ, so both hold the conversation. ``policy`` says by which rule IS_EMPATHY was read."""

FRAME_COLUMNS = tuple(dict.fromkeys(name for name in COLUMNS.values() if name))
READ_COLUMNS = ("authors_score", "doubtful")
"""What a frame holds besides: the reading by the authors' rule and whether a reading is doubtful; files hold the text
(Output) that both are read from."""

NUMBERS = ("score", "seconds", "ground_truth", "run", "input_tokens", "output_tokens")
NAMES = ("conversation", "participant")
COUNTED = ("run", "input_tokens", "output_tokens")
REQUIRED = ("conversation", "participant", "score", "status")
EVALUATED = ("IS_EMPATHY", "ground-truth")
LONG_TEXTS = (
    "reasoning",
    "chat",
    "prompt",
    "output",
    "reason",
    "returned_model",
    "system_fingerprint",
    "finish_reason",
)

_MARK = " [.. cut: {:,} characters in all]"
_CUT = "cut at the limit of a cell"
_REPLACED = "replaced characters that no cell can hold"
_UNHOLDABLE = re.compile("[\ud800-\udfff\ufffe\uffff]")
_RUN = re.compile(r"-iter([0-9]{1,9})$")
_UNSAFE = re.compile(r"[^A-Za-z0-9._+=@-]|^\.")
_UNSAFE_OR_HYPHEN = re.compile(rf"{_UNSAFE.pattern}|-")
_LONGEST_PART = 80
_SLACK = 1e-9


class ForeignFile(UserError):
    """A table without scores: in a folder of predictions it is left out."""


@dataclass(frozen=True, eq=False)
class Predictions:
    """One file of predictions, read.

    Attributes
    ----------
    path : Path
        The file.
    name : str
        Its name without the ending.
    frame : DataFrame
        One row per conversation, with ``FRAME_COLUMNS``: conversation, participant (text; None if blank), score
        (by the strict rule, under any policy of the file; NaN if there is none), status (one of ``STATUSES``, or
        ``UNSTATED``), ground_truth and the other numbers (NaN if blank), reason and altered (""
        if blank), further texts (None if blank). Then ``READ_COLUMNS``: authors_score (NaN where it follows from
        score and status, see :func:`counted_scores`) and doubtful.
    absent : frozenset of str
        Columns of the frame that the file does not have.
    notes : list of str
        What was found and is not an error, each with its count.
    marks : mapping or None
        What the sheet of a simulated judge says of its making: key -> value; None where there is no such sheet.
    ratings : DataFrame or None
        Ratings of turns or dimensions, see :func:`sense7.judge.ratings.read_ratings_sheet`; None where there are none.
    """

    path: Path
    name: str
    frame: pd.DataFrame = field(repr=False)
    absent: frozenset[str] = frozenset()
    notes: list[str] = field(default_factory=list)
    marks: Mapping[str, str] | None = None
    ratings: pd.DataFrame | None = field(default=None, repr=False)

    @property
    def judge(self) -> str:
        """Its name without the number of the run, which is what the runs of one judge have in common."""
        return self.called(_RUN.sub("", self.name))

    @property
    def simulated(self) -> bool:
        """Whether a simulated judge made it, by the sheet that says so or by the column Model of any row."""
        return self.marks is not None or bool((self.frame["model"] == SIMULATED_JUDGE).any())

    def called(self, name: str) -> str:
        """Give a name of this file the word simulated, if a simulated judge made it and the name does not say so."""
        return f"{SIMULATED_WORDS}: {name}" if self.simulated and "simulated" not in name.casefold() else name

    @property
    def answered(self) -> int:
        """Rows for which the judge gave an answer, usable or not."""
        return int((~self.frame["status"].isin(("api_error", NOT_ASKED, UNSTATED))).sum())


def prediction_path(folder: str | Path, model: str, prompt_name: str, run: int) -> Path:
    """Return the path of a run's file: ``{model}-{prompt name}-iter{N}.xlsx``."""
    if run < 1 or not model or not prompt_name:
        raise ValueError(f"a run is counted from 1, and model and prompt have names: {model!r}, {prompt_name!r}, {run}")
    return Path(folder) / f"{_file_part(model, hyphens=True)}-{_file_part(prompt_name, hyphens=False)}-iter{run}.xlsx"


def prediction_files(folder: str | Path) -> list[Path]:
    """Files of a folder that may hold predictions, by name, iter2 before iter10."""
    files = (path for path in Path(folder).iterdir() if path.suffix.casefold() in ENDINGS and not path.is_dir())
    return sorted((path for path in files if path.name[0] not in "~."), key=lambda path: _natural(path.name))


def _natural(name: str) -> list[tuple[int, int, str]]:
    """A key by which iter2 comes before iter10."""
    parts = re.split(r"([0-9]+)", name)
    return [(1, int(part), part) if index % 2 else (0, 0, part) for index, part in enumerate(parts)]


def write_predictions(
    path: str | Path, frame: pd.DataFrame, *, policy: str = "strict", further: Sequence[Sheet] = ()
) -> list[str]:
    """Write one run as an .xlsx file, whole or not at all."""
    path = Path(path)
    if SKIPPED_WORD in str(path.absolute()):
        raise UserError(
            f"{path.absolute()}: the path holds the word {SKIPPED_WORD}, and the authors' evaluation passes over "
            "such files. Choose another folder or name."
        )
    _require_writable(frame)
    scores = [_cell(score, "score") for score in counted_scores(frame, policy)]
    cells = {name: [_cell(value, name) for value in frame[name]] for name in frame if name not in READ_COLUMNS}
    altered, counts = _fit_texts(cells, len(frame))
    columns = {title: cells.get(name, [None] * len(frame)) for title, name in COLUMNS.items()}
    columns |= {"IS_EMPATHY": scores, "policy": [policy] * len(frame), "altered": altered}
    rows = [list(row) for row in zip(*columns.values(), strict=True)]
    write_sheets([Sheet(SHEET, list(columns), rows), *further], path)
    return [f"{path.name}: column {title}: {kind}; rows: {count:,}" for (title, kind), count in counts.items()]


def _fit_texts(cells: dict[str, list], rows: int) -> tuple[list[str | None], Counter[tuple[str, str]]]:
    """Fit long texts to their cells, in place."""
    altered = [[remark] if remark else [] for remark in cells.get("altered", [None] * rows)]
    counts: Counter[tuple[str, str]] = Counter()
    for name in LONG_TEXTS:
        title = next(title for title, known in COLUMNS.items() if known == name)
        for row, text in enumerate(cells.get(name, ())):
            if text is not None:
                cells[name][row], remarks = _fitted(str(text))
                altered[row] += [f"{title}: {remark}" for remark in remarks.values()]
                counts.update((title, kind) for kind in remarks)
    return ["; ".join(remarks) or None for remarks in altered], counts


def counted_scores(frame: pd.DataFrame, policy: str = "strict") -> np.ndarray:
    """Return the scores that count under a policy.

    Parameters
    ----------
    frame : DataFrame
        Predictions with ``score``; with ``status`` and ``authors_score`` if the policy is to matter.
    policy : {"strict", "authors"}
        The strict reading, none for an unusable reply; or the authors': ``authors_score``, where that is missing
        the score, and 3 for an unusable reply. A row whose status is unstated, or that was never asked, has none under
        either, as in the authors' evaluation, which drops what is not a number.

    Returns
    -------
    array of float
        NaN where there is none.

    Raises
    ------
    UserError
        If there is no such policy.

    Examples
    --------
    >>> run = pd.DataFrame({"score": [4.0, np.nan, np.nan], "status": ["ok", "refusal", "parse_failure"]})
    >>> run["authors_score"] = [4.0, np.nan, 1.0]
    >>> counted_scores(run).tolist(), counted_scores(run, "authors").tolist()
    ([4.0, nan, nan], [4.0, 3.0, 1.0])
    """
    check_policy(policy)
    score = frame["score"].to_numpy(dtype=float)
    failed = frame["status"].isin(FAILURES).to_numpy() if "status" in frame else np.zeros(len(frame), bool)
    score = np.where(failed, AUTHORS_DEFAULT if policy == "authors" else np.nan, score)
    if policy == "strict" or "authors_score" not in frame:
        return score
    read = frame["authors_score"].to_numpy(dtype=float)
    return np.where(np.isnan(read), score, read)


def read_predictions(path: str | Path, *, score_scale: ScoreScale | None = None) -> Predictions:
    """Predictions of a file of this project or of the authors, .xlsx or .csv.

    Of a workbook the sheet ``results`` is read, or else the first. IS_EMPATHY and ground-truth have to be
    there. What is not a finite number in them is missing, and counted in the notes; TRUE is no number.

    IS_EMPATHY holds the reading by one rule; the other is read from the reply in the column Output, where
    that is whole and IS_EMPATHY is one of its two readings. So a file counts under either policy what it would count
    had it been written under that policy. Where Output does not hold the reply, both readings are IS_EMPATHY.

    A file without the column status is read so only if Output is seen to hold the replies (every number that can be
    read from one is the score of its row): a 3 beside a reply without a score is then the authors' default. A
    row without a score has the status ``UNSTATED`` there.

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
        If the file can't be read, lacks a column that is needed or has one twice, has a TaskId
        twice or an unknown status, or numbers that are not on its scale (IS_EMPATHY: 1 to below 6, which is what the
        authors' rule gives, or that of ``score_scale``; ground-truth: 1 to 5).
    ForeignFile
        If no column is called IS_EMPATHY or nearly so.
    """
    path = Path(path)
    if path.suffix.casefold() == ".csv":
        sheet, marks, ratings, where = _csv_sheet(path), None, None, f"{path}"
    else:
        sheet, marks, ratings = _workbook_sheet(path)
        where = f"{path}: sheet {sheet.name}"
    table = _table(sheet, where)
    frame = table.frame()
    _require_distinct(frame["conversation"], table.rows, where)
    stated = "status" in table.cells
    if stated:
        _require_statuses(frame["status"], table.rows, where)
    scale = None if stated else score_scale
    notes = _rescale(frame, scale, table, where, "" if stated else path)
    _require_truths(frame["ground_truth"], table.rows, where)
    notes += _not_numbers("IS_EMPATHY", frame["score"], table) + _not_numbers(
        "ground-truth", frame["ground_truth"], table
    )
    frame["authors_score"], frame["doubtful"] = np.nan, False
    if stated:
        by_authors = [policy == "authors" for policy in table.cells.get("policy", table.blank)]
        notes += _drop_scores_of_failures(frame, np.array(by_authors, dtype=bool))
    else:
        frame["status"] = pd.Series(np.where(frame["score"].notna(), "ok", UNSTATED), dtype=object)
    if not scale and ratings is None:  # of which the replies are JSON, and not read by either rule
        notes += _read_outputs(frame, stated=stated)
    if "run" not in table.cells and (run := _RUN.search(path.stem)):
        frame["run"] = float(run[1])
    absent = frozenset(FRAME_COLUMNS) - {COLUMNS[title] for title in table.cells}
    return Predictions(path, path.stem, frame, absent, notes, marks, ratings)


class _Table(NamedTuple):
    """Numbers of the rows that are not blank, and known columns of the file -> their cells."""

    rows: list[int]
    cells: dict[str, list]

    @property
    def blank(self) -> list[None]:
        return [None] * len(self.rows)

    def frame(self) -> pd.DataFrame:
        """The columns of the frame."""
        titles = {COLUMNS[title]: title for title in reversed(self.cells)}  # of Chat and OnlyChat the first
        return pd.DataFrame(
            {name: _column(name, self.cells.get(titles.get(name), self.blank)) for name in FRAME_COLUMNS}
        )


def _table(sheet: Sheet, where: str) -> _Table:
    columns = _column_numbers(sheet, where)
    rows = {number: row for number, row in enumerate(sheet.rows, 2) if not all(map(is_blank, row))}
    return _Table(list(rows), {title: [row[column] for row in rows.values()] for title, column in columns.items()})


def _rescale(frame: pd.DataFrame, scale: ScoreScale | None, table: _Table, where: str, path: Path | str) -> list[str]:
    """Bring scores of another scale to 1 to 5, with a note; without a scale refuse what is not by the authors' rule."""
    cells, column = table.cells["IS_EMPATHY"], f"{where}, column IS_EMPATHY"
    if scale:
        frame["score"], note = scale.rescale(cells, table.rows, column)
        return [note]
    require_authors_scale(cells, table.rows, column, path)
    return []


def read_files(
    paths: Sequence[Path], *, required: Collection[Path] = (), score_scale: ScoreScale | None = None
) -> tuple[list[Predictions], dict[Path, str]]:
    """Read files of folders, leaving out those that hold no predictions."""
    files, left_out = [], {}
    for path in paths:
        try:
            files.append(read_predictions(path, score_scale=score_scale))
        except UserError as error:
            if path in required or not (isinstance(error, ForeignFile) or _names_no_score(path)):
                raise
            left_out[path] = f"left out, since it holds no column {EVALUATED[0]}"
    return files, left_out


def _names_no_score(path: Path) -> bool:
    """Whether the first line of a .csv file is there and does not name the score."""
    if path.suffix.casefold() != ".csv":
        return False
    with reading(path) as stream:
        line = stream.readline(2**16).replace(b"\0", b"")  # UTF-16 has a zero in each letter
    return bool(line.strip()) and EVALUATED[0].encode() not in line.upper()


def _file_part(text: str, *, hyphens: bool) -> str:
    """A text as part of a file's name: ASCII, not hidden, not too long, and different for different texts."""
    unsafe = _UNSAFE if hyphens else _UNSAFE_OR_HYPHEN
    safe = unsafe.sub(lambda match: "".join(f"%{byte:02X}" for byte in _bytes(match[0])), text)
    if len(safe) <= _LONGEST_PART:
        return safe
    return f"{safe[: _LONGEST_PART - 17]}~{hashlib.sha256(_bytes(text)).hexdigest()[:16]}"  # only here is a ~


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", errors="surrogatepass")


def _require_writable(frame: pd.DataFrame) -> None:
    missing = [name for name in REQUIRED if name not in frame]
    unknown = [name for name in frame if name not in (*FRAME_COLUMNS, *READ_COLUMNS)]
    if missing or unknown:
        raise ValueError(f"predictions lack the columns {missing} or have unknown ones {unknown}")
    if unlisted := sorted(set(frame["status"]) - {*STATUSES, NOT_ASKED}, key=str):
        raise ValueError(f"unknown statuses: {unlisted}")
    if (frame["score"].isna() & (frame["status"] == "ok")).any():
        raise ValueError("a prediction is ok and has no score")
    if not (known := frame.loc[frame["status"] == "ok", "score"].astype(float)).between(LOWEST, HIGHEST).all():
        raise ValueError(
            f"scores are from {LOWEST:g} to {HIGHEST:g}; these run from {known.min():g} to {known.max():g}"
        )
    if frame["conversation"].isna().any() or frame["conversation"].duplicated().any():
        raise ValueError("a conversation is blank or there twice")


def _cell(value, name: str):
    """A value of a frame as a cell: None if there is none, and no type of numpy's."""
    if pd.isna(value):
        return None
    value = value.item() if isinstance(value, np.generic) else value
    return int(value) if name in COUNTED else value


def _fitted(text: str) -> tuple[str, dict[str, str]]:
    """A text as a cell can hold it; what was done, by kind."""
    remarks = {}
    text, count = _UNHOLDABLE.subn("\ufffd", text)
    if count:
        remarks[_REPLACED] = f"{_REPLACED} ({count:,})"
    if len(text) > LONGEST_TEXT // 2 and (length := len(text.encode("utf-16-le")) // 2) > LONGEST_TEXT:
        mark = _MARK.format(length)
        # Characters of a cell are UTF-16 units; half of a pair is dropped with the rest.
        kept = text.encode("utf-16-le")[: 2 * (LONGEST_TEXT - len(mark))].decode("utf-16-le", errors="ignore")
        text = kept + mark
        remarks[_CUT] = f"{_CUT}, {length:,} characters in all"
    return text, remarks


def _workbook_sheet(path: Path) -> tuple[Sheet, dict[str, str] | None, pd.DataFrame | None]:
    """The sheet of predictions; what a simulated judge's own sheet says, and the ratings, if there are any."""
    sheets = read_sheets(path)
    if not sheets:
        raise UserError(f"{path}: the workbook has no sheet. Give it a sheet {SHEET} with the predictions.")
    marked = sheets.get(SYNTHETIC_SHEET)
    marks = None if marked is None else {str(row[0]): str(row[1]) for row in marked.rows if len(row) > 1}
    ratings = sheets.get(RATINGS_SHEET) if SHEET in sheets else None
    read = None if ratings is None else read_ratings_sheet(ratings, f"{path}: sheet {RATINGS_SHEET}")
    return sheets.get(SHEET) or next(iter(sheets.values())), marks, read


def _csv_sheet(path: Path) -> Sheet:
    text = io.StringIO(read_text(path))
    try:
        table = pd.read_csv(text, header=None, dtype=str, na_filter=False, skip_blank_lines=False)
    except pd.errors.EmptyDataError:
        raise UserError(f"{path}: the file is empty. Save it again, or leave it out.") from None
    except pd.errors.ParserError as error:
        raise UserError(f"{path}: not a table that can be read ({one_line(error)}). Save it again as CSV.") from None
    rows = [[None if pd.isna(cell) or cell == "" else cell for cell in row] for row in table.to_numpy(dtype=object)]
    return Sheet(SHEET, [cell or "" for cell in rows[0]], rows[1:])


def _column_numbers(sheet: Sheet, where: str) -> dict[str, int]:
    """Number of each known column in a row."""
    header = [title.strip() for title in sheet.header]
    for title in EVALUATED:
        if title not in header:
            present = ", ".join(filter(None, header)) or "none"
            foreign = not any(EVALUATED[0].casefold() in cell.casefold() for cell in header)
            raise (ForeignFile if foreign else UserError)(
                f"{where}: the column {title} is missing (columns present: {present}). "
                f"Add it or name it exactly {title}; if this is no file of predictions, move it elsewhere."
            )
    for title in COLUMNS:
        if header.count(title) > 1:
            raise UserError(f"{where}: the column {title} is there {header.count(title)} times. Remove all but one.")
    return {title: header.index(title) for title in COLUMNS if title in header}


def _column(name: str, cells: list) -> pd.Series:
    if name in NUMBERS:
        keys = distinct_keys(cells)
        numbers = {key: _number(key if keys is cells else key[1]) for key in dict.fromkeys(keys)}
        return pd.Series([numbers[key] for key in keys], dtype=float)
    texts = as_names(cells) if name in (*NAMES, "status") else as_texts(cells)
    blank = "" if name in ("reason", "altered") else None
    return pd.Series([blank if text is None else text for text in texts], dtype=object)


def _number(cell) -> float | None:
    number = as_number(cell)
    return number if number is not None and np.isfinite(number) else None


def _not_numbers(title: str, read: pd.Series, table: _Table) -> list[str]:
    """A note on the cells of a column that are neither blank nor numbers; none if there are none."""
    cells = zip(table.rows, table.cells[title], read, strict=True)
    others = [(row, cell) for row, cell, number in cells if np.isnan(number) and not is_blank(cell)]
    if not others:
        return []
    row, cell = others[0]
    count = count_of(len(others), "cell")
    return [f"{title}: {count} not a number, counted as missing; the first is {cell!r} in row {row:,}"]


def _require_truths(truths: pd.Series, numbers: list[int], where: str) -> None:
    """Refuse ground truth off the scale; means of levels may miss its ends by an error of floating point."""
    off = truths.notna() & ~truths.between(LOWEST - _SLACK, HIGHEST + _SLACK)
    if off.any():
        index = off.idxmax()
        raise UserError(
            f"{where}, column ground-truth, row {numbers[index]:,}: {truths[index]:g} is off the scale from {LOWEST:g} "
            f"to {HIGHEST:g}, as are {off.sum():,} of {truths.notna().sum():,}. Ground truth is the mean of a user's "
            f"ratings: write it on the scale from {LOWEST:g} to {HIGHEST:g}."
        )


def _require_distinct(conversations: pd.Series, numbers: list[int], where: str) -> None:
    twice = conversations.notna() & conversations.duplicated(keep=False)
    if twice.any():
        first = conversations[twice].iloc[0]
        rows = ", ".join(f"{numbers[index]:,}" for index in conversations.index[conversations == first])
        raise UserError(
            f"{where}, column TaskId: {first!r} is in rows {rows} ({conversations[twice].nunique():,} TaskIds are "
            "there more than once). A file holds one run: keep one row a conversation."
        )


def _require_statuses(statuses: pd.Series, numbers: list[int], where: str) -> None:
    unknown = ~statuses.isin((*STATUSES, NOT_ASKED))
    if unknown.any():
        index = statuses.index[unknown][0]
        status = "blank" if statuses[index] is None else repr(statuses[index])
        raise UserError(
            f"{where}, column status, row {numbers[index]:,}: {status} is no status. "
            f"Write one of {', '.join((*STATUSES, NOT_ASKED))}, or remove the column."
        )


def _drop_scores_of_failures(frame: pd.DataFrame, by_authors: np.ndarray) -> list[str]:
    """What IS_EMPATHY holds for an unusable reply is by the authors' rule, or nothing."""
    failed = frame["status"] != "ok"
    frame["authors_score"] = frame["score"].where(failed & by_authors)
    frame.loc[failed, "score"] = np.nan
    lacking = (frame["status"] == "ok") & frame["score"].isna()
    if not lacking.any():
        return []
    frame.loc[lacking, "status"] = UNSTATED
    return [f"status: {count_of(lacking.sum(), 'row')} ok without a score, counted as missing"]


def _may_be_cut(text: str) -> bool:
    return len(text.encode("utf-16-le", "surrogatepass")) // 2 >= LONGEST_TEXT - 1  # one less: half a pair is dropped


def _read_outputs(frame: pd.DataFrame, *, stated: bool) -> list[str]:
    """Read the replies in the column Output by both rules; see :func:`read_predictions`."""
    replies = _replies(frame, stated=stated)
    taken = _replies_of_scores(frame, replies, stated=stated)
    if taken is None:
        return []
    notes = _notes_on_unusable([reply for reply in taken.values() if reply.score is None])
    status = frame["status"].to_numpy()
    taken |= {row: reply for row, reply in replies.items() if status[row] in ("parse_failure", "truncated")}
    names = ("score", "authors_score", "status", "reason", "doubtful")
    columns = {name: frame[name].to_numpy(copy=True) for name in names}
    for row, reply in taken.items():
        for name, values in columns.items():
            values[row] = np.nan if (value := getattr(reply, name)) is None else value
    for row in replies.keys() & set(np.flatnonzero(status == "refusal")):
        columns["authors_score"][row] = replies[row].authors_score
    frame[list(columns)] = pd.DataFrame(columns, index=frame.index)
    return notes


def _replies_of_scores(frame: pd.DataFrame, replies: dict[int, Reply], *, stated: bool) -> dict[int, Reply] | None:
    """Row -> reply of which IS_EMPATHY is a reading; None if Output is not seen to hold the replies."""
    score, status = frame["score"].to_numpy(), frame["status"].to_numpy()
    scored = {row: reply for row, reply in replies.items() if status[row] == "ok"}
    taken = {row: reply for row, reply in scored.items() if score[row] in (reply.score, reply.authors_score)}
    numbers = {row for row, reply in scored.items() if reply.score is not None or reply.doubtful}
    return taken if stated or (numbers and not numbers - taken.keys()) else None


def _replies(frame: pd.DataFrame, *, stated: bool) -> dict[int, Reply]:
    """Row -> reply as read, where the column Output holds it whole."""
    rows = list(zip(frame["output"], frame["finish_reason"], strict=True))
    read = {  # once each: a judge may say the same of many conversations
        (text, finish): read_reply(text, finish_reason=finish)
        for text, finish in set(rows)
        if (text or not stated) and not _may_be_cut(text or "")
    }
    return {number: read[row] for number, row in enumerate(rows) if row in read}


def _notes_on_unusable(replies: Sequence[Reply]) -> list[str]:
    """Notes on the numbers that IS_EMPATHY holds for replies without a score."""
    doubtful = sum(reply.doubtful for reply in replies)
    of = "of an unusable reply, as the column Output shows"
    notes = []
    if defaults := len(replies) - doubtful:
        notes.append(f"IS_EMPATHY: {count_of(defaults, 'row')} with the default 3 {of}")
    if doubtful:
        number = f"{count_of(doubtful, 'row')} with a number {of}"
        notes.append(f"IS_EMPATHY: {number}; it counts under the policy authors alone")
    return notes
