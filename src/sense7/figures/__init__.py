"""Figures: one style, one function a figure, alt text computed from what is drawn."""

from sense7.figures.charts import counts_by_group, histogram, intervals, level_distribution
from sense7.figures.style import Figure

__all__ = ["Figure", "counts_by_group", "histogram", "intervals", "level_distribution"]
