"""The downloads of many people as one workbook of the official format.

A conversation that several people rated stands in the workbook once for each of them, as rated by that person.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from sense7.collect.download import Download, Rated, read_download
from sense7.errors import UserError
from sense7.files import one_line, reason
from sense7.taxonomy import DIMENSION_NAMES, MESSAGE_COLUMNS, ORIGIN_SHEET, RATING_NAMES, TASK_COLUMNS
from sense7.terminal import count_of, plain
from sense7.workbook.options import SCALES_SHEET, Interval, scale_columns
from sense7.workbook.xlsx import Sheet, write_sheets

__all__ = ["Gathered", "gather", "read_downloads"]

_MOST_SHOWN = 20


@dataclass(frozen=True)
class Gathered:
    """Downloads of one study, one for each person.

    Attributes
    ----------
    downloads : list of Download
        By the codes of the people.
    notes : list of str
        What was passed over, and what has no answer.
    """

    downloads: list[Download]
    notes: list[str]

    @property
    def summary(self) -> str:
        """One sentence for a person."""
        rated = [one for download in self.downloads for one in download.rated if one.begun]
        study = self.downloads[0].study
        return (
            f"Study {study.title!r} ({study.id[:12]}): {count_of(len(self.downloads), 'person', 'people')}, "
            f"{count_of(len(rated), 'rated conversation')}, "
            f"{count_of(sum(len(one.turns) for one in rated), 'rated turn')}"
        )


def gather(folder: str | Path, out: str | Path, *, replace: bool = False) -> Gathered:
    """Write a workbook from the downloads in a folder.

    Parameters
    ----------
    folder : path
        Every ``.json`` file in it has to be a download of the same study.
    out : path
        The .xlsx file to write.
    replace : bool
        Whether a file that is there may be replaced.

    Returns
    -------
    Gathered
        What went into it.

    Raises
    ------
    UserError
        As :func:`read_downloads`; if nobody rated anything; or if the workbook can't be written.
    """
    out = Path(out)
    if out.suffix.casefold() != ".xlsx":
        raise UserError(f"{out}: a workbook is an .xlsx file. Give a name that ends in .xlsx.")
    if out.exists() and not replace:
        raise UserError(f"{out}: is there already. Give another name, or --force to write over it.")
    gathered = read_downloads(folder)
    write_sheets(_sheets(gathered.downloads), out)
    return gathered


def read_downloads(folder: str | Path) -> Gathered:
    """Read the downloads in a folder.

    The same file twice counts once; of two downloads of one person, the later counts if it only adds answers.

    Raises
    ------
    UserError
        If a file is broken, several studies are mixed, one person answered differently in two files, or a conversation
        has other words in two files. All such files are named, and none is used.
    """
    folder = Path(folder)
    downloads, problems = [], []
    notes = []
    for path in _files(folder, notes):
        try:
            downloads.append(read_download(path))
        except UserError as error:
            problems.append(str(error))
    problems += _mixed(downloads)
    if not problems:
        downloads, problems = _one_for_each_person(downloads, notes)
        problems += _different_texts(downloads)
    if problems:
        more = f"\n... and {count_of(len(problems) - _MOST_SHOWN, 'more')}" if len(problems) > _MOST_SHOWN else ""
        raise UserError("\n".join(map(plain, problems[:_MOST_SHOWN])) + f"{more}\nNothing was written.")
    if not any(one.turns for download in downloads for one in download.rated):
        raise UserError(f"{folder}: nobody rated a turn yet. Nothing was written.")
    for download in downloads:
        notes += _incomplete(download)
    return Gathered(downloads, list(map(plain, notes)))


def _files(folder: Path, notes: list[str]) -> list[Path]:
    try:
        entries = sorted(folder.iterdir())
    except NotADirectoryError:
        raise UserError(f"{folder}: is no folder. Give the folder that holds the downloads.") from None
    except OSError as error:
        raise UserError(f"{folder}: can't be read ({reason(error) or one_line(error)}). Check the path.") from None
    files = [path for path in entries if path.suffix.casefold() == ".json" and not path.name.startswith(".")]
    if others := [path.name for path in entries if path not in files and not path.name.startswith(".")]:
        notes.append(f"{folder}: passed over, no .json file: {', '.join(others[:5])}{' ...' if others[5:] else ''}")
    if not files:
        raise UserError(f"{folder}: holds no download. Put the .json files of the people there.")
    return files


def _mixed(downloads: Sequence[Download]) -> list[str]:
    """Several studies in one folder: the smaller ones are named file by file."""
    studies = Counter(download.study.id for download in downloads)
    if len(studies) < 2:
        return []
    (main, _), *_ = studies.most_common()
    title = next(download.study.title for download in downloads if download.study.id == main)
    return [
        f"{download.path}: of another study, {download.study.title!r:.60} ({download.study.id[:12]}); most here are of "
        f"{title!r:.60} ({main[:12]}). Put each study's downloads into a folder of its own."
        for download in downloads
        if download.study.id != main
    ]


def _one_for_each_person(downloads: Iterable[Download], notes: list[str]) -> tuple[list[Download], list[str]]:
    people: dict[str, list[Download]] = defaultdict(list)
    for download in downloads:
        people[download.person].append(download)
    chosen, problems = [], []
    for person in sorted(people):
        fullest = max(people[person], key=lambda download: len(download.items))
        for download in people[person]:
            if download is fullest:
                continue
            if download.items.items() <= fullest.items.items():
                equal = len(download.items) == len(fullest.items)
                what = "a double of" if equal else "all its answers, and more, are in"
                notes.append(f"{download.path}: passed over: {what} {fullest.path.name}")
            else:
                problems.append(_conflict(download, fullest))
        chosen.append(fullest)
    return chosen, problems


def _conflict(download: Download, fullest: Download) -> str:
    differing = [key for key, value in download.items.items() if fullest.items.get(key, value) != value]
    where = f", such as in {', '.join(differing[0])}" if differing else ", each having some that the other has not"
    return (
        f"{download.path}: {download.person} gave other answers in {fullest.path.name}{where}. "
        "Keep one of the two files; if two people used one code, ask them to download with codes of their own."
    )


def _different_texts(downloads: Iterable[Download]) -> list[str]:
    seen: dict[str, tuple[dict, Path]] = {}
    problems = []
    for download in downloads:
        for one in download.rated:
            name = one.conversation["id"]
            if not one.added and seen.setdefault(name, (one.conversation, download.path))[0] != one.conversation:
                problems.append(
                    f"{download.path}: conversation {name!r:.60} is not the same as in {seen[name][1].name}: two pages "
                    "of this study carried different conversations of one id. Gather the downloads of each page alone."
                )
    return problems


def _incomplete(download: Download) -> list[str]:
    expected = missing = 0
    for one in download.rated:
        turns = download.study.rated_turns([message["role"] for message in one.conversation["messages"]])
        names = len(download.study.dimensions) + download.study.overall
        expected += len(turns) * names
        missing += sum(names - len(one.turns.get(turn, {}).keys() - {"comment"}) for turn in turns)
    return [f"{download.path}: {missing:,} of {expected:,} ratings have no answer; they stay blank"] if missing else []


# --- The sheets ------------------------------------------------------------------------


def _sheets(downloads: Sequence[Download]) -> list[Sheet]:
    pairs = [(download, one) for download in downloads for one in download.rated if one.begun]
    messages = [row for download, one in pairs for row in _message_rows(download, one)]
    sheets = [
        Sheet("Tasks", [column.official for column in TASK_COLUMNS], [_task_row(*pair) for pair in pairs]),
        Sheet("Messages", [column.official for column in MESSAGE_COLUMNS], messages),
    ]
    names = [question["name"] for question in downloads[0].study.questions]
    if names:
        rows = [[each.person, *(each.answers.get(name) for name in names)] for each in downloads]
        sheets.append(Sheet("Participants", ["PID", *names], rows))
    scales = [[name, Interval(1, size).option] for name, size in scale_columns().items()]
    sheets.append(Sheet(SCALES_SHEET, ["column", "scale"], scales))
    origin = [_origin(*pair) for pair in pairs]
    return [*sheets, Sheet(ORIGIN_SHEET, list(origin[0]), [list(row.values()) for row in origin])]


def _task_id(download: Download, one: Rated) -> str:
    """The conversation, with the code of who rated it where several people may have; a code holds no colon."""
    name = one.conversation["id"]
    return name if download.study.conversations == "own" and not one.added else f"{name}:{download.person}"


def _task_row(download: Download, one: Rated) -> list:
    values = {
        "participant": download.person,
        "condition": one.conversation.get("condition"),
        "conversation": _task_id(download, one),
        "topic": one.before.get("topic", one.conversation.get("topic")),
        **{key: value for key, value in one.before.items() if key != "topic"},
        **{f"post_{key}" if key in DIMENSION_NAMES else key: value for key, value in one.after.items()},
    }
    return [values.get(column.name) for column in TASK_COLUMNS]


def _message_rows(download: Download, one: Rated) -> Iterable[list]:
    for number, message in enumerate(one.conversation["messages"], 1):
        ratings = one.turns.get(number, {})
        values = {"conversation": _task_id(download, one), "message_id": number, **message}
        values |= {name: ratings.get(name) for name in (*RATING_NAMES, "comment")}
        yield [values.get(column.name) for column in MESSAGE_COLUMNS]


def _origin(download: Download, one: Rated) -> dict[str, str | None]:
    """Where a conversation of the workbook comes from."""
    return {
        "TaskId": _task_id(download, one),
        "Conversation": one.conversation["id"],
        "Speaker": one.conversation.get("participant"),
        "Rater": download.person,
        "File": plain(download.path.name),
        "Study": download.study.id,
        "Language": download.study.language,
        "Order": ", ".join(download.dimensions),
        **{key.capitalize(): value for key, value in download.times.items()},
    }
