"""Disrupted: turns around the first poor one, failures of single dimensions, unmet expectations."""

from sense7.findings.disrupted.expectations import response_surface, unmet_expectations
from sense7.findings.disrupted.failures import continuity_contrasts, failure_losses
from sense7.findings.disrupted.recovery import (
    LASTING_DROP,
    event_study,
    lasting_drop,
    levels_by_event_time,
    reversed_order,
    turns_around_first_poor,
)

__all__ = [
    "LASTING_DROP",
    "continuity_contrasts",
    "event_study",
    "failure_losses",
    "lasting_drop",
    "levels_by_event_time",
    "response_surface",
    "reversed_order",
    "turns_around_first_poor",
    "unmet_expectations",
]
