"""Figures: one style, one function for each kind of drawing, alt text computed from what is drawn."""

from sense7.figures.distributions import distributions, heat_map, level_distribution, stacked_shares
from sense7.figures.estimates import forest, intervals
from sense7.figures.lines import ceiling_curves, lines_by_turn, reliability_diagram, scree
from sense7.figures.people import ratings_by_participant, score_pairs
from sense7.figures.specification import specification_curve, specification_table
from sense7.figures.style import Download, Figure

__all__ = [
    "Download",
    "Figure",
    "ceiling_curves",
    "distributions",
    "forest",
    "heat_map",
    "intervals",
    "level_distribution",
    "lines_by_turn",
    "ratings_by_participant",
    "reliability_diagram",
    "score_pairs",
    "scree",
    "specification_curve",
    "specification_table",
    "stacked_shares",
]
