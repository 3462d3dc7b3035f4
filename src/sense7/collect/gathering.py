"""The downloads of many people, each checked to the last value, as one workbook of the official format.

A download is what a person takes from the end of the page: one JSON file, version 1. ``study`` is the content of the
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
    is_name,
    read_whole,
    require,
)
from sense7.collect.texts import UNWRITABLE, storable
from sense7.errors import UserError
from sense7.exchange.readers import read_list
from sense7.exchange.records import parsed
from sense7.files import reason, require_free
from sense7.taxonomy import DIMENSION_NAMES, LEVELS, ORIGIN_SHEET
from sense7.terminal import count_of, plain
from sense7.workbook.ids import as_name
from sense7.workbook.writing import official_sheets
from sense7.workbook.xlsx import Sheet, write_sheets

_AGAIN = "Ask the person to download it again."
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
)


@dataclass(frozen=True)
class Rated:
    """A conversation as one person rated it, who may have added it: answers by key, those of turns by message."""

    conversation: dict
    added: bool
    before: dict
    turns: dict[int, dict]
    after: dict

    @property
    def begun(self) -> bool:
        """Whether anything was answered."""
        return bool(self.before or self.turns or self.after)


@dataclass(frozen=True)
class Download:
    """What one person answered about themselves and all conversations that they were to rate, in which order, when.

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

    @cached_property
    def items(self) -> dict[tuple, object]:
        """Every single answer, by its place."""
        found = {("about the person", name): value for name, value in self.answers.items()}
        for one in self.rated:
            parts = {"before": one.before, "after": one.after}
            parts |= {f"message {message}": ratings for message, ratings in one.turns.items()}
            place = f"conversation {one.conversation['id']}"
            found |= {
                (place, f"{part}, {key}"): value
                for part, given in parts.items()
                for key, value in given.items()
            }
        return found

    @property
    def ratings_asked(self) -> int:
        """How many ratings of turns were asked for."""
        turns = sum(len(self.study.rated_turns(one.conversation["messages"])) for one in self.rated)
        return turns * (len(self.study.dimensions) + self.study.overall)

    @property
    def ratings_missing(self) -> int:
        """How many of these have no answer."""
        answered = 0
        for conversation in self.rated:
            for ratings in conversation.turns.values():
                answered += len(ratings.keys() - {"comment"})
        return self.ratings_asked - answered


def read_download(path: Path) -> Download:
    """Read one download; a UserError names the place of anything that the page does not write, and how to fix it."""
    where, content = str(path), read_whole(path, "download", "Move it out of the folder.")
    try:
        content = parsed(content, str(path))
    except UserError as error:
        what = str(error).removeprefix(f"{path}: ").partition(". ")[0]
        raise UserError(f"{path}: cut off or damaged ({what}). {_AGAIN}") from None
    is_download = isinstance(content, Mapping) and content.get("format") == "sense7 ratings"
    require(is_download, where, "no download of a rating page. Move it out of the folder.")
    version = content.get("version")
    fix = "Gather it with the release of sense7 that wrote the page."
    require(version == 1, where, f"version: {version!r:.40}; this program reads version 1. {fix}")
    _require_keys(content, where, (*_KEYS, "answers", "conversations"))
    study = StudyFile.from_mapping(content["study"], f"{where}: study")
    fix = f"study_id: does not belong to the study in the file, which was changed. {_AGAIN}"
    require(study.id == content["study_id"], where, fix)
    person, order = content["person"], content["dimensions"]
    _must(is_code(person), f"{where}: person", person, "is no code")
    known = isinstance(order, list) and sorted(map(str, order)) == sorted(study.dimensions)
    require(known, where, f"dimensions: not those of the study. {_AGAIN}")
    times = {key: content[key] for key in ("consented", "started", "downloaded")}
    for key, value in times.items():
        written = isinstance(value, str) and re.fullmatch(
            r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", value
        )
        _must(
            value is None or written, f"{where}: {key}", value, "is no time as the page writes it"
        )
    agreed = not study.consent or times["consented"] is not None
    require(agreed, where, "consented: the person did not agree to take part. Leave the file out.")
    questions = {question["name"]: question for question in study.questions}
    _require_keys(content["answers"], f"{where}: answers", (), questions)
    answers: dict[str, object] = {}
    notes: list[str] = []
    for name, value in content["answers"].items():
        question, place = questions[name], f"{where}: answers: {name}"
        if question["kind"] == "number":
            fits = isinstance(value, int | float) and not isinstance(value, bool)
            fits = fits and question.get("lowest", -1e12) <= value <= question.get("highest", 1e12)
            _must(fits, place, value, "is no number that the question allows")
            answers[name] = value
        else:
            _must(value in question.get("choices", [value]), place, value, "is none of the choices")
            _store_text(answers, name, value, place, notes)
    chats = content["conversations"]
    require(isinstance(chats, list), where, f"conversations: not as the page writes them. {_AGAIN}")
    rated: dict[str, Rated] = {}
    for number, chat in enumerate(chats, 1):
        place = f"{where}: conversation {number}"
        one = _rated(_as_storable(chat, number, set(rated), place, notes), study, place, notes)
        name = one.conversation["id"]
        require(name not in rated, place, f"id: {name!r} stands there twice. {_AGAIN}")
        theirs = (
            study.conversations != "own"
            or one.added
            or one.conversation.get("participant") == person
        )
        require(
            theirs, place, f"its participant is not {person}, and people rate their own. {_AGAIN}"
        )
        rated[name] = one
    return Download(path, study, person, tuple(order), times, answers, list(rated.values()), notes)


def _must(holds: object, where: str, value: object, problem: str) -> None:
    require(holds, where, f"{value!r:.40} {problem}. {_AGAIN}")


def _require_keys(
    content: object, where: str, needed: Collection[str], further: Collection[str] = ()
) -> None:
    require(isinstance(content, Mapping), where, f"not as the page writes it. {_AGAIN}")
    for key in sorted(set(needed) - content.keys()):
        raise UserError(f"{where}: {key}: is missing. {_AGAIN}")
    for key in content.keys() - {*needed, *further}:
        raise UserError(f"{where}: {key!r:.40}: the page writes no such key. {_AGAIN}")


def _store_text(answers: dict, key: str, value: object, where: str, notes: list[str]) -> None:
    """Put a text into answers as a workbook can hold it; a note says what was changed. A blank one is no answer."""
    fits = isinstance(value, str) and len(value) <= 10_000
    _must(fits, where, value, "is no text of at most 10,000 characters")
    text = storable(value)
    if text != value:
        notes.append(f"{where}: {_changed_characters(value, text)}")
    if text.strip():
        answers[key] = text


def _changed_characters(before: str, after: str) -> str:
    """Say which characters of a text a workbook can't hold."""
    lost = sorted(set(before) - set(after))
    names = ", ".join(f"U+{ord(character):04X}" for character in lost)
    return f"characters that a workbook can't hold were left out, or became line breaks: {names}"


def _as_storable(
    chat: object, number: int, taken: Collection[str], where: str, notes: list[str]
) -> object:
    """A conversation with a name and with texts that a workbook can hold, if a person added it."""
    if not isinstance(chat, Mapping) or chat.get("added") is not True:
        return chat
    if not isinstance(chat.get("id"), str) or not isinstance(chat.get("messages"), list):
        return chat
    name = as_name(chat["id"]) or ""
    if not is_name(name) or name in taken:
        name = f"added-{number}"
        while name in taken:
            name += "-2"
        notes.append(
            f"{where}: named {name}: its id {chat['id']!r:.40} can't be a name, or stands there twice"
        )
    messages = []
    for position, message in enumerate(chat["messages"], 1):
        content = message.get("content") if isinstance(message, Mapping) else None
        text = UNWRITABLE.sub("", content) if isinstance(content, str) else content
        if text == content:
            messages.append(message)
        else:
            notes.append(f"{where}: message {position}: {_changed_characters(content, text)}")
            messages.append({**message, "content": text})
    return {**chat, "id": name, "messages": messages}


def _rated(content: object, study: StudyFile, where: str, notes: list[str]) -> Rated:
    about = ("id", "messages", "participant", "condition", "topic")
    _require_keys(content, where, ("id", "added", "messages", "before", "turns", "after"), about)
    try:
        chat = read_list({key: content[key] for key in about if key in content})
    except ValueError as error:
        raise UserError(f"{where}: {error}. {_AGAIN}") from None
    conversation = check_conversation(chat, where)
    added = content["added"]
    allowed = isinstance(added, bool) and (study.add_conversations or not added)
    require(allowed, where, f"added: people add no conversations in this study. {_AGAIN}")
    after = {*study.after} - {"empathy"} | (
        set(study.dimensions) if "empathy" in study.after else set()
    )
    answers: dict[str, dict] = {"before": {}, "after": {}}
    for part, asked in (("before", study.before), ("after", after)):
        _require_keys(content[part], f"{where}: {part}", (), asked)
        for key, value in content[part].items():
            place = f"{where}: {part}: {key}"
            if key == "topic":
                _store_text(answers[part], key, value, place, notes)
                continue
            answers[part][key] = value
            scale = "empathy" if key in DIMENSION_NAMES else key if key in SCALES else "experience"
            size = SCALES[scale].size
            fits = isinstance(value, int) and not isinstance(value, bool) and 1 <= value <= size
            _must(fits, place, value, f"is not on the scale, 1 to {size}")
    names = {*study.dimensions, *(["overall"] if study.overall else [])}
    further = {*names, *(["comment"] if study.comment else [])}
    to_rate, turns = study.rated_turns(conversation["messages"]), {}
    require(
        isinstance(content["turns"], list), where, f"turns: not as the page writes them. {_AGAIN}"
    )
    for number, ratings in enumerate(content["turns"], 1):
        place = f"{where}: turn {number}"
        _require_keys(ratings, place, ("message",), further)
        message = ratings["message"]
        fits = not isinstance(message, bool) and message in to_rate and message not in turns
        _must(fits, f"{place}: message", message, "is no turn to rate, or stands there twice")
        turns[message] = {}
        for key, value in ratings.items():
            if key == "message":
                continue
            if key == "comment":
                _store_text(turns[message], key, value, f"{place}: comment", notes)
            else:
                is_level = isinstance(value, str) and value in _LEVELS
                _must(is_level, f"{place}: {key}", value, f"is none of {', '.join(_LEVELS)}")
                turns[message][key] = value
    return Rated(conversation, added, answers["before"], turns, answers["after"])


# The downloads of one study -------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Gathered:
    """Downloads of one study, one for each person by code; notes say what was passed over, and what has no answer."""

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
    notes: list[str] = []
    others = [path.name for path in entries if path not in files]
    if others:
        notes.append(
            f"{folder}: passed over, no .json file: {', '.join(others[:5])}{' ...' if others[5:] else ''}"
        )

    left_out: list[str] = []
    downloads: list[Download] = []
    for path in files:
        try:
            downloads.append(read_download(path))
        except UserError as error:
            left_out.append(str(error))
    downloads, of_other_studies = of_one_study(downloads)
    left_out += of_other_studies
    if not downloads:
        raise UserError("\n".join([*map(plain, left_out), "Nothing was written."]))
    notes += [f"{problem} This file is left out." for problem in left_out]

    people: dict[str, list[Download]] = defaultdict(list)
    for download in downloads:
        people[download.person].append(download)
    problems: list[str] = []
    downloads = []
    for person in sorted(people):
        fullest = max(people[person], key=lambda download: len(download.items))
        downloads.append(fullest)
        for download in people[person]:
            if download is fullest:
                continue
            if download.items.items() <= fullest.items.items():
                notes.append(
                    f"{download.path}: passed over: {fullest.path.name} has all its answers"
                )
            else:
                differing = next(
                    key for key, value in download.items.items() if fullest.items.get(key) != value
                )
                problems.append(
                    f"{download.path}: {download.person} gave other answers in {fullest.path.name}, such as in "
                    f"{', '.join(differing)}. Keep one of the two files; if two people used one code, ask them to "
                    "download with codes of their own."
                )
    first: dict[
        str, tuple[dict, Path]
    ] = {}  # each id's conversation, and the file that had it first
    for download in downloads:
        for one in download.rated:
            name = one.conversation["id"]
            if one.added:
                continue
            conversation, path = first.setdefault(name, (one.conversation, download.path))
            if conversation != one.conversation:
                problems.append(
                    f"{download.path}: conversation {name!r:.60} is not the same as in {path.name}: two pages of this "
                    "study carried different conversations of one id. Gather the downloads of each page alone."
                )
    if problems:
        raise UserError("\n".join([*map(plain, [*left_out, *problems]), "Nothing was written."]))

    if not any(one.turns for download in downloads for one in download.rated):
        raise UserError(
            "\n".join(
                [*map(plain, left_out), f"{folder}: nobody rated a turn yet. Nothing was written."]
            )
        )
    for download in downloads:
        notes += download.notes
        if download.ratings_missing:
            notes.append(
                f"{download.path}: {download.ratings_missing:,} of {download.ratings_asked:,} ratings have no answer; "
                "they stay blank"
            )
    return Gathered(downloads, list(map(plain, notes)))


def of_one_study(downloads: Sequence[Download]) -> tuple[list[Download], list[str]]:
    """The downloads of the study with most people, and what is wrong with the others; none if two studies have most."""
    people: dict[str, set[str]] = defaultdict(set)
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
    tasks, messages, origin = [], [], []
    for download in downloads:
        study = download.study
        for one in download.rated:
            if not one.begun:
                continue
            chat = one.conversation
            # With the code of who rated it where several people may have; a code holds no colon.
            name = (
                chat["id"]
                if study.conversations == "own" and not one.added
                else f"{chat['id']}:{download.person}"
            )
            task = {
                "participant": download.person,
                "condition": chat.get("condition"),
                "conversation": name,
            }
            task |= {"topic": chat.get("topic")} | one.before
            task |= {
                f"post_{key}" if key in DIMENSION_NAMES else key: value
                for key, value in one.after.items()
            }
            tasks.append(task)
            for number, message in enumerate(chat["messages"], 1):
                messages.append(
                    {"conversation": name, "message_id": number}
                    | message
                    | one.turns.get(number, {})
                )
            of = {"TaskId": name, "Conversation": chat["id"], "Speaker": chat.get("participant")}
            of |= {"Rater": download.person, "File": plain(download.path.name), "Study": study.id}
            of |= {"Language": study.language, "Order": ", ".join(download.dimensions)}
            origin.append(of | {key.capitalize(): value for key, value in download.times.items()})
    sheets = official_sheets(tasks, messages, by="name")
    if names := [question["name"] for question in downloads[0].study.questions]:
        rows = [[each.person, *(each.answers.get(name) for name in names)] for each in downloads]
        sheets.append(Sheet("Participants", ["PID", *names], rows))
    return [*sheets, Sheet(ORIGIN_SHEET, list(origin[0]), [list(row.values()) for row in origin])]
