"""Disrupted: turns around the first poor one, failures of single dimensions, unmet expectations."""

from sense7.findings.disrupted.expectations import EXPECTATION_KEYS, SURFACE_KEYS, response_surface, unmet_expectations
from sense7.findings.disrupted.failures import CONTINUITY_KEYS, continuity_contrasts, failure_losses, keys
from sense7.findings.disrupted.recovery import (
    DROP,
    DROP_KEYS,
    KEYS,
    REVERSED_KEYS,
    STUDY_KEYS,
    event_study,
    lasting_drop,
    levels_by_event_time,
    reversed_order,
)

__all__ = [
    "CONTINUITY_KEYS",
    "DROP",
    "DROP_KEYS",
    "EXPECTATION_KEYS",
    "KEYS",
    "REVERSED_KEYS",
    "STUDY_KEYS",
    "SURFACE_KEYS",
    "continuity_contrasts",
    "event_study",
    "failure_losses",
    "keys",
    "lasting_drop",
    "levels_by_event_time",
    "response_surface",
    "reversed_order",
    "unmet_expectations",
]
