"""The seven dimensions, the five levels, the answer scales, and the columns of the official format.

The ground floor: it reads ``taxonomy.toml`` alone. Names are those of the official release; the definitions are in the
companion's own words, and so is the grouping.
"""

import re
import tomllib
import unicodedata
from dataclasses import dataclass
from pathlib import Path


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
    """Form NFC of a text without case and outer space, in which the words of answers are compared.

    Examples
    --------
    >>> normalise_word("  Very Good ")
    'very good'
    """
    return unicodedata.normalize("NFC", text).strip().casefold()


def normalise_name(text: str) -> str:
    """Reduce a name to its letters and digits, without case.

    Examples
    --------
    >>> normalise_name(" post-task Empathy_Affective")
    'posttaskempathyaffective'
    """
    return re.sub(r"[\W_]+", "", unicodedata.normalize("NFKC", text).casefold())


@dataclass(frozen=True)
class Scale:
    """An ordered answer scale; its words are in ``workbook/official.reading.yml``.

    Attributes
    ----------
    name : str
        Name of the scale in a reading file.
    size : int
        Number of levels; level 1 is the lowest.
    """

    name: str
    size: int = len(LEVELS)


TURN_RATING = Scale("turn ratings")
IMPORTANCE = Scale("importance")
DESIRED_EMPATHY = Scale("desired empathy", 3)
EXPERIENCE = Scale("post-task experience")
POST_EMPATHY = Scale("post-task empathy")
SCALES = (TURN_RATING, IMPORTANCE, DESIRED_EMPATHY, EXPERIENCE, POST_EMPATHY)


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
    meaning : str
        What it means, in the companion's own words; empty for a rating of a dimension.
    """

    official: str
    name: str
    scale: Scale | None = None
    free: bool = False
    meaning: str = ""

    @property
    def is_question(self) -> bool:
        """Whether a person was asked for what the column holds."""
        return self.scale is not None or self.free


def _columns(sheet: str) -> tuple[Column, ...]:
    scales = {scale.name: scale for scale in SCALES}
    columns = []
    for entry in _READ[sheet]:
        columns.append(Column(**{**entry, "scale": scales.get(entry.get("scale"))}))
    return tuple(columns)


TASK_COLUMNS = _columns("Tasks")
MESSAGE_COLUMNS = _columns("Messages")
PARTICIPANT_COLUMNS = _READ["Participants"]
"""Column of a sheet Participants -> what it means; the format prescribes PID alone."""

CORE_COLUMNS = {"Tasks": TASK_COLUMNS, "Messages": MESSAGE_COLUMNS}
SCALE_OF = {column.official: column.scale for column in (*TASK_COLUMNS, *MESSAGE_COLUMNS)}
"""Column -> its scale, None if it holds no answers on one."""

SYNTHETIC_SHEET = "Synthetic"
"""Sheet by which a synthetic workbook says that it is one, wherever it is copied to.

Columns ``key`` and ``value``; the keys ``note``, ``seed`` and ``parameters`` (JSON). In a file of a simulated judge's
predictions the same sheet has ``judge_parameters`` (JSON) besides.
"""

SIMULATED_JUDGE = "simulated-judge"
"""Name of the simulated judge: of its files, without the number of the run, and in their column Model."""

SIMULATED_WORDS = "simulated judge"
"""How the method of every value from a simulated judge begins, so that no page shows one without the word."""

RATING_NAMES = ("overall", *DIMENSION_NAMES)
"""The eight ratings of a turn: overall, then the seven dimensions."""
