"""A study: what people are asked, in which language and order, about which turns of which conversations."""

import json
import re
import unicodedata
from collections.abc import Callable, Collection, Mapping
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path

from sense7.collect.texts import UNWRITABLE, storable
from sense7.errors import UserError
from sense7.exchange import Chat, read_chats
from sense7.files import digest_of, parse_yaml
from sense7.taxonomy import DIMENSION_NAMES, normalise_name
from sense7.terminal import did_you_mean
from sense7.workbook.ids import as_name, is_number
from sense7.workbook.reading import text_of
from sense7.workbook.xlsx import LONGEST_TEXT, utf16_units

LANGUAGES = {
    "en": "English",
    "de": "German",
    "fr": "French",
    "es": "Spanish",
    "zh": "Chinese",
    "ja": "Japanese",
}
"""Languages of the page, by their codes."""

BEFORE = ("topic", "importance", "desired_empathy")
"""Questions before a conversation, by their names in :mod:`sense7.taxonomy`."""

AFTER = ("successful", "engaged", "positive_interaction", "use_again", "empathy")
"""Questions after a conversation; ``empathy`` stands for the seven dimensions."""


def is_code(text: object) -> bool:
    """Whether a text can be a person's code: letters, digits, and . _ - inside, at most 40.

    Examples
    --------
    >>> [is_code(text) for text in ("P01", "花子", "anna-2", "=1+1", "../x", "<b>", "")]
    [True, True, True, False, False, False, False]
    """
    if not isinstance(text, str) or not 0 < len(text) <= 40 or not text[0].isalnum():
        return False
    return all(letter in "._-" or unicodedata.category(letter)[0] in "LMN" for letter in text)


def is_name(text: str) -> bool:
    r"""Whether a text can be a name in a workbook: short, on one line, and no formula of a spreadsheet program.

    Examples
    --------
    >>> [is_name(text) for text in ("my chat", "", "=1+1", "two\nlines", "x" * 201)]
    [True, False, False, False, False]
    """
    return 0 < len(text) <= 200 and text[0] not in "=+-@" and all(map(str.isprintable, text))


# The keys of a study file: each check gives the value, or says what is wrong with it ----------------------------------


def require(holds: object, where: str, message: str) -> None:
    """Raise a UserError with place and message unless a condition holds."""
    if not holds:
        raise UserError(f"{where}: {message}")


def _require_known(key: object, names: Collection[str], where: str, problem: str) -> None:
    if key not in names:
        hint = did_you_mean(str(key), names, f"Known: {', '.join(names)}.")
        raise UserError(f"{where}: {problem} {hint}")


def _text(value: object, where: str) -> str:
    fix = "Write some, in quotes if YAML takes it for a number or for yes or no."
    require(isinstance(value, str) and value.strip(), where, f"holds no text. {fix}")
    require(storable(value) == value, where, "holds a control character. Remove it.")
    return value.strip()


def _truth(value: object, where: str) -> bool:
    problem = f"{value!r:.40} is neither true nor false. Write one of them."
    require(isinstance(value, bool), where, problem)
    return value


def _number(value: object, where: str, *, is_count: bool = False) -> int | float:
    fits = is_number(value) and abs(value) < 1e12
    if is_count:
        fits = fits and isinstance(value, int) and value >= 0
    require(fits, where, f"{value!r:.40} is no number that fits here. Write another.")
    if float(value).is_integer():
        return int(value)
    return value


def _one_of(names: Collection[str], value: object, where: str) -> str:
    name = value if isinstance(value, str) else None
    _require_known(name, names, where, f"{value!r:.40} is not known.")
    return value


def _some_of(names: Collection[str], value: object, where: str) -> tuple[str, ...]:
    is_list = isinstance(value, list | tuple)
    require(is_list, where, f"no list. Write [{', '.join(names)}], or some of these.")
    checked = tuple(_one_of(names, item, where) for item in value)
    require(len(set(checked)) == len(checked), where, "names something twice. Name each once.")
    if names is DIMENSION_NAMES and not checked:
        raise UserError(f"{where}: an empty list. Name at least one of {', '.join(names)}.")
    return checked


def _turns(value: object, where: str) -> str | tuple[int, ...]:
    if not isinstance(value, list | tuple):
        return _one_of(("all", "first", "last"), value, where)
    are_numbers = all(type(turn) is int and 0 < turn <= 100_000 for turn in value)
    is_ascending = value and are_numbers and sorted(set(value)) == list(value)
    fix = "write the numbers of the turns in ascending order, such as [1, 3]."
    require(is_ascending, where, fix)
    return tuple(value)


def _column_name(value: object, where: str) -> str:
    is_plain = isinstance(value, str) and re.fullmatch(r"[A-Za-z][A-Za-z0-9_]{0,39}", value)
    is_free = is_plain and normalise_name(value) not in {"pid", "participant", "taskid"}
    fix = f"{value!r:.40}. Write a column's name of Latin letters and digits, such as Age."
    require(is_free, where, fix)
    return value


def _choices(value: object, where: str) -> list[str]:
    are_several = isinstance(value, list | tuple) and len(value) > 1
    require(are_several, where, "write a list of at least two.")
    choices = [_text(choice, where) for choice in value]
    require(len(set(choices)) == len(choices), where, "one stands there twice. Remove it.")
    return choices


_KEYS_OF_KIND = {"text": (), "number": ("lowest", "highest"), "choice": ("choices",)}
"""Kind of a question -> its further keys."""

_QUESTION_KEYS: dict[str, Callable] = {
    "name": _column_name,
    "text": _text,
    "kind": partial(_one_of, _KEYS_OF_KIND),
    "when": partial(_one_of, ("before", "after")),
    "choices": _choices,
    "lowest": _number,
    "highest": _number,
}
"""Key of a question -> how its value is checked."""


def _checked(
    content: object, keys: Mapping[str, Callable], needed: Collection[str], where: str
) -> dict:
    """Check each key of a mapping, and require some."""
    require(isinstance(content, Mapping), where, f"no keys. Write them: {', '.join(keys)}.")
    for key in content:
        _require_known(key, keys, where, f"{key!s:.40}: there is no such key.")
    for key in needed:
        require(key in content, where, f"{key}: is missing. Write it.")
    return {key: keys[key](value, f"{where}: {key}") for key, value in content.items()}


def _questions(value: object, where: str) -> tuple[dict, ...]:
    fix = "no list. Write one entry per question, each with a name and a text."
    require(isinstance(value, list | tuple), where, fix)
    questions = {}
    for number, entry in enumerate(value, 1):
        path = f"{where}, question {number}"
        checked = _checked(entry, _QUESTION_KEYS, ("name", "text"), path)
        question = {"kind": "text", "when": "before", **checked}
        keys = ("name", "text", "kind", "when", *_KEYS_OF_KIND[question["kind"]])
        for key in question:
            problem = f"{key}: there is no such key of a question of kind {question['kind']}."
            _require_known(key, keys, path, problem)
        needs_choices = question["kind"] == "choice" and "choices" not in question
        require(not needs_choices, path, "choices: is missing. Write a list of at least two.")
        if {"lowest", "highest"} <= question.keys():
            is_ordered = question["lowest"] < question["highest"]
            require(is_ordered, path, "highest: is not above lowest. Exchange them.")
        name = normalise_name(question["name"])
        require(name not in questions, path, f"name: {question['name']} is used twice. Change one.")
        questions[name] = question
    return tuple(questions.values())


KEYS: dict[str, Callable] = {
    **dict.fromkeys(("title", "introduction", "consent"), _text),
    **dict.fromkeys(("overall", "comment"), _truth),
    "language": partial(_one_of, LANGUAGES),
    "dimensions": partial(_some_of, DIMENSION_NAMES),
    "order": partial(_one_of, ("fixed", "shuffled")),
    "seed": partial(_number, is_count=True),
    "turns": _turns,
    "conversations": partial(_one_of, ("everyone", "own")),
    "before": partial(_some_of, BEFORE),
    "after": partial(_some_of, AFTER),
    "questions": _questions,
}
"""Key of a study file -> how its value is checked."""


@dataclass(frozen=True)
class StudyFile:
    """What a study file says, with the usual choice for what it does not say.

    Nobody begins without agreeing to ``consent``, if there is one. In shuffled order the dimensions depend on seed and
    person alone. ``turns`` are all, first, last, or their numbers. People rate the conversations of everyone or their
    own. ``questions`` are about the person: ``name`` (the column in Participants), ``text``, ``kind``
    (text, number, choice), ``when`` (before, after), and ``choices`` or ``lowest`` and ``highest``.
    """

    title: str
    introduction: str = ""
    consent: str = ""
    language: str = "en"
    dimensions: tuple[str, ...] = DIMENSION_NAMES
    order: str = "fixed"
    seed: int | None = None
    overall: bool = True
    comment: bool = True
    turns: str | tuple[int, ...] = "all"
    conversations: str = "everyone"
    before: tuple[str, ...] = BEFORE
    after: tuple[str, ...] = AFTER
    questions: tuple[dict, ...] = ()

    @classmethod
    def from_mapping(cls, content: object, where: str) -> "StudyFile":
        """Check what a study file holds; a UserError names the key, and what is known.

        Examples
        --------
        >>> StudyFile.from_mapping({"title": "Ten chats", "turns": "last"}, "study.yml").turns
        'last'
        >>> StudyFile.from_mapping({"title": "Ten chats", "langauge": "de"}, "study.yml")
        Traceback (most recent call last):
            ...
        sense7.errors.UserError: study.yml: langauge: there is no such key. Did you mean language?
        """
        checked = _checked(content, KEYS, ("title",), where)
        fits = (checked.get("order") == "shuffled") == ("seed" in checked)
        require(fits, where, "seed: goes with order: shuffled. Give both or neither.")
        return cls(**checked)

    def settings(self) -> dict:
        """Every choice as plain values, for the page."""
        return json.loads(json.dumps(asdict(self)))

    def to_mapping(self) -> dict:
        """Title and unusual choices as plain values, which :meth:`from_mapping` reads back."""
        usual = StudyFile("").settings()
        return {key: value for key, value in self.settings().items() if value != usual[key]}

    @property
    def id(self) -> str:
        """SHA-256 of the content: comments, spacing and choices that are the usual ones do not count.

        >>> StudyFile("a").id == StudyFile.from_mapping({"title": "a", "order": "fixed"}, "").id != StudyFile("b").id
        True
        """
        content = self.to_mapping()
        text = json.dumps(content, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
        return digest_of(text.encode())

    def rated_turns(self, messages: list[dict]) -> list[int]:
        """Numbers, from 1, of a conversation's messages that are rated."""
        replies = []
        for number, message in enumerate(messages, 1):
            if message["role"] == "assistant":
                replies.append(number)
        if isinstance(self.turns, tuple):
            return [replies[turn - 1] for turn in self.turns if turn <= len(replies)]
        return {"all": replies, "first": replies[:1], "last": replies[-1:]}[self.turns]


def read_study_file(path: str | Path) -> StudyFile:
    """Read a study file in YAML; a UserError says so if it names a key twice, or asks for what is not known."""
    text = text_of(Path(path))
    try:
        parsed = parse_yaml(text)
    except ValueError as error:
        raise UserError(f"{path}: {error}.") from None
    return StudyFile.from_mapping(parsed, str(path))


# Conversations to rate ------------------------------------------------------------------------------------------------


def read_conversations(path: str | Path) -> list[dict]:
    """Read conversations from a file as ``sense7 import`` does: JSON Lines with ``id``, ``messages`` and the like.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "chats.jsonl"
    >>> chat = {"id": "a", "messages": [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello"}]}
    >>> _ = path.write_text(json.dumps(chat))
    >>> read_conversations(path) == [chat]
    True
    """
    chats, _ = read_chats([path])
    return [check_conversation(chat, str(path)) for chat in chats]


def check_conversation(chat: Chat, where: str) -> dict:
    """Check a conversation; a UserError says why it can't be rated, or a workbook can't hold it."""
    where = f"{where}: conversation {chat.id!r:.40}"
    conversation = chat.to_dict()
    for key in conversation.keys() - {"messages"}:
        text = as_name(conversation[key]) or ""
        fix = "is no text of at most 200 characters, or begins with = + - @. Change it."
        require(is_name(text), f"{where}: {key}", f"{text!r:.40} {fix}")
        conversation[key] = text
    for number, message in enumerate(conversation["messages"], 1):
        path, text = f"{where}: message {number}", message["content"]
        problem = (
            f"more than {LONGEST_TEXT:,} characters, too many for a workbook's cell. Shorten it."
        )
        require(utf16_units(text) <= LONGEST_TEXT, path, problem)
        problem = "a character that no file can hold (half a surrogate pair, U+FFFE or U+FFFF). Remove it."
        require(not UNWRITABLE.search(text), path, problem)
    has_turn = any(message["role"] == "assistant" for message in conversation["messages"])
    problem = "no message of the assistant, so there is nothing to rate. Remove the conversation."
    require(has_turn, where, problem)
    return conversation
