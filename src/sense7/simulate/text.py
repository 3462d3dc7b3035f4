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
_READING_PLACE = {DIMENSION_NAMES.index(name): place for place, name in enumerate(_ORDER)}
_RELATIONAL, _RESPONSE, _INTEREST, _PROSOCIAL = (
    DIMENSION_NAMES.index(name) for name in ("Relational", "Response", "Interest", "Prosocial")
)
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
    lower = (generator.random(len(study.participant)) < _LOWER_CASE_WRITERS)[
        study.participant
    ].tolist()
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
            # Some people type no capitals.
            user.append(said.lower().removesuffix(".") if lower[conversation] else said)
            reply, used = tale.assistant_turn(
                turn, last, asked, failures[row], rows[row], order[row]
            )
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
        self._story = PHRASES["stories"][topic]
        self._used: dict[object, set[int]] = {}
        self._slots = {
            slot: dice.choose(PHRASES[f"{slot}s"]) for slot in ("name", "project", "day", "span")
        }
        self._feeling = dice.choose(self._story["feelings"])
        self._goal = dice.choose(self._story["goals"])
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

    def _tell(self, fact: dict) -> str:
        """Let the user state a fact, and let it be known from here on."""
        sentence, reference = self._fill(fact["user"]), self._fill(fact["assistant"])
        self._facts.append(reference)
        self._said.append(sentence)
        self._learn("fact", reference)
        if fact.get("burden", True):
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
            self._learn("old", self._facts[self._fresh_place("old", earlier)])

    def _name_feeling(self) -> str:
        self._learn("feeling", self._feeling)
        return self._fill(self._fresh("feelings", PHRASES["feelings_named"]))

    def _name_goal(self) -> str:
        wish = self._fresh("goals", PHRASES["goals_named"]).format(goal=self._goal)
        # As the assistant says it.
        yours = re.sub(r"\b(I|me|my|myself|us)\b", lambda match: _YOURS[match[1]], self._goal)
        self._learn("goal", yours)
        return wish

    def user_turn(
        self, turn: int, last: bool, before: tuple[float, bool] | None
    ) -> tuple[str, bool]:
        """Text of the user, and whether it asks for advice."""
        dice = self._dice
        if before is None:
            parts = [self._tell(self._fresh("openings", self._story["openings"]))]
            if dice() < 0.75:
                parts.append(self._name_feeling())
            if dice() < 0.35:
                parts.append(self._tell(self._fresh("details", self._story["details"])))
            if dice() < 0.3:
                parts.append(self._name_goal())
            return " ".join(parts), False
        impression, failed = before
        mood = "poor" if impression < TEXT_CUTS[0] else "plain" if impression < _NEUTRAL else "good"
        if failed and not last:
            complaint = self._fresh("complaints", PHRASES["complaints"])
            return complaint.format(said=dice.choose(self._said)), False
        if last:
            return self._fill(self._fresh("closings", PHRASES["closings"][mood])), False
        parts = []
        if dice() < 0.55:
            parts.append(self._fresh(mood, PHRASES["reactions"][mood]))
        told, details, asked = len(self._used.get("details", ())), self._story["details"], False
        if "feeling" not in self._known:
            parts.append(self._name_feeling())
        elif "goal" not in self._known and turn > 1:
            parts.append(self._name_goal())
        elif told < len(details) and dice() < 0.62:
            parts.append(self._tell(self._fresh("details", details)))
            if dice() < 0.2 and told + 1 < len(details):
                parts.append(self._tell(self._fresh("details", details)))
        elif dice() < 0.35:
            parts.append(self._fresh("cues", PHRASES["advice_cues"]))
            asked = True
        else:
            parts.append(self._fresh("asks", PHRASES["asks"]))
        return " ".join(parts), asked

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
        sentences = [self._say("failures", PHRASES["failures"])] if failed else []
        for dimension in picked:
            name = DIMENSION_NAMES[dimension]
            sentences.append(
                self._say((name, levels[dimension]), _SAYINGS[name][levels[dimension]])
            )
        if last:
            level = levels[_PROSOCIAL]
            sentences.append(self._say(("farewell", level), _FAREWELLS[level]))
            picked.append(_PROSOCIAL)
        return " ".join(sentences), picked

    def _say(self, key: object, options: tuple[str, ...]) -> str:
        """A sentence whose slots can be filled with what is known, without saying a thing twice."""
        possible = self._sayable(options)
        apart = [
            option
            for option in possible
            if not any(
                self._slots.get(slot) in self._mentioned for slot in _slots_of(options[option])
            )
        ]
        phrase = options[self._fresh_place(key, apart or possible)]
        wanted = _slots_of(phrase)
        self._mentioned.update(self._slots[slot] for slot in wanted & _ONCE_A_MESSAGE)
        for slot, pool in (
            ("advice", self._story["advice"]),
            ("question", self._story["questions"]),
        ):
            if slot in wanted:
                self._slots[slot] = self._fill(pool[self._fresh_place(slot, self._sayable(pool))])
        return self._fill(phrase)

    def _sayable(self, options: tuple[str, ...]) -> list[int]:
        known = self._known | _ON_DEMAND
        return [number for number, option in enumerate(options) if _slots_of(option) <= known]


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
            comments.append(dice.choose(PHRASES["comments"][DIMENSION_NAMES[worst]]["worst"]))
        elif seven[best] >= 4 and dice() < 0.85:
            comments.append(dice.choose(PHRASES["comments"][DIMENSION_NAMES[best]]["best"]))
        else:
            comments.append(dice.choose(PHRASES["plain_comments"]))
    return comments
