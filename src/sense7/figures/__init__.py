"""Figures: one style, one function a figure, alt text computed from what is drawn."""

from sense7.figures.agreement import intervals_by_group, published_against_computed
from sense7.figures.calibration import reliability_diagram
from sense7.figures.caterpillar import caterpillar
from sense7.figures.ceiling import ceiling_curves
from sense7.figures.cell_means import cell_means
from sense7.figures.charts import (
    counts_by_group,
    counts_by_two_groups,
    distributions,
    histogram,
    intervals,
    level_distribution,
    stacked_shares,
)
from sense7.figures.download import Download
from sense7.figures.forest import forest
from sense7.figures.judge import metric_panels
from sense7.figures.observers import grouped_intervals, score_pairs
from sense7.figures.participants import ratings_by_participant
from sense7.figures.recovery import event_time
from sense7.figures.ribbons import ribbons
from sense7.figures.robustness import specification_curve, specification_table
from sense7.figures.structure import heat_map, scree
from sense7.figures.style import Figure
from sense7.figures.time_course import lines_by_turn
from sense7.figures.words import distinctive_terms

__all__ = [
    "Download",
    "Figure",
    "caterpillar",
    "ceiling_curves",
    "cell_means",
    "counts_by_group",
    "counts_by_two_groups",
    "distinctive_terms",
    "distributions",
    "event_time",
    "forest",
    "grouped_intervals",
    "heat_map",
    "histogram",
    "intervals",
    "intervals_by_group",
    "level_distribution",
    "lines_by_turn",
    "metric_panels",
    "published_against_computed",
    "ratings_by_participant",
    "reliability_diagram",
    "ribbons",
    "score_pairs",
    "scree",
    "specification_curve",
    "specification_table",
    "stacked_shares",
]
