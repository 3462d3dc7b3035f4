"""What a person downloads at the end of the page: one JSON file, checked to the last value before it is used.

Version 1: ``study`` is the study file's content and ``study_id`` its hash, so that a file says by itself what was
asked. Ratings of turns are the official words, ``unknown`` for what was not applicable; the other scales are numbers.
"""

import datetime
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from sense7.collect.conversations import check_conversation, strict_json
from sense7.collect.study_file import StudyFile
from sense7.collect.study_keys import is_code
from sense7.collect.wording import SCALES
from sense7.errors import UserError
from sense7.files import reading
from sense7.taxonomy import DIMENSION_NAMES, LEVELS

__all__ = ["LARGEST", "NOT_APPLICABLE", "Download", "read_download"]

FORMAT, VERSION = "sense7 ratings", 1
NOT_APPLICABLE = "unknown"
"""Official word for a dimension that was asked and not rated."""

LARGEST = 50 * 2**20
"""Bytes of a download."""

LONGEST_ANSWER = 10_000

_KEYS = frozenset(
    ("format", "version", "study_id", "study", "person", "dimensions", "consented", "started", "downloaded", "answers")
) | {"conversations"}
_CONVERSATION_KEYS = frozenset(("id", "added", "messages", "before", "turns", "after"))
_SAID_ABOUT = frozenset(("participant", "condition", "topic"))
_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")
_UNWRITABLE = re.compile("[\x00-\x08\x0b-\x1f\ud800-\udfff\ufffe\uffff]")
_AGAIN = "Ask the person to download it again."


@dataclass(frozen=True)
class Rated:
    """A conversation as one person rated it.

    Attributes
    ----------
    conversation : dict
        As :func:`~sense7.collect.conversations.read_conversations` gives it.
    added : bool
        Whether the person brought it.
    before, after : dict
        Answers about the whole conversation.
    turns : dict
        Number of the message, from 1, -> ratings by name and ``comment``.
    """

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
    """What one person answered.

    Attributes
    ----------
    path : Path
        The file.
    study : StudyFile
        What was asked.
    person : str
        Their code.
    dimensions : tuple of str
        In the order in which they were asked.
    times : dict
        When the person consented, started and downloaded; None for what did not happen.
    answers : dict
        Name of a question about the person -> answer.
    rated : list of Rated
        All conversations that the person was to rate.
    """

    path: Path
    study: StudyFile
    person: str
    dimensions: tuple[str, ...]
    times: dict[str, str | None]
    answers: dict
    rated: list[Rated] = field(repr=False)

    @cached_property
    def items(self) -> dict[tuple, object]:
        """Every single answer, by its place."""
        found = {("about the person", name): value for name, value in self.answers.items()}
        for one in self.rated:
            place = f"conversation {one.conversation['id']}"
            found |= {(place, f"before, {key}"): value for key, value in one.before.items()}
            found |= {(place, f"after, {key}"): value for key, value in one.after.items()}
            for message, ratings in one.turns.items():
                found |= {(place, f"message {message}, {key}"): value for key, value in ratings.items()}
        return found


def read_download(path: Path) -> Download:
    """Read one download.

    Raises
    ------
    UserError
        If it is cut off, was changed, is of another version, or holds anything that the page does not write; names the
        place in it and how to fix it.
    """
    with reading(path) as stream:
        content = stream.read(LARGEST + 1)
    if len(content) > LARGEST:
        raise UserError(f"{path}: larger than {LARGEST // 2**20} MB; no download is. Move it out of the folder.")
    try:
        parsed = strict_json(content.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise UserError(f"{path}: byte {error.start + 1}: not UTF-8, so the file is damaged. {_AGAIN}") from None
    except ValueError as error:
        raise UserError(f"{path}: cut off or damaged ({error}). {_AGAIN}") from None
    return _download(parsed, path)


def _download(content: object, path: Path) -> Download:
    where = str(path)
    if not isinstance(content, Mapping) or content.get("format") != FORMAT:
        raise UserError(f"{where}: no download of a rating page. Move it out of the folder.")
    if content.get("version") != VERSION:
        raise UserError(
            f"{where}: version: {content.get('version')!r:.40}; this program reads version {VERSION}. "
            "Gather it with the release of sense7 that wrote the page."
        )
    _require_keys(content, where, _KEYS)
    study = StudyFile.from_mapping(content["study"], f"{where}: study")
    if study.id != content["study_id"]:
        raise UserError(f"{where}: study_id: does not belong to the study in the file, which was changed. {_AGAIN}")
    if not is_code(content["person"]):
        raise UserError(f"{where}: person: {content['person']!r:.40} is no code. {_AGAIN}")
    order = content["dimensions"]
    if not isinstance(order, list) or sorted(map(str, order)) != sorted(study.dimensions):
        raise UserError(f"{where}: dimensions: not those of the study. {_AGAIN}")
    times = {key: _time(content[key], f"{where}: {key}") for key in ("consented", "started", "downloaded")}
    if study.consent and times["consented"] is None:
        raise UserError(f"{where}: consented: the person did not agree to take part. Leave the file out.")
    return Download(
        path,
        study,
        content["person"],
        tuple(order),
        times,
        _about_person(content["answers"], study, f"{where}: answers"),
        _conversations(content["conversations"], study, content["person"], where),
    )


def _require_keys(content: object, where: str, needed: frozenset, further: frozenset = frozenset()) -> None:
    if not isinstance(content, Mapping):
        raise UserError(f"{where}: not as the page writes it. {_AGAIN}")
    for key in sorted(needed - content.keys()):
        raise UserError(f"{where}: {key}: is missing. {_AGAIN}")
    for key in content.keys() - needed - further:
        raise UserError(f"{where}: {key!r:.40}: the page writes no such key. {_AGAIN}")


def _time(value: object, where: str) -> str | None:
    if value is None:
        return None
    try:
        if not _TIME.fullmatch(value):
            raise ValueError
        datetime.datetime.fromisoformat(value)
    except (TypeError, ValueError):
        raise UserError(f"{where}: {value!r:.40} is no time as the page writes it. {_AGAIN}") from None
    return value


def _text(value: object, where: str) -> str:
    if not isinstance(value, str) or not value.strip() or len(value) > LONGEST_ANSWER or _UNWRITABLE.search(value):
        raise UserError(
            f"{where}: {value!r:.40} is no text that a workbook can hold, of at most {LONGEST_ANSWER:,} characters. "
            f"{_AGAIN}"
        )
    return value


def _level(value: object, size: int, where: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= size:
        raise UserError(f"{where}: {value!r:.40} is not on the scale, 1 to {size}. {_AGAIN}")
    return value


def _rating(value: object, where: str) -> str:
    if not isinstance(value, str) or value not in (*LEVELS, NOT_APPLICABLE):
        raise UserError(f"{where}: {value!r:.40} is none of {', '.join((*LEVELS, NOT_APPLICABLE))}. {_AGAIN}")
    return value


def _about_person(answers: object, study: StudyFile, where: str) -> dict:
    questions = {question["name"]: question for question in study.questions}
    _require_keys(answers, where, frozenset(), frozenset(questions))
    return {name: _answer(value, questions[name], f"{where}: {name}") for name, value in answers.items()}


def _answer(value: object, question: Mapping, where: str) -> str | int | float:
    if question["kind"] == "number":
        lowest, highest = question.get("lowest", -1e12), question.get("highest", 1e12)
        if isinstance(value, bool) or not isinstance(value, int | float) or not lowest <= value <= highest:
            raise UserError(f"{where}: {value!r:.40} is no number that the question allows. {_AGAIN}")
        return value
    if question["kind"] == "choice" and value not in question["choices"]:
        raise UserError(f"{where}: {value!r:.40} is none of the choices. {_AGAIN}")
    return _text(value, where)


def _conversations(content: object, study: StudyFile, person: str, where: str) -> list[Rated]:
    if not isinstance(content, list):
        raise UserError(f"{where}: conversations: not as the page writes them. {_AGAIN}")
    rated = [_rated(one, study, f"{where}: conversation {number}") for number, one in enumerate(content, 1)]
    seen = set()
    for number, one in enumerate(rated, 1):
        place = f"{where}: conversation {number}"
        if one.conversation["id"] in seen:
            raise UserError(f"{place}: id: {one.conversation['id']!r} stands there twice. {_AGAIN}")
        if study.conversations == "own" and not one.added and one.conversation.get("participant") != person:
            raise UserError(f"{place}: its participant is not {person}, and people rate their own. {_AGAIN}")
        seen.add(one.conversation["id"])
    return rated


def _rated(content: object, study: StudyFile, where: str) -> Rated:
    _require_keys(content, where, _CONVERSATION_KEYS, _SAID_ABOUT)
    conversation = check_conversation(
        {key: content[key] for key in content.keys() & {"id", "messages", *_SAID_ABOUT}}, where
    )
    if not isinstance(content["added"], bool) or (content["added"] and not study.add_conversations):
        raise UserError(f"{where}: added: people add no conversations in this study. {_AGAIN}")
    before = _whole(content["before"], set(study.before), f"{where}: before")
    asked = {*study.after} - {"empathy"} | (set(study.dimensions) if "empathy" in study.after else set())
    after = _whole(content["after"], asked, f"{where}: after")
    turns = _turns(content["turns"], study, [message["role"] for message in conversation["messages"]], where)
    return Rated(conversation, content["added"], before, turns, after)


def _whole(answers: object, asked: set[str], where: str) -> dict:
    """Answers about a whole conversation: a topic in words, the rest on its scale."""
    _require_keys(answers, where, frozenset(), frozenset(asked))
    checked = {}
    for key, value in answers.items():
        if key == "topic":
            checked[key] = _text(value, f"{where}: topic")
        else:
            scale = "empathy" if key in DIMENSION_NAMES else key if key in SCALES else "experience"
            checked[key] = _level(value, SCALES[scale].size, f"{where}: {key}")
    return checked


def _turns(content: object, study: StudyFile, roles: list[str], where: str) -> dict[int, dict]:
    names = frozenset(study.dimensions) | ({"overall"} if study.overall else set())
    comment = frozenset({"comment"} if study.comment else ())
    rated = study.rated_turns(roles)
    turns: dict[int, dict] = {}
    if not isinstance(content, list):
        raise UserError(f"{where}: turns: not as the page writes them. {_AGAIN}")
    for number, ratings in enumerate(content, 1):
        place = f"{where}: turn {number}"
        _require_keys(ratings, place, frozenset({"message"}), names | comment)
        message = ratings["message"]
        if isinstance(message, bool) or message not in rated or message in turns:
            raise UserError(f"{place}: message: {message!r:.40} is no turn to rate, or stands there twice. {_AGAIN}")
        turns[message] = {key: _rating(ratings[key], f"{place}: {key}") for key in ratings.keys() & names}
        if "comment" in ratings:
            turns[message]["comment"] = _text(ratings["comment"], f"{place}: comment")
    return turns
