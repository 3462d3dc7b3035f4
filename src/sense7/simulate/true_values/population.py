"""True values of the population: means over draws of many times the size of a study."""

import functools
import importlib
from collections.abc import Callable

import numpy as np

from sense7.simulate.model import Numbers, draw
from sense7.simulate.parameters import Parameters
from sense7.simulate.true_values.arrays import Tables, over_draws
from sense7.simulate.true_values.table import TWINS, functions_of

BATCHES = 40
"""Independent draws behind a true value; their spread gives its Monte Carlo error."""

BATCH_SCALE = 20
"""Size of each draw, in studies."""

BRUTE_FORCE_SEED = 160925
"""Seed of the brute force: true values depend on the parameters, not on the study's seed."""


@functools.cache
def load_functions(batches: str) -> list[Callable[[Tables], dict[str, float]]]:
    """The functions of the table that are computed on some of the draws."""
    functions = []
    for path in functions_of(batches):
        module, name = path.split(".")
        functions.append(getattr(importlib.import_module(f"{__package__}.{module}"), name))
    return functions


def statistics_of(study: Numbers, *, details: bool = True) -> dict[str, float]:
    """Every statistic of the truth file, on one (large) study; NaN where it does not define it.

    Details cost more: what is said of turns, of context and of the course.
    """
    functions = list(load_functions("all"))
    if details:
        functions += load_functions("half")
    tables = Tables(study)
    values: dict[str, float] = {}
    with np.errstate(invalid="ignore", divide="ignore"):  # what is undefined is NaN
        for function in functions:
            values.update(function(tables))
    for key, twin in TWINS.items():
        values[key] = values[twin]
    return values


@functools.lru_cache(maxsize=8)
def population_values(
    parameters: Parameters, batches: int = BATCHES, scale: int = BATCH_SCALE
) -> dict[str, tuple[float, float]]:
    """True values of the population, by brute force: key -> (mean over batches, its standard error).

    ``batches * scale`` studies are drawn in all, so that the error is about ``1 / sqrt(batches * scale)`` of a study's
    sampling error. Details are computed on the first half of the batches. A statistic that is undefined in a batch (no
    poor turn at all, say) is left out of the mean; NaN if it is undefined in all.
    """
    batches_with_details = max(2, batches // 2)
    draws = []
    for number, seed in enumerate(np.random.SeedSequence(BRUTE_FORCE_SEED).spawn(batches)):
        study = draw(parameters, np.random.default_rng(seed), scale)
        draws.append(statistics_of(study, details=number < batches_with_details))
    return {key: over_draws(draws, key) for key in draws[0]}
