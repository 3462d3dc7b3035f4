"""What the planted parameters imply for each statistic, by brute force and in plain array code.

The model is drawn at many times the size of the study and each statistic is computed there. None of the
project's statistics library is used, so that an error in it can't hide behind itself. A key is that under which
a notebook records the same statistic.
"""

import functools

import numpy as np

from sense7.simulate.model import Numbers, draw
from sense7.simulate.parameters import Parameters
from sense7.simulate.true_values.arrays import Tables, over_draws
from sense7.simulate.true_values.conversations import (
    details_of_conversations,
    values_of_conversations,
)
from sense7.simulate.true_values.poor_turns import details_of_poor_turns, values_of_poor_turns
from sense7.simulate.true_values.ratings import details_of_ratings, values_of_ratings

BATCHES = 40
"""Independent draws behind a true value; their spread gives its Monte Carlo error."""

BATCH_SCALE = 20
"""Size of each draw, in studies."""

BRUTE_FORCE_SEED = 160925
"""Seed of the brute force: true values depend on the parameters, not on the study's seed."""

_THEMES = (values_of_ratings, values_of_poor_turns, values_of_conversations)
_DETAILS = (details_of_ratings, details_of_poor_turns, details_of_conversations)

TWINS = {
    "relational_applicability": "applicability_Relational",
    "relational_very_poor": "very_poor_of_rated_Relational",
    "kappa_affective": "kappa_linear_Affective",
    "kappa_relational": "kappa_linear_Relational",
    "alpha_turn_without_relational": "alpha_turn_without_only_Relational",
    "alpha_turn_feldt": "alpha_turn",
}
"""Keys of the same statistic: with another interval, or under the name that a published figure has."""


def statistics_of(study: Numbers, *, details: bool = True) -> dict[str, float]:
    """Every statistic of the truth file, on one (large) study; NaN where it does not define it.

    Details cost more: what is said of turns, of context and of the course.
    """
    tables = Tables(study)
    values: dict[str, float] = {}
    with np.errstate(invalid="ignore", divide="ignore"):  # what is undefined is NaN
        for theme in (*_THEMES, *(_DETAILS if details else ())):
            values |= theme(tables)
    return values | {key: values[twin] for key, twin in TWINS.items()}


@functools.lru_cache(maxsize=8)
def population_values(
    parameters: Parameters, batches: int = BATCHES, scale: int = BATCH_SCALE
) -> dict[str, tuple[float, float]]:
    """Population values that the parameters imply, by brute force: key -> (mean over batches, its standard error).

    ``batches * scale`` studies are drawn in all, so that the error is about ``1 / sqrt(batches * scale)`` of a study's
    sampling error. Details are computed on the first half of the batches. A statistic that is undefined in a batch (no
    poor turn at all, say) is left out of the mean; NaN if it is undefined in all.
    """
    seeds = np.random.SeedSequence(BRUTE_FORCE_SEED).spawn(batches)
    draws = [
        statistics_of(
            draw(parameters, np.random.default_rng(seed), scale),
            details=number < max(2, batches // 2),
        )
        for number, seed in enumerate(seeds)
    ]
    return {key: over_draws(draws, key) for key in draws[0]}
