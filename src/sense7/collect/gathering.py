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
    StudyFile,
    check_conversation,
    is_code,
    read_whole,
    require,
)
from sense7.collect.texts import storable
from sense7.errors import UserError
from sense7.exchange.messages import read_list
from sense7.exchange.records import parsed
from sense7.files import reason, require_free
from sense7.taxonomy import DIMENSION_NAMES, LEVELS, ORIGIN_SHEET
from sense7.terminal import count_of, plain
from sense7.workbook.ids import as_name, is_number
from sense7.workbook.missing_names import is_no_name
from sense7.workbook.writing import official_sheets
from sense7.workbook.xlsx import Sheet, write_sheets

_AGAIN = "Ask the person to download it again."
_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")
_LEVELS = (*LEVELS, "unknown")  # the official word for a dimension that was asked and not rated
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
class Rated:
    """A conversation as one person rated it: answers by key, those of turns by message."""

    conversation: dict
    answers_before: dict
    turns: dict[int, dict]
    answers_after: dict

    @property
    def begun(self) -> bool:
        """Whether anything was answered."""
        return bool(self.answers_before or self.turns or self.answers_after)


@dataclass(frozen=True)
class Download:
    """What one person answered about themselves and all conversations that they were to rate, in which order, when.

    ``person`` is their code in plain signs, as a workbook's reader compares ids.
    Notes say which texts were changed, since a workbook can't hold them as they are.
    """

    path: Path
    study: StudyFile
    person: str
    dimensions: tuple[str, ...]
    times: dict[str, str | None]
    answers: dict
    rated: list[Rated] = field(repr=False)
    notes: list[str] = field(default_factory=list, repr=False)

    @property
    def pid(self) -> str:
        """The code as an id, also where it would say that there is none, such as nan."""
        if is_no_name(self.person):
            return f"code {self.person}"
        return self.person

    @cached_property
    def items(self) -> dict[tuple, object]:
        """Every single answer, by its place."""
        items = {}
        for name, value in self.answers.items():
            items["about the person", name] = value
        for rated in self.rated:
            parts = {"before": rated.answers_before, "after": rated.answers_after}
            for message, ratings in rated.turns.items():
                parts[f"message {message}"] = ratings
            for part, answers in parts.items():
                for key, value in answers.items():
                    items[f"conversation {rated.conversation['id']}", f"{part}, {key}"] = value
        return items

    @property
    def turns_rated(self) -> int:
        """How many turns have an answer."""
        return sum(len(rated.turns) for rated in self.rated)

    @property
    def ratings_asked(self) -> int:
        """How many ratings of turns were asked for."""
        turns = 0
        for rated in self.rated:
            turns += len(self.study.rated_turns(rated.conversation["messages"]))
        return turns * (len(self.study.dimensions) + self.study.overall)

    @property
    def ratings_missing(self) -> int:
        """How many of these have no answer."""
        missing = self.ratings_asked
        for rated in self.rated:
            for ratings in rated.turns.values():
                missing -= len(ratings.keys() - {"comment"})
        return missing


def read_download(path: Path) -> Download:
    """Read one download; a UserError names the place of anything that the page does not write, and how to fix it."""
    where = str(path)
    file_content = read_whole(path, "download", "Move it out of the folder.")
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
    person, order = content["person"], content["dimensions"]
    _require_value(is_code(person), f"{where}: person", person, "is no code")
    person = as_name(person)
    is_order = isinstance(order, list) and sorted(map(str, order)) == sorted(study.dimensions)
    _require(is_order, where, "dimensions: not those of the study")
    times = {key: content[key] for key in ("consented", "started", "downloaded")}
    for key, value in times.items():
        if value is not None:
            is_time = isinstance(value, str) and _TIME.fullmatch(value)
            _require_value(is_time, f"{where}: {key}", value, "is no time as the page writes it")
    agreed = not study.consent or times["consented"] is not None
    require(agreed, where, "consented: the person did not agree to take part. Leave the file out.")
    questions = {question["name"]: question for question in study.questions}
    _require_keys(content["answers"], f"{where}: answers", (), questions)
    answers = {}
    notes = []
    for name, value in content["answers"].items():
        question, path_of_answer = questions[name], f"{where}: answers: {name}"
        if question["kind"] == "number":
            lowest, highest = question.get("lowest", -1e12), question.get("highest", 1e12)
            is_allowed = is_number(value) and lowest <= value <= highest
            _require_value(
                is_allowed, path_of_answer, value, "is no number that the question allows"
            )
            answers[name] = value
        else:
            is_choice = value in question.get("choices", [value])
            _require_value(is_choice, path_of_answer, value, "is none of the choices")
            _store_text(answers, name, value, path_of_answer, notes)
    chats = content["conversations"]
    _require(isinstance(chats, list), where, "conversations: not as the page writes them")
    rated = {}
    for number, chat in enumerate(chats, 1):
        position = f"{where}: conversation {number}"
        rating = _rated(chat, study, position, notes)
        conversation = rating.conversation
        name = conversation["id"]
        _require(name not in rated, position, f"id: {name!r} stands there twice")
        is_own = conversation.get("participant") == person
        problem = f"its participant is not {person}, and people rate their own"
        _require(is_own or study.conversations != "own", position, problem)
        rated[name] = rating
    return Download(path, study, person, tuple(order), times, answers, list(rated.values()), notes)


def _require(holds: object, where: str, problem: str) -> None:
    require(holds, where, f"{problem}. {_AGAIN}")


def _require_value(holds: object, where: str, value: object, problem: str) -> None:
    _require(holds, where, f"{value!r:.40} {problem}")


def _require_keys(
    content: object, where: str, needed: Collection[str], optional: Collection[str] = ()
) -> None:
    _require(isinstance(content, Mapping), where, "not as the page writes it")
    for key in sorted(needed):
        _require(key in content, where, f"{key}: is missing")
    allowed = {*needed, *optional}
    for key in content:
        _require(key in allowed, where, f"{key!r:.40}: the page writes no such key")


def _store_text(answers: dict, key: str, value: object, where: str, notes: list[str]) -> None:
    """Put a text into answers as a workbook can hold it; a note says what was changed. A blank one is no answer."""
    fits = isinstance(value, str) and len(value) <= 10_000
    _require_value(fits, where, value, "is no text of at most 10,000 characters")
    text = storable(value)
    if text != value:
        lost = sorted(set(value) - set(text))
        names = ", ".join(f"U+{ord(character):04X}" for character in lost)
        notes.append(
            f"{where}: characters that a workbook can't hold were left out, or became line breaks: {names}"
        )
    if text.strip():
        answers[key] = text


def _rated(content: object, study: StudyFile, where: str, notes: list[str]) -> Rated:
    about = ("participant", "condition", "topic")
    _require_keys(content, where, ("id", "messages", "before", "turns", "after"), about)
    chat = {key: content[key] for key in ("id", "messages", *about) if key in content}
    conversation = check_conversation(read_list(chat, where), where)
    questions_after = set(study.after)
    if "empathy" in questions_after:
        questions_after.remove("empathy")
        questions_after.update(study.dimensions)
    answers: dict[str, dict] = {"before": {}, "after": {}}
    for part, questions in (("before", study.before), ("after", questions_after)):
        _require_keys(content[part], f"{where}: {part}", (), questions)
        for key, value in content[part].items():
            path = f"{where}: {part}: {key}"
            if key == "topic":
                _store_text(answers[part], key, value, path, notes)
                continue
            answers[part][key] = value
            # Dimensions and the questions about the experience have levels of one number.
            size = SCALES.get(key, SCALES["empathy"]).size
            is_level = type(value) is int and 1 <= value <= size
            _require_value(is_level, path, value, f"is not on the scale, 1 to {size}")
    keys_of_turn = set(study.dimensions)
    if study.overall:
        keys_of_turn.add("overall")
    if study.comment:
        keys_of_turn.add("comment")
    turns_to_rate = study.rated_turns(conversation["messages"])
    turns = {}
    is_list = isinstance(content["turns"], list)
    _require(is_list, where, "turns: not as the page writes them")
    for number, ratings in enumerate(content["turns"], 1):
        path = f"{where}: turn {number}"
        _require_keys(ratings, path, ("message",), keys_of_turn)
        message = ratings["message"]
        is_turn = not isinstance(message, bool) and message in turns_to_rate
        problem = "is no turn to rate, or stands there twice"
        _require_value(is_turn and message not in turns, f"{path}: message", message, problem)
        turns[message] = {}
        for key, value in ratings.items():
            if key == "message":
                continue
            if key == "comment":
                _store_text(turns[message], key, value, f"{path}: comment", notes)
            else:
                is_level = isinstance(value, str) and value in _LEVELS
                _require_value(
                    is_level, f"{path}: {key}", value, f"is none of {', '.join(_LEVELS)}"
                )
                turns[message][key] = value
    return Rated(conversation, answers["before"], turns, answers["after"])


# The downloads of one study -------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Gathered:
    """Downloads of one study, one for each person by code; notes say what was passed over, and what has no answer."""

    downloads: list[Download]
    notes: list[str]

    @property
    def summary(self) -> str:
        """One sentence for a person."""
        conversations, turns = 0, 0
        for download in self.downloads:
            conversations += sum(rated.begun for rated in download.rated)
            turns += download.turns_rated
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
    gathered = read_downloads(folder)
    write_sheets(_sheets(gathered.downloads), out, replace=replace)
    return gathered


def read_downloads(folder: str | Path) -> Gathered:
    """Read the downloads in a folder.

    A file that can't be used (cut off, no download, of another version, or of a study of fewer people) is left out, and
    named in a note. The same file twice counts once; of two downloads of one person, the later counts if it only adds
    answers. If no file can be used, two studies have most people, one person answered differently in two files, or a
    conversation has other words in two files, a UserError names all such files, and none is used.
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
        names = ", ".join(other_names[:5])
        if len(other_names) > 5:
            names += " ..."
        notes.append(f"{folder}: passed over, no .json file: {names}")

    left_out = []
    downloads = []
    for path in files:
        try:
            downloads.append(read_download(path))
        except UserError as error:
            left_out.append(str(error))
    downloads, of_other_studies = of_one_study(downloads)
    left_out += of_other_studies
    if not downloads:
        raise _nothing_written(left_out)
    notes += [f"{problem} This file is left out." for problem in left_out]
    downloads, problems = _one_for_each_person(downloads, notes)
    first: dict[str, tuple[dict, Path]] = {}  # by id, with the file that had it first
    for download in downloads:
        for rated in download.rated:
            name = rated.conversation["id"]
            conversation, path = first.setdefault(name, (rated.conversation, download.path))
            if conversation != rated.conversation:
                problems.append(
                    f"{download.path}: conversation {name!r:.60} is not the same as in {path.name}: two pages of this "
                    "study carried different conversations of one id. Gather the downloads of each page alone."
                )
    if problems:
        raise _nothing_written([*left_out, *problems])
    if not any(download.turns_rated for download in downloads):
        problem = f"{folder}: nobody rated a turn yet. Nothing was written."
        raise UserError("\n".join([*map(plain, left_out), problem]))
    for download in downloads:
        notes += download.notes
        if download.pid != download.person:
            notes.append(
                f"{download.path}: the PID is {download.pid!r}, since the code alone says that there is none"
            )
        if download.ratings_missing:
            notes.append(
                f"{download.path}: {download.ratings_missing:,} of {download.ratings_asked:,} ratings have no answer; "
                "they stay blank"
            )
    return Gathered(downloads, list(map(plain, notes)))


def _nothing_written(problems: Sequence[str]) -> UserError:
    """The error of downloads that can't be used together."""
    return UserError("\n".join([*map(plain, problems), "Nothing was written."]))


def _one_for_each_person(
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
                    f"{', '.join(differing[0])}. Keep one of the two files; if two people used one code, ask them to "
                    "download with codes of their own."
                )
            elif download is not fullest:
                notes.append(
                    f"{download.path}: passed over: {fullest.path.name} has all its answers"
                )
    return fullest_downloads, problems


def of_one_study(downloads: Sequence[Download]) -> tuple[list[Download], list[str]]:
    """The downloads of the study with most people, and what is wrong with the others; none if two studies have most."""
    people = defaultdict(set)
    for download in downloads:
        people[download.study.id].add(download.person)
    most = max(map(len, people.values()), default=0)
    largest = [study for study, persons in people.items() if len(persons) == most]
    gathered = [download for download in downloads if [download.study.id] == largest]
    compared = gathered or downloads
    problems = []
    for download in downloads:
        if download.study.id != compared[0].study.id:
            problems.append(
                f"{download.path}: of another study, {download.study.title!r:.60} ({download.study.id[:12]}), than "
                f"{compared[0].path.name}. Put each study's downloads into a folder of its own."
            )
    return gathered, problems


def _sheets(downloads: Sequence[Download]) -> list[Sheet]:
    tasks, messages, origins = [], [], []
    for download in downloads:
        study = download.study
        for rated in download.rated:
            if not rated.begun:
                continue
            chat = rated.conversation
            name = chat["id"]
            if study.conversations != "own":
                # With the code of who rated it, since several people may have; a code holds no colon.
                name += f":{download.person}"
            task = {"participant": download.pid, "conversation": name}
            for key in ("condition", "topic"):
                task[key] = chat.get(key)
            task.update(rated.answers_before)
            for key, value in rated.answers_after.items():
                if key in DIMENSION_NAMES:
                    task[f"post_{key}"] = value
                else:
                    task[key] = value
            tasks.append(task)
            for number, message in enumerate(chat["messages"], 1):
                ratings = rated.turns.get(number, {})
                messages.append({"conversation": name, "message_id": number, **message, **ratings})
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
    sheets = official_sheets(tasks, messages, by="name")
    questions = [question["name"] for question in downloads[0].study.questions]
    if questions:
        rows = []
        for download in downloads:
            rows.append([download.pid, *map(download.answers.get, questions)])
        sheets.append(Sheet("Participants", ["PID", *questions], rows))
    rows = [list(origin.values()) for origin in origins]
    return [*sheets, Sheet(ORIGIN_SHEET, list(origins[0]), rows)]
