"""The study file: what people are asked, in which language and order, and which turns they rate."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from sense7.collect.study_keys import AFTER, BEFORE, KEYS, hint
from sense7.errors import UserError
from sense7.files import parse_yaml, reading
from sense7.taxonomy import DIMENSION_NAMES

__all__ = ["StudyFile", "read_study_file"]

LARGEST = 2**20
"""Bytes of a study file."""


@dataclass(frozen=True)
class StudyFile:
    """What a study file says, with the usual choice for what it does not say.

    Attributes
    ----------
    title, introduction, consent : str
        Shown first. With a text of consent, nobody begins without agreeing to it.
    language : str
        One of :data:`~sense7.collect.study_keys.LANGUAGES`.
    dimensions : tuple of str
        The dimensions that are asked, in their fixed order.
    order : str
        ``fixed``, or ``shuffled``: for each person another order, which depends on seed and person alone.
    seed : int or None
        Of the shuffled orders; None where the order is fixed.
    overall, comment : bool
        Whether the overall rating and a comment are asked for.
    turns : str or tuple of int
        Which turns are rated: ``all``, ``first``, ``last``, or their numbers.
    conversations : str
        ``everyone``: each person rates every conversation; ``own``: those whose participant they are.
    add_conversations : bool
        Whether people load or paste conversations themselves.
    before, after : tuple of str
        Questions about each conversation, see :data:`~sense7.collect.study_keys.BEFORE` and
        :data:`~sense7.collect.study_keys.AFTER`.
    questions : tuple of dict
        Questions about the person: ``name`` (the column in Participants), ``text``, ``kind`` (text, number, choice),
        ``when`` (before, after), and ``choices`` or ``lowest`` and ``highest``.
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
    add_conversations: bool = False
    before: tuple[str, ...] = BEFORE
    after: tuple[str, ...] = AFTER
    questions: tuple[dict, ...] = ()

    @classmethod
    def from_mapping(cls, content: object, where: str) -> "StudyFile":
        """Check what a study file holds.

        Parameters
        ----------
        content : object
            As YAML or JSON gives it.
        where : str
            The file, for messages.

        Raises
        ------
        UserError
            If a key or a value is not known; names the key and what is.

        Examples
        --------
        >>> StudyFile.from_mapping({"title": "Ten chats", "turns": "last"}, "study.yml").turns
        'last'
        >>> StudyFile.from_mapping({"title": "Ten chats", "langauge": "de"}, "study.yml")
        Traceback (most recent call last):
            ...
        sense7.errors.UserError: study.yml: langauge: there is no such key. Did you mean language?
        """
        if not isinstance(content, Mapping):
            raise UserError(f"{where}: no study file. Write one key per line, such as title: My study.")
        for key in content:
            if key not in KEYS:
                raise UserError(f"{where}: {key!s:.40}: there is no such key.{hint(key, KEYS)}")
        if "title" not in content:
            raise UserError(f"{where}: title: is missing. Write a line such as title: My study.")
        checked = {key: KEYS[key](value, f"{where}: {key}") for key, value in content.items()}
        if (checked.get("order") == "shuffled") != ("seed" in checked):
            raise UserError(f"{where}: seed: goes with order: shuffled. Give both or neither.")
        return cls(**checked)

    def to_mapping(self) -> dict:
        """Title and unusual choices as plain values, which :meth:`from_mapping` reads back."""
        usual = asdict(StudyFile(""))
        return {key: value for key, value in self.settings().items() if value != _plain(usual[key])}

    def settings(self) -> dict:
        """Every choice as plain values, for the page."""
        return _plain(asdict(self))

    @property
    def id(self) -> str:
        """SHA-256 of the content: comments, spacing and choices that are the usual ones do not count.

        >>> StudyFile("a").id == StudyFile.from_mapping({"title": "a", "order": "fixed"}, "").id != StudyFile("b").id
        True
        """
        text = json.dumps(self.to_mapping(), sort_keys=True, ensure_ascii=False, separators=(",", ":"))
        return hashlib.sha256(text.encode()).hexdigest()

    def rated_turns(self, roles: list[str]) -> list[int]:
        """Numbers, from 1, of a conversation's messages that are rated.

        >>> StudyFile("a", turns=(2, 7)).rated_turns(["user", "assistant", "user", "assistant"])
        [4]
        """
        replies = [number for number, role in enumerate(roles, 1) if role == "assistant"]
        if isinstance(self.turns, tuple):
            return [replies[turn - 1] for turn in self.turns if turn <= len(replies)]
        return {"all": replies, "first": replies[:1], "last": replies[-1:]}[self.turns]


def read_study_file(path: str | Path) -> StudyFile:
    """Read a study file.

    Raises
    ------
    UserError
        If it can't be read, is no YAML, names a key twice, or asks for what is not known.
    """
    path = Path(path)
    with reading(path) as stream:
        content = stream.read(LARGEST + 1)
    if len(content) > LARGEST:
        raise UserError(f"{path}: larger than a study file can be ({LARGEST:,} bytes). Check the path.")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UserError(f"{path}: byte {error.start + 1}: not UTF-8. Save the file again in UTF-8.") from None
    try:
        parsed = parse_yaml(text)
        _require_each_key_once(text)
    except ValueError as error:
        raise UserError(f"{path}: {error}.") from None
    return StudyFile.from_mapping(parsed, str(path))


def _plain(content: object):
    return json.loads(json.dumps(content))


def _require_each_key_once(text: str) -> None:
    """YAML keeps the last of two equal keys and says nothing."""
    import yaml

    waiting = [yaml.compose(text, yaml.SafeLoader)]
    while waiting:
        node = waiting.pop()
        if isinstance(node, yaml.MappingNode):
            seen = set()
            for key, value in node.value:
                if key.value in seen:
                    raise ValueError(f"line {key.start_mark.line + 1}: {key.value}: stands here twice. Keep one")
                seen.add(key.value if isinstance(key.value, str) else None)
                waiting.append(value)
        elif isinstance(node, yaml.SequenceNode):
            waiting += node.value
