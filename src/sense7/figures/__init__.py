"""Figures: one style, one function for each kind of drawing, alt text computed from what is drawn."""

from sense7.figures.diagrams import rated_conversation, study_flow, taxonomy_tree
from sense7.figures.distributions import distributions, heat_map, level_distribution, stacked_shares
from sense7.figures.estimates import forest, intervals, published_values
from sense7.figures.lines import ceiling_curves, lines_by_turn, reliability_diagram, scree
from sense7.figures.maps import VERDICTS, confusion_matrix, verdict_map
from sense7.figures.people import ratings_by_participant, score_pairs
from sense7.figures.source import (
    DEFINITIONS,
    PUBLISHED,
    RELEASED,
    SIMULATED,
    Source,
    source_of,
    source_of_origin,
)
from sense7.figures.specification import (
    specification_curve,
    specification_ranges,
    specification_table,
)
from sense7.figures.style import Download, Figure, range_of
from sense7.statistics.estimates import reversed_sign

__all__ = [
    "DEFINITIONS",
    "PUBLISHED",
    "RELEASED",
    "SIMULATED",
    "VERDICTS",
    "Download",
    "Figure",
    "Source",
    "ceiling_curves",
    "confusion_matrix",
    "distributions",
    "forest",
    "heat_map",
    "intervals",
    "level_distribution",
    "lines_by_turn",
    "published_values",
    "range_of",
    "rated_conversation",
    "ratings_by_participant",
    "reliability_diagram",
    "reversed_sign",
    "score_pairs",
    "scree",
    "source_of",
    "source_of_origin",
    "specification_curve",
    "specification_ranges",
    "specification_table",
    "stacked_shares",
    "study_flow",
    "taxonomy_tree",
    "verdict_map",
]
