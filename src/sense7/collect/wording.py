"""What the page says, in each of its languages, and the words of the answer scales."""

import functools
import importlib.resources

from sense7.collect.study_keys import LANGUAGES
from sense7.files import parse_yaml
from sense7.taxonomy import AGREEMENT, DESIRED_EMPATHY, IMPORTANCE, POST_EMPATHY, TURN_RATING
from sense7.workbook.scales import usual_words

__all__ = ["SCALES", "wording"]

SCALES = {
    "importance": IMPORTANCE,
    "desired_empathy": DESIRED_EMPATHY,
    "experience": AGREEMENT,
    "empathy": POST_EMPATHY,
    "turn": TURN_RATING,
}
"""Scales of the page, by their names there."""


@functools.cache
def wording(language: str) -> dict:
    """Give what the page says in a language.

    Parameters
    ----------
    language : str
        One of :data:`~sense7.collect.study_keys.LANGUAGES`.

    Returns
    -------
    dict
        Key -> text, with ``scales``: the word of each level, lowest first. Those of :mod:`sense7.workbook.scales`,
        so that the reader of workbooks knows each of them.

    Examples
    --------
    >>> wording("fr")["not_applicable"], wording("en")["scales"]["turn"][4]
    ("Ne s'applique pas", 'very good')
    """
    path = importlib.resources.files("sense7.collect") / "wording" / f"{language}.yml"
    said = parse_yaml(path.read_text(encoding="utf-8"))
    return said | {"scales": {name: _words(language, scale) for name, scale in SCALES.items()}}


def _words(language: str, scale) -> list[str]:
    if language == "en":
        return [synonyms[0] for synonyms in scale.vocabularies[0]]
    return list(usual_words(LANGUAGES[language], scale.name))
