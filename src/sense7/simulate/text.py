"""The words of a simulated study: what users and assistants write, and users' comments.

Each assistant turn shows some of the seven behaviours. How well it shows one follows the
quality that also stands behind its rating, plus noise of its own: text carries signal, but
not all of it. It carries nothing of the person's leniency, because what a turn offers
does not depend on who rates it.
"""

import re
from dataclasses import dataclass, field
from string import Formatter

import numpy as np

from sense7.simulate import phrases
from sense7.simulate.model import Numbers, cut
from sense7.taxonomy import DIMENSION_NAMES

__all__ = ["TEXT_CUTS", "Words", "write_words"]

TEXT_CUTS = (2.5, 3.6, 4.5)
"""Quality shown below, between and above which a behaviour reads poor, flat, good, very good."""

_NEUTRAL = TEXT_CUTS[1]
_ORDER = ("Relational", "Affective", "Cognitive", "Contextual", "Response", "Prosocial", "Interest")
_READING_PLACE = {DIMENSION_NAMES.index(name): place for place, name in enumerate(_ORDER)}
_RELATIONAL, _RESPONSE, _INTEREST, _PROSOCIAL = (
    DIMENSION_NAMES.index(name) for name in ("Relational", "Response", "Interest", "Prosocial")
)
_LOWER_CASE_WRITERS = 0.12


@dataclass(frozen=True)
class Words:
    """Texts of a study, one entry an assistant turn.

    Attributes
    ----------
    user : list of str
        What the user writes before the turn.
    assistant : list of str
        What the assistant writes.
    comment : list of str or None
        The user's comment on the turn.
    shown : ndarray of int8, (T, 7)
        How each behaviour reads: 0 poor to 3 very good, -1 where the turn does not show it.
    """

    user: list[str] = field(repr=False)
    assistant: list[str] = field(repr=False)
    comment: list[str | None] = field(repr=False)
    shown: np.ndarray = field(repr=False)


def write_words(study: Numbers, generator: np.random.Generator) -> Words:
    """Write all messages and comments of a study.

    Parameters
    ----------
    study : Numbers
        The study. Its quality steers the assistant, its ratings only the comments.
    generator : numpy.random.Generator
        Source of chance; the same state and study give the same words.

    Returns
    -------
    Words
        About 10,000 turns a second.
    """
    p = study.parameters
    total = len(study.turn)
    visible = study.quality + p.text_noise_sd * generator.standard_normal((total, 7))
    levels = cut(visible, TEXT_CUTS) - 1
    # What is done very well or very badly catches the eye; the rest is left unsaid.
    salience = np.abs(visible - _NEUTRAL) + 0.35 * generator.gumbel(size=(total, 7))
    order = np.argsort(-salience, axis=1).tolist()
    impression = visible.mean(axis=1).tolist()
    rows = levels.tolist()
    failures = study.failure.tolist()
    lower = (generator.random(len(study.participant)) < _LOWER_CASE_WRITERS)[study.participant].tolist()
    dice = _Dice(generator)
    shown = np.full((total, 7), -1, dtype=np.int8)
    user: list[str] = []
    assistant: list[str] = []
    row = 0
    for conversation, count in enumerate(study.turns.tolist()):
        tale = _Tale(p.topics[study.topic[conversation]], dice)
        for turn in range(count):
            last = turn == count - 1
            before = (impression[row - 1], failures[row - 1]) if turn else None
            said, asked = tale.user_turn(turn, last, before)
            user.append(_lower_case(said) if lower[conversation] else said)
            reply, used = tale.assistant_turn(turn, last, asked, failures[row], rows[row], order[row])
            assistant.append(reply)
            for dimension in used:
                shown[row, dimension] = rows[row][dimension]
            row += 1
    return Words(user, assistant, _comments(study, dice), shown)


class _Dice:
    """Uniform numbers one at a time, drawn in blocks because single draws are slow."""

    def __init__(self, generator: np.random.Generator) -> None:
        self._generator = generator
        self._block = iter(())

    def __call__(self) -> float:
        for value in self._block:
            return value
        self._block = iter(self._generator.random(65_536).tolist())
        return next(self._block)

    def choose(self, options):
        return options[int(self() * len(options))]


class _Tale:
    """One conversation while it is written: who, what was said, what was used up."""

    def __init__(self, topic: str, dice: _Dice) -> None:
        self._dice = dice
        self._story = phrases.STORIES[topic]
        self._used: dict[object, set[int]] = {}
        self._slots = {
            "name": dice.choose(phrases.NAMES),
            "project": dice.choose(phrases.PROJECTS),
            "day": dice.choose(phrases.DAYS),
            "span": dice.choose(phrases.SPANS),
        }
        self._feeling = dice.choose(self._story.feelings)
        self._goal = dice.choose(self._story.goals)
        self._known = {"day", "span"}
        self._mentioned: set[str] = set()
        self._facts: list[str] = []
        self._said: list[str] = []

    def _fresh(self, key: object, options):
        """One of the options that this conversation has not had yet, as far as there is any."""
        return options[self._fresh_place(key, range(len(options)))]

    def _fresh_place(self, key: object, places) -> int:
        used = self._used.setdefault(key, set())
        fresh = [place for place in places if place not in used]
        if not fresh:
            used.clear()
        choice = self._dice.choose(fresh or places)
        used.add(choice)
        return choice

    def _fill(self, phrase: str) -> str:
        return phrase.format_map(self._slots)

    def _tell(self, fact: phrases.Fact) -> str:
        """Let the user state a fact, and let it be known from here on."""
        sentence, reference = self._fill(fact.user), self._fill(fact.assistant)
        self._facts.append(reference)
        self._said.append(sentence)
        self._learn("fact", reference)
        if fact.burden:
            self._learn("sore", reference)
        # The assistant may speak of persons and plans only once the user has.
        self._known.update(slot for slot in ("name", "project") if self._slots[slot] in sentence)
        return sentence

    def _learn(self, slot: str, value: str) -> None:
        self._slots[slot] = value
        self._known.add(slot)

    def _recall(self) -> None:
        """Choose what the assistant may come back to: something told, though not last."""
        current = (self._slots["fact"], self._slots.get("sore"))
        earlier = [place for place, fact in enumerate(self._facts) if fact not in current]
        if earlier:
            used = self._used.setdefault("old", set())
            fresh = [place for place in earlier if place not in used]
            if not fresh:
                used.clear()
            choice = self._dice.choose(fresh or earlier)
            used.add(choice)
            self._learn("old", self._facts[choice])

    def _name_feeling(self) -> str:
        self._learn("feeling", self._feeling)
        return self._fill(self._fresh("feelings", phrases.FEELINGS_NAMED))

    def _name_goal(self) -> str:
        wish = self._fresh("goals", phrases.GOALS_NAMED).format(goal=self._goal)
        self._learn("goal", _second_person(self._goal))
        return wish

    def user_turn(self, turn: int, last: bool, before: tuple[float, bool] | None) -> tuple[str, bool]:
        """Text of the user, and whether it asks for advice."""
        dice = self._dice
        if before is None:
            parts = [self._tell(self._fresh("openings", self._story.openings))]
            if dice() < 0.75:
                parts.append(self._name_feeling())
            if dice() < 0.35:
                parts.append(self._tell(self._fresh("details", self._story.details)))
            if dice() < 0.3:
                parts.append(self._name_goal())
            return " ".join(parts), False
        impression, failed = before
        mood = "poor" if impression < TEXT_CUTS[0] else "plain" if impression < _NEUTRAL else "good"
        if failed and not last:
            complaint = self._fresh("complaints", phrases.COMPLAINTS)
            return complaint.format(said=dice.choose(self._said)), False
        if last:
            return self._fill(self._fresh("closings", phrases.CLOSINGS[mood])), False
        parts = []
        if dice() < 0.55:
            parts.append(self._fresh(mood, phrases.REACTIONS[mood]))
        asked = self._carry_on(parts, turn)
        return " ".join(parts), asked

    def _carry_on(self, parts: list[str], turn: int) -> bool:
        """Add what the user says next; return whether it asks for advice."""
        dice = self._dice
        told = len(self._used.get("details", ()))
        if "feeling" not in self._known:
            parts.append(self._name_feeling())
        elif "goal" not in self._known and turn > 1:
            parts.append(self._name_goal())
        elif told < len(self._story.details) and dice() < 0.62:
            parts.append(self._tell(self._fresh("details", self._story.details)))
            if dice() < 0.2 and told + 1 < len(self._story.details):
                parts.append(self._tell(self._fresh("details", self._story.details)))
        elif dice() < 0.35:
            parts.append(self._fresh("cues", phrases.ADVICE_CUES))
            return True
        else:
            parts.append(self._fresh("asks", phrases.ASKS))
        return False

    def assistant_turn(
        self, turn: int, last: bool, asked: bool, failed: bool, levels: list[int], order: list[int]
    ) -> tuple[str, list[int]]:
        """Text of the assistant, and the dimensions that it shows."""
        self._recall()
        self._mentioned = set()
        longer = self._dice() < 0.45
        count = 1 if failed or last else 3 + longer
        barred = set(_BARRED_AT_END) if last else set()
        if turn == 0 or failed or "old" not in self._known:
            barred.add(_RELATIONAL)
        picked = [dimension for dimension in order if dimension not in barred][:count]
        if asked and not failed and not last and _RESPONSE not in picked:
            picked[-1] = _RESPONSE
        picked.sort(key=_READING_PLACE.__getitem__)
        sentences = [self._say("failures", phrases.FAILURES)] if failed else []
        for dimension in picked:
            name = DIMENSION_NAMES[dimension]
            sentences.append(self._say((name, levels[dimension]), phrases.PHRASES[name][levels[dimension]]))
        if last:
            level = levels[_PROSOCIAL]
            sentences.append(self._say(("farewell", level), phrases.FAREWELLS[level]))
            picked.append(_PROSOCIAL)
        return " ".join(sentences), picked

    def _say(self, key: object, options: tuple[str, ...]) -> str:
        """A sentence whose slots can be filled with what is known, without saying a thing twice."""
        possible = self._sayable(options)
        apart = [
            option
            for option in possible
            if not any(self._slots.get(slot) in self._mentioned for slot in _slots_of(options[option]))
        ]
        phrase = options[self._fresh_place(key, apart or possible)]
        wanted = _slots_of(phrase)
        self._mentioned.update(self._slots[slot] for slot in wanted & _ONCE_A_MESSAGE)
        for slot, pool in (("advice", self._story.advice), ("question", self._story.questions)):
            if slot in wanted:
                self._slots[slot] = self._fill(pool[self._fresh_place(slot, self._sayable(pool))])
        return self._fill(phrase)

    def _sayable(self, options: tuple[str, ...]) -> list[int]:
        known = self._known | _ON_DEMAND
        return [number for number, option in enumerate(options) if _slots_of(option) <= known]


_BARRED_AT_END = (_RESPONSE, _INTEREST, _PROSOCIAL)
_ONCE_A_MESSAGE = frozenset({"fact", "sore", "old", "goal", "feeling"})
_ON_DEMAND = frozenset({"advice", "question"})
_SLOTS: dict[str, frozenset[str]] = {}


def _slots_of(phrase: str) -> frozenset[str]:
    if phrase not in _SLOTS:
        _SLOTS[phrase] = frozenset(name for _, name, _, _ in Formatter().parse(phrase) if name)
    return _SLOTS[phrase]


_PERSONS = {
    "I": "you",
    "me": "you",
    "my": "your",
    "myself": "yourself",
    "us": "the two of you",
}


def _second_person(goal: str) -> str:
    """Turn the user's goal round, as the assistant says it.

    >>> _second_person("to find out what I really want in my work")
    'to find out what you really want in your work'
    """
    return re.sub(r"\b(I|me|my|myself|us)\b", lambda match: _PERSONS[match[1]], goal)


def _lower_case(text: str) -> str:
    """As some people type: no capitals."""
    return text.lower().removesuffix(".")


def _comments(study: Numbers, dice: _Dice) -> list[str | None]:
    rate = study.parameters.comment_rate
    comments: list[str | None] = []
    for *seven, overall in study.ratings.tolist():
        rated = [level for level in seven if level > 0]
        wanted = rate * (3 if 0 < overall <= 2 else 2 if overall == 5 else 1)
        if not rated or dice() >= wanted:
            comments.append(None)
            continue
        position = int(dice() * 7)
        spread = range(position, position + 7)
        # The comment is about the best or the worst dimension; ties fall by chance.
        best = max((k % 7 for k in spread), key=lambda k: seven[k])
        worst = min((k % 7 for k in spread if seven[k % 7] > 0), key=lambda k: seven[k])
        if seven[worst] <= 2:
            comments.append(dice.choose(phrases.COMMENTS[DIMENSION_NAMES[worst]][0]))
        elif seven[best] >= 4 and dice() < 0.85:
            comments.append(dice.choose(phrases.COMMENTS[DIMENSION_NAMES[best]][1]))
        else:
            comments.append(dice.choose(phrases.PLAIN_COMMENTS))
    return comments
