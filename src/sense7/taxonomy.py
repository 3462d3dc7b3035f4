"""The seven dimensions, the five levels, and the scales with the words for them.

The ground floor: it imports nothing of ours and reads nothing. Names and anchors
are those of the official release; the definitions are in the companion's own words,
and the grouping is the companion's reading wherever ``group_is_published`` is False.
"""

import re
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property


@dataclass(frozen=True)
class Dimension:
    """One of the seven dimensions of perceived empathy.

    Attributes
    ----------
    name : str
        Column name in the official workbook, e.g. ``Affective``.
    title : str
        Name of the dimension in the paper.
    definition : str
        What the agent is seen to do, in the companion's own words.
    group : str
        affective, cognitive or motivational.
    """

    name: str
    title: str
    definition: str
    group: str


DIMENSIONS = (
    Dimension(
        "Affective",
        "Affective Understanding",
        "notices what the person feels and shows that it understands",
        "affective",
    ),
    Dimension(
        "Cognitive",
        "Cognitive Understanding",
        "grasps the person's point of view, aims and intentions",
        "cognitive",
    ),
    Dimension(
        "Response",
        "Response Appropriateness",
        "fits its answer to the person's situation and knows when advice is wanted",
        "motivational",
    ),
    Dimension(
        "Prosocial",
        "Prosocial Expression",
        "shows that it cares and wants to help",
        "motivational",
    ),
    Dimension(
        "Interest",
        "Interest",
        "is curious about the person's experience and attends to it",
        "motivational",
    ),
    Dimension(
        "Contextual",
        "Contextual Understanding",
        "takes in the wider circumstances: history, goals, beliefs and preferences",
        "cognitive",
    ),
    Dimension(
        "Relational",
        "Relational Continuity",
        "keeps the relationship going by recalling and weaving in what was said before",
        "cognitive",
    ),
)
DIMENSION_NAMES = tuple(dimension.name for dimension in DIMENSIONS)

LEVELS = ("very poor", "poor", "neutral", "good", "very good")
"""Words of the five levels, lowest first; level k is ``LEVELS[k - 1]``."""


def levels_in_words(levels: Iterable[int]) -> str:
    """Levels as a sentence names them, in the order given.

    Examples
    --------
    >>> levels_in_words([2, 1]), levels_in_words([1]), levels_in_words([3, 2, 1])
    ('poor or very poor', 'very poor', 'neutral, poor or very poor')
    """
    words = [LEVELS[level - 1] for level in levels]
    return " or ".join(filter(None, (", ".join(words[:-1]), words[-1])))


def normalise_word(text: str) -> str:
    """Fold case, Unicode forms and white space, so that spellings compare equal.

    Examples
    --------
    >>> normalise_word("  Very   Good ")
    'very good'
    """
    folded = unicodedata.normalize("NFKC", text).casefold()
    return " ".join(folded.replace("\u2019", "'").split())


def normalise_name(text: str) -> str:
    """Reduce a column or sheet name to its letters and digits, without case.

    Examples
    --------
    >>> normalise_name(" post-task Empathy_Affective")
    'posttaskempathyaffective'
    """
    return re.sub(r"[\W_]+", "", unicodedata.normalize("NFKC", text).casefold())


_NUMBER = r"[+-]?\d+(?:[.,]\d+)?"
_NUMBER_ALONE = re.compile(rf"^({_NUMBER})$")
_NUMBER_THEN_WORD = re.compile(rf"^[(\[]?({_NUMBER})[)\]]?\s*[-\u2013\u2014:=.)]?\s*(.*\S)$")
_WORD_THEN_NUMBER = re.compile(rf"^(.*\S)\s*[-\u2013\u2014:=]?\s*[(\[]\s*({_NUMBER})\s*[)\]]$")


@dataclass(frozen=True)
class Scale:
    """An ordered answer scale whose cells may hold numbers or words.

    Several vocabularies can name the same levels (agreement words, quality words).
    The same word may stand for different levels in different vocabularies ("very
    important" is 4 of 5 below "extremely important" and 5 of 5 above "important"), so
    the vocabulary is chosen by the words that occur: the first that knows the most answers.

    Attributes
    ----------
    name : str
        What the scale measures, for messages.
    size : int
        Number of levels; level 1 is the lowest.
    vocabularies : tuple of tuple of tuple of str
        Each has ``size`` tuples of synonyms, lowest level first; the usual word leads each.
    not_rated : frozenset of str
        Words by which a person declined to rate.
    enough : float
        Share of the answers in words from which on the first vocabulary is taken even if
        another knows more of them.
    """

    name: str
    size: int
    vocabularies: tuple[tuple[tuple[str, ...], ...], ...]
    not_rated: frozenset[str] = frozenset({"unknown", "not applicable"})
    enough: float = 1.0

    @cached_property
    def tables(self) -> tuple[dict[str, int], ...]:
        """Each vocabulary as word -> level; the official anchors first."""
        return tuple(
            {word: level for level, synonyms in enumerate(vocabulary, 1) for word in synonyms}
            for vocabulary in self.vocabularies
        )

    def choose_vocabulary(self, answers: Mapping[str, int]) -> dict[str, int]:
        """Return word -> level of the vocabulary that knows the most answers.

        Parameters
        ----------
        answers : mapping
            Normalised word -> how often it occurs, in one column or in all that share the scale.

        Returns
        -------
        dict
            Word -> level in 1..size. Ties go to the vocabulary listed first; so does everything,
            if that one knows the share ``enough`` of the answers.

        Examples
        --------
        >>> chosen = IMPORTANCE.choose_vocabulary({"important": 3, "very important": 1})
        >>> chosen["very important"]
        5
        >>> TURN_RATING.choose_vocabulary({"good": 9, "fair": 1}).get("fair") is None
        True
        """

        def known(table: dict[str, int]) -> int:
            return sum(count for word, count in answers.items() if word in table)

        if known(self.tables[0]) >= self.enough * sum(answers.values()):
            return self.tables[0]
        return max(self.tables, key=known)

    def split_number(self, text: str) -> tuple[float | None, str]:
        """Split "4 - Good" or "Good (4)" into its number and its word.

        Returns
        -------
        tuple
            The number (None if there is none) and the normalised rest ("" if none; "%" of a percentage).

        Examples
        --------
        >>> TURN_RATING.split_number("4 - Good"), TURN_RATING.split_number("Very good")
        ((4.0, 'good'), (None, 'very good'))
        """
        word = normalise_word(text)
        if match := _NUMBER_ALONE.match(word):
            return float(match[1].replace(",", ".")), ""
        if match := _WORD_THEN_NUMBER.match(word):
            return float(match[2].replace(",", ".")), match[1]
        if match := _NUMBER_THEN_WORD.match(word):
            return float(match[1].replace(",", ".")), match[2]
        return None, word


def _vocabulary(*levels: str) -> tuple[tuple[str, ...], ...]:
    """Levels lowest first; synonyms of a level are separated by a bar."""
    return tuple(tuple(level.split("|")) for level in levels)


_OFFICIAL_QUALITY = _vocabulary(*LEVELS)
_QUALITY = (
    _vocabulary("very poor", "poor", "neutral|fair|average|acceptable|okay|ok", "good", "very good"),
    _vocabulary("poor", "fair", "good", "very good", "excellent"),
    _vocabulary("very bad", "bad", "neutral|fair|average|okay|ok", "good", "very good"),
    _vocabulary("terrible", "poor", "average|neutral|okay|ok", "good", "excellent"),
    _vocabulary("very low", "low", "medium|moderate|neutral", "high", "very high"),
)
_AGREEMENT = (
    _vocabulary(
        "strongly disagree|completely disagree|totally disagree",
        "disagree|somewhat disagree|slightly disagree|mildly disagree",
        "neutral|neither agree nor disagree|neither disagree nor agree|neither|undecided"
        "|neutral (neither agree nor disagree)",
        "agree|somewhat agree|slightly agree|mildly agree",
        "strongly agree|completely agree|totally agree",
    ),
)
_EXTENT = (
    _vocabulary(
        "not at all|none|none at all",
        "slightly|a little|a little bit|to a small extent",
        "moderately|somewhat|a moderate amount|to some extent",
        "very|very much|quite a bit|a lot|to a large extent",
        "extremely|a great deal|completely|to a very large extent",
    ),
    _vocabulary("never", "rarely|seldom", "sometimes|occasionally", "often|usually", "always"),
    _vocabulary(
        "very unlikely|extremely unlikely",
        "unlikely|somewhat unlikely",
        "neutral|neither likely nor unlikely",
        "likely|somewhat likely",
        "very likely|extremely likely",
    ),
    _vocabulary(
        "very dissatisfied|extremely dissatisfied",
        "dissatisfied|somewhat dissatisfied",
        "neutral|neither satisfied nor dissatisfied",
        "satisfied|somewhat satisfied",
        "very satisfied|extremely satisfied",
    ),
)

TURN_RATING = Scale("turn rating", 5, (_OFFICIAL_QUALITY, *_AGREEMENT, *_QUALITY, *_EXTENT), enough=0.75)
"""Rating of a turn: very poor 1 .. very good 5; unknown is not rated.

The first vocabulary is the five words of the official release and nothing else. Where they are
three quarters of the answers in words, any further word ("fair") is skipped, as the authors'
script does; another vocabulary is only for a workbook that plainly speaks another language.
"""

AGREEMENT = Scale("post-task experience", 5, _AGREEMENT + _QUALITY + _EXTENT)
"""Post-task experience: strongly disagree 1 .. strongly agree 5."""

POST_EMPATHY = Scale("post-task empathy", 5, _QUALITY + _AGREEMENT + _EXTENT)
"""Post-task empathy, 1 .. 5."""

IMPORTANCE = Scale(
    "importance",
    5,
    (
        _vocabulary(
            "not at all important|not important at all|not important|unimportant",
            "slightly important|a little important|of little importance|low importance|not very important",
            "moderately important|somewhat important|neutral|of average importance|fairly important",
            "very important",
            "extremely important",
        ),
        _vocabulary(
            "not important|not at all important|unimportant|very unimportant",
            "slightly important|somewhat unimportant|of little importance|somewhat important",
            "moderately important|neutral|neither important nor unimportant|fairly important",
            "important",
            "very important|extremely important",
        ),
        *_QUALITY[4:],
        *_EXTENT[:1],
        *_AGREEMENT,
    ),
)
"""Importance of the topic: not at all important 1 .. extremely important 5."""

DESIRED_EMPATHY = Scale(
    "desired empathy",
    3,
    (
        _vocabulary(
            "minimal|minimal empathy|low|low empathy|none|none at all|no empathy|little|little empathy",
            "moderate|moderate empathy|medium|medium empathy|some|some empathy|neutral|average",
            "high|high empathy|maximal|maximum|a lot|a lot of empathy|strong|strong empathy",
        ),
        _vocabulary("low|a little", "high|some", "very high|a lot"),
        _vocabulary("not at all|not important", "somewhat|moderately", "very|very much|extremely"),
    ),
)
"""Empathy wished for before the task: minimal 1 .. high 3."""


@dataclass(frozen=True)
class Column:
    """A column of the official format.

    Attributes
    ----------
    official : str
        Header in the workbook.
    name : str
        Name in the validated frames.
    scale : Scale or None
        The answer scale, if the column holds one.
    free : bool
        Whether the column holds a person's own words or choice.
    """

    official: str
    name: str
    scale: Scale | None = None
    free: bool = False

    @property
    def is_question(self) -> bool:
        """Whether a person was asked for what the column holds."""
        return self.scale is not None or self.free


TASK_COLUMNS = (
    Column("PID", "participant"),
    Column("Model", "condition"),
    Column("TaskId", "conversation"),
    Column("PreTaskChoice", "topic", free=True),
    Column("PreTaskImportance", "importance", IMPORTANCE),
    Column("PreTaskDesiredEmpathy", "desired_empathy", DESIRED_EMPATHY),
    Column("PostTaskExperience_Successful", "successful", AGREEMENT),
    Column("PostTaskExperience_Engaged", "engaged", AGREEMENT),
    Column("PostTaskExperience_PositiveInteraction", "positive_interaction", AGREEMENT),
    Column("PostTaskExperience_UseAgain", "use_again", AGREEMENT),
    *(Column(f"PostTaskEmpathy_{dimension}", f"post_{dimension}", POST_EMPATHY) for dimension in DIMENSION_NAMES),
)
"""Columns of sheet Tasks. The suffixes of PostTaskEmpathy_* are not published; these are ours."""

MESSAGE_COLUMNS = (
    Column("TaskId", "conversation"),
    Column("MessageId", "message_id"),
    Column("TimeOffsetSeconds", "seconds"),
    Column("Role", "role"),
    Column("Content", "content"),
    Column("Retry", "retry"),
    Column("EmpathyOverall", "overall", TURN_RATING),
    *(Column(dimension, dimension, TURN_RATING) for dimension in DIMENSION_NAMES),
    Column("Comment", "comment", free=True),
)
"""Columns of sheet Messages."""

CORE_COLUMNS = {"Tasks": TASK_COLUMNS, "Messages": MESSAGE_COLUMNS}
SYNTHETIC_SHEET = "Synthetic"
"""Sheet by which a synthetic workbook says that it is one, wherever it is copied to.

Columns ``key`` and ``value``; the keys ``note``, ``seed`` and ``parameters`` (JSON). In a file of a simulated judge's
predictions the same sheet has ``judge_parameters`` (JSON) besides.
"""

ORIGIN_SHEET = "Gathered"
"""Sheet by which a workbook of collected ratings says from whose file each conversation comes."""

IMPORT_SHEETS = {"Omitted": ("TaskId", "BeforeMessageId", "What", "Text"), "Import": ("key", "value")}
"""Sheets that ``sense7 import`` adds, with their columns: what is no text of either side, and what was brought in."""

SIMULATED_JUDGE = "simulated-judge"
"""Name of the simulated judge: of its files, without the number of the run, and in their column Model."""

SIMULATED_WORDS = "simulated judge"
"""How the method of every value from a simulated judge begins, so that no page shows one without the word."""

RATING_NAMES = ("overall", *DIMENSION_NAMES)
"""The eight ratings of a turn: overall, then the seven dimensions."""
