"""Choices of the analysis that sentences repeat, in words, read from where the code reads them.

Prose says ``{setting}`NAME``` for one of these, so that no sentence keeps the words of an older choice.
"""

from collections.abc import Callable
from types import ModuleType

from sense7 import claims
from sense7.judge import baselines
from sense7.statistics import bootstrap, disruption, examples, factor, recovery, words
from sense7.taxonomy import LEVELS, levels_in_words
from sense7.terminal import in_words

__all__ = ["SETTINGS", "setting"]

SETTINGS: dict[str, tuple[ModuleType, Callable[[], str]]] = {
    "event_study_last": (recovery, lambda: in_words(recovery.STUDY_TIMES[-1])),
    "fewest_participants": (bootstrap, lambda: in_words(bootstrap.FEWEST_PARTICIPANTS)),
    "fewest_participants_of_baselines": (baselines, lambda: in_words(baselines.FEWEST_PARTICIPANTS)),
    "good_turn": (words, lambda: levels_in_words(range(words.GOOD, len(LEVELS) + 1))),
    "high_example": (examples, lambda: levels_in_words(examples.ENDS["high"])),
    "items_for_a_factor": (factor, lambda: in_words(factor.ITEMS_FOR_A_FACTOR)),
    "items_for_a_test_of_a_factor": (factor, lambda: in_words(factor.ITEMS_FOR_A_TEST)),
    "low_example": (examples, lambda: levels_in_words(examples.ENDS["low"])),
    "poor_turn": (disruption, lambda: levels_in_words(range(disruption.POOR, 0, -1))),
    "precise": (claims, lambda: f"{claims.PRECISE:.0%}"),
    "turns_after": (recovery, lambda: f"{min(recovery.LASTING)} to {max(recovery.LASTING)}"),
    "turns_before": (recovery, lambda: in_words(len(recovery.BEFORE))),
    "writers_of_a_term": (words, lambda: in_words(words.FEWEST_PEOPLE)),
}
"""Name -> module that holds the choice, and the choice in words."""


def setting(name: str) -> str:
    """Return a choice of the analysis in words.

    Parameters
    ----------
    name : str
        One of ``SETTINGS``.

    Raises
    ------
    KeyError
        If there is no such setting.

    Examples
    --------
    >>> setting("poor_turn"), setting("fewest_participants")
    ('poor or very poor', 'five')
    """
    return SETTINGS[name][1]()
