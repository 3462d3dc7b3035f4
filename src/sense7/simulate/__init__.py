"""Simulated studies in the official format, by parameters that are known.

A simulated number says what the simulation was told or what follows from that. It is
never a finding about people or about a model.

>>> from sense7.simulate import Parameters, draw
>>> import numpy as np
>>> draw(Parameters(participants=10, conversations=40), np.random.default_rng(1)).post.shape
(40, 7)
"""

from sense7.simulate.judge import JudgeScores
from sense7.simulate.model import NOT_PUT, UNKNOWN, Numbers, draw
from sense7.simulate.parameters import JudgeParameters, Parameters
from sense7.simulate.workbook import (
    DEFAULT_JUDGE,
    DEFAULT_SEED,
    Simulation,
    describe_parameters,
    simulate,
)

__all__ = [
    "DEFAULT_JUDGE",
    "DEFAULT_SEED",
    "NOT_PUT",
    "UNKNOWN",
    "JudgeParameters",
    "JudgeScores",
    "Numbers",
    "Parameters",
    "Simulation",
    "describe_parameters",
    "draw",
    "simulate",
]
