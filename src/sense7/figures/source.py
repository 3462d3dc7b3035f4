"""Whose data a figure shows: the words that stand inside the drawing, and the colors that mean them.

Pictures leave their page, so each says by itself what it shows. Blue is simulated, orange is real, gray is published.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sense7.loading import synthetic_marks
from sense7.study import Study
from sense7.terminal import plain

INK = "#010203"
"""Drawn in this color is what takes the color of the page's text."""

GRAY = "#8c8c8c"
"""The color of published values."""

_BLUES = ("#0072b2", "#4a9fdb", "#4b64d8", "#12939a")
_ORANGES = ("#d55e00", "#b5442b", "#c88a12", "#e58a4e")
"""Colors of series; each stands out on white and on black, and color-blind readers tell series by their marks."""

_MEANINGS = {
    re.compile(r"\bpublished\b", re.IGNORECASE): GRAY,
    re.compile(r"\b(experts?|people|persons?)\b", re.IGNORECASE): INK,
}
"""Series whose name says so have the same color in the whole book: published values, and people who rate."""


@dataclass(frozen=True)
class Source:
    """What the data of a figure are.

    Attributes
    ----------
    label : str
        What stands inside the drawing and in every row of its CSV.
    word : str
        What the names of its files end with.
    colors : tuple of str
        The color of what is drawn first, then those of further series. No simulated data are orange, no real ones blue.
    """

    label: str
    word: str
    colors: tuple[str, ...]


SIMULATED = Source("Simulated data, not findings", "simulated", _BLUES)
RELEASED = Source("Real ratings that other studies released, not SENSE-7", "real", _ORANGES)
PUBLISHED = Source("Published values", "published", (GRAY, INK))
DEFINITIONS = Source(
    "Names as published; definitions and groups are ours", "definitions", (GRAY, INK)
)
OWN = "own-workbook"
"""The word of a reader's own data."""

NOT_STATED = Source("Source of the data not stated", "source-not-stated", (INK, GRAY))

Shown = Study | Source | Mapping[str, Study | Source] | None
"""What a figure can be told of its data: a study, a source, or one of these for each series or panel."""


def source_of(study: Study) -> Source:
    """What the data of a study are, in the words of a drawing.

    Examples
    --------
    >>> import sense7 as s7
    >>> source_of(s7.load("synthetic")).label
    'Simulated data, not findings'
    """
    if synthetic_marks(study) is not None:  # a part of a simulated study is simulated, too
        return SIMULATED
    origin = study.provenance
    if origin is None:
        return Source(f"Data of {plain(study.name)}", "source-not-stated", _ORANGES)
    if origin.kind == "synthetic":
        return SIMULATED
    if origin.kind == "official" and origin.verified:
        return Source("Real ratings: the official SENSE-7 workbook", "sense7", _ORANGES)
    if origin.kind == "official":
        words = "Unverified copy of the SENSE-7 workbook, no reproduction"
        return Source(words, "unverified", _ORANGES)
    if origin.kind == "third-party":
        return Source(f"Real ratings: {plain(origin.label)}", "real", _ORANGES)
    return Source(f"Workbook {plain(origin.file)}, not the SENSE-7 release", OWN, _ORANGES)


@dataclass(frozen=True)
class Sources:
    """The sources of one figure by the name of the series or panel; that of all others has no name."""

    by_name: Mapping[str, Source]

    @classmethod
    def of(cls, shown: Shown) -> "Sources":
        """The sources of what a figure was told of its data."""
        if not isinstance(shown, Mapping):
            shown = {"": shown}
        return cls({name: _source(data) for name, data in shown.items()})

    @property
    def is_simulated(self) -> bool:
        """Whether all data are simulated, but for published values beside them."""
        return set(self.by_name.values()) - {PUBLISHED} == {SIMULATED}

    def source(self, *names: str) -> Source:
        """The source of a series, or of the panel that it stands in."""
        for name in (*names, ""):
            if name in self.by_name:
                return self.by_name[name]
        return NOT_STATED

    @property
    def label(self) -> str:
        """What stands inside the drawing; of several sources, with the first series that each one has."""
        name_of: dict[str, str] = {}
        for name, source in self.by_name.items():
            name_of.setdefault(source.label, plain(name))
        if len(name_of) == 1:
            return next(iter(name_of))
        return "; ".join(f"{name}: {label}" for label, name in name_of.items())

    @property
    def word(self) -> str:
        """What the names of the figure's files end with."""
        words = dict.fromkeys(source.word for source in self.by_name.values())
        return "-and-".join(words)

    def colors(self, names: Sequence[str], panel: str = "") -> list[str]:
        """The color of each series: that of its source, of its meaning, or the next one of the figure's source.

        Examples
        --------
        >>> Sources.of(SIMULATED).colors(["linear", "published"]) == [SIMULATED.colors[0], GRAY]
        True
        >>> both = Sources.of({"here": SIMULATED, "iEval": RELEASED})
        >>> both.colors(["here", "iEval"]) == [SIMULATED.colors[0], RELEASED.colors[0]]
        True
        """
        colors = []
        used: dict[Source, int] = {}
        for name in names:
            meanings = [color for word, color in _MEANINGS.items() if word.search(name)]
            if meanings and name not in self.by_name:
                colors.append(meanings[0])
                continue
            source = self.source(name, panel)
            index = used.get(source, 0)
            used[source] = index + 1
            colors.append(source.colors[index % len(source.colors)])
        return colors


def main_color(shown: Shown) -> str:
    """The color of what a figure of one source draws first."""
    return Sources.of(shown).source().colors[0]


def _source(data: Study | Source | None) -> Source:
    """The source of a study, a source itself, or the one that says that nothing was stated."""
    if data is None:
        return NOT_STATED
    if isinstance(data, Source):
        return data
    return source_of(data)
