"""The words from which conversations are put together, as ``phrases.yml`` beside this module holds them.

Its head explains the slots. Every quality is a place in a tuple: poor, flat, good, very good.
"""

from importlib.resources import files
from typing import NamedTuple

from sense7.files import parse_yaml

__all__ = [
    "ADVICE_CUES",
    "ASKS",
    "CLOSINGS",
    "COMMENTS",
    "COMPLAINTS",
    "DAYS",
    "ERRORS",
    "FAILURES",
    "FAREWELLS",
    "FEELINGS_NAMED",
    "GOALS_NAMED",
    "NAMES",
    "PHRASES",
    "PLAIN_COMMENTS",
    "PROJECTS",
    "REACTIONS",
    "SPANS",
    "STORIES",
    "Fact",
    "Story",
]


class Fact(NamedTuple):
    """Something that a user tells.

    Attributes
    ----------
    user : str
        What the user writes.
    assistant : str
        A noun phrase by which an assistant refers to it.
    burden : bool
        Whether it weighs on the user.
    """

    user: str
    assistant: str
    burden: bool = True


class Story(NamedTuple):
    """What users bring to one topic.

    Attributes
    ----------
    openings, details : list of Fact
        First messages, and further facts.
    feelings : list of str
        Adjectives that fit "I feel ...".
    goals : list of str
        What the user wants, as "to ...".
    advice : list of str
        What could be done, as a verb phrase.
    questions : list of str
        What an interested listener asks.
    """

    openings: list[Fact]
    feelings: list[str]
    details: list[Fact]
    goals: list[str]
    advice: list[str]
    questions: list[str]


def _story(entry: dict) -> Story:
    facts = {part: [Fact(**fact) for fact in entry[part]] for part in ("openings", "details")}
    return Story(**entry | facts)


_WORDS = parse_yaml(files(__package__).joinpath("phrases.yml").read_text(encoding="utf-8"))

NAMES, PROJECTS, DAYS, SPANS = (_WORDS[name] for name in ("names", "projects", "days", "spans"))
STORIES = {topic: _story(entry) for topic, entry in _WORDS["stories"].items()}
FEELINGS_NAMED, GOALS_NAMED = _WORDS["feelings_named"], _WORDS["goals_named"]
ADVICE_CUES, ASKS, COMPLAINTS = _WORDS["advice_cues"], _WORDS["asks"], _WORDS["complaints"]
REACTIONS, CLOSINGS = _WORDS["reactions"], _WORDS["closings"]
PHRASES = {dimension: tuple(levels.values()) for dimension, levels in _WORDS["phrases"].items()}
FAILURES, ERRORS = _WORDS["failures"], _WORDS["errors"]
FAREWELLS = tuple(_WORDS["farewells"].values())
COMMENTS = {dimension: (entry["worst"], entry["best"]) for dimension, entry in _WORDS["comments"].items()}
PLAIN_COMMENTS = _WORDS["plain_comments"]
