"""Disrupted: turns around the first poor one, neighboring turns, failures of continuity, unmet expectations."""

from sense7.findings.disrupted.expectations import response_surface, unmet_expectations
from sense7.findings.disrupted.failures import continuity_contrasts
from sense7.findings.disrupted.neighbors import lag_1_correlation
from sense7.findings.disrupted.recovery import (
    LASTING_DROP,
    lasting_drop,
    levels_by_event_time,
    reversed_order,
)

__all__ = [
    "LASTING_DROP",
    "continuity_contrasts",
    "lag_1_correlation",
    "lasting_drop",
    "levels_by_event_time",
    "response_surface",
    "reversed_order",
    "unmet_expectations",
]
