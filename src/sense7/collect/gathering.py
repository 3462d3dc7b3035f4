"""The downloads of many people, each checked to the last value, as one workbook of the official format.

A download is what a person takes from the end of the page: one JSON file, version 2. ``study`` is the content of the
study file and ``study_id`` its hash, so that a file says by itself what was asked. Ratings of turns are the official
words, ``unknown`` for what was not applicable; the other scales are numbers. A conversation that several people rated
stands in the workbook once for each of them, as rated by that person.
"""

import re
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from sense7.collect.page import SCALES
from sense7.collect.study import (
    LARGEST,
    StudyFile,
    check_conversation,
    is_code,
    require,
)
from sense7.collect.texts import storable
from sense7.errors import UserError
from sense7.exchange.importing import parsed
from sense7.exchange.messages import read_list
from sense7.files import reading, reason, require_free
from sense7.taxonomy import (
    DIMENSION_NAMES,
    LEVELS,
    MESSAGE_COLUMNS,
    TASK_COLUMNS,
)
from sense7.terminal import count_of, plain
from sense7.workbook.ids import MISSING_TEXTS, as_name, is_number
from sense7.workbook.reading import STANDARD, reading_path, write_reading
from sense7.workbook.writing import official_sheets
from sense7.workbook.xlsx import Sheet, write_sheets

_AGAIN = "Ask the person to download it again."
_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")
_KEYS = (
    "format",
    "version",
    "study_id",
    "study",
    "person",
    "dimensions",
    "consented",
    "started",
    "downloaded",
    "answers",
    "conversations",
)


@dataclass(frozen=True)
class Download:
    """What one person answered about themselves and all conversations that they were to rate, in which order, when.

    ``person`` is their code in plain signs, as a workbook's reader compares ids. ``answers`` are by conversation (none
    for those about the person) and part ("about", "before", "message 2", "after"), each by key.
    """

    path: Path
    study: StudyFile
    person: str
    dimensions: tuple[str, ...]
    times: dict[str, str | None]
    conversations: dict[str, dict]
    answers: dict[tuple[str | None, str], dict] = field(repr=False)

    @cached_property
    def items(self) -> dict[tuple, object]:
        """Every single answer, by conversation, part and key."""
        items = {}
        for (conversation, part), answers in self.answers.items():
            for key, value in answers.items():
                items[conversation, part, key] = value
        return items

    @property
    def begun(self) -> list[dict]:
        """Conversations on which anything was answered."""
        names = {name for name, _, _ in self.items}
        return [chat for name, chat in self.conversations.items() if name in names]

    @property
    def turns_rated(self) -> int:
        """How many turns have an answer."""
        return len({(name, part) for name, part, _ in self.items if part.startswith("message")})


_OFFICIAL = {column.name: column.official for column in (*TASK_COLUMNS, *MESSAGE_COLUMNS)}
"""Name of an answer or of a message's key -> column of the workbook."""

# Questions of the page, in the form of those of a study file.
_TEXT = {"kind": "text"}
_RATING = {"kind": "choice", "choices": (*LEVELS, "unknown")}  # the official word for not rated


def _levels(scale: str) -> dict:
    """Return a question with the levels of a scale."""
    return {"kind": "choice", "choices": range(1, SCALES[scale].size + 1)}


def read_download(path: Path) -> Download:
    """Read one download; a UserError names the place of anything that the page does not write, and how to fix it."""
    where = str(path)
    with reading(path) as stream:
        file_content = stream.read()
    try:
        content = parsed(file_content, where)
    except UserError as error:
        problem = str(error).removeprefix(f"{path}: ").partition(". ")[0]
        raise UserError(f"{path}: cut off or damaged ({problem}). {_AGAIN}") from None
    is_download = isinstance(content, Mapping) and content.get("format") == "sense7 ratings"
    require(is_download, where, "no download of a rating page. Move it out of the folder.")
    version = content.get("version")
    fix = "Gather it with the release of sense7 that wrote the page."
    require(version == 2, where, f"version: {version!r:.40}; this program reads version 2. {fix}")
    _require_keys(content, where, _KEYS)
    study = StudyFile.from_mapping(content["study"], f"{where}: study")
    problem = "study_id: does not belong to the study in the file, which was changed"
    _require(study.id == content["study_id"], where, problem)
    _require(is_code(content["person"]), where, f"person: {content['person']!r:.40} is no code")
    person = as_name(content["person"])
    problem = f"person: {person!r} would be read as no name. Write another code into the file."
    require(person not in MISSING_TEXTS, where, problem)
    order = content["dimensions"]
    is_order = isinstance(order, list) and sorted(map(str, order)) == sorted(study.dimensions)
    _require(is_order, where, "dimensions: not those of the study")
    times = {key: content[key] for key in ("consented", "started", "downloaded")}
    for key, value in times.items():
        is_time = value is None or (isinstance(value, str) and _TIME.fullmatch(value))
        _require(is_time, where, f"{key}: {value!r:.40} is no time as the page writes it")
    agreed = not study.consent or times["consented"] is not None
    require(agreed, where, "consented: the person did not agree to take part. Leave the file out.")
    questions = {question["name"]: question for question in study.questions}
    answers = {(None, "about"): _answers(content["answers"], questions, f"{where}: answers")}
    _require(isinstance(content["conversations"], list), where, "conversations: no list")
    conversations = {}
    for number, record in enumerate(content["conversations"], 1):
        position = f"{where}: conversation {number}"
        about = ("participant", "condition", "topic")
        _require_keys(record, position, ("id", "messages", "before", "turns", "after"), about)
        chat = {key: record[key] for key in ("id", "messages", *about) if key in record}
        conversation = check_conversation(read_list(chat, position, []), position)
        name = conversation["id"]
        _require(name not in conversations, position, f"id: {name!r} stands there twice")
        is_own = conversation.get("participant") == person
        problem = f"its participant is not {person}, and people rate their own"
        _require(is_own or study.conversations != "own", position, problem)
        conversations[name] = conversation
        parts = _parts_of(record, conversation, study, position)
        for part, answers_of_part in parts.items():
            answers[name, part] = answers_of_part
    return Download(path, study, person, tuple(order), times, conversations, answers)


def _parts_of(record: Mapping, conversation: dict, study: StudyFile, where: str) -> dict[str, dict]:
    """Answers about one conversation, by part."""
    questions_before = {name: _TEXT if name == "topic" else _levels(name) for name in study.before}
    questions_after = {name: _levels("experience") for name in study.after if name != "empathy"}
    if "empathy" in study.after:
        questions_after.update(dict.fromkeys(study.dimensions, _levels("empathy")))
    questions_of_turn = dict.fromkeys(study.dimensions, _RATING)
    if study.overall:
        questions_of_turn["overall"] = _RATING
    if study.comment:
        questions_of_turn["comment"] = _TEXT
    parts = {}
    for part, questions in (("before", questions_before), ("after", questions_after)):
        parts[part] = _answers(record[part], questions, f"{where}: {part}")
    messages = study.rated_turns(conversation["messages"])
    _require(isinstance(record["turns"], list), where, "turns: no list")
    for number, turn in enumerate(record["turns"], 1):
        path = f"{where}: turn {number}"
        _require_keys(turn, path, ("message",), questions_of_turn)
        message = turn["message"]
        is_turn = type(message) is int and message in messages and f"message {message}" not in parts
        problem = f"message: {message!r:.40} is no turn to rate, or stands there twice"
        _require(is_turn, path, problem)
        ratings = {key: value for key, value in turn.items() if key != "message"}
        parts[f"message {message}"] = _answers(ratings, questions_of_turn, path)
    return parts


def _answers(content: object, questions: Mapping[str, Mapping], where: str) -> dict[str, object]:
    """Answers of one part, each as its question allows; a blank text is none."""
    _require_keys(content, where, (), questions)
    answers = {}
    for key, value in content.items():
        question = questions[key]
        if question["kind"] == "number":
            lowest, highest = question.get("lowest", -LARGEST), question.get("highest", LARGEST)
            fits = is_number(value) and lowest <= value <= highest
            problem = f"is no number from {lowest} to {highest}"
        elif question["kind"] == "choice":
            choices = list(question["choices"])
            fits = isinstance(value, type(choices[0])) and value in choices
            fits = fits and not isinstance(value, bool)
            problem = f"is none of {', '.join(map(str, choices))}"
        else:
            fits = isinstance(value, str) and len(value) <= 10_000 and storable(value) == value
            problem = "is no text as the page stores it, of at most 10,000 characters"
        _require(fits, where, f"{key}: {value!r:.40} {problem}")
        if not isinstance(value, str) or value.strip():
            answers[key] = value
    return answers


def _require(holds: object, where: str, problem: str) -> None:
    require(holds, where, f"{problem}. {_AGAIN}")


def _require_keys(
    content: object, where: str, needed: Collection[str], optional: Collection[str] = ()
) -> None:
    _require(isinstance(content, Mapping), where, "not as the page writes it")
    for key in sorted(needed):
        _require(key in content, where, f"{key}: is missing")
    for key in content:
        is_known = key in needed or key in optional
        _require(is_known, where, f"{key!r:.40}: the page writes no such key")


# The downloads of one study -------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Gathered:
    """Downloads of one study, one for each person by code; notes say what was passed over, and what has no answer."""

    downloads: list[Download]
    notes: list[str]

    @property
    def summary(self) -> str:
        """One sentence for a person."""
        conversations = sum(len(download.begun) for download in self.downloads)
        turns = sum(download.turns_rated for download in self.downloads)
        study = self.downloads[0].study
        counts = [
            count_of(len(self.downloads), "person", "people"),
            count_of(conversations, "rated conversation"),
            count_of(turns, "rated turn"),
        ]
        return f"Study {study.title!r} ({study.id[:12]}): {', '.join(counts)}"


def gather(folder: str | Path, out: str | Path, *, replace: bool = False) -> Gathered:
    """Write a workbook from the downloads of one study in a folder, see :func:`read_downloads`."""
    out = Path(out)
    if out.suffix.casefold() != ".xlsx":
        raise UserError(f"{out}: a workbook is an .xlsx file. Give a name that ends in .xlsx.")
    require_free(out, replace=replace)
    require_free(reading_path(out), replace=replace)
    gathered = read_downloads(folder)
    write_sheets(workbook_sheets(gathered.downloads), out, replace=replace)
    write_reading(out, STANDARD)
    return gathered


def read_downloads(folder: str | Path) -> Gathered:
    """Read the downloads in a folder.

    A file that can't be used (cut off, no download, of another version) is left out, and named in a note. The same file
    twice counts once; of two downloads of one person, the later counts if it only adds answers. If no file can be used,
    files are of several studies, or one person answered differently in two files, a UserError names all such files, and
    none is used.
    """
    folder = Path(folder)
    try:
        entries = sorted(path for path in folder.iterdir() if not path.name.startswith("."))
    except OSError as error:
        fix = "Give the folder that holds the downloads."
        raise UserError(f"{folder}: can't be read as a folder ({reason(error)}). {fix}") from None
    files = [path for path in entries if path.suffix.casefold() == ".json"]
    if not files:
        raise UserError(f"{folder}: holds no download. Put the .json files of the people there.")
    notes = []
    other_names = [path.name for path in entries if path not in files]
    if other_names:
        notes.append(f"{folder}: passed over, no .json file: {', '.join(other_names)}")
    left_out = []
    downloads = []
    for path in files:
        try:
            downloads.append(read_download(path))
        except UserError as error:
            left_out.append(str(error))
    if not downloads:
        _refuse(left_out)
    notes += [f"{problem} This file is left out." for problem in left_out]
    study, problems = downloads[0].study, []
    for download in downloads:
        if download.study.id != study.id:
            problems.append(
                f"{download.path}: of another study, {download.study.title!r:.60} ({download.study.id[:12]}), than "
                f"{downloads[0].path.name}. Put each study's downloads into a folder of its own."
            )
    _refuse(problems)
    downloads, problems = fullest_of_each_person(downloads, notes)
    if not any(download.turns_rated for download in downloads):
        problems.append(f"{folder}: nobody rated a turn yet.")
    _refuse(problems)
    return Gathered(downloads, list(map(plain, notes)))


def _refuse(problems: Sequence[str]) -> None:
    """Refuse downloads that can't be used together."""
    if problems:
        raise UserError("\n".join([*map(plain, problems), "Nothing was written."]))


def fullest_of_each_person(
    downloads: Sequence[Download], notes: list[str]
) -> tuple[list[Download], list[str]]:
    """The fullest download of each person, by code, and what other answers the others have."""
    people = defaultdict(list)
    for download in downloads:
        people[download.person].append(download)
    fullest_downloads, problems = [], []
    for person in sorted(people):
        fullest = max(people[person], key=lambda download: len(download.items))
        fullest_downloads.append(fullest)
        for download in people[person]:
            differing = [
                key for key, value in download.items.items() if fullest.items.get(key) != value
            ]
            if differing:
                problems.append(
                    f"{download.path}: {person} gave other answers in {fullest.path.name}, such as in "
                    f"{', '.join(filter(None, differing[0]))}. Keep one of the two files; if two people used "
                    "one code, ask them to download with codes of their own."
                )
            elif download is not fullest:
                notes.append(
                    f"{download.path}: passed over: {fullest.path.name} has all its answers"
                )
    return fullest_downloads, problems


def workbook_sheets(downloads: Sequence[Download]) -> list[Sheet]:
    """Lay out Tasks and Messages, answers about people, and from whose file each conversation comes."""
    conversations, origins = [], []
    for download in downloads:
        study = download.study
        for chat in download.begun:
            name = chat["id"]
            if study.conversations != "own":
                # With the code of who rated it, since several people may have; a code holds no colon.
                name += f":{download.person}"
            task = {"PID": download.person, "TaskId": name, "Model": chat.get("condition")}
            task["PreTaskChoice"] = chat.get("topic")
            for part in ("before", "after"):
                for key, value in download.answers[chat["id"], part].items():
                    prefix = "post_" if key in DIMENSION_NAMES else ""
                    task[_OFFICIAL[f"{prefix}{key}"]] = value
            messages = []
            for number, message in enumerate(chat["messages"], 1):
                ratings = download.answers.get((chat["id"], f"message {number}"), {})
                cells = {**message, **ratings}
                messages.append({_OFFICIAL[key]: cell for key, cell in cells.items()})
            conversations.append((task, messages))
            origin = {
                "TaskId": name,
                "Conversation": chat["id"],
                "Speaker": chat.get("participant"),
                "Rater": download.person,
                "File": plain(download.path.name),
                "Study": study.id,
                "Language": study.language,
                "Order": ", ".join(download.dimensions),
            }
            for key, time in download.times.items():
                origin[key.capitalize()] = time
            origins.append(origin)
    sheets = official_sheets(conversations)
    questions = [question["name"] for question in downloads[0].study.questions]
    if questions:
        rows = []
        for download in downloads:
            answers = download.answers[None, "about"]
            rows.append([download.person, *map(answers.get, questions)])
        sheets.append(Sheet("Participants", ["PID", *questions], rows))
    rows = [list(origin.values()) for origin in origins]
    return [*sheets, Sheet("Gathered", list(origins[0]), rows)]
