"""Answer words in languages other than English; read only where a workbook's words are not English."""

import functools
import importlib.resources

from sense7.files import parse_yaml
from sense7.taxonomy import normalise_word

__all__ = ["declining_words", "language_vocabularies", "languages", "usual_words"]

_KINDS = {
    "turn rating": ("quality", "agreement"),
    "post-task empathy": ("quality", "agreement"),
    "post-task experience": ("agreement", "quality"),
    "importance": ("importance", "quality", "agreement"),
    "desired empathy": ("desired",),
}
"""Scale -> lists of words that may stand on it, the most usual first."""


@functools.cache
def _content() -> dict[str, dict]:
    text = (importlib.resources.files("sense7.workbook") / "languages.yml").read_text(encoding="utf-8")
    return parse_yaml(text)


def languages() -> list[str]:
    """Names of the languages whose answer words are known, besides English.

    Examples
    --------
    >>> languages()[:2]
    ['German', 'French']
    """
    return list(_content())


@functools.cache
def language_vocabularies(scale: str) -> tuple[dict[str, int], ...]:
    """Give the vocabularies of all languages for a scale.

    Parameters
    ----------
    scale : str
        Name of the scale, see :class:`sense7.taxonomy.Scale`.

    Returns
    -------
    tuple of dict
        Each: normalized word -> level, from 1.

    Examples
    --------
    >>> language_vocabularies("turn rating")[0]["sehr gut"]
    5
    """
    return tuple(
        {normalise_word(word): level for level, words in enumerate(levels, 1) for word in words.split("|")}
        for language in _content().values()
        for kind in _KINDS[scale]
        for levels in language.get(kind, ())
    )


def usual_words(language: str, scale: str) -> tuple[str, ...]:
    """Give the usual word of each level in a language, lowest first.

    Parameters
    ----------
    language : str
        One of :func:`languages`.
    scale : str
        Name of the scale, see :class:`sense7.taxonomy.Scale`.

    Examples
    --------
    >>> usual_words("German", "turn rating")
    ('sehr schlecht', 'schlecht', 'neutral', 'gut', 'sehr gut')
    """
    return tuple(words.split("|")[0] for words in _content()[language][_KINDS[scale][0]][0])


@functools.cache
def declining_words() -> frozenset[str]:
    """Give the words of all languages by which a person declines to rate.

    Examples
    --------
    >>> "keine angabe" in declining_words()
    True
    """
    return frozenset(normalise_word(word) for language in _content().values() for word in language["not_rated"])
