"""Figures: one style, one function for each kind of drawing, alt text computed from what is drawn."""

from sense7.figures.distributions import distributions, heat_map, level_distribution, stacked_shares
from sense7.figures.estimates import forest, intervals, published_values, reversed_sign
from sense7.figures.lines import ceiling_curves, lines_by_turn, reliability_diagram, scree
from sense7.figures.people import ratings_by_participant, score_pairs
from sense7.figures.source import PUBLISHED, RELEASED, SIMULATED, Source, source_of
from sense7.figures.specification import specification_curve, specification_table
from sense7.figures.style import Download, Figure, range_of

__all__ = [
    "PUBLISHED",
    "RELEASED",
    "SIMULATED",
    "Download",
    "Figure",
    "Source",
    "ceiling_curves",
    "distributions",
    "forest",
    "heat_map",
    "intervals",
    "level_distribution",
    "lines_by_turn",
    "published_values",
    "range_of",
    "ratings_by_participant",
    "reliability_diagram",
    "reversed_sign",
    "score_pairs",
    "scree",
    "source_of",
    "specification_curve",
    "specification_table",
    "stacked_shares",
]
