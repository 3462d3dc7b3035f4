"""The seven dimensions, the five levels, and the scales with the words for them.

The ground floor: it knows of characters alone, and reads ``taxonomy.toml`` alone. Names and anchors
are those of the official release; the definitions are in the companion's own words,
and so is the grouping.
"""

import math
import re
import tomllib
import unicodedata
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from sense7.characters import with_plain_signs


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


_READ = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))
DIMENSIONS = tuple(Dimension(**entry) for entry in _READ["dimensions"])
DIMENSION_NAMES = tuple(dimension.name for dimension in DIMENSIONS)

LEVELS = ("very poor", "poor", "neutral", "good", "very good")
"""Words of the five levels, lowest first; level k is ``LEVELS[k - 1]``."""

LEVEL_COLOURS = ("#CA0020", "#F4A582", "#B0B0B0", "#92C5DE", "#0571B0")
"""Colour of each level, lowest first, in figures and on pages: colour-blind readers distinguish them."""


def normalise_word(text: str) -> str:
    """Fold case, Unicode forms, invisible characters, dashes and white space, so that spellings compare equal.

    Examples
    --------
    >>> normalise_word("  Very   Good ")
    'very good'
    """
    return with_plain_signs(with_plain_signs(text).casefold())


def normalise_name(text: str) -> str:
    """Reduce a column or sheet name to its letters and digits, without case.

    Examples
    --------
    >>> normalise_name(" post-task Empathy_Affective")
    'posttaskempathyaffective'
    """
    return re.sub(r"[\W_]+", "", unicodedata.normalize("NFKC", text).casefold())


ARABIC_DECIMAL_POINT = "\u066b"

_NUMBER = r"[+-]?(?:\d+(?:[.,]\d*)?|[.,]\d+)(?:e[+-]\d+)?(?![\d.,])"
"""A number as other programs write it: 4, 4.0, 4,0, .5, 5., 4.0e+00."""

_NUMBER_ALONE = re.compile(_NUMBER)
# In plain signs, where every white space is one space.
_NUMBER_THEN_WORD = re.compile(
    rf"[(\[{{]?({_NUMBER})[)\]}}>]? ?"
    r"(?:[-:=.,;/|\u00b7\u2022>)](?!\Z))*+ ?(.*\S)"
)
_WORD_THEN_NUMBER = re.compile(
    r"((?>\D*[^\W\d])[\W]*?)(?: ?[(\[{] ?| ?[-:=,;/|\u00b7\u2022] | ?[:=/|]| )"
    rf"({_NUMBER}) ?[)\]}}]?"
)
LONGEST_ANSWER = 300
"""Characters of a longer text are not searched for a number: it is no answer on a scale."""
_NO_WORD = re.compile(r"[-:=.,;/|)\]}>\u20e3\s]*")
_IN_BRACKETS = re.compile(r"[(\[{<\"'](.*)[)\]}>\"']")


def has_small_digits(text: str) -> bool:
    r"""Whether a text of several characters has a small digit, as of a footnote or a fraction.

    Examples
    --------
    >>> has_small_digits("4\u00b2"), has_small_digits("4\u00bd"), has_small_digits("42")
    (True, True, False)
    """
    if len(text.strip()) < 2:
        return False
    for character in text:
        is_fraction = unicodedata.decomposition(character).startswith("<fraction>")
        if is_fraction or (character.isdigit() and not character.isdecimal()):
            return True
    return False


def as_plain_number(text: str) -> float | None:
    """The number that a text in plain signs (see :func:`normalise_word`) is, with a decimal comma, too.

    A comma before three digits could separate thousands: such a text is no number.

    Examples
    --------
    >>> as_plain_number(".5"), as_plain_number("4,0"), as_plain_number("1,000")
    (0.5, 4.0, None)
    """
    text = text.replace(ARABIC_DECIMAL_POINT, ".")
    if not _NUMBER_ALONE.fullmatch(text) or re.fullmatch(r"[+-]?[1-9]\d{0,2},\d{3}", text):
        return None
    number = float(text.replace(",", "."))
    if math.isfinite(number):
        return number
    return None


@dataclass(frozen=True)
class Scale:
    """An ordered answer scale whose cells may hold numbers or words.

    Several vocabularies can name the same levels (agreement words, quality words).
    The same word may stand for different levels in different vocabularies ("very
    important" is 4 of 5 below "extremely important" and 5 of 5 above "important"), so
    the vocabulary is chosen by all words that occur.

    Attributes
    ----------
    name : str
        What the scale measures, for messages.
    size : int
        Number of levels; level 1 is the lowest.
    vocabularies : tuple of tuple of tuple of str
        Each has ``size`` tuples of synonyms, lowest level first; the usual word leads each.
        The usual words of the first are the official ones.
    others : tuple of tuple of tuple of str
        Vocabularies of more or fewer levels, by which an answer in words may have been given.
    not_rated : frozenset of str
        Words by which a person declined to rate.
    enough : float
        Share of the answers in words from which on the first vocabulary is taken where no
        vocabulary has all of them.
    """

    name: str
    size: int
    vocabularies: tuple[tuple[tuple[str, ...], ...], ...]
    others: tuple[tuple[tuple[str, ...], ...], ...] = ()
    not_rated: frozenset[str] = frozenset({"unknown", "not applicable"})
    enough: float = 1.0

    @cached_property
    def tables(self) -> tuple[dict[str, int], ...]:
        """Each vocabulary as word -> level; the official anchors first."""
        tables = []
        for vocabulary in self.vocabularies:
            levels = {}
            for level, synonyms in enumerate(vocabulary, 1):
                levels.update(dict.fromkeys(synonyms, level))
            tables.append(levels)
        return tuple(tables)

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
        answer = normalise_word(text)
        if len(answer) > LONGEST_ANSWER or has_small_digits(text):
            return None, answer
        number = as_plain_number(answer)
        if number is not None:
            return number, ""
        number_first = _NUMBER_THEN_WORD.fullmatch(answer)
        if number_first:
            number_text, word = number_first.groups()
        else:
            word_first = _WORD_THEN_NUMBER.fullmatch(answer)
            if not word_first:
                return None, answer
            word, number_text = word_first.groups()
        number = as_plain_number(number_text)
        if number is None:
            return None, answer
        in_brackets = _IN_BRACKETS.fullmatch(word)
        if in_brackets:
            word = in_brackets[1].strip()
        if _NO_WORD.fullmatch(word):
            word = ""
        return number, word


def _scale_of(name: str, size: int, *lists: str, first: tuple = (), enough: float = 1.0) -> Scale:
    """A scale on which the words of some lists may stand: those of as many levels as it has, and the others."""
    of_size, of_other_size = list(first), []
    for list_name in lists:
        for levels in _READ["vocabularies"][list_name]:
            vocabulary = tuple(tuple(level.split("|")) for level in levels)
            if len(vocabulary) == size:
                of_size.append(vocabulary)
            else:
                of_other_size.append(vocabulary)
    return Scale(name, size, tuple(of_size), tuple(of_other_size), enough=enough)


_OFFICIAL_QUALITY = tuple((level,) for level in LEVELS)

TURN_RATING = _scale_of(
    "turn rating",
    5,
    "agreement",
    "quality",
    "amount",
    "extent",
    "others",
    first=(_OFFICIAL_QUALITY,),
    enough=0.75,
)
"""Rating of a turn: very poor 1 .. very good 5; unknown is not rated.

The first vocabulary is the five words of the official release and nothing else. Where they are
three quarters of the answers in words, any further word ("fair") is skipped, as the authors'
script does, unless all words together are those of another list.
"""

AGREEMENT = _scale_of(
    "post-task experience", 5, "agreement", "quality", "amount", "extent", "others"
)
"""Post-task experience: strongly disagree 1 .. strongly agree 5."""

POST_EMPATHY = _scale_of(
    "post-task empathy", 5, "quality", "amount", "agreement", "extent", "others"
)
"""Post-task empathy, 1 .. 5."""

IMPORTANCE = _scale_of("importance", 5, "importance", "amount", "extent", "agreement")
"""Importance of the topic: not at all important 1 .. extremely important 5."""

DESIRED_EMPATHY = _scale_of("desired empathy", 3, "desired_empathy")
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
    *(
        Column(f"PostTaskEmpathy_{dimension}", f"post_{dimension}", POST_EMPATHY)
        for dimension in DIMENSION_NAMES
    ),
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

SIMULATED_JUDGE = "simulated-judge"
"""Name of the simulated judge: of its files, without the number of the run, and in their column Model."""

SIMULATED_WORDS = "simulated judge"
"""How the method of every value from a simulated judge begins, so that no page shows one without the word."""

RATING_NAMES = ("overall", *DIMENSION_NAMES)
"""The eight ratings of a turn: overall, then the seven dimensions."""
