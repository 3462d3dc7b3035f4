"""The words of a simulated study: what users and assistants write, and users' comments.

Each assistant turn shows some of the seven behaviours. How well it shows one follows the
quality that also stands behind its rating, plus noise of its own: text carries signal, but
not all of it. It carries nothing of the person's leniency, because what a turn offers
does not depend on who rates it.
"""

import functools
import importlib.resources
import re
from dataclasses import dataclass
from string import Formatter

import numpy as np

from sense7.files import parse_yaml
from sense7.simulate.model import Numbers, cut
from sense7.taxonomy import DIMENSION_NAMES

PHRASES = parse_yaml(
    (importlib.resources.files(__package__) / "phrases.yml").read_text(encoding="utf-8")
)
"""The words from which conversations are put together; the head of the file explains the slots."""

_SAYINGS = {name: list(levels.values()) for name, levels in PHRASES["phrases"].items()}
_FAREWELLS = list(PHRASES["farewells"].values())

TEXT_CUTS = (2.5, 3.6, 4.5)
"""Quality shown below, between and above which a behaviour reads poor, flat, good, very good."""

_NEUTRAL = TEXT_CUTS[1]
_ORDER = ("Relational", "Affective", "Cognitive", "Contextual", "Response", "Prosocial", "Interest")
_READING_ORDER = [DIMENSION_NAMES.index(name) for name in _ORDER]
_RELATIONAL = DIMENSION_NAMES.index("Relational")
_RESPONSE = DIMENSION_NAMES.index("Response")
_INTEREST = DIMENSION_NAMES.index("Interest")
_PROSOCIAL = DIMENSION_NAMES.index("Prosocial")
_LOWER_CASE_WRITERS = 0.12


@dataclass(frozen=True, repr=False)
class Words:
    """Texts of a study, one entry an assistant turn.

    What the user writes before the turn, what the assistant writes, the user's comment on it, and ``shown`` (T, 7): how
    each behavior reads, 0 poor to 3 very good, -1 where the turn does not show it.
    """

    user: list[str]
    assistant: list[str]
    comment: list[str | None]
    shown: np.ndarray


def write_words(study: Numbers, generator: np.random.Generator) -> Words:
    """Write all messages and comments of a study: its quality steers the assistant, its ratings only the comments."""
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
    # Some people type no capitals.
    no_capitals = generator.random(len(study.participant)) < _LOWER_CASE_WRITERS
    no_capitals = no_capitals[study.participant].tolist()
    dice = _Dice(generator)
    shown_levels = np.full((total, 7), -1, dtype=np.int8)
    user: list[str] = []
    assistant: list[str] = []
    row = 0
    for conversation, count in enumerate(study.turns.tolist()):
        tale = _Tale(p.topics[study.topic[conversation]], dice)
        for turn in range(count):
            last = turn == count - 1
            if turn == 0:
                message = tale.first_turn()
                asks_advice = False
            else:
                message, asks_advice = tale.user_turn(
                    turn, last, impression[row - 1], failures[row - 1]
                )
            if no_capitals[conversation]:
                message = message.lower().removesuffix(".")
            user.append(message)
            reply, dimensions = tale.assistant_turn(
                turn, last, asks_advice, failures[row], rows[row], order[row]
            )
            assistant.append(reply)
            for dimension in dimensions:
                shown_levels[row, dimension] = rows[row][dimension]
            row += 1
    return Words(user, assistant, _comments(study, dice), shown_levels)


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
        self._story = PHRASES["stories"][topic]
        self._used: dict[object, set[int]] = {}
        self._slots = {}
        for slot in ("name", "project", "day", "span"):
            self._slots[slot] = dice.choose(PHRASES[f"{slot}s"])
        self._feeling = dice.choose(self._story["feelings"])
        self._goal = dice.choose(self._story["goals"])
        self._known_slots = {"day", "span"}
        self._mentioned: set[str] = set()
        self._facts: list[str] = []
        self._said: list[str] = []

    def _fresh(self, key: object, options):
        """One of the options that this conversation has not had yet, as far as there is any."""
        return options[self._fresh_number(key, range(len(options)))]

    def _fresh_number(self, key: object, numbers) -> int:
        used = self._used.setdefault(key, set())
        fresh = [number for number in numbers if number not in used]
        if not fresh:
            used.clear()
        choice = self._dice.choose(fresh or numbers)
        used.add(choice)
        return choice

    def _fill(self, phrase: str) -> str:
        return phrase.format_map(self._slots)

    def _tell(self, fact: dict) -> str:
        """Let the user state a fact, and let it be known from here on."""
        sentence = self._fill(fact["user"])
        reference = self._fill(fact["assistant"])
        self._facts.append(reference)
        self._said.append(sentence)
        self._learn("fact", reference)
        if fact.get("burden", True):
            self._learn("sore", reference)
        # The assistant may speak of persons and plans only once the user has.
        self._known_slots.update(
            slot for slot in ("name", "project") if self._slots[slot] in sentence
        )
        return sentence

    def _learn(self, slot: str, value: str) -> None:
        self._slots[slot] = value
        self._known_slots.add(slot)

    def _recall(self) -> None:
        """Choose what the assistant may come back to: something told, though not last."""
        current = (self._slots["fact"], self._slots.get("sore"))
        earlier = [number for number, fact in enumerate(self._facts) if fact not in current]
        if earlier:
            self._learn("old", self._facts[self._fresh_number("old", earlier)])

    def _name_feeling(self) -> str:
        self._learn("feeling", self._feeling)
        return self._fill(self._fresh("feelings", PHRASES["feelings_named"]))

    def _name_goal(self) -> str:
        wish = self._fresh("goals", PHRASES["goals_named"]).format(goal=self._goal)
        # As the assistant says it.
        as_assistant = re.sub(
            r"\b(I|me|my|myself|us)\b", lambda match: _YOURS[match[1]], self._goal
        )
        self._learn("goal", as_assistant)
        return wish

    def first_turn(self) -> str:
        """Text of the user who begins a conversation."""
        parts = [self._tell(self._fresh("openings", self._story["openings"]))]
        if self._dice() < 0.75:
            parts.append(self._name_feeling())
        if self._dice() < 0.35:
            parts.append(self._tell(self._fresh("details", self._story["details"])))
        if self._dice() < 0.3:
            parts.append(self._name_goal())
        return " ".join(parts)

    def user_turn(self, turn: int, last: bool, impression: float, failed: bool) -> tuple[str, bool]:
        """Text of the user after a turn that left an impression, and whether it asks for advice."""
        dice = self._dice
        mood = "good"
        if impression < TEXT_CUTS[0]:
            mood = "poor"
        elif impression < _NEUTRAL:
            mood = "plain"
        if failed and not last:
            complaint = self._fresh("complaints", PHRASES["complaints"])
            return complaint.format(said=dice.choose(self._said)), False
        if last:
            return self._fill(self._fresh("closings", PHRASES["closings"][mood])), False
        parts = []
        if dice() < 0.55:
            parts.append(self._fresh(mood, PHRASES["reactions"][mood]))
        details = self._story["details"]
        details_told = len(self._used.get("details", ()))
        asks_advice = False
        if "feeling" not in self._known_slots:
            parts.append(self._name_feeling())
        elif "goal" not in self._known_slots and turn > 1:
            parts.append(self._name_goal())
        elif details_told < len(details) and dice() < 0.62:
            parts.append(self._tell(self._fresh("details", details)))
            if dice() < 0.2 and details_told + 1 < len(details):
                parts.append(self._tell(self._fresh("details", details)))
        elif dice() < 0.35:
            parts.append(self._fresh("cues", PHRASES["advice_cues"]))
            asks_advice = True
        else:
            parts.append(self._fresh("asks", PHRASES["asks"]))
        return " ".join(parts), asks_advice

    def assistant_turn(
        self,
        turn: int,
        last: bool,
        asks_advice: bool,
        failed: bool,
        levels: list[int],
        order: list[int],
    ) -> tuple[str, list[int]]:
        """Text of the assistant, and the dimensions that it shows."""
        self._recall()
        self._mentioned = set()
        longer = self._dice() < 0.45
        count = 3 + longer
        if failed or last:
            count = 1
        barred = set()
        if last:
            barred.update(_BARRED_AT_END)
        if turn == 0 or failed or "old" not in self._known_slots:
            barred.add(_RELATIONAL)
        picked = [dimension for dimension in order if dimension not in barred][:count]
        if asks_advice and not failed and not last and _RESPONSE not in picked:
            picked[-1] = _RESPONSE
        picked.sort(key=_READING_ORDER.index)
        sentences = []
        if failed:
            sentences.append(self._say("failures", PHRASES["failures"]))
        for dimension in picked:
            name = DIMENSION_NAMES[dimension]
            level = levels[dimension]
            sentences.append(self._say((name, level), _SAYINGS[name][level]))
        if last:
            level = levels[_PROSOCIAL]
            sentences.append(self._say(("farewell", level), _FAREWELLS[level]))
            picked.append(_PROSOCIAL)
        return " ".join(sentences), picked

    def _say(self, key: object, options: tuple[str, ...]) -> str:
        """A sentence whose slots can be filled with what is known, without saying a thing twice."""
        possible = self._sayable(options)
        unmentioned = []
        for number in possible:
            values = {self._slots.get(slot) for slot in _slots_of(options[number])}
            if values.isdisjoint(self._mentioned):
                unmentioned.append(number)
        phrase = options[self._fresh_number(key, unmentioned or possible)]
        slots = _slots_of(phrase)
        self._mentioned.update(self._slots[slot] for slot in slots & _ONCE_A_MESSAGE)
        for slot, pool_name in (("advice", "advice"), ("question", "questions")):
            if slot in slots:
                pool = self._story[pool_name]
                self._slots[slot] = self._fill(pool[self._fresh_number(slot, self._sayable(pool))])
        return self._fill(phrase)

    def _sayable(self, options: tuple[str, ...]) -> list[int]:
        """Numbers of the options whose slots can be filled."""
        slots = self._known_slots | _ON_DEMAND
        return [number for number, option in enumerate(options) if _slots_of(option) <= slots]


_YOURS = {"I": "you", "me": "you", "my": "your", "myself": "yourself", "us": "the two of you"}
_BARRED_AT_END = (_RESPONSE, _INTEREST, _PROSOCIAL)
_ONCE_A_MESSAGE = frozenset({"fact", "sore", "old", "goal", "feeling"})
_ON_DEMAND = frozenset({"advice", "question"})


@functools.cache
def _slots_of(phrase: str) -> frozenset[str]:
    return frozenset(name for _, name, _, _ in Formatter().parse(phrase) if name)


def _comments(study: Numbers, dice: _Dice) -> list[str | None]:
    rate = study.parameters.comment_rate
    comments: list[str | None] = []
    for *seven, overall in study.ratings.tolist():
        probability = rate
        if 0 < overall <= 2:
            probability = 3 * rate
        elif overall == 5:
            probability = 2 * rate
        if max(seven) <= 0 or dice() >= probability:
            comments.append(None)
            continue
        # The comment is about the best or the worst dimension; ties fall by chance.
        start = int(dice() * 7)
        positions = [*range(start, 7), *range(start)]
        best = max(positions, key=seven.__getitem__)
        rated_positions = [position for position in positions if seven[position] > 0]
        worst = min(rated_positions, key=seven.__getitem__)
        if seven[worst] <= 2:
            comments.append(dice.choose(PHRASES["comments"][DIMENSION_NAMES[worst]]["worst"]))
        elif seven[best] >= 4 and dice() < 0.85:
            comments.append(dice.choose(PHRASES["comments"][DIMENSION_NAMES[best]]["best"]))
        else:
            comments.append(dice.choose(PHRASES["plain_comments"]))
    return comments
