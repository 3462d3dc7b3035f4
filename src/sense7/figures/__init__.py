"""Figures: one style, one function for each kind of drawing, alt text computed from what is drawn."""

from sense7.figures.distributions import distributions, level_distribution
from sense7.figures.estimates import (
    decided,
    forest,
    highest,
    lines,
    lowest,
    published_values,
    reliability_diagram,
)
from sense7.figures.figure import Download, range_of
from sense7.figures.flow import flow
from sense7.figures.matrices import heat_map
from sense7.figures.scatter import ratings_by_participant, score_pairs
from sense7.figures.source import DEFINITIONS, PUBLISHED, RELEASED, SIMULATED
from sense7.figures.variants import specification_curve, specification_table
from sense7.statistics.estimates import reversed_sign

__all__ = [
    "DEFINITIONS",
    "PUBLISHED",
    "RELEASED",
    "SIMULATED",
    "Download",
    "decided",
    "distributions",
    "flow",
    "forest",
    "heat_map",
    "highest",
    "level_distribution",
    "lines",
    "lowest",
    "published_values",
    "range_of",
    "ratings_by_participant",
    "reliability_diagram",
    "reversed_sign",
    "score_pairs",
    "specification_curve",
    "specification_table",
]
