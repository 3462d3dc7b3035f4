"""A study: what people are asked, in which language and order, about which turns of which conversations."""

import json
import unicodedata
from dataclasses import asdict, dataclass
from pathlib import Path

from sense7.errors import UserError
from sense7.exchange import Chat, read_chats
from sense7.files import digest_of, read_json, require_schema
from sense7.taxonomy import DIMENSION_NAMES, normalise_name
from sense7.workbook.ids import as_name
from sense7.workbook.reading import read_yaml
from sense7.workbook.xlsx import LONGEST_TEXT, UNWRITABLE, utf16_units

_SCHEMA = read_json(Path(__file__).with_name("study_schema.json"))
_KEYS = _SCHEMA["properties"]

LANGUAGES = _KEYS["language"]["enum"]
"""Languages of the page, by their codes."""

BEFORE = tuple(_KEYS["before"]["items"]["enum"])
"""Questions before a conversation, by their names in :mod:`sense7.taxonomy`."""

AFTER = tuple(_KEYS["after"]["items"]["enum"])
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


# What a study file says -----------------------------------------------------------------------------------------------


LARGEST = 1e12
"""Numbers that people give lie between this and its negative."""


def require(holds: object, where: str, message: str) -> None:
    """Raise a UserError with place and message unless a condition holds."""
    if not holds:
        raise UserError(f"{where}: {message}")


def _normalised(value: object) -> object:
    """Strip texts of outer space, and make whole numbers integers, so that neither changes a study's id."""
    if isinstance(value, str):
        return value.strip()
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, list):
        return [_normalised(item) for item in value]
    if isinstance(value, dict):
        return {key: _normalised(item) for key, item in value.items()}
    return value


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
        content = _normalised(content)
        require_schema(content, _SCHEMA, where)
        settings = {}
        for key, value in content.items():
            settings[key] = tuple(value) if isinstance(value, list) else value
        if isinstance(settings.get("turns"), tuple):
            settings["turns"] = tuple(sorted(settings["turns"]))
        fits = (settings.get("order") == "shuffled") == ("seed" in settings)
        require(fits, where, "seed: goes with order: shuffled. Give both or neither.")
        taken = {"pid", "participant", "taskid"}
        questions = []
        for number, entry in enumerate(settings.get("questions", ()), 1):
            question = {"kind": "text", "when": "before", **entry}
            questions.append(question)
            path = f"{where}: questions: {number}"
            lowest, highest = question.get("lowest", -LARGEST), question.get("highest", LARGEST)
            is_range = -LARGEST <= lowest < highest <= LARGEST
            problem = f"lowest, highest: {lowest!r:.40} to {highest!r:.40} is no range. Change it."
            require(is_range, path, problem)
            name = normalise_name(question["name"])
            problem = f"name: {question['name']!r} is taken. Choose another."
            require(name not in taken, path, problem)
            taken.add(name)
        return cls(**{**settings, "questions": tuple(questions)})

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
    return StudyFile.from_mapping(read_yaml(Path(path)), str(path))


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
