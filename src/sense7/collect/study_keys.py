"""The keys of a study file: what each may hold, and what is said where it holds something else."""

import re
import unicodedata
from collections.abc import Callable, Collection, Mapping
from difflib import get_close_matches

from sense7.errors import UserError
from sense7.taxonomy import DIMENSION_NAMES, normalise_name

__all__ = ["AFTER", "BEFORE", "KEYS", "LANGUAGES", "hint", "is_code"]

LANGUAGES = {"en": "English", "de": "German", "fr": "French", "es": "Spanish", "zh": "Chinese", "ja": "Japanese"}
"""Languages of the page, by their codes."""

BEFORE = ("topic", "importance", "desired_empathy")
"""Questions before a conversation, by their names in :mod:`sense7.taxonomy`."""

AFTER = ("successful", "engaged", "positive_interaction", "use_again", "empathy")
"""Questions after a conversation; ``empathy`` stands for the seven dimensions."""

_LONGEST = 20_000
_MOST_TURN = 100_000
_TURNS = ("all", "first", "last")
_QUESTION_KEYS = ("name", "text", "kind", "when", "choices", "lowest", "highest")
_KINDS = ("text", "number", "choice")
_WHEN = ("before", "after")
_RESERVED = {normalise_name(name) for name in ("PID", "Participant", "TaskId")}
_QUESTION_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,39}")


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


def hint(word: object, known: Collection[str]) -> str:
    """Say what was probably meant, or all that is known."""
    close = get_close_matches(str(word).casefold(), known, n=1)
    return f" Did you mean {close[0]}?" if close else f" Known: {', '.join(known)}."


def _text(value: object, where: str) -> str:
    if not isinstance(value, str) or not value.strip():
        raise UserError(
            f"{where}: holds no text. Write some, in quotes if YAML takes it for a number or for yes or no."
        )
    if len(value) > _LONGEST:
        raise UserError(f"{where}: {len(value):,} characters. Write at most {_LONGEST:,}.")
    if any(unicodedata.category(letter) in ("Cs", "Cc") and letter not in "\n\t" for letter in value):
        raise UserError(f"{where}: holds a control character. Remove it.")
    return value.strip()


def _truth(value: object, where: str) -> bool:
    if not isinstance(value, bool):
        raise UserError(f"{where}: {value!r:.40} is neither true nor false. Write one of them.")
    return value


def _number(value: object, where: str) -> int | float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) < 1e12:
        raise UserError(f"{where}: {value!r:.40} is no number of up to twelve digits. Write one.")
    return int(value) if float(value).is_integer() else value


def _seed(value: object, where: str) -> int:
    number = _number(value, where)
    if not isinstance(number, int) or number < 0:
        raise UserError(f"{where}: {value!r:.40}. Write a whole number of at least 0.")
    return number


def _one_of(known: Collection[str]) -> Callable[[object, str], str]:
    def check(value: object, where: str) -> str:
        if not isinstance(value, str) or value not in known:
            raise UserError(f"{where}: {value!r:.40} is not known.{hint(value, known)}")
        return value

    return check


def _some_of(known: Collection[str]) -> Callable[[object, str], tuple[str, ...]]:
    def check(value: object, where: str) -> tuple[str, ...]:
        if not isinstance(value, list | tuple):
            raise UserError(f"{where}: no list. Write [{', '.join(known)}], or some of these.")
        checked = tuple(_one_of(known)(item, where) for item in value)
        if len(set(checked)) < len(checked):
            raise UserError(f"{where}: names something twice. Name each once.")
        return checked

    return check


def _dimensions(value: object, where: str) -> tuple[str, ...]:
    if not (checked := _some_of(DIMENSION_NAMES)(value, where)):
        raise UserError(f"{where}: an empty list. Name at least one of {', '.join(DIMENSION_NAMES)}.")
    return checked


def _turns(value: object, where: str) -> str | tuple[int, ...]:
    if not isinstance(value, list | tuple):
        return _one_of(_TURNS)(value, where)
    whole = all(isinstance(one, int) and not isinstance(one, bool) and 0 < one <= _MOST_TURN for one in value)
    if not value or not whole or sorted(set(value)) != list(value):
        raise UserError(f"{where}: write the numbers of the turns in ascending order, such as [1, 3].")
    return tuple(value)


def _questions(value: object, where: str) -> tuple[dict, ...]:
    if not isinstance(value, list | tuple):
        raise UserError(f"{where}: no list. Write one entry per question, each with a name and a text.")
    checked = tuple(_question(one, f"{where}, question {number}") for number, one in enumerate(value, 1))
    names = [normalise_name(one["name"]) for one in checked]
    for number, name in enumerate(names, 1):
        if name in names[: number - 1]:
            raise UserError(
                f"{where}, question {number}: name: {checked[number - 1]['name']} is used twice. Change one."
            )
    return checked


def _question(value: object, where: str) -> dict:
    if not isinstance(value, Mapping):
        raise UserError(f"{where}: write its keys: {', '.join(_QUESTION_KEYS)}.")
    for key in value:
        if key not in _QUESTION_KEYS:
            raise UserError(f"{where}: {key!s:.40}: there is no such key.{hint(key, _QUESTION_KEYS)}")
    for key in ("name", "text"):
        if key not in value:
            raise UserError(f"{where}: {key}: is missing.")
    name = value["name"]
    if not isinstance(name, str) or not _QUESTION_NAME.fullmatch(name) or normalise_name(name) in _RESERVED:
        raise UserError(f"{where}: name: {name!r:.40}. Write a column's name of Latin letters and digits, such as Age.")
    question = {
        "name": name,
        "text": _text(value["text"], f"{where}: text"),
        "kind": _one_of(_KINDS)(value.get("kind", "text"), f"{where}: kind"),
        "when": _one_of(_WHEN)(value.get("when", "before"), f"{where}: when"),
    }
    return question | _limits(question["kind"], value, where)


def _limits(kind: str, value: Mapping, where: str) -> dict:
    """What may be answered: the choices, or the lowest and the highest number."""
    fitting = {"choice": ("choices",), "number": ("lowest", "highest"), "text": ()}[kind]
    for key in ("choices", "lowest", "highest"):
        if key in value and key not in fitting:
            raise UserError(f"{where}: {key}: does not go with kind: {kind}. Remove it, or change the kind.")
    if kind == "choice":
        choices = value.get("choices")
        if not isinstance(choices, list | tuple) or len(choices) < 2:
            raise UserError(f"{where}: choices: write a list of at least two.")
        checked = [_text(one, f"{where}: choices") for one in choices]
        if len(set(checked)) < len(checked):
            raise UserError(f"{where}: choices: one stands there twice. Remove it.")
        return {"choices": checked}
    limits = {key: _number(value[key], f"{where}: {key}") for key in fitting if key in value}
    if len(limits) == 2 and limits["lowest"] >= limits["highest"]:
        raise UserError(f"{where}: highest: is not above lowest. Exchange them.")
    return limits


KEYS: dict[str, Callable] = {
    "title": _text,
    "introduction": _text,
    "consent": _text,
    "language": _one_of(LANGUAGES),
    "dimensions": _dimensions,
    "order": _one_of(("fixed", "shuffled")),
    "seed": _seed,
    "overall": _truth,
    "comment": _truth,
    "turns": _turns,
    "conversations": _one_of(("everyone", "own")),
    "add_conversations": _truth,
    "before": _some_of(BEFORE),
    "after": _some_of(AFTER),
    "questions": _questions,
}
"""Key of a study file -> how its value is checked."""
