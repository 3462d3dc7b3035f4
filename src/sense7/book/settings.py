"""Choices of the analysis that sentences repeat, in words, read from where the code reads them.

Prose says ``{setting}`NAME``` for one of these, so that no sentence keeps the words of an older choice.
"""

import importlib
import importlib.util
from collections.abc import Callable
from types import ModuleType

from sense7.taxonomy import LEVELS, levels_in_words
from sense7.terminal import in_words

__all__ = ["SETTINGS", "module_of", "setting"]

SETTINGS: dict[str, tuple[str, Callable[[ModuleType], str]]] = {
    "fewest_participants": ("estimators.bootstrap", lambda bootstrap: in_words(bootstrap.FEWEST_PARTICIPANTS)),
    "fewest_participants_of_baselines": (
        "judge.baselines",
        lambda baselines: in_words(baselines.FEWEST_PARTICIPANTS),
    ),
    "good_turn": ("findings.words", lambda words: levels_in_words(range(words.GOOD, len(LEVELS) + 1))),
    "high_example": ("findings.examples", lambda examples: levels_in_words(examples.ENDS["high"])),
    "items_for_a_factor": ("estimators.factor", lambda factor: in_words(factor.ITEMS_FOR_A_FACTOR)),
    "items_for_a_test_of_a_factor": (
        "findings.reliability",
        lambda reliability: in_words(reliability.ITEMS_FOR_A_TEST),
    ),
    "low_example": ("findings.examples", lambda examples: levels_in_words(examples.ENDS["low"])),
    "poor_turn": ("findings.measures", lambda measures: levels_in_words(range(measures.POOR, 0, -1))),
    "turns_after": (
        "findings.disrupted",
        lambda recovery: f"{min(recovery.LASTING)} to {max(recovery.LASTING)}",
    ),
    "turns_before": ("findings.disrupted", lambda recovery: in_words(len(recovery.BEFORE))),
    "writers_of_a_term": ("findings.words", lambda words: in_words(words.FEWEST_PEOPLE)),
}
"""Name -> module that holds the choice, imported when it is asked for, and the choice in words."""


def setting(name: str) -> str:
    """Return a choice of the analysis in words.

    Examples
    --------
    >>> setting("poor_turn"), setting("fewest_participants")
    ('poor or very poor', 'five')
    """
    module, words = SETTINGS[name]
    return words(importlib.import_module(f"sense7.{module}"))


def module_of(name: str) -> str:
    """Path of the module that holds a choice."""
    return importlib.util.find_spec(f"sense7.{SETTINGS[name][0]}").origin
