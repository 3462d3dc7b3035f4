"""Prediction files: the authors' layout with a status and a reason beside each score, written and read."""

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pandas as pd

from sense7.errors import UserError
from sense7.file_names import file_name
from sense7.judge.origins import RepliesSeen, in_words, other_models
from sense7.judge.ratings import SHEET as RATINGS_SHEET
from sense7.judge.ratings import read_ratings_sheet
from sense7.judge.reply import (
    AUTHORS_DEFAULT,
    FAILURES,
    NOT_ASKED,
    STATUSES,
    check_policy,
    read_reply,
)
from sense7.judge.score_text import HIGHEST, LOWEST
from sense7.taxonomy import SIMULATED_JUDGE, SIMULATED_WORDS, SYNTHETIC_SHEET
from sense7.terminal import count_of
from sense7.workbook.ids import as_names, as_number, as_texts, is_blank
from sense7.workbook.options import Interval, parse_interval
from sense7.workbook.tables import read_table
from sense7.workbook.xlsx import LONGEST_TEXT, Sheet, read_sheets, write_sheets

__all__ = [
    "COLUMNS",
    "JOURNAL",
    "Predictions",
    "ScoreScale",
    "counted_scores",
    "read_predictions",
    "without_repeats",
    "write_predictions",
]

ENDINGS = (".csv", ".xlsx")
JOURNAL = "journal.sqlite"
"""Beside them while a session has not ended: every answer to a request."""

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
    "response_id": "response_id",
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
COUNTED = ("run", "input_tokens", "output_tokens")
REQUIRED = ("conversation", "participant", "score", "status")
EVALUATED = ("IS_EMPATHY", "ground-truth")
TITLES = {name: title for title, name in reversed(COLUMNS.items())}
"""Column of the frame -> column of a file; of Chat and OnlyChat the first."""

LONG_TEXTS = (
    *("reasoning", "chat", "prompt", "output", "reason"),
    *("returned_model", "system_fingerprint", "response_id", "finish_reason"),
)
"""Columns of the frame that are fitted to the cells of a sheet."""

_ABOVE_AUTHORS = 6.0
_UNHOLDABLE = re.compile("[\ud800-\udfff\ufffe\uffff]")
_RUN = re.compile(r"-iter([0-9]{1,9})$")
_UNSAFE = "[^A-Za-z0-9._+=@-]"
_LONGEST_PART = 80
_SLACK = 1e-9


class ScoreScale(Interval):
    """A scale from its worst score (``lowest``) to its best (``highest``), which may be the lower number."""

    @classmethod
    def of(cls, text: str) -> "ScoreScale":
        """Read a scale such as ``0-100``, ``1-7`` or, where a low number is the better, ``5-1``."""
        ends = parse_interval(text, "--score-scale")
        return cls(ends.lowest, ends.highest)


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
        return bool((self.frame["model"] == SIMULATED_JUDGE).any())

    @property
    def by_task(self) -> pd.DataFrame:
        """The frame by conversation; refused if some row does not name its conversation."""
        if nameless := int(self.frame["conversation"].isna().sum()):
            raise UserError(
                f"{self.path}: column TaskId: blank or missing in {count_of(nameless, 'row')}, so its conversations "
                "can't be matched with others. Give each row its TaskId."
            )
        return self.frame.set_index("conversation")

    def called(self, name: str) -> str:
        """Give a name of this file the word simulated, if a simulated judge made it and the name does not say so."""
        return (
            f"{SIMULATED_WORDS}: {name}"
            if self.simulated and "simulated" not in name.casefold()
            else name
        )


def prediction_path(folder: str | Path, model: str, prompt_name: str, run: int) -> Path:
    """Return the path of a run's file: ``{model}-{prompt name}-iter{N}.xlsx``, in ASCII and not too long."""
    model_part = file_name(model, unsafe=_UNSAFE, longest=_LONGEST_PART) if model else ""
    prompt_part = (
        file_name(prompt_name, unsafe=f"{_UNSAFE}|-", longest=_LONGEST_PART) if prompt_name else ""
    )
    return Path(folder) / f"{model_part}-{prompt_part}-iter{run}.xlsx"


def prediction_files(folder: str | Path) -> list[Path]:
    """Files of a folder that may hold predictions, by name, iter2 before iter10."""
    files = (
        path
        for path in Path(folder).iterdir()
        if path.suffix.casefold() in ENDINGS and not path.is_dir()
    )

    def by_number(path: Path) -> list[tuple[int, int, str]]:
        parts = re.split(r"([0-9]+)", path.name)
        return [
            (1, int(part), part) if index % 2 else (0, 0, part) for index, part in enumerate(parts)
        ]

    return sorted((path for path in files if path.name[0] not in "~."), key=by_number)


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
    missing = [name for name in REQUIRED if name not in frame]
    unknown = [name for name in frame if name not in (*FRAME_COLUMNS, *READ_COLUMNS)]
    if missing or unknown:
        raise ValueError(f"predictions lack the columns {missing} or have unknown ones {unknown}")

    def cells(values, name: str | None) -> list:
        """Cells of a column: None where there is none, and no type of numpy's."""
        values = [
            None if pd.isna(one) else one.item() if isinstance(one, np.generic) else one
            for one in values
        ]
        return [None if one is None else int(one) for one in values] if name in COUNTED else values

    said = {name: cells(frame[name], name) for name in frame if name not in READ_COLUMNS}
    altered = [[remark] if remark else [] for remark in said.get("altered", [None] * len(frame))]
    counts: Counter[str] = Counter()
    for name in filter(said.get, LONG_TEXTS):
        for row, text in enumerate(said[name]):
            if text is None:
                continue
            said[name][row], kinds = _fitted(str(text))
            remarks = [f"{TITLES[name]}: {kind}" for kind in kinds]
            altered[row] += remarks
            counts.update(remarks)
    columns = {title: said.get(name, [None] * len(frame)) for title, name in COLUMNS.items()}
    columns |= {
        "IS_EMPATHY": cells(counted_scores(frame, policy), "score"),
        "policy": [policy] * len(frame),
    }
    columns["altered"] = ["; ".join(remarks) or None for remarks in altered]
    rows = [list(row) for row in zip(*columns.values(), strict=True)]
    write_sheets([Sheet(SHEET, list(columns), rows), *further], path, replace=not own, own=own)
    return [f"{path.name}: column {remark}; rows: {count:,}" for remark, count in counts.items()]


def _fitted(text: str) -> tuple[str, list[str]]:
    """A text as a cell can hold it, and what was done."""
    kinds = []
    text, count = _UNHOLDABLE.subn("\ufffd", text)
    if count:
        kinds.append("replaced characters that no cell can hold")
    if (
        len(text) > LONGEST_TEXT // 2
        and (length := len(text.encode("utf-16-le")) // 2) > LONGEST_TEXT
    ):
        mark = f" [.. cut: {length:,} characters in all]"
        # Characters of a cell are UTF-16 units; half of a pair is dropped with the rest.
        text = (
            text.encode("utf-16-le")[: 2 * (LONGEST_TEXT - len(mark))].decode(
                "utf-16-le", errors="ignore"
            )
            + mark
        )
        kinds.append("cut at the limit of a cell")
    return text, kinds


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
    failed = (
        frame["status"].isin(FAILURES).to_numpy()
        if "status" in frame
        else np.zeros(len(frame), bool)
    )
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
    """
    path = Path(path)
    is_csv = path.suffix.casefold() == ".csv"
    sheets = {SHEET: read_table(path)} if is_csv else read_sheets(path)
    if not sheets:
        raise UserError(
            f"{path}: the workbook has no sheet. Give it a sheet {SHEET} with the predictions."
        )
    sheet = sheets.get(SHEET) or next(iter(sheets.values()))
    marked, rated = (
        sheets.get(SYNTHETIC_SHEET),
        sheets.get(RATINGS_SHEET) if SHEET in sheets else None,
    )
    marks = (
        None
        if marked is None
        else {str(row[0]): str(row[1]) for row in marked.rows if len(row) > 1}
    )
    ratings = None if rated is None else read_ratings_sheet(rated, f"{path}: sheet {RATINGS_SHEET}")
    where = f"{path}" if is_csv else f"{path}: sheet {sheet.name}"

    header = [title.strip() for title in sheet.header]
    for title in EVALUATED:
        if title not in header:
            present = ", ".join(filter(None, header)) or "none"
            raise UserError(
                f"{where}: the column {title} is missing (columns present: {present}). "
                f"Add it or name it exactly {title}; if this is no file of predictions, move it elsewhere."
            )
    for title in COLUMNS:
        if header.count(title) > 1:
            raise UserError(
                f"{where}: the column {title} is there {header.count(title)} times. Remove all but one."
            )
    rows = {number: row for number, row in enumerate(sheet.rows, 2) if not all(map(is_blank, row))}
    cells = {
        title: [row[header.index(title)] for row in rows.values()]
        for title in COLUMNS
        if title in header
    }
    blank, stated = [None] * len(rows), "status" in cells
    known = {
        COLUMNS[title]: values for title, values in reversed(cells.items())
    }  # of Chat and OnlyChat the first
    frame = pd.DataFrame(
        {name: _column(name, known.get(name, blank)) for name in FRAME_COLUMNS},
        index=range(len(rows)),
    )

    if marks is not None:
        frame["model"] = SIMULATED_JUDGE

    def refuse(wrong, title: str, what: Callable[[int], str]) -> None:
        """Refuse the file if a row is wrong, naming the first."""
        if np.any(wrong):
            index = int(np.flatnonzero(wrong)[0])
            raise UserError(f"{where}, column {title}, row {list(rows)[index]:,}: {what(index)}")

    names, truths, status = frame["conversation"], frame["ground_truth"], frame["status"]
    twice = names.notna() & names.duplicated(keep=False)
    if twice.any():
        name = names[twice].iloc[0]
        places = ", ".join(
            f"{row:,}" for row, other in zip(rows, names, strict=True) if other == name
        )
        raise UserError(
            f"{where}, column TaskId: {name!r} is in rows {places} ({names[twice].nunique():,} TaskIds are "
            "there more than once). A file holds one run: keep one row a conversation."
        )
    listed = (
        f"is no status. Write one of {', '.join((*STATUSES, NOT_ASKED))}, or remove the column."
    )
    unlisted = ~status.isin((*STATUSES, NOT_ASKED)) & stated
    refuse(
        unlisted,
        "status",
        lambda row: f"{'blank' if status[row] is None else repr(status[row])} {listed}",
    )
    scale, notes, ours = (
        None if stated else score_scale,
        [],
        f"the scale from {LOWEST:g} to {HIGHEST:g}",
    )
    scores, is_known = frame["score"].to_numpy(), frame["score"].notna().to_numpy()
    if scale:
        off = is_known & ~np.array(list(map(scale.holds, scores)), dtype=bool)
        frame["score"] = scale.rescaled(scores, HIGHEST)
        mean = f"; their mean as given is {scores[is_known].mean():.4g}" if is_known.any() else ""
        notes.append(
            f"IS_EMPATHY: scores on the scale {scale.option}, rescaled linearly to 1..5{mean}"
        )
        what, remedy = (
            f"off the scale {scale.option}",
            "Declare the scale that they are on: --score-scale WORST-BEST.",
        )
    else:
        off = is_known & ((scores < LOWEST) | (scores >= _ABOVE_AUTHORS))
        what, remedy = f"no score on {ours}", f"Write them on {ours}."
        if not stated:
            remedy = (
                f"For the book, write them on {ours}. To evaluate them as they are, declare their scale, worst score "
                f"first, such as: sense7 judge evaluate {path} --score-scale 0-100"
            )
    if off.any():
        run = f"the scores run from {scores[is_known].min():g} to {scores[is_known].max():g}"
        what += f", as are {off.sum():,} of {is_known.sum():,}; {run}"
    refuse(off, "IS_EMPATHY", lambda row: f"{cells['IS_EMPATHY'][row]!r} is {what}. {remedy}")
    # Means of levels may miss the ends of the scale by an error of floating point.
    off = truths.notna() & ~truths.between(LOWEST - _SLACK, HIGHEST + _SLACK)
    counts = (
        f"{off.sum():,} of {truths.notna().sum():,}. "
        f"Ground truth is the mean of a user's ratings: write it on {ours}."
    )
    refuse(off, "ground-truth", lambda row: f"{truths[row]:g} is off {ours}, as are {counts}")
    for title, read in zip(EVALUATED, (frame["score"], truths), strict=True):
        wrong = np.flatnonzero(
            read.isna() & ~np.array(list(map(is_blank, cells[title])), dtype=bool)
        )
        if len(wrong):
            shown = f"{cells[title][wrong[0]]!r} in row {list(rows)[wrong[0]]:,}"
            count = count_of(len(wrong), "cell")
            notes.append(f"{title}: {count} not a number, counted as missing; the first is {shown}")
    frame["authors_score"], frame["doubtful"] = np.nan, False
    if stated:  # what IS_EMPATHY holds for an unusable reply is by the authors' rule, or nothing
        failed = status != "ok"
        frame["authors_score"] = frame["score"].where(
            failed & (pd.Series(cells.get("policy", blank)) == "authors")
        )
        frame["score"] = frame["score"].mask(failed)
        lacking = ~failed & frame["score"].isna()
        if lacking.any():
            frame.loc[lacking, "status"] = UNSTATED
            notes.append(
                f"status: {count_of(lacking.sum(), 'row')} ok without a score, counted as missing"
            )
    else:
        frame["status"] = pd.Series(np.where(frame["score"].notna(), "ok", UNSTATED), dtype=object)
    if not scale and ratings is None:  # of which the replies are JSON, and not read by either rule
        notes += _read_outputs(frame, stated=stated)
    notes += other_models(frame)
    if "run" not in cells and (run := _RUN.search(path.stem)):
        frame["run"] = float(run[1])
    return Predictions(path, path.stem, frame, notes, marks, ratings)


def without_repeats(files: Sequence[Predictions]) -> tuple[list[Predictions], dict[str, str]]:
    """Files without those that hold the replies of earlier ones once more; and file -> note on repeated replies."""
    seen = RepliesSeen()
    distinct: list[Predictions] = []
    notes: dict[str, str] = {}
    for file in files:
        repeated, replies = seen.repeated(file.frame)
        if repeated and repeated == replies:
            notes[str(file.path)] = (
                f"{in_words(repeated, replies)}. This is no further run, and is left out"
            )
            continue
        if repeated:
            notes[str(file.path)] = (
                f"{in_words(repeated, replies)}, so that runs seem to agree more than they do"
            )
        distinct.append(file)
    return distinct, notes


def _column(name: str, cells: list) -> pd.Series:
    if name in NUMBERS:
        return pd.Series([as_number(cell) for cell in cells], dtype=float)
    texts = (
        as_names(cells) if name in ("conversation", "participant", "status") else as_texts(cells)
    )
    blank = "" if name in ("reason", "altered") else None
    return pd.Series([blank if text is None else text for text in texts], dtype=object)


def _read_outputs(frame: pd.DataFrame, *, stated: bool) -> list[str]:
    """Read the replies in the column Output by both rules, where it holds them whole; see :func:`read_predictions`."""
    said = list(zip(frame["output"], frame["finish_reason"], strict=True))
    read = {}  # once each: a judge may say the same of many conversations
    for text, finish in set(said):
        length = len((text or "").encode("utf-16-le", "surrogatepass")) // 2
        if (
            text or not stated
        ) and length < LONGEST_TEXT - 1:  # one less than a cut one has, if half a pair is dropped
            read[text, finish] = read_reply(text, finish_reason=finish)
    replies = {row: read[one] for row, one in enumerate(said) if one in read}
    score, status = frame["score"].to_numpy(), frame["status"].to_numpy()
    scored = {row: reply for row, reply in replies.items() if status[row] == "ok"}
    taken = {
        row: reply
        for row, reply in scored.items()
        if score[row] in (reply.score, reply.authors_score)
    }
    numbers = {row for row, reply in scored.items() if reply.score is not None or reply.doubtful}
    if not stated and (
        not numbers or numbers - taken.keys()
    ):  # Output is not seen to hold the replies
        return []
    unusable = [reply.doubtful for reply in taken.values() if reply.score is None]
    notes, of = [], "of an unusable reply, as the column Output shows"
    if defaults := len(unusable) - sum(unusable):
        notes.append(f"IS_EMPATHY: {count_of(defaults, 'row')} with the default 3 {of}")
    if any(unusable):
        number = f"{count_of(sum(unusable), 'row')} with a number {of}"
        notes.append(f"IS_EMPATHY: {number}; it counts under the policy authors alone")
    taken |= {
        row: reply
        for row, reply in replies.items()
        if status[row] in ("parse_failure", "truncated")
    }
    kinds = {
        "score": float,
        "authors_score": float,
        "status": object,
        "reason": object,
        "doubtful": bool,
    }
    for name, kind in kinds.items():
        frame.loc[list(taken), name] = np.array(
            [getattr(reply, name) for reply in taken.values()], dtype=kind
        )
    refused = [row for row in replies if status[row] == "refusal"]
    frame.loc[refused, "authors_score"] = [replies[row].authors_score for row in refused]
    return notes
