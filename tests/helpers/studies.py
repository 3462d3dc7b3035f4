"""Studies read once, and bootstraps with as few draws as tests need."""

from functools import cache

from sense7.estimators.bootstrap import ParticipantBootstrap
from sense7.workbook import read_workbook

FRAMES = ("conversations", "messages", "turns", "participants")
"""Tables of a study."""


@cache
def read(path):
    """The study in a workbook, read once for all tests: not to be changed."""
    return read_workbook(path)


def bootstrap_of(study, draws=100, seed=1):
    """Resample the participants of a study."""
    return ParticipantBootstrap(study.conversations["participant"], draws=draws, seed=seed)


def draws_of(frame, draws=100):
    """Resample the participants whom the first level of a frame's index names."""
    return ParticipantBootstrap(frame.index.get_level_values(0), draws=draws, seed=1)
